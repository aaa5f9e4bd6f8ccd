/* What the right solvers share. */
#ifndef FAULTS_SOLVER_H
#define FAULTS_SOLVER_H

#include "specimen.h"

typedef struct ridge {
  scl_base base;
  double lambda, tolerance;
  size_t max_iterations;
  bool intercept;
  int32_t estimate;
} ridge;

static inline const scl_host *host_of(const void *self) { return ((const ridge *)self)->base.host; }

static inline double lambda_of(const void *self) { return ((const ridge *)self)->lambda; }

#define RIDGE_OPTIONS \
  SCL_NUMBER(ridge, lambda, "1e-3", "regularisation of the mean loss", SCL_POSITIVE, \
             .role = SCL_ROLE_REGULARISATION), \
      SCL_NUMBER(ridge, tolerance, "1e-8", "norm of the residual, relative", SCL_BETWEEN(0, 1)), \
      SCL_INTEGER(ridge, max_iterations, "1000", "steps at most", SCL_WITHIN(1, 1e9))

/* Sums over rows. */
typedef struct sums {
  size_t d, c;
  double *moment, *right; /* D x D, D x c */
  double total;
} sums;

/* A visit of float64 rows; its context is a sums. */
scl_status sums_visit(void *context, const scl_rows *rows, scl_error *error);
/* Solve from the sums of a walk with this visit. */
scl_status ridge_walk(const ridge *self, const scl_problem *problem, scl_visit visit,
                      scl_solution *out, scl_error *error);
/* The same from the host's sums. */
scl_status ridge_for(const ridge *self, const scl_problem *problem, double lambda,
                     scl_solution *out, scl_error *error);
/* *value = what is minimised, at a and b (NULL: no constant). */
scl_status objective_for(const scl_problem *problem, double lambda, const double *a,
                         const double *b, double *value, scl_error *error);

#endif
