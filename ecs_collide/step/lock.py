"""Admit one thread at a time to the stages of a step, and repair a stage that was interrupted.

An exception such as Ctrl-C may come between any two lines of Python, so the entry of a thread may
remain after it has left.  Only the thread's stack decides whether it is still inside.
"""

# Compiled with -O1, in two thirds of the time: few steps call it, or for few bodies.
from __future__ import annotations

import gc
import inspect
import sys
from _thread import get_ident  # importing threading would take a hundredth of the import
from contextlib import suppress
from types import FrameType
from typing import Any

from ecs_collide._kernel import Public, ReadOnly, cython

N_LOOKS = 100  # stack readings that all ended in a generator: then a thread counts as inside
to_caller = 0 if cython.compiled else 1  # frames from a method of a kernel to the one that calls it


@cython.final
class StepLock:
    """A reentrant lock around the stages of a step.

    A thread that finds another one inside gets an error; it does not wait for a foreign step.
    """

    # Whether a stage is changing the state of the space.  If no thread is inside then, the stage
    # was interrupted, and the next one to enter repairs the state first.
    is_changing: Public[cython.bint]
    # The functions that repair, in this order.  Each can be called again if it is interrupted.
    repairs: Public[tuple]
    entries: list  # threads, and the frames in which they are inside; see `enter`
    latest: ReadOnly[object]  # replaced by each call of `enter`, so that `Space.check` notices it
    stepping: object  # the thread of the step under way
    runner: Public[object]  # the frame that runs the step under way, if known; see `is_abandoned`

    def __init__(self):
        self.repairs = ()
        self.entries = []
        self.latest = None
        self.stepping = None
        self.runner = None

    def __enter__(self) -> None:
        if self.runner is not None:
            self.recover_step()
        self.enter(sys._getframe(to_caller))

    def __exit__(self, *_: object) -> None:
        self.leave(sys._getframe(to_caller))

    @cython.ccall
    def enter(self, frame: object) -> object:
        """Admit this thread, and return its entry.

        `frame` is the Python frame in which it is inside.  It must not keep the entry, because a
        frame that keeps itself is freed late.  It is None for compiled code, which removes the
        entry even where Python has no memory to make an equal one.
        """
        entry: object = (get_ident(), frame)
        # Not an entry with a frame, which would be freed late.
        latest: object = entry if frame is None else object()

        self.entries.append(entry)
        self.latest = latest  # not before, so that `refuse_others` refuses readers of the old one
        if self.is_changing or self.entries[0] is not entry:
            self._admit(entry)
        return entry

    def leave(self, frame: object) -> cython.void:
        """Remove the entry of this thread and a frame."""
        self.remove((get_ident(), frame))

    def _admit(self, entry: Any) -> cython.void:
        """Raise RuntimeError if another thread is inside; repair an interrupted stage."""
        try:
            if self.entries[0] is not entry:
                self._forget_gone()
                if self.entries[0][0] != entry[0]:
                    self.remove(entry)  # at once, so that a refused thread blocks no other
                    raise self.refusal()
            if self.is_changing and self.entries[0] is entry:
                self.repair()
        except BaseException:
            self.remove(entry)
            raise

    def remove(self, entry: object) -> cython.void:
        """Remove an entry, if it is there; takes no memory."""
        try:  # noqa: SIM105  (`suppress` would cost each step a call)
            self.entries.remove(entry)
        except ValueError:
            pass

    def _forget_gone(self) -> cython.void:
        """Remove the entries of threads that are no longer inside."""
        for entry in list(self.entries):
            if not _is_running(entry[0], entry[1]):
                self.remove(entry)

    @cython.ccall
    def is_nested(self) -> cython.bint:
        """Return whether the thread has entered more than once, which only the game's code does."""
        n: cython.int = 0

        if len(self.entries) < 2:
            return False
        here: object = get_ident()
        for entry in self.entries:
            n += entry[0] == here
        return n > 1

    def begin_step(self, runner: object) -> cython.void:
        """Note the thread, and the frame if it is known, that do the step under way."""
        self.stepping = get_ident()
        self.runner = runner

    def require_own_step(self, who: object) -> cython.void:
        """Raise RuntimeError if another thread has begun the step that is under way."""
        if self.stepping != get_ident():
            raise RuntimeError(
                f"{who} was run in another thread than the BroadphaseSystem before it: "
                "all steps of a space belong into one thread, or behind a lock"
            )

    def refuse_others(self) -> None:
        """Raise RuntimeError if another thread is inside a stage of a step."""
        if self.entries or self.is_changing or self.runner is not None:
            if self._has_others():
                self._forget_gone()
                if self._has_others():
                    raise self.refusal()
            self.recover_step()

    def _has_others(self) -> cython.bint:
        """Return whether another thread has entered."""
        here: object = get_ident()

        for entry in list(self.entries):  # noqa: SIM110  (a generator cannot be compiled well)
            if entry[0] != here:
                return True
        return False

    @cython.ccall
    def repair(self) -> cython.void:
        """Repair an interrupted stage; if this is interrupted too, the next entry repeats it."""
        for repair in self.repairs:
            repair()
        self.runner = None
        self.is_changing = False

    def repair_quietly(self) -> None:
        """Repair a stage that has raised; if that fails, the next entry repeats it."""
        if self.is_changing and not self.is_nested():
            with suppress(Exception):
                self.repair()

    def recover_step(self) -> None:
        """Repair an interrupted call or step, unless a call is under way."""
        if not self.entries and (self.is_changing or self.is_abandoned()):
            self.is_changing = True
            self.runner = None
            with self:
                pass

    def is_abandoned(self) -> cython.bint:
        """Return whether the step under way was cut short between two systems.

        The frame that ran it is no longer on the stack of its thread.
        """
        return self.runner is not None and not _is_running(self.stepping, self.runner)

    def refusal(self) -> RuntimeError:
        """Return the error for a thread that interferes with a step of another one."""
        return RuntimeError(
            "this Space is in the middle of a step in another thread: step it and ask it from one "
            "thread, or put both behind a lock of your own"
        )


def _is_running(thread, frame):
    """Return whether a frame is on the stack of a thread; True for None."""
    generators = inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR
    if frame is None:
        return True
    for _ in range(N_LOOKS):
        is_there, outermost = _look(thread, frame)
        if is_there:
            return True
        if outermost is None or not outermost.f_code.co_flags & generators:
            return False
        # The thread runs while its stack is read, and a generator that yields has no caller.
    return True


def _look(thread, frame):
    """Return whether a frame is on the stack of a thread, and the outermost frame if it is not.

    No garbage is collected meanwhile, because its finalizers let other threads run.  One that starts
    a thread would wait forever for Python's list of threads, which is locked here.  And Python 3.11
    may collect within `f_back`: a frame that the other thread leaves then is read after it is freed.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        if thread == get_ident():
            at: FrameType | None = sys._getframe()
        else:
            at = sys._current_frames().get(thread)
        last = None
        while at is not None and at is not frame:
            last, at = at, at.f_back
        return at is not None, last
    finally:
        if was_enabled:
            gc.enable()
