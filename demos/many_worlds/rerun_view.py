"""Rooms in the viewer of Rerun: boxes, velocities and impacts of each step on a time line.

``python -m demos.many_worlds.rerun_view rooms.rrd`` writes a recording, which ``rerun rooms.rrd``
shows; ``--spawn`` opens the viewer at once.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import rerun as rr

import ecs_collide as ec
from demos.many_worlds.rooms import DT, Rooms, head_for_goal


def log_space(space: ec.Space) -> None:
    """Log a space after a step: all boxes, the velocities, and the places of impacts."""
    low, high = space.boxes()
    kinds = space.body_kinds()
    moves = kinds & ec.BodyKind.MOVES != 0
    for name, chosen in (("walls", ~moves), ("bodies", moves)):
        rr.log(f"space/{name}", rr.Boxes2D(mins=low[chosen], sizes=(high - low)[chosen]))
    rr.log(
        "space/velocities",
        rr.Arrows2D(origins=space.positions()[moves], vectors=space.velocities()[moves] * 0.2),
    )
    impacts = space.impact_boxes()
    middle = (impacts.mins + impacts.maxs).reshape(-1, 2) / 2
    rr.log("space/impacts", rr.Points2D(middle, radii=0.2))
    rr.log("stats/impacts", rr.Scalars(float(space.stats.impacts)))


def main(arguments: Sequence[str] | None = None) -> None:
    """Record some steps of some rooms."""
    parser = argparse.ArgumentParser(prog="python -m demos.many_worlds.rerun_view")
    parser.add_argument("path", type=Path, nargs="?", default=Path("rooms.rrd"))
    parser.add_argument("--rooms", type=int, default=16)
    parser.add_argument("--steps", type=int, default=150)
    parser.add_argument("--spawn", action="store_true", help="open the viewer instead of a file")
    given = parser.parse_args(arguments)
    rr.init("ecs_collide rooms", spawn=given.spawn)
    if not given.spawn:
        rr.save(given.path)
    rooms = Rooms(given.rooms)
    rooms.seed(np.arange(given.rooms), np.arange(given.rooms))
    rooms.reset(np.arange(given.rooms))
    for step in range(given.steps):
        over = rooms.step(head_for_goal(rooms))
        rr.set_time("step", sequence=step)
        rr.set_time("time", duration=(step + 1) * DT)
        with rooms.current():
            log_space(rooms.space)
        rooms.reset(np.flatnonzero(over.reached | over.hit | over.out_of_time))
    rooms.close()
    rr.disconnect()


if __name__ == "__main__":
    main()
