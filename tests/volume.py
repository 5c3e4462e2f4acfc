"""How much the tests do: little by default, more with ``--long``, all with ``--long --long``.

A test asks the fixture `volume` how often to repeat what it does; a parametrized
test marks with `further` the cases that only the long run needs.  Every kind of
test is in the short run, with compiled and with pure Python kernels.
"""

from __future__ import annotations

import importlib.util

import pytest

from ecs_collide._kernel import backend

SHORT, LONG, EVERYTHING = range(3)
# Examples of each property that Hypothesis tries.
EXAMPLES = {SHORT: 40, LONG: 100, EVERYTHING: 4000}


class Volume:
    """Chooses how many steps, worlds or cases a test runs.

    Attributes
    ----------
    level : int
        `SHORT`, `LONG` or `EVERYTHING`: how often ``--long`` was given.
    """

    def __init__(self, level: int) -> None:
        self.level = min(level, EVERYTHING)

    def __call__(
        self, short: int, long: int, everything: int | None = None, *, least: int = 1
    ) -> int:
        """Return the number for this run, by default `long` where everything is run.

        Kernels in pure Python are 50 times slower: they get a tenth of `short` or
        `long`, but no fewer than `least`.  Where everything is run they get all.
        """
        if self.level == EVERYTHING:
            return long if everything is None else everything
        n = long if self.level == LONG else short
        return n if backend.kernels.compiled else max(n // 10, min(least, n))


def further(*values: object) -> list[object]:
    """Return values for `pytest.mark.parametrize` that only the long run tries."""
    return [pytest.param(value, marks=pytest.mark.long) for value in values]


def choose_examples(level: int) -> None:
    """Select the Hypothesis profile of a level, where Hypothesis is installed."""
    if importlib.util.find_spec("hypothesis") is None:
        return
    from hypothesis import HealthCheck, settings

    for name, max_examples in EXAMPLES.items():
        settings.register_profile(
            f"ecs_collide {name}",
            parent=settings(),
            max_examples=max_examples,
            deadline=None,
            suppress_health_check=[HealthCheck.too_slow],
        )
    settings.load_profile(f"ecs_collide {min(level, EVERYTHING)}")
