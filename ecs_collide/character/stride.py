"""One step of a character: from its input and its surroundings to a velocity.

A path within a step is straight, but the way up a stair is not: up, then on.  Setting a position
would do both, but that is a teleport.  So a character looks ahead two steps.  If it would be
stopped in the next one, it rises in this one by exactly the missing height, and then continues as
on a plane.  Corners of ceilings are passed in the same way, with up and aside exchanged.
"""

from __future__ import annotations

import math
from collections.abc import Collection
from operator import itemgetter

import esper

import ecs_collide as ec
from ecs_collide._kernel.constants import LENGTH_ROUNDING, SAME, STEPS_AHEAD
from ecs_collide.character import crouch, dashes, ladders, ramps, walls
from ecs_collide.character.character import Character
from ecs_collide.character.figure import (
    Components,
    Figure,
    Vector,
    added,
    three,
    times,
)
from ecs_collide.character.memory import NOTHING, CharacterState, leave_place
from ecs_collide.components.immersed import Immersed
from ecs_collide.space import is_put, last_bounds
from ecs_collide.sync.fields import sound_vector, write_vector

TREAD = 0.25  # relative to the height of a step: its least depth
HOVER = 2.0**-38  # relative to a length: of no contact, and more than `LENGTH_ROUNDING`
TRIES = 32  # the most bodies on a way up or past a corner
AT_SURFACE = 0.5  # of its box: with less in the water, it jumps instead of swimming
NO_WISHES = Character()  # of a character that has been knocked back
# Of strides that `queries.plain_strides` may take.
PLAIN_ON_GROUND = (CharacterState.STANDING, CharacterState.WALKING)
PLAIN_IN_AIR = (CharacterState.RISING, CharacterState.FALLING)


def take_stride(
    space: ec.Space, entity: int, components: Components, dt: float, wrong: Collection[int] = ()
) -> None:
    """Write the velocity and the state of a character for a step of `dt` seconds.

    The step will skip the entities `wrong`.
    """
    character, _, _, velocity = components
    moved = sound_vector(velocity, space.dim)
    assert moved is not None  # the strides of others are not taken
    memory = character.memory
    was_put = entity in space and is_put(space, entity, components[1])
    pulled = memory.written if memory.climbing or memory.ledge != NOTHING else None
    if was_put:
        leave_place(character)
    stride = Stride(space, entity, components, dt, wrong)
    stride.is_known = entity in space and not was_put
    stride.find_ground(moved)
    if was_put and pulled is not None and moved[stride.up] == pulled[stride.up]:
        stride.own[stride.up] = 0.0  # the ladder or the ledge that pulled it is far away
    stride.keep_time()
    stride.decide()
    written = list(moved)
    for k, part in enumerate(stride.find_velocity()):
        written[k] = part + (0.0 if stride.rides else stride.frame[k])
    write_vector(velocity, written, space.dim)
    if stride.expected is not None:
        written = list(stride.expected)
        memory.written = three(written)
    else:
        memory.written = sound_vector(velocity, 3) or three(written)
    memory.own = three(stride.own)
    memory.frame = three(stride.frame)
    memory.rode = stride.rides
    memory.last_dt = dt
    memory.held, memory.dash_held = bool(character.jump), bool(character.dash)
    memory.plain = (stride.up + 1) * stride.sign if stride.is_plain() else 0


class Stride(Figure):
    """The computation of one step of one character."""

    # -- its actions --

    def is_plain(self) -> bool:
        """Return whether it has done nothing but stand or walk on level ground, rise or fall."""
        c, memory = self.character, self.memory
        if c.on_ground:
            may_go_on = (
                c.state in PLAIN_ON_GROUND
                and self.touches
                and not (self.lands_on_slope() or memory.stepping)
                and (self.rides or not any(self.frame))
            )
        else:
            may_go_on = (
                c.state in PLAIN_IN_AIR
                and not (self.rides or any(self.frame))
                and memory.locked == 0.0
            )
        return (
            may_go_on
            and self.medium is None
            and not (c.landed or memory.let_through)
            and memory.stunned == memory.standing_height == 0.0
        )

    def keep_time(self) -> None:
        """Count the times, and find whether its wishes count."""
        c, memory, passed = self.character, self.memory, self.memory.last_dt
        c.air_time += passed
        c.state_time += passed
        memory.since_press += passed
        memory.since_wall += passed
        memory.since_dash += passed
        memory.since_ledge += passed
        if c.jump and not memory.held:
            memory.since_press = 0.0
        if memory.locked > 0.0:
            memory.locked = max(0.0, memory.locked - passed)
        if memory.stunned > 0.0:
            if not self.is_hit:
                memory.stunned = max(0.0, memory.stunned - passed)
            if memory.stunned > self.late:
                self.wants = NO_WISHES

    def decide(self) -> None:
        """Land, drop, jump, walk and fall, without regard to obstacles."""
        c, memory, up = self.character, self.memory, self.up
        if self.wants.drop and self.touches and self.space.drop_through(self.entity):
            memory.since_press = math.inf
            # The contacts last until the step begins, which adds the velocity of the carriers.
            if all(esper.has_component(ground, ec.OneWay) for ground in self.grounds):
                self.touches = False
                c.on_ground, memory.gone, self.was_on = False, True, False
        if c.crouch_height > 0.0 or memory.standing_height > 0.0:
            crouch.crouch_or_stand(self)
        self.walk()
        climbs = c.climb_speed > 0.0 and ladders.climbs(self)
        may_dash = c.dash_speed > 0.0 or memory.let_through != 0
        if (may_dash and dashes.dashes(self)) or climbs:
            self.let_go()
        elif c.ledge_reach > 0.0 or memory.ledge != NOTHING:
            self.hangs = walls.hangs(self)
        keeps = not self.touches and self.was_on and self.own[up] * self.sign <= 0.0
        self.drop = self._find_drop() if keeps else None
        if self.drop is None and not (self.touches or climbs or self.hangs):
            self.drop = self._find_fallen_ground() if self.held_up or self.was_on else None
        on_ground = self.touches or self.drop is not None or self.is_wedged
        c.landed_speed = (
            self._fall_onto(self.drop[0] if self.drop else c.ground) if on_ground else 0.0
        )
        if on_ground:
            c.air_time, memory.gone, c.jumping = 0.0, False, False
            memory.n_air_jumps, memory.since_wall, memory.hovered = 0.0, math.inf, 0.0
            memory.locked = self.own[up] = 0.0
            memory.air_dt = 0.0
        else:
            memory.stepping = False
            if self.own[up] * self.sign > 0.0 and not c.jumping:
                memory.gone = True  # it was thrown

        self._act(on_ground, climbs)
        c.on_ground = on_ground and not self.jumps and not memory.climbing
        if not c.on_ground:
            c.ground = None
        state = self._find_state()
        if state is not c.state:
            c.state, c.state_time = state, 0.0

    def _fall_onto(self, ground: int | None) -> float:
        """Return how fast it came down on its ground, if it was in the air for more than a step."""
        memory = self.memory
        if ground is None or self.character.air_time < 1.5 * memory.last_dt or memory.climbing:
            return 0.0
        came = memory.own[self.up] + memory.frame[self.up]
        its = self.speed_of(ground, self.up) + self.frame[self.up]
        return max(0.0, (its - came) * self.sign)

    def _act(self, on_ground: bool, climbs: bool) -> None:
        """Do one thing: dash, jump, hold on, stand or fall."""
        c, memory, late = self.character, self.memory, self.late
        due = memory.since_press <= c.jump_buffer + late and self.wants is c
        if self.dashes:
            dashes.dash(self)
        elif due and climbs:
            self.jump()
            memory.climbing = False
        elif climbs:
            ladders.climb(self)
        elif self.hangs and (not due or memory.pull > 0.0):
            walls.hang(self)
        elif self.hangs:
            self.hangs = False
            self.let_go()
            self.jump()
        elif due and (on_ground or (not memory.gone and c.air_time <= c.coyote_time + late)):
            self.jump()
        elif due and c.wall_jump_speed > 0.0 and memory.since_wall <= c.coyote_time + late:
            self.jump()
            walls.jump_off(self)
        elif due and not on_ground and self._swims():
            self._stroke()
        elif due and not on_ground and memory.n_air_jumps < c.air_jumps:
            memory.n_air_jumps += 1.0
            self.jump()
        elif not on_ground or self.is_wedged:
            self._fall()

    def _find_state(self) -> CharacterState:
        """Return what it does in this step."""
        c, memory = self.character, self.memory
        if self.dashes:
            return CharacterState.DASHING
        if memory.climbing:
            return CharacterState.CLIMBING
        if self.hangs:
            pulls = memory.pull > 0.0 or memory.ledge == NOTHING
            return CharacterState.PULLING_UP if pulls else CharacterState.HANGING
        if self.wants is not c:
            return CharacterState.KNOCKED_BACK
        if c.on_ground:
            walks = any(self.own[k] != 0.0 for k in self.level)
            if memory.standing_height > 0.0:
                return CharacterState.CRAWLING if walks else CharacterState.CROUCHING
            return CharacterState.WALKING if walks else CharacterState.STANDING
        if self._swims():
            return CharacterState.SWIMMING
        rise = walls.rise(self) if c.wall_slide_speed < math.inf else -math.inf
        if self.own[self.up] * self.sign > max(0.0, rise):
            return CharacterState.RISING
        if self.hovers:
            return CharacterState.HOVERING
        return CharacterState.FALLING if rise == -math.inf else CharacterState.WALL_SLIDING

    def _swims(self) -> bool:
        """Return whether it is in water and can swim."""
        return self.medium is not None and self.medium.afloat > 0.0 < self.character.swim_speed

    def _stroke(self) -> None:
        """Rise in water, or jump out of it at its surface."""
        if self.medium is not None and self.medium.afloat < AT_SURFACE:
            self.jump()
            return
        self.leave_frame()
        speed = self.character.swim_speed - self.gravity * self.dt / 2.0
        self.own[self.up] = self.sign * max(speed, self.own[self.up] * self.sign)
        self.memory.since_press, self.memory.air_dt, self.memory.gone = math.inf, self.dt, True

    def jump(self) -> None:
        """Leave the ground, or whatever it holds on to, with the speed of a jump."""
        c = self.character
        self.own[self.up] = self.sign * (c.jump_speed - self.gravity * self.dt / 2.0)
        self.leave_frame()
        self.jumps = c.jumping = self.memory.gone = True
        self.memory.stepping = False
        self.memory.since_press = math.inf
        self.memory.air_dt = self.dt

    def _fall(self) -> None:
        """Apply gravity; the speed is taken in the middle of the step, so that paths are exact."""
        c, memory = self.character, self.memory
        self.leave_frame()
        # The speed at the start of the step.
        rises = self.own[self.up] * self.sign - self.gravity * memory.air_dt / 2.0
        c.jumping = c.jumping and rises > 0.0
        if c.jumping and not c.jump:
            c.jumping = False
            rises = min(rises, c.jump_cut * c.jump_speed)
        slowest = c.fall_speed
        if c.wall_slide_speed < math.inf:
            slowest = min(slowest, c.wall_slide_speed - walls.rise(self))
        rises -= self.gravity * self.dt / 2.0
        if self.medium is not None:
            rises = self.sign * self.medium.slowed(self.sign * rises, self.up, self.dt)
        if self.wants.hover and c.hover_speed < slowest and rises < 0.0:
            self.hovers = memory.hovered < c.hover_time - self.late
            if self.hovers:
                slowest = c.hover_speed
                memory.hovered += self.dt
        self.own[self.up] = self.sign * max(rises, -slowest)
        memory.air_dt = self.dt

    def walk(self) -> None:
        """Accelerate its speed along the ground towards the wish."""
        c, dt = self.character, self.dt
        wish = [self.wants.walk, self.wants.across][: len(self.level)]
        length = math.sqrt(sum(part * part for part in wish))
        if length > 1.0:
            wish = [part / length for part in wish]
        self.wish = wish
        in_air = not self.touches and not self.was_on
        if in_air and (self.memory.locked > self.late or self.wants is not c):
            return
        if wish[0] != 0.0:
            c.facing = math.copysign(1.0, wish[0])
        rate = c.acceleration if length > 0.0 else c.deceleration
        if in_air:
            rate = rate * c.air_control if c.air_control > 0.0 else 0.0
        speed = c.walk_speed if self.memory.standing_height == 0.0 else c.crouch_speed
        if self.medium is not None:
            speed *= self.medium.walk
        wanted = [part * speed for part in wish]
        if self.medium is not None and not self.memory.climbing:  # no wind blows it off a ladder
            wanted = [
                part + self.medium.flow[k] for part, k in zip(wanted, self.level, strict=True)
            ]
        gaps = [part - self.own[k] for part, k in zip(wanted, self.level, strict=True)]
        far = math.sqrt(sum(gap * gap for gap in gaps))
        for gap, part, k in zip(gaps, wanted, self.level, strict=True):
            if not self.touches and any(gap * normal[k] < 0.0 for normal, _ in self.steep):
                continue  # a push against a steep slope does not slow it down
            if far <= rate * dt:
                self.own[k] = part
            else:
                self.own[k] += gap / far * (rate * dt)

    # -- obstacles --

    def find_velocity(self) -> list[float]:
        """Return the velocity for this step, relative to the frame."""
        c = self.character
        out = list(self.own)
        stepping, self.memory.stepping = self.memory.stepping, False
        self.memory.turned = False
        if self.hangs:
            return out
        if self.jumps and self.rides:  # the space adds the whole velocity of the lift once more
            for k, kept in enumerate(self._kept_of_lift()):
                out[k] -= self.frame[k] - kept
        if c.on_ground and not self.is_wedged:
            if ramps.follow(self, out, self.drop):
                if self.drop is not None:
                    c.ground = self.drop[0]
                return out
            if self._step_up(out, c.step_height):
                return out
            if self.drop is not None:
                c.ground, direction = self.drop
                self.memory.stepping = stepping and direction == 0.0
                out[self.up] = self.speed_in_step(c.ground, self.up)
                down = direction * (1.0 + LENGTH_ROUNDING) - self._height_over(c.ground)
                out[self.up] -= self.sign * down / self.dt
            elif self.touches and c.ground is not None:
                if esper.has_component(c.ground, Immersed):
                    out[self.up] = self.speed_in_step(c.ground, self.up)
                    out[self.up] += self.sign * self._height_over(c.ground) / self.dt
                elif not self.rides:
                    out[self.up] -= self.sign * self._gap_to(c.ground) / self.dt * 2.0
        elif self.own[self.up] * self.sign <= 0.0:
            if self._step_up(out, c.corner):
                c.on_ground, self.memory.gone = True, False
                c.air_time = self.memory.air_dt = self.own[self.up] = 0.0
        else:
            self._slip_past_corner(out)
        ramps.meet(self, out)
        return out

    def _find_drop(self) -> tuple[int, float] | None:
        """Return the ground that it walks on to without a contact, and its distance below.

        It is the highest one under its present place, its next place, and the step onto which it
        is rising.
        """
        snap = self.character.snap_distance * (1.0 + SAME)
        here = self._look_down(self.centre, snap)
        if not self.memory.stepping and (here is None or here[1] == 0.0):
            return None  # no ground, or ground that does not hold it
        found, move = [here], self.way(1.0)
        if any(move):
            hit = self.cast(self.centre, times(move, STEPS_AHEAD))
            free = STEPS_AHEAD if hit is None else hit.time * STEPS_AHEAD
            ahead = (min(free, 1.0), free) if self.memory.stepping else (min(free, 1.0),)
            below = [self._look_down(added(self.centre, times(move, part)), snap) for part in ahead]
            found += [drop for drop in below if drop and not self.is_slanted(self.below[drop[0]])]
        return min((drop for drop in found if drop), key=itemgetter(1), default=None)

    def _find_fallen_ground(self) -> tuple[int, float] | None:
        """Return the crate that held it up and then fell on within the step, and its distance.

        Gravity acts on a crate within the step, and on a character between steps.
        """
        last_dt = self.memory.last_dt
        gained = abs(self.space.gravity[self.up]) * last_dt * (1.0 + SAME)
        drop = self._look_down(self.centre, gained * last_dt / 2.0)
        if drop is None or drop[1] == 0.0 or self.is_hit or not self.gives_way(drop[0]):
            return None
        rises = self.own[self.up] * self.sign
        is_thrown = rises > max(0.0, self.speed_of(drop[0], self.up) * self.sign + gained)
        if is_thrown or (rises > 0.0 and self.character.jumping):
            return None
        return None if self.is_slanted(self.below[drop[0]]) else drop

    def _look_down(self, centre: Vector, far: float) -> tuple[int, float] | None:
        """Return the ground below a place, and its distance, 0 if it is within rounding."""
        if far == 0.0:
            return None
        hit = self.cast_in_order(centre, self.upwards(-far))
        if hit is None or hit.depth > 0.0 or not self.is_floor(hit.normal):
            return None
        self.below[hit.id] = hit.normal
        down = abs(centre[self.up] - hit.centre[self.up])
        is_apart = down > LENGTH_ROUNDING * max(map(abs, (*centre, *self.half)))
        return hit.id, down if is_apart else 0.0

    def _step_up(self, out: list[float], limit: float) -> bool:
        """Rise by the missing height if steps are in the way; return whether there are any.

        All steps in reach count.  Each must be at most `limit` high, and at least a quarter as
        deep as it is high, or it counts to the next one.  A wall of narrow ledges is no stair.
        """
        c, move = self.character, self.way(STEPS_AHEAD)
        if not any(move) or limit == 0.0:
            return False
        first = hit = self.cast(self.centre, move)
        if hit is None or first is None or hit.depth > 0.0 or hit.normal[self.up] != 0.0:
            return False
        height = tread = 0.0  # above its feet, of this step and of the previous one
        rise = target = 0.0
        reach = math.sqrt(sum(part * part for part in move))
        away = first.time * reach
        for _ in range(TRIES):
            height = self.height_above_feet(hit.id)
            if not 0.0 < height - tread <= limit * (1.0 + SAME):
                break
            target = max(target, height + self.speed_of(hit.id, self.up) * self.sign * self.dt)
            needed = away + TREAD * (height - tread)
            look = max(reach, needed)
            above = added(self.centre, self.upwards(height))
            hit = self.cast(above, times(move, look / reach))
            if hit is None or hit.time * look > reach >= needed:
                rise = target
                break
            if hit.time * look >= needed * (1.0 - SAME):  # it is deep enough: one more step
                tread, rise, away = height, target, hit.time * look
        if rise <= 0.0:
            return False
        out[self.up] = self.sign * rise / self.dt
        part = first.time * STEPS_AHEAD * (1.0 - LENGTH_ROUNDING)
        if part < 1.0:  # not into it before it is up
            for k in self.level:
                out[k] *= part
        self.memory.stepping = True
        c.ground = first.id
        return True

    def _height_over(self, ground: int) -> float:
        """Return the gap to keep to the ground: 0 but over a body that floats.

        That one falls within the step and a character does not, so in contact one would push the
        other.
        """
        if self.rides or not esper.has_component(ground, Immersed):
            return 0.0
        return HOVER * (abs(self.centre[self.up]) + self.half[self.up])

    def _gap_to(self, ground: int) -> float:
        """Return the gap to the ground that rounding left, or 0 if no float is nearer."""
        gap = -self.height_above_feet(ground)
        centre, half = self.centre[self.up], self.half[self.up]
        # A larger gap is none of rounding: the game has put one of the two elsewhere.
        if not 0.0 < gap <= LENGTH_ROUNDING * (abs(centre) + half):
            return 0.0
        nearer = math.nextafter(centre, -self.sign * math.inf)
        feet = centre - self.sign * half
        return gap if (nearer - self.sign * half - feet) * self.sign + gap >= 0.0 else 0.0

    def _slip_past_corner(self, out: list[float]) -> None:
        """Move aside if the corner of a ceiling is in the way, and there is room beside it."""
        c = self.character
        if c.corner == 0.0:
            return
        rise = self.upwards(abs(self.own[self.up]) * self.dt)
        if self.rides:
            rise = added(rise, self.upwards(self.frame[self.up] * self.sign * self.dt))
        move = self.way(1.0)
        hit = self.cast_in_order(self.centre, times(added(move, rise), STEPS_AHEAD))
        if hit is None or hit.depth > 0.0 or hit.normal[self.up] != -self.sign:
            return
        share = min(hit.time * STEPS_AHEAD, 1.0)
        escapes = [
            (aside, k, direction)
            for n, k in enumerate(self.level)
            for direction in (1, -1)
            if self.wish[n] * direction >= 0.0
            and (aside := self._clearance_past(hit, k, direction, times(move, share), rise))
            is not None
        ]
        if not escapes:
            return
        aside, k, direction = min(escapes, key=lambda found: found[0])
        for m in self.level:
            out[m] = move[m] * share / self.dt
        out[k] += direction * aside / self.dt
        if share < 1.0:  # up to the ceiling, and the rest of the jump later
            out[self.up] *= share * (1.0 - LENGTH_ROUNDING)
            late = (1.0 - share) * self.dt
            self.own[self.up] += self.sign * self.gravity * late / 2.0
            self.memory.air_dt -= late

    def _clearance_past(
        self, hit: ec.BoxHit, k: int, direction: int, move: Vector, rise: Vector
    ) -> float | None:
        """Return the distance aside to the end of a ceiling; None if too far or not free."""
        other = hit.id
        for _ in range(TRIES):
            low, high = last_bounds(self.space, other)
            edge = high[k] if direction > 0 else low[k]
            aside = (edge - (hit.centre[k] - direction * self.half[k])) * direction
            if not 0.0 < aside <= self.character.corner * (1.0 + SAME):
                return None
            beside = tuple(
                part + (direction * aside if m == k else 0.0) for m, part in enumerate(move)
            )
            above = self.cast(added(self.centre, beside), times(rise, STEPS_AHEAD))
            if above is None:
                return aside
            other = above.id
        return None
