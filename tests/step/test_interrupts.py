"""Steps that are cut short anywhere: no body moves, contacts stay balanced, the next step works."""

from __future__ import annotations

import ast
import contextlib
import itertools
import sys
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType
from typing import Any

import esper
import numpy as np
import pytest

import ecs_collide as ec
from ecs_collide._kernel import backend
from ecs_collide.character import Character
from ecs_collide.motion import columns
from ecs_collide.path import Path as Way
from ecs_collide.recording.recorder import Recorder
from ecs_collide.testing.assertions import overlapping_pairs
from ecs_collide.zone import Zone
from tests import plain
from tests.build import declare_kernels
from tests.pressing import towards
from tests.scenes import box, mover
from tests.snapshot.test_snapshots_forged import Lamp, Score, furnish
from tests.yard import Tag

PACKAGE = str(Path(ec.__file__).parent)
DT = 1 / 30


class InterruptError(KeyboardInterrupt):
    """Ctrl-C, as it comes between two lines."""


class Fuse:
    """Raises at the n-th line that the library runs; at none where n is 0."""

    def __init__(self, n: int) -> None:
        self.left = n
        self.where = ""

    def __enter__(self) -> Fuse:
        sys.settrace(self._enter)
        return self

    def __exit__(self, *_: object) -> None:
        sys.settrace(None)

    def _enter(self, frame: FrameType, event: str, argument: Any) -> Any:
        return self._run if frame.f_code.co_filename.startswith(PACKAGE) else None

    def _run(self, frame: FrameType, event: str, argument: Any) -> Any:
        if event == "line":
            self.left -= 1
            if self.left == 0:
                self.where = f"{frame.f_code.co_filename}:{frame.f_lineno}"
                sys.settrace(None)
                raise InterruptError
        return self._run


# -- worlds, and what a game does in them between steps --


class Scene:
    """A world and a game: `act` does what the game does before step n."""

    first = 0  # the step that is cut short
    written: tuple[type, ...] = (ec.Position, ec.Extents, ec.Velocity, ec.Growth)  # by steps alone
    near = 1e-6  # to where its bodies are if the step is not cut short

    def __init__(self) -> None:
        self.space = self.furnish()
        self.space.snapshot_with(Tag, save=lambda tag: b"", load=lambda data: Tag())

    def furnish(self) -> ec.Space:
        raise NotImplementedError

    def act(self, n: int) -> None:
        pass

    def play(self, start: int, stop: int) -> None:
        for n in range(start, stop):
            self.act(n)
            esper.process(DT)


class First(Scene):
    """The first step of more bodies than there is room for."""

    def furnish(self) -> ec.Space:
        space = ec.install()
        for n in range(6):
            box((4.0 * n, -2.0), (2, 1))
        for n in range(4):
            mover((4.0 * n, 0.0), (1, 1), (20.0 - 5 * n, -30.0), ec.Deflect(0.5))
        mover((-8, 0), (1, 1), (60, 0), ec.Slide(), ec.Filter(2), ec.Friction(0.5))
        return space


class Growing(Scene):
    """Steps before which bodies and traits come, go, and are replaced."""

    first = 3

    def furnish(self) -> ec.Space:
        space = ec.install()
        for n in range(4):
            box((4.0 * n, -2.0), (2, 1))
        self.movers = [mover((4.0 * n, 0.0), (1, 1), (10.0, -30.0), ec.Slide()) for n in range(5)]
        return space

    def act(self, n: int) -> None:
        if n == 3:
            for x in range(10):
                box((4.0 * x, 8.0), (1, 1))
            mover((0, 4), (1, 1), (30, 0), ec.Filter(2), ec.Friction(0.2), ec.Stop())
            mover((8, 4), (1, 1), (-30, 0), ec.Carry((5, 0), (0, 1)), ec.Growth(1, 0))
            first, second, third, fourth, *_ = self.movers
            esper.delete_entity(first, immediate=True)
            esper.delete_entity(second)
            esper.component_for_entity(third, ec.Position).xy = 3, 20
            esper.remove_component(third, ec.Velocity)
            esper.add_component(fourth, ec.Velocity(7, 7))
            esper.add_component(fourth, ec.Sensor())


class Steady(Scene):
    """A game of everything: impacts, contacts, sleepers, sensors, responses, handlers, filters."""

    first = 12
    near = 0.21  # the rider of a lift that is put elsewhere before the step loses its speed

    def furnish(self) -> ec.Space:
        self.heard: list[Any] = []
        space = ec.install()
        for n in range(6):
            box((4.0 * n, -2.0), (2, 1))
        for n in range(3):
            mover((5.0 * n, 0.0), (1, 1), (0, 0), ec.Slide())  # they rest, and sleep
        self.falls = [mover((5.0 * n, 3.0), (1, 1), (3, -9), ec.Deflect(0.5)) for n in range(2)]
        self.tagged = mover((20, 4), (1, 1), (-60, 0), ec.Mass(2), Tag())
        mover((4, 4.5), (1, 1), (30, 0), ec.Slide())
        mover((0, 12), (1, 1), (0, -30), ec.Sensor())
        lift = mover((0, 20), (3, 1), (6, 0), ec.Carry(normal=(0, 1)))
        mover((1, 22), (1, 1), (0, -5), ec.Slide(), ec.PushOut(9))
        mover((30, 20), (1, 1), (0, 0), ec.Growth(-1, 1), ec.OneWay((0, 1)))
        box((3, 22.5), (1, 1), ec.OneWay((1, 0)))
        self.lift = lift
        space.respond_with(Tag, self.respond)
        space.on_collision(self.heard.append)
        space.on_contact_began(self.heard.append)
        return space

    def respond(self, impact: ec.Impact) -> object:
        own = esper.component_for_entity(self.tagged, ec.Velocity)
        own.x, own.y = -own.x, own.y + 8.0
        return ec.DEFAULT if own.y > 40 else None

    def act(self, n: int) -> None:
        for entity in self.falls:
            esper.component_for_entity(entity, ec.Velocity).y -= 1.0
        if n == 12:
            esper.component_for_entity(self.lift, ec.Position).x = 2.0
            esper.component_for_entity(self.tagged, ec.Position).xy = 6.0, 4.5
            esper.component_for_entity(self.tagged, ec.Velocity).xy = -60, 0.0


class Filtered(Steady):
    """The same, with a function that is asked about pairs: nobody sleeps."""

    def furnish(self) -> ec.Space:
        space = super().furnish()
        space.filter_pairs(lambda first, second: (first + second) % 5 != 0, Tag)
        return space


class Swept(Scene):
    """A game that moves its bodies itself, in a world that wraps."""

    first = 4

    def furnish(self) -> ec.Space:
        space = ec.install(ec.Space(motion="swept", wrap=(40, None)))
        self.floor = [box((10.0 * n, -2.0), (3, 1), *[ec.Fixed()][n % 2 :]) for n in range(4)]
        self.driven = [mover((10.0 * n, 2.0), (1, 1), (0, 0), ec.Slide()) for n in range(3)]
        self.free = box((5, 5), (1, 1))
        mover((39, 6), (1, 1), (30, 0), ec.Deflect())
        return space

    def act(self, n: int) -> None:
        for entity in self.driven:
            at = esper.component_for_entity(entity, ec.Position)
            at.x, at.y = at.x + 4.0, at.y - 2.0
        esper.component_for_entity(self.free, ec.Position).x += 3.0
        if n == 4:
            self.space.teleport(self.driven[0], (20, 9))
            self.space.teleport(self.floor[2], (62, -3))


class Declared(Scene):
    """Fixed walls, some of which the game moves; lifts that go and turn; a crowd that presses."""

    first = 12
    near = 0.21  # as above

    def furnish(self) -> ec.Space:
        space = ec.install()
        self.walls = [box((4.0 * n, -2.0), (2, 1), ec.Fixed()) for n in range(6)]
        self.ill = box((0, 0), (1, 1), ec.Fixed())
        esper.component_for_entity(self.ill, ec.Position).x = float("nan")
        esper.add_component(self.walls[4], ec.Friction(0.5))
        esper.add_component(self.walls[5], ec.OneWay((0, 1)))
        mover((20, 0), (1, 1), (-2, 0), ec.Slide())
        mover((15, 0), (1, 1), (9, -9), ec.Slide())
        self.lifts = [mover((x, 20), (3, 1), (6, 0), ec.Carry(normal=(0, 1))) for x in (0, 30)]
        for x in (0, 30):
            mover((x, 22.5), (1, 1), (0, -5), ec.Slide())
            mover((x, 25), (1, 1), (0, -5), ec.Stop())
        self.crowd = [
            mover((40 + 2.3 * (n % 3), 2.3 * (n // 3)), (1, 1), (0, 0), kind())
            for n, kind in enumerate([ec.Slide, ec.Push, ec.Stop] * 3)
        ]
        return space

    def act(self, n: int) -> None:
        for entity in self.crowd:
            at = esper.component_for_entity(entity, ec.Position)
            esper.component_for_entity(entity, ec.Velocity).xy = towards((42, 2), (at.x, at.y))
        if n == 12:
            self.space.teleport(self.walls[1], (4, -3))
            self.space.teleport(self.ill, (0, 0.5))
            esper.add_component(self.walls[2], ec.Filter(2))
            esper.remove_component(self.walls[3], ec.Fixed)
            for x in range(10):  # more than there is room for
                box((20, -6 - 3 * x), (2, 1), ec.Fixed(), ec.Friction(0.2))
            mover((24, -6), (1, 1), (5, 0), ec.Fixed())  # which is ignored
            esper.delete_entity(self.lifts[0])
            esper.component_for_entity(self.lifts[1], ec.Velocity).x = -6.0


class Restored(Declared):
    """The same after a restore, with more bodies than there is room for."""

    def act(self, n: int) -> None:
        if n == 12:
            self.space.restore(self.space.snapshot())
            for x in range(40):
                mover((3.0 * x, 60.0), (1, 1), (9, 0), ec.Slide(), ec.Filter(2))
        super().act(n)


class Ill(Scene):
    """Bodies that are quarantined, and come back."""

    first = 3

    def furnish(self) -> ec.Space:
        space = ec.install()
        box((0, -2), (9, 1))
        self.ill = mover((0, 0), (1, 1), (0, 0), ec.Slide())
        self.well = mover((4, 0), (1, 1), (1, 0), ec.Slide())
        return space

    def act(self, n: int) -> None:
        speed = esper.component_for_entity(self.ill, ec.Velocity)
        other = esper.component_for_entity(self.well, ec.Velocity)
        speed.x = float("nan") if n < 3 else 1.0
        other.x = float("nan") if n == 3 else 1.0


class Corner:
    """Where the lower left corner of a box is, a custom component."""

    def __init__(self, left: float, bottom: float) -> None:
        self.left, self.bottom = left, bottom


class Size:
    """How large a box is, a custom component."""

    def __init__(self, width: float, height: float) -> None:
        self.width, self.height = width, height


class Cornered(Scene):
    """A game with components of its own, which say where corners are."""

    first = 4
    written = Corner, Size, ec.Velocity

    def furnish(self) -> ec.Space:
        roles = ec.Components(
            position=(Corner, "left", "bottom"),
            extents=(Size, "width", "height"),
            whole_sizes=True,
            anchor=(0, 0),
        )
        space = ec.install(components=roles)
        for kind in (Corner, Size):
            space.snapshot_with(
                kind,
                save=lambda part: repr(list(vars(part).values())).encode(),
                load=lambda data, kind=kind: kind(*eval(data)),
            )
        for n in range(3):
            esper.create_entity(Corner(3.1 * n, -2.3), Size(3.1, 1.1))
        for n in range(3):
            esper.create_entity(
                Corner(2.3 * n, 0.7 + n), Size(1.1, 0.9), ec.Velocity(7, -30), ec.Deflect(0.7)
            )
        self.placed = esper.create_entity(Corner(9, 9), Size(1, 1), ec.Velocity(0, 1), ec.Slide())
        space.respond_with(ec.Deflect, lambda impact: ec.DEFAULT)
        return space

    def act(self, n: int) -> None:
        esper.component_for_entity(self.placed, Corner).left = 9.1 + n
        esper.component_for_entity(self.placed, Size).width = 1.0 + n / 7


class Held(Scene):
    """Bodies that come to a limit and are held; a lift moves one, and another is hit."""

    first = 3

    def furnish(self) -> ec.Space:
        space = ec.install(ec.Space(pair_limit=2))
        for x in (-3.0, 3.0):
            box((x, 4.0), (1, 9))
        for y in (0.0, 3.0):
            mover((0, y), (1, 1), (900, 0), ec.Deflect(), ec.Growth(0.0, 0.1))
        mover((0, -4), (1.5, 1), (0, 90))
        self.shot = mover((0, 9), (1, 1), (0, -300), ec.Slide())
        return space

    def act(self, n: int) -> None:
        esper.component_for_entity(self.shot, ec.Velocity).y = -300.0


class Adventure(Scene):
    """Characters on slopes and lifts, water, sleepers; a recording, and a snapshot in each step."""

    first = 9
    written = ec.Position, ec.Extents  # systems before the step set velocities
    near = 15.0  # the timers of these systems are ahead by each step that was cut short

    def furnish(self) -> ec.Space:
        box((0, -8), (400, 8))
        for k in range(3):
            box((16 * k + 8, 8 * k + 4), (8, 4), ec.Slope("right"))
        box((64, 12), (16, 12))
        self.heroes = [Character(walk_speed=120, jump_height=30) for _ in range(3)]
        for x, hero in zip((4.0, -60.0, 60.0), self.heroes, strict=True):
            mover((x, 40.0), (6, 12), (0, 0), ec.Slide(), hero)
        mover((20, 60), (4, 4), (0, 0), ec.Slide(), ec.Friction(0.5))
        mover((-60, 2), (20, 2), (0, 0), ec.Carry(), Way([(-60, 2), (-60, 80), (-120, 80)], 60.0))
        box((200, 20), (40, 40), ec.Sensor(), Zone(drag=2, buoyancy=1.5))
        mover((200, 40), (5, 5), (0, 0), ec.Slide())
        for n in range(3):
            mover((300, 4 + 8 * n), (4, 4), (0, 0), ec.Slide())
        space = ec.install(gravity=(0, -600))
        self.recorder = Recorder(space)
        self.recorder.follow()
        return space

    def act(self, n: int) -> None:
        self.space.snapshot()
        walker, rider, jumper = self.heroes
        walker.walk, rider.walk, jumper.jump = 1.0, -0.2 * (n > 6), n == self.first


SCENES = [
    First,
    Growing,
    Steady,
    Filtered,
    Swept,
    Declared,
    Restored,
    Ill,
    Cornered,
    Held,
    Adventure,
]


class State:
    """What a step that is cut short must leave alone, of the world and of its space."""

    def __init__(self, scene: Scene) -> None:
        space = scene.space
        self.components = contents(scene.written)
        self.contacts = space.contacts()
        self.collisions = space.collision_array.tobytes()
        self.contact_events = space.contact_array.tobytes()
        self.reports = str(space.reports)  # nan among them is not itself
        self.step, self.time = space.stats.step, space.time
        self.entities = space.entities

    def differences(self, other: State) -> list[str]:
        return [name for name, value in vars(self).items() if value != vars(other)[name]]


def contents(kinds: tuple[type, ...]) -> list[tuple[object, ...]]:
    """Return what the components of some kinds hold, of all entities that are not deleted."""
    return sorted(
        (kind.__name__, entity, repr(vars(part) if hasattr(part, "__dict__") else part))
        for kind in kinds
        for entity, part in esper.get_component(kind)
        if esper.entity_exists(entity)
    )


class Ledger:
    """The contacts that have begun and not ended, by the events of all steps."""

    def __init__(self, space: ec.Space) -> None:
        self.space = space
        self.open = self.listed()

    def listed(self) -> Counter[tuple[int, int]]:
        return Counter((each.first, each.second) for each in self.space.contacts())

    def require_balance(self, where: str) -> None:
        """Enter the events of the last step; each contact that it left is listed, and no other."""
        for row in self.space.contact_array:
            pair = int(row["first"]), int(row["second"])
            self.open[pair] += 1 if row["event"] == 0 else -1
            assert self.open[pair] >= 0, (where, pair)
        assert +self.open == self.listed(), where


_worlds = itertools.count()


@pytest.fixture
def in_new_world(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[type[Scene]], Scene]]:
    """Return a function that makes a scene in a new world, up to the step to cut short.

    It deletes the world before.  Spaces begin with room for 8 bodies: a few more make them grow.
    """
    names: list[str] = []

    def make(kind: type[Scene]) -> Scene:
        names.append(f"interrupted {next(_worlds)}")
        esper.switch_world(names[-1])
        for name in names[:-1]:
            esper.delete_world(name)
        del names[:-1]
        monkeypatch.setattr(columns, "INITIAL_ROWS", 8)
        scene = kind()
        scene.play(0, kind.first)
        return scene

    yield make
    esper.switch_world("default")
    for name in names:
        esper.delete_world(name)


class Cuts:
    """Cuts the same step of a scene short again and again, and looks at what is left of it.

    A step that has not happened is begun again, and cut elsewhere, `n_each` times.
    """

    def __init__(
        self, make: Callable[[type[Scene]], Scene], kind: type[Scene], n_each: int = 5
    ) -> None:
        self.make, self.kind, self.n_each = make, kind, n_each
        self.n_cuts = 0
        self.n_happened = 0
        self._begin()
        esper.process(DT)
        self.expected = self.scene.space.positions()
        self.deep = self._deep()
        self._begin()

    def _begin(self) -> None:
        self.scene = self.make(self.kind)
        self.ledger = Ledger(self.scene.space)
        self.scene.act(self.kind.first)
        self.before = State(self.scene)
        self._n_here = 0

    def cut(self, fuse: Any) -> bool:
        """Take the step with something that may raise in it; return whether it did."""
        raised = False
        try:
            with fuse:
                esper.process(DT)
        except (KeyboardInterrupt, MemoryError):
            raised = True
        self.n_cuts += raised
        self._look(f"cut at {getattr(fuse, 'where', fuse)}")
        return raised

    def _look(self, where: str) -> None:
        space = self.scene.space
        happened = space.stats.step != self.before.step
        self._n_here += 1
        self.n_happened += happened
        if not happened:
            space.check()  # which ends a step that was cut short between two systems
            differences = State(self.scene).differences(self.before)
            if space.is_stepping:  # the interrupt came as a stage was left: the next step ends it
                differences = [name for name in differences if name == "components"]
            assert differences == [], where
            if self._n_here % self.n_each:
                return
            esper.process(DT)
        self._go_on(where)
        self._begin()

    def _go_on(self, where: str) -> None:
        """Look at the step, which has happened now, and at the next ones."""
        space = self.scene.space
        np.testing.assert_allclose(
            space.positions(), self.expected, rtol=0, atol=self.kind.near, err_msg=where
        )
        assert self._deep() <= self.deep, where
        self.ledger.require_balance(where)
        for n in range(1, 4):
            space.check()
            self.scene.play(self.kind.first + n, self.kind.first + n + 1)
            self.ledger.require_balance(where)

    def _deep(self) -> set[tuple[int, int]]:
        """Return the pairs of bodies that are inside each other."""
        return {pair for pair, _ in overlapping_pairs(self.scene.space)}


def n_lines_of_step(scene: Scene) -> int:
    """Return how many lines the library runs in the step of a scene that is to be cut short."""
    scene.act(scene.first)
    fuse = Fuse(0)
    with fuse:
        esper.process(DT)
    return -fuse.left


def some_of(n: int, wanted: int, last: int = 12) -> list[int]:
    """Return about as many of the numbers 1 to n, with gaps of many lengths, and the last ones."""
    stride = 1 if wanted >= n else 2 * n // wanted + 1
    numbers, number = set(range(max(1, n - last), n + 1)), 1
    while number <= n:
        numbers.add(number)
        number += 1 + number % stride
    return sorted(numbers)


@pytest.mark.filterwarnings("ignore:entity")
@pytest.mark.parametrize("kind", SCENES)
def test_a_step_that_is_interrupted_at_any_line_moves_no_body(
    implementation, kind, volume, in_new_world
):
    n_lines = n_lines_of_step(in_new_world(kind))
    cuts = Cuts(in_new_world, kind)

    for n in some_of(n_lines, volume(10, 20, n_lines, least=3)):
        cuts.cut(Fuse(n))

    assert cuts.n_cuts > 3
    # The last lines of a compiled step are those of its handlers, which not all scenes have.
    assert cuts.n_happened > 0 or implementation == "compiled"


# -- no memory --


class Allocations:
    """Lets the n-th array that the kernels ask for not be had."""

    def __init__(self, n: int, monkeypatch: pytest.MonkeyPatch) -> None:
        self.left = n
        self.where = f"array {n}"
        self.monkeypatch = monkeypatch

    def __enter__(self) -> None:
        for module in [*sys.modules.values(), *plain.kernels()]:
            if getattr(module, "__name__", "").startswith("ecs_collide."):
                for name in {"zeros", "nones", "grown", "lengthened"} & vars(module).keys():
                    self.monkeypatch.setattr(module, name, self._failing(getattr(module, name)))

    def _failing(self, allocate: Callable[..., Any]) -> Callable[..., Any]:
        def allocate_or_fail(*arguments: Any, **named: Any) -> Any:
            self.left -= 1
            if self.left == 0:
                raise MemoryError
            return allocate(*arguments, **named)

        return allocate_or_fail

    def __exit__(self, *_: object) -> None:
        self.monkeypatch.undo()


@pytest.mark.filterwarnings("ignore:entity")
@pytest.mark.parametrize("kind", [First, Growing, Declared])
def test_a_step_for_which_an_array_cannot_be_had_moves_no_body(
    implementation, kind, in_new_world, kernels, volume
):
    cuts = Cuts(in_new_world, kind, n_each=1)
    whole = Allocations(0, pytest.MonkeyPatch())

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(backend, "kernels", kernels)
        cuts.cut(whole)
        n_arrays = -whole.left
        for n in some_of(n_arrays, volume(20, 40, 1000, least=6)):
            assert cuts.cut(Allocations(n, pytest.MonkeyPatch())), n

    assert n_arrays > 40


class Refusals:
    """Lets the n-th piece of memory that Python asks for not be had."""

    def __init__(self, n: int) -> None:
        self.n = n
        self.where = f"piece of memory {n}"
        self.testcapi = pytest.importorskip("_testcapi")

    def __enter__(self) -> None:
        self.testcapi.set_nomemory(self.n, self.n + 1)

    def __exit__(self, *_: object) -> None:
        self.testcapi.remove_mem_hooks()


@pytest.mark.skipif(sys.implementation.name != "cpython", reason="only CPython can refuse memory")
@pytest.mark.filterwarnings("ignore:entity")
# Python only warns where the memory that it lacks is for closing a generator.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize("kind", [First, Growing, Steady, Declared, Adventure])
def test_a_step_for_which_python_has_no_memory_leaves_a_space_that_works(
    implementation, kind, volume, in_new_world
):
    if implementation == "plain":
        pytest.skip("numpy takes errors of memory for others")
    if np.lib.NumpyVersion(np.__version__) < "1.26.3":
        pytest.skip("before 1.26.3 numpy crashes on its own where Python has no memory")
    n_failed = 0

    for n in range(1, 400, 400 // volume(25, 40, 400)):
        scene = in_new_world(kind)
        ledger = Ledger(scene.space)
        scene.act(kind.first)
        before = State(scene)
        try:
            with Refusals(n):
                esper.process(DT)
        except Exception:  # numpy sometimes raises another one than MemoryError
            n_failed += 1
        if scene.space.stats.step == before.step:
            scene.space.check()
            assert State(scene).differences(before) == [], n
        else:
            ledger.require_balance(str(n))
        for step in (1, 2):
            scene.play(kind.first + step, kind.first + step + 1)
            ledger.require_balance(str(n))
            scene.space.check()

    assert n_failed > 5


def test_no_compiled_kernel_has_a_list_comprehension():
    """Where one has no memory for its list, Cython 3.3 frees the item twice."""
    for kernel in declare_kernels.find_kernels(Path(PACKAGE)):
        code = ast.parse(kernel.read_text(encoding="utf-8"))
        assert not [n.lineno for n in ast.walk(code) if isinstance(n, ast.ListComp)], kernel


# -- what else is cut short --


@pytest.mark.slow_in_python
@pytest.mark.filterwarnings("ignore:entity")
def test_a_restore_that_is_interrupted_at_any_line_has_happened_or_has_not(
    implementation, volume, in_new_world
):
    scene = in_new_world(Steady)
    data = scene.space.snapshot()
    scene.play(Steady.first, Steady.first + 3)
    later = scene.space.snapshot()
    ends = {}

    def finish() -> bytes:
        scene.play(Steady.first, Steady.first + 3)
        return scene.space.snapshot()

    scene.space.restore(data)
    expected = finish()
    scene.space.restore(later)
    whole = Fuse(0)
    with whole:
        scene.space.restore(data)
    n_lines = -whole.left
    # The last one is not interrupted at all.
    for n in [*some_of(n_lines, volume(30, 60, n_lines, least=10)), 2 * n_lines]:
        scene.space.restore(later)
        fuse = Fuse(n)
        with contextlib.suppress(InterruptError), fuse:
            scene.space.restore(data)
        scene.space.check()
        state = scene.space.snapshot()
        assert state in (data, later), fuse.where
        ends[state == data] = True
        if n % 3 == 0 or n > n_lines:
            scene.space.restore(data)
            assert finish() == expected, fuse.where

    assert ends == {True: True, False: True}


@pytest.mark.slow_in_python
def test_a_state_of_which_the_restore_is_interrupted_has_come_back_or_has_not(
    implementation, world, volume
):
    space = ec.install(gravity=(0, -10))
    box((0, -1), (40, 1))
    ball = mover((0, 5), (1, 1), (3, 0), ec.Deflect(0.5), ec.Filter(2))
    mover((9, 1), (1, 1), (0, 0), ec.Slide())
    score = Score(0, 0.0)
    esper.add_component(ball, score)
    for _ in range(2):
        esper.process(DT)
    ends = {}
    for n in [*some_of(600, volume(30, 60, 600, least=10)), 10**6]:
        state, data = space.save_state(), space.snapshot()
        score.points += 1
        esper.component_for_entity(ball, ec.Velocity).x = n
        esper.process(DT)
        later = space.snapshot()
        assert state.is_plain
        fuse = Fuse(n)
        with contextlib.suppress(InterruptError), fuse:
            space.restore(state)
        space.check()
        now = space.snapshot()
        assert now in (data, later), fuse.where
        ends[now == data] = True
        space.restore(state)
        assert space.snapshot() == data
        esper.component_for_entity(ball, ec.Velocity).x = n
        esper.process(DT)
        score.points += 1
        assert space.snapshot() == later, fuse.where

    assert ends == {True: True, False: True}


@pytest.mark.slow_in_python
@pytest.mark.filterwarnings("ignore:entity")
def test_a_restore_that_is_interrupted_leaves_no_entity_half_changed(implementation, world, volume):
    space = ec.install(gravity=(0, -10))
    furnish(space)
    good = space.snapshot()
    esper.process(DT)
    lost, dying, stripped, richer, *_ = sorted(space.entities)
    esper.delete_entity(lost, immediate=True)
    esper.delete_entity(dying)
    esper.remove_component(stripped, ec.Friction)
    esper.add_component(richer, Score(4, 4.0))
    esper.create_entity(ec.Position(90, 0), ec.Extents(1, 1), Score(7, 7.0))
    for _, score in esper.get_component(Score):
        score.points += 10
    later = space.snapshot()

    def structure() -> object:
        entities = [
            (entity, {kind: repr(part) for kind, part in its.items() if kind is not Lamp})
            for entity, its in esper._entities.items()
        ]
        by_type = {kind: set(having) for kind, having in esper._components.items()}
        return entities, by_type, set(esper._dead_entities)

    before = structure()
    n_taken_back = 0
    for n in some_of(3400, volume(20, 40, 3400, least=10), last=0):
        fuse = Fuse(n)
        with contextlib.suppress(InterruptError), fuse:
            space.restore(good)
        space.check()
        state = space.snapshot()
        assert state in (good, later), fuse.where
        if state == later:
            n_taken_back += 1
            assert structure() == before, fuse.where
        else:
            space.restore(later)
            before = structure()

    assert n_taken_back > 0


@pytest.mark.filterwarnings("ignore:entity")
def test_an_interrupt_leaves_the_space_free_for_other_threads(implementation, volume, in_new_world):
    def step() -> None:
        try:
            esper.process(DT)
        except RuntimeError as error:
            refused.append((fuse.where, error))

    n_lines = n_lines_of_step(in_new_world(Ill))
    scene = in_new_world(Ill)
    refused: list[object] = []
    for n in some_of(n_lines, volume(100, 200, n_lines, least=40)):
        fuse = Fuse(n)
        with contextlib.suppress(InterruptError), fuse:
            esper.process(DT)
        thread = threading.Thread(target=step)
        thread.start()
        thread.join()

    assert scene.space.stats.step > 0
    assert refused == []


def test_an_interrupt_while_a_pair_is_filtered_ends_the_step(implementation, in_new_world):
    def interrupt(first: int, second: int) -> bool:
        raise InterruptError

    scene = in_new_world(Steady)
    forget = scene.space.filter_pairs(interrupt)
    before = State(scene)

    with pytest.raises(InterruptError):
        esper.process(DT)

    assert State(scene).differences(before) == []
    forget()
    esper.process(DT)
    assert scene.space.stats.step == Steady.first + 1


class Bounces(Scene):
    """Two balls that meet each other, and then a wall, in one step."""

    def furnish(self) -> ec.Space:
        space = ec.install()
        mover((0, 0), (1, 1), (100, 0), ec.Deflect())
        mover((3, 0), (1, 1), (-100, 0), ec.Deflect())
        box((-3, 0), (1, 9))
        return space


def test_an_interrupt_within_a_response_moves_no_body(implementation, in_new_world):
    def answer(impact: ec.Impact) -> object:
        met.append(impact)
        if len(met) == 2:
            esper.component_for_entity(impact.first, ec.Position).y = 7.0
            esper.component_for_entity(impact.first, ec.Velocity).y = 7.0
            raise InterruptError
        return ec.DEFAULT

    scene = in_new_world(Bounces)
    met: list[ec.Impact] = []
    scene.space.respond_with(ec.Deflect, answer)
    before = State(scene)

    with pytest.raises(InterruptError):
        esper.process(DT)

    assert State(scene).differences(before) == []
    with pytest.raises(RuntimeError):
        met[1].resolve()


class Place:
    """A position of a game's own, which is interrupted while it is set, at first or at last."""

    n_until = 0
    at_last = False

    def __init__(self, x: float, y: float) -> None:
        self._x, self.y = x, y

    @property
    def x(self) -> float:
        return self._x

    @x.setter
    def x(self, value: float) -> None:
        Place.n_until -= 1
        if Place.n_until == 0 and not Place.at_last:
            raise InterruptError
        self._x = value
        if Place.n_until == 0:
            raise InterruptError


@pytest.mark.parametrize("at_last", [False, True])
def test_an_interrupt_within_a_component_that_is_written_takes_back_all(
    implementation, at_last, world
):
    space = ec.install(components=ec.Components(position=(Place, "x", "y")))
    places = [Place(4.0 * n, 0.0) for n in range(4)]
    for place in places:
        esper.create_entity(place, ec.Extents(1, 1), ec.Velocity(6, 3))
    esper.process(DT)
    before = [(place.x, place.y) for place in places]
    Place.n_until, Place.at_last = 3, at_last

    with pytest.raises(InterruptError):
        esper.process(DT)

    assert [(place.x, place.y) for place in places] == before
    assert space.positions().tolist() == [list(place) for place in before]
    esper.process(DT)
    assert [place.x for place in places] == [x + 6 * DT for x, _ in before]


@pytest.mark.parametrize("many", [False, True])
def test_a_box_for_which_there_is_no_memory_is_not_in_the_tree(implementation, many):
    tree = ec.AABBTree()
    n_full = 10
    for n in range(n_full):
        tree.insert(n, (n, 0), (n + 1, 1))
    wanted = list(range(n_full, 40)) if many else [n_full]
    boxes = [(n, 0) for n in wanted], [(n + 1, 1) for n in wanted]
    n, failed = 1, True
    while failed:
        failed = False
        try:
            with Allocations(n, pytest.MonkeyPatch()):
                if many:
                    tree.insert_many(wanted, *boxes)
                else:
                    tree.insert(n_full, (n_full, 0), (n_full + 1, 1))
        except MemoryError:
            failed = True
            tree.check()
            assert list(tree) == list(range(n_full))
            assert tree.query((0, 0), (99, 1)) == list(range(n_full))
        n += 1

    tree.check()
    assert list(tree) == [*range(n_full), *wanted]
    assert n > 3


def test_kernels_refuse_rows_for_which_they_have_no_room(implementation, world):
    space = ec.install()
    mover((0, 0), (1, 1), (1, 0))
    esper.process(DT)
    timeline, reader = space._state.timeline, space._registry.reader
    columns, capacity = space._registry.table.views, space._registry.table.capacity

    for refused in (
        lambda: timeline.require(capacity + 1),
        lambda: reader.cache(capacity, {}),
        lambda: reader.require(np.array([0, capacity]).data),
        lambda: reader.kinds[0].require(capacity + 1),
        lambda: reader.kinds[0].cache(capacity, object()),
        lambda: reader.kinds[0].store(capacity),
        lambda: reader.kinds[0].bind(capacity + 1, columns.centre, columns.centre),
    ):
        with pytest.raises(IndexError):
            refused()
    with pytest.raises(KeyError, match="has no box"):
        timeline.broadphase.still.box_into(0, np.zeros(2).data, np.zeros(2).data)

    esper.process(DT)
    assert space.positions().tolist() == [[DT + DT, 0.0]]
