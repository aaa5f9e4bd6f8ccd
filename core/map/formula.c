/* Formulas of feature maps. */
#include "map/formula.h"

#include "map/kinds.h"
#include "plugin/formula.h"

/* A sentence for maps that are not s_t phi(<w_t, x>) in numbers. */
static scl_status check_kind(const scl_map *map, scl_error *error) {
  if (map->bare)
    return scl_fail(error, SCL_STATUS_UNSUPPORTED, "parameters alone have no features");
  if (scl_map_part_count(map) > 0)
    return scl_fail(error, SCL_STATUS_UNSUPPORTED, "a union has the formulas of its parts");
  if (map->kind == &scl_map_kind_section)
    return scl_fail(error, SCL_STATUS_UNSUPPORTED,
                    "features of kernel.%s, k(w, x), have no formula in C",
                    scl_instance_name(map->phi));
  if (map->kernel != NULL)
    return scl_fail(error, SCL_STATUS_UNSUPPORTED,
                    "features with K = kernel.%s have no formula in C",
                    scl_instance_name(map->kernel));
  if (map->kind != &scl_map_kind_plain)
    return scl_fail(error, SCL_STATUS_UNSUPPORTED,
                    "features of kind \"%s\" (nonlinearity.%s) have no formula in C",
                    map->kind->name, scl_instance_name(map->phi));
  return SCL_STATUS_OK;
}

scl_status scl_map_formula_of(const scl_map *map, scl_map_formula *out, scl_error *error) {
  map = scl_map_base(map);
  *out = (scl_map_formula){.fan_in = map->fan_in, .fan_out = map->fan_out};
  SCL_TRY(check_kind(map, error));
  const scl_layout layout = scl_map_seen_layout(map);
  const scl_nonlinearity *table = scl_instance_vtable(map->phi);
  out->space = layout.space;
  out->has_bias = map->layout.has_bias;
  out->simple = table->apply == NULL;
  SCL_TRY(scl_formula(map->phi, &out->phi, error));
  if (out->phi == NULL)
    return scl_fail(error, SCL_STATUS_UNSUPPORTED, "nonlinearity.%s has no formula in C",
                    scl_instance_name(map->phi));
  return SCL_STATUS_OK;
}
