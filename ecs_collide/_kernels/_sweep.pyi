SEPARATE: int
TOUCH: int
IMPACT: int
OVERLAP: int
SLOP: float

class Sweeper:
    dim: int
    kind: int
    axis: int
    sign: int
    corner: int
    enter: float
    exit: float
    depth: float
    def __init__(self, dim: int) -> None: ...

def sweep_pairs(
    centres: memoryview,
    halves: memoryview,
    motions: memoryview,
    growths: memoryview,
    pairs: memoryview,
    kind: memoryview,
    axis: memoryview,
    sign: memoryview,
    corner: memoryview,
    time: memoryview,
    enter: memoryview,
    exit: memoryview,
    depth: memoryview,
) -> None: ...
