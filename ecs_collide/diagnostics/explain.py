"""Explain in sentences why two entities do or do not collide."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from itertools import product
from typing import NamedTuple

import numpy as np

from ecs_collide._kernel.constants import SLOP
from ecs_collide.components.base import NamedText
from ecs_collide.components.basics import Disabled
from ecs_collide.components.dynamics import Attached, Dominance, LockedAxes, Separate
from ecs_collide.components.filters import NAMES, Filter, filter_numbers
from ecs_collide.components.slope import Slope
from ecs_collide.components.surfaces import OneWay, solid_side
from ecs_collide.diagnostics.findings import (
    Box,
    Corners,
    Examination,
    Examined,
    Finding,
    finding_about,
    odd_about,
)
from ecs_collide.motion.wrapping import nearest_shift
from ecs_collide.sweeps import SweepKind, sweep


class Verdict(NamedText):
    """The treatment of a pair by the next step."""

    IGNORED = "cannot collide"
    """The step ignores the pair."""
    CROSSING = "cross each other freely"
    """The step reports when they enter and leave each other, and changes nothing."""
    SOLID = "collide when they meet"
    """The step resolves their impacts."""


class Explanation(NamedTuple):
    """The reasons why two entities do or do not collide; `str` of it is the sentence.

    Attributes
    ----------
    first, second : int
        The lower and the higher entity id.
    verdict : Verdict
    findings : tuple of Finding
        The reasons, and the placement of the two.
    """

    first: int
    second: int
    verdict: Verdict
    findings: tuple[Finding, ...]

    def __str__(self) -> str:
        why = "; ".join(finding.message for finding in self.findings)
        return f"entities {self.first} and {self.second} {self.verdict.value}" + (
            why and f": {why}"
        )


def explain(examined: Examined, first: int, second: int) -> Explanation:
    """Return why two entities do or do not collide."""
    e = Examination(examined)
    for name, entity in (("first", first), ("second", second)):
        if isinstance(entity, bool) or not isinstance(entity, (int, np.integer)):
            raise TypeError(f"explain({name}={entity!r}) must be the id of an entity, an int")
    first, second = min(first, second), max(first, second)
    if first == second:
        same = Finding("same", (first,), "it is one and the same entity")
        return Explanation(first, second, Verdict.IGNORED, (same,))
    findings: list[Finding] = []
    for entity in (first, second):
        findings += [*_missing(e, entity), *odd_about(e, entity), *_odd_about_owner(e, entity)]
    if not all(e.is_sound(entity) and _has_sound_owner(e, entity) for entity in (first, second)):
        return Explanation(first, second, Verdict.IGNORED, tuple(findings))
    verdict, reasons = _odd_about_pair(e, first, second)
    findings += reasons
    findings += _describe_placement(e, first, second, verdict)
    findings += _past(e, first, second)
    return Explanation(first, second, verdict, tuple(findings))


def _missing(e: Examination, entity: int) -> Iterator[Finding]:
    """Yield a finding if an entity does not exist, or is new to the space."""
    found = partial(finding_about, entity)
    if entity not in e.components and not e.world.exists(entity):
        yield found("no_entity", "does not exist")
    elif entity in e.dead:
        yield found("deleted", "is deleted, and gone with the next esper.process()")
    elif not e.is_body(entity):
        if not any(e.has(entity, kind) for kind in e.kinds):
            yield found("no_body", "has no component that the space reads")
    elif Disabled in e.of(entity):
        yield found("disabled", "has Disabled, which switches it off: steps and queries skip it")
    elif e.row(entity) is None:
        yield found("not_yet_seen", "is new since the last step; the next one takes it over")
    elif e.is_changed(entity):
        yield found(
            "not_yet_seen",
            "has got or lost components since the last step; the next one takes that over",
        )


def _has_sound_owner(e: Examination, entity: int) -> bool:
    """Return whether a step can compute with the owner of an entity, if it is attached."""
    owner = _owner_of(e, entity)
    return owner is None or e.is_sound(owner)


def _odd_about_owner(e: Examination, entity: int) -> Iterator[Finding]:
    """Yield why the owner of an attached box is skipped in the steps, and the box with it."""
    owner = _owner_of(e, entity)
    if owner is not None and e.is_body(owner) and not e.is_sound(owner):
        text = f"is attached to entity {owner}, which is skipped in the steps"
        yield finding_about(entity, "owner_skipped", text)
        yield from _missing(e, owner)
        yield from odd_about(e, owner)


def _odd_about_pair(e: Examination, first: int, second: int) -> tuple[Verdict, list[Finding]]:
    """Return how a step treats two sound bodies, and why."""
    both = (first, second)
    kept_apart = _kept_apart(e, first, second)
    if kept_apart is not None:
        return Verdict.IGNORED, [kept_apart]
    if not (e.is_moving(first) or e.is_moving(second)):
        names = f"{e.velocity.type.__name__} and {e.growth.type.__name__}"
        names += " and responses" if e.sweeps else ""
        resting = Finding(
            "at_rest",
            both,
            f"both are without {names}: a pair that does not move is not tested, except in the "
            "step after the game has moved or resized one of them, or created one where the other "
            "is a Sensor",
        )
        if not any(e.is_moved_by_the_game(entity) for entity in both):
            return Verdict.IGNORED, [resting]
    crossed = _crossed(e, first, second)
    if crossed is not None:
        return Verdict.CROSSING, [crossed]
    return Verdict.SOLID, [
        *_one_ways(e, first, second),
        *_who_pushes(e, first, second),
        *_resolved_by(e, first, second),
    ]


def _crossed(e: Examination, first: int, second: int) -> Finding | None:
    """Return why two bodies that may meet cross each other, or None if they are solid."""
    both = (first, second)
    for entity in both:
        if e.has(entity, e.sensor):
            return finding_about(entity, "sensor", "is a Sensor, which is crossed")
    for entity in both:
        if Attached in e.of(entity):
            text = f"is attached to entity {_owner_of(e, entity)}, and is crossed"
            return finding_about(entity, "attached", text)
    if not (e.is_dynamic(first) or e.is_dynamic(second)):
        velocity = "" if e.sweeps else f"{e.velocity.type.__name__}, "
        text = (
            f"neither is dynamic: that takes {velocity}a response (Slide, Deflect, Push, Stop or "
            "one of your own) and finite Mass"
        )
        return Finding("neither_dynamic", both, text)
    if all(Separate in e.of(entity) for entity in both):
        return Finding("soft", both, "both have Separate: while they overlap they are moved apart")
    if e.is_crossing_allowed(first, second):
        return Finding("let_cross", both, "a response makes them cross until they separate")
    return None


def _resolved_by(e: Examination, first: int, second: int) -> Iterator[Finding]:
    """Yield the custom responses and decisions for the impacts of two solid bodies."""
    both = (first, second)
    names = e.own_responses.offered_to(first, second)
    if names:
        yield Finding("offered", both, f"their impacts are offered to {', then '.join(names)}")


def _kept_apart(e: Examination, first: int, second: int) -> Finding | None:
    """Return why two bodies never meet, or None if they may."""
    both = (first, second)
    owners = [_owner_of(e, entity) for entity in both]
    if (owners[0] or first) == (owners[1] or second):
        if None in owners:
            box, owner = both if owners[0] else both[::-1]
            text = f"entity {box} is attached to entity {owner}: a box never meets its owner"
        else:
            text = f"both are attached to entity {owners[0]}: boxes of one owner never meet"
        return Finding("attached", both, text)
    (categories, mask, group), (others, other_mask, other_group) = (
        filter_numbers(e.of(entity).get(Filter)) for entity in both
    )
    if group == other_group != 0:
        if group < 0:
            return Finding("group", both, f"both are of group {group}, and negative ones never")
    else:
        for entity, its, other, wanted in (
            (first, categories, second, other_mask),
            (second, others, first, mask),
        ):
            if not its & wanted:
                text = (
                    f"entity {other} has Filter.mask {_named(wanted)}, and none of its bits is "
                    f"among the categories of entity {entity}, {_named(its)}"
                )
                return Finding("filter", both, text)
    for allows, first_kind, second_kind in e.pair_filters.all:
        pair = ((first, second), (second, first))
        if any(
            (first_kind is None or first_kind in e.of(a))
            and (second_kind is None or second_kind in e.of(b))
            for a, b in pair
        ) and not allows(first, second):
            name = getattr(allows, "__name__", repr(allows))
            return Finding("predicate", both, f"filter_pairs() callback {name} rejects this pair")
    return None


def _owner_of(e: Examination, entity: int) -> int | None:
    """Return the entity that another is attached to, or None."""
    attached = e.of(entity).get(Attached)
    return None if attached is None else attached.owner


def _named(bits: int) -> str:
    """Return the bits of categories as text, and their names if they have any."""
    names = NAMES.shown(bits)
    return f"{bits:#x}" if names is None else f"{bits:#x} ({names})"


def _one_ways(e: Examination, first: int, second: int) -> Iterator[Finding]:
    """Yield the side from which two solid bodies meet, if it is one side only."""
    for platform, other in ((first, second), (second, first)):
        one_way = e.of(platform).get(OneWay)
        if one_way is None or not e.is_dynamic(other):
            continue
        normal = solid_side(one_way, e.up)
        k = next(k for k in range(e.dim) if normal[k] != 0.0)
        solid, body = e.box(platform), e.box(other)
        (low, high), (below, above) = _faces(solid, k), _faces(body, k)
        gap = below - high if normal[k] > 0.0 else low - above
        where = "it is there" if gap >= -_slop(solid, body, k) else "it is not, and passes through"
        yield Finding(
            "one_way",
            (first, second),
            f"entity {platform} is OneWay: solid for a body fully on the side to which "
            f"{'-' if normal[k] < 0.0 else ''}{'xyz'[k]} points; entity {other}: {where}",
        )


def _who_pushes(e: Examination, first: int, second: int) -> Iterator[Finding]:
    """Yield why one of two solid bodies does not move for the other, though it is dynamic."""
    both = [entity for entity in (first, second) if e.is_dynamic(entity)]
    ranks = {entity: e.of(entity).get(Dominance, Dominance(0)) for entity in both}
    levels = {entity: (int(its.level), int(its.blocks)) for entity, its in ranks.items()}
    if len(set(levels.values())) == 2:
        lower, higher = sorted(both, key=levels.__getitem__)
        yield Finding(
            "dominance",
            (first, second),
            f"entity {higher} has {ranks[higher]!r} and entity {lower} {ranks[lower]!r}: "
            f"only entity {lower} gives way, unless something holds it",
        )
    elif len(both) == 2 and ranks[first].blocks:
        text = f"both have {ranks[first]!r}: they stop at each other, and neither pushes"
        yield Finding("dominance", (first, second), text)
    for entity in both:
        locked = e.of(entity).get(LockedAxes)
        axes = [axis for axis in "xyz"[: e.dim] if locked is not None and getattr(locked, axis)]
        if axes:
            text = f"entity {entity} has LockedAxes: along {' and '.join(axes)} it never moves"
            yield Finding("locked_axes", (entity,), text)


def _describe_placement(
    e: Examination, first: int, second: int, verdict: Verdict
) -> Iterator[Finding]:
    """Yield the present placement of two sound bodies."""
    both = (first, second)
    for entity in both:
        if e.is_moved_by_the_game(entity):
            text = f"the game has set where entity {entity} is, or how large, since the last step"
            then = "the next step sweeps it there" if e.sweeps else "nothing is swept in between"
            yield Finding("moved", (entity,), f"{text}: {then}")
    one, two = e.box(first), e.box(second)
    shifts = nearest_shift(e.wrap, one.centre, two.centre)
    across = [k for k in range(e.dim) if shifts[k] != 0.0]
    if across:
        two = two._replace(centre=[at + off for at, off in zip(two.centre, shifts, strict=True)])
        edges = " and ".join("xyz"[k] for k in across)
        yield Finding(
            "across",
            both,
            f"they are nearest across the edge of the world on {edges}: from entity {first}, "
            f"entity {second} is at {tuple(two.centre)!r}",
        )
    apart = [k for k in range(e.dim) if _gap(one, two, k) > _slop(one, two, k)]
    if apart:
        yield from _describe_apart(e, both, (one, two), apart)
    else:
        yield from _describe_together(e, both, (one, two), verdict)


def _describe_apart(
    e: Examination, both: tuple[int, int], boxes: tuple[Box, Box], apart: list[int]
) -> Iterator[Finding]:
    """Yield the gaps of two bodies on the axes `apart`, and when they meet."""
    one, two = boxes
    falls = _falling(one, e.acceleration(both[0])), _falling(two, e.acceleration(both[1]))
    for k in apart:
        closing = _closing(one, two, k)
        how = "which does not close"
        if closing > 0.0:
            how = f"closing by {closing:.6g} a second"
        elif _closing(*falls, k) > 0.0:
            how = "which gravity closes"
        yield Finding("gap", both, f"gap {_gap(one, two, k):.6g} on {'xyz'[k]}, {how}")
    hits = [
        sweep(one.centre, one.half, one.velocity, centre, two.half, two.velocity,
              one.growth, two.growth)
        for centre in _images(e, two.centre)
    ]  # fmt: skip
    times = [hit.time for hit in hits if hit.kind is SweepKind.IMPACT and hit.time is not None]
    if times and not any(Slope in e.of(entity) for entity in both):
        alone = "left alone"
        if falls[0].velocity != falls[1].velocity:
            alone += ", and without gravity,"
        yield Finding("ahead", both, f"{alone} they meet in {min(times):.6g} seconds")


def _describe_together(
    e: Examination, both: tuple[int, int], boxes: tuple[Box, Box], verdict: Verdict
) -> Iterator[Finding]:
    """Yield how two bodies without a gap touch or overlap."""
    (first, second), (one, two) = both, boxes
    gaps = [_gap(one, two, k) for k in range(e.dim)]
    near = [k for k in range(e.dim) if gaps[k] >= -_slop(one, two, k)]
    in_slope = e.depth_in_slope(first, _corners(one), second, _corners(two))
    slop = 4.0 * max(_slop(one, two, k) for k in range(e.dim))
    if in_slope < -slop:
        yield Finding("gap", both, f"gap {-in_slope:.6g} to the line of the slope")
    elif not near and in_slope <= slop:
        yield Finding("touching", both, "they touch on the line of the slope")
    elif len(near) > 1:
        yield Finding("corner", both, "they touch at a corner only, which is no contact")
    elif near:
        yield Finding("touching", both, f"they touch on {'xyz'[near[0]]}")
    else:
        k = max(range(e.dim), key=gaps.__getitem__)
        text = f"they are inside each other, {-gaps[k]:.6g} deep on {'xyz'[k]}"
        if verdict is Verdict.SOLID:
            text += f": {e.way_out(first, second)}"
        yield Finding("inside", both, text)


def _past(e: Examination, first: int, second: int) -> Iterator[Finding]:
    """Yield the results of the last step for the two."""
    events = [
        hit for hit in e.state.events.collisions if (hit.first, hit.second) == (first, second)
    ]
    if events:
        text = (
            f"in the last step they met {len(events)} time(s), first at time {events[0].time:.6g}"
        )
        yield Finding("met", (first, second), f"{text}: {events[0].outcome.name}")


def _images(e: Examination, centre: list[float]) -> Iterator[list[float]]:
    """Yield the centre of a body, and in a world that wraps its images one width away."""
    widths = e.wrap or (None,) * e.dim
    for at in product(*((0.0,) if width is None else (-width, 0.0, width) for width in widths)):
        yield [here + off for here, off in zip(centre, at, strict=True)]


def _corners(box: Box) -> Corners:
    low, high = zip(*(_faces(box, k) for k in range(len(box.centre))), strict=True)
    return low, high


def _faces(box: Box, k: int) -> tuple[float, float]:
    return box.centre[k] - box.half[k], box.centre[k] + box.half[k]


def _gap(one: Box, two: Box, k: int) -> float:
    """Return the gap between two boxes on an axis; if negative, their depth."""
    (min1, max1), (min2, max2) = _faces(one, k), _faces(two, k)
    return max(min2 - max1, min1 - max2)


def _slop(one: Box, two: Box, k: int) -> float:
    return SLOP * max(abs(face) for box in (one, two) for face in _faces(box, k))


def _falling(box: Box, acceleration: list[float]) -> Box:
    """Return a box whose only motion is the speed that gravity gives it in a second."""
    return box._replace(velocity=acceleration, growth=[0.0] * len(acceleration))


def _closing(one: Box, two: Box, k: int) -> float:
    """Return how fast the gap between two boxes closes on an axis, in units per second."""
    towards = one.velocity[k] - two.velocity[k]
    if one.centre[k] > two.centre[k]:
        towards = -towards
    return towards + one.growth[k] + two.growth[k]
