"""Recordings: the frames of a run, files of them, and the first difference between two runs.

The file is JSON, one line for each frame, packed with gzip.  A line holds only the differences
from the previous frame.  It holds no code, and loading a recording runs none.
"""

from __future__ import annotations

import base64
import gzip
import json
import os
import zlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from ecs_collide.extend import require_whole
from ecs_collide.recording.checked import (
    read_components,
    read_events,
    read_fields,
    read_id,
    read_number,
    read_text,
    read_trees,
    require,
    require_shallow,
    unpack,
)
from ecs_collide.recording.frames import (
    Components,
    Difference,
    Frame,
    compare_frames,
    describe,
    printable,
    same,
)
from ecs_collide.space import Space

FORMAT = "ecs_collide recording 1"
_AS_IS = ("step", "dt", "time", "inputs", "contacts", "events", "digest")  # of a frame, in a line
_NEEDED = frozenset((*_AS_IS, "gone", "changed"))  # of a line
_MOST_STEPS = 2**53
_LONGEST = 200  # characters of an error that quotes a file
_SHOWN = 12  # differences, and events, in a text


class RecordingError(ValueError):
    """An error for a file that is not a recording, or is damaged."""


@dataclass(slots=True)
class Recording:
    """The frames of a run.

    Attributes
    ----------
    frames : list of Frame
        The world at the start of the recording and after each step; the first frames are missing
        if only the last steps were kept.
    about : dict
        `dim`, `wrap` and `up` of a space that shows the frames; and `written`, the names of the
        component types that the library writes.
    """

    frames: list[Frame] = field(default_factory=list)
    about: dict[str, Any] = field(default_factory=dict)

    @property
    def n_steps(self) -> int:
        """The number of recorded steps."""
        return sum(1 for frame in self.frames if frame.step)

    def frame(self, step: int) -> Frame:
        """Return the frame after a step.

        Raises
        ------
        KeyError
            The step was not recorded.
        """
        first = self.frames[0].step if self.frames else 0
        if not 0 <= step - first < len(self.frames):
            raise KeyError(f"step {step} is not in the recording of steps {self.span()}")
        return self.frames[step - first]

    def span(self) -> str:
        """Return the first and the last step as text."""
        if not self.frames:
            return "none"
        return f"{self.frames[0].step} to {self.frames[-1].step}"

    def save(self, path: Path | str) -> Path:
        """Write the recording to a file, whose folder is made if it is missing."""
        path = Path(path)
        path.parent.mkdir(parents=True, exist_ok=True)
        with gzip.open(path, "wt", encoding="utf-8", compresslevel=5) as file:
            file.write(json.dumps({"format": FORMAT, **self.about}) + "\n")
            for line in _lines(self.frames):
                file.write(json.dumps(line, separators=(",", ":")) + "\n")
        return path

    @classmethod
    def load(cls, path: Path | str) -> Recording:
        """Read a recording.

        Raises
        ------
        RecordingError
            The file is not a recording, or is damaged.
        OSError
            The file cannot be read.
        """
        try:
            with Path(path).open("rb") as file, gzip.open(file) as unpacked:
                room = _Room(os.fstat(file.fileno()).st_size)
                lines = _read_lines(unpacked, room)
                about: Any = next(lines, None)
                found = about.pop("format", None) if isinstance(about, dict) else None
                if found != FORMAT:
                    words = printable(repr(found))[:_LONGEST]
                    raise RecordingError(f"{path} has format {words} and must have {FORMAT!r}")
                _check_about(about)
                return cls(list(_frames(lines, room)), about)
        except RecordingError:
            raise
        except Exception as error:  # gzip, zlib and json raise different errors
            if isinstance(error, OSError) and not isinstance(error, gzip.BadGzipFile):
                raise
            words = printable(str(error))[:_LONGEST]
            raise RecordingError(f"{path} is no recording, or it is damaged: {words}") from error

    def without_snapshots(self) -> Recording:
        """Return the recording without the snapshots, which only the viewer needs."""
        return Recording([replace(frame, snapshot=b"") for frame in self.frames], self.about)


def _lines(frames: Iterable[Frame]) -> Iterator[dict[str, Any]]:
    """Yield the differences of each frame from the previous one."""
    known: dict[int, Components] = {}
    trees: Mapping[str, Any] = {}
    for frame in frames:
        changed = {}
        for entity, components in frame.entities.items():
            before = known.get(entity)
            if before is components:
                continue
            parts: dict[str, Any] = {
                name: fields
                for name, fields in components.items()
                if before is None or name not in before or not same(before[name], fields)
            }
            parts.update((name, None) for name in before or () if name not in components)
            if parts or before is None:
                changed[str(entity)] = parts
        line = {name: getattr(frame, name) for name in _AS_IS}
        line["gone"] = [entity for entity in known if entity not in frame.entities]
        line["changed"] = changed
        if frame.snapshot:
            packed = zlib.compress(frame.snapshot)
            line["snapshot"] = base64.b85encode(packed).decode("ascii")
        if frame.trees != trees:
            line["trees"] = trees = frame.trees
        yield line
        known = frame.entities


class _Room:
    """The limits for the contents of a file, in proportion to its size.

    A line that repeats an earlier one is packed to 1/130 of its length at best, because a match
    of at most 258 bytes takes two bytes.  Only a forged file is packed more tightly.
    """

    def __init__(self, n_bytes: int) -> None:
        self.bytes = 2**20 + 256 * n_bytes  # of lines and snapshots
        self.rows = 2**18 + 128 * n_bytes  # the entities of all frames, and changed components

    def take(self, *, n_bytes: int = 0, rows: int = 0) -> None:
        """Use part of the limits, or raise ValueError."""
        self.bytes -= n_bytes
        self.rows -= rows
        if self.bytes < 0 or self.rows < 0:
            raise ValueError("it unpacks to far more than a recorder packs into a file of its size")


def _read_lines(file: gzip.GzipFile, room: _Room) -> Iterator[Any]:
    """Yield the JSON of each line."""
    while line := file.readline(room.bytes + 1):
        room.take(n_bytes=len(line))
        yield json.loads(line.decode())


def _check_about(about: dict[str, Any]) -> None:
    """Raise ValueError for settings that no space has."""
    dim, written = about.get("dim", 2), about.get("written", [])
    require(type(dim) is int and dim in (2, 3), "dim")
    Space(dim, wrap=about.get("wrap"), up=about.get("up"))
    require(isinstance(written, list) and all(type(name) is str for name in written), "written")


def _frames(lines: Iterable[Any], room: _Room) -> Iterator[Frame]:
    """Yield the frames of lines that may come from `_lines` or from a stranger."""
    entities: dict[int, Components] = {}
    last = None
    trees: Mapping[str, Any] = {}
    for line in lines:
        require(isinstance(line, dict) and line.keys() >= _NEEDED, "a line")
        require_shallow(line)
        step = line["step"]
        require(type(step) is int and 0 <= step < _MOST_STEPS, "the number of a step")
        require(last in (None, step - 1), "the order of its steps")
        last = step
        entities = _next_entities(entities, line["gone"], line["changed"], room)
        if "trees" in line:
            trees = read_trees(line["trees"])
            room.take(rows=sum(map(len, trees.values())))
        yield Frame(
            step,
            read_number(line["dt"], "the length of a step"),
            read_number(line["time"], "the time of a step"),
            read_fields(line["inputs"]),
            entities,
            read_events(line["contacts"]),
            read_events(line["events"]),
            read_text(line["digest"], "a digest"),
            _read_snapshot(line.get("snapshot"), room),
            trees,
        )


def _next_entities(
    before: dict[int, Components], gone: object, changed: object, room: _Room
) -> dict[int, Components]:
    """Return the entities of a frame, from the previous frame and the changes."""
    require(isinstance(gone, list) and isinstance(changed, dict), "its entities")
    found = dict(before)
    for entity in gone:  # type: ignore[attr-defined]
        require(type(entity) is int and found.pop(entity, None) is not None, "the deleted entities")
    last, rises = next(reversed(found), -1), True
    for text, content in changed.items():  # type: ignore[attr-defined]
        entity = read_id(text)
        known = found.get(entity)
        found[entity] = components = read_components(content, known)
        room.take(rows=len(components))
        if known is None:
            rises, last = rises and entity > last, entity
    room.take(rows=len(found))
    return found if rises else {entity: found[entity] for entity in sorted(found)}


def _read_snapshot(packed: object, room: _Room) -> bytes:
    """Return the packed snapshot of a line, or empty bytes; the player decodes it."""
    if packed is None:
        return b""
    data = unpack(base64.b85decode(read_text(packed, "a snapshot")), room.bytes)
    room.take(n_bytes=len(data))
    require_whole(data)
    return data


# -- where two runs part --


@dataclass(frozen=True, slots=True)
class Divergence:
    """The first step after which two runs differ; `str` of it is a report."""

    step: int  # 0: they began differently
    differences: list[Difference]
    first: Frame | None  # after that step, like `second`; None for a run that ended before
    second: Frame | None

    def __str__(self) -> str:
        lines = [f"step {self.step} is the first that differs:"]
        lines += _limited([str(difference) for difference in self.differences])
        ours, theirs = (
            [] if frame is None else [describe(event, frame) for event in frame.events]
            for frame in (self.first, self.second)
        )
        lines.append(f"events of step {self.step}:")
        lines += _limited(ours) or ["  none"]
        if theirs != ours:
            lines.append(f"events of step {self.step} in the other run:")
            lines += _limited(theirs) or ["  none"]
        return printable("\n".join(lines))


def _limited(lines: list[str]) -> list[str]:
    more = [f"  and {len(lines) - _SHOWN} more"] if len(lines) > _SHOWN else []
    return [f"  {line}" for line in lines[:_SHOWN]] + more


def first_difference(
    first: Recording, second: Recording, components: Iterable[str] | None = None
) -> Divergence | None:
    """Return the first step after which two runs differ, or None.

    Parameters
    ----------
    first, second : Recording
        They are compared from the first step that both have.
    components : names of component types, optional
        Compare these only; by default all.
    """
    sides: list[Mapping[int, Frame]] = [
        {frame.step: frame for frame in recording.frames} for recording in (first, second)
    ]
    if not all(sides):
        return None
    begin = max(min(side) for side in sides)
    for step in range(begin, max(max(side) for side in sides) + 1):
        ours, theirs = (side.get(step) for side in sides)
        if ours is None or theirs is None:
            ends = [f"ends after step {max(side)}" for side in sides]
            return Divergence(step, [Difference(None, "the runs", "", *ends)], ours, theirs)
        differences = compare_frames(ours, theirs, components)
        if differences:
            return Divergence(step, differences, ours, theirs)
    return None
