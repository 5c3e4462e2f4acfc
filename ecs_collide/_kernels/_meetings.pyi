from ecs_collide._kernels._bodies import Bodies
from ecs_collide._kernels._pairs import Pairs
from ecs_collide._kernels._queue import Queue
from ecs_collide._kernels._sweep import Sweeper

class Meetings:
    sweeper: Sweeper
    now: float
    n_sweeps: int
    def __init__(self, bodies: Bodies, pairs: Pairs, queue: Queue) -> None: ...
    def begin_step(self) -> None: ...
