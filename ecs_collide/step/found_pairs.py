"""What the stages after the broadphase do about the pairs that it finds."""

try:
    import cython
except ImportError:
    from ecs_collide import _cython as cython

if cython.compiled:
    from cython.cimports.ecs_collide.broadphase.broadphase_c import PairObserver
    from cython.cimports.ecs_collide.narrowphase.impact_queue_c import ImpactQueue
    from cython.cimports.ecs_collide.response.holding_c import Holding
    from cython.cimports.ecs_collide.response.separation_c import Separating
else:
    from ecs_collide.broadphase.broadphase import PairObserver
    from ecs_collide.narrowphase.impact_queue import ImpactQueue
    from ecs_collide.response.holding import Holding
    from ecs_collide.response.separation import Separating


@cython.final
@cython.cclass
class FoundPairs(PairObserver):  # type: ignore[misc]  # mypy takes what is cimported for Any
    """Gives each pair a place in the queue, and spares bodies that there are too many pairs of."""

    def __init__(self, queue: ImpactQueue, holding: Holding, separating: Separating):
        self.queue = queue
        self.holding = holding
        self.separating = separating

    @cython.cfunc
    def make_room(self, n_pairs: cython.Py_ssize_t) -> cython.void:
        """Make room for pairs 0 to `n_pairs` - 1."""
        self.queue.grow(n_pairs)

    @cython.cfunc
    @cython.exceptval(check=False)
    def add(
        self,
        p: cython.Py_ssize_t,
        low_id: cython.longlong,
        high_id: cython.longlong,
        image: cython.longlong,
    ) -> cython.void:
        """Prepare for pair `p`, of two entities that meet at an image of the second."""
        self.queue.at[p].low = low_id
        self.queue.at[p].high = high_id
        self.queue.at[p].image = image

    @cython.cfunc
    @cython.exceptval(check=False)
    def leave_out(
        self, i: cython.Py_ssize_t, j: cython.Py_ssize_t, offset: cython.double[::1]
    ) -> cython.void:
        """Separate a pair of soft bodies that there is no room for by its direction alone."""
        self.separating.leave_out(i, j, offset)

    @cython.cfunc
    @cython.exceptval(check=False)
    def hold(self, i: cython.Py_ssize_t) -> cython.void:
        """Hold a body where it is for the whole step."""
        self.holding.hold_from_start(i)
