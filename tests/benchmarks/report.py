"""What is printed, and written into the documentation: tables in Markdown, and a picture."""

from __future__ import annotations

import os
import platform
from datetime import date
from pathlib import Path
from typing import Any

from tests.benchmarks import measure
from tests.benchmarks.competitors import ENGINES, FINDERS, OURS, PRESSERS, installed
from tests.benchmarks.measure import Race, Result

PAGE = measure.ROOT / "docs" / "benchmarks.md"
PICTURE = measure.ROOT / "docs" / "pictures" / "benchmarks.png"

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
"""

CROWD = """\
Boxes of 12 units press on each other: they walk at 60 units a second to one point (*swarm*), to a
moving one (*chase*), against each other in one row (*rows*), down a corridor that narrows (*jam*),
fall into a pit (*heap*), or all but one ignore each other and walk to that one (*one against
many*). Two seconds in which the crowd forms are not counted, two more are. Velocities are set from
outside, which the clock does not see, and positions are read back. *Sweeps a pair*: swept tests for
each candidate pair. *Overlap*: how deep boxes are in each other that are, mean and most, at the
end, in units. *Soft* is `Separate(60)`.
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
        "engine": ["collisions a step", "energy left"],
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


def page(races: list[Race], figures: list[tuple[str, float, str]], command: str) -> str:
    """Return the whole page that `--write` puts into the documentation."""
    parts = ["# Benchmarks\n", surroundings(command), INTRODUCTION]
    parts.append(f"![Milliseconds a frame, on a logarithmic scale](pictures/{PICTURE.name})\n")
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


def shown(races: list[Race]) -> list[Race]:
    """Return the races worth a picture: few scenes, one size, against peers.

    All that have peers, where none of these were run.
    """
    peered = [race for race in races if len(race.finished) > 1]
    chosen = [
        race
        for race in peered
        if race.kind == "engine"
        or (race.n == 10_000 and race.scene in ("gas", "mostly-static"))
        or (race.n == 800 and race.scene in ("swarm", "chase", "jam"))
    ]
    return chosen or peered


def draw(races: list[Race], path: Path) -> None:
    """Draw the races that are `shown`: a dot at the mean, and a line from it to the worst.

    Dots, as the length of a bar means nothing on a logarithmic scale.
    """
    from matplotlib.figure import Figure
    from matplotlib.ticker import LogLocator, NullFormatter, StrMethodFormatter

    panels = shown(races)
    across = min(3, max(len(panels), 1))
    down = max(-(-len(panels) // across), 1)
    picture = Figure(figsize=(4.6 * across, 2.9 * down), layout="constrained")
    for k, race in enumerate(panels):
        axes = picture.add_subplot(down, across, k + 1)
        ranked = race.finished[::-1]
        for place, result in enumerate(ranked):
            colour = "#c1121f" if result.name.startswith(OURS) else "#52606d"
            axes.plot([result.mean, result.worst], [place, place], color=colour, linewidth=1.2)
            axes.plot(result.mean, place, "o", color=colour, markersize=6)
            axes.annotate(
                figure(result.mean),
                (result.mean, place),
                (0, 5),
                textcoords="offset points",
                ha="center",
                fontsize=7,
                color=colour,
            )
        axes.set_yticks(range(len(ranked)), [result.name for result in ranked])
        axes.set_ylim(-0.5, len(ranked) - 0.2)
        axes.set_xscale("log")
        axes.set_xlim(
            min(result.mean for result in ranked) / 1.6,
            max(result.worst for result in ranked) * 1.6,
        )
        axes.xaxis.set_major_locator(LogLocator(subs=(1.0, 3.0)))
        axes.xaxis.set_major_formatter(StrMethodFormatter("{x:g}"))
        axes.xaxis.set_minor_formatter(NullFormatter())
        axes.set_title(heading(race), fontsize=10)
        axes.set_xlabel("ms a frame: mean, to worst", fontsize=8)
        axes.tick_params(labelsize=8)
        axes.grid(color="#e4e7eb", linewidth=0.6)
        axes.set_axisbelow(True)
        axes.spines[["top", "right"]].set_visible(False)
    path.parent.mkdir(parents=True, exist_ok=True)
    picture.savefig(path, dpi=110)
