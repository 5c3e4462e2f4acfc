"""A character in one step: its box, its velocity, and its surroundings.

All velocities are relative to the ground of the character (its frame).  On a `Carry` the space
adds the velocity of the ground; in the air or above a step of a lift, the stride adds it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection
from typing import TypeAlias

import esper

import ecs_collide as ec
from ecs_collide._kernel.constants import AXES, LENGTH_ROUNDING, MOST_PULL, SAME
from ecs_collide.character.character import Character
from ecs_collide.character.memory import NOTHING, Vector3
from ecs_collide.components.immersed import Immersed
from ecs_collide.components.surfaces import solid_side
from ecs_collide.space import is_wrong_now, last_bounds, last_position, mean_velocity
from ecs_collide.sync.fields import as_number, sound_vector
from ecs_collide.zone.zone import Medium, Zone, medium_of

Components: TypeAlias = tuple[Character, ec.Position, ec.Extents, ec.Velocity]
Vector = tuple[float, ...]

COSINE_ROUNDING = 1e-9
NO_VELOCITY = (0.0, 0.0, 0.0)


class Figure:
    """A character in one step; the modules of moves ask and change it."""

    def __init__(
        self,
        space: ec.Space,
        entity: int,
        components: Components,
        dt: float,
        wrong: Collection[int] = (),
    ) -> None:
        self.wrong = wrong  # the entities that the step will skip
        character, self._place, self._extents, _ = components
        self.space, self.entity, self.character, self.dt = space, entity, character, dt
        self.memory, self.wants = character.memory, character
        self.late = LENGTH_ROUNDING + SAME * dt  # rounding of a sum of steps, in seconds
        self.dim = space.dim
        self.centre: Vector
        self.half: Vector
        self.read_box()
        upwards = character.up or space.up
        self.up = next(k for k in range(self.dim) if upwards[k])  # the axis
        self.sign = 1 if upwards[self.up] > 0.0 else -1  # the direction along it
        self.level = [k for k in range(self.dim) if k != self.up]
        self.own = [0.0] * self.dim  # its velocity relative to its ground, along the world's axes
        self.frame = list(self.memory.frame[: self.dim])  # the velocity of its carrier, or its last
        self.is_known = True  # whether the last step has left it where it is
        self.rides = False  # whether the space adds `frame` itself
        self.touches = False  # whether it has a contact with ground
        self.steep: list[tuple[Vector, int]] = []  # normal and entity of slopes it slides down
        self.held_up = False  # whether something has held it up in the last step
        self.is_wedged = False  # whether it stands between slopes that are too steep
        # Its velocity after the impact of this step, if the impact turns it.
        self.expected: Vector | None = None
        self.grounds: list[int] = []  # the bodies in contact below it, the oldest contact first
        self.floors: dict[int, Vector] = {}  # the normals of `grounds`
        self.below: dict[int, Vector] = {}  # the normals of ground below it
        self.walls: list[tuple[Vector3, int]] = []  # normal and entity of walls that it touches
        self.ladders: list[int] = []  # those that it holds on to
        self.wish: list[float] = []  # along `level`, of length 1 at most
        self.medium: Medium | None = None  # the effect of the zones in which it is
        self.jumps = self.dashes = self.hangs = self.hovers = self.is_hit = False
        self.gravity = character.gravity * _number_of(entity, ec.GravityScale, "value", 1.0)

    def read_box(self) -> None:
        """Read its box from its components."""
        place = sound_vector(self._place, self.dim)
        extents = sound_vector(self._extents, self.dim)
        assert place is not None  # the strides of others are not taken
        assert extents is not None
        self.centre, self.half = place[: self.dim], extents[: self.dim]

    # -- the ground --

    def find_ground(self, moved: Vector3) -> None:
        """Find its ground, and its own velocity: as planned, or as the last step changed it."""
        c, last = self.character, self.memory
        grounds = self.grounds = self._find_contacts()
        carrying = self._carriers_among(grounds)
        self.rides = carrying is not None
        follows = last.stepping or last.turned
        landed = bool(grounds) and not last.rode and not follows and any(last.frame)
        for k in range(self.dim):
            left = last.frame[k] if last.rode and not self.rides else 0.0
            kept = _same(moved[k], last.written[k] + left)  # else it was held up, or thrown
            if k != self.up and grounds and follows:
                kept = True  # only the frame has changed, not its walk
            if k != self.up and not c.on_ground and self.lands_on_slope():
                kept = True  # the slope has turned its fall, not its walk
            if (
                k == self.up
                and last.stepping
                and moved[k] * self.sign < last.written[k] * self.sign
            ):
                kept = True  # something has slowed its rise onto a step, which is no jump
            if k == self.up and not kept:
                self.held_up = (moved[k] - last.written[k]) * self.sign > 0.0
            if kept and not (landed and k != self.up):
                self.own[k] = last.own[k]
            elif k != self.up and not grounds and last.frame[k] != 0.0 == moved[k] - last.frame[k]:
                self.own[k] = 0.0  # stopped by a wall that moves as its last ground did
            else:
                self.own[k], self.frame[k] = moved[k], 0.0
        if carrying is not None:
            self.frame = list(carrying)
        elif grounds:
            self.frame = [0.0] * self.dim
        elif last.rode:
            self.frame = self._kept_of_lift()

        if last.knocked:
            self._take_knock()
        self.touches = bool(grounds) and not self._is_thrown(grounds[0])
        if self.walls and last.ledge < 0:
            last.wall, last.since_wall = self.walls[0][0], 0.0
        self.is_wedged = not self.touches and self._is_wedged()
        self.was_on = c.on_ground and (self.touches or not self.is_hit)
        if self.medium is not None and self.gravity < 0.0:  # it floats up
            self.touches = self.was_on = self.held_up = self.is_wedged = False
        if self.touches:
            c.ground = grounds[0]
        elif self.is_wedged:
            c.ground = self.steep[0][1]

    def is_floor(self, normal: Vector) -> bool:
        """Return whether a surface with this normal is not too steep to stand on."""
        steepest = math.cos(math.radians(self.character.floor_max_angle))
        return normal[self.up] * self.sign >= steepest - COSINE_ROUNDING

    def _is_wedged(self) -> bool:
        """Return whether it falls no further though it touches only slopes that are too steep."""
        if not self.held_up or not self.steep:
            return False
        fall = (self.own[self.up] + self.frame[self.up]) * self.sign
        rises = [self.rise_of(other, normal) for normal, other in self.steep]
        return fall >= min(rises) or _same(fall, min(rises))

    def is_slanted(self, normal: Vector) -> bool:
        """Return whether a normal is that of a slope."""
        return 0.0 < abs(normal[self.up]) < 1.0

    def lands_on_slope(self) -> bool:
        """Return whether its ground is a slope."""
        return any(self.is_slanted(normal) for normal in self.floors.values())

    def _find_contacts(self) -> list[int]:
        """Return the bodies in contact below it, the oldest contact first.

        Note the walls and the zones that it touches.
        """
        if not self.is_known:
            return []
        found, zones = [], []
        for contact in self.space.contacts(self.entity):
            other = contact.other(self.entity)
            if contact.kind is not ec.ContactKind.SOLID:
                if (
                    esper.entity_exists(other)
                    and esper.has_component(other, Zone)
                    and other not in self.wrong
                ):
                    zones.append(other)
                continue
            normal = contact.normal_for(self.entity)
            if self.is_floor(normal):
                found.append((contact.since, other))
                self.floors[other] = normal
            elif normal[self.up] * self.sign > 0.0 and esper.entity_exists(other):
                self.steep.append((normal, other))
            elif normal[self.up] == 0.0:
                self.walls.append((three(list(normal)), other))
        if zones:
            self._enter(zones)
        if len(self.steep) > 1:
            self.steep.sort(key=lambda slope: self._order(slope[1]))
        if len(self.walls) > 1:
            self.walls.sort(key=lambda wall: self._order(wall[1]))
        if len(found) > 1:
            found.sort(key=lambda ground: (ground[0], self._order(ground[1])))
        return [other for _, other in found if esper.entity_exists(other)]

    def _order(self, other: int) -> tuple[object, ...]:
        """Return the key of a body in the order of bodies in space, as `Bodies.precedes` has it."""
        if self.space.wrap is not None:
            return (other,)
        low, high = last_bounds(self.space, other)
        sizes = tuple(top - bottom for bottom, top in zip(low, high, strict=True))
        return last_position(self.space, other), sizes, other

    def _enter(self, zones: list[int]) -> None:
        """Find the effect of the zones in which it is."""
        known = [esper.component_for_entity(zone, Zone) for zone in zones]
        bounds = [last_bounds(self.space, zone) for zone in zones]
        box = last_bounds(self.space, self.entity)
        self.medium = medium_of(box, zip(known, bounds, strict=True), self.space.wrap)
        self.gravity *= self.medium.gravity

    def _kept_of_lift(self) -> list[float]:
        """Return the part of the velocity of its frame that it keeps after it has left it."""
        frame, keeps = list(self.frame), self.character.lift_speed
        if keeps == "none":
            return [0.0] * self.dim
        if keeps == "upward" and frame[self.up] * self.sign < 0.0:
            frame[self.up] = 0.0
        return frame

    def _take_knock(self) -> None:
        """Begin a knock-back, which ends what it holds on to."""
        c, memory = self.character, self.memory
        self.own = list(memory.knock[: self.dim])
        memory.knocked = memory.climbing = c.jumping = False
        self.is_hit = True
        memory.air_dt = memory.locked = 0.0
        memory.since_press = math.inf
        memory.since_dash = max(memory.since_dash, c.dash_time)
        self.let_go()

    def follow(self, other: int) -> None:
        """Take the velocity of what it holds on to as its frame; of an attached box, the owner."""
        attached = esper.try_component(other, ec.Attached)
        if attached is not None and attached.owner in self.space:
            self.follow(attached.owner)
            return
        moved, carried = velocity_of(other), self.space.carried(other)
        self.frame = [moved[k] + carried[k] for k in range(self.dim)]

    def _carriers_among(self, grounds: list[int]) -> Vector | None:
        """Return the velocity with which the space will carry it, or None."""
        carriers = [
            (-moved[self.up] * self.sign, ground, moved)
            for ground in grounds
            if (moved := self.velocity_on(ground)) is not None
        ]
        if len(carriers) > 1:
            carriers.sort(key=lambda carrier: (carrier[0], self._order(carrier[1])))
        if carriers:
            return carriers[0][2]
        if self.entity not in self.space:  # made since the last step
            return None
        # Even if the carrier is gone: the next step adds its velocity for the last time.
        carried = self.space.carried(self.entity)
        return carried if any(carried) else None

    def velocity_on(self, ground: int) -> Vector | None:
        """Return the velocity of a `Carry`, or None if the body does not carry."""
        normal = self.floors.get(ground) or self.below.get(ground)
        return velocity_on(self.space, ground, self.up, self.sign, normal)

    def rise_of(self, other: int, normal: Vector) -> float:
        """Return how fast a wall rises, on the face with a normal."""
        return face_velocity(self.space, other, normal)[self.up] * self.sign

    def speed_of(self, other: int, k: int, normal: Vector | None = None) -> float:
        """Return the velocity of a face, by default the top, on an axis, relative to the frame."""
        moved = face_velocity(self.space, other, normal or self.upwards(1.0))
        return moved[k] + self.space.carried(other)[k] - self.frame[k]

    def speed_in_step(self, other: int, k: int) -> float:
        """Return the velocity of a body on an axis, relative to the frame; if it floats, the mean.

        A body in a zone bobs in the step by all that pulls it, and has nothing below it.
        """
        speed, its = self.speed_of(other, k), esper.try_component(other, Immersed)
        if its is None:
            return speed
        pull = (
            self.space.gravity[k] * its.gravity * _number_of(other, ec.GravityScale, "value", 1.0)
        )
        pull += getattr(its, AXES[k]) + _number_of(other, ec.Acceleration, AXES[k], 0.0)
        damping = its.drag + _number_of(other, ec.Damping, "value", 0.0)
        velocity = sound_vector(esper.try_component(other, ec.Velocity), self.dim)
        own = 0.0 if velocity is None else velocity[k]
        return speed + (mean_velocity(self.space, self.dt, own, pull, damping) - own)

    def gives_way(self, other: int) -> bool:
        """Return whether a body is dynamic, as crates and other characters are."""
        return bool(self.space.body_kinds([other])[0] & ec.BodyKind.DYNAMIC)

    def _is_thrown(self, ground: int) -> bool:
        """Return whether it leaves its ground because a spring or a hit has set its velocity."""
        rises = self.own[self.up] * self.sign
        if rises <= 0.0 or _same(rises, 0.0):  # the tiles of one lift are rounded one by one
            return False
        normal = self.floors[ground]
        if self.is_slanted(normal):  # an impact has turned it along the slope
            moved = NO_VELOCITY if self.rides else velocity_of(ground)
            away = sum((self.own[k] - moved[k]) * normal[k] for k in range(self.dim))
            return away > SAME * max(1.0, *map(abs, self.own))
        if self.rides and not self.gives_way(ground):
            return True
        moved = tuple(self.space.velocities([ground])[0].tolist())  # in the last step
        pushed = face_velocity(self.space, ground, normal, moved)[self.up] * self.sign
        return not (rises <= pushed or _same(rises, pushed))

    def leave_frame(self) -> None:
        """Add the rising speed of the ground to its own: it falls by itself from now on."""
        if not self.rides:
            self.own[self.up] += self.frame[self.up]
            self.frame[self.up] = 0.0

    def let_go(self) -> None:
        """Hang on no ledge any longer."""
        if self.memory.ledge != NOTHING:
            self.memory.ledge, self.memory.pull = NOTHING, 0.0
            self.memory.since_ledge = 0.0

    # -- queries --

    def height_above_feet(self, other: int) -> float:
        """Return how far above its feet the top of a body is."""
        low, high = last_bounds(self.space, other)
        feet = self.centre[self.up] - self.sign * self.half[self.up]
        top = high[self.up] if self.sign > 0 else low[self.up]
        return (top - feet) * self.sign

    def way(self, steps: float) -> Vector:
        """Return the wanted displacement along the ground in a number of steps."""
        far = steps * self.dt
        return tuple(0.0 if k == self.up else self.own[k] * far for k in range(self.dim))

    def find_rounding(self) -> float:
        """Return how far rounding may have moved a face of its box."""
        return LENGTH_ROUNDING * max(map(abs, (*self.centre, *self.half)))

    def upwards(self, far: float) -> Vector:
        """Return a displacement along up."""
        return tuple(self.sign * far if k == self.up else 0.0 for k in range(self.dim))

    def is_free(self, centre: Vector, motion: Vector, half: Vector | None = None) -> bool:
        """Return whether nothing would stop it, or a box of another size, on a way from a place."""
        return self.cast(centre, motion, half) is None

    def cast(self, centre: Vector, motion: Vector, half: Vector | None = None) -> ec.BoxHit | None:
        """Return the first body that would stop it on a way from a place, as in the step."""
        if not any(motion):
            return None
        size = half or self.half
        allowed = self._stops(centre, size, motion)
        return self.space.cast_box(centre, size, motion, exclude=self.entity, filter=allowed)

    def cast_in_order(self, centre: Vector, motion: Vector) -> ec.BoxHit | None:
        """Do the same, and of several bodies hit at once return the first in space; it is slower.

        Of those, `cast` returns the one with the lowest id.
        """
        allowed = self._stops(centre, self.half, motion)
        hits = self.space.box_hits(centre, self.half, motion, exclude=self.entity, filter=allowed)
        if len(hits) < 2:
            return hits[0] if hits else None
        return min(hits, key=lambda hit: (hit.time, self._order(hit.id)))

    def _stops(self, centre: Vector, half: Vector, motion: Vector) -> Callable[[int], bool]:
        """Return whether a body stops it on such a way, as a filter of queries."""
        return lambda other: self._is_stopped_by(other, centre, half, motion)

    def _is_stopped_by(self, other: int, centre: Vector, half: Vector, motion: Vector) -> bool:
        try:
            if not esper.entity_exists(other) or esper.has_component(other, ec.Sensor):
                return False
            if self.entity in self.space and not self.space.may_meet(self.entity, other):
                return False
            one_way = esper.try_component(other, ec.OneWay)
            if one_way is None:
                return True
            if esper.has_component(other, ec.Slope):
                hit = self.space.cast_box(centre, half, motion, filter=lambda body: body == other)
                out = solid_side(one_way, self.space.up)
                return (
                    hit is not None
                    and hit.depth == 0.0
                    and sum(part * side for part, side in zip(out, hit.normal, strict=True)) > 0.0
                )
            low, high = last_bounds(self.space, other)
            normal = solid_side(one_way, self.space.up)
            for k in range(self.dim):
                side = normal[k]
                if side != 0.0:
                    face = high[k] if side > 0.0 else low[k]
                    gap = (centre[k] - side * half[k] - face) * side
                    near = LENGTH_ROUNDING * max(abs(face), abs(centre[k]), half[k])
                    return motion[k] * side < 0.0 and gap >= -near
            return True
        except (TypeError, ValueError, AttributeError, ArithmeticError):
            if is_wrong_now(self.space, self.entity) or is_wrong_now(self.space, other):
                return False  # the step says so
            raise


def velocity_on(
    space: ec.Space, ground: int, up: int, sign: int, normal: Vector | None = None
) -> Vector | None:
    """Return the velocity of a `Carry` towards up, or None if the body does not carry.

    `normal` is that of its face, by default along up.
    """
    out = normal or tuple(float(sign) if k == up else 0.0 for k in range(space.dim))
    if _belt_of(space, ground, out) is None:
        return None
    moved = face_velocity(space, ground, out)
    if space.body_kinds([ground])[0] & ec.BodyKind.DYNAMIC:
        # It carries along its face only, and feels the weight of who stands on it.
        moved = tuple(0.0 if k == up else part for k, part in enumerate(moved))
    return added(moved, space.carried(ground))


def face_velocity(
    space: ec.Space, other: int, normal: Vector, moved: Vector | None = None
) -> Vector:
    """Return the velocity of the face of a body: of the body, its growth, and its belt.

    `moved` is the velocity of the body, by default that of its component.
    """
    belt = _belt_of(space, other, normal) or NO_VELOCITY
    moved = added((moved or velocity_of(other))[: space.dim], belt[: space.dim])
    growth = esper.try_component(other, ec.Growth) if esper.entity_exists(other) else None
    grows = None if growth is None else sound_vector(growth, space.dim)
    if grows is None:
        return moved
    return tuple(moved[k] + grows[k] * normal[k] for k in range(space.dim))


def _belt_of(space: ec.Space, other: int, normal: Vector) -> Vector | None:
    """Return the velocity of a face along itself, or None if it does not carry.

    On a slope it is along the line, and as fast as the surface velocity.
    """
    carry = esper.try_component(other, ec.Carry) if esper.entity_exists(other) else None
    if carry is None:
        return None
    out = carry.normal or space.up
    side = next(k for k in range(space.dim) if out[k])
    belt = sound_vector(carry, space.dim)
    if belt is None or normal[side] * out[side] <= 0.0:
        return None
    turned = [0.0 if k == side else part for k, part in enumerate(belt[: space.dim])]
    for k in range(space.dim):
        if k != side and normal[k] != 0.0:
            turned[side] = -turned[k] * normal[k] * out[side]
            turned[k] *= abs(normal[side])
    return tuple(turned)


def velocity_of(other: int) -> Vector3:
    """Return the velocity of a body; zeros without one, or if it is none that a step takes."""
    if not esper.entity_exists(other):
        return NO_VELOCITY
    velocity = esper.try_component(other, ec.Velocity)
    return NO_VELOCITY if velocity is None else sound_vector(velocity, 3) or NO_VELOCITY


def _number_of(entity: int, kind: type, name: str, without: float) -> float:
    """Return a number of a component, `without` one or if the step skips the body for it."""
    number = as_number(getattr(esper.try_component(entity, kind), name, without))
    return number if number is not None and abs(number) <= MOST_PULL else without


def _same(one: float, other: float) -> bool:
    """Return whether two speeds are the same except for rounding."""
    return abs(one - other) <= SAME * max(1.0, abs(one), abs(other)) * 2.0**-10


def added(one: Vector, other: Vector) -> Vector:
    """Return the sum of two vectors."""
    return tuple(a + b for a, b in zip(one, other, strict=True))


def times(vector: Vector, factor: float) -> Vector:
    """Return a multiple of a vector."""
    return tuple(part * factor for part in vector)


def three(numbers: list[float]) -> Vector3:
    """Return two or three numbers as three."""
    x, y, z = (*numbers, 0.0)[:3]
    return x, y, z
