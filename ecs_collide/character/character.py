"""Characters that walk, jump, climb steps and ride on lifts: a helper for platform games.

>>> import esper
>>> import ecs_collide as ec
>>> floor = esper.create_entity(ec.Position(0, -8), ec.Extents(500, 8))
>>> keys = ec.Character()
>>> hero = esper.create_entity(
...     ec.Position(0, 16), ec.Extents(10, 16), ec.Velocity(0, 0), ec.Slide(), keys
... )
>>> space = ec.install()
>>> keys.walk = 1.0                       # in each frame, from the player's inputs
>>> for _ in range(60):
...     esper.process(1 / 60)
>>> esper.component_for_entity(hero, ec.Velocity)
Velocity(240.0, 0.0)

It uses public functions only: queries for the surroundings of a character.  It writes the
`Velocity` of the character, never its `Position`, so the step moves it.  The character passes
through nothing, and has the same events as any body.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any, Self

from ecs_collide.character.memory import (
    ABILITIES,
    ENDLESS,
    FLAGS,
    LIFT_SPEEDS,
    NUMBERS,
    CharacterState,
    Memory,
    leave_place,
    pack,
    unpack,
)
from ecs_collide.components.filters import Filter
from ecs_collide.extend import (
    AMOUNT,
    LIMIT,
    SIGNED,
    Bounds,
    NumberFields,
    Wrong,
    as_float,
    as_vector,
)

_WISH = "must be a number from -1 to 1 (in 3D, walk and across are a number each)"
_BELOW_90 = Bounds(0.0, math.nextafter(90.0, 0.0), "must be below 90 degrees, and 0 or more")
FIELDS = NumberFields(
    "Character",
    {
        **dict.fromkeys(ABILITIES, AMOUNT),
        **dict.fromkeys(ENDLESS, LIMIT),
        "floor_max_angle": _BELOW_90,
        **dict.fromkeys(("walk", "across", "climb"), SIGNED._replace(text=_WISH)),
        "facing": SIGNED._replace(text="must be -1 or 1"),
        "air_time": AMOUNT,
        "state_time": AMOUNT,
    },
)


class Ladder:
    """A ladder or a rope: a body that characters with a `climb_speed` climb.

    Give it `Position`, `Extents` and `Sensor`.
    """

    __slots__ = ()


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
        second; ``math.inf`` for at once.  If its entity has `Friction`, both are multiplied by the
        friction with its ground, so it slides on ice.
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
        by default `step_height`.  With 0 it leaves ground that goes down.
    floor_max_angle : float
        In degrees, below 90: a `Slope` that is not steeper is ground, on which it stands and walks.
        A steeper one stops it as a wall does, and it slides down.
    floor_constant_speed : bool
        Whether `walk_speed` is the speed along a slope; by default it is the speed ahead.
    corner : float
        How far its head may be pushed aside to slip past the corner of a ceiling, and
        how far below the edge of a ledge its feet may be to be lifted onto it.  With
        ``GravityScale(0)``, how far it goes aside to slip round the corner of a wall.
    air_jumps : int
        How many times it may jump again in the air, before it is on the ground again.
    wall_slide_speed : float
        The largest speed at which it slides down a wall that it presses against, relative to it.
    wall_jump_speed : float
        How fast it leaves a wall sideways if it jumps off it in the air; 0: it cannot.  It may do
        so for `coyote_time` after it has left the wall.
    wall_jump_lock : float
        How long after a jump off a wall it keeps its sideways speed and does not steer.
    climb_speed : float
        How fast it climbs a `Ladder`; 0: it cannot.
    dash_speed, dash_time, dash_pause : float
        A dash: its speed, 0 for none; how long it takes; and the least time from its end to the
        next one.  It does not fall meanwhile.
    dash_through : int, str or several str
        The categories of `Filter` through which it dashes, such as ``"enemy"``.  They are not in
        the mask of its `Filter` until the dash is over and it is out of these bodies.  Walls in
        other categories stop it.
    hover_speed, hover_time : float
        The largest speed at which it falls while `hover` is wished, and how long in all before it
        is on the ground again.
    ledge_reach : float
        How far from the height of its head an edge may be on which it hangs, when it falls and
        presses against a wall.  With 0 it does not hang.
    ledge_time, ledge_pause : float
        How long it takes to pull itself up; and how long after it has let go it hangs on no edge.
    crouch_height, crouch_speed : float
        The height of its box while it crouches, 0 if it cannot; and how fast it crawls.
    swim_speed : float
        How fast it rises by a press of `jump` in a `Zone` with buoyancy; 0: it cannot swim.
    lift_speed : str
        How much of the speed of a lift with `Carry` it keeps when it leaves the lift: ``"upward"``,
        all but a downward part, so a jump from a sinking lift is as high as any; ``"all"``; or
        ``"none"``.
    up : sequence of float, optional
        A unit vector along an axis, in 3D three numbers; by default the `Space.up`.

    Attributes
    ----------
    walk, across : float
        The wish: from -1 to 1, along the first axis of the ground and in 3D along the second,
        such as x and z.  The length of both together is limited to 1.  With ``GravityScale(0)`` it
        stands on no ground, and in 2D `across` is along y.
    jump : bool
        The wish: whether the button is down.
    climb : float
        The wish: from -1 (down) to 1, on a ladder.  A character that climbs holds on to it until it
        jumps, is at its end, or stands on the ground.  On a ledge it pulls itself up or lets go.
    dash : bool
        The wish: whether the button for a dash is down.  It goes where `walk` and `across` say, or
        where it faces.
    drop : bool
        The wish: whether to drop through the `OneWay` platforms that it stands on, or to let go of
        a ledge.
    hover : bool
        The wish: whether to fall slowly.  A game may set it as it sets `jump`.
    crouch : bool
        The wish: whether to crouch on the ground.  It stands up later, where there is room.
    on_ground : bool
        Whether it stood on ground when the last step began: on a contact, or within
        `snap_distance` of it while it walks.  It does not flicker on stairs and lifts.
    ground : int or None
        The entity that it stood on.
    facing : float
        -1 or 1: where it last wanted to go along `walk`.
    air_time : float
        Seconds since it was on the ground; 0 on it.
    landed_speed : float
        How fast it came down on its ground, in the one step in which it begins to stand there after
        a fall; 0 in all others.  In world units per second, relative to the ground.
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
    >>> import ecs_collide as ec
    >>> hero = ec.Character(jump_height=100, time_to_top=0.5)
    >>> hero.jump_speed, hero.gravity
    (400.0, 800.0)
    """

    __slots__ = (
        *NUMBERS,
        *FLAGS,
        *("_dash_through", "_lift_speed", "ground", "memory", "state"),
    )

    moves_itself = True  # gravity and zones act on it by its strides
    wishes = ("walk", "across", "climb", "jump", "drop", "dash", "hover", "crouch")

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
        wall_jump_lock: float = 0.0,
        climb_speed: float = 0.0,
        dash_speed: float = 0.0,
        dash_time: float = 0.15,
        dash_pause: float = 0.3,
        dash_through: int | str | Iterable[str] = 0,
        hover_speed: float = math.inf,
        hover_time: float = math.inf,
        ledge_reach: float = 0.0,
        ledge_time: float = 0.3,
        ledge_pause: float = 0.3,
        crouch_height: float = 0.0,
        crouch_speed: float = 120.0,
        swim_speed: float = 0.0,
        floor_max_angle: float = 45.0,
        floor_constant_speed: bool = False,
        lift_speed: str = "upward",
        up: Iterable[float] | None = None,
    ) -> None:
        self.memory = Memory()
        height, time = _number("jump_height", jump_height), _number("time_to_top", time_to_top)
        if not height > 0.0 or not time > 0.0:
            raise ValueError(
                f"Character(jump_height={jump_height!r}, time_to_top={time_to_top!r}) must be "
                "above 0: gravity is made of them; for none, Character.with_jump_speed(0, gravity)"
            )
        self.jump_speed = 2.0 * height / time
        self.gravity = self.jump_speed / time
        self._jump_height, self._time_to_top = height, time  # as they were set
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
        self.wall_jump_lock = _number("wall_jump_lock", wall_jump_lock)
        self.climb_speed = _number("climb_speed", climb_speed)
        self.dash_speed = _number("dash_speed", dash_speed)
        self.dash_time = _number("dash_time", dash_time)
        self.dash_pause = _number("dash_pause", dash_pause)
        self.dash_through = dash_through  # names become bits
        self.hover_speed = _number("hover_speed", hover_speed)
        self.hover_time = _number("hover_time", hover_time)
        self.ledge_reach = _number("ledge_reach", ledge_reach)
        self.ledge_time = _number("ledge_time", ledge_time)
        self.ledge_pause = _number("ledge_pause", ledge_pause)
        self.crouch_height = _number("crouch_height", crouch_height)
        self.crouch_speed = _number("crouch_speed", crouch_speed)
        self.swim_speed = _number("swim_speed", swim_speed)
        self.floor_max_angle = _number("floor_max_angle", floor_max_angle)
        self.floor_constant_speed = bool(floor_constant_speed)
        self.lift_speed = lift_speed
        self.up = up

        self.walk = self.across = self.climb = 0.0
        self.jump = self.drop = self.dash = self.hover = self.crouch = False
        self.on_ground = self.jumping = False
        self.ground: int | None = None
        self.facing = 1.0
        self.air_time = self.state_time = self.landed_speed = 0.0
        self.state = CharacterState.STANDING

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
        >>> import ecs_collide as ec
        >>> ec.Character.with_jump_speed(400, 800).jump_height
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
        height, time = self._jump_height, self._time_to_top
        # Computed back, it would be rounded otherwise than it was set.
        if self.jump_speed in (2.0 * height / time, math.sqrt(2.0 * self.gravity * height)):
            return height
        return self.jump_speed * self.jump_speed / (2.0 * self.gravity)

    @jump_height.setter
    def jump_height(self, height: float) -> None:
        self._jump_height = _number("jump_height", height)
        self.jump_speed = math.sqrt(2.0 * self.gravity * self._jump_height)

    @property
    def time_to_top(self) -> float:
        """The time that a jump takes to its top, in seconds."""
        if self.gravity == self.jump_speed / self._time_to_top:
            return self._time_to_top
        return self.jump_speed / self.gravity

    @property
    def up(self) -> tuple[float, ...] | None:
        """The unit vector of up, along an axis, of three numbers; None for the up of the space."""
        code = self.memory.up
        if code == 0:
            return None
        axis, sign = abs(code) - 1, 1.0 if code > 0 else -1.0
        return tuple(sign if k == axis else 0.0 for k in range(3))

    @up.setter
    def up(self, value: Iterable[float] | None) -> None:
        if value is None:
            self.memory.up = 0
            return
        try:
            numbers = [float(part) for part in value]
        except (TypeError, ValueError):
            numbers = []
        if sorted(map(abs, numbers)) not in ([0.0, 1.0], [0.0, 0.0, 1.0]):
            raise ValueError(
                f"Character(up={value!r}) must point along one axis and have length 1: "
                "(0, 1) where y grows upwards, (0, -1) where it grows downwards"
            )
        axis = [abs(part) for part in numbers].index(1.0)
        self.memory.up = axis + 1 if numbers[axis] > 0.0 else -(axis + 1)

    @property
    def landed(self) -> bool:
        """Whether it has landed: True in the one step that has a `landed_speed`."""
        return self.landed_speed > 0.0

    @property
    def dash_through(self) -> int:
        """The categories through which it dashes, as bits; it may be set by names too."""
        return self._dash_through

    @dash_through.setter
    def dash_through(self, value: int | str | Iterable[str]) -> None:
        categories = Filter(value).categories if value else 0
        if categories & 1:
            raise ValueError(
                f"Character(dash_through={value!r}) must not have the category default, in which "
                "walls without a Filter are"
            )
        self._dash_through = categories

    @property
    def lift_speed(self) -> str:
        """The part of the speed of a lift that it keeps: "all", "upward" or "none"."""
        return self._lift_speed

    @lift_speed.setter
    def lift_speed(self, value: str) -> None:
        if value not in LIFT_SPEEDS:
            raise ValueError(f"Character(lift_speed={value!r}) must be 'all', 'upward' or 'none'")
        self._lift_speed = value

    def knock_back(self, velocity: Iterable[float], time: float = 0.3) -> None:
        """Throw it: give it a velocity, and take its control away for a time.

        From the next step on it has this velocity, and none of its wishes count for `time`.  It
        falls, and slows down on the ground.  Climbing, hanging and dashing end.  Call it between
        steps or in a handler.

        Parameters
        ----------
        velocity : sequence of float
            In world units per second, relative to its ground.
        time : float
            In seconds.

        Examples
        --------
        >>> import ecs_collide as ec
        >>> hero = ec.Character()
        >>> hero.knock_back((-300, 250), time=0.4)  # to the left, away from an enemy
        """
        self.memory.knock = as_vector(type(self), "knock_back", velocity)
        self.memory.stunned = _number("time", time)
        self.memory.knocked = True

    def reset(self) -> None:
        """Reset the character for a respawn, but keep its abilities and wishes.

        Moves end as after a teleport.  It gets back its jumps in the air, its time to hover and
        its dash.  The `Velocity` loses what a dash, a ladder or a ledge gave it, in the next step
        and unless the game has set another one.
        """
        leave_place(self)
        old, self.memory = self.memory, Memory()
        self.memory.up = old.up
        self.memory.let_through, self.memory.standing_height = old.let_through, old.standing_height
        self.memory.held, self.memory.dash_held = old.held, old.dash_held
        self.jumping, self.landed_speed = False, 0.0
        self.state, self.state_time = CharacterState.STANDING, 0.0

    def __repr__(self) -> str:
        how = f"on {self.ground}" if self.on_ground else f"in the air for {self.air_time:.3g} s"
        return f"<Character {how}, walk={self.walk!r}, jump={self.jump!r}>"

    # -- saving --

    def to_bytes(self) -> bytes:
        """Return the whole character as bytes; raise TypeError for a setting that is no number."""
        return pack(self)

    def set_bytes(self, data: bytes) -> None:
        """Set everything from the bytes of `to_bytes`.

        Raises
        ------
        ValueError
            `data` has another length, a state that no step leaves, or a number that `Character`
            refuses.  Nothing is changed.
        """
        Character.from_bytes(data)
        self.restore(data)

    @classmethod
    def from_bytes(cls, data: bytes) -> Self:
        """Return a character from the bytes of `to_bytes`; raise ValueError as `set_bytes` does."""
        character = cls.restored(data)
        wrong = FIELDS.find_wrong(character)
        if wrong is not None:
            raise ValueError(f"{wrong.field} is {wrong.value!r}; it {wrong.text}")
        return character

    @classmethod
    def restored(cls, data: bytes) -> Self:
        """Return a character from a snapshot; see `restore`."""
        character = cls()
        character.restore(data)
        return character

    def restore(self, data: bytes) -> None:
        """Set everything from a snapshot, which holds also a wish or an ability that is no number.

        The next step reports such a number, as it did before the snapshot.
        """
        unpack(self, data)

    def find_wrong(self, dim: int) -> Wrong | None:
        """Return the first field that is wrong in a space of `dim` axes, or None."""
        if abs(self.memory.up) > dim:
            text = "must be an axis of a space of 2: (0, 1) or (0, -1)"
            return Wrong("Character.up", self.up, text)
        return FIELDS.find_wrong(self)


def _number(name: str, value: float) -> float:
    """Return a setting as a float, or raise."""
    number = as_float(Character, name, value)
    bounds = FIELDS.bounds.get(name, AMOUNT)
    if not bounds.allow(number):
        raise ValueError(f"Character({name}={value!r}) {bounds.text}")
    return number
