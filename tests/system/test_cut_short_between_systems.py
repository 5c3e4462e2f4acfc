"""A step that is cut short between two systems: whatever uses the space next ends it."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable

import esper
import pytest

import ecs_collide as ec
from ecs_collide.character import Character, Ladder
from ecs_collide.path import Path
from ecs_collide.zone import Zone
from tests.scenes import box, mover, of, position, steps

pytestmark = pytest.mark.usefixtures("world", "implementation")

DT = 1 / 64
BETWEEN = (125, 115, 105)  # priorities between those of the four systems
BEFORE_ALL = 200


class Fault(esper.Processor):
    """A processor of the game that fails when it is told to."""

    def __init__(self) -> None:
        self.error: BaseException | None = None

    def process(self, dt: float) -> None:
        error, self.error = self.error, None
        if error is not None:
            raise error


class Game(esper.Processor):
    """A processor of the game that runs before all others."""

    def __init__(self) -> None:
        self.deeds: list[Callable[[], object]] = []

    def process(self, dt: float) -> None:
        while self.deeds:
            self.deeds.pop()()


class Level:
    """A level with all that runs before a step: a hero, a lift on a path, water with a crate."""

    def __init__(self, dim: int = 2) -> None:
        depth = (20.0,) * (dim - 2)
        still, moving = (0.0,) * dim, (0.0,) * dim
        self.floor = box((0.0, -8.0, *still[2:]), (300.0, 8.0, *depth), ec.OneWay())
        box((0.0, -90.0, *still[2:]), (900.0, 8.0, *depth))
        box((0.0, 40.0, *still[2:]), (3.0, 40.0, *depth), ec.Sensor(), Ladder())
        box((200.0, 0.0, *still[2:]), (40.0, 40.0, *depth), ec.Sensor(), Zone(drag=2, buoyancy=1.5))
        self.crate = mover((200.0, 20.0, *still[2:]), (5.0, 5.0, *depth), moving, ec.Slide())
        way = Path([(-200, 20), (-200, 80)], 30.0)
        self.lift = mover((-200.0, 20.0, *still[2:]), (9.0, 2.0, *depth), moving, ec.Carry(), way)
        self.keys = Character(
            crouch_height=20, climb_speed=50, dash_speed=300, dash_through=2, air_jumps=1,
            hover_speed=20, ledge_reach=4, wall_jump_speed=90, swim_speed=40,
        )  # fmt: skip
        self.hero = mover(
            (0.0, 16.0, *still[2:]), (8.0, 16.0, *(4.0,) * (dim - 2)), moving,
            ec.Slide(), ec.Filter(1, 0xFF), self.keys,
        )  # fmt: skip
        self.space = ec.install(dim=dim, gravity=(0, -100, 0)[:dim])
        self.game, self.fault = Game(), Fault()
        esper.add_processor(self.game, priority=BEFORE_ALL)

    def play(self, n: int = 1) -> None:
        steps(n, DT)

    def cut_short(self, priority: int, error: BaseException) -> None:
        """Run a step that fails in a processor of a priority."""
        esper.add_processor(self.fault, priority=priority)
        self.fault.error = error
        with contextlib.suppress(type(error)):
            self.play()
        esper.remove_processor(Fault)


@pytest.fixture(params=[KeyboardInterrupt, ValueError], ids=["Ctrl-C", "a fault of the game"])
def error(request: pytest.FixtureRequest) -> BaseException:
    return request.param()


CONTROLS = ("jump", "drop", "crouch", "dash", "hover", "walk", "across", "climb")


@pytest.mark.parametrize("dim", [2, 3])
@pytest.mark.parametrize("wish", [*CONTROLS, "knock_back"])
def test_a_character_does_what_it_is_told_after_it(wish, dim, error):
    level = Level(dim)
    level.play(3)
    level.cut_short(125, error)

    if wish == "knock_back":
        level.keys.knock_back((90, 90))
    else:
        setattr(level.keys, wish, 1.0 if wish in ("walk", "across", "climb") else True)
    level.play(4)

    said = str(level.keys.state)
    expected = {
        "jump": "RISING", "drop": "FALLING", "crouch": "CROUCHING", "dash": "DASHING",
        "hover": "STANDING", "walk": "WALKING", "climb": "CLIMBING",
        "across": "WALKING" if dim == 3 else "STANDING", "knock_back": "KNOCKED_BACK",
    }  # fmt: skip
    assert said == expected[wish]
    level.space.check()


@pytest.mark.parametrize("priority", BETWEEN)
def test_bodies_are_where_they_were_before_it(priority, error):
    level = Level()
    level.play(20)
    before, contacts = level.space.positions(), level.space.contacts()

    level.cut_short(priority, error)

    assert not level.space.is_stepping
    assert level.space.positions().tolist() == before.tolist()
    assert level.space.contacts() == contacts
    assert level.space.position_of(level.crate) == position(level.crate)
    level.space.check()


@pytest.mark.parametrize("priority", BETWEEN)
@pytest.mark.parametrize("times", [1, 2])
def test_a_body_that_was_moved_before_it_is_not_teleported_by_the_next_step(times, priority, error):
    level = Level()
    level.play(30)
    moved = level.space.move(level.hero, (5, 0))
    contacts = level.space.contacts(level.hero)
    assert contacts

    for _ in range(times):
        level.cut_short(priority, error)
    level.play()

    assert position(level.hero) == moved.position
    assert level.space.contacts(level.hero) == contacts
    assert level.space.contacts_ended == []


DEEDS: dict[str, Callable[[ec.Space, int, ec.SavedState], object]] = {
    "resize": lambda space, crate, _: space.resize(crate, height=1),
    "teleport": lambda space, crate, _: space.teleport(crate, (100, 50)),
    "move": lambda space, crate, _: space.move(crate, (0, 20)),
    "check_move": lambda space, crate, _: space.check_move(crate, (0, 20)),
    "drop_through": lambda space, crate, _: space.drop_through(crate),
    "set_positions": lambda space, crate, _: space.set_positions([crate], [(100, 50)]),
    "update": lambda space, *_: space.update(),
    "gravity": lambda space, *_: setattr(space, "gravity", (0, -50)),
    "snapshot": lambda space, *_: space.snapshot(),
    "save_state": lambda space, *_: space.save_state(),
    "restore": lambda space, _, state: space.restore(state),
    "state_hash": lambda space, *_: space.state_hash(),
    "interpolated": lambda space, *_: space.interpolated(0.5),
    "carried": lambda space, crate, _: space.carried(crate),
    "delete": lambda _, crate, __: esper.delete_entity(crate),
    "create": lambda *_: mover((50, 50), (2, 2), (0, 0), ec.Slide()),
}


@pytest.mark.parametrize("priority", BETWEEN)
@pytest.mark.parametrize("name", DEEDS)
def test_a_game_may_do_it_before_the_next_step(name, priority):
    ends = []
    for is_cut in (False, True):
        esper.switch_world(f"{esper.current_world}, {is_cut}")
        box((0, -2), (9, 1), ec.OneWay())
        lift = mover((20, -2), (9, 1), (4, 8), ec.Carry())
        crate = mover((0, 0), (1, 1), (1, 0), ec.Slide())
        mover((20, 0), (1, 1), (0, 0), ec.Slide())
        mover((40, 0), (1, 1), (-90, 0), ec.Deflect())
        space = ec.install(gravity=(0, -100))
        game, fault = Game(), Fault()
        esper.add_processor(game, priority=BEFORE_ALL)
        esper.add_processor(fault, priority=priority)
        steps(5, DT)
        state = space.save_state()
        if is_cut:
            fault.error = ValueError("a fault")
            with pytest.raises(ValueError, match="a fault"):
                esper.process(DT)
        of(lift, ec.Velocity).y = 6.0
        game.deeds.append(
            lambda space=space, crate=crate, state=state: DEEDS[name](space, crate, state)
        )

        steps(3, DT)

        ends.append((space.positions().tolist(), space.contacts(), space.time))
        space.check()
    assert ends[1] == ends[0]


def test_a_step_that_the_game_runs_by_its_own_systems_is_taken_back_too():
    space = ec.install()
    crate = mover((0, 0), (1, 1), (8, 0))
    systems = [kind(space) for kind in (ec.BroadphaseSystem, ec.NarrowphaseSystem)]

    def run_half_a_step() -> None:
        for system in systems:
            system.process(1.0)
        assert space.is_stepping
        with pytest.raises(RuntimeError, match="within a step"):
            space.resize(crate, height=4)

    run_half_a_step()

    space.resize(crate, height=4)
    assert not space.is_stepping


def test_stages_without_systems_belong_to_the_frame_that_is_given():
    space = ec.install()
    crate = mover((0, 0), (1, 1), (8, 0))
    esper.process(0.0)

    def begin() -> None:
        space.update_bounds(1.0, (), sys._getframe())

    begin()

    assert not space.is_stepping
    space.update_bounds(1.0)  # without a frame, nobody but the next step ends it
    assert space.is_stepping
    with pytest.raises(RuntimeError, match="within a step"):
        space.resize(crate, height=4)


def test_the_time_of_a_step_is_asked_for_once_and_again_after_one_that_was_cut_short():
    level = Level()
    asked: list[float] = []
    level.space.step_time.source = lambda dt: asked.append(dt) or dt

    level.play(2)
    level.cut_short(125, ValueError("a fault"))
    level.cut_short(131.5, ValueError("a fault"))  # before the four systems
    level.play()

    assert len(asked) == 4


def test_a_slope_that_has_changed_in_a_step_that_fails_is_still_a_slope():
    slope = box((0, 0), (8, 8), ec.Slope("right"))
    crate = mover((0, 6), (2, 2), (0, 0), ec.Slide(), ec.Friction(1))
    space = ec.install(gravity=(0, -100))
    while not space.contacts():
        esper.process(DT)
    contacts = space.contacts()

    esper.add_component(slope, ec.Restitution(0.5))
    of(crate, ec.Velocity).x = "nonsense"
    with pytest.raises(TypeError, match="nonsense"):
        esper.process(DT)

    assert abs(contacts[0].normal[0]) == pytest.approx(0.5**0.5)
    assert space.contacts() == contacts
