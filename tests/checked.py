"""A fixture for folders whose tests run whole steps: each step ends with checks of its states."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from typing import Any

import pytest

import ecs_collide as ec


@pytest.fixture(scope="package", autouse=True)
def checked_steps() -> Iterator[None]:
    """Verify the pairs and the contacts after each step that does not fail.

    A failure does not count if another thread has begun the next step meanwhile.
    """
    finish_step = ec.Space.finish_step

    @functools.wraps(finish_step)
    def checked(self: ec.Space, *arguments: Any) -> None:
        finish_step(self, *arguments)
        latest = self._lock.latest  # read first, as in `Space.check`
        try:
            self._lock.refuse_others()
        except RuntimeError:
            return
        timeline = self._state.timeline
        try:
            timeline.pairs.check(self.dim)
            timeline.broadphase.check()
            timeline.contacts.check()
            timeline.contacts_in_step.check()
        except Exception:
            if self._lock.latest is latest:
                raise

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ec.Space, "finish_step", checked)
        yield
