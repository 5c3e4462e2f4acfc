"""The game moves its bodies, and the space sweeps them to where it has put them."""

from __future__ import annotations

import esper
import pytest

import ecs_collide as ec
from tests.scenes import another_world

pytestmark = pytest.mark.usefixtures("world", "implementation")

DT = 1 / 60


def swept(**settings):
    return ec.install(ec.Space(motion="swept", **settings))


def box(x, y, *parts, half=(1.0, 1.0)):
    """Make a body; return its entity and its position."""
    place = ec.Position(x, y)
    return esper.create_entity(place, ec.Extents(*half), *parts), place


def test_a_body_is_stopped_on_its_way():
    wall, _ = box(10, 0, half=(1.0, 20.0))
    player, place = box(0, 0, ec.Slide())
    space = swept()
    esper.process(DT)

    place.xy = (100.0, 5.0)
    esper.process(DT)

    assert place.x == 8.0
    assert place.y == 5.0
    (hit,) = space.collisions
    assert (hit.first, hit.second, hit.normal, hit.time) == (wall, player, (1.0, 0.0), 0.08)
    assert hit.outcome is ec.Outcome.RESOLVED
    assert space.contacts(player)


def test_it_arrives_exactly_where_nothing_is_in_the_way():
    _, place = box(0.1, 0.2, ec.Slide())
    swept()
    esper.process(DT)

    for i in range(200):
        wanted = (0.1 + 0.3 * i, 0.2 - 0.7 * i)
        place.xy = wanted
        esper.process(DT)
        assert place.xy == wanted


def test_it_arrives_exactly_along_a_wall():
    """Over seams of tiles, with numbers that are no halves of anything."""
    for i in range(40):
        box(2.0 * i, -2.0)
    _, place = box(0.0, 0.0, ec.Slide())
    space = swept()
    esper.process(DT)

    for i in range(1, 100):
        place.xy = (0.7 * i, place.y - 0.3)
        esper.process(DT)
        assert place.xy == (0.7 * i, 0.0)
        assert {hit.normal for hit in space.collisions} == {(0.0, -1.0)}


def test_a_game_with_gravity_of_its_own_lands():
    box(0, -3, half=(20.0, 1.0))
    speed = ec.Velocity(4.0, 0.0)
    _, place = box(0, 5, speed, ec.Slide())
    space = swept()
    landed = []
    space.on_contact_began(landed.append)

    for _ in range(120):
        speed.y -= 30.0 * DT
        place.xy = (place.x + speed.x * DT, place.y + speed.y * DT)
        esper.process(DT)

    assert place.y == -1.0
    assert place.x == pytest.approx(8.0)
    assert speed.xy == (4.0, 0.0)
    assert len(landed) == 1


def test_a_bounce_turns_the_velocity_on_its_axis_only():
    box(10, 0, half=(1.0, 20.0))
    speed = ec.Velocity(240.0, 7.0)
    _, place = box(4, 0, speed, ec.Deflect())
    swept()
    esper.process(DT)

    place.xy = (place.x + speed.x / 60, place.y + speed.y / 60)
    esper.process(DT)
    assert place.x == 8.0
    assert speed.x == 240.0
    place.xy = (place.x + speed.x / 60, place.y + speed.y / 60)
    esper.process(DT)

    assert place.x == pytest.approx(4.0)
    assert speed.x == pytest.approx(-240.0)
    assert speed.y == 7.0


def test_velocity_alone_moves_nothing():
    _, place = box(0, 0, ec.Velocity(60.0, 0.0), ec.Slide())
    swept()

    esper.process(1.0)

    assert place.xy == (0.0, 0.0)


@pytest.mark.parametrize("sleep", [True, False])
def test_the_velocity_of_a_body_that_rests_is_that_of_its_component(sleep):
    resting, _ = box(0, 0, ec.Velocity(40, 60), ec.Slide())
    space = swept(sleep=sleep)
    for _ in range(40):
        esper.process(DT)

    assert space.stats.asleep == sleep
    assert space.velocity_of(resting) == (40, 60)
    assert space.velocities([resting]).tolist() == [[40, 60]]


def test_a_lift_that_the_game_moves_carries_and_pushes():
    lift, lift_place = box(0, 0, half=(3.0, 1.0))
    rider, rider_place = box(0, 2, ec.Slide())
    _, crate_place = box(5, 0, ec.Slide())
    space = swept()
    esper.process(DT)

    for i in range(1, 31):
        lift_place.xy = (0.1 * i, 0.25 * i)
        esper.process(DT)

    assert lift_place.xy == (3.0, 7.5)
    assert rider_place.y == 9.5
    assert crate_place.x >= 5.0
    assert any(hit.normal_for(rider) == (0.0, 1.0) for hit in space.collisions)
    assert space.contacts(lift)


def test_a_lift_that_stops_is_a_floor_again():
    _, lift_place = box(0, 0, half=(3.0, 1.0))
    _, rider_place = box(0, 2, ec.Slide())
    space = swept()
    esper.process(DT)
    lift_place.y = 1.0
    esper.process(DT)
    assert space.stats.movers == 2

    esper.process(DT)
    assert space.stats.movers == 1
    rider_place.y -= 5.0
    esper.process(DT)

    assert rider_place.y == 3.0
    assert space.query((-0.5, 1.5), (0.5, 1.9)) == [1]
    space.check()


def test_what_squeezes_is_reported():
    _, press = box(0, 10, half=(3.0, 1.0))
    box(0, 0, half=(3.0, 1.0))
    box(0, 2, ec.Slide())
    space = swept()
    esper.process(DT)

    press.y = 2.5
    esper.process(DT)

    assert ec.Outcome.CRUSHED in {hit.outcome for hit in space.collisions}
    assert press.y == 2.5


def test_teleport_is_not_swept():
    box(10, 0, half=(1.0, 20.0))
    player, place = box(0, 0, ec.Slide())
    space = swept()
    esper.process(DT)

    space.teleport(player, (20.0, 0.0))
    esper.process(DT)

    assert place.xy == (20.0, 0.0)
    assert len(space.collisions) == 0
    place.x = 0.0
    esper.process(DT)
    assert place.x == 12.0


def test_a_step_of_no_time_sweeps_nothing():
    box(10, 0, half=(1.0, 20.0))
    _, place = box(0, 0, ec.Slide())
    space = swept()
    esper.process(DT)

    place.x = 20.0
    esper.process(0.0)

    assert place.x == 20.0
    assert len(space.collisions) == 0


def test_a_new_body_is_where_it_is():
    box(10, 0, half=(1.0, 20.0))
    space = swept()
    esper.process(DT)

    _, place = box(20, 0, ec.Slide())
    esper.process(DT)

    assert place.x == 20.0
    assert len(space.collisions) == 0


def test_a_sensor_sees_what_is_moved_through_it():
    coin, _ = box(10, 0, ec.Sensor(), half=(0.1, 0.1))
    player, place = box(0, 0, ec.Slide())
    space = swept()
    esper.process(DT)

    place.x = 50.0
    esper.process(DT)

    (hit,) = space.collisions
    assert {hit.first, hit.second} == {coin, player}
    assert hit.outcome is ec.Outcome.CROSSED
    assert [event.time for event in space.contacts_began] == [pytest.approx(0.178)]


def test_two_that_are_moved_meet_in_the_middle():
    _, one = box(0, 0, ec.Slide())
    _, other = box(12, 0, ec.Slide())
    swept()
    esper.process(DT)

    one.x, other.x = 12.0, 0.0
    esper.process(DT)

    assert other.x - one.x == pytest.approx(2.0)
    assert one.x == pytest.approx(5.0)


def test_a_crouch_while_walking_is_swept_too():
    box(10, 0, half=(1.0, 20.0))
    player, place = box(0, 0, ec.Slide())
    space = swept()
    esper.process(DT)

    esper.component_for_entity(player, ec.Extents).y = 0.5
    place.x = 50.0
    esper.process(DT)

    assert place.x == 8.0
    assert space.bounds(player) == ((7.0, -0.5), (9.0, 0.5))


class Bumper:
    pass


def test_responses_see_and_set_the_motion():
    seen = []

    def respond(impact):
        seen.append((impact.velocity(ball), speed.xy))
        impact.set_velocity(ball, (0.0, 600.0))

    box(10, 0, Bumper(), half=(1.0, 20.0))
    speed = ec.Velocity(1.0, 2.0)
    ball, place = box(0, 0, speed, ec.Slide())
    space = swept()
    space.respond_with(Bumper, respond)
    esper.process(DT)

    place.x = 16.0
    esper.process(DT)

    assert seen == [((960.0, 0.0), (1.0, 2.0))]  # the motion, and what the game wants
    assert place.xy == (8.0, pytest.approx(5.0))
    assert speed.xy == (0.0, 600.0)


def test_a_response_may_put_a_body_elsewhere():
    def respond(impact):
        place.xy = (-50.0, 3.0)

    box(10, 0, Bumper(), half=(1.0, 20.0))
    _, place = box(0, 0, ec.Slide())
    space = swept()
    space.respond_with(Bumper, respond)
    esper.process(DT)

    place.x = 16.0
    esper.process(DT)

    assert place.x < 0.0


def test_own_components_with_corners_are_swept():
    class Corner:
        def __init__(self, x, y):
            self.x, self.y = x, y

    components = ec.Components(position=Corner, anchor=(0, 0))
    corner = Corner(0.0, 0.0)
    esper.create_entity(corner, ec.Extents(1, 1), ec.Slide())
    esper.create_entity(Corner(10.0, -5.0), ec.Extents(1, 10))
    swept(components=components)
    esper.process(DT)

    corner.x = 50.0
    esper.process(DT)

    assert (corner.x, corner.y) == (8.0, 0.0)


@pytest.mark.slow_in_python
def test_it_gives_what_integrating_gives():
    """A room of bouncing boxes, once moved by the space and once by a game's loop."""
    logs = []
    for motion in ("velocity", "swept"):
        with another_world(motion):
            for x, y, w, h in ((-1, 20, 1, 24), (41, 20, 1, 24), (20, -1, 24, 1), (20, 41, 24, 1)):
                box(x, y, half=(w, h))
            moved = []
            for i in range(9):
                speed = ec.Velocity(40.0 - 11.0 * i, 7.0 * i - 20.0)
                moved.append(
                    (box(6 + 12 * (i % 3), 6 + 12 * (i // 3), speed, ec.Deflect())[1], speed)
                )
            space = ec.install(ec.Space(motion=motion))
            esper.process(0.0)
            log = []
            for _ in range(240):
                if motion == "swept":
                    for place, speed in moved:
                        place.xy = (place.x + speed.x * DT, place.y + speed.y * DT)
                esper.process(DT)
                log += [(hit.first, hit.second, hit.normal) for hit in space.collisions]
            logs.append((log, [place.xy for place, _ in moved]))

    assert logs[0][0] == logs[1][0]
    assert len(logs[0][0]) > 40
    assert logs[0][1] == [pytest.approx(xy, abs=1e-9) for xy in logs[1][1]]


def test_what_is_neither_is_refused():
    with pytest.raises(ValueError, match="'velocity' or 'swept'"):
        ec.Space(motion="sweep")
    assert ec.Space(motion="swept").motion == "swept"
    assert ec.Space().motion == "velocity"


def test_a_step_that_was_broken_off_is_swept_again():
    box(10, 0, half=(1.0, 20.0))
    _, place = box(0, 0, ec.Slide())
    space = swept()
    esper.process(DT)

    place.x = 50.0
    space.update_bounds(DT)
    space.queue_impacts(DT)
    space.resolve_impacts(DT)
    esper.process(DT)

    assert place.x == 8.0
    assert len(space.collisions) == 1


def test_what_was_moved_before_a_wrong_component_was_found_is_swept_after():
    box(10, 0, half=(1.0, 20.0))
    _, place = box(0, 0, ec.Slide())
    _, other = box(-20, 0, ec.Slide())
    swept()
    esper.process(DT)

    place.x, other.x = 50.0, "here"
    with pytest.raises(TypeError, match="is 'here'"):
        esper.process(DT)
    other.x = -20.0
    esper.process(DT)

    assert place.x == 8.0


def test_turned_twice_is_not_arrived():
    """Between two walls its velocity is that of the beginning again, but not its place."""
    box(0, 0, half=(1.0, 9.0))
    box(10, 0, half=(1.0, 9.0))
    speed = ec.Velocity(0, 0)
    _, place = box(5, 0, speed, ec.Deflect())
    space = swept()
    esper.process(DT)

    place.x = 19.0
    esper.process(DT)

    assert len(space.collisions) == 2  # 3 units to the right wall, 6 back, and 5 of 14 are left
    assert place.x == pytest.approx(2.0 + 5.0)


@pytest.mark.parametrize("partner", [ec.Sensor, ec.Fixed])
def test_a_body_that_is_teleported_after_a_swept_move_finds_its_contacts(partner):
    hero, place = box(30, 30)
    zone, _ = box(50, 30, partner(), half=(2.0, 2.0))
    space = swept()
    esper.process(DT)
    place.x = 30.4
    esper.process(DT)

    space.teleport(hero, (51, 30))
    esper.process(DT)

    assert [contact.other(hero) for contact in space.contacts(hero)] == [zone]
