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

/* Have memory at hand that will be looked at soon; any address will do. */
ECS_COLLIDE_INLINE void fetch(const double *at)
{
#if defined(__GNUC__) || defined(__clang__)
    __builtin_prefetch(at);
#else
    (void)at;
#endif
}

#endif
