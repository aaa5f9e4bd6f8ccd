/* Normal equations. The sums of every group are made once for the training, and a problem gets
 * their total over its groups (folds); large matrices are not added up but combined on use.
 * Problems with row weights of the solver (iteratively reweighted least squares) make separate
 * sums. Also here: the sums of a training as such, to be saved, joined and solved
 * (scl_training_...). */
#include "learn/problem_internal.h"
#include "plugin/tables.h"
#include "rows/block_sums.h"
#include <math.h>
#include <string.h>

/* Allocate s->totals once: right D x c, square c, mean_phi D, mean_y c, zeros. */
static scl_status reserve_totals(solve_context *s, scl_error *error) {
  const size_t d = s->problem.features, c = s->problem.targets, numbers = d * c + d + 2 * c;
  if (s->totals.right != NULL) return SCL_STATUS_OK;
  double *memory = scl_allocate_zero((numbers + 1) * sizeof *memory);
  if (memory == NULL) return scl_fail_memory(error, numbers * sizeof *memory, "normal equations");
  s->totals = (scl_totals){.right = memory,
                           .square = memory + d * c,
                           .mean_phi = memory + d * c + c,
                           .mean_y = memory + d * c + c + d};
  return SCL_STATUS_OK;
}

/* Solvers read their matrix several times for each lambda, so that the sum of several small
 * matrices is worth storing. Larger ones than SMALL_BYTES stay a combination. */
static const double SMALL_BYTES = 32e6;

/* Replace the combination s->moment of several matrices by one matrix, if it is small and there is
 * memory. Never fails: the combination is as good. */
static void add_up(solve_context *s, size_t parts) {
  scl_symmetric *sum;
  const size_t order = scl_symmetric_order(s->moment);
  if (parts < 2 || scl_symmetric_bytes((double)order) > SMALL_BYTES ||
      scl_symmetric_create(order, &sum, NULL) != SCL_STATUS_OK)
    return;
  scl_service_symmetric.copy(s->moment, sum);
  scl_symmetric_destroy(s->moment);
  s->moment = sum;
}

/* Set s->moment and s->totals from exact sums, over all groups but `without`. s->moment owns its
 * numbers. spend: the matrix may reuse the memory of `sums`, which cannot be used again. */
static scl_status total_whole(solve_context *s, const scl_sums *sums, long without, bool spend,
                              scl_error *error) {
  SCL_TRY(reserve_totals(s, error));
  scl_symmetric_destroy(s->moment);
  s->moment = NULL;
  s->have_totals = false;
  double *memory = NULL;
  scl_whole_features features = {0};
  if (sums->whole->unit == NULL)
    SCL_TRY(scl_whole_features_open(s->training->flow.map, &features, &memory, error));
  const scl_status status = scl_whole_sums_total(
      sums->whole, &features, without, s->problem.intercept, spend, &s->totals, &s->moment, error);
  s->have_totals = status == SCL_STATUS_OK;
  if (status == SCL_STATUS_OK && s->same_calls) scl_symmetric_set_begets(s->moment);
  scl_release(memory);
  return status;
}

/* How many numbers s->totals points to. */
static size_t count_totals(const solve_context *s) {
  const size_t d = s->problem.features, c = s->problem.targets;
  return d * c + d + 2 * c;
}

/* Refer to totals that an earlier problem kept. */
static scl_status use_kept(solve_context *s, const scl_kept_total *kept, scl_error *error) {
  SCL_TRY(reserve_totals(s, error));
  scl_symmetric_destroy(s->moment); /* of reweighted sums */
  s->moment = NULL;
  memcpy(s->totals.right, kept->numbers, count_totals(s) * sizeof *kept->numbers);
  s->totals.total = kept->total;
  SCL_TRY(scl_symmetric_combine(s->problem.features, &kept->moment, 1, 0, NULL, &s->moment, error));
  s->have_totals = true;
  return SCL_STATUS_OK;
}

/* As total_whole, and keep small totals: candidates for lambda come in several rounds, each of which
 * is a problem of its own. */
static scl_status total_kept(solve_context *s, scl_sums *sums, long without, scl_error *error) {
  pthread_mutex_lock(&s->training->lock);
  scl_kept_total *kept =
      sums == s->training->sums ? scl_sums_kept_total(sums, without, s->problem.intercept) : NULL;
  const bool made = kept != NULL && kept->moment != NULL;
  pthread_mutex_unlock(&s->training->lock);
  if (made) return use_kept(s, kept, error);
  SCL_TRY(total_whole(s, sums, without, false, error));
  double *numbers = kept == NULL ? NULL : scl_allocate_array(count_totals(s), sizeof *numbers);
  if (numbers == NULL) return SCL_STATUS_OK;
  memcpy(numbers, s->totals.right, count_totals(s) * sizeof *numbers);
  pthread_mutex_lock(&s->training->lock);
  const bool first = kept->moment == NULL;
  if (first) *kept = (scl_kept_total){s->moment, numbers, s->totals.total};
  pthread_mutex_unlock(&s->training->lock);
  if (!first) {
    scl_release(numbers);
    return SCL_STATUS_OK;
  }
  s->moment = NULL;
  return use_kept(s, kept, error);
}

/* Set s->moment and s->totals to the totals of `sums` over all groups but `without`. With an
 * intercept they are centred: Phi'Phi - n m m', m the means of the features. s->moment borrows the
 * matrices of `sums`, unless they are exact. */
static scl_status combine_groups(solve_context *s, scl_sums *sums, long without, scl_error *error) {
  const bool centre = s->problem.intercept;
  size_t count = 0;
  if (sums->exact) return total_kept(s, sums, without, error);
  SCL_TRY(reserve_totals(s, error));
  scl_symmetric_destroy(s->moment);
  scl_release(s->parts);
  s->moment = NULL;
  s->have_totals = false;
  s->parts = scl_allocate_array(sums->groups + 1, sizeof *s->parts);
  if (s->parts == NULL) return scl_fail_memory(error, sums->groups * sizeof *s->parts, "sums");
  for (size_t g = 0; g < sums->groups; g++)
    if ((long)g != without) s->parts[count++] = sums->moment[g];
  scl_sums_total(sums, without, centre, &s->totals);
  SCL_TRY(scl_symmetric_combine(sums->features, s->parts, count, centre ? -s->totals.total : 0,
                                centre ? s->totals.mean_phi : NULL, &s->moment, error));
  add_up(s, count);
  s->have_totals = true;
  return SCL_STATUS_OK;
}

/* Set s->moment and s->totals from the training's sums over all rows, and destroy these sums. */
static scl_status spend_sums(solve_context *s, scl_error *error) {
  scl_training *training = s->training;
  const scl_status status = total_whole(s, training->sums, -1, true, error);
  pthread_mutex_lock(&training->lock);
  scl_sums_destroy(training->sums);
  training->sums = NULL;
  pthread_mutex_unlock(&training->lock);
  return status;
}

/* Write as much of the table as the solver's version of it has. */
static void write_normal(const solve_context *s, scl_normal *out) {
  const scl_normal normal = {.head = SCL_HEAD(scl_normal),
                             .moment = s->moment,
                             .right = s->totals.right,
                             .square = s->totals.square,
                             .total = s->totals.total};
  scl_table_write(out, &normal);
}

/* Make training->sums, the sums of all groups, unless they exist. */
scl_status scl_training_make_sums(scl_training *training, scl_error *error) {
  scl_status status = SCL_STATUS_OK;
  pthread_mutex_lock(&training->lock);
  if (training->sums == NULL) {
    scl_flow flow = training->flow; /* a copy: other problems may be reading the flow's units */
    if (training->way->blocks) status = scl_training_units(training, &flow, error);
    const scl_sums *few = training->few == NULL ? NULL : training->few->sums;
    if (few != NULL) flow.known = few->features;
    if (status == SCL_STATUS_OK)
      status = scl_sums_accumulate(training->way, &flow, &training->sums, error);
    if (status == SCL_STATUS_OK && few != NULL)
      status = scl_whole_sums_lead(training->sums->whole, few->whole, error);
    training->few = NULL;
  }
  pthread_mutex_unlock(&training->lock);
  return status;
}

scl_status scl_training_sum(scl_training *training, bool constant, scl_error *error) {
  SCL_TRY(scl_training_centre(training, constant, error));
  return scl_training_make_sums(training, error);
}

bool scl_training_has_sums(const scl_training *training) { return training->sums != NULL; }

void scl_training_once(scl_training *training) { training->once = true; }

void scl_training_by_sums(scl_training *training, scl_fingerprints *prints) {
  training->by_sums = training->flow.own_sums = true;
  training->flow.prints = prints;
}

scl_status scl_training_exact_sums(scl_training *training, bool constant,
                                   struct scl_whole_sums **out, scl_error *error) {
  if (scl_flow_has_bits(&training->flow) && !scl_flow_is_exact(&training->flow))
    return scl_fail(error, SCL_STATUS_UNSUPPORTED,
                    "sums of features of two values take row weights of 0 and from %g on, which "
                    "come to at most %g: multiply the weights by a number",
                    SCL_LEAST_COUNTED, SCL_MOST_WEIGHT);
  SCL_TRY(scl_training_sum(training, constant, error));
  if (training->given || !training->sums->exact)
    return scl_fail(error, SCL_STATUS_UNSUPPORTED,
                    "sums of these features are not exact: they are summed by the way \"%s\"",
                    training->way->name);
  *out = training->sums->whole;
  training->sums->whole = NULL;
  scl_sums_destroy(training->sums);
  training->sums = NULL;
  return SCL_STATUS_OK;
}

scl_status scl_training_give_sums(scl_training *training, struct scl_whole_sums *sums,
                                  scl_error *error) {
  scl_sums *whole = scl_allocate_zero(sizeof *whole);
  if (whole == NULL) return scl_fail_memory(error, sizeof *whole, "normal equations");
  *whole = (scl_sums){.features = sums->features,
                      .targets = sums->targets,
                      .groups = sums->groups,
                      .exact = true,
                      .whole = sums};
  training->sums = whole;
  training->given = training->by_sums = true;
  scl_training_like(training, sums);
  return SCL_STATUS_OK;
}

scl_status scl_training_take_sums(scl_training *few, scl_training *many, scl_error *error) {
  const scl_map *map = few->flow.map, *from = many->flow.map;
  const size_t count = map == NULL ? 0 : scl_map_count(map);
  double ratio;
  bool alike;
  if (few == many || map == NULL || from == NULL || few->sums != NULL || many->sums == NULL ||
      few->flow.source != many->flow.source || few->flow.groups != many->flow.groups ||
      !scl_map_is_first_of(map, from, &ratio))
    return SCL_STATUS_OK;
  SCL_TRY(scl_training_centre_alike(few, many, &alike, error));
  if (!alike || few->way != many->way || many->way->first_of == NULL || few->fixed)
    return SCL_STATUS_OK;
  scl_training_take_pilot(few, many, ratio);
  return many->way->first_of(many->sums, scl_map_count(from), count, scl_map_features(map) / count,
                             ratio, &few->sums, error);
}

scl_status scl_training_know_sums(scl_training *many, scl_training *few, scl_error *error) {
  const scl_map *map = few->flow.map, *from = many->flow.map;
  double ratio;
  bool alike;
  if (few == many || map == NULL || from == NULL || few->sums == NULL || many->sums != NULL ||
      !few->sums->exact || few->way != many->way || few->way->blocks || !few->way->whole ||
      many->flow.checkpoint != NULL || few->flow.source != many->flow.source ||
      few->flow.groups != many->flow.groups || scl_map_features(map) != scl_map_count(map) ||
      !scl_map_is_first_of(map, from, &ratio))
    return SCL_STATUS_OK;
  SCL_TRY(scl_training_centre_alike(few, many, &alike, error));
  if (alike && few->flow.pilot == NULL && few->sums != NULL) many->few = few;
  return SCL_STATUS_OK;
}

scl_status scl_training_reduce(scl_training *training, scl_penalty penalty, const scl_reduced **out,
                               scl_error *error) {
  const bool rkhs = penalty == SCL_PENALTY_RKHS;
  const scl_symmetric *gram = NULL;
  *out = NULL;
  SCL_TRY(scl_training_make_sums(training, error));
  if (training->sums->codes == NULL) return SCL_STATUS_OK;
  if (rkhs) SCL_TRY(scl_training_gram(training, &gram, error));
  pthread_mutex_lock(&training->lock);
  scl_status status = SCL_STATUS_OK;
  if (training->reduced[rkhs] == NULL && !training->irreducible[rkhs])
    status = scl_reduced_create(training->sums, gram, &training->reduced[rkhs], error);
  training->irreducible[rkhs] = status == SCL_STATUS_OK && training->reduced[rkhs] == NULL;
  *out = training->reduced[rkhs];
  pthread_mutex_unlock(&training->lock);
  return status;
}

scl_status scl_problem_normal(const scl_problem *problem, scl_normal *out, scl_error *error) {
  solve_context *s = context_of(problem);
  SCL_TABLE_EXPECT(out, scl_normal, SCL_LEAST_NORMAL, error);
  SCL_TRY(scl_problem_enter(problem, "normal", error));
  SCL_TRY(scl_training_make_sums(s->training, error));
  scl_sums *sums = s->reduced != NULL ? s->reduced->sums : s->training->sums;
  if (s->moment == NULL || s->reweighted)
    SCL_TRY(s->training->once && sums->exact && sums->groups == 1
                ? spend_sums(s, error)
                : combine_groups(s, sums, s->without, error));
  s->reweighted = false;
  s->progress.rows += (double)problem->rows;
  write_normal(s, out);
  return SCL_STATUS_OK;
}

/* ------------ other row weights */

typedef struct reweighting {
  const scl_flow *flow;
  const scl_sums_way *way;
  const double *weights;
  double *room; /* weights of a block, by the block's rows */
  scl_reducer reducer;
} reweighting;

/* Add a dense part of a run of sparse rows. */
typedef struct reweighting_part {
  const reweighting *r;
  const scl_run *run;
  scl_sums *sums;
} reweighting_part;

static scl_status reweight_part(void *context, const scl_flow_block *part, size_t at,
                                scl_error *error) {
  const reweighting_part *p = context;
  scl_flow_block block = *part;
  block.weights = p->r->weights + p->run->rows.first + at;
  return p->r->way->rows(p->sums, p->r->flow, &block, 0, 0, block.count, error);
}

/* Add one run of rows to the sums, with the solver's weights in place of the block's. */
static scl_status reweight_run(void *context, const scl_run *run, scl_error *error) {
  reweighting *r = context;
  scl_flow_block block = *run->block;
  void *part;
  SCL_TRY(scl_reducer_at(&r->reducer, block.first, &part, error));
  if (scl_flow_has_csr(r->flow)) {
    reweighting_part p = {r, run, part};
    return scl_run_densely(r->flow, run, reweight_part, &p, error);
  }
  block.weights = r->room;
  memcpy(r->room + run->start, r->weights + run->rows.first, run->rows.count * sizeof *r->room);
  return r->way->rows(part, r->flow, &block, 0, run->start, run->start + run->rows.count, error);
}

/* Row weights must be finite and at least 0, and not all 0. */
static scl_status check_weights(const scl_problem *problem, const double *weights,
                                scl_error *error) {
  double total = 0;
  for (size_t i = 0; i < problem->rows; i++) {
    if (!(weights[i] >= 0) || !isfinite(weights[i]))
      return scl_fail(error, SCL_STATUS_BAD_DATA, "row weight %g is not finite and at least 0",
                      weights[i]);
    total += weights[i];
  }
  return total > 0 ? SCL_STATUS_OK : scl_fail(error, SCL_STATUS_BAD_DATA, "all row weights are 0");
}

/* *out = sums of the sizes of `like` over the problem's rows, each with its entry of `weights` (by
 * the order of the rows in the problem). */
static scl_status walk_reweighted(const scl_problem *problem, const double *weights, scl_sums *like,
                                  scl_sums **out, scl_error *error) {
  const scl_flow *flow = flow_of(problem);
  const scl_reduction sum = scl_sums_reduction(like);
  const size_t rows = flow->source->rows;
  reweighting r = {flow, context_of(problem)->training->way, weights,
                   scl_allocate_array(rows + 1, sizeof *r.room), scl_reducer_of(&sum, rows)};
  if (r.room == NULL) return scl_fail_memory(error, rows * sizeof *r.room, "row weights");
  void *part = NULL;
  const scl_status status = scl_reducer_finish(
      &r.reducer, scl_problem_walk_runs(problem, reweight_run, &r, error), &part, error);
  scl_release(r.room);
  *out = part;
  return status;
}

/* *out = the sums (one group) of the problem's rows with these weights; the caller destroys
 * them. */
static scl_status sum_reweighted(const scl_problem *problem, const double *weights, scl_sums **out,
                                 scl_error *error) {
  scl_training *training = context_of(problem)->training;
  double *unit = NULL;
  scl_sums like = {.features = problem->features,
                   .targets = problem->targets,
                   .groups = 1,
                   .exact = training->way->whole};
  scl_status status = SCL_STATUS_OK;
  if (training->way->blocks) {
    pthread_mutex_lock(&training->lock);
    scl_flow flow;
    status = scl_training_units(training, &flow, error);
    if (status == SCL_STATUS_OK)
      status = scl_block_units(&flow, weights, problem->rows, &unit, error);
    pthread_mutex_unlock(&training->lock);
    like.blocks = &training->flow;
    like.unit = unit;
  }
  if (status == SCL_STATUS_OK) status = walk_reweighted(problem, weights, &like, out, error);
  scl_release(unit);
  return status;
}

enum { REWEIGHTED_SPANS = 5 };

/* Where the numbers of such sums are: s->moment and s->totals of exact sums, else s->own. */
static size_t reweighted_spans(solve_context *s, scl_span spans[REWEIGHTED_SPANS]) {
  const size_t d = s->problem.features, c = s->problem.targets, each = sizeof(double);
  const bool exact = s->training->way->whole;
  spans[0].data = scl_symmetric_numbers(exact ? s->moment : s->own->moment[0], &spans[0].size);
  if (exact) {
    spans[1] = (scl_span){s->totals.right, (d * c + d + 2 * c) * each};
    spans[2] = (scl_span){&s->totals.total, each};
    return 3;
  }
  spans[1] = (scl_span){s->own->right, d * (c + 1) * each};
  spans[2] = (scl_span){s->own->sum, c * each};
  spans[3] = (scl_span){s->own->square, c * each};
  spans[4] = (scl_span){s->own->count, each};
  return 5;
}

/* Makes s->moment, or s->own, for numbers to come. */
static scl_status open_reweighted(solve_context *s, scl_error *error) {
  const scl_sums like = {
      .features = s->problem.features, .targets = s->problem.targets, .groups = 1};
  SCL_TRY(reserve_totals(s, error));
  return s->training->way->whole ? scl_symmetric_create(like.features, &s->moment, error)
                                 : scl_sums_create(&like, &s->own, error);
}

static void drop_reweighted(solve_context *s) {
  scl_symmetric_destroy(s->moment); /* it may borrow from s->own, which is destroyed next */
  s->moment = NULL;
  scl_sums_destroy(s->own);
  s->own = NULL;
}

/* The sums that a process before this one recorded. *found = false: there are none. */
static scl_status replay_reweighted(solve_context *s, scl_checkpoint *log, bool *found,
                                    scl_error *error) {
  scl_span spans[REWEIGHTED_SPANS];
  SCL_TRY(open_reweighted(s, error));
  const size_t count = reweighted_spans(s, spans), last = spans[count - 1].size;
  SCL_TRY(log->replay(log, SCL_LOG_REWEIGHTED, spans, count, found, error));
  if (!*found) drop_reweighted(s);
  if (*found && spans[count - 1].size != last)
    return scl_fail(error, SCL_STATUS_BAD_DATA,
                    "the checkpoint is damaged: sums in it have another size");
  return SCL_STATUS_OK;
}

/* The sums with these weights, as s->own; exact ones as s->moment and s->totals. They are recorded
 * in a checkpoint, if there is one. */
static scl_status make_reweighted(solve_context *s, const double *weights, scl_error *error) {
  const bool logged = flow_of(&s->problem)->checkpoint != NULL && !s->training->aside;
  scl_checkpoint *log = logged ? flow_of(&s->problem)->checkpoint : NULL;
  scl_span spans[REWEIGHTED_SPANS];
  bool found = false;
  if (logged) SCL_TRY(replay_reweighted(s, log, &found, error));
  if (found) {
    s->have_totals = s->training->way->whole;
    return SCL_STATUS_OK;
  }
  SCL_TRY(sum_reweighted(&s->problem, weights, &s->own, error));
  if (s->own->exact) SCL_TRY(total_whole(s, s->own, -1, true, error));
  if (logged) log->record(log, SCL_LOG_REWEIGHTED, spans, reweighted_spans(s, spans));
  return SCL_STATUS_OK;
}

scl_status scl_problem_reweighted(const scl_problem *problem, const double *weights,
                                  scl_normal *out, scl_error *error) {
  solve_context *s = context_of(problem);
  SCL_TABLE_EXPECT(out, scl_normal, SCL_LEAST_NORMAL, error);
  SCL_TRY(scl_problem_enter(problem, "reweighted", error));
  SCL_TRY(check_weights(problem, weights, error));
  drop_reweighted(s);
  s->reweighted = true;
  SCL_TRY(make_reweighted(s, weights, error));
  if (!s->training->way->whole) SCL_TRY(combine_groups(s, s->own, -1, error));
  write_normal(s, out);
  return SCL_STATUS_OK;
}

/* ------------ means without the sums
 *
 * Phi'1 is an adjoint, and the targets come without features. */

/* Set the weighted means of s->totals; weights (n) and targets (n x c) are working memory. The
 * adjoint of the weights is Phi'w, so that mean_phi = Phi'w / sum w. */
static scl_status find_means(solve_context *s, double *weights, double *targets, scl_error *error) {
  const scl_problem *problem = &s->problem;
  const size_t n = problem->rows, d = problem->features, c = problem->targets;
  scl_totals *t = &s->totals;
  SCL_TRY(problem->responses(problem, targets, weights, error));
  SCL_TRY(problem->adjoint(problem, weights, 1, t->mean_phi, error));
  memset(t->mean_y, 0, c * sizeof *t->mean_y);
  t->total = 0;
  for (size_t i = 0; i < n; i++) {
    for (size_t j = 0; j < c; j++)
      t->mean_y[j] += weights[i] * targets[i * c + j];
    t->total += weights[i];
  }
  for (size_t j = 0; j < d; j++)
    t->mean_phi[j] /= t->total;
  for (size_t j = 0; j < c; j++)
    t->mean_y[j] /= t->total;
  s->have_totals = true;
  return SCL_STATUS_OK;
}

scl_status scl_problem_means(solve_context *s, scl_error *error) {
  const size_t n = s->problem.rows, c = s->problem.targets;
  if (s->have_totals) return SCL_STATUS_OK;
  SCL_TRY(reserve_totals(s, error));
  double *memory = scl_allocate_array(n * (c + 1) + 1, sizeof *memory);
  if (memory == NULL) return scl_fail_memory(error, n * (c + 1) * sizeof *memory, "targets");
  const scl_status status = find_means(s, memory, memory + n, error);
  scl_release(memory);
  return status;
}
