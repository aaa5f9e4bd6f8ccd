/* What broken samplers share: right parts, of which each file replaces one. Rows w ~ N(0, I). */
#ifndef BROKEN_SAMPLER_H
#define BROKEN_SAMPLER_H

#include <scullery/plugin.h>

#define BROKEN_SAMPLER(abilities_, ...)                                                            \
  const scl_plugin scullery_plugin = {.name = "broken",                                            \
                                      .summary = "A sampler that is wrong",                        \
                                      .doc = "Standard normal numbers, but for what is wrong.",    \
                                      .version = "1.0",                                            \
                                      .abilities = abilities_,                                     \
                                      .instance_size = sizeof(scl_base),                           \
                                      SCL_SAMPLER(__VA_ARGS__)}

static inline const scl_host *host_of(const void *self) { return ((const scl_base *)self)->host; }

/* Numbers N(0, 1) of parameter `index`. */
static inline void normals(const void *self, const scl_draw *draw, uint64_t index, size_t count,
                           double *out) {
  host_of(self)->random->normal(draw->address.seed, draw->address.stream, index, 0, count, out);
}

static inline double *weights_of(const scl_parameters *out, size_t i) {
  return out->weights + (ptrdiff_t)i * out->stride;
}

static inline scl_status draw_right(const void *self, const scl_draw *draw,
                                    const scl_parameters *out, scl_error *error) {
  (void)error;
  for (size_t i = 0; i < out->count; i++)
    normals(self, draw, out->first + i, out->dim, weights_of(out, i));
  return SCL_STATUS_OK;
}

static inline scl_status law_right(const void *self, const scl_draw *draw, scl_law *out,
                                   scl_error *error) {
  (void)self, (void)draw, (void)error;
  out->family = SCL_FAMILY_GAUSSIAN;
  for (size_t j = 0; j < out->dim; j++)
    out->scale[j] = 1;
  return SCL_STATUS_OK;
}

/* Thresholds: column, then t ~ N(0, 1). */
static inline scl_status draw_thresholds(const void *self, const scl_draw *draw,
                                         const scl_parameters *out, scl_error *error) {
  (void)error;
  for (size_t i = 0; i < out->count; i++) {
    double u, *t = weights_of(out, i);
    host_of(self)->random->uniform(draw->address.seed, draw->address.stream + 2, out->first + i, 0,
                                   1, &u);
    out->support[(ptrdiff_t)i * out->support_stride] = (int32_t)(u * (double)out->dim);
    normals(self, draw, out->first + i, 1, t);
  }
  return SCL_STATUS_OK;
}

/* Structured rows: a parameter keeps the d numbers of its row. */
static inline scl_status layout_structured(const void *self, size_t dim, scl_layout *out,
                                           scl_error *error) {
  (void)self, (void)error;
  out->reals = dim;
  return SCL_STATUS_OK;
}

static inline scl_status rows_right(const void *self, const scl_draw *draw,
                                    const scl_const_parameters *p, double *dense, ptrdiff_t stride,
                                    scl_error *error) {
  (void)self, (void)draw, (void)error;
  for (size_t i = 0; i < p->count; i++)
    memcpy(dense + (ptrdiff_t)i * stride, p->weights + (ptrdiff_t)i * p->stride,
           p->dim * sizeof *dense);
  return SCL_STATUS_OK;
}

#endif
