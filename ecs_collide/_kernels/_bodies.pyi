NONE: int
DEFLECT: int
SLIDE: int
PUSH: int
STOP: int

class Bodies:
    dim: int
    dt: float
    def __init__(self, dim: int) -> None: ...
    def bind(self, columns: object) -> None: ...
    def begin_step(self, rows: memoryview, dt: float) -> None: ...
