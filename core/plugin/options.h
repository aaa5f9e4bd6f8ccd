/* Declared options: the values that a user gave are checked against the declaration, and written to
 * an instance. The declaration is also used for help, completion, printing and saving. */
#ifndef SCULLERY_OPTIONS_H
#define SCULLERY_OPTIONS_H

#include "base/memory.h"

struct scl_instance;

/* Forms that only the host's own options may have. OPAQUE: any value of the host's language, which
 * the code that declares the option checks; `words` describes what is taken. REQUIRED: must be
 * given. */
enum { SCL_FORM_OPAQUE = 1 << 29, SCL_FORM_REQUIRED = 1 << 30 };

/* One named value as it was given: value.form says what it is (a whole number is SCL_FORM_NUMBER |
 * SCL_FORM_INTEGER). Pointers are borrowed. SCL_FORM_PARTS: value.length instances.
 * SCL_FORM_OPAQUE: value.place says whether the value is accepted (0) or not (-1), value.word is
 * its text for messages. If a name is given several times, every value must be valid, and the last
 * one is used. */
typedef struct scl_given {
  const char *name;
  scl_value value;
  struct scl_instance *const *parts;
} scl_given;

/* Validated values, one per declared option, with the words, lists and components that they point
 * to. */
typedef struct scl_settings {
  const scl_option *options;
  size_t count;
  scl_value *values;
  struct scl_instance ***parts; /* of option i its values[i].length instances, shared, or NULL */
} scl_settings;

/* SCL_STATUS_BAD_OPTION: none of the options has this name. The sentence has the nearest name, and
 * all that there are. */
scl_status scl_refuse_option(const char *title, const scl_option *options, size_t n_options,
                             const char *name, scl_error *error);

/* Check `given` against the declaration and fill in defaults; every sentence begins with `title`
 * ("sampler.gaussian"). The caller destroys *out, but not after a failure. _copy shares the
 * components among the values. */
scl_status scl_settings_create(const char *title, const scl_option *options, size_t n_options,
                               const scl_given *given, size_t n_given, scl_settings *out,
                               scl_error *error);
scl_status scl_settings_copy(const scl_settings *from, scl_settings *out, scl_error *error);
void scl_settings_destroy(scl_settings *settings);

/* The option of that name, or of that former name; NULL: none. A former name and an option that
 * goes away are told to the user once, in a line that begins with `title`. */
const scl_option *scl_option_named(const char *title, const scl_option *options, size_t count,
                                   const char *name);

/* Write the values to the members of the instance that the options name (scl_option.store). */
void scl_settings_store(const scl_settings *settings, void *self);
/* The value of the option with this role; NULL if no option has the role. */
const scl_value *scl_settings_role(const scl_settings *settings, scl_role role);

/* The word ("scale" or "median") of the first width that waits for data, or NULL. */
const char *scl_settings_waiting(const scl_settings *settings);
/* Replace such words by numbers: gamma of exp(-gamma ||x-y||^2) for each of the two words, on rows
 * of `dim` columns. */
void scl_settings_set_widths(scl_settings *settings, double gamma_scale, double gamma_median,
                             size_t dim);

/* Whether a row of a plugin's table of options is valid; the sentence begins with "option
 * 'sigma'". */
scl_status scl_option_check(const scl_option *option, size_t instance_size, scl_error *error);
/* The bytes of the member that it is stored in; 0: it is not stored. */
size_t scl_option_bytes(const scl_option *option);
/* Whether `word` is one of "none|uniform"; its place, or -1. */
int32_t scl_word_place(const char *words, const char *word);

/* option_text.c: "a number above 0", "one of none, uniform": what the option takes. */
const char *scl_option_takes(const scl_option *option, char *text, size_t size);
/* A value as one would type it, and option `i` of the settings with its components. All these
 * functions return `text`, which they cut if it is too long. */
const char *scl_value_text(const scl_value *value, char *text, size_t size);
const char *scl_setting_text(const scl_settings *settings, size_t i, char *text, size_t size);
/* All settings as typed, "sigma = 1, bias = \"none\"". */
const char *scl_settings_text(const scl_settings *settings, char *text, size_t size);

#endif
