/* What the compiler at hand can do. */

#ifndef ECS_COLLIDE_INLINE_H
#define ECS_COLLIDE_INLINE_H

#if defined(__SSE2__) || defined(_M_X64)
#include <emmintrin.h>
#define ECS_COLLIDE_SSE2 1
#endif

#if defined(__GNUC__) || defined(__clang__)
#define ECS_COLLIDE_INLINE static inline __attribute__((always_inline))
#elif defined(_MSC_VER)
#define ECS_COLLIDE_INLINE static __forceinline
#else
#define ECS_COLLIDE_INLINE static inline
#endif

/* Prefetch memory that is read soon.  Any address is allowed. */
ECS_COLLIDE_INLINE void fetch(const double *at)
{
#if defined(__GNUC__) || defined(__clang__)
    __builtin_prefetch(at);
#else
    (void)at;
#endif
}

/* Return the index of the lowest set bit; there must be one. */
ECS_COLLIDE_INLINE int lowest(unsigned int mask)
{
#if defined(__GNUC__) || defined(__clang__)
    return __builtin_ctz(mask);
#else
    int lane = 0;
    for (; !(mask & 1); mask >>= 1)
        lane++;
    return lane;
#endif
}

#endif
