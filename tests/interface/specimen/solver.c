/* Solvers: one for coefficients, which asks the problem for everything, and one that makes models.
 * */
#include "specimen.h"

typedef struct square {
  scl_base base;
  double lambda;
  bool intercept, all;
  int32_t estimate;
} square;

static const scl_host *host_of(const void *self) { return ((const square *)self)->base.host; }

/* ------------ square: (Phi'Phi + lambda I) a = Phi'y */

static scl_status count_rows(void *context, const scl_rows *rows, scl_error *error);
static scl_status residuals(void *context, const scl_rows *rows, double *f, scl_error *error);

typedef struct scores {
  size_t targets, seen;
  const scl_problem *problem;
  const char *verb; /* whose visit it is: "square.walk" */
} scores;

/* From inside a visit, the verb of a line "at square.walk ask VERB". */
static scl_status ask_inside(const scores *s, scl_error *error) {
  const scl_problem *p = s->problem;
  const scl_symmetric *matrix;
  const double *targets;
  scl_normal normal = {.head = SCL_HEAD(scl_normal)};
  double numbers[256] = {1};
  scores inner = {s->targets, 0, p, ""};
  size_t from = 0, count;
  const char *verb = script_line(s->verb, "ask", &from);
#define ASKS(name, ...) \
  if (strncmp(verb, #name, sizeof #name - 1) == 0) return p->name(p, __VA_ARGS__, error)
  if (verb == NULL || p->rows * s->targets > 256 || p->features * s->targets > 256)
    return SCL_STATUS_OK;
  ASKS(responses, numbers, NULL);
  ASKS(walk, count_rows, &inner);
  ASKS(normal, &normal);
  ASKS(reweighted, numbers, &normal);
  ASKS(dual, &matrix, &targets);
  ASKS(gram, &matrix);
  ASKS(product, numbers, s->targets, numbers);
  ASKS(adjoint, numbers, s->targets, numbers);
  ASKS(sweep, numbers, s->targets, residuals, &inner, numbers);
  ASKS(minibatch, 1, 0, 5, 0, 1, 0, count_rows, &inner);
  ASKS(hold_out, 0.5, 1, &count);
  ASKS(held, 0, 1, count_rows, &inner);
#undef ASKS
  return SCL_STATUS_OK;
}

static scl_status count_rows(void *context, const scl_rows *rows, scl_error *error) {
  scores *s = context;
#ifdef SPECIMEN_LATER
  if (SCL_HAS(rows, later)) return SCL_STATUS_INTERNAL;
#endif
  s->seen += rows->count;
  return ask_inside(s, error);
}

static scl_status residuals(void *context, const scl_rows *rows, double *f, scl_error *error) {
  const scores *s = context;
  for (size_t i = 0; i < rows->count * s->targets; i++)
    f[i] -= rows->targets == NULL ? 0 : rows->targets[i];
  return ask_inside(s, error);
}

static scl_status one_task(void *context, size_t index, scl_error *error) {
  (void)index;
  UPSET(host_of(context), "square.task", error);
  return SCL_STATUS_OK;
}

#define TRY(call) \
  if (status == SCL_STATUS_OK) status = (call)

/* Every verb once; the tables that the host fills in are guarded. */
static scl_status ask_everything(const square *self, const scl_problem *p, scl_error *error) {
  const scl_host *host = self->base.host;
  const size_t n = p->rows, d = p->features, c = p->targets, most = (n > d ? n : d) * c;
  scl_normal *normal = open_table("square.normal", sizeof *normal);
  double *numbers = host->allocate((2 * most + n + 1) * sizeof *numbers);
  const scl_symmetric *matrix = NULL;
  const double *targets = NULL;
  scores s = {c, 0, p, "square.walk"}, turned = {c, 0, p, "square.sweep"},
         drawn = {c, 0, p, "square.minibatch"}, kept = {c, 0, p, "square.held"};
  size_t from = 0, count;
  scl_status status = numbers == NULL ? SCL_STATUS_NO_MEMORY : SCL_STATUS_OK;
  double *more = numbers == NULL ? NULL : numbers + most, *weights = more + most;
  for (size_t i = 0; numbers != NULL && i < most; i++)
    numbers[i] = 1;
  TRY(p->responses(p, more, weights, error));
  TRY(p->walk(p, count_rows, &s, error));
  TRY(p->normal(p, normal, error));
  TRY(p->product(p, numbers, c, more, error));
  TRY(p->adjoint(p, numbers, c, more, error));
  TRY(p->sweep(p, numbers, c, residuals, &turned, more, error));
  TRY(p->reweighted(p, weights, normal, error));
  TRY(p->minibatch(p, 1, 0, 5, 0, d, 0, count_rows, &drawn, error));
  if (script_line("square.held", "ask", &from) != NULL) {
    TRY(p->hold_out(p, 0.5, 1, &count, error));
    TRY(p->held(p, 0, d, count_rows, &kept, error));
  }
  if (p->has_kernel) TRY(p->gram(p, &matrix, error));
  if (d > n) TRY(p->dual(p, &matrix, &targets, error));
  TRY(host->parallel(64, one_task, (void *)(uintptr_t)self, error));
  TRY(p->progress(p, "asking", 1, NAN, error));
  host->release(numbers);
  if (!close_table(normal))
    return host->fail(error, SCL_STATUS_INTERNAL,
                      "the host wrote beyond the table of square.normal");
  if (status == SCL_STATUS_OK && (s.seen != n || drawn.seen != 5))
    return host->fail(error, SCL_STATUS_INTERNAL, "%zu and %zu rows seen", s.seen, drawn.seen);
  return status;
}

static scl_status solve_for(const square *self, const scl_problem *p, double lambda,
                            scl_solution *out, scl_error *error) {
  const scl_host *host = self->base.host;
  const scl_symmetric_algebra *algebra = host->symmetric;
  scl_normal normal = {.head = SCL_HEAD(scl_normal)};
  scl_symmetric *matrix = NULL;
  size_t pivot;
  scl_status status = p->normal(p, &normal, error);
  TRY(algebra->create(p->features, &matrix, error));
  if (status != SCL_STATUS_OK) return status;
  algebra->add(1, normal.moment, matrix);
  algebra->shift(lambda, matrix);
  memcpy(out->coefficients, normal.right, p->features * p->targets * sizeof(double));
  status = algebra->factor(matrix, &pivot, error);
  TRY(algebra->solve(matrix, out->coefficients, p->targets, error));
  algebra->destroy(matrix);
  out->outcome = SCL_OUTCOME_CONVERGED;
  out->iterations = 1;
  return status;
}

static scl_status square_solve(const void *self, const scl_problem *p, scl_solution *out,
                               scl_error *error) {
  const square *own = self;
  const scl_host *host = own->base.host;
  CHECK_VIEW(host, p, error);
  CHECK_VIEW(host, out, error);
  CHECK_VIEW(host, host->symmetric, error);
  CHECK_VIEW(host, host->dense, error);
  CHECK_VIEW(host, host->math, error);
  UPSET(host, "square.solve", error);
  scl_status status = own->all ? ask_everything(own, p, error) : SCL_STATUS_OK;
  TRY(solve_for(own, p, own->lambda, out, error));
  disturb_numbers("square.solve", out->coefficients, p->features * p->targets);
  disturb("square.solve", "scl_solution", out);
  char text[200];
  if (disturbed_text("square.note", NULL, text) != NULL)
    memset(out->note, 'n', sizeof out->note); /* no end */
  return status;
}

static scl_status square_path(const void *self, const scl_problem *p, const double *values,
                              size_t count, scl_solution *const *out, scl_error *error) {
  scl_status status = SCL_STATUS_OK;
  UPSET(host_of(self), "square.path", error);
  for (size_t k = 0; k < count; k++) {
    TRY(solve_for(self, p, values[k], out[k], error));
    disturb("square.path", "scl_solution", out[k]);
  }
  return status;
}

static scl_penalty square_penalty(const void *self) {
  (void)upset(host_of(self), "square.penalty", NULL);
  return (scl_penalty)disturbed("square.penalty", SCL_PENALTY_L2);
}

/* The first header has no such ability. */
#ifdef SCL_ABILITY_NORMAL
static int32_t square_alone(const void *self, const scl_problem *problem, const double *values,
                            size_t count, int32_t weighted) {
  (void)problem, (void)values, (void)count, (void)weighted;
  (void)upset(host_of(self), "square.alone", NULL);
  return 0;
}
#define SQUARE_NORMAL SCL_OFFER(SCL_ABILITY_NORMAL, scl_ability_normal, .alone = square_alone)
#else
#define SQUARE_NORMAL \
  { NULL, NULL }
#endif

#ifdef SCL_ABILITY_COST
static void square_cost(const void *self, const scl_problem *problem, const double *values,
                        size_t count, int32_t weighted, scl_cost *out) {
  (void)problem, (void)values, (void)count, (void)weighted;
  (void)upset(host_of(self), "square.cost", NULL);
  out->normal = disturbed("square.cost", 1);
}
#define SQUARE_COST SCL_OFFER(SCL_ABILITY_COST, scl_ability_cost, .cost = square_cost)
#else
#define SQUARE_COST \
  { NULL, NULL }
#endif

static double square_value(const void *self, size_t c, const double *f, const double *y) {
  double sum = 0;
  (void)upset(host_of(self), "square.value", NULL);
  for (size_t j = 0; j < c; j++)
    sum += (f[j] - y[j]) * (f[j] - y[j]);
  return disturbed("square.value", sum);
}

static void square_slope(const void *self, size_t c, const double *f, const double *y,
                         double *out) {
  (void)upset(host_of(self), "square.slope", NULL);
  for (size_t j = 0; j < c; j++)
    out[j] = 2 * (f[j] - y[j]);
}

static double square_bound(const void *self, double reach) {
  (void)upset(host_of(self), "square.bound", NULL);
  return disturbed("square.bound", (reach + 1) * (reach + 1));
}

static double square_lipschitz(const void *self, double reach) {
  (void)upset(host_of(self), "square.lipschitz", NULL);
  return disturbed("square.lipschitz", 2 * (reach + 1));
}

/* The clipped score is the probability of the second class. */
static int32_t square_probabilities(const void *self, size_t c, const double *f, double *out) {
  (void)upset(host_of(self), "square.probabilities", NULL);
  if (c != 1) return 0;
  out[1] = disturbed("square.probabilities", fmin(1, fmax(0, (f[0] + 1) / 2)));
  out[0] = 1 - out[1];
  return 1;
}

static scl_status square_objective(const void *self, const scl_problem *p,
                                   const double *coefficients, const double *intercept,
                                   double *value, scl_error *error) {
  const scl_host *host = host_of(self);
  const size_t n = p->rows, c = p->targets;
  UPSET(host, "square.objective", error);
  double *f = host->allocate((2 * n * c + n + 1) * sizeof *f);
  if (f == NULL) return host->fail(error, SCL_STATUS_NO_MEMORY, "no memory");
  double *y = f + n * c;
  scl_status status = p->product(p, coefficients, c, f, error);
  TRY(p->responses(p, y, NULL, error));
  *value = 0;
  for (size_t i = 0; status == SCL_STATUS_OK && i < n * c; i++) {
    const double gap = f[i] + (intercept == NULL ? 0 : intercept[i % c]) - y[i];
    *value += gap * gap;
  }
  for (size_t i = 0; i < p->features * c; i++)
    *value += ((const square *)self)->lambda * coefficients[i] * coefficients[i];
  host->release(f);
  *value = disturbed("square.objective", *value);
  return status;
}

static const scl_option square_options[] = {
    SCL_NUMBER(square, lambda, "1", "lambda", SCL_POSITIVE, .role = SCL_ROLE_REGULARISATION),
    SCL_BOOLEAN(square, intercept, "false", "an unpenalised constant", .role = SCL_ROLE_INTERCEPT),
    SCL_BOOLEAN(square, all, "false", "asks for every verb"),
    SCL_WORD(square, estimate, "none|gcv", "none", "an estimate of the risk",
             .role = SCL_ROLE_ESTIMATE)};

SPECIMEN(square, "a solver", SCL_SOLVER(.dtypes = SCL_DTYPES_FLOAT, .solve = square_solve),
         SCL_INSTANCE(square, square_options),
         SCL_ABILITIES(
             SCL_OFFER(SCL_ABILITY_PATH, scl_ability_path, .option = "lambda",
                       .solve = square_path),
             SCL_OFFER_BARE(SCL_ABILITY_SPARSE_ROWS, scl_ability_sparse_rows),
             SCL_OFFER(SCL_ABILITY_PENALTY, scl_ability_penalty, .penalty = square_penalty),
             SCL_OFFER(SCL_ABILITY_LOSS, scl_ability_loss, .value = square_value,
                       .slope = square_slope, .bound = square_bound, .lipschitz = square_lipschitz,
                       .probabilities = square_probabilities),
             SCL_OFFER(SCL_ABILITY_OBJECTIVE, scl_ability_objective, .objective = square_objective),
             SQUARE_NORMAL, SQUARE_COST));

/* ------------ mean: predicts the means of the targets, shrunk */

typedef struct mean {
  scl_base base;
  double shrink;
} mean;

typedef struct mean_model {
  size_t targets;
  double values[64];
} mean_model;

static scl_status new_model(const scl_host *host, size_t targets, mean_model **out,
                            scl_error *error) {
  *out = targets <= 64 ? host->allocate(sizeof **out) : NULL;
  if (*out == NULL) return host->fail(error, SCL_STATUS_NO_MEMORY, "no memory");
  memset(*out, 0, sizeof **out);
  (*out)->targets = targets;
  return SCL_STATUS_OK;
}

static scl_status add_targets(void *context, const scl_rows *rows, scl_error *error) {
  mean_model *model = context;
  (void)error;
  for (size_t i = 0; i < rows->count; i++)
    for (size_t j = 0; j < model->targets; j++)
      model->values[j] += rows->targets[i * model->targets + j];
  return SCL_STATUS_OK;
}

static scl_status fit_shrunk(const void *self, const scl_problem *p, double shrink, void **out,
                             scl_solution *solution, scl_error *error) {
  const scl_host *host = host_of(self);
  mean_model *model;
  CHECK_VIEW(host, solution, error);
  UPSET(host, "mean.fit", error);
  scl_status status = new_model(host, p->targets, &model, error);
  if (status != SCL_STATUS_OK) return status;
  status = p->walk(p, add_targets, model, error);
  for (size_t j = 0; j < p->targets; j++)
    model->values[j] *= (1 - shrink) / (double)p->rows;
  solution->outcome = SCL_OUTCOME_CONVERGED;
  disturb("mean.fit", "scl_solution", solution);
  *out = model;
  if (disturbed("mean.model", 1) == 0) {
    host->release(model);
    *out = NULL;
  } else if (status != SCL_STATUS_OK) {
    host->release(model);
  }
  return status;
}

static scl_status mean_fit(const void *self, const scl_problem *p, void **out,
                           scl_solution *solution, scl_error *error) {
  return fit_shrunk(self, p, ((const mean *)self)->shrink, out, solution, error);
}

/* A call that fails leaves no models. */
static scl_status mean_path(const void *self, const scl_problem *p, const double *values,
                            size_t count, void **models, scl_solution *const *out,
                            scl_error *error) {
  const scl_host *host = host_of(self);
  scl_status status = SCL_STATUS_OK;
  size_t made = 0;
  UPSET(host, "mean.models", error);
  while (status == SCL_STATUS_OK && made < count) {
    status = fit_shrunk(self, p, values[made], &models[made], out[made], error);
    made += status == SCL_STATUS_OK;
  }
  for (size_t k = 0; status != SCL_STATUS_OK && k < made; k++)
    host->release(models[k]);
  if (status == SCL_STATUS_OK && disturbed("mean.gives", 1) == 0) {
    host->release(models[0]);
    models[0] = NULL;
  }
  return status;
}

static scl_status mean_decide(const void *self, const void *model, const scl_const_block *rows,
                              double *out, ptrdiff_t stride, scl_error *error) {
  const mean_model *own = model;
  UPSET(host_of(self), "mean.decide", error);
  for (size_t i = 0; i < rows->rows; i++) {
    for (size_t j = 0; j < own->targets; j++)
      out[(ptrdiff_t)i * stride + (ptrdiff_t)j] = own->values[j];
    disturb_numbers("mean.decide", out + (ptrdiff_t)i * stride, own->targets);
  }
  return SCL_STATUS_OK;
}

static scl_status mean_save(const void *self, const void *model, scl_archive *archive,
                            scl_error *error) {
  const mean_model *own = model;
  scl_array array = {
      .data = own->values, .dtype = SCL_DTYPE_FLOAT64, .rank = 1, .sizes = {own->targets}};
  CHECK_VIEW(host_of(self), archive, error);
  UPSET(host_of(self), "mean.save", error);
  disturb("mean.save", "scl_array", &array);
  char name[200];
  scl_status status =
      archive->put(archive, disturbed_text("mean.save", "values", name), &array, error);
  if (disturbed("mean.save", 1) == 2) TRY(archive->put(archive, "values", &array, error));
  return status;
}

static scl_status mean_load(const void *self, const scl_archive *archive, size_t features,
                            size_t targets, void **out, scl_error *error) {
  const scl_host *host = host_of(self);
  scl_array array;
  mean_model *model;
  (void)features;
  CHECK_VIEW(host, archive, error);
  UPSET(host, "mean.load", error);
  scl_status status =
      archive->get(archive, "values", SCL_DTYPE_FLOAT64, 1, &targets, &array, error);
  TRY(new_model(host, targets, &model, error));
  if (status != SCL_STATUS_OK) return status;
  memcpy(model->values, array.data, targets * sizeof(double));
  if (disturbed("mean.loaded", 1) == 0)
    host->release(model);
  else
    *out = model;
  return SCL_STATUS_OK;
}

static void mean_destroy(const void *self, void *model) {
  (void)upset(host_of(self), "mean.destroy", NULL);
  host_of(self)->release(model);
}

static const scl_option mean_options[] = {SCL_NUMBER(
    mean, shrink, "0", "how far towards 0", SCL_WITHIN(0, 1), .role = SCL_ROLE_REGULARISATION)};

SPECIMEN(mean, "a solver that makes models", SCL_SOLVER(.solve = NULL),
         SCL_INSTANCE(mean, mean_options),
         SCL_ABILITIES(SCL_OFFER(SCL_ABILITY_MODEL_PATH, scl_ability_model_path, .option = "shrink",
                                 .fit = mean_path),
                       SCL_OFFER(SCL_ABILITY_MODEL, scl_ability_model, .fit = mean_fit,
                                 .decide = mean_decide, .save = mean_save, .load = mean_load,
                                 .destroy = mean_destroy)));
