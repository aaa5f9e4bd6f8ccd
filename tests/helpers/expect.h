/* What tests in C share: `failures`, which main() turns into the exit status, calls that must
 * succeed, and random numbers. */
#ifndef SCULLERY_TESTS_EXPECT_H
#define SCULLERY_TESTS_EXPECT_H

#include "base/error.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static int failures;

static inline void expect(bool holds, const char *what, double got, double wanted) {
  if (holds) return;
  failures++;
  (void)fprintf(stderr, "%s: got %.17g, wanted %.17g\n", what, got, wanted);
}

static inline void expect_true(bool holds, const char *what) {
  if (holds) return;
  failures++;
  (void)fprintf(stderr, "%s\n", what);
}

static inline void must(scl_status status, const scl_error *error) {
  if (status == SCL_STATUS_OK) return;
  (void)fprintf(stderr, "%s\n", error->message);
  exit(1);
}

/* Any 64 bits (xorshift, Marsaglia 2003). */
static inline uint64_t chance(void) {
  static uint64_t state = 1;
  state ^= state << 13;
  state ^= state >> 7;
  state ^= state << 17;
  return state;
}

#endif
