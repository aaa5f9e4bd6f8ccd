/* Digests of flows: of some rows, and of the features of two of them. */
#include "learn/alike.h"

#include "learn/map_probe.h"
#include "learn/score.h"
#include "rows/chosen.h"
#include <string.h>

enum { MOST_ROWS = 64, MOST_NUMBERS = 1 << 20 }; /* of rows, and of their features */

uint64_t scl_mix_bytes(uint64_t hash, const void *bytes, size_t size) {
  const char *from = bytes;
  for (size_t at = 0; at < size; at += sizeof hash) {
    uint64_t word = 0;
    memcpy(&word, from + at, scl_min(sizeof word, size - at));
    hash = (hash ^ word) * 0x9e3779b97f4a7c15u;
    hash ^= hash >> 29;
  }
  return hash;
}

static uint64_t mix_matrix(uint64_t hash, const scl_matrix *a) {
  for (size_t i = 0; i < a->rows; i++)
    for (size_t j = 0; j < a->cols; j++) {
      const double number = scl_matrix_get(a, i, j);
      hash = scl_mix_bytes(hash, &number, sizeof number);
    }
  return hash;
}

static uint32_t short_of(uint64_t hash) { return (uint32_t)(hash >> 32); }

uint32_t scl_matrix_digest(const scl_matrix *a) { return short_of(mix_matrix(0, a)); }

/* *hash = that of all rows of a source, and their targets. */
static scl_status mix_rows(scl_source *source, uint64_t *hash, scl_error *error) {
  scl_matrix x = {0}, y = {0}, *targets = source->targets > 0 ? &y : NULL;
  scl_csr csr = {0};
  scl_status status = SCL_STATUS_OK;
  if (targets != NULL)
    status = scl_matrix_create(source->rows, source->targets, SCL_DTYPE_FLOAT64, &y, error);
  if (status == SCL_STATUS_OK && source->sparse) {
    status = scl_source_sparse(source, 0, source->rows, &csr, targets, error);
  } else if (status == SCL_STATUS_OK) {
    status = scl_matrix_create(source->rows, source->cols, SCL_DTYPE_FLOAT64, &x, error);
    if (status == SCL_STATUS_OK)
      status = scl_source_read(source, 0, source->rows, &x, targets, error);
  }
  if (status == SCL_STATUS_OK && source->sparse) {
    const size_t entries = (size_t)(csr.starts[csr.rows] - csr.starts[0]);
    *hash = scl_mix_bytes(*hash, csr.columns, entries * sizeof *csr.columns);
    *hash = scl_mix_bytes(*hash, csr.values, entries * scl_dtype_size(csr.dtype));
  }
  if (status == SCL_STATUS_OK) *hash = mix_matrix(mix_matrix(*hash, &x), &y);
  scl_matrix_release(&x);
  scl_matrix_release(&y);
  scl_csr_release(&csr);
  return status;
}

/* *hash = that of the features of all rows of a source. Where the rows cannot have features, it is of
 * the reason: the walk will say it, with the place. */
static scl_status mix_features(const scl_flow *flow, scl_source *source, uint64_t *hash,
                               scl_error *error) {
  const scl_flow few = {.source = source,
                        .stages = flow->stages,
                        .n_stages = flow->n_stages,
                        .map = flow->map,
                        .dtype = flow->dtype,
                        .groups = 1};
  scl_matrix phi = {0};
  *hash = scl_flow_features(flow);
  if (*hash > MOST_NUMBERS) return SCL_STATUS_OK;
  const scl_status status = scl_features(&few, &phi, error);
  if (status == SCL_STATUS_NO_MEMORY || status == SCL_STATUS_CANCELLED) return status;
  *hash = status == SCL_STATUS_OK ? mix_matrix(*hash, &phi)
                                  : scl_mix_bytes(*hash, &status, sizeof status);
  scl_matrix_release(&phi);
  return SCL_STATUS_OK;
}

/* The same of rows that are drawn. */
static scl_status mix_probe(const scl_map *map, uint64_t *hash, scl_error *error) {
  scl_map_probe probe;
  SCL_TRY(scl_map_probe_make(map, &probe, error));
  *hash = mix_matrix(0, &probe.numbers);
  scl_map_probe_release(&probe);
  return SCL_STATUS_OK;
}

scl_status scl_flow_digest(const scl_flow *flow, scl_flow_digests *out, scl_error *error) {
  scl_source *source = flow->source;
  size_t places[MOST_ROWS];
  uint64_t rows = flow->begin ^ scl_flow_end(flow) << 20, features = 0;
  *out = (scl_flow_digests){0};
  if (!source->random_access || !source->parallel || source->rows == 0) {
    if (flow->map != NULL) SCL_TRY(mix_probe(flow->map, &features, error));
    out->features = short_of(features);
    return SCL_STATUS_OK;
  }
  const size_t fit = source->sparse ? MOST_ROWS : MOST_NUMBERS / scl_max(source->cols, 1);
  const size_t count = scl_min(scl_min(scl_max(fit, 2), MOST_ROWS), source->rows);
  const size_t apart = scl_max(count - 1, 1);
  const size_t quotient = (source->rows - 1) / apart, remainder = (source->rows - 1) % apart;
  for (size_t i = 0; i < count; i++) {
    places[i] = quotient * i + remainder * i / apart;
    if (flow->group != NULL)
      rows = scl_mix_bytes(rows, &flow->group[places[i]], sizeof *flow->group);
    if (flow->weights != NULL)
      rows = scl_mix_bytes(rows, &flow->weights[places[i]], sizeof *flow->weights);
  }
  scl_chosen some = scl_source_choose(source, places, count);
  const size_t ends[] = {places[0], places[count - 1]};
  scl_chosen two = scl_source_choose(source, ends, 2);
  SCL_TRY(mix_rows(&some.base, &rows, error));
  SCL_TRY(mix_features(flow, &two.base, &features, error));
  *out = (scl_flow_digests){short_of(rows), short_of(features)};
  return SCL_STATUS_OK;
}
