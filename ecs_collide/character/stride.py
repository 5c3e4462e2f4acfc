"""One step of a character: from its input and its surroundings to a velocity.

A path within a step is straight, but the way up a stair is not: up, then on.  Setting a position
would do both, but that is a teleport.  So a character looks ahead two steps.  If it would be
stopped in the next one, it rises in this one by exactly the missing height, and then continues as
on a plane.  Corners of ceilings are passed in the same way, with up and aside exchanged.

All velocities are relative to the ground of the character (its frame).  On a `Carry` the space
adds the velocity of the ground; in the air or above a step of a lift, it is added here.
"""

from __future__ import annotations

import math
from operator import itemgetter
from typing import TYPE_CHECKING, TypeAlias

import esper

import ecs_collide as ec
from ecs_collide.character.character import CharacterState, Ladder
from ecs_collide.components.surfaces import solid_side

if TYPE_CHECKING:
    from ecs_collide.character.character import Character, Vector3

    Components: TypeAlias = tuple[Character, ec.Position, ec.Extents, ec.Velocity]

STEPS_AHEAD = 2.01  # steps that it looks ahead: two, and some for rounding
SAME = 2.0**-20  # relative: closer speeds are the same
LENGTH_ROUNDING = 2.0**-40  # relative to a length
TREAD = 0.25  # relative to the height of a step: its least depth
TRIES = 32  # the most bodies on a way up or past a corner

Vector = tuple[float, ...]


def take_stride(space: ec.Space, entity: int, components: Components, dt: float) -> None:
    """Write the velocity and the state of a character for a step of `dt` seconds."""
    character, _, _, velocity = components
    stride = Stride(space, entity, components, dt)
    stride.find_ground(velocity)
    stride.keep_time()
    stride.decide()
    written = list(velocity.xyz)
    for k, part in enumerate(stride.find_velocity()):
        written[k] = part + (0.0 if stride.rides else stride.frame[k])
    velocity.set(*written)
    memory = character.memory
    memory.written = velocity.xyz
    memory.own = _three(stride.own)
    memory.frame = _three(stride.frame)
    memory.rode = stride.rides
    memory.last_dt = dt
    memory.held, memory.dash_held = bool(character.jump), bool(character.dash)


class Stride:
    """The computation of one step of one character."""

    def __init__(self, space: ec.Space, entity: int, components: Components, dt: float) -> None:
        character, place, half, _ = components
        self.space, self.entity, self.character, self.dt = space, entity, character, dt
        self.memory = character.memory
        self.dim = space.dim
        self.centre: Vector = place.xyz[: self.dim]
        self.half: Vector = half.xyz[: self.dim]
        upwards = character.up or space.up
        self.up = next(k for k in range(self.dim) if upwards[k])  # the axis
        self.sign = 1 if upwards[self.up] > 0.0 else -1  # the direction along it
        self.level = [k for k in range(self.dim) if k != self.up]
        self.own = [0.0] * self.dim  # its velocity relative to its ground, along the world's axes
        self.frame = list(self.memory.frame[: self.dim])  # the velocity of its carrier, or its last
        self.rides = False  # whether the space adds `frame` itself
        self.touches = False  # whether it has a contact with ground
        self.walls: list[Vector3] = []  # the normals of walls that it touches
        self.jumps = self.dashes = False
        scale = esper.try_component(entity, ec.GravityScale)
        self.gravity = character.gravity * (1.0 if scale is None else scale.value)

    # -- the ground --

    def find_ground(self, velocity: ec.Velocity) -> None:
        """Find its ground, and its own velocity: as planned, or as the last step changed it."""
        c, last, moved = self.character, self.memory, velocity.xyz
        grounds = self._grounds()
        carrying = self._carriers_among(grounds)
        self.rides = carrying is not None
        landed = bool(grounds) and not last.rode and not last.stepping and any(last.frame)
        for k in range(self.dim):
            left = last.frame[k] if last.rode and not self.rides else 0.0
            kept = _same(moved[k], last.written[k] + left) or _same(moved[k], last.written[k])
            if k != self.up and (last.stepping and grounds):
                kept = True  # only the frame has changed, not its walk
            if kept and not (landed and k != self.up):
                self.own[k] = last.own[k]
            else:
                self.own[k], self.frame[k] = moved[k], 0.0
        if carrying is not None:
            self.frame = list(carrying)
        elif grounds:
            self.frame = [0.0] * self.dim

        self.touches = bool(grounds) and not self._is_thrown(grounds[0])
        if self.walls:
            last.wall, last.since_wall = self.walls[0], 0.0
        self.was_on = c.on_ground
        if self.touches:
            c.ground = grounds[0]

    def _grounds(self) -> list[int]:
        """Return the bodies in contact below it, the oldest contact first; note the walls."""
        self.walls = []
        if self.entity not in self.space:  # made since the last step
            return []
        found = []
        for contact in self.space.contacts(self.entity):
            if contact.kind is not ec.ContactKind.SOLID:
                continue
            normal = contact.normal_for(self.entity)
            if normal[self.up] == self.sign:
                found.append((contact.since, contact.other(self.entity)))
            elif normal[self.up] == 0.0:
                self.walls.append(_three(list(normal)))
        return [other for _, other in sorted(found) if esper.entity_exists(other)]

    def _carriers_among(self, grounds: list[int]) -> Vector | None:
        """Return the velocity with which the space will carry it, or None."""
        carriers = [
            (-moved[self.up] * self.sign, ground, moved)
            for ground in grounds
            if (moved := self._velocity_on(ground)) is not None
        ]
        if carriers:
            return min(carriers)[2]
        if self.entity not in self.space:  # made since the last step
            return None
        # Even if the carrier is gone: the next step adds its velocity for the last time.
        carried = self.space.carried(self.entity)
        return carried if any(carried) else None

    def _velocity_on(self, ground: int) -> Vector | None:
        """Return the velocity of a `Carry`, or None if the body does not carry."""
        carry = esper.try_component(ground, ec.Carry)
        if carry is None or (carry.normal or self.space.up)[self.up] != self.sign:
            return None
        moved, carried = self._velocity_of(ground), self.space.carried(ground)
        surface = (carry.x, carry.y, carry.z)
        return tuple(moved[k] + carried[k] + surface[k] for k in range(self.dim))

    def _velocity_of(self, other: int) -> Vector3:
        velocity = esper.try_component(other, ec.Velocity)
        return (0.0, 0.0, 0.0) if velocity is None else velocity.xyz

    def _is_thrown(self, ground: int) -> bool:
        """Return whether it leaves its ground because a spring or a hit has set its velocity."""
        rises = self.own[self.up] * self.sign
        if self.rides or rises <= 0.0:
            return rises > 0.0
        pushed = float(self.space.velocities([ground])[0, self.up]) * self.sign
        return not (rises <= pushed or _same(rises, pushed))

    # -- its actions --

    def keep_time(self) -> None:
        """Count the time in the air, and the time since the button was pressed."""
        c = self.character
        c.air_time += self.memory.last_dt
        c.state_time += self.memory.last_dt
        self.memory.since_press += self.memory.last_dt
        self.memory.since_wall += self.memory.last_dt
        self.memory.since_dash += self.memory.last_dt
        if c.jump and not self.memory.held:
            self.memory.since_press = 0.0

    def decide(self) -> None:
        """Land, drop, jump, walk and fall, without regard to obstacles."""
        c, up = self.character, self.up
        if c.drop and self.touches and self.space.drop_through(self.entity):
            self.memory.since_press = math.inf
            # The contacts last until the step begins, which adds the velocity of the carriers.
            if all(esper.has_component(ground, ec.OneWay) for ground in self._grounds()):
                self.touches = False
                c.on_ground, self.memory.gone, self.was_on = False, True, False
        self.walk()
        climbs = c.climb_speed > 0.0 and self._climbs()
        dashes = c.dash_speed > 0.0 and self._dashes()
        keeps = not self.touches and self.was_on and self.own[up] * self.sign <= 0.0
        self.drop = self._find_drop() if keeps else None
        on_ground = self.touches or self.drop is not None
        if on_ground:
            c.air_time, self.memory.gone, c.jumping = 0.0, False, False
            self.memory.n_air_jumps, self.memory.since_wall = 0.0, math.inf
            self.own[up] = 0.0
        else:
            self.memory.stepping = False
            if self.own[up] * self.sign > 0.0 and not c.jumping:
                self.memory.gone = True  # it was thrown

        late = LENGTH_ROUNDING + SAME * self.dt
        due = self.memory.since_press <= c.jump_buffer + late
        if dashes:
            self._dash()
        elif due and climbs:
            self._jump()
            self.memory.climbing = False
        elif climbs:
            self._climb()
        elif due and (on_ground or (not self.memory.gone and c.air_time <= c.coyote_time + late)):
            self._jump()
        elif due and c.wall_jump_speed > 0.0 and self.memory.since_wall <= c.coyote_time + late:
            self._jump()
            self._leave_wall()
        elif due and not on_ground and self.memory.n_air_jumps < c.air_jumps:
            self.memory.n_air_jumps += 1.0
            self._jump()
        elif on_ground:
            self.memory.air_dt = 0.0
        else:
            self._fall()
        c.on_ground = on_ground and not self.jumps and not self.memory.climbing
        if not c.on_ground:
            c.ground = None
        state = self._find_state()
        if state is not c.state:
            c.state, c.state_time = state, 0.0

    def _find_state(self) -> CharacterState:
        """Return what it does in this step."""
        if self.dashes:
            return CharacterState.DASHING
        if self.memory.climbing:
            return CharacterState.CLIMBING
        if self.character.on_ground:
            walks = any(self.own[k] != 0.0 for k in self.level)
            return CharacterState.WALKING if walks else CharacterState.STANDING
        if self.own[self.up] * self.sign > 0.0:
            return CharacterState.RISING
        slides = self.character.wall_slide_speed < math.inf and self._presses_a_wall()
        return CharacterState.WALL_SLIDING if slides else CharacterState.FALLING

    def _climbs(self) -> bool:
        """Return whether it holds on to a ladder, from now on or still."""
        c, memory = self.character, self.memory
        if not memory.climbing and (c.climb == 0.0 or c.jumping):
            return False
        held, memory.climbing = memory.climbing, False
        found = self.space.contacts(self.entity, filter=Ladder) if self.entity in self.space else []
        if not found:
            if held:  # at its upper end, or beside it
                self.own[self.up] = 0.0
        elif c.climb > 0.0 and not held:  # not where only its feet are still on it
            side = 1 if self.sign > 0 else 0
            tops = [self.space.bounds(each.other(self.entity))[side][self.up] for each in found]
            middle = self.sign * self.centre[self.up]
            memory.climbing = any(self.sign * top > middle for top in tops)
        elif not self.touches or c.climb > 0.0:
            memory.climbing = True
        elif c.climb < 0.0:  # down through a platform, or to stand on the ground
            memory.climbing = bool(self.space.drop_through(self.entity))
        return memory.climbing

    def _climb(self) -> None:
        """Go up or down, or hold on."""
        c = self.character
        self._leave_frame()
        self.own[self.up] = self.sign * min(max(c.climb, -1.0), 1.0) * c.climb_speed
        c.air_time, c.jumping = 0.0, False
        self.memory.gone, self.memory.n_air_jumps, self.memory.air_dt = True, 0.0, 0.0

    def _dashes(self) -> bool:
        """Return whether a dash begins or goes on."""
        c, memory = self.character, self.memory
        late = LENGTH_ROUNDING + SAME * self.dt
        if c.dash and not memory.dash_held and memory.since_dash >= c.dash_time + c.dash_pause:
            way = [0.0, 0.0, 0.0]
            for part, k in zip(self.wish, self.level, strict=True):
                way[k] = part
            length = math.sqrt(sum(part * part for part in way))
            if length == 0.0:
                way[self.level[0]] = length = c.facing
                length = 1.0
            memory.dash_way = _three([part / length for part in way])
            memory.since_dash = 0.0
        self.dashes = c.dash_time - memory.since_dash > late
        if c.state is CharacterState.DASHING and not self.dashes:
            fast = math.sqrt(sum(self.own[k] * self.own[k] for k in self.level))
            for k in self.level:
                self.own[k] *= min(1.0, c.walk_speed / fast) if fast > 0.0 else 1.0
        return self.dashes

    def _dash(self) -> None:
        """Go on with a dash; in its last step only as far as it goes."""
        c, memory = self.character, self.memory
        share = min(1.0, (c.dash_time - memory.since_dash) / self.dt)
        for k in self.level:
            self.own[k] = memory.dash_way[k] * c.dash_speed * share
        self.own[self.up] = 0.0
        c.jumping = memory.climbing = False
        memory.air_dt = 0.0

    def _presses_a_wall(self) -> bool:
        """Return whether it wants to go towards a wall that it touches."""
        return any(
            part * normal[k] < 0.0
            for normal in self.walls
            for part, k in zip(self.wish, self.level, strict=True)
        )

    def _leave_wall(self) -> None:
        """Give it the speed away from the wall that it has touched."""
        wall = self.memory.wall
        for k in self.level:
            if wall[k] != 0.0:
                self.own[k] = wall[k] * self.character.wall_jump_speed
        if wall[self.level[0]] != 0.0:
            self.character.facing = wall[self.level[0]]
        self.memory.since_wall = math.inf

    def _jump(self) -> None:
        c = self.character
        self.own[self.up] = self.sign * (c.jump_speed - self.gravity * self.dt / 2.0)
        self._leave_frame()
        self.jumps = c.jumping = self.memory.gone = True
        self.memory.stepping = False
        self.memory.since_press = math.inf
        self.memory.air_dt = self.dt

    def _fall(self) -> None:
        """Apply gravity; the speed is taken in the middle of the step, so that paths are exact."""
        c = self.character
        self._leave_frame()
        # The speed at the start of the step.
        rises = self.own[self.up] * self.sign - self.gravity * self.memory.air_dt / 2.0
        c.jumping = c.jumping and rises > 0.0
        if c.jumping and not c.jump:
            c.jumping = False
            rises = min(rises, c.jump_cut * c.jump_speed)
        slides = c.wall_slide_speed < c.fall_speed and self._presses_a_wall()
        slowest = c.wall_slide_speed if slides else c.fall_speed
        rises = max(rises - self.gravity * self.dt / 2.0, -slowest)
        self.own[self.up] = self.sign * rises
        self.memory.air_dt = self.dt

    def _leave_frame(self) -> None:
        """Add the rising speed of the ground to its own: it falls by itself from now on."""
        if not self.rides:
            self.own[self.up] += self.frame[self.up]
            self.frame[self.up] = 0.0

    def walk(self) -> None:
        """Accelerate its speed along the ground towards the wish."""
        c, dt = self.character, self.dt
        wish = [c.walk, c.across][: len(self.level)]
        length = math.sqrt(sum(part * part for part in wish))
        if length > 1.0:
            wish = [part / length for part in wish]
        self.wish = wish
        if wish[0] != 0.0:
            c.facing = math.copysign(1.0, wish[0])
        rate = c.acceleration if length > 0.0 else c.deceleration
        if not self.touches and not self.was_on:
            rate = rate * c.air_control if c.air_control > 0.0 else 0.0
        gaps = [part * c.walk_speed - self.own[k] for part, k in zip(wish, self.level, strict=True)]
        far = math.sqrt(sum(gap * gap for gap in gaps))
        for gap, part, k in zip(gaps, wish, self.level, strict=True):
            if far <= rate * dt:
                self.own[k] = part * c.walk_speed
            else:
                self.own[k] += gap / far * (rate * dt)

    # -- obstacles --

    def find_velocity(self) -> list[float]:
        """Return the velocity for this step, relative to the frame."""
        c = self.character
        out = list(self.own)
        stepping, self.memory.stepping = self.memory.stepping, False
        if c.on_ground:
            if self._step_up(out, c.step_height):
                return out
            if self.drop is not None:
                c.ground, direction = self.drop
                self.memory.stepping = stepping and direction == 0.0
                out[self.up] = self._climb_of(c.ground)
                out[self.up] -= self.sign * direction / self.dt * (1.0 + LENGTH_ROUNDING)
            elif self.touches and c.ground is not None and not self.rides:
                out[self.up] -= self.sign * self._gap_to(c.ground) / self.dt * 2.0
        elif self.own[self.up] * self.sign <= 0.0:
            if self._step_up(out, c.corner):
                c.on_ground, self.memory.gone = True, False
                c.air_time = self.memory.air_dt = self.own[self.up] = 0.0
        else:
            self._slip_past_corner(out)
        return out

    def _find_drop(self) -> tuple[int, float] | None:
        """Return the ground that it walks on to without a contact, and its distance below.

        It is the highest one under its present place, its next place, and the step onto which it
        is rising.
        """
        here = self._look_down(self.centre)
        if not self.memory.stepping and (here is None or here[1] == 0.0):
            return None  # no ground, or ground that does not hold it
        found, move = [here], self._move(1.0)
        if any(move):
            hit = self._cast(self.centre, _times(move, STEPS_AHEAD))
            free = STEPS_AHEAD if hit is None else hit.time * STEPS_AHEAD
            ahead = (min(free, 1.0), free) if self.memory.stepping else (min(free, 1.0),)
            found += [self._look_down(_sum(self.centre, _times(move, part))) for part in ahead]
        return min((drop for drop in found if drop), key=itemgetter(1), default=None)

    def _look_down(self, centre: Vector) -> tuple[int, float] | None:
        """Return the ground below a place, and its distance, 0 if it is within rounding."""
        far = self.character.snap_distance * (1.0 + SAME)
        if far == 0.0:
            return None
        hit = self._cast(centre, self._upwards(-far))
        if hit is None or hit.depth > 0.0:
            return None
        down = abs(centre[self.up] - hit.centre[self.up])
        is_apart = down > LENGTH_ROUNDING * max(map(abs, (*centre, *self.half)))
        return hit.id, down if is_apart else 0.0

    def _step_up(self, out: list[float], limit: float) -> bool:
        """Rise by the missing height if steps are in the way; return whether there are any.

        All steps in reach count.  Each must be at most `limit` high, and at least a quarter as
        deep as it is high, or it counts to the next one: a wall of narrow ledges is no stair.
        """
        c, move = self.character, self._move(STEPS_AHEAD)
        if not any(move) or limit == 0.0:
            return False
        first = hit = self._cast(self.centre, move)
        if hit is None or first is None or hit.depth > 0.0:
            return False
        height = tread = 0.0  # above its feet, of this step and of the previous one
        rise = target = 0.0
        reach = math.sqrt(sum(part * part for part in move))
        away = first.time * reach
        for _ in range(TRIES):
            height = self._height_above_feet(hit.id)
            if not 0.0 < height - tread <= limit * (1.0 + SAME):
                break
            target = max(target, height + self._climb_of(hit.id) * self.sign * self.dt)
            needed = away + TREAD * (height - tread)
            look = max(reach, needed)
            above = _sum(self.centre, self._upwards(height))
            hit = self._cast(above, _times(move, look / reach))
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

    def _height_above_feet(self, other: int) -> float:
        """Return how far above its feet the top of a body is."""
        low, high = self.space.bounds(other)
        feet = self.centre[self.up] - self.sign * self.half[self.up]
        top = high[self.up] if self.sign > 0 else low[self.up]
        return (top - feet) * self.sign

    def _gap_to(self, ground: int) -> float:
        """Return the gap to the ground that rounding left, or 0 if no float is nearer."""
        gap = -self._height_above_feet(ground)
        if gap <= 0.0:
            return 0.0
        centre, half = self.centre[self.up], self.half[self.up]
        nearer = math.nextafter(centre, -self.sign * math.inf)
        feet = centre - self.sign * half
        return gap if (nearer - self.sign * half - feet) * self.sign + gap >= 0.0 else 0.0

    def _climb_of(self, other: int) -> float:
        """Return the velocity of a body along the axis of up, relative to the frame."""
        carried = self.space.carried(other)[self.up]
        return self._velocity_of(other)[self.up] + carried - self.frame[self.up]

    def _slip_past_corner(self, out: list[float]) -> None:
        """Move aside if the corner of a ceiling is in the way, and there is room beside it."""
        c = self.character
        if c.corner == 0.0:
            return
        rise = self._upwards(abs(self.own[self.up]) * self.dt)
        if self.rides:
            rise = _sum(rise, self._upwards(self.frame[self.up] * self.sign * self.dt))
        move = self._move(1.0)
        hit = self._cast(self.centre, _times(_sum(move, rise), STEPS_AHEAD))
        if hit is None or hit.depth > 0.0 or hit.normal[self.up] != -self.sign:
            return
        share = min(hit.time * STEPS_AHEAD, 1.0)
        escapes = [
            (aside, k, direction)
            for n, k in enumerate(self.level)
            for direction in (1, -1)
            if self.wish[n] * direction >= 0.0
            and (aside := self._clearance_past(hit, k, direction, _times(move, share), rise))
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
            low, high = self.space.bounds(other)
            edge = high[k] if direction > 0 else low[k]
            aside = (edge - (hit.centre[k] - direction * self.half[k])) * direction
            if not 0.0 < aside <= self.character.corner * (1.0 + SAME):
                return None
            beside = tuple(
                part + (direction * aside if m == k else 0.0) for m, part in enumerate(move)
            )
            above = self._cast(_sum(self.centre, beside), _times(rise, STEPS_AHEAD))
            if above is None:
                return aside
            other = above.id
        return None

    # -- queries --

    def _move(self, steps: float) -> Vector:
        """Return the wanted displacement along the ground in a number of steps."""
        far = steps * self.dt
        return tuple(0.0 if k == self.up else self.own[k] * far for k in range(self.dim))

    def _upwards(self, far: float) -> Vector:
        return tuple(self.sign * far if k == self.up else 0.0 for k in range(self.dim))

    def _cast(self, centre: Vector, motion: Vector) -> ec.BoxHit | None:
        """Return the first body that would stop it on a way from a place, as in the step."""
        if not any(motion):
            return None
        return self.space.cast_box(
            centre,
            self.half,
            motion,
            exclude=self.entity,
            filter=lambda other: self._is_stopped_by(other, centre, motion),
        )

    def _is_stopped_by(self, other: int, centre: Vector, motion: Vector) -> bool:
        if not esper.entity_exists(other) or esper.has_component(other, ec.Sensor):
            return False
        if self.entity in self.space and not self.space.may_meet(self.entity, other):
            return False
        one_way = esper.try_component(other, ec.OneWay)
        if one_way is None:
            return True
        low, high = self.space.bounds(other)
        normal = solid_side(one_way, self.space.up)
        for k in range(self.dim):
            side = normal[k]
            if side != 0.0:
                face = high[k] if side > 0.0 else low[k]
                gap = (centre[k] - side * self.half[k] - face) * side
                near = LENGTH_ROUNDING * max(abs(face), abs(centre[k]), self.half[k])
                return motion[k] * side < 0.0 and gap >= -near
        return True


def _same(one: float, other: float) -> bool:
    """Return whether two speeds are the same except for rounding."""
    return abs(one - other) <= SAME * max(1.0, abs(one), abs(other)) * 2.0**-10


def _sum(one: Vector, other: Vector) -> Vector:
    return tuple(a + b for a, b in zip(one, other, strict=True))


def _times(vector: Vector, factor: float) -> Vector:
    return tuple(part * factor for part in vector)


def _three(numbers: list[float]) -> Vector3:
    x, y, z = (*numbers, 0.0)[:3]
    return x, y, z
