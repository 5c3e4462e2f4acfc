"""Boxes and lines of one colour each as pyglet's vertex lists, filled by numpy."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Doubles = NDArray[np.float64]
Colours = NDArray[np.uint8] | tuple[int, int, int]

LINES = 1  # what OpenGL calls them
FARTHEST = 1e30  # what single precision holds, and more than is ever seen

VERTEX_SHADER = """#version 150 core
in vec2 position;
in vec4 colors;
out vec4 tint;
uniform WindowBlock { mat4 projection; mat4 view; } window;
void main()
{
    gl_Position = window.projection * window.view * vec4(position, 0.0, 1.0);
    tint = colors;
}
"""

FRAGMENT_SHADER = """#version 150 core
in vec4 tint;
out vec4 colour;
void main()
{
    if (tint.a == 0.0) discard;
    colour = tint;
}
"""


def load_pyglet() -> Any:
    """Return pyglet, or raise an ImportError that says what to install."""
    try:
        import pyglet
    except ImportError as error:
        raise ImportError(
            'ecs_collide.pyglet_util needs pyglet: pip install "ecs_collide[pyglet]"',
            name="pyglet",
        ) from error
    if tuple(int(part) for part in pyglet.version.split(".")[:2]) < (2, 1):
        raise ImportError(
            f"ecs_collide.pyglet_util needs pyglet 2.1 or later, and here is {pyglet.version}: "
            'pip install --upgrade "ecs_collide[pyglet]"',
            name="pyglet",
        )
    return pyglet


class _VertexList:
    """A vertex list of shapes that have so many vertices each; it grows as needed.

    What has no shape to draw stays in the list, without colour.
    """

    n_vertices: int
    indices: tuple[int, ...]

    def __init__(self) -> None:
        from pyglet.graphics import Batch, ShaderGroup
        from pyglet.graphics.shader import Shader, ShaderProgram

        self._program = ShaderProgram(
            Shader(VERTEX_SHADER, "vertex"), Shader(FRAGMENT_SHADER, "fragment")
        )
        self._batch = Batch()
        self._group = ShaderGroup(self._program)
        self._list: Any = None
        self._capacity = self._n_drawn = 0
        self._parts: list[tuple[tuple[Doubles, Doubles], NDArray[np.uint32]]] = []

    def begin(self) -> None:
        """Forget what was added."""
        self._parts.clear()

    def add(self, low: Doubles, high: Doubles, colours: Colours) -> None:
        """Add shapes by two corners, float64 (n, 2 or more), in one colour or one (n, 4) each.

        Those with a number that is none are left out.
        """
        low, high = low[:, :2], high[:, :2]
        if isinstance(colours, tuple):
            tints = np.full(len(low), _as_word(colours), np.uint32)
        else:
            tints = np.ascontiguousarray(colours).view(np.uint32)[:, 0]
        total = low + high
        if not np.isfinite(total.sum()):  # rarely: one number that is none makes the sum none
            seen = np.isfinite(low).all(axis=1) & np.isfinite(high).all(axis=1)
            low, high, tints = low[seen], high[seen], tints[seen]
        if len(low):
            self._parts.append(((low, high), tints))

    def draw(self) -> None:
        """Draw what was added."""
        n = sum(len(tints) for _, tints in self._parts)
        if n > self._capacity:
            self._grow(n)
        if self._capacity == 0 or (n == 0 and self._n_drawn == 0):
            return
        corners = np.frombuffer(self._list.position, np.float32).reshape(-1, self.n_vertices, 2)
        tints = np.frombuffer(self._list.colors, np.uint32).reshape(-1, self.n_vertices)
        start = 0
        for ends, colours in self._parts:
            stop = start + len(colours)
            self._place(corners[start:stop], *(_clipped(end) for end in ends))
            tints[start:stop] = colours[:, None]
            start = stop
        tints[n : self._n_drawn] = 0
        self._n_drawn = n
        self._batch.draw()

    def _place(self, corners: NDArray[np.float32], low: Doubles, high: Doubles) -> None:
        """Write the vertices of shapes, float32 (n, n_vertices, 2)."""
        raise NotImplementedError

    def _grow(self, n: int) -> None:
        """Make room for so many shapes and some more."""
        if self._list is not None:
            self._list.delete()
        self._capacity, self._n_drawn = n + n // 4 + 64, 0
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


class BoxList(_VertexList):
    """Outlines of boxes by their min and max corners."""

    n_vertices = 4
    indices = (0, 1, 1, 2, 2, 3, 3, 0)

    def _place(self, corners: NDArray[np.float32], low: Doubles, high: Doubles) -> None:
        corners[:, 0, 0] = corners[:, 3, 0] = low[:, 0]
        corners[:, 0, 1] = corners[:, 1, 1] = low[:, 1]
        corners[:, 1, 0] = corners[:, 2, 0] = high[:, 0]
        corners[:, 2, 1] = corners[:, 3, 1] = high[:, 1]


class LineList(_VertexList):
    """Lines by their two ends."""

    n_vertices = 2
    indices = (0, 1)

    def _place(self, corners: NDArray[np.float32], low: Doubles, high: Doubles) -> None:
        corners[:, 0], corners[:, 1] = low, high


def _clipped(points: Doubles) -> Doubles:
    """Return points as single precision can hold them."""
    return points.clip(-FARTHEST, FARTHEST)


def _as_word(colour: tuple[int, int, int]) -> np.uint32:
    """Return an opaque colour as the four bytes that OpenGL takes."""
    word: np.uint32 = np.array([*colour, 255], np.uint8).view(np.uint32)[0]
    return word
