AT_START: int
WITHIN: int
AT_END: int
BEGAN: int
ENDED: int

class Log:
    n_collisions: int
    n_contacts: int
    numbers: memoryview
    time: memoryview
    exit: memoryview
    first: memoryview
    second: memoryview
    codes: memoryview
    contact_time: memoryview
    contact_bodies: memoryview
    contact_codes: memoryview
    contact_images: memoryview
    image: int
    def __init__(self, dim: int) -> None: ...
    def clear(self) -> None: ...
    def recover(self, times: memoryview, bodies: memoryview, codes: memoryview) -> None: ...
