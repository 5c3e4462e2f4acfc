"""The contents of a space as arrays, for overlays and tools.

Reading them changes nothing and costs a step nothing.  They are as of the end of the last step.
"""

from collections.abc import Sequence
from enum import IntFlag
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ecs_collide._kernel.arrays import take_rows
from ecs_collide._kernel.constants import Exclusion, SleepState, Trait
from ecs_collide.components.slope import Slope
from ecs_collide.events import ContactKind, PrintsItsName, Vector
from ecs_collide.queries.queried_bodies import QueriedBodies, refuse_within_step
from ecs_collide.queries.results import Branches, branches_of
from ecs_collide.step.events_of_step import kinds_shown
from ecs_collide.step.shared import SharedParts
from ecs_collide.sync.attached import boxes_of

Doubles = NDArray[np.float64]
Longs = NDArray[np.int64]


class BodyKind(PrintsItsName, IntFlag):
    """The kind of a body, as bits; `Space.body_kinds` returns it for many bodies.

    Attributes
    ----------
    STATIC : none of the following
    MOVES : it has `Velocity` or `Growth`, or the game drives it
    DYNAMIC : a response may move it
    SENSOR : other bodies pass through it
    ONE_WAY : it is solid on one side only
    ASLEEP : it moves, and sleeps until something happens to it
    QUARANTINED : it is skipped until the values of its components are valid
    DISABLED : it is skipped as long as it has `Disabled`
    """

    STATIC = 0
    MOVES = 1
    DYNAMIC = 2
    SENSOR = 4
    ONE_WAY = 8
    ASLEEP = 16
    QUARANTINED = 32
    DISABLED = 64

    @classmethod
    def _missing_(cls, value: object) -> object:
        """Accept the numpy integers that `Space.body_kinds` returns."""
        return super()._missing_(int(value) if isinstance(value, np.integer) else value)


class ContactPoints(NamedTuple):
    """The places at which bodies touch.

    Attributes
    ----------
    pairs : int64 (n, 2)
        The entities, the lower id first; sorted.
    points : float64 (n, dim)
        The middle of the region that the two boxes share, or of the gap between them; inside the
        world if it wraps.
    normals : float64 (n, dim)
        Unit vectors from the second box towards the first.
    kinds : int64 (n,)
        Each a `ContactKind`.
    """

    pairs: Longs
    points: Doubles
    normals: Doubles
    kinds: Longs


class ImpactBoxes(NamedTuple):
    """The two boxes of each collision of a step, at the time of the impact.

    Attributes
    ----------
    pairs : int64 (n, 2)
        The entities, in the order of `Space.collisions`.
    times : float64 (n,)
        Fractions of the step.
    mins, maxs : float64 (n, 2, dim)
        The box of the first and of the second at that time.
    normals : float64 (n, dim)
        Unit vectors from the second box towards the first.
    """

    pairs: Longs
    times: Doubles
    mins: Doubles
    maxs: Doubles
    normals: Doubles


class SlopeOutlines(NamedTuple):
    """The solid parts of slopes, to draw them.

    Attributes
    ----------
    places : int64 (n,)
        The index of each slope in the list of entities.
    corners : float64 (n, 4, 2)
        The corners of each solid part on the first two axes, in order around it.  The first two
        are on its solid side; where the line begins at that side, two corners coincide.
    """

    places: Longs
    corners: Doubles


class Inspection:
    """Returns bodies, trees, pairs and contacts as arrays.

    It changes nothing, and all arrays are copies.
    """

    def __init__(self, shared: SharedParts, queried: QueriedBodies) -> None:
        self._state = shared.state
        self._link = shared.link
        self._registry = shared.registry
        self._lookup = shared.lookup
        self._lock = shared.lock
        self._domain = shared.domain
        self._queried = queried

    def bounds(self, entity: int) -> tuple[Vector, Vector]:
        """Return the min and the max corner of a body, by its components."""
        moved = None if self._state.is_stepping else self._lookup.moved_body(entity)
        if moved is None:
            return self.last_bounds(entity)
        low, high = moved.corners
        return tuple(low), tuple(high)

    def position(self, entity: int) -> Vector:
        """Return the centre of a body, by its components."""
        moved = self._lookup.moved_body(entity)
        return self.last_position(entity) if moved is None else tuple(moved.centre)

    def last_bounds(self, entity: int) -> tuple[Vector, Vector]:
        """Return the corners of a body as the last step, or `update`, left them."""
        present, row = self._queried.present, self._lookup.row(entity)
        if present is not None and (here := present.row(entity)) >= 0:
            return tuple(present.table.tight_min[here].tolist()), tuple(
                present.table.tight_max[here].tolist()
            )
        if row < 0:
            low, high = self._lookup.new_body(entity).corners
            return tuple(low), tuple(high)
        table = self._registry.table
        return tuple(table.tight_min[row].tolist()), tuple(table.tight_max[row].tolist())

    def last_position(self, entity: int) -> Vector:
        """Return the centre of a body as the last step, or `update`, left it."""
        present, row = self._queried.present, self._lookup.row(entity)
        if present is not None and (here := present.row(entity)) >= 0:
            return tuple(present.table.centre[here].tolist())
        if row < 0:
            return tuple(self._lookup.new_body(entity).centre)
        centre: Vector = self._registry.table.bodies.seen_centre_of(row)
        return centre

    def boxes_of(self, owner: int) -> list[int]:
        """Return the boxes that are attached to a body, by rising id."""
        self._lookup.row(owner)  # raises if there is no such body
        return boxes_of({owner}, self._link.world)

    def positions(self, entities: ArrayLike | None = None) -> Doubles:
        """Return the centres of bodies, float64 (n, dim)."""
        centres = self._lookup.vectors_of_few(entities, False)
        if centres is None:
            centres = self._of_bodies(entities, "seen_centre", "centre")
        if (present := self._queried.present) is not None:
            places, rows = present.rows_of(self._ids(entities))
            centres[places] = present.table.centre[rows]
        return centres

    def _ids(self, entities: ArrayLike | None) -> Longs:
        """Return the entities as an array; None stands for all bodies of the last step."""
        return self._registry.entities if entities is None else np.asarray(entities)

    def velocities(self, entities: ArrayLike | None = None) -> Doubles:
        """Return the velocities of bodies by their components, float64 (n, dim)."""
        values = self.last_velocities(entities)
        world, registry = self._link.attached, self._registry
        if world is None or self._state.is_stepping or registry.sweeps:
            return values
        kind = registry.components.velocity.kind
        if registry.index.is_current(world):
            rows, _ = self._lookup.rows(entities)
            items: Sequence[Any] = registry.index.holders(kind)
        else:
            items = self._lookup.components(self._ids(entities).tolist(), kind)
            rows = np.arange(len(items))
            values[[item is None for item in items]] = 0.0
        registry.units.read_velocities(items, rows, values)
        return values

    def last_velocities(self, entities: ArrayLike | None = None) -> Doubles:
        """Return the velocities after the last step, float64 (n, dim); zeros without one."""
        velocities = self._lookup.vectors_of_few(entities, True)
        if velocities is None:
            velocities = self._of_bodies(entities, "seen_velocity", "velocity")
        return velocities

    def _of_bodies(self, entities: ArrayLike | None, column: str, name: str) -> Doubles:
        """Return a column of the table for bodies; for new bodies, their attribute `name`."""
        rows, new = self._lookup.rows(entities)
        values: Doubles = take_rows(getattr(self._registry.table, column), rows)
        for place, entity in new:
            values[place] = getattr(self._lookup.new_body(entity), name)
        return values

    def body_kinds(self, entities: ArrayLike | None = None) -> NDArray[np.uint8]:
        """Return the kinds of bodies, uint8 (n,), as bits of `BodyKind`."""
        (rows, new), c = self._lookup.rows(entities), self._registry.table
        asleep = c.asleep[rows] == SleepState.ASLEEP
        kinds = np.zeros(len(rows), np.uint8)
        for kind, has in (
            (BodyKind.MOVES, (c.moves[rows] != 0) | asleep),
            (BodyKind.DYNAMIC, c.dynamic[rows] != 0),
            (BodyKind.SENSOR, c.sensor[rows] != 0),
            (BodyKind.ONE_WAY, c.traits[rows] & Trait.ONE_WAY != 0),
            (BodyKind.ASLEEP, asleep),
            (BodyKind.QUARANTINED, c.quarantined[rows] == Exclusion.INVALID),
            (BodyKind.DISABLED, c.quarantined[rows] == Exclusion.DISABLED),
        ):
            kinds |= has.astype(np.uint8) * np.uint8(kind)
        for place, entity in new:
            body = self._lookup.new_body(entity)
            kinds[place] = (
                BodyKind.MOVES * body.moves
                | BodyKind.DYNAMIC * body.dynamic
                | BodyKind.SENSOR * body.is_sensor
                | BodyKind.ONE_WAY * body.is_one_way
                | BodyKind.DISABLED * body.is_disabled
            )
        return kinds

    def interpolated(
        self, fraction: float, entities: ArrayLike | None = None
    ) -> NDArray[np.float64]:
        """Return the centres of bodies between the last two steps, for drawing."""
        if isinstance(fraction, bool) or not isinstance(fraction, (int, float, np.number)):
            raise ValueError(f"fraction={fraction!r} must be a number from 0 to 1")
        if not 0.0 <= fraction <= 1.0:
            raise ValueError(f"fraction={fraction!r} must be from 0 to 1")
        (rows, new), c = self._lookup.rows(entities), self._registry.table
        refuse_within_step("interpolated", self._state.is_stepping)
        now = take_rows(c.seen_centre, rows)
        if fraction < 1.0:
            before = take_rows(self._registry.start.centres(), rows)
            with np.errstate(invalid="ignore"):  # quarantined bodies
                displacements = now - before
                moves = take_rows(c.moves, rows)[:, None] != 0
                displacements = self._domain.whole_displacement(
                    displacements, take_rows(c.motion, rows) * moves
                )
                shown = before + displacements * fraction
            shown = self._domain.into_world(shown)
            now = np.where(np.isfinite(displacements) & (displacements != 0.0), shown, now)
        for place, entity in new:
            now[place] = self._lookup.new_body(entity).centre
        if (present := self._queried.present) is not None:
            places, here = present.rows_of(self._ids(entities))
            centres = present.table.centre[here]
            moved = (centres != c.seen_centre[rows[places]]).any(axis=1)
            now[places[moved]] = centres[moved]
        return now

    def boxes(self, entities: ArrayLike | None = None) -> tuple[Doubles, Doubles]:
        """Return the min and the max corners of bodies, two float64 (n, dim)."""
        (rows, new), c = self._lookup.rows(entities), self._registry.table
        mins, maxs = take_rows(c.tight_min, rows), take_rows(c.tight_max, rows)
        for place, entity in new:
            mins[place], maxs[place] = self._lookup.new_body(entity).corners
        if (present := self._queried.present) is not None:
            places, here = present.rows_of(self._ids(entities))
            mins[places], maxs[places] = (
                present.table.tight_min[here],
                present.table.tight_max[here],
            )
        return mins, maxs

    def slope_outlines(self, entities: ArrayLike | None = None) -> SlopeOutlines:
        """Return the solid parts of those bodies that are slopes, on the first two axes."""
        ids = self._ids(entities)
        slopes, row_of = self._queried.slopes
        having = () if self._link.attached is None else self._link.attached.having(Slope)
        shapes = {
            n: slopes.shape_of(row_of(id)) for n, id in enumerate(ids.tolist()) if id in having
        }
        places = np.array([n for n, shape in shapes.items() if shape], np.int64)
        lines = np.array([shape for shape in shapes.values() if shape]).reshape(-1, 6)
        return SlopeOutlines(places, _outlines(lines, *self.boxes(ids[places])))

    def fat_bounds(self, entities: ArrayLike | None = None) -> tuple[Doubles, Doubles]:
        """Return the fat bounds of bodies, two float64 (n, dim); NaN without fat bounds."""
        rows, new = self._lookup.rows(entities)
        rows = np.ascontiguousarray(rows)
        mins = np.full((len(rows), self._state.dim), np.nan)
        maxs = np.full((len(rows), self._state.dim), np.nan)
        for tree in self._state.trees:
            tree.fat_into(rows.data, mins.data, maxs.data)
        new_places = [place for place, _ in new]
        mins[new_places] = maxs[new_places] = np.nan
        return mins, maxs

    def swept_bounds(self, entities: ArrayLike | None = None) -> tuple[Doubles, Doubles]:
        """Return bounds around the paths of bodies in the last step, two float64 (n, dim)."""
        (rows, new), c = self._lookup.rows(entities), self._registry.table
        mins, maxs = take_rows(c.swept_min, rows), take_rows(c.swept_max, rows)
        out = c.quarantined[rows] != 0
        out[[place for place, _ in new]] = True
        mins[out] = maxs[out] = np.nan
        return mins, maxs

    def branches(self) -> Branches:
        """Return the bounds of all inner nodes of the two trees.  O(bodies)."""
        still, moving = self._state.trees
        parts = zip(branches_of(still, False), branches_of(moving, True), strict=True)
        return Branches(*(np.concatenate(columns) for columns in parts))

    def candidate_pairs(self) -> Longs:
        """Return the pairs that the last step swept, int64 (n, 2): ids, each row and all sorted."""
        self._lock.refuse_others()
        rows = np.empty((self._state.timeline.pairs.n, 2), np.int64)
        self._state.timeline.pairs.rows_into(rows.data)
        pairs = self._registry.table.ids[rows]
        first, second = pairs.T
        return pairs[np.lexsort((second, first))]

    def contact_points(self) -> ContactPoints:
        """Return all contacts as arrays, with their places; see `contacts`."""
        self._lock.refuse_others()
        kept, c = self._state.timeline.contacts, self._registry.table
        rows = np.asarray(kept.rows.arrays()[0])
        kinds = kinds_shown(rows)
        shown = kinds < len(ContactKind)
        rows, kinds = rows[shown], kinds[shown]
        pairs = c.ids[rows[:, :2]]
        order = np.lexsort((pairs.T[1], pairs.T[0]))
        first, second, *_ = rows[order].T
        offsets = np.zeros((len(shown), self._state.dim))  # to the second body's image
        normals = np.zeros_like(offsets)
        kept.offsets_into(offsets.data)
        kept.normals_into(normals.data)
        offsets = offsets[shown][order]
        low = np.maximum(c.tight_min[first], c.tight_min[second] + offsets)
        high = np.minimum(c.tight_max[first], c.tight_max[second] + offsets)
        points = self._domain.into_world(low / 2 + high / 2)
        return ContactPoints(pairs[order], points, normals[shown][order], kinds[order])

    def impact_boxes(self) -> ImpactBoxes:
        """Return the boxes of each collision of the last step, at the time of the impact."""
        self._lock.refuse_others()
        events, c = self._state.events.collision_array, self._registry.table
        pairs = np.stack([events["first"], events["second"]], axis=1)
        rows = self._registry.index.rows_of(pairs.ravel()).reshape(-1, 2)
        known = (rows >= 0).all(axis=1)
        events, pairs, rows = events[known], pairs[known], rows[known]
        centres = np.stack([events["position_first"], events["position_second"]], axis=1)
        left = (self._state.dt * (1.0 - events["time"]))[:, None, None]
        halves = np.maximum(c.seen_half[rows] - c.seen_growth[rows] * left, 0.0)
        return ImpactBoxes(
            pairs,
            events["time"].copy(),
            centres - halves,
            centres + halves,
            events["normal"].copy(),
        )


def _outlines(lines: Doubles, mins: Doubles, maxs: Doubles) -> Doubles:
    """Return the solid parts of boxes on the first two axes, float64 (n, 4, 2).

    `lines` has the six numbers of `Slopes.shape_of` for each box.
    """
    axis, forth, up_axis, out, low, high = lines.T.copy()
    run, up = axis.astype(np.int64), up_axis.astype(np.int64)
    from_front, from_above = run == 2, up == 2  # in 3D, along the rise or along the heights
    low[from_front] = high[from_front]
    low[from_above] = high[from_above] = 1.0
    run[from_front] = 1 - up[from_front]
    up[from_above] = 1 - run[from_above]
    each = np.arange(len(lines))
    along = np.stack([mins[each, run], maxs[each, run]])
    height = np.stack([mins[each, up], maxs[each, up]])
    start, end = np.where(forth > 0.0, along, along[::-1])
    base, top = np.where(out > 0.0, height, height[::-1])
    corners = np.empty((len(lines), 4, 2))
    corners[each, :, run] = np.stack([start, end, end, start], axis=1)
    rise = top - base
    corners[each, :, up] = np.stack([base, base, base + high * rise, base + low * rise], axis=1)
    return corners
