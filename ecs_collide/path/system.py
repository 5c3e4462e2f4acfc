"""The system that moves bodies along their paths, and `install_paths`, which adds it to a world."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from functools import partial
from operator import itemgetter
from typing import Any

import esper

import ecs_collide as ec
from ecs_collide.diagnostics.findings import EXAMINERS, Examination, Finding, finding_about
from ecs_collide.path.path import FIELDS, Path
from ecs_collide.sync.fields import sound_vector, write_vector
from ecs_collide.sync.quarantine import Wrong
from ecs_collide.systems import VelocitySystem, add_before_step

AT = 2.0**-40  # of its coordinates, or of the way of a million steps: closer to its path is on it


class PathSystem(VelocitySystem):
    """The system that sets the velocities of all bodies with a `Path`, before each step.

    A body that is elsewhere, because it was held up or is new there, first goes to its path,
    straight and at the path's speed.

    It must run before `CharacterSystem` and `BroadphaseSystem`: `install_paths` puts it there.
    """

    reads = ("position", "velocity")

    def process(self, *args: Any, **kwargs: Any) -> None:
        """Set the velocities that lead each body along its path in the step that follows.

        The step skips and reports a body whose path has a `speed` or a `pause` that is no finite
        number, 0 or more.
        """
        dt = self.space.step_time.before_step(self, args, kwargs)
        dim = self.space.dim
        widths = (*(self.space.wrap or ()), None, None, None)[:3]
        wrong: dict[int, Wrong] = {}
        found = esper.get_components(Path, ec.Position, ec.Velocity)
        for entity, (path, position, velocity) in sorted(found, key=itemgetter(0)):
            error = FIELDS.find_wrong(path)
            if error is not None:
                wrong[entity] = error
                continue
            at = sound_vector(position, dim)
            if at is None or sound_vector(velocity, dim) is None or not dt > 0.0:
                continue  # the step reports numbers that are not sound
            if esper.has_component(entity, ec.Disabled):
                continue  # its path is paused
            place = path.place
            way = _way(at, place, widths, dim)
            beside = math.sqrt(sum(part * part for part in way))
            step = path.speed * bool(path.running) * dt
            if beside > AT * max(2.0**20 * step, *map(abs, (*at, *place))):
                part = min(1.0, step / beside)
                way = [part * each for each in way]  # back to the path; it waits
            else:
                path.advance(dt)
                way = _way(at, path.place, widths, dim)
            write_vector(velocity, [part / dt for part in way], dim)
        if wrong or self.has_refused:
            self.refuse(wrong)


def _way(
    start: Sequence[float], end: Sequence[float], widths: Sequence[float | None], dim: int
) -> list[float]:
    """Return the way between two points, the shorter one in a world that wraps; z is 0 in 2D."""
    way = [b - a for a, b in zip(start, end, strict=True)]
    if dim == 2:
        way[2] = 0.0
    for k, width in enumerate(widths):
        if width is not None:
            way[k] -= width * round(way[k] / width)
    return way


def install_paths(space: ec.Space) -> PathSystem:
    """Add a `PathSystem` to the current world.

    Call it after `ecs_collide.install`.  It runs before the systems of the space and before
    characters. Its priority is two higher than that of the first system of the space, 132 after a
    plain `install()`.  Calling it again changes nothing.

    Raises
    ------
    RuntimeError
        The space is not installed in this world, or the call is in a processor that runs after
        the system that it would add.
    """
    return add_before_step("install_paths", PathSystem, space, 2)


def odd_about_path(e: Examination, entity: int) -> Iterator[Finding]:
    """Yield the findings about an entity with a `Path`, for `Space.doctor`."""
    found = partial(finding_about, entity)
    runs: Any = esper.get_processor(PathSystem)
    if runs is None or runs.space is not e.space:
        yield found(
            "no_path_system",
            f"has Path, and no PathSystem of {e.space!r} is in {e.world}: nothing moves it; call "
            "install_paths(space) after install()",
        )
    missing = [kind.__name__ for kind in (ec.Position, ec.Velocity) if kind not in e.of(entity)]
    if missing:
        yield found(
            "no_path",
            f"has Path but no {' and no '.join(missing)}: its PathSystem ignores it",
        )


EXAMINERS[Path] = odd_about_path
