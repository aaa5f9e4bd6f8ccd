/* Sizes for the costs that solvers declare (SCL_ABILITY_COST). */
#ifndef SHARED_COST_H
#define SHARED_COST_H

/* The bytes of a symmetric matrix of the host, tiles of its lower triangle, of order n. */
static inline double cost_symmetric(double n) {
  const double tile = n < 512 ? n : 512;
  return 4 * n * (n + tile);
}

/* The operations of a Cholesky factorisation of order n. */
static inline double cost_cholesky(double n) { return n * n * n / 3; }

#endif
