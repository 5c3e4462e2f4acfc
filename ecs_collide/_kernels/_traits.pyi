ALL: int

class Traits:
    is_used: bool
    any_carrier: bool
    any_pusher: bool
    any_separator: bool
    filters: memoryview
    friction: memoryview
    one_way: memoryview
    carries: memoryview
    surface: memoryview
    push_out: memoryview
    separate: memoryview
    def __init__(self, dim: int) -> None: ...
    def bind(self, columns: object, n_rows: int) -> None: ...
    def use(self) -> None: ...
