"""What happened in a step, as columns: collisions, and contacts that began or ended."""

try:
    import cython
except ImportError:
    from ecs_collide import _cython as cython

from ecs_collide.motion.arrays import BYTE, DOUBLE, LONG, grown, interleaved, reread, zeros

# When in a step a contact event was found; events of one time keep this order.
cython.declare(
    AT_START=cython.int, WITHIN=cython.int, AT_END=cython.int, BEGAN=cython.int, ENDED=cython.int
)
AT_START = 0
WITHIN = 1
AT_END = 2

BEGAN = 0
ENDED = 1


@cython.final
@cython.cclass
class EventBuffer:
    """Growing columns, emptied at the start of each step.

    Attributes
    ----------
    numbers : float64 (n, 8 + 7 * dim)
        Time, exit, two entity ids (as int64), normal, closing speed, both
        positions, both velocities, both corners of what the boxes share,
        impulse, two more ids: the very words of a row of
        `events.collision_dtype`, so that rows are copied and not converted.
    time, exit, first, second, impulse, solid_first, solid_second : columns of it
    codes : int8 (n, 4): kind, answer, axis, sign
    contact_time : float64 (n,)
    contact_bodies : int64 (n, 2), entity ids
    contact_codes : int8 (n, 6): event, phase, axis, sign, kind, reason
    contact_images : int64 (n,), which image of the second body; see `broadphase.images`
    image : int
        Of the next contact events.
    """

    def __init__(self, dim: cython.int):
        self.n_collisions = 0
        self.n_contacts = 0
        self.numbers = zeros(DOUBLE, 16, 8 + 7 * dim)
        self.codes = zeros(BYTE, 16, 4)
        self._name_columns()
        self.contact_time = zeros(DOUBLE, 16)
        self.contact_bodies = zeros(LONG, 16, 2)
        self.contact_codes = zeros(BYTE, 16, 6)
        self.contact_images = zeros(LONG, 16)
        self.image = 0

    def clear(self):
        """Forget all events."""
        self.n_collisions = 0
        self.n_contacts = 0

    def _name_columns(self):
        self.time, self.exit, *_, self.impulse, _, _ = interleaved(self.numbers)
        _, _, self.first, self.second, *_, self.solid_first, self.solid_second = interleaved(
            reread(self.numbers, LONG)
        )

    @cython.cfunc
    def add_collision(self) -> cython.Py_ssize_t:
        """Make room for one more collision; return its row, to be filled by the caller."""
        n: cython.Py_ssize_t = self.n_collisions

        if n == self.codes.shape[0]:
            # Last the codes, by whose length it is known how much room there is.
            room: cython.Py_ssize_t = 2 * n
            self.numbers = grown(self.numbers, room)
            self._name_columns()
            self.codes = grown(self.codes, room)
        self.n_collisions = n + 1
        return n

    @cython.cfunc
    def add_contact(
        self,
        event: cython.int,
        phase: cython.int,
        time: cython.double,
        first: cython.longlong,
        second: cython.longlong,
        axis: cython.int,
        sign: cython.int,
        kind: cython.int,
        reason: cython.int,
    ) -> cython.void:
        """Note that a contact began or ended."""
        n: cython.Py_ssize_t = self.n_contacts

        if n == self.contact_time.shape[0]:
            # Last the times, by whose length it is known how much room there is.
            room: cython.Py_ssize_t = 2 * n
            self.contact_bodies = grown(self.contact_bodies, room)
            self.contact_codes = grown(self.contact_codes, room)
            self.contact_images = grown(self.contact_images, room)
            self.contact_time = grown(self.contact_time, room)
        self.n_contacts = n + 1
        self.contact_time[n] = time
        self.contact_images[n] = self.image
        self.contact_bodies[n, 0] = first
        self.contact_bodies[n, 1] = second
        self.contact_codes[n, 0] = event
        self.contact_codes[n, 1] = phase
        self.contact_codes[n, 2] = axis
        self.contact_codes[n, 3] = sign
        self.contact_codes[n, 4] = kind
        self.contact_codes[n, 5] = reason

    def recover(
        self,
        times: cython.double[::1],
        bodies: cython.longlong[:, ::1],
        codes: cython.schar[:, ::1],
    ):
        """Take contact events, as they stand in the columns, for all that has happened so far."""
        n: cython.Py_ssize_t

        self.clear()
        for n in range(times.shape[0]):
            self.add_contact(
                codes[n, 0], codes[n, 1], times[n], bodies[n, 0], bodies[n, 1],
                codes[n, 2], codes[n, 3], codes[n, 4], codes[n, 5],
            )  # fmt: skip
