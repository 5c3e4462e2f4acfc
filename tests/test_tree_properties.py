"""The tree of boxes under any sequence of calls, against a twin that is a plain dict."""

from __future__ import annotations

import pytest

from ecs_collide import _backend
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
VECTORS = st.tuples(NUMBERS, NUMBERS)
BOXES = st.tuples(VECTORS, VECTORS).map(
    lambda corners: (tuple(map(min, *corners)), tuple(map(max, *corners)))
)
MOTIONS = st.none() | VECTORS
IDS = st.integers(-(2**63), 2**63 - 1) | st.integers(0, 30)


def touch(one, other) -> bool:
    return all(
        low <= high and other_low <= other_high
        for low, high, other_low, other_high in zip(one[0], other[1], other[0], one[1], strict=True)
    )


class AnyCalls(RuleBasedStateMachine):
    """A tree, and a dict of the boxes that should be in it."""

    kernels: _backend.Kernels
    ids = Bundle("ids")

    @initialize(margin=st.sampled_from([None, 0.0, 3.0]), lookahead=st.sampled_from([0.0, 2.0]))
    def make(self, margin, lookahead):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(_backend, "kernels", self.kernels)
            self.tree = AABBTree(capacity=2, margin=margin, lookahead=lookahead)
        self.boxes = {}

    @rule(target=ids, id=IDS, box=BOXES)
    def insert(self, id, box):
        if id in self.boxes:
            with pytest.raises(ValueError, match="already"):
                self.tree.insert(id, *box)
            return multiple()
        self.tree.insert(id, *box)
        self.boxes[id] = box
        return id

    @rule(target=ids, new=st.dictionaries(IDS, BOXES, max_size=12))
    def insert_many(self, new):
        new = {id: box for id, box in new.items() if id not in self.boxes}
        self.tree.insert_many(list(new), *corners(new.values()))
        self.boxes |= new
        return multiple(*new)

    @rule(id=ids, box=BOXES, motion=MOTIONS)
    def update(self, id, box, motion):
        if id not in self.boxes:
            return
        before = self.tree.fat_bounds(id)
        renewed = self.tree.update(id, *box, motion)
        self.boxes[id] = box

        assert renewed or self.tree.fat_bounds(id) == before
        (left, bottom), (right, top) = self.tree.fat_bounds(id)
        end = [[v + m for v, m in zip(corner, motion or (0, 0), strict=True)] for corner in box]
        for low, high in (box, end):
            assert left <= low[0] <= high[0] <= right
            assert bottom <= low[1] <= high[1] <= top

    @rule(moved=st.lists(st.tuples(BOXES, VECTORS), min_size=1, max_size=20))
    def update_many(self, moved):
        boxes = dict(zip(sorted(self.boxes), [box for box, _ in moved], strict=False))
        motions = [motion for _, motion in moved][: len(boxes)]
        self.tree.update_many(list(boxes), *corners(boxes.values()), motions)
        self.boxes |= boxes

    @rule(id=consumes(ids))
    def remove(self, id):
        if id not in self.boxes:
            with pytest.raises(KeyError):
                self.tree.remove(id)
            return
        self.tree.remove(id)
        del self.boxes[id]

    @rule(n=st.integers(0, 10))
    def remove_many(self, n):
        some = sorted(self.boxes)[:n]
        self.tree.remove_many(some)
        for id in some:
            del self.boxes[id]

    @rule(box=BOXES)
    def query(self, box):
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

    @invariant()
    def hold_together(self):
        if not hasattr(self, "tree"):
            return
        self.tree.check()

        assert list(self.tree) == sorted(self.boxes)
        assert {id: self.tree.bounds(id) for id in self.tree} == self.boxes
        assert self.tree.pairs().tolist() == sorted(
            [one, other]
            for one in self.boxes
            for other in self.boxes
            if one < other and touch(self.boxes[one], self.boxes[other])
        )


def corners(boxes) -> tuple[list, list]:
    return [low for low, _ in boxes], [high for _, high in boxes]


def test_any_sequence_of_calls_keeps_the_tree_whole(kernels):
    class Calls(AnyCalls):
        pass

    Calls.kernels = kernels
    n = 60 if kernels.compiled else 25

    run_state_machine_as_test(
        Calls, settings=settings(max_examples=n, stateful_step_count=40, deadline=None)
    )
