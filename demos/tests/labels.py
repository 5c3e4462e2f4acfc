"""Whether the text of a picture can be read: nothing over anything else, nothing cut off."""

from __future__ import annotations

from itertools import combinations

from demos.app.scene import Scene, TextBox

WIDTH = 440  # pixels of a picture on a page
LEAST = 8.9  # pixels of a letter's size there


def faults(found: list[TextBox], width: float, height: float) -> list[str]:
    """Return which lines of text overlap, and which leave the picture."""
    shown = [(text, box) for text, box in found if text]
    cut = [
        f"{text!r} leaves the picture: {box} in {width} x {height}"
        for text, box in shown
        if box[0] < 0 or box[1] < 0 or box[2] > width or box[3] > height
    ]
    over = [
        f"{one!r} overlaps {other!r}"
        for (one, a), (other, b) in combinations(shown, 2)
        if a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]
    ]
    return cut + over


def too_small(scene: Scene) -> list[str]:
    """Return which lines cannot be read where the picture is 440 pixels wide."""
    least = LEAST * scene.view[0] * scene.zoom / WIDTH
    labels = [*scene.labels(), scene.status_label(scene.status())]
    return [
        f"{label.text!r} must be {least:.1f} or larger, not {label.size}"
        for label in labels
        if label.text and label.size < least
    ]
