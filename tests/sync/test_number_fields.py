"""The numbers of a game's own component, and which of them is out of its bounds."""

from __future__ import annotations

from decimal import Decimal
from types import SimpleNamespace

import pytest

from ecs_collide.extend import AMOUNT, Bounds, NumberFields

SIDE = Bounds(-1, 1, "must be -1, 0 or 1", is_whole=True)


@pytest.mark.parametrize("others", [{}, {"speed": AMOUNT}])
@pytest.mark.parametrize(
    ("value", "is_right"),
    [(1, True), (-1.0, True), (Decimal(1), True), (0.5, False), (2, False), ("1", False)],
)
def test_a_component_of_one_number_or_of_two_is_checked_alike(value, is_right, others):
    numbers = NumberFields("Facing", {"side": SIDE, **others})

    wrong = numbers.find_wrong(SimpleNamespace(side=value, speed=1.0))

    assert wrong == (None if is_right else ("Facing.side", value, "must be -1, 0 or 1"))


def test_a_component_without_numbers_is_right_and_one_that_lacks_its_number_is_wrong():
    assert NumberFields("Tag", {}).find_wrong(object()) is None
    assert NumberFields("Facing", {"side": SIDE}).find_wrong(object()) == (
        "Facing.side",
        None,
        "must be -1, 0 or 1",
    )
