"""How the numbers of two touching surfaces are combined: the rules, and their codes."""

from __future__ import annotations

from enum import StrEnum

from ecs_collide.constants import AVERAGE, GEOMETRIC, MAX, MIN, MULTIPLY


class CombineRule(StrEnum):
    """How the numbers of two touching surfaces become the one that counts.

    Where both surfaces give a rule, the one further down this list counts.  Where neither does,
    it is ``GEOMETRIC`` for `Friction` and ``MAX`` for `Restitution`.
    """

    AVERAGE = "average"
    """(a + b) / 2."""
    GEOMETRIC = "geometric"
    """sqrt(a) · sqrt(b)."""
    MIN = "min"
    """The smaller one."""
    MULTIPLY = "multiply"
    """a · b."""
    MAX = "max"
    """The larger one."""


_CODES = {
    CombineRule.AVERAGE: AVERAGE,
    CombineRule.GEOMETRIC: GEOMETRIC,
    CombineRule.MIN: MIN,
    CombineRule.MULTIPLY: MULTIPLY,
    CombineRule.MAX: MAX,
}
_RULES = {code: rule for rule, code in _CODES.items()}


def code_of(owner: type, rule: CombineRule | str | None) -> int:
    """Return the code of a rule, 0 for None.

    Raises
    ------
    ValueError
        `rule` is not a rule.
    """
    if rule is None:
        return 0
    try:
        return _CODES[CombineRule(rule)]
    except ValueError:
        names = ", ".join(map(repr, map(str, CombineRule)))
        raise ValueError(
            f"{owner.__name__}(rule={rule!r}) must be one of {names}, or None"
        ) from None


def rule_of(code: float) -> CombineRule | None:
    """Return the rule of a code; None for 0, and for a number that is no code."""
    return _RULES.get(int(code))
