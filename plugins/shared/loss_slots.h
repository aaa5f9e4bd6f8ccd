/* The slots of loss plugins whose formulas are those of shared/losses.h, which solvers use too. */
#ifndef SCULLERY_SHARED_LOSS_SLOTS_H
#define SCULLERY_SHARED_LOSS_SLOTS_H

#include "shared/losses.h"

/* Defines value and slope of the loss that `choice`, an expression of self, says. */
#define LOSS_SLOTS(choice) \
  static void value(const void *self, size_t count, const double *f, const double *y, \
                    double *out) { \
    double unwanted; \
    (void)self; \
    for (size_t i = 0; i < count; i++) \
      out[i] = loss_column(choice, f[i], y[i], &unwanted); \
  } \
  static void slope(const void *self, size_t count, const double *f, const double *y, \
                    double *out) { \
    (void)self; \
    for (size_t i = 0; i < count; i++) \
      (void)loss_column(choice, f[i], y[i], &out[i]); \
  }

/* Defines a loop over t too, for proximal steps: an expression of z, y and t. */
#define LOSS_PROXIMAL(expression) \
  static void proximal(const void *self, size_t count, const double *from, const double *targets, \
                       const double *steps, double *out) { \
    (void)self; \
    for (size_t i = 0; i < count; i++) { \
      const double z = from[i], y = targets[i], t = steps[i]; \
      out[i] = (expression); \
    } \
  }

/* Defines a loop for the mean, an expression of f, and its formula. */
#define LOSS_MEAN(expression) \
  SCL_FORMULA(mean_formula, #expression) \
  static void mean(const void *self, size_t count, const double *scores, double *out) { \
    (void)self; \
    for (size_t i = 0; i < count; i++) { \
      const double f = scores[i]; \
      out[i] = (expression); \
    } \
  }

/* The rows of abilities, for functions of these names. */
#define LOSS_OFFER_CURVATURE \
  SCL_OFFER(SCL_ABILITY_LOSS_CURVATURE, scl_ability_loss_curvature, .curvature = curvature)
#define LOSS_OFFER_CONJUGATE \
  SCL_OFFER(SCL_ABILITY_LOSS_CONJUGATE, scl_ability_loss_conjugate, .conjugate = conjugate)
#define LOSS_OFFER_PROXIMAL \
  SCL_OFFER(SCL_ABILITY_LOSS_PROXIMAL, scl_ability_loss_proximal, .proximal = proximal)
#define LOSS_OFFER_PROBABILITY \
  SCL_OFFER(SCL_ABILITY_LOSS_PROBABILITY, scl_ability_loss_probability, .probability = probability)
#define LOSS_OFFER_MEAN \
  SCL_OFFER(SCL_ABILITY_LOSS_MEAN, scl_ability_loss_mean, .mean = mean, .formula = mean_formula)

#endif
