/* plugins/shared/refined_solve.c against Cholesky in quadruple precision: systems that are singular
 * or nearly so, several right-hand sides, columns of very different scales. */
#include "algebra/symmetric.h"
#include "expect.h"
#include "plugin/host.h"
#include "shared/refined_solve.h"

#include <stdio.h>
#include <stdlib.h>

#ifdef __SIZEOF_FLOAT128__
__extension__ typedef __float128 quad;
#else
typedef long double quad;
#endif

enum { N = 24, C = 3 };

/* A + weight I + diag(e) as numbers, and the right-hand sides. */
typedef struct example {
  double a[N][N], diagonal[N], right[N * C];
  double weight;
} example;

static double uniform(void) {
  static uint64_t state = 88172645463325252u;
  state ^= state << 13;
  state ^= state >> 7;
  state ^= state << 17;
  return (double)(state >> 11) / 4503599627370496.0 - 1;
}

/* Sums over 3 N rows, the last column the sum of the first two plus `apart` times noise; right-hand
 * sides of the same rows. */
static void fill(example *e, double apart) {
  double rows[3 * N][N], y[3 * N][C];
  memset(e, 0, sizeof *e);
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    for (size_t j = 0; j < N; j++)
      rows[i][j] = uniform();
    rows[i][N - 1] = rows[i][0] + rows[i][1] + apart * rows[i][N - 1];
    for (size_t j = 0; j < C; j++)
      y[i][j] = rows[i][j] + uniform();
  }
  for (size_t i = 0; i < N; i++) {
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
      for (size_t j = 0; j < N; j++)
        e->a[i][j] += rows[k][i] * rows[k][j];
      for (size_t j = 0; j < C; j++)
        e->right[i * C + j] += rows[k][i] * y[k][j];
    }
  }
}

/* root^2 = value, by Newton's method from double precision. */
static quad square_root(quad value) {
  quad root = (quad)sqrt((double)value);
  for (int i = 0; i < 3 && root > 0; i++)
    root = (root + value / root) / 2;
  return root;
}

/* a x = right by Cholesky. False where a is not positive definite. */
static bool solve_exactly(quad a[N][N], const quad right[N * C], quad x[N * C]) {
  quad l[N][N];
  for (size_t i = 0; i < N; i++)
    for (size_t j = 0; j <= i; j++) {
      quad sum = a[i][j];
      for (size_t k = 0; k < j; k++)
        sum -= l[i][k] * l[j][k];
      if (i == j && !(sum > 0)) return false;
      l[i][j] = i == j ? square_root(sum) : sum / l[j][j];
    }
  for (size_t c = 0; c < C; c++) {
    for (size_t i = 0; i < N; i++) {
      x[i * C + c] = right[i * C + c];
      for (size_t k = 0; k < i; k++)
        x[i * C + c] -= l[i][k] * x[k * C + c];
      x[i * C + c] /= l[i][i];
    }
    for (size_t i = N; i-- > 0;) {
      for (size_t k = i + 1; k < N; k++)
        x[i * C + c] -= l[k][i] * x[k * C + c];
      x[i * C + c] /= l[i][i];
    }
  }
  return true;
}

/* The system of an example with `jitter` (NULL: none) more on its diagonal. */
static void system_of(const example *e, const double *jitter, quad a[N][N]) {
  for (size_t i = 0; i < N; i++)
    for (size_t j = 0; j < N; j++)
      a[i][j] = (quad)e->a[i][j];
  for (size_t i = 0; i < N; i++)
    a[i][i] += (quad)e->weight + (quad)e->diagonal[i] + (quad)(jitter != NULL ? jitter[i] : 0);
}

/* x of that system. False where it is not positive definite. */
static bool reference(const example *e, const double *jitter, quad x[N * C]) {
  quad a[N][N], right[N * C];
  system_of(e, jitter, a);
  for (size_t i = 0; i < N * C; i++)
    right[i] = (quad)e->right[i];
  return solve_exactly(a, right, x);
}

/* sqrt(e'Ae / x'Ax), e = got - x, the largest of all columns: the error of predictions, as a share
 * of them. */
static double error_in(quad a[N][N], const double *got, const quad *x) {
  double most = 0;
  for (size_t c = 0; c < C; c++) {
    quad off = 0, all = 0;
    for (size_t i = 0; i < N; i++)
      for (size_t j = 0; j < N; j++) {
        off +=
            ((quad)got[i * C + c] - x[i * C + c]) * a[i][j] * ((quad)got[j * C + c] - x[j * C + c]);
        all += x[i * C + c] * a[i][j] * x[j * C + c];
      }
    most = fmax(most, sqrt(fmax((double)off, 0) / (double)all));
  }
  return most;
}

static double prediction_error(const example *e, const double *got, const quad *x) {
  quad a[N][N];
  system_of(e, NULL, a);
  return error_in(a, got, x);
}

static scl_symmetric *symmetric_of(const double *a) {
  scl_symmetric *out = NULL;
  scl_error error = {0};
  if (scl_service_symmetric.create(N, &out, &error) != SCL_STATUS_OK) abort();
  scl_service_symmetric.set(out, 0, N, 0, N, a, N);
  return out;
}

static scl_status run(const example *e, const scl_symmetric *extra, double least, double *x,
                      refined_account *account, scl_solution *out) {
  scl_symmetric *base = symmetric_of(e->a[0]);
  refined_system s = {.host = scl_host_get(),
                      .base = base,
                      .extra = extra,
                      .weight = e->weight,
                      .diagonal = e->diagonal,
                      .least = least,
                      .order = N,
                      .columns = C};
  scl_error error = {0};
  scl_status status = refined_open(&s, &error);
  if (status == SCL_STATUS_OK) status = refined_solve(&s, e->right, x, account, &error);
  if (status == SCL_STATUS_OK && out != NULL) refined_tell(&s, account, e->weight, out);
  refined_close(&s);
  scl_service_symmetric.destroy(base);
  return status;
}

static void test_regular_system_has_no_jitter(void) {
  example e;
  double x[N * C];
  quad wanted[N * C];
  refined_account account = {0};
  scl_solution out = {.head = SCL_HEAD(scl_solution)};
  fill(&e, 1);
  e.weight = 0.5;
  expect(run(&e, NULL, 0, x, &account, &out) == SCL_STATUS_OK, "it is solved", 0, 1);
  expect(reference(&e, NULL, wanted), "the reference factors", 0, 1);
  expect(account.factored == 0 && account.jitter == 0 && out.jitter == 0, "no jitter",
         account.factored, 0);
  expect(out.outcome == SCL_OUTCOME_CONVERGED && out.note[0] == '\0', "converged", out.residual, 0);
  expect(prediction_error(&e, x, wanted) < 1e-14, "the solution", prediction_error(&e, x, wanted),
         0);
}

/* The same system where the factor had far too much on its diagonal: conjugate gradients take it
 * away. */
static void test_jitter_is_refined_away(void) {
  for (int power = 0; power <= 5; power++) {
    example e;
    double x[N * C];
    quad wanted[N * C];
    scl_solution out = {.head = SCL_HEAD(scl_solution)};
    refined_account account = {.factored = 1e-3};
    fill(&e, pow(10, -power));
    expect(run(&e, NULL, 0, x, &account, &out) == SCL_STATUS_OK && reference(&e, NULL, wanted),
           "it is solved", power, power);
    expect(account.factored == 1e-3 && account.jitter == 0 && account.iterations > 1,
           "refined from a factor with jitter", account.jitter, 0);
    expect(out.outcome == SCL_OUTCOME_CONVERGED, "converged", out.residual, 1e-8);
    expect(prediction_error(&e, x, wanted) < 1e-6, "the asked solution",
           prediction_error(&e, x, wanted), 1e-6);
  }
}

/* From 1e-6 to below what a factorisation in double precision holds: never "converged" with another
 * solution. It is converged where the error is estimated to be below 1e-6; the norm of the residual
 * is taken with the factor as its matrix, jitter included, which may be too small by a half. */
static void test_nearly_singular_systems_are_judged_as_asked(void) {
  for (int power = 12; power <= 34; power++) {
    example e;
    double x[N * C];
    quad wanted[N * C];
    scl_solution out = {.head = SCL_HEAD(scl_solution)};
    refined_account account = {0};
    fill(&e, pow(10, -power / 4.0));
    if (!reference(&e, NULL, wanted)) continue; /* rounding of its entries made it indefinite */
    expect(run(&e, NULL, 0, x, &account, &out) == SCL_STATUS_OK, "it is solved", power, power);
    const double error = prediction_error(&e, x, wanted);
    expect(error < 2e-6 || out.outcome == SCL_OUTCOME_LIMIT, "converged to what was asked", error,
           2e-6);
    expect(power > 20 || out.outcome == SCL_OUTCOME_CONVERGED, "converged", out.residual, 1e-8);
  }
}

/* Equal columns, weight 0, a right-hand side that the rows give: any solution predicts the same. */
static void test_singular_and_consistent(void) {
  example e;
  double x[N * C], worst = 0;
  scl_solution out = {.head = SCL_HEAD(scl_solution)};
  refined_account account = {0};
  fill(&e, 0);
  for (size_t i = 0; i < N; i++) {
    e.a[N - 1][i] = e.a[i][N - 1] = e.a[0][i];
    for (size_t c = 0; c < C; c++)
      e.right[(N - 1) * C + c] = e.right[c];
  }
  e.a[N - 1][N - 1] = e.a[0][0];
  expect(run(&e, NULL, 0, x, &account, &out) == SCL_STATUS_OK, "it is solved", 0, 1);
  expect(account.factored > 0 && out.jitter == 0 && out.outcome == SCL_OUTCOME_CONVERGED,
         "factored with jitter, solved as asked", out.residual, 1e-8);
  for (size_t i = 0; i < N; i++)
    for (size_t c = 0; c < C; c++) {
      quad rest = (quad)e.right[i * C + c];
      for (size_t k = 0; k < N; k++)
        rest -= (quad)e.a[i][k] * (quad)x[k * C + c];
      worst = fmax(worst, fabs((double)rest));
    }
  expect(worst < 1e-7, "the residual in quadruple precision", worst, 0);
}

/* Equal columns with different right-hand sides have no solution: the account says what was solved
 * in its place, and that is what x is. */
static void test_inconsistent_system_says_what_it_solved(void) {
  example e;
  double x[N * C], jitter[N];
  quad wanted[N * C];
  scl_solution out = {.head = SCL_HEAD(scl_solution)};
  refined_account account = {0};
  memset(&e, 0, sizeof e);
  for (size_t i = 0; i < N; i++) { /* all units are 4 */
    e.a[i][i] = 4;
    jitter[i] = 0;
  }
  e.a[0][1] = e.a[1][0] = 4;
  for (size_t i = 0; i < N * C; i++)
    e.right[i] = uniform();
  expect(run(&e, NULL, 0, x, &account, &out) == SCL_STATUS_OK, "it is solved", 0, 1);
  expect(out.outcome == SCL_OUTCOME_LIMIT && out.jitter > 0, "it has jitter", out.jitter, 1);
  expect(strncmp(out.note, "regularised by ", 15) == 0 && strstr(out.note, ", asked ") != NULL,
         "the note", 0, 1);
  for (size_t i = 0; i < N; i++)
    jitter[i] = account.jitter;
  expect(reference(&e, jitter, wanted), "the reference factors", 0, 1);
  expect(prediction_error(&e, x, wanted) < 1e-3, "the solution with jitter",
         prediction_error(&e, x, wanted), 0);
}

/* x of S A S and S right is S^-1 times that of A, to the bit where S has powers of two. */
static void test_scales_of_columns_change_nothing(void) {
  for (int power = 0; power <= 8; power += 2) {
    example e, scaled;
    double x[N * C], y[N * C];
    refined_account first = {0}, second = {0};
    fill(&e, power == 8 ? 0 : pow(10, -power));
    scaled = e;
    for (size_t i = 0; i < N; i++) {
      const int s = (int)(i % 7) * 10 - 30;
      for (size_t j = 0; j < N; j++)
        scaled.a[i][j] = ldexp(e.a[i][j], s + (int)(j % 7) * 10 - 30);
      for (size_t c = 0; c < C; c++)
        scaled.right[i * C + c] = ldexp(e.right[i * C + c], s);
    }
    expect(run(&e, NULL, 0, x, &first, NULL) == SCL_STATUS_OK, "it is solved", 0, 1);
    expect(run(&scaled, NULL, 0, y, &second, NULL) == SCL_STATUS_OK, "it is solved", 0, 1);
    expect(first.factored == second.factored && first.residual == second.residual,
           "the same account", second.residual, first.residual);
    for (size_t i = 0; i < N * C; i++) {
      const double back = ldexp(y[i], (int)(i / C % 7) * 10 - 30);
      expect(back == x[i], "the same solution", back, x[i]);
    }
  }
}

/* A penalty that is a matrix, and numbers of its own on the diagonal. */
static void test_penalty_and_diagonal(void) {
  example e, all;
  double x[N * C], penalty[N][N];
  quad wanted[N * C];
  refined_account account = {0};
  fill(&e, 1e-9);
  all = e;
  e.weight = 0.25;
  for (size_t i = 0; i < N; i++)
    for (size_t j = 0; j < N; j++) {
      penalty[i][j] = i == j ? 2 : 1;
      all.a[i][j] += e.weight * penalty[i][j];
    }
  for (size_t i = 0; i < N; i++)
    e.diagonal[i] = all.diagonal[i] = (double)i;
  scl_symmetric *extra = symmetric_of(penalty[0]);
  expect(run(&e, extra, 0, x, &account, NULL) == SCL_STATUS_OK, "it is solved", 0, 1);
  expect(reference(&all, NULL, wanted), "the reference factors", 0, 1);
  expect(prediction_error(&all, x, wanted) < 1e-10, "the solution",
         prediction_error(&all, x, wanted), 0);
  scl_service_symmetric.destroy(extra);
}

/* Penalty P_ij = k(t_i, t_j), k(s, t) = 1/(1 + (s - t)^2), of N points t in [-1, 1]: its least
 * eigenvalues are below rounding. Rows are smooth functions of the points, as those of an RKHS
 * weighting are. `system` and `right`: in quadruple precision, before they are rounded. */
static void fill_rkhs(example *e, double weight, double penalty[N][N], quad system[N][N],
                      quad right[N * C]) {
  quad point[N], row[N];
  memset(e, 0, sizeof *e);
  memset(system, 0, N * sizeof *system);
  memset(right, 0, N * C * sizeof *right);
  e->weight = weight;
  for (size_t j = 0; j < N; j++)
    point[j] = (quad)uniform();
  for (size_t k = 0; k < 3 * N; k++) {
    const quad at = (quad)uniform();
    for (size_t j = 0; j < N; j++)
      row[j] = 1 / (1 + (at - point[j]) * (at - point[j]));
    for (size_t i = 0; i < N; i++) {
      for (size_t j = 0; j < N; j++)
        system[i][j] += row[i] * row[j];
      for (size_t c = 0; c < C; c++)
        right[i * C + c] += row[i] * (at * at * at + (quad)c * at);
    }
  }
  for (size_t i = 0; i < N; i++) {
    for (size_t c = 0; c < C; c++)
      e->right[i * C + c] = (double)right[i * C + c];
    for (size_t j = 0; j < N; j++) {
      const quad k = 1 / (1 + (point[i] - point[j]) * (point[i] - point[j]));
      e->a[i][j] = (double)system[i][j];
      penalty[i][j] = (double)k;
      system[i][j] += (quad)weight * k;
    }
  }
}

/* max_i |r_i|/s_i / (sum_j s_j |x_j| + |b_i|/s_i), s_i the root of the diagonal: x solves a system
 * whose entries i, j differ by this share of s_i s_j (Oettli and Prager 1964). */
static double backward_error(const example *e, double penalty[N][N], const double *x) {
  double most = 0;
  for (size_t c = 0; c < C; c++) {
    double size = 0;
    for (size_t j = 0; j < N; j++)
      size += sqrt(e->a[j][j] + e->weight * penalty[j][j]) * fabs(x[j * C + c]);
    for (size_t i = 0; i < N; i++) {
      const double root = sqrt(e->a[i][i] + e->weight * penalty[i][i]), b = e->right[i * C + c];
      quad rest = (quad)b;
      for (size_t j = 0; j < N; j++)
        rest -= ((quad)e->a[i][j] + (quad)e->weight * (quad)penalty[i][j]) * (quad)x[j * C + c];
      most = fmax(most, fabs((double)rest) / root / (size + fabs(b) / root));
    }
  }
  return most;
}

/* Each solution solves the system up to rounding of its entries, and yet predictions are off by up
 * to a percent: such a small residual is not "converged". */
static void test_rkhs_systems_are_judged_by_predictions(void) {
  size_t far = 0, near = 0;
  for (int power = -10; power <= 2; power++) {
    example e;
    double x[N * C], penalty[N][N];
    quad wanted[N * C], system[N][N], right[N * C];
    scl_solution out = {.head = SCL_HEAD(scl_solution)};
    refined_account account = {0};
    fill_rkhs(&e, pow(10, power), penalty, system, right);
    scl_symmetric *extra = symmetric_of(penalty[0]);
    expect(run(&e, extra, 0, x, &account, &out) == SCL_STATUS_OK, "it is solved", power, power);
    scl_service_symmetric.destroy(extra);
    expect(solve_exactly(system, right, wanted), "the reference factors", power, power);
    const double error = error_in(system, x, wanted), backward = backward_error(&e, penalty, x);
    expect(error <= 1e-4 || out.outcome == SCL_OUTCOME_LIMIT, "converged to what was asked", error,
           1e-4);
    far += backward < 1e-13 && error > 1e-4;
    near += out.outcome == SCL_OUTCOME_CONVERGED;
  }
  expect(far > 0, "systems whose backward error says nothing of predictions", (double)far, 1);
  expect(near > 0, "systems that converge", (double)near, 1);
}

/* A zero column has coefficient 0; a matrix that is far from positive is refused. */
static void test_zero_column_and_indefinite(void) {
  example e;
  double x[N * C];
  refined_account account = {0};
  fill(&e, 1);
  for (size_t i = 0; i < N; i++)
    e.a[2][i] = e.a[i][2] = 0;
  for (size_t c = 0; c < C; c++)
    e.right[2 * C + c] = 0;
  expect(run(&e, NULL, 0, x, &account, NULL) == SCL_STATUS_OK, "it is solved", 0, 1);
  expect(x[2 * C] == 0 && account.jitter == 0, "the coefficient of a zero column", x[2 * C], 0);
  e.a[3][3] = -e.a[3][3];
  account = (refined_account){0};
  expect(run(&e, NULL, 0, x, &account, NULL) == SCL_STATUS_NUMERIC, "an indefinite matrix", 0, 1);
}

int main(void) {
  test_regular_system_has_no_jitter();
  test_jitter_is_refined_away();
  test_nearly_singular_systems_are_judged_as_asked();
  test_singular_and_consistent();
  test_inconsistent_system_says_what_it_solved();
  test_scales_of_columns_change_nothing();
  test_penalty_and_diagonal();
  test_rkhs_systems_are_judged_by_predictions();
  test_zero_column_and_indefinite();
  if (failures == 0) (void)printf("refined_solve_test: all passed\n");
  return failures > 0;
}
