"""Characters for platform games: `Character`, with its `CharacterState`, and `Ladder`."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ecs_collide.character.character import Character, Ladder
    from ecs_collide.character.memory import CharacterState
    from ecs_collide.character.system import CharacterSteering

__all__ = ["Character", "CharacterState", "CharacterSteering", "Ladder"]


def __getattr__(name: str) -> object:
    """Import what a game names, and all that moves characters with it."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from ecs_collide.character import system
    from ecs_collide.character.memory import CharacterState

    globals().update({each: getattr(system, each) for each in __all__ if hasattr(system, each)})
    globals()["CharacterState"] = CharacterState
    return globals()[name]
