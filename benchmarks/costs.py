"""What else the library promises, apart from being quick with everything in motion.

Each function measures one promise, in a separate process, and returns rows
``(what, figure, unit)``.
"""

from __future__ import annotations

import gc
import os
import statistics
import subprocess
import sys
from collections import deque
from collections.abc import Callable
from dataclasses import replace
from time import perf_counter, process_time
from unittest import mock

import esper
import numpy as np

from benchmarks import counts
from benchmarks.changes import changes
from benchmarks.competitors import installed
from benchmarks.crowds import Pymunk
from benchmarks.engines import HALF, PITCH, SPEED, Ours, arena
from benchmarks.scenes import DT, Floats, Integers, scene
from tests.pressing import Crowd, swarm

Rows = list[tuple[str, float, str]]


def quiet(n: int = 10_000, movers: int = 100, frames: int = 200) -> Rows:
    """Time a step in which nearly all bodies are static: a level, and who walks in it."""
    import ecs_collide as ec

    start = arena(n + movers)
    chosen = np.zeros(n + movers, bool)
    chosen[np.random.default_rng(2).choice(n + movers, movers, replace=False)] = True
    for at, velocity, moves in zip(
        start.positions.tolist(), start.velocities.tolist(), chosen.tolist(), strict=True
    ):
        box = ec.Position(*at), ec.Extents(HALF, HALF)
        esper.create_entity(*box, *((ec.Velocity(*velocity), ec.Deflect()) if moves else ()))
    ec.install()
    times = [clocked(esper.process, DT) for _ in range(frames + 10)][10:]
    return [
        (f"a quiet step, {n:,} static bodies and {movers:,} movers, mean", mean(times), "ms"),
        ("the same, median", statistics.median(times), "ms"),
        ("the same, worst", max(times), "ms"),
    ]


def resting(n: int = 10_000, movers: int = 100, frames: int = 200) -> Rows:
    """Time a step in which nearly all bodies could move and are at rest, asleep and awake."""
    import ecs_collide as ec

    rows: Rows = []
    for sleep in (True, False):
        esper.clear_database()
        start = arena(n + movers)
        chosen = np.zeros(n + movers, bool)
        chosen[np.random.default_rng(2).choice(n + movers, movers, replace=False)] = True
        for at, velocity, moves in zip(
            start.positions.tolist(), start.velocities.tolist(), chosen.tolist(), strict=True
        ):
            box = ec.Position(*at), ec.Extents(HALF, HALF)
            if moves:
                esper.create_entity(*box, ec.Velocity(*velocity), ec.Deflect())
            else:
                esper.create_entity(*box, ec.Velocity(0.0, 0.0), ec.Slide())
        space = ec.install(ec.Space(sleep=sleep))
        times, asleep = [], []
        for _ in range(frames + 30):
            times.append(clocked(esper.process, DT))
            asleep.append(float(space.stats.asleep))
        told = "sleep on" if sleep else "sleep off"
        what = f"a step, {n:,} bodies at rest and {movers:,} that move, {told}, mean"
        rows.append((what, mean(times[30:]), "ms"))
        rows.append(("the same, median", statistics.median(times[30:]), "ms"))
        if sleep:
            rows.append(("of them asleep, mean", mean(asleep[30:]), ""))
        for system in (
            ec.BroadphaseSystem, ec.NarrowphaseSystem, ec.ResponseSystem, ec.MotionSystem
        ):  # fmt: skip
            esper.remove_processor(system)
    return rows


def characters(n: int = 300, frames: int = 40, rounds: int = 6) -> Rows:
    """Time steps of characters with all moves that walk, against plain Slide bodies.

    They walk on tiles, and on slopes that rise and fall by one in five.
    """
    import ecs_collide as ec
    from ecs_collide.character import Character

    moves = {
        "air_jumps": 1,
        "wall_slide_speed": 60,
        "wall_jump_speed": 300,
        "climb_speed": 100,
        "dash_speed": 500,
        "hover_speed": 50,
        "ledge_reach": 6,
        "swim_speed": 100,
    }
    kinds = ("characters that walk on tiles", "Slide bodies that walk on tiles")
    worlds = [(kind, fall) for kind in kinds for fall in (-900.0, 0.0)]
    worlds.append(("characters that walk on slopes", -900.0))
    for kind, fall in worlds:
        esper.switch_world(f"{kind} {fall}")
        for k in range(n // 5 + 20):
            tile = ec.Position(160 * k, -8), ec.Extents(80, 8), ec.Fixed()
            slope = [ec.Slope("left" if k % 2 else "right")] if kind.endswith("slopes") else []
            esper.create_entity(*tile, *slope)
            if slope:
                esper.create_entity(ec.Position(160 * k, -24), ec.Extents(80, 8), ec.Fixed())
        for k in range(n):
            body = ec.Position(30 * k + 400, 16), ec.Extents(8, 16), ec.Velocity(60, 0), ec.Slide()
            hero = Character(walk_speed=60, crouch_height=16, **moves)
            hero.walk = 1.0
            esper.create_entity(*body, *([hero] if kind.startswith("characters") else []))
        ec.install(gravity=(0, fall))
    best = dict.fromkeys(worlds, float("inf"))
    for _ in range(rounds):
        for world in worlds:  # in turns
            esper.switch_world("{} {}".format(*world))
            times = [clocked(esper.process, DT) for _ in range(frames)]
            best[world] = min(best[world], mean(times))
    for kind, fall in worlds:
        esper.switch_world("default")
        esper.delete_world(f"{kind} {fall}")
    return [
        (f"{n} {kind}, {'under' if fall else 'without'} gravity", time, "ms")
        for (kind, fall), time in best.items()
    ]


def cubes(n: int = 1_000, frames: int = 60, warmup: int = 10) -> Rows:
    """Time elastic cubes in a closed room in 3D, and in Rapier, by the clock of the process."""
    import ecs_collide as ec

    across = int(np.ceil(n ** (1 / 3) - 1e-9))
    side = across * PITCH
    places = (np.stack(np.unravel_index(np.arange(n), (across,) * 3), axis=1) + 0.5) * PITCH
    speeds = np.random.default_rng(1).uniform(-SPEED, SPEED, (n, 3))
    walls = []
    for k in range(3):
        for end in (-5.0, side + 5.0):
            centre, half = np.full(3, side / 2), np.full(3, side / 2 + 10.0)
            centre[k], half[k] = end, 5.0
            walls.append((centre.tolist(), half.tolist()))
    for centre, half in walls:
        esper.create_entity(ec.Position(*centre), ec.Extents(*half))
    size = ec.Extents(HALF, HALF, HALF)
    for place, speed in zip(places.tolist(), speeds.tolist(), strict=True):
        body = ec.Position(*place), ec.Velocity(*speed), ec.Deflect()
        esper.create_entity(*body, size)
    space = ec.install(dim=3)

    def step() -> None:
        esper.process(DT)
        space.positions()

    times = [cpu_clocked(step) / 1e3 for _ in range(warmup + frames)][warmup:]
    what = f"{n:,} elastic cubes in 3D, mean"
    rows: Rows = [(what, mean(times), "ms")]
    if installed("rapier3d") is None:
        return rows
    import rapier3d

    world = rapier3d.PhysicsWorld()
    world.set_num_threads(1)
    world.integration_parameters.dt = DT
    looks = {"restitution": 1.0, "friction": 0.0}
    for centre, half in walls:
        wall = rapier3d.RigidBody.fixed(translation=tuple(centre))
        world.add_body(wall, colliders=[rapier3d.Collider.cuboid(*half, **looks)])
    handles = [
        world.add_body(
            rapier3d.RigidBody.dynamic(
                translation=tuple(place),
                linvel=tuple(speed),
                locked_axes=rapier3d.LockedAxes.ROTATION_LOCKED,
            ),
            colliders=[rapier3d.Collider.cuboid(HALF, HALF, HALF, **looks)],
        )
        for place, speed in zip(places.tolist(), speeds.tolist(), strict=True)
    ]
    times = [cpu_clocked(world.step) / 1e3 for _ in range(warmup + frames)][warmup:]
    left = sum(sum(v * v for v in world.rigid_bodies[each].linvel) for each in handles)
    rows.append(("the same in Rapier", mean(times), "ms"))
    rows.append(("the same, its energy that is left", left / float((speeds**2).sum()), ""))
    return rows


def churn(n: int = 10_000, frames: int = 40) -> Rows:
    """Time steps in which entities come and go, against the same steps without.

    Steps of all kinds take turns in one world.  Making and deleting the entities
    is the game's part and is timed apart, and so are esper's own queries for four
    components, which the library does without.
    """
    import ecs_collide as ec

    game = Ours(arena(n))
    k = max(n // 20, 1)
    alive = [entity for entity, _ in esper.get_component(ec.Deflect)]
    holes: list[tuple[tuple[float, ...], tuple[float, ...]]] = []

    def nothing() -> None:
        pass

    def delete() -> None:
        entity = alive.pop(0)
        position = esper.component_for_entity(entity, ec.Position)
        velocity = esper.component_for_entity(entity, ec.Velocity)
        holes.append((position.xy, velocity.xy))
        esper.delete_entity(entity, immediate=True)

    def create() -> None:
        at, velocity = holes.pop()
        box = ec.Position(*at), ec.Extents(HALF, HALF)
        alive.append(esper.create_entity(*box, ec.Velocity(*velocity), ec.Deflect()))

    def replace() -> None:
        for _ in range(k):
            delete()
            create()

    def queries() -> None:
        for kind in (ec.Position, ec.Extents, ec.Velocity, ec.Deflect):
            esper.get_component(kind)

    changes = {"without": nothing, "one deleted": delete, "one spawned": create}
    changes[f"{k:,} replaced"] = replace
    steps: dict[str, list[float]] = {name: [] for name in changes}
    own: dict[str, list[float]] = {name: [] for name in changes}
    for _ in range(10):
        game.step()
    for _ in range(frames):
        for name, change in changes.items():
            own[name].append(clocked(change))
            steps[name].append(clocked(game.step))
            game.step()  # so that no change is still felt in the next
    asked = []
    for _ in range(frames):
        esper.clear_cache()
        asked.append(clocked(queries))

    plain, query = mean(steps["without"]), mean(asked)
    rows: Rows = [
        (f"a step of the arena, {n:,} bodies, without changes", plain, "ms"),
        ("esper's own queries for four kinds after a change", query, "ms"),
    ]
    for name in list(changes)[1:]:
        step = mean(steps[name])
        rows += [
            (f"a step with {name}", step, "ms"),
            ("the same, against one without", step / plain, "times"),
            ("the game's own part, not counted in it", mean(own[name]), "ms"),
        ]
    return rows


def pool(n: int = 2_000, frames: int = 200) -> Rows:
    """Time frames in which bullets end and others are fired: pooled, and deleted and created.

    Two worlds with the same walls take turns.  `n` bullets fly in each, and in each frame 5 % of
    them are replaced.  The pool holds a quarter more bullets than fly, switched off.
    """
    import ecs_collide as ec

    class Bullet:
        """What a game keeps of a bullet."""

        def __init__(self, damage: int) -> None:
            self.damage = damage

    k, width = max(n // 20, 1), 4.0 * n
    rng = np.random.default_rng(1)
    places = rng.uniform(0.0, width, (frames + 2, n, 2)).tolist()

    def components(at: list[float]) -> tuple[object, ...]:
        box = ec.Position(*at), ec.Extents(HALF, HALF)
        return (*box, ec.Velocity(60.0, 0.0), ec.Deflect(), Bullet(3))

    def replace(flying: list[int], _idle: list[int], at: list[list[float]]) -> None:
        for place in at[:k]:
            esper.delete_entity(flying.pop(0), immediate=True)
            flying.append(esper.create_entity(*components(place)))

    def reuse(flying: list[int], idle: list[int], at: list[list[float]]) -> None:
        for place in at[:k]:
            done, bullet = flying.pop(0), idle.pop(0)
            esper.add_component(done, ec.Disabled())
            idle.append(done)
            esper.component_for_entity(bullet, ec.Position).set(*place)
            esper.component_for_entity(bullet, ec.Velocity).set(60.0, 0.0)
            esper.remove_component(bullet, ec.Disabled)
            flying.append(bullet)

    ways = {"deleted and created": replace, "pooled": reuse}
    worlds: dict[str, tuple[list[int], list[int]]] = {}
    own: dict[str, list[float]] = {name: [] for name in ways}
    steps: dict[str, list[float]] = {name: [] for name in ways}
    for name in ways:
        esper.switch_world(name)
        esper.create_entity(ec.Position(-10, 0), ec.Extents(1, width))
        flying = [esper.create_entity(*components(place)) for place in places[0]]
        idle: list[int] = []
        if name == "pooled":
            idle = [esper.create_entity(*components(p), ec.Disabled()) for p in places[1][: n // 4]]
        ec.install()
        esper.process(DT)
        worlds[name] = flying, idle
    for frame in places[2:]:
        for name, change in ways.items():
            esper.switch_world(name)
            own[name].append(clocked(change, *worlds[name], frame))
            steps[name].append(clocked(esper.process, DT))
    rows: Rows = []
    for name in ways:
        both = mean(own[name]) + mean(steps[name])
        rows += [
            (f"a frame with {k:,} of {n:,} bullets {name}", both, "ms"),
            ("of these, the game's own part", mean(own[name]), "ms"),
        ]
    rows.append(("pooled against deleted and created", rows[2][1] / rows[0][1], "times"))
    return rows


def build(n: int = 100_000, rounds: int = 5) -> Rows:
    """Time the insertion of a level's tiles, row by row as an editor saves them."""
    from ecs_collide import AABBTree

    tiles = scene("level", n // 10, 2, 0).resting
    times = []
    for _ in range(rounds):
        tree = AABBTree(2)
        times.append(clocked(tree.insert_many, tiles.ids, tiles.mins, tiles.maxs))
    n = len(tiles)
    return [
        (f"insert_many of {n:,} tiles, least of {rounds}", min(times), "ms"),
        ("depth of the tree", float(tree.depth), ""),
        ("depth promised: 2 log2(n) + 8", 2.0 * float(np.log2(n)) + 8.0, ""),
    ]


def query(n: int = 10_000, calls: int = 20_000) -> Rows:
    """Time single calls from Python, in a world of `n` bodies; mean over many places."""
    import ecs_collide as ec

    start = arena(n)
    game = Ours(start)
    game.step()
    tree = ec.AABBTree(2)
    low, high = start.positions - HALF, start.positions + HALF
    tree.insert_many(np.arange(n), low, high)
    rng = np.random.default_rng(4)
    corners = rng.uniform(0.0, start.side, (calls, 2))
    places = vectors(corners)
    boxes = list(zip(places, vectors(corners + 5.0), strict=True))
    rays = list(zip(places, vectors(rng.uniform(-50.0, 50.0, (calls, 2))), strict=True))
    casts = [(place, (HALF, HALF), way) for place, way in rays]
    points = [(place,) for place in places]
    rows: Rows = []
    for owner, name in ((game.space, "Space"), (tree, "AABBTree")):
        for method, arguments in (
            ("query", boxes),
            ("cast_ray", rays),
            ("ray_hits", rays),
            ("cast_box", casts),
            ("nearest", points),
        ):
            call = getattr(owner, method)
            each = clocked(lambda: [call(*a) for a in arguments]) * 1e3 / calls  # noqa: B023
            rows.append((f"{name}.{method}, one call among {n:,} bodies", each, "µs"))
    origins, ways = (np.array(side) for side in zip(*rays, strict=True))
    some = slice(0, n)
    many = clocked(lambda: game.space.cast_rays(origins[some], ways[some]))
    rows.append((f"Space.cast_rays, {n:,} rays in one call", many, "ms"))
    many = clocked(lambda: game.space.cast_boxes(origins[some], (HALF, HALF), ways[some]))
    rows.append((f"Space.cast_boxes, {n:,} boxes in one call", many, "ms"))
    many = clocked(lambda: game.space.nearest_many(origins[some], 4))
    rows.append((f"Space.nearest_many, {n:,} points in one call, 4 for each", many, "ms"))
    many = clocked(lambda: game.space.query_many(origins[some], origins[some] + 5.0))
    rows.append((f"Space.query_many, {n:,} regions in one call", many, "ms"))
    return rows


def memory(n: int = 100_000, frames: int = 12) -> Rows:
    """Return what the library keeps for each body, by the memory the process has.

    The entities and their components are there before the first look.  Arrays of
    a step that the allocator has not given back count too.
    """
    import ecs_collide as ec

    start = arena(n)
    ids = np.arange(n)
    for at, velocity in zip(start.positions.tolist(), start.velocities.tolist(), strict=True):
        box = ec.Position(*at), ec.Extents(HALF, HALF)
        esper.create_entity(*box, ec.Velocity(*velocity), ec.Deflect())
    for kind in (ec.Position, ec.Extents, ec.Velocity, ec.Deflect):
        esper.get_component(kind)  # esper's own cache is not the library's
    before = resident()
    space = ec.install()
    for _ in range(frames):
        esper.process(DT)
    each = (resident() - before) / n
    n_events = len(space.collision_array)
    before = resident()
    tree = ec.AABBTree(2)
    tree.insert_many(ids, start.positions - HALF, start.positions + HALF)
    for k in range(frames):
        moved = start.positions + start.velocities * (DT * k)
        tree.update_many(ids, moved - HALF, moved + HALF, start.velocities * DT)
        tree.pairs()
    del moved
    return [
        (f"a space, for each of {n:,} bodies ({n_events:,} events in a step)", each, "bytes"),
        (f"an AABBTree, for each of {n:,} boxes", (resident() - before) / n, "bytes"),
    ]


def snapshot(n: int = 10_000, rounds: int = 50) -> Rows:
    """Time saving a world and restoring it, right after a step and some steps later.

    As bytes, and in memory as a rollback does: it saves each step and keeps the last ten states.
    """
    import ecs_collide as ec

    rows: Rows = []
    for size in (8, n // 10, n):
        esper.clear_database()
        game = Ours(arena(size))
        for _ in range(10):
            game.step()
        saving, back, empty, kept, returned = [], [], [], [], []
        for _ in range(rounds):
            data: list[bytes] = []
            saving.append(clocked(lambda: data.append(game.space.snapshot())))  # noqa: B023
            for _ in range(5):
                game.step()
            back.append(clocked(game.space.restore, data[0]))
        latest: deque[ec.SavedState] = deque(maxlen=10)
        for _ in range(rounds):
            for _ in range(6):
                game.step()
                kept.append(clocked(lambda: latest.append(game.space.save_state())))  # noqa: B023
            returned.append(clocked(game.space.restore, latest[-6]))
        for _ in range(max(rounds // 10, 1)):
            esper.clear_database()
            empty.append(clocked(game.space.restore, data[0]))
        told = f"{size:,} bodies"
        rows += [
            (f"saving {told}, mean", mean(saving), "ms"),
            (f"going back five steps, {told}, mean", mean(back), "ms"),
            (f"restoring {told} into an empty world, mean", mean(empty), "ms"),
            (f"a snapshot of {told}", len(data[0]) / 1024, "KiB"),
            (f"saving {told} in memory, mean", mean(kept), "ms"),
            (f"going back five steps in memory, {told}, mean", mean(returned), "ms"),
        ]
        for system in (
            ec.BroadphaseSystem, ec.NarrowphaseSystem, ec.ResponseSystem, ec.MotionSystem
        ):  # fmt: skip
            esper.remove_processor(system)
    return rows


def fat_bounds(n: int = 4_000, frames: int = 100, rounds: int = 3) -> Rows:
    """Count what fat bounds save in a gas, against bounds that escape sooner, and time both.

    Worlds with the same gas take turns.  They must find as many pairs and end at the same places
    in each step.  Each step counts with its least time over the rounds.
    """
    import ecs_collide as ec
    from tests.scenes import gas

    ways: dict[str, dict[str, float]] = {
        "as they are": {},
        "of a tenth of a side and 2 steps": {"margin": 0.2, "lookahead": 2.0},
        "of nothing": {"margin": 0.0, "lookahead": 0.0},
    }
    rows: Rows = []
    few = max(n // 10, 1)
    # Bodies, axes, spacing, speed on each axis.  The last two move by up to two sides in a step.
    scenes = (few, 2, 4.0, 10.0), (n, 2, 4.0, 10.0), (n, 2, 16.0, 240.0), (n, 3, 16.0, 240.0)
    for n_bodies, dim, spacing, speed in scenes:
        times = {name: np.full(frames, np.inf) for name in ways}
        counts: dict[str, Integers] = {}
        for number in range(rounds):
            spaces: dict[str, ec.Space] = {}
            for name, settings in ways.items():
                counts[name] = np.zeros(3, np.int64)
                esper.switch_world(f"{n_bodies} {dim} {speed} {name} {number}")
                gas(n_bodies, spacing, speed, dim=dim)
                spaces[name] = ec.install(ec.Space(dim=dim, **settings))
                esper.process(DT)
            for frame in range(frames):
                ends = set()
                for name, space in spaces.items():
                    esper.switch_world(f"{n_bodies} {dim} {speed} {name} {number}")
                    times[name][frame] = min(times[name][frame], clocked(esper.process, DT))
                    stats = space.stats
                    counts[name] += (stats.escapes, stats.reinsertions, stats.rebuilds)
                    ends.add((stats.pairs, space.positions().tobytes()))
                assert len(ends) == 1, f"fat bounds changed step {frame}"
        for name in ways:
            kinds = ("escapes", "reinsertions", "rebuilds")
            each = (counts[name] / frames).tolist()
            scene = f"a gas of {n_bodies:,} in {dim}D, up to {speed / 120.0:.2f} sides a step"
            rows += [
                (f"{scene}, fat bounds {name}: {kind} a step", count, "")
                for kind, count in zip(kinds, each, strict=True)
            ]
            against = float(times[name].sum() / times["as they are"].sum())
            rows.append(("the same, time against bounds as they are", against, "times"))
    return rows


def pressed(n: int = 10_000, frames: int = 60, rounds: int = 5) -> Rows:
    """Time a fully pressed crowd beside one of a tenth of its size, and beside pymunk.

    All walk to one point.  A crowd is fully pressed once it has no more contacts than 50 steps
    ago.  pymunk begins with the places of the large one.  All take turns; the times are the medians
    of the quietest round of each.
    """
    import ecs_collide as ec

    crowds: dict[int, tuple[Crowd, ec.Space]] = {}
    contacts: dict[int, int] = {}
    for size in (n // 10, n):
        esper.switch_world(f"{size} pressed")
        crowd, space = crowds[size] = Crowd(swarm(size)), ec.install()
        before = -1
        while contacts.get(size, 0) > before:
            before = contacts.get(size, 0)
            for _ in range(50):
                crowd.walk()
            contacts[size] = len(space.contacts())
    peers = []
    if installed(Pymunk.needs):
        places = [(place.x, place.y) for place in crowds[n][0].places]
        peers = [Pymunk(replace(swarm(n), boxes=places))]
    each = dict.fromkeys(crowds, np.inf)
    sweeps = dict.fromkeys(crowds, 0)
    peer = np.inf
    for _ in range(rounds):
        for size, (crowd, space) in crowds.items():
            esper.switch_world(f"{size} pressed")
            times = []
            for frame in range(frames + 5):  # the first ones bring its memory into the caches
                crowd.steer()
                times.append(cpu_clocked(esper.process, DT) / size)
                sweeps[size] += space.stats.sweeps if frame >= 5 else 0
            each[size] = min(each[size], statistics.median(times[5:]))
        for other in peers:
            times = []
            for _ in range(frames + 5):
                other.steer()
                times.append(cpu_clocked(other.step) / n)
            peer = min(peer, statistics.median(times[5:]))
    rows: Rows = []
    for size in crowds:
        rows += [
            (f"{size:,} boxes pressed to one point, CPU time of a step for each", each[size], "µs"),
            ("the same, contacts a box", contacts[size] / size, ""),
            ("the same, sweeps a box", sweeps[size] / (size * frames * rounds), ""),
        ]
    rows.append(
        ("the same, CPU time of a box against the smaller crowd", each[n] / each[n // 10], "times")
    )
    if peers:
        rows.append(
            ("the same, against pymunk from the same places", each[n] / peer, "times its CPU time")
        )
    return rows


def imports(rounds: int = 5) -> Rows:
    """Time the import of the library where esper and numpy, but nothing else, are there."""
    code = (
        "import esper, numpy, time; before = time.perf_counter(); import ecs_collide; "
        "print(time.perf_counter() - before)"
    )
    asked = [sys.executable, "-c", code]
    # As it is where the library is installed: compiled to bytecode once, not every time.
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    told = [
        subprocess.run(asked, capture_output=True, check=True, env=kept).stdout
        for _ in range(rounds)
    ]
    least = min(map(float, told)) * 1e3
    return [(f"import ecs_collide, beyond esper and numpy, least of {rounds}", least, "ms")]


def plain(n: int = 1_000, frames: int = 60) -> Rows:
    """Compare pure Python with compiled kernels by the CPU time of a step, from few bodies to `n`.

    In the level nine bodies of ten are walls that are `Fixed`.
    """
    rows: Rows = []
    for is_level in (False, True):
        name = "a level" if is_level else "the arena"
        for size in (max(n // 100, 2), max(n // 10, 2), n):
            slow = cpu_time(size, frames, is_level, compiled=False)
            rows.append((f"a step of {name}, {size:,} bodies, pure Python, CPU time", slow, "ms"))
            try:
                quick = cpu_time(size, frames, is_level, compiled=True)
            except ImportError:
                continue
            rows.append(("the same, compiled kernels", quick, "ms"))
            rows.append(("the same, pure Python against compiled", slow / quick, "times"))
    return rows


def cpu_time(n: int, frames: int, is_level: bool, compiled: bool) -> float:
    """Return the ms of CPU time that a step of `n` bodies takes; the least mean of three runs."""
    import ecs_collide as ec
    from ecs_collide._kernel import backend

    means, before_world = [], esper.current_world
    with mock.patch.object(backend, "kernels", backend.load(compiled)):
        for _ in range(3):
            esper.switch_world("cpu time")
            start = arena(n)
            corners = zip(start.positions.tolist(), start.velocities.tolist(), strict=True)
            for x, y, w, h in start.walls:
                esper.create_entity(ec.Position(x, y), ec.Extents(w, h), ec.Fixed())
            for number, (at, velocity) in enumerate(corners):
                rest = is_level and number % 10 > 0
                other = (ec.Fixed(),) if rest else (ec.Velocity(*velocity), ec.Deflect())
                esper.create_entity(ec.Position(*at), ec.Extents(HALF, HALF), *other)
            ec.install()
            esper.process(DT)
            before = process_time()
            for _ in range(frames):
                esper.process(DT)
            means.append((process_time() - before) * 1e3 / frames)
            esper.switch_world(before_world)
            esper.delete_world("cpu time")
    return min(means)


def counted(sizes: tuple[int, ...] = (10, 50, 200), instructions: bool = True) -> Rows:
    """Count what a step costs, in numbers that are the same on every machine."""
    rows: Rows = []
    for n in sizes:
        esper.switch_world(f"counted {n}")
        bytecodes, frames = counts.python_of_a_step(n)
        found = counts.instructions_of_a_step(n) if instructions else None
        rows += [
            (f"a step of {n} boxes that nobody listens to, bytecodes", bytecodes, ""),
            ("the same, calls of Python functions", frames, ""),
        ]
        if found is not None:
            rows.append(("the same, mean instructions (callgrind)", found, ""))
    return rows


COSTS: dict[str, Callable[..., Rows]] = {
    "counts": counted,
    "changes": changes,
    "quiet": quiet,
    "resting": resting,
    "characters": characters,
    "churn": churn,
    "pool": pool,
    "build": build,
    "query": query,
    "memory": memory,
    "snapshot": snapshot,
    "bounds": fat_bounds,
    "pressed": pressed,
    "import": imports,
    "plain": plain,
    "cubes": cubes,
}


def clocked(call: Callable[..., object], *arguments: object) -> float:
    """Return the ms of a call."""
    before = perf_counter()
    call(*arguments)
    return (perf_counter() - before) * 1e3


def cpu_clocked(call: Callable[..., object], *arguments: object) -> float:
    """Return the µs of CPU time of a call."""
    before = process_time()
    call(*arguments)
    return (process_time() - before) * 1e6


def vectors(rows: Floats) -> list[tuple[float, ...]]:
    """Return rows as a game writes vectors: tuples of Python's own floats."""
    return [tuple(row) for row in rows.tolist()]


def mean(times: list[float]) -> float:
    """Return the mean."""
    return statistics.fmean(times)


def resident() -> int:
    """Return the memory that this process has, in bytes; on Linux, else its peak."""
    gc.collect()
    try:
        with open("/proc/self/statm") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        import resource

        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
