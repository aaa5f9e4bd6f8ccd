/* A preconditioner for (Phi'Phi + n lambda I) from a sample of m rows S (m x D):
 *
 *   P = (n/m) S'S + n mu I,    mu P^-1 n = I - S' (S S' + m mu I)^-1 S
 *       (Woodbury; an m x m system)
 *
 * It sees the large eigenvalues of Phi'Phi as well as m rows can; mu >= lambda stands for the ones
 * that it does not see, which random features have many of, all small. Making it costs m^2 D, using
 * it 4 m D a column: no pass over the rows. Where there are more rows in the sample than features,
 * S'S + m mu I itself is factored, mu is lambda, and with some rows a feature P is as good for a
 * small lambda as for a large one. */
#ifndef SCULLERY_SHARED_ROW_SAMPLE_H
#define SCULLERY_SHARED_ROW_SAMPLE_H

#include "shared/minibatch.h"
#include <math.h>

enum { SAMPLE_PIECE = 256, SAMPLE_STRIPES = 8 };

typedef struct row_sample {
  const scl_problem *problem;
  const scl_symmetric_algebra *symmetric;
  const scl_dense_algebra *algebra;
  size_t rows, filled; /* m */
  int tall;  /* m >= D: the factor has order D, and s is a piece of the sample, SAMPLE_PIECE x D */
  double *s; /* D x m: the sample, transposed, rows times the root of their weights */
  double *partial;      /* SAMPLE_STRIPES x m x c; NULL where tall */
  double square;        /* sum of the squares of S */
  const double *centre; /* D numbers taken from each row, or NULL */
  double mean_weight;
  scl_symmetric *factor;
} row_sample;

static inline void sample_close(row_sample *sample) {
  if (sample->problem == NULL) return;
  sample->problem->host->release(sample->s);
  sample->problem->host->release(sample->partial);
  if (sample->symmetric != NULL) sample->symmetric->destroy(sample->factor);
}

static inline double sample_feature(const scl_rows *rows, size_t i, size_t j) {
  const ptrdiff_t at = (ptrdiff_t)i * rows->features.row_stride + (ptrdiff_t)j;
  return rows->features.dtype == SCL_DTYPE_FLOAT64
             ? ((const double *)rows->features.data)[at]
             : (double)((const float *)rows->features.data)[at];
}

/* Row i of a block into the sample. */
static inline void sample_put(row_sample *sample, const scl_rows *rows, size_t i) {
  const size_t d = sample->problem->features,
               at = sample->tall ? sample->filled % SAMPLE_PIECE : sample->filled;
  const size_t step = sample->tall ? 1 : sample->rows;
  const double root = sqrt(rows_weight(rows, i) / sample->mean_weight);
  double *to = sample->s + (sample->tall ? at * d : at);
  for (size_t j = 0; j < d; j++) {
    const double x =
        root * (sample_feature(rows, i, j) - (sample->centre == NULL ? 0 : sample->centre[j]));
    to[j * step] = x;
    sample->square += x * x;
  }
  sample->filled++;
  if (sample->tall && (at + 1 == SAMPLE_PIECE || sample->filled == sample->rows))
    sample->symmetric->rank(sample->factor, 1, sample->s, at + 1, (ptrdiff_t)d);
}

static inline scl_status sample_drawn(void *context, const scl_rows *rows, scl_error *error) {
  (void)error;
  for (size_t i = 0; i < rows->count; i++)
    sample_put(context, rows, i);
  return SCL_STATUS_OK;
}

/* Evenly spaced rows, where rows can only be read in order; all of them, where so many are
 * wanted. */
static inline scl_status sample_passing(void *context, const scl_rows *rows, scl_error *error) {
  row_sample *sample = context;
  (void)error;
  for (size_t i = 0; i < rows->count && sample->filled < sample->rows; i++) {
    const double place =
        ((double)sample->filled + 0.5) * (double)sample->problem->rows / (double)sample->rows;
    if (rows->first + i == (size_t)place) sample_put(sample, rows, i);
  }
  return SCL_STATUS_OK;
}

static inline scl_status sample_draw(row_sample *sample, uint64_t seed, scl_error *error) {
  const scl_problem *problem = sample->problem;
  const int all = sample->rows >= problem->rows;
  scl_status status = all ? SCL_STATUS_UNSUPPORTED : SCL_STATUS_OK;
  for (uint64_t step = 0; status == SCL_STATUS_OK && sample->filled < sample->rows; step++) {
    const size_t left = sample->rows - sample->filled,
                 count = left < SAMPLE_PIECE ? left : SAMPLE_PIECE;
    status = problem->minibatch(problem, seed, step, count, 0, problem->features, 0, sample_drawn,
                                sample, error);
  }
  if (status != SCL_STATUS_UNSUPPORTED) return status;
  return problem->walk(problem, sample_passing, sample, error);
}

/* mu: half of mean ||phi||^2/m. The sample misses directions of about that size: less makes P too
 * small there, more makes it too large where it knows better. A tall sample misses none, and mu is
 * there for rounding. */
static inline double sample_damping(const row_sample *sample) {
  const double mean = sample->square / (double)sample->rows;
  const double rounding = sample->problem->dtype == SCL_DTYPE_FLOAT64 ? 1e-11 : 1e-7;
  return sample->tall ? rounding * mean : mean / (2 * (double)sample->rows);
}

/* m rows of a problem with dense ones, drawn by seed; mu as above, 0: chosen, at least least_mu. */
static inline scl_status sample_open(row_sample *sample, const scl_problem *problem, size_t rows,
                                     uint64_t seed, double least_mu, double mu,
                                     const double *centre, double mean_weight, scl_error *error) {
  const scl_host *host = problem->host;
  const size_t d = problem->features, c = problem->targets;
  *sample = (row_sample){.problem = problem,
                         .rows = rows,
                         .tall = rows >= d,
                         .centre = centre,
                         .mean_weight = mean_weight};
  sample->symmetric = host->service(SCL_SERVICE_SYMMETRIC);
  sample->algebra = host->service(SCL_SERVICE_DENSE_ALGEBRA);
  sample->s = host->allocate(d * (sample->tall ? SAMPLE_PIECE : rows) * sizeof *sample->s);
  sample->partial =
      sample->tall ? NULL : host->allocate(SAMPLE_STRIPES * rows * c * sizeof *sample->partial);
  scl_status status = SCL_STATUS_OK;
  if (sample->s == NULL || (sample->partial == NULL && !sample->tall))
    status = host->fail(error, SCL_STATUS_NO_MEMORY,
                        "not enough memory for a sample of %zu rows: give a smaller rank", rows);
  if (status == SCL_STATUS_OK)
    status = sample->symmetric->create(sample->tall ? d : rows, &sample->factor, error);
  if (status == SCL_STATUS_OK) status = sample_draw(sample, seed, error);
  if (status == SCL_STATUS_OK && mu == 0) mu = fmax(fmax(least_mu, sample_damping(sample)), 1e-300);
  if (status == SCL_STATUS_OK) {
    size_t pivot = 0;
    if (!sample->tall) sample->symmetric->rank(sample->factor, 1, sample->s, d, (ptrdiff_t)rows);
    sample->symmetric->shift((double)rows * mu, sample->factor);
    status = sample->symmetric->factor(sample->factor, &pivot, error);
  }
  if (status != SCL_STATUS_OK) sample_close(sample);
  return status;
}

/* ---------------------------------------------------------------- using it */

typedef struct sample_use {
  const row_sample *sample;
  const double *in;
  double *out; /* D x c, both */
} sample_use;

static inline void sample_stripe(const row_sample *sample, size_t index, size_t *from,
                                 size_t *count) {
  const size_t d = sample->problem->features;
  *from = d * index / SAMPLE_STRIPES;
  *count = d * (index + 1) / SAMPLE_STRIPES - *from;
}

/* partial = S v, over a stripe of the features */
static inline void sample_down(void *context, size_t index) {
  const sample_use *use = context;
  const row_sample *sample = use->sample;
  const size_t m = sample->rows, c = sample->problem->targets;
  size_t from, count;
  sample_stripe(sample, index, &from, &count);
  sample->algebra->gemm(1, 0, m, c, count, 1, sample->s + from * m, (ptrdiff_t)m,
                        use->in + from * c, (ptrdiff_t)c, 0, sample->partial + index * m * c,
                        (ptrdiff_t)c);
}

/* out = v - S' u */
static inline void sample_up(void *context, size_t index) {
  const sample_use *use = context;
  const row_sample *sample = use->sample;
  const size_t m = sample->rows, c = sample->problem->targets;
  size_t from, count;
  sample_stripe(sample, index, &from, &count);
  memcpy(use->out + from * c, use->in + from * c, count * c * sizeof *use->out);
  sample->algebra->gemm(0, 0, count, c, m, -1, sample->s + from * m, (ptrdiff_t)m, sample->partial,
                        (ptrdiff_t)c, 1, use->out + from * c, (ptrdiff_t)c);
}

/* out = P^-1 in, D x c each, but for a factor */
static inline void sample_apply(const row_sample *sample, const double *in, double *out) {
  if (sample->tall) {
    memcpy(out, in, sample->problem->features * sample->problem->targets * sizeof *out);
    sample->symmetric->solve(sample->factor, out, sample->problem->targets);
    return;
  }
  const size_t size = sample->rows * sample->problem->targets;
  sample_use use = {sample, in, out};
  sample->problem->host->parallel(SAMPLE_STRIPES, sample_down, &use);
  for (size_t k = 1; k < SAMPLE_STRIPES; k++)
    for (size_t i = 0; i < size; i++)
      sample->partial[i] += sample->partial[k * size + i];
  sample->symmetric->solve(sample->factor, sample->partial, sample->problem->targets);
  sample->problem->host->parallel(SAMPLE_STRIPES, sample_up, &use);
}

#endif
