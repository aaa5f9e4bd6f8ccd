/* Distinct rows by hashing: one walk hashes all rows, a second one reads the chosen rows. Rows of
 * equal hash are taken for equal: 64 bits make a collision unlikely. */
#include "rows/distinct.h"

#include "rows/chosen.h"
#include <stdlib.h>
#include <string.h>

/* ------------ hashes of rows */

/* The finaliser of SplitMix64 (Steele, Lea and Flood 2014), which spreads each bit over all
 * others. */
static uint64_t mix_bits(uint64_t h) {
  h = (h ^ (h >> 30)) * 0xbf58476d1ce4e5b9u;
  h = (h ^ (h >> 27)) * 0x94d049bb133111ebu;
  return h ^ (h >> 31);
}

/* Continue the hash h with `count` numbers. 0 and -0 are hashed alike. */
static uint64_t add_numbers(uint64_t h, const double *numbers, size_t count) {
  for (size_t j = 0; j < count; j++) {
    const double number = numbers[j] == 0 ? 0 : numbers[j];
    uint64_t bits;
    memcpy(&bits, &number, sizeof bits);
    h = mix_bits(h + 0x9e3779b97f4a7c15u + bits);
  }
  return h;
}

/* Of wider rows, sparse or dense, the zeros are left out: those of sparse rows would take most of
 * the time. */
enum { FILLED = 4096 };

typedef struct hashing {
  uint64_t *hash;
  size_t cols, targets;
} hashing;

/* The hash of row i of a block without its targets. */
static uint64_t hash_row(const hashing *job, const scl_flow_block *block, size_t i) {
  double filled[FILLED];
  const double *x =
      block->csr == NULL ? (const double *)block->x + (ptrdiff_t)i * block->x_stride : NULL;
  if (x != NULL && job->cols > FILLED)
    return scl_fingerprint_of(0, SCL_DTYPE_FLOAT64, x, job->cols);
  if (x != NULL) return add_numbers(0, x, job->cols);
  if (job->cols > FILLED) return scl_fingerprint_of_csr(0, block->csr, i);
  scl_csr_fill(block->csr, i, 1, SCL_DTYPE_FLOAT64, filled, FILLED);
  return add_numbers(0, filled, job->cols);
}

/* Visit: a hash of each row with its targets, at its place in the source. */
static scl_status hash_rows(void *context, const scl_flow_block *block, scl_error *error) {
  const hashing *job = context;
  (void)error;
  for (size_t i = 0; i < block->count; i++) {
    uint64_t h = hash_row(job, block, i);
    if (block->y != NULL) h = add_numbers(h, block->y + i * job->targets, job->targets);
    job->hash[block->first + block->place[i]] = h;
  }
  return SCL_STATUS_OK;
}

/* ------------ the smallest distinct hashes */

static int ascending(const void *a, const void *b) {
  const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
  return (x > y) - (x < y);
}

/* Sorted distinct hashes of the rows that count, at most `most`, at the start of `list` (n
 * numbers). Returns how many. */
static size_t smallest_hashes(const uint64_t *hash, const double *weights, size_t n, size_t most,
                              uint64_t *list) {
  size_t count = 0, kept = 0;
  for (size_t i = 0; i < n; i++)
    if (weights == NULL || weights[i] > 0) list[count++] = hash[i];
  qsort(list, count, sizeof *list, ascending);
  for (size_t i = 0; i < count && kept < most; i++)
    if (kept == 0 || list[i] != list[kept - 1]) list[kept++] = list[i];
  return kept;
}

/* The place of a hash in the sorted list; `count` if it is not in the list. */
static size_t find_hash(const uint64_t *list, size_t count, uint64_t hash) {
  const uint64_t *found = bsearch(&hash, list, count, sizeof hash, ascending);
  return found == NULL ? count : (size_t)(found - list);
}

/* Fill of, weight and place of the chosen rows, which are in the order of the list: the weights of
 * equal rows are added, and the first of them gives the place. */
static void gather_weights(const uint64_t *hash, const double *weights, size_t n,
                           const uint64_t *list, size_t count, scl_distinct_rows *out) {
  for (size_t i = 0; i < n; i++) {
    const size_t k = find_hash(list, count, hash[i]);
    const double weight = weights == NULL ? 1 : weights[i];
    if (k == count || !(weight > 0)) continue;
    *scl_matrix_row(&out->of, i) = (double)k + 1;
    double *sum = scl_matrix_row(&out->weight, k);
    if (*sum == 0) out->place[k] = i;
    *sum += weight;
  }
}

/* ------------ the rows */

typedef struct place_of {
  size_t place, order; /* in the source; in the list of hashes */
} place_of;

/* The chosen rows in the order of the source. */
static void sort_places(const scl_distinct_rows *chosen, place_of *sorted) {
  size_t count = 0;
  for (size_t i = 0; i < chosen->of.rows; i++) {
    const double of = *scl_matrix_row(&chosen->of, i);
    if (of > 0 && chosen->place[(size_t)of - 1] == i)
      sorted[count++] = (place_of){i, (size_t)of - 1};
  }
}

/* Row i of `from`, which is in the order of the source, goes to its row of the result. */
static void move_rows(const scl_matrix *from, const place_of *sorted, size_t count,
                      scl_matrix *to) {
  for (size_t i = 0; i < count; i++)
    memcpy(scl_matrix_row(to, sorted[i].order), scl_matrix_row(from, i),
           from->cols * sizeof(double));
}

/* The same of sparse rows. */
static scl_status move_csr(const scl_csr *from, const place_of *sorted, size_t count, scl_csr *to,
                           scl_error *error) {
  size_t *places = scl_allocate_array(count + 1, sizeof *places);
  if (places == NULL) return scl_fail_memory(error, count * sizeof *places, "a sample of rows");
  for (size_t i = 0; i < count; i++)
    places[sorted[i].order] = i;
  const scl_status status = scl_csr_take(from, places, count, to, error);
  scl_release(places);
  return status;
}

/* The rows are read in the order of the source, then put into the order of the list. */
static scl_status read_rows(const scl_flow *flow, size_t count, scl_distinct_rows *out,
                            scl_error *error) {
  const bool with_y = flow->source->targets > 0, sparse = flow->csr && scl_flow_has_csr(flow);
  scl_matrix x = {0}, y = {0};
  scl_csr csr = {0};
  place_of *sorted = scl_allocate_array(count + 1, sizeof *sorted);
  size_t *places = scl_allocate_array(count + 1, sizeof *places);
  scl_status status = sorted == NULL || places == NULL
                          ? scl_fail_memory(error, count * sizeof *sorted, "a sample of rows")
                          : SCL_STATUS_OK;
  if (status == SCL_STATUS_OK) {
    sort_places(out, sorted);
    for (size_t k = 0; k < count; k++)
      places[k] = sorted[k].place;
    status = sparse ? scl_flow_pick_csr(flow, places, count, &csr, with_y ? &y : NULL, error)
                    : scl_flow_pick(flow, places, count, &x, with_y ? &y : NULL, error);
  }
  if (status == SCL_STATUS_OK && sparse) status = move_csr(&csr, sorted, count, &out->csr, error);
  if (status == SCL_STATUS_OK && !sparse)
    status = scl_matrix_create_raw(count, x.cols, SCL_DTYPE_FLOAT64, &out->x, error);
  if (status == SCL_STATUS_OK && !sparse) move_rows(&x, sorted, count, &out->x);
  if (status == SCL_STATUS_OK && with_y) {
    status = scl_matrix_create_raw(count, y.cols, SCL_DTYPE_FLOAT64, &out->y, error);
    if (status == SCL_STATUS_OK) move_rows(&y, sorted, count, &out->y);
  }
  scl_matrix_release(&x);
  scl_matrix_release(&y);
  scl_csr_release(&csr);
  SCL_RELEASE(sorted, places);
  return status;
}

scl_status scl_flow_distinct(const scl_flow *flow, size_t most, scl_distinct_rows *out,
                             scl_error *error) {
  scl_flow rows = scl_flow_of_rows(flow);
  const size_t n = flow->source->rows;
  hashing job = {scl_allocate_array(n + 1, sizeof(uint64_t)), scl_flow_cols(flow),
                 flow->source->targets};
  uint64_t *list = scl_allocate_array(n + 1, sizeof *list);
  size_t count = 0;
  *out = (scl_distinct_rows){.place = NULL};
  rows.csr = true;
  scl_status status = job.hash == NULL || list == NULL
                          ? scl_fail_memory(error, 2 * n * sizeof *list, "hashes of rows")
                          : scl_flow_walk(&rows, false, hash_rows, &job, error);
  if (status == SCL_STATUS_OK) {
    count = smallest_hashes(job.hash, flow->weights, n, most, list);
    out->place = scl_allocate_array(count + 1, sizeof *out->place);
    status = out->place == NULL
                 ? scl_fail_memory(error, count * sizeof *out->place, "a sample of rows")
                 : scl_matrix_create(count, 1, SCL_DTYPE_FLOAT64, &out->weight, error);
  }
  if (status == SCL_STATUS_OK) status = scl_matrix_create(n, 1, SCL_DTYPE_FLOAT64, &out->of, error);
  if (status == SCL_STATUS_OK) {
    gather_weights(job.hash, flow->weights, n, list, count, out);
    status = read_rows(flow, count, out, error);
  }
  SCL_RELEASE(job.hash, list);
  if (status != SCL_STATUS_OK) scl_distinct_release(out);
  return status;
}

void scl_distinct_release(scl_distinct_rows *rows) {
  scl_matrix_release(&rows->x);
  scl_csr_release(&rows->csr);
  scl_matrix_release(&rows->y);
  scl_matrix_release(&rows->weight);
  scl_matrix_release(&rows->of);
  scl_release(rows->place);
  rows->place = NULL;
}
