from ecs_collide._kernels._bodies import Bodies
from ecs_collide._kernels._pairs import Pairs
from ecs_collide._kernels._queue import Queue

APART_AT_LEAST: float
APART: int
TOUCHING: int
SUNK: int
DEEP: int

class Settler:
    axis: int
    sign: int
    n_near: int
    gap: float
    def __init__(self, bodies: Bodies, pairs: Pairs, queue: Queue) -> None: ...
    def set_rows(self, n_rows: int) -> None: ...
