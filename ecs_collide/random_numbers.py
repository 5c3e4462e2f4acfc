"""Random numbers whose state is a component, so that snapshots hold it."""

from __future__ import annotations

from collections.abc import MutableSequence, Sequence
from dataclasses import dataclass
from operator import index
from typing import Any, TypeVar

_Item = TypeVar("_Item")
_MASK = 2**64 - 1
_INCREMENT = 0x9E3779B97F4A7C15


@dataclass(slots=True)
class Random:
    """A random generator that a snapshot restores with the world.

    Use it as a component, or anywhere else as an ordinary object.  A seed gives the same numbers
    on every platform and in every version of Python.  They do not depend on Python's `random`, and
    do not change it.

    Parameters
    ----------
    state : int
        The seed, of which 64 bits count.  Each drawn number advances it.

    Notes
    -----
    SplitMix64 (Steele, Lea and Flood, "Fast Splittable Pseudorandom Number Generators", 2014).
    It is for games and simulations, not for secrets: one output of `bits` reveals all that follow.
    There is no normal distribution, because logarithms and cosines differ in their last bits
    between platforms.

    Examples
    --------
    >>> dice = Random(7)
    >>> [dice.below(6) + 1 for _ in range(5)]
    [3, 1, 6, 4, 3]
    >>> again = Random(7)
    >>> [again.below(6) + 1 for _ in range(5)]
    [3, 1, 6, 4, 3]
    """

    state: int = 0

    def __post_init__(self) -> None:
        """Check the seed.

        Raises
        ------
        TypeError
            It is not a whole number.
        """
        try:
            self.state = index(self.state)
        except TypeError:
            raise TypeError(f"Random(state={self.state!r}) must be a whole number") from None

    def require_possible(self) -> None:
        """Raise ValueError for a state from a snapshot that no generator has."""
        if type(self.state) not in (int, bool):
            raise ValueError(f"{self} must have a whole number")

    def bits(self) -> int:
        """Return 64 random bits, as an int."""
        self.state = (self.state + _INCREMENT) & _MASK
        z = self.state
        z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 & _MASK
        z = (z ^ z >> 27) * 0x94D049BB133111EB & _MASK
        return z ^ z >> 31

    def random(self) -> float:
        """Return a number in [0, 1), a multiple of 2**-53."""
        return (self.bits() >> 11) * 2.0**-53

    def uniform(self, low: float, high: float) -> float:
        """Return a number from `low` to `high`."""
        return low + (high - low) * self.random()

    def below(self, n: int) -> int:
        """Return a whole number from 0 to n - 1.

        Raises
        ------
        ValueError
            `n` is not from 1 to 2**64.
        """
        if not 1 <= n <= 2**64:
            raise ValueError(f"below(n={n!r}) must be from 1 to 2**64")
        return self.bits() * n >> 64

    def choice(self, items: Sequence[_Item]) -> _Item:
        """Return one of some items.

        Raises
        ------
        IndexError
            The sequence is empty.
        """
        if not len(items):
            raise IndexError("choice() from no items at all")
        return items[self.below(len(items))]

    def shuffle(self, items: MutableSequence[Any]) -> None:
        """Shuffle the items of a list in place."""
        for last in range(len(items) - 1, 0, -1):
            other = self.below(last + 1)
            items[last], items[other] = items[other], items[last]
