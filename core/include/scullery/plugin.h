/* scullery/plugin.h: the plugin interface, version 1.
 *
 * One shared object is one component: a sampler, a nonlinearity, a kernel or a solver. It exports
 * one symbol, `scullery_plugin`, a constant scl_plugin; everything else stays hidden. The host
 * reads the descriptor before it calls anything, and refuses a wrong ABI with a sentence.
 *
 * Conventions that hold for every slot below:
 *  - Threads: a slot marked [any] may run on many threads at once on the same instance, so an
 *    instance is constant after `create`; a slot marked [one] is called by one thread at a time per
 *    instance.
 *  - Ownership: buffers belong to the caller and live for the call only; const ones are inputs.
 *    Scratch comes from scl_host.allocate and goes back through scl_host.release before the slot
 *    returns. What `create` or `bind` makes, `destroy` ends.
 *  - Failure: a slot returns SCL_STATUS_OK, or scl_host.fail(error, status, "a sentence ..."), which
 *    stores the sentence and returns the status. A plugin never aborts, exits, prints, longjmps or
 *    throws across the boundary.
 *  - Matrices are row-major; strides count elements, not bytes; the columns of a row are adjacent.
 *  - Growth: a new ability or service gets a new id with its revision ("scullery.smoothing/1").
 *    Tables with an scl_head may grow at their end: who reads one stops at its head.size, and who
 *    fills one writes member by member, none beyond head.size. Records without a head (scl_option,
 *    scl_value, scl_part, scl_block, scl_spread, scl_layout, scl_address, scl_shape, scl_facts,
 *    scl_error) never change in ABI 1. Nothing with a head is passed as an array, for its stride
 *    would freeze it.
 *
 * Symbols: n rows, d input columns, T parameters w_t, D = T * fan_out features, c targets. */
#ifndef SCULLERY_PLUGIN_H
#define SCULLERY_PLUGIN_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define SCL_ABI 1u
#if defined(__GNUC__)
#define SCL_EXPORT __attribute__((visibility("default")))
#define SCL_PRINTF(place, first) __attribute__((__format__(__printf__, place, first)))
#else
#define SCL_EXPORT
#define SCL_PRINTF(format, first)
#endif

/* First member of every table that crosses the boundary: SCL_ABI and sizeof(the whole struct). */
typedef struct scl_head {
  uint32_t abi;
  uint32_t size;
} scl_head;

#define SCL_HEAD(type)                                                                             \
  { SCL_ABI, (uint32_t)sizeof(type) }

/* ---------------------------------------------------------------- status */

typedef enum scl_status {
  SCL_STATUS_OK = 0,
  SCL_STATUS_BAD_OPTION,  /* an option's value, or two that contradict each other */
  SCL_STATUS_BAD_SHAPE,   /* rows or columns that do not fit */
  SCL_STATUS_BAD_DATA,    /* NaN, infinity, text where a number should be, a damaged file */
  SCL_STATUS_UNSUPPORTED, /* parts that do not fit together; the sentence says what would */
  SCL_STATUS_NO_MEMORY,
  SCL_STATUS_NUMERIC,   /* singular, overflow, no convergence */
  SCL_STATUS_CANCELLED, /* the user stopped it */
  SCL_STATUS_IO,
  SCL_STATUS_INTERNAL
} scl_status;

typedef struct scl_error {
  scl_status status;
  char message[1016];
} scl_error;

/* ---------------------------------------------------------------- options */

/* The forms that a value may come in; an option declares the union it takes. */
enum {
  SCL_FORM_NUMBER = 1,  /* 0.5                 -> number */
  SCL_FORM_INTEGER = 2, /* 4                   -> number, a whole one */
  SCL_FORM_BOOLEAN = 4, /* true                -> number 0 or 1 */
  SCL_FORM_WORD = 8,    /* "uniform"           -> word, one of `words` */
  SCL_FORM_LIST = 16,   /* {-1, 1}             -> list, length */
  SCL_FORM_NAMED =
      32, /* {binomial = 0.5}    -> word and list: a name from `words` with its numbers */
  SCL_FORM_PARTS =
      64 /* sc.kernel.NAME{}, or a list of them -> parts, length: other components, of the
                      kinds in `words` */
};

/* What a width means, so that the host can work out "scale" and "median" from the data: with gamma
 * = 1/(d var X) ("scale") or 1/(median squared distance) ("median") in exp(-gamma ||x-y||^2) */
typedef enum scl_width {
  SCL_WIDTH_NONE = 0,
  SCL_WIDTH_GAMMA,     /* the option is gamma itself */
  SCL_WIDTH_LENGTH,    /* the option is g in exp(-||x-y||^2/(2 g^2)): g = 1/sqrt(2 gamma) */
  SCL_WIDTH_FREQUENCY, /* the option is the spectrum's standard deviation: sqrt(2 gamma) */
  SCL_WIDTH_RATE       /* the option is the rate in exp(-rate ||x-y||_1): sqrt(gamma / d) */
} scl_width;

enum { SCL_RANGE_LOW_OPEN = 1, SCL_RANGE_HIGH_OPEN = 2 }; /* the bound itself is not taken */

typedef struct scl_option {
  const char *name; /* as typed in Lua */
  unsigned forms;   /* SCL_FORM_NUMBER | ... */
  const char *
      words; /* "none|uniform" for SCL_FORM_WORD and SCL_FORM_NAMED (NULL: any text), "kernel|sampler"
                        for SCL_FORM_PARTS */
  const char
      *fallback;    /* the default as one would type it ("1", "none", "{-1, 1}"; SCL_FORM_PARTS: a
                           name, made with its own defaults); NULL: absent unless given. `create`
                           must succeed with defaults alone. */
  double low, high; /* range of each number */
  unsigned flags;   /* SCL_RANGE_LOW_OPEN | SCL_RANGE_HIGH_OPEN */
  scl_width width;
  const char *help; /* one line, with units */
} scl_option;

/* Another component's instance, given as an option's value: a product's factors, the kernel of a
 * solver. The host keeps it alive as long as what was created or bound from it. Whoever binds a
 * part (plugin->ability(self, SCL_ABILITY_BIND)) ends the result with plugin->destroy. */
struct scl_plugin;
typedef struct scl_part {
  const struct scl_plugin *plugin;
  const void *self;
} scl_part;

/* One value per declared option, in the declared order, validated by the host. */
typedef struct scl_value {
  unsigned form; /* the one that came; 0: not given and no default */
  double number;
  const char *word;
  const double *list;
  const scl_part *parts;
  size_t length; /* of list or parts */
} scl_value;

/* ---------------------------------------------------------------- blocks of numbers */

typedef enum scl_dtype { SCL_DTYPE_FLOAT64 = 0, SCL_DTYPE_FLOAT32 = 1 } scl_dtype;

/* rows x cols x planes numbers. Plane k of row i starts at data + i*row_stride + k*plane_stride. A
 * nonlinearity that takes fan_in scalars a parameter reads them from fan_in planes, so that each
 * inner loop runs over adjacent parameters. */
typedef struct scl_block {
  void *data;
  scl_dtype dtype;
  size_t rows, cols, planes;
  ptrdiff_t row_stride, plane_stride;
} scl_block;

/* A standard deviation for each number of a block: entry (i, j, k) is data[i*row_stride +
 * j*col_stride + k*plane_stride] in the block's dtype; a stride of 0 says that it does not depend
 * on that index. */
typedef struct scl_spread {
  const void *data;
  ptrdiff_t row_stride, col_stride, plane_stride;
} scl_spread;

/* ---------------------------------------------------------------- host and services */

typedef struct scl_host {
  scl_head head;
  /* Store a sentence, return the status. [any] */
  SCL_PRINTF(3, 4) scl_status (*fail)(scl_error *error, scl_status status, const char *format, ...);
  /* 64-byte aligned memory, NULL when there is none; release(NULL) does nothing. [any] */
  void *(*allocate)(size_t bytes);
  void (*release)(void *memory);
  /* Run task(context, i) for i in [0, count), on the host's threads; returns when all are done.
   * Calls may nest (the inner one runs on the calling thread). The split never depends on the
   * number of threads. [any] */
  void (*parallel)(size_t count, void (*task)(void *context, size_t index), void *context);
  /* A line for the user, through the host's own channel. [any] */
  void (*log)(const char *message);
  /* A service table by revisioned id, or NULL: "scullery.random/1" (scl_random),
   * "scullery.vector-math/1" (scl_vector_math), "scullery.dense-algebra/1" (scl_dense_algebra),
   * "scullery.symmetric/1" (scl_symmetric_algebra). [any] */
  const void *(*service)(const char *id);
} scl_host;

/* Counter-based random numbers (Philox 4x64-10): number `offset` of item `index` in (seed, stream)
 * is the same on every machine, thread count and batch, to the last bit. A component may use
 * streams stream .. stream+15 of the stream it is given. [any] */
#define SCL_SERVICE_RANDOM "scullery.random/1"
typedef struct scl_random {
  scl_head head;
  void (*bits)(uint64_t seed, uint64_t stream, uint64_t index, uint64_t offset, size_t count,
               uint64_t *out);
  void (*uniform)(uint64_t seed, uint64_t stream, uint64_t index, uint64_t offset, size_t count,
                  double *out); /* (0, 1) */
  void (*normal)(uint64_t seed, uint64_t stream, uint64_t index, uint64_t offset, size_t count,
                 double *out); /* N(0, 1) */
  double (*inverse_normal)(
      double probability); /* the same function that makes `normal` from `uniform` */
} scl_random;

/* out[i] = f(x[i]), i < count, at the widest instruction set of the machine; out may be x. Error
 * below 4 units in the last place. [any] */
#define SCL_SERVICE_VECTOR_MATH "scullery.vector-math/1"
typedef void (*scl_vector_f64)(size_t count, const double *x, double *out);
typedef void (*scl_vector_f32)(size_t count, const float *x, float *out);
typedef struct scl_vector_math {
  scl_head head;
  scl_vector_f64 sin, cos, exp, erf, tanh, log;
  scl_vector_f32 sinf, cosf, expf, erff, tanhf, logf;
} scl_vector_math;

/* Small dense algebra on float64, row-major, in the calling thread. [any] */
#define SCL_SERVICE_DENSE_ALGEBRA "scullery.dense-algebra/1"
typedef struct scl_dense_algebra {
  scl_head head;
  /* C (m x n) = alpha op(A) op(B) + beta C; op transposes where the flag is not 0; k is the inner
   * size */
  void (*gemm)(int transpose_a, int transpose_b, size_t m, size_t n, size_t k, double alpha,
               const double *a, ptrdiff_t lda, const double *b, ptrdiff_t ldb, double beta,
               double *c, ptrdiff_t ldc);
  /* lower triangle of C (n x n) = alpha A'A + beta C, A k x n */
  void (*syrk)(size_t n, size_t k, double alpha, const double *a, ptrdiff_t lda, double beta,
               double *c, ptrdiff_t ldc);
  /* lower Cholesky factor in place; SCL_STATUS_NUMERIC where A is not positive definite */
  scl_status (*potrf)(size_t n, double *a, ptrdiff_t lda, scl_error *error);
  /* solve L L' X = B in place, B n x k */
  void (*potrs)(size_t n, size_t k, const double *l, ptrdiff_t ldl, double *b, ptrdiff_t ldb);
} scl_dense_algebra;

/* Large symmetric float64 matrices, stored as tiles of the lower triangle (half the memory), worked
 * on by the host's threads with results that do not depend on their number. Opaque; `create` gives
 * zeros. [one] per matrix that is written */
#define SCL_SERVICE_SYMMETRIC "scullery.symmetric/1"
typedef struct scl_symmetric scl_symmetric;
typedef struct scl_symmetric_algebra {
  scl_head head;
  scl_status (*create)(size_t n, scl_symmetric **out, scl_error *error);
  void (*destroy)(scl_symmetric *a);
  size_t (*order)(const scl_symmetric *a);
  void (*copy)(const scl_symmetric *from, scl_symmetric *to);           /* same order */
  void (*add)(double factor, const scl_symmetric *x, scl_symmetric *a); /* a += factor x */
  void (*scale)(double factor, scl_symmetric *a);                       /* a *= factor */
  void (*shift)(double value, scl_symmetric *a);                        /* a += value I */
  /* rows i .. i+rows-1, columns j .. j+cols-1 of a = block; what lies above the diagonal is left
   * out. [any] where rectangles differ */
  void (*set)(scl_symmetric *a, size_t i, size_t rows, size_t j, size_t cols, const double *block,
              ptrdiff_t stride);
  void (*rank)(scl_symmetric *a, double alpha, const double *x, size_t k,
               ptrdiff_t stride);                        /* a += alpha X'X, X k x n */
  void (*diagonal)(const scl_symmetric *a, double *out); /* n numbers */
  void (*dense)(const scl_symmetric *a, double *out, ptrdiff_t stride); /* both triangles, n x n */
  void (*column)(const scl_symmetric *a, size_t j, double *out);        /* n numbers */
  void (*multiply)(const scl_symmetric *a, const double *x, size_t k,
                   double *out); /* out = A x, x and out n x k */
  /* Cholesky in place. Where a pivot is not positive: SCL_STATUS_NUMERIC, its place (from 0) in *pivot,
   * and a is spoilt. */
  scl_status (*factor)(scl_symmetric *a, size_t *pivot, scl_error *error);
  void (*solve)(const scl_symmetric *factor, double *b, size_t k); /* in place, b n x k */
  /* The `count` largest eigenvalues, descending, and orthonormal vectors, one a row (count x n). */
  scl_status (*eigen)(const scl_symmetric *a, size_t count, double *values, double *vectors,
                      scl_error *error);
} scl_symmetric_algebra;

/* ---------------------------------------------------------------- samplers: p on a parameter space
 * W */

/* The space says how parameters are stored and how a row meets them. Per parameter: `width` reals
 * in weights, `support` integers. */
typedef enum scl_space {
  SCL_SPACE_DENSE = 0, /* weights: d numbers w                                z = <w, x> + b */
  SCL_SPACE_SPARSE, /* weights: `width` slots, support: their columns, ascending, -1 from the in-degree on
                 z = <w_N, x_N> + b */
  SCL_SPACE_THRESHOLD, /* weights: 1 number t, support: 1 column i            z = x_i - t */
  SCL_SPACE_GRID, /* weights: 2 d numbers, pitches then shifts           z = floor((x_j - u_j)/delta_j), d
               planes, always float64, cut to +-(2^31 - 1) */
  SCL_SPACE_STRUCTURED /* weights: what the sampler likes; it brings "scullery.structured/1"  z as dense;
                    kernels are shown its dense rows */
} scl_space;
enum { SCL_SPACE_COUNT = 5 };
#define SCL_BIT(space) (1u << (unsigned)(space))
#define SCL_SPACES_RIDGE                                                                           \
  (SCL_BIT(SCL_SPACE_DENSE) | SCL_BIT(SCL_SPACE_SPARSE) | SCL_BIT(SCL_SPACE_THRESHOLD) |           \
   SCL_BIT(SCL_SPACE_STRUCTURED))

typedef struct scl_layout {
  scl_space space;
  size_t width;   /* reals a parameter */
  size_t support; /* integers a parameter */
  size_t block; /* parameters that are drawn together (a Hadamard or orthogonal block); 1 where each
                   stands alone. Structured: the host draws, keeps and applies whole blocks, and
                   leaves out what lies beyond T */
  int has_bias;
} scl_layout;

/* A batch of parameters, first .. first+count-1. Where a nonlinearity has fan_in q, scalar k of
 * parameter t comes from row t that the sampler draws at stream + k 2^32: q draws of the same
 * sampler, independent even where rows of one draw are not (orthogonal, structured, quasi-Monte
 * Carlo). A sampler with SCL_ABILITY_POOL says instead which rows of the one draw each parameter
 * reads. Kernels and `apply` read only; the pointers are not const because `draw` writes through
 * them. */
typedef struct scl_parameters {
  scl_head head;
  scl_space space;
  size_t first, count, dim;
  double *weights;  /* count x width */
  ptrdiff_t stride; /* between rows of weights */
  double *bias;     /* count, or NULL without bias */
  int32_t *support; /* count x support columns, from 0; or NULL */
  ptrdiff_t support_stride;
} scl_parameters;

typedef struct scl_address {
  uint64_t seed, stream;
} scl_address;

typedef struct scl_sampler {
  scl_head head;
  /* How parameters of R^dim are stored. Refuse a dim that the options do not fit. [any] */
  scl_status (*layout)(const void *self, size_t dim, scl_layout *out, scl_error *error);
  /* Fill out->weights, bias and support for parameters first .. first+count-1. Parameter t depends
   * on (seed, stream, t, dim) alone. The host asks for whole blocks (scl_layout.block) where it
   * can, but a batch may begin or end inside one. [any] */
  scl_status (*draw)(const void *self, scl_address address, scl_parameters *out, scl_error *error);
} scl_sampler;

/* The marginal law of one parameter's numbers, for closed forms. The coordinates are uncorrelated;
 * coordinate j has location mean[j] and scale scale[j] (dense, structured: d numbers w_j; sparse:
 * w_j given that j is in the support; threshold: t, where column j was drawn). */
#define SCL_ABILITY_LAW "scullery.law/1"
typedef enum scl_family {
  SCL_FAMILY_GAUSSIAN = 0,
  SCL_FAMILY_UNIFORM, /* mean +- scale */
  SCL_FAMILY_RADEMACHER,
  SCL_FAMILY_LAPLACE,
  SCL_FAMILY_CAUCHY,
  SCL_FAMILY_STUDENT, /* shape: degrees of freedom; one chi-square for all coordinates */
  SCL_FAMILY_SPHERICAL,
  SCL_FAMILY_OTHER
} scl_family;
typedef enum scl_bias_law { SCL_BIAS_NONE = 0, SCL_BIAS_UNIFORM, SCL_BIAS_GAUSSIAN } scl_bias_law;
typedef struct scl_law {
  scl_head head;
  scl_space space;
  scl_family family;
  size_t dim;
  double *mean, *scale; /* dim numbers each, the caller's */
  double shape;
  scl_bias_law bias;
  double bias_a, bias_b; /* uniform: ends; gaussian: mean and standard deviation */
  size_t max_degree;     /* sparse: largest in-degree */
  double *degree;        /* sparse: P(in-degree = s), s = 0 .. dim, the caller's; else unused */
  double *degree_scale;  /* sparse: given in-degree s the scale is scale[j] * degree_scale[s], s = 0
                            .. dim, the caller's; else unused */
  size_t fan_in; /* set by the host: how many independent rows with this law make one parameter (1
                    as a rule) */
} scl_law;
typedef struct scl_ability_law {
  scl_head head;
  scl_status (*law)(const void *self, size_t dim, scl_law *out, scl_error *error); /* [any] */
} scl_ability_law;

/* Real part of E exp(i <w, delta>), the kernel of the Fourier features: out[r] for each row of
 * delta (rows x dim). Sparse: w is 0 off its support, and E runs over supports too. */
#define SCL_ABILITY_CHARACTERISTIC "scullery.characteristic/1"
typedef struct scl_ability_characteristic {
  scl_head head;
  scl_status (*characteristic)(const void *self, size_t rows, size_t dim, const double *delta,
                               ptrdiff_t stride, double *out, scl_error *error); /* [any] */
} scl_ability_characteristic;

/* P(t <= x) for thresholds drawn for column j. */
#define SCL_ABILITY_DISTRIBUTION "scullery.distribution/1"
typedef struct scl_ability_distribution {
  scl_head head;
  double (*distribution)(const void *self, size_t column, double x); /* [any] */
} scl_ability_distribution;

/* P(x and y fall into the same cell), delta = x - y: the kernel of one-hot cells. Grid samplers. */
#define SCL_ABILITY_COLLISION "scullery.collision/1"
typedef struct scl_ability_collision {
  scl_head head;
  scl_status (*collision)(const void *self, size_t rows, size_t dim, const double *delta,
                          ptrdiff_t stride, double *out, scl_error *error); /* [any] */
} scl_ability_collision;

/* Shared rows (maxout pools drawn from R projections): the host draws and projects rows 0 .. rows-1
 * once, and parameter t reads the fan_in rows out[t*fan_in ..], all different. */
#define SCL_ABILITY_POOL "scullery.pool/1"
typedef struct scl_ability_pool {
  scl_head head;
  size_t (*rows)(const void *self, size_t count,
                 size_t fan_in); /* R, for `count` parameters [any] */
  scl_status (*pool)(const void *self, scl_address address, size_t first, size_t count,
                     size_t fan_in, int32_t *out, scl_error *error); /* [any] */
} scl_ability_pool;

/* z = X W' for the rows of W that `parameters` stands for, without forming them: x rows x dim, z
 * rows x count in one plane, one dtype. The host adds the bias. */
#define SCL_ABILITY_STRUCTURED "scullery.structured/1"
typedef struct scl_ability_structured {
  scl_head head;
  scl_status (*apply)(const void *self, const scl_parameters *parameters, const scl_block *x,
                      scl_block *z, scl_error *error); /* [any] */
  scl_status (*rows)(const void *self, const scl_parameters *parameters, double *dense,
                     ptrdiff_t stride, scl_error *error); /* [any] the rows themselves */
} scl_ability_structured;

/* ---------------------------------------------------------------- nonlinearities: phi, fan_in
 * scalars to fan_out features */

typedef struct scl_shape {
  size_t fan_in;   /* scalars a parameter; 0: all planes that the space gives (grid: d) */
  size_t fan_out;  /* features a parameter; 1 where one_hot */
  unsigned spaces; /* SCL_BIT(...) of the spaces it makes sense on */
  int float32; /* not 0: apply and smooth also take SCL_DTYPE_FLOAT32 blocks; else the host converts */
  int one_hot; /* not 0: the output is sparse: the host calls categories (SCL_ABILITY_CATEGORIES)
                  and never apply */
  int needs_phase; /* not 0: only correct with a bias uniform on an interval of 2 pi */
} scl_shape;

typedef struct scl_nonlinearity {
  scl_head head;
  scl_status (*shape)(const void *self, scl_shape *out, scl_error *error); /* [any] */
  /* out (rows x cols x fan_out planes) = phi(z) (rows x cols x fan_in planes); out may be z when
   * fan_in = fan_out = 1. [any] */
  scl_status (*apply)(const void *self, const scl_block *z, scl_block *out, scl_error *error);
} scl_nonlinearity;

/* S(m, v) = E phi(N(m, v^2)), with which Gaussian weightings are exact (RKHSW). With fan_in > 1 the
 * planes are independent; they share v unless v has a plane stride. v = 0 gives phi(m). */
#define SCL_ABILITY_SMOOTHING "scullery.smoothing/1"
typedef struct scl_ability_smoothing {
  scl_head head;
  scl_status (*smooth)(const void *self, const scl_block *m, const scl_spread *v, scl_block *out,
                       scl_error *error); /* [any] */
} scl_ability_smoothing;

/* Of each output: |phi| <= bound and |phi(a) - phi(b)| <= lipschitz max_k |a_k - b_k|; infinity
 * where there is none. breaks: where phi jumps or has a kink, so that quadrature can split there.
 * scale_free: phi(s z) = phi(z) for every s > 0. */
#define SCL_ABILITY_FACTS "scullery.facts/1"
typedef struct scl_facts {
  double bound, lipschitz;
  double breaks[4];
  size_t n_breaks;
  int scale_free;
} scl_facts;
typedef struct scl_ability_facts {
  scl_head head;
  void (*facts)(const void *self, scl_facts *out); /* [any] */
} scl_ability_facts;

/* E phi(a) phi(b), (a, b) bivariate normal, any variance may be 0: with Gaussian rows this is the
 * induced kernel, summed over the fan_out features. With fan_in > 1 the pairs (a_k, b_k) are
 * independent, each with this law. NaN: no closed form for these moments. */
#define SCL_ABILITY_GAUSSIAN_DUAL "scullery.gaussian-dual/1"
typedef struct scl_ability_gaussian_dual {
  scl_head head;
  double (*dual)(const void *self, double mean_a, double mean_b, double var_a, double var_b,
                 double covariance); /* [any] */
} scl_ability_gaussian_dual;

/* The induced kernel is the sampler's characteristic function of x - y (plus, with a bias that is
 * not a whole period, more: then not declared). */
#define SCL_ABILITY_HARMONIC "scullery.harmonic/1"
typedef struct scl_ability_harmonic {
  scl_head head;
  double (*amplitude)(const void *self); /* k = amplitude * characteristic(x - y) [any] */
} scl_ability_harmonic;

/* E_t phi(a - t) phi(b - t) as a function of the threshold's distribution function at a and b. The
 * host also uses it for a ridge phi with a random bias: t = -b. */
#define SCL_ABILITY_THRESHOLD_DUAL "scullery.threshold-dual/1"
typedef struct scl_ability_threshold_dual {
  scl_head head;
  double (*dual)(const void *self, double distribution_a, double distribution_b); /* [any] */
} scl_ability_threshold_dual;

/* Sparse (one-hot) outputs and hash codes: the category of each (row, parameter), rows x cols.
 * `key` is the number of 32-bit words of a category; the host keeps the exact dictionary from keys
 * to columns, so that cells never seen in fitting contribute nothing. */
#define SCL_ABILITY_CATEGORIES "scullery.categories/1"
typedef struct scl_ability_categories {
  scl_head head;
  scl_status (*key)(const void *self, size_t planes, size_t *words, size_t *levels,
                    scl_error *error); /* levels: 0 unbounded, else codes 0 .. levels-1 [any] */
  scl_status (*categories)(
      const void *self, const scl_block *z, int32_t *out, ptrdiff_t row_stride,
      scl_error *error); /* word w of (i, j) at out[i*row_stride + j*words + w] [any] */
} scl_ability_categories;

/* P(category(a) = category(b)), for codes: as SCL_ABILITY_GAUSSIAN_DUAL. */
#define SCL_ABILITY_CODE_DUAL "scullery.code-dual/1"
typedef struct scl_ability_code_dual {
  scl_head head;
  double (*collision)(const void *self, double mean_a, double mean_b, double var_a, double var_b,
                      double covariance); /* [any] */
} scl_ability_code_dual;

/* ---------------------------------------------------------------- kernels, on parameters and on
 * rows */

typedef struct scl_kernel {
  scl_head head;
  unsigned spaces; /* SCL_BIT(...): where it is defined; SCL_SPACE_DENSE includes rows of data */
  /* out (u->count x v->count, float64) = K(u_i, v_j). Symmetric calls (u == v) may fill both
   * triangles alike. Where parameters are made of fan_in rows, K is the product over k of K(u_k,
   * v_k), and the host multiplies. [any] */
  scl_status (*gram)(const void *self, const scl_parameters *u, const scl_parameters *v,
                     double *out, ptrdiff_t stride, scl_error *error);
  /* out[i] = K(u_i, u_i). [any] */
  scl_status (*diagonal)(const void *self, const scl_parameters *u, double *out, scl_error *error);
} scl_kernel;

/* A kernel whose width is said through the distribution ("theta = 0.5") becomes definite once it
 * meets it. [one] */
#define SCL_ABILITY_BIND "scullery.bind/1"
typedef struct scl_ability_bind {
  scl_head head;
  scl_status (*bind)(const void *self, const scl_law *law, void **bound,
                     scl_error *error); /* the host ends *bound with the plugin's destroy */
  void (*describe)(const void *bound, char *text,
                   size_t size); /* what was chosen, "gamma = 1.83" */
} scl_ability_bind;

/* The tilt: K(u, .) p is c(u) times a Gaussian product law, coordinate by coordinate:
 *   w_j ~ N(offset_j + shrink_j u_j, spread_j^2),
 *       log c(u) = log_one + sum_j (log0_j + log1_j u_j + log2_j u_j^2)
 * the sum running over all columns (dense), the support (sparse) or the one column (threshold);
 * log_one holds what an indicator costs (-log d for thresholds). Sparse: the host asks once for
 * each in-degree s, with a law that has this one alone (scale already times degree_scale[s]), and a
 * K that holds 1[same support] puts -log C(d, s) into log_one. All of it is for one row (fan_in 1),
 * but law->fan_in tells a width said through the distribution how many there are. Also E K(w,w), E
 * E K(u,w) and the correlation of (u_j, w_j) under K p p / (E E K), which give kappa and theta. */
#define SCL_ABILITY_TILT "scullery.tilt/1"
typedef struct scl_tilt {
  scl_head head;
  size_t dim;
  double *offset, *shrink, *spread, *log0, *log1, *log2; /* dim numbers each, the caller's */
  double log_one;
  double log_diagonal; /* log E K(w, w) */
  double log_mass;     /* log E E K(u, w) */
  double *correlation; /* dim numbers, the caller's */
  double *pair_scale;  /* dim numbers: standard deviation of u_j under K p p / mass */
} scl_tilt;
typedef struct scl_ability_tilt {
  scl_head head;
  scl_status (*tilt)(
      const void *self, const scl_law *law, scl_tilt *out,
      scl_error *error); /* SCL_STATUS_UNSUPPORTED: no closed form for this law [any] */
} scl_ability_tilt;

/* ---------------------------------------------------------------- solvers */

typedef enum scl_task { SCL_TASK_REGRESSION = 0, SCL_TASK_CLASSIFICATION = 1 } scl_task;

/* A block of rows of the features. Feature k T + t is output k of parameter t. Dense: `features`,
 * rows x D, in the problem's dtype. Sparse (problem->slots > 0): features.data is NULL and
 * `columns` (rows x `slots`, -1: none) holds the places of the entries, each `value`. */
typedef struct scl_rows {
  scl_head head;
  size_t first, count;
  scl_block features;
  const int32_t *columns;
  size_t slots;
  double value;
  const double *targets; /* count x c */
  const double *weights; /* count, or NULL: all 1 */
  const size_t *index;   /* their places in the data, or NULL: first, first+1, ...; `first` counts
                            within the problem */
} scl_rows;

/* Sums over the rows of the problem, weighted: gram = Phi'Phi, right = Phi'Y (D x c), square = y'y
 * per target. With an intercept, all are centred. */
typedef struct scl_normal {
  scl_head head;
  const scl_symmetric *gram;
  const double *right;
  const double *square;
  double total; /* sum of the row weights: n without weights */
} scl_normal;

typedef struct scl_problem scl_problem;
typedef scl_status (*scl_visit)(void *context, const scl_rows *rows, scl_error *error);
/* From scores (count x k, Phi a) to residuals, in place. rows->features need not be looked at. */
typedef scl_status (*scl_turn)(void *context, const scl_rows *rows, double *scores,
                               scl_error *error);

/* What a solver is handed. It cannot tell where rows come from: every verb answers by streaming or
 * from memory, with the same numbers. All verbs [one], and none from inside a visit.
 * Classification: targets are +-1, one column for two classes, else one a class. */
struct scl_problem {
  scl_head head;
  const scl_host *host;
  size_t rows, features, targets;
  scl_task task;
  size_t classes; /* 0 for regression */
  scl_dtype dtype;
  int has_kernel;    /* gram() answers */
  double log_scale;  /* features are exp(-log_scale) times the true ones (a common factor kept out
                        where they would underflow, else 0) */
  size_t allowance;  /* bytes of row blocks that the host may keep between passes: how dear another
                        pass is */
  size_t parameters; /* T; 0 where the features come from no map */
  size_t slots;  /* 0: rows are dense; else sparse, at most so many entries a row (only for solvers
                    with SCL_ABILITY_SPARSE_ROWS) */
  int intercept; /* an unpenalised constant is wanted: normal and dual are centred; every other verb
                    shows the features as they are */
  int warm;      /* solution->coefficients holds a point to start from; else it comes zeroed */
  /* The targets (n x c) and row weights (n) of all rows, in the order of walk, without making
   * features; either may be NULL. */
  scl_status (*responses)(const scl_problem *problem, double *targets, double *weights,
                          scl_error *error);
  /* Visit all row blocks in order. */
  scl_status (*walk)(const scl_problem *problem, scl_visit visit, void *context, scl_error *error);
  /* The accumulated normal equations; they stay the problem's. */
  scl_status (*normal)(const scl_problem *problem, scl_normal *out, scl_error *error);
  /* Phi Phi' (n x n) and the targets (n x c; centred with an intercept), for D > n; they stay the
   * problem's. SCL_STATUS_UNSUPPORTED where rows have weights: a solver that can then takes `normal`. */
  scl_status (*dual)(const scl_problem *problem, const scl_symmetric **gram, const double **targets,
                     scl_error *error);
  /* G_ij = K(w_i, w_j) in the features' own scale: exp(-2 log_scale) G, so that a'Ga is the squared
   * norm. Stays the problem's. */
  scl_status (*gram)(const scl_problem *problem, const scl_symmetric **out, scl_error *error);
  /* out (n x k) = Phi a, a D x k; out (D x k) = Phi' r, r n x k. */
  scl_status (*product)(const scl_problem *problem, const double *a, size_t k, double *out,
                        scl_error *error);
  scl_status (*adjoint)(const scl_problem *problem, const double *r, size_t k, double *out,
                        scl_error *error);
  /* One pass for both: out (D x k) = Phi' turn(Phi a), a D x k. */
  scl_status (*sweep)(const scl_problem *problem, const double *a, size_t k, scl_turn turn,
                      void *context, double *out, scl_error *error);
  /* The normal equations with these row weights (n, in the order of walk) in place of the
   * problem's; they stay the problem's until the next call. */
  scl_status (*reweighted)(const scl_problem *problem, const double *weights, scl_normal *out,
                           scl_error *error);
  /* `size` rows drawn by (seed, step) with replacement, handed to visit in one block that holds
   * features first .. first+count-1 alone. plain: phi(w_t, x) itself, unscaled, where the features
   * are its expectation under K. */
  scl_status (*minibatch)(const scl_problem *problem, uint64_t seed, uint64_t step, size_t size,
                          size_t first, size_t count, int plain, scl_visit visit, void *context,
                          scl_error *error);
  /* Say how far it is, in [0, 1]; SCL_STATUS_CANCELLED when the user asked to stop. */
  scl_status (*progress)(const scl_problem *problem, double done, const char *doing,
                         scl_error *error);
};

typedef enum scl_outcome {
  SCL_OUTCOME_CONVERGED = 0, /* its condition of optimality holds to `tolerance` */
  SCL_OUTCOME_STOPPED,       /* did the steps that it was asked for (stochastic methods) */
  SCL_OUTCOME_LIMIT          /* out of iterations before its condition held */
} scl_outcome;

typedef struct scl_solution {
  scl_head head;
  double *coefficients; /* D x c, the caller's */
  double *intercept;    /* c, the caller's, NULL where none is wanted. It comes as NaN, and where it
                           stays so the host fills in the least    squares one, mean y - mean phi a, with
                           the row weights of the normal equations last handed out */
  scl_outcome outcome;
  size_t iterations;
  double gap, residual, tolerance; /* NaN where it has none */
  double jitter;                   /* added to the diagonal of a singular system, 0 as a rule */
  double score;   /* its own estimate of the risk (leave-one-out, cross-validation), NaN: none */
  char note[200]; /* what the user should know, or empty */
} scl_solution;

typedef struct scl_solver {
  scl_head head;
  scl_status (*solve)(const void *self, const scl_problem *problem, scl_solution *out,
                      scl_error *error); /* [any], one thread a problem */
} scl_solver;

/* Many values of one option on one problem, sharing what can be shared (the same numbers as one
 * solve each, to the tolerance). They may be gone through in any order; out[i] belongs to
 * values[i]. */
#define SCL_ABILITY_PATH "scullery.path/1"
typedef struct scl_ability_path {
  scl_head head;
  const char *option;
  scl_status (*solve)(const void *self, const scl_problem *problem, const double *values,
                      size_t count, scl_solution *const *out,
                      scl_error *error); /* [any], one thread a problem */
} scl_ability_path;

/* The bare head: this solver reads sparse rows. Without it the host fills in the zeros, or refuses
 * where they would not fit. */
#define SCL_ABILITY_SPARSE_ROWS "scullery.sparse-rows/1"

/* A solver whose prediction is not Phi a (nearest neighbours, boosted stumps, kernel machines on
 * rows): the host calls fit, not solve. */
#define SCL_ABILITY_MODEL "scullery.model/1"
typedef scl_status (*scl_write)(void *context, const void *bytes, size_t size, scl_error *error);
typedef scl_status (*scl_read)(void *context, void *bytes, size_t size, scl_error *error);
typedef struct scl_ability_model {
  scl_head head;
  /* out->coefficients and intercept are NULL; the rest tells how it went. */
  scl_status (*fit)(const void *self, const scl_problem *problem, void **model, scl_solution *out,
                    scl_error *error); /* [any], as solve */
  /* scores (rows x c at stride, float64) of rows (rows x features, in the problem's dtype) [any] */
  scl_status (*decide)(const void *self, const void *model, const scl_block *rows, double *scores,
                       ptrdiff_t stride, scl_error *error);
  /* To bytes and back, little-endian, on another machine too; load trusts nothing that it reads:
   * SCL_STATUS_BAD_DATA. [one] */
  scl_status (*save)(const void *self, const void *model, scl_write write, void *context,
                     scl_error *error);
  scl_status (*load)(const void *self, scl_read read, void *context, void **model,
                     scl_error *error);
  void (*end)(const void *self, void *model); /* [one] */
} scl_ability_model;

/* The loss that a solver minimises, for bounds and probabilities. Per row: scores f and targets y,
 * c numbers each. */
#define SCL_ABILITY_LOSS "scullery.loss/1"
typedef struct scl_ability_loss {
  scl_head head;
  double (*value)(const void *self, size_t c, const double *f, const double *y); /* [any] */
  void (*slope)(const void *self, size_t c, const double *f, const double *y,
                double *out);                          /* a (sub)gradient in f [any] */
  double (*bound)(const void *self, double reach);     /* largest value for |f_j| <= reach [any] */
  double (*lipschitz)(const void *self, double reach); /* its constant there [any] */
  int (*probabilities)(const void *self, size_t c, const double *f,
                       double *out); /* out: one a class; 0: not said, calibrate [any] */
} scl_ability_loss;

/* The value that solve minimises at any coefficients (and intercept, NULL: none), so that a check
 * can try others. */
#define SCL_ABILITY_OBJECTIVE "scullery.objective/1"
typedef struct scl_ability_objective {
  scl_head head;
  scl_status (*objective)(const void *self, const scl_problem *problem, const double *coefficients,
                          const double *intercept, double *value,
                          scl_error *error); /* [any], as solve */
} scl_ability_objective;

/* ---------------------------------------------------------------- the descriptor */

typedef enum scl_kind {
  SCL_KIND_SAMPLER = 0,
  SCL_KIND_NONLINEARITY,
  SCL_KIND_KERNEL,
  SCL_KIND_SOLVER
} scl_kind;
enum { SCL_KIND_COUNT = 4 };

typedef struct scl_plugin {
  scl_head head;
  scl_kind kind;
  const char *name;    /* what one types after sc.KIND. : [a-z][a-z0-9_]* */
  const char *version; /* the plugin's own, "1.0" */
  const char *author;
  const char *summary; /* one line */
  const char *doc;     /* formula, shapes, source (paper, equation): the text of help() */
  const scl_option *options;
  size_t n_options;
  const void *vtable; /* scl_sampler, scl_nonlinearity, scl_kernel or scl_solver, by kind */
  /* Make an instance from validated values (n_options of them). The values and what they point to
   * live for the call only, except parts (see scl_part); the host table and its services live as
   * long as the process. Instances may be made on several threads at once. [any] */
  scl_status (*create)(const scl_host *host, const scl_value *values, void **self,
                       scl_error *error);
  void (*destroy)(void *self); /* [one] */
  /* An optional ability by id, or NULL; may depend on the instance's options. [any] */
  const void *(*ability)(const void *self, const char *id);
} scl_plugin;

/* The one symbol. */
extern SCL_EXPORT const scl_plugin scullery_plugin;

#ifdef __cplusplus
}
#endif
#endif
