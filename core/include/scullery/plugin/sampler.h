/* scullery/plugin/sampler.h: samplers, distributions p on a parameter space.
 *
 * Two forms. Simple: w in R^d with independent coordinates w_j = mean + scale e_j; `make` computes
 * e from random numbers, and `moments` gives mean and scale.
 * General: `draw` fills in batches of parameters of any space. */
#ifndef SCULLERY_PLUGIN_SAMPLER_H
#define SCULLERY_PLUGIN_SAMPLER_H

#include "host.h"
#include "rows.h"

/* How T parameters of R^dim are stored. The host presets: reals and integers of the space (dense:
 * dim reals; threshold: 1 real and 1 integer; grid: 2 dim reals; sparse and structured: 0),
 * block = 1, has_bias by SCL_OPTION_BIAS, count = the T that the user gave or 0, no tag and no
 * flags. */
typedef struct scl_layout {
  scl_head head;
  scl_space space;
  uint32_t has_bias;      /* not 0: each parameter has a bias */
  size_t reals, integers; /* numbers of a parameter */
  /* Parameters that are drawn together (a Hadamard or orthogonal block). Structured: the host
   * draws, keeps and applies whole blocks, and leaves out what lies beyond T. */
  size_t block;
  /* T. A sampler with a fixed number of parameters replaces 0 by that number, and fails with a
   * sentence if another number is preset. */
  size_t count;
  /* Not NULL: needs a nonlinearity that names this tag (scl_shape.tags). */
  const char *tag;
  uint32_t flags; /* SCL_LAYOUT_... */
  uint32_t reserved;
} scl_layout;
#define SCL_LEAST_LAYOUT SCL_THROUGH(scl_layout, reserved)
enum {
  SCL_LAYOUT_DEPENDENT = 1 /* parameters depend on each other beyond a block (quasi-Monte Carlo) */
};

/* The numbers that a sampler learnt from rows (SCL_ABILITY_LEARN). The host stores them, saves them
 * with the model and passes them in scl_draw. */
typedef struct scl_state {
  scl_head head;
  double *numbers; /* rows x cols, packed, from host->allocate. The host releases it, also where
                      `learn` fails */
  size_t rows, cols;
  size_t count; /* T if the user did not give it; else 0 */
} scl_state;
#define SCL_LEAST_STATE SCL_THROUGH(scl_state, count)

/* The identity of a draw. */
typedef struct scl_draw {
  scl_head head;
  scl_address address;
  size_t dim;             /* d */
  size_t total;           /* number of parameters in the draw: T, or the shared rows of a pool */
  size_t plane, planes;   /* scalar k = plane of fan_in = planes */
  const scl_state *state; /* NULL: the sampler does not learn, or has not learnt yet */
} scl_draw;
#define SCL_LEAST_DRAW SCL_THROUGH(scl_draw, state)

typedef struct scl_sampler {
  scl_head head;
  scl_kind kind;   /* SCL_KIND_SAMPLER */
  scl_space space; /* the space of its parameters */
  /* Simple form, dense: e[j] from numbers[j*max(normals, 1) ..], j < count. [any] */
  void (*make)(const void *self, size_t count, const double *numbers, double *e);
  /* General form: fill out->weights and support, and bias where the sampler has one without
   * SCL_OPTION_BIAS. Parameter t depends on *draw and t alone. The host asks for whole blocks
   * (scl_layout.block) where it can, but a batch may begin or end inside one. [any] */
  scl_status (*draw)(const void *self, const scl_draw *draw, const scl_parameters *out,
                     scl_error *error);
  /* Change the layout, or refuse a dim or count that does not fit the options. NULL: no change.
   * [any] */
  scl_status (*layout)(const void *self, size_t dim, scl_layout *out, scl_error *error);
  /* Mean and scale of every coordinate, preset to 0 and 1. From them and from `family` the host
   * makes SCL_ABILITY_LAW. A simple form has this slot or that ability. [any] */
  void (*moments)(const void *self, double *mean, double *scale);
  /* E cos(z e), where the e_j are independent and symmetric. From it the host
   * makes SCL_ABILITY_CHARACTERISTIC. [any] */
  double (*factor)(const void *self, double z);
  /* Simple form: how many N(0, 1) numbers make one e, at most 8; 0: one uniform on (0, 1). */
  uint32_t normals;
  scl_family family;
} scl_sampler;
#define SCL_LEAST_SAMPLER SCL_THROUGH(scl_sampler, draw)
#define SCL_SAMPLER(...) SCL_VTABLE(SCL_KIND_SAMPLER, scl_sampler, __VA_ARGS__)

/* ------------ abilities
 *
 * Optional tables, offered by a row of scl_plugin.abilities. */

/* The law, for closed forms. The host presets dim, space and fan_in, and all other members and
 * the arrays to 0. [any] */
#define SCL_ABILITY_LAW "scullery.law/1"
typedef struct scl_ability_law {
  scl_head head;
  scl_status (*law)(const void *self, const scl_draw *draw, scl_law *out, scl_error *error);
} scl_ability_law;
#define SCL_LEAST_ABILITY_LAW SCL_THROUGH(scl_ability_law, law)

/* out[r] = Re E exp(i <w, delta_r>) for the rows of delta (rows x dim): the kernel of Fourier
 * features at x - y. Sparse: w is 0 off its support, and E runs over supports too. [any] */
#define SCL_ABILITY_CHARACTERISTIC "scullery.characteristic/1"
typedef struct scl_ability_characteristic {
  scl_head head;
  scl_status (*characteristic)(const void *self, const scl_draw *draw, size_t rows,
                               const double *delta, ptrdiff_t stride, double *out,
                               scl_error *error);
} scl_ability_characteristic;
#define SCL_LEAST_ABILITY_CHARACTERISTIC SCL_THROUGH(scl_ability_characteristic, characteristic)

/* Weights by columns, for data of so many columns that T rows of weights cannot be stored: the host
 * draws a column when a row of data first has a number there. Dense parameters whose bias the host
 * draws (SCL_OPTION_BIAS) or that have none. Simple forms do not need it. */
#define SCL_ABILITY_COLUMNS "scullery.columns/1"
typedef struct scl_ability_columns {
  scl_head head;
  /* out[t] = weight `column` (from 0) of parameter first + t, t < count: the number that `draw`
   * writes there. [any] */
  scl_status (*column)(const void *self, const scl_draw *draw, size_t column, size_t first,
                       size_t count, double *out, scl_error *error);
} scl_ability_columns;
#define SCL_LEAST_ABILITY_COLUMNS SCL_THROUGH(scl_ability_columns, column)

/* P(t <= x) for thresholds drawn for column j. [any] */
#define SCL_ABILITY_DISTRIBUTION "scullery.distribution/1"
typedef struct scl_ability_distribution {
  scl_head head;
  double (*distribution)(const void *self, const scl_draw *draw, size_t column, double x);
} scl_ability_distribution;
#define SCL_LEAST_ABILITY_DISTRIBUTION SCL_THROUGH(scl_ability_distribution, distribution)

/* Grids: out[r] = P(x and y fall into one cell), delta_r = x - y: the kernel of one-hot cells.
 * [any] */
#define SCL_ABILITY_COLLISION "scullery.collision/1"
typedef struct scl_ability_collision {
  scl_head head;
  scl_status (*collision)(const void *self, const scl_draw *draw, size_t rows, const double *delta,
                          ptrdiff_t stride, double *out, scl_error *error);
} scl_ability_collision;
#define SCL_LEAST_ABILITY_COLLISION SCL_THROUGH(scl_ability_collision, collision)

/* Shared rows (maxout pools drawn from R projections): the host draws and projects parameters 0 ..
 * R-1 once, and parameter t reads the fan_in different ones with the numbers out[t*fan_in ..].
 * [any] */
#define SCL_ABILITY_POOL "scullery.pool/1"
typedef struct scl_ability_pool {
  scl_head head;
  size_t (*rows)(const void *self, size_t count, size_t fan_in); /* R, for `count` parameters */
  scl_status (*pool)(const void *self, const scl_draw *draw, size_t first, size_t count,
                     size_t fan_in, int32_t *out, scl_error *error);
} scl_ability_pool;
#define SCL_LEAST_ABILITY_POOL SCL_THROUGH(scl_ability_pool, pool)

/* Structured parameters: z (rows x count, one plane) from x (rows x dim), both of one dtype. z is
 * X W', computed without forming the rows of W that the parameters represent, or any other
 * z(w_t, x): then `rows` is NULL, and a tag names the nonlinearities that take it. The host adds
 * the bias. [any] */
#define SCL_ABILITY_STRUCTURED "scullery.structured/1"
typedef struct scl_ability_structured {
  scl_head head;
  scl_status (*apply)(const void *self, const scl_draw *draw,
                      const scl_const_parameters *parameters, const scl_const_block *x,
                      const scl_block *z, scl_error *error);
  /* dense (count x dim) = the rows w_t, for kernels on parameters. NULL: z is not <w, x>. */
  scl_status (*rows)(const void *self, const scl_draw *draw, const scl_const_parameters *parameters,
                     double *dense, ptrdiff_t stride, scl_error *error);
  uint32_t dtypes; /* that apply takes; 0: float64 only */
  uint32_t reserved;
  /* z of compressed sparse rows, whose type is one of `dtypes`: the numbers that apply writes for
   * the same rows with their zeros. NULL: the host makes rows dense. [any] */
  scl_status (*apply_csr)(const void *self, const scl_draw *draw,
                          const scl_const_parameters *parameters, const scl_const_csr *x,
                          const scl_block *z, scl_error *error);
} scl_ability_structured;
#define SCL_LEAST_ABILITY_STRUCTURED SCL_THROUGH(scl_ability_structured, apply)

/* A sampler that learns from rows (landmarks, quantile thresholds). The host calls `learn` with the
 * rows after all row stages, separately for each fold, and stores the state. Functions [one]. */
typedef struct scl_learning {
  scl_head head;
  const scl_host *host;
  const scl_draw *draw;   /* total is T, 0 if the user did not give it. NULL for a row stage */
  size_t rows, dim;       /* n and d, after the row stages */
  size_t targets;         /* c; 0: the rows have no targets */
  const scl_part *kernel; /* phi if it is a kernel, else K, else NULL */
  /* Visit all rows in order; features are the staged rows, count x dim, float64. */
  scl_status (*walk)(const struct scl_learning *rows, scl_visit visit, void *context,
                     scl_error *error);
  /* out (count x dim, packed) = the rows with these numbers (from 0), strictly ascending, in one
   * pass. */
  scl_status (*select)(const struct scl_learning *rows, const size_t *places, size_t count,
                       double *out, scl_error *error);
  /* Report progress, in [0, 1]. SCL_STATUS_CANCELLED: the user asked to stop. */
  scl_status (*progress)(const struct scl_learning *rows, const char *doing, double done,
                         scl_error *error);
} scl_learning;
#define SCL_LEAST_LEARNING SCL_THROUGH(scl_learning, progress)

#define SCL_ABILITY_LEARN "scullery.learn/1"
typedef struct scl_ability_learn {
  scl_head head;
  /* Fill in *out, which is preset to 0. [any], one thread for each scl_learning */
  scl_status (*learn)(const void *self, const scl_learning *rows, scl_state *out, scl_error *error);
} scl_ability_learn;
#define SCL_LEAST_ABILITY_LEARN SCL_THROUGH(scl_ability_learn, learn)

/* out (count numbers) = the factor of each parameter's features, which replaces 1/sqrt(T):
 * importance weights, quadrature weights, or 1 for features that are not averaged. [any] */
#define SCL_ABILITY_SCALES "scullery.scales/1"
typedef struct scl_ability_scales {
  scl_head head;
  scl_status (*scales)(const void *self, const scl_draw *draw,
                       const scl_const_parameters *parameters, double *out, scl_error *error);
} scl_ability_scales;
#define SCL_LEAST_ABILITY_SCALES SCL_THROUGH(scl_ability_scales, scales)

/* The kernel that this component's features estimate together with a partner (a sampler is given
 * the nonlinearity, a nonlinearity the sampler), if none of the closed forms above applies: text
 * = a kernel and its options as typed, "polynomial{degree = 3, offset = 1}", at most size - 1
 * characters; empty: not known for this partner. The host asks the sampler first. [any] */
#define SCL_ABILITY_PAIR_KERNEL "scullery.pair-kernel/1"
typedef struct scl_ability_pair_kernel {
  scl_head head;
  scl_status (*kernel)(const void *self, const scl_part *partner, char *text, size_t size,
                       scl_error *error);
} scl_ability_pair_kernel;
#define SCL_LEAST_ABILITY_PAIR_KERNEL SCL_THROUGH(scl_ability_pair_kernel, kernel)

#endif
