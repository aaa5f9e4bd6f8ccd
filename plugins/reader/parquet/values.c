/* Encodings of values: runs, packed bits, differences. Each reads as many values as it is
 * asked for, so that memory is taken for blocks of rows alone, whatever counts a page claims. */
#include "parquet.h"

/* `width` bits, up to 64, from bit `bit` on, the least significant first; bytes past `bytes`
 * are 0. */
static inline uint64_t bits_at(const uint8_t *from, size_t bytes, uint64_t bit, unsigned width) {
  const size_t at = (size_t)(bit >> 3);
  const unsigned shift = (unsigned)(bit & 7);
  uint64_t low = 0;
  if (at + 9 <= bytes) {
    memcpy(&low, from + at, sizeof low);
    low >>= shift;
    if (shift + width > 64) low |= (uint64_t)from[at + 8] << (64 - shift);
  } else {
    for (unsigned k = 0; k < 9 && at + k < bytes; k++) {
      const uint64_t next = from[at + k];
      if (k == 0)
        low |= next >> shift;
      else if (8 * k - shift < 64)
        low |= next << (8 * k - shift);
    }
  }
  return width >= 64 ? low : low & (((uint64_t)1 << width) - 1);
}

/* Seven bits a byte; false where the bytes end before it does. */
static bool varint(const uint8_t **at, const uint8_t *end, uint64_t *out) {
  *out = 0;
  for (unsigned shift = 0; shift < 64 && *at < end; shift += 7) {
    const uint8_t next = *(*at)++;
    *out |= (uint64_t)(next & 0x7f) << shift;
    if (next < 0x80) return true;
  }
  return false;
}

/* ------------ runs */

/* The head of the next run. Some writers leave out the bytes behind the last values of a
 * packed run. */
static bool next_run(runs *r) {
  uint64_t head;
  if (!varint(&r->at, r->end, &head)) return false;
  const size_t left = (size_t)(r->end - r->at), whole = (r->width + 7) / 8;
  if ((head & 1) == 0) {
    if (left < whole) return false;
    r->repeated = head >> 1;
    r->value = 0;
    for (size_t k = 0; k < whole; k++)
      r->value |= (uint32_t)r->at[k] << (8 * k);
    r->at += whole;
    return true;
  }
  const uint64_t groups = head >> 1;
  if (r->width > 0 && groups > left) {
    r->packed = (uint64_t)left * 8 / r->width;
    r->bytes = left;
  } else {
    const uint64_t bytes = groups * r->width;
    r->packed = bytes > left ? (uint64_t)left * 8 / r->width : groups * 8;
    r->bytes = bytes > left ? left : (size_t)bytes;
  }
  r->bits = r->at;
  r->bit = 0;
  r->at += r->bytes;
  return true;
}

/* Runs may be longer than what is asked for: the rest is kept for the next call. */
bool runs_read(runs *r, uint32_t *out, size_t count) {
  if (r->width > 32) return false;
  for (size_t i = 0; i < count;) {
    if (r->repeated > 0) {
      const size_t many = r->repeated < count - i ? (size_t)r->repeated : count - i;
      for (size_t k = 0; k < many; k++)
        out[i + k] = r->value;
      r->repeated -= many;
      i += many;
    } else if (r->packed > 0) {
      const size_t many = r->packed < count - i ? (size_t)r->packed : count - i;
      for (size_t k = 0; k < many; k++, r->bit += r->width)
        out[i + k] = (uint32_t)bits_at(r->bits, r->bytes, r->bit, r->width);
      r->packed -= many;
      i += many;
    } else if (!next_run(r)) {
      return false;
    }
  }
  return true;
}

/* ------------ differences */

static int64_t unzigzag(uint64_t value) { return (int64_t)(value >> 1) ^ -(int64_t)(value & 1); }

/* The head: the size of blocks, how many miniblocks each has, all values, and the first of
 * them. Sizes that no writer uses are refused, so that a block cannot claim values without
 * bytes. */
bool deltas_begin(deltas *d, const uint8_t *at, const uint8_t *end) {
  uint64_t block, minis, first;
  *d = (deltas){.at = at, .end = end};
  if (!varint(&d->at, end, &block) || !varint(&d->at, end, &minis) ||
      !varint(&d->at, end, &d->total) || !varint(&d->at, end, &first))
    return false;
  if (minis == 0 || minis > 4096 || block > 1u << 24 || block % minis != 0 ||
      block / minis % 8 != 0 || block == 0)
    return false;
  d->minis = d->mini = (size_t)minis;
  d->per_mini = block / minis;
  d->value = unzigzag(first);
  return true;
}

/* The next miniblock: a block begins with the least difference and the widths of its
 * miniblocks. */
static bool next_mini(deltas *d) {
  uint64_t least;
  if (d->mini == d->minis) {
    if (!varint(&d->at, d->end, &least) || (size_t)(d->end - d->at) < d->minis) return false;
    d->least = unzigzag(least);
    d->widths = d->at;
    d->at += d->minis;
    d->mini = 0;
  }
  d->width = d->widths[d->mini++];
  const uint64_t bytes = d->per_mini / 8 * d->width;
  if (d->width > 64 || bytes > (size_t)(d->end - d->at)) return false;
  d->bits = d->at;
  d->bit = 0;
  d->left_in_mini = d->per_mini;
  d->at += bytes;
  return true;
}

/* A value is the one before, plus the least difference of its block, plus its own packed bits;
 * sums wrap around, as the format says. */
bool deltas_read(deltas *d, int64_t *out, size_t count) {
  for (size_t i = 0; i < count; i++) {
    if (d->total == 0) return false;
    d->total--;
    if (d->begun) {
      if (d->left_in_mini == 0 && !next_mini(d)) return false;
      d->left_in_mini--;
      const uint64_t more = bits_at(d->bits, (size_t)(d->at - d->bits), d->bit, d->width);
      d->bit += d->width;
      d->value = (int64_t)((uint64_t)d->value + (uint64_t)d->least + more);
    }
    d->begun = true;
    out[i] = d->value;
  }
  return true;
}

/* What stands behind the numbers, such as the bytes of texts; the last miniblock is whole. */
bool deltas_end(deltas d, const uint8_t **end) {
  uint64_t left = d.total > 0 ? d.total - 1 : 0;
  while (left > 0) {
    if (!next_mini(&d)) return false;
    left -= left < d.per_mini ? left : d.per_mini;
  }
  *end = d.at;
  return true;
}
