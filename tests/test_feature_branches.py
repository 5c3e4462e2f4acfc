"""How many branches of the engine ask for a feature, and how many functions ask for two.

Each feature that a stage asks for is a case that its readers must think of, and two features in one
function are a product that no test covers.  The counts may fall, and then their bars fall too.
"""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

import ecs_collide

PACKAGES = ("motion", "broadphase", "narrowphase", "response", "sync", "step")

# The questions of each feature, as they stand in a condition, and the branches that may ask them.
FEATURES = {
    "slopes": (r"any_slope|is_slanted|slants\b|slopes\.find\b|follows_line|is_slope|is_line", 22),
    "gravity": (r"gravity\.is_on|acts_on|falls\b|\bkick\b|parting\b|\bpress\b", 18),
    "growth": (r"any_resize|\bm\.resizes|\.resizes\b|\.growth\b|GROWTH|resize_of", 19),
    "soft crowds": (r"any_separator|is_soft|\bSOFT\b|separating\.n", 8),
    "push-out": (r"any_pusher|translation_side|PUSH_OUT", 5),
    "carriers": (r"any_carrier|carries\b|\brides\(|\briding\b|\.carrier\[", 21),
    "limits": (r"on_hold|is_spent|pair_limit|REPEAT_LIMIT|gives_way", 14),
    "dominance": (
        r"any_rank|rank_of|rank_with|controls\.rank|(nodes|members)\[\w+\]\.rank|\brank\[|_rank\b",
        20,
    ),
    "locked axes": (r"\.locks\(|any_lock|dynamic_along", 16),
    "lasting clusters": (r"\.lasts\b|\blasts\b|lasting|merged_before|is_broken", 14),
    "wrapping": (r"\bwraps\b|\bimages?\b|domain", 26),
    "attached boxes": (
        r"attachments\b|\.attached\[|ATTACHED|any_attached|\.taking_part|lists\.attached|has_boxes",
        18,
    ),
    "one-way sides": (r"one_way|PASSING|FALL_THROUGH|passable", 10),
    "crossing": (r"\bCROSS|CROSSING|\bcrosses", 15),
    "corners": (r"pairs\.at\[\w+\]\.tier|\.corner\b", 7),
    "responses of the game": (
        r"\bpending\b|hands_all|_offered|is_set\b|self\.is_changed\b(?!\[)",
        4,
    ),
    "sleep": (r"asleep|sleeping", 22),
    "crowds without room": (r"is_crowded|skips\(|\.waits\(i|takes_turns", 6),
    "swept motion": (r"\.sweeps\b|driven", 17),
    "deleted in a step": (r"withdrawn|\bgone\b", 10),
    "components of the game": (r"\.converts|ROUNDED|has_parts|\.is_apart\b|keeps\(", 13),
    "pure Python": (r"cython\.compiled", 20),
}
FUNCTIONS_WITH_TWO = 29

WHAT_TO_DO = """
{n} {what}; at most {bar} may.

A new branch that asks for a feature is a case that everybody must think of who reads that stage,
and that meets all other features there.  Often it need not be one:

- Can the answer be a number, such as a velocity of 0, with which the general rule is right?
- Does the function that is called know the answer?  Then its callers need not ask before.
- Do several functions ask the same?  Then one of them can ask, and the others call it.

If it must be one, raise the bar in tests/test_feature_branches.py, and say in the commit why.
Do not give the question another name: the point is that there is none.

{where}
"""


@cache
def questions() -> list[tuple[str, str, int]]:
    """Return feature, place and line of each branch that asks for a feature."""
    found = []
    for package in PACKAGES:
        for path in sorted(Path(ecs_collide.__file__).parent.joinpath(package).glob("*.py")):
            for name, line, features in asked_in(ast.parse(path.read_text("utf-8"))):
                place = f"{package}/{path.stem}.{name}"
                found += [(feature, place, line) for feature in features]
    return found


def asked_in(module: ast.Module) -> Iterator[tuple[str, int, list[str]]]:
    """Yield function, line and features of each branch of a module."""
    for function in ast.walk(module):
        if not isinstance(function, ast.FunctionDef) or function.name == "check":
            continue
        for node in ast.walk(function):
            if isinstance(node, (ast.If, ast.IfExp, ast.While)):
                condition = ast.unparse(node.test)
                yield (
                    function.name,
                    node.lineno,
                    [name for name, (asks, _) in FEATURES.items() if re.search(asks, condition)],
                )


@pytest.mark.parametrize("feature", FEATURES)
def test_no_more_branches_ask_for_a_feature(feature):
    there = [f"{place}:{line}" for name, place, line in questions() if name == feature]
    bar = FEATURES[feature][1]

    assert there, f"no branch asks for {feature}: take it out of the table"
    assert len(there) <= bar, WHAT_TO_DO.format(
        n=len(there), what=f"branches ask for {feature}", bar=bar, where="\n".join(there)
    )


def test_no_more_functions_ask_for_two_features():
    asked: dict[str, Counter[str]] = {}
    for feature, place, _ in questions():
        asked.setdefault(place, Counter())[feature] += 1
    several = {place: features for place, features in asked.items() if len(features) > 1}

    assert len(several) <= FUNCTIONS_WITH_TWO, WHAT_TO_DO.format(
        n=len(several),
        what="functions ask for two features or more",
        bar=FUNCTIONS_WITH_TWO,
        where="\n".join(f"{place}: {', '.join(several[place])}" for place in sorted(several)),
    )


@pytest.mark.parametrize(
    ("line", "features"),
    [
        ("if b.on_hold[i] and is_slanted(sign): pass", ["slopes", "limits"]),
        ("speed = 0.0 if self.gravity.is_on else 1.0", ["gravity"]),
        ("while m.resizes or not cython.compiled: pass", ["growth", "pure Python"]),
        ("if lane == 0 or growth < minimum: pass", []),
        ("if self.pairs.at[p].tier: pass", ["corners"]),
        ("if c.nodes[one].rank > least: pass", ["dominance"]),
    ],
)
def test_a_branch_is_counted_for_what_it_asks(line, features):
    module = ast.parse(f"def run(self):\n    {line}\n")

    assert [each for *_, each in asked_in(module)] == [features]
