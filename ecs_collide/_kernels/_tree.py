# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""A dynamic tree of axis-aligned boxes: the boxes of items, found by where they are.

*Items* are small non-negative ints, the rows of whoever owns the tree, and the
arrays that come in have a row for each.  The tree itself is in `_nodes`; here
is what its owner asks of it.

Each item has *fat bounds* around its box.  While the box moves inside them the
item stays where it hangs and the nodes above follow its box; when it escapes,
it gets fresh ones and is reinserted where it fits best, unless it is still at
home in its node.  So fat bounds tell how far the tree may drift from a good
one, and nothing else: no search looks at them.

Where many items are to be reinserted at once the whole tree is laid out anew,
which costs as much as reinserting one item in sixteen; so it is too after half
as many reinsertions as there are items, since insertions leave a tree worse
than a layout does.  That is counted and not timed: trees that were given the
same calls in the same order are the same.

Callers answer for finite boxes with min <= max and for arrays with enough
rows.
"""

from __future__ import annotations

try:
    import cython
except ImportError:
    from ecs_collide import _cython as cython
if cython.compiled:
    from cython.cimports.ecs_collide._kernels._lanes_c import WAITING, WIDTH
    from cython.cimports.ecs_collide._kernels._layout_c import Layout
    from cython.cimports.ecs_collide._kernels._nodes_c import Nodes
    from cython.cimports.ecs_collide._kernels._pairing_c import Pairing
    from cython.cimports.ecs_collide._kernels._walks_c import Walker
else:
    from ecs_collide._kernels._lanes import WAITING, WIDTH
    from ecs_collide._kernels._layout import Layout
    from ecs_collide._kernels._nodes import Nodes
    from ecs_collide._kernels._pairing import Pairing
    from ecs_collide._kernels._walks import Walker

from ecs_collide._kernels._memory import DOUBLE, INT, LONG, grown, zeros

cython.declare(
    MOST_ITEMS=cython.Py_ssize_t,
    TOO_BIG=cython.double,
    PUTS_TO_LAY_OUT_AT_ONCE=cython.Py_ssize_t,
    PUTS_TO_LAY_OUT=cython.Py_ssize_t,
    CHANGES_TO_SWEEP=cython.Py_ssize_t,
    HASH=cython.longlong,
    TURN=cython.longlong,
    LOW_31_BITS=cython.longlong,
    LOW_32_BITS=cython.longlong,
)
MOST_ITEMS = 2**27  # places are numbered by 32 bits
TOO_BIG = 4.0  # bounds with more than this times the perimeter or surface they need are renewed
PUTS_TO_LAY_OUT_AT_ONCE = 16  # lay out where one in so many items is away; that costs the same
PUTS_TO_LAY_OUT = 2  # lay out anew after one reinsertion for so many items
CHANGES_TO_SWEEP = 16  # where one in so many boxes has moved, refresh nodes level by level
HASH = 2654435769  # 2**32 / golden ratio: spreads neighbouring items evenly
TURN = 1000003  # far from items that are neighbours
LOW_31_BITS = 0x7FFFFFFF
LOW_32_BITS = 0xFFFFFFFF


@cython.final
@cython.cclass
class Tree:
    """A dynamic tree over items and their boxes.

    Parameters
    ----------
    dim : int
        2 or 3.
    capacity : int
        Number of items to reserve room for; the tree grows beyond it.

    Attributes
    ----------
    dim : int
    found : memoryview
        int64: the answer of the last `overlapping`.
    pairing : Pairing
        Holds the answer of the last `pairs`.
    """

    def __init__(self, dim: cython.Py_ssize_t, capacity: cython.Py_ssize_t = 0) -> None:
        if dim != 2 and dim != 3:
            raise ValueError(f"dim={dim} must be 2 or 3")
        self.dim = dim
        self.n_puts = self.loose = 0
        self.nodes = Nodes(dim)
        self.layout = Layout(self.nodes)
        self.walker = Walker(self.nodes)
        self.pairing = Pairing()
        self.found = zeros(LONG, 0)
        self.moved = zeros(LONG, 0)
        self.away = zeros(LONG, 0)
        self.fat = zeros(DOUBLE, 0, 2 * dim)
        self.turn_of = zeros(INT, 0)
        if not cython.compiled:
            self.ray_origin = [0.0] * 3
            self.ray_direction = [0.0] * 3
            self.ray_hit = [0.0] * 7
        self._make_room(max(capacity, 8) - 1)
        self.nodes.make_room_for_nodes(max(capacity, 8) // 4 + 8)

    # Items

    @cython.ccall
    @cython.exceptval(check=False)
    def holds(self, item: cython.Py_ssize_t) -> cython.bint:
        """Tell whether an item is in the tree."""
        return self.nodes.holds(item)

    @cython.ccall
    @cython.exceptval(check=False)
    def drop(self, item: cython.Py_ssize_t) -> cython.bint:
        """Take an item out; tell whether it was there.  O(log n)."""
        if not self.nodes.holds(item):
            return False
        self.nodes.detach(item)
        self.nodes.is_changed[item] = 1  # whoever keeps pairs drops those of this item
        return True

    def drop_many(self, items: cython.longlong[::1]) -> None:
        """Take items out."""
        i: cython.Py_ssize_t

        for i in range(items.shape[0]):
            self.drop(items[i])

    @cython.ccall
    @cython.exceptval(check=False)
    def bounds_into(
        self,
        item: cython.Py_ssize_t,
        mins: cython.double[:, ::1],
        maxs: cython.double[:, ::1],
        row: cython.Py_ssize_t,
    ) -> cython.bint:
        """Write an item's fat bounds into box `row` of two arrays; tell whether it has any."""
        k: cython.Py_ssize_t

        if not self.nodes.holds(item):
            return False
        for k in range(self.dim):
            mins[row, k] = self.fat[item, k]
            maxs[row, k] = self.fat[item, self.dim + k]
        return True

    @cython.ccall
    @cython.exceptval(check=False)
    def covers(
        self,
        item: cython.Py_ssize_t,
        mins: cython.double[:, ::1],
        maxs: cython.double[:, ::1],
    ) -> cython.bint:
        """Tell whether the box that the tree has for an item holds that in its row of two arrays."""
        box: cython.p_double = self.nodes.box
        at: cython.Py_ssize_t
        k: cython.Py_ssize_t

        if not self.nodes.holds(item):
            return False
        at = 2 * self.dim * self.nodes.place_of[item]
        for k in range(self.dim):
            if mins[item, k] < box[at + k] or maxs[item, k] > box[at + self.dim + k]:
                return False
        return True

    def renew(
        self,
        items: cython.longlong[::1],
        mins: cython.double[:, ::1],
        maxs: cython.double[:, ::1],
        motion: cython.double[:, ::1],
        swept: cython.bint,
        margin: cython.double,
        lookahead: cython.double,
    ) -> int:
        """Give items their boxes, and fresh fat bounds to those that are new or need them.

        They do where the box on its way by `motion` escapes the old ones, or
        they have become far too big.  Returns how many got fresh ones.

        Parameters
        ----------
        items : int64 (n,)
        mins, maxs : float64 (rows, dim)
            The boxes, by which the tree is searched.
        motion : float64 (rows, dim)
        swept : bool
            Whether the boxes hold their ways already.
        margin, lookahead : float
            How far fresh bounds reach beyond it; see `_fatten`.
        """
        nodes: Nodes = self.nodes
        i: cython.Py_ssize_t
        item: cython.Py_ssize_t
        greatest: cython.Py_ssize_t = -1
        n_moved: cython.Py_ssize_t = 0
        n_escaped: cython.Py_ssize_t = 0
        n_away: cython.Py_ssize_t = 0
        n_new: cython.Py_ssize_t = 0

        for i in range(items.shape[0]):
            greatest = max(greatest, items[i])
            if items[i] < 0:
                raise IndexError(f"item {items[i]} must be a row number, 0 or more")
        self._make_room(max(greatest, items.shape[0] - 1))
        self._aim(mins, maxs, motion, swept, margin, lookahead)
        for i in range(items.shape[0]):
            item = items[i]
            if self._escapes(item):
                n_escaped += 1
                if nodes.place_of[item] < 0 or not nodes.is_at_home(item):
                    self.away[n_away] = item
                    n_away += 1
                    n_new += nodes.place_of[item] < 0
                    continue
            self.moved[n_moved] = item
            n_moved += 1
        if PUTS_TO_LAY_OUT_AT_ONCE * n_away > nodes.n_items:
            nodes.make_room_for_nodes(n_new // WIDTH + 1)
            for i in range(n_away):
                self._hang_loose(self.away[i])
            self._lay_out()
            return n_escaped
        if CHANGES_TO_SWEEP * n_moved > nodes.n_items:
            for i in range(n_moved):
                nodes.stale[nodes.place_of[self.moved[i]] >> 3] = 1
            nodes.refresh_stale()
        else:
            for i in range(n_moved):
                nodes.climb(nodes.place_of[self.moved[i]] >> 3)
        for i in range(n_away):
            self._reinsert(self.away[i])
        if PUTS_TO_LAY_OUT * self.n_puts > nodes.n_items:
            self._lay_out()
        return n_escaped

    @cython.ccall
    @cython.exceptval(-1, check=False)
    def renew_one(
        self,
        item: cython.Py_ssize_t,
        mins: cython.double[:, ::1],
        maxs: cython.double[:, ::1],
        motion: cython.double[:, ::1],
        swept: cython.bint,
        margin: cython.double,
        lookahead: cython.double,
    ) -> cython.bint:
        """As `renew` for one item; tell whether it got fresh fat bounds.

        O(1) where it stays inside the old ones, else O(log n) on average.
        """
        if item < 0:
            raise IndexError(f"item {item} must be a row number, 0 or more")
        self._make_room(item)
        self._aim(mins, maxs, motion, swept, margin, lookahead)
        escapes: cython.bint = self._escapes(item)
        if self.nodes.place_of[item] >= 0 and (not escapes or self.nodes.is_at_home(item)):
            self.nodes.climb(self.nodes.place_of[item] >> 3)
            return escapes
        self._reinsert(item)
        if PUTS_TO_LAY_OUT * self.n_puts > self.nodes.n_items:
            self._lay_out()
        return True

    @cython.cfunc
    @cython.exceptval(check=False)
    def _aim(
        self,
        mins: cython.double[:, ::1],
        maxs: cython.double[:, ::1],
        motion: cython.double[:, ::1],
        swept: cython.bint,
        margin: cython.double,
        lookahead: cython.double,
    ) -> cython.void:
        """Look at these arrays until the next time."""
        self.mins = flat(mins)
        self.maxs = flat(maxs)
        self.motion = flat(motion)
        self.fat_row = flat(self.fat)
        self.swept = swept
        self.margin = margin
        self.lookahead = lookahead

    @cython.cfunc
    @cython.inline
    @cython.exceptval(check=False)
    def _escapes(self, item: cython.Py_ssize_t) -> cython.bint:
        """Write the box of an item to its place; give it fresh fat bounds if it needs some."""
        fits: cython.bint = False

        if self.nodes.place_of[item] >= 0:
            self._write_box(item, self.nodes.place_of[item])
            self.nodes.note_change(item)
            fits = self._fits(item)
        if not fits:
            self._fatten(item)
        return not fits

    @cython.cfunc
    @cython.inline
    @cython.exceptval(check=False)
    def _write_box(self, item: cython.Py_ssize_t, place: cython.Py_ssize_t) -> cython.void:
        """Write the box of an item to a place of a node."""
        box: cython.p_double = self.nodes.box
        dim: cython.Py_ssize_t = self.dim
        k: cython.Py_ssize_t

        for k in range(dim):
            box[2 * dim * place + k] = self.mins[dim * item + k]
            box[2 * dim * place + dim + k] = self.maxs[dim * item + k]

    @cython.cfunc
    @cython.inline
    @cython.exceptval(check=False)
    def _fits(self, item: cython.Py_ssize_t) -> cython.bint:
        """Tell whether the fat bounds of an item hold its way, and not far more than that."""
        fat: cython.p_double = self.fat_row
        dim: cython.Py_ssize_t = self.dim
        p: cython.Py_ssize_t = dim * item
        q: cython.Py_ssize_t = 2 * dim * item
        k: cython.Py_ssize_t
        way: cython.double
        low: cython.double
        high: cython.double
        longest: cython.double = 0.0
        fits: cython.bint = True
        around: cython.double
        x: cython.double = 0.0
        y: cython.double = 0.0
        z: cython.double = 0.0

        # No short circuits: what decides is another thing each time, and branches are guessed badly.
        for k in range(dim):
            way = self.motion[p + k]
            low = self.mins[p + k]
            high = self.maxs[p + k]
            if not self.swept:
                low += min(way, 0.0)
                high += max(way, 0.0)
            fits &= (low >= fat[q + k]) & (high <= fat[q + dim + k])
            x = y
            y = z
            z = high - low
            longest = max(longest, z - abs(way))
        around = 2.0 * (self.margin if self.margin >= 0.0 else 0.1 * longest)
        if dim == 2:
            return fits & (
                (fat[q + 2] - fat[q]) + (fat[q + 3] - fat[q + 1])
                <= TOO_BIG * ((y + around) + (z + around))
            )
        return fits & (
            _surface(fat[q + 3] - fat[q], fat[q + 4] - fat[q + 1], fat[q + 5] - fat[q + 2])
            <= TOO_BIG * _surface(x + around, y + around, z + around)
        )

    @cython.cfunc
    @cython.exceptval(check=False)
    def _fatten(self, item: cython.Py_ssize_t) -> cython.void:
        """Give an item fresh fat bounds.

        They are its box on its way in the step, the margin more on all sides
        (a tenth of the body's longest side where it is negative), and in the
        direction of the motion what the body will cross in the next
        `lookahead` steps, but at most half its side on each axis.

        The growth is any part of that, up to all of it or twice the way, by
        what the item is and how often it got some: else bodies of one speed
        would all escape in the same step.
        """
        fat: cython.p_double = self.fat_row
        dim: cython.Py_ssize_t = self.dim
        p: cython.Py_ssize_t = dim * item
        q: cython.Py_ssize_t = 2 * dim * item
        k: cython.Py_ssize_t
        way: cython.double
        side: cython.double
        growth: cython.double
        margin: cython.double = self.margin
        phase: cython.longlong
        share: cython.double

        self.turn_of[item] += 1
        phase = (item + TURN * self.turn_of[item]) & LOW_31_BITS
        share = ((phase * HASH) & LOW_32_BITS) / 4294967296.0
        if margin < 0.0:
            margin = 0.0
            for k in range(p, p + dim):
                margin = max(margin, 0.1 * self._side(k))
        for k in range(dim):
            way = self.motion[p + k]
            side = max(self._side(p + k), 0.0)
            growth = share * min(2.0 * self.lookahead * abs(way), 0.5 * side)
            fat[q + k] = self.mins[p + k] - margin
            fat[q + dim + k] = self.maxs[p + k] + margin
            if not self.swept:
                fat[q + k] += min(way, 0.0)
                fat[q + dim + k] += max(way, 0.0)
            if way < 0.0:
                fat[q + k] -= growth
            else:
                fat[q + dim + k] += growth

    @cython.cfunc
    @cython.inline
    @cython.exceptval(check=False)
    def _side(self, at: cython.Py_ssize_t) -> cython.double:
        """Return how long a body is, at a place of the columns: its box without its way."""
        side: cython.double = self.maxs[at] - self.mins[at]

        return side - abs(self.motion[at]) if self.swept else side

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _reinsert(self, item: cython.Py_ssize_t) -> cython.int:
        """Hang an item in where its box fits best, wherever it was before."""
        nodes: Nodes = self.nodes

        # Where every node on its way is cut it takes a node for each level.
        nodes.make_room_for_nodes(nodes.level[nodes.root()] + 3)
        if nodes.place_of[item] >= 0:
            nodes.detach(item)
        self._write_box(item, WAITING)
        nodes.attach(item)
        nodes.note_change(item)
        self.n_puts += 1
        return 0

    @cython.cfunc
    @cython.exceptval(check=False)
    def _hang_loose(self, item: cython.Py_ssize_t) -> cython.void:
        """Give a new item a place in a node that hangs nowhere, for a layout to come."""
        nodes: Nodes = self.nodes
        place: cython.int

        if nodes.place_of[item] >= 0:
            return
        if self.loose == 0 or nodes.count[self.loose] == WIDTH:
            self.loose = nodes.take(0)
        place = WIDTH * self.loose + nodes.count[self.loose]
        nodes.count[self.loose] += 1
        nodes.n_items += 1
        nodes.child[place] = item
        nodes.place_of[item] = place
        nodes.is_changed[item] = 1
        self._write_box(item, place)

    # Queries

    @cython.ccall
    @cython.exceptval(check=False)
    def touching(
        self,
        mins: cython.double[:, ::1],
        maxs: cython.double[:, ::1],
        row: cython.Py_ssize_t,
    ) -> cython.Py_ssize_t:
        """Find the items whose boxes in the tree share a point with box `row` of two arrays.

        Closed.  Returns their number n; `found[:n]` holds the items in the
        tree's order.
        """
        return self.walker.find_touching(flat(mins), flat(maxs), row, self.found)

    def overlapping(
        self,
        mins: cython.double[:, ::1],
        maxs: cython.double[:, ::1],
        row: cython.Py_ssize_t,
        tight_min: cython.double[:, ::1],
        tight_max: cython.double[:, ::1],
    ) -> int:
        """As `touching`, by the items' own boxes in row `item` of two arrays.

        They lie inside those that the tree holds.
        """
        found: cython.longlong[::1] = self.found
        dim: cython.Py_ssize_t = self.dim
        i: cython.Py_ssize_t
        k: cython.Py_ssize_t
        n: cython.Py_ssize_t = 0
        item: cython.longlong

        for i in range(self.touching(mins, maxs, row)):
            item = found[i]
            for k in range(dim):
                if tight_min[item, k] > maxs[row, k] or tight_max[item, k] < mins[row, k]:
                    break
            else:
                found[n] = item
                n += 1
        return n

    def rays(
        self,
        origins: cython.double[:, ::1],
        directions: cython.double[:, ::1],
        tight_min: cython.double[:, ::1],
        tight_max: cython.double[:, ::1],
        ids: cython.longlong[::1],
        items: cython.longlong[::1],
        hits: cython.double[:, ::1],
    ) -> None:
        """Write for each ray the item whose own box (closed) it meets first; -1 if there is none.

        Ray i goes from the point in row i of `origins` by row i of
        `directions`, and its time is the fraction of that way.  Of several
        items met at once, the one with the least id, in row `item` of `ids`,
        is written into `items`.  Row i of `hits`, 1 + 2 * dim numbers, gets
        the time, the point, and the normal of the face that is met: 0 where
        the ray begins inside.
        """
        lows: cython.p_double = flat(tight_min)
        highs: cython.p_double = flat(tight_max)
        i: cython.Py_ssize_t
        k: cython.Py_ssize_t

        for i in range(items.shape[0]):
            for k in range(self.dim):
                self.ray_origin[k] = origins[i, k]
                self.ray_direction[k] = directions[i, k]
            items[i] = self.walker.find_on_ray(
                self.ray_origin, self.ray_direction, lows, highs, ids, self.ray_hit
            )
            for k in range(1 + 2 * self.dim):
                hits[i, k] = self.ray_hit[k]

    def pairs(self, only_changed: cython.bint = False) -> int:
        """Find all pairs of items whose boxes share a point (closed), each once.

        Returns their number n; `pairing.found[:2 * n]` holds the items, in
        the tree's order.  With `only_changed`, those of which at least one
        item is marked as changed; `forget_changes` takes the marks away.
        """
        self.pairing.within(self.nodes, only_changed)
        return self.pairing.n

    def is_changed(self, item: cython.Py_ssize_t) -> bool:
        """Tell whether an item came, went, or got another box since `forget_changes`."""
        return self.nodes.is_changed[item] != 0

    @cython.ccall
    @cython.exceptval(check=False)
    def forget_changes(self) -> cython.void:
        """Take away the marks of all items that have changed."""
        nodes: Nodes = self.nodes
        i: cython.Py_ssize_t

        for i in range(nodes.item_room):
            nodes.is_changed[i] = 0
        for i in range(nodes.node_room):
            nodes.changed[i] = 0

    # What the tree says about itself

    @property
    def n_items(self) -> int:
        """The number of items."""
        return self.nodes.n_items

    @property
    def n_nodes(self) -> int:
        """The number of nodes in use."""
        return self.nodes.n_nodes

    @property
    def node_room(self) -> int:
        """The number of nodes that there is room for."""
        return self.nodes.node_room

    @property
    def depth(self) -> int:
        """The number of nodes above an item; 0 for up to one item."""
        return self.nodes.level[self.nodes.root()] + 1 if self.nodes.n_items > 1 else 0

    @property
    def cost(self) -> float:
        """The sum of half the perimeters (2D) or surfaces (3D) of all nodes.  O(n)."""
        total: cython.double = 0.0
        node: cython.int

        for node in range(1, self.nodes.node_room):
            if self.nodes.level[node] >= 0:
                total += self.nodes.cost(node)
        return total

    def check(self) -> None:
        """Verify every invariant of the tree.  O(n).

        Raises
        ------
        AssertionError
            One does not hold; the message says which, and where.
        """
        self.walker.verify()

    # Room and layout

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _make_room(self, greatest: cython.Py_ssize_t) -> cython.int:
        """Make room for items up to `greatest`."""
        room: cython.Py_ssize_t

        if greatest < self.nodes.item_room:
            return 0
        if greatest >= MOST_ITEMS:
            raise IndexError(f"item {greatest} must be less than 2**27")
        self.nodes.make_room_for_items(greatest + 1)
        room = self.nodes.item_room
        self.found = grown(self.found, room)
        self.moved = grown(self.moved, room)
        self.away = grown(self.away, room)
        self.fat = grown(self.fat, room)
        self.turn_of = grown(self.turn_of, room)
        return 0

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _lay_out(self) -> cython.int:
        self.n_puts = 0
        self.loose = 0
        return self.layout.lay_out()


@cython.cfunc
@cython.inline
@cython.exceptval(check=False)
def _surface(x: cython.double, y: cython.double, z: cython.double) -> cython.double:
    """Return half the surface of a box."""
    return x * y + y * z + z * x


@cython.cfunc
@cython.inline
@cython.exceptval(check=False)
def flat(view: cython.double[:, ::1]) -> cython.p_double:
    """Return the numbers of an array in one row, for loops that are called once for each item."""
    if cython.compiled:
        return cython.address(view[0, 0])
    return view.cast("B").cast("d") if view.shape[0] > 0 else view
