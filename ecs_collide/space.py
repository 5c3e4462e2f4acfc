"""The bodies of one world, what they do in a step, and questions about them."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ecs_collide import _backend, _numbers
from ecs_collide._roster import Report, Roster, World
from ecs_collide._step_events import StepEvents
from ecs_collide._subscribers import Subscribers, Unsubscribe, matches
from ecs_collide.components import Position, Velocity
from ecs_collide.events import (
    COLLISION,
    CONTACT_BEGAN,
    CONTACT_ENDED,
    Collision,
    Contact,
    ContactBegan,
    ContactEnded,
    ContactKind,
    EventSequence,
    SweepKind,
    Vector,
)
from ecs_collide.impacts import Impact
from ecs_collide.responses import DEFAULT

Respond = Callable[[Impact], object]
_Component = TypeVar("_Component")

# What has been done of the step under way.
_IDLE = 0
_BOUNDED = 1
_QUEUED = 2
_ANSWERING = 3


@dataclass(frozen=True, slots=True)
class Stats:
    """What the last step did, in numbers.

    Attributes
    ----------
    step : steps done
    bodies, movers, static : how many there are; movers have Velocity or Growth
    reinsertions : movers whose path left their fat bounds
    pairs : candidate pairs from the tree
    sweeps : swept tests
    impacts : collisions reported
    answers : impacts answered
    joins : inelastic answers that made bodies move as one
    crushed, forced : answers of these kinds
    pair_limit_hits : pairs that came to the pair limit
    answer_limit_hits : 1 if the step came to the answer limit
    depth : of the tree of moving bodies
    """

    step: int = 0
    bodies: int = 0
    movers: int = 0
    static: int = 0
    reinsertions: int = 0
    pairs: int = 0
    sweeps: int = 0
    impacts: int = 0
    answers: int = 0
    joins: int = 0
    crushed: int = 0
    forced: int = 0
    pair_limit_hits: int = 0
    answer_limit_hits: int = 0
    depth: int = 0


@dataclass(frozen=True, slots=True)
class Hit:
    """Where a ray meets a body first.

    Attributes
    ----------
    entity : int
    time : float
        Fraction of the ray's way, from 0 to 1.
    point : tuple of float
        Where, in world units.
    normal : tuple of float
        Of the face that is met; zeros if the ray begins inside the body.
    """

    entity: int
    time: float
    point: Vector
    normal: Vector


class Space:
    """All bodies of one world: entities with `Position` and `Extents`.

    The four systems drive it; `ecs_collide.install` makes and connects all
    five.  Between steps it answers what happened (`collisions`, `contacts`)
    and what is where (`query`, `cast_ray`), as of the end of the last step.

    Parameters
    ----------
    dim : int
        2 or 3.
    rest_speed : float
        Bounces slower than this, in world units per second, become slides.
        0 is off; games with gravity g and steps of dt want 2 * g * dt.
    pair_limit : int
        After so many answers within one step a pair no longer bounces.
    answer_limit : int, optional
        After so many answers within one step nothing bounces any more, and
        what meets moves as one to the step's end.  By default 64 and 16 more
        for each body that moves.
    margin : float, optional
        How far the bounds in the tree reach beyond a body's path, in world
        units; by default a tenth of the body's longest side.
    lookahead : float
        How many steps ahead, about, the bounds reach along the motion.
        Margin and lookahead change what a step costs, never what it does.
    """

    def __init__(
        self,
        dim: int = 2,
        rest_speed: float = 0.0,
        pair_limit: int = 64,
        answer_limit: int | None = None,
        *,
        margin: float | None = None,
        lookahead: float = 2.0,
    ) -> None:
        if dim not in (2, 3):
            raise ValueError(f"Space(dim={dim!r}) must be 2 or 3")
        _require_number("rest_speed", rest_speed)
        _require_number("lookahead", lookahead)
        if margin is not None:
            _require_number("margin", margin)
        _require_count("pair_limit", pair_limit)
        if answer_limit is not None:
            _require_count("answer_limit", answer_limit)
        self.dim = int(dim)
        self.rest_speed = float(rest_speed)
        self.pair_limit = pair_limit
        self.answer_limit = answer_limit
        self.reports: list[Report] = []
        self.stats = Stats()
        self._timeline = _backend.kernels.timeline.Timeline(self.dim)
        self._timeline.margin = -1.0 if margin is None else float(margin)
        self._timeline.lookahead = float(lookahead)
        self._roster = Roster(self.dim, self._timeline)
        self._events = StepEvents(self.dim)
        self._subscribers = Subscribers()
        self._responders: dict[type, Respond] = {}
        self._world: World | None = None
        self._phase = _IDLE
        self._busy = False
        self._dt = 0.0
        self._step = 0
        self._impact: Impact | None = None
        self._settling = False
        self._errors: list[BaseException] = []

    def __repr__(self) -> str:
        return f"<Space dim={self.dim}, {len(self)} bodies, step {self._step}>"

    # -- the world --

    @property
    def world(self) -> World:
        """The world this space belongs to.

        Raises
        ------
        RuntimeError
            It does not belong to one yet.
        """
        if self._world is None:
            raise RuntimeError(
                "this Space belongs to no world yet: call ecs_collide.install(space), "
                "or make the four systems with it, where the world is current"
            )
        return self._world

    def attach(self, world: World) -> None:
        """Belong to a world from now on; once and for all.

        Raises
        ------
        RuntimeError
            The space belongs to another world.
        """
        if self._world is None:
            self._world = world
        elif self._world != world:
            raise RuntimeError(f"this Space belongs to {self._world}, not to {world}")

    # -- the four stages of a step --

    def update_bounds(self, dt: float) -> None:
        """Begin a step of `dt` seconds: read the components and find the candidate pairs.

        Raises
        ------
        RuntimeError
            A step is under way in a handler, or another world is current.
        TypeError, ValueError
            `dt` is negative or no finite number, or a component holds
            something that is no number.  Nothing has changed then.
        """
        world = self.world
        if self._busy:
            raise RuntimeError(
                "a step was begun inside a handler or response of the same space: "
                "let the step end first"
            )
        world.require_current()
        dt = _checked_dt(dt)
        roster, timeline = self._roster, self._timeline
        timeline.log.clear()
        roster.compare(world)
        reports = roster.read(self._step)
        self.reports.extend(reports)
        self._dt = dt
        self._impact = None
        self._settling = False
        self._errors = []
        timeline.rest_speed = self.rest_speed
        timeline.pair_limit = self.pair_limit
        timeline.answer_limit = (
            64 + 16 * len(roster.moving) if self.answer_limit is None else self.answer_limit
        )
        timeline.begin()
        timeline.bodies.begin_step(memoryview(roster.moving), dt)
        timeline.place_still(memoryview(roster.touched_still))
        timeline.place_moving(memoryview(roster.moving))
        timeline.find_pairs(memoryview(roster.active))
        self._phase = _BOUNDED
        _warn(reports)

    def queue_impacts(self, dt: float | None = None) -> None:
        """Sweep the candidate pairs and queue the first impact of each."""
        self._require_phase("NarrowphaseSystem", "BroadphaseSystem", _BOUNDED, _BOUNDED, dt)
        self._timeline.queue_impacts()
        self._phase = _QUEUED

    def answer_impacts(self, dt: float | None = None, respond: Respond | None = None) -> None:
        """Answer all impacts of the step in time order, each through `respond` if it is given."""
        self._require_phase("ResponseSystem", "NarrowphaseSystem", _QUEUED, _ANSWERING, dt)
        self._phase = _ANSWERING
        self._settling = True
        self._conclude(default=False)
        self._timeline.hand_over = respond is not None
        self._busy = True
        try:
            while self._timeline.run(True) >= 0:
                impact = self._take_impact()
                if respond is None or self._call(respond, impact) is DEFAULT:
                    default = self._ask(impact)
                else:
                    default = False
                self._conclude(default)
        finally:
            self._busy = False

    def next_impact(self) -> Impact | None:
        """Return the next impact of the step that wants an answer, or None.

        For a game's own response system, between `NarrowphaseSystem` and
        `MotionSystem`: the bodies are where they meet; set their velocities,
        or call `Impact.answer`.  Taking the next impact ends the one before:
        a pair that is still closing then is slid along its surface.
        """
        self._require_phase("next_impact()", "NarrowphaseSystem", _QUEUED, _ANSWERING, None)
        self._phase = _ANSWERING
        self._settling = True
        self._conclude(default=False)
        self._timeline.hand_over = True
        if self._timeline.run(True) < 0:
            return None
        return self._take_impact()

    def finish_step(self, dt: float | None = None) -> None:
        """Move all bodies to the end of the step, write the components, deliver the events.

        Raises
        ------
        Exception
            Whatever a handler or a response raised, once everything is done;
            several together as an ExceptionGroup.
        """
        self._require_phase("MotionSystem", "BroadphaseSystem", _BOUNDED, _ANSWERING, dt)
        timeline, roster = self._timeline, self._roster
        self._conclude(default=False)
        timeline.run(False)
        timeline.finish(memoryview(roster.moving), self._settling)
        roster.write()
        self._events = StepEvents(self.dim, timeline.log)
        self._step += 1
        self._count()
        self._phase = _IDLE
        self._busy = True
        try:
            self._errors += self._subscribers.deliver(
                self.world,
                [
                    (COLLISION, self.collisions),
                    *self._events.contact_runs(),
                ],
            )
        finally:
            self._busy = False
        errors, self._errors = self._errors, []
        if len(errors) == 1:
            raise errors[0]
        if errors:
            raise BaseExceptionGroup(f"{len(errors)} handlers failed in one step", errors)

    def _require_phase(
        self, who: str, before: str, least: int, most: int, dt: float | None
    ) -> None:
        if not least <= self._phase <= most or self._busy:
            raise RuntimeError(
                f"{who} was run out of order: it needs {before} before it in the same step"
            )
        if dt is not None and dt != self._dt:
            raise ValueError(
                f"{who} got dt={dt!r} where BroadphaseSystem got {self._dt!r}: "
                "all four systems of a step must see the same dt"
            )

    def _count(self) -> None:
        t, r = self._timeline, self._roster
        self.stats = Stats(
            step=self._step,
            bodies=len(r.rows),
            movers=len(r.moving),
            static=len(r.rows) - len(r.moving),
            reinsertions=t.n_reinsertions,
            pairs=t.pairs.n,
            sweeps=t.n_sweeps,
            impacts=t.log.n_collisions,
            answers=t.n_answers,
            joins=t.responder.n_joins,
            crushed=t.n_crushed,
            forced=t.n_forced,
            pair_limit_hits=t.n_pair_limit,
            answer_limit_hits=t.n_answer_limit,
            depth=t.moving.depth,
        )

    # -- impacts that Python answers --

    def _take_impact(self) -> Impact:
        """Make the object for the impact that the timeline has handed over."""
        log, event = self._timeline.log, self._timeline.event
        normal = [0.0] * self.dim
        normal[log.codes[event, 2]] = float(log.codes[event, 3])
        first, second = log.bodies[event, 0], log.bodies[event, 1]
        for entity in (first, second):
            self._roster.write_one(self._roster.row_of[entity])
        self._impact = Impact(
            self,
            log.time[event],
            log.exit[event],
            first,
            second,
            tuple(normal),
            SweepKind(log.codes[event, 0]),
            log.speed[event],
        )
        return self._impact

    def _call(self, respond: Respond, impact: Impact) -> object:
        """Call a game's own response; if it fails, the built-in answer is given."""
        try:
            return respond(impact)
        except Exception as error:
            self._errors.append(error)
            return DEFAULT

    def _ask(self, impact: Impact) -> bool:
        """Let the game's own responses answer; tell whether the built-in one is wanted."""
        functions: dict[Respond, None] = {}
        for entity in (impact.first, impact.second):
            for kind, function in self._responders.items():
                if self._roster.holder(kind, self._roster.row_of[entity]) is not None:
                    functions[function] = None
        default = True
        for function in functions:
            if impact.is_over or not all(map(self.world.exists, (impact.first, impact.second))):
                break
            default = self._call(function, impact) is DEFAULT and default
        return default

    def _conclude(self, default: bool) -> None:
        """Take over what was done about the impact that is open, if one is."""
        impact, self._impact = self._impact, None
        if impact is None or impact.is_over:
            return
        impact.is_over = True
        for entity in (impact.first, impact.second):
            row = self._roster.row_of[entity]
            if self.world.exists(entity):
                self._roster.read_one(row)
            else:
                self._timeline.take_out(row)
        self._timeline.conclude(default)

    def answer_pending(self, impact: Impact) -> None:
        """Give the built-in answer to the impact that is open."""
        if impact is not self._impact:
            raise RuntimeError("only the impact taken last can be answered")
        self._conclude(default=True)
        for entity in (impact.first, impact.second):
            if self.world.exists(entity):
                self._roster.write_one(self._roster.row_of[entity])

    def position_of(self, entity: int) -> Vector:
        """Return where a body is at the time the step has reached."""
        row = self._roster.row_of[entity]
        return tuple(self._timeline.centre_now(row, k) for k in range(self.dim))

    def velocity_of(self, entity: int) -> Vector:
        """Return the velocity that a body's component says; zeros where it has none."""
        velocity = self.world.component(entity, Velocity)
        if velocity is None:
            return (0.0,) * self.dim
        return (velocity.x, velocity.y, velocity.z)[: self.dim]

    def give_velocity(self, entity: int, velocity: Sequence[float]) -> None:
        """Write a body's velocity into its component."""
        component = self.world.component(entity, Velocity)
        if component is None:
            raise ValueError(f"entity {entity} has no Velocity to set")
        numbers = _numbers.vectors("velocity", velocity)
        if numbers.shape != (self.dim,):
            raise ValueError(f"velocity={velocity!r} must be {self.dim} numbers")
        component.set(*numbers.tolist())

    def respond_with(self, component: type, respond: Respond) -> None:
        """Let a function answer the impacts of all bodies that have a component.

        Parameters
        ----------
        component : type
            Makes its bodies yield, as `Slide` does.
        respond : callable
            Called in time order with the `Impact`; may set velocities, delete
            either entity, or return `DEFAULT` to get the built-in answer.  Of
            a pair whose bodies have different functions both are called.
        """
        if not callable(respond):
            raise TypeError(f"respond={respond!r} must be a function that takes an Impact")
        self._responders[component] = respond
        self._roster.watch(component)

    # -- what happened --

    @property
    def collisions(self) -> EventSequence[Collision]:
        """The collisions of the last step in time order, made when looked at."""
        return self._events.collisions

    @property
    def collision_array(self) -> NDArray[np.void]:
        """The same as a numpy structured array, read-only; see `collision_dtype`."""
        return self._events.collision_array

    @property
    def contacts_began(self) -> EventSequence[ContactBegan]:
        """The contacts that began in the last step."""
        return self._events.contacts_began

    @property
    def contacts_ended(self) -> EventSequence[ContactEnded]:
        """The contacts that ended in the last step."""
        return self._events.contacts_ended

    @property
    def contact_array(self) -> NDArray[np.void]:
        """Both as one numpy structured array in time order, read-only; see `contact_dtype`."""
        return self._events.contact_array

    def contacts(self, entity: int | None = None) -> list[Contact]:
        """Return the contacts that there are, of one body or of all, sorted by ids.

        Raises
        ------
        KeyError
            The entity is no body.
        """
        rows = np.asarray(self._timeline.contact_columns())[: self._timeline.n_contacts]
        if entity is not None:
            row = self._row(entity)
            rows = rows[(rows[:, 0] == row) | (rows[:, 1] == row)]
        ids = self._roster.columns.ids
        contacts = []
        for first, second, crossing, axis, sign in rows.tolist():
            normal = [0.0] * self.dim
            normal[axis] = float(sign)
            contacts.append(
                Contact(int(ids[first]), int(ids[second]), tuple(normal), ContactKind(crossing))
            )
        return sorted(contacts, key=lambda contact: (contact.first, contact.second))

    def collisions_between(self, first_kind: type, second_kind: type) -> list[Collision]:
        """Return the collisions between bodies with the one component and the other."""
        world = self.world
        return [e for e in self.collisions if matches(world, e, first_kind, second_kind)]

    def on_collision(
        self,
        function: Callable[[Collision], object],
        first_kind: type | None = None,
        second_kind: type | None = None,
    ) -> Unsubscribe:
        """Call a function for each collision, after all positions are final.

        Parameters
        ----------
        function : callable
            Takes the event.  It is held strongly.
        first_kind, second_kind : type, optional
            Only for collisions between bodies with these components.

        Returns
        -------
        callable
            Call it to unsubscribe.
        """
        return self._subscribers.add(COLLISION, function, first_kind, second_kind)

    def on_contact_began(
        self,
        function: Callable[[ContactBegan], object],
        first_kind: type | None = None,
        second_kind: type | None = None,
    ) -> Unsubscribe:
        """Call a function for each contact that begins; as `on_collision`."""
        return self._subscribers.add(CONTACT_BEGAN, function, first_kind, second_kind)

    def on_contact_ended(
        self,
        function: Callable[[ContactEnded], object],
        first_kind: type | None = None,
        second_kind: type | None = None,
    ) -> Unsubscribe:
        """Call a function for each contact that ends; as `on_collision`."""
        return self._subscribers.add(CONTACT_ENDED, function, first_kind, second_kind)

    # -- what is where --

    @property
    def entities(self) -> list[int]:
        """The bodies, sorted by id."""
        entities: list[int] = self._roster.entities.tolist()
        return entities

    def __len__(self) -> int:
        return len(self._roster.rows)

    def __contains__(self, entity: object) -> bool:
        return entity in self._roster.row_of

    def _row(self, entity: int) -> int:
        row = self._roster.row_of.get(entity)
        if row is None:
            raise KeyError(
                f"entity {entity!r} is no body of this space as of its last step: "
                "a body has Position and Extents"
            )
        return row

    def _rows(self, entities: ArrayLike | None) -> NDArray[np.int64]:
        if entities is None:
            return self._roster.rows
        return np.array([self._row(e) for e in np.asarray(entities).tolist()], np.int64)

    def bounds(self, entity: int) -> tuple[Vector, Vector]:
        """Return the min and the max corner of a body."""
        row, columns = self._row(entity), self._roster.columns
        return tuple(columns.tight_min[row].tolist()), tuple(columns.tight_max[row].tolist())

    def positions(self, entities: ArrayLike | None = None) -> NDArray[np.float64]:
        """Return the centres of bodies, float64 (n, dim); None: all, in the order of `entities`."""
        return self._roster.columns.seen_centre[self._rows(entities)]

    def velocities(self, entities: ArrayLike | None = None) -> NDArray[np.float64]:
        """Return the velocities of bodies, float64 (n, dim); zeros for those without."""
        return self._roster.columns.seen_velocity[self._rows(entities)]

    def set_positions(self, entities: ArrayLike | None, positions: ArrayLike) -> None:
        """Write centres into the `Position` of bodies; the next step takes them as teleports."""
        self._write_vectors(Position, "positions", entities, positions)

    def set_velocities(self, entities: ArrayLike | None, velocities: ArrayLike) -> None:
        """Write velocities into the `Velocity` of bodies."""
        self._write_vectors(Velocity, "velocities", entities, velocities)

    def _write_vectors(
        self, kind: type, name: str, entities: ArrayLike | None, values: ArrayLike
    ) -> None:
        rows = self._rows(entities)
        array = _numbers.vectors(name, values) if np.size(values) else np.zeros((0, self.dim))
        if array.shape != (len(rows), self.dim):
            raise ValueError(
                f"{name} has shape {array.shape} and must be {(len(rows), self.dim)}: "
                "a row for each entity"
            )
        ids = self._roster.columns.ids
        for row, value in zip(rows.tolist(), array.tolist(), strict=True):
            component: Any = self._roster.holder(kind, row)
            if component is None:
                raise ValueError(f"entity {ids[row]} has no {kind.__name__} to set")
            component.set(*value)

    def teleport(self, entity: int, position: Sequence[float]) -> None:
        """Put a body somewhere else: no sweep between, and its contacts end and begin anew.

        The same as setting its `Position`, with a check.
        """
        self.set_positions([entity], [position])

    def query(self, min: Sequence[float], max: Sequence[float]) -> list[int]:
        """Return the bodies whose boxes share a point with a region, sorted by id (closed)."""
        corners = _numbers.same_vectors(min=min, max=max)
        if corners.shape[1] != self.dim:
            raise ValueError(f"min and max must have {self.dim} axes in this space")
        if (corners[0] > corners[1]).any():
            raise ValueError(f"min={min!r} must not be beyond max={max!r}")
        low, high = memoryview(corners[:1]), memoryview(corners[1:])
        v = self._roster.views
        found: list[int] = []
        for tree in (self._timeline.still, self._timeline.moving):
            n = tree.overlapping(low, high, 0, v.tight_min, v.tight_max)
            found.extend(tree.found[:n])
        ids = v.ids
        return sorted([ids[row] for row in found])

    def query_point(self, point: Sequence[float]) -> list[int]:
        """Return the bodies whose boxes hold a point, sorted by id (closed)."""
        return self.query(point, point)

    def cast_ray(self, origin: Sequence[float], direction: Sequence[float]) -> Hit | None:
        """Return where a ray from `origin` to `origin + direction` meets a body first.

        Of several met at once the lowest entity id is returned; None if there is none.
        """
        ray = _numbers.same_vectors(origin=origin, direction=direction)
        if ray.shape[1] != self.dim:
            raise ValueError(f"origin and direction must have {self.dim} axes in this space")
        v = self._roster.views
        best: tuple[float, int, list[float]] | None = None
        for tree in (self._timeline.still, self._timeline.moving):
            hit = np.zeros(1 + 2 * self.dim)
            row = tree.ray(
                memoryview(ray[0]), memoryview(ray[1]), v.tight_min, v.tight_max, v.ids,
                memoryview(hit),
            )  # fmt: skip
            if row >= 0:
                candidate = (float(hit[0]), int(v.ids[row]), hit[1:].tolist())
                best = candidate if best is None else min(best, candidate)
        if best is None:
            return None
        time, entity, rest = best
        return Hit(entity, time, tuple(rest[: self.dim]), tuple(rest[self.dim :]))

    # -- invariants --

    def check(self) -> None:
        """Verify what must always hold of trees, rows and contacts.

        Raises
        ------
        AssertionError
            Naming what does not hold.
        """
        roster, timeline = self._roster, self._timeline
        c = roster.columns
        timeline.still.check()
        timeline.moving.check()
        placed = roster.rows[c.quarantined[roster.rows] == 0]
        assert timeline.still.n_items + timeline.moving.n_items == len(placed), "trees lack bodies"
        low, high = np.zeros((c.capacity, self.dim)), np.zeros((c.capacity, self.dim))
        for row in placed.tolist():
            tree = timeline.moving if c.moves[row] else timeline.still
            assert tree.bounds_into(row, memoryview(low), memoryview(high), row), "not in its tree"
        assert (low[placed] <= c.tight_min[placed]).all(), "a body is outside its bounds"
        assert (high[placed] >= c.tight_max[placed]).all(), "a body is outside its bounds"
        for contact in self.contacts():
            assert contact.first in self, f"contact of {contact.first}, which is no body"
            assert contact.second in self, f"contact of {contact.second}, which is no body"


def _warn(reports: Iterable[Report]) -> None:
    for report in reports:
        warnings.warn(report.message, RuntimeWarning, stacklevel=4)


def _checked_dt(dt: float) -> float:
    """Return the length of a step as a float, or say what is wrong with it."""
    try:
        seconds = float(dt)
    except (TypeError, ValueError):
        raise ValueError(f"dt={dt!r} must be a number of seconds, 0 or more") from None
    if not 0.0 <= seconds < math.inf:
        raise ValueError(f"dt={dt!r} must be finite and 0 or more, in seconds")
    return seconds


def _require_number(name: str, value: float) -> None:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not value >= 0.0:
        raise ValueError(f"Space({name}={value!r}) must be a number, 0 or more")


def _require_count(name: str, value: int) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise ValueError(f"Space({name}={value!r}) must be a whole number, 0 or more")
