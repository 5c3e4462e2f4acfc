"""Two loops that games write: that of pygame tutorials, and that of bump.lua.

Both are in our own words, with the order of their originals.
"""

from __future__ import annotations

from math import inf

from benchmarks.controllers.worlds import GRAVITY, JUMP, PLAYER, Box, World

Hit = tuple[float, tuple[int, int], tuple[float, float]]
"""Time, normal and the way to go until then; time -1 for a box that overlaps."""


def order(hit: tuple[Hit, float]) -> tuple[float, float]:
    return hit[0][0], hit[1]


class Loop:
    """What both loops share: platforms that move by themselves, gravity, a jump."""

    offers = frozenset({"one-way"})

    def __init__(self, world: World) -> None:
        self.world = world
        self.hero = world.players[0]
        self.movers = [box for box, _ in world.movers]
        self.rise = -world.falling
        self.on_ground = False

    def step(self, time: float, dt: float, walk: float, jump: bool) -> None:
        for n, (_, speed) in enumerate(self.world.movers):
            x, y = speed(time)
            self.movers[n] = self.movers[n].moved(x * dt, y * dt)
        if jump and self.on_ground:
            self.rise = JUMP
        self.rise -= GRAVITY * dt
        self.on_ground = False
        self.move(walk * self.world.walk_speed * dt, self.rise * dt)

    def solids(self) -> list[Box]:
        return [*self.world.walls, *self.movers]

    def move(self, x: float, y: float) -> None:
        raise NotImplementedError

    def boxes(self) -> tuple[list[Box], list[Box], list[Box]]:
        return [self.hero], list(self.movers), []

    def stands(self) -> bool:
        return self.on_ground


class Usual(Loop):
    """pygame's usual loop: move on x, leave what is hit, then the same on y, in whole pixels."""

    def move(self, x: float, y: float) -> None:
        feet = self.hero.y
        self.hero = Box(int(self.hero.x + x), self.hero.y, *PLAYER)
        for other in self.solids():
            if x and self.hero.depth(self.whole(other)) > 0:
                left = other.x - PLAYER[0] if x > 0 else other.right
                self.hero = Box(int(left), self.hero.y, *PLAYER)
        # Rect has whole numbers, and y grows downwards: what is cut off points upwards.
        self.hero = Box(self.hero.x, -int(-(self.hero.y + y) // 1), *PLAYER)
        ours = [box for box in self.world.one_ways if y < 0 and feet >= box.top]
        for other in [*self.solids(), *ours]:
            if self.hero.depth(self.whole(other)) > 0:
                if y < 0:
                    self.hero = Box(self.hero.x, int(other.top), *PLAYER)
                    self.on_ground = True
                else:
                    self.hero = Box(self.hero.x, int(other.y - PLAYER[1]), *PLAYER)
                self.rise = 0.0

    @staticmethod
    def whole(box: Box) -> Box:
        return Box(int(box.x), int(box.y), box.wide, box.high)


class Bump(Loop):
    """bump.lua's move: the first box on the way stops one axis, and the rest slides on."""

    def move(self, x: float, y: float) -> None:
        for _ in range(4):
            ours = [box for box in self.world.one_ways if y < 0 and self.hero.y >= box.top]
            hits = [(self.hit(box, x, y), self.way(box)) for box in (*self.solids(), *ours)]
            # The first, and of several at once the nearest.
            first = min(((hit, way) for hit, way in hits if hit), key=order, default=None)
            if first is None:
                break
            time, normal, (dx, dy) = first[0]
            self.hero = self.hero.moved(dx, dy)
            x, y = (0.0, y * (1 - max(time, 0))) if normal[0] else (x * (1 - max(time, 0)), 0.0)
            if normal[1]:
                self.on_ground |= normal[1] > 0
                self.rise = 0.0
        self.hero = self.hero.moved(x, y)

    def way(self, other: Box) -> float:
        """Return the square of the distance to the middle of a box."""
        across = self.hero.x + self.hero.wide / 2 - other.x - other.wide / 2
        up = self.hero.y + self.hero.high / 2 - other.y - other.high / 2
        return across**2 + up**2

    def hit(self, other: Box, x: float, y: float) -> Hit | None:
        """Return time, normal and way to a box: negative for one that overlaps, or None."""
        hero = self.hero
        low = other.x - hero.right, other.y - hero.top  # the Minkowski difference
        high = other.right - hero.x, other.top - hero.y
        if low[0] < 0 < high[0] and low[1] < 0 < high[1]:
            ways = [min(low[k], high[k], key=abs) for k in (0, 1)]
            k = 0 if abs(ways[0]) < abs(ways[1]) else 1
            sign = 1 if ways[k] > 0 else -1
            if k == 0:
                return -1.0, (sign, 0), (ways[0], 0.0)
            return -1.0, (0, sign), (0.0, ways[1])
        enter, leave, normal = -inf, inf, (0, 0)
        for k, step in enumerate((x, y)):
            if step == 0:
                if not low[k] < 0 < high[k]:
                    return None
                continue
            near, far = (low[k], high[k]) if step > 0 else (high[k], low[k])
            if near / step > enter:
                enter = near / step
                sign = -1 if step > 0 else 1
                normal = (sign, 0) if k == 0 else (0, sign)
            leave = min(leave, far / step)
        if not (0 <= enter < 1 and enter < leave):
            return None
        return enter, normal, (x * enter, y * enter)
