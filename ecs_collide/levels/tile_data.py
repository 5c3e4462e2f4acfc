"""Unpack the tiles of a layer, at most as many as the layer declares."""

from __future__ import annotations

import base64
import importlib
import importlib.util
import zlib

import numpy as np

_BYTES = 4  # of a tile's number
_AUTO_WBITS = 47  # zlib detects zlib and gzip headers, as in Tiled
_ZSTD_MAGIC = b"\x28\xb5\x2f\xfd"


def unpack(text: str, compression: str, n_tiles: int) -> list[int]:
    """Return the numbers of the tiles of a block of data in base64.

    At most `n_tiles + 1` numbers are returned; the caller must refuse any number but `n_tiles`.
    `compression` is "zlib", "gzip", "zstd" or "".  A ValueError is raised for damaged data.
    """
    data = base64.b64decode(text)
    size = n_tiles * _BYTES
    if compression in ("zlib", "gzip"):
        data = _inflated(data, compression, size + _BYTES)
    elif compression == "zstd":
        data = _zstd(data, size)
    elif compression:
        raise ValueError(f"its compression {compression!r} must be zlib, gzip or zstd")
    data = data[: size + _BYTES]
    if len(data) % _BYTES:
        raise ValueError(f"its data end within a tile, which takes {_BYTES} bytes")
    numbers: list[int] = np.frombuffer(data, "<u4").tolist()
    return numbers


def _inflated(data: bytes, compression: str, limit: int) -> bytes:
    """Return the unpacked zlib or gzip data, at most the first `limit` bytes."""
    stream = zlib.decompressobj(_AUTO_WBITS)
    try:
        found = stream.decompress(data, limit)
    except zlib.error as error:
        raise ValueError(f"its {compression} data are damaged: {error}") from error
    if not stream.eof and len(found) < limit:
        raise ValueError(f"its {compression} data are cut short")
    return found


def _zstd(data: bytes, size: int) -> bytes:
    """Return the content of zstd data, if their header declares this number of bytes."""
    if importlib.util.find_spec("zstd") is None:
        raise ValueError(
            'its zstd data need a package that is not installed: pip install "pytiled-parser[zstd]"'
        )
    declared = _zstd_size(data)
    if declared != size:
        # The package has no limit.
        raise ValueError(f"its zstd data unpack to {declared} bytes and its tiles take {size}")
    zstd = importlib.import_module("zstd")
    try:
        found: bytes = zstd.decompress(data)
    except zstd.Error as error:
        raise ValueError(f"its zstd data are damaged: {error}") from error
    return found


def _zstd_size(data: bytes) -> int:
    """Return how many bytes one frame of zstd declares.

    Notes
    -----
    RFC 8878, sections 3.1.1 to 3.1.1.2.  The blocks are walked through, because a second frame
    behind the first would be unpacked too.
    """
    if not data.startswith(_ZSTD_MAGIC) or len(data) < 6:
        raise ValueError("its zstd data do not begin as such data do")
    descriptor = data[4]
    is_single = descriptor >> 5 & 1
    n_bytes = (1 if is_single else 0, 2, 4, 8)[descriptor >> 6]
    if n_bytes == 0:
        raise ValueError("its zstd data do not say how large they are; save the map with Tiled")
    at = 5 + (0 if is_single else 1) + (0, 1, 2, 4)[descriptor & 3]  # window, dictionary
    size = int.from_bytes(data[at : at + n_bytes], "little") + (256 if n_bytes == 2 else 0)
    at += n_bytes
    is_last = False
    while not is_last and at < len(data):
        header = int.from_bytes(data[at : at + 3], "little")
        is_last = bool(header & 1)
        at += 3 + (1 if header >> 1 & 3 == 1 else header >> 3)  # a run is one byte, repeated
    at += 4 * (descriptor >> 2 & 1)  # checksum
    if not is_last or at != len(data):
        raise ValueError("its zstd data are cut short, or more follows them")
    return size
