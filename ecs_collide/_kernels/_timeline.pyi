from ecs_collide._kernels._bodies import Bodies
from ecs_collide._kernels._candidates import Candidates
from ecs_collide._kernels._carrying import Carrying
from ecs_collide._kernels._contacts import Contacts
from ecs_collide._kernels._log import Log
from ecs_collide._kernels._meetings import Meetings
from ecs_collide._kernels._pairs import Pairs
from ecs_collide._kernels._placement import Settler
from ecs_collide._kernels._pushing import Pushing
from ecs_collide._kernels._queue import Queue
from ecs_collide._kernels._responses import Responder
from ecs_collide._kernels._sleepers import Sleepers

class Timeline:
    bodies: Bodies
    pairs: Pairs
    queue: Queue
    responder: Responder
    settler: Settler
    log: Log
    candidates: Candidates
    contacts: Contacts
    meetings: Meetings
    carrying: Carrying
    pushing: Pushing
    sleepers: Sleepers
    rest_speed: float
    pair_limit: int
    answer_limit: int
    n_answers: int
    n_crushed: int
    n_forced: int
    n_pair_limit: int
    n_answer_limit: int
    pending: int
    event: int
    hand_over: bool
    def __init__(self, dim: int) -> None: ...
    def bind(self, columns: object, n_rows: int) -> None: ...
    def begin(self) -> None: ...
    def abandon(self) -> None: ...
    def place_still(self, rows: memoryview) -> None: ...
    def place_moving(self, rows: memoryview, dt: float) -> None: ...
    def push_out(self, rows: memoryview) -> None: ...
    def find_pairs(self, rows: memoryview) -> bool: ...
    def queue_impacts(self) -> None: ...
    def run(self, answering: bool) -> int: ...
    def conclude(self, default: bool) -> None: ...
    def answer_pending(self) -> None: ...
    def take_out(self, i: int) -> None: ...
    def set_velocity(self, i: int, k: int, value: float) -> None: ...
    def relocate(self, i: int, k: int, value: float) -> None: ...
    def centre_now(self, i: int, k: int) -> float: ...
    def half_now(self, i: int, k: int) -> float: ...
    def finish(
        self,
        rows: memoryview,
        settling: bool,
        driven: memoryview,
        targets: memoryview,
    ) -> None: ...
