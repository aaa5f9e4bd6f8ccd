/* Kind `section`: kernel sections, features k(w_t, x), with which a linear model is the Nystrom
 * method (Williams and Seeger 2001).
 *
 *   plain      Phi(x) = k(W, x)            ||f||^2 = a' k(W, W) a    (penalty "rkhs")
 *   whitened   Phi(x) = L^-1 k(W, x)       ||f||^2 = ||a||^2         (penalty ||a||^2)
 *
 * with k(W, W) + jitter I = L L'. Both span the same functions with the same norm. */
#include "algebra/dense.h"
#include "algebra/pilot.h"
#include "algebra/row_products.h"
#include "base/loops.h"
#include "base/pool.h"
#include "map/kinds.h"
#include <float.h>
#include <math.h>
#include <pthread.h>
#include <string.h>

/* Rows of a task, and columns of k(x, W) that the kernel computes in one call. */
enum { TILE_ROWS = 64, TILE_COLUMNS = 1024 };

/* ------------ composing */

/* A shift-invariant kernel of two points is computed more exactly after a point near them is
 * subtracted from both. Sets own.sections.pilot where the parameters are far from 0. */
static scl_status find_pilot(scl_map *map, scl_error *error) {
  const scl_parameters *w = &map->natural.view;
  const size_t numbers = (w->count + 1) * map->dim;
  if (w->support != NULL || w->reals != map->dim || scl_kernel_shift(map->phi) != SCL_SHIFT_KEEPS)
    return SCL_STATUS_OK;
  double *pilot = scl_allocate_array(numbers + 1, sizeof *pilot);
  if (pilot == NULL) return scl_fail_memory(error, numbers * sizeof *pilot, "parameters");
  if (scl_pilot_find(w->weights, w->stride, w->count, map->dim, pilot)) {
    scl_release(pilot);
    return SCL_STATUS_OK;
  }
  scl_pilot_subtract(w->weights, w->stride, w->count, map->dim, pilot, pilot + map->dim,
                     (ptrdiff_t)map->dim);
  map->own.sections.pilot = pilot;
  return SCL_STATUS_OK;
}

/* Parameters first .. first+count-1 as the kernel gets them: less the pilot, if there is one. */
static scl_const_parameters parameters_at(const scl_map *map, size_t first, size_t count) {
  scl_const_parameters w = scl_parameters_part_view(&map->natural.view, first, count);
  w.prepared = map->own.sections.prepared.work;
  if (map->own.sections.pilot == NULL) return w;
  w.weights = map->own.sections.pilot + (first + 1) * map->dim;
  w.stride = (ptrdiff_t)map->dim;
  return w;
}

/* One rectangle of k(W, W), for scl_symmetric_fill: k between two runs of parameters. */
static scl_status gram_rectangle(void *context, size_t first_row, size_t rows, size_t first_col,
                                 size_t cols, double *out, ptrdiff_t stride, scl_error *error) {
  const scl_map *map = context;
  const scl_const_parameters u = parameters_at(map, first_row, rows),
                             v = parameters_at(map, first_col, cols);
  const scl_kernel_values values = {.kernel = map->phi,
                                    .left = "parameter",
                                    .right = "parameter",
                                    .first_row = first_row,
                                    .first_col = first_col,
                                    .rows = rows,
                                    .cols = cols,
                                    .values = out,
                                    .stride = stride};
  SCL_TRY(scl_kernel_gram(map->phi, &u, &v, out, stride, error));
  return scl_kernel_check_values(&values, error);
}

/* *out = k(W, W), made here. The caller destroys it, also after a failure. */
static scl_status create_gram(const scl_map *map, scl_symmetric **out, scl_error *error) {
  SCL_TRY(scl_symmetric_create(map->count, out, error));
  return scl_symmetric_fill(*out, gram_rectangle, (void *)(uintptr_t)map, error);
}

/* Jitters to try, over the mean of the diagonal. */
static const double JITTERS[] = {0, 1e-12, 1e-11, 1e-10, 1e-9, 1e-8, 1e-7, 1e-6};
enum { TRIES = sizeof JITTERS / sizeof *JITTERS };

/* `to`: L with k(W, W) + jitter mean I = L L', mean the mean of the diagonal. If the matrix is not
 * positive definite: SCL_STATUS_NUMERIC, with the failing row in *pivot, which is T in all other
 * cases. */
static scl_status factor_gram(const scl_map *map, double jitter, double *to, size_t *pivot,
                              scl_error *error) {
  const scl_symmetric_algebra *algebra = &scl_service_symmetric;
  scl_symmetric *gram = NULL;
  *pivot = map->count;
  scl_status status = create_gram(map, &gram, error);
  if (status == SCL_STATUS_OK) {
    double mean = 0;
    for (size_t t = 0; t < map->count; t++)
      mean += scl_symmetric_get(gram, t, t) / (double)map->count;
    algebra->shift(jitter * mean, gram);
    status = algebra->factor(gram, pivot, error);
  }
  if (status == SCL_STATUS_OK) algebra->dense(gram, to, (ptrdiff_t)map->count);
  algebra->destroy(gram);
  return status;
}

/* Whether the pivots of a factor L are above what rounding makes of pivots that are 0. */
static bool is_sound(const double *l, size_t n) {
  double square = 0, least = INFINITY;
  for (size_t i = 0; i < n; i++) {
    for (size_t j = 0; j <= i; j++)
      square += l[i * n + j] * l[i * n + j];
    least = fmin(least, l[i * n + i] * l[i * n + i]);
  }
  return least * (double)n > JITTERS[1] * square;
}

/* Landmarks that are equal or close make k(W, W) singular: add the least of JITTERS with which it
 * factors; sound: and its pivots are more than rounding. SCL_STATUS_NUMERIC with pivot T is a value
 * of k that is not finite, and no jitter helps. The caller releases *out, also after a failure. */
static scl_status create_factor(const scl_map *map, bool sound, double **out, double *jitter,
                                scl_error *error) {
  const size_t bytes = map->count * map->count * sizeof(double);
  size_t pivot = 0;
  *out = scl_allocate(bytes);
  if (*out == NULL) return scl_fail_memory(error, bytes, "the factor of k(W, W)");
  for (size_t i = 0; i < TRIES; i++) {
    const scl_status status = factor_gram(map, JITTERS[i], *out, &pivot, error);
    *jitter = JITTERS[i];
    if (status == SCL_STATUS_OK && i == 0 && sound && !is_sound(*out, map->count)) continue;
    if (status != SCL_STATUS_NUMERIC || pivot == map->count) return status;
  }
  return scl_fail(error, SCL_STATUS_NUMERIC,
                  "kernel.%s between its %zu parameters is not positive definite, even with %g of "
                  "its mean diagonal added (parameter %zu)",
                  scl_instance_name(map->phi), map->count, JITTERS[TRIES - 1], pivot + 1);
}

/* Columns in which the pilot is not 0. */
static size_t pilot_columns(const scl_map *map) {
  size_t count = 0;
  for (size_t j = 0; map->own.sections.pilot != NULL && j < map->dim; j++)
    count += map->own.sections.pilot[j] != 0;
  return count;
}

/* Whether sections of sparse rows come from the numbers of rows and parameters alone: parameters of
 * which at most one number in ten is not 0, and few columns far from 0, such as one of ones. */
static bool are_sparse(const scl_map *map) {
  enum { FAR_COLUMNS = 64 };
  const scl_const_parameters w = parameters_at(map, 0, map->count);
  const size_t most = w.count * map->dim / 10;
  size_t filled = 0;
  if (w.support != NULL || w.reals != map->dim || !scl_kernel_takes_csr(map->phi) ||
      pilot_columns(map) > FAR_COLUMNS)
    return false;
  for (size_t t = 0; filled <= most && t < w.count; t++)
    for (size_t j = 0; j < map->dim; j++)
      filled += w.weights[(ptrdiff_t)t * w.stride + (ptrdiff_t)j] != 0;
  return filled <= most;
}

/* The slot `make`. k is computed between rows, so that shared rows are copied for each
 * parameter. */
static scl_status section_make(scl_map *map, const scl_map_spec *spec,
                               const scl_parameter_set *drawn, scl_error *error) {
  (void)drawn;
  if (map->pool != NULL) {
    scl_parameter_set rows;
    SCL_TRY(scl_map_own_parameters(map, &rows, error));
    scl_parameters_release(&map->natural);
    map->natural = rows;
    scl_release(map->pool);
    map->pool = NULL;
  }
  SCL_TRY(find_pilot(map, error));
  map->own.sections.takes_csr = are_sparse(map);
  const scl_const_parameters all = parameters_at(map, 0, map->count);
  SCL_TRY(scl_prepare(map->phi, NULL, &all, SCL_DTYPE_FLOAT64, &map->own.sections.prepared, error));
  return spec->whiten ? create_factor(map, spec->exact, &map->own.sections.whitening,
                                      &map->own.sections.jitter, error)
                      : SCL_STATUS_OK;
}

/* ------------ applying */

/* One call of the slot `apply`. */
typedef struct application {
  const scl_map *map;
  const scl_map_request *request; /* its rows and columns are those of x and phi */
  size_t begin, end;              /* columns of k needed: whitened features need all before them */
  double *scratch;
  size_t scratch_each; /* numbers for each thread: rows of k, then of x */
  size_t tall;         /* rows of a task */
  bool sparse;         /* rows are read without their zeros: */
  scl_csr rows;
} application;

/* Rows first .. first+rows-1 of x as packed float64. */
static void widen_rows(const application *job, size_t first, size_t rows, double *to) {
  const size_t dim = job->map->dim;
  if (job->request->csr.starts != NULL) {
    scl_csr_fill(&job->request->csr, first, rows, SCL_DTYPE_FLOAT64, to, (ptrdiff_t)dim);
    return;
  }
  for (size_t i = 0; i < rows; i++) {
    const void *from =
        scl_at(job->request->x, job->map->dtype, (ptrdiff_t)(first + i) * job->request->x_stride);
    if (job->map->dtype == SCL_DTYPE_FLOAT64)
      memcpy(to + i * dim, from, dim * sizeof *to);
    else
      scl_widen(dim, from, to + i * dim);
  }
}

/* Report the first of the features k that float32 cannot hold. */
static scl_status refuse_narrow(const application *job, const double *k, scl_error *error) {
  size_t j = 0;
  while (j + 1 < job->request->count && fabs(k[j]) <= FLT_MAX)
    j++;
  return scl_fail(error, SCL_STATUS_NUMERIC,
                  "feature %zu of kernel.%s is %.3g on some row, too large for float32: scale the "
                  "data; dtype = \"float64\" holds it",
                  job->request->first + j + 1, scl_instance_name(job->map->phi), k[j]);
}

/* Write rows first .. first+rows-1 of the features from k (rows x width), which begins at column
 * `begin`, in the map's dtype. */
static scl_status write_rows(const application *job, size_t first, size_t rows, const double *k,
                             size_t width, scl_error *error) {
  const size_t skip = job->request->first - job->begin;
  for (size_t i = 0; i < rows; i++) {
    void *to = scl_at_mutable(job->request->phi, job->map->dtype,
                              (ptrdiff_t)(first + i) * job->request->phi_stride);
    const double *from = k + i * width + skip;
    if (job->map->dtype == SCL_DTYPE_FLOAT64) {
      memcpy(to, from, job->request->count * sizeof *from);
      continue;
    }
    int bad = 0; /* without a branch, so that the loop is vectorised */
    scl_narrow(job->request->count, from, to);
    for (size_t j = 0; j < job->request->count; j++)
      bad |= !(fabsf(((const float *)to)[j]) <= FLT_MAX);
    if (bad != 0) return refuse_narrow(job, from, error);
  }
  return SCL_STATUS_OK;
}

/* Report the first value of k (numbers, in rows of `width`) that is not finite. */
static scl_status refuse_value(const application *job, const double *k, size_t numbers,
                               size_t width, scl_error *error) {
  size_t at = 0;
  while (at + 1 < numbers && isfinite(k[at]))
    at++;
  return scl_fail(error, SCL_STATUS_NUMERIC,
                  "feature %zu is not finite: kernel.%s gave %g between a parameter and some row: "
                  "scale the data",
                  job->begin + at % width + 1, scl_instance_name(job->map->phi), k[at]);
}

static bool section_takes_csr(const scl_map *map) { return map->own.sections.takes_csr; }

/* The parameters for sparse rows, made once. Threads may share a map. */
static scl_status open_sparse(const scl_map *map, scl_error *error) {
  static pthread_mutex_t making = PTHREAD_MUTEX_INITIALIZER;
  const scl_const_parameters w = parameters_at(map, 0, map->count);
  scl_status status = SCL_STATUS_OK;
  (void)pthread_mutex_lock(&making);
  if (map->own.sections.sparse == NULL && map->own.sections.takes_csr)
    status =
        scl_kernel_pair_set(map->phi, &w, &((scl_map *)(uintptr_t)map)->own.sections.sparse, error);
  (void)pthread_mutex_unlock(&making);
  return status;
}

/* Row i of `from` less the pilot, at out->starts[i]: every row has the pilot's columns. */
static void shift_row(const scl_map *map, const scl_csr *from, size_t i, const int32_t *far,
                      size_t n_far, scl_csr *out) {
  const double *pilot = map->own.sections.pilot;
  int64_t k = from->starts[i], to = out->starts[i];
  for (size_t f = 0; f < n_far || k < from->starts[i + 1];) {
    const int32_t column = k < from->starts[i + 1] ? from->columns[k] : INT32_MAX,
                  next = f < n_far ? far[f] : INT32_MAX;
    const bool own = column <= next, moved = next <= column;
    const double x = own ? scl_csr_value(from, k) : 0;
    out->columns[to] = own ? column : next;
    ((double *)out->values)[to++] = moved ? x - pilot[next] : x;
    k += own;
    f += moved;
  }
  out->starts[i + 1] = to;
}

/* job->rows: the sparse rows of the request, less the pilot where there is one. */
static scl_status open_rows(application *job, scl_error *error) {
  const scl_map *map = job->map;
  const scl_csr *from = &job->request->csr;
  const size_t n_far = pilot_columns(map);
  if (n_far == 0) {
    job->rows = scl_csr_share(from);
    return SCL_STATUS_OK;
  }
  int32_t *far = scl_allocate_array(n_far, sizeof *far);
  if (far == NULL) return scl_fail_memory(error, n_far * sizeof *far, "columns");
  for (size_t j = 0, at = 0; j < map->dim; j++)
    if (map->own.sections.pilot[j] != 0) far[at++] = (int32_t)j;
  const scl_status status =
      scl_csr_create(from->rows, from->cols, scl_csr_entries(from) + n_far * from->rows,
                     SCL_DTYPE_FLOAT64, &job->rows, error);
  for (size_t i = 0; status == SCL_STATUS_OK && i < from->rows; i++)
    shift_row(map, from, i, far, n_far, &job->rows);
  scl_release(far);
  return status;
}

/* k (rows x width) of rows first .. first+rows-1 of the request. */
static scl_status sparse_sections(const application *job, size_t first, size_t rows, double *k,
                                  size_t width, scl_error *error) {
  const scl_map *map = job->map;
  scl_csr some = job->rows;
  some.starts += first;
  some.rows = rows;
  return scl_kernel_gram_csr(map->phi, &some, map->own.sections.sparse, job->begin, width, k,
                             (ptrdiff_t)width, error);
}

static scl_status dense_sections(const application *job, size_t first, size_t rows, double *x,
                                 double *k, size_t width, scl_error *error) {
  const scl_map *map = job->map;
  widen_rows(job, first, rows, x);
  if (map->own.sections.pilot != NULL)
    scl_pilot_subtract(x, (ptrdiff_t)map->dim, rows, map->dim, map->own.sections.pilot, x,
                       (ptrdiff_t)map->dim);
  const scl_const_parameters u = scl_dense_rows(x, (ptrdiff_t)map->dim, rows, map->dim);
  for (size_t at = 0; at < width; at += TILE_COLUMNS) {
    const scl_const_parameters v =
        parameters_at(map, job->begin + at, scl_min(TILE_COLUMNS, width - at));
    SCL_TRY(scl_kernel_gram(map->phi, &u, &v, k + at, (ptrdiff_t)width, error));
  }
  return SCL_STATUS_OK;
}

/* One task. Row i of k is k(x_i, W) of columns begin .. end-1; whitening solves L f = k for each
 * row in place, for which it needs all columns before the last one wanted. */
static scl_status section_rows(void *context, size_t index, scl_error *error) {
  const application *job = context;
  const scl_map *map = job->map;
  const size_t first = index * job->tall, rows = scl_min(job->tall, job->request->rows - first),
               width = job->end - job->begin;
  double *k = job->scratch + scl_pool_worker() * job->scratch_each, *x = k + job->tall * width;
  if (job->sparse)
    SCL_TRY(sparse_sections(job, first, rows, k, width, error));
  else
    SCL_TRY(dense_sections(job, first, rows, x, k, width, error));
  if (!scl_loops_get()->finite_f64(rows * width, k))
    return refuse_value(job, k, rows * width, width, error);
  if (map->own.sections.whitening != NULL) {
    scl_row_trsm(rows, width, map->own.sections.whitening, (ptrdiff_t)map->count, k,
                 (ptrdiff_t)width);
    if (!scl_loops_get()->finite_f64(rows * width, k))
      return scl_fail(error, SCL_STATUS_NUMERIC,
                      "a feature L^-1 k(W, x) is not finite on some row, though k is: kernel.%s "
                      "spans too many orders of magnitude; scale the data",
                      scl_instance_name(map->phi));
  }
  return write_rows(job, first, rows, k, width, error);
}

/* Slot `apply`: tiles of rows by the pool, each thread with its own scratch for a tile of rows and
 * of sections. Whitened features mix all sections up to the last that is asked for (L^-1 is lower
 * triangular), so these begin at the first section. */
static scl_status section_apply(const scl_map *map, const scl_map_request *request,
                                scl_error *error) {
  application job = {.map = map,
                     .request = request,
                     .begin = map->own.sections.whitening == NULL ? request->first : 0,
                     .end = request->first + request->count};
  const size_t threads = scl_pool_threads();
  if (request->csr.starts != NULL) SCL_TRY(open_sparse(map, error));
  job.sparse = request->csr.starts != NULL && map->own.sections.sparse != NULL;
  job.tall = job.sparse ? TILE_ROWS : scl_min(TILE_ROWS, scl_csr_dense_rows(map->dim, map->dtype));
  job.scratch_each = (job.tall * ((job.sparse ? 0 : map->dim) + job.end - job.begin) + 7) / 8 * 8;
  job.scratch = scl_allocate_array(threads * job.scratch_each, sizeof(double));
  if (job.scratch == NULL)
    return scl_fail_memory(error, threads * job.scratch_each * sizeof(double),
                           "a tile of kernel sections per thread");
  scl_status status = job.sparse ? open_rows(&job, error) : SCL_STATUS_OK;
  if (status == SCL_STATUS_OK)
    status = scl_pool_try((request->rows + job.tall - 1) / job.tall, section_rows, &job, error);
  scl_csr_release(&job.rows);
  scl_release(job.scratch);
  return status;
}

/* ------------ the rest of the kernel */

/* *out = L of k(W, W) + jitter I = L L' of plain sections, which stays the map's. Threads may share a
 * map, and the first one makes it. */
static scl_status open_factor(const scl_map *map, const double **out, scl_error *error) {
  static pthread_mutex_t factoring = PTHREAD_MUTEX_INITIALIZER;
  scl_sections *own = &((scl_map *)(uintptr_t)map)->own.sections;
  double *made = NULL, jitter;
  scl_status status = SCL_STATUS_OK;
  scl_error why = {0};
  (void)pthread_mutex_lock(&factoring);
  if (own->factor == NULL) {
    status = create_factor(map, true, &made, &jitter, &why);
    if (status == SCL_STATUS_OK)
      own->factor = made;
    else
      scl_release(made);
  }
  *out = own->factor;
  (void)pthread_mutex_unlock(&factoring);
  if (status == SCL_STATUS_NUMERIC)
    return scl_fail(error, status, "%s; residual = false leaves out the rest of the kernel",
                    why.message);
  if (status != SCL_STATUS_OK && error != NULL) *error = why;
  return status;
}

/* f = L^-1 k(W, x) of rows. Not from features: those of a float32 map are not exact enough. */
static scl_status whiten_rows(const scl_map *map, size_t rows, double *x, double *f,
                              scl_error *error) {
  const size_t dim = map->dim, count = map->count;
  const scl_const_parameters u = scl_dense_rows(x, (ptrdiff_t)dim, rows, dim),
                             w = parameters_at(map, 0, count);
  const double *factor;
  SCL_TRY(open_factor(map, &factor, error));
  if (map->own.sections.pilot != NULL)
    scl_pilot_subtract(x, (ptrdiff_t)dim, rows, dim, map->own.sections.pilot, x, (ptrdiff_t)dim);
  SCL_TRY(scl_kernel_gram(map->phi, &u, &w, f, (ptrdiff_t)count, error));
  scl_row_trsm(rows, count, factor, (ptrdiff_t)count, f, (ptrdiff_t)count);
  return SCL_STATUS_OK;
}

scl_status scl_map_section_rest(const scl_map *map, const size_t *columns, const scl_map_rows *x,
                                double scale, const double *phi, double *out, scl_error *error) {
  const bool plain = !scl_map_is_whitened(map);
  const size_t dim = map->dim, count = map->count, numbers = x->rows * (dim + (plain ? count : 0));
  double *rows = scl_allocate_array(numbers + 1, sizeof *rows), *f = rows + x->rows * dim;
  if (rows == NULL) return scl_fail_memory(error, numbers * sizeof *rows, "rows of sections");
  for (size_t i = 0; i < x->rows * dim; i++)
    rows[i] = scl_number(scl_at(x->data, map->dtype, (ptrdiff_t)(i / dim) * x->stride), map->dtype,
                         columns == NULL ? i % dim : columns[i % dim]);
  const scl_const_parameters u = scl_dense_rows(rows, (ptrdiff_t)dim, x->rows, dim);
  scl_status status = scl_kernel_diagonal(map->phi, &u, out, error);
  if (status == SCL_STATUS_OK && plain) status = whiten_rows(map, x->rows, rows, f, error);
  for (size_t i = 0; status == SCL_STATUS_OK && i < x->rows; i++) {
    const double *own = plain ? f + i * count : phi + i * x->features, unit = plain ? scale : 1;
    out[i] *= scale * scale;
    for (size_t j = 0; j < count; j++)
      out[i] -= unit * own[j] * (unit * own[j]);
    if (out[i] < 0) out[i] = 0;
  }
  scl_release(rows);
  return status;
}

/* ------------ G */

/* Whitened sections are orthonormal in the RKHS of k: their Gram matrix is the identity. */
static scl_status section_gram(const scl_map *map, scl_symmetric **out, scl_error *error) {
  scl_status status;
  if (map->own.sections.whitening != NULL) {
    SCL_TRY(scl_symmetric_create(map->count, out, error));
    scl_service_symmetric.shift(1, *out);
    return SCL_STATUS_OK;
  }
  status = create_gram(map, out, error);
  if (status == SCL_STATUS_OK) return status;
  scl_symmetric_destroy(*out);
  *out = NULL;
  return status;
}

/* ------------ the other slots */

static bool section_claims(const scl_map *map, const scl_map_spec *spec) {
  (void)spec;
  return scl_instance_kind(map->phi) == SCL_KIND_KERNEL;
}

static void section_release(scl_map *map) {
  scl_prepared_release(&map->own.sections.prepared);
  scl_pair_set_destroy(map->own.sections.sparse);
  SCL_RELEASE(map->own.sections.whitening, map->own.sections.factor, map->own.sections.pilot);
}

static size_t section_bytes(const scl_map *map) {
  const scl_sections *own = &map->own.sections;
  return (own->whitening == NULL && own->factor == NULL
              ? 0
              : map->count * map->count * sizeof(double)) +
         (own->pilot == NULL ? 0 : (map->count + 1) * map->dim * sizeof(double)) +
         (own->sparse == NULL ? 0 : scl_pair_set_bytes(own->sparse));
}

static void section_fill_spec(const scl_map *map, scl_map_spec *spec) {
  spec->whiten = map->own.sections.whitening != NULL;
}

/* The Nystrom method approximates k itself. */
static scl_status section_induced(const scl_map *map, const scl_matrix *x, const scl_matrix *y,
                                  scl_matrix *out, scl_error *error) {
  return scl_kernel_matrix(map->phi, x, y, out, error);
}

const scl_map_kind scl_map_kind_section = {.name = "section",
                                           .method = SCL_METHOD_DIRECT,
                                           .keeps_parameters = true,
                                           .claims = section_claims,
                                           .make = section_make,
                                           .release = section_release,
                                           .bytes = section_bytes,
                                           .fill_spec = section_fill_spec,
                                           .features = scl_map_dense_features,
                                           .apply = section_apply,
                                           .takes_csr = section_takes_csr,
                                           .gram = section_gram,
                                           .induced = section_induced};

bool scl_map_is_section(const scl_map *map) { return map->kind == &scl_map_kind_section; }
bool scl_map_is_whitened(const scl_map *map) {
  return scl_map_is_section(map) && map->own.sections.whitening != NULL;
}
void scl_map_unwhiten(const scl_map *map, double *b, size_t c) {
  if (scl_map_is_whitened(map))
    scl_trsm(true, map->count, c, map->own.sections.whitening, (ptrdiff_t)map->count, b,
             (ptrdiff_t)c);
}
double scl_map_jitter(const scl_map *map) {
  return scl_map_is_section(map) ? map->own.sections.jitter : 0;
}
