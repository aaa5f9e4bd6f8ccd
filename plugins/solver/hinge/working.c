/* The working set of a class: the rows whose duals Newton's method (newton.c) moves next. Rows
 * whose dual does not fit their score come first, by how much; then those nearest to the margin,
 * whose duals may have to move. */
#include "hinge.h"

enum { WORKING_LEAST = 512 };

/* The sorting key of a row, lowest first: minus its violation if its dual violates optimality,
 * else its distance to the margin. Rows of weight 0 have key infinity. */
static double hinge_working_key(const hinge_column *col, size_t i, double b, double upper) {
  const double dual = col->duals[i * col->stride],
               u = 1 - col->y[i * col->stride] * (col->f[i * col->stride] + b);
  if (!(upper > 0)) return INFINITY;
  const bool fits = u > 0 ? dual >= upper : u < 0 ? dual <= 0 : true;
  return fits ? fabs(u) : -fabs(u);
}

/* Brackets the size-th smallest key by bisection: `size` keys are below `low` where low = high;
 * otherwise the keys in [low, high) are equal up to rounding. */
typedef struct hinge_range {
  double low, high;
} hinge_range;

static hinge_range hinge_working_range(const double *keys, size_t count, size_t size) {
  double low = 0, high = 0;
  for (size_t i = 0; i < count; i++) {
    low = fmin(low, keys[i]);
    if (isfinite(keys[i])) high = fmax(high, keys[i]);
  }
  high = high * 2 + 1;
  low = low * 2 - 1;
  for (int halving = 0; halving < 50; halving++) {
    const double middle = low + (high - low) / 2;
    size_t below = 0;
    for (size_t i = 0; i < count; i++)
      below += keys[i] < middle;
    if (below == size) return (hinge_range){middle, middle};
    if (below > size)
      high = middle;
    else
      low = middle;
  }
  return (hinge_range){low, high};
}

/* Selects the `size` rows of the smallest keys, in ascending order of rows; of equal keys the
 * first rows are taken. */
static size_t hinge_working_take(const double *keys, size_t count, size_t size, size_t *rows) {
  const hinge_range range = hinge_working_range(keys, count, size);
  size_t below = 0, taken = 0, between = 0;
  for (size_t i = 0; i < count; i++)
    below += keys[i] < range.low;
  for (size_t i = 0; i < count; i++) {
    const bool is_between = keys[i] >= range.low && keys[i] < range.high;
    if (keys[i] < range.low || (is_between && between < size - below)) rows[taken++] = i;
    between += is_between;
  }
  return taken;
}

void hinge_working_choose(hinge_working *w, const hinge_column *col, const double *upper, double b,
                          double gap, size_t most, double *keys, size_t *rows) {
  size_t wrong = 0, weighty = 0;
  double square = 0;
  for (size_t i = 0; i < col->count; i++) {
    keys[i] = hinge_working_key(col, i, b, upper[i]);
    weighty += isfinite(keys[i]);
    wrong += keys[i] < 0;
    square += keys[i] < 0 ? keys[i] * keys[i] : 0;
  }
  w->violation = wrong > 0 ? sqrt(square / (double)wrong) : 0;
  w->wanted = gap > w->gap / 4 ? 2 * w->size : 0; /* the last set was too small to make progress */
  w->gap = gap;
  if (w->wanted < wrong + wrong / 2) w->wanted = wrong + wrong / 2;
  if (w->wanted < WORKING_LEAST) w->wanted = WORKING_LEAST;
  if (w->wanted > weighty) w->wanted = weighty;
  w->cut = w->wanted > most;
  const size_t size = w->cut ? most : w->wanted;
  w->size = hinge_working_take(keys, col->count, size, rows);
}
