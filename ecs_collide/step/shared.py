"""The objects that most parts of a space share."""

from typing import NamedTuple

from ecs_collide.motion.wrapping import PeriodicDomain
from ecs_collide.step.lock import StepLock
from ecs_collide.step.lookup import BodyLookup, WorldLink
from ecs_collide.step.state import StepState
from ecs_collide.sync.presence import Presence
from ecs_collide.sync.registry import BodyRegistry


class SharedParts(NamedTuple):
    """The objects that a space passes to each part that reads its bodies."""

    state: StepState
    link: WorldLink
    registry: BodyRegistry
    presence: Presence
    lookup: BodyLookup
    lock: StepLock
    domain: PeriodicDomain
