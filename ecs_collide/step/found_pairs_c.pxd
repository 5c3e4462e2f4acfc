cimport cython

from ecs_collide.broadphase.broadphase_c cimport PairObserver
from ecs_collide.narrowphase.impact_queue_c cimport ImpactQueue
from ecs_collide.response.holding_c cimport Holding
from ecs_collide.response.separation_c cimport Separating

@cython.final
cdef class FoundPairs(PairObserver):
    cdef ImpactQueue queue
    cdef Holding holding
    cdef Separating separating
