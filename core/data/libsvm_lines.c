#define _GNU_SOURCE
/* Files of LIBSVM text as blocks of whole lines. A block is cut at line ends into pieces, which the
 * threads of the pool parse. */
#include "base/pool.h"
#include "base/text.h"
#include "data/libsvm_internal.h"
#include "data/schema.h"
#include "data/words.h"

#include <string.h>

enum {
  PIECE_BYTES = SCL_BUFFER(1 << 19),
  PIECES = 2, /* for each thread */
  LONGEST_LINE = 1 << 30
};

scl_status libsvm_lines_open(const char *const *paths, size_t files, libsvm_lines *l,
                             scl_error *error) {
  l->files = files;
  l->paths = scl_copy_texts(paths, files);
  if (l->paths == NULL) return scl_fail_memory(error, strlen(paths[0]), "a path");
  l->room_pieces = PIECES * scl_pool_threads();
  l->room = l->room_pieces * PIECE_BYTES;
  l->pieces = scl_allocate_zero(l->room_pieces * sizeof *l->pieces);
  l->file_lines = scl_allocate_zero((files + 1) * sizeof *l->file_lines);
  l->buffer = scl_allocate(l->room + TEXT_PADDING);
  if (l->buffer == NULL || l->pieces == NULL || l->file_lines == NULL)
    return scl_fail_memory(error, l->room, "a file");
  libsvm_lines_rewind(l);
  return SCL_STATUS_OK;
}

void libsvm_lines_rewind(libsvm_lines *l) {
  scl_input_close(l->input);
  l->input = NULL;
  l->file = 0;
  l->used = l->taken = l->count = l->rows = l->entries = l->bytes = l->file_bytes = 0;
  l->from = 0;
  l->stop_file = SIZE_MAX;
  l->ended = false;
}

void libsvm_lines_close(libsvm_lines *l) {
  scl_input_close(l->input);
  if (l->paths != NULL) scl_release_texts(l->paths, l->files);
  for (size_t k = 0; l->pieces != NULL && k < l->room_pieces; k++)
    libsvm_rows_release(&l->pieces[k]);
  SCL_RELEASE(l->buffer, l->pieces, l->file_lines);
}

/* ------------ bytes */

static scl_status open_file(libsvm_lines *l, scl_error *error) {
  SCL_TRY(scl_input_open(l->paths[l->file], &l->input, error));
  if (l->bounded) scl_input_set_bound(l->input, l->unpacked);
  l->place = (libsvm_place){.path = l->paths[l->file], .row = 1, .line = 1};
  l->used = l->taken = l->file_bytes = 0;
  l->ended = false;
  return SCL_STATUS_OK;
}

/* Moves the bytes that were not taken to the front and reads until the buffer is full or the file
 * ends. */
static scl_status fill_buffer(libsvm_lines *l, scl_error *error) {
  size_t got = 0;
  memmove(l->buffer, l->buffer + l->taken, l->used - l->taken);
  l->used -= l->taken;
  l->taken = 0;
  SCL_TRY(scl_input_read(l->input, l->buffer + l->used, l->room - l->used, &got, error));
  const char *zero = memchr(l->buffer + l->used, 0, got);
  if (zero != NULL)
    return scl_input_refuse_zero(l->place.path, l->buffer, zero, l->place.line, error);
  l->used += got;
  l->ended = l->used < l->room;
  memset(l->buffer + l->used, 0, TEXT_PADDING);
  return SCL_STATUS_OK;
}

static scl_status enlarge_buffer(libsvm_lines *l, scl_error *error) {
  if (l->room >= LONGEST_LINE)
    return scl_fail(error, SCL_STATUS_BAD_DATA, "%s: line %zu is longer than %zu bytes",
                    l->place.path, l->place.line, l->room);
  char *more = scl_allocate(2 * l->room + TEXT_PADDING);
  if (more == NULL) return scl_fail_memory(error, 2 * l->room, "a long line");
  memcpy(more, l->buffer, l->used);
  scl_release(l->buffer);
  l->buffer = more;
  l->room *= 2;
  return SCL_STATUS_OK;
}

/* The bytes of whole lines in the buffer, from the file where there are none; 0: it has no more. */
static scl_status whole_lines(libsvm_lines *l, size_t *bytes, scl_error *error) {
  for (;;) {
    const char *text = l->buffer + l->taken, *end = l->buffer + l->used;
    const char *last = l->ended ? end - 1 : memrchr(text, '\n', (size_t)(end - text));
    *bytes = last == NULL || end == text ? 0 : (size_t)(last + 1 - text);
    if (*bytes > 0 || l->ended) return SCL_STATUS_OK;
    if (l->taken == 0 && l->used == l->room) SCL_TRY(enlarge_buffer(l, error));
    SCL_TRY(fill_buffer(l, error));
  }
}

scl_mark libsvm_lines_mark(const libsvm_lines *l, size_t rows) {
  return (scl_mark){rows, l->file, l->file_bytes, l->place.row, l->place.line};
}

scl_status libsvm_lines_go(libsvm_lines *l, const scl_mark *mark, scl_error *error) {
  l->file = mark->file;
  SCL_TRY(open_file(l, error));
  l->place.row = mark->row;
  l->place.line = mark->line;
  l->file_bytes = mark->offset;
  return scl_input_seek(l->input, mark->offset, mark->row - 1, error);
}

/* ------------ a share */

/* Opens the first file of a share, and passes over the line in which it begins. */
static scl_status open_share(libsvm_lines *l, scl_error *error) {
  SCL_TRY(open_file(l, error));
  if (l->from == 0) return SCL_STATUS_OK;
  l->file_bytes = l->from - 1;
  l->from = 0;
  SCL_TRY(scl_input_seek(l->input, l->file_bytes, 0, error));
  for (const char *stop = NULL; stop == NULL && !l->ended;) {
    SCL_TRY(fill_buffer(l, error));
    stop = memchr(l->buffer, '\n', l->used);
    l->taken = stop == NULL ? l->used : (size_t)(stop + 1 - l->buffer);
    l->file_bytes += l->taken;
  }
  return SCL_STATUS_OK;
}

/* Of the next `bytes` bytes, which are whole lines, those of the share. */
static size_t within_share(const libsvm_lines *l, size_t bytes) {
  if (l->file != l->stop_file) return bytes;
  if (l->file_bytes >= l->stop) return 0;
  const size_t left = l->stop - l->file_bytes;
  if (left > bytes) return bytes;
  const char *text = l->buffer + l->taken, *last = memchr(text + left - 1, '\n', bytes - left + 1);
  return last == NULL ? bytes : (size_t)(last + 1 - text);
}

/* ------------ pieces */

typedef struct parsing {
  libsvm_lines *lines;
  const char *text;
  size_t *cuts; /* count + 1: where the pieces begin */
} parsing;

/* Rows and lines are numbered from the piece's own beginning. */
static scl_status parse_piece(void *context, size_t k, scl_error *error) {
  const parsing *p = context;
  const libsvm_place begin = {.path = p->lines->place.path, .row = 1, .line = 1};
  return libsvm_parse(&p->lines->format, &begin, p->text + p->cuts[k], p->cuts[k + 1] - p->cuts[k],
                      &p->lines->pieces[k], error);
}

/* Cut `bytes` bytes of whole lines into at most room_pieces pieces. */
static void cut_pieces(parsing *p, size_t bytes) {
  libsvm_lines *l = p->lines;
  const size_t wanted = scl_max(bytes / l->room_pieces + 1, PIECE_BYTES);
  l->count = 0;
  for (size_t at = 0; at < bytes; l->count++) {
    p->cuts[l->count] = at;
    const char *stop = bytes - at <= wanted
                           ? NULL
                           : memchr(p->text + at + wanted - 1, '\n', bytes - at - wanted + 1);
    at = stop == NULL ? bytes : (size_t)(stop + 1 - p->text);
  }
  p->cuts[l->count] = bytes;
}

/* Parse the pieces. The sentence about the first that failed is made again, with its place in the
 * file: all pieces before it were parsed. */
static scl_status parse_block(libsvm_lines *l, size_t bytes, size_t *cuts, scl_error *error) {
  parsing p = {l, l->buffer + l->taken, cuts};
  scl_error ignored = {0};
  cut_pieces(&p, bytes);
  for (size_t k = 0; k < l->count; k++)
    l->pieces[k].lines = 0;
  const scl_status status = scl_pool_try(l->count, parse_piece, &p, &ignored);
  if (status != SCL_STATUS_OK && status != SCL_STATUS_BAD_DATA) {
    *error = ignored;
    return status;
  }
  l->rows = l->entries = 0;
  for (size_t k = 0; k < l->count; k++) {
    libsvm_rows *piece = &l->pieces[k];
    if (status != SCL_STATUS_OK)
      SCL_TRY(libsvm_parse(&l->format, &l->place, p.text + cuts[k], cuts[k + 1] - cuts[k], piece,
                           error));
    l->place.row += piece->rows;
    l->place.line += piece->lines;
    l->rows += piece->rows;
    l->entries += piece->entries;
  }
  l->file_lines[l->file] = l->place.line - 1;
  l->taken += bytes;
  l->block_bytes = bytes;
  l->file_bytes += bytes;
  l->bytes += bytes;
  return SCL_STATUS_OK;
}

scl_status libsvm_lines_next(libsvm_lines *l, scl_error *error) {
  size_t bytes;
  size_t *cuts = scl_allocate_array(l->room_pieces + 1, sizeof *cuts);
  scl_status status =
      cuts == NULL ? scl_fail_memory(error, l->room_pieces, "a file") : SCL_STATUS_OK;
  l->rows = l->count = 0;
  while (status == SCL_STATUS_OK && l->rows == 0) {
    if (l->input == NULL) status = open_share(l, error);
    if (status == SCL_STATUS_OK) status = whole_lines(l, &bytes, error);
    if (status != SCL_STATUS_OK) break;
    bytes = within_share(l, bytes);
    if (bytes > 0) {
      status = parse_block(l, bytes, cuts, error);
    } else if (l->place.row == 1 && l->needs_rows) {
      status = scl_fail(error, SCL_STATUS_BAD_DATA, "%s: the file has no rows", l->place.path);
    } else if (l->file + 1 == l->files || l->file == l->stop_file) {
      break;
    } else {
      scl_input_close(l->input);
      l->input = NULL;
      l->file++;
    }
  }
  scl_release(cuts);
  return status;
}
