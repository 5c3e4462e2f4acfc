"""The pictures of the cookbook: each recipe is run, and what its bodies did is drawn.

A full box is where a body is in the frame of the picture, a dashed one where it began, or was
last if it is gone, and a line is the way of its centre.  Bodies have the names of their variables.
A name is beside its box, at the first place where it lies on no line and on no other name.
"""

from __future__ import annotations

import itertools
import re
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import esper

from docs.drawing import FIRST, INK, SECOND, WIDE, Panel, Picture
from docs.recipe import Frame, Point, Seen, play

PAGES = Path(__file__).parent
HIGH, GAP, NAMED = 200, 16, 12  # pixels: the height of a picture, around a panel, of a name
View = tuple[float, float, float, float]  # left, bottom, right, top; also of a box in pixels


@dataclass
class Recipe:
    """How a recipe is drawn: parts of its world in one frame, and what is added."""

    views: tuple[View, ...]
    frame: int = -1  # counted in steps
    frames: tuple[tuple[int, int], ...] = ()  # of each view: the first one, and that of the picture
    titles: tuple[str, ...] = ()  # of the views
    lines: tuple[tuple[str | Point, str | Point], ...] = ()  # between bodies or points, by names
    marks: tuple[tuple[str | Point, str], ...] = ()  # crosses, with their names
    circle: tuple[Point, float] | None = None
    high: int = HIGH
    ways: bool = True
    players: tuple[str, ...] = ()  # variables whose bodies alone have the colour of players
    # Variables or centres of boxes, and other names for them; an empty one is not written.
    called: tuple[tuple[str | Point, str], ...] = ()
    is_between: bool = False  # two steps: it shows what is drawn then


RECIPES = {
    "two_blocks_that_count_pi": Recipe(((-20, -10, 380, 110),), frame=12),
    "bullets": Recipe(
        ((-20, -30, 540, 30),),
        lines=(("player", "sparks"),),
        marks=(("sparks", "bullet"),),
        called=(("lower", "enemy"), ("upper", "enemy")),
    ),
    "shield_that_follows_its_ship": Recipe(((-20, -40, 220, 40),)),
    "explosion": Recipe(
        ((-104, -104, 104, 104),),
        lines=(((6, 0), (31, 0)), ((-6, 0), (-26, 0))),
        marks=(((0, 0), "explosion"),),
        circle=((0, 0), 100),
        high=300,
        called=(((-30, 0), "wall"),),
    ),
    "stomp": Recipe(((-60, -20, 160, 140),), 110, called=(("left", "enemy"), ("right", "enemy"))),
    "dash": Recipe(((-20, -55, 220, 55),)),
    "ladder": Recipe(((-50, -20, 160, 170),), 73, high=240, called=(((50, 61), "ladder"),)),
    "patrol_that_turns_at_ledges": Recipe(((-110, -25, 130, 50),), 136),
    "crumbling_platform": Recipe(((-90, -20, 90, 110),), 70),
    "grappling_hook": Recipe(
        ((-60, -20, 260, 215),),
        marks=(((116, 190), "anchor"),),
        high=260,
        called=(("floor", ""),),
    ),
    "triggers": Recipe(((-10, -20, 130, 25),)),
    "door_between_rooms": Recipe(
        ((-20, -5, 120, 55), (1980, -5, 2120, 55)),
        59,
        titles=("one room", "another room"),
        called=(((100, 20), "door"), ((2000, 20), "door")),
    ),
    "damage_knock_back_and_a_moment_of_safety": Recipe(
        ((-70, -20, 130, 90),), 48, called=(((100, 16), "enemy"),)
    ),
    "magnet": Recipe(
        ((-20, -20, 220, 40),),
        14,
        called=(("_", ""), *(((30.0 * n, 20), "coin") for n in range(3, 8))),
    ),
    "line_of_sight": Recipe(
        ((-20, -20, 220, 220),),
        lines=(("guard", (192, 0)), ("guard", "player")),
        high=240,
        ways=False,
        called=(((200, 0), "player, seen"), ("player", "player, hidden")),
    ),
    "enemy_that_finds_its_way": Recipe(((-5, -5, 165, 180),), marks=(((152, 8), "goal"),)),
    "a_horde": Recipe(
        ((-75, -50, 120, 50), (-75, -50, 120, 50)),
        frames=((0, 0), (120, 120)),
        titles=("at the start", "after two seconds"),
        ways=False,
        players=("player",),
        called=(("n", ""), ((104, 2), "30 enemies")),
    ),
    "blocks_and_a_paddle": Recipe(((-20, -115, 210, 115),), called=(((0, 100), "blocks"),)),
    "bomb_to_walk_off": Recipe(((-20, -20, 50, 20),)),
    "moves_by_turns": Recipe(
        ((-20, -12, 60, 28),), players=("hero",), called=(((48, 0), "monster"), ((0, 16), "wall"))
    ),
    "crates_that_glide": Recipe(((-12, -14, 76, 14),), players=("hero",), called=(("_", ""),)),
    "people_who_walk_and_talk": Recipe(((-30, -30, 130, 40),), 119, players=("hero",)),
    "placing_buildings": Recipe(((-6, -6, 106, 86),), high=240),
    "drawing_between_steps": Recipe(((8, -2, 17, 2),), is_between=True),
    "floating_origin": Recipe(
        ((-400, -200, 4_400, 900), (-400, -200, 4_400, 900)),
        frames=((0, 270), (280, 399)),
        titles=("before the shift", "after it"),
    ),
    "save_game": Recipe(
        ((-15, -15, 45, 15), (-15, -15, 45, 15)),
        frames=((0, 30), (31, 31)),
        titles=("first run, saved", "second run, restored"),
    ),
    "mouse_picking": Recipe(((180, 180, 620, 420),), marks=(((420, 310), "mouse"),)),
}


def programs() -> dict[str, str]:
    """Return the program of each recipe by its heading, such as ``door_between_rooms``."""
    found = {}
    for page in sorted(PAGES.glob("cookbook_*.md")):
        text = page.read_text("utf-8")
        for heading, program in re.findall(
            r"^## (.+?)$.*?^```python\n(.*?)^```", text, re.M | re.S
        ):
            found[re.sub(r"\W+", "_", heading.lower())] = program
    return found


def way(points: list[Point]) -> list[Point]:
    """Return the points of a way, without those between two others on a line."""
    kept = points[:1]
    for before, here, after in zip(points, points[1:], points[2:], strict=False):
        one = here[0] - before[0], here[1] - before[1]
        two = after[0] - here[0], after[1] - here[1]
        if abs(one[0] * two[1] - one[1] * two[0]) > 1e-9 or one[0] * two[0] + one[1] * two[1] < 0:
            kept.append(here)
    return kept + points[1:][-1:]


def draw_recipe(name: str) -> Picture:
    """Run a recipe in a world of its own, and draw it."""
    recipe, home = RECIPES[name], f"picture of {name}"
    esper.switch_world(home)
    frames, names = play(programs()[name])
    esper.switch_world("default")
    esper.delete_world(home)

    wide = sum(right - left for left, _, right, _ in recipe.views)
    high = max(top - bottom for _, bottom, _, top in recipe.views)
    free = WIDE - GAP * (len(recipe.views) + 1)
    scale = min(free / wide, recipe.high / high)
    head = GAP + (18 if recipe.titles else 0)
    picture = Picture(WIDE, round(high * scale) + head + GAP)
    start = (WIDE - wide * scale - GAP * (len(recipe.views) - 1)) / 2
    for n, view in enumerate(recipe.views):
        panel = Panel(picture, (start - view[0] * scale, head + view[3] * scale), scale)
        begin, end = recipe.frames[n] if recipe.frames else (0, recipe.frame)
        drawing = Drawing(panel, view, recipe, frames[begin : end + 1 or None], names)
        drawing.draw()
        if recipe.titles:
            middle = start + (view[2] - view[0]) * scale / 2
            picture.text((middle, GAP + 4), recipe.titles[n], INK, 14)
        start += (view[2] - view[0]) * scale + GAP
    return picture


class Drawing:
    """A part of a world and its names, which lie on no line where there is room."""

    def __init__(
        self,
        panel: Panel,
        view: View,
        recipe: Recipe,
        frames: list[Frame],
        names: dict[str, Any],
    ) -> None:
        self.panel, self.view, self.recipe, self.frames = panel, view, recipe, frames
        self.names = names
        self.segments: list[tuple[Point, Point]] = []  # in pixels, of what was drawn
        self.words: list[View] = []  # boxes of names, in pixels
        self.first: Frame = {}
        self.last: Frame = {}
        for frame in frames:
            self.first = frame | self.first
            self.last |= frame
        if recipe.players:
            players = {names[variable] for variable in recipe.players}
            for entity, seen in (*self.first.items(), *self.last.items()):
                if entity in players or seen.colour == FIRST:
                    seen.colour = FIRST if entity in players else SECOND

    def draw(self) -> None:
        """Draw the bodies, their ways, what is added, and the names."""
        if self.recipe.is_between:
            self.draw_between()
            return
        for entity, seen in self.last.items():
            is_there = entity in self.frames[-1]
            self.box(seen, "" if is_there and not seen.crosses else "4 3", is_there)
            if seen.moved(self.first[entity]):
                self.box(self.first[entity], "4 3", False)
                if self.recipe.ways:
                    self.draw_way(entity)
        for a, b in self.recipe.lines:
            self.line(self.point(a), self.point(b), INK, "2 3", True)
        if self.recipe.circle:
            centre, radius = self.recipe.circle
            self.panel.picture.ring(self.panel.at(centre), radius * self.panel.scale, INK)
        for where, _ in self.recipe.marks:
            x, y = self.point(where)
            far = 5 / self.panel.scale
            self.line((x - far, y - far), (x + far, y + far), INK)
            self.line((x - far, y + far), (x + far, y - far), INK)
        self.write_names()

    def draw_way(self, entity: int) -> None:
        """Draw the way of a body's centre, as far as it is in the view, with a head."""
        colour = self.last[entity].colour
        places = [frame[entity].centre for frame in self.frames if entity in frame]
        for is_seen, run in itertools.groupby(places, lambda place: inside(self.view, place)):
            points = way(list(run))
            if is_seen and len(points) > 1:
                for n, (here, there) in enumerate(itertools.pairwise(points), 2):
                    self.line(here, there, colour, arrow=n == len(points))

    def draw_between(self) -> None:
        """Draw the bodies at the last two steps, and where they are drawn."""
        before, after = self.frames[-2:]
        places = self.names["space"].interpolated(self.names["clock"].fraction).tolist()
        drawn = dict(zip(self.names["space"].entities, places, strict=True))
        n_steps = len(self.frames) - 1
        shown = []
        for entity, place in drawn.items():
            now = replace(after[entity], centre=tuple(place))
            self.box(before[entity], "4 3", False)
            self.box(after[entity], "4 3", False)
            self.box(now, "", True)
            shown += [(before[entity], f"step {n_steps - 1}"), (now, "drawn")]
            shown.append((after[entity], f"step {n_steps}"))
        for seen, words in shown:
            self.write(self.pixels(seen), words)

    def write_names(self) -> None:
        """Write the names of bodies and crosses."""
        called = dict(self.recipe.called)
        for variable, entity in self.names.items():
            if type(entity) is int and entity in self.last:
                self.write(self.pixels(self.last[entity]), called.get(variable, variable))
        boxes = [seen for frame in (self.first, self.last) for seen in frame.values()]
        for where, words in called.items():
            if not isinstance(where, str) and inside(self.view, where):
                for seen in [seen for seen in boxes if seen.centre == where][:1]:
                    self.write(self.pixels(seen), words)
        for where, words in self.recipe.marks:
            x, y = self.panel.at(self.point(where))
            self.write((x - 5, y - 5, x + 5, y + 5), words)

    def write(self, box: View, words: str) -> None:
        """Write words beside a box in pixels, or inside of it, where they lie on the least."""
        left, top, right, bottom = box
        wide, picture = 0.62 * NAMED * len(words), self.panel.picture
        x, y = (left + right) / 2, (top + bottom) / 2
        if not words or not (0 <= x <= picture.width and 0 <= y <= picture.height):
            return
        places = [(x, top - 4), (right + 6 + wide / 2, y + 4), (left - 6 - wide / 2, y + 4)]
        places += [(x, bottom + 12), (x, y + 4)]
        places += [(right + 6 + wide / 2, top - 2), (left - 6 - wide / 2, top - 2)]

        def cost(place: Point) -> float:
            x0, x1 = place[0] - wide / 2, place[0] + wide / 2
            y0, y1 = place[1] - 0.8 * NAMED, place[1] + 0.25 * NAMED
            found = sum(crosses((x0, y0, x1, y1), *segment) for segment in self.segments)
            found += sum(
                x0 < word[2] and word[0] < x1 and y0 < word[3] and word[1] < y1
                for word in self.words
            )
            return found + 9 * (x0 < 2 or y0 < 2 or x1 > picture.width - 2 or y1 > picture.height)

        x, y = min(places, key=cost)
        self.words.append((x - wide / 2, y - 0.8 * NAMED, x + wide / 2, y + 0.25 * NAMED))
        picture.text((x, y), words, INK, NAMED)

    def point(self, what: str | Point) -> Point:
        """Return a point, by the name of a body or of a list of points."""
        value = self.names[what] if isinstance(what, str) else what
        if isinstance(value, int):
            return self.last[value].centre
        return value[0] if isinstance(value, list) else value

    def pixels(self, seen: Seen) -> View:
        """Return the left, top, right and bottom of a body in the picture."""
        (x, y), (half_x, half_y) = seen.centre, seen.half
        return *self.panel.at((x - half_x, y + half_y)), *self.panel.at((x + half_x, y - half_y))

    def line(
        self, here: Point, there: Point, colour: str, dash: str = "", arrow: bool = False
    ) -> None:
        """Draw a line between two points of the world."""
        ends = self.panel.at(here), self.panel.at(there)
        self.segments.append(ends)
        self.panel.picture.line(*ends, colour, dash=dash, arrow=arrow)

    def box(self, seen: Seen, dash: str, is_there: bool) -> None:
        """Draw the part of a box that is in the view."""
        low = [max(self.view[i], seen.centre[i] - seen.half[i]) for i in (0, 1)]
        high = [min(self.view[i + 2], seen.centre[i] + seen.half[i]) for i in (0, 1)]
        if low[0] < high[0] and low[1] < high[1]:
            half = ((high[0] - low[0]) / 2, (high[1] - low[1]) / 2)
            centre = (low[0] + half[0], low[1] + half[1])
            self.panel.box(centre, half, seen.colour, 0.25 if is_there else 0.0, dash)
            corners = [self.panel.at((x, y)) for x, y in (low, (low[0], high[1]), high)]
            corners += [self.panel.at((high[0], low[1])), corners[0]]
            self.segments += itertools.pairwise(corners)


def inside(view: View, point: Point) -> bool:
    """Return whether a point is in a part of a world."""
    return view[0] <= point[0] <= view[2] and view[1] <= point[1] <= view[3]


def crosses(box: View, here: Point, there: Point) -> bool:
    """Return whether a line between two points comes into a box."""
    enter, leave = 0.0, 1.0
    for axis in (0, 1):
        start, length = here[axis], there[axis] - here[axis]
        low, high = box[axis] - start, box[axis + 2] - start
        if length == 0:
            if not low < 0 < high:
                return False
        else:
            near, far = sorted((low / length, high / length))
            enter, leave = max(enter, near), min(leave, far)
    return enter < leave
