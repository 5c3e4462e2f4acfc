"""Handlers that name component types: for which events they are called, and what they cost."""

from __future__ import annotations

import esper
import pytest

import ecs_collide as ec
from tests.scenes import another_world, box, mover, of, set_velocity, steps

pytestmark = pytest.mark.usefixtures("world", "implementation")


class Player: ...


class Zone: ...


class Fire: ...


class Enemy: ...


class Scene:
    """A player in a zone that is a sensor, with counts of all typed events."""

    def __init__(self, *, types=(Player, Zone), player=(Player,), zone=(Zone,)):
        self.zone = box((0, 0), (5, 5), ec.Sensor(), *(kind() for kind in zone))
        self.player = mover((0, 0), (1, 1), (0, 0), ec.Slide(), *(kind() for kind in player))
        self.space = ec.install()
        self.began, self.ended = [], []
        self.space.on_contact_began(self.began.append, *types)
        self.space.on_contact_ended(self.ended.append, *types)

    @property
    def counts(self):
        return len(self.began), len(self.ended)


def leave(s):
    s.space.teleport(s.player, (50, 0))


def walk_out(s):
    set_velocity(s.player, 50, 0)


def break_velocity(s):
    of(s.player, ec.Velocity).x = float("nan")


def lose_tag_and_leave(s):
    esper.remove_component(s.player, Player)
    walk_out(s)


def lose_tag_and_be_deleted(s):
    esper.remove_component(s.player, Player)
    esper.delete_entity(s.player)


CAUSES = [
    (walk_out, ec.EndReason.SEPARATED),
    (lambda s: esper.delete_entity(s.player), ec.EndReason.ENTITY_DELETED),
    (lambda s: esper.delete_entity(s.player, immediate=True), ec.EndReason.ENTITY_DELETED),
    (lambda s: esper.delete_entity(s.zone), ec.EndReason.ENTITY_DELETED),
    (lambda s: esper.delete_entity(s.zone, immediate=True), ec.EndReason.ENTITY_DELETED),
    (lambda s: esper.remove_component(s.player, ec.Extents), ec.EndReason.COMPONENT_REMOVED),
    (lambda s: esper.add_component(s.player, ec.Filter(mask=0)), ec.EndReason.FILTER_CHANGED),
    (leave, ec.EndReason.TELEPORTED),
    (break_velocity, ec.EndReason.QUARANTINED),
    (lambda s: esper.clear_database(), ec.EndReason.WORLD_CLEARED),
    (lambda s: esper.add_component(s.player, ec.Disabled()), ec.EndReason.DISABLED),
    (lose_tag_and_leave, ec.EndReason.SEPARATED),
    (lose_tag_and_be_deleted, ec.EndReason.ENTITY_DELETED),
]


@pytest.mark.parametrize("restores", [False, True], ids=["", "restored"])
@pytest.mark.parametrize(("cause", "reason"), CAUSES)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_a_typed_end_comes_for_each_typed_begin(cause, reason, restores):
    s = Scene()
    esper.process(1.0)
    assert s.counts == (1, 0)

    cause(s)
    if restores:  # as a game over a network does
        data = s.space.snapshot()
        steps(2, 1.0)
        s.space.restore(data)
        assert s.space.snapshot() == data
        s.ended.clear()
    steps(2, 1.0)

    (ended,) = s.ended
    assert len(s.began) == 1
    assert (ended.first, ended.second, ended.reason) == (s.player, s.zone, reason)
    assert s.space._subscribers.open == {(Player, Zone): {}}


def test_a_lost_type_is_remembered_in_snapshots_while_the_contact_lasts():
    s = Scene()
    esper.process(1.0)
    esper.remove_component(s.player, Player)
    esper.process(1.0)
    data = s.space.snapshot()

    for times in (1, 2):
        walk_out(s)
        esper.process(1.0)
        assert s.counts == (1, times)
        s.space.restore(data)
    assert s.space.snapshot() == data


def test_a_body_that_got_its_type_during_a_contact_has_no_typed_end():
    s = Scene(player=())
    esper.process(1.0)
    esper.add_component(s.player, Player())
    esper.process(1.0)
    data = s.space.snapshot()
    for change in (walk_out, lambda s: esper.delete_entity(s.player)):
        change(s)
        esper.process(1.0)
        assert s.counts == (0, 0)
        s.space.restore(data)

    leave(s)
    esper.process(1.0)
    s.space.teleport(s.player, (0, 0))
    esper.process(1.0)
    assert s.counts == (1, 0)


def test_a_handler_of_ends_counts_contacts_by_the_types_at_its_registration():
    s = Scene(types=(Fire, Enemy))
    esper.process(1.0)
    ended = []
    s.space.on_contact_ended(ended.append, Player, Zone)
    s.space.on_contact_ended(ended.append, Zone)
    esper.delete_entity(s.player)

    esper.process(1.0)

    assert [(e.first, e.second) for e in ended] == [(s.player, s.zone), (s.zone, s.player)]


@pytest.mark.parametrize("restores", [False, True])
def test_a_handler_registered_after_a_clear_hears_no_end_of_the_world_before(restores):
    s = Scene(types=(Fire, Enemy))
    esper.process(1.0)
    data = s.space.snapshot()
    esper.clear_database()
    if restores:
        s.space.restore(data)
    else:  # the same ids again
        box((0, 50), (5, 5), ec.Sensor(), Zone())
        mover((0, 0), (1, 1), (0, 0), ec.Slide(), Player())
    ended = []
    s.space.on_contact_ended(ended.append, Player, Zone)
    if restores:
        leave(s)

    esper.process(1.0)

    assert len(s.space.contacts_ended) == 1
    assert len(ended) == restores


@pytest.mark.parametrize("kind", [Enemy, Zone])
def test_an_end_of_a_cleared_world_is_not_told_of_who_has_its_id_now(kind):
    s = Scene()
    told = []
    esper.set_handler(ec.CONTACT_ENDED, told.append)
    s.space.on_contact_ended(told.append)
    esper.process(1.0)
    esper.clear_database()
    assert box((50, 0), (1, 1), kind()) == s.zone

    esper.process(1.0)

    (ended,) = s.space.contacts_ended
    assert ended.reason is ec.EndReason.WORLD_CLEARED
    assert s.ended == told == []
    assert s.space._subscribers.open == {(Player, Zone): {}}


def test_a_bounce_begins_and_ends_once_in_the_order_of_the_types():
    wall = box((0, 0), (1, 9), Zone())
    ball = mover((9, 0), (1, 1), (-10, 0), ec.Deflect(), Player())
    mover((9, 40), (1, 1), (-10, 0), ec.Deflect(), Player())
    space = ec.install()
    seen = []
    space.on_contact_began(lambda e: seen.append(("began", e.first, e.second)), Player, Zone)
    space.on_contact_ended(lambda e: seen.append(("ended", e.first, e.second)), Player, Zone)

    esper.process(1.0)

    assert seen == [("began", ball, wall), ("ended", ball, wall)]


@pytest.mark.parametrize("immediate", [False, True])
def test_a_body_deleted_in_its_response_has_the_types_that_it_had(immediate):
    class Tagged: ...

    wall = box((5, 0), (1, 1), Zone())
    space = ec.install()

    def respond(impact):
        esper.delete_entity(impact.second, immediate=immediate)
        return ec.DEFAULT

    space.respond_with(Tagged, respond)
    seen = []
    for register in (space.on_collision, space.on_contact_began, space.on_contact_ended):
        register(lambda e: seen.append(type(e).__name__), Player, Zone)
    esper.process(1.0)
    player = mover((0, 0), (1, 1), (10, 0), ec.Slide(), Player(), Tagged())
    esper.process(1.0)
    esper.process(1.0)

    assert not esper.entity_exists(player)
    assert esper.entity_exists(wall)
    assert sorted(seen) == (["Collision", "ContactBegan", "ContactEnded"])


def test_types_are_those_before_the_first_handler_of_the_step():
    wall = box((5, 0), (1, 9), Zone())
    players = [mover((0, y), (1, 1), (10, 0), ec.Stop(), Player()) for y in (-5, 5)]
    space = ec.install()
    seen = []

    def take_tags(event):
        for player in players:
            esper.try_remove_component(player, Player)
        seen.append("all")

    space.on_collision(take_tags)
    space.on_collision(seen.append, Player, Zone)

    esper.process(1.0)

    assert seen[0] == "all"
    assert len(seen) == 4
    assert {e.first for e in seen if e != "all"} == set(players)
    assert {e.second for e in seen if e != "all"} == {wall}


class BigFire(Fire): ...


def test_a_type_is_the_one_under_which_esper_files_the_component():
    box((5, 0), (1, 1), BigFire())
    mover((0, 0), (1, 1), (10, 0), ec.Stop(), Enemy())
    space = ec.install()
    seen = []
    space.on_contact(lambda e: seen.append("Fire"), Fire, Enemy)
    space.on_contact(lambda e: seen.append("BigFire"), BigFire, Enemy)
    esper.process(1.0)
    assert seen == ["BigFire"]

    for entity, fire in list(esper.get_component(BigFire)):
        esper.add_component(entity, fire, Fire)
    esper.process(1.0)
    assert seen == ["BigFire", "Fire", "BigFire"]


class Components(dict):
    """What another version of esper might file components in."""


def test_types_are_known_where_esper_files_components_in_another_way(monkeypatch):
    s = Scene()
    monkeypatch.setattr(esper, "_components", Components(esper._components))
    esper.process(1.0)
    esper.delete_entity(s.player, immediate=True)
    esper.process(1.0)
    assert s.counts == (1, 1)


@pytest.mark.parametrize("registry", [dict, Components])
def test_a_handler_registered_from_another_world_has_the_types_of_its_own(
    registry, world, monkeypatch
):
    s = Scene(types=(Fire, Enemy))
    esper.process(1.0)
    ended = []
    with another_world(f"{world} next"):
        if registry is Components:  # then nobody is known to have a type until the world is current
            context = esper._context_map[world]
            other = (context[0], Components(context[1]), *context[2:])
            monkeypatch.setitem(esper._context_map, world, other)
        s.space.on_contact_ended(ended.append, Player, Zone)
    leave(s)
    esper.process(1.0)
    assert len(ended) == (registry is dict)


@pytest.mark.parametrize("ghost", [None, "crate", 2**70])
def test_what_is_stored_by_mistake_under_no_id_fails_no_step(ghost):
    s = Scene()
    with pytest.raises(KeyError):
        esper.add_component(ghost, Player())
    esper.process(1.0)
    leave(s)
    esper.process(1.0)
    assert s.counts == (1, 1)


def test_more_types_than_there_are_marks():
    kinds = [type(f"Kind{n}", (), {}) for n in range(130)]
    wall = box((5, 0), (1, 1), *(kind() for kind in kinds[::2]))
    mover((0, 0), (1, 1), (10, 0), ec.Stop(), Enemy())
    space = ec.install()
    seen = []
    for kind in kinds:
        space.on_contact(lambda e, kind=kind: seen.append(kind), kind, Enemy)
    esper.process(1.0)
    assert seen == kinds[::2]

    seen.clear()
    for kind in kinds[::4]:
        esper.remove_component(wall, kind)
    esper.process(1.0)
    assert seen == kinds[2::4]


@pytest.mark.parametrize("event", ["on_collision", "on_contact", "began and ended"])
def test_no_event_object_is_made_where_no_types_match(event, monkeypatch):
    box((0, -1), (50, 1))
    for n in range(10):
        mover((4 * n - 20, 2), (1, 1), (0, -2), ec.Deflect(0.5), Enemy())
    esper.create_entity(Fire())
    space = ec.install()

    def fail(event):
        raise AssertionError("nothing matches")

    if event == "began and ended":
        space.on_contact_began(fail, Fire, Enemy)
        space.on_contact_ended(fail, Fire, Enemy)
    else:
        getattr(space, event)(fail, Fire, Enemy)
    for kind in (ec.Collision, ec.ContactBegan, ec.ContactEnded, ec.Contact):
        monkeypatch.setattr(kind, "__init__", fail)

    n_events = 0
    for _ in range(3):
        esper.process(1.0)
        n_events += len(space.collision_array) + len(space.contact_array)

    assert n_events >= 30


def test_types_of_handlers_that_were_removed_are_not_followed():
    space = ec.install()
    space.on_contact(print, Enemy)

    space.on_contact_ended(print, Fire, Enemy)()

    assert list(space._subscribers._types._having) == [Enemy]
    space.clear_handlers()
    assert not space._subscribers._types._having


# -- a handler that ends its world --


def restore_level(space, data):
    space.restore(data)


def build_again(space, data):
    esper.clear_database()
    two_hits()


def leave_and_delete(space, data):
    name = esper.current_world
    esper.switch_world(f"{name} next")
    esper.delete_world(name)


def delete_and_build_again(space, data):
    name = esper.current_world
    esper.switch_world(f"{name} next")
    esper.delete_world(name)
    esper.switch_world(name)
    two_hits()


def two_hits():
    """Build two bullets that hit one wall each in the first step, and rest there."""
    for y in (0, 50):
        box((5, y), (1, 1), Zone())
        mover((0, y), (1, 1), (10, 0), ec.Stop(), Player())


@pytest.mark.parametrize("by", ["space", "esper"])
@pytest.mark.parametrize("event", ["collision", "contact_began", "contact_ended", "contact"])
@pytest.mark.parametrize(
    "end", [build_again, leave_and_delete, delete_and_build_again, restore_level]
)
def test_after_a_handler_has_ended_the_world_no_event_of_the_step_comes(end, event, by, world):
    two_hits()
    for x in (-3, 40):  # and a contact of each bullet that ends
        box((x - 1, 20), (1, 1))
        mover((x + 1, 20), (1, 1), (0, 0), ec.Stop(), Player())
    space = ec.install()
    esper.process(0.0)
    data = space.snapshot()
    for entity, (velocity, _) in esper.get_components(ec.Velocity, Player):
        if space.bounds(entity)[0][1] == 19:
            velocity.x = 1
    calls, late = [], []

    def end_world(given):
        if not calls:
            calls.append(given)
            end(space, data)
        else:
            late.append(given)

    def listen(given):
        if calls:
            late.append(given)

    names = [ec.COLLISION, ec.CONTACT_BEGAN, ec.CONTACT_ENDED, ec.CONTACT]
    if by == "space":
        getattr(space, f"on_{event}")(end_world)
        for name in names:
            getattr(space, f"on_{name.split('.')[1]}")(listen)
    else:
        esper.set_handler(f"ecs_collide.{event}", end_world)
    for name in names:
        esper.set_handler(name, listen)
    try:
        esper.process(1.0)
    finally:
        if esper.current_world != world:
            esper.switch_world(world)
        if f"{world} next" in esper.list_worlds():
            esper.delete_world(f"{world} next")

    assert len(calls) == 1
    assert late == []


def test_a_world_cleared_in_a_response_hands_out_no_event_of_that_step():
    class Tagged: ...

    def respond(impact):
        esper.clear_database()
        two_hits()
        return ec.DEFAULT

    two_hits()
    mover((0, 90), (1, 1), (10, 0), ec.Stop(), Tagged())
    box((3, 90), (1, 1))
    space = ec.install()
    stop = space.respond_with(Tagged, respond)
    seen = []
    space.on_collision(seen.append)

    esper.process(1.0)
    assert len(space.collisions) == 3
    assert seen == []

    stop()
    esper.process(1.0)
    assert len(seen) == 2


def test_a_handler_that_leaves_its_world_for_another_still_gets_all_events(world):
    two_hits()
    space = ec.install()
    seen = []

    def go(event):
        seen.append(event)
        esper.switch_world(f"{world} next")

    space.on_collision(go)
    esper.process(1.0)
    esper.switch_world(world)
    esper.delete_world(f"{world} next")

    assert len(seen) == 2


# -- as decorators --

WAYS = ("on_collision", "on_contact_began", "on_contact_ended", "on_contact")


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("kinds", [(), (Player,), (Player, Zone)])
def test_types_without_a_function_are_a_decorator_with_the_same_calls(way, kinds):
    told: list[list[object]] = [[], []]
    s = Scene()
    s.space.teleport(s.player, (-9, 0))  # it flies into the zone
    set_velocity(s.player, 9.0, 0.0)
    register = getattr(s.space, way)
    register(told[0].append, *kinds)

    @register(*kinds)
    def tell(event: object) -> None:
        told[1].append(event)

    esper.process(1.0)
    leave(s)
    esper.process(1.0)

    assert told[0] == told[1] != []
    assert [handler.function for handler in s.space.handlers].count(tell) == 1


def test_three_types_and_no_function_are_refused():
    space = ec.install()

    with pytest.raises(TypeError, match=r"\(Player, None, Zone\) are three component types: give"):
        space.on_collision(Player, None, Zone)
    with pytest.raises(TypeError, match="second_kind='Zone' must be a component type"):
        space.on_collision(Player, "Zone")(print)


def test_pair_filters_and_responses_are_decorators_too():
    space = ec.install()
    wall = box((3, 0), (1, 1), Zone())
    ball = mover((0, 0), (1, 1), (4, 0), Player())

    @space.respond_with(Player)
    def stop(impact):
        return impact.resolve(ec.Stop())

    esper.process(0.5)
    assert space.position_of(ball) == (1, 0)

    @space.filter_pairs(Player, Zone)
    def allows(first, second):
        return {first, second} != {wall, ball}

    set_velocity(ball, 4.0, 0.0)
    esper.process(0.5)

    assert space.position_of(ball) == (3, 0)
    assert (stop.__name__, allows.__name__) == ("stop", "allows")
