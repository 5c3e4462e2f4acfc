"""Rollback for games over a network: play on with predicted inputs, go back if they were wrong.

Each player runs the whole game.  Own inputs take part some frames later (`delay`).  The inputs of
the others are predicted to stay the same until they arrive.  If a prediction was wrong, the session
restores the world to the first frame with a wrong input, and repeats the steps from there.
This is the scheme of GGPO (Tony Cannon, "Fight the Lag", Game Developer, 2012) and of GGRS.  It
also compares fields after a desync, and names the first one that differs.

A session only makes and receives packets and never waits, so any transport works.  A
packet may be lost, doubled or late, and may come from a stranger.  It consists of a seal, which
reveals damage or a wrong key, and a list in JSON.  Bounds on sizes follow from the distance between
honest players.  A player that has our inputs up to frame h has sent its own up to at most
h + window + delay.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import zlib
from base64 import b85decode, b85encode
from collections import Counter
from collections.abc import Callable
from math import isfinite
from types import EllipsisType
from typing import Any, NamedTuple

from ecs_collide.recording.checked import (
    read_components,
    read_events,
    read_id,
    read_number,
    read_text,
    require,
    require_shallow,
    unpack,
)
from ecs_collide.recording.frames import Frame, as_floats, compare_frames, plain, read_frame, same
from ecs_collide.recording.recording import Divergence
from ecs_collide.snapshot.saved_state import SavedState
from ecs_collide.space import Space

_VERSION = 2  # packet format
_KEPT_CHECKS = 8  # checks that are kept for comparison with the other players
_SEAL, _DIGEST = 16, 16  # seal length in bytes; digest length in hexadecimal digits
_LEAST_KEY = 16  # bytes
_LARGEST_INPUT = 256  # characters of an input in JSON
_LARGEST_NUMBER = 2**63  # exclusive bound of whole numbers
_REST = 2048  # maximum bytes of a packet without its inputs
_PIECE = 640  # bytes of a packed frame in one packet
_FRAME_ROOM = 2**16  # bytes by which another player's frame may exceed twice our own
_TRIALS = 8  # invalid frames of another player after which no more are requested


class _Packet(NamedTuple):
    """The contents of a packet."""

    sender: int
    to: int
    first: int  # frame of the first input
    have: int  # number of the receiver's inputs that the sender has
    inputs: list[Any]
    checks: list[Any]  # the frame of the first check, and the digests from there on, as one text
    want: int  # the frame that the receiver should send; 0 for none
    piece: list[Any] | None  # piece of a requested frame: step, index, number of pieces, text


class _Refusal(Exception):  # noqa: N818 - it never leaves this module
    """The refusal of a packet; its text is one of a fixed set of reasons."""


class Session:
    """One player's side of a game over a network.

    Parameters
    ----------
    space : Space
        The space of the current world, which is the same for all players at first.
    step : callable
        Does one step with the inputs of all players, by their numbers: it sets the inputs and
        calls `esper.process`.  It may change only components that snapshots hold;
        `testing.assert_rollback_safe` checks it.
    n_players : int
    local : int
        The number of this player, from 0.
    delay : int
        Frames until an own input takes part; they hide the latency to the other players.
    window : int
        The most frames that it plays ahead of the last one whose inputs are all known.
    check_every : int
        Number of frames after which the players compare their worlds.
    default : plain value
        The input of all players before their first one.
    check : callable, optional
        Given an input, returns whether it is possible in the game.  Packets with other inputs, or
        with inputs for which it raises, are refused.  By default an input must have the shape
        of `default`: a whole number for a whole number, any number for a float, a list of the
        same length, a dict with the same keys.
    key : bytes, optional
        A secret that the players share for one game, 16 bytes or more, such as
        ``secrets.token_bytes(32)``.  Without it everybody able to send a packet can play.

    Attributes
    ----------
    frame : int
        Steps so far.
    n_rollbacks, n_repeated : int
        The number of rollbacks, and of repeated steps.
    desync : Divergence or None
        The first difference between the worlds of two players, with fields as soon as the other
        player's frame is here.  `first` is ours, `second` theirs.
    refused : Counter
        How many packets were refused, by reason.

    Notes
    -----
    `n_players`, `delay`, `window`, `check_every` and `default` must be the same for all players.
    Packets of a session with other settings are refused.
    """

    def __init__(
        self,
        space: Space,
        step: Callable[[list[Any]], object],
        n_players: int,
        local: int,
        *,
        delay: int = 2,
        window: int = 8,
        check_every: int = 10,
        default: Any = 0,
        check: Callable[[Any], object] | None = None,
        key: bytes | None = None,
    ) -> None:
        for name, value, least in (
            ("n_players", n_players, 1),
            ("local", local, 0),
            ("delay", delay, 0),
            ("window", window, 1),
            ("check_every", check_every, 1),
        ):
            if not isinstance(value, int) or value < least:
                raise ValueError(f"Session({name}={value!r}) must be a whole number from {least}")
        if local >= n_players:
            raise ValueError(f"Session(local={local}) must be below n_players={n_players}")
        self._default = plain(default)
        if not _is_plain(self._default):
            raise ValueError(f"Session(default={default!r}) must be as inputs are: 0, [0, 0] or ''")
        if key is not None and not (isinstance(key, bytes) and len(key) >= _LEAST_KEY):
            raise ValueError(
                f"Session(key=...) must be {_LEAST_KEY} bytes or more: secrets.token_bytes(32)"
            )
        self.space = space
        self.frame = self.n_rollbacks = self.n_repeated = 0
        self.desync: Divergence | None = None
        self.refused: Counter[str] = Counter()
        self._step = step
        self._local = local
        self._delay = delay
        self._window = window
        self._check_every = check_every
        self._check = check
        settings = json.dumps([_VERSION, n_players, delay, window, check_every, self._default])
        self._key = hashlib.blake2b(settings.encode(), key=hashlib.blake2b(key or b"").digest())
        self._most_inputs = 2 * (window + delay)  # maximum in a packet
        self._largest_packet = _REST + self._most_inputs * (_LARGEST_INPUT + 1)
        # The known inputs of each player, by frame; `default` for the first `delay` frames.
        # Inputs that no frame needs any more are dropped.
        self._inputs: list[dict[int, Any]] = [
            dict.fromkeys(range(delay), self._default) for _ in range(n_players)
        ]
        self._n_known = [delay] * n_players  # number of known inputs, including dropped ones
        self._used: dict[int, list[Any]] = {}
        self._saves: dict[int, SavedState] = {}
        self._checks: dict[int, Frame] = {}
        self._digests: dict[int, str] = {}  # of the frames in `_checks`
        self._pieces: dict[int, list[str]] = {}  # pieces of requested frames of `_checks`
        others = [n for n in range(n_players) if n != local]
        self._acknowledged = dict.fromkeys(others, 0)  # number of our inputs that each has
        self._others: dict[int, dict[int, str]] = {n: {} for n in others}
        self._wanted = dict.fromkeys(others, 0)  # the frame that another player requests, or 0
        self._next_piece = dict.fromkeys(others, 0)
        # The frame that we request: its player, its pieces, their number, its maximum bytes,
        # and the number of invalid trials.
        self._suspect = -1
        self._theirs: dict[int, bytes] = {}
        self._n_theirs = self._room = self._n_trials = 0

    # -- playing --

    @property
    def confirmed(self) -> int:
        """The number of frames for which the inputs of all players are known."""
        return min(self._n_known)

    @property
    def n_predicted(self) -> int:
        """The number of the last frames that used predicted inputs."""
        return max(0, self.frame - self.confirmed)

    def advance(self, pressed: Any) -> bool:
        """Do the next step, after correcting wrong predictions.

        Parameters
        ----------
        pressed : plain value
            The input of this player: a number, a text, or a list of these.

        Returns
        -------
        bool
            False if it is too far ahead of another player.  Nothing was done.  Call it again with
            `pressed` after the next packet.

        Raises
        ------
        TypeError
            `pressed` is not a plain value.
        ValueError
            `pressed` does not have the shape of `default`, is refused by `check`, or is too large.
        """
        pressed = self._own_input(pressed)
        self.settle()
        if self.frame - min(self._known_of_others()) >= self._window:
            return False
        self._add_input(self._local, pressed)
        self._simulate(self.frame)
        self.frame += 1
        self._compare()
        return True

    def settle(self) -> None:
        """Correct wrong predictions and compare the worlds, without a new step."""
        self._go_back()
        self._compare()

    def _own_input(self, pressed: Any) -> Any:
        """Return this player's input as the other players receive it, or raise."""
        try:
            text = json.dumps(plain(pressed), allow_nan=False)
            value = json.loads(text)
            is_same = bool(value == pressed)
        except (TypeError, ValueError):
            is_same = False
        if not is_same:
            raise TypeError(
                f"advance({pressed!r}) must be given finite numbers, texts, or lists of them"
            )
        if len(text) > _LARGEST_INPUT or not _is_plain(value):
            raise ValueError(
                f"advance({pressed!r:.80}) must be given whole numbers below 2**63, valid texts, "
                f"and {_LARGEST_INPUT} characters as JSON at most"
            )
        if self._check is None and not _has_shape(value, self._default):
            raise ValueError(
                f"advance({pressed!r}) must have the shape of default={self._default!r}: give "
                "Session(default=...) an input of that shape, or check="
            )
        if self._check is not None and not self._check(value):
            raise ValueError(f"advance({pressed!r}) is refused by check() of the session")
        return value

    def _can_press(self, value: Any) -> bool:
        """Return whether an input of another player is valid, by the rules of `_own_input`."""
        if not _is_plain(value):
            return False
        if self._check is None:
            return _has_shape(value, self._default)
        try:
            return bool(self._check(value))
        except Exception:  # check() did not expect this type of input
            return False

    def _known_of_others(self) -> list[int]:
        return [self._n_known[n] for n in self._others] or [self.frame]

    def _input(self, player: int, frame: int) -> Any:
        """Return a player's input for a frame: the known one, or else the last known one."""
        return self._inputs[player].get(min(frame, self._n_known[player] - 1), self._default)

    def _add_input(self, player: int, value: Any) -> None:
        self._inputs[player][self._n_known[player]] = value
        self._n_known[player] += 1

    def _drop_inputs(self) -> None:
        """Forget inputs that no step, prediction or packet needs any more."""
        needed = min(self._used, default=self.frame)
        for player, inputs in enumerate(self._inputs):
            first = min(needed, self._n_known[player] - 1)
            if player == self._local:
                first = min([first, *self._acknowledged.values()])
            for frame in [frame for frame in inputs if frame < first]:
                del inputs[frame]

    def _simulate(self, frame: int) -> None:
        self._saves[frame] = self.space.save_state()
        self._used[frame] = [self._input(n, frame) for n in range(len(self._inputs))]
        self._step(list(self._used[frame]))
        if (frame + 1) % self._check_every == 0:
            check = self._checks[frame + 1] = read_frame(self.space, frame + 1)
            self._digests[frame + 1] = _digest(check)

    def _go_back(self) -> None:
        """Repeat the steps from the first one with a wrongly predicted input."""
        first = self._first_wrong()
        if first < self.frame:
            self.n_rollbacks += 1
            self.space.restore(self._saves[first])
            for frame in range(first, self.frame):
                self._simulate(frame)
                self.n_repeated += 1
        for frame in [frame for frame in self._used if frame < self.confirmed]:
            del self._used[frame], self._saves[frame]
        self._drop_inputs()

    def _first_wrong(self) -> int:
        """Return the first frame with a wrongly predicted input, or else the next frame."""
        wrong = (
            frame
            for frame, used in sorted(self._used.items())
            if not all(same(self._input(n, frame), value) for n, value in enumerate(used))
        )
        return next(wrong, self.frame)

    def _final_checks(self) -> list[int]:
        """Return the frames of checks that no input can change any more."""
        end = min(self.confirmed, self._first_wrong())
        return sorted(frame for frame in self._checks if frame <= end)

    def _last_checks(self) -> list[Any]:
        """Return the frame of the first recent check, or of the desync, and the digests."""
        frames = self._final_checks()[-_KEPT_CHECKS:]
        if self.desync is not None:
            frames = [self.desync.step]
        return [frames[0] if frames else 0, "".join([self._digests[frame] for frame in frames])]

    # -- packets --

    def packet(self, player: int) -> bytes:
        """Return a packet for another player: inputs that it lacks, and a check of the world."""
        if player not in self._others:
            raise ValueError(f"packet({player!r}) must be for one of {sorted(self._others)}")
        mine, first = self._inputs[self._local], self._acknowledged[player]
        content = _Packet(
            self._local,
            player,
            first,
            self._n_known[player],
            [mine[frame] for frame in range(first, self._n_known[self._local])],
            self._last_checks(),
            self._want(player),
            self._piece(player),
        )
        body = json.dumps(content, separators=(",", ":")).encode()
        return self._seal(body) + body

    def _seal(self, body: bytes | bytearray) -> bytes:
        """Return a keyed BLAKE2b of a packet, which only players with the key can compute."""
        sealed = self._key.copy()
        sealed.update(body)
        return sealed.digest()[:_SEAL]

    def receive(self, data: bytes, sender: int | EllipsisType | None = ...) -> bool:
        """Receive a packet of another player; return whether it was valid.

        It never raises.  A packet that is refused changes only `refused`.  No step is done here;
        the next `advance` corrects wrong predictions.

        Parameters
        ----------
        data : bytes
        sender : int or None, optional
            The player at the packet's address, or None for an unknown address.  By default the
            sender that the packet names is trusted.
        """
        try:
            packet = self._read(data, sender)
        except _Refusal as error:
            self.refused[str(error)] += 1
            return False
        player = packet.sender
        for value in packet.inputs:
            self._add_input(player, value)
        self._acknowledged[player] = max(self._acknowledged[player], packet.have)
        start, digests = packet.checks
        self._others[player] = {
            start + n // _DIGEST * self._check_every: digests[n : n + _DIGEST]
            for n in range(0, len(digests), _DIGEST)
        }
        self._wanted[player] = packet.want
        if packet.piece is not None:
            self._take_piece(player, packet.piece)
        return True

    def _read(self, data: object, sender: object) -> _Packet:
        """Return a checked packet with only the new inputs, or raise `_Refusal`."""
        if not isinstance(data, (bytes, bytearray)) or len(data) <= _SEAL:
            raise _Refusal("it is no packet")
        if len(data) > self._largest_packet:
            raise _Refusal("it is larger than any packet")
        seal, body = data[:_SEAL], data[_SEAL:]
        if not hmac.compare_digest(seal, self._seal(body)):
            raise _Refusal("it is damaged, or of a session with another key or other settings")
        try:
            content = json.loads(body.decode("ascii"))
        except (ValueError, RecursionError):
            raise _Refusal("its content is no JSON") from None
        if type(content) is not list or len(content) != len(_Packet._fields):
            raise _Refusal("its content is no packet")
        packet = _Packet(*content)
        numbers = (packet.sender, packet.to, packet.first, packet.have, packet.want)
        for number in numbers:
            if type(number) is not int or not 0 <= number < _LARGEST_NUMBER:
                raise _Refusal("a number is not within its bounds")
        if packet.to != self._local:
            raise _Refusal("it is for another player")
        is_said = sender is ... or (type(sender) is int and sender == packet.sender)
        if packet.sender not in self._others or not is_said:
            raise _Refusal("it is of another player than its sender")
        known = self._n_known[packet.sender]
        if type(packet.inputs) is not list or len(packet.inputs) > self._most_inputs:
            raise _Refusal("it has more inputs than a player can be ahead")
        if packet.have > self._n_known[self._local] or packet.first > known:
            raise _Refusal("its inputs do not follow the known ones")
        if packet.first + len(packet.inputs) > packet.have + self._window + self._delay:
            raise _Refusal("it has more inputs than a player can be ahead")
        new = packet.inputs[known - packet.first :]
        if not all(map(self._can_press, new)):
            raise _Refusal("it has an input that no player can press")
        if not _are_checks(packet.checks) or not _is_piece(packet.piece):
            raise _Refusal("its check of the world is none")
        return packet._replace(inputs=new)

    # -- are the worlds the same? --

    def _compare(self) -> None:
        """Compare our final checks with the checks of the other players."""
        final = self._final_checks()
        for frame in final[:-_KEPT_CHECKS]:
            if self.desync is None or frame != self.desync.step:
                del self._checks[frame], self._digests[frame]
                self._pieces.pop(frame, None)
        if self.desync is not None:
            return
        for frame in final[-_KEPT_CHECKS:]:
            ours = self._digests.get(frame)
            for player, theirs in self._others.items():
                if theirs.get(frame, ours) != ours:
                    self._suspect = player
                    self._room = 2 * len(_frame_as_json(self._checks[frame])) + _FRAME_ROOM
                    self.desync = Divergence(frame, [], self._checks[frame], None)
                    return

    def _want(self, player: int) -> int:
        """Return the frame that another player should send, 0 for none."""
        if self.desync is None or self.desync.second is not None or self._n_trials == _TRIALS:
            return 0
        return self.desync.step if player == self._suspect else 0

    def _piece(self, player: int) -> list[Any] | None:
        """Return the next piece of the frame that another player requests, in a cycle."""
        step = self._wanted[player]
        if step not in self._checks or step not in self._final_checks():
            return None
        if step not in self._pieces:
            packed = zlib.compress(_frame_as_json(self._checks[step]))
            starts = range(0, len(packed), _PIECE)
            self._pieces[step] = [b85encode(packed[n : n + _PIECE]).decode() for n in starts]
        pieces = self._pieces[step]
        n = self._next_piece[player] % len(pieces)
        self._next_piece[player] = n + 1
        return [step, n, len(pieces), pieces[n]]

    def _take_piece(self, player: int, piece: list[Any]) -> None:
        """Store a piece of the requested frame; compare the frame when it is complete."""
        step, n, n_pieces, text = piece
        known = self.desync
        if known is None or known.first is None or self._want(player) != step:
            return
        if n_pieces > self._room // _PIECE:
            return
        if n_pieces != self._n_theirs:
            self._theirs.clear()
            self._n_theirs = n_pieces
        try:
            self._theirs[n] = b85decode(text)
        except ValueError:
            return
        if len(self._theirs) < n_pieces:
            return
        packed = b"".join(self._theirs[n] for n in range(n_pieces))
        self._theirs.clear()
        try:
            theirs = _frame_from_json(step, unpack(packed, self._room))
        except (ValueError, RecursionError):
            self._n_trials += 1
            return
        differences = compare_frames(known.first, theirs, types=False)
        self.desync = Divergence(known.step, differences, known.first, theirs)


# -- valid contents of a packet --


def _is_plain(value: Any, levels: int = 3) -> bool:
    """Return whether a value of JSON is an input: finite numbers, valid texts, lists of them."""
    kind = type(value)
    if kind is int:
        return bool(-_LARGEST_NUMBER <= value < _LARGEST_NUMBER)
    if kind is float:
        return isfinite(value)
    if kind is str:
        return len(value) <= _LARGEST_INPUT and not any("\ud800" <= c <= "\udfff" for c in value)
    if kind is list or kind is dict:
        parts = value if kind is list else [*value, *value.values()]
        return (
            levels > 0
            and len(parts) <= _LARGEST_INPUT
            and all(_is_plain(part, levels - 1) for part in parts)
        )
    return kind is bool or value is None


def _has_shape(value: Any, default: Any) -> bool:
    """Return whether a value has the types and lengths of another; a float accepts an int."""
    if type(default) is list:
        return (
            type(value) is list
            and len(value) == len(default)
            and all(map(_has_shape, value, default))
        )
    if type(default) is dict:
        return (
            type(value) is dict
            and value.keys() == default.keys()
            and all(_has_shape(value[name], part) for name, part in default.items())
        )
    return isinstance(value, (int, float) if type(default) is float else type(default))


def _are_checks(checks: object) -> bool:
    """Return whether a value is a frame and at most as many digests as a session keeps."""
    if type(checks) is not list or [type(part) for part in checks] != [int, str]:
        return False
    frame, digests = checks
    n, rest = divmod(len(digests), _DIGEST)
    return 0 <= frame < _LARGEST_NUMBER and n <= _KEPT_CHECKS and rest == 0


def _is_piece(piece: object) -> bool:
    """Return whether a value is a piece of a frame: step, index, number of pieces, text."""
    if piece is None:
        return True
    if type(piece) is not list or [type(part) for part in piece] != [int, int, int, str]:
        return False
    step, n, n_pieces, text = piece
    return step > 0 and 0 <= n < n_pieces and len(text) <= _PIECE * 5 // 4


def _digest(frame: Frame) -> str:
    """Return a fingerprint of a frame: the bodies and all components, including custom ones.

    After a rollback a world may have 1.0 where the world of another player has 1.
    """
    text = json.dumps([frame.digest, as_floats(frame.entities)], sort_keys=True)
    return hashlib.blake2b(text.encode(), digest_size=_DIGEST // 2).hexdigest()


def _frame_as_json(frame: Frame) -> bytes:
    content = [frame.time, frame.digest, frame.entities, frame.contacts, frame.events]
    return json.dumps(content, separators=(",", ":")).encode()


def _frame_from_json(step: int, data: bytes) -> Frame:
    """Return the frame that another player has sent; raise ValueError if it is invalid."""
    content = json.loads(data.decode("ascii"))
    require(type(content) is list and len(content) == 5, "a frame")
    require_shallow(content)
    time, digest, found, contacts, events = content
    require(type(found) is dict, "its entities")
    entities = {read_id(text): read_components(parts) for text, parts in found.items()}
    seconds, name = read_number(time, "its time"), read_text(digest, "its digest")
    return Frame(step, 0.0, seconds, {}, entities, read_events(contacts), read_events(events), name)
