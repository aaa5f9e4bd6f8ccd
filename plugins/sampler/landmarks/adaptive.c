/* Landmarks chosen one after the other among m candidates, each with a probability proportional to
 * its score given those chosen before, S:
 *
 *   k-means++   min over s in S of ||x - x_s||^2; the first landmark uniform
 *               (Arthur and Vassilvitskii 2007, k-means++: the advantages of careful seeding)
 *   pivoted     k(x, x) - k(x, S) k(S, S)^-1 k(S, x), the diagonal that a Cholesky factorisation
 *               with the pivots S leaves (Chen, Epperly, Tropp and Webber 2023, Randomly pivoted
 *               Cholesky, algorithm 1)
 *
 * by rejection in rounds (Epperly, Tropp and Webber 2024, Embrace rejection): candidates are
 * proposed by the scores at the beginning of the round, and accepted, one after the other, with the
 * probability score now / score then. Scores only fall, so that the law is the same as if all m
 * scores were updated after each choice, but the updates are matrix products. Where all scores are
 * 0, rounding apart, the rest is drawn uniformly. */
#include "landmarks.h"
#include "shared/distances.h"

/* Copies a candidate's row to place `to` of the rows at hand. */
static void adaptive_pick(adaptive *a, size_t to, size_t candidate) {
  const size_t d = a->learning->dim;
  memcpy(a->picked + to * d, a->rows + candidate * d, d * sizeof *a->rows);
}

/* ------------ k-means++ */

/* All scores start at 1: the first landmark is uniform, and gives the scores proper. `least`:
 * squared distances below it are the rounding of the products. */
static scl_status seeding_begin(adaptive *a, scl_error *error) {
  const size_t d = a->learning->dim;
  (void)error;
  distances_squares(a->rows, (ptrdiff_t)d, a->candidates, d, a->norm);
  for (size_t i = 0; i < a->candidates; i++) {
    a->score[i] = 1;
    a->least[i] = distances_slack(2 * a->norm[i], d);
  }
  return SCL_STATUS_OK;
}

/* pairs: on the diagonal the proposals' scores, above it their squared distances, term by term. */
static scl_status seeding_compare(adaptive *a, size_t count, scl_error *error) {
  const size_t d = a->learning->dim;
  (void)error;
  for (size_t i = 0; i < count; i++) {
    const double *x = a->rows + a->place[i] * d;
    a->pairs[i * MOST_PROPOSALS + i] = a->score[a->place[i]];
    for (size_t j = i + 1; j < count; j++)
      a->pairs[i * MOST_PROPOSALS + j] = distances_exact(x, a->rows + a->place[j] * d, d);
  }
  return SCL_STATUS_OK;
}

/* The later proposals now have landmark i as a further neighbour. */
static void seeding_accept(adaptive *a, size_t count, size_t i) {
  for (size_t j = i + 1; j < count; j++) {
    double *now = &a->pairs[j * MOST_PROPOSALS + j];
    *now = fmin(*now, a->pairs[i * MOST_PROPOSALS + j]);
  }
}

/* score_i <- min(score_i, ||x_i - x_s||^2) over the new landmarks s, with the squared distances
 * from a matrix product. */
static scl_status seeding_update(adaptive *a, size_t first, size_t count, scl_error *error) {
  const size_t d = a->learning->dim;
  double *products = a->factor + first * a->stride;
  (void)error;
  a->learning->host->dense->gemm(0, 1, count, a->fresh, d, 1, a->rows + first * d, (ptrdiff_t)d,
                                 a->picked, (ptrdiff_t)d, 0, products, (ptrdiff_t)a->stride);
  for (size_t i = first; i < first + count; i++, products += a->stride) {
    double nearest = a->count == 0 ? INFINITY : a->score[i];
    for (size_t c = 0; c < a->fresh; c++) {
      const double gap = a->norm[i] + a->norm[a->chosen[a->count + c]] - 2 * products[c];
      if (gap < nearest) nearest = gap;
    }
    a->score[i] = nearest;
  }
  return SCL_STATUS_OK;
}

const adaptive_rule adaptive_seeding = {.begin = seeding_begin,
                                        .compare = seeding_compare,
                                        .accept = seeding_accept,
                                        .update = seeding_update,
                                        .uniform_first = true};

/* ------------ randomly pivoted Cholesky */

/* Scores are k(x, x); below 1e-13 of it a score is rounding. */
static scl_status pivoting_begin(adaptive *a, scl_error *error) {
  const scl_status status =
      landmarks_diagonal(a->learning, a->rows, a->candidates, a->score, error);
  for (size_t i = 0; status == SCL_STATUS_OK && i < a->candidates; i++)
    a->least[i] = 1e-13 * a->score[i];
  return status;
}

/* pairs = k(P, P) - F_P F_P' for the proposals P. */
static scl_status pivoting_compare(adaptive *a, size_t count, scl_error *error) {
  const size_t d = a->learning->dim;
  for (size_t i = 0; i < count; i++) {
    adaptive_pick(a, i, a->place[i]);
    memcpy(a->picked_factor + i * a->stride, a->factor + a->place[i] * a->stride,
           a->count * sizeof *a->factor);
  }
  const scl_const_parameters u = scl_dense_rows(a->picked, (ptrdiff_t)d, count, d);
  const scl_status status =
      a->learning->host->parts->gram(a->learning->kernel, &u, &u, a->pairs, MOST_PROPOSALS, error);
  if (status == SCL_STATUS_OK && a->count > 0)
    a->learning->host->dense->gemm(0, 1, count, count, a->count, -1, a->picked_factor,
                                   (ptrdiff_t)a->stride, a->picked_factor, (ptrdiff_t)a->stride, 1,
                                   a->pairs, MOST_PROPOSALS);
  return status;
}

/* One Cholesky step: row i becomes a row of the factor, and the rows below are reduced. */
static void pivoting_accept(adaptive *a, size_t count, size_t i) {
  double *row = a->pairs + i * MOST_PROPOSALS;
  const double root = sqrt(row[i]);
  for (size_t j = i; j < count; j++)
    row[j] /= root;
  for (size_t k = i + 1; k < count; k++)
    for (size_t j = k; j < count; j++)
      a->pairs[k * MOST_PROPOSALS + j] -= row[k] * row[j];
}

/* New columns of the factor: f = L^-1 (k(x, A) - F_A f), A the fresh landmarks. */
static scl_status pivoting_update(adaptive *a, size_t first, size_t count, scl_error *error) {
  const scl_learning *learning = a->learning;
  const size_t d = learning->dim;
  const scl_const_parameters u = scl_dense_rows(a->rows + first * d, (ptrdiff_t)d, count, d),
                             v = scl_dense_rows(a->picked, (ptrdiff_t)d, a->fresh, d);
  double *old = a->factor + first * a->stride, *f = old + a->count;
  const scl_status status =
      learning->host->parts->gram(learning->kernel, &u, &v, f, (ptrdiff_t)a->stride, error);
  if (status != SCL_STATUS_OK) return status;
  if (a->count > 0)
    learning->host->dense->gemm(0, 1, count, a->fresh, a->count, -1, old, (ptrdiff_t)a->stride,
                                a->picked_factor, (ptrdiff_t)a->stride, 1, f, (ptrdiff_t)a->stride);
  for (size_t i = first; i < first + count; i++, f += a->stride)
    for (size_t c = 0; c < a->fresh; c++) {
      const size_t column = a->accepted[c];
      for (size_t k = 0; k < c; k++)
        f[c] -= f[k] * a->pairs[a->accepted[k] * MOST_PROPOSALS + column];
      f[c] /= a->pairs[column * MOST_PROPOSALS + column];
      a->score[i] -= f[c] * f[c];
    }
  return SCL_STATUS_OK;
}

const adaptive_rule adaptive_pivoting = {.begin = pivoting_begin,
                                         .compare = pivoting_compare,
                                         .accept = pivoting_accept,
                                         .update = pivoting_update,
                                         .factors = true};

/* ------------ rounds */

/* Allocates the state in scratch memory: m candidates, none chosen. A factor has a column for
 * each landmark, the products of k-means++ one for each proposal. */
static scl_status adaptive_open(const scl_learning *learning, const adaptive_rule *rule,
                                size_t candidates, size_t wanted, adaptive *a, scl_error *error) {
  const scl_host *host = learning->host;
  const size_t m = candidates, d = learning->dim, stride = rule->factors ? wanted : MOST_PROPOSALS;
  *a = (adaptive){
      .learning = learning,
      .candidates = m,
      .wanted = wanted,
      .stride = stride,
      .rows = host->scratch((m * d + 1) * sizeof(double)),
      .score = host->scratch(m * sizeof(double)),
      .sums = host->scratch(m * sizeof(double)),
      .least = host->scratch(m * sizeof(double)),
      .norm = host->scratch(m * sizeof(double)),
      .taken = host->scratch(m * sizeof(bool)),
      .chosen = host->scratch(wanted * sizeof(size_t)),
      .factor = host->scratch(m * stride * sizeof(double)),
      .pairs = host->scratch(MOST_PROPOSALS * MOST_PROPOSALS * sizeof(double)),
      .picked = host->scratch((MOST_PROPOSALS * d + 1) * sizeof(double)),
      .picked_factor = host->scratch(MOST_PROPOSALS * stride * sizeof(double)),
  };
  if (a->rows == NULL || a->score == NULL || a->sums == NULL || a->least == NULL ||
      a->norm == NULL || a->taken == NULL || a->chosen == NULL || a->factor == NULL ||
      a->pairs == NULL || a->picked == NULL || a->picked_factor == NULL)
    return landmarks_no_memory(host, m * (d + stride), error);
  memset(a->taken, 0, m * sizeof *a->taken);
  return SCL_STATUS_OK;
}

/* sums[i] = score[0] + .. + score[i]. Where all scores are 0, candidates not yet taken get score 1,
 * and the rest is drawn uniformly. */
static void adaptive_accumulate(adaptive *a) {
  for (;;) {
    double sum = 0;
    for (size_t i = 0; i < a->candidates; i++)
      a->sums[i] = sum += a->score[i];
    if (sum > 0) return;
    a->spent = true;
    for (size_t i = 0; i < a->candidates; i++)
      a->score[i] = !a->taken[i];
  }
}

/* The first i with sums[i] above `target`, which is below the last sum. */
static size_t adaptive_find(const adaptive *a, double target) {
  size_t low = 0, high = a->candidates - 1;
  while (low < high) {
    const size_t middle = low + (high - low) / 2;
    if (a->sums[middle] > target)
      high = middle;
    else
      low = middle + 1;
  }
  return low;
}

/* Whether proposal i is accepted, u uniform on (0, 1): with probability score now / score at the
 * beginning of the round. A score that is rounding becomes 0 for good. */
static bool adaptive_accepts(adaptive *a, size_t i, double u) {
  const size_t at = a->place[i];
  const double now = a->pairs[i * MOST_PROPOSALS + i], then = a->score[at];
  if (!(now > a->least[at])) a->score[at] = 0;
  return now > a->least[at] && u * then < now;
}

/* Draw proposals and accept some of them: chosen[count .. count+fresh-1]. */
static scl_status adaptive_round(adaptive *a, const adaptive_rule *rule, uint64_t number,
                                 scl_error *error) {
  const scl_address address = a->learning->draw->address;
  const bool first = number == 0 && rule->uniform_first;
  const size_t proposals = first ? 1 : MOST_PROPOSALS;
  double u[2 * MOST_PROPOSALS];
  scl_status status = SCL_STATUS_OK;
  a->learning->host->random->uniform(address.seed, address.stream + LANDMARKS_PROPOSALS, number, 0,
                                     2 * MOST_PROPOSALS, u);
  adaptive_accumulate(a);
  for (size_t i = 0; i < proposals; i++)
    a->place[i] = adaptive_find(a, u[2 * i] * a->sums[a->candidates - 1]);
  const bool uniform = first || a->spent;
  if (!uniform) status = rule->compare(a, proposals, error);
  a->fresh = 0;
  for (size_t i = 0; status == SCL_STATUS_OK && i < proposals; i++) {
    const size_t at = a->place[i];
    if (a->count + a->fresh == a->wanted) break;
    if (a->taken[at] || !(uniform || adaptive_accepts(a, i, u[2 * i + 1]))) continue;
    if (!uniform) rule->accept(a, proposals, i);
    a->taken[at] = true;
    a->accepted[a->fresh] = i;
    a->chosen[a->count + a->fresh++] = at;
  }
  return status;
}

typedef struct adaptive_task {
  adaptive *a;
  const adaptive_rule *rule;
} adaptive_task;

/* A task of the pool: new scores of one slice of candidates; those taken, and those that are
 * rounding, become 0. */
static scl_status adaptive_slice(void *context, size_t index, scl_error *error) {
  const adaptive_task *task = context;
  adaptive *a = task->a;
  const size_t first = index * ADAPTIVE_SLICE, left = a->candidates - first,
               count = left < ADAPTIVE_SLICE ? left : ADAPTIVE_SLICE;
  const scl_status status = task->rule->update(a, first, count, error);
  for (size_t i = first; status == SCL_STATUS_OK && i < first + count; i++)
    if (a->taken[i] || !(a->score[i] > a->least[i])) a->score[i] = 0;
  return status;
}

/* Gathers the new landmarks' rows (and, pivoted, their rows of the factor, which move to the front)
 * and updates all scores in parallel. */
static scl_status adaptive_update(adaptive *a, const adaptive_rule *rule, scl_error *error) {
  adaptive_task task = {a, rule};
  for (size_t c = 0; c < a->fresh; c++)
    a->score[a->chosen[a->count + c]] = 0;
  if (a->spent || a->fresh == 0) return SCL_STATUS_OK;
  for (size_t c = 0; c < a->fresh; c++) {
    adaptive_pick(a, c, a->chosen[a->count + c]);
    if (rule->factors && c < a->accepted[c])
      memcpy(a->picked_factor + c * a->stride, a->picked_factor + a->accepted[c] * a->stride,
             a->count * sizeof *a->factor);
  }
  return a->learning->host->parallel((a->candidates + ADAPTIVE_SLICE - 1) / ADAPTIVE_SLICE,
                                     adaptive_slice, &task, error);
}

scl_status landmarks_adaptive(const scl_learning *learning, const adaptive_rule *rule,
                              size_t candidates, size_t wanted, double *out, scl_error *error) {
  const size_t d = learning->dim;
  adaptive a;
  scl_status status = adaptive_open(learning, rule, candidates, wanted, &a, error);
  if (status == SCL_STATUS_OK) status = landmarks_sample(learning, candidates, a.rows, error);
  if (status == SCL_STATUS_OK) status = rule->begin(&a, error);
  for (uint64_t round = 0; status == SCL_STATUS_OK && a.count < wanted; round++) {
    status = adaptive_round(&a, rule, round, error);
    if (status == SCL_STATUS_OK) status = adaptive_update(&a, rule, error);
    a.count += a.fresh;
    if (status == SCL_STATUS_OK)
      status = learning->progress(learning, "choosing landmarks", (double)a.count / (double)wanted,
                                  error);
  }
  for (size_t t = 0; status == SCL_STATUS_OK && t < wanted; t++)
    memcpy(out + t * d, a.rows + a.chosen[t] * d, d * sizeof *out);
  return status;
}
