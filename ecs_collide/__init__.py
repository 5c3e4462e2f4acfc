"""Exact swept-box collisions for games written with esper.

Nothing tunnels, nothing snags, and the same step gives the same events in the
same order everywhere::

    import esper
    import ecs_collide as ec

    floor = esper.create_entity(ec.Position(0, -100), ec.Extents(400, 10))
    ball = esper.create_entity(
        ec.Position(0, 40), ec.Extents(4, 4), ec.Velocity(0, -20_000), ec.Deflect()
    )
    space = ec.install()
    esper.process(1 / 60)
    print(space.collisions[0])
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from ecs_collide._kernel import backend
from ecs_collide._kernel.constants import ALL, BEGAN, ENDED
from ecs_collide.clocks import FixedStep
from ecs_collide.components.basics import (
    Acceleration,
    Deflect,
    Disabled,
    Extents,
    Fixed,
    Growth,
    Mass,
    Position,
    Push,
    Sensor,
    Slide,
    Stop,
    Velocity,
)
from ecs_collide.components.component_map import Components
from ecs_collide.components.dynamics import (
    Attached,
    Damping,
    Dominance,
    GravityScale,
    LockedAxes,
    MaxSpeed,
    PushOut,
    Separate,
)
from ecs_collide.components.filters import Filter, name_categories
from ecs_collide.components.slope import Slope
from ecs_collide.components.surfaces import (
    Carry,
    CombineRule,
    Friction,
    OneWay,
    Restitution,
)
from ecs_collide.events import (
    COLLISION,
    CONTACT,
    CONTACT_BEGAN,
    CONTACT_ENDED,
    END_REASONS,
    Collision,
    Contact,
    ContactBegan,
    ContactEnded,
    ContactKind,
    EndReason,
    EventSequence,
    Outcome,
    SweepKind,
    collision_dtype,
    contact_dtype,
)
from ecs_collide.queries.inspection import BodyKind, ContactPoints, ImpactBoxes, SlopeOutlines
from ecs_collide.queries.moves import Moved, MoveHit
from ecs_collide.queries.results import Branches
from ecs_collide.response.rules import DEFAULT
from ecs_collide.space import Space
from ecs_collide.step.handlers import Handler
from ecs_collide.step.impact import Impact
from ecs_collide.step.stats import StageTimes, Stats
from ecs_collide.sync.quarantine import Report
from ecs_collide.systems import (
    BroadphaseSystem,
    MotionSystem,
    NarrowphaseSystem,
    ResponseSystem,
    install,
)
from ecs_collide.tree import (
    AABBTree,
    BoxHit,
    BoxHits,
    Neighbour,
    Neighbours,
    RayHit,
    RayHits,
    RegionHits,
)

if TYPE_CHECKING:
    from ecs_collide.character import Character, CharacterState, Ladder
    from ecs_collide.diagnostics.explain import Explanation, Verdict
    from ecs_collide.diagnostics.findings import Finding, Findings
    from ecs_collide.path import Path
    from ecs_collide.random_numbers import Random
    from ecs_collide.recording.recorder import Recorder, record
    from ecs_collide.recording.recording import Recording
    from ecs_collide.snapshot.saved_state import SavedState
    from ecs_collide.sweeps import Sweep, SweepBatch, overlaps, sweep, sweep_pairs, swept_bounds
    from ecs_collide.zone import Zone

__version__ = "0.1.0"

COMPILED: bool = backend.kernels.compiled
"""Whether the kernels run compiled; the results are the same either way."""

__all__ = [
    "ALL",
    "BEGAN",
    "COLLISION",
    "COMPILED",
    "CONTACT",
    "CONTACT_BEGAN",
    "CONTACT_ENDED",
    "DEFAULT",
    "ENDED",
    "END_REASONS",
    "AABBTree",
    "Acceleration",
    "Attached",
    "BodyKind",
    "BoxHit",
    "BoxHits",
    "Branches",
    "BroadphaseSystem",
    "Carry",
    "Character",
    "CharacterState",
    "Collision",
    "CombineRule",
    "Components",
    "Contact",
    "ContactBegan",
    "ContactEnded",
    "ContactKind",
    "ContactPoints",
    "Damping",
    "Deflect",
    "Disabled",
    "Dominance",
    "EndReason",
    "EventSequence",
    "Explanation",
    "Extents",
    "Filter",
    "Finding",
    "Findings",
    "Fixed",
    "FixedStep",
    "Friction",
    "GravityScale",
    "Growth",
    "Handler",
    "Impact",
    "ImpactBoxes",
    "Ladder",
    "LockedAxes",
    "Mass",
    "MaxSpeed",
    "MotionSystem",
    "MoveHit",
    "Moved",
    "NarrowphaseSystem",
    "Neighbour",
    "Neighbours",
    "OneWay",
    "Outcome",
    "Path",
    "Position",
    "Push",
    "PushOut",
    "Random",
    "RayHit",
    "RayHits",
    "Recorder",
    "Recording",
    "RegionHits",
    "Report",
    "ResponseSystem",
    "Restitution",
    "SavedState",
    "Sensor",
    "Separate",
    "Slide",
    "Slope",
    "SlopeOutlines",
    "Space",
    "StageTimes",
    "Stats",
    "Stop",
    "Sweep",
    "SweepBatch",
    "SweepKind",
    "Velocity",
    "Verdict",
    "Zone",
    "collision_dtype",
    "contact_dtype",
    "install",
    "name_categories",
    "overlaps",
    "record",
    "sweep",
    "sweep_pairs",
    "swept_bounds",
]  # fmt: skip

_HOMES = {
    "Character": "character", "CharacterState": "character", "Ladder": "character",
    "Path": "path", "Zone": "zone", "Random": "random_numbers",
    "Recorder": "recording.recorder", "record": "recording.recorder",
    "Recording": "recording.recording", "SavedState": "snapshot.saved_state",
    "Explanation": "diagnostics.explain", "Verdict": "diagnostics.explain",
    "Finding": "diagnostics.findings", "Findings": "diagnostics.findings",
    "Sweep": "sweeps", "SweepBatch": "sweeps", "overlaps": "sweeps", "sweep": "sweeps",
    "sweep_pairs": "sweeps", "swept_bounds": "sweeps",
}  # fmt: skip
"""The modules that are imported when one of their names is first used."""


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOMES})
