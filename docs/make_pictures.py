"""Draw the pictures of the pages: every box, time and answer in them comes from the library.

Each is drawn in light colours, and says which it has where a reader prefers dark ones.

Run it from the top of the checkout: ``python docs/make_pictures.py``; with ``--screen`` it also
takes the pictures of windows, which differ from machine to machine.  Those of the games to copy,
``python docs/make_pictures.py examples``, need a screen and the libraries of their windows.
Those of the demos, ``python docs/make_pictures.py demos``, need Pillow, and so does the animation
of the README, ``python docs/make_pictures.py animation``.  Those of scenes from bug reports,
``python docs/make_pictures.py published``, need Pillow, pymunk and pyb2d3.
"""

from __future__ import annotations

import ast
import contextlib
import functools
import itertools
import re
import sys
import tempfile
from pathlib import Path

import esper

import ecs_collide as ec

sys.path.insert(0, str(Path(__file__).parents[1]))
from docs.draw_recipes import RECIPES, draw_recipe, programs
from docs.drawing import FAINT, FIRST, INK, SECOND, WIDE, Panel, Picture

FOLDER = Path(__file__).parent / "pictures"
NAMES = {kind: kind.name.lower() for kind in ec.SweepKind}


def gaps() -> Picture:
    """Draw two boxes of which one flies past the other, and their four gaps over time."""
    first = ((-1.4, 0.3), (1, 1), (11, 2.6))
    second = ((4, 2), (1.5, 1.2), (0, 0))
    found = ec.sweep(*first, *second)
    picture = Picture(WIDE, 520)

    panel = Panel(picture, (100, 140), 30)
    still = found.positions(0)[1]
    panel.box(still, second[1], SECOND)
    picture.text(panel.at((still[0], still[1] - 0.1)), "second", SECOND)
    for t, words in ((0, "t = 0"), (found.enter, "enter"), (found.exit, "exit")):
        place = found.positions(t)[0]
        panel.box(place, first[1], FIRST, 0.25 if t == 0 else 0.08, "" if t == 0 else "5 3")
        picture.text(panel.at((place[0], place[1] - 1.6)), words, FIRST, 13)
    panel.arrow(first[0], (0.4, 0.3 + 1.8 * 0.26 / 1.1))

    left, right, level, unit = 40, 530, 340, 17

    def at(t, gap):
        return left + (right - left) * (t + 0.1) / 1.2, level - unit * gap

    picture.line(at(-0.1, 0), at(1.1, 0), INK, 1)
    shared = at(found.enter, 8)
    picture.rectangle(shared, (at(found.exit, 0)[0] - shared[0], 16 * unit), FAINT, 0.25, "4 4")
    for k, axis in enumerate("xy"):
        centre1, half1, motion1 = (part[k] for part in first)
        centre2, half2, motion2 = (part[k] for part in second)
        for sign, words in ((-1, "minus"), (1, "plus")):
            gap = -sign * (centre2 - centre1) - half1 - half2
            rate = -sign * (motion2 - motion1)
            ends = [t for t in (-0.1, 1.1) if abs(gap + rate * t) <= 8]
            ends += [(edge - gap) / rate for edge in (-8, 8) if -0.1 < (edge - gap) / rate < 1.1]
            a, b = sorted(ends)[0], sorted(ends)[-1]
            colour = (FIRST, SECOND)[k]
            line = at(a, gap + rate * a), at(b, gap + rate * b)
            picture.line(*line, colour, 2, "" if sign < 0 else "7 4")
            at_end = line[0] if k == 0 and sign < 0 else line[1]
            shift = (8, -4) if k == 0 and sign < 0 else (4, 5)
            place = (at_end[0] + shift[0], at_end[1] + shift[1])
            picture.text(place, f"{axis} {words}", colour, 13, "start")
    for t, words in ((found.enter, "enter"), (found.exit, "exit")):
        picture.dot(at(t, 0))
        picture.text((at(t, 0)[0], 506), f"{words} = {t:.3g}", INK, 13)
    picture.text((at(0, 0)[0] - 24, level - 8), "gap 0", INK, 13)
    picture.line(at(0, -8), at(0, 8), FAINT, 1)
    picture.line(at(1, -8), at(1, 8), FAINT, 1)
    picture.text((at(0, 0)[0], 506), "0", INK, 13)
    picture.text((at(1, 0)[0], 506), "1", INK, 13)
    return picture


def corners() -> Picture:
    """Draw four ways to come by a corner."""
    picture = Picture(WIDE, 470)
    wall = ((0, 0), (1, 1), (0, 0))
    cases = [
        ("over the edge", ((-4, 2), (1, 1), (8, 0))),
        ("past the corner", ((-4, 0), (1, 1), (4, 4))),
        ("corner to corner", ((-4, -3.5), (1, 1), (4, 3))),
        ("the faster axis", ((-3, -4), (1, 1), (2, 4))),
    ]
    for n, (words, mover) in enumerate(cases):
        found = ec.sweep(*mover, *wall)
        middle, top = 150 + 300 * (n % 2), 235 * (n // 2)
        panel = Panel(picture, (middle + 30, top + 90 - 30 * (n // 2)), 22)
        panel.box(wall[0], wall[1], SECOND)
        panel.box(mover[0], mover[1], FIRST)
        end = tuple(c + v for c, v in zip(mover[0], mover[2], strict=True))
        panel.arrow(mover[0], tuple((c + e) / 2 for c, e in zip(mover[0], end, strict=True)))
        if found.time is not None:
            place = found.positions(found.time)[0]
            panel.box(place, mover[1], FIRST, 0.08, "5 3")
        answer = NAMES[found.kind]
        if found.normal is not None:
            answer += f", normal ({found.normal[0]:g}, {found.normal[1]:g})"
        below = 165 if n < 2 else 195
        picture.text((middle, top + below), words, INK, 15)
        answer += ", corner" if found.corner else ""
        picture.text((middle, top + below + 20), answer, INK, 13)
    return picture


def half_open_step() -> Picture:
    """Draw approaches that arrive at the start, within and at the end of a step."""
    picture = Picture(WIDE, 210)
    left, right = 145, 385
    for n, start in enumerate((-2.0, -3.0, -4.0)):
        found = ec.sweep((start, 0), (1, 1), (2, 0), (0, 0), (1, 1), (0, 0))
        height = 40 + 55 * n
        picture.line((left, height), (right, height), FAINT, 6)
        picture.dot((left, height), FAINT)
        picture.dot((right, height), FAINT, filled=False)
        x = left + (right - left) * found.enter
        picture.line((x, height - 16), (x, height + 16), FIRST, 3)
        picture.text((15, height + 5), f"{-start - 2:g} away, 2 a step", INK, 14, "start")
        words = f"{NAMES[found.kind]}"
        words += f" at {found.time:g}" if found.time is not None else ": the next step's"
        picture.text((right + 18, height + 5), words, INK, 14, "start")
    picture.text((left, 200), "0", INK, 13)
    picture.text((right, 200), "1", INK, 13)
    return picture


def slop() -> Picture:
    """Draw what is answered to closing boxes whose gap at the start is some slops."""
    picture = Picture(WIDE, 150)
    left, right, n_samples = 30, 570, 241
    unit = 2.0**-44 * 16  # the largest face is 16
    colours = {"overlap": SECOND, "impact at 0": INK, "impact later": FIRST}
    spans: list[list] = []
    for n in range(n_samples):
        slops = -3 + 6 * n / (n_samples - 1)
        # Faces at 15 and 16: a multiple of 2**-48 keeps centre and half size exact.
        gap = round(slops * unit * 2**48) / 2**48
        found = ec.sweep(
            (14, 0), (1, 1), (0.5, 0), (15 + gap / 2 + 0.5, 0), (0.5 - gap / 2, 1), (0, 0)
        )
        words = NAMES[found.kind]
        if words == "impact":
            words += " at 0" if found.time == 0 else " later"
        x = left + (right - left) * n / (n_samples - 1)
        if not spans or spans[-1][0] != words:
            spans.append([words, x, x])
        spans[-1][2] = x
    for words, begin, end in spans:
        picture.rectangle((begin, 50), (end - begin + 3, 26), colours[words], 0.55)
        picture.text(((begin + end) / 2, 40), words, colours[words], 14)
    for slops in range(-3, 4):
        x = left + (right - left) * (slops + 3) / 6
        picture.line((x, 76), (x, 84), INK, 1)
        picture.text((x, 100), f"{slops}" if slops else "0", INK, 13)
    picture.text(
        ((left + right) / 2, 128), "gap at the start, in slops; less than 0 is inside", INK, 13
    )
    return picture


def ways_to_move() -> Picture:
    """Draw what becomes of a velocity and of a position that a game sets, with either motion."""
    picture = Picture(WIDE, 210)
    wall, start, half = (6.0, 0.0), (0.0, 0.0), (1.0, 1.0)
    cases = [
        ("velocity", "Velocity set: it is moved", "velocity"),
        ("velocity", "Position set: a teleport", "position"),
        ("swept", "Position set: swept there", "position"),
    ]
    for n, (motion, words, what) in enumerate(cases):
        esper.switch_world(f"picture {n}")
        position, velocity = ec.Position(*start), ec.Velocity(0, 0)
        esper.create_entity(position, ec.Extents(*half), velocity, ec.Slide())
        esper.create_entity(ec.Position(*wall), ec.Extents(0.5, 2.5))
        ec.install(ec.Space(motion=motion))
        esper.process(1.0)
        wanted = (9.0, 1.0)
        if what == "velocity":
            velocity.xy = wanted
        else:
            position.xy = wanted
        esper.process(1.0)
        end = position.xy
        esper.switch_world("default")
        esper.delete_world(f"picture {n}")
        panel = Panel(picture, (35 + n * 196, 105), 14.5)
        panel.box(wall, (0.5, 2.5), SECOND)
        panel.box(start, half, FIRST, 0.08, "5 3")
        panel.box(end, half, FIRST)
        if end != wanted:
            panel.box(wanted, half, FAINT, 0.1, "2 3")
        if what == "velocity" or motion == "swept":
            panel.arrow(start, end)
        picture.text((101 + n * 196, 30), f'motion="{motion}"', INK, 13)
        picture.text((101 + n * 196, 175), words, INK, 14)
        picture.text((101 + n * 196, 196), f"it ends at ({end[0]:g}, {end[1]:g})", INK, 13)
    return picture


def overlay() -> Picture:
    """Draw what the debug overlay shows of a small world, layer by layer."""
    from ecs_collide.debug import COLOURS
    from ecs_collide.debug.shapes import shown_normals

    esper.switch_world("picture of the overlay")
    zone = ec.Position(3, 3.2), ec.Extents(2.2, 1.4), ec.Sensor()
    for components in (
        (ec.Position(0, -4.5), ec.Extents(8, 0.5)),
        (ec.Position(-5.6, -0.5), ec.Extents(1.6, 0.25), ec.OneWay((0, 1))),
        zone,
        (ec.Position(5.6, -3), ec.Extents(1, 1), ec.Velocity(0, 0), ec.Slide()),
        (ec.Position(-5.5, 2.5), ec.Extents(0.8, 0.8), ec.Velocity(0, 0), ec.Slide()),
        (ec.Position(-1, 3), ec.Extents(0.7, 0.7), ec.Velocity(0, 0), ec.Deflect()),
        (ec.Position(0.2, 0), ec.Extents(0.6, 0.6), ec.Velocity(0, 0), ec.Deflect()),
    ):
        esper.create_entity(*components)
    space = ec.install(ec.Space(margin=0.2, lookahead=0.1))  # fat bounds that fit the panel
    for _ in range(16):
        esper.process(1.0)
    for entity, speed in ((5, (0.5, -2.0)), (6, (4.5, 0.4)), (7, (2.0, -4.0))):
        esper.component_for_entity(entity, ec.Velocity).set(*speed)
    esper.process(1.0)

    def colour(name: str) -> str:
        return "#{:02x}{:02x}{:02x}".format(*COLOURS[name])

    picture = Picture(WIDE, 530)
    shown = (  # of each panel: its title, and its colours
        ("bodies and contacts", ("static", "moving", "sensor", "one-way", "asleep", "contact")),
        ("paths and impacts", ("swept", "ghost")),
        ("the trees", ("fat", "branch of still", "branch of moving")),
        ("candidate pairs", ("pair",)),
    )
    words = {"fat": "fat bounds", "swept": "path in the step", "ghost": "where they met"}
    named = (
        ("moving", ec.BodyKind.MOVES),
        ("one-way", ec.BodyKind.ONE_WAY),
        ("sensor", ec.BodyKind.SENSOR),
        ("asleep", ec.BodyKind.ASLEEP),
    )
    for n, (title, layers) in enumerate(shown):
        corner = (2 + 300 * (n % 2), 2 + 264 * (n // 2))
        picture.rectangle(corner, (296, 262), "#14161f", 1.0)
        panel = Panel(picture, (corner[0] + 148, corner[1] + 122), 17)
        picture.text((corner[0] + 12, corner[1] + 24), title, "#ffffff", 15, "start")
        x, y = corner[0] + 12, corner[1] + 232
        for name in layers:
            word = words.get(name, name)
            if x + 8 * len(word) > corner[0] + 290:
                x, y = corner[0] + 12, y + 18
            picture.text((x, y), word, colour(name), 13, "start")
            x += 8 * len(word) + 14

        def draw(low, high, name, fill=0.0, dash="", panel=panel):
            panel.box((low + high) / 2, (high - low) / 2, colour(name), fill, dash, 2)

        for low, high, kinds in zip(*space.boxes(), space.body_kinds(), strict=True):
            names = ["static"] + [name for name, kind in named if kinds & kind]
            draw(low, high, names[-1], 0.2 if n == 0 else 0.0)
        if n == 0:
            found = space.contact_points()
            normals = shown_normals(space, found)
            for point, normal, kind in zip(found.points, normals, found.kinds, strict=True):
                name = "crossing" if kind else "contact"
                picture.dot(panel.at(point), colour(name))
                if not kind:
                    picture.line(panel.at(point), panel.at(point + normal), colour(name), 3)
        elif n == 1:
            moving = space.body_kinds() & (ec.BodyKind.MOVES | ec.BodyKind.ASLEEP)
            for low, high, kinds in zip(*space.swept_bounds(), moving, strict=True):
                if kinds == ec.BodyKind.MOVES:
                    draw(low, high, "swept")
            ghosts = space.impact_boxes()
            for lows, highs in zip(ghosts.mins, ghosts.maxs, strict=True):
                for low, high in zip(lows, highs, strict=True):
                    draw(low, high, "ghost", 0.0, "4 3")
        elif n == 2:
            for low, high in zip(*space.fat_bounds(), strict=True):
                draw(low, high, "fat", 0.0, "5 3")
            branches = space.branches()
            for low, high, moves in zip(branches.mins, branches.maxs, branches.moving, strict=True):
                draw(low, high, "branch of moving" if moves else "branch of still")
        else:
            pairs = space.candidate_pairs()
            for ends in space.positions(pairs.ravel()).reshape(-1, 2, 2):
                picture.line(*(panel.at(end) for end in ends), colour("pair"), 3)
    esper.switch_world("default")
    esper.delete_world("picture of the overlay")
    return picture


def responses() -> Picture:
    """Draw what becomes of the same throw at a wall with each response."""
    picture = Picture(WIDE, 445)
    wall, start, half, thrown = (4.5, 0.0), (0.0, -2.0), (0.6, 0.6), (6.0, 2.0)
    for n, response in enumerate((ec.Deflect(), ec.Slide(), ec.Push(), ec.Stop())):
        esper.switch_world(f"picture {n}")
        place, velocity = ec.Position(*start), ec.Velocity(*thrown)
        esper.create_entity(place, ec.Extents(*half), velocity, response)
        esper.create_entity(ec.Position(*wall), ec.Extents(0.5, 3.6))
        space = ec.install()
        esper.process(1.0)
        met, end, speed = space.collisions[0].position_first, place.xy, velocity.xy
        esper.switch_world("default")
        esper.delete_world(f"picture {n}")
        middle, top = 150 + 300 * (n % 2), 220 * (n // 2)
        panel = Panel(picture, (middle - 55, top + 92), 22)
        panel.box(wall, (0.5, 3.6), SECOND)
        panel.box(start, half, FIRST, 0.08, "5 3")
        panel.box(end, half, FIRST)
        panel.arrow(start, met)
        if end != met:
            panel.arrow(met, end)
        picture.text((middle, top + 192), f"{type(response).__name__}()", INK, 15)
        words = f"({thrown[0]:g}, {thrown[1]:g}) becomes ({speed[0]:g}, {speed[1]:.3g})"
        picture.text((middle, top + 211), words, INK, 13)
    return picture


def icon() -> Picture:
    """Draw a box against a wall, small."""
    hit = ec.sweep((-6, 0), (5, 5), (20, 0), (12, 0), (4, 16), (0, 0))
    picture = Picture(32, 32, paper="none")
    panel = Panel(picture, (16, 16), 1)
    panel.box((12, 0), (4, 16), SECOND, 1)
    panel.box(hit.positions(hit.time)[0], (5, 5), FIRST, 1)
    return picture


def hard_squares() -> Picture:
    """Draw the measured and the published pressures of hard squares and cubes."""
    from demos.hard_squares import measure, published
    from demos.hard_squares.virial import coefficients, free_volume, series

    picture = Picture(WIDE, 680)
    left, right, height = 50, 585, 250
    for n, (dim, per_side, words, end) in enumerate(
        [(2, 20, "400 squares", 0.9), (3, 10, "1,000 cubes", 0.7)]
    ):
        level = 290 + 330 * n
        lowest, highest = (0.8, 1.2) if dim == 2 else (0.7, 1.3)

        def at(packing, z, level=level, dim=dim, end=end, lowest=lowest, highest=highest):
            part = (z / free_volume(packing, dim) - lowest) / (highest - lowest)
            return left + (right - left) * packing / end, level - height * part

        root = "√η" if dim == 2 else "∛η"
        picture.text((left - 38, level - height - 12), f"Z · (1 - {root})", INK, 13, "start")
        picture.text((250, level - height - 12), words, INK, 15)
        for tick in range(round(lowest * 10), round(highest * 10) + 1):
            y = at(end, free_volume(end, dim) * tick / 10)[1]
            picture.line((left, y), (right, y), FAINT, 0.5)
            picture.text((left - 6, y + 4), f"{tick / 10:.1f}", INK, 12, "end")
        for tick in range(round(end * 10) + 1):
            x = left + (right - left) * tick / 10 / end
            picture.line((x, level), (x, level + 4), INK, 1)
            picture.text((x, level + 18), f"{tick / 10:.1f}", INK, 12)
        for n_terms in range(2, 8):
            terms = coefficients(dim, n_terms)
            colour, width = (INK, 2) if n_terms == 7 else (FAINT, 1.2)
            points = []
            for step in range(1, 181):
                packing = end * step / 180
                point = at(packing, series(packing, terms))
                if not level - height <= point[1] <= level:
                    if points:
                        break
                    continue
                points.append(point)
            for a, b in itertools.pairwise(points[::3] + points[-1:]):
                picture.line(a, b, colour, width)
            x, y = points[-1]
            aside = {2: 6, 6: -12, 7: 10}.get(n_terms, 0)
            picture.text((x + aside, y - 6), f"{n_terms}", INK, 12)
        for packing, z in published.FACTORS[dim, per_side].items():
            picture.dot(at(packing, z), SECOND, filled=False)
        for row in measure.read():
            if (row.dim, row.per_side) == (dim, per_side):
                place = at(row.packing, row.z)
                ends = [at(row.packing, row.z + k * row.error) for k in (-1, 1)]
                picture.line(*ends, FIRST, 1.5)
                picture.rectangle((place[0] - 2, place[1] - 2), (4, 4), FIRST, 1.0)
    picture.text((right, 670), "packing fraction η", INK, 13, "end")
    return picture


ROWS = {  # of the picture of the imports, from the highest layer to the lowest
    "extend": "extend, stages",
    "systems": "systems, steering",
    "space": "space",
    "diagnostics": "diagnostics/",
    "queries": "queries/, tree, sweep",
    "snapshot": "snapshot/",
    "step": "step/",
    "sync": "sync/",
    "response": "response/",
    "narrowphase": "narrowphase/",
    "broadphase": "broadphase/",
    "motion": "motion/",
    "events": "events, esper_world",
    "components": "components/, _kernel/",
}
ROW_OF = {"tree": "queries", "sweep": "queries", "esper_world": "events", "settings": "space"}
ROW_OF |= {"_checks": "events", "steering": "systems", "stages": "extend"}


def imported_rows() -> set[tuple[str, str]]:
    """Return which row of the picture imports from which, as the sources say."""
    package = Path(ec.__file__).parent

    def row_of(module: str) -> str:
        first = module.split(".")[0]
        return first if first in ROWS else ROW_OF.get(first, "components")

    found = set()
    for path in package.rglob("*.py"):
        name = ".".join(path.relative_to(package).with_suffix("").parts)
        if name.split(".")[0] in (*ROWS, *ROW_OF):
            for node in ast.walk(ast.parse(path.read_text("utf-8"))):
                if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("ecs_coll"):
                    for alias in node.names:
                        whole = f"{node.module}.{alias.name}".removeprefix("ecs_collide.")
                        found.add((row_of(name), row_of(whole)))
    return {(one, other) for one, other in found if one != other}


def imports() -> Picture:
    """Draw which packages of the core import from which."""
    order = list(ROWS)
    pitch, high, left, wide = 44, 28, 20, 210
    picture = Picture(WIDE, pitch * len(order) + 20)
    for n, name in enumerate(order):
        top = 12 + pitch * n
        picture.rectangle((left, top), (wide, high), FIRST)
        picture.text((left + wide / 2, top + 19), ROWS[name], INK, 14)
    for one, other in sorted(imported_rows()):
        a, b = order.index(one), order.index(other)
        far = b - a
        start = (left + wide, 12 + pitch * a + high / 2 + 4)
        end = (left + wide + 3, 12 + pitch * b + high / 2 - 4)
        if far == 1:
            x = left + wide / 2
            picture.line((x, 12 + pitch * a + high), (x, 12 + pitch * b - 3), INK, 1.5, arrow=True)
        else:
            picture.arc(start, end, 38 * abs(far), FAINT if other == "components" else INK, 1)
    return picture


def slopes() -> Picture:
    """Draw the kinds of slopes, and a box that the library has moved down one."""
    picture = Picture(WIDE, 330)

    def triangle(corner, size, points) -> None:
        places = " ".join(
            f"{corner[0] + size[0] * x:.1f},{corner[1] + size[1] * (1 - y):.1f}" for x, y in points
        )
        picture.parts.append(
            f'<polygon points="{places}" fill="{SECOND}" fill-opacity="0.25" stroke="{SECOND}" '
            'stroke-width="1.5"/>'
        )

    kinds = (
        ((20, 30), 'Slope("right")', [(0, 0), (1, 1), (1, 0)]),
        ((130, 30), 'Slope("left")', [(0, 0), (0, 1), (1, 0)]),
        ((270, 30), "high=0.5", [(0, 0), (1, 0.5), (1, 0)]),
        ((350, 30), "low=0.5", [(0, 0), (0, 0.5), (1, 1), (1, 0)]),
        ((480, 30), "ceiling=True", [(0, 0), (0, 1), (1, 1)]),
    )
    for corner, words, points in kinds:
        picture.rectangle(corner, (80, 80), FAINT, 0.0, "4 4")
        triangle(corner, (80, 80), points)
        picture.text((corner[0] + 40, 132), words, INK, 13)

    esper.switch_world("picture of slopes")
    ramp = (ec.Position(150, 60), ec.Extents(150, 60), ec.Slope("right"))
    esper.create_entity(*ramp)
    place = ec.Position(230, 130)
    esper.create_entity(place, ec.Extents(25, 20), ec.Velocity(0, 0), ec.Slide())
    ec.install(gravity=(0, -900))
    triangle((150, 180), (300, 120), [(0, 0), (1, 1), (1, 0)])
    for step in range(31):
        if step % 10 == 0:
            corner = (150 + place.x - 25, 300 - place.y - 20)
            fill, dash = (0.25, "") if step == 30 else (0.08, "5 3")
            picture.rectangle(corner, (50, 40), FIRST, fill, dash)
        esper.process(1 / 60)
    esper.switch_world("default")
    return picture


PICTURES = {
    "slopes.svg": slopes,
    "icon.svg": icon,
    "imports.svg": imports,
    "hard_squares.svg": hard_squares,
    "overlay.svg": overlay,
    "responses.svg": responses,
    "ways_to_move.svg": ways_to_move,
    "gaps.svg": gaps,
    "corners.svg": corners,
    "half_open_step.svg": half_open_step,
    "slop.svg": slop,
    **{f"recipe_{name}.svg": functools.partial(draw_recipe, name) for name in RECIPES},
}


def screenshot(path: Path) -> None:
    """Take a picture of the overlay in the platformer; it needs a screen."""
    import pyglet

    from demos.app.window import Screen
    from demos.platformer import game as platformer
    from ecs_collide.debug import Show

    esper.switch_world("picture of the platformer")
    scene = platformer.build()
    scene.keys.bot = True
    approach(scene, 560)
    screen = Screen(scene)
    screen.overlay.visible = True
    screen.overlay.show = ~Show.FAT & ~Show.STATS  # lines of text, and wider than this picture
    for _ in range(390):
        scene.step()
        screen.draw()
    screen.window.switch_to()
    screen.draw()
    colours = pyglet.image.get_buffer_manager().get_color_buffer()
    colours.get_image_data().save(str(path))
    screen.window.close()


def photograph(
    path: Path, program: str, keys: dict[int, tuple[str, ...]], at: int, high: int | None = None
) -> None:
    """Take a picture of a program with a window at some frame; it needs a screen.

    The `high` lowest pixels are kept, where the sky is empty.
    """
    import pyglet

    from tests import windows

    def watch(names, frame):
        if frame == at:
            colours = pyglet.image.get_buffer_manager().get_color_buffer()
            part = colours.get_image_data().get_region(0, 0, colours.width, high or colours.height)
            part.get_image_data().save(str(path))

    esper.switch_world(f"picture {path.name}")
    windows.play(program, path.name, keys, at + 1, watch)


def first_game(path: Path) -> None:
    """Take a picture of the first program of the README: the player jumps over the crate."""
    readme = (FOLDER.parents[1] / "README.md").read_text("utf-8")
    program = re.search(r"```python\n(.*?)```", readme, re.S)[1]
    photograph(path, program, {0: ("RIGHT",), 50: ("RIGHT", "SPACE")}, 64, 180)


TUTORIAL = {  # of each step: the keys by frame, and the frame of the picture
    1: ({}, 20),
    2: ({20: ("RIGHT",)}, 90),
    3: ({0: ("RIGHT", "SPACE"), 40: (), 60: ("SPACE",)}, 75),
    4: ({0: ("X",), 5: (), 14: ("X", "SPACE")}, 27),
    5: ({0: ("RIGHT",), 36: ("RIGHT", "SPACE")}, 58),
    6: ({0: ("RIGHT",), 20: ("RIGHT", "X"), 24: ("RIGHT",), 28: ("RIGHT", "X", "SPACE")}, 44),
}


def photograph_tutorial() -> None:
    """Take a picture of each step of the tutorial."""
    page = (FOLDER.parent / "tutorial.md").read_text("utf-8")
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        level = re.search(r"```xml\n(.*?)```", page, re.S)[1]
        Path("level.tmx").write_text(level, "utf-8")
        for step, (keys, at) in TUTORIAL.items():
            program = (FOLDER.parent / "tutorial" / f"step_{step}.py").read_text("utf-8")
            photograph(FOLDER / f"tutorial_{step}.png", program, keys, at, 216)


JUMPS = {0: ("RIGHT",), 14: ("RIGHT", "UP"), 40: ("LEFT", "UP"), 52: ("LEFT",), 60: ("LEFT", "UP")}
EXAMPLES = {  # of each game to copy: the keys by frame, and the frame of the picture
    "bricks": ({0: ("SPACE",), 20: ("RIGHT",), 60: (), 110: ("LEFT",), 150: ()}, 190),
    "gravity_flip": ({0: (), 10: ("SPACE", "RIGHT"), 12: ("RIGHT",)}, 58),
    "lift_puzzle": ({0: ("LEFT",), 50: (), 60: ("LEFT", "UP"), 75: ("LEFT",), 100: ()}, 110),
    "platformer_arcade": (JUMPS, 72),
    "platformer_pygame": (JUMPS, 72),
    "platformer_pyglet": (JUMPS, 72),
    "platformer_raylib": (JUMPS, 72),
    "pong": ({0: ("W", "UP"), 6: ("UP",), 28: ()}, 92),
    "rollback_pong": ({0: ("UP",), 20: ()}, 20),
    "top_down": ({0: ("RIGHT",), 13: ("DOWN",), 30: ("RIGHT",), 33: ("RIGHT", "SPACE")}, 34),
    "twin_stick": ({0: ("RIGHT",), 150: ("RIGHT", "UP"), 170: ("RIGHT",)}, 260),
    "walker_3d": ({0: ("UP",), 60: ("UP", "LEFT"), 75: ()}, 80),
}


def photograph_examples(names: list[str]) -> None:
    """Take a picture of games to copy; it needs a screen, and their libraries."""
    from PIL import Image

    from demos.app.catalogue import source
    from tests import windows

    for name in names:
        keys, at = EXAMPLES[name]
        path, program = FOLDER / f"example_{name}.png", source(name).read_text("utf-8")
        sys.argv = [name, "0"]  # one that is played by two opens the window of one player
        esper.switch_world(f"picture of {name}")
        if "import pyray" in program:
            windows.play_raylib(program, name, keys, at, str(path))
        elif "import pygame" in program:
            import pygame

            pygame.image.save(windows.play_pygame(program, name, {}, keys, at), path)
        else:
            photograph(path, program, keys, at)
        with Image.open(path) as picture:
            picture.convert("RGB").save(path, optimize=True)


SECONDS = {  # of each demo, until it looks as it should
    "boxes3d": 3.0,
    "breakout": 2.1,
    "platformer": 22.3,
    "rollback": 0.9,
    "rooms": 4.68,
    "survivors": 7.0,
    "ten_thousand": 0.6,
    "tunnelling": 1.0,
}
PARTS = {"platformer": 480}  # world units of a demo that are shown side by side, if not all
WIDTH = 440  # pixels of a demo's picture
MOST = 58_000  # bytes


def draw_demo(name: str) -> None:
    """Run a demo for a while and write its picture, small; with a palette if it is large then."""
    from PIL import Image

    from demos.app import catalogue
    from demos.app.painter import Painter

    esper.switch_world(f"picture of {name}")
    scene = catalogue.load(name).build(seed=2)
    scene.keys.bot = True
    for _ in range(round(60 * SECONDS[name])):
        scene.step()
    hide_times(scene)
    picture = Painter(scene, approach(scene, PARTS.get(name))).paint()
    picture = picture.resize(
        (WIDTH, round(WIDTH * picture.height / picture.width)), Image.Resampling.LANCZOS
    )
    path = FOLDER / f"demo_{name}.png"
    picture.save(path, optimize=True)
    for n_colours in (256, 64, 32):
        if path.stat().st_size > MOST:
            palette = picture.quantize(n_colours, Image.Quantize.FASTOCTREE)
            dither = Image.Dither.NONE
            picture.quantize(palette=palette, dither=dither).save(path, optimize=True)
    esper.switch_world("default")
    for world in esper.list_worlds():
        if world.startswith(f"picture of {name}"):
            esper.delete_world(world)


def hide_times(scene) -> None:
    """Leave out labels with times: these stand on the page of the benchmarks alone."""
    labels = scene.labels
    scene.labels = lambda: [label for label in labels() if " ms" not in label.text]


def approach(scene, wide: float | None) -> float:
    """Show so much of a scene, without the line in its corner; return how much larger it is."""
    if wide is None:
        return 1.0
    nearer = scene.view[0] / wide
    scene.view = tuple(side / nearer for side in scene.view)
    scene.status = str
    return nearer


THUMBNAIL = 160  # pixels of a side: the menu shows it wider


def draw_thumbnails() -> None:
    """Write the pictures of the menu, one square for each demo after a plain one."""
    from PIL import Image

    from demos.app import catalogue
    from demos.app.menu import THUMBNAILS

    names = catalogue.shown()
    n_rows = -(-(len(names) + 1) // THUMBNAILS.columns)
    pitch = THUMBNAIL + THUMBNAILS.spacing
    sheet = Image.new("RGB", (THUMBNAILS.columns * pitch, n_rows * pitch), "white")
    for tile, name in enumerate(names, start=1):
        kind = "example" if name in catalogue.examples() else "demo"
        with Image.open(FOLDER / f"{kind}_{name}.png") as picture:
            width, height = picture.width, min(picture.height, round(picture.width * 9 / 16))
            part = picture.convert("RGB").crop((0, 0, width, height))
        small = part.resize((THUMBNAIL, THUMBNAIL), Image.Resampling.LANCZOS)
        sheet.paste(small, THUMBNAILS.corner(tile))
    colours = sheet.quantize(128, dither=Image.Dither.NONE)
    colours.save(THUMBNAILS.path, optimize=True)


CLIPS = [  # a demo, options, from which second to which, how wide, how slow, and a caption
    ("survivors", {"n": 1000}, 6.2, 7.8, None, 1.0, "a crowd of 1,000"),
    ("platformer", {}, 2.4, 3.1, 800, 1.5, "a crate that is pushed, and falls"),
    ("platformer", {}, 3.75, 4.1, 480, 3.0, "a bullet: 400 pixels a frame, slowed"),
    ("platformer", {}, 12.3, 13.2, 480, 1.0, "a lift that carries"),
    ("platformer", {}, 21.6, 23.0, 480, 1.0, "torches, and bats that find their way"),
    ("tunnelling", {}, 0.0, 1.6, None, 1.0, "tested each frame | swept"),
    ("tunnelling", {}, 10.0, 11.4, None, 1.0, "after six bullets"),
]
ANIMATION = (480, 270, 34)  # pixels: width, height, and the height of the caption below
FRAMES_A_SECOND = 12.5
COLOURS = 80  # of a clip, chosen in each of two ways; fewer make a smaller file


def animate(path: Path) -> None:
    """Write the animation of the README: clips of demos, played by their bots."""
    from PIL import Image

    frames = []
    for clip_of in CLIPS:
        clip = list(film(*clip_of))
        strip = Image.new("RGB", (clip[0].width, clip[0].height * 3))
        for n, frame in enumerate((clip[0], clip[len(clip) // 2], clip[-1])):
            strip.paste(frame, (0, n * frame.height))
        palette = Image.new("P", (1, 1))
        ways = (Image.Quantize.MEDIANCUT, Image.Quantize.MAXCOVERAGE)  # many shades; rare colours
        found = [strip.quantize(COLOURS, way).getpalette()[: 3 * COLOURS] for way in ways]
        palette.putpalette(found[0] + found[1])
        frames += [frame.quantize(palette=palette, dither=Image.Dither.NONE) for frame in clip]
    first, *others = frames
    duration = round(1000 / FRAMES_A_SECOND)
    first.save(path, save_all=True, append_images=others, duration=duration, loop=0, optimize=True)


def film(
    name: str, options: dict, start: float, end: float, wide: float | None, slow: float, words: str
):
    """Yield the frames of a clip, each with its words below."""
    from PIL import Image, ImageDraw, ImageFont

    from demos.app import catalogue
    from demos.app.painter import Painter

    width, height, foot = ANIMATION
    esper.switch_world(f"clip {name} {start}")
    scene = catalogue.load(name).build(seed=2, **options)
    scene.keys.bot = True
    hide_times(scene)
    scale = width / scene.view[0] / scene.zoom
    painter = Painter(scene, scale * approach(scene, wide))
    rate = FRAMES_A_SECOND * slow
    wanted = {round(60 * (start + n / rate)) for n in range(round((end - start) * rate))}
    while scene.n_steps <= max(wanted):
        if scene.n_steps in wanted:
            picture = painter.paint()
            frame = Image.new("RGB", (width, height + foot), (14, 15, 24))
            frame.paste(picture, (0, (height - picture.height) // 2))
            pen, font = ImageDraw.Draw(frame), ImageFont.load_default(20)
            pen.rectangle((0, height, width, height + foot), fill=(14, 15, 24))
            pen.text((width / 2, height + 24), words, font=font, fill="white", anchor="ms")
            yield frame
        scene.step()
    esper.switch_world("default")


RECORDINGS = FOLDER.with_name("recordings")
RECORDED_DEMOS = {  # seconds of each recording
    "platformer": 8.0,
    "rooms": 8.0,
    "breakout": 8.0,
}
RECORDED_RECIPES = (  # those that go on for a while, on a small file
    "crumbling_platform",
    "bomb_to_walk_off",
    "damage_knock_back_and_a_moment_of_safety",
    "enemy_that_finds_its_way",
    "ladder",
    "magnet",
    "patrol_that_turns_at_ledges",
    "stomp",
    "triggers",
)


def record_demo(name: str):
    """Return the recording of a demo that a bot plays, and the player if its world is large."""
    from demos.app import catalogue

    esper.switch_world(f"recording of {name}")
    scene = catalogue.load(name).build(seed=2)
    scene.keys.bot = True
    recorder = ec.record(scene.space, trees=True)
    for _ in range(round(60 * RECORDED_DEMOS[name])):
        scene.step()
    recorder.stop()
    esper.switch_world("default")
    return recorder.recording, getattr(scene, "player", None)


def record_recipe(name: str):
    """Return the recording of a recipe's program, in a world that is deleted."""
    before = esper.current_world
    esper.switch_world(f"recording of {name}")
    recorders = []
    install = ec.install

    def watched_install(*args, **settings):
        space = install(*args, **settings)
        recorders.append(ec.record(space, trees=True))
        return space

    ec.install = watched_install
    try:
        exec(compile(programs()[name], name, "exec"), {"__name__": "recipe"})
    finally:
        ec.install = install
        esper.switch_world(before)
        esper.delete_world(f"recording of {name}")
    return recorders[0].recording


def record_all() -> None:
    """Write the recordings of the pages, which share `page.js` on the site."""
    from ecs_collide.recording.page import write_page

    for name in RECORDED_DEMOS:
        recording, player = record_demo(name)
        write_page(recording, RECORDINGS / f"demo_{name}.html", follow=player, script="page.js")
    for name in RECORDED_RECIPES:
        write_page(record_recipe(name), RECORDINGS / f"recipe_{name}.html", script="page.js")


STILLS = FOLDER.with_name("stills")  # for readers who ask for less motion
LAST = 700  # milliseconds for which the end of a film stays
FEW = 24  # colours of a film of the eight scenes, chosen in each of two ways


def draw_published() -> None:
    """Write the films of the eight scenes, a still of each, and the strip that has all of them."""
    from PIL import Image, ImageDraw, ImageFont

    sys.path.insert(0, str(FOLDER.parents[1]))
    from benchmarks.published.eight import EIGHT
    from benchmarks.published.picture import SideBySide
    from demos.app.painter import Painter

    STILLS.mkdir(exist_ok=True)
    films = []
    for case in EIGHT:
        esper.switch_world(f"film of {case.name}")
        scene = SideBySide(case, case.theirs(), case.ours())
        painter, frames = Painter(scene), []
        for _ in range(0, len(scene.sides[0]), case.stride):
            frames.append(painter.paint())
            scene.step()
        esper.switch_world("default")
        esper.delete_world(f"film of {case.name}")
        write_film(FOLDER / f"scene_{case.name}.gif", frames)
        frames[(min(scene.n_seen) - 1) // case.stride].quantize(
            4 * FEW, dither=Image.Dither.NONE
        ).save(STILLS / f"scene_{case.name}.png", optimize=True)
        films.append((case, frames))

    head = 62
    width, height = frames[0].width, head + frames[0].height
    strip, font, small = [], ImageFont.load_default(20), ImageFont.load_default(18)
    for n, (case, frames) in enumerate(films, 1):
        whole = []
        for frame in frames:
            page = Image.new("RGB", (width, height), (14, 15, 24))
            page.paste(frame, (0, head))
            pen = ImageDraw.Draw(page)
            pen.text((width / 2, 25), f"{n} of {len(films)}: {case.title}", "white", font, "ms")
            pen.text((width / 2, 51), case.caption, (190, 196, 216), small, "ms")
            whole.append(page)
        step = -(-len(whole) // 24)  # two seconds each
        strip.append([*whole[:-1:step], whole[-1]])
    write_film(FOLDER / "published.gif", *strip)  # of the README


def write_film(path: Path, *parts: list) -> None:
    """Write parts one after the other; each stays at its end for a moment."""
    from PIL import Image

    frames, times = [], []
    for part in parts:
        rows = Image.new("RGB", (part[0].width, 2 * part[0].height))
        rows.paste(part[0], (0, 0))
        rows.paste(part[-1], (0, part[0].height))
        # The colours of areas as they are, and rare ones, such as of the letters of a number.
        counts = sorted(rows.getcolors(rows.width * rows.height), reverse=True)[:FEW]
        rare = rows.quantize(FEW, Image.Quantize.MAXCOVERAGE).getpalette()[: 3 * FEW]
        palette = Image.new("P", (1, 1))
        palette.putpalette([value for _, colour in counts for value in colour] + rare)
        frames += [frame.quantize(palette=palette, dither=Image.Dither.NONE) for frame in part]
        times += [round(1000 / FRAMES_A_SECOND)] * (len(part) - 1) + [LAST]
    frames[0].save(
        path, save_all=True, append_images=frames[1:], duration=times, loop=0, optimize=True
    )


if __name__ == "__main__":
    if sys.argv[1:2] == ["animation"]:
        animate(FOLDER / "tour.gif")
    elif sys.argv[1:2] == ["published"]:
        draw_published()
    elif sys.argv[1:2] == ["demos"]:
        for name in sys.argv[2:] or SECONDS:
            draw_demo(name)
        draw_thumbnails()
    elif sys.argv[1:2] == ["examples"]:
        photograph_examples(sys.argv[2:] or list(EXAMPLES))
    elif sys.argv[1:] == ["recordings"]:
        record_all()
    else:
        for name, draw in PICTURES.items():
            (FOLDER / name).write_text(str(draw()), "utf-8")
        if "--screen" in sys.argv:
            screenshot(FOLDER / "overlay.png")
            first_game(FOLDER / "first_game.png")
            photograph_tutorial()
