/* What the samplers have in common whose coordinates are independent, w_j = mean + scale e_j with
 * e_j of one standard law: options are each sampler's own; drawing, law and characteristic function
 * are here. A sampler's instance is an `independent`. */
#ifndef SCULLERY_SHARED_INDEPENDENT_H
#define SCULLERY_SHARED_INDEPENDENT_H

#include "shared/bias.h"
#include "shared/instance.h"

typedef struct independent {
  const scl_host *host;
  const scl_random *random;
  scl_family family;
  double mean, scale;
  bias_law bias;
  int normals;                        /* how many normal numbers make one e */
  double (*make)(const double *from); /* from so many normals, or (normals = 0) from one uniform */
  double (*factor)(double z);         /* E cos(z e), e symmetric */
} independent;

static inline scl_status independent_create(const scl_host *host, const independent *like,
                                            const scl_value *bias, void **out, scl_error *error) {
  void *made = NULL;
  scl_status status = instance_new(host, sizeof *like, &made, error);
  if (status != SCL_STATUS_OK) return status;
  independent *self = made;
  const scl_random *random = self->random;
  *self = *like;
  self->host = host;
  self->random = random;
  status = bias_read(host, bias, &self->bias, error);
  if (status == SCL_STATUS_OK)
    *out = made;
  else
    instance_end(made);
  return status;
}

static inline scl_status independent_layout(const void *instance, size_t dim, scl_layout *out,
                                            scl_error *error) {
  (void)error;
  const independent *self = instance;
  *out = (scl_layout){SCL_SPACE_DENSE, dim, 0, 1, self->bias.law != SCL_BIAS_NONE};
  return SCL_STATUS_OK;
}

static inline scl_status independent_draw(const void *instance, scl_address address,
                                          scl_parameters *out, scl_error *error) {
  enum { MOST = 4 };
  (void)error;
  const independent *self = instance;
  for (size_t i = 0; i < out->count; i++) {
    double *w = out->weights + (ptrdiff_t)i * out->stride, from[MOST];
    const uint64_t index = out->first + i, each = self->normals == 0 ? 1 : (uint64_t)self->normals;
    for (size_t j = 0; j < out->dim; j++) {
      if (self->normals == 0)
        self->random->uniform(address.seed, address.stream, index, j, 1, from);
      else
        self->random->normal(address.seed, address.stream, index, j * each, each, from);
      w[j] = self->mean + self->scale * self->make(from);
    }
  }
  bias_draw(&self->bias, self->random, address, out);
  return SCL_STATUS_OK;
}

static inline scl_status independent_law(const void *instance, size_t dim, scl_law *out,
                                         scl_error *error) {
  (void)error;
  const independent *self = instance;
  out->space = SCL_SPACE_DENSE;
  out->family = self->family;
  bias_tell(&self->bias, out);
  for (size_t j = 0; j < dim; j++) {
    out->mean[j] = self->mean;
    out->scale[j] = self->scale;
  }
  return SCL_STATUS_OK;
}

/* Re E exp(i <w, delta>) = cos(mean sum delta_j) prod factor(scale delta_j) */
static inline scl_status independent_characteristic(const void *instance, size_t rows, size_t dim,
                                                    const double *delta, ptrdiff_t stride,
                                                    double *out, scl_error *error) {
  (void)error;
  const independent *self = instance;
  for (size_t i = 0; i < rows; i++) {
    double product = 1, turn = 0;
    for (size_t j = 0; j < dim; j++) {
      const double gap = delta[(ptrdiff_t)i * stride + (ptrdiff_t)j];
      product *= self->factor(self->scale * gap);
      turn += self->mean * gap;
    }
    out[i] = product == 0 ? 0 : product * cos(turn);
  }
  return SCL_STATUS_OK;
}

static inline const void *independent_ability(const void *instance, const char *id) {
  static const scl_ability_law law_table = {SCL_HEAD(scl_ability_law), independent_law};
  static const scl_ability_characteristic characteristic_table = {
      SCL_HEAD(scl_ability_characteristic), independent_characteristic};
  (void)instance;
  if (strcmp(id, SCL_ABILITY_LAW) == 0) return &law_table;
  if (strcmp(id, SCL_ABILITY_CHARACTERISTIC) == 0) return &characteristic_table;
  return NULL;
}

static const scl_sampler independent_table = {SCL_HEAD(scl_sampler), independent_layout,
                                              independent_draw};

#endif
