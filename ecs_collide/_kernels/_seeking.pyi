from collections.abc import Sequence

from ecs_collide._kernels._tree import Tree

Vector = tuple[float, ...]

class Seeker:
    def __init__(self, first: Tree, second: Tree | None = None) -> None: ...
    def cast_ray(
        self,
        origin: object,
        direction: object,
        most: int,
        barred: Sequence[int] | None,
        tight_min: memoryview,
        tight_max: memoryview,
        ids: memoryview,
    ) -> list[tuple[float, int, Vector, Vector]] | None: ...
    def cast_box(
        self,
        centre: object,
        half: object,
        motion: object,
        most: int,
        barred: Sequence[int] | None,
        tight_min: memoryview,
        tight_max: memoryview,
        ids: memoryview,
    ) -> list[tuple[float, int, Vector, Vector, float]] | None: ...
    def nearest(
        self,
        point: object,
        most: int,
        within: float,
        barred: Sequence[int] | None,
        tight_min: memoryview,
        tight_max: memoryview,
        ids: memoryview,
    ) -> list[tuple[float, int, Vector]] | None: ...
    def cast_boxes(
        self,
        centres: memoryview,
        halves: memoryview,
        motions: memoryview,
        alone: memoryview,
        barred: Sequence[int] | None,
        tight_min: memoryview,
        tight_max: memoryview,
        ids: memoryview,
        found: memoryview,
        hits: memoryview,
    ) -> None: ...
    def nearest_many(
        self,
        points: memoryview,
        most: int,
        within: float,
        alone: memoryview,
        barred: Sequence[int] | None,
        tight_min: memoryview,
        tight_max: memoryview,
        ids: memoryview,
        found: memoryview,
        hits: memoryview,
    ) -> None: ...
    def query_many(
        self,
        mins: memoryview,
        maxs: memoryview,
        barred: Sequence[int] | None,
        tight_min: memoryview,
        tight_max: memoryview,
        ids: memoryview,
        offsets: memoryview,
    ) -> memoryview: ...
