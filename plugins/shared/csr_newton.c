/* The regularised mean of a smooth loss (risk.h) on sparse rows, by Newton's method without a
 * matrix (Lin, Weng and Keerthi 2008): the step solves
 *
 *   H p = -g,   H p = X'(B (X p + 1 q')) + lambda p   (p D x c, and q c for the constants),
 *
 * B the second derivatives of the losses, by conjugate gradients, preconditioned by H's diagonal,
 * to a residual that is a share of g. A product with H reads the rows once. For the logistic loss
 * of several classes a row's B is w (diag(p) - p p') with its probabilities p; else the columns are
 * problems of their own, which share the passes. Scores are linear in x: a search along the step
 * takes no pass (risk_search). */
#include "shared/csr_newton.h"

/* ------------ value and gradient */

scl_status csr_newton_open(csr_newton *n, scl_error *error) {
  const risk *r = n->risk;
  const scl_problem *problem = r->problem;
  const scl_host *host = problem->host;
  double **const by_number[] = {&n->x,    &n->gradient, &n->step,   &n->rest,
                                &n->turn, &n->image,    &n->scaled, &n->diagonal};
  double **const by_score[] = {&n->scores, &n->change, &n->bends};
  const size_t numbers = sizeof by_number / sizeof *by_number,
               scores = sizeof by_score / sizeof *by_score;
  scl_status status = csr_read(problem, &n->rows, error);
  if (status != SCL_STATUS_OK) return status;
  double *at =
      host->scratch((numbers * r->size + scores * r->scores + 3 * r->columns) * sizeof *at);
  if (at == NULL)
    return host->fail(error, SCL_STATUS_NO_MEMORY, "not enough memory for %zu coefficients",
                      r->size);
  for (size_t k = 0; k < numbers; k++, at += r->size)
    *by_number[k] = at;
  for (size_t k = 0; k < scores; k++, at += r->scores)
    *by_score[k] = at;
  n->lengths = at;
  n->squares = n->lengths + r->columns;
  n->goals = n->squares + r->columns;
  memset(n->x, 0, r->size * sizeof *n->x);
  memset(n->scores, 0, r->scores * sizeof *n->scores);
  status = csr_sums_open(&n->sums, host, &n->rows, r->size, error);
  if (status == SCL_STATUS_OK) status = csr_newton_look(n, false, error);
  n->at_zero = n->norm;
  return status;
}

/* The c numbers for the constants in x, NULL without an intercept. */
static double *constants_of(const csr_newton *n, double *x) {
  return n->risk->intercept ? x + n->risk->problem->features * n->risk->columns : NULL;
}

/* Rows of a task. */
enum { NEWTON_TASK = 4096 };

typedef struct newton_job {
  const csr_newton *n;
  const double *x; /* NULL: the scores are known */
  double *scores;
  bool slopes;
} newton_job;

static scl_status newton_task(void *context, size_t task, scl_error *error) {
  const newton_job *job = context;
  const csr_newton *n = job->n;
  const size_t c = n->risk->columns, first = task * NEWTON_TASK,
               end = first + NEWTON_TASK < n->rows.rows ? first + NEWTON_TASK : n->rows.rows;
  const double *b =
      n->risk->intercept && job->x != NULL ? job->x + n->risk->problem->features * c : NULL;
  for (size_t i = first; i < end && job->x != NULL; i++) {
    csr_scores(&n->rows, i, job->x, c, job->scores + i * c);
    for (size_t j = 0; b != NULL && j < c; j++)
      job->scores[i * c + j] += b[j];
  }
  if (!job->slopes) return SCL_STATUS_OK;
  return risk_slopes(n->risk, first, end - first, job->scores + first * c, error);
}

/* scores = X x with its constants (x NULL: they are known), and with `slopes` the risk's slopes and
 * losses there. */
static scl_status newton_scores(const csr_newton *n, const double *x, double *scores, bool slopes,
                                scl_error *error) {
  const bool own = n->risk->rows == NULL; /* others may not run on several threads */
  newton_job job = {.n = n, .x = x, .scores = scores, .slopes = slopes && own};
  const scl_status status = n->risk->problem->host->parallel(
      (n->rows.rows + NEWTON_TASK - 1) / NEWTON_TASK, newton_task, &job, error);
  if (status != SCL_STATUS_OK || own || !slopes) return status;
  return risk_slopes(n->risk, 0, n->rows.rows, scores, error);
}

static void newton_adjoint_rows(const void *context, const scl_const_csr *x, size_t first,
                                size_t end, double *sums) {
  const risk *r = context;
  const size_t c = r->columns;
  for (size_t i = first; i < end; i++)
    csr_add_outer(x, i, r->slopes + i * c, c, sums);
}

scl_status csr_newton_slopes(csr_newton *n, double *sums, scl_error *error) {
  const scl_status status = newton_scores(n, NULL, n->scores, true, error);
  return status == SCL_STATUS_OK ? risk_sums(n->risk, &n->value, sums, error) : status;
}

scl_status csr_newton_look(csr_newton *n, bool pass, scl_error *error) {
  const risk *r = n->risk;
  const size_t count = r->problem->features * r->columns;
  double *sums = n->lengths;
  scl_status status = newton_scores(n, pass ? n->x : NULL, n->scores, true, error);
  if (status == SCL_STATUS_OK) status = risk_sums(r, &n->value, sums, error);
  if (status != SCL_STATUS_OK) return status;
  n->value += risk_penalty(r, n->x);
  status = csr_sums_make(&n->sums, newton_adjoint_rows, r, n->gradient, error);
  for (size_t k = 0; k < count; k++)
    n->gradient[k] += r->lambda * n->x[k];
  for (size_t j = 0; r->intercept && j < r->columns; j++)
    n->gradient[count + j] = sums[j];
  n->norm = sqrt(risk_dot(r->size, n->gradient, n->gradient));
  return status;
}

/* ------------ the Hessian */

/* The second derivative of one column of a loss. */
static double newton_curvature(const loss_choice *choice, double f, double y) {
  const loss_function *l = loss_of(choice);
  if (l->curvature != NULL) return l->curvature(f, y);
  const double unit = l->scaled ? choice->delta : 1, s = loss_shortfall(l, f, y) / l->bend;
  return s > l->low * unit && s < l->high * unit ? 1 / l->bend : 0;
}

static scl_status newton_bend_task(void *context, size_t task, scl_error *error) {
  const csr_newton *n = context;
  const risk *r = n->risk;
  const size_t c = r->columns, first = task * NEWTON_TASK,
               end = first + NEWTON_TASK < n->rows.rows ? first + NEWTON_TASK : n->rows.rows;
  (void)error;
  for (size_t i = first; i < end; i++) {
    const double *f = n->scores + i * c, *y = r->targets + i * c;
    double *bends = n->bends + i * c;
    if (n->joint)
      loss_of(r->choice)->joint_probabilities(c, f, bends);
    else
      for (size_t j = 0; j < c; j++)
        bends[j] = r->weights[i] / r->total * newton_curvature(r->choice, f[j], y[j]);
  }
  return SCL_STATUS_OK;
}

scl_status csr_newton_bends(csr_newton *n, scl_error *error) {
  if (n->bend != NULL) return n->bend(n, n->context, n->bends, error);
  return n->risk->problem->host->parallel((n->rows.rows + NEWTON_TASK - 1) / NEWTON_TASK,
                                          newton_bend_task, n, error);
}

/* t (c) = B_i z */
static void newton_bend_row(const csr_newton *n, size_t i, double *z) {
  const size_t c = n->risk->columns;
  const double *bends = n->bends + i * c;
  double mean = 0;
  for (size_t j = 0; n->joint && j < c; j++)
    mean += bends[j] * z[j];
  const double share = n->joint ? n->risk->weights[i] / n->risk->total : 1;
  for (size_t j = 0; j < c; j++)
    z[j] = share * bends[j] * (z[j] - mean);
}

typedef struct newton_product {
  const csr_newton *n;
  const double *p;
} newton_product;

/* Adds X'(B X p) of rows first .. end-1. */
static void newton_product_rows(const void *context, const scl_const_csr *x, size_t first,
                                size_t end, double *sums) {
  enum { MOST = 512 };
  const newton_product *job = context;
  const csr_newton *n = job->n;
  const size_t c = n->risk->columns;
  const double *q = constants_of(n, (double *)job->p);
  double *by_constant = constants_of(n, sums), few[MOST], *z = c <= MOST ? few : NULL;
  if (z == NULL) z = n->risk->problem->host->scratch(c * sizeof *z);
  for (size_t i = first; i < end && z != NULL; i++) {
    if (c == 1 && n->bends[i] == 0) continue;
    csr_scores(x, i, job->p, c, z);
    for (size_t j = 0; q != NULL && j < c; j++)
      z[j] += q[j];
    newton_bend_row(n, i, z);
    csr_add_outer(x, i, z, c, sums);
    for (size_t j = 0; by_constant != NULL && j < c; j++)
      by_constant[j] += z[j];
  }
}

scl_status csr_newton_multiply(csr_newton *n, const double *p, scl_error *error) {
  const risk *r = n->risk;
  const newton_product job = {.n = n, .p = p};
  const scl_status status = csr_sums_make(&n->sums, newton_product_rows, &job, n->image, error);
  for (size_t k = 0; k < r->problem->features * r->columns; k++)
    n->image[k] += r->lambda * p[k];
  n->products++;
  return status;
}

static void newton_diagonal_rows(const void *context, const scl_const_csr *x, size_t first,
                                 size_t end, double *sums) {
  const csr_newton *n = context;
  const size_t c = n->risk->columns, d = n->risk->problem->features;
  for (size_t i = first; i < end; i++) {
    if (c == 1 && n->bends[i] == 0) continue;
    const double *bends = n->bends + i * c,
                 share = n->joint ? n->risk->weights[i] / n->risk->total : 1;
    for (size_t j = 0; j < c; j++) {
      const double bend = share * bends[j] * (n->joint ? 1 - bends[j] : 1);
      for (int64_t k = x->starts[i]; k < x->starts[i + 1]; k++)
        sums[(size_t)x->columns[k] * c + j] += bend * scl_csr_number(x, k) * scl_csr_number(x, k);
      if (n->risk->intercept) sums[d * c + j] += bend;
    }
  }
}

/* n->diagonal = that of H, at least a little: entries of columns without rows are 0. */
static scl_status newton_diagonal(csr_newton *n, scl_error *error) {
  const risk *r = n->risk;
  const scl_status status = csr_sums_make(&n->sums, newton_diagonal_rows, n, n->diagonal, error);
  for (size_t k = 0; k < r->size; k++) {
    if (k < r->problem->features * r->columns) n->diagonal[k] += r->lambda;
    if (!(n->diagonal[k] > 0)) n->diagonal[k] = 1;
  }
  return status;
}

/* ------------ a step */

/* The sums of x y over the entries of each column; with joint columns the same sum in all. */
static void newton_dots(const csr_newton *n, const double *x, const double *y, double *dots) {
  const size_t c = n->risk->columns, rows = n->risk->size / c;
  double all = 0;
  memset(dots, 0, c * sizeof *dots);
  for (size_t k = 0; k < rows; k++)
    for (size_t j = 0; j < c; j++)
      dots[j] += x[k * c + j] * y[k * c + j];
  for (size_t j = 0; j < c; j++)
    all += dots[j];
  for (size_t j = 0; n->joint && j < c; j++)
    dots[j] = all;
}

/* x += lengths y, by columns */
static void newton_add(const csr_newton *n, const double *lengths, const double *y, double *x) {
  const size_t c = n->risk->columns, rows = n->risk->size / c;
  for (size_t k = 0; k < rows; k++)
    for (size_t j = 0; j < c; j++)
      x[k * c + j] += lengths[j] * y[k * c + j];
}

/* One step of conjugate gradients in each column whose residual is above its goal; *open = false:
 * all are there, or the residual of all of them is at most `enough`, which is measured without the
 * preconditioner, as the gradient is. */
static scl_status newton_conjugate(csr_newton *n, double enough, bool *open, scl_error *error) {
  const size_t c = n->risk->columns, size = n->risk->size;
  double *const by = n->lengths;
  const scl_status status = csr_newton_multiply(n, n->turn, error);
  if (status != SCL_STATUS_OK) return status;
  newton_dots(n, n->turn, n->image, by);
  for (size_t j = 0; j < c; j++) /* by[j] <= 0: rounding */
    by[j] = n->squares[j] > n->goals[j] && by[j] > 0 ? n->squares[j] / by[j] : 0;
  newton_add(n, by, n->turn, n->step);
  for (size_t j = 0; j < c; j++)
    by[j] = -by[j];
  newton_add(n, by, n->image, n->rest);
  for (size_t k = 0; k < size; k++)
    n->scaled[k] = n->rest[k] / n->diagonal[k];
  newton_dots(n, n->rest, n->scaled, n->image);
  *open = false;
  for (size_t j = 0; j < c; j++) {
    const double before = n->squares[j];
    n->squares[j] = by[j] < 0 ? n->image[j] : 0;
    by[j] = before > 0 ? n->squares[j] / before : 0;
    *open = *open || n->squares[j] > n->goals[j];
  }
  for (size_t k = 0; k < size; k++)
    n->turn[k] = n->scaled[k] + by[k % c] * n->turn[k];
  *open = *open && sqrt(risk_dot(size, n->rest, n->rest)) > enough;
  return SCL_STATUS_OK;
}

/* n->step = about -H^-1 g, to a residual of `share` of g in the norm of the preconditioner, or of
 * `enough`. */
static scl_status newton_direct(csr_newton *n, double share, double enough, size_t most,
                                scl_error *error) {
  const size_t c = n->risk->columns, size = n->risk->size;
  bool open = true;
  memset(n->step, 0, size * sizeof *n->step);
  for (size_t k = 0; k < size; k++) {
    n->rest[k] = -n->gradient[k];
    n->turn[k] = n->scaled[k] = n->rest[k] / n->diagonal[k];
  }
  newton_dots(n, n->rest, n->scaled, n->squares);
  double largest = 0;
  for (size_t j = 0; j < c; j++)
    largest = fmax(largest, n->squares[j]);
  for (size_t j = 0; j < c; j++)
    n->goals[j] = share * share * largest / (double)(n->joint ? 1 : c);
  scl_status status = SCL_STATUS_OK;
  for (size_t k = 0; k < most && open && largest > 0 && status == SCL_STATUS_OK; k++)
    status = newton_conjugate(n, enough, &open, error);
  return status;
}

/* *moved: false where no length of the step lowers the value. */
static scl_status newton_move(csr_newton *n, bool *moved, scl_error *error) {
  const risk *r = n->risk;
  double t;
  scl_status status = newton_scores(n, n->step, n->change, false, error);
  if (status != SCL_STATUS_OK) return status;
  const risk_line line = risk_line_of(r, n->x, n->step, n->scores, n->change);
  status = risk_search(&line, 0.1, 1, &t, error);
  *moved = status == SCL_STATUS_OK && t > 0;
  if (!*moved) return status;
  for (size_t k = 0; k < r->size; k++)
    n->x[k] += t * n->step[k];
  for (size_t k = 0; k < r->scores; k++)
    n->scores[k] += t * n->change[k];
  return csr_newton_look(n, false, error);
}

/* The residual of a step: the smaller, the nearer the iteration is. From an extrapolated start, one
 * step that is exact enough for the goal is less work than two. */
static double newton_share(const csr_newton *n, double first, double goal) {
  const double norm = n->norm;
  if (n->quadratic) return fmin(0.25, goal / norm / 2);
  const double share = fmin(n->near ? 0.01 : 0.25, sqrt(norm / first));
  return fmax(share, fmin(0.25, (n->near ? 0.1 : 0.3) * goal / norm));
}

scl_status csr_newton_minimise(csr_newton *n, double goal, size_t most, size_t *iterations,
                               scl_error *error) {
  enum { LONGEST = 250 }; /* steps of conjugate gradients */
  const scl_problem *problem = n->risk->problem;
  const double first = n->norm;
  const size_t end = *iterations + most;
  bool moved = true, begins = true;
  while (n->norm > goal && moved && *iterations < end) {
    const size_t before = n->products;
    const double share = fmax(log(n->at_zero / n->norm) / log(n->at_zero / goal),
                              (double)*iterations / (double)end); /* of the way to the goal */
    scl_status status =
        problem->progress(problem, "solving", share, n->value - risk_penalty(n->risk, n->x), error);
    if (status == SCL_STATUS_OK) status = csr_newton_bends(n, error);
    if (status == SCL_STATUS_OK && (begins ? !n->near : !n->follows))
      status = newton_diagonal(n, error);
    begins = false;
    if (status == SCL_STATUS_OK)
      status = newton_direct(
          n, newton_share(n, first, goal), goal / 2,
          n->quadratic && end - *iterations < LONGEST ? end - *iterations : LONGEST, error);
    if (status == SCL_STATUS_OK) status = newton_move(n, &moved, error);
    if (status != SCL_STATUS_OK) return status;
    *iterations += n->quadratic ? n->products - before : 1;
  }
  return SCL_STATUS_OK;
}
