"""The effect of zones on bodies, before each step."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from functools import partial
from typing import Any

import esper

import ecs_collide as ec
from ecs_collide.components.immersed import Immersed
from ecs_collide.diagnostics.findings import (
    EXAMINERS,
    Examination,
    Finding,
    finding_about,
    moves_itself,
)
from ecs_collide.space import is_as_stepped, last_bounds
from ecs_collide.steering import STEERING, Steering, add_steering, odd_about_space
from ecs_collide.sync.fields import sound_vector
from ecs_collide.zone.zone import Zone, find_wrong_zones, medium_of


class ZoneSteering(Steering):
    """Write the effect of zones into the bodies in them.

    It acts on dynamic bodies: those with a `Velocity`, a response and a finite mass.  Characters
    handle zones themselves.  A zone acts on the boxes that it overlaps at the end of the last
    step.  The part inside is that of the box half a step later, at its velocity.  So a body
    without drag bobs for ever, but no higher.  The step applies this from its `Immersed`,
    exactly while the body is wholly inside.
    """

    kinds = (Zone, Immersed)
    rank = 1

    def steer(self, dt: float) -> None:
        """Write the `Immersed` of all bodies for the step that follows.

        The step skips and reports a zone with a number that is not finite, or with `drag` or `walk`
        below 0.
        """
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
            bounds = last_bounds(space, entity)
            for contact in space.contacts(entity):
                inside.setdefault(contact.other(entity), []).append((zone, bounds))
        found = [entity for entity in sorted(inside) if esper.entity_exists(entity)]
        if not is_as_stepped(space):
            found = [each for each in found if _is_body_now(each)]
        left = [kind for each in STEERING for kind in each.kinds if moves_itself(kind)]
        kinds = space.body_kinds(found) & (ec.BodyKind.DYNAMIC | ec.BodyKind.SENSOR)
        return {
            entity: inside[entity]
            for entity, kind in zip(found, kinds.tolist(), strict=True)
            if kind == ec.BodyKind.DYNAMIC
            and not any(esper.has_component(entity, own) for own in left)
        }

    def _immerse(self, entity: int, zones: list[tuple[Zone, Any]], dt: float) -> None:
        """Write the effect of zones on a body for a step of `dt` seconds."""
        space = self.space
        velocity = sound_vector(esper.try_component(entity, ec.Velocity), space.dim)
        if velocity is None:
            return  # the step skips it
        low, high = (
            tuple(at + speed * dt / 2.0 for at, speed in zip(corner, velocity, strict=False))
            for corner in last_bounds(space, entity)
        )
        medium = medium_of((low, high), zones, space.wrap)
        flow = (part * medium.drag for part in medium.flow)
        now = (*flow, medium.gravity, medium.drag)
        known = esper.try_component(entity, Immersed)
        if known is None:
            esper.add_component(entity, Immersed(*now))
        else:
            known.x, known.y, known.z, known.gravity, known.drag = now


def _is_body_now(entity: int) -> bool:
    """Return whether a body of the last step is still a solid one, on and not attached."""
    return esper.has_components(entity, ec.Position, ec.Extents) and not any(
        esper.has_component(entity, kind) for kind in (ec.Disabled, ec.Sensor, ec.Attached)
    )


def odd_about_zone(e: Examination, entity: int) -> Iterator[Finding]:
    """Yield the findings about an entity with a `Zone`, for `Space.doctor`."""
    found = partial(finding_about, entity)
    yield from odd_about_space(e, entity, ZoneSteering)
    needed = (ec.Position, ec.Extents, ec.Sensor)
    missing = [kind.__name__ for kind in needed if kind not in e.of(entity)]
    if missing:
        yield found(
            "no_zone",
            f"has Zone but no {' and no '.join(missing)}: nothing can be inside it",
        )


EXAMINERS[Zone] = odd_about_zone
add_steering(ZoneSteering)
