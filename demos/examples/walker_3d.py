"""A walk in 3D with raylib: arrow keys walk, space jumps.

It is the same library with ``dim=3``: a character climbs the stairs,
rides on the lift, pushes crates and takes the coins.
"""

import esper
import ecs_collide as ec


class Wall: ...
class Lift: ...
class Coin: ...
class Crate: ...
class Hero: ...


COLOURS = {
    Wall: (90, 100, 120, 255), Lift: (230, 150, 80, 255),
    Coin: (255, 230, 120, 255), Crate: (190, 130, 80, 255),
    Hero: (90, 170, 255, 255),
}


def box(centre, size, *components):
    """Create an entity with a box around a point."""
    return esper.create_entity(
        ec.Position(*centre), ec.Extents.from_size(*size), *components
    )


class Walk:
    """The world of a game, and its rules."""

    def __init__(self):
        box((0, -0.5, 0), (30, 1, 30), Wall())  # the ground
        for n in range(6):  # stairs towards -z
            high = 0.4 * (n + 1)
            box((4, high / 2, -2 - n), (3, high, 1), Wall())
        box((0, 1.2, -11), (11, 2.4, 6), Wall())  # a terrace
        for x, z in ((-4, 2), (-4, 3.2), (-5.2, 2)):
            body = ec.Velocity(0, 0, 0), ec.Slide(), ec.Friction(0.6)
            box((x, 0.5, z), (1, 1, 1), Crate(), *body)
        way = ec.Path([(-8, 0.1, -9), (-8, 2.3, -9)], speed=1, pause=1)
        box(
            (-8, 0.1, -9), (2, 0.2, 2), Lift(),
            ec.Velocity(0, 0, 0), ec.Carry(), way,
        )
        for place in ((4, 3, -9), (-4, 3, -9), (-8, 0.6, 4)):
            box(place, (0.4, 0.4, 0.4), Coin(), ec.Sensor())
        self.hero = ec.Character(
            walk_speed=5, acceleration=40, deceleration=40,
            jump_height=1.3, fall_speed=20, step_height=0.45, corner=0.1,
        )
        self.player = box(
            (4, 0.9, 4), (0.6, 1.8, 0.6), Hero(),
            ec.Velocity(0, 0, 0), ec.Slide(), self.hero,
        )
        self.space = ec.install(dim=3, gravity=(0, -20, 0))
        self.space.on_collision(self.take, Hero, Coin)

    def take(self, event):  # second is the Coin
        esper.delete_entity(event.second)

    def step(self, dt, x=0, z=0, jump=False):
        """Set what the hero is to do, and move everything."""
        self.hero.walk, self.hero.across, self.hero.jump = x, z, jump
        esper.process(dt)


def main():
    """Open a window and play."""
    import pyray as rl

    game = Walk()
    rl.init_window(640, 400, "Walk")
    rl.set_target_fps(60)
    while not rl.window_should_close():
        down = rl.is_key_down
        x = down(rl.KEY_RIGHT) - down(rl.KEY_LEFT)
        z = down(rl.KEY_DOWN) - down(rl.KEY_UP)
        game.step(1 / 60, x, z, down(rl.KEY_SPACE))

        x, y, z = game.space.position_of(game.player)
        eye, target = (x, y + 5, z + 9), (x, y, z - 2)
        camera = rl.Camera3D(eye, target, (0, 1, 0), 50, 0)
        rl.begin_drawing()
        rl.clear_background((20, 24, 36, 255))
        rl.begin_mode_3d(camera)
        for kind, colour in COLOURS.items():
            for _, (_, place, half) in esper.get_components(
                kind, ec.Position, ec.Extents
            ):
                size = (2 * half).xyz
                rl.draw_cube_v(place.xyz, size, colour)
                rl.draw_cube_wires_v(place.xyz, size, (0, 0, 0, 255))
        rl.end_mode_3d()
        rl.end_drawing()
    rl.close_window()


if __name__ == "__main__":
    main()
