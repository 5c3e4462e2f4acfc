"""The bodies of one world, their steps, and queries about them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from functools import cached_property, partial
from operator import add
from types import FrameType
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ecs_collide._checks import (
    checked_count,
    checked_gravity,
    checked_number,
    checked_switch,
    up_against,
)
from ecs_collide._kernel import backend
from ecs_collide._kernel.constants import News
from ecs_collide.components.basics import Deflect, Slide, Stop
from ecs_collide.components.component_map import Components
from ecs_collide.components.slope import Slope
from ecs_collide.esper_world import World
from ecs_collide.events import (
    COLLISION,
    CONTACT,
    CONTACT_BEGAN,
    CONTACT_ENDED,
    Collision,
    Contact,
    ContactBegan,
    ContactEnded,
    EventSequence,
    Vector,
    VectorLike,
)
from ecs_collide.motion.wrapping import PeriodicDomain, Wrap
from ecs_collide.queries.boxes import BoxQueries
from ecs_collide.queries.circles import Shape
from ecs_collide.queries.contact_queries import ContactQueries, as_axis
from ecs_collide.queries.inspection import ContactPoints, ImpactBoxes, Inspection, SlopeOutlines
from ecs_collide.queries.moves import Moved, Moves
from ecs_collide.queries.occupancy import Cells
from ecs_collide.queries.queried_bodies import QueriedBodies, refuse_within_step
from ecs_collide.queries.queries import Exclude, Filter, Queries, checked_distance
from ecs_collide.queries.results import Branches, RayHits
from ecs_collide.queries.slope_lines import slope_ends
from ecs_collide.queries.visibility import visible_region
from ecs_collide.settings import Settings
from ecs_collide.step.editing import BodyEditor
from ecs_collide.step.handlers import Handler, Subscribers, collisions_between
from ecs_collide.step.lock import StepLock
from ecs_collide.step.lookup import BodyLookup, WorldLink
from ecs_collide.step.pair_filters import PairFilters
from ecs_collide.step.pipeline import Pipeline
from ecs_collide.step.registrations import (
    ABSENT,
    Subscription,
    Unsubscribe,
    require_component_type,
    subscribe,
)
from ecs_collide.step.responses import Offer, Respond, Responses
from ecs_collide.step.shared import SharedParts
from ecs_collide.step.shifting import Shifting
from ecs_collide.step.state import StepState
from ecs_collide.step.stats import Stats
from ecs_collide.step.step_time import StepTime
from ecs_collide.sync.presence import Presence
from ecs_collide.sync.quarantine import Report
from ecs_collide.sync.registry import BodyRegistry

if TYPE_CHECKING:
    from ecs_collide.diagnostics.explain import Explanation
    from ecs_collide.diagnostics.findings import Examined, Findings
    from ecs_collide.snapshot.own_types import Load, Save, Update
    from ecs_collide.snapshot.saved_state import SavedState
    from ecs_collide.snapshot.snapshots import Snapshots

_USUAL_RESPONSE = Slide()  # the default response of `move`


class Parts(NamedTuple):
    """The parts of a space that systems before the step, and records of it, use by name."""

    state: StepState
    registry: BodyRegistry
    queried: QueriedBodies
    contacts: ContactQueries
    inspection: Inspection
    snapshots: Callable[[], Snapshots]
    settings: Settings


class Space(BoxQueries[Filter]):
    """All bodies of one world: entities with `Position` and `Extents`.

    The four systems drive it; `ecs_collide.install` creates and connects the space and the
    systems.  Between steps the space has the events (`collisions`, `contacts`) and answers queries
    (`query`, `cast_ray`), as of the end of the last step.

    A method that takes an entity raises KeyError if that is not a body.  RuntimeError is raised
    within a step by what belongs between two steps, and while another world is current.

    Parameters
    ----------
    dim : int
        2 or 3.
    rest_speed : float
        Bounces slower than this, in world units per second, become slides.
        0 is off; games with gravity g and steps of dt want 2 * g * dt.
    pair_limit : int
        Largest number of resolutions of one pair within one step, 1 or more.  Then its bodies are
        held where they are to the end of the step, and move on with their velocities in the next
        one.  Of resolutions in one instant there may be 32 more, without restitution, if no static
        or kinematic body is in the way.  A body is also held after 8 * (`pair_limit` + its pairs)
        sweeps that changes of its velocity have caused.
    margin : float, optional
        How far the bounds in the tree reach beyond a body's path, in world
        units; by default the body's longest side.
    lookahead : float
        Number of steps, on average, by which the bounds reach ahead along the motion.
        Margin and lookahead change the cost of a step, never its result.
    components : Components, optional
        Which types of custom components to read and write instead
        of `Position`, `Extents`, `Velocity`, `Growth` and `Mass`.
    motion : str
        ``"velocity"``: the space moves the bodies by their `Velocity`, and a `Position` that the
        game sets is a teleport.  ``"swept"``: the game moves the bodies by setting `Position`;
        each step sweeps them from their last positions to the new ones and resolves their impacts.
        Bodies are then dynamic without a `Velocity` too.  If a body has one, impacts set it on the
        axes on which they change the motion.
    sleep : bool
        Whether bodies that have been at rest for some steps sleep.  They cost almost nothing until
        another body reaches them.  It never changes the result of a step; see `sleep`.
    gravity : sequence of float, optional
        The acceleration of falling bodies in world units per second squared, as (0, -900); see
        `gravity`.
    up : sequence of float, optional
        The direction up, a unit vector along an axis; by default opposite to `gravity` if that
        is along an axis, otherwise (0, 1).  Use (0, -1) if y grows downwards.  It is the default
        direction of `is_on`, `OneWay`, `Carry` and `Character`.
    wrap : sequence of float or None, optional
        The width of the world on each axis in world units, or None.  On an axis with a width the
        world extends from 0 to the width and wraps around.  A body that leaves it at one end
        enters at the other, and impacts and queries work across the edge.
    """

    def __init__(
        self,
        dim: int = 2,
        rest_speed: float = 0.0,
        pair_limit: int = 64,
        *,
        margin: float | None = None,
        lookahead: float = 12.0,
        components: Components | None = None,
        motion: str = "velocity",
        sleep: bool = True,
        wrap: Sequence[float | None] | None = None,
        up: VectorLike | None = None,
        gravity: VectorLike | None = None,
    ) -> None:
        settings = self._settings = Settings(
            dim=dim, rest_speed=rest_speed, pair_limit=pair_limit, margin=margin,
            lookahead=lookahead, components=components, motion=motion, sleep=sleep, wrap=wrap,
            up=up, gravity=gravity,
        )  # fmt: skip
        if any(settings.gravity) and settings.motion == "swept":
            raise ValueError(
                f"Space(gravity={gravity!r}) must be None with motion='swept': the game moves the "
                "bodies, so it must make them fall too"
            )
        self.step_time = StepTime()  # the time source of the systems; see `install`
        self._connect(settings)
        self.rest_speed = settings.rest_speed
        self.pair_limit = settings.pair_limit
        self.sleep = settings.sleep
        self._pipeline.set_gravity(settings.gravity)

    def _connect(self, settings: Settings) -> None:
        """Make the parts, each with the parts that it uses."""
        dim, components = settings.dim, settings.components
        sweeps = settings.motion == "swept"
        domain = PeriodicDomain(settings.wrap or (None,) * dim)
        apart = any(components.leans(dim)) or components.whole_sizes
        bodies = backend.kernels.bodies.Bodies(dim, apart)
        bodies.wrap(domain.widths.tolist())
        kernels = backend.kernels
        errors: list[Exception] = []  # of the step under way
        state: StepState = kernels.state.StepState(
            bodies, settings.margin, settings.lookahead, sweeps
        )
        self._state = state
        link = self._link = WorldLink()
        lock: StepLock = kernels.lock.StepLock()
        self._lock = lock
        registry: BodyRegistry = kernels.registry.BodyRegistry(
            dim, state.timeline, components, sweeps, domain
        )
        self._registry = registry
        registry.set_up(settings.up, settings.up_is_given)
        presence = Presence(registry, domain)
        lookup = BodyLookup(dim, link, registry, presence, lock)
        pair_filters = self._pair_filters = PairFilters(registry, state.timeline.broadphase, errors)
        shared = SharedParts(state, link, registry, presence, lookup, lock, domain)
        queried = self._queried = QueriedBodies(shared)
        responses = self._responses = Responses(state, link, registry, lookup, errors)
        self._subscribers = Subscribers(state, registry)
        self._editor = BodyEditor(state, registry, lookup, domain)
        self._shifting = Shifting(state, link, registry, domain)
        self._queries = Queries(queried)
        self._contacts = ContactQueries(shared, queried, pair_filters)
        self._inspection = Inspection(shared, queried)
        self._pipeline: Pipeline = kernels.pipeline.Pipeline(
            state, lock, link, registry, pair_filters, responses, self._subscribers,
            self._contacts.touching, errors,
        )  # fmt: skip
        self._moves = Moves(shared, queried, self._contacts, self._editor)
        self._shared = shared
        self._parts = Parts(
            state, registry, queried, self._contacts, self._inspection, lambda: self._snapshots,
            settings,
        )  # fmt: skip
        lock.repairs = (self._pipeline.undo_step,)

    @cached_property
    def _snapshots(self) -> Snapshots:
        """The part that saves and restores the space; imported when a game first uses it."""
        from ecs_collide.snapshot.snapshots import Snapshots

        snapshots = Snapshots(self._shared, self._pipeline, self._subscribers)
        self._lock.repairs = (snapshots.take_back, self._pipeline.undo_step)
        return snapshots

    def __repr__(self) -> str:
        return f"<Space dim={self.dim}, {len(self)} bodies, step {self._state.step}>"

    def __reduce__(self) -> str:
        raise TypeError(
            "a Space cannot be copied or pickled: space.save_state() and space.snapshot() save the "
            "world, and restore() takes both"
        )

    # -- settings given to the constructor --

    @property
    def dim(self) -> int:
        """The number of axes, 2 or 3."""
        return self._state.dim

    @property
    def motion(self) -> str:
        """How bodies move: by their "velocity", or "swept" to the positions that the game sets."""
        return "swept" if self._registry.sweeps else "velocity"

    @property
    def margin(self) -> float | None:
        """How far the bounds in the tree reach beyond a path; None for the body's longest side."""
        return self._settings.margin

    @property
    def lookahead(self) -> float:
        """The number of steps by which the bounds reach ahead along the motion, on average."""
        return self._settings.lookahead

    @property
    def up(self) -> Vector:
        """The direction up, a unit vector along an axis.

        It follows `gravity` unless the game gives it, here or to the constructor, and stays as it
        is while gravity is 0 or along no axis.  Set to None, it follows gravity again.  The next
        step turns the default normals of `OneWay`, `Carry` and `Slope` with it.

        Raises
        ------
        ValueError
            Set to anything but a unit vector along an axis, or None.
        RuntimeError
            Set within a step.
        """
        return self._registry.up

    @up.setter
    def up(self, value: VectorLike | None) -> None:
        if self.is_stepping:
            raise RuntimeError("Space.up was set within a step: set it between steps")
        if value is None:
            up = up_against(self.gravity, self.up)
        else:
            up = as_axis("Space.up", value, self.dim)
        self._registry.set_up(up, value is not None)

    @property
    def gravity(self) -> Vector:
        """The acceleration of falling bodies, in world units per second squared; zeros are off.

        It acts on the dynamic bodies: those with a `Velocity`, a response such as `Slide` and
        a finite mass.  It does not act on walls, lifts, bullets without a response, and sensors.
        `GravityScale` changes it for one body.  The path of a falling body is exactly
        v * t + g * t**2 / 2, for steps of any length.  Setting gravity wakes all bodies, and turns
        `up` unless the game has given it.

        Raises
        ------
        ValueError
            Set to anything but a finite vector, or in a space with ``motion="swept"``.
        RuntimeError
            Set within a step.
        """
        return self._state.gravity

    @gravity.setter
    def gravity(self, value: VectorLike | None) -> None:
        falls = checked_gravity(value, self.dim)
        if self.is_stepping:
            raise RuntimeError("Space.gravity was set within a step: set it between steps")
        if any(falls) and self.motion == "swept":
            raise ValueError(f"Space.gravity={value!r} must be None with motion='swept'")
        self._pipeline.set_gravity(falls)

    @property
    def wrap(self) -> Wrap | None:
        """The width of the world on each axis, None for an axis that does not wrap; or None."""
        return self._settings.wrap

    @property
    def components(self) -> Components:
        """Which types of components this space reads and writes."""
        return self._registry.components

    @property
    def world(self) -> World:
        """The world of this space; RuntimeError if it has not been attached to one yet."""
        return self._link.world

    def attach(self, world: World) -> None:
        """Attach the space to a world, permanently; RuntimeError if it belongs to another one."""
        self._link.attach(world)

    # -- settings that take effect in the next step --

    @property
    def rest_speed(self) -> float:
        """Bounces slower than this, in world units per second, become slides; 0 is off."""
        return self._pipeline.rest_speed

    @rest_speed.setter
    def rest_speed(self, value: float) -> None:
        self._pipeline.rest_speed = checked_number("rest_speed", value)

    @property
    def pair_limit(self) -> int:
        """Largest number of times a pair is resolved in a step; then its bodies are held."""
        return self._pipeline.pair_limit

    @pair_limit.setter
    def pair_limit(self, value: int) -> None:
        self._pipeline.pair_limit = checked_count("pair_limit", value)

    @property
    def sleep(self) -> bool:
        """Whether bodies may sleep; `stats.asleep` is the number of sleeping ones.

        A body falls asleep after some steps in which its velocity and growth were 0 and nothing
        happened to it.  So does a body that gravity, or a velocity that the game sets in each step,
        only presses against its support.  Bodies in contact fall asleep together.  A body
        wakes when the game changes one of its components or another body reaches it.  A sleeping
        body does not repeat the `Collision` of each step.  False wakes all bodies in the next step.
        """
        return bool(self._registry.sleep.wanted)

    @sleep.setter
    def sleep(self, value: bool) -> None:
        self._registry.sleep.wanted = checked_switch("sleep", value)

    # -- the four stages of a step, which the four systems run --

    def update_bounds(
        self, dt: float, handled: Collection[type] = (), runner: FrameType | None = None
    ) -> None:
        """Begin a step of `dt` seconds: read the components and find the candidate pairs.

        Parameters
        ----------
        dt : float
        handled : collection of type
            The `handles` of all response systems: impacts of bodies with other components only
            need not be offered to these systems.
        runner : frame, optional
            The Python frame that runs the four stages.  Once it has ended, a step that it has not
            finished is undone by whatever uses the space next; without it, only by the next
            step and by `restore`.

        Raises
        ------
        RuntimeError
            It is called in a handler, or while another thread does a step, or another
            world is current.
        TypeError, ValueError, AttributeError
            `dt` is negative or not a finite number, or a component has a value that is not a
            number, or lacks an attribute.  Nothing has changed then.
        """
        self._pipeline.update_bounds(dt, handled, runner)

    def queue_impacts(self, dt: float | None = None) -> None:
        """Sweep the candidate pairs and queue the first impact of each."""
        self._pipeline.queue_impacts(dt)

    @property
    def impacts(self) -> EventSequence[Collision]:
        """The first impact of each pair that is due in this step, in time order.

        For a system between `NarrowphaseSystem` and `ResponseSystem`; empty at other times.  Their
        outcome is ``UNRESOLVED``, or ``CROSSED`` if the two will pass through each other.  An
        earlier impact of a body may prevent a later one, or cause others; `collisions` has the
        impacts that happened.
        """
        return EventSequence(self._pipeline.impact_array, Collision.from_row)

    def resolve_impacts(
        self, dt: float | None = None, offers: Sequence[Offer] = (), system: object = None
    ) -> None:
        """Resolve all impacts of the step in time order, for the first response system that runs.

        Parameters
        ----------
        dt : float, optional
            The length of the step; it must equal the one given to `update_bounds`.
        offers : sequence of Offer
            The response systems that are offered each impact, in order.
        system : object, optional
            The response system that runs; RuntimeError if the impacts were resolved already, and it
            was not offered them.
        """
        self._pipeline.resolve_impacts(dt, offers, system)

    def finish_step(self, dt: float | None = None) -> None:
        """Move all bodies to the end of the step, write the components, deliver the events.

        An exception of a handler or a response is raised after the step is complete; several are
        raised as an ExceptionGroup.
        """
        self._pipeline.finish_step(dt)

    @property
    def is_stepping(self) -> bool:
        """Whether a step has been begun and is not finished; handlers run when it is."""
        if self._state.is_stepping:
            self._lock.recover_step()
        return self._state.is_stepping

    @property
    def time(self) -> float:
        """How long this space has been stepped, in seconds: the sum of all dt."""
        return self._state.time

    @property
    def stats(self) -> Stats:
        """Statistics of the last step, computed on first access after it."""
        return self._pipeline.stats

    @property
    def timing(self) -> bool:
        """Whether `stats.times` has the time of each stage of a step; off by default."""
        return self._pipeline.timing

    @timing.setter
    def timing(self, wanted: bool) -> None:
        self._pipeline.timing = wanted

    # -- ways to interfere with an impact --

    def respond_with(self, component: type, respond: Respond = ABSENT) -> Subscription:
        """Resolve the impacts of all bodies that have a component by a function.

        Parameters
        ----------
        component : type
            Makes its bodies dynamic, as `Slide` does.
        respond : callable, optional
            Called in time order with the `Impact`.  It may set velocities, delete either entity,
            or return `DEFAULT` to get the built-in response.  If the two bodies have different
            functions, both are called, and the first that resolves the impact or lets it cross
            decides.  At an `Attached` box it is called where the other body enters it; the two
            pass through each other unless a velocity is set or one is deleted.  Without `respond`,
            the call is a decorator: ``@space.respond_with(Rubber)``.

        Returns
        -------
        callable
            Call it to remove the function.

        Raises
        ------
        ValueError
            Another function resolves for that component type.  Exception: a function from the
            same definition, registered before `esper.clear_database`, is replaced.
        """
        made = Subscription(partial(self._responses.respond_with, component))
        if respond is not ABSENT:
            made(respond)
        return made

    def make_dynamic(self, component: type) -> Unsubscribe:
        """Make all bodies that have a custom component dynamic, as those with `Slide` are.

        For a component that a response system handles.  It is `respond_with` of a function that
        returns `DEFAULT`, without the calls.  Returns a function that undoes this.
        """
        return self._responses.make_dynamic(component)

    def filter_pairs(
        self,
        allows: Callable[[int, int], object] | type = ABSENT,
        first_kind: type | None = None,
        second_kind: type | None = None,
    ) -> Subscription:
        """Register a function that decides whether two bodies near each other may meet.

        For rules that a `Filter` cannot express.  If the function returns a false value, the two
        bodies pass through each other in this step, without impact, crossing or contact.  A
        contact that existed ends as ``FILTER_CHANGED``.

        Parameters
        ----------
        allows : callable, optional
            Called with the lower and the higher entity id, at most once per step and pair, in
            any order.  It may read components but not change anything.  If it raises, the two
            may meet, and the step raises the exception when it is complete.  Without a function,
            the call is a decorator.
        first_kind, second_kind : type, optional
            Only for pairs of a body with the first component and a body with the second one.
            Without `first_kind` the function is called for all pairs, which costs far more.

        Returns
        -------
        callable
            Call it to remove the function.
        """
        add = partial(self._pair_filters.add, self._link.attached)
        return subscribe(add, allows, first_kind, second_kind)

    def position_of(self, entity: int) -> Vector:
        """Return the centre of a body.

        Within a step, this is its position at the time that the step has reached.  Between steps
        and in handlers, its components give it.
        """
        if self.is_stepping:
            return self._responses.position_of(entity)
        return self._inspection.position(entity)

    def velocity_of(self, entity: int) -> Vector:
        """Return a body's velocity at the time that the step has reached; zeros without one."""
        return self._responses.velocity_of(entity)

    def write_velocity(self, entity: int, velocity: VectorLike) -> None:
        """Write a body's velocity into its component."""
        self._responses.write_velocity(entity, velocity)

    # -- events --

    @property
    def collisions(self) -> EventSequence[Collision]:
        """The collisions of the last step in time order; the objects are created on access."""
        return self._state.events.collisions

    @property
    def collision_array(self) -> NDArray[np.void]:
        """The same as a numpy structured array, read-only; see `collision_dtype`."""
        return self._state.events.collision_array

    @property
    def contacts_began(self) -> EventSequence[ContactBegan]:
        """The contacts that began in the last step."""
        return self._state.events.contacts_began

    @property
    def contacts_ended(self) -> EventSequence[ContactEnded]:
        """The contacts that ended in the last step."""
        return self._state.events.contacts_ended

    @property
    def contact_array(self) -> NDArray[np.void]:
        """Both as one numpy structured array in time order, read-only; see `contact_dtype`."""
        return self._state.events.contact_array

    def collisions_between(self, first_kind: type, second_kind: type) -> list[Collision]:
        """Return the collisions between bodies with the one component and the other.

        `first` is the body with the first component and `second` the one with the second, as in
        `on_collision`.
        """
        require_component_type("first_kind", first_kind)
        require_component_type("second_kind", second_kind)
        return collisions_between(self.world, self.collision_array, first_kind, second_kind)

    def collisions_of(self, entity: int) -> list[Collision]:
        """Return the collisions of one entity in the last step, in time order.

        As in `collisions`, with the lower id first: `Collision.other(entity)` is the other body.
        """
        mine = self._state.events.collisions_of(entity)
        return list(EventSequence(mine, Collision.from_row))

    def on_collision(
        self,
        function: Callable[[Collision], object] | type = ABSENT,
        first_kind: type | None = None,
        second_kind: type | None = None,
    ) -> Subscription:
        """Call a function for each collision, after all positions are final.

        After a handler has cleared or deleted the world or restored a snapshot, no further event
        of the step is delivered.

        Handlers belong to the space, not to the entities.  `esper.clear_database` keeps them, and
        `clear_handlers` removes them.  Registering a function twice for the same component types
        has no effect.  A nested function, lambda or method also replaces the one from the same
        definition that was registered before `esper.clear_database`, so a level that is built
        again does not duplicate its handlers.

        Parameters
        ----------
        function : callable, optional
            Called with the event.  The space holds a strong reference.  Without a function,
            the call is a decorator: ``@space.on_collision(Bullet, Enemy)``.
        first_kind, second_kind : type, optional
            Only for collisions between bodies with these components.  `first` of the event is
            the body with the first one, `second` the other; normal, positions and velocities
            are exchanged with them.  If both bodies have both components, the lower id is first.
            The types are taken before the first handler of the step.  A body that was deleted
            within the step keeps the types that it had.

        Returns
        -------
        callable
            Call it to unsubscribe.
        """
        return self._subscribe(COLLISION, function, first_kind, second_kind)

    def on_contact_began(
        self,
        function: Callable[[ContactBegan], object] | type = ABSENT,
        first_kind: type | None = None,
        second_kind: type | None = None,
    ) -> Subscription:
        """Call a function for each contact that begins; as `on_collision`."""
        return self._subscribe(CONTACT_BEGAN, function, first_kind, second_kind)

    def on_contact_ended(
        self,
        function: Callable[[ContactEnded], object] | type = ABSENT,
        first_kind: type | None = None,
        second_kind: type | None = None,
    ) -> Subscription:
        """Call a function for each contact that ends; otherwise as `on_collision`.

        With component types, it is called for contacts that had these types when they began, even
        if a body has lost its component or was deleted since.
        """
        return self._subscribe(CONTACT_ENDED, function, first_kind, second_kind)

    def on_contact(
        self,
        function: Callable[[Contact], object] | type = ABSENT,
        first_kind: type | None = None,
        second_kind: type | None = None,
    ) -> Subscription:
        """Call a function in each step in which two bodies touch; otherwise as `on_collision`.

        It is called once per step and pair, with the `Contact`, if the bodies touch at the end of
        the step or began to touch within it, such as two that bounce apart.  Sleeping bodies
        stay in contact.
        """
        return self._subscribe(CONTACT, function, first_kind, second_kind)

    def _subscribe(
        self, name: str, function: object, first: type | None, second: type | None
    ) -> Subscription:
        add = partial(self._subscribers.add, self._link.attached, name)
        return subscribe(add, function, first, second)

    @property
    def handlers(self) -> list[Handler]:
        """The functions registered by `on_collision` and the three `on_contact` functions.

        A copy, in the order of registration.  Printing a handler shows its function and types.
        """
        return self._subscribers.all

    def clear_handlers(self) -> None:
        """Remove all `handlers`, also those with events of this step to come.

        Functions given to `respond_with`, `filter_pairs` and `esper.set_handler` stay.
        """
        self._subscribers.clear()

    @property
    def reports(self) -> list[Report]:
        """The last 64 reports, the newest at the end; a game may clear it."""
        return self._state.reports

    @property
    def n_reports(self) -> int:
        """The number of all reports so far."""
        return self._state.n_reports

    # -- bodies --

    @property
    def entities(self) -> list[int]:
        """The bodies as of the end of the last step, sorted by id."""
        self._lock.recover_step()
        return list(self._registry.entities.tolist())

    def __len__(self) -> int:
        self._lock.recover_step()
        n: int = self._registry.lists.n
        return n

    def __contains__(self, entity: object) -> bool:
        self._lock.recover_step()
        return entity in self._registry.row_of

    # Before the first step of a body, these read and write its components.

    def bounds(self, entity: int) -> tuple[Vector, Vector]:
        """Return the min and the max corner of a body; between steps, from its components."""
        return self._inspection.bounds(entity)

    def boxes_of(self, owner: int) -> list[int]:
        """Return the boxes that are attached to a body, by rising id.

        O(attached boxes).
        """
        return self._inspection.boxes_of(owner)

    def positions(self, entities: ArrayLike | None = None) -> NDArray[np.float64]:
        """Return the centres of bodies, float64 (n, dim); None: all, in the order of `entities`.

        The centres are as of the end of the last step, or as of `update`.
        """
        return self._inspection.positions(entities)

    def velocities(self, entities: ArrayLike | None = None) -> NDArray[np.float64]:
        """Return the velocities of bodies, float64 (n, dim); zeros for bodies without.

        Between steps they are those of the components now, as of `velocity_of`.
        """
        return self._inspection.velocities(entities)

    def set_positions(self, entities: ArrayLike | None, positions: ArrayLike) -> None:
        """Write centres into the `Position` of bodies, also of `Fixed` ones.

        For the next step they are teleports, or with ``motion="swept"`` the targets of the bodies.
        """
        self._editor.set_positions(entities, positions)
        self._queried.follow(entities)

    def set_velocities(self, entities: ArrayLike | None, velocities: ArrayLike) -> None:
        """Write velocities into the `Velocity` of bodies."""
        self._editor.set_velocities(entities, velocities)

    def set_extents(self, entities: ArrayLike | None, extents: ArrayLike) -> None:
        """Write half sizes into the `Extents` of bodies, (n, dim) of zero or more.

        Also of `Fixed` bodies.  For the next step these are changes of size by the game.  A
        component of the game that holds full sizes gets full sizes.
        """
        self._editor.set_extents(entities, extents)
        self._queried.follow(entities)

    def teleport(self, entity: int, position: VectorLike) -> None:
        """Move a body, also a `Fixed` one, without a sweep; its contacts end and begin again.

        It sets the `Position`, after a check.  With ``motion="swept"`` this is the only move
        without a sweep.  For an `Attached` box it sets the offset from the owner's position now.
        """
        self._editor.teleport(entity, position)
        self._queried.follow([entity])

    def resize(self, entity: int, *, height: float, keep: str = "feet") -> None:
        """Make a body lower or higher at once: a character that crouches or stands up.

        `Position` and `Extents` are set together, so that one face of the box stays exactly where
        it is.  Contacts that still touch continue; the next step ends the others as separated.
        Boxes that are `Attached` to the body stay where they are, and the next step sweeps them
        to their offsets.

        It does not check for room.  A body that stands up under a ceiling overlaps it.  Use
        `query` before, or `PushOut`.  If the body does not move, or the game has moved it since
        the last step, all its contacts end, as after a teleport.

        Parameters
        ----------
        entity : int
        height : float
            The full size along the axis of `up`, in world units.
        keep : str
            The part that stays in place: ``"feet"`` (the lower face), ``"head"`` (the upper one)
            or ``"centre"``.
        """
        with self._lock:
            self._editor.resize(entity, height, keep)
            self._queried.follow([entity])

    def shift(self, offset: VectorLike) -> None:
        """Add an offset to every place in the world: a floating origin.

        A game whose world is so large that floats get coarse moves all of it back when the player
        is far from the origin.  To the space nothing has happened: contacts go on, sleeping bodies
        sleep, paths and levels go on at their new places, and the next step goes on as it would
        have.  Written are the positions of all entities, also of those that are no bodies, each
        `Path`, the places of levels and of the collisions of the last step.  The game moves its
        own numbers, such as its camera.  States saved before have the places of before, and so
        have the events that other handlers still get in this step.

        A whole offset changes no bit in a world of whole numbers, halves and quarters; see
        :doc:`exactness`.  May be called between steps and in handlers.  O(n log n) for n bodies.

        Parameters
        ----------
        offset : sequence of float (dim,)
            In world units; 0 on an axis on which the world wraps.

        Raises
        ------
        ValueError
            It is not `dim` numbers of at most 2**500, or not 0 on an axis that wraps.
        RuntimeError
            Within a step.

        Examples
        --------
        >>> import esper
        >>> import ecs_collide as ec
        >>> hero = esper.create_entity(ec.Position(5000, 8), ec.Extents(8, 8))
        >>> space = ec.install()
        >>> space.shift((-4096, 0))
        >>> esper.component_for_entity(hero, ec.Position)
        Position(904.0, 8.0)
        """
        with self._lock:
            self._shifting.shift(offset)
            self._queried.read_all_again()

    # -- moving one body now --

    def move(
        self,
        entity: int,
        displacement: VectorLike,
        response: Slide | Stop | Deflect = _USUAL_RESPONSE,
        *,
        exclude: Exclude = None,
        filter: Filter = None,
    ) -> Moved:
        """Move a body now, between two steps; return where it arrived and its hits.

        For turn-based games, tools and AI.  The body is swept along a straight path, by the rules
        of a step, among the other bodies as they are now.  Every move calls `update`.  When it
        meets a solid body it continues by `response`.  Other bodies are not pushed and do not give
        way.  The body needs no `Velocity`, and its `Velocity` is not changed.
        Its `Position` is written.  Queries and further moves find it there, and its `Attached`
        boxes move with it.  The next step does not treat the move as a teleport.  Contacts continue
        if the bodies still touch.  A move of an `Attached` box sets its offset, as `teleport` does.

        It passes through sensors, members of the same soft crowd, the open sides of `OneWay`, and
        bodies that `Filter` or `filter_pairs` exclude.  It may leave a body that it overlaps at
        the start, but not get deeper into it.

        Parameters
        ----------
        entity : int
        displacement : sequence of float (dim,)
            In world units.
        response : Slide, Stop or Deflect
            How it continues at a solid body: along the face (the default), not at all, or by a
            bounce with the remaining displacement times the restitution.
        exclude, filter : optional
            The bodies that it passes through, and the only ones that it meets; as in `query`.

        Examples
        --------
        >>> import esper
        >>> import ecs_collide as ec
        >>> wall = esper.create_entity(ec.Position(10, 0), ec.Extents(1, 5))
        >>> hero = esper.create_entity(ec.Position(0, 0), ec.Extents(1, 1))
        >>> space = ec.install()
        >>> moved = space.move(hero, (20, 3))
        >>> moved.position, moved.hits[0].entity == wall
        ((8.0, 3.0), True)
        """
        with self._lock:
            return self._moves.move(entity, displacement, response, (exclude, filter, False))

    def check_move(
        self,
        entity: int,
        displacement: VectorLike,
        response: Slide | Stop | Deflect = _USUAL_RESPONSE,
        *,
        exclude: Exclude = None,
        filter: Filter = None,
    ) -> Moved:
        """Return what `move` would return, without moving the body."""
        return self._moves.check_move(entity, displacement, response, (exclude, filter, False))

    # -- queries, besides those of `BoxQueries` --

    def update(self) -> None:
        """Update queries to all that was created, moved or changed since the last step.

        No time passes, no event is delivered, and later steps do not depend on it.  Contacts begin
        and end in the next step.  It is valid until the next step begins, for `boxes`,
        `positions`, `interpolated` and the queries from `query` to `nearest_many`.
        Until then these also see changes by `move`, `teleport`, `resize`, `set_positions` and
        `set_extents`.  All others, such as `contacts`, stay as of the end of
        the last step.  Even without `update`, deleted bodies are not found.  May be called between
        steps and in handlers.  The first call takes O(n log n) for n bodies.  Later calls take one
        comparison for each body that is not `Fixed`, and O(log n) for each changed body.
        """
        self._queried.update()

    # -- contacts --

    def contacts(self, entity: int | None = None, *, filter: Filter = None) -> list[Contact]:
        """Return the contacts of one body or of all, sorted by ids.

        They are those of the end of the last step.  Contacts of entities deleted since are left
        out, and end in the next step.  A body has no contacts before its first step.

        Parameters
        ----------
        entity : int, optional
            Only contacts of this body.
        filter : type, tuple of types or callable, optional
            Only contacts with a body that has this component, or one of a tuple, or for which the
            function returns a true value.  With `entity` this is the other body, without it either
            of the two.
        """
        return self._contacts.contacts(entity, filter=filter)

    def is_on(self, entity: int, normal: VectorLike | None = None) -> Contact | None:
        """Return the oldest solid contact of a body on one side: its ground, or a wall.

        Its normal is at most 45 degrees beside the given one, which matters for a `Slope`.

        Parameters
        ----------
        entity : int
        normal : sequence of float (dim,), optional
            The normal towards the body, a unit vector along an axis, else ValueError: `up`, the
            default, for the ground; (1, 0) for a wall to the left.

        Returns
        -------
        Contact or None
            `Contact.other` is the other body, `Contact.since` the time at which it began.
        """
        return self._contacts.is_on(entity, normal)

    def load_on(self, entity: int) -> float:
        """Return the mass that rests on a body, such as a pressure plate or a scale.

        Every dynamic body presses on what it stands on with its mass and all that rests on it; a
        `GravityScale` multiplies its mass, and the water of a `Zone` takes the part that it lifts.
        A body on several others divides its load among them, by the widths of the contacts.  A body
        that is in the air presses on nothing.  The load times the gravity is the force.

        Bodies that have been deleted since the last step do not count.  The first question about a
        pile takes about 15 µs for each of its bodies.  Others before the next step look it up.

        Parameters
        ----------
        entity : int

        Returns
        -------
        float
            In the unit of `Mass`, which is 1 for a body without it; rounded to 12 digits.
        """
        return self._contacts.load_on(entity)

    def carried(self, entity: int) -> Vector:
        """Return the velocity that a `Carry` adds to the `Velocity` of a body that stands on it.

        In world units per second; zeros without a carrier.
        """
        return self._contacts.carried(entity)

    def drop_through(self, entity: int, platform: int | None = None) -> bool:
        """Make a body fall through the `OneWay` platforms that it stands on; return whether on any.

        It passes through them until it no longer touches them; the contacts end as ``DROPPED`` in
        the next step.  May be called between steps and in handlers.

        Parameters
        ----------
        entity : int
        platform : int, optional
            Only this one.
        """
        return self._contacts.drop_through(entity, platform)

    def may_meet(self, first: int, second: int) -> bool:
        """Return whether two bodies may meet, by `Filter` and `filter_pairs`.

        By their components as they are now, whatever their positions and responses are.

        Raises
        ------
        TypeError, AttributeError, ValueError
            A `Filter` has a value that is not a whole number within its bounds.
        """
        return self._contacts.may_meet(first, second)

    # -- inspection --

    def body_kinds(self, entities: ArrayLike | None = None) -> NDArray[np.uint8]:
        """Return the kinds of bodies: uint8 (n,), bits of `BodyKind`.

        `entities` is a list or an array of ids; None stands for all, in the order of `entities`.
        """
        return self._inspection.body_kinds(entities)

    def interpolated(
        self, fraction: float, entities: ArrayLike | None = None
    ) -> NDArray[np.float64]:
        """Return the centres of bodies between the last two steps, for drawing.

        A new body, or one that the game teleported before the last step, is shown at its current
        position.  After `update`, so is a body that has been moved since.  A body whose first step
        was the last one moves from its initial position.  In a world that wraps, bodies are
        interpolated along their paths across the edge.  After `restore`, and after a step that was
        interrupted, all bodies are shown at their current positions until the next step.

        Parameters
        ----------
        fraction : float
            From 0, before the last step, to 1, now, else ValueError; a game with a fixed time step
            passes `FixedStep.fraction`.
        entities : list or array of ids, optional
            None stands for all, in the order of `entities`.

        Returns
        -------
        float64 (n, dim)
            In world units; 1 gives the results of `positions`.
        """
        return self._inspection.interpolated(fraction, entities)

    def interpolated_of(self, entity: int, fraction: float) -> Vector:
        """Return the centre of one body between the last two steps; see `interpolated`."""
        return tuple(self._inspection.interpolated(fraction, [entity])[0].tolist())

    def boxes(
        self, entities: ArrayLike | None = None
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the min and the max corners of bodies, two float64 (n, dim).

        As `bounds` for each.  A quarantined body has the corners that its components give,
        which may be NaN.
        """
        return self._inspection.boxes(entities)

    def _shape_near(self, id: int, place: Sequence[float]) -> Shape:
        low, high = self._inspection.last_bounds(id)
        kernel, row_of = self._queried.slopes
        if self.wrap is not None:
            middles = [(a + b) / 2.0 for a, b in zip(low, high, strict=True)]
            by = [
                width * round((to - at) / width) if width else 0.0
                for width, to, at in zip(self.wrap, place, middles, strict=True)
            ]
            low, high = (tuple(map(add, corner, by)) for corner in (low, high))
        return Shape(low, high, kernel.shape_of(row_of(id)))

    def occupancy(
        self,
        bounds: tuple[ArrayLike, ArrayLike],
        cell: float,
        *,
        half: ArrayLike | None = None,
        exclude: Exclude = None,
        filter: Filter = None,
        solid: bool = True,
    ) -> NDArray[np.bool_]:
        """Return in which cells of a grid a box has no room: a map for any path finder.

        Parameters
        ----------
        bounds : (min, max)
            Two corners, in world units.  Cell 0 begins at the first; the last cell on each axis may
            reach beyond the second.
        cell : float
            The length of the sides of a cell.
        half : sequence of float (dim,), optional
            Half sizes of the box that stands in the middle of a cell.  By default it is as large
            as the cell.
        exclude, filter : optional
            As in `query`: which bodies are in the way, such as ``filter=Wall``.
        solid : bool
            Ignore sensors, as is usual here.

        Returns
        -------
        bool, shape (nx, ny) or (nx, ny, nz)
            True where the box would overlap a body, or the solid part of a `Slope`.  It may touch
            (open).

        Raises
        ------
        ValueError
            An argument is not valid, there are more than 2**26 cells, or the world wraps.

        Examples
        --------
        >>> import esper
        >>> import ecs_collide as ec
        >>> wall = esper.create_entity(ec.Position(1024, 8), ec.Extents(8, 8))
        >>> space = ec.install()
        >>> esper.process(1 / 60)
        >>> space.occupancy(((1000, 0), (1064, 16)), 16).tolist()
        [[False], [True], [False], [False]]
        """
        if self.wrap is not None:
            raise ValueError("occupancy() is for worlds that do not wrap")
        cells = Cells(bounds, cell, half, self.dim)
        reach = cells.half + cell
        found = self.query(
            cells.low - reach, cells.high + reach, exclude=exclude, filter=filter, solid=solid
        )
        (kernel, row_of), having = self._queried.slopes, self.world.having(Slope)
        slopes = {
            n: partial(kernel.depth_in, row_of(entity))
            for n, entity in enumerate(found)
            if entity in having
        }
        axis = next(k for k, part in enumerate(self.up) if part)
        return cells.occupied(self.boxes(found), slopes, axis)

    def visible_region(
        self,
        point: VectorLike,
        reach: float,
        *,
        exclude: Exclude = None,
        filter: Filter = None,
        solid: bool = True,
    ) -> NDArray[np.float64]:
        """Return the polygon that is seen from a point: the light of a torch, the view of a guard.

        The region ends at the faces of bodies, and at a square around the point.

        Parameters
        ----------
        point : sequence of float (2,)
            It may lie on the face of a body.
        reach : float
            Half the side of the square, in world units.
        exclude, filter : optional
            As in `query`: which bodies are seen through, and which are in the way.
        solid : bool
            See through sensors and the open sides of `OneWay`, as is usual here.

        Returns
        -------
        float64, shape (n, 2)
            The corners, counter-clockwise; none if the point is inside a body.  Every triangle of
            the point and two corners that follow each other is visible.

        Raises
        ------
        ValueError
            An argument is not valid, the space is 3D, or the world wraps.

        Examples
        --------
        >>> import esper
        >>> import ecs_collide as ec
        >>> pillar = esper.create_entity(ec.Position(2002, 0), ec.Extents(1, 0.5))
        >>> space = ec.install()
        >>> esper.process(1 / 60)
        >>> len(space.visible_region((2000, 0), 4))
        8
        """
        if self.wrap is not None or self.dim != 2:
            raise ValueError("visible_region() is for 2D worlds that do not wrap")
        reach = checked_distance(reach, "reach")
        if not 0.0 < reach < np.inf:
            raise ValueError(f"visible_region(reach={reach!r}) must be above 0, and finite")
        eye = np.array(point, np.float64)
        found = self.query(eye - reach, eye + reach, exclude=exclude, filter=filter, solid=solid)
        others = [exclude] if isinstance(exclude, int) else [*(exclude or ())]

        def cast(ways: NDArray[np.float64], touched: list[int]) -> RayHits:
            skipped = others + touched
            return self.cast_rays(eye, ways, exclude=skipped, filter=filter, solid=solid)

        ends, eye = slope_ends(eye, reach, self.slope_outlines(found).corners)
        still = np.zeros(2)  # a ray that goes nowhere meets no `OneWay`
        hits = self.ray_hits(eye, still, exclude=exclude, filter=filter, solid=solid)
        here = {hit.entity for hit in hits}
        holds = np.array([entity in here for entity in found], np.bool_)
        ids = np.array(found, np.int64)
        return visible_region(eye, reach, ids, self.boxes(found), holds, ends, cast)

    def slope_outlines(self, entities: ArrayLike | None = None) -> SlopeOutlines:
        """Return the solid parts of the bodies that are slopes: places (n,), corners (n, 4, 2).

        For drawing.  The places are indices in `entities`, or if it is None in `Space.entities`.
        A `Slope` that has no effect, or that no step has read yet, has no outline.
        """
        return self._inspection.slope_outlines(entities)

    def fat_bounds(
        self, entities: ArrayLike | None = None
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the fat bounds of bodies, two float64 (n, dim).

        A body is reinserted into its tree when its path leaves its fat bounds.  The bounds of
        bodies that do not move, or sleep, are their boxes.  NaN for quarantined bodies and before
        the first step of a body.
        """
        return self._inspection.fat_bounds(entities)

    def swept_bounds(
        self, entities: ArrayLike | None = None
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return bounds around the paths of bodies in the last step, two float64 (n, dim).

        After an impact within the step, only the path after the last one counts.  The bounds are
        wider than the path by about 2**-40 of its largest coordinate.  In a world that wraps, the
        path ends inside the world.  NaN for quarantined bodies and before the first step of a
        body.
        """
        return self._inspection.swept_bounds(entities)

    def branches(self) -> Branches:
        """Return the bounds of all inner nodes of the two trees.  O(bodies).

        The bounds of moving bodies contain their paths in the last step.
        """
        return self._inspection.branches()

    def candidate_pairs(self) -> NDArray[np.int64]:
        """Return the pairs that the last step swept, int64 (n, 2): ids, each row and all sorted.

        These are all pairs whose paths came near each other.  Empty after `restore`, until the
        next step.
        """
        return self._inspection.candidate_pairs()

    def contact_points(self) -> ContactPoints:
        """Return all contacts as arrays, with where they are; see `contacts`."""
        return self._inspection.contact_points()

    def impact_boxes(self) -> ImpactBoxes:
        """Return where the boxes of each collision of the last step met.

        Without collisions of bodies that no longer exist.  Sizes are computed back from the
        current sizes and growths.
        """
        return self._inspection.impact_boxes()

    def state_hash(self) -> bytes:
        """Return a hash of the state after the last step, 16 bytes.

        It includes the ids, positions, half sizes and velocities of all bodies, all events of the
        step, and the components of the game that snapshots include.  Dataclasses of numbers count
        with their present fields, and other components with the bytes of their `save`.  Two
        runs with the same input have the same hash after each step, on every platform, compiled
        or not.  So it finds the step in which two players of a game, or a game and its recording,
        diverge.  State outside of components is not included.  1 to 2 ms for 10,000 bodies, and
        about 0.3 ms for 1,000 components of two numbers.

        Raises
        ------
        TypeError
            A field of a dataclass of numbers holds something that is no number.
        """
        self._lock.refuse_others()
        refuse_within_step("state_hash", self.is_stepping)
        return self._snapshots.state_hash()

    # -- saving and restoring --

    def snapshot_with(
        self,
        component: type,
        save: Save | None = None,
        load: Load | None = None,
        update: Update | None = None,
        *,
        name: str | None = None,
        hashed: bool = True,
    ) -> None:
        """Include custom components of a type in snapshots.

        Dataclasses whose fields are declared as int, float, bool or an enum of these, or as one of
        these or None, are held without it, and so are empty classes, which mark entities.
        `restore` finds such a type by its name if an entity of the world has it, or had it since
        the space was made.  Otherwise, as in a program that begins with a saved game, give the type
        alone: ``space.snapshot_with(Health)``.  Fields of a dataclass that a snapshot does not have
        take their defaults, and fields that the dataclass has lost are dropped.  Types of the
        library need no call.

        Parameters
        ----------
        component : type
        save : callable, optional
            Takes a component, returns bytes.  Skipped with `load` for a type that is held
            without it.
        load : callable, optional
            Takes such bytes, returns a new component of that type.
        update : callable, optional
            Called with an existing component and bytes; changes the component to their state.
            Without it, a component that differs is replaced by a new one.
        name : str, optional
            The name of the type in snapshots; by default the name of the class.  It must stay the
            same for as long as snapshots are kept.
        hashed : bool
            Whether `state_hash` includes what `save` returns.  If not, it is as without this
            call.

        Raises
        ------
        TypeError
            An argument is not a component type, or not a function; or `save` and `load` are left
            out and the type is neither a dataclass of numbers nor empty.
        ValueError
            The name belongs to another type, or snapshots include the type already.

        Examples
        --------
        >>> import ecs_collide as ec
        >>> class Health:
        ...     def __init__(self, points):
        ...         self.points = points
        >>> space = ec.Space()
        >>> space.snapshot_with(
        ...     Health,
        ...     save=lambda health: health.points.to_bytes(4, "little"),
        ...     load=lambda data: Health(int.from_bytes(data, "little")),
        ... )
        """
        self._snapshots.snapshot_with(component, (save, load, update), name, hashed)

    def snapshot_without(self, component: type) -> None:
        """Leave components of a custom type out of snapshots and `state_hash`.

        Use it for settings of a player that a saved game must not change, or for sprites.
        `restore` keeps existing components of the type, and ignores the ones in an older snapshot.
        `snapshot` and `doctor` do not mention the type.  `snapshot_with` takes it back.

        Raises
        ------
        TypeError, ValueError
            It is no component type; it is one of the library, which snapshots always hold.
        """
        self._snapshots.snapshot_without(component)

    def snapshot(self) -> bytes:
        """Return the state that all later steps depend on, as bytes.

        It includes every entity that has a component of the library, a dataclass of numbers, or
        a type given to `snapshot_with`, with these components and the empty classes that mark it.
        Their values are those of the last step.  Contacts, quarantined bodies, reports, the events
        and the number of the last step, `rest_speed`, `pair_limit` and `gravity` follow.  It does
        not include functions, handlers and systems.  The same state gives the same bytes on every
        platform.

        May be called between steps and in handlers, which run after a step.  O(bodies).

        Raises
        ------
        RuntimeError
            Also after a step that was never finished.
        ValueError
            The space reads components of the game that are neither dataclasses of numbers nor
            empty, and were not given to `snapshot_with`; or two types have the same name.
        TypeError
            A component has a value that is not a number.

        Warns
        -----
        UserWarning
            Entities have components of a type that is not included: a plain class with
            attributes or methods.  Issued once for each type.  `snapshot_without` turns it off
            for a type that need not be saved, such as a sprite.
        """
        data = self._snapshots.snapshot()
        self._snapshots.warn_of_not_held()
        return data

    def save_state(self) -> SavedState:
        """Return the state that all later steps depend on, in memory: a snapshot for this space.

        It holds the same as `snapshot`, and only `restore` of this space takes it, in this process.
        Both are several times as fast as with bytes, for games that go back in every frame and
        searches that try many inputs.  ``bytes(state)`` is the snapshot.

        May be called when `snapshot` may.  O(bodies).

        Raises
        ------
        RuntimeError, ValueError, TypeError
            As `snapshot`.

        Warns
        -----
        UserWarning
            As `snapshot`.

        Examples
        --------
        >>> import esper
        >>> import ecs_collide as ec
        >>> entity = esper.create_entity(ec.Position(0, 0), ec.Extents(1, 1), ec.Velocity(3, 0))
        >>> space = ec.install()
        >>> esper.process(1.0)
        >>> state = space.save_state()
        >>> esper.process(1.0)
        >>> space.restore(state)
        >>> esper.component_for_entity(entity, ec.Position).x
        3.0
        """
        state = self._snapshots.save_state()
        self._snapshots.warn_of_not_held(state.contents)
        return state

    def restore(self, data: bytes | SavedState) -> None:
        """Restore the state of a `snapshot` or of `save_state`.

        The next steps are bit-identical to the steps after the snapshot.  Numbers are
        set in the existing components, so references to these stay valid.  Entities and
        components that are not in the snapshot are removed, and missing ones are created again,
        with their ids.  Entities without any component that snapshots include,
        then and now, are not changed.

        May be called between steps, also in another process and in an empty world, and in
        handlers.  After a restore in a handler, no further event of the step is delivered.  A step
        that was begun and never finished is discarded.  O(bodies).

        Raises
        ------
        TypeError, ValueError
            The bytes are not a snapshot; they are damaged; of another format or dimension; or
            include components of the game that were not given to `snapshot_with`, or lack one of
            their fields that has no default.  The state is that of another space.

        After any exception, even one from a function given to `snapshot_with`, nothing has changed.
        A restore that a signal interrupts has happened or has not, and the next one works.
        """
        self._snapshots.restore(data)

    # -- diagnostics --

    def explain(self, first: int, second: int) -> Explanation:
        """Return why two entities do or do not collide; printed, it is a sentence.

        By the components as they are now, and by the last step.
        """
        from ecs_collide.diagnostics.explain import explain

        return explain(self._examined(), first, second)

    def doctor(self) -> Findings:
        """Return the findings about this world; printed, each is a line.

        Examines every entity: O(entities).  Nothing is changed.
        """
        from ecs_collide.diagnostics.doctor import examine

        return examine(self._examined())

    def _examined(self) -> Examined:
        from ecs_collide.diagnostics.findings import Examined

        takes_snapshots = "_snapshots" in vars(self) and self._snapshots.is_used
        return Examined(
            self, self.world, self._state, self._registry, self._pair_filters, self._responses,
            self.stats, self.up, self._settings.wrap,
            self._snapshots.not_held() if takes_snapshots else {},
        )  # fmt: skip

    # -- invariants --

    def check(self) -> None:
        """Verify the invariants of trees, rows, pairs and contacts.

        Between the stages of a step, or after one that was interrupted, boxes are not compared
        with the trees, because the trees have the paths already.

        Raises
        ------
        AssertionError
            An invariant does not hold; the message names it.
        RuntimeError
            Another thread is in the middle of a step, or has done one meanwhile.
        """
        self._lock.recover_step()
        # Read before other threads are refused: each stage that begins later replaces it.
        latest = self._lock.latest
        self._lock.refuse_others()
        try:
            self._check_parts()
        except Exception as error:
            if self._lock.latest is not latest:
                raise self._lock.refusal() from error
            raise

    def _check_parts(self) -> None:
        registry, (still, moving) = self._registry, self._state.trees
        c = registry.table
        still.check()
        moving.check()
        rows = registry.rows
        placed = rows[(c.quarantined[rows] == 0) & (c.news[rows] & News.NEW == 0)]
        assert still.n_items + moving.n_items == len(placed), "the trees lack bodies"
        low, high = np.zeros((c.capacity, self.dim)), np.zeros((c.capacity, self.dim))
        for row in placed.tolist():
            tree = moving if c.moves[row] else still
            assert tree.bounds_into(row, low.data, high.data, row), "not in its tree"
        if not self.is_stepping:
            assert (low[placed] <= c.tight_min[placed]).all(), "a body is outside its bounds"
            assert (high[placed] >= c.tight_max[placed]).all(), "a body is outside its bounds"
        timeline = self._state.timeline
        timeline.pairs.check(self.dim)
        timeline.contacts.check()
        timeline.contacts_in_step.check()
        for contact in self._contacts.of_step():
            assert contact.first in self, f"contact of {contact.first}, which is not a body"
            assert contact.second in self, f"contact of {contact.second}, which is not a body"


def parts_of(space: Space) -> Parts:
    """Return the parts of a space, for `ecs_collide.extend` and what else is built on spaces."""
    return space._parts
