/* Ridge regression by conjugate gradients (Hestenes and Stiefel 1952):
 *
 *   minimise   F(a, b) = (1/N) sum_i w_i ||y_i - a'phi_i - b||^2 + lambda ||a||^2
 *
 * over a (D x c) and the intercept b (c numbers, 0 where none is wanted); phi_i are the D features
 * of row i, y_i its c targets, w_i its weight, N the sum of the weights. With rows that are centred
 * where there is an intercept, a solves
 *
 *   A a = r,   A = Phi'W Phi/N + lambda I,   r = Phi'W y/N
 *
 * Every target has steps of its own, as if solved alone. The residual is ||r - A a||/||r||, the
 * worst over targets. */
#include <scullery/plugin.h>
#include <stdio.h>

typedef struct conjugate {
  scl_base base; /* what the host offers, and the options as they came */
  double lambda, tolerance;
  size_t max_iterations;
} conjugate;

/* The roles tell the host what options are for: lambda to the rule of one standard error, and
 * whether a constant is wanted. */
static const scl_option options[] = {
    SCL_NUMBER(conjugate, lambda, "1e-6", "regularisation of the mean loss", SCL_NOT_NEGATIVE,
               .role = SCL_ROLE_REGULARISATION),
    SCL_NUMBER(conjugate, tolerance, "1e-8", "norm of the residual relative to the right-hand side",
               SCL_BETWEEN(0, 1)),
    SCL_INTEGER(conjugate, max_iterations, "1000", "products with A at most", SCL_WITHIN(1, 1e9)),
    {.name = "intercept",
     .help = "fit an unpenalised constant; auto: yes",
     .words = "auto",
     .fallback = "auto",
     .forms = SCL_FORM_BOOLEAN | SCL_FORM_WORD,
     .role = SCL_ROLE_INTERCEPT}};

/* One solve. D x c numbers each: residual, direction, image (A direction). c each: square (of the
 * residual's norm), size (||r||). */
typedef struct work {
  const conjugate *self;
  const scl_problem *problem;
  scl_normal normal;
  double *residual, *direction, *image, *square, *size;
} work;

static double column_dot(const work *w, const double *x, const double *y, size_t j) {
  const size_t c = w->problem->targets;
  double sum = 0;
  for (size_t i = j; i < w->problem->features * c; i += c)
    sum += x[i] * y[i];
  return sum;
}

/* out = A x */
static scl_status multiply(const work *w, const double *x, double *out, scl_error *error) {
  const scl_problem *problem = w->problem;
  const scl_status status =
      problem->host->symmetric->multiply(w->normal.moment, x, problem->targets, out, error);
  for (size_t i = 0; status == SCL_STATUS_OK && i < problem->features * problem->targets; i++)
    out[i] = out[i] / w->normal.total + w->self->lambda * x[i];
  return status;
}

/* The worst ||residual||/||r|| over targets; NaN where one is. */
static double worst_residual(const work *w) {
  double worst = 0;
  for (size_t j = 0; j < w->problem->targets; j++) {
    const double own = sqrt(w->square[j]) / (w->size[j] > 0 ? w->size[j] : 1);
    if (!(own <= worst)) worst = own;
  }
  return worst;
}

/* residual = r - A a, from a itself; the direction begins anew. */
static scl_status restart(work *w, const double *a, scl_error *error) {
  const size_t c = w->problem->targets, count = w->problem->features * c;
  const scl_status status = multiply(w, a, w->image, error);
  if (status != SCL_STATUS_OK) return status;
  for (size_t i = 0; i < count; i++)
    w->residual[i] = w->normal.right[i] / w->normal.total - w->image[i];
  memcpy(w->direction, w->residual, count * sizeof *w->direction);
  for (size_t j = 0; j < c; j++)
    w->square[j] = column_dot(w, w->residual, w->residual, j);
  return SCL_STATUS_OK;
}

/* a += step direction, residual -= step A direction, and the next direction, for each target. */
static scl_status advance(work *w, double *a, scl_error *error) {
  const size_t c = w->problem->targets, count = w->problem->features * c;
  const scl_status status = multiply(w, w->direction, w->image, error);
  for (size_t j = 0; status == SCL_STATUS_OK && j < c; j++) {
    const double before = w->square[j], bend = column_dot(w, w->direction, w->image, j);
    if (!(bend > 0)) continue; /* solved to the last bit */
    for (size_t i = j; i < count; i += c) {
      a[i] += before / bend * w->direction[i];
      w->residual[i] -= before / bend * w->image[i];
    }
    w->square[j] = column_dot(w, w->residual, w->residual, j);
    for (size_t i = j; i < count; i += c)
      w->direction[i] = w->residual[i] + w->square[j] / before * w->direction[i];
  }
  return status;
}

/* Iterations without a smaller residual, after which only rounding is left. */
enum { PATIENCE = 100 };

/* From the coefficients that come, zeros or a point to start from. The residual that `advance`
 * keeps up drifts by rounding: the one that is computed anew decides. */
static scl_status iterate(work *w, scl_solution *out, scl_error *error) {
  const scl_problem *problem = w->problem;
  const size_t most = w->self->max_iterations;
  scl_status status = restart(w, out->coefficients, error);
  double worst = worst_residual(w), best = INFINITY;
  size_t best_at = 0;
  out->iterations = 0;
  while (status == SCL_STATUS_OK && worst > w->self->tolerance && out->iterations < most &&
         out->iterations < best_at + PATIENCE) {
    out->iterations++;
    status = advance(w, out->coefficients, error);
    if (status == SCL_STATUS_OK && !(worst_residual(w) > w->self->tolerance))
      status = restart(w, out->coefficients, error);
    worst = worst_residual(w);
    if (worst < best) {
      best = worst;
      best_at = out->iterations;
    }
    if (status == SCL_STATUS_OK)
      status = problem->progress(problem, "conjugate gradients",
                                 (double)out->iterations / (double)most, NAN, error);
  }
  return status == SCL_STATUS_OK ? restart(w, out->coefficients, error) : status;
}

/* The honest account: "converged" only where the residual is within the tolerance. */
static scl_status account(const work *w, scl_solution *out, scl_error *error) {
  out->residual = worst_residual(w);
  out->tolerance = w->self->tolerance;
  if (!isfinite(out->residual))
    return w->problem->host->fail(
        error, SCL_STATUS_BAD_DATA,
        "products of the features, targets and weights are not finite: scale the data");
  out->outcome = out->residual <= out->tolerance ? SCL_OUTCOME_CONVERGED : SCL_OUTCOME_LIMIT;
  if (out->outcome == SCL_OUTCOME_LIMIT)
    (void)snprintf(out->note, sizeof out->note,
                   "the residual is %.1e of the right-hand side, %.1e was wanted: %s",
                   out->residual, out->tolerance,
                   out->iterations < w->self->max_iterations
                       ? "rounding allows no smaller one: give a larger lambda or tolerance"
                       : "give more max_iterations, or a larger lambda or tolerance");
  return SCL_STATUS_OK;
}

static scl_status run(work *w, scl_solution *out, scl_error *error) {
  const scl_problem *problem = w->problem;
  const size_t c = problem->targets;
  scl_status status = problem->normal(problem, &w->normal, error); /* one pass over the rows */
  if (status != SCL_STATUS_OK) return status;
  if (!(w->normal.total > 0))
    return problem->host->fail(error, SCL_STATUS_BAD_DATA, "all row weights are 0");
  for (size_t j = 0; j < c; j++)
    w->size[j] = sqrt(column_dot(w, w->normal.right, w->normal.right, j)) / w->normal.total;
  status = iterate(w, out, error);
  return status == SCL_STATUS_OK ? account(w, out, error) : status;
}

/* The intercept stays NaN: the host then computes mean y - mean phi a. */
static scl_status solve(const void *instance, const scl_problem *problem, scl_solution *out,
                        scl_error *error) {
  const scl_host *host = problem->host;
  const size_t c = problem->targets, count = problem->features * c;
  double *memory = host->allocate((3 * count + 2 * c) * sizeof *memory);
  if (memory == NULL)
    return host->fail(error, SCL_STATUS_NO_MEMORY, "not enough memory for %zu coefficients", count);
  work w = {.self = instance,
            .problem = problem,
            .normal = {.head = SCL_HEAD(scl_normal)},
            .residual = memory,
            .direction = memory + count,
            .image = memory + 2 * count,
            .square = memory + 3 * count,
            .size = memory + 3 * count + c};
  const scl_status status = run(&w, out, error);
  host->release(memory);
  return status;
}

/* ------------------------------------------------------------ the objective, for checks */

typedef struct loss_sum {
  const scl_problem *problem;
  const double *coefficients, *intercept; /* NULL: none */
  double loss, total;
} loss_sum;

/* sum_i w_i ||y_i - a'phi_i - b||^2 over a block of rows */
static scl_status add_rows(void *context, const scl_rows *rows, scl_error *error) {
  loss_sum *sum = context;
  const size_t features = sum->problem->features, c = sum->problem->targets;
  (void)error;
  for (size_t i = 0; i < rows->count; i++) {
    const double *phi =
        (const double *)rows->features.data + (ptrdiff_t)i * rows->features.row_stride;
    const double weight = rows->weights == NULL ? 1 : rows->weights[i];
    for (size_t j = 0; j < c; j++) {
      double gap = rows->targets[i * c + j] - (sum->intercept == NULL ? 0 : sum->intercept[j]);
      for (size_t t = 0; t < features; t++)
        gap -= phi[t] * sum->coefficients[t * c + j];
      sum->loss += weight * gap * gap;
    }
    sum->total += weight;
  }
  return SCL_STATUS_OK;
}

static scl_status objective(const void *instance, const scl_problem *problem,
                            const double *coefficients, const double *intercept, double *value,
                            scl_error *error) {
  const conjugate *self = instance;
  loss_sum sum = {.problem = problem, .coefficients = coefficients, .intercept = intercept};
  const scl_status status = problem->walk(problem, add_rows, &sum, error);
  double square = 0;
  for (size_t i = 0; i < problem->features * problem->targets; i++)
    square += coefficients[i] * coefficients[i];
  *value = sum.loss / sum.total + self->lambda * square;
  return status;
}

const scl_plugin scullery_plugin = {
    .name = "my_plugin",
    .summary = "Ridge regression by conjugate gradients on the normal equations",
    .doc = "Minimises (1/N) sum_i w_i ||y_i - a'phi_i - b||^2 + lambda ||a||^2, N the sum of the\n"
           "row weights w_i, by conjugate gradients on (Phi'W Phi/N + lambda I) a = Phi'W y/N\n"
           "(Hestenes and Stiefel 1952), in one pass over the rows. It ends when the residual is\n"
           "`tolerance` of the right-hand side for every target; info().residual is computed anew\n"
           "from the coefficients.",
    SCL_SOLVER(.solve = solve),
    SCL_INSTANCE(conjugate, options),
    SCL_ABILITIES(SCL_OFFER(SCL_ABILITY_OBJECTIVE, scl_ability_objective, .objective = objective)),
    .version = "0.1"};
