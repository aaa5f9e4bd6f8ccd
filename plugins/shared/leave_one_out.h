/* What linear smoothers tell of their own risk without fitting anew. With the hat matrix H = Phi
 * (Phi'R Phi + W lambda P)^-1 Phi' R, R the row weights, W their sum, P = I or G, h_i its diagonal
 * and e_i the residuals:
 *
 *   leave-one-out   f_-i(x_i) - y_i = e_i / (1 - h_i),
 *                   the penalty W lambda kept (Allen 1974): mean square, or share of wrong classes,
 *                   of rows that count once, as where folds are judged
 *   GCV             (mean e^2) / (1 - tr H / n)^2 (Golub, Heath and Wahba 1979)
 *
 * With an intercept rows are centred and h_i has R_i/W besides. One decomposition serves all
 * lambdas: rows t_j with t_j' P t_k = [j = k], t_j' Phi'R Phi t_k = s_j [j = k], so that
 *
 *   h_i = R_i sum_j <t_j, phi_i>^2 / (s_j + W lambda),   tr H = sum_j s_j / (s_j + W lambda).
 *
 * Directions in which G vanishes to working precision are left out: there Phi does, too. */
#ifndef SCULLERY_SHARED_LEAVE_ONE_OUT_H
#define SCULLERY_SHARED_LEAVE_ONE_OUT_H

#include "shared/rows.h"
#include <math.h>
#include <scullery/plugin.h>

typedef enum loo_kind { LOO_NONE = 0, LOO_SQUARE, LOO_ERROR, LOO_GCV } loo_kind;

static inline loo_kind loo_kind_of(const char *word) {
  return strcmp(word, "loo") == 0         ? LOO_SQUARE
         : strcmp(word, "loo_error") == 0 ? LOO_ERROR
         : strcmp(word, "gcv") == 0       ? LOO_GCV
                                          : LOO_NONE;
}

/* ---------------------------------------------------------------- the decomposition */

typedef struct loo_spectrum {
  size_t order, count; /* D, and how many directions */
  double *values;      /* s, count */
  double *directions;  /* t, count x D */
} loo_spectrum;

static inline void loo_release(const scl_host *host, loo_spectrum *s) {
  host->release(s->values);
  host->release(s->directions);
  *s = (loo_spectrum){0};
}

static inline scl_status loo_make(const scl_host *host, size_t order, loo_spectrum *out,
                                  scl_error *error) {
  *out = (loo_spectrum){order, order, host->allocate((order + 1) * sizeof(double)),
                        host->allocate((order * order + 1) * sizeof(double))};
  if (out->values != NULL && out->directions != NULL) return SCL_STATUS_OK;
  loo_release(host, out);
  return host->fail(error, SCL_STATUS_NO_MEMORY,
                    "not enough memory for the directions of %zu features", order);
}

/* out (cols x rows) = in' */
static inline void loo_transpose(const double *in, size_t rows, size_t cols, double *out) {
  for (size_t i = 0; i < rows; i++)
    for (size_t j = 0; j < cols; j++)
      out[j * rows + i] = in[i * cols + j];
}

/* Of M = S A S', r x r, with rows u_j / sqrt(g_j) in S: eigenvectors Q; the directions are Q S.
 * `room` holds 2 D r numbers. */
static inline scl_status loo_rotate(const scl_host *host, const scl_symmetric *a, loo_spectrum *out,
                                    double *room, scl_error *error) {
  const scl_symmetric_algebra *algebra = host->service(SCL_SERVICE_SYMMETRIC);
  const scl_dense_algebra *dense = host->service(SCL_SERVICE_DENSE_ALGEBRA);
  const size_t d = out->order, r = out->count;
  const ptrdiff_t width = (ptrdiff_t)d, small = (ptrdiff_t)r;
  double *turned = room, *product = room + d * r;
  scl_symmetric *m = NULL;
  scl_status status = algebra->create(r, &m, error);
  if (status != SCL_STATUS_OK) return status;
  loo_transpose(out->directions, r, d, turned);
  algebra->multiply(a, turned, r, product); /* A S', D x r */
  dense->gemm(0, 0, r, r, d, 1, out->directions, width, product, small, 0, turned,
              small); /* S A S' */
  algebra->set(m, 0, r, 0, r, turned, small);
  status = algebra->eigen(m, r, out->values, turned, error); /* Q, r x r */
  algebra->destroy(m);
  if (status != SCL_STATUS_OK) return status;
  dense->gemm(0, 0, r, d, r, 1, turned, small, out->directions, width, 0, product, width);
  memcpy(out->directions, product, r * d * sizeof *product);
  return SCL_STATUS_OK;
}

/* Of A = Phi'R Phi against G (NULL: the identity). */
static inline scl_status loo_decompose(const scl_host *host, const scl_symmetric *a,
                                       const scl_symmetric *g, loo_spectrum *out,
                                       scl_error *error) {
  const scl_symmetric_algebra *algebra = host->service(SCL_SERVICE_SYMMETRIC);
  const size_t d = algebra->order(a);
  scl_status status = loo_make(host, d, out, error);
  if (status != SCL_STATUS_OK) return status;
  status = algebra->eigen(g == NULL ? a : g, d, out->values, out->directions, error);
  if (status == SCL_STATUS_OK && g != NULL) {
    size_t r = 0;
    for (; r < d && out->values[r] > 1e-12 * out->values[0]; r++)
      for (size_t j = 0; j < d; j++)
        out->directions[r * d + j] /= sqrt(out->values[r]);
    out->count = r;
    double *room = host->allocate((2 * d * r + 1) * sizeof *room);
    status = room == NULL ? host->fail(error, SCL_STATUS_NO_MEMORY,
                                       "not enough memory for %zu directions", r)
                          : loo_rotate(host, a, out, room, error);
    host->release(room);
  }
  for (size_t j = 0; status == SCL_STATUS_OK && j < out->count; j++)
    out->values[j] = fmax(out->values[j], 0);
  if (status != SCL_STATUS_OK) loo_release(host, out);
  return status;
}

/* ---------------------------------------------------------------- from residuals to a score */

/* What a row adds, by its left-out residual -e/(1-h): `left` holds f_-i - y, c numbers. */
static inline double loo_row(loo_kind kind, const double *y, const double *left, size_t c) {
  double sum = 0;
  for (size_t j = 0; kind == LOO_SQUARE && j < c; j++)
    sum += left[j] * left[j];
  if (kind == LOO_SQUARE) return sum;
  if (c == 1) return (y[0] + left[0] < 0) != (y[0] < 0);
  size_t said = 0, true_class = 0;
  for (size_t j = 1; j < c; j++) {
    if (y[j] + left[j] > y[said] + left[said]) said = j;
    if (y[j] > y[true_class]) true_class = j;
  }
  return said != true_class;
}

/* residual/(1-h); a row that the fit goes through whatever its target has none, not even where its
 * residual is 0: infinite. */
static inline double loo_left(double residual, double leverage) {
  return leverage < 1 - 1e-13 ? residual / (1 - leverage) : INFINITY;
}

/* ---------------------------------------------------------------- the walk over rows */

enum { LOO_TILE = 256 };

typedef struct loo_walk {
  const scl_host *host;
  const scl_problem *problem;
  const loo_spectrum *spectrum;
  loo_kind kind;
  size_t count;          /* lambdas */
  const double *inverse; /* 1/(s_j + W lambda_k), directions x lambdas */
  double *coefficients;  /* D x (count c): column k c + j */
  double *intercept;     /* count c, or NULL */
  double *mean;          /* D, then <t_j, mean>: with an intercept, else zeros */
  double total;          /* W */
  double *sums;          /* count */
  const scl_rows *rows;  /* of the block at hand */
  double *tile_sums;     /* tiles x count */
  int out_of_memory;
} loo_walk;

/* P = Phi T' - 1 (T m)', squared; leverages = P^2 inverse; scores = Phi A: all for one tile. */
static inline void loo_tile(void *context, size_t index) {
  loo_walk *w = context;
  const scl_dense_algebra *dense = w->host->service(SCL_SERVICE_DENSE_ALGEBRA);
  const size_t d = w->spectrum->order, r = w->spectrum->count, c = w->problem->targets,
               k = w->count;
  const size_t first = index * LOO_TILE,
               count = w->rows->count - first < LOO_TILE ? w->rows->count - first : LOO_TILE;
  double *room = w->host->allocate(count * (d + r + k + k * c + c) * sizeof *room);
  if (room == NULL) {
    w->out_of_memory = 1;
    return;
  }
  double *phi = room, *p = phi + count * d, *leverage = p + count * r,
         *scores = leverage + count * k, *left = scores + count * k * c;
  for (size_t i = 0; i < count; i++)
    rows_widen(&w->rows->features, first + i, phi + i * d);
  dense->gemm(0, 1, count, r, d, 1, phi, (ptrdiff_t)d, w->spectrum->directions, (ptrdiff_t)d, 0, p,
              (ptrdiff_t)r);
  for (size_t i = 0; i < count; i++)
    for (size_t j = 0; j < r; j++) {
      const double centred = p[i * r + j] - w->mean[d + j];
      p[i * r + j] = centred * centred;
    }
  dense->gemm(0, 0, count, k, r, 1, p, (ptrdiff_t)r, w->inverse, (ptrdiff_t)k, 0, leverage,
              (ptrdiff_t)k);
  dense->gemm(0, 0, count, k * c, d, 1, phi, (ptrdiff_t)d, w->coefficients, (ptrdiff_t)(k * c), 0,
              scores, (ptrdiff_t)(k * c));
  for (size_t i = 0; i < count; i++) {
    const double *y = w->rows->targets + (first + i) * c,
                 weight = w->rows->weights == NULL ? 1 : w->rows->weights[first + i];
    for (size_t l = 0; l < k; l++) {
      const double h = weight * (leverage[i * k + l] + (w->intercept != NULL ? 1 / w->total : 0));
      for (size_t j = 0; j < c; j++) {
        const double constant = w->intercept != NULL ? w->intercept[l * c + j] : 0;
        left[j] = loo_left(scores[i * k * c + l * c + j] + constant - y[j], h);
      }
      w->tile_sums[index * k + l] += loo_row(w->kind, y, left, c);
    }
  }
  w->host->release(room);
}

static inline scl_status loo_visit(void *context, const scl_rows *rows, scl_error *error) {
  loo_walk *w = context;
  const size_t tiles = (rows->count + LOO_TILE - 1) / LOO_TILE;
  w->tile_sums = w->host->allocate((tiles * w->count + 1) * sizeof *w->tile_sums);
  if (w->tile_sums == NULL)
    return w->host->fail(error, SCL_STATUS_NO_MEMORY, "not enough memory for leave-one-out");
  memset(w->tile_sums, 0, tiles * w->count * sizeof *w->tile_sums);
  w->rows = rows;
  w->host->parallel(tiles, loo_tile, w);
  for (size_t i = 0; i < tiles; i++)
    for (size_t l = 0; l < w->count; l++)
      w->sums[l] += w->tile_sums[i * w->count + l];
  w->host->release(w->tile_sums);
  return w->out_of_memory
             ? w->host->fail(error, SCL_STATUS_NO_MEMORY, "not enough memory for leave-one-out")
             : SCL_STATUS_OK;
}

/* The means of features and targets, weighted: what an intercept needs. */
typedef struct loo_means {
  double *phi, *y;
  size_t features, targets;
} loo_means;

static inline scl_status loo_add_means(void *context, const scl_rows *rows, scl_error *error) {
  loo_means *m = context;
  (void)error;
  for (size_t i = 0; i < rows->count; i++) {
    const double weight = rows->weights == NULL ? 1 : rows->weights[i];
    const ptrdiff_t at = (ptrdiff_t)i * rows->features.row_stride;
    for (size_t j = 0; j < m->features; j++)
      m->phi[j] += weight * (rows->features.dtype == SCL_DTYPE_FLOAT64
                                 ? ((const double *)rows->features.data)[at + (ptrdiff_t)j]
                                 : (double)((const float *)rows->features.data)[at + (ptrdiff_t)j]);
    for (size_t j = 0; j < m->targets; j++)
      m->y[j] += weight * rows->targets[i * m->targets + j];
  }
  return SCL_STATUS_OK;
}

static inline scl_status loo_set_means(loo_walk *w, double *mean_y, scl_error *error) {
  const size_t d = w->spectrum->order, c = w->problem->targets, k = w->count;
  loo_means means = {w->mean, mean_y, d, c};
  const scl_status status = w->problem->walk(w->problem, loo_add_means, &means, error);
  if (status != SCL_STATUS_OK) return status;
  for (size_t j = 0; j < d; j++)
    w->mean[j] /= w->total;
  for (size_t i = 0; i < w->spectrum->count; i++)
    for (size_t j = 0; j < d; j++)
      w->mean[d + i] += w->spectrum->directions[i * d + j] * w->mean[j];
  for (size_t l = 0; l < k * c; l++) {
    w->intercept[l] = mean_y[l % c] / w->total;
    for (size_t j = 0; j < d; j++)
      w->intercept[l] -= w->mean[j] * w->coefficients[j * k * c + l];
  }
  return SCL_STATUS_OK;
}

/* out[l]->score for each lambda from its coefficients, in two passes with an intercept, in one
 * without. */
static inline scl_status loo_by_rows(const scl_problem *problem, const loo_spectrum *spectrum,
                                     loo_kind kind, double total, const double *lambdas,
                                     size_t count, scl_solution *const *out, scl_error *error) {
  const scl_host *host = problem->host;
  const size_t d = spectrum->order, r = spectrum->count, c = problem->targets,
               size = r * count + (d + 1) * count * c + d + r + count + c;
  double *room = host->allocate((size + 1) * sizeof *room);
  if (room == NULL)
    return host->fail(error, SCL_STATUS_NO_MEMORY,
                      "not enough memory for leave-one-out over %zu values", count);
  memset(room, 0, size * sizeof *room);
  double *inverse = room, *coefficients = inverse + r * count,
         *intercept = coefficients + d * count * c, *mean = intercept + count * c;
  double *sums = mean + d + r, *mean_y = sums + count;
  for (size_t j = 0; j < r; j++)
    for (size_t l = 0; l < count; l++)
      inverse[j * count + l] = 1 / fmax(spectrum->values[j] + total * lambdas[l], 1e-300);
  for (size_t l = 0; l < count; l++)
    for (size_t i = 0; i < d * c; i++)
      coefficients[i / c * count * c + l * c + i % c] = out[l]->coefficients[i];
  loo_walk w = {.host = host,
                .problem = problem,
                .spectrum = spectrum,
                .kind = kind,
                .count = count,
                .inverse = inverse};
  w.coefficients = coefficients;
  w.intercept = problem->intercept ? intercept : NULL;
  w.mean = mean;
  w.total = total;
  w.sums = sums;
  scl_status status = problem->intercept ? loo_set_means(&w, mean_y, error) : SCL_STATUS_OK;
  if (status == SCL_STATUS_OK) status = problem->walk(problem, loo_visit, &w, error);
  for (size_t l = 0; status == SCL_STATUS_OK && l < count; l++)
    out[l]->score = sums[l] / (double)problem->rows;
  host->release(room);
  return status;
}

/* ---------------------------------------------------------------- generalised cross-validation,
 * from sums alone */

/* square: sum of y'y over targets, right Phi'Y (D x c); work: D c numbers. */
static inline double loo_gcv(const scl_host *host, const loo_spectrum *spectrum,
                             const scl_normal *normal, const scl_problem *problem, double lambda,
                             const double *coefficients, double *work) {
  const scl_symmetric_algebra *algebra = host->service(SCL_SERVICE_SYMMETRIC);
  const size_t d = spectrum->order, c = problem->targets;
  double trace = problem->intercept ? 1 : 0, rss = 0;
  for (size_t j = 0; j < spectrum->count; j++)
    if (spectrum->values[j] > 0)
      trace += spectrum->values[j] / (spectrum->values[j] + normal->total * lambda);
  algebra->multiply(normal->gram, coefficients, c, work);
  for (size_t j = 0; j < c; j++)
    rss += normal->square[j];
  for (size_t i = 0; i < d * c; i++)
    rss += coefficients[i] * (work[i] - 2 * normal->right[i]);
  const double left = loo_left(sqrt(fmax(rss, 0) / normal->total), trace / (double)problem->rows);
  return left * left;
}

/* ---------------------------------------------------------------- the dual: b = (K + n lambda
 * I)^-1 y, centred with an intercept */

/* e_-i = n lambda b_i / (n lambda d_i - [intercept]/n), d the diagonal of the inverse; y: n x c
 * targets as they are, left: c numbers. */
static inline double loo_dual(const scl_problem *problem, const loo_spectrum *spectrum,
                              loo_kind kind, double lambda, const double *b, const double *y,
                              double *left) {
  const size_t n = problem->rows, c = problem->targets;
  const double ridge = (double)n * lambda, constant = problem->intercept ? 1 / (double)n : 0;
  double sum = 0, rss = 0, trace = 0;
  for (size_t i = 0; i < n; i++) {
    double diagonal = 0;
    for (size_t j = 0; j < n; j++) {
      const double v = spectrum->directions[j * n + i];
      diagonal += v * v / fmax(spectrum->values[j] + ridge, 1e-300);
    }
    const double kept =
        ridge > 0 ? diagonal - constant / ridge : diagonal; /* (1 - h_i) / (n lambda) */
    trace += kept * ridge;
    for (size_t j = 0; j < c; j++) {
      left[j] = kept > 0 ? -b[i * c + j] / kept : INFINITY;
      rss += ridge * b[i * c + j] * ridge * b[i * c + j];
    }
    if (kind != LOO_GCV) sum += loo_row(kind, y + i * c, left, c);
  }
  if (kind != LOO_GCV) return sum / (double)n;
  return trace > 0 ? rss / (double)n / (trace / (double)n * (trace / (double)n)) : INFINITY;
}

#endif
