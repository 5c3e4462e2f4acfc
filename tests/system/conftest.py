"""Each step in this folder ends with checks."""

from tests.checked import checked_steps

__all__ = ["checked_steps"]
