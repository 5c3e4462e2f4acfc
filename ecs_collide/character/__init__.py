"""Characters for platform games: `Character`, with its `CharacterState`, and `Ladder`."""

from ecs_collide.character.character import Character, Ladder
from ecs_collide.character.memory import CharacterState
from ecs_collide.character.system import CharacterSteering

__all__ = ["Character", "CharacterState", "CharacterSteering", "Ladder"]
