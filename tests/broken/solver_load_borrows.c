/* Its loaded model points into the archive, which ends with the call. */
// caught by: save crash
// says: slot decide
#include "solver_model.h"

typedef struct borrowed {
  size_t c, d;
  const double *a;
  double own[64];
} borrowed;

static scl_status fit(const void *self, const scl_problem *problem, void **out,
                      scl_solution *account, scl_error *error) {
  void *made;
  const scl_status status = model_fit(self, problem, &made, account, error);
  if (status != SCL_STATUS_OK) return status;
  const model *m = made;
  borrowed *b = problem->host->allocate(sizeof *b);
  if (b == NULL || m->c * m->d > 64) {
    model_destroy(self, made);
    problem->host->release(b);
    return problem->host->fail(error, SCL_STATUS_NO_MEMORY, "not enough memory for a model");
  }
  *b = (borrowed){.c = m->c, .d = m->d, .a = b->own};
  memcpy(b->own, m->a, m->c * m->d * sizeof *b->own);
  model_destroy(self, made);
  *out = b;
  return SCL_STATUS_OK;
}

static scl_status decide(const void *self, const void *a_model, const scl_const_block *rows,
                         double *scores, ptrdiff_t stride, scl_error *error) {
  const borrowed *b = a_model;
  (void)self;
  (void)error;
  for (size_t i = 0; i < rows->rows; i++)
    for (size_t j = 0; j < b->c; j++) {
      const double *x = (const double *)rows->data + (ptrdiff_t)i * rows->row_stride;
      double sum = 0;
      for (size_t k = 0; k < b->d; k++)
        sum += x[k] * b->a[k * b->c + j];
      scores[(ptrdiff_t)i * stride + (ptrdiff_t)j] = sum;
    }
  return SCL_STATUS_OK;
}

static scl_status save(const void *self, const void *a_model, scl_archive *archive,
                       scl_error *error) {
  const borrowed *b = a_model;
  const scl_array array = {
      .data = b->a, .dtype = SCL_DTYPE_FLOAT64, .rank = 2, .sizes = {b->d, b->c}};
  (void)self;
  return archive->put(archive, "coefficients", &array, error);
}

static scl_status load(const void *self, const scl_archive *archive, size_t features,
                       size_t targets, void **out, scl_error *error) {
  const size_t sizes[] = {features, targets};
  scl_array array;
  const scl_status status =
      archive->get(archive, "coefficients", SCL_DTYPE_FLOAT64, 2, sizes, &array, error);
  if (status != SCL_STATUS_OK) return status;
  borrowed *b = host_of(self)->allocate(sizeof *b);
  if (b == NULL) return host_of(self)->fail(error, SCL_STATUS_NO_MEMORY, "not enough memory");
  *b = (borrowed){.c = targets, .d = features, .a = array.data};
  *out = b;
  return SCL_STATUS_OK;
}

MODEL_SOLVER(fit, decide, save, load, model_destroy);
