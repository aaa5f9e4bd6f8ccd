/* scullery/plugin/option.h: options as declared data, their values, and how an instance gets them.
 *
 * A plugin declares a row for each option. By these rows the host validates, completes, prints,
 * searches and saves values, and writes each value into the instance before `create`. */
#ifndef SCULLERY_PLUGIN_OPTION_H
#define SCULLERY_PLUGIN_OPTION_H

#include "base.h"
#ifndef __cplusplus
#include <stdbool.h>
#endif

/* The forms of a value. An option takes a set of them. The constants are bits. */
enum {
  SCL_FORM_NUMBER = 1,  /* 0.5 */
  SCL_FORM_INTEGER = 2, /* 4 */
  SCL_FORM_BOOLEAN = 4, /* true */
  SCL_FORM_WORD = 8,    /* "uniform": one of `words`, or any text where there are none */
  SCL_FORM_LIST = 16,   /* {-1, 1}: numbers */
  SCL_FORM_NAMED = 32,  /* {binomial = 0.5}, {table = {0, 1}}: a word and its numbers */
  SCL_FORM_PARTS = 64   /* sc.kernel.NAME{}, or a list of these: other components */
};

/* The kind of width that the option is. A width also takes "scale" and "median": from the data the
 * host then computes gamma = 1/(d var X) or 1/(median squared distance) in exp(-gamma ||x-y||^2),
 * and from gamma the value of the option. */
enum {
  SCL_WIDTH_NONE = 0,
  SCL_WIDTH_GAMMA,     /* gamma itself */
  SCL_WIDTH_LENGTH,    /* g in exp(-||x-y||^2/(2 g^2)): 1/sqrt(2 gamma) */
  SCL_WIDTH_FREQUENCY, /* standard deviation of drawn weights: sqrt(2 gamma) */
  SCL_WIDTH_RATE       /* the rate in exp(-rate ||x-y||_1): sqrt(gamma/d) */
};
typedef int32_t scl_width;

/* The meaning of the option for the host, independent of its name. A plugin has at most one option
 * of each role except SCL_ROLE_NONE. */
enum {
  SCL_ROLE_NONE = 0,
  SCL_ROLE_REGULARISATION, /* solver: a larger value gives a simpler model (lambda) */
  SCL_ROLE_CAPACITY,       /* solver: a smaller value gives a simpler model (C, B) */
  /* solver: true asks for an unpenalised constant (scl_problem.intercept), false for none, the word
   * "auto" for one if the instance penalises ||a||^2 or ||a||_1 (SCL_ABILITY_PENALTY). The host
   * decides before `solve`. */
  SCL_ROLE_INTERCEPT,
  SCL_ROLE_ESTIMATE, /* solver: asks for its own estimate of the risk in scl_solution.score.
                              Words: "none", and those of "loo" (leave-one-out squared error),
                              "loo_error" (share of wrong classes), "gcv" that it knows */
  SCL_ROLE_BIAS,     /* sampler: the law of the bias in z = <w, x> + b, which the host then draws
                              and declares: use SCL_OPTION_BIAS */
  SCL_ROLE_TOLERANCE /* solver: a larger value stops earlier, with a less exact solution. The host
                        gives larger ones where it only compares candidates */
};
typedef int32_t scl_role;

enum { SCL_RANGE_LOW_OPEN = 1, SCL_RANGE_HIGH_OPEN = 2 }; /* the bound itself is excluded */

/* The type of the member of the instance to which the host writes the value. SCL_AT chooses it by
 * the type of that member. When the plugin is loaded, the host refuses a store that cannot hold
 * every form of the option: an option of several forms is stored as SCL_STORE_VALUE. */
enum {
  SCL_STORE_NONE = 0,
  SCL_STORE_DOUBLE,  /* double: a number; NaN when absent */
  SCL_STORE_SIZE,    /* size_t or uint64_t: a whole number of at least 0; 0 when absent */
  SCL_STORE_INT64,   /* int64_t: a whole number; 0 when absent */
  SCL_STORE_BOOLEAN, /* bool */
  SCL_STORE_WORD,    /* int32_t: the index of the word in `words`, from 0; -1 when absent */
  SCL_STORE_VALUE,   /* const scl_value *: any form; valid as long as the instance, never NULL */
  SCL_STORE_PART     /* scl_part: one component; its plugin is NULL when absent */
};
typedef int32_t scl_store;

/* Initialisers in the order of the members compile as C++20 too. */
typedef struct scl_option {
  const char *name;     /* as typed in Lua: letters, digits, _; no keyword of Lua */
  const char *help;     /* one line, with units */
  const char *words;    /* "none|uniform" for words and names; "kernel|sampler": kinds of parts */
  const char *fallback; /* the default as typed ("1", "none", "{-1, 1}", a component's name);
                           NULL: absent unless given. `create` must succeed with defaults alone */
  uint32_t forms;       /* SCL_FORM_... */
  scl_store store;      /* SCL_AT(type, member) sets store and offset */
  uint32_t offset;      /* of the member in the instance */
  uint32_t range;       /* SCL_RANGE_...; SCL_POSITIVE and the like set range, low and high */
  double low, high;     /* of each number, except in SCL_FORM_NAMED; both 0: any finite number */
  scl_width width;
  scl_role role;
  /* Names that the option had in earlier versions of the plugin, "sigma|width": the host takes them
   * for this one, in scripts with a line, and in saved models. NULL: none. */
  const char *former;
  /* The option goes away in a later version: what to use in its place, one line, which the host
   * shows where the option is given. NULL: it stays. */
  const char *deprecated;
} scl_option;
#define SCL_LEAST_OPTION SCL_THROUGH(scl_option, high)

/* Ranges, as initialisers of an scl_option. WITHIN includes both bounds, BETWEEN neither, ABOVE
 * only the upper one. */
#define SCL_RANGE_OPEN (SCL_RANGE_LOW_OPEN | SCL_RANGE_HIGH_OPEN)
#define SCL_WITHIN(least, most) .range = 0, .low = least, .high = most
#define SCL_BETWEEN(least, most) .range = SCL_RANGE_OPEN, .low = least, .high = most
#define SCL_ABOVE(least, most) .range = SCL_RANGE_LOW_OPEN, .low = least, .high = most
#define SCL_POSITIVE SCL_BETWEEN(0, INFINITY)
#define SCL_NOT_NEGATIVE .range = SCL_RANGE_HIGH_OPEN, .low = 0, .high = INFINITY
#define SCL_FINITE SCL_BETWEEN(-INFINITY, INFINITY)

/* "bias" of a sampler: none; "uniform" on [-pi, pi]; "gaussian": N(0, 1); {low, high}: uniform;
 * {gaussian = s} or {gaussian = {mean, s}}. For a sampler with this row the host draws
 * the bias and adds it to the law. */
#define SCL_OPTION_BIAS \
  { \
    "bias", \
        "b in <w, x> + b: none; uniform on [-pi, pi]; gaussian: N(0, 1); {low, high}; " \
        "{gaussian = s} or {gaussian = {mean, s}}", \
        "none|uniform|gaussian", "none", SCL_FORM_WORD | SCL_FORM_LIST | SCL_FORM_NAMED, \
        SCL_STORE_NONE, 0, 0, 0, 0, SCL_WIDTH_NONE, SCL_ROLE_BIAS, NULL, NULL \
  }

/* "intercept" of a solver: an unpenalised constant, by default unless the penalty is that of an
 * RKHS or bounds |a_t|. The host reads it by its role, and gives centred sums where it is wanted. */
#define SCL_OPTION_INTERCEPT \
  { \
    "intercept", "fit an unpenalised constant; auto: yes, unless the penalty is rkhs or box", \
        "auto", "auto", SCL_FORM_BOOLEAN | SCL_FORM_WORD, SCL_STORE_NONE, 0, 0, 0, 0, \
        SCL_WIDTH_NONE, SCL_ROLE_INTERCEPT, NULL, NULL \
  }

/* Another component's instance, given as an option's value. It is valid as long as the
 * instance that has the option. Call it only through scl_host.parts. */
struct scl_plugin;
typedef struct scl_part {
  const struct scl_plugin *plugin;
  const void *self;
} scl_part;

typedef struct scl_value {
  uint32_t form; /* the form of this value; 0: not given, and no default */
  int32_t place; /* index of the word in `words`, from 0; -1: no words */
  double number; /* a number; a boolean is 0 or 1 */
  const char *word;
  const double *list;
  const scl_part *parts;
  size_t length; /* of list or parts */
  const void *reserved;
} scl_value;

/* The first member of every instance. The host fills it in. */
typedef struct scl_base {
  const struct scl_host *host;
  const scl_value *values; /* one for each declared option; valid as long as the instance */
} scl_base;

/* A row for a member of the instance's struct that has the option's name. For a number the
 * range, and perhaps .width and .role, follow the help:
 *   SCL_NUMBER(cauchy, gamma, "1", "the rate in exp(-gamma ||x-y||_1)", SCL_POSITIVE)
 * A boolean and a word have no range. Their help may be followed by .role (C alone: C++ takes
 * members in their order):
 *   SCL_BOOLEAN(ridge, intercept, "false", "fit a constant", .role = SCL_ROLE_INTERCEPT) */
#define SCL_NUMBER(type, member, fallback_, help_, ...) \
  SCL_ROW(type, member, SCL_FORM_NUMBER, NULL, fallback_, help_, __VA_ARGS__)
#define SCL_INTEGER(type, member, fallback_, help_, ...) \
  SCL_ROW(type, member, SCL_FORM_INTEGER, NULL, fallback_, help_, __VA_ARGS__)
#define SCL_BOOLEAN(type, member, fallback_, ...) \
  SCL_ROW(type, member, SCL_FORM_BOOLEAN, NULL, fallback_, __VA_ARGS__, .range = 0)
#define SCL_WORD(type, member, words_, fallback_, ...) \
  SCL_ROW(type, member, SCL_FORM_WORD, words_, fallback_, __VA_ARGS__, .range = 0)
#define SCL_ROW(type, member, forms_, words_, fallback_, help_, ...) \
  { \
    .name = #member, .help = help_, .words = words_, .fallback = fallback_, .forms = forms_, \
    SCL_AT(type, member), __VA_ARGS__ \
  }

/* `.store` and `.offset` for a member of the instance's struct; no other type of member
 * compiles. */
#define SCL_AT(type, member) \
  .store = SCL_STORE_OF(type, member), .offset = (uint32_t)offsetof(type, member)

#ifndef __cplusplus
#define SCL_STORE_OF(type, member) \
  _Generic(((type *)0)->member, double                                                             \
           : SCL_STORE_DOUBLE, unsigned long                                                       \
           : SCL_STORE_SIZE, unsigned long long                                                    \
           : SCL_STORE_SIZE, long                                                                  \
           : SCL_STORE_INT64, long long                                                            \
           : SCL_STORE_INT64, _Bool                                                                \
           : SCL_STORE_BOOLEAN, int32_t                                                            \
           : SCL_STORE_WORD, const scl_value *                                                     \
           : SCL_STORE_VALUE, scl_part                                                             \
           : SCL_STORE_PART)
#else
extern "C++" {
template <typename T> struct scl_store_of;
template <> struct scl_store_of<double> {
  enum { value = SCL_STORE_DOUBLE };
};
template <> struct scl_store_of<unsigned long> {
  enum { value = SCL_STORE_SIZE };
};
template <> struct scl_store_of<unsigned long long> {
  enum { value = SCL_STORE_SIZE };
};
template <> struct scl_store_of<long> {
  enum { value = SCL_STORE_INT64 };
};
template <> struct scl_store_of<long long> {
  enum { value = SCL_STORE_INT64 };
};
template <> struct scl_store_of<bool> {
  enum { value = SCL_STORE_BOOLEAN };
};
template <> struct scl_store_of<int32_t> {
  enum { value = SCL_STORE_WORD };
};
template <> struct scl_store_of<const scl_value *> {
  enum { value = SCL_STORE_VALUE };
};
template <> struct scl_store_of<scl_part> {
  enum { value = SCL_STORE_PART };
};
}
#define SCL_STORE_OF(type, member) scl_store_of<decltype(type::member)>::value
#endif

#endif
