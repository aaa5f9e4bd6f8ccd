/* The rows from which a metric is learnt. */
#include "agop.h"

#include <stdlib.h>

/* A row: x, y and weight, d + targets + 1 numbers at `at` of `numbers`. */
typedef struct kept {
  uint64_t hash;
  size_t at;
} kept;

/* The buffer: room for twice as many rows as are kept, so that compacting is rare. */
typedef struct taking {
  const scl_host *host;
  size_t most, room, count, d, targets, width;
  kept *rows; /* room */
  double *numbers, *spare;
} taking;

/* FNV-1a of the numbers, whose bits are then mixed (the finaliser of SplitMix64). */
static uint64_t hash_numbers(const double *numbers, size_t count) {
  uint64_t hash = 0xcbf29ce484222325u;
  for (size_t j = 0; j < count; j++) {
    const double value = numbers[j] + 0.0; /* -0 is 0 */
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    hash = (hash ^ bits) * 0x100000001b3u;
    hash ^= hash >> 29;
  }
  hash = (hash ^ (hash >> 30)) * 0xbf58476d1ce4e5b9u;
  hash = (hash ^ (hash >> 27)) * 0x94d049bb133111ebu;
  return hash ^ (hash >> 31);
}

/* For qsort: ascending hashes. */
static int compare_hashes(const void *a, const void *b) {
  const kept *x = a, *y = b;
  return (x->hash > y->hash) - (x->hash < y->hash);
}

/* Join equal rows, whose weights add up, and keep the `most` smallest hashes. */
static void compact(taking *t) {
  size_t count = 0;
  qsort(t->rows, t->count, sizeof *t->rows, compare_hashes);
  for (size_t i = 0; i < t->count; i++) {
    const kept row = t->rows[i];
    if (count > 0 && t->rows[count - 1].hash == row.hash)
      t->numbers[t->rows[count - 1].at + t->width - 1] += t->numbers[row.at + t->width - 1];
    else if (count < t->most)
      t->rows[count++] = row;
    else
      break;
  }
  for (size_t i = 0; i < count; i++) {
    memcpy(t->spare + i * t->width, t->numbers + t->rows[i].at, t->width * sizeof *t->spare);
    t->rows[i].at = i * t->width;
  }
  double *other = t->spare;
  t->spare = t->numbers;
  t->numbers = other;
  t->count = count;
}

/* A visit: adds rows of positive weight; a full buffer is compacted. */
static scl_status take_rows(void *context, const scl_rows *rows, scl_error *error) {
  taking *t = context;
  (void)error;
  for (size_t i = 0; i < rows->count; i++) {
    const double weight = rows->weights == NULL ? 1 : rows->weights[i];
    if (!(weight > 0)) continue;
    if (t->count == t->room) compact(t);
    double *to = t->numbers + t->count * t->width;
    memcpy(to, scl_stage_row(&rows->features, i), t->d * sizeof *to);
    memcpy(to + t->d, rows->targets + i * t->targets, t->targets * sizeof *to);
    to[t->width - 1] = weight;
    t->rows[t->count] = (kept){hash_numbers(to, t->width - 1), t->count * t->width};
    t->count++;
  }
  return SCL_STATUS_OK;
}

/* y less its weighted mean, over its deviation on the fitted rows; a constant target becomes 0. */
static void standardise_targets(agop_sample *s) {
  for (size_t c = 0; c < s->targets; c++) {
    double mean = 0, square = 0;
    for (size_t i = 0; i < s->train; i++)
      mean += s->weight[i] * s->y[i * s->targets + c];
    for (size_t i = 0; i < s->train; i++)
      square += s->weight[i] * pow(s->y[i * s->targets + c] - mean, 2);
    for (size_t i = 0; i < s->n; i++) {
      double *y = s->y + i * s->targets + c;
      *y = square > 0 ? (*y - mean) / sqrt(square) : 0;
    }
  }
}

/* *out of the rows that were taken. */
static void fill_sample(const taking *t, const scl_stage_column *moments, agop_sample *out) {
  double sum = 0;
  for (size_t i = 0; i < t->count; i++) {
    const double *from = t->numbers + t->rows[i].at;
    for (size_t j = 0; j < t->d; j++) {
      const scl_stage_column *m = moments + j;
      const double deviation = sqrt(m->square / m->weight);
      out->x[i * t->d + j] =
          m->high > m->low && deviation > 0 ? (from[j] - m->mean - m->rest) / deviation : 0;
    }
    memcpy(out->y + i * t->targets, from + t->d, t->targets * sizeof *from);
    out->weight[i] = from[t->width - 1];
    if (i < out->train) sum += out->weight[i];
  }
  for (size_t i = 0; i < t->count; i++)
    out->weight[i] /= sum;
  standardise_targets(out);
}

scl_status agop_take_sample(const agop *self, const scl_fitting *fitting,
                            const scl_stage_column *moments, agop_sample *out, scl_error *error) {
  enum { LEAST_ROWS = 10 };
  const scl_host *host = fitting->host;
  const size_t d = fitting->rows->dim, targets = fitting->rows->targets;
  taking t = {.host = host, .most = self->rows, .d = d, .targets = targets};
  t.room = 2 * (self->rows < fitting->rows->rows ? self->rows : fitting->rows->rows) + 1;
  t.width = d + targets + 1;
  t.rows = host->scratch(t.room * sizeof *t.rows);
  t.numbers = host->scratch(t.room * t.width * sizeof *t.numbers);
  t.spare = host->scratch(t.room * t.width * sizeof *t.spare);
  if (t.rows == NULL || t.numbers == NULL || t.spare == NULL)
    return host->fail(error, SCL_STATUS_NO_MEMORY, "not enough memory for %zu rows of %zu columns",
                      t.room, d);
  const scl_status status = fitting->rows->walk(fitting->rows, take_rows, &t, error);
  if (status != SCL_STATUS_OK) return status;
  compact(&t);
  if (t.count < LEAST_ROWS)
    return host->fail(error, SCL_STATUS_BAD_DATA,
                      "learns from at least %d distinct rows, and got %zu", (int)LEAST_ROWS,
                      t.count);
  *out = (agop_sample){.n = t.count, .train = t.count - t.count / 5, .d = d, .targets = targets};
  out->x = t.spare; /* room for all of them: d + targets + 1 numbers a row */
  out->y = out->x + t.count * d;
  out->weight = out->y + t.count * targets;
  fill_sample(&t, moments, out);
  return SCL_STATUS_OK;
}
