/* Collects the rows of a problem for solvers that keep them (adaboost, knn, kernel_ridge, svm). */
#include "shared/rows.h"

#include <stdlib.h>

void rows_release(const scl_host *host, const row_set *set) {
  host->release(set->x);
  host->release(set->y);
  host->release(set->weights);
  host->release(set->pilot);
}

/* ------------ collecting */

typedef struct row_place {
  size_t place, position; /* in the data; in the set */
} row_place;

typedef struct row_collecting {
  row_set *set;
  row_place *places;
} row_collecting;

/* Appends the rows of weight above 0 of a block, with their places in the data. */
static scl_status rows_visit(void *context, const scl_rows *rows, scl_error *error) {
  (void)error;
  row_collecting *c = context;
  row_set *set = c->set;
  const double *x = rows->features.data;
  for (size_t i = 0; i < rows->count; i++) {
    const double weight = rows->weights == NULL ? 1 : rows->weights[i];
    if (!(weight > 0)) continue;
    const size_t to = set->rows++;
    memcpy(set->x + to * set->cols, x + (ptrdiff_t)i * rows->features.row_stride,
           set->cols * sizeof *x);
    memcpy(set->y + to * set->targets, rows->targets + i * set->targets,
           set->targets * sizeof *set->y);
    set->weights[to] = weight;
    c->places[to] = (row_place){rows->index == NULL ? rows->first + i : rows->index[i], to};
  }
  return SCL_STATUS_OK;
}

static int rows_compare(const void *a, const void *b) {
  const size_t x = ((const row_place *)a)->place, y = ((const row_place *)b)->place;
  return (x > y) - (x < y);
}

/* Copies row `from` to place `to`, with its targets and weight. */
static void rows_move(row_set *set, size_t from, size_t to) {
  memcpy(set->x + to * set->cols, set->x + from * set->cols, set->cols * sizeof *set->x);
  memcpy(set->y + to * set->targets, set->y + from * set->targets, set->targets * sizeof *set->y);
  set->weights[to] = set->weights[from];
}

/* Put row places[i].position into place i, cycle by cycle. The set has room for one more row, which
 * holds the one that a cycle begins with. */
static void rows_arrange(row_set *set, row_place *places) {
  const size_t spare = set->rows;
  qsort(places, set->rows, sizeof *places, rows_compare);
  for (size_t start = 0; start < set->rows; start++) {
    if (places[start].position == start) continue;
    rows_move(set, start, spare);
    size_t to = start;
    while (places[to].position != start) {
      const size_t from = places[to].position;
      rows_move(set, from, to);
      places[to].position = to;
      to = from;
    }
    rows_move(set, spare, to);
    places[to].position = to;
  }
}

scl_status rows_collect(const scl_problem *problem, row_set *out, scl_error *error) {
  const scl_host *host = problem->host;
  const size_t n = problem->rows + 1, d = problem->features, c = problem->targets;
  *out = (row_set){.cols = d, .targets = c};
  if (n < SIZE_MAX / 64 / (d + c)) {
    out->x = host->allocate(n * d * sizeof(double));
    out->y = host->allocate(n * c * sizeof(double));
    out->weights = host->allocate(n * sizeof(double));
  }
  row_collecting job = {out, host->allocate(n * sizeof(row_place))};
  scl_status status = SCL_STATUS_OK;
  if (out->x == NULL || out->y == NULL || out->weights == NULL || job.places == NULL)
    status = host->fail(error, SCL_STATUS_NO_MEMORY,
                        "not enough memory for %zu rows of %zu numbers (%.3g GB)", problem->rows, d,
                        (double)n * (double)d * 8e-9);
  if (status == SCL_STATUS_OK) status = problem->walk(problem, rows_visit, &job, error);
  if (status == SCL_STATUS_OK && out->rows == 0)
    status = host->fail(error, SCL_STATUS_BAD_DATA, "all row weights are 0");
  if (status == SCL_STATUS_OK) rows_arrange(out, job.places);
  host->release(job.places);
  return status;
}

/* ------------ rows far from 0 */

bool rows_may_move(const scl_host *host, const scl_part *kernel, bool constant) {
  const scl_pilot_service *pilots = host->service(SCL_SERVICE_PILOT);
  const scl_shift shift = pilots == NULL ? SCL_SHIFT_CHANGES : pilots->shift(kernel);
  return shift == SCL_SHIFT_KEEPS || (shift == SCL_SHIFT_CENTRES && constant);
}

scl_status rows_centre(const scl_host *host, row_set *set, scl_error *error) {
  const scl_pilot_service *pilots = host->service(SCL_SERVICE_PILOT);
  const size_t d = set->cols;
  if (pilots == NULL) return SCL_STATUS_OK;
  set->pilot = host->allocate((d + 1) * sizeof *set->pilot);
  if (set->pilot == NULL)
    return host->fail(error, SCL_STATUS_NO_MEMORY, "not enough memory for a row of %zu numbers", d);
  if (pilots->find(set->x, (ptrdiff_t)d, set->rows, d, set->pilot) == 0) {
    host->release(set->pilot);
    set->pilot = NULL;
    return SCL_STATUS_OK;
  }
  for (size_t i = 0; i < set->rows; i++)
    for (size_t j = 0; j < d; j++)
      set->x[i * d + j] -= set->pilot[j];
  return SCL_STATUS_OK;
}

void rows_subtract(const double *x, ptrdiff_t stride, size_t count, size_t cols,
                   const double *pilot, double *to) {
  for (size_t i = 0; i < count; i++)
    for (size_t j = 0; j < cols; j++)
      to[i * cols + j] = x[(ptrdiff_t)i * stride + (ptrdiff_t)j] - (pilot == NULL ? 0 : pilot[j]);
}

/* ------------ classes */

size_t rows_classes(const row_set *set) { return set->targets == 1 ? 2 : set->targets; }

size_t rows_class(const row_set *set, size_t row) {
  const double *y = set->y + row * set->targets;
  if (set->targets == 1) return y[0] > 0;
  size_t best = 0;
  for (size_t j = 1; j < set->targets; j++)
    if (y[j] > y[best]) best = j;
  return best;
}

scl_status rows_need_two_classes(const scl_host *host, const row_set *set, scl_error *error) {
  for (size_t i = 1; i < set->rows; i++)
    if (rows_class(set, i) != rows_class(set, 0)) return SCL_STATUS_OK;
  return host->fail(error, SCL_STATUS_BAD_DATA,
                    "all %zu rows have the same class: classification takes at least two",
                    set->rows);
}
