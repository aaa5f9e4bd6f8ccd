/* The inner loops that the instruction set matters for, as one table per set (isa/loops.c). The
 * plain table is portable C over libm, and the tests' oracle. */
#ifndef SCULLERY_LOOPS_H
#define SCULLERY_LOOPS_H

#include <scullery/plugin.h>
#include <stdbool.h>

/* The most columns that thin products take at a time. */
enum { SCL_THIN_COLUMNS = 32 };
/* Rows of a panel of distances. */
enum { SCL_PANEL = 32 };
/* Rows of data that stand side by side in turned rows. */
enum { SCL_LANES = 64 };

typedef struct scl_loops {
  const char *name; /* "avx512", "avx2", "plain" */
  scl_vector_math math;
  /* out[i] = x[column[i]] - threshold[i] */
  void (*gather_f64)(size_t count, const double *x, const int32_t *column, const double *threshold,
                     double *out);
  void (*gather_f32)(size_t count, const float *x, const int32_t *column, const float *threshold,
                     float *out);
  /* out[i] = sum over k < slots of x[column[i + k stride]] * weight[i + k stride] */
  void (*gather_sum_f64)(size_t count, size_t slots, size_t stride, const double *x,
                         const int32_t *column, const double *weight, double *out);
  void (*gather_sum_f32)(size_t count, size_t slots, size_t stride, const float *x,
                         const int32_t *column, const float *weight, float *out);
  /* out[l] = sum over k < slots of x[column[k] SCL_LANES + l] * weight[k], l < SCL_LANES */
  void (*lanes_sum_f64)(size_t slots, const double *x, const int32_t *column, const double *weight,
                        double *out);
  void (*lanes_sum_f32)(size_t slots, const float *x, const int32_t *column, const float *weight,
                        float *out);
  /* x[i] += shift[i] */
  void (*plus_f64)(size_t count, const double *shift, double *x);
  void (*plus_f32)(size_t count, const float *shift, float *x);
  /* out[i] = factor[i] x[i]; 0 when one of the results is not finite; out may be x */
  int (*scale_f64)(size_t count, const double *factor, const double *x, double *out);
  int (*scale_f32)(size_t count, const float *factor, const float *x, float *out);
  /* out[i] = floor((x - shift[i]) / pitch[i]), cut to +-(2^31 - 1) */
  void (*cell_f64)(size_t count, double x, const double *shift, const double *pitch, double *out);
  /* sum of (word[i] + 1) * odd[i], a hash's inner product modulo 2^64 */
  uint64_t (*hash_i32)(size_t count, const int32_t *word, const uint32_t *odd);
  /* sum[i] += x[i] */
  void (*add_f32)(size_t count, const float *x, double *sum);
  /* out[i] = (x[i] - shift[i]) * factor[i] */
  void (*affine_f64)(size_t count, const double *x, const double *shift, const double *factor,
                     double *out);
  /* sum of (factor[i] x[i])^2 */
  double (*square_f64)(size_t count, const double *factor, const double *x);
  /* out (rows x count at stride) = ||u_i - v_j||_1, u rows x dim; v as a panel, dim x SCL_PANEL
   * with count <= SCL_PANEL columns in use. Terms are added in the order of the columns. */
  void (*absolute_panel_f64)(size_t rows, size_t dim, const double *u, ptrdiff_t u_stride,
                             const double *panel, size_t count, double *out, ptrdiff_t stride);
  /* not 0 when all are finite */
  int (*finite_f64)(size_t count, const double *x);
  /* out (rows x k) += Phi a, Phi rows x cols at stride; the k <= SCL_THIN_COLUMNS columns of a
   * lie `apart`. Sums over long stretches are float64. */
  void (*thin_product_f64)(size_t rows, size_t cols, size_t k, const double *phi, ptrdiff_t stride,
                           const double *a, ptrdiff_t apart, double *out);
  void (*thin_product_f32)(size_t rows, size_t cols, size_t k, const float *phi, ptrdiff_t stride,
                           const float *a, ptrdiff_t apart, double *out);
  /* The columns of out (cols x k), which lie `apart`, += Phi' r, r rows x k. */
  void (*thin_adjoint_f64)(size_t rows, size_t cols, size_t k, const double *phi, ptrdiff_t stride,
                           const double *r, double *out, ptrdiff_t apart);
  void (*thin_adjoint_f32)(size_t rows, size_t cols, size_t k, const float *phi, ptrdiff_t stride,
                           const float *r, double *out, ptrdiff_t apart);
  /* out[j] = bit i where z_ij > 0 (zero: where not z_ij < 0), for rows <= 64 and eight adjacent
   * columns. */
  void (*signs_f64)(size_t rows, const double *z, ptrdiff_t stride, int zero, uint64_t *out);
  void (*signs_f32)(size_t rows, const float *z, ptrdiff_t stride, int zero, uint64_t *out);
  /* out[j] = bit l where x[column[j] SCL_LANES + l] > threshold[j] (equal: >=), l < SCL_LANES. */
  void (*above_f64)(size_t count, const double *x, const int32_t *column, const double *threshold,
                    int equal, uint64_t *out);
  void (*above_f32)(size_t count, const float *x, const int32_t *column, const float *threshold,
                    int equal, uint64_t *out);
  /* out (rows x 8 groups, at stride) = high[j] where bit first + i of word j is 1, else low[j], for
   * first + rows <= 64 and groups of eight words, `apart` times eight words from each other. */
  void (*spread_f64)(size_t groups, size_t apart, const uint64_t *words, size_t first, size_t rows,
                     const double *low, const double *high, double *out, ptrdiff_t stride);
  void (*spread_f32)(size_t groups, size_t apart, const uint64_t *words, size_t first, size_t rows,
                     const double *low, const double *high, float *out, ptrdiff_t stride);
  /* Bytes of a row of a strip, below: `width` numbers; 0 where the set has no packed products. */
  size_t packed_bytes;
  /* out (rows x cols at stride) += A'B, A terms x rows and B terms x cols in strips of `width`
   * columns: column j of row k at j / width * width * terms + k width + j % width, strips filled up
   * with any numbers. below: at least the entries at and below the diagonal. */
  void (*packed_product_f64)(size_t terms, size_t rows, size_t cols, const double *left,
                             const double *right, bool below, double *out, ptrdiff_t stride);
  void (*packed_product_f32)(size_t terms, size_t rows, size_t cols, const float *left,
                             const float *right, bool below, float *out, ptrdiff_t stride);
} scl_loops;

/* The table for this machine; SCULLERY_ISA=plain|avx2|avx512 chooses a lesser one. */
const scl_loops *scl_loops_get(void);
/* Whether loops outside of the tables may use this set ("avx2", "avx512") where the machine has it:
 * SCULLERY_ISA names no lesser one. */
bool scl_loops_allow(const char *set);
/* All tables that this machine can run, best first, NULL-terminated. */
const scl_loops *const *scl_loops_all(void);

#endif
