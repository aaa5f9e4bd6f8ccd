/* Kernel expansions over kept rows x_i, c functions at once:
 *
 *   f(x) = f0 + sum_i b_i K(x_i, x)
 */
#ifndef SCULLERY_SHARED_EXPANSION_H
#define SCULLERY_SHARED_EXPANSION_H

#include "shared/models.h"

/* A model, or the first member of one. */
typedef struct expansion {
  size_t rows, cols, functions;
  double *x;  /* rows x cols */
  double *b;  /* rows x functions */
  double *f0; /* functions */
} expansion;

/* The kernel of a solver's instance, as scl_parts.gram. */
typedef scl_status (*expansion_gram)(const void *self, const scl_const_parameters *u,
                                     const scl_const_parameters *v, double *out, ptrdiff_t stride,
                                     scl_error *error);

enum { EXPANSION_TILE = 512 }; /* kept rows whose kernel values are made at once */

static inline void expansion_release(const scl_host *host, const expansion *e) {
  host->release(e->x);
  host->release(e->b);
  host->release(e->f0);
}

/* out (u->count x functions at `stride`) = f of the rows u, the kept rows a tile at a time. `self`
 * is the instance of the solver. */
static inline scl_status expansion_values(const void *self, expansion_gram gram, const expansion *e,
                                          const scl_const_parameters *u, double *out,
                                          ptrdiff_t stride, scl_error *error) {
  const scl_host *host = ((const scl_base *)self)->host;
  const size_t d = e->cols, c = e->functions;
  double *k = host->allocate((u->count + 1) * EXPANSION_TILE * sizeof *k);
  if (k == NULL)
    return host->fail(error, SCL_STATUS_NO_MEMORY, "not enough memory for %zu kernel values",
                      u->count * EXPANSION_TILE);
  for (size_t i = 0; i < u->count; i++)
    memcpy(out + (ptrdiff_t)i * stride, e->f0, c * sizeof *out);
  scl_status status = SCL_STATUS_OK;
  for (size_t first = 0; status == SCL_STATUS_OK && first < e->rows; first += EXPANSION_TILE) {
    const size_t kept = e->rows - first < EXPANSION_TILE ? e->rows - first : EXPANSION_TILE;
    const scl_const_parameters v = scl_dense_rows(e->x + first * d, (ptrdiff_t)d, kept, d);
    status = gram(self, u, &v, k, EXPANSION_TILE, error);
    if (status == SCL_STATUS_OK)
      host->dense->gemm(0, 0, u->count, c, kept, 1, k, EXPANSION_TILE, e->b + first * c,
                        (ptrdiff_t)c, 1, out, stride);
  }
  host->release(k);
  return status;
}

/* ------------------------------------------------------------ saving and loading */

/* Arrays "rows" (rows x cols), "coefficients" (rows x functions), "intercept" (functions). */
static inline void expansion_put(model_writer *w, const expansion *e) {
  models_put(w, "rows", SCL_DTYPE_FLOAT64, e->rows, e->cols, e->x);
  models_put(w, "coefficients", SCL_DTYPE_FLOAT64, e->rows, e->functions, e->b);
  models_put(w, "intercept", SCL_DTYPE_FLOAT64, e->functions, 0, e->f0);
}

/* e->cols is known; so is e->functions, or 0 for any number. */
static inline void expansion_get(model_reader *r, expansion *e) {
  e->f0 = models_get(r, "intercept", SCL_DTYPE_FLOAT64, &e->functions, 0);
  e->x = models_get(r, "rows", SCL_DTYPE_FLOAT64, &e->rows, e->cols);
  e->b = models_get(r, "coefficients", SCL_DTYPE_FLOAT64, &e->rows, e->functions);
}

#endif
