/* Kernels on rows, and kernel ridge regression:
 *
 *   (K + n lambda I) b + f0 1 = y,   1'b = 0 */
#include "linear.h"
#include "problem.h"

#include <stdlib.h>
#include <string.h>

/* ------------ widths from the rows */

static int ascending(const void *a, const void *b) {
  const quad x = *(const quad *)a, y = *(const quad *)b;
  return x < y ? -1 : x > y;
}

/* 1 / the median squared distance of all pairs of the learning rows. */
static quad median_gamma(const problem *p) {
  const size_t pairs = p->n * (p->n - 1) / 2;
  quad *distance = quads(pairs);
  size_t at = 0;
  for (size_t i = 0; i < p->n; i++)
    for (size_t j = 0; j < i; j++)
      distance[at++] = quad_square_distance(p->d, row(p, i), row(p, j));
  qsort(distance, pairs, sizeof *distance, ascending);
  const quad median =
      pairs % 2 == 1 ? distance[pairs / 2] : (distance[pairs / 2 - 1] + distance[pairs / 2]) / 2;
  free(distance);
  return 1 / median;
}

/* 1 / (d var X), the variance of all numbers of the learning rows about their common mean. */
static quad scale_gamma(const problem *p) {
  const size_t count = p->n * p->d;
  quad mean = 0, sum = 0;
  for (size_t k = 0; k < count; k++)
    mean += p->x[k];
  mean /= count;
  for (size_t k = 0; k < count; k++)
    sum += (p->x[k] - mean) * (p->x[k] - mean);
  return 1 / (p->d * (sum / count));
}

static quad gamma_of(const problem *p) {
  const char *word = option_word(p, "gamma");
  if (strcmp(word, "median") == 0) return median_gamma(p);
  return strcmp(word, "scale") == 0 ? scale_gamma(p) : option_number(p, "gamma");
}

/* ------------ kernels */

static quad gaussian(size_t d, const quad *u, const quad *v, quad gamma) {
  return quad_exp(-gamma * quad_square_distance(d, u, v));
}

static quad laplacian(size_t d, const quad *u, const quad *v, quad gamma) {
  quad sum = 0;
  for (size_t j = 0; j < d; j++)
    sum += quad_abs(u[j] - v[j]);
  return quad_exp(-gamma * sum);
}

/* nu = 3/2, of width gamma^(-1/2) */
static quad matern(size_t d, const quad *u, const quad *v, quad gamma) {
  const quad a = quad_sqrt(3 * gamma * quad_square_distance(d, u, v));
  return (1 + a) * quad_exp(-a);
}

static quad linear(size_t d, const quad *u, const quad *v, quad gamma) {
  (void)gamma;
  return quad_dot(d, u, v);
}

typedef quad (*kernel)(size_t d, const quad *u, const quad *v, quad gamma);

static kernel kernel_of(const problem *p) {
  static const struct {
    const char *name;
    kernel evaluate;
  } known[] = {
      {"gaussian", gaussian}, {"laplacian", laplacian}, {"matern", matern}, {"linear", linear}};
  const char *name = option_word(p, "kernel");
  for (size_t k = 0; k < sizeof known / sizeof *known; k++)
    if (strcmp(known[k].name, name) == 0) return known[k].evaluate;
  (void)fprintf(stderr, "reference: no kernel is called %s\n", name);
  exit(2);
}

quad *kernel_matrix(const problem *p) {
  const kernel evaluate = kernel_of(p);
  const quad gamma = evaluate == linear ? 0 : gamma_of(p);
  quad *k = quads((p->n + p->m) * p->n);
  for (size_t i = 0; i < p->n + p->m; i++)
    for (size_t j = 0; j < p->n; j++)
      k[i * p->n + j] = evaluate(p->d, row(p, i), row(p, j), gamma);
  return k;
}

void solve_gram(problem *p) {
  p->out_rows = p->n + p->m;
  p->out_cols = p->n;
  p->out = kernel_matrix(p);
}

/* ------------ kernel ridge */

/* One target. Options: kernel, gamma, lambda. */
void solve_kernel_ridge(problem *p) {
  const size_t n = p->n;
  const quad lambda = option_number(p, "lambda") * (double)n;
  quad sum_b = 0, sum_ones = 0;
  centre(p);
  quad *k = kernel_matrix(p), *a = quads(n * n), *b = quads(n), *ones = quads(n);
  memcpy(a, k, n * n * sizeof *a);
  memcpy(b, p->y, n * sizeof *b);
  for (size_t i = 0; i < n; i++) {
    a[i * n + i] += lambda;
    ones[i] = 1;
  }
  factor(n, a);
  factor_solve(n, a, b);
  factor_solve(n, a, ones);
  for (size_t i = 0; i < n; i++) {
    sum_b += b[i];
    sum_ones += ones[i];
  }
  const quad f0 = sum_b / sum_ones;
  for (size_t i = 0; i < n; i++)
    b[i] -= f0 * ones[i];
  quad *out = answer(p);
  for (size_t i = 0; i < n + p->m; i++)
    out[i] = quad_dot(n, k + i * n, b) + f0;
  free(k);
  free(a);
  free(b);
  free(ones);
}
