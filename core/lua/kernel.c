/* scullery.core: a kernel's Gram matrix between rows of data. */
#include "base/pool.h"
#include "lua/handle.h"
#include "lua/matrix.h"
#include "plugin/registry.h"

#include <math.h>

/* Rows of a matrix as dense parameters. */
static scl_parameters rows_of(const scl_matrix *x) {
  return (scl_parameters){.head = SCL_HEAD(scl_parameters),
                          .space = SCL_SPACE_DENSE,
                          .count = x->rows,
                          .dim = x->cols,
                          .weights = x->data,
                          .stride = x->row_stride};
}

enum { STRIP = 256 }; /* rows a task: the split does not depend on the threads */

typedef struct gram_job {
  const scl_instance *kernel;
  const scl_matrix *x, *y, *out;
  scl_error *errors; /* one a strip */
} gram_job;

static void gram_strip(void *context, size_t index) {
  const gram_job *job = context;
  const scl_kernel *table = scl_instance_vtable(job->kernel);
  scl_parameters u = rows_of(job->x), v = rows_of(job->y);
  u.first = index * STRIP;
  u.count = scl_min(STRIP, job->x->rows - u.first);
  u.weights = scl_matrix_row(job->x, u.first);
  double *out = scl_matrix_row(job->out, u.first);
  scl_error *error = &job->errors[index];
  error->status = scl_instance_prefix(
      job->kernel, table->gram(job->kernel->self, &u, &v, out, job->out->row_stride, error), error);
}

static scl_status first_failure(const gram_job *job, size_t strips, scl_error *error) {
  for (size_t i = 0; i < strips; i++)
    if (job->errors[i].status != SCL_STATUS_OK) {
      *error = job->errors[i];
      return error->status;
    }
  return SCL_STATUS_OK;
}

static scl_status check_numbers(const gram_job *job, scl_error *error) {
  for (size_t i = 0; i < job->out->rows; i++)
    for (size_t j = 0; j < job->out->cols; j++)
      if (isnan(scl_matrix_row(job->out, i)[j]))
        return scl_fail(
            error, SCL_STATUS_NUMERIC,
            "kernel.%s: K is not a number between row %zu and row %zu: are the rows too large?",
            scl_instance_name(job->kernel), i + 1, j + 1);
  return SCL_STATUS_OK;
}

static scl_status gram(const scl_instance *kernel, const scl_matrix *x, const scl_matrix *y,
                       const scl_matrix *out, scl_error *error) {
  const size_t strips = (x->rows + STRIP - 1) / STRIP;
  gram_job job = {kernel, x, y, out, scl_allocate_zero((strips + 1) * sizeof *job.errors)};
  if (job.errors == NULL)
    return scl_fail_memory(error, strips * sizeof *job.errors, "a Gram matrix");
  scl_pool_run(strips, gram_strip, &job);
  scl_status status = first_failure(&job, strips, error);
  scl_release(job.errors);
  if (status == SCL_STATUS_OK) status = check_numbers(&job, error);
  return status;
}

/* A float64 copy on the stack, row-major; refuses what is not finite. */
static const scl_matrix *push_rows(lua_State *L, int place, const char *name) {
  const scl_matrix *x = scl_lua_check_matrix(L, place);
  size_t row, col;
  scl_error error = {0};
  if (scl_matrix_find_nonfinite(x, &row, &col))
    luaL_error(L, "%s has a number that is not finite in row %d, column %d", name, (int)row + 1,
               (int)col + 1);
  scl_matrix *copy = scl_lua_new_matrix(L);
  scl_lua_check_held(L, x);
  scl_lua_check(L, scl_matrix_copy(x, SCL_DTYPE_FLOAT64, copy, &error), &error);
  scl_lua_account(L, scl_matrix_bytes(copy));
  return copy;
}

/* core.gram(kernel, X[, Y]) -> matrix of K(x_i, y_j); without Y, X against itself */
static int kernel_gram(lua_State *L) {
  scl_error error = {0};
  lua_settop(L, 3);
  const scl_instance *kernel = scl_lua_check_handle(L, 1, SCL_LUA_INSTANCE);
  if (kernel->component->plugin->kind != SCL_KIND_KERNEL)
    return luaL_error(L, "gram takes a kernel, and got %s.%s",
                      scl_kind_name(kernel->component->plugin->kind), scl_instance_name(kernel));
  if (!(((const scl_kernel *)scl_instance_vtable(kernel))->spaces & SCL_BIT(SCL_SPACE_DENSE)))
    return luaL_error(L, "kernel.%s is not defined on rows of data", scl_instance_name(kernel));
  const scl_matrix *x = push_rows(L, 2, "X"), *y = lua_isnil(L, 3) ? x : push_rows(L, 3, "Y");
  if (x->cols != y->cols)
    return luaL_error(L, "X has %d columns and Y has %d: they must be the same", (int)x->cols,
                      (int)y->cols);
  scl_matrix *out = scl_lua_new_matrix(L);
  scl_lua_check(L, scl_matrix_create_raw(x->rows, y->rows, SCL_DTYPE_FLOAT64, out, &error), &error);
  scl_lua_account(L, scl_matrix_bytes(out));
  scl_lua_check(L, gram(kernel, x, y, out, &error), &error);
  return 1;
}

void scl_lua_open_kernel(lua_State *L) {
  static const luaL_Reg functions[] = {{"gram", kernel_gram}, {NULL, NULL}};
  luaL_setfuncs(L, functions, 0);
}
