"""The list of demos: files of `demos`, and its folders with a file `game.py`; and of examples."""

from __future__ import annotations

import ast
import importlib
from pathlib import Path
from types import ModuleType

FOLDER = Path(__file__).parent.parent
SHOWN = (  # the best first
    "survivors",
    "tunnelling",
    "platformer",
    "rooms",
    "rollback",
    "ten_thousand",
    "breakout",
    "boxes3d",
)
EXAMPLES = FOLDER / "examples"  # games of one file, to copy


def names() -> list[str]:
    """Return the names of all demos, in the order of the menu."""
    files = {path.stem for path in FOLDER.glob("*.py") if not path.stem.startswith("_")}
    files |= {path.parent.name for path in FOLDER.glob("*/game.py")}
    return [*(name for name in SHOWN if name in files), *sorted(files - {*SHOWN})]


def examples() -> list[str]:
    """Return the names of the games to copy."""
    return sorted(path.stem for path in EXAMPLES.glob("*.py") if not path.stem.startswith("_"))


def shown() -> list[str]:
    """Return the names in the menu: demos, and then games to copy."""
    return [*names(), *examples()]


def source(name: str) -> Path:
    """Return the file of a demo that has its function `build`, or of an example its `main`."""
    paths = (FOLDER / name / "game.py", FOLDER / f"{name}.py", EXAMPLES / f"{name}.py")
    return next((path for path in paths if path.exists()), paths[1])


def load(name: str) -> ModuleType:
    """Import a demo or an example."""
    path = source(name).relative_to(FOLDER).with_suffix("")
    return importlib.import_module(".".join(["demos", *path.parts]))


def summary(name: str) -> str:
    """Return the first line of the docstring of a demo or an example, without importing it."""
    text = source(name).read_text(encoding="utf-8")
    return (ast.get_docstring(ast.parse(text)) or "").partition("\n")[0]
