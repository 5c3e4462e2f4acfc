def are_fine(lowers: memoryview, uppers: memoryview) -> bool: ...
def file_boxes(
    rows: memoryview,
    lowers: memoryview,
    uppers: memoryview,
    motions: memoryview,
    mins: memoryview,
    maxs: memoryview,
    motion: memoryview,
    changed: memoryview,
) -> int: ...
