"""A lock that admits one thread at a time to a step, and repairs an interrupted step.

An exception such as Ctrl-C may come between any two lines.  So an entry may be left behind by a
thread that is no longer inside, and only its stack is believed.
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
"""Reads of a stack that each end in a generator, after which the thread counts as inside."""

# Looked up once: each step comes by four times.
_this_thread, _frame = threading.get_ident, sys._getframe


class StepLock:
    """Entered by a stage of a step, again by the functions it calls, and by no other thread meanwhile.

    A thread that finds another one inside is refused, and does not wait: what
    it would wait for is a step that it has not asked for.

    Attributes
    ----------
    is_changing : bool
        Whether a stage changes the space.  If so, and no thread is inside, the stage was
        interrupted: the next thread that enters repairs the space first.
    repairs : tuple of callable
        What puts things right, in this order.  Each can be called again if it is cut short.
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
        """Raise while another thread is inside; repair an interrupted step."""
        try:
            if self._entries[0] is not entry:
                self._forget_gone()
                if self._entries[0][0] != entry[0]:
                    self._leave(entry)  # at once: a refused thread must not keep others out
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
        """Whether the thread has entered more than once, from code of the game."""
        if len(self._entries) < 2:
            return False
        here = _this_thread()
        return sum(thread == here for thread, _ in self._entries) > 1

    def begin_step(self) -> None:
        """Note that this thread takes the present step."""
        self._stepping = _this_thread()

    def require_own_step(self, who: str) -> None:
        """Raise RuntimeError if another thread has begun the present step."""
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
        """Repair an interrupted step; if interrupted too, the next thread that enters repeats it."""
        for repair in self.repairs:
            repair()
        self.is_changing = False

    def recover_step(self) -> None:
        """Repair an interrupted call, unless a call is running."""
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
    """Return whether a thread is still in a frame or in a function called from it."""
    for _ in range(_N_LOOKS):
        at = _frame() if thread == _this_thread() else sys._current_frames().get(thread)
        last = None
        while at is not None and at is not frame:
            last, at = at, at.f_back
        if at is not None:
            return True
        if last is None or not last.f_code.co_flags & _IS_GENERATOR:
            return False
        # The thread runs on while its stack is read: a generator that yields has no caller.
    return True
