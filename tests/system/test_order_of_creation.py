"""The order in which a game creates its bodies changes no bit of what happens to them."""

from __future__ import annotations

import random
from collections.abc import Callable

import esper
import pytest

import ecs_collide as ec
from ecs_collide.character import Character
from ecs_collide.character.memory import LIFT_SPEEDS
from ecs_collide.zone import Zone
from tests.pressing import DT, GRAVITY, RESPONSES, SCENES, Pressing
from tests.scenes import another_world, box, mover

Parts = Callable[[int], tuple[object, ...]]

MIXED = [ec.Slide, lambda: ec.Deflect(0.3), ec.Stop, ec.Push, ec.Deflect]


def mixed(i: int) -> tuple[object, ...]:
    return (MIXED[i % len(MIXED)](),)


def slide(_: int) -> tuple[object, ...]:
    return (ec.Slide(),)


def rough(i: int) -> tuple[object, ...]:
    return (MIXED[i % 2](), ec.Friction(0.5), ec.Mass(1 + i % 3))


def ranked(i: int) -> tuple[object, ...]:
    return (MIXED[i % 3](), ec.Dominance(i % 3), ec.Mass(1 + i % 5))


def growing(_: int) -> tuple[object, ...]:
    return (ec.Slide(), ec.Growth(0.3, 0.2))


class Crowd:
    """A scene whose boxes and walls are created in the order of `order`.

    Without `parts` its boxes respond as the scene says.
    """

    def __init__(self, scene: Pressing, parts: Parts | None, order: list[int], world: str) -> None:
        self.scene, self.world, self.time = scene, world, 0.0
        esper.switch_world(world)
        self.boxes: dict[int, tuple[ec.Position, ec.Velocity]] = {}
        self.names: dict[int, int] = {}
        n = len(scene.boxes)
        for i in order:
            if i < n:
                box = ec.Position(*scene.boxes[i]), ec.Velocity(0, 0)
                self.boxes[i] = box
                kind = scene.kind(i)
                own = parts(i) if parts else (RESPONSES[kind.response](), ec.Mass(kind.mass))
                entity = esper.create_entity(*box, ec.Extents(kind.width, kind.height), *own)
            else:
                x, y, width, height = scene.walls[i - n]
                entity = esper.create_entity(ec.Position(x, y), ec.Extents(width, height))
            self.names[entity] = i
        self.space = ec.install(gravity=None if scene.steer else (0, -GRAVITY))

    def step(self) -> list:
        """Take a step, and return the boxes after it."""
        esper.switch_world(self.world)
        for i, (place, velocity) in self.boxes.items():
            if self.scene.steer is not None:
                x, y = self.scene.steer(self.time, i, place.xy)
                velocity.set((1 + i % 7 / 20) * x, (1 + i % 7 / 20) * y)
        self.time += DT
        esper.process(DT)
        return [(place.xy, velocity.xy) for _, (place, velocity) in sorted(self.boxes.items())]

    def events(self) -> list:
        """Return the collisions of the last step, by the names of the bodies."""
        return [self.told(event) for event in self.space.collisions]

    def told(self, event: ec.Collision) -> tuple:
        """Return an event with the body of the lower name first."""
        first, second = self.names[event.first], self.names[event.second]
        names = (first, second) if first < second else (second, first)
        entity = event.first if first < second else event.second
        normal = event.normal_for(entity)
        return (event.time, names, normal, event.outcome, event.closing_speed, event.impulse)


@pytest.mark.parametrize(
    ("name", "n", "parts"),
    [
        ("swarm", 200, slide),
        ("chase", 60, mixed),
        ("chase", 1000, mixed),
        ("jam", 80, ranked),
        ("heap", 60, rough),
        ("swarm", 40, growing),
        ("rows", 60, slide),
        ("flows", 80, mixed),
        ("mixed", 80, None),
    ],
    ids=[
        "swarm",
        "mixed",
        "thousand mixed",
        "ranked",
        "rough heap",
        "growing",
        "rows",
        "flows",
        "mixed sizes",
    ],
)
def test_another_order_of_creation_changes_no_bit(name, n, parts, volume):
    scene = SCENES[name](n)
    order = list(range(len(scene.boxes) + len(scene.walls)))
    shuffled = random.Random(1).sample(order, len(order))
    worlds = [f"{name} in order", f"{name} shuffled"]
    home = esper.current_world
    crowds = [
        Crowd(scene, parts, numbers, world)
        for numbers, world in zip((order, shuffled), worlds, strict=True)
    ]

    n_events = 0
    # The two flows meet after 54 steps, and a thousand are as close as they get after 180.
    n_steps = volume(80, 180, 600, least=60 if n < 1000 else 30)
    for step in range(n_steps):
        boxes, other_boxes = (crowd.step() for crowd in crowds)
        assert boxes == other_boxes, step
        if n < 1000 or step % 20 == 0:  # 30,000 events, which take longer than the step
            events, other_events = (crowd.events() for crowd in crowds)
            assert events == other_events, step
            n_events += len(events)

    assert n_events > 0
    esper.switch_world(home)
    for world in worlds:
        esper.delete_world(world)


def test_characters_on_each_other_do_the_same_in_any_order():
    def play(order: list[int], seed: int) -> list:
        with another_world("characters on each other"):
            dice = random.Random(seed)
            xs = [dice.uniform(-30, 30) for _ in order]
            box((0, -10), (500, 10))
            heroes = {i: Character(air_jumps=1, lift_speed=LIFT_SPEEDS[i % 3]) for i in order}
            carriers = [(ec.Carry(),), ()]
            bodies = {
                i: mover((xs[i], 16 + 40 * i), (10, 16), (0, 0), hero, ec.Slide(), *carriers[i % 2])
                for i, hero in heroes.items()
            }
            space = ec.install()
            states = []
            for step in range(90):
                for _, hero in sorted(heroes.items()):
                    if step % 9 == 0:
                        hero.walk, hero.jump = dice.choice([-0.3, 0, 0.3]), dice.random() < 0.5
                esper.process(1 / 60)
                states.append([space.position_of(bodies[i]) for i in sorted(order)])
        return states

    for seed in range(4):
        assert play([2, 0, 3, 1], seed) == play([0, 1, 2, 3], seed)


def test_a_character_between_two_walls_and_on_two_tiles_takes_the_left_ones_in_any_order():
    for left in (-20, 20):
        with another_world("two walls"):
            box((left, 100), (10, 100))
            box((-left, 100), (10, 100))
            tiles = {x: box((x, -5), (5, 5)) for x in (left / 4, -left / 4)}
            hero = Character(wall_jump_speed=100, wall_slide_speed=10)
            mover((0, 40), (10, 16), (0, 0), hero, ec.Slide())
            ec.install()
            hero.walk = 0.25  # towards the right wall, so that it slides down
            for _ in range(20):
                esper.process(1 / 60)
            hero.jump = True
            esper.process(1 / 60)
            assert hero.facing == 1.0
            hero.walk = 0.0
            for _ in range(180):
                esper.process(1 / 60)
            assert hero.ground == tiles[-5]


def test_a_character_that_walks_down_onto_two_tiles_is_on_the_left_one_in_any_order():
    for order in ((3, 9), (9, 3)):
        with another_world("two tiles"):
            box((-20, 2), (20, 2))
            tiles = {x: box((x, -2), (3, 2)) for x in order}
            hero = Character(walk_speed=60)
            player = mover((-20, 20), (5, 16), (0, 0), hero, ec.Slide())
            space = ec.install()
            hero.walk = 1.0
            while space.position_of(player)[0] < 5:
                esper.process(1 / 60)

            esper.process(1 / 60)

            assert hero.ground == tiles[3]


def test_a_character_inside_a_block_and_at_a_step_jumps_alike_in_any_order():
    #       +-----+
    #       |+---+|       in a block of its width, beside a step that is as low as it can climb
    #   +---||   ||
    #   |   ||   ||
    #   ============
    def jumps(blocks: list[tuple[float, float]]) -> list[tuple[float, ...]]:
        with another_world("inside a block"):
            box((32, -8), (16, 8))
            for x, height in blocks:
                box((x, height), (6, height))
            hero = Character()
            limits = ec.Friction(1), ec.MaxSpeed(150)
            player = mover((32, 8), (6, 8), (0, 0), hero, ec.Slide(), *limits)
            space = ec.install()
            places = []
            for step in range(8):
                if step == 3:
                    hero.walk, hero.jump = -1.0, True
                esper.process(1 / 64)
                places.append(space.position_of(player))
        return places

    step_first = [(20, 3), (32, 6)]
    assert jumps(step_first) == jumps(step_first[::-1])


def test_a_pool_of_tiles_floats_a_crate_alike_in_any_order():
    def floats(order: list[int]) -> tuple[float, ...]:
        with another_world("pool"):
            for i in order:
                x, y = 10 * (i % 5) - 20, -10 * (i // 5) - 5
                water = Zone(buoyancy=1.37 + 0.01 * i, drag=2.3 + 0.1 * i, flow_x=0.7 * i)
                box((x, y), (5, 5), water, ec.Sensor())
            crate = mover((0.3, 10), (7, 7.3), (0, 0), ec.Slide())
            space = ec.install(gravity=(0, -900))
            for _ in range(60):
                esper.process(1 / 60)
            return space.position_of(crate)

    tiles = list(range(25))
    expected = floats(tiles)
    for seed in range(3):
        random.Random(seed).shuffle(tiles)
        assert floats(tiles) == expected
