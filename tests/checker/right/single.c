/* Least squares on the one feature with the largest |r_j|/sqrt(A_jj), of several the first:
 * A = Phi'W Phi/N, r = Phi'W y/N. */
#include <scullery/plugin.h>

typedef struct single {
  scl_base base;
} single;

static const scl_option options[] = {SCL_OPTION_INTERCEPT};

static scl_status solve(const void *instance, const scl_problem *problem, scl_solution *out,
                        scl_error *error) {
  const scl_host *host = problem->host;
  const size_t d = problem->features, c = problem->targets;
  scl_normal sums = {.head = SCL_HEAD(scl_normal)};
  double *size = host->scratch((d + 1) * sizeof *size);
  (void)instance;
  if (size == NULL) return host->fail(error, SCL_STATUS_NO_MEMORY, "no memory for %zu features", d);
  const scl_status status = problem->normal(problem, &sums, error);
  if (status != SCL_STATUS_OK) return status;
  host->symmetric->diagonal(sums.moment, size);
  for (size_t j = 0; j < c; j++) {
    size_t best = 0;
    double most = 0;
    for (size_t i = 0; i < d; i++) {
      const double r = sums.right[i * c + j], gain = size[i] > 0 ? r * r / size[i] : 0;
      out->coefficients[i * c + j] = 0;
      if (gain > most) most = gain, best = i;
    }
    if (most > 0) out->coefficients[best * c + j] = sums.right[best * c + j] / size[best];
  }
  out->outcome = SCL_OUTCOME_STOPPED;
  return SCL_STATUS_OK;
}

static scl_penalty penalty(const void *instance) {
  (void)instance;
  return SCL_PENALTY_L1;
}

const scl_plugin scullery_plugin = {
    .name = "single",
    .version = "1.0",
    .summary = "least squares on one feature",
    .doc = "Least squares on the feature with the largest |r_j|/sqrt(A_jj).",
    SCL_SOLVER(.solve = solve),
    SCL_INSTANCE(single, options),
    SCL_ABILITIES(SCL_OFFER(SCL_ABILITY_PENALTY, scl_ability_penalty, .penalty = penalty))};
