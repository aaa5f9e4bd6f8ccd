/* Ridge regression by conjugate gradients (Hestenes and Stiefel 1952):
 *
 *   minimise   F(a, b) = (1/N) sum_i w_i ||y_i - a'phi_i - b||^2 + lambda ||a||^2
 *
 * over a (D x c) and the intercept b; phi_i are the D features of row i, y_i its c targets, w_i its
 * weight, N the sum of the weights. With rows centred where there is an intercept, each target has
 *
 *   A a = r,   A = Phi'W Phi/N + lambda I,   r = Phi'W y/N        (residual: ||r - A a||/||r||) */
#include <scullery/plugin.hpp>

#include <cstdio>
#include <numeric>

namespace {
using numbers = std::vector<double>;

struct conjugate {
  scl_base base; // what the host offers, and the options as they came
  double lambda, tolerance;
  size_t max_iterations;
};

// Roles tell the host what options are for: regularisation, and whether a constant is wanted.
const scl_option options[] = {
    SCL_NUMBER(conjugate, lambda, "1e-6", "regularisation of the mean loss", SCL_NOT_NEGATIVE,
               .role = SCL_ROLE_REGULARISATION),
    SCL_NUMBER(conjugate, tolerance, "1e-8", "the residual that is wanted", SCL_BETWEEN(0, 1)),
    SCL_INTEGER(conjugate, max_iterations, "1000", "products with A at most", SCL_WITHIN(1, 1e9)),
    SCL_OPTION_INTERCEPT};

double dot(const numbers &x, const numbers &y) {
  return std::inner_product(x.begin(), x.end(), y.begin(), 0.0);
}

struct work {
  const conjugate &self;
  const scl_problem *problem;
  scl_normal normal;
  scl_error *error;
  size_t steps;

  // A x
  numbers multiply(const numbers &x) const {
    numbers out(x.size());
    scullery::need(
        problem->host->symmetric->multiply(normal.moment, x.data(), 1, out.data(), error));
    for (size_t i = 0; i < x.size(); i++)
      out[i] = out[i] / normal.total + self.lambda * x[i];
    return out;
  }

  // One target: a from 0; rest = r - A a and way, the next direction, are kept up. Returns the
  // residual, computed anew from a. Without progress for 100 steps, only rounding is left.
  double solve_target(const numbers &right, numbers &a) {
    numbers rest = right, way = right;
    const double size = dot(right, right), wanted = self.tolerance * self.tolerance * size;
    double square = size, least = size;
    for (size_t k = 0, best = 0; square > wanted && k < self.max_iterations && k < best + 100;
         k++, steps++) {
      const numbers image = multiply(way);
      const double step = square / dot(way, image), before = square;
      for (size_t i = 0; i < a.size(); i++) {
        a[i] += step * way[i];
        rest[i] -= step * image[i];
      }
      square = dot(rest, rest);
      for (size_t i = 0; i < a.size(); i++)
        way[i] = rest[i] + square / before * way[i];
      if (square < least) least = square, best = k;
      const double share = static_cast<double>(k) / static_cast<double>(self.max_iterations);
      scullery::need(problem->progress(problem, "conjugate gradients", share, square, error));
    }
    const numbers image = multiply(a);
    for (size_t i = 0; i < a.size(); i++)
      rest[i] = right[i] - image[i];
    return size > 0 ? std::sqrt(dot(rest, rest) / size) : 0;
  }
};

// The intercept stays NaN: the host computes mean y - mean phi a.
scl_status solve(const void *instance, const scl_problem *problem, scl_solution *out,
                 scl_error *error) {
  return scullery::guarded(problem->host, error, [&] {
    const conjugate &self = scullery::of<conjugate>(instance);
    const size_t d = problem->features, c = problem->targets;
    work w = {self, problem, {.head = SCL_HEAD(scl_normal)}, error, 0};
    scullery::need(problem->normal(problem, &w.normal, error)); // one pass over the rows
    for (size_t j = 0; j < c; j++) {
      numbers right(d), a(d);
      for (size_t i = 0; i < d; i++)
        right[i] = w.normal.right[i * c + j] / w.normal.total;
      const double left = w.solve_target(right, a);
      for (size_t i = 0; i < d; i++)
        out->coefficients[i * c + j] = a[i];
      if (!(left <= out->residual)) out->residual = left;
    }
    out->iterations = w.steps;
    out->tolerance = self.tolerance; // "converged" only where the residual is within it
    out->outcome = out->residual <= self.tolerance ? SCL_OUTCOME_CONVERGED : SCL_OUTCOME_LIMIT;
    if (out->outcome == SCL_OUTCOME_LIMIT)
      (void)std::snprintf(out->note, sizeof out->note, "the residual is %.1e, %.1e was wanted",
                          out->residual, out->tolerance);
    if (!std::isfinite(out->residual))
      scullery::need(problem->host->fail(error, SCL_STATUS_BAD_DATA,
                                         "sums over the rows are not finite, or 0"));
  });
}

} // namespace

const scl_plugin scullery_plugin = scullery::plugin(
    SCL_KIND_SOLVER, scl_solver{.solve = solve},
    {.name = "my_plugin",
     .summary = "Ridge regression by conjugate gradients on the normal equations",
     .doc = "Conjugate gradients (Hestenes and Stiefel 1952) on sums of one pass over the rows.",
     SCL_INSTANCE(conjugate, options),
     .version = "0.1",
     .definition = "objective(rows, a) = average(rows, function(r) return (r.f - r.y)^2 end)\n"
                   "  + lambda*dot(a, a)"});
