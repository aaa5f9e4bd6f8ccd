/* The posterior of a ridge regression seen as Bayesian linear regression: y = phi'a + b + noise,
 * with normal noise of variance s^2, a normal prior of a with the covariance s^2 / (n lambda) P^-1
 * (P = I, or G for the penalty a'Ga), and a flat prior of the constant b. Given the rows, a is
 * normal about ridge's solution with the covariance s^2 A^-1, A = Phi'W Phi + n lambda P, centred
 * with a constant (Rasmussen and Williams 2006, section 2.1). n: the sum of the row weights. */
#ifndef SCULLERY_POSTERIOR_H
#define SCULLERY_POSTERIOR_H

#include "learn/problem.h"

/* Two forms. Primal: L L' = A, D x D. Dual, with more features than rows (penalty a'a): L L' =
 * Phi_c Phi_c' + n lambda I, of the order of the rows, where Phi_c are the features of the training
 * rows, centred with a constant and times the roots of the row weights, which are kept:
 *
 *   A^-1 = (I - Phi_c' (Phi_c Phi_c' + n lambda I)^-1 Phi_c) / (n lambda) */
typedef struct scl_posterior {
  size_t features, targets, rows; /* rows: of Phi_c; 0: primal */
  scl_symmetric *factor;          /* L */
  double *phi;                    /* Phi_c, rows x D; NULL: primal */
  double *mean;                   /* D: of the features, 0 without a constant; `mean` begins the one
                                     piece of memory of all numbers but phi */
  /* c each: y'W y - y'W Phi a (with a constant centred), and the part of it that is no penalty, the
   * sum of the squared residuals. */
  double *evidence, *residual;
  double weight, total; /* n lambda, n */
  bool constant;
  bool whitened; /* of a saved model: its features are whitened sections in float64, not its own */
  double jitter; /* added to the diagonal of what is factored, as a share of it */
} scl_posterior;

/* Of the rows, targets and weights of a training. The solver says whether there is a constant, and
 * which penalty; by_sums: the rows cannot be read, and the form is primal. SCL_STATUS_NUMERIC: the
 * matrix cannot be factored. */
scl_status scl_posterior_create(scl_training *training, const scl_instance *solver, double lambda,
                                bool by_sums, scl_posterior **out, scl_error *error);
/* Of these sizes with L and numbers not set, for a saved model. */
scl_status scl_posterior_empty(size_t features, size_t targets, size_t rows, scl_posterior **out,
                               scl_error *error);
void scl_posterior_destroy(scl_posterior *posterior);

/* The products (phi - mean)'A^-1 (phi_i - mean) of rows of a flow with the training rows i are those
 * of the rows of two matrices: out (rows x r, float64) of scl_posterior_project for the flow, and
 * that of scl_posterior_training. r is D, or in the dual form the number of training rows. The
 * flow of the second is that of the training rows; it is not read in the dual form, which takes
 * rows of one weight. */
scl_status scl_posterior_project(const scl_posterior *posterior, const scl_flow *flow,
                                 scl_matrix *out, scl_error *error);
scl_status scl_posterior_training(const scl_posterior *posterior, const scl_flow *flow,
                                  scl_matrix *out, scl_error *error);
/* out (rows) = (phi - mean)'A^-1 (phi - mean), and 1 / n more with a constant: the variance of the
 * function at each row over s^2. rest: of kernel sections also scl_map_rest / (n lambda), the
 * variance of the part of the kernel that the features do not have (Quinonero-Candela and Rasmussen
 * 2005, the FITC approximation at the test row). */
scl_status scl_posterior_variance(const scl_posterior *posterior, const scl_flow *flow, bool rest,
                                  double *out, scl_error *error);
/* *out = D - n lambda tr A^-1, the effective parameters besides the constant; for P = I. */
scl_status scl_posterior_parameters(const scl_posterior *posterior, double *out, scl_error *error);
/* A draw with s = 1: weights (D x c) and constants (c), which are changes of a and of the constant;
 * the constant makes up for the weights at the mean of the features. Random numbers are addressed
 * by (seed, draw, target). */
scl_status scl_posterior_draw(const scl_posterior *posterior, uint64_t seed, uint64_t draw,
                              double *weights, double *constants, scl_error *error);

#endif
