/* Features phi(<w_t, x> + b_t) s_t without K: random kitchen sinks (Rahimi and Recht 2008). */
#include "map/kinds.h"
#include "plugin/blocks.h"
#include <math.h>

/* A map without K. A K makes it another kind. */
static scl_status plain_bind(scl_map *map, const scl_map_spec *spec, scl_error *error) {
  return spec->kernel == NULL ? SCL_STATUS_OK : scl_weighting_bind(map, spec, error);
}

/* s_t of every parameter, in the map's dtype: the common one, else the sampler's. Parameters on shared
 * rows have 1/sqrt(T). */
static scl_status set_scales(scl_map *map, const scl_parameter_set *drawn, double common,
                             scl_error *error) {
  double *scale = scl_allocate_array(map->count + 1, sizeof *scale);
  if (scale == NULL) return scl_fail_memory(error, map->count * sizeof *scale, "feature scales");
  scl_draw draw = scl_origin_draw(&map->origin, 0, map->fan_in);
  draw.total = map->count;
  const scl_const_parameters view =
      scl_parameters_part_view(&drawn->view, 0, scl_min(map->count, drawn->view.count));
  scl_status status = SCL_STATUS_OK;
  if (common == 0 && map->pool == NULL) {
    status = scl_sampler_scales(map->sampler, &draw, &view, scale, error);
  } else {
    for (size_t t = 0; t < map->count; t++)
      scale[t] = common > 0 ? common : 1 / sqrt((double)map->count);
  }
  if (status == SCL_STATUS_OK && (map->scale = scl_convert(scale, map->count, map->dtype)) == NULL)
    status = scl_fail_memory(error, map->count * sizeof *scale, "feature scales");
  scl_release(scale);
  return status;
}

static scl_status plain_build(scl_map *map, const scl_map_spec *spec, scl_parameter_set *drawn,
                              scl_error *error) {
  const scl_projection_spec projection = {.origin = &map->origin,
                                          .layout = &drawn->layout,
                                          .rows = &drawn->view,
                                          .planes = map->pool != NULL ? 1 : map->fan_in,
                                          .dtype = map->dtype};
  SCL_TRY(scl_projection_create(&projection, &map->projection, error));
  return set_scales(map, drawn, spec->scale, error);
}

static scl_status plain_features(const scl_map *map, const scl_block *z, const scl_spread *v,
                                 const scl_block *out, scl_error *error) {
  const scl_const_block in = scl_block_view(z);
  (void)v;
  return scl_nonlinearity_apply(map->phi, &in, out, error);
}

const scl_map_kind scl_map_kind_plain = {.name = "plain",
                                         .has_codes = true,
                                         .two_valued = true,
                                         .one_by_one = true,
                                         .check = scl_parts_check_nonlinearity,
                                         .bind = plain_bind,
                                         .build = plain_build,
                                         .apply = scl_tiles_apply,
                                         .features = plain_features,
                                         .induced = scl_map_phi_induced};
