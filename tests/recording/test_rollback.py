"""Rollback over a line that loses, doubles and delays packets: the players' worlds are the same."""

from __future__ import annotations

import base64
import copy
import json
import math
import random
import zlib
from dataclasses import dataclass

import esper
import pytest

import ecs_collide as ec
from ecs_collide.recording.frames import Frame, compare_frames, read_frame
from ecs_collide.recording.rollback import Session, _digest

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


def parts(data):
    """Return the list in a packet."""
    return json.loads(data[16:])


def sealed(session, content):
    """Return a packet with a seal that holds, as a player with the key can make it."""
    body = content if isinstance(content, bytes) else json.dumps(content).encode()
    return session._seal(body) + body


SENDER, TO, FIRST, HAVE, INPUTS, CHECKS, WANT, PIECE = range(8)
DEEP = b"[" * 1200
HOSTILE = {
    "nothing": (b"", "it is no packet"),
    "nested lists": (DEEP, "its content is no JSON"),
    "a number without end": (b'[Infinity,0,0,0,[],[0,""],0,null]', "not within its bounds"),
    "a number of 400 digits": (b"[1" + b"0" * 400 + b',0,0,0,[],[0,""],0,null]', "not within"),
    "a number of 5,000 digits": (b"[" + b"1" * 5000 + b"]", "its content is no JSON"),
    "other letters": ("[\u00e9]".encode(), "its content is no JSON"),
    "a packet that is too large": (b" " * 2**16, "it is larger than any packet"),
    "a dict": (b"{}", "its content is no packet"),
    "a list of other length": (b"[1,0,0,0,[],[0],0]", "its content is no packet"),
    "a player that is True": ({SENDER: True}, "a number is not within its bounds"),
    "a player that is a list": ({SENDER: [1]}, "a number is not within its bounds"),
    "a player that does not exist": ({SENDER: 2}, "it is of another player than its sender"),
    "ourselves": ({SENDER: 0}, "it is of another player than its sender"),
    "another receiver": ({TO: 1}, "it is for another player"),
    "inputs with a gap": ({FIRST: 5}, "its inputs do not follow the known ones"),
    "more than we have given": ({HAVE: 10**15}, "its inputs do not follow the known ones"),
    "have of 31 digits": ({HAVE: 10**30}, "a number is not within its bounds"),
    "inputs far ahead": ({INPUTS: [0] * 9}, "it has more inputs than a player can be ahead"),
    "a thousand inputs": ({INPUTS: [0] * 1000}, "it has more inputs than a player can be ahead"),
    "inputs that are a text": ({INPUTS: "abc"}, "it has more inputs than a player can be ahead"),
    "a text as input": ({INPUTS: ["jump"]}, "it has an input that no player can press"),
    "half an input": ({INPUTS: [0.5]}, "it has an input that no player can press"),
    "an input of 2**63": ({INPUTS: [2**63]}, "it has an input that no player can press"),
    "an input that is none": ({INPUTS: [None]}, "it has an input that no player can press"),
    "checks that are a dict": ({CHECKS: {}}, "its check of the world is none"),
    "checks of a list": ({CHECKS: [5, []]}, "its check of the world is none"),
    "many checks": ({CHECKS: [5, "0" * 16 * 9]}, "its check of the world is none"),
    "a check of no frame": ({CHECKS: [-5, "0" * 16]}, "its check of the world is none"),
    "a check that is too long": ({CHECKS: [5, "0" * 17]}, "its check of the world is none"),
    "want of a text": ({WANT: "5"}, "a number is not within its bounds"),
    "a piece of nothing": ({PIECE: [5, 0, 0, ""]}, "its check of the world is none"),
    "a piece that is too long": ({PIECE: [5, 0, 1, "0" * 801]}, "its check of the world is none"),
    "a piece of lists": ({PIECE: [5, [], 1, "0"]}, "its check of the world is none"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_packets_that_are_none_are_refused_with_a_reason_and_change_nothing(sides, name):
    one, other = sides(2, delay=0)
    other.advance(1)
    content, reason = HOSTILE[name]
    if isinstance(content, dict):
        changed = parts(other.session.packet(0))
        for place, value in content.items():
            changed[place] = value
        content = changed
    before = one.session.packet(1)

    assert not one.receive(sealed(one.session, content) if content else content)

    ((why, n),) = one.session.refused.items()
    assert reason in why
    assert n == 1
    assert one.session.packet(1) == before
    assert one.session.confirmed == 0
    assert one.advance(0)


@pytest.mark.parametrize("data", [None, "text", 5, [], bytearray(b"x"), memoryview(b"x" * 90)])
def test_what_is_no_bytes_is_refused(sides, data):
    one, _ = sides(2)

    assert not one.receive(data)


def test_every_flipped_bit_is_seen_by_the_seal(sides):
    one, other = sides(2, delay=0)
    other.advance(1)
    data = other.session.packet(0)

    for bit in range(8 * len(data)):
        broken = bytearray(data)
        broken[bit // 8] ^= 1 << bit % 8
        assert not one.receive(bytes(broken))

    (reason,) = one.session.refused
    assert reason.startswith("it is damaged, or of a session with another key")
    assert one.receive(data)


@pytest.mark.parametrize(
    "how", [{"key": b"2" * 16}, {"key": None}, {"delay": 3}, {"window": 9}, {"default": 1}]
)
def test_packet_of_another_key_or_of_other_settings_is_refused(sides, how):
    one, _ = sides(2, key=b"1" * 16)
    stranger = Session(one.space, print, 2, 1, **{"key": b"1" * 16, **how})
    friend = Session(one.space, print, 2, 1, key=b"1" * 16)

    assert not one.receive(stranger.packet(0))
    assert one.receive(friend.packet(0))


def test_packet_is_taken_only_of_the_player_from_whose_address_it_comes(sides):
    one, other, third = sides(3)
    data = other.session.packet(0)

    for sender in (2, 0, None, "1", [1], True):
        assert not one.session.receive(data, sender)
    assert not third.receive(data)  # nor is it taken by whom it was not for
    assert not other.receive(one.session.packet(2))
    assert one.session.receive(data, 1)


def test_old_packets_that_come_again_change_nothing(sides):
    one, other = sides(2, delay=1)
    script = [1, -1, 0, 1, 1, 0, -1, 1]
    old = []
    for pressed in script * 8:
        other.advance(pressed)
        one.advance(0)
        old.append(other.session.packet(0))
        one.receive(old[-1])
        other.receive(one.session.packet(1))
    confirmed, packet = one.session.confirmed, parts(one.session.packet(1))

    for data in old:
        one.receive(data)
    one.receive(old[-1])

    assert one.session.confirmed == confirmed
    assert parts(one.session.packet(1)) == packet
    assert one.session.desync is None


def test_input_that_the_game_refuses_is_not_taken(sides):
    def check(pressed):
        return {"left": True, "right": True}[pressed]

    one, other = sides(2, delay=0, check=check, default="left")
    good, bad = [1, 0, 0, 0, ["right"], [0, ""], 0, None], [1, 0, 0, 0, ["up"], [0, ""], 0, None]

    assert not one.receive(sealed(one.session, bad))  # for which check raises
    assert one.receive(sealed(one.session, good))
    assert one.session.refused == {"it has an input that no player can press": 1}
    with pytest.raises(KeyError):
        other.session.advance("up")


@pytest.mark.parametrize(
    ("default", "good", "bad"),
    [
        (0, [1, -1, True], [0.5, "a", None, [0], math.nan]),
        (0.0, [1, 0.5, -0.0], ["a", None, math.inf, 2**70]),
        ("", ["jump", "\u00e9"], [1, "\ud800", "a" * 300]),
        ([0, 0.0], [[1, 0.5]], [[1], [1, 1, 1], [0.5, 0], 0]),
        ({"x": 0}, [{"x": 1}], [{}, {"x": 0, "y": 0}, {"x": []}]),
    ],
)
def test_input_has_the_shape_of_the_default(sides, default, good, bad):
    one, other = sides(2, delay=0, default=default)
    one.session._step = other.session._step = lambda inputs: esper.process(DT)

    for value in bad:
        with pytest.raises((ValueError, TypeError), match="advance"):
            other.advance(value)
        assert not one.receive(sealed(one.session, [1, 0, 0, 0, [value], [0, ""], 0, None]))
    for value in good:
        assert other.advance(value)
    assert one.receive(other.session.packet(0))
    assert one.session.confirmed == 0
    assert one.advance(default)
    assert one.session._n_known[1] == len(good)


def test_zero_of_the_other_sign_is_another_input(sides):
    one, other = sides(2, delay=0, default=0.0)
    seen = []
    one.session._step = lambda inputs: seen.append(str(inputs[1]))
    one.advance(0.0)
    other.advance(-0.0)

    one.receive(other.session.packet(0))
    one.session.settle()

    assert seen == ["0.0", "-0.0"]


def test_long_game_keeps_no_more_inputs_than_a_short_one(sides):
    one, other = sides(2, delay=2)
    for side in (one, other):
        side.session._step = lambda inputs: None
    for n in range(300):
        for side, to in ((one, other), (other, one)):
            assert side.advance(n % 3)
            to.receive(side.session.packet(0 if to is one else 1))
        if n > 20:
            assert max(map(len, one.session._inputs)) < 12
            assert len(one.session.packet(1)) < 400


def test_player_that_acknowledges_nothing_gets_packets_of_bounded_size(sides):
    one, _ = sides(2, delay=2, window=8)
    one.session._step = lambda inputs: None
    n_taken = 0
    for _ in range(200):
        one.advance(1)
        n_taken += one.receive(sealed(one.session, [1, 0, n_taken, 0, [0], [0, ""], 0, None]))

    assert len(parts(one.session.packet(1))[INPUTS]) <= 20
    assert one.session.frame < 30


def test_frame_that_is_requested_is_sent_in_pieces_that_fit_a_datagram(sides):
    players = sides(2, delay=0, check_every=5)
    for player in players:
        esper.switch_world(player.world)
        chance = random.Random(3)
        for n in range(150):
            esper.create_entity(ec.Position(200 + chance.random(), 9 * n), ec.Extents(1, 1))
    line, largest = Line(seed=5, loss=0.1, late=2), 0

    for turn in range(400):
        for side, other in (players, players[::-1]):
            side.speed = 60.001 if side is players[1] and side.session.frame > 12 else 60.0
            side.advance(turn % 2)
            data = side.session.packet(players.index(other))
            largest = max(largest, len(data))
            line.send(turn, players.index(other), data)
        for _, to, data in line.arriving(turn):
            assert players[to].receive(data)
        if all(side.session.desync and side.session.desync.second for side in players):
            break

    assert largest < 1200
    for side in players:
        assert any("Velocity.x" in each.name for each in side.session.desync.differences)
        assert parts(side.session.packet(1 - players.index(side)))[WANT] == 0


def desynced(sides):
    """Return two sides of which the first requests a frame of the second."""
    one, other = sides(2, delay=0, check_every=1)
    one.advance(0)
    data = [1, 0, 0, 0, [0], [1, "0" * 16], 0, None]
    assert one.receive(sealed(one.session, data))
    esper.switch_world(one.world)
    one.session.settle()
    assert one.session.desync.second is None
    assert parts(one.session.packet(1))[WANT] == 1
    return one, other


def pieces_of(data):
    packed = zlib.compress(data)
    texts = [base64.b85encode(packed[n : n + 640]).decode() for n in range(0, len(packed), 640)]
    return [[1, n, len(texts), text] for n, text in enumerate(texts)]


GARBAGE = {
    "no JSON": b"nothing",
    "nested lists": b"[" * 5000,
    "a bomb": b" " * 2**20,
    "a dict": b"{}",
    "contacts of nobody": b'[0,"00",{},[{"event":"x"}],[]]',
    "entities that are no numbers": b'[0,"00",{"x":{}},[],[]]',
    "entities that are lists": b'[0,"00",[],[],[]]',
    "a time without end": b'[Infinity,"00",{},[],[]]',
    "a digest that is a number": b"[0,5,{},[],[]]",
    "levels": b'[0,"00",{"1":{"A":{"x":' + b"[" * 20 + b"]" * 20 + b"}}},[],[]]",
}


@pytest.mark.parametrize("name", GARBAGE)
def test_garbage_as_the_frame_of_a_desync_is_dropped(sides, name):
    one, _ = desynced(sides)

    for n in range(30):
        for piece in pieces_of(GARBAGE[name]):
            one.receive(sealed(one.session, [1, 0, 0, 0, [], [0, ""], 0, piece]))
        assert parts(one.session.packet(1))[WANT] == (1 if n < 7 else 0)

    assert one.session.desync.second is None
    str(one.session.desync)


def test_frame_of_a_desync_cannot_command_the_terminal(sides):
    one, _ = desynced(sides)
    evil = "\x1b[2J\ud800"
    frame = [0.0, "00", {"9": {evil: {evil: evil}}}, [], [{"event": evil, "first": 1, "second": 2}]]

    for piece in pieces_of(json.dumps(frame).encode()):
        assert one.receive(sealed(one.session, [1, 0, 0, 0, [], [0, ""], 0, piece]))

    assert one.session.desync.second is not None
    assert str(one.session.desync).replace("\n", "").isprintable()


def test_pieces_that_claim_to_be_many_are_not_kept(sides):
    one, _ = desynced(sides)

    for n in range(2000):
        piece = [1, n, 10**9, "0" * 5]
        assert one.receive(sealed(one.session, [1, 0, 0, 0, [], [0, ""], 0, piece]))

    assert len(one.session._theirs) == 0


def test_player_that_walks_by_whole_numbers_is_no_desync(sides):
    frames = [
        Frame(1, 0.0, 0.0, {}, {1: {"Character": {"walk": walk}}}, (), (), "00")
        for walk in (1, 1.0, True, -1)
    ]

    assert len({_digest(frame) for frame in frames}) == 2


STRANGE = (
    *(None, True, -1, 0, 1, 2, 7, 2**70, 10**400, math.nan, math.inf, 0.5, -0.0, "", "9" * 400),
    *("\x00\ud800", "0" * 16, [], {}, [[[[[]]]]], [0] * 30, [4, "0" * 32], [1, 0, 1, "00000"]),
    *([5, 0, 3, "abc"], {"1": [2]}, [math.nan], ["a"], [None]),
)


def test_hostile_packets_in_any_number_raise_nothing_and_leave_no_trace(sides, volume):
    one, other = sides(2, delay=1, check_every=2)
    n, chance, n_taken = volume(2000, 40_000, 100_000), random.Random(9), 0
    for turn in range(n):
        if turn % 50 == 0 and one.session.frame < 60:
            # An honest game goes on meanwhile, then there is a desync.
            for side, to in ((one, other), (other, one)):
                side.speed = 61.0 if side is other and side.session.frame > 40 else 60.0
                side.advance(chance.choice([-1, 0, 1]))
                to.receive(side.session.packet(0 if to is one else 1))
        good = other.session.packet(0)
        kind = chance.random()
        if kind < 0.2:
            data = bytearray(good)
            for _ in range(chance.randrange(1, 4)):
                data[chance.randrange(len(data))] = chance.randrange(256)
        elif kind < 0.3:
            body = bytearray(good[16:])
            body[chance.randrange(len(body))] = chance.randrange(256)
            data = sealed(one.session, bytes(body))
        elif kind < 0.35:
            data = sealed(one.session, chance.randbytes(chance.randrange(1, 60)))
        else:
            content = parts(good)
            for _ in range(chance.randrange(1, 3)):
                content[chance.randrange(8)] = copy.deepcopy(chance.choice(STRANGE))
            content[INPUTS] = [0] if chance.random() < 0.3 else content[INPUTS]
            data = sealed(one.session, content)
        n_taken += one.session.receive(bytes(data), chance.choice([..., 1, 1, None]))
        if turn % 50 == 0:
            esper.switch_world(one.world)
            one.session.settle()
            str(one.session.desync)
            assert len(one.session.packet(1)) < 2048 + 64

    session = one.session
    assert 0 < n_taken < n
    assert len(session.refused) < 16
    assert sum(session.refused.values()) >= n - n_taken
    assert all(len(inputs) < 40 for inputs in session._inputs)
    assert len(session._theirs) < 200
    assert len(session._checks) < 40
    assert len(session._saves) <= session._window + 1


@pytest.mark.parametrize(
    ("how", "words"),
    [
        ({"n_players": 0}, "n_players=0"),
        ({"local": 2}, "must be below n_players=2"),
        ({"window": 0}, "window=0"),
        ({"delay": -1}, "delay=-1"),
        ({"key": b"short"}, "must be 16 bytes or more"),
        ({"key": "a text of some length"}, "must be 16 bytes or more"),
        ({"default": object()}, "must be as inputs are"),
    ],
)
def test_settings_that_make_no_session_are_refused(world, how, words):
    with pytest.raises(ValueError, match=words):
        Session(ec.install(), print, **{"n_players": 2, "local": 0, **how})


def test_input_that_no_packet_can_hold_is_refused(sides):
    one, _ = sides(2)
    with pytest.raises(TypeError, match="must be given finite numbers, texts, or lists"):
        one.advance(object())
