"""Two rows of boxes that meet at one instant, each box of one row perhaps several of the other."""

from __future__ import annotations

import random

import ecs_collide as ec

STEP = 1 / 4  # they meet in the middle of the first one

RESPONSES = {
    "Deflect": lambda draw: ec.Deflect(draw.choice([0.25, 0.5, 1])),
    "Slide": lambda draw: ec.Slide(),
    "Push": lambda draw: ec.Push(),
    "Stop": lambda draw: ec.Stop(),
}
# The share of the boxes that have a component, and what makes one.
MORE = {
    "Mass": (0.5, lambda draw: ec.Mass(draw.choice([1, 2, 4]))),
    "Restitution": (0.4, lambda draw: ec.Restitution(draw.choice([0.5, 1]))),
    "Friction": (0.5, lambda draw: ec.Friction(draw.choice([0.25, 0.5, 1]))),
}


def rows_that_meet(seed, dim, parts):
    """Return the boxes, each with its place, half size, velocity and components.

    All numbers are small and whole, or halves.  Along any axis the rows may meet.
    """
    draw = random.Random(f"rows {seed}")
    boxes = []
    speeds = draw.choice([(0, -8), (8, 0), (4, -4)])
    for row, (bottom, speed) in enumerate(zip((0, 5), speeds, strict=True)):
        left = draw.randint(-6, -2)
        for _ in range(draw.choice([1, 2, 2, 3, 4])):
            half = [draw.choice([1, 1, 1.5, 2]), draw.choice([1, 2])]
            left += draw.choice([0, 0, 1, 2])
            # The faces that meet are level: the upper ones of the first row, at 4.
            place = [left + half[0], 4 - half[1] if row == 0 else bottom + half[1]]
            velocity = [draw.choice([-2, 0, 0, 2]), speed]
            left += 2 * half[0]
            if dim == 3:
                place.append(draw.choice([0, 0, 1]))
                half.append(draw.choice([1, 1.5]))
                velocity.append(draw.choice([-2, 0, 0, 2]))
            response = RESPONSES[draw.choice(sorted(parts & {*RESPONSES}))](draw)
            more = [
                make(draw)
                for name, (share, make) in MORE.items()
                if name in parts and draw.random() < share
            ]
            boxes.append((place, half, velocity, [response, *more]))
    axis = draw.randrange(dim)
    for *vectors, _ in boxes:
        for vector in vectors:
            vector[1], vector[axis] = vector[axis], vector[1]
    return boxes
