"""Logs of runs as text: readable, exact, and limited to results that the library promises.

A log has the events, and the changed numbers of components that the library writes.  The numbers
are written so that they read back to the same bits.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise, zip_longest

from ecs_collide.recording.frames import ABSENT, Frame, describe, same, show
from ecs_collide.recording.recording import Recording
from ecs_collide.testing.sim import Sim

_FIELD = re.compile(r"(\w+)=(\S+)")


def recording_of(run: Recording | Sim) -> Recording:
    """Return the recording of a run, or raise a ValueError if its first steps are missing."""
    recording = run.recording if isinstance(run, Sim) else run
    if not recording.frames or recording.frames[0].step:
        raise ValueError(
            f"the recording has the steps {recording.span()} and must begin with 0: "
            "set sim.keep = None before the first step"
        )
    return recording


class NothingHappensError(AssertionError):
    """An error for comparing a run in which nothing moved, or nothing met."""


def require_live(recording: Recording) -> None:
    """Raise NothingHappensError if nothing moved or nothing met in a run."""
    __tracebackhide__ = True
    written = recording.about.get("written", ())
    frames = recording.frames
    moved = any(
        not same(before.entities[entity][name], components[name])
        for before, after in pairwise(frames)
        for entity, components in after.entities.items()
        if before.entities.get(entity) is not components
        for name in written
        if name in components and name in before.entities.get(entity, ())
    )
    met = any(frame.events for frame in frames)
    if not moved or not met:
        what = " and ".join(
            words for words, is_so in (("nothing moved", moved), ("nothing met", met)) if not is_so
        )
        raise NothingHappensError(
            f"{what} in {recording.n_steps} steps, so to compare them tests nothing: "
            "let the run go on until something does"
        )


def format_log(recording: Recording) -> str:
    """Return the log of a run."""
    lines = [f"# {recording.n_steps} steps"]
    before: Frame | None = None
    for frame in recording.frames:
        found = list(_changes(before, frame, recording.about.get("written", ())))
        found += [describe(event, frame) for event in frame.events]
        if found:
            lines.append(f"step {frame.step}")
            lines += [f"  {line}" for line in found]
        before = frame
    return "\n".join(lines) + "\n"


def _changes(before: Frame | None, frame: Frame, written: list[str]) -> Iterator[str]:
    known = {} if before is None else before.entities
    for entity, components in frame.entities.items():
        old = known.get(entity, {})
        if old is components:
            continue
        for name in written:
            if name in components and not (name in old and same(old[name], components[name])):
                numbers = " ".join(f"{k}={show(v)}" for k, v in components[name].items())
                yield f"entity {frame.label(entity)}: {name} {numbers}"
    for entity in known:
        if entity not in frame.entities and before is not None:
            yield f"entity {before.label(entity)}: gone"


def explain_log(golden: str, log: str) -> str:
    """Return the first difference of two logs: the step, the entity and the field."""
    sides = [dict(_steps(text)) for text in (golden, log)]
    known: list[dict[str, str]] = [{}, {}]  # the fields as of this step, by entity and name
    for step in sorted(sides[0].keys() | sides[1].keys()):
        found = [side.get(step, []) for side in sides]
        if found[0] != found[1]:
            events = [_read(lines, fields) for lines, fields in zip(found, known, strict=True)]
            words = _first_words(known, events)
            return f"step {step} is the first that differs:\n  {words}"
        for fields in known:
            _read(found[0], fields)
    ends = [text.partition("\n")[0].lstrip("# ") for text in (golden, log)]
    return f"the golden log has {ends[0]}, and this run {ends[1]}"


def _steps(text: str) -> Iterator[tuple[int, list[str]]]:
    for part in re.split(r"^step ", text, flags=re.M)[1:]:
        number, *lines = part.splitlines()
        yield int(number), [line.strip() for line in lines]


def _read(lines: list[str], fields: dict[str, str]) -> list[str]:
    """Update the fields by the lines of a step; return the other lines."""
    others = []
    for line in lines:
        head, _, rest = line.partition(": ")
        name, _, numbers = rest.partition(" ")
        found = _FIELD.findall(numbers)
        if not line.startswith("entity "):
            others.append(line)
        elif not found:  # it is gone, or has a component without fields
            fields[f"{head}:"] = rest
        for field, value in found if line.startswith("entity ") else ():
            fields[f"{head}: {name}.{field}"] = value
    return others


def _first_words(known: list[dict[str, str]], events: list[list[str]]) -> str:
    """Return the first field in which two sides differ, or else the first event."""
    for name in [*known[0], *(name for name in known[1] if name not in known[0])]:
        golden, now = (fields.get(name, ABSENT) for fields in known)
        if golden != now:
            return f"{name} {golden} in the golden log, now {now}"
    for golden, now in zip_longest(*events, fillvalue=ABSENT):
        if golden != now:
            return f"in the golden log: {golden}\n  now: {now}"
    return "the order of its lines"
