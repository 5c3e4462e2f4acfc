"""A pair that a sweep has marked as clear is apart when the step ends, as a comparison finds."""

import esper
import pytest

import ecs_collide as ec
from tests import plain
from tests.scenes import mixed_run, mover

contacts_in_step = plain.kernel("narrowphase.contacts_in_step")


def crowd(dim):
    """Yield before each step of boxes that fall onto each other, some of which grow."""
    for k in range(60):
        at = (2.25 * (k % 6), 2.25 * (k // 6), 1.5 * (k % 5))[:dim]
        speed = (30 - 12 * (k % 6), 3 * (k % 4), 8 - 4 * (k % 5))[:dim]
        growth = [ec.Growth(*(0.5, -0.25, 0.5)[:dim])] if k % 7 == 0 else []
        mover(at, (1,) * dim, speed, ec.Slide() if k % 3 else ec.Deflect(0.5), *growth)
    ec.install(dim=dim, gravity=(0, -90, 0)[:dim])
    while True:
        yield
        esper.process(1 / 60)


@pytest.mark.parametrize("kernels", ["plain"], indirect=True)
@pytest.mark.parametrize("dim", [2, 3])
@pytest.mark.parametrize("scene", [crowd, mixed_run])
def test_a_clear_pair_is_apart(scene, dim, monkeypatch, world, implementation):
    n_clear = 0
    compare = contacts_in_step.ContactsInStep.compare

    def check(self):
        nonlocal n_clear
        for p in range(self.pairs.n):
            if self.pairs.at[p].is_clear:
                n_clear += 1
                assert self.correction.relative_placement(p) == contacts_in_step.APART
        compare(self)

    monkeypatch.setattr(contacts_in_step.ContactsInStep, "compare", check)
    run = scene(dim=dim)
    for _ in range(25):
        next(run)
    assert n_clear > 50
