/* Paths and bounds of moving bodies in 2D, with x and y side by side in vector instructions.

   `motion/bodies.py` and `sync/reader.py` have loops that compute the same one axis after the other.
   The operations are the same, and so are the bits.  A function stops at the first body that only
   the loop can handle, and returns its place in `rows`. */

#ifndef ECS_COLLIDE_PATHS_H
#define ECS_COLLIDE_PATHS_H

#include <stddef.h>

#include "ecs_collide/broadphase/inline.h"

#ifdef ECS_COLLIDE_SSE2
ECS_COLLIDE_INLINE __m128d ecs_collide_length(__m128d both)
{
    return _mm_andnot_pd(_mm_set1_pd(-0.0), both);
}
#endif

/* Start paths for a step of `dt` seconds, up to a body that grows.  `reach` and `least` widen the
   bounds of a path by its distance from the origin. */
ECS_COLLIDE_INLINE ptrdiff_t start_paths(const long long *rows, ptrdiff_t n_rows,
                                         const double *centres, const double *halves,
                                         const double *velocities, const double *growths,
                                         double *bases, double *motions, double *paths,
                                         double *lows, double *highs, double dt, double reach,
                                         double least, const double *widths, double *farthest)
{
    ptrdiff_t n = 0;
#ifdef ECS_COLLIDE_SSE2
    const __m128d zero = _mm_setzero_pd(), time = _mm_set1_pd(dt);
    const __m128d part = _mm_set1_pd(reach), more = _mm_set1_pd(least);
    const __m128d edge = _mm_mul_pd(part, _mm_loadu_pd(widths)); /* 0 if no axis wraps */
    __m128d most = _mm_set1_pd(*farthest);
    for (; n < n_rows; ++n) {
        const ptrdiff_t to = 2 * (ptrdiff_t)rows[n];
        const __m128d centre = _mm_loadu_pd(centres + to), half = _mm_loadu_pd(halves + to);
        const __m128d motion = _mm_add_pd(_mm_mul_pd(_mm_loadu_pd(velocities + to), time), zero);
        __m128d low = _mm_sub_pd(centre, half), high = _mm_add_pd(centre, half), largest, room;
        if (_mm_movemask_pd(_mm_or_pd(_mm_cmpneq_pd(_mm_loadu_pd(growths + to), zero),
                                      _mm_cmplt_pd(half, zero))))
            break;
        bases[rows[n]] = 0.0;
        _mm_storeu_pd(motions + to, motion);
        _mm_storeu_pd(paths + 4 * to, _mm_unpacklo_pd(centre, half));
        _mm_storeu_pd(paths + 4 * to + 2, _mm_unpacklo_pd(motion, zero));
        _mm_storeu_pd(paths + 4 * to + 4, _mm_unpackhi_pd(centre, half));
        _mm_storeu_pd(paths + 4 * to + 6, _mm_unpackhi_pd(motion, zero));
        low = _mm_min_pd(_mm_add_pd(low, motion), low);
        high = _mm_max_pd(_mm_add_pd(high, motion), high);
        largest = _mm_max_pd(ecs_collide_length(high), ecs_collide_length(low));
        room = _mm_add_pd(_mm_mul_pd(part, largest), more);
        _mm_storeu_pd(lows + to, _mm_sub_pd(_mm_sub_pd(low, room), edge));
        _mm_storeu_pd(highs + to, _mm_add_pd(_mm_add_pd(high, room), edge));
        most = _mm_max_pd(largest, most);
    }
    most = _mm_max_pd(_mm_unpackhi_pd(most, most), most);
    *farthest = _mm_cvtsd_f64(most);
#endif
    return n;
}

/* Move bodies to the ends of their paths; note in `rests` which of them have not moved. */
ECS_COLLIDE_INLINE ptrdiff_t finish_paths(const long long *rows, ptrdiff_t n_rows,
                                          double *centres, double *halves, double *bases,
                                          double *paths, signed char *interrupted,
                                          signed char *rest_count, int most)
{
    ptrdiff_t n = 0;
#ifdef ECS_COLLIDE_SSE2
    const __m128d zero = _mm_setzero_pd(), floor = _mm_set_pd(0.0, -INFINITY);
    for (; n < n_rows; ++n) {
        const ptrdiff_t i = (ptrdiff_t)rows[n];
        double *path = paths + 8 * i;
        const __m128d elapsed = _mm_set1_pd(1.0 - bases[i]);
        const __m128d way_x = _mm_loadu_pd(path + 2), way_y = _mm_loadu_pd(path + 6);
        const __m128d x = _mm_max_pd(_mm_add_pd(_mm_add_pd(_mm_loadu_pd(path),
                                                           _mm_mul_pd(way_x, elapsed)), zero), floor);
        const __m128d y = _mm_max_pd(_mm_add_pd(_mm_add_pd(_mm_loadu_pd(path + 4),
                                                           _mm_mul_pd(way_y, elapsed)), zero), floor);
        const int moves = _mm_movemask_pd(_mm_or_pd(_mm_cmpneq_pd(way_x, zero),
                                                    _mm_cmpneq_pd(way_y, zero)));
        bases[i] = 1.0;
        _mm_storeu_pd(path, x);
        _mm_storeu_pd(path + 4, y);
        _mm_storeu_pd(centres + 2 * i, _mm_unpacklo_pd(x, y));
        _mm_storeu_pd(halves + 2 * i, _mm_unpackhi_pd(x, y));
        if (moves | interrupted[i]) {
            rest_count[i] = interrupted[i] = 0;
        } else if (rest_count[i] < most) {
            ++rest_count[i];
        }
    }
#endif
    return n;
}

/* Compute tight boxes, up to a body that is beyond `limit` or as fast. */
ECS_COLLIDE_INLINE ptrdiff_t find_boxes(const long long *rows, ptrdiff_t n_rows,
                                        const double *centres, double *halves,
                                        const double *seen_halves, const double *velocities,
                                        double *lows, double *highs, double limit)
{
    ptrdiff_t n = 0;
#ifdef ECS_COLLIDE_SSE2
    const __m128d zero = _mm_setzero_pd(), far = _mm_set1_pd(limit);
    for (; n < n_rows; ++n) {
        const ptrdiff_t to = 2 * (ptrdiff_t)rows[n];
        const __m128d centre = _mm_loadu_pd(centres + to), before = _mm_loadu_pd(halves + to);
        const __m128d none = _mm_cmpeq_pd(before, zero);
        const __m128d half = _mm_or_pd(_mm_andnot_pd(none, before),
                                       _mm_and_pd(none, _mm_loadu_pd(seen_halves + to)));
        const __m128d low = _mm_sub_pd(centre, half), high = _mm_add_pd(centre, half);
        const __m128d speed = ecs_collide_length(_mm_loadu_pd(velocities + to));
        const __m128d near = _mm_and_pd(
            _mm_cmple_pd(speed, far),
            _mm_and_pd(_mm_cmpge_pd(low, _mm_set1_pd(-limit)), _mm_cmple_pd(high, far)));
        if (_mm_movemask_pd(near) != 3)
            break;
        _mm_storeu_pd(halves + to, half);
        _mm_storeu_pd(lows + to, low);
        _mm_storeu_pd(highs + to, high);
    }
#endif
    return n;
}

#endif
