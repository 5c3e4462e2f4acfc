"""Worlds that close in rings: Asteroids, the tunnel of Pac-Man, what meets across an edge."""

from __future__ import annotations

import random

import esper
import pytest

import ecs_collide as ec
from tests.scenes import SLOP, Falls, Gravity, box, mover, position, set_velocity, velocity

pytestmark = pytest.mark.usefixtures("world", "implementation")

W, H = 320.0, 240.0


def wrapped_space(*wrap, **settings):
    """Install a space that wraps; by default on both axes of a 320 x 240 world."""
    return ec.install(ec.Space(wrap=wrap or (W, H), **settings))


def gaps_around(one, two, wrap):
    """Return the gap of each axis at the nearest images, by where the boxes are."""
    gaps = []
    for (low, high), (low2, high2), width in zip(
        zip(*one, strict=True), zip(*two, strict=True), wrap, strict=True
    ):
        off = 0.0 if width is None else width * round(((low2 + high2) - (low + high)) / 2 / width)
        gaps.append(max(low2 - off - high, low - (high2 - off)))
    return gaps


# -- what the space says of itself --


def test_a_space_tells_how_it_wraps():
    assert ec.Space().wrap is None
    assert ec.Space(wrap=(None, None)).wrap is None
    assert ec.Space(wrap=[320, None]).wrap == (320.0, None)
    with pytest.raises(AttributeError):
        ec.Space(wrap=(320, 240)).wrap = None
    space = ec.install(wrap=(320, 240))
    assert space.wrap == (320.0, 240.0)
    assert ec.install() is ec.install(wrap=(320, 240)) is space
    with pytest.raises(ValueError, match="other arguments"):
        ec.install(wrap=(320, None))


@pytest.mark.parametrize(
    ("wrap", "error", "text"),
    [
        ((320,), ValueError, "must have 2 entries"),
        (320, TypeError, "must have 2 entries"),
        ("ab", ValueError, "must have 2 entries"),
        ((320, 0), ValueError, "width on y is 0"),
        ((-1, None), ValueError, "within 2"),
        ((float("inf"), None), ValueError, "width on x is inf"),
        ((float("nan"), None), ValueError, "width on x is nan"),
        ((320, "b"), TypeError, "the y entry is 'b'"),
        ((True, None), TypeError, "the x entry is True"),
    ],
)
def test_widths_that_are_none_are_refused(wrap, error, text):
    with pytest.raises(error, match=text):
        ec.Space(wrap=wrap)


def test_install_refuses_another_wrap_than_that_of_its_space():
    with pytest.raises(ValueError, match=r"install\(wrap="):
        ec.install(ec.Space(wrap=(320, 240)), wrap=(320, None))


# -- where bodies are --


def test_what_leaves_at_one_edge_comes_in_at_the_other():
    bodies = [mover((4, 4), (2, 2), v) for v in ((-8, 0), (0, -8), (8, 8), (-8 - 2 * W, 8 + 3 * H))]
    space = wrapped_space()

    esper.process(1.0)

    assert [position(body) for body in bodies] == [(316, 4), (4, 236), (12, 12), (316, 12)]
    assert space.positions().tolist() == [list(position(body)) for body in bodies]
    space.check()


@pytest.mark.parametrize("motion", ["velocity", "swept"])
@pytest.mark.parametrize("parts", [(), (ec.Velocity(0, 0),), (ec.Slide(),)])
def test_a_body_that_the_game_puts_outside_is_inside_after_the_next_step(motion, parts):
    body = box((W + 5, -3 - 2 * H), (2, 2), *parts)
    space = wrapped_space(motion=motion)

    esper.process(1.0)
    assert position(body) == (5, H - 3)
    esper.component_for_entity(body, ec.Position).xy = (7 - 3 * W, 2)
    esper.process(1.0)

    assert position(body) == (7, 2)
    assert space.query_point((7, 2)) == [body]
    space.check()


def test_just_below_zero_is_zero():
    body = mover((1e-20, 1), (0, 1), (-2e-20, 0))
    wrapped_space()

    esper.process(1.0)

    assert position(body) == (0.0, 1.0)


def test_own_components_with_corners_wrap_by_their_centres():
    class Rect:
        __slots__ = ("h", "w", "x", "y")

        def __init__(self, x, y, w, h):
            self.x, self.y, self.w, self.h = x, y, w, h

    rect = Rect(310.0, 10.0, 16.0, 8.0)
    esper.create_entity(rect, ec.Velocity(4, 0))
    still = Rect(318.0, 50.0, 16.0, 8.0)
    esper.create_entity(still)
    components = ec.Components(
        position=(Rect, "x", "y"), extents=(Rect, "w", "h"), whole_sizes=True, anchor=(0, 0)
    )
    ec.install(ec.Space(wrap=(W, None), components=components))

    esper.process(1.0)

    assert (rect.x, still.x) == (-6.0, -2.0)  # the corners; the centres are in the world


# -- what is too large, or too fast --


def test_a_body_that_is_wider_than_the_world_is_skipped():
    wide, fine = box((0, 0), (W / 2 + 1, 1)), box((0, 0), (W / 2, 500))
    space = wrapped_space(W, None)

    with pytest.warns(RuntimeWarning, match=r"Extents.x is 161.0, it must be at most 160.0.*320"):
        esper.process(1.0)

    assert [report.entity for report in space.reports] == [wide]
    assert "160.0" in str(space.doctor()[0]) or "quarantined" in str(space.doctor()[0])
    assert space.query((0, 0), (1, 1)) == [fine]
    esper.component_for_entity(wide, ec.Extents).x = 3.0
    esper.process(1.0)
    assert space.query((0, 0), (1, 1)) == [wide, fine]


def test_a_body_that_goes_around_too_often_is_skipped_until_it_is_slower():
    body = mover((0, 0), (1, 1), (64 * W * 60 + 60, 0))
    space = wrapped_space()

    with pytest.warns(RuntimeWarning, match="not lead more than 64 times around the world, 320.0"):
        esper.process(1 / 60)
    esper.process(1 / 60)  # told once
    assert position(body) == (0, 0)
    assert [report.field for report in space.reports] == ["Velocity.x"]
    set_velocity(body, 64 * W * 60, 0)
    esper.process(1 / 60)

    assert position(body) == (0, 0)
    assert space.query_point((1, 1)) == [body]


def test_a_body_that_would_grow_wider_than_the_world_is_skipped():
    growing = box((0, 0), (150, 1), ec.Growth(11, 0))
    space = wrapped_space()

    with pytest.warns(RuntimeWarning, match="Growth.x is 11.* wider than the world"):
        esper.process(1.0)

    assert [report.entity for report in space.reports] == [growing]


# -- meeting --


@pytest.mark.parametrize("far", [20, 3 * W])
@pytest.mark.parametrize("decides", ["Filter", "filter_pairs"])
def test_a_filter_decides_also_after_a_bounce_towards_the_edge(far, decides):
    #
    #        0     ghost                    wall  ball     W
    #        |    +-----+                    |  <-+---+    |
    #        +- - | - - | - - - - - - - - - -|- - - - - - -+
    #
    ghost = box((3, 9), (1, 1))
    wall = box((W - 11, 9), (1, 5))
    ball = mover((W - 5, 9), (1, 1), (-far, 0), ec.Deflect())
    space = wrapped_space()
    if decides == "Filter":
        esper.add_component(ghost, ec.Filter("ghost"))
        esper.add_component(ball, ec.Filter("ball", mask="default"))
    else:
        space.filter_pairs(lambda one, other: {one, other} != {ghost, ball})

    esper.process(1.0)

    assert {(hit.first, hit.second) for hit in space.collisions} == {(wall, ball)}


def test_no_body_collides_with_its_own_image():
    for y, parts in ((20, (ec.Deflect(),)), (60, (ec.Slide(),)), (100, (ec.Sensor(),)), (140, ())):
        mover((100, y), (W / 2, 5), (3 * W, 0), *parts)
    space = wrapped_space()

    for _ in range(5):
        esper.process(1.0)
        assert not space.collisions
        assert not space.contacts()


def test_a_paddle_of_the_game_beyond_the_edge_is_the_one_inside():
    ball = mover((300, 10), (1, 1), (64, 0), ec.Deflect())
    paddle = mover((W + 9, 10), (2, 8), (0, 0))  # the game has put it outside
    space = wrapped_space()

    esper.process(1.0)

    (hit,) = space.collisions
    assert hit.other(ball) == paddle
    assert hit.position_second == (9, 10)
    assert hit.time == (26 / 64)
    assert position(paddle) == (9, 10)


# -- resting, walking, riding --


def test_a_walker_goes_around_over_tiles_for_thousands_of_steps_and_never_snags(volume):
    """The tunnel of Pac-Man: tiles of odd widths, one of them across the seam."""
    rng = random.Random(3)
    edges = sorted({0.0, *(rng.randrange(1, 3199) / 10 for _ in range(25))})
    for left, right in zip(edges, [*edges[1:], W], strict=True):
        middle = (left + right) / 2 + 3.7
        box((middle, -5.0 + rng.random() * 0.0), ((right - left) / 2, 5))
        box((middle, 25.0), ((right - left) / 2, 5))
    walker = mover((50, 10), (9.9, 9.9), (97.3, -50), ec.Slide(), Falls())
    esper.add_processor(Gravity(-900.0), priority=200)
    space = wrapped_space(W, None)

    n, rounds, before = volume(1000, 4000), 0, position(walker)[0]
    esper.process(1 / 60)
    for _ in range(n):
        before = position(walker)[0]
        esper.process(1 / 60)
        x, y = position(walker)
        assert velocity(walker) == (97.3, 0.0)
        assert y == 9.9
        assert {hit.normal_for(walker) for hit in space.collisions} == {(0.0, 1.0)}
        assert not any(hit.time for hit in space.collisions)
        rounds += x < before
        assert 0 <= x < W
    assert rounds == int(97.3 / 60 * (n + 1) / W + 50 / W)


def test_a_stack_across_the_edge_rests(volume):
    """Gravity along a wrapped axis: the floor lies below the edge, and the stack on both sides."""
    box((100, 228), (50, 4))
    crates = [
        mover((100, (236 + 8 * n) % H), (4, 4), (0, 0), ec.Slide(), Falls()) for n in range(4)
    ]
    esper.add_processor(Gravity(-500.0), priority=200)
    space = wrapped_space()

    esper.process(1 / 60)
    began = len(space.contacts_began)
    for _ in range(volume(100, 300)):
        esper.process(1 / 60)
        assert [position(crate)[1] for crate in crates] == [236, 4, 12, 20]
        assert not space.contacts_began
        assert not space.contacts_ended
    assert began == 4
    assert len(space.contacts()) == 4


@pytest.mark.slow_in_python
def test_a_lift_carries_its_load_over_the_edge_and_on():
    lift = mover((100, 200), (20, 2), (0, 30))
    crate = mover((110, 206), (4, 4), (0, -10), ec.Slide(), Falls())
    esper.add_processor(Gravity(-500.0), priority=200)
    space = wrapped_space()
    began, ended = [], []
    space.on_contact_began(began.append)
    space.on_contact_ended(ended.append)

    for _ in range(600):
        esper.process(1 / 60)
        gap = (position(crate)[1] - position(lift)[1]) % H - 6
        assert abs(gap) <= SLOP * H
    assert len(began) == 1
    assert not ended
    assert abs(position(lift)[1] - (200 + 300) % H) < 1e-9


@pytest.mark.slow_in_python
@pytest.mark.parametrize("way", [1.0, -1.0])
def test_a_contact_that_drifts_over_the_edge_begins_and_ends_once(way, volume):
    one = mover((20, 20), (4, 4), (way * 33.3, 0), ec.Slide())
    two = mover((28, 20), (4, 4), (way * 33.3, 0), ec.Slide())
    sensor = mover((25, 21), (6, 1), (way * 33.3, 0), ec.Sensor())
    rider = mover((25, 29), (2, 5), (way * 33.3, 0), ec.Slide())
    space = wrapped_space()
    began, ended = [], []
    space.on_contact_began(began.append)
    space.on_contact_ended(ended.append)

    n_steps = volume(700, 1500, least=700)  # 11 s: more than once around
    for _ in range(n_steps):
        esper.process(1 / 60)

    pairs = [(contact.first, contact.second) for contact in began]
    assert sorted(pairs) == [
        (one, two), (one, sensor), (one, rider), (two, sensor), (two, rider),
    ]  # fmt: skip
    assert not ended
    space.check()
