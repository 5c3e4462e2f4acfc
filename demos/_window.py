"""Run a scene in a window: all boxes are one vertex list, filled by numpy."""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from demos._scene import DT, SHADOW, WHITE, Boxes, Quads, Scene
from ecs_collide.pyglet_util import DebugDraw, Show

if TYPE_CHECKING:
    from demos._painter import Recorder

TRIANGLES = 4  # what OpenGL calls them
HELP = "F1: how it works"
MAX_STEPS = 4  # in one frame; on a slower machine the game runs slower, not in jumps
FRAMES_A_TEXT = 6  # the line of numbers is laid out anew that seldom: it is dear

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
        self._capacity = self._n_drawn = 0
        self._tiles: NDArray[np.int64] = np.zeros(0, np.int64)  # that the list holds
        self._list: Any = None

    def draw(self, boxes: Boxes, sky: NDArray[np.uint8], quads: Quads | None = None) -> None:
        """Draw boxes, and faces above them; the corners of the first box get the sky's colours."""
        rects, tiles, colours = boxes
        n, n_all = len(tiles), len(tiles) + (0 if quads is None else len(quads.colours))
        if n_all > self._capacity:
            self._grow(n_all)
        corners = self._room("position", np.float32).reshape(-1, 4, 2)
        corners[:n, :, 0] = rects[:, [0, 2, 2, 0]]
        corners[:n, :, 1] = rects[:, [1, 1, 3, 3]]
        tints = self._room("colors", np.uint32).reshape(-1, 4)
        tints[:n] = _packed(colours)[:, None]
        tints[0] = _packed(sky)
        if quads is not None:
            corners[n:n_all] = quads.corners
            tints[n:n_all] = _packed(quads.colours)[:, None]
            tiles = np.concatenate([tiles, np.zeros(n_all - n, np.int64)])
        corners[n_all : self._n_drawn] = 0.0  # what was drawn there before
        self._n_drawn = n_all
        if not np.array_equal(tiles, self._tiles):
            self._tiles = tiles
            self._room("tex_coords", np.float32).reshape(-1, 4, 2)[:n_all] = self._corners[tiles]
        self._batch.draw()

    def _grow(self, n: int) -> None:
        """Make room for n boxes and some more."""
        if self._list is not None:
            self._list.delete()
        self._capacity = n + n // 8 + 64
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
        self._n_drawn = self._capacity  # whatever the room held before
        self._tiles = np.zeros(0, np.int64)

    def _room(self, name: str, kind: Any) -> NDArray[Any]:
        """Return the memory of one attribute of the vertex list; it will be sent at the draw."""
        return np.frombuffer(getattr(self._list, name), dtype=kind)


def _packed(colours: NDArray[np.uint8]) -> NDArray[np.uint32]:
    """Return colours, opaque, as one number each, in the order of bytes of this machine."""
    rows = np.full((len(colours), 4), 255, np.uint8)
    rows[:, :3] = colours
    return rows.view(np.uint32)[:, 0]


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
        self.window: Any = None
        width, height = (round(side * scene.zoom) for side in scene.view)
        try:
            self.window = pyglet.window.Window(
                width, height, f"ecs_collide: {scene.title}", resizable=True, visible=visible
            )
            self._boxes = BoxList(scene)
            self._status = [
                pyglet.text.Label("", x=x, font_size=11, color=(*colour, 255))
                for x, colour in ((11, SHADOW), (10, WHITE))
            ]
        except Exception as error:  # of a different class on every platform
            if self.window is not None:
                self.window.close()
            raise NoScreenError(f"{type(error).__name__}: {error}".split("\n")[0]) from error
        self._labels: list[Any] = []
        self.overlay = DebugDraw(scene.space, visible=False)
        self._take(scene)
        self._keys: Any = pyglet.window.key.KeyStateHandler()
        self.window.push_handlers(self._keys)
        self.window.push_handlers(on_draw=self.draw, on_key_press=self.press)

    def show(self, scene: Scene) -> None:
        """Show another scene from now on, in a window of its size."""
        if scene.sheet != self.scene.sheet:
            self._boxes = BoxList(scene)
        self.window.set_size(*(round(side * scene.zoom) for side in scene.view))
        self.window.set_caption(f"ecs_collide: {scene.title}")
        self._take(scene)

    def _take(self, scene: Scene) -> None:
        self.scene = scene
        self.overlay.detach()
        self.overlay = DebugDraw(scene.space, visible=self.overlay.visible)
        self.overlay.attach(self.window, draws=False)
        self._n_frames = 0
        self._backdrop = scene.backdrop()
        self._sky = np.array([scene.sky[number] for number in (1, 1, 0, 0)], dtype=np.uint8)

    def zoom(self) -> float:
        """Return the pixels for each world unit, as large as the window is now."""
        width, height = self.scene.view
        return float(min(self.window.width / width, self.window.height / height))

    def place(self, x: float, y: float) -> tuple[float, float]:
        """Return the point of the world that is seen at a pixel of the window."""
        left, bottom = self.scene.camera()
        return left + x / self.zoom(), bottom + y / self.zoom()

    def draw(self) -> None:
        """Draw the scene as it is now."""
        from pyglet.math import Mat4, Vec3

        window, scene, zoom = self.window, self.scene, self.zoom()
        window.clear()
        left, bottom = scene.camera()
        width, height = scene.view
        window.view = Mat4.from_scale(Vec3(zoom, zoom, 1.0)).translate(Vec3(-left, -bottom, 0.0))
        sky = Boxes.of([((left, bottom, left + width, bottom + height), 0, WHITE)])
        boxes = sky.joined(self._backdrop, scene.boxes())
        self._boxes.draw(boxes, self._sky, scene.quads())
        self.overlay.draw(window)
        window.view = Mat4()
        self._write(left, bottom, zoom)
        self._n_frames += 1

    def _write(self, left: float, bottom: float, zoom: float) -> None:
        """Write the scene's labels, and the line in the corner."""
        import pyglet

        labels = self.scene.labels()
        while len(self._labels) < len(labels):
            self._labels.append(pyglet.text.Label(""))
        for drawn, (text, x, y, size, colour) in zip(self._labels, labels, strict=False):
            now = (text, round((x - left) * zoom), round((y - bottom) * zoom))
            if (drawn.text, drawn.x, drawn.y) != now:
                drawn.text, drawn.x, drawn.y = now
            if (drawn.font_size, drawn.color) != (0.75 * size, (*colour, 255)):
                drawn.font_size, drawn.color = 0.75 * size, (*colour, 255)  # in points
            drawn.draw()
        if self._n_frames % FRAMES_A_TEXT == 0:
            text = self.text()
            for label in self._status:
                label.text = text
        top = self.window.height - 23
        if self.overlay.visible and Show.STATS in self.overlay.show:
            top -= 40  # below its lines
        for down, label in enumerate(self._status):
            label.y = top + down
        for label in self._status:
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
        keys.up = down[key.UP] or down[key.W]
        keys.down = down[key.DOWN] or down[key.S]
        keys.jump = down[key.SPACE] or down[key.UP] or down[key.W]
        keys.shoot = down[key.X] or down[key.LCTRL] or down[key.RCTRL] or down[key.ENTER]

    def run(
        self,
        seconds: float | None = None,
        recorder: Recorder | None = None,
        step: Callable[[], None] | None = None,
    ) -> None:
        """Play until the window is closed, or for so many seconds; by `step` or `Scene.step`."""
        import pyglet

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
                (step or self.scene.step)()
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
