"""Attached boxes against the paths of their owners in exact fractions.

The exact simulator knows nothing of attached boxes: it gives the paths of all other bodies.
The path of a box is that of its owner plus the offset, which goes in a straight line from the old
one to the new one.  When the box is inside of another body follows from the two paths alone, as
in `tests/exact/step_oracle.py`, and the library must report each entry and each exit at its time.

Both may differ by rounding.  A stretch of time inside that is shorter than `BRIEF`, or that begins
or ends so near to the ends of the step, may be reported or not.
"""

from __future__ import annotations

import random
from fractions import Fraction
from itertools import pairwise

import esper
import pytest

import ecs_collide as ec
from tests.exact.simulator import Simulator
from tests.exact.step_oracle import Path, cuts, inside
from tests.exact.twin import NAMES, read_bodies
from tests.scenes import box, closed_arena, mover

pytestmark = pytest.mark.usefixtures("world", "implementation")

BRIEF = 1e-9  # of the step
SIDE = 24.0


def path_of_box(owner: Path, start, end, half) -> Path:
    """Return the path of an attached box: that of its owner, moved by the offset."""
    points = []
    for time, faces in owner.points:
        n = len(faces) // 2
        centre = [(faces[k] + faces[n + k]) / 2 for k in range(n)]
        at = [
            c + Fraction(a) + (Fraction(b) - Fraction(a)) * time
            for c, a, b in zip(centre, start, end, strict=True)
        ]
        low = [c - Fraction(h) for c, h in zip(at, half, strict=True)]
        high = [c + Fraction(h) for c, h in zip(at, half, strict=True)]
        points.append((time, (*low, *high)))
    return Path(points)


def stretches_inside(one: Path, other: Path) -> list[tuple[Fraction, Fraction]]:
    """Return when two bodies are inside each other: from, to."""
    found: list[tuple[Fraction, Fraction]] = []
    for start, end in pairwise(cuts(one, other)):
        middle = (start + end) / 2
        if inside(one.at(middle), other.at(middle)):
            if found and found[-1][1] == start:
                found[-1] = (found[-1][0], end)
            else:
                found.append((start, end))
    return found


def check_times(reported: list[float], exact: list[tuple[Fraction, bool]]) -> None:
    """Compare the times of events with exact ones, and whether each of these is clear."""
    reported = sorted(reported)
    for time, is_clear in sorted(exact):
        near = [t for t in reported if abs(t - time) <= BRIEF]
        assert near or not is_clear, f"nothing is reported at {float(time)}: {reported}"
        if near:
            reported.remove(near[0])
    assert not reported, f"reported, and not so: {reported}"


class World:
    """A room with bodies that bounce, slide and grow, some of which have boxes."""

    def __init__(self, number: int) -> None:
        rng = self.rng = random.Random(f"attached {number}")
        self.dim = 3 if number % 4 == 3 else 2
        closed_arena((0.0,) * self.dim, (SIDE,) * self.dim)
        self.owners = []
        for cell in rng.sample(range(16), 5):
            centre = [3 + 6 * (cell % 4), 3 + 6 * (cell // 4), 12.0][: self.dim]
            answer = rng.choice([ec.Deflect(), ec.Deflect(0.5), ec.Slide(), ec.Stop()])
            more = [answer, ec.Mass(rng.choice([1.0, 2.5, 7.0]))]
            half = [rng.uniform(0.5, 1.5) for _ in range(self.dim)]
            self.owners.append(mover(centre, half, self.some(60), *more))
        self.owners.append(mover(self.some(5, 12), self.some(0.2, 1), self.some(20)))  # a ghost
        self.boxes = {}
        for owner in self.owners[1:]:
            for _ in range(rng.choice([1, 2])):
                offset = self.some(4)
                half = [rng.uniform(0.2, 2.0) for _ in range(self.dim)]
                entity = box([0.0] * self.dim, half, ec.Attached(owner, offset))
                self.boxes[entity] = owner
        self.offsets = {entity: self.offset(entity) for entity in self.boxes}

    def some(self, size: float, middle: float = 0.0) -> list[float]:
        return [middle + self.rng.uniform(-size, size) for _ in range(self.dim)]

    def offset(self, entity: int) -> list[float]:
        """Return the offset that the game has set."""
        return list(esper.component_for_entity(entity, ec.Attached).offset[: self.dim])

    def shake(self) -> None:
        """Do what the game does between two steps."""
        for owner in self.owners:
            if self.rng.random() < 0.3:
                speed = self.some(60)
                esper.component_for_entity(owner, ec.Velocity).set(*speed)
        for entity in self.boxes:
            if self.rng.random() < 0.2:
                attached = esper.component_for_entity(entity, ec.Attached)
                attached.offset = self.some(4)

    def check(self, dt: float, space: ec.Space, bodies, before: dict[int, list[float]]) -> bool:
        """Compare a step with the exact one; False if that one is another for a tie."""
        exact = Simulator(bodies, Fraction(dt), watch=True)
        exact.run()
        solid = [
            event
            for event in space.collisions
            if event.first not in self.boxes and event.second not in self.boxes
        ]
        if [(e.first, e.second, e.outcome) for e in exact.events] != [
            (e.first, e.second, NAMES[e.outcome]) for e in solid
        ]:
            return False
        paths = {i: Path.of(exact, i) for i in exact.bodies}
        for entity, owner in self.boxes.items():
            half = list(esper.component_for_entity(entity, ec.Extents).xyz[: self.dim])
            paths[entity] = path_of_box(paths[owner], before[entity], self.offset(entity), half)
        for entity in self.boxes:
            for other in paths:
                if other in self.boxes and other <= entity:
                    continue
                self.check_pair(space, paths, entity, other)
        return True

    def check_pair(self, space, paths, entity: int, other: int) -> None:
        """Compare when a box enters and leaves another body with the exact times."""
        pair = {entity, other}
        entered = [e.time for e in space.collisions if {e.first, e.second} == pair]
        left = [e.time for e in space.contacts_ended if {e.first, e.second} == pair]
        if self.boxes[entity] == self.boxes.get(other, other):
            assert entered == left == []
            return
        entries, exits = [], []
        for start, end in stretches_inside(paths[entity], paths[other]):
            is_clear = end - start > 4 * BRIEF and start < 1 - 4 * BRIEF
            if start > 0:
                entries.append((start, is_clear and start > 4 * BRIEF))
            if end < 1:
                exits.append((end, is_clear and end < 1 - 4 * BRIEF))
        check_times(entered, entries)
        check_times([t for t in left if t < 1], [e for e in exits if e[0] < 1])


@pytest.mark.slow_in_python
def test_boxes_enter_and_leave_at_the_exact_times(volume):
    n_steps = n_judged = n_crossed = n_bent = 0
    for number in range(volume(2, 4, 200, least=2)):
        here, name = esper.current_world, f"boxes {number}"
        esper.switch_world(name)
        try:
            world = World(number)
            space = ec.install(dim=world.dim, sleep=number % 2 == 0)
            dt = [1 / 60, 1 / 8, 0.3][number % 3]
            esper.process(0.0)
            for step in range(10):
                before = world.offsets
                world.shake()
                world.offsets = {entity: world.offset(entity) for entity in world.boxes}
                bodies = [b for b in read_bodies(world.dim) if b.ident not in world.boxes]
                esper.process(dt)
                try:
                    is_judged = world.check(dt, space, bodies, before)
                except AssertionError as wrong:
                    raise AssertionError(f"world {number}, step {step}") from wrong
                n_steps += 1
                n_judged += is_judged
                n_crossed += sum(
                    e.first in world.boxes or e.second in world.boxes for e in space.collisions
                )
                n_bent += sum(e.resolved for e in space.collisions)
        finally:
            esper.switch_world(here)
            esper.delete_world(name)
    print(n_steps, n_judged, n_crossed, n_bent)

    assert n_judged > 0.9 * n_steps
    assert n_crossed > n_steps
    assert n_bent > n_steps / 2
