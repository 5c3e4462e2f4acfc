"""The tables and settings that the kernels of a space share in a step."""

# Compiled with -O1, in two thirds of the time: few steps call it, or for few bodies.
from __future__ import annotations

from ecs_collide._kernel import Public, ReadOnly, cython
from ecs_collide.broadphase.pair_table import PairTable
from ecs_collide.motion.attachments import Attachments
from ecs_collide.motion.bodies import Bodies
from ecs_collide.motion.gravity import Gravity
from ecs_collide.narrowphase.event_buffer import EventBuffer
from ecs_collide.narrowphase.impact_queue import ImpactQueue
from ecs_collide.narrowphase.leaning import Leaning
from ecs_collide.narrowphase.slopes import Slopes


@cython.final
class Step:
    """The tables on which all kernels work, the time within the step, and the settings.

    The length of the step and the tick, which counts changes of paths, are `Bodies.dt` and
    `Bodies.tick`.
    """

    bodies: ReadOnly[Bodies]
    attachments: ReadOnly[Attachments]
    gravity: ReadOnly[Gravity]
    pairs: ReadOnly[PairTable]
    queue: ReadOnly[ImpactQueue]
    event_buffer: ReadOnly[EventBuffer]
    slopes: ReadOnly[Slopes]
    leaning: ReadOnly[Leaning]
    now: ReadOnly[cython.double]  # the time within the step, as a fraction of it
    instant_tick: cython.longlong  # the tick at the start of this instant
    # impacts that close more slowly than this, in units per second, do not bounce
    rest_speed: Public[cython.double]
    pair_limit: Public[cython.longlong]  # resolutions of a pair in a step that hold its bodies

    def __init__(self, bodies: Bodies):
        self.bodies = bodies
        self.attachments = Attachments(bodies)
        self.gravity = Gravity(bodies)
        self.pairs = PairTable()
        self.queue = ImpactQueue(bodies, self.pairs)
        self.event_buffer = EventBuffer(bodies.dim)
        self.slopes = Slopes(bodies)
        self.leaning = Leaning(bodies)

    @cython.ccall
    def begin_step(self) -> cython.void:
        """Return to time 0, without pairs and impacts."""
        self.pairs.forget()
        self.queue.clear()
        self.queue.by_distance = False
        self.now = 0.0
        self.instant_tick = 0
