"""The enums of flags and codes: each has one column, and fits into it."""

from __future__ import annotations

import ast
import inspect
import re

import numpy as np
import pytest

from ecs_collide._kernel import IntEnum, IntFlag, constants
from ecs_collide.motion.columns import blocks_of

DTYPES = {name: block.dtype for block in blocks_of(2, False) for name in block.names}
ENUMS = [
    kind
    for kind in vars(constants).values()
    if isinstance(kind, type) and kind.__base__ in (IntEnum, IntFlag)
]
FLAGS = [kind for kind in ENUMS if issubclass(kind, IntFlag)]


def members(kind: type) -> dict[str, int]:
    """Return the members of an enum."""
    return {name: value for name, value in vars(kind).items() if name.isupper()}


def columns_of(kind: type) -> list[str]:
    """Return the columns that the first line of an enum's docstring names."""
    return re.findall(r"`(\w+)`", (kind.__doc__ or "").partition(":")[0].partition(";")[0])


@pytest.mark.parametrize("kind", FLAGS)
def test_each_flag_is_one_bit_of_its_own(kind):
    values = list(members(kind).values())

    assert all(value > 0 and value & (value - 1) == 0 for value in values)
    assert len(set(values)) == len(values)


@pytest.mark.parametrize("kind", ENUMS)
def test_members_fit_into_the_columns_of_an_enum(kind):
    columns = columns_of(kind)

    for column in columns:
        most = np.iinfo(DTYPES[column]).max
        assert sum(members(kind).values()) <= most, column
    assert columns or kind.__name__ in ("Mark", "OutcomeCode", "QueryKind")


def test_marks_of_component_types_have_room_for_all_flags():
    has = sum(members(constants.Has).values())
    traits = sum(members(constants.Trait).values()) << constants.TRAITS_SHIFT
    marks = sum(members(constants.Mark).values())

    assert has & marks == has & traits == traits & marks == 0
    assert has + traits + marks < 2**31


def test_each_member_says_what_it_means():
    lines = inspect.getsource(constants).split("\n")
    for kind in ENUMS:
        tree = ast.parse(inspect.getsource(constants))
        for node in next(n for n in tree.body if getattr(n, "name", "") == kind.__name__).body:
            if isinstance(node, ast.Assign):
                assert re.search(r"  # \S", lines[node.lineno - 1]), lines[node.lineno - 1]
