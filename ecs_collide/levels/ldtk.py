"""Load levels drawn with LDtk: cells of IntGrid layers become few boxes, entities become objects.

>>> from ecs_collide.levels import ldtk
>>> level = ldtk.load("world.ldtk", "Cellar", cells={"water": {"sensor": True}})  # doctest: +SKIP
>>> made = level.create({"Coin": (ec.Sensor, Coin), "Start": None})  # doctest: +SKIP

The result is a `Level`, as from `ecs_collide.levels.tiled`.  Its y grows upwards, one unit a pixel.
The levels of a world lie where LDtk shows them.  Their objects have the type and the fields of
LDtk's entities.  The name of an object is the `iid`, so `Level.named` follows a reference.

A project is parsed once, however many of its levels are loaded.
"""

from __future__ import annotations

import pickle
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache, lru_cache, partial
from operator import itemgetter
from pathlib import Path
from typing import Any, NamedTuple

from ecs_collide.levels.cells import Block, Grid, Kind, TileLayer, Tiling, kind_of_body
from ecs_collide.levels.files import LevelFiles
from ecs_collide.levels.frame import Frame, Point
from ecs_collide.levels.level import Level, Skipped, Tile
from ecs_collide.levels.properties import (
    body_of,
    check_names,
    checked_categories,
    is_solid,
)
from ecs_collide.levels.reading import check_numbers, check_place, refuse_damage
from ecs_collide.levels.things import LevelObject, SolidBox
from ecs_collide.levels.tiled_formats import parse

__all__ = ["Level", "LevelObject", "Skipped", "SolidBox", "Tile", "level_names", "load"]

_PROJECT = "project that LDtk"
_LAYOUTS_WITH_PLACES = ("Free", "GridVania")  # in the others the levels are a row or a column
_MOST_CELLS = 2**20  # of a layer whose file lists only the cells that have a value

# The meanings of a key of `cells`, from the least to the most precise.
_MEANINGS = ("a layer", "a group", "a value", "a group of one layer", "a value of one layer")

Value = tuple[int, int | None]
"""The uid of an IntGrid layer and the number of a value; None for all values not named."""


class _LayerDef(NamedTuple):
    """The definition of a layer, with the name and the group of each value by its number.

    A layer that is no IntGrid has no name here and no values: `cells` cannot name it.
    """

    name: str
    values: dict[int, tuple[str, str]]
    offset: Point


class _Saved(NamedTuple):
    """A level of a project as its file has it, and where it lies in its world.

    `lower` is its lower left corner in a world whose y grows upwards, `upper` its upper left one in
    a world whose y grows downwards.  `data` is pickled: each load gets a level that is its own.
    """

    name: str
    iid: str
    lower: Point
    upper: Point
    data: bytes


class _Project(NamedTuple):
    """A parsed project; `entities` has the sizes and pivots of entities by their uid."""

    version: str
    layers: dict[int, _LayerDef]
    entities: dict[int, dict[str, Any]]
    levels: list[_Saved]


def level_names(path: str | Path, *, root: str | Path | None = None) -> list[str]:
    """Return the names of all levels of a project, in the order of the file.

    Parameters
    ----------
    path : str or Path
        The project.
    root : str or Path
        As for `load`.

    Raises
    ------
    FileNotFoundError
        The project is missing.
    ValueError
        The file is not a project.
    """
    return [level.name for level in _project(LevelFiles(Path(path), root)).levels]


def load(
    path: str | Path,
    level: str | None = None,
    *,
    cells: Mapping[str, Mapping[str, Any]] | None = None,
    merge: bool = True,
    categories: Mapping[str, int] | None = None,
    root: str | Path | None = None,
    place: Sequence[float] | None = None,
    y_down: bool = False,
) -> Level:
    """Read one level of an LDtk project.

    Projects of LDtk 0.4 and later are read.  Tile layers and auto-layers make no bodies; they are
    in `Level.map`, for the game to draw.

    A project may come from a stranger: it can open no file outside of `root`.  The two projects
    that were read last stay in memory, so that their other levels need not parse them again.

    Parameters
    ----------
    path : str or Path
        The project; levels in separate files are found beside it.
    level : str
        Its name in LDtk, in any world, or its `iid`; optional if there is only one level.
    cells : mapping
        The properties of the cells of IntGrid layers:
        ``{"platform": {"one_way": True}, "Biomes": {"solid": False}}``.
        The properties are the ones of `ecs_collide.levels.tiled.load`.  All other cells are
        walls.  A key is one of these, the least precise first:

        - the name of a layer, for all of its values,
        - the name of a group of values, in all layers,
        - the name of a value, or its number if it has no name, in all layers,
        - a layer and one of its groups, or of its values: ``"Walls.platform"``.

        If several keys name a value, only the most precise one counts.  The name of the value
        is the type of the box.
    merge : bool
        Join cells of the same value into few boxes; if false, each is a box.
    categories : mapping
        The bit, or the bits, of each name that `categories` and `mask` may use.
    root : str or Path
        The folder in or below which the level's own file lies, as in
        `ecs_collide.levels.tiled.load`.
    place : sequence of 2 floats
        The point of the lower left corner of the level, or of its upper left one if `y_down`.  By
        default the level lies as in its LDtk world, whose origin is the same corner of the world.
        A level of a linear layout has no place there, and lies at the origin.
    y_down : bool
        Whether y grows downwards in the game too, as on a screen.

    Raises
    ------
    FileNotFoundError
        The project or the level's own file is missing.
    ValueError
        The file is not a project, or a part of it is damaged.  A file lies outside of `root`, or
        is not a regular file.  There is no such level, value or property; or a property of a cell
        has an invalid value.
    TypeError
        `cells`, `categories` or `place` has a wrong type.
    """
    file = Path(path)
    cells = {} if cells is None else cells
    if not isinstance(cells, Mapping):
        raise TypeError(f"cells={cells!r} must map the names of values to properties")
    for name, properties in cells.items():
        check_names(properties, f"cells[{name!r}]")
    categories = checked_categories(categories)
    corner = None if place is None else _checked_place(place)
    files = LevelFiles(file, root)
    project = _project(files)
    saved = _level_named(project.levels, level, file)
    asked = _by_value(cells, project.layers, file)
    own_file, named = file, ""
    with refuse_damage(file, _PROJECT):
        raw = pickle.loads(saved.data)
        if raw.get("externalRelPath"):
            own_file = files.find(raw["externalRelPath"], files.folder, "the level's own file")
            named = f" ({file} names it)"
    with refuse_damage(own_file, _PROJECT, named):
        if named:
            raw |= parse(files.read(own_file), "level")
        width, height = raw["pxWid"], raw["pxHei"]
        check_numbers("the level", width=width, height=height)
        if corner is None:
            corner = saved.upper if y_down else saved.lower
        frame = Frame(float(height), corner, bool(y_down))
        try:
            layers, objects = _contents(raw, project, asked, categories, frame)
        except LookupError as error:
            if not project.version.startswith("0."):
                raise
            raise ValueError(
                f"LDtk {project.version} has saved it, without {error} in level "
                f"{saved.name!r}; open it in LDtk and save it"
            ) from error
        tiling = Tiling(Grid(tuple(layers), frame, merge))
        stated = {field["__identifier"]: field["__value"] for field in _list(raw, "fieldInstances")}
        return Level(
            (float(width), float(height)), tiling, tuple(objects), stated, raw,
            key=f"{file.name} {saved.name}",
        )  # fmt: skip


# -- the project --


def _project(files: LevelFiles) -> _Project:
    with refuse_damage(files.level, _PROJECT):
        return _parsed(files.read_level())


@lru_cache(maxsize=2)
def _parsed(data: bytes) -> _Project:
    """Return a project by the content of its file.

    Its path and time would not do: a file can change twice within one tick of the file system.
    """
    raw = parse(data, "project")
    return _Project(
        str(raw.get("jsonVersion", "")),
        {layer["uid"]: _layer_def(layer) for layer in raw["defs"]["layers"]},
        {entity["uid"]: _entity_def(entity) for entity in _list(raw["defs"], "entities")},
        [level for world in (raw, *_list(raw, "worlds")) for level in _levels(world)],
    )


def _layer_def(raw: dict[str, Any]) -> _LayerDef:
    """Return the definition of a layer."""
    is_grid = raw.get("__type", "IntGrid") == "IntGrid"  # old layers of other kinds have values too
    values = _list(raw, "intGridValues") if is_grid else []
    groups = {group["uid"]: group.get("identifier") for group in _list(raw, "intGridValuesGroups")}
    named = {}
    for n, value in enumerate(values, 1):
        number = value.get("value", n)  # before LDtk 0.8 its place in this list
        name, group = value.get("identifier") or number, groups.get(value.get("groupUid"))
        named[number] = str(name), str(group or "")
    name = str(raw.get("identifier", "")) if is_grid else ""
    return _LayerDef(name, named, (raw.get("pxOffsetX", 0), raw.get("pxOffsetY", 0)))


def _entity_def(raw: dict[str, Any]) -> dict[str, Any]:
    """Return the size and the pivot of the entities that do not say them, as before LDtk 0.8."""
    found: dict[str, Any] = {name: raw[name] for name in ("width", "height") if name in raw}
    if "pivotX" in raw and "pivotY" in raw:
        found["__pivot"] = raw["pivotX"], raw["pivotY"]
    return found


def _levels(world: dict[str, Any]) -> Iterator[_Saved]:
    """Yield the levels of a world."""
    corners = []
    for level in world["levels"]:
        x = y = height = 0
        if world.get("worldLayout") in _LAYOUTS_WITH_PLACES:
            x, y, height = level.get("worldX", 0), level.get("worldY", 0), level["pxHei"]
            check_numbers(f"level {level['identifier']!r}", x=x, y=y, height=height)
        corners.append((x, y, y + height))
    left = min((x for x, _, _ in corners), default=0)
    top = min((y for _, y, _ in corners), default=0)
    bottom = max((y for _, _, y in corners), default=0)
    for level, (x, y, below) in zip(world["levels"], corners, strict=True):
        lower, upper = (float(x - left), float(bottom - below)), (float(x - left), float(y - top))
        yield _Saved(
            str(level["identifier"]), level.get("iid", ""), lower, upper, pickle.dumps(level)
        )


def _list(raw: dict[str, Any], name: str) -> list[Any]:
    """Return a list, or an empty one if the file has none, or null."""
    return raw.get(name) or []


# -- the arguments --


def _checked_place(place: Sequence[float]) -> Point:
    try:
        x, y = (float(number) for number in place)
    except (TypeError, ValueError):
        raise TypeError(f"place={place!r} must be two numbers, as (0, 0)") from None
    check_numbers("place", x=x, y=y)
    return x, y


def _level_named(levels: list[_Saved], name: str | None, file: Path) -> _Saved:
    """Return the level of a name or an iid, or the only one for None."""
    if name is None and len(levels) == 1:
        return levels[0]
    found = [level for level in levels if name and name in (level.name, level.iid)]
    if len(found) != 1:
        count = "several levels" if found else "no level"
        known = sorted(level.name for level in levels)
        raise ValueError(f"{file} has {count} {name!r}; it has {known}")
    return found[0]


def _by_value(
    cells: Mapping[str, Mapping[str, Any]], layers: Mapping[int, _LayerDef], file: Path
) -> dict[Value, Mapping[str, Any]]:
    """Return the properties of each value that `cells` names, those of its most precise key."""
    meanings = _meanings(layers)
    ranked: list[tuple[int, set[Value], Mapping[str, Any]]] = []
    for key, properties in cells.items():
        by_rank = meanings.get(key, {})
        if not by_rank:
            known = ", ".join(
                f"{layer.name}: {[name for name, _ in layer.values.values()]}"
                for layer in layers.values()
                if layer.values
            )
            raise ValueError(
                f"cells names {key!r}; {file} has these layers, with these values: {known}"
            )
        rank = max(by_rank)
        if any(values != by_rank[rank] for values in by_rank.values()):
            kinds = " and ".join(_MEANINGS[rank] for rank in sorted(by_rank))
            precise = [
                f"{layer.name}.{name}"
                for uid, layer in layers.items()
                for number, (name, _) in layer.values.items()
                if any((uid, number) in values for values in by_rank.values())
            ]
            raise ValueError(
                f"cells names {key!r}, which is {kinds} in {file}; name one of {precise}"
            )
        others = {(uid, None) for uid, layer in layers.items() if layer.name == key}
        ranked.append((rank, by_rank[rank] | others, properties))
    found: dict[Value, Mapping[str, Any]] = {}
    for _, values, properties in sorted(ranked, key=itemgetter(0)):
        found.update(dict.fromkeys(values, properties))
    return found


def _meanings(layers: Mapping[int, _LayerDef]) -> dict[str, dict[int, set[Value]]]:
    """Return the values that each key may name, by how precise the key is: see `_MEANINGS`."""
    found: dict[str, dict[int, set[Value]]] = defaultdict(lambda: defaultdict(set))
    for uid, layer in layers.items():
        if layer.name:
            found[layer.name][0] |= {(uid, number) for number in layer.values}
        for number, (name, group) in layer.values.items():
            for rank, key in ((1, group), (2, name)):
                if key:
                    found[key][rank].add((uid, number))
                if key and layer.name:
                    found[f"{layer.name}.{key}"][rank + 2].add((uid, number))
    return found


# -- the level --


def _contents(
    raw: dict[str, Any],
    project: _Project,
    asked: Mapping[Value, Mapping[str, Any]],
    categories: Mapping[str, int],
    frame: Frame,
) -> tuple[list[TileLayer], list[LevelObject]]:
    """Return the IntGrid layers and the entities of a level, the lowest layer first."""
    layers: list[TileLayer] = []
    objects: list[LevelObject] = []
    for layer in reversed(raw["layerInstances"]):  # the file begins with the front layer
        name, uid = layer["__identifier"], layer.get("layerDefUid")
        where = f"layer {name!r}"
        definition = project.layers.get(uid, _LayerDef("", {}, (0, 0)))
        corner, grid = _corner_and_grid(layer, definition.offset, where)
        rows = _rows(layer, where)
        if rows:
            if uid not in project.layers and any(map(any, rows)):
                raise ValueError(
                    f"{where} is made after a layer {uid}, which the project does not define"
                )
            kind = cache(partial(_kind, definition, uid, asked, categories, where))
            block = Block(0, 0, rows)
            layers.append(TileLayer(name, len(layers), corner, (grid, grid), [block], kind))
        for thing in _list(layer, "entityInstances"):
            thing = {"iid": "", **project.entities.get(thing.get("defUid"), {}), **thing}
            n = len(objects) + 1
            objects.append(_object(thing, n, name, corner, grid, categories, frame))
    return layers, objects


def _corner_and_grid(layer: dict[str, Any], offset: Point, where: str) -> tuple[Point, float]:
    """Return the upper left corner of a layer, in pixels, and the size of its cells."""
    # LDtk writes the sum since 0.5.
    x = layer.get("__pxTotalOffsetX", offset[0] + layer.get("pxOffsetX", 0))
    y = layer.get("__pxTotalOffsetY", offset[1] + layer.get("pxOffsetY", 0))
    grid = layer["__gridSize"]
    check_numbers(where, x=x, y=y, width=grid)
    return (float(x), float(y)), float(grid)


def _rows(layer: dict[str, Any], where: str) -> list[list[int]]:
    """Return the values of a layer's cells, row by row; none if it is no IntGrid."""
    n_columns, n_rows = layer["__cWid"], layer["__cHei"]
    if not (type(n_columns) is type(n_rows) is int and min(n_columns, n_rows) >= 0):
        raise ValueError(
            f"{where} is {n_columns!r} x {n_rows!r} cells large; both must be whole numbers, "
            "0 or more"
        )
    n_cells = n_columns * n_rows
    is_grid = layer.get("__type") == "IntGrid"
    numbers = layer.get("intGridCsv")
    if numbers is None:
        numbers = _dense(_list(layer, "intGrid"), n_cells, where) if is_grid else []
    # Layers of other kinds have none.
    if len(numbers) != n_cells and (numbers or is_grid):
        raise ValueError(f"{where} is {n_columns} x {n_rows} cells large and has {len(numbers)}")
    if not all(type(number) is int for number in set(numbers)):
        raise ValueError(f"{where} has cells whose values are no whole numbers")
    return [numbers[start : start + n_columns] for start in range(0, len(numbers), n_columns or 1)]


def _dense(some: list[dict[str, int]], n_cells: int, where: str) -> list[int]:
    """Return the values of all cells; before LDtk 0.8 a file lists only cells with a value."""
    if n_cells > _MOST_CELLS:
        raise ValueError(f"{where} has {n_cells} cells, more than {_MOST_CELLS}")
    numbers = [0] * n_cells
    for cell in some:
        if not 0 <= cell["coordId"] < n_cells:
            raise ValueError(f"{where} has no cell {cell['coordId']!r}, only {n_cells} cells")
        numbers[cell["coordId"]] = cell["v"] + 1
    return numbers


def _kind(
    layer: _LayerDef,
    uid: int,
    asked: Mapping[Value, Mapping[str, Any]],
    categories: Mapping[str, int],
    where: str,
    number: int,
) -> Kind:
    """Return the kind of a value in a layer."""
    name, _ = layer.values.get(number, (str(number), ""))
    properties = dict(asked.get((uid, number), asked.get((uid, None), {})))
    owner = f"cell {name!r} in {where}"
    if is_solid(properties, owner) is False:
        return Kind(name, properties)
    properties.pop("solid", None)
    return kind_of_body(name, properties, owner, categories)


def _object(
    thing: dict[str, Any],
    id: int,
    layer: str,
    corner: Point,
    grid: float,
    categories: Mapping[str, int],
    frame: Frame,
) -> LevelObject:
    """Return an entity of the level."""
    called = f"entity {thing['__identifier']} ({thing['iid'] or 'no iid'})"

    def point(column: float, row: float) -> Point:
        return frame.to_world(corner[0] + (column + 0.5) * grid, corner[1] + (row + 0.5) * grid)

    fields = {
        field["__identifier"]: _value_of(field, point) for field in _list(thing, "fieldInstances")
    }
    left, top = _two_numbers(thing, "px", called)
    pivot_x, pivot_y = _two_numbers(thing, "__pivot", called)
    wide, high = thing["width"], thing["height"]
    check_numbers(called, width=wide, height=high)
    right, down = left + (0.5 - pivot_x) * wide, top + (0.5 - pivot_y) * high
    asked = {name: value for name, value in fields.items() if value is not None}
    hint = "; or give a field of the game another name"
    solid, traits = body_of(asked, called, categories, hint)
    found = LevelObject(
        id, thing["iid"], thing["__identifier"], layer,
        frame.to_world(corner[0] + right, corner[1] + down), (wide / 2, high / 2), fields, 0,
        traits, bool(solid),
    )  # fmt: skip
    check_place(found)
    return found


def _two_numbers(raw: dict[str, Any], name: str, owner: str) -> Point:
    found = raw[name]
    if not (isinstance(found, (list, tuple)) and len(found) == 2):
        raise ValueError(f"{owner} has {name}={found!r}; it must be two numbers")
    check_numbers(owner, **{f"{name}[{n}]": number for n, number in enumerate(found)})
    return found[0], found[1]


def _value_of(field: dict[str, Any], point: Callable[[float, float], Point]) -> Any:
    """Return the value of a field; points, which LDtk counts in cells, as points of the world."""
    value, type = field["__value"], field.get("__type")
    if value is None:
        return None
    if type == "Array<Point>":
        return tuple(_value_of({**field, "__type": "Point", "__value": at}, point) for at in value)
    if type == "Point":
        check_numbers(f"field {field['__identifier']!r}", cx=value["cx"], cy=value["cy"])
        return point(value["cx"], value["cy"])
    return value
