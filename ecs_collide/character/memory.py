"""The state that a character keeps from step to step, and the form in which it is saved."""

import math
import struct
from dataclasses import dataclass
from operator import le
from typing import Any

from ecs_collide._kernel.constants import ALL, LARGEST, MOST_PULL
from ecs_collide.components.base import NamedText, as_float

Vector3 = tuple[float, float, float]

NOTHING = -1  # where the id of an entity is saved


class CharacterState(NamedText):
    """The activity of a character, for its animation."""

    STANDING = "standing"
    WALKING = "walking"
    RISING = "rising"
    FALLING = "falling"
    WALL_SLIDING = "wall sliding"
    CLIMBING = "climbing"
    DASHING = "dashing"
    HOVERING = "hovering"
    HANGING = "hanging"
    PULLING_UP = "pulling up"
    CROUCHING = "crouching"
    CRAWLING = "crawling"
    SWIMMING = "swimming"
    KNOCKED_BACK = "knocked back"


MOVED = (  # the states in which a move gives a velocity that ends with it
    CharacterState.DASHING,
    CharacterState.CLIMBING,
    CharacterState.HANGING,
    CharacterState.PULLING_UP,
)


@dataclass(slots=True, eq=False)
class Memory:
    """The state that a stride leaves for the next one; `Character.to_bytes` saves it."""

    own: Vector3 = (0.0, 0.0, 0.0)  # its velocity relative to its ground
    frame: Vector3 = (0.0, 0.0, 0.0)  # the velocity of its ground
    written: Vector3 = (math.nan, math.nan, math.nan)  # the last `Velocity` that was written
    since_press: float = math.inf  # seconds since a press whose jump is still due; inf if none is
    last_dt: float = 0.0  # seconds of the last step
    air_dt: float = 0.0  # seconds of the step in which it left the ground
    n_air_jumps: float = 0.0  # since it was on the ground
    since_wall: float = math.inf  # seconds since it touched a wall in the air
    wall: Vector3 = (0.0, 0.0, 0.0)  # the normal of that wall, or of the one it hangs on
    since_dash: float = math.inf  # seconds since a dash began
    dash_way: Vector3 = (0.0, 0.0, 0.0)  # its direction
    climbing: bool = False  # whether it holds on to a ladder
    held: bool = False  # whether the button was down in the last step
    dash_held: bool = False  # the same for `Character.dash`
    gone: bool = True  # whether it left the ground by itself: there is no coyote time
    stepping: bool = False  # whether it rises, or has risen, onto a step
    turned: bool = False  # whether it went onto another slope or floor, which may have turned it
    rode: bool = False  # whether the space carried it with its ground
    hovered: float = 0.0  # seconds that it has hovered since it was on the ground
    locked: float = 0.0  # seconds that are left of a wall jump in which it does not steer
    stunned: float = 0.0  # seconds that are left of a knock-back
    knock: Vector3 = (0.0, 0.0, 0.0)  # the velocity of a knock-back that has not begun
    knocked: bool = False  # whether there is one
    ledge: int = NOTHING  # the entity on whose edge it hangs
    since_ledge: float = math.inf  # seconds since it let go of a ledge
    pull: float = 0.0  # how far it still goes inwards when it pulls itself up; 0: it does not
    standing_height: float = 0.0  # of its box before it crouched; 0: it does not crouch
    up: int = 0  # (axis + 1) * sign of `Character.up`; 0 for the up of the space
    let_through: int = 0  # the categories that a dash has taken out of the mask of its `Filter`


def leave_place(character: Any) -> None:
    """End the moves that belong to the place of a character before a teleport."""
    memory = character.memory
    character.on_ground, character.ground, character.air_time = False, None, 0.0
    memory.frame, memory.written = (0.0, 0.0, 0.0), (math.nan, math.nan, math.nan)
    memory.rode = memory.stepping = memory.turned = memory.climbing = False
    memory.gone = True
    memory.since_press = memory.since_wall = math.inf
    memory.since_dash = max(memory.since_dash, character.dash_time)
    memory.locked = memory.stunned = memory.pull = 0.0
    memory.ledge = NOTHING


# Fields of a `Character`, and of its `Memory`.
ABILITIES = (
    *("walk_speed", "acceleration", "deceleration", "air_control", "gravity", "jump_speed"),
    *("fall_speed", "jump_cut", "coyote_time", "jump_buffer", "step_height", "snap_distance"),
    *("corner", "air_jumps", "wall_slide_speed", "wall_jump_speed", "wall_jump_lock"),
    *("climb_speed", "dash_speed", "dash_time", "dash_pause", "hover_speed", "hover_time"),
    *("ledge_reach", "ledge_time", "ledge_pause", "crouch_height", "crouch_speed", "swim_speed"),
    "floor_max_angle",
)
ENDLESS = (  # abilities that may be inf
    *("acceleration", "deceleration", "fall_speed", "air_jumps", "wall_slide_speed"),
    *("hover_speed", "hover_time"),
)
STATE_NUMBERS = ("walk", "across", "climb", "facing", "air_time", "state_time")
NUMBERS = (*ABILITIES, *STATE_NUMBERS, "_jump_height", "_time_to_top", "landed_speed")
FLAGS = (
    *("jump", "drop", "dash", "hover", "crouch", "on_ground", "jumping"),
    "floor_constant_speed",
)
_KEPT_NUMBERS = (
    *("since_press", "last_dt", "air_dt", "n_air_jumps", "since_wall", "since_dash", "hovered"),
    *("locked", "stunned", "since_ledge", "pull", "standing_height"),
)
_KEPT_VECTORS = ("own", "written", "frame", "wall", "dash_way", "knock")
_KEPT_FLAGS = ("held", "dash_held", "gone", "stepping", "rode", "climbing", "knocked", "turned")
_KEPT_INTS = ("ledge", "let_through")
_N_NUMBERS = len(NUMBERS + _KEPT_NUMBERS) + 3 * len(_KEPT_VECTORS)
_N_FLAGS = len(FLAGS + _KEPT_FLAGS)
# Axis of up, state, lift speed; ground, categories, integers; numbers; flags.
_FORM = struct.Struct(f"<bBB{2 + len(_KEPT_INTS)}q{_N_NUMBERS}d{_N_FLAGS}?")
# Older saves lack the last one, or three, of `NUMBERS`.  With these a character computes the first
# two when asked.
_END = struct.calcsize(f"<bBB{2 + len(_KEPT_INTS)}q{len(NUMBERS)}d")  # of `NUMBERS`
_NOT_SET = struct.pack("<3d", 0.0, 1.0, 0.0)
_STATES = tuple(CharacterState)
LIFT_SPEEDS = ("all", "upward", "none")

# The numbers that only a step sets, with their least and largest values: a snapshot may be forged.
_BOUNDS: dict[str, tuple[float, float]] = {
    "axis of up": (-3, 3),
    "ground": (NOTHING, math.inf),
    "dash_through": (0, ALL - 1),
    "ledge": (NOTHING, math.inf),
    "let_through": (0, ALL - 1),
    "_jump_height": (0.0, MOST_PULL),
    "_time_to_top": (math.ulp(0.0), MOST_PULL),
    "landed_speed": (0.0, LARGEST),
    **dict.fromkeys(_KEPT_NUMBERS, (0.0, LARGEST)),
    **dict.fromkeys(("since_press", "since_wall", "since_dash", "since_ledge"), (0.0, math.inf)),
    **{f"{name}.{axis}": (-LARGEST, LARGEST) for name in _KEPT_VECTORS for axis in "xyz"},
}
_KEPT = tuple(_BOUNDS)
_LOW, _HIGH = zip(*_BOUNDS.values(), strict=True)
_WRITTEN, _WALL = (
    slice(_KEPT.index(f"{name}.x"), _KEPT.index(f"{name}.z") + 1) for name in ("written", "wall")
)


def pack(character: Any) -> bytes:
    """Return a character as bytes; raise TypeError for a setting that is no number."""
    memory = character.memory
    try:
        numbers = [float(getattr(character, name)) for name in NUMBERS]
    except (TypeError, ValueError, OverflowError):  # raised again with the name of the number
        numbers = [as_float(type(character), name, getattr(character, name)) for name in NUMBERS]
    numbers += [float(getattr(memory, name)) for name in _KEPT_NUMBERS]
    for name in _KEPT_VECTORS:
        numbers += getattr(memory, name)
    flags = [bool(getattr(character, name)) for name in FLAGS]
    flags += [bool(getattr(memory, name)) for name in _KEPT_FLAGS]
    codes = memory.up, _STATES.index(character.state), LIFT_SPEEDS.index(character.lift_speed)
    ground = NOTHING if character.ground is None else character.ground
    ints = ground, character.dash_through, *(getattr(memory, name) for name in _KEPT_INTS)
    return _FORM.pack(*codes, *ints, *numbers, *flags)


def unpack(character: Any, data: bytes) -> None:
    """Set a character from the bytes of `pack`.

    Abilities and wishes are taken as they are, because a game may set any number.

    Raises
    ------
    ValueError
        `data` has another length, or a state that no step leaves.  Nothing is changed.
    """
    for lacking in (8, len(_NOT_SET)):
        if len(data) == _FORM.size - lacking:
            end = _END - lacking
            data = data[:end] + _NOT_SET[-lacking:] + data[end:]
    if len(data) != _FORM.size:
        raise ValueError(f"a Character has {_FORM.size} bytes, not {len(data)}")
    up, state, lift_speed, ground, categories, *values = _FORM.unpack(data)
    if state >= len(_STATES):
        raise ValueError(f"a Character has {len(_STATES)} states, and no number {state}")
    if lift_speed >= len(LIFT_SPEEDS):
        raise ValueError(f"a Character has no lift_speed of number {lift_speed}")
    ledge, let_through, *numbers = values
    n = len(NUMBERS)
    kept, flags = numbers[n:-_N_FLAGS], numbers[-_N_FLAGS:]
    _require_possible([up, ground, categories, ledge, let_through, *numbers[n - 3 : n], *kept])
    memory, parts = character.memory, kept[len(_KEPT_NUMBERS) :]
    vectors = zip(parts[::3], parts[1::3], parts[2::3], strict=True)
    for names, of, some in (
        *((NUMBERS, character, numbers), (_KEPT_NUMBERS, memory, kept)),
        *((_KEPT_VECTORS, memory, vectors), (FLAGS, character, flags)),
        (_KEPT_FLAGS, memory, flags[len(FLAGS) :]),
    ):
        for name, value in zip(names, some, strict=False):
            setattr(of, name, value)
    memory.ledge, memory.let_through = ledge, let_through
    character.state, character.lift_speed = _STATES[state], LIFT_SPEEDS[lift_speed]
    character.ground = None if ground == NOTHING else ground
    character.dash_through, memory.up = categories, up


def _require_possible(kept: list[Any]) -> None:
    """Raise ValueError for numbers, in the order of `_KEPT`, that no step leaves."""
    if all(part != part for part in kept[_WRITTEN]):  # before its first stride
        kept[_WRITTEN] = 0.0, 0.0, 0.0
    if not (all(map(le, _LOW, kept)) and all(map(le, kept, _HIGH))):  # not so for nan
        for name, value in zip(_KEPT, kept, strict=True):
            low, high = _BOUNDS[name]
            if not low <= value <= high:
                raise ValueError(f"no Character has {name} {value!r}")
    _, _, categories, ledge, let_through, *_ = kept
    if ledge != NOTHING and not any(kept[_WALL]):
        raise ValueError("a Character that hangs on a ledge needs the normal of its wall")
    if (categories | let_through) & 1:
        raise ValueError("no Character dashes through the category default")
