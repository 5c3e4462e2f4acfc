"""Eight scenes, each played by a peer in a named setting and by ecs_collide, and measured.

They are made from the descriptions of bugs in public threads, most of them of engines that are not
shown.  What a peer does is often a limit that its manual names.  Pictures and tests use the same
frames.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable
from math import cos, hypot, pi, sin
from typing import Any, NamedTuple

import esper

import ecs_collide as ec
from benchmarks.controllers import loops, ours, worlds
from benchmarks.controllers.situations import riding
from benchmarks.controllers.worlds import Box
from benchmarks.published.engines import DYNAMIC, KINEMATIC, Box2D, Frame, Ours, Pymunk

Play = Callable[[], list[Frame]]


class Comparison(NamedTuple):
    """A scene that a peer and ecs_collide play.

    Attributes
    ----------
    name : str
        Of the files.
    title : str
        What the picture shows.
    thread : str
        The address of the public thread that describes it.
    peer : str
        The name of what is shown at the left.
    setting : str
        How the peer is used, as far as another setting would change the number.
    needs : str
        The package that the peer needs.
    theirs, ours : callable
        Return the frames, one for each step of 1/60 s.
    measure : callable
        Returns the number of some frames, 0 where all is well.
    says : str
        What the number is, with a place for it.
    view : Box
        The part of the world that a picture shows; all have the same proportions.
    stride : int
        Steps from one picture to the next.
    follow : str
        The role of a box to which the view is relative.
    fine : float
        The largest number at which all is well.
    """

    name: str
    title: str
    thread: str
    peer: str
    setting: str
    needs: str
    theirs: Play
    ours: Play
    measure: Callable[[list[Frame]], float]
    says: str
    view: Box
    stride: int = 5
    follow: str = ""
    fine: float = 0.0

    @property
    def reference(self) -> str:
        """The thread in a few words, such as ``Rapier 966``."""
        *_, project, _, number = self.thread.split("/")
        return f"{PROJECTS.get(project, project)} {number}"

    @property
    def caption(self) -> str:
        """The peer and its setting, and the thread if it describes a bug of the peer."""
        words = f"{self.peer}, {self.setting}"
        is_of_peer = self.reference.split()[0] == self.peer.split()[0]
        return f"{words}: bug {self.reference.split()[-1]}" if is_of_peer else words


def part(x: float, y: float, wide: float) -> Box:
    """Return the part of a world that a picture shows."""
    return Box(x, y, wide, wide * 0.875)


def boxes(frame: Frame, role: str) -> list[Box]:
    return [box for other, box in frame if other == role]


def play(
    engine: Any, n_steps: int, before: Callable[[int], None] = lambda step: None
) -> list[Frame]:
    """Return the frames of an engine; `before` is called before each step."""
    frames = [engine.frame()]
    for step in range(n_steps):
        before(step)
        engine.step()
        frames.append(engine.frame())
    return frames


# 1. Tunnelling: bullets of four speeds against a wall of 6.
SPEEDS = (600.0, 1500.0, 3000.0, 6000.0)


def shoot(engine: Any) -> list[Frame]:
    engine.add("wall", Box(180, -105, 6, 210))
    for n, speed in enumerate(SPEEDS):
        engine.add("bullet", Box(8, 40 * n - 66, 20, 12), DYNAMIC, (speed, 0.0))
    return play(engine, 24)


def through(frames: list[Frame]) -> float:
    return sum(box.x > 186 for box in boxes(frames[-1], "bullet"))


# 2. Seams: a player who falls along a wall of tiles and presses against it.
def slide_down(engine: Any) -> list[Frame]:
    for n in range(14):
        engine.add("wall", Box(126, 220 - 20 * n, 20, 20))
    hero = engine.add("player", Box(114, 190, 12, 20), DYNAMIC, (0.0, -120.0))
    return play(engine, 29, lambda _: engine.set_velocity(hero, 120, engine.velocity(hero)[1]))


def stops(frames: list[Frame]) -> float:
    """Return how often the player has lost its speed in its fall."""
    heights = [boxes(frame, "player")[0].y for frame in frames]
    ways = [before - after for before, after in itertools.pairwise(heights)]
    return sum(after < 0.5 < 1 < before for before, after in itertools.pairwise(ways))


# 3. A rider that trembles: a lift that sinks with 60 pixels a second.
def ride(kind: type[worlds.Controller]) -> list[Frame]:
    frames = worlds.play(kind, riding(lambda time: (0, -60), 190, 2.5))
    return [[("lift", frame.movers[0]), ("player", frame.players[0])] for frame in frames]


def gap(frames: list[Frame]) -> float:
    """Return the largest distance of a player from the lift."""
    found = [abs(boxes(frame, "player")[0].y - boxes(frame, "lift")[0].top) for frame in frames]
    return max(found, default=0.0)


# 4. Falling through a lift: it rises while the player comes down.
def land(engine: Any) -> list[Frame]:
    engine.add("lift", Box(40, -20, 120, 6), KINEMATIC, (0.0, 200.0))
    engine.add("player", Box(94, 136, 12, 20), DYNAMIC, (0.0, -1200.0))
    return play(engine, 17)


def below(frames: list[Frame]) -> float:
    """Return how far the player's feet are below the top of what should hold it."""
    hero = boxes(frames[-1], "player")[0]
    floor = min(box.top for role, box in frames[-1] if role in ("lift", "one-way"))
    return max(0.0, floor - hero.y)


# 5. Leaks through one-way platforms: a player walks from one to the next.
def walk(engine: Any) -> list[Frame]:
    for n in range(3):
        engine.add("one-way", Box(60 * n + 14, 60, 60, 5))
    hero = engine.add("player", Box(24, 75, 12, 20), DYNAMIC)

    def go(step: int) -> None:
        if step > 20:
            engine.set_velocity(hero, 90, engine.velocity(hero)[1])

    return play(engine, 110, go)


# 6. Crushed players: a lift against a ceiling.
def crush(engine: Any) -> list[Frame]:
    engine.add("wall", Box(40, 120, 120, 20))
    lift = engine.add("lift", Box(40, 40, 120, 10), KINEMATIC, (0.0, 60.0))
    hero = engine.add("player", Box(94, 50, 12, 20), DYNAMIC)
    if isinstance(engine, Ours):
        esper.add_component(hero, ec.PushOut(60))

    def turn(_: int) -> None:
        if isinstance(engine, Ours):
            crushed = [event for event in engine.space.collisions if event.solids]
            if any(event.outcome is ec.Outcome.CRUSHED for event in crushed):
                assert {lift, hero} & set(crushed[0].solids)
                engine.set_velocity(lift, 0, -60)
        if engine.box(lift).top > 120:
            engine.set_velocity(lift, 0, 0)

    return play(engine, 110, turn)


def inside(frames: list[Frame]) -> float:
    """Return how deep the player has been in lift or ceiling."""
    return max(
        boxes(frame, "player")[0].depth(box)
        for frame in frames
        for role, box in frame
        if role != "player"
    )


# 7. A rollback that diverges: crates are thrown up each second; from a saved moment on, twice.
def throw(engine: Any, n_steps: int = 300) -> list[Frame]:
    """Return the frames of the second run, each with the crates of the first one."""
    dice = random.Random(4)
    for wall in (Box(-20, -20, 280, 20), Box(-20, 0, 20, 300), Box(240, 0, 20, 300)):
        engine.add("wall", wall)
    for n in range(24):
        side, shift = dice.choice((12, 16, 20)), dice.random() * 8
        engine.add("crate", Box(6 + n % 8 * 29 + shift, 1 + n // 8 * 24, side, side), DYNAMIC)

    def thrower(engine: Any, dice: random.Random) -> Callable[[int], None]:
        def set_speeds(step: int) -> None:
            if step % 60 == 0:
                for role, _, crate in engine.added:
                    if role == "crate":
                        speeds = dice.uniform(-200, 200), dice.uniform(160, 400)
                        engine.set_velocity(crate, *speeds)

        return set_speeds

    play(engine, 90, thrower(engine, dice))
    saved = engine.save()
    first = play(engine, n_steps, thrower(engine, random.Random(8)))
    again = engine.restored(saved)
    second = play(again, n_steps, thrower(again, random.Random(8)))
    return [
        [("first", box) for box in boxes(one, "crate")] + other
        for one, other in zip(first, second, strict=True)
    ]


def apart(frames: list[Frame]) -> float:
    """Return the largest distance between the two runs in the last frame."""
    return max(
        hypot(one.x - other.x, one.y - other.y)
        for one, other in zip(boxes(frames[-1], "first"), boxes(frames[-1], "crate"), strict=True)
    )


# 8. A crowd that overlaps: everybody goes to the middle.
def gather(engine: Any, n_chasers: int = 60, n_steps: int = 120) -> list[Frame]:
    for n in range(n_chasers):
        angle, far = 2 * pi * (n % 15) / 15 + n // 15 * 0.2, 54 + 21 * (n // 15)
        engine.add("chaser", Box(far * cos(angle) - 7, far * sin(angle) - 7, 14, 14), DYNAMIC)
    chasers = [handle for _, _, handle in engine.added]

    def chase(_: int) -> None:
        for chaser in chasers:
            x, y = engine.centre(chaser)
            far = hypot(x, y) or 1.0
            engine.set_velocity(chaser, -80 * x / far, -80 * y / far)

    return play(engine, n_steps, chase)


def overlap(frames: list[Frame]) -> float:
    """Return the deepest overlap of two chasers in the last frame."""
    crowd = boxes(frames[-1], "chaser")
    found = max(one.depth(other) for n, one in enumerate(crowd) for other in crowd[:n])
    return found if found > 1e-9 else 0.0


PROJECTS = {
    "box2d": "Box2D",
    "godot-demo-projects-remake": "Godot demos",
    "matter-js": "matter.js",
    "Obenseuer-Issues": "Obenseuer",
    "rapier": "Rapier",
    "sbox-issues": "s&box",
}
GITHUB = "https://github.com/"
EIGHT = [
    Comparison(
        "tunnelling", "Fast bullets meet a thin wall",
        GITHUB + "liabru/matter-js/issues/5",
        "pymunk 7", "one step a frame", "pymunk",
        lambda: shoot(Pymunk(0)), lambda: shoot(Ours(0)), through,
        "{:.0f} of 4 through", part(0, -105, 240), 1,
    ),
    Comparison(
        "seams", "A player falls along the seams of tiles",
        GITHUB + "erincatto/box2d/issues/456",
        "Box2D 3", "a box for each tile", "pyb2d3",
        lambda: slide_down(Box2D()), lambda: slide_down(Ours()), stops,
        "stops at seams: {:.0f}", part(10, 20, 224), 1,
    ),
    Comparison(
        "trembling", "A rider on a lift that sinks",
        GITHUB + "Facepunch/sbox-issues/issues/1246",
        "move, then test", "in whole pixels", "",
        lambda: ride(loops.Usual), lambda: ride(ours.Ours), gap,
        "largest gap {:.0f} px", part(-32, -10, 64), 3, "lift",
    ),
    Comparison(
        "lift", "A player lands on a lift that rises",
        GITHUB + "GDQuest/godot-demo-projects-remake/issues/8",
        "Box2D 3", "without the bullet flag", "pyb2d3",
        lambda: land(Box2D()), lambda: land(Ours()), below,
        "{:.0f} px below", part(-20, -50, 240), 1,
    ),
    Comparison(
        "one_way", "A walk over one-way platforms",
        GITHUB + "4ian/GDevelop/issues/3667",
        "pymunk 7", "its platformer's rule", "pymunk",
        lambda: walk(Pymunk()), lambda: walk(Ours()), below,
        "fell {:.0f} px", part(0, -40, 210),
    ),
    Comparison(
        "crushed", "A lift crushes a player",
        GITHUB + "loiste-interactive/Obenseuer-Issues/issues/2058",
        "Box2D 3", "the lift goes on", "pyb2d3",
        lambda: crush(Box2D()), lambda: crush(Ours()), inside,
        "{:.1f} px inside a solid", part(15, 5, 170), fine=1.0,
    ),
    Comparison(
        "rollback", "The same steps, after a rollback",
        GITHUB + "dimforge/rapier/issues/966",
        "pymunk 7", "a copy by Space.copy", "pymunk",
        lambda: throw(Pymunk()), lambda: throw(Ours()), apart,
        "up to {:.0f} px apart", part(-6, -16, 252),
    ),
    Comparison(
        "crowd", "A crowd goes to one place",
        GITHUB + "liabru/matter-js/issues/992",
        "pymunk 7", "one step a frame", "pymunk",
        lambda: gather(Pymunk(0)), lambda: gather(Ours(0)), overlap,
        "{:.0f} of 14 px deep", part(-144, -126, 288),
    ),
]  # fmt: skip
