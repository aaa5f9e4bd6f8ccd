/* The kernel that a map without K estimates, in closed form where its parts declare enough; the
 * first of these that holds:
 *   cells          P(x and y share a cell), a function of x - y
 *   harmonic       amplitude * E exp(i <w, x - y>): any sampler with a characteristic function,
 *                  the phase uniform over a period or none
 *   normal pairs   E phi(a) phi(b), (a, b) = (<w, x> + b, <w, y> + b) normal: Gaussian rows;
 *                  for a scale-free phi also scale mixtures of
 *                  them (student, spherical), which have the same signs
 *   supports       the mean over in-degrees and supports of normal pairs,
 *                  or of the 2^s signs of rademacher rows, where they are few
 *   thresholds     mean over columns of the threshold dual of F(x_i), F(y_i)
 * A bias that is not normal: integrated by quadrature over smooth duals, or by the threshold dual
 * (t = -b) where the pair is discrete. */
#include "map/map_internal.h"

#include "base/pool.h"
#include "map/smoothing.h"
#include <math.h>
#include <stdatomic.h>
#include <string.h>

typedef enum way { NO_WAY, CELLS, HARMONIC, NORMAL_PAIRS, SUPPORTS, THRESHOLDS } way;

typedef double (*pair_dual)(const void *self, double mean_a, double mean_b, double var_a,
                            double var_b, double covariance);

enum { BIAS_NODES = 64, MOST_TERMS = 200000 };

typedef struct pair_kernel {
  const scl_map *map;
  const scl_law *law;
  way way;
  pair_dual dual;
  double amplitude;
  const scl_ability_characteristic *characteristic;
  const scl_ability_collision *collision;
  const scl_ability_threshold_dual *threshold;
  const scl_ability_distribution *distribution;
  double node[BIAS_NODES], weight[BIAS_NODES]; /* of a uniform bias on [-1, 1] */
} pair_kernel;

/* ---------------------------------------------------------------- one pair of rows */

/* What (<w, x>, <w, y>) is like. */
typedef struct moments {
  double mean_x, mean_y, var_x, var_y, covariance;
} moments;

static void add_column(moments *m, double mean, double scale, double x, double y) {
  m->mean_x += mean * x;
  m->mean_y += mean * y;
  m->var_x += scale * scale * x * x;
  m->var_y += scale * scale * y * y;
  m->covariance += scale * scale * x * y;
}

static double threshold_distribution(const scl_law *law, double z) {
  if (law->bias == SCL_BIAS_GAUSSIAN)
    return 0.5 * erfc(-(z + law->bias_a) / (law->bias_b * sqrt(2)));
  const double p =
      (z + law->bias_b) / (law->bias_b - law->bias_a); /* t = -b is uniform on [-bias_b, -bias_a] */
  return p < 0 ? 0 : p > 1 ? 1 : p;
}

/* E over the bias too. */
static double with_bias(const pair_kernel *k, const moments *m) {
  const scl_law *law = k->law;
  const void *self = k->map->phi->self;
  const bool fixed = m->var_x == 0 && m->var_y == 0; /* nothing random but the bias */
  if (fixed && law->bias != SCL_BIAS_NONE && k->threshold != NULL)
    return k->threshold->dual(self, threshold_distribution(law, m->mean_x),
                              threshold_distribution(law, m->mean_y));
  if (law->bias == SCL_BIAS_NONE)
    return k->dual(self, m->mean_x, m->mean_y, m->var_x, m->var_y, m->covariance);
  const double a = law->bias_a, b = law->bias_b;
  if (law->bias == SCL_BIAS_GAUSSIAN)
    return k->dual(self, m->mean_x + a, m->mean_y + a, m->var_x + b * b, m->var_y + b * b,
                   m->covariance + b * b);
  double sum = 0;
  for (size_t i = 0; i < BIAS_NODES; i++) {
    const double bias = (a + b + (b - a) * k->node[i]) / 2;
    sum += k->weight[i] / 2 *
           k->dual(self, m->mean_x + bias, m->mean_y + bias, m->var_x, m->var_y, m->covariance);
  }
  return sum;
}

static double normal_pairs(const pair_kernel *k, const double *x, const double *y) {
  moments m = {0};
  for (size_t j = 0; j < k->law->dim; j++)
    add_column(&m, k->law->mean[j], k->law->scale[j], x[j], y[j]);
  return with_bias(k, &m);
}

/* One support: normal weights, or the mean over all signs (the first one fixed where there is no
 * bias to tell w from -w apart: not used, for phi need not be even). */
static double one_support(const pair_kernel *k, const size_t *column, size_t degree,
                          const double *x, const double *y) {
  const scl_law *law = k->law;
  const double factor = law->space == SCL_SPACE_SPARSE ? law->degree_scale[degree] : 1;
  if (law->family == SCL_FAMILY_GAUSSIAN) {
    moments m = {0};
    for (size_t i = 0; i < degree; i++)
      add_column(&m, law->mean[column[i]], law->scale[column[i]] * factor, x[column[i]],
                 y[column[i]]);
    return with_bias(k, &m);
  }
  double sum = 0;
  for (size_t signs = 0; signs < (size_t)1 << degree; signs++) {
    moments m = {0};
    for (size_t i = 0; i < degree; i++) {
      const double w =
          law->mean[column[i]] + law->scale[column[i]] * factor * (signs >> i & 1 ? 1 : -1);
      add_column(&m, w, 0, x[column[i]], y[column[i]]);
    }
    sum += with_bias(k, &m);
  }
  return sum / (double)((size_t)1 << degree);
}

/* The next of the supports of `degree` out of dim columns in lexicographic order; false after the
 * last. */
static bool next_support(size_t *column, size_t degree, size_t dim) {
  for (size_t i = degree; i-- > 0;) {
    if (column[i] == dim - degree + i) continue;
    column[i]++;
    for (size_t j = i + 1; j < degree; j++)
      column[j] = column[j - 1] + 1;
    return true;
  }
  return false;
}

static double mean_over_supports(const pair_kernel *k, const double *x, const double *y,
                                 size_t *column) {
  const scl_law *law = k->law;
  const bool dense = law->space != SCL_SPACE_SPARSE;
  double total = 0;
  for (size_t s = dense ? law->dim : 0; s <= (dense ? law->dim : law->max_degree); s++) {
    const double probability = dense ? 1 : law->degree[s];
    double sum = 0, count = 0;
    if (!(probability > 0)) continue;
    for (size_t i = 0; i < s; i++)
      column[i] = i;
    do {
      sum += one_support(k, column, s, x, y);
      count++;
    } while (next_support(column, s, law->dim));
    total += probability * sum / count;
  }
  return total;
}

static double thresholds(const pair_kernel *k, const double *x, const double *y) {
  double sum = 0;
  for (size_t j = 0; j < k->map->dim; j++) {
    const double at_x = k->distribution->distribution(k->map->sampler->self, j, x[j]);
    const double at_y = k->distribution->distribution(k->map->sampler->self, j, y[j]);
    sum += k->threshold->dual(k->map->phi->self, at_x, at_y);
  }
  return sum / (double)k->map->dim;
}

static scl_status of_difference(const pair_kernel *k, const double *x, const double *y,
                                double *delta, double *value, scl_error *error) {
  const size_t d = k->map->dim;
  const void *self = k->map->sampler->self;
  for (size_t j = 0; j < d; j++)
    delta[j] = x[j] - y[j];
  const scl_status status =
      k->way == CELLS
          ? k->collision->collision(self, 1, d, delta, (ptrdiff_t)d, value, error)
          : k->characteristic->characteristic(self, 1, d, delta, (ptrdiff_t)d, value, error);
  *value *= k->amplitude;
  return scl_instance_prefix(k->map->sampler, status, error);
}

static scl_status pair_value(const pair_kernel *k, const double *x, const double *y, double *delta,
                             size_t *column, double *value, scl_error *error) {
  if (k->way == CELLS || k->way == HARMONIC) return of_difference(k, x, y, delta, value, error);
  *value = k->way == NORMAL_PAIRS ? normal_pairs(k, x, y)
           : k->way == SUPPORTS   ? mean_over_supports(k, x, y, column)
                                  : thresholds(k, x, y);
  if (!isnan(*value)) return SCL_STATUS_OK;
  return scl_fail(
      error, SCL_STATUS_UNSUPPORTED,
      "no closed form is declared for the kernel of nonlinearity.%s on rows of sampler.%s's law",
      scl_instance_name(k->map->phi), scl_instance_name(k->map->sampler));
}

/* ---------------------------------------------------------------- which way */

static bool whole_period(const scl_law *law) {
  const double turns = (law->bias_b - law->bias_a) / (2 * 3.14159265358979323846);
  return law->bias == SCL_BIAS_UNIFORM && turns > 0.5 && fabs(turns - round(turns)) < 1e-9;
}

/* Terms of the mean over supports (and signs): infinity where it would take for ever. */
static double terms(const scl_law *law) {
  const bool dense = law->space != SCL_SPACE_SPARSE;
  const double signs = law->family == SCL_FAMILY_RADEMACHER ? 2 : 1;
  double sum = 0, choose = 1;
  if (dense) return pow(signs, (double)law->dim);
  for (size_t s = 0; s <= law->max_degree && s <= law->dim; s++) {
    if (law->degree[s] > 0) sum += choose * pow(signs, (double)s);
    choose *= (double)(law->dim - s) / (double)(s + 1);
  }
  return sum;
}

static bool is_scale_free(const scl_map *map) {
  const scl_ability_facts *ability = scl_instance_ability(map->phi, SCL_ABILITY_FACTS);
  scl_facts facts = {0};
  if (ability != NULL) ability->facts(map->phi->self, &facts);
  return facts.scale_free != 0;
}

/* Neighbouring rows of a pool must be independent for a dual of several scalars. */
static bool independent_rows(const scl_map *map) {
  return map->fan_in == 1 || map->pool == NULL || map->layout.block == 1;
}

static way choose_way(const pair_kernel *k, bool harmonic) {
  const scl_law *law = k->law;
  const scl_space space = k->map->layout.space;
  const bool phase = k->map->shape.needs_phase != 0, own_bias = law->bias != SCL_BIAS_NONE;
  if (k->map->shape.one_hot) return k->collision != NULL ? CELLS : NO_WAY;
  if (space == SCL_SPACE_THRESHOLD)
    return k->threshold != NULL && k->distribution != NULL ? THRESHOLDS : NO_WAY;
  if (harmonic && k->characteristic != NULL && (!phase || !own_bias || whole_period(law)))
    return HARMONIC;
  if (k->dual == NULL || phase || !independent_rows(k->map)) return NO_WAY;
  const bool several =
      k->map->fan_in > 1; /* each scalar has a support, signs and a bias of its own */
  if (several && (law->family != SCL_FAMILY_GAUSSIAN || law->bias == SCL_BIAS_UNIFORM ||
                  space == SCL_SPACE_SPARSE))
    return NO_WAY;
  const bool mixture = (law->family == SCL_FAMILY_STUDENT || law->family == SCL_FAMILY_SPHERICAL) &&
                       !own_bias && is_scale_free(k->map);
  if (space != SCL_SPACE_SPARSE && (law->family == SCL_FAMILY_GAUSSIAN || mixture))
    return NORMAL_PAIRS;
  const bool discrete = law->family == SCL_FAMILY_RADEMACHER &&
                        (law->bias != SCL_BIAS_UNIFORM || k->threshold != NULL);
  if ((space == SCL_SPACE_SPARSE && law->family == SCL_FAMILY_GAUSSIAN) || discrete)
    return terms(law) <= MOST_TERMS ? SUPPORTS : NO_WAY;
  return NO_WAY;
}

/* ---------------------------------------------------------------- rows whose squares leave the
 * range of double */

/* Without a bias phi(c z) = phi(z) makes rows as good as those scaled by a power of two, and those
 * have squares. */
static void rescale_rows(scl_matrix *rows) {
  for (size_t i = 0; i < rows->rows; i++) {
    double *row = scl_matrix_row(rows, i), largest = 0;
    int exponent;
    for (size_t j = 0; j < rows->cols; j++)
      largest = fmax(largest, fabs(row[j]));
    frexp(largest, &exponent);
    for (size_t j = 0; j < rows->cols; j++)
      row[j] = ldexp(row[j], -exponent);
  }
}

static scl_status check_rows(const scl_law *law, const char *name, const scl_matrix *rows,
                             scl_error *error) {
  for (size_t i = 0; i < rows->rows; i++) {
    const double *row = scl_matrix_row(rows, i);
    moments m = {0};
    for (size_t j = 0; j < rows->cols; j++)
      add_column(&m, law->mean[j], law->scale[j], row[j], row[j]);
    if (!isfinite(m.var_x) || !isfinite(m.mean_x))
      return scl_fail(error, SCL_STATUS_NUMERIC,
                      "the variance of <w, x> is too large for double precision at row %zu of %s: "
                      "scale the data",
                      i + 1, name);
  }
  return SCL_STATUS_OK;
}

/* Duals take variances: rows that have none are scaled where that changes nothing, and refused
 * elsewhere. */
static scl_status mend_rows(const pair_kernel *k, scl_matrix *x, scl_matrix *y, scl_error *error) {
  if (k->way != NORMAL_PAIRS && k->way != SUPPORTS) return SCL_STATUS_OK;
  if (k->law->bias == SCL_BIAS_NONE && is_scale_free(k->map)) {
    rescale_rows(x);
    rescale_rows(y);
    return SCL_STATUS_OK;
  }
  SCL_TRY(check_rows(k->law, "X", x, error));
  return check_rows(k->law, "Y", y, error);
}

/* ---------------------------------------------------------------- all pairs, rows on the pool's
 * threads */

typedef struct filling {
  const pair_kernel *kernel;
  const double *x, *y; /* rows x dim, packed */
  size_t n;
  scl_matrix *out;
  atomic_flag failed;
  scl_status status;
  scl_error error;
} filling;

static void fill_row(void *context, size_t i) {
  filling *job = context;
  const size_t d = job->kernel->map->dim;
  scl_error error = {0};
  double *delta = scl_allocate_array(2 * d + 2, sizeof *delta);
  size_t *column = (size_t *)(void *)(delta + d + 1);
  scl_status status = delta == NULL
                          ? scl_fail_memory(&error, 2 * d * sizeof *delta, "a pair of rows")
                          : SCL_STATUS_OK;
  for (size_t j = 0; status == SCL_STATUS_OK && j < job->n; j++)
    status = pair_value(job->kernel, job->x + i * d, job->y + j * d, delta, column,
                        &scl_matrix_row(job->out, i)[j], &error);
  scl_release(delta);
  if (status == SCL_STATUS_OK || atomic_flag_test_and_set(&job->failed)) return;
  job->status = status;
  job->error = error;
}

static scl_status fill(const pair_kernel *k, const scl_matrix *x, const scl_matrix *y,
                       scl_matrix *out, scl_error *error) {
  scl_matrix from_x, from_y = {0};
  SCL_TRY(scl_matrix_copy(x, SCL_DTYPE_FLOAT64, &from_x, error));
  scl_status status = scl_matrix_copy(y, SCL_DTYPE_FLOAT64, &from_y, error);
  if (status == SCL_STATUS_OK &&
      (status = mend_rows(k, &from_x, &from_y, error)) == SCL_STATUS_OK) {
    filling job = {.kernel = k,
                   .x = from_x.data,
                   .y = from_y.data,
                   .n = y->rows,
                   .out = out,
                   .failed = ATOMIC_FLAG_INIT};
    scl_pool_run(x->rows, fill_row, &job);
    status = job.status;
    if (status != SCL_STATUS_OK && error != NULL) *error = job.error;
  }
  scl_matrix_release(&from_y);
  scl_matrix_release(&from_x);
  return status;
}

static scl_status evaluate(pair_kernel *k, bool harmonic, const char *what, const scl_matrix *x,
                           const scl_matrix *y, scl_matrix *out, scl_error *error) {
  const scl_map *map = k->map;
  scl_law_set law = {
      .law = {.dim = map->dim, .space = map->layout.space, .family = SCL_FAMILY_OTHER}};
  const bool told = scl_instance_ability(map->sampler, SCL_ABILITY_LAW) != NULL;
  if (told) SCL_TRY(scl_law_create(map->sampler, map->dim, &law, error));
  k->law = &law.law;
  k->characteristic = scl_instance_ability(map->sampler, SCL_ABILITY_CHARACTERISTIC);
  k->collision = scl_instance_ability(map->sampler, SCL_ABILITY_COLLISION);
  k->distribution = scl_instance_ability(map->sampler, SCL_ABILITY_DISTRIBUTION);
  scl_gauss_legendre(BIAS_NODES, k->node, k->weight);
  k->way = choose_way(k, harmonic);
  scl_status status = SCL_STATUS_OK;
  if (k->way == NO_WAY)
    status = scl_fail(error, SCL_STATUS_UNSUPPORTED,
                      "no closed form is declared for %s of nonlinearity.%s on sampler.%s", what,
                      scl_instance_name(map->phi), scl_instance_name(map->sampler));
  if (status == SCL_STATUS_OK)
    status = scl_matrix_create(x->rows, y->rows, SCL_DTYPE_FLOAT64, out, error);
  if (status == SCL_STATUS_OK && (status = fill(k, x, y, out, error)) != SCL_STATUS_OK)
    scl_matrix_release(out);
  scl_law_release(&law);
  return status;
}

scl_status scl_map_induced(const scl_map *map, const scl_matrix *x, const scl_matrix *y,
                           scl_matrix *out, scl_error *error) {
  if (map->kernel != NULL)
    return scl_fail(error, SCL_STATUS_UNSUPPORTED,
                    "the induced kernel belongs to random features without K; with K there are "
                    ":expectation and :gram");
  const scl_ability_gaussian_dual *dual = scl_instance_ability(map->phi, SCL_ABILITY_GAUSSIAN_DUAL);
  const scl_ability_harmonic *harmonic = scl_instance_ability(map->phi, SCL_ABILITY_HARMONIC);
  pair_kernel k = {.map = map,
                   .dual = dual == NULL ? NULL : dual->dual,
                   .threshold = scl_instance_ability(map->phi, SCL_ABILITY_THRESHOLD_DUAL),
                   .amplitude = harmonic == NULL ? 1 : harmonic->amplitude(map->phi->self)};
  return evaluate(&k, harmonic != NULL, "the kernel", x, y, out, error);
}

scl_status scl_map_collision(const scl_map *map, const scl_matrix *x, const scl_matrix *y,
                             scl_matrix *out, scl_error *error) {
  const scl_ability_code_dual *dual = scl_instance_ability(map->phi, SCL_ABILITY_CODE_DUAL);
  if (map->kernel != NULL || dual == NULL)
    return scl_fail(error, SCL_STATUS_UNSUPPORTED,
                    "no closed form is declared for the agreement of codes of nonlinearity.%s",
                    scl_instance_name(map->phi));
  pair_kernel k = {.map = map, .dual = dual->collision, .amplitude = 1};
  return evaluate(&k, false, "the agreement of codes", x, y, out, error);
}
