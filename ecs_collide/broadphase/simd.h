/* Eight boxes side by side: which of them touch one, by vector instructions.

   A node keeps the bounds of its eight children twice.  The *boxes* are exact: for each
   child dim minima, then dim maxima, in double precision.  The *lanes* are the same in single
   precision, relative to the *origin* of the node, side by side: for each axis eight minima,
   then eight maxima.

   Rounding keeps order: from x <= y follows round(x - origin) <= round(y - origin).  So if two
   boxes touch, the rounded ones do too, at any place and of any size.  The caller compares the
   exact boxes of the children found. */

#ifndef ECS_COLLIDE_LANES_H
#define ECS_COLLIDE_LANES_H

#include <math.h>
#include <stddef.h>

#include "inline.h"

enum {
    WIDTH = 8,       /* children of a node */
    PENDING = 1,     /* the place of a child that is being inserted */
    ALL_LANES = 0xFF /* a bit for each child */
};

ECS_COLLIDE_INLINE int lowest_of_64(unsigned long long mask)
{
#if defined(__GNUC__) || defined(__clang__)
    return __builtin_ctzll(mask);
#else
    const unsigned int low = (unsigned int)mask;
    return low ? lowest(low) : 32 + lowest((unsigned int)(mask >> 32));
#endif
}

#ifdef ECS_COLLIDE_SSE2
/* Which of four lanes have a minimum <= high and a maximum >= low, on one axis. */
ECS_COLLIDE_INLINE __m128 ecs_collide_within(const float *lanes, __m128 low, __m128 high)
{
    return _mm_and_ps(_mm_cmple_ps(_mm_loadu_ps(lanes), high),
                      _mm_cmpge_ps(_mm_loadu_ps(lanes + 8), low));
}

/* All four numbers of a vector the one at `i`. */
#define ECS_COLLIDE_ALL(vector, i) _mm_shuffle_ps(vector, vector, 0x55 * (i))
#else
/* One bit for each of eight lanes whose minimum is <= high and whose maximum is >= low.  Without a
   branch, and with a mask for each lane, compilers compare the lanes side by side. */
ECS_COLLIDE_INLINE unsigned int ecs_collide_within(const float *lanes, float low, float high)
{
    static const int bits[8] = {1, 2, 4, 8, 16, 32, 64, 128};
    int found = 0;
    for (int lane = 0; lane < 8; lane++)
        found |= -((lanes[lane] <= high) & (lanes[8 + lane] >= low)) & bits[lane];
    return (unsigned int)found;
}
#endif

/* One bit for each child of a node whose box touches the box at place `at` of `others`. */
ECS_COLLIDE_INLINE unsigned int touching(const float *lanes, const double *origins,
                                         const double *boxes, int node, const double *others,
                                         ptrdiff_t at, ptrdiff_t dim)
{
    const double *origin = origins + dim * node;
    const double *other = others + at;
    (void)boxes;

    lanes += 16 * dim * node;
#ifdef ECS_COLLIDE_SSE2
    const __m128d corner = _mm_loadu_pd(origin);
    const __m128 low = _mm_cvtpd_ps(_mm_sub_pd(_mm_loadu_pd(other), corner));
    const __m128 high = _mm_cvtpd_ps(_mm_sub_pd(_mm_loadu_pd(other + dim), corner));
    const __m128 low_x = ECS_COLLIDE_ALL(low, 0), low_y = ECS_COLLIDE_ALL(low, 1);
    const __m128 high_x = ECS_COLLIDE_ALL(high, 0), high_y = ECS_COLLIDE_ALL(high, 1);
    __m128 first = _mm_and_ps(ecs_collide_within(lanes, low_x, high_x),
                              ecs_collide_within(lanes + 16, low_y, high_y));
    __m128 second = _mm_and_ps(ecs_collide_within(lanes + 4, low_x, high_x),
                               ecs_collide_within(lanes + 20, low_y, high_y));
    if (dim == 3) {
        const __m128 z = _mm_cvtpd_ps(_mm_sub_pd(_mm_set_pd(other[5], other[2]),
                                                 _mm_set1_pd(origin[2])));
        const __m128 low_z = ECS_COLLIDE_ALL(z, 0), high_z = ECS_COLLIDE_ALL(z, 1);
        first = _mm_and_ps(first, ecs_collide_within(lanes + 32, low_z, high_z));
        second = _mm_and_ps(second, ecs_collide_within(lanes + 36, low_z, high_z));
    }
    return (unsigned int)(_mm_movemask_ps(first) | _mm_movemask_ps(second) << 4);
#else
    unsigned int found = ecs_collide_within(lanes, (float)(other[0] - origin[0]),
                                            (float)(other[dim] - origin[0]));
    found &= ecs_collide_within(lanes + 16, (float)(other[1] - origin[1]),
                                (float)(other[dim + 1] - origin[1]));
    if (dim == 3)
        found &= ecs_collide_within(lanes + 32, (float)(other[2] - origin[2]),
                                    (float)(other[5] - origin[2]));
    return found;
#endif
}

ECS_COLLIDE_INLINE unsigned long long ecs_collide_pairs(
    const double *boxes, int node, unsigned int mask, const float *lanes2,
    const double *origins2, const double *boxes2, int node2, ptrdiff_t dim)
{
    unsigned long long found = 0;

    boxes += 16 * dim * node;
    for (; mask; mask &= mask - 1) {
        const int lane = lowest(mask);
        found |= (unsigned long long)touching(lanes2, origins2, boxes2, node2, boxes,
                                              2 * dim * lane, dim) << 8 * lane;
    }
    return found;
}

/* The children of two nodes that touch: bit 8 * i + j for child i of the first, one of `mask`,
   and child j of the second.  No branch depends on what is found. */
ECS_COLLIDE_INLINE unsigned long long touching_pairs(
    const double *boxes, int node, unsigned int mask, const float *lanes2,
    const double *origins2, const double *boxes2, int node2, ptrdiff_t dim)
{
    return dim == 2 ? ecs_collide_pairs(boxes, node, mask, lanes2, origins2, boxes2, node2, 2)
                    : ecs_collide_pairs(boxes, node, mask, lanes2, origins2, boxes2, node2, 3);
}

/* The later children of a node that child `lane` touches, as a byte of `touching_above`. */
ECS_COLLIDE_INLINE unsigned long long ecs_collide_later(const float *lanes, int lane,
                                                        ptrdiff_t dim)
{
    unsigned int found = ALL_LANES & ALL_LANES << (lane + 1);
#ifdef ECS_COLLIDE_SSE2
    __m128 first = _mm_setzero_ps(), second;
    first = second = _mm_cmpeq_ps(first, first);
    for (int k = 0; k < dim; k++) {
        const float *axis = lanes + 16 * k;
        const __m128 low = _mm_load1_ps(axis + lane), high = _mm_load1_ps(axis + 8 + lane);
        if (lane < 3)
            first = _mm_and_ps(first, ecs_collide_within(axis, low, high));
        second = _mm_and_ps(second, ecs_collide_within(axis + 4, low, high));
    }
    if (lane < 3)
        found &= (unsigned int)(_mm_movemask_ps(first) | _mm_movemask_ps(second) << 4);
    else
        found &= (unsigned int)_mm_movemask_ps(second) << 4;
#else
    for (int k = 0; k < dim; k++)
        found &= ecs_collide_within(lanes + 16 * k, lanes[16 * k + lane], lanes[16 * k + 8 + lane]);
#endif
    return (unsigned long long)found << 8 * lane;
}

ECS_COLLIDE_INLINE unsigned long long ecs_collide_above(const float *lanes, ptrdiff_t dim)
{
    return ecs_collide_later(lanes, 0, dim) | ecs_collide_later(lanes, 1, dim)
           | ecs_collide_later(lanes, 2, dim) | ecs_collide_later(lanes, 3, dim)
           | ecs_collide_later(lanes, 4, dim) | ecs_collide_later(lanes, 5, dim)
           | ecs_collide_later(lanes, 6, dim);
}

/* The same for a node with itself, each child with the later ones. */
ECS_COLLIDE_INLINE unsigned long long touching_above(const double *boxes, int node,
                                                     unsigned int mask, const float *lanes,
                                                     ptrdiff_t dim)
{
    (void)boxes;
    (void)mask;
    return dim == 2 ? ecs_collide_above(lanes + 32 * node, 2)
                    : ecs_collide_above(lanes + 48 * node, 3);
}

/* Whether the exact boxes at two places share a point. */
ECS_COLLIDE_INLINE int touch(const double *boxes, ptrdiff_t p, const double *boxes2, ptrdiff_t q,
                             ptrdiff_t dim)
{
    const double *one = boxes + p, *other = boxes2 + q;

#ifdef ECS_COLLIDE_SSE2
    if (dim == 2)
        return _mm_movemask_pd(_mm_and_pd(
                   _mm_cmple_pd(_mm_loadu_pd(one), _mm_loadu_pd(other + 2)),
                   _mm_cmple_pd(_mm_loadu_pd(other), _mm_loadu_pd(one + 2)))) == 3;
#endif
    /* No branch: it would be guessed wrong. */
    return (one[0] <= other[dim]) & (one[dim] >= other[0]) & (one[1] <= other[dim + 1]) &
           (one[dim + 1] >= other[1]) &
           (dim == 2 || ((one[2] <= other[5]) & (one[5] >= other[2])));
}

ECS_COLLIDE_INLINE int ecs_collide_fill(float *lanes, double *origin, double *own, int count,
                                        double *bounds, ptrdiff_t dim)
{
    double least[3], most[3];
    int changed = 0;

    for (int k = 0; k < dim; k++) {
        least[k] = own[k];
        most[k] = own[dim + k];
    }
    for (int lane = 1; lane < count; lane++) {
        const double *box = own + 2 * dim * lane;
        for (int k = 0; k < dim; k++) {
            least[k] = box[k] < least[k] ? box[k] : least[k];
            most[k] = box[dim + k] > most[k] ? box[dim + k] : most[k];
        }
    }
    for (ptrdiff_t i = 2 * dim * count; i < 16 * dim; i++)
        own[i] = NAN;
    for (int k = 0; k < dim; k++) {
        changed |= (bounds[k] != least[k]) | (bounds[dim + k] != most[k]);
        bounds[k] = origin[k] = least[k];
        bounds[dim + k] = most[k];
        for (int lane = 0; lane < WIDTH; lane++) {
            const double *box = own + 2 * dim * lane;
            lanes[16 * k + lane] = (float)(box[k] - least[k]);
            lanes[16 * k + 8 + lane] = (float)(box[dim + k] - least[k]);
        }
    }
    return changed;
}

#ifdef ECS_COLLIDE_SSE2
/* Write the lanes of four corners in 2D, which are 4 numbers apart: four x, 16 lanes later four y. */
ECS_COLLIDE_INLINE void ecs_collide_lay(const double *corners, __m128d origin, float *lanes)
{
    const __m128 one = _mm_cvtpd_ps(_mm_sub_pd(_mm_loadu_pd(corners), origin));
    const __m128 two = _mm_cvtpd_ps(_mm_sub_pd(_mm_loadu_pd(corners + 4), origin));
    const __m128 three = _mm_cvtpd_ps(_mm_sub_pd(_mm_loadu_pd(corners + 8), origin));
    const __m128 four = _mm_cvtpd_ps(_mm_sub_pd(_mm_loadu_pd(corners + 12), origin));
    const __m128 low = _mm_movelh_ps(one, two), high = _mm_movelh_ps(three, four);

    _mm_storeu_ps(lanes, _mm_shuffle_ps(low, high, 0x88));
    _mm_storeu_ps(lanes + 16, _mm_shuffle_ps(low, high, 0xDD));
}

/* The same as `ecs_collide_fill` in 2D, both axes side by side. */
ECS_COLLIDE_INLINE int ecs_collide_fill_2(float *lanes, double *origin, double *own, int count,
                                          double *bounds)
{
    const __m128d none = _mm_set1_pd(NAN);
    __m128d least = _mm_loadu_pd(own), most = _mm_loadu_pd(own + 2), differs;

    for (int lane = 1; lane < count; lane++) {
        least = _mm_min_pd(_mm_loadu_pd(own + 4 * lane), least);
        most = _mm_max_pd(_mm_loadu_pd(own + 4 * lane + 2), most);
    }
    for (int lane = count; lane < WIDTH; lane++) {
        _mm_storeu_pd(own + 4 * lane, none);
        _mm_storeu_pd(own + 4 * lane + 2, none);
    }
    differs = _mm_or_pd(_mm_cmpneq_pd(_mm_loadu_pd(bounds), least),
                        _mm_cmpneq_pd(_mm_loadu_pd(bounds + 2), most));
    _mm_storeu_pd(bounds, least);
    _mm_storeu_pd(bounds + 2, most);
    _mm_storeu_pd(origin, least);
    ecs_collide_lay(own, least, lanes);
    ecs_collide_lay(own + 16, least, lanes + 4);
    ecs_collide_lay(own + 2, least, lanes + 8);
    ecs_collide_lay(own + 18, least, lanes + 12);
    return _mm_movemask_pd(differs) != 0;
}
#endif

/* Write the lanes of a node with `count` children, and its own bounds to place `at` of `boxes`.
   Tell whether these have changed.  Places that hold no child get boxes of nan, which touch
   nothing. */
ECS_COLLIDE_INLINE int fill(float *lanes, double *origins, double *boxes, int node,
                            int count, ptrdiff_t at, ptrdiff_t dim)
{
    double *own = boxes + 16 * dim * node;

    lanes += 16 * dim * node;
#ifdef ECS_COLLIDE_SSE2
    if (dim == 2)
        return ecs_collide_fill_2(lanes, origins + 2 * node, own, count, boxes + at);
#else
    if (dim == 2)
        return ecs_collide_fill(lanes, origins + 2 * node, own, count, boxes + at, 2);
#endif
    return ecs_collide_fill(lanes, origins + 3 * node, own, count, boxes + at, 3);
}

#endif
