/* Calls of kernels: the general form (slots gram and diagonal), and the simple form, in which the
 * plugin gives a function of one number of each pair (slot finish) and the host computes the
 * pairs. */
#include "plugin/kernel.h"

#include "plugin/call.h"
#include "plugin/domain.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

/* The kernel's table, at the host's size. */
static const scl_kernel *table_of(const scl_instance *kernel) {
  return scl_instance_vtable(kernel);
}

uint32_t scl_kernel_spaces(const scl_instance *kernel) { return table_of(kernel)->spaces; }

/* A kernel must be defined on the space of the parameters, and bound if it needs a law. */
static scl_status kernel_check(const scl_instance *kernel, scl_space space, scl_error *error) {
  if (!(table_of(kernel)->spaces & SCL_BIT(space)))
    return scl_fail(error, SCL_STATUS_UNSUPPORTED, "kernel.%s is not defined on %s parameters",
                    scl_instance_name(kernel), scl_space_name(space));
  if (kernel->bound || !scl_instance_has(kernel, SCL_ABILITY_BIND)) return SCL_STATUS_OK;
  char text[200];
  return scl_fail(error, SCL_STATUS_UNSUPPORTED,
                  "kernel.%s{%s} says its width through a sampler's law, and here there is none: "
                  "give the width itself",
                  scl_instance_name(kernel),
                  scl_settings_text(&kernel->settings, text, sizeof text));
}

/* Rows of data, and dense parameters, must be in the kernel's domain. */
static scl_status check_rows(const scl_instance *kernel, const scl_const_parameters *rows,
                             scl_error *error) {
  if (rows->space != SCL_SPACE_DENSE) return SCL_STATUS_OK;
  return scl_domain_check_rows(kernel, rows->weights, SCL_DTYPE_FLOAT64, rows->count, rows->dim,
                               rows->stride, error);
}

/* A simple kernel as algebra/pairs.h takes it: a copy of its table, whose slots finish and move are
 * replaced by functions that take the instance, and the value of slot `scale`. */
typedef struct simple_form {
  scl_kernel table; /* its functions take the instance */
  scl_pair_kernel pairs;
} simple_form;

scl_status scl_kernel_finish(const scl_instance *kernel, const scl_pair_row *row, double *numbers,
                             scl_error *error) {
  scl_call call;
  scl_call_enter(&call, kernel->component, "finish", error);
  table_of(kernel)->finish(kernel->self, row, numbers);
  return scl_call_leave(&call, SCL_STATUS_OK);
}

scl_status scl_kernel_move(const scl_instance *kernel, size_t count, double *coordinates,
                           scl_error *error) {
  scl_call call;
  scl_call_enter(&call, kernel->component, "move", error);
  table_of(kernel)->move(kernel->self, count, coordinates);
  return scl_call_leave(&call, SCL_STATUS_OK);
}

double scl_kernel_scale(const scl_instance *kernel) {
  if (table_of(kernel)->scale == NULL) return 1;
  scl_call call;
  scl_call_enter(&call, kernel->component, "scale", NULL);
  const double scale = table_of(kernel)->scale(kernel->self);
  (void)scl_call_end(&call);
  return scale;
}

/* After a failure (host->fail_call) the rest of the pairs is left as it is. */
static void finish_simple(const void *self, const scl_pair_row *row, double *numbers) {
  const scl_instance *kernel = self;
  if (!scl_call_failed()) table_of(kernel)->finish(kernel->self, row, numbers);
}

static void terms_simple(const void *self, double x, size_t count, const double *y, double *out) {
  const scl_instance *kernel = self;
  if (scl_call_failed())
    memset(out, 0, count * sizeof *out);
  else
    table_of(kernel)->terms(kernel->self, x, count, y, out);
}

/* A failure of `move` becomes one of the call of `finish` that it is made from. */
static void move_simple(const void *self, size_t count, double *coordinates) {
  const scl_instance *kernel = self;
  scl_call call;
  if (scl_call_failed()) return;
  scl_call_enter(&call, kernel->component, "move", NULL);
  table_of(kernel)->move(kernel->self, count, coordinates);
  (void)scl_call_end(&call);
}

/* Fill in the simple form. Called inside a call of slot `finish`, so that the plugin's functions
 * can be reported and can fail by host->fail_call. */
static void open_simple(const scl_instance *kernel, simple_form *out) {
  out->table = *table_of(kernel);
  if (out->table.finish != NULL) out->table.finish = finish_simple;
  if (out->table.move != NULL) out->table.move = move_simple;
  if (out->table.terms != NULL) out->table.terms = terms_simple;
  out->pairs = (scl_pair_kernel){&out->table, kernel, scl_kernel_scale(kernel)};
}

/* out (u x v at stride) = K, of a kernel that was checked. */
static scl_status kernel_gram(const scl_instance *kernel, const scl_const_parameters *u,
                              const scl_const_parameters *v, double *out, ptrdiff_t stride,
                              scl_error *error) {
  const scl_kernel *table = table_of(kernel);
  scl_call call;
  scl_call_enter(&call, kernel->component, table->gram == NULL ? "finish" : "gram", error);
  if (table->gram != NULL)
    return scl_call_leave(&call, table->gram(kernel->self, u, v, out, stride, error));
  simple_form form;
  open_simple(kernel, &form);
  return scl_call_leave(&call, scl_pairs_gram(&form.pairs, u, v, out, stride, error));
}

scl_status scl_kernel_gram(const scl_instance *kernel, const scl_const_parameters *u,
                           const scl_const_parameters *v, double *out, ptrdiff_t stride,
                           scl_error *error) {
  SCL_TRY(kernel_check(kernel, u->space, error));
  SCL_TRY(check_rows(kernel, u, error));
  if (v->prepared == NULL) SCL_TRY(check_rows(kernel, v, error)); /* else seen before */
  return kernel_gram(kernel, u, v, out, stride, error);
}

/* ---- sparse rows */

bool scl_kernel_takes_csr(const scl_instance *kernel) {
  simple_form form;
  open_simple(kernel, &form);
  return (table_of(kernel)->spaces & SCL_BIT(SCL_SPACE_DENSE)) != 0 &&
         scl_pair_kernel_takes_csr(&form.pairs);
}

scl_status scl_kernel_pair_set(const scl_instance *kernel, const scl_const_parameters *v,
                               scl_pair_set **out, scl_error *error) {
  simple_form form;
  SCL_TRY(kernel_check(kernel, v->space, error));
  SCL_TRY(check_rows(kernel, v, error));
  open_simple(kernel, &form);
  return scl_pair_set_create(&form.pairs, v, out, error);
}

scl_status scl_kernel_pair_set_csr(const scl_instance *kernel, const scl_csr *v, scl_pair_set **out,
                                   scl_error *error) {
  simple_form form;
  SCL_TRY(kernel_check(kernel, SCL_SPACE_DENSE, error));
  SCL_TRY(scl_domain_check_csr(kernel, v, error));
  open_simple(kernel, &form);
  return scl_pair_set_create_csr(&form.pairs, v, out, error);
}

scl_status scl_kernel_gram_csr(const scl_instance *kernel, const scl_csr *rows,
                               const scl_pair_set *set, size_t first, size_t count, double *out,
                               ptrdiff_t stride, scl_error *error) {
  simple_form form;
  scl_call call;
  SCL_TRY(scl_domain_check_csr(kernel, rows, error));
  scl_call_enter(&call, kernel->component, table_of(kernel)->gram == NULL ? "finish" : "terms",
                 error);
  open_simple(kernel, &form);
  return scl_call_leave(
      &call, scl_pair_set_gram(&form.pairs, rows, set, first, count, out, stride, error));
}

scl_status scl_kernel_diagonal(const scl_instance *kernel, const scl_const_parameters *u,
                               double *out, scl_error *error) {
  const scl_kernel *table = table_of(kernel);
  SCL_TRY(kernel_check(kernel, u->space, error));
  SCL_TRY(check_rows(kernel, u, error));
  scl_call call;
  if (table->gram == NULL || table->diagonal != NULL) {
    scl_call_enter(&call, kernel->component, table->gram == NULL ? "finish" : "diagonal", error);
    if (table->gram != NULL)
      return scl_call_leave(&call, table->diagonal(kernel->self, u, out, error));
    simple_form form;
    open_simple(kernel, &form);
    return scl_call_leave(&call, scl_pairs_diagonal(&form.pairs, u, out, error));
  }
  /* A general kernel without slot `diagonal`: the 1 x 1 Gram matrix of each parameter. */
  for (size_t i = 0; i < u->count; i++) {
    scl_const_parameters one = *u;
    one.first += i;
    one.count = 1;
    one.weights += (ptrdiff_t)i * u->stride;
    if (one.bias != NULL) one.bias += i;
    if (one.support != NULL) one.support += (ptrdiff_t)i * u->support_stride;
    SCL_TRY(kernel_gram(kernel, &one, &one, &out[i], 1, error));
  }
  return SCL_STATUS_OK;
}

/* How a simple kernel changes when all rows are shifted: distances keep it, and products of centred
 * rows centre it. A general kernel may change in any way. */
static scl_shift shift_of_form(const scl_kernel *table) {
  const bool distance =
      table->pair == SCL_PAIR_SQUARED_DISTANCE || table->pair == SCL_PAIR_ABSOLUTE_DISTANCE;
  if (table->gram != NULL || table->move != NULL) return SCL_SHIFT_CHANGES;
  if (distance || table->pair == SCL_PAIR_NONE) return SCL_SHIFT_KEEPS;
  return table->pair == SCL_PAIR_DOT && table->finish == NULL ? SCL_SHIFT_CENTRES
                                                              : SCL_SHIFT_CHANGES;
}

scl_shift scl_kernel_shift(const scl_instance *kernel) {
  const scl_ability_shift *ability = scl_instance_ability(kernel, SCL_ABILITY_SHIFT);
  if (ability == NULL) return shift_of_form(table_of(kernel));
  scl_call call;
  scl_call_enter(&call, kernel->component, "shift", NULL);
  const scl_shift shift = ability->shift(kernel->self);
  (void)scl_call_end(&call);
  return shift;
}

void scl_kernel_describe(const scl_instance *kernel, char *text, size_t size) {
  const scl_ability_bind *ability = scl_instance_ability(kernel, SCL_ABILITY_BIND);
  text[0] = 0;
  if (ability == NULL || !kernel->bound) return;
  scl_call call;
  scl_call_enter(&call, kernel->component, "describe", NULL);
  ability->describe(kernel->self, text, size);
  (void)scl_call_end(&call);
  text[size - 1] = 0;
}

/* All numbers of a tilt must be finite; logarithms may also be -INFINITY, of a mass of 0. */
static scl_status check_tilt(const scl_instance *kernel, const scl_tilt *tilt, scl_error *error) {
  bool good =
      tilt->log_one < INFINITY && tilt->log_diagonal < INFINITY && tilt->log_mass < INFINITY;
  for (size_t j = 0; good && j < tilt->dim; j++)
    good = isfinite(tilt->offset[j]) && isfinite(tilt->shrink[j]) && isfinite(tilt->spread[j]) &&
           tilt->log0[j] < INFINITY && isfinite(tilt->log1[j]) && isfinite(tilt->log2[j]) &&
           isfinite(tilt->correlation[j]) && isfinite(tilt->pair_scale[j]);
  if (good) return SCL_STATUS_OK;
  return scl_fail(error, SCL_STATUS_NUMERIC, "kernel.%s: its tilt is not finite",
                  scl_instance_name(kernel));
}

/* SCL_TILT_LISTS lists one after another. */
scl_tilt scl_tilt_in(double *memory, size_t dim) {
  return (scl_tilt){.head = SCL_HEAD(scl_tilt),
                    .dim = dim,
                    .offset = memory,
                    .shrink = memory + dim,
                    .spread = memory + 2 * dim,
                    .log0 = memory + 3 * dim,
                    .log1 = memory + 4 * dim,
                    .log2 = memory + 5 * dim,
                    .correlation = memory + 6 * dim,
                    .pair_scale = memory + 7 * dim};
}

scl_status scl_kernel_tilt(const scl_instance *kernel, const scl_law *law, scl_tilt *out,
                           scl_error *error) {
  const scl_ability_tilt *ability = scl_instance_ability(kernel, SCL_ABILITY_TILT);
  if (ability == NULL)
    return scl_fail(error, SCL_STATUS_UNSUPPORTED, "kernel.%s has no tilt",
                    scl_instance_name(kernel));
  SCL_TRY(kernel_check(kernel, law->space == SCL_SPACE_STRUCTURED ? SCL_SPACE_DENSE : law->space,
                       error));
  scl_call call;
  const scl_tilt asked = *out;
  scl_call_enter(&call, kernel->component, "tilt", error);
  const scl_status status = scl_call_leave(&call, ability->tilt(kernel->self, law, out, error));
  const scl_tilt given = *out;
  *out = asked; /* the plugin sets three numbers; head, dim and pointers belong to the host */
  out->log_one = given.log_one;
  out->log_diagonal = given.log_diagonal;
  out->log_mass = given.log_mass;
  return status == SCL_STATUS_OK ? check_tilt(kernel, out, error) : status;
}
