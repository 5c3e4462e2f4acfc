from ecs_collide._kernels._bodies import Bodies
from ecs_collide._kernels._candidates import Candidates
from ecs_collide._kernels._log import Log
from ecs_collide._kernels._pairs import Pairs
from ecs_collide._kernels._placement import Settler

SOLID: int
CROSSING: int
PASSING: int
SEPARATED: int

class Contacts:
    left: list[int]
    forgotten: list[int]
    n: int
    rows: memoryview
    since: memoryview
    clock: float
    images: memoryview
    def __init__(
        self,
        bodies: Bodies,
        pairs: Pairs,
        candidates: Candidates,
        settler: Settler,
        log: Log,
    ) -> None: ...
    def keep(self) -> None: ...
    def kept(self) -> tuple[memoryview, memoryview, memoryview]: ...
    def forget(self, row: int, reason: int) -> None: ...
    def drop(self, row: int, platform: int) -> int: ...
    def recover(self, rows: memoryview, since: memoryview) -> None: ...
    def shift_images(self, shifts: memoryview) -> None: ...
    def offsets_into(self, offsets: memoryview) -> None: ...
    def recover_images(self, images: memoryview) -> None: ...
