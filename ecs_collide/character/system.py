"""The system that moves characters, and `install_characters`, which adds it to a world."""

from __future__ import annotations

from operator import itemgetter
from typing import Any

import esper

import ecs_collide as ec
from ecs_collide.character.character import Character
from ecs_collide.character.stride import take_stride


class CharacterSystem(esper.Processor):
    """Turn the wishes of all characters into velocities, before each step.

    It belongs between the game's own processors, which set the wishes and the
    velocities of lifts, and `BroadphaseSystem`: `install_characters` puts it there.
    Characters take their turn by the order of their ids, and each sees the others where they
    were at the end of the last step.
    """

    def __init__(self, space: ec.Space) -> None:
        if not isinstance(space, ec.Space):
            raise TypeError(f"CharacterSystem(space={space!r}) must be given a Space")
        if space.motion != "velocity":
            raise ValueError(
                f"CharacterSystem(space={space!r}) writes velocities, and this space is moved by "
                "positions: it needs Space(motion='velocity')"
            )
        self.space = space
        space.leave_gravity_to(Character)

    def process(self, dt: float = 1.0, *args: object, **kwargs: object) -> None:
        """Write the velocities of all characters for a step of `dt` seconds.

        Raises
        ------
        ValueError
            A wish or a setting is no number, or up is along z in 2D.
        """
        if not dt > 0.0:
            return
        found = esper.get_components(Character, ec.Position, ec.Extents, ec.Velocity)
        for entity, (character, place, half, velocity) in sorted(found, key=itemgetter(0)):
            character.require_sense(entity, self.space.dim)
            take_stride(self.space, entity, character, place, half, velocity, dt)


def install_characters(space: ec.Space) -> CharacterSystem:
    """Add a `CharacterSystem` to the current world, and let snapshots hold characters.

    After `ecs_collide.install`, whose systems it goes before: its priority is one higher.  The
    game's own processors that set wishes and move lifts need a priority above that: 132 and
    more after a plain `install()`.  Doing it again changes nothing.

    Raises
    ------
    RuntimeError
        The space is not installed in this world.
    """
    first: Any = esper.get_processor(ec.BroadphaseSystem)
    if first is None or first.space is not space:
        raise RuntimeError(
            f"install_characters({space!r}) in the world {esper.current_world!r}, where that space "
            "is not installed: call install() first"
        )
    known: Any = esper.get_processor(CharacterSystem)
    if known is not None and known.space is space:
        found: CharacterSystem = known
        return found
    register(space)
    system = CharacterSystem(space)
    esper.add_processor(system, priority=first.priority + 1)
    return system


def register(space: ec.Space) -> None:
    """Let the snapshots of a space hold characters too; `install_characters` does it."""
    space.snapshot_with(
        Character,
        save=Character.to_bytes,
        load=Character.from_bytes,
        update=Character.set_bytes,
    )
