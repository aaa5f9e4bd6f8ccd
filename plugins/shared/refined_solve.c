#include "shared/refined_solve.h"

#include <float.h>
#include <math.h>
#include <stdio.h>

enum { REFINED_STEPS = 50, REFINED_ROUNDS = 2 };
/* The error that a round aims at, and the largest that is accepted: what rounding leaves of singular
 * systems is not much smaller. */
static const double REFINED_GOAL = 2.5e-7, REFINED_ERROR = 1e-6;

void refined_close(refined_system *s) {
  if (s->host == NULL) return;
  s->host->symmetric->destroy(s->factor);
  s->host->release(s->work);
  s->factor = NULL;
  s->work = NULL;
}

scl_status refined_open(refined_system *s, scl_error *error) {
  const size_t count = s->order * s->columns;
  const scl_symmetric_algebra *algebra = s->host->symmetric;
  const scl_status status = s->base != NULL && SCL_HAS(algebra, create_like)
                                ? algebra->create_like(s->base, &s->factor, error)
                                : algebra->create(s->order, &s->factor, error);
  if (status != SCL_STATUS_OK) return status;
  if (s->least == 0) s->least = 1e-12;
  if (s->tolerance == 0) s->tolerance = 1e-8;
  s->work = s->host->allocate((s->order + 6 * count + 5 * s->columns + 1) * sizeof *s->work);
  if (s->work == NULL) {
    refined_close(s);
    return s->host->fail(error, SCL_STATUS_NO_MEMORY, "not enough memory for %zu coefficients",
                         count);
  }
  double **const arrays[] = {&s->rest,        &s->direction, &s->image,
                             &s->conditioned, &s->spare,     &s->regularised};
  double **const numbers[] = {&s->size, &s->energy, &s->share, &s->worst, &s->error};
  s->unit = s->work;
  for (size_t i = 0; i < 6; i++)
    *arrays[i] = s->work + s->order + i * count;
  for (size_t i = 0; i < 5; i++)
    *numbers[i] = s->work + s->order + 6 * count + i * s->columns;
  return SCL_STATUS_OK;
}

/* ------------ the system */

/* out = (A + weight B + diag(e)) x */
static scl_status refined_multiply(const refined_system *s, const double *x, double *out,
                                   scl_error *error) {
  const scl_symmetric_algebra *algebra = s->host->symmetric;
  scl_status status = algebra->multiply(s->base, x, s->columns, out, error);
  if (status == SCL_STATUS_OK && s->extra != NULL)
    status = algebra->multiply(s->extra, x, s->columns, s->spare, error);
  const double *second = s->extra != NULL ? s->spare : x;
  for (size_t i = 0; status == SCL_STATUS_OK && i < s->order * s->columns; i++)
    out[i] +=
        s->weight * second[i] + (s->diagonal != NULL ? s->diagonal[i / s->columns] * x[i] : 0);
  return status;
}

/* rest = right - (A + weight B + diag(e)) x */
static scl_status refined_rest(const refined_system *s, const double *right, const double *x,
                               scl_error *error) {
  const scl_status status = refined_multiply(s, x, s->rest, error);
  for (size_t i = 0; i < s->order * s->columns; i++)
    s->rest[i] = right[i] - s->rest[i];
  return status;
}

void refined_largest(const refined_system *s, const double *v, double *out) {
  memset(out, 0, s->columns * sizeof *out);
  for (size_t i = 0; i < s->order; i++) {
    const double root = sqrt(s->unit[i]);
    for (size_t j = 0; j < s->columns; j++) {
      const double value = fabs(v[i * s->columns + j]) / root;
      if (!(value <= out[j])) out[j] = value;
    }
  }
}

/* Relative residual of each column: `rest` relative to right. Returns the largest. */
static double refined_worst(const refined_system *s) {
  double most = 0;
  refined_largest(s, s->rest, s->worst);
  for (size_t j = 0; j < s->columns; j++) {
    if (s->size[j] > 0) s->worst[j] /= s->size[j];
    if (!(s->worst[j] <= most)) most = s->worst[j];
  }
  return most;
}

/* factor = the system, its diagonal in `unit` as it is */
static void refined_assemble(const refined_system *s) {
  const scl_symmetric_algebra *algebra = s->host->symmetric;
  algebra->copy(s->base, s->factor);
  if (s->extra != NULL)
    algebra->add(s->weight, s->extra, s->factor);
  else
    algebra->shift(s->weight, s->factor);
  algebra->diagonal(s->factor, s->unit);
  for (size_t i = 0; s->diagonal != NULL && i < s->order; i++) {
    s->unit[i] += s->diagonal[i];
    algebra->set(s->factor, i, 1, i, 1, &s->unit[i], 1);
  }
}

/* factor += jitter diag(unit), where unit is the diagonal, or its mean (`plain`, and where an entry
 * is not positive). Returns the largest unit. */
static double refined_shift(const refined_system *s, double jitter, bool plain) {
  double sum = 0, largest = 0;
  for (size_t i = 0; i < s->order; i++)
    sum += fmax(s->unit[i], 0);
  for (size_t i = 0; i < s->order; i++) {
    const double entry = s->unit[i], mean = sum > 0 ? sum / (double)s->order : 1;
    s->unit[i] = entry > 0 && !plain ? entry : mean;
    largest = fmax(largest, s->unit[i]);
    const double shifted = entry + jitter * s->unit[i];
    if (jitter > 0) s->host->symmetric->set(s->factor, i, 1, i, 1, &shifted, 1);
  }
  return largest;
}

/* ------------ conjugate gradients */

static double refined_dot(const refined_system *s, size_t j, const double *x, const double *y) {
  double sum = 0;
  for (size_t i = 0; i < s->order; i++)
    sum += x[i * s->columns + j] * y[i * s->columns + j];
  return sum;
}

/* conditioned = M^-1 rest, M what was factored */
static scl_status refined_condition(const refined_system *s, scl_error *error) {
  memcpy(s->conditioned, s->rest, s->order * s->columns * sizeof *s->rest);
  return s->host->symmetric->solve(s->factor, s->conditioned, s->columns, error);
}

/* The step of column j along its direction. False where the curvature is lost in rounding. */
static bool refined_step(const refined_system *s, size_t j, double *x) {
  const size_t c = s->columns;
  double curvature = 0, scale = 0;
  for (size_t i = 0; i < s->order; i++) {
    const double p = s->direction[i * c + j];
    curvature += p * s->image[i * c + j];
    scale += s->unit[i] * p * p;
  }
  if (!(curvature > 4 * DBL_EPSILON * scale)) return false;
  const double length = s->share[j] / curvature;
  if (!isfinite(length)) return false;
  for (size_t i = j; i < s->order * c; i += c) {
    x[i] += length * s->direction[i];
    s->rest[i] -= length * s->image[i];
  }
  return true;
}

/* direction = conditioned + beta direction in the columns that are not done, where the residual and
 * r'M^-1 r are small; a second round (`again`) begins only for what is not accepted. Returns whether
 * any is left. */
static bool refined_direct(const refined_system *s, bool first, bool again) {
  const size_t c = s->columns;
  const double goal = again ? REFINED_ERROR : REFINED_GOAL,
               residual = again ? s->tolerance : 1e-3 * s->tolerance;
  bool any = false;
  (void)refined_worst(s);
  for (size_t j = 0; j < c; j++) {
    const double energy = refined_dot(s, j, s->rest, s->conditioned),
                 beta = first || !(s->share[j] > 0) ? 0 : energy / s->share[j];
    const bool small = energy <= goal * goal * s->energy[j] && s->worst[j] <= residual,
               done = small || !isfinite(energy) || !(energy > 0) ||
                      s->worst[j] <= 1e-5 * s->tolerance || (!first && s->share[j] == 0);
    if (first) s->error[j] = energy > 0 ? sqrt(energy / s->energy[j]) : 0;
    s->share[j] = done ? 0 : energy;
    any = any || !done;
    for (size_t i = j; i < s->order * c; i += c)
      s->direction[i] = done        ? 0
                        : beta == 0 ? s->conditioned[i] /* the first has no direction before it */
                                    : s->conditioned[i] + beta * s->direction[i];
  }
  return any;
}

/* From x, whose residual is in `rest`, by steps until *steps is `most`; s->error at x as it was. */
static scl_status refined_round(const refined_system *s, double *x, size_t most, size_t *steps,
                                scl_error *error) {
  const bool again = *steps > 0;
  for (bool first = true;; first = false) {
    scl_status status = refined_condition(s, error);
    if (status != SCL_STATUS_OK || !refined_direct(s, first, first && again) || *steps >= most)
      return status;
    status = refined_multiply(s, s->direction, s->image, error);
    if (status != SCL_STATUS_OK) return status;
    for (size_t j = 0; j < s->columns; j++)
      if (s->share[j] > 0 && !refined_step(s, j, x)) s->share[j] = 0;
    ++*steps;
  }
}

/* Rounds from the residual itself, which the steps of a round only update, until it is small: x and
 * the account of it. `rest` has the residual of x at the start. */
static scl_status refined_improve(const refined_system *s, const double *right, double *x,
                                  refined_account *account, scl_error *error) {
  size_t steps = 0;
  for (size_t round = 0;; round++) {
    const size_t before = steps;
    scl_status status =
        refined_round(s, x, round < REFINED_ROUNDS ? REFINED_STEPS : steps, &steps, error);
    if (status == SCL_STATUS_OK && steps > before) status = refined_rest(s, right, x, error);
    if (status != SCL_STATUS_OK) return status;
    if (steps == before) break;
  }
  account->iterations += steps + 1;
  account->residual = refined_worst(s);
  account->error = 0;
  for (size_t j = 0; j < s->columns; j++)
    account->error = fmax(account->error, s->error[j]);
  return SCL_STATUS_OK;
}

/* ------------ with jitter */

/* x = M^-1 right, once refined; *own: the residual of M x = right. `rest` becomes that of x in the
 * system without jitter. */
static scl_status refined_first(const refined_system *s, double jitter, const double *right,
                                double *x, double *own, scl_error *error) {
  const size_t count = s->order * s->columns;
  memcpy(x, right, count * sizeof *x);
  scl_status status = s->host->symmetric->solve(s->factor, x, s->columns, error);
  for (int pass = 0; status == SCL_STATUS_OK; pass++) {
    status = refined_rest(s, right, x, error);
    for (size_t i = 0; i < count; i++)
      s->rest[i] -= jitter * s->unit[i / s->columns] * x[i];
    *own = refined_worst(s);
    if (status != SCL_STATUS_OK || pass == 1 || jitter == 0 || *own <= 1e-3 * s->tolerance) break;
    status = refined_condition(s, error);
    for (size_t i = 0; i < count; i++)
      x[i] += s->conditioned[i];
  }
  for (size_t i = 0; i < count; i++)
    s->rest[i] += jitter * s->unit[i / s->columns] * x[i];
  for (size_t j = 0; j < s->columns; j++)
    s->energy[j] = refined_dot(s, j, right, x);
  return status;
}

/* One try with a share of the diagonal as jitter. *done: x solves the system as it was asked, or
 * with that jitter. SCL_STATUS_NUMERIC where it does not factor. */
static scl_status refined_attempt(const refined_system *s, double share, bool plain,
                                  const double *right, double *x, refined_account *account,
                                  bool *done, scl_error *error) {
  const size_t count = s->order * s->columns;
  size_t pivot = 0;
  double own = 0;
  refined_assemble(s);
  const double largest = refined_shift(s, share, plain);
  refined_largest(s, right, s->size);
  scl_status status = s->host->symmetric->factor(s->factor, &pivot, error);
  if (status == SCL_STATUS_OK) status = refined_first(s, share, right, x, &own, error);
  if (status != SCL_STATUS_OK) return status;
  memcpy(s->regularised, x, count * sizeof *x);
  account->factored = share;
  account->jitter = 0;
  status = refined_improve(s, right, x, account, error);
  *done = account->residual <= s->tolerance;
  if (status == SCL_STATUS_OK && !*done && share > 0 && own <= s->tolerance) {
    memcpy(x, s->regularised, count * sizeof *x);
    account->jitter = share * largest;
    account->residual = own;
    account->error = 0;
    *done = true;
  }
  return status;
}

scl_status refined_again(const refined_system *s, const double *right, double *x,
                         refined_account *account, scl_error *error) {
  double own;
  refined_largest(s, right, s->size);
  const scl_status status = refined_first(s, account->factored, right, x, &own, error);
  return status == SCL_STATUS_OK ? refined_improve(s, right, x, account, error) : status;
}

scl_status refined_solve(const refined_system *s, const double *right, double *x,
                         refined_account *account, scl_error *error) {
  const double most = fmax(2e-2, 2e-4 * (double)s->order), begin = account->factored;
  *account = (refined_account){.factored = begin};
  for (double share = begin; share <= most; share = share == 0 ? s->least : 10 * share)
    for (int plain = 0; plain < (share > 0 ? 2 : 1); plain++) {
      bool done = false;
      const scl_status status = refined_attempt(s, share, plain, right, x, account, &done, error);
      if (status != SCL_STATUS_NUMERIC && (status != SCL_STATUS_OK || done)) return status;
    }
  return s->host->fail(error, SCL_STATUS_NUMERIC,
                       "the system of order %zu stays singular even with %.0e of its diagonal "
                       "added to it: give a larger lambda",
                       s->order, most);
}

void refined_tell(const refined_system *s, const refined_account *account, double asked,
                  scl_solution *out) {
  const bool exact = account->jitter == 0 && account->error <= REFINED_ERROR;
  out->residual = account->residual;
  out->tolerance = s->tolerance;
  out->jitter = account->jitter;
  out->outcome =
      exact && account->residual <= s->tolerance ? SCL_OUTCOME_CONVERGED : SCL_OUTCOME_LIMIT;
  if (account->jitter > 0 && s->extra != NULL)
    (void)snprintf(out->note, sizeof out->note,
                   "regularised by %.1e on the diagonal besides the penalty asked for: the system "
                   "is singular to working precision",
                   account->jitter);
  else if (account->jitter > 0)
    (void)snprintf(out->note, sizeof out->note,
                   "regularised by %.1e, asked %.1e: the system is singular to working precision",
                   account->jitter + asked, asked);
  else if (exact && account->factored > 0)
    (void)snprintf(out->note, sizeof out->note,
                   "the system is singular to working precision: conjugate gradients solved it");
  else if (!exact)
    (void)snprintf(out->note, sizeof out->note,
                   "the system is singular to working precision: predictions may be off by %.0e of "
                   "their size; give a larger lambda",
                   account->error);
}
