"""Unpack the tiles of a layer, at most as many as the layer declares."""

from __future__ import annotations

import base64
import importlib
import zlib
from typing import Any

import numpy as np

_BYTES = 4  # of a tile's number
_AUTO_WBITS = 47  # zlib detects zlib and gzip headers, as in Tiled


def numbers_of(data: Any, encoding: str, compression: str, n_tiles: int) -> list[Any]:
    """Return the numbers of the tiles of a layer or a chunk.

    At most `n_tiles + 1` numbers are unpacked; the caller must refuse any number but `n_tiles`.

    Parameters
    ----------
    data : list or str
        The numbers, or text in csv or base64.
    encoding, compression : str
        "csv" or "base64"; "zlib", "gzip", "zstd" or empty.
    n_tiles : int

    Raises
    ------
    ValueError
        The data are damaged.
    """
    if isinstance(data, list):
        return data
    if not isinstance(data, str):
        raise ValueError(f"its data are a {type(data).__name__}; they must be a list or text")
    if not data.strip():
        return []
    if encoding in ("", "csv"):
        return [int(word) for word in data.rstrip(", \n\r\t").split(",")]
    if encoding != "base64":
        raise ValueError(f"its encoding {encoding!r} must be csv or base64")
    packed = base64.b64decode(data)
    limit = (n_tiles + 1) * _BYTES
    if compression in ("zlib", "gzip", "zstd"):
        packed = _unpacked(packed, compression, limit)
    elif compression:
        raise ValueError(f"its compression {compression!r} must be zlib, gzip or zstd")
    packed = packed[:limit]
    if len(packed) % _BYTES:
        raise ValueError(f"its data end within a tile, which takes {_BYTES} bytes")
    numbers: list[int] = np.frombuffer(packed, "<u4").tolist()
    return numbers


def _unpacked(data: bytes, compression: str, limit: int) -> bytes:
    """Return the unpacked data, at most the first `limit` bytes."""
    stream, error = _stream(compression)
    try:
        found: bytes = stream.decompress(data, limit)
    except error as damage:
        raise ValueError(f"its {compression} data are damaged: {damage}") from damage
    if not stream.eof and len(found) < limit:
        raise ValueError(f"its {compression} data are cut short")
    return found


def _stream(compression: str) -> tuple[Any, type[Exception]]:
    """Return an object that unpacks no more than it is told to, and its error."""
    if compression != "zstd":
        return zlib.decompressobj(_AUTO_WBITS), zlib.error
    for name in ("compression.zstd", "backports.zstd"):  # the first since Python 3.14
        try:
            zstd = importlib.import_module(name)
        except ImportError:
            continue
        return zstd.ZstdDecompressor(), zstd.ZstdError
    raise ValueError(
        "its data are packed with zstd, which needs Python 3.14 or pip install backports.zstd; "
        "or choose another Tile Layer Format in the properties of the map in Tiled, such as zlib"
    )
