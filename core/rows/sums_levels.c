/* Normal equations of features that each read one column, where columns have few distinct values
 * (levels.h): sums over rows of the codes z, C numbers in place of D features, and at the end
 *
 *   Phi'Phi = P'N P,   N = A (Z'Z) A'
 *
 * A z = a number for every level of a column, and the features of the other columns; P = the table
 * of features by levels. n C^2 + D^2 products instead of n D^2: they pay where C is at most D/2. */
#include "base/pool.h"
#include "base/profile.h"
#include "map/columnwise.h"
#include "rows/levels.h"
#include "rows/ways.h"
#include <stdatomic.h>
#include <string.h>

typedef struct level_sums {
  const scl_flow *flow;
  scl_levels *levels;
  bool plain;  /* codes cost more than features: rows are summed by their features from now on */
  bool parted; /* the sums of some rows have left `codes` for a part */
  scl_sums *codes; /* sums over rows of z, of order `room`; NULL: no rows yet */
  size_t room;
  void *z; /* codes of a block: rows x room */
} level_sums;

enum { ROOM_STEP = 16 };

static atomic_bool refused;

void scl_ways_use_levels(bool use) { refused = !use; }
bool scl_ways_levels_used(void) { return !refused; }

/* Sums that are kept (fingerprints), or are joined to others (fixed units), have to be exact where
 * pilot means make `dense` claim them. */
static bool levels_claims(const scl_flow *flow) {
  const bool kept = flow->prints != NULL || flow->fixed_unit;
  return !refused && flow->map != NULL && !(kept && flow->pilot != NULL) && flow->count == 0 &&
         scl_map_columns(flow->map) != NULL && !scl_flow_is_sparse(flow);
}

/* Slot `open`. Features are only made for blocks that are summed by their features. */
static scl_status levels_open(scl_summing *s, scl_error *error) {
  level_sums *sums = s->state = scl_allocate_zero(sizeof *sums);
  if (sums == NULL) return scl_fail_memory(error, sizeof *sums, "sums by levels");
  sums->flow = s->flow;
  s->walked.late = true;
  return scl_levels_create(s->flow->map, s->flow->pilot, &sums->levels, error);
}

static void levels_close(scl_summing *s) {
  level_sums *sums = s->state;
  if (sums == NULL) return;
  scl_sums_destroy(sums->codes);
  scl_levels_destroy(sums->levels);
  SCL_RELEASE(sums->z, sums);
}

/* ------------ room for codes */

/* A rectangle of a larger matrix, for scl_symmetric_fill: `from` in its leading rows and
 * columns. */
static scl_status copy_leading(void *context, size_t first_row, size_t rows, size_t first_col,
                               size_t cols, double *out, ptrdiff_t stride, scl_error *error) {
  const scl_symmetric *from = context;
  const size_t n = scl_symmetric_order(from);
  (void)error;
  for (size_t i = first_row; i < scl_min(first_row + rows, n); i++)
    for (size_t j = first_col; j < scl_min(first_col + cols, n); j++)
      out[(ptrdiff_t)(i - first_row) * stride + (ptrdiff_t)(j - first_col)] =
          scl_symmetric_get(from, i, j);
  return SCL_STATUS_OK;
}

/* Copy sums to larger ones. The codes that are appended were 0 on all rows so far, and so are their
 * sums. */
static scl_status copy_sums(const scl_sums *from, scl_sums *to, scl_error *error) {
  const size_t cols = from->targets + 1;
  for (size_t g = 0; g < from->groups; g++) {
    SCL_TRY(scl_symmetric_fill(to->moment[g], copy_leading, from->moment[g], error));
    memcpy(to->right + g * to->features * cols, from->right + g * from->features * cols,
           from->features * cols * sizeof(double));
  }
  scl_sums_copy_targets(from, to);
  return SCL_STATUS_OK;
}

/* Enlarge the sums of codes and the buffer z for the present number of codes and some more. */
static scl_status make_room(level_sums *s, const scl_sums *part, scl_error *error) {
  if (s->codes != NULL && s->levels->codes <= s->room) return SCL_STATUS_OK;
  const size_t room = (s->levels->codes + ROOM_STEP / 2) / ROOM_STEP * ROOM_STEP + ROOM_STEP,
               rows = scl_flow_block_rows(s->flow), size = scl_dtype_size(s->flow->dtype);
  scl_sums like = {.features = room, .targets = part->targets, .groups = part->groups};
  const scl_reduction sum = scl_sums_reduction(&like);
  void *wider = NULL;
  SCL_TRY(sum.open(sum.context, &wider, error));
  scl_status status = s->codes == NULL ? SCL_STATUS_OK : copy_sums(s->codes, wider, error);
  scl_sums_destroy(s->codes);
  s->codes = wider;
  if (room == s->room && s->z != NULL) return status;
  s->room = room;
  scl_release(s->z);
  s->z = scl_allocate_array(rows * room + 1, size);
  return s->z != NULL ? status : scl_fail_memory(error, rows * room * size, "codes of rows");
}

/* ------------ from codes to features */

typedef struct expansion {
  const scl_levels *levels;
  size_t atoms, codes, room,
      cols;                     /* atoms: rows of A, one for each level of a column and each feature
                                      of a wide column */
  size_t *atom;                 /* of each feature: its own, or level 0 of its column */
  double *full, *half, *counts; /* Z'Z; A Z'Z; N */
  double *right;                /* A Z'[Y 1] */
  double *tabled;               /* N P */
} expansion;

/* Levels of a column that have places in z. Levels learnt since the last scl_levels_place follow
 * them. */
static size_t placed_levels(const scl_levels *levels, const scl_level_column *c) {
  size_t count = 1;
  while (count < c->levels && levels->slot[c->first + count] != SIZE_MAX)
    count++;
  return count;
}

/* Set the first atom of each column, the atom of each feature, and the number of atoms. */
static void place_atoms(scl_levels *levels, expansion *e) {
  for (size_t k = 0; k < levels->n_columns; k++) {
    scl_level_column *c = &levels->column[k];
    c->atom = e->atoms;
    for (size_t i = 0; i < c->features; i++)
      e->atom[levels->order[c->first + i]] = e->atoms + (c->wide ? i : 0);
    e->atoms += c->wide ? c->features : placed_levels(levels, c);
  }
}

/* out (atoms x cols) = A from, where row i of `from` belongs to code i. The indicator of level 0 is
 * 1 less those of all other levels, so that its row is row 0 (the constant) less their rows. */
static void apply_atoms(const scl_levels *levels, const double *from, size_t stride, size_t cols,
                        double *out) {
  for (size_t k = 0; k < levels->n_columns; k++) {
    const scl_level_column *c = &levels->column[k];
    const size_t *slot = levels->slot + c->first,
                 count = c->wide ? c->features : placed_levels(levels, c);
    double *to = out + c->atom * cols;
    if (!c->wide) memcpy(to, from, cols * sizeof *to);
    for (size_t l = c->wide ? 0 : 1; l < count; l++) {
      memcpy(to + l * cols, from + slot[l] * stride, cols * sizeof *to);
      for (size_t j = 0; !c->wide && j < cols; j++)
        to[j] -= to[l * cols + j];
    }
  }
}

static void transpose(size_t rows, size_t cols, const double *from, double *to) {
  for (size_t i = 0; i < rows; i++)
    for (size_t j = 0; j < cols; j++)
      to[j * rows + i] = from[i * cols + j];
}

/* Task: row a of N P (atoms x D). */
static void tabulate_row(void *context, size_t a) {
  const expansion *e = context;
  const scl_levels *levels = e->levels;
  const size_t features = levels->features;
  const double *counts = e->counts + a * e->atoms;
  double *out = e->tabled + a * features;
  for (size_t t = 0; t < features; t++) {
    const scl_level_column *c = &levels->column[levels->of[t]];
    const double *number = counts + e->atom[t];
    double sum = c->wide ? number[0] : 0;
    for (size_t l = 0, count = c->wide ? 0 : placed_levels(levels, c); l < count; l++)
      sum += number[l] * levels->table[l * features + t];
    out[t] = sum;
  }
}

/* Add a rectangle of P'(N P) to `out`, for scl_symmetric_fill. */
static scl_status expand_rectangle(void *context, size_t first_row, size_t rows, size_t first_col,
                                   size_t cols, double *out, ptrdiff_t stride, scl_error *error) {
  const expansion *e = context;
  const scl_levels *levels = e->levels;
  const size_t features = levels->features;
  (void)error;
  for (size_t i = 0; i < rows; i++) {
    const size_t t = first_row + i;
    const scl_level_column *c = &levels->column[levels->of[t]];
    double *to = out + (ptrdiff_t)i * stride;
    for (size_t l = 0, count = c->wide ? 1 : placed_levels(levels, c); l < count; l++) {
      const double factor = c->wide ? 1 : levels->table[l * features + t],
                   *from = e->tabled + (e->atom[t] + l) * features + first_col;
      for (size_t j = 0; j < cols; j++)
        to[j] += factor * from[j];
    }
  }
  return SCL_STATUS_OK;
}

/* right (D x cols) += P' A Z'[Y 1]. */
static void expand_right(const expansion *e, double *right) {
  const scl_levels *levels = e->levels;
  for (size_t t = 0; t < levels->features; t++) {
    const scl_level_column *c = &levels->column[levels->of[t]];
    for (size_t l = 0, count = c->wide ? 1 : placed_levels(levels, c); l < count; l++) {
      const double factor = c->wide ? 1 : levels->table[l * levels->features + t];
      for (size_t j = 0; j < e->cols; j++)
        right[t * e->cols + j] += factor * e->right[(e->atom[t] + l) * e->cols + j];
    }
  }
}

/* Add one group: N = A (Z'Z) A' by applying A twice with a transposition between, then P'N P
 * tile by tile, and the sums of the targets, which codes do not change. */
static scl_status expand_group(expansion *e, const scl_sums *from, size_t group, scl_sums *to,
                               scl_error *error) {
  const size_t c = from->targets, features = e->levels->features;
  scl_service_symmetric.dense(from->moment[group], e->full, (ptrdiff_t)e->room);
  apply_atoms(e->levels, e->full, e->room, e->room, e->half);
  transpose(e->atoms, e->room, e->half, e->full);
  apply_atoms(e->levels, e->full, e->atoms, e->atoms, e->counts);
  apply_atoms(e->levels, from->right + group * from->features * e->cols, e->cols, e->cols,
              e->right);
  scl_pool_run(e->atoms, tabulate_row, e);
  SCL_TRY(scl_symmetric_fill(to->moment[group], expand_rectangle, e, error));
  expand_right(e, to->right + group * features * e->cols);
  for (size_t j = group * c; j < (group + 1) * c; j++) {
    to->sum[j] += from->sum[j];
    to->square[j] += from->square[j];
  }
  to->count[group] += from->count[group];
  return SCL_STATUS_OK;
}

/* Add the sums of the codes to the sums `to` of the features, for all groups. */
static scl_status expand_codes(const level_sums *s, scl_sums *to, scl_error *error) {
  const size_t features = s->levels->features, room = s->room, cols = to->targets + 1;
  expansion e = {.levels = s->levels, .room = room, .cols = cols};
  e.atom = scl_allocate_array(features + 1, sizeof *e.atom);
  if (e.atom == NULL) return scl_fail_memory(error, features * sizeof *e.atom, "sums by levels");
  place_atoms(s->levels, &e);
  const size_t square = scl_max(room, e.atoms) * scl_max(room, e.atoms),
               numbers = 3 * square + e.atoms * (cols + features);
  scl_status status = SCL_STATUS_OK;
  e.full = scl_allocate_array(numbers + 1, sizeof *e.full);
  if (e.full == NULL)
    status = scl_fail_memory(error, numbers * sizeof *e.full, "sums by levels");
  else {
    e.half = e.full + square;
    e.counts = e.half + square;
    e.right = e.counts + square;
    e.tabled = e.right + e.atoms * cols;
  }
  for (size_t g = 0; status == SCL_STATUS_OK && g < to->groups; g++)
    status = expand_group(&e, s->codes, g, to, error);
  SCL_RELEASE(e.atom, e.full);
  return status;
}

/* Move the sums of the codes so far to `part`. The levels stay. */
static scl_status move_codes(level_sums *s, scl_sums *part, scl_error *error) {
  if (s->codes == NULL) return SCL_STATUS_OK;
  const scl_status status = expand_codes(s, part, error);
  scl_sums_destroy(s->codes);
  s->codes = NULL;
  s->parted = true;
  return status;
}

static scl_status levels_flush(scl_summing *summing, scl_sums *part, scl_error *error) {
  const level_sums *s = summing->state;
  return s->codes == NULL ? SCL_STATUS_OK : expand_codes(s, part, error);
}

/* The table T (C x D) with Phi = Z T: row 0 has the features at the first level of each column, the
 * row of another level their differences from these, and the row of a direct feature 1 in its
 * column. */
static void fill_codes_table(const scl_levels *levels, double *table) {
  const size_t features = levels->features;
  for (size_t t = 0; t < features; t++) {
    const scl_level_column *c = &levels->column[levels->of[t]];
    if (c->wide) continue;
    table[t] = levels->table[t];
    for (size_t l = 1, count = placed_levels(levels, c); l < count; l++)
      table[levels->slot[c->first + l] * features + t] =
          levels->table[l * features + t] - levels->table[t];
  }
  for (size_t i = 0; i < levels->direct; i++)
    table[(1 + i) * features + levels->wide[i]] = 1;
}

/* Slot `finish`: if the codes' sums contain all rows, store them and the table with the sums. */
static scl_status levels_finish(scl_summing *summing, scl_sums **sums, scl_error *error) {
  level_sums *s = summing->state;
  scl_sums *whole = *sums;
  if (s->codes == NULL || s->plain || s->parted) return SCL_STATUS_OK;
  const size_t numbers = s->room * s->levels->features;
  double *table = scl_allocate_zero((numbers + 1) * sizeof *table);
  if (table == NULL) return scl_fail_memory(error, numbers * sizeof *table, "features of levels");
  fill_codes_table(s->levels, table);
  whole->table = table;
  whole->codes = s->codes;
  whole->direct = s->levels->direct;
  s->codes = NULL;
  return SCL_STATUS_OK;
}

/* ------------ adding rows */

/* Take in the new levels of a block: give them places in z, widen columns of too many levels, or
 * stop coding where it no longer pays. Sums by the old places are moved to `part` before places
 * change. */
static scl_status learn_levels(level_sums *s, const scl_flow_block *block, scl_sums *part,
                               scl_error *error) {
  scl_levels *levels = s->levels;
  bool spills = false;
  scl_levels_learn(levels, block->x, block->x_stride, block->count, &spills);
  if (spills) {
    SCL_TRY(move_codes(s, part, error));
    SCL_TRY(scl_levels_widen(levels, error));
  }
  s->plain = 2 * scl_levels_due(levels) > levels->features;
  if (s->plain) return move_codes(s, part, error); /* of the levels that have places */
  SCL_TRY(scl_levels_place(levels, block->x, error));
  return make_room(s, part, error);
}

/* Code the rows of a block into s->z. If one has a new level, learn the levels of the block and
 * code it again. Where codes stop paying, s->plain is set and z is not used. */
static scl_status code_rows(level_sums *s, const scl_flow_block *block, scl_sums *part,
                            scl_error *error) {
  bool known = false;
  for (int tries = 0; tries < 2 && !s->plain; tries++) {
    if (s->codes != NULL)
      SCL_TRY(scl_levels_code(s->levels, block->x, block->x_stride, block->count, s->z,
                              (ptrdiff_t)s->room, &known, error));
    if (known) return SCL_STATUS_OK;
    SCL_TRY(learn_levels(s, block, part, error));
  }
  return SCL_STATUS_OK;
}

static scl_status code_block(level_sums *s, const scl_flow_block *block, scl_sums *part,
                             scl_error *error) {
  const size_t mark = scl_profile_enter("features");
  const scl_status status = code_rows(s, block, part, error);
  scl_profile_leave(mark, s->plain ? 0 : (double)block->count, block->first == 0 && !s->plain);
  return status;
}

/* Slot `add`: sum the rows of a block by their codes, or, from the first block on for which codes
 * cost more than features, by their features. */
static scl_status levels_add(scl_summing *summing, const scl_flow_block *block, scl_sums *part,
                             scl_error *error) {
  level_sums *s = summing->state;
  if (!s->plain) SCL_TRY(code_block(s, block, part, error));
  s->parted |= s->plain;
  scl_flow_block coded = *block;
  coded.phi = s->z;
  coded.phi_stride = (ptrdiff_t)s->room;
  if (s->plain) SCL_TRY(scl_flow_make_features(block, error));
  for (size_t g = 0; g < part->groups; g++)
    SCL_TRY(scl_sums_dense_rows(s->plain ? part : s->codes, s->flow, s->plain ? block : &coded, g,
                                block->group_start[g], block->group_start[g + 1], error));
  return SCL_STATUS_OK;
}

const scl_sums_way scl_way_levels = {.name = "levels",
                                     .has_codes = true,
                                     .claims = levels_claims,
                                     .rows = scl_sums_dense_rows,
                                     .first_of = scl_sums_of_first,
                                     .open = levels_open,
                                     .close = levels_close,
                                     .add = levels_add,
                                     .flush = levels_flush,
                                     .finish = levels_finish};
