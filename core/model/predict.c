/* Scores of a fitted pipeline in one walk over the rows, and labels or probabilities from
 * scores. */
#include "model/predict.h"

#include "learn/score.h"

scl_flow scl_fitted_flow(const scl_fitted *f, scl_source *source) {
  return (scl_flow){.source = source,
                    .stages = f->stages,
                    .n_stages = f->n_stages,
                    .map = f->map,
                    .dtype = f->map != NULL      ? scl_map_dtype(f->map)
                             : f->learnt != NULL ? f->dtype
                                                 : SCL_DTYPE_FLOAT64,
                    .block_rows = f->block,
                    .pilot = f->pilot,
                    .groups = 1,
                    .doing = f->doing};
}

/* *out (n x c, made here) = the scores of all rows of the source, by one walk. */
static scl_status predict_scores(const scl_fitted *f, scl_source *source, scl_matrix *out,
                                 scl_error *error) {
  const scl_flow flow = scl_fitted_flow(f, source);
  return f->learnt != NULL ? scl_model_decisions(&flow, f->learnt, out, error)
                           : scl_decisions(&flow, f->weights, f->intercept, out, error);
}

/* Probabilities (n x classes) from scores: calibrated ones take precedence over those of the
 * loss. */
static scl_status predict_probabilities(const scl_fitted *f, const scl_matrix *scores,
                                        scl_matrix *out, scl_error *error) {
  bool known = false;
  if (f->sigmoids != NULL) return scl_platt_probabilities(scores, f->sigmoids, out, error);
  if (f->curves != NULL) return scl_isotonic_probabilities(scores, f->curves, out, error);
  if (f->by_loss == NULL)
    return scl_fail(error, SCL_STATUS_UNSUPPORTED, "the model has no probabilities");
  SCL_TRY(scl_loss_probabilities(f->by_loss, scores, out, &known, error));
  if (known) return SCL_STATUS_OK;
  return scl_fail(error, SCL_STATUS_NUMERIC, "the solver's loss gives no probabilities for a row");
}

/* Values of a regression: the means at the scores, if the loss says so, on the scale of the
 * data. */
static scl_status predict_values(const scl_fitted *f, const scl_matrix *scores, scl_matrix *out,
                                 scl_error *error) {
  scl_matrix means = {0};
  bool known = false;
  if (f->means != NULL) SCL_TRY(scl_loss_means(f->means, scores, &means, &known, error));
  if (f->means != NULL && !known)
    return scl_fail(error, SCL_STATUS_NUMERIC, "the solver's loss gives no mean for a row");
  const scl_matrix *values = known ? &means : scores;
  scl_status status = SCL_STATUS_OK;
  if (f->form.count > 0)
    status = scl_target_form_undo(&f->form, values, out, error);
  else
    *out = scl_matrix_share(values);
  for (size_t i = 0; status == SCL_STATUS_OK && f->multilabel && f->form.count > 0 && i < out->rows;
       i++)
    for (size_t j = 0; j < out->cols; j++)
      scl_matrix_set(out, i, j, scl_matrix_get(out, i, j) > 0.5);
  scl_matrix_release(&means);
  return status;
}

scl_status scl_predict_from(const scl_fitted *f, const scl_matrix *scores, scl_prediction what,
                            scl_matrix *out, scl_error *error) {
  if (what == SCL_PREDICT_PROBABILITIES) return predict_probabilities(f, scores, out, error);
  if (what == SCL_PREDICT_LABELS && f->classes.count > 0)
    return scl_decide_labels(scores, &f->classes, out, error);
  if (what == SCL_PREDICT_LABELS) return predict_values(f, scores, out, error);
  *out = scl_matrix_share(scores); /* the predictions are the scores themselves */
  return SCL_STATUS_OK;
}

scl_status scl_predict(const scl_fitted *f, scl_source *source, scl_prediction what,
                       scl_matrix *out, scl_error *error) {
  scl_matrix scores;
  SCL_TRY(predict_scores(f, source, &scores, error));
  const scl_status status = scl_predict_from(f, &scores, what, out, error);
  scl_matrix_release(&scores);
  return status;
}

/* An ability cannot be asked without a row: scores of 0 stand for one. */
static scl_status ask(scl_status (*ability)(const scl_instance *, const scl_matrix *, scl_matrix *,
                                            bool *, scl_error *),
                      const scl_instance *solver, size_t targets, bool *out, scl_error *error) {
  scl_matrix zeros, result;
  SCL_TRY(scl_matrix_create(1, targets, SCL_DTYPE_FLOAT64, &zeros, error));
  const scl_status status = ability(solver, &zeros, &result, out, error);
  if (status == SCL_STATUS_OK && *out) scl_matrix_release(&result);
  scl_matrix_release(&zeros);
  return status;
}

scl_status scl_loss_has_probabilities(const scl_instance *solver, size_t targets, bool *out,
                                      scl_error *error) {
  return ask(scl_loss_probabilities, solver, targets, out, error);
}

scl_status scl_loss_has_means(const scl_instance *solver, size_t targets, bool *out,
                              scl_error *error) {
  return ask(scl_loss_means, solver, targets, out, error);
}
