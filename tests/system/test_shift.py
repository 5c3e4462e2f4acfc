"""`Space.shift`: the whole world moves, and to every part of it nothing has happened."""

from __future__ import annotations

import math
import random
from typing import Any

import esper
import numpy as np
import pytest

import ecs_collide as ec
from ecs_collide import levels
from ecs_collide.character import Character, Ladder
from ecs_collide.path import Path
from ecs_collide.recording.frames import compare_frames
from ecs_collide.zone import Zone
from tests.random_worlds import Draw
from tests.recording.test_rollback import Side
from tests.scenes import another_world, box, mover, of, position, steps

DT = 1 / 64
ROWS = [
    *["." * 64] * 3,
    "......................==........................................",
    "..............##.......................###......................",
    "#" * 64,
]


class Game:
    """A level that is streamed round a hero, with one of everything, and its camera."""

    def __init__(self) -> None:
        self.level = levels.from_grid(ROWS, 16, {"#": {"solid": True}, "=": {"one_way": True}})
        self.space = ec.install(gravity=(0, -1024))
        self.camera = np.array([64.0, 48.0])
        walker = ec.Velocity(0, 0), ec.Slide()
        self.character = Character(jump_height=98, time_to_top=0.4375)
        self.hero = box((64, 64), (8, 16), *walker, self.character)
        self.sword = box((76, 64), (4, 4), ec.Sensor(), ec.Attached(self.hero, (12, 0)))
        path = Path([(200, 24), (200, 88), (264, 88)], speed=64, pause=0.25)
        self.lift = box((200, 24), (16, 4), ec.Velocity(0, 0), ec.Carry(), ec.OneWay(), path)
        box((480, 40), (48, 24), ec.Sensor(), Zone(buoyancy=1.5, drag=4, walk=0.5))
        box((312, 48), (4, 32), ec.Sensor(), Ladder())
        box((560, 24), (32, 8), ec.Slope("left"))
        box((130, 20), (24, 4), ec.Carry((32, 0)))
        for x, y in ((150, 24), (160, 40), (163, 60), (470, 80), (560, 60), (205, 40), (90, 90)):
            box((x, y), (8, 8), *walker, ec.Mass(2))
        self.marker = esper.create_entity(ec.Position(1.5, 2.5))  # no body

    def step(self, n: int) -> None:
        it = self.character
        it.walk, it.jump, it.climb = 1.0 if n % 200 < 150 else -0.5, n % 50 < 20, float(n % 90 > 70)
        it.dash = n % 160 == 100
        self.camera += np.array(position(self.hero)) // 32 * 32 - self.camera  # in whole numbers
        x, y = self.camera.tolist()
        self.level.stream((x - 160, y - 200), (x + 160, y + 200), chunk=4)
        esper.process(DT)

    def told(self) -> tuple[Any, ...]:
        space = self.space
        return (
            [(c.first, c.second, round(c.time, 6), c.outcome) for c in space.collisions],
            [(c.first, c.second, round(c.time, 6), c.kind) for c in space.contacts_began],
            [(c.first, c.second, round(c.time, 6), c.reason) for c in space.contacts_ended],
            [(c.first, c.second, round(c.since, 6), c.kind) for c in space.contacts()],
            space.stats.asleep,
            self.character.state,
            space.entities,
        )


def test_world_that_is_shifted_again_and_again_is_the_one_that_is_not(world, volume):
    games = []
    for name in ("still", "shifted"):
        esper.switch_world(f"{world} {name}")
        games.append(Game())
    rng, total = random.Random(3), np.zeros(2)
    for n in range(volume(300, 900, least=120)):
        esper.switch_world(f"{world} shifted")
        if n % 7 == 3:
            by = np.array([64.0 * rng.randint(-80, 80), 32.0 * rng.randint(-80, 80)])
            before = games[1].told(), games[1].space.interpolated(0.25)
            games[1].space.shift(by)
            games[1].camera += by
            total += by
            games[1].space.check()
            assert games[1].told() == before[0]
            shown = games[1].space.interpolated(0.25)
            assert np.allclose(shown, before[1] + by, rtol=0, atol=1e-8)
        told = []
        for name, game in zip(("still", "shifted"), games, strict=True):
            esper.switch_world(f"{world} {name}")
            game.step(n)
            told.append(game.told())
        assert told[0] == told[1]
        still, shifted = (game.space for game in games)
        assert np.allclose(shifted.positions(), still.positions() + total, rtol=0, atol=1e-8)
        assert position(games[1].marker) == tuple(np.array([1.5, 2.5]) + total)
    esper.switch_world(world)


@pytest.mark.parametrize(
    ("far", "by"),
    [(0.0, 1e6), (1e6, -1e6), (1e6, -999_000.7), (1e6 + 0.3, -1e6), (0.0, 1e9), (1e9, -1e9)],
)
@pytest.mark.parametrize("dim", [2, 3])
def test_pile_of_any_sizes_feels_nothing(dim, far, by, world):
    wide = (200.0,) * (dim - 2)
    here = (far,) * (dim - 2)
    box((far, far - 10, *here), (200, 10, *wide), ec.Fixed())
    box((far + 40, far + 10, *here), (20, 10, *wide), ec.Slope("left"))
    rng, crates = random.Random(int(far + by)), []
    for n in range(40):
        half = 0.1 * rng.randrange(10, 50)
        place = far - 100 + 5 * n + rng.random(), far + 5 + 40 * rng.random(), *here
        size = half, 1.3 * half, *(2.0,) * (dim - 2)
        mass = ec.Mass(rng.choice([1, 2]))
        crates.append(mover(place, size, (0.0,) * dim, ec.Slide(), mass))
    space = ec.install(dim=dim, gravity=(0, -300, 0)[:dim])
    steps(600, 1 / 60)
    asleep, contacts = space.stats.asleep, space.contacts()
    before = space.positions()
    assert asleep > 20

    space.shift((by,) * dim)

    space.check()
    assert space.contacts() == contacts
    assert np.allclose(space.positions(), before + by, rtol=0, atol=1e-15 * (abs(by) + far) * 4)
    for _ in range(5):
        esper.process(1 / 60)
        assert not len(space.contacts_ended)
        assert not len(space.contacts_began)
        assert space.stats.asleep >= asleep


@pytest.mark.parametrize(("dim", "settings"), [
    (2, {}), (3, {}), (2, {"wrap": (32.0, None)}), (2, {"gravity": (0, -8)}),
    (2, {"motion": "swept"}),
])  # fmt: skip
def test_random_worlds_go_on_as_they_would_have(dim, settings, volume, world):
    """On a grid, with whole offsets, and with changes that no step has read yet."""
    for seed in range(volume(12, 60)):
        with another_world(f"{world} {seed}"):
            rng = random.Random(seed)
            draw = Draw(rng, dim, mixture=0.7, on_grid=True, without={ec.Fixed: "written"})
            for n in range(14):
                draw.body(moves=n % 4 > 0)
            space = ec.install(dim=dim, **settings)
            steps(seed % 2, 1 / 32)
            for _ in range(rng.randrange(4)):
                draw.change(rng.choice(draw.bodies))
            draw.body()
            offset = [float(rng.choice([-1024, 512, 4096, -64])) for _ in range(dim)]
            offset[0] *= "wrap" not in settings
            state, told = space.save_state(), []
            for by in (None, offset):
                space.restore(state)
                if by is not None:
                    contacts = space.contacts()
                    space.shift(by)
                    space.check()
                    assert space.contacts() == contacts
                esper.process(1 / 32)
                changes = [
                    (c.first, c.second, c.kind, c.normal)
                    for each in (space.contacts_began, space.contacts_ended)
                    for c in each
                ]
                told.append((changes, [(c.first, c.second) for c in space.collisions]))
            assert told[0] == told[1], seed


# -- what lies around the step --


def test_change_that_no_step_has_read_stays_one(world):
    floor = box((0, -2), (40, 2))
    resting = mover((0, 2), (2, 2), (0, 0), ec.Slide())
    put = mover((20, 2), (2, 2), (0, 0), ec.Slide())
    space = ec.install(gravity=(0, -512))
    steps(30, DT)
    space.teleport(put, (20, 40))
    new = mover((-20, 10), (2, 2), (0, 0), ec.Slide())
    space.update()

    space.shift((1024, 256))

    assert space.position_of(put) == (1044, 296)
    assert space.position_of(new) == (1004, 266)
    assert space.query((1000, 262), (1008, 300)) == [new]  # still up to date
    assert space.cast_ray((1044, 400), (0, -200)).entity == put
    esper.process(DT)
    assert [(each.second, each.reason.name) for each in space.contacts_ended] == [
        (put, "TELEPORTED")
    ]
    assert space.is_on(resting).other(resting) == floor
    assert space.stats.asleep == 1


def test_move_is_no_teleport_after_a_shift(world):
    box((0, -2), (40, 2))
    moved = mover((0, 2), (2, 2), (0, 0), ec.Slide())
    space = ec.install(gravity=(0, -512))
    steps(30, DT)
    space.move(moved, (10, 0))
    space.shift((512, 512))
    esper.process(DT)
    assert not len(space.contacts_ended)
    assert space.position_of(moved) == (522, 514)


def test_events_of_the_last_step_lie_where_the_bodies_do(world):
    mover((0, 0), (1, 1), (64, 0), ec.Slide())
    box((2.5, 0), (1, 1))
    space = ec.install()
    esper.process(DT)
    before, boxes = space.collisions[0], space.impact_boxes()
    space.shift((-64, 128))
    after = space.collisions[0]
    for name in ("position_first", "position_second", "contact_min", "contact_max", "point"):
        x, y = getattr(before, name)
        assert getattr(after, name) == (x - 64, y + 128), name
    assert after.velocity_first == before.velocity_first
    assert (space.impact_boxes().mins == boxes.mins + np.array([-64, 128])).all()
    assert space.state_hash() == space.state_hash()


def test_resize_after_a_shift_leaves_what_others_show(world):
    bodies = [mover((0, 10 * n), (1, 1), (64, 0), ec.Slide()) for n in range(2)]
    space = ec.install()
    esper.process(DT)
    shown = space.interpolated(0.5)
    space.shift((512, 64))
    space.resize(bodies[1], height=4)
    assert (space.interpolated(0.5)[0] == shown[0] + (512, 64)).all()
    assert tuple(space.interpolated(0.5)[1]) == position(bodies[1])


def test_shift_in_a_handler_counts_for_the_next_step(world):
    ball = mover((0, 0), (1, 1), (64, 0), ec.Slide())
    wall = box((2.5, 0), (1, 1))
    space = ec.install()
    seen = []

    @space.on_collision
    def shift(event):
        space.shift((-512, 0))
        seen.append((event.first, event.second))

    space.on_contact_began(lambda event: seen.append(event.second))
    esper.process(DT)
    esper.process(DT)
    assert seen[:2] == [(ball, wall), wall]
    assert space.position_of(ball)[0] == space.bounds(wall)[0][0] - 1


@pytest.mark.parametrize("rounds", [False, True])
def test_positions_of_the_games_own_types_are_shifted(rounds, world):
    class Sprite:
        """The lower left corner and the whole size, of which one number may be rounded."""

        def __init__(self, x: float, y: float, w: float, h: float) -> None:
            self.x, self.pos, self.w, self.h = x, [y], w, h

        def __setattr__(self, name: str, value: Any) -> None:
            super().__setattr__(name, int(value) if rounds and name == "x" else value)

    components = ec.Components(
        position=(Sprite, "x", "pos[0]"), extents=(Sprite, "w", "h"), whole_sizes=True,
        anchor=(0, 0),
    )  # fmt: skip
    box = Sprite(0, 0, 3, 2)
    entity = esper.create_entity(box, ec.Velocity(20, 0), ec.Slide())
    wall = esper.create_entity(Sprite(9, 0, 2, 9))
    space = ec.install(components=components)
    for n in range(30):
        if n % 3 == 0:
            space.shift((0.25, 0.5))
            space.check()
        esper.process(DT)
        assert len(space.contacts_ended) == 0
    assert space.position_of(entity) == (9 + 2.5 - 1.5, 1 + 5)
    assert (box.x, box.pos) == (8 if rounds else 8.5, [5.0])
    assert len(space.contacts(wall)) == 1


def test_shared_position_is_shifted_once(world):
    place = ec.Position(1, 2)
    pair = [esper.create_entity(place, ec.Extents(1, 1), ec.Sensor()) for _ in range(2)]
    space = ec.install()
    esper.process(DT)
    space.shift((10, 20))
    assert [position(each) for each in pair] == [(11, 22)] * 2
    esper.process(DT)
    assert not len(space.contacts_ended)


def test_path_goes_on_and_can_be_saved_where_its_points_round(world):
    path = Path([(0.1, 0.2), (3.3, 0.2), (3.3, 7.7)], speed=5)
    lift = mover((0.1, 0.2), (1, 1), (0, 0), path)
    circle = Path.circle((50, 50), 3, speed=5)
    wheel = mover(circle.place[:2], (1, 1), (0, 0), circle)
    space = ec.install()
    for n in range(200):
        if n % 20 == 0:
            space.shift((1e9 + 0.3, -1e8) if n % 40 else (-1e9 - 0.3, 1e8))
        esper.process(1 / 60)
        assert space.position_of(lift) == pytest.approx(path.place[:2])
        assert space.position_of(wheel) == pytest.approx(circle.place[:2])
        assert Path.from_bytes(path.to_bytes()).place == path.place
        space.restore(space.snapshot())
    assert not space.reports


def test_snapshot_from_before_brings_the_old_places_back(world):
    games = Game()
    for n in range(60):
        games.step(n)
    data, state = games.space.snapshot(), games.space.save_state()
    after = []
    for saved in (data, state):
        games.space.shift((4096, -512))
        games.camera += (4096, -512)
        for n in range(60, 70):
            games.step(n)
        games.space.restore(saved)
        games.camera = np.array(position(games.hero)) // 32 * 32
        assert games.space.snapshot() == data
        for n in range(60, 80):
            games.step(n)
        after.append(games.space.snapshot())
        games.space.restore(saved)
    assert after[0] == after[1]


def test_level_is_known_by_the_offset_of_its_creation(world):
    level = levels.from_grid(["##", "##"], 16, {"#": {"solid": True}}, merge=False)
    rooms = [level.at((64.0 * n, 0)) for n in range(2)]
    space = ec.install()
    boxes = [room.create()[0][1] for room in rooms]
    esper.process(DT)

    space.shift((-64, 0))

    for n, room in enumerate(rooms):
        assert room.to_world(0, 32) == (64.0 * n - 64, 0)
        assert room.solids[0].centre[0] == position(boxes[n])[0]
    third = level.at((64, 0)).create()  # where the second was, now free
    assert len(third) == 4
    before = len(space.entities)
    rooms[0].unload()
    esper.process(DT)
    assert len(space.entities) == before - 4 + 4  # the new room, less the first


@pytest.mark.parametrize("saves", [False, True])
def test_rooms_of_an_endless_game_are_all_created_at_one_place(saves, world):
    level = levels.from_grid(["##", "##"], 16, {"#": {"solid": True}}, merge=False)
    space, rooms, boxes = ec.install(), [], []
    for _ in range(4):
        rooms.append(level.at((64, 0)))
        boxes.append([entity for _, entity in rooms[-1].create()])
        esper.process(DT)
        space.shift((-64, 0))
    if saves:
        space.restore(space.snapshot())

    for n, room in enumerate(rooms):
        assert room.to_world(0, 32) == (64.0 * (n - 3), 0)
    for n in (2, 0, 3, 1):
        rooms[n].unload()
        left = [room for room in range(4) if esper.entity_exists(boxes[room][0])]
        assert n not in left
        esper.process(DT)
        assert len(space.entities) == 4 * len(left)
    assert left == []


class Voyage(Side):
    """A game of two machines that shifts its origin in some frames."""

    def step(self, inputs):
        super().step(inputs)
        if self.space.stats.step % 10 == 7:
            self.space.shift((64, -32) if self.space.stats.step % 20 < 10 else (-64, 32))


def test_rollback_of_a_game_that_shifts_its_origin(world):
    sides = [Voyage(n) for n in range(2)]
    late: list[tuple[int, bytes]] = []
    for n in range(90):
        for k, side in enumerate(sides):
            side.advance((n // (7 + k)) % 3 - 1)
            late.append((1 - k, side.session.packet(1 - k)))
        while len(late) > 8:
            to, data = late.pop(0)
            sides[to].receive(data)
    for to, data in late:
        sides[to].receive(data)
    for side in sides:
        esper.switch_world(side.world)
        side.session.settle()
    assert compare_frames(sides[0].frame(), sides[1].frame()) == []
    assert sides[0].session.confirmed > 60
    esper.switch_world(world)


@pytest.mark.parametrize(
    "offset", [(1,), (1, 2, 3), (math.nan, 0), (math.inf, 0), (1e200, 0), "ab", None]
)
def test_wrong_offsets_are_refused(offset, world):
    place = ec.Position(1, 2)
    esper.create_entity(place, ec.Extents(1, 1))
    space = ec.install()
    with pytest.raises(ValueError, match="must be 2 numbers of at most"):
        space.shift(offset)
    assert (place.x, place.y) == (1, 2)


def test_world_that_wraps_is_shifted_along_its_other_axis_alone(world):
    mover((1, 5), (1, 1), (-64, 0), ec.Slide())
    space = ec.install(wrap=(32, None))
    esper.process(DT)
    shown = space.interpolated(0.5)
    space.shift((0, 1024))
    assert (space.interpolated(0.5) == shown + np.array([0, 1024])).all()
    with pytest.raises(ValueError, match="0 along an axis on which the world wraps"):
        space.shift((32, 0))


def test_shift_is_refused_within_a_step(world):
    mover((0, 0), (1, 1), (64, 0), ec.Slide())
    space = ec.install()
    space.update_bounds(DT)
    with pytest.raises(RuntimeError, match="within a step"):
        space.shift((1, 0))


def test_position_that_refuses_a_number_leaves_all_others(world):
    class Place:
        def __init__(self, x: float, y: float) -> None:
            self.x, self.y = x, y

        def __setattr__(self, name: str, value: float) -> None:
            if value > 100:
                raise OverflowError("too far")
            super().__setattr__(name, value)

    places = [Place(1, 2), Place(3, 95), Place(5, 6)]
    for place in places:
        esper.create_entity(place, ec.Extents(1, 1))
    space = ec.install(components=ec.Components(position=Place))
    esper.process(DT)
    with pytest.raises(OverflowError, match="too far"):
        space.shift((10, 10))
    assert [(place.x, place.y) for place in places] == [(1, 2), (3, 95), (5, 6)]
    space.shift((5, 5))
    space.check()
    assert [(place.x, place.y) for place in places] == [(6, 7), (8, 100), (10, 11)]


def test_quarantined_and_disabled_bodies_come_back_at_the_new_place(world):
    off = mover((5, 5), (1, 1), (0, 0), ec.Slide(), ec.Disabled())
    wrong = mover((9, 9), (1, 1), (0, 0), ec.Slide())
    space = ec.install()
    esper.process(DT)
    of(wrong, ec.Position).x = float("nan")
    with pytest.warns(RuntimeWarning, match="skipped"):
        esper.process(DT)
    space.shift((64, 64))
    space.check()
    of(wrong, ec.Position).x = 73.0
    esper.remove_component(off, ec.Disabled)
    esper.process(DT)
    assert space.query((60, 60), (80, 80)) == sorted([off, wrong])
