"""Save a whole demo at some steps of a replay, and bring it back."""

from __future__ import annotations

from demos.app.scene import Scene
from ecs_collide.testing.memory import Memory as GameMemory


class Memory(GameMemory):
    """Saves a scene; never one that `counts_work`, which differs after a snapshot."""

    def __init__(self, scene: Scene) -> None:
        super().__init__(scene.space, [scene], {"demos"})
        self._scene = scene

    def take(self, step: int) -> None:
        """Save everything as it is now; if that is not possible, set `obstacle`."""
        if not self._scene.counts_work:
            super().take(step)
