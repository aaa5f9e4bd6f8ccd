/* The kernel that a map without K estimates, in closed form where its parts declare enough:
 *   harmonic phi:  amplitude * E exp(i <w, x - y>)                       (any sampler with a characteristic function; phase uniform over a
 * period, or none) Gaussian rows: E phi(a) phi(b), (a, b) = (<w, x> + b, <w, y> + b)    (the nonlinearity's Gaussian dual) thresholds: mean
 * over columns of the threshold dual of F(x_i), F(y_i) */
#include "map_internal.h"

#include <math.h>
#include <string.h>

typedef struct pair_kernel {
  const scl_map *map;
  const scl_ability_harmonic *harmonic;
  const scl_ability_characteristic *characteristic;
  const scl_ability_gaussian_dual *gaussian;
  const scl_ability_threshold_dual *threshold;
  const scl_ability_distribution *distribution;
  const scl_law *law;
  double *x, *y, *delta;
} pair_kernel;

static bool whole_period(const scl_law *law) {
  const double turns = (law->bias_b - law->bias_a) / (2 * 3.14159265358979323846);
  return law->bias == SCL_BIAS_UNIFORM && turns > 0.5 && fabs(turns - round(turns)) < 1e-9;
}

static scl_status harmonic_value(const pair_kernel *k, double *value, scl_error *error) {
  const size_t d = k->map->dim;
  for (size_t j = 0; j < d; j++)
    k->delta[j] = k->x[j] - k->y[j];
  const scl_status status = k->characteristic->characteristic(k->map->sampler->self, 1, d, k->delta, (ptrdiff_t)d, value, error);
  *value *= k->harmonic->amplitude(k->map->phi->self);
  return scl_instance_prefix(k->map->sampler, status, error);
}

static double gaussian_value(const pair_kernel *k) {
  const scl_law *law = k->law;
  double mean_x = 0, mean_y = 0, var_x = 0, var_y = 0, covariance = 0;
  for (size_t j = 0; j < law->dim; j++) {
    const double square = law->scale[j] * law->scale[j];
    mean_x += law->mean[j] * k->x[j];
    mean_y += law->mean[j] * k->y[j];
    var_x += square * k->x[j] * k->x[j];
    var_y += square * k->y[j] * k->y[j];
    covariance += square * k->x[j] * k->y[j];
  }
  if (law->bias == SCL_BIAS_GAUSSIAN) {
    mean_x += law->bias_a;
    mean_y += law->bias_a;
    var_x += law->bias_b * law->bias_b;
    var_y += law->bias_b * law->bias_b;
    covariance += law->bias_b * law->bias_b;
  }
  return k->gaussian->dual(k->map->phi->self, mean_x, mean_y, var_x, var_y, covariance);
}

static double threshold_value(const pair_kernel *k) {
  double sum = 0;
  for (size_t j = 0; j < k->map->dim; j++) {
    const double at_x = k->distribution->distribution(k->map->sampler->self, j, k->x[j]);
    const double at_y = k->distribution->distribution(k->map->sampler->self, j, k->y[j]);
    sum += k->threshold->dual(k->map->phi->self, at_x, at_y);
  }
  return sum / (double)k->map->dim;
}

/* Keep only the way that holds for this pair; false when there is none. */
static bool choose_way(pair_kernel *k) {
  const bool dense = k->map->layout.space == SCL_DENSE || k->map->layout.space == SCL_STRUCTURED;
  const bool phase = k->map->shape.needs_phase != 0, own_bias = k->law->bias != SCL_BIAS_NONE;
  const bool harmonic = k->harmonic != NULL && k->characteristic != NULL && (phase ? !own_bias || whole_period(k->law) : true);
  const bool gaussian = dense && k->gaussian != NULL && k->law->family == SCL_LAW_GAUSSIAN && k->law->bias != SCL_BIAS_UNIFORM && !phase;
  const bool threshold = k->map->layout.space == SCL_THRESHOLD && k->threshold != NULL && k->distribution != NULL;
  if (!harmonic) k->harmonic = NULL;
  if (!gaussian || harmonic) k->gaussian = NULL;
  if (!threshold) k->threshold = NULL;
  return harmonic || gaussian || threshold;
}

static scl_status fill(const pair_kernel *k, const scl_matrix *x, const scl_matrix *y, scl_matrix *out, scl_error *error) {
  for (size_t i = 0; i < x->rows; i++) {
    for (size_t j = 0; j < k->map->dim; j++)
      k->x[j] = scl_matrix_get(x, i, j);
    for (size_t r = 0; r < y->rows; r++) {
      double value = 0;
      for (size_t j = 0; j < k->map->dim; j++)
        k->y[j] = scl_matrix_get(y, r, j);
      if (k->harmonic != NULL)
        SCL_TRY(harmonic_value(k, &value, error));
      else
        value = k->gaussian != NULL ? gaussian_value(k) : threshold_value(k);
      if (isnan(value))
        return scl_fail(error, SCL_UNSUPPORTED, "nonlinearity.%s has no closed form for rows of this sampler's law",
                        scl_instance_name(k->map->phi));
      scl_matrix_set(out, i, r, value);
    }
  }
  return SCL_OK;
}

scl_status scl_map_induced(const scl_map *map, const scl_matrix *x, const scl_matrix *y, scl_matrix *out, scl_error *error) {
  if (map->kernel != NULL)
    return scl_fail(error, SCL_UNSUPPORTED,
                    "the induced kernel belongs to random features without K; with K there are :expectation and :gram");
  scl_law_set law = {0};
  SCL_TRY(scl_law_create(map->sampler, map->dim, &law, error));
  pair_kernel k = {.map = map,
                   .harmonic = scl_instance_ability(map->phi, SCL_ABILITY_HARMONIC),
                   .characteristic = scl_instance_ability(map->sampler, SCL_ABILITY_CHARACTERISTIC),
                   .gaussian = scl_instance_ability(map->phi, SCL_ABILITY_GAUSSIAN_DUAL),
                   .threshold = scl_instance_ability(map->phi, SCL_ABILITY_THRESHOLD_DUAL),
                   .distribution = scl_instance_ability(map->sampler, SCL_ABILITY_DISTRIBUTION),
                   .law = &law.law};
  scl_status status = choose_way(&k)
                          ? SCL_OK
                          : scl_fail(error, SCL_UNSUPPORTED, "no closed form is declared for the kernel of nonlinearity.%s on sampler.%s",
                                     scl_instance_name(map->phi), scl_instance_name(map->sampler));
  double *memory = status == SCL_OK ? scl_allocate_array(3 * map->dim + 1, sizeof *memory) : NULL;
  if (status == SCL_OK && memory == NULL) status = scl_fail_memory(error, 3 * map->dim * sizeof *memory, "rows");
  if (status == SCL_OK) {
    k.x = memory;
    k.y = memory + map->dim;
    k.delta = memory + 2 * map->dim;
    status = scl_matrix_create(x->rows, y->rows, SCL_F64, out, error);
    if (status == SCL_OK && (status = fill(&k, x, y, out, error)) != SCL_OK) scl_matrix_release(out);
  }
  scl_release(memory);
  scl_law_release(&law);
  return status;
}
