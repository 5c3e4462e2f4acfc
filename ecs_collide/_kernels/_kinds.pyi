import builtins
from typing import Any

class Kind:
    type: builtins.type
    names: tuple[str, ...]
    mark: int
    response: int
    items: list[Any]
    counts: int
    def __init__(
        self, type: builtins.type, names: tuple[str, ...], mark: int, response: int
    ) -> None: ...
    def bind(self, n_rows: int, seen: memoryview, now: memoryview) -> None: ...
    def replace(self, i: int, component: object) -> None: ...
    def put(self, i: int, k: int, number: float) -> None: ...
    def note(self, i: int, k: int, number: float) -> None: ...
