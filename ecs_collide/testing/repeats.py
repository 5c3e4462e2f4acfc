"""Runs that are repeated in other ways, and with rollbacks, and must give the same result."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest import mock

from ecs_collide._kernel import backend
from ecs_collide.extend import FIELDS, take_snapshot
from ecs_collide.recording.frames import Frame
from ecs_collide.recording.recording import Recording, first_difference
from ecs_collide.recording.replay import draw_frame
from ecs_collide.space import Space
from ecs_collide.testing.failures import divergence_from, failure
from ecs_collide.testing.logs import recording_of, require_live
from ecs_collide.testing.sim import DT, Script, Sim, steps_of

Build = Callable[[], Any]

VARIANTS = ("again", "order", "margins", "kernels", "hash seed")
"""The changes that `assert_repeats` tries: none; the order in which entities and components were
added; the margins and the lookahead of the tree; pure Python or compiled; the seed of hashes."""

_CANNOT_IMPORT = 3  # the exit status of a process that cannot unpickle build()
_MARGINS = ((0.0, 0.0), (50.0, 8.0))
_ADVICE = "\ntell Space.snapshot_with how to save what did not come back"


def assert_repeats(
    build: Build,
    inputs: Script,
    *,
    dt: float = DT,
    variants: Sequence[str] | None = None,
) -> list[str]:
    """Assert that a game does the same in every run, bit for bit; return the variants tried.

    Parameters
    ----------
    build : callable
        Builds the game in the current world, as for `Sim.build`.
    inputs : script, or number of steps
        The inputs to press: ``[("right", 30), ("right jump", 5)]``.
    dt : float
        Length of a step, in seconds.
    variants : some of `VARIANTS`, optional
        The variants to try.  By default all that are possible, with a warning for each of the
        others.  "order" needs a `build` that does no step, and "kernels" needs compiled kernels.
        "hash seed" runs in another process, so it needs a `build` that can be imported, such as
        a function of a module other than the script.

    Raises
    ------
    AssertionError
        A run differs.  The message names the first step that differs and the fields, and both
        recordings are kept.  Or nothing moved, or nothing met.
    ValueError
        A variant does not exist, or is not possible.
    """
    __tracebackhide__ = True
    script = steps_of(inputs)
    chosen = VARIANTS if variants is None else tuple(variants)
    for name in chosen:
        if name not in VARIANTS:
            raise ValueError(f"variant {name!r} must be one of {', '.join(VARIANTS)}")
    reference = _run(build, script, dt)
    require_live(reference)
    done = []
    for name in chosen:
        try:
            for words, other in _RUNS[name](build, script, dt):
                _require_equal(reference, other, words)
        except _VariantError as error:
            if variants is not None:
                raise ValueError(f"variant {name!r} is not possible here: {error}") from None
            warnings.warn(f"assert_repeats() skips {name!r}: {error}", stacklevel=2)
        else:
            done.append(name)
    return done


class _VariantError(ValueError):
    """An error for a variant that cannot be tried; its text gives reason and requirement."""


def _require_equal(reference: Recording, other: Recording, words: str) -> None:
    __tracebackhide__ = True
    divergence = first_difference(reference, other)
    if divergence is not None:
        entities = [each.entity for each in divergence.differences if each.entity]
        seen = reference if divergence.first is not None else other
        picture = draw_frame(seen, divergence.step, entities[:1])
        lines = f"{words}: {divergence}\n{picture}"
        raise failure(lines, recordings=[reference, other])


def _run(
    build: Build, script: Script, dt: float, prepare: Callable[[Space], None] | None = None
) -> Recording:
    with Sim(dt, keep=None) as sim:
        sim.build(build)
        if prepare is not None:
            prepare(sim.space)
        sim.play(script)
        return recording_of(sim)


_Runs = Iterator[tuple[str, Recording]]


def _again(build: Build, script: Script, dt: float) -> _Runs:
    yield "the same run done again", _run(build, script, dt)


def _in_other_order(build: Build, script: Script, dt: float) -> _Runs:
    yield "entities added in another order", _run(build, script, dt, reorder)


def _with_other_margins(build: Build, script: Script, dt: float) -> _Runs:
    for margin, lookahead in _MARGINS:
        words = f"margin={margin}, lookahead={lookahead}"
        with _spaces_made_with(margin=margin, lookahead=lookahead):
            yield words, _run(build, script, dt)


def _on_other_kernels(build: Build, script: Script, dt: float) -> _Runs:
    compiled = not backend.kernels.compiled
    try:
        kernels = backend.load(compiled=compiled)
    except ImportError:
        raise _VariantError("the compiled kernels are not installed") from None
    with mock.patch.object(backend, "kernels", kernels):
        yield "compiled kernels" if compiled else "pure Python", _run(build, script, dt)


def _with_other_hash_seed(build: Build, script: Script, dt: float) -> _Runs:
    try:
        job = pickle.dumps((build, script, dt))
    except (pickle.PicklingError, AttributeError, TypeError) as error:
        raise _VariantError(_not_importable(error)) from None
    seed = "1" if os.environ.get("PYTHONHASHSEED") != "1" else "2"
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "run.rec"
        code = (
            f"import sys; sys.path[:] = {sys.path!r}\n"
            "from ecs_collide.testing import repeats\n"
            f"repeats.run_job(sys.stdin.buffer.read(), {str(path)!r})"
        )
        done = subprocess.run(
            [sys.executable, "-c", code],
            input=job,
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            check=False,
        )
        words = done.stderr.decode(errors="replace")
        if done.returncode == _CANNOT_IMPORT:
            raise _VariantError(_not_importable(words.strip()))
        if done.returncode:
            raise RuntimeError(
                "assert_repeats() cannot build the game in another process, for 'hash seed':\n"
                + words
            )
        yield f"PYTHONHASHSEED={seed}", Recording.load(path)


def run_job(job: bytes, path: str) -> None:
    """Do a run for another process of this program, and save its recording."""
    try:
        build, script, dt = pickle.loads(job)
    except Exception as error:  # an import of the game's modules may raise anything
        print(error, file=sys.stderr)
        sys.exit(_CANNOT_IMPORT)
    _run(build, script, dt).save(path)


def _not_importable(error: object) -> str:
    return (
        f"another process cannot import build() ({error}): "
        "make it a function of a module other than the script that runs"
    )


_RUNS: dict[str, Callable[[Build, Script, float], _Runs]] = {
    "again": _again,
    "order": _in_other_order,
    "margins": _with_other_margins,
    "kernels": _on_other_kernels,
    "hash seed": _with_other_hash_seed,
}


def reorder(space: Space) -> None:
    """Add all entities and components of a world again, under their ids, in another order."""
    if len(space):
        raise _VariantError("it needs a build() that does no step: do the steps by `inputs`")
    world = space.world
    for entity, components in reversed(list(world.entities(FIELDS).items())):
        parts = list(components.items())
        world.delete(entity)
        world.create(entity)
        for kind, component in reversed(parts):
            world.add(entity, kind, component)


@contextmanager
def _spaces_made_with(**settings: Any) -> Iterator[None]:
    """Give every new space some settings."""
    original = Space.__init__

    def changed(self: Space, *args: Any, **kwargs: Any) -> None:
        original(self, *args, **{**kwargs, **settings})

    with mock.patch.object(Space, "__init__", changed):
        yield


# -- rollback --


def assert_rollback_safe(
    build: Build, inputs: Script, distance: int = 8, *, dt: float = DT
) -> None:
    """Assert that a game which goes back some steps and repeats them gets the same result.

    After each step the space is restored to its state `distance` steps before, by
    `Space.snapshot` alone, and the steps are repeated with the same inputs.

    Parameters
    ----------
    build, inputs, dt
        As for `assert_repeats`.
    distance : int
        Steps, 1 or more.

    Raises
    ------
    AssertionError
        The result differs: the message names the step, the entity and the field.  Or nothing
        moved, or nothing met.
    """
    __tracebackhide__ = True
    if distance < 1:
        raise ValueError(f"distance={distance} must be 1 step or more")
    script = steps_of(inputs)
    reference = _run(build, script, dt)
    require_live(reference)
    pressed = [names for names, n in script for _ in range(n)]
    with Sim(dt, keep=1) as sim:
        sim.build(build)
        saves = [take_snapshot(sim.space)]
        for n, names in enumerate(pressed, 1):
            _advance(sim, names)
            saves.append(take_snapshot(sim.space))
            begin = n - distance
            if begin < 0:
                continue
            sim.space.restore(saves[begin])
            saves[begin] = b""  # no later step goes back that far
            words = f"restored to step {begin} from step {n}"
            _require_same(sim.space, reference.frames[begin], words, _ADVICE)
            for k in range(begin, n):
                _advance(sim, pressed[k])
                _require_same(sim.space, reference.frames[k + 1], f"{words}, and played on")


def _advance(sim: Sim, names: str) -> None:
    sim.press(names)
    try:
        sim.advance()
    finally:
        sim.release(names)


def _require_same(space: Space, expected: Frame, words: str, advice: str = "") -> None:
    __tracebackhide__ = True
    divergence = divergence_from(expected, space)
    if divergence is not None:
        raise failure(f"{words}: {divergence}{advice}", space)
