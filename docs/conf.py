"""How Sphinx makes the pages: python -m sphinx -W -b html docs build/docs."""

from __future__ import annotations

import importlib.metadata
import re

project = "ecs_collide"
author = copyright = "The ecs_collide authors"
release = importlib.metadata.version("ecs_collide")

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.viewcode", "numpydoc"]
html_theme = "furo"
html_title = f"ecs_collide {release}"
html_favicon = "pictures/icon.svg"
html_static_path = ["site.css"]
html_css_files = ["site.css"]
myst_heading_anchors = 3

default_role = "py:obj"  # a name in single quotes of a docstring is a link where it is known
suppress_warnings = ["ref.python"]  # several classes have a `time`: then the first is linked
add_module_names = False
autodoc_member_order = "bysource"
autodoc_type_aliases = {name: name for name in ("ArrayLike", "NDArray", "Vector", "Entry")}
numpydoc_show_class_members = False


def lead(text: str) -> str:
    """Lead links between the README, the changelog and the pages to where these are here."""
    text = text.replace("](../README.md)", "](tour.md)").replace(
        "](CHANGELOG.md)", "](changelog.md)"
    )
    return re.sub(r"\]\(docs/", "](", text)


def setup(app) -> None:
    """Tell Sphinx what to mend while it reads."""

    def read(app, page, source: list[str]) -> None:
        source[0] = lead(source[0])

    def include(app, path, parent, content: list[str]) -> None:
        content[0] = lead(content[0])

    def sign(app, what, name, obj, options, signature, returns):
        short = [
            text and re.sub(r"TypeAliasForwardRef\('(\w+)'\)", r"\1", text)
            for text in (signature, returns)
        ]
        return tuple(short)

    app.connect("source-read", read)
    app.connect("include-read", include)
    app.connect("autodoc-process-signature", sign)
