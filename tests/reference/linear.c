#include "linear.h"

#include <stdlib.h>

void factor(size_t n, quad *matrix) {
  for (size_t j = 0; j < n; j++) {
    quad *row = matrix + j * n;
    const quad pivot = row[j] - quad_dot(j, row, row);
    const quad root = pivot > 1e-30 * row[j] ? quad_sqrt(pivot) : 0;
    row[j] = root;
    for (size_t i = j + 1; i < n; i++) {
      quad *below = matrix + i * n;
      below[j] = root > 0 ? (below[j] - quad_dot(j, below, row)) / root : 0;
    }
  }
}

void factor_solve(size_t n, const quad *factored, quad *x) {
  for (size_t j = 0; j < n; j++) {
    const quad *row = factored + j * n;
    x[j] = row[j] > 0 ? (x[j] - quad_dot(j, row, x)) / row[j] : 0;
  }
  for (size_t j = n; j-- > 0;) {
    const quad pivot = factored[j * n + j];
    for (size_t i = j + 1; i < n; i++)
      x[j] -= factored[i * n + j] * x[i];
    x[j] = pivot > 0 ? x[j] / pivot : 0;
  }
}

/* ------------ eigenvalues */

/* Rows p and q of a matrix of n columns, or columns where `step` is n. */
static void rotate_pair(size_t n, quad *p, quad *q, size_t step, quad c, quad s) {
  for (size_t k = 0; k < n; k++) {
    const quad x = p[k * step], y = q[k * step];
    p[k * step] = c * x - s * y;
    q[k * step] = s * x + c * y;
  }
}

static void rotate(size_t n, quad *a, quad *vectors, size_t p, size_t q) {
  if (a[p * n + q] == 0) return;
  const quad theta = (a[q * n + q] - a[p * n + p]) / (2 * a[p * n + q]);
  const quad t = (theta < 0 ? -1 : 1) / (quad_abs(theta) + quad_sqrt(theta * theta + 1));
  const quad c = 1 / quad_sqrt(t * t + 1), s = t * c;
  rotate_pair(n, a + p * n, a + q * n, 1, c, s);
  rotate_pair(n, a + p, a + q, n, c, s);
  rotate_pair(n, vectors + p * n, vectors + q * n, 1, c, s);
}

static void swap_rows(size_t n, quad *a, quad *b) {
  for (size_t k = 0; k < n; k++) {
    const quad kept = a[k];
    a[k] = b[k];
    b[k] = kept;
  }
}

void eigen(size_t n, quad *matrix, quad *values, quad *vectors) {
  enum { SWEEPS = 40 };
  for (size_t k = 0; k < n * n; k++)
    vectors[k] = k % (n + 1) == 0;
  for (int sweep = 0; sweep < SWEEPS; sweep++)
    for (size_t p = 0; p < n; p++)
      for (size_t q = p + 1; q < n; q++)
        rotate(n, matrix, vectors, p, q);
  for (size_t k = 0; k < n; k++)
    values[k] = matrix[k * n + k];
  for (size_t k = 0; k < n; k++)
    for (size_t j = k + 1; j < n; j++)
      if (values[j] > values[k]) {
        swap_rows(1, values + j, values + k);
        swap_rows(n, vectors + j * n, vectors + k * n);
      }
}
