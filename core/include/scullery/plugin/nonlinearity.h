/* scullery/plugin/nonlinearity.h: nonlinearities phi, which map fan_in numbers of each
 * parameter to fan_out features.
 *
 * Two forms. Simple: one number to one feature, by loops over adjacent numbers. General: `apply`
 * on whole blocks. */
#ifndef SCULLERY_PLUGIN_NONLINEARITY_H
#define SCULLERY_PLUGIN_NONLINEARITY_H

#include "host.h"

enum {
  SCL_SHAPE_ONE_HOT = 1, /* the output is the category of z: SCL_ABILITY_CATEGORIES, never apply */
  SCL_SHAPE_PHASE = 2    /* right only with a bias uniform over 2 pi, which the host draws where the
                            sampler has none */
};

typedef struct scl_shape {
  scl_head head;
  uint32_t fan_in;  /* numbers of a parameter; 0: one; SCL_FAN_IN_ALL: all planes of the space */
  uint32_t fan_out; /* features of a parameter; 0: one */
  uint32_t spaces;  /* SCL_BIT(SCL_SPACE_...) that it takes */
  uint32_t dtypes;  /* SCL_BIT(SCL_DTYPE_...) that apply and smooth take; 0: float64 only */
  uint32_t flags;   /* SCL_SHAPE_... */
  /* A sampler with a tag needs a nonlinearity that names it. NULL: takes samplers without a tag;
   * "a|b": only samplers with these tags; "none|a": those without a tag or with the tag a. */
  const char *tags;
} scl_shape;
#define SCL_LEAST_SHAPE SCL_THROUGH(scl_shape, tags)
#define SCL_FAN_IN_ALL UINT32_MAX

typedef struct scl_nonlinearity {
  scl_head head;
  scl_kind kind; /* SCL_KIND_NONLINEARITY */
  /* The shape, where it does not depend on options: as in scl_shape. */
  uint32_t spaces, dtypes, fan_in, fan_out, flags;
  /* Simple form: out[j] = phi(z[j]), j < count; out may be z. `loop_float32` may be NULL: the host
   * converts. [any] */
  void (*loop)(const void *self, size_t count, const double *z, double *out);
  /* General form: out (rows x cols x fan_out planes) = phi(z) (rows x cols x fan_in planes), one
   * dtype; out may be the memory of z if fan_in = fan_out = 1. [any] */
  scl_status (*apply)(const void *self, const scl_const_block *z, const scl_block *out,
                      scl_error *error);
  void (*loop_float32)(const void *self, size_t count, const float *z, float *out);
  const char *tags; /* as in scl_shape */
  /* Change the shape, which the host presets from the members above. NULL: no change. [any] */
  scl_status (*shape)(const void *self, scl_shape *out, scl_error *error);
  /* phi as C, for files that predict without this library. Simple form: an expression of the double
   * z. General form: statements that set out[0 .. fan_out-1] from z[0 .. fan_in-1]. They use
   * <math.h>, SCL_PI and SCL_SQRT2 alone. Writes to `text` and returns the length as snprintf does;
   * 0: no such formula. NULL: none. [any] */
  int (*formula)(const void *self, char *text, size_t size);
} scl_nonlinearity;
#define SCL_LEAST_NONLINEARITY SCL_THROUGH(scl_nonlinearity, apply)
#define SCL_NONLINEARITY(...) SCL_VTABLE(SCL_KIND_NONLINEARITY, scl_nonlinearity, __VA_ARGS__)

/* The simple form in short (C alone). SCL_LOOPS defines `loop`, `loop_float32` and `loop_formula` for
 * a phi without options, from phi of the number z; the expression is evaluated for a double z and a
 * float z. SCL_LOOPS_OF takes the host's vector functions. SCL_NONLINEARITY(SCL_RIDGE_LOOPS) declares
 * both loops, on all spaces where z = <w, x> + b; its formula is declared beside it:
 *   SCL_LOOPS(z <= 0 ? 0 : z)
 *   SCL_LOOPS_OF(exp)
 *   SCL_NONLINEARITY(SCL_RIDGE_LOOPS, .formula = loop_formula) */
#define SCL_LOOPS(phi) \
  SCL_LOOP(loop, double, phi) \
  SCL_LOOP(loop_float32, float, phi) \
  SCL_FORMULA(loop_formula, #phi)
#define SCL_LOOP(name, real, phi) \
  static void name(const void *self, size_t count, const real *numbers, real *out) { \
    (void)self; \
    for (size_t j = 0; j < count; j++) { \
      const real z = numbers[j]; \
      out[j] = (real)(phi); \
    } \
  }
#define SCL_LOOPS_OF(function) \
  static void loop(const void *self, size_t count, const double *z, double *out) { \
    ((const scl_base *)self)->host->math->function(count, z, out); \
  } \
  static void loop_float32(const void *self, size_t count, const float *z, float *out) { \
    ((const scl_base *)self)->host->math->function##f(count, z, out); \
  } \
  SCL_FORMULA(loop_formula, #function "(z)")
#define SCL_RIDGE_LOOPS .spaces = SCL_SPACES_RIDGE, .loop = loop, .loop_float32 = loop_float32

/* ------------ abilities */

/* S(m, v) = E phi(N(m, v^2)), with which Gaussian weightings are exact (Dube and Marchand 2023). */
#define SCL_ABILITY_SMOOTHING "scullery.smoothing/1"
typedef struct scl_ability_smoothing {
  scl_head head;
  /* Simple form: out[j] = S(m[j], v[j]), v[j] > 0; out may be m. The host computes
   * v = 0, which is phi(m). `loop_float32` may be NULL. [any] */
  void (*loop)(const void *self, size_t count, const double *m, const double *v, double *out);
  /* General form: blocks as for apply. With fan_in > 1 the planes are independent; they share v
   * unless it has a plane stride. v is not NULL; v = 0 gives phi(m). [any] */
  scl_status (*smooth)(const void *self, const scl_const_block *m, const scl_spread *v,
                       const scl_block *out, scl_error *error);
  void (*loop_float32)(const void *self, size_t count, const float *m, const float *v, float *out);
} scl_ability_smoothing;
#define SCL_LEAST_ABILITY_SMOOTHING SCL_THROUGH(scl_ability_smoothing, smooth)

/* For each output: |phi| <= bound and |phi(a) - phi(b)| <= lipschitz max_k |a_k - b_k|; INFINITY:
 * unbounded. breaks: points where phi jumps or has a kink, ascending: quadrature splits its range
 * there. */
#define SCL_ABILITY_FACTS "scullery.facts/1"
typedef struct scl_ability_facts {
  scl_head head;
  double bound, lipschitz;
  const double *breaks;
  uint32_t n_breaks;
  uint32_t scale_free; /* not 0: phi(s z) = phi(z) for every s > 0 */
} scl_ability_facts;
#define SCL_LEAST_ABILITY_FACTS SCL_THROUGH(scl_ability_facts, scale_free)

/* phi takes two values: `high` where z > 0, `low` where z < 0, and at 0 the value
 * that zero_is_high selects. The host may store such features as bits. The two values are two codes
 * (0 and 1: high), without SCL_ABILITY_CATEGORIES. */
#define SCL_ABILITY_TWO_VALUED "scullery.two-valued/1"
typedef struct scl_ability_two_valued {
  scl_head head;
  double low, high;
  uint32_t zero_is_high;
  uint32_t reserved;
} scl_ability_two_valued;
#define SCL_LEAST_ABILITY_TWO_VALUED SCL_THROUGH(scl_ability_two_valued, reserved)

/* E phi(a) phi(b), (a, b) bivariate normal, any variance may be 0: with Gaussian rows the induced
 * kernel, summed over the fan_out features. With fan_in > 1 the pairs (a_k, b_k) are independent,
 * each with this law. NaN: no closed form for these moments. [any] */
#define SCL_ABILITY_GAUSSIAN_DUAL "scullery.gaussian-dual/1"
typedef struct scl_ability_gaussian_dual {
  scl_head head;
  double (*dual)(const void *self, double mean_a, double mean_b, double var_a, double var_b,
                 double covariance);
} scl_ability_gaussian_dual;
#define SCL_LEAST_ABILITY_GAUSSIAN_DUAL SCL_THROUGH(scl_ability_gaussian_dual, dual)

/* The induced kernel is amplitude times the sampler's characteristic function at x - y, without a
 * bias or with one uniform over whole periods. */
#define SCL_ABILITY_HARMONIC "scullery.harmonic/1"
typedef struct scl_ability_harmonic {
  scl_head head;
  double amplitude;
} scl_ability_harmonic;
#define SCL_LEAST_ABILITY_HARMONIC SCL_THROUGH(scl_ability_harmonic, amplitude)

/* E_t phi(a - t) phi(b - t) from the threshold's distribution function at a and at b. Also used for
 * a ridge phi with a random bias, t = -b. [any] */
#define SCL_ABILITY_THRESHOLD_DUAL "scullery.threshold-dual/1"
typedef struct scl_ability_threshold_dual {
  scl_head head;
  double (*dual)(const void *self, double distribution_a, double distribution_b);
} scl_ability_threshold_dual;
#define SCL_LEAST_ABILITY_THRESHOLD_DUAL SCL_THROUGH(scl_ability_threshold_dual, dual)

/* One-hot outputs and hash codes: the category of each (row, parameter), as `words` 32-bit words.
 * The host stores the dictionary from categories to columns. Categories that did not occur in
 * fitting have no column. [any] */
#define SCL_ABILITY_CATEGORIES "scullery.categories/1"
typedef struct scl_ability_categories {
  scl_head head;
  /* For z with `planes` planes. *levels: 0: unbounded; else one word, codes 0 .. levels-1. */
  scl_status (*key)(const void *self, size_t planes, size_t *words, size_t *levels,
                    scl_error *error);
  /* z is float64. Word w of (i, j) to out[i*row_stride + j*words + w]. */
  scl_status (*categories)(const void *self, const scl_const_block *z, int32_t *out,
                           ptrdiff_t row_stride, scl_error *error);
} scl_ability_categories;
#define SCL_LEAST_ABILITY_CATEGORIES SCL_THROUGH(scl_ability_categories, categories)

/* P(category(a) = category(b)), with moments as in SCL_ABILITY_GAUSSIAN_DUAL. [any] */
#define SCL_ABILITY_CODE_DUAL "scullery.code-dual/1"
typedef struct scl_ability_code_dual {
  scl_head head;
  double (*collision)(const void *self, double mean_a, double mean_b, double var_a, double var_b,
                      double covariance);
} scl_ability_code_dual;
#define SCL_LEAST_ABILITY_CODE_DUAL SCL_THROUGH(scl_ability_code_dual, collision)

#endif
