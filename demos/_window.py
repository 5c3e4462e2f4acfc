"""Run a scene in a window: all boxes are one vertex list, filled by numpy."""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from demos._scene import DT, SHADOW, WHITE, Boxes, Scene
from ecs_collide.pyglet_util import DebugDraw, Show

if TYPE_CHECKING:
    from demos._painter import Recorder

TRIANGLES = 4  # what OpenGL calls them
HELP = "F1: how it works"
MAX_STEPS = 4  # in one frame; on a slower machine the game runs slower, not in jumps

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


class NoScreenError(Exception):
    """There is nowhere to open a window, or it cannot draw."""


class BoxList:
    """A vertex list of textured boxes that grows as needed.

    Parameters
    ----------
    scene : Scene
        Whose sheet of tiles is used.
    """

    def __init__(self, scene: Scene) -> None:
        import pyglet
        from pyglet.graphics import Batch, ShaderGroup, TextureGroup
        from pyglet.graphics.shader import Shader, ShaderProgram

        with scene.sheet.path.open("rb") as file:
            picture = pyglet.image.load(scene.sheet.path.name, file=file)
        texture = picture.get_texture()
        self._batch = Batch()
        self._program = ShaderProgram(
            Shader(VERTEX_SHADER, "vertex"), Shader(FRAGMENT_SHADER, "fragment")
        )
        self._group = TextureGroup(texture, parent=ShaderGroup(self._program))
        self._corners = _texture_corners(scene, picture.width, picture.height, texture.tex_coords)
        self._capacity = 0
        self._list: Any = None

    def draw(self, boxes: Boxes, sky: NDArray[np.uint8]) -> None:
        """Draw boxes; the four corners of the first one get the sky's colours."""
        rects, tiles, colours = boxes
        n = len(tiles)
        if n > self._capacity:
            self._grow(n)
        corners = np.zeros((self._capacity, 4, 2), dtype=np.float32)
        corners[:n] = rects[:, [0, 1, 2, 1, 2, 3, 0, 3]].reshape(-1, 4, 2)
        tints = np.full((self._capacity, 4, 4), 255, dtype=np.uint8)
        tints[:n, :, :3] = colours[:, None, :]
        tints[0, :, :3] = sky
        self._fill("position", corners)
        self._fill("colors", tints)
        self._fill("tex_coords", self._corners[tiles])
        self._batch.draw()

    def _grow(self, n: int) -> None:
        """Make room for n boxes and some more."""
        if self._list is not None:
            self._list.delete()
        self._capacity = n + n // 2 + 64
        n_vertices = 4 * self._capacity
        triangles = np.arange(0, n_vertices, 4)[:, None] + np.array([0, 1, 2, 0, 2, 3])
        self._list = self._program.vertex_list_indexed(
            n_vertices,
            TRIANGLES,
            triangles.ravel().tolist(),
            batch=self._batch,
            group=self._group,
            position="f",
            tex_coords="f",
            colors="Bn",
        )

    def _fill(self, name: str, values: NDArray[Any]) -> None:
        """Copy an array into the vertex list, from the first box on."""
        room = np.frombuffer(getattr(self._list, name), dtype=values.dtype)
        room[: values.size] = values.ravel()


def _texture_corners(
    scene: Scene, width: int, height: int, ends: tuple[float, ...]
) -> NDArray[np.float32]:
    """Return the texture coordinates of every tile's corners, shape (n, 4, 2)."""
    right, top = ends[6], ends[7]  # of the picture in its texture
    sheet = scene.sheet
    step = sheet.side + sheet.spacing
    n_tiles = sheet.columns * ((height - 2 * sheet.margin + sheet.spacing) // step)
    corners = np.empty((n_tiles, 4, 2), dtype=np.float32)
    for tile in range(n_tiles):
        x, y = sheet.corner(tile)
        left, low = x / width, 1 - (y + sheet.side) / height
        far, high = (x + sheet.side) / width, 1 - y / height
        corners[tile] = [(left, low), (far, low), (far, high), (left, high)]
    return corners * np.array([right, top], dtype=np.float32)


class Screen:
    """A window that shows a scene and hands its keys on.

    Raises
    ------
    ImportError
        pyglet is not installed.
    NoScreenError
        No window can be opened, or nothing drawn in it.
    """

    def __init__(self, scene: Scene, visible: bool = True) -> None:
        try:
            import pyglet
        except ImportError as error:
            raise ImportError(
                'a window needs pyglet: pip install "ecs_collide[demos]"', name="pyglet"
            ) from error
        self.scene = scene
        width, height = (round(side * scene.zoom) for side in scene.view)
        self.window: Any = None
        try:
            self.window = pyglet.window.Window(
                width, height, f"ecs_collide: {scene.title}", resizable=True, visible=visible
            )
            self._boxes = BoxList(scene)
            self._labels = [
                pyglet.text.Label("", x=x, font_size=11, color=(*colour, 255))
                for x, colour in ((11, SHADOW), (10, WHITE))
            ]
        except Exception as error:  # of a different class on every platform
            if self.window is not None:
                self.window.close()
            raise NoScreenError(f"{type(error).__name__}: {error}".split("\n")[0]) from error
        self.overlay = DebugDraw(scene.space, visible=False)
        self.overlay.attach(self.window, draws=False)
        self._backdrop = scene.backdrop()
        self._sky = np.array([scene.sky[number] for number in (1, 1, 0, 0)], dtype=np.uint8)
        self._keys: Any = pyglet.window.key.KeyStateHandler()
        self.window.push_handlers(self._keys)
        self.window.push_handlers(on_draw=self.draw, on_key_press=self.press)

    def draw(self) -> None:
        """Draw the scene as it is now."""
        from pyglet.math import Mat4, Vec3

        window, scene = self.window, self.scene
        window.clear()
        left, bottom = scene.camera()
        width, height = scene.view
        zoom = min(window.width / width, window.height / height)
        window.view = Mat4.from_scale(Vec3(zoom, zoom, 1.0)).translate(Vec3(-left, -bottom, 0.0))
        sky = Boxes.of([((left, bottom, left + width, bottom + height), 0, WHITE)])
        self._boxes.draw(sky.joined(self._backdrop, scene.boxes()), self._sky)
        self.overlay.draw(window)
        window.view = Mat4()
        text, top = self.text(), window.height - 23
        if self.overlay.visible and Show.STATS in self.overlay.show:
            top -= 40  # below its lines
        for down, label in enumerate(self._labels):
            label.text, label.y = text, top + down
            label.draw()

    def text(self) -> str:
        """Return the line in the window's corner."""
        return "   ".join(filter(None, [self.scene.status(), self.scene.help, HELP]))

    def press(self, symbol: int, modifiers: int) -> None:
        """Hand the keys over to the bot, or back, when B is pressed."""
        from pyglet.window import key

        if symbol == key.B:
            self.scene.keys.bot = not self.scene.keys.bot

    def read_keys(self) -> None:
        """Tell the scene which keys are down."""
        from pyglet.window import key

        down, keys = self._keys, self.scene.keys
        if keys.bot:
            return
        keys.left = down[key.LEFT] or down[key.A]
        keys.right = down[key.RIGHT] or down[key.D]
        keys.jump = down[key.SPACE] or down[key.UP] or down[key.W]
        keys.down = down[key.DOWN] or down[key.S]
        keys.shoot = down[key.X] or down[key.LCTRL] or down[key.RCTRL] or down[key.ENTER]

    def run(
        self,
        seconds: float | None = None,
        recorder: Recorder | None = None,
        step: Callable[[], None] | None = None,
    ) -> None:
        """Play until the window is closed, or for so many seconds; by `step` or `Scene.step`."""
        import pyglet

        step = step or self.scene.step
        due = 0.0
        end = None if seconds is None else perf_counter() + seconds

        def advance(dt: float) -> None:
            nonlocal due
            self.read_keys()
            due = min(due + dt, MAX_STEPS * DT)
            while due >= DT:
                due -= DT
                if not self.overlay.may_step():
                    continue
                step()
                if recorder is not None:
                    recorder.take()
            if end is not None and perf_counter() >= end:
                self.window.close()
                pyglet.app.exit()

        pyglet.clock.schedule(advance)
        try:
            pyglet.app.run(DT)
        finally:
            pyglet.clock.unschedule(advance)
