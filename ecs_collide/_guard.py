"""Let one thread at a time into the stages of a step."""

from __future__ import annotations

import threading


class Guard:
    """Entered by a stage of a step, again by what that calls, and by no other thread meanwhile.

    A thread that finds another one inside is refused, and does not wait: what
    it would wait for is a step that it has not asked for.
    """

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._depth = 0
        self._inside: int | None = None
        self._stepping: int | None = None

    def __enter__(self) -> None:
        if not self._lock.acquire(blocking=False):
            raise self._refusal()
        self._depth += 1
        self._inside = threading.get_ident()

    def __exit__(self, *_: object) -> None:
        self._depth -= 1
        if self._depth == 0:
            self._inside = None
        self._lock.release()

    def begin_step(self) -> None:
        """Note that the step under way is this thread's."""
        self._stepping = threading.get_ident()

    def require_own_step(self, who: str) -> None:
        """Raise RuntimeError if another thread has begun the step that is under way."""
        if self._stepping != threading.get_ident():
            raise RuntimeError(
                f"{who} was run in another thread than the BroadphaseSystem before it: "
                "all steps of a space belong into one thread, or behind a lock"
            )

    def refuse_others(self) -> None:
        """Raise RuntimeError if another thread is inside a stage of a step."""
        inside = self._inside
        if inside is not None and inside != threading.get_ident():
            raise self._refusal()

    def _refusal(self) -> RuntimeError:
        return RuntimeError(
            "this Space is in the middle of a step in another thread: step it and ask it from one "
            "thread, or put both behind a lock of your own"
        )
