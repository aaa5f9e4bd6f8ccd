/* Rows of LIBSVM text, read once: a buffer of whole lines at a time. */
#include "base/text.h"
#include "data/files/input.h"
#include "data/libsvm_internal.h"
#include "data/row_blocks.h"

#include <string.h>

enum { BUFFER_BYTES = SCL_BUFFER(1 << 20), LONGEST_LINE = 1 << 30 };
static const size_t MOST_BYTES =
    SCL_BUFFER((size_t)1 << 25); /* of a block of rows, where a row is no larger */

typedef struct libsvm_blocks {
  scl_row_blocks base;
  char *path, *buffer;
  scl_input *input;
  size_t cols, room, used, taken; /* of the buffer: bytes, filled, and made rows of */
  bool ended;
  libsvm_place place;
  size_t first; /* row of the file, from 0, at the beginning of the block */
  scl_matrix *x;
} libsvm_blocks;

/* Move what was not taken to the front and read on. */
static scl_status fill_buffer(libsvm_blocks *b, scl_error *error) {
  size_t got = 0;
  memmove(b->buffer, b->buffer + b->taken, b->used - b->taken);
  b->used -= b->taken;
  b->taken = 0;
  SCL_TRY(scl_input_read(b->input, b->buffer + b->used, b->room - b->used, &got, error));
  const char *zero = memchr(b->buffer + b->used, 0, got);
  if (zero != NULL) return scl_input_refuse_zero(b->path, b->buffer, zero, b->place.number, error);
  b->used += got;
  b->ended = b->used < b->room;
  return SCL_STATUS_OK;
}

static scl_status enlarge_buffer(libsvm_blocks *b, scl_error *error) {
  if (b->room >= LONGEST_LINE)
    return scl_fail(error, SCL_STATUS_BAD_DATA, "%s: line %zu is longer than %zu bytes", b->path,
                    b->place.number, b->room);
  char *more = scl_allocate(2 * b->room);
  if (more == NULL) return scl_fail_memory(error, 2 * b->room, "a long line");
  memcpy(more, b->buffer, b->used);
  scl_release(b->buffer);
  b->buffer = more;
  b->room *= 2;
  return SCL_STATUS_OK;
}

/* Up to `most` whole lines from the front of what is left: their bytes, and their number. */
static size_t whole_lines(const libsvm_blocks *b, size_t most, size_t *lines) {
  const char *text = b->buffer + b->taken, *end = b->buffer + b->used, *at = text;
  *lines = 0;
  while (at < end && *lines < most) {
    const char *stop = memchr(at, '\n', (size_t)(end - at));
    if (stop == NULL && !b->ended) break; /* perhaps cut off */
    at = stop == NULL ? end : stop + 1;
    (*lines)++;
  }
  return (size_t)(at - text);
}

static bool take(void *context, size_t row, size_t index, double value) {
  const libsvm_blocks *b = context;
  if (index > b->cols) return false;
  if (index > 0) scl_matrix_row(b->x, row - b->first)[index - 1] = value;
  return true;
}

/* The next lines, as many rows at most, and zeros where they are empty. */
static scl_status take_lines(libsvm_blocks *b, size_t lines, size_t bytes, scl_matrix *x,
                             scl_error *error) {
  const libsvm_consumer c = {take, b, "has an index past the columns that the model was fitted on"};
  SCL_TRY(scl_matrix_create(lines, b->cols, SCL_DTYPE_FLOAT64, x, error));
  b->x = x;
  b->first = b->place.row - 1;
  SCL_TRY(libsvm_scan(&b->place, b->buffer + b->taken, bytes, &c, error));
  b->taken += bytes;
  x->rows = b->place.row - 1 - b->first;
  if (x->rows == 0) scl_matrix_release(x);
  return SCL_STATUS_OK;
}

static scl_status next(scl_row_blocks *blocks, scl_matrix *x, scl_error *error) {
  libsvm_blocks *b = (libsvm_blocks *)blocks;
  const size_t most = scl_max(MOST_BYTES / (b->cols * sizeof(double)), 1);
  for (size_t lines = 0; x->storage == NULL;) {
    size_t bytes = whole_lines(b, most, &lines);
    if (lines == 0 && b->ended) return SCL_STATUS_OK;
    if (lines == 0) {
      if (b->taken == 0 && b->used == b->room) SCL_TRY(enlarge_buffer(b, error));
      SCL_TRY(fill_buffer(b, error));
      continue;
    }
    SCL_TRY(take_lines(b, lines, bytes, x, error));
  }
  return SCL_STATUS_OK;
}

static void close_blocks(scl_row_blocks *blocks) {
  libsvm_blocks *b = (libsvm_blocks *)blocks;
  scl_input_close(b->input);
  SCL_RELEASE(b->path, b->buffer, b);
}

static const scl_row_blocks_class libsvm_class = {next, close_blocks};

scl_status scl_libsvm_blocks_open(const char *path, size_t cols, scl_row_blocks **out,
                                  scl_error *error) {
  libsvm_blocks *b = scl_allocate_zero(sizeof *b);
  if (b == NULL) return scl_fail_memory(error, sizeof *b, "a file");
  b->base.of = &libsvm_class;
  b->cols = cols;
  b->room = BUFFER_BYTES;
  b->path = scl_copy_text(path);
  b->buffer = scl_allocate(b->room);
  b->place = (libsvm_place){.path = b->path, .row = 1, .number = 1};
  scl_status status = b->path == NULL || b->buffer == NULL
                          ? scl_fail_memory(error, b->room, "a file")
                          : scl_input_open(path, &b->input, error);
  if (status == SCL_STATUS_OK)
    *out = &b->base;
  else
    close_blocks(&b->base);
  return status;
}
