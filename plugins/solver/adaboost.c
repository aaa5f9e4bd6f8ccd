/* AdaBoost on decision stumps (Freund and Schapire 1997), for several classes as SAMME (Zhu, Zou,
 * Rosset and Hastie 2009):
 *
 *   round t: the stump h_t(x) = x_j <= s ? a : b with the least error e_t = sum_i w_i [h_t(x_i) !=
 *       y_i], w on the simplex;
 *            alpha_t = log((1 - e_t)/e_t) + log(K - 1);
 *                w_i <- w_i exp(alpha_t [h_t(x_i) != y_i]), summing to 1 again
 *   f_k(x) = ((K-1)/K) sum_t alpha_t (K [h_t(x) = k] - 1),
 *       for two classes f = (1/2) sum_t alpha_t (+-1)
 *
 * which descends the mean of exp(-<y, f>/K), exp(-y f) for two classes, a coordinate a round. Among
 * stumps within 1e-12 of the least error the first column's with the lowest s is taken, so that
 * rounding does not choose.
 *
 * Columns are sorted once, and rows of one value make one bin. A round sums weights from both ends
 * up to the largest bin, which is left out: a column of indicators costs its ones. */
#include "shared/bytes.h"
#include "shared/rows.h"

#include <float.h>
#include <stdio.h>

enum { STUMPS, OPTIONS };

static const scl_option options[OPTIONS] = {
    {"stumps", SCL_FORM_INTEGER, NULL, "50", 1, 1e7, 0, SCL_WIDTH_NONE,
     "how many rounds, each of which adds a stump"},
};

static const double tie = 1e-12;

typedef struct adaboost {
  const scl_host *host;
  size_t stumps;
} adaboost;

typedef struct stump {
  size_t column, left, right; /* the classes where x <= threshold, and where not */
  double threshold, alpha;
} stump;

typedef struct ensemble {
  size_t cols, targets, count;
  stump *list;
} ensemble;

static scl_status create(const scl_host *host, const scl_value *values, void **instance,
                         scl_error *error) {
  adaboost *self = host->allocate(sizeof *self);
  if (self == NULL)
    return host->fail(error, SCL_STATUS_NO_MEMORY, "not enough memory for a solver");
  *self = (adaboost){host, (size_t)values[STUMPS].number};
  *instance = self;
  return SCL_STATUS_OK;
}

static void destroy(void *instance) {
  adaboost *self = instance;
  self->host->release(self);
}

static void end(const void *instance, void *model) {
  const scl_host *host = ((const adaboost *)instance)->host;
  ensemble *m = model;
  if (m == NULL) return;
  host->release(m->list);
  host->release(m);
}

static scl_status reserve_stumps(const scl_host *host, size_t count, ensemble **out,
                                 scl_error *error) {
  ensemble *m = host->allocate(sizeof *m);
  stump *list = host->allocate((count + 1) * sizeof *list);
  if (m != NULL && list != NULL) {
    *m = (ensemble){.list = list};
    *out = m;
    return SCL_STATUS_OK;
  }
  host->release(m);
  host->release(list);
  return host->fail(error, SCL_STATUS_NO_MEMORY, "not enough memory for %zu stumps", count);
}

/* ---------------------------------------------------------------- columns in order */

typedef struct column {
  uint32_t *order; /* rows by ascending value */
  uint32_t *ends;  /* bin b is order[ends[b-1]] .. order[ends[b]-1] */
  size_t bins, largest;
} column;

typedef struct candidate {
  double error;
  size_t left; /* rows on the left, of the column's order */
} candidate;

typedef struct boosting {
  const scl_host *host;
  row_set set;
  size_t classes;
  uint32_t *class; /* rows */
  double *weights; /* rows, summing to 1 */
  column *columns;
  double *totals;   /* classes */
  double *sums;     /* columns x classes: the tasks' */
  candidate *found; /* columns */
} boosting;

/* Whole numbers in the order of the doubles; both zeros are one. */
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

/* By the bytes of the keys, lowest first; a byte that all share is skipped. Returns which of the
 * two holds the result. */
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

static int make_bins(const scl_host *host, const keyed *sorted, size_t count, column *out) {
  size_t bins = 1, most = 0;
  for (size_t i = 1; i < count; i++)
    bins += sorted[i].key != sorted[i - 1].key;
  out->order = host->allocate(count * sizeof *out->order);
  out->ends = host->allocate(bins * sizeof *out->ends);
  if (out->order == NULL || out->ends == NULL) return 0;
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
  return 1;
}

static void sort_column(void *context, size_t j) {
  boosting *b = context;
  const size_t n = b->set.rows;
  keyed *keys = b->host->allocate(2 * n * sizeof *keys);
  for (size_t i = 0; keys != NULL && i < n; i++)
    keys[i] = (keyed){ordered_bits(b->set.x[i * b->set.cols + j]), (uint32_t)i};
  const int made =
      keys != NULL && make_bins(b->host, sort_keys(keys, keys + n, n), n, &b->columns[j]);
  if (!made) b->columns[j].bins = 0;
  b->host->release(keys);
}

static scl_status sort_columns(boosting *b, scl_error *error) {
  size_t sorted = 0;
  b->host->parallel(b->set.cols, sort_column, b);
  for (size_t j = 0; j < b->set.cols; j++)
    sorted += b->columns[j].bins > 0;
  if (sorted == b->set.cols) return SCL_STATUS_OK;
  return b->host->fail(error, SCL_STATUS_NO_MEMORY,
                       "not enough memory for the order of %zu rows in %zu columns (%.3g GB)",
                       b->set.rows, b->set.cols, 4e-9 * (double)b->set.rows * (double)b->set.cols);
}

/* ---------------------------------------------------------------- the best stump */

/* The heaviest class of one side, which has `side` of the totals; the other side has what
 * remains. */
static double heaviest(const double *totals, const double *side, size_t classes, int other,
                       size_t *class) {
  double most = -INFINITY;
  for (size_t k = 0; k < classes; k++) {
    const double here = other ? totals[k] - side[k] : side[k];
    if (here <= most) continue;
    most = here;
    *class = k;
  }
  return most;
}

static double split_error(const boosting *b, const double *side) {
  size_t ignored;
  return 1 - heaviest(b->totals, side, b->classes, 0, &ignored) -
         heaviest(b->totals, side, b->classes, 1, &ignored);
}

static void add_rows(const boosting *b, const column *c, size_t start, size_t stop, double *side) {
  for (size_t i = start; i < stop; i++)
    side[b->class[c->order[i]]] += b->weights[c->order[i]];
}

static size_t bin_start(const column *c, size_t bin) {
  return bin == 0 ? 0 : c->ends[bin - 1];
}

/* Splits below the largest bin, from the left. */
static candidate search_below(const boosting *b, const column *c, double *side) {
  candidate best = {INFINITY, 0};
  memset(side, 0, b->classes * sizeof *side);
  for (size_t bin = 0; bin < c->largest; bin++) {
    add_rows(b, c, bin_start(c, bin), c->ends[bin], side);
    const double error = split_error(b, side);
    if (error < best.error - tie) best = (candidate){error, c->ends[bin]};
  }
  return best;
}

/* Splits above it, from the right, where the last of equals is the lowest. */
static candidate search_above(const boosting *b, const column *c, double *side) {
  candidate best = {INFINITY, 0};
  memset(side, 0, b->classes * sizeof *side);
  for (size_t bin = c->bins; bin-- > c->largest + 1;) {
    add_rows(b, c, bin_start(c, bin), c->ends[bin], side);
    const double error = split_error(b, side);
    if (error <= best.error + tie) best = (candidate){fmin(error, best.error), bin_start(c, bin)};
  }
  return best;
}

static void search_column(void *context, size_t j) {
  boosting *b = context;
  double *side = b->sums + j * b->classes;
  const candidate below = search_below(b, &b->columns[j], side),
                  above = search_above(b, &b->columns[j], side);
  b->found[j] = above.error < below.error - tie ? above : below;
}

/* Between the values on both sides; values next to each other leave the lower one. */
static double threshold_of(const boosting *b, size_t j, size_t left) {
  const uint32_t *order = b->columns[j].order;
  const double low = b->set.x[order[left - 1] * b->set.cols + j],
               high = b->set.x[order[left] * b->set.cols + j];
  const double middle = low / 2 + high / 2;
  return middle >= low && middle < high ? middle : low;
}

/* The stump, and how many rows of its column's order are on the left: all, where no split beats the
 * heaviest class. */
static double best_stump(boosting *b, stump *out, size_t *left) {
  double *side = b->sums, error;
  memset(b->totals, 0, b->classes * sizeof *b->totals);
  for (size_t i = 0; i < b->set.rows; i++)
    b->totals[b->class[i]] += b->weights[i];
  *out = (stump){.threshold = DBL_MAX};
  *left = b->set.rows;
  error = 1 - heaviest(b->totals, b->totals, b->classes, 0, &out->left);
  out->right = out->left;
  b->host->parallel(b->set.cols, search_column, b);
  for (size_t j = 0; j < b->set.cols; j++) {
    if (!(b->found[j].error < error - tie)) continue;
    error = b->found[j].error;
    out->column = j;
    *left = b->found[j].left;
  }
  if (*left == b->set.rows) return error;
  memset(side, 0, b->classes * sizeof *side);
  add_rows(b, &b->columns[out->column], 0, *left, side);
  (void)heaviest(b->totals, side, b->classes, 0, &out->left);
  (void)heaviest(b->totals, side, b->classes, 1, &out->right);
  out->threshold = threshold_of(b, out->column, *left);
  return error;
}

/* ---------------------------------------------------------------- rounds */

/* The weights of the rows that the stump gets wrong grow by exp(alpha); all are scaled to the sum
 * 1. Returns the error, summed anew. */
static double wrong_weight(const boosting *b, const stump *s, size_t left) {
  const uint32_t *order = b->columns[s->column].order;
  double wrong = 0;
  for (size_t p = 0; p < b->set.rows; p++)
    if (b->class[order[p]] != (p < left ? s->left : s->right)) wrong += b->weights[order[p]];
  return wrong;
}

static void reweigh(const boosting *b, const stump *s, size_t left) {
  const uint32_t *order = b->columns[s->column].order;
  const double factor = exp(s->alpha);
  double total = 0;
  for (size_t p = 0; p < b->set.rows; p++)
    if (b->class[order[p]] != (p < left ? s->left : s->right)) b->weights[order[p]] *= factor;
  for (size_t i = 0; i < b->set.rows; i++)
    total += b->weights[i];
  for (size_t i = 0; i < b->set.rows; i++)
    b->weights[i] /= total;
}

/* By how much a round shrinks the exponential loss. */
static double shrinkage(double error, double alpha, double classes) {
  return (1 - error) * exp(-alpha * (classes - 1) / classes) + error * exp(alpha / classes);
}

static scl_status rounds(boosting *b, const scl_problem *problem, size_t count, ensemble *m,
                         scl_solution *out, scl_error *error) {
  const double classes = (double)b->classes, chance = 1 - 1 / classes;
  double loss = 1;
  out->outcome = SCL_OUTCOME_STOPPED;
  for (size_t t = 0; t < count; t++) {
    stump *s = &m->list[m->count];
    size_t left;
    const scl_status status =
        problem->progress(problem, (double)t / (double)count, "stumps", error);
    if (status != SCL_STATUS_OK) return status;
    if (!(best_stump(b, s, &left) < chance - tie)) {
      out->outcome = SCL_OUTCOME_CONVERGED; /* no coordinate descends */
      break;
    }
    const double e = wrong_weight(b, s, left);
    m->count++;
    s->alpha = 1;
    if (e <= 0) { /* only the first stump can be without error, unless weights have vanished */
      out->outcome = SCL_OUTCOME_CONVERGED;
      loss = 0;
      break;
    }
    s->alpha = log((1 - e) / e) + log(classes - 1);
    loss *= shrinkage(e, s->alpha, classes);
    reweigh(b, s, left);
  }
  out->iterations = m->count;
  if (m->count == 0)
    return b->host->fail(
        error, SCL_STATUS_BAD_DATA,
        "no split of a column does better than guessing: boosting has nothing to begin with");
  (void)snprintf(out->note, sizeof out->note, "%zu stumps, exponential loss %.4g", m->count, loss);
  return SCL_STATUS_OK;
}

/* ---------------------------------------------------------------- fitting */

static scl_status reserve(boosting *b, scl_error *error) {
  const size_t n = b->set.rows, d = b->set.cols, k = b->classes;
  if (n > INT32_MAX)
    return b->host->fail(error, SCL_STATUS_UNSUPPORTED, "%zu rows are more than boosting counts",
                         n);
  b->class = b->host->allocate(n * sizeof *b->class);
  b->weights = b->host->allocate(n * sizeof *b->weights);
  b->columns = b->host->allocate(d * sizeof *b->columns);
  b->totals = b->host->allocate(k * sizeof *b->totals);
  b->sums = b->host->allocate(d * k * sizeof *b->sums);
  b->found = b->host->allocate(d * sizeof *b->found);
  if (b->columns != NULL) memset(b->columns, 0, d * sizeof *b->columns);
  if (b->class == NULL || b->weights == NULL || b->columns == NULL || b->totals == NULL ||
      b->sums == NULL || b->found == NULL)
    return b->host->fail(error, SCL_STATUS_NO_MEMORY, "not enough memory to boost %zu rows", n);
  return SCL_STATUS_OK;
}

static void begin(boosting *b) {
  double total = 0;
  for (size_t i = 0; i < b->set.rows; i++)
    total += b->set.weights[i];
  for (size_t i = 0; i < b->set.rows; i++) {
    b->class[i] = (uint32_t)rows_class(&b->set, i);
    b->weights[i] = b->set.weights[i] / total;
  }
}

static void release(boosting *b) {
  for (size_t j = 0; b->columns != NULL && j < b->set.cols; j++) {
    b->host->release(b->columns[j].order);
    b->host->release(b->columns[j].ends);
  }
  b->host->release(b->columns);
  b->host->release(b->class);
  b->host->release(b->weights);
  b->host->release(b->totals);
  b->host->release(b->sums);
  b->host->release(b->found);
  rows_release(b->host, &b->set);
}

static scl_status fit(const void *instance, const scl_problem *problem, void **model,
                      scl_solution *out, scl_error *error) {
  const adaboost *self = instance;
  boosting b = {.host = self->host};
  ensemble *m = NULL;
  if (problem->task != SCL_TASK_CLASSIFICATION)
    return self->host->fail(
        error, SCL_STATUS_UNSUPPORTED,
        "boosted stumps tell classes apart; for numbers take knn, svm or kernel_ridge");
  scl_status status = reserve_stumps(self->host, self->stumps, &m, error);
  if (status != SCL_STATUS_OK) return status;
  status = rows_collect(problem, &b.set, error);
  if (status == SCL_STATUS_OK) status = rows_need_two_classes(self->host, &b.set, error);
  b.classes = rows_classes(&b.set);
  m->cols = problem->features;
  m->targets = problem->targets;
  if (status == SCL_STATUS_OK) status = reserve(&b, error);
  if (status == SCL_STATUS_OK) status = sort_columns(&b, error);
  if (status == SCL_STATUS_OK) {
    begin(&b);
    status = rounds(&b, problem, self->stumps, m, out, error);
  }
  release(&b);
  if (status == SCL_STATUS_OK)
    *model = m;
  else
    end(self, m);
  return status;
}

/* ---------------------------------------------------------------- scores */

/* From the votes of the classes, sums of alpha, to f. */
static void votes_to_scores(const ensemble *m, const double *votes, double *scores) {
  const size_t classes = m->targets == 1 ? 2 : m->targets;
  const double k = (double)classes;
  double total = 0;
  for (size_t j = 0; j < classes; j++)
    total += votes[j];
  for (size_t j = 0; j < m->targets; j++)
    scores[j] = (k - 1) / k * (k * votes[m->targets == 1 ? 1 : j] - total);
}

static scl_status decide(const void *instance, const void *model, const scl_block *rows,
                         double *scores, ptrdiff_t stride, scl_error *error) {
  const scl_host *host = ((const adaboost *)instance)->host;
  const ensemble *m = model;
  double *copy;
  ptrdiff_t x_stride;
  if (rows->cols != m->cols)
    return host->fail(error, SCL_STATUS_BAD_SHAPE, "rows of %zu columns where the model takes %zu",
                      rows->cols, m->cols);
  const double *x = rows_wide(host, rows, &copy, &x_stride);
  double *votes = host->allocate((m->targets + 1) * sizeof *votes);
  scl_status status = SCL_STATUS_OK;
  if (x == NULL || votes == NULL)
    status = host->fail(error, SCL_STATUS_NO_MEMORY, "not enough memory for a copy of %zu rows",
                        rows->rows);
  for (size_t i = 0; status == SCL_STATUS_OK && i < rows->rows; i++, x += x_stride) {
    memset(votes, 0, (m->targets + 1) * sizeof *votes);
    for (size_t t = 0; t < m->count; t++) {
      const stump *s = &m->list[t];
      votes[x[s->column] <= s->threshold ? s->left : s->right] += s->alpha;
    }
    votes_to_scores(m, votes, scores + (ptrdiff_t)i * stride);
  }
  host->release(votes);
  host->release(copy);
  return status;
}

/* ---------------------------------------------------------------- bytes */

static const char title[] = "adaboost 1";

static scl_status save(const void *instance, const void *model, scl_write write, void *context,
                       scl_error *error) {
  (void)instance;
  const ensemble *m = model;
  byte_writer w = {write, context, error, SCL_STATUS_OK};
  bytes_put_title(&w, title);
  bytes_put_size(&w, m->count);
  bytes_put_size(&w, m->cols);
  bytes_put_size(&w, m->targets);
  for (size_t t = 0; t < m->count; t++) {
    const double numbers[2] = {m->list[t].threshold, m->list[t].alpha};
    bytes_put_size(&w, m->list[t].column);
    bytes_put_size(&w, m->list[t].left);
    bytes_put_size(&w, m->list[t].right);
    bytes_put_numbers(&w, numbers, 2);
  }
  return w.status;
}

static void get_stump(byte_reader *r, const ensemble *m, stump *out) {
  const size_t last = m->targets == 1 ? 1 : m->targets - 1;
  double numbers[2] = {0, 0};
  out->column = bytes_get_size(r, 0, m->cols - 1, "a column");
  out->left = bytes_get_size(r, 0, last, "a class");
  out->right = bytes_get_size(r, 0, last, "a class");
  bytes_get_numbers(r, numbers, 2);
  out->threshold = numbers[0];
  out->alpha = numbers[1];
}

static scl_status load(const void *instance, scl_read read, void *context, void **model,
                       scl_error *error) {
  const scl_host *host = ((const adaboost *)instance)->host;
  byte_reader r = {host, read, context, error, SCL_STATUS_OK};
  ensemble *m = NULL;
  bytes_expect_title(&r, title);
  const size_t count = bytes_get_size(&r, 1, 10000000, "the number of stumps");
  if (r.status == SCL_STATUS_OK) r.status = reserve_stumps(host, count, &m, error);
  if (r.status != SCL_STATUS_OK) return r.status;
  m->cols = bytes_get_size(&r, 1, INT32_MAX, "the number of columns");
  m->targets = bytes_get_size(&r, 1, 65536, "the number of targets");
  for (; r.status == SCL_STATUS_OK && m->count < count; m->count++)
    get_stump(&r, m, &m->list[m->count]);
  if (r.status == SCL_STATUS_OK)
    *model = m;
  else
    end(instance, m);
  return r.status;
}

#include "shared/model_solver.h"

const scl_plugin scullery_plugin = {
    SCL_HEAD(scl_plugin),
    SCL_KIND_SOLVER,
    "adaboost",
    "1.0",
    "The Scullery authors",
    "AdaBoost on decision stumps; several classes by SAMME",
    "Each round adds the stump x_j <= s ? a : b with the least weighted error e, with alpha = "
    "log((1 - e)/e) + log(K - 1), and\n"
    "multiplies the weights of the rows that it gets wrong by exp(alpha). f_k = ((K-1)/K) sum_t "
    "alpha_t (K [h_t(x) = k] - 1); for two\n"
    "classes f = (1/2) sum_t alpha_t (+-1), and the mean of exp(-y f) descends (info().note says "
    "to what). Row weights are where it\n"
    "begins. The search is exact, over all splits of all columns. Scaling of columns changes "
    "nothing. Freund and Schapire 1997; Zhu,\n"
    "Zou, Rosset and Hastie 2009.",
    options,
    OPTIONS,
    &table,
    create,
    destroy,
    ability};
