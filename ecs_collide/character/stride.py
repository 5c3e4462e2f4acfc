"""One step of a character: from its input and its surroundings to a velocity."""

from __future__ import annotations

from math import sqrt
from typing import Any

from ecs_collide._kernel import ReadOnly, cython
from ecs_collide._kernel.constants import INF
from ecs_collide.character.crouch import crouch_or_stand
from ecs_collide.character.dashes import dash, dashes
from ecs_collide.character.figure import Figure, same_or, three
from ecs_collide.character.jumps import (
    fall,
    jump,
    slip_past_corner,
    slip_round_corner,
    stroke,
    swims,
)
from ecs_collide.character.ladders import climb, climbs
from ecs_collide.character.memory import MOVED, NOTHING, CharacterState, leave_place
from ecs_collide.character.ramps import follow, meet
from ecs_collide.character.surroundings import Surroundings, vector
from ecs_collide.character.walks import (
    find_drop,
    find_fallen_ground,
    keep_to_ground,
    step_up,
    walk,
)
from ecs_collide.character.walls import hang, hangs, jump_off, rise_of_walls
from ecs_collide.components.basics import Disabled
from ecs_collide.components.surfaces import OneWay
from ecs_collide.step.state import StepState
from ecs_collide.sync.body_lists import BodyLists
from ecs_collide.sync.slots import Slots, fields_numbers, slots_free, slots_new


@cython.final
class Strides:
    """Takes the strides of the characters of a space."""

    around: ReadOnly[Surroundings]
    extras: Any
    # The numbers of the last `Character` that was checked, and their bounds.
    of_numbers: cython.pointer[Slots]
    n_numbers: cython.int
    numbers: cython.double[40]
    least: cython.double[40]
    most: cython.double[40]
    limit: cython.double[40]

    def __init__(self, space, functions: tuple, state: StepState, lists: BodyLists, extras):
        """Make the strides of a space.

        `functions` are as `Surroundings` takes them.  `extras` has what no kernel imports: `zone`,
        `ladder`, `note_changes`, `add_component`, and `no_wishes`, a character.
        """
        self.around = Surroundings(space, functions, state, lists)
        self.extras = extras
        for bounds in extras.bounds.values():
            n: cython.int = self.n_numbers
            self.least[n], self.most[n] = bounds.minimum, bounds.maximum
            self.limit[n] = INF if bounds.may_be_infinite else bounds.maximum
            self.n_numbers = n + 1
        self.of_numbers = slots_new(type(extras.no_wishes), tuple(extras.bounds))

    def __dealloc__(self):
        slots_free(self.of_numbers)

    def sort(self, found: list, wrong: dict) -> list:
        """Return characters from below to above, without those that the step will skip.

        Ids make no difference then.  Each is a tuple of what was found, its box, and its
        velocity.  Add the wrong field of a `Character` to `wrong`.
        """
        dim: cython.int = self.around.dim
        axis: cython.int = abs(self.around.up) - 1
        sign: cython.double = 1.0 if self.around.up > 0 else -1.0
        places: list = []
        for n in range(len(found)):
            components: tuple = found[n][1]
            character: Any = components[0]
            error = None if self._is_sound(character) else character.find_wrong(dim)
            at: Any = vector(components[1], dim)
            half: Any = vector(components[2], dim)
            moved = vector(components[3], dim)
            if error is not None:
                wrong[found[n][0]] = error
            elif at and half and min(half) >= 0.0 and moved:
                places.append((sign * at[axis], at, half, n, moved))
        places.sort()
        for n in range(len(places)):
            _, at, half, place, moved = places[n]
            places[n] = found[place], (at, half), moved
        return places

    def _is_sound(self, character) -> cython.bint:
        """Return whether all numbers of a character are plain ones within their bounds."""
        if not cython.compiled or not fields_numbers(self.of_numbers, character, self.numbers):
            return False
        for k in range(self.n_numbers):
            number: cython.double = self.numbers[k]
            if not (self.least[k] <= number <= self.most[k] or number == self.limit[k]):
                return False
        return abs(character.memory.up) <= self.around.dim

    def take(self, found: list, dt: cython.double) -> None:
        """Write the velocities of sound characters for a step of `dt` seconds."""
        # A stride reads the velocities of other characters, which their strides may have written.
        for character, box, moved in found:
            entity = character[0]
            if self.around.has(entity, Disabled):  # a disabled character is paused
                continue
            try:
                self._take(character, box, moved, dt)
            except (TypeError, ValueError, AttributeError, ArithmeticError):
                if not self.around.is_wrong(entity):
                    raise  # otherwise the step says which number is wrong

    def _take(self, found: tuple, box: tuple, moved: tuple, dt: cython.double) -> cython.void:
        """Write the velocity and the state of a character."""
        around: Surroundings = self.around
        entity = found[0]
        components: tuple = found[1]
        c: Any = components[0]
        velocity: Any = components[3]
        memory: Any = c.memory
        row: cython.Py_ssize_t = around.row_of.row(entity)
        was_put: cython.bint = row >= 0 and around.is_put(entity, row, components[1], box[0])
        pulled = memory.written if memory.climbing or memory.ledge != NOTHING else None
        was_moved: cython.bint = c.state in MOVED
        written: list = []

        if was_put:
            leave_place(c)
        figure: Figure = Figure(around, self.extras, found, box, dt)
        figure.is_known = row >= 0 and not was_put
        figure.find_ground(moved)
        if was_put and pulled is not None and moved[figure.up] == pulled[figure.up]:
            figure.own[figure.up] = 0.0  # the ladder or the ledge that pulled it is far away
        keep_time(figure)
        decide(figure)
        out: list = find_velocity(figure)
        for k in range(around.dim):
            part: cython.double = out[k]
            written.append(part + (0.0 if figure.rides else figure.frame[k]))
        _write(velocity, written)
        if figure.expected is not None:
            memory.written = three(figure.expected)
        else:
            memory.written = vector(velocity, 3) or three(tuple(written))
        memory.own = same_or(memory.own, figure.own)
        memory.frame = same_or(memory.frame, figure.frame)
        memory.rode = figure.rides
        memory.last_dt = dt
        memory.held, memory.dash_held = bool(c.jump), bool(c.dash)
        if c.state in MOVED or was_moved:
            _note_moved(figure)


def _write(velocity, now: list) -> cython.void:
    """Write a `Velocity` if it differs, unless a part is not finite, as in a far too long step."""
    for k in range(len(now)):
        part: cython.double = now[k]
        if part - part != 0.0:
            return
    if now[0] != velocity.x or now[1] != velocity.y or (len(now) == 3 and now[2] != velocity.z):
        velocity.x, velocity.y = now[0], now[1]
        if len(now) == 3:
            velocity.z = now[2]


def _note_moved(figure: Figure) -> cython.void:
    """Note the part of its velocity that ends with a dash, or when it lets go."""
    level: cython.double = 0.0
    moved: list = [0.0, 0.0, 0.0]
    if figure.dashes:
        for k in range(figure.dim):
            level += figure.own[k] * figure.own[k]
        level = sqrt(level)
    share: cython.double = figure.character.walk_speed / level if level > 0.0 else 0.0
    for k in range(figure.dim):
        if figure.dashes or figure.hangs or figure.memory.climbing:
            moved[k] = figure.own[k] * max(0.0, 1.0 - share)
    figure.moved = tuple(moved)
    figure.note_changes()


def keep_time(figure: Figure) -> cython.void:
    """Count the times, and find whether its wishes count."""
    c: Any = figure.character
    memory: Any = figure.memory
    passed: cython.double = memory.last_dt
    c.air_time += passed
    c.state_time += passed
    memory.since_press += passed  # inf stays inf
    memory.since_wall += passed
    memory.since_dash += passed
    memory.since_ledge += passed
    if c.jump and not memory.held:
        memory.since_press = 0.0
    if memory.locked > 0.0:
        memory.locked = max(0.0, memory.locked - passed)
    if memory.stunned > 0.0:
        if not figure.is_hit:
            memory.stunned = max(0.0, memory.stunned - passed)
        if memory.stunned > figure.late:
            figure.wants = figure.extras.no_wishes


def decide(figure: Figure) -> cython.void:
    """Land, drop, jump, walk and fall, without regard to obstacles."""
    c: Any = figure.character
    memory: Any = figure.memory
    up: cython.int = figure.up
    if figure.wants.drop and figure.touches and figure.space.drop_through(figure.entity):
        memory.since_press = INF
        # The contacts last until the step begins, which adds the velocity of the carriers.
        figure.touches = False
        for ground in figure.grounds:
            figure.touches |= not figure.around.has(ground, OneWay)
        if not figure.touches:
            c.on_ground, memory.gone, figure.was_on = False, True, False
    if c.crouch_height > 0.0 or memory.standing_height > 0.0:
        crouch_or_stand(figure)
    walk(figure)
    on_ladder: cython.bint = c.climb_speed > 0.0 and climbs(figure)
    may_dash: cython.bint = c.dash_speed > 0.0 or memory.let_through != 0
    if (may_dash and dashes(figure)) or on_ladder:
        figure.let_go()
    elif c.ledge_reach > 0.0 or memory.ledge != NOTHING:
        figure.hangs = hangs(figure)
    if not figure.touches and figure.was_on and figure.own[up] * figure.sign <= 0.0:
        figure.drop = find_drop(figure)
    holds: cython.bint = figure.touches or on_ladder or figure.hangs
    if figure.drop is None and not holds and (figure.held_up or figure.was_on):
        figure.drop = find_fallen_ground(figure)
    on_ground: cython.bint = figure.touches or figure.drop is not None or figure.is_wedged
    c.landed_speed = _fall_onto(figure) if on_ground else 0.0
    if on_ground:
        c.air_time, memory.gone, c.jumping = 0.0, False, False
        memory.n_air_jumps, memory.since_wall, memory.hovered = 0.0, INF, 0.0
        memory.locked = figure.own[up] = 0.0
        memory.air_dt = 0.0
    else:
        memory.stepping = False
        if figure.own[up] * figure.sign > 0.0 and not c.jumping:
            memory.gone = True  # it was thrown

    _act(figure, on_ground, on_ladder)
    c.on_ground = on_ground and not figure.jumps and not memory.climbing
    if not c.on_ground:
        c.ground = None
    note_state(figure)


def note_state(figure: Figure) -> cython.void:
    """Note what it does in this step, for its animation."""
    c: Any = figure.character
    state = _find_state(figure)
    if state is not c.state:
        c.state, c.state_time = state, 0.0


def _fall_onto(figure: Figure) -> cython.double:
    """Return how fast it came down on its ground, if it was in the air for more than a step."""
    memory: Any = figure.memory
    ground = figure.drop[0] if figure.drop else figure.character.ground
    if ground is None or figure.character.air_time < 1.5 * memory.last_dt or memory.climbing:
        return 0.0
    came: cython.double = memory.own[figure.up] + memory.frame[figure.up]
    its: cython.double = figure.speed_of(ground, figure.up, None) + figure.frame[figure.up]
    return max(0.0, (its - came) * figure.sign)


def _act(figure: Figure, on_ground: cython.bint, on_ladder: cython.bint) -> cython.void:
    """Do one thing: dash, jump, hold on, stand or fall."""
    c: Any = figure.character
    memory: Any = figure.memory
    late: cython.double = figure.late
    due: cython.bint = memory.since_press <= c.jump_buffer + late and figure.wants is c
    due = due and not figure.is_flat
    if figure.dashes:
        dash(figure)
    elif due and on_ladder:
        jump(figure)
        memory.climbing = False
    elif on_ladder:
        climb(figure)
    elif figure.hangs and (not due or memory.pull > 0.0):
        hang(figure)
    elif figure.hangs:
        figure.hangs = False
        figure.let_go()
        jump(figure)
    elif due and (on_ground or (not memory.gone and c.air_time <= c.coyote_time + late)):
        jump(figure)
    elif due and not on_ground and swims(figure):  # also beside a bank
        stroke(figure)
    elif due and c.wall_jump_speed > 0.0 and memory.since_wall <= c.coyote_time + late:
        jump(figure)
        jump_off(figure)
    elif due and not on_ground and memory.n_air_jumps < c.air_jumps:
        memory.n_air_jumps += 1.0
        jump(figure)
    elif figure.upright >= 0 and (not on_ground or figure.is_wedged):
        fall(figure)


@cython.cfunc
def _find_state(figure: Figure) -> object:
    """Return what it does in this step."""
    c: Any = figure.character
    memory: Any = figure.memory
    if figure.dashes:
        return CharacterState.DASHING
    if memory.climbing:
        return CharacterState.CLIMBING
    if figure.hangs:
        pulls: cython.bint = memory.pull > 0.0 or memory.ledge == NOTHING
        return CharacterState.PULLING_UP if pulls else CharacterState.HANGING
    if figure.wants is not c:
        return CharacterState.KNOCKED_BACK
    if c.on_ground or figure.is_flat:
        walks: cython.bint = False
        for k in range(figure.dim):
            walks |= k != figure.upright and figure.own[k] != 0.0
        if memory.standing_height > 0.0:
            return CharacterState.CRAWLING if walks else CharacterState.CROUCHING
        return CharacterState.WALKING if walks else CharacterState.STANDING
    if swims(figure):
        return CharacterState.SWIMMING
    rise: cython.double = rise_of_walls(figure) if c.wall_slide_speed < INF else -INF
    if figure.own[figure.up] * figure.sign > max(0.0, rise):
        return CharacterState.RISING
    if figure.hovers:
        return CharacterState.HOVERING
    return CharacterState.FALLING if rise == -INF else CharacterState.WALL_SLIDING


@cython.cfunc
def find_velocity(figure: Figure) -> list:
    """Return the velocity for this step, relative to the frame, with regard to obstacles."""
    c: Any = figure.character
    memory: Any = figure.memory
    was_stepping: cython.bint = memory.stepping
    out: list = []
    for k in range(figure.dim):
        out.append(figure.own[k])
    memory.stepping = memory.turned = False
    if figure.hangs:
        return out
    if figure.jumps and figure.rides:  # the space adds the whole velocity of the lift once more
        kept: tuple = figure.kept_of_lift()
        for k in range(figure.dim):
            out[k] -= figure.frame[k] - kept[k]
    if c.on_ground and not figure.is_wedged:
        if follow(figure, out):
            if figure.drop is not None:
                c.ground = figure.drop[0]
            return out
        if step_up(figure, out, c.step_height):
            return out
        keep_to_ground(figure, out, was_stepping)
    elif figure.is_flat:
        slip_round_corner(figure, out)
        return out
    elif figure.own[figure.up] * figure.sign <= 0.0:
        if step_up(figure, out, c.corner):
            c.on_ground, memory.gone = True, False
            c.air_time = memory.air_dt = figure.own[figure.up] = 0.0
            note_state(figure)  # it was at a wall
    else:
        slip_past_corner(figure, out)
    meet(figure, out)
    return out
