"""A world in which bodies sleep goes on from a snapshot bit by bit as one that never was saved.

With the collisions that resting bodies repeat, and that those who sleep do not.
"""

from __future__ import annotations

import os
import random
import subprocess
import sys
from pathlib import Path

import esper
import pytest

import ecs_collide as ec
from ecs_collide._kernel import backend
from tests.random_worlds import Draw, write
from tests.scenes import box, in_a_world, mover, of, set_velocity, steps
from tests.system.test_compiled_and_pure import in_both_implementations
from tests.system.test_sleep import Own, Yard

ROOT = Path(__file__).parents[2]
DT = 1 / 60
G = 10.0

pytestmark = [
    pytest.mark.filterwarnings("ignore:entity:RuntimeWarning"),
    pytest.mark.usefixtures("world"),
]


class Pile:
    """Crates in piles, and a game that now and then does something to one, a floor or a lift.

    What it does before a step depends on the number of the step and on what it finds in the
    world, so it goes on in a world that was restored.
    """

    def __init__(self, seed, by, dim, *, furnished=True, space=None):
        self.seed, self.by, self.dim = seed, by, dim
        rng = random.Random(seed)
        if furnished:
            for k in range(4):
                y = rng.choice([-1.0, -1.0, -1.5])
                more = ec.OneWay(self.at(0.0, 1.0)) if k == 3 else ec.Filter()
                box(self.at(8.0 * k - 12.0, y), self.size(4.0, 1.0), ec.Friction(0.5), more)
            box(self.at(0.0, -20.0), self.size(30.0, 1.0), ec.Velocity(*self.at(0.0, 0.0)))
            box(
                self.at(20.0, -1.0),
                self.size(3.0, 1.0),
                ec.Velocity(*self.at(0.0, 0.0)),
                ec.Carry(),
            )
            for k in range(24):
                self.crate(rng, 2.0 * (k % 12) - 11.0, 1.0 + 2.5 * (k // 12))
        gravity = (0.0, -G, 0.0)[:dim] if by == "space" else (0.0, 0.0, 0.0)[:dim]
        self.space = space or ec.install(dim=dim, rest_speed=0.5, gravity=gravity)

    def at(self, x, y):
        return (x, y, 0.0)[: self.dim]

    def size(self, x, y):
        return (x, y, 3.0)[: self.dim]

    def draw(self, rng):
        """Return what draws components from here on; it remembers nothing, as a restored world."""
        draw = Draw(rng, self.dim, mixture=0.5)
        draw.bodies = sorted(e for e in esper.get_entities() if e > 6)
        return draw

    def crate(self, rng, x, y):
        half = self.size(rng.choice([0.5, 0.75]), rng.choice([0.5, 0.75]))
        body = ec.Position(*self.at(x, y)), ec.Extents(*half), ec.Velocity(*self.at(0.0, 0.0))
        return self.draw(rng).body(*body, rng.choice([ec.Slide(), ec.Slide(), ec.Deflect(0.3)]))

    def act(self, step):
        """Do what this game does before a step; return how long the step is."""
        rng = random.Random(1000 * self.seed + step)
        dt = rng.choice([DT, DT, DT, 1 / 50])
        if self.by == "game":
            for entity, velocity in esper.get_component(ec.Velocity):
                if entity > 6:  # no lift
                    velocity.y -= G * dt
        if step > 50 and rng.random() < 0.08:
            self.surprise(rng)
        return dt

    def surprise(self, rng):
        """Do one thing that no step has asked for."""
        entities = sorted(esper.get_entities())
        crates = [e for e in entities if esper.has_component(e, ec.Slide)]
        floors = [e for e in entities if e <= 6]
        if not crates or not floors:
            return
        entity, floor = rng.choice(crates), rng.choice(floors)
        what = rng.randrange(17)
        if what == 0:
            speed = self.at(rng.choice([-9.0, 9.0]), rng.choice([0.0, 6.0]))
            write(entity, ec.Velocity(*speed))
        elif what == 1:
            esper.delete_entity(entity, immediate=rng.random() < 0.5)
        elif what == 2:
            self.crate(rng, rng.uniform(-12.0, 12.0), 9.0)
        elif what == 3:
            x, y, z = of(floor, ec.Position).xyz
            write(floor, ec.Position(x, y + rng.choice([-0.5, 0.25, 1e-13]), z))
        elif what == 4:
            for lift in (5, 6):
                if esper.entity_exists(lift):
                    write(lift, ec.Velocity(*self.at(0.0, rng.choice([0.0, 2.0, -2.0]))))
        elif what == 5:
            x, y, z = of(entity, ec.Extents).xyz
            write(entity, ec.Extents(x * rng.choice([0.5, 1.25]), y, z))
        elif what == 6 and rng.random() < 0.3:
            esper.delete_entity(floor, immediate=rng.random() < 0.5)
        elif what in (7, 8):
            self.draw(rng).change(rng.choice([entity, floor]))
        elif what == 9:
            x, y, z = of(entity, ec.Position).xyz
            write(entity, ec.Position(x + rng.choice([0.5, -0.5]), y, z))
        elif what == 10 and esper.has_component(entity, ec.Velocity):
            # It is only pressed: nobody wakes.
            of(entity, ec.Velocity).y -= rng.choice([0.1, 3.0])
        elif what == 11:
            self.draw(rng).change(entity)
        elif what == 12:
            esper.add_component(entity, ec.Disabled())
        elif what == 13:
            for disabled, _ in list(esper.get_component(ec.Disabled)):
                esper.remove_component(disabled, ec.Disabled)
        elif what == 14:
            esper.add_component(entity, type(of(entity, ec.Slide))())
        elif what == 15:
            self.space.drop_through(entity)
        elif what == 16 and entity in self.space.entities:
            self.space.resize(entity, height=rng.choice([0.8, 1.5]))


def seen(space):
    """Return all that a game can see after a step."""
    return (
        space.state_hash(), space.stats.asleep, len(space.collisions),
        space.contacts(), space.snapshot(),
    )  # fmt: skip


def never_saved(build, n_steps):
    """Play a game; return what was seen after each step."""
    game = build()
    steps = []
    for n in range(n_steps):
        esper.process(game.act(n))
        steps.append(seen(game.space))
    return steps


def compare(now, expected, step):
    for name, one, other in zip(
        ("state_hash", "asleep", "collisions", "contacts", "snapshot"), now, expected, strict=True
    ):
        assert one == other, f"{name} differs after step {step}"


# Let a test run with several piles: both dimensions and both kinds of sleep, each with its seed.
scenes = pytest.mark.parametrize(
    ("dim", "by", "seed"),
    [(2, "space", 2), (3, "game", 1),
     *(pytest.param(*pile, marks=pytest.mark.long) for pile in [(2, "game", 3), (3, "space", 3)])],
)  # fmt: skip


@pytest.mark.slow_in_python
@scenes
def test_rollbacks_within_rollbacks(dim, by, seed, implementation, volume):
    length = volume(180, 240, 600, least=120)

    def build():
        return Pile(seed, by, dim)

    expected = in_a_world("never saved", lambda: never_saved(build, length))

    def rolled_back():
        game, rng = build(), random.Random(seed)
        n = 0
        kept = {}
        while n < length:
            dt = None
            if rng.random() < 0.5:  # between what the game does and the step
                dt = game.act(n)
            kept[n] = game.space.snapshot(), dt
            if rng.random() < 0.1:
                back = max(0, n - rng.choice([0, 1, 3, 8, 20]))
                saved = next(k for k in range(back, n + 1) if k in kept)
                data, dt = kept[saved]
                game.space.restore(data)
                assert game.space.snapshot() == data
                game.space.check()
                kept = {k: v for k, v in kept.items() if k <= saved}
                n = saved
            esper.process(game.act(n) if dt is None else dt)
            compare(seen(game.space), expected[n], n)
            n += 1

    in_a_world("rolled back", rolled_back)
    n_asleep = [asleep for _, asleep, *_ in expected]
    assert sum(n > 0 for n in n_asleep) > length // 4
    assert max(n_asleep) > 5


@pytest.mark.slow_in_python
@scenes
def test_a_relay_of_worlds_in_which_nothing_was_before(dim, by, seed, implementation, volume):
    length = volume(180, 240, 600, least=60)
    expected = in_a_world("never saved", lambda: never_saved(lambda: Pile(seed, by, dim), length))
    rng = random.Random(seed)

    def run(data, dt, start, stop):
        game = Pile(seed, by, dim, furnished=data is None)
        if data is not None:
            game.space.restore(data)
            assert game.space.snapshot() == data
            game.space.check()
        for n in range(start, stop):
            esper.process(game.act(n) if dt is None else dt)
            dt = None
            compare(seen(game.space), expected[n], n)
        dt = game.act(stop) if rng.random() < 0.7 else None
        return game.space.snapshot(), dt

    data, dt, n = None, None, 0
    while n < length:
        stop = min(n + rng.randrange(1, 12), length)
        data, dt = in_a_world(f"from {n}", lambda: run(data, dt, n, stop))  # noqa: B023
        n = stop


@pytest.mark.parametrize("dim", [2, 3])
def test_compiled_and_pure_python_give_the_same_bytes(dim, monkeypatch):
    def play():
        return in_a_world("played", lambda: never_saved(lambda: Pile(1, "space", dim), 60))

    compiled, plain = in_both_implementations(monkeypatch, play)

    assert compiled == plain


FRESH = """
import esper, random, sys, warnings
warnings.simplefilter("ignore")
from tests.system.test_sleep_in_snapshots import Pile
game = Pile(1, "space", {dim}, furnished=False)
game.space.restore(open({path!r}, "rb").read())
for n in range(90, 140):
    esper.process(game.act(n))
    print(game.space.stats.asleep, game.space.state_hash().hex())
"""


@pytest.mark.parametrize(("dim", "plain"), [(2, False), (3, True)])
def test_a_fresh_process_in_which_bodies_go_on_sleeping(dim, plain, tmp_path):
    path = tmp_path / "saved"

    def play():
        game = Pile(1, "space", dim)
        steps = []
        for n in range(140):
            if n == 90:
                path.write_bytes(game.space.snapshot())
            esper.process(game.act(n))
            steps.append(f"{game.space.stats.asleep} {game.space.state_hash().hex()}")
        return steps[90:]

    expected = in_a_world("played", play)
    environment = {k: v for k, v in os.environ.items() if not k.startswith("ECS_COLLIDE")}
    if plain or not backend.kernels.compiled:
        environment["ECS_COLLIDE_PURE_PYTHON"] = "1"
    code = FRESH.format(dim=dim, path=str(path))
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, env=environment, capture_output=True, text=True,
        check=False,
    )  # fmt: skip

    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == expected
    assert not expected[0].startswith("0 ")


@pytest.mark.parametrize("restores", [False, True])
def test_a_crate_that_has_lost_its_lift_in_its_sleep_falls_after_a_restore_too(
    restores, implementation
):
    lift = mover((0.0, -1.0), (5.0, 1.0), (0.0, 0.0))
    crate = mover((4.0, 0.5), (0.5, 0.5), (0.0, 0.0), ec.Slide())
    space = ec.install(gravity=(0.0, -G))

    class Shot:
        """A component of the game's: what it hits falls."""

    def fell(impact):
        impact.set_velocity(lift, (0.0, -30.0))
        esper.delete_entity(impact.first if impact.second == lift else impact.second)

    space.respond_with(Shot, fell)
    while not space.stats.asleep:
        esper.process(DT)
    esper.process(DT)
    assert space.collisions == []
    shot = mover((-9.0, -1.0), (0.1, 0.1), (400.0, 0.0), Shot(), ec.GravityScale(0.0))
    esper.process(DT)
    assert not esper.entity_exists(shot)
    assert of(lift, ec.Velocity).y == -30.0
    assert of(crate, ec.Position).y == 0.5

    if restores:
        data = space.snapshot()
        space.restore(data)
        assert space.snapshot() == data
    esper.process(DT)

    assert of(crate, ec.Position).y < 0.5
    assert space.stats.asleep == 0


@pytest.mark.parametrize("dim", [2, 3])
@pytest.mark.parametrize("motion", ["velocity", "under gravity", "swept"])
def test_a_yard_in_which_everything_happens_is_saved_at_each_step(
    dim, motion, implementation, volume
):
    settings = {
        "velocity": {"gravity": (0.0,) * dim},
        "under gravity": {"gravity": (0.0, -G, 0.0)[:dim]},
        "swept": {"motion": "swept"},
    }

    def play(restores):
        space = ec.install(dim=dim, rest_speed=0.5, **settings[motion])
        yard = Yard(space, 6, dim, 0.5)
        yard.stills.append(box(yard.at(0.0, -12.0), yard.size(60.0, 2.0)))
        space.snapshot_with(Own, save=lambda own: b"", load=lambda data: Own())
        steps = []
        for n in range(volume(120, 160, 400, least=120)):
            dt = yard.play(n)
            if restores:
                data = space.snapshot()
                space.restore(data)
                assert space.snapshot() == data
            esper.process(DT if dt is None else dt)
            steps.append(seen(space))
        return steps

    expected = in_a_world("never saved", lambda: play(False))
    now = in_a_world("saved", lambda: play(True))
    for n, (one, other) in enumerate(zip(now, expected, strict=True)):
        compare(one, other, n)
    assert max(step[1] for step in expected) > 3


def test_a_lift_that_was_hit_long_ago_wakes_nobody(world, implementation):
    lift = mover((0.0, -1.0), (5.0, 1.0), (0.0, 0.0))
    space = ec.install(gravity=(0.0, -G))

    class Shot:
        """A component of the game's."""

    def hit(impact):
        impact.set_velocity(lift, (0.0, -1.0))
        esper.delete_entity(impact.first if impact.second == lift else impact.second)

    space.respond_with(Shot, hit)
    while not space.stats.asleep:
        esper.process(DT)
    mover((-9.0, -1.0), (0.1, 0.1), (400.0, 0.0), Shot(), ec.GravityScale(0.0))
    esper.process(DT)
    assert space.stats.asleep == 0  # the lift has woken, and nobody else slept
    set_velocity(lift, 0.0, 0.0)
    top = of(lift, ec.Position).y + 1.0
    mover((4.0, top + 0.5), (0.5, 0.5), (0.0, 0.0), ec.Slide())
    while space.stats.asleep < 2:
        esper.process(DT)

    for _ in range(20):
        esper.process(DT)
        assert space.stats.asleep == 2


def led(what, x):
    """Create a body that a component leads, far from the others."""
    place = ec.Position(x, 9.0), ec.Extents(4.0, 4.0)
    if what == "Zone":
        return esper.create_entity(*place, ec.Sensor(), ec.Zone(drag=0.1))
    lead = ec.Character() if what == "Character" else ec.Path([(x, 9.0), (x + 9.0, 9.0)], 5.0)
    return esper.create_entity(*place, ec.Velocity(0.0, 0.0), ec.Slide(), lead)


class Ghost:
    """A component that a response system handles."""


class GhostResponse(ec.ResponseSystem):
    """Leaves all impacts to the built-in response."""

    handles = Ghost

    def respond(self, impact):
        return ec.DEFAULT


def a_crate_that_sleeps(gravity, *more):
    """Let a crate fall asleep on a floor; return its space and itself."""
    space = ec.install(gravity=gravity)
    if Ghost in map(type, more):
        esper.add_processor(GhostResponse(space), priority=110)
    box((0.0, -8.0), (80.0, 8.0))
    crate = mover((0.0, 4.0), (4.0, 4.0), (0.0, 0.0), ec.Stop(), *more)
    return space, crate


def traces(space, n_steps=16):
    """Return what is to be seen after each of some steps."""
    found = []
    for _ in range(n_steps):
        esper.process(DT)
        found.append((len(space.collisions), space.stats.asleep, space.state_hash()))
    return found


FIRST = ["Character", "Path", "Zone"]


@pytest.mark.parametrize("pull", ["gravity", "acceleration later", "none"])
@pytest.mark.parametrize("what", FIRST)
def test_the_first_body_that_is_led_wakes_nobody_and_is_led_again(what, pull, implementation):
    space, _ = a_crate_that_sleeps((0.0, -G if pull == "gravity" else 0.0))
    steps(60, DT)
    asleep = space.stats.asleep
    saved = space.snapshot()

    def play():
        led(what, 9000.0)
        esper.process(DT)
        assert space.stats.asleep == asleep
        if pull == "acceleration later":
            mover((500.0, 0.0), (1.0, 1.0), (0.0, 0.0), ec.Slide(), ec.Acceleration(0.0, -1.0))
        return traces(space)

    expected = play()
    for _ in range(2):
        space.restore(saved)
        assert play() == expected


@pytest.mark.parametrize("kind", [ec.Character, Ghost])
def test_a_component_that_is_new_on_a_sleeping_body_acts_the_same_each_time(kind, implementation):
    space, crate = a_crate_that_sleeps((0.0, -G))
    steps(60, DT)
    assert space.stats.asleep == 1
    saved = space.snapshot()

    def play():
        esper.add_component(crate, kind())
        return traces(space)

    expected = play()
    for _ in range(2):
        space.restore(saved)
        assert play() == expected


@pytest.mark.parametrize("what", [*FIRST, "Ghost"])
@pytest.mark.parametrize("n_steps", [10, 60])
def test_a_fresh_space_goes_on_with_what_is_led_and_what_is_handled(what, n_steps, implementation):
    def build():
        return a_crate_that_sleeps((0.0, -G), *([Ghost()] if what == "Ghost" else []))[0]

    def go_on(saved):
        space = build()
        space.snapshot_with(Ghost, save=lambda ghost: b"", load=lambda data: Ghost())
        if saved is None:
            if what != "Ghost":
                led(what, 40.0)
            steps(n_steps, DT)
        else:
            space.restore(saved)
        return space.snapshot(), traces(space)

    saved, expected = in_a_world("never saved", lambda: go_on(None))
    again, found = in_a_world("fresh", lambda: go_on(saved))

    assert again == saved
    assert found == expected


@pytest.mark.parametrize("undo", [False, True])
def test_a_type_that_becomes_dynamic_or_no_more_wakes_no_other_body(undo, implementation):
    space, _ = a_crate_that_sleeps((0.0, -G))
    mover((60.0, 4.0), (4.0, 4.0), (0.0, 0.0), ec.Stop(), Own())
    stop = space.make_dynamic(Own)
    steps(60, DT)
    assert space.stats.asleep == 2

    stop() if undo else space.make_dynamic(ec.Character)
    esper.process(DT)

    assert space.stats.asleep == 2 - undo
