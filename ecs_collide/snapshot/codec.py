"""A snapshot as bytes: one layout on every platform, checked in full before use.

All numbers are little-endian.  A header with format, dimension, length and checksum is followed by
the lengths of the sections, and the sections in the order of `_SECTIONS`.  No section holds code,
and everything that is read is checked, so forged bytes can do no harm.
"""

from __future__ import annotations

import json
import struct
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from io import BytesIO
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ecs_collide._kernel.constants import ALL, LARGEST, MAX_GROUP, MAX_REST_COUNT, MOST_PULL, Leans
from ecs_collide.components.component_map import ROLES
from ecs_collide.components.filters import are_names
from ecs_collide.events import END_REASONS, Outcome, SweepKind, collision_dtype, contact_dtype
from ecs_collide.motion.wrapping import Wrap
from ecs_collide.snapshot.column_codec import pack_tables, read_description, unpack_tables
from ecs_collide.snapshot.rounding import ROUNDED_NUMBER
from ecs_collide.snapshot.schema import (
    CONTACT_RECORD,
    MISMATCH_RECORD,
    PENDING_RECORD,
    RIDE_RECORD,
    Doubles,
    Longs,
    SnapshotData,
    find_in,
    words_of,
)
from ecs_collide.step.handlers import Altered
from ecs_collide.sync.quarantine import Report, as_reported
from ecs_collide.sync.seen import (
    CHANGED,
    DISTURBED,
    FILTERED,
    LOST,
    MAY_WAKE,
    NO_ROWS,
    OFF,
    PUT,
    SEEN,
    SKIPPED,
    SLEEPER,
    UNSEEN,
)

VERSION = 2
"""The version of the layout; others are refused."""

# Like PNG's: transfers in text mode, which change line ends or stop at an end of file, damage it.
_MAGIC = b"\x89ecsc\r\n\x1a"
_HEADER = struct.Struct("<8sHHIQQ")  # magic, version, dim, sections, length in bytes, checksum
_SINGLE = ("Mass", "Deflect")  # types with one number
_SCALARS = ("step", "next_entity", "pair_limit", "up", "rest_speed", "time")
_SCALARS_FORMAT = struct.Struct("<qqqqdd3d18q")  # these, the gravity and the counts
_LONGEST_ID = 2**62

_SECTIONS = (
    "scalars", "text", "ids", "masks", "others", "widths", "numbers", "blob_sizes", "blobs",
    "plain", "columns", "bodies", "flags", "mismatches", "filters", "rest_count", "sleepers",
    "may_wake", "contacts", "rides", "pending", "collisions", "contact_events",
)  # fmt: skip
_OF_WRAP = "wrap"  # an extra section if the space wraps: widths, or 0, and images
_OF_ROUNDED = "rounded"  # the next one, if components round; `wrap` may then be empty
_OPTIONAL = (_OF_WRAP, _OF_ROUNDED)

_Bytes = Mapping[str, bytes]  # the sections by name


def _dtypes(dim: int) -> dict[str, np.dtype[Any]]:
    """Return the dtypes of the sections that hold a field of `SnapshotData` unchanged."""
    dtypes: dict[str, Any] = {
        "ids": np.int64,
        "masks": np.uint64,
        "others": np.int64,
        "bodies": np.int64,
        "flags": np.uint8,
        "mismatches": MISMATCH_RECORD,
        "filters": FILTERED,
        "rest_count": np.int8,
        "sleepers": SLEEPER,
        "may_wake": MAY_WAKE,
        "contacts": CONTACT_RECORD,
        "rides": RIDE_RECORD,
        "pending": PENDING_RECORD,
        "collisions": collision_dtype(dim),
        "contact_events": contact_dtype(dim),
    }
    return {name: np.dtype(dtype).newbyteorder("<") for name, dtype in dtypes.items()}


_DTYPES = {dim: _dtypes(dim) for dim in (2, 3)}  # made here, not at the first snapshot


# -- writing --


def encode(state: SnapshotData) -> bytes:
    """Return a state as bytes, the same on every platform."""
    numbers, widths = [], []
    for array in state.numbers:
        # Most games have nothing on the third axis of a 2D space.
        flat = state.dim == 2 and array.shape[1] == 3 and not array.T[-1].view(np.int64).any()
        widths.append(2 if flat else array.shape[1])
        numbers.append(array[:, : widths[-1]].astype("<f8", copy=False).tobytes())
    scalars = *(getattr(state, name) for name in _SCALARS), *state.gravity, *state.counts
    blobs = [blob for some in state.blobs for blob in some]
    plain, columns = pack_tables(state.plain, state.tables)
    sections = {
        name: [getattr(state, name).astype(dtype, copy=False).tobytes()]
        for name, dtype in _DTYPES[state.dim].items()
    }
    sections |= {
        "scalars": [_SCALARS_FORMAT.pack(*scalars)],
        "text": [_text(state)],
        "widths": [bytes(widths)],
        "numbers": numbers,
        "blob_sizes": [np.array([*map(len, blobs)], "<i8").tobytes()],
        "blobs": blobs,
        "plain": [plain],
        "columns": columns,
    }
    n_more = 2 if len(state.rounded) else 0 if state.wrap is None else 1
    names = *_SECTIONS, *_OPTIONAL[:n_more]
    sections[_OF_WRAP] = []
    sections[_OF_ROUNDED] = [state.rounded.tobytes()]
    if state.wrap is not None:
        around = np.array([width or 0.0 for width in state.wrap], "<f8")
        sections[_OF_WRAP] = [around.tobytes(), state.images.astype("<i8").tobytes()]
    lengths = [sum(map(len, sections[name])) for name in names]
    pieces = [struct.pack(f"<{len(lengths)}Q", *lengths)]
    for name in names:
        pieces += sections[name]
    length = _HEADER.size + len(pieces[0]) + sum(lengths)
    start = _MAGIC, VERSION, state.dim, len(names), length
    checksum = _checksum(_HEADER.pack(*start, 0), *pieces)
    return b"".join([_HEADER.pack(*start, checksum), *pieces])


def _checksum(*pieces: bytes | memoryview) -> int:
    """Return a 64-bit checksum of pieces, which combines two checksums with different weaknesses.

    A CRC detects every change within 32 consecutive bits.
    """
    crc, adler = 0, 1
    for piece in pieces:
        crc, adler = zlib.crc32(piece, crc), zlib.adler32(piece, adler)
    return crc << 32 | adler


def _text(state: SnapshotData) -> bytes:
    # Hexadecimal keeps every bit and, unlike JSON, has nan and inf.
    reports = [
        [
            [
                r.step,
                r.entity,
                r.field,
                r.value if type(r.value) is int else r.value.hex(),
                r.message,
            ]
            for r in some
        ]
        for some in (state.reports, state.new_reports)
    ]
    texts: list[object] = [list(state.kinds), list(state.own), *reports, state.n_reports]
    more = [list(state.category_names), state.was_crowded, state.altered]
    while more and not more[-1]:  # trailing default values are omitted
        more.pop()
    return json.dumps([*texts, *more], separators=(",", ":")).encode()


# -- reading --


def decode(data: object, dim: int, known: Mapping[str, int]) -> SnapshotData:
    """Return the state that bytes hold.

    Parameters
    ----------
    data : bytes
    dim : int
        The number of axes of the space that restores it.
    known : dict
        The library's types of components by name, with the count of numbers of each.

    Raises
    ------
    TypeError
        `data` is not bytes.
    ValueError
        It is not a snapshot, or damaged, or of another format or dimension.
    """
    if not isinstance(data, (bytes, bytearray, memoryview)):
        raise TypeError(f"restore() takes the bytes that snapshot() gave, not {data!r}")
    data = bytes(data)
    require_whole(data)
    _, _, found_dim, n_sections, _, _ = _HEADER.unpack_from(data)
    if found_dim != dim:
        raise ValueError(
            f"the snapshot is of a {found_dim}D space and this one has dim={dim}: "
            f"restore it into Space(dim={found_dim})"
        )
    names = *_SECTIONS, *_OPTIONAL
    _require(len(_SECTIONS) <= n_sections <= len(names), "its number of sections")
    start = _HEADER.size + 8 * n_sections
    _require(len(data) >= start, "the lengths of its sections")
    lengths = struct.unpack_from(f"<{n_sections}Q", data, _HEADER.size)
    _require(start + sum(lengths) == len(data), "the lengths of its sections")
    parts = {}
    for name, length in zip(names, lengths, strict=False):
        parts[name] = data[start : start + length]
        start += length
    state = _read(parts, dim, known)
    _check_mismatches(state)
    _check_filters(state)
    _check_contacts(state)
    _check_events(state)
    state.seen = state.find_seen()
    _check_placed(state)
    _check_sleeping(state)
    return state


def require_whole(data: bytes) -> None:
    """Raise ValueError unless the bytes are one whole, undamaged snapshot."""
    if len(data) < _HEADER.size or not data.startswith(_MAGIC):
        raise ValueError(
            f"these {len(data)} bytes are no snapshot of ecs_collide, or not its beginning"
        )
    *start, length, checksum = _HEADER.unpack_from(data)
    if start[1] != VERSION:
        raise ValueError(
            f"the snapshot has format {start[1]} and this version of ecs_collide reads "
            f"format {VERSION}: restore it with the version that made it"
        )
    if length != len(data):
        raise ValueError(
            f"the snapshot was {length} bytes long and has {len(data)} now: "
            "write and read it whole, as binary"
        )
    rest = memoryview(data)[_HEADER.size :]
    if checksum != _checksum(_HEADER.pack(*start, length, 0), rest):
        raise ValueError("the snapshot is damaged: its checksum does not match its bytes")


def _require(holds: object, what: str) -> None:
    if not holds:
        raise ValueError(f"the snapshot contradicts itself: {what}")


def _require_within(array: NDArray[Any], minimum: int, maximum: int, what: str) -> None:
    _require(((array >= minimum) & (array <= maximum)).all(), what)


@contextmanager
def _reading(what: str) -> Iterator[None]:
    """Convert any error into a ValueError about a contradiction in the snapshot."""
    try:
        yield
    except (ValueError, TypeError, ArithmeticError, RecursionError) as error:
        raise ValueError(f"the snapshot contradicts itself: {what}") from error


def _read(parts: _Bytes, dim: int, known: Mapping[str, int]) -> SnapshotData:
    """Return the state in the sections; check its types of components and its entities."""
    texts = _read_text(parts["text"])
    kinds, own = texts["kinds"], texts["own"]
    strangers = [name for name in kinds if name not in known]
    if strangers:
        raise ValueError(
            f"the snapshot holds {', '.join(strangers)} components, which this version of "
            "ecs_collide does not have: restore it with the version that made it"
        )
    _require({kind for kind, _, _ in SEEN} <= set(kinds), "its types of components")
    with _reading("its dataclasses"):
        described = read_description(parts["plain"])
    plain = tuple(name for name, _ in described)
    names = *kinds, *own, *plain
    _require(len(set(names)) == len(names), "its types of components")
    arrays: dict[str, Any] = {
        name: _array(parts, name, dtype) for name, dtype in _DTYPES[dim].items()
    }
    arrays["masks"] = _masks(arrays["masks"], len(arrays["ids"]), len(names))
    for name in ("ids", "others", "bodies"):
        ids = arrays[name]
        _require(_rises(ids), f"the order of its {name}")
        _require(len(ids) == 0 or (ids[0] >= 0 and ids[-1] < _LONGEST_ID), f"its {name}")
    wrap, images = _read_wrap(parts, dim, len(arrays["contacts"]))
    rounded = _array({_OF_ROUNDED: b"", **parts}, _OF_ROUNDED, ROUNDED_NUMBER)
    _require((rounded["role"] < len(ROLES)).all(), "its rounded numbers")
    _require((rounded["axis"] < dim).all(), "its rounded numbers")
    for name in ("there", "number"):
        _require(np.isfinite(rounded[name]).all(), "its rounded numbers")
    state = SnapshotData(
        dim=dim, **_read_scalars(parts["scalars"]), **texts, plain=plain, **arrays,
        numbers=[], blobs=[], tables=[], wrap=wrap, images=images, rounded=rounded,
    )  # fmt: skip
    last = max([-1, *state.ids[-1:].tolist(), *state.others[-1:].tolist()])
    _require(last < state.next_entity <= _LONGEST_ID, "the next entity")
    state.numbers = _read_numbers(state, parts, known)
    counts = [len(state.holders(n)) for n in range(len(kinds), len(names))]
    state.blobs = _read_blobs(parts, counts[: len(own)])
    with _reading("its columns"):
        state.tables = unpack_tables(described, counts[len(own) :], parts["columns"])
    return state


def _array(parts: _Bytes, name: str, dtype: np.dtype[Any]) -> NDArray[Any]:
    """Return a section as an array in the byte order of the machine."""
    data = parts[name]
    _require(len(data) % dtype.itemsize == 0, f"the length of its {name}")
    return np.frombuffer(data, dtype).astype(dtype.newbyteorder("="))


def _masks(masks: NDArray[Any], n_entities: int, n_kinds: int) -> NDArray[Any]:
    """Return the masks of entities, a row of words each."""
    n_words = words_of(n_kinds)
    _require(len(masks) == n_entities * n_words, "the number of its masks")
    masks = masks.reshape(-1, n_words)
    _require(masks.any(axis=1).all(), "its masks")
    spare = masks[:, -1] >> np.uint64((n_kinds - 1) % 64)  # bits above the last type's
    _require((spare <= 1).all(), "its masks")
    return masks


def _read_scalars(data: bytes) -> dict[str, Any]:
    """Return the scalar fields of a state."""
    _require(len(data) == _SCALARS_FORMAT.size, "the length of its scalars")
    numbers = _SCALARS_FORMAT.unpack(data)
    found = dict(zip(_SCALARS, numbers, strict=False))
    gravity, counts = numbers[len(found) :][:3], numbers[len(found) :][3:]
    _require(0 <= found["step"] < _LONGEST_ID, "its scalars")
    _require(1 <= found["pair_limit"] < _LONGEST_ID, "its scalars")
    _require(found["rest_speed"] >= 0.0, "its scalars")  # not so for nan
    _require(abs(found["up"]) in (1, 2, 3, 10, 20, 30), "its scalars")
    _require(0.0 <= found["time"] < np.inf, "its scalars")
    _require(all(abs(part) <= MOST_PULL for part in gravity), "its gravity")
    return {**found, "gravity": gravity, "counts": counts}


def _read_text(data: bytes) -> dict[str, Any]:
    """Return the fields that `_text` writes."""
    with _reading("its texts"):
        kinds, own, reports, new_reports, n_reports, *more = json.loads(data.decode())
        usual: list[Any] = [[], False, []]
        names, was_crowded, altered = list(more) + usual[len(more) :]
        _require(are_names(names), "its categories")
        _require(type(was_crowded) is bool, "whether there was a crowd")
        _require(all(type(name) is str for name in [*kinds, *own]), "its texts")
        _require(type(n_reports) is int and 0 <= n_reports < _LONGEST_ID, "its reports")
        return {
            "kinds": tuple(kinds),
            "own": tuple(own),
            "reports": [*map(_read_report, reports)],
            "new_reports": [*map(_read_report, new_reports)],
            "n_reports": n_reports,
            "category_names": tuple(names),
            "was_crowded": was_crowded,
            "altered": [*map(_read_altered, altered)],
        }


def _read_altered(encoded: list[Any]) -> Altered:
    first_name, second_name, first, second, orders = encoded
    _require(type(first_name) is str and type(second_name) is str, "its open contacts")
    _require(type(first) is int and type(second) is int, "its open contacts")
    _require(0 <= first < second < _LONGEST_ID, "its open contacts")
    _require(all(order in (0, 1) and type(order) is int for order in orders), "its open contacts")
    return first_name, second_name, first, second, tuple(orders)


def _read_report(encoded: list[Any]) -> Report:
    step, entity, field, value, message = encoded
    _require(type(step) is int and type(entity) is int, "its reports")
    _require(type(field) is str and type(message) is str, "its reports")
    number = value if type(value) is int else as_reported(float.fromhex(value))
    return Report(step, entity, field, number, message)


def _read_numbers(state: SnapshotData, parts: _Bytes, known: Mapping[str, int]) -> list[Doubles]:
    """Return the numbers of each kind, with zeros for an omitted third axis."""
    widths = parts["widths"]
    _require(len(widths) == len(state.kinds), "the widths of its components")
    flat = _array(parts, "numbers", np.dtype("<f8"))
    numbers, start = [], 0
    for n, (kind, width) in enumerate(zip(state.kinds, widths, strict=True)):
        whole = known[kind]
        _require(width == whole or (width, whole) == (2, 3), "the widths of its components")
        count = len(state.holders(n)) if width else 0
        stop = start + count * width
        _require(stop <= len(flat), "the number of its components")
        array = flat[start:stop].reshape(-1, width) if width else np.zeros((0, 0))
        if width < whole:
            array = np.concatenate([array, np.zeros((count, 1))], axis=1)
        numbers.append(array)
        start = stop
    _require(start == len(flat), "the number of its components")
    return numbers


def _read_blobs(parts: _Bytes, counts: list[int]) -> list[list[bytes]]:
    sizes = _array(parts, "blob_sizes", np.dtype("<i8")).tolist()
    _require(len(sizes) == sum(counts) and min(sizes, default=0) >= 0, "its custom components")
    _require(sum(sizes) == len(parts["blobs"]), "its custom components")
    blobs = map(BytesIO(parts["blobs"]).read, sizes)
    return [list(islice(blobs, count)) for count in counts]


def _read_wrap(parts: _Bytes, dim: int, n_contacts: int) -> tuple[Wrap | None, Longs]:
    """Return the widths of the world, and the images at which bodies touch."""
    section, n = parts.get(_OF_WRAP, b""), 8 * dim
    if not section and (_OF_ROUNDED in parts or _OF_WRAP not in parts):
        return None, np.zeros(n_contacts, np.int64)
    _require(len(section) == n + 8 * n_contacts, "the length of its wrap")
    widths = np.frombuffer(section[:n], "<f8").tolist()
    _require(all(0.0 <= width <= LARGEST for width in widths) and any(widths), "its wrap")
    images = np.frombuffer(section[n:], "<i8").astype(np.int64)
    # Not their abs(), which is negative for the lowest int64.
    _require_within(images, 1 - _LONGEST_ID, _LONGEST_ID - 1, "its images")
    return tuple(width or None for width in widths), images


# -- checking --


def _check_mismatches(state: SnapshotData) -> None:
    mismatches = state.mismatches
    widths = np.array([1 if kind in _SINGLE else state.dim for kind, _, _ in SEEN])
    _require((mismatches["column"] < len(SEEN)).all(), "the last numbers of its bodies")
    _require(
        (mismatches["axis"] < widths[mismatches["column"]]).all(), "the last numbers of its bodies"
    )
    _require((mismatches["body"] < len(state.bodies)).all(), "the last numbers of its bodies")


def _check_filters(state: SnapshotData) -> None:
    places = state.filters["body"]
    _require((places < len(state.bodies)).all(), "the bodies of its filters")
    _require(_rises(places), "the order of its filters")
    categories, mask, group = state.filters["numbers"].T
    _require_within(categories, 0, ALL, "its filters")
    _require_within(mask, 0, ALL, "its filters")
    _require_within(group, -MAX_GROUP, MAX_GROUP, "its filters")


def _check_contacts(state: SnapshotData) -> None:
    contacts, rides, dim = state.contacts, state.rides, state.dim
    for name in ("first", "second"):
        _require(_are_in(contacts[name], state.bodies), "the bodies of its contacts")
    _require((contacts["first"] < contacts["second"]).all(), "the order of its contacts")
    _require_within(contacts["kind"], 0, 4, "its contacts")
    _require_within(contacts["axis"], 0, dim - 1, "its contacts")
    _require_within(abs(contacts["sign"]), 1, 2, "its contacts")
    _require_within(contacts["had_impact"], 0, 1, "its contacts")
    _require(np.isfinite(contacts["since"]).all(), "its contacts")
    _require(_are_in(rides["entity"], state.bodies), "the bodies that are carried")
    _require(_rises(rides["entity"]), "its riders")
    fastest = 2.0 * LARGEST * len(state.bodies)
    _require((abs(rides["carrier_velocity"]) <= fastest).all(), "its riders")
    _require((abs(rides["subtracted"]) <= 2.0 * LARGEST).all(), "its riders")


def _check_events(state: SnapshotData) -> None:
    last_reason = len(END_REASONS) - 1
    upper = 1, 2, 1, last_reason
    for codes, minimum, maximum in zip(state.pending["codes"].T, (0, 0, 0, -1), upper, strict=True):
        _require_within(codes, minimum, maximum, "its contact events")
    _require_within(state.pending["normal"], -1, 1, "its contact events")
    for events, name, minimum, maximum in (
        (state.collisions, "kind", 0, len(SweepKind) - 1),
        (state.collisions, "outcome", 0, len(Outcome) - 1),
        (state.contact_events, "event", 0, 1),
        (state.contact_events, "kind", 0, 1),
        (state.contact_events, "reason", -1, last_reason),
    ):
        _require_within(events[name], minimum, maximum, "its events")


def _check_placed(state: SnapshotData) -> None:
    """Raise ValueError for bodies in a tree with numbers that no tree accepts."""
    _require(len(state.flags) == len(state.bodies), "the flags of its bodies")
    _require((state.flags & (OFF | SKIPPED) != OFF).all(), "the flags of its bodies")
    places, here = find_in(state.bodies, _holders(state, "Disabled"))
    is_on = state.flags[places[here]] & (SKIPPED | CHANGED) == 0
    for entity in state.bodies[places[here]][is_on].tolist():
        _require(False, f"entity {entity} has Disabled, and by its flags it was not skipped")
    placed = state.flags & (SKIPPED | UNSEEN) == 0
    every = slice(None) if placed.all() else placed
    for column in state.seen[:4]:
        _require((abs(column[every]) <= LARGEST).all(), "where its bodies are")  # not so for nan
    _require((state.seen[1][every] >= 0.0).all(), "how large its bodies are")
    for axis, width in enumerate(state.wrap or ()):
        centres = state.seen[0][every, axis]
        if width is not None:
            _require(((centres >= 0.0) & (centres < width)).all(), "where its bodies are")


def _holders(state: SnapshotData, kind: str) -> Longs:
    """Return the entities with a component type; the type may be unknown to an older version."""
    return state.holders(state.kinds.index(kind)) if kind in state.kinds else NO_ROWS


def _check_sleeping(state: SnapshotData) -> None:
    n, dim = len(state.bodies), state.dim
    _require(len(state.rest_count) == n, "how long its bodies have rested")
    _require_within(
        state.rest_count, -1 - MAX_REST_COUNT, MAX_REST_COUNT, "how long its bodies have rested"
    )
    places = state.sleepers["body"].astype(np.int64)
    _require((places < n).all() and _rises(places), "which bodies sleep")
    _require((state.flags[places] & (SKIPPED | UNSEEN) == 0).all(), "which bodies sleep")
    _require((state.seen[3][places] == 0.0).all(), "which bodies sleep")  # no growing body
    leans = state.sleepers["leans"].astype(np.int64)
    sides = abs(leans) - Leans.IN_ISLAND
    _require(((leans == 0) | ((sides >= 0) & (sides < 1 << 2 * dim))).all(), "who sleeps")
    _require((state.sleepers["held"] < 1 << dim).all(), "who sleeps")
    # An island is its first body.
    islands, leaning = state.sleepers["island"], places[leans != 0]
    _require((islands[leans == 0] == 0).all() and _are_in(islands[leans != 0], leaning), "islands")
    islands = islands[leans != 0]
    _require((islands <= leaning).all(), "islands")
    _require((islands[np.searchsorted(leaning, islands)] == islands).all(), "islands")
    may_wake = state.may_wake["body"]
    _require((may_wake < n).all() and _rises(may_wake), "which bodies may wake")
    _require_within(state.may_wake["why"], 1, LOST | DISTURBED | PUT, "which bodies may wake")


def _rises(numbers: NDArray[Any]) -> bool:
    return bool((numbers[1:] > numbers[:-1]).all())


def _are_in(some: NDArray[Any], rising: Longs) -> bool:
    """Return whether all of some numbers are among the rising ones."""
    return bool(find_in(rising, some)[1].all())
