/* Calls of samplers: parameters (slots make or draw), the bias that the host draws, laws and
 * characteristic functions, and the other abilities. All results are checked to be finite. */
#include "plugin/sampler.h"

#include "base/random.h"
#include "plugin/blocks.h"
#include "plugin/call.h"
#include "plugin/check.h"
#include "plugin/tables.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

/* The sampler's table, at the host's size. */
static const scl_sampler *table_of(const scl_instance *sampler) {
  return scl_instance_vtable(sampler);
}

static scl_status unsupported(const scl_instance *sampler, const char *what, scl_error *error) {
  return scl_fail(error, SCL_STATUS_UNSUPPORTED, "sampler.%s declares no %s",
                  scl_instance_name(sampler), what);
}

/* ------------ the bias: SCL_OPTION_BIAS */

/* Places of the words in "none|uniform|gaussian", and the stream of the biases after that of the
 * parameters: adding a bias does not change the parameters. */
enum { BIAS_WORD_UNIFORM = 1, BIAS_WORD_GAUSSIAN = 2, BIAS_STREAM = 1 };

/* The law of the bias from the value of the option: none, uniform on [-pi, pi), standard normal,
 * {low, high}, {gaussian = s} or {gaussian = {mean, s}}. */
static scl_status bias_of_value(const char *name, const scl_value *value, scl_law *law,
                                scl_error *error) {
  const double *list = value->list;
  const bool gaussian = value->place == BIAS_WORD_GAUSSIAN;
  law->bias = SCL_BIAS_NONE;
  if (value->form == SCL_FORM_LIST) {
    if (value->length != 2 || !(list[0] < list[1]) || !isfinite(list[1] - list[0]))
      return scl_fail(
          error, SCL_STATUS_BAD_OPTION,
          "sampler.%s: option 'bias' as a list takes two numbers {low, high} with low < "
          "high",
          name);
    law->bias = SCL_BIAS_UNIFORM;
    law->bias_a = list[0];
    law->bias_b = list[1];
  } else if (value->form == SCL_FORM_NAMED) {
    const double spread = value->length > 0 ? list[value->length - 1] : 0;
    if (!gaussian || value->length < 1 || value->length > 2 || !(spread > 0))
      return scl_fail(
          error, SCL_STATUS_BAD_OPTION,
          "sampler.%s: option 'bias' as a law takes {gaussian = s} or {gaussian = {mean, "
          "s}}, s above 0; a uniform one is {low, high}",
          name);
    law->bias = SCL_BIAS_GAUSSIAN;
    law->bias_a = value->length == 2 ? list[0] : 0;
    law->bias_b = spread;
  } else if (value->place == BIAS_WORD_UNIFORM || gaussian) {
    law->bias = gaussian ? SCL_BIAS_GAUSSIAN : SCL_BIAS_UNIFORM;
    law->bias_a = gaussian ? 0 : -SCL_PI;
    law->bias_b = gaussian ? 1 : SCL_PI;
  }
  return SCL_STATUS_OK;
}

scl_status scl_sampler_bias(const scl_instance *sampler, scl_law *law, bool *by_host,
                            scl_error *error) {
  const scl_value *value = scl_settings_role(&sampler->settings, SCL_ROLE_BIAS);
  *by_host = value != NULL;
  if (value == NULL) return SCL_STATUS_OK;
  return bias_of_value(scl_instance_name(sampler), value, law, error);
}

scl_status scl_sampler_check(const scl_instance *sampler, scl_error *error) {
  scl_law law = {0};
  bool by_host;
  return scl_sampler_bias(sampler, &law, &by_host, error);
}

/* The biases of a batch. Each depends only on the address and the index of its parameter, not on
 * which batch the parameter is drawn in. */
static void draw_bias(const scl_law *law, const scl_draw *draw, const scl_parameters *out) {
  const uint64_t seed = draw->address.seed, stream = draw->address.stream + BIAS_STREAM;
  for (size_t i = 0; out->bias != NULL && i < out->count; i++) {
    double *at = &out->bias[i];
    if (law->bias == SCL_BIAS_GAUSSIAN) {
      scl_random_normal(seed, stream, out->first + i, 0, 1, at);
      *at = law->bias_a + law->bias_b * *at;
    } else {
      scl_random_uniform(seed, stream, out->first + i, 0, 1, at);
      *at = law->bias_a + (law->bias_b - law->bias_a) * *at;
    }
  }
}

/* ------------ layout and draw */

/* The layout that the parameter space implies, which slot `layout` may change. */
scl_status scl_sampler_layout(const scl_instance *sampler, size_t dim, size_t count,
                              scl_layout *out, scl_error *error) {
  const scl_sampler *table = table_of(sampler);
  scl_law law = {0};
  bool by_host;
  SCL_TRY(scl_sampler_bias(sampler, &law, &by_host, error));
  *out = (scl_layout){.head = SCL_HEAD(scl_layout),
                      .space = table->space,
                      .has_bias = law.bias != SCL_BIAS_NONE,
                      .reals = scl_space_reals(table->space, dim),
                      .integers = scl_space_integers(table->space),
                      .block = 1,
                      .count = count};
  if (table->layout == NULL) return SCL_STATUS_OK;
  scl_call call;
  scl_call_enter(&call, sampler->component, "layout", error);
  SCL_TRY(scl_call_leave(&call, table->layout(sampler->self, dim, out, error)));
  const scl_status status = scl_flags_check(out->flags, 0, "layout", error);
  if (status != SCL_STATUS_OK) (void)scl_prefix(error, "sampler.%s", scl_instance_name(sampler));
  return status;
}

/* ---- simple form */

/* Coordinates that are made at a time. */
enum { CHUNK = 256 };

/* out[j] = mean_j + scale_j e_j for coordinates from .. from+count-1 of parameter `index`; e comes
 * from slot `make`, out of table->normals normal numbers for each coordinate, or one uniform. */
static void make_some(const scl_instance *sampler, const scl_draw *draw, uint64_t index,
                      size_t from, size_t count, const scl_law *law, double *out) {
  const scl_sampler *table = table_of(sampler);
  const uint64_t seed = draw->address.seed, stream = draw->address.stream;
  const size_t each = scl_max(table->normals, 1);
  double numbers[8 * CHUNK];
  (table->normals == 0 ? scl_random_uniform : scl_random_normal)(seed, stream, index, from * each,
                                                                 count * each, numbers);
  table->make(sampler->self, count, numbers, out);
  for (size_t j = 0; j < count; j++)
    out[j] = law->mean[from + j] + law->scale[from + j] * out[j];
}

scl_status scl_sampler_open_law(const scl_instance *sampler, const scl_draw *draw, size_t dim,
                                scl_law *out, scl_error *error) {
  double *memory = scl_allocate_zero((4 * dim + 4) * sizeof *memory);
  *out = (scl_law){.head = SCL_HEAD(scl_law), .dim = dim, .mean = memory};
  if (memory == NULL) return scl_fail_memory(error, 4 * dim * sizeof *memory, "a sampler's law");
  out->scale = memory + dim;
  out->degree = memory + 2 * dim;
  out->degree_scale = memory + 3 * dim + 1;
  return scl_sampler_law(sampler, draw, out, error);
}

/* Draw a batch of parameters by slot `make`. A coordinate depends only on its address (seed,
 * stream, parameter, coordinate), so that neither chunks nor batches change it. */
static scl_status draw_simple(const scl_instance *sampler, const scl_draw *draw,
                              const scl_parameters *out, scl_error *error) {
  const size_t dim = out->dim;
  scl_law law;
  scl_status status = scl_sampler_open_law(sampler, draw, dim, &law, error);
  if (status == SCL_STATUS_OK) {
    scl_call call;
    scl_call_enter(&call, sampler->component, "make", error);
    for (size_t i = 0; i < out->count; i++)
      for (size_t from = 0; from < dim; from += CHUNK)
        make_some(sampler, draw, out->first + i, from, scl_min(CHUNK, dim - from), &law,
                  out->weights + (ptrdiff_t)i * out->stride + (ptrdiff_t)from);
    status = scl_call_leave(&call, SCL_STATUS_OK);
  }
  scl_release(law.mean);
  return status;
}

scl_status scl_sampler_draw_bias(const scl_instance *sampler, const scl_draw *draw,
                                 const scl_parameters *out, scl_error *error) {
  scl_law law = {0};
  bool by_host;
  SCL_TRY(scl_sampler_bias(sampler, &law, &by_host, error));
  if (by_host) draw_bias(&law, draw, out);
  return SCL_STATUS_OK;
}

scl_status scl_sampler_draw(const scl_instance *sampler, const scl_draw *draw,
                            const scl_parameters *out, scl_error *error) {
  if (table_of(sampler)->draw == NULL) {
    SCL_TRY(draw_simple(sampler, draw, out, error));
  } else {
    scl_call call;
    scl_call_enter(&call, sampler->component, "draw", error);
    SCL_TRY(scl_call_leave(&call, table_of(sampler)->draw(sampler->self, draw, out, error)));
  }
  return scl_sampler_draw_bias(sampler, draw, out, error);
}

size_t scl_sampler_makes(const scl_instance *sampler) {
  return table_of(sampler)->draw == NULL ? table_of(sampler)->normals : SIZE_MAX;
}

scl_status scl_sampler_make(const scl_instance *sampler, size_t count, const double *numbers,
                            double *e, scl_error *error) {
  scl_call call;
  scl_call_enter(&call, sampler->component, "make", error);
  table_of(sampler)->make(sampler->self, count, numbers, e);
  return scl_call_leave(&call, SCL_STATUS_OK);
}

/* ------------ law and characteristic function */

bool scl_sampler_has_law(const scl_instance *sampler) {
  return table_of(sampler)->moments != NULL || scl_instance_has(sampler, SCL_ABILITY_LAW);
}

/* The law of a simple sampler: every column has the mean and scale of slot `moments`. */
static scl_status law_of_moments(const scl_instance *sampler, scl_law *out, scl_error *error) {
  const scl_sampler *table = table_of(sampler);
  double mean = 0, scale = 1;
  scl_call call;
  scl_call_enter(&call, sampler->component, "moments", error);
  table->moments(sampler->self, &mean, &scale);
  SCL_TRY(scl_call_leave(&call, SCL_STATUS_OK));
  out->family = table->family;
  for (size_t j = 0; j < out->dim; j++) {
    out->mean[j] = mean;
    out->scale[j] = scale;
  }
  return SCL_STATUS_OK;
}

/* Restore the members that belong to the host, whatever the plugin wrote to them, and require
 * finite numbers. An unknown family counts as SCL_FAMILY_OTHER. */
static scl_status check_law(const scl_instance *sampler, const scl_law *asked, scl_law *out,
                            scl_error *error) {
  scl_law law = *out;
  law.head = asked->head;
  law.space = asked->space;
  law.dim = asked->dim;
  law.fan_in = asked->fan_in;
  law.mean = asked->mean;
  law.scale = asked->scale;
  law.degree = asked->degree;
  law.degree_scale = asked->degree_scale;
  *out = law;
  if (out->family < SCL_FAMILY_OTHER || out->family > SCL_FAMILY_SPHERICAL)
    out->family = SCL_FAMILY_OTHER;
  if (law.max_degree > law.dim)
    return scl_fail(error, SCL_STATUS_INTERNAL,
                    "sampler.%s: its law has in-degrees up to %zu, of %zu columns",
                    scl_instance_name(sampler), law.max_degree, law.dim);
  for (size_t j = 0; j < law.dim; j++)
    if (!isfinite(law.mean[j]) || !isfinite(law.scale[j]))
      return scl_fail(error, SCL_STATUS_NUMERIC,
                      "sampler.%s: the law of column %zu is not finite: mean %g, scale %g",
                      scl_instance_name(sampler), j + 1, law.mean[j], law.scale[j]);
  for (size_t s = 0; s <= law.dim; s++)
    if (!isfinite(law.degree[s]) || !isfinite(law.degree_scale[s]))
      return scl_fail(error, SCL_STATUS_NUMERIC,
                      "sampler.%s: the law of in-degree %zu is not finite: %g, scale %g",
                      scl_instance_name(sampler), s, law.degree[s], law.degree_scale[s]);
  return SCL_STATUS_OK;
}

/* The law by the sampler's ability, or from its moments. */
static scl_status ask_law(const scl_instance *sampler, const scl_draw *draw, scl_law *out,
                          scl_error *error) {
  const scl_ability_law *ability = scl_instance_ability(sampler, SCL_ABILITY_LAW);
  if (ability != NULL) {
    scl_call call;
    scl_call_enter(&call, sampler->component, "law", error);
    return scl_call_leave(&call, ability->law(sampler->self, draw, out, error));
  }
  if (table_of(sampler)->moments != NULL) return law_of_moments(sampler, out, error);
  return unsupported(sampler, "law", error);
}

scl_status scl_sampler_law(const scl_instance *sampler, const scl_draw *draw, scl_law *out,
                           scl_error *error) {
  bool by_host;
  out->space = table_of(sampler)->space;
  out->fan_in = scl_max(out->fan_in, 1);
  memset(out->mean, 0, out->dim * sizeof *out->mean);
  memset(out->scale, 0, out->dim * sizeof *out->scale);
  memset(out->degree, 0, (out->dim + 1) * sizeof *out->degree);
  memset(out->degree_scale, 0, (out->dim + 1) * sizeof *out->degree_scale);
  /* The pointers are restored also after a failure, as the caller releases what they point to; the
   * failure of the slot itself is then the one that is reported. */
  const scl_law asked = *out;
  const scl_status status = ask_law(sampler, draw, out, error);
  const scl_status checked =
      check_law(sampler, &asked, out, status == SCL_STATUS_OK ? error : NULL);
  SCL_TRY(status);
  SCL_TRY(checked);
  return scl_sampler_bias(sampler, out, &by_host, error);
}

/* Values of a function of x - y for `count` pairs of rows must be finite. */
static scl_status check_values(const scl_instance *sampler, const char *what, size_t count,
                               const double *values, scl_error *error) {
  for (size_t i = 0; i < count; i++)
    if (!isfinite(values[i]))
      return scl_fail(error, SCL_STATUS_NUMERIC,
                      "sampler.%s: its %s is %g for some pair of rows: are they too large?",
                      scl_instance_name(sampler), what, values[i]);
  return SCL_STATUS_OK;
}

bool scl_sampler_has_characteristic(const scl_instance *sampler) {
  return table_of(sampler)->factor != NULL || scl_instance_has(sampler, SCL_ABILITY_CHARACTERISTIC);
}

/* out_i = Re E exp(i <w, delta_i>) = cos(sum_j mean_j delta_ij) prod_j factor(scale_j delta_ij),
 * for independent coordinates w_j = mean_j + scale_j e_j. A product of 0 gives 0, also where the
 * sum overflowed and its cosine would be NaN. */
static scl_status characteristic_of_factor(const scl_instance *sampler, const scl_draw *draw,
                                           size_t rows, const double *delta, ptrdiff_t stride,
                                           double *out, scl_error *error) {
  const scl_sampler *table = table_of(sampler);
  const size_t dim = draw->dim;
  scl_law law;
  scl_status status = scl_sampler_open_law(sampler, draw, dim, &law, error);
  if (status == SCL_STATUS_OK) {
    scl_call call;
    scl_call_enter(&call, sampler->component, "factor", error);
    for (size_t i = 0; i < rows; i++) {
      const double *gap = delta + (ptrdiff_t)i * stride;
      double product = 1, turn = 0;
      for (size_t j = 0; j < dim; j++) {
        product *= table->factor(sampler->self, law.scale[j] * gap[j]);
        turn += law.mean[j] * gap[j];
      }
      out[i] = product == 0 ? 0 : product * cos(turn);
    }
    status = scl_call_leave(&call, SCL_STATUS_OK);
  }
  scl_release(law.mean);
  return status;
}

scl_status scl_sampler_characteristic(const scl_instance *sampler, const scl_draw *draw,
                                      size_t rows, const double *delta, ptrdiff_t stride,
                                      double *out, scl_error *error) {
  const scl_ability_characteristic *ability =
      scl_instance_ability(sampler, SCL_ABILITY_CHARACTERISTIC);
  if (ability == NULL && table_of(sampler)->factor != NULL) {
    SCL_TRY(characteristic_of_factor(sampler, draw, rows, delta, stride, out, error));
  } else {
    if (ability == NULL) return unsupported(sampler, "characteristic function", error);
    scl_call call;
    scl_call_enter(&call, sampler->component, "characteristic", error);
    SCL_TRY(scl_call_leave(
        &call, ability->characteristic(sampler->self, draw, rows, delta, stride, out, error)));
  }
  return check_values(sampler, "characteristic function", rows, out, error);
}

/* ------------ the other abilities */

double scl_sampler_distribution(const scl_instance *sampler, const scl_draw *draw, size_t column,
                                double x, scl_error *error) {
  const scl_ability_distribution *ability = scl_instance_ability(sampler, SCL_ABILITY_DISTRIBUTION);
  scl_call call;
  if (!scl_call_begin(&call, sampler->component, "distribution", error)) return NAN;
  const double value = ability->distribution(sampler->self, draw, column, x);
  return scl_call_end(&call) ? value : NAN;
}

scl_status scl_sampler_collision(const scl_instance *sampler, const scl_draw *draw, size_t rows,
                                 const double *delta, ptrdiff_t stride, double *out,
                                 scl_error *error) {
  const scl_ability_collision *ability = scl_instance_ability(sampler, SCL_ABILITY_COLLISION);
  if (ability == NULL) return unsupported(sampler, "collision probability", error);
  scl_call call;
  scl_call_enter(&call, sampler->component, "collision", error);
  SCL_TRY(scl_call_leave(&call,
                         ability->collision(sampler->self, draw, rows, delta, stride, out, error)));
  return check_values(sampler, "collision probability", rows, out, error);
}

scl_status scl_sampler_pool_rows(const scl_instance *sampler, size_t count, size_t fan_in,
                                 size_t *out, scl_error *error) {
  const scl_ability_pool *ability = scl_instance_ability(sampler, SCL_ABILITY_POOL);
  if (ability == NULL) return unsupported(sampler, "pool", error);
  scl_call call;
  scl_call_enter(&call, sampler->component, "rows", error);
  *out = ability->rows(sampler->self, count, fan_in);
  return scl_call_leave(&call, SCL_STATUS_OK);
}

scl_status scl_sampler_pool(const scl_instance *sampler, const scl_draw *draw, size_t first,
                            size_t count, size_t fan_in, int32_t *out, scl_error *error) {
  const scl_ability_pool *ability = scl_instance_ability(sampler, SCL_ABILITY_POOL);
  if (ability == NULL) return unsupported(sampler, "pool", error);
  scl_call call;
  scl_call_enter(&call, sampler->component, "pool", error);
  return scl_call_leave(&call,
                        ability->pool(sampler->self, draw, first, count, fan_in, out, error));
}

bool scl_sampler_has_rows(const scl_instance *sampler) {
  const scl_ability_structured *ability = scl_instance_ability(sampler, SCL_ABILITY_STRUCTURED);
  return ability != NULL && ability->rows != NULL;
}

/* z = the products with structured rows, for x in a dtype that the sampler takes. */
static scl_status apply_structured(const scl_instance *sampler,
                                   const scl_ability_structured *ability, const scl_draw *draw,
                                   const scl_const_parameters *parameters, const scl_const_block *x,
                                   const scl_block *z, scl_error *error) {
  scl_call call;
  scl_call_enter(&call, sampler->component, "apply", error);
  return scl_call_leave(&call, ability->apply(sampler->self, draw, parameters, x, z, error));
}

scl_status scl_sampler_apply(const scl_instance *sampler, const scl_draw *draw,
                             const scl_const_parameters *parameters, const scl_const_block *x,
                             const scl_block *z, scl_error *error) {
  const scl_ability_structured *ability = scl_instance_ability(sampler, SCL_ABILITY_STRUCTURED);
  if (ability == NULL) return unsupported(sampler, "product with its structured rows", error);
  if (scl_takes(ability->dtypes, x->dtype))
    return apply_structured(sampler, ability, draw, parameters, x, z, error);
  const size_t numbers = scl_block_numbers(x), out = z->rows * z->cols;
  double *memory = scl_allocate_array(numbers + out + 1, sizeof *memory);
  if (memory == NULL)
    return scl_fail_memory(error, (numbers + out) * sizeof *memory, "a float64 copy of rows");
  const scl_const_block wide = scl_block_widen(x, memory);
  const scl_block to = scl_block_packed(z->rows, z->cols, 1, memory + numbers);
  const scl_status status = apply_structured(sampler, ability, draw, parameters, &wide, &to, error);
  if (status == SCL_STATUS_OK) scl_block_narrow(memory + numbers, z);
  scl_release(memory);
  return status;
}

bool scl_sampler_takes_csr(const scl_instance *sampler, scl_dtype dtype) {
  const scl_ability_structured *ability = scl_instance_ability(sampler, SCL_ABILITY_STRUCTURED);
  return ability != NULL && ability->apply_csr != NULL && scl_takes(ability->dtypes, dtype);
}

scl_status scl_sampler_apply_csr(const scl_instance *sampler, const scl_draw *draw,
                                 const scl_const_parameters *parameters, const scl_const_csr *x,
                                 const scl_block *z, scl_error *error) {
  const scl_ability_structured *ability = scl_instance_ability(sampler, SCL_ABILITY_STRUCTURED);
  scl_call call;
  scl_call_enter(&call, sampler->component, "apply_csr", error);
  return scl_call_leave(&call, ability->apply_csr(sampler->self, draw, parameters, x, z, error));
}

scl_status scl_sampler_rows(const scl_instance *sampler, const scl_draw *draw,
                            const scl_const_parameters *parameters, double *dense, ptrdiff_t stride,
                            scl_error *error) {
  const scl_ability_structured *ability = scl_instance_ability(sampler, SCL_ABILITY_STRUCTURED);
  if (ability == NULL || ability->rows == NULL)
    return unsupported(sampler, "dense rows w_t: its z is not <w, x>", error);
  scl_call call;
  scl_call_enter(&call, sampler->component, "rows", error);
  return scl_call_leave(&call,
                        ability->rows(sampler->self, draw, parameters, dense, stride, error));
}

/* A learnt state must be finite, and its numbers within the memory that host->allocate gave. */
static scl_status check_state(const scl_instance *sampler, const scl_state *state,
                              scl_error *error) {
  const size_t numbers = state->rows * state->cols,
               room = scl_allocated_for(state->numbers) / sizeof(double);
  if (state->cols > 0 && state->rows > room / state->cols)
    return scl_fail(error, SCL_STATUS_INTERNAL,
                    "sampler.%s: slot learn left %zu x %zu numbers that are not there: "
                    "host->allocate gave room for %zu",
                    scl_instance_name(sampler), state->rows, state->cols, room);
  for (size_t i = 0; i < numbers; i++)
    if (!isfinite(state->numbers[i]))
      return scl_fail(error, SCL_STATUS_NUMERIC,
                      "sampler.%s: what it learnt is not finite (row %zu, column %zu of its state)",
                      scl_instance_name(sampler), i / state->cols + 1, i % state->cols + 1);
  return SCL_STATUS_OK;
}

scl_status scl_sampler_learn(const scl_instance *sampler, const scl_learning *rows, scl_state *out,
                             scl_error *error) {
  const scl_ability_learn *ability = scl_instance_ability(sampler, SCL_ABILITY_LEARN);
  *out = (scl_state){.head = SCL_HEAD(scl_state)};
  if (ability == NULL) return unsupported(sampler, "state to learn", error);
  scl_call call;
  scl_call_enter(&call, sampler->component, "learn", error);
  SCL_TRY(scl_call_leave(&call, ability->learn(sampler->self, rows, out, error)));
  return check_state(sampler, out, error);
}

scl_status scl_sampler_scales(const scl_instance *sampler, const scl_draw *draw,
                              const scl_const_parameters *parameters, double *out,
                              scl_error *error) {
  const scl_ability_scales *ability = scl_instance_ability(sampler, SCL_ABILITY_SCALES);
  for (size_t t = 0; t < parameters->count; t++)
    out[t] = 1 / sqrt((double)draw->total);
  if (ability == NULL) return SCL_STATUS_OK;
  scl_call call;
  scl_call_enter(&call, sampler->component, "scales", error);
  SCL_TRY(scl_call_leave(&call, ability->scales(sampler->self, draw, parameters, out, error)));
  for (size_t t = 0; t < parameters->count; t++)
    if (!isfinite(out[t]))
      return scl_fail(error, SCL_STATUS_NUMERIC,
                      "sampler.%s gave parameter %zu a weight that is not finite",
                      scl_instance_name(sampler), parameters->first + t + 1);
  return SCL_STATUS_OK;
}

scl_status scl_component_pair_kernel(const scl_instance *component, const scl_instance *partner,
                                     char *text, size_t size, scl_error *error) {
  const scl_ability_pair_kernel *ability = scl_instance_ability(component, SCL_ABILITY_PAIR_KERNEL);
  const scl_part part = scl_instance_part(partner);
  text[0] = 0;
  if (ability == NULL) return SCL_STATUS_OK;
  scl_call call;
  scl_call_enter(&call, component->component, "kernel", error);
  SCL_TRY(scl_call_leave(&call, ability->kernel(component->self, &part, text, size, error)));
  text[size - 1] = 0;
  return SCL_STATUS_OK;
}
