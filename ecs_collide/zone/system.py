"""The system by which zones act on bodies, and `install_zones`, which adds it to a world."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from functools import partial
from typing import Any

import esper

import ecs_collide as ec
from ecs_collide.character.character import Character
from ecs_collide.components.immersed import Immersed
from ecs_collide.diagnostics.findings import EXAMINERS, Examination, Finding, finding_about
from ecs_collide.space import is_as_stepped
from ecs_collide.sync.fields import sound_vector
from ecs_collide.systems import VelocitySystem, add_before_step, is_body_now
from ecs_collide.zone.zone import Zone, find_wrong_zones, medium_of


class ZoneSystem(VelocitySystem):
    """The system that tells the bodies in zones how to move, before each step.

    It acts on dynamic bodies: those with a `Velocity`, a response and a finite mass.  The
    `CharacterSystem` does the same for characters.  Which zones act is decided by the boxes at
    the end of the last step; how much is inside, by the box half a step later at its velocity.  So
    a body without drag bobs for ever, and no higher.  The step applies this from its `Immersed`,
    exactly while the body is wholly inside.
    """

    def process(self, *args: Any, **kwargs: Any) -> None:
        """Write the `Immersed` of all bodies for the step that follows.

        The step skips and reports a zone with a number that is not finite, or with `drag` or `walk`
        below 0.
        """
        dt = self.space.step_time.before_step(self, args, kwargs)
        wrong = find_wrong_zones()
        if wrong or self.has_refused:
            self.refuse(wrong)
        if not dt > 0.0:
            return
        inside = self._find_bodies(wrong)
        for entity, _ in esper.get_component(Immersed):
            if entity not in inside:
                esper.remove_component(entity, Immersed)
        for entity, zones in inside.items():
            self._immerse(entity, zones, dt)

    def _find_bodies(self, wrong: Collection[int]) -> dict[int, list[tuple[Zone, Any]]]:
        """Return the bodies to act on, each with its zones and their bounds."""
        space = self.space
        inside: dict[int, list[tuple[Zone, Any]]] = {}
        for entity, zone in sorted(esper.get_component(Zone), key=lambda found: found[0]):
            if entity not in space or entity in wrong:  # made since the last step, or skipped
                continue
            bounds = space.bounds(entity)
            for contact in space.contacts(entity):
                inside.setdefault(contact.other(entity), []).append((zone, bounds))
        found = [entity for entity in sorted(inside) if esper.entity_exists(entity)]
        if not is_as_stepped(space):
            found = [each for each in found if is_body_now(each, ec.Sensor, ec.Attached)]
        kinds = space.body_kinds(found) & (ec.BodyKind.DYNAMIC | ec.BodyKind.SENSOR)
        return {
            entity: inside[entity]
            for entity, kind in zip(found, kinds.tolist(), strict=True)
            if kind == ec.BodyKind.DYNAMIC and not esper.has_component(entity, Character)
        }

    def _immerse(self, entity: int, zones: list[tuple[Zone, Any]], dt: float) -> None:
        """Write the effect of zones on a body for a step of `dt` seconds."""
        space = self.space
        velocity = sound_vector(esper.try_component(entity, ec.Velocity), space.dim)
        if velocity is None:
            return  # the step skips it
        low, high = (
            tuple(at + speed * dt / 2.0 for at, speed in zip(corner, velocity, strict=False))
            for corner in space.bounds(entity)
        )
        medium = medium_of((low, high), zones, space.wrap)
        flow = (part * medium.drag for part in medium.flow)
        now = (*flow, medium.gravity, medium.drag)
        known = esper.try_component(entity, Immersed)
        if known is None:
            esper.add_component(entity, Immersed(*now))
        else:
            known.x, known.y, known.z, known.gravity, known.drag = now


def install_zones(space: ec.Space) -> ZoneSystem:
    """Add a `ZoneSystem` to the current world.

    Call it after `ecs_collide.install`.  It runs before the characters.  Its priority is two higher
    than that of the first system of the space, 132 after a plain `install()`.  Calling it again
    changes nothing.  Characters need no `ZoneSystem`.  Their own system knows zones.

    Raises
    ------
    RuntimeError
        The space is not installed in this world, or the call is in a processor that runs after
        the system that it would add.
    """
    return add_before_step("install_zones", ZoneSystem, space, 2)


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
