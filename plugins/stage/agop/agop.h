/* The stage agop: what its files share. */
#ifndef SCULLERY_AGOP_H
#define SCULLERY_AGOP_H

#include <scullery/plugin.h>

enum { AGOP_FULL, AGOP_DIAGONAL };
enum { AGOP_FOURIER, AGOP_LANDMARKS };
enum { AGOP_GAUSSIAN, AGOP_LAPLACIAN };

typedef struct agop {
  scl_base base;
  int32_t form, map, kernel;
  size_t rounds, T, rows;
  int64_t seed;
} agop;

/* Distinct rows that are learnt from, standardised. Rows 0 to train - 1 are fitted, the others
 * judge. */
typedef struct agop_sample {
  size_t n, train, d, targets;
  double *x, *y;  /* n x d, n x targets */
  double *weight; /* n, of the sum 1 over the rows that are fitted */
} agop_sample;

/* *out, in memory of the call: at most self->rows distinct rows, chosen and ordered by hashes of
 * their contents, so that neither the order of the rows nor copies of them matter. moments: of the
 * columns. */
scl_status agop_take_sample(const agop *self, const scl_fitting *fitting,
                            const scl_stage_column *moments, agop_sample *out, scl_error *error);

/* A ridge regression on features of the rows z = A x. */
typedef struct agop_fit {
  const agop *self;
  const scl_host *host;
  const agop_sample *sample;
  int landmarks;      /* features: kernel values at rows; else Fourier features */
  int additive;       /* each Fourier parameter reads one column */
  size_t T, D;        /* parameters or landmarks; features */
  double *z;          /* n x d: the rows in the metric */
  double *parameters; /* T x d: parameters w_t, or landmarks z_m */
  double *scaled;     /* T x d: parameters times the rate */
  double *phi;        /* n x D */
  double *weighted;   /* train x D, or train x max(T, d) for gradients */
  double *gradient;   /* train x d */
  double *right, *a;  /* D x targets */
  double *best;       /* D x targets: the least error so far */
  double *scores;     /* (n - train) x targets */
  double *loss;       /* n - train: weighted squared errors of `best` */
  double rate;        /* 1 over the length of the kernel */
  double best_rate;
  scl_symmetric *gram, *factor; /* of order D */
} agop_fit;

scl_status agop_open_fit(agop_fit *fit, scl_error *error);
void agop_close_fit(agop_fit *fit);

/* Fit in the metric A (d x d, symmetric), with the parameters of this round: the width and the
 * regularisation that have the least squared error *least on the rows that judge. */
scl_status agop_run_fit(agop_fit *fit, const double *metric, size_t round, double *least,
                        scl_error *error);

/* out (d x d, both triangles) = the weighted mean over the fitted rows of the outer products of the
 * gradients in z, summed over targets, of the last fit. */
scl_status agop_gradients(agop_fit *fit, double *out, scl_error *error);

#endif
