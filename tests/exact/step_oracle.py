"""Check an exact step by its paths alone.

It shares no code with the simulator and asks other questions: not when two
boxes meet, but whether their insides overlap at this instant or that.  Time is
cut at every instant at which anything can change: where a body turns, and where
a face of one passes a face of another.  Between two neighbouring cuts nothing
does, so one look in the middle tells of all of it.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import pairwise

from tests.exact.simulator import Event, Instant, Simulator, root

HALF = Fraction(1, 2)


class Path:
    """Where a body is in a step: its faces at the corner points, straight lines between."""

    def __init__(self, exact: Simulator, ident: int) -> None:
        points = {}
        for time, low, high in exact.paths[ident]:
            points[time] = (*low, *high)  # of several in one instant the last
        low, high = exact.faces(ident)
        points[Fraction(1)] = (*low, *high)
        self.points = sorted(points.items())

    @property
    def times(self) -> list[Fraction]:
        return [time for time, _ in self.points]

    def at(self, t: Fraction) -> tuple[Fraction, ...]:
        """Return the low faces and then the high ones at a time."""
        for (t0, one), (t1, other) in pairwise(self.points):
            if t0 <= t <= t1:
                part = (t - t0) / (t1 - t0)
                return tuple(a + (b - a) * part for a, b in zip(one, other, strict=True))
        raise ValueError(t)


def inside(one: tuple, other: tuple) -> bool:
    """Return whether the insides of two boxes overlap."""
    n = len(one) // 2
    return all(one[k] < other[n + k] and other[k] < one[n + k] for k in range(n))


def touching(one: tuple, other: tuple) -> bool:
    """Return whether two closed boxes share a point."""
    n = len(one) // 2
    return all(one[k] <= other[n + k] and other[k] <= one[n + k] for k in range(n))


def cuts(one: Path, other: Path) -> list[Fraction]:
    """Return all instants at which the order of two bodies' faces can change, and 0 and 1."""
    found = {Fraction(0), Fraction(1), *one.times, *other.times}
    for start, end in pairwise(sorted(found)):
        a0, a1, b0, b1 = one.at(start), one.at(end), other.at(start), other.at(end)
        n = len(a0) // 2
        for k in range(n):
            for p in (k, n + k):
                for q in (k, n + k):
                    before, after = a0[p] - b0[q], a1[p] - b1[q]
                    if before != after:
                        part = before / (before - after)
                        if 0 < part < 1:
                            found.add(start + (end - start) * part)
    return sorted(found)


def moments_inside(one: Path, other: Path) -> Iterator[Fraction]:
    """Yield an instant of every stretch of time in which the insides overlap."""
    for start, end in pairwise(cuts(one, other)):
        middle = (start + end) / 2
        if inside(one.at(middle), other.at(middle)):
            yield middle


def would_get_inside(exact, paths, i, j, event_time, speeds) -> tuple[bool, bool]:
    """Tell whether two would be inside each other right after an instant, if nothing was resolved.

    The second resolution: whether they meet at a corner, faces of two axes at once.
    """
    now, later = [], []
    for n in (i, j):
        box = paths[n].at(event_time)
        dim = len(box) // 2
        rate = [v - w for v, w in zip(speeds[n], exact.growth[n], strict=False)]
        rate += [v + w for v, w in zip(speeds[n], exact.growth[n], strict=False)]
        now.append(box)
        later.append(rate)
    # The shortest time in which any face of one could pass one of the other.
    soon = Fraction(1)
    for k in range(dim):
        for p in (k, dim + k):
            for q in (k, dim + k):
                gap, rate = now[0][p] - now[1][q], later[0][p] - later[1][q]
                if rate != 0 and -gap / rate > 0:
                    soon = min(soon, -gap / rate)
    after = [
        tuple(face + r * soon * HALF for face, r in zip(box, rate, strict=True))
        for box, rate in zip(now, later, strict=True)
    ]
    due = inside(*after) and not inside(*now)
    meeting_axes = [
        k for k in range(dim) if now[0][k] == now[1][dim + k] or now[1][k] == now[0][dim + k]
    ]
    return due, len(meeting_axes) > 1


class Budget:
    """What the limits leave of the answer to the n-th event, counted from the events alone."""

    def __init__(self, exact: Simulator, n: int) -> None:
        def is_answer(event: Event) -> bool:
            return event.outcome in ("resolved", "crushed")

        event = exact.events[n]
        earlier = [e for e in exact.events[:n] if is_answer(e)]
        own = [e for e in earlier if (e.first, e.second) == (event.first, event.second)]
        here = [e for e in own if e.time == event.time]
        resizes = any(exact.growth[n][event.axis] for n in (event.first, event.second))
        self.normal_only = len(here) >= (4 if resizes else 1)
        assert len(own) < exact.pair_limit


def check(exact: Simulator) -> None:
    """Raise an AssertionError where a step, run with ``watch=True``, breaks a rule."""
    paths = {i: Path(exact, i) for i in exact.bodies}
    _check_paths(exact, paths)
    if exact.saved:  # velocities that change without a resolution: the rest cannot be checked here
        _check_held(exact, paths)
        return
    assert len(exact.states) == len(exact.events)
    for n, (event, state) in enumerate(zip(exact.events, exact.states, strict=True)):
        _check_contact(exact, paths, event, state)
        assert n < exact.instants[0].first or event.impulse >= 0
    ends = [instant.first for instant in exact.instants[1:]] + [len(exact.events)]
    for instant, end in zip(exact.instants, ends, strict=True):
        events = exact.events[instant.first : end]
        assert all(event.time == instant.time for event in events)
        if len(events) == 1 and events[0].outcome == "resolved":
            budget = Budget(exact, instant.first)
            _check_answer(exact, events[0], instant, budget)
            _check_sums(exact, events[0], instant.before.final, None, instant.after.final, None)
        _check_forces(exact, instant, events)
        _check_energy(exact, instant)
    _check_continuity(exact)
    _check_order(exact, paths)


def _check_paths(exact: Simulator, paths: dict[int, Path]) -> None:
    """Nothing that is solid gets inside anything, at no time of the step."""
    for path in paths.values():
        assert all(box[k] <= box[len(box) // 2 + k] for _, box in path.points for k in range(2))
    for i, one in exact.bodies.items():
        for j, other in exact.bodies.items():
            if i >= j or not (one.moves or other.moves):
                continue
            if one.sensor or other.sensor or not (one.is_dynamic or other.is_dynamic):
                _check_crossing(exact, i, j, paths)
                continue
            crushed_at = [
                e.time for e in exact.events if (e.first, e.second, e.outcome) == (i, j, "crushed")
            ]
            for moment in moments_inside(paths[i], paths[j]):
                assert crushed_at, f"{i} is inside {j} at {moment}"
                assert crushed_at[0] <= moment, f"{i} is inside {j} at {moment}"


def _check_held(exact: Simulator, paths: dict[int, Path]) -> None:
    """Who is held has the velocity that it had, and stays, unless a kinematic body moves."""
    for i, velocity in exact.saved.items():
        assert exact.bodies[i].is_dynamic
        assert exact.velocity[i] == velocity
        if not any(b.moves and not b.is_dynamic for b in exact.bodies.values()):
            assert paths[i].points[-1][1] == paths[i].at(exact.held_at[i])


def _check_crossing(exact, i, j, paths) -> None:
    """Each stretch of time inside begins with an event, and no other event is there."""
    entries = []
    was_inside = inside(paths[i].at(Fraction(0)), paths[j].at(Fraction(0)))
    for start, end in pairwise(cuts(paths[i], paths[j])):
        middle = (start + end) / 2
        is_inside = inside(paths[i].at(middle), paths[j].at(middle))
        if is_inside and not was_inside:
            entries.append(start)
        was_inside = is_inside
    events = [e.time for e in exact.events if (e.first, e.second) == (i, j)]
    assert events == entries, (i, j)
    assert all(e.outcome == "crossed" for e in exact.events if (e.first, e.second) == (i, j))


def _closing(exact, event: Event, speeds) -> Fraction:
    """Return how fast the faces of an event close."""
    i, j, k = event.first, event.second, event.axis
    face1 = speeds[i][k] - event.sign * exact.growth[i][k]
    face2 = speeds[j][k] + event.sign * exact.growth[j][k]
    return event.sign * (face2 - face1)


def _check_contact(exact, paths, event: Event, state) -> None:
    """An event is a true contact of a pair that closes when it is found."""
    i, j, k = event.first, event.second, event.axis
    box1, box2 = paths[i].at(event.time), paths[j].at(event.time)
    dim = len(box1) // 2
    assert 0 <= event.time < 1
    assert touching(box1, box2)
    if not event.overlaps:
        gap = box2[k] - box1[dim + k] if event.sign < 0 else box1[k] - box2[dim + k]
        assert gap == 0, "no contact on the axis of the normal"
    if event.outcome in ("crossed", "stopped already"):
        assert event.impulse == 0
        return
    assert _closing(exact, event, state) > 0, "resolved, but not closing"
    if event.overlaps:
        return
    due, corner = would_get_inside(exact, paths, i, j, event.time, state)
    assert due, "resolved, but the insides do not begin to overlap"
    assert corner == event.corner
    if corner:  # the fastest closing of the sides that meet
        for axis in range(dim):
            for sign, gap in (
                (-1, box2[axis] - box1[dim + axis]),
                (1, box1[axis] - box2[dim + axis]),
            ):
                if gap == 0:
                    other = event._replace(axis=axis, sign=sign)
                    assert _closing(exact, other, state) <= _closing(exact, event, state)


def _check_answer(exact, event: Event, instant: Instant, budget: Budget) -> None:
    """What the only event of an instant changes is what its pair and their rules say."""
    before, after = instant.before.velocity, instant.after.velocity

    def closing(speeds):
        return _closing(exact, event, speeds)

    assert closing(after) <= 0, "resolved, and still closing"
    turned = [n for n in exact.bodies if before[n] != after[n]]
    assert all(exact.bodies[n].is_dynamic for n in turned)
    lasting = instant.before.lasting | instant.after.lasting
    pair = (event.first, event.second)
    if not any((n, axis) in lasting for n in pair for axis in range(exact.dim)):
        _check_normal_part(exact, event, before, after, closing, budget)
        _check_rest(exact, event, before, after, budget)


def _check_forces(exact, instant: Instant, events: list[Event]) -> None:
    """The forces say what each body has won or lost, and who carries one does not part.

    That makes the velocities the ones that lose the least energy.
    """
    lasting = instant.before.lasting | instant.after.lasting
    before, after = instant.before.velocity, instant.after.velocity
    for contact in instant.contacts:
        i, j = contact.pair
        event = exact.events[contact.event]
        if contact.is_over or any((n, contact.axis) in lasting for n in (i, j)):
            continue
        closing = _closing(exact, event, after)
        assert closing <= 0, "a contact that closes"
        if event.outcome == "crushed":
            continue
        assert closing == 0 or event.impulse == 0, "a contact that carries a force and parts"
        assert event.outcome == "resolved" or event.impulse == 0
    for n, body in exact.bodies.items():
        if not body.is_dynamic:
            continue
        for k in range(exact.dim):
            own = [e for e in events if n in (e.first, e.second)]
            rules = [
                e for e in own if e.axis != k and e.outcome == "resolved"
                and {exact.bodies[m].response for m in (e.first, e.second)} & {"stop", "push"}
            ]  # fmt: skip
            levels = {exact.bodies[m].level for e in events for m in (e.first, e.second)
                      if exact.bodies[m].is_dynamic}  # fmt: skip
            if rules or len(levels) > 1 or any(axis == k for _, axis in lasting):
                continue
            won = sum(
                (e.sign if n == e.first else -e.sign) * e.impulse for e in own if e.axis == k
            )
            assert body.mass * (after[n][k] - before[n][k]) == won, "forces and velocities"


def _check_energy(exact, instant: Instant) -> None:
    """Among dynamic bodies alone that do not grow, no instant wins energy or momentum."""
    if any(any(growth) for growth in exact.growth.values()):
        return
    if any(b.level for b in exact.bodies.values()):
        return
    touched = {
        n for e in exact.events if e.time == instant.time for n in (e.first, e.second)
    }
    if not all(exact.bodies[n].is_dynamic for n in touched):
        return
    sums = []
    for speeds in (instant.before.final, instant.after.final):
        masses = [(b.mass, speeds[n]) for n, b in exact.bodies.items() if b.is_dynamic]
        sums.append(
            [sum(m * sum(v * v for v in velocity) for m, velocity in masses)]
            + [sum(m * velocity[k] for m, velocity in masses) for k in range(exact.dim)]
        )
    if all(exact.bodies[n].response in ("slide", "deflect") for n in touched):
        assert sums[0][1:] == sums[1][1:], "momentum of all"
    assert sums[1][0] <= sums[0][0] * (1 + Fraction(1, 2**90)), "energy of all"


def _check_sums(exact, event, before, _, after, __) -> None:
    """A resolution keeps the momentum of all bodies, and the energy of all does not rise.

    By what their velocities come to at the end of the step, be they in groups that last.
    """
    i, j, k = event.first, event.second, event.axis
    yielding = [n for n, b in exact.bodies.items() if b.is_dynamic]
    turned = [n for n in exact.bodies if before[n] != after[n]]
    assert all(n in yielding for n in turned)
    masses = {n: exact.bodies[n].mass for n in yielding}
    if exact.saved or any(any(exact.growth[n]) for n in (i, j)):
        return  # a held body is a wall, and growing faces win energy
    frame = next((before[n] for n in (i, j) if n not in yielding), [Fraction(0)] * 3)
    still = {before[n][k] for n in exact.bodies if n not in yielding}
    if not any(after[n][k] in still for n in turned):  # all are dynamic
        momentum = [sum(m * speeds[n][k] for n, m in masses.items()) for speeds in (before, after)]
        assert momentum[0] == momentum[1] or not all(n in yielding for n in (i, j)), "momentum"
    energy = [
        sum(m * (v - u) ** 2 for n, m in masses.items() for v, u in zip(speeds[n], frame))  # noqa: B905
        for speeds in (before, after)
    ]
    anchored = any(after[n][k] in still - {frame[k]} for n in turned)  # by another that moves
    assert anchored or energy[1] <= energy[0] * (1 + Fraction(1, 2**90)), "energy of all"


def _check_normal_part(exact, event, before, after, closing, budget) -> None:
    i, j, k = event.first, event.second, event.axis
    one, other = exact.bodies[i], exact.bodies[j]
    resizes = exact.growth[i][k] != 0 or exact.growth[j][k] != 0
    turned = {n for n in exact.bodies if before[n][k] != after[n][k]}
    e = max(b.restitution for b in (one, other) if b.is_dynamic)
    if event.overlaps:
        e = 0
    if budget.normal_only and e < 1:
        e = 0
    assert closing(after) == -e * closing(before), "the pair does not part as it should"
    if any(exact.growth[n][k] for n in exact.bodies):
        _check_group_that_grows(exact, (i, j), k, before, after)
        return
    if turned <= {i, j} and one.is_dynamic and other.is_dynamic:
        anchored = not resizes and after[i][k] == after[j][k]  # looked at below
        momentum = [
            one.mass * speeds[i][k] + other.mass * speeds[j][k] for speeds in (before, after)
        ]
        assert momentum[0] == momentum[1] or anchored, "momentum"
        if e == 1 and not resizes and closing(after) != 0:
            energy = [
                one.mass * speeds[i][k] ** 2 + other.mass * speeds[j][k] ** 2
                for speeds in (before, after)
            ]
            assert energy[0] == energy[1], "energy"
    if closing(after) == 0 and not resizes:  # joined
        members = turned | {n for n in (i, j) if exact.bodies[n].is_dynamic}
        velocity = {after[n][k] for n in members}
        assert len(velocity) == 1, "a group of several velocities"
        (one_velocity,) = velocity
        still = {before[n][k] for n, b in exact.bodies.items() if not b.is_dynamic}
        momentum = [
            sum(exact.bodies[n].mass * speeds[n][k] for n in members) for speeds in (before, after)
        ]
        assert momentum[0] == momentum[1] or one_velocity in still, "momentum of a group"
        for n in (i, j):
            if not exact.bodies[n].is_dynamic:
                assert one_velocity == before[n][k], "not the velocity of what is not dynamic"


def _check_group_that_grows(exact, pair, k, before, after) -> None:
    """Groups keep the momentum of all who turn, and turn them all by as much.

    Beside a static or kinematic body or a higher dominance only the turns are known.
    """
    members = {n for n in exact.bodies if before[n][k] != after[n][k]} | set(pair)
    levels = {body.level for body in exact.bodies.values()}
    turns = {after[n][k] - before[n][k] for n in members}
    assert len(turns) <= 3, "members of a group are turned one by one"
    if len(levels) == 1 and all(b.is_dynamic for b in exact.bodies.values()):
        change = sum(exact.bodies[n].mass * (after[n][k] - before[n][k]) for n in members)
        assert change == 0, "momentum of a group that grows"


def _check_rest(exact, event, before, after, budget) -> None:
    """What the bodies do along the surface; whoever is not of the pair keeps it."""
    i, j, k = event.first, event.second, event.axis
    along = [axis for axis in range(exact.dim) if axis != k]
    for n in exact.bodies:
        if n not in (i, j):
            assert [before[n][a] for a in along] == [after[n][a] for a in along]
    if budget.normal_only:
        assert all([before[n][a] for a in along] == [after[n][a] for a in along] for n in (i, j))
        return
    both_stop = all(
        exact.bodies[n].is_dynamic and exact.bodies[n].response == "stop" for n in (i, j)
    )
    for n, partner in ((i, j), (j, i)):
        body = exact.bodies[n]
        kept = [before[n][a] for a in along] == [after[n][a] for a in along]
        if not body.is_dynamic or body.response in ("deflect", "slide"):
            assert kept
        elif body.response == "stop" and both_stop:
            m1, m2 = body.mass, exact.bodies[partner].mass
            for a in along:
                mean = (m1 * before[n][a] + m2 * before[partner][a]) / (m1 + m2)
                assert after[n][a] == mean
        else:
            _check_rule(exact, event, body, partner, before, after, along)
    rules = [
        exact.bodies[n].response in ("push", "stop") for n in (i, j) if exact.bodies[n].is_dynamic
    ]
    if any(rules) and all(exact.bodies[n].is_dynamic for n in (i, j)):
        energy = [
            sum(exact.bodies[n].mass * v**2 for n in (i, j) for v in speeds[n][: exact.dim])
            for speeds in (before, after)
        ]
        dragged = any(before[n] != after[n] for n in exact.bodies if n not in (i, j))
        resizes = any(any(exact.growth[n]) for n in (i, j))
        walls = {before[n][k] for n, b in exact.bodies.items() if not b.is_dynamic} - {0}
        driven = any(after[n][k] in walls for n in (i, j))
        assert dragged or resizes or driven or energy[1] <= energy[0] * (1 + Fraction(1, 2**90)), (
            "energy"
        )


def _check_rule(exact, event, body, partner, before, after, along) -> None:
    """What `Stop` and `Push` do along the surface: some way towards what they want, and no more."""
    n = body.ident
    wanted = list(before[n])
    if body.response == "stop":
        for a in along:
            wanted[a] = before[partner][a]
    elif max(b.restitution for b in (body, exact.bodies[partner]) if b.is_dynamic) == 0:
        relative = [before[n][a] - before[partner][a] for a in range(exact.dim)]
        slide = sum(relative[a] ** 2 for a in along)
        if slide:
            faster = root(sum(r**2 for r in relative) / slide)
            for a in along:
                wanted[a] = before[partner][a] + relative[a] * faster
    tiny = Fraction(1, 2**90)
    ways = [(wanted[a] - before[n][a], after[n][a] - before[n][a]) for a in along]
    for way, gone in ways:
        assert abs(gone) <= abs(way) + tiny, "further than it wants"
        assert way * gone >= 0, "away from what it wants"
    if body.response == "stop" and not exact.bodies[partner].is_dynamic:
        assert all(gone == way for way, gone in ways)


def _check_continuity(exact: Simulator) -> None:
    """Velocities change only in instants, and bodies go as they say."""
    last = {i: body.velocity for i, body in exact.bodies.items()}
    for instant in exact.instants:
        before = instant.before.velocity
        assert all(before[i][: exact.dim] == last[i][: exact.dim] for i in exact.bodies)
        last = instant.after.velocity
    turns = [(Fraction(0), {i: b.velocity for i, b in exact.bodies.items()})]
    turns += [(instant.time, instant.after.velocity) for instant in exact.instants]
    turns.append((Fraction(1), last))
    for i, body in exact.bodies.items():
        centre = [(a + b) / 2 for a, b in zip(body.low, body.high, strict=True)]
        half = [(b - a) / 2 for a, b in zip(body.low, body.high, strict=True)]
        for (t0, speeds), (t1, _) in pairwise(turns):
            for k in range(exact.dim):
                centre[k] += speeds[i][k] * (t1 - t0) * exact.dt
        low, high = exact.faces(i)
        assert [(a + b) / 2 for a, b in zip(low, high, strict=True)] == centre
        for k in range(exact.dim):
            wanted = max(0, half[k] + body.growth[k] * exact.dt)
            assert (high[k] - low[k]) / 2 == wanted


def _check_order(exact: Simulator, paths: dict[int, Path]) -> None:
    """All faces that are due when an instant begins have an event, those that join by their ids.

    What rebounds comes after them, and a corner when no face is due.
    """
    times = [event.time for event in exact.events]
    assert times == sorted(times)
    assert len({instant.time for instant in exact.instants}) == len(exact.instants)
    for n, event in enumerate(exact.events):
        if event.corner and event.outcome == "resolved":
            faces, corners = _due(exact, paths, n, exact.states[n])
            assert not faces, f"{faces} come before {event}"
            assert (event.first, event.second) == min(corners)
    for instant in exact.instants:
        events = [(n, e) for n, e in enumerate(exact.events) if e.time == instant.time]
        if not events:
            continue
        faces, _ = _due(exact, paths, events[0][0], instant.before.velocity)
        told = [(e.first, e.second) for _, e in events]
        assert faces <= set(told), f"{faces - set(told)} have no event"
        joined = {contact.event for contact in instant.contacts}
        begin = [(e.first, e.second) for n, e in events if n in joined]
        begin = begin[: len(faces.intersection(begin))]
        assert begin == sorted(begin), "not by ids"
        rest = [e for n, e in events if n not in joined and e.outcome == "resolved"]
        faster = [e for e in rest if not e.corner and not e.overlaps]
        for one, other in pairwise(faster):
            shared = {one.first, one.second} & {other.first, other.second}
            if one.axis == other.axis and any(exact.bodies[i].is_dynamic for i in shared):
                n = exact.events.index(one)
                state = exact.states[n]
                late = _closing(exact, other, state)
                due = would_get_inside(exact, paths, other.first, other.second, one.time, state)
                assert not due[0] or late <= _closing(exact, one, state), "a slower one comes first"


def _due(exact, paths, n: int, before) -> tuple[set, set]:
    """Return the pairs whose faces, or corners, are due at the n-th event."""
    time = exact.events[n].time
    crushed = {(e.first, e.second) for e in exact.events[:n] if e.outcome == "crushed"}
    faces, corners = set(), set()
    for i, one in exact.bodies.items():
        for j, other in exact.bodies.items():
            if i >= j or (i, j) in crushed or not (one.moves or other.moves):
                continue
            if one.sensor or other.sensor or not (one.is_dynamic or other.is_dynamic):
                continue
            due, corner = would_get_inside(exact, paths, i, j, time, before)
            if due:
                (corners if corner else faces).add((i, j))
    return faces, corners
