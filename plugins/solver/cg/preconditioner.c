/* Preconditioners of cg, for A = Phi'W Phi + N lambda R, R = I (l2) or G (rkhs), each up to a
 * factor. Rows are centred where there is an intercept.
 *
 * Rows, l2: from a sample of m rows S (m x D), which times the root of their weights stand for all,
 *
 *   P = (n/m) S'S + n mu I,
 *   n mu P^-1 = I - S' (S S' + m mu I)^-1 S        (Woodbury; an m x m system)
 *
 * It sees the large eigenvalues of Phi'Phi as well as m rows can; mu >= lambda stands for those
 * that it does not see, which random features have many of, all small. Making it costs m^2 D, using
 * it 4 m D a column: no pass over the rows. Where m >= D, S'S + m mu I itself is factored, and mu
 * is lambda: with some rows a feature P is as good for a small lambda as for a large one.
 *
 * Rows, rkhs: P = (n/m) S'S + n mu G, of order D, mu = lambda unless it is given. In exact
 * arithmetic this is the preconditioner of Rudi, Carratino and Rosasco (2017) with the Gram matrix
 * of the sampled rows in place of the landmarks'.
 *
 * Gram, rkhs (Falkon; Rudi, Carratino and Rosasco 2017): features k(z_m, x) of landmarks z_m have
 * Phi'Phi ~ n kappa G^2, kappa = 1/M, so that G alone serves:
 *
 *   P = N (kappa G^2 + lambda G),   P^-1 = (1/N) (kappa G + lambda I)^-1 G^-1
 *
 * Both factors commute; with T'T = G and A'A = kappa T T' + lambda I this is their B B',
 * B = N^-1/2 T^-1 A^-1. kappa comes from one product with a random vector v,
 * kappa = v'Phi'W Phi v/(N ||G v||^2), so that no common factor of the features matters. No row is
 * looked at. G is given 10 units of rounding of its trace on the diagonal, ten times more until it
 * factors: the directions below that hold nothing but rounding. */
#include "cg.h"

#include "shared/mean_diagonal.h"
#include "shared/minibatch.h"
#include <float.h>

/* Rows of a tall sample that are added at a time; features of a wide one whose products are float32
 * at a stretch. */
enum { SAMPLE_PIECE = 256, SAMPLE_STRETCH = 1024 };
/* A wide sample is float32 where mu is at least this share of mean ||phi||^2: P^-1 shrinks the
 * largest directions to about that, and the rounding of float32 stays far below. */
static const double LEAST_NARROW = 1e-5;

void preconditioner_close(preconditioner *p) {
  if (p->host == NULL) return;
  p->host->release(p->s);
  p->host->release(p->partial);
  p->host->symmetric->destroy(p->factor);
  p->host->symmetric->destroy(p->second);
  *p = (preconditioner){.host = NULL};
}

/* to = Cholesky factor of scale A + shift I */
static scl_status factor_shifted(const scl_host *host, const scl_symmetric *a, double scale,
                                 double shift, scl_symmetric *to, scl_error *error) {
  size_t pivot = 0;
  host->symmetric->copy(a, to);
  if (scale != 1) host->symmetric->scale(scale, to);
  host->symmetric->shift(shift, to);
  return host->symmetric->factor(to, &pivot, error);
}

/* ------------ from a sample of rows */

/* More rows than features, or rkhs: a system of order D. */
static bool sample_is_tall(const cg_system *system, size_t rows) {
  return rows >= system->problem->features || system->gram != NULL;
}

typedef struct sampling {
  preconditioner *into;
  const cg_system *system;
  size_t filled;
  double square, mean_weight; /* sum of the squares of S; N/n */
} sampling;

/* Copies row i of a block into the sample. */
static scl_status sample_put(sampling *sample, const scl_rows *rows, size_t i, scl_error *error) {
  preconditioner *p = sample->into;
  const size_t d = p->problem->features, step = p->tall ? 1 : p->rows,
               at = p->tall ? sample->filled % SAMPLE_PIECE : sample->filled;
  const double *phi =
      (const double *)rows->features.data + (ptrdiff_t)i * rows->features.row_stride;
  const double *centre = sample->system->centre;
  const double root = sqrt(rows_weight(rows, i) / sample->mean_weight);
  const size_t begin = p->tall ? at * d : at;
  for (size_t j = 0; j < d; j++) {
    const double x = root * (phi[j] - (centre == NULL ? 0 : centre[j]));
    if (p->dtype == SCL_DTYPE_FLOAT64)
      ((double *)p->s)[begin + j * step] = x;
    else
      ((float *)p->s)[begin + j * step] = (float)x;
    sample->square += x * x;
  }
  sample->filled++;
  if (!p->tall || (at + 1 < SAMPLE_PIECE && sample->filled < p->rows)) return SCL_STATUS_OK;
  return p->host->symmetric->rank(p->factor, 1, p->s, at + 1, (ptrdiff_t)d, error);
}

/* Puts all rows of a minibatch into the sample. */
static scl_status sample_drawn(void *context, const scl_rows *rows, scl_error *error) {
  scl_status status = SCL_STATUS_OK;
  for (size_t i = 0; status == SCL_STATUS_OK && i < rows->count; i++)
    status = sample_put(context, rows, i, error);
  return status;
}

/* Takes evenly spaced rows where rows can only be read in order, and all rows where so many are
 * asked for. */
static scl_status sample_passing(void *context, const scl_rows *rows, scl_error *error) {
  sampling *sample = context;
  const preconditioner *p = sample->into;
  scl_status status = SCL_STATUS_OK;
  for (size_t i = 0; status == SCL_STATUS_OK && i < rows->count && sample->filled < p->rows; i++) {
    const double place =
        ((double)sample->filled + 0.5) * (double)p->problem->rows / (double)p->rows;
    if (rows->first + i == (size_t)place) status = sample_put(sample, rows, i, error);
  }
  return status;
}

/* Draws rows by minibatches of at most SAMPLE_PIECE where the problem offers them. A problem that
 * can only be read in order refuses with SCL_STATUS_UNSUPPORTED, and the sample is taken in one
 * walk. */
static scl_status sample_draw(sampling *sample, uint64_t seed, scl_error *error) {
  const scl_problem *problem = sample->into->problem;
  const size_t rows = sample->into->rows;
  scl_status status = rows >= problem->rows ? SCL_STATUS_UNSUPPORTED : SCL_STATUS_OK;
  for (uint64_t step = 0; status == SCL_STATUS_OK && sample->filled < rows; step++) {
    const size_t left = rows - sample->filled, count = left < SAMPLE_PIECE ? left : SAMPLE_PIECE;
    status = problem->minibatch(problem, seed, step, count, 0, problem->features, 0, sample_drawn,
                                sample, error);
  }
  if (status != SCL_STATUS_UNSUPPORTED) return status;
  return problem->walk(problem, sample_passing, sample, error);
}

/* l2: mu, half of mean ||phi||^2/m. The sample misses directions of about that size: less makes P
 * too small there, more makes it too large where it knows better. A tall sample misses none, and mu
 * is there for rounding. */
static double sample_damping(const sampling *sample) {
  const double rows = (double)sample->into->rows, mean = sample->square / rows;
  const double rounding = sample->into->problem->dtype == SCL_DTYPE_FLOAT64 ? 1e-11 : 1e-7;
  return sample->into->tall ? rounding * mean : mean / (2 * rows);
}

/* SS' into the factor. */
static scl_status sample_multiply(const preconditioner *p, scl_error *error) {
  const size_t d = p->problem->features, m = p->rows,
               size = p->dtype == SCL_DTYPE_FLOAT64 ? sizeof(double) : sizeof(float);
  scl_status status = SCL_STATUS_OK;
  for (size_t j = 0; status == SCL_STATUS_OK && j < d; j += SAMPLE_STRETCH)
    status = p->host->symmetric->accumulate(p->factor, p->dtype, (char *)p->s + j * m * size,
                                            (ptrdiff_t)m,
                                            d - j < SAMPLE_STRETCH ? d - j : SAMPLE_STRETCH, error);
  return status;
}

/* Whether a float32 sample is accurate enough, given mu and the size of the squared features. */
static bool sample_fits_float32(const sampling *sample, double mu) {
  const double rows = (double)sample->into->rows,
               square = sample->square / (rows * (double)sample->into->problem->features);
  return mu * rows >= LEAST_NARROW * sample->square && square > 1e-20 && square < 1e20;
}

/* l2: factor the sample's matrix. SCL_STATUS_NUMERIC where it takes float64. */
static scl_status sample_factor(const sampling *sample, double mu, scl_error *error) {
  preconditioner *p = sample->into;
  const scl_symmetric_algebra *algebra = p->host->symmetric;
  size_t pivot = 0;
  scl_status status = SCL_STATUS_OK;
  if (mu == 0) mu = fmax(fmax(sample->system->lambda, sample_damping(sample)), 1e-300);
  if (p->dtype == SCL_DTYPE_FLOAT32 && !sample_fits_float32(sample, mu))
    return p->host->fail(error, SCL_STATUS_NUMERIC, "the sample takes float64");
  if (!p->tall) status = sample_multiply(p, error);
  algebra->shift((double)p->rows * mu, p->factor);
  return status == SCL_STATUS_OK ? algebra->factor(p->factor, &pivot, error) : status;
}

/* rkhs: factor S'S + m mu G, which has the least jitter of ridge's. */
static scl_status sample_factor_with_gram(const sampling *sample, double mu, scl_error *error) {
  preconditioner *p = sample->into;
  const double least = p->problem->dtype == SCL_DTYPE_FLOAT64 ? 1e-12 : 1e-5;
  double unit = 0;
  if (mu == 0) mu = sample->system->lambda;
  p->host->symmetric->add((double)p->rows * mu, sample->system->gram, p->factor);
  scl_status status = mean_diagonal(p->host, p->factor, &unit, error);
  if (status == SCL_STATUS_OK)
    status = p->host->symmetric->create(p->problem->features, &p->second, error);
  if (status != SCL_STATUS_OK) return status;
  for (double jitter = least; jitter < 10; jitter *= 10) {
    status = factor_shifted(p->host, p->factor, 1, jitter * unit, p->second, error);
    if (status != SCL_STATUS_NUMERIC) break;
  }
  p->host->symmetric->destroy(p->factor);
  p->factor = p->second;
  p->second = NULL;
  return status;
}

/* S'S of all rows, from the normal equations: where features are whole numbers, these do not depend
 * on the order of the rows. */
static scl_status sample_all(sampling *sample, scl_error *error) {
  const preconditioner *p = sample->into;
  const scl_symmetric_algebra *algebra = p->host->symmetric;
  scl_normal normal = {.head = SCL_HEAD(scl_normal)};
  double mean;
  scl_status status = p->problem->normal(p->problem, &normal, error);
  if (status != SCL_STATUS_OK) return status;
  algebra->copy(normal.moment, p->factor);
  algebra->scale(1 / sample->mean_weight, p->factor);
  status = mean_diagonal(p->host, p->factor, &mean, error);
  sample->square = mean * (double)p->problem->features;
  return status;
}

/* Whether the sample is all rows, and normal equations are as accurate as its own sum. */
static bool sample_is_all(const preconditioner *p) {
  return p->tall && p->rows >= p->problem->rows && SCL_HAS(p->problem, rounding) &&
         p->problem->rounding <= DBL_EPSILON;
}

/* Draws the sample in the given dtype. */
static scl_status precondition_in(preconditioner *p, const cg_system *system, scl_dtype dtype,
                                  size_t rows, uint64_t seed, double mu, scl_error *error) {
  const scl_problem *problem = system->problem;
  const scl_host *host = problem->host;
  const size_t d = problem->features, c = problem->targets,
               size = dtype == SCL_DTYPE_FLOAT64 ? sizeof(double) : sizeof(float);
  *p = (preconditioner){.problem = problem,
                        .host = host,
                        .rows = rows,
                        .dtype = dtype,
                        .tall = sample_is_tall(system, rows)};
  sampling sample = {
      .into = p, .system = system, .mean_weight = system->total / (double)problem->rows};
  p->s = host->allocate(d * (p->tall ? SAMPLE_PIECE : rows) * size);
  p->partial = p->tall ? NULL : host->allocate(rows * c * sizeof *p->partial);
  scl_status status = SCL_STATUS_OK;
  if (p->s == NULL || (p->partial == NULL && !p->tall))
    status = host->fail(error, SCL_STATUS_NO_MEMORY,
                        "not enough memory for a sample of %zu rows: give a smaller rank", rows);
  if (status == SCL_STATUS_OK)
    status = host->symmetric->create(p->tall ? d : rows, &p->factor, error);
  if (status == SCL_STATUS_OK)
    status = sample_is_all(p) ? sample_all(&sample, error) : sample_draw(&sample, seed, error);
  if (status == SCL_STATUS_OK)
    status = system->gram == NULL ? sample_factor(&sample, mu, error)
                                  : sample_factor_with_gram(&sample, mu, error);
  if (status != SCL_STATUS_OK) preconditioner_close(p);
  return status;
}

/* SCL_STATUS_NUMERIC from the float32 attempt means that it is not accurate enough, or did not
 * factor: the sample is drawn again in float64. */
scl_status precondition_by_rows(preconditioner *p, const cg_system *system, size_t rows,
                                uint64_t seed, double mu, bool precise, scl_error *error) {
  if (!precise && !sample_is_tall(system, rows)) {
    const scl_status status = precondition_in(p, system, SCL_DTYPE_FLOAT32, rows, seed, mu, error);
    if (status != SCL_STATUS_NUMERIC) return status;
  }
  return precondition_in(p, system, SCL_DTYPE_FLOAT64, rows, seed, mu, error);
}

/* ------------ from G */

/* The jitter grows tenfold until both factors exist, up to the mean diagonal of G. It enters kappa
 * G + lambda I as kappa jitter, so that both factors are of the same G + jitter I. */
scl_status precondition_by_gram(preconditioner *p, const cg_system *system, double kappa,
                                scl_error *error) {
  const scl_host *host = system->problem->host;
  const scl_symmetric_algebra *algebra = host->symmetric;
  const size_t d = system->problem->features;
  double unit = 0;
  *p = (preconditioner){.problem = system->problem, .host = host, .tall = true};
  scl_status status = algebra->create(d, &p->factor, error);
  if (status == SCL_STATUS_OK) status = algebra->create(d, &p->second, error);
  if (status == SCL_STATUS_OK) status = mean_diagonal(host, system->gram, &unit, error);
  const scl_status ready = status;
  for (double jitter = 10 * DBL_EPSILON * (double)d * unit; ready == SCL_STATUS_OK; jitter *= 10) {
    status = factor_shifted(host, system->gram, 1, jitter, p->factor, error);
    if (status == SCL_STATUS_OK)
      status = factor_shifted(host, system->gram, kappa, kappa * jitter + system->lambda, p->second,
                              error);
    if (status != SCL_STATUS_NUMERIC || jitter > unit) break;
  }
  if (status != SCL_STATUS_OK) preconditioner_close(p);
  return status;
}

/* ------------ using it */

/* Woodbury's form, for fewer rows than features: out = v - S' (SS' + m mu I)^-1 S v. */
static scl_status sample_apply(const preconditioner *p, const double *in, double *out,
                               scl_error *error) {
  const scl_dense_algebra *dense = p->host->dense;
  const size_t d = p->problem->features, m = p->rows, c = p->problem->targets;
  scl_status status =
      dense->thin_adjoint(p->dtype, d, m, p->s, (ptrdiff_t)m, in, c, p->partial, error);
  if (status == SCL_STATUS_OK) status = p->host->symmetric->solve(p->factor, p->partial, c, error);
  if (status == SCL_STATUS_OK)
    status = dense->thin_product(p->dtype, d, m, p->s, (ptrdiff_t)m, p->partial, c, out, error);
  for (size_t i = 0; status == SCL_STATUS_OK && i < d * c; i++)
    out[i] = in[i] - out[i];
  return status;
}

scl_status precondition(const preconditioner *p, const double *in, double *out, scl_error *error) {
  const size_t c = p->problem->targets, count = p->problem->features * c;
  if (p->factor != NULL && !p->tall) return sample_apply(p, in, out, error);
  for (size_t i = 0; i < count; i++)
    out[i] = p->diagonal != NULL && p->diagonal[i / c] > 0 ? in[i] / p->diagonal[i / c] : in[i];
  scl_status status = SCL_STATUS_OK;
  if (p->factor != NULL) status = p->host->symmetric->solve(p->factor, out, c, error);
  if (p->second != NULL && status == SCL_STATUS_OK)
    status = p->host->symmetric->solve(p->second, out, c, error);
  return status;
}
