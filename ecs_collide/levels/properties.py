"""Read the properties of levels: whether a thing is a body, and its components."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
from functools import partial
from numbers import Integral
from typing import Any, NoReturn

from ecs_collide._kernel.constants import ALL
from ecs_collide.components.basics import Sensor
from ecs_collide.components.filters import Filter
from ecs_collide.components.slope import Slope
from ecs_collide.components.surfaces import Carry, Friction, OneWay, Restitution
from ecs_collide.extend import NAMES
from ecs_collide.levels.outlines import Ramp

# The properties that layers and groups hand down to their contents.
HANDED_DOWN = (
    "solid", "one_way", "sensor", "carry", "slope", "slope_low", "slope_high", "slope_ceiling",
    "friction", "friction_rule", "restitution", "restitution_rule", "categories", "mask", "group",
)  # fmt: skip

# Tiled before 0.16 knows only texts: of these properties some are true or false, or numbers.
_FLAGS = ("solid", "one_way", "sensor", "carry", "slope", "slope_ceiling")
_NUMBERS = ("carry", "slope_low", "slope_high", "friction", "restitution", "group")
_TEXTS = {"true": True, "false": False, "1": True, "0": False}

# Directions on the screen, in a world where y grows upwards.
_NORMALS = {"up": (0, 1), "down": (0, -1), "left": (-1, 0), "right": (1, 0)}

_LONGEST_NAMES = 4096  # characters, of names of categories together

Factory = Callable[[], object]


def checked_categories(names: Mapping[str, int] | None) -> Mapping[str, int]:
    """Return the bits of categories by name, none by default, or raise a TypeError."""
    names = {} if names is None else names
    if not isinstance(names, Mapping) or not all(isinstance(n, Integral) for n in names.values()):
        raise TypeError(
            f"categories={names!r} must map names to bits, as {{'player': 1, 'enemy': 2}}"
        )
    return names


def check_names(properties: object, argument: str) -> None:
    """Raise unless the argument is a mapping whose names are all in `HANDED_DOWN`."""
    if not isinstance(properties, Mapping):
        raise TypeError(f"{argument} is {properties!r}; it must be a mapping of properties")
    for name in properties:
        if name not in HANDED_DOWN:
            raise ValueError(f"{argument} has {name!r}; it may have {list(HANDED_DOWN)}")


class ByName:
    """Properties that a game gives in code to things of a level: layers, tiles or objects.

    A key is a name of a thing, or the name and the value of another property that it has.
    `argument` is the argument of `load` that gives them, for errors.
    """

    def __init__(self, argument: str, given: Mapping[Any, Mapping[str, Any]] | None) -> None:
        self.argument, self.given = argument, {} if given is None else given
        if not isinstance(self.given, Mapping):
            raise TypeError(f"{argument}={given!r} must map names to properties")
        for key, properties in self.given.items():
            if isinstance(key, tuple) and len(key) != 2:
                raise ValueError(f"{argument} names {key!r}; a pair of name and value has two")
            check_names(properties, f"{argument}[{key!r}]")
        self._names_any = False
        self._known: set[str] = set()  # names and pairs of all things, as they are shown

    def of(self, names: Collection[Any], properties: Mapping[str, Any]) -> dict[str, Any]:
        """Return the properties for a thing with some names; a later key precedes earlier ones."""
        found: dict[str, Any] = {}
        if self.given:
            self._known.update(map(repr, names))
        for key, stated in self.given.items():
            known = names
            if isinstance(key, tuple):
                known = [(key[0], properties[key[0]])] if key[0] in properties else []
                self._known.update(map(repr, known))
            if key in known:
                self._names_any = True
                found.update(stated)
        return found

    def refuse_unknown(self) -> None:
        """Raise ValueError if there were things so far, and no key names any of them.

        A game gives the same keys to all of its maps, and each map has only some of the names.
        """
        if self._known and not self._names_any:
            keys, known = map(", ".join, (map(repr, self.given), sorted(self._known)))
            raise ValueError(f"{self.argument} names {keys}; the map has only the names {known}")


def handed_down(above: Mapping[str, Any], own: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return the properties that a layer hands down: its own, else those from above."""
    stated = {name: value for name, value in (own or {}).items() if name in HANDED_DOWN}
    return {**above, **stated}


def is_solid(properties: Mapping[str, Any], owner: str) -> bool | None:
    """Return whether properties make a layer, tile or object a body; None if they do not say.

    The properties of a platform, a sensor, a lift or a slope make it one too.
    """
    properties = _typed(properties)
    if properties.get("solid") is not None:
        return _flag(properties, "solid", owner)
    traits = [properties.get(name) for name in ("one_way", "sensor", "carry", "slope")]
    return True if any(value is not None and value is not False for value in traits) else None


def _typed(properties: Mapping[str, Any]) -> dict[str, Any]:
    """Return the properties of this module, with texts such as "true", "1" and "0.5" as values."""
    typed = {name: properties[name] for name in HANDED_DOWN if name in properties}
    for name, value in typed.items():
        if isinstance(value, str) and name in _FLAGS:
            value = typed[name] = _TEXTS.get(value, value)
        if isinstance(value, str) and name in _NUMBERS:
            with suppress(ValueError):
                number = float(value)
                typed[name] = int(number) if number.is_integer() else number
    return typed


def ramp_in(properties: Mapping[str, Any], owner: str) -> Ramp | None:
    """Return the slope that properties ask for, None without one, or raise a ValueError."""
    properties = _typed(properties)
    rise = properties.get("slope", False)
    if rise is False:
        return None
    if rise not in ("left", "right"):
        raise _wrong(
            owner, "slope", rise, "give it the type string: left or right, where it rises to"
        )
    low, high = properties.get("slope_low", 0.0), properties.get("slope_high", 1.0)
    return Ramp(rise, low, high, _flag(properties, "slope_ceiling", owner))


def traits_of(
    properties: Mapping[str, Any], owner: str, names: Mapping[str, int]
) -> tuple[Factory, ...]:
    """Return functions that create the components for properties, or raise a ValueError.

    `owner` is for errors, and `names` has the bits of each category that may be named.
    """
    properties = _typed(properties)
    made: list[Factory] = []
    one_way = properties.get("one_way", False)
    if one_way is not False:
        side = "up" if one_way is True else one_way
        if not isinstance(side, str) or side not in _NORMALS:
            right = "bool, or one of up, down, left, right: the side that is solid"
            raise _wrong(owner, "one_way", one_way, f"give it the type {right}")
        made.append(partial(OneWay, _NORMALS[side]))
    if _flag(properties, "sensor", owner):
        made.append(Sensor)
    carry = properties.get("carry", False)
    if carry is not False:
        if carry is not True and not isinstance(carry, (int, float)):
            right = "bool, or float: the speed of a belt, to the right"
            raise _wrong(owner, "carry", carry, f"give it the type {right}")
        made.append(Carry if carry is True else partial(Carry, (carry, 0.0)))
    ramp = ramp_in(properties, owner)
    if ramp is not None:
        made.append(partial(Slope, *ramp))
    for name, kind in (("friction", Friction), ("restitution", Restitution)):
        if name in properties:
            made.append(partial(kind, properties[name], properties.get(f"{name}_rule")))
    asked: dict[str, Any] = {
        name: _bits(properties[name], name, owner, names)
        for name in ("categories", "mask")
        if name in properties
    }
    if "group" in properties:
        asked["group"] = properties["group"]
    if asked:
        made.append(partial(Filter, **asked))
    for make in made:
        try:
            make()
        except (TypeError, ValueError) as error:
            raise ValueError(f"the properties of {owner} are wrong: {error}") from None
    return tuple(made)


def body_of(
    properties: Mapping[str, Any], owner: str, names: Mapping[str, int], hint: str = ""
) -> tuple[bool | None, tuple[Factory, ...]]:
    """Return whether properties make a thing a body, and functions that make its components.

    If a property has an invalid value, the one function raises a ValueError, whose message ends
    with the hint.  A thing that becomes no body may have such a property for the game.
    """
    solid: bool | None = True
    try:
        solid = is_solid(properties, owner)
        return solid, traits_of(properties, owner, names)
    except ValueError as error:
        return solid, (partial(_refuse, f"{error}{hint}"),)


def _refuse(message: str) -> NoReturn:
    raise ValueError(message)


def _bits(value: object, name: str, owner: str, names: Mapping[str, int]) -> Any:
    """Return the bits of a number, or of a text of names with commas or spaces between."""
    if not isinstance(value, str):
        return value
    if len(value) > _LONGEST_NAMES:  # a layer hands it down to any number of objects
        shown = f"{value[:40]}..."
        raise _wrong(owner, name, shown, f"it has more than {_LONGEST_NAMES} characters")
    of_game = {name: 2 << n for n, name in enumerate(NAMES.names)}
    names = {**of_game, **names}
    bits = 0
    for word in value.replace(",", " ").split():
        if word not in names and word != "all":
            known = sorted(names) or "none: give load(categories={name: bit, ...})"
            raise _wrong(owner, name, value, f"{word!r} is no category; those given are {known}")
        bits |= names.get(word, ALL)
    return bits


def _flag(properties: Mapping[str, Any], name: str, owner: str) -> bool:
    """Return a property that is true or false; false if it is not there."""
    value = properties.get(name, False)
    if not isinstance(value, bool):
        raise _wrong(owner, name, value, "give it the type bool")
    return value


def _wrong(owner: str, name: str, value: object, right: str) -> ValueError:
    kind = type(value).__name__
    return ValueError(f"the property {name} of {owner} is {value!r} ({kind}); {right}")
