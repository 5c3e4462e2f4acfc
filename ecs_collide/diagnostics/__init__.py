"""Diagnostics: `Space.doctor` and `Space.explain`, imported when a game calls one of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

EXAMINERS: dict[type, Callable[[Any, int], Any]] = {}
"""By type of component: the function that yields findings about an entity that has one."""
