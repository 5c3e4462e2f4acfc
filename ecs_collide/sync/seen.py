"""What was seen of bodies last: the columns that a snapshot holds, and what has changed since."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

NO_ROWS: NDArray[np.int64] = np.zeros(0, np.int64)

# What has become of a body since the last step; bits of `snapshot.schema.State.flags`.
LEFT_OUT = 1  # the last step left it out: it is in quarantine, or disabled
TOUCHED = 2  # known to be moved or resized by the game already
UNSEEN = 4  # no step has taken it up yet
CHANGED = 8  # it has other components, or other objects for them
REPLACED = 16  # all of those that make it a body: it is another one
MOVED = 32  # it stands where `Space.move` has put it, which is no teleport
OFF = 64  # the last step left it out because it was disabled
ALTERED = 128  # it has another trait than was seen, or is to be looked at anew for another reason

SEEN = (
    ("Position", "seen_centre", 0.0),
    ("Extents", "seen_half", 0.0),
    ("Velocity", "seen_velocity", 0.0),
    ("Growth", "seen_growth", 0.0),
    ("Mass", "seen_mass", 1.0),
    ("Deflect", "seen_restitution", 0.0),
    ("Attached", "seen_offset", 0.0),
    ("Position", "seen_place", 0.0),
    ("Extents", "seen_size", 0.0),
)
"""The columns of what was seen last: whose numbers they are, and what stands for none."""

N_OF_STEPS = 7  # of these are what a step works on; the others differ only in a game's own numbers

FILTERED = np.dtype([("body", "<u4"), ("numbers", "<i8", (3,))])
SLEEPER = np.dtype([("body", "<u4"), ("island", "<u4"), ("leans", "i1"), ("held", "u1")])
"""Who sleeps: the island of a body that leans is the first body in it, that of another one 0."""

STIRRED = np.dtype([("body", "<u4"), ("why", "u1")])
"""Of whom the next step looks whether they, or those who lie against them, are to wake."""

LOST = 1  # it sleeps, and has lost a contact
DISTURBED = 2  # it does not yield, and something has happened to it in its sleep


def none_of(dtype: np.dtype[Any], n: int = 0) -> NDArray[np.void]:
    """Return an array of `n` strays, contacts or contact events, to be filled."""
    return np.zeros(n, dtype)
