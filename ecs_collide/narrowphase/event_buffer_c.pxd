cimport cython

cdef enum:  # the columns of EventBuffer.codes
    EVENT_KIND = 0
    ANSWER = 1
    EVENT_AXIS = 2
    EVENT_SIGN = 3

cdef enum:  # those of EventBuffer.contact_codes, beside the last two
    CHANGE = 0
    PHASE = 1
    CONTACT_KIND = 4
    REASON = 5

cdef int AT_START
cdef int WITHIN
cdef int AT_END

@cython.final
cdef class EventBuffer:
    cdef public Py_ssize_t n_collisions
    cdef public Py_ssize_t n_contacts
    cdef public double[:, ::1] numbers
    cdef public double[:] time
    cdef public double[:] exit
    cdef double[:] impulse
    cdef public long long[:] first
    cdef public long long[:] second
    cdef long long[:] solid_first
    cdef long long[:] solid_second
    cdef public signed char[:, ::1] codes
    cdef public double[::1] contact_time
    cdef public long long[:, ::1] contact_bodies
    cdef public signed char[:, ::1] contact_codes
    cdef public long long[::1] contact_images
    cdef public long long image
    cdef void add_contact(self, int change, int phase, double time, long long first, long long second, int axis, int sign, int kind, int reason)
    cdef Py_ssize_t add_collision(self) except? -1
