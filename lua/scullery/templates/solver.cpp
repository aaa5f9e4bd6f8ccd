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

#include <cmath>
#include <cstdio>

// Members that are left out of a table are zero, which means: none.
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"

namespace {

struct conjugate {
  scl_base base; // what the host offers, and the options as they came
  double lambda, tolerance;
  size_t max_iterations;
};

const conjugate &of(const void *instance) { return *static_cast<const conjugate *>(instance); }

// The roles tell the host what options are for: lambda to the rule of one standard error, and
// whether a constant is wanted.
const scl_option options[] = {
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

// Numbers in the host's memory, which go back at the end of the block; data is NULL where there is
// no memory.
struct buffer {
  const scl_host *host;
  double *data;
  buffer(const scl_host *from, size_t count)
      : host(from), data(static_cast<double *>(from->allocate(count * sizeof(double)))) {}
  ~buffer() { host->release(data); }
  buffer(const buffer &) = delete;
  buffer &operator=(const buffer &) = delete;
};

// One solve. D x c numbers each: residual, direction, image (A direction). c each: square (of the
// residual's norm), size (||r||).
struct work {
  const conjugate &self;
  const scl_problem *problem;
  double *residual, *direction, *image, *square, *size;
  scl_normal normal;

  size_t targets() const { return problem->targets; }
  size_t count() const { return problem->features * problem->targets; }

  double column_dot(const double *x, const double *y, size_t j) const {
    double sum = 0;
    for (size_t i = j; i < count(); i += targets())
      sum += x[i] * y[i];
    return sum;
  }

  // out = A x
  scl_status multiply(const double *x, double *out, scl_error *error) const {
    const scl_status status =
        problem->host->symmetric->multiply(normal.moment, x, targets(), out, error);
    for (size_t i = 0; status == SCL_STATUS_OK && i < count(); i++)
      out[i] = out[i] / normal.total + self.lambda * x[i];
    return status;
  }

  // The worst ||residual||/||r|| over targets; NaN where one is.
  double worst_residual() const {
    double worst = 0;
    for (size_t j = 0; j < targets(); j++) {
      const double own = std::sqrt(square[j]) / (size[j] > 0 ? size[j] : 1);
      if (!(own <= worst)) worst = own;
    }
    return worst;
  }

  // residual = r - A a, from a itself; the direction begins anew.
  scl_status restart(const double *a, scl_error *error) {
    const scl_status status = multiply(a, image, error);
    if (status != SCL_STATUS_OK) return status;
    for (size_t i = 0; i < count(); i++)
      direction[i] = residual[i] = normal.right[i] / normal.total - image[i];
    for (size_t j = 0; j < targets(); j++)
      square[j] = column_dot(residual, residual, j);
    return SCL_STATUS_OK;
  }

  // a += step direction, residual -= step A direction, and the next direction, for each target.
  scl_status advance(double *a, scl_error *error) {
    const scl_status status = multiply(direction, image, error);
    for (size_t j = 0; status == SCL_STATUS_OK && j < targets(); j++) {
      const double before = square[j], bend = column_dot(direction, image, j);
      if (!(bend > 0)) continue; // solved to the last bit
      for (size_t i = j; i < count(); i += targets()) {
        a[i] += before / bend * direction[i];
        residual[i] -= before / bend * image[i];
      }
      square[j] = column_dot(residual, residual, j);
      for (size_t i = j; i < count(); i += targets())
        direction[i] = residual[i] + square[j] / before * direction[i];
    }
    return status;
  }
};

// Iterations without a smaller residual, after which only rounding is left.
constexpr size_t patience = 100;

// From the coefficients that come, zeros or a point to start from. The residual that `advance`
// keeps up drifts by rounding: the one that is computed anew decides.
scl_status iterate(work &w, scl_solution *out, scl_error *error) {
  const scl_problem *problem = w.problem;
  const size_t most = w.self.max_iterations;
  scl_status status = w.restart(out->coefficients, error);
  double worst = w.worst_residual(), best = INFINITY;
  size_t best_at = 0;
  out->iterations = 0;
  while (status == SCL_STATUS_OK && worst > w.self.tolerance && out->iterations < most &&
         out->iterations < best_at + patience) {
    out->iterations++;
    status = w.advance(out->coefficients, error);
    if (status == SCL_STATUS_OK && !(w.worst_residual() > w.self.tolerance))
      status = w.restart(out->coefficients, error);
    worst = w.worst_residual();
    if (worst < best) {
      best = worst;
      best_at = out->iterations;
    }
    if (status == SCL_STATUS_OK)
      status = problem->progress(problem, "conjugate gradients",
                                 static_cast<double>(out->iterations) / static_cast<double>(most),
                                 NAN, error);
  }
  return status == SCL_STATUS_OK ? w.restart(out->coefficients, error) : status;
}

// The honest account: "converged" only where the residual is within the tolerance.
scl_status account(const work &w, scl_solution *out, scl_error *error) {
  out->residual = w.worst_residual();
  out->tolerance = w.self.tolerance;
  if (!std::isfinite(out->residual))
    return w.problem->host->fail(
        error, SCL_STATUS_BAD_DATA,
        "products of the features, targets and weights are not finite: scale the data");
  out->outcome = out->residual <= out->tolerance ? SCL_OUTCOME_CONVERGED : SCL_OUTCOME_LIMIT;
  if (out->outcome == SCL_OUTCOME_LIMIT)
    std::snprintf(out->note, sizeof out->note,
                  "the residual is %.1e of the right-hand side, %.1e was wanted: %s", out->residual,
                  out->tolerance,
                  out->iterations < w.self.max_iterations
                      ? "rounding allows no smaller one: give a larger lambda or tolerance"
                      : "give more max_iterations, or a larger lambda or tolerance");
  return SCL_STATUS_OK;
}

// The intercept stays NaN: the host then computes mean y - mean phi a. No exception may leave a
// slot.
scl_status solve(const void *instance, const scl_problem *problem, scl_solution *out,
                 scl_error *error) {
  const scl_host *host = problem->host;
  const size_t c = problem->targets, count = problem->features * c;
  const buffer memory(host, 3 * count + 2 * c);
  double *const m = memory.data;
  if (m == nullptr)
    return host->fail(error, SCL_STATUS_NO_MEMORY, "not enough memory for %zu coefficients", count);
  work w = {of(instance),
            problem,
            m,
            m + count,
            m + 2 * count,
            m + 3 * count,
            m + 3 * count + c,
            {.head = SCL_HEAD(scl_normal)}};
  scl_status status = problem->normal(problem, &w.normal, error); // one pass over the rows
  if (status != SCL_STATUS_OK) return status;
  if (!(w.normal.total > 0)) return host->fail(error, SCL_STATUS_BAD_DATA, "all row weights are 0");
  for (size_t j = 0; j < c; j++)
    w.size[j] = std::sqrt(w.column_dot(w.normal.right, w.normal.right, j)) / w.normal.total;
  status = iterate(w, out, error);
  return status == SCL_STATUS_OK ? account(w, out, error) : status;
}

// ------------------------------------------------------------ the objective, for checks

struct loss_sum {
  const scl_problem *problem;
  const double *coefficients, *intercept; // NULL: none
  double loss, total;
};

// sum_i w_i ||y_i - a'phi_i - b||^2 over a block of rows
scl_status add_rows(void *context, const scl_rows *rows, scl_error *) {
  loss_sum &sum = *static_cast<loss_sum *>(context);
  const size_t features = sum.problem->features, c = sum.problem->targets;
  for (size_t i = 0; i < rows->count; i++) {
    const double *phi = static_cast<const double *>(rows->features.data) +
                        static_cast<ptrdiff_t>(i) * rows->features.row_stride;
    const double weight = rows->weights == nullptr ? 1 : rows->weights[i];
    for (size_t j = 0; j < c; j++) {
      double gap = rows->targets[i * c + j] - (sum.intercept == nullptr ? 0 : sum.intercept[j]);
      for (size_t t = 0; t < features; t++)
        gap -= phi[t] * sum.coefficients[t * c + j];
      sum.loss += weight * gap * gap;
    }
    sum.total += weight;
  }
  return SCL_STATUS_OK;
}

scl_status objective(const void *instance, const scl_problem *problem, const double *coefficients,
                     const double *intercept, double *value, scl_error *error) {
  loss_sum sum = {problem, coefficients, intercept, 0, 0};
  const scl_status status = problem->walk(problem, add_rows, &sum, error);
  double square = 0;
  for (size_t i = 0; i < problem->features * problem->targets; i++)
    square += coefficients[i] * coefficients[i];
  *value = sum.loss / sum.total + of(instance).lambda * square;
  return status;
}

// ------------------------------------------------------------ what the host is told

const scl_solver table = {.head = SCL_HEAD(scl_solver), .kind = SCL_KIND_SOLVER, .solve = solve};

const scl_ability_objective value = {.head = SCL_HEAD(scl_ability_objective),
                                     .objective = objective};

const scl_ability abilities[] = {{SCL_ABILITY_OBJECTIVE, &value}, {nullptr, nullptr}};

} // namespace

const scl_plugin scullery_plugin = {
    .head = SCL_HEAD(scl_plugin),
    .kind = SCL_KIND_SOLVER,
    .name = "my_plugin",
    .summary = "Ridge regression by conjugate gradients on the normal equations",
    .doc = "Minimises (1/N) sum_i w_i ||y_i - a'phi_i - b||^2 + lambda ||a||^2, N the sum of the\n"
           "row weights w_i, by conjugate gradients on (Phi'W Phi/N + lambda I) a = Phi'W y/N\n"
           "(Hestenes and Stiefel 1952), in one pass over the rows. It ends when the residual is\n"
           "`tolerance` of the right-hand side for every target; info().residual is computed anew\n"
           "from the coefficients.",
    .vtable = &table,
    SCL_INSTANCE(conjugate, options),
    .abilities = abilities,
    .version = "0.1"};
