/* The kernel that a map without K estimates, in closed form where its parts declare enough; the
 * first of these that holds:
 *   sections       k itself: what the Nystrom method approximates
 *   cells          P(x and y share a cell), a function of x - y
 *   harmonic       amplitude * E exp(i <w, x - y>): any sampler with a characteristic function,
 *                  the phase uniform over a period or none
 *   normal pairs   E phi(a) phi(b), (a, b) = (<w, x> + b, <w, y> + b) normal: Gaussian rows;
 *                  for a scale-free phi also scale mixtures of
 *                  them (student, spherical), which have the same signs
 *   supports       the mean over in-degrees and supports of normal pairs,
 *                  or of the 2^s signs of rademacher rows, where they are few
 *   thresholds     mean over columns of the threshold dual of F(x_i), F(y_i)
 *   named          a kernel component that the sampler or the nonlinearity names for the pair
 * A bias that is not normal: integrated by quadrature over smooth duals, or by the threshold dual
 * (t = -b) where the pair is discrete. */
#include "map/kinds.h"

#include "base/pool.h"
#include "map/smoothing.h"
#include "plugin/kernel.h"
#include <math.h>
#include <string.h>

typedef enum way { NO_WAY, CELLS, HARMONIC, NORMAL_PAIRS, SUPPORTS, THRESHOLDS } way;

enum { BIAS_NODES = 64, MOST_TERMS = 200000 };

/* What the kernel of a pair of rows is computed from. */
typedef struct pair_kernel {
  const scl_map *map;
  const scl_instance *phi, *sampler;
  const scl_law *law;
  scl_draw draw; /* as the sampler's abilities take it */
  way way;
  scl_dual dual; /* NULL: phi has none */
  double amplitude;
  double node[BIAS_NODES], weight[BIAS_NODES]; /* of a uniform bias on [-1, 1] */
  scl_error *error; /* of the row that is filled: the first failure of a slot */
} pair_kernel;

/* ------------ one pair of rows */

/* Moments of a = <w, x> and b = <w, y>: add one column, whose weight has this mean and standard
 * deviation. Columns are independent. */
static void add_column(scl_moments *m, double mean, double scale, double x, double y) {
  m->mean_a += mean * x;
  m->mean_b += mean * y;
  m->var_a += scale * scale * x * x;
  m->var_b += scale * scale * y * y;
  m->covariance += scale * scale * x * y;
}

/* P(t < z) of the threshold t = -bias: normal or uniform. */
static double threshold_distribution(const scl_law *law, double z) {
  if (law->bias == SCL_BIAS_GAUSSIAN)
    return 0.5 * erfc(-(z + law->bias_a) / (law->bias_b * SCL_SQRT2));
  const double p =
      (z + law->bias_b) / (law->bias_b - law->bias_a); /* t = -b is uniform on [-bias_b, -bias_a] */
  return p < 0 ? 0 : p > 1 ? 1 : p;
}

/* Moments of (a + b0, b + b0), for a normal b0 independent of both. */
static scl_moments shifted(const scl_moments *m, double mean, double variance) {
  return (scl_moments){m->mean_a + mean, m->mean_b + mean, m->var_a + variance, m->var_b + variance,
                       m->covariance + variance};
}

/* E phi(a + bias) phi(b + bias) for normal (a, b) with moments m. A uniform bias is integrated by
 * Gauss-Legendre nodes. */
static double with_bias(const pair_kernel *k, const scl_moments *m) {
  const scl_law *law = k->law;
  const bool fixed = m->var_a == 0 && m->var_b == 0; /* nothing random but the bias */
  if (fixed && law->bias != SCL_BIAS_NONE && scl_instance_has(k->phi, SCL_ABILITY_THRESHOLD_DUAL))
    return scl_nonlinearity_threshold_dual(k->phi, threshold_distribution(law, m->mean_a),
                                           threshold_distribution(law, m->mean_b), k->error);
  if (law->bias == SCL_BIAS_NONE) return k->dual(k->phi, m, k->error);
  const double a = law->bias_a, b = law->bias_b;
  if (law->bias == SCL_BIAS_GAUSSIAN) {
    const scl_moments all = shifted(m, a, b * b);
    return k->dual(k->phi, &all, k->error);
  }
  double sum = 0;
  for (size_t i = 0; i < BIAS_NODES; i++) {
    const scl_moments at = shifted(m, (a + b + (b - a) * k->node[i]) / 2, 0);
    sum += k->weight[i] / 2 * k->dual(k->phi, &at, k->error);
  }
  return sum;
}

/* E phi(<w, x> + bias) phi(<w, y> + bias) for dense Gaussian rows w. */
static double normal_pairs(const pair_kernel *k, const double *x, const double *y) {
  scl_moments m = {0};
  for (size_t j = 0; j < k->law->dim; j++)
    add_column(&m, k->law->mean[j], k->law->scale[j], x[j], y[j]);
  return with_bias(k, &m);
}

/* The kernel of weights on one support: normal weights, or the mean over the 2^degree signs of
 * rademacher weights. All signs are needed, because phi need not be even. */
static double one_support(const pair_kernel *k, const size_t *column, size_t degree,
                          const double *x, const double *y) {
  const scl_law *law = k->law;
  const double factor = scl_space_of(law->space)->by_degree ? law->degree_scale[degree] : 1;
  if (law->family == SCL_FAMILY_GAUSSIAN) {
    scl_moments m = {0};
    for (size_t i = 0; i < degree; i++)
      add_column(&m, law->mean[column[i]], law->scale[column[i]] * factor, x[column[i]],
                 y[column[i]]);
    return with_bias(k, &m);
  }
  double sum = 0;
  for (size_t signs = 0; signs < (size_t)1 << degree; signs++) {
    scl_moments m = {0};
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

/* The mean over in-degrees and, for each, over all supports of that size with equal weight. Dense
 * rows have all columns as their one support. */
static double mean_over_supports(const pair_kernel *k, const double *x, const double *y,
                                 size_t *column) {
  const scl_law *law = k->law;
  const bool dense = !scl_space_of(law->space)->by_degree;
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

/* Thresholds: column j is drawn with probability 1/d, and the dual of phi takes the probabilities
 * that its threshold is below x_j and below y_j. */
static double mean_over_thresholds(const pair_kernel *k, const double *x, const double *y) {
  double sum = 0;
  for (size_t j = 0; j < k->draw.dim; j++) {
    const double at_x = scl_sampler_distribution(k->sampler, &k->draw, j, x[j], k->error),
                 at_y = scl_sampler_distribution(k->sampler, &k->draw, j, y[j], k->error);
    sum += scl_nonlinearity_threshold_dual(k->phi, at_x, at_y, k->error);
  }
  return sum / (double)k->draw.dim;
}

/* Kernels that depend only on x - y: the sampler's collision probability, or its characteristic
 * function, times the amplitude. delta (dim) is working memory. */
static scl_status of_difference(const pair_kernel *k, const double *x, const double *y,
                                double *delta, double *value, scl_error *error) {
  const size_t d = k->draw.dim;
  for (size_t j = 0; j < d; j++)
    delta[j] = x[j] - y[j];
  const scl_status status = (k->way == CELLS ? scl_sampler_collision : scl_sampler_characteristic)(
      k->sampler, &k->draw, 1, delta, (ptrdiff_t)d, value, error);
  *value *= k->amplitude;
  return status;
}

/* *value = the kernel of one pair of rows. delta (dim) and column (dim) are scratch. */
static scl_status pair_value(const pair_kernel *k, const double *x, const double *y, double *delta,
                             size_t *column, double *value, scl_error *error) {
  if (k->way == CELLS || k->way == HARMONIC) return of_difference(k, x, y, delta, value, error);
  *value = k->way == NORMAL_PAIRS ? normal_pairs(k, x, y)
           : k->way == SUPPORTS   ? mean_over_supports(k, x, y, column)
                                  : mean_over_thresholds(k, x, y);
  if (!isnan(*value) || error->status != SCL_STATUS_OK) return error->status;
  return scl_fail(
      error, SCL_STATUS_UNSUPPORTED,
      "no closed form is declared for the kernel of nonlinearity.%s on rows of sampler.%s's law",
      scl_instance_name(k->phi), scl_instance_name(k->sampler));
}

/* ------------ which way */

/* Whether the bias is uniform over whole periods of 2 pi, up to rounding. */
static bool whole_period(const scl_law *law) {
  const double turns = (law->bias_b - law->bias_a) / (2 * SCL_PI);
  return law->bias == SCL_BIAS_UNIFORM && turns > 0.5 && fabs(turns - round(turns)) < 1e-9;
}

/* The number of terms of the mean over supports and signs, in floating point: it may be huge. */
static double count_terms(const scl_law *law) {
  const bool dense = !scl_space_of(law->space)->by_degree;
  const double signs = law->family == SCL_FAMILY_RADEMACHER ? 2 : 1;
  double sum = 0, choose = 1;
  if (dense) return pow(signs, (double)law->dim);
  for (size_t s = 0; s <= law->max_degree && s <= law->dim; s++) {
    if (law->degree[s] > 0) sum += choose * pow(signs, (double)s);
    choose *= (double)(law->dim - s) / (double)(s + 1);
  }
  return sum;
}

static bool is_scale_free(const pair_kernel *k) {
  return scl_nonlinearity_facts(k->phi).scale_free != 0;
}

/* The first way of the list at the head of this file whose conditions hold. */
static way choose_way(const pair_kernel *k, bool harmonic) {
  const scl_law *law = k->law;
  const scl_space_rule *space = k->map->space;
  const bool phase = k->map->shape.flags & SCL_SHAPE_PHASE, own_bias = law->bias != SCL_BIAS_NONE;
  if (space->cells) return scl_instance_has(k->sampler, SCL_ABILITY_COLLISION) ? CELLS : NO_WAY;
  if (space->by_threshold)
    return scl_instance_has(k->phi, SCL_ABILITY_THRESHOLD_DUAL) &&
                   scl_instance_has(k->sampler, SCL_ABILITY_DISTRIBUTION)
               ? THRESHOLDS
               : NO_WAY;
  if (harmonic && scl_sampler_has_characteristic(k->sampler) &&
      (!phase || !own_bias || whole_period(law)))
    return HARMONIC;
  /* A dual of several scalars takes independent ones, which neighbouring rows of a pool are not. */
  const bool independent = k->map->fan_in == 1 || k->map->layout.block == 1 ||
                           !scl_instance_has(k->map->sampler, SCL_ABILITY_POOL);
  if (k->dual == NULL || phase || !independent) return NO_WAY;
  const bool several =
      k->map->fan_in > 1; /* each scalar has a support, signs and a bias of its own */
  if (several &&
      (law->family != SCL_FAMILY_GAUSSIAN || law->bias == SCL_BIAS_UNIFORM || space->by_degree))
    return NO_WAY;
  const bool mixture = (law->family == SCL_FAMILY_STUDENT || law->family == SCL_FAMILY_SPHERICAL) &&
                       !own_bias && is_scale_free(k);
  if (!space->by_degree && (law->family == SCL_FAMILY_GAUSSIAN || mixture)) return NORMAL_PAIRS;
  const bool discrete =
      law->family == SCL_FAMILY_RADEMACHER &&
      (law->bias != SCL_BIAS_UNIFORM || scl_instance_has(k->phi, SCL_ABILITY_THRESHOLD_DUAL));
  if ((space->by_degree && law->family == SCL_FAMILY_GAUSSIAN) || discrete)
    return count_terms(law) <= MOST_TERMS ? SUPPORTS : NO_WAY;
  return NO_WAY;
}

/* ------------ rows whose squares leave the range of double */

/* Scale each row by a power of two so that its largest entry is in [1/2, 1), and squares neither
 * overflow nor vanish. For a phi with phi(c z) = phi(z) and no bias this does not change the
 * kernel. */
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

/* Refuse rows for which <w, x> has no finite mean or variance. */
static scl_status check_variances(const scl_law *law, const char *name, const scl_matrix *rows,
                                  scl_error *error) {
  for (size_t i = 0; i < rows->rows; i++) {
    const double *row = scl_matrix_row(rows, i);
    scl_moments m = {0};
    for (size_t j = 0; j < rows->cols; j++)
      add_column(&m, law->mean[j], law->scale[j], row[j], row[j]);
    if (!isfinite(m.var_a) || !isfinite(m.mean_a))
      return scl_fail(error, SCL_STATUS_NUMERIC,
                      "the variance of <w, x> is too large for double precision at row %zu of %s: "
                      "scale the data",
                      i + 1, name);
  }
  return SCL_STATUS_OK;
}

/* Duals take variances, which overflow for rows of very large numbers. Such rows are rescaled if
 * that does not change the kernel, and refused otherwise. */
static scl_status bound_variances(const pair_kernel *k, scl_matrix *x, scl_matrix *y,
                                  scl_error *error) {
  if (k->way != NORMAL_PAIRS && k->way != SUPPORTS) return SCL_STATUS_OK;
  if (k->law->bias == SCL_BIAS_NONE && is_scale_free(k)) {
    rescale_rows(x);
    rescale_rows(y);
    return SCL_STATUS_OK;
  }
  SCL_TRY(check_variances(k->law, "X", x, error));
  return check_variances(k->law, "Y", y, error);
}

/* ------------ all pairs, rows on the pool's threads */

typedef struct filling {
  const pair_kernel *kernel;
  const double *x, *y; /* rows x dim, packed */
  size_t n;
  const scl_matrix *out;
} filling;

/* Task: row i of the result. */
static scl_status fill_row(void *context, size_t i, scl_error *error) {
  const filling *job = context;
  const size_t d = job->kernel->draw.dim;
  double *delta = scl_allocate_array(2 * d + 2, sizeof *delta);
  if (delta == NULL) return scl_fail_memory(error, 2 * d * sizeof *delta, "a pair of rows");
  size_t *column = (size_t *)(void *)(delta + d + 1);
  scl_status status = SCL_STATUS_OK;
  pair_kernel kernel = *job->kernel;
  kernel.error = error;
  for (size_t j = 0; status == SCL_STATUS_OK && j < job->n; j++)
    status = pair_value(&kernel, job->x + i * d, job->y + j * d, delta, column,
                        &scl_matrix_row(job->out, i)[j], error);
  scl_release(delta);
  return status;
}

/* *out, made here, = the kernel of all pairs of rows, one task for each row of x. */
static scl_status by_pairs(const pair_kernel *k, const scl_matrix *x, const scl_matrix *y,
                           scl_matrix *out, scl_error *error) {
  scl_matrix from_x, from_y = {0};
  SCL_TRY(scl_matrix_copy(x, SCL_DTYPE_FLOAT64, &from_x, error));
  scl_status status = scl_matrix_copy(y, SCL_DTYPE_FLOAT64, &from_y, error);
  if (status == SCL_STATUS_OK) status = bound_variances(k, &from_x, &from_y, error);
  if (status == SCL_STATUS_OK)
    status = scl_matrix_create(x->rows, y->rows, SCL_DTYPE_FLOAT64, out, error);
  if (status == SCL_STATUS_OK) {
    filling job = {k, from_x.data, from_y.data, y->rows, out};
    status = scl_pool_try(x->rows, fill_row, &job, error);
    if (status != SCL_STATUS_OK) scl_matrix_release(out);
  }
  scl_matrix_release(&from_y);
  scl_matrix_release(&from_x);
  return status;
}

/* ------------ a kernel that a part names */

/* The kernel component that the sampler, or else the nonlinearity, names for the pair. *out stays
 * NULL if neither names one. */
static scl_status named_kernel(const scl_map *map, scl_instance **out, scl_error *error) {
  char text[240];
  const scl_instance *from = map->sampler;
  SCL_TRY(scl_component_pair_kernel(from, map->phi, text, sizeof text, error));
  if (text[0] == 0) {
    from = map->phi;
    SCL_TRY(scl_component_pair_kernel(from, map->sampler, text, sizeof text, error));
  }
  if (text[0] == 0) return SCL_STATUS_OK;
  const scl_status status = scl_instance_from_text("kernel", text, out, error);
  if (status != SCL_STATUS_OK)
    (void)scl_prefix(error, "the kernel that %s.%s declares",
                     scl_kind_name(scl_instance_kind(from)), scl_instance_name(from));
  return status;
}

/* The kernel matrix by a named kernel; SCL_STATUS_UNSUPPORTED without one. */
static scl_status by_name(const pair_kernel *k, const char *what, const scl_matrix *x,
                          const scl_matrix *y, scl_matrix *out, scl_error *error) {
  scl_instance *kernel = NULL;
  SCL_TRY(named_kernel(k->map, &kernel, error));
  if (kernel == NULL)
    return scl_fail(error, SCL_STATUS_UNSUPPORTED,
                    "no closed form is declared for %s of nonlinearity.%s on sampler.%s", what,
                    scl_instance_name(k->phi), scl_instance_name(k->sampler));
  const scl_status status = scl_kernel_matrix(kernel, x, y, out, error);
  scl_instance_release(kernel);
  return status;
}

/* ------------ entry points */

/* The matrix of E f(a, b), f given by its dual (a product of features, or the agreement of codes),
 * by the first way that applies. `what` names the result in error messages. */
static scl_status evaluate_dual(const scl_map *map, scl_dual dual, bool harmonic, double amplitude,
                                const char *what, const scl_matrix *x, const scl_matrix *y,
                                scl_matrix *out, scl_error *error) {
  scl_law_set law;
  pair_kernel k = {.map = map,
                   .phi = map->phi,
                   .sampler = map->sampler,
                   .draw = scl_origin_draw(&map->origin, 0, 1),
                   .dual = dual,
                   .amplitude = amplitude};
  SCL_TRY(scl_law_create(&map->origin, &law, error));
  k.law = &law.law;
  scl_gauss_legendre(BIAS_NODES, k.node, k.weight);
  k.way = choose_way(&k, harmonic);
  const scl_status status =
      k.way == NO_WAY ? by_name(&k, what, x, y, out, error) : by_pairs(&k, x, y, out, error);
  scl_law_release(&law);
  return status;
}

scl_status scl_map_induced_by_law(const scl_map *map, const scl_matrix *x, const scl_matrix *y,
                                  scl_matrix *out, scl_error *error) {
  double amplitude = 1;
  const bool harmonic = scl_nonlinearity_harmonic(map->phi, &amplitude);
  return evaluate_dual(
      map, scl_instance_has(map->phi, SCL_ABILITY_GAUSSIAN_DUAL) ? scl_nonlinearity_dual : NULL,
      harmonic, amplitude, "the kernel", x, y, out, error);
}

scl_status scl_map_induced(const scl_map *map, const scl_matrix *x, const scl_matrix *y,
                           scl_matrix *out, scl_error *error) {
  SCL_TRY(scl_map_check_rows(map, "kernel", x, error));
  SCL_TRY(scl_map_check_rows(map, "kernel", y, error));
  if (map->kind->induced != NULL) return map->kind->induced(map, x, y, out, error);
  return scl_fail(error, SCL_STATUS_UNSUPPORTED,
                  "the induced kernel belongs to random features without K; with K there are "
                  ":expectation and :gram");
}

scl_status scl_map_collision(const scl_map *map, const scl_matrix *x, const scl_matrix *y,
                             scl_matrix *out, scl_error *error) {
  if (map->kind->induced != scl_map_induced_by_law ||
      !scl_instance_has(map->phi, SCL_ABILITY_CODE_DUAL))
    return scl_fail(error, SCL_STATUS_UNSUPPORTED,
                    "no closed form is declared for the agreement of codes of %s.%s",
                    scl_kind_name(scl_instance_kind(map->phi)), scl_instance_name(map->phi));
  SCL_TRY(scl_map_check_rows(map, "collision", x, error));
  SCL_TRY(scl_map_check_rows(map, "collision", y, error));
  return evaluate_dual(map, scl_nonlinearity_code_dual, false, 1, "the agreement of codes", x, y,
                       out, error);
}
