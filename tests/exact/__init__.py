"""The library against exact arithmetic: fractions, no rounding, no cleverness."""
