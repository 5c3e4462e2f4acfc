"""Levels, whichever editor has saved them: boxes of tiles, objects, and entities made of them.

A level counts upwards from its bottom-left corner, one unit a pixel.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from types import GeneratorType
from typing import Any, Literal

import esper

from ecs_collide.components.basics import Extents, Fixed, Position
from ecs_collide.levels.properties import Factory

Entry = Callable[..., Any] | tuple[Callable[..., Any], ...] | list[Callable[..., Any]] | None
"""The entry of a table for a type: see `Level.create`."""


@dataclass(frozen=True, slots=True)
class SolidBox:
    """One box of tiles that are bodies.

    Attributes
    ----------
    centre, half : tuple of 2 floats
        In world units (pixels, upwards).
    type : str
        The type of its tiles; empty if they have none.
    properties : mapping
        The custom properties that its tiles share, and the properties that their layers hand down.
    traits : tuple of callables
        Functions that make the components for the properties.
    """

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
    """One object of an object layer: a rectangle, a point, a text, a tile or a line.

    Attributes
    ----------
    id : int
        The editor's number for the object; never used twice in a map.
    name, type : str
        As written in the editor; empty if nothing is written there.  A tile object
        without a type has the type of its tile.  (Tiled 1.9 calls it *class*.)
    layer : str
        The name of its layer.
    centre, half : tuple of 2 floats
        In world units (pixels, upwards).  A point has half sizes of zero.
    properties : mapping
        Custom properties by name; the object's own precede the properties of its tile.
    tile : int
        The tile's number in the map (see `tile_number`), 0 if it is no tile.
    traits : tuple of callables
        Functions that make the components for its properties, its tile's and its layer's.
    solid : bool
        Whether these properties make it a body.
    points : tuple of tuples of 2 floats
        The points of a line, which a `Path` may lead through; empty for all other objects.
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

    @property
    def is_point(self) -> bool:
        """Whether it has no size: a place or a line, and no box."""
        return self.half == (0.0, 0.0)

    def components(self) -> tuple[object, ...]:
        """Return new components for an entity that fills the object and has its properties.

        For a point there are no `Extents` among them: the game gives them.
        """
        size = () if self.is_point else (Extents(*self.half),)
        return Position(*self.centre), *size, *(make() for make in self.traits)

    def __str__(self) -> str:
        return f"object {self.id} ({self.name or 'no name'}) in layer {self.layer!r}"


Thing = SolidBox | LevelObject


@dataclass(frozen=True, slots=True)
class Level:
    """A map as a game needs it: size, solid boxes, objects and properties.

    Attributes
    ----------
    size : tuple of 2 floats
        Width and height in world units; an infinite map may reach beyond it on all sides.
    solids : tuple of SolidBox
        The boxes of all tiles that are bodies; no two of the same type and properties
        overlap.
    objects : tuple of LevelObject
        All objects, in the order of the file.
    properties : mapping
        The map's own custom properties.
    map : object
        The parsed file: layers, pictures, colours.
    skipped : tuple of str
        The objects that were skipped because they are not boxes, a sentence for each.
    """

    size: tuple[float, float]
    solids: tuple[SolidBox, ...]
    objects: tuple[LevelObject, ...]
    properties: Mapping[str, Any]
    map: Any
    skipped: tuple[str, ...] = ()

    def _things(self) -> Iterator[Thing]:
        yield from self.solids
        yield from self.objects

    @property
    def bounds(self) -> tuple[tuple[float, float], tuple[float, float]]:
        """The lower and the upper corner of the map and all that is in it, as a camera needs it."""
        corners = [(0.0, 0.0), self.size]
        for thing in self._things():
            (x, y), (wide, high) = thing.centre, thing.half
            corners += [(x - wide, y - high), (x + wide, y + high)]
            corners += getattr(thing, "points", ())
        xs, ys = zip(*corners, strict=True)
        return (min(xs), min(ys)), (max(xs), max(ys))

    def of_type(self, type: str) -> list[LevelObject]:
        """Return the objects of a type, in the order of the file; maybe none."""
        return [thing for thing in self.objects if thing.type == type]

    def named(self, name: str) -> LevelObject:
        """Return the one object of that name.

        Raises
        ------
        KeyError
            No object has that name, or several have.
        """
        found = [thing for thing in self.objects if thing.name == name]
        if len(found) != 1:
            names = sorted({thing.name for thing in self.objects if thing.name})
            raise KeyError(f"{len(found)} objects are named {name!r}; the map has {names}")
        return found[0]

    def to_world(self, x: float, y: float) -> tuple[float, float]:
        """Return the world point of a point given in the map's pixels, downwards."""
        return x, self.size[1] - y

    def create_solids(self) -> list[int]:
        """Create an entity for each box of `solids`, with the components for its properties.

        They are created in the current esper world and are `Fixed`: walls, whose components are
        read once.  Use the returned ids to add components.  Remove `Fixed` from boxes that the
        game moves or changes.
        """
        return [esper.create_entity(*box.components(), Fixed()) for box in self.solids]

    def create(
        self,
        table: Mapping[str, Entry] | None = None,
        *,
        unknown: Literal["refuse", "skip"] = "refuse",
    ) -> list[tuple[SolidBox | LevelObject, int]]:
        """Create the entities of the whole level: its tiles, and its objects by their types.

        Parameters
        ----------
        table : mapping
            The components of each type's entities, in addition to a body, as one of

            - a class, called without arguments: ``"coin": Coin``,
            - a function, called with the `LevelObject` or `SolidBox`, that returns a
              component, several of them in a tuple or list, or None to make no entity,
            - several classes and functions in a tuple or list,
            - None: no entity is made for this type.

            An entity gets the components of `LevelObject.components` too; the table's component
            replaces one of the same type.
        unknown : "refuse" or "skip"
            Whether to raise or to skip an object whose type is not in the table.  An object
            without a type, unless the table has `""`, is a plain body if its properties or its
            layer's include `solid`, `one_way`, `sensor` or `carry`; otherwise it is ignored.
            Tiles need no entry in the table: without one they are `Fixed`.

        Returns
        -------
        list of (SolidBox or LevelObject, int)
            Each box or object with the id of its entity: tiles first, then the objects in the
            order of the file.

        Raises
        ------
        ValueError
            A type is not in the table, or a point should be a body and the table gives it no
            `Extents`.
        TypeError
            An entry of the table is something else, such as a component; or a function of the
            table returns something other than components, such as a class.
        Exception
            Any exception of the table's classes and functions, with a note that names the type
            and the thing.  In all these cases no entity has been created.
        """
        if unknown not in ("refuse", "skip"):
            raise ValueError(f"unknown={unknown!r} must be 'refuse' or 'skip'")
        table = {} if table is None else table
        if not isinstance(table, Mapping):
            raise TypeError(f"table={table!r} must map types to classes and functions")
        plan: list[tuple[Thing, list[object]]] = []
        for thing in self._things():
            more: list[object] | None
            if thing.type in table:
                more = _made_by(table[thing.type], thing)
            elif isinstance(thing, SolidBox):
                more = [Fixed()]
            elif thing.type and unknown == "refuse":
                raise ValueError(
                    f"{thing} has the type {thing.type!r}, which the table does not have: it has "
                    f"{sorted(table)}; None skips a type, unknown='skip' skips all unknown ones"
                )
            else:
                more = [] if thing.solid and not thing.type else None
            if more is None:
                continue
            parts = [*thing.components(), *more]
            if not any(isinstance(part, Extents) for part in parts):
                raise ValueError(
                    f"{thing} is a point, which is no body: draw a rectangle, or let the table "
                    f"give {thing.type!r} Extents"
                )
            plan.append((thing, parts))
        return [(thing, esper.create_entity(*parts)) for thing, parts in plan]


def _made_by(entry: Entry, thing: Thing) -> list[object] | None:
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
