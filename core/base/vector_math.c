#define _POSIX_C_SOURCE 200809L
/* The choice of the table of loops for this machine. */
#include "base/loops.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

extern const scl_loops scl_loops_plain;
#ifdef SCL_HAVE_AVX512
extern const scl_loops scl_loops_avx512;
#endif
#ifdef SCL_HAVE_AVX2
extern const scl_loops scl_loops_avx2;
#endif

static const scl_loops *tables[4],
    *chosen; /* tables: those of this machine, best first, then NULL */
static pthread_once_t once = PTHREAD_ONCE_INIT;

/* Called once. A table needs all instruction sets that its code is compiled for. */
static void choose_tables(void) {
  size_t count = 0;
#ifdef SCL_HAVE_AVX512
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
      __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl"))
    tables[count++] = &scl_loops_avx512;
#endif
#ifdef SCL_HAVE_AVX2
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
    tables[count++] = &scl_loops_avx2;
#endif
  tables[count] = &scl_loops_plain;
  const char *asked = getenv("SCULLERY_ISA");
  chosen = tables[0];
  for (size_t i = 0; asked != NULL && tables[i] != NULL; i++)
    if (strcmp(tables[i]->name, asked) == 0) chosen = tables[i];
}

const scl_loops *const *scl_loops_all(void) {
  pthread_once(&once, choose_tables);
  return tables;
}

/* The order of the instruction sets: plain 0, avx2 1, avx512 2. */
static int set_rank(const char *set) {
  return strcmp(set, "avx512") == 0 ? 2 : strcmp(set, "avx2") == 0;
}

bool scl_loops_allow(const char *set) {
  const char *asked = getenv("SCULLERY_ISA");
  return asked == NULL || *asked == 0 || set_rank(set) <= set_rank(asked);
}

const scl_loops *scl_loops_get(void) {
  pthread_once(&once, choose_tables);
  return chosen;
}
