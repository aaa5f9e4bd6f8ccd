/* Rows of CSV files: whole, as a stream, or once. Reading whole and streaming look at all lines
 * when the file is opened, once for types and levels (twice where categories hold numbers) and once
 * for numbers, so that what is wrong is said there. The schema is not touched afterwards: every
 * walk gives the same numbers. Reading whole has all lines in memory, as one block, and the walk's
 * block is kept. */
#define _POSIX_C_SOURCE 200809L
#include "base/text.h"
#include "data/csv/internal.h"
#include "data/files/input.h"
#include "data/shares.h"
#include "processes/processes.h"

#include <math.h>
#include <stdlib.h>
#include <sys/stat.h>

typedef enum csv_use { WHOLE = 0, STREAM, ONCE } csv_use;

typedef struct csv_source {
  scl_source base;
  csv_use use;
  scl_csv_options options;
  csv_schema schema;
  csv_lines lines;
  csv_ids ids;
  char **paths;
  size_t files;
  size_t *file_rows; /* of each file, in the current pass; NULL once it is opened */
  scl_marks marks;   /* of a stream: the blocks of its rows */
  bool again;        /* the shares of the processes could not be read: each is to read all */
} csv_source;

/* ------------ rows */

static void count_rows(csv_source *s) {
  for (size_t k = 0; k < s->lines.count; k++)
    s->file_rows[s->lines.chunks[k].file] += s->lines.chunks[k].rows;
}

/* Parses the rows of this process's chunks into x and y, of whole files the rows of all. Missing
 * numbers are filled, or their rows left out. */
static scl_status parse_lines(csv_source *s, scl_matrix *x, scl_matrix *y, scl_error *error) {
  const csv_lines own = csv_lines_own(&s->lines), *l = s->use == WHOLE ? &s->lines : &own;
  const size_t rows = csv_lines_rows(l);
  if (rows == 0) return SCL_STATUS_OK;
  if (l->divided && s->use == WHOLE) {
    SCL_TRY(csv_parse_shares(&s->schema, l, x, y, &s->again, error));
    if (s->again) return SCL_STATUS_INTERNAL;
    if (s->options.fill == SCL_MISSING_ROW)
      return csv_settle_missing(&s->schema, l, true, s->file_rows, x, y, error);
    count_rows(s);
    return SCL_STATUS_OK;
  }
  SCL_TRY(scl_matrix_create_raw(rows, s->schema.parsed, s->options.dtype, x, error));
  if (s->schema.target >= 0) SCL_TRY(scl_matrix_create_raw(rows, 1, SCL_DTYPE_FLOAT64, y, error));
  SCL_TRY(csv_parse(&s->schema, l->chunks, l->count, x, y, error));
  return csv_settle_missing(&s->schema, l, s->use == WHOLE, s->file_rows, x, y, error);
}

/* The next block that has a row. A source that is read once scans each block first, for its checks
 * and notes. */
static scl_status csv_source_next(scl_source *source, scl_matrix *x, scl_matrix *y,
                                  scl_error *error) {
  csv_source *s = (csv_source *)source;
  while (x->rows == 0 && !csv_lines_end(&s->lines)) {
    scl_matrix_release(x); /* all of its rows were left out */
    if (y != NULL) scl_matrix_release(y);
    SCL_TRY(csv_lines_next(&s->lines, &s->schema, error));
    if (s->use == ONCE && s->lines.count > 0)
      SCL_TRY(csv_scan(&s->schema, s->lines.chunks, s->lines.count, error));
    SCL_TRY(parse_lines(s, x, y, error));
  }
  if (x->rows > 0) return csv_ids_take(&s->ids, &s->schema, &s->lines, error);
  scl_matrix_release(x);
  if (y != NULL) scl_matrix_release(y);
  return SCL_STATUS_OK;
}

static scl_status csv_source_skip(scl_source *source, size_t rows, size_t *passed,
                                  scl_error *error) {
  csv_source *s = (csv_source *)source;
  const scl_mark *mark = scl_marks_find(&s->marks, rows);
  if (mark == NULL) return SCL_STATUS_OK;
  *passed = mark->rows;
  return csv_lines_go(&s->lines, mark, error);
}

/* The next block as sparse rows. */
static scl_status csv_source_next_sparse(scl_source *source, scl_csr *x, scl_matrix *y,
                                         scl_error *error) {
  csv_source *s = (csv_source *)source;
  scl_matrix parsed = {0};
  scl_status status = csv_source_next(source, &parsed, y, error);
  if (status == SCL_STATUS_OK && parsed.rows > 0)
    status = csv_make_sparse(&s->schema, &parsed, x, error);
  scl_matrix_release(&parsed);
  return status;
}

static void rewind_lines(scl_source *source) { csv_lines_rewind(&((csv_source *)source)->lines); }

static void csv_source_destroy(scl_source *source) {
  csv_source *s = (csv_source *)source;
  csv_lines_close(&s->lines);
  csv_schema_close(&s->schema);
  csv_ids_close(&s->ids);
  if (s->paths != NULL) scl_release_texts(s->paths, s->files);
  SCL_RELEASE(s->file_rows, s->marks.list, s);
}

static const scl_source_class csv_class = {.next = csv_source_next,
                                           .rewind = rewind_lines,
                                           .skip = csv_source_skip,
                                           .destroy = csv_source_destroy},
                              csv_sparse_class = {.next_sparse = csv_source_next_sparse,
                                                  .rewind = rewind_lines,
                                                  .skip = csv_source_skip,
                                                  .destroy = csv_source_destroy};

/* Once X is laid out. */
static scl_status settle_places(csv_source *s, scl_error *error) {
  SCL_TRY(csv_settle_places(&s->schema, error));
  s->base.cols = s->schema.cols_out;
  s->base.sparse = s->schema.sparse;
  s->base.class = s->schema.sparse ? &csv_sparse_class : &csv_class;
  return SCL_STATUS_OK;
}

/* ------------ opening */

/* One pass over all chunks: for the sorts of fields, or for the levels of categories that hold
 * numbers. */
static scl_status pass(csv_source *s, bool collect, scl_error *error) {
  csv_lines *l = &s->lines;
  scl_status status = SCL_STATUS_OK;
  memset(s->file_rows, 0, s->files * sizeof *s->file_rows);
  if (!collect && s->schema.sums)
    status = scl_exact_create(s->schema.columns, &s->schema.exact, error);
  do {
    if (status == SCL_STATUS_OK) status = csv_lines_next(l, &s->schema, error);
    if (status == SCL_STATUS_OK && l->end > l->first)
      status = (collect ? csv_collect : csv_scan)(&s->schema, l->chunks + l->first,
                                                  l->end - l->first, error);
    if (status == SCL_STATUS_OK && l->end > l->first && !collect && s->schema.sums)
      status = csv_add_sums(&s->schema, l, error);
    if (status == SCL_STATUS_OK && !l->whole) count_rows(s);
  } while (status == SCL_STATUS_OK && !csv_lines_end(l));
  if (l->divided) status = csv_join_pass(&s->schema, l, collect, status, &s->again, error);
  SCL_TRY(s->again ? SCL_STATUS_INTERNAL : status);
  if (l->whole) count_rows(s);
  if (l->apart && !l->whole) s->file_rows[0] = l->all_rows;
  csv_lines_rewind(l);
  return SCL_STATUS_OK;
}

static scl_status refuse_no_rows(const csv_source *s, scl_error *error) {
  for (size_t k = 0; k < s->files; k++)
    if (s->file_rows[k] == 0)
      return scl_fail(error, SCL_STATUS_BAD_DATA, "%s: there are no rows%s", s->paths[k],
                      s->schema.header && !s->schema.packed ? " after the header" : "");
  return SCL_STATUS_OK;
}

/* A stream fills missing numbers with the means of the first pass: medians would need all
 * numbers in memory. */
static void use_means(csv_schema *schema) {
  for (size_t j = 0; j < schema->columns; j++) {
    csv_column *column = &schema->column[j];
    if (!column->categorical && column->numbers > 0)
      column->fill = column->date && column->order != SCL_YEAR_FIRST
                         ? NAN /* the sum was made before the order was known */
                     : column->overflows > 0
                         ? INFINITY
                         : scl_exact_value(schema->exact, j) / (double)column->numbers;
  }
}

/* The passes that decide what each column is, and where it goes in X. */
static scl_status finish_schema(csv_source *s, scl_error *error) {
  bool again;
  SCL_TRY(pass(s, false, error));
  SCL_TRY(refuse_no_rows(s, error));
  SCL_TRY(csv_schema_decide(&s->schema, &again, error));
  if (again) SCL_TRY(pass(s, true, error));
  SCL_TRY(csv_schema_lay_out(&s->schema, error));
  if (s->use == STREAM && s->options.like == NULL) use_means(&s->schema);
  return settle_places(s, error);
}

/* Counts the rows of a block and collects its labels. A stream notes where the next one begins; when
 * the whole is read, the block moves to the table. */
static scl_status take_block(csv_source *s, scl_table *out, scl_labels *labels, scl_matrix *x,
                             scl_matrix *y, scl_error *error) {
  s->base.rows += x->rows;
  for (size_t i = 0; labels != NULL && i < x->rows; i++)
    if (!scl_labels_add(labels, scl_matrix_get(y, i, 0)))
      return scl_fail_memory(error, labels->count * sizeof(double), "labels");
  if (x->rows == 0) return SCL_STATUS_OK;
  if (s->use == STREAM)
    return scl_marks_add(
        &s->marks, csv_lines_mark(&s->lines, s->lines.divided ? x->rows : s->base.rows), error);
  out->alike = s->lines.divided;
  out->y = *y;
  *y = (scl_matrix){0};
  if (s->schema.sparse) return csv_make_sparse(&s->schema, x, &out->csr, error);
  out->x = *x;
  *x = (scl_matrix){0};
  return SCL_STATUS_OK;
}

static int by_offset(const void *a, const void *b) {
  const scl_mark *x = a, *y = b;
  return (x->offset > y->offset) - (x->offset < y->offset);
}

/* The marks of all: until now each has the rows of its own block. */
static scl_status join_marks(csv_source *s, scl_error *error) {
  void *all = NULL;
  size_t count;
  int64_t dropped = (int64_t)s->schema.dropped;
  const scl_status status = scl_shares_gather(SCL_STATUS_OK, s->marks.count, s->marks.list,
                                              sizeof(scl_mark), &all, &count, error);
  if (status != SCL_STATUS_OK) {
    scl_release(all);
    return status;
  }
  scl_release(s->marks.list);
  s->marks = (scl_marks){all, count, count};
  qsort(all, count, sizeof(scl_mark), by_offset);
  s->base.rows = 0;
  for (size_t i = 0; i < count; i++)
    s->marks.list[i].rows = s->base.rows += s->marks.list[i].rows;
  s->file_rows[0] = s->base.rows;
  SCL_TRY(scl_processes_sum(&dropped, 1, error));
  s->schema.dropped = (size_t)dropped;
  return SCL_STATUS_OK;
}

/* What all have found in the walk over a stream, of which this process had a share. */
static scl_status join_walk(csv_source *s, scl_labels *labels, scl_status mine, scl_error *error) {
  int64_t most[] = {0, labels != NULL && labels->overflow};
  SCL_TRY(scl_shares_end(mine, most, 2, &s->again, error));
  if (s->again) return SCL_STATUS_INTERNAL;
  if (labels != NULL) labels->overflow = most[1] != 0;
  const scl_status status =
      labels != NULL && !labels->overflow ? scl_shares_labels(labels, error) : SCL_STATUS_OK;
  SCL_TRY(scl_processes_meet(status, error, "the labels of a stream"));
  SCL_TRY(csv_join_unknown(&s->schema, error));
  return join_marks(s, error);
}

/* One pass over the numbers: count the rows, collect numeric labels, and keep the block where
 * the whole is read. */
static scl_status walk(csv_source *s, scl_table *out, scl_labels *labels, scl_error *error) {
  csv_lines *l = &s->lines;
  scl_status status;
  memset(s->file_rows, 0, s->files * sizeof *s->file_rows);
  do {
    scl_matrix x = {0}, y = {0};
    status = csv_lines_next(l, &s->schema, error);
    if (status == SCL_STATUS_OK && (l->whole || l->end > l->first))
      status = parse_lines(s, &x, &y, error);
    if (status == SCL_STATUS_OK) status = take_block(s, out, labels, &x, &y, error);
    scl_matrix_release(&x);
    scl_matrix_release(&y);
  } while (status == SCL_STATUS_OK && !csv_lines_end(l));
  if (l->divided && s->use == STREAM) status = join_walk(s, labels, status, error);
  SCL_TRY(status);
  scl_source_rewind(&s->base);
  if (s->base.rows > 0) return SCL_STATUS_OK;
  return scl_fail(
      error, SCL_STATUS_BAD_DATA,
      "%s: every row has a missing number, and missing_values = \"row\" leaves them all out",
      s->base.name);
}

/* Decides whether numbers of the target are classes: by the user, or by the numbers themselves,
 * which are then collected during the walk. */
static scl_status count_and_label(csv_source *s, scl_table *out, scl_error *error) {
  bool named = false;
  const bool guess = csv_may_be_labels(&s->schema, &named);
  const bool numeric_labels = guess || (out->classification && out->class_names == NULL);
  scl_labels labels = {.most = guess && !named ? SCL_FEW_VALUES + 1 : 0};
  const scl_status status = walk(s, out, numeric_labels ? &labels : NULL, error);
  if (guess) scl_labels_decide(&labels, named, s->base.rows, out);
  if (status == SCL_STATUS_OK && numeric_labels && out->classification)
    return scl_table_take_labels(out, &labels, error);
  scl_release(labels.values);
  return status;
}

/* The passes that open a whole table or a stream, and all that the table says about its rows. */
static scl_status prepare(csv_source *s, scl_table *out, scl_error *error) {
  s->schema.sums = s->use == STREAM;
  s->file_rows = scl_allocate_zero((s->files + 1) * sizeof *s->file_rows);
  if (s->file_rows == NULL) return scl_fail_memory(error, s->files * sizeof *s->file_rows, "parts");
  SCL_TRY(finish_schema(s, error));
  SCL_TRY(csv_describe(&s->schema, out, error));
  for (size_t k = 0; k < s->files; k++)
    out->rows += s->file_rows[k];
  scl_status room = SCL_STATUS_OK;
  if (s->use == WHOLE && !s->schema.sparse) room = scl_table_admit(out, s->options.dtype, error);
  if (s->lines.divided) room = scl_processes_meet(room, error, "memory for %zu rows", out->rows);
  SCL_TRY(room);
  s->base.targets = s->schema.target >= 0;
  SCL_TRY(count_and_label(s, out, error));
  SCL_TRY(csv_export(&s->schema, out, error));
  scl_release(s->schema.unknown); /* counted once */
  s->schema.unknown = NULL;
  out->rows = s->base.rows;
  out->parts = s->files;
  out->part_rows = s->file_rows;
  s->file_rows = NULL;
  csv_lines_all(&s->lines);
  return SCL_STATUS_OK;
}

/* Whether the processes divide the chunks of the files. */
static scl_status divide(csv_source *s, scl_error *error) {
  csv_lines *l = &s->lines;
  size_t bytes = 0, least = SIZE_MAX;
  if (!scl_processes_divide() || (s->use == WHOLE && scl_processes_here() < scl_processes_count()))
    return SCL_STATUS_OK;
  for (size_t k = 0; k < s->files; k++) {
    const size_t of_file = scl_shares_bytes(s->paths[k], true);
    least = scl_min(least, of_file);
    bytes += of_file;
  }
  if (least == 0 || bytes < SCL_SHARED_BYTES) return SCL_STATUS_OK;
  l->divided = true;
  SCL_TRY(scl_processes_meet(SCL_STATUS_OK, error, "the reading of %s (%zu bytes)", s->base.name,
                             bytes));
  /* Rows in memory are made of all shares: they are not compared. */
  return s->use != WHOLE
             ? SCL_STATUS_OK
             : scl_shares_same_files((const char *const *)s->paths, s->files, &l->divided, error);
}

/* Allocates the source, reads the first lines and opens the schema. *out may be destroyed after an
 * error. */
static scl_status open_source(const char *const *paths, size_t files, csv_use use, bool alone,
                              const scl_csv_options *options, csv_source **out, scl_error *error) {
  csv_source *s = *out = scl_allocate_zero(sizeof *s);
  if (s == NULL) return scl_fail_memory(error, sizeof *s, "a file");
  s->base.class = &csv_class;
  s->use = use;
  s->options = *options;
  s->files = files;
  s->paths = scl_copy_texts(paths, files);
  if (s->paths == NULL) return scl_fail_memory(error, strlen(paths[0]), "a path");
  s->base.name = s->paths[0];
  s->schema.options = &s->options;
  s->schema.paths = (const char *const *)s->paths;
  s->lines.whole = use == WHOLE;
  s->lines.unpacked = options->unpacked;
  if (!alone) SCL_TRY(divide(s, error));
  SCL_TRY(csv_lines_open(&s->lines, s->schema.paths, files, &s->schema, error));
  s->base.seeks = use == STREAM && scl_input_seeks(s->lines.input);
  return SCL_STATUS_OK;
}

/* *out: NULL after an error, when the table is empty. */
static scl_status open_prepared(const char *const *paths, size_t files, csv_use use,
                                const scl_csv_options *options, scl_table *table, scl_source **out,
                                scl_error *error) {
  for (bool alone = false;; alone = true) {
    csv_source *s;
    memset(table, 0, sizeof *table);
    scl_status status = open_source(paths, files, use, alone, options, &s, error);
    if (status == SCL_STATUS_OK) status = prepare(s, table, error);
    *out = s == NULL ? NULL : &s->base;
    if (status == SCL_STATUS_OK) return status;
    const bool again = s != NULL && (s->again || (s->lines.apart && status == SCL_STATUS_BAD_DATA));
    scl_source_destroy(*out);
    scl_table_destroy(table);
    *out = NULL;
    if (!again) return status;
  }
}

scl_status scl_csv_read(const char *const *paths, size_t n_paths, const scl_csv_options *options,
                        scl_table *out, scl_error *error) {
  scl_source *source;
  const scl_status status = open_prepared(paths, n_paths, WHOLE, options, out, &source, error);
  scl_source_destroy(source);
  return status;
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
  return open_prepared(&path, 1, STREAM, options, out, source, error);
}

/* ------------ once */

scl_status scl_csv_once(const char *path, const scl_csv_options *options, const char *id,
                        scl_source **out, scl_error *error) {
  csv_source *s;
  scl_csv_options o = *options;
  o.target = NULL;
  o.target_place = 0;
  o.target_said = true;
  o.features_alone = true;
  if (o.fill == SCL_MISSING_ROW) o.fill = SCL_MISSING_ERROR; /* a row in, a row out */
  scl_status status = open_source(&path, 1, ONCE, true, &o, &s, error);
  if (status == SCL_STATUS_OK) status = csv_schema_lay_out(&s->schema, error);
  if (status == SCL_STATUS_OK) status = settle_places(s, error);
  if (status == SCL_STATUS_OK) status = csv_ids_open(&s->ids, id, &s->schema, error);
  *out = s == NULL ? NULL : &s->base;
  if (status == SCL_STATUS_OK) return status;
  scl_source_destroy(*out);
  *out = NULL;
  return status;
}

bool scl_csv_is(const scl_source *source) {
  return source->class == &csv_class || source->class == &csv_sparse_class;
}

const char *scl_csv_id(const scl_source *source, size_t i, size_t *length) {
  if (!scl_csv_is(source)) return NULL;
  const csv_ids *ids = &((const csv_source *)source)->ids;
  if (ids->ends == NULL) return NULL;
  const size_t from = i == 0 ? 0 : ids->ends[i - 1];
  *length = ids->ends[i] - from;
  return ids->texts + from;
}

scl_status scl_csv_notes(const scl_source *source, scl_note **notes, size_t *count,
                         scl_error *error) {
  *notes = NULL;
  *count = 0;
  if (!scl_csv_is(source)) return SCL_STATUS_OK;
  return csv_notes(&((const csv_source *)source)->schema, notes, count, error);
}
