"""What a body has, and what has happened to it: one bit each."""

# In the column `has`.
VELOCITY = 1
GROWTH = 2
MASS = 4
DEFLECT = 8
SENSOR = 16
CUSTOM = 32  # a component of the game's own that answers impacts

# In the column `news`, until the next step has dealt with it.
NEW = 1  # it was nowhere in the last step
UNPLACED = 2  # it is in the wrong tree
UNCHECKED = 4  # a component of it, or a number in one, has changed

# In the column `bad`.
BAD = 1  # a number of it is out of all bounds
DISTANT = 2  # its numbers are so large that where they lead is looked at in every step
