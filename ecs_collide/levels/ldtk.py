"""Load levels drawn with LDtk: cells of IntGrid layers become few boxes, entities become objects.

>>> from ecs_collide import ldtk                            # doctest: +SKIP
>>> level = ldtk.load("world.ldtk", "Cellar", cells={"water": {"sensor": True}})  # doctest: +SKIP
>>> made = level.create({"Coin": (ec.Sensor, Coin), "Start": None})  # doctest: +SKIP

The result is a `Level`, as from `ecs_collide.levels.tiled`.  Its y grows upwards from the
bottom-left corner, one unit a pixel.  Its objects have the type and the fields of LDtk's entities,
and their name is the `iid`, so that references lead to them.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from ecs_collide.levels.cells import Block, Grid, Kind, Part, TileLayer
from ecs_collide.levels.files import LevelFiles
from ecs_collide.levels.frame import Frame
from ecs_collide.levels.level import Level, Skipped, Tile
from ecs_collide.levels.properties import (
    check_names,
    checked_categories,
    is_solid,
    ramp_in,
    traits_of,
)
from ecs_collide.levels.reading import check_numbers, check_place, refuse_damage
from ecs_collide.levels.things import LevelObject, SolidBox

__all__ = ["Level", "LevelObject", "Skipped", "SolidBox", "Tile", "load"]

_PROJECT = "project that LDtk"

# The values of each IntGrid layer by their numbers; the layers by their uid.
_Values = dict[int, dict[int, dict[str, Any]]]


def load(
    path: str | Path,
    level: str | None = None,
    *,
    cells: Mapping[str, Mapping[str, Any]] | None = None,
    merge: bool = True,
    categories: Mapping[str, int] | None = None,
    root: str | Path | None = None,
) -> Level:
    """Read one level of an LDtk project.

    A project may come from a stranger.  It can open no file outside of `root`, and reading takes
    time and memory in proportion to its files.

    Parameters
    ----------
    path : str or Path
        The project; levels in separate files are found beside it.
    level : str
        Its name in LDtk, in any world; optional if there is only one level.
    cells : mapping
        The properties of the cells of IntGrid layers, by the name of their value, or by its
        number if it has no name: ``{"platform": {"one_way": True}, "grass": {"solid": False}}``.
        The properties are the ones of `ecs_collide.levels.tiled.load`.  All other values are
        walls.  The name is the type of the box.
    merge : bool
        Join cells of the same value into few boxes; if false, each is a box.
    categories : mapping
        The bit, or the bits, of each name that `categories` and `mask` may use.
    root : str or Path
        The folder in or below which every file lies that the level names: its own, and the
        pictures of its layers and its background, even after symbolic links.  By default the
        folder of the project.  A level's own file must be a regular file.  Pictures are opened
        by the game, if at all, and need not exist.

    Raises
    ------
    FileNotFoundError
        The project or the level's own file is missing.
    ValueError
        The file is not a project, or a part of it is damaged.  A file lies outside of `root`, or
        is not a regular file.  There is no such level.  `cells` names a value or a property that
        does not exist.  A property has an invalid value.  The message names the file or the
        argument.
    TypeError
        `cells` or `categories` is not a mapping, or has values of a wrong type.
    """
    file = Path(path)
    cells = {} if cells is None else cells
    if not isinstance(cells, Mapping):
        raise TypeError(f"cells={cells!r} must map the names of values to properties")
    for name, properties in cells.items():
        check_names(properties, f"cells[{name!r}]")
    categories = checked_categories(categories)
    files = LevelFiles(file, root)
    with refuse_damage(file, _PROJECT):
        project = json.loads(files.read_level())
        levels = [*project["levels"]]
        levels += [found for world in project.get("worlds") or () for found in world["levels"]]
        names = [found["identifier"] for found in levels]
        values = {
            layer["uid"]: {value["value"]: value for value in layer.get("intGridValues", ())}
            for layer in project["defs"]["layers"]
        }
        known = {_name(values, uid, number) for uid in values for number in values[uid]}
        level_names, value_names = sorted(map(str, names)), sorted(map(str, known))
    if level is None and len(names) == 1:
        (level,) = names
    if names.count(level) != 1:
        found = "several levels" if level in names else "no level"
        raise ValueError(f"{file} has {found} {level!r}; it has {level_names}")
    for name in cells:
        if name not in known:
            raise ValueError(f"cells names {name!r}; {file} has the values {value_names}")
    raw = levels[names.index(level)]
    own_file = file
    with refuse_damage(file, _PROJECT):
        name = raw.get("externalRelPath")
        if name:
            own_file = files.find(name, files.folder, "the level's own file")
    with refuse_damage(own_file, _PROJECT, f" ({file} names it)" if name else ""):
        if name:
            raw = json.loads(files.read(own_file))
        _check_pictures(raw, files)
        key = f"{file.name} {raw['identifier']}"
        return _read(raw, values, cells, merge, categories, key)


def _check_pictures(raw: dict[str, Any], files: LevelFiles) -> None:
    """Raise ValueError if a picture lies outside; a layer or the background may have none."""
    named = [(raw.get("bgRelPath"), "the background")]
    named += [
        (layer.get("__tilesetRelPath"), f"the tileset of layer {layer.get('__identifier')!r}")
        for layer in raw["layerInstances"]
    ]
    for name, what in named:
        if name:
            files.check_picture(name, files.folder, what)


def _name(values: _Values, uid: int, number: int) -> str:
    """Return the name of a value of an IntGrid layer."""
    return values[uid].get(number, {}).get("identifier") or str(number)


def _read(
    raw: dict[str, Any],
    values: _Values,
    cells: Mapping[str, Mapping[str, Any]],
    merge: bool,
    categories: Mapping[str, int],
    key: str,
) -> Level:
    """Return a level of a project; `values` names the cells of each layer."""
    width, height = raw["pxWid"], raw["pxHei"]
    check_numbers("the level", width=width, height=height)
    layers: list[TileLayer] = []
    objects: list[LevelObject] = []
    for layer in reversed(raw["layerInstances"]):  # the file begins with the front layer
        x, y, grid = layer["__pxTotalOffsetX"], layer["__pxTotalOffsetY"], layer["__gridSize"]
        where = f"layer {layer['__identifier']!r}"
        check_numbers(where, x=x, y=y, width=grid)
        tiles = _rows(layer, values, where)
        if tiles:
            kind = _kinds(layer, values, cells, categories, where)
            block = Block(0, 0, tiles)
            corner, size = (float(x), float(y)), (float(grid), float(grid))
            layers.append(
                TileLayer(layer["__identifier"], len(layers), corner, size, [block], kind)
            )
        for thing in layer["entityInstances"]:
            fields = {
                field["__identifier"]: _value_of(field, (x, y), grid, height)
                for field in thing["fieldInstances"]
            }
            asked = {name: value for name, value in fields.items() if value is not None}
            called = f"entity {thing['__identifier']} ({thing['iid']})"
            (left, top), (pivot_x, pivot_y) = thing["px"], thing["__pivot"]
            wide, high = thing["width"], thing["height"]
            check_numbers(called, x=left, y=top, width=wide, height=high)
            check_numbers(called, pivot_x=pivot_x, pivot_y=pivot_y)
            centre = (
                x + left + (0.5 - pivot_x) * wide,
                height - (y + top + (0.5 - pivot_y) * high),
            )
            found = LevelObject(
                len(objects) + 1, thing["iid"], thing["__identifier"], layer["__identifier"],
                centre, (wide / 2, high / 2), fields, 0, traits_of(asked, called, categories),
                bool(is_solid(asked, called)),
            )  # fmt: skip
            check_place(found)
            objects.append(found)
    stated = {field["__identifier"]: field["__value"] for field in raw["fieldInstances"]}
    field_of_tiles = Grid(tuple(layers), Frame(float(height)), merge)
    n_cells = sum(len(row) for layer in layers for block in layer.blocks for row in block.rows)
    solids, places = field_of_tiles.solids(n_cells)
    return Level(
        (float(width), float(height)), solids, tuple(objects), stated, raw,
        key=key, _grid=field_of_tiles, _places=places,
    )  # fmt: skip


def _value_of(
    field: dict[str, Any], corner: tuple[float, float], grid: float, height: float
) -> Any:
    """Return the value of a field; points, which LDtk counts in cells, as points of the world."""
    value = field["__value"]
    if field.get("__type") == "Point" and value is not None:
        check_numbers(f"field {field['__identifier']!r}", cx=value["cx"], cy=value["cy"])
        return (
            corner[0] + (value["cx"] + 0.5) * grid,
            height - (corner[1] + (value["cy"] + 0.5) * grid),
        )
    if field.get("__type") == "Array<Point>":
        one = {**field, "__type": "Point"}
        return tuple(_value_of({**one, "__value": each}, corner, grid, height) for each in value)
    return value


def _rows(layer: dict[str, Any], values: _Values, where: str) -> list[list[int]]:
    """Return the values of a layer's cells, row by row; none if it is no IntGrid."""
    grid, n_columns, n_rows = layer["intGridCsv"], layer["__cWid"], layer["__cHei"]
    # Layers of other kinds have none.
    if len(grid) != n_columns * n_rows and (grid or layer.get("__type") == "IntGrid"):
        raise ValueError(f"{where} is {n_columns} x {n_rows} cells large and has {len(grid)}")
    if not (type(n_columns) is type(n_rows) is int and min(n_columns, n_rows) >= 0):
        raise ValueError(
            f"{where} is {n_columns!r} x {n_rows!r} cells large; both must be whole numbers, "
            "0 or more"
        )
    uid = layer["layerDefUid"]
    if any(grid) and uid not in values:
        raise ValueError(f"{where} is made after a layer {uid}, which the project does not define")
    return [grid[start : start + n_columns] for start in range(0, len(grid), n_columns or 1)]


def _kinds(
    layer: dict[str, Any],
    values: _Values,
    cells: Mapping[str, Mapping[str, Any]],
    categories: Mapping[str, int],
    where: str,
) -> Callable[[int], Kind]:
    """Return a function that returns what a value is in a layer."""
    uid = layer["layerDefUid"]

    @cache
    def kind(number: int) -> Kind:
        name = _name(values, uid, number)
        properties = dict(cells.get(name, {}))
        owner = f"cell {name!r} in {where}"
        if is_solid(properties, owner) is False:
            return Kind(name, properties)
        properties.pop("solid", None)
        part = Part((name, ""), None, ramp_in(properties, owner))
        made = name, properties, traits_of(properties, owner, categories)
        return Kind(name, properties, (part,), {part: made})

    return kind
