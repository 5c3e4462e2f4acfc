"""Systems of a game between the four stages: the program of docs/step.md, word for word."""

# As a game has it that is a page long.
# ruff: noqa: D101, D102, D103
# mypy: disable-error-code="no-untyped-def"

import esper

import ecs_collide as ec


class Ghost: ...


class Rubber: ...


class Between(esper.Processor):
    def __init__(self, space, say=print):
        self.space, self.say = space, say


class Tree(Between):  # after the broadphase
    def process(self, dt):
        self.say(f"{self.space.escapes} left their bounds in the tree")


class Coming(Between):  # after the narrowphase
    def process(self, dt):
        for hit in self.space.impacts:
            self.say(f"{hit.first} and {hit.second} meet at {hit.time:.3f}")


class GhostResponse(ec.ResponseSystem):  # at each impact of a ghost
    handles = Ghost

    def respond(self, impact):
        impact.cross()


class Happened(Between):  # after the motion
    def process(self, dt):
        for hit in self.space.collisions:
            self.say(f"{hit.first} and {hit.second}: {hit.outcome}")


def add_systems(space, say=print):
    for system, priority in ((Tree, 125), (Coming, 115), (Happened, 0)):
        esper.add_processor(system(space, say), priority=priority)
    esper.add_processor(GhostResponse(space), priority=112)
    space.respond_with(Rubber, lambda impact: impact.resolve(ec.Deflect(0.5)))
