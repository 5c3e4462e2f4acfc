"""Physics engines as finders of pairs: boxes put where the frame says, contacts read.

A step of nearly no time lets an engine find its contacts without moving anything.
Boxes that rest are static bodies, whose pairs among each other no engine finds.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.scenes import Boxes, Frame, Integers, Scene
from benchmarks.trees import moving

INSTANT = 1e-9  # seconds


class Pymunk:
    """pymunk and its batch module: all positions set, all arbiters read, at once.

    Shapes are sensors, so nothing is pushed apart.  Velocities stay 0: they would
    let its tree fatten the boxes, which gives little in *gas* and costs ten times
    the frame in *bullets*.  The batch sets all bodies of a space, static ones
    too; where few of many move it is quicker to set these one by one.
    """

    name = "pymunk batch"
    needs = module = "pymunk"
    dims = (2,)
    resting_only = False

    def __init__(self, scene: Scene) -> None:
        import pymunk
        import pymunk.batch

        self.pymunk, self.batch = pymunk, pymunk.batch
        self.space = pymunk.Space()
        self.space.collision_persistence = 1  # forget at once what has parted
        self.bodies: dict[int, Any] = {}
        self.id_of: dict[int, int] = {}
        self.add(scene.resting, pymunk.Body.STATIC)
        self.add(scene.frames[0].boxes[len(scene.resting) :], pymunk.Body.DYNAMIC)
        self.order = self.read_order()
        self.inbox, self.outbox = pymunk.batch.Buffer(), pymunk.batch.Buffer()
        self.few_move = 20 * len(moving(scene.frames[0])) < len(self.order)

    def add(self, boxes: Boxes, body_type: int) -> None:
        centres = (boxes.mins + boxes.maxs) * 0.5
        sides = boxes.maxs - boxes.mins
        for id, centre, side in zip(
            boxes.ids.tolist(), centres.tolist(), sides.tolist(), strict=True
        ):
            body = self.pymunk.Body(1.0, float("inf"), body_type)
            body.position = tuple(centre)
            shape = self.pymunk.Poly.create_box(body, tuple(side))
            shape.sensor = True
            self.space.add(body, shape)
            self.bodies[id] = body
            self.id_of[body.id] = id

    def read_order(self) -> Integers:
        buffer = self.batch.Buffer()
        self.batch.get_space_bodies(self.space, self.batch.BodyFields.BODY_ID, buffer)
        numbers = np.frombuffer(buffer.int_buf(), np.uintp).tolist()
        return np.array([self.id_of[number] for number in numbers], np.int64)

    def step(self, frame: Frame) -> Integers:
        for id in frame.gone.tolist():
            body = self.bodies.pop(id)
            self.space.remove(body, *body.shapes)
            del self.id_of[body.id]
        if len(frame.new):
            self.add(frame.new, self.pymunk.Body.DYNAMIC)
            self.order = self.read_order()
        if self.few_move:
            self.set_each(moving(frame))
        else:
            self.set_all(frame.boxes)
        self.space.step(INSTANT)
        self.outbox.clear()
        fields = self.batch.ArbiterFields.BODY_A_ID | self.batch.ArbiterFields.BODY_B_ID
        self.batch.get_space_arbiters(self.space, fields, self.outbox)
        return np.frombuffer(self.outbox.int_buf(), np.uintp).reshape(-1, 2)

    def set_all(self, boxes: Boxes) -> None:
        places = (boxes.mins + boxes.maxs) * 0.5
        self.inbox.set_float_buf(places[self.order - boxes.ids[0]])  # ids are consecutive
        self.batch.set_space_bodies(self.space, self.batch.BodyFields.POSITION, self.inbox)

    def set_each(self, boxes: Boxes) -> None:
        places = ((boxes.mins + boxes.maxs) * 0.5).tolist()
        for id, (x, y) in zip(boxes.ids.tolist(), places, strict=True):
            self.bodies[id].position = x, y

    def pairs(self, answer: Integers) -> Integers:
        pairs = [(self.id_of[a], self.id_of[b]) for a, b in answer.tolist()]
        return np.array(pairs, np.int64).reshape(-1, 2)


class Box2D:
    """Box2D 3 by pyb2d3: all transforms set at once, and the contacts that begin and end.

    That is how it tells of contacts, so a game keeps a set of them, and so does this.
    """

    name = "Box2D 3 (pyb2d3)"
    needs = module = "pyb2d3"
    dims = (2,)
    resting_only = False

    def __init__(self, scene: Scene) -> None:
        import pyb2d3

        self.b2 = pyb2d3
        self.world = pyb2d3.World(gravity=(0, 0))
        self.world.sleeping_enabled = False
        self.world.continuous_enabled = False
        self.bodies: dict[int, Any] = {}
        self.add(scene.resting, self.world.create_static_body)
        self.add(moving(scene.frames[0]), self.world.create_dynamic_body)
        self.batch: Any = None
        self.touching: set[tuple[int, int]] = set()

    def add(self, boxes: Boxes, create: Any) -> None:
        centres = (boxes.mins + boxes.maxs) * 0.5
        halves = (boxes.maxs - boxes.mins) * 0.5
        looks = self.b2.shape_def(density=1.0, enable_contact_events=True)
        for id, centre, half in zip(
            boxes.ids.tolist(), centres.tolist(), halves.tolist(), strict=True
        ):
            body = create(position=tuple(centre))
            body.fixed_rotation = True
            body.create_shape(looks, self.b2.box(*half)).user_data = id
            self.bodies[id] = body

    def step(self, frame: Frame) -> set[tuple[int, int]]:
        for id in frame.gone.tolist():
            self.bodies.pop(id).destroy()
        moved = moving(frame)
        self.add(frame.new, self.world.create_dynamic_body)
        if self.batch is None or len(frame.new):
            self.batch = self.b2.Bodies()
            for id in moved.ids.tolist():
                self.batch.append(self.bodies[id].id)
            self.transforms = np.tile(np.array([0, 0, 1, 0], np.float32), (len(moved), 1))
        self.transforms[:, :2] = (moved.mins + moved.maxs) * 0.5
        self.batch.set_transforms(self.transforms)
        self.world.step(INSTANT, 1)
        events, touching = self.world.get_contact_events(), self.touching
        for event in events.end_events():
            first, second = event.shape_a, event.shape_b
            if first is not None and second is not None:  # else destroyed: see below
                touching.discard((first.user_data, second.user_data))
        for event in events.begin_events():
            touching.add((event.shape_a.user_data, event.shape_b.user_data))
        if len(frame.gone):
            oldest = int(frame.boxes.ids[0])
            self.touching = touching = {pair for pair in touching if min(pair) >= oldest}
        return touching

    def pairs(self, answer: set[tuple[int, int]]) -> Integers:
        return np.array(sorted(answer), np.int64).reshape(-1, 2)
