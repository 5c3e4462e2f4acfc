"""The body table as Python sees it: the columns as numpy arrays."""

from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ecs_collide.motion.columns import (
    APART,
    FIRST_SEEN,
    FLAGS,
    N_TAKEN,
    SEEN_RARER,
    VECTORS,
    views_of,
)

_CHANGED = slice(FLAGS.index("news"), FLAGS.index("quarantined") + 1)
_RESTORED = slice(FLAGS.index("bad"), FLAGS.index("interrupted") + 1)
_N_FLAGS = _RESTORED.stop  # the others are for the step under way


class SavedColumns(NamedTuple):
    """Copies of the seen columns and of the flags, (n_columns, n_rows, ...) each."""

    vectors: NDArray[np.float64]
    rarer: NDArray[np.float64]  # `SEEN_RARER`, or no column where no body ever had any of them
    scalars: NDArray[np.float64]  # `mass` and `restitution`
    singles: NDArray[np.float64]  # the same
    flags: NDArray[np.int8]

    def seen(self, name: str, rows: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the values of bodies in a seen column, float64 (n, width)."""
        found: NDArray[np.float64]
        if name == "seen_mass":
            found = self.scalars[0, rows].reshape(-1, 1)
        elif name == "seen_restitution":
            found = self.singles[0, rows]
        elif name in SEEN_RARER:
            found = np.zeros((len(rows), self.vectors.shape[2]))
            if len(self.rarer):
                found = self.rarer[SEEN_RARER.index(name), rows]
        else:
            place = VECTORS.index(name) - FIRST_SEEN
            if place >= len(self.vectors):  # it has no column of its own
                place = VECTORS.index(APART[name]) - FIRST_SEEN
            found = self.vectors[place, rows]
        return found

    def flag(self, name: str) -> NDArray[np.int8]:
        """Return a column of flags, int8 (n_rows,)."""
        column: NDArray[np.int8] = self.flags[FLAGS.index(name)]
        return column


class BodyTable:
    """The columns of `Bodies`, as numpy arrays of the same memory.

    Each column of `motion.columns` is an attribute, of the shape (capacity, ...).

    Attributes
    ----------
    bodies : Bodies
        The kernel that owns the columns.
    views : SimpleNamespace
        The columns as memoryviews, whose items are plain Python numbers.
    """

    def __init__(self, bodies: Any) -> None:
        self.bodies = bodies
        self.dim: int = bodies.dim
        self.is_apart: bool = bodies.is_apart
        self.capacity = 0
        self.views = SimpleNamespace()
        self._saved: tuple[NDArray[Any], ...] = ()
        self._first: list[NDArray[Any]] = []  # the first rows of these; see `_first_rows`
        self._taken: NDArray[Any] = np.zeros(0)
        self._restored: NDArray[Any] = np.zeros(0)
        self.bind()

    def __getattr__(self, name: str) -> NDArray[Any]:
        raise AttributeError(name)  # declares to mypy that every column is an attribute

    def bind(self) -> None:
        """Use the arrays of the kernel, which may have been replaced by longer ones."""
        self.bodies.bind()
        blocks, memory = self.bodies.blocks, self.bodies.memory
        new = views_of(blocks, memory)
        new["views"] = SimpleNamespace(**{name: view.data for name, view in new.items()})
        vectors, rarer, scalars, singles, flags = memory[: len(SavedColumns._fields)]
        new["_first"] = []
        new["_saved"] = vectors[FIRST_SEEN:], rarer, scalars[:2], singles, flags[:_N_FLAGS]
        new["_taken"] = vectors[:N_TAKEN]
        new["_restored"] = flags[_RESTORED]
        new["capacity"] = len(new["ids"])
        self.__dict__.update(new)  # one call, so that no interrupt leaves a part of it

    def save(self, n_rows: int, any_rarer: bool) -> SavedColumns:
        """Return copies of the first rows of the seen columns and of the flags.

        `any_rarer` tells whether any body has ever had a value of `SEEN_RARER`, or an owner.
        """
        return SavedColumns(*[columns.copy() for columns in self._first_rows(n_rows, any_rarer)])

    def _first_rows(self, n_rows: int, any_rarer: bool) -> list[NDArray[Any]]:
        """Return views of the first rows of the columns that `save` copies."""
        first = self._first
        if not first or first[0].shape[1] != n_rows or (len(first[1]) > 0) != any_rarer:
            first = self._first = [columns[:, :n_rows] for columns in self._saved]
            if not any_rarer:
                _, rarer, _, singles, _ = first
                first[1], first[3] = rarer[:0], singles[:1]
        return first

    def has_same_exclusions(self, saved: SavedColumns) -> bool:
        """Return whether rows have the same news as in saved columns, and the same are skipped."""
        now = self._first_rows(saved.flags.shape[1], len(saved.rarer) > 0)[-1][_CHANGED]
        return now.tobytes() == saved.flags[_CHANGED].tobytes()

    def put_back(self, saved: SavedColumns) -> None:
        """Set seen columns, what the last check found in them, and the steps at rest."""
        n_rows, any_rarer = saved.flags.shape[1], len(saved.rarer) > 0
        for columns, before in zip(self._first_rows(n_rows, any_rarer)[:-1], saved, strict=False):
            columns[...] = before  # all but the flags
        self._taken[:, :n_rows] = saved.vectors[:N_TAKEN]
        if any_rarer:
            self.growth[:n_rows] = saved.rarer[0]
        self._restored[:, :n_rows] = saved.flags[_RESTORED]
