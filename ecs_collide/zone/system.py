"""The effect of zones on bodies, before each step."""

from __future__ import annotations

from collections.abc import Iterator

import esper

import ecs_collide as ec
from ecs_collide._kernel import backend
from ecs_collide.extend import Examination, Holders, Steering, add_steering, finding_about
from ecs_collide.stages import Immersed, immersion_of
from ecs_collide.zone.zone import FIELDS, Zone


@add_steering
class ZoneSteering(Steering):
    """Write the effect of zones into the bodies in them.

    It acts on dynamic bodies: those with a `Velocity`, a response and a finite mass.  Characters
    handle zones themselves.  A zone acts on the boxes that it overlaps when the step begins, also
    on new ones.  The part inside is that of the box half a step later, at its velocity.  So a
    body without drag bobs for ever, but no higher.  The step applies this from its `Immersed`,
    exactly while the body is wholly inside.
    """

    kinds = (Zone, Immersed)
    rank = 1

    def __init__(self, space: ec.Space) -> None:
        super().__init__(space)
        self.zones = Holders(space.world, (Zone,))
        self.immersed = Holders(space.world, (Immersed,))
        self.immerse, self.find_left = immersion_of(space)

    @classmethod
    def examine(cls, e: Examination, entity: int) -> Iterator[ec.Finding]:
        """Yield the findings about an entity with a `Zone`, for `Space.doctor`."""
        yield from super().examine(e, entity)
        crossed = ec.Attached if ec.Attached in e.of(entity) else ec.Sensor
        needed = (ec.Position, ec.Extents, crossed)
        missing = [kind.__name__ for kind in needed if kind not in e.of(entity)]
        if missing:
            text = f"has Zone but no {' and no '.join(missing)}: nothing can be inside it"
            yield finding_about(entity, "no_zone", text)

    def steer(self, dt: float) -> None:
        """Write the `Immersed` of all bodies for the step that follows.

        The step skips and reports a zone with a number that is not finite, or with `drag` or `walk`
        below 0.
        """
        zones = self.zones.find()
        wrong = backend.kernels.immersion.find_wrong_among(zones, FIELDS.find_wrong)
        if wrong or self.has_refused:
            self.refuse(wrong)
            zones = [found for found in zones if found[0] not in wrong]
        if not dt > 0.0:
            return
        new = self.immerse(zones, dt)
        for entity in self.find_left(self.immersed.find()):
            esper.remove_component(entity, Immersed)
        for entity, numbers in new:
            esper.add_component(entity, Immersed(*numbers))
