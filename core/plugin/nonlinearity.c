/* Calls of nonlinearities: shapes, phi and its smoothing over blocks of either dtype, duals and
 * categories. */
#include "plugin/nonlinearity.h"

#include "plugin/blocks.h"
#include "plugin/call.h"
#include "plugin/check.h"
#include "plugin/domain.h"
#include <math.h>
#include <string.h>

/* The nonlinearity's table, at the host's size. */
static const scl_nonlinearity *table_of(const scl_instance *phi) {
  return scl_instance_vtable(phi);
}

static scl_status unsupported(const scl_instance *phi, const char *what, scl_error *error) {
  return scl_fail(error, SCL_STATUS_UNSUPPORTED, "nonlinearity.%s declares no %s",
                  scl_instance_name(phi), what);
}

/* ------------ shape */

/* The shape must fit the slots that the table has, and the limits of the interface. */
static scl_status check_shape(const scl_instance *phi, const scl_shape *shape, scl_error *error) {
  const scl_nonlinearity *table = table_of(phi);
  const bool one_hot = shape->flags & SCL_SHAPE_ONE_HOT;
  const char *wrong = NULL;
  const scl_status status = scl_flags_check(shape->flags, 0, "shape", error);
  if (status != SCL_STATUS_OK) {
    (void)scl_prefix(error, "nonlinearity.%s", scl_instance_name(phi));
    return status;
  }
  if (!one_hot && table->apply == NULL && (shape->fan_in != 1 || shape->fan_out != 1))
    wrong = "takes or gives several numbers a parameter, for which slot 'apply' is required";
  else if (!one_hot && table->apply == NULL && table->loop == NULL)
    wrong = "has neither slot 'apply' nor 'loop'";
  else if (shape->fan_in > 65536 && shape->fan_in != SCL_FAN_IN_ALL)
    wrong = "takes more than 65536 numbers a parameter";
  else if (shape->fan_out > 65536)
    wrong = "gives more than 65536 features a parameter";
  else if (shape->spaces == 0)
    wrong = "takes no parameter space";
  else if (!(shape->dtypes & SCL_BIT(SCL_DTYPE_FLOAT64)))
    wrong = "does not take float64";
  if (wrong == NULL) return SCL_STATUS_OK;
  return scl_fail(error, SCL_STATUS_INTERNAL, "nonlinearity.%s %s", scl_instance_name(phi), wrong);
}

/* The table's members, which slot `shape` may change, then the defaults for zeros. A nonlinearity
 * with loops alone takes both dtypes, as loop_float32 converts. */
scl_status scl_nonlinearity_shape(const scl_instance *phi, scl_shape *out, scl_error *error) {
  const scl_nonlinearity *table = table_of(phi);
  *out = (scl_shape){.head = SCL_HEAD(scl_shape),
                     .fan_in = table->fan_in,
                     .fan_out = table->fan_out,
                     .spaces = table->spaces,
                     .dtypes = table->dtypes,
                     .flags = table->flags,
                     .tags = table->tags};
  if (table->shape != NULL) {
    scl_call call;
    scl_call_enter(&call, phi->component, "shape", error);
    SCL_TRY(scl_call_leave(&call, table->shape(phi->self, out, error)));
  }
  if (out->fan_in == 0) out->fan_in = 1;
  if (out->fan_out == 0) out->fan_out = 1;
  if (table->apply == NULL && table->loop != NULL) out->dtypes = SCL_DTYPES_FLOAT;
  if (out->dtypes == 0) out->dtypes = SCL_BIT(SCL_DTYPE_FLOAT64);
  return check_shape(phi, out, error);
}

bool scl_shape_takes_tag(const scl_shape *shape, const char *tag) {
  if (shape->tags == NULL) return tag == NULL;
  return scl_word_place(shape->tags, tag == NULL ? "none" : tag) >= 0;
}

/* ------------ loops over blocks */

/* Numbers that are converted at a time: the arrays are on the stack and stay in the cache. */
enum { CHUNK = 256 };

/* phi of a row of float32 numbers, through float64 where there is no loop for them. */
static void loop_float32(const scl_instance *phi, size_t count, const float *z, float *out) {
  const scl_nonlinearity *table = table_of(phi);
  double wide[CHUNK];
  if (table->loop_float32 != NULL) {
    table->loop_float32(phi->self, count, z, out);
    return;
  }
  for (size_t j = 0; j < count; j += CHUNK) {
    const size_t some = scl_min(CHUNK, count - j);
    scl_widen(some, z + j, wide);
    table->loop(phi->self, some, wide, wide);
    scl_narrow(some, wide, out + j);
  }
}

/* out = phi(z), row by row, by the slots loop and loop_float32. */
static void loop_rows(const scl_instance *phi, const scl_const_block *z, const scl_block *out) {
  for (size_t i = 0; i < z->rows; i++) {
    const ptrdiff_t from = (ptrdiff_t)i * z->row_stride, to = (ptrdiff_t)i * out->row_stride;
    if (z->dtype == SCL_DTYPE_FLOAT64)
      table_of(phi)->loop(phi->self, z->cols, (const double *)z->data + from,
                          (double *)out->data + to);
    else
      loop_float32(phi, z->cols, (const float *)z->data + from, (float *)out->data + to);
  }
}

/* ------------ blocks that are converted */

/* A function that calls a slot for a whole block; v is NULL except for smoothing. */
typedef scl_status (*block_slot)(const scl_instance *phi, const scl_const_block *z,
                                 const scl_spread *v, const scl_block *out, scl_error *error);

/* The spreads of z, packed and in float64, in `to` (as many numbers as z has). */
static scl_spread widen_spread(const scl_const_block *z, const scl_spread *v, double *to) {
  const float *from = v->data;
  for (size_t k = 0; k < z->planes; k++)
    for (size_t i = 0; i < z->rows; i++)
      for (size_t j = 0; j < z->cols; j++)
        to[(k * z->rows + i) * z->cols + j] =
            (double)from[(ptrdiff_t)i * v->row_stride + (ptrdiff_t)j * v->col_stride +
                         (ptrdiff_t)k * v->plane_stride];
  return (scl_spread){to, (ptrdiff_t)z->cols, 1, (ptrdiff_t)(z->rows * z->cols)};
}

/* Call `slot` with float64 copies of a float32 block and its spreads, and round the results to
 * `out`: for nonlinearities that take only float64. One block of memory has z, the spreads and the
 * results. */
static scl_status call_widened(block_slot slot, const scl_instance *phi, const scl_const_block *z,
                               const scl_spread *v, const scl_block *out, scl_error *error) {
  const size_t in = scl_block_numbers(z), outs = out->rows * out->cols * out->planes;
  double *memory = scl_allocate_array(2 * in + outs + 1, sizeof *memory);
  if (memory == NULL)
    return scl_fail_memory(error, (2 * in + outs) * sizeof *memory, "a float64 copy of a tile");
  const scl_const_block wide = scl_block_widen(z, memory);
  const scl_block to = scl_block_packed(out->rows, out->cols, out->planes, memory + 2 * in);
  scl_spread spread = {0};
  if (v != NULL) spread = widen_spread(z, v, memory + in);
  const scl_status status = slot(phi, &wide, v == NULL ? NULL : &spread, &to, error);
  if (status == SCL_STATUS_OK) scl_block_narrow(memory + 2 * in, out);
  scl_release(memory);
  return status;
}

/* ------------ apply */

/* phi of a block whose dtype the nonlinearity takes: slot `apply`, or the loops. */
static scl_status apply_block(const scl_instance *phi, const scl_const_block *z,
                              const scl_spread *v, const scl_block *out, scl_error *error) {
  const scl_nonlinearity *table = table_of(phi);
  (void)v;
  scl_call call;
  scl_call_enter(&call, phi->component, table->apply == NULL ? "loop" : "apply", error);
  if (table->apply != NULL) return scl_call_leave(&call, table->apply(phi->self, z, out, error));
  loop_rows(phi, z, out);
  return scl_call_leave(&call, SCL_STATUS_OK);
}

scl_status scl_nonlinearity_apply(const scl_instance *phi, const scl_const_block *z,
                                  const scl_block *out, scl_error *error) {
  const scl_nonlinearity *table = table_of(phi);
  scl_shape shape;
  SCL_TRY(scl_domain_check_block(phi, z, error));
  /* All take float64 (check_shape), and loops both types. */
  if (table->apply == NULL || z->dtype == SCL_DTYPE_FLOAT64)
    return apply_block(phi, z, NULL, out, error);
  SCL_TRY(scl_nonlinearity_shape(phi, &shape, error));
  if (scl_takes(shape.dtypes, z->dtype)) return apply_block(phi, z, NULL, out, error);
  return call_widened(apply_block, phi, z, NULL, out, error);
}

/* ------------ smoothing, a chunk of a row at a
 * time
 *
 * The loops are called only with v > 0. For an entry without spread they get v = 1, and the
 * result is then replaced by phi(m), the value for v = 0. */

/* spread_TYPE: fills `spread` with v (at `stride`; 0: one number for all), and with 1 where v is not
 * above 0. Returns whether that happened. */
#define SPREAD(type) \
  static bool spread_##type(size_t count, const type *v, ptrdiff_t stride, type *spread) { \
    int still = 0; \
    if (stride == 0) { \
      still = !(*v > 0); \
      for (size_t j = 0; j < count; j++) \
        spread[j] = still ? 1 : *v; \
      return still; \
    } \
    for (size_t j = 0; j < count; j++) { \
      const type one = v[(ptrdiff_t)j * stride]; \
      still |= !(one > 0); \
      spread[j] = one > 0 ? one : 1; \
    } \
    return still; \
  }
SPREAD(double)
SPREAD(float)

/* out = S(m, v) for at most CHUNK numbers; v at `stride`. */
static void smooth_chunk(const scl_instance *phi, const scl_ability_smoothing *ability,
                         size_t count, const double *m, const double *v, ptrdiff_t stride,
                         double *out) {
  double spread[CHUNK], point[CHUNK];
  const bool still = spread_double(count, v, stride, spread);
  if (still) table_of(phi)->loop(phi->self, count, m, point);
  ability->loop(phi->self, count, m, spread, out);
  for (size_t j = 0; still && j < count; j++)
    if (!(v[(ptrdiff_t)j * stride] > 0)) out[j] = point[j];
}

/* The same for float32, through float64 if the ability has no loop for float32. */
static void smooth_chunk_float32(const scl_instance *phi, const scl_ability_smoothing *ability,
                                 size_t count, const float *m, const float *v, ptrdiff_t stride,
                                 float *out) {
  float spread[CHUNK], point[CHUNK];
  double wide[CHUNK], wide_spread[CHUNK];
  const bool still = spread_float(count, v, stride, spread);
  if (still) loop_float32(phi, count, m, point);
  if (ability->loop_float32 != NULL) {
    ability->loop_float32(phi->self, count, m, spread, out);
  } else {
    scl_widen(count, m, wide);
    scl_widen(count, spread, wide_spread);
    ability->loop(phi->self, count, wide, wide_spread, wide);
    scl_narrow(count, wide, out);
  }
  for (size_t j = 0; still && j < count; j++)
    if (!(v[(ptrdiff_t)j * stride] > 0)) out[j] = point[j];
}

/* The smoothing of a whole block, CHUNK numbers of a row at a time. */
static void smooth_rows(const scl_instance *phi, const scl_ability_smoothing *ability,
                        const scl_const_block *m, const scl_spread *v, const scl_block *out) {
  for (size_t i = 0; i < m->rows; i++)
    for (size_t j = 0; j < m->cols; j += CHUNK) {
      const size_t count = scl_min(CHUNK, m->cols - j);
      const ptrdiff_t row = (ptrdiff_t)i, col = (ptrdiff_t)j;
      const ptrdiff_t from = row * m->row_stride + col, to = row * out->row_stride + col;
      const ptrdiff_t at = row * v->row_stride + col * v->col_stride;
      if (m->dtype == SCL_DTYPE_FLOAT64)
        smooth_chunk(phi, ability, count, (const double *)m->data + from,
                     (const double *)v->data + at, v->col_stride, (double *)out->data + to);
      else
        smooth_chunk_float32(phi, ability, count, (const float *)m->data + from,
                             (const float *)v->data + at, v->col_stride, (float *)out->data + to);
    }
}

/* The smoothing of a block whose dtype the nonlinearity takes. */
static scl_status smooth_block(const scl_instance *phi, const scl_const_block *m,
                               const scl_spread *v, const scl_block *out, scl_error *error) {
  const scl_ability_smoothing *ability = scl_instance_ability(phi, SCL_ABILITY_SMOOTHING);
  scl_call call;
  scl_call_enter(&call, phi->component, "smooth", error);
  if (ability->smooth != NULL)
    return scl_call_leave(&call, ability->smooth(phi->self, m, v, out, error));
  smooth_rows(phi, ability, m, v, out);
  return scl_call_leave(&call, SCL_STATUS_OK);
}

scl_status scl_nonlinearity_smooth(const scl_instance *phi, const scl_const_block *m,
                                   const scl_spread *v, const scl_block *out, scl_error *error) {
  const scl_ability_smoothing *ability = scl_instance_ability(phi, SCL_ABILITY_SMOOTHING);
  scl_shape shape;
  if (ability == NULL) return unsupported(phi, "smoothing", error);
  if (ability->smooth == NULL && table_of(phi)->loop == NULL)
    return scl_fail(error, SCL_STATUS_INTERNAL,
                    "nonlinearity.%s: the loop of its smoothing goes with slot 'loop', which is "
                    "NULL",
                    scl_instance_name(phi));
  if (ability->smooth == NULL) return smooth_block(phi, m, v, out, error);
  SCL_TRY(scl_nonlinearity_shape(phi, &shape, error));
  if (scl_takes(shape.dtypes, m->dtype)) return smooth_block(phi, m, v, out, error);
  return call_widened(smooth_block, phi, m, v, out, error);
}

/* ------------ facts */

scl_ability_facts scl_nonlinearity_facts(const scl_instance *phi) {
  const scl_ability_facts *ability = scl_instance_ability(phi, SCL_ABILITY_FACTS);
  if (ability != NULL) return *ability;
  return (scl_ability_facts){SCL_HEAD(scl_ability_facts), INFINITY, INFINITY, NULL, 0, 0};
}

bool scl_nonlinearity_two_valued(const scl_instance *phi, scl_ability_two_valued *out) {
  const scl_ability_two_valued *ability = scl_instance_ability(phi, SCL_ABILITY_TWO_VALUED);
  if (ability != NULL) *out = *ability;
  return ability != NULL;
}

bool scl_nonlinearity_harmonic(const scl_instance *phi, double *amplitude) {
  const scl_ability_harmonic *ability = scl_instance_ability(phi, SCL_ABILITY_HARMONIC);
  if (ability != NULL) *amplitude = ability->amplitude;
  return ability != NULL;
}

/* ------------ duals */

double scl_nonlinearity_dual(const scl_instance *phi, const scl_moments *m, scl_error *error) {
  const scl_ability_gaussian_dual *ability = scl_instance_ability(phi, SCL_ABILITY_GAUSSIAN_DUAL);
  scl_call call;
  if (ability == NULL || !scl_call_begin(&call, phi->component, "dual", error)) return NAN;
  const double value =
      ability->dual(phi->self, m->mean_a, m->mean_b, m->var_a, m->var_b, m->covariance);
  return scl_call_end(&call) ? value : NAN;
}

double scl_nonlinearity_code_dual(const scl_instance *phi, const scl_moments *m, scl_error *error) {
  const scl_ability_code_dual *ability = scl_instance_ability(phi, SCL_ABILITY_CODE_DUAL);
  scl_call call;
  if (ability == NULL || !scl_call_begin(&call, phi->component, "collision", error)) return NAN;
  const double value =
      ability->collision(phi->self, m->mean_a, m->mean_b, m->var_a, m->var_b, m->covariance);
  return scl_call_end(&call) ? value : NAN;
}

double scl_nonlinearity_threshold_dual(const scl_instance *phi, double distribution_a,
                                       double distribution_b, scl_error *error) {
  const scl_ability_threshold_dual *ability = scl_instance_ability(phi, SCL_ABILITY_THRESHOLD_DUAL);
  scl_call call;
  if (ability == NULL || !scl_call_begin(&call, phi->component, "dual", error)) return NAN;
  const double value = ability->dual(phi->self, distribution_a, distribution_b);
  return scl_call_end(&call) ? value : NAN;
}

/* ------------ categories */

/* Whether the categories follow from the two values of phi (1: the high one), as the nonlinearity
 * declares no categories of its own. */
static bool two_categories(const scl_instance *phi, scl_ability_two_valued *out) {
  return !scl_instance_has(phi, SCL_ABILITY_CATEGORIES) && scl_nonlinearity_two_valued(phi, out);
}

bool scl_nonlinearity_has_categories(const scl_instance *phi) {
  scl_ability_two_valued values;
  return scl_instance_has(phi, SCL_ABILITY_CATEGORIES) || two_categories(phi, &values);
}

scl_status scl_nonlinearity_key(const scl_instance *phi, size_t planes, size_t *words,
                                size_t *levels, scl_error *error) {
  const scl_ability_categories *ability = scl_instance_ability(phi, SCL_ABILITY_CATEGORIES);
  scl_ability_two_valued values;
  *words = 1;
  *levels = 2;
  if (two_categories(phi, &values)) return SCL_STATUS_OK;
  if (ability == NULL) return unsupported(phi, "categories, so its features have no codes", error);
  scl_call call;
  scl_call_enter(&call, phi->component, "key", error);
  SCL_TRY(scl_call_leave(&call, ability->key(phi->self, planes, words, levels, error)));
  if (*words > 0 && *words <= 1u << 24) return SCL_STATUS_OK;
  return scl_fail(error, SCL_STATUS_INTERNAL, "nonlinearity.%s names categories by %zu numbers",
                  scl_instance_name(phi), *words);
}

/* Two values: category 1 for z > 0, and for z = 0 if zero_is_high; otherwise 0. */
scl_status scl_nonlinearity_categories(const scl_instance *phi, const scl_const_block *z,
                                       int32_t *out, ptrdiff_t row_stride, scl_error *error) {
  const scl_ability_categories *ability = scl_instance_ability(phi, SCL_ABILITY_CATEGORIES);
  scl_ability_two_valued values;
  const bool two = two_categories(phi, &values), zero_is_high = two && values.zero_is_high != 0;
  for (size_t i = 0; two && i < z->rows; i++) {
    const double *from = (const double *)z->data + (ptrdiff_t)i * z->row_stride;
    int32_t *to = out + (ptrdiff_t)i * row_stride;
    for (size_t j = 0; j < z->cols; j++)
      to[j] = from[j] > 0 || (zero_is_high && from[j] == 0);
  }
  if (two) return SCL_STATUS_OK;
  if (ability == NULL) return unsupported(phi, "categories, so its features have no codes", error);
  scl_call call;
  scl_call_enter(&call, phi->component, "categories", error);
  return scl_call_leave(&call, ability->categories(phi->self, z, out, row_stride, error));
}
