"""A recording as one HTML page that plays it in a browser, without a network.

The page holds `page.js` and the frames: JSON, packed with gzip, in base64.  A frame lists only the
bodies that changed.  Boxes and contacts come from the snapshots, so custom components of position
and size need nothing in JavaScript.
"""

from __future__ import annotations

import base64
import gzip
import html
import json
from collections.abc import Iterable, Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ecs_collide.debug.shapes import COLOURS, PALETTE, shown_normals
from ecs_collide.queries.inspection import BodyKind
from ecs_collide.recording.frames import Fields, describe
from ecs_collide.recording.player import Player, pressed
from ecs_collide.recording.recording import Recording, RecordingError

FORMAT = "ecs_collide page 1"
_AROUND = 0.25  # of the longer side of the area in which bodies move: what is seen around it
_PAGE = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<body>
<script type="text/plain" id="recording">{data}</script>
{player}
<script>startPage();</script>
</body>
</html>
"""


def write_page(
    recording: Recording, path: Path | str, *, follow: int | None = None, script: str | None = None
) -> Path:
    """Write a page that plays a recording; return its path.

    Parameters
    ----------
    recording : Recording
    path : Path or str
    follow : int, optional
        The entity that stays in the middle of the picture; by default all that moves is in sight.
    script : str, optional
        The address of `page.js`, for the pages of a site that share it; by default the page holds
        it.

    Raises
    ------
    RecordingError
        The recording has no steps, or no snapshots, or never has the entity.
    """
    path = Path(path)
    data = json.dumps(page_data(recording, follow), separators=(",", ":"))
    packed = gzip.compress(data.encode(), 9, mtime=0)
    text = base64.b64encode(packed).decode("ascii")
    if script is None:
        code = files("ecs_collide.recording").joinpath("page.js").read_text("utf-8")
        player = f"<script>\n{code}</script>"
    else:
        player = f'<script src="{html.escape(script)}"></script>'
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(_PAGE.format(title=html.escape(path.stem), data=text, player=player), "utf-8")
    return path


def page_data(recording: Recording, follow: int | None = None) -> dict[str, Any]:
    """Return what a page holds: numbers in world units, of the first two axes."""
    if follow is not None and not any(follow in frame.entities for frame in recording.frames):
        raise RecordingError(f"--follow {follow}: no step of the recording has such an entity")
    player = Player(recording)
    try:
        frames: list[Any] = []
        known: dict[int, list[Any]] = {}
        trees: Any = {}
        everything, moving = np.full((2, 4), np.inf)  # the upper corner is negative
        for step in range(player.first, player.last + 1):
            player.seek(step)
            bodies = _bodies(player)
            if not frames and not bodies and step < player.last:
                continue  # before its first step a space knows no bodies
            frames.append(_frame(player, known, bodies))
            if player.frame.trees != trees:
                frames[-1]["trees"] = trees = player.frame.trees
            corners = np.array([body[2:6] for body in bodies.values()]).reshape(-1, 4)
            corners[:, 2:] *= -1.0
            moves = [body[1] & BodyKind.MOVES != 0 for body in bodies.values()]
            everything = np.minimum(everything, corners.min(axis=0, initial=np.inf))
            moving = np.minimum(moving, corners[moves].min(axis=0, initial=np.inf))
            known = bodies
        return {
            "format": FORMAT,
            "yUp": bool(player.space.up[1] >= 0),
            "view": _view(everything, moving),
            "follow": follow,
            "colours": _names_of_colours(PALETTE.tolist()),
            "contactColours": _names_of_colours(
                [COLOURS[name] for name in ("contact", "crossing")]
            ),
            "treeColours": _names_of_colours(
                [COLOURS[name] for name in ("fat", "branch of still", "branch of moving")]
            ),
            "frames": frames,
        }
    finally:
        player.close()


def _view(everything: NDArray[np.float64], moving: NDArray[np.float64]) -> list[float]:
    """Return the min and the max corner of the view: where bodies move, and some more."""
    view = everything
    if np.isfinite(moving).all():
        around = _AROUND * -(moving[:2] + moving[2:]).min()
        view = np.maximum(everything, moving - around)
    low, high = view[:2], -view[2:]
    is_area = np.isfinite(view).all() and (high > low).all()
    return [*low.tolist(), *high.tolist()] if is_area else [-1.0, -1.0, 1.0, 1.0]


def _names_of_colours(colours: Iterable[Sequence[int]]) -> list[str]:
    return ["#{:02x}{:02x}{:02x}".format(*colour[:3]) for colour in colours]


def _bodies(player: Player) -> dict[int, list[Any]]:
    """Return name, kind, min corner, max corner and velocity of each enabled body.

    A slope also has the four corners of its solid part.
    """
    space, frame = player.space, player.frame
    kinds = space.body_kinds()
    numbers = np.hstack([part[:, :2] for part in (*space.boxes(), space.velocities())])
    places, corners = space.slope_outlines()
    ids = np.array(space.entities)[places].tolist()
    solid = dict(zip(ids, corners.reshape(-1, 8).tolist(), strict=True))
    return {
        entity: [frame.label(entity), kind, *row, *solid.get(entity, ())]
        for entity, kind, row in zip(space.entities, kinds.tolist(), numbers.tolist(), strict=True)
        if not kind & BodyKind.DISABLED and np.isfinite(row).all()
    }


def _frame(player: Player, before: dict[int, list[Any]], bodies: dict[int, list[Any]]) -> Any:
    space, frame = player.space, player.frame
    contacts = space.contact_points()
    rows = np.hstack((contacts.points[:, :2], shown_normals(space, contacts)[:, :2]))
    return {
        "step": frame.step,
        "time": frame.time,
        "inputs": pressed(frame),
        "gone": [entity for entity in before if entity not in bodies],
        "changed": {entity: body for entity, body in bodies.items() if before.get(entity) != body},
        "contacts": [
            [kind, *row] for kind, row in zip(contacts.kinds.tolist(), rows.tolist(), strict=True)
        ],
        "events": [[describe(event, frame), *_place(event)] for event in frame.events],
    }


def _place(event: Fields) -> list[float]:
    """Return the middle of the contact area and the normal of a collision; nothing for others."""
    if "contact_min" not in event:
        return []
    middle = (np.array(event["contact_min"]) + event["contact_max"]) / 2
    return [*middle[:2].tolist(), *event["normal"][:2]]
