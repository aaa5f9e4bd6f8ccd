/* The loss of a solver that got it as an option. */
#include "shared/part_loss.h"

static const scl_loss_service *losses(const scl_host *host) {
  return host->service(SCL_SERVICE_LOSSES);
}

/* Whether the call of a loss was well; else the slot at hand fails with its sentence. */
static bool told(const scl_host *host, scl_status status, const scl_error *error) {
  if (status != SCL_STATUS_OK) host->fail_call(status, "%s", error->message);
  return status == SCL_STATUS_OK;
}

/* The loss of one row, by a function of the service that takes arrays. */
static void call_row(const scl_host *host, const scl_part *loss, size_t c, const double *f,
                     const double *y, bool slope, double *out) {
  const scl_loss_service *service = losses(host);
  scl_error error = {.status = SCL_STATUS_OK};
  (void)told(host, (slope ? service->slope : service->value)(loss, c, f, y, out, &error), &error);
}

double part_loss_value(const scl_host *host, const scl_part *loss, size_t c, const double *f,
                       const double *y) {
  double sum = 0;
  for (size_t j = 0; j < c; j++) {
    double value = NAN;
    call_row(host, loss, 1, f + j, y + j, false, &value);
    sum += value;
  }
  return sum;
}

void part_loss_slope(const scl_host *host, const scl_part *loss, size_t c, const double *f,
                     const double *y, double *out) {
  call_row(host, loss, c, f, y, true, out);
}

/* The loss is convex in f, and its slopes rise, so that the ends tell. */
double part_loss_largest(const scl_host *host, const scl_part *loss, double reach, bool slope) {
  enum { TARGETS = 41 };
  scl_loss_facts facts = {.head = SCL_HEAD(scl_loss_facts)};
  double most = 0;
  if (losses(host)->facts(loss, &facts, NULL) != SCL_STATUS_OK) return NAN;
  const bool classes = facts.targets & SCL_TARGETS_CLASSES;
  for (int i = 0; i < TARGETS; i++) {
    const double at = classes ? (i < 20 ? -1 : 1) : (i - 20) / 20.0, y[2] = {at, at},
                 f[2] = {-reach, reach};
    double out[2] = {0, 0};
    if (!classes && !part_loss_takes(&facts, at)) continue;
    call_row(host, loss, 2, f, y, slope, out);
    most = fmax(most, fmax(fabs(out[0]), fabs(out[1])));
  }
  return !classes && facts.range & SCL_RANGE_LOW_OPEN && facts.low > -1 ? INFINITY : most;
}

int32_t part_loss_probabilities(const scl_host *host, const scl_part *loss, size_t c,
                                const double *f, double *out) {
  scl_error error = {.status = SCL_STATUS_OK};
  double sum = 0;
  if (host->parts->ability(loss, SCL_ABILITY_LOSS_PROBABILITY) == NULL) return 0;
  if (!told(host, losses(host)->probability(loss, c, f, out, &error), &error)) return 0;
  if (c == 1) {
    out[1] = out[0];
    out[0] = 1 - out[1];
    return 1;
  }
  for (size_t j = 0; j < c; j++)
    sum += out[j] = fmax(out[j], 1e-300);
  for (size_t j = 0; j < c; j++)
    out[j] /= sum;
  return 1;
}

int32_t part_loss_means(const scl_host *host, const scl_part *loss, size_t c, const double *f,
                        double *out) {
  const scl_loss_service *service = losses(host);
  scl_error error = {.status = SCL_STATUS_OK};
  return host->parts->ability(loss, SCL_ABILITY_LOSS_MEAN) != NULL && SCL_HAS(service, mean) &&
         told(host, service->mean(loss, c, f, out, &error), &error);
}

/* ------------ targets */

bool part_loss_takes(const scl_loss_facts *facts, double y) {
  if (facts->low == 0 && facts->high == 0) return true;
  if (facts->range & SCL_RANGE_LOW_OPEN ? y <= facts->low : y < facts->low) return false;
  return facts->range & SCL_RANGE_HIGH_OPEN ? y < facts->high : y <= facts->high;
}

/* A number that the loss takes. */
static double taken(const scl_loss_facts *facts) {
  if (facts->low == 0 && facts->high == 0) return 0;
  if (isfinite(facts->low))
    return isfinite(facts->high) ? (facts->low + facts->high) / 2 : facts->low + 1;
  return isfinite(facts->high) ? facts->high - 1 : 0;
}

/* Sums of squares of larger targets are not finite. */
static const double MOST_TARGET = 1e100;

static scl_status refuse_target(const scl_problem *problem, const scl_part *loss,
                                const scl_loss_facts *facts, size_t row, double y,
                                scl_error *error) {
  if (part_loss_takes(facts, y))
    return problem->host->fail(error, SCL_STATUS_BAD_DATA,
                               "targets go up to %g in size, and row %zu has %.9g: scale them",
                               MOST_TARGET, row + 1, y);
  const bool large = y > facts->low;
  return problem->host->fail(error, SCL_STATUS_BAD_DATA,
                             "loss.%s takes targets %s %.9g, and row %zu has %.9g",
                             loss->plugin->name,
                             large                               ? "below"
                             : facts->range & SCL_RANGE_LOW_OPEN ? "above"
                                                                 : "from",
                             large ? facts->high : facts->low, row + 1, y);
}

scl_status part_loss_check(const scl_problem *problem, const scl_part *loss,
                           const scl_loss_facts *facts, double *targets, const double *weights,
                           scl_error *error) {
  const bool classes = problem->task == SCL_TASK_CLASSIFICATION;
  const size_t c = problem->targets;
  if (!(facts->targets & (classes ? SCL_TARGETS_CLASSES : SCL_TARGETS_NUMBERS)))
    return problem->host->fail(error, SCL_STATUS_UNSUPPORTED,
                               "loss.%s takes %s, and the targets are %s", loss->plugin->name,
                               classes ? "numbers" : "classes (task = \"classification\")",
                               classes ? "classes" : "numbers");
  for (size_t i = 0; !classes && i < problem->rows * c; i++) {
    if (part_loss_takes(facts, targets[i]) && fabs(targets[i]) <= MOST_TARGET) continue;
    if (weights[i / c] > 0) return refuse_target(problem, loss, facts, i / c, targets[i], error);
    targets[i] = taken(facts);
  }
  return SCL_STATUS_OK;
}
