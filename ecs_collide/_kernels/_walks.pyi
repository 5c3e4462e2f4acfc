from ecs_collide._kernels._nodes import Nodes

Vector = tuple[float, ...]

class Walker:
    def __init__(self, nodes: Nodes) -> None: ...
    def query(
        self,
        lower: object,
        upper: object,
        tight_min: memoryview,
        tight_max: memoryview,
        ids: memoryview,
    ) -> list[int] | None: ...
    def cast_ray(
        self,
        origin: object,
        direction: object,
        tight_min: memoryview,
        tight_max: memoryview,
        ids: memoryview,
    ) -> tuple[float, int, Vector, Vector] | tuple[()] | None: ...
