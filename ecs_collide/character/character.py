"""Characters that walk, jump, climb steps and ride on lifts: a helper for platform games.

>>> import esper
>>> import ecs_collide as ec
>>> from ecs_collide.character import Character, install_characters
>>> floor = esper.create_entity(ec.Position(0, -8), ec.Extents(500, 8))
>>> keys = Character()
>>> hero = esper.create_entity(
...     ec.Position(0, 16), ec.Extents(10, 16), ec.Velocity(0, 0), ec.Slide(), keys
... )
>>> space = ec.install()
>>> system = install_characters(space)
>>> keys.walk = 1.0                       # in each frame, from the player's inputs
>>> for _ in range(60):
...     esper.process(1 / 60)
>>> esper.component_for_entity(hero, ec.Velocity)
Velocity(240.0, 0.0)

It uses public functions only: queries for the surroundings of a character.  It writes the
`Velocity` of the character, never its `Position`, so the step moves it: the character passes
through nothing, and has the same events as any body.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Self

from ecs_collide.components.base import NamedText

_NUMBERS = (
    *("walk_speed", "acceleration", "deceleration", "air_control", "gravity", "jump_speed"),
    *("fall_speed", "jump_cut", "coyote_time", "jump_buffer", "step_height", "snap_distance"),
    *("corner", "air_jumps", "wall_slide_speed", "wall_jump_speed"),
    *("climb_speed", "dash_speed", "dash_time", "dash_pause"),
    *("walk", "across", "climb", "facing", "air_time", "state_time"),
)
_SAVED_FLAGS = ("jump", "drop", "dash", "on_ground", "jumping")
# Fields of its `Memory`.
_KEPT_NUMBERS = ("since_press", "last_dt", "air_dt", "n_air_jumps", "since_wall", "since_dash")
_KEPT_VECTORS = ("own", "written", "frame", "wall", "dash_way")
_KEPT_FLAGS = ("held", "dash_held", "gone", "stepping", "rode", "climbing")
_MAY_BE_ENDLESS = ("acceleration", "deceleration", "fall_speed", "air_jumps", "wall_slide_speed")
_N_NUMBERS = len(_NUMBERS + _KEPT_NUMBERS) + 3 * len(_KEPT_VECTORS)
_FORM = struct.Struct(f"<bBq{_N_NUMBERS}d{len(_SAVED_FLAGS + _KEPT_FLAGS)}?")

Vector3 = tuple[float, float, float]


class CharacterState(NamedText):
    """What a character does, for its animation."""

    STANDING = "standing"
    WALKING = "walking"
    RISING = "rising"
    FALLING = "falling"
    WALL_SLIDING = "wall sliding"
    CLIMBING = "climbing"
    DASHING = "dashing"


_STATES = tuple(CharacterState)


class Ladder:
    """A ladder or a rope: a body that characters with a `climb_speed` climb.

    Give it `Position`, `Extents` and `Sensor`.
    """

    __slots__ = ()


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
    wall: Vector3 = (0.0, 0.0, 0.0)  # the normal of that wall
    since_dash: float = math.inf  # seconds since a dash began
    dash_way: Vector3 = (0.0, 0.0, 0.0)  # its direction
    climbing: bool = False  # whether it holds on to a ladder
    held: bool = False  # whether the button was down in the last step
    dash_held: bool = False  # the same for `Character.dash`
    gone: bool = True  # whether it left the ground by itself: there is no coyote time
    stepping: bool = False  # whether it rises, or has risen, onto a step
    rode: bool = False  # whether the space carried it with its ground


class Character:
    """The abilities of a character, its present wishes, and its state.

    Its entity is a body with `Velocity` and `Slide`.  All lengths are in world
    units, all times in seconds; the defaults suit a figure about 32 units high.

    Parameters
    ----------
    walk_speed : float
        How fast it walks.
    acceleration, deceleration : float
        How fast its speed grows towards `walk_speed`, and shrinks when it should stand, per
        second; ``math.inf`` for at once.
    air_control : float
        The part of both that it has in the air: 0 for none, 1 for all.
    jump_height, time_to_top : float
        The height of a jump, and the time to its top.  They give `gravity` and `jump_speed`;
        `with_jump_speed` takes those instead.
    fall_speed : float
        The largest speed at which it falls.
    jump_cut : float
        The largest part of `jump_speed` that is left when the button is released while it rises:
        0.5 makes a short press a low jump, 1 makes all jumps the same.
    coyote_time : float
        How long after it has walked off an edge it may still jump.
    jump_buffer : float
        How long before it lands the button may be pressed for a jump.
    step_height : float
        How high a step it walks up without a jump, if that is at least a quarter as deep.
    snap_distance : float, optional
        It stays on ground that is at most this far below its feet, as on stairs that lead down;
        by default `step_height`.
    corner : float
        How far its head may be pushed aside to slip past the corner of a ceiling, and
        how far below the edge of a ledge its feet may be to be lifted onto it.
    air_jumps : int
        How many times it may jump again in the air, before it is on the ground again.
    wall_slide_speed : float
        The largest speed at which it falls while it presses against a wall.
    wall_jump_speed : float
        How fast it leaves a wall sideways if it jumps off it in the air; 0: it cannot.  It may do
        so for `coyote_time` after it has left the wall.
    climb_speed : float
        How fast it climbs a `Ladder`; 0: it cannot.
    dash_speed, dash_time, dash_pause : float
        A dash: its speed, 0 for none; how long it takes; and the least time from its end to the
        next one.  It does not fall meanwhile.
    up : sequence of float, optional
        A unit vector along an axis, in 3D three numbers; by default the `Space.up`.

    Attributes
    ----------
    walk, across : float
        The wish: from -1 to 1, along the first axis of the ground and in 3D along the second,
        such as x and z.  The length of both together is limited to 1.
    jump : bool
        The wish: whether the button is down.
    climb : float
        The wish: from -1 (down) to 1, on a ladder.  A character that climbs holds on to it until it
        jumps, is at its end, or stands on the ground.
    dash : bool
        The wish: whether the button for a dash is down.  It goes where `walk` and `across` say, or
        where it faces.
    drop : bool
        The wish: whether to drop through the `OneWay` platforms that it stands on.
    on_ground : bool
        Whether it stood on ground when the last step began: on a contact, or within
        `snap_distance` of it while it walks.  It does not flicker on stairs and lifts.
    ground : int or None
        The entity that it stood on.
    facing : float
        -1 or 1: where it last wanted to go along `walk`.
    air_time : float
        Seconds since it was on the ground; 0 on it.
    jumping : bool
        Whether it rises by a jump that may still be cut.
    state : CharacterState
        What it does, for its animation.
    state_time : float
        Seconds since `state` began.
    gravity, jump_speed : float
        Computed from `jump_height` and `time_to_top`.
    memory : Memory
        State from step to step; not for the game.

    Examples
    --------
    >>> hero = Character(jump_height=100, time_to_top=0.5)
    >>> hero.jump_speed, hero.gravity
    (400.0, 800.0)
    """

    __slots__ = (*_NUMBERS, *_SAVED_FLAGS, "_up", "ground", "memory", "state")

    def __init__(
        self,
        *,
        walk_speed: float = 240.0,
        acceleration: float = 2400.0,
        deceleration: float = 2400.0,
        air_control: float = 0.7,
        jump_height: float = 120.0,
        time_to_top: float = 0.36,
        fall_speed: float = 900.0,
        jump_cut: float = 0.5,
        coyote_time: float = 0.1,
        jump_buffer: float = 0.1,
        step_height: float = 8.0,
        snap_distance: float | None = None,
        corner: float = 6.0,
        air_jumps: int = 0,
        wall_slide_speed: float = math.inf,
        wall_jump_speed: float = 0.0,
        climb_speed: float = 0.0,
        dash_speed: float = 0.0,
        dash_time: float = 0.15,
        dash_pause: float = 0.3,
        up: Iterable[float] | None = None,
    ) -> None:
        height, time = _number("jump_height", jump_height), _number("time_to_top", time_to_top)
        if not height > 0.0 or not time > 0.0:
            raise ValueError(
                f"Character(jump_height={jump_height!r}, time_to_top={time_to_top!r}) must be "
                "above 0: gravity is made of them; for none, Character.with_jump_speed(0, gravity)"
            )
        self.jump_speed = 2.0 * height / time
        self.gravity = self.jump_speed / time
        self.walk_speed = _number("walk_speed", walk_speed)
        self.acceleration = _number("acceleration", acceleration)
        self.deceleration = _number("deceleration", deceleration)
        self.air_control = _number("air_control", air_control)
        self.fall_speed = _number("fall_speed", fall_speed)
        self.jump_cut = _number("jump_cut", jump_cut)
        self.coyote_time = _number("coyote_time", coyote_time)
        self.jump_buffer = _number("jump_buffer", jump_buffer)
        self.step_height = _number("step_height", step_height)
        snap = step_height if snap_distance is None else snap_distance
        self.snap_distance = _number("snap_distance", snap)
        self.corner = _number("corner", corner)
        self.air_jumps = _number("air_jumps", air_jumps)
        self.wall_slide_speed = _number("wall_slide_speed", wall_slide_speed)
        self.wall_jump_speed = _number("wall_jump_speed", wall_jump_speed)
        self.climb_speed = _number("climb_speed", climb_speed)
        self.dash_speed = _number("dash_speed", dash_speed)
        self.dash_time = _number("dash_time", dash_time)
        self.dash_pause = _number("dash_pause", dash_pause)
        self.up = up

        self.walk = self.across = self.climb = 0.0
        self.jump = self.drop = self.dash = False
        self.on_ground = self.jumping = False
        self.ground: int | None = None
        self.facing = 1.0
        self.air_time = self.state_time = 0.0
        self.state = CharacterState.STANDING
        self.memory = Memory()

    @classmethod
    def with_jump_speed(cls, jump_speed: float, gravity: float, **others: Any) -> Self:
        """Return a character by the speed of its jump and its gravity.

        Parameters
        ----------
        jump_speed : float
            The speed at which it leaves the ground, in world units per second.
        gravity : float
            In world units per second, per second, above 0.
        **others
            All that `Character` takes but `jump_height` and `time_to_top`.

        Examples
        --------
        >>> Character.with_jump_speed(400, 800).jump_height
        100.0
        """
        character = cls(**others)
        character.jump_speed = _number("jump_speed", jump_speed)
        character.gravity = _number("gravity", gravity)
        if not character.gravity > 0.0:
            raise ValueError(f"Character(gravity={gravity!r}) must be above 0")
        return character

    @property
    def jump_height(self) -> float:
        """The height of a jump, in world units; setting it keeps `gravity`."""
        return self.jump_speed * self.jump_speed / (2.0 * self.gravity)

    @jump_height.setter
    def jump_height(self, height: float) -> None:
        self.jump_speed = math.sqrt(2.0 * self.gravity * _number("jump_height", height))

    @property
    def time_to_top(self) -> float:
        """The time that a jump takes to its top, in seconds."""
        return self.jump_speed / self.gravity

    @property
    def up(self) -> tuple[float, ...] | None:
        """The unit vector of up, along an axis, of three numbers; None for the up of the space."""
        if self._up == 0:
            return None
        axis = abs(self._up) - 1
        sign = 1.0 if self._up > 0 else -1.0
        return tuple(sign if k == axis else 0.0 for k in range(3))

    @up.setter
    def up(self, value: Iterable[float] | None) -> None:
        if value is None:
            self._up = 0
            return
        numbers = [float(part) for part in value]
        if sorted(map(abs, numbers)) not in ([0.0, 1.0], [0.0, 0.0, 1.0]):
            raise ValueError(
                f"Character(up={value!r}) must point along one axis and have length 1: "
                "(0, 1) where y grows upwards, (0, -1) where it grows downwards"
            )
        axis = [abs(part) for part in numbers].index(1.0)
        self._up = axis + 1 if numbers[axis] > 0.0 else -(axis + 1)

    def __repr__(self) -> str:
        how = f"on {self.ground}" if self.on_ground else f"in the air for {self.air_time:.3g} s"
        return f"<Character {how}, walk={self.walk!r}, jump={self.jump!r}>"

    # -- saving --

    def to_bytes(self) -> bytes:
        """Return the whole character as bytes, for `Space.snapshot_with` and saved games."""
        memory = self.memory
        numbers = [float(getattr(self, name)) for name in _NUMBERS]
        numbers += [float(getattr(memory, name)) for name in _KEPT_NUMBERS]
        for name in _KEPT_VECTORS:
            numbers += getattr(memory, name)
        flags = [bool(getattr(self, name)) for name in _SAVED_FLAGS]
        flags += [bool(getattr(memory, name)) for name in _KEPT_FLAGS]
        ground = -1 if self.ground is None else self.ground
        return _FORM.pack(self._up, _STATES.index(self.state), ground, *numbers, *flags)

    def set_bytes(self, data: bytes) -> None:
        """Set everything from the bytes of `to_bytes`.

        Raises
        ------
        ValueError
            `data` has another length, or names no state.
        """
        if len(data) != _FORM.size:
            raise ValueError(f"a Character has {_FORM.size} bytes, not {len(data)}")
        up, state, ground, *values = _FORM.unpack(data)
        if state >= len(_STATES):
            raise ValueError(f"a Character has {len(_STATES)} states, and no number {state}")
        self._up, self.state = up, _STATES[state]
        self.ground = None if ground < 0 else ground
        left, memory = iter(values), self.memory
        for names, of in ((_NUMBERS, self), (_KEPT_NUMBERS, memory)):
            for name in names:
                setattr(of, name, next(left))
        for name in _KEPT_VECTORS:
            setattr(memory, name, (next(left), next(left), next(left)))
        for flags, of in ((_SAVED_FLAGS, self), (_KEPT_FLAGS, memory)):
            for name in flags:
                setattr(of, name, next(left))

    @classmethod
    def from_bytes(cls, data: bytes) -> Self:
        """Return a character from the bytes of `to_bytes`."""
        character = cls()
        character.set_bytes(data)
        return character

    def require_sense(self, entity: int, dim: int) -> None:
        """Raise ValueError if a setting of the game is invalid; one comparison each."""
        wishes = ("walk", self.walk), ("across", self.across), ("climb", self.climb)
        for name, wish in wishes:
            if not -math.inf < wish < math.inf:
                raise ValueError(
                    f"entity {entity}: Character.{name} is {wish!r}; "
                    "it must be a number from -1 to 1"
                )
        if abs(self._up) > dim:
            raise ValueError(
                f"entity {entity}: Character.up is {self.up}, which is no axis of a space of "
                f"{dim}: (0, 1) or (0, -1)"
            )


def _number(name: str, value: float) -> float:
    """Return a setting as a float, or raise."""
    if isinstance(value, str):
        raise TypeError(f"Character({name}={value!r}) must be a number, not text")
    number = float(value)
    if not number >= 0.0 or (number == math.inf and name not in _MAY_BE_ENDLESS):
        rule = "0 or more" if name in _MAY_BE_ENDLESS else "finite, and 0 or more"
        raise ValueError(f"Character({name}={value!r}) must be {rule}")
    return number
