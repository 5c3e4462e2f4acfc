"""Published results on parallel hard squares and cubes.

The tables are of W. G. Hoover, C. G. Hoover and M. N. Bannerman, "Single-speed molecular dynamics
of hard parallel squares and cubes", Journal of Statistical Physics 136 (2009), arXiv 0905.0293v3.
They give no errors; the numbers of collisions are from their captions.
"""

from __future__ import annotations

# The series that they quote from W. G. Hoover and A. G. De Rocco, Journal of Chemical Physics 36,
# 3141 (1962), to five decimals.
SERIES = {
    2: (1.0, 2.0, 3.0, 3.66667, 3.72222, 3.02500, 1.65065),
    3: (1.0, 4.0, 9.0, 11.33333, 3.15972, -18.87963, -43.50543),
}

# Compressibility factors by dimension, boxes along an axis, and packing fraction.
FACTORS = {
    # Table III: 10,000 collisions a box.
    (2, 10): {0.65: 5.724, 0.70: 6.549, 0.75: 7.535, 0.80: 9.410},
    # Table I, 40,000 collisions in all; from 0.65 on Table III, 10,000 collisions a box.
    (2, 20): {
        0.10: 1.231, 0.20: 1.551, 0.30: 2.005, 0.40: 2.647, 0.50: 3.541, 0.60: 4.782,
        0.65: 5.655, 0.70: 6.682, 0.75: 7.822, 0.80: 9.510,
    },
    # Table III: 1,000 collisions a box.
    (2, 40): {0.65: 5.630, 0.70: 6.608, 0.75: 7.892, 0.80: 9.484},
    # Table IV: 10,000 collisions a box.
    (3, 6): {0.45: 5.062, 0.50: 5.377, 0.55: 5.777, 0.60: 6.386, 0.65: 7.450, 0.70: 8.868},
    # Table II, 1,000,000 collisions in all; from 0.45 on Table IV, 10,000 collisions a box.
    (3, 10): {
        0.10: 1.501, 0.20: 2.246, 0.30: 3.261, 0.40: 4.464,
        0.45: 5.106, 0.50: 5.547, 0.55: 5.948, 0.60: 6.563, 0.65: 7.529, 0.70: 8.920,
    },
}  # fmt: skip
