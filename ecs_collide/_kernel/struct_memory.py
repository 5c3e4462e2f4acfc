"""The memory of an array of C structs, which grows."""

from __future__ import annotations

from typing import Any

from ecs_collide._kernel import ReadOnly, cython
from ecs_collide._kernel.arrays import BYTE, grown, structs, zeros


@cython.final
class StructMemory:
    """The memory of one array; its owner has the address, as a pointer to structs."""

    room: ReadOnly[cython.Py_ssize_t]  # number of structs that fit
    bytes: cython.schar[::1]
    items: list[Any]  # the array, in pure Python

    def __init__(self) -> None:
        self.bytes = zeros(BYTE, 0)
        self.items = []

    def grow(self, size: cython.Py_ssize_t, n: cython.Py_ssize_t) -> cython.p_void:
        """Make room for `n` structs of `size` bytes, and return the address of the first one.

        In pure Python the array and its address are a list, and the size of a struct is its class.
        """
        return self.grow_and_keep(size, n, self.room)

    def grow_and_keep(
        self, size: cython.Py_ssize_t, n: cython.Py_ssize_t, n_kept: cython.Py_ssize_t
    ) -> cython.p_void:
        """Like `grow`; of the structs that are there, only the first `n_kept` are copied."""
        if not cython.compiled:
            self.items += structs(size, n - len(self.items))
            self.room = n
            return self.items
        longer: cython.schar[::1] = grown(self.bytes, n * size, 0, n_kept * size)
        self.bytes = longer
        self.room = n  # last, because an array may fail to grow
        return cython.cast(cython.p_void, cython.address(longer[0]))
