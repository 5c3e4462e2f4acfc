from ecs_collide._kernels._pairing import Pairing

class Tree:
    dim: int
    found: memoryview
    pairing: Pairing
    def __init__(self, dim: int, capacity: int = 0) -> None: ...
    def holds(self, item: int) -> bool: ...
    def drop(self, item: int) -> bool: ...
    def drop_many(self, items: memoryview) -> None: ...
    def bounds_into(self, item: int, mins: memoryview, maxs: memoryview, row: int) -> bool: ...
    def covers(self, item: int, mins: memoryview, maxs: memoryview) -> bool: ...
    def renew(
        self,
        items: memoryview,
        mins: memoryview,
        maxs: memoryview,
        swept_min: memoryview,
        swept_max: memoryview,
        motion: memoryview,
        margin: float,
        lookahead: float,
    ) -> int: ...
    def renew_one(
        self,
        item: int,
        mins: memoryview,
        maxs: memoryview,
        swept_min: memoryview,
        swept_max: memoryview,
        motion: memoryview,
        margin: float,
        lookahead: float,
    ) -> bool: ...
    def touching(self, mins: memoryview, maxs: memoryview, row: int) -> int: ...
    def overlapping(
        self,
        mins: memoryview,
        maxs: memoryview,
        row: int,
        tight_min: memoryview,
        tight_max: memoryview,
    ) -> int: ...
    def rays(
        self,
        origins: memoryview,
        directions: memoryview,
        tight_min: memoryview,
        tight_max: memoryview,
        ids: memoryview,
        items: memoryview,
        hits: memoryview,
    ) -> None: ...
    def pairs(self, only_changed: bool = False) -> int: ...
    def is_changed(self, item: int) -> bool: ...
    def forget_changes(self) -> None: ...
    @property
    def n_items(self) -> int: ...
    @property
    def n_nodes(self) -> int: ...
    @property
    def node_room(self) -> int: ...
    @property
    def depth(self) -> int: ...
    @property
    def cost(self) -> float: ...
    def check(self) -> None: ...
