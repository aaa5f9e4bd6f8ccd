/* Rows of independent coordinates w_j = s e_j, the law of e symmetric about 0 and s the one option,
 * under the sampler's own name for it. The sampler defines `options`, `make` and `factor`. */
#ifndef SCULLERY_SHARED_SCALED_ROWS_H
#define SCULLERY_SHARED_SCALED_ROWS_H

#include <scullery/plugin.h>

typedef struct scaled_rows {
  scl_base base;
  double scale; /* s */
} scaled_rows;

/* The options, from the name of s, its help, range and width; a bias. */
#define SCALED_ROWS_OPTIONS(name_, help_, ...) \
  {.name = name_, \
   .help = help_, \
   .fallback = "1", \
   .forms = SCL_FORM_NUMBER, \
   SCL_AT(scaled_rows, scale), \
   __VA_ARGS__}, \
      SCL_OPTION_BIAS

static inline void scaled_rows_moments(const void *self, double *mean, double *scale) {
  *mean = 0;
  *scale = ((const scaled_rows *)self)->scale;
}

/* The sampler: the numbers N(0, 1) that one e takes, and its family. */
#define SCALED_ROWS(normals_, family_) \
  SCL_SAMPLER(.space = SCL_SPACE_DENSE, .make = make, .moments = scaled_rows_moments, \
              .factor = factor, .normals = normals_, .family = family_), \
      SCL_INSTANCE(scaled_rows, options)

#endif
