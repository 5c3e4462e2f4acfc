"""The steering of characters: wishes become velocities."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any, NamedTuple

import esper

import ecs_collide as ec
from ecs_collide.character.changes import Changes, hand_over, note_changes
from ecs_collide.character.character import FIELDS, Character, Ladder
from ecs_collide.character.surroundings import KINDS
from ecs_collide.extend import Examination, Steering, add_steering, finding_about, shown
from ecs_collide.stages import begin_strides, strides_of
from ecs_collide.zone.zone import Zone, find_wrong_zones


class _Extras(NamedTuple):
    """What the strides of characters use, and no kernel imports."""

    zone: Any = Zone
    ladder: Any = Ladder
    note_changes: Any = note_changes
    add_component: Any = esper.add_component
    no_wishes: Character = Character()  # of a character that has been knocked back
    bounds: Mapping[str, Any] = FIELDS.bounds


_LENGTHS = ("step_height", "snap_distance", "corner")  # less than a character's height


@add_steering
class CharacterSteering(Steering):
    """Turn the wishes of all characters into velocities.

    Each character sees the others where they were at the end of the last step.  They are moved
    from the lowest to the highest, so ids make no difference.
    """

    kinds = (Character, Changes)
    needs = (ec.Position, ec.Extents, ec.Velocity)
    rank = 2
    reads = ("position", "extents", "velocity", "whole_sizes", "anchor")

    def __init__(self, space: ec.Space) -> None:
        super().__init__(space)
        self.strides = strides_of(space, _Extras())

    @classmethod
    def examine(cls, e: Examination, entity: int) -> Iterator[ec.Finding]:
        """Yield the findings about an entity with a `Character`, for `Space.doctor`."""
        yield from super().examine(e, entity)
        found = partial(finding_about, entity)
        responses = e.responses_of(entity)
        if responses[:1] != ["Slide"] and not any(e.has(entity, own) for own in e.custom):
            has = f"{responses[0]} instead of" if responses else "no"
            yield found(
                "no_slide",
                f"has Character and {has} Slide: it cannot stand on a floor or walk along a wall",
            )
        character = e.of(entity)[Character]
        wrong = FIELDS.find_wrong(character, converts=False)
        if wrong is not None:
            text = f"entity {entity}: {wrong.field} is {shown(wrong.value)}, it {wrong.text}"
            yield ec.Finding("bad_ability", (entity,), text)
        if e.is_sound(entity) and wrong is None:
            half = e.box(entity).half
            height = 2.0 * sum(abs(up) * size for up, size in zip(e.up, half, strict=False))
            large = [name for name in _LENGTHS if getattr(character, name) > height]
            if large:
                said = " and ".join(f"{name}={getattr(character, name)!r}" for name in large)
                yield found(
                    "character_units",
                    f"has Character with {said}, more than the height {height:.6g} of its box: "
                    "the defaults are for pixels; set them in the units of the world",
                )

    def steer(self, dt: float) -> None:
        """Write the velocities of all characters for the step that follows.

        The step skips and reports a character with a wish or an ability that is no number within
        its bounds, and one whose up is along z in 2D.
        """
        hand_over(self.space)
        found = esper.get_components(Character, ec.Position, ec.Extents, ec.Velocity)
        wrong = find_wrong_zones() if found else {}
        slopes = bool(esper.get_component(ec.Slope))
        begin_strides(self.space, self.strides, (*KINDS, Zone, Ladder), wrong, slopes)
        sound = self.strides.sort(found, wrong)
        if dt > 0.0:
            self.strides.take(sound, dt)
        if wrong or self.has_refused:
            self.refuse(wrong)
