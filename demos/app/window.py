"""Run a scene in a window."""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter
from typing import TYPE_CHECKING, Any

from demos.app.boxes import SHADOW, WHITE
from demos.app.canvas import Canvas
from demos.app.scene import DT, Label, Scene, TextBox
from demos.app.sounds import Speaker
from ecs_collide.debug import DebugDraw, Show

if TYPE_CHECKING:
    from demos.app.painter import Recorder

CARD = 1.0  # seconds of the title
MAX_STEPS = 4  # in one frame; on a slower machine the game runs slower, not in jumps
KEYS_HEIGHT = 0.25  # part of the view
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
                width, height, "ecs_collide", resizable=True, visible=visible
            )
            self._canvas = Canvas()
            pyglet.text.Label("nothing").draw()  # fails here, if at all
        except Exception as error:  # of a different class on every platform
            if self.window is not None:
                self.window.close()
            raise NoScreenError(f"{type(error).__name__}: {error}".split("\n")[0]) from error
        self._texts: list[tuple[Any, Any]] = []  # shadow and letters of each label
        self._n_shown = 0
        self.speaker = Speaker()
        self.card = 0.0  # seconds for which the title is still shown
        self.tells_keys = False  # in the picture, until one is pressed
        self.overlay = DebugDraw(scene.space, visible=False)
        self._capture(scene)
        self._keys: Any = pyglet.window.key.KeyStateHandler()
        self.window.push_handlers(self._keys)
        self.window.push_handlers(on_draw=self.draw, on_key_press=self.press)

    def show(self, scene: Scene) -> None:
        """Show another scene from now on, in a window of its size."""
        self.window.set_size(*(round(side * scene.zoom) for side in scene.view))
        self.tells_keys = False
        self._capture(scene)

    def announce(self) -> None:
        """Show the title of the scene for a second, and its keys, until a key is pressed."""
        self.card, self.tells_keys = CARD, True
        self.announce_keys()

    def _capture(self, scene: Scene) -> None:
        self.scene = scene
        self.announce_keys()
        self.overlay.detach()
        self.overlay = DebugDraw(scene.space, visible=self.overlay.visible)
        if scene.space.dim == 3:  # the overlay knows nothing of the scene's eye
            self.overlay.show = Show.STATS
        self.overlay.attach(self.window, draws=False)
        self._n_frames, self._text = 0, ""
        self._backdrop = scene.backdrop()

    def area(self) -> tuple[int, int, float]:
        """Return the scene's left and bottom pixel in the window, and the pixels of a world unit.

        The scene is in the middle of what the overlay's lines of numbers leave.
        """
        width, height = self.scene.view
        room = self.window.height - self.overlay.note_height(self.window)
        zoom = float(min(self.window.width / width, room / height))
        left, bottom = (self.window.width - zoom * width) / 2, (room - zoom * height) / 2
        return round(left), round(bottom), zoom

    def place(self, x: float, y: float) -> tuple[float, float]:
        """Return the point of the world at a pixel of the window."""
        (left, bottom), (right, up, zoom) = self.scene.camera(), self.area()
        return left + (x - right) / zoom, bottom + (y - up) / zoom

    def draw(self) -> None:
        """Draw the scene as it is now."""
        from pyglet import gl
        from pyglet.math import Mat4, Vec3

        window, scene, (x, y, zoom) = self.window, self.scene, self.area()
        window.clear()
        left, bottom = scene.shaken()
        width, height = scene.view
        corner = Vec3(x / zoom - left, y / zoom - bottom, 0.0)
        window.view = Mat4.from_scale(Vec3(zoom, zoom, 1.0)).translate(corner)
        sky = (left, bottom, left + width, bottom + height)
        if self.card <= 0:
            ratio = window.get_pixel_ratio()
            inside = (x, y, round(width * zoom), round(height * zoom))
            gl.glEnable(gl.GL_SCISSOR_TEST)
            gl.glScissor(*(round(side * ratio) for side in inside))
            self._canvas.draw(scene, sky, self._backdrop)
            gl.glDisable(gl.GL_SCISSOR_TEST)
            self.overlay.draw(window)
        window.view = Mat4()
        self._write(self.title() if self.card > 0 else self.labels())
        self._n_frames += 1

    def labels(self) -> list[Label]:
        """Return all text in the window: the scene's labels, its status, and first its keys."""
        if self._n_frames % FRAMES_A_TEXT == 0:
            self._text = self.scene.status()
        keys = self.key_labels(KEYS_HEIGHT) if self.tells_keys else []
        return [*self.scene.labels(), self.scene.status_label(self._text), *keys]

    def key_labels(self, height: float) -> list[Label]:
        """Return what the keys do, in the middle, below a part of the height of the view."""
        scene, (left, bottom) = self.scene, self.scene.camera()
        x, y, line = left + scene.view[0] / 2, bottom + height * scene.view[1], 30.0 / scene.zoom
        return [
            Label(text, x, y - n * line, 18.0, WHITE, "center")
            for n, text in enumerate(self.keys(), 1)
        ]

    def title(self) -> list[Label]:
        """Return the text of the title."""
        scene = self.scene
        left, bottom = scene.camera()
        x, y = left + scene.view[0] / 2, bottom + scene.view[1] / 2
        name = Label(scene.title, x, y + 30.0 / scene.zoom, 64.0, scene.palette.second, "center")
        return [name, *self.key_labels(0.5)]

    def _write(self, labels: list[Label]) -> None:
        """Write labels, with a shadow each."""
        import pyglet

        (left, bottom), (right, up, zoom) = self.scene.camera(), self.area()
        scale = 0.75 * zoom / self.scene.zoom  # points for each pixel of a label's size
        self._n_shown = len(labels)
        while len(self._texts) < len(labels):
            self._texts.append((pyglet.text.Label(""), pyglet.text.Label("")))
        for texts, label in zip(self._texts, labels, strict=False):
            x = right + round((label.x - left) * zoom)
            y = up + round((label.y - bottom) * zoom)
            for drawn, by, colour in ((texts[0], 1, SHADOW), (texts[1], 0, label.colour)):
                now = (label.text, x + by, y - by, label.size * scale, label.anchor)
                if (drawn.text, drawn.x, drawn.y, drawn.font_size, drawn.anchor_x) != now:
                    drawn.text, drawn.x, drawn.y, drawn.font_size, drawn.anchor_x = now
                if drawn.color != (*colour, 255):
                    drawn.color = (*colour, 255)
                drawn.draw()

    def text_boxes(self) -> list[TextBox]:
        """Return each line of text drawn last, with its left, top, right, bottom, downwards."""
        found = []
        for _, drawn in self._texts[: self._n_shown]:
            letters = drawn.document.get_font().get_glyphs(drawn.text)
            glyphs = letters[0] if isinstance(letters, tuple) else letters
            base = self.window.height - drawn.y
            top = base - max((glyph.vertices[3] for glyph in glyphs), default=0)
            bottom = base - min((glyph.vertices[1] for glyph in glyphs), default=0)
            found.append((drawn.text, (drawn.left, top, drawn.right, bottom)))
        return found

    def announce_keys(self) -> None:
        """Show the keys in the title of the window."""
        caption = f"ecs_collide: {self.scene.title}   ({'   '.join(self.keys())})"
        if self.window.caption != caption:
            self.window.set_caption(caption)

    def keys(self) -> list[str]:
        """Return what the keys of the scene do, if it has any, and those of all windows."""
        others = f"M: sounds {'off' if self.speaker.is_on else 'on'}   F1: how it works"
        return [*filter(None, [self.scene.help]), others]

    def press(self, symbol: int, modifiers: int) -> None:
        """Handle a key: B gives the keys to the bot or takes them back, M switches sounds."""
        from pyglet.window import key

        self.card, self.tells_keys = 0.0, False
        if symbol == key.B:
            self.scene.keys.bot = not self.scene.keys.bot
        elif symbol == key.M:
            self.speaker.is_on = not self.speaker.is_on
            self.announce_keys()

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
        keys.dash = down[key.C] or down[key.LSHIFT] or down[key.RSHIFT]

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
            self.card -= dt
            if self.card > 0:
                return
            self.read_keys()
            due = min(due + dt, MAX_STEPS * DT)
            while due >= DT:
                due -= DT
                if not self.overlay.may_step():
                    continue
                (step or self.scene.step)()
                self.speaker.play(self.scene.effects.take_sounds())
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
