"""The bytes of characters, paths, zones and generators: which a run gives, and which are forged."""

from __future__ import annotations

import math
import struct
from collections.abc import Callable
from typing import Any, cast

import esper
import pytest

import ecs_collide as ec
from ecs_collide.character import Character
from ecs_collide.character.memory import _BOUNDS, _KEPT_FLAGS, ABILITIES, FLAGS, NUMBERS
from ecs_collide.path import Path
from ecs_collide.path.path import _HEAD
from ecs_collide.snapshot import capture, codec
from ecs_collide.zone import Zone

pytest.importorskip("hypothesis", reason="any bytes are tried by hypothesis")
from hypothesis import given
from hypothesis import strategies as st

Elsewhere = Callable[..., ec.Space]

CORNERS = [(0, 0), (9, 0), (9, 9)]
NO_NUMBERS = (math.nan, math.inf, -math.inf, -1.0, 1e308)
WAY, REST = 29, 37  # the places of these in the bytes of a path


def write(data: bytes, at: int, value: float) -> bytes:
    """Return bytes with a float at a place."""
    return data[:at] + struct.pack("<d", value) + data[at + 8 :]


# -- paths --


@pytest.mark.parametrize("value", NO_NUMBERS)
@pytest.mark.parametrize(
    "make", [lambda: Path(CORNERS, 30.0, "loop"), lambda: Path.circle((0, 0), 20.0, 50.0)]
)
def test_path_that_is_on_no_leg_is_refused(make: Callable[[], Path], value: float) -> None:
    path = make()
    before = path.to_bytes()

    for refuse in (path.set_bytes, path.restore, Path.from_bytes):
        with pytest.raises(ValueError, match=r"are no Path: it is .* on a leg of"):
            refuse(write(before, WAY, value))
    assert path.to_bytes() == before


@pytest.mark.parametrize("value", [math.nan, math.inf, -1.0])
def test_path_that_waits_for_no_time_is_refused(value: float) -> None:
    data = Path(CORNERS, 30.0).to_bytes()

    with pytest.raises(ValueError, match=r"are no Path: it waits for"):
        Path.from_bytes(write(data, REST, value))


@pytest.mark.parametrize(
    ("mode", "ease", "heading", "last"),
    [
        (0, 0, 1, 2),
        (0, 0, -1, 0),
        (0, 0, 0, 1),
        (1, 0, 2, 1),
        (1, 0, 1, 3),
        (3, 0, 1, 0),
        (0, 2, 1, 0),
    ],
)
def test_path_between_no_two_points_is_refused(
    mode: int, ease: int, heading: int, last: int
) -> None:
    data = Path(CORNERS, 30.0).to_bytes()
    _, _, one, other, _, *numbers, _, more = _HEAD.unpack_from(data)
    head = _HEAD.pack(mode, ease, one, other, heading, *numbers, last, more)

    with pytest.raises(ValueError, match="are no Path"):
        Path.from_bytes(head + data[_HEAD.size :])


@pytest.mark.parametrize("forged", [{"mode": 2}, {"ease": 1}, {"axes": (1, 1)}, {"radius": 1e200}])
def test_circle_that_no_call_makes_is_refused(forged: dict[str, Any]) -> None:
    data = Path.circle((0, 0), 20.0, 50.0).to_bytes()
    mode, ease, one, other, heading, radius, *rest = _HEAD.unpack_from(data)
    one, other = forged.get("axes", (one, other))
    head = _HEAD.pack(
        forged.get("mode", mode), forged.get("ease", ease), one, other, heading,
        forged.get("radius", radius), *rest,
    )  # fmt: skip

    with pytest.raises(ValueError, match="are no Path"):
        Path.from_bytes(head + data[_HEAD.size :])


COORDINATES = st.floats(-1e6, 1e6)
TIMES = st.sampled_from([1 / 60, 0.3, 5.0, 0.0])


@given(
    st.lists(st.tuples(COORDINATES, COORDINATES), min_size=1, max_size=4),
    st.sampled_from(["back", "loop", "once"]),
    st.sampled_from(["linear", "smooth"]),
    st.sampled_from([0.0, 30.0, 1e9, 5e-324]),
    st.lists(st.tuples(st.booleans(), TIMES), max_size=20),
)
def test_every_state_to_which_a_path_comes_is_taken(
    points: list[tuple[float, float]],
    mode: Any,
    ease: Any,
    speed: float,
    moves: list[tuple[bool, float]],
) -> None:
    path = Path(points, speed, mode, ease=ease, pause=0.1)
    for turns, seconds in moves:
        if turns:
            path.reverse()
        path.advance(seconds)

        assert Path.from_bytes(path.to_bytes()).to_bytes() == path.to_bytes()


# -- characters --

FIRST_NUMBER = 3 + 8 * 4
FIRST_KEPT = FIRST_NUMBER + 8 * (len(NUMBERS) - 3)  # the last three have bounds
KEPT = [name for name in list(_BOUNDS)[5:] if not name.startswith("written")]


@pytest.mark.parametrize("name", KEPT)
def test_memory_of_a_character_that_no_step_leaves_is_refused_by_name(name: str) -> None:
    hero = Character()
    before, at = hero.to_bytes(), FIRST_KEPT + 8 * list(_BOUNDS)[5:].index(name)
    has_sign, has_end = "." in name, not name.startswith("since")

    for value in (
        math.nan,
        *(() if has_sign else (-1.0,)),
        *((math.inf, 1e308) if has_end else ()),
    ):
        for refuse in (hero.set_bytes, hero.restore, Character.from_bytes):
            with pytest.raises(ValueError, match=rf"no Character has {name} "):
                refuse(write(before, at, value))
    assert hero.to_bytes() == before


@pytest.mark.parametrize(
    ("place", "value", "message"),
    [
        (0, -2, "ground -2"),
        (1, 3, "category default"),
        (1, -2, "dash_through -2"),
        (2, -9, "ledge -9"),
        (2, 4, "needs the normal of its wall"),
        (3, 2**40, "let_through"),
    ],
)
def test_whole_numbers_that_no_character_has_are_refused(
    place: int, value: int, message: str
) -> None:
    data, at = Character().to_bytes(), 3 + 8 * place

    with pytest.raises(ValueError, match=message):
        Character.from_bytes(data[:at] + struct.pack("<q", value) + data[at + 8 :])


def test_axis_of_up_that_is_none_is_refused() -> None:
    with pytest.raises(ValueError, match="axis of up 4"):
        Character.from_bytes(b"\x04" + Character().to_bytes()[1:])


@pytest.mark.parametrize("name", NUMBERS)
def test_setting_that_the_constructor_refuses_is_refused_in_bytes(name: str) -> None:
    hero = Character()
    setattr(hero, name, math.nan)

    with pytest.raises(ValueError, match=name):
        Character.from_bytes(hero.to_bytes())


def test_form_of_the_bytes_is_the_one_that_these_tests_forge() -> None:
    n_flags = len(FLAGS + _KEPT_FLAGS)

    assert len(Character().to_bytes()) == FIRST_KEPT + 8 * (len(_BOUNDS) - 5) + n_flags
    assert set(ABILITIES) < set(NUMBERS)


@pytest.mark.parametrize("lacking", [8, 24])
def test_bytes_of_before_the_numbers_of_a_jump_were_kept_are_read(lacking: int) -> None:
    hero = Character(jump_height=100, time_to_top=0.5)
    hero.walk, hero.air_time = 0.5, 3.0
    data = hero.to_bytes()
    older = data[: FIRST_KEPT + 24 - lacking] + data[FIRST_KEPT + 24 :]

    again = Character.from_bytes(older)

    assert (again.jump_height, again.time_to_top, again.gravity) == (100.0, 0.5, 800.0)
    assert again.to_bytes()[FIRST_KEPT + 16 :] == data[FIRST_KEPT + 16 :]
    assert not again.landed
    assert again.to_bytes()[:FIRST_KEPT] == data[:FIRST_KEPT]


# -- numbers that a game has set, in snapshots --


@pytest.mark.usefixtures("world")
@pytest.mark.parametrize(
    ("component", "name", "value"),
    [
        (Path(CORNERS, 30.0), "speed", math.nan),
        (Path(CORNERS, 30.0), "pause", -1.0),
        (Character(), "walk", math.inf),
        (Character(), "walk_speed", -1.0),
        (Zone(), "gravity", math.nan),
        (Zone(), "drag", -1.0),
    ],
)
def test_snapshot_brings_back_a_number_that_makes_no_sense_as_the_game_has_set_it(
    component: Any, name: str, value: float, elsewhere: Elsewhere
) -> None:
    entity = esper.create_entity(ec.Position(0, 0), component)
    space = ec.install()
    good = getattr(component, name)
    setattr(component, name, value)
    data, state = space.snapshot(), space.save_state()

    for saved in (data, state):
        setattr(component, name, good)
        space.restore(saved)
        assert repr(getattr(component, name)) == repr(value)
    setattr(component, name, good)
    elsewhere().restore(data)

    new = esper.component_for_entity(entity, type(component))
    assert repr(getattr(new, name)) == repr(value)


@pytest.mark.usefixtures("world")
@pytest.mark.parametrize("value", [0.5, math.nan, None])
def test_generator_whose_state_is_no_whole_number_is_refused(
    value: float | None, elsewhere: Elsewhere
) -> None:
    dice = ec.Random(7)
    esper.create_entity(ec.Position(0, 0), dice)
    space = ec.install()
    state = codec.decode(space.snapshot(), 2, capture.WIDTHS)
    state.tables[0].columns[0][0] = value
    forged = codec.encode(state)

    for each in (space, elsewhere()):
        esper.switch_world(cast("str", each.world.name))
        with pytest.raises(ValueError, match=r"Random\(state=.*must have a whole number"):
            each.restore(forged)
    assert dice.state == 7
