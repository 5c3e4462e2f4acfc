"""Open the files that a level names: regular files below one folder, and nothing else.

A level may come from a stranger.  So a name in it is followed only if it stays in the project, or
in the narrower folder that the game allows.  This holds for the name as it is written and after
all symbolic links.  Only regular files are opened, never a device or a pipe.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

LARGEST_FILE = 2**28
"""The most bytes read from a file: some files, such as /proc/kmsg, never end."""

_PIECE = 2**20  # bytes read at once: `read` allocates as many as it is asked for
_LONGEST_NAME = 4096  # characters, as on Linux; resolving a path takes time quadratic in its length
# Only the folder of a project has one of these.  One without them is at most so far above a level.
_MARKERS = (".git", ".hg", "pyproject.toml", "setup.py", "requirements.txt")
_MOST_ABOVE = 4


def project_of(folder: Path) -> Path:
    """Return the folder of the project that a level in this folder belongs to.

    It is the working folder if the level lies in it.  Otherwise it is the nearest folder above
    with the mark of a project, or the fourth one above.  It is never a whole disk.
    """
    here = Path(os.path.realpath(os.curdir))
    if folder.is_relative_to(here) and here != Path(here.anchor):
        return here
    above = [one for one in (folder, *folder.parents) if one != Path(one.anchor)] or [folder]
    marked = (one for one in above if any((one / name).exists() for name in _MARKERS))
    return next(marked, above[: _MOST_ABOVE + 1][-1])


class LevelFiles:
    """The files of one level: its own, and the files that it names.

    `level` is the path as the game gave it.  `folder` contains the level, and all files must lie
    in `root`; both are paths without symbolic links.
    """

    def __init__(self, level: Path, root: str | Path | None) -> None:
        self.level = level
        self.folder = Path(os.path.realpath(level.parent))
        given = project_of(self.folder) if root is None else Path(root)
        self.root = Path(os.path.realpath(given))
        # An absolute name may lead through the links that the root itself leads through.
        self._roots = (self.root, Path(os.path.abspath(given)))
        self._found: dict[tuple[Path, str], Path] = {}
        if root is not None and not self.root.is_dir():
            raise ValueError(f"root={root!r} must be the folder of the level, or one above it")

    def read_level(self) -> bytes:
        """Return the content of the level's file, which must not lead out of the root either."""
        path = Path(os.path.realpath(self.level))
        if not path.is_relative_to(self.root):
            raise ValueError(f"{self.level} leads to {path}, {self._outside()}")
        return self.read(path)

    def find(self, name: object, folder: Path, what: str) -> Path:
        """Return the real path of a file that may be there, or raise TypeError or ValueError.

        `folder` is the real path where relative names begin, and `what` is for errors.
        """
        if not isinstance(name, str):
            raise TypeError(f"{what} has the name {name!r}; it must be text")
        if not name or "\0" in name or len(name) > _LONGEST_NAME:
            shown = name if len(name) < 100 else f"{name[:100]}..."
            raise ValueError(
                f"{what} has the name {shown!r}; it must name a file, relative to {folder}"
            )
        known = self._found.get((folder, name))
        if known is not None:
            return known
        name = name.replace("\\", "/")  # as on Windows
        # The path as written comes first: resolving it may mount a disk or call a server.
        written = Path(os.path.normpath(folder / name))
        if not any(written.is_relative_to(root) for root in self._roots):
            raise ValueError(f"{what} {name!r} is {self._outside()}")
        path = Path(os.path.realpath(folder / name))
        if not path.is_relative_to(self.root):
            raise ValueError(f"{what} {name!r} leads to {path}, {self._outside()}")
        self._found[folder, name] = path
        return path

    def read(self, path: Path) -> bytes:
        """Return the content of a file that was found.

        Raises
        ------
        FileNotFoundError
            The file does not exist.
        ValueError
            It is not a regular file, is too large, or cannot be read.
        """
        try:
            _require_regular(os.stat(path), path)  # opening a device can already do something
            flags = os.O_RDONLY
            for name in ("O_BINARY", "O_CLOEXEC", "O_NONBLOCK", "O_NOFOLLOW"):
                flags |= getattr(os, name, 0)  # no system has all of them
            with open(os.open(path, flags), "rb") as file:
                _require_regular(os.fstat(file.fileno()), path)
                data = b"".join(_pieces(file))
        except FileNotFoundError as error:
            is_level = path == Path(os.path.realpath(self.level))
            named = "" if is_level else f" (named by {self.level})"
            raise FileNotFoundError(
                errno.ENOENT, f"{os.strerror(errno.ENOENT)}{named}", str(path)
            ) from error
        except OSError as error:
            raise ValueError(f"{path} cannot be read: {error.strerror}") from error
        if len(data) > LARGEST_FILE:
            raise ValueError(f"{path} is larger than {LARGEST_FILE} bytes, the most that is read")
        return data

    def _outside(self) -> str:
        return (
            f"outside of {self.root}, the folder in or below which its files must lie; "
            "load(..., root=folder) allows another one"
        )


def _pieces(file: BinaryIO) -> Iterator[bytes]:
    """Yield a file piece by piece, up to the first piece that makes it too large."""
    n_bytes = 0
    while n_bytes <= LARGEST_FILE and (piece := file.read(_PIECE)):
        n_bytes += len(piece)
        yield piece


def _require_regular(status: os.stat_result, path: Path) -> None:
    if not stat.S_ISREG(status.st_mode):
        raise ValueError(f"{path} is no regular file, and nothing else is opened")
