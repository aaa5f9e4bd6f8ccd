/* Lines of a file, a buffer at a time: a buffer that begins with a whole line, cut into chunks. */
#include "data/csv_internal.h"
#include "data/input.h"

enum { BUFFER_BYTES = SCL_BUFFER(1 << 21), CHUNK_BYTES = SCL_BUFFER(1 << 18), FIRST_LINES = 64 };

scl_status csv_lines_open(csv_lines *l, const char *path, char separator, scl_error *error) {
  *l = (csv_lines){.path = path, .separator = separator, .room = BUFFER_BYTES, .line = 1};
  l->buffer = scl_allocate(BUFFER_BYTES + 1);
  if (l->buffer == NULL) return scl_fail_memory(error, BUFFER_BYTES, "a file");
  return scl_input_open(path, &l->input, error);
}

void csv_lines_close(csv_lines *l) {
  scl_input_close(l->input);
  scl_release(l->buffer);
  *l = (csv_lines){0};
}

/* Move what no chunk covered to the front and read on. */
static scl_status fill_buffer(csv_lines *l, scl_error *error) {
  size_t got = 0;
  memmove(l->buffer, l->buffer + l->taken, l->used - l->taken);
  l->used -= l->taken;
  l->taken = 0;
  SCL_TRY(scl_input_read(l->input, l->buffer + l->used, l->room - l->used, &got, error));
  const char *zero = memchr(l->buffer + l->used, 0, got);
  if (zero != NULL) return scl_input_refuse_zero(l->path, l->buffer, zero, l->line, error);
  l->used += got;
  l->ended = l->used < l->room;
  l->buffer[l->used] = 0;
  return SCL_STATUS_OK;
}

static scl_status enlarge_buffer(csv_lines *l, scl_error *error) {
  if (l->room >= CSV_LONGEST_LINE)
    return scl_fail(error, SCL_STATUS_BAD_DATA,
                    "%s: line %zu is longer than %zu bytes; is a quote left open?", l->path,
                    l->line, l->room);
  char *more = scl_allocate(2 * l->room + 1);
  if (more == NULL) return scl_fail_memory(error, 2 * l->room, "a long line");
  memcpy(more, l->buffer, l->used);
  scl_release(l->buffer);
  l->buffer = more;
  l->room *= 2;
  return SCL_STATUS_OK;
}

/* Lines from `at` on that are whole, cut into chunks with their rows counted. */
static void cut(csv_lines *l, const char *at) {
  const char *end = l->buffer + l->used, *blank;
  const ptrdiff_t least = (ptrdiff_t)scl_max(CHUNK_BYTES, l->used / (CSV_MOST_CHUNKS - 1));
  l->count = 0;
  l->line += csv_count_lines(l->buffer, at);
  while (at < end) {
    csv_chunk chunk = {.text = at, .first_row = l->rows, .first_line = l->line};
    while (at < end && at - chunk.text < least) {
      const char *stop = csv_line_end(at, end, l->separator);
      if (stop == end && !l->ended) break; /* perhaps cut off: it comes again with what follows */
      chunk.rows += !csv_blank_line(at, end, l->separator, &blank);
      at = stop;
    }
    if (at == chunk.text) break;
    chunk.end = at;
    l->rows += chunk.rows;
    l->line += csv_count_lines(chunk.text, at);
    l->chunks[l->count++] = chunk;
  }
  l->taken = (size_t)(at - l->buffer);
}

scl_status csv_lines_next(csv_lines *l, scl_error *error) {
  SCL_TRY(fill_buffer(l, error));
  for (cut(l, l->buffer); l->count == 0 && !l->ended; cut(l, l->buffer)) {
    SCL_TRY(enlarge_buffer(l, error));
    SCL_TRY(fill_buffer(l, error));
  }
  return SCL_STATUS_OK;
}

static size_t lines_from_first(const csv_lines *l) {
  const char *end = l->buffer + l->used;
  return csv_count_lines(csv_first_line(l->buffer, end), end);
}

scl_status csv_lines_look(csv_lines *l, scl_error *error) {
  SCL_TRY(fill_buffer(l, error));
  while (!l->ended && lines_from_first(l) < FIRST_LINES && l->room < CSV_LONGEST_LINE) {
    SCL_TRY(enlarge_buffer(l, error));
    SCL_TRY(fill_buffer(l, error));
  }
  if (l->ended || lines_from_first(l) > 0) return SCL_STATUS_OK;
  return scl_fail(error, SCL_STATUS_BAD_DATA,
                  "%s: its first line does not end within the first %d bytes", l->path,
                  CSV_LONGEST_LINE);
}

scl_status csv_lines_first(csv_lines *l, const csv_schema *schema, scl_error *error) {
  const char *body;
  l->separator = schema->separator;
  SCL_TRY(csv_schema_skip_header(schema, 0, l->buffer, l->buffer + l->used, &body, error));
  for (cut(l, body); l->count == 0 && !l->ended; cut(l, body)) {
    l->taken = 0; /* the header or the first row is longer than the buffer */
    l->line = 1;
    SCL_TRY(enlarge_buffer(l, error));
    SCL_TRY(fill_buffer(l, error));
    SCL_TRY(csv_schema_skip_header(schema, 0, l->buffer, l->buffer + l->used, &body, error));
  }
  return SCL_STATUS_OK;
}

scl_status csv_lines_parse(const csv_lines *l, csv_schema *schema, scl_matrix *x, scl_matrix *y,
                           scl_error *error) {
  size_t to[CSV_MOST_CHUNKS], rows = 0;
  for (size_t k = 0; k < l->count; k++) {
    to[k] = rows;
    rows += l->chunks[k].rows;
  }
  if (rows == 0) return SCL_STATUS_OK;
  SCL_TRY(scl_matrix_create_raw(rows, schema->cols_out, schema->options->dtype, x, error));
  if (y != NULL) SCL_TRY(scl_matrix_create_raw(rows, 1, SCL_DTYPE_FLOAT64, y, error));
  SCL_TRY(csv_parse(schema, l->chunks, to, l->count, x, y, error));
  if (schema->options->fill != SCL_MISSING_ROW)
    return csv_fill(schema, x, 0, rows, 0, l->chunks[0].first_row, error);
  x->rows = csv_drop_rows(schema, x, y, 0, rows, 0);
  if (y != NULL) y->rows = x->rows;
  return SCL_STATUS_OK;
}
