/* Writes rows as LIBSVM text: the threads of the pool make the lines of a piece of rows each, and the
 * pieces are written in order. */
#include "base/pool.h"
#include "data/files/output.h"
#include "data/libsvm.h"
#include "data/number.h"

#include <stdio.h>
#include <string.h>

enum {
  PIECE = SCL_BUFFER(1 << 15), /* numbers of a piece, where a row has no more */
  PIECES = 4,                  /* for each thread */
  WORD = 44                    /* bytes of " index:value" and of a label: 1, 10, 1 and 32 */
};

typedef struct piece {
  size_t first, rows, used, room;
  char *text;
} piece;

typedef struct writing {
  const scl_csr *x;
  const double *labels;
  piece *pieces;
} writing;

static void add_row(const writing *w, size_t i, piece *p) {
  char *at = p->text + p->used;
  const bool narrow = w->x->dtype == SCL_DTYPE_FLOAT32;
  at += scl_format_number(w->labels[i], false, at);
  for (int64_t k = w->x->starts[i]; k < w->x->starts[i + 1]; k++) {
    at += snprintf(at, 14, " %lld:", (long long)w->x->columns[k] + 1);
    at += scl_format_number(scl_csr_value(w->x, k), narrow, at);
  }
  *at++ = '\n';
  p->used = (size_t)(at - p->text);
}

static scl_status make_piece(void *context, size_t k, scl_error *error) {
  const writing *w = context;
  piece *p = &w->pieces[k];
  const int64_t *starts = w->x->starts + p->first;
  const size_t words = (size_t)(starts[p->rows] - starts[0]) + p->rows;
  if (words * WORD > p->room) {
    scl_release(p->text);
    p->room = words * WORD;
    p->text = scl_allocate(p->room);
    if (p->text == NULL) return scl_fail_memory(error, p->room, "lines of text");
  }
  p->used = 0;
  for (size_t i = 0; i < p->rows; i++)
    add_row(w, p->first + i, p);
  return SCL_STATUS_OK;
}

/* The pieces that begin at row `first`; returns how many there are. */
static size_t cut_pieces(const writing *w, size_t first, size_t most) {
  size_t count = 0;
  for (; count < most && first < w->x->rows; count++) {
    piece *p = &w->pieces[count];
    p->first = first;
    p->rows = 0;
    do {
      first++;
      p->rows++;
    } while (first < w->x->rows && p->rows < PIECE &&
             w->x->starts[first + 1] - w->x->starts[p->first] <= PIECE);
  }
  return count;
}

static scl_status write_pieces(const writing *w, size_t most, scl_output *output,
                               scl_error *error) {
  for (size_t first = 0, count; first < w->x->rows && !scl_output_failed(output);) {
    count = cut_pieces(w, first, most);
    SCL_TRY(scl_pool_try(count, make_piece, (void *)w, error));
    for (size_t k = 0; k < count; k++)
      scl_output_write(output, w->pieces[k].text, w->pieces[k].used);
    first = w->pieces[count - 1].first + w->pieces[count - 1].rows;
  }
  return SCL_STATUS_OK;
}

scl_status scl_libsvm_write(const scl_csr *x, const double *labels, const char *path,
                            scl_error *error) {
  const size_t most = PIECES * scl_pool_threads();
  scl_output *output;
  piece *pieces = scl_allocate_zero(most * sizeof *pieces);
  if (pieces == NULL) return scl_fail_memory(error, most * sizeof *pieces, "lines of text");
  const writing w = {x, labels, pieces};
  scl_status status = scl_output_open(path, &output, error);
  if (status == SCL_STATUS_OK) {
    status = write_pieces(&w, most, output, error);
    if (status == SCL_STATUS_OK)
      status = scl_output_commit(output, error);
    else
      scl_output_abandon(output);
  }
  for (size_t k = 0; k < most; k++)
    scl_release(pieces[k].text);
  scl_release(pieces);
  return status;
}
