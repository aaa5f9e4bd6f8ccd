#include "rows/widths.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SAMPLE = 1000 };

typedef struct surveying {
  scl_moments moments;
  double *sample; /* SAMPLE x cols */
  size_t cols, taken, rows;
} surveying;

static scl_status survey_block(void *context, const scl_flow_block *block, scl_error *error) {
  (void)error;
  surveying *s = context;
  const size_t wanted = scl_min(SAMPLE, s->rows);
  scl_moments_add(&s->moments, block->x, block->x_stride, block->count);
  for (; s->taken < wanted; s->taken++) {
    const size_t row = (size_t)((double)s->taken * (double)s->rows / (double)wanted);
    if (row >= block->first + block->count) break;
    memcpy(s->sample + s->taken * s->cols,
           (const double *)block->x + (ptrdiff_t)(row - block->first) * block->x_stride,
           s->cols * sizeof(double));
  }
  return SCL_STATUS_OK;
}

static int ascending(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

/* Squared distances of all pairs of the sample, of which the median. */
static scl_status median_distance(const surveying *s, double *out, scl_error *error) {
  const size_t pairs = s->taken * (s->taken - 1) / 2;
  double *distance = scl_allocate_array(pairs + 1, sizeof *distance);
  size_t at = 0;
  if (distance == NULL)
    return scl_fail_memory(error, pairs * sizeof *distance, "distances of a sample");
  for (size_t i = 0; i < s->taken; i++)
    for (size_t j = 0; j < i; j++) {
      double sum = 0;
      for (size_t k = 0; k < s->cols; k++) {
        const double gap = s->sample[i * s->cols + k] - s->sample[j * s->cols + k];
        sum += gap * gap;
      }
      distance[at++] = sum;
    }
  qsort(distance, pairs, sizeof *distance, ascending);
  *out = pairs == 0       ? 0
         : pairs % 2 == 1 ? distance[pairs / 2]
                          : (distance[pairs / 2 - 1] + distance[pairs / 2]) / 2;
  scl_release(distance);
  return SCL_STATUS_OK;
}

static double overall_variance(const scl_moments *m) {
  double mean = 0, sum = 0;
  for (size_t j = 0; j < m->cols; j++)
    mean += m->mean[j] / (double)m->cols;
  for (size_t j = 0; j < m->cols; j++)
    sum += m->square[j] / m->count + (m->mean[j] - mean) * (m->mean[j] - mean);
  return sum / (double)m->cols;
}

scl_status scl_flow_widths(const scl_flow *flow, double *scale, double *median, scl_error *error) {
  surveying s = {.cols = scl_flow_cols(flow), .rows = flow->source->rows};
  scl_flow plain = *flow;
  plain.map = NULL;
  plain.dtype = SCL_DTYPE_FLOAT64;
  plain.group = NULL;
  if (s.rows < 2 || s.cols == 0)
    return scl_fail(error, SCL_STATUS_BAD_DATA,
                    "a width from the data needs at least 2 rows and 1 column");
  SCL_TRY(scl_moments_create(s.cols, &s.moments, error));
  s.sample = scl_allocate_array(SAMPLE * s.cols, sizeof *s.sample);
  scl_status status = s.sample == NULL ? scl_fail_memory(error, SAMPLE * s.cols * sizeof *s.sample,
                                                         "a sample of rows")
                                       : SCL_STATUS_OK;
  double distance = 0;
  if (status == SCL_STATUS_OK) status = scl_flow_walk(&plain, false, survey_block, &s, error);
  if (status == SCL_STATUS_OK) status = median_distance(&s, &distance, error);
  const double variance = status == SCL_STATUS_OK ? overall_variance(&s.moments) : 1;
  *scale = 1 / ((double)s.cols * variance);
  *median = 1 / distance;
  if (status == SCL_STATUS_OK && !(variance > 0))
    status = scl_fail(error, SCL_STATUS_BAD_DATA,
                      "a width from the data: all numbers of X are the same");
  if (status == SCL_STATUS_OK && !(distance > 0))
    *median = *scale; /* more than half of the pairs coincide */
  scl_release(s.sample);
  scl_moments_destroy(&s.moments);
  return status;
}
