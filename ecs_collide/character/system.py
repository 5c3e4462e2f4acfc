"""The steering of characters: wishes become velocities."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from functools import partial
from operator import itemgetter
from typing import TypeAlias

import esper

import ecs_collide as ec
from ecs_collide.character.changes import Changes, hand_over
from ecs_collide.character.character import FIELDS, Character
from ecs_collide.character.figure import Components, velocity_on
from ecs_collide.character.stride import PLAIN_IN_AIR, PLAIN_ON_GROUND, take_stride
from ecs_collide.components.base import shown
from ecs_collide.components.immersed import Immersed
from ecs_collide.diagnostics.findings import EXAMINERS, Examination, Finding, finding_about
from ecs_collide.space import is_wrong_now, plain_strides
from ecs_collide.steering import Steering, add_steering, odd_about_space
from ecs_collide.sync.fields import sound_vector
from ecs_collide.sync.quarantine import Wrong
from ecs_collide.zone.zone import Zone, find_wrong_zones

Found: TypeAlias = tuple[int, Components]


class CharacterSteering(Steering):
    """Turn the wishes of all characters into velocities.

    Each character sees the others where they were at the end of the last step.  Those whose
    strides are not plain are moved from the lowest to the highest, so ids make no difference.
    """

    kinds = (Character, Changes)
    rank = 2
    reads = ("position", "extents", "velocity", "whole_sizes", "anchor")

    def __init__(self, space: ec.Space) -> None:
        super().__init__(space)
        self.take_plain = plain_strides(
            space,
            (
                *(ec.Disabled, ec.Carry, ec.Sensor, Zone),
                *(ec.GravityScale, ec.Slope, ec.Velocity, Immersed),
            ),
            (*PLAIN_ON_GROUND, *PLAIN_IN_AIR),
            partial(velocity_on, space),
        )

    def steer(self, dt: float) -> None:
        """Write the velocities of all characters for the step that follows.

        The step skips and reports a character with a wish or an ability that is no number within
        its bounds, and one whose up is along z in 2D.
        """
        hand_over(self.space)
        found = esper.get_components(Character, ec.Position, ec.Extents, ec.Velocity)
        found = sorted(found, key=itemgetter(0))
        others = self._take_plain(found, dt) if dt > 0.0 else found
        wrong = find_wrong_zones() if others else {}
        sound = self._sorted(others, wrong) if others else others
        if sound and dt > 0.0:
            self._take_strides(sound, dt, wrong)
        if wrong or self.has_refused:
            self.refuse(wrong)

    def _take_plain(self, found: list[Found], dt: float) -> list[Found]:
        """Take all plain strides, and return the characters that take others."""
        others = []
        n = self.take_plain(found, 0, dt)
        while n < len(found):
            others.append(found[n])
            n = self.take_plain(found, n + 1, dt)
        return others

    def _sorted(self, found: list[Found], wrong: dict[int, Wrong]) -> list[Found]:
        """Return characters from below to above, without those that the step will skip.

        Add wrong fields of a `Character` to `wrong`.
        """
        dim, up = self.space.dim, self.space.up
        places = []
        for n, (entity, (character, place, extents, velocity)) in enumerate(found):
            error = character.find_wrong(dim)
            at, half = sound_vector(place, dim), sound_vector(extents, dim)
            if error is not None:
                wrong[entity] = error
            elif at and half and min(half) >= 0.0 and sound_vector(velocity, dim):
                height = sum(part * along for part, along in zip(at, up, strict=False))
                places.append((height, at, half, n))
        return [found[n] for *_, n in sorted(places)]

    def _take_strides(self, found: list[Found], dt: float, wrong: Collection[int]) -> None:
        """Write the velocities of characters whose numbers are sound."""
        # A stride reads the velocities of other characters, which their strides may have written.
        for entity, components in found:
            if esper.has_component(entity, ec.Disabled):  # a disabled character is paused
                continue
            try:
                take_stride(self.space, entity, components, dt, wrong)
            except (TypeError, ValueError, AttributeError, ArithmeticError):
                if not is_wrong_now(self.space, entity):
                    raise  # otherwise the step says which number is wrong


_LENGTHS = ("step_height", "snap_distance", "corner")  # less than a character's height


def odd_about_character(e: Examination, entity: int) -> Iterator[Finding]:
    """Yield the findings about an entity with a `Character`, for `Space.doctor`."""
    found = partial(finding_about, entity)
    yield from odd_about_space(e, entity, CharacterSteering)
    needed = (ec.Position, ec.Extents, ec.Velocity)
    missing = [kind.__name__ for kind in needed if kind not in e.of(entity)]
    if missing:
        yield found(
            "no_character",
            f"has Character but no {' and no '.join(missing)}: nothing moves it",
        )
    if e.responses_of(entity)[:1] != ["Slide"] and not any(e.has(entity, own) for own in e.custom):
        has = f"{e.responses_of(entity)[0]} instead of" if e.responses_of(entity) else "no"
        yield found(
            "no_slide",
            f"has Character and {has} Slide: it cannot stand on a floor or walk along a wall",
        )
    character = e.of(entity)[Character]
    wrong = FIELDS.find_wrong(character, converts=False)
    if wrong is not None:
        text = f"entity {entity}: {wrong.field} is {shown(wrong.value)}, it {wrong.text}"
        yield Finding("bad_ability", (entity,), text)
    if e.is_sound(entity) and wrong is None:
        half = e.box(entity).half
        height = 2.0 * sum(abs(up) * size for up, size in zip(e.up, half, strict=False))
        large = [name for name in _LENGTHS if getattr(character, name) > height]
        if large:
            said = " and ".join(f"{name}={getattr(character, name)!r}" for name in large)
            yield found(
                "character_units",
                f"has Character with {said}, more than the height {height:.6g} of its box: the "
                "defaults are for pixels; set them in the units of the world",
            )


EXAMINERS[Character] = odd_about_character
add_steering(CharacterSteering)
