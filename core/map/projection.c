/* Projections of rows on parameters: what all spaces have in common. How rows of a space are stored
 * and multiplied is in space.c. */
#include "map/projection.h"

#include "base/loops.h"
#include "map/drawn_columns.h"
#include "map/projection_csr.h"
#include "map/space.h"
#include <string.h>

static scl_status draw_by_columns(scl_projection *p, const scl_projection_spec *spec,
                                  scl_error *error) {
  SCL_TRY(scl_drawn_columns_create(spec->origin, p->rows, p->planes, p->dtype, &p->drawn, error));
  p->bytes = scl_drawn_columns_bytes(p->drawn);
  return SCL_STATUS_OK;
}

scl_status scl_projection_create(const scl_projection_spec *spec, scl_projection **out,
                                 scl_error *error) {
  const scl_space_rule *rule = scl_space_of(spec->layout->space);
  scl_projection *p = scl_allocate_zero(sizeof *p);
  if (p == NULL) return scl_fail_memory(error, sizeof *p, "a projection");
  p->rule = rule;
  p->dtype = spec->dtype;
  p->dim = spec->rows->dim;
  p->rows = spec->rows->count;
  p->planes = spec->planes;
  scl_status status = spec->by_columns ? draw_by_columns(p, spec, error)
                      : rule->store == NULL
                          ? scl_fail(error, SCL_STATUS_INTERNAL, "%s are not projected", rule->rows)
                          : rule->store(p, spec, error);
  if (status == SCL_STATUS_OK && spec->rows->bias != NULL &&
      (p->bias = scl_convert(spec->rows->bias, p->rows, p->dtype)) == NULL)
    status = scl_fail_memory(error, p->rows * sizeof(double), "the bias");
  if (status == SCL_STATUS_OK)
    *out = p;
  else
    scl_projection_destroy(p);
  return status;
}

void scl_projection_destroy(scl_projection *p) {
  if (p == NULL) return;
  for (size_t k = 0; p->prepared != NULL && k < p->planes; k++)
    scl_prepared_release(&p->prepared[k]);
  SCL_RELEASE(p->prepared, p->weights, p->support, p->degree, p->begin, p->bias, p->factor,
              p->offset);
  scl_projection_close(p);
  scl_drawn_columns_destroy(p->drawn);
  scl_parameters_release(&p->structured);
  scl_instance_release(p->origin.sampler);
  scl_release(p);
}

size_t scl_projection_bytes(const scl_projection *p) { return p->bytes; }

size_t scl_projection_block(const scl_projection *p) {
  return p->rule->whole_blocks ? p->structured.layout.block : 1;
}

bool scl_projection_turns(const scl_projection *p) { return p->begin != NULL; }

/* to (dim x SCL_LANES) = the transpose of `rows` rows of x, with zeros after the last of them. */
#define TURN(suffix, type) \
  static void turn_##suffix(size_t dim, const type *x, ptrdiff_t stride, size_t rows, type *to) { \
    for (size_t i = 0; i < SCL_LANES; i++) \
      for (size_t j = 0; j < dim; j++) \
        to[j * SCL_LANES + i] = i < rows ? x[(ptrdiff_t)i * stride + (ptrdiff_t)j] : 0; \
  }
TURN(f64, double)
TURN(f32, float)

void scl_projection_turn(const scl_projection *p, const void *x, ptrdiff_t x_stride, size_t rows,
                         void *turned) {
  if (p->dtype == SCL_DTYPE_FLOAT64)
    turn_f64(p->dim, x, x_stride, rows, turned);
  else
    turn_f32(p->dim, x, x_stride, rows, turned);
}

scl_status scl_projection_apply(const scl_projection *p, const scl_tile *tile, scl_error *error) {
  const scl_loops *loops = scl_loops_get();
  if (tile->csr != NULL)
    SCL_TRY(scl_projection_apply_csr(p, tile, error));
  else if (p->drawn != NULL)
    SCL_TRY(scl_projection_apply_thinned(p, tile, error));
  else
    SCL_TRY(p->rule->project(p, tile, error));
  for (size_t i = 0; p->bias != NULL && i < tile->rows; i++) {
    void *z = scl_at_mutable(tile->z, p->dtype, (ptrdiff_t)i * tile->z_stride);
    if (p->dtype == SCL_DTYPE_FLOAT64)
      loops->plus_f64(tile->cols, (const double *)p->bias + tile->first, z);
    else
      loops->plus_f32(tile->cols, (const float *)p->bias + tile->first, z);
  }
  return SCL_STATUS_OK;
}
