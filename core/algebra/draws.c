/* Random matrices and permutations. Called by the Lua interface. */
#include "algebra/draws.h"

#include "base/interrupt.h"
#include "base/pool.h"
#include "base/random.h"
#include <stdlib.h>

typedef struct drawing {
  scl_draw_numbers fill;
  uint64_t seed;
  scl_matrix *out;
} drawing;

enum { ROWS_EACH = 64, AT_ONCE = 256 };

/* Rows [64 index, 64 index + 64), each drawn in pieces that fit on the stack. */
static void draw_matrix_rows(void *context, size_t index) {
  const drawing *d = context;
  const size_t last = scl_min((index + 1) * ROWS_EACH, d->out->rows);
  double piece[AT_ONCE];
  for (size_t i = index * ROWS_EACH; i < last; i++)
    for (size_t first = 0; first < d->out->cols && !scl_interrupted(); first += AT_ONCE) {
      const size_t count = scl_min(AT_ONCE, d->out->cols - first);
      d->fill(d->seed, SCL_STREAM_MATRIX, i, first, count, piece);
      for (size_t j = 0; j < count; j++)
        scl_matrix_set(d->out, i, first + j, piece[j]);
    }
}

void scl_matrix_draw(scl_draw_numbers fill, uint64_t seed, scl_matrix *out) {
  drawing d = {fill, seed, out};
  scl_pool_run_interruptible((out->rows + ROWS_EACH - 1) / ROWS_EACH, draw_matrix_rows, &d);
}

/* After Ctrl-C all keys compare as equal: the rest of the sort takes less than a second. */
static int by_key(const void *a, const void *b) {
  const scl_keyed *x = a, *y = b;
  if (scl_interrupted()) return 0;
  if (x->key != y->key) return x->key < y->key ? -1 : 1;
  return x->place < y->place ? -1 : x->place > y->place;
}

void scl_permute(uint64_t seed, uint64_t stream, size_t count, scl_keyed *list) {
  for (size_t i = 0; i < count && !scl_interrupted(); i++) {
    scl_random_bits(seed, stream, i, 0, 1, &list[i].key);
    list[i].place = i;
  }
  if (!scl_interrupted()) qsort(list, count, sizeof *list, by_key);
}
