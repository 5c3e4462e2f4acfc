from ecs_collide._kernels._bodies import Bodies
from ecs_collide._kernels._contacts import Contacts

PASSES: int

class Ride:
    n: int
    riders: memoryview
    carrier: memoryview
    drift: memoryview
    def __init__(self, n_rows: int, dim: int) -> None: ...

class Carrying:
    sweeps: bool
    now: Ride
    rode: Ride
    def __init__(self, bodies: Bodies, contacts: Contacts) -> None: ...
    def look(self, at_rest: bool) -> None: ...
    def recover(self, rows: memoryview, drift: memoryview) -> None: ...
    def begin(self) -> list[int]: ...
    def end(self) -> None: ...
