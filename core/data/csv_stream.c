/* Rows of a file block by block, in flat memory: a scan and a walk when it is opened (another scan
 * where categories hold numbers), then one pass of reading a walk. The schema is not touched after
 * it is opened, so that every walk gives the same numbers. */
#define _POSIX_C_SOURCE 200809L
#include "base/text.h"
#include "data/csv_internal.h"
#include "data/input.h"

#include <math.h>
#include <sys/stat.h>

enum {
  BUFFER_BYTES = 1 << 21,
  CHUNK_BYTES = 1 << 18,
  MOST_CHUNKS = 16,
  LONGEST_LINE = 1 << 30,
  FIRST_LINES = 64
};

/* Whole lines of the file, a buffer at a time. */
typedef struct lines {
  const char *path;
  char separator; /* 0: not known yet */
  scl_input *input;
  char *buffer;
  size_t used, room, taken; /* bytes in the buffer, its size, bytes that the chunks covered */
  size_t rows, line;        /* rows before the buffer, line it begins with */
  bool ended;
  csv_chunk chunks[MOST_CHUNKS];
  size_t count;
} lines;

static scl_status open_lines(lines *l, const char *path, char separator, scl_error *error) {
  *l = (lines){.path = path, .separator = separator, .room = BUFFER_BYTES, .line = 1};
  l->buffer = scl_allocate(BUFFER_BYTES + 1);
  if (l->buffer == NULL) return scl_fail_memory(error, BUFFER_BYTES, "a file");
  return scl_input_open(path, &l->input, error);
}

static void close_lines(lines *l) {
  scl_input_close(l->input);
  scl_release(l->buffer);
  *l = (lines){0};
}

/* Move what no chunk covered to the front and read on. */
static scl_status fill_buffer(lines *l, scl_error *error) {
  size_t got = 0;
  memmove(l->buffer, l->buffer + l->taken, l->used - l->taken);
  l->used -= l->taken;
  l->taken = 0;
  SCL_TRY(scl_input_read(l->input, l->buffer + l->used, l->room - l->used, &got, error));
  l->used += got;
  l->ended = l->used < l->room;
  l->buffer[l->used] = 0;
  return SCL_STATUS_OK;
}

static scl_status enlarge_buffer(lines *l, scl_error *error) {
  if (l->room >= LONGEST_LINE)
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
static void cut(lines *l, const char *at) {
  const char *end = l->buffer + l->used, *blank;
  const ptrdiff_t least = (ptrdiff_t)scl_max(CHUNK_BYTES, l->used / (MOST_CHUNKS - 1));
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

/* The next chunks of whole lines; none at the end of the file. */
static scl_status next_lines(lines *l, scl_error *error) {
  SCL_TRY(fill_buffer(l, error));
  for (cut(l, l->buffer); l->count == 0 && !l->ended; cut(l, l->buffer)) {
    SCL_TRY(enlarge_buffer(l, error));
    SCL_TRY(fill_buffer(l, error));
  }
  return SCL_STATUS_OK;
}

/* ---------------------------------------------------------------- the source */

typedef struct csv_source {
  scl_source base;
  scl_csv_options options;
  csv_schema schema;
  char *path;
  const char *path_list[1];
  lines lines;
  bool open;
  scl_matrix x, y; /* rows of the buffer, parsed */
  size_t parsed, taken, next_row;
} csv_source;

static void rewind_source(csv_source *s) {
  if (s->open) close_lines(&s->lines);
  s->open = false;
  scl_matrix_release(&s->x);
  scl_matrix_release(&s->y);
  s->parsed = s->taken = s->next_row = 0;
}

/* The first chunks, past the header. */
static scl_status first_lines(csv_source *s, scl_error *error) {
  lines *l = &s->lines;
  const char *body;
  s->open = true;
  SCL_TRY(open_lines(l, s->path, s->schema.separator, error));
  SCL_TRY(fill_buffer(l, error));
  SCL_TRY(csv_schema_skip_header(&s->schema, 0, l->buffer, l->buffer + l->used, &body, error));
  for (cut(l, body); l->count == 0 && !l->ended;
       cut(l, body)) { /* the header or the first row is longer than the buffer */
    l->taken = 0;
    l->line = 1;
    SCL_TRY(enlarge_buffer(l, error));
    SCL_TRY(fill_buffer(l, error));
    SCL_TRY(csv_schema_skip_header(&s->schema, 0, l->buffer, l->buffer + l->used, &body, error));
  }
  return SCL_STATUS_OK;
}

static scl_status more_lines(csv_source *s, scl_error *error) {
  return s->open ? next_lines(&s->lines, error) : first_lines(s, error);
}

static scl_status fill_missing(csv_source *s, size_t rows, scl_error *error) {
  for (size_t j = 0; j < s->schema.columns; j++) {
    const csv_column *column = &s->schema.column[j];
    if (column->categorical || column->outs == 0 || column->missing == 0) continue;
    for (size_t i = 0; i < rows; i++) {
      if (!isnan(scl_matrix_get(&s->x, i, column->first_out))) continue;
      if (s->options.fill == SCL_MISSING_ERROR)
        return scl_fail(error, SCL_STATUS_BAD_DATA,
                        "%s: row %zu, column %zu (%s): the value is missing", s->path,
                        s->lines.chunks[0].first_row + i + 1, j + 1, column->name);
      scl_matrix_set(&s->x, i, column->first_out, column->sum / (double)column->numbers);
    }
  }
  return SCL_STATUS_OK;
}

/* Parse the next buffer; parsed = 0 at the end of the file. */
static scl_status parse_next(csv_source *s, scl_error *error) {
  size_t to[MOST_CHUNKS], rows = 0;
  lines *l = &s->lines;
  SCL_TRY(more_lines(s, error));
  scl_matrix_release(&s->x);
  scl_matrix_release(&s->y);
  s->parsed = s->taken = 0;
  for (size_t k = 0; k < l->count; k++) {
    to[k] = rows;
    rows += l->chunks[k].rows;
  }
  if (rows == 0) return SCL_STATUS_OK;
  SCL_TRY(scl_matrix_create_raw(rows, s->base.cols, s->options.dtype, &s->x, error));
  SCL_TRY(scl_matrix_create_raw(rows, 1, SCL_DTYPE_FLOAT64, &s->y, error));
  SCL_TRY(csv_parse(&s->schema, l->chunks, to, l->count, &s->x, &s->y, error));
  s->parsed = s->options.fill == SCL_MISSING_ROW
                  ? csv_drop_rows(&s->schema, &s->x, &s->y, 0, rows, 0)
                  : rows;
  return s->options.fill == SCL_MISSING_ROW ? SCL_STATUS_OK : fill_missing(s, rows, error);
}

/* parse_next until there are rows that were not taken; none are left at the end. */
static scl_status have_rows(csv_source *s, bool *any, scl_error *error) {
  while (s->taken == s->parsed && !(s->open && s->lines.ended))
    SCL_TRY(parse_next(s, error));
  *any = s->taken < s->parsed;
  return SCL_STATUS_OK;
}

static scl_status csv_source_read(scl_source *source, size_t first, size_t count, scl_matrix *x,
                                  scl_matrix *y, scl_error *error) {
  csv_source *s = (csv_source *)source;
  bool any;
  if (first == 0) rewind_source(s);
  if (first != s->next_row)
    return scl_fail(error, SCL_STATUS_INTERNAL, "%s: rows can be read in order only", s->path);
  for (size_t done = 0; done < count;) {
    SCL_TRY(have_rows(s, &any, error));
    if (!any)
      return scl_fail(error, SCL_STATUS_IO,
                      "%s: the file has fewer rows than when it was first read", s->path);
    const size_t take = scl_min(count - done, s->parsed - s->taken);
    scl_matrix from = scl_matrix_slice(&s->x, s->taken, take, 0, s->x.cols),
               to = scl_matrix_slice(x, done, take, 0, x->cols);
    scl_matrix_assign(&from, &to);
    scl_matrix_release(&from);
    scl_matrix_release(&to);
    for (size_t i = 0; y != NULL && s->base.targets > 0 && i < take; i++)
      scl_matrix_set(y, done + i, 0, scl_matrix_get(&s->y, s->taken + i, 0));
    done += take;
    s->taken += take;
    s->next_row += take;
  }
  return SCL_STATUS_OK;
}

static void csv_source_destroy(scl_source *source) {
  csv_source *s = (csv_source *)source;
  rewind_source(s);
  csv_schema_close(&s->schema);
  scl_release(s->path);
  scl_release(s);
}

static const scl_source_class csv_source_class = {csv_source_read, csv_source_destroy};

/* ---------------------------------------------------------------- opening */

/* Header, names, target from the first lines: as many as the schema looks at, however long they
 * are. */
static scl_status open_schema(csv_source *s, scl_error *error) {
  lines l = {0};
  const char *body;
  scl_status status = open_lines(&l, s->path, 0, error);
  if (status == SCL_STATUS_OK) status = fill_buffer(&l, error);
  while (status == SCL_STATUS_OK && !l.ended &&
         csv_count_lines(l.buffer, l.buffer + l.used) < FIRST_LINES && l.room < LONGEST_LINE) {
    status = enlarge_buffer(&l, error);
    if (status == SCL_STATUS_OK) status = fill_buffer(&l, error);
  }
  if (status == SCL_STATUS_OK)
    status = csv_schema_open(&s->schema, l.buffer, l.buffer + l.used, &body, error);
  close_lines(&l);
  return status;
}

/* One pass over all chunks. */
static scl_status pass(csv_source *s,
                       scl_status (*use)(csv_schema *, csv_chunk *, size_t, scl_error *),
                       size_t *rows, scl_error *error) {
  scl_status status = SCL_STATUS_OK;
  do {
    status = more_lines(s, error);
    if (status == SCL_STATUS_OK && s->lines.count > 0)
      status = use(&s->schema, s->lines.chunks, s->lines.count, error);
  } while (status == SCL_STATUS_OK && !s->lines.ended);
  *rows = s->open ? s->lines.rows : 0;
  rewind_source(s);
  return status;
}

/* One walk at once, so that what is wrong is said when the file is opened; it gives the numeric
 * labels, and the rows where some are left out. */
static scl_status walk_once(csv_source *s, scl_labels *labels, scl_error *error) {
  bool any = true;
  rewind_source(s);
  for (s->base.rows = 0;; s->base.rows += s->parsed, s->taken = s->parsed) {
    SCL_TRY(have_rows(s, &any, error));
    if (!any) return SCL_STATUS_OK;
    for (size_t i = 0; labels != NULL && i < s->parsed; i++)
      if (!scl_labels_add(labels, scl_matrix_get(&s->y, i, 0)))
        return scl_fail_memory(error, labels->count * sizeof(double), "labels");
  }
}

static scl_status count_and_label(csv_source *s, scl_table *out, scl_error *error) {
  const bool numeric_labels = out->classification && out->class_names == NULL;
  scl_labels labels = {0};
  scl_status status = walk_once(s, numeric_labels ? &labels : NULL, error);
  rewind_source(s);
  if (status == SCL_STATUS_OK && s->base.rows == 0)
    status = scl_fail(
        error, SCL_STATUS_BAD_DATA,
        "%s: every row has a missing number, and missing_values = \"row\" leaves them all out",
        s->path);
  if (status == SCL_STATUS_OK && numeric_labels) return scl_table_take_labels(out, &labels, error);
  scl_release(labels.values);
  return status;
}

static scl_status prepare(csv_source *s, scl_table *out, scl_error *error) {
  size_t rows, same;
  bool again;
  SCL_TRY(open_schema(s, error));
  s->schema.sums = true;
  SCL_TRY(pass(s, csv_scan, &rows, error));
  if (rows == 0)
    return scl_fail(error, SCL_STATUS_BAD_DATA, "%s: there are no rows%s", s->path,
                    s->schema.header ? " after the header" : "");
  SCL_TRY(csv_schema_decide(&s->schema, &again, error));
  if (again) SCL_TRY(pass(s, csv_collect, &same, error));
  SCL_TRY(csv_schema_lay_out(&s->schema, error));
  SCL_TRY(csv_describe(&s->schema, out, error));
  s->base = (scl_source){
      &csv_source_class, rows, s->schema.cols_out, s->schema.target >= 0 ? 1 : 0, false, false};
  SCL_TRY(count_and_label(s, out, error));
  out->rows = s->base.rows;
  out->parts = 1;
  out->part_rows = scl_allocate_zero(sizeof *out->part_rows);
  if (out->part_rows == NULL) return scl_fail_memory(error, sizeof *out->part_rows, "parts");
  out->part_rows[0] = out->rows;
  return SCL_STATUS_OK;
}

static scl_status check_file(const char *path, scl_error *error) {
  struct stat file;
  if (stat(path, &file) == 0 && !S_ISREG(file.st_mode) && !S_ISDIR(file.st_mode))
    return scl_fail(
        error, SCL_STATUS_IO,
        "%s: this is a pipe or device; a stream is read more than once, so it takes a file", path);
  return SCL_STATUS_OK;
}

scl_status scl_csv_stream(const char *path, const scl_csv_options *options, scl_table *out,
                          scl_source **source, scl_error *error) {
  memset(out, 0, sizeof *out);
  SCL_TRY(check_file(path, error));
  csv_source *s = scl_allocate_zero(sizeof *s);
  if (s == NULL) return scl_fail_memory(error, sizeof *s, "a stream");
  s->base.class = &csv_source_class;
  s->options = *options;
  s->path = scl_copy_text(path);
  s->path_list[0] = s->path;
  s->schema.options = &s->options;
  s->schema.paths = s->path_list;
  const scl_status status =
      s->path == NULL ? scl_fail_memory(error, strlen(path), "a path") : prepare(s, out, error);
  if (status == SCL_STATUS_OK) {
    *source = &s->base;
    return SCL_STATUS_OK;
  }
  csv_source_destroy(&s->base);
  scl_table_destroy(out);
  return status;
}
