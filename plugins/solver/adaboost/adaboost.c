/* AdaBoost on decision stumps (Freund and Schapire 1997), for several classes as SAMME (Zhu, Zou,
 * Rosset and Hastie 2009). There are K classes, and weights w_i of the rows, with sum 1. Round t
 * takes the stump
 *
 *   h_t(x) = a where x_j <= s, else b
 *
 * of the least error e_t, which gives its weight and the next weights of the rows, scaled to sum 1:
 *
 *   e_t = sum_i w_i [h_t(x_i) != y_i]
 *   alpha_t = log((1 - e_t)/e_t) + log(K - 1)
 *   w_i <- w_i exp(alpha_t [h_t(x_i) != y_i])
 *
 * The scores are, for several classes and for two,
 *
 *   f_k(x) = ((K-1)/K) sum_t alpha_t (K [h_t(x) = k] - 1)
 *   f(x) = (1/2) sum_t alpha_t (+-1)
 *
 * This is coordinate descent on the mean of exp(-<y, f>/K); for two classes of exp(-y f). Among
 * stumps within 1e-12 of the least error, that of the first column with the lowest s is taken, so
 * that rounding does not choose.
 *
 * form "real" (SAMME.R of the same authors; for two classes the real AdaBoost of Friedman, Hastie
 * and Tibshirani 2000): the stump is that of the least weighted Gini impurity, and a side with the
 * weights p_k of the classes, scaled to sum 1, adds to f_k
 *
 *   h_k = (K - 1) (log p_k - mean_j log p_j),   w_i <- w_i exp(-<y_i, h>/K).
 *
 * p_k is at least 2^-52, as in scikit-learn.
 *
 * Columns are sorted once, and rows of one value make a bin. A round sums weights from both ends up
 * to the largest bin, which is left out: a column of indicators costs as much as it has ones. */
#include "columns.h"
#include "definition.h"
#include "shared/models.h"
#include "shared/rows.h"
#include "shared/state.h"

#include <float.h>
#include <stdio.h>

static const double tie = 1e-12;

enum { FORM_DISCRETE, FORM_REAL };

typedef struct adaboost {
  scl_base base;
  size_t stumps;
  int32_t form;
} adaboost;

static const scl_option options[] = {
    SCL_INTEGER(adaboost, stumps, "50", "number of rounds, each of which adds a stump",
                SCL_WITHIN(1, 1e7), .role = SCL_ROLE_CAPACITY),
    SCL_WORD(
        adaboost, form, "discrete|real", "discrete",
        "discrete: stumps vote for a class, SAMME; real: by the shares of the classes on their "
        "sides, SAMME.R")};

/* The stumps of a model, one entry of each array per stump. */
typedef struct ensemble {
  size_t targets, count;
  int32_t *column, *left, *right; /* the classes where x <= threshold, and where not */
  double *threshold, *weight;     /* alpha */
  /* form "real": h where x <= threshold, and where not, count x K each; else NULL */
  double *low, *high;
} ensemble;

static void end(const void *instance, void *model) {
  const scl_host *host = ((const adaboost *)instance)->base.host;
  const ensemble *m = model;
  host->release(m->column);
  host->release(m->left);
  host->release(m->right);
  host->release(m->threshold);
  host->release(m->weight);
  host->release(m->low);
  host->release(m->high);
  host->release(model);
}

static scl_status reserve_stumps(const scl_host *host, size_t count, bool real, ensemble *m,
                                 scl_error *error) {
  const size_t sides = count * (m->targets == 1 ? 2 : m->targets) * sizeof *m->low;
  m->column = host->allocate(count * sizeof *m->column);
  m->left = host->allocate(count * sizeof *m->left);
  m->right = host->allocate(count * sizeof *m->right);
  m->threshold = host->allocate(count * sizeof *m->threshold);
  m->weight = host->allocate(count * sizeof *m->weight);
  m->low = real ? host->allocate(sides) : NULL;
  m->high = real ? host->allocate(sides) : NULL;
  if (m->column != NULL && (!real || (m->low != NULL && m->high != NULL)) && m->left != NULL &&
      m->right != NULL && m->threshold != NULL && m->weight != NULL)
    return SCL_STATUS_OK;
  return host->fail(error, SCL_STATUS_NO_MEMORY, "not enough memory for %zu stumps", count);
}

/* The best split of one column. The classes of its two sides are found again once the column has
 * won. */
typedef struct candidate {
  double error;
  size_t left; /* rows on the left, of the column's order */
} candidate;

typedef struct boosting {
  const scl_host *host;
  row_set set;
  size_t classes;
  bool real;
  uint32_t *class; /* rows */
  double *weights; /* rows, summing to 1 */
  column *columns;
  double *totals;   /* classes */
  double *sums;     /* columns x classes: scratch of the tasks */
  candidate *found; /* columns */
} boosting;

/* A task of the pool: sorts the rows by column j. */
static scl_status sort_column(void *context, size_t j, scl_error *error) {
  boosting *b = context;
  const size_t n = b->set.rows, d = b->set.cols;
  if (column_order(b->host, b->set.x + j, n, d, &b->columns[j])) return SCL_STATUS_OK;
  return b->host->fail(error, SCL_STATUS_NO_MEMORY,
                       "not enough memory for the order of %zu rows in %zu columns (%.3g GB)", n, d,
                       4e-9 * (double)n * (double)d);
}

/* ------------ the best stump */

typedef struct stump {
  size_t column, left, right; /* the classes where x <= threshold, and where not */
  double threshold;
  size_t rows; /* rows on the left, of the column's order */
} stump;

/* The largest weight on one side, and its class, the first of those within the tie. `side` holds
 * that side's weight of each class; the other side has totals - side. */
static double heaviest(const double *totals, const double *side, size_t classes, bool other,
                       size_t *class) {
  double most = -INFINITY, chosen = -INFINITY;
  for (size_t k = 0; k < classes; k++) {
    const double here = other ? totals[k] - side[k] : side[k];
    most = fmax(most, here);
    if (!(here > chosen + tie)) continue;
    chosen = here;
    *class = k;
  }
  return most;
}

/* Gini's impurity of a split: sum over its sides of W (1 - sum_k p_k^2), p the shares of W. */
static double impurity(const boosting *b, const double *side) {
  double here = 0, there = 0, squares = 0, others = 0;
  for (size_t k = 0; k < b->classes; k++) {
    const double rest = fmax(b->totals[k] - side[k], 0);
    here += side[k];
    there += rest;
    squares += side[k] * side[k];
    others += rest * rest;
  }
  return 1 - (here > 0 ? squares / here : 0) - (there > 0 ? others / there : 0);
}

/* The weighted error of a split whose left (or right) side has these weights of the classes; for
 * the real form its impurity. Each side predicts its heaviest class, and all weights sum to 1. */
static double split_error(const boosting *b, const double *side) {
  size_t ignored;
  if (b->real) return impurity(b, side);
  return 1 - heaviest(b->totals, side, b->classes, false, &ignored) -
         heaviest(b->totals, side, b->classes, true, &ignored);
}

/* Adds the weights of the rows at places start .. stop - 1 of the column's order to `side`. */
static void add_rows(const boosting *b, const column *c, size_t start, size_t stop, double *side) {
  for (size_t i = start; i < stop; i++)
    side[b->class[c->order[i]]] += b->weights[c->order[i]];
}

static size_t bin_start(const column *c, size_t bin) { return bin == 0 ? 0 : c->ends[bin - 1]; }

/* Candidate splits below the largest bin, scanned from the left. */
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

/* Candidate splits above the largest bin, scanned from the right; of equal errors the last one
 * scanned, which has the lowest threshold, is taken. */
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

/* A task of the pool: the best split of column j. A split above the largest bin has to win by more
 * than the tie, so that of equal errors the lowest threshold is taken. */
static scl_status search_column(void *context, size_t j, scl_error *error) {
  (void)error;
  const boosting *b = context;
  double *side = b->sums + j * b->classes;
  const candidate below = search_below(b, &b->columns[j], side),
                  above = search_above(b, &b->columns[j], side);
  b->found[j] = above.error < below.error - tie ? above : below;
  return SCL_STATUS_OK;
}

/* The threshold between places left - 1 and left: the midpoint of the two values, halved before
 * they are added so that the sum cannot overflow, or the lower value where the midpoint rounds to
 * the higher. */
static double threshold_of(const boosting *b, size_t j, size_t left) {
  const uint32_t *order = b->columns[j].order;
  const double low = b->set.x[order[left - 1] * b->set.cols + j],
               high = b->set.x[order[left] * b->set.cols + j];
  const double middle = low / 2 + high / 2;
  return middle >= low && middle < high ? middle : low;
}

/* Writes the stump of least error to *out and its error to *least. The first guess is a stump with
 * all rows on its left, which predicts the heaviest class everywhere; it stays where no split is
 * better. Columns are compared in order, so that a tie goes to the first. */
static scl_status best_stump(boosting *b, stump *out, double *least, scl_error *error) {
  double *side = b->sums;
  memset(b->totals, 0, b->classes * sizeof *b->totals);
  for (size_t i = 0; i < b->set.rows; i++)
    b->totals[b->class[i]] += b->weights[i];
  *out = (stump){.threshold = DBL_MAX, .rows = b->set.rows};
  *least = 1 - heaviest(b->totals, b->totals, b->classes, false, &out->left);
  if (b->real) *least = impurity(b, b->totals);
  out->right = out->left;
  const scl_status status = b->host->parallel(b->set.cols, search_column, b, error);
  for (size_t j = 0; status == SCL_STATUS_OK && j < b->set.cols; j++) {
    if (!(b->found[j].error < *least - tie)) continue;
    *least = b->found[j].error;
    out->column = j;
    out->rows = b->found[j].left;
  }
  if (status != SCL_STATUS_OK || out->rows == b->set.rows) return status;
  memset(side, 0, b->classes * sizeof *side);
  add_rows(b, &b->columns[out->column], 0, out->rows, side);
  (void)heaviest(b->totals, side, b->classes, false, &out->left);
  (void)heaviest(b->totals, side, b->classes, true, &out->right);
  out->threshold = threshold_of(b, out->column, out->rows);
  return SCL_STATUS_OK;
}

/* ------------ rounds */

/* Whether the stump misclassifies the row at place p of its column's order. */
static bool is_wrong(const boosting *b, const stump *s, size_t p) {
  return b->class[b->columns[s->column].order[p]] != (p < s->rows ? s->left : s->right);
}

/* The stump's weighted error, summed afresh from the row weights. */
static double wrong_weight(const boosting *b, const stump *s) {
  const uint32_t *order = b->columns[s->column].order;
  double wrong = 0;
  for (size_t p = 0; p < b->set.rows; p++)
    if (is_wrong(b, s, p)) wrong += b->weights[order[p]];
  return wrong;
}

/* w_i <- w_i exp(alpha [h(x_i) != y_i]), scaled to sum 1. */
static void reweigh(const boosting *b, const stump *s, double alpha) {
  const uint32_t *order = b->columns[s->column].order;
  const double factor = exp(alpha);
  double total = 0;
  for (size_t p = 0; p < b->set.rows; p++)
    if (is_wrong(b, s, p)) b->weights[order[p]] *= factor;
  for (size_t i = 0; i < b->set.rows; i++)
    total += b->weights[i];
  for (size_t i = 0; i < b->set.rows; i++)
    b->weights[i] /= total;
}

static void add_stump(ensemble *m, const stump *s, double alpha) {
  m->column[m->count] = (int32_t)s->column;
  m->left[m->count] = (int32_t)s->left;
  m->right[m->count] = (int32_t)s->right;
  m->threshold[m->count] = s->threshold;
  m->weight[m->count++] = alpha;
}

/* A round of the real form: adds the stump, and weighs the rows by exp(-<y, h>/K), y_j = 1 for the
 * row's class and -1/(K - 1) for the others; the entries of h sum to 0, so that <y, h> is
 * K/(K - 1) h of the class. Returns the factor by which the loss changes. */
static double real_round(boosting *b, const stump *s, ensemble *m) {
  const size_t K = b->classes, n = b->set.rows;
  const uint32_t *order = b->columns[s->column].order;
  double *low = m->low + m->count * K, *high = m->high + m->count * K, *side = b->sums, total = 0;
  memset(side, 0, 2 * K * sizeof *side);
  for (size_t p = 0; p < n; p++)
    side[(p < s->rows ? 0 : K) + b->class[order[p]]] += b->weights[order[p]];
  for (size_t k = 0; k < 2 * K; k += K) { /* a stump that does not split leaves one side empty */
    double *h = k == 0 ? low : high, *p = side + k, weight = 0, mean = 0;
    for (size_t j = 0; j < K; j++)
      weight += p[j];
    for (size_t j = 0; j < K; j++)
      mean += (h[j] = log(fmax(weight > 0 ? p[j] / weight : 1, DBL_EPSILON))) / (double)K;
    for (size_t j = 0; j < K; j++)
      h[j] = (double)(K - 1) * (h[j] - mean);
  }
  for (size_t p = 0; p < n; p++) {
    double *w = &b->weights[order[p]];
    *w *= exp(-(p < s->rows ? low : high)[b->class[order[p]]] / (double)(K - 1));
    total += *w;
  }
  for (size_t i = 0; i < n; i++)
    b->weights[i] /= total;
  add_stump(m, s, 1);
  return total;
}

/* Runs up to `count` rounds. Ends as converged when no stump is better than guessing, or when a
 * stump makes no error: with error 0 alpha would be infinite, so the stump gets weight 1. */
static scl_status boost(boosting *b, const scl_problem *problem, size_t count, ensemble *m,
                        scl_solution *out, scl_error *error) {
  const double classes = (double)b->classes, chance = 1 - 1 / classes;
  double loss = 1;
  size_t t = 0;
  state kept = {0};
  STATE_ADD(&kept, t);
  STATE_ADD(&kept, loss);
  STATE_ADD(&kept, m->count);
  state_add(&kept, b->weights, b->set.rows * sizeof *b->weights);
  state_add(&kept, m->column, count * sizeof *m->column);
  state_add(&kept, m->left, count * sizeof *m->left);
  state_add(&kept, m->right, count * sizeof *m->right);
  state_add(&kept, m->threshold, count * sizeof *m->threshold);
  state_add(&kept, m->weight, count * sizeof *m->weight);
  if (b->real) {
    state_add(&kept, m->low, count * b->classes * sizeof *m->low);
    state_add(&kept, m->high, count * b->classes * sizeof *m->high);
  }
  out->outcome = SCL_OUTCOME_STOPPED;
  for (; t < count && out->outcome == SCL_OUTCOME_STOPPED; t++) {
    stump s;
    double least = 0;
    scl_status status = state_keep(problem, &kept, error);
    if (status == SCL_STATUS_OK)
      status = problem->progress(problem, "stumps", (double)t / (double)count, loss, error);
    if (status == SCL_STATUS_OK) status = best_stump(b, &s, &least, error);
    if (status != SCL_STATUS_OK) return status;
    if (!b->real && !(least < chance - tie)) { /* no stump lowers the loss */
      out->outcome = SCL_OUTCOME_CONVERGED;
      break;
    }
    const double e = wrong_weight(b, &s);
    if (b->real) {
      const double factor = real_round(b, &s, m);
      loss *= factor;
      if (!(e > 0) || !(factor < 1 - tie)) out->outcome = SCL_OUTCOME_CONVERGED;
    } else if (e > 0) {
      const double alpha = log((1 - e) / e) + log(classes - 1);
      add_stump(m, &s, alpha);
      /* the mean of exp(-<y, f>/K): <y, f>/K rises by alpha (K-1)/K in rows that are right and
       * falls by alpha/K in the others */
      loss *= (1 - e) * exp(-alpha * (classes - 1) / classes) + e * exp(alpha / classes);
      reweigh(b, &s, alpha);
    } else { /* only the first stump can have error 0, unless weights have underflowed */
      add_stump(m, &s, 1);
      loss = 0;
      out->outcome = SCL_OUTCOME_CONVERGED;
    }
  }
  out->iterations = m->count;
  if (m->count == 0)
    return b->host->fail(
        error, SCL_STATUS_BAD_DATA,
        "no split of a column does better than guessing, so boosting found no first stump");
  (void)snprintf(out->note, sizeof out->note, "%zu stumps, exponential loss %.4g", m->count, loss);
  return SCL_STATUS_OK;
}

/* ------------ fitting */

static scl_status boosting_reserve(boosting *b, scl_error *error) {
  const size_t n = b->set.rows, d = b->set.cols, k = b->classes;
  if (n > INT32_MAX || d > INT32_MAX)
    return b->host->fail(error, SCL_STATUS_UNSUPPORTED,
                         "%zu rows of %zu columns are more than boosting can index", n, d);
  b->class = b->host->scratch(n * sizeof *b->class);
  b->weights = b->host->scratch(n * sizeof *b->weights);
  b->columns = b->host->scratch(d * sizeof *b->columns);
  b->totals = b->host->scratch(k * sizeof *b->totals);
  b->sums = b->host->scratch((d + 1) * k * sizeof *b->sums); /* real_round takes 2 k */
  b->found = b->host->scratch(d * sizeof *b->found);
  if (b->columns != NULL) memset(b->columns, 0, d * sizeof *b->columns);
  if (b->class == NULL || b->weights == NULL || b->columns == NULL || b->totals == NULL ||
      b->sums == NULL || b->found == NULL)
    return b->host->fail(error, SCL_STATUS_NO_MEMORY, "not enough memory to boost %zu rows", n);
  return SCL_STATUS_OK;
}

static void set_weights(boosting *b) {
  double total = 0;
  for (size_t i = 0; i < b->set.rows; i++)
    total += b->set.weights[i];
  for (size_t i = 0; i < b->set.rows; i++) {
    b->class[i] = (uint32_t)rows_class(&b->set, i);
    b->weights[i] = b->set.weights[i] / total;
  }
}

/* Collects the rows as a dense matrix, sorts every column once and sets the first weights, those of
 * the problem's rows scaled to sum 1. */
static scl_status boosting_prepare(boosting *b, const scl_problem *problem, scl_error *error) {
  scl_status status = rows_collect(problem, &b->set, error);
  if (status == SCL_STATUS_OK) status = rows_need_two_classes(b->host, &b->set, error);
  b->classes = rows_classes(&b->set);
  if (status == SCL_STATUS_OK) status = boosting_reserve(b, error);
  if (status == SCL_STATUS_OK) status = b->host->parallel(b->set.cols, sort_column, b, error);
  if (status == SCL_STATUS_OK) set_weights(b);
  return status;
}

/* The slot `fit` of the solver: *model receives the stumps, which `end` releases. The sorted
 * columns are released here, however the fit ends. */
static scl_status fit(const void *instance, const scl_problem *problem, void **model,
                      scl_solution *out, scl_error *error) {
  const adaboost *self = instance;
  boosting b = {.host = problem->host, .real = self->form == FORM_REAL};
  if (problem->task != SCL_TASK_CLASSIFICATION)
    return b.host->fail(
        error, SCL_STATUS_UNSUPPORTED,
        "boosted stumps are for classification; for regression take knn, svm or kernel_ridge");
  ensemble *m = models_new(b.host, sizeof *m, error);
  if (m == NULL) return SCL_STATUS_NO_MEMORY;
  m->targets = problem->targets;
  scl_status status = reserve_stumps(b.host, self->stumps, b.real, m, error);
  if (status == SCL_STATUS_OK) status = boosting_prepare(&b, problem, error);
  if (status == SCL_STATUS_OK) status = boost(&b, problem, self->stumps, m, out, error);
  for (size_t j = 0; b.columns != NULL && j < b.set.cols; j++) {
    b.host->release(b.columns[j].order);
    b.host->release(b.columns[j].ends);
  }
  rows_release(b.host, &b.set);
  if (status == SCL_STATUS_OK)
    *model = m;
  else
    end(instance, m);
  return status;
}

/* ------------ scores */

/* Writes the scores f of one row from each class's votes, the sums of alpha of the stumps that
 * predict it. Two classes have one score, that of class 1, and K = 2 makes it votes[1] - votes[0]
 * over 2. */
static void votes_to_scores(const ensemble *m, const double *votes, double *scores) {
  const size_t classes = m->targets == 1 ? 2 : m->targets;
  const double k = (double)classes;
  double total = 0;
  for (size_t j = 0; j < classes; j++)
    total += votes[j];
  for (size_t j = 0; j < m->targets; j++)
    scores[j] = (k - 1) / k * (k * votes[m->targets == 1 ? 1 : j] - total);
}

/* Votes of all stumps for each row, then scores. */
static scl_status decide(const void *instance, const void *model, const scl_const_block *rows,
                         double *scores, ptrdiff_t stride, scl_error *error) {
  const scl_host *host = ((const adaboost *)instance)->base.host;
  const ensemble *m = model;
  const size_t classes = m->targets == 1 ? 2 : m->targets;
  const double *x = rows->data;
  double *votes = host->scratch((m->targets + 1) * sizeof *votes);
  if (votes == NULL)
    return host->fail(error, SCL_STATUS_NO_MEMORY, "not enough memory for the votes of a row");
  for (size_t i = 0; i < rows->rows; i++, x += rows->row_stride) {
    double *out = scores + (ptrdiff_t)i * stride;
    memset(votes, 0, (m->targets + 1) * sizeof *votes);
    for (size_t t = 0; t < m->count; t++) {
      const bool below = x[m->column[t]] <= m->threshold[t];
      const double *h = m->low == NULL ? NULL : (below ? m->low : m->high) + t * classes;
      for (size_t j = 0; h != NULL && j < classes; j++)
        votes[j] += h[j];
      if (h == NULL) votes[below ? m->left[t] : m->right[t]] += m->weight[t];
    }
    if (m->low == NULL)
      votes_to_scores(m, votes, out);
    else
      memcpy(out, m->targets == 1 ? votes + 1 : votes, m->targets * sizeof *out);
  }
  return SCL_STATUS_OK;
}

/* ------------ arrays: stumps.column and so on */

static scl_status save(const void *instance, const void *model, scl_archive *archive,
                       scl_error *error) {
  const ensemble *m = model;
  model_writer w = {archive, error, SCL_STATUS_OK};
  (void)instance;
  models_put(&w, "stumps.column", SCL_DTYPE_INT32, m->count, 0, m->column);
  models_put(&w, "stumps.threshold", SCL_DTYPE_FLOAT64, m->count, 0, m->threshold);
  models_put(&w, "stumps.left", SCL_DTYPE_INT32, m->count, 0, m->left);
  models_put(&w, "stumps.right", SCL_DTYPE_INT32, m->count, 0, m->right);
  models_put(&w, "stumps.weight", SCL_DTYPE_FLOAT64, m->count, 0, m->weight);
  if (m->low != NULL) {
    const size_t sides = m->count * (m->targets == 1 ? 2 : m->targets);
    models_put(&w, "stumps.low", SCL_DTYPE_FLOAT64, sides, 0, m->low);
    models_put(&w, "stumps.high", SCL_DTYPE_FLOAT64, sides, 0, m->high);
  }
  return w.status;
}

static void get_model(const void *self, model_reader *r, size_t features, size_t targets,
                      void *model) {
  const size_t classes = targets == 1 ? 2 : targets;
  ensemble *m = model;
  (void)self;
  m->targets = targets;
  m->column = models_get_places(r, "stumps.column", &m->count, 0, features);
  m->threshold = models_get(r, "stumps.threshold", SCL_DTYPE_FLOAT64, &m->count, 0);
  m->left = models_get_places(r, "stumps.left", &m->count, 0, classes);
  m->right = models_get_places(r, "stumps.right", &m->count, 0, classes);
  m->weight = models_get(r, "stumps.weight", SCL_DTYPE_FLOAT64, &m->count, 0);
  /* Of the form "real" alone, and then both. */
  size_t sides = m->count * classes;
  m->low = models_get_optional(r, "stumps.low", sides);
  m->high = models_get_optional(r, "stumps.high", sides);
  if (r->status == SCL_STATUS_OK && (m->low == NULL) != (m->high == NULL))
    r->status =
        r->host->fail(r->error, SCL_STATUS_BAD_DATA,
                      "the model has one of 'stumps.low' and 'stumps.high', and both belong "
                      "together");
}
MODELS_LOAD(ensemble)

/* Each column is sorted once, and read by each stump but for the rows of its most frequent value:
 * here all rows, as that value is not known. */
static void cost(const void *instance, const scl_problem *problem, const double *values,
                 size_t count, int32_t weighted, scl_cost *out) {
  const adaboost *self = instance;
  const double n = (double)problem->rows, d = (double)problem->features;
  (void)values, (void)count, (void)weighted;
  out->passes = 1;
  out->steps = n * d * (2 * log2(n + 2) + (double)self->stumps);
  out->bytes = n * d * (sizeof(double) + sizeof(int32_t)) + 6 * n * sizeof(double);
  (void)snprintf(out->note, sizeof out->note,
                 "less time for columns in which a value is frequent, as in indicators");
}

const scl_plugin scullery_plugin = {
    .name = "adaboost",
    .summary = "AdaBoost on decision stumps; several classes by SAMME or SAMME.R",
    .definition = adaboost_definition,
    .doc =
        "Each round adds the stump x_j <= s ? a : b with the least weighted error e, with\n"
        "alpha = log((1 - e)/e) + log(K - 1), and multiplies the weights of the rows that it\n"
        "gets wrong by exp(alpha). f_k = ((K-1)/K) sum_t alpha_t (K [h_t(x) = k] - 1). For two\n"
        "classes f = (1/2) sum_t alpha_t (+-1), and the mean of exp(-y f) descends (its value is\n"
        "in info().note). The row weights are the first weights. The search is exact, over all\n"
        "splits of all columns. Scaling of columns changes nothing. form = \"real\": the stump of\n"
        "the least Gini impurity adds (K - 1) (log p_k - mean log p) to f_k, p the shares of the\n"
        "classes on the row's side (SAMME.R; real AdaBoost for two). Freund and Schapire 1997;\n"
        "Friedman, Hastie and Tibshirani 2000; Zhu, Zou, Rosset and Hastie 2009.",
    MODELS_SOLVER,
    SCL_INSTANCE(adaboost, options)};
