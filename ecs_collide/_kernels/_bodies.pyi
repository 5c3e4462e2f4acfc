from ecs_collide._kernels._traits import Traits

PUSH: int
STOP: int
CENTRE: int
HALF: int
MOTION: int
RESIZE: int
ANCHORED: int
ANCHOR_VELOCITY: int
EARLIER: int
AWAKE: int
ASLEEP: int
ROUSED: int

class Bodies:
    dim: int
    dt: float
    traits: Traits
    wraps: bool
    width: memoryview
    def __init__(self, dim: int) -> None: ...
    def bind(self, columns: object, n_rows: int) -> None: ...
    def begin_step(self, rows: memoryview, dt: float) -> None: ...
    def start(self, rows: memoryview) -> None: ...
    def place_still(self, rows: memoryview) -> None: ...
    def take_roused(self) -> list[int]: ...
    def arrive(self, rows: memoryview, targets: memoryview) -> None: ...
