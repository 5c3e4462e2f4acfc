class Pairing:
    n: int
    found: memoryview
    def __init__(self) -> None: ...
