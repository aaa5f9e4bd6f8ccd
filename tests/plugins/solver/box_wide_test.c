/* plugins/solver/box/wide.c: Newton's step of box by an n x n system solves the D x D one. Rows that
 * are held some at a time give the step of all at once, and the same bits whatever the blocks in which
 * they come. */
#include "expect.h"
#include "plugin/call.h"
#include "plugin/host.h"
#include "solver/box/box.h"

#include <stdio.h>

enum { N = 300, D = 700 };

static double phi[N][D];
static size_t block; /* rows that a walk shows at a time */

static double uniform(void) {
  static uint64_t state = 88172645463325252u;
  state ^= state << 13;
  state ^= state >> 7;
  state ^= state << 17;
  return (double)(state >> 11) / 4503599627370496.0 - 1;
}

static scl_status walk(const scl_problem *problem, scl_visit visit, void *context,
                       scl_error *error) {
  (void)problem;
  for (size_t i = 0; i < N; i += block) {
    const scl_rows rows = {.head = SCL_HEAD(scl_rows),
                           .first = i,
                           .count = N - i < block ? N - i : block,
                           .features = {.dtype = SCL_DTYPE_FLOAT64,
                                        .data = phi[i],
                                        .rows = N - i < block ? N - i : block,
                                        .cols = D,
                                        .row_stride = D}};
    const scl_status status = visit(context, &rows, error);
    if (status != SCL_STATUS_OK) return status;
  }
  return SCL_STATUS_OK;
}

static scl_status product(const scl_problem *problem, const double *a, size_t k, double *out,
                          scl_error *error) {
  (void)problem, (void)k, (void)error;
  for (size_t i = 0; i < N; i++) {
    out[i] = 0;
    for (size_t j = 0; j < D; j++)
      out[i] += phi[i][j] * a[j];
  }
  return SCL_STATUS_OK;
}

static scl_status adjoint(const scl_problem *problem, const double *r, size_t k, double *out,
                          scl_error *error) {
  (void)problem, (void)k, (void)error;
  for (size_t j = 0; j < D; j++) {
    out[j] = 0;
    for (size_t i = 0; i < N; i++)
      out[j] += phi[i][j] * r[i];
  }
  return SCL_STATUS_OK;
}

static scl_problem problem_of(bool intercept) {
  return (scl_problem){.head = SCL_HEAD(scl_problem),
                       .host = scl_host_get(),
                       .rows = N,
                       .features = D,
                       .targets = 1,
                       .dtype = SCL_DTYPE_FLOAT64,
                       .intercept = intercept,
                       .walk = walk,
                       .product = product,
                       .adjoint = adjoint};
}

/* A barrier of ten decades, curvatures of six, some rows without, and right-hand sides. */
typedef struct example {
  double a[D], upper[D], lower[D], step[D], side[D], change[N], weights[N];
  double pull, by;
  interior_box box;
} example;

static void fill(example *e) {
  for (size_t j = 0; j < D; j++) {
    e->a[j] = 0.9 * uniform();
    e->upper[j] = pow(10, 3 * uniform() - 2);
    e->lower[j] = pow(10, 3 * uniform() - 2);
    e->side[j] = e->step[j] = uniform();
  }
  for (size_t i = 0; i < N; i++) {
    for (size_t j = 0; j < D; j++)
      phi[i][j] = 1 + uniform();
    e->weights[i] = i % 7 == 0 ? 0 : pow(10, 3 * uniform());
  }
  e->pull = 0.3;
  e->by = 0;
  e->box = (interior_box){.host = scl_host_get(),
                          .order = D,
                          .bound = 1,
                          .a = e->a,
                          .upper = e->upper,
                          .lower = e->lower,
                          .step = e->step};
}

static void run(example *e, bool intercept, size_t bytes) {
  const scl_problem problem = problem_of(intercept);
  box_wide wide;
  scl_error error = {0};
  scl_status status = box_wide_open(&wide, &problem, bytes, &error);
  if (status == SCL_STATUS_OK) status = box_wide_factor(&wide, &e->box, e->weights, &error);
  if (status == SCL_STATUS_OK)
    status = box_wide_direct(&wide, &e->box, e->pull, &e->by, e->change, &error);
  expect(status == SCL_STATUS_OK, error.message, (double)status, SCL_STATUS_OK);
  box_wide_close(&wide);
}

/* What is left of both equations, relative to their right-hand sides. */
static void test_the_step_solves_the_system(void) {
  for (int intercept = 0; intercept < 2; intercept++) {
    static example e;
    double worst = 0, sum = 0;
    fill(&e);
    block = N;
    run(&e, intercept, (size_t)1 << 30);
    for (size_t i = 0; i < N; i++) {
      double f = e.by;
      for (size_t j = 0; j < D; j++)
        f += phi[i][j] * e.step[j];
      expect(fabs(f - e.change[i]) < 1e-11, "what the step does to a score", e.change[i], f);
      sum += e.weights[i] * f;
    }
    for (size_t j = 0; j < D; j++) {
      double left = e.side[j] - interior_box_barrier(&e.box, j) * e.step[j];
      for (size_t i = 0; i < N; i++)
        left -= phi[i][j] * e.weights[i] * e.change[i];
      worst = fmax(worst, fabs(left));
    }
    expect(worst < 1e-7, "the coefficients' equation", worst, 0);
    if (intercept) expect(fabs(sum - e.pull) < 1e-7, "the constant's equation", sum, e.pull);
    if (!intercept) expect(e.by == 0, "no constant", e.by, 0);
  }
}

static void test_blocks_of_any_size_give_the_same_bits(void) {
  static example all, part;
  static double first[D];
  double apart = 0, largest = 0;
  fill(&all);
  part = all;
  part.box.a = part.a;
  part.box.upper = part.upper;
  part.box.lower = part.lower;
  part.box.step = part.step;
  block = N;
  run(&all, true, (size_t)1 << 30);
  for (size_t size = 1; size <= 200; size = 3 * size + 2) {
    block = size;
    memcpy(part.step, part.side, sizeof part.step);
    run(&part, true, 1); /* as few rows as may be */
    if (size == 1) memcpy(first, part.step, sizeof first);
    expect(memcmp(first, part.step, sizeof first) == 0, "bits of the step, blocks of", (double)size,
           1);
  }
  for (size_t j = 0; j < D; j++) {
    apart = fmax(apart, fabs(first[j] - all.step[j]));
    largest = fmax(largest, fabs(all.step[j]));
  }
  expect(apart < 1e-10 * largest, "rows some at a time", apart, 0);
}

/* Within a call, whose memory the parts of a plugin take. */
int main(void) {
  const scl_component component = {0};
  scl_call call;
  scl_call_enter(&call, &component, "solve", NULL);
  test_the_step_solves_the_system();
  test_blocks_of_any_size_give_the_same_bits();
  scl_call_drop(&call);
  if (failures == 0) (void)printf("box_wide_test: all passed\n");
  return failures > 0;
}
