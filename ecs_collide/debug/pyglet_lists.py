"""Boxes, lines and writing of an overlay as pyglet draws them; vertex lists are filled by numpy."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ecs_collide.debug.shapes import Colours, Doubles

LINES = 1  # what OpenGL calls them
FARTHEST = 1e30  # what single precision holds, and more than is ever seen

# What is drawn lies nearer than all that a game draws, and what is drawn later lies nearer still:
# a game's depth test changes nothing.
VERTEX_SHADER = """#version 150 core
in vec2 position;
in vec4 colors;
flat out vec4 tint;
uniform WindowBlock { mat4 projection; mat4 view; } window;
void main()
{
    gl_Position = window.projection * window.view * vec4(position, 0.0, 1.0);
    float nearness = FIRST + min(1.2e-7 * float(gl_VertexID), 0.04);
    gl_Position.z = -nearness * gl_Position.w;
    tint = colors;
}
"""

FRAGMENT_SHADER = """#version 150 core
flat in vec4 tint;
out vec4 colour;
void main()
{
    colour = tint;
}
"""


def load_pyglet() -> Any:
    """Return pyglet, or raise an ImportError that says what to install."""
    try:
        import pyglet
    except ImportError as error:
        raise ImportError(
            'ecs_collide.debug needs pyglet: pip install "ecs_collide[pyglet]"',
            name="pyglet",
        ) from error
    version = [int(part) for part in pyglet.version.split(".")[:2]]
    if not [2, 1] <= version < [3, 0]:
        raise ImportError(
            f"ecs_collide.debug needs pyglet 2.1 or later, before 3, and here is "
            f'{pyglet.version}: pip install --upgrade "ecs_collide[pyglet]"',
            name="pyglet",
        )
    return pyglet


class ShapeList:
    """A vertex list of shapes with a fixed number of vertices each; it grows as needed.

    Their places are stored from a middle on, which is where the camera looks at:
    single precision suffices far from the origin too.
    """

    n_vertices: int
    indices: tuple[int, ...]
    columns: NDArray[np.intp]
    nearness: ClassVar[float]

    def __init__(self) -> None:
        from pyglet.graphics import Batch, ShaderGroup
        from pyglet.graphics.shader import Shader, ShaderProgram

        vertex_shader = VERTEX_SHADER.replace("FIRST", str(self.nearness))
        self._program = ShaderProgram(
            Shader(vertex_shader, "vertex"), Shader(FRAGMENT_SHADER, "fragment")
        )
        self._batch = Batch()
        self._group = ShaderGroup(self._program)
        self._list: Any = None
        self._capacity = self._n_drawn = 0
        self._middle: Doubles = np.zeros(2)
        self._parts: list[tuple[NDArray[np.float32], NDArray[np.uint32]]] = []

    def begin(self, middle: Doubles) -> None:
        """Forget what was added; what will be is stored from this point on."""
        self._middle = middle
        self._parts.clear()

    def add(self, low: Doubles, high: Doubles, colours: Colours) -> None:
        """Add shapes by two corners, float64 (n, 2 or more), in one colour or one (n, 4) each.

        Shapes with NaN or infinite numbers are left out.
        """
        low, high = low[:, :2], high[:, :2]
        if isinstance(colours, tuple):
            tints = np.full(len(low), _as_word(colours), np.uint32)
        else:
            tints = np.ascontiguousarray(colours).view(np.uint32)[:, 0]
        with np.errstate(over="ignore", invalid="ignore"):
            rects = self._rects(low, high)
            if not np.isfinite(rects.sum()):  # rarely: some are too far away, or none at all
                seen = ~np.isnan(low).any(axis=1) & ~np.isnan(high).any(axis=1)
                ends = (end[seen].clip(-FARTHEST, FARTHEST) for end in (low, high))
                rects, tints = self._rects(*ends), tints[seen]
        if len(rects):
            self._parts.append((rects, tints))

    def _rects(self, low: Doubles, high: Doubles) -> NDArray[np.float32]:
        rects = np.empty((len(low), 4), np.float32)
        np.subtract(low, self._middle, out=rects[:, :2], casting="same_kind")
        np.subtract(high, self._middle, out=rects[:, 2:], casting="same_kind")
        return rects

    def draw(self) -> None:
        """Draw what was added, with a view that is moved to the middle."""
        n = sum(len(tints) for _, tints in self._parts)
        if n > self._capacity:
            self._grow(n)
        if self._capacity == 0 or (n == 0 and self._n_drawn == 0):
            return
        corners = np.frombuffer(self._list.position, np.float32)
        corners = corners.reshape(-1, 2 * self.n_vertices)
        tints = np.frombuffer(self._list.colors, np.uint32).reshape(-1, self.n_vertices)
        start = 0
        for rects, colours in self._parts:
            stop = start + len(colours)
            np.take(rects, self.columns, axis=1, out=corners[start:stop], mode="clip")
            tints[start:stop] = colours[:, None]
            start = stop
        corners[n : self._n_drawn] = FARTHEST  # nothing is seen of them there
        self._n_drawn = n
        self._batch.draw()

    def _grow(self, n: int) -> None:
        """Make room for a number of shapes and some more."""
        if self._list is not None:
            self._list.delete()
        self._capacity = n + n // 4 + 64
        self._n_drawn = self._capacity  # whatever the room holds now
        starts = np.arange(0, self.n_vertices * self._capacity, self.n_vertices)
        self._list = self._program.vertex_list_indexed(
            self.n_vertices * self._capacity,
            LINES,
            (starts[:, None] + np.array(self.indices)).ravel().tolist(),
            batch=self._batch,
            group=self._group,
            position="f",
            colors="Bn",
        )


class BoxList(ShapeList):
    """Outlines of boxes by their min and max corners."""

    n_vertices = 4
    indices = (0, 1, 1, 2, 2, 3, 3, 0)
    columns = np.array([0, 1, 2, 1, 2, 3, 0, 3])
    nearness = 0.9


class LineList(ShapeList):
    """Lines by their two ends."""

    n_vertices = 2
    indices = (0, 1)
    columns = np.array([0, 1, 2, 3])
    nearness = 0.95


class Note:
    """Lines of writing at the upper edge of a window, on something dark."""

    SIZE, MARGIN, NARROWEST = 10, 6, 120

    def __init__(self) -> None:
        from pyglet import shapes, text

        self._label = text.Label(
            "", font_size=self.SIZE, color=(236, 240, 248, 255), multiline=True,
            width=self.NARROWEST, anchor_y="top",
        )  # fmt: skip
        self._back = shapes.Rectangle(0, 0, 1, 1, color=(12, 14, 22, 216))
        self.height = 0  # pixels

    def set_lines(self, lines: list[str], width: int) -> None:
        """Set the lines up, broken where they are wider than a window; this takes long."""
        self._label.width = max(width - 2 * self.MARGIN, self.NARROWEST)
        self._label.text = "\n".join(lines)
        self.height = round(self._label.content_height) + 2 * self.MARGIN
        self._back.width = self._label.content_width + 2 * self.MARGIN
        self._back.height = self.height

    def draw(self, window: Any, above: int) -> None:
        """Draw in pixels below the upper edge, independent of the projection and view."""
        from pyglet.math import Mat4, Vec3

        projection, view = window.projection, window.view
        width, height = window.get_size()
        top = height - above
        try:
            # Near as the boxes are, the writing before its ground.
            window.projection = Mat4.orthogonal_projection(0, width, 0, height, 0, 1)
            window.view = Mat4.from_translation(Vec3(0.0, 0.0, -0.001))
            self._back.position = (0, top - self.height)
            self._back.draw()
            window.view = Mat4()
            self._label.position = (self.MARGIN, top - self.MARGIN, 0)
            self._label.draw()
        finally:
            window.projection, window.view = projection, view


def _as_word(colour: tuple[int, int, int]) -> np.uint32:
    """Return an opaque colour as the four bytes that OpenGL takes."""
    word: np.uint32 = np.array([*colour, 255], np.uint8).view(np.uint32)[0]
    return word
