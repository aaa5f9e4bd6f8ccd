#include "columns.h"

/* Maps doubles to integers of the same order: a negative number has all its bits inverted, any
 * other its sign bit set. Adding 0 turns -0 into 0, so that the two share one key. */
static uint64_t ordered_bits(double value) {
  const double plain = value + 0.0;
  uint64_t bits;
  memcpy(&bits, &plain, sizeof bits);
  return bits >> 63 ? ~bits : bits | (uint64_t)1 << 63;
}

typedef struct keyed {
  uint64_t key;
  uint32_t row;
} keyed;

/* Radix sort by the bytes of the keys, lowest byte first; a byte that is the same in all keys is
 * skipped. Returns whichever of the two arrays holds the sorted result. */
static keyed *sort_keys(keyed *from, keyed *to, size_t count) {
  for (unsigned shift = 0; shift < 64; shift += 8) {
    size_t start[257] = {0};
    for (size_t i = 0; i < count; i++)
      start[(from[i].key >> shift & 255) + 1]++;
    if (start[(from[0].key >> shift & 255) + 1] == count) continue;
    for (size_t b = 1; b < 257; b++)
      start[b] += start[b - 1];
    for (size_t i = 0; i < count; i++)
      to[start[from[i].key >> shift & 255]++] = from[i];
    keyed *swap = from;
    from = to;
    to = swap;
  }
  return from;
}

/* out->largest is the bin of most rows, the first of equals. The keys are scratch memory of the
 * task, so that only the order and the ends of bins outlive it. */
bool column_order(const scl_host *host, const double *x, size_t count, size_t stride, column *out) {
  keyed *keys = host->scratch(2 * count * sizeof *keys);
  if (keys == NULL) return false;
  for (size_t i = 0; i < count; i++)
    keys[i] = (keyed){ordered_bits(x[i * stride]), (uint32_t)i};
  const keyed *sorted = sort_keys(keys, keys + count, count);
  size_t bins = 1, most = 0;
  for (size_t i = 1; i < count; i++)
    bins += sorted[i].key != sorted[i - 1].key;
  out->order = host->allocate(count * sizeof *out->order);
  out->ends = host->allocate(bins * sizeof *out->ends);
  if (out->order == NULL || out->ends == NULL) return false;
  for (size_t i = 0, start = 0; i < count; i++) {
    out->order[i] = sorted[i].row;
    if (i + 1 < count && sorted[i + 1].key == sorted[i].key) continue;
    if (i + 1 - start > most) {
      most = i + 1 - start;
      out->largest = out->bins;
    }
    out->ends[out->bins++] = (uint32_t)(i + 1);
    start = i + 1;
  }
  return true;
}
