from ecs_collide._kernels._bodies import Bodies
from ecs_collide._kernels._holding import Holding
from ecs_collide._kernels._pairs import Pairs
from ecs_collide._kernels._queue import Queue
from ecs_collide._kernels._tree import Tree

class Candidates:
    still: Tree
    moving: Tree
    margin: float
    lookahead: float
    n_escapes: int
    n_left_out: int
    crowd: list[int]
    is_crowded: bool
    step: int
    n_waiting: int
    def __init__(self, bodies: Bodies, pairs: Pairs, queue: Queue, holding: Holding) -> None: ...
    def place_still(self, rows: memoryview) -> None: ...
    def place_moving(self, rows: memoryview) -> None: ...
    def remove(self, i: int) -> None: ...
