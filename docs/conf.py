"""How Sphinx makes the pages: python -m sphinx -W -b html docs build/docs."""

from __future__ import annotations

import importlib.metadata
import re

project = "ecs_collide"
author = copyright = "The ecs_collide authors"
release = importlib.metadata.version("ecs_collide")

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.viewcode",
    "numpydoc",
]
html_theme = "furo"
html_title = f"ecs_collide {release}"
html_favicon = "pictures/icon.svg"
html_static_path = ["site.css"]
html_css_files = ["site.css"]
myst_heading_anchors = 3

default_role = "py:obj"  # a name in single quotes of a docstring is a link where it is known
suppress_warnings = ["ref.python"]  # several classes have a `time`: then the first is linked
add_module_names = False
python_maximum_signature_line_length = 88
autodoc_member_order = "bysource"
autodoc_type_aliases = {name: name for name in ("ArrayLike", "NDArray", "Vector", "Entry")}
autosummary_generate = False  # tables of what is on the page already
numpydoc_show_class_members = False

ANY, OF = r"(?:~?typing\.)?Any", r"(?:~?numpy\.)?"
ARRAY = rf"{OF}ndarray\[tuple\[{ANY}, \.\.\.\], {OF}dtype\[([^\[\]]+)\]\]"
SHORT = {  # what a signature says: what stands in it
    r"TypeAliasForwardRef\('(\w+)'\)": r"\1",
    ARRAY: r"NDArray[\1]",
    r"<class '[\w.]+\.(\w+)'>": r"\1",
    r"<factory>": "...",
    r"~?(?:typing|collections\.abc|numpy\.typing|numpy)\.": "",
    r"Sequence\[float\] \| NDArray\[\w+\]": "VectorLike",
    r"type \| tuple\[type, \.\.\.\] \| Callable\[\[int\], object\] \| None": "Which",
    r", _\w+: \w+(?=[,)])|(?<=\()\w+: _\w+, ": "",  # what is the library's own
}


def lead(text: str) -> str:
    """Lead links between the README, the changelog and the pages to where these are here."""
    text = text.replace("](../README.md)", "](tour.md)").replace(
        "](CHANGELOG.md)", "](changelog.md)"
    )
    return re.sub(r"\]\(docs/", "](", text)


def shorten(text: str | None) -> str | None:
    """Say the types of a signature as one would."""
    for long, short in SHORT.items() if text else ():
        text = re.sub(long, short, text)
    return text


def setup(app) -> None:
    """Tell Sphinx what to mend while it reads."""

    def read(app, page, source: list[str]) -> None:
        source[0] = lead(source[0])

    def include(app, path, parent, content: list[str]) -> None:
        content[0] = lead(content[0])

    def sign(app, what, name, obj, options, signature, returns):
        return shorten(signature), shorten(returns)

    app.connect("source-read", read)
    app.connect("include-read", include)
    app.connect("autodoc-process-signature", sign)
