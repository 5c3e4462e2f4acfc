"""The games to copy: each is played without a screen, and a claim of each is checked."""

from __future__ import annotations

import ast
import importlib
import re
import sys
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import esper
import pytest

import ecs_collide as ec
from demos import __main__ as runner
from demos.app import catalogue
from demos.examples import (
    bricks,
    gravity_flip,
    lift_puzzle,
    pong,
    rollback_pong,
    top_down,
    twin_stick,
    walker_3d,
)
from ecs_collide.recording.frames import compare_frames, read_frame
from tests import windows

DT = 1 / 60
ROOT = Path(__file__).parents[2]
WINDOWS = {"pyglet", "pygame", "arcade", "pyray"}


def positions(kind: type) -> list[tuple[float, ...]]:
    """Return where the bodies of a kind are."""
    return [place.xy for _, (_, place) in esper.get_components(kind, ec.Position)]


def towards(gap: float) -> int:
    """Return the key that closes a gap, if it is wider than a step."""
    return (gap > 4) - (gap < -4)


# Their form


@pytest.mark.parametrize("name", catalogue.examples())
def test_example_is_a_short_file_that_needs_nothing_else(name: str) -> None:
    text = catalogue.source(name).read_text("utf-8")
    tree = ast.parse(text)
    imported = {
        (node.module if isinstance(node, ast.ImportFrom) else alias.name).split(".")[0]
        for node in ast.walk(tree)
        if isinstance(node, ast.Import | ast.ImportFrom)
        for alias in node.names
    }
    others = imported - {"esper", "ecs_collide"} - sys.stdlib_module_names

    assert 60 <= sum(map(bool, text.splitlines())) <= 120
    assert max(map(len, text.splitlines())) <= 78
    assert len(others) == 1
    assert others < WINDOWS
    assert text.endswith(("\n    main()\n", "\n    main(sys.argv[1:])\n"))


@pytest.mark.parametrize("name", catalogue.examples())
def test_example_has_a_page_with_its_picture_and_its_whole_source(name: str) -> None:
    page = (ROOT / "docs" / f"example_{name}.md").read_text("utf-8")

    assert f"](pictures/example_{name}.png)" in page
    assert f"```{{literalinclude}} ../demos/examples/{name}.py\n" in page
    assert f"python -m demos {name}" in page
    picture = ROOT / "docs" / "pictures" / f"example_{name}.png"
    assert 500 < picture.stat().st_size < 30_000


@pytest.mark.usefixtures("world")
@pytest.mark.parametrize("name", catalogue.examples())
def test_example_plays_in_a_window(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    program = catalogue.source(name).read_text("utf-8")
    keys = {0: ("RIGHT", "UP"), 20: ("LEFT", "SPACE")}
    monkeypatch.setattr(sys, "argv", [name, "0"])

    if "import pyray" in program:
        windows.play_raylib(program, name, keys, frames=60)
    elif "import pygame" in program:
        windows.play_pygame(program, name, keys=keys, frames=60)
    else:
        if "import arcade" in program:
            pytest.importorskip("arcade")
        windows.play(program, name, keys, frames=60)


def test_examples_are_listed_and_refuse_options(capsys: pytest.CaptureFixture[str]) -> None:
    assert runner.main(["--list"]) == 0
    assert runner.main(["pong", "--fast"]) == 2

    said = capsys.readouterr()
    assert all(re.search(rf"^  {name} +\S", said.out, re.M) for name in catalogue.examples())
    assert f"see {Path('demos/examples/pong.py')}" in said.err


# The games


@pytest.mark.usefixtures("world")
def test_ball_of_pong_bounces_off_paddles_and_a_miss_is_a_point() -> None:
    game = pong.Pong()
    turns = 0

    for frame in range(1200):
        ball = game.space.position_of(game.ball)
        paddles = [game.space.position_of(paddle) for paddle in game.paddles]
        left, right = (towards(ball[1] - paddle[1]) for paddle in paddles)
        way = game.velocity.x
        game.step(DT, left, right if frame < 600 else 0)
        turns += way * game.velocity.x < 0
        assert all(20 + 36 <= y <= 380 - 36 for _, y in paddles)  # between the walls

    assert turns > 4
    assert game.score[0] > 0
    assert game.score[1] == 0
    assert [round(x, 9) for x, _ in map(game.space.position_of, game.paddles)] == [30, 610]


@pytest.mark.usefixtures("world")
def test_ball_of_bricks_breaks_what_it_touches_until_it_is_lost() -> None:
    game = bricks.Bricks()
    counts = []
    for frame in range(1500):
        ball, paddle = map(game.space.position_of, (game.ball, game.paddle))
        way = towards(ball[0] - paddle[0] + 20)
        game.step(DT, way if frame < 1000 else -way, serve=frame == 30)
        counts.append(len(positions(bricks.Brick)))

    assert counts[29] == 40
    assert counts[-1] < 36
    assert max(before - after for before, after in pairwise(counts)) <= 2
    assert (game.balls, game.waits) == (2, True)
    game.step(DT)
    assert game.space.position_of(game.ball)[1] == 43  # on the paddle


@pytest.mark.usefixtures("world")
def test_crate_opens_the_door_of_the_room() -> None:
    game = top_down.Room()
    for frame in range(90):
        game.step(DT, x=frame < 13, y=-(frame >= 13))

    assert not positions(top_down.Door)
    assert positions(top_down.Crate) == [(112, 46)]


@pytest.mark.usefixtures("world")
def test_sword_kills_a_slime_which_comes_when_it_sees_the_hero() -> None:
    game = top_down.Room()
    far = positions(top_down.Slime)
    for _ in range(60):
        game.step(DT)
    assert positions(top_down.Slime) == far  # behind the wall

    game.space.teleport(game.hero, (380, 80))
    for _ in range(20):
        game.step(DT)
    assert positions(top_down.Slime)[0][0] < far[0][0] - 15
    game.step(DT, x=1)
    for _ in range(5):
        game.step(DT, hit=True)
    assert positions(top_down.Slime) == far[1:]
    for _ in range(20):
        game.step(DT)
    assert not positions(top_down.Sword)


@pytest.mark.usefixtures("world")
def test_hero_of_the_arena_shoots_what_comes_and_is_bitten_if_not() -> None:
    game = twin_stick.Arena(seed=1)
    for frame in range(1200 if ec.COMPILED else 300):
        x, y = game.space.position_of(game.hero) if frame else (160, 240)
        ways = [(at[0] - x, at[1] - y) for at in positions(twin_stick.Enemy)]
        game.step(DT, aim=min(ways, key=lambda way: way[0] ** 2 + way[1] ** 2, default=(0, 0)))
    assert game.score >= (20 if ec.COMPILED else 3)
    health = esper.component_for_entity(game.hero, twin_stick.Hero)
    assert health.health == 5

    for _ in range(400):
        game.step(DT, move=(1, 1))
    assert health.health < 5
    (x, y) = game.space.position_of(game.hero)
    assert x < twin_stick.WIDTH - 10
    assert y < twin_stick.HEIGHT - 10


@pytest.mark.usefixtures("world")
@pytest.mark.parametrize("library", ["pyglet", "pygame", "arcade", "raylib"])
def test_hero_of_each_platformer_jumps_takes_coins_pushes_and_rides(library: str) -> None:
    if library == "arcade":  # its sprites are the bodies
        pytest.importorskip("arcade")
    module = importlib.import_module(f"demos.examples.platformer_{library}")
    game = module.Platformer()
    ((hero, _),) = esper.get_component(module.Hero)
    ((lift, _),) = esper.get_component(module.Lift)
    rise = game.space.up[1]  # 1, or -1 where y grows downwards
    places, heights = [], []

    def play(frames: int, walk: int, jump: bool = False) -> float:
        for _ in range(frames):
            game.step(DT, walk, jump)
            x, y = game.space.position_of(hero)
            places.append((x, rise * y))
            heights.append(rise * game.space.position_of(lift)[1])
        return places[-1][0]

    start = game.space.position_of(hero)
    play(20, 0)
    ground = places[-1][1]
    play(20, 0, jump=True)
    assert 60 < places[-1][1] - ground < 120
    play(40, 0)
    assert places[-1][1] == pytest.approx(ground)
    play(60, 1)  # into the crate, which gives way
    assert places[-1][0] > 192 - 10

    back = len(places)
    play(60, 1)  # and over it into the spikes: back at the start
    play(60, 1, jump=True)
    assert any(before - now > 200 for (before, _), (now, _) in pairwise(places[back - 1 :]))
    assert min(x for x, _ in places[back:]) < start[0] + 60

    game.space.teleport(hero, (550, start[1]))
    assert len(esper.get_component(module.Coin)) == 3
    play(20, 1)
    assert len(esper.get_component(module.Coin)) == 2

    x, y = game.space.position_of(lift)
    game.space.teleport(hero, (x, y + rise * 20))
    play(90, 0)
    assert abs(game.space.position_of(lift)[1] - y) > 5  # it has moved, and the hero with it
    assert places[-1][1] - heights[-1] == pytest.approx(4 + 14)
    assert 5 * 32 <= max(heights) - min(heights) <= 5 * 32 + 1  # up and back again


@pytest.mark.usefixtures("world")
def test_puzzle_of_the_lift_can_be_solved_and_the_lift_waits_for_the_button() -> None:
    game = lift_puzzle.Puzzle()
    ((hero, _),) = esper.get_component(lift_puzzle.Hero)
    ((lift, _),) = esper.get_component(lift_puzzle.Lift)
    game.step(DT)
    low, high = sorted(
        (crate for crate, _ in esper.get_component(lift_puzzle.Crate)),
        key=lambda crate: game.space.position_of(crate)[1],
    )

    def walk(x: float, until: Callable[[], bool], jump: bool = False) -> None:
        """Walk towards a place until something holds."""
        for _ in range(600):
            game.step(DT, towards(x - game.space.position_of(hero)[0]), jump)
            if until():
                return
        pytest.fail(f"not at {x}, but {game.space.position_of(hero)}")

    def walk_to(x: float, jump: bool = False) -> None:
        walk(x, lambda: abs(game.space.position_of(hero)[0] - x) < 5, jump)

    for _ in range(60):
        game.step(DT)
    assert game.space.position_of(lift)[1] == 36
    walk(0, lambda: game.load(lift_puzzle.Button) > 0.5)  # the crate is on the button
    walk_to(130, jump=True)
    walk(130, lambda: game.space.position_of(lift)[1] < 37)
    walk(64, lambda: game.space.position_of(hero)[1] > 204)  # up with the lift
    walk(400, lambda: game.space.position_of(high)[1] < 60)  # the other crate falls
    walk_to(330)
    assert game.load(lift_puzzle.Plate) > 1.9
    walk_to(240)
    assert esper.get_component(lift_puzzle.Door)  # for two of three it stays closed
    walk_to(140, jump=True)
    walk(600, lambda: game.load(lift_puzzle.Plate) > 2.9)
    walk_to(400, jump=True)
    assert not esper.get_component(lift_puzzle.Door)
    walk(560, lambda: game.is_won)

    assert game.space.position_of(low)[0] > 320


@pytest.mark.usefixtures("world")
def test_flipper_turns_over_only_where_it_stands_and_takes_all_coins() -> None:
    game = gravity_flip.Game()
    gravity = esper.component_for_entity(game.hero, ec.GravityScale)
    values = [gravity.value]

    def play(frames: int, walk: int) -> None:
        for frame in range(frames):
            game.step(DT, walk, flip=frame == 0)
            values.append(gravity.value)

    for _ in range(20):
        game.step(DT)
    for frames, walk in ((80, 1), (60, 1), (42, 1)):
        play(frames, walk)
    saved = game.space.snapshot()
    rest = ((110, 1), (60, 1), (60, -1))
    for frames, walk in rest:
        play(frames, walk)
    assert not positions(gravity_flip.Coin)
    assert sum(one != other for one, other in pairwise(values)) == 6
    end = game.space.position_of(game.hero)

    game.space.restore(saved)  # the wishes and the speed of the component too
    assert len(positions(gravity_flip.Coin)) == 1
    game.flipper = esper.component_for_entity(game.hero, gravity_flip.Flipper)
    gravity = esper.component_for_entity(game.hero, ec.GravityScale)
    for frames, walk in rest:
        play(frames, walk)
    assert game.space.position_of(game.hero) == end

    play(1, -1)
    play(5, -1)  # in the air
    assert values[-6:] == [values[-6]] * 6


@pytest.mark.usefixtures("world")
def test_flipper_that_is_wrong_is_skipped_and_doctor_names_what_it_lacks() -> None:
    game = gravity_flip.Game()
    game.step(DT)
    assert game.space.doctor() == []

    game.flipper.speed = float("nan")
    with pytest.warns(RuntimeWarning, match=r"Flipper\.speed is nan"):
        game.step(DT, walk=1)
    assert game.space.position_of(game.hero)[0] == 48
    game.flipper.speed = 200.0
    game.step(DT, walk=1)
    game.step(DT, walk=1)
    assert game.space.position_of(game.hero)[0] > 48

    lone = esper.create_entity(gravity_flip.Flipper())
    (finding,) = game.space.doctor()
    assert (finding.cause, finding.entities) == ("no_flipper", (lone,))
    assert "no Position and no Extents and no Velocity and no GravityScale" in finding.message


@pytest.mark.usefixtures("world")
def test_walker_in_3d_climbs_stairs_takes_a_coin_and_pushes_a_crate() -> None:
    game = walker_3d.Walk()
    for _ in range(170):
        game.step(DT, z=-1)
    x, y, z = game.space.position_of(game.player)
    assert (x, y) == (4, pytest.approx(2.4 + 0.9))  # on the terrace
    assert z < -8.5
    assert len(esper.get_component(walker_3d.Coin)) == 2

    game.space.teleport(game.player, (-4, 0.9, 5))
    crates = [place.xyz for _, (_, place) in esper.get_components(walker_3d.Crate, ec.Position)]
    for _ in range(30):
        game.step(DT, z=-1)
    moved = [place.xyz for _, (_, place) in esper.get_components(walker_3d.Crate, ec.Position)]
    assert moved[0][2] < crates[0][2] - 0.2
    assert moved[2] == crates[2]


def test_both_machines_of_rollback_pong_see_one_game_over_a_bad_line(world: str) -> None:
    machines, lines = [], [[], []]
    for local in range(2):
        esper.switch_world(f"{world} {local}")
        machines.append(rollback_pong.Machine(local))
    for frame in range(900 if ec.COMPILED else 360):
        for local, machine in enumerate(machines):
            esper.switch_world(f"{world} {local}")
            came = [data for due, data in lines[local] if due <= frame]
            lines[local] = [packet for packet in lines[local] if packet[0] > frame]
            way = (frame // (17 + 6 * local)) % 3 - 1
            data = machine.frame(way, came)
            if (frame + local) % 4:  # every fourth packet is lost
                lines[1 - local].append((frame + 1 + frame % 5, data))

    frames = []
    for local, machine in enumerate(machines):
        machine.session.receive(machines[1 - local].session.packet(local))
        esper.switch_world(f"{world} {local}")
        machine.session.settle()
        assert machine.session.n_rollbacks > 5
        assert machine.session.desync is None
        frames.append(read_frame(machine.space))
    assert compare_frames(*frames) == []
    scores = [paddle.score for _, paddle in esper.get_component(rollback_pong.Paddle)]
    assert sum(scores) > 0
    esper.switch_world(world)
    for local in range(2):
        esper.delete_world(f"{world} {local}")
