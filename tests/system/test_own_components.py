"""Games that have components of their own: other names, corners, whole sizes, one class for all."""

from __future__ import annotations

import copy
import random
from dataclasses import dataclass

import esper
import numpy as np
import pytest

import ecs_collide as ec
from tests.scenes import another_world

pytestmark = pytest.mark.usefixtures("world", "implementation")


@dataclass
class Place:
    x: float
    y: float


class Speed:
    __slots__ = ("dx", "dy")

    def __init__(self, dx: float, dy: float) -> None:
        self.dx, self.dy = dx, dy


@dataclass
class Size:
    w: float
    h: float


@dataclass
class Rect:
    """Everything in one, as sprites have it: a corner, whole sizes and a speed."""

    left: float
    top: float
    width: float
    height: float
    vx: float = 0.0
    vy: float = 0.0


@dataclass
class Weight:
    kg: float


HALVES = ec.Components(position=Place, velocity=(Speed, "dx", "dy"), extents=(Size, "w", "h"))
CORNERS = ec.Components(
    position=Place,
    velocity=(Speed, "dx", "dy"),
    extents=(Size, "w", "h"),
    mass=(Weight, "kg"),
    whole_sizes=True,
    anchor=(0, 0),
)
RECTS = ec.Components(
    position=(Rect, "left", "top"),
    extents=(Rect, "width", "height"),
    velocity=(Rect, "vx", "vy"),
    whole_sizes=True,
    anchor=(0, 0),
)


def room(seed=1, n=14):
    """Return bodies of a closed room: centre, half sizes, velocity or None, response, mass."""
    rng = random.Random(seed)
    bodies = [((x, y), (w, h), None, None, None) for x, y, w, h in (
        (-1.0, 20.0, 1.0, 24.0), (41.0, 20.0, 1.0, 24.0),
        (20.0, -1.0, 24.0, 1.0), (20.0, 41.0, 24.0, 1.0),
    )]  # fmt: skip
    for i in range(n):
        centre = (4.0 + 8.0 * (i % 5), 4.0 + 8.0 * (i // 5))
        half = (rng.choice([0.5, 1.0, 1.5]), rng.choice([0.5, 1.0, 1.5]))
        response = rng.choice([ec.Deflect, ec.Slide, ec.Push, ec.Stop])
        bodies.append((centre, half, (rng.randint(-60, 60), rng.randint(-60, 60)), response, 2.0))
    return bodies


def make_usual(centre, half, velocity, response, mass):
    parts = [ec.Position(*centre), ec.Extents(*half)]
    if velocity is not None:
        parts += [ec.Velocity(*velocity), response(), ec.Mass(mass)]
    return esper.create_entity(*parts)


def make_halves(centre, half, velocity, response, mass):
    parts = [Place(*centre), Size(*half)]
    if velocity is not None:
        parts += [Speed(*velocity), response(), ec.Mass(mass)]
    return esper.create_entity(*parts)


def make_corners(centre, half, velocity, response, mass):
    corner = [c - h for c, h in zip(centre, half, strict=True)]
    parts = [Place(*corner), Size(2 * half[0], 2 * half[1])]
    if velocity is not None:
        parts += [Speed(*velocity), response(), Weight(mass)]
    return esper.create_entity(*parts)


def make_rects(centre, half, velocity, response, mass):
    corner = [c - h for c, h in zip(centre, half, strict=True)]
    parts = [Rect(*corner, 2 * half[0], 2 * half[1], *(velocity or ()))]
    if velocity is not None:
        parts += [response(), ec.Mass(mass)]
    return esper.create_entity(*parts)


def run(make, components, n_steps=60):
    """Run the room in a world of its own; return the events, centres and velocities."""
    with another_world(f"own {make.__name__}"):
        entities = [make(*body) for body in room()]
        space = ec.install(components=components)
        log = []
        for _ in range(n_steps):
            esper.process(1 / 60)
            log += [
                (hit.first, hit.second, hit.time, hit.normal, hit.position_first)
                for hit in space.collisions
            ]
        return log, space.positions(entities), space.velocities(entities)


@pytest.mark.parametrize(
    ("make", "components"),
    [(make_halves, HALVES), (make_corners, CORNERS), (make_rects, RECTS)],
)
def test_own_components_do_what_the_usual_ones_do(make, components):
    expected, centres, velocities = run(make_usual, None)

    log, own_centres, own_velocities = run(make, components)

    assert log == expected
    assert len(log) > 20
    assert own_centres.tolist() == centres.tolist()
    assert own_velocities.tolist() == velocities.tolist()


def test_they_are_written_in_place():
    place, speed = Place(0.0, 5.0), Speed(0.0, -240.0)
    esper.create_entity(place, Size(2.0, 2.0), speed, ec.Slide())
    esper.create_entity(Place(-10.0, -2.0), Size(20.0, 2.0))
    space = ec.install(components=CORNERS)

    esper.process(1 / 60)

    assert (place.x, place.y) == (0.0, 1.0)
    assert (speed.dx, speed.dy) == (0.0, -240.0)
    esper.process(1 / 60)
    assert (place.x, place.y) == (0.0, 0.0)
    assert (speed.dx, speed.dy) == (0.0, 0.0)
    assert len(space.collisions) == 1


def test_what_the_game_sets_is_a_corner_and_what_the_space_sets_a_centre():
    place, size = Place(0.0, 0.0), Size(2.0, 4.0)
    box = esper.create_entity(place, size, Speed(6.0, 0.0), ec.Slide())
    space = ec.install(components=CORNERS)
    esper.process(0.5)
    assert space.bounds(box) == ((3.0, 0.0), (5.0, 4.0))
    assert space.interpolated_of(box, 0.5) == (2.5, 2.0)

    place.x = 100.0
    esper.process(0.0)
    assert space.interpolated_of(box, 0.5) == (101.0, 2.0)
    assert space.bounds(box) == ((100.0, 0.0), (102.0, 4.0))
    size.h = 2.0  # it crouches, and keeps its corner
    esper.process(0.0)
    assert space.bounds(box) == ((100.0, 0.0), (102.0, 2.0))
    space.teleport(box, (10.0, 10.0))

    assert (place.x, place.y) == (9.0, 9.0)


def test_what_rests_is_not_moved_by_its_corner():
    """0.1 and 0.7 are no halves of anything: a corner that is computed again would creep."""
    place = Place(0.1, 0.7)
    esper.create_entity(place, Size(0.3, 0.3), Speed(0.0, -1.0), ec.Slide())
    esper.create_entity(Place(-1.0, 0.4), Size(3.0, 0.3))
    space = ec.install(components=CORNERS)
    esper.process(1 / 60)
    after = copy.copy(place)
    centre = space.positions()

    for _ in range(300):
        space.set_velocities(space.entities[:1], [(0.0, -1.0)])
        esper.process(1 / 60)

    assert place == after
    assert (space.positions() == centre).all()


def test_growing_boxes_write_their_sizes_and_corners():
    rect = Place(0.0, 0.0)
    size = Size(2.0, 2.0)
    esper.create_entity(rect, size, ec.Growth(1.0, 0.0))
    ec.install(components=CORNERS)

    esper.process(0.5)

    assert (size.w, size.h) == (3.0, 2.0)
    assert (rect.x, rect.y) == (-0.5, 0.0)


@pytest.mark.parametrize("anchor", [(0.5, 0.5), (0.0, 1.0), (0.25, 0.75)])
def test_any_point_of_a_box_may_be_its_position(anchor):
    components = ec.Components(position=Place, extents=(Size, "w", "h"), anchor=anchor)
    place = Place(10.0, 20.0)
    box = esper.create_entity(place, Size(2.0, 4.0), ec.Velocity(8.0, 0.0), ec.Slide())
    space = ec.install(components=components)

    esper.process(0.5)

    left, bottom = 14.0 - 4.0 * anchor[0], 20.0 - 8.0 * anchor[1]
    assert (place.x, place.y) == (14.0, 20.0)
    assert space.bounds(box) == ((left, bottom), (left + 4.0, bottom + 8.0))


def test_responses_of_the_game_see_and_set_them():
    seen = []

    def bounce_up(impact):
        seen.append((place.x, place.y, impact.velocity(ball)))
        impact.set_velocity(ball, (0.0, 90.0))

    place, speed = Place(-1.0, 5.0), Speed(0.0, -600.0)
    ball = esper.create_entity(place, Size(2.0, 2.0), speed, Weight(1.0))
    esper.create_entity(Place(-10.0, -2.0), Size(20.0, 2.0))
    space = ec.install(components=CORNERS)
    space.respond_with(Weight, bounce_up)

    esper.process(1 / 60)

    assert seen == [(-1.0, 0.0, (0.0, -600.0))]
    assert (speed.dx, speed.dy) == (0.0, 90.0)
    assert (place.x, place.y) == pytest.approx((-1.0, 0.75))


def test_wrong_numbers_are_named_as_the_game_names_them():
    size = Size(2.0, 2.0)
    box = esper.create_entity(Place(0.0, 0.0), size, Speed(float("nan"), 0.0), ec.Slide())
    space = ec.install(components=CORNERS)

    with pytest.warns(RuntimeWarning, match=rf"entity {box} .* Speed\.dx is nan"):
        esper.process(1 / 60)

    assert space.reports[0].field == "Speed.dx"
    size.w = "wide"
    with pytest.raises(TypeError, match=rf"entity {box}: Size\.w is 'wide'"):
        esper.process(1 / 60)


def test_a_component_of_three_roles_comes_and_goes():
    rect = Rect(0.0, 0.0, 2.0, 2.0, 6.0, 0.0)
    box = esper.create_entity(rect)
    space = ec.install(components=RECTS)
    esper.process(0.5)
    assert rect.left == 3.0

    esper.remove_component(box, Rect)
    esper.process(0.5)
    assert box not in space
    other = Rect(7.0, 0.0, 2.0, 2.0, 6.0, 0.0)
    esper.add_component(box, other)
    esper.process(0.5)

    assert (rect.left, other.left) == (3.0, 10.0)


def test_two_worlds_may_have_different_ones(world):
    esper.create_entity(Place(0.0, 0.0), Size(2.0, 2.0))
    ec.install(components=CORNERS)
    esper.process(1 / 60)
    with another_world("another"):
        usual = esper.create_entity(ec.Position(0, 0), ec.Extents(1, 1))
        space = ec.install()
        esper.process(1 / 60)

        assert space.entities == [usual]


def test_install_again_says_when_they_differ():
    space = ec.install(components=CORNERS)

    assert ec.install() is space
    assert ec.install(components=CORNERS) is space
    with pytest.raises(ValueError, match="other arguments"):
        ec.install(components=HALVES)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"position": "Place"}, "position='Place' must be a type of component"),
        ({"velocity": (Speed, 1, 2)}, "must name the attributes"),
        ({"velocity": (Speed,)}, "must name the attributes"),
        ({"mass": (Weight, "kg", "g")}, "must name one attribute"),
        ({"anchor": (0, 2)}, "from 0, the lesser side of a box, to 1"),
        ({"position": (Rect, "left", "top"), "velocity": (Rect, "left", "vy")}, "Rect.left plays"),
        *(
            ({"position": (Place, name, "y")}, "must name the attributes")
            for name in ("pos.", ".x", "pos[3]", "pos[x]", "a.b.c", "2x", "pos[0", 3)
        ),
        (
            {"position": (Place, "pos"), "velocity": (Place, "pos[0]", "y")},
            r"Place\.pos\[0\] plays",
        ),
        ({"position": object()}, "position=<object .* must be a type of component"),
        ({"position": ()}, r"position=\(\) must be a type of component"),
        ({"anchor": "centre"}, "anchor='centre' must be from 0"),
        ({"anchor": 0}, "anchor=0 must be from 0"),
    ],
)
def test_what_cannot_be_is_refused(given, message):
    with pytest.raises((TypeError, ValueError), match=message):
        ec.Components(**given)


def test_a_space_needs_as_many_names_and_anchors_as_axes():
    with pytest.raises(ValueError, match="must name 3 attributes in a space of 3 axes"):
        ec.Space(dim=3, components=ec.Components(velocity=(Speed, "dx", "dy")))
    with pytest.raises(ValueError, match="must have 3 axes"):
        ec.Space(dim=3, components=ec.Components(anchor=(0, 0)))
    with pytest.raises(TypeError, match=r"must be an ecs_collide\.Components"):
        ec.Space(components={"position": Place})


def test_they_say_what_they_are():
    assert repr(ec.Components()) == "Components()"
    assert repr(CORNERS) == (
        "Components(position=Place, extents=(Size, 'w', 'h'), velocity=(Speed, 'dx', 'dy'), "
        "mass=(Weight, 'kg'), whole_sizes=True, anchor=(0.0, 0.0))"
    )
    assert ec.Components() == ec.Components(anchor=None)
    assert len({ec.Components(), ec.Components(), HALVES}) == 2
    assert np.isscalar(CORNERS.anchor[0])


@pytest.mark.parametrize("has_vectors", [False, True])
def test_update_finds_bodies_whose_place_and_size_are_in_one_component(has_vectors):
    class Box:
        def __init__(self, x, y):
            self.x, self.y, self.w, self.h = x, y, 4.0, 4.0
            self.pos, self.size = [x, y], [4.0, 4.0]

    names = (("pos",), ("size",)) if has_vectors else (("x", "y"), ("w", "h"))
    moved, new = Box(20.0, 40.0), Box(60.0, 40.0)
    first = esper.create_entity(moved)
    space = ec.install(
        components=ec.Components(position=(Box, *names[0]), extents=(Box, *names[1]))
    )
    esper.process(0.0)
    second = esper.create_entity(new)
    moved.x = moved.pos[0] = 30.0

    space.update()

    assert space.query((32, 40), (58, 40)) == [first, second]
    assert space.bounds(first) == ((26, 36), (34, 44))


class Ball:
    def __init__(self, radius):
        self.radius = radius


BALLS = ec.Components(extents=(Ball, "radius", "radius"))


def test_one_attribute_may_be_the_size_on_both_axes():
    body = esper.create_entity(ec.Position(0, 0), Ball(2.0), ec.Velocity(10, 0), ec.Stop())
    esper.create_entity(ec.Position(8, 0), Ball(3.0))
    space = ec.install(components=BALLS)
    esper.process(1.0)
    assert space.position_of(body) == (3, 0)

    space.set_extents([body], [(2.5, 2.5)])
    esper.process(0.0)

    assert space.bounds(body) == ((0.5, -2.5), (5.5, 2.5))


def test_different_sizes_in_one_attribute_are_refused():
    body = esper.create_entity(ec.Position(0, 0), Ball(2.0))
    space = ec.install(components=BALLS)
    for change in (
        lambda: space.set_extents([body], [(1, 2)]),
        lambda: space.resize(body, height=2),
    ):
        with pytest.raises(ValueError, match=r"entity 1: Ball\.radius is its size on several axes"):
            change()
    esper.process(0.0)
    assert space.bounds(body) == ((-2, -2), (2, 2))

    other = esper.create_entity(ec.Position(9, 0), Ball(2.0))
    for entity in (other, body):  # the error names the lower one
        esper.add_component(entity, ec.Growth(1, 1))
    for _ in range(2):
        with pytest.raises(ValueError, match=r"entity 1 has Growth, and Ball\.radius is its size"):
            esper.process(0.0)
    esper.remove_component(body, ec.Growth)
    esper.remove_component(other, ec.Growth)
    esper.process(0.0)
