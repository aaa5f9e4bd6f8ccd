/* Loops that are compiled once for each instruction set, some also for each number type. The
 * widest set of the machine is chosen when they are called, or a narrower one that SCULLERY_ISA
 * names. */
#ifndef SCULLERY_SHARED_ISA_H
#define SCULLERY_SHARED_ISA_H

#include <stdlib.h>
#include <string.h>

#if defined(__GNUC__)
#define ISA_INLINE static inline __attribute__((always_inline))
#else
#define ISA_INLINE static inline
#endif

/* ISA_EACH: DEFINE(target, isa, real, dtype) for every instruction set and type, which defines
 * NAME_dtype_isa with the attribute `target`; wide says the target of AVX-512.
 * ISA_CHOOSE: the function of that name to call.
 * ISA_EACH_SET and ISA_CHOOSE_SET: the same for loops of one type, DEFINE(target, isa) and
 * NAME_isa. */
#define ISA_BOTH(DEFINE, target, isa) \
  DEFINE(target, isa, double, f64) \
  DEFINE(target, isa, float, f32)
#define ISA_OF(NAME, isa, single) ((single) ? NAME##_f32_##isa : NAME##_f64_##isa)
#if defined(__GNUC__) && defined(__x86_64__)
#define ISA_EACH(DEFINE, wide) \
  ISA_BOTH(DEFINE, , plain) \
  ISA_BOTH(DEFINE, __attribute__((target("avx2"))), avx2) \
  ISA_BOTH(DEFINE, __attribute__((target(wide))), avx512)
#define ISA_EACH_SET(DEFINE, wide) \
  DEFINE(, plain) \
  DEFINE(__attribute__((target("avx2"))), avx2) \
  DEFINE(__attribute__((target(wide))), avx512)
#define ISA_CHOOSE(NAME, single) \
  (__builtin_cpu_supports("avx512f") && isa_most() >= 2 ? ISA_OF(NAME, avx512, single) \
   : __builtin_cpu_supports("avx2") && isa_most() >= 1  ? ISA_OF(NAME, avx2, single) \
                                                        : ISA_OF(NAME, plain, single))
#define ISA_CHOOSE_SET(NAME) \
  (__builtin_cpu_supports("avx512f") && isa_most() >= 2 ? NAME##_avx512 \
   : __builtin_cpu_supports("avx2") && isa_most() >= 1  ? NAME##_avx2 \
                                                        : NAME##_plain)

/* 0: plain, 1: AVX2, 2: AVX-512 */
static inline int isa_most(void) {
  const char *asked = getenv("SCULLERY_ISA");
  if (asked == NULL) return 2;
  return strcmp(asked, "plain") == 0 ? 0 : strcmp(asked, "avx2") == 0 ? 1 : 2;
}
#else
#define ISA_EACH(DEFINE, wide) ISA_BOTH(DEFINE, , plain)
#define ISA_CHOOSE(NAME, single) ISA_OF(NAME, plain, single)
#define ISA_EACH_SET(DEFINE, wide) DEFINE(, plain)
#define ISA_CHOOSE_SET(NAME) NAME##_plain
#endif

#endif
