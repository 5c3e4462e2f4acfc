"""The system by which zones act on bodies, and `install_zones`, which adds it to a world."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import esper

import ecs_collide as ec
from ecs_collide._kernel.constants import MOST_PULL
from ecs_collide.character.character import Character
from ecs_collide.diagnostics.findings import EXAMINERS, Examination, Finding, finding_about
from ecs_collide.space import is_as_stepped
from ecs_collide.sync.fields import as_number, sound_vector, write_vector
from ecs_collide.systems import VelocitySystem, add_before_step, is_body_now
from ecs_collide.zone.zone import Zone, find_wrong_zones, medium_of


class ZoneSystem(VelocitySystem):
    """The system that changes the velocities of the bodies in zones, before each step.

    It acts on dynamic bodies: those with a `Velocity`, a response and a finite mass.  The
    `CharacterSystem` does the same for characters.  The boxes at the end of the last
    step decide how much is inside.
    """

    def process(self, *args: Any, **kwargs: Any) -> None:
        """Change the velocities of the bodies in zones for the step that follows.

        The step skips and reports a zone with a number that is not finite, or with `drag` or `walk`
        below 0.
        """
        dt = self.space.step_time.before_step(self, args, kwargs)
        space, wrong = self.space, find_wrong_zones()
        if wrong or self.has_refused:
            self.refuse(wrong)
        if not dt > 0.0:
            return
        inside: dict[int, list[tuple[Zone, Any]]] = {}
        for entity, zone in sorted(esper.get_component(Zone), key=lambda found: found[0]):
            if entity not in space or entity in wrong:  # made since the last step, or skipped
                continue
            bounds = space.bounds(entity)
            for contact in space.contacts(entity):
                inside.setdefault(contact.other(entity), []).append((zone, bounds))
        if not inside:
            return
        found = [entity for entity in sorted(inside) if esper.entity_exists(entity)]
        if not is_as_stepped(space):
            found = [each for each in found if is_body_now(each, ec.Sensor, ec.Attached)]
        kinds = space.body_kinds(found) & (ec.BodyKind.DYNAMIC | ec.BodyKind.SENSOR)
        for entity, kind in zip(found, kinds.tolist(), strict=True):
            if kind == ec.BodyKind.DYNAMIC and not esper.has_component(entity, Character):
                self._act(entity, inside[entity], dt)

    def _act(self, entity: int, zones: list[tuple[Zone, Any]], dt: float) -> None:
        """Change the velocity of one body."""
        space = self.space
        velocity = esper.try_component(entity, ec.Velocity)
        scale = esper.try_component(entity, ec.GravityScale)
        before = sound_vector(velocity, space.dim)
        pull = 1.0 if scale is None else as_number(scale.value)
        if before is None or pull is None or not abs(pull) <= MOST_PULL:
            return  # the step skips it too
        medium = medium_of(space.bounds(entity), zones, space.wrap)
        now = list(before)
        for k, gravity in enumerate(space.gravity):
            # Drag acts on the mean velocity of the step, which has half of its fall.
            falls = gravity * pull * dt
            lifted = now[k] + (medium.gravity - 1.0) * falls
            now[k] = medium.slowed(lifted + falls / 2.0, k, dt) - falls / 2.0
        write_vector(velocity, now, space.dim)


def install_zones(space: ec.Space) -> ZoneSystem:
    """Add a `ZoneSystem` to the current world.

    Call it after `ecs_collide.install`.  It runs before the systems of the space.  Its priority is
    one higher than that of the first of them, 131 after a plain `install()`.  Calling it again
    changes nothing.  Characters need no `ZoneSystem`.  Their own system knows zones.

    Raises
    ------
    RuntimeError
        The space is not installed in this world, or the call is in a processor that runs after
        the system that it would add.
    """
    return add_before_step("install_zones", ZoneSystem, space, 1)


def odd_about_zone(e: Examination, entity: int) -> Iterator[Finding]:
    """Yield the findings about an entity with a `Zone`, for `Space.doctor`."""
    found = partial(finding_about, entity)
    if not {name for _, name in e.world.systems(e.space)} & {"ZoneSystem", "CharacterSystem"}:
        yield found(
            "no_zone_system",
            f"has Zone, and no ZoneSystem is in {e.world}: it acts on nothing; call "
            "install_zones(space) after install(), or for characters install_characters(space)",
        )
    needed = (ec.Position, ec.Extents, ec.Sensor)
    missing = [kind.__name__ for kind in needed if kind not in e.of(entity)]
    if missing:
        yield found(
            "no_zone",
            f"has Zone but no {' and no '.join(missing)}: nothing can be inside it",
        )


EXAMINERS[Zone] = odd_about_zone
