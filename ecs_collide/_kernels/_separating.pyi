from ecs_collide._kernels._bodies import Bodies
from ecs_collide._kernels._pairs import Pairs

class Separating:
    n: int
    n_left_out: int
    rows: memoryview
    push: memoryview
    def __init__(self, bodies: Bodies, pairs: Pairs) -> None: ...
    def begin(self, rows: memoryview) -> None: ...
    def separate(self) -> None: ...
