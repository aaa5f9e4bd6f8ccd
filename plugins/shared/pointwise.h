/* Nonlinearities of one scalar, one number in and one out: a plugin brings loops over adjacent
 * numbers, this header walks the blocks. Its functions fit the slots of scl_plugin and
 * scl_nonlinearity. Include it in one nonlinearity's file. */
#ifndef SCULLERY_SHARED_POINTWISE_H
#define SCULLERY_SHARED_POINTWISE_H

#include "shared/abilities.h"

#include <scullery/plugin.h>
#include <stddef.h>

typedef struct pointwise pointwise;

/* out may be z, m. The smoothing loops see v > 0 alone, a number for each entry: v = 0 is phi(m),
 * and this header sees to it. */
typedef struct pointwise_loops {
  void (*apply_f64)(const pointwise *self, size_t count, const double *z, double *out);
  void (*apply_f32)(const pointwise *self, size_t count, const float *z, float *out);
  void (*smooth)(const pointwise *self, size_t count, const double *m, const double *v,
                 double *out); /* NULL: no closed form */
  void (*smooth_f32)(const pointwise *self, size_t count, const float *m, const float *v,
                     float *out); /* NULL: by smooth, in float64 */
} pointwise_loops;

struct pointwise {
  const scl_host *host;
  const scl_vector_math *math;
  const pointwise_loops *loops;
  int order; /* of those families that have one */
};

enum { POINTWISE_CHUNK = 256 };

static inline scl_status pointwise_create(const scl_host *host, const pointwise_loops *loops,
                                          int order, void **instance, scl_error *error) {
  pointwise *self = host->allocate(sizeof *self);
  if (self == NULL)
    return host->fail(error, SCL_STATUS_NO_MEMORY, "not enough memory for a nonlinearity");
  *self = (pointwise){host, host->service(SCL_SERVICE_VECTOR_MATH), loops, order};
  *instance = self;
  return SCL_STATUS_OK;
}

static inline void pointwise_destroy(void *instance) {
  pointwise *self = instance;
  self->host->release(self);
}

static inline scl_status pointwise_shape(const void *instance, scl_shape *out, scl_error *error) {
  (void)instance;
  (void)error;
  *out = (scl_shape){.fan_in = 1, .fan_out = 1, .spaces = SCL_SPACES_RIDGE, .float32 = 1};
  return SCL_STATUS_OK;
}

static inline scl_status pointwise_apply(const void *instance, const scl_block *z, scl_block *out,
                                         scl_error *error) {
  (void)error;
  const pointwise *self = instance;
  for (size_t i = 0; i < z->rows; i++) {
    const ptrdiff_t from = (ptrdiff_t)i * z->row_stride, to = (ptrdiff_t)i * out->row_stride;
    if (z->dtype == SCL_DTYPE_FLOAT64)
      self->loops->apply_f64(self, z->cols, (const double *)z->data + from,
                             (double *)out->data + to);
    else
      self->loops->apply_f32(self, z->cols, (const float *)z->data + from, (float *)out->data + to);
  }
  return SCL_STATUS_OK;
}

/* ---------------------------------------------------------------- smoothing, a chunk of one row at
 * a time */

/* Entries with no spread get 1 in its place; says whether there is any. */
static inline int pointwise_spread_f64(size_t count, const double *v, ptrdiff_t stride,
                                       double *out) {
  int still = 0;
  for (size_t j = 0; j < count; j++) {
    const double spread = v[(ptrdiff_t)j * stride];
    still |= !(spread > 0);
    out[j] = spread > 0 ? spread : 1;
  }
  return still;
}

static inline int pointwise_spread_f32(size_t count, const float *v, ptrdiff_t stride, float *out) {
  int still = 0;
  for (size_t j = 0; j < count; j++) {
    const float spread = v[(ptrdiff_t)j * stride];
    still |= !(spread > 0);
    out[j] = spread > 0 ? spread : 1;
  }
  return still;
}

static inline void pointwise_chunk_f64(const pointwise *self, size_t count, const double *m,
                                       const double *v, ptrdiff_t stride, double *out) {
  double spread[POINTWISE_CHUNK], point[POINTWISE_CHUNK];
  const int still = pointwise_spread_f64(count, v, stride, spread);
  if (still) self->loops->apply_f64(self, count, m, point);
  self->loops->smooth(self, count, m, spread, out);
  for (size_t j = 0; still && j < count; j++)
    if (!(v[(ptrdiff_t)j * stride] > 0)) out[j] = point[j];
}

static inline void pointwise_widened(const pointwise *self, size_t count, const float *m,
                                     const float *v, ptrdiff_t stride, float *out) {
  double mean[POINTWISE_CHUNK], spread[POINTWISE_CHUNK], value[POINTWISE_CHUNK];
  for (size_t j = 0; j < count; j++) {
    mean[j] = m[j];
    spread[j] = v[(ptrdiff_t)j * stride];
  }
  pointwise_chunk_f64(self, count, mean, spread, 1, value);
  for (size_t j = 0; j < count; j++)
    out[j] = (float)value[j];
}

static inline void pointwise_chunk_f32(const pointwise *self, size_t count, const float *m,
                                       const float *v, ptrdiff_t stride, float *out) {
  if (self->loops->smooth_f32 == NULL) {
    pointwise_widened(self, count, m, v, stride, out);
    return;
  }
  float spread[POINTWISE_CHUNK], point[POINTWISE_CHUNK];
  const int still = pointwise_spread_f32(count, v, stride, spread);
  if (still) self->loops->apply_f32(self, count, m, point);
  self->loops->smooth_f32(self, count, m, spread, out);
  for (size_t j = 0; still && j < count; j++)
    if (!(v[(ptrdiff_t)j * stride] > 0)) out[j] = point[j];
}

static inline scl_status pointwise_smooth(const void *instance, const scl_block *m,
                                          const scl_spread *v, scl_block *out, scl_error *error) {
  (void)error;
  const pointwise *self = instance;
  for (size_t i = 0; i < m->rows; i++)
    for (size_t j = 0; j < m->cols; j += POINTWISE_CHUNK) {
      const size_t count = m->cols - j < POINTWISE_CHUNK ? m->cols - j : POINTWISE_CHUNK;
      const ptrdiff_t row = (ptrdiff_t)i, col = (ptrdiff_t)j;
      const ptrdiff_t from = row * m->row_stride + col,
                      at = row * v->row_stride + col * v->col_stride,
                      to = row * out->row_stride + col;
      if (m->dtype == SCL_DTYPE_FLOAT64)
        pointwise_chunk_f64(self, count, (const double *)m->data + from,
                            (const double *)v->data + at, v->col_stride, (double *)out->data + to);
      else
        pointwise_chunk_f32(self, count, (const float *)m->data + from, (const float *)v->data + at,
                            v->col_stride, (float *)out->data + to);
    }
  return SCL_STATUS_OK;
}

/* ---------------------------------------------------------------- tables */

static const scl_nonlinearity pointwise_table = {SCL_HEAD(scl_nonlinearity), pointwise_shape,
                                                 pointwise_apply};
static const scl_ability_smoothing pointwise_smoothing = {SCL_HEAD(scl_ability_smoothing),
                                                          pointwise_smooth};

#endif
