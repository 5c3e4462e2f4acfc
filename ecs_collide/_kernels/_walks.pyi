from ecs_collide._kernels._nodes import Nodes

class Walker:
    def __init__(self, nodes: Nodes) -> None: ...
