/* Exact sums V'r over the runs of rows of a problem (scl_whole_rows_adjoint). */
#include "learn/problem_internal.h"
#include "rows/whole_sums.h"
#include <math.h>

scl_status scl_adjoint_open(const scl_flow *flow, size_t features, size_t k, scl_adjoint *out,
                            scl_error *error) {
  *out = (scl_adjoint){.flow = flow, .features = features, .k = k, .finite = true};
  SCL_TRY(scl_exact_create(features * k, &out->sum, error));
  return scl_exact_create(k, &out->ones, error);
}

void scl_adjoint_close(scl_adjoint *a) {
  scl_exact_destroy(a->sum);
  scl_exact_destroy(a->ones);
  a->sum = a->ones = NULL;
}

scl_status scl_adjoint_add(scl_adjoint *a, const scl_run *run, const double *r, scl_error *error) {
  const scl_flow_block *block = run->block;
  scl_whole_rows rows = {.bits = block->bits, .first = run->start, .rows = run->rows.count};
  if (block->whole != NULL) {
    rows.type = scl_flow_whole(a->flow);
    rows.v = scl_flow_whole_row(a->flow, block, run->start);
    rows.stride = block->phi_stride;
  }
  const scl_whole_adjoint_sums sums = {a->features, a->k, 0, a->sum, a->ones, &a->finite};
  return scl_whole_rows_adjoint(&rows, r, &sums, error);
}

void scl_adjoint_value(const scl_adjoint *a, const double *unit, const double *base, double *out) {
  enum { RUN = 256 };
  const size_t d = a->features, k = a->k;
  for (size_t q = 0; q < k; q++) {
    const double one = scl_exact_value(a->ones, q);
    double sum[RUN];
    for (size_t j = 0; j < d; j++) {
      if (j % RUN == 0) scl_exact_values(a->sum, q * d + j, scl_min(d - j, RUN), sum);
      const double phi = unit[j] * sum[j % RUN];
      out[j * k + q] = !a->finite ? NAN : base == NULL ? phi : phi + base[j] * one;
    }
  }
}
