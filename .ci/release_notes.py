"""Print what the changelog says of a version, with absolute links: .ci/release_notes.py 1.2.3."""

from __future__ import annotations

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from setup import read_url, with_absolute_links  # noqa: E402

if __name__ == "__main__":
    version = sys.argv[1]
    changelog = (ROOT / "CHANGELOG.md").read_text("utf-8")
    _, found, rest = changelog.partition(f"\n## [{version}]")
    if not found:
        raise SystemExit(f"CHANGELOG.md has no heading ## [{version}]")
    notes = re.split(r"^## \[", rest.partition("\n")[2], maxsplit=1, flags=re.M)[0]
    print(with_absolute_links(notes, read_url(ROOT / "pyproject.toml"), version).strip())
