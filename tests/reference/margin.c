/* Piecewise linear losses, by a primal-dual interior point method with Mehrotra's correction:
 *
 *   min_{a,b,xi >= 0} (reg/2) ||a||^2 + sum_k u_k xi_k   s.t.   s_k (phi_k a + b) - h_k <= xi_k
 *                                                        and    |a_t| <= bound
 *
 *   hinge      u = 1/n, reg = lambda: of each row s = -y, h = -1
 *   svm        u = C, reg = 1, phi phi' = K; classes as above, numbers with two constraints a row:
 *              s = +-1, h = epsilon +- y
 *   box_hinge  u = 1/n, reg = 0, the bound; the others have none
 *
 * l_k, the multiplier of constraint k, is within (0, u_k). By it f(x) = -sum_k s_k l_k phi_k phi(x)
 * + b where reg = 1. */
#include "linear.h"
#include "problem.h"

#include <stdlib.h>
#include <string.h>

/* Constraint k is of row k % n below `hard`; above it, one of the 2 d bounds. */
typedef struct margin {
  problem *p;
  const quad *phi;       /* n x d */
  size_t d, soft, count; /* soft constraints, and all with the bounds */
  quad reg, u, bound;
  quad *z, *step, *matrix;           /* d + 1; squared */
  quad *sign, *level;                /* of the soft constraints: s, h */
  quad *slack, *multiplier, *excess; /* s of the method, l, xi */
  quad *d_slack, *d_multiplier, *d_excess;
  quad target; /* of the complementarity products */
  bool correct;
} margin;

static void open_margin(margin *m) {
  const size_t order = m->d + 1, k = m->count;
  quad *memory = quads(order * (order + 2) + 8 * k);
  m->z = memory;
  m->step = m->z + order;
  m->matrix = m->step + order;
  quad **const parts[] = {&m->sign,   &m->level,   &m->slack,        &m->multiplier,
                          &m->excess, &m->d_slack, &m->d_multiplier, &m->d_excess};
  for (size_t i = 0; i < 8; i++)
    *parts[i] = m->matrix + order * order + i * k;
}

/* g_k'v, and vector += by g_k. */
static quad along(const margin *m, size_t k, const quad *v) {
  if (k >= m->soft) return m->sign[k] * v[(k - m->soft) / 2];
  return m->sign[k] * (quad_dot(m->d, m->phi + k % m->p->n * m->d, v) + v[m->d]);
}

static void add_along(const margin *m, size_t k, quad by, quad *vector) {
  const quad *phi = m->phi + k % m->p->n * m->d, scaled = by * m->sign[k];
  if (k >= m->soft) {
    vector[(k - m->soft) / 2] += scaled;
    return;
  }
  for (size_t t = 0; t < m->d; t++)
    vector[t] += scaled * phi[t];
  vector[m->d] += scaled;
}

static bool is_soft(const margin *m, size_t k) { return k < m->soft; }

/* ------------ one step */

/* The weight of constraint k in the system: 1 / (s/l + xi/(u - l)). */
static quad stiffness(const margin *m, size_t k) {
  const quad give = is_soft(m, k) ? m->excess[k] / (m->u - m->multiplier[k]) : 0;
  return 1 / (m->slack[k] / m->multiplier[k] + give);
}

/* The matrix reg + sum_k stiffness g g', of rows that share their g together. */
static void assemble(margin *m) {
  const size_t order = m->d + 1, n = m->p->n;
  memset(m->matrix, 0, order * order * sizeof *m->matrix);
  for (size_t i = 0; i < n; i++) {
    const quad *phi = m->phi + i * m->d;
    quad weight = 0;
    for (size_t k = i; k < m->soft; k += n)
      weight += stiffness(m, k);
    for (size_t t = 0; t < order; t++) {
      const quad x = weight * (t < m->d ? phi[t] : 1);
      for (size_t s = 0; s <= t; s++)
        m->matrix[t * order + s] += x * (s < m->d ? phi[s] : 1);
    }
  }
  for (size_t k = m->soft; k < m->count; k++)
    m->matrix[(k - m->soft) / 2 * (order + 1)] += stiffness(m, k);
  for (size_t t = 0; t < m->d; t++)
    m->matrix[t * (order + 1)] += m->reg;
  factor(order, m->matrix);
}

/* What s l and xi (u - l) are to change by; the second-order terms of the step before. */
static void wanted(const margin *m, size_t k, quad *slack, quad *excess) {
  *slack = m->target - m->slack[k] * m->multiplier[k];
  *excess = is_soft(m, k) ? m->target - m->excess[k] * (m->u - m->multiplier[k]) : 0;
  if (!m->correct) return;
  *slack -= m->d_slack[k] * m->d_multiplier[k];
  *excess += m->d_excess[k] * m->d_multiplier[k];
}

static quad pull(const margin *m, size_t k, quad slack, quad excess) {
  return slack / m->multiplier[k] - (is_soft(m, k) ? excess / (m->u - m->multiplier[k]) : 0);
}

static void direction(margin *m) {
  quad slack, excess;
  for (size_t t = 0; t <= m->d; t++)
    m->step[t] = t < m->d ? -m->reg * m->z[t] : 0;
  for (size_t k = 0; k < m->count; k++) {
    wanted(m, k, &slack, &excess);
    add_along(m, k, -m->multiplier[k] - stiffness(m, k) * pull(m, k, slack, excess), m->step);
  }
  factor_solve(m->d + 1, m->matrix, m->step);
  for (size_t k = 0; k < m->count; k++) {
    wanted(m, k, &slack, &excess);
    const quad by = stiffness(m, k) * (along(m, k, m->step) + pull(m, k, slack, excess));
    m->d_multiplier[k] = by;
    m->d_slack[k] = (slack - m->slack[k] * by) / m->multiplier[k];
    m->d_excess[k] = is_soft(m, k) ? (excess + m->excess[k] * by) / (m->u - m->multiplier[k]) : 0;
  }
}

static void limit(quad value, quad change, quad *most) {
  if (change < 0 && -value / change < *most) *most = -value / change;
}

static quad longest(const margin *m) {
  quad most = (quad)1e3;
  for (size_t k = 0; k < m->count; k++) {
    limit(m->slack[k], m->d_slack[k], &most);
    limit(m->multiplier[k], m->d_multiplier[k], &most);
    if (!is_soft(m, k)) continue;
    limit(m->excess[k], m->d_excess[k], &most);
    limit(m->u - m->multiplier[k], -m->d_multiplier[k], &most);
  }
  return quad_min(1, most * (1 - (quad)1 / 1000));
}

static void move(margin *m, quad length) {
  for (size_t t = 0; t <= m->d; t++)
    m->z[t] += length * m->step[t];
  for (size_t k = 0; k < m->count; k++) {
    m->slack[k] += length * m->d_slack[k];
    m->multiplier[k] += length * m->d_multiplier[k];
    m->excess[k] += length * m->d_excess[k];
  }
}

static quad complementarity(const margin *m) {
  quad sum = 0;
  for (size_t k = 0; k < m->count; k++) {
    sum += m->slack[k] * m->multiplier[k];
    if (is_soft(m, k)) sum += m->excess[k] * (m->u - m->multiplier[k]);
  }
  return sum / (m->count + m->soft);
}

/* ------------ all steps */

static void begin(margin *m) {
  for (size_t k = 0; k < m->count; k++) {
    const quad above = is_soft(m, k) ? -m->level[k] : -m->bound;
    m->excess[k] = is_soft(m, k) ? quad_max(above, 0) + 1 : 0;
    m->slack[k] = m->excess[k] - above;
    m->multiplier[k] = is_soft(m, k) ? m->u / 2 : m->u / (2 * m->slack[k]);
  }
}

/* Whether the products end at 1e-24 of where they began. */
static bool solve(margin *m) {
  enum { STEPS = 200 };
  begin(m);
  const quad first = complementarity(m);
  for (int step = 0; step < STEPS; step++) {
    const quad now = complementarity(m);
    if (now < first * (quad)1e-24) return true;
    assemble(m);
    m->target = 0;
    m->correct = false;
    direction(m);
    const quad rest = 1 - longest(m);
    m->target = now * quad_max(rest * rest * rest, (quad)1e-4);
    m->correct = true;
    direction(m);
    move(m, longest(m));
  }
  return false;
}

/* Classes: one constraint a row. Numbers: two. */
static void constrain(margin *m, bool classes, quad epsilon) {
  const size_t n = m->p->n;
  for (size_t k = 0; k < m->soft; k++) {
    const quad y = m->p->y[k % n];
    m->sign[k] = classes ? -y : k < n ? 1 : -1;
    m->level[k] = classes ? -1 : epsilon + m->sign[k] * y;
  }
  for (size_t k = m->soft; k < m->count; k++)
    m->sign[k] = (k - m->soft) % 2 == 0 ? 1 : -1;
}

/* ------------ the solvers */

static void answer_linear(const margin *m) {
  problem *p = m->p;
  quad *out = answer(p);
  for (size_t i = 0; i < p->n + p->m; i++)
    out[i] = quad_dot(p->d, row(p, i), m->z) + m->z[m->d];
}

static void answer_kernel(const margin *m, const quad *kernel) {
  const size_t n = m->p->n;
  quad *out = answer(m->p);
  for (size_t i = 0; i < n + m->p->m; i++) {
    out[i] = m->z[m->d];
    for (size_t k = 0; k < m->soft; k++)
      out[i] -= m->sign[k] * m->multiplier[k] * kernel[i * n + k % n];
  }
}

/* The Cholesky factor of the kernel matrix is the features. */
static quad *kernel_features(const problem *p, const quad *kernel) {
  quad *phi = quads(p->n * p->n);
  memcpy(phi, kernel, p->n * p->n * sizeof *phi);
  factor(p->n, phi);
  for (size_t i = 0; i < p->n; i++)
    for (size_t j = i + 1; j < p->n; j++)
      phi[i * p->n + j] = 0;
  return phi;
}

/* One target. Options: lambda (hinge); bound (box_hinge); kernel, gamma, C, and epsilon for numbers
 * (svm). */
void solve_margin(problem *p) {
  const bool svm = strcmp(p->solver, "svm") == 0, box = strcmp(p->solver, "box_hinge") == 0;
  const bool numbers_wanted = option_given(p, "epsilon")[0] != '\0';
  const bool kernel_wanted = svm && strcmp(option_word(p, "kernel"), "linear") != 0;
  quad *kernel = NULL, *features = NULL;
  centre(p);
  if (kernel_wanted) features = kernel_features(p, kernel = kernel_matrix(p));
  margin m = {.p = p, .phi = kernel_wanted ? features : p->x, .d = kernel_wanted ? p->n : p->d};
  m.reg = svm ? 1 : box ? 0 : option_number(p, "lambda");
  m.u = svm ? option_number(p, "C") : 1 / (quad)p->n;
  m.bound = box ? option_number(p, "bound") : 0;
  m.soft = numbers_wanted ? 2 * p->n : p->n;
  m.count = m.soft + (box ? 2 * m.d : 0);
  open_margin(&m);
  constrain(&m, !numbers_wanted, numbers_wanted ? option_number(p, "epsilon") : 0);
  if (solve(&m)) {
    if (kernel_wanted)
      answer_kernel(&m, kernel);
    else
      answer_linear(&m);
  }
  free(m.z);
  free(kernel);
  free(features);
}
