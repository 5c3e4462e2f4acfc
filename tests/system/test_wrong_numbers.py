"""Wrong numbers of characters, paths, zones and lifts are reported, and the other bodies go on."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator
from decimal import Decimal
from fractions import Fraction

import esper
import numpy as np
import pytest

import ecs_collide as ec
from ecs_collide.character import Character, Ladder
from ecs_collide.character.character import FIELDS as OF_CHARACTER
from ecs_collide.character.memory import ENDLESS
from ecs_collide.path import Path
from ecs_collide.path.path import FIELDS as OF_PATH
from ecs_collide.zone import Zone
from ecs_collide.zone.zone import FIELDS as OF_ZONE
from tests.scenes import box, mover, of, position, steps

pytestmark = pytest.mark.usefixtures("world", "implementation")

DT = 1 / 64
WRONG = (math.nan, math.inf, -math.inf, 1e308, -1e308)
NO_NUMBERS = ("x", None, 1j, [1], 10**400)
IDS = ("text", "None", "complex", "list", "a huge int")
NUMBERS = (Decimal("0.5"), Fraction(1, 2), np.float32(0.5), np.float64(0.5), np.int64(1), True)
VECTOR = ("x", "y", "z")
OF_CORE = {
    ec.Position: VECTOR,
    ec.Extents: VECTOR,
    ec.Velocity: VECTOR,
    ec.Carry: VECTOR,
    ec.GravityScale: ("value",),
    ec.Acceleration: VECTOR,
    ec.Filter: ("categories", "mask", "group"),
}
OF_EXTRAS = {Character: OF_CHARACTER.bounds, Path: OF_PATH.bounds, Zone: OF_ZONE.bounds}


@pytest.fixture
def quiet() -> Iterator[None]:
    """Let reports be no errors."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


class Level:
    """A level with a character, one on a lift with a path, a zone and a crate in it, a guard."""

    def __init__(self, dim: int = 2, **settings: object) -> None:
        z, deep = (0.0,) * (dim - 2), (30.0,) * (dim - 2)
        self.dim = dim
        self.floor = box((0, -8, *z), (900, 8, *deep), ec.Fixed())
        self.ladder = box((5, 20, *z), (3, 20, *deep), ec.Sensor(), Ladder())
        self.zone = box((200, 50, *z), (60, 60, *deep), ec.Sensor(), Zone(drag=1, buoyancy=0.5))
        things = ec.Slide(), ec.GravityScale(1), ec.Acceleration(0, 0), ec.Filter(1, 0xFF)
        self.crate = mover((200, 20, *z), (5, 5, *deep), (0, 0), *things)
        way = Path([(-200, 20), (-200, 60)], 30)
        self.lift = mover((-200, 20, *z), (20, 2, *deep), (0, 0), ec.Carry(), way)
        self.guard = mover(
            (300, 5, *z), (5, 5, *deep), (0, 0), ec.Slide(), Path([(300, 5), (360, 5)], 30)
        )
        self.hero = self.person((0, 16, *z))
        self.rider = self.person((-200, 38, *z))
        self.swimmer = self.person((230, 60, *z))
        self.other = self.person((500, 16, *z))
        self.space = ec.install(dim=dim, gravity=(0, -300, 0)[:dim], **settings)
        self.play(4)
        of(self.other, Character).walk = 1.0

    def person(self, at: tuple[float, ...]) -> int:
        keys = Character(climb_speed=50, dash_speed=300, crouch_height=20, swim_speed=30)
        things = ec.Slide(), ec.GravityScale(1), ec.Acceleration(0, 0), ec.Filter(1, 0xFF), keys
        return mover(at, (8, 16, *(8,) * (len(at) - 2)), (0, 0), *things)

    def play(self, n: int = 1) -> None:
        steps(n, DT)

    def goes_on(self) -> bool:
        """Return whether the others do: a character walks by two steps."""
        before = position(self.other)[0]
        self.play(2)
        return position(self.other)[0] > before


def are_back(level: Level, entity: int) -> bool:
    """Return whether a body takes part in steps, and nothing else has got a wrong number."""
    numbers = [level.space.positions(), level.space.velocities()]
    return (
        all(np.isfinite(each).all() for each in numbers)
        and not level.space.body_kinds([entity])[0] & ec.BodyKind.QUARANTINED
    )


ROLES = ("hero", "rider", "swimmer", "lift", "guard", "zone", "crate")


@pytest.mark.usefixtures("quiet")
@pytest.mark.parametrize("dim", [2, 3])
@pytest.mark.parametrize("role", ROLES)
def test_body_with_a_wrong_number_is_reported_and_comes_back(role, dim, volume):
    level = Level(dim)
    entity = getattr(level, role)
    fields = {**OF_CORE, **OF_EXTRAS}
    for component in esper.components_for_entity(entity):
        names = list(fields.get(type(component), ()))
        if type(component) is Character and (role != "hero" or dim == 3):
            names = ["walk", "jump_speed", "dash_time"]
        elif type(component) is Character:
            names = names[:: volume(4, 1)]
        for n, name in enumerate(names):
            if name == "z" and dim == 2:  # nothing reads it
                continue
            before = getattr(component, name)
            for wrong in WRONG if role == "zone" else WRONG[n % 5 : n % 5 + 1]:
                if wrong == math.inf and name in ENDLESS:
                    continue
                level.space.reports.clear()
                setattr(component, name, wrong)

                assert level.goes_on()

                said = [(report.entity, report.field) for report in level.space.reports]
                assert said == [(entity, f"{type(component).__name__}.{name}")], wrong
                setattr(component, name, before)
                level.play()
                assert are_back(level, entity)
    level.space.check()


@pytest.mark.usefixtures("quiet")
@pytest.mark.parametrize("wrong", NO_NUMBERS, ids=IDS)
@pytest.mark.parametrize(("role", "kind"), [("hero", Character), ("guard", Path), ("zone", Zone)])
def test_value_that_is_no_number_is_reported_with_its_text(role, kind, wrong):
    level = Level()
    entity, component = getattr(level, role), of(getattr(level, role), kind)
    for name in list(OF_EXTRAS[kind])[:: 4 if kind is Character else 1]:
        before = getattr(component, name)
        setattr(component, name, wrong)

        assert level.goes_on()

        report = level.space.reports[-1]
        assert (report.entity, report.field) == (entity, f"{kind.__name__}.{name}")
        assert math.isnan(report.value)
        assert repr(wrong)[:40] in report.message
        setattr(component, name, before)
        level.play()
        assert are_back(level, entity)


@pytest.mark.parametrize("wrong", NO_NUMBERS, ids=IDS)
@pytest.mark.parametrize("role", ROLES)
def test_value_of_a_body_that_is_no_number_is_refused_by_the_step(role, wrong):
    level = Level()
    entity = getattr(level, role)
    for kind in (ec.Position, ec.Extents, ec.Velocity, ec.Carry, ec.GravityScale, ec.Filter):
        component = esper.try_component(entity, kind)
        if component is None:
            continue
        for name in OF_CORE[kind]:
            if name == "z":
                continue
            before = getattr(component, name)
            setattr(component, name, wrong)

            with pytest.raises(TypeError, match=rf"entity {entity}: {kind.__name__}.{name} is "):
                level.play()

            setattr(component, name, before)
    assert level.goes_on()


@pytest.mark.parametrize("value", NUMBERS, ids=repr)
@pytest.mark.parametrize(
    ("role", "kind"),
    [
        *(("hero", Character), ("guard", Path), ("zone", Zone), ("lift", ec.Carry)),
        ("hero", ec.Velocity),
    ],
)
def test_number_of_another_type_counts_as_a_float(role, kind, value):
    level = Level()
    component = of(getattr(level, role), kind)
    for name in {**OF_CORE, **OF_EXTRAS}[kind]:
        before = getattr(component, name)
        setattr(component, name, value)

        assert level.goes_on()

        assert level.space.reports == []
        if kind in OF_EXTRAS and name not in ("air_time", "state_time"):
            assert getattr(component, name) == float(value)
        setattr(component, name, before)


def test_z_in_2d_is_read_by_nothing():
    level = Level()
    for entity in (level.hero, level.rider, level.lift, level.guard, level.crate):
        of(entity, ec.Velocity).z = of(entity, ec.Position).z = math.nan

    level.play(3)

    assert level.space.reports == []


@pytest.mark.usefixtures("quiet")
def test_fixed_zone_is_skipped_and_comes_back():
    level = Level()
    esper.add_component(level.zone, ec.Fixed())
    level.play()
    of(level.zone, Zone).drag = math.nan
    level.play(3)
    assert [report.field for report in level.space.reports] == ["Zone.drag"]
    assert level.crate not in [c.other(level.zone) for c in level.space.contacts(level.zone)]

    of(level.zone, Zone).drag = 1.0
    level.play(2)

    assert level.crate in [c.other(level.zone) for c in level.space.contacts(level.zone)]


@pytest.mark.usefixtures("quiet")
def test_lift_that_is_skipped_drops_its_rider_and_carries_it_again():
    level = Level()
    of(level.lift, Path).speed = math.nan
    level.play(4)
    assert not of(level.rider, Character).on_ground
    where = position(level.lift)

    of(level.lift, Path).speed = 30.0
    of(level.rider, ec.Position).y = where[1] + 18.0
    level.play(4)

    assert of(level.rider, Character).ground == level.lift
    assert position(level.lift)[1] > where[1]


@pytest.mark.usefixtures("quiet")
@pytest.mark.parametrize(
    ("role", "kind", "name"),
    [("hero", Character, "walk"), ("zone", Zone, "drag"), ("guard", Path, "speed")],
)
def test_snapshot_in_the_middle_neither_repeats_nor_loses_the_report(role, kind, name):
    level = Level()
    entity = getattr(level, role)
    setattr(of(entity, kind), name, math.nan)
    level.play(2)
    saved = level.space.snapshot()
    level.play(2)
    end = level.space.state_hash()

    level.space.restore(saved)
    level.play(2)

    assert level.space.state_hash() == end
    assert len(level.space.reports) == level.space.n_reports == 1
    setattr(of(entity, kind), name, 1.0)
    level.play(2)
    assert are_back(level, entity)


@pytest.mark.usefixtures("quiet")
def test_neighbours_with_wrong_numbers_are_all_skipped_until_they_are_right():
    places = 0, 10, 20
    sea = [box((x, 0), (2, 2), ec.Sensor(), Zone()) for x in places]
    crates = [mover((x, 0), (1, 1), (0, 0), ec.Slide()) for x in places]
    space = ec.install()
    for part in sea:
        of(part, Zone).drag = math.nan

    for _ in range(3):
        esper.process(DT)
        space.check()
        assert [space.query_point((x, 0)) for x in places] == [[crate] for crate in crates]
        assert not space.contacts()

    for part in sea:
        of(part, Zone).drag = 1.0
    esper.process(DT)
    assert [space.query_point((x, 1.5)) for x in places] == [[part] for part in sea]
    assert len(space.contacts()) == 3


@pytest.mark.usefixtures("quiet")
def test_wrong_number_is_reported_once_while_steps_of_no_time_are_taken():
    level = Level()
    of(level.hero, Character).walk = math.nan
    of(level.guard, Path).speed = math.nan
    of(level.zone, Zone).drag = math.nan

    for dt in (DT, 0.0, DT, 0.0, DT):
        esper.process(dt)

    assert len(level.space.reports) == 3


@pytest.mark.usefixtures("quiet")
def test_step_that_is_cut_short_reports_again_what_it_has_reported():
    level = Level()

    class Fault(esper.Processor):
        def process(self, dt: float) -> None:
            raise KeyboardInterrupt

    of(level.hero, Character).walk = math.nan
    esper.add_processor(Fault(), priority=125)
    with pytest.raises(KeyboardInterrupt):
        level.play()
    esper.remove_processor(Fault)
    level.play(2)

    assert [report.field for report in level.space.reports] == ["Character.walk"]
    of(level.hero, Character).walk = 1.0
    level.play(3)
    assert are_back(level, level.hero)


def test_doctor_names_the_wrong_number_of_a_body_that_is_skipped():
    level = Level()
    of(level.zone, Zone).drag = math.nan
    with pytest.warns(RuntimeWarning, match=f"entity {level.zone} is skipped .*Zone.drag is nan"):
        level.play()

    found = {finding.cause: finding.message for finding in level.space.doctor()}

    assert "Zone.drag is nan since step" in found["quarantined"]
    assert "put right" not in found["quarantined"]


@pytest.mark.usefixtures("quiet")
@pytest.mark.parametrize("wrap", [(2000.0, None), (2000.0, 2000.0)])
def test_world_that_wraps_skips_a_wrong_zone(wrap):
    level = Level(wrap=wrap)
    of(level.zone, Zone).gravity = math.nan

    assert level.goes_on()

    of(level.zone, Zone).gravity = 1.0
    level.play(2)
    assert are_back(level, level.zone)


@pytest.mark.usefixtures("quiet")
def test_body_that_sleeps_on_one_that_is_skipped_wakes_and_falls():
    level = Level()
    of(level.guard, Path).running = False
    load = mover((300, 15), (5, 5), (0, 0), ec.Slide())
    level.play(40)
    kinds = level.space.body_kinds([level.guard, load]) & ec.BodyKind.ASLEEP
    assert kinds.all()

    of(level.guard, Path).speed = math.nan
    level.play(30)

    assert position(load)[1] == 5.0


@pytest.mark.usefixtures("quiet")
def test_zone_that_is_attached_to_a_character_is_skipped_with_it_and_alone():
    level = Level()
    aura = box((0, 16), (60, 60), ec.Sensor(), ec.Attached(level.hero), Zone(drag=2))
    stone = mover((30, 5), (5, 5), (0, 0), ec.Slide())
    level.play(3)

    def is_on() -> bool:
        return stone in [contact.other(aura) for contact in level.space.contacts(aura)]

    assert is_on()
    for keys, name, good in (
        (of(level.hero, Character), "walk", 0.0),
        (of(aura, Zone), "drag", 2.0),
    ):
        setattr(keys, name, math.nan)
        level.play(2)
        level.space.restore(level.space.snapshot())
        level.play(2)
        assert not is_on()
        setattr(keys, name, good)
        level.play(2)
        assert is_on()
    said = [(report.entity, report.field) for report in level.space.reports]
    assert said == [(level.hero, "Character.walk"), (aura, "Zone.drag")]
    level.space.check()
