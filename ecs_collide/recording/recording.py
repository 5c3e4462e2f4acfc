"""A recording: the frames of a run, kept in a file of text, and where two runs part.

The file is JSON, one line for each frame, packed with gzip.  A line holds only what differs
from the frame before it.  It holds no code: to load a recording runs nothing.
"""

from __future__ import annotations

import base64
import gzip
import json
import zlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from ecs_collide.recording.frames import (
    Components,
    Difference,
    Frame,
    compare_frames,
    describe,
    same,
)

FORMAT = "ecs_collide recording 1"
_AS_IS = ("step", "dt", "time", "inputs", "contacts", "events", "digest")  # of a frame, in a line
_SHOWN = 12  # differences, and events, in a text


class RecordingError(ValueError):
    """A file is no recording, or it is damaged."""


@dataclass(slots=True)
class Recording:
    """The frames of a run.

    Attributes
    ----------
    frames : list of Frame
        The world as the recording began and after each step; the first ones may be missing
        where only the last steps were kept.
    about : dict
        What a space needs to show the frames, `dim`, `wrap` and `up`; and `written`, the
        names of the component types that the library writes.
    """

    frames: list[Frame] = field(default_factory=list)
    about: dict[str, Any] = field(default_factory=dict)

    @property
    def n_steps(self) -> int:
        """The number of steps that were recorded."""
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
            The file is no recording, or it is damaged.
        OSError
            It cannot be read.
        """
        try:
            with gzip.open(path, "rt", encoding="utf-8") as file:
                about = json.loads(file.readline())
                found = about.pop("format", None) if isinstance(about, dict) else None
                if found != FORMAT:
                    raise RecordingError(f"{path} has format {found!r} and must have {FORMAT!r}")
                return cls(list(_frames(map(json.loads, file))), about)
        except (RecordingError, FileNotFoundError, PermissionError, IsADirectoryError):
            raise
        except Exception as error:  # gzip, zlib and json raise different errors
            raise RecordingError(f"{path} is no recording, or it is damaged: {error}") from error

    def without_snapshots(self) -> Recording:
        """Return the recording without what only the viewer needs."""
        return Recording([replace(frame, snapshot=b"") for frame in self.frames], self.about)


def _lines(frames: Iterable[Frame]) -> Iterator[dict[str, Any]]:
    """Yield for each frame what differs from the one before."""
    known: dict[int, Components] = {}
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
        yield line
        known = frame.entities


def _frames(lines: Iterable[dict[str, Any]]) -> Iterator[Frame]:
    """Yield the frames of what `_lines` gave."""
    entities: dict[int, Components] = {}
    for line in lines:
        entities = {e: parts for e, parts in entities.items() if e not in set(line["gone"])}
        for text, parts in line["changed"].items():
            components = dict(entities.get(int(text), {}))
            for name, fields in parts.items():
                if fields is None:
                    components.pop(name, None)
                else:
                    components[name] = fields
            entities[int(text)] = components
        packed = line.get("snapshot")
        yield Frame(
            line["step"],
            line["dt"],
            line["time"],
            line["inputs"],
            dict(sorted(entities.items())),
            tuple(line["contacts"]),
            tuple(line["events"]),
            line["digest"],
            zlib.decompress(base64.b85decode(packed)) if packed else b"",
        )


# -- where two runs part --


@dataclass(frozen=True, slots=True)
class Divergence:
    """The first step after which two runs are not the same; `str` of it is a report."""

    step: int  # 0: they began differently
    differences: list[Difference]
    first: Frame | None  # after that step, as `second`; None for a run that has ended before
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
        return "\n".join(lines)


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
