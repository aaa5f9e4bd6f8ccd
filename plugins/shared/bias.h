/* The bias of a ridge map, z = <w, x> + b, as an option of samplers: none, uniform or Gaussian.
 * Include it in one sampler's file. */
#ifndef SCULLERY_SHARED_BIAS_H
#define SCULLERY_SHARED_BIAS_H

#include <math.h>
#include <scullery/plugin.h>
#include <string.h>

typedef struct bias_law {
  scl_bias_law law;
  double a, b; /* uniform: ends; gaussian: mean and standard deviation */
} bias_law;

/* The row of the options table. */
#define BIAS_OPTION                                                                                \
  {                                                                                                \
    "bias", SCL_FORM_WORD | SCL_FORM_LIST | SCL_FORM_NAMED, "none|uniform|gaussian", "none",       \
        -INFINITY, INFINITY, SCL_RANGE_LOW_OPEN | SCL_RANGE_HIGH_OPEN, SCL_WIDTH_NONE,             \
        "none; uniform on [-pi, pi]; gaussian: N(0, 1); {low, high}: uniform; {gaussian = s} or "  \
        "{gaussian = {mean, s}}"                                                                   \
  }

static inline scl_status bias_read(const scl_host *host, const scl_value *value, bias_law *out,
                                   scl_error *error) {
  const double pi = 3.14159265358979323846;
  *out = (bias_law){SCL_BIAS_NONE, 0, 0};
  if (value->form == SCL_FORM_LIST) {
    if (value->length != 2 || !(value->list[0] < value->list[1]) ||
        !isfinite(value->list[1] - value->list[0]))
      return host->fail(error, SCL_STATUS_BAD_OPTION,
                        "option 'bias' as a list takes two numbers {low, high} with low < high");
    *out = (bias_law){SCL_BIAS_UNIFORM, value->list[0], value->list[1]};
    return SCL_STATUS_OK;
  }
  if (value->form == SCL_FORM_NAMED) {
    const double spread = value->length > 0 ? value->list[value->length - 1] : 0;
    if (strcmp(value->word, "gaussian") != 0 || value->length < 1 || value->length > 2 ||
        !(spread > 0))
      return host->fail(error, SCL_STATUS_BAD_OPTION,
                        "option 'bias' as a law takes {gaussian = s} or {gaussian = {mean, s}}, s "
                        "above 0; a uniform one is {low, high}");
    *out = (bias_law){SCL_BIAS_GAUSSIAN, value->length == 2 ? value->list[0] : 0, spread};
    return SCL_STATUS_OK;
  }
  if (strcmp(value->word, "uniform") == 0) *out = (bias_law){SCL_BIAS_UNIFORM, -pi, pi};
  if (strcmp(value->word, "gaussian") == 0) *out = (bias_law){SCL_BIAS_GAUSSIAN, 0, 1};
  return SCL_STATUS_OK;
}

/* Fill out->bias from the stream next to the parameters' own. */
static inline void bias_draw(const bias_law *bias, const scl_random *random, scl_address address,
                             scl_parameters *out) {
  for (size_t i = 0; out->bias != NULL && i < out->count; i++) {
    double *at = &out->bias[i];
    if (bias->law == SCL_BIAS_GAUSSIAN)
      random->normal(address.seed, address.stream + 1, out->first + i, 0, 1, at);
    else
      random->uniform(address.seed, address.stream + 1, out->first + i, 0, 1, at);
    *at = bias->law == SCL_BIAS_GAUSSIAN ? bias->a + bias->b * *at
                                         : bias->a + (bias->b - bias->a) * *at;
  }
}

static inline void bias_tell(const bias_law *bias, scl_law *out) {
  out->bias = bias->law;
  out->bias_a = bias->a;
  out->bias_b = bias->b;
}

#endif
