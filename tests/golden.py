"""The golden logs: what the mixed room shows, bit for bit, wherever it runs.

python -m tests.golden            compare, compiled and as pure Python
python -m tests.golden --write    write them, if both versions agree
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from unittest import mock

from ecs_collide._kernel import backend
from tests.scenes import another_world, mixed_log

PREFIX = 100  # steps that are cheap enough for everywhere
WHOLE = 2000
FILE = Path(__file__).with_suffix(".json")

WHAT_TO_DO = """
The mixed room shows something else than its golden log: {why}.

The log has the bits of all positions, sizes, velocities and events, so any change of a step
shows here, even in a last bit.  If only compiled or pure kernels, some interpreters, hash seeds,
histories or settings differ, the library has broken its promise of sameness: find the cause, and
do not touch the golden logs.  Write them again only when all agree with each other, and either a
step was changed on purpose (then docs/ and CHANGELOG.md describe it) or tests/scenes.py has
another room:

    python -m tests.golden --write

needs the compiled kernels, and refuses if compiled and plain disagree.
"""


def name_of(dim: int, n_steps: int) -> str:
    return f"{dim}D after {n_steps} steps"


def expected(dim: int, n_steps: int) -> str:
    """Return the golden log."""
    return json.loads(FILE.read_text("utf-8"))[name_of(dim, n_steps)]


def assert_golden(log: str, dim: int, n_steps: int, why: str) -> None:
    """Compare a log with the golden one; tell what to do where it differs."""
    golden = expected(dim, n_steps)
    assert log == golden, WHAT_TO_DO.format(why=why) + f"\n{log}\nin place of\n{golden}"


def run(dim: int, n_steps: int, *, compiled: bool) -> str:
    """Run the room in a separate world, on compiled or pure kernels."""
    kernels = backend.load(compiled=compiled)
    with mock.patch.object(backend, "kernels", kernels), another_world("golden"):
        return mixed_log(n_steps, dim=dim)


def main() -> int:
    logs = {}
    for dim in (2, 3):
        for n_steps in (PREFIX, WHOLE):
            name = name_of(dim, n_steps)
            logs[name] = run(dim, n_steps, compiled=True)
            plain = run(dim, n_steps, compiled=False)
            if plain != logs[name]:
                print(f"{name}: compiled and plain disagree:\n{logs[name]}\n{plain}")
                return 1
    if "--write" in sys.argv[1:]:
        FILE.write_text(json.dumps(logs, indent=4) + "\n", "utf-8")
        print(f"written: {FILE.name}")
        return 0
    same = logs == json.loads(FILE.read_text("utf-8"))
    print("as golden" if same else WHAT_TO_DO.format(why="compiled and as pure Python"))
    return 0 if same else 1


if __name__ == "__main__":
    sys.exit(main())
