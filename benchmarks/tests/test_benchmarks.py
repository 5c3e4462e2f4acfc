"""The benchmarks measure what they say: scenes, pairs, tables.  The clock itself is not tested."""

from __future__ import annotations

import importlib
from typing import ClassVar

import numpy as np
import pytest

from benchmarks import competitors, costs, measure, report
from benchmarks import scenes as scenes_
from benchmarks.__main__ import main, parsed, planned
from benchmarks.child import digest
from benchmarks.competitors import ENGINES, FINDERS, OURS, PRESSERS
from benchmarks.crowds import CROWDS, depths
from benchmarks.engines import arena
from benchmarks.measure import Race, Result
from benchmarks.scenes import DT, SCENES, Boxes, scene
from tests.pressing import Pressing

PEERS = ("pymunk batch", "Box2D 3 batch (pyb2d3)")

EVERY_SCENE = pytest.mark.parametrize(
    ("name", "dim"), [(name, dim) for name in SCENES for dim in (2, 3)]
)


def brute_pairs(boxes: Boxes) -> set[tuple[int, int]]:
    """Return all pairs of boxes that share a point, by trying each with each."""
    apart = (boxes.mins[:, None] > boxes.maxs[None]) | (boxes.maxs[:, None] < boxes.mins[None])
    rows = np.argwhere(np.triu(~apart.any(axis=2), 1))
    return {(int(boxes.ids[a]), int(boxes.ids[b])) for a, b in rows}


def described(race_kind: str = "tree", **notes: float) -> Race:
    """Return a race with three runs of us, of a peer that is slower, and one that is missing."""
    ours = Result(OURS, "1", runs=[[1.0, 9.0, 1.0], [2.0, 2.0, 2.0], [4.0, 4.0, 4.0]], notes=notes)
    peer = Result("slowpoke", "2.0", runs=[[6.0, 6.0, 9.0]] * 3, notes=notes)
    away = Result("nobody", missing="nobody is not installed")
    return Race(race_kind, "gas", 1000, 2, [ours, peer, away])


class TestScenes:
    @EVERY_SCENE
    def test_same_seed_gives_the_same_frames(self, name, dim):
        one, other = scene(name, 50, dim, 3), scene(name, 50, dim, 3)

        for a, b in zip(one.frames, other.frames, strict=True):
            assert (a.boxes.mins == b.boxes.mins).all()
            assert (a.boxes.ids == b.boxes.ids).all()
        assert (
            scene(name, 50, dim, 3, seed=2).frames[0].boxes.mins != one.frames[0].boxes.mins
        ).any()

    @EVERY_SCENE
    def test_about_half_an_overlap_a_body(self, name, dim):
        played = scene(name, 1000, dim, 2)
        resting = len(played.resting) if name == "level" else 0

        pairs = FINDERS["numpy"](played).step(played.frames[2])

        movers = len(played.frames[0].boxes) - resting
        assert 0.35 < len(pairs) / movers < 0.75

    @EVERY_SCENE
    def test_faces_never_coincide(self, name, dim):
        boxes = scene(name, 100, dim, 1).frames[1].boxes

        for k in range(dim):
            gaps = boxes.mins[:, None, k] - boxes.maxs[None, :, k]
            assert np.abs(gaps).min() >= scenes_.LATTICE / 2
            assert (gaps % (scenes_.LATTICE / 2) == 0.0).all()

    @EVERY_SCENE
    def test_motions_lead_from_frame_to_frame(self, name, dim):
        played = scene(name, 100, dim, 4)

        for now, then in zip(played.frames, played.frames[1:], strict=False):
            stays = np.isin(now.boxes.ids, then.boxes.ids)
            stayed = np.isin(then.boxes.ids, now.boxes.ids)
            ended = now.boxes.mins[stays] + now.boxes.motions[stays]
            assert (ended == then.boxes.mins[stayed]).all()

    @EVERY_SCENE
    def test_frames_say_what_changed(self, name, dim):
        played = scene(name, 100, dim, 4)

        known = set(played.frames[0].boxes.ids.tolist())
        for frame in played.frames[1:]:
            known = known - set(frame.gone.tolist()) | set(frame.new.ids.tolist())
            assert known == set(frame.boxes.ids.tolist())
            assert set(frame.moved.ids.tolist()) == (
                known - set(frame.new.ids.tolist()) - set(played.resting.ids.tolist())
            )

    def test_spawn_replaces_a_twentieth(self):
        frame = scene("spawn", 200, 2, 2).frames[1]

        assert len(frame.boxes) == 200
        assert len(frame.gone) == len(frame.new) == 10

    def test_sizes_span_two_orders(self):
        boxes = scene("sizes", 5000, 2, 0).frames[0].boxes

        sides = boxes.maxs[:, 0] - boxes.mins[:, 0]
        assert 60 < sides.max() / sides.min() <= 100

    def test_bullets_fly_60_units_a_second(self):
        moved = scene("bullets", 200, 2, 1).frames[1].moved

        assert np.median(np.abs(moved.motions)) == pytest.approx(60 * DT)

    def test_level_at_full_size(self):
        played = scene("level", 10_000, 2, 0)

        assert len(played.resting) == 100_000
        assert len(played.frames[0].boxes) == 100_500


class TestFinders:
    @pytest.mark.parametrize(
        ("who", "name", "dim"),
        [
            (entrant.name, name, dim)
            for name in SCENES
            for dim in (2, 3)
            for entrant in measure.entrants("tree", dim, name, [])
        ],
    )
    def test_every_competitor_finds_the_same_pairs(self, who, name, dim):
        pytest.importorskip(FINDERS[who].module)
        played = scene(name, 60, dim, 3)

        competitor = FINDERS[who](played)

        for frame in played.frames[1:]:
            pairs = competitor.pairs(competitor.step(frame))
            wanted = np.array(sorted(brute_pairs(frame.boxes)), np.int64).reshape(-1, 2)
            assert digest(pairs, len(played.resting)) == digest(wanted, len(played.resting))

    def test_a_pair_too_many_is_seen(self):
        pairs = np.array([[3, 1], [2, 5]])

        assert digest(pairs, 0) == digest(pairs[::-1, ::-1], 0)
        assert digest(pairs, 0) != digest(pairs[:1], 0)
        assert digest(pairs, 0) != digest(np.array([[3, 1], [2, 6]]), 0)
        assert digest(np.array([[0, 1], [1, 2]]), 2)[0] == 1  # 0 and 1 rest both


class TestEngines:
    @pytest.mark.parametrize("who", ENGINES)
    @pytest.mark.usefixtures("world")
    def test_every_engine_keeps_all_boxes_and_their_energy(self, who):
        pytest.importorskip(ENGINES[who].module)
        start = arena(30)
        engine = ENGINES[who](start)

        begun = sum(engine.step() for _ in range(40))

        positions, velocities = engine.state()
        assert begun > 0
        assert ((positions > -1.0) & (positions < start.side + 1.0)).all()
        energy = (velocities**2).sum() / (start.velocities**2).sum()
        assert energy == pytest.approx(1.0, rel=0.1)
        assert (positions != start.positions).any(axis=1).all()


class TestMeasuring:
    def test_figures_are_of_the_quietest_run_and_worst_of_each_frames_least(self):
        ours = described().results[0]

        assert (ours.mean, ours.median) == (2.0, 2.0)
        assert ours.worst == 2.0  # the 9 was slow in one run only

    def test_wrong_pairs_are_named(self):
        good = [(5, "aa"), (6, "bb")]
        results = [Result("a", pairs=good), Result("b", pairs=good), Result("c", pairs=[(5, "aa")])]
        assert measure.disagreement(results) == ""

        results.append(Result("liar", pairs=[(5, "aa"), (7, "cc")]))

        assert measure.disagreement(results) == "liar finds 7 pairs in frame 2, not 6"

    def test_missing_peer_is_named_and_skipped(self, monkeypatch):
        monkeypatch.setattr(measure, "installed", lambda name: None if name == "shapely" else "1.0")

        entered = {entrant.name: entrant for entrant in measure.entrants("tree", 2, "gas", [])}

        assert entered["shapely STRtree"].missing == "shapely is not installed"
        assert entered["numpy"].missing == ""

    def test_child_that_fails_is_named_and_skipped(self, monkeypatch):
        def fail(job, patience, **environment):
            raise measure.ChildError("killed by signal 11")

        monkeypatch.setattr(measure, "run_child", fail)

        held = measure.race("tree", "gas", 10, 2, measure.Effort(), ["numpy"], lambda text: None)

        assert [result.missing for result in held.results] == ["killed by signal 11"] * 2
        assert held.finished == []

    def test_distributions_are_those_of_the_extra(self):
        import tomllib

        text = (measure.ROOT / "pyproject.toml").read_text("utf-8")
        extra = tomllib.loads(text)["project"]["optional-dependencies"]["bench"]

        needed = {competitor.needs for competitor in [*FINDERS.values(), *ENGINES.values()]}
        assert needed - {"ecs_collide", "numpy"} <= {line.partition(">")[0] for line in extra}

    def test_nothing_of_the_peers_is_needed_to_import(self):
        for name in ("trees", "physics", "engines", "child", "report"):
            text = (measure.ROOT / "benchmarks" / f"{name}.py").read_text("utf-8")
            for peer in ("pymunk", "pyb2d3", "shapely", "scipy", "rtree", "coal"):
                assert f"\nimport {peer}" not in text
                assert f"\nfrom {peer}" not in text


class TestReport:
    OF_ENGINE: ClassVar = {"collisions": 1.0, "energy": 1.0, "escaped": 0, "in_game": 2.0}

    def test_table_has_a_ratio_for_each_peer_and_names_the_missing(self):
        lines = report.table(described()).splitlines()

        assert lines[0] == "### Pairs, gas, 2D, n = 1,000"
        assert lines[4] == "| **ecs_collide** | 2.00 | 2.00 | 2.00 |  | 3 |"
        assert lines[5] == "| slowpoke 2.0 | 7.00 | 6.00 | 9.00 | 3.50 | 3 |"
        assert lines[7] == "Left out: nobody (nobody is not installed)."

    def test_table_of_engines_tells_collisions_energy_and_the_time_in_a_game(self):
        held = described("engine", collisions=12.3, energy=0.995, escaped=0, in_game=2.0)

        held.results[1].notes = {**held.results[1].notes, "in_game": 5.0}

        text = report.table(held)

        assert "| 2.00 | 2.00 | 2.00 |  | 12 | 99.5% | 2.00 |  |" in text
        assert "| 7.00 | 6.00 | 9.00 | 3.50 | 12 | 99.5% | 5.00 | 2.50 |" in text

    def test_table_of_crowds_tells_sweeps_for_each_pair_and_overlaps(self):
        held = described("crowd", sweeps=4.26, depth=0.5, deepest=1.25)

        text = report.table(held)

        assert "### Crowd, gas, 1,000 bodies" in text
        assert "| 4.3 | 0.50, 1.25 |" in text
        assert "| slowpoke 2.0 | 7.00 | 6.00 | 9.00 | 3.50 |  | 0.50, 1.25 |" in text

    def test_wrong_pairs_show(self):
        held = described()
        held.wrong = "slowpoke finds 1 pairs in frame 1, not 2"

        assert "**Wrong: slowpoke finds 1 pairs" in report.table(held)

    def test_steadiness_sets_scenes_and_sizes_side_by_side(self):
        large = Race("tree", "gas", 10_000, 2, [Result(OURS, runs=[[20.0, 30.0]])])
        fast = Race("tree", "bullets", 10_000, 2, [Result(OURS, runs=[[50.0]])])

        text = report.steadiness([described(), large, fast])

        assert "| gas, 2D | 10,000 | 25.0 | 1.20 | 1.00 | 12.50 |" in text
        assert "| bullets, 2D | 10,000 | 50.0 | 1.00 | 2.00 |  |" in text

    def test_tables_have_everything(self):
        figures = [("import", 12.5, "ms"), ("depth", 17.0, "")]

        trees, engines = (
            described(),
            described("engine", collisions=1.0, energy=1.0, escaped=0, in_game=2.0),
        )
        trees.results[1].name, engines.results[1].name = "numpy", "pymunk batch"
        text = report.tables([trees, engines], figures, "python -m benchmarks")

        assert "`python -m benchmarks`" in text
        assert "- **numpy**: Sort and sweep in whole-array numpy" in text
        assert "### Whole engine, arena, 1,000 bodies" in text
        assert "| import | 12.5 ms |" in text

    def test_tables_have_the_crowds_where_they_were_run(self):
        crowds = described("crowd", sweeps=1.0, depth=0.0, deepest=0.0)
        crowds.results[1].name = "ecs_collide, soft"

        text = report.tables([crowds], [], "python -m benchmarks crowd")

        assert "## Crowds\n" in text
        assert "- **ecs_collide, soft**: The same, with Separate: a soft crowd." in text
        assert "## Whole engines" not in text

    def test_renewed_tables_take_the_place_of_those_with_their_headings(self):
        crowds = [described("crowd", sweeps=1.0, depth=0.0, deepest=0.0) for _ in range(2)]
        crowds[1].scene = "jam"
        trees, figures = described(), [("import", 12.5, "ms")]
        trees.results[1].name = "numpy"
        for crowd in crowds:
            crowd.results[1].name = "ecs_collide, soft"
        before = report.tables([trees, *crowds], figures, "")
        crowds[0].results[1].runs = [[40.0]]
        other = described("crowd", sweeps=1.0, depth=0.0, deepest=0.0)
        other.scene = "heap"

        after = report.renewed(before, [crowds[0], other])

        old, new = report.read(before), report.read(after)
        changed = {key for key in old if old[key] != new[key]}
        assert {key[:2] for key in changed} == {("Crowd, gas, 1,000 bodies", "ecs_collide, soft")}
        assert {key[0] for key in new.keys() - old.keys()} == {"Crowd, heap, 1,000 bodies"}
        assert after.index("Crowd, jam") < after.index("Crowd, heap") < after.index("Other costs")
        assert after.count("Measured on ") == before.count("Measured on ") + 2

    def test_page_is_not_written_from_a_part_of_the_figures(self, capsys):
        with pytest.raises(SystemExit):
            parsed(["tree", "--write"])

        assert "the page needs all figures" in capsys.readouterr().err
        assert parsed(["crowd", "--crowd", "heap", "--write"]).crowd == ["heap"]

    def test_scene_of_one_size_is_drawn_as_dots_and_one_of_several_as_lines(self):
        gas = described()
        arenas = [
            described("engine", collisions=1.0, energy=1.0, escaped=0, in_game=2.0)
            for _ in range(2)
        ]
        arenas[1].n = 10 * arenas[0].n
        text = report.tables([gas, *arenas], [], "")

        drawn = report.pictures(report.read(text))

        assert sorted(drawn) == ["benchmark_engine_arena.svg", "benchmark_pairs_gas_2d.svg"]
        assert "slowpoke 7.00" in drawn["benchmark_engine_arena.svg"]
        assert "7.00 ms" in drawn["benchmark_pairs_gas_2d.svg"]

    def test_figures_have_three_digits(self):
        assert [report.figure(v) for v in (0.1234, 1.234, 12.34, 123.4, 12345.0)] == [
            "0.123",
            "1.23",
            "12.3",
            "123",
            "12,345",
        ]


class TestCrowds:
    @pytest.mark.parametrize("who", PRESSERS)
    @pytest.mark.parametrize("name", CROWDS)
    @pytest.mark.usefixtures("world")
    def test_each_engine_keeps_a_crowd_together(self, who, name):
        pytest.importorskip(PRESSERS[who].module)
        played = CROWDS[name](12)
        presser = PRESSERS[who](played)
        n_sweeps = 0
        for _ in range(60):
            presser.steer()
            presser.step()
            n_sweeps = max(n_sweeps, presser.counts()[0]) if who == OURS else 1

        places = presser.places()

        assert n_sweeps > 0
        assert places.shape == (12, 2)
        assert np.isfinite(places).all()
        # Two rows of the same length hold each other where they are.
        assert name.startswith("rows") or (places != np.array(played.boxes)).any()
        if who == OURS:
            assert len(depths(played, places)) == 0

    @pytest.mark.parametrize("name", CROWDS)
    @pytest.mark.usefixtures("world")
    def test_boxes_of_a_crowd_sleep_in_all_engines_or_in_none(self, name):
        pytest.importorskip("pymunk")
        pytest.importorskip("pyb2d3")
        played = CROWDS[name](8)

        ours, pymunk, box2d = (PRESSERS[who](played) for who in (OURS, *PEERS))

        assert played.sleeps is name.endswith("with sleep")
        assert ours.space.sleep is played.sleeps
        assert (pymunk.space.sleep_time_threshold < 1.0) is played.sleeps
        assert box2d.world.sleeping_enabled is played.sleeps

    @pytest.mark.parametrize(("name", "n_asleep"), [("heap", 0), ("heap with sleep", 12)])
    @pytest.mark.usefixtures("world")
    def test_a_heap_with_sleep_falls_asleep_and_one_without_does_not(self, name, n_asleep):
        presser = PRESSERS[OURS](CROWDS[name](12))
        for _ in range(120):
            presser.step()

        assert presser.space.stats.asleep == n_asleep

    def test_soft_crowds_run_in_two_scenes_only(self):
        names = {name: [e.name for e in measure.entrants("crowd", 2, name, [])] for name in CROWDS}

        assert [name for name in names if "ecs_collide, soft" in names[name]] == ["swarm", "chase"]

    def test_overlaps_are_those_of_pairs_that_may_meet(self):
        places = np.array([(0.0, 0.0), (10.0, 0.0), (100.0, 0.0), (100.0, 11.0)])

        assert depths(Pressing([], None), places).tolist() == [2.0, 1.0]
        assert depths(Pressing([], None, aloof=2), places).tolist() == [1.0]


class TestCommand:
    def test_all_is_measured_unless_something_is_named(self):
        assert {race[0] for race in planned(parsed([]))} == {"tree", "engine", "crowd"}
        assert {race[0] for race in planned(parsed(["engine"]))} == {"engine"}
        assert planned(parsed(["memory"])) == []

    def test_growth_adds_only_what_is_not_measured_anyway(self):
        plan = planned(parsed(["tree", "growth", "--scene", "gas", "--dim", "2"]))

        assert [(n, peers) for _, _, n, _, peers in plan] == [(10_000, []), (100_000, [OURS])]

    def test_unknown_name_is_refused(self, capsys):
        with pytest.raises(SystemExit):
            parsed(["treee"])

        assert "treee: choose from tree, growth" in capsys.readouterr().err

    def test_it_runs_in_processes_of_its_own(self, capsys):
        words = "tree import --quick --scene spawn --dim 2 --n 50 --only numpy"

        assert main(words.split()) == 0

        out = capsys.readouterr().out
        assert "### Pairs, spawn, 2D, n = 50" in out
        assert "| numpy " in out
        assert "import ecs_collide, beyond esper and numpy" in out


@pytest.mark.parametrize("name", ["counts", "quiet", "resting", "churn", "build", "query", "plain"])
@pytest.mark.usefixtures("world")
def test_costs_are_measured(name):
    rows = costs.COSTS[name](**measure.QUICK_COSTS[name])

    figures = {what: value for what, value, _ in rows if "taken off" not in what}
    assert all(value > 0.0 for value in figures.values())


def test_every_competitor_has_what_the_report_needs():
    for name, competitor in [*FINDERS.items(), *ENGINES.items()]:
        assert competitor.name == name
        assert competitor.__doc__
        assert competitors.installed("no such distribution") is None
        if importlib.util.find_spec(competitor.module):
            assert competitors.installed(competitor.needs) is not None


def test_labels_that_crowd_are_moved_apart_around_the_middle_of_their_lines():
    assert report.apart([100.0, 60.0], 16.0) == [100.0, 60.0]
    assert report.apart([100.0, 98.0, 40.0], 16.0) == [107.0, 91.0, 40.0]
    assert report.apart([100.0, 90.0, 80.0], 16.0) == [106.0, 90.0, 74.0]
