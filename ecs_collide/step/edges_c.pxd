cimport cython

from ecs_collide.broadphase.broadphase_c cimport Broadphase
from ecs_collide.motion.attachments_c cimport Attachments
from ecs_collide.motion.bodies_c cimport Bodies
from ecs_collide.narrowphase.contacts_c cimport Contacts

@cython.final
cdef class Edges:
    cdef Bodies bodies
    cdef Attachments attachments
    cdef Broadphase broadphase
    cdef Contacts contacts
    cdef bint _bring_body_in(self, Py_ssize_t i, long long[::1] shifts) except? -1
    cdef bint _bring_attached_in(self, Py_ssize_t n, long long[::1] shifts) except? -1
    cdef void _move_swept(self, Py_ssize_t i, int k, double distance) noexcept
    cdef void _renew(self, Py_ssize_t i)
