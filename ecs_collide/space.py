"""The bodies of one world, what they do in a step, and questions about them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ecs_collide import _checks
from ecs_collide._attributes import write_number
from ecs_collide.component_map import Components
from ecs_collide.diagnostics import doctor, explain
from ecs_collide.diagnostics.explain import Explanation
from ecs_collide.diagnostics.findings import Findings
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
from ecs_collide.motion.falling import checked_gravity, up_against
from ecs_collide.motion.wrapping import checked_wrap
from ecs_collide.queries.contacts import as_axis
from ecs_collide.queries.inspection import Views
from ecs_collide.step.handlers import Handler, Unsubscribe, oriented, require_component_type


class Space(Views):
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
        After so many answers of a pair within one step its bodies are held
        where they are to the end of the step.  They keep their velocities and go
        on in the next step.  1 or more.  A body is also held once more pairs were
        swept because it turned than 8 times this limit and 8 times its own pairs.
    margin : float, optional
        How far the bounds in the tree reach beyond a body's path, in world
        units; by default a tenth of the body's longest side.
    lookahead : float
        How many steps ahead, about, the bounds reach along the motion.
        Margin and lookahead change what a step costs, never what it does.
    components : Components, optional
        Which types of components of the game's own to read and write instead
        of `Position`, `Extents`, `Velocity`, `Growth` and `Mass`.
    motion : str
        Who moves the bodies.  ``"velocity"``: the space does, by their
        `Velocity`, and a `Position` that the game sets is a teleport.
        ``"swept"``: the game does, by setting `Position`; each step sweeps
        the bodies from where they were to there and answers what they meet
        on the way.  Bodies then yield without a `Velocity` too; where there
        is one, an answer sets it on the axes on which it changes the motion.
    sleep : bool
        Whether bodies that have been at rest for some steps cost next to
        nothing until something reaches them.  It never changes what a step does.
    gravity : sequence of float, optional
        How fast bodies fall: an acceleration in world units per second squared, as (0, -900).  It
        acts on all bodies that yield; see `gravity`.
    up : sequence of float, optional
        Which way is up: a unit vector along an axis; by default opposite to `gravity` if that
        is along an axis, else (0, 1).  (0, -1) where y grows downwards.  `is_on`, `OneWay`, `Carry` and `Character` use it where they are given no
        direction.
    wrap : sequence of float or None, optional
        For each axis how wide the world is, in world units, or None.  On an axis with a width the
        world runs from 0 to it and closes in a ring: what leaves it at one end comes in at the
        other, and bodies, sweeps and questions meet across the edge.
    """

    def __init__(
        self,
        dim: int = 2,
        rest_speed: float = 0.0,
        pair_limit: int = 64,
        *,
        margin: float | None = None,
        lookahead: float = 2.0,
        components: Components | None = None,
        motion: str = "velocity",
        sleep: bool = True,
        wrap: Sequence[float | None] | None = None,
        up: VectorLike | None = None,
        gravity: VectorLike | None = None,
    ) -> None:
        if motion not in ("velocity", "swept"):
            raise ValueError(f"Space(motion={motion!r}) must be 'velocity' or 'swept'")
        if dim not in (2, 3):
            raise ValueError(f"Space(dim={dim!r}) must be 2 or 3")
        if components is None:
            components = Components()
        elif not isinstance(components, Components):
            raise TypeError(f"components={components!r} must be an ecs_collide.Components")
        _require_number("lookahead", lookahead)
        if margin is not None:
            _require_number("margin", margin)
        around = None if margin is None else float(margin)
        falls = checked_gravity(gravity, dim)
        if motion == "swept" and any(falls):
            raise ValueError(
                f"Space(gravity={gravity!r}) must be None with motion='swept': the game moves the "
                "bodies there, and lets them fall too"
            )
        upwards = up_against(falls) if up is None else as_axis("up", up, dim)
        super().__init__(
            int(dim),
            around,
            float(lookahead),
            components,
            motion == "swept",
            checked_wrap(wrap, dim),
        )
        self.rest_speed = rest_speed
        self.pair_limit = pair_limit
        self.sleep = sleep
        self._set_gravity(falls)
        self._up = upwards
        self._roster.set_up(upwards)
        self._made_with: dict[str, object] = {
            "dim": self.dim,
            "rest_speed": self.rest_speed,
            "pair_limit": pair_limit,
            "margin": around,
            "lookahead": float(lookahead),
            "components": components,
            "motion": motion,
            "sleep": sleep,
            "wrap": self.wrap,
            "up": upwards,
            "gravity": falls,
        }

    def _made_otherwise(self, **settings: Any) -> dict[str, object]:
        """Return those of some arguments of `Space` that this one was not made with.

        Returns
        -------
        dict
            By name, what it was made with instead; empty if there is no difference.
        """
        made: dict[str, object] = {}
        for name, value in settings.items():
            if name == "wrap":
                value = checked_wrap(value, self.dim)
            elif name == "gravity":
                value = checked_gravity(value, self.dim)
            elif name == "up":
                falls = checked_gravity(settings.get("gravity"), self.dim)
                value = up_against(falls) if value is None else tuple(value)
            elif name == "components" and value is None:
                value = Components()
            if value != self._made_with[name]:
                made[name] = self._made_with[name]
        return made

    def __repr__(self) -> str:
        return f"<Space dim={self.dim}, {len(self)} bodies, step {self._step}>"

    @property
    def motion(self) -> str:
        """Who moves the bodies: the space, by "velocity", or the game, and they are "swept"."""
        return "swept" if self._roster.sweeps else "velocity"

    @property
    def up(self) -> Vector:
        """Which way is up: a unit vector along an axis."""
        return self._up

    @property
    def gravity(self) -> Vector:
        """How fast bodies fall, in world units per second squared; zeros are off.

        It acts on the bodies that yield: those with a `Velocity`, a response such as `Slide` and
        no infinite mass.  So not on walls, lifts, bullets without a response, and sensors.
        `GravityScale` changes it for one body, and 0 switches it off.  A body falls as exactly as
        v * t + g * t**2 / 2 says, for steps of any length.  Setting it wakes everybody, and leaves
        `up` as it is.

        Raises
        ------
        ValueError
            Set to no finite vector, or in a space with ``motion="swept"``.
        """
        return self._gravity

    @gravity.setter
    def gravity(self, value: VectorLike | None) -> None:
        falls = checked_gravity(value, self.dim)
        if self.is_stepping:
            raise RuntimeError("Space.gravity was set within a step: set it between steps")
        if any(falls) and self.motion == "swept":
            raise ValueError(f"Space.gravity={value!r} must be None with motion='swept'")
        self._set_gravity(falls)

    @property
    def time(self) -> float:
        """How long this space has been stepped, in seconds: the sum of all dt."""
        return self._time

    # -- settings, taken up by the next step --

    @property
    def rest_speed(self) -> float:
        """Bounces slower than this, in world units per second, become slides; 0 is off."""
        return self._rest_speed

    @rest_speed.setter
    def rest_speed(self, value: float) -> None:
        _require_number("rest_speed", value)
        self._rest_speed = float(value)

    @property
    def pair_limit(self) -> int:
        """After so many answers within one step the bodies of a pair are held to its end."""
        return self._pair_limit

    @pair_limit.setter
    def pair_limit(self, value: int) -> None:
        _require_count("pair_limit", value)
        self._pair_limit = value

    @property
    def sleep(self) -> bool:
        """Whether bodies may sleep; `stats.asleep` says how many do.

        A body falls asleep after some steps in which its velocity and growth were 0
        and nothing happened to it, and wakes when the game sets anything of
        it or a step reaches it.  False wakes all in the next step.
        """
        return self._roster.sleep.wanted

    @sleep.setter
    def sleep(self, value: bool) -> None:
        if not isinstance(value, bool):
            raise ValueError(f"Space(sleep={value!r}) must be True or False")
        self._roster.sleep.wanted = value

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

    def collisions_between(self, first_kind: type, second_kind: type) -> list[Collision]:
        """Return the collisions between bodies with the one component and the other.

        `first` is the body with the first component and `second` the one with the second, as in
        `on_collision`.
        """
        require_component_type("first_kind", first_kind)
        require_component_type("second_kind", second_kind)
        world = self.world
        seen = (oriented(world, e, first_kind, second_kind) for e in self.collisions)
        return [event for event in seen if event is not None]

    def collisions_of(self, entity: int) -> list[Collision]:
        """Return the collisions of one entity in the last step, in time order.

        They are those of `collisions`, with the lower id first: `Collision.other(entity)` says
        whom it met.  Empty for an entity that met nobody, or is no body.
        """
        array = self._events.collision_array
        mine = array[(array["first"] == entity) | (array["second"] == entity)]
        return list(EventSequence(mine, Collision.from_row))

    def on_collision(
        self,
        function: Callable[[Collision], object],
        first_kind: type | None = None,
        second_kind: type | None = None,
    ) -> Unsubscribe:
        """Call a function for each collision, after all positions are final.

        A function that is registered for the same component types already stays registered
        once.  Handlers belong to the space, not to the entities: `esper.clear_database` keeps
        them, and `clear_handlers` removes them.  A level that is built again after
        `esper.clear_database` does not double its handlers: a nested function, a lambda or a
        method takes the place of those that the same definition gave for the same component
        types before.

        Parameters
        ----------
        function : callable
            Takes the event.  It is held strongly.
        first_kind, second_kind : type, optional
            Only for collisions between bodies with these components.  `first` of the event is
            the body with the first one, `second` the other; normal, positions and velocities
            follow.  If both bodies would do as either, the lower id is first.

        Returns
        -------
        callable
            Call it to unsubscribe.
        """
        return self._subscribers.add(self._world, COLLISION, function, first_kind, second_kind)

    def on_contact_began(
        self,
        function: Callable[[ContactBegan], object],
        first_kind: type | None = None,
        second_kind: type | None = None,
    ) -> Unsubscribe:
        """Call a function for each contact that begins; as `on_collision`."""
        return self._subscribers.add(self._world, CONTACT_BEGAN, function, first_kind, second_kind)

    def on_contact_ended(
        self,
        function: Callable[[ContactEnded], object],
        first_kind: type | None = None,
        second_kind: type | None = None,
    ) -> Unsubscribe:
        """Call a function for each contact that ends; as `on_collision`."""
        return self._subscribers.add(self._world, CONTACT_ENDED, function, first_kind, second_kind)

    def on_contact(
        self,
        function: Callable[[Contact], object],
        first_kind: type | None = None,
        second_kind: type | None = None,
    ) -> Unsubscribe:
        """Call a function in each step in which two bodies touch; otherwise as `on_collision`.

        It is called once in a step for each two bodies, with their `Contact`: if they touch at
        the end of the step, or began to touch within it, such as two that bounce apart.  Bodies
        that sleep go on touching.
        """
        return self._subscribers.add(self._world, CONTACT, function, first_kind, second_kind)

    @property
    def handlers(self) -> list[Handler]:
        """The functions registered by `on_collision` and the three `on_contact` functions.

        In the order in which they were registered; print one to see how.  A copy.
        """
        return self._subscribers.all

    def clear_handlers(self) -> None:
        """Remove all `handlers`, also those that events of this step have not reached yet.

        What `respond_with`, `filter_pairs` and `esper.set_handler` were given stays.
        """
        self._subscribers.clear()

    # -- what is where --

    @property
    def entities(self) -> list[int]:
        """The bodies as of the end of the last step, sorted by id."""
        self._guard.put_right()
        entities: list[int] = self._roster.entities.tolist()
        return entities

    def __len__(self) -> int:
        self._guard.put_right()
        return len(self._roster.rows)

    def __contains__(self, entity: object) -> bool:
        self._guard.put_right()
        return entity in self._roster.row_of

    # A body that no step has read yet is read from its components, and written to them.

    def bounds(self, entity: int) -> tuple[Vector, Vector]:
        """Return the min and the max corner of a body."""
        row, columns = self._row(entity), self._roster.columns
        if row < 0:
            low, high = self._new_body(entity).corners
            return tuple(low), tuple(high)
        return tuple(columns.tight_min[row].tolist()), tuple(columns.tight_max[row].tolist())

    def positions(self, entities: ArrayLike | None = None) -> NDArray[np.float64]:
        """Return the centres of bodies, float64 (n, dim); None: all, in the order of `entities`."""
        rows, new = self._rows(entities)
        centres = self._roster.columns.seen_centre.take(rows, axis=0)
        for place, entity in new:
            centres[place] = self._new_body(entity).centre
        return centres

    def velocities(self, entities: ArrayLike | None = None) -> NDArray[np.float64]:
        """Return the velocities of bodies, float64 (n, dim); zeros for those without."""
        rows, new = self._rows(entities)
        velocities = self._roster.columns.seen_velocity.take(rows, axis=0)
        for place, entity in new:
            velocities[place] = self._new_body(entity).velocity
        return velocities

    def set_positions(self, entities: ArrayLike | None, positions: ArrayLike) -> None:
        """Write centres into the `Position` of bodies.

        The next step takes them as teleports, or with ``motion="swept"`` as
        where the bodies are to go.  It reads those that are `Fixed` again, and takes them as
        teleports.
        """
        position, extents = self._roster.makers
        for entity, value in self._vectors("positions", entities, positions):
            place, size = (self._component(entity, kind.type) for kind in (position, extents))
            self._roster.set_centre(place, size, value)
            self._read_again(entity)

    def set_velocities(self, entities: ArrayLike | None, velocities: ArrayLike) -> None:
        """Write velocities into the `Velocity` of bodies."""
        kind = self.components.velocity.kind
        for entity, value in self._vectors("velocities", entities, velocities):
            component = self._component(entity, kind)
            if component is None:
                raise ValueError(f"entity {entity} has no {kind.__name__} to set")
            self._roster.set_velocity(component, value)

    def set_extents(self, entities: ArrayLike | None, extents: ArrayLike) -> None:
        """Write half sizes into the `Extents` of bodies, (n, dim) of zero or more.

        The next step takes that as the game's own changes of size, and reads those that are
        `Fixed` again.  A game's own component that holds whole sizes gets these.
        """
        kind = self._roster.makers[1]
        found = list(self._vectors("extents", entities, extents))
        _checks.refuse_negative("extents", np.array([value for _, value in found]))
        for entity, value in found:
            self._roster.set_half(self._component(entity, kind.type), value)
            self._read_again(entity)

    def set_growths(self, entities: ArrayLike | None, growths: ArrayLike) -> None:
        """Write the rates of half sizes into the `Growth` of bodies, (n, dim)."""
        self._set_of("growth", "growths", entities, growths)

    def set_masses(self, entities: ArrayLike | None, masses: ArrayLike) -> None:
        """Write masses into the `Mass` of bodies, (n,) above 0; inf is immovable by contact."""
        values = np.asarray(masses, np.float64)
        rows, _ = self._rows(entities)
        if values.shape != (len(rows),):
            raise ValueError(
                f"masses has shape {values.shape} and must be {(len(rows),)}: one for each entity"
            )
        if not (values > 0.0).all():
            row = int(np.flatnonzero(~(values > 0.0))[0])
            raise ValueError(f"masses[{row}]={values[row]!r} must be above 0, or inf")
        kind, (name,) = self.components.mass
        ids = self._roster.entities if entities is None else np.asarray(entities)
        for component, value in zip(
            self._components_of(kind, ids.tolist()), values.tolist(), strict=True
        ):
            write_number(component, name, value)

    def _set_of(self, role: str, name: str, entities: ArrayLike | None, values: ArrayLike) -> None:
        """Write vectors into the components that play a role; all or none of them."""
        kind, names = self.components.vector(role, self.dim)
        found = list(self._vectors(name, entities, values))
        components = self._components_of(kind, [entity for entity, _ in found])
        for component, (_, value) in zip(components, found, strict=True):
            for part, number in zip(names, value, strict=True):
                write_number(component, part, number)

    def _components_of(self, kind: type, entities: list[int]) -> list[Any]:
        """Return the component of some kind of each entity, or raise."""
        components = [self._component(entity, kind) for entity in entities]
        for entity, component in zip(entities, components, strict=True):
            if component is None:
                raise ValueError(f"entity {entity} has no {kind.__name__} to set")
            self._read_again(entity)
        return components

    def _read_again(self, entity: int) -> None:
        """Have the next step read the components of a body, if it is `Fixed` too."""
        row = self._roster.row_of.get(entity)
        if row is not None:
            self._roster.read_again(row)

    def _component(self, entity: int, kind: type) -> Any | None:
        """Return the component of some kind that a body has now."""
        return self._presence.component(self.world, entity, kind)

    def _vectors(
        self, name: str, entities: ArrayLike | None, values: ArrayLike
    ) -> Iterator[tuple[int, list[float]]]:
        """Yield each entity and its vector."""
        rows, _ = self._rows(entities)
        ids = self._roster.entities if entities is None else np.asarray(entities)
        array = _checks.vectors(name, values) if np.size(values) else np.zeros((0, self.dim))
        if array.shape != (len(rows), self.dim):
            raise ValueError(
                f"{name} has shape {array.shape} and must be {(len(rows), self.dim)}: "
                "a row for each entity"
            )
        return zip(ids.tolist(), array.tolist(), strict=True)

    def teleport(self, entity: int, position: VectorLike) -> None:
        """Put a body somewhere else: no sweep between, and its contacts end and begin anew.

        The same as setting its `Position`, with a check; with
        ``motion="swept"`` the way to have no sweep.  The way to move a `Fixed` body, whose
        components the next step reads again.
        """
        self.set_positions([entity], np.asarray(position)[None])
        row = self._row(entity)
        if self._roster.sweeps and row >= 0:  # what is new is not swept in its first step anyway
            self._roster.drives.put.add(row)

    # -- what puzzles --

    def explain(self, first: int, second: int) -> Explanation:
        """Say why two entities do or do not collide; print the result, it is a sentence.

        It looks at the components as they are now, and at the last step.

        Raises
        ------
        RuntimeError
            The space belongs to no world yet, or another one is current.
        """
        return explain.explain(self, first, second)

    def doctor(self) -> Findings:
        """Return what would puzzle the maker of this world; print it, each finding is a line.

        Looks at every entity: O(entities).  Nothing is changed.

        Raises
        ------
        RuntimeError
            The space belongs to no world yet, or another one is current.
        """
        return doctor.examine(self)

    # -- invariants --

    def check(self) -> None:
        """Verify what must always hold of trees, rows and contacts.

        Between the stages of a step, or after one that was broken off, the
        boxes are not compared with the trees, which are ahead of them.

        Raises
        ------
        AssertionError
            Naming what does not hold.
        """
        roster, (still, moving) = self._roster, self._trees
        c = roster.columns
        still.check()
        moving.check()
        placed = roster.rows[c.quarantined[roster.rows] == 0]
        assert still.n_items + moving.n_items == len(placed), "the trees lack bodies"
        low, high = np.zeros((c.capacity, self.dim)), np.zeros((c.capacity, self.dim))
        for row in placed.tolist():
            tree = moving if c.moves[row] else still
            assert tree.bounds_into(row, low.data, high.data, row), "not in its tree"
        if not self.is_stepping:
            assert (low[placed] <= c.tight_min[placed]).all(), "a body is outside its bounds"
            assert (high[placed] >= c.tight_max[placed]).all(), "a body is outside its bounds"
        for contact in self.contacts():
            assert contact.first in self, f"contact of {contact.first}, which is no body"
            assert contact.second in self, f"contact of {contact.second}, which is no body"


def _require_number(name: str, value: float) -> None:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not value >= 0.0:
        raise ValueError(f"Space({name}={value!r}) must be a number, 0 or more")


def _require_count(name: str, value: int) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value < 2**62:
        raise ValueError(f"Space({name}={value!r}) must be a whole number from 1 to 2**62 - 1")
