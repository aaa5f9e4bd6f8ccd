/* A fitted pipeline from its description: stages, features, coefficients or model, classes,
 * calibration. Every function refuses a description that contradicts itself or the arrays; whatever
 * was restored before a failure belongs to the caller (scl_restored_release). */
#include "model/restore.h"

#include "base/text.h"
#include "data/number.h"
#include "model/component.h"
#include "model/features.h"
#include "model/predict.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MOST_BLOCK = 1 << 24 };

/* The pipeline as the script wrote it, before the fit: row stages, features, row stages after them,
 * solver. Pointers into the description. */
typedef struct recipe {
  const cJSON *text;         /* sc.text, which makes rows of texts; NULL: none */
  const cJSON *rows, *after; /* the first stages of each list; n_rows and n_after of them */
  size_t n_rows, n_after;
  const cJSON *features, *solver; /* NULL: none */
  bool components;                /* the last stage takes components of the features */
} recipe;

/* Whether a table has this mark ("features", "stage"). */
static bool is_marked(const cJSON *value, const char *word) {
  const char *mark = scl_saved_mark(value);
  return mark != NULL && strcmp(mark, word) == 0;
}

/* ------------ the recipe */

/* The row stages that the engine treats by name: the one that, after features, gives their
 * components; and the one that is no plugin. */
static const char components_name[] = "pca", relevance_name[] = "relevance";

static bool is_named(const cJSON *stage, const char *wanted) {
  const char *name = NULL;
  return scl_saved_opt_word(stage, "name", &name, NULL) == SCL_STATUS_OK && name != NULL &&
         strcmp(name, wanted) == 0;
}

/* Enter one stage. False if it is out of order: row stages come first, then features, row stages
 * after them, and at the end a solver. */
static bool add_stage(const cJSON *stage, recipe *out) {
  const char *title = scl_saved_component_name(stage);
  const bool row = is_marked(stage, "stage");
  if (out->solver != NULL) return false;
  if (row && out->features == NULL)
    out->rows = out->n_rows++ == 0 ? stage : out->rows;
  else if (row)
    out->after = out->n_after++ == 0 ? stage : out->after;
  else if ((is_marked(stage, "features") || is_marked(stage, "union")) && out->features == NULL)
    out->features = stage;
  else if (title != NULL && strncmp(title, "solver.", 7) == 0)
    out->solver = stage;
  else
    return false;
  return true;
}

/* Read `pipeline.stages` into *out. */
static scl_status read_recipe(const cJSON *body, recipe *out, scl_error *error) {
  const cJSON *pipeline, *list, *last = NULL;
  size_t i = 0;
  *out = (recipe){0};
  SCL_TRY(scl_saved_table(body, "pipeline", &pipeline, error));
  SCL_TRY(scl_saved_table(pipeline, "stages", &list, error));
  if (is_marked(list->child, "text")) out->text = list->child;
  for (const cJSON *stage = list->child; stage != NULL; last = stage, stage = stage->next, i++) {
    char text[60];
    if (stage == out->text || add_stage(stage, out)) continue;
    if (is_marked(stage, "choose"))
      return scl_fail(error, SCL_STATUS_BAD_DATA,
                      "the pipeline has unresolved sc.choose options and was never fitted");
    return scl_fail(error, SCL_STATUS_BAD_DATA,
                    "stage %zu of its pipeline is %s, which does not belong there", i + 1,
                    scl_saved_shown(stage, text, sizeof text));
  }
  out->components = out->n_after > 0 && out->solver == NULL && is_named(last, components_name);
  if (out->components) out->n_after--;
  return SCL_STATUS_OK;
}

/* ------------ stages */

/* Put the arrays of a stage, "pca.mean" and the like, which `said` names, and settle it. */
static scl_status read_stage_arrays(const scl_saved *saved, const cJSON *said,
                                    scl_fitted_stage *stage, scl_error *error) {
  const char *title = "";
  char full[SCL_TENSOR_NAME + 1];
  if (stage->state.count > 0) SCL_TRY(scl_saved_word(said, "arrays", &title, error));
  for (size_t i = 0; i < stage->state.count; i++) {
    const char *name = stage->state.names[i];
    (void)snprintf(full, sizeof full, "%s.%s", title, name);
    const scl_array *array = scl_saved_array(saved, full);
    if (array == NULL) return scl_fail(error, SCL_STATUS_BAD_DATA, "it has no array '%s'", full);
    SCL_TRY(scl_stage_arrays_put(&stage->state, false, name, array, error));
  }
  return scl_fitted_stage_settle(stage, error);
}

/* The instance of a row stage in the pipeline; NULL: relevance. The caller releases it. */
static scl_status make_instance(scl_saved *saved, const cJSON *planned, scl_instance **out,
                                scl_error *error) {
  static const scl_saved_widths none = {.scale = 1, .median = 1, .cols = 1};
  *out = NULL;
  if (is_named(planned, relevance_name)) return SCL_STATUS_OK;
  return scl_saved_component(saved, planned, "stage", &none, out, error);
}

/* One fitted stage, which takes `cols` columns. `planned` is the stage in the pipeline, `said` the
 * description of the fitted one: both must have the same kind. */
static scl_status make_stage(scl_saved *saved, const cJSON *planned, const cJSON *said, size_t cols,
                             scl_fitted_stage **out, scl_error *error) {
  const char *name, *kind;
  size_t found, constant;
  scl_instance *instance;
  SCL_TRY(scl_saved_word(planned, "name", &name, error));
  SCL_TRY(scl_saved_word(said, "kind", &kind, error));
  if (strcmp(name, kind) != 0)
    return scl_fail(error, SCL_STATUS_BAD_DATA,
                    "the kind of a fitted stage: %.40s, where %.40s belongs", kind, name);
  SCL_TRY(scl_saved_whole(saved, said, "cols", 0, INT32_MAX, &found, error));
  if (found != cols)
    return scl_fail(error, SCL_STATUS_BAD_DATA,
                    "the columns that a stage takes: %zu, where %zu belongs", found, cols);
  SCL_TRY(scl_saved_whole(saved, said, "constant", 0, cols, &constant, error));
  SCL_TRY(make_instance(saved, planned, &instance, error));
  scl_status status = scl_fitted_stage_create(instance, cols, out, error);
  scl_instance_release(instance);
  if (status != SCL_STATUS_OK) return status;
  (*out)->constant = constant;
  status = read_stage_arrays(saved, said, *out, error);
  if (status == SCL_STATUS_OK) return status;
  scl_fitted_stage_destroy(*out);
  *out = NULL;
  return status;
}

/* The fitted stages of the list `name`; in the pipeline they are the siblings of `before` (NULL:
 * none), and after them the `count` siblings from `planned` on. *cols: the number of columns that
 * arrive, then of those that leave the last stage. The caller releases *stages, also after a
 * failure. */
static scl_status read_stages(scl_saved *saved, const cJSON *model, const char *name,
                              const cJSON *before, const cJSON *planned, size_t count,
                              scl_fitted_stage ***stages, size_t *n_stages, size_t *cols,
                              scl_error *error) {
  const cJSON *list;
  for (const cJSON *one = before; one != NULL; one = one->next)
    count++;
  SCL_TRY(scl_saved_table(model, name, &list, error));
  if (scl_saved_count(list) != count)
    return scl_fail(error, SCL_STATUS_BAD_DATA,
                    "the number of fitted stages in '%s': %zu, where %zu belongs", name,
                    scl_saved_count(list), count);
  *stages = scl_allocate_zero((count + 1) * sizeof **stages);
  if (*stages == NULL) return scl_fail_memory(error, count, "stages");
  for (const cJSON *said = list->child; said != NULL; said = said->next) {
    scl_fitted_stage **stage = &(*stages)[*n_stages];
    const cJSON **next = before != NULL ? &before : &planned;
    SCL_TRY(make_stage(saved, *next, said, *cols, stage, error));
    *next = (*next)->next;
    (*n_stages)++;
    *cols = (*stage)->cols_out;
  }
  return SCL_STATUS_OK;
}

/* ------------ the solver */

/* Copy the arrays that the solver saved ("solver.NAME" in the file) to an archive, as NAME. */
static scl_status archive_arrays(const scl_saved *saved, const cJSON *learnt,
                                 scl_array_archive *archive, scl_error *error) {
  const cJSON *names;
  char full[SCL_TENSOR_NAME + 1];
  SCL_TRY(scl_saved_table(learnt, "arrays", &names, error));
  for (const cJSON *item = names->child; item != NULL; item = item->next) {
    if (!cJSON_IsString(item))
      return scl_fail(error, SCL_STATUS_BAD_DATA, "an array of the solver has no name");
    const char *name = item->valuestring;
    (void)snprintf(full, sizeof full, "solver.%s", name);
    const scl_array *array = scl_saved_array(saved, full);
    if (array == NULL) return scl_fail(error, SCL_STATUS_BAD_DATA, "it has no array '%s'", full);
    SCL_TRY(archive->archive.put(&archive->archive, name, array, error));
  }
  return SCL_STATUS_OK;
}

/* A model that the solver's plugin defines, not linear in the features. */
static scl_status read_learnt(const scl_saved *saved, const cJSON *learnt, size_t features,
                              scl_restored *out, scl_error *error) {
  size_t found, targets;
  const char *word;
  scl_dtype dtype;
  scl_array_archive archive;
  SCL_TRY(scl_saved_whole(saved, learnt, "features", 1, INT32_MAX, &found, error));
  SCL_TRY(scl_saved_whole(saved, learnt, "targets", 1, INT32_MAX, &targets, error));
  SCL_TRY(scl_saved_word(learnt, "dtype", &word, error));
  SCL_TRY(scl_saved_dtype(word, &dtype, error));
  if (found != features)
    return scl_fail(error, SCL_STATUS_BAD_DATA,
                    "the features of the solver's model: %zu, where %zu belongs", found, features);
  scl_archive_open(&archive);
  scl_status status = archive_arrays(saved, learnt, &archive, error);
  if (status == SCL_STATUS_OK)
    status = scl_model_load(out->solver, &archive, features, targets, dtype, &out->learnt, error);
  scl_archive_close(&archive);
  out->targets = targets;
  return status;
}

/* Coefficients that were saved without their zeros: their columns are those of the intercept. */
static scl_status thin_weights(const scl_saved *saved, const char *title, size_t rows,
                               scl_matrix *out, scl_error *error) {
  char name[60];
  scl_matrix intercept;
  const scl_saved_shape any = {1, SIZE_MAX, false};
  (void)snprintf(name, sizeof name, "%s.intercept", title);
  SCL_TRY(scl_saved_matrix(saved, name, any, &intercept, error));
  const size_t cols = intercept.cols;
  scl_matrix_release(&intercept);
  (void)snprintf(name, sizeof name, "%s.weights", title);
  return scl_saved_thin(saved, name, rows, cols, out, error);
}

/* Coefficients (D x c), intercept (1 x c) and, if there is one, pilot (1 x D). title: "solver", or
 * "components" for components of the features without a solver. */
static scl_status read_weights(const scl_saved *saved, const char *title, size_t features,
                               scl_restored *out, scl_error *error) {
  char name[60];
  const scl_saved_shape any = {features, SIZE_MAX, false}, pilot = {1, features, true};
  (void)snprintf(name, sizeof name, "%s.weights", title);
  SCL_TRY(scl_saved_is_thin(saved, name)
              ? thin_weights(saved, title, features, &out->weights, error)
              : scl_saved_matrix(saved, name, any, &out->weights, error));
  const scl_saved_shape row = {1, out->weights.cols, false};
  (void)snprintf(name, sizeof name, "%s.intercept", title);
  SCL_TRY(scl_saved_matrix(saved, name, row, &out->intercept, error));
  (void)snprintf(name, sizeof name, "%s.pilot", title);
  if (scl_saved_array(saved, name) == NULL) return SCL_STATUS_OK;
  return scl_saved_matrix(saved, name, pilot, &out->pilot, error);
}

/* The solver with the options of the fit, and its coefficients or model. A search may have changed
 * the options, so that the component is read from the model, not from the pipeline; both must name
 * the same solver. */
static scl_status read_solver(scl_saved *saved, const cJSON *model, const recipe *plan,
                              size_t features, scl_restored *out, scl_error *error) {
  const cJSON *said;
  scl_saved_widths widths;
  SCL_TRY(scl_saved_table(model, "solver", &said, error));
  const cJSON *component = scl_saved_find(said, "component");
  const char *name = scl_saved_component_name(component),
             *planned = scl_saved_component_name(plan->solver);
  if (name == NULL || strcmp(name, planned) != 0)
    return scl_fail(error, SCL_STATUS_BAD_DATA,
                    "the solver that learnt: %.60s, where %.60s belongs",
                    name == NULL ? "none" : name, planned);
  SCL_TRY(scl_saved_read_widths(saved, said, &widths, error));
  SCL_TRY(scl_saved_component(saved, component, "solver", &widths, &out->solver, error));
  if (scl_saved_find(model, "learnt") != NULL)
    return read_learnt(saved, scl_saved_find(model, "learnt"), features, out, error);
  SCL_TRY(read_weights(saved, "solver", features, out, error));
  out->targets = out->weights.cols;
  return SCL_STATUS_OK;
}

/* ------------ classes */

/* A label as a text, and as a number if it was saved as one (otherwise NaN). The text of a whole
 * number has no fraction. */
static scl_status read_label(const scl_saved *saved, const cJSON *value, char **label,
                             double *number, scl_error *error) {
  char text[40];
  *number = NAN;
  SCL_TRY(scl_saved_text(saved, value, label, error));
  if (*label != NULL) return SCL_STATUS_OK;
  if (!scl_saved_number(saved, value, number))
    return scl_fail(error, SCL_STATUS_BAD_DATA, "a class is %s",
                    scl_saved_shown(value, text, sizeof text));
  if (*number == floor(*number) && fabs(*number) < 0x1p53)
    (void)snprintf(text, sizeof text, "%lld", (long long)*number);
  else
    (void)scl_format_number(*number, false, text);
  *label = scl_copy_text(text);
  return *label == NULL ? scl_fail_memory(error, sizeof text, "a label") : SCL_STATUS_OK;
}

/* Labels of the classes, all texts or all numbers. Two classes are learnt with one target, more
 * with one target for each class, as are the labels of multi-label targets. */
static scl_status read_classes(const scl_saved *saved, const cJSON *fields, scl_restored *out,
                               scl_error *error) {
  const cJSON *list;
  SCL_TRY(scl_saved_table(fields, "classes", &list, error));
  const size_t count = cJSON_IsArray(list) ? scl_saved_count(list) : 0;
  const size_t targets = count > 2 || out->multilabel ? count : 1;
  if (count < (out->multilabel ? 1 : 2))
    return scl_fail(error, SCL_STATUS_BAD_DATA, "a classification has no classes");
  if (out->targets != targets)
    return scl_fail(error, SCL_STATUS_BAD_DATA,
                    "the targets of its classes: %zu, where %zu belongs", out->targets, targets);
  out->labels = scl_allocate_zero((count + 1) * sizeof *out->labels);
  out->numbers = scl_allocate_array(count + 1, sizeof *out->numbers);
  if (out->labels == NULL || out->numbers == NULL)
    return scl_fail_memory(error, count * sizeof *out->labels, "the classes of a model");
  const bool numbers = scl_saved_number(saved, list->child, &out->numbers[0]);
  for (const cJSON *item = list->child; item != NULL; item = item->next) {
    const size_t k = out->n_classes++;
    SCL_TRY(read_label(saved, item, &out->labels[k], &out->numbers[k], error));
    if (isnan(out->numbers[k]) == numbers)
      return scl_fail(error, SCL_STATUS_BAD_DATA, "its classes are texts and numbers, mixed");
  }
  return SCL_STATUS_OK;
}

/* ------------ probabilities */

/* Slope and offset of each target's sigmoid. */
static scl_status read_sigmoids(const scl_saved *saved, const cJSON *from, scl_restored *out,
                                scl_error *error) {
  const cJSON *list;
  size_t i = 0;
  SCL_TRY(scl_saved_table(from, "sigmoids", &list, error));
  if (scl_saved_count(list) != out->targets)
    return scl_fail(error, SCL_STATUS_BAD_DATA, "the number of sigmoids: %zu, where %zu belongs",
                    scl_saved_count(list), out->targets);
  out->sigmoids = scl_allocate_zero((out->targets + 1) * sizeof *out->sigmoids);
  if (out->sigmoids == NULL) return scl_fail_memory(error, sizeof *out->sigmoids, "sigmoids");
  for (const cJSON *item = list->child; item != NULL; item = item->next, i++)
    if (!scl_saved_number(saved, scl_saved_find(item, "slope"), &out->sigmoids[i].slope) ||
        !scl_saved_number(saved, scl_saved_find(item, "offset"), &out->sigmoids[i].offset) ||
        !isfinite(out->sigmoids[i].slope) || !isfinite(out->sigmoids[i].offset))
      return scl_fail(error, SCL_STATUS_BAD_DATA, "a sigmoid has no slope and offset");
  return SCL_STATUS_OK;
}

/* The list of numbers in the field `name`. The caller releases *out, also after a failure. */
static scl_status read_list(const scl_saved *saved, const cJSON *from, const char *name,
                            double **out, size_t *count, scl_error *error) {
  const cJSON *list;
  size_t i = 0;
  SCL_TRY(scl_saved_table(from, name, &list, error));
  *count = scl_saved_count(list);
  *out = scl_allocate_array(*count + 1, sizeof **out);
  if (*out == NULL) return scl_fail_memory(error, *count * sizeof **out, "numbers");
  for (const cJSON *item = list->child; item != NULL; item = item->next, i++)
    if (!scl_saved_number(saved, item, &(*out)[i]))
      return scl_fail(error, SCL_STATUS_BAD_DATA, "'%s' of a curve is not a list of numbers", name);
  return SCL_STATUS_OK;
}

/* The knots of each target's curve: scores, and the share of positive rows at each. */
static scl_status read_curves(const scl_saved *saved, const cJSON *from, scl_restored *out,
                              scl_error *error) {
  const cJSON *list;
  size_t i = 0, shares;
  SCL_TRY(scl_saved_table(from, "curves", &list, error));
  if (scl_saved_count(list) != out->targets)
    return scl_fail(error, SCL_STATUS_BAD_DATA, "the number of curves: %zu, where %zu belongs",
                    scl_saved_count(list), out->targets);
  out->curves = scl_allocate_zero((out->targets + 1) * sizeof *out->curves);
  if (out->curves == NULL) return scl_fail_memory(error, sizeof *out->curves, "curves");
  for (const cJSON *item = list->child; item != NULL; item = item->next, i++) {
    scl_isotonic *curve = &out->curves[i];
    SCL_TRY(read_list(saved, item, "scores", &curve->scores, &curve->count, error));
    SCL_TRY(read_list(saved, item, "shares", &curve->shares, &shares, error));
    if (shares != curve->count)
      return scl_fail(error, SCL_STATUS_BAD_DATA, "a curve has %zu scores and %zu shares",
                      curve->count, shares);
    SCL_TRY(scl_isotonic_check(curve, error));
  }
  return SCL_STATUS_OK;
}

/* Calibrated probabilities, or those of the solver's loss. Row weights by class change the
 * population that a loss describes, so that its probabilities are not offered then. */
static scl_status read_calibration(const scl_saved *saved, const cJSON *fields, scl_restored *out,
                                   scl_error *error) {
  const cJSON *from = scl_saved_find(fields, "calibration");
  const char *method;
  if (from == NULL && scl_saved_find(fields, "class_weights") != NULL) return SCL_STATUS_OK;
  if (from == NULL)
    return scl_loss_has_probabilities(out->solver, out->targets, &out->by_loss, error);
  if (is_marked(from, "object")) SCL_TRY(scl_saved_table(from, "fields", &from, error));
  SCL_TRY(scl_saved_word(from, "method", &method, error));
  if (strcmp(method, "isotonic") == 0) return read_curves(saved, from, out, error);
  if (strcmp(method, "loss") != 0) return read_sigmoids(saved, from, out, error);
  SCL_TRY(scl_loss_has_probabilities(out->solver, out->targets, &out->by_loss, error));
  if (out->by_loss) return SCL_STATUS_OK;
  return scl_fail(error, SCL_STATUS_BAD_DATA,
                  "its probabilities are those of a loss, and its solver's loss gives none");
}

/* ------------ targets */

/* A list of finite numbers, one for each target, into out (count); positive: all larger than 0. */
static scl_status read_numbers(const scl_saved *saved, const cJSON *from, const char *name,
                               bool positive, size_t count, double *out, scl_error *error) {
  const cJSON *list;
  size_t i = 0;
  SCL_TRY(scl_saved_table(from, name, &list, error));
  if (scl_saved_count(list) != count)
    return scl_fail(error, SCL_STATUS_BAD_DATA, "the numbers in 'form.%s': %zu, where %zu belongs",
                    name, scl_saved_count(list), count);
  for (const cJSON *item = list->child; item != NULL; item = item->next, i++)
    if (!scl_saved_number(saved, item, &out[i]) || !isfinite(out[i]) || (positive && out[i] <= 0))
      return scl_fail(error, SCL_STATUS_BAD_DATA, "its 'form.%s' has a value that it cannot have",
                      name);
  return SCL_STATUS_OK;
}

/* How the targets of a regression were transformed before learning, if they were. */
static scl_status read_form(const scl_saved *saved, const cJSON *fields, scl_restored *out,
                            scl_error *error) {
  const cJSON *from;
  if (scl_saved_find(fields, "form") == NULL) return SCL_STATUS_OK;
  SCL_TRY(scl_saved_table(fields, "form", &from, error));
  scl_target_form *form = &out->form;
  form->mean = scl_allocate_array(out->targets + 1, sizeof *form->mean);
  form->scale = scl_allocate_array(out->targets + 1, sizeof *form->scale);
  if (form->mean == NULL || form->scale == NULL)
    return scl_fail_memory(error, out->targets * sizeof *form->mean, "the form of targets");
  SCL_TRY(scl_saved_flag(from, "log", &form->log, error));
  SCL_TRY(read_numbers(saved, from, "mean", false, out->targets, form->mean, error));
  SCL_TRY(read_numbers(saved, from, "scale", true, out->targets, form->scale, error));
  form->count = out->targets;
  return SCL_STATUS_OK;
}

/* ------------ all of it */

/* The fields of the model: columns, rows of a block, task and dtype. */
static scl_status read_fields(const scl_saved *saved, const cJSON *model, const cJSON **fields,
                              scl_restored *out, scl_error *error) {
  const char *task = "regression", *dtype = "float64";
  SCL_TRY(scl_saved_table(model, "fields", fields, error));
  SCL_TRY(scl_saved_whole(saved, *fields, "dim", 0, INT32_MAX, &out->dim, error));
  SCL_TRY(scl_saved_opt_whole(saved, *fields, "block", 1, MOST_BLOCK, &out->block, error));
  SCL_TRY(scl_saved_opt_word(*fields, "task", &task, error));
  SCL_TRY(scl_saved_opt_word(*fields, "dtype", &dtype, error));
  SCL_TRY(scl_saved_dtype(dtype, &out->dtype, error));
  out->classification = strcmp(task, "classification") == 0;
  out->multilabel = strcmp(task, "multilabel") == 0;
  return SCL_STATUS_OK;
}

/* The feature map, and the row stages after it. The pipeline and the model must agree whether there
 * are any. *cols as in read_stages. A map with stages after it is wrapped in a staged map, which
 * borrows it (out->base). */
static scl_status read_map(scl_saved *saved, const cJSON *model, const recipe *plan, size_t *cols,
                           scl_restored *out, scl_error *error) {
  const cJSON *said = scl_saved_find(model, "map");
  if (plan->features == NULL && said == NULL) return SCL_STATUS_OK;
  if (plan->features == NULL)
    return scl_fail(error, SCL_STATUS_BAD_DATA, "it has features, and its pipeline none");
  SCL_TRY(scl_saved_table(model, "map", &said, error));
  SCL_TRY(
      scl_saved_features(saved, plan->features, said, *cols, plan->n_after > 0, &out->map, error));
  *cols = scl_map_features(out->map);
  if (plan->n_after == 0) return SCL_STATUS_OK;
  SCL_TRY(read_stages(saved, model, "after", NULL, plan->after, plan->n_after, &out->after,
                      &out->n_after, cols, error));
  out->base = out->map;
  out->map = NULL;
  SCL_TRY(scl_map_create_staged(out->base, out->after, out->n_after, &out->map, error));
  return scl_saved_grid(saved, out->map, error);
}

/* The solver and what it learnt, checked against the numbers of targets and classes. */
static scl_status read_solution(scl_saved *saved, const cJSON *model, const recipe *plan,
                                const cJSON *fields, size_t features, scl_restored *out,
                                scl_error *error) {
  size_t targets;
  SCL_TRY(read_solver(saved, model, plan, features, out, error));
  SCL_TRY(scl_saved_whole(saved, fields, "targets", 1, INT32_MAX, &targets, error));
  if (targets != out->targets)
    return scl_fail(error, SCL_STATUS_BAD_DATA, "the number of targets: %zu, where %zu belongs",
                    targets, out->targets);
  if (out->multilabel) SCL_TRY(read_classes(saved, fields, out, error));
  if (!out->classification) {
    SCL_TRY(scl_loss_has_means(out->solver, out->targets, &out->means, error));
    return read_form(saved, fields, out, error);
  }
  SCL_TRY(read_classes(saved, fields, out, error));
  return read_calibration(saved, fields, out, error);
}

scl_status scl_restore(scl_saved *saved, scl_restored *out, scl_error *error) {
  recipe plan;
  const cJSON *model, *fields, *weighting = NULL;
  SCL_TRY(read_recipe(saved->body, &plan, error));
  if (scl_saved_find(saved->body, "model") == NULL)
    return scl_fail(error, SCL_STATUS_UNSUPPORTED, "the pipeline was saved before it was fitted");
  SCL_TRY(scl_saved_table(saved->body, "model", &model, error));
  SCL_TRY(read_fields(saved, model, &fields, out, error));
  SCL_TRY(scl_saved_names(saved, fields, out->dim, &out->names, error));
  size_t cols = out->dim;
  if (plan.text != NULL) {
    SCL_TRY(scl_saved_table(plan.text, "weighting", &weighting, error));
    SCL_TRY(scl_saved_text_encoder(saved, model, out->dim, &out->encoder, error));
    weighting = weighting->child;
  }
  SCL_TRY(read_stages(saved, model, "stages", weighting, plan.rows, plan.n_rows, &out->stages,
                      &out->n_stages, &cols, error));
  SCL_TRY(read_map(saved, model, &plan, &cols, out, error));
  if (plan.solver != NULL) return read_solution(saved, model, &plan, fields, cols, out, error);
  return plan.components ? read_weights(saved, "components", cols, out, error) : SCL_STATUS_OK;
}

void scl_restored_release(scl_restored *r) {
  scl_map_destroy(r->map);
  scl_map_destroy(r->base);
  for (size_t s = 0; s < r->n_stages; s++)
    scl_fitted_stage_destroy(r->stages[s]);
  for (size_t s = 0; s < r->n_after; s++)
    scl_fitted_stage_destroy(r->after[s]);
  scl_model_destroy(r->learnt);
  scl_instance_release(r->solver);
  scl_matrix_release(&r->weights);
  scl_matrix_release(&r->intercept);
  scl_matrix_release(&r->pilot);
  scl_release_texts(r->labels, r->n_classes);
  scl_release_texts(r->names, r->names == NULL ? 0 : r->dim);
  for (size_t j = 0; r->curves != NULL && j < r->targets; j++)
    scl_isotonic_release(&r->curves[j]);
  scl_text_encoder_destroy(r->encoder);
  SCL_RELEASE(r->stages, r->after, r->numbers, r->sigmoids, r->curves, r->form.mean, r->form.scale);
}
