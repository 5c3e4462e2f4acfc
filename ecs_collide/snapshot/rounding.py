"""The exact numbers of components that round, in snapshots; see `components.attributes`."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ecs_collide.components.attributes import ROUNDED, exact_numbers, forget_exact, keep_exact
from ecs_collide.components.component_map import ROLES, Components, Role
from ecs_collide.esper_world import World

ROUNDED_NUMBER = np.dtype(
    [("entity", "<i8"), ("role", "u1"), ("axis", "u1"), ("there", "<f8"), ("number", "<f8")]
)
"""A number of the component in a role: its rounded value and its exact number."""


class RoundedNumbers:
    """The exact numbers of all components of a world that round."""

    def __init__(self, components: Components, dim: int) -> None:
        self._roles = [
            components.mass if role == "mass" else components.vector(role, dim) for role in ROLES
        ]

    def rows(self, world: World) -> NDArray[np.void]:
        """Return all exact numbers, as `ROUNDED_NUMBER`, by rising entity."""
        found = []
        for entity, n, role, component in self._components(world) if ROUNDED else ():
            known = exact_numbers(component)
            found += [
                (entity, n, k, *known[name]) for k, name in enumerate(role.names) if name in known
            ]
        return np.array(sorted(found), ROUNDED_NUMBER)

    def resume(self, world: World, numbers: NDArray[np.void]) -> None:
        """Replace all exact numbers by the given ones."""
        if not ROUNDED and not len(numbers):
            return
        known = {(entity, n, k): pair for entity, n, k, *pair in numbers.tolist()}
        for entity, n, role, component in self._components(world):
            for k, name in enumerate(role.names):
                pair = known.get((entity, n, k))
                if pair is None:
                    forget_exact(component, name)
                else:
                    with suppress(TypeError):  # the component allows no weak reference
                        keep_exact(component, name, *pair)

    def _components(self, world: World) -> Iterator[tuple[int, int, Role, Any]]:
        """Yield entity, index of the role, role and component for each component in a role."""
        dead = world.dead()
        kinds = [role.kind for role in self._roles]
        for entity, components in list(world.entities(kinds).items()):
            if entity in dead:
                continue
            for n, role in enumerate(self._roles):
                component = components.get(role.kind)
                if component is not None:
                    yield entity, n, role, component
