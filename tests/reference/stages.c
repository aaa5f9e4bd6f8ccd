/* Stages that map rows to rows, learnt from the first n. */
#include "linear.h"
#include "problem.h"

#include <stdlib.h>

static void shape(problem *p, size_t cols) {
  p->out_rows = p->n + p->m;
  p->out_cols = cols;
  p->out = quads(p->out_rows * cols);
}

/* (x - mean)/(standard deviation), and 0 for a constant column. */
void stage_standardize(problem *p) {
  centre(p);
  shape(p, p->d);
  for (size_t j = 0; j < p->d; j++) {
    quad sum = 0;
    for (size_t i = 0; i < p->n; i++)
      sum += row(p, i)[j] * row(p, i)[j];
    const quad deviation = quad_sqrt(sum / p->n);
    for (size_t i = 0; deviation > 0 && i < p->out_rows; i++)
      p->out[i * p->d + j] = row(p, i)[j] / deviation;
  }
}

/* The first n rows of a column to [0, 1], and 0 for a constant column. */
void stage_minmax(problem *p) {
  shape(p, p->d);
  for (size_t j = 0; j < p->d; j++) {
    quad least = row(p, 0)[j], most = least;
    for (size_t i = 1; i < p->n; i++) {
      least = quad_min(least, row(p, i)[j]);
      most = quad_max(most, row(p, i)[j]);
    }
    for (size_t i = 0; most > least && i < p->out_rows; i++)
      p->out[i * p->d + j] = (row(p, i)[j] - least) / (most - least);
  }
}

/* The largest entry of a component is positive. */
static quad sign_of(size_t d, const quad *vector) {
  quad largest = 0;
  for (size_t j = 0; j < d; j++)
    if (quad_abs(vector[j]) > quad_abs(largest)) largest = vector[j];
  return largest < 0 ? -1 : 1;
}

/* Option: k. */
void stage_pca(problem *p) {
  const size_t d = p->d, k = (size_t)option_number(p, "k");
  quad *covariance = quads(d * d), *values = quads(d), *vectors = quads(d * d);
  centre(p);
  for (size_t i = 0; i < p->n; i++)
    for (size_t j = 0; j < d; j++)
      for (size_t l = 0; l < d; l++)
        covariance[j * d + l] += row(p, i)[j] * row(p, i)[l] / p->n;
  eigen(d, covariance, values, vectors);
  shape(p, k);
  for (size_t i = 0; i < p->out_rows; i++)
    for (size_t j = 0; j < k; j++)
      p->out[i * k + j] = sign_of(d, vectors + j * d) * quad_dot(d, row(p, i), vectors + j * d);
  free(covariance);
  free(values);
  free(vectors);
}
