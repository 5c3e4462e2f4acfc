"""Bodies that the game puts a hair into others, by rounding, are put flush before the step."""

from __future__ import annotations

import math
import random
import struct

import esper
import pytest

import ecs_collide as ec
from ecs_collide._kernel.constants import HAIR
from ecs_collide.character import Character
from tests.scenes import box, in_a_world, mover, position, velocity

pytestmark = pytest.mark.usefixtures("world", "implementation")

N = 12  # tiles


def short(number):
    """Return a number rounded to 32 bits."""
    return struct.unpack("<f", struct.pack("<f", number))[0]


class Row:
    """A row of tiles along an axis, with its open faces at 0, and a body that goes along it."""

    def __init__(self, depth, *, up=1, sign=1, dim=2, order=1, parts=(), late=False):
        self.up, self.sign, self.dim = up, sign, dim
        self.ahead = 1 - up
        if not late:
            self.lay(order, parts)
        place = self.vector(-30, 9.9 - depth)
        self.body = mover(place, self.size(6, 9.9), (0,) * dim, ec.Slide())
        if late:
            self.lay(order, parts)
        self.space = ec.install(dim=dim, gravity=self.vector(0, -900))

    def vector(self, along, above):
        place = [0.0] * self.dim
        place[self.ahead], place[self.up] = along, self.sign * above
        return tuple(place)

    def size(self, along, high):
        half = [5.0] * self.dim
        half[self.ahead], half[self.up] = along, high
        return tuple(half)

    def lay(self, order, parts):
        for n in range(-3, N)[::order]:
            box(self.vector(16 * n + 8, -8), self.size(8, 8), *parts)

    def walk(self, rate=60, restores=False):
        """Walk for a second; return the way along the row, and the distance from it."""
        for _ in range(rate):
            esper.component_for_entity(self.body, ec.Velocity).set(*self.vector(90, 0))
            esper.process(1 / rate)
            if restores:
                self.space.restore(self.space.snapshot())
        place = position(self.body, self.dim)
        return place[self.ahead] + 30, place[self.up] * self.sign - 9.9


@pytest.mark.parametrize("depth", [1e-12, 1e-10, 1e-8, 2e-6])
@pytest.mark.parametrize(
    "how",
    [
        {},
        {"up": 0},
        {"sign": -1},
        {"up": 0, "sign": -1, "order": -1},
        {"dim": 3},
        {"parts": (ec.Fixed(),), "order": -1},
        {"parts": (ec.OneWay(),), "late": True},
        {"late": True},
    ],
)
@pytest.mark.parametrize("rate", [30, 144])
def test_body_that_begins_a_hair_inside_a_row_of_tiles_does_not_stick(depth, how, rate):
    row = Row(depth, **how)
    box(row.vector(0, 9.9), row.size(300, 9.9), ec.Sensor())  # it holds nothing

    way, above = row.walk(rate)

    assert way == pytest.approx(90, abs=1e-9)
    assert 0 <= above < 1e-14


@pytest.mark.parametrize("restores", [False, True])
def test_it_goes_on_alike_after_restores(restores):
    assert Row(1e-8).walk(restores=restores) == pytest.approx((90, 0), abs=1e-9)


@pytest.mark.parametrize("sign", [1, -1])
def test_it_is_flush_after_a_step_of_no_time(sign):
    row = Row(1e-7, sign=sign)

    esper.process(0.0)

    assert position(row.body) == (-30, sign * 9.9)
    assert not row.space.doctor()


def test_body_in_a_corner_is_put_out_of_both():
    box((0, -1), (20, 1))
    box((-11, 10), (1, 10))
    body = mover((-9 - 1e-9, 1 - 1e-7), (1, 1), (0, 0), ec.Slide())
    ec.install()

    esper.process(1.0)

    assert position(body) == (-9, 1)


def test_deeper_bodies_stay_where_they_are():
    limit = HAIR * 2
    for depth, is_put in ((0.9 * limit, True), (1.1 * limit, False)):
        esper.clear_database()
        box((0, -1), (9, 1))
        body = mover((0, 1 - depth), (1, 1), (0, 0), ec.Slide())
        ec.install()

        esper.process(1.0)

        assert position(body) == (0, 1 if is_put else 1 - depth)


def test_body_without_room_stays_where_it_is():
    box((0, -1), (9, 1))
    box((0, 3), (9, 1))
    body = mover((0, 1), (1, 1 + 1e-8), (0, 0), ec.Slide())
    other = mover((5, 1 - 1e-8), (1, 1), (0, 0), ec.Slide())  # its head is flush with the ceiling
    esper.component_for_entity(other, ec.Extents).y = 1 + 1e-8
    ec.install()

    esper.process(1.0)

    assert position(body) == (0, 1)
    assert position(other) == (5, 1 - 1e-8)


def test_wall_that_moves_or_what_may_not_meet_it():
    mover((0, -1), (9, 1), (0, 0), ec.Carry())
    on_lift = mover((0, 1 - 1e-8), (1, 1), (0, 0), ec.Slide())
    locked = mover((4, 1 - 1e-8), (1, 1), (0, 0), ec.Slide(), ec.LockedAxes(y=True))
    ghost = mover((7, 1 - 1e-8), (1, 1), (0, 0), ec.Slide(), ec.Filter(2, mask=2))
    ec.install()

    esper.process(1.0)

    assert position(on_lift) == (0, 1)
    assert position(locked) == (4, 1 - 1e-8)
    assert position(ghost) == (7, 1 - 1e-8)


@pytest.mark.parametrize("how", ["teleport", "resize", "tile", "put"])
def test_later_changes_count_too(how):
    row = Row(0.0)
    row.walk(10)
    body, at = row.body, position(row.body)
    if how == "teleport":
        row.space.teleport(body, (-30, 9.9 - 1e-9))
    elif how == "put":
        esper.component_for_entity(body, ec.Position).set(-30, 9.9 - 1e-9)
    elif how == "resize":
        esper.component_for_entity(body, ec.Extents).y = 9.9 + 1e-9
    else:
        box((at[0], -16 + 1e-9), (6, 16))
        for n in range(-20, 40):
            box((at[0] + 16 * n + 14, -16 + 1e-9), (8, 16))
    start = position(body)[0]

    row.walk(60)

    assert position(body)[0] - start == pytest.approx(90, abs=1e-6)


def test_character_at_places_of_32_bits_walks_at_all_of_them(volume):
    rng = random.Random(1)
    for _ in range(volume(10, 50)):
        esper.clear_database()
        tile, half = rng.choice([1.0, 0.7, 16.0]), rng.uniform(0.3, 2)
        left, floor = rng.uniform(-100, 100), rng.uniform(-50, 50)
        for n in range(20):
            place = short(left + tile * n), short(floor - tile / 2)
            box(place, (short(tile / 2), short(tile / 2)), ec.Fixed())
        hero = Character(walk_speed=8 * tile, acceleration=math.inf)
        place = short(left + 2 * tile), short(floor + short(half))
        body = mover(place, (short(0.3 * tile), short(half)), (0, 0), ec.Slide(), hero)
        ec.install()
        hero.walk = 1.0

        for _ in range(60):
            esper.process(1 / 60)

        assert position(body)[0] - place[0] == pytest.approx(8 * tile, rel=0.02)
        assert velocity(body)[0] == 8 * tile


def test_body_a_hair_inside_a_slope_is_put_onto_its_line():
    box((0, 50), (100, 50), ec.Slope("right"))
    body = mover((0, 65 - 1e-7), (6, 12), (0, 0), ec.Slide())
    ec.install()

    esper.process(1.0)

    assert position(body) == pytest.approx((0, 65), abs=1e-13)


@pytest.mark.parametrize("order", [1, -1])
def test_of_two_faces_the_farther_one_counts(order):
    depths = [1e-9, 1e-8][::order]
    box((-5, -1), (5, 1 + depths[0]))
    box((5, -1), (5, 1 + depths[1]))
    body = mover((0, 1), (1, 1), (0, 0), ec.Slide())
    ec.install()

    esper.process(1.0)

    assert position(body)[1] == pytest.approx(1 + 1e-8, abs=1e-15)


def test_one_way_platform_puts_out_on_its_solid_side_only():
    box((0, -1), (9, 1), ec.OneWay())
    above = mover((0, 1 - 1e-8), (1, 1), (0, 0), ec.Slide())
    below = mover((5, -3 + 1e-8), (1, 1), (0, 0), ec.Slide())
    ec.install()

    esper.process(1.0)

    assert position(above) == (0, 1)
    assert position(below) == (5, -3 + 1e-8)


KINDS = [
    {"up": up, "sign": sign, "dim": dim} for up in (0, 1) for sign in (1, -1) for dim in (2, 3)
]


class Pile(Row):
    """Crates a hair inside a floor, and boxes upon them that are flush with them."""

    def __init__(self, depths, upper, *, order=1, parts=(), **how):
        self.up, self.sign, self.dim = how.get("up", 1), how.get("sign", 1), how.get("dim", 2)
        self.ahead = 1 - self.up
        self.vectors = [self.vector(8 * n, 4 - depth) for n, depth in enumerate(depths)]
        self.vectors += [self.vector(*place) for place in upper]
        box(self.vector(0, -8), self.size(80, 8))
        rows = range(len(self.vectors))[::order]
        found = {n: self.crate(self.vectors[n], *parts) for n in rows}
        self.crates = [found[n] for n in sorted(found)]

    def crate(self, place, *parts):
        return mover(place, self.size(4, 4), (0,) * self.dim, ec.Slide(), *parts)

    def heights(self):
        return [position(crate, self.dim)[self.up] * self.sign for crate in self.crates]


@pytest.mark.parametrize("how", KINDS)
@pytest.mark.parametrize("order", [1, -1])
@pytest.mark.parametrize("restores", [False, True])
def test_what_stands_on_a_body_that_is_put_flush_moves_along(how, order, restores):
    hair = 1e-9
    pile = Pile([hair] * 4, [(0, 12 - hair), (0, 20 - hair)], order=order, **how)
    esper.component_for_entity(pile.crates[4], ec.Velocity).set(*pile.vector(8, 0))
    space = ec.install(dim=pile.dim)

    for _ in range(3):
        esper.process(0.5)
        if restores:
            space.restore(space.snapshot())

    assert pile.heights() == pytest.approx([4, 4, 4, 4, 12, 20], abs=1e-14)
    assert position(pile.crates[4], pile.dim)[pile.ahead] == 12
    assert not space.doctor()


@pytest.mark.parametrize("how", KINDS)
@pytest.mark.parametrize("order", [1, -1])
def test_the_deepest_of_the_bodies_below_counts(how, order):
    hair = 1e-9
    upper = [(0, 12 - hair), (8, 12 - 3 * hair), (4, 20 - hair)]  # like a wall of bricks
    pile = Pile([hair, 3 * hair], upper, order=order, **how)
    ec.install(dim=pile.dim)

    esper.process(0.5)

    heights = [4, 4, 12, 12, 20]
    assert pile.heights() == pytest.approx(heights, abs=1e-14)


@pytest.mark.parametrize("way", [1, -1])
@pytest.mark.parametrize("depths", [(2**-20, 2**-19), (2**-19, 2**-20), (2**-20, 2**-20)])
def test_which_of_two_between_walls_is_put_flush_depends_on_no_id(depths, way):
    #   |A B|  each is a hair inside its wall, and there is no room for both
    def ends(order):
        box((-25 * way, 0), (5, 50))
        box((25 * way, 0), (5, 50))
        halves = {"left": 10 + depths[0] / 2, "right": 10 + depths[1] / 2}
        places = {"left": -halves["left"] * way, "right": halves["right"] * way}
        made = {
            name: mover((places[name], 0), (halves[name], 5), (0, 0), ec.Slide()) for name in order
        }
        ec.install()
        esper.process(0)
        return [position(made[name])[0] * way for name in ("left", "right")]

    one, other = (
        in_a_world(str(order), lambda order=order: ends(order))
        for order in (("left", "right"), ("right", "left"))
    )

    assert one == other


@pytest.mark.parametrize("how", KINDS)
@pytest.mark.parametrize("side", [1, -1])
def test_a_body_pushes_others_from_where_the_last_one_has_put_it(how, side):
    hair = 2.0**-30
    pile = Pile([], [(0, 20 - 2 * hair), (0, 28 - 2 * hair)], **how)
    lowest = pile.vector(0, 4 - 4 * hair), pile.size(8, 4)
    higher = pile.vector(4 * side, 12 - 3.5 * hair), pile.size(4, 4 + hair / 2)
    lower = pile.vector(-4 * side, 12 - 2 * hair), pile.size(4, 4)
    pile.crates += [mover(*found, (0,) * pile.dim, ec.Slide()) for found in (lowest, higher, lower)]
    ec.install(dim=pile.dim)

    esper.process(0.5)

    assert pile.heights() == [20 + hair, 28 + hair, 4, 12 + hair / 2, 12]


@pytest.mark.parametrize("how", KINDS)
@pytest.mark.parametrize("hold", ["ceiling", "locked"])
def test_a_body_stays_as_it_was_where_what_stands_on_it_cannot_move(how, hold):
    hair = 1e-9
    locks = ec.LockedAxes(**{"xy"[how["up"]]: True})
    pile = Pile([], [(0, 12 - hair)], parts=[locks] if hold == "locked" else [], **how)
    if hold == "ceiling":
        box(pile.vector(0, 24 - hair), pile.size(80, 8))
    ec.install(dim=pile.dim)
    lower = pile.crate(pile.vector(0, 4 - hair))

    esper.process(0.5)

    assert pile.heights() == [12 - hair]
    assert position(lower, pile.dim) == pile.vector(0, 4 - hair)


@pytest.mark.parametrize("how", KINDS)
@pytest.mark.parametrize("restores", [False, True])
def test_sleeping_bodies_move_along_as_those_that_do_not_sleep(how, restores):
    hair = 1e-9

    def run(sleep):
        pile = Pile([], [(0, 12 - hair), (0, 20 - hair), (2, 28 - hair)], **how)
        space = ec.install(dim=pile.dim, sleep=sleep)
        for _ in range(32):
            esper.process(1 / 60)
        assert space.stats.asleep == (3 if sleep else 0)
        pile.crates.append(pile.crate(pile.vector(0, 4 - hair)))
        for _ in range(5):
            if restores:
                space.restore(space.snapshot())
            esper.process(1 / 60)
        return pile.heights(), space.contacts()

    heights, contacts = in_a_world("sleeping", lambda: run(True))

    assert heights == pytest.approx([12, 20, 28, 4], abs=1e-14)
    assert (heights, contacts) == in_a_world("awake", lambda: run(False))


@pytest.mark.parametrize("parts", [(ec.Filter(2, mask=2),), (ec.Sensor(),), (ec.Separate(),)])
def test_what_it_passes_through_does_not_move_along(parts):
    pile = Pile([], [(0, 12 - 1e-9)], parts=parts)
    lower = pile.crate((0, 4 - 1e-9), *parts[:1] if isinstance(parts[0], ec.Separate) else ())
    ec.install()

    esper.process(0.0)

    assert position(lower) == (0, 4)
    assert pile.heights() == [12 - 1e-9]


@pytest.mark.parametrize("how", ["disabled", "invalid", "replaced"])
@pytest.mark.parametrize("dim", [2, 3])
@pytest.mark.filterwarnings("ignore:entity")
def test_a_skipped_body_is_not_put_where_the_last_owner_of_its_row_was(how, dim):
    pile = Pile([1e-9], [], dim=dim)
    esper.delete_entity(1, immediate=True)  # the floor
    space = ec.install(dim=dim)
    (body,) = pile.crates
    esper.process(0.1)
    if how == "replaced":
        esper.add_component(body, ec.Disabled())
        esper.process(0.1)
        esper.add_component(body, ec.Position(*pile.vector(0, 58)))
        esper.add_component(body, ec.Extents(*pile.size(4, 4)))
    else:
        esper.delete_entity(body, immediate=True)
        esper.process(0.1)
        body = pile.crate(pile.vector(0, 58), *[ec.Disabled()] * (how == "disabled"))
        if how == "invalid":
            esper.component_for_entity(body, ec.Velocity).x = math.nan
    box(pile.vector(0, -8), pile.size(80, 8))

    for _ in range(2):
        esper.process(0.1)

        assert not space.collisions
        assert not space.contacts()
        assert position(body, dim) == pile.vector(0, 58)
    space.check()


@pytest.mark.parametrize("how", KINDS)
@pytest.mark.parametrize("clears", [False, True])
@pytest.mark.parametrize("is_new", [False, True])
def test_a_restore_puts_those_flush_that_the_original_run_did(how, clears, is_new):
    hair = 1e-9
    pile = Pile([hair], [], **how)
    ceiling = box(pile.vector(0, 16 - 3 * hair), pile.size(80, 8))
    space = ec.install(dim=pile.dim)
    esper.process(0.5)
    esper.delete_entity(ceiling, immediate=True)
    esper.process(0.5)
    if is_new:
        pile.crates.append(pile.crate(pile.vector(20, 4 - hair)))
    saved = space.snapshot()
    runs = []

    for _ in range(2):
        esper.process(0.5)
        runs.append((space.state_hash(), pile.heights()))
        if clears:
            esper.clear_database()
        space.restore(saved)

    assert runs[0] == runs[1]
    assert runs[0][1] == [4 - hair, 4][: len(pile.crates)]
