"""A twin-stick shooter: W, A, S, D move, the arrow keys shoot.

Enemies are a soft crowd (Separate).  A bullet deletes itself and the
enemy at the instant of the impact, so it never hits two of them.
"""

import random

import esper
import ecs_collide as ec

WIDTH, HEIGHT = 720, 480
WALK, CHASE, BULLET = 220, 80, 900


class Wall: ...
class Enemy: ...
class Bullet: ...


class Hero:
    health = 5


COLOURS = {
    Wall: (70, 80, 100), Bullet: (255, 230, 120),
    Enemy: (230, 90, 90), Hero: (90, 170, 255),
}


def box(x, y, width, height, *components):
    """Create an entity with a box around the point x, y."""
    return esper.create_entity(
        ec.Position(x, y),
        ec.Extents.from_size(width, height),
        *components,
    )


class Arena:
    """The world of a game, and its rules."""

    def __init__(self, seed=None):
        self.chance = random.Random(seed)
        self.time = self.score = 0
        self.loaded = 0.0  # seconds until the next shot
        ec.name_categories("hero", "bullet")
        for x, width in ((0, 20), (WIDTH / 2, 20), (WIDTH, 20)):
            high = 120 if x == WIDTH / 2 else HEIGHT
            box(x, HEIGHT / 2, width, high, Wall())
        for y in (0, HEIGHT):
            box(WIDTH / 2, y, WIDTH, 20, Wall())
        self.velocity = ec.Velocity(0, 0)
        self.hero = box(
            160, HEIGHT / 2, 20, 20, Hero(), self.velocity,
            ec.Slide(), ec.Dominance(1), ec.Filter("hero"),
        )
        self.space = ec.install()
        self.space.respond_with(Bullet, self.strike)
        self.space.on_contact_began(self.bite, Hero, Enemy)

    def strike(self, impact):
        """Let a bullet end with the first thing that it meets."""
        for entity in (impact.first, impact.second):
            if not esper.has_component(entity, Wall):
                esper.delete_entity(entity)
                self.score += esper.has_component(entity, Enemy)

    def bite(self, contact):  # first is the Hero, second the Enemy
        esper.component_for_entity(contact.first, Hero).health -= 1
        esper.delete_entity(contact.second)

    def spawn(self):
        x = self.chance.choice((40, WIDTH - 40))
        y = self.chance.uniform(40, HEIGHT - 40)
        box(
            x, y, 18, 18, Enemy(), ec.Velocity(0, 0),
            ec.Slide(), ec.Separate(60),
        )

    def step(self, dt, move=(0, 0), aim=(0, 0)):
        """Move and shoot along two sticks; each axis from -1 to 1."""
        self.velocity.set(move)
        self.velocity *= WALK / max(abs(self.velocity), 1)
        place = esper.component_for_entity(self.hero, ec.Position)
        for _, (_, at, velocity) in esper.get_components(
            Enemy, ec.Position, ec.Velocity
        ):
            way = place - at
            velocity.set(way * (CHASE / abs(way)))
        self.loaded -= dt
        if any(aim) and self.loaded <= 0:
            self.loaded = 0.12
            speed = ec.Velocity(aim)
            box(
                place.x, place.y, 6, 6, Bullet(),
                speed * (BULLET / abs(speed)),
                ec.Filter("bullet", mask="~hero ~bullet"),
            )
        if int(self.time) < int(self.time + 2 * dt):
            self.spawn()
        self.time += 2 * dt
        esper.process(dt)


def main():
    """Open a window and play."""
    import pyglet
    from pyglet.shapes import Rectangle
    from pyglet.window import key

    game = Arena()
    window = pyglet.window.Window(WIDTH, HEIGHT, "Arena")
    keys = key.KeyStateHandler()
    brush = Rectangle(0, 0, 1, 1)

    def step(dt):
        move = keys[key.D] - keys[key.A], keys[key.W] - keys[key.S]
        aim = keys[key.RIGHT] - keys[key.LEFT], keys[key.UP] - keys[key.DOWN]
        game.step(dt, move, aim)

    @window.event
    def on_draw():
        window.clear()
        for kind, brush.color in COLOURS.items():
            for _, (_, place, half) in esper.get_components(
                kind, ec.Position, ec.Extents
            ):
                brush.position = (place - half).xy
                brush.width, brush.height = (2 * half).xy
                brush.draw()

    window.push_handlers(keys)
    pyglet.clock.schedule_interval(step, 1 / 60)
    pyglet.app.run()


if __name__ == "__main__":
    main()
