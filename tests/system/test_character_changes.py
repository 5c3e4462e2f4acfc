"""Moves change other components of a character, and the changes end also without it."""

from __future__ import annotations

from collections.abc import Callable

import esper
import pytest

import ecs_collide as ec
from ecs_collide.character import Character, CharacterState
from tests.scenes import box, half, mover, of, position, velocity
from tests.system.test_character_places import Hero as Moves

pytestmark = pytest.mark.usefixtures("world")

DT = 1 / 64
ABILITIES = {"dash_speed": 300.0, "dash_through": 2, "crouch_height": 20.0}


class Hero:
    """A hero on a floor who dashes through enemies or crouches."""

    def __init__(self, wish: str, dim: int = 2, sign: int = 1) -> None:
        self.dim = dim
        z, deep = (0.0,) * (dim - 2), (50.0,) * (dim - 2)
        box((0, -8 * sign, *z), (900, 8, *deep))
        self.entity = mover(
            (0, 16 * sign, *z), (6, 16, *(6.0,) * (dim - 2)), (0.0,) * dim,
            ec.Slide(), ec.Filter(1, 0xFF), self.keys(sign),
        )  # fmt: skip
        self.space = ec.install(dim=dim)
        self.play(3)
        setattr(of(self.entity, Character), wish, True)
        self.play(3)
        assert self.is_changed

    def keys(self, sign: int = 1) -> Character:
        return Character(**ABILITIES, up=(0, sign))

    def play(self, n: int) -> None:
        for _ in range(n):
            esper.process(DT)

    @property
    def is_changed(self) -> bool:
        return of(self.entity, ec.Filter).mask != 0xFF or half(self.entity)[1] != 16.0


def replace(hero: Hero) -> None:
    esper.add_component(hero.entity, hero.keys())


def remove(hero: Hero) -> None:
    esper.remove_component(hero.entity, Character)


def remove_after_a_restore(hero: Hero) -> None:
    hero.space.restore(hero.space.snapshot())
    remove(hero)


def restore_after_removing(hero: Hero) -> None:
    remove(hero)
    data = hero.space.snapshot()
    esper.switch_world(f"{esper.current_world}, elsewhere")
    hero.space = ec.install(dim=hero.dim)
    hero.space.restore(data)


def replace_and_remove(hero: Hero) -> None:
    replace(hero)
    hero.play(1)
    remove(hero)


WAYS = (replace, remove, remove_after_a_restore, restore_after_removing, replace_and_remove)


@pytest.mark.parametrize("dim", [2, 3])
@pytest.mark.parametrize("change", WAYS)
@pytest.mark.parametrize("wish", ["dash", "crouch"])
def test_changes_of_a_character_that_is_replaced_or_removed_end(
    wish: str, change: Callable[[Hero], None], dim: int
) -> None:
    hero = Hero(wish, dim)

    change(hero)
    hero.play(20)

    assert not hero.is_changed
    assert position(hero.entity)[1] == 16.0
    hero.space.check()


@pytest.mark.parametrize("wish", ["dash", "crouch"])
def test_changes_of_an_entity_that_is_deleted_leave_nothing(wish: str) -> None:
    hero = Hero(wish)
    esper.delete_entity(hero.entity)

    hero.play(3)

    assert len(hero.space) == 1


def test_upside_down_character_that_is_removed_grows_downwards() -> None:
    hero = Hero("crouch", sign=-1)

    remove(hero)
    hero.play(2)

    assert half(hero.entity)[1] == 16.0
    assert position(hero.entity)[1] == -16.0


def test_box_of_a_removed_character_grows_once_there_is_room() -> None:
    hero = Hero("crouch")
    ceiling = box((0, 30), (50, 4))
    hero.play(2)

    remove(hero)
    hero.play(5)
    assert half(hero.entity)[1] == 10.0
    esper.delete_entity(ceiling)
    hero.play(2)

    assert half(hero.entity)[1] == 16.0


def test_new_character_that_wishes_it_goes_on_crouching() -> None:
    hero = Hero("crouch")
    keys = hero.keys()
    keys.crouch = True

    esper.add_component(hero.entity, keys)
    hero.play(5)

    assert half(hero.entity)[1] == 10.0
    keys.crouch = False
    hero.play(3)
    assert half(hero.entity)[1] == 16.0


def test_rollback_to_the_middle_of_a_dash_ends_it_again() -> None:
    hero = Hero("dash")
    middle = hero.space.save_state()
    hero.play(30)
    end = hero.space.state_hash()

    hero.space.restore(middle)
    assert hero.is_changed
    hero.play(30)

    assert hero.space.state_hash() == end
    assert not hero.is_changed


@pytest.mark.parametrize("dim", [2, 3])
@pytest.mark.parametrize("change", WAYS)
def test_velocity_of_a_dash_ends_with_a_character_that_is_replaced_or_removed(
    change: Callable[[Hero], None], dim: int
) -> None:
    hero = Hero("dash", dim)
    assert of(hero.entity, ec.Velocity).x == ABILITIES["dash_speed"]

    change(hero)
    hero.play(1)

    assert 0.0 < of(hero.entity, ec.Velocity).x <= Character().walk_speed


def test_velocity_that_the_game_sets_when_it_replaces_a_dashing_character_stays() -> None:
    hero = Hero("dash")

    remove(hero)
    of(hero.entity, ec.Velocity).set(400, 300)
    hero.play(1)

    assert of(hero.entity, ec.Velocity) == ec.Velocity(400, 300)


# -- any move --

MOVES = (
    *("dash", "dash_through", "be_knocked", "climb", "hang", "pull_up", "crouch", "hover", "swim"),
    *("drop", "ride"),
)


@pytest.mark.parametrize("move", MOVES)
@pytest.mark.parametrize("how", [{}, {"dim": 3}, {"sign": -1}, {"rate": 30}, {"rate": 144}])
@pytest.mark.parametrize("restores", [False, True])
def test_new_character_in_any_move_is_as_one_that_has_never_moved(move, how, restores):
    play = Moves(**how)
    size, mask = half(play.body, play.dim), 0xFFFF
    esper.add_component(play.body, ec.Filter(1, mask))
    getattr(play, move)()

    esper.add_component(play.body, Character(up=play.at(0, 1)))
    if restores:
        play.space.restore(play.space.snapshot())
    play.run(1.5)

    hero = of(play.body, Character)
    assert hero.state is (CharacterState.FALLING if move == "swim" else CharacterState.STANDING)
    if move not in ("swim", "ride"):
        assert velocity(play.body, play.dim) == (0,) * play.dim
    assert (half(play.body, play.dim), of(play.body, ec.Filter).mask) == (size, mask)
    play.go(300, 117)
    play.run(0.2)
    assert hero.ground == play.plank
    play.space.check()


@pytest.mark.parametrize("move", MOVES)
@pytest.mark.parametrize("how", [{}, {"dim": 3}, {"sign": -1}, {"rate": 30}, {"rate": 144}])
@pytest.mark.parametrize("restores", [False, True])
def test_without_its_character_nothing_of_a_move_is_left(move, how, restores):
    play = Moves(**how)
    size, mask = half(play.body, play.dim), 0xFFFF
    esper.add_component(play.body, ec.Filter(1, mask))
    getattr(play, move)()
    before = velocity(play.body, play.dim)

    esper.remove_component(play.body, Character)
    if restores:
        play.space.restore(play.space.snapshot())
    play.run(0.02)

    now = velocity(play.body, play.dim)
    if move in ("climb", "hang", "pull_up", "crouch"):
        assert now == (0,) * play.dim
    elif move.startswith("dash"):
        assert now == play.at(240, 0)
    elif move in ("be_knocked", "hover", "drop"):
        assert now == before
    play.run(0.3)
    assert (half(play.body, play.dim), of(play.body, ec.Filter).mask) == (size, mask)
    play.go(300, 117)
    of(play.body, ec.Velocity).set(*play.at(0, -60))
    play.run(0.6)
    assert position(play.body, play.dim) == pytest.approx(play.at(300, 116))
    play.space.check()
