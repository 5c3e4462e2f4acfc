"""The steering of bodies along their paths."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from functools import partial
from operator import itemgetter

import esper

import ecs_collide as ec
from ecs_collide.diagnostics.findings import EXAMINERS, Examination, Finding, finding_about
from ecs_collide.path.path import FIELDS, Path
from ecs_collide.steering import Steering, add_steering, odd_about_space
from ecs_collide.sync.fields import sound_vector, write_vector
from ecs_collide.sync.quarantine import Wrong

AT = 2.0**-40  # of its coordinates, or of the way of a million steps: closer to its path is on it


class PathSteering(Steering):
    """Set the velocities of all bodies with a `Path`.

    A body that is elsewhere, because it was held up or is new there, first goes to its path,
    straight and at the path's speed.  Zones and characters, which run after it, see its velocity.
    """

    kinds = (Path,)
    rank = 0
    reads = ("position", "velocity")

    def steer(self, dt: float) -> None:
        """Set the velocities that lead each body along its path in the step that follows.

        The step skips and reports a body whose path has a `speed` or a `pause` that is no finite
        number, 0 or more.
        """
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


def odd_about_path(e: Examination, entity: int) -> Iterator[Finding]:
    """Yield the findings about an entity with a `Path`, for `Space.doctor`."""
    found = partial(finding_about, entity)
    yield from odd_about_space(e, entity, PathSteering)
    missing = [kind.__name__ for kind in (ec.Position, ec.Velocity) if kind not in e.of(entity)]
    if missing:
        yield found(
            "no_path",
            f"has Path but no {' and no '.join(missing)}: nothing moves it",
        )


EXAMINERS[Path] = odd_about_path
add_steering(PathSteering)
