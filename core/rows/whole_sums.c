/* Exact sums over rows of whole numbers and bits, their merge, and the normal equations from them.
 * The ways `bits` and `whole` fill them; `dense` shares the parts that do not depend on the
 * features. */
#include "rows/block_sums.h"

#include <float.h>
#include <math.h>
#include <string.h>

__extension__ typedef __float128 wide_float;

/* Rows whose targets are copied at once. */
enum { MOST_ROWS = 32768 };
/* Moments with weights that are not whole numbers are multiples of 2^-SCL_WEIGHT_SHIFT. */
enum { LEAST_FACTOR = -SCL_WEIGHT_SHIFT / 2, MOST_FACTOR = 11 };

/* ------------ making and merging */

void scl_whole_sums_destroy(scl_whole_sums *sums) {
  if (sums == NULL) return;
  for (size_t g = 0; g < sums->groups; g++) {
    if (sums->moment != NULL) scl_whole_totals_destroy(&sums->moment[g]);
    if (sums->right != NULL) scl_exact_destroy(sums->right[g]);
    if (sums->own != NULL) scl_exact_destroy(sums->own[g]);
  }
  SCL_RELEASE(sums->moment, sums->right, sums->own, sums->weight, sums->unit, sums->pilot, sums);
}

scl_status scl_whole_sums_create(size_t features, size_t targets, size_t groups,
                                 scl_moments moments, scl_whole_sums **out, scl_error *error) {
  scl_whole_sums *sums = scl_allocate_zero(sizeof *sums);
  if (sums == NULL) return scl_fail_memory(error, sizeof *sums, "normal equations");
  *sums = (scl_whole_sums){.features = features, .targets = targets, .groups = groups};
  sums->moment = scl_allocate_zero((groups + 1) * sizeof *sums->moment);
  sums->right = scl_allocate_zero((groups + 1) * sizeof *sums->right);
  sums->own = scl_allocate_zero((groups + 1) * sizeof *sums->own);
  sums->weight = scl_allocate_zero((groups + 1) * sizeof *sums->weight);
  scl_status status = SCL_STATUS_OK;
  if (!sums->moment || !sums->right || !sums->own || !sums->weight)
    status = scl_fail_memory(error, groups * sizeof *sums->moment, "normal equations");
  for (size_t g = 0; status == SCL_STATUS_OK && g < groups; g++) {
    if (moments != SCL_MOMENTS_NONE)
      status =
          scl_whole_totals_create(features, moments == SCL_MOMENTS_SHARED, &sums->moment[g], error);
    if (status == SCL_STATUS_OK)
      status = scl_exact_create((targets + 1) * features, &sums->right[g], error);
    if (status == SCL_STATUS_OK) status = scl_exact_create(2 * targets + 1, &sums->own[g], error);
  }
  if (status == SCL_STATUS_OK)
    *out = sums;
  else
    scl_whole_sums_destroy(sums);
  return status;
}

scl_status scl_whole_sums_like(const scl_whole_sums *like, size_t groups, scl_whole_sums **out,
                               scl_error *error) {
  const scl_flow none = {.pilot = like->pilot,
                         .target_pilot = like->pilot == NULL ? NULL : like->pilot + like->features};
  SCL_TRY(
      scl_whole_sums_create(like->features, like->targets, groups, SCL_MOMENTS_OWN, out, error));
  if (like->unit == NULL) return SCL_STATUS_OK;
  const scl_status status = scl_block_sums_open(*out, like->unit, &none, error);
  if (status != SCL_STATUS_OK) {
    scl_whole_sums_destroy(*out);
    *out = NULL;
  }
  return status;
}

scl_status scl_whole_sums_widen(scl_whole_sums *sums, unsigned shift, scl_error *error) {
  if (shift == 0 || sums->shift > 0) return SCL_STATUS_OK;
  for (size_t g = 0; g < sums->groups; g++)
    SCL_TRY(scl_whole_totals_widen(&sums->moment[g], shift, error));
  sums->shift = shift;
  return SCL_STATUS_OK;
}

/* Refuse weights whose sum may overflow the totals of 64 bits. */
static scl_status check_range(const scl_whole_sums *sums, size_t group, double more,
                              scl_error *error) {
  const double weight = sums->weight[group] + more;
  if (weight <= SCL_MOST_WEIGHT) return SCL_STATUS_OK;
  return scl_fail(error, SCL_STATUS_NUMERIC,
                  "the weights of the rows come to %g; sums of whole-number features take at most "
                  "%g: divide the weights by a number",
                  weight, SCL_MOST_WEIGHT);
}

static scl_status add_range(scl_whole_sums *sums, size_t group, double more, scl_error *error) {
  SCL_TRY(check_range(sums, group, more, error));
  sums->weight[group] += more;
  return SCL_STATUS_OK;
}

scl_status scl_whole_sums_merge(scl_whole_sums *into, scl_whole_sums *from, bool subtract,
                                scl_error *error) {
  if (into->features != from->features || into->targets != from->targets ||
      into->groups != from->groups)
    return scl_fail(error, SCL_STATUS_BAD_SHAPE,
                    "sums of %zu features, %zu targets and %zu folds do not join sums of %zu, %zu "
                    "and %zu",
                    from->features, from->targets, from->groups, into->features, into->targets,
                    into->groups);
  const bool blocks = into->unit != NULL;
  SCL_TRY(scl_block_sums_alike(into, from, error));
  if (!blocks) SCL_TRY(scl_whole_sums_widen(into, from->shift, error));
  if (!blocks) SCL_TRY(scl_whole_sums_widen(from, into->shift, error));
  if (into->shift != from->shift)
    return scl_fail(error, SCL_STATUS_BAD_DATA,
                    "sums of features of two values do not join sums of other whole numbers");
  for (size_t g = 0; !subtract && !blocks && g < into->groups; g++)
    SCL_TRY(check_range(into, g, from->weight[g], error));
  for (size_t g = 0; g < into->groups; g++) {
    if (blocks) SCL_TRY(scl_block_sums_make_room(into, from, g, error));
    scl_whole_totals_add(&into->moment[g], &from->moment[g], subtract);
    SCL_TRY(scl_exact_merge(into->right[g], from->right[g], subtract, error));
    SCL_TRY(scl_exact_merge(into->own[g], from->own[g], subtract, error));
    if (!blocks) into->weight[g] = scl_exact_value(into->own[g], 2 * into->targets);
  }
  return SCL_STATUS_OK;
}

/* ------------ runs of rows with one factor */

/* Rows of v that represent v 2^exponent, with the targets and the constant of each row in `columns`
 * (rows x (c + 1)). */
typedef struct run {
  scl_whole_rows rows;
  int exponent;
  double *columns;
} run;

/* right += V'columns 2^exponent */
static scl_status add_columns(scl_whole_sums *sums, const run *r, scl_error *error) {
  bool finite = true;
  const scl_whole_adjoint_sums to = {.features = sums->features,
                                     .columns = sums->targets + 1,
                                     .exponent = r->exponent,
                                     .sum = sums->right[r->rows.group],
                                     .finite = &finite};
  SCL_TRY(scl_whole_rows_adjoint(&r->rows, r->columns, &to, error));
  return finite ? SCL_STATUS_OK
                : scl_fail(error, SCL_STATUS_BAD_DATA, "a target is NaN or infinite");
}

/* The sums of products of whole numbers of at most 2^18 in size, which float64 adds exactly over
 * 2^15 rows: sums 2 k numbers, column j times the last column, then its squares. large (k):
 * nonzero for a column with other numbers. */
static void add_small(const run *r, size_t k, double *sums, double *large) {
  static const double MAGIC = 0x1.8p52, MOST = 0x1p18; /* x + MAGIC has no bits behind the point */
  for (size_t i = 0; i < r->rows.rows; i++) {
    const double *row = r->columns + i * k, last = row[k - 1];
    for (size_t j = 0; j < k; j++) {
      const double x = row[j];
      sums[j] += x * last;
      sums[k + j] += x * x;
      large[j] = (x + MAGIC) - MAGIC == x && fabs(x) <= MOST ? large[j] : 1;
    }
  }
}

/* own[at] += the sum over rows of column a times column b. */
static scl_status add_products(scl_exact *own, size_t at, const run *r, size_t k, size_t a,
                               size_t b, scl_error *error) {
  for (size_t i = 0; i < r->rows.rows; i++)
    SCL_TRY(scl_exact_add_product(own, at, r->columns[i * k + a], r->columns[i * k + b], error));
  return SCL_STATUS_OK;
}

/* Add the sums of y, y^2 and the weights. `columns` carries the roots of weights: y and 1 times the
 * root, so that products are the weighted sums. */
static scl_status add_own(scl_whole_sums *sums, const run *r, scl_error *error) {
  const size_t c = sums->targets, k = c + 1;
  scl_exact *own = sums->own[r->rows.group];
  double *small = scl_allocate_zero(3 * k * sizeof *small), *large = small + 2 * k;
  if (small == NULL) return scl_fail_memory(error, 3 * k * sizeof *small, "sums of targets");
  add_small(r, k, small, large);
  scl_status status = SCL_STATUS_OK;
  for (size_t j = 0; status == SCL_STATUS_OK && j < k; j++) {
    const bool exact = large[j] == 0 && large[c] == 0;
    if (j < c) /* of the last column both are the weights */
      status = exact ? scl_exact_add_one(own, j, small[j], 0, error)
                     : add_products(own, j, r, k, j, c, error);
    if (status == SCL_STATUS_OK)
      status = large[j] == 0 ? scl_exact_add_one(own, c + j, small[k + j], 0, error)
                             : add_products(own, c + j, r, k, j, j, error);
  }
  scl_release(small);
  return status;
}

/* Add a run of rows to all sums, or to all but the moments. */
static scl_status add_run(scl_whole_sums *sums, const run *r, bool moments, scl_error *error) {
  SCL_TRY(add_own(sums, r, error));
  SCL_TRY(add_columns(sums, r, error));
  if (!moments) return SCL_STATUS_OK;
  return scl_whole_accumulate(&sums->moment[r->rows.group], r->rows.type, r->rows.v, r->rows.stride,
                              r->rows.rows, (unsigned)((int)sums->shift + 2 * r->exponent), error);
}

/* ------------ rows of weight 1, and bits */

static bool is_whole(double weight) { return weight == floor(weight); }

/* columns (rows x (c + 1)) = the targets of the rows, and 1. */
static void fill_columns(const scl_whole_rows *rows, size_t c, double *columns) {
  for (size_t i = 0; i < rows->rows; i++) {
    if (c > 0) memcpy(columns + i * (c + 1), rows->y + i * c, c * sizeof *columns);
    columns[i * (c + 1) + c] = 1;
  }
}

/* Rows at .. of some rows, without their weights. */
static scl_whole_rows part_of(const scl_whole_rows *rows, size_t c, size_t at, size_t count) {
  scl_whole_rows part = *rows;
  part.rows = count;
  part.first += at;
  if (part.v != NULL)
    part.v = (const char *)rows->v +
             (ptrdiff_t)at * rows->stride * (ptrdiff_t)scl_whole_size(rows->type);
  if (part.y != NULL) part.y += at * c;
  part.weights = NULL;
  return part;
}

/* Add rows with weights 1, at most MOST_ROWS at a time. */
static scl_status add_unweighted(scl_whole_sums *sums, const scl_whole_rows *rows, bool moments,
                                 scl_error *error) {
  const size_t c = sums->targets, most = scl_min(MOST_ROWS, rows->rows);
  double *columns = scl_allocate_array(most * (c + 1) + 1, sizeof *columns);
  if (columns == NULL)
    return scl_fail_memory(error, most * (c + 1) * sizeof *columns, "targets of rows");
  scl_status status = add_range(sums, rows->group, (double)rows->rows, error);
  for (size_t at = 0; status == SCL_STATUS_OK && at < rows->rows; at += most) {
    run r = {part_of(rows, c, at, scl_min(most, rows->rows - at)), 0, columns};
    fill_columns(&r.rows, c, columns);
    status = add_run(sums, &r, moments, error);
  }
  scl_release(columns);
  return status;
}

double scl_counted_weight(double weight) {
  return ldexp(rint(ldexp(weight, SCL_COUNT_SHIFT)), -SCL_COUNT_SHIFT);
}

/* Add the rows of bits whose weights w are not whole numbers, without the moments: columns w y and
 * w. */
static scl_status add_bits_of_parts(scl_whole_sums *sums, const scl_whole_rows *rows,
                                    double *columns, scl_error *error) {
  const size_t c = sums->targets;
  scl_exact *own = sums->own[rows->group];
  const run r = {part_of(rows, c, 0, rows->rows), 0, columns};
  bool any = false;
  memset(columns, 0, rows->rows * (c + 1) * sizeof *columns);
  for (size_t i = 0; i < rows->rows; i++) {
    const double weight = scl_counted_weight(rows->weights[i]);
    double *column = columns + i * (c + 1);
    if (is_whole(rows->weights[i])) continue;
    any = true;
    column[c] = weight;
    SCL_TRY(scl_exact_add_one(own, 2 * c, weight, 0, error));
    for (size_t j = 0; j < c; j++) {
      const double y = rows->y[i * c + j];
      column[j] = weight * y;
      SCL_TRY(scl_exact_add_one(own, j, column[j], 0, error));
      SCL_TRY(scl_exact_add_product(own, c + j, column[j], y, error));
    }
  }
  return any ? add_columns(sums, &r, error) : SCL_STATUS_OK;
}

/* Add rows of bits with weights, without the moments. For each binary digit of the weights that are
 * whole numbers, the rows whose weights have it are added with the factor 2^digit. */
static scl_status add_bits(scl_whole_sums *sums, const scl_whole_rows *rows, double *columns,
                           scl_error *error) {
  const size_t k = sums->targets + 1;
  double most = 0, weight = 0, all = 0;
  for (size_t i = 0; i < rows->rows; i++) {
    all += rows->weights[i];
    if (!is_whole(rows->weights[i])) continue;
    most = fmax(most, rows->weights[i]);
    weight += rows->weights[i];
  }
  SCL_TRY(add_range(sums, rows->group, all, error));
  SCL_TRY(add_bits_of_parts(sums, rows, columns, error));
  for (int digit = 0; ldexp(1, digit) <= most; digit++) {
    run r = {part_of(rows, sums->targets, 0, rows->rows), digit, columns};
    fill_columns(&r.rows, sums->targets, columns);
    for (size_t i = 0; i < rows->rows; i++)
      if (!is_whole(rows->weights[i]) || ((uint64_t)rows->weights[i] >> digit & 1) == 0)
        memset(columns + i * k, 0, k * sizeof *columns);
    SCL_TRY(add_columns(sums, &r, error));
    /* sums without features take the factor in full */
    for (size_t i = 0; i < rows->rows; i++)
      for (size_t j = 0; j < sums->targets; j++) {
        const double y = columns[i * k + j];
        SCL_TRY(scl_exact_add_one(sums->own[rows->group], j, y, digit, error));
        SCL_TRY(scl_exact_add_product(sums->own[rows->group], sums->targets + j, ldexp(y, digit), y,
                                      error));
      }
  }
  return scl_exact_add_one(sums->own[rows->group], 2 * sums->targets, weight, 0, error);
}

/* ------------ weighted rows of whole numbers */

/* Rows that are gathered because they have the same factor 2^exponent. */
typedef struct gathering {
  scl_whole_sums *sums;
  const scl_whole_rows *rows;
  bool moments;
  size_t room, count; /* rows */
  int exponent;
  char *v;         /* room x D whole numbers, packed */
  double *columns; /* room x (c + 1) */
} gathering;

/* Add the gathered rows to the sums. */
static scl_status flush_gathered(gathering *g, scl_error *error) {
  run r = {*g->rows, g->exponent, g->columns};
  r.rows.v = g->v;
  r.rows.stride = (ptrdiff_t)g->sums->features;
  r.rows.rows = g->count;
  r.rows.weights = NULL;
  const scl_status status = g->count == 0 ? SCL_STATUS_OK : add_run(g->sums, &r, g->moments, error);
  g->count = 0;
  return status;
}

/* Append row i with v times `shrink`, and its targets times `root`. */
static scl_status append_row(gathering *g, size_t i, double shrink, double root, scl_error *error) {
  const scl_whole_rows *rows = g->rows;
  const size_t d = g->sums->features, c = g->sums->targets, size = scl_whole_size(rows->type);
  const void *from = (const char *)rows->v + (ptrdiff_t)i * rows->stride * (ptrdiff_t)size;
  char *to = g->v + g->count * d * size;
  double *columns = g->columns + g->count * (c + 1);
  if (shrink == 1)
    memcpy(to, from, d * size);
  else if (rows->type == SCL_WHOLE_INT8)
    for (size_t j = 0; j < d; j++)
      ((int8_t *)to)[j] = (int8_t)rint(shrink * ((const int8_t *)from)[j]);
  else
    for (size_t j = 0; j < d; j++)
      ((int16_t *)(void *)to)[j] = (int16_t)rint(shrink * ((const int16_t *)from)[j]);
  for (size_t j = 0; j < c; j++)
    columns[j] = root * rows->y[i * c + j];
  columns[c] = root;
  return ++g->count == g->room ? flush_gathered(g, error) : SCL_STATUS_OK;
}

/* The exponent e + 1 of the factor of a weight in [4^e, 4^(e+1)) (whole_sums.h), at least
 * LEAST_FACTOR. */
static int factor_of(double weight) {
  int exponent;
  (void)frexp(weight, &exponent); /* 2^(exponent - 1) <= weight < 2^exponent */
  const int factor = exponent > 0 ? (exponent + 1) / 2 : -(-exponent / 2);
  return factor < LEAST_FACTOR ? LEAST_FACTOR : factor;
}

/* Gather row i if its weight has the present factor 2^exponent. A weight that is a whole number is
 * written in base 4, and the row is appended as often as its digit of 4^exponent says. Any other
 * weight has one factor, and v is multiplied by sqrt(weight) / factor <= 1 and rounded. */
static scl_status gather_row(gathering *g, size_t i, scl_error *error) {
  const double weight = g->rows->weights[i], factor = ldexp(1, g->exponent);
  if (weight == floor(weight)) {
    const int shift = 2 * g->exponent;
    uint64_t times = g->exponent < 0 ? 0 : (uint64_t)weight >> shift & 3;
    for (; times > 0; times--)
      SCL_TRY(append_row(g, i, 1, factor, error));
    return SCL_STATUS_OK;
  }
  if (factor_of(weight) != g->exponent) return SCL_STATUS_OK;
  const double root = sqrt(weight);
  return append_row(g, i, root / factor, root, error);
}

/* *factors = the factors that occur: bit i stands for 2^(i + LEAST_FACTOR). Weights that are not
 * whole numbers widen the moments. SCL_STATUS_NUMERIC: a weight, or their sum, is too large. */
static scl_status find_factors(scl_whole_sums *sums, const scl_whole_rows *rows, uint64_t *factors,
                               scl_error *error) {
  double total = 0;
  *factors = 0;
  for (size_t i = 0; i < rows->rows; i++) {
    const double w = rows->weights[i];
    total += w;
    if (w >= ldexp(1, 2 * MOST_FACTOR))
      return scl_fail(error, SCL_STATUS_NUMERIC,
                      "row weight %g: sums of whole-number features take weights below %g: divide "
                      "the weights by a number; if the solver made it: give a larger tolerance",
                      w, ldexp(1, 2 * MOST_FACTOR));
    if (w == floor(w)) {
      for (int digit = 0; digit < MOST_FACTOR; digit++)
        if ((uint64_t)w >> (2 * digit) & 3) *factors |= (uint64_t)1 << (digit - LEAST_FACTOR);
      continue;
    }
    *factors |= (uint64_t)1 << (factor_of(w) - LEAST_FACTOR);
    SCL_TRY(scl_whole_sums_widen(sums, SCL_WEIGHT_SHIFT, error));
  }
  return add_range(sums, rows->group, total, error);
}

/* Add rows of whole numbers with weights: one pass over the rows for each factor that occurs. */
static scl_status add_weighted(scl_whole_sums *sums, const scl_whole_rows *rows, bool moments,
                               scl_error *error) {
  enum { ROOM = 4096 };
  const size_t d = sums->features, c = sums->targets, size = scl_whole_size(rows->type);
  uint64_t factors;
  SCL_TRY(find_factors(sums, rows, &factors, error));
  gathering g = {.sums = sums, .rows = rows, .moments = moments, .room = ROOM};
  g.v = scl_allocate_array(ROOM * d + 1, size);
  g.columns = scl_allocate_array(ROOM * (c + 1), sizeof *g.columns);
  scl_status status = SCL_STATUS_OK;
  if (g.v == NULL || g.columns == NULL)
    status = scl_fail_memory(error, ROOM * d * size, "weighted rows");
  for (int bit = 0; status == SCL_STATUS_OK && bit < 64; bit++) {
    if (!(factors >> bit & 1)) continue;
    g.exponent = bit + LEAST_FACTOR;
    for (size_t i = 0; status == SCL_STATUS_OK && i < rows->rows; i++)
      status = gather_row(&g, i, error);
    if (status == SCL_STATUS_OK) status = flush_gathered(&g, error);
  }
  SCL_RELEASE(g.v, g.columns);
  return status;
}

static bool all_one(const double *weights, size_t count) {
  for (size_t i = 0; weights != NULL && i < count; i++)
    if (weights[i] != 1) return false;
  return true;
}

/* By the way that their weights and type allow. */
scl_status scl_whole_sums_add(scl_whole_sums *sums, const scl_whole_rows *rows, bool moments,
                              scl_error *error) {
  if (rows->rows == 0) return SCL_STATUS_OK;
  if (all_one(rows->weights, rows->rows)) return add_unweighted(sums, rows, moments, error);
  if (rows->bits == NULL) return add_weighted(sums, rows, moments, error);
  const size_t numbers = rows->rows * (sums->targets + 1);
  double *columns = scl_allocate_array(numbers, sizeof *columns);
  if (columns == NULL) return scl_fail_memory(error, numbers * sizeof *columns, "targets of rows");
  const scl_status status = add_bits(sums, rows, columns, error);
  scl_release(columns);
  return status;
}

double scl_whole_sums_weight(const scl_whole_sums *sums) {
  double weight = 0;
  for (size_t g = 0; g < sums->groups; g++)
    weight += scl_exact_value(sums->own[g], 2 * sums->targets);
  return weight;
}

/* ------------ totals */

scl_status scl_whole_features_open(const scl_map *map, scl_whole_features *out, double **memory,
                                   scl_error *error) {
  const size_t d = scl_map_features(map);
  *memory = NULL;
  scl_map_units(map, &out->unit, &out->base);
  if (scl_map_whole(map) != SCL_WHOLE_NONE) return SCL_STATUS_OK;
  double *high = *memory = scl_allocate_array(2 * d + 1, sizeof *high), *low = high + d;
  if (high == NULL) return scl_fail_memory(error, 2 * d * sizeof *high, "values of features");
  scl_map_low_and_high(map, low, high);
  for (size_t j = 0; j < d; j++)
    high[j] -= low[j];
  *out = (scl_whole_features){.unit = high, .base = low};
  return SCL_STATUS_OK;
}

/* The sums of all groups but one: `right` and `own` in one exact number each. */
typedef struct whole {
  scl_exact *right, *own;
} whole;

/* Add up right and own of all groups but `without`. The caller destroys both, also after a
 * failure. */
static scl_status join_groups(const scl_whole_sums *sums, long without, whole *out,
                              scl_error *error) {
  const size_t c = sums->targets;
  *out = (whole){0};
  scl_status status = scl_exact_create((c + 1) * sums->features, &out->right, error);
  if (status == SCL_STATUS_OK) status = scl_exact_create(2 * c + 1, &out->own, error);
  for (size_t g = 0; status == SCL_STATUS_OK && g < sums->groups; g++) {
    if ((long)g == without) continue;
    status = scl_exact_merge(out->right, sums->right[g], false, error);
    if (status == SCL_STATUS_OK) status = scl_exact_merge(out->own, sums->own[g], false, error);
  }
  return status;
}

/* Number i to 106 bits: rounded, and the rest. */
static wide_float wide_value(const scl_exact *e, size_t i) {
  double rest;
  const double value = scl_exact_value_and_rest(e, i, &rest);
  return (wide_float)value + (wide_float)rest;
}

/* a - b c / total, or 0 if that is within the rounding error of a, so that constant columns have no
 * variance. In 128 bits, because of the cancellation. */
static double centred(wide_float a, wide_float b, wide_float c, wide_float total, double rounding) {
  const wide_float mean = b * c / total, gap = a - mean,
                   least = (a < 0 ? -a : a) * (wide_float)rounding;
  return (gap < 0 ? -gap : gap) <= least ? 0 : (double)gap;
}

/* The right-hand sides, squares and means for features base + unit v. The base drops out of centred
 * products. */
static scl_status fill_totals(const scl_whole_sums *sums, const whole *w,
                              const scl_whole_features *f, bool centre, scl_totals *t,
                              scl_error *error) {
  const size_t d = sums->features, c = sums->targets;
  wide_float *of_targets = scl_allocate_array(c + 1, sizeof *of_targets);
  if (of_targets == NULL) return scl_fail_memory(error, c * sizeof *of_targets, "sums of targets");
  const wide_float total = wide_value(w->own, 2 * c);
  /* Exact sums are known to 106 bits; those of blocks were rounded in each. */
  const double of_square = sums->unit == NULL ? 0x1p-98 : 16 * DBL_EPSILON,
               of_product = sums->unit == NULL ? 0x1p-98 : 0;
  t->total = (double)total;
  for (size_t j = 0; j < c; j++) {
    const wide_float sum = of_targets[j] = wide_value(w->own, j),
                     square = wide_value(w->own, c + j);
    t->mean_y[j] = t->total > 0 ? (double)(sum / total) : 0;
    t->square[j] = centre && t->total > 0 ? fmax(centred(square, sum, sum, total, of_square), 0)
                                          : (double)square;
  }
  for (size_t i = 0; i < d; i++) {
    const wide_float unit = (wide_float)f->unit[i],
                     base = f->base == NULL ? 0 : (wide_float)f->base[i],
                     sum = wide_value(w->right, c * d + i);
    t->mean_phi[i] = t->total > 0 ? (double)(base + unit * sum / total) : 0;
    for (size_t j = 0; j < c; j++) {
      const wide_float product = wide_value(w->right, j * d + i), y = of_targets[j];
      t->right[i * c + j] = centre && t->total > 0
                                ? f->unit[i] * centred(product, sum, y, total, of_product)
                                : (double)(unit * product + base * y);
    }
  }
  scl_release(of_targets);
  return SCL_STATUS_OK;
}

/* *out = the matrix of the features base + unit v from the exact moments, centred if asked. With
 * `spend` and one group it is made in the memory of the moments. */
static scl_status scale_moments(scl_whole_sums *sums, const whole *w, const scl_whole_features *f,
                                long without, bool centre, bool spend, scl_symmetric **out,
                                scl_error *error) {
  const size_t d = sums->features, c = sums->targets;
  double *column = scl_allocate_array(2 * d + 1, sizeof *column);
  scl_whole_scaling scaling = {.parts = sums->moment,
                               .shift = sums->shift,
                               .exact = sums->unit == NULL,
                               .unit = f->unit,
                               .base = f->base,
                               .sums = column,
                               .rests = column == NULL ? NULL : column + d};
  size_t *chosen = scl_allocate_array(sums->groups + 1, sizeof *chosen);
  for (size_t g = 0; chosen != NULL && g < sums->groups; g++)
    if ((long)g != without) chosen[scaling.count++] = g;
  scaling.total = scl_exact_value_and_rest(w->own, 2 * c, &scaling.total_rest);
  scaling.chosen = chosen;
  scaling.centred = centre && scaling.total > 0;
  scl_status status = SCL_STATUS_OK;
  if (column == NULL || chosen == NULL)
    status = scl_fail_memory(error, d * sizeof *column, "sums of features");
  for (size_t i = 0; status == SCL_STATUS_OK && i < d; i++)
    column[i] = scl_exact_value_and_rest(w->right, c * d + i, &column[d + i]);
  const scl_symmetric *like = sums->moment[0].low;
  const bool in_place = spend && scaling.count == 1 && sums->groups == 1;
  if (status == SCL_STATUS_OK && !in_place)
    status = scl_symmetric_is_common(like) ? scl_symmetric_create_common(d, false, out, error)
                                           : scl_symmetric_create_like(like, out, error);
  if (status == SCL_STATUS_OK && in_place) *out = sums->moment[0].low;
  if (status == SCL_STATUS_OK) status = scl_whole_totals_scale(&scaling, *out, error);
  if (in_place && status == SCL_STATUS_OK) sums->moment[0].low = NULL;
  if (in_place && status != SCL_STATUS_OK) *out = NULL;
  SCL_RELEASE(column, chosen);
  return status;
}

scl_status scl_whole_sums_total(scl_whole_sums *sums, const scl_whole_features *features,
                                long without, bool centre, bool spend, scl_totals *out,
                                scl_symmetric **moment, scl_error *error) {
  whole w;
  const scl_whole_features own = {.unit = sums->unit};
  if (sums->unit != NULL) features = &own;
  scl_status status = join_groups(sums, without, &w, error);
  if (status == SCL_STATUS_OK) status = fill_totals(sums, &w, features, centre, out, error);
  if (status == SCL_STATUS_OK)
    status = scale_moments(sums, &w, features, without, centre, spend, moment, error);
  scl_exact_destroy(w.right);
  scl_exact_destroy(w.own);
  return status;
}
