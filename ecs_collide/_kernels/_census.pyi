from collections.abc import Collection, Mapping
from typing import Any

from ecs_collide._kernels._kinds import Kind

class Census:
    newcomers: list[int]
    changed: list[int]
    gone: list[int]
    def __init__(self) -> None: ...
    def take(
        self,
        entities: Mapping[int, Mapping[type, Any]],
        dead: Collection[int],
        row_of: dict[int, int],
        kinds: list[Kind],
        rows: memoryview,
        ids: memoryview,
        n_filed: memoryview,
        present: memoryview,
    ) -> None: ...
