/* k nearest neighbours: the mean of the targets of the k kept rows that are nearest in Euclidean
 * distance,
 *
 *   f(x) = sum_{i in N_k(x)} w_i y_i / sum_{i in N_k(x)} w_i,
 *       N_k(x): the k smallest ||x - x_i||, ties to the earlier row,
 *
 * y_i in R^c, w_i the row weights. With classes coded +-1 this is the share of votes, and its
 * largest column the majority (Fix and Hodges 1951; Cover and Hart 1967).
 *
 * Distances of a tile of rows to a block of kept ones come from one product, with rounding. Whoever
 * comes within that rounding of the k-th nearest so far is measured again without it, so that the
 * neighbours are the true ones whatever the tile. */
#include "shared/bytes.h"
#include "shared/distances.h"
#include "shared/rows.h"

#include <math.h>

enum { K, OPTIONS };

static const scl_option options[OPTIONS] = {
    {"k", SCL_FORM_INTEGER, NULL, "5", 1, INFINITY, SCL_RANGE_HIGH_OPEN, SCL_WIDTH_NONE,
     "how many neighbours; odd numbers avoid ties of two classes"},
};

enum { BLOCK = 512, GROUP = 16 }; /* kept rows whose distances are made, and looked at, at once */

typedef struct knn {
  const scl_host *host;
  const scl_dense_algebra *algebra;
  double k;
} knn;

typedef struct neighbours {
  row_set set;
  double *squares; /* ||x_i||^2 */
  double largest;  /* of them */
  size_t k;
} neighbours;

static scl_status create(const scl_host *host, const scl_value *values, void **instance,
                         scl_error *error) {
  knn *self = host->allocate(sizeof *self);
  if (self == NULL)
    return host->fail(error, SCL_STATUS_NO_MEMORY, "not enough memory for a solver");
  *self = (knn){host, host->service(SCL_SERVICE_DENSE_ALGEBRA), values[K].number};
  *instance = self;
  return SCL_STATUS_OK;
}

static void destroy(void *instance) {
  knn *self = instance;
  self->host->release(self);
}

/* ---------------------------------------------------------------- keeping the rows */

static void end(const void *instance, void *model) {
  const scl_host *host = ((const knn *)instance)->host;
  neighbours *m = model;
  if (m == NULL) return;
  rows_release(host, &m->set);
  host->release(m->squares);
  host->release(m);
}

static scl_status empty(const knn *self, neighbours **out, scl_error *error) {
  neighbours *m = self->host->allocate(sizeof *m);
  if (m == NULL)
    return self->host->fail(error, SCL_STATUS_NO_MEMORY, "not enough memory for a model");
  memset(m, 0, sizeof *m);
  *out = m;
  return SCL_STATUS_OK;
}

static scl_status measure(const knn *self, neighbours *m, scl_error *error) {
  m->squares = self->host->allocate(m->set.rows * sizeof *m->squares);
  if (m->squares == NULL)
    return self->host->fail(error, SCL_STATUS_NO_MEMORY, "not enough memory for %zu squared norms",
                            m->set.rows);
  distances_squares(m->set.x, (ptrdiff_t)m->set.cols, m->set.rows, m->set.cols, m->squares);
  for (size_t i = 0; i < m->set.rows; i++)
    if (m->squares[i] > m->largest) m->largest = m->squares[i];
  if (isfinite(4 * m->largest)) return SCL_STATUS_OK;
  return self->host->fail(
      error, SCL_STATUS_BAD_DATA,
      "the rows are so long that their squared distances overflow: standardize them");
}

static scl_status fit(const void *instance, const scl_problem *problem, void **model,
                      scl_solution *out, scl_error *error) {
  const knn *self = instance;
  neighbours *m = NULL;
  scl_status status = empty(self, &m, error);
  if (status == SCL_STATUS_OK) status = rows_collect(problem, &m->set, error);
  if (status == SCL_STATUS_OK && self->k > (double)m->set.rows)
    status = self->host->fail(error, SCL_STATUS_BAD_OPTION,
                              "option 'k' got %.0f; there are %zu rows to choose neighbours from",
                              self->k, m->set.rows);
  if (status == SCL_STATUS_OK) status = measure(self, m, error);
  if (status != SCL_STATUS_OK) {
    end(self, m);
    return status;
  }
  m->k = (size_t)self->k;
  *model = m;
  out->outcome = SCL_OUTCOME_CONVERGED;
  return SCL_STATUS_OK;
}

/* ---------------------------------------------------------------- the k nearest, as a heap with
 * the farthest on top */

typedef struct neighbour {
  double distance;
  size_t row;
} neighbour;

static int farther(const neighbour *a, const neighbour *b) {
  return a->distance > b->distance || (a->distance == b->distance && a->row > b->row);
}

static void sink(neighbour *heap, size_t count, size_t at, neighbour value) {
  for (size_t child = 2 * at + 1; child < count; child = 2 * at + 1) {
    if (child + 1 < count && farther(&heap[child + 1], &heap[child])) child++;
    if (!farther(&heap[child], &value)) break;
    heap[at] = heap[child];
    at = child;
  }
  heap[at] = value;
}

/* Nearest first. */
static void sort_heap(neighbour *heap, size_t count) {
  for (size_t last = count; last-- > 1;) {
    const neighbour top = heap[0], value = heap[last];
    sink(heap, last, 0, value);
    heap[last] = top;
  }
}

/* The first group from j on that has a sum squares + product of at most `bound`, or what is left
 * after whole groups. */
static size_t next_near(const double *squares, const double *product, size_t j, size_t count,
                        double bound) {
  for (; j + GROUP <= count; j += GROUP) {
    int any = 0;
    for (size_t i = j; i < j + GROUP; i++)
      any |= squares[i] + product[i] <= bound;
    if (any) return j;
  }
  return j;
}

/* One row against kept rows first .. first+count-1; product: -2 <x, x_j>. A row whose rounded
 * distance may be below the farthest of the heap is measured without rounding. */
static void meet(const neighbours *m, const double *x, double square, const double *product,
                 size_t first, size_t count, neighbour *heap) {
  const size_t d = m->set.cols;
  const double slack = 4e-16 * ((double)d + 8) * (square + m->largest) - square;
  const double *squares = m->squares + first;
  for (size_t j = 0; j < count; j += GROUP) {
    j = next_near(squares, product, j, count, heap[0].distance + slack);
    const size_t stop = j + GROUP < count ? j + GROUP : count;
    for (size_t i = j; i < stop; i++) {
      if (squares[i] + product[i] > heap[0].distance + slack) continue;
      const neighbour one = {distances_exact(x, m->set.x + (first + i) * d, d), first + i};
      if (farther(&heap[0], &one)) sink(heap, m->k, 0, one);
    }
  }
}

static void average(const neighbours *m, const neighbour *heap, double *scores) {
  const size_t c = m->set.targets;
  double total = 0;
  memset(scores, 0, c * sizeof *scores);
  for (size_t i = 0; i < m->k; i++) {
    const double weight = m->set.weights[heap[i].row], *y = m->set.y + heap[i].row * c;
    total += weight;
    for (size_t j = 0; j < c; j++)
      scores[j] += weight * y[j];
  }
  for (size_t j = 0; j < c; j++)
    scores[j] /= total;
}

typedef struct tile {
  const double *x;
  ptrdiff_t stride;
  size_t rows;
  double *copy, *squares, *product; /* rows, rows x BLOCK */
  neighbour *heap;                  /* rows x k */
} tile;

static void search(const knn *self, const neighbours *m, tile *t) {
  const size_t n = m->set.rows, d = m->set.cols;
  distances_squares(t->x, t->stride, t->rows, d, t->squares);
  for (size_t i = 0; i < t->rows * m->k; i++)
    t->heap[i] = (neighbour){INFINITY, SIZE_MAX};
  for (size_t first = 0; first < n; first += BLOCK) {
    const size_t count = n - first < BLOCK ? n - first : BLOCK;
    self->algebra->gemm(0, 1, t->rows, count, d, -2, t->x, t->stride, m->set.x + first * d,
                        (ptrdiff_t)d, 0, t->product, BLOCK);
    for (size_t i = 0; i < t->rows; i++)
      meet(m, t->x + (ptrdiff_t)i * t->stride, t->squares[i], t->product + i * BLOCK, first, count,
           t->heap + i * m->k);
  }
}

static scl_status decide(const void *instance, const void *model, const scl_block *rows,
                         double *scores, ptrdiff_t stride, scl_error *error) {
  const knn *self = instance;
  const neighbours *m = model;
  const scl_host *host = self->host;
  if (rows->cols != m->set.cols)
    return host->fail(error, SCL_STATUS_BAD_SHAPE, "rows of %zu columns where the model takes %zu",
                      rows->cols, m->set.cols);
  tile t = {.rows = rows->rows};
  t.x = rows_wide(host, rows, &t.copy, &t.stride);
  t.squares = host->allocate((rows->rows * (1 + BLOCK) + 1) * sizeof *t.squares);
  t.heap = m->k > SIZE_MAX / 64 / (rows->rows + 1)
               ? NULL
               : host->allocate((rows->rows * m->k + 1) * sizeof *t.heap);
  scl_status status = SCL_STATUS_OK;
  if (t.x == NULL || t.squares == NULL || t.heap == NULL)
    status = host->fail(error, SCL_STATUS_NO_MEMORY,
                        "not enough memory for the %zu neighbours of %zu rows", m->k, rows->rows);
  if (status == SCL_STATUS_OK) {
    t.product = t.squares + rows->rows;
    search(self, m, &t);
    for (size_t i = 0; i < rows->rows; i++) {
      sort_heap(t.heap + i * m->k, m->k);
      average(m, t.heap + i * m->k, scores + (ptrdiff_t)i * stride);
    }
  }
  host->release(t.copy);
  host->release(t.squares);
  host->release(t.heap);
  return status;
}

/* ---------------------------------------------------------------- bytes */

static const char title[] = "knn 1";

static scl_status save(const void *instance, const void *model, scl_write write, void *context,
                       scl_error *error) {
  (void)instance;
  const neighbours *m = model;
  byte_writer w = {write, context, error, SCL_STATUS_OK};
  bytes_put_title(&w, title);
  bytes_put_size(&w, m->set.rows);
  bytes_put_size(&w, m->set.cols);
  bytes_put_size(&w, m->set.targets);
  bytes_put_size(&w, m->k);
  bytes_put_numbers(&w, m->set.x, m->set.rows * m->set.cols);
  bytes_put_numbers(&w, m->set.y, m->set.rows * m->set.targets);
  bytes_put_numbers(&w, m->set.weights, m->set.rows);
  return w.status;
}

static void read_set(byte_reader *r, row_set *set) {
  set->rows = bytes_get_size(r, 1, INT32_MAX, "the number of rows");
  set->cols = bytes_get_size(r, 1, INT32_MAX, "the number of columns");
  set->targets = bytes_get_size(r, 1, 65536, "the number of targets");
}

static scl_status load(const void *instance, scl_read read, void *context, void **model,
                       scl_error *error) {
  const knn *self = instance;
  byte_reader r = {self->host, read, context, error, SCL_STATUS_OK};
  neighbours *m = NULL;
  r.status = empty(self, &m, error);
  if (r.status != SCL_STATUS_OK) return r.status;
  bytes_expect_title(&r, title);
  read_set(&r, &m->set);
  m->k = bytes_get_size(&r, 1, m->set.rows, "k");
  m->set.x = bytes_get_array(&r, m->set.rows, m->set.cols);
  m->set.y = bytes_get_array(&r, m->set.rows, m->set.targets);
  m->set.weights = bytes_get_array(&r, m->set.rows, 1);
  for (size_t i = 0; r.status == SCL_STATUS_OK && i < m->set.rows; i++)
    if (!(m->set.weights[i] > 0))
      r.status = self->host->fail(error, SCL_STATUS_BAD_DATA,
                                  "the model's bytes are damaged: a row weight is not positive");
  if (r.status == SCL_STATUS_OK) r.status = measure(self, m, error);
  if (r.status != SCL_STATUS_OK) {
    end(self, m);
    return r.status;
  }
  *model = m;
  return SCL_STATUS_OK;
}

#include "shared/model_solver.h"

const scl_plugin scullery_plugin = {
    SCL_HEAD(scl_plugin),
    SCL_KIND_SOLVER,
    "knn",
    "1.0",
    "The Scullery authors",
    "k nearest neighbours: votes of a classification, means of a regression",
    "f(x) = the mean of the targets of the k training rows nearest to x in Euclidean distance "
    "(ties to the earlier row), weighted by\n"
    "the row weights. A classification's scores are shares of votes, from -1 (none) to 1 (all); "
    "two classes that tie give 0,\n"
    "which counts as the second. The model keeps all training rows; scale them first, as in "
    "sc.standardize(). Cover and Hart 1967.",
    options,
    OPTIONS,
    &table,
    create,
    destroy,
    ability};
