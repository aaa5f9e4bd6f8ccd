/* Platt's sigmoid by Newton's method with backtracking, in the stable form of Lin, Lin and Weng
 * (2007):
 *
 *   min_{A,B} F = -sum_i w_i [t_i log p_i + (1 - t_i) log(1 - p_i)],
 *       p_i = 1/(1 + exp(A f_i + B))
 *
 * t_i = (N+ + 1)/(N+ + 2) for rows of the class, 1/(N- + 2) for others: what a uniform prior makes
 * of N+ and N- of them, and why scores that separate the classes still give finite A. Scores are
 * standardised first, so that the steps do not depend on their unit. */
#include "learn/platt.h"

#include "base/interrupt.h"
#include <math.h>

enum { MOST_STEPS = 100, MOST_HALVINGS = 50 };

typedef struct sample {
  size_t n;
  const double *scores, *targets, *weights;
  ptrdiff_t score_stride, target_stride;
  double weight_scale, mean, spread; /* standardised score: (f - mean)/spread */
  double high, low;                  /* t of rows of the class, and of others */
  double total;                      /* sum of the scaled weights */
} sample;

static double weight_of(const sample *s, size_t i) {
  return s->weights == NULL ? 1 : s->weights[i] * s->weight_scale;
}
static double score_of(const sample *s, size_t i) {
  return s->scores[(ptrdiff_t)i * s->score_stride];
}
static bool is_positive(const sample *s, size_t i) {
  return s->targets[(ptrdiff_t)i * s->target_stride] > 0;
}
static double standardised(const sample *s, size_t i) {
  return s->spread > 0 ? (score_of(s, i) - s->mean) / s->spread : 0;
}

/* Scale the weights to a mean of 1 over the rows of positive weight, so that N+ and N- count
 * rows. */
static void scale_weights(sample *s) {
  double sum = 0, rows = 0;
  for (size_t i = 0; s->weights != NULL && i < s->n; i++) {
    sum += s->weights[i];
    rows += s->weights[i] > 0;
  }
  s->weight_scale = sum > 0 ? rows / sum : 1;
}

/* The weighted mean and standard deviation of the scores, and the total weight. */
static scl_status standardise(sample *s, scl_error *error) {
  double sum = 0, square = 0;
  for (size_t i = 0; i < s->n; i++) {
    if (!isfinite(score_of(s, i)))
      return scl_fail(error, SCL_STATUS_BAD_DATA, "the score of row %zu is not finite", i + 1);
    s->total += weight_of(s, i);
    sum += weight_of(s, i) * score_of(s, i);
  }
  if (!(s->total > 0))
    return scl_fail(error, SCL_STATUS_BAD_DATA,
                    "there are no rows of positive weight to calibrate on");
  s->mean = sum / s->total;
  for (size_t i = 0; i < s->n; i++)
    square += weight_of(s, i) * (score_of(s, i) - s->mean) * (score_of(s, i) - s->mean);
  s->spread = sqrt(square / s->total);
  /* Scores that are equal but for rounding determine no slope: A becomes 0. */
  if (!(s->spread > 1e-14 * fabs(s->mean)) || !isfinite(s->spread)) s->spread = 0;
  return SCL_STATUS_OK;
}

/* -[t log p + (1 - t) log(1 - p)] at x = A f + B, without overflow */
static double loss_at(double t, double x) {
  return x >= 0 ? t * x + log1p(exp(-x)) : (t - 1) * x + log1p(exp(x));
}

/* F / sum_i w_i at A = a and B = b of the standardised scores. */
static double mean_loss(const sample *s, double a, double b) {
  double sum = 0;
  for (size_t i = 0; i < s->n; i++)
    sum +=
        weight_of(s, i) * loss_at(is_positive(s, i) ? s->high : s->low, a * standardised(s, i) + b);
  return sum / s->total;
}

typedef struct slope {
  double a, b, aa, ab, bb; /* gradient and Hessian of the mean loss */
} slope;

/* With p = 1/(1 + exp(x)): dF/dx = t - p and d2F/dx2 = p (1 - p). exp(-|x|) cannot overflow. */
static slope slope_at(const sample *s, double a, double b) {
  slope g = {0};
  for (size_t i = 0; i < s->n; i++) {
    const double z = standardised(s, i), x = a * z + b, w = weight_of(s, i) / s->total;
    const double e = exp(-fabs(x)), more = 1 / (1 + e), less = e / (1 + e),
                 p = x >= 0 ? less : more;
    const double first = w * ((is_positive(s, i) ? s->high : s->low) - p), second = w * more * less;
    g.a += z * first;
    g.b += first;
    g.aa += z * z * second;
    g.ab += z * second;
    g.bb += second;
  }
  return g;
}

/* One Newton step, halved until the loss satisfies the Armijo condition (constant 1e-4, up to
 * rounding). Updates a, b and loss, and returns true; false leaves them: no step length does. The
 * ridge keeps the Hessian invertible where the scores are constant. */
static bool newton_step(const sample *s, const slope *g, double *a, double *b, double *loss) {
  const double ridge = 1e-12, aa = g->aa + ridge, bb = g->bb + ridge,
               determinant = aa * bb - g->ab * g->ab;
  const double da = -(bb * g->a - g->ab * g->b) / determinant,
               db = -(aa * g->b - g->ab * g->a) / determinant;
  const double descent = g->a * da + g->b * db, rounding = 1e-14 * (1 + fabs(*loss));
  double length = 1;
  for (int halving = 0; halving < MOST_HALVINGS; halving++, length /= 2) {
    const double value = mean_loss(s, *a + length * da, *b + length * db);
    if (!(value <= *loss + 1e-4 * length * descent + rounding)) continue;
    *a += length * da;
    *b += length * db;
    *loss = value;
    return true;
  }
  return false;
}

scl_status scl_platt_fit(size_t n, const double *scores, ptrdiff_t score_stride,
                         const double *targets, ptrdiff_t target_stride, const double *weights,
                         scl_platt *out, scl_error *error) {
  sample s = {.n = n,
              .scores = scores,
              .targets = targets,
              .weights = weights,
              .score_stride = score_stride,
              .target_stride = target_stride};
  *out = (scl_platt){.tolerance = 1e-12};
  scale_weights(&s);
  SCL_TRY(standardise(&s, error));
  for (size_t i = 0; i < n; i++)
    *(is_positive(&s, i) ? &out->positives : &out->negatives) += weight_of(&s, i);
  s.high = (out->positives + 1) / (out->positives + 2);
  s.low = 1 / (out->negatives + 2);
  double a = 0, b = log((out->negatives + 1) / (out->positives + 1)), loss = mean_loss(&s, a, b);
  for (;;) {
    SCL_TRY(scl_interrupt_check(error));
    const slope g = slope_at(&s, a, b);
    out->residual = fmax(fabs(g.a), fabs(g.b));
    out->converged = out->residual <= out->tolerance;
    if (out->converged || out->iterations == MOST_STEPS || !newton_step(&s, &g, &a, &b, &loss))
      break;
    out->iterations++;
  }
  /* back to the scores as given: a (f - mean)/spread + b */
  out->slope = s.spread > 0 ? a / s.spread : 0;
  out->offset = b - out->slope * s.mean;
  return SCL_STATUS_OK;
}

/* ------------ use */

/* log 1/(1 + exp(x)) */
static double log_sigmoid(double x) { return x >= 0 ? -x - log1p(exp(-x)) : -log1p(exp(x)); }

/* Probabilities of one row: c > 1 scores give c numbers, one score gives two. The sigmoids of
 * several classes are divided by their sum; the largest logarithm is subtracted first, so that the
 * sum is at least 1. out must not overlap scores. */
static void row_probabilities(size_t c, const scl_platt *sigmoids, const double *scores,
                              double *out) {
  if (c == 1) {
    const double x = sigmoids[0].slope * scores[0] + sigmoids[0].offset;
    out[0] = exp(log_sigmoid(-x));
    out[1] = exp(log_sigmoid(x));
    return;
  }
  double most = -INFINITY, sum = 0;
  for (size_t j = 0; j < c; j++) {
    out[j] = log_sigmoid(sigmoids[j].slope * scores[j] + sigmoids[j].offset);
    most = fmax(most, out[j]);
  }
  for (size_t j = 0; j < c; j++) {
    out[j] = exp(out[j] - most);
    sum += out[j];
  }
  for (size_t j = 0; j < c; j++)
    out[j] /= sum;
}

scl_status scl_platt_probabilities(const scl_matrix *scores, const scl_platt *sigmoids,
                                   scl_matrix *out, scl_error *error) {
  const size_t c = scores->cols;
  double *row = scl_allocate_array(c + 1, sizeof *row);
  if (row == NULL) return scl_fail_memory(error, c * sizeof *row, "probabilities");
  const scl_status status =
      scl_matrix_create_raw(scores->rows, c == 1 ? 2 : c, SCL_DTYPE_FLOAT64, out, error);
  for (size_t i = 0; status == SCL_STATUS_OK && i < scores->rows; i++) {
    for (size_t j = 0; j < c; j++)
      row[j] = scl_matrix_get(scores, i, j);
    row_probabilities(c, sigmoids, row, scl_matrix_row(out, i));
  }
  scl_release(row);
  return status;
}
