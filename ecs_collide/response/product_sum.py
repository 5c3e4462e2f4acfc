"""A sum of products in twice the precision.

Algorithm Dot2 of Ogita, Rump and Oishi, "Accurate Sum and Dot Product" (2005).
"""

from __future__ import annotations

from ecs_collide._kernel import cython
from ecs_collide.response.clusters import error_of_product, error_of_sum


@cython.final
class ProductSum:
    """A sum of products: its rounded value and the rounding error."""

    high: cython.double
    low: cython.double

    def __init__(self):
        self.high = self.low = 0.0

    def clear(self) -> cython.void:
        """Reset the sum to 0."""
        self.high = self.low = 0.0

    def add(self, a: cython.double, b: cython.double) -> cython.void:
        """Add a * b."""
        product: cython.double = a * b
        total: cython.double = self.high + product

        self.low += error_of_sum(self.high, product, total)
        self.low += error_of_product(a, b, product)
        self.high = total

    def total(self) -> cython.double:
        """Return the sum, rounded."""
        return self.high + self.low
