"""What the kernels of a space share while they do a step."""

from __future__ import annotations

from ecs_collide._kernel import Public, ReadOnly, cython
from ecs_collide.broadphase.pair_table import PairTable
from ecs_collide.motion.attachments import Attachments
from ecs_collide.motion.bodies import Bodies
from ecs_collide.motion.gravity import Gravity
from ecs_collide.narrowphase.event_buffer import EventBuffer
from ecs_collide.narrowphase.impact_queue import ImpactQueue


@cython.final
class Step:
    """The tables that all kernels work on, the time reached, and the settings.

    Each kernel from the narrowphase upwards gets it, and the kernels that it calls.  The length of
    the step and the tick, which counts changes of paths, are `Bodies.dt` and `Bodies.tick`.
    """

    bodies: ReadOnly[Bodies]
    attachments: ReadOnly[Attachments]
    gravity: ReadOnly[Gravity]
    pairs: ReadOnly[PairTable]
    queue: ReadOnly[ImpactQueue]
    event_buffer: ReadOnly[EventBuffer]
    now: ReadOnly[cython.double]  # the time that the step has reached, a fraction of it
    instant_tick: cython.longlong  # the tick at which the step reached this time
    # impacts that close more slowly than this, in units per second, do not bounce
    rest_speed: Public[cython.double]
    pair_limit: Public[
        cython.longlong
    ]  # resolutions of a pair in one step after which its bodies are held

    def __init__(self, bodies: Bodies):
        self.bodies = bodies
        self.attachments = Attachments(bodies)
        self.gravity = Gravity(bodies)
        self.pairs = PairTable()
        self.queue = ImpactQueue()
        self.event_buffer = EventBuffer(bodies.dim)
        self.now = 0.0
        self.instant_tick = 0
        self.rest_speed = 0.0
        self.pair_limit = 0

    def begin_step(self):
        """Return to time 0, without pairs and impacts."""
        self.pairs.forget()
        self.queue.clear()
        self.now = 0.0
        self.instant_tick = 0
