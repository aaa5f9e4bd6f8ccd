/* Sums over blocks of floating-point features, stored as whole numbers of the features' units. The
 * way `dense` fills them. */
#include "rows/block_sums.h"

#include "algebra/block_totals.h"
#include "rows/pilot_means.h"
#include <math.h>
#include <string.h>

/* ------------ making */

/* A copy of `count` numbers; from NULL: of `value`. */
static void copy_or_fill(double *to, const double *from, size_t count, double value) {
  for (size_t j = 0; j < count; j++)
    to[j] = from == NULL ? value : from[j];
}

scl_status scl_block_sums_open(scl_whole_sums *sums, const double *unit, const scl_flow *flow,
                               scl_error *error) {
  const size_t d = sums->features, c = sums->targets;
  sums->shift = SCL_BLOCK_SHIFT;
  sums->unit = scl_allocate_array(d + 1, sizeof *sums->unit);
  sums->pilot = scl_allocate_array(d + c + 1, sizeof *sums->pilot);
  if (sums->unit == NULL || sums->pilot == NULL)
    return scl_fail_memory(error, 2 * d * sizeof *sums->unit, "normal equations");
  copy_or_fill(sums->unit, unit, d, 1);
  copy_or_fill(sums->pilot, flow->pilot, d, 0);
  copy_or_fill(sums->pilot + d, flow->target_pilot, c, 0);
  return SCL_STATUS_OK;
}

scl_status scl_block_sums_first_units(const scl_whole_sums *sums, size_t many, size_t few,
                                      double ratio, scl_whole_sums *to, scl_error *error) {
  const scl_flow none = {0};
  if (sums->unit == NULL) return SCL_STATUS_OK;
  SCL_TRY(scl_block_sums_open(to, NULL, &none, error));
  for (size_t j = 0; j < to->features; j++)
    to->unit[j] = ratio * sums->unit[j / few * many + j % few];
  for (size_t j = 0; j < to->features; j++)
    to->pilot[j] = ratio * sums->pilot[j / few * many + j % few];
  memcpy(to->pilot + to->features, sums->pilot + sums->features, sums->targets * sizeof *to->pilot);
  return SCL_STATUS_OK;
}

/* ------------ joining */

static bool same_numbers(const double *a, const double *b, size_t count) {
  for (size_t j = 0; j < count; j++)
    if (a[j] != b[j]) return false;
  return true;
}

scl_status scl_block_sums_alike(const scl_whole_sums *a, const scl_whole_sums *b,
                                scl_error *error) {
  const size_t d = a->features;
  if (a->unit == NULL && b->unit == NULL) return SCL_STATUS_OK;
  if ((a->unit == NULL) != (b->unit == NULL))
    return scl_fail(error, SCL_STATUS_BAD_DATA,
                    "sums of float features do not join sums of whole numbers");
  if (same_numbers(a->unit, b->unit, d) && same_numbers(a->pilot, b->pilot, d + a->targets))
    return SCL_STATUS_OK;
  return scl_fail(error, SCL_STATUS_BAD_DATA,
                  "the sums differ in their scales or in the means that are subtracted: parts join "
                  "if these were learnt from the same first rows");
}

scl_status scl_block_sums_make_room(scl_whole_sums *into, scl_whole_sums *from, size_t group,
                                    scl_error *error) {
  scl_whole_totals *to = &into->moment[group], *other = &from->moment[group];
  const double more = from->weight[group];
  SCL_TRY(scl_block_totals_make_room(to, into->weight[group], more, error));
  if (other->high != NULL && to->high == NULL) SCL_TRY(scl_whole_totals_widen(to, 0, error));
  if (to->high != NULL && other->high == NULL) SCL_TRY(scl_whole_totals_widen(other, 0, error));
  into->weight[group] += more;
  return SCL_STATUS_OK;
}

/* ------------ adding blocks */

scl_status scl_block_sums_add(scl_whole_sums *sums, const scl_block_rows *rows, scl_error *error) {
  const size_t d = sums->features;
  double *inverse = scl_allocate_array(d + 1, sizeof *inverse);
  if (inverse == NULL) return scl_fail_memory(error, d * sizeof *inverse, "scales of features");
  for (size_t j = 0; j < d; j++)
    inverse[j] = ldexp(1 / sums->unit[j], SCL_BLOCK_SHIFT / 2);
  const scl_block_totals to = {&sums->moment[rows->group], &sums->weight[rows->group], inverse};
  const scl_status status =
      scl_block_totals_add(&to, rows->dtype, rows->phi, rows->stride, rows->rows, error);
  scl_release(inverse);
  return status;
}

scl_status scl_block_sums_add_right(scl_whole_sums *sums, size_t group, const double *right,
                                    const double *own, scl_error *error) {
  const size_t d = sums->features, c = sums->targets, k = c + 1;
  for (size_t j = 0; j < c; j++)
    SCL_TRY(scl_sums_check_target(j, own[c + j], error));
  double *scaled = scl_allocate_array(d * k + 1, sizeof *scaled);
  if (scaled == NULL) return scl_fail_memory(error, d * k * sizeof *scaled, "targets of a block");
  for (size_t i = 0; i < d; i++)
    for (size_t j = 0; j < k; j++)
      scaled[j * d + i] = right[i * k + j] / sums->unit[i];
  scl_status status = scl_exact_add(sums->right[group], scaled, error);
  if (status == SCL_STATUS_OK) status = scl_exact_add(sums->own[group], own, error);
  scl_release(scaled);
  return status;
}

/* ------------ units */

/* A power of two near the root of the mean of the first weights that are not 0. */
static double weight_factor(const double *weights, size_t rows) {
  enum { FIRST = 2048 };
  double sum = 0, count = 0;
  int exponent;
  for (size_t i = 0; weights != NULL && i < scl_min(rows, FIRST); i++) {
    sum += weights[i];
    count += weights[i] > 0;
  }
  if (!(sum > 0) || !isfinite(sum)) return 1;
  (void)frexp(sqrt(sum / count), &exponent);
  return ldexp(1, exponent);
}

scl_status scl_block_units(const scl_flow *flow, const double *weights, size_t rows, double **out,
                           scl_error *error) {
  const size_t d = scl_flow_features(flow);
  const double factor = flow->fixed_unit ? 1 : weight_factor(weights, rows);
  double *learnt = NULL;
  if (flow->unit == NULL) SCL_TRY(scl_pilot_units(flow, &learnt, error));
  double *unit = *out = scl_allocate_array(d + 1, sizeof *unit);
  const scl_status status =
      unit == NULL ? scl_fail_memory(error, d * sizeof *unit, "scales of features") : SCL_STATUS_OK;
  if (unit != NULL) copy_or_fill(unit, flow->unit != NULL ? flow->unit : learnt, d, 1);
  for (size_t j = 0; unit != NULL && j < d; j++)
    unit[j] *= factor;
  scl_release(learnt);
  return status;
}
