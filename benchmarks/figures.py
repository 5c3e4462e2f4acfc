"""The figures of the pages, each with the words around it, from the tables of the benchmarks.

This module reads the tables when it is imported.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from benchmarks import measure, report

OURS, LOOP, SOFT = "ecs_collide", "ecs_collide, body by body", "ecs_collide, soft"
PYMUNK, BOX2D = "pymunk batch", "Box2D 3 batch (pyb2d3)"
BOX2D_16 = "Box2D 3 batch, 16 sub-steps"
COSTS = report.COSTS
TEXT = report.MEASURED.read_text("utf-8")


TABLES = {key: report.number(cell) for key, cell in report.read(TEXT).items()}


def arena(n: str, who: str, column: str = "ratio") -> float:
    """Return a figure of a whole engine with `n` bodies."""
    return TABLES[f"Whole engine, arena, {n} bodies", who, column]


def crowd(scene: str, n: int, who: str = OURS, column: str = "mean") -> float:
    """Return a figure of a crowd."""
    return TABLES[f"Crowd, {scene}, {n} bodies", who, column]


def cost(row: str) -> float:
    """Return one of the other costs."""
    return TABLES[COSTS, row, ""]


def pure(scene: str, n: str) -> tuple[float, float, float]:
    """Return milliseconds in pure Python, compiled, and their ratio."""
    row = f"a step of {scene}, {n} bodies, pure Python, CPU time"
    rest = ("the same, compiled kernels", "the same, pure Python against compiled")
    return cost(row), *(cost(f"{row}; {other}") for other in rest)


def crowds_of_faster(who: str) -> list[int]:
    """Return in how many crowds another engine is faster than ours, and how many there are."""
    ratios = [
        ratio
        for (table, name, column), ratio in TABLES.items()
        if table.startswith("Crowd, ") and (name, column) == (who, "ratio")
    ]
    return [sum(ratio < 1.0 for ratio in ratios), len(ratios)]


ENGINES = [(n, [arena(n, PYMUNK), arena(n, BOX2D), arena(n, LOOP)]) for n in ("10", "50", "200")]
ENGINES += [(n, [arena(n, PYMUNK), arena(n, BOX2D), arena(n, LOOP)]) for n in ("800", "10,000")]
SAVED = [cost("saving 1,000 bodies, mean"), cost("going back five steps, 1,000 bodies, mean")]
KEPT = [
    cost("saving 1,000 bodies in memory, mean"),
    cost("going back five steps in memory, 1,000 bodies, mean"),
]
WALKERS = [
    cost(f"300 {who} that walk on tiles, {where} gravity")
    for where in ("under", "without")
    for who in ("characters", "Slide bodies")
]
SIZES = ("10", "100", "1,000")
PURE = {scene: [pure(scene, n) for n in SIZES] for scene in ("the arena", "a level")}
CHANGES = ("deleted", "spawned")
CUBES = cost("1,000 elastic cubes in 3D, mean; the same in Rapier")
CUBES /= cost("1,000 elastic cubes in 3D, mean")
IN_3D = ("README.md", "docs/three_d.md")
AT_REST = "a step, 10,000 bodies at rest and 100 that move, sleep on, mean"
OPEN_SCENES = {
    "800 that walk to a moving point": "chase",
    "800 that walk against each other in a row": "rows",
    "800 in such a row, each second one 1 unit higher": "rows off line",
    "800 that walk against each other in a corridor": "flows",
    "800 of mixed sizes, masses and responses": "mixed",
    "800 in a narrowing corridor": "jam",
    "800 in a narrowing corridor, with sleep": "jam with sleep",
    "800 falling into a pit": "heap",
    "800 falling into a pit, with sleep": "heap with sleep",
    "one that 800 walk to": "one against many",
}

# The page, its words with {} for each figure, and the figures.
FIGURES = [
    (
        "docs/performance.md",
        "kept in memory, `space.save_state` | {} ms to save, {} ms to restore",
        KEPT,
    ),
    (
        "docs/platformers.md",
        "walk with nothing ahead takes {} ms. That is {} times as long as with 300 plain `Slide` "
        "bodies under gravity, and {} times as long without gravity",
        [WALKERS[0], WALKERS[0] / WALKERS[1], WALKERS[2] / WALKERS[3]],
    ),
    ("README.md", "In {} of {} crowds of 50 to 800 bodies Box2D is", crowds_of_faster(BOX2D)),
    ("README.md", "In {} of the {} pymunk is faster", crowds_of_faster(PYMUNK)),
    ("README.md", "takes {} times as long as with arrays", [arena("10,000", LOOP)]),
    *(
        (
            "README.md",
            f"- {n} bodies: pymunk takes {{}} times as long, Box2D {{}} times",
            [arena(n, who, "ratio in a game") for who in (PYMUNK, BOX2D)],
        )
        for n in ("10", "50", "200")
    ),
    (
        "README.md",
        "10,000 bouncing boxes takes pymunk {} times as long, and Box2D {} times",
        [arena("10,000", who) for who in (PYMUNK, BOX2D)],
    ),
    (
        "README.md",
        "read as arrays: ecs_collide {}, pymunk {}, Box2D {}.",
        [arena("10,000", who, "mean") for who in (OURS, PYMUNK, BOX2D)],
    ),
    *(
        (
            "docs/performance.md",
            f"| {name} | {{}} | {{}} |",
            [arena("10,000", who, c) for c in columns],
        )
        for columns in [("mean", "worst")]
        for name, who in (
            ("**ecs_collide**", OURS),
            ("pymunk 7.3", PYMUNK),
            ("Box2D 3 (pyb2d3)", BOX2D),
        )
    ),
    (
        "docs/performance.md",
        "{} collisions, read as arrays | {} ms |",
        [arena("10,000", OURS, "collisions a step"), arena("10,000", OURS, "mean")],
    ),
    (
        "docs/performance.md",
        "10,000 static bodies, 100 that move | {} ms |",
        [cost("a quiet step, 10,000 static bodies and 100 movers, mean")],
    ),
    ("docs/performance.md", "10,000 bodies at rest, 100 that move | {} ms |", [cost(AT_REST)]),
    ("docs/performance.md", "over all positions | {} ms |", [arena("10,000", LOOP, "mean")]),
    (
        "docs/performance.md",
        "one was deleted, or one created | {} and {} times one without |",
        [cost(f"a step with one {what}; the same, against one without") for what in CHANGES],
    ),
    *((page, "Rapier takes {} times as long for a step in", [CUBES]) for page in IN_3D),
    (
        "docs/performance.md",
        "`space.query` among 10,000 bodies | {} µs |",
        [cost("Space.query, one call among 10,000 bodies")],
    ),
    (
        "docs/performance.md",
        "`space.cast_ray` among 10,000 bodies | {} µs |",
        [cost("Space.cast_ray, one call among 10,000 bodies")],
    ),
    (
        "docs/performance.md",
        "10,000 rays in one call | {} ms |",
        [cost("Space.cast_rays, 10,000 rays in one call")],
    ),
    ("docs/performance.md", "{} ms to save, {} ms to go back five steps", SAVED),
    (
        "docs/performance.md",
        "a whole frame takes {} ms with the pool instead of {} ms",
        [
            cost("a frame with 100 of 2,000 bullets pooled"),
            cost("a frame with 100 of 2,000 bullets deleted and created"),
        ],
    ),
    (
        "docs/performance.md",
        "each of 100,000 bodies | {} bytes |",
        [cost("a space, for each of 100,000 bodies (8,355 events in a step)")],
    ),
    *(("docs/performance.md", f"| {n} | {{}} | {{}} | {{}} |", row) for n, row in ENGINES),
    (
        "docs/performance.md",
        "a step takes {} to {} times as long",
        [min(row[2] for rows in PURE.values() for row in rows), PURE["the arena"][2][2]],
    ),
    *(
        (
            "docs/crowds.md",
            f"| {n} that walk to one point | {{}} | {{}} | {{}} | {{}} |",
            [crowd("swarm", n, who) for who in (OURS, SOFT, PYMUNK, BOX2D)],
        )
        for n in (50, 200, 800)
    ),
    *(
        (
            "docs/crowds.md",
            f"| {words} | {{}} | {'{}' if scene == 'chase' else ''} | {{}} | {{}} |",
            [
                crowd(scene, 800, who)
                for who in (OURS, SOFT, PYMUNK, BOX2D)
                if who != SOFT or scene == "chase"
            ],
        )
        for words, scene in OPEN_SCENES.items()
    ),
    (
        "docs/crowds.md",
        "while they press: by {} units on average",
        [crowd("swarm", 200, SOFT, "overlap")],
    ),
    (
        "docs/crowds.md",
        "it takes {} times as long as ecs_collide for 800 that walk to one point, {} times for a "
        "moving point and {} times for mixed ones. They overlap as deep: by {} units on average at "
        "the one point, where it is {} with 4",
        [
            *(crowd(scene, 800, BOX2D_16, "ratio") for scene in ("swarm", "chase", "mixed")),
            *(crowd("swarm", 800, who, "overlap") for who in (BOX2D_16, BOX2D)),
        ],
    ),
    (
        "README.md",
        "it takes {} times as long as ecs_collide in a swarm of 800",
        [crowd("swarm", 800, BOX2D_16, "ratio")],
    ),
    (
        "docs/saving.md",
        "saved in {} ms. To go back five steps takes {} ms, and to restore them into an empty "
        "world {} ms",
        [*SAVED, cost("restoring 1,000 bodies into an empty world, mean")],
    ),
    *(
        ("docs/install.md", f"| {words}: compiled | {{}} ms | {{}} ms | {{}} ms |", row)
        for words, scene in (
            ("all move and bounce", "the arena"),
            ("one in ten moves, the others are `Fixed`", "a level"),
        )
        for row in [[compiled for _, compiled, _ in PURE[scene]]]
    ),
    *(
        (
            "docs/install.md",
            f"| {words}: pure Python |" + " {} ms ({} times) |" * 3,
            [figure for plain, _, ratio in PURE[scene] for figure in (plain, ratio)],
        )
        for words, scene in (
            ("all move and bounce", "the arena"),
            ("one in ten moves, the others are `Fixed`", "a level"),
        )
    ),
]


def pattern(words: str) -> re.Pattern[str]:
    """Return a pattern of words with a group for each {}; lines may break at any space."""
    parts = [r"\s+".join(map(re.escape, re.split(r"\s+", part))) for part in words.split("{}")]
    return re.compile(r"(\d[\d,]*(?:\.\d+)?)".join(parts))


def like(shown: str, value: float) -> str:
    """Return a value with the decimals of an older one, and more if it is below five units."""
    decimals = len(shown.partition(".")[2])
    while decimals and 0.0 < value < 5 * 10.0**-decimals:
        decimals += 1
    return f"{value:,.{decimals}f}"


def replaced(text: str, words: str, values: Sequence[float]) -> str:
    """Return the text of a page with the measured values between the words."""

    def write(match: re.Match[str]) -> str:
        ends = [match.start(), *(end for n in range(len(values)) for end in match.span(n + 1))]
        fixed = [text[a:b] for a, b in zip(ends[::2], [*ends[1::2], match.end()], strict=True)]
        new = [like(match[n + 1], value) for n, value in enumerate(values)]
        return "".join(f"{words}{value}" for words, value in zip(fixed, [*new, ""], strict=True))

    text_after, n = pattern(words).subn(write, text)
    if n != 1:
        raise ValueError(f"the page says {n} times: {words}")
    return text_after


def rewritten() -> Iterator[tuple[str, str]]:
    """Yield each page with figures, and its text with those of the tables."""
    for page in sorted({page for page, _, _ in FIGURES}):
        text = (measure.ROOT / page).read_text("utf-8")
        for of, words, values in FIGURES:
            if of == page:
                text = replaced(text, words, values)
        yield page, text
