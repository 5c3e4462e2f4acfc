def are_fine(lowers: memoryview, uppers: memoryview) -> bool: ...
def file_boxes(
    rows: memoryview, lowers: memoryview, uppers: memoryview, mins: memoryview, maxs: memoryview
) -> None: ...
def file_motions(
    rows: memoryview,
    motions: memoryview,
    mins: memoryview,
    maxs: memoryview,
    motion: memoryview,
    swept_min: memoryview,
    swept_max: memoryview,
) -> None: ...
