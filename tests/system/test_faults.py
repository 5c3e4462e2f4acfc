"""Faults injected at random into a busy scene, and exceptions at each event of a run.

Two worlds live the same life: the same bodies come, go, change and fall ill at
the same moments, in handlers and responses too.  One of them suffers faults on
top: exceptions, refused steps, foreign worlds.  What can be seen of the two must
be the same, bit for bit.  A third world lives on although its steps are broken off.
"""

from __future__ import annotations

import contextlib
import math
import random

import esper
import pytest

import ecs_collide as ec
from tests.random_worlds import Draw, write
from tests.scenes import Ledger, another_world, box, closed_arena, mover
from tests.volume import further

pytestmark = pytest.mark.usefixtures("world", "implementation")


class FaultError(Exception):
    """The game's own mistake."""


class Tagged:
    """A component whose response leaves the answer to the library."""


class Turned:
    """A component whose response turns its body round."""


SIDE = 30.0
N_BODIES = 30
WRONG = {
    ec.Position: ("x", (math.nan, math.inf, -(2.0**501))),
    ec.Extents: ("y", (math.nan, -1.0, math.inf)),
    ec.Velocity: ("y", (math.nan, -math.inf, 2.0**501)),
    ec.Mass: ("value", (math.nan, 0.0, -3.0)),
}


class Breaks(esper.Processor):
    """A game's system between the stages, which fails or leaves the world when told."""

    def __init__(self, game):
        self.game = game
        self.how = None

    def process(self, dt=1.0):
        how, self.how = self.how, None
        if how == "raise":
            raise FaultError("between the stages")
        if how == "switch":
            esper.switch_world(f"{self.game.name} limbo")


class Game:
    """One of the two worlds: a script of changes, and faults if it is the one that suffers."""

    def __init__(self, name, seed, suffers, breaks_off=False):
        self.name, self.seed, self.suffers = name, seed, suffers
        self.breaks_off = breaks_off
        self.step = 0
        self.chance = random.Random(f"faults {seed}")
        self.sick = []
        self.n_faults = 0
        esper.switch_world(name)
        self.space = ec.install()
        self.is_attempting = False
        self.breaks = [Breaks(self), Breaks(self), Breaks(self)]
        for place, system in zip((102.5, 101.5, 100.5), self.breaks, strict=True):
            esper.add_processor(system, place)
        self.space.respond_with(Tagged, self.respond)
        self.space.respond_with(Turned, self.turn)
        self.space.on_collision(self.hear)
        self.space.on_contact_began(self.hear, ec.Velocity)
        self.space.on_contact_ended(self.hear)
        esper.set_handler(ec.COLLISION, self.hear)
        esper.set_handler(ec.CONTACT_BEGAN, self.hear)
        self.ledger = Ledger(self.space)
        self.furnish()

    def furnish(self):
        rng = random.Random(f"furniture {self.seed} {self.step}")
        closed_arena((0, 0), (SIDE, SIDE))
        for _ in range(N_BODIES):
            self.spawn(rng)

    def spawn(self, rng):
        """Create a body of some kind."""
        draw = Draw(rng, speed=rng.choice((5.0, 50.0, 2000.0)))
        draw.bodies = sorted(entity for entity, _ in esper.get_component(ec.Extents))[4:]
        place = ec.Position(rng.uniform(2, SIDE - 2), rng.uniform(2, SIDE - 2))
        size = ec.Extents(rng.uniform(0, 2), rng.uniform(0, 2))
        tags = [kind() for kind, chance in ((Tagged, 0.3), (Turned, 0.1)) if rng.random() < chance]
        return draw.body(place, size, *tags)

    # -- what happens to both worlds --

    def change(self, rng, entities):
        """Do one thing that a game may do, to one of the entities."""
        alive = [entity for entity in entities if esper.entity_exists(entity)]
        if not alive:
            return
        entity = rng.choice(alive)
        what = rng.randrange(14)
        place = esper.try_component(entity, ec.Position)
        size = esper.try_component(entity, ec.Extents)
        x, y = rng.uniform(2, SIDE - 2), rng.uniform(2, SIDE - 2)
        if what == 0:
            esper.delete_entity(entity, immediate=True)
        elif what == 1:
            esper.delete_entity(entity)
        elif what == 2 and place:
            write(entity, ec.Position(x, y))
        elif what == 3 and size:
            write(entity, ec.Extents(rng.uniform(0, 2), rng.uniform(0, 2)))
        elif what == 4:
            esper.try_remove_component(entity, Tagged)
        elif what < 11:
            Draw(rng).change(entity)
        elif what == 11:
            esper.try_remove_component(entity, rng.choice((ec.Position, ec.Extents, ec.Growth)))
        elif what == 12:
            esper.add_component(entity, ec.Position(x, y))
            esper.add_component(entity, ec.Extents(1, 1))
        else:
            kind = rng.choice(list(WRONG))
            name, values = WRONG[kind]
            component = esper.try_component(entity, kind)
            if component is not None:
                esper.try_remove_component(entity, ec.Fixed)
                self.sick.append((self.step + 3, component, name, getattr(component, name)))
                setattr(component, name, rng.choice(values))

    def recover(self):
        """Put right what fell ill, bring back what flew off, and fill up."""
        for due, component, name, right in self.sick:
            if due <= self.step:
                setattr(component, name, right)
        self.sick = [entry for entry in self.sick if entry[0] > self.step]
        for _, place in sorted(esper.get_component(ec.Position)):
            if not abs(place.x) + abs(place.y) < 500 and place.x == place.x:
                place.set(SIDE / 2, SIDE / 2)
        for _, size in sorted(esper.get_component(ec.Extents)):
            if 4 < size.x < 100 or 4 < size.y < 100:
                size.set(1, 1) if size.x < 15 else None
        rng = random.Random(f"fill {self.seed} {self.step}")
        for entity in sorted(esper.get_entities()):
            if esper.try_components(entity, ec.Position, ec.Extents) is None and rng.random() < 0.3:
                esper.delete_entity(entity)
        for _ in range(N_BODIES + 4 - len(esper.get_components(ec.Position, ec.Extents))):
            self.spawn(rng)

    def prepare(self):
        """Do what happens between two steps, and settle what happens within the next."""
        esper.switch_world(self.name)
        self.step += 1
        if self.step % 211 == 0:
            self.sick.clear()
            esper.clear_database()
            self.furnish()
        self.recover()
        rng = random.Random(f"life {self.seed} {self.step}")
        movers = sorted(entity for entity, _ in esper.get_component(ec.Position))[4:]
        for _ in range(rng.choice((0, 0, 1, 2))):
            self.change(rng, movers)
        self.n_calls = 0
        self.planned = {rng.randrange(12): rng.random() for _ in range(rng.choice((0, 1, 2)))}

    def called(self, event):
        """Count a call of a handler or response; do what is planned for it."""
        if self.is_attempting:
            return  # in a step that is broken off, and so does not happen
        number, self.n_calls = self.n_calls, self.n_calls + 1
        if number in self.planned:
            rng = random.Random(self.planned[number])
            if rng.random() < 0.3:
                self.spawn(rng)
            walls = (1, 2, 3, 4)
            self.change(rng, [e for e in (event.first, event.second) if e not in walls])

    def hear(self, event):
        esper.switch_world(self.name)  # a handler before may have left it
        self.called(event)
        self.suffer(event)

    def respond(self, impact):
        self.called(impact)
        self.suffer(impact)
        return ec.DEFAULT

    def turn(self, impact):
        self.called(impact)
        for entity in (impact.first, impact.second):
            if esper.entity_exists(entity) and esper.try_component(entity, Turned):
                speed = esper.try_component(entity, ec.Velocity)
                if speed is not None and abs(speed.x) + abs(speed.y) < 1e9:
                    impact.set_velocity(entity, (0.0 - speed.x, 0.0 - speed.y))

    # -- what happens to the one that suffers --

    def suffer(self, event):
        """Fail in the middle of a handler or response."""
        if not self.suffers or self.is_attempting or self.chance.random() > 0.08:
            return
        self.n_faults += 1
        how = self.chance.randrange(4)
        if how == 0:
            with pytest.raises(RuntimeError, match="inside a handler or response"):
                self.space.update_bounds(1.0)
        elif how == 1:
            self.space.doctor()
            str(self.space.explain(event.first, event.second))
            self.space.query((0, 0), (9, 9))
        elif how == 2:
            esper.switch_world(f"{self.name} limbo")
        else:
            raise FaultError("in a handler or response")

    def attempt(self, dt):
        """Let steps be refused or broken off before the one that counts."""
        if not self.suffers or self.chance.random() > 0.5:
            return
        self.n_faults += 1
        self.is_attempting = True
        how = self.chance.randrange(4) if self.breaks_off else 0
        if how == 0:
            with pytest.raises(ValueError, match="dt="):
                esper.process(self.chance.choice((-1.0, math.nan, "soon", None)))
        elif how == 1:
            kind, name = self.chance.choice(((ec.Position, "x"), (ec.Velocity, "y")))
            bodies = [
                body
                for body in sorted(esper.get_components(kind, ec.Position, ec.Extents))
                if not any(
                    esper.has_component(body[0], unread)
                    for unread in (ec.Disabled, ec.Fixed, ec.Attached)
                )
            ]
            component = self.chance.choice(bodies)[1][0]
            right = getattr(component, name)
            setattr(component, name, self.chance.choice(("east", None, [1.0], 10**400)))
            with pytest.raises(TypeError, match=r"entity \d+: (Position|Velocity)\.\w is"):
                esper.process(dt)
            setattr(component, name, right)
        elif how == 2:
            self.chance.choice(self.breaks).how = "raise"
            with pytest.raises(FaultError):
                esper.process(dt)
        else:
            self.chance.choice(self.breaks).how = "switch"
            with pytest.raises(RuntimeError, match="is current"):
                esper.process(dt)
        esper.switch_world(self.name)
        self.is_attempting = False

    def check_step(self, error):
        """Verify that what a step has raised is what handlers and responses raised."""
        assert self.suffers, error
        for one in error.exceptions if isinstance(error, ExceptionGroup) else [error]:
            assert isinstance(one, FaultError) or "in the middle of a step" in str(one), one

    def take_step(self, dt):
        """Take the step; return what can be seen of it."""
        self.prepare()
        esper.clear_dead_entities()
        self.attempt(dt)
        try:
            esper.process(dt)
        except Exception as error:
            self.check_step(error)
        esper.switch_world(self.name)
        self.ledger.record()
        self.space.check()
        if self.suffers:
            self.space.doctor()
        space = self.space
        array = space.collision_array
        assert (array["time"] >= 0).all()
        assert (array["time"] < 1).all()
        seen = (array, space.contact_array, space.positions(), space.velocities())
        words = (space.entities, [report.message for report in space.reports])
        return len(array), [part.tobytes() for part in seen], words


@pytest.fixture
def two_worlds(world):
    yield f"{world} twin", world
    esper.switch_world("default")
    for name in (f"{world} twin", f"{world} limbo"):
        with contextlib.suppress(KeyError):
            esper.delete_world(name)


@pytest.mark.slow_in_python
@pytest.mark.parametrize("seed", [1, *further(3)])
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_a_world_full_of_faults_lives_as_its_twin_without(seed, two_worlds, implementation, volume):
    n_steps = volume(40, 80, 20_000, least=30)
    games = [Game(name, seed=seed, suffers=name == two_worlds[1]) for name in two_worlds]
    n_events = 0

    for step in range(n_steps):
        well, ill = (game.take_step(1 / 30) for game in games)
        assert well == ill, f"step {step}"
        n_events += well[0]

    assert games[1].n_faults > n_steps / 2
    assert n_events > n_steps
    assert games[0].space.n_reports > n_steps / 100


@pytest.mark.slow_in_python
@pytest.mark.parametrize("seed", [1, *further(3, 4)])
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_a_world_whose_steps_are_broken_off_lives_on(seed, world, implementation, volume):
    game, n_events = Game(world, seed, suffers=True, breaks_off=True), 0
    n_steps = volume(40, 80, 20_000, least=30)

    for _ in range(n_steps):
        n_events += game.take_step(1 / 30)[0]  # which checks the space and its contacts

    assert game.n_faults > n_steps / 2
    assert n_events > n_steps


# -- an exception at each possible event --


class Play:
    """A short run whose every call of a handler or response is numbered, and may fail."""

    def __init__(self, failing=None, error=FaultError):
        self.failing, self.error = failing, error
        self.n_calls = 0
        self.heard = {"typed": [], "esper": [], "began": [], "ended": [], "asked": []}
        self.what_failed = None
        self.number_of = {}
        self.turned = None
        closed_arena((0, 0), (12, 12))
        box((6, 6), (1, 1), ec.Sensor())
        for i in range(7):
            answers = [(ec.Deflect(), Tagged()), (ec.Slide(), Turned()), (ec.Push(),)][i % 3]
            at = (2 + 4 * (i % 3), 2 + 3.5 * (i // 3))
            mover(at, (0.5, 0.4), ((37 * i) % 50 - 25, (53 * i) % 50 - 25), *answers)
        self.space = ec.install()
        self.ledger = Ledger(self.space)
        self.space.respond_with(Tagged, self.respond)
        self.space.respond_with(Turned, self.turn)
        self.space.on_collision(lambda event: self.hear("typed", event))
        self.space.on_contact_began(lambda event: self.hear("began", event))
        self.space.on_contact_ended(lambda event: self.hear("ended", event))
        esper.set_handler(ec.COLLISION, self.by_esper)

    def call(self, what):
        number, self.n_calls = self.n_calls, self.n_calls + 1
        self.number_of[what] = number
        if number == self.failing:
            self.what_failed = what
            self.had_acted = what == "respond" and self.turned == self.heard["asked"][-1]
            raise self.error(number)

    def hear(self, channel, event):
        self.heard[channel].append((self.space.stats.step, event))
        self.call(channel)

    def by_esper(self, event):
        self.hear("esper", event)

    def respond(self, impact):
        self.heard["asked"].append((impact.first, impact.second, impact.time))
        self.call("respond")
        return ec.DEFAULT

    def turn(self, impact):
        self.heard["asked"].append((impact.first, impact.second, impact.time))
        self.call("turn")
        for entity in (impact.first, impact.second):
            if esper.try_component(entity, Turned):
                x, y = impact.velocity(entity)
                impact.set_velocity(entity, (-x, -y))
        self.turned = self.heard["asked"][-1]

    def run(self, n_steps):
        """Take the steps; return how many of them raised what was wanted."""
        n_raised = 0
        expected = {"typed": [], "began": [], "ended": []}
        for _ in range(n_steps):
            before = self.space.stats.step
            raised = []
            try:
                esper.process(1 / 3)
            except self.error as error:
                raised.append(error.args)
            assert raised in ([], [(self.failing,)])
            n_raised += len(raised)
            self.space.check()
            if self.space.stats.step == before:
                continue  # broken off
            self.ledger.record()
            step = self.space.stats.step
            expected["typed"] += [(step, event) for event in self.space.collisions]
            expected["began"] += [(step, event) for event in self.space.contacts_began]
            expected["ended"] += [(step, event) for event in self.space.contacts_ended]
        if self.error is FaultError:  # each event once, in order, on every channel
            assert {name: self.heard[name] for name in expected} == expected
            assert self.heard["esper"] == expected["typed"]
        return n_raised

    def result(self):
        """Return all that can be seen at the end."""
        space = self.space
        return self.heard, space.positions().tobytes(), space.velocities().tobytes()


@contextlib.contextmanager
def fresh_world(name):
    with another_world(name):
        yield


@pytest.mark.parametrize("error", [FaultError, KeyboardInterrupt])
def test_an_exception_at_each_event_of_a_run(error, world, implementation, volume):
    n_steps = 4
    with fresh_world(f"{world} sound"):
        sound = Play()
        assert sound.run(n_steps) == 0
        wanted = sound.result()
    assert sound.n_calls >= 500
    assert {len(sound.heard[name]) > 0 for name in sound.heard} == {True}
    stride = max(1, sound.n_calls // volume(12, 24, sound.n_calls))
    stride *= 1 if error is FaultError else 5
    failed = set()

    for number in sorted({*range(0, sound.n_calls, stride), *sound.number_of.values()}):
        with fresh_world(f"{world} {number}"):
            play = Play(number, error)
            assert play.run(n_steps) == 1, number
            failed.add(play.what_failed)
            if error is FaultError and play.what_failed != "turn":
                assert play.result() == wanted, number  # as if nothing had been
            elif error is KeyboardInterrupt and play.what_failed in ("respond", "turn"):
                if play.had_acted:
                    continue  # the game had set a velocity before it failed, and that stays
                play.run(1)  # the step that was broken off did not happen, so it is yet to come
                assert play.result()[1:] == wanted[1:], number

    assert failed == {"typed", "esper", "began", "ended", "respond", "turn"}
