"""All competitors by name: this library first, then the peers."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version

from benchmarks import crowds, engines, physics, trees

FINDERS: dict[str, type[trees.Finder]] = {
    finder.name: finder
    for finder in (
        trees.Ours,
        trees.Numpy,
        trees.NumpyResting,
        physics.Pymunk,
        physics.Box2D,
        trees.Shapely,
        trees.Scipy,
        trees.Rtree,
        trees.Coal,
    )
}

ENGINES: dict[str, type[engines.Engine]] = {
    engine.name: engine
    for engine in (
        engines.Ours,
        engines.OursByBody,
        engines.Pymunk,
        engines.PymunkByBody,
        engines.Box2D,
        engines.Box2DByBody,
    )
}

PRESSERS: dict[str, type[crowds.Presser]] = {
    presser.name: presser
    for presser in (
        crowds.Ours,
        crowds.OursSoft,
        crowds.Pymunk,
        crowds.Box2D,
        crowds.Box2DInSmallSteps,
    )
}

OURS = "ecs_collide"


def installed(distribution: str) -> str | None:
    """Return the version of a distribution, or None where it is missing."""
    if distribution == OURS:
        return ""  # this checkout, installed or not
    try:
        return version(distribution)
    except PackageNotFoundError:
        return None
