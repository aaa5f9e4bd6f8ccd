/* All parameters have the in-degree 2, and the law says 1 or 2. */
// caught by: law fail
// says: in-degree
#include "sampler.h"

static scl_status layout(const void *self, size_t dim, scl_layout *out, scl_error *error) {
  if (dim < 2)
    return host_of(self)->fail(error, SCL_STATUS_BAD_SHAPE,
                               "takes 2 columns or more, and there are %zu", dim);
  out->reals = out->integers = 2;
  return SCL_STATUS_OK;
}

/* Neighbouring columns on a ring. */
static scl_status draw_pairs(const void *self, const scl_draw *draw, const scl_parameters *out,
                             scl_error *error) {
  (void)error;
  for (size_t i = 0; i < out->count; i++) {
    double u;
    int32_t *columns = out->support + (ptrdiff_t)i * out->support_stride;
    host_of(self)->random->uniform(draw->address.seed, draw->address.stream + 2, out->first + i, 0,
                                   1, &u);
    const int32_t a = (int32_t)(u * (double)out->dim), b = (a + 1) % (int32_t)out->dim;
    columns[0] = a < b ? a : b;
    columns[1] = a < b ? b : a;
    normals(self, draw, out->first + i, 2, weights_of(out, i));
  }
  return SCL_STATUS_OK;
}

static scl_status law(const void *self, const scl_draw *draw, scl_law *out, scl_error *error) {
  out->max_degree = 2;
  out->degree[2] = 0.9;
  out->degree[1] = 1 - out->degree[2];
  for (size_t s = 0; s <= out->dim; s++)
    out->degree_scale[s] = 1;
  return law_right(self, draw, out, error);
}

static const scl_ability abilities[] = {SCL_OFFER(SCL_ABILITY_LAW, scl_ability_law, .law = law),
                                        {NULL, NULL}};

BROKEN_SAMPLER(abilities, .space = SCL_SPACE_SPARSE, .draw = draw_pairs, .layout = layout);
