/* Kernel expansions over kept rows x_i, c functions at once:
 *
 *   f(x) = f0 + sum_i b_i K(x_i - p, x - p)
 *
 * p is 0 where rows are near 0 (shared/rows.h). f(x) has the same bits in whatever batch x comes:
 * so have the host's products of rows, and sums over the kept rows have one order. */
#ifndef SCULLERY_SHARED_EXPANSION_H
#define SCULLERY_SHARED_EXPANSION_H

#include "shared/models.h"

/* A model, or the first member of one. */
typedef struct expansion {
  size_t rows, cols, functions;
  double *x;     /* rows x cols, less the pilot */
  double *b;     /* rows x functions */
  double *f0;    /* functions */
  double *pilot; /* cols; NULL: 0 */
} expansion;

/* The kernel of a solver's instance, as scl_parts.gram. */
typedef scl_status (*expansion_gram)(const void *self, const scl_const_parameters *u,
                                     const scl_const_parameters *v, double *out, ptrdiff_t stride,
                                     scl_error *error);

/* Kept rows whose kernel values are made at once: a tile, or a multiple of EXPANSION_PIECE rows, or
 * the last few, with copies to make up a piece. */
enum { EXPANSION_TILE = 512, EXPANSION_PIECE = 32 };

void expansion_release(const scl_host *host, const expansion *e);

size_t expansion_least(size_t a, size_t b);

/* out (u->count x functions at `stride`) = f of the rows u. `self` is the instance of the
 * solver. */
scl_status expansion_values(const void *self, expansion_gram gram, const expansion *e,
                            const scl_const_parameters *u, double *out, ptrdiff_t stride,
                            scl_error *error);

/* Arrays "rows" (rows x cols), "coefficients" (rows x functions), "intercept" (functions), and
 * "pilot" (cols) where there is one. */
void expansion_put(model_writer *w, const expansion *e);

/* e->cols is known; so is e->functions, or 0 for any number. */
void expansion_get(model_reader *r, expansion *e);

#endif
