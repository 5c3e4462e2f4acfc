"""The version, the dependencies, and how an index shows the package."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import ecs_collide
from tests import build

ROOT = Path(build.__file__).parent.parent


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


def test_notes_of_a_release_are_its_part_of_the_changelog_with_absolute_links():
    url, version = build.read_url(ROOT / "pyproject.toml"), ecs_collide.__version__
    command = [sys.executable, ROOT / ".ci" / "release_notes.py"]

    new, last = (
        subprocess.run([*command, part], capture_output=True, text=True, check=True).stdout
        for part in ("Unreleased", version)
    )
    unknown = subprocess.run([*command, "9.9.9"], capture_output=True, text=True)

    assert new.startswith("### In short")
    assert "\n## " not in new
    assert f"]({url}/blob/vUnreleased/docs/gravity.md)" in new
    assert last.startswith("The first release.")
    assert unknown.stderr == "CHANGELOG.md has no heading ## [9.9.9]\n"


def test_version_is_that_of_the_citation_and_has_a_dated_entry_in_the_changelog():
    version = build.read_version(Path(ecs_collide.__file__).parent)
    changes = (ROOT / "CHANGELOG.md").read_text("utf-8")

    assert version == ecs_collide.__version__
    assert f"\nversion: {version}\n" in (ROOT / "CITATION.cff").read_text("utf-8")
    assert not re.search(r"^version\b", (ROOT / "pyproject.toml").read_text("utf-8"), re.M)
    assert re.search(rf"^## \[{re.escape(version)}\] - \d{{4}}-\d\d-\d\d$", changes, re.M)


def test_upper_bound_of_a_dependency_has_a_recorded_reason():
    lines = (ROOT / "pyproject.toml").read_text("utf-8").splitlines()
    bounded = [line for line in lines if re.search(r'"[\w\[\],-]+[^";]*<[^"]*"', line)]

    assert bounded, "pyglet has one"
    for line in bounded:
        assert re.search(r"\] # \w+", line), line


def test_every_path_that_starts_the_wheels_workflow_exists():
    workflow = (ROOT / ".github" / "workflows" / "wheels.yml").read_text("utf-8")

    paths = re.search(r"    paths:.*\n((?:      - .*\n)+)", workflow)[1]

    for path in re.findall(r"- (.*)", paths):
        assert list(ROOT.glob(path)), path
