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
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ecs_collide._level_traits import is_solid, traits_of
from ecs_collide._levels import Level, LevelObject, SolidBox, rectangles, singles

__all__ = ["Level", "LevelObject", "SolidBox", "load"]


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
        The file is no project, there is no such level, `cells` names a value that is
        not there, or a property has a value that says nothing.
    """
    path = Path(path)
    try:
        project = json.loads(path.read_text("utf-8"))
        levels = [*project["levels"]]
        levels += [found for world in project.get("worlds") or () for found in world["levels"]]
        by_name = {found["identifier"]: found for found in levels}
        if level is None and len(by_name) == 1:
            (level,) = by_name
        if level not in by_name:
            raise ValueError(f"{path} has no level {level!r}; it has {sorted(by_name)}")
        raw = by_name[level]
        if raw.get("externalRelPath"):
            raw = json.loads((path.parent / raw["externalRelPath"]).read_text("utf-8"))
        values = {
            layer["uid"]: {value["value"]: value for value in layer.get("intGridValues", ())}
            for layer in project["defs"]["layers"]
        }
        names = {_name(values, uid, number) for uid in values for number in values[uid]}
        for name in cells or ():
            if name not in names:
                raise ValueError(f"cells names {name!r}; {path} has the values {sorted(names)}")
        return _read(raw, values, cells or {}, merge, categories or {})
    except (LookupError, TypeError, AttributeError, json.JSONDecodeError) as error:
        raise ValueError(f"{path} is no project that LDtk has saved: {error!r}") from error


def _name(values: dict[int, dict[int, dict[str, Any]]], uid: int, number: int) -> str:
    """Return what a value of an IntGrid layer is called."""
    return values[uid].get(number, {}).get("identifier") or str(number)


def _read(
    raw: dict[str, Any],
    values: dict[int, dict[int, dict[str, Any]]],
    cells: Mapping[str, Mapping[str, Any]],
    merge: bool,
    categories: Mapping[str, int],
) -> Level:
    """Return a level of a project; `values` names the cells of each layer."""
    height = float(raw["pxHei"])
    solids: list[SolidBox] = []
    objects: list[LevelObject] = []
    for layer in reversed(raw["layerInstances"]):  # the file begins with what is in front
        x, y, grid = layer["__pxTotalOffsetX"], layer["__pxTotalOffsetY"], layer["__gridSize"]
        taken: dict[str, set[tuple[int, int]]] = {}
        for place, value in enumerate(layer["intGridCsv"]):
            if value:
                name = _name(values, layer["layerDefUid"], value)
                row, column = divmod(place, layer["__cWid"])
                taken.setdefault(name, set()).add((column, row))
        for name, found in taken.items():
            properties = dict(cells.get(name, {}))
            owner = f"cell {name!r} in layer {layer['__identifier']!r}"
            if is_solid(properties, owner) is False:
                continue
            properties.pop("solid", None)
            traits = traits_of(properties, owner, categories)
            for column, row, n_columns, n_rows in (rectangles if merge else singles)(found):
                half = (n_columns * grid / 2, n_rows * grid / 2)
                centre = (x + column * grid + half[0], height - (y + row * grid + half[1]))
                solids.append(SolidBox(centre, half, name, properties, traits))
        for thing in layer["entityInstances"]:
            fields = {field["__identifier"]: field["__value"] for field in thing["fieldInstances"]}
            asked = {name: value for name, value in fields.items() if value is not None}
            called = f"entity {thing['__identifier']} ({thing['iid']})"
            (left, top), (pivot_x, pivot_y) = thing["px"], thing["__pivot"]
            centre = (
                x + left + (0.5 - pivot_x) * thing["width"],
                height - (y + top + (0.5 - pivot_y) * thing["height"]),
            )
            half = (thing["width"] / 2, thing["height"] / 2)
            objects.append(
                LevelObject(
                    len(objects) + 1, thing["iid"], thing["__identifier"], layer["__identifier"],
                    centre, half, fields, 0, traits_of(asked, called, categories),
                    bool(is_solid(asked, called)),
                )
            )  # fmt: skip
    says = {field["__identifier"]: field["__value"] for field in raw["fieldInstances"]}
    return Level((float(raw["pxWid"]), height), tuple(solids), tuple(objects), says, raw)
