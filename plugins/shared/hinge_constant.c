#include "shared/hinge_constant.h"

#include "shared/row_total.h"
#include <stdlib.h>

/* By place; equal ones by weight, so that the sums of the weights have one order. */
static int hinge_kink_order(const void *a, const void *b) {
  const hinge_kink *x = a, *y = b;
  if (x->at != y->at) return x->at > y->at ? 1 : -1;
  return (x->weight > y->weight) - (x->weight < y->weight);
}

scl_status hinge_best_constant(const scl_problem *problem, const hinge_column *col,
                               hinge_kink *kinks, double *room, double *b, scl_error *error) {
  double positive, total;
  size_t k = 0;
  for (size_t i = 0; i < col->count; i++) {
    const double y = col->y[i * col->stride];
    kinks[i] = (hinge_kink){y - col->f[i * col->stride], col->weights[i]};
    room[i] = y > 0 ? col->weights[i] : 0;
  }
  scl_status status = row_total(problem, room, col->count, 1, &positive, error);
  if (status == SCL_STATUS_OK)
    status = row_total(problem, col->weights, col->count, 1, &total, error);
  if (status != SCL_STATUS_OK) return status;
  qsort(kinks, col->count, sizeof *kinks, hinge_kink_order);
  double slope = -positive;
  const double zero = -1e-13 * total; /* a slope this small is rounding of its terms */
  for (; k < col->count - 1 && (slope += kinks[k].weight) < zero;)
    k++;
  const double low = kinks[k].at;
  const double high = k + 1 < col->count && slope <= -zero ? kinks[k + 1].at : low;
  *b = low + (high - low) / 2;
  return SCL_STATUS_OK;
}

scl_status hinge_loss(const scl_problem *problem, const hinge_column *col, double b, double *room,
                      double *sum, scl_error *error) {
  for (size_t i = 0; i < col->count; i++)
    room[i] =
        col->weights[i] * fmax(0, 1 - col->y[i * col->stride] * (col->f[i * col->stride] + b));
  return row_total(problem, room, col->count, 1, sum, error);
}

scl_status hinge_sides_of(const scl_problem *problem, const hinge_column *col, double *room,
                          hinge_sides *sides, scl_error *error) {
  double *const sums[] = {&sides->positive, &sides->positive_along, &sides->negative,
                          &sides->negative_along};
  for (size_t k = 0; k < 4; k++) {
    const double side = k < 2 ? 1 : -1;
    for (size_t i = 0; i < col->count; i++) {
      const double dual = col->duals[i * col->stride], y = col->y[i * col->stride];
      const double share = k % 2 == 0 ? dual : dual * y * col->f[i * col->stride];
      room[i] = y * side > 0 ? share : 0;
    }
    const scl_status status = row_total(problem, room, col->count, 1, sums[k], error);
    if (status != SCL_STATUS_OK) return status;
  }
  return SCL_STATUS_OK;
}

double hinge_balanced_dual(const hinge_sides *s, double square, double longest, double apart) {
  const bool larger = s->positive > s->negative;
  const double sum = larger ? s->positive : s->negative,
               along = larger ? s->positive_along : s->negative_along,
               move = fabs(s->positive - s->negative), cut = sum > 0 ? move / sum : 0;
  return 2 * fmin(s->positive, s->negative) -
         (square - 2 * cut * along + move * move * longest) / 2 - move * sqrt(longest) * apart;
}
