"""A tree of the broadphase that a replay can restore."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import ecs_collide as ec

LOOKAHEAD = 25.0  # steps


class RepeatedTree(ec.AABBTree):
    """A tree that a replay can restore: the same calls in the same order give the same tree.

    It stores its calls from the first call of `remember` on.
    """

    calls: list[Callable[[ec.AABBTree], object]] | None = None

    def do(self, call: Callable[[ec.AABBTree], int | None]) -> int | None:
        """Store a call that changes the tree, and return its result."""
        if self.calls is not None:
            self.calls.append(call)
        return call(self)

    def remember(self) -> Callable[[], None] | None:
        """Return a function that restores the present tree; None if it is too late."""
        if self.calls is None and not len(self):
            self.calls = []
        return None if self.calls is None else partial(self.repeat, self.calls.copy())

    def repeat(self, calls: list[Callable[[ec.AABBTree], object]]) -> None:
        """Start with an empty tree, and repeat these calls."""
        ec.AABBTree.__init__(self, lookahead=LOOKAHEAD)
        self.calls = calls.copy()
        for call in calls:
            call(self)
