/* Whole files into memory: the text is inflated, cut into chunks of lines, and passed over twice in
 * parallel, for types and for numbers. */
#include "data/csv/internal.h"
#include "data/files/input.h"

enum { CHUNK_BYTES = SCL_BUFFER(1 << 18) };

typedef struct reading {
  csv_schema schema;
  size_t files;
  scl_text *texts;
  csv_chunk *chunks;
  size_t count, room;
  scl_table *table;
  size_t *to; /* first row of X of each chunk */
} reading;

static scl_status add_chunk(reading *r, csv_chunk chunk, scl_error *error) {
  csv_chunk *chunks = scl_grow(r->chunks, r->count, &r->room, sizeof *chunks);
  if (chunks == NULL) return scl_fail_memory(error, 2 * r->room * sizeof *chunks, "chunks");
  r->chunks = chunks;
  r->chunks[r->count++] = chunk;
  return SCL_STATUS_OK;
}

static scl_status cut_into_chunks(reading *r, const char *text, const char *end, size_t file,
                                  scl_error *error) {
  const bool quotes = r->texts[file].quotes;
  const char separator = r->schema.separator;
  while (text < end) {
    const char *stop = text;
    if (!quotes) /* any line break ends a line */
      stop = end - text > CHUNK_BYTES ? csv_line_end(text + CHUNK_BYTES, end, separator) : end;
    while (stop < end && stop - text < CHUNK_BYTES)
      stop = csv_line_end(stop, end, separator);
    SCL_TRY(add_chunk(
        r, (csv_chunk){.text = text, .end = stop, .file = file, .beginning = r->texts[file].bytes},
        error));
    text = stop;
  }
  return SCL_STATUS_OK;
}

/* One file; *body: where its rows begin. */
static scl_status load_file(reading *r, size_t file, const char **body, scl_error *error) {
  csv_schema *schema = &r->schema;
  scl_text *text = &r->texts[file];
  SCL_TRY(scl_input_text(schema->paths[file], schema->options->unpacked,
                         r->files == 1 ? "; stream = true reads it in blocks" : "", text, error));
  char *first = text->bytes;
  const char *end = first + text->length;
  if (file == 0) {
    SCL_TRY(csv_settle_lines(schema, first, end, text->returns, error));
    return csv_schema_open(schema, first, end, body, error);
  }
  first += csv_skip_mark(first, end) - first;
  if (text->returns) csv_end_lines(first, end, schema->separator);
  return csv_schema_skip_header(schema, file, first, end, body, error);
}

static scl_status load(reading *r, scl_error *error) {
  for (size_t k = 0; k < r->files; k++) {
    const char *body;
    SCL_TRY(load_file(r, k, &body, error));
    SCL_TRY(cut_into_chunks(r, body, r->texts[k].bytes + r->texts[k].length, k, error));
  }
  return SCL_STATUS_OK;
}

/* ---------------------------------------------------------------- missing numbers */

static scl_status drop_rows(const csv_schema *schema, scl_table *table, scl_error *error) {
  size_t first = 0, to = 0;
  for (size_t k = 0; k < table->parts; k++) {
    const size_t rows = table->part_rows[k];
    table->part_rows[k] = csv_drop_rows(schema, &table->x, &table->y, first, rows, to);
    first += rows;
    to += table->part_rows[k];
  }
  if (to == 0)
    return scl_fail(
        error, SCL_STATUS_BAD_DATA,
        "%s: every row has a missing number, and missing_values = \"row\" leaves them all out",
        schema->paths[0]);
  table->rows = table->x.rows = to;
  if (schema->target >= 0) table->y.rows = to;
  return SCL_STATUS_OK;
}

/* Medians come from the first file, the training part. */
static scl_status settle_missing(csv_schema *schema, scl_table *table, scl_error *error) {
  size_t first = 0;
  if (schema->options->fill == SCL_MISSING_ROW) SCL_TRY(drop_rows(schema, table, error));
  if (schema->options->like == NULL && schema->options->fill != SCL_MISSING_ERROR)
    SCL_TRY(csv_find_medians(schema, &table->x, table->part_rows[0], error));
  for (size_t k = 0; k < table->parts && schema->options->fill != SCL_MISSING_ROW;
       first += table->part_rows[k++])
    SCL_TRY(csv_fill(schema, &table->x, first, table->part_rows[k], k, 0, error));
  return SCL_STATUS_OK;
}

/* ---------------------------------------------------------------- all of it */

/* Rows of the files, and the row of X that each chunk begins with. */
static scl_status count_rows(reading *r, scl_error *error) {
  scl_table *table = r->table;
  table->parts = r->files;
  table->part_rows = scl_allocate_zero((r->files + 1) * sizeof *table->part_rows);
  r->to = scl_allocate_array(r->count + 1, sizeof *r->to);
  if (table->part_rows == NULL || r->to == NULL)
    return scl_fail_memory(error, r->count * sizeof *r->to, "parts");
  for (size_t k = 0; k < r->count; k++) {
    r->to[k] = table->rows;
    table->part_rows[r->chunks[k].file] += r->chunks[k].rows;
    table->rows += r->chunks[k].rows;
  }
  for (size_t k = 0; k < r->files; k++)
    if (table->part_rows[k] == 0)
      return scl_fail(error, SCL_STATUS_BAD_DATA, "%s: there are no rows%s", r->schema.paths[k],
                      r->schema.header ? " after the header" : "");
  return SCL_STATUS_OK;
}

static scl_status make_table(reading *r, scl_error *error) {
  scl_table *table = r->table;
  SCL_TRY(csv_describe(&r->schema, table, error));
  SCL_TRY(scl_table_make(table, r->schema.options->dtype, false, r->schema.target >= 0, error));
  SCL_TRY(csv_parse(&r->schema, r->chunks, r->to, r->count, &table->x, &table->y, error));
  SCL_TRY(settle_missing(&r->schema, table, error));
  if (csv_may_be_labels(&r->schema)) {
    scl_labels labels = {0};
    SCL_TRY(scl_table_labels(table, &labels, error));
    table->classification = scl_labels_look_like_classes(&labels, table->rows);
    scl_release(labels.values);
  }
  if (table->classification && table->class_names == NULL)
    SCL_TRY(scl_table_number_classes(table, error));
  return csv_export(&r->schema, table, error);
}

static scl_status read_all(reading *r, scl_error *error) {
  bool again;
  r->texts = scl_allocate_zero((r->files + 1) * sizeof *r->texts);
  if (r->texts == NULL) return scl_fail_memory(error, r->files * sizeof *r->texts, "files");
  SCL_TRY(load(r, error));
  SCL_TRY(csv_scan(&r->schema, r->chunks, r->count, error));
  SCL_TRY(count_rows(r, error));
  SCL_TRY(csv_schema_decide(&r->schema, &again, error));
  if (again) SCL_TRY(csv_collect(&r->schema, r->chunks, r->count, error));
  SCL_TRY(csv_schema_lay_out(&r->schema, error));
  return make_table(r, error);
}

scl_status scl_csv_read(const char *const *paths, size_t n_paths, const scl_csv_options *options,
                        scl_table *out, scl_error *error) {
  reading r = {.schema = {.options = options, .paths = paths}, .files = n_paths, .table = out};
  memset(out, 0, sizeof *out);
  const scl_status status = read_all(&r, error);
  csv_schema_close(&r.schema);
  for (size_t k = 0; r.texts != NULL && k < n_paths; k++)
    scl_release(r.texts[k].bytes);
  SCL_RELEASE(r.texts, r.chunks, r.to);
  if (status != SCL_STATUS_OK) scl_table_destroy(out);
  return status;
}
