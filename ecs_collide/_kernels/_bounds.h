/* What is looked at for every box in every frame, in 2D by vector instructions.

   The same operations on the same numbers in the same order as in `_fatness.py`, so the same
   bits; only that x and y go through them side by side. */

#ifndef ECS_COLLIDE_BOUNDS_H
#define ECS_COLLIDE_BOUNDS_H

#include <math.h>
#include <stddef.h>

#if defined(__SSE2__) || defined(_M_X64)
#include <emmintrin.h>
#define ECS_COLLIDE_SSE2 1
#endif

/* Whether fat bounds hold a box on its way, and are not far bigger than they need to be. */
static inline int fits_2(const double *low, const double *high, const double *way, int swept,
                         const double *fat, double margin, double too_big)
{
#ifdef ECS_COLLIDE_SSE2
    const __m128d sign = _mm_set1_pd(-0.0), half = _mm_set1_pd(0.5);
    const __m128d least = _mm_loadu_pd(low), most = _mm_loadu_pd(high);
    const __m128d step = way ? _mm_loadu_pd(way) : _mm_setzero_pd();
    const __m128d length = _mm_andnot_pd(sign, step);
    const __m128d fat_least = _mm_loadu_pd(fat), fat_most = _mm_loadu_pd(fat + 2);
    const __m128d fat_sides = _mm_sub_pd(fat_most, fat_least);
    __m128d sides = _mm_sub_pd(most, least), holds;
    double x, y, around;

    if (swept) {
        sides = _mm_sub_pd(sides, length);
        holds = _mm_and_pd(_mm_cmpge_pd(least, fat_least), _mm_cmple_pd(most, fat_most));
    } else {
        const __m128d back = _mm_mul_pd(half, _mm_sub_pd(step, length));
        const __m128d ahead = _mm_mul_pd(half, _mm_add_pd(step, length));
        holds = _mm_and_pd(_mm_cmpge_pd(_mm_add_pd(least, back), fat_least),
                           _mm_cmple_pd(_mm_add_pd(most, ahead), fat_most));
    }
    x = _mm_cvtsd_f64(sides);
    y = _mm_cvtsd_f64(_mm_unpackhi_pd(sides, sides));
    around = x > y ? x : y;
    around = 2.0 * (margin >= 0.0 ? margin : 0.1 * (around > 0.0 ? around : 0.0));
    sides = _mm_add_pd(sides, _mm_add_pd(length, _mm_set1_pd(around)));
    x = _mm_cvtsd_f64(sides) + _mm_cvtsd_f64(_mm_unpackhi_pd(sides, sides));
    y = _mm_cvtsd_f64(fat_sides) + _mm_cvtsd_f64(_mm_unpackhi_pd(fat_sides, fat_sides));
    return (_mm_movemask_pd(holds) == 3) & (y <= too_big * x);
#else
    double need = 0.0, has = 0.0, longest = 0.0, around;
    int fits = 1;

    for (int k = 0; k < 2; k++) {
        const double step = way ? way[k] : 0.0, side = high[k] - low[k];
        const double back = swept ? 0.0 : 0.5 * (step - fabs(step));
        const double ahead = swept ? 0.0 : 0.5 * (step + fabs(step));
        fits &= (low[k] + back >= fat[k]) & (high[k] + ahead <= fat[2 + k]);
        longest = fmax(longest, swept ? side - fabs(step) : side);
    }
    around = 2.0 * (margin >= 0.0 ? margin : 0.1 * longest);
    for (int k = 0; k < 2; k++) {
        const double step = way ? fabs(way[k]) : 0.0, side = high[k] - low[k];
        need += (swept ? side - step : side) + (step + around);
        has += fat[2 + k] - fat[k];
    }
    return fits & (has <= too_big * need);
#endif
}

/* Whether n pairs of numbers are within -largest ... largest and in order. */
static inline int are_in_order(const double *low, const double *high, ptrdiff_t n, double largest)
{
    ptrdiff_t i = 0;
    int fine = 1;
#ifdef ECS_COLLIDE_SSE2
    const __m128d top = _mm_set1_pd(largest), bottom = _mm_set1_pd(-largest);
    __m128d both = _mm_cmpeq_pd(top, top);

    for (; i + 1 < n; i += 2) {
        const __m128d l = _mm_loadu_pd(low + i), h = _mm_loadu_pd(high + i);
        both = _mm_and_pd(both, _mm_and_pd(_mm_cmpge_pd(l, bottom), _mm_cmple_pd(h, top)));
        both = _mm_and_pd(both, _mm_cmple_pd(l, h));
    }
    fine = _mm_movemask_pd(both) == 3;
#endif
    for (; i < n; i++)
        fine &= (low[i] >= -largest) & (low[i] <= high[i]) & (high[i] <= largest);
    return fine;
}

#endif
