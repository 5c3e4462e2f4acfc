"""Move one body now, between two steps: for turn-based games, tools and AI.

A move is a chain of straight casts by the rules of the sweep.  When the box meets a solid body, it
is placed flush against it, and the response that the game chose determines the rest of the path.
A move pushes no other bodies.
"""

from typing import NamedTuple

import numpy as np

from ecs_collide import _checks
from ecs_collide._kernel.constants import LARGEST, QueryKind
from ecs_collide.components.base import shown
from ecs_collide.components.basics import Deflect, Sensor, Slide, Stop
from ecs_collide.components.dynamics import Separate
from ecs_collide.components.surfaces import OneWay, solid_side
from ecs_collide.events import Vector, VectorLike
from ecs_collide.motion.wrapping import PeriodicDomain
from ecs_collide.queries.contact_queries import ContactQueries
from ecs_collide.queries.queried_bodies import QueriedBodies
from ecs_collide.queries.queries import Queries, Selection
from ecs_collide.queries.results import BoxHit
from ecs_collide.queries.wrapped import Query
from ecs_collide.step.editing import BodyEditor
from ecs_collide.step.shared import SharedParts

MoveResponse = Slide | Stop | Deflect

HIT_LIMIT = 32  # most solid bodies that one move resolves, as a box may bounce in a gap forever


class MoveHit(NamedTuple):
    """A body that a moved body met on its path.

    Attributes
    ----------
    entity : int
        The body that was met.
    time : float
        The fraction of the requested path, from 0 to 1, that the moved body had covered, or would
        have covered without its earlier hits.
    position : tuple of float
        The centre of the moved body at the hit.
    normal : tuple of float
        Unit vector out of the face that was met, along an axis except at a `Slope`.
    is_solid : bool
        Whether it blocked the path; False if it was crossed, as a sensor is.
    depth : float
        How far they overlapped at the start, in world units; 0 for an impact.
    """

    entity: int
    time: float
    position: Vector
    normal: Vector
    is_solid: bool
    depth: float


class Moved(NamedTuple):
    """The result of a move.

    Attributes
    ----------
    position : tuple of float
        The centre of the body after the move.
    displacement : tuple of float
        How far it moved, in world units; along its path if the world wraps.
    remaining : tuple of float
        The remaining displacement: zeros, unless the body was stopped.
    hits : tuple of MoveHit
        Its hits, in order.
    """

    position: Vector
    displacement: Vector
    remaining: Vector
    hits: tuple[MoveHit, ...]


class Moves:
    """Moves bodies, or predicts where they would arrive; `Space` documents both."""

    def __init__(
        self,
        shared: SharedParts,
        queried: QueriedBodies,
        contacts: ContactQueries,
        editor: BodyEditor,
    ) -> None:
        self._link = shared.link
        self._registry = shared.registry
        self._domain = shared.domain
        self._queried = queried
        self._queries = Queries(queried)
        self._contacts = contacts
        self._editor = editor

    def move(
        self, entity: int, displacement: VectorLike, response: MoveResponse, selection: Selection
    ) -> Moved:
        """Move a body now, among the bodies of a selection."""
        moved = self.check_move(entity, displacement, response, selection, "move")
        present = self._queried.present
        assert present is not None
        self._editor.move_to(entity, moved.position, *present.makers(present.row(entity)))
        self._queried.follow([entity])
        return moved

    def check_move(
        self,
        entity: int,
        displacement: VectorLike,
        response: MoveResponse,
        selection: Selection,
        caller: str = "check_move",
    ) -> Moved:
        """Return where a move would lead, and move nothing."""
        present = self._queried.update(caller)
        row = present.row(entity)
        if row < 0:
            raise self._queried.no_body(entity)
        wanted_displacement = self._checked(displacement)
        if not isinstance(response, MoveResponse):
            raise TypeError(
                f"response={shown(response)} must be Slide(), Stop() or Deflect(restitution): "
                "the response of the body that moves"
            )
        start, half = (
            tuple(present.table.centre[row].tolist()),
            tuple(present.table.half[row].tolist()),
        )
        path = _Path(start, wanted_displacement, response, self._domain)
        exclude, filter, solid = selection
        excluded = {entity, *present.attached_with(row)}
        if exclude is not None:
            excluded |= {exclude} if isinstance(exclude, int) else set(exclude)
        self._walk(entity, path, half, (excluded, filter, solid))
        gone = tuple(now - then for now, then in zip(path.centre, start, strict=True))
        hits = tuple(hit._replace(position=self._place(hit.position)) for hit in path.hits)
        return Moved(self._place(path.centre), gone, path.remaining, hits)

    def _checked(self, displacement: VectorLike) -> list[float]:
        """Return a displacement as floats; vectors of plain floats are returned unchanged."""
        dim = len(self._registry.up)
        if (
            type(displacement) is tuple
            and len(displacement) == dim
            and all(type(part) is float and abs(part) <= LARGEST for part in displacement)
        ):
            return list(displacement)
        vector = _checks.vectors("displacement", displacement)
        if vector.shape != (dim,):
            raise ValueError(f"displacement={shown(displacement)} must be {dim} numbers")
        parts: list[float] = vector.tolist()
        return parts

    def _place(self, position: Vector) -> Vector:
        """Return a position inside the world."""
        return tuple(self._domain.into_world(np.array(position)).tolist())

    def _walk(self, entity: int, path: "_Path", half: Vector, selection: Selection) -> None:
        """Follow the path from one solid body to the next."""
        crossed: set[int] = set()
        while path.goes_on and len(path.hits) - len(crossed) < HIT_LIMIT:
            wanted_displacement = path.wanted_displacement
            query = QueryKind.CAST, (path.centre, half, wanted_displacement), 0, 1.0
            hits = self._queries.first(BoxHit, query, selection)
            landings = self._landings(hits, query, selection)
            for hit in (landings.get(hit.id, hit) for hit in hits):
                if not self._contacts.may_meet(entity, hit.id):
                    continue
                is_solid = self._is_solid(entity, hit, landings)
                closes = (
                    sum(n * w for n, w in zip(hit.normal, wanted_displacement, strict=True)) < 0.0
                )
                if is_solid and closes and not self._finds_way_out(path, half, hit):
                    path.resolve(hit)
                    break
                if not is_solid and hit.id not in crossed:
                    crossed.add(hit.id)
                    path.cross(hit)
            else:
                path.finish()
        if path.goes_on:
            path.remaining = path.wanted_displacement

    def _finds_way_out(self, path: "_Path", half: Vector, hit: BoxHit) -> bool:
        """Return whether the path leaves a body that it is inside of by one of its shallowest sides.

        As in a step, boxes with the same centre are equally deep on opposite sides.
        """
        present = self._queried.present
        if hit.depth == 0.0 or present is None:
            return False
        row, depths = present.row(hit.id), []  # of each side, with the path's part towards it
        for axis, part in enumerate(path.wanted_displacement):
            apart = path.centre[axis] - float(present.table.centre[row, axis])
            width = float(self._domain.widths[axis])
            apart -= width * round(apart / width) if width else 0.0
            reach = half[axis] + float(present.table.half[row, axis])
            depths += [(reach - apart, part), (reach + apart, -part)]
        least = min(depth for depth, _ in depths)
        return any(depth == least and gain > 0.0 for depth, gain in depths)

    def _landings(
        self, hits: list[BoxHit], query: Query, selection: Selection
    ) -> dict[int, BoxHit]:
        """Return the hits on solid sides of one-way bodies, by entity, over corners too."""
        one_ways = self._link.world.having(OneWay)
        if not any(hit.id in one_ways for hit in hits):
            return {}
        solid = selection[0], one_ways.__contains__, True
        return {hit.id: hit for hit in self._queries.first(BoxHit, query, solid)}

    def _is_solid(self, entity: int, hit: BoxHit, landings: dict[int, BoxHit]) -> bool:
        """Return whether a body that is hit blocks the moving one."""
        world = self._link.world
        one, other = (
            {kind: world.component(body, kind) for kind in (Sensor, OneWay, Separate)}
            for body in (entity, hit.id)
        )
        if one[Sensor] is not None or other[Sensor] is not None:
            return False
        if one[Separate] is not None and other[Separate] is not None:
            return False
        if other[OneWay] is not None and hit.id not in landings:
            return False
        own = one[OneWay]
        if own is None or not self._contacts.is_dynamic(hit.id):  # it counts for who comes
            return True
        out = solid_side(own, self._registry.up)
        return hit.depth == 0.0 and sum(a * b for a, b in zip(out, hit.normal, strict=True)) < 0.0


class _Path:
    """The path of one move, as far as it is computed."""

    def __init__(
        self,
        centre: Vector,
        wanted_displacement: list[float],
        response: MoveResponse,
        domain: PeriodicDomain,
    ) -> None:
        self.centre = centre  # may be beyond the edge of a world that wraps
        self.goes_on = any(wanted_displacement)
        self.remaining = (0.0,) * len(centre)  # the rest of the displacement
        self.hits: list[MoveHit] = []
        self._target = [at + part for at, part in zip(centre, wanted_displacement, strict=True)]
        self._response = response
        self._domain = domain
        self._time = 0.0  # fraction of the requested path

    @property
    def wanted_displacement(self) -> Vector:
        """The displacement to the target."""
        return tuple(to - at for to, at in zip(self._target, self.centre, strict=True))

    def cross(self, hit: BoxHit) -> None:
        """Record a body that is crossed."""
        self._note(hit, hit.centre, False)

    def resolve(self, hit: BoxHit) -> None:
        """Move up to a solid body, and resolve the impact."""
        axes = [k for k, part in enumerate(hit.normal) if part]  # two at a slope
        at = [c + hit.time * w for c, w in zip(self.centre, self.wanted_displacement, strict=True)]
        for axis in axes if hit.depth == 0.0 else ():
            at[axis] = self._beside(hit.centre[axis], at[axis], axis)
        self._note(hit, tuple(at), True)
        self._time += (1.0 - self._time) * hit.time
        self.centre = tuple(at)
        if isinstance(self._response, Stop):
            self.remaining, self.goes_on = self.wanted_displacement, False
            return
        restitution = self._response.restitution if isinstance(self._response, Deflect) else 0.0
        rest = [self._target[k] - at[k] for k in axes]
        if len(axes) == 1:
            self._target[axes[0]] = at[axes[0]] - restitution * rest[0]
        else:
            into = sum(part * hit.normal[k] for part, k in zip(rest, axes, strict=True))
            for part, k in zip(rest, axes, strict=True):
                self._target[k] = at[k] + (part - (1.0 + restitution) * into * hit.normal[k])
        self.goes_on = self._target != list(self.centre)

    def _beside(self, face: float, at: float, axis: int) -> float:
        """Return the centre flush against a face, at the image nearest to the path."""
        width = float(self._domain.widths[axis])
        return face + width * round((at - face) / width) if width else face

    def finish(self) -> None:
        """Move to the target."""
        self.centre, self.goes_on = tuple(self._target), False

    def _note(self, hit: BoxHit, position: Vector, is_solid: bool) -> None:
        time = self._time + (1.0 - self._time) * hit.time
        self.hits.append(MoveHit(hit.id, time, position, hit.normal, is_solid, hit.depth))
