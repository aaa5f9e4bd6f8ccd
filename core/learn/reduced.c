/* The change of basis of learn/reduced.h: Q, its eigenvectors, `back`, and the sums of the features
 * Z R'. */
#include "learn/reduced.h"

#include "algebra/dense.h"
#include "algebra/symmetric.h"
#include <math.h>
#include <string.h>

/* Eigenvalues below this share of the largest are rounding errors, and dropped. */
static const double LEAST_SHARE = 1e-13;

void scl_reduced_destroy(scl_reduced *reduced) {
  if (reduced == NULL) return;
  scl_sums_destroy(reduced->sums);
  scl_symmetric_destroy(reduced->gram);
  SCL_RELEASE(reduced->back, reduced);
}

void scl_reduced_restore(const scl_reduced *reduced, const double *b, size_t c, double *a) {
  scl_gemm_parallel(SCL_DTYPE_FLOAT64, false, false, reduced->features, c, reduced->order, 1,
                    reduced->back, (ptrdiff_t)reduced->order, b, (ptrdiff_t)c, 0, a, (ptrdiff_t)c);
}

void scl_reduced_adjoint(const scl_reduced *reduced, const double *r, size_t c, double *out) {
  scl_gemm_parallel(SCL_DTYPE_FLOAT64, true, false, reduced->order, c, reduced->features, 1,
                    reduced->back, (ptrdiff_t)reduced->order, r, (ptrdiff_t)c, 0, out,
                    (ptrdiff_t)c);
}

/* ------------ G = L L' */

/* *out = L of G + delta I = L L', with delta = 1e-12, 1e-11, 1e-10 or 1e-9 of the mean diagonal:
 * the first that is positive definite. *out = NULL if none is; that is not a failure. */
static scl_status factor_gram(const scl_symmetric *gram, scl_symmetric **out, scl_error *error) {
  const size_t n = scl_symmetric_order(gram);
  double trace = 0;
  for (size_t i = 0; i < n; i++)
    trace += scl_symmetric_get(gram, i, i);
  double delta = 1e-12 * (trace / (double)n);
  scl_symmetric *a = NULL;
  *out = NULL;
  SCL_TRY(scl_symmetric_create(n, &a, error));
  scl_status status = SCL_STATUS_NUMERIC;
  for (int tries = 0; status == SCL_STATUS_NUMERIC && tries < 4; tries++, delta *= 10) {
    scl_error unsaid = {0};
    scl_service_symmetric.copy(gram, a);
    scl_service_symmetric.shift(delta, a);
    status = scl_service_symmetric.factor(a, NULL, &unsaid);
    if (status != SCL_STATUS_OK && status != SCL_STATUS_NUMERIC && error != NULL) *error = unsaid;
  }
  if (status == SCL_STATUS_OK)
    *out = a;
  else
    scl_symmetric_destroy(a);
  return status == SCL_STATUS_NUMERIC ? SCL_STATUS_OK : status;
}

/* ------------ coordinates */

/* The coordinates in the making. Code 0 and codes direct+1 .. C-1 (levels) are replaced by `rank`
 * numbers; codes 1 .. direct are features themselves and remain coordinates. */
typedef struct coordinates {
  size_t features, codes, direct, rank, order; /* D, C, codes that stay, numbers, k */
  size_t levels;                               /* C - direct */
  double *q;                                   /* D x levels */
  double *square, *vectors;                    /* levels x levels: Q'Q; eigenvectors, one a row */
  double *values;                              /* levels */
  double *to_codes;                            /* k x C: R, and units */
  double *work, *other;                        /* C x C each */
} coordinates;

/* The code of a level: 0, direct+1, ..., C-1. */
static size_t code_of(const coordinates *c, size_t level) {
  return level == 0 ? 0 : c->direct + level;
}

/* The feature that code 1 + i stands for: the one entry of its row of T that is not 0. */
static size_t direct_feature(const scl_sums *sums, size_t i) {
  const double *row = sums->table + (1 + i) * sums->features;
  size_t t = 0;
  while (row[t] == 0)
    t++;
  return t;
}

/* Whether G is 0 between the features that are codes themselves and all other features. */
static bool is_apart(const scl_sums *sums, const scl_symmetric *gram) {
  for (size_t i = 0; i < sums->direct; i++) {
    const size_t w = direct_feature(sums, i);
    for (size_t t = 0; t < sums->features; t++) {
      bool other = true;
      for (size_t j = 0; other && j < sums->direct; j++)
        other = sums->table[(1 + j) * sums->features + t] == 0;
      if (other && scl_symmetric_get(gram, w, t) != 0) return false;
    }
  }
  return true;
}

/* Allocate all members in one block, of which c->q is the start, and set q = T' of the levels. */
static scl_status open_coordinates(const scl_sums *sums, coordinates *c, scl_error *error) {
  const size_t d = sums->features, z = sums->codes->features, levels = z - sums->direct,
               numbers = d * levels + 5 * z * z + z;
  *c = (coordinates){.features = d, .codes = z, .direct = sums->direct, .levels = levels};
  c->q = scl_allocate_array(numbers + 1, sizeof *c->q);
  if (c->q == NULL) return scl_fail_memory(error, numbers * sizeof *c->q, "a change of basis");
  c->square = c->q + d * levels;
  c->vectors = c->square + z * z;
  c->to_codes = c->vectors + z * z;
  c->work = c->to_codes + z * z;
  c->other = c->work + z * z;
  c->values = c->other + z * z;
  for (size_t i = 0; i < levels; i++)
    for (size_t t = 0; t < d; t++)
      c->q[t * levels + i] = sums->table[code_of(c, i) * d + t];
  return SCL_STATUS_OK;
}

/* Q = L^-1 T', the eigenvectors of Q'Q, and from them rank, order and R. l: NULL for L = I. */
static scl_status decompose(coordinates *c, const scl_symmetric *l, scl_error *error) {
  const size_t n = c->levels;
  const ptrdiff_t wide = (ptrdiff_t)n;
  if (l != NULL) SCL_TRY(scl_service_symmetric.triangular(l, 0, c->q, n, error));
  scl_gemm_parallel(SCL_DTYPE_FLOAT64, true, false, n, n, c->features, 1, c->q, wide, c->q, wide, 0,
                    c->square, wide);
  SCL_TRY(scl_eigenvectors(n, n, c->square, c->values, c->vectors, error));
  while (c->rank < n && c->values[c->rank] > LEAST_SHARE * c->values[0])
    c->rank++;
  c->order = c->rank + c->direct;
  memset(c->to_codes, 0, c->order * c->codes * sizeof *c->to_codes);
  for (size_t k = 0; k < c->rank; k++)
    for (size_t i = 0; i < n; i++)
      c->to_codes[k * c->codes + code_of(c, i)] = sqrt(c->values[k]) * c->vectors[k * n + i];
  for (size_t i = 0; i < c->direct; i++)
    c->to_codes[(c->rank + i) * c->codes + 1 + i] = 1;
  return SCL_STATUS_OK;
}

/* D x k: [L^-T Q V diag(s)^(-1/2), units] */
static scl_status make_back(const scl_sums *sums, const coordinates *c, const scl_symmetric *l,
                            scl_reduced *r, scl_error *error) {
  const size_t n = c->levels, k = c->order;
  for (size_t j = 0; j < c->rank; j++)
    for (size_t i = 0; i < n; i++)
      c->work[j * n + i] = c->vectors[j * n + i] / sqrt(c->values[j]);
  scl_gemm_parallel(SCL_DTYPE_FLOAT64, false, true, c->features, c->rank, n, 1, c->q, (ptrdiff_t)n,
                    c->work, (ptrdiff_t)n, 0, r->back, (ptrdiff_t)k);
  for (size_t t = 0; t < c->features; t++)
    memset(r->back + t * k + c->rank, 0, c->direct * sizeof *r->back);
  if (l != NULL) SCL_TRY(scl_service_symmetric.triangular(l, 1, r->back, k, error));
  for (size_t i = 0; i < c->direct; i++)
    r->back[direct_feature(sums, i) * k + c->rank + i] = 1;
  return SCL_STATUS_OK;
}

/* [I, 0; 0, G between the features that stay] */
static scl_status make_gram(const scl_sums *sums, const coordinates *c, const scl_symmetric *gram,
                            scl_reduced *r, scl_error *error) {
  SCL_TRY(scl_symmetric_create(c->order, &r->gram, error));
  scl_service_symmetric.shift(1, r->gram);
  for (size_t i = 0; gram != NULL && i < c->direct; i++)
    for (size_t j = 0; j <= i; j++) {
      const double number =
          scl_symmetric_get(gram, direct_feature(sums, i), direct_feature(sums, j));
      scl_service_symmetric.set(r->gram, c->rank + i, 1, c->rank + j, 1, &number, 1);
    }
  return SCL_STATUS_OK;
}

/* ------------ sums */

/* The sums of a group in the new coordinates, R (Z'Z) R' and R Z'[Y 1], from those of the codes. */
static void reduce_group(const coordinates *c, const scl_sums *from, size_t group, scl_sums *to) {
  const size_t z = c->codes, k = c->order, cols = from->targets + 1;
  const ptrdiff_t wide = (ptrdiff_t)z;
  double *dense = c->square, *product = c->work, *square = c->other;
  scl_service_symmetric.dense(from->moment[group], dense, wide);
  scl_gemm_parallel(SCL_DTYPE_FLOAT64, false, false, k, z, z, 1, c->to_codes, wide, dense, wide, 0,
                    product, wide);
  scl_gemm_parallel(SCL_DTYPE_FLOAT64, false, true, k, k, z, 1, product, wide, c->to_codes, wide, 0,
                    square, (ptrdiff_t)k);
  scl_service_symmetric.set(to->moment[group], 0, k, 0, k, square, (ptrdiff_t)k);
  scl_gemm(SCL_DTYPE_FLOAT64, false, false, k, cols, z, 1, c->to_codes, wide,
           from->right + group * z * cols, (ptrdiff_t)cols, 0, to->right + group * k * cols,
           (ptrdiff_t)cols);
}

/* Fill *r from the sums and, for the penalty a'Ga, G = L L' (gram, l; both NULL for a'a). The
 * caller releases c->q and *r, also after a failure. */
static scl_status fill_reduced(const scl_sums *sums, const scl_symmetric *gram,
                               const scl_symmetric *l, coordinates *c, scl_reduced *r,
                               scl_error *error) {
  SCL_TRY(open_coordinates(sums, c, error));
  SCL_TRY(decompose(c, l, error));
  const size_t d = c->features, k = c->order;
  const scl_sums like = {.features = k, .targets = sums->targets, .groups = sums->groups};
  r->features = d;
  r->order = k;
  r->back = scl_allocate_array(d * k + 1, sizeof *r->back);
  if (r->back == NULL) return scl_fail_memory(error, d * k * sizeof *r->back, "a change of basis");
  SCL_TRY(make_back(sums, c, l, r, error));
  SCL_TRY(make_gram(sums, c, gram, r, error));
  SCL_TRY(scl_sums_create(&like, &r->sums, error));
  const scl_sums *from = sums->codes;
  for (size_t g = 0; g < from->groups; g++)
    reduce_group(c, from, g, r->sums);
  memcpy(r->sums->sum, from->sum, from->groups * from->targets * sizeof(double));
  memcpy(r->sums->square, from->square, from->groups * from->targets * sizeof(double));
  memcpy(r->sums->count, from->count, from->groups * sizeof(double));
  return SCL_STATUS_OK;
}

scl_status scl_reduced_create(const scl_sums *sums, const scl_symmetric *gram, scl_reduced **out,
                              scl_error *error) {
  scl_symmetric *l = NULL;
  coordinates c = {0};
  *out = NULL;
  if (gram != NULL) {
    if (!is_apart(sums, gram)) return SCL_STATUS_OK;
    SCL_TRY(factor_gram(gram, &l, error));
    if (l == NULL) return SCL_STATUS_OK;
  }
  scl_reduced *r = scl_allocate_zero(sizeof *r);
  scl_status status = r == NULL ? scl_fail_memory(error, sizeof *r, "a change of basis")
                                : fill_reduced(sums, gram, l, &c, r, error);
  scl_release(c.q);
  scl_symmetric_destroy(l);
  if (status == SCL_STATUS_OK && r->order > 0)
    *out = r;
  else
    scl_reduced_destroy(r);
  return status;
}
