/* Wrong slots of kernels, for "put". K(u, v) = exp(-||u - v||^2/2) but for what is wrong. */
#include "specimen.h"

static const double *row_of(const scl_const_parameters *p, size_t i) {
  return p->weights + (ptrdiff_t)i * p->stride;
}

static double squared_distance(size_t dim, const double *u, const double *v) {
  double sum = 0;
  for (size_t j = 0; j < dim; j++)
    sum += (u[j] - v[j]) * (u[j] - v[j]);
  return sum;
}

static double gaussian(size_t dim, const double *u, const double *v) {
  return exp(-squared_distance(dim, u, v) / 2);
}

/* The slot `gram` from the value of one pair, u_i and v_j. */
#define GRAM(name, value) \
  static scl_status name(const void *self, const scl_const_parameters *u, \
                         const scl_const_parameters *v, double *out, ptrdiff_t stride, \
                         scl_error *error) { \
    (void)self, (void)error; \
    for (size_t i = 0; i < u->count; i++) \
      for (size_t j = 0; j < v->count; j++) \
        out[(ptrdiff_t)i * stride + (ptrdiff_t)j] = value; \
    return SCL_STATUS_OK; \
  }
#define DISTANCE squared_distance(u->dim, row_of(u, i), row_of(v, j))

GRAM(gram_right, exp(-DISTANCE / 2))
GRAM(gram_asymmetric, exp(-DISTANCE / 2) * (1 + 0.001 * row_of(u, i)[0]))
GRAM(gram_indefinite, exp(-DISTANCE *DISTANCE))
GRAM(gram_reads_past, gaussian(u->dim + 1, row_of(u, i), row_of(v, j)))
/* Adds to every entry whose places are alike, whatever parameters stand there. */
GRAM(gram_of_places, exp(-DISTANCE / 2) + (i == j ? 0.01 : 0))

static scl_status gram_packed(const void *self, const scl_const_parameters *u,
                              const scl_const_parameters *v, double *out, ptrdiff_t stride,
                              scl_error *error) {
  (void)stride;
  return gram_right(self, u, v, out, (ptrdiff_t)v->count, error);
}

/* A product of rows about the mean of v, so that K of two depends on the others. */
static double centred(const scl_const_parameters *u, size_t i, const scl_const_parameters *v,
                      size_t j) {
  double sum = 0;
  for (size_t c = 0; c < u->dim; c++) {
    double mean = 0;
    for (size_t k = 0; k < v->count; k++)
      mean += row_of(v, k)[c] / (double)v->count;
    sum += (row_of(u, i)[c] - mean) * (row_of(v, j)[c] - mean);
  }
  return sum;
}

GRAM(gram_centred, centred(u, i, v, j))

/* A row with a huge number spoils K of all others, by which it divides. */
static double largest(const scl_const_parameters *p) {
  double most = 1;
  for (size_t i = 0; i < p->count; i++)
    for (size_t c = 0; c < p->dim; c++)
      most = fmax(most, fabs(row_of(p, i)[c]) > 100 ? fabs(row_of(p, i)[c]) : 1);
  return most;
}

GRAM(gram_by_largest, exp(-DISTANCE / 2) / largest(u))

/* Normalises its parameters in place. */
static double normalised(const scl_const_parameters *u, size_t i, const double *other) {
  double *own = (double *)(uintptr_t)row_of(u, i), square = 0;
  for (size_t c = 0; c < u->dim; c++)
    square += own[c] * own[c];
  for (size_t c = 0; c < u->dim; c++)
    own[c] /= sqrt(square) + 1e-9;
  return gaussian(u->dim, own, other);
}

GRAM(gram_writes_input, normalised(u, i, row_of(v, j)))

/* 0/0 for a row of zeros. */
static double cosine(size_t dim, const double *u, const double *v) {
  double sum = 0, a = 0, b = 0;
  for (size_t c = 0; c < dim; c++) {
    sum += u[c] * v[c];
    a += u[c] * u[c];
    b += v[c] * v[c];
  }
  return sum / sqrt(a * b);
}

GRAM(gram_cosine, cosine(u->dim, row_of(u, i), row_of(v, j)))

/* Declared as a length g, and rows are scaled by 1/g^2: K is right at g = 1 alone. The specimen
 * keeps its one option behind the base. */
static double scale_by_square(const void *self) {
  const struct {
    scl_base base;
    double width;
  } *own = self;
  return 1 / (own->width * own->width);
}

/* The right tilt under N(m, s^2), a coordinate:
 *   u' = (u s^2 + m)/(s^2 + 1), v^2 = s^2/(s^2 + 1)
 *   log c(u) = -log(1 + s^2)/2 - (u - m)^2/(2 (s^2 + 1)) */
static scl_status tilt_right(const void *self, const scl_law *law, scl_tilt *out,
                             scl_error *error) {
  if (law->family != SCL_FAMILY_GAUSSIAN)
    return ((const scl_base *)self)
        ->host->fail(error, SCL_STATUS_UNSUPPORTED, "takes Gaussian laws");
  out->log_one = out->log_diagonal = out->log_mass = 0;
  for (size_t j = 0; j < out->dim; j++) {
    const double m = law->mean[j], s2 = law->scale[j] * law->scale[j];
    out->offset[j] = m / (s2 + 1);
    out->shrink[j] = s2 / (s2 + 1);
    out->spread[j] = sqrt(s2 / (s2 + 1));
    out->log0[j] = -log(1 + s2) / 2 - m * m / (2 * (s2 + 1));
    out->log1[j] = m / (s2 + 1);
    out->log2[j] = -1 / (2 * (s2 + 1));
    out->log_mass -= log(1 + 2 * s2) / 2;
    out->correlation[j] = s2 / (s2 + 1);
    out->pair_scale[j] = sqrt(s2 * (s2 + 1) / (2 * s2 + 1));
  }
  return SCL_STATUS_OK;
}

/* The same with one thing wrong in each coordinate j. */
#define TILT(name, wrong) \
  static scl_status name(const void *self, const scl_law *law, scl_tilt *out, scl_error *error) { \
    const scl_status status = tilt_right(self, law, out, error); \
    for (size_t j = 0; status == SCL_STATUS_OK && j < out->dim; j++) { \
      const double s2 = law->scale[j] * law->scale[j]; \
      wrong; \
    } \
    return status; \
  }

TILT(tilt_correlation, out->correlation[j] = s2 / (2 * s2 + 1))
TILT(tilt_mass, out->log_mass -= log(1 + 2 * s2) / 2)
TILT(tilt_spread, out->spread[j] = sqrt(s2))

const fault faults_of_kernels[] = {
    FAULT(gram_right),      FAULT(gram_asymmetric), FAULT(gram_indefinite),
    FAULT(gram_reads_past), FAULT(gram_of_places),  FAULT(gram_packed),
    FAULT(gram_centred),    FAULT(gram_by_largest), FAULT(gram_writes_input),
    FAULT(gram_cosine),     FAULT(scale_by_square), FAULT(tilt_correlation),
    FAULT(tilt_mass),       FAULT(tilt_spread),     {NULL, NULL}};
