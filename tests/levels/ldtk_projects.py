"""Parts of LDtk projects, as the editor saves them, without what only the editor needs."""

from __future__ import annotations

import json
from typing import Any

VALUES = [
    {"value": 1, "identifier": "walls"},
    {"value": 2, "identifier": "platform"},
    {"value": 3, "identifier": None},
]
GRID = {"uid": 5, "identifier": "Grid", "__type": "IntGrid"}


def layer(kind: str, **more: Any) -> dict[str, Any]:
    """Return a layer of 4 x 3 cells of 10 pixels."""
    empty = {"intGridCsv": [], "entityInstances": [], "__cWid": 4, "__cHei": 3, "__gridSize": 10}
    offset = {"__pxTotalOffsetX": 0, "__pxTotalOffsetY": 0}
    return {"__identifier": kind, "layerDefUid": 5, **empty, **offset, **more}


def cells(picture: str, **more: Any) -> dict[str, Any]:
    """Return an IntGrid layer whose rows have a digit for each cell."""
    return layer("Grid", **{"intGridCsv": [int(mark) for mark in "".join(picture.split())], **more})


def entity(kind: str, px: tuple[int, int], **more: Any) -> dict[str, Any]:
    """Return an entity of 10 x 20 pixels, held at its upper left corner."""
    fields = [{"__identifier": name, "__value": v} for name, v in more.pop("says", {}).items()]
    own = {"__identifier": kind, "iid": f"{kind} {px}", "px": list(px), "width": 10, "height": 20}
    return {**own, "__pivot": [0, 0], "fieldInstances": fields, **more}


def two_rooms() -> str:
    """Return the project of the page on levels: a hall, and a higher cave to its right."""
    door = {"levelIid": "of Cave", "entityIid": "Coin (100, 60)"}
    hall = [
        entity("Hero", (20, 30)),
        entity("Door", (140, 30), says={"to": door}),
    ]
    rooms = {
        "Hall": (0, 0, f"{'0' * 16} {'0' * 10}222000 {'0' * 48} {'1' * 16}", hall),
        "Cave": (160, -30, f"{'1' * 16} {'0' * 112} {'1' * 16}", [entity("Coin", (100, 60))]),
    }
    levels = []
    for name, (x, y, picture, things) in rooms.items():
        high = len("".join(picture.split())) // 16
        size = {"__cWid": 16, "__cHei": high}
        layers = [
            layer("Things", entityInstances=things, **size),
            cells(picture, **size),
            cells("1" * (16 * high), **size, __identifier="Biomes", layerDefUid=6),
        ]
        place = {"worldX": x, "worldY": y, "pxWid": 160, "pxHei": 10 * high}
        about = {"identifier": name, "iid": f"of {name}", "fieldInstances": []}
        levels.append({**about, **place, "layerInstances": layers})
    biomes = {"uid": 6, "identifier": "Biomes", "intGridValues": [{"value": 1, "identifier": None}]}
    defs = {"layers": [{**GRID, "intGridValues": VALUES}, biomes]}
    return json.dumps({"worldLayout": "GridVania", "levels": levels, "defs": defs})
