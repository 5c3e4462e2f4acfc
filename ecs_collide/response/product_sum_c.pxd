cimport cython

@cython.final
cdef class ProductSum:
    cdef double high
    cdef double low
    cdef void begin(self) noexcept
    cdef void add(self, double a, double b) noexcept
    cdef double total(self) noexcept
