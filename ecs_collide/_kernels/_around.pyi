from ecs_collide._kernels._bodies import Bodies

DIGIT: int
HALF_DIGIT: int

class Around:
    def __init__(self, bodies: Bodies) -> None: ...
    def set_rows(self, n_rows: int) -> None: ...
