#include "shared/lambda_order.h"

#include <stdlib.h>

typedef struct lambda_place {
  double value;
  scl_solution *out;
} lambda_place;

static int lambda_descending(const void *a, const void *b) {
  const double x = ((const lambda_place *)a)->value, y = ((const lambda_place *)b)->value;
  return (x < y) - (x > y);
}

scl_status lambda_order(const scl_host *host, const double *values, size_t count,
                        scl_solution *const *out, double **lambdas, scl_solution ***sorted,
                        scl_error *error) {
  lambda_place *places = host->scratch((count + 1) * sizeof *places);
  *lambdas = host->scratch((count + 1) * sizeof **lambdas);
  *sorted = host->scratch((count + 1) * sizeof **sorted);
  if (places == NULL || *lambdas == NULL || *sorted == NULL)
    return host->fail(error, SCL_STATUS_NO_MEMORY, "not enough memory for a path of %zu", count);
  for (size_t k = 0; k < count; k++)
    places[k] = (lambda_place){.value = values[k], .out = out[k]};
  qsort(places, count, sizeof *places, lambda_descending);
  for (size_t k = 0; k < count; k++) {
    (*lambdas)[k] = places[k].value;
    (*sorted)[k] = places[k].out;
  }
  return SCL_STATUS_OK;
}
