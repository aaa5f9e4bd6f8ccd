/* One loop compiled for each instruction set that a machine may have, and the choice between them.
 * A loop that adds in the same order whatever the width of a vector gives the same bits on each. */
#ifndef SCULLERY_SHARED_ISA_H
#define SCULLERY_SHARED_ISA_H

#if defined(__GNUC__)
#define ISA_INLINE static inline __attribute__((always_inline))
#else
#define ISA_INLINE static inline
#endif

#if defined(__GNUC__) && defined(__x86_64__)
#define ISA_AVX2 __attribute__((target("avx2")))
#define ISA_AVX512 __attribute__((target("avx512f")))
/* Of three compilations of one function the widest that runs here. */
#define ISA_CHOOSE(plain, avx2, avx512)                                                            \
  (__builtin_cpu_init(), __builtin_cpu_supports("avx512f") ? (avx512)                              \
                         : __builtin_cpu_supports("avx2")  ? (avx2)                                \
                                                           : (plain))
#else
#define ISA_AVX2
#define ISA_AVX512
#define ISA_CHOOSE(plain, avx2, avx512) (plain)
#endif

#endif
