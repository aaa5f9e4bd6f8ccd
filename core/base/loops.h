/* Inner loops compiled for several instruction sets, one table for each (isa/loops.c). The table
 * "plain" is portable C over libm and the reference in tests. */
#ifndef SCULLERY_LOOPS_H
#define SCULLERY_LOOPS_H

#include <scullery/plugin.h>
#include <stdbool.h>

/* The largest number of columns k of a thin product. */
enum { SCL_THIN_COLUMNS = 32 };
/* Rows of v in a panel of distances. */
enum { SCL_PANEL = 32 };
/* Rows of data that are stored side by side in transposed blocks. */
enum { SCL_LANES = 64 };
/* Bytes of terms of a row product that are summed before they are added to the other terms; a
 * number of terms that is a multiple of such a chunk for both dtypes; the most columns of a row
 * solve. */
enum { SCL_ROW_CHUNK = 1024, SCL_ROW_TERMS = 256, SCL_ROW_SOLVE = 32 };

/* Products of whole numbers, summed exactly (algebra/whole_accumulate.c). Columns are packed in
 * strips of `width` columns, step after step, each of `rows` rows. A strip begins with 2 width
 * numbers of 32 bits, zeros before its first step is packed: initial values of the sums of its
 * columns, as left factor and then as right factor. All arithmetic is modulo 2^32. */
typedef struct scl_whole_kernel {
  bool vnni;    /* needs AVX-512 VNNI beside the instruction set of the table */
  size_t rows;  /* of a step */
  size_t steps; /* of one product at most */
  size_t width; /* columns of a strip */
  size_t tall;  /* columns on the left of a product; divides `width` */
  size_t bytes; /* of a step of a strip */
  /* Pack `rows` rows and cols <= width columns of v into a strip, from the step `first` on; rows
   * and columns that are missing are zeros. */
  void (*pack)(size_t rows, size_t cols, const void *v, ptrdiff_t stride, void *strip,
               size_t first);
  /* sums (tall x width) = the products of the columns i .. i + tall - 1 of the strip `left` and the
   * first `cols` of the strip `right`. */
  void (*product)(size_t steps, size_t cols, const void *left, size_t i, const void *right,
                  int32_t *sums);
} scl_whole_kernel;

/* v[j] = clip(round((y[j] - offset[j]) inverse[j])) with |v| <= most, halves to even; offset NULL:
 * zeros. Adds to *clipped how many numbers lie more than half a unit beyond `most`. Returns 0 where
 * a y is not finite, else 1. */
typedef int scl_whole_rounder(size_t count, const void *y, const void *offset, const void *inverse,
                              void *v, size_t *clipped);

typedef struct scl_whole_loops {
  const scl_whole_kernel *int8[3], *int16[3]; /* best first, NULL-terminated */
  scl_whole_rounder *round_f32_i8, *round_f32_i16, *round_f64_i8, *round_f64_i16;
  /* low (rows x cols, row stride `stride`) += 2^shift sums, with row stride `apart`, modulo
   * 2^64. */
  void (*add)(size_t rows, size_t cols, const int32_t *sums, size_t apart, unsigned shift,
              uint64_t *low, size_t stride);
  /* The same, with the carries into `high`, modulo 2^128. */
  void (*add_wide)(size_t rows, size_t cols, const int32_t *sums, size_t apart, unsigned shift,
                   uint64_t *low, uint64_t *high, size_t stride);
  /* out (rows x cols, row stride `apart`) = v as numbers of float64. What is `ahead` of each number
   * comes next: it is fetched meanwhile. */
  void (*widen_i8)(size_t rows, size_t cols, const int8_t *v, ptrdiff_t stride, ptrdiff_t ahead,
                   double *out, size_t apart);
  void (*widen_i16)(size_t rows, size_t cols, const int16_t *v, ptrdiff_t stride, ptrdiff_t ahead,
                    double *out, size_t apart);
  /* out (cols x k, column q at out + q apart) += V'd with d rows x k; exact where all partial sums
   * are below 2^53. */
  void (*adjoint_i8)(size_t rows, size_t cols, size_t k, const int8_t *v, ptrdiff_t stride,
                     const double *d, double *out, size_t apart);
  void (*adjoint_i16)(size_t rows, size_t cols, size_t k, const int16_t *v, ptrdiff_t stride,
                      const double *d, double *out, size_t apart);
} scl_whole_loops;

/* Sparse rows of a product. Row i has the terms begin[i] .. end[i]-1: values[k], in the loop's type,
 * in column columns[k], which ascend. Its partner is row columns[k] of the packed matrix; or, where
 * `partners` is not NULL, the numbers at partners[k], one for each column of the product, in whole
 * strips. */
typedef struct scl_csr_terms {
  const int64_t *begin, *end; /* rows each */
  const int32_t *columns;
  const void *const *partners;
  const void *values;
  size_t rows;
} scl_csr_terms;

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
  /* out[l] = sum over k < slots of x[column[k] * SCL_LANES + l] * weight[k], l < SCL_LANES */
  void (*lanes_sum_f64)(size_t slots, const double *x, const int32_t *column, const double *weight,
                        double *out);
  void (*lanes_sum_f32)(size_t slots, const float *x, const int32_t *column, const float *weight,
                        float *out);
  /* x[i] += shift[i] */
  void (*plus_f64)(size_t count, const double *shift, double *x);
  void (*plus_f32)(size_t count, const float *shift, float *x);
  /* out[i] = factor[i] * x[i]; out may be x. Returns 0 where a result is not finite, else 1. */
  int (*scale_f64)(size_t count, const double *factor, const double *x, double *out);
  int (*scale_f32)(size_t count, const float *factor, const float *x, float *out);
  /* out[i] = floor((x - shift[i]) / pitch[i]), clamped to +-(2^31 - 1) */
  void (*cell_f64)(size_t count, double x, const double *shift, const double *pitch, double *out);
  /* sum of (word[i] + 1) * odd[i] modulo 2^64, the inner product of a hash */
  uint64_t (*hash_i32)(size_t count, const int32_t *word, const uint32_t *odd);
  /* sum[i] += x[i] */
  void (*add_f32)(size_t count, const float *x, double *sum);
  /* out[i] = x[i] row factor[i] rounded to a whole number, halves to even. Returns a number that no
   * |out[i]| exceeds: the largest. 2^61 or more: a number is too large or not finite, and `out` is
   * not to be used. Factors are powers of two. */
  uint64_t (*whole_f64)(size_t count, const double *x, double row, const double *factor,
                        int64_t *out);
  uint64_t (*whole_f32)(size_t count, const float *x, double row, const double *factor,
                        int64_t *out);
  /* x[i] = (x[i] + low[i]) - (mean + rest) (sum[i] + sum_rest[i]), of about 106 bits rounded once,
   * with |low[i]| at most half a unit of the last place of x[i], and so the other rests. sum_rest
   * NULL: zeros. */
  void (*centre_f64)(size_t count, const double *low, double mean, double rest, const double *sum,
                     const double *sum_rest, double *x);
  /* out[i] = (x[i] - shift[i]) * factor[i]; 1 where all of them are finite, else 0 */
  int (*affine_f64)(size_t count, const double *x, const double *shift, const double *factor,
                    double *out);
  /* sum of (factor[i] * x[i])^2 */
  double (*square_f64)(size_t count, const double *factor, const double *x);
  /* out (rows x count, row stride `stride`) = ||u_i - v_j||_1 with u rows x dim; v transposed as a
   * panel, dim x SCL_PANEL, of which the first count <= SCL_PANEL columns are used. Terms are added
   * in the order of the coordinates. */
  void (*absolute_panel_f64)(size_t rows, size_t dim, const double *u, ptrdiff_t u_stride,
                             const double *panel, size_t count, double *out, ptrdiff_t stride);
  /* 1 where all numbers are finite, else 0 */
  int (*finite_f64)(size_t count, const double *x);
  /* Numbers of 128 bits in two halves: (high[i], low[i]) += x[i]. */
  void (*add_wide_i64)(size_t count, const int64_t *x, int64_t *low, int64_t *high);
  /* out (rows x 8) = Phi a with Phi rows x cols (row stride `stride`) and a cols x 8; terms are added
   * in the order of the columns, to the same bits with all instruction sets. */
  void (*eight_product_f64)(size_t rows, size_t cols, const double *phi, ptrdiff_t stride,
                            const double *a, double *out);
  /* sum[0 .. 7] += table[place[i] * stride + (0 .. 7)], in the order of i */
  void (*eight_look_up_f64)(size_t count, const uint32_t *place, const double *table, size_t stride,
                            double *sum);
  /* out (rows x k) += Phi a with Phi rows x cols (row stride `stride`) and k <= SCL_THIN_COLUMNS;
   * column q of a begins at a + q * apart. Partial sums are added in float64. */
  void (*thin_product_f64)(size_t rows, size_t cols, size_t k, const double *phi, ptrdiff_t stride,
                           const double *a, ptrdiff_t apart, double *out);
  void (*thin_product_f32)(size_t rows, size_t cols, size_t k, const float *phi, ptrdiff_t stride,
                           const float *a, ptrdiff_t apart, double *out);
  /* out (cols x k, column q at out + q * apart) += Phi' r with r rows x k. */
  void (*thin_adjoint_f64)(size_t rows, size_t cols, size_t k, const double *phi, ptrdiff_t stride,
                           const double *r, double *out, ptrdiff_t apart);
  void (*thin_adjoint_f32)(size_t rows, size_t cols, size_t k, const float *phi, ptrdiff_t stride,
                           const float *r, double *out, ptrdiff_t apart);
  /* Bit i of out[j] is 1 where z_ij > 0 (zero != 0: where not z_ij < 0), for i < rows <= 64 and
   * eight adjacent columns j. */
  void (*signs_f64)(size_t rows, const double *z, ptrdiff_t stride, int zero, uint64_t *out);
  void (*signs_f32)(size_t rows, const float *z, ptrdiff_t stride, int zero, uint64_t *out);
  /* Bit l of out[j] is 1 where x[column[j] * SCL_LANES + l] > threshold[j] (equal != 0: >=), for
   * l < SCL_LANES. */
  void (*above_f64)(size_t count, const double *x, const int32_t *column, const double *threshold,
                    int equal, uint64_t *out);
  void (*above_f32)(size_t count, const float *x, const int32_t *column, const float *threshold,
                    int equal, uint64_t *out);
  /* out_ij (rows x 8 * groups, row stride `stride`) = high[j] where bit first + i of word j is 1,
   * else low[j]; first + rows <= 64. A group is eight adjacent words; the next group begins
   * 8 * apart words later. */
  void (*spread_f64)(size_t groups, size_t apart, const uint64_t *words, size_t first, size_t rows,
                     const double *low, const double *high, double *out, ptrdiff_t stride);
  void (*spread_f32)(size_t groups, size_t apart, const uint64_t *words, size_t first, size_t rows,
                     const double *low, const double *high, float *out, ptrdiff_t stride);
  /* Bytes of one row of a strip of packed_product: `width` numbers. 0: the set has no packed
   * products. */
  size_t packed_bytes;
  /* out (rows x cols, row stride `stride`) += A'B with A terms x rows and B terms x cols, both
   * packed in strips of `width` columns: entry (k, j) is at j / width * width * terms + k * width +
   * j % width, and the padding of the last strip may have any values. below: only entries on and
   * below the diagonal are required. */
  void (*packed_product_f64)(size_t terms, size_t rows, size_t cols, const double *left,
                             const double *right, bool below, double *out, ptrdiff_t stride);
  void (*packed_product_f32)(size_t terms, size_t rows, size_t cols, const float *left,
                             const float *right, bool below, float *out, ptrdiff_t stride);
  /* Bytes of one row of a strip of row_product: `width` numbers. */
  size_t strip_bytes;
  /* out (rows x cols, row stride `stride`) = A B, or += where `add`, with A rows x terms (row
   * stride `apart`) and columns first .. first+cols-1 of B (terms x any), which is packed in strips
   * of `width` columns as for packed_product. A number of the result depends on its row of A and
   * its column of B alone. B may come in parts of a multiple of SCL_ROW_TERMS terms, the later ones
   * added, to the same bits. */
  void (*row_product_f64)(size_t terms, size_t rows, size_t first, size_t cols, const double *left,
                          ptrdiff_t apart, const double *right, bool add, double *out,
                          ptrdiff_t stride);
  void (*row_product_f32)(size_t terms, size_t rows, size_t first, size_t cols, const float *left,
                          ptrdiff_t apart, const float *right, bool add, float *out,
                          ptrdiff_t stride);
  /* The same of sparse rows, to the bits of the dense ones. B has `terms` rows; with partners `right`
   * is NULL. With `add`, the columns of later calls begin at multiples of SCL_ROW_TERMS. */
  void (*csr_product_f64)(const scl_csr_terms *left, size_t terms, size_t first, size_t cols,
                          const double *right, bool add, double *out, ptrdiff_t stride);
  void (*csr_product_f32)(const scl_csr_terms *left, size_t terms, size_t first, size_t cols,
                          const float *right, bool add, float *out, ptrdiff_t stride);
  /* x = x L^-T with x rows x count (row stride `stride`) and L lower triangular (row stride
   * `apart`), count <= SCL_ROW_SOLVE. A row of the result depends on that row of x alone. */
  void (*row_solve_f64)(size_t rows, size_t count, const double *l, ptrdiff_t apart, double *x,
                        ptrdiff_t stride);
  const scl_whole_loops *whole;
} scl_loops;

/* The best table of this machine, or the one that SCULLERY_ISA=plain|avx2|avx512 names. */
const scl_loops *scl_loops_get(void);
/* Whether SCULLERY_ISA permits the instruction set ("avx2", "avx512"), for loops outside of the
 * tables. Does not test whether the machine has it. */
bool scl_loops_allow(const char *set);
/* All tables of this machine, best first, NULL-terminated. */
const scl_loops *const *scl_loops_all(void);

#endif
