/* Whole files into memory: three passes over the text (types, levels, numbers), each in parallel over chunks of lines. */
#include "csv_internal.h"
#include "engine/pool.h"
#include "input.h"

#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum { CHUNK_BYTES = 1 << 19 };

typedef struct reading {
  csv_schema schema;
  size_t files;
  char **texts;
  csv_chunk *chunks;
  size_t count, room;
  scl_table *table;
  size_t *to; /* first row of X of each chunk */
  atomic_size_t failed; /* the lowest chunk that failed */
  scl_error *errors;
} reading;

static scl_status add_chunk(reading *r, const char *text, const char *end, size_t file, scl_error *error) {
  if (r->count == r->room) {
    const size_t room = 2 * r->room + 64;
    csv_chunk *more = scl_allocate_array(room, sizeof *more);
    if (more == NULL) return scl_fail_memory(error, room * sizeof *more, "chunks");
    if (r->count > 0) memcpy(more, r->chunks, r->count * sizeof *more);
    scl_release(r->chunks);
    r->chunks = more;
    r->room = room;
  }
  r->chunks[r->count++] = (csv_chunk){text, end, file, 0, 0};
  return SCL_OK;
}

static scl_status cut_into_chunks(reading *r, const char *text, const char *end, size_t file, scl_error *error) {
  while (text < end) {
    const char *wanted = end - text > CHUNK_BYTES ? text + CHUNK_BYTES : end;
    const char *stop = csv_cut(text, end, wanted);
    SCL_TRY(add_chunk(r, text, stop, file, error));
    text = stop;
  }
  return SCL_OK;
}

/* Where the rows of a further file begin: after a header like the first file's. */
static const char *skip_header(const csv_schema *schema, const char *text, const char *end) {
  const char *next = end;
  if (end - text >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0) text += 3;
  while (text < end && csv_blank_line(text, end, &next)) text = next;
  return schema->header ? csv_cut(text, end, text) : text;
}

static scl_status load(reading *r, scl_error *error) {
  for (size_t k = 0; k < r->files; k++) {
    size_t length;
    const char *body;
    SCL_TRY(scl_input_all(r->schema.paths[k], &r->texts[k], &length, error));
    const char *text = r->texts[k], *end = text + length;
    if (k == 0)
      SCL_TRY(csv_schema_open(&r->schema, text, end, &body, error));
    else
      body = skip_header(&r->schema, text, end);
    SCL_TRY(cut_into_chunks(r, body, end, k, error));
  }
  return SCL_OK;
}

static void parse_task(void *context, size_t index) {
  reading *r = context;
  scl_error error = {0};
  if (csv_parse_chunk(&r->schema, &r->chunks[index], &r->table->x, &r->table->y, r->to[index], &error) == SCL_OK) return;
  r->errors[index] = error;
  size_t lowest = atomic_load(&r->failed);
  while (index < lowest && !atomic_compare_exchange_weak(&r->failed, &lowest, index)) {
  }
}

static scl_status parse(reading *r, scl_error *error) {
  r->to = scl_allocate_array(r->count + 1, sizeof *r->to);
  r->errors = scl_allocate_zero((r->count + 1) * sizeof *r->errors);
  if (r->to == NULL || r->errors == NULL) return scl_fail_memory(error, r->count * sizeof *r->errors, "chunks");
  for (size_t k = 0, row = 0; k < r->count; row += r->chunks[k++].rows) r->to[k] = row;
  atomic_store(&r->failed, SIZE_MAX);
  scl_pool_run(r->count, parse_task, r);
  const size_t failed = atomic_load(&r->failed);
  if (failed == SIZE_MAX) return SCL_OK;
  if (error != NULL) *error = r->errors[failed];
  return r->errors[failed].status;
}

static int ascending(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

/* Missing numbers get the median of the column in the first file (the training part). */
static scl_status fill_missing(const csv_schema *schema, scl_table *table, scl_error *error) {
  double *values = NULL;
  for (size_t j = 0; j < schema->columns; j++) {
    const csv_column *column = &schema->column[j];
    if (column->categorical || column->missing == 0 || column->outs == 0) continue;
    if (values == NULL && (values = scl_allocate_array(table->rows + 1, sizeof *values)) == NULL)
      return scl_fail_memory(error, table->rows * sizeof *values, "medians");
    size_t count = 0;
    for (size_t pass = 0; pass < 2 && count == 0; pass++) /* the whole column, where the first file has no number in it */
      for (size_t i = 0; i < (pass == 0 ? table->part_rows[0] : table->rows); i++) {
        const double value = scl_matrix_get(&table->x, i, column->first_out);
        if (!isnan(value)) values[count++] = value;
      }
    qsort(values, count, sizeof *values, ascending);
    const double median = count % 2 == 1 ? values[count / 2] : (values[count / 2 - 1] + values[count / 2]) / 2;
    for (size_t i = 0; i < table->rows; i++)
      if (isnan(scl_matrix_get(&table->x, i, column->first_out))) scl_matrix_set(&table->x, i, column->first_out, median);
  }
  scl_release(values);
  return SCL_OK;
}

static scl_status make_table(reading *r, scl_error *error) {
  scl_table *table = r->table;
  table->parts = r->files;
  table->part_rows = scl_allocate_zero((r->files + 1) * sizeof *table->part_rows);
  if (table->part_rows == NULL) return scl_fail_memory(error, r->files, "parts");
  for (size_t k = 0; k < r->count; k++) {
    table->part_rows[r->chunks[k].file] += r->chunks[k].rows;
    table->rows += r->chunks[k].rows;
  }
  if (table->rows == 0) return scl_fail(error, SCL_BAD_DATA, "%s: there are no rows after the header", r->schema.paths[0]);
  SCL_TRY(csv_describe(&r->schema, table, error));
  SCL_TRY(scl_matrix_create(table->rows, r->schema.cols_out, r->schema.options->dtype, &table->x, error));
  if (r->schema.target >= 0) SCL_TRY(scl_matrix_create(table->rows, 1, SCL_F64, &table->y, error));
  SCL_TRY(parse(r, error));
  SCL_TRY(fill_missing(&r->schema, table, error));
  return table->classification && table->class_names == NULL ? scl_table_number_classes(table, error) : SCL_OK;
}

static scl_status read_all(reading *r, scl_error *error) {
  r->texts = scl_allocate_zero((r->files + 1) * sizeof *r->texts);
  if (r->texts == NULL) return scl_fail_memory(error, r->files * sizeof *r->texts, "files");
  SCL_TRY(load(r, error));
  SCL_TRY(csv_schema_count(&r->schema, r->chunks, r->count, error));
  SCL_TRY(csv_schema_decide(&r->schema, error));
  SCL_TRY(csv_schema_levels(&r->schema, r->chunks, r->count, error));
  csv_schema_lay_out(&r->schema);
  return make_table(r, error);
}

scl_status scl_csv_read(const char *const *paths, size_t n_paths, const scl_csv_options *options, scl_table *out, scl_error *error) {
  reading r = {.schema = {.options = options, .paths = paths}, .files = n_paths, .table = out};
  memset(out, 0, sizeof *out);
  const scl_status status = read_all(&r, error);
  csv_schema_close(&r.schema);
  for (size_t k = 0; r.texts != NULL && k < n_paths; k++) scl_release(r.texts[k]);
  scl_release(r.texts);
  scl_release(r.chunks);
  scl_release(r.to);
  scl_release(r.errors);
  if (status != SCL_OK) scl_table_destroy(out);
  return status;
}
