from ecs_collide._kernels._bodies import Bodies

class Responder:
    now: float
    lasting: bool
    n_joins: int
    n_changed: int
    def __init__(self, bodies: Bodies) -> None: ...
    def set_rows(self, n_rows: int) -> None: ...
    def begin_step(self) -> None: ...
