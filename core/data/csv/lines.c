/* Lines of a file, a buffer at a time: a buffer that begins with a whole line, cut into chunks. */
#include "data/csv/internal.h"
#include "data/files/input.h"

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

/* The bytes from place `from` on are new, or came last. Without a separator it is too early; a carriage
 * return at the end of the buffer waits for what follows it. */
static void end_lines(csv_lines *l, size_t from) {
  const char *end = l->buffer + l->used - (!l->ended && l->used > 0);
  if (l->separator == 0 || !csv_has_returns(l->buffer + from, end)) return;
  const char *text = l->line == 1 ? csv_skip_mark(l->buffer, end) : l->buffer;
  csv_end_lines(l->buffer + (text - l->buffer), end, l->separator);
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
  const size_t from = l->used - (l->used > 0);
  l->used += got;
  l->ended = l->used < l->room;
  l->buffer[l->used] = 0;
  end_lines(l, from);
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
  /* All chunks but the last have `least` bytes or more, and the last has one. So k of them mean
   * (k - 1) least < used <= (CSV_MOST_CHUNKS - 1) least, as the quotient is rounded up: k is below
   * CSV_MOST_CHUNKS, whatever the sizes of the buffer and of the lines. */
  const size_t share = (l->used + CSV_MOST_CHUNKS - 2) / (CSV_MOST_CHUNKS - 1);
  const ptrdiff_t least = (ptrdiff_t)scl_max(CHUNK_BYTES, share);
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

/* Are the first lines in the buffer: as many as are looked at, or those that there are? The first
 * one must be whole, with line breaks inside quotes; that is seen once the separator is known. */
static bool have_first_lines(const csv_lines *l, size_t wanted) {
  const char *end = l->buffer + l->used, *at = csv_first_line(l->buffer, end);
  if (l->ended) return true;
  if (l->separator != 0 && csv_line_end(at, end, l->separator) == end) return false;
  for (; at < end && wanted > 0; at++)
    wanted -= *at == '\n' || (*at == '\r' && at[1] != '\n');
  return wanted == 0;
}

scl_status csv_lines_look(csv_lines *l, scl_error *error) {
  SCL_TRY(fill_buffer(l, error));
  while (!have_first_lines(l, FIRST_LINES) && l->room < CSV_LONGEST_LINE) {
    SCL_TRY(enlarge_buffer(l, error));
    SCL_TRY(fill_buffer(l, error));
  }
  if (have_first_lines(l, 1)) return SCL_STATUS_OK;
  return scl_fail(
      error, SCL_STATUS_BAD_DATA,
      "%s: its first line does not end within the first %d bytes; is a quote left open?", l->path,
      CSV_LONGEST_LINE);
}

scl_status csv_lines_open_schema(csv_lines *l, csv_schema *schema, scl_error *error) {
  const char *body;
  SCL_TRY(csv_lines_look(l, error));
  const char *known = l->buffer + l->used - (!l->ended && l->used > 0);
  SCL_TRY(csv_settle_lines(schema, l->buffer, known, csv_has_returns(l->buffer, known), error));
  l->separator = schema->separator;
  SCL_TRY(csv_lines_look(l, error));
  return csv_schema_open(schema, l->buffer, l->buffer + l->used, &body, error);
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
