"""Load levels drawn with LDtk: cells of IntGrid layers become few boxes, entities become objects.

>>> from ecs_collide import ldtk                            # doctest: +SKIP
>>> level = ldtk.load("world.ldtk", "Cellar", cells={"water": {"sensor": True}})  # doctest: +SKIP
>>> made = level.create({"Coin": (ec.Sensor, Coin), "Start": None})  # doctest: +SKIP

What comes out is the `Level` of `ecs_collide.tiled`, upwards from the level's bottom-left
corner, one unit a pixel; its objects have the type and the fields of LDtk's entities,
and are named by their `iid`, so that references lead to them.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ecs_collide._level_traits import check_categories, check_names, is_solid, traits_of
from ecs_collide._levels import (
    Level,
    LevelObject,
    SolidBox,
    check_numbers,
    rectangles,
    singles,
)

__all__ = ["Level", "LevelObject", "SolidBox", "load"]

# The values of each IntGrid layer by their numbers; the layers by their uid.
_Values = dict[int, dict[int, dict[str, Any]]]


def load(
    path: str | Path,
    level: str | None = None,
    *,
    cells: Mapping[str, Mapping[str, Any]] | None = None,
    merge: bool = True,
    categories: Mapping[str, int] | None = None,
) -> Level:
    """Read one level of an LDtk project.

    Parameters
    ----------
    path : str or Path
        The project; levels in files of their own are found beside it.
    level : str
        Its name in LDtk, in whichever world; may be left out where there is only one.
    cells : mapping
        What the cells of IntGrid layers are, by the name of their value, or its number
        where it has none: the properties of `ecs_collide.tiled.load`, as
        ``{"platform": {"one_way": True}, "grass": {"solid": False}}``.  All other values are
        walls.  The name is the type of the box.
    merge : bool
        Join cells of the same value into few boxes; if false, each is a box.
    categories : mapping
        The bit, or the bits, of each name that `categories` and `mask` may use.

    Raises
    ------
    FileNotFoundError
        The project or the level's own file is missing.
    ValueError
        The file is no project, or a part of it is damaged; there is no such level; `cells`
        names a value that is not there, or a property that does not exist; or a property
        has a value that says nothing.  The message names the file, or the argument.
    TypeError
        `cells` or `categories` is no mapping, or one of other things.
    """
    file = Path(path)
    cells = {} if cells is None else cells
    if not isinstance(cells, Mapping):
        raise TypeError(f"cells={cells!r} must map the names of values to properties")
    for name, properties in cells.items():
        check_names(properties, f"cells[{name!r}]")
    categories = {} if categories is None else categories
    check_categories(categories)

    project = _content(file)
    with _no_project(file):
        levels = [*project["levels"]]
        levels += [found for world in project.get("worlds") or () for found in world["levels"]]
        names = [found["identifier"] for found in levels]
        values = {
            layer["uid"]: {value["value"]: value for value in layer.get("intGridValues", ())}
            for layer in project["defs"]["layers"]
        }
        known = {_name(values, uid, number) for uid in values for number in values[uid]}
    if level is None and len(names) == 1:
        (level,) = names
    if names.count(level) != 1:
        found = "several levels" if level in names else "no level"
        raise ValueError(f"{file} has {found} {level!r}; it has {sorted(map(str, names))}")
    for name in cells:
        if name not in known:
            raise ValueError(f"cells names {name!r}; {file} has the values {sorted(known)}")
    raw = levels[names.index(level)]
    with _no_project(file):
        own_file = file.parent / (raw.get("externalRelPath") or file.name)
    if own_file != file:
        raw = _content(own_file)
    with _no_project(own_file):
        return _read(raw, values, cells, merge, categories)


@contextmanager
def _no_project(path: Path) -> Iterator[None]:
    """Raise whatever is wrong with a file as a ValueError that names it."""
    try:
        yield
    except (LookupError, TypeError, AttributeError, ArithmeticError, ValueError) as error:
        if type(error) is ValueError:  # not one of JSON or of UTF-8
            raise ValueError(f"{path}: {error}") from error
        raise ValueError(f"{path} is no project that LDtk has saved: {error!r}") from error


def _content(path: Path) -> Any:
    """Return what is in a file."""
    with _no_project(path):
        return json.loads(path.read_bytes())


def _name(values: _Values, uid: int, number: int) -> str:
    """Return what a value of an IntGrid layer is called."""
    return values[uid].get(number, {}).get("identifier") or str(number)


def _read(
    raw: dict[str, Any],
    values: _Values,
    cells: Mapping[str, Mapping[str, Any]],
    merge: bool,
    categories: Mapping[str, int],
) -> Level:
    """Return a level of a project; `values` names the cells of each layer."""
    width, height = raw["pxWid"], raw["pxHei"]
    check_numbers("the level", width=width, height=height)
    solids: list[SolidBox] = []
    objects: list[LevelObject] = []
    for layer in reversed(raw["layerInstances"]):  # the file begins with what is in front
        x, y, grid = layer["__pxTotalOffsetX"], layer["__pxTotalOffsetY"], layer["__gridSize"]
        where = f"layer {layer['__identifier']!r}"
        check_numbers(where, x=x, y=y, width=grid)
        for name, taken in _taken(layer, values, where).items():
            properties = dict(cells.get(name, {}))
            owner = f"cell {name!r} in {where}"
            if is_solid(properties, owner) is False:
                continue
            properties.pop("solid", None)
            traits = traits_of(properties, owner, categories)
            for column, row, n_columns, n_rows in (rectangles if merge else singles)(taken):
                half = (n_columns * grid / 2, n_rows * grid / 2)
                centre = (x + column * grid + half[0], height - (y + row * grid + half[1]))
                solids.append(SolidBox(centre, half, name, properties, traits))
        for thing in layer["entityInstances"]:
            fields = {field["__identifier"]: field["__value"] for field in thing["fieldInstances"]}
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
            objects.append(
                LevelObject(
                    len(objects) + 1, thing["iid"], thing["__identifier"], layer["__identifier"],
                    centre, (wide / 2, high / 2), fields, 0, traits_of(asked, called, categories),
                    bool(is_solid(asked, called)),
                )
            )  # fmt: skip
    says = {field["__identifier"]: field["__value"] for field in raw["fieldInstances"]}
    return Level((float(width), float(height)), tuple(solids), tuple(objects), says, raw)


def _taken(layer: dict[str, Any], values: _Values, where: str) -> dict[str, set[tuple[int, int]]]:
    """Return the columns and rows of a layer's cells by the names of their values."""
    grid, n_columns, n_rows = layer["intGridCsv"], layer["__cWid"], layer["__cHei"]
    # Layers of other kinds have none.
    if len(grid) != n_columns * n_rows and (grid or layer.get("__type") == "IntGrid"):
        raise ValueError(f"{where} is {n_columns} x {n_rows} cells large and has {len(grid)}")
    uid = layer["layerDefUid"]
    if any(grid) and uid not in values:
        raise ValueError(f"{where} is made after a layer {uid}, which the project does not define")
    taken: dict[str, set[tuple[int, int]]] = {}
    for place, value in enumerate(grid):
        if value:
            row, column = divmod(place, n_columns)
            taken.setdefault(_name(values, uid, value), set()).add((column, row))
    return taken
