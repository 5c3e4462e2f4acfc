"""Rollback over a line that loses, doubles and delays packets: the players' worlds are the same."""

from __future__ import annotations

import json
import random
from dataclasses import dataclass

import esper
import pytest

import ecs_collide as ec
from ecs_collide.recording.frames import compare_frames, read_frame
from ecs_collide.rollback import Session

DT = 1 / 60


@dataclass
class Ship:
    """Whose ship it is, and how often it has met the other."""

    player: int
    hits: int = 0


class Side:
    """One player's machine: a world of its own, and a session."""

    def __init__(self, local, n_players=2, **how):
        self.world = f"side {local}"
        self.speed = 60.0
        esper.switch_world(self.world)
        for x in (-50, 50):
            esper.create_entity(ec.Position(x, 0), ec.Extents(5, 40))
        for y in (-40, 40):
            esper.create_entity(ec.Position(0, y), ec.Extents(60, 5))
        self.ships = [
            esper.create_entity(
                ec.Position(12 * n - 10, 0),
                ec.Extents(4, 4),
                ec.Velocity(0, 0),
                ec.Deflect(0.5),
                Ship(n),
            )
            for n in range(n_players)
        ]
        self.dice = esper.create_entity(ec.Random(7))
        self.space = ec.install()
        self.space.on_collision(self.hit, Ship, Ship)
        self.session = Session(self.space, self.step, n_players, local, **how)

    def hit(self, event):
        for entity in (event.first, event.second):
            esper.component_for_entity(entity, Ship).hits += 1

    def step(self, inputs):
        for ship, pressed in zip(self.ships, inputs, strict=True):
            velocity = esper.component_for_entity(ship, ec.Velocity)
            dice = esper.component_for_entity(self.dice, ec.Random)
            velocity.x += self.speed * pressed * DT * 10
            velocity.y += dice.uniform(-5.0, 5.0)
        esper.process(DT)

    def advance(self, pressed):
        esper.switch_world(self.world)
        return self.session.advance(pressed)

    def receive(self, data):
        esper.switch_world(self.world)
        return self.session.receive(data)

    def frame(self, step=0):
        esper.switch_world(self.world)
        return read_frame(self.space, step)


class Line:
    """Carries packets: some are lost, some come twice, and each takes up to `late` turns."""

    def __init__(self, seed, loss=0.3, late=5):
        self.chance = random.Random(seed)
        self.loss, self.late = loss, late
        self.waiting = []

    def send(self, turn, to, data):
        for _ in range(self.chance.choice([1, 1, 2])):
            if self.chance.random() >= self.loss:
                self.waiting.append((turn + self.chance.randrange(1, self.late + 1), to, data))

    def arriving(self, turn):
        here = [packet for packet in self.waiting if packet[0] <= turn]
        self.waiting = [packet for packet in self.waiting if packet[0] > turn]
        return here


def play(sides, n_frames, line, spoil=None):
    """Play until all have done so many frames with all inputs known."""
    chance = random.Random(3)
    script = [
        [chance.choice([-1, 0, 1, 1]) * sign for _ in range(n_frames + 8)]
        for sign in (1, -1, -1)[: len(sides)]
    ]
    for turn in range(60 * n_frames):
        for side in sides:
            session = side.session
            if session.frame < n_frames:
                side.advance(script[sides.index(side)][session.frame])
            if spoil is not None:
                spoil(side)
            for n in range(len(sides)):
                if n != sides.index(side):
                    line.send(turn, n, session.packet(n))
        for _, to, data in line.arriving(turn):
            assert sides[to].receive(data)
        if all(s.session.frame == n_frames and s.session.confirmed >= n_frames for s in sides):
            break
    else:
        raise AssertionError("the players did not come to the end")
    for side in sides:
        esper.switch_world(side.world)
        side.session.settle()
    return script


@pytest.fixture
def sides():
    made = []

    def make(n=2, **how):
        made.extend(Side(local, n, **how) for local in range(n))
        return made

    yield make
    esper.switch_world("default")
    for side in made:
        esper.delete_world(side.world)


@pytest.mark.parametrize(("n_players", "delay"), [(2, 0), (2, 2), (3, 1)])
def test_players_see_the_same_world_over_a_bad_line(sides, n_players, delay):
    players = sides(n_players, delay=delay)

    play(players, 60, Line(seed=n_players))

    frames = [side.frame() for side in players]
    for other in frames[1:]:
        assert compare_frames(frames[0], other) == []
    assert all(side.session.desync is None for side in players)
    assert sum(side.session.n_rollbacks for side in players) > 5
    assert sum(frames[0].entities[ship]["Ship"]["hits"] for ship in players[0].ships) > 0


def test_world_over_a_bad_line_is_that_of_a_game_without_a_line(sides):
    players = sides(2, delay=0)
    script = play(players, 50, Line(seed=1))
    far = players[0].frame()

    esper.switch_world("default")
    esper.delete_world(players[0].world)
    players[0] = alone = Side(0, 2)
    for frame in range(50):
        alone.step([inputs[frame] for inputs in script])

    assert compare_frames(far, alone.frame()) == []


def test_wrong_prediction_is_put_right_when_the_input_comes(sides):
    one, other = sides(2, delay=0)
    for _ in range(5):
        one.advance(0)
    assert (one.session.frame, one.session.confirmed, one.session.n_predicted) == (5, 0, 5)
    for _ in range(5):
        other.advance(1)

    assert one.receive(other.session.packet(0))
    one.advance(0)

    assert (one.session.n_rollbacks, one.session.n_repeated) == (1, 5)
    assert one.session.confirmed == 5
    other.receive(one.session.packet(1))
    other.advance(1)
    assert compare_frames(one.frame(), other.frame()) == []


def test_who_is_too_far_ahead_waits(sides):
    one, _ = sides(2, delay=0, window=4)

    assert [one.advance(0) for _ in range(6)] == [True] * 4 + [False] * 2
    assert one.session.frame == 4


def test_input_takes_part_after_the_delay(sides):
    one, _ = sides(2, delay=3)
    seen = []
    one.session._step = seen.append
    for pressed in (1, -1, 1, 1):
        one.advance(pressed)

    assert [inputs[0] for inputs in seen] == [0, 0, 0, 1]


def test_desync_is_found_and_named_by_field_on_both_sides(sides):
    players = sides(2, delay=0, check_every=5)

    def spoil(side):
        if side is players[1] and side.session.frame >= 22:
            side.speed = 60.001

    play(players, 60, Line(seed=5), spoil)

    for side, sign in zip(players, (1, -1), strict=True):
        found = side.session.desync
        assert found is not None
        assert found.step in (10, 15, 20, 25, 30)  # steps before 22 are done again, too
        names = [difference.name for difference in found.differences]
        assert any(name.startswith("Velocity.x") for name in names), (found, sign)
        assert "entity 5 (Ship)" in str(found) or "entity 6 (Ship)" in str(found)


def test_packets_that_are_none_are_refused_and_change_nothing(sides):
    one, other = sides(2, delay=0)
    other.advance(1)
    data = other.session.packet(0)
    chance = random.Random(2)
    content = json.loads(data)
    strange = [
        b"",
        b"[]",
        b"{}",
        b"\xff\xfe",
        json.dumps({**content, "from": 0}).encode(),
        json.dumps({**content, "from": [1]}).encode(),
        json.dumps({**content, "first": 5}).encode(),
        json.dumps({**content, "inputs": "abc"}).encode(),
        json.dumps({**content, "checks": [1]}).encode(),
        json.dumps({**content, "frame": {"entities": 3}}).encode(),
    ]
    for packet in strange:
        assert not one.receive(packet), packet
    for _ in range(200):
        broken = bytearray(data)
        broken[chance.randrange(len(data))] = chance.randrange(256)
        one.receive(bytes(broken[: chance.randrange(len(data) + 1)]))
    assert one.advance(0)


@pytest.mark.parametrize(
    ("how", "words"),
    [
        ({"n_players": 0}, "n_players=0"),
        ({"local": 2}, "must be below n_players=2"),
        ({"window": 0}, "window=0"),
        ({"delay": -1}, "delay=-1"),
    ],
)
def test_settings_that_make_no_session_are_refused(world, how, words):
    with pytest.raises(ValueError, match=words):
        Session(ec.install(), print, **{"n_players": 2, "local": 0, **how})


def test_input_that_no_packet_can_hold_is_refused(sides):
    one, _ = sides(2)
    with pytest.raises(TypeError, match="must be given numbers, texts, or lists"):
        one.advance(object())
