"""Paint a scene with Pillow: pictures without a screen and without OpenGL."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from demos.app.boxes import PAINTS, SHADOW, WHITE, Boxes, Colour, Quads
from demos.app.scene import DT, Label, Scene, TextBox

try:
    from PIL import Image, ImageDraw, ImageFont
except ImportError as error:
    raise ImportError(
        'pictures need Pillow: pip install "ecs_collide[demos]"', name="PIL"
    ) from error


FRAME_STEPS = 5  # steps from one frame of a recording to the next: 12 a second
FRAME_SCALE = 0.5  # size of a recording, compared with the window


class Painter:
    """A painter of one scene, at one scale.

    Parameters
    ----------
    scene : Scene
        The scene to paint.
    scale : float
        The size of the picture, compared with the window.
    """

    def __init__(self, scene: Scene, scale: float = 1.0) -> None:
        self.scene = scene
        self._writing = scale  # size of letters, compared with the window
        self.scale = scale * scene.zoom  # pixels for each world unit
        with Image.open(scene.sheet.path) as sheet:
            self._sheet = sheet.convert("RGBA")
        self._tiles: dict[tuple[int, int, int, bool, Colour], Image.Image] = {}
        self._size = tuple(round(side * self.scale) for side in scene.view)
        self._sky = self._paint_sky()
        self._backdrop = self._paint_backdrop()

    def paint(self) -> Image.Image:
        """Return a picture of the present view of the camera."""
        left, bottom = self.scene.shaken()
        picture = self._sky.copy()
        if self._backdrop is not None:
            x = round(left * self.scale)
            y = round((self.scene.size[1] - bottom - self.scene.view[1]) * self.scale)
            part = self._backdrop.crop((x, y, x + picture.width, y + picture.height))
            picture.paste(part, (0, 0), part)
        top = bottom + self.scene.view[1]
        self._draw_quads(picture, self.scene.glow(), left, top)
        self._draw(picture, self.scene.drawn(), left, top)
        self._draw_quads(picture, self.scene.quads(), left, top)
        pen = ImageDraw.Draw(picture)
        left, bottom = self.scene.camera()
        top = bottom + self.scene.view[1]
        for label in self._labels():
            at, font, anchor = self._placed(label, left, top)
            pen.text((at[0] + 1, at[1] + 1), label.text, fill=SHADOW, font=font, anchor=anchor)
            pen.text(at, label.text, fill=label.colour, font=font, anchor=anchor)
        return picture

    def text_boxes(self) -> list[TextBox]:
        """Return each line of text, with its left, top, right and bottom in pixels, downwards."""
        left, bottom = self.scene.camera()
        pen, top = ImageDraw.Draw(Image.new("L", (1, 1))), bottom + self.scene.view[1]
        found = []
        for label in self._labels():
            at, font, anchor = self._placed(label, left, top)
            found.append((label.text, pen.textbbox(at, label.text, font=font, anchor=anchor)))
        return found

    def _labels(self) -> list[Label]:
        labels, status = self.scene.labels(), self.scene.status()
        return [*labels, self.scene.status_label(status)] if status else labels

    def _placed(
        self, label: Label, left: float, top: float
    ) -> tuple[tuple[float, float], Any, str]:
        """Return the place of a label in pixels, its font, and Pillow's name of its anchor."""
        at = ((label.x - left) * self.scale, (top - label.y) * self.scale)
        return at, _font(label.size * self._writing), label.anchor[0].replace("c", "m") + "s"

    def palette(self) -> Image.Image:
        """Return a picture whose palette holds the colours of all frames, 256 at most."""
        sheet = np.asarray(self._sheet).reshape(-1, 4)
        tiles = np.concatenate([self.scene.boxes().tiles, self.scene.backdrop().tiles])
        named = np.array([*PAINTS, *self.scene.palette], np.uint8)  # of what may come later
        first = sheet[sheet[:, 3] > 0, :3] if tiles.any() else named
        parts = (first, np.asarray(self.paint()), np.asarray(self._sky)[:, :1])
        colours: dict[tuple[int, ...], None] = {}
        for part, room in zip(parts, (120, 60, 76) if tiles.any() else (20, 160, 76), strict=True):
            found, counts = np.unique(part.reshape(-1, 3), axis=0, return_counts=True)
            most = found[np.argsort(-counts, kind="stable")]
            areas, others = most[: room // 2], most[room // 2 :]
            step = max(1, len(others) // (room // 2))
            chosen = [*areas.tolist(), *others[::step][: room // 2].tolist()]
            colours.update(dict.fromkeys(map(tuple, chosen)))
        picture = Image.new("P", (1, 1))
        picture.putpalette([value for colour in colours for value in colour])
        return picture

    def _paint_sky(self) -> Image.Image:
        width, height = self._size
        top, bottom = (np.array(colour, dtype=np.float64) for colour in self.scene.palette[:2])
        share = np.linspace(0.0, 1.0, height)[:, None]
        rows = (top + (bottom - top) * share).round().astype(np.uint8)
        return Image.fromarray(np.repeat(rows[:, None], width, axis=1))

    def _paint_backdrop(self) -> Image.Image | None:
        boxes = self.scene.backdrop()
        if not len(boxes.tiles):
            return None
        width, height = (round(side * self.scale) for side in self.scene.size)
        picture = Image.new("RGBA", (width, height))
        self._draw(picture, boxes, 0.0, self.scene.size[1])
        return picture

    def _draw(self, picture: Image.Image, boxes: Boxes, left: float, top: float) -> None:
        """Draw boxes into a picture whose top-left corner is that point of the world."""
        pen = ImageDraw.Draw(picture)
        downwards = np.array([1.0, -1.0, 1.0, -1.0]) * self.scale
        pixels = (boxes.rects - np.array([left, top, left, top])) * downwards
        edges = np.rint(pixels).astype(np.int64).tolist()
        for (x0, y0, x1, y1), tile, colour in zip(
            edges, boxes.tiles.tolist(), map(tuple, boxes.colours.tolist()), strict=True
        ):
            start, width, height = min(x0, x1), max(abs(x1 - x0), 1), max(y0 - y1, 1)
            outside = start >= picture.width or start + width <= 0
            if outside or y1 >= picture.height or y1 + height <= 0:
                continue
            if tile == 0:
                pen.rectangle((start, y1, start + width - 1, y1 + height - 1), fill=colour)
            else:
                image = self._tile(tile, width, height, x1 < x0, colour)
                picture.paste(image, (start, y1), image)

    def _draw_quads(
        self, picture: Image.Image, quads: Quads | None, left: float, top: float
    ) -> None:
        if quads is None:
            return
        pen = ImageDraw.Draw(picture)
        pixels = (quads.corners - np.array([left, top])) * np.array([self.scale, -self.scale])
        edges = pixels.round().reshape(-1, 8).tolist()
        for corners, colour in zip(edges, map(tuple, quads.colours.tolist()), strict=True):
            pen.polygon(corners, fill=colour)

    def _tile(
        self, tile: int, width: int, height: int, mirrored: bool, colour: Colour
    ) -> Image.Image:
        key = (tile, width, height, mirrored, colour)
        if key not in self._tiles:
            sheet = self.scene.sheet
            x, y = sheet.corner(tile)
            image = self._sheet.crop((x, y, x + sheet.side, y + sheet.side))
            if mirrored:
                image = image.transpose(Image.Transpose.FLIP_LEFT_RIGHT)
            if colour != WHITE:
                shade = np.asarray(image) * (np.array([*colour, 255]) / 255)
                image = Image.fromarray(shade.astype(np.uint8))
            self._tiles[key] = image.resize((width, height), Image.Resampling.NEAREST)
        return self._tiles[key]


@cache
def _font(size: float) -> Any:
    return ImageFont.load_default(size)


class Recorder:
    """A recorder that collects the frames of an animated GIF.

    Parameters
    ----------
    scene : Scene
        The scene to paint.
    start : float
        Seconds of play before the first frame.
    """

    def __init__(self, scene: Scene, start: float = 0.0) -> None:
        self._scene = scene
        self._start = start
        self._painter = Painter(scene, FRAME_SCALE)
        self._palette = self._painter.palette()
        self._frames: list[Image.Image] = []

    def take(self) -> None:
        """Paint a frame if one is due at this step."""
        if self._scene.n_steps % FRAME_STEPS == 0 and self._scene.n_steps * DT >= self._start:
            self._frames.append(self._frame())

    def save(self, path: Path) -> None:
        """Write the frames taken so far; at least one."""
        first, *others = self._frames or [self._frame()]
        path.parent.mkdir(parents=True, exist_ok=True)
        duration = round(FRAME_STEPS * DT * 1000)
        first.save(path, save_all=True, append_images=others, duration=duration, loop=0)

    def _frame(self) -> Image.Image:
        return self._painter.paint().quantize(palette=self._palette, dither=Image.Dither.NONE)
