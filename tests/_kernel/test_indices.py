"""Where numpy's indices have 32 bits, as in Pyodide, ids and rows still have 64.

numpy then refuses int64 where it wants indices or counts, except in ``array[rows]``.
"""

from __future__ import annotations

import sys
from pathlib import Path

import esper
import numpy as np
import pytest

import ecs_collide as ec
from ecs_collide import __main__ as program
from ecs_collide._kernel import arrays, backend
from ecs_collide.debug import Camera, Show
from ecs_collide.debug.pictures import draw_text
from ecs_collide.debug.shapes import collect
from ecs_collide.recording.frames import read_frame, tree_bounds

REFUSING = {"choose", "put", "repeat", "searchsorted", "take"}
CASTING = arrays.take_rows.__code__  # it casts the rows


@pytest.fixture
def _narrow_indices(monkeypatch):
    """Let numpy find indices of 32 bits, and refuse counts of 64."""

    def narrow(find):
        return lambda *args, **options: find(*args, **options).astype(np.int32)

    def strict(use, place):
        def use_narrow(*args, **options):
            if np.asarray(args[place]).dtype == np.int64:
                raise TypeError("Cannot cast array data from dtype('int64') to dtype('int32')")
            return use(*args, **options)

        return use_narrow

    monkeypatch.setattr(np, "intp", np.int32)
    monkeypatch.setattr(arrays, "INDEX", np.dtype(np.int32))
    for name in ("argsort", "cumsum", "flatnonzero", "lexsort", "searchsorted"):
        monkeypatch.setattr(np, name, narrow(getattr(np, name)))
    monkeypatch.setattr(np, "bincount", strict(narrow(np.bincount), 0))
    for name in ("choose", "put", "repeat", "take"):
        monkeypatch.setattr(np, name, strict(getattr(np, name), 0 if name == "choose" else 1))
    arange = np.arange
    monkeypatch.setattr(np, "arange", lambda *ends: arange(*ends, dtype=np.int32))


@pytest.mark.quick
@pytest.mark.usefixtures("_narrow_indices")
def test_tree_lists_its_pairs_where_numpys_indices_have_32_bits():
    tree = ec.AABBTree(2)
    tree.insert_many(np.array([7, 5, 3]), [(0, 0), (1, 1), (9, 9)], [(2, 2), (3, 3), (10, 10)])

    pairs = tree.pairs()

    assert pairs.tolist() == [[5, 7]]
    assert pairs.dtype == np.int64


@pytest.mark.quick
@pytest.mark.usefixtures("_narrow_indices", "world")
def test_regions_of_a_wrapped_world_are_found_where_numpys_indices_have_32_bits():
    space = ec.install(wrap=(100, 100))
    made = [
        esper.create_entity(ec.Position(x, 50), ec.Extents(2, 2), ec.Velocity(1, 0))
        for x in (1, 50, 99)
    ]
    esper.process(1.0)

    hits = space.query_many([(95, 45), (45, 45)], [(105, 55), (55, 55)])

    assert hits.offsets.tolist() == [0, 2, 3]
    assert hits.offsets.dtype == np.int64
    assert hits.ids.tolist() == [made[0], made[2], made[1]]


@pytest.mark.quick
@pytest.mark.usefixtures("_narrow_indices")
def test_the_self_check_holds_where_numpys_indices_have_32_bits(monkeypatch):
    monkeypatch.setattr(backend, "kernels", backend.load(compiled=False))

    assert program.check_arrays()


def use_arrays():
    """Call what gives or takes arrays and the self-check does not call."""
    box = (0.0, 0.0), (1.0, 1.0)
    ids = [
        esper.create_entity(
            ec.Position(1.5 * n, n % 3), ec.Extents(1, 1), ec.Velocity(1, 0), ec.Slide()
        )
        for n in range(12)
    ]
    esper.create_entity(ec.Position(9, 9), ec.Extents(1, 1), ec.Slope("right"))
    space = ec.install()
    esper.process(0.1)
    camera = Camera(np.eye(4).ravel().tolist(), (640, 480))
    collect(space, ~Show(0), camera)
    read_frame(space)
    tree_bounds(space)
    draw_text(space, ids[:2])
    space.set_positions(ids, space.positions(ids))
    space.set_velocities(ids, space.velocities(ids))
    space.set_extents(ids, np.ones((len(ids), 2)))
    space.restore(space.save_state())
    space.load_on(ids[0])
    space.visible_region((0, 9), reach=40)
    space.occupancy(((0, 0), (9, 9)), 3)
    space.cast_rays(space.positions(), (1, 0), exclude_each=space.entities)
    space.cast_boxes(space.positions(), (1, 1), (1, 0))
    space.nearest_many(space.positions(), 3)
    tree = ec.AABBTree(2)
    tree.insert_many([7, 5], *(np.array([corner, corner]) for corner in box))
    tree.update_many([5, 7], *(np.array([corner, corner]) for corner in box))
    tree.pairs()
    tree.branches()
    tree.remove_many([7])
    ec.sweep_pairs(np.zeros((2, 2)), np.ones((2, 2)), np.ones((2, 2)), [(0, 1)])


@pytest.mark.quick
@pytest.mark.usefixtures("_narrow_indices", "world")
def test_arrays_are_used_where_numpys_indices_have_32_bits(monkeypatch):
    monkeypatch.setattr(backend, "kernels", backend.load(compiled=False))

    use_arrays()


@pytest.mark.quick
@pytest.mark.usefixtures("world")
@pytest.mark.parametrize("use", [program.check_arrays, use_arrays])
def test_no_method_of_an_array_gets_rows_that_a_32_bit_python_refuses(use, monkeypatch):
    monkeypatch.setattr(backend, "kernels", backend.load(compiled=False))
    package, found = str(Path(ec.__file__).parent), []

    def watch(frame, event, function):
        if event == "c_call" and isinstance(getattr(function, "__self__", None), np.ndarray):
            code = frame.f_code
            is_ours = code.co_filename.startswith(package) and code is not CASTING
            if is_ours and function.__name__ in REFUSING:
                found.append(f"{code.co_filename}:{frame.f_lineno} calls {function.__name__}()")

    sys.setprofile(watch)
    try:
        use()
    finally:
        sys.setprofile(None)

    assert found == []
