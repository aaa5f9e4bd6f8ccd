/* Pool adjacent violators (Ayer, Brunk, Ewing, Reid and Silverman 1955):
 *
 *   min_v sum_i w_i (t_i - v_i)^2,   v_i <= v_j where f_i <= f_j,   t_i = 1 for rows of the class,
 *                                                                   else 0
 *
 * Rows of equal score are one point of their mean and their weight. Points are put on a stack in
 * ascending order; while the last one is not above the one below, both become one of their mean.
 * Each block that is left has one share; its knots are its least and its largest score. */
#include "learn/isotonic.h"

#include "base/interrupt.h"
#include <math.h>
#include <stdlib.h>

typedef struct row {
  double score, weight, positive; /* positive: the part of the weight that is of the class */
} row;

typedef struct block {
  double first, last, weight, positive; /* least and largest score; sums of the rows' */
} block;

/* Order of qsort: ascending scores, which are finite. */
static int by_score(const void *a, const void *b) {
  const double x = ((const row *)a)->score, y = ((const row *)b)->score;
  return (x > y) - (x < y);
}

/* Whether a block's share is not above that of the one before, without divisions. */
static bool violates(const block *before, const block *after) {
  return before->positive * after->weight >= after->positive * before->weight;
}

/* Merge a block into the one before it. */
static void join(block *to, const block *from) {
  to->last = from->last;
  to->weight += from->weight;
  to->positive += from->positive;
}

/* Turn n rows of ascending scores into blocks of increasing shares; `blocks` has room for n.
 * Returns the number of blocks. Each row is pushed and merged at most once: O(n). */
static size_t pool_violators(const row *rows, size_t n, block *blocks) {
  size_t count = 0, i = 0;
  while (i < n) {
    block next = {rows[i].score, rows[i].score, 0, 0};
    for (; i < n && rows[i].score == next.first; i++) {
      next.weight += rows[i].weight;
      next.positive += rows[i].positive;
    }
    blocks[count++] = next;
    for (; count > 1 && violates(&blocks[count - 2], &blocks[count - 1]); count--)
      join(&blocks[count - 2], &blocks[count - 1]);
  }
  return count;
}

/* Write one knot for a block of a single score, two for any other. */
static scl_status write_knots(const block *blocks, size_t count, scl_isotonic *out,
                              scl_error *error) {
  out->scores = scl_allocate_array(2 * count, sizeof *out->scores);
  out->shares = scl_allocate_array(2 * count, sizeof *out->shares);
  if (out->scores == NULL || out->shares == NULL) {
    scl_isotonic_release(out);
    return scl_fail_memory(error, 4 * count * sizeof *out->scores, "an isotonic regression");
  }
  for (size_t k = 0; k < count; k++) {
    const double share = fmin(blocks[k].positive / blocks[k].weight, 1);
    for (int end = 0; end < (blocks[k].last > blocks[k].first ? 2 : 1); end++) {
      out->scores[out->count] = end == 0 ? blocks[k].first : blocks[k].last;
      out->shares[out->count++] = share;
    }
  }
  return SCL_STATUS_OK;
}

/* List the rows of positive weight (rows: room for n), and add up the weights of both classes.
 * Fails with SCL_STATUS_BAD_DATA if a score is not finite, or no row has a positive weight. */
static scl_status gather_rows(size_t n, const double *scores, ptrdiff_t score_stride,
                              const double *targets, ptrdiff_t target_stride, const double *weights,
                              row *rows, size_t *count, scl_isotonic *out, scl_error *error) {
  for (size_t i = 0; i < n; i++) {
    const double score = scores[(ptrdiff_t)i * score_stride];
    const double weight = weights == NULL ? 1 : weights[i];
    const bool positive = targets[(ptrdiff_t)i * target_stride] > 0;
    if (!isfinite(score))
      return scl_fail(error, SCL_STATUS_BAD_DATA, "the score of row %zu is not finite", i + 1);
    *(positive ? &out->positives : &out->negatives) += weight;
    if (weight > 0) rows[(*count)++] = (row){score, weight, positive ? weight : 0};
  }
  if (*count > 0) return SCL_STATUS_OK;
  return scl_fail(error, SCL_STATUS_BAD_DATA,
                  "there are no rows of positive weight to calibrate on");
}

scl_status scl_isotonic_fit(size_t n, const double *scores, ptrdiff_t score_stride,
                            const double *targets, ptrdiff_t target_stride, const double *weights,
                            scl_isotonic *out, scl_error *error) {
  size_t count = 0;
  *out = (scl_isotonic){0};
  row *rows = scl_allocate_array(n + 1, sizeof *rows);
  block *blocks = scl_allocate_array(n + 1, sizeof *blocks);
  scl_status status =
      rows == NULL || blocks == NULL
          ? scl_fail_memory(error, n * (sizeof *rows + sizeof *blocks), "an isotonic regression")
          : gather_rows(n, scores, score_stride, targets, target_stride, weights, rows, &count, out,
                        error);
  if (status == SCL_STATUS_OK) {
    qsort(rows, count, sizeof *rows, by_score);
    status = write_knots(blocks, pool_violators(rows, count, blocks), out, error);
  }
  if (status == SCL_STATUS_OK) status = scl_interrupt_check(error);
  if (status != SCL_STATUS_OK) scl_isotonic_release(out);
  SCL_RELEASE(rows, blocks);
  return status;
}

void scl_isotonic_release(scl_isotonic *curve) {
  SCL_RELEASE(curve->scores, curve->shares);
  curve->scores = curve->shares = NULL;
  curve->count = 0;
}

scl_status scl_isotonic_check(const scl_isotonic *curve, scl_error *error) {
  bool right = curve->count > 0;
  for (size_t k = 0; right && k < curve->count; k++) {
    const double score = curve->scores[k], share = curve->shares[k];
    right = isfinite(score) && share >= 0 && share <= 1 &&
            (k == 0 || (score > curve->scores[k - 1] && share >= curve->shares[k - 1]));
  }
  if (right) return SCL_STATUS_OK;
  return scl_fail(error, SCL_STATUS_BAD_DATA,
                  "a curve of isotonic probabilities does not ascend from 0 to 1");
}

/* The value of the curve at a score, by bisection and linear interpolation. Scores are halved
 * before they are subtracted, because the difference of two large scores may overflow. A NaN score
 * gets the first share. */
static double value_at(const scl_isotonic *curve, double score) {
  size_t low = 0, high = curve->count - 1;
  if (!(score > curve->scores[low])) return curve->shares[low];
  if (score >= curve->scores[high]) return curve->shares[high];
  while (high - low > 1) {
    const size_t middle = low + (high - low) / 2;
    *(curve->scores[middle] <= score ? &low : &high) = middle;
  }
  const double from = curve->scores[low] / 2, to = curve->scores[high] / 2;
  const double part = to > from ? (score / 2 - from) / (to - from) : 0;
  return curve->shares[low] + part * (curve->shares[high] - curve->shares[low]);
}

scl_status scl_isotonic_probabilities(const scl_matrix *scores, const scl_isotonic *curves,
                                      scl_matrix *out, scl_error *error) {
  const size_t c = scores->cols;
  SCL_TRY(scl_matrix_create_raw(scores->rows, c == 1 ? 2 : c, SCL_DTYPE_FLOAT64, out, error));
  for (size_t i = 0; i < scores->rows; i++) {
    double *to = scl_matrix_row(out, i), sum = 0;
    for (size_t j = 0; j < c; j++)
      sum += to[j] = value_at(&curves[j], scl_matrix_get(scores, i, j));
    if (c == 1) to[1] = to[0], to[0] = 1 - to[1];
    for (size_t j = 0; c > 1 && j < c; j++)
      to[j] = sum > 0 ? to[j] / sum : 1 / (double)c;
  }
  return SCL_STATUS_OK;
}
