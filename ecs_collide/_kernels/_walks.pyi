from ecs_collide._kernels._nodes import Nodes

def find_pairs(
    nodes: Nodes, tight_min: memoryview, tight_max: memoryview, found: memoryview
) -> tuple[int, memoryview]: ...
def find_on_ray(
    nodes: Nodes,
    origin: memoryview,
    direction: memoryview,
    tight_min: memoryview,
    tight_max: memoryview,
    ids: memoryview,
    hit: memoryview,
) -> int: ...
def verify(nodes: Nodes) -> None: ...
