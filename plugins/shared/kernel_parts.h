/* Kernels made of other kernels: lists of them as an option, bound and ended with the kernel that
 * holds them, their Gram matrices. */
#ifndef SCULLERY_SHARED_KERNEL_PARTS_H
#define SCULLERY_SHARED_KERNEL_PARTS_H

#include <scullery/plugin.h>
#include <stdio.h>
#include <string.h>

/* Some kernels of a list; the bound ones are owned. */
typedef struct kernel_part {
  const scl_plugin *plugin;
  const void *self;
  void *bound; /* the same as self, or NULL where the part belongs to the option's value */
} kernel_part;

typedef struct kernel_parts {
  const scl_host *host;
  kernel_part *list;
  size_t count;
} kernel_parts;

static inline void parts_release(kernel_parts *parts) {
  for (size_t k = 0; parts->list != NULL && k < parts->count; k++)
    if (parts->list[k].bound != NULL) parts->list[k].plugin->destroy(parts->list[k].bound);
  parts->host->release(parts->list);
  parts->list = NULL;
}

static inline scl_status parts_reserve(const scl_host *host, size_t count, kernel_parts *out,
                                       scl_error *error) {
  *out = (kernel_parts){host, host->allocate((count + 1) * sizeof *out->list), count};
  if (out->list == NULL)
    return host->fail(error, SCL_STATUS_NO_MEMORY, "not enough memory for a list of %zu kernels",
                      count);
  memset(out->list, 0, (count + 1) * sizeof *out->list);
  return SCL_STATUS_OK;
}

static inline scl_status parts_read(const scl_host *host, const char *option,
                                    const scl_value *value, kernel_parts *out, scl_error *error) {
  if (value->parts == NULL || value->length == 0)
    return host->fail(error, SCL_STATUS_BAD_OPTION,
                      "option '%s' takes kernels, as { sc.kernel.gaussian{}, sc.kernel.linear{} }",
                      option);
  for (size_t k = 0; k < value->length; k++)
    if (value->parts[k].plugin->kind != SCL_KIND_KERNEL)
      return host->fail(error, SCL_STATUS_BAD_OPTION, "option '%s': '%s' is no kernel", option,
                        value->parts[k].plugin->name);
  const scl_status status = parts_reserve(host, value->length, out, error);
  for (size_t k = 0; status == SCL_STATUS_OK && k < value->length; k++)
    out->list[k] = (kernel_part){value->parts[k].plugin, value->parts[k].self, NULL};
  return status;
}

static inline const void *part_ability(const kernel_part *part, const char *id) {
  return part->plugin->ability(part->self, id);
}

/* The same kernels with those bound to the law that can be. */
static inline scl_status parts_bind(const kernel_parts *parts, const scl_law *law,
                                    kernel_parts *out, scl_error *error) {
  scl_status status = parts_reserve(parts->host, parts->count, out, error);
  for (size_t k = 0; status == SCL_STATUS_OK && k < parts->count; k++) {
    const scl_ability_bind *ability = part_ability(&parts->list[k], SCL_ABILITY_BIND);
    out->list[k] = (kernel_part){parts->list[k].plugin, parts->list[k].self, NULL};
    if (ability == NULL) continue;
    status = ability->bind(parts->list[k].self, law, &out->list[k].bound, error);
    if (status != SCL_STATUS_OK)
      out->list[k].bound = NULL;
    else
      out->list[k].self = out->list[k].bound;
  }
  if (status != SCL_STATUS_OK) parts_release(out);
  return status;
}

/* "gaussian: gamma = 1.2; linear" */
static inline void parts_describe(const kernel_parts *parts, char *text, size_t size) {
  size_t used = 0;
  if (size > 0) text[0] = 0;
  for (size_t k = 0; k < parts->count && used < size; k++) {
    const kernel_part *part = &parts->list[k];
    const scl_ability_bind *ability = part_ability(part, SCL_ABILITY_BIND);
    char one[160] = "";
    if (ability != NULL && part->bound != NULL) ability->describe(part->bound, one, sizeof one);
    const int length = snprintf(text + used, size - used, "%s%s%s%s", k > 0 ? "; " : "",
                                part->plugin->name, *one != 0 ? ": " : "", one);
    used += length > 0 ? (size_t)length : 0;
  }
}

static inline scl_status part_gram(const scl_host *host, const kernel_part *part,
                                   const scl_parameters *u, const scl_parameters *v, double *out,
                                   ptrdiff_t stride, scl_error *error) {
  static const char *const spaces[SCL_SPACE_COUNT] = {"dense rows", "sparse rows", "thresholds",
                                                      "grids", "structured rows"};
  const scl_kernel *table = part->plugin->vtable;
  if (!(table->spaces & SCL_BIT(u->space)))
    return host->fail(error, SCL_STATUS_UNSUPPORTED, "kernel.%s is not defined on %s",
                      part->plugin->name, spaces[u->space]);
  return table->gram(part->self, u, v, out, stride, error);
}

static inline scl_status part_diagonal(const kernel_part *part, const scl_parameters *u,
                                       double *out, scl_error *error) {
  const scl_kernel *table = part->plugin->vtable;
  return table->diagonal(part->self, u, out, error);
}

/* ---------------------------------------------------------------- a kernel that folds its parts,
 * one after the other, into the result */

/* out <- out combined with the values of part k (out is part 0's alone where k = 0), `count`
 * numbers. */
typedef void (*parts_fold)(const void *self, size_t k, size_t count, const double *values,
                           double *out);

/* An instance begins with this. */
typedef struct kernel_folded {
  kernel_parts parts;
  parts_fold fold;
} kernel_folded;

static inline void folded_destroy(void *instance) {
  kernel_folded *self = instance;
  const scl_host *host = self->parts.host;
  parts_release(&self->parts);
  host->release(self);
}

/* Parameters first .. first+count-1 of a batch. */
static inline scl_parameters parts_strip(const scl_parameters *all, size_t first, size_t count) {
  scl_parameters strip = *all;
  strip.first += first;
  strip.count = count;
  strip.weights += (ptrdiff_t)first * all->stride;
  if (strip.bias != NULL) strip.bias += first;
  if (strip.support != NULL) strip.support += (ptrdiff_t)first * all->support_stride;
  return strip;
}

static inline scl_status folded_gram(const void *instance, const scl_parameters *u,
                                     const scl_parameters *v, double *out, ptrdiff_t stride,
                                     scl_error *error) {
  enum { STRIP = 128 };
  const kernel_folded *self = instance;
  const scl_host *host = self->parts.host;
  scl_status status = SCL_STATUS_OK;
  double *values = host->allocate((STRIP * v->count + 1) * sizeof *values);
  if (values == NULL)
    return host->fail(error, SCL_STATUS_NO_MEMORY, "not enough memory for %zu kernel values",
                      STRIP * v->count);
  for (size_t first = 0; status == SCL_STATUS_OK && first < u->count; first += STRIP) {
    const scl_parameters strip =
        parts_strip(u, first, u->count - first < STRIP ? u->count - first : STRIP);
    for (size_t k = 0; status == SCL_STATUS_OK && k < self->parts.count; k++) {
      status = part_gram(host, &self->parts.list[k], &strip, v, values, (ptrdiff_t)v->count, error);
      for (size_t i = 0; status == SCL_STATUS_OK && i < strip.count; i++)
        self->fold(self, k, v->count, values + i * v->count, out + (ptrdiff_t)(first + i) * stride);
    }
  }
  host->release(values);
  return status;
}

static inline scl_status folded_diagonal(const void *instance, const scl_parameters *u, double *out,
                                         scl_error *error) {
  const kernel_folded *self = instance;
  const scl_host *host = self->parts.host;
  double *values = host->allocate((u->count + 1) * sizeof *values);
  if (values == NULL)
    return host->fail(error, SCL_STATUS_NO_MEMORY, "not enough memory for %zu kernel values",
                      u->count);
  scl_status status = SCL_STATUS_OK;
  for (size_t k = 0; status == SCL_STATUS_OK && k < self->parts.count; k++) {
    status = part_diagonal(&self->parts.list[k], u, values, error);
    if (status == SCL_STATUS_OK) self->fold(self, k, u->count, values, out);
  }
  host->release(values);
  return status;
}

/* A copy of `size` bytes of the instance with its parts bound. */
static inline scl_status folded_bind(const void *instance, size_t size, const scl_law *law,
                                     void **bound, scl_error *error) {
  const kernel_folded *self = instance;
  const scl_host *host = self->parts.host;
  kernel_folded *made = host->allocate(size);
  if (made == NULL)
    return host->fail(error, SCL_STATUS_NO_MEMORY, "not enough memory for a kernel");
  memcpy(made, instance, size);
  const scl_status status = parts_bind(&self->parts, law, &made->parts, error);
  if (status == SCL_STATUS_OK)
    *bound = made;
  else
    host->release(made);
  return status;
}

static inline void folded_describe(const void *bound, char *text, size_t size) {
  const kernel_folded *self = bound;
  parts_describe(&self->parts, text, size);
}

#endif
