/* The law of the in-degree of sparse parameters: fixed, binomial(d, p) or a table P(0), P(1), ...;
 * as an option, as probabilities and as draws. */
#ifndef SCULLERY_SHARED_DEGREES_H
#define SCULLERY_SHARED_DEGREES_H

#include <math.h>
#include <scullery/plugin.h>
#include <string.h>

typedef struct degree_law {
  size_t fixed;  /* 0: another law */
  int binomial;  /* else a table */
  double p;      /* binomial */
  double *table; /* `length` probabilities that sum to 1 */
  size_t length;
} degree_law;

#define DEGREE_OPTION                                                                              \
  {                                                                                                \
    "degree", SCL_FORM_INTEGER | SCL_FORM_NAMED, "binomial|table", "1", 1, INFINITY,               \
        SCL_RANGE_HIGH_OPEN, SCL_WIDTH_NONE,                                                       \
        "in-degree s, columns a parameter: s; {binomial = p}: s ~ B(d, p); {table = {P(0), P(1), " \
        "...}}"                                                                                    \
  }

static inline void degree_release(const scl_host *host, degree_law *law) {
  host->release(law->table);
  law->table = NULL;
}

static inline scl_status degree_read_table(const scl_host *host, const scl_value *value,
                                           degree_law *out, scl_error *error) {
  double sum = 0;
  for (size_t s = 0; s < value->length; s++) {
    if (!(value->list[s] >= 0))
      return host->fail(error, SCL_STATUS_BAD_OPTION,
                        "option 'degree': P(%zu) = %g in the table; probabilities are not negative",
                        s, value->list[s]);
    sum += value->list[s];
  }
  if (!(fabs(sum - 1) <= 1e-9))
    return host->fail(
        error, SCL_STATUS_BAD_OPTION,
        "option 'degree': the %zu probabilities of the table sum to %.12g; it takes 1",
        value->length, sum);
  out->table = host->allocate(value->length * sizeof *out->table);
  if (out->table == NULL)
    return host->fail(error, SCL_STATUS_NO_MEMORY, "not enough memory for %zu numbers",
                      value->length);
  for (size_t s = 0; s < value->length; s++) {
    out->table[s] = value->list[s] / sum;
    if (value->list[s] > 0) out->length = s + 1;
  }
  return SCL_STATUS_OK;
}

static inline scl_status degree_read(const scl_host *host, const scl_value *value, degree_law *out,
                                     scl_error *error) {
  memset(out, 0, sizeof *out);
  if (value->form != SCL_FORM_NAMED) {
    if (value->number > INT32_MAX)
      return host->fail(error, SCL_STATUS_BAD_OPTION,
                        "option 'degree' = %g is more columns than there can be (2^31 - 1)",
                        value->number);
    out->fixed = (size_t)value->number;
    return SCL_STATUS_OK;
  }
  if (strcmp(value->word, "table") == 0) return degree_read_table(host, value, out, error);
  if (value->length != 1 || !(value->list[0] >= 0 && value->list[0] <= 1))
    return host->fail(error, SCL_STATUS_BAD_OPTION,
                      "option 'degree': {binomial = p} takes one probability in [0, 1], and got %g "
                      "(of %zu numbers)",
                      value->length > 0 ? value->list[0] : NAN, value->length);
  out->binomial = 1;
  out->p = value->list[0];
  return SCL_STATUS_OK;
}

/* In-degrees low .. high are all that have a probability of 1e-18 of the largest or more: a draw,
 * made from 53 bits, meets no other. */
typedef struct degree_range {
  size_t low, high;
} degree_range;

/* P(s + 1) / P(s) of B(dim, p) */
static inline double degree_step(double p, size_t dim, size_t s) {
  return (double)(dim - s) / (double)(s + 1) * (p / (1 - p));
}

static inline degree_range degree_binomial_range(double p, size_t dim) {
  if (p == 0 || p == 1) return p == 0 ? (degree_range){0, 0} : (degree_range){dim, dim};
  const double mode = floor(((double)dim + 1) * p);
  degree_range range;
  range.low = range.high = mode < (double)dim ? (size_t)mode : dim;
  for (double ratio = 1; range.high < dim && (ratio *= degree_step(p, dim, range.high)) >= 1e-18;)
    range.high++;
  for (double ratio = 1; range.low > 0 && (ratio /= degree_step(p, dim, range.low - 1)) >= 1e-18;)
    range.low--;
  return range;
}

/* For `dim` columns; refuses in-degrees that they cannot have. */
static inline scl_status degree_find_range(const scl_host *host, const degree_law *law, size_t dim,
                                           degree_range *out, scl_error *error) {
  const size_t most = law->fixed != 0 ? law->fixed : law->binomial ? dim : law->length - 1;
  if (most > dim)
    return host->fail(error, SCL_STATUS_BAD_SHAPE,
                      "option 'degree' asks for %s%zu columns a parameter, and the data have %zu",
                      law->fixed != 0 ? "" : "up to ", most, dim);
  *out = law->binomial     ? degree_binomial_range(law->p, dim)
         : law->fixed != 0 ? (degree_range){most, most}
                           : (degree_range){0, most};
  return SCL_STATUS_OK;
}

/* P(low), ..., P(high). The binomial ones by their ratios, from the largest on: no factorial, no
 * underflow. */
static inline void degree_fill(const degree_law *law, size_t dim, degree_range range, double *out) {
  const size_t count = range.high - range.low + 1;
  if (!law->binomial) {
    for (size_t i = 0; i < count; i++)
      out[i] = law->fixed != 0 ? 1 : law->table[range.low + i];
    return;
  }
  const double mode = floor(((double)dim + 1) * law->p);
  const size_t top = mode < (double)range.high ? (size_t)mode - range.low : count - 1;
  double sum = 1;
  out[top] = 1;
  for (size_t i = top + 1; i < count; i++)
    sum += out[i] = out[i - 1] * degree_step(law->p, dim, range.low + i - 1);
  for (size_t i = top; i-- > 0;)
    sum += out[i] = out[i + 1] / degree_step(law->p, dim, range.low + i);
  for (size_t i = 0; i < count; i++)
    out[i] /= sum;
}

/* The in-degree at which the distribution function passes u. */
static inline size_t degree_at(degree_range range, const double *probability, double u) {
  double sum = 0;
  for (size_t s = range.low; s < range.high; s++) {
    sum += probability[s - range.low];
    if (u < sum) return s;
  }
  return range.high;
}

#endif
