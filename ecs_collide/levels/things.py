"""The boxes of tiles and the objects of a level, and the components that a game gives them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from types import GeneratorType
from typing import Any, ClassVar

from ecs_collide.components.basics import (
    Deflect,
    Extents,
    Fixed,
    Growth,
    Position,
    Push,
    Slide,
    Stop,
    Velocity,
)
from ecs_collide.components.dynamics import Attached
from ecs_collide.components.surfaces import OneWay
from ecs_collide.levels.frame import Point, WorldPoint
from ecs_collide.levels.properties import Factory

Entry = Callable[..., Any] | tuple[Callable[..., Any], ...] | list[Callable[..., Any]] | None
"""The entry of a table for a type: see `Level.create`."""


@dataclass(frozen=True, slots=True)
class SolidBox:
    """One box of tiles that are bodies.

    Attributes
    ----------
    centre, half : tuple of 2 floats
        In world units.
    type : str
        The type of its tiles; empty if they have none.
    properties : mapping
        The custom properties that its tiles share, and the properties that their layers hand down.
    traits : tuple of callables
        Functions that make the components for the properties.
    name : str
        Empty: only objects have names.
    """

    name: ClassVar[str] = ""

    centre: tuple[float, float]
    half: tuple[float, float]
    type: str = ""
    properties: Mapping[str, Any] = field(default_factory=dict)
    traits: tuple[Factory, ...] = ()

    def components(self) -> tuple[object, ...]:
        """Return new components for an entity that fills the box and has its properties."""
        return Position(*self.centre), Extents(*self.half), *(make() for make in self.traits)

    def __str__(self) -> str:
        return f"the box of tiles around {self.centre}"


@dataclass(frozen=True, slots=True)
class LevelObject:
    """One object of an object layer, whether it can be a body or not.

    Attributes
    ----------
    id : int
        The editor's number for the object.  Objects for several shapes of one tile share a number,
        and only the first of these has the name.
    name, type : str
        As written in the editor; empty if nothing is written there.  A tile object
        without a type has the type of its tile.  (Tiled 1.9 calls it *class*.)
    layer : str
        The name of its layer.
    centre, half : tuple of 2 floats
        Of the box around it, in world units.  Points and lines have half sizes of zero, and a line
        lies at its first point.  A tile that has a shape in Tiled's tile collision editor has the
        box of that shape.
    properties : mapping
        Custom properties by name; the object's own override the properties of its tile.
    tile : int
        The tile's number in the map (see `tile_number`), 0 if it is no tile.
    traits : tuple of callables
        Functions that make the components for its properties, its tile's and its layer's.
    solid : bool
        Whether these properties, or a shape of its tile, make it a body.
    points : tuple of tuples of 2 floats
        Its outline in the world: the points of a line, which a `Path` may lead through, or of a
        polygon; the corners of other shapes, turned as in the editor.  Empty for a point, and for
        the entities of LDtk.
    shape : str
        "rectangle", "ellipse", "capsule", "polygon", "polyline", "point", "text" or "tile".
    fault : str
        Why it cannot be a box, such as "is rotated by 45 degrees"; empty if it can be one.
    """

    id: int
    name: str
    type: str
    layer: str
    centre: tuple[float, float]
    half: tuple[float, float]
    properties: Mapping[str, Any]
    tile: int = 0
    traits: tuple[Factory, ...] = ()
    solid: bool = False
    points: tuple[tuple[float, float], ...] = ()
    shape: str = "rectangle"
    fault: str = ""

    @property
    def is_point(self) -> bool:
        """Whether it has no size: a place or a line, and no box."""
        return self.half == (0.0, 0.0)

    def components(self) -> tuple[object, ...]:
        """Return new components for an entity that fills the object and has its properties.

        For a point, or another object that cannot be a box, there are no `Extents` among them.
        The game gives them.

        Raises
        ------
        ValueError
            A property has an invalid value.
        """
        size = () if self.fault or self.is_point else (Extents(*self.half),)
        return Position(*self.centre), *size, *(make() for make in self.traits)

    def __str__(self) -> str:
        return f"object {self.id} ({self.name or 'no name'}) in layer {self.layer!r}"


Thing = SolidBox | LevelObject

_NOT_FIXED = (Fixed, Velocity, Growth, Attached, Deflect, Push, Slide, Stop)


def made_by(entry: Entry, thing: Thing) -> list[object] | None:
    """Return the components that an entry of a table makes, or None for no entity."""
    if entry is None:
        return None
    what = f"the component of the table for {thing.type!r}, for {thing},"
    made: list[object] = []
    makers = tuple(entry) if isinstance(entry, (tuple, list)) else (entry,)
    for make in makers:
        if not callable(make):
            raise TypeError(
                f"the table has {make!r} for {thing.type!r}; it must have classes and functions, "
                "because each entity gets its own components: lambda thing: Component(...)"
            )
        try:
            parts = make() if isinstance(make, type) else make(thing)
            if isinstance(parts, GeneratorType):
                parts = list(parts)
        except Exception as error:
            error.add_note(f"{what} cannot be made")
            raise
        if parts is None:
            return None
        # Exactly these: a component may be a named tuple.
        made += parts if type(parts) in (tuple, list) else (parts,)
    for part in made:
        if isinstance(part, type) or type(part).__module__ == "builtins":
            raise TypeError(f"{what} is {part!r}, which is no component; return Coin(), not Coin")
    return made


def made_for_tiles(table: Mapping[str, Entry], box: SolidBox) -> list[object] | None:
    """Return the components of a box of tiles beyond its own, or None for no entity.

    `Fixed` is among them unless the table makes a component that moves the box.
    """
    made = made_by(table[box.type], box) if box.type in table else []
    if made is not None and not any(isinstance(part, _NOT_FIXED) for part in made):
        made.append(Fixed())
    return made


def moved(thing: LevelObject, offset: Point) -> LevelObject:
    """Return an object elsewhere, with its points and those among its properties."""

    def at(point: Point) -> WorldPoint:
        return WorldPoint((point[0] + offset[0], point[1] + offset[1]))

    def inside(value: Any) -> Any:
        if isinstance(value, WorldPoint):
            return at(value)
        if isinstance(value, Mapping):
            return {name: inside(each) for name, each in value.items()}
        return type(value)(map(inside, value)) if type(value) in (tuple, list) else value

    points, properties = tuple(map(at, thing.points)), inside(thing.properties)
    return replace(thing, centre=at(thing.centre), points=points, properties=properties)


def turned(traits: tuple[Factory, ...]) -> tuple[Factory, ...]:
    """Return functions that make the same components for a world whose y grows downwards.

    A `Slope` is the same, because its heights count along `Space.up`.
    """
    return tuple(partial(_turned, make) for make in traits)


def _turned(make: Factory) -> object:
    part = make()
    if isinstance(part, OneWay) and part.normal is not None:
        x, y, *_ = part.normal
        part.normal = x, 0.0 - y
    return part
