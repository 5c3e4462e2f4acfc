"""Bodies that no step can work with: every method of a space answers, or says which and why."""

from __future__ import annotations

import math

import esper
import pytest

import ecs_collide as ec
from tests.scenes import box, mover, of

pytestmark = [
    pytest.mark.usefixtures("world"),
    pytest.mark.filterwarnings("ignore::RuntimeWarning"),
]


def attach(entity, owner):
    esper.add_component(entity, ec.Attached(owner, (3, 0)))


# What the game may do to a body, and to the owner of a box.
FAULTS = {
    "has Position nan": lambda entity: setattr(of(entity, ec.Position), "y", math.nan),
    "has Position inf": lambda entity: setattr(of(entity, ec.Position), "y", math.inf),
    "has Position 1e300": lambda entity: setattr(of(entity, ec.Position), "x", 1e300),
    "has Extents nan": lambda entity: setattr(of(entity, ec.Extents), "y", math.nan),
    "has Velocity nan": lambda entity: setattr(of(entity, ec.Velocity), "x", math.nan),
    "is Disabled": lambda entity: esper.add_component(entity, ec.Disabled()),
    "lost Position": lambda entity: esper.remove_component(entity, ec.Position),
    "lost Extents": lambda entity: esper.remove_component(entity, ec.Extents),
    "lost Velocity": lambda entity: esper.remove_component(entity, ec.Velocity),
    "is deleted": lambda entity: esper.delete_entity(entity, immediate=True),
    "will be deleted": esper.delete_entity,
    "is Attached to itself": lambda entity: attach(entity, entity),
}

CALLS = {
    "position_of": lambda space, body, _: space.position_of(body),
    "velocity_of": lambda space, body, _: space.velocity_of(body),
    "write_velocity": lambda space, body, _: space.write_velocity(body, (1, 2)),
    "collisions_of": lambda space, body, _: space.collisions_of(body),
    "bounds": lambda space, body, _: space.bounds(body),
    "positions": lambda space, body, _: space.positions([body]),
    "velocities": lambda space, body, _: space.velocities([body]),
    "set_positions": lambda space, body, _: space.set_positions([body], [(5, 5)]),
    "set_velocities": lambda space, body, _: space.set_velocities([body], [(5, 5)]),
    "set_extents": lambda space, body, _: space.set_extents([body], [(2, 2)]),
    "teleport": lambda space, body, _: space.teleport(body, (5, 5)),
    "resize": lambda space, body, _: space.resize(body, height=3.0),
    "move": lambda space, body, _: space.move(body, (5, 5)),
    "check_move": lambda space, body, _: space.check_move(body, (5, 5)),
    "query": lambda space, *_: space.query((-100, -100), (100, 100)),
    "cast_box": lambda space, body, _: space.cast_box((-50, 0), (1, 1), (100, 0), exclude=body),
    "nearest": lambda space, *_: space.nearest((0, 0), 5),
    "contacts": lambda space, body, _: space.contacts(body),
    "is_on": lambda space, body, _: space.is_on(body),
    "carried": lambda space, body, _: space.carried(body),
    "drop_through": lambda space, body, _: space.drop_through(body),
    "may_meet": lambda space, body, wall: space.may_meet(body, wall),
    "body_kinds": lambda space, body, _: space.body_kinds([body]),
    "interpolated": lambda space, body, _: space.interpolated(0.5, [body]),
    "interpolated_of": lambda space, body, _: space.interpolated_of(body, 0.5),
    "boxes": lambda space, body, _: space.boxes([body]),
    "fat_bounds": lambda space, body, _: space.fat_bounds([body]),
    "swept_bounds": lambda space, body, _: space.swept_bounds([body]),
    "explain": lambda space, body, wall: str(space.explain(body, wall)),
    "doctor": lambda space, *_: str(space.doctor()),
    "snapshot": lambda space, *_: space.restore(space.snapshot()),
    "state_hash": lambda space, *_: space.state_hash(),
}


def raised_by(call):
    """Return what a KeyError or ValueError of a call says, None if there is none."""
    try:
        call()
    except (KeyError, ValueError) as error:
        return str(error)
    return None


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("whose", ["its own", "of its owner"])
@pytest.mark.parametrize(
    ("motion", "moment"),
    [
        ("velocity", "new"),
        ("velocity", "before a step"),
        ("velocity", "after a step"),
        ("velocity", "after update"),
        ("swept", "after a step"),
    ],
)
def test_every_call_answers_or_names_the_body_that_is_skipped(fault, whose, motion, moment):
    space = ec.install(motion=motion)
    bodies = []
    for n in range(len(CALLS)):  # each call gets its own bodies
        owner, body = (mover((x, 10 * n), (1, 1), (0, 0), ec.Slide()) for x in (20, 0))
        if whose == "of its owner":
            attach(body, owner)
        bodies.append((body, owner, box((50, 10 * n), (1, 1))))
    if moment != "new":
        esper.process(1 / 60)
    for body, owner, _ in bodies:
        FAULTS[fault](owner if whose == "of its owner" else body)
    if moment == "after a step":
        esper.process(1 / 60)
    elif moment == "after update":
        space.update()

    for call, (body, _, wall) in zip(CALLS.values(), bodies, strict=True):
        error = raised_by(lambda call=call, body=body, wall=wall: call(space, body, wall))
        assert error is None or f"entity {body}" in error
    esper.process(1 / 60)
    space.check()


def attached_box():
    """Return a space, an owner and a box that is attached to it, after a step."""
    owner, hitbox = box((20, 0), (1, 1)), box((0, 0), (1, 1))
    attach(hitbox, owner)
    space = ec.install()
    esper.process(1 / 60)
    return space, owner, hitbox


@pytest.mark.parametrize(
    ("fault", "cause"),
    [
        ("has Position nan", r"entity {owner}: Position\.y is nan, it must be finite"),
        ("has Position 1e300", r"entity {owner}: Position\.x is 1e\+300, it must be finite and wi"),
        ("has Extents nan", r"entity {owner}: Extents\.y is nan, it must be finite and within 0"),
        ("lost Position", r"entity {owner} is no body of this space, it has no Position"),
        ("is deleted", r"entity {owner} is no body of this space, it does not exist"),
        ("is Attached to itself", r"Attached\.owner is {owner}, it must not be attached itself"),
    ],
)
@pytest.mark.parametrize("stepped", [False, True])
def test_a_box_cannot_be_put_beside_an_owner_without_a_place(fault, cause, stepped):
    space, owner, hitbox = attached_box()
    FAULTS[fault](owner)
    if stepped:
        esper.process(1 / 60)

    said = rf"entity {hitbox} is Attached to entity {owner} and has no place: "
    said += cause.format(owner=owner)
    if not esper.entity_exists(hitbox):  # the step has deleted it with its owner
        said = f"entity {hitbox} is no body of this space, it does not exist"
    for call in (space.teleport, space.move, space.check_move):
        with pytest.raises(KeyError, match=said):
            call(hitbox, (5, 5))
    if esper.entity_exists(hitbox):
        assert of(hitbox, ec.Attached).offset == (3, 0, 0)


def test_a_box_is_put_beside_an_owner_that_is_disabled_but_does_not_move():
    space, owner, hitbox = attached_box()
    esper.add_component(owner, ec.Disabled())

    space.teleport(hitbox, (25, 7))

    assert of(hitbox, ec.Attached).offset == (5, 7, 0)
    with pytest.raises(KeyError, match=f"entity {hitbox} is Attached .* {owner}, which is Disab"):
        space.move(hitbox, (1, 1))


def test_explain_says_that_the_owner_of_a_box_is_skipped():
    space, owner, hitbox = attached_box()
    wall = box((23, 0), (1, 1))
    of(owner, ec.Position).x = math.nan
    esper.process(1 / 60)

    said = space.explain(hitbox, wall)

    assert said.verdict is ec.Verdict.IGNORED
    assert f"entity {hitbox} is attached to entity {owner}, which is skipped" in str(said)
    assert f"entity {owner} is quarantined: Position.x is nan" in str(said)


def test_a_body_that_lost_a_component_cannot_be_put_anywhere():
    body = mover((0, 0), (1, 1), (0, 0), ec.Slide())
    space = ec.install()
    esper.process(1 / 60)
    esper.remove_component(body, ec.Position)

    for call in (
        lambda: space.teleport(body, (5, 5)),
        lambda: space.set_positions([body], [(5, 5)]),
        lambda: space.set_extents([body], [(5, 5)]),
        lambda: space.resize(body, height=3.0),
    ):
        with pytest.raises(KeyError, match=f"entity {body} is no body of this space, it has no P"):
            call()


@pytest.mark.parametrize("attached", [False, True])
@pytest.mark.parametrize("fault", ["has Position nan", "has Position inf", "has Extents nan"])
def test_a_body_without_a_box_gets_its_new_height_and_no_new_position(fault, attached):
    space, owner, hitbox = attached_box()
    body = hitbox if attached else owner
    FAULTS[fault](body)
    before = str(of(body, ec.Position)), of(hitbox, ec.Attached).offset

    space.resize(body, height=3.0)

    assert of(body, ec.Extents).y == 1.5
    assert (str(of(body, ec.Position)), of(hitbox, ec.Attached).offset) == before


class Breaks(esper.Processor):
    """A system of the game between the stages, which fails."""

    def process(self, dt: float) -> None:
        raise ValueError("between the stages")


@pytest.mark.parametrize("way_back", ["a step that fails", "snapshot", "save_state"])
def test_a_wall_that_is_skipped_stays_out_of_the_trees_on_the_way_back(way_back):
    wall, other = box((10, 0), (1, 1)), box((30, 0), (1, 1))
    runner = mover((0, 0), (1, 1), (4, 0), ec.Slide())
    space = ec.install()
    esper.process(1 / 4)
    of(wall, ec.Position).x = math.nan
    esper.process(1 / 4)
    assert space.query((9, -1), (31, 1)) == [other]

    if way_back == "a step that fails":
        esper.add_processor(Breaks(), priority=115)
        with pytest.raises(ValueError, match="between the stages"):
            esper.process(1 / 4)
        esper.remove_processor(Breaks)
    else:
        saved = getattr(space, way_back)()
        esper.create_entity(ec.Position(50, 0), ec.Extents(1, 1))  # so that all is set again
        esper.process(1 / 4)
        space.restore(saved)
    space.check()
    found = space.query((9, -1), (31, 1))
    esper.process(4.0)

    assert found == [other]
    assert space.position_of(runner) == (18, 0)  # it has run where the wall was
