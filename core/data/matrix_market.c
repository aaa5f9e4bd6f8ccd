/* Reads Matrix Market files line by line. */
#include "data/matrix_market.h"
#include "base/interrupt.h"
#include "base/memory_left.h"
#include "base/text.h"
#include "data/files/input.h"
#include "data/words.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

enum {
  BUFFER = SCL_BUFFER(1 << 20),
  LEAST_LINE = 2,   /* bytes of a line that holds a number */
  A_LOOK = 1 << 14, /* lines between two looks for Ctrl-C */
  FILLED = 10       /* rows of which less than a tenth is not 0 are sparse */
};

typedef enum symmetry { GENERAL, SYMMETRIC, SKEW } symmetry;

typedef struct reader {
  const char *path;
  scl_input *input;
  char *buffer;
  size_t room, used, taken;
  bool ended;
  size_t line; /* the number of the line at `at`, from 1 */
  const char *begin, *at;
  /* what the first lines say */
  bool coordinate, pattern;
  symmetry symmetry;
  size_t rows, cols, entries; /* numbers that are in the file */
  /* numbers, in any order */
  scl_dtype dtype;
  size_t count;
  int64_t *row;
  int32_t *column;
  void *values;
} reader;

/* ------------ lines */

/* Moves the bytes that were not taken to the front and reads until the buffer is full or the file
 * ends. */
static scl_status fill_buffer(reader *r, scl_error *error) {
  size_t got = 0;
  memmove(r->buffer, r->buffer + r->taken, r->used - r->taken);
  r->used -= r->taken;
  r->taken = 0;
  SCL_TRY(scl_input_read(r->input, r->buffer + r->used, r->room - r->used, &got, error));
  const char *zero = memchr(r->buffer + r->used, 0, got);
  if (zero != NULL) return scl_input_refuse_zero(r->path, r->buffer, zero, r->line + 1, error);
  r->used += got;
  r->ended = r->used < r->room;
  memset(r->buffer + r->used, 0, TEXT_PADDING);
  return SCL_STATUS_OK;
}

/* r->at = the next line, which ends in a line feed or 0; NULL at the end of the file. */
static scl_status next_line(reader *r, scl_error *error) {
  if (r->line % A_LOOK == 0) SCL_TRY(scl_interrupt_check(error));
  for (;;) {
    const char *text = r->buffer + r->taken, *end = r->buffer + r->used,
               *stop = memchr(text, '\n', (size_t)(end - text));
    if (stop == NULL && !r->ended && (r->taken > 0 || r->used < r->room)) {
      SCL_TRY(fill_buffer(r, error));
      continue;
    }
    if (stop == NULL && !r->ended)
      return scl_fail(error, SCL_STATUS_BAD_DATA, "%s: line %zu is longer than %zu bytes", r->path,
                      r->line + 1, r->room);
    r->begin = r->at = text == end ? NULL : text;
    r->taken = stop == NULL ? r->used : (size_t)(stop + 1 - r->buffer);
    r->line++;
    return SCL_STATUS_OK;
  }
}

/* The next line that is neither empty nor a comment. */
static scl_status next_full_line(reader *r, scl_error *error) {
  do {
    SCL_TRY(next_line(r, error));
    if (r->at != NULL) r->at = skip_blanks(r->at);
  } while (r->at != NULL && (*r->at == '%' || (ends_line(*r->at) && *r->at != '#')));
  return SCL_STATUS_OK;
}

static scl_status refuse(const reader *r, const char *word, const char *why, scl_error *error) {
  return scl_fail(error, SCL_STATUS_BAD_DATA, "%s: line %zu, column %zu: '%.*s' %s", r->path,
                  r->line, (size_t)(word - r->begin) + 1,
                  (int)scl_min((size_t)(word_end(word) - word), 40), word, why);
}

static scl_status refuse_end(const reader *r, size_t count, scl_error *error) {
  return scl_fail(error, SCL_STATUS_BAD_DATA,
                  "%s: the file ends after %zu of the %zu numbers that it says it has", r->path,
                  count, r->entries);
}

/* Check that nothing is left in the line. */
static scl_status take_end(reader *r, scl_error *error) {
  r->at = skip_blanks(r->at);
  return ends_line(*r->at) && *r->at != '#'
             ? SCL_STATUS_OK
             : refuse(r, r->at, "is more than the line holds", error);
}

/* ------------ the first lines */

/* The next word of the first line, whose case does not matter. */
static void take_word(reader *r, char word[24]) {
  const char *at = skip_blanks(r->at), *end = word_end(at);
  (void)snprintf(word, 24, "%.*s", (int)scl_min((size_t)(end - at), 23), at);
  r->at = end;
}

static bool is_word(const char *a, const char *b) { return strcasecmp(a, b) == 0; }

/* "%%MatrixMarket matrix coordinate real general" */
static scl_status take_banner(reader *r, scl_error *error) {
  char banner[24], object[24], format[24], field[24], sides[24];
  SCL_TRY(next_line(r, error));
  if (r->at == NULL || strncasecmp(r->at, "%%MatrixMarket", 14) != 0)
    return scl_fail(error, SCL_STATUS_BAD_DATA,
                    "%s: this is not a Matrix Market file: it does not begin with %%%%MatrixMarket",
                    r->path);
  take_word(r, banner);
  take_word(r, object);
  take_word(r, format);
  take_word(r, field);
  take_word(r, sides);
  r->coordinate = is_word(format, "coordinate");
  r->pattern = is_word(field, "pattern");
  const bool numbers = is_word(field, "real") || is_word(field, "integer") ||
                       is_word(field, "double") || (r->pattern && r->coordinate);
  r->symmetry = is_word(sides, "symmetric")        ? SYMMETRIC
                : is_word(sides, "skew-symmetric") ? SKEW
                                                   : GENERAL;
  if (is_word(object, "matrix") && (r->coordinate || is_word(format, "array")) && numbers &&
      (r->symmetry != GENERAL || is_word(sides, "general")))
    return SCL_STATUS_OK;
  return scl_fail(
      error, SCL_STATUS_BAD_DATA,
      "%s: line 1: a '%s %s %s %s'; a matrix is read that is coordinate or array, real, "
      "integer or pattern, general, symmetric or skew-symmetric",
      r->path, object, format, field, sides);
}

/* A whole number from `low` to `most`, in digits. */
static scl_status take_whole(reader *r, size_t low, size_t most, const char *what, size_t *out,
                             scl_error *error) {
  const char *word = r->at = skip_blanks(r->at);
  size_t value = 0;
  while (is_digit(*r->at) && value <= most / 10 + 1)
    value = value * 10 + (size_t)(*r->at++ - '0');
  *out = value;
  if (r->at > word && ends_word(*r->at) && value >= low && value <= most) return SCL_STATUS_OK;
  char why[100];
  (void)snprintf(why, sizeof why, "is not a %s from %zu to %zu", what, low, most);
  return ends_line(*word) ? scl_fail(error, SCL_STATUS_BAD_DATA, "%s: line %zu ends before its %s",
                                     r->path, r->line, what)
                          : refuse(r, word, why, error);
}

/* How many numbers an array has in the file. */
static size_t array_entries(const reader *r) {
  const size_t n = r->rows;
  if (r->symmetry == GENERAL) return n * r->cols;
  return r->symmetry == SYMMETRIC ? n * (n + 1) / 2 : n == 0 ? 0 : n * (n - 1) / 2;
}

static scl_status take_sizes(reader *r, scl_error *error) {
  const size_t most = (size_t)1 << 62, side = (size_t)1 << 31;
  SCL_TRY(next_full_line(r, error));
  if (r->at == NULL)
    return scl_fail(error, SCL_STATUS_BAD_DATA, "%s: the file ends before its sizes", r->path);
  SCL_TRY(take_whole(r, 0, r->coordinate ? most : side - 1, "number of rows", &r->rows, error));
  SCL_TRY(take_whole(r, 0, side - !r->coordinate, "number of columns", &r->cols, error));
  if (r->coordinate) SCL_TRY(take_whole(r, 0, most, "number of entries", &r->entries, error));
  SCL_TRY(take_end(r, error));
  if (r->symmetry != GENERAL && r->rows != r->cols)
    return scl_fail(error, SCL_STATUS_BAD_DATA, "%s: line %zu: %zu x %zu is not a symmetric matrix",
                    r->path, r->line, r->rows, r->cols);
  if (!r->coordinate) r->entries = array_entries(r);
  if (r->entries > scl_input_most(r->input) / LEAST_LINE) return refuse_end(r, 0, error);
  return SCL_STATUS_OK;
}

/* ------------ numbers */

static scl_status make_room(reader *r, scl_error *error) {
  const size_t room = r->entries * (r->symmetry == GENERAL ? 1 : 2),
               size = scl_dtype_size(r->dtype);
  const double bytes = (double)room * (16 + 2 * (double)size) + 8 * (double)r->rows;
  char need[32], left[32];
  if (bytes > 1 << 20 && bytes > (double)scl_memory_left())
    return scl_fail(error, SCL_STATUS_NO_MEMORY,
                    "%s: %zu numbers in %zu rows take %s of memory, and %s are free", r->path, room,
                    r->rows, scl_bytes_text(bytes, need),
                    scl_bytes_text((double)scl_memory_left(), left));
  r->row = scl_allocate_array(room + 1, sizeof *r->row);
  r->column = scl_allocate_array(room + 1, sizeof *r->column);
  r->values = scl_allocate_array(room + 1, size);
  return r->row != NULL && r->column != NULL && r->values != NULL
             ? SCL_STATUS_OK
             : scl_fail_memory(error, (size_t)bytes, "numbers");
}

static void put(reader *r, size_t row, size_t column, double value) {
  r->row[r->count] = (int64_t)row;
  r->column[r->count] = (int32_t)column;
  scl_set_number(r->values, r->dtype, r->count++, value);
}

/* A number of the file and, in a symmetric matrix, the one on the other side of the diagonal. */
static void put_both(reader *r, size_t row, size_t column, double value) {
  if (value == 0) return;
  put(r, row, column, value);
  if (r->symmetry != GENERAL && row != column)
    put(r, column, row, r->symmetry == SKEW ? -value : value);
}

static scl_status take_value(reader *r, double *value, scl_error *error) {
  const char *word = r->at = skip_blanks(r->at);
  if (ends_line(*word))
    return scl_fail(error, SCL_STATUS_BAD_DATA, "%s: line %zu ends before its number", r->path,
                    r->line);
  if (!take_number(&r->at, value)) return refuse(r, word, "is not a number", error);
  if (!isfinite(*value)) return refuse(r, word, "is not finite", error);
  if (r->dtype == SCL_DTYPE_FLOAT32 && !isfinite((float)*value))
    return refuse(r, word, "is too large for float32", error);
  return SCL_STATUS_OK;
}

/* "row column value", or "row column" of a pattern. */
static scl_status take_entries(reader *r, scl_error *error) {
  for (size_t k = 0; k < r->entries; k++) {
    size_t row, column;
    double value = 1;
    SCL_TRY(next_full_line(r, error));
    if (r->at == NULL) return refuse_end(r, k, error);
    SCL_TRY(take_whole(r, 1, r->rows, "row", &row, error));
    SCL_TRY(take_whole(r, 1, r->cols, "column", &column, error));
    if (!r->pattern) SCL_TRY(take_value(r, &value, error));
    SCL_TRY(take_end(r, error));
    put_both(r, row - 1, column - 1, value);
  }
  return SCL_STATUS_OK;
}

/* One number a line, column by column; of a symmetric matrix from the diagonal downwards. */
static scl_status take_array(reader *r, scl_error *error) {
  size_t k = 0;
  double value;
  for (size_t j = 0; j < r->cols; j++)
    for (size_t i = r->symmetry == GENERAL ? 0 : j + (r->symmetry == SKEW); i < r->rows; i++, k++) {
      SCL_TRY(next_full_line(r, error));
      if (r->at == NULL) return refuse_end(r, k, error);
      SCL_TRY(take_value(r, &value, error));
      SCL_TRY(take_end(r, error));
      put_both(r, i, j, value);
    }
  return SCL_STATUS_OK;
}

static scl_status read_all(reader *r, scl_error *error) {
  SCL_TRY(take_banner(r, error));
  SCL_TRY(take_sizes(r, error));
  SCL_TRY(make_room(r, error));
  SCL_TRY(r->coordinate ? take_entries(r, error) : take_array(r, error));
  SCL_TRY(next_full_line(r, error));
  if (r->at == NULL) return SCL_STATUS_OK;
  return scl_fail(error, SCL_STATUS_BAD_DATA,
                  "%s: line %zu: the file goes on after its %zu numbers", r->path, r->line,
                  r->entries);
}

/* ------------ the matrix */

static scl_status give(reader *r, scl_choice wanted, scl_csr *sparse, scl_matrix *dense,
                       scl_error *error) {
  SCL_TRY(scl_csr_of_places(r->rows, r->cols, r->count, r->row, r->column, r->values, r->dtype,
                            sparse, error));
  scl_status status = scl_csr_check(sparse, r->count, error);
  if (status != SCL_STATUS_OK) {
    (void)scl_prefix(error, "%s", r->path);
    return status;
  }
  const double places = (double)r->rows * (double)r->cols;
  if (wanted == SCL_YES || (wanted == SCL_AUTO && (double)r->count * FILLED < places))
    return SCL_STATUS_OK;
  if (r->rows > INT32_MAX || r->cols > INT32_MAX)
    return scl_fail(error, SCL_STATUS_BAD_SHAPE, "%s: a dense %zu x %zu matrix is too large",
                    r->path, r->rows, r->cols);
  SCL_TRY(scl_matrix_create_raw(r->rows, r->cols, r->dtype, dense, error));
  scl_csr_fill(sparse, 0, r->rows, r->dtype, dense->data, (ptrdiff_t)r->cols);
  scl_csr_release(sparse);
  return SCL_STATUS_OK;
}

scl_status scl_matrix_market_read(const char *path, const scl_matrix_market_options *options,
                                  scl_csr *sparse, scl_matrix *dense, scl_error *error) {
  reader r = {.path = path, .room = scl_max(BUFFER, 256), .dtype = options->dtype};
  memset(sparse, 0, sizeof *sparse);
  memset(dense, 0, sizeof *dense);
  r.buffer = scl_allocate(r.room + TEXT_PADDING);
  scl_status status = r.buffer == NULL ? scl_fail_memory(error, r.room, "a file")
                                       : scl_input_open(path, &r.input, error);
  if (status == SCL_STATUS_OK) scl_input_set_bound(r.input, options->unpacked);
  if (status == SCL_STATUS_OK) status = read_all(&r, error);
  if (status == SCL_STATUS_OK) status = give(&r, options->sparse, sparse, dense, error);
  scl_input_close(r.input);
  SCL_RELEASE(r.buffer, r.row, r.column, r.values);
  if (status != SCL_STATUS_OK) {
    scl_csr_release(sparse);
    scl_matrix_release(dense);
  }
  return status;
}
