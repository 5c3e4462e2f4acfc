"""Forged snapshots with a good checksum: each is refused or can be played on, and none sticks.

A forger changes the fields of `SnapshotData` and encodes them again.  Every field, every flag and
every pair of flags of every body is forged in worlds that have bodies in all states.
"""

from __future__ import annotations

import itertools
import math
import random
import re
import struct
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import esper
import numpy as np
import pytest

import ecs_collide as ec
from ecs_collide.character import Character, Ladder
from ecs_collide.levels.changes import Cells
from ecs_collide.path import Path
from ecs_collide.snapshot import capture, codec
from ecs_collide.snapshot.column_codec import Table
from ecs_collide.snapshot.schema import SnapshotData
from ecs_collide.zone import Zone

pytestmark = [
    pytest.mark.usefixtures("world", "implementation"),
    pytest.mark.filterwarnings("ignore:entity:RuntimeWarning"),
]

DT = 1 / 60
FLAGS = [0, *(1 << n for n in range(8)), *(1 << m | 1 << n for n in range(8) for m in range(n))]
WHOLE = (0, 1, -1, 2, 3, 7, 63, 64, 127, -128, 255, 2**31, 2**32 - 1, 2**62, 2**63 - 1, -(2**63))
NUMBERS = (
    math.nan, math.inf, -math.inf, -0.0, 0.0, -1.0, 0.5, 3.0, 1e-300, 5e-324, 1e16, 2.0**300,
    -(2.0**300), 1.7e308,
)  # fmt: skip
ARRAYS = (
    "others", "bodies", "flags", "mismatches", "filters", "rest_count", "sleepers", "may_wake",
    "contacts", "rides", "pending", "collisions", "contact_events", "images",
)  # fmt: skip
SCALARS = ("step", "next_entity", "pair_limit", "rest_speed", "time")

Forgery = Callable[[SnapshotData], None]
Pair = tuple[float, float]


@dataclass
class Score:
    """A custom component."""

    points: int
    rate: float


@dataclass
class Place:
    """A position of a game's own: that of the left lower corner."""

    x: float
    y: float


@dataclass
class Size:
    """A size of a game's own."""

    width: float
    height: float


class Lamp:
    """A custom component that it saves by functions."""

    def __init__(self, watts: int) -> None:
        self.watts = watts


def usual(centre: Pair, half: Pair) -> tuple[object, object]:
    return ec.Position(*centre), ec.Extents(*half)


def by_corners(centre: Pair, half: Pair) -> tuple[object, object]:
    (x, y), (w, h) = centre, half
    return Place(x - w, y - h), Size(2 * w, 2 * h)


def furnish(space: ec.Space) -> None:
    """Fill a world with bodies in all states that a snapshot knows, and take the steps to them."""
    make = by_corners if space.components.position.kind is Place else usual

    def add(centre: Pair, half: Pair, *components: object) -> int:
        return esper.create_entity(*make(centre, half), *components)

    def still() -> ec.Velocity:
        return ec.Velocity(0, 0)

    space.snapshot_with(
        Lamp,
        save=lambda lamp: lamp.watts.to_bytes(4, "little"),
        load=lambda data: Lamp(int.from_bytes(data, "little")),
    )
    add((0, -1), (40, 1), ec.Fixed())
    for k in range(4):
        at = 3 * (k // 2), 0.5 + k % 2
        add(at, (0.5, 0.5), still(), ec.Slide(), ec.Friction(0.5))
    belt = add((20, 0.5), (4, 0.5), still(), ec.Carry((1, 0)))
    add((20, 1.5), (0.5, 0.5), still(), ec.Push(), ec.Mass(2), ec.Filter(1, 3, 2))
    ball = add((-20, 5), (0.5, 0.5), ec.Velocity(3, 1), ec.Deflect(0.5), Score(1, 0.5))
    add((-20, 9), (1, 1), ec.Attached(ball, (0, 1)), ec.Sensor())
    ghost = add((-30, 9), (1, 1), ec.Stop(), Lamp(60))
    hook = add((-32, 9), (1, 1), ec.Attached(ghost, (0, 2)))
    ill = add((-30, 20), (1, 1), ec.Velocity(1, 0), ec.Stop(), ec.Growth(0.1, 0.1))
    for _ in range(16):
        esper.process(DT)
    teleported = add((30, 20), (1, 1))
    replaced = add((30, 30), (1, 1), still(), ec.OneWay((0, 1)))
    stripped, deleted = add((35, 30), (1, 1), ec.Stop()), add((35, 40), (1, 1), ec.Slide())
    moved, late = add((40, 40), (1, 1), ec.Slide()), add((0, 40), (1, 1), still(), ec.Slide())
    esper.add_component(ghost, ec.Disabled())
    esper.component_for_entity(ill, ec.Velocity).x = math.nan
    esper.process(DT)
    esper.add_component(ghost, ec.Attached(belt, (1, 1)))
    esper.process(DT)
    esper.add_component(hook, ec.Filter(2))
    space.teleport(teleported, (31, 20, 0)[: space.dim])
    for part in make((30, 31), (1, 1)):
        esper.add_component(replaced, part)
    aside = (1, 0, 0)[: space.dim]
    for entity in (moved, late, deleted):
        space.move(entity, aside)
    esper.add_component(late, ec.Damping(0.5))
    esper.remove_component(stripped, space.components.position.kind)
    esper.delete_entity(deleted)
    add((50, 50), (1, 1), still(), ec.Slide())
    esper.create_entity(Score(5, 1.0))


def falling() -> ec.Space:
    return ec.install(gravity=(0, -10))


def swept() -> ec.Space:
    return ec.install(ec.Space(motion="swept"))


def deep() -> ec.Space:
    return ec.install(dim=3, gravity=(0, -10, 0))


def round_world() -> ec.Space:
    return ec.install(wrap=(200, None), gravity=(0, -10))


def cornered() -> ec.Space:
    components = ec.Components(
        position=(Place, "x", "y"),
        extents=(Size, "width", "height"),
        whole_sizes=True,
        anchor=(0, 0),
    )
    return ec.install(components=components)


def played() -> ec.Space:
    """Return a space with the components of the extras, in many of their states."""
    space = ec.install(gravity=(0, -10))

    def add(centre: Pair, half: Pair, *components: object) -> int:
        return esper.create_entity(*usual(centre, half), *components)

    def lift(at: Pair, path: Path) -> None:
        add(at, (0.5, 0.2), ec.Velocity(0, 0), ec.Carry(), path)

    def hero(at: Pair, **wishes: float) -> Character:
        its = Character(
            walk_speed=3, jump_height=2, step_height=0.2, corner=0.1, climb_speed=2, dash_speed=9,
            dash_time=0.5, dash_through=2, ledge_reach=0.3, crouch_height=0.5, swim_speed=2,
        )  # fmt: skip
        for name, wish in wishes.items():
            setattr(its, name, wish)
        add(at, (0.3, 0.5), ec.Velocity(0, 0), ec.Slide(), its)
        return its

    add((0, 99), (40, 1), ec.Fixed())
    lift((-30, 103), Path([(-30, 103), (-28, 103), (-28, 105)], 2.0, pause=0.1))
    lift((-25, 103), Path([(-25, 103), (-24, 103)], 9.0, "once", ease="smooth"))
    lift((-19, 103), Path.circle((-20, 103), 1.0, 2.0))
    add((-10, 102), (2, 2), ec.Sensor(), Zone(buoyancy=1.5, drag=2, flow_x=1))
    add((-5, 102), (0.3, 2), ec.Sensor(), Ladder())
    add((5.8, 101), (0.5, 1), ec.Fixed())
    add((0, 110), (1, 1), ec.Random(7))
    esper.create_entity(Cells("cellar"), ec.Fixed())
    hero((-30, 103.7))
    hero((-10, 101.5), jump=True)
    hero((-5, 101), climb=1.0)
    hero((0, 100.5), crouch=True, walk=1.0)
    hero((5, 101.7), walk=1.0)
    hero((10, 100.5), dash=True)
    hero((15, 100.5)).knock_back((2, 3), 1.0)
    return space


WORLDS = [falling, swept, deep, round_world, cornered, played]


class Forger:
    """Restores forged snapshots into a world, and requires one of the two ends of each."""

    def __init__(self, make: Callable[[], ec.Space]) -> None:
        self.space = make()
        furnish(self.space)
        self.good, self.good_hash = self.space.snapshot(), self.space.state_hash()
        esper.process(DT)
        self.later = self.space.snapshot()
        self.space.restore(self.good)
        self.n_taken = self.n_refused = 0
        self.dim = codec.decode(self.good, 3 if make is deep else 2, capture.WIDTHS).dim

    def state(self) -> SnapshotData:
        return codec.decode(self.good, self.dim, capture.WIDTHS)

    def forge(self, *forgeries: Forgery) -> None:
        state = self.state()
        for forgery in forgeries:
            forgery(state)
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            self._try(codec.encode(state))

    def _try(self, data: bytes) -> None:
        space = self.space
        try:
            space.restore(data)
        except ValueError as error:
            self.n_refused += 1
            if "snapshot" not in str(error) and not hasattr(error, "__notes__"):
                raise
            assert space.snapshot() == self.good
            assert space.state_hash() == self.good_hash
        else:
            self.n_taken += 1
            space.check()
            for _ in range(3):
                try:
                    esper.process(DT)
                except TypeError as error:  # a dataclass that is read may hold None
                    if not re.match(r"entity \d+: (Place|Size)\.\w+ is None", str(error)):
                        raise
            space.check()
            space.restore(self.good)
            if self.n_taken % 8 == 0:
                self.require_unstuck()

    def require_unstuck(self) -> None:
        """Require that the good snapshot is restored and played on as ever."""
        self.space.restore(self.good)
        assert self.space.snapshot() == self.good
        esper.process(DT)
        assert self.space.snapshot() == self.later
        self.space.restore(self.good)


def forgeries(state: SnapshotData) -> Iterator[tuple[str, Forgery]]:
    """Yield all forgeries of one field or component, with a name for each."""
    for body, flags in itertools.product(range(len(state.bodies)), FLAGS):
        yield f"flags of {body}: {flags}", set_item("flags", None, body, flags)
    for name in ARRAYS:
        array = getattr(state, name)
        for place in range(len(array)):
            yield f"{name} without {place}", drop(name, place)
            yield f"{name} with {place} twice", repeat(name, place)
            for field in array.dtype.names or [None]:
                column = array if field is None else array[field]
                values = NUMBERS if column.dtype.kind == "f" else WHOLE
                for value in values:
                    if column.dtype.kind != "f":
                        ends = np.iinfo(column.dtype)
                        if not ends.min <= value <= ends.max:
                            continue
                    yield f"{name} {field} {place} = {value}", set_item(name, field, place, value)
    for name in SCALARS:
        for value in NUMBERS if type(getattr(state, name)) is float else WHOLE:
            if name != "pair_limit" and value in (2**62, 2**63 - 1):
                continue  # refused, and else no further step could be counted
            yield f"{name} = {value}", set_scalar(name, value)
    for axis, value in itertools.product(range(3), NUMBERS):
        yield f"gravity {axis} = {value}", set_gravity(axis, value)
    for n, value in itertools.product(range(len(state.counts)), WHOLE):
        yield f"count {n} = {value}", set_count(n, value)
    for k, table in enumerate(state.tables):
        for n, column in enumerate(table.columns):
            yield f"table {k} without {n}", drop_field(k, n)
            for place, value in itertools.product(range(len(column)), (*NUMBERS, *WHOLE, None)):
                yield f"table {k} {n} {place} = {value}", set_field(k, n, place, value)
    for k, blobs in enumerate(state.blobs):
        for place, blob in enumerate(blobs):
            name = f"{state.own[k]} {place}"
            for at, value in itertools.product(range(len(blob)), (0, 1, 127, 128, 255)):
                yield f"{name} [{at}] = {value}", patch(k, place, at, value)
            for at, value in itertools.product(range(len(blob) - 7), NUMBERS):
                yield f"{name} [{at}:] = {value}", patch(k, place, at, value)
            yield f"{name} cut short", cut_blob(k, place)
    for k, kind in enumerate(state.kinds):
        for entity in state.ids.tolist():
            yield f"{kind} of {entity} toggled", toggle(k, entity)
        for place, axis in itertools.product(*map(range, state.numbers[k].shape)):
            for value in (*NUMBERS, *map(float, (1, 2, 5, 11, 12, 99))):
                yield f"{kind} {place} {axis} = {value}", set_number(k, place, axis, value)


def set_item(name: str, field: str | None, place: int, value: float) -> Forgery:
    def forge(state: SnapshotData) -> None:
        array = getattr(state, name)
        if place < len(array):
            (array if field is None else array[field])[place] = value

    return forge


def drop(name: str, place: int) -> Forgery:
    def forge(state: SnapshotData) -> None:
        array = getattr(state, name)
        if place < len(array):
            setattr(state, name, np.delete(array, place))

    return forge


def repeat(name: str, place: int) -> Forgery:
    def forge(state: SnapshotData) -> None:
        array = getattr(state, name)
        if place < len(array):
            setattr(state, name, np.insert(array, place, array[place]))

    return forge


def set_scalar(name: str, value: float) -> Forgery:
    return lambda state: setattr(state, name, value)


def set_gravity(axis: int, value: float) -> Forgery:
    def forge(state: SnapshotData) -> None:
        state.gravity = (*state.gravity[:axis], value, *state.gravity[axis + 1 :])

    return forge


def set_count(n: int, value: int) -> Forgery:
    def forge(state: SnapshotData) -> None:
        state.counts = (*state.counts[:n], value, *state.counts[n + 1 :])

    return forge


def toggle(k: int, entity: int) -> Forgery:
    """Give an entity a component of a kind, or take it away."""

    def forge(state: SnapshotData) -> None:
        row, bit = int(np.searchsorted(state.ids, entity)), np.uint64(1 << k)
        place = int(np.searchsorted(state.holders(k), entity))
        has = bool(state.masks[row, 0] & bit)
        state.masks[row, 0] ^= bit
        if state.numbers[k].shape[1] == 0:
            return
        change = np.delete if has else np.insert
        state.numbers[k] = change(state.numbers[k], place, *(() if has else (1.0,)), axis=0)

    return forge


def drop_field(k: int, n: int) -> Forgery:
    def forge(state: SnapshotData) -> None:
        table = state.tables[k]
        state.tables[k] = Table(table.fields[:n], table.columns[:n])

    return forge


def set_field(k: int, n: int, place: int, value: float | None) -> Forgery:
    def forge(state: SnapshotData) -> None:
        if n < len(state.tables[k].columns):
            state.tables[k].columns[n][place] = value

    return forge


def patch(k: int, place: int, at: int, value: float) -> Forgery:
    """Write a byte, or a float of eight bytes, into the bytes of a component."""
    written = bytes([value]) if type(value) is int else struct.pack("<d", value)

    def forge(state: SnapshotData) -> None:
        blob = state.blobs[k][place]
        state.blobs[k][place] = blob[:at] + written + blob[at + len(written) :]

    return forge


def cut_blob(k: int, place: int) -> Forgery:
    def forge(state: SnapshotData) -> None:
        state.blobs[k][place] = state.blobs[k][place][:-1]

    return forge


def set_number(k: int, place: int, axis: int, value: float) -> Forgery:
    def forge(state: SnapshotData) -> None:
        if place < len(state.numbers[k]):
            state.numbers[k][place, axis] = value

    return forge


@pytest.mark.parametrize("make", WORLDS)
def test_every_forged_flag_and_field_is_refused_or_played_on(make, volume):
    forger = Forger(make)
    every = list(forgeries(forger.state()))
    n = min(len(every), volume(20, 40, len(every), least=8))

    for name, forgery in random.Random(1).sample(every, n):
        try:
            forger.forge(forgery)
        except Exception as error:
            error.add_note(name)
            raise
    forger.require_unstuck()
    assert forger.n_taken > 0
    assert forger.n_taken + forger.n_refused == n


@pytest.mark.parametrize("make", WORLDS)
def test_forgeries_in_combination_are_refused_or_played_on(make, volume):
    forger = Forger(make)
    every = list(forgeries(forger.state()))
    # As many of flags, of components and of the rest: there are more fields than flags.
    flags = [each for each in every if each[0].startswith("flags")]
    toggles = [each for each in every if each[0].endswith("toggled")]
    rng = random.Random(2)

    for n in range(volume(20, 40, 40_000, least=8)):
        some = [rng.choice(rng.choice((flags, toggles, every))) for _ in range(2 + n % 3)]
        try:
            forger.forge(*(forgery for _, forgery in some))
        except Exception as error:
            error.add_note("; ".join(name for name, _ in some))
            raise
    forger.require_unstuck()
    assert forger.n_taken > 0
    assert forger.n_refused > 0
