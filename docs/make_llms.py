"""Make what programs read that write games: llms.txt, a list of the pages, and llms-full.txt.

Sphinx writes both beside the pages.  The second is one text with the ideas, a first game, the
tutorial, the recipes and the tables of components, events and methods.
"""

from __future__ import annotations

import re
from pathlib import Path

DOCS = Path(__file__).parent
PARTS = {  # None for a whole page, or the headings of the sections that follow its beginning
    "concepts.md": None,
    "tutorial.md": None,
    "cookbook_shooters.md": None,
    "cookbook_platformers.md": None,
    "cookbook_adventures.md": None,
    "cookbook_balls.md": None,
    "cookbook_puzzles.md": None,
    "cookbook_every_game.md": None,
    "gravity.md": ["Single bodies"],
    "platformers.md": [
        "Lifts and conveyor belts",
        "Lifts on paths",
        "Slopes",
        "Water, wind and low gravity",
    ],
    "events.md": ["What comes when", "Handlers", "Sensors", "Where and how hard"],
    "troubleshooting.md": [],
    "reference/components.md": None,
    "reference/world.md": None,
    "reference/events.md": None,
    "reference/questions.md": None,
    "reference/extras.md": None,
}
HEAD = """\
# ecs_collide in one file

Exact swept-box collisions for games in Python written with esper 3.9 or newer, the entity
component system. Import it as `import ecs_collide as ec`. All programs below run as they stand.

Rules that are often broken:

- `Position` is the centre of a box, and `Extents` are half its sizes. `Extents.from_size(w, h)`
  takes whole sizes.
- The library moves the bodies: set `Velocity`, in units per second, and call
  `esper.process(dt)`. Never add the velocity to the position. Setting a `Position` is a
  teleport.
- A body that others may stop or push needs `Velocity` and one of `Slide`, `Deflect`, `Push`,
  `Stop`.
- Call `space = ec.install(...)` once, before the first `esper.process`. It adds the four systems.
- y grows upwards. `ec.install(gravity=(0, 900))` turns that round, for pygame.
- Queries see a body after its first step, or after `space.update()`. They take tuples:
  `place.xy`.
- Handlers with component types get `event.first` with the first type and `event.second` with
  the second.
- With pyglet, call `window.push_handlers(keys)` after the handlers of the window are defined.
"""


def title_and_summary(page: str) -> tuple[str, str]:
    """Return the heading of a page, and the first sentence below it."""
    text = re.sub(r"```.*?```", "", plain(page), flags=re.S)
    text = re.sub(r"\[([^\]]+)\]\([^)]*\)", r"\1", text)
    title = re.search(r"^# (.+)$", text, re.M)[1]
    first = re.search(r"(?<=\n\n)(?![#|!:\-<(\s])(.+?)(?=\n\n)", text, re.S)
    sentence = re.split(r"(?<=[.!?:])\s", " ".join(first[0].split()))[0] if first else ""
    return title, sentence.rstrip(":.")


def plain(text: str) -> str:
    """Return Markdown without pictures, links between pages, and what Sphinx makes of it.

    After a colon the text of a picture stays, because the sentence needs it.
    """
    text = re.sub(r"```\{.*?\n.*?```\n", "", text, flags=re.S)
    text = re.sub(r":\n+!\[([^\]]*)\]\([^)]*\)\n*", r": \1.\n\n", text)
    text = re.sub(r" \(\[more\]\([^)]*\)\)", "", text)
    text = re.sub(r"!\[[^\]]*\]\([^)]*\)\n*", "", text)
    return re.sub(r"\[([^\]]+)\]\((?!https?:)[^)]*\)", r"\1", text)


def read(name: str, headings: list[str] | None) -> str:
    """Return a part, its headings one level lower."""
    text = plain((DOCS / name).read_text("utf-8"))
    if headings is not None:
        beginning, *sections = re.split(r"^(?=## )", text, flags=re.M)
        by_heading = {section.partition("\n")[0][3:]: section for section in sections}
        text = "".join([beginning, *(by_heading[heading] for heading in headings)])
    pieces = re.split(r"(```.*?```)", text, flags=re.S)
    pieces[::2] = [re.sub(r"^#", "##", piece, flags=re.M) for piece in pieces[::2]]
    return "".join(pieces).strip()


def components() -> str:
    """Return the table of components."""
    page = (DOCS / "api_components.md").read_text("utf-8")
    table = re.search(r"^## At a glance\n(.*?)(?=^## )", page, re.M | re.S)[1]
    return f"## The components\n{plain(table)}".strip()


def make_full() -> str:
    """Return the text of llms-full.txt."""
    game = (DOCS / "tutorial" / "step_6.py").read_text("utf-8")
    whole = f"## The whole game of the tutorial\n\n```python\n{game}```"
    parts = {name: read(name, headings) for name, headings in PARTS.items()}
    parts["tutorial.md"] += f"\n\n{whole}"
    return "\n\n".join([HEAD.strip(), components(), *parts.values()]) + "\n"


def make_list(pages: list[str]) -> str:
    """Return the text of llms.txt: the title, the address and a sentence of each page."""
    lines = [
        "# ecs_collide",
        "",
        "> Exact swept-box collisions for games written with esper, the entity component system "
        "for Python.",
        "",
        "- [All that a game needs, in one file](llms-full.txt): the ideas, the tutorial, the "
        "recipes, and the tables of components, events and methods",
        "",
        "## Pages",
        "",
    ]
    for page in pages:
        title, summary = title_and_summary((DOCS / f"{page}.md").read_text("utf-8"))
        lines.append(f"- [{title}]({page}.html){f': {summary}' if summary else ''}")
    return "\n".join(lines) + "\n"
