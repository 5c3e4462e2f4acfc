"""Square roots of fractions."""

from fractions import Fraction
from math import isqrt


def root(x: Fraction) -> Fraction:
    """Return the square root of a fraction: exactly if there is one, else to 128 bits."""
    whole = Fraction(isqrt(x.numerator), isqrt(x.denominator))
    if whole * whole == x:
        return whole
    shift = max(0, 256 - x.numerator.bit_length() + x.denominator.bit_length()) // 2 * 2
    return Fraction(isqrt((x.numerator << shift) // x.denominator), 1 << shift // 2)
