/* Draws s of d columns without replacement, for sparse and pooled rows. */
#include "shared/supports.h"

#include "shared/draws.h"

/* Moves the number at `at` down the heap. Heap sort is in place, and O(s log s) in the worst
 * case. */
static void support_sink(int32_t *heap, size_t at, size_t count) {
  const int32_t value = heap[at];
  for (size_t child; (child = 2 * at + 1) < count; at = child) {
    if (child + 1 < count && heap[child + 1] > heap[child]) child++;
    if (heap[child] <= value) break;
    heap[at] = heap[child];
  }
  heap[at] = value;
}

void support_sort(int32_t *columns, size_t count) {
  for (size_t i = count / 2; i-- > 0;)
    support_sink(columns, i, count);
  for (size_t end = count; end-- > 1;) {
    const int32_t largest = columns[0];
    columns[0] = columns[end];
    columns[end] = largest;
    support_sink(columns, 0, end);
  }
}

/* Of many: each column in turn is taken with the chance (still wanted) / (still left). O(d). */
static void support_select(const scl_random *random, scl_address address, uint64_t index,
                           size_t dim, size_t degree, int32_t *out) {
  uint64_t bits[64];
  size_t taken = 0;
  for (size_t j = 0; taken < degree; j++) {
    if (j % 64 == 0)
      random->bits(address.seed, address.stream, index, j, dim - j < 64 ? dim - j : 64, bits);
    if (draw_below(bits[j % 64], (uint32_t)(dim - j)) < degree - taken) out[taken++] = (int32_t)j;
  }
}

/* Of few: the first `degree` different ones of a row of independent columns; the missing ones are
 * drawn anew after equal ones are taken out. O(s log s), whatever d is. */
static void support_collect(const scl_random *random, scl_address address, uint64_t index,
                            size_t dim, size_t degree, int32_t *out) {
  uint64_t bits[64], used = 0;
  for (size_t taken = 0; taken < degree;) {
    for (size_t i = taken; i < degree; i += 64) {
      const size_t count = degree - i < 64 ? degree - i : 64;
      random->bits(address.seed, address.stream, index, used, count, bits);
      used += count;
      for (size_t k = 0; k < count; k++)
        out[i + k] = (int32_t)draw_below(bits[k], (uint32_t)dim);
    }
    support_sort(out, degree);
    taken = degree > 0;
    for (size_t i = 1; i < degree; i++)
      if (out[i] != out[taken - 1]) out[taken++] = out[i];
  }
}

void support_draw(const scl_random *random, scl_address address, uint64_t index, size_t dim,
                  size_t degree, int32_t *out) {
  enum { FEW = 16 };
  if (degree >= dim / FEW)
    support_select(random, address, index, dim, degree, out);
  else
    support_collect(random, address, index, dim, degree, out);
}
