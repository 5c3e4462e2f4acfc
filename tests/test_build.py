"""How the kernels are found, which of them are out of date, and how an index shows the package."""

from __future__ import annotations

import importlib
import os
import re
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path

import pytest

import ecs_collide
from ecs_collide import _backend
from tests import build

PACKAGE = Path(_backend.__file__).parent
ROOT = Path(build.__file__).parent.parent


@pytest.fixture
def package(tmp_path):
    """Two kernels, `upper` calls into `lower`, and binaries of both that are up to date."""
    texts = {
        "low/lower.py": "import cython\n",
        "low/lower_c.pxd": 'cdef extern from "game/low/vectors.h":\n    int lowest(int mask)\n',
        "low/vectors.h": '#include "inline.h"\n',
        "low/inline.h": "",
        "high/upper.py": "import cython\nfrom cython.cimports.game.low.lower_c import lowest\n",
        "plain.py": "",
        "low/lower_c" + EXTENSION_SUFFIXES[0]: "",
        "high/upper_c" + EXTENSION_SUFFIXES[0]: "",
    }
    package = tmp_path / "game"
    for name, text in texts.items():
        (package / name).parent.mkdir(parents=True, exist_ok=True)
        (package / name).write_text(text, "utf-8")
        os.utime(package / name, (1_000, 1_000))
    return package


def test_files_that_import_cython_are_the_kernels(package):
    assert [path.name for path in build.find_kernels(package)] == ["upper.py", "lower.py"]


def test_kernel_depends_on_headers_of_the_kernels_that_it_calls(package):
    found = build.find_dependencies(package / "high" / "upper.py", package)

    assert {path.name for path in found} == {
        "upper.py",
        "lower_c.pxd",
        "vectors.h",
        "inline.h",
    }


@pytest.mark.parametrize(
    ("edited", "stale"),
    [
        ("plain.py", []),
        ("high/upper.py", ["upper_c"]),
        ("low/lower.py", ["lower_c"]),
        ("low/lower_c.pxd", ["upper_c", "lower_c"]),
        ("low/inline.h", ["upper_c", "lower_c"]),
    ],
)
def test_binaries_older_than_what_they_are_compiled_from_are_stale(package, edited, stale):
    os.utime(package / edited, (2_000, 2_000))

    found = build.find_stale(package)

    assert found == [name + EXTENSION_SUFFIXES[0] for name in stale]


def test_every_kernel_is_found_and_depends_on_its_own_pxd():
    kernels = build.find_kernels(PACKAGE)

    found = {path for source in kernels for path in build.find_dependencies(source, PACKAGE)}

    assert set(kernels) <= found
    assert {*PACKAGE.rglob("*.pxd"), *PACKAGE.rglob("*.h")} <= found


PAGE = """# Title

[the guide](docs/guide.md#walls), [below](#below), [esper](https://esper.org) and
| ![a `box`](docs/box.png) text | [mail](mailto:me@example.org) |

```python
table[name](docs/guide.md)
```

![a wall](docs/wall.svg)
"""


def test_links_of_the_description_lead_to_the_tag_and_pictures_to_their_bytes():
    shown = build.with_absolute_links(PAGE, "https://host/me/it", "1.2.3")

    assert "[the guide](https://host/me/it/blob/v1.2.3/docs/guide.md#walls)" in shown
    assert "![a `box`](https://host/me/it/raw/v1.2.3/docs/box.png)" in shown
    assert "![a wall](https://host/me/it/raw/v1.2.3/docs/wall.svg)" in shown


def test_code_anchors_and_absolute_links_of_the_description_stay_as_they_are():
    shown = build.with_absolute_links(PAGE, "https://host/me/it", "1.2.3")

    for same in ("table[name](docs/guide.md)", "[below](#below)", "[esper](https://esper.org)"):
        assert same in shown
    assert "[mail](mailto:me@example.org)" in shown


def test_description_of_the_package_has_absolute_links_only():
    readme = (ROOT / "README.md").read_text("utf-8")
    url = build.read_url(ROOT / "pyproject.toml")

    shown = build.with_absolute_links(readme, url, ecs_collide.__version__)

    links = re.findall(r"\]\(([^)]+)\)", re.sub(r"```.*?```", "", shown, flags=re.S))
    assert len(links) > 20
    for link in links:
        assert link.startswith(("https://", "#")), link
    own = [link.removeprefix(f"{url}/") for link in links if link.startswith(url)]
    assert len(own) > 20
    for link in own:
        path = re.fullmatch(rf"(?:blob|raw)/v{ecs_collide.__version__}/([^#]+)(?:#.*)?", link)
        assert (ROOT / path[1]).is_file(), link


def test_version_is_stated_once_and_has_a_dated_entry_in_the_changelog():
    version = build.read_version(Path(ecs_collide.__file__).parent)
    changes = (ROOT / "CHANGELOG.md").read_text("utf-8")

    assert version == ecs_collide.__version__
    assert not re.search(r"^version\b", (ROOT / "pyproject.toml").read_text("utf-8"), re.M)
    assert re.search(rf"^## \[{re.escape(version)}\] - \d{{4}}-\d\d-\d\d$", changes, re.M)


def test_upper_bound_of_a_dependency_has_a_recorded_reason():
    lines = (ROOT / "pyproject.toml").read_text("utf-8").splitlines()
    bounded = [line for line in lines if re.search(r'"[\w\[\],-]+[^";]*<[^"]*"', line)]

    assert bounded, "pyglet has one"
    for line in bounded:
        assert re.search(r"\] # \w+", line), line


def test_constants_that_are_indices_fit_into_32_bits():
    n_found = 0
    for source in build.find_kernels(PACKAGE):
        name = ".".join(source.relative_to(PACKAGE.parent).with_suffix("").parts)
        module = importlib.import_module(name)
        text = source.read_text("utf-8")
        for constant in re.findall(r"\b(\w+)=cython\.(?:Py_ssize_t|int)\b", text):
            n_found += 1
            assert -(2**31) <= getattr(module, constant) < 2**31, f"{name}.{constant}"
    assert n_found > 10


def test_every_path_that_starts_the_wheels_workflow_exists():
    workflow = (ROOT / ".github" / "workflows" / "wheels.yml").read_text("utf-8")

    paths = re.search(r"    paths:.*\n((?:      - .*\n)+)", workflow)[1]

    for path in re.findall(r"- (.*)", paths):
        assert list(ROOT.glob(path)), path
