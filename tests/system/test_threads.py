"""One thread at a time: a second one is refused, and nothing is corrupted."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time

import esper
import pytest

import ecs_collide as ec
import ecs_collide.space
from tests.scenes import Ledger, box, mover, position

pytestmark = pytest.mark.usefixtures("world", "implementation")


class Tagged:
    """A custom response."""


class SlowLock:
    """The lock of a space; its first `refuse_others` calls a function before or after it looks."""

    def __init__(self, space, before=None, after=None):
        self.lock, self.before, self.after = space._lock, before, after

    def __getattr__(self, name):
        return getattr(self.lock, name)

    def refuse_others(self):
        before, self.before = self.before, None
        after, self.after = self.after, None
        if before is not None:
            before()
        self.lock.refuse_others()
        if after is not None:
            after()


def overtake_checks(monkeypatch, space, lock, begun, ended):
    """Let each check set `begun` when it reads the parts of a space, wait for `ended`, and fail."""

    def overtaken():
        begun.set()
        assert ended.wait(60)
        raise AssertionError("an invariant, of half the one stage and half the other")

    monkeypatch.setattr(space, "_check_parts", overtaken)
    monkeypatch.setattr(space, "_lock", lock)


def in_this_thread(function):
    """Call a function; return what it raised, or None."""
    try:
        function()
    except Exception as error:
        return error
    return None


def in_another_thread(function):
    """Call a function in a thread of its own; return what it raised, or None."""
    raised = []
    thread = threading.Thread(target=lambda: raised.append(in_this_thread(function)))
    thread.start()
    thread.join(timeout=60)
    assert not thread.is_alive()
    return raised[0]


@pytest.mark.parametrize("where", ["handler", "response"])
def test_a_second_thread_within_a_step_is_refused(where):
    bullet = mover((0, 0), (1, 1), (10, 0), ec.Slide(), Tagged())
    wall = box((5, 0), (1, 1))
    space = ec.install()
    errors = []
    attempts = [
        lambda: esper.process(1.0),
        lambda: space.update_bounds(1.0),
        lambda: space.queue_impacts(1.0),
        lambda: space.resolve_impacts(1.0),
        lambda: space.impacts,
        lambda: space.finish_step(1.0),
        lambda: space.query((-9, -9), (9, 9)),
        lambda: space.cast_ray((0, 5), (0, -9)),
        lambda: space.cast_rays([(0, 5)], [(0, -9)]),
        lambda: space.contacts(),
        lambda: space.contacts(wall),
        lambda: space.positions(),
        lambda: space.set_velocities([bullet], [(1, 1)]),
        lambda: space.bounds(wall),
        lambda: space.check(),
    ]

    def meanwhile(_):
        errors.extend(in_another_thread(attempt) for attempt in attempts)
        return ec.DEFAULT

    if where == "handler":
        space.on_collision(meanwhile)
    else:
        space.respond_with(Tagged, meanwhile)
    esper.process(1.0)

    assert len(errors) == len(attempts)
    for error in errors:
        assert isinstance(error, RuntimeError)
        assert "in the middle of a step in another thread" in str(error)
    assert position(bullet) == (3, 0)
    assert [(e.first, e.second) for e in space.collisions] == [(bullet, wall)]
    space.check()


def test_a_thread_is_inside_though_its_stack_ends_in_a_generator_that_has_just_yielded(
    implementation, monkeypatch
):
    bullet = mover((0, 0), (1, 1), (10, 0), ec.Slide())
    box((5, 0), (1, 1))
    space = ec.install()
    errors = []

    def meanwhile(_):
        generator = (n for n in range(2))
        next(generator)  # now it has no caller
        seen = [{threading.get_ident(): generator.gi_frame}]
        frames = sys._current_frames
        monkeypatch.setattr(sys, "_current_frames", lambda: seen.pop() if seen else frames())
        errors.append(in_another_thread(lambda: esper.process(1.0)))
        assert not seen or implementation == "compiled"  # which looks at no stack

    space.on_collision(meanwhile)
    esper.process(1.0)

    assert [type(error) for error in errors] == [RuntimeError]
    assert "in the middle of a step in another thread" in str(errors[0])
    assert position(bullet) == (3, 0)
    space.check()


def test_between_steps_any_thread_may_step_and_ask():
    bullet = mover((0, 0), (1, 1), (10, 0), ec.Slide())
    space = ec.install()

    for expected in (10, 20, 30):
        assert in_another_thread(lambda: esper.process(1.0)) is None
        assert position(bullet) == (expected, 0)
        assert space.query_point((expected, 0)) == [bullet]


def test_a_check_that_a_step_of_another_thread_overtakes_is_refused_and_not_failed(monkeypatch):
    bullet = mover((0, 0), (1, 1), (10, 0), ec.Slide())
    space = ec.install()
    esper.process(1.0)
    errors = []

    def overtaken():
        errors.append(in_another_thread(lambda: esper.process(1.0)))
        raise AssertionError("an invariant, of half the one step and half the other")

    monkeypatch.setattr(space._contacts, "of_step", overtaken)
    with pytest.raises(RuntimeError, match="in the middle of a step in another thread"):
        space.check()
    assert errors == [None]
    assert position(bullet) == (20, 0)

    wrong = [ec.Contact(7, 8, (1, 0), 0, 0.0)]
    monkeypatch.setattr(space._contacts, "of_step", lambda: wrong)
    with pytest.raises(AssertionError, match="contact of 7, which is not a body"):
        space.check()
    space._lock.is_changing = True  # as after an interrupted stage, which the check repairs
    with pytest.raises(AssertionError, match="contact of 7, which is not a body"):
        space.check()


def test_a_check_that_begins_just_before_a_stage_of_another_thread_is_refused(monkeypatch):
    """The step reaches the responses after the check has looked for it, and is then suspended
    between two stages, where no thread is inside."""
    bullet = mover((0, 0), (1, 1), (10, 0), ec.Slide(), Tagged())
    box((5, 0), (1, 1))
    space = ec.install()
    responding, checking, responded, checked = (threading.Event() for _ in range(4))

    def respond(_):
        responding.set()
        assert checking.wait(60)
        return ec.DEFAULT

    class BetweenStages(esper.Processor):
        def process(self, dt):
            responded.set()
            assert checked.wait(60)

    space.respond_with(Tagged, respond)
    last = esper.get_processor(ec.MotionSystem).priority
    esper.add_processor(BetweenStages(), priority=last + 1)
    thread = threading.Thread(target=lambda: esper.process(1.0))

    def begin_stage():
        thread.start()
        assert responding.wait(60)

    overtake_checks(monkeypatch, space, SlowLock(space, after=begin_stage), checking, responded)
    try:
        with pytest.raises(RuntimeError, match="in the middle of a step in another thread"):
            space.check()
    finally:
        checked.set()
        thread.join(timeout=60)
    assert position(bullet) == (3, 0)


def test_a_check_that_begins_within_a_stage_and_ends_after_the_step_is_refused(monkeypatch):
    """The check begins while the BroadphaseSystem runs, and is suspended until that has ended.
    It then reads its parts during the other stages."""
    bullet = mover((0, 0), (1, 1), (10, 0), ec.Slide())
    box((5, 0), (1, 1))
    space = ec.install()
    beginning, bounded, passed, moved = (threading.Event() for _ in range(4))
    raised = []
    checker = threading.Thread(target=lambda: raised.append(in_this_thread(space.check)))

    def suspend():
        beginning.set()
        assert bounded.wait(60)

    def begin_check(first, second):
        checker.start()
        return beginning.wait(60)

    overtake_checks(monkeypatch, space, SlowLock(space, before=suspend), passed, moved)
    space.filter_pairs(begin_check)
    space.update_bounds(1.0)
    bounded.set()
    assert passed.wait(60)
    space.queue_impacts(1.0)
    space.resolve_impacts(1.0)
    space.finish_step(1.0)
    moved.set()
    checker.join(timeout=60)

    assert position(bullet) == (3, 0)
    assert [type(error) for error in raised] == [RuntimeError]
    assert "in the middle of a step in another thread" in str(raised[0])


def test_checks_in_one_thread_never_fail_because_of_steps_in_another(implementation):
    box((0, -2), (1e6, 1))
    for i in range(20):
        mover((3 * i, 0), (1, 1), (1, -1), ec.Slide())
    space = ec.install()
    esper.process(1.0)
    others, done = [], []
    n = 150 if implementation == "compiled" else 30

    def check():
        while len(done) < n:
            try:
                space.check()
            except Exception as error:
                if "in another thread" not in str(error):
                    others.append(error)
                    return

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        thread = threading.Thread(target=check)
        thread.start()
        while len(done) < n:
            esper.process(1.0)  # no check makes a step fail
            mover((3 * len(done), 50), (1, 1), (1, -1), ec.Slide())
            done.append(1)
        thread.join(timeout=120)
    finally:
        sys.setswitchinterval(interval)

    assert others == []
    space.check()


def test_a_step_that_another_thread_has_begun_anew_is_not_finished_here():
    bullet = mover((0, 0), (1, 1), (10, 0), ec.Slide())
    space = ec.install()
    space.update_bounds(1.0)

    assert in_another_thread(lambda: space.update_bounds(0.5)) is None
    with pytest.raises(RuntimeError, match="in another thread than the BroadphaseSystem"):
        space.queue_impacts(1.0)

    assert position(bullet) == (0, 0)
    esper.process(1.0)
    assert position(bullet) == (10, 0)


def test_threads_that_race_take_whole_steps_or_none(implementation):
    floor = box((0, -2), (1e6, 1))
    crates = [mover((3 * i, 0), (1, 1), (1, -1), ec.Slide()) for i in range(20)]
    space = ec.install()
    ledger = Ledger(space)
    # A ball that bounces in every step, and in the middle of it a moment for the others.
    for x in (-10, 10):
        box((x, 1000), (1, 9))
    ball = mover((0, 1000), (1, 1), (40, 0), ec.Deflect())
    space.on_collision(lambda hit: time.sleep(1e-4) if hit.second == ball else None)
    done, refused, others = [], [], []
    n = 150 if implementation == "compiled" else 40

    def work():
        for _ in range(n):
            try:
                esper.process(1.0)
                done.append(1)
            except RuntimeError as error:
                refused.append(str(error))
            except Exception as error:
                others.append(error)

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)  # with 1e-6 a thread may starve for minutes
    try:
        threads = [threading.Thread(target=work) for _ in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(timeout=120)
    finally:
        sys.setswitchinterval(interval)

    assert others == []
    assert refused  # they did race
    assert len(done) + len(refused) == 3 * n
    assert all("thread" in text or "out of order" in text for text in refused)
    esper.process(1.0)  # where each thread kept the others out, it is the first
    # How many steps were taken depends on the race, and so whether the ball is at a wall now.
    ledger.open = {(contact.first, contact.second) for contact in space.contacts()}
    assert ledger.open.issuperset((floor, crate) for crate in crates)
    esper.process(1.0)
    assert [position(crate)[0] for crate in crates] == [3 * i + len(done) + 2 for i in range(20)]
    ledger.record()
    space.check()


LOOKS_WHILE_THREADS_START = """
import gc, sys, threading, time
from ecs_collide.step import lock

def finalize(*_):
    collected_in.add(sys._getframe(1).f_code.co_name)
    time.sleep(0)  # as a finalizer, it lets other threads run

collected_in = set()
gc.callbacks.append(finalize)
gc.set_threshold(5)
sys.setswitchinterval(1e-5)
ended = threading.Event()

def start_threads():
    while not ended.is_set():
        threading.Thread(target=lambda: None).start()

threads = [threading.Thread(target=start_threads) for _ in range(2)]
for thread in threads:
    thread.start()
end = time.monotonic() + 0.5
try:
    while time.monotonic() < end:
        lock._is_running(threads[0].ident, sys._getframe())
finally:
    ended.set()
assert "_look" not in collected_in, collected_in
"""


def test_looking_at_another_thread_never_waits_for_one_that_starts_a_thread():
    command = [sys.executable, "-c", LOOKS_WHILE_THREADS_START]
    environment = {**os.environ, "ECS_COLLIDE_PURE_PYTHON": "1"}
    environment.pop("ECS_COLLIDE_REQUIRE_COMPILED", None)

    subprocess.run(command, env=environment, timeout=60, check=True)
