/* Normal equations of features that take two values, from bits. Of feature t, phi_t = s_t (low + d
 * b_t) with bits b_t and d = high - low: the exact sums (whole_sums.h) are those of the bits.
 *
 * B'WB, W the row weights, is a sum of counts of common bits (bits.h). Where a batch of rows has few
 * weights, rows of one weight are counted and the count is multiplied by it. Otherwise rows are
 * counted whose weights have the binary digit 2^p, and the count is multiplied by 2^p, for all p.
 * Both give the same whole number. The digits are 1, 0 and -1, of which a third are not 0
 * (non-adjacent form: Reitwiesner 1960). */
#include "rows/ways.h"
#include "rows/whole_sums.h"
#include <float.h>
#include <math.h>
#include <string.h>

__extension__ typedef unsigned __int128 wide_bits;

/* Most and least rows of one group that are gathered before they are counted, more of them with
 * weights, and the bytes of all gathered rows. Counting many rows at once is faster, because each
 * count adds to the whole D x D matrix. DIGITS: so many digits of WEIGHTED_ROWS rows float64 adds
 * exactly. */
enum {
  GATHERED_ROWS = 16384,
  WEIGHTED_ROWS = 65536,
  LEAST_GATHERED = 512,
  DIGITS = 36,
  FEW_WEIGHTS = 16
};
static const double GATHERED_BYTES = 64e6;

/* Rows that wait to be counted. */
typedef struct gathered {
  scl_bits bits;
  size_t rows;
  double *weights; /* NULL: 1 each */
} gathered;

/* The digits of one weight: bit p of `plus` is set where digit p is 1, of `minus` where it is
 * -1. */
typedef struct digits {
  wide_bits plus, minus;
} digits;

/* The state of the way: what is shared by all parts. */
typedef struct counting {
  size_t features, groups;
  unsigned shift;           /* totals are multiples of 2^-shift: 0 for whole weights */
  gathered *waiting;        /* groups */
  scl_whole_totals *totals; /* groups: with a shift of 128 bits; otherwise counts in float64 */
  scl_symmetric *counts;    /* with a shift: counts in float64, which are then added to totals */
  scl_bits picked;          /* of weighted rows: those that are counted, */
  uint64_t *mask;           /* which of the waiting rows these are, */
  digits *digits;           /* and the digits of all */
} counting;

static bool bits_claims(const scl_flow *flow) {
  return scl_flow_has_bits(flow) && scl_flow_is_exact(flow);
}

/* ------------ counting
 *
 * Rows of a group wait until its room is full, and are counted together. */

/* counts += factor B'B of the waiting rows that c->mask selects. */
static scl_status count_masked(counting *c, size_t group, double factor, scl_error *error) {
  const gathered *from = &c->waiting[group];
  size_t rows;
  SCL_TRY(
      scl_bits_select(&from->bits, c->mask, scl_bits_words(from->rows), &c->picked, &rows, error));
  const scl_bits_part part = {&c->picked, 0, scl_bits_words(rows), factor};
  return scl_bits_gram(&part, 1, c->shift > 0 ? c->counts : c->totals[group].low, error);
}

/* Find the weights of waiting rows, if they are few. */
static bool find_weights(const gathered *from, double weights[FEW_WEIGHTS], size_t *count) {
  *count = 0;
  for (size_t i = 0; i < from->rows; i++) {
    size_t at = 0;
    while (at < *count && weights[at] != from->weights[i])
      at++;
    if (at == FEW_WEIGHTS) return false;
    if (at == *count) weights[(*count)++] = from->weights[i];
  }
  return true;
}

/* c->mask = the rows of one weight. */
static void mask_weight(const counting *c, const gathered *from, double weight) {
  memset(c->mask, 0, scl_bits_words(from->rows) * sizeof *c->mask);
  for (size_t i = 0; i < from->rows; i++)
    if (from->weights[i] == weight) c->mask[i / SCL_BITS_ROWS] |= (uint64_t)1 << i % SCL_BITS_ROWS;
}

/* Count the rows of one weight after those of another. */
static scl_status count_weights(counting *c, size_t group, const double *weights, size_t count,
                                scl_error *error) {
  for (size_t v = 0; v < count; v++) {
    int exponent; /* weight 2^shift = number 2^exponent */
    double number = ldexp(frexp(scl_counted_weight(weights[v]), &exponent), DBL_MANT_DIG);
    exponent += (int)c->shift - DBL_MANT_DIG;
    if (weights[v] == 0) continue;
    if (exponent < 0) number = ldexp(number, exponent); /* a whole number still */
    mask_weight(c, &c->waiting[group], weights[v]);
    SCL_TRY(count_masked(c, group, c->shift > 0 ? 1 : weights[v], error));
    if (c->shift > 0)
      scl_whole_totals_add_counts(&c->totals[group], c->counts, (int64_t)number,
                                  exponent < 0 ? 0 : (unsigned)exponent);
  }
  return SCL_STATUS_OK;
}

/* The digits of the weights of waiting rows; all->plus and all->minus: which occur. With w / 2
 * rounded down, digits differ from 0 where the bits of w / 2 and w + w / 2 differ. */
static void find_digits(const counting *c, const gathered *from, digits *all) {
  *all = (digits){0, 0};
  for (size_t i = 0; i < from->rows; i++) {
    const wide_bits w = (wide_bits)ldexp(scl_counted_weight(from->weights[i]), (int)c->shift),
                    half = w >> 1, sum = w + half, differ = half ^ sum;
    c->digits[i] = (digits){sum & differ, half & differ};
    all->plus |= c->digits[i].plus;
    all->minus |= c->digits[i].minus;
  }
}

/* c->mask = the rows whose digit `place` is 1, or is -1. */
static void mask_digit(const counting *c, const gathered *from, unsigned place, bool minus) {
  memset(c->mask, 0, scl_bits_words(from->rows) * sizeof *c->mask);
  for (size_t i = 0; i < from->rows; i++) {
    const wide_bits bits = minus ? c->digits[i].minus : c->digits[i].plus;
    c->mask[i / SCL_BITS_ROWS] |= (uint64_t)(bits >> place & 1) << i % SCL_BITS_ROWS;
  }
}

/* Count the rows of one digit after those of another. */
static scl_status count_digits(counting *c, size_t group, scl_error *error) {
  const gathered *from = &c->waiting[group];
  const bool wide = c->shift > 0;
  unsigned place = 0, base = 0;
  digits all;
  find_digits(c, from, &all);
  for (; (all.plus | all.minus) >> place != 0; place++) {
    if (wide && place == base + DIGITS) {
      scl_whole_totals_add_counts(&c->totals[group], c->counts, 1, base);
      base = place;
    }
    for (int minus = 0; minus < 2; minus++)
      if ((minus ? all.minus : all.plus) >> place & 1) {
        mask_digit(c, from, place, minus);
        SCL_TRY(count_masked(c, group, ldexp(minus ? -1 : 1, (int)(place - base)), error));
      }
  }
  if (wide) scl_whole_totals_add_counts(&c->totals[group], c->counts, 1, base);
  return SCL_STATUS_OK;
}

/* Count the rows that wait in a group. Afterwards none wait. */
static scl_status count_group(counting *c, size_t group, scl_error *error) {
  gathered *from = &c->waiting[group];
  double weights[FEW_WEIGHTS];
  size_t count;
  scl_status status = SCL_STATUS_OK;
  if (from->weights == NULL) {
    const scl_bits_part all = {&from->bits, 0, scl_bits_words(from->rows), 1};
    status = scl_bits_gram(&all, 1, c->totals[group].low, error);
  } else {
    status = find_weights(from, weights, &count) ? count_weights(c, group, weights, count, error)
                                                 : count_digits(c, group, error);
  }
  from->rows = 0;
  return status;
}

/* Append rows start .. end-1 of a block to those of their group that wait. */
static scl_status gather_rows(counting *c, const scl_flow_block *block, size_t group, size_t start,
                              size_t end, scl_error *error) {
  gathered *to = &c->waiting[group];
  const size_t room = to->bits.apart * SCL_BITS_ROWS;
  while (start < end) {
    if (to->rows == room) SCL_TRY(count_group(c, group, error));
    const size_t rows = scl_min(room - to->rows, end - start);
    scl_bits_copy(block->bits, start, rows, &to->bits, to->rows);
    if (to->weights != NULL)
      memcpy(to->weights + to->rows, block->weights + start, rows * sizeof *to->weights);
    to->rows += rows;
    start += rows;
  }
  return SCL_STATUS_OK;
}

/* Slot `add`. */
static scl_status bits_add(scl_summing *s, const scl_flow_block *block, scl_sums *part,
                           scl_error *error) {
  counting *c = s->state;
  for (size_t g = 0; g < c->groups; g++) {
    const size_t start = block->group_start[g], end = block->group_start[g + 1];
    const scl_whole_rows run = {.bits = block->bits,
                                .first = start,
                                .rows = end - start,
                                .group = g,
                                .y = block->y == NULL ? NULL : block->y + start * part->targets,
                                .weights = block->weights == NULL ? NULL : block->weights + start};
    SCL_TRY(gather_rows(c, block, g, start, end, error));
    SCL_TRY(scl_whole_sums_add(part->whole, &run, false, error));
  }
  return SCL_STATUS_OK;
}

/* ------------ one walk */

static size_t groups_of(const scl_flow *flow) { return flow->group == NULL ? 1 : flow->groups; }

/* Rows that one group can gather: as many as GATHERED_BYTES allow, within the bounds. */
static size_t room_rows(const scl_flow *flow) {
  const double fit =
      8 * GATHERED_BYTES / ((double)scl_max(scl_flow_features(flow), 1) * (double)groups_of(flow));
  const size_t most = flow->weights == NULL ? GATHERED_ROWS : WEIGHTED_ROWS;
  return scl_min(fit > (double)most     ? most
                 : fit < LEAST_GATHERED ? LEAST_GATHERED
                                        : (size_t)fit,
                 flow->source->rows + 1);
}

/* Slot `bytes`: the rows that wait; with weights also those that are counted, and the digits. */
static double bits_bytes(const scl_flow *flow) {
  const double rows = (double)room_rows(flow), groups = (double)groups_of(flow),
               bits = rows * (double)scl_flow_features(flow) / 8;
  return flow->weights == NULL
             ? groups * bits
             : (groups + 1) * bits + rows * (groups * sizeof(double) + sizeof(digits));
}

/* What weighted rows need besides. */
static scl_status open_weighted(counting *c, scl_error *error) {
  const size_t room = c->waiting[0].bits.apart * SCL_BITS_ROWS;
  SCL_TRY(scl_bits_create(c->features, room, &c->picked, error));
  c->mask = scl_allocate_array(c->picked.apart + 1, sizeof *c->mask);
  c->digits = scl_allocate_array(room + 1, sizeof *c->digits);
  if (c->mask == NULL || c->digits == NULL)
    return scl_fail_memory(error, room * sizeof *c->digits, "row weights");
  for (size_t g = 0; g < c->groups; g++) {
    c->waiting[g].weights = scl_allocate_array(room + 1, sizeof *c->waiting[g].weights);
    if (c->waiting[g].weights == NULL)
      return scl_fail_memory(error, room * sizeof *c->waiting[g].weights, "row weights");
    if (c->shift > 0) SCL_TRY(scl_whole_totals_widen(&c->totals[g], 0, error));
  }
  return c->shift > 0 ? scl_symmetric_create(c->features, &c->counts, error) : SCL_STATUS_OK;
}

/* Slot `open`. What it allocates is in s->state, which bits_close releases, also after a
 * failure. */
static scl_status bits_open(scl_summing *s, scl_error *error) {
  counting *c = s->state = scl_allocate_zero(sizeof *c);
  if (c == NULL) return scl_fail_memory(error, sizeof *c, "features as bits");
  *c = (counting){.features = s->like.features,
                  .groups = s->like.groups,
                  .shift = scl_flow_whole_weights(s->flow) ? 0 : SCL_COUNT_SHIFT};
  c->waiting = scl_allocate_zero((c->groups + 1) * sizeof *c->waiting);
  c->totals = scl_allocate_zero((c->groups + 1) * sizeof *c->totals);
  if (c->waiting == NULL || c->totals == NULL)
    return scl_fail_memory(error, c->groups * sizeof *c->waiting, "features as bits");
  for (size_t g = 0; g < c->groups; g++) {
    SCL_TRY(scl_bits_create(c->features, room_rows(s->flow), &c->waiting[g].bits, error));
    SCL_TRY(scl_whole_totals_create(c->features, false, &c->totals[g], error));
  }
  s->walked.bits = s->like.counted = s->like.exact = true;
  return s->flow->weights == NULL ? SCL_STATUS_OK : open_weighted(c, error);
}

static void bits_close(scl_summing *s) {
  counting *c = s->state;
  if (c == NULL) return;
  for (size_t g = 0; g < c->groups; g++) {
    if (c->waiting != NULL) scl_bits_release(&c->waiting[g].bits);
    if (c->waiting != NULL) scl_release(c->waiting[g].weights);
    if (c->totals != NULL) scl_whole_totals_destroy(&c->totals[g]);
  }
  scl_symmetric_destroy(c->counts);
  scl_bits_release(&c->picked);
  SCL_RELEASE(c->mask, c->digits, c->waiting, c->totals, c);
}

/* Slot `finish`: the counts become the moments of the sums. */
static scl_status bits_finish(scl_summing *s, scl_sums **whole, scl_error *error) {
  counting *c = s->state;
  scl_whole_sums *sums = (*whole)->whole;
  for (size_t g = 0; g < c->groups; g++) {
    SCL_TRY(count_group(c, g, error));
    if (c->shift == 0) scl_whole_totals_of_counts(c->totals[g].low);
    sums->moment[g] = c->totals[g];
    c->totals[g] = (scl_whole_totals){0};
  }
  sums->shift = c->shift;
  return SCL_STATUS_OK;
}

const scl_sums_way scl_way_bits = {.name = "bits",
                                   .claims = bits_claims,
                                   .rows = scl_sums_dense_rows,
                                   .first_of = scl_sums_of_first,
                                   .open = bits_open,
                                   .close = bits_close,
                                   .bytes = bits_bytes,
                                   .add = bits_add,
                                   .finish = bits_finish};
