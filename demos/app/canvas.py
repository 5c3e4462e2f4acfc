"""Draw a scene with pyglet: one vertex list, filled by numpy."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from demos.app.boxes import NO_QUADS, WHITE, Boxes, Quads
from demos.app.scene import Scene, Sheet
from ecs_collide.debug.pyglet_lists import VertexList

PLAIN = 0  # the tile of plain white
TRIANGLES = 4  # GL_TRIANGLES
_AROUND = [0, 1, 2, 1, 2, 3, 0, 3]  # the corners of left, bottom, right, top, going around

VERTEX_SHADER = """#version 330 core
in vec2 position;
in vec2 tex_coords;
in vec4 colors;
out vec2 place;
out vec4 tint;
uniform WindowBlock { mat4 projection; mat4 view; } window;
void main()
{
    gl_Position = window.projection * window.view * vec4(position, 0.0, 1.0);
    place = tex_coords;
    tint = colors;
}
"""

FRAGMENT_SHADER = """#version 330 core
in vec2 place;
in vec4 tint;
out vec4 colour;
uniform sampler2D sheet;
void main()
{
    vec4 dot = texture(sheet, place);
    if (dot.a < 0.5) discard;
    colour = vec4(dot.rgb, 1.0) * tint;
}
"""


class TileList(VertexList):
    """A vertex list of four-cornered faces with pictures from a sheet, drawn in their order."""

    n_vertices = 4
    indices = (0, 1, 2, 0, 2, 3)
    mode = TRIANGLES
    unseen = 0.0
    formats: ClassVar[dict[str, str]] = {**VertexList.formats, "tex_coords": "f"}

    def __init__(self, sheet: Sheet) -> None:
        import pyglet

        with sheet.path.open("rb") as file:
            picture = pyglet.image.load(sheet.path.name, file=file)
        texture = picture.get_texture()
        super().__init__(VERTEX_SHADER, FRAGMENT_SHADER, texture)
        self.sheet = sheet
        self._corners = _texture_corners(sheet, picture.width, picture.height, texture.tex_coords)
        self._tiles: NDArray[np.int64] = np.zeros(0, np.int64)  # that the list holds

    def show(self, tiles: NDArray[np.int64]) -> None:
        """Give the faces these pictures; after `reserve`."""
        if not np.array_equal(tiles, self._tiles):
            self._tiles = tiles
            self.memory("tex_coords", np.float32)[: len(tiles)] = self._corners[tiles]

    def _grow(self, n: int) -> None:
        super()._grow(n)
        self._tiles = np.zeros(0, np.int64)


class Canvas:
    """A canvas that draws scenes: their sky, their boxes, and the faces around them."""

    def __init__(self) -> None:
        self._faces: TileList | None = None

    def draw(self, scene: Scene, rect: tuple[float, float, float, float], backdrop: Boxes) -> None:
        """Draw a scene as it is now, with its sky in a rectangle: left, bottom, right, top."""
        if self._faces is None or self._faces.sheet != scene.sheet:
            self._faces = TileList(scene.sheet)
        sky, boxes = Boxes.of([(rect, PLAIN, WHITE)]), scene.drawn()
        parts: list[Boxes | Quads] = [
            sky,
            backdrop,
            scene.glow() or NO_QUADS,
            boxes,
            scene.quads() or NO_QUADS,
        ]
        places = np.concatenate([_corners(part) for part in parts])
        corners, tints = self._faces.reserve(len(places))
        corners[:] = places
        tints[:] = _packed(np.concatenate([part.colours for part in parts]))[:, None]
        top, bottom = np.array(scene.palette[:2], dtype=np.uint8)
        tints[0] = _packed(np.array([bottom, bottom, top, top]))
        self._faces.show(np.concatenate([_tiles(part) for part in parts]))
        self._faces.draw()


def _corners(part: Boxes | Quads) -> NDArray[np.float64]:
    """Return the corners of boxes or faces, going around, shape (n, 8)."""
    return part.rects[:, _AROUND] if isinstance(part, Boxes) else part.corners.reshape(-1, 8)


def _tiles(part: Boxes | Quads) -> NDArray[np.int64]:
    """Return the tiles of boxes or faces."""
    return part.tiles if isinstance(part, Boxes) else np.full(len(part.colours), PLAIN)


def _packed(colours: NDArray[np.uint8]) -> NDArray[np.uint32]:
    """Return colours, opaque, as one number each, in the order of bytes of this machine."""
    rows = np.full((len(colours), 4), 255, np.uint8)
    rows[:, :3] = colours
    return rows.view(np.uint32)[:, 0]


def _texture_corners(
    sheet: Sheet, width: int, height: int, ends: tuple[float, ...]
) -> NDArray[np.float32]:
    """Return the texture coordinates of every tile's corners, shape (n, 8)."""
    right, top = ends[6], ends[7]  # of the picture in its texture
    step = sheet.side + sheet.spacing
    n_tiles = sheet.columns * ((height - 2 * sheet.margin + sheet.spacing) // step)
    corners = np.empty((n_tiles, 8), dtype=np.float32)
    for tile in range(n_tiles):
        x, y = sheet.corner(tile)
        left, low = x / width, 1 - (y + sheet.side) / height
        far, high = (x + sheet.side) / width, 1 - y / height
        corners[tile] = (left, low, far, low, far, high, left, high)
    return corners * np.array([right, top] * 4, dtype=np.float32)
