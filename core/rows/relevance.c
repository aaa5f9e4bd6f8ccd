/* Learns scales of columns by rounds of ridge regression on Fourier features. All arrays are those
 * of one arena, so that there is one release. */
#include "rows/relevance.h"

#include "algebra/dense.h"
#include "base/profile.h"
#include "base/random.h"
#include "rows/distinct.h"
#include "rows/fitting.h"
#include <math.h>
#include <string.h>

/* Rows of the sample at most and at least; Fourier parameters T, which grow with the columns;
 * rounds. */
enum { ROWS = 4000, LEAST_ROWS = 10, PARAMETERS = 200, MOST_PARAMETERS = 600, ROUNDS = 5 };

/* Widths, as factors of the one at which the mean squared distance of two rows is 2, and values of
 * the regularisation. */
static const double factors[] = {0.35, 0.7, 1.4};
static const double lambdas[] = {1e-7, 1e-6, 1e-5, 3e-5, 1e-4, 3e-4, 1e-3, 3e-3, 1e-2, 1e-1};
/* Scales below which columns are tried as idle, and how much larger the error may be then. */
static const double cuts[] = {0.01, 0.02, 0.05, 0.1, 0.15, 0.2, 0.3};
#define SLACK 1.003
/* Scales are taken if their error is below that of equal scales by so many standard errors. */
#define CLEARLY 1.0
/* A round that makes the error no smaller than this is the last one. */
#define GAIN 0.995
enum {
  FACTORS = sizeof factors / sizeof *factors,
  LAMBDAS = sizeof lambdas / sizeof *lambdas,
  CUTS = sizeof cuts / sizeof *cuts
};

/* Rows 0 to train - 1 are learnt from, the others judge. Columns and targets are standardised. */
typedef struct rounds {
  size_t n, train, d, targets, T, D; /* D = 2T + 1 features: cosines, sines, and 1 */
  uint64_t seed;
  double *x, *y, *weight;          /* n x d, n x targets, n */
  double *w, *v;                   /* parameters T x d, as drawn, and with width and scales */
  double *phi, *weighted;          /* n x D features; those of the rows learnt from, weighted */
  double *gram, *values, *vectors; /* D x D, D, D x D */
  double *right, *turned;          /* D x targets */
  double *a, *scores;              /* D x (LAMBDAS targets), n x the same */
  double *best, *slope;            /* D x targets, the best of a round; train x max(T, d) */
  double *scale, *found;           /* d each */
  double *loss, *equal, *kept;     /* of each row that judges: of the last best regression, of
                                      equal scales, of the scales in `found` */
  double *square;                  /* d */
} rounds;

/* ------------ one ridge regression */

/* Draw the parameters w of a round from the normal law. In an additive model each reads one
 * column. */
static void draw_parameters(rounds *r, size_t round, bool additive) {
  for (size_t t = 0; t < r->T; t++) {
    double *row = r->w + t * r->d;
    scl_random_normal(r->seed, SCL_STREAM_RELEVANCE, round * r->T + t, 0, r->d, row);
    for (size_t j = 0; additive && j < r->d; j++)
      if (j != t % r->d) row[j] = 0;
  }
}

/* phi = (cos <v_t, x>, sin <v_t, x>) / sqrt(T), and 1, with v_t = width scale o w_t. */
static void make_features(rounds *r, const double *scale, double width) {
  const double common = sqrt(1 / (double)r->T);
  for (size_t t = 0; t < r->T; t++)
    for (size_t j = 0; j < r->d; j++)
      r->v[t * r->d + j] = width * scale[j] * r->w[t * r->d + j];
  scl_gemm_parallel(SCL_DTYPE_FLOAT64, false, true, r->n, r->T, r->d, 1, r->x, (ptrdiff_t)r->d,
                    r->v, (ptrdiff_t)r->d, 0, r->phi, (ptrdiff_t)r->D);
  for (size_t i = 0; i < r->n; i++) {
    double *row = r->phi + i * r->D;
    for (size_t t = 0; t < r->T; t++) {
      const double z = row[t];
      row[t] = common * cos(z);
      row[r->T + t] = common * sin(z);
    }
    row[2 * r->T] = 1;
  }
}

/* Eigenvalues and eigenvectors of Phi'W Phi (D x D) over the training rows, and turned = V'(Phi'W
 * y). */
static scl_status decompose(rounds *r, scl_error *error) {
  const ptrdiff_t D = (ptrdiff_t)r->D, targets = (ptrdiff_t)r->targets;
  for (size_t i = 0; i < r->train; i++)
    for (size_t k = 0; k < r->D; k++)
      r->weighted[i * r->D + k] = r->weight[i] * r->phi[i * r->D + k];
  SCL_TRY(scl_gemm_interruptible(SCL_DTYPE_FLOAT64, true, false, r->D, r->D, r->train, r->weighted,
                                 D, r->phi, D, r->gram, D, error));
  SCL_TRY(scl_eigenvectors(r->D, r->D, r->gram, r->values, r->vectors, error));
  scl_gemm_parallel(SCL_DTYPE_FLOAT64, true, false, r->D, r->targets, r->train, 1, r->weighted, D,
                    r->y, targets, 0, r->right, targets);
  scl_gemm_parallel(SCL_DTYPE_FLOAT64, false, false, r->D, r->targets, r->D, 1, r->vectors, D,
                    r->right, targets, 0, r->turned, targets);
  return SCL_STATUS_OK;
}

/* a = V (diag(values) + lambda I)^-1 turned, for all lambdas side by side. divided: working memory,
 * D x (LAMBDAS targets). The constant is penalised like the other features; the targets are
 * centred. */
static void solve_lambdas(rounds *r, double *divided) {
  const size_t all = LAMBDAS * r->targets;
  for (size_t k = 0; k < r->D; k++)
    for (size_t l = 0; l < LAMBDAS; l++)
      for (size_t c = 0; c < r->targets; c++)
        divided[k * all + l * r->targets + c] =
            r->turned[k * r->targets + c] / (fmax(r->values[k], 0) + lambdas[l]);
  scl_gemm_parallel(SCL_DTYPE_FLOAT64, true, false, r->D, all, r->D, 1, r->vectors, (ptrdiff_t)r->D,
                    divided, (ptrdiff_t)all, 0, r->a, (ptrdiff_t)all);
}

/* The mean square error on the rows that judge, for lambda l. */
static double judged_error(const rounds *r, size_t l) {
  const size_t all = LAMBDAS * r->targets;
  double sum = 0, weight = 0;
  for (size_t i = r->train; i < r->n; i++) {
    const double *scores = r->scores + (i - r->train) * all + l * r->targets;
    for (size_t c = 0; c < r->targets; c++) {
      const double gap = scores[c] - r->y[i * r->targets + c];
      sum += r->weight[i] * gap * gap;
    }
    weight += r->weight[i];
  }
  return sum / weight;
}

/* The weighted square errors of the rows that judge, for lambda l. */
static void write_losses(rounds *r, size_t l) {
  const size_t all = LAMBDAS * r->targets;
  for (size_t i = r->train; i < r->n; i++) {
    double sum = 0;
    for (size_t c = 0; c < r->targets; c++)
      sum +=
          pow(r->scores[(i - r->train) * all + l * r->targets + c] - r->y[i * r->targets + c], 2);
    r->loss[i - r->train] = r->weight[i] * sum;
  }
}

/* Regress with these scales and width: the least error of all lambdas. Its coefficients are written
 * to `best` if the error is below `least`. */
static scl_status regress(rounds *r, const double *scale, double width, double least, double *out,
                          scl_error *error) {
  const size_t all = LAMBDAS * r->targets;
  make_features(r, scale, width);
  SCL_TRY(decompose(r, error));
  solve_lambdas(r, r->scores);
  scl_gemm_parallel(SCL_DTYPE_FLOAT64, false, false, r->n - r->train, all, r->D, 1,
                    r->phi + r->train * r->D, (ptrdiff_t)r->D, r->a, (ptrdiff_t)all, 0, r->scores,
                    (ptrdiff_t)all);
  *out = INFINITY;
  for (size_t l = 0; l < LAMBDAS; l++) {
    const double mine = judged_error(r, l);
    if (!(mine < *out)) continue;
    *out = mine;
    if (mine < least) write_losses(r, l);
    for (size_t k = 0; mine < least && k < r->D; k++)
      memcpy(r->best + k * r->targets, r->a + k * all + l * r->targets,
             r->targets * sizeof(double));
  }
  return SCL_STATUS_OK;
}

/* ------------ rounds */

/* square_j = the weighted mean over training rows of (df/dx_j)^2, summed over targets, for the fit
 * f with coefficients `best` on the features of the last make_features:
 *
 *   df/dx = sum_t (b_t cos <v_t, x> - a_t sin <v_t, x>) v_t / sqrt(T)
 *
 * a_t and b_t the coefficients of cosine and sine. */
static void differentiate(rounds *r) {
  double *gradient = r->slope + r->train * r->T;
  memset(r->square, 0, r->d * sizeof(double));
  for (size_t c = 0; c < r->targets; c++) {
    for (size_t i = 0; i < r->train; i++)
      for (size_t t = 0; t < r->T; t++) {
        const double *row = r->phi + i * r->D;
        r->slope[i * r->T + t] = row[t] * r->best[(r->T + t) * r->targets + c] -
                                 row[r->T + t] * r->best[t * r->targets + c];
      }
    scl_gemm_parallel(SCL_DTYPE_FLOAT64, false, false, r->train, r->d, r->T, 1, r->slope,
                      (ptrdiff_t)r->T, r->v, (ptrdiff_t)r->d, 0, gradient, (ptrdiff_t)r->d);
    for (size_t i = 0; i < r->train; i++)
      for (size_t j = 0; j < r->d; j++)
        r->square[j] += r->weight[i] * gradient[i * r->d + j] * gradient[i * r->d + j];
  }
}

/* The scales of the next round: the roots of `square`, the largest being 1. */
static void rescale(rounds *r) {
  double largest = 0;
  for (size_t j = 0; j < r->d; j++)
    largest = fmax(largest, r->square[j]);
  for (size_t j = 0; j < r->d && largest > 0; j++)
    r->scale[j] = sqrt(r->square[j] / largest);
}

/* `factor` times the width at which the mean squared distance of two rows, in scaled columns, is 2.
 * An additive model sees one column at a time. */
static double width_of(const rounds *r, const double *scale, bool additive, double factor) {
  double sum = 0;
  for (size_t j = 0; j < r->d; j++)
    sum += scale[j] * scale[j];
  return additive ? 2 * factor : factor / sqrt(sum);
}

/* One round: the best of all widths, and the scales that it gives for the next round. */
static scl_status one_round(rounds *r, bool additive, double *least, scl_error *error) {
  double best = 0;
  *least = INFINITY;
  for (size_t f = 0; f < FACTORS; f++) {
    const double width = width_of(r, r->scale, additive, factors[f]);
    double mine;
    SCL_TRY(regress(r, r->scale, width, *least, &mine, error));
    if (!(mine < *least)) continue;
    *least = mine;
    best = width;
  }
  if (!isfinite(*least)) return SCL_STATUS_OK;
  make_features(r, r->scale, best);
  differentiate(r);
  return SCL_STATUS_OK;
}

/* Rounds that begin with equal scales. If an error is below *least, it and its scales (`found`) are
 * stored. The error of an additive first round is not compared: its model is another one. */
static scl_status run_rounds(rounds *r, bool additive, double *least, scl_error *error) {
  for (size_t j = 0; j < r->d; j++)
    r->scale[j] = 1;
  double before = INFINITY;
  for (size_t round = 0; round < ROUNDS; round++) {
    const bool first = additive && round == 0;
    double mine;
    draw_parameters(r, round, first);
    SCL_TRY(one_round(r, first, &mine, error));
    if (!isfinite(mine)) return SCL_STATUS_OK;
    if (!additive && round == 0) memcpy(r->equal, r->loss, (r->n - r->train) * sizeof(double));
    if (!first && mine < *least) {
      *least = mine;
      memcpy(r->kept, r->loss, (r->n - r->train) * sizeof(double));
      memcpy(r->found, r->scale, r->d * sizeof(double));
    }
    if (!first && !(mine < GAIN * before)) return SCL_STATUS_OK;
    if (!first) before = mine;
    rescale(r);
  }
  return SCL_STATUS_OK;
}

/* Whether the scales in `found` are clearly better than equal ones, by the rows that judge. */
static bool clearly_better(const rounds *r) {
  const size_t count = r->n - r->train;
  double mean = 0, square = 0;
  for (size_t i = 0; i < count; i++)
    mean += (r->equal[i] - r->kept[i]) / (double)count;
  for (size_t i = 0; i < count; i++)
    square += pow(r->equal[i] - r->kept[i] - mean, 2);
  return mean > CLEARLY * sqrt(square) / (double)count;
}

/* Set the scales of `found` below a cut to 0, for larger and larger cuts, until the error grows by
 * more than SLACK. */
static scl_status screen_columns(rounds *r, double least, scl_error *error) {
  draw_parameters(r, ROUNDS, false);
  memcpy(r->scale, r->found, r->d * sizeof(double));
  SCL_TRY(one_round(r, false, &least, error));
  double limit = least * SLACK;
  for (size_t k = 0; k < CUTS; k++) {
    double mine;
    bool same = true;
    for (size_t j = 0; j < r->d; j++) {
      r->scale[j] = r->found[j] < cuts[k] ? 0 : r->found[j];
      same = same && r->scale[j] == r->found[j];
    }
    if (same) continue;
    SCL_TRY(one_round(r, false, &mine, error));
    if (!(mine <= limit)) break;
    limit = fmin(limit, mine * SLACK);
    memcpy(r->found, r->scale, r->d * sizeof(double));
  }
  return SCL_STATUS_OK;
}

/* ------------ rows */

/* (numbers - mean) / deviation of each column, by the weighted rows that are learnt from; a
 * constant column becomes 0. */
static void standardise(const rounds *r, const scl_matrix *from, double *to) {
  const size_t cols = from->cols;
  for (size_t j = 0; j < cols; j++) {
    double mean = 0, square = 0;
    for (size_t i = 0; i < r->train; i++)
      mean += r->weight[i] * scl_matrix_get(from, i, j);
    for (size_t i = 0; i < r->train; i++)
      square += r->weight[i] * pow(scl_matrix_get(from, i, j) - mean, 2);
    for (size_t i = 0; i < r->n; i++)
      to[i * cols + j] = square > 0 ? (scl_matrix_get(from, i, j) - mean) / sqrt(square) : 0;
  }
}

/* Weights, of the sum 1 over the rows that are learnt from, and standardised rows. */
static void fill_rounds(const scl_distinct_rows *rows, rounds *r) {
  double sum = 0;
  for (size_t i = 0; i < r->n; i++)
    sum += i < r->train ? scl_matrix_get(&rows->weight, i, 0) : 0;
  for (size_t i = 0; i < r->n; i++)
    r->weight[i] = scl_matrix_get(&rows->weight, i, 0) / sum;
  standardise(r, &rows->x, r->x);
  standardise(r, &rows->y, r->y);
  for (size_t j = 0; j < r->d; j++)
    r->found[j] = 1;
}

/* Sizes, and one block of memory (*arena, which the caller releases) for all arrays. */
static scl_status open_rounds(const scl_distinct_rows *rows, uint64_t seed, double **arena,
                              rounds *r, scl_error *error) {
  const size_t n = rows->x.rows, d = rows->x.cols, t = rows->y.cols,
               T = scl_max(PARAMETERS, scl_max(d, scl_min(4 * d, MOST_PARAMETERS)));
  *r = (rounds){
      .n = n, .train = n - n / 5, .d = d, .targets = t, .T = T, .D = 2 * T + 1, .seed = seed};
  const size_t D = r->D, all = LAMBDAS * t;
  struct {
    double **place;
    size_t count;
  } wanted[] = {{&r->x, n * d},
                {&r->y, n * t},
                {&r->weight, n},
                {&r->w, T * d},
                {&r->v, T * d},
                {&r->phi, n * D},
                {&r->weighted, n * D},
                {&r->gram, D * D},
                {&r->values, D},
                {&r->vectors, D * D},
                {&r->right, D * t},
                {&r->turned, D * t},
                {&r->a, D * all},
                {&r->best, D * t},
                {&r->scores, scl_max(n, D) * all},
                {&r->slope, n * (T + d)},
                {&r->scale, d},
                {&r->found, d},
                {&r->square, d},
                {&r->loss, n},
                {&r->equal, n},
                {&r->kept, n}};
  size_t total = 0;
  for (size_t k = 0; k < sizeof wanted / sizeof *wanted; k++)
    total += wanted[k].count;
  double *at = *arena = scl_allocate_array(total + 1, sizeof **arena);
  if (at == NULL) return scl_fail_memory(error, total * sizeof **arena, "rounds of relevance");
  for (size_t k = 0; k < sizeof wanted / sizeof *wanted; k++) {
    *wanted[k].place = at;
    at += wanted[k].count;
  }
  fill_rounds(rows, r);
  return SCL_STATUS_OK;
}

/* found = 1 for columns that vary, 0 for constant ones. */
static void equal_scales(rounds *r) {
  for (size_t j = 0; j < r->d; j++) {
    bool varies = false;
    for (size_t i = 0; i < r->n && !varies; i++)
      varies = r->x[i * r->d + j] != 0;
    r->found[j] = varies ? 1 : 0;
  }
}

/* relevance (cols numbers) from a sample of rows. */
static scl_status learn_relevance(const scl_distinct_rows *rows, uint64_t seed, double *relevance,
                                  scl_error *error) {
  rounds r;
  double *arena = NULL, least = INFINITY;
  scl_status status = open_rounds(rows, seed, &arena, &r, error);
  if (status == SCL_STATUS_OK) status = run_rounds(&r, true, &least, error);
  if (status == SCL_STATUS_OK) status = run_rounds(&r, false, &least, error);
  if (status == SCL_STATUS_OK && clearly_better(&r))
    status = screen_columns(&r, least, error);
  else if (status == SCL_STATUS_OK)
    equal_scales(&r);
  if (status == SCL_STATUS_OK) memcpy(relevance, r.found, r.d * sizeof *relevance);
  scl_release(arena);
  return status;
}

/* The limits on the rows from which relevance can be learnt. */
static scl_status check_rows(const scl_distinct_rows *rows, scl_error *error) {
  if (rows->x.cols > SCL_RELEVANCE_COLUMNS)
    return scl_fail(error, SCL_STATUS_BAD_DATA,
                    "relevance: learns scales of up to %d columns, and got %zu; put sc.pca{ k = } "
                    "before it",
                    (int)SCL_RELEVANCE_COLUMNS, rows->x.cols);
  if (rows->y.storage == NULL)
    return scl_fail(error, SCL_STATUS_BAD_DATA,
                    "relevance: learns from targets, and these rows have none");
  if (rows->x.rows < LEAST_ROWS)
    return scl_fail(error, SCL_STATUS_BAD_DATA,
                    "relevance: learns from at least %d distinct rows, and got %zu",
                    (int)LEAST_ROWS, rows->x.rows);
  return SCL_STATUS_OK;
}

/* The factor that gives the relevances the mean square 1 over columns that vary, as of standardised
 * columns: widths of a kernel then fit whatever was learnt. */
static double common_factor(const scl_column_moments *m, const double *relevance) {
  double sum = 0, count = 0;
  for (size_t j = 0; j < m->cols; j++) {
    const bool varies = m->high[j] > m->low[j];
    sum += varies ? relevance[j] * relevance[j] : 0;
    count += varies;
  }
  return sum > 0 ? sqrt(count / sum) : 1;
}

/* A stage with the means of the columns, and their relevance, times the common factor, over their
 * deviations. */
static scl_status make_stage(const scl_column_moments *m, const double *relevance,
                             scl_fitted_stage **out, scl_error *error) {
  const double common = common_factor(m, relevance);
  double *scales = scl_allocate_array(2 * m->cols + 1, sizeof *scales), *factor = scales + m->cols;
  if (scales == NULL)
    return scl_fail_memory(error, 2 * m->cols * sizeof *scales, "scales of columns");
  scl_status status = scl_fitted_stage_create(NULL, m->cols, out, error);
  for (size_t j = 0; status == SCL_STATUS_OK && j < m->cols; j++) {
    const bool constant = !(m->high[j] > m->low[j]);
    const double deviation = sqrt(m->square[j] / *m->count);
    scales[j] = constant ? m->low[j] : m->mean[j] + m->rest[j];
    factor[j] = common * relevance[j] * (constant || !(deviation > 0) ? 1 : 1 / deviation);
    (*out)->constant += constant;
  }
  if (status == SCL_STATUS_OK) status = scl_fitted_stage_put_scales(*out, scales, factor, error);
  if (status == SCL_STATUS_OK) status = scl_fitted_stage_settle(*out, error);
  if (status != SCL_STATUS_OK) {
    scl_fitted_stage_destroy(*out);
    *out = NULL;
  }
  scl_release(scales);
  return status;
}

/* *out = the stage, *relevance (1 x d) = its factors, learnt from at most ROWS distinct rows. The
 * caller releases both, but not after a failure. */
static scl_status learn_from(const scl_flow *flow, const scl_column_moments *moments, uint64_t seed,
                             scl_fitted_stage **out, scl_matrix *relevance, scl_error *error) {
  scl_distinct_rows rows;
  SCL_TRY(scl_flow_distinct(flow, ROWS, &rows, error));
  scl_status status = check_rows(&rows, error);
  if (status == SCL_STATUS_OK)
    status = scl_matrix_create(1, rows.x.cols, SCL_DTYPE_FLOAT64, relevance, error);
  if (status == SCL_STATUS_OK)
    status = learn_relevance(&rows, seed, scl_matrix_row(relevance, 0), error);
  scl_distinct_release(&rows);
  if (status == SCL_STATUS_OK)
    status = make_stage(moments, scl_matrix_row(relevance, 0), out, error);
  if (status != SCL_STATUS_OK) scl_matrix_release(relevance);
  return status;
}

scl_status scl_flow_fit_relevance(const scl_flow *flow, uint64_t seed, scl_fitted_stage **out,
                                  scl_matrix *relevance, scl_error *error) {
  scl_column_moments moments;
  *relevance = (scl_matrix){0};
  if (flow->source->rows == 0)
    return scl_fail(error, SCL_STATUS_BAD_DATA, "there are no rows to fit on");
  const size_t mark = scl_profile_enter("relevance");
  scl_status status = scl_flow_moments(flow, NULL, NULL, &moments, error);
  if (status == SCL_STATUS_OK) {
    status = learn_from(flow, &moments, seed, out, relevance, error);
    scl_column_moments_destroy(&moments);
  }
  scl_profile_leave(mark, 0, 0);
  return status;
}
