/* Multisets of row fingerprints, as sorted arrays. */
#include "rows/flow.h"

#include <stdlib.h>
#include <string.h>

void scl_fingerprints_release(scl_fingerprints *f) {
  scl_release(f->values);
  *f = (scl_fingerprints){0};
}

scl_status scl_fingerprints_add(scl_fingerprints *f, uint64_t value, scl_error *error) {
  uint64_t *values = scl_grow(f->values, f->count, &f->room, sizeof *values);
  if (values == NULL) return scl_fail_memory(error, 2 * f->room * sizeof *values, "fingerprints");
  f->values = values;
  f->values[f->count++] = value;
  f->sorted = f->count < 2;
  return SCL_STATUS_OK;
}

/* The finaliser of SplitMix64 (Steele, Lea and Flood 2014). */
static uint64_t mix_bits(uint64_t h) {
  h = (h ^ h >> 30) * 0xbf58476d1ce4e5b9u;
  h = (h ^ h >> 27) * 0x94d049bb133111ebu;
  return h ^ h >> 31;
}

/* Zeros are left out, so that sparse rows have the fingerprints of dense ones. */
static uint64_t add_number(uint64_t h, size_t place, double number) {
  uint64_t bits;
  if (number == 0) return h;
  memcpy(&bits, &number, sizeof bits);
  return mix_bits((h + place) ^ bits) + 0x9e3779b97f4a7c15u;
}

uint64_t scl_fingerprint_of(uint64_t before, scl_dtype dtype, const void *numbers, size_t count) {
  uint64_t h = mix_bits(before + count * 0x9e3779b97f4a7c15u);
  for (size_t i = 0; i < count; i++)
    h = add_number(h, i, scl_number(numbers, dtype, i));
  return h;
}

uint64_t scl_fingerprint_of_csr(uint64_t before, const scl_csr *rows, size_t row) {
  uint64_t h = mix_bits(before + rows->cols * 0x9e3779b97f4a7c15u);
  for (int64_t k = rows->starts[row]; k < rows->starts[row + 1]; k++)
    h = add_number(h, (size_t)rows->columns[k], scl_csr_value(rows, k));
  return h;
}

/* Rows whose fingerprints are made side by side: each number waits for the one before it in its row,
 * which takes longer than the arithmetic. */
enum { ABREAST = 4 };

/* The scl_fingerprint_of ABREAST dense rows. */
static void print_abreast(scl_dtype dtype, const void *x, ptrdiff_t stride, size_t count,
                          uint64_t *prints) {
  uint64_t h[ABREAST];
  for (size_t r = 0; r < ABREAST; r++)
    h[r] = mix_bits(count * 0x9e3779b97f4a7c15u);
  for (size_t i = 0; i < count; i++)
    for (size_t r = 0; r < ABREAST; r++) {
      const double number = scl_number(x, dtype, r * (size_t)stride + i);
      const uint64_t next = add_number(h[r], i, number == 0 ? 1 : number);
      h[r] = number == 0 ? h[r] : next; /* without a branch */
    }
  memcpy(prints, h, sizeof h);
}

void scl_flow_fingerprints(const scl_flow *flow, const scl_flow_block *block, size_t first,
                           size_t count, uint64_t *prints) {
  const size_t c = flow->source->targets, cols = scl_flow_cols(flow);
  for (size_t k = 0, some; k < count; k += some) {
    const void *x = block->csr == NULL
                        ? scl_at(block->x, flow->dtype, (ptrdiff_t)(first + k) * block->x_stride)
                        : NULL;
    some = x != NULL && count - k >= ABREAST ? ABREAST : 1;
    if (some == ABREAST)
      print_abreast(flow->dtype, x, block->x_stride, cols, prints + k);
    else
      prints[k] = x != NULL ? scl_fingerprint_of(0, flow->dtype, x, cols)
                            : scl_fingerprint_of_csr(0, block->csr, first + k);
  }
  for (size_t k = 0; k < count; k++) {
    const double weight = scl_flow_weight(block, first + k);
    if (c > 0)
      prints[k] = scl_fingerprint_of(prints[k], SCL_DTYPE_FLOAT64, block->y + (first + k) * c, c);
    prints[k] = scl_fingerprint_of(prints[k], SCL_DTYPE_FLOAT64, &weight, 1);
  }
}

/* Order of qsort. */
static int by_value(const void *a, const void *b) {
  const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
  return (x > y) - (x < y);
}

void scl_fingerprints_sort(scl_fingerprints *f) {
  if (!f->sorted && f->count > 1) qsort(f->values, f->count, sizeof *f->values, by_value);
  f->sorted = true;
}

size_t scl_fingerprints_common(scl_fingerprints *all, scl_fingerprints *some) {
  size_t i = 0, common = 0;
  scl_fingerprints_sort(all);
  scl_fingerprints_sort(some);
  for (size_t j = 0; j < some->count && i < all->count; j++) {
    while (i < all->count && all->values[i] < some->values[j])
      i++;
    if (i == all->count || all->values[i] != some->values[j]) continue;
    common++;
    i++;
  }
  return common;
}

scl_status scl_fingerprints_join(scl_fingerprints *into, const scl_fingerprints *from,
                                 scl_error *error) {
  for (size_t i = 0; i < from->count; i++)
    SCL_TRY(scl_fingerprints_add(into, from->values[i], error));
  return SCL_STATUS_OK;
}

void scl_fingerprints_remove(scl_fingerprints *all, scl_fingerprints *from) {
  size_t kept = 0, j = 0;
  scl_fingerprints_sort(all);
  scl_fingerprints_sort(from);
  for (size_t i = 0; i < all->count; i++) {
    while (j < from->count && from->values[j] < all->values[i])
      j++;
    if (j < from->count && from->values[j] == all->values[i])
      j++;
    else
      all->values[kept++] = all->values[i];
  }
  all->count = kept;
}
