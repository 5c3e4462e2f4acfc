"""What is printed and written: tables of all figures, and a page with a picture for each scene."""

from __future__ import annotations

import itertools
import os
import platform
import re
from datetime import date
from math import ceil, floor, log, log10
from pathlib import Path
from typing import Any

from benchmarks import measure
from benchmarks.competitors import ENGINES, FINDERS, OURS, PRESSERS, installed
from benchmarks.measure import Race, Result
from docs.drawing import FAINT, FIRST, INK, SECOND, Picture

MEASURED = measure.ROOT / "benchmarks" / "measured.md"
TEMPLATE = MEASURED.with_name("page.md")
PAGE = measure.ROOT / "docs" / "benchmarks.md"
PICTURES = measure.ROOT / "docs" / "pictures"

INTRODUCTION = """\
Milliseconds for one frame; less is better. *Ratio* is how many times as long as
ecs_collide it takes, by the means. Every competitor runs in a separate process,
on one thread, in turn, on the same frames; *mean* and *median* are of the
quietest run, *worst* is the slowest frame, each frame counting with its least time over
the runs.
"""

TREE = """\
A frame brings all boxes to where they are now and asks for all pairs that share
a point. All find the same pairs, which is checked in every frame, or the table says so. Peers
are spared what a game would not need: they give their pairs as they have them, sorted or not.
"""

ENGINE = """\
A whole game step: boxes bounce elastically in a closed arena, without rotation,
gravity or friction; positions are read back and the collisions of the step taken.
For ecs_collide that is `esper.process`, with the components written, and `space.collision_array`.
*In a game*: the median of steps with other work between them, which writes 4 MB and runs other
code, the least of the runs.
"""

CROWD = """\
Boxes of 12 units press on each other: they walk at 60 units a second to one point (*swarm*), to a
moving one (*chase*), against each other in one row (*rows*), down a corridor that narrows (*jam*),
fall into a pit by the gravity of their engine (*heap*), or all but one ignore each other and walk
to that one (*one against many*). Sleep is off in all engines, or on in all (*with sleep*). Two
seconds in which the crowd forms are not counted, two more are. Velocities are set from outside,
which the clock does not see, and positions are read back. *Sweeps a pair*: swept tests for each
candidate pair. *Overlap*: how deep boxes are in each other that are, mean and most, at the end, in
units. *Soft* is `Separate(60)`.
"""


def field(races: list[Race]) -> str:
    """Return who competes, and how, as Markdown: the first paragraph each says of itself."""
    present = {result.name for race in races for result in race.finished}
    fields: dict[str, dict[str, Any]] = {"tree": FINDERS, "engine": ENGINES, "crowd": PRESSERS}
    by_name = fields[races[0].kind]
    lines = []
    for name in (name for name in by_name if name in present):
        competitor = by_name[name]
        said = " ".join((competitor.__doc__ or "").partition("\n\n")[0].split())
        lines.append(f"- **{name}**: {said.replace('`', '')}")
    return "\n".join(lines) + "\n"


def heading(race: Race) -> str:
    """Return what a table is about."""
    if race.kind == "engine":
        return f"Whole engine, arena, {race.n:,} bodies"
    if race.kind == "crowd":
        return f"Crowd, {race.scene}, {race.n:,} bodies"
    return f"Pairs, {race.scene}, {race.dim}D, n = {race.n:,}"


def table(race: Race) -> str:
    """Return one race as Markdown."""
    head = ["", "mean", "median", "worst", "ratio"]
    head += {
        "engine": ["collisions a step", "energy left", "in a game", "ratio in a game"],
        "crowd": ["sweeps a pair", "overlap"],
        "tree": ["frames"],
    }[race.kind]
    lines = [f"### {heading(race)}", "", row(head), row(["---"] + ["---:"] * (len(head) - 1))]
    ours = next((result.mean for result in race.finished if result.name == OURS), None)
    for result in race.finished:
        cells = [named(result), *map(figure, (result.mean, result.median, result.worst))]
        cells.append("" if result.name == OURS or not ours else figure(result.mean / ours))
        if race.kind == "crowd":
            is_counted = result.name.startswith(OURS)
            cells += [f"{result.notes['sweeps']:.1f}" if is_counted else ""]
            cells += [f"{result.notes['depth']:.2f}, {result.notes['deepest']:.2f}"]
        elif race.kind == "engine":
            cells += [f"{result.notes['collisions']:.0f}", f"{result.notes['energy']:.1%}"]
            in_game = [each.notes["in_game"] for each in (result, *race.finished[:1])]
            cells += [figure(in_game[0])]
            cells += ["" if result.name == OURS else figure(in_game[0] / in_game[1])]
        else:
            cells.append(str(len(result.quietest)))
        lines.append(row(cells))
    left_out = [f"{result.name} ({result.missing})" for result in race.results if result.missing]
    if left_out:
        lines += ["", "Left out: " + "; ".join(left_out) + "."]
    if race.wrong:
        lines += ["", f"**Wrong: {race.wrong}.**"]
    return "\n".join(lines) + "\n"


def named(result: Result) -> str:
    """Return the name of a competitor and its version."""
    if result.name.startswith(OURS):
        return f"**{result.name}**"
    return f"{result.name} {result.version}"


def steadiness(races: list[Race]) -> str:
    """Return how this library fares from scene to scene and size to size, as Markdown.

    *Against gas*: how many times as long as the gas of so many bodies takes.
    *Against a tenth*: how many times as long as a tenth of the bodies take.
    """
    ours = {
        (race.scene, race.dim, race.n): result
        for race in races
        if race.kind == "tree"
        for result in race.finished
        if result.name == OURS
    }
    lines = []
    for (scene, dim, n), result in ours.items():
        gas, tenth = ours.get(("gas", dim, n)), ours.get((scene, dim, n // 10))
        cells = [f"{scene}, {dim}D", f"{n:,}", figure(result.mean)]
        cells.append(f"{result.worst / result.mean:.2f}")
        cells += [f"{result.mean / other.mean:.2f}" if other else "" for other in (gas, tenth)]
        lines.append(row(cells))
    if not lines:
        return ""
    head = ["scene", "n", "mean, ms", "worst / mean", "against gas", "against a tenth"]
    head = [row(head), row(["---"] + ["---:"] * (len(head) - 1))]
    return "\n".join([f"### {OURS} from scene to scene", "", *head, *lines]) + "\n"


def costs(figures: list[tuple[str, float, str]]) -> str:
    """Return the costs as Markdown; may be empty."""
    if not figures:
        return ""
    lines = [row([what, f"{figure(value)} {unit}".strip()]) for what, value, unit in figures]
    return "\n".join(["### Other costs", "", row(["", ""]), row(["---", "---:"]), *lines]) + "\n"


def tables(races: list[Race], figures: list[tuple[str, float, str]], command: str) -> str:
    """Return all that was measured, as Markdown."""
    parts = ["# All figures of the benchmarks\n", surroundings(command), INTRODUCTION]
    trees = [race for race in races if race.kind == "tree"]
    peered = [race for race in trees if len(race.results) > 1]
    engines = [race for race in races if race.kind == "engine"]
    crowds = [race for race in races if race.kind == "crowd"]
    if engines:
        parts += ["## Whole engines\n", ENGINE, field(engines), *map(table, engines)]
    if trees:
        parts += [
            "## Finding the pairs\n",
            TREE,
            field(trees),
            *map(table, peered),
            steadiness(trees),
        ]
    if crowds:
        parts += ["## Crowds\n", CROWD, field(crowds), *map(table, crowds)]
    if figures:
        parts += ["## What else is promised\n", costs(figures)]
    return "\n".join(part for part in parts if part)


def renewed(text: str, races: list[Race]) -> str:
    """Return the tables with those of some races replaced, or added behind those of their kind.

    Each says when it was measured.
    """
    for race in races:
        block = f"{table(race)}\nMeasured on {date.today().isoformat()}.\n\n"
        kind = re.escape(heading(race).partition(",")[0])
        blocks = list(re.finditer(rf"^### {kind}, .*?(?=^#|\Z)", text, re.M | re.S))
        same = [found for found in blocks if found[0].startswith(f"### {heading(race)}\n")]
        start, end = same[0].span() if same else (blocks[-1].end(), blocks[-1].end())
        text = text[:start] + block + text[end:]
    return text


def surroundings(command: str) -> str:
    """Return when, where and how it was measured."""
    import numpy

    import ecs_collide

    implementation = "compiled" if ecs_collide.COMPILED else "plain Python"
    return (
        f"Measured on {date.today().isoformat()}: {processor()}, {os.cpu_count()} cores, "
        f"{platform.system()}, Python {platform.python_version()}, numpy {numpy.__version__}, "
        f"esper {installed('esper')}, ecs_collide {implementation}.\nTo get it again: `{command}`\n"
    )


def processor() -> str:
    """Return the name of the processor, as far as the system tells."""
    try:
        text = Path("/proc/cpuinfo").read_text("utf-8")
    except OSError:
        return platform.processor() or platform.machine()
    names = [line.partition(":")[2] for line in text.splitlines() if line.startswith("model name")]
    return names[0].strip() if names else platform.machine()


def row(cells: list[str]) -> str:
    """Return a row of a table."""
    return f"| {' | '.join(cells)} |"


def figure(value: float) -> str:
    """Return a figure with three digits that count."""
    if value >= 100.0:
        return f"{value:,.0f}"
    return f"{value:.{2 if value < 10.0 else 1}f}" if value >= 1.0 else f"{value:.3f}"


Key = tuple[str, str, str]
DEPENDENT = ("the same", "of them", "of these", "the game's own part")
COSTS = "Other costs"


def read(text: str) -> dict[Key, str]:
    """Return the figures of the tables by heading, row and column, as they are written.

    A cost that begins with "the same" or the like is named after the row that it refers to.
    """
    found: dict[Key, str] = {}
    heading, columns, referred = "", [], ""
    for line in text.splitlines():
        if line.startswith("#"):
            heading, columns = line.lstrip("# "), []
        elif line.startswith("|") and not columns:
            columns = [cell.strip() for cell in line.split("|")[2:-1]]
        elif line.startswith("| ") and "---" not in line:
            name, *cells = (cell.strip(" *") for cell in line.split("|")[1:-1])
            name = re.sub(r" \d+(\.\d+)+$", "", name)  # the version
            if heading == COSTS:
                dependent = name.startswith(DEPENDENT)
                referred = referred if dependent else name
                name = f"{referred}; {name}" if dependent else name
            for column, cell in zip(columns, cells, strict=True):
                if re.match(r"[\d,.]+", cell):
                    found[heading, name, column] = cell
    return found


def number(cell: str) -> float:
    """Return the number that a cell begins with."""
    return float(re.match(r"[\d,.]+", cell)[0].replace(",", ""))


NAMED = re.compile(r"(Whole engine|Crowd|Pairs), ([\w -]+?)(, \dD)?, (?:n = )?([\d,]+)(?: bodies)?")
Scene = dict[str, dict[int, float]]  # milliseconds by competitor and number of bodies


def scenes_of(found: dict[Key, str]) -> dict[str, dict[str, Scene]]:
    """Return the means of each scene, by the kind of race and the name of the scene."""
    kinds: dict[str, dict[str, Scene]] = {"Whole engine": {}, "Crowd": {}, "Pairs": {}}
    for (heading, who, column), cell in found.items():
        named = NAMED.fullmatch(heading)
        if named and column == "mean":
            kind, scene, dim, n = named.groups()
            of_scene = kinds[kind].setdefault(scene + (dim or ""), {})
            of_scene.setdefault(who, {})[int(n.replace(",", ""))] = number(cell)
    return kinds


def picture_name(kind: str, scene: str) -> str:
    """Return the name of the file that shows a scene."""
    words = re.sub(r"\W+", "_", f"{kind.split()[-1]} {scene}".lower())
    return f"benchmark_{words}.svg"


def colour_of(who: str) -> str:
    """Return the colour of a competitor: one for this library, one for each other engine."""
    if who.startswith(OURS):
        return FIRST
    return SECOND if who.startswith("pymunk") else INK


def draw_dots(scene: Scene, title: str) -> Picture:
    """Draw one size of a scene: a row with a dot for each competitor, the fastest first.

    Dots, because the length of a bar means nothing on a logarithmic scale.
    """
    means = sorted((next(iter(sizes.values())), who) for who, sizes in scene.items())
    picture = Picture(600, 60 + 26 * len(means))
    least, most = means[0][0], means[-1][0]
    picture.text((15, 24), title, INK, 15, "start")
    for place, (mean, who) in enumerate(means):
        at = 200 + 310 * (log(mean / least) / log(max(most / least, 2.0))), 52 + 26 * place
        picture.line((200, at[1]), at, FAINT, 1)
        picture.dot(at, colour_of(who))
        picture.text((15, at[1] + 5), who, colour_of(who), 13, "start")
        picture.text((at[0] + 12, at[1] + 5), f"{figure(mean)} ms", colour_of(who), 13, "start")
    return picture


def draw_lines(scene: Scene, title: str) -> Picture:
    """Draw a scene of several sizes: a line for each competitor, both scales logarithmic."""
    picture = Picture(600, 320)
    sizes = sorted({n for means in scene.values() for n in means})
    all_means = [mean for means in scene.values() for mean in means.values()]
    low, high = floor(log10(min(all_means))), ceil(log10(max(all_means)))
    left, right, top, bottom = 60, 356, 46, 280

    def at(n: float, mean: float) -> tuple[float, float]:
        x = left + (right - left) * log(n / sizes[0]) / log(sizes[-1] / sizes[0])
        return x, bottom - (bottom - top) * (log10(mean) - low) / (high - low)

    picture.text((15, 24), title, INK, 15, "start")
    for power in range(low, high + 1):
        picture.line(at(sizes[0], 10**power), at(sizes[-1], 10**power), FAINT, 1)
        picture.text((left - 10, at(sizes[0], 10**power)[1] + 5), f"{10**power:g}", INK, 13, "end")
    for n in sizes:
        picture.text((at(n, 1)[0], bottom + 20), f"{n:,}", INK, 13)
    picture.text(((left + right) / 2, bottom + 38), "bodies", INK, 13)
    ordered = sorted(scene.items(), key=lambda item: item[1][sizes[-1]])
    heights = apart([at(sizes[-1], means[sizes[-1]])[1] for _, means in ordered], 16.0)
    for (who, means), height in zip(ordered, heights, strict=True):
        points = [at(n, mean) for n, mean in sorted(means.items())]
        colour, dash = colour_of(who), "5 4" if re.search("body by body|soft", who) else ""
        for start, end in itertools.pairwise(points):
            picture.line(start, end, colour, 3 if who == OURS else 1.5, dash)
        words = who.replace(" batch (pyb2d3)", " batch")
        label = f"{words} {figure(means[sizes[-1]])}"
        picture.line((right + 2, points[-1][1]), (right + 22, height), FAINT, 1)
        picture.text((right + 26, height + 5), label, colour, 13, "start")
    return picture


def apart(heights: list[float], least: float) -> list[float]:
    """Return heights, from the lowest place in a picture up, moved apart as little as needed.

    Where labels crowd, the whole group is around the middle of its lines.
    """
    groups: list[list[float]] = []
    for height in heights:
        groups.append([height])
        while (
            len(groups) > 1
            and _places(groups[-2], least)[-1] - least < _places(groups[-1], least)[0]
        ):
            last = groups.pop()
            groups[-1] += last
    return [place for group in groups for place in _places(group, least)]


def _places(group: list[float], least: float) -> list[float]:
    middle, half = sum(group) / len(group), least * (len(group) - 1) / 2
    return [middle + half - least * n for n in range(len(group))]


def pictures(found: dict[Key, str]) -> dict[str, str]:
    """Return the picture of each scene by the name of its file."""
    drawn = {}
    for kind, scenes in scenes_of(found).items():
        for name, scene in scenes.items():
            peered = {who: means for who, means in scene.items() if len(scene) > 1}
            sizes = {n for means in peered.values() for n in means}
            common = sorted(n for n in sizes if sum(n in means for means in peered.values()) > 1)
            same = {
                who: {n: means[n] for n in common if n in means} for who, means in peered.items()
            }
            if len(common) == 1:
                title = f"{name}, {common[0]:,} boxes (log scale)"
                drawn[picture_name(kind, name)] = str(draw_dots(same, title))
            elif common:
                title = f"{name}, milliseconds a step (log scales)"
                drawn[picture_name(kind, name)] = str(draw_lines(same, title))
    return drawn


def page(text: str) -> str:
    """Return docs/benchmarks.md: the template with pictures and costs of the tables."""
    found = read(text)
    measured = re.search(r"Measured on .+\.", text)[0]
    shown = {"Whole engine": "", "Crowd": "", "Pairs": ""}
    for kind, scenes in scenes_of(found).items():
        for name in scenes:
            file = picture_name(kind, name)
            if file in pictures(found):
                shown[kind] += f"![Milliseconds a frame: {name}](pictures/{file})\n\n"
    arena, crowds, pairs = (part.strip() for part in shown.values())
    cost = {name: cell for (heading, name, _), cell in found.items() if heading == COSTS}
    return TEMPLATE.read_text("utf-8").format(
        measured=measured, arena=arena, crowds=crowds, pairs=pairs, cost=cost
    )


def write() -> None:
    """Make the page, its pictures and the figures of other pages from the tables."""
    from benchmarks import figures  # reads the tables, which a run has just written

    text = MEASURED.read_text("utf-8")
    for name, drawn in pictures(read(text)).items():
        (PICTURES / name).write_text(drawn, "utf-8")
    PAGE.write_text(page(text), "utf-8")
    for name, words in figures.rewritten():
        (measure.ROOT / name).write_text(words, "utf-8")
