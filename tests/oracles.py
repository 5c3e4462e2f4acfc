"""Oracles of a step, by the components that a game sees and nothing the library remembers."""

from __future__ import annotations

import math
from collections.abc import Sequence

import esper
import numpy as np

import ecs_collide as ec
from ecs_collide._kernel.constants import BEGAN
from ecs_collide.extend import contacts_of_step
from tests.scenes import SLOP

HAIR = 4e-200  # bodies without thickness are kept apart by at least half of it
SOFT_DEPTH = 2.0**-24
WITHIN = 4  # slops: within a step a path may reach further than at both its ends

_RESPONSES = (ec.Stop, ec.Push, ec.Slide, ec.Deflect)


class Oracle:
    """Compares the events and contacts of each step with all pairs of boxes.

    Call `begin` before a step, when the game has done what it does, and `end`
    after it.

    Parameters
    ----------
    room : pair of corners, optional
        What yields and is not crushed must stay between them.
    slops
        How many slops bodies may be inside one another.
    rewrites
        Whether the game writes into masses, filters and attachments, of which esper says nothing.
    """

    def __init__(
        self,
        space: ec.Space,
        dim: int,
        room: tuple[Sequence[float], Sequence[float]] | None = None,
        slops: float = WITHIN,
        *,
        rewrites: bool = False,
    ) -> None:
        self.space = space
        self.dim = dim
        self.slops = slops
        self.rewrites = rewrites
        self.room = None if room is None else (np.array(room[0]), np.array(room[1]))
        self.open: set[tuple[int, int]] = set()  # contacts that have begun and not ended
        self.n_began = self.n_ended = 0
        self._bodies: object = None

    def _find_bodies(self) -> None:
        """Find entities and components, unless esper says that none came or went."""
        bodies = esper.get_components(ec.Position, ec.Extents)
        if bodies is self._bodies:
            return
        self._bodies = bodies
        known = sorted((body for body in bodies if not is_off(body[0])), key=lambda body: body[0])
        self.entities = [entity for entity, _ in known]
        self._places = [place for _, (place, _) in known]
        self._sizes = [size for _, (_, size) in known]
        moves = self._has(ec.Velocity, ec.Growth, ec.Attached)
        self.movers = np.flatnonzero(moves)
        yields = np.array([is_dynamic(entity) for entity in self.entities], bool)
        sensor = self._has(ec.Sensor, ec.Attached)
        filters = [esper.try_component(e, ec.Filter) or ec.Filter() for e in self.entities]
        self._filters = np.array([(f.categories, f.mask, f.group) for f in filters]).reshape(-1, 3)
        boxes = [esper.try_component(e, ec.Attached) for e in self.entities]
        self._owners = np.array(
            [e if b is None else b.owner for e, b in zip(self.entities, boxes, strict=True)]
        )
        self._soft, self._one_way = self._has(ec.Separate), self._has(ec.OneWay)
        self.stays = yields & ~sensor & ~self._has(ec.Filter, ec.OneWay)  # not all meet walls
        self._dynamic, self._sensor, self._moves = yields, sensor, moves
        self._find_slopes()

    def _find_slopes(self) -> None:
        """Find the slopes: static and kinematic ones are no boxes, unless they grow."""
        self._slopes = {}
        for row in np.flatnonzero(
            self._has(ec.Slope) & ~self._dynamic & ~self._has(ec.Attached)
        ).tolist():
            self._slopes[row] = esper.component_for_entity(self.entities[row], ec.Slope)
        self._is_slope = np.zeros(len(self.entities), bool)
        self._is_slope[list(self._slopes)] = True
        self._resizes = self._has(ec.Growth)

    def lines(self, low: np.ndarray, high: np.ndarray, i: np.ndarray, j: np.ndarray) -> np.ndarray:
        """Return how far each pair is apart at the line of its slope, in slops of its coordinates.

        The distance is along the normal.  -inf for boxes, and nan for what may be a box or not.
        """
        found = np.full(len(i), -np.inf)
        up = next(k for k in range(self.dim) if self.space.up[k])
        for n in np.flatnonzero(self._is_slope[i] != self._is_slope[j]).tolist():
            s, box = (i[n], j[n]) if self._is_slope[i[n]] else (j[n], i[n])
            slope = self._slopes[s]
            run = next(k for k in range(3) if slope.rise[k])
            if run == up or not (high[s] > low[s]).all():
                continue
            forth, out, at_low, at_high = slope.rise[run], self.space.up[up], slope.low, slope.high
            if slope.ceiling:
                forth, out, at_low, at_high = -forth, -out, 1 - slope.high, 1 - slope.low
            width, height = high[s] - low[s], high[s][up] - low[s][up]
            end = low[s][run] if forth > 0 else high[s][run]
            base = low[s][up] if out > 0 else high[s][up]
            front = high[box][run] if forth > 0 else low[box][run]
            corner = low[box][up] if out > 0 else high[box][up]
            tan = height * (at_high - at_low) / width[run]
            above = out * (corner - base)
            gap = (above - height * at_low - tan * forth * (front - end)) / math.hypot(1.0, tan)
            gap = max(gap, above - height * at_high)
            reach = max(abs(corner), abs(base)) + tan * max(abs(front), abs(end))
            found[n] = np.nan if self._resizes[s] else gap / (SLOP * reach)
        return found

    def _has(self, *kinds: type) -> np.ndarray:
        return np.array(
            [any(esper.has_component(e, kind) for kind in kinds) for e in self.entities], bool
        )

    def look(self) -> tuple[np.ndarray, np.ndarray]:
        """Read the lower and upper corners of all boxes."""
        self._find_bodies()
        centre = np.array([(c.x, c.y, c.z) for c in self._places]).reshape(-1, 3)[:, : self.dim]
        size = np.array([(c.x, c.y, c.z) for c in self._sizes]).reshape(-1, 3)[:, : self.dim]
        return centre - size, centre + size

    def find_pairs(self, low: np.ndarray, high: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return each pair that is near on the first axis and of which one moves, once."""
        m = self.movers
        gap = np.maximum(low[m, None, 0] - high[:, 0], low[:, 0] - high[m, None, 0])
        rows, second = np.nonzero(gap <= 1e-6 * (1.0 + np.abs(low).max(initial=0.0)))
        first = m[rows]
        once = (first != second) & (~self._moves[second] | (first < second))
        once &= self._owners[first] != self._owners[second]  # boxes of one owner, and the owner
        once &= self._meet(first, second)
        return first[once], second[once]

    def solid_pairs(self, i: np.ndarray, j: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return which pairs are solid, and of which one lets the other pass from some sides."""
        solid = (self._dynamic[i] | self._dynamic[j]) & ~self._sensor[i] & ~self._sensor[j]
        return solid & ~(self._soft[i] & self._soft[j]), self._one_way[i] | self._one_way[j]

    def _meet(self, i: np.ndarray, j: np.ndarray) -> np.ndarray:
        """Return which pairs their filters allow."""
        (one, mask, group), (other, others_mask, others) = self._filters[i].T, self._filters[j].T
        by_masks = (one & others_mask != 0) & (other & mask != 0)
        return np.where((group == others) & (group != 0), group > 0, by_masks)

    def begin(self) -> None:
        """Remember the boxes before the step."""
        if self.rewrites:
            self._bodies = None
        self._old = *self.look(), self.entities

    def end(self, *, also_contacts: bool = True) -> None:
        """Check the last step."""
        self.check_events()
        self.check_balance()
        low, high = self.look()
        old_low, old_high, old_entities = self._old
        if self.entities != old_entities:  # some were deleted in the step
            stayed = np.isin(old_entities, self.entities)
            assert np.array(old_entities)[stayed].tolist() == self.entities
            old_low, old_high = old_low[stayed], old_high[stayed]
        i, j = self.find_pairs(low, high)
        reach = reach_of(low, high, i, j)
        slop = SLOP * np.maximum(reach, reach_of(old_low, old_high, i, j))
        gaps = gaps_of(low, high, i, j)
        soft = self._soft[i] & self._soft[j]
        solid, passing = self.solid_pairs(i, j)
        lines = self.lines(low, high, i, j)
        deep = solid & ~passing & (gaps < -self.slops * slop).all(axis=1) & (lines < -self.slops)
        new = deep & ~(
            (gaps_of(old_low, old_high, i, j) < -self.slops * slop).all(axis=1)
            & ~(self.lines(old_low, old_high, i, j) >= -self.slops)  # nan may have been inside
        )
        self.check_depth(i[new], j[new], gaps[new])
        if self.room is not None:
            self.check_capacity(old_low, old_high, low, high, np.concatenate([i[deep], j[deep]]))
        if also_contacts:
            there = set(self.entities)
            assert [e for e in self.space.entities if e in there] == self.entities
            assert all(
                is_off(e) for e in self.space.entities if e not in there and esper.entity_exists(e)
            )
            # Members of a soft crowd are together if they overlap by a part of their sizes.
            least = soft[:, None] * SOFT_DEPTH * ((high - low)[i] + (high - low)[j])
            self.check_contacts(i, j, solid, passing, least, gaps, SLOP * reach, slop, lines)

    def check_events(self) -> None:
        """Events come in time order and say what events may say."""
        array = self.space.collision_array
        times = array["time"]
        assert ((times >= 0) & (times < 1)).all()
        assert (np.diff(times) >= 0).all()
        assert (array["first"] < array["second"]).all()
        assert (np.abs((array["normal"] ** 2).sum(axis=1) - 1) < 1e-15).all()
        assert (array["closing_speed"] >= 0).all()
        assert (np.diff(self.space.contact_array["time"]) >= 0).all()

    def check_balance(self) -> None:
        """A contact begins where there is none and ends where there is one."""
        array = self.space.contact_array
        for event, first, second in zip(
            *(array[name].tolist() for name in ("event", "first", "second")), strict=True
        ):
            if event == BEGAN:
                assert (first, second) not in self.open, "a contact began twice"
                self.open.add((first, second))
                self.n_began += 1
            else:
                assert (first, second) in self.open, "a contact ended that had not begun"
                self.open.remove((first, second))
                self.n_ended += 1

    def check_depth(self, i: np.ndarray, j: np.ndarray, gaps: np.ndarray) -> None:
        """Solid pairs never get inside one another, except those that are crushed."""
        if not len(i):
            return
        array = self.space.collision_array
        array = array[array["outcome"] == ec.Outcome.CRUSHED]
        crushed = set(zip(array["first"].tolist(), array["second"].tolist(), strict=True))
        for pair, gap in zip(self._ids(i, j), gaps.tolist(), strict=True):
            assert pair in crushed, f"{pair} got inside by {gap}"

    def _ids(self, i: np.ndarray, j: np.ndarray) -> list[tuple[int, int]]:
        """Return the entities of pairs of rows, the lower first."""
        e = self.entities  # sorted
        return [(e[min(r, s)], e[max(r, s)]) for r, s in zip(i.tolist(), j.tolist(), strict=True)]

    def check_capacity(
        self,
        old_low: np.ndarray,
        old_high: np.ndarray,
        low: np.ndarray,
        high: np.ndarray,
        crushed: np.ndarray,
    ) -> None:
        """What yields and was in the room stays in it, but for what is crushed."""
        largest = max(np.abs(low).max(), np.abs(high).max())  # walls reach far
        least, most = self.room
        least, most = least - self.slops * SLOP * largest, most + self.slops * SLOP * largest
        stays = self.stays & ((old_low >= least) & (old_high <= most)).all(axis=1)
        stays[crushed] = False
        array = self.space.collision_array
        array = array[array["outcome"] == ec.Outcome.CRUSHED]  # such a body may pass what it is in
        stays &= ~np.isin(self.entities, np.concatenate([array["first"], array["second"]]))
        assert (low[stays] >= least).all(), "somebody is outside"
        assert (high[stays] <= most).all(), "somebody is outside"

    def check_contacts(
        self,
        i: np.ndarray,
        j: np.ndarray,
        solid: np.ndarray,
        passing: np.ndarray,
        soft_depth: np.ndarray,
        gaps: np.ndarray,
        least_slop: np.ndarray,
        slop: np.ndarray,
        lines: np.ndarray,
    ) -> None:
        """The contacts are those that the boxes show, and those that began and have not ended."""
        clearly_inside = (gaps < -WITHIN * slop - soft_depth).all(axis=1)
        near = (gaps <= least_slop / 4).all(axis=1)
        maybe_near = (gaps <= WITHIN * slop + HAIR).all(axis=1)
        deep_axes = (gaps < -WITHIN * slop).sum(axis=1)
        maybe_deep_axes = (gaps < -least_slop / 4).sum(axis=1)
        # At the ends of a line a body may touch the slope with a corner only.
        at_end = (lines > -2 * WITHIN) & (deep_axes < self.dim)
        clearly_inside &= lines < -WITHIN
        near &= (lines <= 0.25) & ~at_end
        maybe_near &= ~(lines > 2 * WITHIN)
        sure = ~passing & np.where(solid, near & (deep_axes >= self.dim - 1), clearly_inside)
        maybe = np.where(solid, maybe_near & (maybe_deep_axes >= self.dim - 1), maybe_near)
        contacts = contacts_of_step(self.space)
        known = {(contact.first, contact.second): contact for contact in contacts}
        assert known.keys() == self.open
        for pair in self._ids(i[sure], j[sure]):
            assert pair in known, f"{pair} lies together"
        kinds = dict(zip(self._ids(i[maybe], j[maybe]), solid[maybe].tolist(), strict=True))
        either = set(self._ids(i[passing], j[passing]))  # through a one-way body, or on it
        there = set(self.entities)
        moving = {self.entities[row] for row in self.movers.tolist()}
        for pair, contact in known.items():
            if not there.issuperset(pair) or moving.isdisjoint(pair):
                continue  # deleted by a handler, or nobody looks
            assert pair in kinds, contact
            assert (contact.kind is ec.ContactKind.SOLID) == kinds[pair] or pair in either, contact


def is_off(entity: int) -> bool:
    """Return whether a body is disabled, or attached to what is no body in the world."""
    if esper.has_component(entity, ec.Disabled):
        return True
    box = esper.try_component(entity, ec.Attached)
    if box is None:
        return False
    if not esper.entity_exists(box.owner):
        return True
    kinds = set(map(type, esper.components_for_entity(box.owner)))
    return not kinds >= {ec.Position, ec.Extents} or bool(kinds & {ec.Attached, ec.Disabled})


def is_dynamic(entity: int) -> bool:
    """Return whether impacts may change the velocity of a body."""
    has = set(map(type, esper.components_for_entity(entity)))
    if ec.Attached in has or ec.Velocity not in has or has.isdisjoint(_RESPONSES):
        return False
    mass = esper.try_component(entity, ec.Mass)
    return mass is None or mass.value != math.inf


def gaps_of(low: np.ndarray, high: np.ndarray, i: np.ndarray, j: np.ndarray) -> np.ndarray:
    """Return the gaps of pairs on each axis: positive apart, negative inside."""
    return np.maximum(low[i] - high[j], low[j] - high[i])


def reach_of(low: np.ndarray, high: np.ndarray, i: np.ndarray, j: np.ndarray) -> np.ndarray:
    """Return the largest |face| of pairs on each axis."""
    reach = np.maximum(np.abs(low), np.abs(high))
    return np.maximum(reach[i], reach[j])
