"""Moves change other components of a character, and the changes end also without it."""

from __future__ import annotations

import esper
import pytest

import ecs_collide as ec
from ecs_collide.character import Character, CharacterState
from tests.scenes import box, half, of, position, velocity
from tests.system.test_character_places import Hero

pytestmark = pytest.mark.usefixtures("world")

MOVES = (
    *("dash", "dash_through", "be_knocked", "climb", "hang", "pull_up", "crouch", "hover", "swim"),
    *("drop", "ride"),
)
HOWS = [{}, {"dim": 3}, {"sign": -1}, {"rate": 30}, {"rate": 144}]
MASK = 0xFFFF  # of its filter, before a dash


def hero_in(move, **how):
    """Return a level, and the size of its hero before the move in which it is now."""
    play = Hero(**how)
    size = half(play.body, play.dim)
    esper.add_component(play.body, ec.Filter(1, MASK))
    getattr(play, move)()
    return play, size


def restore(play):
    play.space.restore(play.space.snapshot())


@pytest.mark.parametrize("move", MOVES)
@pytest.mark.parametrize("how", HOWS)
@pytest.mark.parametrize("restores", [False, True])
def test_new_character_in_any_move_is_as_one_that_has_never_moved(move, how, restores):
    play, size = hero_in(move, **how)

    esper.add_component(play.body, Character(up=play.at(0, 1)))
    if restores:
        restore(play)
    play.run(1.5)

    hero = of(play.body, Character)
    assert hero.state is (CharacterState.FALLING if move == "swim" else CharacterState.STANDING)
    if move not in ("swim", "ride"):
        assert velocity(play.body, play.dim) == (0,) * play.dim
    assert (half(play.body, play.dim), of(play.body, ec.Filter).mask) == (size, MASK)
    play.go(300, 117)
    play.run(0.2)
    assert hero.ground == play.plank
    play.space.check()


@pytest.mark.parametrize("move", MOVES)
@pytest.mark.parametrize("how", HOWS)
@pytest.mark.parametrize("restores", ["", "before", "after", "replaced before"])
def test_without_its_character_nothing_of_a_move_is_left(move, how, restores):
    play, size = hero_in(move, **how)
    before = velocity(play.body, play.dim)

    if restores == "before":
        restore(play)
    if restores == "replaced before":
        esper.add_component(play.body, Character(up=play.at(0, 1)))
    esper.remove_component(play.body, Character)
    if restores == "after":
        restore(play)
    play.run(0.02)

    now = velocity(play.body, play.dim)
    if move in ("climb", "hang", "pull_up", "crouch"):
        assert now == (0,) * play.dim
    elif move.startswith("dash"):
        assert now == play.at(240, 0)
    elif move in ("be_knocked", "hover", "drop"):
        assert now == before
    play.run(0.3)
    assert (half(play.body, play.dim), of(play.body, ec.Filter).mask) == (size, MASK)
    play.go(300, 117)
    of(play.body, ec.Velocity).set(*play.at(0, -60))
    play.run(0.6)
    assert position(play.body, play.dim) == pytest.approx(play.at(300, 116))
    play.space.check()


def test_velocity_that_the_game_sets_as_it_removes_a_dashing_character_stays():
    play, _ = hero_in("dash")

    esper.remove_component(play.body, Character)
    of(play.body, ec.Velocity).set(400, 300)
    play.run(0)

    assert of(play.body, ec.Velocity) == ec.Velocity(400, 300)


@pytest.mark.parametrize("move", ["dash_through", "crouch"])
def test_changes_of_an_entity_that_is_deleted_leave_nothing(move):
    play, _ = hero_in(move)
    n_bodies = len(play.space)

    esper.delete_entity(play.body)
    play.run(0.05)

    assert len(play.space) == n_bodies - 1


def test_box_of_a_removed_character_grows_once_there_is_room():
    play, size = hero_in("crouch")
    ceiling = box((0, 30), (50, 4))
    play.run(0.05)

    esper.remove_component(play.body, Character)
    play.run(0.1)
    assert half(play.body)[1] == 10.0
    esper.delete_entity(ceiling)
    play.run(0.05)

    assert half(play.body) == size


def test_new_character_that_wishes_it_goes_on_crouching():
    play, size = hero_in("crouch")
    keys = Character(crouch_height=20)
    keys.crouch = True

    esper.add_component(play.body, keys)
    play.run(0.1)

    assert half(play.body)[1] == 10.0
    keys.crouch = False
    play.run(0.05)
    assert half(play.body) == size
