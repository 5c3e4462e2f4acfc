"""A world whose axes close in rings does the same wherever its edge lies, and the same unrolled.

All numbers are binary fractions of few bits and all speeds of a world powers of two, so that
nothing is ever rounded: what is compared must be the same, bit for bit.
"""

from __future__ import annotations

import random

import esper
import numpy as np
import pytest

import ecs_collide as ec

pytestmark = pytest.mark.usefixtures("world", "implementation")

GRID = 4.0  # places and sizes are multiples of a fourth


class Body:
    """One body of a world, to be made in several."""

    def __init__(self, centre, half, velocity=None, parts=()):
        self.centre, self.half = np.array(centre), np.array(half)
        self.velocity, self.parts = velocity, parts

    @property
    def is_solid(self):
        return ec.Sensor not in self.parts

    def make(self, shift, widths=None):
        centre = self.centre + shift
        if widths is not None:
            centre = np.where(widths > 0, centre % np.where(widths > 0, widths, 1.0), centre)
        parts = [part() for part in self.parts]
        if self.velocity is not None:
            parts.append(ec.Velocity(*self.velocity))
        return esper.create_entity(ec.Position(*centre), ec.Extents(*self.half), *parts)


def trait(rng, dim):
    """Return one of the parts that only some bodies have, to be made again for each world."""
    normal = [0.0] * dim
    normal[rng.randrange(dim)] = rng.choice((-1.0, 1.0))
    return rng.choice(
        (
            (),
            (lambda: ec.OneWay(normal),),
            (lambda: ec.Carry(normal=normal),),
            (lambda: ec.Filter(2, 1),),
        )
    )


def touches(one, two, widths):
    """Return whether two bodies share a point anywhere around the world."""
    for k, width in enumerate(widths):
        way = two.centre[k] - one.centre[k]
        if width:
            way -= width * round(way / width)
        if abs(way) > one.half[k] + two.half[k]:
            return False
    return True


def build(rng, dim, widths, n, speed, still=0.2):
    """Return bodies of all kinds, the solid ones apart from each other."""
    bodies = []
    soft = 0
    for _ in range(n):
        for _ in range(30):
            centre = [rng.randrange(int(GRID * (w or 32))) / GRID for w in widths]
            half = [rng.randrange(1, 13) / GRID for _ in widths]
            speeds = [rng.choice((-speed, 0.0, speed)) for _ in widths]
            kind = rng.random()
            if kind < 0.45 and rng.random() < 0.2:  # as wide as the world: met on both sides
                axis = rng.randrange(dim)
                half[axis] = (widths[axis] or 24.0) / 2
            if kind < still:
                body = Body(centre, half, None, trait(rng, dim))
            elif kind < 0.3:
                body = Body(centre, half, speeds, trait(rng, dim))
            elif kind < 0.45:
                body = Body(centre, half, speeds, (ec.Sensor,))
            elif kind < 0.55 and soft == 0:
                body = Body(centre, half, speeds, (rng.choice((ec.Slide, ec.Stop)),))
            else:
                body = Body(centre, half, speeds, (ec.Deflect,))
            if not body.is_solid or not any(
                touches(body, other, widths) for other in bodies if other.is_solid
            ):
                soft += ec.Slide in body.parts or ec.Stop in body.parts
                bodies.append(body)
                break
    return bodies


class Run:
    """A world of its own, its steps, and what they show."""

    def __init__(self, name, bodies, dim, shift=0.0, **settings):
        self.name = f"{name} {id(self)}"
        esper.switch_world(self.name)
        widths = settings.get("wrap")
        self.widths = None if widths is None else np.array([w or 0.0 for w in widths])
        self.shift = np.zeros(dim) + shift
        self.entities = [body.make(self.shift, self.widths) for body in bodies]
        self.space = ec.install(ec.Space(dim, **settings))

    def step(self, dt):
        esper.switch_world(self.name)
        esper.process(dt)
        self.space.check()
        return self.space

    def places(self):
        """Return where the bodies are, without the shift."""
        places = self.space.positions(self.entities)
        if self.widths is None:
            return places
        wide = self.widths > 0
        assert (places[:, wide] >= 0).all()
        assert (places[:, wide] < self.widths[wide]).all()
        moved = places - self.shift
        moved[:, wide] %= self.widths[wide]
        return moved

    def end(self):
        esper.switch_world("default")
        esper.delete_world(self.name)


def events(space):
    """Return what a step told, without places."""
    hits = space.collision_array
    names = ("time", "exit", "first", "second", "normal", "kind", "closing_speed",
             "velocity_first", "velocity_second", "outcome")  # fmt: skip
    return [[hits[name].tobytes() for name in names], space.contact_array.tobytes()]


def is_exact(space, places):
    """Return whether nothing in a step was rounded, as it is after a mean of speeds."""
    times = space.collision_array["time"]
    return not (times * 2.0**30 % 1.0).any() and not (places * 2.0**30 % 1.0).any()


def kept(space):
    return sorted((c.first, c.second, c.normal, c.kind) for c in space.contacts())


WORLDS = [
    (2, (32.0, None), 8.0, 10),
    (2, (32.0, 24.0), 16.0, 12),
    (2, (24.0, 40.0), 64.0, 8),  # about once around in a step
    (2, (24.0, 24.0), 512.0, 3),  # many times
    (3, (16.0, None, 24.0), 16.0, 10),
    (3, (16.0, 16.0, 16.0), 32.0, 7),
]


@pytest.mark.parametrize(("dim", "widths", "speed", "n"), WORLDS)
def test_it_does_not_matter_where_the_edge_lies(dim, widths, speed, n, volume):
    n_hits = n_across = n_steps_done = 0
    n_worlds = volume(5, 12, 30, least=3)
    for seed in range(n_worlds):
        rng = random.Random(seed)
        bodies = build(rng, dim, widths, n, speed)
        moved = [rng.randrange(int(GRID * (width or 8))) / GRID for width in widths]
        plain = Run("plain", bodies, dim, wrap=widths)
        runs = [
            Run("half a width off", bodies, dim, [(w or 0.0) / 2 for w in widths], wrap=widths),
            Run("anywhere", bodies, dim, moved, wrap=widths, margin=9.0, lookahead=30.0),
        ]
        for _ in range(8):
            told = events(plain.step(0.25))
            places = plain.places()
            if not is_exact(plain.space, places):
                break
            n_steps_done += 1
            n_hits += len(plain.space.collisions)
            for run in runs:
                assert events(run.step(0.25)) == told, (seed, run.name)
                assert run.places().tolist() == places.tolist()
                assert kept(run.space) == kept(plain.space)
            for hit in plain.space.collisions:
                apart = abs(np.subtract(hit.position_first, hit.position_second))
                n_across += (apart > [w / 2 if w else np.inf for w in widths]).any()
        for run in (plain, *runs):
            run.end()
    assert n_steps_done > 3 * n_worlds
    assert n_across >= n_worlds // 4
    assert n_hits > n_across


@pytest.mark.parametrize("dim", [2, 3])
@pytest.mark.parametrize("part", [ec.Deflect, ec.Slide, ec.Stop, ec.Sensor])
def test_one_body_among_still_ones_does_the_same_unrolled(part, dim, volume):
    """Against a world without an edge that has a copy of everything wherever it may go."""
    widths, rounds, dt = (16.0, 12.0, 20.0)[:dim], 4 if dim == 2 else 2, 0.25
    n_hits, n_worlds = 0, volume(2, 8, 24 if dim == 2 else 12)
    for seed in range(n_worlds):
        rng = random.Random(seed)
        bodies = build(rng, dim, widths, 3 * dim, 1.0, still=1.0)
        speed = rng.choice((16.0, 64.0, 128.0))
        speeds = [rng.choice((-speed, speed)) for _ in range(dim)]
        mover = Body([w / 2 for w in widths], [0.5] * dim, speeds, (part,))
        bodies = [body for body in bodies if not touches(body, mover, widths)]
        ring = Run("ring", [mover, *bodies], dim, wrap=widths)
        copies, of = [mover], [ring.entities[0]]
        for body, entity in zip(bodies, ring.entities[1:], strict=True):
            for numbers in np.ndindex(*([2 * rounds + 1] * dim)):  # in the order of their images
                shift = (np.array(numbers) - rounds) * widths
                copies.append(Body(body.centre + shift, body.half, None, body.parts))
                of.append(entity)
        plane = Run("plane", copies, dim)
        original = dict(zip(plane.entities, of, strict=True))
        place = mover.centre
        for _ in range(6):
            if (abs(place - np.array(widths) / 2) + speed * dt > rounds * np.array(widths)).any():
                break  # it may leave the plane
            here = ring.step(dt).collisions
            there = sorted(
                [
                    (h.time, original[h.first], original[h.second], h)
                    for h in plane.step(dt).collisions
                ],
                key=lambda each: each[0],
            )
            n_hits += len(here)
            assert sorted(
                (h.time, h.first, h.second, h.normal, h.velocity_first) for h in here
            ) == sorted((t, a, b, h.normal, h.velocity_first) for t, a, b, h in there), seed
            place = plane.space.positions(plane.entities[:1])[0]
            assert ring.space.positions(ring.entities[:1])[0].tolist() == (place % widths).tolist()
            assert sorted(
                (c.time, c.first, c.second, c.kind) for c in ring.space.contacts_began
            ) == sorted(
                (c.time, original[c.first], original[c.second], c.kind)
                for c in plane.space.contacts_began
            )
            assert len(ring.space.contacts_ended) == len(plane.space.contacts_ended)
        ring.end()
        plane.end()
    assert n_hits >= n_worlds // 2


def test_a_closed_room_across_the_edges_is_the_same_as_one_without_edges(volume):
    widths = (64.0, 64.0)
    n_without_ties = 0
    for seed in range(volume(3, 8, 20)):
        rng = random.Random(seed)
        bodies = build(rng, 2, (28.0, 28.0), 12, 16.0)
        answers = {ec.Deflect, ec.Slide, ec.Stop}
        bodies = [b for b in bodies if b.velocity is None or answers.intersection(b.parts)]
        for body in bodies:
            body.centre += 18.0
        bodies += [
            Body((32.0, 8.0), (24.0, 4.0)), Body((32.0, 56.0), (24.0, 4.0)),
            Body((8.0, 32.0), (4.0, 24.0)), Body((56.0, 32.0), (4.0, 24.0)),
        ]  # fmt: skip
        runs = [
            Run("plane", bodies, 2),
            Run("within", bodies, 2, wrap=widths),
            Run("across both", bodies, 2, (32.0, 32.0), wrap=widths),
            Run("across one", bodies, 2, (0.0, 29.25), wrap=(None, 64.0)),
        ]
        same = runs
        for _ in range(10):
            told = {run: events(run.step(0.25)) for run in runs}
            times = [hit.time for hit in runs[0].space.collisions]
            if len(set(times)) < len(times):
                same = runs[1:]  # in a world that wraps ids decide, not places, which is first
            assert all(told[run] == told[same[0]] for run in same), seed
            places = [run.places().tolist() for run in same]
            assert places.count(places[0]) == len(same)
        n_without_ties += same is runs
        for run in runs:
            run.end()
    assert n_without_ties > 0
