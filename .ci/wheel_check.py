"""Check an installed ecs_collide: python .ci/wheel_check.py compiled|plain.

It must be the installed one, compiled or not as named; the first program of docs/concepts.md must
run; the mixed room of the tests must show its golden log, bit for bit; and the
self-check of `python -m ecs_collide` must hold.
"""

from __future__ import annotations

import os
import re
import shutil
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BINARY = (".so", ".pyd")


def main(life: str) -> None:
    """Raise unless the installation is what it should be."""
    compiled = {"compiled": True, "plain": False}[life]
    os.environ["ECS_COLLIDE_REQUIRE_COMPILED" if compiled else "ECS_COLLIDE_PURE_PYTHON"] = "1"
    import ecs_collide

    here = Path(ecs_collide.__file__).resolve()
    assert ROOT not in here.parents, f"{here} is the checkout's, not an installed one"
    assert compiled is ecs_collide.COMPILED
    # Kernels need the GIL: .ci/wheels.md says why.  Free-threaded Python turns it on for them.
    has_gil = getattr(sys, "_is_gil_enabled", lambda: True)()
    assert has_gil or not compiled, "the compiled kernels run without the GIL"
    package, checkout = here.parent, ROOT / "ecs_collide"
    files = {path.relative_to(package) for path in package.rglob("*")}
    wanted = {"_shared"}
    for path in checkout.rglob("*.py"):
        source = path.relative_to(checkout)
        assert source in files, f"{source} is missing"
        if re.search(
            r"^from ecs_collide\._kernel import .*\bcython\b", path.read_text("utf-8"), re.M
        ):
            wanted.add(".".join(source.with_suffix("").parts))
    binaries = [path for path in files if path.suffix in BINARY]
    assert [path.name.partition(".")[0] for path in binaries] == ["_kernels"] * compiled, binaries
    built = set()
    if compiled:
        from ecs_collide import _kernels

        built = set(_kernels.__doc__.splitlines()[0].split())
        assert built == wanted, wanted ^ built
    declarations = [*checkout.rglob("*.pxd"), *checkout.rglob("*.h")]
    assert {path.relative_to(checkout) for path in declarations} <= files
    assert not list(package.rglob("*.c"))
    assert (here.parent / "py.typed").is_file()

    program = re.search(
        r"```python\n(.*?)```", (ROOT / "docs/concepts.md").read_text("utf-8"), re.S
    )
    names = {"__name__": "__main__"}
    exec(compile(program[1], "concepts.md", "exec"), names)
    x, y = names["space"].position_of(names["ball"])  # after two seconds at 60 units a second
    assert abs(x - 120) < 1e-9
    assert y >= 4

    with tempfile.TemporaryDirectory() as folder:  # without the checkout's own package beside it
        copy = Path(folder, "tests")
        copy.mkdir()
        for name in ("__init__.py", "scenes.py", "golden.py", "golden.json"):
            shutil.copy(ROOT / "tests" / name, copy)
        sys.path.insert(0, folder)
        from tests import golden

        for dim in (2, 3):
            log = golden.run(dim, golden.PREFIX, compiled=compiled)
            golden.assert_golden(log, dim, golden.PREFIX, f"in the {life} wheel")
    from ecs_collide.__main__ import main as check_itself

    assert check_itself([]) == 0
    print(f"{life}: {ecs_collide.__version__} with {len(built)} compiled kernels is as golden")


if __name__ == "__main__":
    main(sys.argv[1])
