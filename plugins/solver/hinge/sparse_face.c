/* A step of sparse.c on all duals at a time that are not at a bound, the face F: with d their move,
 * and V = sum_i d_i y_i x_i,
 *
 *   max_d  sum_i d_i z_i - ||V||^2/2 - (r/2) (sum_i d_i y_i)^2,
 *
 * the augmented Lagrangian, by conjugate gradients, where descent on single duals is slow because
 * many rows are alike. Then s + t d is cut to the bounds, with the first t of 1, 1/2, ... that
 * raises it, or the one at the first bound. Passes of descent, which find the face, and such steps
 * alternate (More and Toraldo 1991, with descent for their projected gradients). */
#include "sparse.h"

/* The gradient on the face at the present point. Returns the number of its rows. */
static size_t face_rest(const sparse_machine *m, sparse_class *k) {
  size_t size = 0;
  for (size_t at = 0; at < k->count; at++) {
    const uint32_t i = k->active[at];
    const sparse_row *row = &k->rows[i];
    if (!(row->dual > 0 && row->dual < row->upper)) continue;
    k->face[size] = i;
    k->rest[size++] = 1 - row->y * (csr_dot(&m->x, i, k->a) + k->b);
  }
  return size;
}

/* move = V of the direction `turn`, and image_i = y_i x_i'V. */
static void face_image(const sparse_machine *m, sparse_class *k, size_t size) {
  enum { AHEAD = 4 };
  double pull = 0;
  memset(k->move, 0, m->problem->features * sizeof *k->move);
  for (size_t at = 0; at < size; at++) {
    if (at + AHEAD < size) csr_prefetch(&m->x, k->face[at + AHEAD]);
    const double by = k->turn[at] * k->rows[k->face[at]].y;
    csr_add(&m->x, k->face[at], by, k->move);
    pull += by;
  }
  for (size_t at = 0; at < size; at++) {
    if (at + AHEAD < size) csr_prefetch(&m->x, k->face[at + AHEAD]);
    k->image[at] =
        k->rows[k->face[at]].y * (csr_dot(&m->x, k->face[at], k->move) + m->spread * pull);
  }
}

/* k->step = the move of the duals: steps while each gains more than `share` of what the best one
 * did. A direction in which D hardly bends, as where rows are alike, would lead far past the
 * bounds: the steps end before it, or it is the move where it is the first. Returns their
 * number. */
static size_t face_solve(const sparse_machine *m, sparse_class *k, size_t size, double share,
                         size_t most) {
  memset(k->step, 0, size * sizeof *k->step);
  memcpy(k->turn, k->rest, size * sizeof *k->turn);
  double square = sparse_dot(size, k->rest, k->rest), best = 0, steepest = 0;
  const double goal = 1e-20 * square;
  size_t steps = 0;
  while (steps < most && square > goal) {
    face_image(m, k, size);
    const double bend = sparse_dot(size, k->turn, k->image),
                 curvature = bend / sparse_dot(size, k->turn, k->turn);
    steepest = fmax(steepest, curvature);
    if (!(curvature > 1e-6 * steepest)) {
      if (steps == 0) memcpy(k->step, k->turn, size * sizeof *k->step);
      break;
    }
    const double length = square / bend, gain = length * square / 2, before = square;
    for (size_t at = 0; at < size; at++) {
      k->step[at] += length * k->turn[at];
      k->rest[at] -= length * k->image[at];
    }
    square = sparse_dot(size, k->rest, k->rest);
    for (size_t at = 0; at < size; at++)
      k->turn[at] = k->rest[at] + square / before * k->turn[at];
    steps++;
    if (gain <= share * best) break;
    best = fmax(best, gain);
  }
  return steps;
}

/* The dual of row `at` of the face after the move t d, cut to its bounds. */
static double face_cut(const sparse_class *k, size_t at, double t) {
  const sparse_row *row = &k->rows[k->face[at]];
  return fmax(0, fmin(row->upper, row->dual + t * k->step[at]));
}

/* By how much the augmented Lagrangian rises; move = the change of a. */
static double face_rise(const sparse_machine *m, sparse_class *k, size_t size, double t) {
  const size_t d = m->problem->features;
  const double base = k->b - m->spread * k->pull; /* b0 */
  double rise = 0, pull = 0;
  memset(k->move, 0, d * sizeof *k->move);
  for (size_t at = 0; at < size; at++) {
    const sparse_row *row = &k->rows[k->face[at]];
    const double by = face_cut(k, at, t) - row->dual;
    rise += by;
    pull += by * row->y;
    if (by != 0) csr_add(&m->x, k->face[at], by * row->y, k->move);
  }
  rise -= sparse_dot(d, k->a, k->move) + sparse_dot(d, k->move, k->move) / 2;
  return rise - pull * (base + m->spread * k->pull) - m->spread * pull * pull / 2;
}

/* The t at which the first dual is at a bound: up to there D rises along the move. */
static double face_reach(const sparse_class *k, size_t size) {
  double reach = INFINITY;
  for (size_t at = 0; at < size; at++) {
    const sparse_row *row = &k->rows[k->face[at]];
    const double step = k->step[at];
    if (step != 0)
      reach = fmin(reach, (step > 0 ? row->upper - row->dual : row->dual) / fabs(step));
  }
  return reach < INFINITY ? reach : 0;
}

void sparse_face(const sparse_machine *m, sparse_class *k, size_t most) {
  enum { HALVINGS = 8 };
  size_t size = face_rest(m, k);
  if (size < 2) return;
  const size_t steps = face_solve(m, k, size, k->share, most);
  k->passes += 1 + steps * size / (k->count + 1);
  double t = 1, rise = -1;
  for (int tries = 0; tries < HALVINGS && !(rise > 0); tries++, t /= 2)
    rise = face_rise(m, k, size, t);
  t *= 2;
  if (!(rise > 0)) {
    t = face_reach(k, size);
    rise = face_rise(m, k, size, t);
  }
  if (!(rise > 0)) return;
  size_t cut = 0;
  for (size_t at = 0; at < size; at++) {
    sparse_row *row = &k->rows[k->face[at]];
    const double to = face_cut(k, at, t);
    cut += to <= 0 || to >= row->upper;
    k->pull += (to - row->dual) * row->y;
    k->b += m->spread * (to - row->dual) * row->y;
    row->dual = to;
  }
  for (size_t j = 0; j < m->problem->features; j++)
    k->a[j] += k->move[j];
  k->share = cut * 50 < size ? fmax(1e-3, k->share / 4) : fmin(0.25, k->share * 2);
}
