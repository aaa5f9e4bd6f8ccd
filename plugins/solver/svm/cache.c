/* Kernel values between some of the rows of a problem and all of them, in single precision,
 * within a limit of memory. Eviction approximates least recently used (the clock algorithm): a
 * hand cycles through the slots and evicts the first row not used since the hand last passed. */
#include "svm.h"

void svm_cache_empty(svm_cache *c, size_t width) {
  c->width = width;
  c->slots = c->capacity / width < width ? c->capacity / width : width;
  c->filled = c->hand = 0;
  for (size_t i = 0; i < width; i++)
    c->slot[i] = SIZE_MAX;
}

size_t svm_cache_capacity(size_t width, size_t least, double megabytes) {
  const double all = (double)width * (double)width, wanted = megabytes * 1e6 / sizeof(float),
               some = (double)least * (double)width,
               count = wanted < some  ? some
                       : wanted < all ? wanted
                                      : all;
  return count < 0x1p60 ? (size_t)count : SIZE_MAX / 8;
}

float *svm_cache_find(svm_cache *c, size_t row, size_t turn) {
  const size_t slot = c->slot[row];
  if (slot == SIZE_MAX) return NULL;
  c->used[slot] = turn;
  c->recent[slot] = true;
  return c->values + slot * c->width;
}

float *svm_cache_claim(svm_cache *c, size_t row, size_t turn) {
  size_t slot = c->filled;
  if (slot < c->slots) {
    c->filled++;
  } else {
    while (c->used[c->hand] == turn || c->recent[c->hand]) {
      c->recent[c->hand] = false;
      c->hand = (c->hand + 1) % c->slots;
    }
    slot = c->hand;
    c->hand = (c->hand + 1) % c->slots;
    c->slot[c->row[slot]] = SIZE_MAX;
  }
  c->row[slot] = row;
  c->slot[row] = slot;
  return svm_cache_find(c, row, turn);
}

/* Rows and columns are moved down in place: no number is overwritten before it is read, as `kept`
 * ascends and count <= width. A row is found in `kept` by bisection. */
void svm_cache_keep(svm_cache *c, const size_t *kept, size_t count) {
  const size_t old = c->width;
  size_t filled = 0;
  for (size_t s = 0; s < c->filled; s++) {
    size_t low = 0, high = count;
    while (low < high) {
      const size_t middle = (low + high) / 2;
      if (kept[middle] < c->row[s])
        low = middle + 1;
      else
        high = middle;
    }
    if (low == count || kept[low] != c->row[s]) continue;
    for (size_t j = 0; j < count; j++)
      c->values[filled * count + j] = c->values[s * old + kept[j]];
    c->row[filled] = low;
    c->used[filled] = c->used[s];
    c->recent[filled++] = c->recent[s];
  }
  svm_cache_empty(c, count);
  c->filled = filled;
  for (size_t s = 0; s < filled; s++)
    c->slot[c->row[s]] = s;
}
