/* Rows of a file block by block, in flat memory: a scan and a walk when it is opened (another scan
 * where categories hold numbers), then one pass of reading a walk. The schema is not touched after
 * it is opened, so that every walk gives the same numbers. */
#define _POSIX_C_SOURCE 200809L
#include "base/text.h"
#include "data/csv/internal.h"

#include <sys/stat.h>

typedef struct csv_source {
  scl_source base;
  scl_csv_options options;
  csv_schema schema;
  char *path;
  const char *path_list[1];
  csv_lines lines;
  bool open;
  scl_matrix x, y; /* rows of the buffer, parsed */
  size_t parsed, taken, next_row;
} csv_source;

static void rewind_source(csv_source *s) {
  if (s->open) csv_lines_close(&s->lines);
  s->open = false;
  scl_matrix_release(&s->x);
  scl_matrix_release(&s->y);
  s->parsed = s->taken = s->next_row = 0;
}

/* The first or the next chunks. */
static scl_status more_lines(csv_source *s, scl_error *error) {
  if (s->open) return csv_lines_next(&s->lines, error);
  s->open = true;
  SCL_TRY(csv_lines_open(&s->lines, s->path, s->schema.separator, error));
  SCL_TRY(csv_lines_look(&s->lines, error));
  return csv_lines_first(&s->lines, &s->schema, error);
}

/* Parse the next buffer; parsed = 0 at the end of the file. */
static scl_status parse_next(csv_source *s, scl_error *error) {
  SCL_TRY(more_lines(s, error));
  scl_matrix_release(&s->x);
  scl_matrix_release(&s->y);
  s->parsed = s->taken = 0;
  SCL_TRY(csv_lines_parse(&s->lines, &s->schema, &s->x, &s->y, error));
  s->parsed = s->x.storage == NULL ? 0 : s->x.rows;
  return SCL_STATUS_OK;
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

/* Header, names, target from the first lines. */
static scl_status open_schema(csv_source *s, scl_error *error) {
  csv_lines l = {0};
  scl_status status = csv_lines_open(&l, s->path, 0, error);
  if (status == SCL_STATUS_OK) status = csv_lines_open_schema(&l, &s->schema, error);
  csv_lines_close(&l);
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
  const bool guess = csv_may_be_labels(&s->schema);
  const bool numeric_labels = guess || (out->classification && out->class_names == NULL);
  scl_labels labels = {0};
  scl_status status = walk_once(s, numeric_labels ? &labels : NULL, error);
  rewind_source(s);
  if (status == SCL_STATUS_OK && s->base.rows == 0)
    status = scl_fail(
        error, SCL_STATUS_BAD_DATA,
        "%s: every row has a missing number, and missing_values = \"row\" leaves them all out",
        s->path);
  if (guess) out->classification = scl_labels_look_like_classes(&labels, s->base.rows);
  if (status == SCL_STATUS_OK && numeric_labels && out->classification)
    return scl_table_take_labels(out, &labels, error);
  scl_release(labels.values);
  return status;
}

static void use_means(csv_schema *schema) {
  for (size_t j = 0; j < schema->columns; j++) {
    csv_column *column = &schema->column[j];
    if (!column->categorical && column->numbers > 0)
      column->fill = column->sum / (double)column->numbers;
  }
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
  if (s->options.like == NULL) use_means(&s->schema);
  SCL_TRY(csv_describe(&s->schema, out, error));
  s->base = (scl_source){
      &csv_source_class, rows, s->schema.cols_out, s->schema.target >= 0 ? 1 : 0, false, false};
  SCL_TRY(count_and_label(s, out, error));
  SCL_TRY(csv_export(&s->schema, out, error));
  scl_release(s->schema.unknown); /* counted once */
  s->schema.unknown = NULL;
  out->rows = s->base.rows;
  out->parts = 1;
  out->part_rows = scl_allocate_zero(sizeof *out->part_rows);
  if (out->part_rows == NULL) return scl_fail_memory(error, sizeof *out->part_rows, "parts");
  out->part_rows[0] = out->rows;
  return SCL_STATUS_OK;
}

static scl_status check_file(const char *path, scl_error *error) {
  struct stat file;
  const bool other = strcmp(path, "-") == 0 ||
                     (stat(path, &file) == 0 && !S_ISREG(file.st_mode) && !S_ISDIR(file.st_mode));
  if (other)
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
