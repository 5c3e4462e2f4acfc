"""Sums of products in twice the precision, for momenta and energies.

Each sum is a rounded value and, beside it, the sum of its rounding errors.  Algorithm Dot2 of
Ogita, Rump and Oishi, "Accurate Sum and Dot Product" (2005).
"""

from __future__ import annotations

from ecs_collide._kernel import cython

SPLITTER = 2.0**27 + 1.0


@cython.inline
def error_of_product(a: cython.double, b: cython.double, product: cython.double) -> cython.double:
    """Return a * b - product, the exact rounding error of a product; 0 if that overflows.

    Dekker, "A Floating-Point Technique for Extending the Available Precision" (1971).
    """
    wide: cython.double = SPLITTER * a
    high_a: cython.double = wide - (wide - a)
    low_a: cython.double = a - high_a

    wide = SPLITTER * b
    high_b: cython.double = wide - (wide - b)
    low_b: cython.double = b - high_b
    error: cython.double = low_a * low_b - (
        ((product - high_a * high_b) - low_a * high_b) - high_a * low_b
    )
    return error if error == error else 0.0


@cython.inline
def error_of_sum(a: cython.double, b: cython.double, total: cython.double) -> cython.double:
    """Return a + b - total, the exact rounding error of a sum (Knuth's TwoSum); 0 on overflow."""
    part: cython.double = total - a
    error: cython.double = (a - (total - part)) + (b - part)

    return error if error == error else 0.0


def quotient(
    high: cython.double, low: cython.double, divisor: cython.double, divisor_low: cython.double
) -> cython.double:
    """Return the quotient of two sums; the divisor times it is the dividend to 2 ulp."""
    result: cython.double = (high + low) / divisor
    product: cython.double = divisor * result
    rest: cython.double = high - product

    low += error_of_sum(high, -product, rest)
    low -= error_of_product(divisor, result, product)
    low -= divisor_low * result
    return result + (rest + low) / divisor


@cython.final
class ProductSum:
    """A sum of products: its rounded value and the rounding error."""

    high: cython.double
    low: cython.double

    @cython.inline
    def clear(self) -> cython.void:
        """Reset the sum to 0."""
        self.high = self.low = 0.0

    @cython.inline
    def add(self, a: cython.double, b: cython.double) -> cython.void:
        """Add a * b."""
        product: cython.double = a * b
        total: cython.double = self.high + product

        self.low += error_of_sum(self.high, product, total)
        self.low += error_of_product(a, b, product)
        self.high = total

    @cython.inline
    def total(self) -> cython.double:
        """Return the sum, rounded."""
        return self.high + self.low

    def over(self, divisor: ProductSum) -> cython.double:
        """Return the quotient of the sum and another one."""
        return quotient(self.high, self.low, divisor.high, divisor.low)
