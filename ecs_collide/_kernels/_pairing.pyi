class Pairing:
    n: int
    most: int
    top: int
    found: memoryview
    def __init__(self) -> None: ...
