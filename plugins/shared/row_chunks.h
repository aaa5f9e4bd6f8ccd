/* The rows of a problem in chunks of a fixed size, cut by their place in the problem and not by the
 * blocks in which they come: what is done to a chunk at a time is then the same for every block
 * size. */
#ifndef SCULLERY_SHARED_ROW_CHUNKS_H
#define SCULLERY_SHARED_ROW_CHUNKS_H

#include "shared/minibatch.h"

enum { CHUNK_ROWS = 256, CHUNK_MOST = 1024 };

/* A small problem is one chunk. */
static inline size_t chunk_size(const scl_problem *problem) {
  return problem->rows <= CHUNK_MOST ? problem->rows : CHUNK_ROWS;
}

/* phi: count x D rows from `first` on */
typedef scl_status (*chunk_visit)(void *context, size_t first, size_t count, const double *phi,
                                  scl_error *error);

typedef struct row_chunks {
  const scl_problem *problem;
  chunk_visit visit;
  void *context;
  double *phi; /* size x D */
  size_t size, filled;
} row_chunks;

static inline scl_status chunks_gather(void *context, const scl_rows *rows, scl_error *error) {
  row_chunks *chunks = context;
  const size_t d = rows->features.cols;
  for (size_t at = 0; at < rows->count;) {
    const size_t room = chunks->size - chunks->filled, left = rows->count - at,
                 count = left < room ? left : room;
    rows_widen(rows, at, count, chunks->phi + chunks->filled * d);
    at += count;
    chunks->filled += count;
    const size_t seen = rows->first + at;
    if (chunks->filled < chunks->size && seen < chunks->problem->rows) continue;
    const scl_status status =
        chunks->visit(chunks->context, seen - chunks->filled, chunks->filled, chunks->phi, error);
    if (status != SCL_STATUS_OK) return status;
    chunks->filled = 0;
  }
  return SCL_STATUS_OK;
}

/* One pass; phi is scratch for chunk_size x D numbers. */
static inline scl_status chunks_walk(const scl_problem *problem, double *phi, chunk_visit visit,
                                     void *context, scl_error *error) {
  row_chunks chunks = {problem, visit, context, phi, chunk_size(problem), 0};
  return problem->walk(problem, chunks_gather, &chunks, error);
}

#endif
