"""The constants that kernels share: an enum for each column of flags or codes, limits, numbers.

A member of an enum is a plain int in Python, and a C constant in compiled kernels.
"""

from ecs_collide._kernel import IntEnum, IntFlag


class Has(IntFlag):
    """The column `has`: the components that a body had when its components were last cached."""

    VELOCITY = 1  # a `Velocity`, or a component in its role
    GROWTH = 2  # a `Growth`
    MASS = 4  # a `Mass`, or a component in its role
    DEFLECT = 8  # a `Deflect`
    SENSOR = 16  # a `Sensor`; a body that is attached to another counts as one
    CUSTOM = 32  # a custom component that makes its bodies dynamic
    FIXED = 64  # a `Fixed`: the game leaves its components alone, and nothing moves it


class Trait(IntFlag):
    """The column `traits`: the components that only some bodies have, one bit for each."""

    FILTER = 1  # a `Filter`
    FRICTION = 2  # a `Friction`
    ONE_WAY = 4  # a `OneWay`
    CARRY = 8  # a `Carry`
    PUSH_OUT = 16  # a `PushOut`
    GAME_FILTER = 32  # a custom component with a predicate for pairs
    SEPARATE = 64  # a `Separate`
    GRAVITY_SCALE = 128  # a `GravityScale`
    DAMPING = 256  # a `Damping`
    DOMINANCE = 512  # a `Dominance`
    RESTITUTION = 1024  # a `Restitution`
    MAX_SPEED = 2048  # a `MaxSpeed`
    LOCKED_AXES = 4096  # a `LockedAxes`
    NO_GRAVITY = 8192  # a component that exempts bodies from gravity
    OTHER = 16384  # a component that has no bit for itself


TRAITS_SHIFT = 8  # the number of bits in a mark below the bits of `Trait`, for `Has` and `HANDED`


class Mark(IntFlag):
    """The mark of a component type: bits of `Has`, of `Trait` above them, and these."""

    HANDED = 128  # impacts of bodies with the component are handed over to a custom response
    DISABLED = 1 << 24  # it is `Disabled`, which has a separate column
    ATTACHED = 1 << 25  # it is `Attached`, which has a separate column


class Custom(IntFlag):
    """The column `custom`: the effects of a body's custom components."""

    DYNAMIC = 1  # the body has a component that makes it dynamic
    OFFERED = 2  # its impacts are handed over to a custom response


class Sensing(IntEnum):
    """The column `sensor`: what happens when another body enters one that is not solid."""

    REPORTS = 1  # events alone, as it has a `Sensor`
    IS_OFFERED = 2  # custom responses too, as it is `Attached` without a `Sensor`


class News(IntFlag):
    """The column `news`: the work that the next step has to do for a body."""

    NEW = 1  # it took no part in the last step
    UNPLACED = 2  # it is in the wrong tree
    UNCHECKED = 4  # one of its components, or a number in one, has changed


class Touched(IntFlag):
    """The column `touched`: why a step examines a body even if it does not move."""

    BY_GAME = 1  # the game has moved or resized it
    BY_FILTER = 2  # its filter has changed
    AS_NEW = 4  # it is new in a world that has sensors


class Bad(IntFlag):
    """The column `bad`: the faults in the numbers of a body."""

    INVALID = 1  # a number is outside the bounds of its component
    DISTANT = 2  # its numbers are so large that each step checks how far its path leads


class Leans(IntFlag):
    """The column `leans`: how a body sleeps in an island; 0 for all others.

    The lower side of axis k is ``LOW_X << 2 * k``, and the higher one ``HIGH_X << 2 * k``.
    """

    LOW_X = 1  # it is held on the side of lower x
    HIGH_X = 2  # it is held on the side of higher x
    LOW_Y = 4  # it is held on the side of lower y
    HIGH_Y = 8  # it is held on the side of higher y
    LOW_Z = 16  # it is held on the side of lower z
    HIGH_Z = 32  # it is held on the side of higher z
    IN_ISLAND = 64  # it sleeps in an island; set of each body that leans
    BOUNCES = 128  # a member of its island bounces: a velocity above the rest speed wakes it


class Exclusion(IntEnum):
    """The column `quarantined`: why steps skip a body; 0 if they do not."""

    INVALID = 1  # one of its numbers is invalid
    DISABLED = 2  # it has a `Disabled`


class ResponseCode(IntEnum):
    """The column `response`: the highest code of the body's response components; 0 without any."""

    BOUNCE = 1  # a `Deflect`
    SLIDE = 2  # a `Slide`
    PUSH = 3  # a `Push`
    STOP = 4  # a `Stop`


class OutcomeCode(IntEnum):
    """The outcome of a collision; see `events.Outcome`."""

    RESOLVED = 0  # by the bodies' responses
    STOPPED_ALREADY = 1  # by another resolution of the instant
    CROSSED = 2  # one is a sensor, or neither is dynamic
    CRUSHED = 3  # between what does not give way
    FORCED = 4  # slid, because a response of the game has left the pair closing
    UNRESOLVED = 5  # by nobody


class SleepState(IntEnum):
    """The column `asleep`: whether steps skip a body."""

    AWAKE = 0  # it takes part in each step
    ASLEEP = 1  # steps skip it until something reaches it
    WOKEN = 2  # something happened to it in this step; it is awake from the next step on


class CombineCode(IntEnum):
    """The columns `friction_rule` and `restitution_rule`; of two surfaces the higher one counts."""

    AVERAGE = 1  # (a + b) / 2
    GEOMETRIC = 2  # sqrt(a * b)
    MIN = 3  # the lower number
    MULTIPLY = 4  # a * b
    MAX = 5  # the higher number


class QueryKind(IntEnum):
    """The kind of a query, and the key that its results are sorted by."""

    RAY = 0  # the time at which the ray enters the box, closed
    CAST = 1  # the time at which a moving box meets it, by the rules of the sweep
    NEAR = 2  # the distance from a box, which may be a point
    REGION = 3  # 0 for each box that shares a point with the region


# The largest gravity on an axis, scale and damping: steps of any length stay finite.
MOST_PULL = 2.0**100

MAX_REST_COUNT = 100  # steps at rest are not counted further
MAX_ROUNDS = 64  # the most rounds of a body in a step, or a ray, through a world that wraps
MAX_GROUP = 2**31 - 1  # the largest absolute value of a `Filter` group
STACK_ROOM = 1024  # pending nodes of a traversal: enough for more than a hundred levels

MOST_DOMINANCE = 127
"""The highest level of a `Dominance`; the lowest is minus that."""

COS_45 = 0.5**0.5 - 1e-9
"""The cosine of 45 degrees, less rounding: the steepest normal of ground."""

ALL = 2**32 - 1
"""All 32 categories: the mask of a body that meets every other."""

OF_SPACE = 2.0
"""Each number of a default normal, which stands for `Space.up`."""

BEGAN = 0
"""The code in the ``event`` field of a contact array for a start."""

ENDED = 1
"""The code in the ``event`` field of a contact array for an end."""

AXES = ("x", "y", "z")

INF = float("inf")
NAN = float("nan")  # differs from every number
LARGEST = 2.0**500  # larger numbers are refused, so that products stay finite
TINY = 1e-200  # smaller differences count as 0, so that quotients stay finite or inf
FACE_ROUNDING = 2.0**-46  # relative to the speeds of two resizing faces that move together
APART_AT_LEAST = 2e-200  # smaller gaps count as 0 in the sweep
CLEAR = 2.0**-30  # times the largest coordinate: no rounding within a step closes a larger gap
SLOP = 2.0**-44  # times the largest face, 256 roundings of it: smaller gaps count as 0
HAIR = 2.0**-22  # times the largest face: how deep rounding to 32 bits puts a body into another

# Of characters, for their kernel and for the moves that it leaves to Python.
STEPS_AHEAD = 2.01  # steps that one looks ahead: two, and some for rounding
SAME = 2.0**-20  # relative: closer speeds are the same
LENGTH_ROUNDING = 2.0**-40  # relative to a length

SAME_FRAME = 2.0**-40  # relative: rounding moves an attached box no further between two steps

# A hash function of entities: multiplication by 2**32 / golden ratio spreads neighbours evenly.
HASH = 2654435769
LOW_31_BITS = 0x7FFFFFFF
LOW_32_BITS = 0xFFFFFFFF
