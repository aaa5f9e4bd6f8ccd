#include "shared/hinge_constant.h"

#include <stdlib.h>

static int hinge_kink_order(const void *a, const void *b) {
  const double x = ((const hinge_kink *)a)->at, y = ((const hinge_kink *)b)->at;
  return (x > y) - (x < y);
}

double hinge_best_constant(const hinge_column *col, hinge_kink *kinks) {
  double slope = 0, total = 0;
  size_t k = 0;
  for (size_t i = 0; i < col->count; i++) {
    const double y = col->y[i * col->stride];
    kinks[i] = (hinge_kink){y - col->f[i * col->stride], col->weights[i]};
    if (y > 0) slope -= col->weights[i];
    total += col->weights[i];
  }
  qsort(kinks, col->count, sizeof *kinks, hinge_kink_order);
  const double zero = -1e-13 * total; /* a slope this small is rounding of its terms */
  for (; k < col->count - 1 && (slope += kinks[k].weight) < zero;)
    k++;
  const double low = kinks[k].at;
  const double high = k + 1 < col->count && slope <= -zero ? kinks[k + 1].at : low;
  return low + (high - low) / 2;
}

double hinge_mean_loss(const hinge_column *col, double b, double total) {
  double sum = 0;
  for (size_t i = 0; i < col->count; i++)
    sum += col->weights[i] * fmax(0, 1 - col->y[i * col->stride] * (col->f[i * col->stride] + b));
  return sum / total;
}

hinge_sides hinge_sides_of(const hinge_column *col) {
  hinge_sides s = {0, 0, 0, 0};
  for (size_t i = 0; i < col->count; i++) {
    const double dual = col->duals[i * col->stride], f = col->f[i * col->stride];
    if (col->y[i * col->stride] > 0) {
      s.positive += dual;
      s.positive_along += dual * f;
    } else {
      s.negative += dual;
      s.negative_along -= dual * f;
    }
  }
  return s;
}

double hinge_balanced_dual(const hinge_sides *s, double square, double longest, double apart) {
  const bool larger = s->positive > s->negative;
  const double sum = larger ? s->positive : s->negative,
               along = larger ? s->positive_along : s->negative_along,
               move = fabs(s->positive - s->negative), cut = sum > 0 ? move / sum : 0;
  return 2 * fmin(s->positive, s->negative) -
         (square - 2 * cut * along + move * move * longest) / 2 - move * sqrt(longest) * apart;
}
