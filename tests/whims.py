"""A game that does with each impact whatever comes to its mind, the same in every run.

What it does depends on the two bodies and on the time alone, so that a run which goes another
way to the same impacts, by another order or with other trees, has to end in the same place.
"""

from __future__ import annotations

import zlib

import esper

import ecs_collide as ec

RESPONSES = (ec.Slide(), ec.Push(), ec.Stop(), ec.Deflect(0.5), ec.Deflect(1.0))


def whim(*about: object, n: int) -> int:
    """Return a number below `n` that is the same in every process."""
    return zlib.crc32(repr(about).encode()) % n


class Whims(ec.ResponseSystem):
    """Does something with one of two impacts, and leaves the others."""

    salt = 0

    def respond(self, impact):
        about = (self.salt, impact.first, impact.second, impact.time, impact.closing_speed)
        choice = whim(*about, n=16)
        if choice == 0:
            impact.cross()
        elif choice in (1, 2, 3):
            impact.cross(until_separate=True)
        elif choice == 4:
            impact.resolve()
        elif choice == 5:
            impact.resolve(RESPONSES[whim("which", *about, n=len(RESPONSES))])
        elif choice == 6:
            for entity in (impact.first, impact.second):
                if esper.has_component(entity, ec.Velocity):
                    turned = tuple(0.75 * v for v in impact.velocity(impact.other(entity)))
                    impact.set_velocity(entity, turned)
        elif choice == 7:
            for entity in (impact.first, impact.second):
                if esper.has_component(entity, ec.Velocity):
                    impact.set_velocity(entity, tuple(-v for v in impact.velocity(entity)))
            return ec.DEFAULT
        elif choice == 8:
            return None
        else:
            return ec.DEFAULT
        return None


class LaterWhims(Whims):
    """A second one, which is offered what the first has left."""

    salt = 1


class Foresight(ec.ResponseSystem):
    """Is offered each impact first, and does by its time what it does not do in other systems."""

    def respond(self, impact):
        choice = whim("coming", impact.first, impact.second, impact.time, n=12)
        if choice < 2:
            impact.cross(until_separate=choice == 1)
        elif choice == 2:
            impact.resolve(RESPONSES[whim(impact.first, impact.time, n=len(RESPONSES))])
        return ec.DEFAULT


def install(space=None, **settings):
    """Install a space with all three of them."""
    space = ec.install(space, **settings)
    esper.add_processor(Whims(space), priority=118)
    esper.add_processor(LaterWhims(space), priority=114)
    esper.add_processor(Foresight(space), priority=119)
    return space
