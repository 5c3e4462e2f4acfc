"""Characters for platform games: ``from ecs_collide.character import Character``."""

from ecs_collide.character.character import Character, Ladder
from ecs_collide.character.memory import CharacterState
from ecs_collide.character.system import CharacterSystem, install_characters

__all__ = [
    "Character",
    "CharacterState",
    "CharacterSystem",
    "Ladder",
    "install_characters",
]
