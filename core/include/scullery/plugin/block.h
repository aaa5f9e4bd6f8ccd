/* scullery/plugin/block.h: numbers in memory: blocks, spreads, arrays.
 *
 * Strides count elements, not bytes. The columns of a row are adjacent. `data` is aligned to its
 * element. Any of rows, cols and planes may be 0. */
#ifndef SCULLERY_PLUGIN_BLOCK_H
#define SCULLERY_PLUGIN_BLOCK_H

#include "base.h"

/* Types of numbers. Blocks are float64 or float32 today. A component gets only those that its
 * `dtypes` declares (0: float64 only); the host converts others. Arrays of models may also be
 * int32 and int64. The other constants are reserved. */
enum {
  SCL_DTYPE_FLOAT64 = 0,
  SCL_DTYPE_FLOAT32 = 1,
  SCL_DTYPE_FLOAT16 = 2,
  SCL_DTYPE_BFLOAT16 = 3,
  SCL_DTYPE_INT8 = 4,
  SCL_DTYPE_BITS = 5, /* 64 to a word, lowest bit first; strides are multiples of 64 */
  SCL_DTYPE_INT32 = 6,
  SCL_DTYPE_INT64 = 7
};
typedef int32_t scl_dtype;
#define SCL_DTYPES_FLOAT (SCL_BIT(SCL_DTYPE_FLOAT64) | SCL_BIT(SCL_DTYPE_FLOAT32))

/* Which memory holds the bytes. A plugin gets host memory only. */
enum { SCL_MEMORY_HOST = 0 };
typedef int32_t scl_memory;

/* rows x cols x planes numbers to be written (scl_block) or read (scl_const_block). Plane k of row
 * i starts at data + i*row_stride + k*plane_stride. A nonlinearity that takes fan_in numbers of a
 * parameter reads them from fan_in planes, so that inner loops run over adjacent parameters. */
typedef struct scl_block {
  void *data;
  scl_dtype dtype;
  scl_memory memory;
  size_t rows, cols, planes;
  ptrdiff_t row_stride, plane_stride;
  int32_t device; /* 0 */
  uint32_t reserved;
  const void *extra; /* NULL */
} scl_block;

typedef struct scl_const_block {
  const void *data;
  scl_dtype dtype;
  scl_memory memory;
  size_t rows, cols, planes;
  ptrdiff_t row_stride, plane_stride;
  int32_t device;
  uint32_t reserved;
  const void *extra;
} scl_const_block;

/* A standard deviation for each number of a block, in the block's dtype: entry (i, j, k) is
 * data[i*row_stride + j*col_stride + k*plane_stride]. A stride of 0: it does not depend on that
 * index. */
typedef struct scl_spread {
  const void *data;
  ptrdiff_t row_stride, col_stride, plane_stride;
} scl_spread;

/* A packed row-major array of `rank` dimensions, 0 (one number) to 4. */
typedef struct scl_array {
  const void *data;
  scl_dtype dtype;
  uint32_t rank;
  size_t sizes[4];
} scl_array;

/* Compressed sparse rows: row i has the number values[k] in column columns[k], for k = starts[i] ..
 * starts[i+1]-1, and 0 in all other columns. Columns ascend in a row. starts[0] need not be 0. */
typedef struct scl_const_csr {
  const int64_t *starts; /* rows + 1 */
  const int32_t *columns;
  const void *values;
  scl_dtype dtype; /* of the values */
  uint32_t reserved;
  size_t rows, cols;
} scl_const_csr;

/* The same to be written: starts (rows + 1 numbers) and room for as many numbers as the rows that
 * were given have. */
typedef struct scl_csr_block {
  int64_t *starts;
  int32_t *columns;
  double *values;
  size_t rows, cols;
} scl_csr_block;

/* Number k of sparse rows. */
static inline double scl_csr_number(const scl_const_csr *rows, int64_t k) {
  return rows->dtype == SCL_DTYPE_FLOAT32 ? (double)((const float *)rows->values)[k]
                                          : ((const double *)rows->values)[k];
}

#endif
