/* Rows of LIBSVM text: whole, as a stream that is read in each pass, or once. All are compressed
 * sparse rows first; they become dense where the user says so, or where they are filled. */
#include "algebra/csr.h"
#include "base/memory_left.h"
#include "base/text.h"
#include "data/libsvm.h"
#include "data/libsvm_internal.h"

#include <math.h>
#include <string.h>

enum {
  MOST_CLASSES = 1000,
  FILLED = 10,     /* rows of which less than a tenth is not 0 are sparse */
  WIDE = 1 << 12,  /* bytes of dense X for one byte of text: more is taken for a mistake */
  SMALL = 1 << 24, /* bytes of dense X that are never refused */
  SPARE = 50       /* room for the numbers of a file: a fiftieth more than its beginning suggests */
};
static const size_t MOST_BYTES =
    SCL_BUFFER((size_t)1 << 25); /* of a dense block of rows, where a row is no larger */

static const char *const past_features = "has an index past the option features",
                         *const past_model =
                             "has an index past the columns that the model was fitted on";

/* ------------ blocks */

/* Copy the rows of a piece to places `row` and `entry` of larger arrays; labels may be NULL. */
static void copy_piece(const libsvm_rows *piece, scl_dtype dtype, size_t row, size_t entry,
                       int64_t *starts, int32_t *columns, void *values, double *labels) {
  const size_t size = scl_dtype_size(dtype);
  for (size_t i = 0; i < piece->rows; i++)
    starts[row + i + 1] = (int64_t)entry + piece->ends[i];
  if (piece->entries > 0) {
    memcpy(columns + entry, piece->columns, piece->entries * sizeof *columns);
    memcpy((char *)values + entry * size, piece->values, piece->entries * size);
  }
  if (labels != NULL && piece->rows > 0)
    memcpy(labels + row, piece->labels, piece->rows * sizeof *labels);
}

static void release_block(libsvm_source *s) {
  scl_csr_release(&s->block);
  scl_matrix_release(&s->block_labels);
  s->given = 0;
}

/* The next block as sparse rows of `cols` columns; labels in y where it is not NULL. */
static scl_status next_block(scl_source *source, scl_csr *x, scl_matrix *y, scl_error *error) {
  libsvm_source *s = (libsvm_source *)source;
  libsvm_lines *l = &s->lines;
  size_t row = 0, entry = 0;
  SCL_TRY(libsvm_lines_next(l, error));
  if (l->count == 0) return SCL_STATUS_OK;
  if (y != NULL) SCL_TRY(scl_matrix_create_raw(l->rows, 1, SCL_DTYPE_FLOAT64, y, error));
  SCL_TRY(scl_csr_create(l->rows, source->cols, l->entries, l->format.dtype, x, error));
  for (size_t k = 0; k < l->count; k++) {
    copy_piece(&l->pieces[k], l->format.dtype, row, entry, x->starts, x->columns, x->values,
               y == NULL ? NULL : y->data);
    row += l->pieces[k].rows;
    entry += l->pieces[k].entries;
  }
  return SCL_STATUS_OK;
}

/* The same dense, by blocks of bounded bytes. */
static scl_status next_dense(scl_source *source, scl_matrix *x, scl_matrix *y, scl_error *error) {
  libsvm_source *s = (libsvm_source *)source;
  if (s->given == s->block.rows) {
    release_block(s);
    SCL_TRY(next_block(source, &s->block, &s->block_labels, error));
    if (s->block.rows == 0) return SCL_STATUS_OK;
  }
  const size_t most = scl_max(MOST_BYTES / (source->cols * sizeof(double)), 1),
               rows = scl_min(most, s->block.rows - s->given);
  SCL_TRY(scl_matrix_create_raw(rows, source->cols, s->lines.format.dtype, x, error));
  if (y != NULL) *y = scl_matrix_slice(&s->block_labels, s->given, rows, 0, 1);
  scl_csr_fill(&s->block, s->given, rows, x->dtype, x->data, (ptrdiff_t)source->cols);
  s->given += rows;
  return SCL_STATUS_OK;
}

static void rewind_lines(scl_source *source) {
  libsvm_source *s = (libsvm_source *)source;
  libsvm_lines_rewind(&s->lines);
  release_block(s);
}

static scl_status skip_rows(scl_source *source, size_t rows, size_t *passed, scl_error *error) {
  libsvm_source *s = (libsvm_source *)source;
  const scl_mark *mark = scl_marks_find(&s->marks, rows);
  if (mark == NULL) return SCL_STATUS_OK;
  *passed = mark->rows;
  return libsvm_lines_go(&s->lines, mark, error);
}

static void libsvm_destroy(scl_source *source) {
  libsvm_source *s = (libsvm_source *)source;
  libsvm_lines_close(&s->lines);
  release_block(s);
  SCL_RELEASE(s->file_rows, s->marks.list, s->starts, s->columns, s->values, s->labels, s);
}

static const scl_source_class once_class = {.next_sparse = next_block, .destroy = libsvm_destroy},
                              sparse_class = {.next_sparse = next_block,
                                              .rewind = rewind_lines,
                                              .skip = skip_rows,
                                              .destroy = libsvm_destroy},
                              dense_class = {.next = next_dense,
                                             .rewind = rewind_lines,
                                             .skip = skip_rows,
                                             .destroy = libsvm_destroy};

typedef enum libsvm_use { WHOLE, STREAM, ONCE } libsvm_use;

/* *out may be destroyed after an error, too. */
static scl_status make_source(const char *const *paths, size_t files,
                              const scl_libsvm_options *options, libsvm_use use,
                              libsvm_source **out, scl_error *error) {
  libsvm_source *s = *out = scl_allocate_zero(sizeof *s);
  if (s == NULL) return scl_fail_memory(error, sizeof *s, "a file");
  s->base.class = &once_class;
  s->base.sparse = true;
  s->base.cols = options->features;
  s->lines.bounded = use == WHOLE;
  s->lines.needs_rows = use != ONCE;
  s->lines.unpacked = options->unpacked;
  s->lines.format = (libsvm_format){.base = options->from_zero ? 0 : 1,
                                    .features = options->features,
                                    .refusal = use == ONCE ? past_model : past_features,
                                    .dtype = options->dtype};
  SCL_TRY(libsvm_lines_open(paths, files, &s->lines, error));
  s->base.name = s->lines.paths[0];
  s->file_rows = scl_allocate_zero((files + 1) * sizeof *s->file_rows);
  return s->file_rows == NULL ? scl_fail_memory(error, files, "files") : SCL_STATUS_OK;
}

scl_status scl_libsvm_once(const char *path, size_t cols, bool from_zero, scl_source **out,
                           scl_error *error) {
  const scl_libsvm_options options = {
      .features = cols, .from_zero = from_zero, .dtype = SCL_DTYPE_FLOAT64};
  libsvm_source *s;
  const scl_status status = make_source(&path, 1, &options, ONCE, &s, error);
  if (status == SCL_STATUS_OK)
    *out = &s->base;
  else if (s != NULL)
    libsvm_destroy(&s->base);
  return status;
}

/* ------------ collecting */

/* Rows and numbers from the block to the end of its file or share, by the sizes; NaN where that is
 * not known. */
static scl_libsvm_size estimate(const libsvm_lines *l) {
  const size_t size = scl_input_is_packed(l->input) ? SIZE_MAX : scl_input_most(l->input);
  if (size == SIZE_MAX || l->count == 0) return (scl_libsvm_size){NAN, NAN};
  const size_t before = l->file_bytes - l->block_bytes,
               end = l->file == l->stop_file ? scl_min(size, l->stop) : size;
  const double factor = end <= before ? 1 : (double)(end - before) / (double)l->block_bytes;
  return (scl_libsvm_size){factor * (double)l->rows, factor * (double)l->entries};
}

static scl_status refuse_size(const libsvm_source *s, double rows, double entries,
                              scl_error *error) {
  char need[32], left[32];
  const double bytes = 16 * rows + entries * (4 + (double)scl_dtype_size(s->lines.format.dtype));
  return scl_fail(error, SCL_STATUS_NO_MEMORY,
                  "%s: about %.3g numbers in %.3g rows take %s of memory, and %s are free; with "
                  "stream = true they are read from disk in each pass",
                  s->lines.place.path, entries, rows, scl_bytes_text(bytes, need),
                  scl_bytes_text((double)scl_memory_left(), left));
}

/* A larger copy of an array in *array; false where there is no memory. */
static bool enlarge(void **array, size_t used, size_t room, size_t size) {
  void *more = room < used ? NULL : scl_allocate_array(room, size);
  if (more == NULL) return false;
  if (used > 0) memcpy(more, *array, used * size);
  scl_release(*array);
  *array = more;
  return true;
}

/* Room for the rows of the block. What the beginning of the file suggests is reserved at once: pages
 * that are not used take no memory. */
static scl_status reserve(libsvm_source *s, scl_error *error) {
  libsvm_lines *l = &s->lines;
  const size_t rows = s->rows + l->rows, entries = s->entries + l->entries;
  const scl_libsvm_size whole = estimate(l);
  const bool known = whole.rows < 0x1p62 && whole.entries < 0x1p62;
  const size_t guess_rows = known ? (size_t)whole.rows : 0,
               guess = known ? (size_t)whole.entries : 0;
  if (rows + 1 > s->row_room) {
    const size_t room = scl_max(rows + rows / 2, s->rows + guess_rows + guess_rows / SPARE) + 1;
    void *starts = s->starts, *labels = s->labels;
    const bool made = enlarge(&starts, s->rows == 0 ? 0 : s->rows + 1, room, sizeof *s->starts) &&
                      (s->starts = starts, enlarge(&labels, s->rows, room, sizeof *s->labels));
    s->starts = starts;
    if (!made) return refuse_size(s, (double)room, (double)(s->entries + guess), error);
    s->labels = labels;
    s->starts[0] = 0;
    s->row_room = room;
  }
  if (entries <= s->entry_room) return SCL_STATUS_OK;
  const size_t room = scl_max(entries + entries / 2, s->entries + guess + guess / SPARE);
  void *columns = s->columns, *values = s->values;
  const bool made =
      enlarge(&columns, s->entries, room, sizeof *s->columns) &&
      (s->columns = columns, enlarge(&values, s->entries, room, scl_dtype_size(l->format.dtype)));
  s->columns = columns;
  if (!made) return refuse_size(s, (double)rows, (double)room, error);
  s->values = values;
  s->entry_room = room;
  return SCL_STATUS_OK;
}

/* Adds the rows of the block. */
static scl_status collect(libsvm_source *s, scl_error *error) {
  const libsvm_lines *l = &s->lines;
  SCL_TRY(reserve(s, error));
  for (size_t k = 0; k < l->count; k++) {
    copy_piece(&l->pieces[k], l->format.dtype, s->rows, s->entries, s->starts, s->columns,
               s->values, s->labels);
    s->rows += l->pieces[k].rows;
    s->entries += l->pieces[k].entries;
  }
  return SCL_STATUS_OK;
}

/* ------------ opening */

/* Whether the labels may be classes, as far as they were seen. */
static bool may_be_classes(const libsvm_found *found, scl_choice classification) {
  return classification == SCL_YES ||
         (classification == SCL_AUTO && !found->fractions && !found->labels.overflow);
}

static scl_status find_in_block(const libsvm_lines *l, scl_choice classification,
                                libsvm_found *found, scl_error *error) {
  found->rows += l->rows;
  found->entries += l->entries;
  for (size_t k = 0; k < l->count; k++) {
    const libsvm_rows *piece = &l->pieces[k];
    found->cols = scl_max(found->cols, piece->cols);
    found->fractions = found->fractions || piece->fractions;
    for (size_t i = 0; i < piece->rows && may_be_classes(found, classification); i++)
      if (!scl_labels_add(&found->labels, piece->labels[i]))
        return scl_fail_memory(error, found->labels.count * sizeof(double), "labels");
  }
  return SCL_STATUS_OK;
}

/* One pass over all files; whole: the rows are collected. */
static scl_status pass(libsvm_source *s, bool whole, scl_choice classification, libsvm_found *found,
                       scl_error *error) {
  size_t rows = 0;
  s->base.seeks = !whole;
  if (classification == SCL_AUTO) found->labels.most = MOST_CLASSES;
  for (;;) {
    SCL_TRY(libsvm_lines_next(&s->lines, error));
    if (s->lines.count == 0) return SCL_STATUS_OK;
    s->file_rows[s->lines.file] += s->lines.rows;
    rows += s->lines.rows;
    s->base.seeks = s->base.seeks && scl_input_seeks(s->lines.input);
    SCL_TRY(find_in_block(&s->lines, classification, found, error));
    SCL_TRY(whole ? collect(s, error)
                  : scl_marks_add(&s->marks, libsvm_lines_mark(&s->lines, rows), error));
  }
}

/* One index makes a dense X as wide as it says: a mistake in a small file must not ask for all
 * memory. */
static scl_status check_width(const libsvm_source *s, const scl_table *table, scl_error *error) {
  const double x =
      (double)table->rows * (double)table->cols * (double)scl_dtype_size(s->lines.format.dtype);
  char x_text[32], file_text[32];
  if (x <= SMALL || x <= WIDE * (double)s->lines.bytes) return SCL_STATUS_OK;
  return scl_fail(
      error, SCL_STATUS_BAD_DATA,
      "%s: the largest index is %zu, so that X would be %zu x %zu numbers, %s of memory for %s of "
      "text; sparse = true keeps the numbers that are there, and option 'features' = %zu says that "
      "this is meant",
      s->base.name, table->cols, table->rows, table->cols, scl_bytes_text(x, x_text),
      scl_bytes_text((double)s->lines.bytes, file_text), table->cols);
}

/* The sizes and the task of the table, after the pass. *sparse: how its rows are given. */
static scl_status decide(libsvm_source *s, const scl_libsvm_options *o, libsvm_found *found,
                         scl_table *out, bool *sparse, scl_error *error) {
  const bool classes = may_be_classes(found, o->classification);
  out->rows = found->rows;
  out->cols = s->base.cols = o->features > 0 ? o->features : found->cols;
  if (out->cols == 0)
    return scl_fail(
        error, SCL_STATUS_BAD_DATA,
        "%s: no row has an index:value; option 'features' says how many columns there are",
        s->base.name);
  *sparse = o->sparse == SCL_YES ||
            (o->sparse == SCL_AUTO &&
             (double)found->entries * FILLED < (double)out->rows * (double)out->cols);
  if (!*sparse && o->features == 0) SCL_TRY(check_width(s, out, error));
  out->parts = s->lines.files;
  out->part_rows = s->file_rows;
  s->file_rows = NULL;
  if (!classes) {
    scl_release(found->labels.values);
    found->labels = (scl_labels){0};
    return SCL_STATUS_OK;
  }
  out->classification = true;
  const scl_status status = scl_table_take_labels(out, &found->labels, error);
  found->labels = (scl_labels){0};
  return status;
}

/* The collected rows become those of the table. */
static scl_status give_rows(libsvm_source *s, bool sparse, scl_table *out, scl_error *error) {
  SCL_TRY(scl_matrix_create_raw(s->rows, 1, SCL_DTYPE_FLOAT64, &out->y, error));
  memcpy(out->y.data, s->labels, s->rows * sizeof *s->labels);
  const scl_dtype dtype = s->lines.format.dtype;
  int64_t *starts = s->starts;
  int32_t *columns = s->columns;
  void *values = s->values;
  s->starts = NULL; /* they are the matrix's, also after a failure */
  s->columns = NULL;
  s->values = NULL;
  SCL_TRY(scl_csr_adopt(s->rows, out->cols, starts, columns, values, dtype, &out->csr, error));
  if (sparse) return SCL_STATUS_OK;
  SCL_TRY(scl_table_admit(out, dtype, error));
  SCL_TRY(scl_matrix_create_raw(out->rows, out->cols, dtype, &out->x, error));
  scl_csr_fill(&out->csr, 0, out->rows, dtype, out->x.data, (ptrdiff_t)out->cols);
  scl_csr_release(&out->csr);
  return SCL_STATUS_OK;
}

/* Prepare to read the files from their beginning, in each process. */
static scl_status begin_anew(libsvm_source *s, libsvm_found *found, scl_table *out,
                             scl_error *error) {
  libsvm_lines_rewind(&s->lines);
  s->lines.needs_rows = true;
  s->rows = s->entries = s->row_room = s->entry_room = s->marks.count = 0;
  SCL_RELEASE(s->starts, s->columns, s->values, s->labels, s->file_rows, found->labels.values);
  s->file_rows = scl_allocate_zero((s->lines.files + 1) * sizeof *s->file_rows);
  s->starts = NULL;
  s->columns = NULL;
  s->values = s->labels = NULL;
  *found = (libsvm_found){0};
  scl_table_destroy(out);
  out->name_prefix = "";
  return s->file_rows == NULL ? scl_fail_memory(error, s->lines.files, "files") : SCL_STATUS_OK;
}

/* One pass, by shares of several processes where they divide it; *again: each is to read all. */
static scl_status try_pass(libsvm_source *s, bool whole, bool divided, const scl_libsvm_options *o,
                           libsvm_found *found, scl_table *out, bool *again, scl_error *error) {
  bool sparse = false;
  scl_status status = pass(s, whole, o->classification, found, error);
  *again = false;
  if (divided) status = libsvm_join(s, status, found, again, error);
  if (*again || status != SCL_STATUS_OK) return status;
  SCL_TRY(decide(s, o, found, out, &sparse, error));
  s->base.sparse = sparse;
  if (!whole) return SCL_STATUS_OK;
  return divided ? libsvm_join_rows(s, found, sparse, out, again, error)
                 : give_rows(s, sparse, out, error);
}

/* The pass that opens the files; whole: it collects their rows. */
static scl_status read_all(libsvm_source *s, bool whole, const scl_libsvm_options *o,
                           scl_table *out, scl_error *error) {
  libsvm_found found = {0};
  bool divided, again;
  SCL_TRY(libsvm_divide(s, whole, &divided, error));
  do {
    if (!divided) SCL_TRY(begin_anew(s, &found, out, error));
    const scl_status status = try_pass(s, whole, divided, o, &found, out, &again, error);
    scl_release(found.labels.values);
    found.labels = (scl_labels){0};
    if (!again) return status;
    divided = false;
  } while (true);
}

/* An open source whose files were read once. */
static scl_status open_read(const char *const *paths, size_t files, libsvm_use use,
                            const scl_libsvm_options *options, libsvm_source **s, scl_table *out,
                            scl_error *error) {
  memset(out, 0, sizeof *out);
  out->name_prefix = "";
  SCL_TRY(make_source(paths, files, options, use, s, error));
  return read_all(*s, use == WHOLE, options, out, error);
}

scl_status scl_libsvm_read(const char *const *paths, size_t files,
                           const scl_libsvm_options *options, scl_table *out, scl_error *error) {
  libsvm_source *s;
  const scl_status status = open_read(paths, files, WHOLE, options, &s, out, error);
  if (s != NULL) libsvm_destroy(&s->base);
  if (status != SCL_STATUS_OK) scl_table_destroy(out);
  return status;
}

/* ------------ streaming */

scl_status scl_libsvm_stream(const char *const *paths, size_t files,
                             const scl_libsvm_options *options, scl_table *out, scl_source **source,
                             scl_error *error) {
  libsvm_source *s;
  const scl_status status = open_read(paths, files, STREAM, options, &s, out, error);
  if (status == SCL_STATUS_OK) {
    libsvm_lines_rewind(&s->lines);
    s->base.class = s->base.sparse ? &sparse_class : &dense_class;
    s->base.rows = out->rows;
    s->base.targets = 1;
    *source = &s->base;
    return status;
  }
  if (s != NULL) libsvm_destroy(&s->base);
  scl_table_destroy(out);
  return status;
}

scl_status scl_libsvm_estimate(const char *path, const scl_libsvm_options *options,
                               scl_libsvm_size *out, scl_error *error) {
  libsvm_source *s;
  scl_status status = make_source(&path, 1, options, ONCE, &s, error);
  if (status == SCL_STATUS_OK) status = libsvm_lines_next(&s->lines, error);
  if (status == SCL_STATUS_OK) *out = estimate(&s->lines);
  if (s != NULL) libsvm_destroy(&s->base);
  return status;
}
