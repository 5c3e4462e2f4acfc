"""docs/published.md has a row for each test, and a test for each row."""

from __future__ import annotations

import re
from pathlib import Path

from benchmarks.published import test_eight, test_more
from benchmarks.published.eight import EIGHT

PAGE = (Path(__file__).parents[2] / "docs" / "published.md").read_text("utf-8")
PEERS = {
    "test_other_settings_of_the_peers_help_as_the_page_says",
    "test_peer_does_today_what_its_picture_shows",
    "test_peers_hold_slow_bodies",
    "test_words_of_a_picture_stay_in_their_halves",
    "test_a_picture_counts_no_further_once_the_player_has_left_it",
}


def test_each_row_names_a_test_and_each_test_has_a_row() -> None:
    rows = [
        [cell.strip() for cell in line.split("|")] for line in re.findall(r"^\|(.*)\|$", PAGE, re.M)
    ]
    named = [row[3].strip("`") for row in rows if row[3].startswith("`")]
    tests = {name for module in (test_eight, test_more) for name in vars(module)}

    assert len(named) == len(set(named)) >= 40
    assert set(named) == {name for name in tests if name.startswith("test_")} - PEERS


def test_each_row_links_a_thread_and_says_what_happened() -> None:
    rows = re.findall(r"^\| (.*?) \| (.*?) \| (.*?) \| `test", PAGE, re.M)

    links = [re.fullmatch(r"\[.+ \d+\]\(https://github\.com/\S+/\d+\)", row[0]) for row in rows]
    assert len(rows) >= 40
    assert all(links)
    assert len({row[0] for row in rows}) == len(rows)
    assert all(len(words) > 3 for row in rows for words in row[1:])


def test_the_eight_scenes_have_pictures_settings_and_threads_on_the_page() -> None:
    for case in EIGHT:
        assert f"](pictures/scene_{case.name}.gif)" in PAGE
        assert f"]({case.thread})" in PAGE
        assert f"*{case.peer}, {case.setting}.*" in PAGE
