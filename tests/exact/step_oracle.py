"""Check an exact step by its paths alone.

It shares no code with the simulator and asks other questions: not when two
boxes meet, but whether their insides overlap at this instant or that.  Time is
cut at every instant at which anything can change: where a body turns, and where
a face of one passes a face of another.  Between two neighbouring cuts nothing
does, so one look in the middle tells of all of it.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from fractions import Fraction
from itertools import pairwise

from tests.exact.roots import root
from tests.exact.simulator import Event, Simulator

HALF = Fraction(1, 2)


class Path:
    """Where a body is in a step: its faces at the corner points, straight lines between."""

    def __init__(self, points: list[tuple[Fraction, tuple[Fraction, ...]]]) -> None:
        self.points = points
        self.times = [time for time, _ in points]
        faces = list(zip(*(box for _, box in points), strict=True))
        dim = len(faces) // 2
        self.span = *map(min, faces[:dim]), *map(max, faces[dim:])

    @classmethod
    def of(cls, exact: Simulator, ident: int) -> Path:
        """Return the path of a body of a step."""
        points = {}
        for time, low, high in exact.paths[ident]:
            points[time] = (*low, *high)  # of several in one instant the last
        low, high = exact.faces(ident)
        points[Fraction(1)] = (*low, *high)
        return cls(sorted(points.items()))

    def at(self, t: Fraction) -> tuple[Fraction, ...]:
        """Return the low faces and then the high ones at a time."""
        n = bisect_left(self.times, t)
        if self.times[n] == t:
            return self.points[n][1]
        (t0, one), (t1, other) = self.points[n - 1 : n + 1]
        part = (t - t0) / (t1 - t0)
        return tuple(a + (b - a) * part for a, b in zip(one, other, strict=True))


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
    boxes = [(time, one.at(time), other.at(time)) for time in sorted(found)]
    for (start, a0, b0), (end, a1, b1) in pairwise(boxes):
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


def would_get_inside(exact, paths, i, j, event_time, speeds) -> tuple[bool, bool, tuple]:
    """Tell whether two would be inside each other right after an instant, if nothing was resolved.

    Also whether they meet at a corner, faces of two axes at once; and the axis and the sign of the
    normal on which they close the fastest.
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
    sides = []
    for k in range(dim):
        if now[1][k] == now[0][dim + k]:
            sides.append((later[1][k] - later[0][dim + k], k, -1))
        if now[0][k] == now[1][dim + k]:
            sides.append((later[0][k] - later[1][dim + k], k, 1))
    meeting_axes = {k for _, k, _ in sides}
    return due, len(meeting_axes) > 1, min(sides, default=(0, 0, 1))[1:]


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
    paths = {i: Path.of(exact, i) for i in exact.bodies}
    _check_paths(exact, paths)
    if exact.saved:  # velocities that change without a resolution: the rest cannot be checked here
        _check_held(exact, paths)
        return
    assert len(exact.states) == len(exact.events)
    for n, (event, (before, after)) in enumerate(zip(exact.events, exact.states, strict=True)):
        _check_event(exact, paths, event, before, after, Budget(exact, n), exact.finals[n])
        if event.outcome == "resolved":
            _check_sums(exact, event, *exact.finals[n])
    for turn in exact.turns:
        _check_turn(exact, *turn)
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


def _check_event(exact, paths, event: Event, before, after, budget: Budget, finals) -> None:
    """An event is a true contact of a closing pair; its resolution keeps what must be kept."""
    i, j, k = event.first, event.second, event.axis
    box1, box2 = paths[i].at(event.time), paths[j].at(event.time)
    dim = len(box1) // 2
    assert 0 <= event.time < 1
    assert touching(box1, box2)
    if not event.overlaps:
        gap = box2[k] - box1[dim + k] if event.sign < 0 else box1[k] - box2[dim + k]
        assert gap == 0, "no contact on the axis of the normal"
    if event.outcome in ("crossed", "stopped already"):
        assert before == after
        if event.outcome == "stopped already":
            assert not would_get_inside(exact, paths, i, j, event.time, before)[0]
        return

    def closing(speeds):
        face1 = speeds[i][k] - event.sign * exact.growth[i][k]
        face2 = speeds[j][k] + event.sign * exact.growth[j][k]
        return event.sign * (face2 - face1)

    assert closing(before) > 0, "resolved, but not closing"
    if not event.overlaps:
        due, corner, _ = would_get_inside(exact, paths, i, j, event.time, before)
        assert due, "resolved, but the insides do not begin to overlap"
        assert corner == event.corner
        if corner:  # the fastest closing of the sides that meet
            for axis in range(dim):
                for sign, gap in (
                    (-1, box2[axis] - box1[dim + axis]),
                    (1, box1[axis] - box2[dim + axis]),
                ):
                    if gap == 0:
                        r1 = before[i][axis] - sign * exact.growth[i][axis]
                        r2 = before[j][axis] + sign * exact.growth[j][axis]
                        assert sign * (r2 - r1) <= closing(before)
    if event.outcome == "crushed":
        assert before == after
        return
    assert closing(after) <= 0, "resolved, and still closing"
    turned = [n for n in exact.bodies if before[n] != after[n]]
    assert all(exact.bodies[n].is_dynamic for n in turned)
    lasting = finals[1] | finals[3]
    if not any((n, axis) in lasting for n in (i, j) for axis in range(dim)):
        _check_normal_part(exact, event, before, after, closing, budget)
        _check_along(exact, event, before, after)


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
    if e > 0 and not turned <= {i, j}:  # they have bounced together with others
        change = sum(exact.bodies[n].mass * (after[n][k] - before[n][k]) for n in turned)
        assert change == 0, "momentum of a bounce of several"
        return
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


def _check_along(exact, event, before, after) -> None:
    """A resolution turns nobody along the surface."""
    along = [axis for axis in range(exact.dim) if axis != event.axis]
    for n in exact.bodies:
        assert [before[n][a] for a in along] == [after[n][a] for a in along]


def _check_turn(exact, n_events, before, after, finals, finals_after) -> None:
    """What `Stop` and `Push` do along the surfaces that the bodies meet at an instant.

    The energy of all is not more than it was before the instant.
    """
    time = exact.events[n_events - 1].time
    number = next(n for n, event in enumerate(exact.events) if event.time == time)
    met = [
        (exact.events[n], exact.states[n][0]) for n in range(number, n_events)
        if exact.events[n].outcome in ("resolved", "stopped already")
    ]  # fmt: skip
    pushed = [event for event, _ in met if event.outcome == "resolved"]
    axes = {n: {e.axis for e in pushed if n in (e.first, e.second)} for n in exact.bodies}
    turned = [n for n in exact.bodies if before[n] != after[n]]
    for n in turned:
        assert exact.bodies[n].is_dynamic
        assert exact.bodies[n].response in ("push", "stop")
        assert any(n in (e.first, e.second) for e, _ in met), "turned, and has met nothing"
        hit = {k for k in axes[n] if before[n][k] != exact.states[number][0][n][k]}
        assert all(before[n][k] == after[n][k] for k in hit), "turned where it was hit"
    walls = {tuple(before[n]) for n, body in exact.bodies.items() if not body.is_dynamic}
    if walls <= {(0,) * len(next(iter(before.values())))} and not any(
        map(any, exact.growth.values())
    ):
        masses = {n: body.mass for n, body in exact.bodies.items() if body.is_dynamic}
        energy = [
            sum(m * v**2 for n, m in masses.items() for v in speeds[n][: exact.dim])
            for speeds in (exact.finals[number][0], finals_after[0])
        ]
        assert energy[1] <= energy[0] * (1 + Fraction(1, 2**90)), "energy of all"
    for event, start in met:
        pair = event.first, event.second
        is_plain = not any(n in pair for n, _ in finals[1] | finals_after[1])
        if (
            is_plain
            and event.outcome == "resolved"
            and not any(
                {*pair} & {other.first, other.second} for other, _ in met if other is not event
            )
        ):
            _check_pair(exact, event, start, before, after)


def _check_pair(exact, event, start, before, after) -> None:
    """What two bodies do along the surface that have met nothing else at the instant."""
    i, j, k = event.first, event.second, event.axis
    along = [axis for axis in range(exact.dim) if axis != k]
    both_stop = all(
        exact.bodies[n].is_dynamic and exact.bodies[n].response == "stop" for n in (i, j)
    )
    for n, partner in ((i, j), (j, i)):
        body = exact.bodies[n]
        if body.is_dynamic and body.response == "stop" and both_stop:
            m1, m2 = body.mass, exact.bodies[partner].mass
            for a in along:
                mean = (m1 * start[n][a] + m2 * start[partner][a]) / (m1 + m2)
                assert after[n][a] == mean
        elif body.is_dynamic and body.response in ("push", "stop"):
            _check_rule(exact, event, body, partner, start, after, along)
    if all(exact.bodies[n].is_dynamic for n in (i, j)):
        energy = [
            sum(exact.bodies[n].mass * v**2 for n in (i, j) for v in speeds[n][: exact.dim])
            for speeds in (start, after)
        ]
        dragged = any(start[n] != after[n] for n in exact.bodies if n not in (i, j))
        resizes = any(any(exact.growth[n]) for n in (i, j))
        walls = {start[n][k] for n, b in exact.bodies.items() if not b.is_dynamic} - {0}
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
    """Velocities change only in events, and bodies go as they say."""
    last = {i: body.velocity for i, body in exact.bodies.items()}
    changes = [(n, event.time, *exact.states[n]) for n, event in enumerate(exact.events)]
    changes += [(n - 0.5, exact.events[n - 1].time, *states) for n, *states, _, _ in exact.turns]
    turns = [(Fraction(0), last)]
    for _, time, before, after in sorted(changes, key=lambda change: change[0]):
        assert all(before[i][: exact.dim] == last[i][: exact.dim] for i in exact.bodies)
        last = after
        turns.append((time, last))
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


def _is_wall_beside(
    exact: Simulator,
    pair: tuple[int, int],
    first: tuple[int, int],
    sides: dict[tuple[int, int], tuple[int, int]],
) -> bool:
    """Return whether a body meets a wall by `pair` on the side on which it meets another."""
    axis = sides[pair][0]
    for i in {*pair} & {*first} if sides[first][0] == axis else ():
        wall = exact.bodies[sum(pair) - i]
        if not wall.is_dynamic or axis in wall.locked:
            signs = [sides[each][1] * (1 if i == each[0] else -1) for each in (pair, first)]
            return signs[0] == signs[1]
    return False


def _bounces_before(
    exact: Simulator,
    pair: tuple[int, int],
    first: tuple[int, int],
    sides: dict[tuple[int, int], tuple[int, int]],
) -> bool:
    """Return whether two dynamic bodies bounce on the axis on which two others do not."""
    (e, free), (other, is_pair) = (
        (max(body.restitution for body in bodies), all(body.is_dynamic for body in bodies))
        for bodies in ([exact.bodies[n] for n in each] for each in (pair, first))
    )
    return free and is_pair and e > 0 and other < 1 and sides[pair][0] == sides[first][0]


def _check_order(exact: Simulator, paths: dict[int, Path]) -> None:
    """Each event is the least, by the key, of its round, or precedes it by another rule.

    That is a wall on the same side of a body, or a bounce before what does not bounce.

    Corners come when no face is due.

    A round is all faces that are due when it begins.  What its resolutions make due
    belongs to the next one.  The bodies of a pair that is due and yet
    unresolved have kept still since the instant began, so all that is due can
    be found from the velocities.
    """
    times = [event.time for event in exact.events]
    assert times == sorted(times)
    round_, last, time, sides = set(), (), Fraction(-1), {}

    def key(pair: tuple[int, int]) -> tuple:
        return exact.place_of(pair, *sides[pair])

    for n, (event, (before, _)) in enumerate(zip(exact.events, exact.states, strict=True)):
        if event.outcome in ("crossed", "stopped already") or event.overlaps:
            continue
        pair = (event.first, event.second)
        faces, corners, found = _due(exact, paths, n, before)
        sides = found | {pair: (event.axis, event.sign)}
        rest = {other for other in round_ & faces if key(other) > last}
        if event.time != time or not rest:
            round_, rest, time = faces, faces, event.time
        if event.corner:
            assert not faces, f"{faces} come before {event}"
            assert pair == min(corners, key=key)
        else:
            first = min(rest, key=key)
            if pair == first:
                last = key(pair)
            else:
                assert _is_wall_beside(exact, pair, first, sides) or _bounces_before(
                    exact, pair, first, sides
                ), f"{first} comes before {event}"


def _due(exact, paths, n: int, before) -> tuple[set, set, dict]:
    """Return the pairs whose faces, or corners, are due at the n-th event, and their sides."""
    time = exact.events[n].time
    crushed = {(e.first, e.second) for e in exact.events[:n] if e.outcome == "crushed"}
    faces, corners, sides = set(), set(), {}
    for i, one in exact.bodies.items():
        for j, other in exact.bodies.items():
            if i >= j or (i, j) in crushed or not (one.moves or other.moves):
                continue
            if one.sensor or other.sensor or not (one.is_dynamic or other.is_dynamic):
                continue
            due, corner, side = would_get_inside(exact, paths, i, j, time, before)
            if due:
                sides[i, j] = side
                (corners if corner else faces).add((i, j))
    return faces, corners, sides
