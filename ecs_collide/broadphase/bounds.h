/* Compare a box with its fat bounds, and write new fat bounds; see `broadphase/bounds.py`.

   The operations are the same in the same order, and so are the bits.  In 2D x and y are computed
   side by side.  A NULL `displacement` stands for a box that does not move. */

#ifndef ECS_COLLIDE_BOUNDS_H
#define ECS_COLLIDE_BOUNDS_H

#include <math.h>
#include <stddef.h>

#include "inline.h"

enum {
    FITS = 1, /* fat bounds contain the path of a box, and are not far larger than necessary */
    SAME = 2  /* the box has not changed */
};

#ifdef ECS_COLLIDE_SSE2
ECS_COLLIDE_INLINE double sum_of_both(__m128d both)
{
    return _mm_cvtsd_f64(both) + _mm_cvtsd_f64(_mm_unpackhi_pd(both, both));
}

ECS_COLLIDE_INLINE int classify_2d(const double *low, const double *high,
                                   const double *displacement, int swept, const double *fat,
                                   double margin, double lookahead, double too_big, double *box)
{
    const __m128d sign = _mm_set1_pd(-0.0), half = _mm_set1_pd(0.5), zero = _mm_setzero_pd();
    const __m128d least = _mm_loadu_pd(low), most = _mm_loadu_pd(high);
    const __m128d step = displacement ? _mm_loadu_pd(displacement) : zero;
    const __m128d length = _mm_andnot_pd(sign, step);
    const __m128d fat_least = _mm_loadu_pd(fat), fat_most = _mm_loadu_pd(fat + 2);
    const __m128d same = _mm_and_pd(_mm_cmpeq_pd(_mm_loadu_pd(box), least),
                                    _mm_cmpeq_pd(_mm_loadu_pd(box + 2), most));
    __m128d sides = _mm_sub_pd(most, least), inside;
    double around, x, y, needed;

    _mm_storeu_pd(box, _mm_add_pd(least, zero)); /* -0.0 becomes 0.0 */
    _mm_storeu_pd(box + 2, _mm_add_pd(most, zero));
    if (swept) {
        sides = _mm_sub_pd(sides, length);
        inside = _mm_and_pd(_mm_cmpge_pd(least, fat_least), _mm_cmple_pd(most, fat_most));
    } else {
        const __m128d back = _mm_mul_pd(half, _mm_sub_pd(step, length));
        const __m128d ahead = _mm_mul_pd(half, _mm_add_pd(step, length));
        inside = _mm_and_pd(_mm_cmpge_pd(_mm_add_pd(least, back), fat_least),
                            _mm_cmple_pd(_mm_add_pd(most, ahead), fat_most));
    }
    x = _mm_cvtsd_f64(sides);
    y = _mm_cvtsd_f64(_mm_unpackhi_pd(sides, sides));
    around = x > y ? x : y;
    around = 2.0 * (margin >= 0.0 ? margin : around > 0.0 ? around : 0.0);
    needed = sum_of_both(_mm_add_pd(
        sides, _mm_add_pd(_mm_mul_pd(length, _mm_set1_pd(1.0 + lookahead)), _mm_set1_pd(around))));
    return ((_mm_movemask_pd(inside) == 3) &
            (sum_of_both(_mm_sub_pd(fat_most, fat_least)) <= too_big * needed)) |
           (_mm_movemask_pd(same) == 3) << 1;
}
#endif

ECS_COLLIDE_INLINE double surface(const double *sides, ptrdiff_t dim)
{
    if (dim == 2)
        return sides[0] + sides[1];
    return sides[0] * sides[1] + sides[1] * sides[2] + sides[2] * sides[0];
}

ECS_COLLIDE_INLINE int classify_axes(const double *low, const double *high,
                                     const double *displacement, int swept, const double *fat,
                                     double margin, double lookahead, double too_big, double *box,
                                     ptrdiff_t dim)
{
    double sides[3], fat_sides[3], longest = 0.0, around;
    int fits = 1, same = 1;

    for (int k = 0; k < dim; k++) {
        const double step = displacement ? displacement[k] : 0.0, length = fabs(step);
        const double side = high[k] - low[k];
        const double back = swept ? 0.0 : 0.5 * (step - length);
        const double ahead = swept ? 0.0 : 0.5 * (step + length);
        fits &= (low[k] + back >= fat[k]) & (high[k] + ahead <= fat[dim + k]);
        same &= (box[k] == low[k]) & (box[dim + k] == high[k]);
        box[k] = low[k] + 0.0;
        box[dim + k] = high[k] + 0.0;
        fat_sides[k] = fat[dim + k] - fat[k];
        sides[k] = swept ? side - length : side;
        longest = sides[k] > longest ? sides[k] : longest;
    }
    around = 2.0 * (margin >= 0.0 ? margin : longest);
    for (int k = 0; k < dim; k++)
        sides[k] += (displacement ? fabs(displacement[k]) * (1.0 + lookahead) : 0.0) + around;
    fits &= surface(fat_sides, dim) <= too_big * surface(sides, dim);
    return fits | same << 1;
}

/* Write a box to its place in the tree; return FITS and SAME as bits. */
ECS_COLLIDE_INLINE int classify(const double *mins, const double *maxs, const double *motion,
                                ptrdiff_t p, int still, int swept, const double *fat, ptrdiff_t q,
                                double margin, double lookahead, double too_big, double *box,
                                ptrdiff_t at, ptrdiff_t dim)
{
    const double *displacement = still ? NULL : motion + p;

    if (dim == 3)
        return classify_axes(mins + p, maxs + p, displacement, swept, fat + q, margin, lookahead,
                             too_big, box + at, 3);
#ifdef ECS_COLLIDE_SSE2
    return classify_2d(mins + p, maxs + p, displacement, swept, fat + q, margin, lookahead, too_big,
                       box + at);
#else
    return classify_axes(mins + p, maxs + p, displacement, swept, fat + q, margin, lookahead,
                         too_big, box + at, 2);
#endif
}

/* Classify items whose rows are the items themselves and whose boxes in 2D contain their paths.
   Write their boxes, mark those that have changed and append them to `moved`.  Return the first
   place in `items`, from `n` on, of one that does not fit or is not in the tree. */
ECS_COLLIDE_INLINE ptrdiff_t classify_run(const long long *items, ptrdiff_t n, ptrdiff_t n_items,
                                          const double *mins, const double *maxs,
                                          const double *motion, const double *fat, double margin,
                                          double lookahead, double too_big, double *box,
                                          const int *place_of, int *is_changed, int *moved,
                                          ptrdiff_t *n_moved)
{
    ptrdiff_t m = *n_moved;
    for (; n < n_items; ++n) {
        const ptrdiff_t item = (ptrdiff_t)items[n], place = place_of[item];
        int seen;
        if (place < 0)
            break;
        seen = classify(mins, maxs, motion, 2 * item, 0, 1, fat, 4 * item, margin, lookahead,
                        too_big, box, 4 * place, 2);
        if (!(seen & FITS))
            break;
        if (seen & SAME)
            continue;
        is_changed[item] = 1;
        moved[m++] = (int)item;
    }
    *n_moved = m;
    return n;
}

ECS_COLLIDE_INLINE void widen_axes(const double *low, const double *high,
                                   const double *displacement, int swept, double margin,
                                   double lookahead, double share, double *fat, ptrdiff_t dim)
{
    if (margin < 0.0) {
        margin = 0.0;
        for (int k = 0; k < dim; k++) {
            double side = high[k] - low[k];
            side = swept && displacement ? side - fabs(displacement[k]) : side;
            margin = side > margin ? side : margin;
        }
    }
    for (int k = 0; k < dim; k++) {
        const double step = displacement ? displacement[k] : 0.0, length = fabs(step);
        const double growth = share * (2.0 * lookahead * length);
        /* All of it, or nothing, without a branch that would be guessed wrong half of the time. */
        const double ahead = 0.5 * (growth + copysign(growth, step));
        double least = low[k] - margin, top = high[k] + margin;
        if (!swept) {
            least += 0.5 * (step - length);
            top += 0.5 * (step + length);
        }
        fat[k] = least - (growth - ahead);
        fat[dim + k] = top + ahead;
    }
}

/* Write the fat bounds of a box, with a `share` of the growth in the direction of motion. */
static inline void widen(const double *mins, const double *maxs, const double *motion, ptrdiff_t p,
                         int still, int swept, double margin, double lookahead, double share,
                         double *fat, ptrdiff_t q, ptrdiff_t dim)
{
    const double *displacement = still ? NULL : motion + p;

    if (dim == 2)
        widen_axes(mins + p, maxs + p, displacement, swept, margin, lookahead, share, fat + q, 2);
    else
        widen_axes(mins + p, maxs + p, displacement, swept, margin, lookahead, share, fat + q, 3);
}

#endif
