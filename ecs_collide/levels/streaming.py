"""Tiles that have bodies only in some regions of a level, chunk by chunk.

A chunk is a square of cells.  Only chunks with tiles are counted, so the cost depends on the map
and not on the size of the region.  Bodies wait before chunks that are not loaded, because they
would fall through floors that are not there yet.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence, Set
from math import floor, inf, isfinite, isnan
from typing import Any

import esper

from ecs_collide.components.basics import Disabled, Extents, Fixed, Position, Velocity
from ecs_collide.components.dynamics import Attached
from ecs_collide.levels.cells import Cell, Chunk, Place, Sheet, TileLayer
from ecs_collide.levels.changes import Cells, Changes, Facts
from ecs_collide.levels.frame import Point

AHEAD = 1 / 30
"""Seconds: a body waits before a chunk that it would reach in this time by its velocity."""

Region = tuple[Point, Point]
Span = tuple[float, float, float, float]
"""The first and the last column and row, in chunks or parts of them, ends included."""


def checked_region(low: Any, high: Any) -> Region:
    """Return the corners of a region as floats, or raise a ValueError."""
    try:
        (left, bottom), (right, top) = (tuple(map(float, corner)) for corner in (low, high))
    except (TypeError, ValueError):
        left = bottom = right = top = float("nan")
    if any(map(isnan, (left, bottom, right, top))) or left > right or bottom > top:
        raise ValueError(
            f"stream(min={low!r}, max={high!r}) must be the lower and the upper corner of a "
            "region, each of 2 numbers, as ((0, 0), (640, 360)); several are given by regions="
        )
    return (left, bottom), (right, top)


class Streaming:
    """The loaded chunks of a level in the current world."""

    def __init__(self, changes: Changes, side: int) -> None:
        self.changes, self.cells, self.side = changes, changes.cells, side
        grid = changes.grid
        groups = grid.groups
        self.group_of = [groups.index(layer.group) for layer in grid.layers]
        # One layer of each group: all have the same cells.
        self.layers = [grid.layers[self.group_of.index(n)] for n in range(len(groups))]
        self.of_map = changes.tiling.chunks(side)
        changed = self.cells.changed()
        self.of_changes = {(self.group_of[n], x, y) for n, x, y in changed if changed[n, x, y]}

    def update(self, regions: Sequence[Region], at_most: int) -> int:
        """Load the chunks of some regions, nearest first, and unload others.

        Bodies outside of the loaded chunks are switched off until their chunks are loaded.

        Returns
        -------
        int
            How many chunks wait for the next call.
        """
        chunks = self.of_map | self.of_changes
        wanted: dict[Chunk, float] = {}
        for region in regions:
            for group, layer in enumerate(self.layers):
                span = self.span(layer, region)
                x, y = _middle(span[0], span[2]), _middle(span[1], span[3])
                for chunk in chunks_in(chunks, group, span):
                    away = max(abs(chunk[1] + 0.5 - x), abs(chunk[2] + 0.5 - y))
                    wanted[chunk] = min(away, wanted.get(chunk, inf))
        loaded = self.cells.chunks
        new = sorted(wanted.keys() - loaded, key=lambda chunk: (wanted[chunk], chunk))
        old = sorted(loaded - wanted.keys())
        self.load(new[:at_most])
        for chunk in old[: max(at_most - len(new), 0)]:
            self.unload(chunk)
        self.hold_bodies()
        return max(len(new) + len(old) - at_most, 0)

    def span(self, layer: TileLayer, region: Region) -> Span:
        """Return where a region of the world lies in the chunks of a layer."""
        corners = [self.changes.grid.to_cells(layer, x, y) for x, y in region]
        left, right = (column / self.side for column, _ in corners)
        top, bottom = sorted(row / self.side for _, row in corners)
        return left, top, right, bottom

    def load(self, chunks: Collection[Chunk]) -> None:
        """Create the boxes of some chunks; of none if a function of the table raises."""
        if chunks:
            self.changes.create(box for chunk in chunks for box in self.boxes_of(chunk))
            self.cells.chunks.update(chunks)
            self.cells.change()

    def boxes_of(self, chunk: Chunk) -> Iterator[tuple[Place, Sheet]]:
        """Return the boxes of a chunk, each with its sheet."""
        changes, side = self.changes, self.side
        group, x, y = chunk
        tiles: list[tuple[int, Iterable[tuple[Cell, int]]]] = []
        for n, layer in enumerate(changes.grid.layers):
            if self.group_of[n] == group:
                left, top = x * side, y * side
                numbers = dict(layer.tiles_in(left, top, left + side, top + side))
                for cell in sorted(self.cells.changed().get((n, x, y), ())):
                    numbers[cell] = changes.number(n, *cell)
                tiles.append((n, numbers.items()))
        return changes.grid.places(tiles)

    def unload(self, chunk: Chunk) -> None:
        """Delete the boxes of a chunk."""
        group, x, y = chunk
        for sheet, squares in self.cells.near(self.changes.grid).items():
            if sheet[0] == self.layers[group].group:
                for entity in squares.pop((x, y)):
                    self.changes.delete(entity, sheet)
        self.cells.chunks.discard(chunk)
        self.cells.change()

    # -- bodies that wait --

    def hold_bodies(self) -> None:
        """Switch bodies off outside of the loaded chunks, and on again inside."""
        cells = self.cells
        missing = (self.of_map | self.of_changes) - cells.chunks
        frames = [self.frame(layer) for layer in self.layers]
        beside = max((max(layer.cell) for layer in self.layers), default=0.0)
        known, fresh = cells.judged(missing), {}
        found: Any = esper.get_components(Position, Extents, Velocity) if missing else ()
        for entity, (at, half, velocity) in found:
            facts = at.x, at.y, half.x, half.y, velocity.x, velocity.y
            judged = known.get(entity)
            try:
                if judged is None or judged[0] != facts:
                    judged = facts, self._is_before(missing, frames, beside, facts)
            except TypeError:  # values that are no numbers, which the step reports
                continue
            fresh[entity] = judged
        known.clear()
        known.update(fresh)
        held = {entity for entity, (_, is_held) in fresh.items() if is_held}
        waiting = {each for each in cells.waiting if _waits(each)}
        for entity in sorted(held - waiting):
            kinds = (Disabled, Fixed, Attached)
            if esper.entity_exists(entity) and not any(
                esper.has_component(entity, kind) for kind in kinds
            ):
                esper.add_component(entity, Disabled())
                waiting.add(entity)
        for entity in sorted(waiting - held):
            waiting.discard(entity)
            esper.remove_component(entity, Disabled)
        if waiting != cells.waiting:
            cells.waiting = waiting
            cells.change()

    def _is_before(
        self, missing: Set[Chunk], frames: list[Span], beside: float, facts: Facts
    ) -> bool:
        """Return whether a body is within a cell, or `AHEAD` seconds, of a missing chunk."""
        wide = facts[2] + beside + AHEAD * abs(facts[4])
        high = facts[3] + beside + AHEAD * abs(facts[5])
        for group, (x, scale_x, y, scale_y) in enumerate(frames):
            right, down = (facts[0] - x) * scale_x, (facts[1] - y) * scale_y
            reach_x, reach_y = wide * scale_x, high * abs(scale_y)
            span = right - reach_x, down - reach_y, right + reach_x, down + reach_y
            if any(True for _ in chunks_in(missing, group, span)):
                return True
        return False

    def frame(self, layer: TileLayer) -> Span:
        """Return the point of the world at the chunk (0, 0) of a layer, and chunks by unit."""
        frame = self.changes.grid.frame
        x, y = frame.to_world(*layer.corner)
        wide, high = (size * self.side for size in layer.cell)
        return x, 1 / wide, y, 1 / (high if frame.y_down else -high)


def chunks_in(chunks: Set[Chunk], group: int, span: Span) -> Iterator[Chunk]:
    """Yield the chunks of a group in a region, in time that follows the smaller number of both."""
    left, top, right, bottom = span
    if (right - left + 1) * (bottom - top + 1) < len(chunks) + 4:
        for x in range(floor(left), floor(right) + 1):
            for y in range(floor(top), floor(bottom) + 1):
                if (group, x, y) in chunks:
                    yield group, x, y
    else:
        for chunk in chunks:
            _, x, y = chunk
            if chunk[0] == group and left < x + 1 and x <= right and top < y + 1 and y <= bottom:
                yield chunk


def let_go(cells: Cells) -> None:
    """Switch on all bodies that wait for a level."""
    for entity in sorted(filter(_waits, cells.waiting)):
        esper.remove_component(entity, Disabled)


def _waits(entity: int) -> bool:
    return esper.entity_exists(entity) and esper.has_component(entity, Disabled)


def _middle(first: float, last: float) -> float:
    """Return the middle of a side of a region, or of its finite part."""
    middle = first / 2 + last / 2
    if isfinite(middle):
        return middle
    return next((end for end in (first, last) if isfinite(end)), 0.0)
