/* The maximum of q standard normals, and two of them with correlation r, coordinate by coordinate.
 *
 *   M_q(r)     = E[ max_j a_j max_j b_j ]          the kernel of maxout features, over |x| |y|
 *   kappa_q(r) = P( argmax_j a_j = argmax_j b_j )  the collision probability of their codes
 *
 * With theta = acos r:
 *
 *   M_1     = r
 *   M_2     = (r + (2/pi)(sin theta + r asin r))/2
 *   kappa_2 = 1 - theta/pi
 *
 * Any q: integration by parts gives dM_q/dr = kappa_q(r), so one function is enough:
 *
 *   M_q(theta) = E[max^2] - integral_0^theta kappa_q(t) sin t dt
 *   kappa_q    = q E[ F2(s, t; r)^(q-1) ],   s, t = u cos(theta/2) +- w sin(theta/2)
 *
 * u and w independent standard normals; this integrand is smooth down to theta = 0. (Hoeffding's
 * identity, M_q = E[max]^2 + the integral of F2^q - F^q F^q, is the same number, but its integrand
 * has a ridge as r goes to 1.) kappa_q is smooth in theta on [0, pi]: a Chebyshev series holds it,
 * made once. */
#ifndef SCULLERY_SHARED_MAXOUT_H
#define SCULLERY_SHARED_MAXOUT_H

#include <scullery/plugin.h>

enum { MAXOUT_LARGEST = 256, MAXOUT_TERMS = 48, MAXOUT_RULE = 12 };

typedef struct maxout_table {
  size_t q, terms;
  double mean, square; /* E max, E max^2 */
  double collision[MAXOUT_TERMS],
      moment[MAXOUT_TERMS]; /* Chebyshev coefficients in 2 theta/pi - 1 */
} maxout_table;

/* Gauss-Legendre, 12 nodes on [-1, 1]. */
double maxout_node(size_t i);

double maxout_weight(size_t i);

/* Some 10 ms of work for q > 2, none for q = 1, 2. */
void maxout_table_make(size_t q, maxout_table *out);

/* M_q(r) */
double maxout_moment(const maxout_table *table, double correlation);

/* kappa_q(r) */
double maxout_collision(const maxout_table *table, double correlation);

#endif
