"""A snapshot as bytes: one layout on every platform, checked before any of it is believed.

All numbers are little-endian.  A header names format, dimension, length and
checksum; then come sections, each with its length before it, in the order of
`_SECTIONS`.  Nothing in them is code.  What is read is checked in full, so
that bytes which were made to look right can still do no harm.
"""

from __future__ import annotations

import json
import struct
import zlib
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ecs_collide.constants import ALL, LARGEST, LEANS, MAX_GROUP, MAX_REST_COUNT, MOST_PULL
from ecs_collide.events import END_REASONS, Answer, SweepKind, collision_dtype, contact_dtype
from ecs_collide.filters import are_names
from ecs_collide.snapshot.columns import (
    Described,
    Table,
    pack_tables,
    read_description,
    unpack_tables,
)
from ecs_collide.snapshot.schema import (
    CONTACT_RECORD,
    MISMATCH_RECORD,
    PENDING_RECORD,
    RIDE_RECORD,
    Doubles,
    Longs,
    SnapshotData,
    words_of,
)
from ecs_collide.sync.quarantine import Report
from ecs_collide.sync.seen import (
    DISTURBED,
    FILTERED,
    LEFT_OUT,
    LOST,
    OFF,
    SEEN,
    SLEEPER,
    STIRRED,
    UNSEEN,
)

VERSION = 2
"""Of the layout; another one is refused."""

# As that of PNG: text modes, which change line ends or stop at an end of file, damage it.
_MAGIC = b"\x89ecsc\r\n\x1a"
_HEADER = struct.Struct("<8sHHIQQ")  # magic, version, dim, sections, length in bytes, checksum
_N_COUNTS = 18
_SINGLE = ("Mass", "Deflect")  # of one number
_SCALARS_FORMAT = struct.Struct(f"<qqqdd3d{_N_COUNTS}q")
_LONGEST_ID = 2**62

_SECTIONS = (
    "scalars", "text", "ids", "masks", "others", "widths", "numbers", "blob_sizes", "blobs",
    "plain", "columns", "bodies", "flags", "mismatches", "filters", "rest_count", "sleepers", "stirred", "contacts", "rides",
    "pending", "collisions", "contact_events",
)  # fmt: skip
_OF_WRAP = "wrap"  # one section more, where the space wraps: widths, 0 for none, and images


# -- writing --


def encode(state: SnapshotData) -> bytes:
    """Return a state as bytes: the same ones for the same state, on every platform."""
    scalars = _SCALARS_FORMAT.pack(
        state.step, state.next_entity, state.pair_limit, state.rest_speed, state.time,
        *state.gravity, *state.counts,
    )  # fmt: skip
    numbers, widths = [], []
    for array in state.numbers:
        # Most games have nothing on the third axis of a 2D space.
        flat = state.dim == 2 and array.shape[1] == 3 and not array.T[-1].view(np.int64).any()
        widths.append(2 if flat else array.shape[1])
        numbers.append(_packed(array[:, :2] if flat else array))
    sizes = [len(blob) for blobs in state.blobs for blob in blobs]
    plain, columns = pack_tables(state.plain, state.tables)
    sections = [
        [scalars],
        [_text(state)],
        [_packed(state.ids)],
        [_packed(state.masks)],
        [_packed(state.others)],
        [bytes(widths)],
        numbers,
        [_packed(np.array(sizes, np.int64))],
        [blob for blobs in state.blobs for blob in blobs],
        [plain],
        columns,
        [_packed(state.bodies)],
        [state.flags.tobytes()],
        [state.mismatches.tobytes()],
        [state.filters.tobytes()],
        [state.rest_count.tobytes()],
        [state.sleeping.tobytes()],
        [state.stirred.tobytes()],
        [state.contacts.tobytes()],
        [state.rides.tobytes()],
        [state.pending.tobytes()],
        [_packed(state.collisions)],
        [_packed(state.contact_events)],
    ]
    if state.wrap is not None:
        around = np.array([width or 0.0 for width in state.wrap])
        sections.append([_packed(around), _packed(state.images)])
    lengths = [sum(map(len, section)) for section in sections]
    pieces = [struct.pack(f"<{len(lengths)}Q", *lengths)]
    for section in sections:
        pieces += section
    length = _HEADER.size + len(pieces[0]) + sum(lengths)
    start = _MAGIC, VERSION, state.dim, len(sections), length
    checksum = _checksum(_HEADER.pack(*start, 0), *pieces)
    return b"".join([_HEADER.pack(*start, checksum), *pieces])


def _packed(array: NDArray[Any]) -> bytes:
    return array.astype(array.dtype.newbyteorder("<"), copy=False).tobytes()


def _checksum(*pieces: bytes | memoryview) -> int:
    """Return 64 bits over pieces: two checksums that fail to see different things.

    A CRC sees every change within 32 bits that follow each other.
    """
    crc, adler = 0, 1
    for piece in pieces:
        crc, adler = zlib.crc32(piece, crc), zlib.adler32(piece, adler)
    return crc << 32 | adler


def _text(state: SnapshotData) -> bytes:
    encoded = _encode_reports(state.reports), _encode_reports(state.new_reports), state.n_reports
    texts: list[object] = [list(state.kinds), list(state.own), *encoded]
    if state.category_names:
        texts.append(list(state.category_names))
    return json.dumps(texts, separators=(",", ":")).encode()


def _encode_reports(reports: Sequence[Report]) -> list[list[object]]:
    # Hexadecimal keeps every bit, and says nan and inf as JSON cannot.
    return [[r.step, r.entity, r.field, float(r.value).hex(), r.message] for r in reports]  # type: ignore[arg-type]


# -- reading --


def decode(data: object, dim: int, known: Mapping[str, int]) -> SnapshotData:
    """Return the state that bytes hold.

    Parameters
    ----------
    data : bytes
    dim : int
        Of the space that is to have it.
    known : dict
        The library's types of components by name, and how many numbers each has.

    Raises
    ------
    TypeError
        `data` is no bytes.
    ValueError
        It is no snapshot, or damaged, or of another format or dimension.
    """
    if not isinstance(data, (bytes, bytearray, memoryview)):
        raise TypeError(f"restore() takes the bytes that snapshot() gave, not {data!r}")
    data = bytes(data)
    _require_whole(data)
    _, _, found_dim, n_sections, _, _ = _HEADER.unpack_from(data)
    if found_dim != dim:
        raise ValueError(
            f"the snapshot is of a {found_dim}D space and this one has dim={dim}: "
            f"restore it into Space(dim={found_dim})"
        )
    wraps = n_sections == len(_SECTIONS) + 1
    _require(wraps or n_sections == len(_SECTIONS), "its number of sections")
    start = _HEADER.size + 8 * n_sections
    _require(len(data) >= start, "the lengths of its sections")
    lengths = struct.unpack_from(f"<{n_sections}Q", data, _HEADER.size)
    _require(start + sum(lengths) == len(data), "the lengths of its sections")
    parts = {}
    for name, length in zip((*_SECTIONS, _OF_WRAP)[:n_sections], lengths, strict=True):
        parts[name] = data[start : start + length]
        start += length
    return _checked(_Parts(parts, dim), known)


def _require_whole(data: bytes) -> None:
    """Refuse what is no snapshot, or not all of one as it was given out."""
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
        raise ValueError("the snapshot is damaged: its checksum is not that of its bytes")


def _require(holds: object, what: str) -> None:
    if not holds:
        raise ValueError(f"the snapshot contradicts itself: {what}")


class _Parts:
    """The sections as arrays of the machine's own."""

    def __init__(self, parts: dict[str, bytes], dim: int) -> None:
        self.parts = parts
        self.dim = dim

    def array(self, name: str, dtype: Any) -> NDArray[Any]:
        wanted = np.dtype(dtype)
        data = self.parts[name]
        _require(len(data) % wanted.itemsize == 0, f"the length of its {name}")
        return np.frombuffer(data, wanted.newbyteorder("<")).astype(wanted)

    def ids(self, name: str) -> Longs:
        """Return entities, which must rise."""
        ids: Longs = self.array(name, np.int64)
        _require((ids[1:] > ids[:-1]).all(), f"the order of its {name}")
        _require(len(ids) == 0 or (ids[0] >= 0 and ids[-1] < _LONGEST_ID), f"its {name}")
        return ids


def _checked(parts: _Parts, known: Mapping[str, int]) -> SnapshotData:
    """Return the state in the sections, or say what about it cannot be."""
    dim, scalars = parts.dim, _scalars(parts.parts["scalars"])
    kinds, own, reports, new_reports, n_reports, category_names = _texts(parts.parts["text"])
    n_kinds = len(kinds) + len(own)
    _check_kinds(kinds, known)
    described = _described(parts.parts["plain"])
    plain = tuple(name for name, _ in described)
    n_kinds += len(plain)
    _require(len({*kinds, *own, *plain}) == n_kinds, "its types of components")

    ids, others = parts.ids("ids"), parts.ids("others")
    masks = _masks(parts.array("masks", np.uint64), len(ids), n_kinds)
    last = max([-1, *ids[-1:].tolist(), *others[-1:].tolist()])
    _require(last < scalars["next_entity"] <= _LONGEST_ID, "the next entity")

    bodies = parts.ids("bodies")
    flags = parts.array("flags", np.uint8)
    _require(len(flags) == len(bodies), "the flags of its bodies")
    _require((flags & (OFF | LEFT_OUT) != OFF).all(), "the flags of its bodies")
    state = SnapshotData(
        dim=dim,
        **scalars,
        kinds=kinds,
        own=own,
        plain=plain,
        reports=reports,
        new_reports=new_reports,
        n_reports=n_reports,
        category_names=category_names,
        ids=ids,
        masks=masks,
        others=others,
        numbers=[],
        blobs=[],
        tables=[],
        bodies=bodies,
        flags=flags,
        mismatches=parts.array("mismatches", MISMATCH_RECORD),
        filters=parts.array("filters", FILTERED),
        rest_count=parts.array("rest_count", np.int8),
        sleeping=parts.array("sleepers", SLEEPER),
        stirred=parts.array("stirred", STIRRED),
        contacts=parts.array("contacts", CONTACT_RECORD),
        rides=parts.array("rides", RIDE_RECORD),
        pending=parts.array("pending", PENDING_RECORD),
        collisions=parts.array("collisions", collision_dtype(dim)),
        contact_events=parts.array("contact_events", contact_dtype(dim)),
    )
    state.numbers = _numbers(state, parts, known)
    state.blobs = _blobs(state, parts)
    state.tables = _tables(state, described, parts.parts["columns"])
    _check_mismatches(state)
    _check_filters(state)
    _check_contacts(state)
    if _OF_WRAP in parts.parts:
        _read_wrap(state, parts)
    _check_events(state)
    state.seen = state.find_seen()
    _check_placed(state)
    _check_sleeping(state)
    return state


def _masks(masks: Any, n_entities: int, n_kinds: int) -> Any:
    """Return the masks of entities, a row of words each."""
    n_words = words_of(n_kinds)
    _require(len(masks) == n_entities * n_words, "the number of its masks")
    masks = masks.reshape(-1, n_words)
    _require(masks.any(axis=1).all(), "its masks")
    spare = masks[:, -1] >> np.uint64((n_kinds - 1) % 64)  # bits above the last type's
    _require((spare <= 1).all(), "its masks")
    return masks


def _scalars(data: bytes) -> dict[str, Any]:
    """Return the single numbers of a state, as the fields that they are."""
    _require(len(data) == _SCALARS_FORMAT.size, "the length of its scalars")
    step, next_entity, pair_limit, rest_speed, time, *rest = _SCALARS_FORMAT.unpack(data)
    gravity, counts = tuple(rest[:3]), tuple(rest[3:])
    _require(0 <= step < _LONGEST_ID and 1 <= pair_limit < _LONGEST_ID, "its scalars")
    _require(rest_speed >= 0.0, "its scalars")  # not so for nan
    _require(0.0 <= time < np.inf, "its scalars")
    _require(all(abs(part) <= MOST_PULL for part in gravity), "its gravity")
    return {
        "step": step,
        "time": time,
        "next_entity": next_entity,
        "rest_speed": rest_speed,
        "pair_limit": pair_limit,
        "gravity": gravity,
        "counts": counts,
    }


def _check_kinds(kinds: tuple[str, ...], known: Mapping[str, int]) -> None:
    strangers = [name for name in kinds if name not in known]
    if strangers:
        raise ValueError(
            f"the snapshot holds {', '.join(strangers)} components, which this version of "
            "ecs_collide does not have: restore it with the version that made it"
        )
    _require({kind for kind, _, _ in SEEN} <= set(kinds), "its types of components")


def _texts(
    data: bytes,
) -> tuple[tuple[str, ...], tuple[str, ...], list[Report], list[Report], int, tuple[str, ...]]:
    try:
        kinds, own, first, second, n_reports, *more = json.loads(data.decode())
        encoded = first, second
        names = more[0] if len(more) == 1 else []
        _require(len(more) < 2 and are_names(names), "its categories")
        _require(all(type(name) is str for name in [*kinds, *own]), "its texts")
        _require(type(n_reports) is int and 0 <= n_reports < _LONGEST_ID, "its reports")
        reports, new_reports = ([_report(one) for one in some] for some in encoded)
    except (ValueError, TypeError, ArithmeticError, RecursionError) as error:
        raise ValueError("the snapshot contradicts itself: its texts") from error
    return tuple(kinds), tuple(own), reports, new_reports, n_reports, tuple(names)


def _report(encoded: list[Any]) -> Report:
    step, entity, field, value, message = encoded
    _require(type(step) is int and type(entity) is int, "its reports")
    _require(type(field) is str and type(message) is str, "its reports")
    return Report(step, entity, field, float.fromhex(value), message)


def _numbers(state: SnapshotData, parts: _Parts, known: Mapping[str, int]) -> list[Doubles]:
    """Return the numbers of each kind, a third axis that was left out put back."""
    widths = parts.parts["widths"]
    _require(len(widths) == len(state.kinds), "the widths of its components")
    flat = parts.array("numbers", np.float64)
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


def _blobs(state: SnapshotData, parts: _Parts) -> list[list[bytes]]:
    sizes = parts.array("blob_sizes", np.int64).tolist()
    data = parts.parts["blobs"]
    counts = [len(state.holders(len(state.kinds) + n)) for n in range(len(state.own))]
    _require(len(sizes) == sum(counts) and min(sizes, default=0) >= 0, "its own components")
    _require(sum(sizes) == len(data), "its own components")
    pieces, start = [], 0
    for size in sizes:
        pieces.append(data[start : start + size])
        start += size
    blobs, start = [], 0
    for count in counts:
        blobs.append(pieces[start : start + count])
        start += count
    return blobs


def _described(data: bytes) -> Described:
    try:
        return read_description(data)
    except (ValueError, TypeError, RecursionError) as error:
        raise ValueError("the snapshot contradicts itself: its dataclasses") from error


def _tables(state: SnapshotData, described: Described, data: bytes) -> list[Table]:
    first = len(state.kinds) + len(state.own)
    counts = [len(state.holders(first + n)) for n in range(len(described))]
    try:
        return unpack_tables(described, counts, data)
    except (ValueError, TypeError, OverflowError) as error:
        raise ValueError("the snapshot contradicts itself: its columns") from error


def _check_mismatches(state: SnapshotData) -> None:
    mismatches = state.mismatches
    widths = np.array([1 if kind in _SINGLE else state.dim for kind, _, _ in SEEN])
    _require((mismatches["column"] < len(SEEN)).all(), "what it has seen")
    _require((mismatches["axis"] < widths[mismatches["column"]]).all(), "what it has seen")
    _require((mismatches["body"] < len(state.bodies)).all(), "what it has seen")


def _check_filters(state: SnapshotData) -> None:
    places, numbers = state.filters["body"].astype(np.int64), state.filters["numbers"]
    _require((places < len(state.bodies)).all(), "the bodies of its filters")
    _require((places[1:] > places[:-1]).all(), "the order of its filters")
    categories, mask, group = numbers.T
    _require(_within(categories, 0, ALL) and _within(mask, 0, ALL), "its filters")
    _require(_within(group, -MAX_GROUP, MAX_GROUP), "its filters")


def _check_sleeping(state: SnapshotData) -> None:
    n, dim = len(state.bodies), state.dim
    _require(
        len(state.rest_count) == n
        and _within(state.rest_count, -1 - MAX_REST_COUNT, MAX_REST_COUNT),
        "how long its bodies have rested",
    )
    places = state.sleeping["body"].astype(np.int64)
    _require((places < n).all() and (places[1:] > places[:-1]).all(), "who sleeps")
    _require((state.flags[places] & (LEFT_OUT | UNSEEN) == 0).all(), "who sleeps")
    _require((state.seen[3][places] == 0.0).all(), "who sleeps")  # nobody who grows
    leans = state.sleeping["leans"].astype(np.int64)
    sides = abs(leans) - LEANS
    _require(((leans == 0) | ((sides >= 0) & (sides < 1 << 2 * dim))).all(), "who sleeps")
    _require((state.sleeping["held"] < 1 << dim).all(), "who sleeps")
    # An island is its first body.
    islands, leaning = state.sleeping["island"], places[leans != 0]
    _require((islands[leans == 0] == 0).all() and _are_in(islands[leans != 0], leaning), "islands")
    islands = islands[leans != 0]
    _require((islands <= leaning).all(), "islands")
    _require((islands[np.searchsorted(leaning, islands)] == islands).all(), "islands")
    stirred = state.stirred["body"].astype(np.int64)
    _require((stirred < n).all() and (stirred[1:] > stirred[:-1]).all(), "who may wake")
    _require(_within(state.stirred["why"], 1, LOST | DISTURBED), "who may wake")


def _check_contacts(state: SnapshotData) -> None:
    contacts, dim = state.contacts, state.dim
    for name in ("first", "second"):
        _require(_are_in(contacts[name], state.bodies), "the bodies of its contacts")
    _require((contacts["first"] < contacts["second"]).all(), "the order of its contacts")
    _require(_within(contacts["kind"], 0, 4), "its contacts")
    _require(_within(contacts["axis"], 0, dim - 1), "its contacts")
    _require((abs(contacts["sign"]) == 1).all(), "its contacts")
    _require(np.isfinite(contacts["since"]).all(), "its contacts")
    _require(_are_in(state.rides["entity"], state.bodies), "the bodies that are carried")
    _require((state.rides["entity"][1:] > state.rides["entity"][:-1]).all(), "its riders")
    _require(
        (abs(state.rides["carrier_velocity"]) <= 2.0 * LARGEST * len(state.bodies)).all(),
        "its riders",
    )
    _require((abs(state.rides["taken_off"]) <= 2.0 * LARGEST).all(), "its riders")
    codes = state.pending["codes"]
    upper = (1, 2, dim - 1, 1, 1, len(END_REASONS) - 1)
    for n, (minimum, maximum) in enumerate(zip((0, 0, 0, -1, 0, -1), upper, strict=True)):
        _require(_within(codes[:, n], minimum, maximum), "its contact events")


def _read_wrap(state: SnapshotData, parts: _Parts) -> None:
    """Take the widths of the world, and the images at which bodies touch."""
    section, n = parts.parts[_OF_WRAP], 8 * state.dim
    _require(len(section) == n + 8 * len(state.contacts), "the length of its wrap")
    widths = np.frombuffer(section[:n], "<f8").tolist()
    _require(all(0.0 <= width <= LARGEST for width in widths) and any(widths), "its wrap")
    state.wrap = tuple(width or None for width in widths)
    state.images = np.frombuffer(section[n:], "<i8").astype(np.int64)
    # Not their abs(), which is negative for the lowest of all numbers.
    _require(_within(state.images, 1 - _LONGEST_ID, _LONGEST_ID - 1), "its images")


def _check_events(state: SnapshotData) -> None:
    for events, name, minimum, maximum in (
        (state.collisions, "kind", 0, len(SweepKind) - 1),
        (state.collisions, "answer", 0, len(Answer) - 1),
        (state.contact_events, "event", 0, 1),
        (state.contact_events, "kind", 0, 1),
        (state.contact_events, "reason", -1, len(END_REASONS) - 1),
    ):
        _require(_within(events[name], minimum, maximum), "its events")


def _are_in(some: NDArray[Any], rising: Longs) -> bool:
    """Return whether all of some numbers are among those that rise."""
    places = np.searchsorted(rising, some)
    return bool((places < len(rising)).all() and (rising[places] == some).all())


def _within(array: NDArray[Any], minimum: int, maximum: int) -> bool:
    return bool(((array >= minimum) & (array <= maximum)).all())


def _check_placed(state: SnapshotData) -> None:
    """Refuse bodies that stood in a tree with numbers that no tree takes."""
    placed = state.flags & (LEFT_OUT | UNSEEN) == 0
    every = slice(None) if placed.all() else placed
    for column in state.seen[:4]:
        _require((abs(column[every]) <= LARGEST).all(), "where its bodies are")  # not so for nan
    _require((state.seen[1][every] >= 0.0).all(), "how large its bodies are")
