"""Golden logs, stored by syrupy: one file for each test, updated by ``--snapshot-update``."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from syrupy.assertion import SnapshotAssertion
from syrupy.extensions.single_file import SingleFileSnapshotExtension, WriteMode

from ecs_collide.recording.recording import Recording
from ecs_collide.testing.failures import failure
from ecs_collide.testing.logs import explain_log, format_log, recording_of, require_live
from ecs_collide.testing.sim import Sim


class GoldenLogs(SingleFileSnapshotExtension):
    """A syrupy extension that stores logs as text and reports only the first difference."""

    _write_mode = WriteMode.TEXT
    file_extension = "log"

    def diff_lines(self, serialized_data: Any, snapshot_data: Any) -> Iterator[str]:
        """Yield the first difference."""
        if snapshot_data:
            yield from explain_log(str(snapshot_data), str(serialized_data)).splitlines()


class GoldenLog:
    """A comparison of a run with the log that is stored for the test."""

    def __init__(self, snapshot: SnapshotAssertion) -> None:
        self._snapshot = snapshot.use_extension(GoldenLogs)

    def __call__(self, run: Sim | Recording) -> None:
        """Compare the log of a run with the golden one.

        Raises
        ------
        AssertionError
            They differ: the message names the step, the entity and the field of the first
            difference.  Or there is no golden log yet; or nothing moved or nothing met in the run.
        """
        __tracebackhide__ = True
        recording = recording_of(run)
        require_live(recording)
        log = format_log(recording)
        if self._snapshot == log:
            return
        lines = self._snapshot.get_assert_diff()
        lines.append("if it is new, or changed on purpose, write it: pytest --snapshot-update")
        space = run.space if isinstance(run, Sim) else None
        raise failure("\n".join(lines), space, recordings=[recording])
