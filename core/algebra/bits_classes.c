/* B'r where each column of r takes at most two values, low and high. With the column of bits that
 * marks where r is high, and a column of ones,
 *
 *   sum b_t r = low (c_t - n_t) + high n_t,
 *
 * n_t the number of rows where both bits are 1, and c_t that of rows where feature t is 1. */
#include "algebra/bits.h"
#include "algebra/bits_count.h"
#include "base/pool.h"
#include <string.h>

enum { EIGHT = SCL_BITS_COLUMNS, TASK_GROUPS = 16, MOST_WORDS = 32, MOST_WIDENED = 2 };

typedef struct correlating {
  const scl_bits *bits;
  const scl_bits_counter *counter;
  size_t first, words;    /* the words of `bits` that have the rows */
  scl_bits high;          /* k columns that mark where r is high, then a column of ones */
  const uint64_t **right; /* the groups of eight of `high` in the form that the counter takes */
  uint64_t *room;         /* memory of widened groups */
  const double *values;   /* low and high of each column */
  size_t k, stride;
  double factor, *out;
} correlating;

/* ------------ the columns of r as bits */

/* values[2 j] <= values[2 j + 1] = the two values of column j of r (rows x k); equal if there is
 * one. False: a column has more. */
static bool two_values(const double *r, size_t rows, size_t k, double *values) {
  for (size_t j = 0; j < k; j++)
    values[2 * j] = values[2 * j + 1] = r[j];
  for (size_t i = 0; i < rows; i++, r += k)
    for (size_t j = 0; j < k; j++) {
      if (r[j] == values[2 * j] || r[j] == values[2 * j + 1]) continue;
      if (values[2 * j] != values[2 * j + 1]) return false;
      values[2 * j + (r[j] > values[2 * j])] = r[j];
    }
  return true;
}

/* Set the bits of `high`, at the same positions in their words as the rows of the features. */
static void mark_high(const correlating *c, const double *r, size_t before, size_t rows) {
  for (size_t i = 0; i < rows; i++, r += c->k) {
    const size_t word = (before + i) / SCL_BITS_ROWS;
    const unsigned row = (before + i) % SCL_BITS_ROWS;
    for (size_t j = 0; j <= c->k; j++)
      *scl_bits_at(&c->high, j, word) |= (uint64_t)(j == c->k || r[j] == c->values[2 * j + 1])
                                         << row;
  }
}

/* Set c->right: the groups of `high`, widened if the counter needs that. */
static void make_ready(correlating *c) {
  const size_t groups = scl_bits_groups(c->k + 1);
  for (size_t q = 0; q < groups; q++) {
    const uint64_t *from = scl_bits_at(&c->high, q * EIGHT, 0);
    c->right[q] = from;
    if (c->counter->widened == 0) continue;
    uint64_t *to = c->room + q * c->words * c->counter->widened * EIGHT;
    c->counter->widen(c->words, from, to);
    c->right[q] = to;
  }
}

/* ------------ eight features */

/* counts (8 x cols) of the common bits of eight features and all columns of r, in pieces of at
 * most as many words as the counter takes. */
static void count_group(const correlating *c, size_t group, uint32_t *counts) {
  const size_t most = c->counter->most == 0 ? c->words : c->counter->most,
               wide = c->counter->widened == 0 ? 1 : c->counter->widened,
               cols = scl_bits_groups(c->k + 1) * EIGHT;
  uint64_t room[MOST_WORDS * MOST_WIDENED * EIGHT];
  for (size_t at = 0; at < c->words; at += most) {
    const size_t words = scl_min(most, c->words - at);
    const uint64_t *left = scl_bits_at(c->bits, group * EIGHT, c->first + at);
    if (c->counter->widened > 0) {
      c->counter->widen(words, left, room);
      left = room;
    }
    for (size_t q = 0; q < cols; q += EIGHT)
      c->counter->count(words, left, c->right[q / EIGHT] + at * wide * EIGHT, counts + q, cols);
  }
}

/* A task of the pool: adds B'r of TASK_GROUPS groups of features to out. Column k of the counts
 * is c_t, as the last column of `high` is all ones. */
static scl_status add_groups(void *context, size_t index, scl_error *error) {
  const correlating *c = context;
  const size_t k = c->k, cols = scl_bits_groups(k + 1) * EIGHT, numbers = EIGHT * cols,
               end = scl_min((index + 1) * TASK_GROUPS, scl_bits_groups(c->bits->columns));
  uint32_t *counts = scl_allocate_array(numbers, sizeof *counts);
  if (counts == NULL) return scl_fail_memory(error, numbers * sizeof *counts, "counts of classes");
  for (size_t g = index * TASK_GROUPS; g < end; g++) {
    memset(counts, 0, numbers * sizeof *counts);
    count_group(c, g, counts);
    for (size_t j = g * EIGHT; j < scl_min((g + 1) * EIGHT, c->bits->columns); j++) {
      const uint32_t *of = counts + j % EIGHT * cols;
      for (size_t q = 0; q < k; q++)
        c->out[j * c->stride + q] += c->factor * (c->values[2 * q] * (double)(of[k] - of[q]) +
                                                  c->values[2 * q + 1] * (double)of[q]);
    }
  }
  scl_release(counts);
  return SCL_STATUS_OK;
}

/* ------------ the whole */

/* Forms the columns of r as bits and adds B'r. Releases their memory also after a failure. */
static scl_status correlate(correlating *c, const double *r, size_t before, size_t rows,
                            scl_error *error) {
  const size_t groups = scl_bits_groups(c->k + 1),
               room = groups * c->words * c->counter->widened * EIGHT;
  c->right = scl_allocate_array(groups, sizeof *c->right);
  c->room = scl_allocate_array(room + 1, sizeof *c->room);
  scl_status status = scl_bits_create(c->k + 1, c->words * SCL_BITS_ROWS, &c->high, error);
  if (status == SCL_STATUS_OK && (c->right == NULL || c->room == NULL))
    status = scl_fail_memory(error, room * sizeof *c->room, "classes as bits");
  if (status == SCL_STATUS_OK) {
    mark_high(c, r, before, rows);
    make_ready(c);
    status = scl_pool_try((scl_bits_groups(c->bits->columns) + TASK_GROUPS - 1) / TASK_GROUPS,
                          add_groups, c, error);
  }
  scl_bits_release(&c->high);
  scl_release((void *)c->right);
  scl_release(c->room);
  return status;
}

scl_status scl_bits_adjoint_of_two(const scl_bits *bits, size_t start, size_t rows, const double *r,
                                   size_t k, double factor, double *out, size_t stride, bool *taken,
                                   scl_error *error) {
  const size_t before = start % SCL_BITS_ROWS;
  correlating c = {.bits = bits,
                   .counter = scl_bits_counter_get(),
                   .first = start / SCL_BITS_ROWS,
                   .words = scl_bits_words(before + rows),
                   .k = k,
                   .stride = stride,
                   .factor = factor,
                   .out = out};
  *taken = true;
  if (rows == 0 || k == 0) return SCL_STATUS_OK;
  double *values = scl_allocate_array(2 * k, sizeof *values);
  if (values == NULL) return scl_fail_memory(error, 2 * k * sizeof *values, "values of classes");
  c.values = values;
  *taken = two_values(r, rows, k, values);
  const scl_status status = *taken ? correlate(&c, r, before, rows, error) : SCL_STATUS_OK;
  scl_release(values);
  return status;
}
