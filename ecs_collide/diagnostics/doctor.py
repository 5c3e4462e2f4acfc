"""List the faults and oddities of a world."""

from __future__ import annotations

import dis
from collections.abc import Iterator

import numpy as np

from ecs_collide._kernel.constants import SLOP
from ecs_collide.diagnostics.findings import (
    Examination,
    Examined,
    Finding,
    Findings,
    finding_about,
    odd_about,
)
from ecs_collide.snapshot.snapshots import not_held_message
from ecs_collide.step.stats import Stats

_N_NAMED_ENTITIES = 5  # entities that a message lists by their ids
LONG_STEP = 1.0  # seconds; a longer step is likely to be in milliseconds
MANY_SWEEPS = 32  # swept tests for each pair of a step; a crowd takes about 10

STAGES = ("BroadphaseSystem", "NarrowphaseSystem", "ResponseSystem", "MotionSystem")
RESPONSE = 2  # which of them is the ResponseSystem


def examine(examined: Examined) -> Findings:
    """Return the findings: first about the world, then by cause."""
    e = Examination(examined)
    by_cause: dict[str, list[Finding]] = {}
    for entity in sorted(set(e.components) - e.dead):
        for finding in odd_about(e, entity):
            by_cause.setdefault(finding.cause, []).append(finding)
    for finding in (*_inside_each_other(e), *_shared(e)):
        by_cause.setdefault(finding.cause, []).append(finding)
    grouped = (_grouped(findings) for findings in by_cause.values())
    return Findings([*_odd_about_world(e), *grouped])


def _grouped(findings: list[Finding]) -> Finding:
    """Return one finding for all entities with the same finding."""
    first, *others = findings
    if not others:
        return first
    named = [" and ".join(map(str, finding.entities)) for finding in others[:_N_NAMED_ENTITIES]]
    if len(others) > _N_NAMED_ENTITIES:
        named.append("...")
    text = f"{first.message} (the same of {len(others)} more: {', '.join(named)})"
    together = {entity for finding in findings for entity in finding.entities}
    return Finding(first.cause, tuple(sorted(together)), text)


def _inside_each_other(e: Examination) -> Iterator[Finding]:
    """Yield the solid pairs that were inside each other at the end of the last step."""
    table = e.registry.table
    contacts = e.state.timeline.contacts
    ids = table.ids
    rows = np.asarray(contacts.rows.arrays()[0]).tolist()
    offsets = np.zeros((len(rows), e.dim))  # in a world that wraps
    contacts.offsets_into(offsets.data)
    for (i, j, crossing, *_), shift in zip(rows, offsets, strict=True):
        one = np.array(table.tight_min[i]), np.array(table.tight_max[i])
        two = table.tight_min[j] + shift, table.tight_max[j] + shift
        low = np.maximum(one[0], two[0]).tolist()
        high = np.minimum(one[1], two[1]).tolist()
        depth = [high[k] - low[k] for k in range(e.dim)]
        least = e.wrap or (None,) * e.dim  # the slop in a world that wraps depends on its widths
        slop = [4.0 * SLOP * max(abs(low[k]), abs(high[k]), least[k] or 0.0) for k in range(e.dim)]
        if not crossing and all(depth[k] > slop[k] for k in range(e.dim)):
            k = min(range(e.dim), key=depth.__getitem__)
            first, second = int(ids[i]), int(ids[j])
            if max(slop) >= e.depth_in_slope(first, one, second, two):
                continue  # it touches the line
            pair = sorted((first, second))
            yield Finding(
                "inside",
                tuple(pair),
                f"entities {pair[0]} and {pair[1]} are inside each other, {depth[k]:.6g} deep on "
                f"{'xyz'[k]}: {e.way_out(first, second)}",
            )


def _shared(e: Examination) -> Iterator[Finding]:
    """Yield the components with numbers that several entities share."""
    for kind in dict.fromkeys(kind.type for kind in e.kinds if kind.names):
        holders: dict[int, list[int]] = {}
        for entity in e.components:
            component = e.of(entity).get(kind)
            if component is not None and entity not in e.dead:
                holders.setdefault(id(component), []).append(entity)
        for entities in holders.values():
            if len(entities) > 1:
                entities.sort()
                named = ", ".join(map(str, entities[:_N_NAMED_ENTITIES]))
                named += ", ..." if len(entities) > _N_NAMED_ENTITIES else ""
                yield Finding(
                    "shared",
                    tuple(entities),
                    f"entities {named} share one instance of {kind.__name__}: a number that "
                    "a step or the game sets for one is set for all; give each its own",
                )


def _odd_about_world(e: Examination) -> Iterator[Finding]:
    """Yield the findings about the world as a whole."""
    for rival in e.world.rivals(e.space):
        yield Finding(
            "two_spaces",
            (),
            f"{e.world} has the systems of {e.space!r} and of {rival}, which would move every "
            "body twice: remove the systems of one space with esper.remove_processor()",
        )
    yield from (Finding(cause, (), text) for cause, text in _odd_systems(e))
    yield from (Finding(cause, (), text) for cause, text in _late_processors(e))
    if e.world.is_unknown():
        yield Finding(
            "unknown_esper",
            (),
            "this esper, or the game, keeps entities in another way than esper 3.9: each step "
            "after a change of an entity compares all entities of the world",
        )
    lost = sorted(e.world.lost())
    if lost:
        yield Finding(
            "deleted_twice",
            tuple(lost),
            f"entity {lost[0]} was deleted and is not there, or was deleted twice: every "
            "esper.process() raises a KeyError, and only esper.clear_database() ends that",
        )
    ghosts = sorted(e.world.ghosts([kind.type for kind in e.kinds]))
    if ghosts:
        yield Finding(
            "ghost",
            tuple(ghosts),
            f"a component was added to entity {ghosts[0]}, which does not exist: esper's own "
            "queries for it raise a KeyError",
        )
    for kind, entities in e.not_held.items():
        yield Finding("not_in_snapshots", tuple(entities), not_held_message(kind, [*entities]))
    if e.state.dt > LONG_STEP or (e.state.dt == LONG_STEP and any(e.state.gravity)):
        yield Finding(
            "long_step",
            (),
            f"the last step was {e.state.dt:.6g} seconds long: the time of a step is in seconds, "
            "1 / 60 for 60 steps a second; esper.process() without a time is a step of 1",
        )
    yield from _below_all(e)
    yield from (Finding(cause, (), text) for cause, text in _odd_about_last_step(e.stats))


def _below_all(e: Examination) -> Iterator[Finding]:
    """Yield the bodies that fall, and are below all bodies that could stop them."""
    c, rows = e.registry.table, e.registry.rows
    axis = next(k for k, part in enumerate(e.up) if part)
    rows = rows[c.quarantined[rows] == 0]
    still = rows[c.moves[rows] == 0]
    if e.wrap is not None and e.wrap[axis] is not None:
        return
    if len(still) and e.up[axis] > 0:
        below = c.tight_max[rows, axis] < c.tight_min[still, axis].min()
    elif len(still):
        below = c.tight_min[rows, axis] > c.tight_max[still, axis].max()
    else:
        return
    falls = c.seen_velocity[rows, axis] * e.up[axis] < 0.0
    for row in rows[below & falls & (c.dynamic[rows] != 0)].tolist():
        yield finding_about(
            int(c.ids[row]),
            "below_all",
            "falls, and is below all bodies that do not move: nothing stops it; delete it, or put "
            "it back, as it leaves the level",
        )


def _odd_about_last_step(stats: Stats) -> Iterator[tuple[str, str]]:
    """Yield the findings about the work of the last step, as cause and text."""
    if stats.sweeps > MANY_SWEEPS * max(stats.pairs, MANY_SWEEPS):
        yield (
            "many_sweeps",
            f"the last step took {stats.sweeps} swept tests for {stats.pairs} pairs, where a crowd "
            "takes about 10 for each: some bodies were turned very often, such as one that many "
            "others hit one after another",
        )
    if stats.pair_limit_hits:
        yield (
            "pair_limit",
            f"{stats.pair_limit_hits} pair(s) met so often in the last step that their bodies were "
            "held to its end (Space.pair_limit); they keep their velocities",
        )
    if stats.sweep_limit_hits:
        yield (
            "sweep_limit",
            f"{stats.sweep_limit_hits} bodies were turned so often in the last step, for the pairs "
            "that they have, that they were held to its end; they keep their velocities",
        )
    if stats.waiting:
        yield (
            "waiting",
            f"{stats.waiting} bodies were held in the last step because there was no room for "
            "their pairs, and take turns: let fewer paths cross each other, or step more often",
        )
    if stats.skipped:
        yield (
            "crowd",
            f"{stats.skipped} pairs of bodies that lie inside each other were skipped in the last "
            "step, because there was no room for them: spread the bodies out",
        )
    if stats.crushed:
        yield ("crushed", f"{stats.crushed} pair(s) were crushed in the last step")


def _late_processors(e: Examination) -> Iterator[tuple[str, str]]:
    """Yield the processors that set wishes or velocities after the step has read them."""
    running = e.world.systems(e.space)
    stages = [stage for stage, _ in running]
    if 0 not in stages:
        return
    wished = {wish for kind in e.world.kinds() for wish in getattr(kind, "wishes", ())}
    kind = e.velocity
    for stage, processor in running[stages.index(0) + 1 :]:
        if stage is not None:
            continue
        names, stored = _names_in(processor)
        says = f"{processor.__name__} runs after BroadphaseSystem and sets"
        late = (
            "which the step reads one step later: give it a higher priority, or call "
            f"install(after={processor.__name__})"
        )
        if wished & stored:
            yield "late_wishes", f"{says} {', '.join(sorted(wished & stored))}, {late}"
        sets = kind.type.__name__ in names and not stored.isdisjoint((*kind.names, "xy", "set"))
        if sets and e.has_set_velocity():
            yield "late_velocity", f"{says} {kind.type.__name__}, {late}"


def _names_in(processor: type) -> tuple[set[str], set[str]]:
    """Return the names in the methods of a processor, and the attributes that they set.

    A call of `set` counts as setting it.
    """
    methods = (method for each in processor.__mro__ for method in vars(each).values())
    codes = [code for each in methods if (code := getattr(each, "__code__", None)) is not None]
    names = {name for code in codes for name in code.co_names}
    lines = (each for code in codes for each in dis.get_instructions(code))
    stored = {each.argval for each in lines if each.opname == "STORE_ATTR" or each.argval == "set"}
    return names, stored


def _odd_systems(e: Examination) -> Iterator[tuple[str, str]]:
    """Yield the findings about the systems of the space, as cause and text."""
    running = e.world.systems(e.space)
    stages = [stage for stage, _ in running if stage is not None]
    if not stages:
        yield (
            "no_systems",
            f"none of the four systems is in {e.world}: esper.process() does not run this space",
        )
        return
    for number, name in enumerate(STAGES):
        if stages.count(number) > 1 and name != "ResponseSystem":
            yield "system_twice", f"{name} is in {e.world} {stages.count(number)} times"
        elif number not in stages and name == "ResponseSystem":
            yield (
                "no_response_system",
                "ResponseSystem is missing: impacts are reported and not resolved",
            )
        elif number not in stages:
            effect = (
                "nothing moves" if name == "MotionSystem" else "each step raises a RuntimeError"
            )
            yield "system_missing", f"{name} is not in {e.world}: {effect}"
    placed = [
        n
        for n, stage in enumerate(stages)
        if stage == RESPONSE and RESPONSE - 1 in stages[:n] and RESPONSE + 1 in stages[n:]
    ]
    if placed:  # then all others are offered impacts by it, wherever they are
        stages = [s for n, s in enumerate(stages) if s != RESPONSE or n in placed]
    if stages != sorted(stages):
        order = ", ".join(STAGES[stage] for stage in stages)
        yield (
            "system_order",
            f"the systems run in the order {order}: add_processor(system, priority=...) gives "
            f"them one, and higher runs first; the order is {', '.join(STAGES)}",
        )
    if RESPONSE not in stages or len(set(stages)) == 1:
        return  # a system between them resolves the impacts itself
    places = [place for place, (stage, _) in enumerate(running) if stage not in (None, RESPONSE)]
    for stage, kind in running[places[0] : places[-1] + 1]:
        if stage is None:
            yield (
                "system_between",
                f"{kind.__name__} runs between the systems of the space: it may read, and decide "
                "about Space.impacts, but values that it sets in components are read a step late, "
                "or overwritten",
            )
