/* scl_host.divide_rows: parts of a block of rows on the threads of the pool. */
#include "base/pool.h"
#include "plugin/call.h"
#include "plugin/host.h"
#include "plugin/tables.h"
#include <string.h>

/* Rows of a part unless the plugin says it; states of as many parts are kept at once as fill about
 * WAVE_BYTES, at most WAVE. */
enum { PART_ROWS = 256, WAVE = 256, WAVE_BYTES = 16 << 20 };

/* Some parts of a block, whose states are in `states`, `each` bytes apart. */
typedef struct wave {
  const scl_call *call;
  const scl_rows *rows;
  const scl_division *division;
  void *context;
  size_t first, height; /* the first part; rows of a part */
  char *states;
  size_t each;
} wave;

/* Rows at .. at+count-1 of the block. csr: room for the view of sparse ones. */
static scl_rows part_of(const wave *w, size_t at, size_t count, scl_const_csr *csr) {
  scl_rows part = *w->rows;
  const scl_dtype dtype = part.features.dtype;
  part.first += at;
  part.count = part.features.rows = count;
  if (part.features.data != NULL)
    part.features.data =
        (const char *)part.features.data +
        (ptrdiff_t)at * part.features.row_stride *
            (ptrdiff_t)(dtype == SCL_DTYPE_FLOAT64 ? sizeof(double) : sizeof(float));
  if (part.columns != NULL) part.columns += at * part.entries;
  if (part.targets != NULL) part.targets += at * w->division->targets;
  if (part.weights != NULL) part.weights += at;
  if (part.index != NULL) part.index += at;
  if (part.csr == NULL) return part;
  *csr = *part.csr;
  csr->starts += at;
  csr->rows = count;
  part.csr = csr;
  return part;
}

static scl_status run_part(void *context, size_t index, scl_error *error) {
  const wave *w = context;
  const size_t at = (w->first + index) * w->height;
  scl_const_csr csr;
  scl_rows part = part_of(w, at, scl_min(w->height, w->rows->count - at), &csr);
  return w->division->part(w->context, &part, w->states + index * w->each, error);
}

static scl_status run_call(void *context, size_t index, scl_error *error) {
  return scl_call_task(((const wave *)context)->call, run_part, context, index, error);
}

/* Run `count` parts and merge their states, up to the first one that fails. */
static scl_status run_wave(wave *w, size_t count, scl_error *error) {
  scl_status status = SCL_STATUS_OK;
  memset(w->states, 0, count * w->each);
  status = scl_pool_try(count, run_call, w, error);
  if (status != SCL_STATUS_OK) return status;
  for (size_t i = 0; status == SCL_STATUS_OK && w->division->merge != NULL && i < count; i++)
    status = w->division->merge(w->context, w->states + i * w->each, error);
  return status;
}

scl_status scl_host_divide_rows(const scl_rows *given, const scl_division *asked, void *context,
                                scl_error *error) {
  scl_rows rows;
  scl_division division;
  SCL_TABLE_EXPECT(given, scl_rows, SCL_LEAST_ROWS, error);
  SCL_TABLE_EXPECT(asked, scl_division, SCL_LEAST_DIVISION, error);
  SCL_COPY(&rows, given);
  SCL_COPY(&division, asked);
  if (division.part == NULL)
    return scl_fail(error, SCL_STATUS_INTERNAL, "divide_rows was called without a function");
  wave w = {.call = scl_call_current(),
            .rows = &rows,
            .division = &division,
            .context = context,
            .height = division.rows == 0 ? PART_ROWS : division.rows,
            .each = (division.bytes + 63) / 64 * 64};
  const size_t parts = (rows.count + w.height - 1) / w.height,
               most = scl_max(scl_min(WAVE, WAVE_BYTES / scl_max(w.each, 1)), 1),
               wide = scl_min(parts, most);
  if (division.bytes > SIZE_MAX - 63 ||
      (w.states = scl_allocate_array(wide + 1, w.each + 1)) == NULL)
    return scl_fail_memory(error, wide * w.each, "the states of parts of a block of rows");
  scl_status status = SCL_STATUS_OK;
  for (; status == SCL_STATUS_OK && w.first < parts; w.first += wide)
    status = run_wave(&w, scl_min(wide, parts - w.first), error);
  scl_release(w.states);
  return status;
}
