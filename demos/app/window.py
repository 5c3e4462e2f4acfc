"""Run a scene in a window."""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter
from typing import TYPE_CHECKING, Any

from demos.app.canvas import Canvas
from demos.app.scene import DT, SHADOW, WHITE, Scene
from ecs_collide.debug import DebugDraw

if TYPE_CHECKING:
    from demos.app.painter import Recorder

HELP = "F1: how it works"
MAX_STEPS = 4  # in one frame; on a slower machine the game runs slower, not in jumps
FRAMES_A_TEXT = 6  # frames between two layouts of the line of numbers, which are expensive


class NoScreenError(Exception):
    """An error for a window that cannot be opened or drawn in."""


class Screen:
    """A window that shows a scene and passes its keys on.

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
            self._canvas = Canvas()
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
        self._capture(scene)
        self._keys: Any = pyglet.window.key.KeyStateHandler()
        self.window.push_handlers(self._keys)
        self.window.push_handlers(on_draw=self.draw, on_key_press=self.press)

    def show(self, scene: Scene) -> None:
        """Show another scene from now on, in a window of its size."""
        self.window.set_size(*(round(side * scene.zoom) for side in scene.view))
        self.window.set_caption(f"ecs_collide: {scene.title}")
        self._capture(scene)

    def _capture(self, scene: Scene) -> None:
        self.scene = scene
        self.overlay.detach()
        self.overlay = DebugDraw(scene.space, visible=self.overlay.visible)
        self.overlay.attach(self.window, draws=False)
        self._n_frames = 0
        self._backdrop = scene.backdrop()

    def zoom(self) -> float:
        """Return the pixels for each world unit at the present size of the window."""
        width, height = self.scene.view
        return float(min(self.window.width / width, self.window.height / height))

    def place(self, x: float, y: float) -> tuple[float, float]:
        """Return the point of the world at a pixel of the window."""
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
        sky = (left, bottom, left + width, bottom + height)
        self._canvas.draw(scene, sky, self._backdrop)
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
        top = self.window.height - self.overlay.note_height(self.window) - 23
        for down, label in enumerate(self._status):
            label.y = top + down
        for label in self._status:
            label.draw()

    def text(self) -> str:
        """Return the line in the window's corner."""
        return "   ".join(filter(None, [self.scene.status(), self.scene.help, HELP]))

    def press(self, symbol: int, modifiers: int) -> None:
        """Give the keys to the bot, or take them back, when B is pressed."""
        from pyglet.window import key

        if symbol == key.B:
            self.scene.keys.bot = not self.scene.keys.bot

    def read_keys(self) -> None:
        """Pass the keys that are down to the scene."""
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
        """Play until the window is closed, or for some seconds; by `step` or `Scene.step`."""
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
