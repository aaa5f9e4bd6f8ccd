/* A kernel between rows of data, k(x_i, y_j): sections' induced kernel, and kernels that users
 * apply to matrices. Rows of X are divided into strips, one task each. */
#include "algebra/pilot.h"
#include "base/loops.h"
#include "base/pool.h"
#include "map/map_internal.h"
#include "plugin/kernel.h"
#include <math.h>
#include <string.h>

enum {
  STRIP = 256, /* rows of X for each task */
  FEW = 8      /* rows of Y that are too few to find where its columns are */
};

/* One call: the matrix `out` = k(x_i, y_j). */
typedef struct strips {
  const scl_instance *kernel;
  const scl_matrix *x, *y, *out; /* float64, row-major */
} strips;

/* Task: STRIP rows of the result. u.first numbers the rows in the kernel's error messages. */
static scl_status fill_strip(void *context, size_t index, scl_error *error) {
  const strips *job = context;
  const size_t first = index * STRIP, rows = scl_min(STRIP, job->x->rows - first);
  scl_const_parameters u =
      scl_dense_rows(scl_matrix_row(job->x, first), job->x->row_stride, rows, job->x->cols);
  const scl_const_parameters v =
      scl_dense_rows(job->y->data, job->y->row_stride, job->y->rows, job->y->cols);
  u.first = first;
  return scl_kernel_gram(job->kernel, &u, &v, scl_matrix_row(job->out, first), job->out->row_stride,
                         error);
}

/* Refuse a NaN or infinity; `name` is the matrix's in the sentence. */
static scl_status check_finite_rows(const scl_matrix *x, const char *name, scl_error *error) {
  size_t row, col;
  if (!scl_matrix_find_nonfinite(x, &row, &col)) return SCL_STATUS_OK;
  return scl_fail(error, SCL_STATUS_BAD_DATA,
                  "%s has a number that is not finite in row %zu, column %zu", name, row + 1,
                  col + 1);
}

scl_status scl_kernel_check_values(const scl_kernel_values *k, scl_error *error) {
  const scl_loops *loops = scl_loops_get();
  const bool same = strcmp(k->left, k->right) == 0; /* "rows 1 and 2", or "row 1 and column 2" */
  for (size_t i = 0; i < k->rows; i++) {
    const double *row = k->values + (ptrdiff_t)i * k->stride;
    size_t j = 0;
    if (loops->finite_f64(k->cols, row)) continue;
    while (j + 1 < k->cols && isfinite(row[j]))
      j++;
    return scl_fail(
        error, SCL_STATUS_NUMERIC,
        "kernel.%s: K between %s%s %zu and %s%s%zu is %s, not finite: are they too large?",
        scl_instance_name(k->kernel), k->left, same ? "s" : "", k->first_row + i + 1,
        same ? "" : k->right, same ? "" : " ", k->first_col + j + 1,
        isnan(row[j]) ? "nan"
        : row[j] > 0  ? "inf"
                      : "-inf");
  }
  return SCL_STATUS_OK;
}

/* After a kernel refused some numbers: find the first row of a matrix that it refuses by itself,
 * and name it in the error. Returns whether there is one. */
static bool name_refused_row(const strips *job, const scl_matrix *rows, const char *name,
                             scl_error *error) {
  double k;
  for (size_t i = 0; i < rows->rows; i++) {
    const scl_const_parameters u =
        scl_dense_rows(scl_matrix_row(rows, i), rows->row_stride, 1, rows->cols);
    if (scl_kernel_gram(job->kernel, &u, &u, &k, 1, error) == SCL_STATUS_OK) continue;
    (void)scl_prefix(error, "row %zu of %s", i + 1, name);
    return true;
  }
  return false;
}

/* Compute all strips, and refuse values that are not finite. */
static scl_status fill_strips(const strips *job, scl_error *error) {
  const scl_status status =
      scl_pool_try((job->x->rows + STRIP - 1) / STRIP, fill_strip, (void *)(uintptr_t)job, error);
  if (status == SCL_STATUS_BAD_DATA)
    (void)(name_refused_row(job, job->x, "X", error) || name_refused_row(job, job->y, "Y", error));
  if (status != SCL_STATUS_OK) return status;
  const scl_kernel_values values = {.kernel = job->kernel,
                                    .left = "row",
                                    .right = "row",
                                    .rows = job->out->rows,
                                    .cols = job->out->cols,
                                    .values = job->out->data,
                                    .stride = job->out->row_stride};
  return scl_kernel_check_values(&values, error);
}

/* A shift-invariant kernel of x - y loses digits where both are far from 0. Subtract a point near
 * the rows of Y from both matrices, in place, if Y has enough rows to say where they are. */
static scl_status centre_rows(const scl_instance *kernel, const scl_matrix *x, const scl_matrix *y,
                              scl_error *error) {
  if (y->rows < FEW || scl_kernel_shift(kernel) != SCL_SHIFT_KEEPS) return SCL_STATUS_OK;
  double *pilot = scl_allocate_array(y->cols + 1, sizeof *pilot);
  if (pilot == NULL) return scl_fail_memory(error, y->cols * sizeof *pilot, "a row");
  const bool near = scl_pilot_find(y->data, y->row_stride, y->rows, y->cols, pilot);
  const scl_matrix *const both[] = {x, y};
  for (size_t i = 0; i < 2 && !near; i++)
    scl_pilot_subtract(both[i]->data, both[i]->row_stride, both[i]->rows, both[i]->cols, pilot,
                       both[i]->data, both[i]->row_stride);
  scl_release(pilot);
  return SCL_STATUS_OK;
}

scl_status scl_kernel_check_rows(const scl_instance *kernel, size_t x_columns, size_t y_columns,
                                 scl_error *error) {
  SCL_TRY(scl_instance_expect(kernel, SCL_KIND_KERNEL, error));
  if (!(scl_kernel_spaces(kernel) & SCL_BIT(SCL_SPACE_DENSE)))
    return scl_fail(error, SCL_STATUS_UNSUPPORTED, "kernel.%s is not defined on rows of data",
                    scl_instance_name(kernel));
  if (x_columns != y_columns)
    return scl_fail(error, SCL_STATUS_BAD_SHAPE,
                    "X and Y have %zu and %zu columns: they must have the same", x_columns,
                    y_columns);
  return SCL_STATUS_OK;
}

/* In float64: X and Y are copied, as centring changes them. */
scl_status scl_kernel_matrix(const scl_instance *kernel, const scl_matrix *x, const scl_matrix *y,
                             scl_matrix *out, scl_error *error) {
  scl_matrix u, v = {0};
  SCL_TRY(scl_kernel_check_rows(kernel, x->cols, y->cols, error));
  SCL_TRY(check_finite_rows(x, "X", error));
  SCL_TRY(check_finite_rows(y, "Y", error));
  SCL_TRY(scl_matrix_copy(x, SCL_DTYPE_FLOAT64, &u, error));
  scl_status status = scl_matrix_copy(y, SCL_DTYPE_FLOAT64, &v, error);
  if (status == SCL_STATUS_OK) status = centre_rows(kernel, &u, &v, error);
  if (status == SCL_STATUS_OK)
    status = scl_matrix_create_raw(x->rows, y->rows, SCL_DTYPE_FLOAT64, out, error);
  if (status == SCL_STATUS_OK) {
    const strips job = {kernel, &u, &v, out};
    status = fill_strips(&job, error);
    if (status != SCL_STATUS_OK) scl_matrix_release(out);
  }
  scl_matrix_release(&u);
  scl_matrix_release(&v);
  return status;
}

bool scl_map_has_rest(const scl_map *map) {
  for (size_t p = 0; p < scl_map_part_count(map); p++)
    if (scl_map_is_section(scl_map_part_at(map, p).map)) return true;
  return scl_map_is_section(map);
}

scl_status scl_map_rest(const scl_map *map, const scl_map_rows *x, const double *phi, double *out,
                        scl_error *error) {
  memset(out, 0, x->rows * sizeof *out);
  if (scl_map_is_section(map)) return scl_map_section_rest(map, NULL, x, 1, phi, out, error);
  double *rest = scl_allocate_array(x->rows + 1, sizeof *rest);
  scl_status status =
      rest == NULL ? scl_fail_memory(error, x->rows * sizeof *rest, "rows") : SCL_STATUS_OK;
  for (size_t p = 0; status == SCL_STATUS_OK && p < scl_map_part_count(map); p++) {
    const scl_map_part part = scl_map_part_at(map, p);
    const bool section = scl_map_is_section(part.map);
    if (section)
      status = scl_map_section_rest(part.map, part.columns, x, part.scale * exp(-map->log_scale),
                                    phi, rest, error);
    for (size_t i = 0; section && i < x->rows; i++)
      out[i] += rest[i];
    phi += scl_map_features(part.map);
  }
  scl_release(rest);
  return status;
}
