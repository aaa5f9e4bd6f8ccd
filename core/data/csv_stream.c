/* Rows of a file block by block: two scans (types, levels) when it is opened, then one pass of reading per walk, all in flat memory. */
#include "csv_internal.h"
#include "input.h"

#include <math.h>
#include <string.h>

enum { BUFFER = 1 << 22 };

/* Whole lines of the file, a buffer at a time. */
typedef struct lines {
  const char *path;
  scl_input *input;
  char *buffer;
  size_t used, room, taken; /* bytes in the buffer, its size, bytes that the last chunk covered */
  bool ended;
} lines;

static scl_status open_lines(lines *l, const char *path, scl_error *error) {
  *l = (lines){.path = path, .room = BUFFER};
  l->buffer = scl_allocate(BUFFER + 1);
  if (l->buffer == NULL) return scl_fail_memory(error, BUFFER, "a file");
  return scl_input_open(path, &l->input, error);
}

static void close_lines(lines *l) {
  scl_input_close(l->input);
  scl_release(l->buffer);
  *l = (lines){0};
}

/* The next chunk of whole lines, empty at the end. */
static scl_status next_lines(lines *l, csv_chunk *chunk, scl_error *error) {
  size_t got = 0;
  memmove(l->buffer, l->buffer + l->taken, l->used - l->taken);
  l->used -= l->taken;
  l->taken = 0;
  for (;;) {
    SCL_TRY(scl_input_read(l->input, l->buffer + l->used, l->room - l->used, &got, error));
    l->used += got;
    l->ended = l->used < l->room;
    l->buffer[l->used] = 0;
    const char *end = l->buffer + l->used, *stop = end;
    if (!l->ended) { /* back to the last line break that leaves no quote open */
      stop = l->buffer;
      for (const char *at = l->buffer; at < end;) {
        const char *cut = csv_cut(at, end, at);
        if (cut >= end && end[-1] != '\n') break;
        stop = at = cut;
      }
    }
    if (stop > l->buffer || l->ended) {
      l->taken = (size_t)(stop - l->buffer);
      chunk->text = l->buffer;
      chunk->end = stop;
      return SCL_OK;
    }
    char *more = scl_allocate(2 * l->room + 1); /* one line longer than the buffer */
    if (more == NULL || l->room > ((size_t)1 << 30)) {
      scl_release(more);
      return scl_fail(error, SCL_BAD_DATA, "%s: a line is longer than %zu bytes; is a quote left open?", l->path, l->room);
    }
    memcpy(more, l->buffer, l->used);
    scl_release(l->buffer);
    l->buffer = more;
    l->room *= 2;
  }
}

typedef struct csv_source {
  scl_source base;
  scl_csv_options options;
  csv_schema schema;
  char *path;
  const char *path_list[1];
  lines lines;
  csv_chunk chunk;
  bool open;
  /* rows of the current chunk, parsed */
  scl_matrix x, y;
  size_t parsed_first, parsed_count, next_row;
} csv_source;

static void rewind_source(csv_source *s) {
  if (s->open) close_lines(&s->lines);
  s->open = false;
  scl_matrix_release(&s->x);
  scl_matrix_release(&s->y);
  s->parsed_first = s->parsed_count = s->next_row = 0;
}

/* Past the header of a freshly opened file. */
static scl_status start_lines(csv_source *s, scl_error *error) {
  s->open = true;
  SCL_TRY(open_lines(&s->lines, s->path, error));
  SCL_TRY(next_lines(&s->lines, &s->chunk, error));
  const char *text = s->chunk.text, *next = text;
  if (s->chunk.end - text >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0) text += 3;
  while (text < s->chunk.end && csv_blank_line(text, s->chunk.end, &next)) text = next;
  s->chunk.text = s->schema.header ? csv_cut(text, s->chunk.end, text) : text;
  s->chunk.first_row = 0;
  return SCL_OK;
}

static scl_status parse_next(csv_source *s, scl_error *error) {
  csv_chunk chunk;
  if (!s->open) {
    SCL_TRY(start_lines(s, error));
  } else {
    const size_t first = s->chunk.first_row + s->chunk.rows;
    SCL_TRY(next_lines(&s->lines, &s->chunk, error));
    s->chunk.first_row = first;
  }
  chunk = s->chunk;
  SCL_TRY(csv_schema_count(&s->schema, &chunk, 1, error)); /* the rows; the tallies have done their work */
  s->chunk.rows = chunk.rows;
  if (chunk.rows == 0 && s->lines.ended) return scl_fail(error, SCL_IO, "%s: the file has fewer rows than when it was first read", s->path);
  scl_matrix_release(&s->x);
  scl_matrix_release(&s->y);
  SCL_TRY(scl_matrix_create(chunk.rows, s->base.cols, SCL_F64, &s->x, error));
  SCL_TRY(scl_matrix_create(chunk.rows, scl_max(s->base.targets, 1), SCL_F64, &s->y, error));
  SCL_TRY(csv_parse_chunk(&s->schema, &chunk, &s->x, &s->y, 0, error));
  s->parsed_first = chunk.first_row;
  s->parsed_count = chunk.rows;
  return SCL_OK;
}

/* A missing number: the column's mean. */
static void fill_row(const csv_source *s, size_t row) {
  for (size_t j = 0; j < s->schema.columns; j++) {
    const csv_column *column = &s->schema.column[j];
    if (column->categorical || column->outs == 0 || column->missing == 0) continue;
    double *value = scl_matrix_row(&s->x, row) + column->first_out;
    if (isnan(*value)) *value = column->sum / (double)column->numbers;
  }
}

static scl_status csv_source_read(scl_source *source, size_t first, size_t count, scl_matrix *x, scl_matrix *y, scl_error *error) {
  csv_source *s = (csv_source *)source;
  if (first == 0) rewind_source(s);
  if (first != s->next_row) return scl_fail(error, SCL_INTERNAL, "%s: rows can be read in order only", s->path);
  for (size_t done = 0; done < count;) {
    if (s->next_row >= s->parsed_first + s->parsed_count) SCL_TRY(parse_next(s, error));
    const size_t at = s->next_row - s->parsed_first, take = scl_min(count - done, s->parsed_count - at);
    for (size_t i = 0; i < take; i++) fill_row(s, at + i);
    scl_matrix from = scl_matrix_slice(&s->x, at, take, 0, s->x.cols), to = scl_matrix_slice(x, done, take, 0, x->cols);
    scl_matrix_assign(&from, &to);
    scl_matrix_release(&from);
    for (size_t i = 0; y != NULL && i < take; i++) scl_matrix_set(y, done + i, 0, scl_matrix_get(&s->y, at + i, 0));
    done += take;
    s->next_row += take;
  }
  return SCL_OK;
}

static void csv_source_destroy(scl_source *source) {
  csv_source *s = (csv_source *)source;
  rewind_source(s);
  csv_schema_close(&s->schema);
  scl_release(s->path);
  scl_release(s);
}

static const scl_source_class csv_source_class = {csv_source_read, csv_source_destroy};

/* One scan over the file. */
static scl_status scan(csv_source *s, scl_status (*use)(csv_schema *, csv_chunk *, size_t, scl_error *), size_t *rows, scl_error *error) {
  scl_status status = start_lines(s, error);
  for (*rows = 0; status == SCL_OK && s->chunk.text < s->chunk.end;) {
    s->chunk.first_row = *rows;
    status = use(&s->schema, &s->chunk, 1, error);
    *rows += s->chunk.rows;
    if (status == SCL_OK) status = next_lines(&s->lines, &s->chunk, error);
  }
  rewind_source(s);
  return status;
}

static scl_status levels_of(csv_schema *schema, csv_chunk *chunk, size_t count, scl_error *error) {
  return csv_schema_levels(schema, chunk, count, error);
}

static scl_status open_schema(csv_source *s, scl_error *error) {
  csv_chunk chunk;
  const char *body;
  lines l;
  scl_status status = open_lines(&l, s->path, error);
  if (status == SCL_OK) status = next_lines(&l, &chunk, error);
  if (status == SCL_OK) status = csv_schema_open(&s->schema, chunk.text, chunk.end, &body, error);
  close_lines(&l);
  return status;
}

/* Numeric labels of a classification are not listed by the schema: read y once more. */
static scl_status list_classes(csv_source *s, scl_table *out, scl_error *error) {
  scl_matrix x = {0};
  scl_status status = scl_matrix_create(1024, s->base.cols, SCL_F64, &x, error);
  if (status == SCL_OK) status = scl_matrix_create(s->base.rows, 1, SCL_F64, &out->y, error);
  for (size_t first = 0; status == SCL_OK && first < s->base.rows; first += 1024) {
    const size_t count = scl_min(1024, s->base.rows - first);
    scl_matrix part = scl_matrix_slice(&x, 0, count, 0, x.cols), y = scl_matrix_slice(&out->y, first, count, 0, 1);
    status = csv_source_read(&s->base, first, count, &part, &y, error);
    scl_matrix_release(&part);
    scl_matrix_release(&y);
  }
  if (status == SCL_OK) status = scl_table_number_classes(out, error);
  scl_matrix_release(&x);
  scl_matrix_release(&out->y);
  rewind_source(s);
  return status;
}

static scl_status prepare(csv_source *s, scl_table *out, scl_error *error) {
  size_t rows, again;
  SCL_TRY(open_schema(s, error));
  SCL_TRY(scan(s, csv_schema_count, &rows, error));
  if (rows == 0) return scl_fail(error, SCL_BAD_DATA, "%s: there are no rows after the header", s->path);
  SCL_TRY(csv_schema_decide(&s->schema, error));
  SCL_TRY(scan(s, levels_of, &again, error));
  csv_schema_lay_out(&s->schema);
  SCL_TRY(csv_describe(&s->schema, out, error));
  s->base = (scl_source){&csv_source_class, rows, s->schema.cols_out, s->schema.target >= 0 ? 1 : 0, false, false};
  out->rows = rows;
  return out->classification && out->class_names == NULL ? list_classes(s, out, error) : SCL_OK;
}

scl_status scl_csv_stream(const char *path, const scl_csv_options *options, scl_table *out, scl_source **source, scl_error *error) {
  memset(out, 0, sizeof *out);
  csv_source *s = scl_allocate_zero(sizeof *s);
  if (s == NULL) return scl_fail_memory(error, sizeof *s, "a stream");
  s->base.class = &csv_source_class;
  s->options = *options;
  /* The lists of names are read while the schema is made; the words for a missing value at every walk: the caller keeps them alive. */
  s->path = scl_copy_text(path);
  s->path_list[0] = s->path;
  s->schema.options = &s->options;
  s->schema.paths = s->path_list;
  const scl_status status = s->path == NULL ? scl_fail_memory(error, strlen(path), "a path") : prepare(s, out, error);
  if (status == SCL_OK) {
    *source = &s->base;
    return SCL_OK;
  }
  csv_source_destroy(&s->base);
  scl_table_destroy(out);
  return status;
}
