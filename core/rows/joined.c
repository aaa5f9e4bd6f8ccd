/* Sums of all processes: exact sums by their places, and matrices of whole numbers by pieces. */
#include "rows/joined.h"

#include "algebra/block_totals.h"
#include "algebra/symmetric.h"
#include "processes/processes.h"

#include <string.h>

bool scl_flow_divides(const scl_flow *flow) {
  return scl_processes_divide() && flow->prints == NULL && flow->checkpoint == NULL;
}

/* ------------ parts of the rows */

void scl_flow_part_rows(const scl_flow *flow, size_t unit, size_t rank, size_t *first,
                        size_t *end) {
  const size_t from = flow->begin / unit, to = (scl_flow_end(flow) + unit - 1) / unit;
  scl_processes_part(rank, to - from, first, end);
  *first = scl_max((from + *first) * unit, flow->begin);
  *end = scl_min((from + *end) * unit, scl_flow_end(flow));
  if (*first > *end) *first = *end;
}

scl_flow scl_flow_part(const scl_flow *flow, size_t unit) {
  scl_flow part = *flow;
  scl_flow_part_rows(flow, unit, scl_processes_rank(), &part.begin, &part.end);
  /* A part without rows: end 0 would be the last row. */
  if (part.begin == part.end) part.begin = part.end = flow->source->rows;
  return part;
}

/* ------------ exact sums */

/* The places of each sum, -low and high, so that their maxima over the processes cover all. */
typedef struct span {
  int64_t minus_low, high;
} span;

static const int64_t NOWHERE = -((int64_t)1 << 40);

static scl_status find_spans(scl_exact *const *sums, size_t count, span *spans, scl_error *error) {
  for (size_t i = 0; i < count; i++) {
    int low, high;
    SCL_TRY(scl_exact_places(sums[i], &low, &high, error));
    spans[i] = low == high ? (span){NOWHERE, NOWHERE} : (span){-low, high};
  }
  return SCL_STATUS_OK;
}

/* Places that all processes have of sum i; none: both 0. */
static void places_of(const span *s, int *low, int *high) {
  *low = s->high == NOWHERE ? 0 : (int)-s->minus_low;
  *high = s->high == NOWHERE ? 0 : (int)s->high;
}

/* *room = memory for the places of the largest sum, and memory for the places in each sum. */
static scl_status make_room(scl_exact *const *sums, size_t count, const span *spans, int64_t **room,
                            scl_error *error) {
  size_t most = 0;
  for (size_t i = 0; i < count; i++) {
    int low, high;
    places_of(&spans[i], &low, &high);
    most = scl_max(most, (size_t)(high - low) * scl_exact_count(sums[i]));
    SCL_TRY(scl_exact_open_places(sums[i], low, high, error));
  }
  *room = scl_allocate_array(most + 1, sizeof **room);
  return *room != NULL ? SCL_STATUS_OK
                       : scl_fail_memory(error, most * sizeof **room, "sums of all processes");
}

/* Add the places of all sums, in the memory `room` for the largest of them. */
static scl_status add_places(scl_exact *const *sums, size_t count, const span *spans, int64_t *room,
                             scl_error *error) {
  for (size_t i = 0; i < count; i++) {
    int low, high;
    places_of(&spans[i], &low, &high);
    scl_exact_get_places(sums[i], low, high, room);
    SCL_TRY(scl_processes_sum(room, (size_t)(high - low) * scl_exact_count(sums[i]), error));
    SCL_TRY(scl_exact_set_places(sums[i], low, high, room, error));
  }
  return SCL_STATUS_OK;
}

/* scl_exact_join with memory for the spans. */
static scl_status join_with(scl_exact *const *sums, size_t count, span *spans, scl_status mine,
                            const char *doing, scl_error *error) {
  if (mine == SCL_STATUS_OK) mine = find_spans(sums, count, spans, error);
  SCL_TRY(scl_processes_meet(mine, error, "%s", doing));
  SCL_TRY(scl_processes_maximum(&spans->minus_low, 2 * count, error));
  int64_t *room = NULL;
  mine = make_room(sums, count, spans, &room, error);
  scl_status status = scl_processes_meet(mine, error, "%s: memory", doing);
  if (status == SCL_STATUS_OK) status = add_places(sums, count, spans, room, error);
  scl_release(room);
  return status;
}

scl_status scl_exact_join(scl_exact *const *sums, size_t count, scl_status mine, const char *doing,
                          scl_error *error) {
  span *spans = scl_allocate_array(count + 1, sizeof *spans);
  if (spans == NULL && mine == SCL_STATUS_OK)
    mine = scl_fail_memory(error, count * sizeof *spans, "sums of all processes");
  const scl_status status = join_with(sums, count, spans, mine, doing, error);
  scl_release(spans);
  return status;
}

/* ------------ matrices */

enum { PIECE = 1 << 16 }; /* numbers of 128 bits that are exchanged at a time */

__extension__ typedef unsigned __int128 wide_bits;

/* Numbers of 128 bits as three whole numbers each, whose sums over processes do not overflow: the
 * lower halves of `low`, its upper halves, and `high`. */
static void take_limbs(const int64_t *low, const int64_t *high, size_t count, int64_t *limbs) {
  for (size_t i = 0; i < count; i++) {
    limbs[i] = (int64_t)((uint64_t)low[i] & 0xffffffffu);
    limbs[count + i] = (int64_t)((uint64_t)low[i] >> 32);
    limbs[2 * count + i] = high[i];
  }
}

static void put_limbs(const int64_t *limbs, size_t count, int64_t *low, int64_t *high) {
  for (size_t i = 0; i < count; i++) {
    const wide_bits value = ((wide_bits)(uint64_t)limbs[2 * count + i] << 64) +
                            ((wide_bits)(uint64_t)limbs[count + i] << 32) +
                            (wide_bits)(uint64_t)limbs[i];
    low[i] = (int64_t)(uint64_t)value;
    high[i] = (int64_t)(uint64_t)(value >> 64);
  }
}

/* Add the totals of all processes. limbs: 3 PIECE numbers to work in. */
static scl_status add_totals(const scl_whole_totals *totals, int64_t *limbs, scl_error *error) {
  int64_t *low, *high;
  size_t count;
  scl_whole_totals_memory(totals, &low, &high, &count);
  if (high == NULL) return scl_processes_sum(low, count, error);
  for (size_t at = 0; at < count; at += PIECE) {
    const size_t some = scl_min(count - at, PIECE);
    take_limbs(low + at, high + at, some, limbs);
    SCL_TRY(scl_processes_sum(limbs, 3 * some, error));
    put_limbs(limbs, some, low + at, high + at);
  }
  return SCL_STATUS_OK;
}

/* weight = the sums over the processes, in their order. all: one number for each process. */
static scl_status add_weights(scl_whole_sums *sums, double *all, scl_error *error) {
  for (size_t g = 0; g < sums->groups; g++) {
    double sum = 0;
    for (size_t r = 0; r < scl_processes_count(); r++) {
      all[r] = sums->weight[g];
      SCL_TRY(scl_processes_broadcast(r, &all[r], sizeof all[r], error));
      sum += all[r];
    }
    sums->weight[g] = sum;
  }
  return SCL_STATUS_OK;
}

/* Give the totals of all processes as many bits: those that their sum needs. */
static scl_status make_alike(scl_whole_sums *sums, unsigned shift, bool wide, scl_error *error) {
  if (sums->unit == NULL) return scl_whole_sums_widen(sums, shift, error);
  for (size_t g = 0; g < sums->groups; g++) {
    SCL_TRY(scl_block_totals_make_room(&sums->moment[g], sums->weight[g], 0, error));
    if (wide && sums->moment[g].high == NULL)
      SCL_TRY(scl_whole_totals_widen(&sums->moment[g], 0, error));
  }
  return SCL_STATUS_OK;
}

/* Add the moments of all processes. In common memory they have been added. */
static scl_status join_moments(scl_whole_sums *sums, int64_t *limbs, double *weights,
                               const char *doing, scl_error *error) {
  bool any_wide = false;
  for (size_t g = 0; g < sums->groups; g++)
    any_wide = any_wide || sums->moment[g].high != NULL;
  int64_t seen[2] = {sums->shift, any_wide};
  SCL_TRY(scl_processes_maximum(seen, 2, error));
  SCL_TRY(add_weights(sums, weights, error));
  const scl_status mine = make_alike(sums, (unsigned)seen[0], seen[1] > 0, error);
  SCL_TRY(scl_processes_meet(mine, error, "%s: matrices", doing));
  for (size_t g = 0; g < sums->groups; g++)
    if (!scl_symmetric_is_common(sums->moment[g].low))
      SCL_TRY(add_totals(&sums->moment[g], limbs, error));
  return SCL_STATUS_OK;
}

/* The exact sums of all groups as a list, right and own. */
static scl_exact **list_exact(const scl_whole_sums *sums) {
  scl_exact **list = scl_allocate_array(2 * sums->groups + 1, sizeof *list);
  for (size_t g = 0; list != NULL && g < sums->groups; g++) {
    list[2 * g] = sums->right[g];
    list[2 * g + 1] = sums->own[g];
  }
  return list;
}

scl_status scl_whole_sums_join(scl_whole_sums *sums, scl_status mine, const char *doing,
                               scl_error *error) {
  const bool ours = mine == SCL_STATUS_OK;
  scl_exact **list = ours ? list_exact(sums) : NULL;
  int64_t *limbs = scl_allocate_array((size_t)3 * PIECE, sizeof *limbs);
  double *weights = scl_allocate_array(scl_processes_count(), sizeof *weights);
  if (ours && (list == NULL || limbs == NULL || weights == NULL))
    mine = scl_fail_memory(error, 3 * PIECE * sizeof *limbs, "sums of all processes");
  scl_status status = scl_exact_join(list, ours ? 2 * sums->groups : 0, mine, doing, error);
  if (status == SCL_STATUS_OK) status = join_moments(sums, limbs, weights, doing, error);
  SCL_RELEASE(list, limbs, weights);
  return status;
}

/* ------------ reductions */

/* Exchange node i of process r: its place, and the bytes of its part, which others open. */
static scl_status exchange_node(scl_reducer *from, scl_reducer *all, size_t r, size_t i,
                                size_t bytes, scl_error *error) {
  const bool own = r == scl_processes_rank();
  int64_t place[2] = {own ? from->nodes[i].level : 0, own ? (int64_t)from->nodes[i].index : 0};
  void *part = own ? from->nodes[i].part : NULL;
  scl_status mine = SCL_STATUS_OK;
  const scl_reduction *sum = from->sum;
  if (own)
    from->nodes[i].part = NULL;
  else
    mine = sum->open(sum->context, &part, error);
  scl_status status = scl_processes_meet(mine, error, "a part of a sum of %zu bytes", bytes);
  if (status == SCL_STATUS_OK) status = scl_processes_broadcast(r, place, sizeof place, error);
  if (status == SCL_STATUS_OK)
    status = scl_processes_broadcast(
        r, sum->memory == NULL ? part : sum->memory(sum->context, part), bytes, error);
  if (status == SCL_STATUS_OK)
    return scl_reducer_push(all, (unsigned)place[0], (size_t)place[1], part, error);
  if (part != NULL) sum->close(sum->context, part);
  return status;
}

scl_status scl_reducer_gather(scl_reducer *r, size_t bytes, scl_status mine, const char *doing,
                              scl_error *error) {
  scl_reducer all = {.sum = r->sum, .leaf_rows = r->leaf_rows};
  if (mine == SCL_STATUS_OK) mine = scl_reducer_end_leaf(r, error);
  scl_status status = scl_processes_meet(mine, error, "%s", doing);
  for (size_t p = 0; status == SCL_STATUS_OK && p < scl_processes_count(); p++) {
    int64_t count = (int64_t)r->count;
    status = scl_processes_broadcast(p, &count, sizeof count, error);
    for (size_t i = 0; status == SCL_STATUS_OK && i < (size_t)count; i++)
      status = exchange_node(r, &all, p, i, bytes, error);
  }
  for (size_t i = 0; i < r->count; i++)
    if (r->nodes[i].part != NULL) r->sum->close(r->sum->context, r->nodes[i].part);
  *r = all;
  return status;
}

bool scl_reducer_divides(const scl_reducer *r, const scl_flow *flow) {
  return scl_flow_divides(flow) && flow->source->rows > r->leaf_rows;
}

scl_status scl_reducer_walk(scl_reducer *r, const scl_flow *flow, bool features, size_t bytes,
                            scl_flow_visit visit, void *context, const char *doing, void **part,
                            scl_error *error) {
  const bool divided = scl_reducer_divides(r, flow);
  const scl_flow own = divided ? scl_flow_part(flow, r->leaf_rows) : *flow;
  scl_status status = scl_flow_walk(&own, features, visit, context, error);
  if (divided) status = scl_reducer_gather(r, bytes, status, doing, error);
  return scl_reducer_finish(r, status, part, error);
}

scl_status scl_rows_gather(const scl_flow *flow, size_t unit, void *rows, size_t size,
                           scl_status mine, scl_error *error) {
  SCL_TRY(scl_processes_meet(mine, error, "the scores of %zu rows, %zu bytes each",
                             flow->source->rows, size));
  for (size_t r = 0; r < scl_processes_count(); r++) {
    size_t first, end;
    scl_flow_part_rows(flow, unit, r, &first, &end);
    SCL_TRY(scl_processes_broadcast(r, (char *)rows + first * size, (end - first) * size, error));
  }
  return SCL_STATUS_OK;
}
