"""Two features in one scene: mirrored, in another order of creation, restored, at three rates.

A hero stands on a floor.  Each feature adds to this one scene: to the floor, to the hero, another
body, a setting.  So a pair of features needs no scene of its own, and all are held to the same
assertions.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import esper
import pytest

import ecs_collide as ec
from ecs_collide.testing import assert_never_inside
from tests.scenes import enter_new_world

pytestmark = pytest.mark.usefixtures("world", "implementation")

SECONDS = 0.5
FASTEST = 300.0  # of all that features start, except for the ball of `hold`, which is squeezed


@dataclass
class Body:
    """A body on the right side of the world; its mirror image is on the left."""

    x: float
    y: float
    half: tuple[float, float]
    velocity: tuple[float, float] | None = None
    growth: tuple[float, float] | None = None
    belt: float | None = None
    rises: bool = False
    pulled: float = 0.0
    more: list[Callable[[], object]] = field(default_factory=list)

    def make(self, way: int) -> int:
        """Create it, or its mirror image with the way -1."""
        parts = [make() for make in self.more]
        if self.velocity is not None:
            parts.append(ec.Velocity(way * self.velocity[0], self.velocity[1]))
        if self.growth is not None:
            parts.append(ec.Growth(self.growth))
        if self.belt is not None:
            parts.append(ec.Carry(surface=(way * self.belt, 0)))
        if self.rises:
            parts.append(ec.Slope("right" if way > 0 else "left"))
        if self.pulled:
            parts.append(ec.Acceleration(way * self.pulled, 0))
        return esper.create_entity(ec.Position(way * self.x, self.y), ec.Extents(self.half), *parts)


class Scene:
    """The bodies and the settings of a scene, to which features add."""

    def __init__(self) -> None:
        self.floor = Body(0, -32, (256, 32))
        self.hero = Body(4, 8, (8, 8), (0, 0), more=[ec.Slide])
        self.bodies = [self.floor, self.hero]
        self.settings: dict[str, Any] = {}
        self.fastest = FASTEST
        self.corner = 12.0  # the right end of what stands on the floor

    def add(self, *body: Any, **more: Any) -> None:
        self.bodies.append(Body(*body, **more))


def belt(s: Scene) -> None:
    s.floor.belt = 60.0


def lift(s: Scene) -> None:
    s.floor.belt = s.floor.belt or 0.0
    s.floor.velocity = (20, 12)


def dynamic_carrier(s: Scene) -> None:
    """A trolley between the hero and the floor, which will hit a bump."""
    s.hero.y += 12
    s.corner = 24
    s.add(4, 6, (20, 6), (90, 0), belt=0.0, more=[ec.Slide])
    s.add(46, 4, (4, 4))


def growing_floor(s: Scene) -> None:
    s.floor.growth = (0, 6)


def slope(s: Scene) -> None:
    """The floor rises to the right, through the corner of what stands on it."""
    s.floor.rises = True
    s.floor.y = -s.corner * s.floor.half[1] / s.floor.half[0]


def wall(s: Scene) -> None:
    s.add(40, 40, (8, 200))


def push_out(s: Scene) -> None:
    """The hero overlaps a block on its left."""
    s.hero.more.append(lambda: ec.PushOut(300.0))
    s.add(-10, s.hero.y + 9, (8, 8))


def soft_crowd(s: Scene) -> None:
    s.hero.more.append(lambda: ec.Separate(200.0))
    s.add(-1, s.hero.y + 2, (8, 8), (0, 0), more=[ec.Slide, lambda: ec.Separate(200.0)])


def hold(s: Scene) -> None:
    """A ball between the hero, which is heavy, and a post has all its impacts of a step at once."""
    s.settings["pair_limit"] = 1
    s.fastest = 9000.0
    s.hero.more.append(lambda: ec.Mass(4096.0))
    s.add(19, s.hero.y, (2, 2), (2000, 0), more=[lambda: ec.Deflect(1.0)])
    s.add(30, s.hero.y, (4, 3))


def gravity(s: Scene) -> None:
    s.settings["gravity"] = (0, -900)


def acceleration(s: Scene) -> None:
    s.hero.pulled = 150.0


def locked_axis(s: Scene) -> None:
    s.hero.more.append(lambda: ec.LockedAxes(x=True))


FEATURES = [
    lift, belt, dynamic_carrier, growing_floor, slope, wall, push_out, soft_crowd, hold, gravity,
    acceleration, locked_axis,
]  # fmt: skip
# The way out of others and the way to a limit depend on the length of a step.
DEPENDS_ON_RATE = {push_out, soft_crowd, hold}


def scene_of(*features: Callable[[Scene], None]) -> Scene:
    """Return a scene with some features, which add to it in the order of `FEATURES`."""
    scene = Scene()
    for feature in FEATURES:
        if feature in features:
            feature(scene)
    return scene


class Run:
    """A scene that is played in a world of its own."""

    def __init__(self, scene: Scene, rate: int = 60, way: int = 1, order: int = 1) -> None:
        enter_new_world()
        self.world, self.rate, self.way = esper.current_world, rate, way
        made = {n: scene.bodies[n].make(way) for n in range(len(scene.bodies))[::order]}
        self.made = [made[n] for n in range(len(made))]
        self.space = ec.install(**scene.settings)
        self.n_held, self.fastest = 0, scene.fastest
        esper.process(0.0)  # what overlaps from the start is known from now on

    def go_on(self, n_steps: int) -> None:
        """Take steps; assert that nothing gets into anything, and that nothing is thrown."""
        esper.switch_world(self.world)
        with assert_never_inside(space=self.space):
            for _ in range(n_steps):
                esper.process(1 / self.rate)
                self.n_held += self.space.stats.held
        self.space.check()
        for entity in self.made:
            velocity = esper.try_component(entity, ec.Velocity)
            assert velocity is None or max(map(abs, velocity.xy)) < self.fastest

    def state(self) -> list[tuple[float, ...]]:
        """Return positions and velocities, those of the mirror image mirrored back."""
        esper.switch_world(self.world)
        found = []
        for entity in self.made:
            x, y = self.space.position_of(entity)
            velocity = esper.try_component(entity, ec.Velocity) or ec.Velocity(0, 0)
            carried = self.space.carried(entity)
            parts = (x, velocity.x, carried[0], y, velocity.y, carried[1])
            found.append(tuple(self.way ** (n < 3) * part + 0.0 for n, part in enumerate(parts)))
        return found


@contextmanager
def worlds() -> Iterator[None]:
    """Delete the worlds that a test makes."""
    before, current = set(esper.list_worlds()), esper.current_world
    try:
        yield
    finally:
        esper.switch_world(current)
        for name in set(esper.list_worlds()) - before:
            esper.delete_world(name)


PAIRS = [*((one,) for one in FEATURES), *itertools.combinations(FEATURES, 2)]


@pytest.mark.slow_in_python
@pytest.mark.parametrize(
    "features", PAIRS, ids=lambda features: " and ".join(each.__name__ for each in features)
)
def test_a_pair_of_features_is_as_good_as_each(features):
    n = round(SECONDS * 60)
    with worlds():
        plain = Run(scene_of(*features))
        image = Run(scene_of(*features), way=-1)
        other = Run(scene_of(*features), order=-1)
        for run in (image, other, plain):
            run.go_on(n // 2)
        data = plain.space.snapshot()
        restored = Run(scene_of(*features))
        restored.space.restore(data)
        for run in (plain, image, other, restored):
            run.go_on(n - n // 2)

        assert (plain.n_held > 0) == (hold in features)
        assert restored.state() == plain.state(), "restored"
        assert other.state() == plain.state(), "in another order"
        assert image.state() == plain.state(), "mirrored"
        if DEPENDS_ON_RATE.isdisjoint(features):
            for rate in (30, 144):
                run = Run(scene_of(*features), rate)
                run.go_on(round(SECONDS * rate))
                hero, wanted = run.state()[1], plain.state()[1]
                assert hero[::3] == pytest.approx(wanted[::3], abs=1e-6), (
                    f"at {rate} steps a second"
                )
