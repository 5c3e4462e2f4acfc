def hold(
    pairs: list[tuple[int, object]],
    row_of: dict[int, int],
    holders: list[object],
    rows: memoryview,
) -> int: ...
def gather(
    holders: list[object],
    rows: memoryview,
    seen: memoryview,
    changed: memoryview,
    bad: memoryview,
    lowest: float,
) -> int: ...
def gather_scalar(
    holders: list[object], rows: memoryview, name: str, column: memoryview
) -> None: ...
def scatter(
    holders: list[object], rows: memoryview, column: memoryview, seen: memoryview
) -> None: ...
