"""Solid contacts begin and end when the exact paths of a step say so."""

from __future__ import annotations

from fractions import Fraction

import esper
import pytest

import ecs_collide as ec
from tests.exact.contact_oracle import BEGAN, ENDED, solid_contacts
from tests.exact.simulator import Simulator
from tests.exact.twin import is_dyadic, read_bodies, run_exactly
from tests.exact.worlds import RandomWorld

pytestmark = pytest.mark.usefixtures("world", "implementation")

SOLID = ec.ContactKind.SOLID
SEPARATED = ec.END_REASONS.index(ec.EndReason.SEPARATED)


def solid_pairs(space):
    return {(c.first, c.second) for c in space.contacts() if c.kind is SOLID}


def solid_events(space):
    """Return (time, event) by pair, but the ends that a change by the game has caused."""
    array = space.contact_array
    events = {}
    for row in array[(array["kind"] == SOLID) & (array["reason"] <= SEPARATED)]:
        pair = (row["first"].item(), row["second"].item())
        events.setdefault(pair, []).append((row["time"].item(), row["event"].item()))
    return events


def grid_worlds(volume):
    """Yield random worlds on a grid, where most steps are exact in floats."""
    n = volume(2, 3, 72, least=2)
    home = esper.current_world
    for number in range(n):
        name = f"{home} grid {number}"
        esper.switch_world(name)
        try:
            yield RandomWorld(number + 24 + number // 24 * 24)
        finally:
            esper.switch_world(home)
            esper.delete_world(name)


@pytest.mark.slow_in_python
def test_contacts_begin_and_end_as_the_exact_paths_say(volume):
    length = volume(20, 30, 60, least=20)
    n_steps = n_bounces = n_ends = 0
    for world in grid_worlds(volume):
        space = ec.install(dim=world.dim)
        for dt in world.dts[:length]:
            world.shake(dt)
            bodies = read_bodies(world.dim)
            known = solid_pairs(space)
            esper.process(dt)
            if not is_dyadic(bodies, dt) or run_exactly(bodies, dt) is None:
                continue
            moved = space.contact_array[space.contact_array["reason"] > SEPARATED]
            known -= set(zip(moved["first"].tolist(), moved["second"].tolist(), strict=True))
            exact = Simulator(bodies, Fraction(dt), watch=True)
            exact.run()

            wanted = solid_contacts(exact, known)

            found, remaining = solid_events(space), solid_pairs(space)
            for pair, (events, lies) in wanted.items():
                told = found.get(pair, [])
                assert [event for _, event in told] == [event for _, event in events], pair
                assert [time for time, _ in told] == pytest.approx(
                    [float(time) for time, _ in events], abs=1e-12
                )
                assert (pair in remaining) == lies
                begins = [time for time, event in events if event == BEGAN]
                ends = [time for time, event in events if event == ENDED]
                n_bounces += len({*begins} & {*ends})
                n_ends += len(ends)
            n_steps += 1

    assert n_steps > 20
    assert n_bounces > n_steps / 4
    assert n_ends > n_bounces + n_steps / 50
