"""The tree of boxes under any sequence of calls, against a twin that is a plain dict.

Boxes and pairs are compared exactly.  Rays are judged in rational numbers: the
tree may err by the rounding of one difference and one quotient, and no more.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from ecs_collide._kernel import backend
from ecs_collide.tree import AABBTree

pytest.importorskip("hypothesis", reason="any sequence of calls is tried by hypothesis")
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    Bundle,
    RuleBasedStateMachine,
    consumes,
    initialize,
    invariant,
    multiple,
    rule,
    run_state_machine_as_test,
)

# Few numbers, so that boxes touch, coincide and have no size; and some far away.
NUMBERS = st.integers(-6, 6).map(float) | st.sampled_from([-1e12, 1e-300, 0.1, 1 / 3, 1e12])
VECTORS = st.tuples(NUMBERS, NUMBERS, NUMBERS)  # cut to two numbers where the tree is 2D
BOXES = st.tuples(VECTORS, VECTORS).map(
    lambda corners: (tuple(map(min, *corners)), tuple(map(max, *corners)))
)
MOTIONS = st.none() | VECTORS
RAYS = st.tuples(VECTORS, VECTORS)
IDS = st.integers(-(2**63), 2**63 - 1) | st.integers(0, 30)

ROUNDING = Fraction(4, 2**53)  # of a time: a difference and a quotient, with room
LEAST = Fraction(1, 10**300)  # below it quotients lose digits


def touch(one, other) -> bool:
    return all(
        low <= high and other_low <= other_high
        for low, high, other_low, other_high in zip(one[0], other[1], other[0], one[1], strict=True)
    )


def times_on_ray(box, origin, direction) -> tuple[Fraction, Fraction] | None:
    """Return exactly when a ray enters and leaves a box (closed); None if it never does.

    Enter is at least 0; leave may be beyond 1, or before enter by nothing but
    what rounding could make good.
    """
    enter, leave = Fraction(0), None
    for low, high, o, d in zip(*box, origin, direction, strict=True):
        if d == 0.0:
            if not low <= o <= high:
                return None
            continue
        first, last = sorted((Fraction(v) - Fraction(o)) / Fraction(d) for v in (low, high))
        enter = max(enter, first)
        leave = last if leave is None else min(leave, last)
    return enter, Fraction(2) if leave is None else leave


def less(time: Fraction) -> Fraction:
    return time - abs(time) * ROUNDING - LEAST


def more(time: Fraction) -> Fraction:
    return time + abs(time) * ROUNDING + LEAST


def has_exact_differences(boxes, origin) -> bool:
    """Return whether no difference of a face and the origin is rounded: then ties are exact."""
    return all(
        Fraction(face - o) == Fraction(face) - Fraction(o)
        for box in boxes.values()
        for corner in box
        for face, o in zip(corner, origin, strict=True)
    )


def check_ray(boxes, origin, direction, id, time, point, normal):
    """Assert that a ray's answer is right; `id` None: that it meets nothing."""
    times = {key: times_on_ray(box, origin, direction) for key, box in boxes.items()}
    times = {key: found for key, found in times.items() if found is not None}
    exact = has_exact_differences(boxes, origin) and all(v == 0 or abs(v) > 1e-9 for v in direction)
    sure = {
        key: enter
        for key, (enter, leave) in times.items()
        if (enter <= min(leave, 1) if exact else more(enter) <= less(min(leave, Fraction(1))))
        or (enter == 0 and leave >= LEAST)
    }
    if id is None:
        assert not sure
        return
    enter, leave = times[id]
    assert less(enter) <= more(min(leave, Fraction(1)))
    assert less(enter) <= time <= more(enter)
    for key, other in sure.items():
        assert more(other) >= time, f"{key} is met before {id}"
        if other == time == 0 or (exact and other <= enter):
            assert id <= key  # of several the lowest
    if exact:
        assert time == float(enter)
    where = [
        Fraction(o) + Fraction(d) * Fraction(time) for o, d in zip(origin, direction, strict=True)
    ]
    box = boxes[id]
    for axis, value in enumerate(point):
        reach = max(abs(origin[axis]), abs(direction[axis]), *(abs(c[axis]) for c in box))
        assert abs(Fraction(value) - where[axis]) <= Fraction(reach) * ROUNDING * 2 + LEAST
    if not normal or not any(normal):
        assert time == 0
        return
    (axis,) = (k for k, part in enumerate(normal) if part)
    assert abs(normal[axis]) == 1
    assert normal[axis] * direction[axis] < 0
    assert point[axis] == box[0 if normal[axis] < 0 else 1][axis]


class AnyCalls(RuleBasedStateMachine):
    """A tree, and a dict of the boxes that should be in it."""

    kernels: backend.Kernels
    ids = Bundle("ids")

    @initialize(
        dim=st.sampled_from([2, 3]),
        margin=st.sampled_from([None, 0.0, 3.0]),
        lookahead=st.sampled_from([0.0, 2.0]),
    )
    def make(self, dim, margin, lookahead):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(backend, "kernels", self.kernels)
            self.tree = AABBTree(dim, capacity=2, margin=margin, lookahead=lookahead)
        self.dim = dim
        self.boxes = {}

    def cut(self, *vectors):
        """Return vectors in the dimension of the tree."""
        return tuple(vector[: self.dim] for vector in vectors)

    @rule(target=ids, id=IDS, box=BOXES)
    def insert(self, id, box):
        box = self.cut(*box)
        if id in self.boxes:
            with pytest.raises(ValueError, match="already"):
                self.tree.insert(id, *box)
            return multiple()
        self.tree.insert(id, *box)
        self.boxes[id] = box
        return id

    @rule(target=ids, new=st.dictionaries(IDS, BOXES, max_size=12))
    def insert_many(self, new):
        new = {id: self.cut(*box) for id, box in new.items() if id not in self.boxes}
        self.tree.insert_many(list(new), *self.corners(new.values()))
        self.boxes |= new
        return multiple(*new)

    @rule(target=ids, first=st.integers(100, 10**6), some=st.lists(BOXES, min_size=3, max_size=9))
    def insert_more_than_there_are(self, first, some):
        """Lay the tree out anew: so many come at once that it is as flat as one can be."""
        ids = [first + i for i in range(4 * len(self.boxes) + 9) if first + i not in self.boxes]
        if len(self.boxes) > 20:
            return multiple()
        new = {id: self.cut(*some[i % len(some)]) for i, id in enumerate(ids)}
        self.tree.insert_many(list(new), *self.corners(new.values()))
        self.boxes |= new

        assert 8 ** (self.tree.depth - 1) < len(self.boxes) <= 8**self.tree.depth
        return multiple(*ids[:3])

    @rule(id=ids, box=BOXES, motion=MOTIONS)
    def update(self, id, box, motion):
        if id not in self.boxes:
            return
        box = self.cut(*box)
        motion = None if motion is None else self.cut(motion)[0]
        before = self.tree.fat_bounds(id)
        renewed = self.tree.update(id, *box, motion)
        self.boxes[id] = box

        assert renewed or self.tree.fat_bounds(id) == before
        least, most = self.tree.fat_bounds(id)
        way = motion or (0.0,) * self.dim
        end = [[v + m for v, m in zip(corner, way, strict=True)] for corner in box]
        for low, high in (box, end):
            for axis in range(self.dim):
                assert least[axis] <= low[axis] <= high[axis] <= most[axis]

    @rule(
        moved=st.lists(st.tuples(BOXES, VECTORS), min_size=1, max_size=20),
        with_motions=st.booleans(),
    )
    def update_many(self, moved, with_motions):
        boxes = [self.cut(*box) for box, _ in moved]
        boxes = dict(zip(sorted(self.boxes), boxes, strict=False))
        motions = [motion[: self.dim] for _, motion in moved][: len(boxes)]
        corners = self.corners(boxes.values())
        if with_motions:
            self.tree.update_many(list(boxes), *corners, np.reshape(motions, (-1, self.dim)))
        else:
            self.tree.update_many(list(boxes), *corners)
        self.boxes |= boxes

    @rule(by=VECTORS)
    def update_all(self, by):
        """Move everybody, so that most of the tree has to be hung elsewhere."""
        (by,) = self.cut(by)
        for id, box in self.boxes.items():
            self.boxes[id] = tuple(tuple(v + m for v, m in zip(c, by, strict=True)) for c in box)
        self.tree.update_many(list(self.boxes), *self.corners(self.boxes.values()))

    @rule(id=consumes(ids))
    def remove(self, id):
        if id not in self.boxes:
            with pytest.raises(KeyError):
                self.tree.remove(id)
            return
        self.tree.remove(id)
        del self.boxes[id]

    @rule(n=st.integers(0, 10), last=st.booleans())
    def remove_many(self, n, last):
        some = sorted(self.boxes, reverse=last)[:n]
        self.tree.remove_many(some)
        for id in some:
            del self.boxes[id]

    @rule(n=st.integers(0, 3))
    def remove_all_but(self, n):
        some = sorted(self.boxes)[n:]
        self.tree.remove_many(some)
        for id in some:
            del self.boxes[id]

    @rule(box=BOXES)
    def query(self, box):
        box = self.cut(*box)
        assert self.tree.query(*box) == sorted(
            id for id, other in self.boxes.items() if touch(box, other)
        )

    @rule(id=ids)
    def query_id(self, id):
        if id in self.boxes:
            assert self.tree.query_id(id) == sorted(
                other
                for other, box in self.boxes.items()
                if other != id and touch(self.boxes[id], box)
            )

    @rule(ray=RAYS)
    def cast_ray(self, ray):
        ray = self.cut(*ray)
        hit = self.tree.cast_ray(*ray)
        check_ray(self.boxes, *ray, *(hit or (None,) * 4))

    @rule(rays=st.lists(RAYS, min_size=1, max_size=4))
    def cast_rays(self, rays):
        rays = [self.cut(*ray) for ray in rays]
        hits = self.tree.cast_rays(*map(np.array, zip(*rays, strict=True)))
        for ray, id, time, point, normal in zip(rays, *(h.tolist() for h in hits), strict=True):
            missed = time == float("inf")
            check_ray(self.boxes, *ray, None if missed else id, time, point, normal)

    @invariant()
    def hold_together(self):
        if not hasattr(self, "tree"):
            return
        self.tree.check()
        n = len(self.boxes)

        assert list(self.tree) == sorted(self.boxes)
        assert {id: self.tree.bounds(id) for id in self.tree} == self.boxes
        assert self.tree.depth <= (2 * np.log2(n) + 8 if n > 1 else 0)
        ids = sorted(self.boxes)
        mins, maxs = (np.reshape(c, (n, self.dim)) for c in self.corners(map(self.boxes.get, ids)))
        both = (mins[:, None] <= maxs).all(axis=2)
        expected = np.argwhere(np.triu(both & both.T, 1))
        assert self.tree.pairs().tolist() == np.array(ids, np.int64)[expected].tolist()

    def corners(self, boxes) -> tuple[np.ndarray, np.ndarray]:
        low, high = zip(*boxes, strict=True) if (boxes := list(boxes)) else ((), ())
        return np.reshape(low, (-1, self.dim)), np.reshape(high, (-1, self.dim))


def test_the_oracle_of_rays_accepts_true_hits_and_rejects_false_ones():
    boxes = {1: ((2.0, 0.0), (4.0, 1.0)), 5: ((2.0, 1.0), (3.0, 2.0)), 9: ((8.0, 0.0), (9.0, 1.0))}
    ray = (0.0, 1.0), (10.0, 0.0)

    check_ray(boxes, *ray, 1, 0.2, (2.0, 1.0), (-1.0, 0.0))
    check_ray(boxes, (0.0, 3.0), (10.0, 0.0), None, None, None, None)
    with pytest.raises(AssertionError):  # both are met at once
        check_ray(boxes, *ray, 5, 0.2, (2.0, 1.0), (-1.0, 0.0))
    for wrong in (
        (None, None, None, None),
        (9, 0.8, (8.0, 1.0), (-1.0, 0.0)),
        (1, 0.25, (2.0, 1.0), (-1.0, 0.0)),
        (1, 0.2, (2.1, 1.0), (-1.0, 0.0)),
        (1, 0.2, (2.0, 1.0), (1.0, 0.0)),
        (1, 0.2, (2.0, 1.0), (0.0, 1.0)),
        (1, 0.2, (2.0, 1.0), None),
    ):
        with pytest.raises(AssertionError):
            check_ray(boxes, *ray, *wrong)


def test_any_sequence_of_calls_keeps_the_tree_whole(kernels, monkeypatch, volume):
    class Calls(AnyCalls):
        pass

    Calls.kernels = kernels
    monkeypatch.setattr(backend, "kernels", kernels)
    n = volume(10, 40, 3000, least=4)

    run_state_machine_as_test(
        Calls, settings=settings(max_examples=n, stateful_step_count=40, deadline=None)
    )
