"""The columns of the body table: their contents, when they are valid, and their memory.

A column has one row for each body, or for each one that is marked in a step.  Columns that are
cleared for a new body, or saved together, form a block of memory, so that this is done a block at a
time.  Vectors have a number for each axis, in world units.

`seen_` columns hold the values last seen in the components.  Columns that only some bodies need are
neither written nor copied before the first body needs them, so most of their pages take no memory.
Each is a block of its own: Linux takes pages of 2 MB for numpy's arrays from 4 MB on, and the first
body that writes to such a block would wait for all of them.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ecs_collide._kernel.arrays import BYTE, DOUBLE, INT, LONG, SHORT, lengthened
from ecs_collide.components.table import TABLE

Views = dict[str, Any]
"""Arrays, or memoryviews of the same memory, by column name."""

Memory = list[NDArray[Any]]
"""The arrays of all blocks, in the order of `blocks_of`."""

_VECTOR_COLUMNS = (
    "centre",  # at the start of the step until `finish_step`, then at its end
    "half",  # half sizes, at the same times
    "velocity",  # per second, from the base time on; after the step, the value for `Velocity`
    "motion",  # displacement by `velocity` in a whole step; 0 for bodies that do not move
    "swept_min",  # bounds of the path from the base time to the end of the step
    "swept_max",
    "tight_min",  # the box as queries see it, between steps
    "tight_max",
    "seen_centre",  # centre by the components
    "seen_half",
    "seen_velocity",  # 0 without a `Velocity`
)
SEEN_RARER = (
    "seen_growth",  # 0 without a `Growth`
    "seen_offset",  # offset of `Attached`
)
APART = {
    "place": "centre",
    "seen_place": "seen_centre",
    "size": "half",
    "seen_size": "seen_half",
}
"""Values in components, with columns of their own only if they are not centres and half sizes."""

VECTORS = *_VECTOR_COLUMNS, *APART
N_TAKEN = 3
"""Number of the first vectors, which are those of the first seen ones at the start of a step."""

FIRST_SEEN = VECTORS.index("seen_centre")
"""Index of the first seen vector; a snapshot holds those from there on."""

_SCALARS = (
    "mass",  # value of `Mass`, 1 without one; also the column `seen_mass`
    "restitution",  # value of `Deflect` if that is the response, else 0
    "base",  # time of `path` as a fraction of the step, for all bodies placed in this step
)
_SINGLES = ("seen_restitution", "seen_owner")  # `Deflect` and `Attached`, as vectors of one number
FLAGS = (
    "has",  # bits of `Has`: its components when it was cached
    "news",  # bits of `News`, until the next step has handled them
    "touched",  # bits of `Touched`, until the step has written its bodies
    "quarantined",  # a code of `Exclusion` or 0: why steps skip it
    "disabled",  # 1 with a `Disabled`, when it was cached
    "attached",  # 1 with an `Attached`, when it was cached
    "sensor",  # `Sensing` of a body that is not solid, when it was cached; else 0
    "response",  # a code of `ResponseCode` or 0, when it was cached
    "custom",  # bits of `Custom`, when it was cached
    "moves",  # 1 while it is in the tree of moving bodies
    "bad",  # bits of `Bad`, when its numbers were last checked
    "dynamic",  # 1 if impacts change its velocity, when its numbers were last checked
    "rest_count",  # number of consecutive steps at rest, up to the last step
    "interrupted",  # 1 if an event of this step keeps it from resting
    "asleep",  # a code of `SleepState`
    "held",  # 1 << axis if it sleeps against a static or kinematic body that does not move
    "gone",  # 1 if it was removed in this step
    "is_marked",  # 1 if it has turned, or was anchored or removed, in this step
    "is_turned",  # 1 while its pairs must be swept again
    "on_hold",  # 1 while it is held where it is to the end of the step
    "driven",  # 1 if the game moves it to a target in this step
)
_WIDE_FLAGS = (
    "traits",  # bits of `Trait`: its rarer components when it was cached
    "leans",  # bits of `Leans`: asleep in an island, and on which sides it is held
    "n_cached",  # number of cached components; -1 if unknown, so that they are cached again
)
_LONGS = (
    "ids",  # the entity
    "island",  # number of the island of a body that leans
)
_LISTS = ("marked", "woken", "turned")  # rows; `Bodies` has the length of each
# By place in `marked`, so that a step with few marked bodies uses little memory.
_TICKS = ("turned_tick",)  # tick at which the body last turned
_TIMES = ("turned_at",)  # last instant at which the body turned, or -1

_RARE_VECTORS = (
    "surface",  # velocity of the carrying face along itself, per second
    "acceleration",  # of a body by itself
)
_RARE_FLAGS = (
    "one_way",  # the side that is solid, a code of `RareColumns`, or 0
    "carries",  # the side that carries, or 0
    "translation_side",  # within a step: the side to which it is pushed out, or 0
    "storey",  # within a step: of a rider 1, of what rides on it 2, ..., up to 127; of others 0
    "slope",  # the side on which its slope is thicker, or 0
    "slope_top",  # the open side of its slope, along `Space.up`
)
_SLOPE_HEIGHTS = (
    "slope_low",
    "slope_high",
)  # thickness of a slope at its ends, as parts of the box
_RARE_ROWS = ("owner",)  # within a step: the row of the body it is attached to, or -1
_CONTROL_FLAGS = (
    "lock",  # 1 << axis for each locked axis
    "restitution_rule",  # a code of `CombineCode`, or 0 if not given
    "friction_rule",
)
_CONTROL_LONGS = ("rank",)  # by dominance


def _numbers_of(user: str) -> tuple[str, ...]:
    """Return the columns of floats that `components.table` declares for a kernel object."""
    return tuple(d.column.name for d in TABLE if d.column and d.column.user == user)


def _seen_by_width() -> dict[int, tuple[str, ...]]:
    """Return the `seen_` columns of rare components by width, with 0 for vectors."""
    found: dict[int, tuple[str, ...]] = {}
    for d in TABLE:
        for part in d.parts if d.trait else ():
            width = 0 if part.is_vector else len(part.names)
            found[width] = (*found.get(width, ()), d.seen(part))
    return found


# The modules that assign to items of a column; `tests/test_architecture.py` compares it with the
# sources.  Besides these, `sync.bindings` and `sync/slots.h` write the `seen_` columns of the
# components that they read, and the columns of floats that `components.table` declares; `sync.undo`
# puts back what a step has overwritten; `motion/paths.h` writes the bounds of paths.
WRITERS: dict[str, tuple[str, ...] | dict[str, str]] = {
    # The three columns that decide where a body goes: the writers, and when they write.
    "centre": {
        "sync.reader": "start of a step: from the components",
        "sync.targets": "start of a step of bodies that the game moves: back to where they were; "
        "end: the target in a world that wraps",
        "motion.bodies": "end of a step, of a path, or a new place within the step; its start: flush "
        "with a face that the body is a hair behind, and brought into a world that wraps; a step "
        "that failed, or a snapshot: where it was seen last",
        "step.editing": "between steps: of a body that the space has resized in place",
        "step.shifting": "between steps: by `Space.shift`, and flush again with what it touches",
    },
    "path": {
        "motion.bodies": "start of a step; within it at each turn, hold and new place; its end",
    },
    "velocity": {
        "sync.reader": "start of a step: from the components",
        "sync.registry": "start of a step: 0 of a sleeping body that is only pressed",
        "sync.targets": "start of a step of bodies that the game moves: to their targets; end: "
        "that of the components again",
        "motion.controls": "start and end of a step: within `MaxSpeed` and `LockedAxes`",
        "response.carriers": "start of a step: of a rider plus its carrier's; end: its own again",
        "motion.attachments": "start of a step and at each turn of the owner",
        "motion.bodies": "within a step: what impacts have made of it; its start: 0 into a body that it "
        "is pushed out of; end: shared by a cluster that lasts; a step that failed, or a snapshot: what "
        "was seen last",
        "motion.gravity": "start of a step: the mean over the step; end: the one at its end",
    },
    # Values of components, grouped by their readers.
    **dict.fromkeys(("size", "tight_min", "tight_max"), ("sync.reader",)),
    "place": ("step.shifting", "sync.reader"),
    **dict.fromkeys(("bad", "custom", "disabled", "sensor", "dynamic"), ("sync.reader",)),
    **dict.fromkeys(("has", "attached"), ("sync.reader",)),
    "traits": ("sync.rare_reader",),
    **dict.fromkeys(("one_way", "carries", "surface"), ("motion.rare_columns", "sync.rare_reader")),
    **dict.fromkeys(("slope", "slope_top", "slope_low", "slope_high"), ("motion.rare_columns",)),
    # 0 for a body that does not fall; in zones, as they make it
    **dict.fromkeys(("gravity_scale", "damping"), ("sync.rare_reader",)),
    "acceleration": ("motion.rare_columns", "sync.rare_reader"),
    "filters": ("sync.seen", "sync.rare_reader"),
    **dict.fromkeys(
        ("lock", "rank", "friction_rule", "restitution_rule"), ("motion.controls", "sync.rare_reader")
    ),
    "half": ("motion.bodies", "step.editing", "sync.reader"),
    "growth": ("motion.bodies", "motion.body_table", "sync.reader"),
    "seen_centre": ("step.editing", "step.shifting", "sync.impact_bodies", "sync.reader"),
    "seen_place": ("step.shifting",),
    "seen_half": ("step.editing", "sync.reader"),
    "seen_offset": ("step.editing",),
    **dict.fromkeys(("response", "restitution"), ("step.impact_loop", "sync.reader")),
    # State that changes between steps.
    **dict.fromkeys(("ids", "mass"), ("motion.bodies",)),
    "n_cached": ("sync.entity_rows", "sync.reader", "sync.seen"),
    "touched": ("sync.body_lists", "sync.reader", "sync.registry", "sync.seen", "sync.targets"),
    **dict.fromkeys(
        ("news", "quarantined"),
        ("sync.attached_boxes", "sync.entity_rows", "sync.reader", "sync.registry", "sync.seen"),
    ),
    "driven": ("sync.registry", "sync.targets"),
    "moves": ("step.sleeping", "sync.reader", "sync.registry", "sync.targets"),
    # Sleep.
    "asleep": ("motion.bodies", "step.sleeping", "sync.registry"),
    **dict.fromkeys(("held", "leans"), ("step.sleeping", "sync.registry", "sync.sleep_list")),
    "island": ("step.sleeping", "sync.sleep_list"),
    "rest_count": (
        "motion.bodies", "narrowphase.contacts_in_step", "step.editing", "step.sleeping", "sync.registry",
        "sync.seen",
    ),
    "interrupted": (
        "motion.bodies", "narrowphase.contacts_in_step", "step.editing", "step.sleeping", "sync.reader",
        "sync.registry", "sync.seen",
    ),
    # Within a step.
    **dict.fromkeys(
        ("is_marked", "mark_of", "marked", "turned", "turned_at", "turned_tick", "woken"), ("motion.bodies",)
    ),
    "base": ("motion.attachments", "motion.bodies"),
    "motion": (
        "motion.bodies", "step.sleeping", "sync.reader", "sync.registry", "sync.targets",
    ),
    **dict.fromkeys(
        ("swept_min", "swept_max"), ("response.ways_out", "step.edges")
    ),
    "turn": ("motion.bodies", "motion.gravity"),
    "drift": ("motion.bodies",),
    "gone": ("motion.bodies", "sync.registry"),
    "is_turned": ("motion.bodies", "step.impact_loop"),
    "on_hold": ("motion.bodies", "response.holding"),
    "course": ("motion.bodies",),
    "owner": ("motion.attachments", "motion.rare_columns"),
    "translation_side": ("motion.bodies",),
    "storey": ("response.carriers",),
}  # fmt: skip


INITIAL_ROWS = 64


class Block(NamedTuple):
    """Columns of one shape, one after the other in memory.

    Attributes
    ----------
    names : tuple of str
    dtype : dtype
    shape : tuple of int
        The shape of one row of a column.
    user : str
        The kernel object that has them as attributes: "bodies", "rare", "controls" or "".
    is_cleared : bool
        Whether the rows of a new body are set to zero.
    fill : int
        The value of rows that were never used.
    """

    names: tuple[str, ...]
    dtype: np.dtype[Any]
    shape: tuple[int, ...]
    user: str
    is_cleared: bool = True
    fill: int = 0


def blocks_of(dim: int, apart: bool) -> list[Block]:
    """Return the columns of the table in blocks; with `apart`, including `APART`."""
    return [
        Block((*_VECTOR_COLUMNS, *(APART if apart else ())), DOUBLE, (dim,), "bodies"),
        Block(SEEN_RARER, DOUBLE, (dim,), "bodies"),
        Block(_SCALARS, DOUBLE, (), "bodies"),
        Block(_SINGLES, DOUBLE, (1,), "bodies"),
        Block(FLAGS, BYTE, (), "bodies"),
        Block(_WIDE_FLAGS, SHORT, (), "bodies"),
        Block(_LONGS, LONG, (), "bodies"),
        Block(("growth",), DOUBLE, (dim,), "bodies"),
        *_each(("mark_of",), INT, (), "bodies"),  # place of a marked body in `marked`
        *_each((*_LISTS, *_TICKS), LONG, (), "bodies"),
        *_each(_TIMES, DOUBLE, (), "bodies"),
        # The fields of `Bodies` document the rows of the next three.
        *_each(("path",), DOUBLE, (4 * dim,), "bodies"),
        *_each(("turn",), DOUBLE, (dim, 3), "bodies"),
        *_each(("course", "drift"), DOUBLE, (dim,), "bodies"),
        *_each(("filters",), LONG, (3,), "rare"),  # categories, mask, group
        *_each(_RARE_VECTORS, DOUBLE, (dim,), "rare"),
        *_each((*_numbers_of("rare"), *_SLOPE_HEIGHTS), DOUBLE, (), "rare"),
        *_each(_RARE_FLAGS, BYTE, (), "rare"),
        *_each(_RARE_ROWS, LONG, (), "rare", -1),
        *_each(_numbers_of("controls"), DOUBLE, (), "controls"),
        *_each(_CONTROL_FLAGS, BYTE, (), "controls"),
        *_each(_CONTROL_LONGS, LONG, (), "controls"),
        *(
            block
            for width, names in _seen_by_width().items()
            for block in _each(names, DOUBLE, (width or dim,), "")
        ),
    ]


def _each(
    names: tuple[str, ...], dtype: np.dtype[Any], shape: tuple[int, ...], user: str, fill: int = 0
) -> list[Block]:
    """Return one block for each column.  It is not cleared for a new body."""
    return [Block((name,), dtype, shape, user, False, fill) for name in names]


def allocate(blocks: list[Block], memory: Memory, capacity: int) -> Memory:
    """Return memory for `capacity` rows that starts with the contents of `memory`."""
    old = memory or [np.zeros((len(block.names), 0, *block.shape), block.dtype) for block in blocks]
    return [
        lengthened(columns, capacity, block.fill)
        for block, columns in zip(blocks, old, strict=True)
    ]


def views_of(blocks: list[Block], memory: Memory) -> Views:
    """Return the columns by name, as views of the memory of the blocks."""
    views: Views = {}
    for block, columns in zip(blocks, memory, strict=True):
        views.update(zip(block.names, columns, strict=True))
    for name, twin in APART.items():
        views.setdefault(name, views[twin])
    views["seen_mass"] = views["mass"].reshape(-1, 1)
    views["path"] = views["path"].reshape(-1)
    return views
