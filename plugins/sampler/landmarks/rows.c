/* What the methods of landmarks share: rows kept from a walk, and kernel values between rows.
 *
 * m of n rows are drawn without replacement, one after the other, each with a probability
 * proportional to its weight among the rows that are left: those are the m rows with the least keys
 *
 *   -log(u_i)/weight_i,   u_i uniform on (0, 1)
 *
 * in the order of their keys (Efraimidis and Spirakis 2006, Weighted random sampling with a
 * reservoir). u_i belongs to place i of the walk, so that the draw does not depend on blocks and
 * threads. One pass; memory for m x d numbers. */
#include "landmarks.h"

#include <stdlib.h>

scl_status landmarks_no_memory(const scl_host *host, size_t numbers, scl_error *error) {
  return host->fail(error, SCL_STATUS_NO_MEMORY,
                    "not enough memory for landmarks: %.3g GB: give a smaller T or sample",
                    (double)numbers * 8e-9);
}

/* ------------ the reservoir */

scl_status reservoir_open(const scl_learning *learning, uint64_t stream, size_t most, double *rows,
                          reservoir *out, scl_error *error) {
  const scl_host *host = learning->host;
  *out = (reservoir){learning,
                     learning->draw->address.stream + stream,
                     most,
                     0,
                     host->scratch((most + 1) * sizeof(kept_row)),
                     rows,
                     host->scratch((learning->dim + 1) * sizeof(double))};
  if (out->heap != NULL && out->spare != NULL) return SCL_STATUS_OK;
  return landmarks_no_memory(host, most * 3, error);
}

/* By key; of equal keys the earlier row comes first. */
static int kept_compare(const void *a, const void *b) {
  const kept_row *x = a, *y = b;
  if (x->key != y->key) return x->key < y->key ? -1 : 1;
  return (x->place > y->place) - (x->place < y->place);
}

static void kept_swap(kept_row *a, kept_row *b) {
  const kept_row kept = *a;
  *a = *b;
  *b = kept;
}

/* Moves the entry at `at` up until its parent has no smaller key. */
static void reservoir_rise(reservoir *r, size_t at) {
  for (; at > 0 && kept_compare(&r->heap[at], &r->heap[(at - 1) / 2]) > 0; at = (at - 1) / 2)
    kept_swap(&r->heap[at], &r->heap[(at - 1) / 2]);
}

/* Moves the new top down until no child has a larger key. */
static void reservoir_sink(reservoir *r) {
  for (size_t at = 0, child; (child = 2 * at + 1) < r->count; at = child) {
    if (child + 1 < r->count && kept_compare(&r->heap[child + 1], &r->heap[child]) > 0) child++;
    if (kept_compare(&r->heap[child], &r->heap[at]) <= 0) return;
    kept_swap(&r->heap[child], &r->heap[at]);
  }
}

void reservoir_offer(reservoir *r, size_t place, double weight, const double *x) {
  const size_t dim = r->learning->dim;
  double u;
  r->learning->host->random->uniform(r->learning->draw->address.seed, r->stream, place, 0, 1, &u);
  kept_row row = {weight > 0 ? -log(u) / weight : INFINITY, place, r->count};
  if (r->count < r->most) {
    r->heap[r->count] = row;
    reservoir_rise(r, r->count++);
  } else {
    if (r->most == 0 || kept_compare(&row, &r->heap[0]) >= 0) return;
    row.slot = r->heap[0].slot;
    r->heap[0] = row;
    reservoir_sink(r);
  }
  memcpy(r->rows + row.slot * dim, x, dim * sizeof *x);
}

void reservoir_arrange(reservoir *r) {
  const size_t dim = r->learning->dim, bytes = dim * sizeof *r->rows;
  qsort(r->heap, r->count, sizeof *r->heap, kept_compare);
  for (size_t start = 0; start < r->count; start++) {
    size_t to = start;
    memcpy(r->spare, r->rows + start * dim, bytes);
    for (size_t from; (from = r->heap[to].slot) != start; to = from) {
      memcpy(r->rows + to * dim, r->rows + from * dim, bytes);
      r->heap[to].slot = to;
    }
    memcpy(r->rows + to * dim, r->spare, bytes);
    r->heap[to].slot = to;
  }
}

static scl_status reservoir_visit(void *context, const scl_rows *rows, scl_error *error) {
  (void)error;
  for (size_t i = 0; i < rows->count; i++)
    reservoir_offer(context, rows->first + i, 1, landmarks_row(rows, i));
  return SCL_STATUS_OK;
}

scl_status landmarks_sample(const scl_learning *learning, size_t count, double *out,
                            scl_error *error) {
  reservoir kept;
  scl_status status = reservoir_open(learning, LANDMARKS_SAMPLE, count, out, &kept, error);
  if (status == SCL_STATUS_OK) status = learning->walk(learning, reservoir_visit, &kept, error);
  if (status == SCL_STATUS_OK) reservoir_arrange(&kept);
  return status;
}

/* ------------ kernel values */

enum { KERNEL_PANEL = 64 };

/* A task of the pool: KERNEL_PANEL rows of the rectangle. */
static scl_status kernel_rectangle_panel(void *context, size_t index, scl_error *error) {
  const kernel_rectangle *k = context;
  const size_t d = k->learning->dim, first = index * KERNEL_PANEL, left = k->rows - first;
  const scl_const_parameters u = scl_dense_rows(k->u + first * d, (ptrdiff_t)d,
                                                left < KERNEL_PANEL ? left : KERNEL_PANEL, d),
                             v = scl_dense_rows(k->v, (ptrdiff_t)d, k->cols, d);
  return k->learning->host->parts->gram(k->learning->kernel, &u, &v,
                                        k->out + (ptrdiff_t)first * k->stride, k->stride, error);
}

scl_status landmarks_kernel(kernel_rectangle k, scl_error *error) {
  return k.learning->host->parallel((k.rows + KERNEL_PANEL - 1) / KERNEL_PANEL,
                                    kernel_rectangle_panel, &k, error);
}

scl_status landmarks_diagonal(const scl_learning *learning, const double *x, size_t count,
                              double *out, scl_error *error) {
  const scl_const_parameters u = scl_dense_rows(x, (ptrdiff_t)learning->dim, count, learning->dim);
  const scl_status status = learning->host->parts->diagonal(learning->kernel, &u, out, error);
  for (size_t i = 0; status == SCL_STATUS_OK && i < count; i++)
    if (!isfinite(out[i]))
      return learning->host->fail(error, SCL_STATUS_NUMERIC,
                                  "the kernel of a row with itself is %g: scale the data", out[i]);
  return status;
}
