"""Six situations in 3D for the `Character` of ecs_collide and the controller of Rapier.

Units are metres and seconds, and y grows upwards.
"""

from __future__ import annotations

from collections.abc import Callable
from math import inf
from typing import Any, NamedTuple

import esper

import ecs_collide as ec

Vector = tuple[float, float, float]
DT, GRAVITY, SPEED = 1 / 60, 20.0, 3.0
HALF: Vector = (0.3, 0.9, 0.3)  # of the player
STEP, SNAP = 0.45, 0.2  # it climbs, and stays on the ground, so far
SKIN = 0.01  # the gap that Rapier keeps around a player
SETTLED = 10  # frames that every controller may take to come to rest


class Block(NamedTuple):
    """A box by its centre and its half sizes."""

    centre: Vector
    half: Vector


class World(NamedTuple):
    """Walls, and a lift that moves at one velocity; the player stands on y = 0 and walks."""

    walls: tuple[Block, ...] = ()
    lift: Block | None = None
    velocity: Vector = (0.0, 0.0, 0.0)
    walk: tuple[float, float] = (0.0, 0.0)  # along x and along z, at most 1


class Ours:
    """`Character`, as the page on platformers has it, in metres."""

    def __init__(self, world: World) -> None:
        for wall in world.walls:
            esper.create_entity(ec.Position(*wall.centre), ec.Extents(*wall.half), ec.Fixed())
        if world.lift is not None:
            self.lift = ec.Position(*world.lift.centre)
            speed = ec.Velocity(*world.velocity)
            esper.create_entity(self.lift, ec.Extents(*world.lift.half), speed, ec.Carry())
        hero = ec.Character(
            walk_speed=SPEED, acceleration=inf, deceleration=inf, jump_height=1.3, fall_speed=inf,
            step_height=STEP, snap_distance=SNAP, corner=0.1,
        )  # fmt: skip
        hero.walk, hero.across = world.walk
        self.player = ec.Position(0, HALF[1], 0)
        body = ec.Extents(*HALF), ec.Velocity(0, 0, 0), ec.Slide(), hero
        esper.create_entity(self.player, *body)
        ec.install(dim=3, gravity=(0, -GRAVITY, 0))

    def step(self) -> tuple[Vector, Vector]:
        """Return the centres of the player and of the lift."""
        esper.process(DT)
        lift = self.lift.xyz if hasattr(self, "lift") else (0.0, 0.0, 0.0)
        return self.player.xyz, lift


class Rapier:
    """`KinematicCharacterController`, with gravity as its examples have it."""

    def __init__(self, world: World) -> None:
        import rapier3d

        self.rapier = rapier3d
        self.world = rapier3d.PhysicsWorld(gravity=(0, -GRAVITY, 0))
        self.velocity, self.walk, self.fall = world.velocity, world.walk, 0.0
        for wall in world.walls:
            self.add(rapier3d.RigidBody.fixed, wall)
        moved = rapier3d.RigidBody.kinematic_position_based
        self.lift = None if world.lift is None else self.add(moved, world.lift)
        self.player = self.add(moved, Block((0.0, HALF[1] + SKIN, 0.0), HALF))
        length = rapier3d.CharacterLength.absolute
        self.controller = rapier3d.KinematicCharacterController(
            offset=length(SKIN),
            autostep=rapier3d.CharacterAutostep(length(STEP), length(0.2)),
            snap_to_ground=length(SNAP),
        )
        self.shape = rapier3d.SharedShape.cuboid(*HALF)
        self.others = rapier3d.QueryFilter(exclude_rigid_body=self.player)
        self.world.update_query_pipeline()

    def add(self, build: Any, block: Block) -> Any:
        collider = self.rapier.Collider.cuboid(*block.half)
        return self.world.add_body(build(translation=block.centre), colliders=[collider])

    def step(self) -> tuple[Vector, Vector]:
        """Return the centres of the player and of the lift."""
        world = self.world
        bodies = world.rigid_bodies
        player = bodies[self.player]
        self.fall -= GRAVITY * DT
        wanted = self.walk[0] * SPEED * DT, self.fall * DT, self.walk[1] * SPEED * DT
        moved = self.controller.move_shape(
            DT, bodies, world.colliders, world.query_pipeline, self.shape, player.position, wanted,
            self.others,
        )  # fmt: skip
        if moved.grounded:
            self.fall = 0.0
        player.set_next_kinematic_translation(plus(player.translation, moved.translation))
        if self.lift is not None:
            way = [speed * DT for speed in self.velocity]
            lift = bodies[self.lift]
            lift.set_next_kinematic_translation(plus(lift.translation, way))
        world.step()
        lift = (0.0, 0.0, 0.0) if self.lift is None else plus(bodies[self.lift].translation)
        return plus(bodies[self.player].translation), lift


def plus(place: Any, way: Any = (0.0, 0.0, 0.0)) -> Vector:
    """Return the sum of two vectors of any kind."""
    (x, y, z), (dx, dy, dz) = place, way
    return x + dx, y + dy, z + dz


Frames = list[tuple[Vector, Vector]]
GROUND = Block((0, -0.5, 0), (20, 0.5, 20))
LIFT = Block((0, -0.1, 0), (2, 0.1, 2))


def gap(frames: Frames) -> float:
    """Return the largest distance of the feet from the top of the lift."""
    tops = [hero[1] - HALF[1] - lift[1] - LIFT.half[1] for hero, lift in frames[SETTLED:]]
    return max(map(abs, tops))


def slip(frames: Frames) -> float:
    """Return how far the player comes from its place on the lift."""
    ways = [hero[0] - lift[0] for hero, lift in frames]
    return max(abs(way - ways[0]) for way in ways)


def along(k: int) -> Callable[[Frames], float]:
    """Return the way on an axis in percent of a free walk of one second."""
    return lambda frames: 100 * frames[-1][0][k] / SPEED


TILES = tuple(Block((n - 2.0, -0.5, 0.0), (0.5, 0.5, 0.5)) for n in range(12))
SITUATIONS: list[tuple[str, str, World, Callable[[Frames], float]]] = [
    ("Lift up, 2/s", "gap", World(lift=LIFT, velocity=(0, 2, 0)), gap),
    ("Lift down, 4/s", "gap", World(lift=LIFT, velocity=(0, -4, 0)), gap),
    ("Lift sideways, 2/s", "slip", World(lift=LIFT, velocity=(2, 0, 0)), slip),
    ("Walk over the seams of tiles", "way, %", World(TILES, walk=(1, 0)), along(0)),
    (
        "Walk onto a step of 0.3",
        "way, %",
        World((GROUND, Block((4, 0.15, 0), (3, 0.15, 3))), walk=(1, 0)),
        along(0),
    ),
    (
        "Walk slantwise along the seams of a wall",
        "way, %",
        World(
            (GROUND, *(Block((0.81, 1, n), (0.5, 1, 0.5)) for n in range(-2, 9))),
            walk=(0.6, 0.8),
        ),
        lambda frames: along(2)(frames) / 0.8,
    ),
]


def measure(kind: type[Ours | Rapier]) -> list[float]:
    """Return the number of each situation, played for a second."""
    found = []
    for _, _, world, number in SITUATIONS:
        game = kind(world)
        found.append(number([game.step() for _ in range(60)]))
    return found
