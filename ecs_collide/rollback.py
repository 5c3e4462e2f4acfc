"""Rollback for games over a network: play on with predicted inputs, go back where they were wrong.

Each player runs the whole game.  Own inputs take part some frames later (`delay`); those of the
others are predicted to stay as they are until they arrive.  If they were others, the session
restores the world to the frame in which they differ first, and does the steps since then again.
This is the scheme of GGPO (Tony Cannon, "Fight the Lag", Game Developer, 2012) and of GGRS.  It
differs in what it does about desyncs: it compares fields, so that it names the first that differs.

A session neither sends nor waits: it makes packets and takes them, so any transport serves.  A
packet may be lost, doubled or late.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from typing import Any

from ecs_collide.recording.frames import Frame, compare_frames, plain, read_frame
from ecs_collide.recording.recording import Divergence
from ecs_collide.space import Space

_KEPT_CHECKS = 8  # checks that are kept for comparison with those of the others
_SENT = ("step", "time", "entities", "contacts", "events", "digest")  # of a frame, in a packet


class Session:
    """One player's side of a game over a network.

    Parameters
    ----------
    space : Space
        Of the current world, which is the same for all players at first.
    step : callable
        Does one step with the inputs of all players, by their numbers: it sets what they
        press and calls `esper.process`.  What it changes must be in components that snapshots
        hold; `testing.assert_rollback_safe` finds out.
    n_players : int
    local : int
        The number of this player, from 0.
    delay : int
        Frames until an own input takes part: each hides so much of the way to the others.
    window : int
        How many frames it plays ahead of the last one whose inputs are all known.
    check_every : int
        Number of frames after which the players compare their worlds.
    default : plain value
        What everybody presses before the first input.

    Attributes
    ----------
    frame : int
        Steps so far.
    n_rollbacks, n_repeated : int
        How often it went back, and steps that were done again.
    desync : Divergence or None
        Where the worlds of two players differ first, by field as soon as the other's frame is
        here: `first` is ours, `second` theirs.
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
        self.space = space
        self.frame = self.n_rollbacks = self.n_repeated = 0
        self.desync: Divergence | None = None
        self._step = step
        self._local = local
        self._window = window
        self._check_every = check_every
        self._default = default
        # What is known of each player's inputs, from frame 0 on; all have pressed nothing at first.
        self._inputs: list[list[Any]] = [[default] * delay for _ in range(n_players)]
        self._acknowledged = [0] * n_players  # how many of ours each of the others has
        self._used: dict[int, list[Any]] = {}
        self._saves: dict[int, bytes] = {}
        self._checks: dict[int, Frame] = {}
        self._digests: dict[int, str] = {}  # of the frames in `_checks`
        self._others: dict[int, dict[int, str]] = {n: {} for n in range(n_players) if n != local}
        self._wanted: set[int] = set()  # frames that another player requests

    # -- playing --

    @property
    def confirmed(self) -> int:
        """How many frames' inputs are known of all players."""
        return min(map(len, self._inputs))

    @property
    def n_predicted(self) -> int:
        """How many of the last frames rest on predicted inputs."""
        return max(0, self.frame - self.confirmed)

    def advance(self, pressed: Any) -> bool:
        """Do the next step, after putting right what was predicted wrongly.

        Parameters
        ----------
        pressed : plain value
            What this player presses: a number, a text, or a list of these.

        Returns
        -------
        bool
            False if it is too far ahead of another player: nothing was done, and `pressed` is
            to be given again when a packet has come.
        """
        if plain(pressed) != pressed:
            raise TypeError(f"advance({pressed!r}) must be given numbers, texts, or lists of them")
        self.settle()
        if self.frame - min(self._known_of_others()) >= self._window:
            return False
        self._inputs[self._local].append(pressed)
        self._simulate(self.frame)
        self.frame += 1
        self._compare()
        return True

    def settle(self) -> None:
        """Put right what was predicted wrongly, and compare the worlds, without a new step."""
        self._go_back()
        self._compare()

    def _known_of_others(self) -> list[int]:
        known = [len(inputs) for n, inputs in enumerate(self._inputs) if n != self._local]
        return known or [self.frame]

    def _input(self, player: int, frame: int) -> Any:
        """Return a player's input: what is known, or else the last that is."""
        known = self._inputs[player]
        if frame < len(known):
            return known[frame]
        return known[-1] if known else self._default

    def _simulate(self, frame: int) -> None:
        self._saves[frame] = self.space.snapshot()
        self._used[frame] = [self._input(n, frame) for n in range(len(self._inputs))]
        self._step(list(self._used[frame]))
        if (frame + 1) % self._check_every == 0:
            check = self._checks[frame + 1] = read_frame(self.space, frame + 1)
            self._digests[frame + 1] = _digest(check)

    def _go_back(self) -> None:
        """Do the steps again from the first on whose inputs were predicted wrongly."""
        first = self._first_wrong()
        if first < self.frame:
            self.n_rollbacks += 1
            self.space.restore(self._saves[first])
            for frame in range(first, self.frame):
                self._simulate(frame)
                self.n_repeated += 1
        for frame in [frame for frame in self._used if frame < self.confirmed]:
            del self._used[frame], self._saves[frame]

    def _first_wrong(self) -> int:
        """Return the first frame whose inputs were predicted wrongly, or else the next one."""
        wrong = (
            frame
            for frame, used in sorted(self._used.items())
            if any(self._input(n, frame) != value for n, value in enumerate(used))
        )
        return next(wrong, self.frame)

    def _final_checks(self) -> list[int]:
        """Return the frames of checks that no input can change any more."""
        end = min(self.confirmed, self._first_wrong())
        return sorted(frame for frame in self._checks if frame <= end)

    # -- packets --

    def packet(self, player: int) -> bytes:
        """Return what another player is to be sent: inputs it lacks, and a check of the world."""
        mine = self._inputs[self._local]
        first = min(self._acknowledged[player], len(mine))
        final = self._final_checks()
        content: dict[str, Any] = {
            "from": self._local,
            "first": first,
            "inputs": mine[first:],
            "have": len(self._inputs[player]),
            "checks": {str(frame): self._digests[frame] for frame in final},
        }
        if self.desync is not None:
            content["want"] = self.desync.step
        for frame in self._wanted & set(final):
            check = self._checks[frame]
            content["frame"] = {name: getattr(check, name) for name in _SENT}
        return json.dumps(content, separators=(",", ":")).encode()

    def receive(self, data: bytes) -> bool:
        """Take a packet of another player; return whether it was one.

        Nothing is stepped: the next `advance` puts right what was predicted wrongly.
        """
        try:
            content = json.loads(data)
            player, first, inputs = content["from"], content["first"], content["inputs"]
            have, checks = content["have"], content["checks"]
            if player not in self._others or type(first) is not int or type(have) is not int:
                return False
            their_frame = _frame_from_plain(content["frame"]) if "frame" in content else None
            digests = {int(frame): str(digest) for frame, digest in checks.items()}
            known = self._inputs[player]
            if not 0 <= first <= len(known) or not isinstance(inputs, list):
                return False
        except (ValueError, KeyError, TypeError, AttributeError):
            return False
        known += inputs[len(known) - first :]
        self._acknowledged[player] = max(self._acknowledged[player], have)
        self._others[player] = digests
        if isinstance(content.get("want"), int):
            self._wanted.add(content["want"])
        if their_frame is not None and self.desync is not None:
            self._explain(their_frame)
        return True

    # -- are the worlds the same? --

    def _compare(self) -> None:
        """Compare what is final of our world with what the others have sent."""
        final = self._final_checks()
        for frame in final[:-_KEPT_CHECKS]:
            if self.desync is None or frame != self.desync.step:
                del self._checks[frame], self._digests[frame]
        if self.desync is not None:
            return
        for frame in final[-_KEPT_CHECKS:]:
            ours = self._digests.get(frame)
            if any(theirs.get(frame, ours) != ours for theirs in self._others.values()):
                self.desync = Divergence(frame, [], self._checks[frame], None)
                return

    def _explain(self, theirs: Frame) -> None:
        """Name what differs, by the frame that another player has sent."""
        known = self.desync
        if known is not None and known.first is not None and theirs.step == known.step:
            differences = compare_frames(known.first, theirs)
            self.desync = Divergence(known.step, differences, known.first, theirs)


def _digest(frame: Frame) -> str:
    """Return a fingerprint of a frame: the bodies, and all components, the game's own too."""
    text = json.dumps([frame.digest, frame.entities], sort_keys=True)
    return hashlib.blake2b(text.encode(), digest_size=8).hexdigest()


def _frame_from_plain(content: dict[str, Any]) -> Frame:
    """Return a frame; raise ValueError, KeyError, TypeError or AttributeError if it is invalid."""
    entities = {
        int(entity): {str(name): dict(parts) for name, parts in components.items()}
        for entity, components in content["entities"].items()
    }
    sequences: list[Sequence[Any]] = [content["contacts"], content["events"]]
    contacts, events = (tuple(dict(each) for each in some) for some in sequences)
    step, time = int(content["step"]), float(content["time"])
    return Frame(step, 0.0, time, {}, entities, contacts, events, str(content["digest"]))
