#include "map/projection.h"

#include "algebra/dense.h"
#include "algebra/matrix.h"
#include "base/loops.h"
#include <math.h>
#include <string.h>

struct scl_projection {
  scl_space space; /* the way it is done: sparse rows may have become dense */
  scl_dtype dtype;
  size_t dim, rows, slots;
  void *weights;    /* dense: rows x dim; sparse: slots x rows; threshold: rows */
  int32_t *support; /* sparse: slots x rows, empty slots point to column 0 with weight 0; threshold:
                       rows */
  int32_t *degree;  /* sparse: for each run of RUN rows its largest in-degree */
  void *bias;       /* rows, or NULL */

  scl_instance *sampler; /* structured */
  scl_parameter_set structured;
  void *factor, *offset; /* dim each, or NULL */
};

enum { RUN = 64 };

/* A gathered product costs about this many of a dense one. */
static const size_t GATHER_COST = 24;

void *scl_convert(const double *from, size_t count, scl_dtype dtype) {
  void *to = scl_allocate_array(scl_max(count, 1), scl_dtype_size(dtype));
  for (size_t i = 0; to != NULL && i < count; i++)
    scl_set_number(to, dtype, i, from[i]);
  return to;
}

/* ---------------------------------------------------------------- making */

static size_t degree_of(const scl_parameters *view, size_t t, size_t slots) {
  const int32_t *support = view->support + (ptrdiff_t)t * view->support_stride;
  size_t degree = 0;
  while (degree < slots && support[degree] >= 0)
    degree++;
  return degree;
}

/* Rows with zeros filled in. */
static scl_status spell_out(scl_projection *p, const scl_parameters *view, scl_error *error) {
  p->space = SCL_SPACE_DENSE;
  p->weights = scl_allocate_zero(scl_max(p->rows * p->dim, 1) * scl_dtype_size(p->dtype));
  if (p->weights == NULL)
    return scl_fail_memory(error, p->rows * p->dim * scl_dtype_size(p->dtype), "the parameters");
  for (size_t t = 0; t < p->rows; t++)
    for (size_t k = 0, degree = degree_of(view, t, p->slots); k < degree; k++) {
      const size_t column =
          (size_t)view->support[(ptrdiff_t)t * view->support_stride + (ptrdiff_t)k];
      scl_set_number(p->weights, p->dtype, t * p->dim + column,
                     view->weights[(ptrdiff_t)t * view->stride + (ptrdiff_t)k]);
    }
  return SCL_STATUS_OK;
}

/* Slot by slot, so that a loop runs over neighbouring parameters. */
static scl_status by_slots(scl_projection *p, const scl_parameters *view, scl_error *error) {
  const size_t count = scl_max(p->slots * p->rows, 1), runs = (p->rows + RUN - 1) / RUN;
  p->weights = scl_allocate_zero(count * scl_dtype_size(p->dtype));
  p->support = scl_allocate_zero(count * sizeof *p->support);
  p->degree = scl_allocate_zero((runs + 1) * sizeof *p->degree);
  if (p->weights == NULL || p->support == NULL || p->degree == NULL)
    return scl_fail_memory(error, count * (scl_dtype_size(p->dtype) + sizeof *p->support),
                           "the parameters");
  for (size_t t = 0; t < p->rows; t++) {
    const size_t degree = degree_of(view, t, p->slots);
    if ((int32_t)degree > p->degree[t / RUN]) p->degree[t / RUN] = (int32_t)degree;
    for (size_t k = 0; k < degree; k++) {
      p->support[k * p->rows + t] =
          view->support[(ptrdiff_t)t * view->support_stride + (ptrdiff_t)k];
      scl_set_number(p->weights, p->dtype, k * p->rows + t,
                     view->weights[(ptrdiff_t)t * view->stride + (ptrdiff_t)k]);
    }
  }
  return SCL_STATUS_OK;
}

/* Rows as they are: dense ones, and the one number of a threshold with its column. */
static scl_status plain_rows(scl_projection *p, const scl_parameters *view, size_t width,
                             scl_error *error) {
  p->weights = scl_allocate_array(scl_max(p->rows * width, 1), scl_dtype_size(p->dtype));
  if (p->space == SCL_SPACE_THRESHOLD)
    p->support = scl_allocate_array(p->rows + 1, sizeof *p->support);
  if (p->weights == NULL || (p->space == SCL_SPACE_THRESHOLD && p->support == NULL))
    return scl_fail_memory(error, p->rows * width * scl_dtype_size(p->dtype), "the parameters");
  for (size_t t = 0; t < p->rows; t++) {
    for (size_t k = 0; k < width; k++)
      scl_set_number(p->weights, p->dtype, t * width + k,
                     view->weights[(ptrdiff_t)t * view->stride + (ptrdiff_t)k]);
    if (p->support != NULL) p->support[t] = view->support[(ptrdiff_t)t * view->support_stride];
  }
  return SCL_STATUS_OK;
}

static scl_status structured_rows(scl_projection *p, const scl_layout *layout,
                                  const scl_parameters *view, const double *factor,
                                  const double *offset, scl_error *error) {
  scl_layout own = *layout;
  own.has_bias = 0;
  SCL_TRY(scl_parameters_reserve(&own, p->dim, view->first, p->rows, &p->structured, error));
  memcpy(p->structured.view.weights, view->weights, p->rows * layout->width * sizeof(double));
  if (layout->support > 0)
    memcpy(p->structured.view.support, view->support, p->rows * layout->support * sizeof(int32_t));
  if (factor != NULL && (p->factor = scl_convert(factor, p->dim, p->dtype)) == NULL)
    return scl_fail_memory(error, p->dim * sizeof *factor, "column factors");
  bool moved = false;
  for (size_t j = 0; offset != NULL && j < p->dim; j++)
    moved = moved || offset[j] != 0;
  if (moved && (p->offset = scl_convert(offset, p->dim, p->dtype)) == NULL)
    return scl_fail_memory(error, p->dim * sizeof *offset, "column offsets");
  return SCL_STATUS_OK;
}

static scl_status fill(scl_projection *p, const scl_layout *layout, const scl_parameters *view,
                       const double *factor, const double *offset, scl_error *error) {
  if (view->bias != NULL && (p->bias = scl_convert(view->bias, p->rows, p->dtype)) == NULL)
    return scl_fail_memory(error, p->rows * sizeof(double), "the bias");
  switch (p->space) {
  case SCL_SPACE_DENSE:
  case SCL_SPACE_THRESHOLD:
    return plain_rows(p, view, layout->width, error);
  case SCL_SPACE_SPARSE:
    return p->slots * GATHER_COST > p->dim ? spell_out(p, view, error) : by_slots(p, view, error);
  case SCL_SPACE_STRUCTURED:
    return structured_rows(p, layout, view, factor, offset, error);
  default:
    return scl_fail(error, SCL_STATUS_INTERNAL, "a space without a projection");
  }
}

scl_status scl_projection_create(scl_instance *sampler, const scl_layout *layout,
                                 const scl_parameters *view, scl_dtype dtype, const double *factor,
                                 const double *offset, scl_projection **out, scl_error *error) {
  scl_projection *p = scl_allocate_zero(sizeof *p);
  if (p == NULL) return scl_fail_memory(error, sizeof *p, "a projection");
  p->space = layout->space;
  p->dtype = dtype;
  p->dim = view->dim;
  p->rows = view->count;
  p->slots = layout->support;
  if (layout->space == SCL_SPACE_STRUCTURED) p->sampler = scl_instance_share(sampler);
  const scl_status status = fill(p, layout, view, factor, offset, error);
  if (status == SCL_STATUS_OK)
    *out = p;
  else
    scl_projection_destroy(p);
  return status;
}

void scl_projection_destroy(scl_projection *p) {
  if (p == NULL) return;
  scl_release(p->weights);
  scl_release(p->support);
  scl_release(p->degree);
  scl_release(p->bias);
  scl_release(p->factor);
  scl_release(p->offset);
  scl_parameters_release(&p->structured);
  scl_instance_release(p->sampler);
  scl_release(p);
}

size_t scl_projection_bytes(const scl_projection *p) {
  const size_t size = scl_dtype_size(p->dtype);
  const scl_layout *layout = &p->structured.layout;
  switch (p->space) {
  case SCL_SPACE_DENSE:
    return p->rows * p->dim * size;
  case SCL_SPACE_STRUCTURED:
    return p->rows * (layout->width * sizeof(double) + layout->support * sizeof(int32_t));
  default:
    return p->rows * scl_max(p->slots, 1) * (size + sizeof(int32_t));
  }
}

size_t scl_projection_block(const scl_projection *p) {
  return p->space == SCL_SPACE_STRUCTURED ? p->structured.layout.block : 1;
}

/* ---------------------------------------------------------------- applying */

/* One tile: the pointers of its first row, and the row strides. */
typedef struct tile {
  const char *x;
  char *z;
  ptrdiff_t x_stride, z_stride;
  size_t rows, first, cols;
} tile;

static const void *row_of_x(const scl_projection *p, const tile *t, size_t i) {
  return t->x + (ptrdiff_t)i * t->x_stride * (ptrdiff_t)scl_dtype_size(p->dtype);
}
static void *row_of_z(const scl_projection *p, const tile *t, size_t i) {
  return t->z + (ptrdiff_t)i * t->z_stride * (ptrdiff_t)scl_dtype_size(p->dtype);
}

static void project_dense(const scl_projection *p, const tile *t) {
  const char *w = (const char *)p->weights + t->first * p->dim * scl_dtype_size(p->dtype);
  scl_gemm(p->dtype, false, true, t->rows, t->cols, p->dim, 1, t->x, t->x_stride, w,
           (ptrdiff_t)p->dim, 0, t->z, t->z_stride);
}

static void project_threshold(const scl_projection *p, const tile *t) {
  const scl_loops *loops = scl_loops_get();
  for (size_t i = 0; i < t->rows; i++) {
    if (p->dtype == SCL_DTYPE_FLOAT64)
      loops->gather_f64(t->cols, row_of_x(p, t, i), p->support + t->first,
                        (double *)p->weights + t->first, row_of_z(p, t, i));
    else
      loops->gather_f32(t->cols, row_of_x(p, t, i), p->support + t->first,
                        (float *)p->weights + t->first, row_of_z(p, t, i));
  }
}

/* Row by row, run by run of parameters: as many slots as the largest in-degree of the run. */
static void project_sparse(const scl_projection *p, const tile *t) {
  const scl_loops *loops = scl_loops_get();
  const size_t end = t->first + t->cols, size = scl_dtype_size(p->dtype);
  for (size_t i = 0; i < t->rows; i++) {
    const void *x = row_of_x(p, t, i);
    char *z = row_of_z(p, t, i);
    for (size_t at = t->first; at < end;) {
      const size_t stop = scl_min(end, (at / RUN + 1) * RUN), slots = (size_t)p->degree[at / RUN];
      void *to = z + (at - t->first) * size;
      if (p->dtype == SCL_DTYPE_FLOAT64)
        loops->gather_sum_f64(stop - at, slots, p->rows, x, p->support + at,
                              (const double *)p->weights + at, to);
      else
        loops->gather_sum_f32(stop - at, slots, p->rows, x, p->support + at,
                              (const float *)p->weights + at, to);
      at = stop;
    }
  }
}

/* <offset, x> is the same for all parameters. */
static void add_offset(const scl_projection *p, const tile *t) {
  for (size_t i = 0; p->offset != NULL && i < t->rows; i++) {
    double sum = 0;
    for (size_t j = 0; j < p->dim; j++)
      sum += scl_number(p->offset, p->dtype, j) * scl_number(row_of_x(p, t, i), p->dtype, j);
    for (size_t j = 0; j < t->cols; j++)
      scl_set_number(row_of_z(p, t, i), p->dtype, j,
                     scl_number(row_of_z(p, t, i), p->dtype, j) + sum);
  }
}

static scl_status project_structured(const scl_projection *p, const tile *t, scl_error *error) {
  const scl_ability_structured *ability = scl_instance_ability(p->sampler, SCL_ABILITY_STRUCTURED);
  const size_t size = scl_dtype_size(p->dtype);
  char *scaled = NULL;
  if (p->factor != NULL) {
    scaled = scl_allocate_array(t->rows * p->dim + 1, size);
    if (scaled == NULL) return scl_fail_memory(error, t->rows * p->dim * size, "scaled rows");
    for (size_t i = 0; i < t->rows; i++)
      for (size_t j = 0; j < p->dim; j++)
        scl_set_number(scaled, p->dtype, i * p->dim + j,
                       scl_number(row_of_x(p, t, i), p->dtype, j) *
                           scl_number(p->factor, p->dtype, j));
  }
  scl_parameters part = p->structured.view;
  part.first += t->first;
  part.count = t->cols;
  part.weights += (ptrdiff_t)t->first * part.stride;
  if (part.support != NULL) part.support += (ptrdiff_t)t->first * part.support_stride;
  void *from = scaled == NULL ? (void *)(uintptr_t)t->x : scaled;
  const scl_block x = {
      from, p->dtype, t->rows, p->dim, 1, scaled == NULL ? t->x_stride : (ptrdiff_t)p->dim, 0};
  scl_block z = {t->z, p->dtype, t->rows, t->cols, 1, t->z_stride, 0};
  const scl_status status = scl_instance_prefix(
      p->sampler, ability->apply(p->sampler->self, &part, &x, &z, error), error);
  scl_release(scaled);
  if (status == SCL_STATUS_OK) add_offset(p, t);
  return status;
}

static void add_bias(const scl_projection *p, const tile *t) {
  const scl_loops *loops = scl_loops_get();
  for (size_t i = 0; p->bias != NULL && i < t->rows; i++) {
    if (p->dtype == SCL_DTYPE_FLOAT64)
      loops->plus_f64(t->cols, (const double *)p->bias + t->first, row_of_z(p, t, i));
    else
      loops->plus_f32(t->cols, (const float *)p->bias + t->first, row_of_z(p, t, i));
  }
}

scl_status scl_projection_apply(const scl_projection *p, const void *x, ptrdiff_t x_stride,
                                size_t rows, size_t first, size_t cols, void *z, ptrdiff_t z_stride,
                                scl_error *error) {
  const tile t = {x, z, x_stride, z_stride, rows, first, cols};
  if (p->space == SCL_SPACE_DENSE) project_dense(p, &t);
  if (p->space == SCL_SPACE_THRESHOLD) project_threshold(p, &t);
  if (p->space == SCL_SPACE_SPARSE) project_sparse(p, &t);
  if (p->space == SCL_SPACE_STRUCTURED) SCL_TRY(project_structured(p, &t, error));
  add_bias(p, &t);
  return SCL_STATUS_OK;
}
