"""The components: data with a promise."""

import copy
import math
import pickle
import struct
from fractions import Fraction

import numpy as np
import pytest

import ecs_collide as ec
from ecs_collide.components.basics import (
    Deflect,
    Extents,
    Growth,
    Mass,
    Position,
    Push,
    Sensor,
    Slide,
    Stop,
    Velocity,
)

VECTORS = [Position, Extents, Velocity, Growth]
MARKERS = [Push, Slide, Stop, Sensor]
ONE_OF_EACH = [
    Position(1, 2),
    Extents(1, 2, 3),
    Velocity(-1, 2),
    Growth(0, -0.5),
    Mass(3),
    Deflect(0.5),
    *(kind() for kind in MARKERS),
]


def name_of(value):
    return type(value).__name__ if not isinstance(value, type) else value.__name__


@pytest.mark.parametrize("kind", VECTORS)
def test_vector_takes_numbers_by_place_and_by_name(kind):
    assert kind(1, 2).xyz == (1.0, 2.0, 0.0)
    assert kind(1, 2, 3).xyz == (1.0, 2.0, 3.0)
    assert kind(x=1, y=2, z=3).xyz == (1.0, 2.0, 3.0)
    assert kind(y=2, x=1).xy == (1.0, 2.0)


@pytest.mark.parametrize("kind", VECTORS)
@pytest.mark.parametrize(
    "number", [3, np.float32(3), np.int64(3), np.float64(3), Fraction(3), True + 2]
)
def test_vector_stores_floats_whatever_number_is_given(kind, number):
    vector = kind(number, number, number)

    assert [type(part) for part in vector.xyz] == [float] * 3
    assert vector.xyz == (3.0, 3.0, 3.0)


@pytest.mark.parametrize("kind", VECTORS)
def test_set_keeps_z_where_it_is_skipped(kind):
    vector = kind(1, 2, 3)

    vector.set(4, 5)
    assert vector.xyz == (4.0, 5.0, 3.0)

    vector.set(6, 7, 8)
    assert vector.xyz == (6.0, 7.0, 8.0)

    vector.set(6, 7, 0)
    assert vector.xyz == (6.0, 7.0, 0.0)


@pytest.mark.parametrize("kind", VECTORS)
def test_xy_and_xyz_take_any_sequence(kind):
    vector = kind(0, 0, 9)

    vector.xy = [1, 2]
    assert vector.xyz == (1.0, 2.0, 9.0)

    vector.xy = np.array([3.0, 4.0])
    assert vector.xy == (3.0, 4.0)
    assert type(vector.x) is float

    vector.xyz = (5, 6, 7)
    assert vector.xyz == (5.0, 6.0, 7.0)


@pytest.mark.parametrize("kind", VECTORS)
@pytest.mark.parametrize(
    ("bad", "error", "words"),
    [
        *((bad, ValueError, "finite") for bad in (math.nan, math.inf, -math.inf, 10**400)),
        *(
            (bad, TypeError, "a number")
            for bad in ("1", b"1", None, 1j, [1], (1, 2), np.array([1.0, 2.0]))
        ),
    ],
    ids=repr,
)
def test_vector_refuses_what_is_no_finite_number_and_stays_as_it_was(kind, bad, error, words):
    vector = kind(1, 2, 3)

    for numbers in [(bad, 1), (1, bad), (1, 1, bad)]:
        with pytest.raises(error, match=f"{kind.__name__}.* must be {words}"):
            kind(*numbers)
    for numbers in [(bad, 1), (5, bad)]:
        with pytest.raises(error, match=f"must be {words}"):
            vector.set(*numbers)
        with pytest.raises(error, match=f"must be {words}"):
            vector.xy = numbers
    for name, numbers in (("xy", (1, 2, 3)), ("xyz", (1, 2))):
        with pytest.raises(ValueError, match="unpack"):
            setattr(vector, name, numbers)

    assert vector == kind(1, 2, 3)


def test_message_shows_the_values_and_what_would_be_right():
    with pytest.raises(ValueError) as caught:  # noqa: PT011  the whole text is compared
        Extents(x=-1, y=1)

    assert str(caught.value) == (
        "Extents(x=-1, y=1) must be finite and >= 0; a box of width w and height h has "
        "Extents(w / 2, h / 2), or Extents.from_size(w, h)"
    )


def test_extents_from_size_are_half_of_it():
    assert Extents.from_size(16, 32) == Extents(8, 16)
    assert Extents.from_size(1, 2, 3) == Extents(0.5, 1, 1.5)
    assert Extents.from_size(w=1, h=2, d=3).z == 1.5


@pytest.mark.parametrize(
    ("call", "bad", "error", "words"),
    [
        (Extents, [(-1, 1), (1, -1e-300), (1, 1, -1)], ValueError, "must be finite and >= 0"),
        (Extents(1, 1).set, [(-1, 1), (1, 1, -1)], ValueError, "must be finite and >= 0"),
        (
            Extents.from_size, [(-2, 1), (1, math.inf), (1, 1, math.nan)], ValueError,
            r"Extents\.from_size\(w=.* must be finite and >= 0",
        ),
        (Extents.from_size, [("2", 1)], TypeError, "w='2'"),
        (
            Mass, [(0,), (-1,), (math.nan,), (-math.inf,)], ValueError,
            r"Mass\(value=.*\) must be above 0",
        ),
        (
            Deflect, [(-0.1,), (1.0000001,), (math.nan,), (math.inf,)], ValueError,
            r"Deflect\(restitution=.*\) must be from 0",
        ),
        (Mass, [("1",), (None,)], TypeError, "Mass.* must be a number"),
        (Deflect, [("1",), (None,)], TypeError, "Deflect.* must be a number"),
    ],
)  # fmt: skip
def test_numbers_out_of_their_bounds_are_refused(call, bad, error, words):
    for numbers in bad:
        with pytest.raises(error, match=words):
            call(*numbers)


def test_numbers_at_their_bounds_are_taken():
    assert Extents(0, 5e-324).xy == (0.0, 5e-324)
    assert [Mass().value, Mass(2).value, Mass(value=math.inf).value] == [1.0, 2.0, math.inf]
    assert type(Mass(2).value) is float
    assert [Deflect().restitution, Deflect(0).restitution] == [1.0, 0.0]
    assert Deflect(restitution=0.25).restitution == 0.25
    for kind in (Position, Velocity, Growth):
        assert kind(-1, -2, -3).xyz == (-1.0, -2.0, -3.0)


@pytest.mark.parametrize(
    ("component", "text"),
    [
        (Position(1, 2), "Position(1.0, 2.0)"),
        (Position(1, 2, 3), "Position(1.0, 2.0, 3.0)"),
        (Extents(0.5, 1), "Extents(0.5, 1.0)"),
        (Velocity(-1, 2e9), "Velocity(-1.0, 2000000000.0)"),
        (Growth(0, 1), "Growth(0.0, 1.0)"),
        (Mass(2), "Mass(2.0)"),
        (Mass(math.inf), "Mass(float('inf'))"),
        (Deflect(0.9), "Deflect(restitution=0.9)"),
        (Push(), "Push()"),
        (Slide(), "Slide()"),
        (Stop(), "Stop()"),
        (Sensor(), "Sensor()"),
    ],
)
def test_repr_is_what_one_would_type(component, text):
    assert repr(component) == text
    assert eval(text) == component


def test_repr_shows_a_z_that_went_wrong():
    place = Position(1, 2)
    place.z = math.nan

    assert repr(place) == "Position(1.0, 2.0, nan)"


@pytest.mark.parametrize("component", ONE_OF_EACH, ids=name_of)
def test_equal_means_same_kind_and_same_values(component):
    others = [other for other in ONE_OF_EACH if other is not component]
    others += [Position(0, 2), Position(1, 0), Position(1, 2, 3), Mass(1), Deflect(0)]

    assert component == copy.copy(component)
    assert all(component != other for other in others)
    assert component != 1
    assert component != (1.0, 2.0, 0.0)


@pytest.mark.parametrize("component", ONE_OF_EACH, ids=name_of)
def test_components_can_change_and_so_have_no_hash(component):
    with pytest.raises(TypeError, match="unhashable"):
        hash(component)


class Slotted(Velocity):
    """A game's own kind, with a slot of its own."""

    __slots__ = ("owner",)

    def __init__(self, x, y, owner=None):
        super().__init__(x, y)
        self.owner = owner


def bits(component):
    """Return all numbers of a component, so that -0.0 is not 0.0 and nan is itself."""
    fields = [getattr(component, name) for name in type(component).__match_args__]
    return [struct.pack("d", field) for field in fields]


def with_values(component, *values):
    """Return a component with what only an attribute can be set to."""
    for name, value in zip(type(component).__match_args__, values, strict=True):
        setattr(component, name, value)
    return component


@pytest.mark.parametrize(
    "component",
    [
        *ONE_OF_EACH,
        Position(-0.0, 5e-324, -0.0),
        Velocity(-0.0, 1.7976931348623157e308),
        Mass(math.inf),
        with_values(Position(0, 0), math.nan, -math.inf, math.inf),
        Slotted(-0.0, 2, owner=[7]),
        Growth(-0.0, -1e-310),
    ],
    ids=repr,
)
def test_pickles_and_copies_hold_the_same_bits(component):
    protocols = range(2, pickle.HIGHEST_PROTOCOL + 1)
    twins = [pickle.loads(pickle.dumps(component, protocol)) for protocol in protocols]

    for twin in (*twins, copy.copy(component), copy.deepcopy(component)):
        assert twin is not component
        assert type(twin) is type(component)
        assert bits(twin) == bits(component)
        assert getattr(twin, "owner", None) == getattr(component, "owner", None)


def test_a_deep_copy_of_many_keeps_who_is_who():
    shared = Slotted(1, 2, owner=[])
    entity = {"body": [shared, Position(0, 0)], "again": shared}

    for twin in (copy.deepcopy(entity), pickle.loads(pickle.dumps(entity))):
        assert twin["again"] is twin["body"][0]
        assert twin["again"] is not shared
        assert twin["again"].owner is not shared.owner


@pytest.mark.parametrize("component", ONE_OF_EACH, ids=name_of)
def test_misspelt_attribute_is_an_error(component):
    with pytest.raises(AttributeError):
        component.velocty = 1


def test_match_statement_takes_components_apart():
    match Position(1, 2, 3):
        case Position(x, y, z):
            assert (x, y, z) == (1.0, 2.0, 3.0)
    match Mass(2):
        case Mass(value):
            assert value == 2.0
    match Deflect(0.5):
        case Deflect(restitution):
            assert restitution == 0.5


class Centre(Position):
    """A game's own kind of position, with something added."""

    def __init__(self, x, y, label):
        super().__init__(x, y)
        self.label = label


def test_subclass_keeps_what_it_adds():
    centre = Centre(1, 2, label="spawn")

    twin = pickle.loads(pickle.dumps(centre))

    assert isinstance(twin, Position)
    assert twin == centre
    assert twin.label == "spawn"
    assert repr(centre) == "Centre(1.0, 2.0)"
    assert centre != Position(1, 2)


class Size(Extents):
    __slots__ = ()


def test_subclass_is_made_by_its_own_from_size():
    assert type(Size.from_size(2, 2)) is Size
    with pytest.raises(ValueError, match=r"Size\(x=-1, y=1\)"):
        Size(-1, 1)


@pytest.mark.parametrize("kind", [ec.Position, ec.Extents, ec.Velocity, ec.Growth])
@pytest.mark.parametrize("given", [(), ("12",), (1,), (1, 2, 3, 4)])
def test_wrong_arguments_are_refused_in_the_name_of_the_public_class(kind, given):
    for call, name in (
        (lambda: kind(*given), "__init__"),
        (lambda: kind(1, 2).set(*given), "set"),
    ):
        with pytest.raises(TypeError, match=rf"^{kind.__name__}\.{name}\(\) "):
            call()


def test_a_subclass_of_a_component_and_a_mixin_keeps_its_own_constructor():
    class Mixin:
        def __init__(self, name):
            self.name = name

    class Named(Mixin, ec.Position):
        pass

    class Plain(ec.Position):
        pass

    assert Named("here").name == "here"
    assert Plain(1, 2).xy == (1.0, 2.0)
    assert Plain((1, 2)).xy == (1.0, 2.0)
    with pytest.raises(TypeError, match="Plain"):
        Plain(1)


# One vector, and in place -------------------------------------------------------------------


@pytest.mark.parametrize("kind", VECTORS)
@pytest.mark.parametrize("two", [(3, 4), [3.0, 4], np.array([3, 4]), iter((3, 4)), Position(3, 4)])
def test_vectors_take_one_vector(kind, two):
    if not isinstance(two, (tuple, list)):
        two = copy.copy(two)
    assert kind(two) == kind(3, 4)


@pytest.mark.parametrize("kind", VECTORS)
def test_vectors_take_one_vector_of_three(kind):
    assert kind((3, 4, 5)).xyz == (3, 4, 5)
    assert kind((3, 4), z=5).xyz == (3, 4, 5)
    vector = kind(9, 9, 9)
    vector.set((1, 2))
    assert vector.xyz == (1, 2, 9)
    vector.set((1, 2, 3))
    assert vector.xyz == (1, 2, 3)
    vector.set(kind(7, 8))
    assert vector.xyz == (7, 8, 0)
    assert Extents.from_size((4, 6)) == Extents.from_size([4, 6, 0]) == Extents(2, 3)


@pytest.mark.parametrize("kind", VECTORS)
@pytest.mark.parametrize("bad", [(1,), (1, 2, 3, 4), ()])
def test_vectors_of_another_length_are_refused(kind, bad):
    vector = kind(1, 2)
    with pytest.raises(ValueError, match=rf"{kind.__name__}\..*must be a vector of two numbers"):
        kind(bad)
    with pytest.raises(ValueError, match=rf"{kind.__name__}\.set"):
        vector.set(bad)
    with pytest.raises(ValueError, match=rf"{kind.__name__}\.__iadd__"):
        vector += bad
    with pytest.raises(TypeError, match=rf"{kind.__name__}\.__iadd__.* got 3"):
        vector += 3
    with pytest.raises(TypeError, match=rf"{kind.__name__}\.__init__.* got '12'"):
        kind("12")
    assert vector == kind(1, 2)


def test_vectors_are_added_and_scaled_in_place():
    velocity = same = Velocity(1, 2, 3)

    velocity += (0, -15)
    assert velocity.xyz == (1, -13, 3)
    velocity -= Velocity(1, 1, 1)
    assert velocity.xyz == (0, -14, 2)
    velocity *= 0.5
    assert velocity.xyz == (0, -7, 1)
    velocity *= (1, -2)
    assert velocity.xyz == (0, 14, 1)
    velocity /= 2
    assert velocity.xyz == (0, 7, 0.5)
    velocity += np.array([1, 0, 0])
    assert velocity.xyz == (1, 7, 0.5)
    assert velocity is same
    assert all(type(number) is float for number in velocity.xyz)


def test_sums_and_products_are_new_components_of_the_same_type():
    place, velocity = Position(1, 2, 3), Velocity(60, 0, -60)

    assert place + velocity / 60 == Position(2, 2, 2)
    assert place - (1, 1) == Position(0, 1, 3)
    assert (5, 5) - place == Position(4, 3, -3)
    one = [1, 1, 1]
    assert one + place == place + np.ones(3) == np.ones(3) + place == Position(2, 3, 4)
    assert np.array([5, 5, 5]) - place == Position(4, 3, 2)
    assert velocity * 2 == 2 * velocity == Velocity(120, 0, -120)
    assert velocity * (1, 5) == Velocity(60, 0, -60)
    assert velocity / (2, 1, 3) == Velocity(30, 0, -20)
    assert -velocity == Velocity(-60, 0, 60)
    assert abs(Position(4, 6) - Position(1, 2)) == 5
    assert abs(Velocity(2, 3, 6)) == 7
    assert place == Position(1, 2, 3)
    assert velocity == Velocity(60, 0, -60)


@pytest.mark.parametrize("kind", VECTORS)
@pytest.mark.parametrize("name", ["add", "radd", "sub", "rsub", "mul", "rmul", "truediv"])
def test_results_of_arithmetic_are_checked_as_any_values(kind, name):
    call = getattr(kind(1, 2), f"__{name}__")

    with pytest.raises(ValueError, match=rf"{kind.__name__}\..*must be a vector of two numbers"):
        call((1, 2, 3, 4))
    with pytest.raises(ValueError, match=r"must be finite"):
        call((math.inf, 1) if name != "truediv" else (1e-320, 1e-320))
    with pytest.raises(TypeError):
        call("12")


def test_in_place_results_are_checked_as_any_values():
    extents, velocity = Extents(1, 1), Velocity(1, 1)

    with pytest.raises(ValueError, match="must be finite and >= 0"):
        extents -= (2, 0)
    with pytest.raises(ValueError, match="must be finite"):
        velocity *= float("inf")
    with pytest.raises(ZeroDivisionError):
        velocity /= 0
    with pytest.raises(TypeError, match="must be a number"):
        velocity *= None
    assert (extents, velocity) == (Extents(1, 1), Velocity(1, 1))
