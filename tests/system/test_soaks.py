"""Long runs in which every step is judged, and after which nothing is left.

How many steps each scene takes stands in `SCENES`: a short run in CI, the
whole of it with ``--long``.
"""

from __future__ import annotations

import gc
import random
import tracemalloc
from collections.abc import Callable

import esper
import numpy as np
import pytest

import ecs_collide as ec
from tests.oracles import WITHIN, Oracle
from tests.random_worlds import Draw, write
from tests.scenes import (
    SLOP,
    box,
    closed_arena,
    columns,
    gas,
    half,
    mover,
    pile,
    position,
    velocity,
)
from tests.volume import Volume, further

pytestmark = [
    pytest.mark.usefixtures("world"),
    pytest.mark.filterwarnings("ignore:entity:RuntimeWarning"),
]

DT = 1 / 60
GRAVITY = -10.0
OFTEN = 16  # steps from one look at all contacts and trees to the next


class Scene:
    """What happens in a soak: made in the current world, with a space that is there already.

    Attributes
    ----------
    dim : int
    settings : arguments of the space
    room : the corners that nothing may cross, or None
    slops : how many slops bodies may be inside one another
    """

    dim = 2
    settings: dict[str, object] = {}  # noqa: RUF012
    room: tuple[object, object] | None = None
    slops: float = 0

    def __init__(self, space: ec.Space, rng: random.Random) -> None:
        self.space = space
        self.rng = rng
        self.build()

    def build(self) -> None:
        """Create the entities."""

    def act(self, step: int) -> None:
        """Do what a game does before a step."""

    def check_world(self, step: int) -> None:
        """Assert what holds in this scene after a step, besides what always does."""

    def end(self, n_steps: int) -> None:
        """Assert that the scene was worth it."""


class Gas(Scene):
    """Equal elastic boxes: the speeds are only ever swapped."""

    n = 36

    def build(self):
        self.boxes, side = gas(self.n, spacing=4.0, speed=90.0, dim=self.dim)
        self.room = ([0.0] * self.dim, [side] * self.dim)
        self.speeds = self.sorted_speeds()
        self.n_impacts = 0

    def sorted_speeds(self):
        return np.sort(np.abs(columns(self.boxes, ec.Velocity, self.dim)), axis=0).tolist()

    def check_world(self, step):
        self.n_impacts += self.space.stats.impacts
        assert self.space.stats.held == 0
        if step % OFTEN == 0:
            assert self.sorted_speeds() == self.speeds

    def end(self, n_steps):
        assert self.n_impacts > n_steps


class GasIn3D(Gas):
    dim = 3
    n = 27


class Pile(Scene):
    """Crates that fall, come to rest, and are thrown up again."""

    slops = 1

    def build(self):
        self.crates = pile(24, seed=self.rng.randrange(99), width=12.0)
        self.room = ((-6.0, 0.0), (6.0, 200.0))

    def act(self, step):
        kicked = step % 240 == 239
        for crate in self.crates:
            speed = esper.component_for_entity(crate, ec.Velocity)
            speed.y += GRAVITY * DT + (self.rng.uniform(4.0, 15.0) if kicked else 0.0)
            speed.x += self.rng.uniform(-3.0, 3.0) if kicked else 0.0

    def check_world(self, step):
        if step % 240 == 238:  # before the next kick most lie still
            assert np.median(np.abs(columns(self.crates, ec.Velocity)[:, 1])) == 0


class Bullets(Scene):
    """Bodies of every response, up to 8,000 units a step, in a room of thin walls."""

    slops = 1

    def build(self):
        thin = 0.5e-3
        closed_arena((0.0, 0.0), (40.0, 30.0), thickness=thin)
        self.room = ((0.0, 0.0), (40.0, 30.0))
        for x in (10.0, 20.0, 30.0):
            box((x, 15.0), (thin, 5.0))
            box((x, 8.0), (3.0, thin))
        kinds = [ec.Deflect, ec.Deflect, lambda: ec.Deflect(0.9), ec.Slide, ec.Stop, ec.Push]
        self.bullets = [
            mover((4.0 + 2.5 * i, 25.0), (0.1, 0.1), (0.0, 0.0), kinds[i % len(kinds)]())
            for i in range(12)
        ]
        box((25.0, 20.0), (2.0, 2.0), ec.Sensor())
        self.n_limits = self.n_crossed = 0

    def act(self, step):
        bullet = self.rng.choice(self.bullets)
        speed = 10.0 ** self.rng.uniform(0.0, 5.7)
        way = (self.rng.uniform(-speed, speed), self.rng.uniform(-speed, speed))
        esper.component_for_entity(bullet, ec.Velocity).set(*way)

    def check_world(self, step):
        self.n_limits += self.space.stats.pair_limit_hits
        self.n_crossed += int((self.space.collision_array["outcome"] == ec.Outcome.CROSSED).sum())

    def end(self, n_steps):
        assert self.n_limits > 0
        assert self.n_crossed > 0


class TiledWalkers(Scene):
    """Forty floors of tiles of random widths; on each a walker runs, jumps and lands on seams."""

    n_floors = 40

    def build(self):
        self.walkers = []
        for i in range(self.n_floors):
            self.walkers.append(self.lay_floor(200.0 * i))
        self.n_turns = self.n_landings = 0

    def lay_floor(self, x):
        """Lay one floor from about `x`; return its walker, the top and both ends."""
        rng = self.rng
        top = rng.choice([0.0, 0.3, 100.1, rng.uniform(-50.0, 50.0)])
        widths = rng.choice([(0.1, 0.3), (1 / 3, 0.7, 1.0), None])
        begin = x = x + rng.choice([0.0, 0.1, rng.random()])
        seams = []
        while x < begin + 12.0:
            if begin + 1.5 < x < begin + 10.5:
                seams.append(x)
            wide = rng.uniform(0.05, 1.5) if widths is None else rng.choice(widths)
            thick = rng.choice([0.5, 0.35, 0.05, rng.uniform(0.1, 1.0)])
            box((x + wide / 2, top - thick), (wide / 2, thick))
            x += wide
        size = (rng.choice([0.1, 0.25, 0.3, rng.uniform(0.1, 0.4)]), 0.45)
        walker = mover((begin + 2.0, top + size[1] + 0.02), size, (0.0, 0.0), ec.Slide())
        return [walker, top + size[1], begin + 1.0, x - 1.0, rng.uniform(2.0, 9.0), seams]

    def act(self, step):
        self.before = []
        for row in self.walkers:
            walker, level, low, high, speed, seams = row
            (x, _), (_, rising) = position(walker), velocity(walker)
            if (x > high and speed > 0.0) or (x < low and speed < 0.0):
                speed = row[4] = -(1.0 if speed > 0.0 else -1.0) * self.rng.uniform(2.0, 9.0)
                self.n_turns += 1
            chance = self.rng.random()
            rising += GRAVITY * DT
            if chance < 0.01:
                rising = self.rng.uniform(1.0, 5.0)
            elif chance < 0.03:  # put where its leading corner will come down on a seam
                time, rising = self.rng.uniform(0.05, 0.95), -self.rng.uniform(10.0, 100.0)
                ahead = half(walker)[0] if speed > 0.0 else -half(walker)[0]
                x = self.rng.choice(seams) - ahead - speed * DT * time
                y = level - rising * DT * time
                esper.component_for_entity(walker, ec.Position).set(x, y)
            esper.component_for_entity(walker, ec.Velocity).set(speed, rising)
            self.before.append(x)

    def check_world(self, step):
        assert (self.space.collision_array["normal"][:, 0] == 0).all(), "somebody snagged"
        for row, x in zip(self.walkers, self.before, strict=True):
            walker, level, _, _, speed, _ = row
            now = position(walker)
            assert velocity(walker)[0] == speed, "somebody snagged"
            assert abs(now[0] - (x + speed * DT)) < 1e-9
            assert now[1] >= level - SLOP * (abs(level) + 2.0), "somebody sank"
            if velocity(walker)[1] == 0.0:  # stands: one ulp up or down is all there is
                assert abs(now[1] - level) <= SLOP * (abs(level) + 2.0)
                self.n_landings += 1

    def end(self, n_steps):
        assert self.n_turns > n_steps // 100
        assert self.n_landings > n_steps


class Growers(Scene):
    """Bodies that breathe, fixed and free, among others in a closed room."""

    slops = WITHIN

    def build(self):
        rng = self.rng
        closed_arena((0.0, 0.0), (30.0, 30.0))
        self.room = ((0.0, 0.0), (30.0, 30.0))
        self.growers = [
            box((10.0 + 10.0 * i, 15.0), (1.0, 0.5), ec.Growth(*self.rate())) for i in range(2)
        ]
        kinds = [ec.Slide, ec.Deflect, ec.Slide, ec.Stop, ec.Push]
        for i in range(20):
            place = (3.0 + 5.5 * (i % 5), 3.0 + 8.0 * (i // 5))
            speed = (rng.uniform(-9.0, 9.0), rng.uniform(-9.0, 9.0))
            body = mover(place, (0.6, 0.6), speed, kinds[i % 5](), ec.Mass(rng.choice([1, 1, 3])))
            if i % 3 == 0:
                esper.add_component(body, ec.Growth(*self.rate()))
                self.growers.append(body)

    def rate(self):
        return self.rng.uniform(0.2, 2.0), self.rng.uniform(0.2, 2.0)

    def act(self, step):
        for body in self.growers:
            size, growth = half(body), esper.component_for_entity(body, ec.Growth)
            rates = list(growth.xy)
            for axis in range(2):
                if size[axis] > 2.0:
                    rates[axis] = -self.rng.uniform(0.2, 2.0)
                elif size[axis] < 0.3:
                    rates[axis] = self.rng.uniform(0.2, 2.0)
            growth.set(*rates)
        if step % 60 == 0:  # what has come to rest is set going again, and nobody runs away
            for _, (speed, _) in esper.get_components(ec.Velocity, ec.Mass):
                if abs(speed.x) + abs(speed.y) < 1.0 or max(abs(speed.x), abs(speed.y)) > 50.0:
                    speed.set(self.rng.uniform(-9.0, 9.0), self.rng.uniform(-9.0, 9.0))


class Squeeze(Scene):
    """Two pistons in a channel that leave less room than what is between them needs."""

    slops = 2  # what has been crushed is put flush with a piston that leaves it

    def build(self):
        box((0.0, -5.0), (40.0, 5.0))
        box((0.0, 9.0), (40.0, 5.0))
        self.pistons = [mover((side * 14.0, 2.0), (4.0, 1.9), (0.0, 0.0)) for side in (-1, 1)]
        kinds = [ec.Slide, ec.Deflect, ec.Stop, ec.Push]
        self.crates = [
            mover((-7.0 + 2.0 * i, 2.0), (0.7, 0.9 - 0.1 * (i % 4)), (0.0, 0.0), kinds[i % 4]())
            for i in range(8)
        ]
        self.n_crushed = 0

    def act(self, step):
        phase = step % 480
        if phase == 0:  # apart again: a game's teleport
            for i, crate in enumerate(self.crates):
                esper.component_for_entity(crate, ec.Position).set(-7.0 + 2.0 * i, 2.0)
                speed = (self.rng.uniform(-6.0, 6.0), self.rng.uniform(-6.0, 6.0))
                esper.component_for_entity(crate, ec.Velocity).set(*speed)
            for side, piston in zip((-1, 1), self.pistons, strict=True):
                esper.component_for_entity(piston, ec.Position).set(side * 14.0, 2.0)
        inward = 2.2 if phase < 240 else -2.2
        for side, piston in zip((-1, 1), self.pistons, strict=True):
            esper.component_for_entity(piston, ec.Velocity).set(-side * inward, 0.0)

    def check_world(self, step):
        self.n_crushed += self.space.stats.crushed
        for side, piston in zip((-1, 1), self.pistons, strict=True):  # nothing stops them
            assert velocity(piston)[0] * side in (2.2, -2.2)

    def end(self, n_steps):
        assert self.n_crushed > n_steps // 480


class Churn(Scene):
    """A room in which bodies come, change and go all the time."""

    slops = 1

    most = 40

    def build(self):
        closed_arena((0.0, 0.0), (40.0, 30.0))
        self.room = ((0.0, 0.0), (40.0, 30.0))
        self.draw = Draw(self.rng, speed=60.0)
        self.bodies = self.draw.bodies
        self.n_born = self.n_dead = 0
        self.unsubscribe = self.space.on_collision(self.shoot, ec.Stop, None)

    def shoot(self, event):
        """Delete what a bullet hits, in the middle of the events."""
        for entity in (event.first, event.second):
            if entity in self.bodies and not esper.has_component(entity, ec.Stop):
                self.kill(entity)

    def kill(self, entity):
        self.bodies.remove(entity)
        self.n_dead += 1
        esper.delete_entity(entity, immediate=self.rng.random() < 0.5)

    def somewhere(self):
        return self.rng.uniform(2.0, 38.0), self.rng.uniform(2.0, 28.0)

    def act(self, step):
        rng = self.rng
        # Attached boxes go with their owner.
        self.bodies[:] = [entity for entity in self.bodies if esper.entity_exists(entity)]
        while len(self.bodies) < self.most and rng.random() < 0.7:
            size = (rng.uniform(0.1, 1.5), rng.uniform(0.1, 1.5))
            self.draw.body(ec.Position(*self.somewhere()), ec.Extents(*size))
            self.n_born += 1
        if self.bodies and rng.random() < 0.4:
            self.kill(rng.choice(self.bodies))
        if self.bodies:
            self.change(rng.choice(self.bodies))

    def change(self, entity):
        """Do one of the things that a game does to an entity."""
        what = self.rng.random()
        if what < 0.3:
            size = (self.rng.uniform(0.1, 1.5), self.rng.uniform(0.1, 1.5))
            if what < 0.15:
                write(entity, ec.Extents(*size))
            write(entity, ec.Position(*self.somewhere()))
        else:
            self.draw.change(entity)

    def end(self, n_steps):
        self.unsubscribe()
        assert self.n_born > n_steps // 4
        assert self.n_dead > n_steps // 4


# Steps in CI on the compiled kernels, there on plain Python, and with --long.
# How many steps: in a short run, a long one, and where everything is run; at least in pure Python.
SCENES: dict[str, tuple[type[Scene], int, int, int, int]] = {
    "gas": (Gas, 300, 1_500, 1_000_000, 100),
    "gas in 3D": (GasIn3D, 200, 1_000, 500_000, 60),
    "pile": (Pile, 300, 1_500, 500_000, 100),
    "bullets": (Bullets, 200, 1_000, 500_000, 60),
    "tiled walkers": (TiledWalkers, 150, 600, 500_000, 100),
    "growers": (Growers, 300, 1_500, 1_000_000, 100),
    "squeeze": (Squeeze, 480, 1_500, 1_000_000, 480),
    "churn": (Churn, 300, 1_500, 1_000_000, 100),
}


def check_limits(space: ec.Space) -> None:
    """Assert that no step had more answers than the limits allow."""
    stats = space.stats
    assert (
        stats.resolutions <= 8 * (space.pair_limit * stats.movers + 2 * stats.pairs) + stats.pairs
    )
    assert stats.sweeps <= 16 * (space.pair_limit * stats.movers + 2 * stats.pairs) + stats.pairs
    assert stats.crushed <= stats.pairs


def delete_everybody() -> None:
    for entity, _ in list(esper.get_component(ec.Position)):
        esper.delete_entity(entity)


def check_emptiness(space: ec.Space) -> None:
    """Assert that nothing is left of what has been deleted."""
    assert len(space) == 0
    assert space.contacts() == []
    for tree in space._state.trees:
        tree.check()
        assert (tree.n_items, tree.n_nodes) == (0, 0)


@pytest.fixture
def soak_steps(volume: Volume) -> Callable[[str], int]:
    """Return a function that chooses how many steps of a scene to run."""

    def choose(scene: str) -> int:
        _, short, long, everything, least = SCENES[scene]
        return volume(short, long, everything, least=least)

    return choose


@pytest.mark.parametrize("name", SCENES)
def test_every_step_of_a_long_run_is_right(name, soak_steps):
    kind = SCENES[name][0]
    space = ec.install(ec.Space(dim=kind.dim, **kind.settings))
    scene = kind(space, random.Random(5))
    rewrites = isinstance(scene, Churn)
    oracle = Oracle(space, scene.dim, scene.room, scene.slops, rewrites=rewrites)
    n_steps = soak_steps(name)

    for step in range(n_steps):
        scene.act(step)
        oracle.begin()
        esper.process(DT)
        also_contacts = step % OFTEN == 0
        oracle.end(also_contacts=also_contacts)
        scene.check_world(step)
        check_limits(space)
        if also_contacts:
            space.check()

    scene.end(n_steps)
    assert oracle.n_began > 0 or isinstance(scene, Gas)  # an elastic bounce is no contact
    delete_everybody()
    esper.process(DT)
    oracle.check_balance()
    assert oracle.open == set()
    assert oracle.n_began == oracle.n_ended
    check_emptiness(space)


@pytest.mark.slow_in_python
@pytest.mark.parametrize(
    "name",
    [
        "churn",
        *further("bullets", "gas", "tiled walkers", "gas in 3D", "pile", "growers", "squeeze"),
    ],
)
def test_nothing_stays_in_memory_of_what_is_gone(name, soak_steps, monkeypatch):
    # The same soak again and again in one space; between them all states are equal: nobody there,
    # no event unread, nothing uncollected.
    monkeypatch.setattr(TiledWalkers, "n_floors", 5)
    kind = SCENES[name][0]
    space = ec.install(ec.Space(dim=kind.dim, **kind.settings))
    n_steps = min(soak_steps(name), 10_000) // 20
    sizes = []
    while (entity := esper.create_entity()) < 300:  # ids below 257 take no memory in Python
        esper.delete_entity(entity, immediate=True)

    tracemalloc.start()
    try:
        for _ in range(10):
            scene = kind(space, random.Random(5))
            for step in range(n_steps):
                scene.act(step)
                esper.process(DT)
                len(list(space.collisions)) + len(list(space.contacts_began))
            assert len(space) > 0
            if isinstance(scene, Churn):
                scene.unsubscribe()
            del scene
            delete_everybody()
            for _ in range(2):  # the second has no event left
                esper.process(DT)
            check_emptiness(space)
            space.reports.clear()  # of bodies that were held: a space keeps the last 64
            gc.collect()
            sizes.append(tracemalloc.get_traced_memory()[0])
    finally:
        tracemalloc.stop()

    # Up to 64 changes of bodies, some 100 bytes each, are kept until they are merged.
    assert max(sizes[7:]) - max(sizes[:7]) < 8192, sizes
