/* Normal equations as sums over rows: parts of a reduction, their merge, and totals over groups.
 * The ways of summing (ways.c) fill the parts; learn/ reads the totals. */
#include "rows/block_sums.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* ------------ parts */

/* Exact sums keep all in `whole`; others have a moment, a right side and sums for each group. */
scl_status scl_sums_create(const scl_sums *like, scl_sums **out, scl_error *error) {
  const size_t d = like->features, c = like->targets, groups = like->groups;
  scl_sums *sums = scl_allocate_zero(sizeof *sums);
  if (sums == NULL) return scl_fail_memory(error, sizeof *sums, "normal equations");
  *sums = (scl_sums){.features = d,
                     .targets = c,
                     .groups = groups,
                     .counted = like->counted,
                     .shared = like->shared,
                     .exact = like->exact};
  if (like->exact) {
    const scl_moments moments = like->counted || like->common != NULL ? SCL_MOMENTS_NONE
                                : like->shared                        ? SCL_MOMENTS_SHARED
                                                                      : SCL_MOMENTS_OWN;
    scl_status made = scl_whole_sums_create(d, c, groups, moments, &sums->whole, error);
    if (made == SCL_STATUS_OK && like->blocks != NULL)
      made = scl_block_sums_open(sums->whole, like->unit, like->blocks, error);
    for (size_t g = 0; made == SCL_STATUS_OK && g < groups; g++) {
      if (like->common != NULL) {
        sums->whole->moment[g] = like->common[g];
        like->common[g] = (scl_whole_totals){0};
      }
      sums->whole->moment[g].known = like->known;
    }
    if (made == SCL_STATUS_OK)
      *out = sums;
    else
      scl_sums_destroy(sums);
    return made;
  }
  sums->right = scl_allocate_zero((groups * d * (c + 1) + 1) * sizeof(double));
  sums->sum = scl_allocate_zero((groups * c + 1) * sizeof(double));
  sums->square = scl_allocate_zero((groups * c + 1) * sizeof(double));
  sums->count = scl_allocate_zero((groups + 1) * sizeof(double));
  sums->moment = scl_allocate_zero((groups + 1) * sizeof *sums->moment);
  scl_status status = SCL_STATUS_OK;
  if (!sums->right || !sums->sum || !sums->square || !sums->count || !sums->moment)
    status = scl_fail_memory(error, groups * d * (c + 1) * sizeof(double), "normal equations");
  for (size_t g = 0; status == SCL_STATUS_OK && g < groups; g++)
    status = scl_symmetric_create(d, &sums->moment[g], error);
  if (status == SCL_STATUS_OK)
    *out = sums;
  else
    scl_sums_destroy(sums);
  return status;
}

/* The totals without each group, and those of all, centred and not. */
static size_t count_kept(const scl_sums *sums) { return 2 * (sums->groups + 1); }

scl_kept_total *scl_sums_kept_total(scl_sums *sums, long without, bool centred) {
  static const double MOST_BYTES = 4e6;
  /* tiles that processes share are not a whole matrix */
  if (sums->shared || scl_symmetric_bytes((double)sums->features) > MOST_BYTES) return NULL;
  if (sums->kept == NULL) sums->kept = scl_allocate_zero(count_kept(sums) * sizeof *sums->kept);
  return sums->kept == NULL ? NULL : &sums->kept[2 * (size_t)(without + 1) + centred];
}

void scl_sums_destroy(scl_sums *sums) {
  if (sums == NULL) return;
  for (size_t k = 0; sums->kept != NULL && k < count_kept(sums); k++) {
    scl_symmetric_destroy((scl_symmetric *)(uintptr_t)sums->kept[k].moment);
    scl_release(sums->kept[k].numbers);
  }
  for (size_t g = 0; sums->moment != NULL && g < sums->groups; g++)
    scl_symmetric_destroy(sums->moment[g]);
  scl_sums_destroy(sums->codes);
  scl_whole_sums_destroy(sums->whole);
  SCL_RELEASE(sums->moment, sums->right, sums->sum, sums->square, sums->count, sums->table,
              sums->kept, sums);
}

/* Slot scl_reduction.open; context: the sizes, as scl_sums_create takes them. */
static scl_status open_part(void *context, void **part, scl_error *error) {
  scl_sums *sums;
  SCL_TRY(scl_sums_create(context, &sums, error));
  *part = sums;
  return SCL_STATUS_OK;
}

static void add_numbers(size_t count, const double *from, double *into) {
  for (size_t i = 0; i < count; i++)
    into[i] += from[i];
}

/* into += from, term by term. Both have the sizes of `context`. */
static scl_status merge_parts(void *context, void *into, void *from, scl_error *error) {
  scl_sums *to = into;
  const scl_sums *other = from;
  const size_t groups = to->groups, c = to->targets;
  (void)context;
  if (to->exact) return scl_whole_sums_merge(to->whole, other->whole, false, error);
  for (size_t g = 0; g < groups; g++)
    scl_service_symmetric.add(1, other->moment[g], to->moment[g]);
  add_numbers(groups * to->features * (c + 1), other->right, to->right);
  add_numbers(groups * c, other->sum, to->sum);
  add_numbers(groups * c, other->square, to->square);
  add_numbers(groups, other->count, to->count);
  return SCL_STATUS_OK;
}

static void close_part(void *context, void *part) {
  (void)context;
  scl_sums_destroy(part);
}

/* bytes: those of a part, which decide whether there are several leaves (reduce.h). */
scl_reduction scl_sums_reduction(scl_sums *like) {
  const size_t d = like->features, squares = d / 2;
  if (like->exact) /* one part: its order does not matter */
    return (scl_reduction){like, SIZE_MAX, open_part, merge_parts, close_part, NULL};
  const size_t bytes = like->groups * d * (squares + like->targets + 1) * 8;
  return (scl_reduction){like, bytes, open_part, merge_parts, close_part, NULL};
}

/* ------------ targets */

void scl_sums_add_targets(scl_sums *sums, const scl_flow_block *block, size_t group, size_t start,
                          size_t end) {
  const size_t c = sums->targets;
  for (size_t i = start; i < end; i++) {
    const double weight = scl_flow_weight(block, i), *y = block->y + i * c;
    for (size_t j = 0; j < c; j++) {
      sums->sum[group * c + j] += weight * y[j];
      sums->square[group * c + j] += weight * y[j] * y[j];
    }
    sums->count[group] += weight;
  }
}

void scl_sums_copy_targets(const scl_sums *from, scl_sums *to) {
  memcpy(to->sum, from->sum, from->groups * from->targets * sizeof(double));
  memcpy(to->square, from->square, from->groups * from->targets * sizeof(double));
  memcpy(to->count, from->count, from->groups * sizeof(double));
}

scl_status scl_sums_check_target(size_t target, double square, scl_error *error) {
  if (isfinite(square)) return SCL_STATUS_OK;
  return scl_fail(error, SCL_STATUS_NUMERIC,
                  "the sum of squares of target %zu is too large for double precision: divide the "
                  "targets by a constant",
                  target + 1);
}

scl_status scl_sums_check_targets(const scl_whole_sums *sums, const scl_whole_sums *more,
                                  scl_error *error) {
  for (size_t j = 0; j < sums->targets; j++) {
    double square = 0;
    for (size_t g = 0; g < sums->groups; g++)
      square += scl_exact_value(sums->own[g], sums->targets + j);
    for (size_t g = 0; more != NULL && g < more->groups; g++)
      square += scl_exact_value(more->own[g], sums->targets + j);
    SCL_TRY(scl_sums_check_target(j, square, error));
  }
  return SCL_STATUS_OK;
}

scl_status scl_sums_check(const scl_sums *sums, scl_dtype dtype, scl_error *error) {
  if (sums->exact) return scl_sums_check_targets(sums->whole, NULL, error);
  for (size_t i = 0; i < sums->groups * sums->targets; i++)
    SCL_TRY(scl_sums_check_target(i % sums->targets, sums->square[i], error));
  for (size_t g = 0; g < sums->groups; g++)
    for (size_t j = 0; j < sums->features; j++)
      if (!isfinite(scl_symmetric_get(sums->moment[g], j, j)))
        return scl_fail(error, SCL_STATUS_NUMERIC,
                        "the sum of squares of feature %zu is too large for %s: scale the data",
                        j + 1, scl_dtype_name(dtype));
  return SCL_STATUS_OK;
}

/* ------------ totals */

/* Centre the products and squares about the weighted means, with n the total weight:
 *
 *   right  = Phi'Y - n mean_phi mean_y'
 *   square = sum y^2 - n mean_y^2
 *
 * A rest of the squares within rounding is 0, so that a constant target has no variance. */
static void centre_totals(size_t d, size_t c, scl_totals *t) {
  for (size_t i = 0; i < d; i++)
    for (size_t j = 0; j < c; j++)
      t->right[i * c + j] -= t->total * t->mean_phi[i] * t->mean_y[j];
  for (size_t j = 0; j < c; j++) {
    const double mean = t->total * t->mean_y[j] * t->mean_y[j], rest = t->square[j] - mean;
    t->square[j] = rest > 16 * DBL_EPSILON * mean ? rest : 0; /* rounding, of a constant */
  }
}

/* Add the right-hand sides and sums of one group to the totals. mean_phi and mean_y hold sums
 * until scl_sums_total divides them. */
static void add_group(const scl_sums *sums, size_t group, scl_totals *t) {
  const size_t d = sums->features, c = sums->targets, cols = c + 1;
  const double *from = sums->right + group * d * cols;
  for (size_t i = 0; i < d; i++) {
    for (size_t j = 0; j < c; j++)
      t->right[i * c + j] += from[i * cols + j];
    t->mean_phi[i] += from[i * cols + c];
  }
  add_numbers(c, sums->sum + group * c, t->mean_y);
  add_numbers(c, sums->square + group * c, t->square);
  t->total += sums->count[group];
}

void scl_sums_total(const scl_sums *sums, long without, bool centre, scl_totals *out) {
  const size_t d = sums->features, c = sums->targets;
  memset(out->right, 0, d * c * sizeof *out->right);
  memset(out->square, 0, c * sizeof *out->square);
  memset(out->mean_phi, 0, d * sizeof *out->mean_phi);
  memset(out->mean_y, 0, c * sizeof *out->mean_y);
  out->total = 0;
  for (size_t g = 0; g < sums->groups; g++)
    if ((long)g != without) add_group(sums, g, out);
  if (!(out->total > 0)) return;
  for (size_t i = 0; i < d; i++)
    out->mean_phi[i] /= out->total;
  for (size_t j = 0; j < c; j++)
    out->mean_y[j] /= out->total;
  if (centre) centre_totals(d, c, out);
}

/* ------------ fewer parameters */

typedef struct fewer {
  const scl_symmetric *from;
  size_t many, few;
  double factor;
} fewer;

/* The place among the features of many parameters of feature j of few: output j / few of parameter
 * j % few. */
static size_t place_among(const fewer *f, size_t j) { return j / f->few * f->many + j % f->few; }

/* A tile of the moments of the first parameters: factor times the entries of `from`. */
static scl_status rectangle_of_first(void *context, size_t first_row, size_t rows, size_t first_col,
                                     size_t cols, double *out, ptrdiff_t stride, scl_error *error) {
  const fewer *f = context;
  (void)error;
  for (size_t i = 0; i < rows; i++)
    for (size_t j = 0; j < cols; j++)
      out[(ptrdiff_t)i * stride + (ptrdiff_t)j] =
          f->factor *
          scl_symmetric_get(f->from, place_among(f, first_row + i), place_among(f, first_col + j));
  return SCL_STATUS_OK;
}

/* Fill the sums `to` of the first parameters. The features of fewer parameters are larger by
 * `ratio`, because features are divided by the root of the number of parameters: moments change
 * by ratio^2, products with targets by ratio. */
static scl_status fill_of_first(const scl_sums *from, fewer *f, double ratio, scl_sums *to,
                                scl_error *error) {
  const size_t cols = from->targets + 1;
  for (size_t g = 0; g < from->groups; g++) {
    f->from = from->moment[g];
    SCL_TRY(scl_symmetric_fill(to->moment[g], rectangle_of_first, f, error));
    for (size_t j = 0; j < to->features; j++)
      for (size_t k = 0; k < cols; k++)
        to->right[(g * to->features + j) * cols + k] =
            ratio * from->right[(g * from->features + place_among(f, j)) * cols + k];
  }
  scl_sums_copy_targets(from, to);
  return SCL_STATUS_OK;
}

/* scl_sums_of_first for exact sums: the units of the features change by `ratio`, the whole numbers
 * do not. */
static scl_status exact_of_first(const scl_sums *sums, size_t many, size_t few, size_t outputs,
                                 double ratio, scl_sums **out, scl_error *error) {
  scl_sums *made = scl_allocate_zero(sizeof *made);
  if (made == NULL) return scl_fail_memory(error, sizeof *made, "normal equations");
  *made = (scl_sums){
      .features = few * outputs, .targets = sums->targets, .groups = sums->groups, .exact = true};
  const scl_status status =
      scl_whole_sums_of_first(sums->whole, many, few, outputs, ratio, &made->whole, error);
  if (status == SCL_STATUS_OK)
    *out = made;
  else
    scl_release(made);
  return status;
}

scl_status scl_sums_of_first(const scl_sums *sums, size_t many, size_t few, size_t outputs,
                             double ratio, scl_sums **out, scl_error *error) {
  const scl_sums like = {
      .features = few * outputs, .targets = sums->targets, .groups = sums->groups};
  if (sums->exact) return exact_of_first(sums, many, few, outputs, ratio, out, error);
  fewer f = {.many = many, .few = few, .factor = ratio * ratio};
  scl_sums *made = NULL;
  scl_status status = scl_sums_create(&like, &made, error);
  if (status == SCL_STATUS_OK) status = fill_of_first(sums, &f, ratio, made, error);
  if (status != SCL_STATUS_OK) {
    scl_sums_destroy(made);
    made = NULL;
  }
  *out = made;
  return status;
}
