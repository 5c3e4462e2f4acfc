"""Admit one thread at a time to the stages of a step, and repair a stage that was interrupted.

An exception such as Ctrl-C may come between any two lines, so the entry of a thread may remain
after it has left.  Only the thread's stack decides whether it is still inside.
"""

from __future__ import annotations

import inspect
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from types import FrameType

_Entry = tuple[int, FrameType]

_IS_GENERATOR = inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR

_N_LOOKS = 100
"""Number of stack readings that all ended in a generator, after which a thread counts as inside."""

# Looked up once, because each step enters the lock four times.
_this_thread, _frame = threading.get_ident, sys._getframe


class StepLock:
    """A reentrant lock around the stages of a step.

    A thread that finds another one inside gets an error; it does not wait for a foreign step.

    Attributes
    ----------
    is_changing : bool
        Whether a stage is changing the state of the space.  If no thread is inside then, the
        stage was interrupted, and the next one to enter repairs the state first.
    repairs : tuple of callable
        The functions that repair, in this order.  Each can be called again if it is interrupted.
    """

    def __init__(self) -> None:
        self.repairs: tuple[Callable[[], None], ...] = ()
        self._entries: list[_Entry] = []  # threads, and the frames in which they are inside
        self._stepping: int | None = None
        self.is_changing = False

    def __enter__(self) -> None:
        entries, entry = self._entries, (_this_thread(), _frame(1))
        entries.append(entry)
        if self.is_changing or entries[0] is not entry:
            self._admit(entry)

    def _admit(self, entry: _Entry) -> None:
        """Raise RuntimeError if another thread is inside; repair an interrupted stage."""
        try:
            if self._entries[0] is not entry:
                self._forget_gone()
                if self._entries[0][0] != entry[0]:
                    self._leave(entry)  # at once, so that a refused thread blocks no other
                    raise self.refusal()
            if self.is_changing and self._entries[0] is entry:
                self.repair()
        except BaseException:
            self._leave(entry)
            raise

    def __exit__(self, *_: object) -> None:
        try:  # noqa: SIM105  (as `_leave`, which would cost a call)
            self._entries.remove((_this_thread(), _frame(1)))
        except ValueError:
            pass

    def _leave(self, entry: _Entry) -> None:
        with suppress(ValueError):
            self._entries.remove(entry)

    def _forget_gone(self) -> None:
        """Remove the entries of threads that are no longer inside."""
        for entry in list(self._entries):
            if not _is_running(*entry):
                self._leave(entry)

    @property
    def is_nested(self) -> bool:
        """Whether the thread has entered more than once, which only the game's code does."""
        if len(self._entries) < 2:
            return False
        here = _this_thread()
        return sum(thread == here for thread, _ in self._entries) > 1

    def begin_step(self) -> None:
        """Note that this thread does the step under way."""
        self._stepping = _this_thread()

    def require_own_step(self, who: str) -> None:
        """Raise RuntimeError if another thread has begun the step that is under way."""
        if self._stepping != _this_thread():
            raise RuntimeError(
                f"{who} was run in another thread than the BroadphaseSystem before it: "
                "all steps of a space belong into one thread, or behind a lock"
            )

    def refuse_others(self) -> None:
        """Raise RuntimeError if another thread is inside a stage of a step."""
        if self._entries or self.is_changing:
            self._check_others()

    def _check_others(self) -> None:
        here = _this_thread()
        if any(thread != here for thread, _ in self._entries):
            self._forget_gone()
            if any(thread != here for thread, _ in self._entries):
                raise self.refusal()
        self.recover_step()

    def repair(self) -> None:
        """Repair an interrupted stage; if this is interrupted too, the next entry repeats it."""
        for repair in self.repairs:
            repair()
        self.is_changing = False

    def recover_step(self) -> None:
        """Repair an interrupted call, unless a call is under way."""
        if self.is_changing and not self._entries:
            with self:
                pass

    def refusal(self) -> RuntimeError:
        """Return the error for a thread that interferes with a step of another one."""
        return RuntimeError(
            "this Space is in the middle of a step in another thread: step it and ask it from one "
            "thread, or put both behind a lock of your own"
        )


def _is_running(thread: int, frame: FrameType) -> bool:
    """Return whether a frame is on the stack of a thread."""
    for _ in range(_N_LOOKS):
        at = _frame() if thread == _this_thread() else sys._current_frames().get(thread)
        last = None
        while at is not None and at is not frame:
            last, at = at, at.f_back
        if at is not None:
            return True
        if last is None or not last.f_code.co_flags & _IS_GENERATOR:
            return False
        # The thread runs while its stack is read, and a generator that yields has no caller.
    return True
