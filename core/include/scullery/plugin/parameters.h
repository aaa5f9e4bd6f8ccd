/* scullery/plugin/parameters.h: parameter spaces, how parameters are stored, and their law. */
#ifndef SCULLERY_PLUGIN_PARAMETERS_H
#define SCULLERY_PLUGIN_PARAMETERS_H

#include "block.h"

/* A space defines how a parameter is stored, as `reals` numbers in weights and `integers` in
 * support, and the number z that it makes of a row x of data:
 *
 *   dense       weights: w in R^d
 *               z = <w, x> + b
 *   sparse      weights: one number for each column of the support; support: columns, ascending,
 *               then -1 for each unused entry
 *               z = <w_N, x_N> + b
 *   threshold   weights: t; support: one column i
 *               z = x_i - t
 *   grid        weights: d pitches delta, then d shifts u
 *               z_j = floor((x_j - u_j)/delta_j), d planes, always float64, cut to +-(2^31 - 1)
 *   structured  weights and support are private to the sampler, which brings
 *               SCL_ABILITY_STRUCTURED
 *               z as its `apply` computes, + b
 *
 * Columns count from 0. Dense rows of data are parameters too: weights = the row.
 *
 * Where a nonlinearity takes fan_in = q numbers of a parameter, scalar k of parameter t comes from
 * parameter t that the sampler draws at stream + k 2^32 (scl_draw.plane is k): q draws that are
 * independent even where the parameters of one draw are not. A sampler with SCL_ABILITY_POOL
 * instead selects the parameters of one draw that each reads. */
enum {
  SCL_SPACE_DENSE = 0,
  SCL_SPACE_SPARSE,
  SCL_SPACE_THRESHOLD,
  SCL_SPACE_GRID,
  SCL_SPACE_STRUCTURED
};
typedef int32_t scl_space;
#define SCL_SPACES_RIDGE \
  (SCL_BIT(SCL_SPACE_DENSE) | SCL_BIT(SCL_SPACE_SPARSE) | SCL_BIT(SCL_SPACE_THRESHOLD) | \
   SCL_BIT(SCL_SPACE_STRUCTURED))

/* The spaces on which kernels are defined: structured parameters are passed to kernels as dense
 * rows, and cells of grids have no kernel on parameters. */
#define SCL_SPACES_KERNEL \
  (SCL_BIT(SCL_SPACE_DENSE) | SCL_BIT(SCL_SPACE_SPARSE) | SCL_BIT(SCL_SPACE_THRESHOLD))

/* The name of a space as typed, "dense"; NULL: unknown to this header. */
static inline const char *scl_space_name(scl_space space) {
  static const char *const names[] = {"dense", "sparse", "threshold", "grid", "structured"};
  return space >= 0 && (size_t)space < sizeof names / sizeof *names ? names[space] : NULL;
}

/* The reals and integers of a parameter of R^dim, if the space defines them; 0 if the sampler
 * does. */
static inline size_t scl_space_reals(scl_space space, size_t dim) {
  return space == SCL_SPACE_DENSE       ? dim
         : space == SCL_SPACE_GRID      ? 2 * dim
         : space == SCL_SPACE_THRESHOLD ? 1
                                        : 0;
}
static inline size_t scl_space_integers(scl_space space) { return space == SCL_SPACE_THRESHOLD; }

/* Parameters first .. first+count-1, to be written (scl_parameters) or read (scl_const_parameters);
 * float64. */
typedef struct scl_parameters {
  scl_head head;
  scl_space space;
  uint32_t reserved;
  size_t first, count, dim;
  size_t reals, integers; /* numbers of a parameter */
  double *weights;        /* count x reals */
  ptrdiff_t stride;       /* between rows of weights */
  double *bias;           /* count, or NULL without bias */
  int32_t *support;       /* count x integers, or NULL */
  ptrdiff_t support_stride;
} scl_parameters;
#define SCL_LEAST_PARAMETERS SCL_THROUGH(scl_parameters, support_stride)

typedef struct scl_const_parameters {
  scl_head head;
  scl_space space;
  uint32_t reserved;
  size_t first, count, dim;
  size_t reals, integers;
  const double *weights;
  ptrdiff_t stride;
  const double *bias;
  const int32_t *support;
  ptrdiff_t support_stride;
  /* What the component made of these parameters and others by SCL_ABILITY_PREPARE; NULL: nothing.
   * Only a call of that component gets it. Read it by scl_prepared. */
  const void *prepared;
} scl_const_parameters;
#define SCL_LEAST_CONST_PARAMETERS SCL_THROUGH(scl_const_parameters, support_stride)

/* `prepared` of parameters that may come from an older host. */
static inline const void *scl_prepared(const scl_const_parameters *parameters) {
  return SCL_HAS(parameters, prepared) ? parameters->prepared : NULL;
}

struct scl_draw; /* sampler.h */

/* Work that calls on the same parameters share: plans of a transform, hashes, factors, norms. The
 * host calls `apply` of structured rows, and `gram` of kernel sections k(x, w_t), for each few
 * hundred rows, or for a single one. With this ability a sampler of structured rows or a kernel in
 * its general form does such work once for each map, and finds it in parameters->prepared (of
 * `apply`) or in v->prepared (of `gram`).
 *
 * The results are the same numbers with and without it: a call may come without, and then does the
 * work itself. Work that depends on the options alone belongs into `create`. */
#define SCL_ABILITY_PREPARE "scullery.prepare/1"
typedef struct scl_ability_prepare {
  scl_head head;
  /* *prepared (preset to NULL) = the work for parameters of which later calls name all or some;
   * parameter `first` of a call is number `first` here too. They stay where they are until
   * `release`, so that *prepared may point to them; draw: of a sampler, as `apply` gets it, else
   * NULL. dtype: of the rows that `apply` will get; of a kernel float64. *prepared is constant
   * afterwards, since many threads read it at once. NULL: such work does not pay here. [any] */
  scl_status (*prepare)(const void *self, const struct scl_draw *draw,
                        const scl_const_parameters *parameters, scl_dtype dtype, void **prepared,
                        scl_error *error);
  /* Release what `prepare` made; never called with NULL. [any] */
  void (*release)(const void *self, void *prepared);
} scl_ability_prepare;
#define SCL_LEAST_ABILITY_PREPARE SCL_THROUGH(scl_ability_prepare, release)

/* The numbers that a component is defined for, where these are not all: of a sampler and a kernel,
 * numbers of the rows of data; of a nonlinearity, numbers z. The host refuses others with a
 * sentence that names row and column, so that the component need not. */
enum {
  SCL_DOMAIN_UNIT_ROWS = 1, /* rows have length 1, to 1e-5; not for nonlinearities */
  SCL_DOMAIN_COLUMNS = 2    /* a nonlinearity whose z are the columns of the data */
};
typedef struct scl_domain {
  scl_head head;
  uint32_t flags;   /* SCL_DOMAIN_... */
  uint32_t range;   /* SCL_RANGE_...: which of the bounds are excluded */
  double low, high; /* of each number, which may be infinite; both 0: any number */
} scl_domain;
#define SCL_LEAST_DOMAIN SCL_THROUGH(scl_domain, high)

#define SCL_ABILITY_DOMAIN "scullery.domain/1"
typedef struct scl_ability_domain {
  scl_head head;
  /* The domain, where it does not depend on options: as in scl_domain. */
  uint32_t flags, range;
  double low, high;
  /* Change the domain, which the host presets from the members above. NULL: no change. [any] */
  scl_status (*domain)(const void *self, scl_domain *out, scl_error *error);
} scl_ability_domain;
#define SCL_LEAST_ABILITY_DOMAIN SCL_THROUGH(scl_ability_domain, high)

/* Rows of data as dense parameters without a bias, for kernels. */
static inline scl_const_parameters scl_dense_rows(const double *rows, ptrdiff_t stride,
                                                  size_t count, size_t dim) {
  const scl_head head = SCL_HEAD(scl_const_parameters);
  scl_const_parameters out;
  memset(&out, 0, sizeof out);
  out.head = head;
  out.space = SCL_SPACE_DENSE;
  out.count = count;
  out.dim = out.reals = dim;
  out.weights = rows;
  out.stride = stride;
  return out;
}

/* The law (distribution) of one parameter's numbers, for closed forms. The coordinates are
 * uncorrelated; coordinate j has location mean[j] and scale scale[j]. Dense and structured: the d
 * numbers w_j; sparse: w_j given that j is in the support; threshold: t given column j. */
enum {
  SCL_FAMILY_OTHER = 0,  /* gives no closed form */
  SCL_FAMILY_GAUSSIAN,   /* scale: the standard deviation */
  SCL_FAMILY_UNIFORM,    /* on mean +- scale */
  SCL_FAMILY_RADEMACHER, /* mean +- scale */
  SCL_FAMILY_LAPLACE,    /* density exp(-|w - mean|/scale)/(2 scale) */
  SCL_FAMILY_CAUCHY,     /* half of the weights lie within mean +- scale */
  SCL_FAMILY_STUDENT,    /* shape: degrees of freedom; one chi-square for all coordinates */
  SCL_FAMILY_SPHERICAL   /* a uniform direction times an independent radius */
};
typedef int32_t scl_family;

enum { SCL_BIAS_NONE = 0, SCL_BIAS_UNIFORM, SCL_BIAS_GAUSSIAN };
typedef int32_t scl_bias;

typedef struct scl_law {
  scl_head head;
  scl_space space;
  scl_family family;
  size_t dim;
  double *mean, *scale; /* dim numbers each, the caller's */
  double shape;
  scl_bias bias; /* filled in by the host where the sampler has SCL_OPTION_BIAS */
  uint32_t reserved;
  double bias_a, bias_b; /* uniform: the ends; gaussian: mean and standard deviation */
  size_t max_degree;     /* sparse: the largest in-degree */
  double *degree;        /* sparse: P(in-degree = s), s = 0 .. dim; the caller's */
  double *degree_scale; /* sparse: given in-degree s the scale is scale[j] degree_scale[s], s = 0 ..
                            dim; the caller's */
  size_t fan_in; /* filled in by the host: independent rows with this law that make a parameter */
} scl_law;
#define SCL_LEAST_LAW SCL_THROUGH(scl_law, fan_in)

#endif
