/* Whether the processes that divide a walk over rows are about to walk over the same: otherwise what
 * they exchange would be of unlike things. */
#ifndef SCULLERY_ALIKE_H
#define SCULLERY_ALIKE_H

#include "rows/flow.h"

/* Digests of a flow, by which processes compare it. `rows`: of up to 64 rows that are spread evenly,
 * with their targets, weights and groups; 0 where rows are only read in order or made by a script,
 * and other digests compare them, of files. `features`: of the first and the last of these rows after
 * stages and map, or, without rows, of the map's probe (map_probe.h). */
typedef struct scl_flow_digests {
  uint32_t rows, features;
} scl_flow_digests;
scl_status scl_flow_digest(const scl_flow *flow, scl_flow_digests *out, scl_error *error);
/* 64 bits of `size` bytes and of `hash`, those of the bytes before them. */
uint64_t scl_mix_bytes(uint64_t hash, const void *bytes, size_t size);
/* A digest of all numbers of a matrix of float64. */
uint32_t scl_matrix_digest(const scl_matrix *a);

#endif
