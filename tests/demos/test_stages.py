"""The program that adds a system between each two stages: on the page, in the demo, and run."""

from __future__ import annotations

import inspect
from pathlib import Path

import esper
import pytest

import ecs_collide as ec
from demos import responses
from demos.app import stages

PAGE = Path(__file__).parents[2] / "docs" / "step.md"


def program() -> str:
    """Return the program without its docstring."""
    return inspect.getsource(stages).partition("import ecs_collide as ec\n")[2].strip()


def test_the_page_shows_the_program_that_the_demo_runs() -> None:
    assert program() in PAGE.read_text("utf-8")
    assert len(program().splitlines()) <= 41


def test_the_demo_shows_the_program_and_what_it_says(world: str) -> None:
    scene = responses.build()
    for _ in range(responses.ROUND + 70):
        scene.step()

    shown = [label.text for label in scene.labels()]

    assert [line for line in program().splitlines() if line] == [
        line for line in shown if line in responses.PROGRAM.splitlines()
    ]
    assert set(scene.said) <= set(shown)
    assert any(line.endswith("CROSSED") for line in scene.said)
    assert len(scene.ended) == 2
    assert all(holds for _, holds in scene.claims())


@pytest.mark.usefixtures("world")
def test_every_system_of_the_program_has_its_say() -> None:
    said: list[str] = []
    body = ec.Extents(1, 1), ec.Velocity(8, 0)
    ghost = esper.create_entity(ec.Position(0, 9), *body, ec.Slide(), stages.Ghost())
    esper.create_entity(ec.Position(5, 0), ec.Extents(1, 99))
    space = ec.install()

    stages.add_systems(space, said.append)
    esper.process(1.0)

    assert said == [
        "0 left their bounds in the tree",
        "1 and 2 meet at 0.375",
        "1 and 2: CROSSED",
    ]
    assert esper.component_for_entity(ghost, ec.Position).xy == (8, 9)
