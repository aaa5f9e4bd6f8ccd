/* Thresholds: which column each feature reads, and maps of some of the features. Sums by the values
 * of columns (rows/levels.c) make the features of one column at a time. */
#include "map/columnwise.h"

#include "map/kinds.h"
#include "map/projection_csr.h"
#include <string.h>

const int32_t *scl_map_columns(const scl_map *map) {
  const scl_projection *p = map->projection;
  const bool columnwise = p != NULL && p->rule->by_threshold && map->pool == NULL &&
                          map->fan_in == 1 && map->fan_out == 1;
  return columnwise ? p->support : NULL;
}

/* Elements keep[0 .. count-1] of an array of `size` bytes each, in fresh memory; NULL: none
 * left. */
static void *copy_kept(const void *from, size_t size, const size_t *keep, size_t count) {
  char *out = scl_allocate_array(count + 1, size);
  for (size_t i = 0; out != NULL && i < count; i++)
    memcpy(out + i * size, (const char *)from + keep[i] * size, size);
  return out;
}

scl_status scl_map_share_some(const scl_map *map, const size_t *keep, size_t count, scl_map **out,
                              scl_error *error) {
  const size_t size = scl_dtype_size(map->dtype);
  const scl_projection *all = map->projection;
  scl_map *some = scl_allocate_zero(sizeof *some);
  scl_projection *p = scl_allocate_zero(sizeof *p);
  if (some == NULL || p == NULL) {
    SCL_RELEASE(some, p);
    return scl_fail_memory(error, sizeof *some + sizeof *p, "a part of a feature map");
  }
  /* Everything but the arrays below is borrowed from the map. */
  *some = *map;
  *p = *all;
  some->count = p->rows = some->plane = count;
  some->projection = p;
  p->index = NULL;
  p->weights = copy_kept(all->weights, size, keep, count);
  p->support = copy_kept(all->support, sizeof *p->support, keep, count);
  p->bias = all->bias == NULL ? NULL : copy_kept(all->bias, size, keep, count);
  some->scale = copy_kept(map->scale, size, keep, count);
  scl_status status = SCL_STATUS_OK;
  if (map->kind->keep_some != NULL) status = map->kind->keep_some(map, keep, count, some, error);
  if (!p->weights || !p->support || (!p->bias && all->bias) || !some->scale)
    status = scl_fail_memory(error, count * size, "a part of a feature map");
  if (status == SCL_STATUS_OK)
    *out = some;
  else
    scl_map_release_some(some);
  return status;
}

void scl_map_release_some(scl_map *some) {
  if (some == NULL) return;
  scl_projection *p = some->projection;
  if (some->kind->keep_some != NULL) some->kind->release(some);
  scl_projection_close(p);
  SCL_RELEASE(p->weights, p->support, p->bias, some->scale, p, some);
}
