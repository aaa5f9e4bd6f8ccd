/* Pruning: the lasso on the quadratic form (G, G a), whose solution b has fewer parameters. */
#include "learn/pruning.h"

#include "learn/quadratic.h"
#include <math.h>
#include <string.h>

struct scl_pruning {
  scl_symmetric *gram; /* G + shift I, T x T */
  double shift;
  scl_matrix a;           /* float64, packed */
  double *right, *square; /* G a (D x c), a'Ga of each target */
  size_t parameters;
};

/* *out = sum over the c targets of a'Ga, for packed a (D x c) and gram = G + shift I. The sum is at
 * least 0 but for rounding, which is cut off. */
static scl_status squared_norm(const scl_symmetric *gram, double shift, const double *a, size_t c,
                               double *out, scl_error *error) {
  const size_t numbers = scl_symmetric_order(gram) * c;
  double *product = scl_allocate_array(numbers + 1, sizeof *product), sum = 0;
  if (product == NULL) return scl_fail_memory(error, numbers * sizeof *product, "a norm");
  const scl_status status = scl_service_symmetric.multiply(gram, a, c, product, error);
  for (size_t i = 0; status == SCL_STATUS_OK && i < numbers; i++)
    sum += a[i] * (product[i] - shift * a[i]);
  scl_release(product);
  *out = fmax(sum, 0);
  return status;
}

/* a must have one row for each feature of the map. */
static scl_status check_weight_rows(const scl_map *map, const scl_matrix *a, scl_error *error) {
  if (a->rows == scl_map_features(map)) return SCL_STATUS_OK;
  return scl_fail(error, SCL_STATUS_BAD_SHAPE,
                  "the model has %zu features and these are %zu weights", scl_map_features(map),
                  a->rows);
}

scl_status scl_model_norm(const scl_map *map, const scl_matrix *a, double *norm, scl_error *error) {
  scl_matrix packed;
  scl_symmetric *gram = NULL;
  SCL_TRY(check_weight_rows(map, a, error));
  SCL_TRY(scl_matrix_copy(a, SCL_DTYPE_FLOAT64, &packed, error));
  scl_status status = scl_map_gram(map, &gram, error);
  if (status == SCL_STATUS_OK)
    status = squared_norm(gram, 0, packed.data, packed.cols, norm, error);
  if (status == SCL_STATUS_OK) *norm = sqrt(*norm);
  scl_symmetric_destroy(gram);
  scl_matrix_release(&packed);
  return status;
}

void scl_pruning_close(scl_pruning *p) {
  if (p == NULL) return;
  scl_symmetric_destroy(p->gram);
  scl_matrix_release(&p->a);
  scl_release(p->right);
  scl_release(p);
}

/* Copy a, and make G, G a and a'Ga. G gets 1e-8 of its mean diagonal added, so that it is positive
 * definite (the paper's footnote 1). The caller closes p after a failure. */
static scl_status pruning_prepare(const scl_map *map, const scl_matrix *a, scl_pruning *p,
                                  scl_error *error) {
  const size_t c = a->cols, numbers = a->rows * c;
  SCL_TRY(scl_matrix_copy(a, SCL_DTYPE_FLOAT64, &p->a, error));
  SCL_TRY(scl_map_gram(map, &p->gram, error));
  const size_t d = scl_symmetric_order(p->gram);
  double trace = 0;
  for (size_t i = 0; i < d; i++)
    trace += scl_symmetric_get(p->gram, i, i);
  p->shift = 1e-8 * trace / (double)d;
  scl_service_symmetric.shift(p->shift, p->gram);
  p->right = scl_allocate_zero((numbers + c + 1) * sizeof *p->right);
  if (p->right == NULL) return scl_fail_memory(error, numbers * sizeof *p->right, "a pruning");
  p->square = p->right + numbers;
  const double *from = p->a.data;
  SCL_TRY(scl_service_symmetric.multiply(p->gram, from, c, p->right, error));
  for (size_t i = 0; i < numbers; i++)
    p->square[i % c] += from[i] * p->right[i];
  return SCL_STATUS_OK;
}

scl_status scl_pruning_open(const scl_map *map, const scl_matrix *a, scl_pruning **out,
                            scl_error *error) {
  SCL_TRY(check_weight_rows(map, a, error));
  scl_pruning *p = scl_allocate_zero(sizeof *p);
  if (p == NULL) return scl_fail_memory(error, sizeof *p, "a pruning");
  p->parameters = scl_map_count(map);
  const scl_status status = pruning_prepare(map, a, p, error);
  if (status == SCL_STATUS_OK)
    *out = p;
  else
    scl_pruning_close(p);
  return status;
}

/* *distance = ||b - a||_G and *norm = ||b||_G, with ||v||_G^2 = v'Gv summed over targets. */
static scl_status pruning_distances(const scl_pruning *p, const double *b, double *distance,
                                    double *norm, scl_error *error) {
  const size_t c = p->a.cols, numbers = p->a.rows * c;
  const double *a = p->a.data;
  double *gap = scl_allocate_array(numbers + 1, sizeof *gap);
  if (gap == NULL) return scl_fail_memory(error, numbers * sizeof *gap, "a pruning");
  for (size_t i = 0; i < numbers; i++)
    gap[i] = b[i] - a[i];
  scl_status status = squared_norm(p->gram, p->shift, gap, c, distance, error);
  if (status == SCL_STATUS_OK) status = squared_norm(p->gram, p->shift, b, c, norm, error);
  scl_release(gap);
  *distance = sqrt(*distance);
  *norm = sqrt(*norm);
  return status;
}

scl_status scl_pruning_step(const scl_pruning *p, const scl_instance *solver, scl_fit *fit,
                            double *distance, double *norm, scl_error *error) {
  const scl_quadratic form = {.gram = p->gram,
                              .right = p->right,
                              .square = p->square,
                              .total = (double)p->parameters,
                              .targets = p->a.cols,
                              .start = p->a.data};
  SCL_TRY(scl_quadratic_solve(&form, solver, fit, error));
  const scl_status status = pruning_distances(p, fit->coefficients.data, distance, norm, error);
  if (status != SCL_STATUS_OK) scl_fit_release(fit);
  return status;
}
