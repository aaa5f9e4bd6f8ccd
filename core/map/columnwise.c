#include "map/columnwise.h"

#include "map/map_internal.h"
#include <string.h>

const int32_t *scl_map_columns(const scl_map *map) {
  const scl_projection *p = map->projection;
  const bool single = p != NULL && p->rule->by_threshold && map->pool == NULL && map->fan_in == 1 &&
                      map->fan_out == 1,
             by_parameter = map->spread.variance == NULL && map->spread.column == NULL;
  return single && by_parameter ? p->support : NULL;
}

/* The kept numbers of an array, in fresh memory. */
static void *keep_some(const void *from, size_t size, const size_t *keep, size_t count) {
  char *out = scl_allocate_array(count + 1, size);
  for (size_t i = 0; out != NULL && i < count; i++)
    memcpy(out + i * size, (const char *)from + keep[i] * size, size);
  return out;
}

scl_status scl_map_share_some(const scl_map *map, const size_t *keep, size_t count, scl_map **out,
                              scl_error *error) {
  const size_t size = scl_dtype_size(map->dtype);
  const scl_projection *all = map->projection;
  const bool spreads = map->spread.parameter != NULL && map->spread.stride != 0;
  scl_map *some = scl_allocate_zero(sizeof *some);
  scl_projection *p = scl_allocate_zero(sizeof *p);
  if (some == NULL || p == NULL) {
    SCL_RELEASE(some, p);
    return scl_fail_memory(error, sizeof *some + sizeof *p, "a part of a feature map");
  }
  *some = *map;
  *p = *all;
  some->count = p->rows = some->plane = count;
  some->projection = p;
  p->weights = keep_some(all->weights, size, keep, count);
  p->support = keep_some(all->support, sizeof *p->support, keep, count);
  p->bias = all->bias == NULL ? NULL : keep_some(all->bias, size, keep, count);
  some->scale = keep_some(map->scale, size, keep, count);
  if (spreads) some->spread.parameter = keep_some(map->spread.parameter, size, keep, count);
  if (p->weights && p->support && (p->bias || !all->bias) && some->scale &&
      (some->spread.parameter || !spreads)) {
    *out = some;
    return SCL_STATUS_OK;
  }
  scl_map_release_some(some);
  return scl_fail_memory(error, count * size, "a part of a feature map");
}

void scl_map_release_some(scl_map *some) {
  if (some == NULL) return;
  scl_projection *p = some->projection;
  if (some->spread.stride != 0) scl_release(some->spread.parameter);
  SCL_RELEASE(p->weights, p->support, p->bias, some->scale, p, some);
}
