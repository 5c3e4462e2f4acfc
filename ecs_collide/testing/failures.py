"""The report, the recording and the picture of the step that a failed assertion leaves."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from ecs_collide.debug.pictures import draw_svg, draw_text
from ecs_collide.recording.frames import Frame, compare_frames, describe, read_frame
from ecs_collide.recording.recorder import Recorder
from ecs_collide.recording.recording import Divergence, Recording
from ecs_collide.space import Space

FOLDER = "ECS_COLLIDE_RECORDINGS"
"""The environment variable that names the folder for recordings, by default ``.ecs_collide``."""

RECORDERS: dict[Space, Recorder] = {}
"""The active recorders by space; the code that adds one removes it."""

_EVENTS = 10  # of a report
_SLOTS = 4  # files that a test leaves, even if it is tried with many examples
_numbers: Counter[str] = Counter()


def output_path(suffix: str) -> Path:
    """Return a path in the folder for recordings, named after the test that runs.

    If a test fails for many examples the last four files stay.
    """
    name = os.environ.get("PYTEST_CURRENT_TEST", "run").rpartition(" (")[0] or "run"
    name = re.sub(r"[^\w.\-]+", "_", name.rpartition("/")[2])[-100:]
    folder = Path(os.environ.get(FOLDER, ".ecs_collide"))
    _numbers[name + suffix] += 1
    return folder / f"{name}.{_numbers[name + suffix] % _SLOTS}{suffix}"


def failure(
    message: str,
    space: Space | None = None,
    pair: Sequence[int] = (),
    recordings: Sequence[Recording] = (),
) -> AssertionError:
    """Return an AssertionError with a report: why, the last events, a picture, a recording.

    The report explains the two entities of `pair`; if `pair` has one entity, the picture is drawn
    around it.  The default of `recordings` is the recording of the space's recorder.
    """
    lines = [message]
    if space is not None:
        lines += _report(space, pair)
        if not recordings and space in RECORDERS:
            recordings = [RECORDERS[space].recording]
    for recording in recordings:
        path = recording.save(output_path(".rec"))
        lines.append(f"recording: python -m ecs_collide.recording {path}")
    return AssertionError("\n".join(lines))


def divergence_from(expected: Frame, space: Space) -> Divergence | None:
    """Return how a restored world differs from a recorded frame, or None."""
    frame = read_frame(space, expected.step, expected.dt, expected.inputs)
    differences = compare_frames(expected, frame, types=False)
    return Divergence(expected.step, differences, expected, frame) if differences else None


def _report(space: Space, pair: Sequence[int]) -> list[str]:
    lines = []
    if len(pair) == 2 and pair[0] != pair[1]:
        lines.append(f"explain: {space.explain(*pair)}")
    frame = read_frame(space)
    shown = [describe(event, frame) for event in frame.events[-_EVENTS:]]
    lines.append(f"last events, {len(shown)} of {len(frame.events)}:")
    lines += [f"  {line}" for line in shown]
    lines.append(draw_text(space, pair))
    lines.append(f"picture: {draw_svg(space, output_path('.svg'), pair)}")
    return lines
