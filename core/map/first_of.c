/* Whether a map's features are the first features of another map, times a factor. If they are, the
 * normal equations of the larger map contain those of the smaller one, and a search over T needs
 * one pass over the rows. */
#include "map/kinds.h"
#include <math.h>
#include <string.h>

/* Whether parameters are drawn one by one, and each feature depends on its own parameter only.
 * Structured samplers are excluded: their z may depend on the whole draw, and so on T. */
static bool is_separate(const scl_map *map) {
  return map->kind->separate && !map->bare && !map->given && map->pool == NULL &&
         map->state.storage == NULL && map->layout.space != SCL_SPACE_STRUCTURED &&
         map->layout.block == 1 && !(map->layout.flags & SCL_LAYOUT_DEPENDENT);
}

/* Whether the samplers of both maps draw the same parameter t, in all its scalars. A draw that
 * fails counts as different. */
static bool is_drawn_alike(const scl_map *a, const scl_map *b, size_t t) {
  scl_parameter_set left = {0}, right = {0};
  scl_layout layout; /* the sampler's own: a phase that the map added goes by the place t alone */
  bool alike =
      scl_parameters_layout(a->sampler, a->dim, a->count, &layout, NULL) == SCL_STATUS_OK &&
      scl_parameters_draw(&a->origin, &layout, t, 1, a->fan_in, false, &left, NULL) ==
          SCL_STATUS_OK &&
      scl_parameters_draw(&b->origin, &layout, t, 1, b->fan_in, false, &right, NULL) ==
          SCL_STATUS_OK;
  for (size_t k = 0; alike && k < a->fan_in; k++) {
    const scl_parameters u = scl_parameters_part(&left.view, k, 1),
                         v = scl_parameters_part(&right.view, k, 1);
    alike =
        (u.bias == NULL) == (v.bias == NULL) && (u.support == NULL) == (v.support == NULL) &&
        u.reals == v.reals && u.integers == v.integers &&
        memcmp(u.weights, v.weights, u.reals * sizeof *u.weights) == 0 &&
        (u.bias == NULL || u.bias[0] == v.bias[0]) &&
        (u.support == NULL || memcmp(u.support, v.support, u.integers * sizeof *u.support) == 0);
  }
  scl_parameters_release(&left);
  scl_parameters_release(&right);
  return alike;
}

/* Whether features are rounded alike: a learnt grid is the same for the parameters that both
 * have. */
static bool is_rounded_alike(const scl_map *few, const scl_map *many) {
  const scl_grid *a = few->grid, *b = many->grid;
  if (few->whole != many->whole || (a == NULL) != (b == NULL)) return false;
  if (a == NULL) return true;
  if (a->learnt != b->learnt) return false;
  for (size_t j = 0; j < scl_map_features(few); j++) {
    const size_t at = j / few->count * many->count + j % few->count;
    if (a->inverse[j] != b->inverse[at] || (a->learnt && a->offset[j] != b->offset[at]))
      return false;
  }
  return true;
}

bool scl_map_is_first_of(const scl_map *few, const scl_map *many, double *ratio) {
  /* Most samplers draw parameter t from (seed, t) alone, but one may also use T, and no declaration
   * says so: some parameters of both maps are drawn and compared. */
  enum { LOOKS = 32 }; /* about as many parameters are compared */
  if (!is_separate(few) || !is_separate(many) || few->count > many->count ||
      few->dim != many->dim || few->seed != many->seed || few->dtype != many->dtype ||
      few->fan_in != many->fan_in || few->fan_out != many->fan_out || few->kind != many->kind ||
      few->layout.has_bias != many->layout.has_bias || !is_rounded_alike(few, many))
    return false;
  /* Scales must have one ratio. The tolerance is wider than float32's rounding of two scales. */
  *ratio = scl_map_feature_scale(few, 0) / scl_map_feature_scale(many, 0);
  for (size_t t = 0; t < few->count; t++)
    if (!(fabs(scl_map_feature_scale(few, t) - *ratio * scl_map_feature_scale(many, t)) <=
          1e-6 * fabs(scl_map_feature_scale(few, t))))
      return false;
  const size_t step = few->count / LOOKS + 1;
  for (size_t t = 0; t < few->count; t += step)
    if (!is_drawn_alike(few, many, t)) return false;
  return is_drawn_alike(few, many, few->count - 1);
}
