"""Put the words of other engines into the index of the site, so that its search finds them.

The words and their sections are those of `words.md`.  Sphinx calls `add_entries` for each page.
After a build, ``python docs/make_index.py build/docs`` types some words into its search.
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import NamedTuple

DOCS = Path(__file__).parent
QUERIES = {  # what people type, and the section that they want
    "area2d": "events#sensors",
    "building placement": "cookbook_puzzles#placing-buildings",
    "collision layer": "filters",
    "coyote time": "platformers#characters",
    "delta time": "time#steps-of-one-length",
    "double jump": "platformers#moves",
    "fixed timestep": "time#steps-of-one-length",
    "hit-stop": "time#slow-motion-hit-stop-and-pauses",
    "hitbox": "attached#hit-boxes-and-hurt-boxes",
    "hurtbox": "attached#hit-boxes-and-hurt-boxes",
    "is_on_floor": "platformers#standing-on-something",
    "jump": "platformers#characters",
    "knockback": "platformers#knock-back",
    "line of sight": "cookbook_adventures#line-of-sight",
    "move_and_slide": "materials#the-four-responses",
    "moving platform": "platformers#lifts-and-conveyor-belts",
    "multiplayer": "rollback",
    "npc": "cookbook_adventures#people-who-walk-and-talk",
    "pathfinding": "cookbook_adventures#enemy-that-finds-its-way",
    "raycast": "queries",
    "slow motion": "time#slow-motion-hit-stop-and-pauses",
    "pressure plate": "events",
    "sokoban": "cookbook_puzzles#crates-that-glide",
    "teleport": "bodies#moving-by-velocity",
    "tilemap": "levels",
    "tunneling": "concepts#steps",
    "wall jump": "platformers#moves",
}


class Entry(NamedTuple):
    """A word, and the page and the section that explain it here."""

    word: str
    page: str
    section: str  # its anchor, or nothing for the whole page


def entries() -> list[Entry]:
    """Return the words of `words.md`, each with the first link of its row."""
    found = []
    for row in (DOCS / "words.md").read_text("utf-8").splitlines():
        link = re.search(r"\]\((\w+)\.md#?(.*?)\)", row)
        if row.startswith("| ") and link:
            words = row.split("|")[1].strip().split(", ")
            found += [Entry(word, *link.groups()) for word in words]
    return found


def add_entries(page: str, text: str) -> str:
    """Return a page with a main entry (!) of the index at each section that has words.

    The search lists other entries below every page that contains the word.
    """
    for entry in reversed(entries()):
        if entry.page != page:
            continue
        heading = next(
            (one for one in headings(text) if slug(one[1]) == entry.section or not entry.section),
            None,
        )
        if heading is None:
            raise ValueError(f"words.md: {page}.md has no section #{entry.section}")
        at = heading.end()
        text = f"{text[:at]}\n\n```{{index}} ! single: {entry.word}\n```{text[at:]}"
    return text


def headings(text: str) -> list[re.Match[str]]:
    """Return the headings of a page; comments in its programs are none."""
    masked = re.sub(r"^```.*?^```", lambda m: " " * len(m[0]), text, flags=re.M | re.S)
    return list(re.finditer(r"^#+ (.+)$", masked, re.M))


def slug(heading: str) -> str:
    """Return the anchor of a heading."""
    return re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-")


def find(words: dict[str, str], query: str) -> str | None:
    """Return the section to which the search of Sphinx leads first, of those with an entry.

    An entry is found by any half of it, and the shortest one is listed first.
    """
    fitting = [word for word in words if query in word and 2 * len(query) >= len(word)]
    return words[min(fitting, key=len)] if fitting else None


def read_built(folder: Path) -> dict[str, str]:
    """Return the main entries of a built site: word, and page with section."""
    text = (folder / "searchindex.js").read_text("utf-8")
    index = json.loads(text[text.index("{") : text.rindex("}") + 1])
    return {
        word: f"{index['docnames'][places[0][0]]}#{places[0][1]}"
        for word, places in index["indexentries"].items()
        if places[0][2]
    }


if __name__ == "__main__":
    built = read_built(Path(sys.argv[1]))
    pages = {query: (find(built, query) or "").partition("#")[0] for query in QUERIES}
    wrong = [query for query, place in QUERIES.items() if pages[query] != place.partition("#")[0]]
    print(
        f"{len(QUERIES) - len(wrong)} of {len(QUERIES)} queries lead to their page",
        *wrong,
        sep="\n",
    )
    sys.exit(bool(wrong))
