"""Sleep changes what a step costs and nothing else: all scenes run twice, with and without."""

from __future__ import annotations

import itertools
import random

import esper
import numpy as np
import pytest

import ecs_collide as ec
from tests.exact.worlds import RandomWorld
from tests.random_worlds import Draw, write
from tests.scenes import (
    another_world,
    box,
    mover,
    of,
    pile,
    set_velocity,
    steps,
    tile_row,
)
from tests.volume import further

_names = itertools.count()
DT = 1 / 60
SAME = (
    "step", "bodies", "movers", "static", "skipped", "impacts", "resolutions", "merges", "crushed",
    "forced", "pair_limit_hits", "sweep_limit_hits", "waiting", "held",
)  # fmt: skip


def shown(space):
    """Return all that a step shows, bit for bit."""
    return {
        "collisions": space.collision_array.tobytes(),
        "contact events": space.contact_array.tobytes(),
        "contacts": space.contacts(),
        "entities": space.entities,
        "positions": space.positions().tobytes(),
        "velocities": space.velocities().tobytes(),
        "boxes": np.array([space.bounds(entity) for entity in space.entities]).tobytes(),
        "stats": [getattr(space.stats, name) for name in SAME],
        "reports": [str(report) for report in space.reports],
    }


def twice(build, n_steps, *, but=(), **settings):
    """Play a scene with sleep and without, step by step; return how many slept in each step.

    `build` makes the scene in the current world, and returns a function that
    plays the game before each step; it is given the space and the number of the step.
    All that a step shows is compared, but for what `but` names.
    """
    runs = []
    for sleep in (True, False):
        name = f"sleep {next(_names)}"
        esper.switch_world(name)
        space = ec.install(ec.Space(sleep=sleep, **settings))
        runs.append((name, space, build(space)))
    asleep = []
    try:
        for step in range(n_steps):
            for name, _, play in runs:
                esper.switch_world(name)
                dt = play(step) if play is not None else None
                esper.process(DT if dt is None else dt)
            esper.switch_world(runs[0][0])
            runs[0][1].check()
            one, other = (shown(space) for _, space, _ in runs)
            for what in one.keys() - but:
                assert one[what] == other[what], f"{what} differ in step {step}"
            assert runs[1][1].stats.asleep == 0
            asleep.append(runs[0][1].stats.asleep)
    finally:
        esper.switch_world("default")
        for name, _, _ in runs:
            esper.delete_world(name)
    return asleep


REPEATED = ("collisions", "stats")  # of what is pressed to a floor: it does not repeat them
RESPONSES = (ec.Slide, ec.Slide, ec.Slide, ec.Deflect, ec.Push, ec.Stop)


class Own:
    """A component of the game's that resolves impacts."""


class Yard:
    """A yard full of things at rest, in which a game does all that a game may do."""

    def __init__(self, space, seed, dim, wild):
        self.space = space
        self.rng = random.Random(seed)
        self.dim = dim
        self.wild = wild
        self.draw = Draw(self.rng, dim, speed=2.0)
        self.movers = []
        self.stills = []
        self.may_change = True
        space.respond_with(Own, self.respond)
        for k in range(8):
            self.stills.append(box(self.at(4 * k - 14.0, -1.0), self.size(2.0, 1.0)))
        for _ in range(3):
            place, half = ec.Position(*self.somewhere()), ec.Extents(*self.some_size())
            self.stills.append(self.draw.body(place, half, moves=False))
        for _ in range(2):
            self.stills.append(box(self.somewhere(), self.some_size(), ec.Sensor()))
        for _ in range(24):
            self.spawn()

    def at(self, x, y):
        return (x, y, 0.0)[: self.dim]

    def size(self, x, y):
        return (x, y, 1.0)[: self.dim]

    def some_size(self):
        choice = self.rng.choice
        return self.size(choice([0.5, 1.0, 1.0, 1.5, 0.0]), choice([0.5, 1.0, 1.0, 0.0]))

    def somewhere(self):
        """Return a place on a grid, so that much touches; some off it by an ulp or a little."""
        rng = self.rng
        place = [rng.randrange(-24, 25) / 2, rng.randrange(0, 9) / 2, 0.0][: self.dim]
        k = rng.randrange(2)
        off = rng.random()
        if off < 0.2:
            place[k] = float(np.nextafter(place[k], rng.choice([-99.0, 99.0])))
        elif off < 0.3:
            place[k] += rng.uniform(-0.3, 0.3)
        return place

    def spawn(self):
        own = [Own()] if self.rng.random() < 0.2 else []
        zero = [self.rng.choice([0.0, 0.0, -0.0])] * self.dim
        if self.rng.random() < 0.15:
            own.append(ec.Growth(*zero))
        place, half = ec.Position(*self.somewhere()), ec.Extents(*self.some_size())
        self.movers.append(self.draw.body(place, half, ec.Velocity(*zero), *own, moves=False))

    def respond(self, impact):
        """Resolve in all ways that there are, by what has met."""
        rng = self.rng
        entity = rng.choice([impact.first, impact.second])
        what = rng.random() * (1.0 if self.may_change else 0.3)
        speed = esper.try_component(entity, ec.Velocity)
        if what < 0.3 or speed is None:
            return ec.DEFAULT
        if what < 0.5:
            speed.set(*[rng.choice([-4.0, 0.0, 3.0]) for _ in range(self.dim)])
        elif what < 0.6:
            vector = [rng.choice([-4.0, 0.0, 3.0]) for _ in range(self.dim)]
            esper.add_component(entity, ec.Velocity(*vector))
        elif what < 0.7:
            of(entity, ec.Position).set(*self.somewhere())
            return ec.DEFAULT
        elif what < 0.75 and len(self.movers) > 12 and entity in self.movers:
            self.movers.remove(entity)
            esper.delete_entity(entity, immediate=rng.random() < 0.5)
        return None

    def play(self, step):
        """Do what the game does before a step."""
        rng = self.rng
        # Attached boxes go with their owner.
        self.movers = [entity for entity in self.movers if esper.entity_exists(entity)]
        self.stills = [entity for entity in self.stills if esper.entity_exists(entity)]
        for entity in self.movers:
            speed = esper.try_component(entity, ec.Velocity)
            if speed is not None and (speed.x or speed.y or speed.z) and rng.random() < 0.3:
                speed.set(*[0.0] * self.dim)
        if step % 16 < 10:
            return None
        if rng.random() < 0.6:
            self.kick()
        if rng.random() < self.wild:
            self.do_something()
        return rng.choice([DT, DT, 0.0, 1 / 30])

    def kick(self):
        entity = self.rng.choice(self.movers)
        if esper.has_component(entity, ec.Velocity):
            vector = [self.rng.choice([-12.0, -5.0, 0.0, 5.0, 20.0]) for _ in range(2)]
            set_velocity(entity, *vector)

    def do_something(self):
        rng = self.rng
        what = rng.randrange(16)
        entity = rng.choice(self.movers)
        still = rng.choice(self.stills)
        either = rng.choice([entity, still])
        if what in (0, 1):
            write((entity, still)[what], ec.Position(*self.somewhere()))
        elif what == 2:
            write(either, ec.Extents(*self.some_size()))
        elif what in (3, 4, 5, 6, 7):
            self.draw.change(either)
        elif what == 8 and len(self.movers) > 12:
            self.movers.remove(entity)
            esper.delete_entity(entity, immediate=True)
        elif what == 9 and len(self.movers) < 30:
            self.spawn()
        elif what == 10:
            place = of(either, ec.Position)
            place.x = float("nan") if place.x == place.x else rng.randrange(-12, 13)
        elif what == 11 and len(self.stills) > 6:
            self.stills.remove(still)
            esper.delete_entity(still, immediate=True)
        elif what == 12:
            self.stills.append(box(self.somewhere(), self.some_size()))
        elif what in (13, 14):
            self.draw.change(entity)
        elif what == 15:
            place = of(entity, ec.Position)
            if place.x == place.x:
                esper.add_component(entity, ec.Position(place.x, place.y, place.z))


@pytest.mark.filterwarnings("ignore:.*:RuntimeWarning")
@pytest.mark.parametrize(
    ("dim", "wild", "motion"),
    [
        *((2, 0.0, "velocity"), (2, 0.5, "velocity"), (3, 0.0, "velocity"), (3, 0.5, "velocity")),
        (2, 0.5, "swept"),
    ],
)
@pytest.mark.parametrize("seed", [0, *further(1, 2)])
def test_a_yard_in_which_everything_happens(seed, dim, wild, motion, implementation, volume):
    asleep = twice(
        lambda space: Yard(space, seed, dim, wild).play,
        volume(80, 160, 400, least=40),
        dim=dim,
        motion=motion,
    )

    assert max(asleep) > 3


class ByHand(ec.ResponseSystem):
    """Resolves impacts by a function when it is called, outside of esper.process()."""

    def __init__(self, space, function):
        super().__init__(space)
        self.function = function

    def respond(self, impact):
        return self.function(impact)


class Pushed(Yard):
    """The same, but the game resolves impacts by hand, and breaks off steps."""

    def play(self, step):
        dt = super().play(step) or DT
        rng = self.rng
        if rng.random() < 0.3:
            return dt
        space = self.space

        def respond(impact):
            what = rng.random()
            if what < 0.5:
                impact.resolve()
            elif what < 0.7:
                self.respond(impact)
            elif what < 0.75:
                raise KeyboardInterrupt

        try:
            space.update_bounds(dt)
            space.queue_impacts()
            ByHand(space, respond).process(dt)
        except KeyboardInterrupt:
            return dt
        if rng.random() < 0.8:
            space.finish_step()
        return dt


@pytest.mark.slow_in_python
@pytest.mark.filterwarnings("ignore:.*:RuntimeWarning")
@pytest.mark.parametrize("motion", ["velocity", "swept"])
@pytest.mark.parametrize("seed", [0, *further(1, 2)])
def test_a_game_that_resolves_by_hand_and_breaks_off(seed, motion, implementation, volume):
    asleep = twice(
        lambda space: Pushed(space, 100 + seed, 2, 0.3).play,
        volume(80, 150, 300, least=40),
        motion=motion,
    )

    assert max(asleep) > 3


@pytest.mark.parametrize("number", [0, 15, 30, 45, *further(5, 10, 20, 25, 35, 40)])
def test_worlds_of_the_exact_simulator_with_rests(number, implementation, volume):
    def build(_space):
        world = RandomWorld(number)

        def play(step):
            if step % 40 == 0:
                world.shake(1.0)
            elif step % 40 == 10:
                for entity in world.movers:
                    set_velocity(entity, *[0.0] * world.dim)
            elif step % 40 > 30:
                for entity in world.movers[:1]:
                    set_velocity(entity, *[world.rng.choice([-16.0, 0.0, 16.0])] * world.dim)
            return world.dts[step % len(world.dts)]

        return play

    asleep = twice(build, volume(80, 160, least=40), dim=RandomWorld(number).dim)

    assert max(asleep) > 2


@pytest.mark.parametrize("kind", [ec.Slide, ec.Deflect, ec.Push, ec.Stop])
def test_a_wall_of_crates_is_run_into(kind, implementation, volume):
    def build(_space):
        tile_row(2.0, 0.0, -10, 20, [1.0])
        for x in range(5):
            for y in range(4):
                mover((2.0 * x, 1.0 + 2.0 * y), (1.0, 1.0), (0.0, 0.0), kind())
        ball = mover((-8.0, 3.5), (0.5, 0.5), (0.0, 0.0), ec.Deflect(), ec.Mass(5.0))

        def play(step):
            if step % 30 == 20:
                set_velocity(ball, 60.0, -7.0)
            elif step % 30 == 28:
                for _, speed in esper.get_component(ec.Velocity):
                    speed.set(0.0, 0.0)

        return play

    asleep = twice(build, volume(40, 80, least=40))

    assert asleep[18] == 21
    assert 0 < min(asleep[18:]) < 21


@pytest.mark.slow_in_python
def test_a_pile_that_falls_is_awake_and_one_that_stands_is_not(implementation, volume):
    def build(_space):
        crates = pile(40, width=16.0)
        speeds = [of(crate, ec.Velocity) for crate in crates]

        def play(step):
            for speed in speeds:  # gravity for half of the time, then the game holds its breath
                speed.y = speed.y - 10 / 60 if step % 60 < 30 else 0.0
                speed.x *= step % 60 < 30

        return play

    asleep = twice(build, volume(120, 240, least=60), but=REPEATED)

    assert asleep[9] == 0
    assert max(asleep) == 40


@pytest.fixture
def resting(world):
    """Return a space, a crate that sleeps on a floor, and a ball above it."""
    space = ec.install()
    floor = box((0.0, -1.0), (9.0, 1.0))
    crate = mover((0.0, 1.0), (1.0, 1.0), (0.0, 0.0), ec.Slide(), ec.Mass(1.0))
    ball = mover((0.0, 6.0), (1.0, 1.0), (0.0, 0.0), ec.Deflect())
    steps(16, DT)
    assert space.stats.asleep == 2
    return space, floor, crate, ball


def test_at_rest_nothing_is_looked_at(resting):
    space, *_ = resting

    esper.process(DT)

    assert (space.stats.movers, space.stats.pairs, space.stats.sweeps) == (2, 0, 0)
    assert space.stats.escapes == 0
    assert len(space.contacts()) == 1


@pytest.mark.parametrize(
    "change",
    [
        lambda crate: set_velocity(crate, 6.0, 0.0),
        lambda crate: place(crate).set(3.0, 1.0),
        lambda crate: of(crate, ec.Extents).set(1.0, 0.5),
        lambda crate: setattr(of(crate, ec.Mass), "value", 2.0),
        lambda crate: esper.add_component(crate, ec.Sensor()),
        lambda crate: esper.add_component(crate, ec.Growth(0.5, 0.0)),
        lambda crate: esper.remove_component(crate, ec.Slide),
        lambda crate: esper.add_component(crate, ec.Velocity(6.0, 0.0)),
    ],
)
def test_whoever_the_game_changes_wakes_at_once(change, resting):
    space, _, crate, _ = resting

    change(crate)
    esper.process(DT)

    assert space.stats.asleep == 1
    place = of(crate, ec.Position)
    assert place.x == pytest.approx(space.velocities([crate])[0, 0] * DT) or place.x == 3.0


def test_setting_what_is_there_wakes_nobody(resting):
    space, _, crate, _ = resting

    for _ in range(20):
        set_velocity(crate, -0.0, 0.0)
        esper.process(DT)

        assert space.stats.asleep == 2


def test_whoever_is_hit_resolves_in_that_step(resting):
    space, _, crate, ball = resting
    set_velocity(crate, 0.0, 0.0)

    set_velocity(ball, 0.0, -300.0)
    esper.process(DT)

    [hit] = [hit for hit in space.collisions if hit.first == crate]
    assert hit.resolved
    assert hit.second == ball
    assert space.stats.asleep == 0
    assert of(crate, ec.Position).y == 1.0


def test_bodies_that_press_on_each_other_from_two_sides_sleep_once_nothing_presses(
    world, implementation
):
    """What presses in each step would wake them in the next one: to sleep is work for nothing."""
    space = ec.install()
    row = [mover((2.0 * k, 0.0), (1.0, 1.0), (0.0, 0.0), ec.Slide()) for k in range(8)]
    for _ in range(40):
        for k, entity in enumerate(row):
            set_velocity(entity, 3.0 if k < 4 else -3.0, 0.0)
        esper.process(DT)
        assert space.stats.asleep == 0

    steps(24, DT)

    assert space.stats.asleep == 8


def test_sleep_can_be_turned_off_and_on(resting):
    space, *_ = resting

    space.sleep = False
    esper.process(DT)
    assert space.stats.asleep == 0
    assert space.stats.pairs == 1
    space.sleep = True
    steps(16, DT)
    assert space.stats.asleep == 2
    for wrong in (1, None, "yes"):
        with pytest.raises(ValueError, match=r"Space\(sleep=.*\) must be True or False"):
            space.sleep = wrong
    with pytest.raises(ValueError, match="must be True or False"):
        ec.Space(sleep=0)


class Trigger:
    """Does something to what it meets."""

    def __init__(self, act):
        self.act = act


def pull(impact):
    """Let the trigger of an impact do what it does to the other body."""
    for entity in (impact.first, impact.second):
        trigger = esper.try_component(entity, Trigger)
        if trigger is not None:
            trigger.act(impact.other(entity))
    return ec.DEFAULT


def touched_by_response(act):
    """Return a change that lets a bullet meet floors, and `act` on each in a response."""

    def change(_floor, x, _space):
        mover((x + 1.5, -3.0), (0.1, 0.1), (0.0, 100.0), Trigger(act))

    return change


CHANGES = {
    "nothing": lambda floor, x, space: None,
    "deleted": lambda floor, x, space: esper.delete_entity(floor, immediate=True),
    "disabled": lambda floor, x, space: esper.add_component(floor, ec.Disabled()),
    "no box": lambda floor, x, space: esper.remove_component(floor, ec.Extents),
    "moved away": lambda floor, x, space: place(floor).set(x, -50.0),
    "moved down": lambda floor, x, space: place(floor).set(x, -1.0 - 1e-13),
    "moved up": lambda floor, x, space: place(floor).set(x, -1.0 + 1e-13),
    "out": lambda floor, x, space: setattr(place(floor), "x", float("nan")),
    "a sensor": lambda floor, x, space: esper.add_component(floor, ec.Sensor()),
    "made to yield": lambda floor, x, space: esper.add_component(floor, ec.Slide()),
    "sinking": lambda floor, x, space: esper.add_component(floor, ec.Velocity(0.0, -0.5)),
    "sliding": lambda floor, x, space: esper.add_component(floor, ec.Velocity(0.5, 0.0)),
    "shrinking": lambda floor, x, space: esper.add_component(floor, ec.Growth(0.0, -0.5)),
    "stopped by a response": touched_by_response(lambda floor: set_velocity(floor, 0.0, 0.0)),
    "sent down by a response": touched_by_response(lambda floor: set_velocity(floor, 0.0, -0.5)),
    "put down by a response": touched_by_response(lambda floor: place(floor).set(0.0, -9.0)),
    "deleted by a response": touched_by_response(esper.delete_entity),
}


def place(entity):
    return of(entity, ec.Position)


@pytest.mark.filterwarnings("ignore:.*:RuntimeWarning")
@pytest.mark.parametrize("motion", ["velocity", "swept"])
@pytest.mark.parametrize("lift", [False, True])
@pytest.mark.parametrize("change", CHANGES)
def test_what_lies_on_a_floor_knows_what_becomes_of_it(
    change, lift, motion, implementation, volume
):
    if "by a response" in change and (motion == "swept" or not lift):
        pytest.skip("nothing comes that way")
    n = volume(4, 10, least=3)

    def build(space):
        rng = random.Random(5)
        columns = []
        space.respond_with(Trigger, pull)
        for k in range(n):
            x, high = 9.0 * k - 40.0, rng.uniform(0.3, 1.7)
            more = [ec.Velocity(0.0, 0.0)] if lift else []

            def floor(x=x, more=more):
                return box((x, -1.0), (2.0, 1.0), *more)

            late = floor() if k % 2 else None
            mover((x, high), (1.0, high), (0.0, 0.0), ec.Slide())
            ball = mover((x, 7.7), (0.9, rng.uniform(0.1, 0.9)), (0.0, 0.0), ec.Slide())
            esper.add_component(ball, ec.Mass(9.0))
            columns.append((late or floor(), x, ball, rng.uniform(-999.0, -400.0)))

        def play(step):
            for lies, x, ball, speed in columns if step in (20, 22) else ():
                if step == 20:
                    CHANGES[change](lies, x, space)
                elif motion == "velocity":
                    set_velocity(ball, 0.0, speed)
                else:
                    place(ball).y += speed / 60

        return play

    asleep = twice(build, 26, motion=motion)

    assert asleep[19] == (3 * n if lift else 2 * n)


def test_a_platform_that_the_game_drives_takes_its_hold_with_it(implementation):
    def build(_space):
        rng = random.Random(6)
        columns = []
        for k in range(10):
            x, high = 9.0 * k - 40.0, rng.uniform(0.3, 1.7)
            platform = box((x, -1.0), (2.0, 1.0))
            mover((x, high), (1.0, high), (0.0, 0.0), ec.Slide())
            ball = mover((x, 7.7), (0.9, rng.uniform(0.1, 0.9)), (0.0, 0.0), ec.Slide())
            esper.add_component(ball, ec.Mass(9.0))
            columns.append((platform, ball, rng.uniform(-9.0, -7.0)))

        def play(step):
            for platform, ball, way in columns:
                if step >= 20:
                    place(platform).y -= 0.01
                if step == 20:
                    place(ball).y += way

        return play

    asleep = twice(build, 26, motion="swept")

    assert asleep[19] == 20


@pytest.mark.filterwarnings("ignore:.*skipped in all collisions:RuntimeWarning")
@pytest.mark.parametrize("sleep", [False, True])
def test_what_was_driven_and_is_nowhere_now_is_skipped(sleep, implementation, world):
    space = ec.install(ec.Space(motion="swept", sleep=sleep))
    platforms = [box((9.0 * k, 0.0), (2.0, 1.0)) for k in range(20)]
    esper.process(DT)
    place(platforms[0]).x = 1.0
    esper.process(DT)

    place(platforms[0]).x = float("nan")
    for _ in range(3):
        esper.process(DT)
        space.check()

    assert space.reports[-1].entity == platforms[0]


def test_a_wall_that_is_a_sensor_no_more_is_lain_against(implementation):
    def build(_space):
        wall = box((5.0, 0.0), (1.0, 1.0), ec.Sensor())
        mover((3.0, 0.0), (1.0, 1.0), (0.0, 0.0), ec.Slide())

        def play(step):
            if step == 20:
                esper.remove_component(wall, ec.Sensor)

        return play

    asleep = twice(build, 24)

    assert asleep[19] == 1


def test_steps_of_no_length_let_nobody_sleep_who_moves(implementation):
    def build(_space):
        mover((3.0, 0.0), (1.0, 1.0), (6.0, 0.0), ec.Slide())
        return lambda step: DT if step > 30 else 0.0

    asleep = twice(build, 40)

    assert max(asleep) == 0


@pytest.mark.parametrize("what", ["velocity", "mass"])
def test_a_body_of_which_something_is_set_in_each_step_stays_awake(what, resting):
    space, _, crate, _ = resting

    for step in range(40):
        if what == "velocity":
            set_velocity(crate, 0.01 * (-1) ** step, 0.0)
        else:
            of(crate, ec.Mass).value = 2.0 + step
        esper.process(DT)

        assert space.stats.asleep == 1


@pytest.mark.parametrize("n", [1, 2, 5])
@pytest.mark.parametrize("sunk", [1, 3, 200])
def test_who_is_snapped_out_of_a_stack_goes_by_the_whole_stack(sunk, n, implementation):
    def build(_space):
        late = mover((50.0, 50.0), (1.0, 1.0), (0.0, 0.0), ec.Slide(), ec.Mass(9.0))
        box((0.0, -1.0), (9.0, 1.0))
        for k in range(n):
            mover((0.0, 1.0 + 2.0 * k), (1.0, 1.0), (0.0, 0.0), ec.Slide())

        def play(step):
            if step == 20:
                y = 1.0 + 2.0 * n
                of(late, ec.Position).set(0.5, y - sunk * np.spacing(y))

        return play

    asleep = twice(build, 30)

    assert asleep[19] == n + 1
    assert asleep[20] == n  # of the stack nobody


@pytest.mark.slow_in_python
def test_who_is_touched_in_the_last_instant_is_snapped_and_wakes(implementation):
    def build(_space):
        rng = random.Random(8)
        comers = []
        for k in range(100):
            y, high, way = rng.uniform(3.0, 4.0), rng.uniform(0.3, 1.7), rng.uniform(3.0, 9.0)
            mover((5.0 * k, y), (1.0, 0.9), (0.0, 0.0), ec.Slide())
            comer = mover((5.0 * k, y + 0.9 + way + high), (1.0, high), (0.0, 0.0), ec.Slide())
            esper.add_component(comer, ec.Mass(9.0))
            comers.append((comer, -way * 64.0))

        def play(step):
            for comer, speed in comers if step == 20 else ():
                set_velocity(comer, 0.0, speed)
            return 1 / 64

        return play

    asleep = twice(build, 23)

    assert asleep[19] == 200
    assert 0 < asleep[20] < 100


@pytest.mark.parametrize("placed", [False, True])
def test_planes_at_rest_are_parted_and_what_lies_beside_them_stays(placed, implementation):
    def build(_space):
        box((0.0, -1.0), (9.0, 1.0))
        plate = mover((0.0, 2.0), (3.0, 0.0), (0.0, 0.0), ec.Slide())
        mover((0.0, 1.0), (1.0, 1.0), (0.0, 0.0), ec.Slide())
        for x in (-2.0, 2.0):
            mover((x, 3.0), (1.0, 1.0), (0.0, 0.0), ec.Slide())
        other = mover((0.5, 6.0), (0.5, 0.0), (0.0, 0.0), ec.Slide(), ec.Mass(7.0))

        def play(step):
            if step == 20 and placed:
                of(other, ec.Position).set(0.5, 2.0)
            if step >= 20:
                set_velocity(other, 0.0, -4.0 if placed else -240.0)
            if step == 30:
                set_velocity(plate, 1.0, -1.0)

        return play

    asleep = twice(build, 40)

    assert asleep[18] == 5


@pytest.mark.slow_in_python
def test_a_crowd_of_sleeping_and_awake_bodies_is_one_crowd():
    found = []
    for sleep in (True, False):
        with another_world(f"sleep {next(_names)}"):
            space = ec.install(ec.Space(sleep=sleep))
            for _ in range(200):
                mover((0.0, 0.0), (1.0, 1.0), (0.0, 0.0), ec.Slide())
            steps(17, DT)
            assert space.stats.asleep == 200 * sleep
            for _ in range(70):
                mover((0.25, 0.25), (1.0, 1.0), (0.0, 0.0), ec.Slide())
            with pytest.warns(RuntimeWarning, match="no room for so many"):
                esper.process(DT)
            assert space.stats.asleep == 0
            found.append((space.contact_array.tobytes(), space.reports, space.stats.skipped))

    assert found[0] == found[1]


def test_a_crowd_does_not_sleep(world):
    for _ in range(300):
        mover((0.0, 0.0), (1.0, 1.0), (0.0, 0.0), ec.Slide())
    space = ec.install()

    with pytest.warns(RuntimeWarning, match="no room for so many"):
        esper.process(DT)
    steps(20, DT)

    assert space.stats.skipped > 0
    assert space.stats.asleep == 0


@pytest.mark.usefixtures("world", "implementation")
def test_a_row_that_presses_on_a_wall_sleeps_as_a_whole():
    # The wall holds the first, which holds the second, and so on.
    box((0.0, 0.0), (1.0, 9.0))
    row = [mover((2.0 * n, 0.0), (1.0, 1.0), (-1.0, 0.0), ec.Slide()) for n in range(1, 6)]
    space = ec.install()
    for _ in range(120):
        for body in row:
            set_velocity(body, -1.0, 0.0)
        esper.process(1 / 60)

    assert space.stats.asleep == len(row)


def test_a_sleeping_body_that_a_lift_reaches_at_the_end_of_a_step_wakes(implementation):
    # Its velocity becomes that which the lift sees: both runs write it in the same step.
    def build(_space):
        lift = mover((0.0, -2.0), (2.0, 1.0), (0.0, 0.0), ec.Carry())
        mover((0.0, 1.0), (1.0, 1.0), (0.0, 0.0), ec.Slide())

        def play(step):
            if step == 30:
                set_velocity(lift, 0.0, 4.0)
            return 1 / 4

        return play

    asleep = twice(build, 33)

    assert asleep[29] == 2
    assert asleep[30] == 0
