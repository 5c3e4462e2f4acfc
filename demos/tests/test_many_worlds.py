"""Many worlds at once: rooms, environments for learning, sweeps, and a recording for Rerun."""

from __future__ import annotations

import csv
import pickle

import esper
import numpy as np
import pytest

import ecs_collide as ec
from demos.many_worlds import rooms as many
from demos.many_worlds import sweep as sweeping

pytestmark = pytest.mark.filterwarnings(
    "ignore::DeprecationWarning", "ignore::PendingDeprecationWarning", "ignore::ResourceWarning"
)
MISSING = 'it needs the extra of the examples: pip install "ecs_collide[examples]"'


@pytest.fixture
def opened():
    """Return a function that keeps what is to be closed."""
    kept = []
    before = esper.current_world

    def keep(thing):
        kept.append(thing)
        return thing

    yield keep
    for thing in kept:
        thing.close()
    assert esper.current_world == before


def moves(n_steps, n_rooms, seed=0):
    return np.random.default_rng(seed).integers(0, len(many.MOVES), (n_steps, n_rooms))


# -- rooms --


def seeded(n, **how):
    rooms = many.Rooms(n, **how)
    rooms.seed(np.arange(n), np.arange(n))
    rooms.reset(np.arange(n))
    return rooms


def test_rooms_draw_the_numbers_of_the_generator_of_the_library():
    randoms = many.Randoms(np.array([7, 8, 2**64 - 1], np.uint64))

    drawn = np.concatenate(
        [randoms.draw(np.array([2, 0]), 3), randoms.draw(np.array([2, 0]), 2)], 1
    )

    for seed, numbers in ((2**64 - 1, drawn[0]), (7, drawn[1])):
        dice = ec.Random(seed)
        assert numbers.tolist() == [dice.random() for _ in range(5)]
    assert randoms.states[1] == 8


def test_rooms_do_the_same_for_the_same_seeds(opened):
    runs = []
    for _ in range(2):
        rooms = opened(seeded(30))
        for some in moves(40, 30):
            over = rooms.step(some)
            rooms.reset(np.flatnonzero(over.hit | over.reached))
        with rooms.current():
            runs.append((rooms.places.tobytes(), rooms.space.state_hash()))

    assert runs[0] == runs[1]


def test_nobody_leaves_a_room_and_agents_end_at_drones_and_goals(opened):
    rooms = opened(seeded(60))
    n_hit = n_reached = 0
    for _ in range(90):
        reached, hit, late = rooms.step(many.head_for_goal(rooms))
        assert not (reached & hit).any()
        assert np.abs(rooms.places).max() <= many.SIDE / 2
        apart = np.abs(rooms.places[:, 0] - rooms.places[:, -1]).max(axis=1)
        assert (apart[reached] <= 1.25 + many.AGENT_SPEED * many.DT).all()
        n_hit, n_reached = n_hit + hit.sum(), n_reached + reached.sum()
        rooms.reset(np.flatnonzero(reached | hit | late))

    assert n_hit > 10
    assert n_reached > 50


def test_clone_of_rooms_goes_on_as_they_do(opened):
    rooms = opened(seeded(20))
    for some in moves(15, 20):
        rooms.step(some)
    state = pickle.loads(pickle.dumps(rooms.save()))
    other = opened(many.Rooms(20))
    other.restore(state)
    ends = []
    for each in (rooms, other, rooms):
        each.restore(state)
        for some in moves(25, 20, seed=1):
            each.reset(np.flatnonzero(np.logical_or(*each.step(some)[:2])))
        with each.current():
            ends.append((each.space.state_hash(), each.places.tobytes(), each.steps.tolist()))

    assert ends[0] == ends[1] == ends[2]


@pytest.mark.parametrize(("n", "n_drones"), [(0, 3), (1, -1), (1, 15)])
def test_rooms_that_cannot_be_are_refused(n, n_drones):
    with pytest.raises(ValueError, match=rf"Rooms\({n}, n_drones={n_drones}\)"):
        many.Rooms(n, n_drones)


# -- Gymnasium --


@pytest.fixture
def gym():
    pytest.importorskip("gymnasium", reason=MISSING)
    from demos.many_worlds import vector_env

    return vector_env


def play(env, actions, seed=3):
    """Return all that an environment gives out, from its reset on."""
    found = [env.reset(seed=seed)]
    found += [env.step(some) for some in actions]
    return found


def assert_near(first, second):
    """Compare observations of rooms that stand elsewhere, so that their last bits are others.

    By such a bit an agent reaches a wall in this step or in the next one, which is seen in its
    velocity: numbers 10 and 11.
    """
    first, second = (np.delete(each, [10, 11], axis=-1) for each in (first, second))
    np.testing.assert_allclose(first, second, atol=1e-5)


def same(first, second):
    """Return whether two such runs are the same in every bit."""
    return pickle.dumps(first) == pickle.dumps(second)


def test_one_room_passes_the_checker_of_gymnasium(gym, opened):
    import gymnasium
    from gymnasium.utils.env_checker import check_env

    env = opened(gymnasium.make("ecs_collide/Rooms-v0"))

    check_env(env.unwrapped, skip_render_check=True)


def test_vector_is_made_by_gymnasium_and_takes_its_wrappers(gym, opened):
    import gymnasium
    from gymnasium.wrappers.vector import RecordEpisodeStatistics

    mode = {"vectorization_mode": "vector_entry_point"}
    env = opened(gymnasium.make_vec("ecs_collide/Rooms-v0", num_envs=8, **mode))
    env = RecordEpisodeStatistics(env)

    seen, infos = env.reset(seed=1)
    assert seen in env.observation_space
    assert infos == {}
    ended = []
    for some in moves(200, 8):
        seen, rewards, terminated, truncated, infos = env.step(some)
        assert seen in env.observation_space
        assert seen.dtype == np.float32
        assert rewards.dtype == np.float64
        assert terminated.dtype == truncated.dtype == np.bool_
        ended += infos["episode"]["r"][infos["_episode"]].tolist() if "episode" in infos else []
    assert len(ended) > 8
    assert set(ended) <= {-1.0, 0.0, 1.0}


@pytest.mark.parametrize("mode", ["NextStep", "SameStep"])
def test_vector_does_what_gymnasium_makes_of_single_rooms(gym, opened, mode):
    from gymnasium.vector import SyncVectorEnv

    n = 6
    singles = opened(SyncVectorEnv([gym.RoomEnv] * n, autoreset_mode=mode))
    vector = opened(gym.RoomsEnv(n, autoreset_mode=mode))
    assert vector.observation_space == singles.observation_space
    assert vector.action_space == singles.action_space
    assert vector.metadata["autoreset_mode"] is singles.metadata["autoreset_mode"]

    n_over = 0
    for one, other in zip(play(vector, moves(170, n)), play(singles, moves(170, n)), strict=True):
        assert_near(one[0], other[0])
        for mine, theirs in zip(one[1:-1], other[1:-1], strict=True):
            assert mine.tolist() == theirs.tolist()
            assert mine.dtype == theirs.dtype
        assert set(one[-1]) == set(other[-1])
        if "final_obs" in one[-1]:
            which = one[-1]["_final_obs"]
            assert which.tolist() == other[-1]["_final_obs"].tolist()
            for k in range(n):
                mine, theirs = one[-1]["final_obs"][k], other[-1]["final_obs"][k]
                assert (mine is None) == (theirs is None) == (not which[k])
                if mine is not None:
                    assert_near(mine, theirs)
        n_over += int((one[2] | one[3]).sum()) if len(one) == 5 else 0
    assert n_over > n


def test_seeds_repeat_a_vector_in_every_bit(gym, opened):
    first, second = (opened(gym.RoomsEnv(20)) for _ in range(2))
    expected = play(first, moves(60, 20))

    assert same(play(first, moves(60, 20)), expected)  # after another run
    assert same(play(second, moves(60, 20)), expected)
    assert same(play(second, moves(60, 20), seed=[3 + n for n in range(20)]), expected)
    assert not same(play(second, moves(60, 20), seed=4), expected)


def test_vector_without_a_seed_differs_from_another_and_goes_on_with_its_numbers(gym, opened):
    first, second = (opened(gym.RoomsEnv(4)) for _ in range(2))
    starts = [env.reset()[0].tobytes() for env in (first, second, first)]
    assert len(set(starts)) == 3

    first.reset(seed=5)
    second.reset(seed=5)
    assert same(first.reset(), second.reset())


def test_clone_of_a_vector_goes_on_as_it_does(gym, opened):
    env, other = opened(gym.RoomsEnv(12)), opened(gym.RoomsEnv(12))
    play(env, moves(33, 12))
    state = pickle.loads(pickle.dumps(env.clone_state()))
    expected = [env.step(some) for some in moves(50, 12, seed=9)]

    for each in (other, env):
        each.restore_state(state)
        assert same([each.step(some) for some in moves(50, 12, seed=9)], expected)


def test_rooms_are_reset_by_a_mask_where_autoreset_is_off(gym, opened):
    env = opened(gym.RoomsEnv(8, autoreset_mode="Disabled"))
    seen, _ = env.reset(seed=2)
    over = np.zeros(8, bool)
    for some in moves(150, 8):
        seen, _, terminated, truncated, _ = env.step(some)
        over = terminated | truncated
        if over.any():
            break
    with pytest.raises(ValueError, match="call reset with their reset_mask"):
        env.step(moves(1, 8)[0])

    again, _ = env.reset(options={"reset_mask": over})

    assert (again[~over] == seen[~over]).all()
    assert (again[over] != seen[over]).any(axis=1).all()
    env.step(moves(1, 8)[0])
    for mask in (np.zeros(8, bool), np.ones(7, bool), [True] * 8):
        with pytest.raises(ValueError, match="reset_mask"):
            env.reset(options={"reset_mask": mask})


@pytest.mark.parametrize("actions", [[0] * 5, [0, 1, 2, 5], [0, 1, 2, -1]])
def test_actions_that_are_none_are_refused(gym, opened, actions):
    env = opened(gym.RoomsEnv(4))
    env.reset(seed=0)

    with pytest.raises(ValueError, match="must be 4 numbers from 0 to 4"):
        env.step(np.array(actions))


def test_measurement_prints_steps_of_a_room_a_second(gym, capsys):
    gym.main(["--rooms", "16", "--steps", "40"])

    words = capsys.readouterr().out
    assert words.startswith("16 rooms, 40 steps, ")
    assert "steps of a room a second" in words


# -- PettingZoo --


@pytest.fixture
def duel():
    pytest.importorskip("pettingzoo", reason=MISSING)
    from demos.many_worlds.duel import Duel

    return Duel


def test_duel_passes_the_tests_of_pettingzoo(duel, opened):
    from pettingzoo.test import parallel_api_test, parallel_seed_test

    parallel_api_test(opened(duel()), num_cycles=650)
    parallel_seed_test(lambda: opened(duel()), num_cycles=320)


def chase(env, n_steps):
    """Let both players go for the coin; return all rewards, and what was seen last."""
    rewards, seen = [], env.observe()
    for _ in range(n_steps):
        actions = {}
        for agent, numbers in seen.items():
            x, y = numbers[4:] - numbers[:2]
            actions[agent] = (1 if x > 0 else 3) if abs(x) > abs(y) else (2 if y > 0 else 4)
        seen, got, _, truncated, _ = env.step(actions)
        rewards.append(tuple(got.values()))
        if all(truncated.values()):
            break
    return rewards, {agent: numbers.tobytes() for agent, numbers in seen.items()}


def test_duel_gives_one_player_what_the_other_loses(duel, opened):
    env = opened(duel())
    env.reset(seed=4)

    rewards, _ = chase(env, 1000)

    assert len(rewards) == 300
    assert env.agents == []
    assert {(1.0, -1.0), (-1.0, 1.0), (0.0, 0.0)} == set(rewards)
    assert env.step({}) == ({}, {}, {}, {}, {})


def test_seed_repeats_a_duel_whatever_was_played_before(duel, opened):
    env, other = opened(duel()), opened(duel())
    for seed in range(12):
        env.reset(seed=seed)
        expected = chase(env, 40)
        env.reset(seed=seed)
        assert chase(env, 40) == expected
    other.reset(seed=seed)

    assert chase(other, 40) == expected


def test_clone_of_a_duel_goes_on_as_it_does(duel, opened):
    env, other = opened(duel()), opened(duel())
    env.reset(seed=8)
    chase(env, 60)
    state = pickle.loads(pickle.dumps(env.clone_state()))
    expected = chase(env, 120)
    assert sum(map(any, expected[0])) > 2  # coins, so random numbers too

    for each in (other, env):
        each.restore_state(state)
        assert chase(each, 120) == expected


# -- sweeps --

JOBS = sweeping.grid(
    n_drones=[1, 6], drone_speed=[3.0, 12.0], seed=[0, 1], n_rooms=[12], steps=[60]
)


@pytest.fixture(scope="module")
def rows():
    """Return what the jobs come to in this process."""
    return [{**job, **sweeping.play(**job)} for job in JOBS]


def test_more_and_faster_drones_make_a_room_harder(rows):
    def hits(**chosen):
        return sum(row["hit"] for row in rows if chosen.items() <= row.items())

    assert len(rows) == 8
    assert hits(n_drones=6) > hits(n_drones=1)
    assert all(row["reached"] + row["hit"] <= 12 for row in rows)
    assert len({row["state"] for row in rows}) == 8


def test_sweep_under_joblib_comes_to_the_same_with_two_workers(rows, capsys):
    pytest.importorskip("joblib", reason=MISSING)
    pytest.importorskip("tqdm", reason=MISSING)

    assert sweeping.sweep(sweeping.play, JOBS, workers=2) == rows
    assert "8/8" in capsys.readouterr().err  # the bar


def test_sweep_under_dask_comes_to_the_same_with_two_workers(rows, capsys):
    distributed = pytest.importorskip("distributed", reason=MISSING)
    pytest.importorskip("tqdm", reason=MISSING)

    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, dashboard_address=None, host="127.0.0.1"
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        assert sweeping.sweep_on_dask(sweeping.play, JOBS, client) == rows
    assert "8/8" in capsys.readouterr().err


def test_error_of_a_job_is_raised_by_the_sweep():
    pytest.importorskip("joblib", reason=MISSING)

    with pytest.raises(ValueError, match="n_drones=99"):
        sweeping.sweep(sweeping.play, sweeping.grid(n_drones=[99], drone_speed=[1.0], seed=[0]),
                       workers=1, progress=False)  # fmt: skip


def test_rows_are_written_as_a_table(rows, tmp_path):
    sweeping.write_csv(tmp_path / "rooms.csv", rows)

    with (tmp_path / "rooms.csv").open(newline="") as file:
        read = list(csv.DictReader(file))
    assert [row["state"] for row in read] == [row["state"] for row in rows]
    assert list(read[0]) == list(rows[0])


# -- Rerun --


def test_recording_for_rerun_is_written(tmp_path):
    pytest.importorskip("rerun", reason=MISSING)
    from demos.many_worlds import rerun_view

    rerun_view.main([str(tmp_path / "rooms.rrd"), "--rooms", "4", "--steps", "10"])

    assert (tmp_path / "rooms.rrd").stat().st_size > 10_000
