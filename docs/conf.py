"""How Sphinx makes the pages: python -m sphinx -W -b html docs build/docs."""

from __future__ import annotations

import html
import re
import sys
from pathlib import Path

import imagesize
from docutils import nodes
from sphinx.addnodes import pending_xref

import ecs_collide

sys.path += [str(Path(__file__).parent), str(Path(__file__).parents[1])]
from make_index import add_entries
from make_llms import make_full, make_list
from make_reference import expand
from make_wheel import make_wheel

from docs.draw_recipes import RECIPES

project = "ecs_collide"
author = copyright = "The ecs_collide authors"
release = ecs_collide.__version__

SOURCES = "https://github.com/ecs-collide/ecs_collide"

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.viewcode",
    "numpydoc",
    "sphinx_copybutton",
]
exclude_patterns = ["reference/*"]
html_theme = "furo"
html_theme_options = {  # an eye above each page leads to its source, and the foot to the library
    "source_repository": f"{SOURCES}/",
    "source_branch": "main",
    "source_directory": "docs/",
    "footer_icons": [{"name": "sources", "url": SOURCES, "html": "sources", "class": ""}],
}
html_title = f"ecs_collide {release}"
html_favicon = "pictures/icon.svg"
wheel = make_wheel(Path(__file__).parent.parent / "build" / "play")
html_static_path = ["site.css", "stills", "recordings", "../ecs_collide/recording/page.js"]
html_static_path += ["play", "drawing.py", "recipe.py"]
html_static_path += ["../demos/examples/platformer_pyglet.py", str(wheel)]
html_css_files = ["site.css"]
html_domain_indices = False  # a list of modules: all names but the extras are in ecs_collide
pygments_dark_style = "github-dark"  # furo's own underlines every module, as if it were a link
myst_heading_anchors = 3
linkcheck_anchors_ignore_for_url = [rf"{SOURCES}/blob/"]  # a script of the host makes these

default_role = "py:obj"  # a name in single quotes of a docstring is a link where it is known
suppress_warnings = ["ref.python"]  # several classes have a `time`: then the first is linked
add_module_names = False
python_maximum_signature_line_length = 88
autodoc_member_order = "bysource"
autodoc_type_aliases = {name: name for name in ("ArrayLike", "NDArray", "Vector", "Entry")}
autosummary_generate = False  # tables of what is on the page already
numpydoc_show_class_members = False

PREVIEW = "pictures/tour.gif"
TEXT_WIDTH = 736  # pixels, of a page on a wide screen
ANY, OF = r"(?:~?typing\.)?Any", r"(?:~?numpy\.)?"
ARRAY = rf"{OF}ndarray\[tuple\[{ANY}, \.\.\.\], {OF}dtype\[([^\[\]]+)\]\]"
NAMED = re.compile(r"(?:ec\.|ecs_collide\.)?([sS]pace\.)?([A-Za-z]\w*)(?:\(.*\))?")
SHORT = {  # what a signature says: what stands in it
    r"TypeAliasForwardRef\('(\w+)'\)": r"\1",
    ARRAY: r"NDArray[\1]",
    r"<class '[\w.]+\.(\w+)'>": r"\1",
    r"<factory>": "...",
    r"\bEllipsis\b": "...",
    r"\b_Vector\b": "Vector",
    r"\b(?:Floats|Doubles)\b": "NDArray[float64]",
    r"\b(?:Integers|Longs)\b": "NDArray[int64]",
    r"NDArray\[np\.": "NDArray[",
    r"~?(?:typing|collections\.abc|numpy\.typing|numpy)\.": "",
    r"Sequence\[float\] \| NDArray\[\w+\]": "VectorLike",
    r"type \| tuple\[type, \.\.\.\] \| ~?[\w.]*Filter \| Callable\[.*?, object\] \| None": "Which",
    # What is the library's own: fields, and a first argument.
    r", _\w+: \w+(?:\[\w+\])?(?=[,)])": "",
    r"(?<=\()\w+: [~\w.]*\b_[A-Z]\w*, ": "",
}


def lead(text: str) -> str:
    """Lead links between the README, the changelog and the pages to where these are here.

    A code host shows the pages of reference/; the site has those that Sphinx makes.
    """
    text = re.sub(r"\]\(\.\./README\.md(#[\w-]*)?\)", r"](index.md)", text)
    text = re.sub(r"\]\((?:docs/)?reference/(\w+)\.md\)", r"](api_\1.md)", text)
    text = re.sub(r"\]\((CHANGELOG|CONTRIBUTING)\.md\)", lambda m: m[0].lower(), text)
    text = re.sub(
        r"\]\((?:\.\./)?(tests|demos|benchmarks|ecs_collide)/", rf"]({SOURCES}/blob/main/\1/", text
    )
    return re.sub(r"\]\(docs/", "](", text)


def play(text: str) -> str:
    """Let readers run a recipe below its picture, and play its recording where there is one."""

    def below(match: re.Match[str]) -> str:
        left, bottom, right, top = zip(*RECIPES[match[2]].views, strict=True)
        view = f"{min(left)} {min(bottom)} {max(right)} {max(top)}"
        button = "<button>Run the program below here: click to load Python, about 10 MB</button>"
        run = f'{match[0]}\n\n<div class="play" data-view="{view}">{button}</div>\n'
        if not (Path(__file__).parent / "recordings" / f"{match[1]}.html").exists():
            return run
        return (
            f"{run}\n<details><summary>Play the run, in the debug view</summary>\n"
            f'<iframe class="recording" src="_static/{match[1]}.html" loading="lazy" '
            'title="A recording of the program below"></iframe>\n</details>\n'
        )

    return re.sub(r"!\[[^]]*\]\(pictures/(recipe_(\w+))\.svg\)", below, text)


def shorten(text: str | None) -> str | None:
    """Say the types of a signature as one would."""
    for long, short in SHORT.items() if text else ():
        text = re.sub(long, short, text)
    return text


def link_names(app, doctree) -> None:
    """Link each public name where a section, or a row of a table, names it first."""
    in_reference = app.env.docname.startswith("api")
    linked: set[tuple[int, str]] = set()
    for literal in list(doctree.findall(nodes.literal)):
        found = NAMED.fullmatch(literal.astext())
        section, above = literal, literal.parent
        while section.parent is not None and not isinstance(section, nodes.section | nodes.row):
            section = section.parent
        if not found or isinstance(above, nodes.reference | pending_xref | nodes.title):
            continue
        if in_reference and not isinstance(section, nodes.row):
            continue  # docstrings have links
        of_space, name = found.groups()
        owner = ecs_collide.Space if of_space else ecs_collide
        if not hasattr(owner, name) or not (of_space or name in ecs_collide.__all__):
            continue
        target = f"ecs_collide.Space.{name}" if of_space else f"ecs_collide.{name}"
        if (id(section), target) in linked:
            continue
        linked.add((id(section), target))
        link = pending_xref(
            "", refdomain="py", reftype="obj", reftarget=target, refexplicit=True, refwarn=False
        )
        above.replace(literal, link)
        link += literal


def open_large(app, doctree) -> None:
    """Link each picture that is wider than the text to itself in full size."""
    for picture in doctree.findall(nodes.image):
        width, _ = imagesize.get(app.srcdir / picture["uri"])
        if width > TEXT_WIDTH:
            picture["width"] = "100%"  # what is scaled is linked


def describe(app, page, template, context, doctree) -> None:
    """Give each page its first paragraph as a description, and a picture for links to it."""
    first = doctree and next(doctree.findall(nodes.paragraph), None)
    if first is not None:
        words = html.escape(" ".join(first.astext().split()))
        context["metatags"] = context.get("metatags", "") + (
            f'<meta name="description" content="{words}">\n'
            f'<meta property="og:title" content="{html.escape(context["title"])}">\n'
            f'<meta property="og:description" content="{words}">\n'
            f'<meta property="og:image" content="{SOURCES}/raw/main/docs/{PREVIEW}">\n'
        )


def offer_game(app, page, template, context, doctree) -> None:
    """Add the script that plays to the front page and to the recipes."""
    if page == "index" or page.startswith("cookbook_"):
        app.add_js_file("play.js", loading_method="defer", **{"data-wheel": wheel.name})


def write_for_programs(app, exception) -> None:
    """Write llms.txt and llms-full.txt beside the pages."""
    if exception is None and app.builder.format == "html":
        out = Path(app.outdir)
        includes = app.env.toctree_includes["index"]
        pages = [page for page in includes if page not in ("changelog", "contributing")]
        (out / "llms.txt").write_text(make_list(pages), "utf-8")
        (out / "llms-full.txt").write_text(make_full(), "utf-8")


def setup(app) -> None:
    """Tell Sphinx what to mend while it reads."""

    def read(app, page, source: list[str]) -> None:
        source[0] = play(lead(expand(add_entries(page, source[0]))))

    def include(app, path, parent, content: list[str]) -> None:
        content[0] = lead(content[0])

    def sign(app, what, name, obj, options, signature, returns):
        if signature:  # of `BoxQueries`, in the words of the class that inherits it
            of_tree = name.startswith("ecs_collide.AABBTree.")
            which = "Callable[[int], object] | None" if of_tree else "Which"
            signature = re.sub(r"~?(?:[\w.]*\.)?_Filter \| None", which, signature)
        return shorten(signature), shorten(returns)

    def skip(app, what, name, obj, skipped, options):
        """Leave out "Alias for field number 0": the docstring of the class has the fields."""
        return True if type(obj).__name__ == "_tuplegetter" else None

    app.connect("source-read", read)
    app.connect("include-read", include)
    app.connect("autodoc-process-signature", sign)
    app.connect("autodoc-skip-member", skip)
    app.connect("doctree-read", link_names)
    app.connect("doctree-read", open_large)
    app.connect("html-page-context", describe)
    app.connect("html-page-context", offer_game)
    app.connect("build-finished", write_for_programs)
