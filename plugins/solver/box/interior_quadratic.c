/* min_u (1/2) u'M u - right'u  s.t. |u_j| <= bound, by the interior point method of interior.c,
 * to the duality gap  sum_j ( bound |v_j| - v_j u_j ),  v = right - M u. */
#include "box.h"

#include "shared/separable.h"

/* descent = right - M u; *gap at u. */
static scl_status interior_quadratic_gap(const interior_quadratic *q, const double *u, double *gap,
                                         scl_error *error) {
  const interior_box *b = q->box;
  const separable r = {.bound = b->bound};
  const scl_status status = b->host->symmetric->multiply(q->matrix, u, 1, b->descent, error);
  if (status != SCL_STATUS_OK) return status;
  for (size_t j = 0; j < b->order; j++)
    b->descent[j] = q->right[j * q->stride] - b->descent[j];
  *gap = separable_gap(&r, b->order, u, b->descent, 0, NULL);
  return SCL_STATUS_OK;
}

/* An interior point never touches a bound. Coefficients within 1e-6 of it (relative) are put on it
 * in a copy, which replaces the best point if its gap is no larger. */
scl_status interior_quadratic_settle(const interior_quadratic *q, scl_error *error) {
  interior_box *b = q->box;
  double *snapped = b->step, settled = 0;
  for (size_t j = 0; j < b->order; j++)
    snapped[j] =
        1 - fabs(b->best[j]) / b->bound < 1e-6 ? copysign(b->bound, b->best[j]) : b->best[j];
  const scl_status status = interior_quadratic_gap(q, snapped, &settled, error);
  if (status != SCL_STATUS_OK || !(settled <= b->best_gap)) return status;
  b->best_gap = settled;
  memcpy(b->best, snapped, b->order * sizeof *b->best);
  return SCL_STATUS_OK;
}

/* One predictor-corrector step (Mehrotra): a step towards mu = 0 sets the goals of the second
 * one, both with the same factor. */
static scl_status interior_quadratic_step(const interior_quadratic *q, scl_error *error) {
  interior_box *b = q->box;
  double primal = 1, dual = 1;
  scl_status status = interior_box_factor(b, q->matrix, error);
  interior_box_aim(b, 0);
  if (status == SCL_STATUS_OK) status = interior_box_direct(b, error);
  if (status != SCL_STATUS_OK) return status;
  interior_box_limit(b, &primal, &dual);
  interior_box_correct(b,
                       interior_goal(interior_box_products(b, 0, 0),
                                     interior_box_products(b, primal, dual), 2 * (double)b->order));
  status = interior_box_direct(b, error);
  if (status != SCL_STATUS_OK) return status;
  primal = dual = 1;
  interior_box_limit(b, &primal, &dual);
  interior_box_move(b, primal, dual);
  return SCL_STATUS_OK;
}

/* The first start, with mu = 0, only sets a = 0 to get the gap there; the second chooses mu as the
 * mean product that this gap implies. */
scl_status interior_quadratic_follow(const interior_quadratic *q, double goal, size_t *steps,
                                     scl_error *error) {
  interior_box *b = q->box;
  double gap = 0;
  interior_box_start(b, 0);
  scl_status status = interior_quadratic_gap(q, b->a, &gap, error);
  if (status != SCL_STATUS_OK) return status;
  interior_box_start(b, gap / (2 * (double)b->order));
  while (interior_box_note(b, gap) && gap > goal && *steps < q->most) {
    status =
        q->problem->progress(q->problem, "solving", (double)*steps / (double)q->most, NAN, error);
    if (status == SCL_STATUS_OK) status = interior_quadratic_step(q, error);
    if (status == SCL_STATUS_NUMERIC) break;
    if (status == SCL_STATUS_OK) status = interior_quadratic_gap(q, b->a, &gap, error);
    if (status != SCL_STATUS_OK) return status;
    ++*steps;
  }
  return SCL_STATUS_OK;
}
