"""The settings of a space, checked, and compared with those of a later call of `install`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ecs_collide._checks import (
    checked_count,
    checked_gravity,
    checked_number,
    checked_switch,
    up_against,
)
from ecs_collide._kernel.constants import LARGEST
from ecs_collide.components.component_map import Components
from ecs_collide.events import VectorLike
from ecs_collide.motion.wrapping import checked_wrap
from ecs_collide.queries.contact_queries import as_axis


class Settings:
    """The arguments of a `Space`, which describes them, as it uses them.

    Raises
    ------
    TypeError, ValueError
        One of them is impossible.
    """

    def __init__(
        self,
        *,
        dim: int,
        rest_speed: float,
        pair_limit: int,
        margin: float | None,
        lookahead: float,
        components: Components | None,
        motion: str,
        sleep: bool,
        wrap: Sequence[float | None] | None,
        up: VectorLike | None,
        gravity: VectorLike | None,
    ) -> None:
        if motion not in ("velocity", "swept"):
            raise ValueError(f"Space(motion={motion!r}) must be 'velocity' or 'swept'")
        if dim not in (2, 3):
            raise ValueError(f"Space(dim={dim!r}) must be 2 or 3")
        if components is None:
            components = Components()
        elif not isinstance(components, Components):
            raise TypeError(f"components={components!r} must be an ecs_collide.Components")
        self.dim = int(dim)
        self.components = components
        self.motion = motion
        self.lookahead = checked_number("lookahead", lookahead, LARGEST)
        self.margin = None if margin is None else checked_number("margin", margin, LARGEST)
        self.gravity = checked_gravity(gravity, self.dim)
        self.up_is_given = up is not None
        self.up = up_against(self.gravity) if up is None else as_axis("up", up, self.dim)
        self.wrap = checked_wrap(wrap, self.dim)
        self.rest_speed = checked_number("rest_speed", rest_speed)
        self.pair_limit = checked_count("pair_limit", pair_limit)
        self.sleep = checked_switch("sleep", sleep)

    def differing(self, given: Mapping[str, Any]) -> dict[str, object]:
        """Return the settings, by name, that differ from the given ones."""
        own = {name: value for name, value in vars(self).items() if name != "up_is_given"}
        if given.get("dim", self.dim) != self.dim:  # then no vector can be compared
            return {"dim": self.dim}
        others = vars(Settings(**{**own, **given}))
        return {name: own[name] for name in given if others[name] != own[name]}
