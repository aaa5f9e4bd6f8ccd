/* Wrong abilities of solvers, for "put"; and fitted, a right solver whose result is a model: the
 * coefficients of ridge regression (faults_solver.c). */
#include "faults_solver.h"

/* Gives the solutions in ascending order of the values. */
static scl_status path_ascending(const void *self, const scl_problem *problem, const double *values,
                                 size_t count, scl_solution *const *out, scl_error *error) {
  scl_status status = SCL_STATUS_OK;
  for (size_t k = 0; status == SCL_STATUS_OK && k < count; k++) {
    size_t place = 0;
    for (size_t i = 0; i < count; i++)
      place += values[i] < values[k] || (values[i] == values[k] && i < k);
    status = ridge_for(self, problem, values[k], out[place], error);
  }
  return status;
}

/* Another objective than the one that it minimises. */
static scl_status objective_half(const void *self, const scl_problem *problem, const double *a,
                                 const double *b, double *value, scl_error *error) {
  return objective_for(problem, lambda_of(self) / 2, a, b, value, error);
}

/* No sum of a loss and a penalty. */
static scl_status objective_root(const void *self, const scl_problem *problem, const double *a,
                                 const double *b, double *value, scl_error *error) {
  const scl_status status = objective_for(problem, lambda_of(self), a, b, value, error);
  *value = sqrt(*value);
  return status;
}

/* For the loss of the specimen square: bound and Lipschitz constant forget the target, the slope
 * lacks the factor 2, and probabilities do not sum to 1. */
static double bound_without_target(const void *self, double reach) {
  (void)self;
  return reach * reach;
}

static double lipschitz_without_target(const void *self, double reach) {
  (void)self;
  return 2 * reach;
}

static void slope_half(const void *self, size_t c, const double *f, const double *y, double *out) {
  (void)self;
  for (size_t j = 0; j < c; j++)
    out[j] = f[j] - y[j];
}

static int32_t probabilities_apart(const void *self, size_t c, const double *f, double *out) {
  (void)self;
  for (size_t j = 0; j < c; j++)
    out[j] = 1 / (1 + exp(-f[j]));
  if (c == 1) out[1] = out[0];
  if (c == 1) out[0] = 1 - out[1];
  return 1;
}

/* ------------ fitted: the coefficients as a model */

typedef struct model {
  size_t d, c;
  const double *a; /* D x c: own, but for load_borrows */
  double own[];
} model;

static model *model_new(const scl_host *host, size_t d, size_t c, scl_error *error) {
  model *m = host->allocate(sizeof *m + d * c * sizeof *m->own);
  if (m == NULL)
    (void)host->fail(error, SCL_STATUS_NO_MEMORY, "not enough memory for a model");
  else
    *m = (model){.d = d, .c = c, .a = m->own};
  return m;
}

static void model_destroy(const void *self, void *m) { host_of(self)->release(m); }

static scl_status model_fit(const void *self, const scl_problem *problem, void **out,
                            scl_solution *account, scl_error *error) {
  model *m = model_new(problem->host, problem->features, problem->targets, error);
  if (m == NULL) return SCL_STATUS_NO_MEMORY;
  memset(m->own, 0, m->d * m->c * sizeof *m->own);
  scl_solution solution = *account;
  solution.coefficients = m->own;
  const scl_status status = ridge_walk(self, problem, sums_visit, &solution, error);
  account->outcome = solution.outcome;
  account->iterations = solution.iterations;
  account->residual = solution.residual;
  account->tolerance = solution.tolerance;
  if (status == SCL_STATUS_OK)
    *out = m;
  else
    model_destroy(self, m);
  return status;
}

static scl_status model_decide(const void *self, const void *a_model, const scl_const_block *rows,
                               double *scores, ptrdiff_t stride, scl_error *error) {
  const model *m = a_model;
  (void)self;
  (void)error;
  for (size_t i = 0; i < rows->rows; i++)
    for (size_t j = 0; j < m->c; j++) {
      const double *x = (const double *)rows->data + (ptrdiff_t)i * rows->row_stride;
      double sum = 0;
      for (size_t k = 0; k < m->d; k++)
        sum += x[k] * m->a[k * m->c + j];
      scores[(ptrdiff_t)i * stride + (ptrdiff_t)j] = sum;
    }
  return SCL_STATUS_OK;
}

static scl_status model_save(const void *self, const void *a_model, scl_archive *archive,
                             scl_error *error) {
  const model *m = a_model;
  const scl_array array = {
      .data = m->a, .dtype = SCL_DTYPE_FLOAT64, .rank = 2, .sizes = {m->d, m->c}};
  (void)self;
  return archive->put(archive, "coefficients", &array, error);
}

static scl_status model_load(const void *self, const scl_archive *archive, size_t features,
                             size_t targets, void **out, scl_error *error) {
  const size_t sizes[] = {features, targets};
  scl_array array;
  const scl_status status =
      archive->get(archive, "coefficients", SCL_DTYPE_FLOAT64, 2, sizes, &array, error);
  if (status != SCL_STATUS_OK) return status;
  model *m = model_new(host_of(self), features, targets, error);
  if (m == NULL) return SCL_STATUS_NO_MEMORY;
  memcpy(m->own, array.data, features * targets * sizeof *m->own);
  *out = m;
  return SCL_STATUS_OK;
}

static const scl_option options[] = {RIDGE_OPTIONS};
SPECIMEN(fitted, "ridge regression as a model", SCL_SOLVER(.solve = NULL),
         SCL_INSTANCE(ridge, options),
         SCL_ABILITIES(SCL_OFFER(SCL_ABILITY_MODEL, scl_ability_model, .fit = model_fit,
                                 .decide = model_decide, .save = model_save, .load = model_load,
                                 .destroy = model_destroy)));

/* The scores of a row depend on the rows beside it. */
static scl_status decide_mixed(const void *self, const void *m, const scl_const_block *rows,
                               double *scores, ptrdiff_t stride, scl_error *error) {
  const scl_status status = model_decide(self, m, rows, scores, stride, error);
  for (size_t i = 1; i < rows->rows; i++)
    scores[(ptrdiff_t)i * stride] += 1e-3 * scores[0];
  return status;
}

/* Reads one number past each row. */
static scl_status decide_reads_past(const void *self, const void *m, const scl_const_block *rows,
                                    double *scores, ptrdiff_t stride, scl_error *error) {
  const volatile double *x = rows->data;
  for (size_t i = 0; i < rows->rows; i++)
    (void)x[(ptrdiff_t)i * rows->row_stride + (ptrdiff_t)rows->cols];
  return model_decide(self, m, rows, scores, stride, error);
}

/* Takes scores for packed. */
static scl_status decide_packed(const void *self, const void *m, const scl_const_block *rows,
                                double *scores, ptrdiff_t stride, scl_error *error) {
  (void)stride;
  return model_decide(self, m, rows, scores, (ptrdiff_t)((const model *)m)->c, error);
}

static void destroy_nothing(const void *self, void *m) { (void)self, (void)m; }

/* Takes the sizes of a saved array for granted. */
static scl_status load_any_size(const void *self, const scl_archive *archive, size_t features,
                                size_t targets, void **out, scl_error *error) {
  const size_t any[] = {0, 0};
  scl_array array;
  const scl_status status =
      archive->get(archive, "coefficients", SCL_DTYPE_FLOAT64, 2, any, &array, error);
  if (status != SCL_STATUS_OK) return status;
  model *m = model_new(host_of(self), features, targets, error);
  if (m == NULL) return SCL_STATUS_NO_MEMORY;
  memcpy(m->own, array.data, features * targets * sizeof *m->own);
  *out = m;
  return SCL_STATUS_OK;
}

/* The model points into the archive, which ends with the call. */
static scl_status load_borrows(const void *self, const scl_archive *archive, size_t features,
                               size_t targets, void **out, scl_error *error) {
  const size_t sizes[] = {features, targets};
  scl_array array;
  const scl_status status =
      archive->get(archive, "coefficients", SCL_DTYPE_FLOAT64, 2, sizes, &array, error);
  if (status != SCL_STATUS_OK) return status;
  model *m = model_new(host_of(self), features, targets, error);
  if (m == NULL) return SCL_STATUS_NO_MEMORY;
  m->a = array.data;
  *out = m;
  return SCL_STATUS_OK;
}

/* Saves the coefficients of the first feature only. */
static scl_status save_first(const void *self, const void *a_model, scl_archive *archive,
                             scl_error *error) {
  const model *m = a_model;
  const scl_array array = {.data = m->a, .dtype = SCL_DTYPE_FLOAT64, .rank = 2, .sizes = {1, m->c}};
  (void)self;
  return archive->put(archive, "coefficients", &array, error);
}

static scl_status load_first(const void *self, const scl_archive *archive, size_t features,
                             size_t targets, void **out, scl_error *error) {
  const size_t sizes[] = {1, targets};
  scl_array array;
  const scl_status status =
      archive->get(archive, "coefficients", SCL_DTYPE_FLOAT64, 2, sizes, &array, error);
  if (status != SCL_STATUS_OK) return status;
  model *m = model_new(host_of(self), features, targets, error);
  if (m == NULL) return SCL_STATUS_NO_MEMORY;
  memset(m->own, 0, features * targets * sizeof *m->own);
  memcpy(m->own, array.data, targets * sizeof *m->own);
  *out = m;
  return SCL_STATUS_OK;
}

const fault faults_of_abilities[] = {FAULT(path_ascending),
                                     FAULT(objective_half),
                                     FAULT(objective_root),
                                     FAULT(bound_without_target),
                                     FAULT(lipschitz_without_target),
                                     FAULT(slope_half),
                                     FAULT(probabilities_apart),
                                     FAULT(decide_mixed),
                                     FAULT(decide_reads_past),
                                     FAULT(decide_packed),
                                     FAULT(destroy_nothing),
                                     FAULT(load_any_size),
                                     FAULT(load_borrows),
                                     FAULT(save_first),
                                     FAULT(load_first),
                                     {NULL, NULL}};
