"""Make the wheel that the front page of the site loads: ``python docs/make_wheel.py FOLDER``."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

ROOT = Path(__file__).parent.parent
NEEDED = ("README.md", "LICENSE", "pyproject.toml", "*.py")


def make_wheel(folder: Path) -> Path:
    """Write a wheel in pure Python into a folder, and return it.

    It is built from a copy: setuptools would put what it finds in an older ``build/`` into it.
    """
    shutil.rmtree(folder, ignore_errors=True)
    with TemporaryDirectory() as copy:
        left_out = shutil.ignore_patterns("__pycache__", "*.so", "*.pyd")
        shutil.copytree(ROOT / "ecs_collide", Path(copy, "ecs_collide"), ignore=left_out)
        for pattern in NEEDED:
            for path in ROOT.glob(pattern):
                shutil.copy(path, copy)
        subprocess.run(
            [sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "-w", folder, copy],
            env={**os.environ, "ECS_COLLIDE_BUILD": "pure"},
            check=True,
        )
    (wheel,) = folder.glob("*-none-any.whl")
    return wheel


if __name__ == "__main__":
    print(make_wheel(Path(sys.argv[1])))
