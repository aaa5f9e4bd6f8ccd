/* The loss that a solver got as an option, as what the solver declares of its own
 * (SCL_ABILITY_LOSS): of a row with c scores, the sum over its targets. */
#ifndef SCULLERY_SHARED_PART_LOSS_H
#define SCULLERY_SHARED_PART_LOSS_H

#include <scullery/plugin.h>

/* Functions of scl_ability_loss, for the loss `part`; they fail by host->fail_call. */
double part_loss_value(const scl_host *host, const scl_part *loss, size_t c, const double *f,
                       const double *y);
void part_loss_slope(const scl_host *host, const scl_part *loss, size_t c, const double *f,
                     const double *y, double *out);
/* The largest value (slope: |slope|) over |f| <= reach and the targets in [-1, 1] that the loss
 * takes; NAN: not known. */
double part_loss_largest(const scl_host *host, const scl_part *loss, double reach, bool slope);
int32_t part_loss_probabilities(const scl_host *host, const scl_part *loss, size_t c,
                                const double *f, double *out);
int32_t part_loss_means(const scl_host *host, const scl_part *loss, size_t c, const double *f,
                        double *out);

/* Whether a number is in the range of the targets that the loss takes. */
bool part_loss_takes(const scl_loss_facts *facts, double y);
/* Refuses targets (n x c, with n weights) of another kind than the loss takes, out of its range, or
 * so large that sums of their squares are not finite. In rows of weight 0 such targets become ones
 * that the loss takes. */
scl_status part_loss_check(const scl_problem *problem, const scl_part *loss,
                           const scl_loss_facts *facts, double *targets, const double *weights,
                           scl_error *error);

/* The row of the ability, for an instance `type` with a member `loss`. */
#define PART_LOSS_ABILITY(type) \
  static double loss_value(const void *self, size_t c, const double *f, const double *y) { \
    const type *own = self; \
    return part_loss_value(own->base.host, &own->loss, c, f, y); \
  } \
  static void loss_slope(const void *self, size_t c, const double *f, const double *y, \
                         double *out) { \
    const type *own = self; \
    part_loss_slope(own->base.host, &own->loss, c, f, y, out); \
  } \
  static double loss_bound(const void *self, double reach) { \
    const type *own = self; \
    return part_loss_largest(own->base.host, &own->loss, reach, false); \
  } \
  static double loss_lipschitz(const void *self, double reach) { \
    const type *own = self; \
    return part_loss_largest(own->base.host, &own->loss, reach, true); \
  } \
  static int32_t loss_probabilities(const void *self, size_t c, const double *f, double *out) { \
    const type *own = self; \
    return part_loss_probabilities(own->base.host, &own->loss, c, f, out); \
  } \
  static int32_t loss_means(const void *self, size_t c, const double *f, double *out) { \
    const type *own = self; \
    return part_loss_means(own->base.host, &own->loss, c, f, out); \
  }
#define PART_LOSS_OFFER \
  SCL_OFFER(SCL_ABILITY_LOSS, scl_ability_loss, .value = loss_value, .slope = loss_slope, \
            .bound = loss_bound, .lipschitz = loss_lipschitz, .probabilities = loss_probabilities, \
            .means = loss_means)

#endif
