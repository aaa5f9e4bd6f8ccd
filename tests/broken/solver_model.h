/* What the broken solvers with models share: the coefficients of solver.h as a model, right. */
#ifndef BROKEN_SOLVER_MODEL_H
#define BROKEN_SOLVER_MODEL_H

#include "solver.h"

typedef struct model {
  size_t d, c;
  double a[]; /* D x c */
} model;

static inline const scl_host *host_of(const void *self) { return ((const ridge *)self)->base.host; }

static inline model *model_new(const scl_host *host, size_t d, size_t c, scl_error *error) {
  model *m = host->allocate(sizeof *m + d * c * sizeof *m->a);
  if (m == NULL)
    (void)host->fail(error, SCL_STATUS_NO_MEMORY, "not enough memory for a model");
  else
    *m = (model){.d = d, .c = c};
  return m;
}

static inline void model_destroy(const void *self, void *m) { host_of(self)->release(m); }

static inline scl_status model_fit(const void *self, const scl_problem *problem, void **out,
                                   scl_solution *account, scl_error *error) {
  model *m = model_new(problem->host, problem->features, problem->targets, error);
  if (m == NULL) return SCL_STATUS_NO_MEMORY;
  memset(m->a, 0, m->d * m->c * sizeof *m->a);
  scl_solution solution = *account;
  solution.coefficients = m->a;
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

static inline scl_status model_decide(const void *self, const void *a_model,
                                      const scl_const_block *rows, double *scores, ptrdiff_t stride,
                                      scl_error *error) {
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

static inline scl_status model_save(const void *self, const void *a_model, scl_archive *archive,
                                    scl_error *error) {
  const model *m = a_model;
  const scl_array array = {
      .data = m->a, .dtype = SCL_DTYPE_FLOAT64, .rank = 2, .sizes = {m->d, m->c}};
  (void)self;
  return archive->put(archive, "coefficients", &array, error);
}

static inline scl_status model_load(const void *self, const scl_archive *archive, size_t features,
                                    size_t targets, void **out, scl_error *error) {
  const size_t sizes[] = {features, targets};
  scl_array array;
  const scl_status status =
      archive->get(archive, "coefficients", SCL_DTYPE_FLOAT64, 2, sizes, &array, error);
  if (status != SCL_STATUS_OK) return status;
  model *m = model_new(host_of(self), features, targets, error);
  if (m == NULL) return SCL_STATUS_NO_MEMORY;
  memcpy(m->a, array.data, features * targets * sizeof *m->a);
  *out = m;
  return SCL_STATUS_OK;
}

#define MODEL_SOLVER(fit_, decide_, save_, load_, destroy_)                                        \
  static const scl_option options[] = {RIDGE_OPTIONS};                                             \
  BROKEN_SOLVER(options,                                                                           \
                SCL_ABILITIES(SCL_OFFER(SCL_ABILITY_MODEL, scl_ability_model, .fit = fit_,         \
                                        .decide = decide_, .save = save_, .load = load_,           \
                                        .destroy = destroy_)),                                     \
                .solve = NULL)

#endif
