"""Show the installed versions, then check them for two seconds: ``python -m ecs_collide``.

The check runs one small world on each installed kind of kernels, and compares all positions,
velocities and events, bit for bit, with the results that are the same on every platform.  The
rest of the two seconds measures a step of 1,000 bodies against numpy.  The exit status is 0 if
everything holds, else 1.
"""

from __future__ import annotations

import platform
import sys
from argparse import ArgumentParser, RawDescriptionHelpFormatter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from hashlib import blake2b
from importlib.machinery import EXTENSION_SUFFIXES
from importlib.metadata import PackageNotFoundError, version
from math import inf
from pathlib import Path
from random import Random
from time import perf_counter

import esper
import numpy as np

import ecs_collide as ec
from ecs_collide._kernel import backend

SECONDS = 2.0  # for the self-check; in pure Python one world may take longer
N_BODIES = 1_000  # in the step that is measured
N_SORTED = 10_000  # numbers, for comparison
N_STEPS = 60
EXPECTED = "1b9b5438131a0e380f040f6d2feb964e"  # result of `check_world`, on every platform


def main(arguments: list[str] | None = None) -> int:
    """Print versions, kernels and the results of the self-check; return the exit status."""
    parser = ArgumentParser("python -m ecs_collide", description=__doc__)
    parser.formatter_class = RawDescriptionHelpFormatter
    parser.parse_args(arguments)
    start = perf_counter()
    print(f"ecs_collide {ec.__version__} in {Path(ec.__file__).parent}")
    print(f"  kernels  {describe_kernels()}")
    print(f"  esper    {installed('esper')}")
    print(f"  numpy    {np.__version__}")
    print(f"  Python   {platform.python_version()} {platform.python_implementation()}", end=", ")
    print(f"{platform.system()} {platform.machine()}")
    failed = 0
    for told, holds in check():
        failed += not holds
        print(f"  {'ok' if holds else 'FAILED':8} {told}", flush=True)
    print(f"  {measure(start + SECONDS)}")
    print(f"{failed} of the checks failed: please report this" if failed else "everything holds")
    return 1 if failed else 0


def describe_kernels() -> str:
    """Return a text: whether the kernels are compiled, and if not why."""
    if not backend.why_pure:
        return "compiled"
    if backend.missing_kernel is None:
        return f"pure Python, because {backend.why_pure}"
    folder = Path(ec.__file__).parent
    built = sorted(path.name for path in folder.glob("_kernels.*"))
    if not built:
        return (
            "pure Python, because no compiled kernels are installed: there was no C compiler, or "
            "no wheel for this Python and platform. Install a C compiler, then run "
            "pip install --force-reinstall --no-binary ecs_collide ecs_collide"
        )
    if not any(f".{name.partition('.')[2]}" in EXTENSION_SUFFIXES for name in built):
        return (
            f"pure Python, because the kernels were compiled for another Python: {built[0]} "
            f"does not end in {EXTENSION_SUFFIXES[0]}. Install ecs_collide again with this Python"
        )
    return f"pure Python, because {backend.why_pure}"


def installed(name: str) -> str:
    """Return the version of a distribution."""
    try:
        return version(name)
    except PackageNotFoundError:
        return "version unknown: it is not installed as a package"


def check() -> Iterator[tuple[str, bool]]:
    """Yield each check as a text, and whether it holds."""
    ball = ec.sweep((0, 40), (4, 4), (0, -20_000 / 60), (0, -100), (400, 10), (0, 0))
    yield "a box that crosses 333 units in one step hits the floor", ball.time == 0.378
    yield "the tree finds the pairs that comparing all boxes finds", check_tree()
    for compiled in (False, True) if ec.COMPILED else (False,):
        with using(backend.load(compiled)):
            told = f"{N_STEPS} steps have the bits they have on every platform"
            kernels = "compiled" if compiled else "pure Python"
            yield f"{told} ({kernels})", check_world() == EXPECTED
            yield f"arrays have the numbers of single bodies ({kernels})", check_arrays()


def check_tree() -> bool:
    """Return whether a tree finds the pairs that a comparison of all its boxes finds."""
    numbers = Random(1)
    mins = np.array([(numbers.random(), numbers.random()) for _ in range(200)])
    maxs = mins + 0.04
    tree = ec.AABBTree()
    tree.insert_many(np.arange(200), mins, maxs)
    tree.check()
    meet = (mins[:, None] <= maxs) & (mins <= maxs[:, None])
    first, second = np.nonzero(np.triu(meet.all(axis=2), 1))
    return np.array_equal(tree.pairs(), np.stack([first, second], axis=1))


def check_world() -> str:
    """Return a fingerprint of all results of a small world."""
    found = blake2b(digest_size=16)
    with world():
        fill_room(40, seed=1)
        space = ec.install()
        for _ in range(N_STEPS):
            esper.process(1 / 60)
            events = space.collision_array
            for numbers in (
                events["first"].astype("<i8"),
                events["time"].astype("<f8"),
                space.positions().astype("<f8"),
                space.velocities().astype("<f8"),
            ):
                found.update(numbers.tobytes())
        space.check()
    return found.hexdigest()


def check_arrays() -> bool:
    """Return whether a space gives the same numbers in arrays as for single bodies.

    Arrays are indexed by rows.  They have 64 bits, and on some platforms numpy's indices have 32.
    """
    with world():
        fill_room(20, seed=1)
        space = ec.install(wrap=(100, 100))
        for _ in range(3):
            esper.process(1 / 60)
        space.restore(space.snapshot())
        ids = space.entities
        boxes = np.array([space.bounds(entity) for entity in ids])
        mins, maxs = boxes[:, 0], boxes[:, 1]
        found = [space.query(*box) for box in boxes]
        swept_mins, swept_maxs = space.swept_bounds()
        alike = (
            (space.positions(), [space.position_of(entity) for entity in ids]),
            (space.velocities(ids), [space.velocity_of(entity) for entity in ids]),
            (np.stack(space.boxes(), axis=1), boxes),
            (space.interpolated(0.5), [space.interpolated_of(entity, 0.5) for entity in ids]),
            (space.query_many(mins, maxs).ids, np.concatenate(found)),
        )
        return bool(
            all(np.array_equal(many, single) for many, single in alike)
            and ((swept_mins <= mins) & (maxs <= swept_maxs)).all()
        )


def measure(until: float) -> str:
    """Return the ratio of a step to a sort by numpy, measured until a time of the clock.

    The shortest times count, so other programs barely affect the result.  On a slow computer
    numpy is slow too.
    """
    numbers = np.random.default_rng(1).random(N_SORTED)
    step = sort = inf
    with world():
        fill_room(N_BODIES, seed=2, speed=40.0)
        ec.install()
        esper.process(1 / 60)
        while step == inf or perf_counter() < until:
            sort = min(sort, fastest(lambda: numbers.argsort(kind="stable"), 5))
            step = min(step, fastest(lambda: esper.process(1 / 60), 5))
    return (
        f"a step of {N_BODIES:,} moving bodies takes {step / sort:.2g} times as long as numpy "
        f"takes to sort {N_SORTED:,} numbers"
    )


def fastest(call: Callable[[], object], n_calls: int) -> float:
    """Return the shortest time of some calls, in seconds."""
    times = []
    for _ in range(n_calls):
        start = perf_counter()
        call()
        times.append(perf_counter() - start)
    return min(times)


def fill_room(n_bodies: int, seed: int, speed: float = 120.0) -> None:
    """Create four walls, and boxes of three kinds that fly about between them.

    Velocities are within `speed` units per second on each axis.
    """
    numbers = Random(seed)
    n_columns = int(n_bodies**0.5) + 1
    half = 4.0 * n_columns  # of the room: a cell of 8 for each box
    for x, y in ((-1, 0), (1, 0), (0, -1), (0, 1)):
        wall = ec.Extents(5 if x else half, 5 if y else half)
        esper.create_entity(ec.Position(x * (half + 5), y * (half + 5)), wall)
    for n in range(n_bodies):
        row, column = divmod(n, n_columns)
        esper.create_entity(
            ec.Position(8 * column + 4 - half, 8 * row + 4 - half),
            ec.Extents(1 + numbers.random(), 1 + numbers.random()),
            ec.Velocity(*(2 * speed * numbers.random() - speed for _ in range(2))),
            (ec.Deflect(), ec.Deflect(0.5), ec.Slide())[n % 3],
        )


@contextmanager
def world() -> Iterator[None]:
    """Switch to an empty esper world, and back at the end."""
    before, name = esper.current_world, "ecs_collide self-check"
    esper.switch_world(name)
    try:
        yield
    finally:
        esper.switch_world(before)
        esper.delete_world(name)


@contextmanager
def using(kernels: backend.Kernels) -> Iterator[None]:
    """Run new spaces on some kernels for a while."""
    before = backend.kernels
    backend.kernels = kernels
    try:
        yield
    finally:
        backend.kernels = before


if __name__ == "__main__":
    sys.exit(main())
