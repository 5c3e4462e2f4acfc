"""Contacts begin and end when the exact paths of a step say so."""

from __future__ import annotations

import esper
import pytest

import ecs_collide as ec
from tests.exact.contact_oracle import compare_contacts, pairs_in_contact
from tests.exact.twin import is_dyadic, read_bodies, run_exactly
from tests.exact.worlds import RandomWorld
from tests.scenes import another_world

pytestmark = pytest.mark.usefixtures("world", "implementation")


@pytest.mark.slow_in_python
def test_contacts_begin_and_end_as_the_exact_paths_say(volume):
    # On a grid, where most steps are exact in floats.
    length = volume(20, 30, 60, least=20)
    n_steps = n_bounces = n_ends = 0
    for number in range(volume(2, 3, 72, least=2)):
        with another_world(f"{esper.current_world} grid {number}"):
            world = RandomWorld(number + 24 + number // 24 * 24)
            space = ec.install(dim=world.dim)
            for dt in world.dts[:length]:
                world.shake(dt)
                bodies = read_bodies(world.dim)
                known = pairs_in_contact(space)
                esper.process(dt)
                exact = run_exactly(bodies, dt) if is_dyadic(bodies, dt) else None
                if exact is not None:
                    found = compare_contacts(exact, space, known)
                    n_steps, n_bounces, n_ends = (
                        n_steps + 1,
                        n_bounces + found[0],
                        n_ends + found[1],
                    )

    assert n_steps > 20
    assert n_bounces > n_steps / 4
    assert n_ends > n_bounces + n_steps / 50
