/* scullery/plugin/stage.h: row stages, which map rows to rows. Before features they change the
 * columns of the data, after them the features. What a stage learns from the rows of a fit is a few
 * named arrays, which the host stores, saves with the model, and passes to `apply`.
 *
 * Two forms. Simple: `column` computes a shift and a factor of each column from its moments, and a
 * row x becomes (x - shift) * factor.
 * General: `fit` learns, `apply` maps a block of rows. */
#ifndef SCULLERY_PLUGIN_STAGE_H
#define SCULLERY_PLUGIN_STAGE_H

#include "host.h"
#include "sampler.h"

/* A record: the moments of a column over all rows of the fit. */
typedef struct scl_stage_column {
  double weight; /* the sum of the weights of the rows; without weights their number */
  double mean;
  double rest; /* rounding error of the mean in columns far from 0, else 0: mean + rest is exact to
                    more digits than mean */
  double square; /* the sum of w (x - mean)^2 */
  double low, high;
} scl_stage_column;

/* What a stage has learnt. */
typedef struct scl_stage_state {
  scl_head head;
  size_t cols;  /* columns that arrive */
  size_t width; /* columns that `apply` gives; preset to cols, which `shape` may change */
  const scl_array *arrays; /* in the order of the names in scl_stage.arrays */
  size_t count;            /* of arrays */
} scl_stage_state;
#define SCL_LEAST_STAGE_STATE SCL_THROUGH(scl_stage_state, count)

/* What `fit` learns from. Functions [one]. Sums over rows do not depend on threads or on the blocks
 * in which rows are read. */
typedef struct scl_fitting scl_fitting;
struct scl_fitting {
  scl_head head;
  const scl_host *host;
  /* The rows that arrive: their number, columns (dim) and targets; walk, select and progress.
   * Features are float64. draw and kernel are NULL. Weights and targets are there for stages with
   * SCL_STAGE_TARGETS alone. */
  const scl_learning *rows;
  uint64_t stream; /* of random numbers, stream .. stream+15; the seed is an option of the stage */
  /* Store an array of the state, one of the names in scl_stage.arrays; its numbers are copied.
   * Types: float64, float32, int32, int64. Each number must be finite. All names must be put. */
  scl_status (*put)(const scl_fitting *fitting, const char *name, const scl_array *array,
                    scl_error *error);
  /* A float64 matrix of a fitted pipeline's info, which `apply` does not need. At most 8 */
  scl_status (*report)(const scl_fitting *fitting, const char *name, const scl_array *array,
                       scl_error *error);
  /* out (dim records) = the moments of each column, by one pass. */
  scl_status (*moments)(const scl_fitting *fitting, scl_stage_column *out, scl_error *error);
  /* mean (dim numbers) and *weight, the sum of the weights; by one pass. */
  scl_status (*mean)(const scl_fitting *fitting, double *mean, double *weight, scl_error *error);
  /* *out = the sum of w (x - mean)(x - mean)', of order dim, by one pass. The caller destroys it,
   * by host->symmetric. */
  scl_status (*products)(const scl_fitting *fitting, const double *mean, scl_symmetric **out,
                         scl_error *error);
};
#define SCL_LEAST_FITTING SCL_THROUGH(scl_fitting, products)

enum {
  /* Learns from targets too. It comes before features, is fitted without each fold, and sees the
   * weights of rows; other stages count each row once. */
  SCL_STAGE_TARGETS = 1,
  /* A stage with one of these may follow features, whose common factor the host may leave out:
   * a positive factor of all columns does not change what the stage gives, or what it gives has the
   * same factor, not a power of it. Bins are neither: rounding crosses their edges. */
  SCL_STAGE_SCALE_FREE = 2,
  SCL_STAGE_HOMOGENEOUS = 4,
  /* Number j of a result depends on number j of the row alone, as always in the simple form. The
   * columns need not be treated alike. */
  SCL_STAGE_BY_COLUMN = 8
};

typedef struct scl_stage {
  scl_head head;
  scl_kind kind;  /* SCL_KIND_STAGE */
  uint32_t flags; /* SCL_STAGE_... */
  /* The names of the arrays of the state, "mean|factor": up to 8, each of a-z, 0-9, _ and at most
   * 20 characters. Simple form: the names of shift and factor; NULL: "shift|factor". General form,
   * NULL: it learns nothing. */
  const char *arrays;
  /* General form: put the arrays. NULL where it learns nothing. [any], one thread for each
   * scl_fitting */
  scl_status (*fit)(const void *self, const scl_fitting *rows, scl_error *error);
  /* General form, after `fit` and after a model is loaded: check types and sizes of the arrays, and
   * set fitted->width. From a file they may have any sizes: SCL_STATUS_BAD_DATA for wrong ones.
   * NULL: the width stays, and each array must be float64, 1 x cols. [any] */
  scl_status (*shape)(const void *self, scl_stage_state *fitted, scl_error *error);
  /* General form: out (rows x width) = the rows of in (rows x cols), both float64 in one plane.
   * They do not overlap. A row of out depends on its row of in alone. [any] */
  scl_status (*apply)(const void *self, const scl_stage_state *fitted, const scl_const_block *in,
                      const scl_block *out, scl_error *error);
  /* Simple form: the shift and the factor of a column. A column whose low is its high is constant:
   * it becomes 0, whatever the factor, if the shift is its value. [any] */
  void (*column)(const void *self, const scl_stage_column *column, double *shift, double *factor);
  /* General form, of a stage that maps 0 to 0 or keeps rows sparse otherwise: `apply` on compressed
   * sparse rows. out->rows and out->cols are set; write starts (from 0), columns in ascending order
   * and values. A number may become 0 and be left out, and none is added: out has room for the
   * numbers of `in`. `fit` may then be shown sparse rows by `walk` (scl_rows.csr). NULL: the host
   * makes rows dense. Stages of the simple form whose shifts are all 0 need none. [any] */
  scl_status (*apply_csr)(const void *self, const scl_stage_state *fitted, const scl_const_csr *in,
                          const scl_csr_block *out, scl_error *error);
  /* General form: `apply` as C, for files that predict without this library: statements that set
   * out[0 .. width-1] from x[0 .. cols-1]. Each float64 array of the state is a const double array
   * of its name, row after row, and NAME_rows and NAME_cols are its sizes; cols, width and sizes are
   * int. They use <math.h>, SCL_PI and SCL_SQRT2 alone. Writes to `text` and returns the length as
   * snprintf does; 0: no such formula. NULL: none. The simple form needs none. [any] */
  int (*formula)(const void *self, char *text, size_t size);
  /* General form: `apply` as operators on matrices, for files of other runtimes (ONNX): statements
   * of C that set `out` (n x width) from `x` (n x cols) and the float64 arrays of the state by their
   * names. Variables have the type `rows`. Operators and functions of <math.h> work by element, and
   * one row or column counts for all. Besides them: product(a, B), which is a B' for an array B;
   * row_sum(a) and row_max(a), one column; take(a, B), the columns of a with the numbers, from 1, in
   * the array B; append(a, v), a and a column of the number v. Length and 0 as for formula. NULL:
   * none. The simple form needs none. [any] */
  int (*operators)(const void *self, char *text, size_t size);
} scl_stage;
#define SCL_LEAST_STAGE SCL_THROUGH(scl_stage, column)
#define SCL_STAGE(...) SCL_VTABLE(SCL_KIND_STAGE, scl_stage, __VA_ARGS__)

/* Rows of blocks as numbers. */
static inline const double *scl_stage_row(const scl_const_block *in, size_t i) {
  return (const double *)in->data + (ptrdiff_t)i * in->row_stride;
}
static inline double *scl_stage_out(const scl_block *out, size_t i) {
  return (double *)out->data + (ptrdiff_t)i * out->row_stride;
}
/* The numbers of a float64 array of the state. */
static inline const double *scl_stage_numbers(const scl_stage_state *fitted, size_t array) {
  return (const double *)fitted->arrays[array].data;
}
/* A packed float64 matrix as an array to put. */
static inline scl_array scl_matrix_array(const double *numbers, size_t rows, size_t cols) {
  scl_array array;
  memset(&array, 0, sizeof array);
  array.data = numbers;
  array.dtype = SCL_DTYPE_FLOAT64;
  array.rank = 2;
  array.sizes[0] = rows;
  array.sizes[1] = cols;
  return array;
}

#endif
