/* kappa = sup_x sqrt(E K(w,w) phi(w,x)^2) and theta = sup_x sqrt(E E K(u,w) phi(u,x) phi(w,x)), on
 * which the guarantees rest (Dube and Marchand 2023, who bound theta by sup |phi| sqrt(E E K); with
 * the joint law of (u, w) under K p p, which is Gaussian where there is a tilt, it is exact and
 * several times smaller). Over x that are not 0. */
#include "map/map_internal.h"
#include <math.h>
#include <string.h>

/* E phi(a) phi(b), where (a, b) are normal with mean 0, standard deviations r = min(e^u, most) and
 * correlation rho. NaN if the nonlinearity has no dual for these moments. */
static double dual_at(const scl_map *map, double rho, double u, double most, scl_error *error) {
  const double size = fmin(exp(u), most), square = size * size;
  const scl_moments m = {0, 0, square, square, rho * square};
  return scl_nonlinearity_dual(map->phi, &m, error);
}

/* The supremum of dual_at over r up to `most`: the largest value on a grid of u = -10 to 10 in
 * steps of 0.05, improved by ternary search between the grid's neighbours of that point. A
 * scale-free phi has the same value for every r. */
static double largest_dual(const scl_map *map, double rho, double most, bool scale_free,
                           scl_error *error) {
  double place = fmin(0, log(most)), best = dual_at(map, rho, place, most, error);
  if (scale_free || isnan(best)) return best;
  for (int step = -200; step <= 200; step++) {
    const double value = dual_at(map, rho, step * 0.05, most, error);
    if (value > best) best = value, place = step * 0.05;
  }
  double low = place - 0.05, high = place + 0.05;
  for (int step = 0; step < 40; step++) {
    const double left = low + (high - low) / 3, right = high - (high - low) / 3,
                 a = dual_at(map, rho, left, most, error),
                 b = dual_at(map, rho, right, most, error);
    best = fmax(best, fmax(a, b));
    if (a < b)
      low = left;
    else
      high = right;
  }
  return best;
}

/* log(exp(a) + exp(b)), also where one of them is -infinity. */
static double log_sum(double a, double b) {
  const double high = fmax(a, b);
  return isinf(high) && high < 0 ? high : high + log(exp(a - high) + exp(b - high));
}

/* With tilts: log E K(w, w) and log E E K(u, w). Sparse parameters of different in-degrees have K =
 * 0, so that both are sums over in-degrees; K of several scalars is a product, with equal
 * factors. */
static void tilted_masses(const scl_map *map, double *log_diagonal, double *log_mass) {
  *log_diagonal = *log_mass = -INFINITY;
  for (size_t i = 0; i < map->n_tilts; i++) {
    const scl_tilt_set *set = &map->tilts[i];
    if (set->memory == NULL) continue;
    *log_diagonal = log_sum(*log_diagonal, set->log_degree + set->tilt.log_diagonal);
    *log_mass = log_sum(*log_mass, 2 * set->log_degree + set->tilt.log_mass);
  }
  *log_diagonal *= (double)map->fan_in;
  *log_mass *= (double)map->fan_in;
}

/* Without a tilt: the logs of E K(w, w) and E E |K(u, w)|, estimated from samples with three
 * standard errors added, so that they are upper bounds with high probability. */
static scl_status simulate_masses(const scl_map *map, double *log_diagonal, double *log_mass,
                                  scl_error *error) {
  enum { SAMPLES = 512 };
  scl_parameter_set u = {0}, v = {0};
  double *k = scl_allocate_array(SAMPLES * SAMPLES, sizeof *k), mass = 0, square = 0, diagonal = 0,
         diagonal_square = 0;
  scl_status status =
      k == NULL ? scl_fail_memory(error, SAMPLES * SAMPLES * sizeof *k, "K between samples")
                : SCL_STATUS_OK;
  if (status == SCL_STATUS_OK) status = scl_map_draw_samples(map, map->seed, 0, SAMPLES, &u, error);
  if (status == SCL_STATUS_OK)
    status = scl_map_draw_samples(map, map->seed + 1, 0, SAMPLES, &v, error);
  if (status == SCL_STATUS_OK)
    status =
        scl_map_gram_between(map, &u, SAMPLES, "sample", &v, SAMPLES, "sample", k, SAMPLES, error);
  for (size_t i = 0; status == SCL_STATUS_OK && i < SAMPLES; i++) {
    double row = 0; /* rows share their u: the standard error is that of the row means */
    for (size_t j = 0; j < SAMPLES; j++)
      row += fabs(k[i * SAMPLES + j]) / SAMPLES;
    mass += row / SAMPLES;
    square += row * row / SAMPLES;
  }
  if (status == SCL_STATUS_OK)
    status =
        scl_map_gram_between(map, &u, SAMPLES, "sample", &u, SAMPLES, "sample", k, SAMPLES, error);
  for (size_t i = 0; status == SCL_STATUS_OK && i < SAMPLES; i++) {
    const double value = k[i * SAMPLES + i];
    diagonal += value / SAMPLES;
    diagonal_square += value * value / SAMPLES;
  }
  const double spread = sqrt(fmax(square - mass * mass, 0) / SAMPLES),
               wide = sqrt(fmax(diagonal_square - diagonal * diagonal, 0) / SAMPLES);
  *log_mass = log(mass + 3 * spread * SCL_SQRT2);
  *log_diagonal = log(diagonal + 3 * wide);
  if (status == SCL_STATUS_OK && !(*log_mass < INFINITY && *log_diagonal < INFINITY))
    status =
        scl_fail(error, SCL_STATUS_NUMERIC,
                 "kernel.%s: the mean of K over %d samples, or of its square, is not finite: K "
                 "is too large for the sampler's law",
                 scl_instance_name(map->kernel), (int)SAMPLES);
  scl_parameters_release(&u);
  scl_parameters_release(&v);
  scl_release(k);
  return status;
}

/* The joint law of (u, w) under K p p, which is normal for a tilt of dense parameters with mean
 * 0, and the law p of w alone. Over x of norm r, <w, x> has the largest deviation along the column
 * of the largest scale. */
typedef struct joint {
  double correlation, pair_scale, scale; /* the largest over columns */
  bool usable;                           /* whether the bound by duals holds */
} joint;

/* The joint law from the tilt of the map; not usable for other maps, and if the mean of a column is
 * not 0. */
static joint joint_law(const scl_map *map) {
  joint out = {0, 0, 0,
               map->n_tilts == 1 && map->fan_in == 1 && map->space->seen == SCL_SPACE_DENSE};
  for (size_t j = 0; out.usable && j < map->dim; j++) {
    out.correlation = fmax(out.correlation, map->tilts->tilt.correlation[j]);
    out.pair_scale = fmax(out.pair_scale, map->tilts->tilt.pair_scale[j]);
    out.scale = fmax(out.scale, map->law.law.scale[j]);
    out.usable = map->law.law.mean[j] == 0;
  }
  return out;
}

/* Parameters (w, b) with a phase b are compared by 2 cos(b - b') K(w, w') (map_kernel.c), whose
 * means over phases are E 2 phi(z + b)^2 = 2 A for kappa^2, and for theta^2
 *
 *   E 2 cos(b - b') phi(z + b) phi(z' + b') = A cos(z - z')
 *
 * with the amplitude A of phi; z - z' goes to 0 with x, but not for thresholds. The paper's bound
 * has E |2 cos(b - b')| = 4/pi. */
static scl_constants phase_constants(const scl_map *map, double diagonal, double mass) {
  double amplitude = 1;
  (void)scl_nonlinearity_harmonic(map->phi, &amplitude);
  return (scl_constants){.kappa = sqrt(2 * amplitude) * diagonal,
                         .theta = sqrt(amplitude) * mass,
                         .theta_paper = sqrt(2 * amplitude * 4 / SCL_PI) * mass,
                         .kappa_exact = true,
                         .theta_exact = !map->space->by_threshold};
}

scl_status scl_map_constants(const scl_map *map, double radius, scl_constants *out,
                             scl_error *error) {
  double log_diagonal, log_mass;
  scl_error failure = {0};
  if (map->kernel == NULL || scl_map_is_section(map))
    return scl_fail(error, SCL_STATUS_UNSUPPORTED,
                    "kappa and theta belong to an instantiation with K; this one has none");
  const scl_ability_facts facts = scl_nonlinearity_facts(map->phi);
  if (map->tilts == NULL) {
    SCL_TRY(simulate_masses(map, &log_diagonal, &log_mass, error));
    *out = (scl_constants){facts.bound * exp(log_diagonal / 2), facts.bound * exp(log_mass / 2),
                           facts.bound * exp(log_mass / 2), false, false};
    return SCL_STATUS_OK;
  }
  tilted_masses(map, &log_diagonal, &log_mass);
  if (map->phase) {
    *out = phase_constants(map, exp(log_diagonal / 2), exp(log_mass / 2));
    return SCL_STATUS_OK;
  }
  const double mass = exp(log_mass / 2), diagonal = exp(log_diagonal / 2);
  *out = (scl_constants){.kappa = facts.bound * diagonal,
                         .theta = facts.bound * mass,
                         .theta_paper = facts.bound * mass};
  /* Thresholds: far out, a scale-free phi takes its bound for every threshold, so the bounds are
   * attained. */
  const bool far_out =
      map->space->spread == SCL_SPREAD_PARAMETER && facts.scale_free && isfinite(facts.bound);
  out->theta_exact = out->kappa_exact = far_out || (isinf(facts.bound) && isinf(radius));
  const joint pair = joint_law(map);
  if (!pair.usable || far_out || (isinf(facts.bound) && isinf(radius))) return SCL_STATUS_OK;
  const double most = pair.pair_scale * radius, alone = pair.scale * radius;
  const double theta = largest_dual(map, pair.correlation, most, facts.scale_free != 0, &failure);
  const double kappa = log_diagonal == 0 || facts.scale_free
                           ? largest_dual(map, 1, alone, facts.scale_free != 0, &failure)
                           : NAN;
  if (failure.status != SCL_STATUS_OK)
    return scl_fail(error, failure.status, "%s", failure.message);
  if (!isnan(theta)) out->theta = fmin(out->theta_paper, mass * sqrt(fmax(theta, 0)));
  if (!isnan(kappa)) out->kappa = fmin(out->kappa, diagonal * sqrt(fmax(kappa, 0)));
  out->theta_exact = !isnan(theta);
  out->kappa_exact = !isnan(kappa);
  return SCL_STATUS_OK;
}

bool scl_map_of_one_size(const scl_map *map) {
  if (scl_map_part_count(scl_map_base(map)) > 0) return false;
  const scl_instance *phi = scl_map_base(map)->phi;
  return phi == NULL || scl_instance_kind(phi) != SCL_KIND_NONLINEARITY ||
         isfinite(scl_nonlinearity_facts(phi).bound);
}
