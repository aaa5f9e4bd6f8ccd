/* Standard deviations and conformal intervals of a saved model: see docs/uncertainty.md for the
 * formulas, and lua/scullery/model/conformal.lua for the same in scripts. */
#include "model/sure.h"

#include "learn/conformal.h"
#include "learn/score.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

/* ------------ reading */

/* Copy the array "posterior.NAME", 1 x count finite numbers. */
static scl_status read_part(const scl_saved *saved, const char *name, double *out, size_t count,
                            scl_error *error) {
  char full[40];
  scl_matrix m;
  (void)snprintf(full, sizeof full, "posterior.%s", name);
  const scl_saved_shape shape = {1, count, true};
  SCL_TRY(scl_saved_matrix(saved, full, shape, &m, error));
  for (size_t i = 0; i < count; i++)
    out[i] = scl_matrix_get(&m, 0, i);
  scl_matrix_release(&m);
  return SCL_STATUS_OK;
}

/* The numbers and arrays of a posterior of these sizes. */
static scl_status fill_posterior(const scl_saved *saved, const cJSON *said, scl_posterior *p,
                                 scl_error *error) {
  size_t bytes;
  double *numbers = scl_symmetric_numbers(p->factor, &bytes);
  const size_t order = p->rows > 0 ? p->rows : p->features;
  SCL_TRY(read_part(saved, "factor", numbers, bytes / sizeof *numbers, error));
  SCL_TRY(read_part(saved, "mean", p->mean, p->features, error));
  SCL_TRY(read_part(saved, "evidence", p->evidence, p->targets, error));
  SCL_TRY(read_part(saved, "residual", p->residual, p->targets, error));
  if (p->rows > 0) SCL_TRY(read_part(saved, "phi", p->phi, p->rows * p->features, error));
  SCL_TRY(scl_saved_flag(said, "constant", &p->constant, error));
  SCL_TRY(scl_saved_flag(said, "whitened", &p->whitened, error));
  if (!scl_saved_number(saved, scl_saved_find(said, "weight"), &p->weight) ||
      !scl_saved_number(saved, scl_saved_find(said, "total"), &p->total) ||
      !scl_saved_number(saved, scl_saved_find(said, "jitter"), &p->jitter) ||
      !(p->weight >= 0 && isfinite(p->weight) && p->total > 0 && isfinite(p->total) &&
        p->jitter >= 0 && isfinite(p->jitter)))
    return scl_fail(error, SCL_STATUS_BAD_DATA, "its numbers are not those of a posterior");
  for (size_t i = 0; i < order; i++)
    if (!(scl_symmetric_get(p->factor, i, i) > 0))
      return scl_fail(error, SCL_STATUS_BAD_DATA,
                      "the factor of its posterior has a diagonal that is not positive");
  return SCL_STATUS_OK;
}

scl_status scl_saved_posterior(const scl_saved *saved, size_t features, size_t targets,
                               scl_posterior **out, scl_error *error) {
  const cJSON *said;
  size_t rows;
  *out = NULL;
  if (scl_saved_find(saved->body, "posterior") == NULL) return SCL_STATUS_OK;
  SCL_TRY(scl_saved_table(saved->body, "posterior", &said, error));
  SCL_TRY(scl_saved_whole(saved, said, "rows", 0, INT32_MAX, &rows, error));
  SCL_TRY(scl_posterior_empty(features, targets, rows, out, error));
  const scl_status status = fill_posterior(saved, said, *out, error);
  if (status == SCL_STATUS_OK) return status;
  scl_posterior_destroy(*out);
  *out = NULL;
  return status;
}

/* The array "interval.NAME". */
static scl_status read_kept(const scl_saved *saved, const char *name, size_t rows, size_t cols,
                            scl_matrix *out, scl_error *error) {
  char full[40];
  (void)snprintf(full, sizeof full, "interval.%s", name);
  const scl_saved_shape shape = {rows, cols, true};
  return scl_saved_matrix(saved, full, shape, out, error);
}

/* The same where the description names it. */
static scl_status read_optional(const scl_saved *saved, const cJSON *said, const char *name,
                                size_t rows, scl_matrix *out, scl_error *error) {
  return scl_saved_find(said, name) == NULL ? SCL_STATUS_OK
                                            : read_kept(saved, name, rows, 1, out, error);
}

/* The columns that say the group of a row. */
static scl_status read_columns(const scl_saved *saved, const cJSON *said, size_t dim, scl_sure *out,
                               scl_error *error) {
  const cJSON *list;
  if (scl_saved_find(said, "columns") == NULL) return SCL_STATUS_OK;
  SCL_TRY(scl_saved_table(said, "columns", &list, error));
  out->columns = scl_allocate_array(scl_saved_count(list) + 1, sizeof *out->columns);
  if (out->columns == NULL) return scl_fail_memory(error, scl_saved_count(list), "columns");
  for (const cJSON *item = list->child; item != NULL; item = item->next) {
    double place;
    if (!scl_saved_number(saved, item, &place) || !(place >= 1 && place <= (double)dim) ||
        place != floor(place))
      return scl_fail(error, SCL_STATUS_BAD_DATA, "a column of its intervals is not a column");
    out->columns[out->n_columns++] = (size_t)place - 1;
  }
  return SCL_STATUS_OK;
}

/* What the method keeps beside the errors. */
static scl_status read_method(const scl_saved *saved, const cJSON *said, size_t features,
                              size_t targets, scl_sure *out, scl_error *error) {
  const char *word;
  SCL_TRY(scl_saved_word(said, "method", &word, error));
  out->method = strcmp(word, "folds") == 0   ? SCL_JUDGES_FOLDS
                : strcmp(word, "loo") == 0   ? SCL_JUDGES_LOO
                : strcmp(word, "split") == 0 ? SCL_JUDGES_SPLIT
                                             : SCL_JUDGES_NONE;
  if (out->method == SCL_JUDGES_NONE)
    return scl_fail(error, SCL_STATUS_BAD_DATA, "its intervals have the method '%s'", word);
  if (out->method == SCL_JUDGES_LOO) {
    SCL_TRY(read_kept(saved, "projections", out->rows, SIZE_MAX, &out->projections, error));
    SCL_TRY(read_optional(saved, said, "row_weights", out->rows, &out->row_weights, error));
    if (!scl_saved_number(saved, scl_saved_find(said, "constant"), &out->constant))
      return scl_fail(error, SCL_STATUS_BAD_DATA, "its intervals have no 'constant'");
  }
  if (out->method != SCL_JUDGES_FOLDS) return SCL_STATUS_OK;
  SCL_TRY(scl_saved_whole(saved, said, "folds", 1, out->rows, &out->folds, error));
  SCL_TRY(read_kept(saved, "fold", 1, out->rows, &out->fold, error));
  SCL_TRY(read_kept(saved, "weights", features, out->folds * targets, &out->weights, error));
  SCL_TRY(read_kept(saved, "constants", 1, out->folds * targets, &out->constants, error));
  for (size_t i = 0; i < out->rows; i++) {
    const double fold = scl_matrix_get(&out->fold, 0, i);
    if (!(fold >= 1 && fold <= (double)out->folds) || fold != floor(fold))
      return scl_fail(error, SCL_STATUS_BAD_DATA, "a fold of its intervals is not a fold");
  }
  return SCL_STATUS_OK;
}

scl_status scl_saved_sure(const scl_saved *saved, const scl_restored *parts, scl_sure *out,
                          scl_error *error) {
  const size_t dim = parts->dim, features = parts->weights.rows, targets = parts->targets;
  const cJSON *model, *fields, *said;
  SCL_TRY(scl_saved_posterior(saved, features, targets, &out->posterior, error));
  if (out->posterior != NULL && out->posterior->whitened)
    SCL_TRY(scl_map_create_whitened(parts->map, true, true, &out->whitened, error));
  SCL_TRY(scl_saved_table(saved->body, "model", &model, error));
  SCL_TRY(scl_saved_table(model, "fields", &fields, error));
  if (scl_saved_find(fields, "interval") == NULL) return SCL_STATUS_OK;
  SCL_TRY(scl_saved_table(fields, "interval", &said, error));
  SCL_TRY(scl_saved_whole(saved, said, "rows", 1, INT32_MAX, &out->rows, error));
  const size_t scores = parts->classification ? 1 : targets;
  bool known = false;
  if (parts->classification && scl_saved_find(fields, "class_weights") == NULL)
    SCL_TRY(scl_loss_has_probabilities(parts->solver, targets, &known, error));
  if (known) out->loss = parts->solver;
  SCL_TRY(read_kept(saved, "scores", out->rows, scores, &out->scores, error));
  SCL_TRY(read_optional(saved, said, "spread", out->rows, &out->spread, error));
  SCL_TRY(read_optional(saved, said, "groups", out->rows, &out->groups, error));
  SCL_TRY(read_columns(saved, said, dim, out, error));
  SCL_TRY(read_method(saved, said, features, targets, out, error));
  if (out->n_columns > 0 && out->groups.storage == NULL)
    return scl_fail(error, SCL_STATUS_BAD_DATA, "its intervals have columns, and no groups");
  if (out->posterior == NULL && (out->method == SCL_JUDGES_LOO || out->spread.storage != NULL))
    return scl_fail(error, SCL_STATUS_BAD_DATA, "its intervals take a posterior, which it has not");
  if (out->method == SCL_JUDGES_LOO &&
      out->projections.cols != scl_symmetric_order(out->posterior->factor))
    return scl_fail(error, SCL_STATUS_BAD_DATA,
                    "its intervals and its posterior are of different sizes");
  return SCL_STATUS_OK;
}

void scl_sure_release(scl_sure *s) {
  scl_posterior_destroy(s->posterior);
  scl_map_destroy(s->whitened);
  scl_matrix *const parts[] = {&s->scores,  &s->spread,    &s->groups,      &s->fold,
                               &s->weights, &s->constants, &s->projections, &s->row_weights};
  for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
    scl_matrix_release(parts[i]);
  scl_release(s->columns);
}

/* ------------ deviations */

/* The walk for the posterior, whose features have no pilot. */
static scl_flow posterior_flow(const scl_sure *s, const scl_fitted *f, scl_source *source) {
  scl_fitted own = *f;
  own.pilot = NULL;
  if (s->whitened != NULL) own.map = s->whitened;
  return scl_fitted_flow(&own, source);
}

/* out (n) = the variance of the function over that of the noise. */
static scl_status variances(const scl_sure *s, const scl_fitted *f, scl_source *source,
                            double **out, scl_error *error) {
  const scl_flow flow = posterior_flow(s, f, source);
  *out = scl_allocate_array(source->rows + 1, sizeof **out);
  if (*out == NULL) return scl_fail_memory(error, source->rows * sizeof **out, "deviations");
  return scl_posterior_variance(s->posterior, &flow, true, *out, error);
}

scl_status scl_sure_deviations(const scl_sure *s, const scl_fitted *f, scl_source *source,
                               bool noise, scl_matrix *out, scl_error *error) {
  const scl_posterior *p = s->posterior;
  double *v = NULL;
  scl_status status = variances(s, f, source, &v, error);
  if (status == SCL_STATUS_OK)
    status = scl_matrix_create(source->rows, p->targets, SCL_DTYPE_FLOAT64, out, error);
  const double rows = p->total - (p->constant ? 1 : 0);
  for (size_t j = 0; status == SCL_STATUS_OK && j < p->targets; j++) {
    const double scale = f->form.count > 0 ? f->form.scale[j] : 1,
                 s2 = p->evidence[j] / (rows > 1e-300 ? rows : 1e-300);
    for (size_t i = 0; i < source->rows; i++)
      scl_matrix_set(out, i, j, scale * sqrt(s2 * (v[i] + (noise ? 1 : 0))));
  }
  scl_release(v);
  return status;
}

/* ------------ intervals */

/* What the bounds of rows are made from. */
typedef struct bounding {
  const scl_sure *sure;
  size_t targets;
  double level;
  scl_matrix said;         /* n x c: predictions as learnt; by folds n x K c */
  scl_matrix projected;    /* n x r, of LOO */
  double *spread;          /* n, or NULL */
  double *group;           /* n, or NULL */
  double *centres, *sizes; /* room for `rows` numbers each */
} bounding;

/* Predictions on the scale on which targets were learnt, n x c, from scores. */
static scl_status values_of(const scl_fitted *f, const scl_matrix *scores, scl_matrix *out,
                            scl_error *error) {
  scl_fitted bare = *f;
  bare.form.count = 0;
  return scl_predict_from(&bare, scores, SCL_PREDICT_LABELS, out, error);
}

/* Scores by the models that judge: n x c, by folds n x K c. */
static scl_status scores_kept(const scl_sure *s, const scl_fitted *f, scl_source *source,
                              scl_matrix *out, scl_error *error) {
  if (s->method != SCL_JUDGES_FOLDS) return scl_predict(f, source, SCL_PREDICT_SCORES, out, error);
  scl_flow flow = scl_fitted_flow(f, source);
  flow.pilot = NULL;
  return scl_decisions(&flow, &s->weights, &s->constants, out, error);
}

static scl_status predict_kept(const scl_sure *s, const scl_fitted *f, scl_source *source,
                               scl_matrix *out, scl_error *error) {
  scl_matrix scores;
  SCL_TRY(scores_kept(s, f, source, &scores, error));
  const scl_status status = values_of(f, &scores, out, error);
  scl_matrix_release(&scores);
  return status;
}

/* The group of each row: the number in the one column, or the place of the column of a level that is
 * not 0. */
static scl_status find_groups(const scl_sure *s, scl_source *source, double **out,
                              scl_error *error) {
  enum { READ = 1024 };
  const size_t rows = source->rows, cols = s->n_columns;
  *out = scl_allocate_zero((rows + 1) * sizeof **out);
  if (*out == NULL) return scl_fail_memory(error, rows * sizeof **out, "groups");
  scl_source *some;
  scl_matrix x = {0};
  SCL_TRY(scl_source_columns(source, s->columns, cols, &some, error));
  scl_status status = scl_matrix_create(READ, cols, SCL_DTYPE_FLOAT64, &x, error);
  for (size_t first = 0; first < rows && status == SCL_STATUS_OK; first += READ) {
    const size_t count = scl_min(READ, rows - first);
    scl_matrix part = scl_matrix_slice(&x, 0, count, 0, cols);
    status = scl_source_read(some, first, count, &part, NULL, error);
    for (size_t i = 0; i < count && status == SCL_STATUS_OK; i++)
      for (size_t k = 0; k < cols; k++) {
        const double v = scl_matrix_get(&part, i, k);
        if (cols == 1)
          (*out)[first + i] = v;
        else if (v != 0)
          (*out)[first + i] = (double)(k + 1);
      }
    scl_matrix_release(&part);
  }
  scl_matrix_release(&x);
  scl_source_destroy(some);
  return status;
}

/* The prediction for target j of new row i by the model that did not learn from row k. */
static double centre_of(const bounding *b, size_t i, size_t j, size_t k) {
  const scl_sure *s = b->sure;
  if (s->method == SCL_JUDGES_FOLDS)
    return scl_matrix_get(&b->said, i,
                          ((size_t)scl_matrix_get(&s->fold, 0, k) - 1) * b->targets + j);
  const double said = scl_matrix_get(&b->said, i, j);
  if (s->method == SCL_JUDGES_SPLIT) return said;
  double moved =
      s->constant * (s->row_weights.storage == NULL ? 1 : scl_matrix_get(&s->row_weights, k, 0));
  for (size_t t = 0; t < s->projections.cols; t++)
    moved += scl_matrix_get(&b->projected, i, t) * scl_matrix_get(&s->projections, k, t);
  return said - moved * scl_matrix_get(&s->scores, k, j);
}

/* *out = the rank, among the ascending scores of n rows, of the smallest one that reaches `level`. */
static scl_status find_rank(double level, size_t n, bool grouped, size_t *out, scl_error *error) {
  *out = (size_t)fmax(1, ceil(level * (double)(n + 1) - 1e-9));
  if (*out <= n) return SCL_STATUS_OK;
  return scl_fail(error, SCL_STATUS_BAD_OPTION,
                  "level %.6g takes at least %.0f rows to judge by%s, and there are %zu", level,
                  ceil(level / (1 - level) * (1 - 1e-9)), grouped ? " in the group of a row" : "",
                  n);
}

/* The bounds of target j of row i. */
static scl_status bound(const bounding *b, size_t i, size_t j, double *low, double *high,
                        scl_error *error) {
  const scl_sure *s = b->sure;
  const double own = b->spread == NULL ? 1 : b->spread[i];
  size_t n = 0;
  for (size_t k = 0; k < s->rows; k++) {
    if (b->group != NULL && scl_matrix_get(&s->groups, k, 0) != b->group[i]) continue;
    const double spread = b->spread == NULL ? 1 : scl_matrix_get(&s->spread, k, 0);
    b->centres[n] = centre_of(b, i, j, k) / own;
    b->sizes[n++] = fabs(scl_matrix_get(&s->scores, k, j)) / spread;
  }
  size_t rank;
  SCL_TRY(find_rank(b->level, n, b->group != NULL, &rank, error));
  const scl_matrix centres = {.data = b->centres,
                              .rows = 1,
                              .cols = n,
                              .row_stride = (ptrdiff_t)n,
                              .col_stride = 1,
                              .dtype = SCL_DTYPE_FLOAT64};
  SCL_TRY(scl_conformal_bounds(&centres, b->sizes, n + 1 - rank, rank, low, high, error));
  *low *= own;
  *high *= own;
  return SCL_STATUS_OK;
}

/* Fill in what the bounds are made from. */
static scl_status prepare(const scl_sure *s, const scl_fitted *f, scl_source *source, bounding *b,
                          scl_error *error) {
  SCL_TRY(predict_kept(s, f, source, &b->said, error));
  b->centres = scl_allocate_array(2 * s->rows + 1, sizeof *b->centres);
  if (b->centres == NULL) return scl_fail_memory(error, 2 * s->rows * sizeof *b->centres, "bounds");
  b->sizes = b->centres + s->rows;
  if (s->method == SCL_JUDGES_LOO) {
    const scl_flow flow = posterior_flow(s, f, source);
    SCL_TRY(scl_posterior_project(s->posterior, &flow, &b->projected, error));
  }
  if (s->spread.storage != NULL) {
    SCL_TRY(variances(s, f, source, &b->spread, error));
    for (size_t i = 0; i < source->rows; i++)
      b->spread[i] = sqrt(1 + b->spread[i]);
  }
  return s->n_columns > 0 ? find_groups(s, source, &b->group, error) : SCL_STATUS_OK;
}

/* The targets as given, in place of targets as learnt. */
static scl_status undo(const scl_fitted *f, scl_matrix *values, scl_error *error) {
  if (f->form.count == 0) return SCL_STATUS_OK;
  scl_matrix made;
  SCL_TRY(scl_target_form_undo(&f->form, values, &made, error));
  scl_matrix_release(values);
  *values = made;
  return SCL_STATUS_OK;
}

scl_status scl_sure_interval(const scl_sure *s, const scl_fitted *f, scl_source *source,
                             double level, scl_matrix *low, scl_matrix *high, scl_error *error) {
  const size_t targets = s->scores.cols;
  bounding b = {.sure = s, .targets = targets, .level = level};
  *low = *high = (scl_matrix){0};
  scl_status status = prepare(s, f, source, &b, error);
  if (status == SCL_STATUS_OK)
    status = scl_matrix_create(source->rows, targets, SCL_DTYPE_FLOAT64, low, error);
  if (status == SCL_STATUS_OK)
    status = scl_matrix_create(source->rows, targets, SCL_DTYPE_FLOAT64, high, error);
  for (size_t i = 0; status == SCL_STATUS_OK && i < source->rows; i++)
    for (size_t j = 0; status == SCL_STATUS_OK && j < targets; j++) {
      double under, over;
      status = bound(&b, i, j, &under, &over, error);
      if (status != SCL_STATUS_OK) break;
      scl_matrix_set(low, i, j, under);
      scl_matrix_set(high, i, j, over);
    }
  if (status == SCL_STATUS_OK) status = undo(f, low, error);
  if (status == SCL_STATUS_OK) status = undo(f, high, error);
  if (status != SCL_STATUS_OK) {
    scl_matrix_release(low);
    scl_matrix_release(high);
  }
  scl_matrix_release(&b.said);
  scl_matrix_release(&b.projected);
  SCL_RELEASE(b.centres, b.spread, b.group);
  return status;
}

/* ------------ label sets */

/* out (n x classes, made here): how little each class fits a row of these scores (n x c); see
 * conformal_kept.strangeness. */
static scl_status strangeness(const scl_sure *s, size_t classes, const scl_matrix *scores,
                              scl_matrix *out, scl_error *error) {
  bool known = false;
  if (s->loss != NULL) SCL_TRY(scl_loss_probabilities(s->loss, scores, out, &known, error));
  if (s->loss != NULL && !known)
    return scl_fail(error, SCL_STATUS_NUMERIC,
                    "the solver's loss gives no probabilities for a row");
  if (!known) SCL_TRY(scl_matrix_create(scores->rows, classes, SCL_DTYPE_FLOAT64, out, error));
  for (size_t i = 0; i < scores->rows; i++)
    for (size_t k = 0; k < classes; k++)
      scl_matrix_set(out, i, k,
                     known               ? -scl_matrix_get(out, i, k)
                     : scores->cols == 1 ? scl_matrix_get(scores, i, 0) * (k == 0 ? 1 : -1)
                                         : -scl_matrix_get(scores, i, k));
  return SCL_STATUS_OK;
}

/* strange[m] (n x classes each, made here) by each model m that judges, `models` of them. */
static scl_status strangeness_kept(const scl_sure *s, const scl_fitted *f, scl_source *source,
                                   size_t models, scl_matrix *strange, scl_error *error) {
  scl_matrix all;
  SCL_TRY(scores_kept(s, f, source, &all, error));
  const size_t own = all.cols / models;
  scl_status status = SCL_STATUS_OK;
  for (size_t m = 0; status == SCL_STATUS_OK && m < models; m++) {
    scl_matrix scores = scl_matrix_slice(&all, 0, all.rows, m * own, own);
    status = strangeness(s, f->classes.count, &scores, &strange[m], error);
    scl_matrix_release(&scores);
  }
  scl_matrix_release(&all);
  return status;
}

/* Row i of *out: class k is in the label set if fewer calibration scores than the rank are smaller
 * than its own score. */
static scl_status add_set(const scl_sure *s, const scl_matrix *strange, const double *group,
                          double level, size_t i, scl_matrix *out, scl_error *error) {
  size_t n = 0, rank;
  for (size_t j = 0; j < s->rows; j++)
    n += group == NULL || scl_matrix_get(&s->groups, j, 0) == group[i];
  SCL_TRY(find_rank(level, n, group != NULL, &rank, error));
  for (size_t k = 0; k < out->cols; k++) {
    size_t below = 0;
    for (size_t j = 0; j < s->rows; j++) {
      if (group != NULL && scl_matrix_get(&s->groups, j, 0) != group[i]) continue;
      const size_t m =
          s->method == SCL_JUDGES_FOLDS ? (size_t)scl_matrix_get(&s->fold, 0, j) - 1 : 0;
      below += scl_matrix_get(&s->scores, j, 0) < scl_matrix_get(&strange[m], i, k);
    }
    scl_matrix_set(out, i, k, below < rank ? 1 : 0);
  }
  return SCL_STATUS_OK;
}

scl_status scl_sure_label_sets(const scl_sure *s, const scl_fitted *f, scl_source *source,
                               double level, scl_matrix *out, scl_error *error) {
  const size_t models = s->method == SCL_JUDGES_FOLDS ? s->folds : 1;
  scl_matrix *strange = scl_allocate_zero(models * sizeof *strange);
  double *group = NULL;
  *out = (scl_matrix){0};
  if (strange == NULL) return scl_fail_memory(error, models * sizeof *strange, "label sets");
  scl_status status = strangeness_kept(s, f, source, models, strange, error);
  if (status == SCL_STATUS_OK && s->n_columns > 0) status = find_groups(s, source, &group, error);
  if (status == SCL_STATUS_OK)
    status = scl_matrix_create(source->rows, f->classes.count, SCL_DTYPE_FLOAT64, out, error);
  for (size_t i = 0; status == SCL_STATUS_OK && i < source->rows; i++)
    status = add_set(s, strange, group, level, i, out, error);
  if (status != SCL_STATUS_OK) scl_matrix_release(out);
  for (size_t m = 0; m < models; m++)
    scl_matrix_release(&strange[m]);
  SCL_RELEASE(strange, group);
  return status;
}
