import builtins
from collections.abc import Collection, Mapping
from typing import Any

class Records:
    type: builtins.type
    names: tuple[str, ...]
    items: list[Any]
    def __init__(self, type: builtins.type, names: tuple[str, ...]) -> None: ...
    def take(self, numbers: memoryview) -> int: ...
    def put(self, numbers: memoryview) -> None: ...
    def agree(self, numbers: memoryview, rows: memoryview, seen: memoryview) -> bool: ...

def survey(
    entities: Mapping[int, Mapping[type, Any]],
    dead: Collection[int],
    all_records: list[Records],
) -> tuple[list[int], list[int], list[int]]: ...
