"""Enums of text that print as their names."""

from __future__ import annotations

from enum import StrEnum


class NamedText(StrEnum):
    """Members print as their names, in `print`, `str`, ``%s`` and f-strings.

    They remain strings that equal their values.
    """

    def __str__(self) -> str:
        return self.name

    def __format__(self, spec: str) -> str:
        return format(self.name, spec)
