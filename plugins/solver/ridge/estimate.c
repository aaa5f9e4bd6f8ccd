/* The risk of a linear smoother, estimated without fitting again. With the hat matrix
 *
 *   H = Phi (Phi'R Phi + W lambda P)^-1 Phi' R,
 *
 * R the row weights, W their sum, P = I or G, h_i its diagonal and e_i the residuals:
 *
 *   leave-one-out   f_-i(x_i) - y_i = e_i / (1 - h_i), the penalty W lambda kept (Allen 1974):
 *                   mean square, or share of wrong classes, of rows that count once, as where folds
 *                   are judged
 *   GCV             (mean e^2) / (1 - tr H / n)^2 (Golub, Heath and Wahba 1979)
 *
 * With an intercept rows are centred and h_i has R_i/W besides. One decomposition serves all
 * lambdas: rows t_j with t_j' P t_k = [j = k], t_j' Phi'R Phi t_k = s_j [j = k], so that
 *
 *   h_i = R_i sum_j <t_j, phi_i>^2 / (s_j + W lambda),   tr H = sum_j s_j / (s_j + W lambda).
 *
 * Directions in which G vanishes to working precision are left out: there Phi does, too. */
#include "ridge.h"
#include "shared/csr_rows.h"

#include <float.h>

/* ------------ the decomposition */

/* Allocates a decomposition of that order as scratch memory of the host. */
static scl_status loo_make(const scl_host *host, size_t order, loo_spectrum *out,
                           scl_error *error) {
  *out = (loo_spectrum){.order = order,
                        .count = order,
                        .values = host->scratch((order + 1) * sizeof(double)),
                        .directions = host->scratch((order * order + 1) * sizeof(double))};
  if (out->values != NULL && out->directions != NULL) return SCL_STATUS_OK;
  return host->fail(error, SCL_STATUS_NO_MEMORY,
                    "not enough memory for the directions of %zu features", order);
}

/* out (cols x rows) = in' */
static void loo_transpose(const double *in, size_t rows, size_t cols, double *out) {
  for (size_t i = 0; i < rows; i++)
    for (size_t j = 0; j < cols; j++)
      out[j * rows + i] = in[i * cols + j];
}

/* With rows u_j / sqrt(g_j) in S, r x D: the eigenvectors Q of S A S', r x r; the directions become
 * Q S. `room` holds 2 D r numbers. */
static scl_status loo_rotate(const scl_host *host, const scl_symmetric *a, loo_spectrum *out,
                             double *room, scl_error *error) {
  const scl_symmetric_algebra *algebra = host->symmetric;
  const size_t d = out->order, r = out->count;
  const ptrdiff_t width = (ptrdiff_t)d, small = (ptrdiff_t)r;
  double *turned = room, *product = room + d * r;
  scl_symmetric *m = NULL;
  loo_transpose(out->directions, r, d, turned);
  scl_status status = algebra->multiply(a, turned, r, product, error); /* A S', D x r */
  if (status == SCL_STATUS_OK) status = algebra->create(r, &m, error);
  if (status != SCL_STATUS_OK) return status;
  host->dense->gemm(0, 0, r, r, d, 1, out->directions, width, product, small, 0, turned, small);
  algebra->set(m, 0, r, 0, r, turned, small);                /* S A S' */
  status = algebra->eigen(m, r, out->values, turned, error); /* Q, r x r */
  algebra->destroy(m);
  if (status != SCL_STATUS_OK) return status;
  host->dense->gemm(0, 0, r, d, r, 1, turned, small, out->directions, width, 0, product, width);
  memcpy(out->directions, product, r * d * sizeof *product);
  return SCL_STATUS_OK;
}

/* The decomposition of A = Phi'R Phi against G, whose eigenvalues (descending) and eigenvectors are
 * in *out. Directions below 1e-12 of the largest eigenvalue of G are left out. */
static scl_status loo_reduce(const scl_host *host, const scl_symmetric *a, loo_spectrum *out,
                             scl_error *error) {
  const size_t d = out->order;
  size_t r = 0;
  for (; r < d && out->values[r] > 1e-12 * out->values[0]; r++)
    for (size_t j = 0; j < d; j++)
      out->directions[r * d + j] /= sqrt(out->values[r]);
  out->count = r;
  double *room = host->allocate((2 * d * r + 1) * sizeof *room);
  const scl_status status = room == NULL ? host->fail(error, SCL_STATUS_NO_MEMORY,
                                                      "not enough memory for %zu directions", r)
                                         : loo_rotate(host, a, out, room, error);
  host->release(room);
  return status;
}

scl_status loo_decompose(const scl_host *host, const scl_symmetric *a, const scl_symmetric *g,
                         loo_spectrum *out, scl_error *error) {
  const size_t d = host->symmetric->order(a);
  scl_status status = loo_make(host, d, out, error);
  if (status != SCL_STATUS_OK) return status;
  status = host->symmetric->eigen(g == NULL ? a : g, d, out->values, out->directions, error);
  if (status == SCL_STATUS_OK && g != NULL) status = loo_reduce(host, a, out, error);
  for (size_t j = 0; status == SCL_STATUS_OK && j < out->count; j++)
    out->values[j] = fmax(out->values[j], 0);
  return status;
}

/* ------------ from residuals to a score */

/* A row's contribution to the score, from its targets y and its left-out residuals f_-i - y in
 * `left`, c numbers each: the squared length, or 1 if the class is wrong and 0 if not. */
static double loo_row(int32_t estimate, const double *y, const double *left, size_t c) {
  double sum = 0;
  for (size_t j = 0; estimate == ESTIMATE_LOO && j < c; j++)
    sum += left[j] * left[j];
  if (estimate == ESTIMATE_LOO) return sum;
  if (c == 1) return (y[0] + left[0] < 0) != (y[0] < 0);
  size_t said = 0, true_class = 0;
  for (size_t j = 1; j < c; j++) {
    if (y[j] + left[j] > y[said] + left[said]) said = j;
    if (y[j] > y[true_class]) true_class = j;
  }
  return said != true_class;
}

/* residual/(1-h). For a row that the fit interpolates whatever its target (h = 1), the left-out
 * residual is undefined, and infinity is returned even if the residual is 0. */
static double loo_left(double residual, double leverage) {
  return leverage < 1 - 1e-13 ? residual / (1 - leverage) : INFINITY;
}

/* ------------ the walk over rows */

typedef struct loo_walk {
  const scl_problem *problem;
  const loo_spectrum *spectrum;
  int32_t estimate;
  size_t count;          /* lambdas */
  double *inverse;       /* 1/(s_j + W lambda_k), directions x lambdas */
  double *coefficients;  /* D x (count c): column k c + j */
  double *intercept;     /* count c, or NULL */
  double *mean, *mean_y; /* D, then <t_j, mean>: with an intercept, else zeros; c */
  double total;          /* W */
  double *sums;          /* count */
} loo_walk;

/* Adds the contributions of rows to `sums`, given leverages (count x lambdas) and scores (count x
 * lambdas c). */
static void loo_add_scores(const loo_walk *w, const scl_rows *rows, const double *leverage,
                           const double *scores, double *left, double *sums) {
  const size_t c = w->problem->targets, k = w->count;
  for (size_t i = 0; i < rows->count; i++) {
    const double *y = rows->targets + i * c, weight = rows->weights == NULL ? 1 : rows->weights[i];
    for (size_t l = 0; l < k; l++) {
      const double h = weight * (leverage[i * k + l] + (w->intercept != NULL ? 1 / w->total : 0));
      for (size_t j = 0; j < c; j++) {
        const double constant = w->intercept != NULL ? w->intercept[l * c + j] : 0;
        left[j] = loo_left(scores[i * k * c + l * c + j] + constant - y[j], h);
      }
      sums[l] += loo_row(w->estimate, y, left, c);
    }
  }
}

/* Some rows of a block; sums: `count` numbers.
 *
 *   p = (Phi T' - 1 (T m)')^2, entry by entry;   leverages = p inverse;   scores = Phi A */
static scl_status loo_part(void *context, const scl_rows *rows, void *sums, scl_error *error) {
  const loo_walk *w = context;
  const scl_host *host = w->problem->host;
  const size_t d = w->spectrum->order, r = w->spectrum->count, c = w->problem->targets,
               k = w->count, count = rows->count;
  const bool sparse = csr_of_rows(rows) != NULL;
  const ptrdiff_t stride = sparse ? (ptrdiff_t)d : rows->features.row_stride;
  double *p = host->scratch((count * (r + k + k * c + (sparse ? d : 0)) + c) * sizeof *p);
  if (p == NULL)
    return host->fail(error, SCL_STATUS_NO_MEMORY, "not enough memory for leave-one-out");
  double *leverage = p + count * r, *scores = leverage + count * k, *left = scores + count * k * c,
         *dense = left + c;
  const double *phi = sparse ? dense : rows->features.data;
  for (size_t i = 0; sparse && i < count; i++)
    csr_copy_row(rows, i, d, dense + i * d);
  host->dense->gemm(0, 1, count, r, d, 1, phi, stride, w->spectrum->directions, (ptrdiff_t)d, 0, p,
                    (ptrdiff_t)r);
  for (size_t i = 0; i < count; i++)
    for (size_t j = 0; j < r; j++) {
      const double centred = p[i * r + j] - w->mean[d + j];
      p[i * r + j] = centred * centred;
    }
  host->dense->gemm(0, 0, count, k, r, 1, p, (ptrdiff_t)r, w->inverse, (ptrdiff_t)k, 0, leverage,
                    (ptrdiff_t)k);
  host->dense->gemm(0, 0, count, k * c, d, 1, phi, stride, w->coefficients, (ptrdiff_t)(k * c), 0,
                    scores, (ptrdiff_t)(k * c));
  loo_add_scores(w, rows, leverage, scores, left, sums);
  return SCL_STATUS_OK;
}

static scl_status loo_merge(void *context, const void *sums, scl_error *error) {
  loo_walk *w = context;
  (void)error;
  for (size_t l = 0; l < w->count; l++)
    w->sums[l] += ((const double *)sums)[l];
  return SCL_STATUS_OK;
}

static scl_status loo_visit(void *context, const scl_rows *rows, scl_error *error) {
  const loo_walk *w = context;
  const scl_division division = {.head = SCL_HEAD(scl_division),
                                 .targets = w->problem->targets,
                                 .bytes = w->count * sizeof(double),
                                 .part = loo_part,
                                 .merge = loo_merge};
  return w->problem->host->divide_rows(rows, &division, context, error);
}

/* Weighted sums of features and targets, D + c numbers: what an intercept needs. */
static scl_status loo_part_means(void *context, const scl_rows *rows, void *state,
                                 scl_error *error) {
  const loo_walk *w = context;
  const size_t d = w->problem->features, c = w->problem->targets;
  double *sums = state;
  (void)error;
  for (size_t i = 0; i < rows->count; i++) {
    const double weight = rows->weights == NULL ? 1 : rows->weights[i];
    csr_add_row(rows, i, d, weight, sums);
    for (size_t j = 0; j < c; j++)
      sums[d + j] += weight * rows->targets[i * c + j];
  }
  return SCL_STATUS_OK;
}

static scl_status loo_merge_means(void *context, const void *state, scl_error *error) {
  loo_walk *w = context;
  const size_t d = w->problem->features;
  const double *sums = state;
  (void)error;
  for (size_t j = 0; j < d; j++)
    w->mean[j] += sums[j];
  for (size_t j = 0; j < w->problem->targets; j++)
    w->mean_y[j] += sums[d + j];
  return SCL_STATUS_OK;
}

static scl_status loo_add_means(void *context, const scl_rows *rows, scl_error *error) {
  const loo_walk *w = context;
  const scl_division division = {.head = SCL_HEAD(scl_division),
                                 .targets = w->problem->targets,
                                 .bytes =
                                     (w->problem->features + w->problem->targets) * sizeof(double),
                                 .part = loo_part_means,
                                 .merge = loo_merge_means};
  return w->problem->host->divide_rows(rows, &division, context, error);
}

/* Means, those of the directions, and the intercepts. */
static scl_status loo_set_means(loo_walk *w, scl_error *error) {
  const size_t d = w->spectrum->order, c = w->problem->targets, k = w->count;
  const scl_status status = w->problem->walk(w->problem, loo_add_means, w, error);
  if (status != SCL_STATUS_OK) return status;
  for (size_t j = 0; j < d; j++)
    w->mean[j] /= w->total;
  for (size_t i = 0; i < w->spectrum->count; i++)
    for (size_t j = 0; j < d; j++)
      w->mean[d + i] += w->spectrum->directions[i * d + j] * w->mean[j];
  for (size_t l = 0; l < k * c; l++) {
    w->intercept[l] = w->mean_y[l % c] / w->total;
    for (size_t j = 0; j < d; j++)
      w->intercept[l] -= w->mean[j] * w->coefficients[j * k * c + l];
  }
  return SCL_STATUS_OK;
}

scl_status loo_by_rows(const scl_problem *problem, const loo_spectrum *spectrum, int32_t estimate,
                       double total, const double *lambdas, size_t count, scl_solution *const *out,
                       scl_error *error) {
  const scl_host *host = problem->host;
  const size_t d = spectrum->order, r = spectrum->count, c = problem->targets,
               size = r * count + (d + 1) * count * c + d + r + count + c;
  double *room = host->scratch((size + 1) * sizeof *room);
  if (room == NULL)
    return host->fail(error, SCL_STATUS_NO_MEMORY,
                      "not enough memory for leave-one-out over %zu values", count);
  memset(room, 0, size * sizeof *room);
  loo_walk w = {.problem = problem,
                .spectrum = spectrum,
                .estimate = estimate,
                .count = count,
                .inverse = room,
                .total = total};
  w.coefficients = w.inverse + r * count;
  double *intercept = w.coefficients + d * count * c;
  w.intercept = problem->intercept ? intercept : NULL;
  w.mean = intercept + count * c;
  w.sums = w.mean + d + r;
  w.mean_y = w.sums + count;
  for (size_t j = 0; j < r; j++)
    for (size_t l = 0; l < count; l++)
      w.inverse[j * count + l] = 1 / fmax(spectrum->values[j] + total * lambdas[l], 1e-300);
  for (size_t l = 0; l < count; l++)
    for (size_t i = 0; i < d * c; i++)
      w.coefficients[i / c * count * c + l * c + i % c] = out[l]->coefficients[i];
  scl_status status = problem->intercept ? loo_set_means(&w, error) : SCL_STATUS_OK;
  if (status == SCL_STATUS_OK) status = problem->walk(problem, loo_visit, &w, error);
  for (size_t l = 0; status == SCL_STATUS_OK && l < count; l++)
    out[l]->score = w.sums[l] / (double)problem->rows;
  return status;
}

/* ------------ GCV, from sums alone */

scl_status loo_gcv(const loo_spectrum *spectrum, const scl_normal *normal,
                   const scl_problem *problem, double lambda, const double *coefficients,
                   double *work, double *score, scl_error *error) {
  const size_t d = spectrum->order, c = problem->targets;
  double trace = problem->intercept ? 1 : 0, rss = 0;
  for (size_t j = 0; j < spectrum->count; j++)
    if (spectrum->values[j] > 0)
      trace += spectrum->values[j] / (spectrum->values[j] + normal->total * lambda);
  const scl_status status =
      problem->host->symmetric->multiply(normal->moment, coefficients, c, work, error);
  if (status != SCL_STATUS_OK) return status;
  for (size_t j = 0; j < c; j++)
    rss += normal->square[j];
  const double size = rss;
  for (size_t i = 0; i < d * c; i++)
    rss += coefficients[i] * (work[i] - 2 * normal->right[i]);
  const double left = loo_left(sqrt(fmax(rss, 0) / normal->total), trace / (double)problem->rows);
  /* Where nearly all of y'y cancels, what is left is rounding. */
  *score = rss > 1e-11 * size ? left * left : INFINITY;
  return SCL_STATUS_OK;
}

/* ------------ the dual
 *
 *   b = (Phi Phi' + n lambda I)^-1 y,   e_-i = b_i / k_i,   k_i = sum_j v_ji^2 / (s_j + n lambda)
 *
 * v_j, s_j the eigenvectors and eigenvalues of Phi Phi'. With an intercept all are centred, and the
 * direction of a constant is none: GCV = (mean b^2) / (mean k)^2. */

/* kept (n numbers) = k. Returns 0 where an eigenvalue is below rounding, so that k has no correct
 * digit. With an intercept the direction of the constant (square near 0 once centred) is left
 * out. */
static int loo_kept(const scl_problem *problem, const loo_spectrum *spectrum, double ridge,
                    double *kept) {
  const size_t n = problem->rows;
  const double least = (double)n * DBL_EPSILON * spectrum->values[0];
  memset(kept, 0, n * sizeof *kept);
  for (size_t j = 0; j < n; j++) {
    const double *v = spectrum->directions + j * n, value = spectrum->values[j] + ridge;
    double mean = 0, square = 0;
    for (size_t i = 0; problem->intercept && i < n; i++)
      mean += v[i] / (double)n;
    for (size_t i = 0; i < n; i++)
      square += (v[i] - mean) * (v[i] - mean);
    if (problem->intercept && square < 0.5 && !(value > least)) continue;
    if (!(value > least)) return 0;
    for (size_t i = 0; i < n; i++)
      kept[i] += (v[i] - mean) * (v[i] - mean) / value;
  }
  return 1;
}

double loo_dual(const scl_problem *problem, const loo_spectrum *spectrum, int32_t estimate,
                double lambda, const double *b, const double *y, double *left) {
  const size_t n = problem->rows, c = problem->targets;
  double sum = 0, square = 0, total = 0, *kept = left + c;
  if (!loo_kept(problem, spectrum, (double)n * lambda, kept)) return INFINITY;
  for (size_t i = 0; i < n; i++) {
    total += kept[i];
    for (size_t j = 0; j < c; j++) {
      left[j] = kept[i] > 0 ? -b[i * c + j] / kept[i] : INFINITY;
      square += b[i * c + j] * b[i * c + j];
    }
    if (estimate != ESTIMATE_GCV) sum += loo_row(estimate, y + i * c, left, c);
  }
  if (estimate != ESTIMATE_GCV) return sum / (double)n;
  return total > 0 ? square / (double)n / (total / (double)n * (total / (double)n)) : INFINITY;
}
