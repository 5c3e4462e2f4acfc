"""Whole steps of the library against the exact simulator, in random worlds.

`tests/exact/twin.py` says what is compared, and what a tie is; `worlds.py` what
the worlds are.  4 worlds of 5 seconds run on the compiled kernels and 4 of 4 seconds
in pure Python; with ``--long`` 60 of 12 seconds, and 6 of 4; with ``--long --long`` 360 of 12.
"""

from __future__ import annotations

import itertools
import math
import random
from collections import Counter
from fractions import Fraction

import esper
import numpy as np
import pytest

import ecs_collide as ec
from tests.exact.crowds import growing_crowd
from tests.exact.simulator import INSTANT_LIMIT
from tests.exact.twin import RESPONSES, Tally, compare_step, read_bodies
from tests.exact.worlds import RandomWorld
from tests.scenes import SLOP, box, mover

pytestmark = pytest.mark.usefixtures("world", "implementation")

FAR_NEAR = 1e-5  # of a step, at a million from the origin: an ulp is 1e-10 of a length there
ULP = Fraction(1, 2**52)
_names = itertools.count()


class Worlds:
    """Runs random worlds one after the other, each in an esper world of its own."""

    def __init__(self, numbers):
        self.numbers = numbers

    def __iter__(self):
        home = esper.current_world
        for number in self.numbers:
            name = f"random world {next(_names)}"
            esper.switch_world(name)
            try:
                yield number
            finally:
                esper.switch_world(home)
                esper.delete_world(name)


@pytest.fixture
def choose_worlds(volume):
    """Return a function that chooses the worlds to run; a few are of as many kinds as there are."""

    def choose(short, long, everything, least=4):
        n = volume(short, long, everything, least=least)
        return Worlds(range(n) if n >= 48 else [13 * i % 48 for i in range(n)])

    return choose


def limits_of(space):
    """Return whether a step came to one of its limits."""
    return space.stats.held


def most_in_one_instant(space):
    """Return how often a pair was resolved in one instant, at most."""
    hits = Counter((hit.time, hit.first, hit.second) for hit in space.collisions)
    return max(hits.values(), default=0)


def test_every_step_of_random_worlds_is_the_exact_one(choose_worlds, volume):
    tally = Tally()
    seconds = volume(5, 5, 12, least=4)
    for number in choose_worlds(4, 48, 360):
        random_world = RandomWorld(number)
        space = ec.install(dim=random_world.dim)
        for step, dt in enumerate(random_world.dts):
            if random_world.clock > seconds:
                break
            random_world.shake(dt)
            bodies = read_bodies(random_world.dim)
            esper.process(dt)
            try:
                tally += compare_step(bodies, dt, space)
            except AssertionError as wrong:
                raise AssertionError(f"world {number}, step {step} of {dt} s") from wrong

    print(tally)
    assert tally.inside < tally.steps / 500
    assert tally.exact_impacts > tally.impacts / 20  # bit for bit
    assert tally.ties < tally.impacts / 200
    assert tally.cut_short < tally.steps / 50
    assert tally.roundings < tally.impacts / 200


@pytest.mark.slow_in_python
def test_every_step_of_crowds_that_press_is_the_exact_one(choose_worlds):
    tally = Tally()
    n_lasting = 0
    for number in choose_worlds(6, 24, 96):
        rng = random.Random(f"crowd {number}")
        space = ec.install()
        crowd = [member(rng, cell, number) for cell in rng.sample(range(16), rng.randint(7, 10))]
        if number % 3 == 0:
            box((7.0, 7.0), (0.5, 0.5))
        for step in range(6):
            for entity in crowd:
                place = esper.component_for_entity(entity, ec.Position)
                speed = esper.component_for_entity(entity, ec.Velocity)
                speed.set(*(rng.choice([2.0, 4.0, 5.0]) * (7.0 - x) for x in (place.x, place.y)))
            bodies = read_bodies(2)
            esper.process(1 / 8)
            try:
                tally += compare_step(bodies, 1 / 8, space)
            except AssertionError as wrong:
                raise AssertionError(f"crowd {number}, step {step}") from wrong
            n_lasting += space._state.timeline.solver.clusters.n_lasting > 0
    print(tally, n_lasting)

    assert n_lasting > tally.steps / 20
    assert tally.ties < tally.impacts / 5  # what touches at the start does so by rounding
    assert tally.cut_short < tally.steps / 8


def test_every_step_of_crowds_that_grow_is_the_exact_one(choose_worlds):
    tally = Tally()
    n_merges = 0
    for number in choose_worlds(12, 24, 192):
        found, n = compare_growing_crowd(number)
        tally += found
        n_merges += n
    print(tally, n_merges)

    assert n_merges > tally.steps
    assert tally.ties < tally.impacts / 8  # the twin knows no rounds
    assert tally.cut_short < tally.steps / 6


def test_who_has_left_a_cluster_does_not_decide_which_of_two_leads():
    # In these crowds a body leaves a cluster that lasts, and then meets it again.
    for number in Worlds((108, 764, 1581, 1656)):
        compare_growing_crowd(number)


def compare_growing_crowd(number):
    """Compare three steps of a crowd that grows; return the tally and the number of merges."""
    tally = Tally()
    n_merges = 0
    space = ec.install()
    for each in sorted(growing_crowd(number), key=lambda body: body.ident):
        create(each)
    for step in range(3):
        bodies = read_bodies(2)
        esper.process(1 / 2)
        try:
            tally += compare_step(bodies, 1 / 2, space)
        except AssertionError as wrong:
            raise AssertionError(f"crowd {number}, step {step}") from wrong
        n_merges += space.stats.merges
    return tally, n_merges


def create(body):
    """Create a body of the simulator in the world of esper."""
    low, high = (list(map(float, faces)) for faces in (body.low, body.high))
    centre = [(a + b) / 2 for a, b in zip(low, high, strict=True)]
    half = [(b - a) / 2 for a, b in zip(low, high, strict=True)]
    if not body.moves:
        box(centre, half)
        return
    parts = [ec.Growth(*map(float, body.growth)), *[ec.Sensor()] * body.sensor]
    if body.is_dynamic:
        kind = next(kind for kind, name in RESPONSES if name == body.response)
        parts.append(kind(float(body.restitution)) if kind is ec.Deflect else kind())
        parts += [ec.Mass(float(body.mass)), ec.Dominance(body.level // 2, body.level % 2)]
    mover(centre, half, [float(v) for v in body.velocity], *parts)


def member(rng, cell, number):
    """Create a member of a crowd in a cell of its own."""
    responses = [ec.Slide(), ec.Slide(), ec.Stop(), ec.Deflect(0.25), ec.Deflect(), ec.Push()]
    place = (4.0 * (cell % 4) + rng.uniform(0, 1), 4.0 * (cell // 4) + rng.uniform(0, 1))
    half = (rng.choice([0.5, 1.0, 1.25]), 1.0)
    more = [responses[rng.randrange(6)] if number % 2 else ec.Slide()]
    if number % 5 > 2:
        more.append(ec.Mass(rng.choice([0.5, 1.0, 3.0])))
    return mover(place, half, (0.0, 0.0), *more)


# Resolutions one by one --------------------------------------------------------------------


class Witness(ec.ResponseSystem):
    """Gives every impact its built-in response, and looks at what that does."""

    def __init__(self, space):
        super().__init__(space)
        self.n_resolutions = self.n_pairs = self.n_held = 0
        self.last_time = -1.0
        self.at_first = {}  # the velocities before the first impact of the instant

    def velocities(self):
        """Return what the velocities of all bodies come to at the end of the step, exactly."""
        timeline, axes = self.space._state.timeline, range(self.space.dim)
        return {
            e: [Fraction(timeline.loop.final_velocity(row, k)) for k in axes]
            for e, row in zip(self.space.entities, self.space._registry.rows.tolist(), strict=True)
        }

    def process(self, dt=1.0):
        self.last_time = -1.0
        super().process(dt)

    def respond(self, impact):
        if set(self.space._state.timeline.holding.entities()) & {impact.first, impact.second}:
            impact.resolve()  # a body that came to a limit is a wall, and shows what it keeps
            return
        before = self.velocities()
        impact.resolve()
        after = self.velocities()
        assert impact.time >= self.last_time, "time went back"
        if impact.time > self.last_time:
            self.at_first = before
        self.last_time = impact.time
        self.n_resolutions += 1
        axis = next(k for k, n in enumerate(impact.normal) if n)
        pair = (impact.first, impact.second)
        grows = any(esper.has_component(e, ec.Growth) for e in pair)
        held = [e for e in pair if not is_dynamic(e)]
        turned = {e for e in before if before[e][axis] != after[e][axis]}
        if held:
            self.n_held += 1
            if not grows:
                self._check_energy(impact, pair, held[0], before, after)
        elif turned <= set(pair):
            self.n_pairs += 1
            if not self._is_held_by_a_third(impact, pair, axis, before, after):
                self._check_momentum(impact, pair, axis, before, after)

    def _is_held_by_a_third(self, impact, pair, axis, before, after):
        """Return whether the faces that have met go together, and another with what is held."""
        still = {before[e][axis] for e in before if not is_dynamic(e)}
        sign = Fraction(impact.normal[axis])
        met, faces = [], []
        for e, side in zip(pair, (-sign, sign), strict=True):
            growth = esper.try_component(e, ec.Growth)
            spread = Fraction((growth.x, growth.y, growth.z)[axis]) if growth else Fraction(0)
            met.append(after[e][axis] + side * spread)
            faces += [after[e][axis] + spread, after[e][axis] - spread]
        near = 8 * ULP * max(map(abs, faces))
        return abs(met[0] - met[1]) <= near and any(
            abs(face - v) <= near for face in faces for v in still
        )

    def _check_momentum(self, impact, pair, axis, before, after):
        masses = [mass_of(e) for e in pair]
        old = [m * before[e][axis] for m, e in zip(masses, pair, strict=True)]
        new = [m * after[e][axis] for m, e in zip(masses, pair, strict=True)]
        error = abs(sum(new) - sum(old))
        size = sum(map(abs, old))
        ulps = 2
        for m, e in zip(masses, pair, strict=True):
            growth = esper.try_component(e, ec.Growth)
            if growth is not None:  # faces are rounded too, and parted where they still close
                size += m * abs(Fraction((growth.x, growth.y, growth.z)[axis]))
                ulps = 8
        assert error <= ulps * ULP * size, (float(error), impact)

    def _check_energy(self, impact, pair, held, before, after):
        bodies = [e for e in pair if e != held]
        frame = before[held]
        most = 1
        if self.at_first != before:
            # Bodies turn by what all have lost at the instant.  Other walls may win them energy.
            if any(not is_dynamic(e) and before[e] != frame for e in before) or any(
                esper.has_component(e, ec.Growth) for e in before
            ):
                return
            bodies = [e for e in before if is_dynamic(e)]
            most = 1 + Fraction(1, 2**44)
        energy = [
            sum(mass_of(e) * (v - u) ** 2 for e in bodies for v, u in zip(speeds[e], frame))  # noqa: B905
            for speeds in (self.at_first, after)
        ]
        assert energy[1] <= energy[0] * most, (float(energy[1] / energy[0] - 1), impact)


def is_dynamic(entity):
    """Return whether an entity yields: what has a velocity, a response and a mass."""
    mass = esper.try_component(entity, ec.Mass)
    return (
        esper.has_component(entity, ec.Velocity)
        and any(
            esper.has_component(entity, kind) for kind in (ec.Deflect, ec.Slide, ec.Push, ec.Stop)
        )
        and (mass is None or mass.value != math.inf)
    )


def mass_of(entity):
    mass = esper.try_component(entity, ec.Mass)
    return Fraction(mass.value if mass else 1.0)


def install_witness(dim):
    space = ec.install(dim=dim)
    esper.remove_processor(ec.ResponseSystem)
    witness = Witness(space)
    esper.add_processor(witness, priority=105)
    return space, witness


@pytest.mark.slow_in_python
def test_every_answer_keeps_momentum_and_wins_no_energy(choose_worlds):
    n_pairs = n_held = n_worlds = 0
    for number in choose_worlds(4, 24, 360):
        n_worlds += 1
        random_world = RandomWorld(number)
        space, witness = install_witness(random_world.dim)
        for dt in random_world.dts:
            random_world.shake(dt)
            esper.process(dt)
            times = space.collision_array["time"]
            assert (np.diff(times) >= 0).all()
            assert ((times >= 0) & (times < 1)).all()
        n_pairs += witness.n_pairs
        n_held += witness.n_held

    assert n_pairs > 20 * n_worlds
    assert n_held > 20 * n_worlds


@pytest.mark.slow_in_python
def test_a_witness_changes_nothing(choose_worlds):
    # The same world with and without: so what the witness has seen is what games get.
    for number in choose_worlds(5, 10, 60):
        logs = []
        for witnessed in (False, True):
            home = esper.current_world
            esper.switch_world(f"{home} witnessed {witnessed}")
            random_world = RandomWorld(number)
            space = ec.install(dim=random_world.dim)
            if witnessed:
                esper.remove_processor(ec.ResponseSystem)
                esper.add_processor(Witness(space), priority=101)
            log = []
            for dt in random_world.dts[:40]:
                random_world.shake(dt)
                esper.process(dt)
                log += [space.collision_array.tobytes(), space.positions().tobytes()]
            logs.append(log)
            esper.switch_world(home)
            esper.delete_world(f"{home} witnessed {witnessed}")

        assert logs[0] == logs[1], number


# The same step in parts ----------------------------------------------------------------


def state_of(entities):
    """Return what a step changes, of all entities that move."""
    found = {}
    for entity in entities:
        for kind in (ec.Position, ec.Velocity, ec.Growth, ec.Extents):
            component = esper.try_component(entity, kind)
            if component is not None:
                found[entity, kind] = (component.x, component.y, component.z)
    return found


def restore(state, dim):
    for (entity, kind), vector in state.items():
        esper.component_for_entity(entity, kind).set(*vector[:dim])


def shrinks_to_nothing(random_world, dt):
    """Return whether a half size comes to 0 in a step: its growth is then made to fit the step."""
    for entity in random_world.movers:
        growth = esper.try_component(entity, ec.Growth)
        half = esper.component_for_entity(entity, ec.Extents)
        if growth is not None and min(half.x, half.y) + min(growth.x, growth.y) * dt < 0.0:
            return True
    return False


def whole_and_parts(random_world, dt, n_parts):
    """Take a step whole and in parts from the same state; return both lists of impacts.

    An impact is (time, first, second, normal), its time in the whole step.  Those
    that would close by less than the slop in a whole step are skipped.  None
    where a limit was reached, that of resolutions in one instant too.
    """
    space = random_world.space
    slop = 4 * SLOP * (random_world.offset + 40.0)
    lists = []
    state = state_of(random_world.movers)
    for parts in (1, n_parts):
        restore(state, random_world.dim)
        found = []
        for part in range(parts):
            esper.process(dt / parts)
            if limits_of(space) or most_in_one_instant(space) > INSTANT_LIMIT:
                return None
            found += [
                ((part + hit.time) / parts, hit.first, hit.second, hit.normal)
                for hit in space.collisions
                if hit.outcome is not ec.Outcome.STOPPED_ALREADY and hit.closing_speed * dt > slop
            ]
        lists.append(found)
    return lists


def first_open_tie(impacts, near, movers):
    """Return when two impacts that share a mover are first due within `near`: either may win."""
    for n, (time, *pair, _) in enumerate(impacts):
        for other, *others, _ in impacts[n + 1 :]:
            if other - time > near:
                break
            if pair != others and movers.intersection(pair).intersection(others):
                return time - near
    return 2.0


def compare_parts(whole, parts, near, movers):
    """Compare two lists of impacts: the same ones, within `near`, in the same order up to ties.

    The n-th impact of a pair in one is its n-th in the other.  Two impacts that
    stand the other way round in the other list are no further apart than `near`.
    Where two such share a body, what follows may differ: nothing is said about it,
    and False is returned.
    """

    def numbered(impacts):
        seen = Counter()
        found = {}
        for place, (time, *what) in enumerate(impacts):
            seen[tuple(what)] += 1
            found[*what, seen[tuple(what)]] = (place, time)
        return found

    end = min(first_open_tie(impacts, near, movers) for impacts in (whole, parts))
    one, other = numbered(whole), numbered(parts)
    try:
        for what in one.keys() ^ other.keys():  # due at the very end: maybe in the next step
            assert (one.get(what) or other[what])[1] > 1 - near, what
        both = one.keys() & other.keys()
        for what in both:
            assert abs(other[what][1] - one[what][1]) <= near, what
        order = sorted(both, key=lambda what: other[what][0])
        for a, b in itertools.pairwise(order):
            if one[a][0] > one[b][0]:
                assert one[a][1] - one[b][1] <= near, (a, b)
    except AssertionError:
        if end > 1.0:
            raise
        early = [[hit for hit in impacts if hit[0] < end - near] for impacts in (whole, parts)]
        compare_parts(*early, near, movers)
        return False
    return True


@pytest.mark.slow_in_python
@pytest.mark.parametrize("n_parts", [2, 3, 7])
def test_a_step_in_parts_has_the_same_impacts(n_parts, choose_worlds):
    n_steps = n_impacts = n_open = 0
    for number in choose_worlds(4, 24, 360):
        random_world = RandomWorld(number)
        random_world.space = ec.install(dim=random_world.dim)
        near = 1e-9 if random_world.offset == 0.0 else FAR_NEAR
        for step, dt in enumerate(random_world.dts):
            random_world.shake(dt)
            if step % 4 != n_parts % 4 or shrinks_to_nothing(random_world, dt):
                esper.process(dt)
                continue
            lists = whole_and_parts(random_world, dt, n_parts)
            if lists is None:
                continue
            n_steps += 1
            n_impacts += len(lists[0])
            try:
                n_open += not compare_parts(*lists, near, set(random_world.movers))
            except AssertionError as wrong:
                raise AssertionError(f"world {number}, step {step} of {dt} s") from wrong

    assert n_impacts > n_steps
    assert n_open <= n_steps / 50


# Limits --------------------------------------------------------------------------------


@pytest.mark.slow_in_python
@pytest.mark.parametrize("pair_limit", [1, 2])
def test_a_step_that_comes_to_a_limit_is_the_exact_one(pair_limit, choose_worlds):
    tally = Tally()
    n_hits = n_exact = 0
    for number in choose_worlds(4, 12, 72):
        # On the grid, where most can be compared bit for bit.
        random_world = RandomWorld(number + 24 + number // 24 * 24)
        space = ec.install(ec.Space(dim=random_world.dim, pair_limit=pair_limit))
        for step in range(5):
            random_world.shake(1.0)
            bodies = read_bodies(random_world.dim)
            esper.process(1.0)
            n_hits += bool(limits_of(space))
            try:
                step_tally = compare_step(bodies, 1.0, space, pair_limit=pair_limit)
            except AssertionError as wrong:
                raise AssertionError(f"world {number}, step {step}") from wrong
            tally += step_tally
            n_exact += bool(limits_of(space)) and step_tally.exact_steps

    print(tally, n_hits, n_exact)
    assert n_hits > tally.steps / 20
    assert n_exact > n_hits / 20
    assert tally.cut_short <= n_hits


def test_a_paddle_gives_what_it_must_and_no_more(volume):
    # Decimals, so that u - e·(v - u) is rounded: against a kinematic body.
    rng = random.Random(4)
    n_paddles = volume(100, 200, least=50)
    for n in range(n_paddles):
        mover((0, 10 * n), (1, 1), (rng.uniform(1, 9), 0), ec.Deflect(rng.choice([1, 0.9, 0.3])))
        mover((4, 10 * n), (1, 1), (rng.uniform(-9, -1), 0))
    _, witness = install_witness(2)

    esper.process(1.0)

    assert witness.n_held == n_paddles
