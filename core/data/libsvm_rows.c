/* Rows of LIBSVM text: whole, as one block of all files, or once, a buffer of whole lines at a
 * time. */
#include "base/text.h"
#include "data/files/input.h"
#include "data/libsvm.h"
#include "data/libsvm_internal.h"

#include <math.h>
#include <string.h>

enum {
  BUFFER_BYTES = SCL_BUFFER(1 << 20),
  LONGEST_LINE = 1 << 30,
  MOST_CLASSES = 1000,
  SPARSE = 1 << 12, /* bytes of X for one byte of the file: more is taken for a mistake */
  SMALL = 1 << 24   /* bytes of X that are never refused */
};
static const size_t MOST_BYTES =
    SCL_BUFFER((size_t)1 << 25); /* of a block of rows, where a row is no larger */

typedef struct libsvm_source {
  scl_source base;
  char **paths;
  size_t files;
  /* whole */
  bool whole;
  scl_text *texts;
  size_t *file_rows;
  scl_dtype dtype;
  /* once */
  scl_input *input;
  char *buffer;
  size_t room, used, taken; /* of the buffer: bytes, filled, and made rows of */
  bool ended;               /* whole: the block was given */
  libsvm_place place;
} libsvm_source;

/* ---------------------------------------------------------------- rows */

/* Where the numbers of lines go. */
typedef struct filling {
  scl_matrix *x, *y; /* NULL: nowhere */
  size_t first, to;  /* row `first` of the text, from 0, is row `to` of x */
  size_t features;   /* the largest index that is taken; 0: any */
  size_t largest;    /* index that came */
  bool fractions;    /* a label is no whole number */
} filling;

/* Stores one number of a row: the label (index 0) or a feature. False: the index is above
 * `features`. */
static bool take(void *context, size_t row, size_t index, double value) {
  filling *f = context;
  if (index > f->largest) f->largest = index;
  if (f->features > 0 && index > f->features) return false;
  if (index == 0) f->fractions = f->fractions || value != floor(value);
  if (index == 0 && f->y != NULL) scl_matrix_set(f->y, row - f->first + f->to, 0, value);
  if (index > 0 && f->x != NULL) scl_matrix_set(f->x, row - f->first + f->to, index - 1, value);
  return true;
}

/* All lines of all files, one after the other. */
static scl_status scan_texts(libsvm_source *s, filling *f, scl_error *error) {
  const libsvm_consumer c = {take, f, "has an index past the option features"};
  s->base.rows = 0;
  for (size_t k = 0; k < s->files; k++) {
    libsvm_place p = {.path = s->paths[k], .row = 1, .number = 1};
    f->to = s->base.rows;
    SCL_TRY(libsvm_scan(&p, s->texts[k].bytes, s->texts[k].length, &c, error));
    s->file_rows[k] = p.row - 1;
    s->base.rows += s->file_rows[k];
  }
  return SCL_STATUS_OK;
}

/* The rows of all files as one block, once. */
static scl_status next_whole(libsvm_source *s, scl_matrix *x, scl_matrix *y, scl_error *error) {
  filling f = {.x = x, .y = y, .features = s->base.cols};
  if (s->ended) return SCL_STATUS_OK;
  s->ended = true;
  SCL_TRY(scl_matrix_create(s->base.rows, s->base.cols, s->dtype, x, error));
  SCL_TRY(scl_matrix_create_raw(s->base.rows, 1, SCL_DTYPE_FLOAT64, y, error));
  SCL_TRY(scan_texts(s, &f, error));
  size_t row, col;
  if (s->dtype == SCL_DTYPE_FLOAT32 && scl_matrix_find_nonfinite(x, &row, &col))
    return scl_fail(error, SCL_STATUS_BAD_DATA,
                    "%s: row %zu has a number at index %zu that is too large for float32",
                    s->base.name, row + 1, col + 1);
  return SCL_STATUS_OK;
}

/* Moves the bytes that were not taken to the front and reads until the buffer is full or the file
 * ends. */
static scl_status fill_buffer(libsvm_source *s, scl_error *error) {
  size_t got = 0;
  memmove(s->buffer, s->buffer + s->taken, s->used - s->taken);
  s->used -= s->taken;
  s->taken = 0;
  SCL_TRY(scl_input_read(s->input, s->buffer + s->used, s->room - s->used, &got, error));
  const char *zero = memchr(s->buffer + s->used, 0, got);
  if (zero != NULL)
    return scl_input_refuse_zero(s->base.name, s->buffer, zero, s->place.number, error);
  s->used += got;
  s->ended = s->used < s->room;
  return SCL_STATUS_OK;
}

static scl_status enlarge_buffer(libsvm_source *s, scl_error *error) {
  if (s->room >= LONGEST_LINE)
    return scl_fail(error, SCL_STATUS_BAD_DATA, "%s: line %zu is longer than %zu bytes",
                    s->base.name, s->place.number, s->room);
  char *more = scl_allocate(2 * s->room);
  if (more == NULL) return scl_fail_memory(error, 2 * s->room, "a long line");
  memcpy(more, s->buffer, s->used);
  scl_release(s->buffer);
  s->buffer = more;
  s->room *= 2;
  return SCL_STATUS_OK;
}

/* Up to `most` whole lines from the front of what is left: their bytes, and their number. */
static size_t whole_lines(const libsvm_source *s, size_t most, size_t *lines) {
  const char *text = s->buffer + s->taken, *end = s->buffer + s->used, *at = text;
  *lines = 0;
  while (at < end && *lines < most) {
    const char *stop = memchr(at, '\n', (size_t)(end - at));
    if (stop == NULL && !s->ended) break; /* perhaps cut off */
    at = stop == NULL ? end : stop + 1;
    (*lines)++;
  }
  return (size_t)(at - text);
}

/* Parses the next `lines` lines (`bytes` bytes) into rows of zeros; empty lines are not rows, so
 * that x may have fewer. */
static scl_status take_lines(libsvm_source *s, size_t lines, size_t bytes, scl_matrix *x,
                             scl_error *error) {
  filling f = {.x = x, .first = s->place.row - 1, .features = s->base.cols};
  const libsvm_consumer c = {take, &f,
                             "has an index past the columns that the model was fitted on"};
  SCL_TRY(scl_matrix_create(lines, s->base.cols, SCL_DTYPE_FLOAT64, x, error));
  SCL_TRY(libsvm_scan(&s->place, s->buffer + s->taken, bytes, &c, error));
  s->taken += bytes;
  x->rows = s->place.row - 1 - f.first;
  if (x->rows == 0) scl_matrix_release(x);
  return SCL_STATUS_OK;
}

static scl_status libsvm_next(scl_source *source, scl_matrix *x, scl_matrix *y, scl_error *error) {
  libsvm_source *s = (libsvm_source *)source;
  if (s->whole) return next_whole(s, x, y, error);
  const size_t most = scl_max(MOST_BYTES / (s->base.cols * sizeof(double)), 1);
  for (size_t lines = 0; x->storage == NULL;) {
    size_t bytes = whole_lines(s, most, &lines);
    if (lines == 0 && s->ended) return SCL_STATUS_OK;
    if (lines == 0) {
      if (s->taken == 0 && s->used == s->room) SCL_TRY(enlarge_buffer(s, error));
      SCL_TRY(fill_buffer(s, error));
      continue;
    }
    SCL_TRY(take_lines(s, lines, bytes, x, error));
  }
  return SCL_STATUS_OK;
}

static void libsvm_destroy(scl_source *source) {
  libsvm_source *s = (libsvm_source *)source;
  for (size_t k = 0; s->texts != NULL && k < s->files; k++)
    scl_release(s->texts[k].bytes);
  scl_input_close(s->input);
  if (s->paths != NULL) scl_release_texts(s->paths, s->files);
  SCL_RELEASE(s->texts, s->file_rows, s->buffer, s);
}

static const scl_source_class libsvm_class = {.next = libsvm_next, .destroy = libsvm_destroy};

/* *out may be destroyed after an error, too. */
static scl_status make_source(const char *const *paths, size_t files, libsvm_source **out,
                              scl_error *error) {
  libsvm_source *s = *out = scl_allocate_zero(sizeof *s);
  if (s == NULL) return scl_fail_memory(error, sizeof *s, "a file");
  s->base.class = &libsvm_class;
  s->files = files;
  s->paths = scl_copy_texts(paths, files);
  if (s->paths == NULL) return scl_fail_memory(error, strlen(paths[0]), "a path");
  s->base.name = s->paths[0];
  return SCL_STATUS_OK;
}

/* ---------------------------------------------------------------- once */

/* A source that reads one file once, through a buffer. *out may be destroyed after an error,
 * too. */
static scl_status open_once(const char *path, size_t cols, libsvm_source **out, scl_error *error) {
  SCL_TRY(make_source(&path, 1, out, error));
  libsvm_source *s = *out;
  s->base.cols = cols;
  s->room = BUFFER_BYTES;
  s->buffer = scl_allocate(s->room);
  s->place = (libsvm_place){.path = s->base.name, .row = 1, .number = 1};
  if (s->buffer == NULL) return scl_fail_memory(error, s->room, "a file");
  return scl_input_open(path, &s->input, error);
}

scl_status scl_libsvm_once(const char *path, size_t cols, scl_source **out, scl_error *error) {
  libsvm_source *s;
  const scl_status status = open_once(path, cols, &s, error);
  if (status == SCL_STATUS_OK)
    *out = &s->base;
  else if (s != NULL)
    libsvm_destroy(&s->base);
  return status;
}

/* ---------------------------------------------------------------- whole */

/* Decide whether the labels are classes, and collect these. classification: 0 no, 1 yes, below
 * 0: yes for whole numbers of at most MOST_CLASSES values. */
static scl_status find_classes(scl_table *out, int classification, bool fractions,
                               scl_error *error) {
  scl_labels labels = {0};
  if (classification == 0 || (classification < 0 && fractions)) return SCL_STATUS_OK;
  for (size_t i = 0; i < out->rows; i++)
    if (!scl_labels_add(&labels, scl_matrix_get(&out->y, i, 0))) {
      scl_release(labels.values);
      return scl_fail_memory(error, labels.count * sizeof(double), "labels");
    }
  if (classification < 0 &&
      labels.count > MOST_CLASSES) { /* whole numbers, but too many to be labels */
    scl_release(labels.values);
    return SCL_STATUS_OK;
  }
  out->classification = true;
  return scl_table_take_labels(out, &labels, error);
}

/* One index makes X as wide as it says: a mistake in a small file must not ask for all memory. */
static scl_status check_width(const scl_table *table, size_t bytes, const char *path,
                              scl_dtype dtype, scl_error *error) {
  const double x = (double)table->rows * (double)table->cols * (double)scl_dtype_size(dtype);
  char x_text[32], file_text[32];
  if (x <= SMALL || x <= SPARSE * (double)bytes) return SCL_STATUS_OK;
  return scl_fail(
      error, SCL_STATUS_BAD_DATA,
      "%s: the largest index is %zu, so that X would be %zu x %zu numbers, %s of memory "
      "for %s of text; option 'features' = %zu says that this is meant",
      path, table->cols, table->rows, table->cols, scl_bytes_text(x, x_text),
      scl_bytes_text((double)bytes, file_text), table->cols);
}

/* Read all texts and scan them once, for the sizes of X and for whether a label is a fraction. */
static scl_status libsvm_sizes(libsvm_source *s, size_t unpacked, size_t features, bool *fractions,
                               scl_table *out, scl_error *error) {
  filling f = {.features = features};
  size_t bytes = 0;
  for (size_t k = 0; k < s->files; k++) {
    SCL_TRY(scl_input_text(s->paths[k], unpacked, "", &s->texts[k], error));
    bytes += s->texts[k].length;
  }
  SCL_TRY(scan_texts(s, &f, error));
  for (size_t k = 0; k < s->files; k++)
    if (s->file_rows[k] == 0)
      return scl_fail(error, SCL_STATUS_BAD_DATA, "%s: the file has no rows", s->paths[k]);
  out->rows = s->base.rows;
  out->cols = s->base.cols = features > 0 ? features : f.largest;
  *fractions = f.fractions;
  if (out->cols == 0)
    return scl_fail(
        error, SCL_STATUS_BAD_DATA,
        "%s: no row has an index:value; option 'features' says how many columns there are",
        s->base.name);
  if (features == 0) SCL_TRY(check_width(out, bytes, s->base.name, s->dtype, error));
  return scl_table_admit(out, s->dtype, error);
}

static scl_status read_all(libsvm_source *s, size_t unpacked, size_t features, int classification,
                           scl_table *out, scl_error *error) {
  bool fractions = false;
  s->texts = scl_allocate_zero((s->files + 1) * sizeof *s->texts);
  s->file_rows = scl_allocate_zero((s->files + 1) * sizeof *s->file_rows);
  if (s->texts == NULL || s->file_rows == NULL) return scl_fail_memory(error, s->files, "files");
  SCL_TRY(libsvm_sizes(s, unpacked, features, &fractions, out, error));
  SCL_TRY(scl_source_next(&s->base, &out->x, &out->y, error));
  out->parts = s->files;
  out->part_rows = s->file_rows;
  s->file_rows = NULL;
  return find_classes(out, classification, fractions, error);
}

scl_status scl_libsvm_read(const char *const *paths, size_t n_paths, size_t features,
                           int classification, scl_dtype dtype, size_t unpacked, scl_table *out,
                           scl_error *error) {
  libsvm_source *s;
  memset(out, 0, sizeof *out);
  out->name_prefix = "";
  scl_status status = make_source(paths, n_paths, &s, error);
  if (status == SCL_STATUS_OK) {
    s->whole = true;
    s->dtype = dtype;
    status = read_all(s, unpacked, features, classification, out, error);
  }
  if (s != NULL) libsvm_destroy(&s->base);
  if (status != SCL_STATUS_OK) scl_table_destroy(out);
  return status;
}
