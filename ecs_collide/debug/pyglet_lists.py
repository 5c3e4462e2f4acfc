"""Boxes, lines and text of an overlay as pyglet vertex lists that numpy fills."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ecs_collide.debug.shapes import FARTHEST, Doubles, Shapes

LINES = 1  # GL_LINES

# The overlay lies nearer than all drawings of a game, and its later shapes lie nearer still, so a
# game's depth test does not hide them.
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


class VertexList:
    """A vertex list of shapes with the same number of vertices each; it grows as needed."""

    n_vertices: ClassVar[int]
    indices: ClassVar[tuple[int, ...]]
    mode: ClassVar[int]
    formats: ClassVar[dict[str, str]] = {"position": "f", "colors": "Bn"}
    unseen: ClassVar[float]  # a coordinate that hides a shape

    def __init__(self, vertex_shader: str, fragment_shader: str, texture: Any = None) -> None:
        from pyglet.graphics import Batch, ShaderGroup, TextureGroup
        from pyglet.graphics.shader import Shader, ShaderProgram

        self._program = ShaderProgram(
            Shader(vertex_shader, "vertex"), Shader(fragment_shader, "fragment")
        )
        self._batch = Batch()
        self._group: Any = ShaderGroup(self._program)
        if texture is not None:
            self._group = TextureGroup(texture, parent=self._group)
        self._list: Any = None
        self._capacity = self._n_drawn = 0

    def reserve(self, n: int) -> tuple[NDArray[np.float32], NDArray[np.uint32]]:
        """Return the memory of n shapes: coordinates (n, n_vertices * 2), colours (n, n_vertices).

        It holds the shapes of the last draw; shapes beyond n are hidden.
        """
        if n > self._capacity:
            self._grow(n)
        corners = self.memory("position", np.float32)
        corners[n : self._n_drawn] = self.unseen
        self._n_drawn = n
        return corners[:n], self.memory("colors", np.uint32)[:n]

    def memory(self, name: str, kind: Any) -> NDArray[Any]:
        """Return the memory of one attribute of all shapes; the next draw sends it."""
        return np.frombuffer(getattr(self._list, name), kind).reshape(self._capacity, -1)

    def draw(self) -> None:
        """Draw the shapes in memory."""
        self._batch.draw()

    def _grow(self, n: int) -> None:
        """Allocate room for a number of shapes and some more."""
        if self._list is not None:
            self._list.delete()
        self._capacity = n + n // 4 + 64
        self._n_drawn = self._capacity  # the new room has arbitrary content
        starts = np.arange(0, self.n_vertices * self._capacity, self.n_vertices)
        self._list = self._program.vertex_list_indexed(
            self.n_vertices * self._capacity,
            self.mode,
            (starts[:, None] + np.array(self.indices)).ravel().tolist(),
            batch=self._batch,
            group=self._group,
            **self.formats,
        )


class ShapeList(VertexList):
    """A list of shapes of lines, each given by two corners."""

    mode = LINES
    unseen = FARTHEST
    columns: ClassVar[NDArray[np.intp]]
    nearness: ClassVar[float]

    def __init__(self) -> None:
        super().__init__(VERTEX_SHADER.replace("FIRST", str(self.nearness)), FRAGMENT_SHADER)

    def fill(self, shapes: Shapes, middle: Doubles) -> None:
        """Set the shapes of the next draw, relative to a point near the view.

        So single precision suffices even far from the origin.
        """
        n = len(shapes.low)
        if n == 0 and self._n_drawn == 0:
            return
        ends = np.empty((n, 4), np.float32)
        np.subtract(shapes.low, middle, out=ends[:, :2], casting="same_kind")
        np.subtract(shapes.high, middle, out=ends[:, 2:], casting="same_kind")
        corners, tints = self.reserve(n)
        np.take(ends, self.columns, axis=1, out=corners, mode="clip")
        tints[:] = np.ascontiguousarray(shapes.colours).view(np.uint32)


class BoxList(ShapeList):
    """A list of outlines of boxes, by their min and max corners."""

    n_vertices = 4
    indices = (0, 1, 1, 2, 2, 3, 3, 0)
    columns = np.array([0, 1, 2, 1, 2, 3, 0, 3])
    nearness = 0.9


class LineList(ShapeList):
    """A list of lines, by their two ends."""

    n_vertices = 2
    indices = (0, 1)
    columns = np.array([0, 1, 2, 3])
    nearness = 0.95


class Note:
    """Lines of text at the upper edge of a window, on a dark ground."""

    SIZE, MARGIN, NARROWEST = 10, 6, 120

    def __init__(self) -> None:
        from pyglet import shapes, text

        self._label = text.Label(
            "", font_size=self.SIZE, color=(236, 240, 248, 255), multiline=True,
            width=self.NARROWEST, anchor_y="top",
        )  # fmt: skip
        self._back = shapes.Rectangle(0, 0, 1, 1, color=(12, 14, 22, 216))
        self.height = 0  # pixels
        self._set: object = None

    def set_lines(self, lines: list[str], width: int) -> None:
        """Set the lines, broken if they are wider than a window; a change takes long."""
        if self._set == (lines, width):
            return
        self._set = (lines, width)
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
            # As near as the boxes, and the text nearer than its ground.
            window.projection = Mat4.orthogonal_projection(0, width, 0, height, 0, 1)
            window.view = Mat4.from_translation(Vec3(0.0, 0.0, -0.001))
            self._back.position = (0, top - self.height)
            self._back.draw()
            window.view = Mat4()
            self._label.position = (self.MARGIN, top - self.MARGIN, 0)
            self._label.draw()
        finally:
            window.projection, window.view = projection, view
