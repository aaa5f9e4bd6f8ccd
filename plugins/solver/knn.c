/* k nearest neighbours: the mean of the targets of the k kept rows that are nearest in Euclidean
 * distance,
 *
 *   f(x) = sum_{i in N_k(x)} w_i y_i / sum_{i in N_k(x)} w_i
 *   N_k(x): the k smallest ||x - x_i||, ties to the earlier row
 *
 * y_i in R^c, w_i the row weights. With classes coded +-1, f is the share of votes, and its largest
 * column the majority (Fix and Hodges 1951; Cover and Hart 1967).
 *
 * The distances of a block of rows to a block of kept rows come from one matrix product, with
 * rounding. A row within that rounding of the k-th nearest so far is measured again by the sum of
 * squared differences, so that the neighbours do not depend on the blocks. */
#include "shared/distances.h"
#include "shared/models.h"
#include "shared/rows.h"

enum {
  BLOCK = 512,
  GROUP = 16
}; /* kept rows whose distances are computed, and compared, at once */

typedef struct knn {
  scl_base base;
  size_t k;
} knn;

static const scl_option options[] = {
    SCL_INTEGER(knn, k, "5", "number of neighbours; odd numbers avoid ties of two classes",
                SCL_WITHIN(1, 1e15), .role = SCL_ROLE_REGULARISATION)};

/* The model: all rows of positive weight, with their squared norms. */
typedef struct neighbours {
  row_set set;
  double *squares; /* ||x_i||^2 */
  double largest;  /* of them */
} neighbours;

/* ------------ keeping the rows */

static void end(const void *instance, void *model) {
  const scl_host *host = ((const knn *)instance)->base.host;
  const neighbours *m = model;
  rows_release(host, &m->set);
  host->release(m->squares);
  host->release(model);
}

static scl_status refuse_long_rows(const scl_host *host, scl_error *error) {
  return host->fail(error, SCL_STATUS_BAD_DATA,
                    "the rows are so long that their squared distances overflow: standardize them");
}

/* Checks k and computes ||x_i||^2; fails where squared distances could overflow. */
static scl_status knn_row_squares(const knn *self, neighbours *m, scl_error *error) {
  const scl_host *host = self->base.host;
  if (self->k > m->set.rows)
    return host->fail(error, SCL_STATUS_BAD_OPTION,
                      "option 'k' got %zu; there are %zu rows to choose neighbours from", self->k,
                      m->set.rows);
  m->squares = host->allocate(m->set.rows * sizeof *m->squares);
  if (m->squares == NULL)
    return host->fail(error, SCL_STATUS_NO_MEMORY, "not enough memory for %zu squared norms",
                      m->set.rows);
  distances_squares(m->set.x, (ptrdiff_t)m->set.cols, m->set.rows, m->set.cols, m->squares);
  for (size_t i = 0; i < m->set.rows; i++)
    if (m->squares[i] > m->largest) m->largest = m->squares[i];
  return isfinite(4 * m->largest) ? SCL_STATUS_OK : refuse_long_rows(host, error);
}

/* Stores the rows in the model. Nothing is iterated, so that the outcome is always converged. */
static scl_status fit(const void *instance, const scl_problem *problem, void **model,
                      scl_solution *out, scl_error *error) {
  neighbours *m = models_new(problem->host, sizeof *m, error);
  if (m == NULL) return SCL_STATUS_NO_MEMORY;
  scl_status status = rows_collect(problem, &m->set, error);
  if (status == SCL_STATUS_OK) status = rows_centre(problem->host, &m->set, error);
  if (status == SCL_STATUS_OK) status = knn_row_squares(instance, m, error);
  if (status == SCL_STATUS_OK)
    *model = m;
  else
    end(instance, m);
  out->outcome = SCL_OUTCOME_CONVERGED;
  return status;
}

/* ------------ the k nearest: a heap with the farthest on top */

typedef struct neighbour {
  double distance;
  size_t row;
} neighbour;

/* The order of neighbours: by distance, and of equal distances the earlier row is nearer. */
static bool farther(const neighbour *a, const neighbour *b) {
  return a->distance > b->distance || (a->distance == b->distance && a->row > b->row);
}

/* Puts `value` at place `at` of the heap, or below it, so that the farthest stays on top. */
static void sink(neighbour *heap, size_t count, size_t at, neighbour value) {
  for (size_t child = 2 * at + 1; child < count; child = 2 * at + 1) {
    if (child + 1 < count && farther(&heap[child + 1], &heap[child])) child++;
    if (!farther(&heap[child], &value)) break;
    heap[at] = heap[child];
    at = child;
  }
  heap[at] = value;
}

/* Sorts the heap in place, nearest first: the top goes to the end of what is left. */
static void sort_heap(neighbour *heap, size_t count) {
  for (size_t last = count; last-- > 1;) {
    const neighbour top = heap[0], value = heap[last];
    sink(heap, last, 0, value);
    heap[last] = top;
  }
}

/* Returns the first group from j on in which some squares + product is at most `bound`, or the
 * index after the last whole group. */
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

/* Updates one row's heap with kept rows first .. first+count-1. product: -2 <x, x_j>; square:
 * ||x||^2. Rows whose rounded distance is beyond the k-th nearest by more than its error (slack)
 * are skipped; for the others the exact distance decides. */
static void meet(const knn *self, const neighbours *m, const double *x, double square,
                 const double *product, size_t first, size_t count, neighbour *heap) {
  const size_t d = m->set.cols;
  const double slack = distances_slack(square + m->largest, d) - square;
  const double *squares = m->squares + first;
  for (size_t j = 0; j < count; j += GROUP) {
    j = next_near(squares, product, j, count, heap[0].distance + slack);
    const size_t stop = j + GROUP < count ? j + GROUP : count;
    for (size_t i = j; i < stop; i++) {
      if (squares[i] + product[i] > heap[0].distance + slack) continue;
      const neighbour one = {distances_exact(x, m->set.x + (first + i) * d, d), first + i};
      if (farther(&heap[0], &one)) sink(heap, self->k, 0, one);
    }
  }
}

/* ------------ scores */

/* scores (c numbers) = the weighted mean of the targets of k neighbours, summed in their order. */
static void average(const neighbours *m, const neighbour *heap, size_t k, double *scores) {
  const size_t c = m->set.targets;
  double total = 0;
  memset(scores, 0, c * sizeof *scores);
  for (size_t i = 0; i < k; i++) {
    const double weight = m->set.weights[heap[i].row], *y = m->set.y + heap[i].row * c;
    total += weight;
    for (size_t j = 0; j < c; j++)
      scores[j] += weight * y[j];
  }
  for (size_t j = 0; j < c; j++)
    scores[j] /= total;
}

/* Fills heaps (rows x k) with the k nearest of each row. Scratch: squares, one number per row, and
 * product, rows x BLOCK. */
static scl_status knn_search(const knn *self, const neighbours *m, const scl_const_block *rows,
                             double *squares, double *product, neighbour *heaps, scl_error *error) {
  const size_t n = m->set.rows, d = m->set.cols;
  const double *x = rows->data;
  distances_squares(x, rows->row_stride, rows->rows, d, squares);
  for (size_t i = 0; i < rows->rows; i++)
    if (!isfinite(4 * squares[i])) return refuse_long_rows(self->base.host, error);
  for (size_t i = 0; i < rows->rows * self->k; i++)
    heaps[i] = (neighbour){INFINITY, SIZE_MAX};
  for (size_t first = 0; first < n; first += BLOCK) {
    const size_t count = n - first < BLOCK ? n - first : BLOCK;
    self->base.host->dense->gemm(0, 1, rows->rows, count, d, -2, x, rows->row_stride,
                                 m->set.x + first * d, (ptrdiff_t)d, 0, product, BLOCK);
    for (size_t i = 0; i < rows->rows; i++)
      meet(self, m, x + (ptrdiff_t)i * rows->row_stride, squares[i], product + i * BLOCK, first,
           count, heaps + i * self->k);
  }
  return SCL_STATUS_OK;
}

/* The mean target of the k nearest rows of each row, summed from the nearest to the farthest. */
static scl_status decide(const void *instance, const void *model, const scl_const_block *rows,
                         double *scores, ptrdiff_t stride, scl_error *error) {
  const knn *self = instance;
  const scl_host *host = self->base.host;
  const row_set *set = &((const neighbours *)model)->set;
  const size_t k = self->k, count = rows->rows, d = set->cols,
               moved = set->pilot == NULL ? 0 : count * d;
  double *squares = host->scratch((count * (1 + BLOCK) + moved + 1) * sizeof *squares);
  neighbour *heaps =
      k > SIZE_MAX / 64 / (count + 1) ? NULL : host->scratch((count * k + 1) * sizeof *heaps);
  scl_const_block near = *rows; /* less the pilot */
  if (squares == NULL || heaps == NULL)
    return host->fail(error, SCL_STATUS_NO_MEMORY,
                      "not enough memory for the %zu neighbours of %zu rows", k, count);
  if (moved > 0) {
    double *x = squares + count * (1 + BLOCK);
    rows_subtract(rows->data, rows->row_stride, count, d, set->pilot, x);
    near.data = x;
    near.row_stride = (ptrdiff_t)d;
  }
  const scl_status status = knn_search(self, model, &near, squares, squares + count, heaps, error);
  for (size_t i = 0; status == SCL_STATUS_OK && i < count; i++) {
    sort_heap(heaps + i * k, k);
    average(model, heaps + i * k, k, scores + (ptrdiff_t)i * stride);
  }
  return status;
}

/* ------------ arrays: rows, targets, weights, and the pilot where there is one */

static scl_status save(const void *instance, const void *model, scl_archive *archive,
                       scl_error *error) {
  const row_set *set = &((const neighbours *)model)->set;
  model_writer w = {archive, error, SCL_STATUS_OK};
  (void)instance;
  models_put(&w, "rows", SCL_DTYPE_FLOAT64, set->rows, set->cols, set->x);
  models_put(&w, "targets", SCL_DTYPE_FLOAT64, set->rows, set->targets, set->y);
  models_put(&w, "weights", SCL_DTYPE_FLOAT64, set->rows, 0, set->weights);
  if (set->pilot != NULL) models_put(&w, "pilot", SCL_DTYPE_FLOAT64, set->cols, 0, set->pilot);
  return w.status;
}

/* Reads the arrays of the model; refuses weights that are not positive, which would divide by 0. */
static void get_rows(model_reader *r, row_set *set) {
  set->x = models_get(r, "rows", SCL_DTYPE_FLOAT64, &set->rows, set->cols);
  set->y = models_get(r, "targets", SCL_DTYPE_FLOAT64, &set->rows, set->targets);
  set->weights = models_get(r, "weights", SCL_DTYPE_FLOAT64, &set->rows, 0);
  set->pilot = models_get_optional(r, "pilot", set->cols);
  for (size_t i = 0; r->status == SCL_STATUS_OK && i < set->rows; i++)
    if (!(set->weights[i] > 0))
      r->status = r->host->fail(r->error, SCL_STATUS_BAD_DATA,
                                "the model's 'weights' hold %g, and take positive numbers",
                                set->weights[i]);
}

static void get_model(const void *self, model_reader *r, size_t features, size_t targets,
                      void *model) {
  neighbours *m = model;
  m->set.cols = features;
  m->set.targets = targets;
  get_rows(r, &m->set);
  if (r->status == SCL_STATUS_OK) r->status = knn_row_squares(self, m, r->error);
}
MODELS_LOAD(neighbours)

/* A copy of all rows. */
static void cost(const void *instance, const scl_problem *problem, const double *values,
                 size_t count, int32_t weighted, scl_cost *out) {
  const double n = (double)problem->rows, d = (double)problem->features;
  (void)instance, (void)values, (void)count, (void)weighted;
  out->passes = 1;
  out->bytes = n * (d + (double)problem->targets + 2) * sizeof(double);
}

const scl_plugin scullery_plugin = {
    .name = "knn",
    .summary = "k nearest neighbours: votes of a classification, means of a regression",
    .definition =
        "score(rows) = function(x)\n"
        "  local apart = map(rows, function(r) return squared_distance(r.x, x) end)\n"
        "  local last = sorted(apart)[min(k, #rows)]\n"
        "  local left = k - sum(apart, function(s) return s < last and 1 or 0 end)\n"
        "  local w = map(rows, function(r, i)\n"
        "    left = left - (apart[i] == last and 1 or 0)\n"
        "    return (apart[i] < last or apart[i] == last and left >= 0) and r.w or 0\n"
        "  end)\n"
        "  return map(type(rows[1].y) == \"number\" and { 1 } or rows[1].y, function(_, j)\n"
        "    return sum(rows, function(r, i)\n"
        "      return w[i] > 0 and w[i]*(type(r.y) == \"number\" and r.y or r.y[j]) or 0\n"
        "    end)/sum(w)\n"
        "  end)\n"
        "end",
    .doc = "f(x) = the mean of the targets of the k training rows nearest to x in Euclidean\n"
           "distance (ties to the earlier row), weighted by the row weights. A classification's\n"
           "scores are shares of votes, from -1 (none) to 1 (all). Two classes that tie give 0,\n"
           "which counts as the second. The model keeps all training rows (arrays rows, targets,\n"
           "weights; columns far from 0 less the array pilot). Scale them first, as in\n"
           "sc.standardize(). Cover and Hart 1967.",
    MODELS_SOLVER,
    SCL_INSTANCE(knn, options)};
