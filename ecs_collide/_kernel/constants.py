"""What a body has, and what has happened to it: one bit each."""

# In the column `has`.
VELOCITY = 1
GROWTH = 2
MASS = 4
DEFLECT = 8
SENSOR = 16
CUSTOM = 32  # a component of the game's own with which its bodies yield
FIXED = 64  # the game leaves its components alone, and nothing moves it

# In the mark of a kind only: a game's own response is to be offered the impacts of its bodies.
HANDED = 128

# In the column `custom`, which follows from these two.
YIELDS = 1
OFFERED = 2

# In the column `traits`: components that only some bodies have.
FILTER = 1
FRICTION = 2
ONE_WAY = 4
CARRY = 8
PUSH_OUT = 16
HAS_FILTER = 32  # a component of the game's own that a predicate for pairs was given for
SEPARATES = 64
CONTROL = 128  # a component that says who pushes whom: `motion.controls` has them
FALL = 128  # GravityScale or Damping: the same bit, since a byte has no more of them
SURFACES_SHIFT = 8  # how many bits those of `has` take before these in the mark of a kind

# In the mark of a kind only, beside `CONTROL`: which of them; see `sync.component_table`.
DOMINANCE = 1 << 20
RESTITUTION = 1 << 21
MAX_SPEED = 1 << 22
LOCKED_AXES = 1 << 23

# What `Friction` and `Restitution` hold for their rule; of two surfaces the higher one counts.
AVERAGE = 1
GEOMETRIC = 2
MIN = 3
MULTIPLY = 4
MAX = 5

# In the mark of a kind only: a component that has a separate column.
DISABLED = 1 << 16
ATTACHED = 1 << 17

# In the column `quarantined`: why a body is left out.
QUARANTINED = 1  # a number of it cannot be computed with
SWITCHED_OFF = 2  # it has a `Disabled`

# In the column `news`, until the next step has dealt with it.
NEW = 1  # it was nowhere in the last step
UNPLACED = 2  # it is in the wrong tree
UNCHECKED = 4  # a component of it, or a number in one, has changed

# In the column `touched`: why a body is looked at in this step though it may not move.
TOUCHED_BY_GAME = 1  # it was moved or resized
TOUCHED_BY_FILTER = 2  # it meets others than before
TOUCHED_AS_NEW = 4  # it is new, where there are sensors

# In the column `bad`.
BAD = 1  # a number of it is out of all bounds
DISTANT = 2  # its numbers are so large that where they lead is looked at in every step

# The most that gravity on an axis, its scale and damping may be: steps of any length stay finite.
MOST_PULL = 2.0**100

MAX_REST_COUNT = 100  # steps at rest are not counted further
MAX_ROUNDS = 64  # times that a body may go around a world that wraps in a step, or a ray in a query
MAX_GROUP = 2**31 - 1  # of a `Filter`, up and down
STACK_ROOM = 1024  # nodes that a traversal has yet to visit: for more than a hundred levels

MOST_DOMINANCE = 127
"""The highest level of a `Dominance`; the lowest is minus that."""

ALL = 2**32 - 1
"""All 32 categories: the mask of a body that meets everybody."""

OF_SPACE = 2.0
"""Each number of a normal that is not given: the one of the space is meant (`Space.up`)."""

BEGAN = 0
"""The code in the ``event`` field of a contact array for a begin."""

ENDED = 1
"""The code in the ``event`` field of a contact array for an end."""

AXES = ("x", "y", "z")

INF = float("inf")
NAN = float("nan")  # differs from every number
LARGEST = 2.0**500  # larger numbers are refused, so that products stay finite
TINY = 1e-200  # smaller differences count as none, so that quotients stay finite or inf
FACE_ROUNDING = 2.0**-46  # of the speeds of two faces that resize: they go together by design
APART_AT_LEAST = 2e-200  # smaller gaps count as none in the sweep
CLEAR = 2.0**-30  # of the largest coordinate: no rounding within a step closes a larger gap
SLOP = 2.0**-44  # of the largest face: 256 roundings of it.  Smaller gaps count as 0

# A hash function of entities: multiplication by 2**32 / golden ratio spreads neighbours evenly.
HASH = 2654435769
LOW_31_BITS = 0x7FFFFFFF
LOW_32_BITS = 0xFFFFFFFF


# In the column `response`: of the response components that it has the one of highest precedence.
BOUNCE = 1  # `Deflect`
SLIDE = 2
PUSH = 3
STOP = 4

# In the column `asleep`.
AWAKE = 0
ASLEEP = 1
WOKEN = 2  # something has happened to it in this step: from the next one on it is awake

LEANS = 64  # in the column `leans`, beside a bit for each side

# Kinds of queries, and the key of a result.
RAY = 0  # when a ray enters the box, closed
CAST = 1  # when a moving box meets it, by the rules of the sweep
NEAR = 2  # the distance from a box, which may be a point
REGION = 3  # 0 for boxes that share a point with a region
