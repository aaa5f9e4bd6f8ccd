/* scullery/plugin/loss.h: losses. A loss is a convex function l(f, y) of a score f, for each target
 * y. Solvers that take any loss (solver.erm) minimise its mean over the rows, by the method that
 * its facts and abilities allow. Targets of classes are +-1: with several classes each is a problem
 * of its own, one class against all others.
 *
 * Slots get `count` scores and targets at once, all float64, in arrays without gaps; out[i] depends
 * on number i alone. `out` may be the memory of f. A loss is given targets that its facts allow,
 * and any finite score: a value that overflows is INFINITY, never NaN. */
#ifndef SCULLERY_PLUGIN_LOSS_H
#define SCULLERY_PLUGIN_LOSS_H

#include "host.h"

enum {
  SCL_TARGETS_NUMBERS = 1, /* y is a number of the declared range */
  SCL_TARGETS_CLASSES = 2  /* y is -1 or 1 */
};

enum {
  SCL_LOSS_KINKS = 1 /* the slope jumps at some scores */
};

typedef struct scl_loss_facts {
  scl_head head;
  uint32_t targets;       /* SCL_TARGETS_..., one or both */
  uint32_t flags;         /* SCL_LOSS_... */
  uint32_t range, unused; /* SCL_RANGE_...: which of the bounds are excluded */
  double low, high;       /* numbers that it takes as targets; both 0: any finite number */
  /* Of the slope, over all scores and targets: the largest |slope|, and the largest ratio of its
   * change to that of f. INFINITY: there is none; 0: not known. */
  double lipschitz, curvature;
} scl_loss_facts;
#define SCL_LEAST_LOSS_FACTS SCL_THROUGH(scl_loss_facts, curvature)

typedef struct scl_loss {
  scl_head head;
  scl_kind kind; /* SCL_KIND_LOSS */
  /* The facts, where they do not depend on options: as in scl_loss_facts. */
  uint32_t targets, flags, range;
  double low, high, lipschitz, curvature;
  /* out = l(f, y). [any] */
  void (*value)(const void *self, size_t count, const double *f, const double *y, double *out);
  /* out = the derivative of l in f; where it jumps any number between the two sides. [any] */
  void (*slope)(const void *self, size_t count, const double *f, const double *y, double *out);
  /* Change the facts, which the host presets from the members above. NULL: no change. [any] */
  scl_status (*facts)(const void *self, scl_loss_facts *out, scl_error *error);
} scl_loss;
#define SCL_LEAST_LOSS SCL_THROUGH(scl_loss, facts)
#define SCL_LOSS(...) SCL_VTABLE(SCL_KIND_LOSS, scl_loss, __VA_ARGS__)

/* Defines a function for a slot of two arrays, from an expression of f and y; options are members
 * of the instance `self`:
 *   SCL_LOSS_LOOP(value, (f - y) * (f - y) / 2) */
#define SCL_LOSS_LOOP(name, expression) \
  static void name(const void *self, size_t count, const double *scores, const double *targets, \
                   double *out) { \
    (void)self; \
    for (size_t j = 0; j < count; j++) { \
      const double f = scores[j], y = targets[j]; \
      (void)f, (void)y; \
      out[j] = (expression); \
    } \
  }

/* ------------ abilities */

/* out = the second derivative in f, at least 0; where the slope jumps or has a kink, that of one
 * side. Newton's method needs it. [any] */
#define SCL_ABILITY_LOSS_CURVATURE "scullery.loss-curvature/1"
typedef struct scl_ability_loss_curvature {
  scl_head head;
  void (*curvature)(const void *self, size_t count, const double *f, const double *y, double *out);
} scl_ability_loss_curvature;
#define SCL_LEAST_ABILITY_LOSS_CURVATURE SCL_THROUGH(scl_ability_loss_curvature, curvature)

/* out = l*(s, y) = sup over f of s f - l(f, y); INFINITY where there is no such number. Duality
 * gaps need it. [any] */
#define SCL_ABILITY_LOSS_CONJUGATE "scullery.loss-conjugate/1"
typedef struct scl_ability_loss_conjugate {
  scl_head head;
  void (*conjugate)(const void *self, size_t count, const double *s, const double *y, double *out);
} scl_ability_loss_conjugate;
#define SCL_LEAST_ABILITY_LOSS_CONJUGATE SCL_THROUGH(scl_ability_loss_conjugate, conjugate)

/* out = the f that minimises l(f, y) + (f - z)^2/(2 t), t > 0. Without this ability the host finds
 * it by bisection of the slope. [any] */
#define SCL_ABILITY_LOSS_PROXIMAL "scullery.loss-proximal/1"
typedef struct scl_ability_loss_proximal {
  scl_head head;
  void (*proximal)(const void *self, size_t count, const double *z, const double *y,
                   const double *t, double *out);
} scl_ability_loss_proximal;
#define SCL_LEAST_ABILITY_LOSS_PROXIMAL SCL_THROUGH(scl_ability_loss_proximal, proximal)

/* out = the probability of the class 1 at score f, for losses of classes. Without this ability the
 * host calibrates probabilities. [any] */
#define SCL_ABILITY_LOSS_PROBABILITY "scullery.loss-probability/1"
typedef struct scl_ability_loss_probability {
  scl_head head;
  void (*probability)(const void *self, size_t count, const double *f, double *out);
} scl_ability_loss_probability;
#define SCL_LEAST_ABILITY_LOSS_PROBABILITY SCL_THROUGH(scl_ability_loss_probability, probability)

/* out = the mean of the targets that have the score f, where it is another function of f: exp(f)
 * for counts. Where E l(f, Y) is least in f, it is E Y. It rises with f; infinite where it is too
 * large for a number. Predictions of a regression are then means. [any] */
#define SCL_ABILITY_LOSS_MEAN "scullery.loss-mean/1"
typedef struct scl_ability_loss_mean {
  scl_head head;
  void (*mean)(const void *self, size_t count, const double *f, double *out);
  /* The mean as an expression of C in the double f: as formula of scl_nonlinearity. [any] */
  int (*formula)(const void *self, char *text, size_t size);
} scl_ability_loss_mean;
#define SCL_LEAST_ABILITY_LOSS_MEAN SCL_THROUGH(scl_ability_loss_mean, mean)

/* ------------ for solvers that take a loss */

/* Calls of a loss that a solver got as an option (SCL_FORM_PARTS, words "loss"), as a service of
 * the host. Functions with a status check what the loss returned: a NaN is SCL_STATUS_NUMERIC. A
 * function that the loss does not offer is SCL_STATUS_UNSUPPORTED. [any] */
#define SCL_SERVICE_LOSSES "scullery.losses/1"
typedef struct scl_loss_service {
  scl_head head;
  scl_status (*facts)(const scl_part *loss, scl_loss_facts *out, scl_error *error);
  scl_status (*value)(const scl_part *loss, size_t count, const double *f, const double *y,
                      double *out, scl_error *error);
  scl_status (*slope)(const scl_part *loss, size_t count, const double *f, const double *y,
                      double *out, scl_error *error);
  scl_status (*curvature)(const scl_part *loss, size_t count, const double *f, const double *y,
                          double *out, scl_error *error);
  scl_status (*conjugate)(const scl_part *loss, size_t count, const double *s, const double *y,
                          double *out, scl_error *error);
  /* Of every loss: by its own slot, or by bisection. */
  scl_status (*proximal)(const scl_part *loss, size_t count, const double *z, const double *y,
                         const double *t, double *out, scl_error *error);
  scl_status (*probability)(const scl_part *loss, size_t count, const double *f, double *out,
                            scl_error *error);
  scl_status (*mean)(const scl_part *loss, size_t count, const double *f, double *out,
                     scl_error *error);
} scl_loss_service;
#define SCL_LEAST_LOSS_SERVICE SCL_THROUGH(scl_loss_service, probability)

#endif
