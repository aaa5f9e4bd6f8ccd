/* Sum and product kernels: values, binding and shifts of their parts. */
#include "shared/kernel_folded.h"

#include "shared/kernel_parts.h"
#include <stdio.h>

static scl_status folded_no_memory(const kernel_folded *self, size_t count, scl_error *error) {
  return self->base.host->fail(error, SCL_STATUS_NO_MEMORY,
                               "not enough memory for %zu kernel values", count);
}

/* Copies the parts, as binding a width changes them and the option is not ours. folded_destroy
 * releases the copy. */
scl_status folded_create(kernel_folded *self, kernel_fold fold, scl_error *error) {
  self->fold = fold;
  const size_t bytes = self->given->length * sizeof *self->parts;
  self->parts = self->base.host->allocate(bytes);
  if (self->parts == NULL) return folded_no_memory(self, self->given->length, error);
  memcpy(self->parts, self->given->parts, bytes);
  return SCL_STATUS_OK;
}

void folded_destroy(void *instance) {
  const kernel_folded *self = instance;
  self->base.host->release(self->parts);
}

/* STRIP rows of u at a time, so that the values of a part are still in the cache when they are
 * folded. */
scl_status folded_gram(const void *instance, const scl_const_parameters *u,
                       const scl_const_parameters *v, double *out, ptrdiff_t stride,
                       scl_error *error) {
  enum { STRIP = 128 };
  const kernel_folded *self = instance;
  const scl_host *host = self->base.host;
  scl_status status = SCL_STATUS_OK;
  double *values = host->scratch((STRIP * v->count + 1) * sizeof *values);
  if (values == NULL) return folded_no_memory(self, STRIP * v->count, error);
  for (size_t first = 0; status == SCL_STATUS_OK && first < u->count; first += STRIP) {
    scl_const_parameters strip;
    parts_strip(u, first, u->count - first < STRIP ? u->count - first : STRIP, &strip);
    for (size_t k = 0; status == SCL_STATUS_OK && k < self->given->length; k++) {
      status = host->parts->gram(&self->parts[k], &strip, v, values, (ptrdiff_t)v->count, error);
      for (size_t i = 0; status == SCL_STATUS_OK && i < strip.count; i++)
        self->fold(self, k, v->count, values + i * v->count, out + (ptrdiff_t)(first + i) * stride);
    }
  }
  return status;
}

scl_status folded_diagonal(const void *instance, const scl_const_parameters *u, double *out,
                           scl_error *error) {
  const kernel_folded *self = instance;
  const scl_host *host = self->base.host;
  scl_status status = SCL_STATUS_OK;
  double *values = host->scratch((u->count + 1) * sizeof *values);
  if (values == NULL) return folded_no_memory(self, u->count, error);
  for (size_t k = 0; status == SCL_STATUS_OK && k < self->given->length; k++) {
    status = host->parts->diagonal(&self->parts[k], u, values, error);
    if (status == SCL_STATUS_OK) self->fold(self, k, u->count, values, out);
  }
  return status;
}

/* ------------ binding the parts */

size_t folded_count(const kernel_folded *self, const char *id) {
  size_t count = 0;
  for (size_t k = 0; k < self->given->length; k++)
    count += self->base.host->parts->ability(&self->parts[k], id) != NULL;
  return count;
}

/* Binds each part to the law of the sampler by itself. */
static scl_status folded_bind(void *instance, const scl_law *law, scl_error *error) {
  const kernel_folded *self = instance;
  scl_status status = SCL_STATUS_OK;
  for (size_t k = 0; status == SCL_STATUS_OK && k < self->given->length; k++)
    status = self->base.host->parts->bind(instance, &self->parts[k], law, error);
  return status;
}

/* "gaussian: width = 1.2; linear" */
static void folded_describe(const void *instance, char *text, size_t size) {
  const kernel_folded *self = instance;
  size_t used = 0;
  text[0] = 0;
  for (size_t k = 0; k < self->given->length && used < size; k++) {
    char one[160] = "";
    self->base.host->parts->describe(&self->parts[k], one, sizeof one);
    const int length = snprintf(text + used, size - used, "%s%s%s%s", k > 0 ? "; " : "",
                                self->parts[k].plugin->name, *one != 0 ? ": " : "", one);
    used += length > 0 ? (size_t)length : 0;
  }
}

const void *folded_binding(const void *self, const char *id) {
  static const scl_ability_bind bind = {SCL_HEAD(scl_ability_bind), .bind = folded_bind,
                                        .describe = folded_describe};
  return strcmp(id, SCL_ABILITY_BIND) == 0 && folded_count(self, id) > 0 ? &bind : NULL;
}

scl_shift folded_shift(const kernel_folded *self) {
  scl_shift least = SCL_SHIFT_KEEPS;
  for (size_t k = 0; k < self->given->length; k++) {
    const scl_shift shift = parts_shift(self->base.host, &self->parts[k]);
    if (shift < least) least = shift;
  }
  return least;
}
