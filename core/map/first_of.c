/* Whether a map's features are the first of another's: sums over rows of the many serve the few. */
#include "map/kinds.h"
#include <math.h>
#include <string.h>

/* Parameters that are drawn one by one, and features that take nothing but their own. Structured
 * ones may make z from the draw itself, and with it from T. Kernel sections have no scales to
 * compare. */
static bool is_plain(const scl_map *map) {
  return map->layout.space != SCL_SPACE_STRUCTURED && !map->bare && !map->given &&
         map->pool == NULL && map->state.storage == NULL && map->kind->one_by_one &&
         map->layout.block == 1 && !(map->layout.flags & SCL_LAYOUT_DEPENDENT) &&
         map->method != SCL_METHOD_QUADRATURE;
}

static bool parameters_equal(const scl_parameters *a, const scl_parameters *b) {
  const bool bias = (a->bias == NULL) == (b->bias == NULL),
             support = (a->support == NULL) == (b->support == NULL);
  return bias && support && a->reals == b->reals && a->integers == b->integers &&
         memcmp(a->weights, b->weights, a->reals * sizeof *a->weights) == 0 &&
         (a->bias == NULL || a->bias[0] == b->bias[0]) &&
         (a->support == NULL ||
          memcmp(a->support, b->support, a->integers * sizeof *a->support) == 0);
}

/* One parameter, all its scalars. */
static bool is_drawn_alike(const scl_map *a, const scl_map *b, size_t t) {
  scl_parameter_set left = {0}, right = {0};
  scl_layout layout; /* the sampler's own: a phase that the map added goes by the place t alone */
  bool alike =
      scl_parameters_layout(a->sampler, a->dim, a->count, &layout, NULL) == SCL_STATUS_OK &&
      scl_parameters_draw(&a->origin, &layout, t, 1, a->fan_in, &left, NULL) == SCL_STATUS_OK &&
      scl_parameters_draw(&b->origin, &layout, t, 1, b->fan_in, &right, NULL) == SCL_STATUS_OK;
  for (size_t k = 0; alike && k < a->fan_in; k++) {
    const scl_parameters u = scl_parameters_part(&left.view, k, 1),
                         v = scl_parameters_part(&right.view, k, 1);
    alike = parameters_equal(&u, &v);
  }
  scl_parameters_release(&left);
  scl_parameters_release(&right);
  return alike;
}

static double scale_at(const scl_map *map, size_t t) {
  return map->dtype == SCL_DTYPE_FLOAT64 ? ((const double *)map->scale)[t]
                                         : (double)((const float *)map->scale)[t];
}

bool scl_map_is_first_of(const scl_map *few, const scl_map *many, double *ratio) {
  enum { LOOKS = 32 }; /* at parameters: a sampler may draw them by how many there are */
  if (!is_plain(few) || !is_plain(many) || few->count > many->count || few->dim != many->dim ||
      few->seed != many->seed || few->dtype != many->dtype || few->fan_in != many->fan_in ||
      few->fan_out != many->fan_out || few->method != many->method ||
      few->layout.has_bias != many->layout.has_bias)
    return false;
  *ratio = scale_at(few, 0) / scale_at(many, 0);
  for (size_t t = 0; t < few->count; t++)
    if (!(fabs(scale_at(few, t) - *ratio * scale_at(many, t)) <= 1e-6 * fabs(scale_at(few, t))))
      return false;
  const size_t step = few->count / LOOKS + 1;
  for (size_t t = 0; t < few->count; t += step)
    if (!is_drawn_alike(few, many, t)) return false;
  return is_drawn_alike(few, many, few->count - 1);
}
