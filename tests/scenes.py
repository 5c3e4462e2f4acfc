"""Scenes that several tests share, and small helpers to look at them.

A builder only creates entities in the current esper world; it installs nothing
and takes no step.  Whole runs, such as `mixed_log`, say so in their name.
"""

from __future__ import annotations

import hashlib
import itertools
import random
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import esper
import numpy as np
from numpy.lib.recfunctions import repack_fields

import ecs_collide as ec

SLOP = 2.0**-44  # times the largest |face| on the axis

# One entity: its components, fresh.
Body = list[Any]


def box(centre: Sequence[float], half: Sequence[float], *components: object) -> int:
    """Create a body and return its entity."""
    return esper.create_entity(ec.Position(*centre), ec.Extents(*half), *components)


def mover(
    centre: Sequence[float], half: Sequence[float], velocity: Sequence[float], *components: object
) -> int:
    """Create a body with a velocity and return its entity."""
    return box(centre, half, ec.Velocity(*velocity), *components)


def of(entity: int, kind: type) -> Any:
    """Return an entity's component of a type."""
    return esper.component_for_entity(entity, kind)


def position(entity: int, dim: int = 2) -> tuple[float, ...]:
    """Return where the entity's centre is."""
    found = esper.component_for_entity(entity, ec.Position)
    return (found.x, found.y, found.z)[:dim]


def velocity(entity: int, dim: int = 2) -> tuple[float, ...]:
    """Return the entity's velocity, in units per second."""
    found = esper.component_for_entity(entity, ec.Velocity)
    return (found.x, found.y, found.z)[:dim]


def half(entity: int, dim: int = 2) -> tuple[float, ...]:
    """Return half the entity's size on each axis."""
    found = esper.component_for_entity(entity, ec.Extents)
    return (found.x, found.y, found.z)[:dim]


def faces(entity: int, dim: int = 2) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Return the stored faces of the entity's box, min and max corner."""
    centre, size = position(entity, dim), half(entity, dim)
    low = tuple(c - h for c, h in zip(centre, size, strict=True))
    high = tuple(c + h for c, h in zip(centre, size, strict=True))
    return low, high


def steps(n: int, dt: float) -> None:
    """Take so many steps."""
    for _ in range(n):
        esper.process(dt)


def set_velocity(entity: int, *vector: float) -> None:
    """Do what a game does: write the velocity."""
    esper.component_for_entity(entity, ec.Velocity).set(*vector)


def gaps(first: int, second: int, dim: int = 2) -> list[float]:
    """Return the larger of the two gaps of each axis: all < 0 means inside."""
    min1, max1 = faces(first, dim)
    min2, max2 = faces(second, dim)
    return [max(min2[axis] - max1[axis], min1[axis] - max2[axis]) for axis in range(dim)]


def columns(entities: Iterable[int], component: type, dim: int = 2) -> np.ndarray:
    """Return one component of the entities as an (n, dim) array."""
    found = [esper.component_for_entity(entity, component) for entity in entities]
    if dim == 2:
        return np.array([(c.x, c.y) for c in found], dtype=float).reshape(-1, 2)
    return np.array([(c.x, c.y, c.z) for c in found], dtype=float).reshape(-1, 3)


def pairs_inside(mins: np.ndarray, maxs: np.ndarray, slop: float = 0.0) -> np.ndarray:
    """Find all pairs of boxes that are inside one another deeper than `slop`.

    An independent sort along x, so that it may judge the tree.

    Returns
    -------
    (k, 2) integers, the rows of the boxes.
    """
    order = np.argsort(mins[:, 0], kind="stable")
    low, high = mins[order], maxs[order]
    n = len(order)
    ends = np.searchsorted(low[:, 0], high[:, 0] - slop, side="left")
    counts = np.maximum(ends - np.arange(1, n + 1), 0)
    left = np.repeat(np.arange(n), counts)
    starts = np.repeat(np.cumsum(counts) - counts, counts)
    right = left + 1 + (np.arange(len(left)) - starts)
    gap = np.maximum(low[right] - high[left], low[left] - high[right]).max(axis=1)
    inside = gap < -slop
    return np.stack([order[left[inside]], order[right[inside]]], axis=1)


@contextmanager
def another_world(name: str) -> Iterator[None]:
    """Make another esper world current, and delete it afterwards."""
    before = esper.current_world
    esper.switch_world(name)
    try:
        yield
    finally:
        esper.switch_world(before)
        esper.delete_world(name)


def in_a_world(name: str, run: Callable[[], Any]) -> Any:
    """Return what a function returns in another esper world, which is deleted afterwards."""
    with another_world(name):
        return run()


_worlds = itertools.count()


def enter_new_world() -> None:
    """Make an esper world that no test has used current."""
    esper.switch_world(f"scene {next(_worlds)}")


class Falls:
    """Marks what `Gravity` pulls."""


class Gravity(esper.Processor):
    """A game system: add g·dt to the y velocity of everything that falls."""

    def __init__(self, acceleration: float = -10.0) -> None:
        self.acceleration = acceleration

    def process(self, dt: float = 1.0) -> None:
        for _, (speed, _) in esper.get_components(ec.Velocity, Falls):
            speed.y += self.acceleration * dt


# The fields of a collision that the golden logs have.
GOLDEN = [
    name
    for name in ec.collision_dtype(2).names
    if name not in ("contact_min", "contact_max", "impulse")
]


class Log:
    """Everything a run shows: each event, position and velocity, bit for bit.

    Without collisions it is the same for bodies that sleep, which do not repeat theirs.
    """

    def __init__(self, *, with_collisions: bool = True) -> None:
        self._with_collisions = with_collisions
        self._hash = hashlib.sha256()
        self.n_collisions = 0
        self.n_contacts = 0

    def record(self, space: ec.Space) -> None:
        """Add the step that has just been taken."""
        collisions = space.collision_array if self._with_collisions else space.collision_array[:0]
        self.n_collisions += len(collisions)
        self.n_contacts += len(space.contact_array)
        everybody = space.entities
        moving = [entity for entity in everybody if esper.has_component(entity, ec.Velocity)]
        for array in (
            repack_fields(collisions[GOLDEN]),
            space.contact_array,
            columns(everybody, ec.Position, 3),
            columns(everybody, ec.Extents, 3),
            columns(moving, ec.Velocity, 3),
        ):
            self._hash.update(len(array).to_bytes(4, "little") + array.tobytes())

    def digest(self) -> str:
        """Return the log as one short text."""
        return f"{self.n_collisions} {self.n_contacts} {self._hash.hexdigest()}"


def closed_arena(low: Sequence[float], high: Sequence[float], thickness: float = 10.0) -> list[int]:
    """Build the walls around a room whose inner faces are `low` and `high`."""
    walls = []
    dim = len(low)
    for axis in range(dim):
        for side in (-1, 1):
            centre = [(low[i] + high[i]) / 2 for i in range(dim)]
            size = [(high[i] - low[i]) / 2 + 2 * thickness for i in range(dim)]
            size[axis] = thickness
            centre[axis] = low[axis] - thickness if side < 0 else high[axis] + thickness
            walls.append(box(centre, size))
    return walls


def gas(
    n: int, spacing: float, speed: float, seed: int = 1, dim: int = 2
) -> tuple[list[int], float]:
    """Build a closed arena with `n` equal elastic boxes of half size 1.

    Returns
    -------
    The boxes, and the side of the arena, which begins at 0 on every axis.
    """
    rng = random.Random(seed)
    per_axis = 1
    while per_axis**dim < n:
        per_axis += 1
    side = per_axis * spacing
    closed_arena([0.0] * dim, [side] * dim)
    wander = (spacing - 2.0) / 2 * 0.9
    boxes = []
    for i in range(n):
        cell = [i // per_axis**axis % per_axis for axis in range(dim)]
        centre = [(c + 0.5) * spacing + rng.uniform(-wander, wander) for c in cell]
        motion = [rng.uniform(-speed, speed) for _ in range(dim)]
        boxes.append(mover(centre, [1.0] * dim, motion, ec.Deflect()))
    return boxes, side


def tile_row(
    width: float, face: float, first: int, n: int, half_sizes: Sequence[float], axis: int = 0
) -> list[int]:
    """Lay `n` separate tiles side by side.

    Parameters
    ----------
    width
        Of a tile, along the row; tile i begins at ``(first + i) * width``.
    face
        Where the side is on which bodies slide: the top of a floor, the left
        side of a wall.
    half_sizes
        Half the thickness of the tiles, taken in turn.
    axis
        0 for a floor along x, 1 for a wall along y.
    """
    tiles = []
    for i in range(n):
        along = (first + i + 0.5) * width
        thick = half_sizes[i % len(half_sizes)]
        if axis == 0:
            tiles.append(box((along, face - thick), (width / 2, thick)))
        else:
            tiles.append(box((face + thick, along), (thick, width / 2)))
    return tiles


def pile(n: int, seed: int = 1, width: float = 30.0) -> list[int]:
    """Build a bin and `n` crates of different size and mass above its floor."""
    rng = random.Random(seed)
    box((0.0, -5.0), (width, 5.0))
    for side in (-1, 1):
        box((side * (width / 2 + 5.0), 100.0), (5.0, 100.0))
    crates = []
    per_row = int(width // 2)
    for i in range(n):
        x = -width / 2 + 1.0 + 2.0 * (i % per_row) + rng.uniform(-0.1, 0.1)
        y = 1.0 + 2.0 * (i // per_row) + rng.uniform(-0.1, 0.1)
        size = (rng.uniform(0.3, 0.85), rng.uniform(0.3, 0.85))
        motion = (rng.uniform(-3.0, 3.0), rng.uniform(-3.0, 0.0))
        mass = ec.Mass(rng.choice([0.5, 1.0, 1.0, 3.0]))
        crates.append(mover((x, y), size, motion, ec.Slide(), mass, Falls()))
    return crates


def pi_boxes(ratio: float) -> tuple[int, int, int]:
    """Build a wall, a small box at rest before it, and one `ratio` times as heavy that comes.

    All three are as high, both boxes as wide; the way of the heavy one to the
    turn takes about 1.5 seconds.
    """
    wall = box((-1.0, 0.0), (1.0, 0.5))
    small = mover((1.5, 0.0), (0.5, 0.5), (0.0, 0.0), ec.Deflect())
    large = mover((3.0, 0.0), (0.5, 0.5), (-1.0, 0.0), ec.Deflect(), ec.Mass(ratio))
    return wall, small, large


def mixed_bodies(seed: int = 1, dim: int = 2) -> list[Body]:
    """Make the components of a room with some of everything, one list per entity.

    Floor and walls of tiles, crates that fall, balls, pushers, fast bullets,
    sensors at rest and in flight, a lift, a paddle, a body that breathes, and
    things that answer nothing.
    """
    rng = random.Random(seed)
    u = rng.uniform

    def vector(kind: type, x: float, y: float, z: float) -> Any:
        return kind(x, y, z) if dim == 3 else kind(x, y)

    def tile(x: float, y: float, half_x: float, half_y: float) -> Body:
        return [vector(ec.Position, x, y, 0.0), vector(ec.Extents, half_x, half_y, 5.0)]

    def still(x: float, y: float, half_x: float, half_y: float, *more: object) -> Body:
        centre = vector(ec.Position, x, y, u(-3.0, 3.0))
        return [centre, vector(ec.Extents, half_x, half_y, u(0.3, 0.8)), *more]

    def up_to(most_x: float, most_y: float) -> Any:
        return vector(ec.Velocity, u(-most_x, most_x), u(-most_y, most_y), u(-8.0, 8.0))

    bodies: list[Body] = []
    for i in range(24):
        bodies.append(tile(1.25 + 2.5 * i, -0.7, 1.25, 0.7))
        bodies.append(tile(1.25 + 2.5 * i, 40.3, 1.25, 0.3))
    for x in (-0.5, 60.5):
        for i in range(8):
            bodies.append(tile(x, 2.5 + 5.0 * i, 0.5, 2.5))
    if dim == 3:
        for z in (-6.0, 6.0):
            bodies.append([ec.Position(30.0, 20.0, z), ec.Extents(32.0, 22.0, 1.0)])

    for i in range(12):
        crate = still(4.0 + 4.1 * i, u(2.0, 8.0), u(0.4, 0.9), u(0.4, 0.9), ec.Slide(), Falls())
        bodies.append([*crate, up_to(6.0, 0.0), ec.Mass(rng.choice([0.5, 1.0, 2.0]))])
    for i in range(16):
        ball = still(3.0 + 3.4 * i, u(12.0, 22.0), 0.5, 0.5, ec.Deflect(rng.choice([1, 1, 0.7])))
        bodies.append([*ball, up_to(40.0, 40.0), ec.Mass(rng.choice([1.0, 1.0, 4.0]))])
    for i in range(5):
        bodies.append(still(5.0 + 10.0 * i, 25.0, 0.6, 0.4, up_to(30.0, 30.0), ec.Push()))
    for i in range(5):
        bodies.append(still(6.0 + 10.0 * i, 30.0, 0.1, 0.1, up_to(3e3, 3e3), ec.Stop()))
    for i in range(4):
        bodies.append(still(8.0 + 12.0 * i, 6.0, 1.5, 1.5, ec.Sensor()))
    for i in range(3):
        bodies.append(still(8.0 + 12.0 * i, 34.0, 0.7, 0.7, up_to(20.0, 9.0), ec.Sensor()))
    for i in range(3):
        bodies.append(still(20.0 + 8.0 * i, 36.0, 0.4, 0.4, up_to(50.0, 50.0)))
    bodies.append(still(30.0, 3.0, 3.0, 0.25, vector(ec.Velocity, 0.0, 4.0, 0.0)))
    bodies.append(still(45.0, 16.0, 0.5, 4.0, vector(ec.Velocity, 9.0, 0.0, 0.0)))
    bodies.append(still(15.0, 16.0, 1.0, 1.0, vector(ec.Growth, 1.5, 0.5, 0.0)))
    return bodies


def mixed_log(n_steps: int, **how: Any) -> str:
    """Run the mixed room in the current world and return its log; see `mixed_run`."""
    run = mixed_run(**how)
    log = next(run)
    for _ in range(n_steps):
        next(run)
    run.close()
    return log.digest()


def mixed_run(
    *,
    dim: int = 2,
    seed: int = 1,
    shuffle: int | None = None,
    churn: bool = False,
    make_space: Callable[[], ec.Space] | None = None,
) -> Iterator[Log]:
    """Furnish the mixed room in the current world, and take a step of it at each `next`.

    Yields the log, the same each time: first before any step.

    Parameters
    ----------
    shuffle
        Give the entities their components in an order drawn with this seed.
    churn
        Let a hundred other bodies live, move and die before the room is furnished.
    make_space
        Installs the systems; `ec.install` if None, without sleep.
    """
    bodies = mixed_bodies(seed, dim)
    entities = [esper.create_entity() for _ in bodies]
    # The log has all collisions, those that crates at rest repeat too.
    space = ec.install(dim=dim, sleep=False) if make_space is None else make_space()
    if churn:
        _churn(dim)
    order = [(i, j) for i, body in enumerate(bodies) for j in range(len(body))]
    if shuffle is not None:
        random.Random(shuffle).shuffle(order)
    for i, j in order:
        esper.add_component(entities[i], bodies[i][j])

    falling = sorted(entity for entity, _ in esper.get_component(Falls))
    fallers = [esper.component_for_entity(entity, ec.Velocity) for entity in falling]
    lift, paddle, breather = entities[-3:]
    log = Log()
    yield log
    for step in itertools.count():
        for speed in fallers:
            speed.y -= 10.0 / 60.0
        if step % 45 == 44:
            for entity in (lift, paddle):
                speed = esper.component_for_entity(entity, ec.Velocity)
                speed.set(-speed.x, -speed.y, -speed.z)
            growth = esper.component_for_entity(breather, ec.Growth)
            growth.set(-growth.x, -growth.y, -growth.z)
        if step % 20 == 10:
            for entity, y in ((entities[-10], 20.0), (entities[80], 26.0)):
                esper.component_for_entity(entity, ec.Position).xy = (30.0, y + step / 64.0)
        if step == 25:
            esper.delete_entity(entities[70])
        esper.process(1.0 / 60.0)
        log.record(space)
        if step % 50 == 14:
            space.check()
        yield log


def _churn(dim: int) -> None:
    rng = random.Random(99)
    guests = []
    for _ in range(100):
        centre = [rng.uniform(0.0, 60.0) for _ in range(dim)]
        motion = [rng.uniform(-20.0, 20.0) for _ in range(dim)]
        guests.append(mover(centre, [0.5] * dim, motion, rng.choice([ec.Slide, ec.Deflect])()))
    rng.shuffle(guests)
    while guests:
        esper.process(1.0 / 60.0)
        for guest in guests[:13]:
            esper.delete_entity(guest, immediate=rng.random() < 0.5)
        del guests[:13]
    esper.process(1.0 / 60.0)


class Ledger:
    """The contacts that must be, by the events alone: each begin has exactly one end."""

    def __init__(self, space: ec.Space) -> None:
        self.space = space
        self.open: set[tuple[int, int]] = set()
        self.ends: list[tuple[tuple[int, int], ec.EndReason]] = []

    def record(self) -> None:
        """Enter the events of the step that has just been taken, and compare with the contacts."""
        for row in self.space.contact_array:
            pair = (int(row["first"]), int(row["second"]))
            if row["event"] == 0:
                assert pair not in self.open, f"{pair} began twice"
                self.open.add(pair)
            else:
                assert pair in self.open, f"{pair} ended and had not begun"
                self.open.remove(pair)
                self.ends.append((pair, ec.END_REASONS[row["reason"]]))
        # Not `contacts`, which leaves out those that were deleted since the step.
        assert self.open == {*map(tuple, self.space.contact_points().pairs.tolist())}
