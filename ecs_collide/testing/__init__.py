"""A kit for testing games and simulations: ``from ecs_collide import testing``.

Its functions need no pytest.  The strategies and `level_machine` need Hypothesis:
``pip install "ecs_collide[testing]"``.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from ecs_collide.debug.pictures import draw_svg, draw_text
from ecs_collide.testing.assertions import (
    assert_contacts_balanced,
    assert_hit,
    assert_never_inside,
    assert_reaches,
)
from ecs_collide.testing.logs import format_log
from ecs_collide.testing.places import leads_to
from ecs_collide.testing.reach import Reach, reach
from ecs_collide.testing.repeats import VARIANTS, assert_repeats, assert_rollback_safe
from ecs_collide.testing.sim import Inputs, Sim, Trace

if TYPE_CHECKING:
    from ecs_collide.testing.machine import level_machine
    from ecs_collide.testing.strategies import (
        boxes,
        crowds,
        input_scripts,
        tile_floors,
        worlds,
    )

__all__ = [
    "VARIANTS",
    "Inputs",
    "Reach",
    "Sim",
    "Trace",
    "assert_contacts_balanced",
    "assert_hit",
    "assert_never_inside",
    "assert_reaches",
    "assert_repeats",
    "assert_rollback_safe",
    "boxes",
    "crowds",
    "draw_svg",
    "draw_text",
    "format_log",
    "input_scripts",
    "leads_to",
    "level_machine",
    "reach",
    "tile_floors",
    "worlds",
]


def __getattr__(name: str) -> Any:
    """Import the names that need Hypothesis on first access."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        importlib.import_module("hypothesis")
    except ImportError as error:
        raise ImportError(
            f"ecs_collide.testing.{name} needs Hypothesis: pip install 'ecs_collide[testing]'"
        ) from error
    module = "machine" if name == "level_machine" else "strategies"
    return getattr(importlib.import_module(f"ecs_collide.testing.{module}"), name)
