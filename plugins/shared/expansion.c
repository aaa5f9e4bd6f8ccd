/* Values of kernel expansions, and their arrays in a saved model (svm, kernel_ridge). */
#include "shared/expansion.h"

#include "shared/expansion_sum.h"
#include "shared/rows.h"

enum { EXPANSION_BATCH = 256 };

void expansion_release(const scl_host *host, const expansion *e) {
  host->release(e->x);
  host->release(e->b);
  host->release(e->f0);
  host->release(e->pilot);
}

/* Room for one batch, in one piece of memory. */
typedef struct expansion_room {
  double *u, *tail, *b, *k; /* most x d; PIECE x d; functions x TILE; most x TILE */
} expansion_room;

size_t expansion_least(size_t a, size_t b) { return a < b ? a : b; }

/* `rows` rounded up to a multiple. */
static size_t expansion_padded(size_t rows, size_t multiple) {
  return (rows + multiple - 1) / multiple * multiple;
}

/* Scratch memory for batches of `most` rows. */
static scl_status expansion_reserve(const scl_host *host, const expansion *e, size_t most,
                                    expansion_room *out, scl_error *error) {
  const size_t d = e->cols,
               numbers = (most + EXPANSION_PIECE) * d + (most + e->functions) * EXPANSION_TILE;
  out->u = host->scratch(numbers * sizeof *out->u);
  if (out->u == NULL)
    return host->fail(error, SCL_STATUS_NO_MEMORY, "not enough memory for %zu kernel values",
                      most * EXPANSION_TILE);
  out->tail = out->u + most * d;
  out->b = out->tail + EXPANSION_PIECE * d;
  out->k = out->b + e->functions * EXPANSION_TILE;
  return SCL_STATUS_OK;
}

/* Writes to *out the tile of kept rows that begins at row `first`, and returns how many kept rows
 * it has. A tile has EXPANSION_TILE rows or a multiple of EXPANSION_PIECE; the last few rows are
 * padded with copies, so that gram always sees whole pieces and its products have one order. */
static size_t expansion_tile(const expansion *e, size_t first, const expansion_room *room,
                             scl_const_parameters *out) {
  const size_t d = e->cols, left = e->rows - first,
               count =
                   left < EXPANSION_PIECE
                       ? left
                       : expansion_least(left / EXPANSION_PIECE * EXPANSION_PIECE, EXPANSION_TILE);
  const double *x = e->x + first * d;
  if (count < EXPANSION_PIECE) {
    memcpy(room->tail, x, count * d * sizeof *x);
    for (size_t i = count; i < EXPANSION_PIECE; i++)
      memcpy(room->tail + i * d, x + (count - 1) * d, d * sizeof *x);
    x = room->tail;
  }
  *out = scl_dense_rows(x, (ptrdiff_t)d, expansion_padded(count, EXPANSION_PIECE), d);
  return count;
}

/* Copies the tile's coefficients, functions x TILE; those of copies are 0. */
static void expansion_turn(const expansion *e, size_t first, size_t count, double *b) {
  const size_t c = e->functions;
  for (size_t q = 0; q < c; q++) {
    double *to = b + q * EXPANSION_TILE;
    for (size_t i = 0; i < count; i++)
      to[i] = e->b[(first + i) * c + q];
    memset(to + count, 0, (EXPANSION_TILE - count) * sizeof *to);
  }
}

/* Evaluates f at n rows x, n at most EXPANSION_BATCH. */
static scl_status expansion_batch(const void *self, expansion_gram gram, const expansion *e,
                                  const expansion_room *room, const double *x, ptrdiff_t x_stride,
                                  size_t n, double *out, ptrdiff_t stride, scl_error *error) {
  const size_t d = e->cols;
  const expansion_sum sum = expansion_sum_get();
  scl_status status = SCL_STATUS_OK;
  rows_subtract(x, x_stride, n, d, e->pilot, room->u);
  for (size_t i = 0; i < n; i++)
    memcpy(out + (ptrdiff_t)i * stride, e->f0, e->functions * sizeof *out);
  for (size_t first = 0, count; status == SCL_STATUS_OK && first < e->rows; first += count) {
    scl_const_parameters v;
    count = expansion_tile(e, first, room, &v);
    const scl_const_parameters u = scl_dense_rows(room->u, (ptrdiff_t)d, n, d);
    expansion_turn(e, first, count, room->b);
    status = gram(self, &u, &v, room->k, EXPANSION_TILE, error);
    if (status == SCL_STATUS_OK)
      sum(n, e->functions, v.count, room->k, EXPANSION_TILE, room->b, EXPANSION_TILE, out, stride);
  }
  return status;
}

scl_status expansion_values(const void *self, expansion_gram gram, const expansion *e,
                            const scl_const_parameters *u, double *out, ptrdiff_t stride,
                            scl_error *error) {
  const scl_host *host = ((const scl_base *)self)->host;
  expansion_room room = {0};
  scl_status status =
      expansion_reserve(host, e, expansion_least(u->count, EXPANSION_BATCH), &room, error);
  for (size_t i = 0; status == SCL_STATUS_OK && i < u->count; i += EXPANSION_BATCH)
    status = expansion_batch(self, gram, e, &room, u->weights + (ptrdiff_t)i * u->stride, u->stride,
                             expansion_least(u->count - i, EXPANSION_BATCH),
                             out + (ptrdiff_t)i * stride, stride, error);
  return status;
}

/* ------------ saving and loading */

void expansion_put(model_writer *w, const expansion *e) {
  models_put(w, "rows", SCL_DTYPE_FLOAT64, e->rows, e->cols, e->x);
  models_put(w, "coefficients", SCL_DTYPE_FLOAT64, e->rows, e->functions, e->b);
  models_put(w, "intercept", SCL_DTYPE_FLOAT64, e->functions, 0, e->f0);
  if (e->pilot != NULL) models_put(w, "pilot", SCL_DTYPE_FLOAT64, e->cols, 0, e->pilot);
}

void expansion_get(model_reader *r, expansion *e) {
  e->f0 = models_get(r, "intercept", SCL_DTYPE_FLOAT64, &e->functions, 0);
  e->x = models_get(r, "rows", SCL_DTYPE_FLOAT64, &e->rows, e->cols);
  e->b = models_get(r, "coefficients", SCL_DTYPE_FLOAT64, &e->rows, e->functions);
  e->pilot = models_get_optional(r, "pilot", e->cols);
}
