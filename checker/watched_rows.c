/* Rows as a watched solver sees them: read-only copies whose last number ends at an inaccessible
 * page, released at the end of the visit. Rows are separated by gaps of NaN. */
#include "checker/watched_internal.h"
#include <string.h>

enum {
  GAP = 3,        /* numbers between rows */
  PARTS = 6,      /* arrays of a block, and scores */
  GUARDED = 60,   /* visits of a solver at first that see guarded memory */
  IN_BETWEEN = 16 /* of the later ones every 16th does: system calls take most of their time */
};

typedef struct copies {
  scl_guarded parts[PARTS];
  size_t count;
  bool plain; /* from the heap */
} copies;

static copies copies_open(watched *w) {
  const size_t visit = w->visits++;
  return (copies){.plain = visit >= GUARDED && visit % IN_BETWEEN != 0};
}

static scl_status make_room(copies *c, size_t bytes, scl_guarded **out, scl_error *error) {
  *out = &c->parts[c->count];
  SCL_TRY(c->plain ? scl_guarded_create_plain(bytes, *out, error)
                   : scl_guarded_create(bytes, false, *out, error));
  c->count++;
  return SCL_STATUS_OK;
}

/* The solver must not keep the rows: a later access to them ends the process. */
static void close_copies(copies *c) {
  for (size_t i = 0; i < c->count; i++)
    scl_guarded_destroy(&c->parts[i]);
}

/* `bytes` of guarded memory; NULL stays NULL. */
static scl_status copy(copies *c, const void *from, size_t bytes, const void **out,
                       scl_error *error) {
  *out = NULL;
  if (from == NULL) return SCL_STATUS_OK;
  scl_guarded *room;
  SCL_TRY(make_room(c, bytes, &room, error));
  memcpy(room->bytes, from, bytes);
  scl_guarded_lock(room);
  *out = room->bytes;
  return SCL_STATUS_OK;
}

/* Replace the block of features by a copy whose rows are GAP numbers further apart than they are
 * long. Gaps keep the fill of guarded memory (NaN): a solver that assumes packed rows computes
 * NaN. */
static scl_status copy_features(copies *c, scl_const_block *block, scl_error *error) {
  if (block->data == NULL) return SCL_STATUS_OK;
  const size_t size = scl_dtype_size(block->dtype), stride = block->cols + GAP;
  const size_t bytes = block->rows == 0 ? 0 : ((block->rows - 1) * stride + block->cols) * size;
  scl_guarded *room;
  SCL_TRY(make_room(c, bytes, &room, error));
  for (size_t i = 0; i < block->rows; i++)
    memcpy(room->bytes + i * stride * size,
           (const char *)block->data + (ptrdiff_t)i * block->row_stride * (ptrdiff_t)size,
           block->cols * size);
  scl_guarded_lock(room);
  block->data = room->bytes;
  block->row_stride = (ptrdiff_t)stride;
  return SCL_STATUS_OK;
}

/* Replaces the arrays of rows by the copies. */
static scl_status copy_rows(copies *c, scl_rows *rows, size_t targets, scl_error *error) {
  const void *place;
  SCL_TRY(copy_features(c, &rows->features, error));
  SCL_TRY(
      copy(c, rows->columns, rows->count * rows->entries * sizeof *rows->columns, &place, error));
  rows->columns = place;
  SCL_TRY(copy(c, rows->targets, rows->count * targets * sizeof *rows->targets, &place, error));
  rows->targets = place;
  SCL_TRY(copy(c, rows->weights, rows->count * sizeof *rows->weights, &place, error));
  rows->weights = place;
  SCL_TRY(copy(c, rows->index, rows->count * sizeof *rows->index, &place, error));
  rows->index = place;
  return SCL_STATUS_OK;
}

scl_status scl_watched_show(void *visit, const scl_rows *rows, scl_error *error) {
  const scl_watched_visit *v = visit;
  scl_rows shown = *rows;
  copies c = copies_open(v->w);
  scl_status status = copy_rows(&c, &shown, v->w->s.problem.targets, error);
  if (status == SCL_STATUS_OK) {
    v->w->visiting = true;
    status = v->visit(v->context, &shown, error);
    v->w->visiting = false;
  }
  close_copies(&c);
  return status;
}

/* Scores in guarded memory; without the features, which no turn may read. */
static scl_status turn_copies(const scl_watched_visit *v, copies *c, scl_rows *rows, double *scores,
                              scl_error *error) {
  const size_t bytes = rows->count * v->columns * sizeof *scores;
  scl_guarded *room;
  rows->features.data = NULL;
  rows->columns = NULL;
  rows->csr = NULL;
  SCL_TRY(copy_rows(c, rows, v->w->s.problem.targets, error));
  SCL_TRY(make_room(c, bytes, &room, error));
  memcpy(room->bytes, scores, bytes);
  v->w->visiting = true;
  const scl_status status = v->turn(v->context, rows, (double *)(void *)room->bytes, error);
  v->w->visiting = false;
  memcpy(scores, room->bytes, bytes);
  if (!scl_guarded_untouched(room))
    scl_watched_blame(v->w, "the turn of a sweep wrote before the scores that it was given");
  for (size_t i = 0; status == SCL_STATUS_OK && i < rows->count * v->columns; i++)
    if (isnan(scores[i]))
      scl_watched_blame(v->w, "the turn of a sweep left NaN in the place of a score");
  return status;
}

scl_status scl_watched_turn(void *visit, const scl_rows *rows, double *scores, scl_error *error) {
  const scl_watched_visit *v = visit;
  scl_rows shown = *rows;
  copies c = copies_open(v->w);
  const scl_status status = turn_copies(v, &c, &shown, scores, error);
  close_copies(&c);
  return status;
}
