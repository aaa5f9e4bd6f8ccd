/* Kind `plain`: a nonlinearity without K. Phi(x)_t = s_t phi(z_t), z_t = <w_t, x>, with the scales
 * s_t of the sampler, or 1/sqrt(T). */
#include "map/kinds.h"
#include "plugin/blocks.h"

/* Asked after `section` and `cells`. */
static bool plain_claims(const scl_map *map, const scl_map_spec *spec) {
  (void)spec;
  return map->kernel == NULL;
}

/* The slot `make`: the projection on the drawn parameters, and the scales. */
static scl_status plain_make(scl_map *map, const scl_map_spec *spec, const scl_parameter_set *drawn,
                             scl_error *error) {
  const scl_projection_spec projection = {.origin = &map->origin,
                                          .layout = &drawn->layout,
                                          .rows = &drawn->view,
                                          .planes = map->pool != NULL ? 1 : map->fan_in,
                                          .by_columns = map->by_columns,
                                          .dtype = map->dtype};
  SCL_TRY(scl_projection_create(&projection, &map->projection, error));
  return scl_map_set_scales(map, drawn, spec->scale, error);
}

static scl_status plain_tile(const scl_map *map, const scl_map_tile *tile, scl_error *error) {
  const scl_const_block z = scl_block_view(&tile->z);
  return scl_nonlinearity_apply(map->phi, &z, &tile->y, error);
}

const scl_map_kind scl_map_kind_plain = {.name = "plain",
                                         .method = SCL_METHOD_DIRECT,
                                         .phi_of_z = true,
                                         .separate = true,
                                         .claims = plain_claims,
                                         .make = plain_make,
                                         .features = scl_map_dense_features,
                                         .apply = scl_map_apply_tiles,
                                         .tile = plain_tile,
                                         .induced = scl_map_induced_by_law};
