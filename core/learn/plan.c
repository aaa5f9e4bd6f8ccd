/* The plan of a fit: sizes of what problem_*.c will allocate, and times of a few rows. */
#include "learn/plan.h"

#include "base/progress.h"
#include "learn/model.h"
#include "learn/problem_internal.h"
#include "rows/chosen.h"
#include <math.h>
#include <stdio.h>

/* Rows on which the rates are measured: some blocks. */
enum { TRIED = 2048, RUNS = 3 };

/* Solvers that do not declare a cost. */
static const double TYPICAL_PASSES = 100;

/* ------------ what the solver says */

static double cube(double n) { return n * n * n; }

/* Without SCL_ABILITY_COST: one factorisation, or passes over the features. */
static void guess_cost(const scl_instance *solver, const scl_problem *problem, const double *values,
                       size_t count, bool weighted, scl_cost *out) {
  const double d = (double)problem->features, c = (double)problem->targets,
               n = (double)problem->rows, solves = values == NULL ? 1 : (double)count;
  if (scl_solver_needs_normal_alone(solver, problem, values, count, weighted)) {
    out->normal = 1;
    out->factorised = solves * cube(d) / 3;
    out->bytes = scl_symmetric_bytes(d) + 8 * d * c * sizeof(double);
    return;
  }
  out->passes = solves * TYPICAL_PASSES;
  out->columns = c;
  out->bytes = (10 * d * c + 2 * n * c) * sizeof(double);
  (void)snprintf(out->note, sizeof out->note, "%g passes over the rows are typical",
                 TYPICAL_PASSES);
}

static void plan_cost(const scl_instance *solver, const scl_problem *problem, const double *values,
                      size_t count, bool weighted, scl_plan *out) {
  out->told = scl_solver_cost(solver, problem, values, count, weighted, &out->cost);
  if (!out->told) guess_cost(solver, problem, values, count, weighted, &out->cost);
}

/* ------------ memory */

/* The map: its parameters grow with their number, and the factor of whitened sections with its
 * square. */
static double bytes_of_map(const scl_map *map, size_t parameters) {
  const scl_map *base = scl_map_base(map);
  const double count = (double)scl_map_count(base),
               ratio = parameters == 0 || count == 0 ? 1 : (double)parameters / count,
               factor = scl_map_is_whitened(base) ? count * count * sizeof(double) : 0;
  return ((double)scl_map_bytes(base) - factor) * ratio + factor * ratio * ratio;
}

/* Phi Phi' is made from the staged rows and two blocks of features (problem_dual.c). */
static void plan_outer(const scl_flow *flow, scl_plan *out) {
  const double n = (double)out->rows, size = (double)scl_dtype_size(flow->dtype);
  out->outer = scl_symmetric_bytes(n) + n * (double)out->targets * sizeof(double);
  const double staged = scl_flow_is_sparse(flow) ? scl_source_entries(flow->source) *
                                                       (double)(sizeof(int32_t) + sizeof(double))
                                                 : (double)scl_flow_cols(flow) * size;
  if (scl_flow_has_csr(flow)) { /* no blocks of features */
    out->multiplying = out->outer + n * staged;
    return;
  }
  out->multiplying = out->outer + n * staged + scl_dual_block_bytes(flow, out->rows, out->features);
}

/* Sizes of what the problem makes for the solver, by what the solver asks for. */
static void plan_bytes(const scl_training *training, const scl_flow *flow, size_t parameters,
                       scl_plan *out) {
  const scl_cost *cost = &out->cost;
  const double d = (double)out->features, c = (double)out->targets;
  const bool alone = training->once && flow->group == NULL;
  const scl_source *source = flow->source;
  const scl_flow passing = scl_problem_flow(flow);
  out->map = flow->map == NULL ? 0 : bytes_of_map(flow->map, parameters);
  out->solution = 4 * d * c * sizeof(double);
  if (source->class->next == NULL && !source->random_access) /* a function of Lua */
    out->fetched = (double)source->rows * (double)(source->cols + source->targets) * sizeof(double);
  if (cost->normal > 0 || cost->reweighted > 0) {
    const scl_sums_bytes sums = scl_sums_bytes_of(training->way, flow);
    const bool copied =
        cost->reweighted > 0 || training->by_sums || (training->way->whole && !alone);
    out->sums = sums.sums;
    out->summing = sums.most;
    if (cost->reweighted > 0 && (passing.bits || passing.whole)) /* rows become numbers */
      out->summing += 2 * d * (double)scl_dtype_size(flow->dtype) *
                      (double)scl_min(scl_flow_block_rows(flow), out->rows);
    out->matrix = copied ? scl_symmetric_bytes(d) : 0;
  }
  if (cost->gram > 0) out->gram = scl_symmetric_bytes(d);
  if (cost->dual > 0) plan_outer(flow, out);
  /* problem_minibatch.c stores features once minibatches have made as many as a pass makes. */
  const bool many = cost->minibatch >= (double)out->rows * d && flow->source->random_access,
             passes = cost->passes > 0 || (many && scl_flow_entries(flow) == 0);
  if (passes) out->walk = scl_flow_bytes(&passing, true);
  out->judging = scl_flow_bytes(&passing, true);
  out->keeps = passes && scl_keep_fits(&passing, training->allowance);
  if (out->keeps && flow->map != NULL && scl_flow_entries(flow) == 0 && !passing.bits)
    out->walk = scl_flow_bytes(&passing, false); /* features are made where they are kept */
  /* A solver may ask for all sparse rows at once, which are a copy where passes keep one. */
  if (out->keeps || (scl_flow_has_csr(flow) && cost->normal == 0 && cost->dual == 0))
    out->kept = scl_keep_bytes(&passing);
}

/* Sums by the levels of columns: no features of rows are made, and the sums of codes are turned
 * into one matrix of features at the end (rows/sums_levels.c). Besides: codes of a block, twice. */
static void plan_codes(const scl_training *training, const scl_flow *flow, scl_plan *out) {
  const double groups = flow->group == NULL ? 1 : (double)flow->groups,
               rows = (double)scl_min(scl_flow_block_rows(flow), out->rows);
  out->summing = scl_sums_bytes_of(training->way, flow).parts +
                 2 * groups * scl_symmetric_bytes((double)out->codes) +
                 scl_flow_bytes(flow, false) +
                 2 * rows * (double)out->codes * (double)scl_dtype_size(flow->dtype);
  out->judging = scl_flow_bytes(flow, false);
}

/* ------------ seconds of a few rows */

static scl_status visit_nothing(void *context, const scl_flow_block *block, scl_error *error) {
  (void)context;
  (void)block;
  (void)error;
  return SCL_STATUS_OK;
}

/* *seconds = the shortest of RUNS walks: the first one meets cold memory. */
static scl_status time_walk(const scl_flow *flow, bool features, double *seconds,
                            scl_error *error) {
  *seconds = INFINITY;
  for (int run = 0; run < RUNS; run++) {
    const double began = scl_progress_clock();
    SCL_TRY(scl_flow_walk(flow, features, visit_nothing, NULL, error));
    *seconds = fmin(*seconds, scl_progress_clock() - began);
  }
  return SCL_STATUS_OK;
}

/* The same of a walk that sums. */
static scl_status time_sums(scl_training *training, scl_flow *flow, double *seconds, size_t *codes,
                            scl_error *error) {
  *seconds = INFINITY;
  scl_status status = SCL_STATUS_OK;
  for (int run = 0; status == SCL_STATUS_OK && run < RUNS; run++) {
    scl_sums *sums = NULL;
    const double began = scl_progress_clock();
    status = scl_sums_accumulate(training->way, flow, &sums, error);
    *seconds = fmin(*seconds, scl_progress_clock() - began);
    if (status == SCL_STATUS_OK) *codes = sums->codes == NULL ? 0 : sums->codes->features;
    scl_sums_destroy(sums);
  }
  return status;
}

/* Numbers with all bits in use, since sums of zeros take less time. */
static void fill_numbers(double *numbers, size_t count) {
  for (size_t i = 0; i < count; i++)
    numbers[i] = 1 / (double)(i % 1000 + 3);
}

static scl_status turn_scores(void *context, const scl_rows *rows, double *scores,
                              scl_error *error) {
  (void)error;
  fill_numbers(scores, rows->count * *(const size_t *)context);
  return SCL_STATUS_OK;
}

/* *seconds = the shortest of RUNS sweeps, of which the first one stores the features. */
static scl_status time_sweeps(const scl_problem *problem, size_t k, double *seconds,
                              scl_error *error) {
  const size_t numbers = problem->features * k;
  double *a = scl_allocate_zero((2 * numbers + 1) * sizeof *a);
  if (a == NULL) return scl_fail_memory(error, 2 * numbers * sizeof *a, "coefficients");
  scl_status status = SCL_STATUS_OK;
  fill_numbers(a, numbers);
  *seconds = INFINITY;
  for (int run = 0; status == SCL_STATUS_OK && run < RUNS; run++) {
    const double began = scl_progress_clock();
    status = problem->sweep(problem, a, k, turn_scores, &k, a + numbers, error);
    *seconds = fmin(*seconds, scl_progress_clock() - began);
  }
  scl_release(a);
  return status;
}

/* *few = a training on the first rows alone, up to `end`: first has the source that it borrows. */
static scl_status begin_training(const scl_training *training, const scl_flow *flow, size_t end,
                                 scl_beginning *first, scl_training **few, scl_error *error) {
  scl_flow rows = *flow;
  *first = scl_source_begin(flow->source, end); /* a solver may want them in an order */
  rows.source = &first->base;
  rows.end = end;
  rows.group = NULL;
  rows.groups = 1;
  rows.doing = NULL;
  rows.prints = NULL;
  rows.checkpoint = NULL;
  return scl_training_create(&rows, training->task, training->classes, SIZE_MAX, few, error);
}

/* The same, of a training on the rows of the flow. */
static scl_status time_passes(const scl_training *training, const scl_flow *flow,
                              const scl_instance *solver, scl_plan *out, scl_error *error) {
  scl_beginning first;
  scl_training *few;
  solve_context s;
  SCL_TRY(begin_training(training, flow, flow->end, &first, &few, error));
  scl_status status = scl_problem_open(&s, few, solver, -1, error);
  if (status == SCL_STATUS_OK) {
    status = time_sweeps(&s.problem, (size_t)out->cost.columns, &out->sweeping, error);
    scl_problem_close(&s);
  }
  scl_training_destroy(few);
  return status;
}

/* The same of the first rows, where nothing else is timed. */
static scl_status time_few_passes(const scl_training *training, const scl_instance *solver,
                                  scl_plan *out, scl_error *error) {
  scl_flow flow = training->flow;
  flow.end = scl_min(out->rows, TRIED);
  out->tried = flow.end;
  out->few = scl_flow_features(&flow);
  return time_passes(training, &flow, solver, out, error);
}

/* A failure in a trial is ignored, because the fit will report it; Ctrl-C is not. */
static scl_status unless_cancelled(scl_status status) {
  return status == SCL_STATUS_CANCELLED ? status : SCL_STATUS_OK;
}

/* For a solver that works from sums and declares no passes: *passes = the number that it makes on the
 * first rows, for up to SOLVED of the values. Their systems are singular where those of all rows
 * are. */
enum { SOLVED = 7, WIDEST = 2048 };

static scl_status passes_of_few(const scl_training *training, const scl_instance *solver,
                                const scl_planned *planned, double *passes, scl_error *error) {
  const scl_flow *flow = &training->flow;
  const size_t rows = scl_min(flow->source->rows, TRIED), solves = scl_min(planned->count, SOLVED),
               fits = planned->values == NULL ? 1 : solves;
  scl_beginning first;
  scl_training *few;
  scl_fit list[SOLVED];
  double values[SOLVED];
  if (scl_flow_features(flow) > scl_min(rows, WIDEST)) return SCL_STATUS_OK;
  for (size_t k = 0; k < solves && planned->values != NULL; k++)
    values[k] = planned->values[k * planned->count / solves];
  scl_status status = begin_training(training, flow, rows, &first, &few, error);
  if (status != SCL_STATUS_OK) return unless_cancelled(status);
  status = scl_training_solve(few, solver, -1, planned->values == NULL ? NULL : values, solves,
                              list, error);
  if (status == SCL_STATUS_OK) {
    *passes =
        list[0].passes * (planned->values == NULL ? 1 : (double)planned->count / (double)fits);
    for (size_t k = 0; k < fits; k++)
      scl_fit_release(&list[k]);
  }
  scl_training_destroy(few);
  return unless_cancelled(status);
}

/* *seconds = the shortest of some fits of a model to the first rows, 0 if they fail; *kept = the
 * rows that it keeps. */
static scl_status time_model(const scl_training *training, const scl_instance *solver, size_t rows,
                             double *seconds, double *kept, scl_error *error) {
  scl_beginning first;
  scl_training *few;
  *seconds = 0;
  scl_status status = begin_training(training, &training->flow, rows, &first, &few, error);
  if (status != SCL_STATUS_OK) return unless_cancelled(status);
  double least = INFINITY;
  for (int run = 0; run < RUNS && status == SCL_STATUS_OK; run++) {
    scl_fit fit;
    scl_model *model;
    const double began = scl_progress_clock();
    status = scl_model_fit(few, (scl_instance *)solver, -1, NULL, 0, &fit, &model, error);
    if (status != SCL_STATUS_OK) break;
    least = fmin(least, scl_progress_clock() - began);
    *kept = (double)fit.solution.kept;
    scl_fit_release(&fit);
    scl_model_destroy(model);
  }
  scl_training_destroy(few);
  if (status == SCL_STATUS_OK) *seconds = least;
  return unless_cancelled(status);
}

/* Where the solver's cost is a typical one, the time of its models of the first rows and of a part
 * of them says more, and so do the rows that these keep. */
static scl_status plan_models(const scl_training *training, const scl_instance *solver,
                              scl_plan *out, scl_error *error) {
  enum { PART = 4, LEAST = 256 };
  const size_t rows = scl_min(out->rows / PART, TRIED);
  const scl_cost *cost = &out->cost;
  if (!scl_instance_has(solver, SCL_ABILITY_MODEL) || cost->note[0] == 0 || cost->factorised > 0 ||
      cost->normal > 0 || rows < LEAST)
    return SCL_STATUS_OK;
  double part, all = 0, kept_of_part = 0, kept = 0;
  SCL_TRY(time_model(training, solver, rows / PART, &part, &kept_of_part, error));
  if (part > 0) SCL_TRY(time_model(training, solver, rows, &all, &kept, error));
  if (!(all > 0)) return SCL_STATUS_OK;
  out->modelled = rows;
  out->modelling = all;
  /* It grows more slowly later: the share of the rows that are support vectors falls. */
  out->power = 1 + 0.7 * (fmin(fmax(log(all / part) / log(PART), 1), 2) - 1);
  if (!(kept_of_part > 0) || !(kept > 0)) return SCL_STATUS_OK;
  const double growth = fmin(fmax(log(kept / kept_of_part) / log(PART), 0), 1);
  out->cost.kept = kept * pow((double)out->rows / (double)rows, growth);
  return SCL_STATUS_OK;
}

static scl_status plan_seconds(scl_training *training, const scl_instance *solver, scl_plan *out,
                               scl_error *error) {
  scl_flow flow = training->flow;
  double walked, made, summed;
  flow.doing = NULL;
  flow.csr = true;
  flow.end = scl_min(out->rows, TRIED);
  flow.prints = NULL;
  out->tried = flow.end;
  out->few = scl_flow_features(&flow);
  SCL_TRY(time_walk(&flow, false, &walked, error));
  out->reading = walked;
  if (flow.map != NULL) {
    scl_flow passing = scl_problem_flow(&flow);
    SCL_TRY(time_walk(&passing, true, &made, error));
    out->making = fmax(made - walked, 0);
  }
  if (out->cost.passes > 0 && out->cost.columns >= 1)
    SCL_TRY(time_passes(training, &flow, solver, out, error));
  SCL_TRY(plan_models(training, solver, out, error));
  const bool by_rate = training->way->blocks; /* products at the rate of the machine */
  if (by_rate || (out->cost.normal == 0 && out->cost.reweighted == 0)) return SCL_STATUS_OK;
  SCL_TRY(time_sums(training, &flow, &summed, &out->codes, error));
  const double each = out->codes > 0 ? walked : walked + out->making; /* codes are no features */
  out->adding = fmax(summed - each, 0);
  if (out->rows <= TRIED) return SCL_STATUS_OK;
  double half;
  flow.end = TRIED / 2;
  SCL_TRY(time_sums(training, &flow, &half, &out->codes, error));
  const double slope = fmax(2 * (summed - half) - each, 0);
  out->ending = fmax(out->adding - slope, 0);
  out->adding = fmin(slope, out->adding);
  return SCL_STATUS_OK;
}

/* ------------ the plan */

static void add_passes(const scl_problem *problem, double passes, scl_plan *out) {
  if (!(passes > 0)) return;
  out->cost.passes = passes;
  out->cost.columns = (double)problem->targets + 1;
}

scl_status scl_training_plan(scl_training *training, const scl_instance *solver,
                             const scl_planned *planned, scl_plan *out, scl_error *error) {
  const bool constant =
      scl_solver_wants_intercept(solver) && !scl_instance_has(solver, SCL_ABILITY_MODEL);
  const double *values = planned->values;
  const size_t count = planned->count;
  SCL_TRY(scl_training_centre(training, constant, error)); /* it may change the way of summing */
  scl_flow flow = training->flow;
  flow.planned = flow.map == NULL ? 0 : planned->parameters;
  const bool weighted = flow.weights != NULL;
  scl_problem problem = scl_problem_sizes(training, &flow, solver);
  *out = (scl_plan){.rows = problem.rows,
                    .features = problem.features,
                    .targets = problem.targets,
                    .numbers = scl_flow_has_csr(&flow) ? scl_source_entries(flow.source)
                                                       : (double)problem.features,
                    .way = training->way->name,
                    .codes = planned->codes};
  plan_cost(solver, &problem, values, count, weighted, out);
  const bool by_sums = out->told && out->cost.normal > 0 && out->cost.passes == 0;
  double passes = 0;
  if (planned->solved && by_sums) SCL_TRY(passes_of_few(training, solver, planned, &passes, error));
  add_passes(&problem, passes, out);
  plan_bytes(training, &flow, planned->parameters, out);
  if (planned->timed)
    SCL_TRY(plan_seconds(training, solver, out, error));
  else if (passes > 0)
    SCL_TRY(time_few_passes(training, solver, out, error));
  if (out->cost.kept > 0) plan_cost(solver, &problem, values, count, weighted, out);
  if (out->codes > 0) plan_codes(training, &flow, out);
  if (out->codes == 0 || !scl_problem_is_reducible(training, solver, &problem, values, count))
    return SCL_STATUS_OK;
  problem.features = out->codes;
  out->matrix += scl_symmetric_bytes((double)out->features); /* learn/reduced.c */
  plan_cost(solver, &problem, values, count, weighted, out);
  add_passes(&problem, passes, out);
  const double order = (double)out->features, codes = (double)out->codes;
  out->reducing = cube(order) / 3 + 2 * order * order * codes + 10 * cube(codes); /* reduced.c */
  if (passes > 0) out->kept = (double)out->rows * (double)out->codes * sizeof(double);
  return SCL_STATUS_OK;
}
