/* scullery/plugin/kernel.h: kernels, on parameters (the K of an instantiation) and on rows of data
 * (exact kernel machines; features k(w_t, x)).
 *
 * Two forms. Simple: K is a function of one number of the pair. The host computes the numbers of
 * many pairs, and `finish` turns them into K. General: `gram`. */
#ifndef SCULLERY_PLUGIN_KERNEL_H
#define SCULLERY_PLUGIN_KERNEL_H

#include "host.h"

/* The number of a pair (u, v), over all columns (dense) or over the common support (sparse,
 * threshold); K = 0 if the supports differ. */
enum {
  SCL_PAIR_NONE = 0,          /* 0 */
  SCL_PAIR_DOT,               /* <u, v> */
  SCL_PAIR_SQUARED_DISTANCE,  /* ||u - v||^2 */
  SCL_PAIR_ABSOLUTE_DISTANCE, /* ||u - v||_1 */
  /* Dense. For a zero row: cosine 0 with every other row, 1 with itself. */
  SCL_PAIR_COSINE, /* cosine of the angle between u and v */
  SCL_PAIR_ANGLE   /* the angle itself, 0 to pi */
};
typedef int32_t scl_pair;

/* The pairs that `finish` gets: u_i with `count` of the v_j. */
typedef struct scl_pair_row {
  scl_head head;
  size_t dim, count;       /* columns of the data; pairs */
  double length_u;         /* ||u_i|| and all ||v_j||: only for cosine and angle, */
  const double *lengths_v; /* else 0 and NULL */
} scl_pair_row;
#define SCL_LEAST_PAIR_ROW SCL_THROUGH(scl_pair_row, lengths_v)

typedef struct scl_kernel {
  scl_head head;
  scl_kind kind;   /* SCL_KIND_KERNEL */
  uint32_t spaces; /* SCL_BIT(SCL_SPACE_...) on which K is defined; dense includes rows of data */
  /* General form: out (u->count x v->count, float64) = K(u_i, v_j). Where u = v, both triangles may
   * be filled alike. Where parameters are made of fan_in rows, K is the product of K(u_k, v_k) over
   * k, and the host multiplies. NULL: the simple form. [any] */
  scl_status (*gram)(const void *self, const scl_const_parameters *u, const scl_const_parameters *v,
                     double *out, ptrdiff_t stride, scl_error *error);
  /* Simple form: from the numbers to K, in place. NULL: K is the number. [any] */
  void (*finish)(const void *self, const scl_pair_row *row, double *numbers);
  /* Simple form: a factor of all coordinates, applied before the number is computed. NULL: 1.
   * [any] */
  double (*scale)(const void *self);
  /* Simple form, dense rows: transform the scaled coordinates in place, before the number of a pair
   * is computed. [any] */
  void (*move)(const void *self, size_t count, double *coordinates);
  /* General form: out[i] = K(u_i, u_i). NULL: the host calls gram on each parameter. [any] */
  scl_status (*diagonal)(const void *self, const scl_const_parameters *u, double *out,
                         scl_error *error);
  scl_pair pair; /* simple form: the number */
  uint32_t reserved;
  /* General form, dense rows: K(x, y) is the sum of a term of x_j and y_j over the columns j in
   * which neither is 0, in their order: out[k] = term(x, y[k]), k < count. Sparse rows then cost
   * the numbers that they have in common. NULL: K is no such sum. [any] */
  void (*terms)(const void *self, double x, size_t count, const double *y, double *out);
} scl_kernel;
#define SCL_LEAST_KERNEL SCL_THROUGH(scl_kernel, gram)
#define SCL_KERNEL(...) SCL_VTABLE(SCL_KIND_KERNEL, scl_kernel, __VA_ARGS__)

/* ------------ abilities */

/* How K on rows of data changes when one row p is subtracted from both:
 *
 *   SCL_SHIFT_KEEPS     K(x - p, y - p) = K(x, y)
 *   SCL_SHIFT_CENTRES   K(x - p, y - p) = K(x, y) + g(x) + g(y) + a constant: sums of K whose
 *                       coefficients sum to 0 change by a constant alone
 *   SCL_SHIFT_CHANGES   neither
 *
 * Kernel machines store rows far from 0 relative to a point near them if K allows it
 * (SCL_SERVICE_PILOT). Without the ability: SCL_SHIFT_KEEPS for the simple form on distances
 * without `move`, SCL_SHIFT_CENTRES for SCL_PAIR_DOT without `finish` and `move`, else
 * SCL_SHIFT_CHANGES. */
enum { SCL_SHIFT_CHANGES = 0, SCL_SHIFT_CENTRES, SCL_SHIFT_KEEPS };
typedef int32_t scl_shift;
#define SCL_ABILITY_SHIFT "scullery.shift/1"
typedef struct scl_ability_shift {
  scl_head head;
  scl_shift (*shift)(const void *self); /* [any] */
} scl_ability_shift;
#define SCL_LEAST_ABILITY_SHIFT SCL_THROUGH(scl_ability_shift, shift)

/* scl_host.service: a point near rows that lie far from 0 (years, serial numbers). Products of such
 * rows lose the digits in which the rows differ. */
#define SCL_SERVICE_PILOT "scullery.pilot/1"
typedef struct scl_pilot_service {
  scl_head head;
  scl_shift (*shift)(const scl_part *kernel); /* by its ability, else by its form [any] */
  /* pilot (cols): a point near the rows (rows x cols at stride, float64), 0 in the columns whose
   * mean is at most 16 standard deviations from 0, on a power-of-two grid, so that x - pilot is
   * exact. Returns 1 where a column has one, else 0. [any] */
  int32_t (*find)(const double *x, ptrdiff_t stride, size_t rows, size_t cols, double *pilot);
} scl_pilot_service;
#define SCL_LEAST_PILOT_SERVICE SCL_THROUGH(scl_pilot_service, find)

/* A kernel that is complete only with a sampler's law (a width given as "theta = 0.5"). Its slots
 * are not called before `bind`. Offer the ability through scl_plugin.ability, only where the
 * options need it. */
#define SCL_ABILITY_BIND "scullery.bind/1"
typedef struct scl_ability_bind {
  scl_head head;
  /* Complete a fresh instance, created from the same options. Where it fails, destroy follows.
   * [one] */
  scl_status (*bind)(void *self, const scl_law *law, scl_error *error);
  /* The values that a bound instance chose, as a text: "width = 1.83". [any] */
  void (*describe)(const void *self, char *text, size_t size);
} scl_ability_bind;
#define SCL_LEAST_ABILITY_BIND SCL_THROUGH(scl_ability_bind, describe)

/* The tilt: K(u, .) p is c(u) times a law with independent Gaussian coordinates,
 *
 *   w_j ~ N(offset_j + shrink_j u_j, spread_j^2)
 *   log c(u) = log_one + sum_j (log0_j + log1_j u_j + log2_j u_j^2)
 *
 * the sum over all columns (dense), the support (sparse) or the one column (threshold). log_one
 * includes the factor of an indicator (-log d for thresholds). Sparse: the host calls once for each
 * in-degree s, with a law of only this in-degree (scale already times degree_scale[s]); a K with
 * the factor 1[same support] adds -log C(d, s) to log_one. The tilt is that of one row (fan_in 1);
 * law->fan_in is the number of rows, for a width that is given through the distribution. */
typedef struct scl_tilt {
  scl_head head;
  size_t dim;
  double *offset, *shrink, *spread, *log0, *log1, *log2; /* dim numbers each, the caller's */
  double log_one;
  double log_diagonal; /* log E K(w, w) */
  double log_mass;     /* log E E K(u, w) */
  double *correlation; /* dim numbers: of (u_j, w_j) under K p p / (E E K) */
  double *pair_scale;  /* dim numbers: the standard deviation of u_j under the same law */
} scl_tilt;
#define SCL_LEAST_TILT SCL_THROUGH(scl_tilt, pair_scale)

#define SCL_ABILITY_TILT "scullery.tilt/1"
typedef struct scl_ability_tilt {
  scl_head head;
  /* SCL_STATUS_UNSUPPORTED: no closed form for this law; the host then simulates. Any other
   * failure is an error. [any] */
  scl_status (*tilt)(const void *self, const scl_law *law, scl_tilt *out, scl_error *error);
} scl_ability_tilt;
#define SCL_LEAST_ABILITY_TILT SCL_THROUGH(scl_ability_tilt, tilt)

#endif
