/* Landmarks by approximate ridge leverage scores of the rows (Alaoui and Mahoney 2015, Fast
 * randomized kernel ridge regression with statistical guarantees). Exactly they are
 *
 *   l_i = (K (K + n lambda I)^-1)_ii,   sum_i l_i = d(lambda), the effective dimension
 *
 * Here K is seen through s rows S, drawn uniformly, which stand for n/s rows each (Rudi,
 * Calandriello, Carratino and Rosasco 2018, On fast leverage score sampling, equation 3):
 *
 *   l_i ~ (k_ii - k_iS (K_SS + s lambda I)^-1 k_Si)/(lambda n)
 *
 * which is exact for s = n. A second pass over the rows computes the scores of all n, s (d + s)
 * operations a row, and keeps T rows by them. Where lambda is not given, it is the one at which
 *
 *   d_S(lambda) = tr(K_SS (K_SS + s lambda I)^-1) = SHARE min(s, T)
 *
 * by bisection, to a tenth of lambda. */
#include "landmarks.h"

enum { LEVERAGE_BATCH = 512, LEVERAGE_PROBES = 64 };
static const double LEVERAGE_SHARE = 0.25;

typedef struct leverage {
  const scl_learning *learning;
  size_t sample; /* s */
  double lambda;
  double *rows;                 /* s x d */
  scl_symmetric *gram, *factor; /* of K_SS; of K_SS + s lambda I */
  double *k;                    /* s x LEVERAGE_BATCH, or LEVERAGE_BATCH x s */
  double *batch, *own;          /* LEVERAGE_BATCH x d rows, and their k_ii */
  size_t first, filled;         /* place and number of the rows in the batch */
  reservoir *kept;
} leverage;

/* ------------ the sample */

/* Scratch memory, and two s x s matrices, which landmarks_leverage destroys. */
static scl_status leverage_open(const scl_learning *learning, size_t sample, leverage *l,
                                scl_error *error) {
  const scl_host *host = learning->host;
  const size_t d = learning->dim;
  *l = (leverage){.learning = learning,
                  .sample = sample,
                  .rows = host->scratch((sample * d + 1) * sizeof(double)),
                  .k = host->scratch(sample * LEVERAGE_BATCH * sizeof(double)),
                  .batch = host->scratch((LEVERAGE_BATCH * d + 1) * sizeof(double)),
                  .own = host->scratch(LEVERAGE_BATCH * sizeof(double))};
  if (l->rows == NULL || l->k == NULL || l->batch == NULL || l->own == NULL)
    return landmarks_no_memory(host, sample * (d + LEVERAGE_BATCH), error);
  const scl_status status = host->symmetric->create(sample, &l->gram, error);
  return status == SCL_STATUS_OK ? host->symmetric->create(sample, &l->factor, error) : status;
}

/* Computes K_SS, LEVERAGE_BATCH rows at a time. */
static scl_status leverage_gram(leverage *l, scl_error *error) {
  const size_t s = l->sample, d = l->learning->dim;
  scl_status status = SCL_STATUS_OK;
  for (size_t first = 0; status == SCL_STATUS_OK && first < s; first += LEVERAGE_BATCH) {
    const size_t rows = s - first < LEVERAGE_BATCH ? s - first : LEVERAGE_BATCH;
    status = landmarks_kernel(
        (kernel_rectangle){l->learning, l->rows + first * d, l->rows, rows, s, l->k, (ptrdiff_t)s},
        error);
    if (status == SCL_STATUS_OK)
      l->learning->host->symmetric->set(l->gram, first, rows, 0, s, l->k, (ptrdiff_t)s);
    if (status == SCL_STATUS_OK)
      status = l->learning->progress(l->learning, "comparing the sample's rows",
                                     (double)(first + rows) / (double)s, error);
  }
  return status;
}

/* factor = Cholesky factor of K_SS + s lambda I; SCL_STATUS_NUMERIC where lambda is lost in
 * rounding. */
static scl_status leverage_factor(leverage *l, double lambda, scl_error *error) {
  const scl_symmetric_algebra *algebra = l->learning->host->symmetric;
  size_t pivot;
  l->lambda = lambda;
  algebra->copy(l->gram, l->factor);
  algebra->shift((double)l->sample * lambda, l->factor);
  return algebra->factor(l->factor, &pivot, error);
}

/* d_S(lambda) = s - s lambda tr A^-1, A = K_SS + s lambda I = L L', the trace as the mean over
 * LEVERAGE_PROBES vectors v of random signs of v' A^-1 v = |L^-1 v|^2 (Hutchinson 1990). */
static scl_status leverage_dimension(leverage *l, double *out, scl_error *error) {
  const scl_learning *learning = l->learning;
  const scl_address at = learning->draw->address;
  const size_t numbers = l->sample * LEVERAGE_PROBES;
  double trace = 0;
  for (size_t i = 0; i < l->sample; i++) {
    uint64_t signs;
    learning->host->random->bits(at.seed, at.stream + LANDMARKS_PROBES, i, 0, 1, &signs);
    for (size_t k = 0; k < LEVERAGE_PROBES; k++)
      l->k[i * LEVERAGE_PROBES + k] = signs >> k & 1 ? 1 : -1;
  }
  const scl_status status =
      learning->host->symmetric->triangular(l->factor, 0, l->k, LEVERAGE_PROBES, error);
  for (size_t i = 0; i < numbers; i++)
    trace += l->k[i] * l->k[i] / LEVERAGE_PROBES;
  *out = (double)l->sample * (1 - l->lambda * trace);
  return status;
}

/* Bisection of log lambda between 1e-10 and 1e3 mean k_ii. */
static scl_status leverage_choose(leverage *l, double wanted, scl_error *error) {
  const double span = log(1e13), stop = log(1.1); /* of log high/low, first and last */
  double unit = 0, low, high;
  l->learning->host->symmetric->diagonal(l->gram, l->k);
  for (size_t i = 0; i < l->sample; i++)
    unit += l->k[i] / (double)l->sample;
  if (!(unit > 0)) unit = 1;
  low = 1e-10 * unit;
  high = 1e3 * unit;
  while (high > 1.1 * low) {
    const double middle = sqrt(low) * sqrt(high);
    double dimension = (double)l->sample;
    scl_status status = l->learning->progress(l->learning, "choosing lambda of the leverage scores",
                                              1 - (log(high / low) - stop) / (span - stop), error);
    if (status == SCL_STATUS_OK) status = leverage_factor(l, middle, error);
    if (status == SCL_STATUS_OK) status = leverage_dimension(l, &dimension, error);
    if (status != SCL_STATUS_OK && status != SCL_STATUS_NUMERIC) return status;
    if (dimension > wanted)
      low = middle;
    else
      high = middle;
  }
  return leverage_factor(l, high, error);
}

/* ------------ the scores of all rows */

/* Computes the scores of the batch, 1 at most, and offers its rows. Batches are cut every
 * LEVERAGE_BATCH places of the walk, so that the bits do not depend on its blocks. */
static scl_status leverage_flush(leverage *l, scl_error *error) {
  const scl_learning *learning = l->learning;
  const size_t count = l->filled, d = learning->dim;
  scl_status status = landmarks_diagonal(learning, l->batch, count, l->own, error);
  if (status == SCL_STATUS_OK)
    status = landmarks_kernel(
        (kernel_rectangle){learning, l->rows, l->batch, l->sample, count, l->k, (ptrdiff_t)count},
        error);
  if (status == SCL_STATUS_OK)
    status = learning->host->symmetric->triangular(l->factor, 0, l->k, count, error);
  if (status != SCL_STATUS_OK) return status;
  for (size_t i = 0; i < l->sample; i++)
    for (size_t j = 0; j < count; j++)
      l->own[j] -= l->k[i * count + j] * l->k[i * count + j];
  for (size_t j = 0; j < count; j++)
    reservoir_offer(l->kept, l->first + j,
                    fmin(1, l->own[j] / (l->lambda * (double)learning->rows)), l->batch + j * d);
  l->first += count;
  l->filled = 0;
  return SCL_STATUS_OK;
}

/* Copies rows to the batch, and computes it when it is full. */
static scl_status leverage_visit(void *context, const scl_rows *rows, scl_error *error) {
  leverage *l = context;
  const size_t d = l->learning->dim;
  scl_status status = SCL_STATUS_OK;
  for (size_t i = 0; status == SCL_STATUS_OK && i < rows->count; i++) {
    memcpy(l->batch + l->filled++ * d, landmarks_row(rows, i), d * sizeof(double));
    if (l->filled == LEVERAGE_BATCH) status = leverage_flush(l, error);
  }
  return status;
}

/* The second pass: the T rows of the least keys by their scores, into `out`. */
static scl_status leverage_keep(leverage *l, size_t count, double *out, scl_error *error) {
  reservoir kept;
  l->kept = &kept;
  scl_status status = reservoir_open(l->learning, LANDMARKS_BY_SCORE, count, out, &kept, error);
  if (status == SCL_STATUS_OK) status = l->learning->walk(l->learning, leverage_visit, l, error);
  if (status == SCL_STATUS_OK && l->filled > 0) status = leverage_flush(l, error);
  if (status == SCL_STATUS_OK) reservoir_arrange(&kept);
  return status;
}

scl_status landmarks_leverage(const scl_learning *learning, size_t sample, double lambda,
                              size_t count, double *out, scl_error *error) {
  leverage l;
  const double share = LEVERAGE_SHARE * (double)(sample < count ? sample : count);
  scl_status status = leverage_open(learning, sample, &l, error);
  if (status == SCL_STATUS_OK) status = landmarks_sample(learning, sample, l.rows, error);
  if (status == SCL_STATUS_OK) status = leverage_gram(&l, error);
  if (status == SCL_STATUS_OK)
    status = isnan(lambda) ? leverage_choose(&l, share, error) : leverage_factor(&l, lambda, error);
  if (status == SCL_STATUS_OK) status = leverage_keep(&l, count, out, error);
  learning->host->symmetric->destroy(l.gram);
  learning->host->symmetric->destroy(l.factor);
  return status;
}
