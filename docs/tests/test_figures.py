"""Every measured figure of the pages is that of benchmarks/measured.md."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks import figures, report
from benchmarks.figures import BOX2D, OURS, PYMUNK, TABLES, TEXT, arena, crowd

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize(("page", "words", "values"), figures.FIGURES)
def test_figure_of_a_page_is_the_measured_one(page, words, values):
    text = (ROOT / page).read_text("utf-8")

    (found,) = figures.pattern(words).finditer(text)

    for shown, value in zip(found.groups(), values, strict=True):
        decimals = len(shown.partition(".")[2])
        assert shown == f"{value:,.{decimals}f}", f"{page}: {words}: python -m benchmarks --draw"


def test_new_figures_are_written_between_their_words():
    page = "It takes 2.68 ms a\nframe, and 1,234 bytes. It takes no time."
    words = "takes {} ms a frame, and {} bytes"

    text = figures.replaced(page, words, [12.345, 70_000.4])

    assert text == "It takes 12.35 ms a\nframe, and 70,000 bytes. It takes no time."
    assert figures.replaced("takes 1.2 ms", "takes {} ms", [0.0123]) == "takes 0.012 ms"
    with pytest.raises(ValueError, match="says 0 times: takes"):
        figures.replaced(page, "takes {} bytes", [1.0])


@pytest.mark.parametrize("other", [PYMUNK, BOX2D])
@pytest.mark.parametrize("column", ["ratio", "ratio in a game"])
def test_other_engines_are_slower_from_50_bodies_on(other, column):
    """The pages say so; this fails when it is no longer true."""
    assert all(arena(n, other, column) > 1 for n in ("50", "200", "800", "2,000", "10,000"))


def test_box2d_is_the_fastest_at_10_bodies():
    assert arena("10", BOX2D) < min(1.0, arena("10", PYMUNK))


@pytest.mark.parametrize("scene", ["swarm", "chase", "rows"])
@pytest.mark.parametrize("n", [50, 200, 800])
def test_box2d_is_faster_in_crowds_on_open_ground(scene, n):
    """The README and the pages say so; this fails when it is no longer true."""
    assert crowd(scene, n, BOX2D) < crowd(scene, n, OURS)


def test_box2d_is_faster_in_most_crowds():
    crowds = [key for key in TABLES if key[0].startswith("Crowd, ") and key[1:] == (BOX2D, "ratio")]

    assert sum(TABLES[key] < 1 for key in crowds) > len(crowds) / 2


@pytest.mark.parametrize("n", [50, 200])
def test_pymunk_is_faster_in_heaps_that_sleep(n):
    """The README and the page say so; this fails when it is no longer true."""
    assert crowd("heap with sleep", n, PYMUNK) < crowd("heap with sleep", n, OURS)


def test_page_of_the_benchmarks_and_its_pictures_are_made_from_the_tables():
    expected = {"benchmarks.md": report.page(TEXT)}
    expected |= {
        f"pictures/{name}": drawn for name, drawn in report.pictures(report.read(TEXT)).items()
    }

    for name, text in expected.items():
        assert (ROOT / "docs" / name).read_text("utf-8") == text, (
            f"docs/{name} is out of date: python -m benchmarks --draw"
        )
