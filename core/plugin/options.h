/* Declared options: from what a user gave to one validated value per option. The declaration also
 * feeds help, completion, printing and saving. */
#ifndef SCULLERY_OPTIONS_H
#define SCULLERY_OPTIONS_H

#include "base/base.h"

struct scl_instance;

/* One named value as it came: form says what it is (a whole number comes as SCL_FORM_NUMBER |
 * SCL_FORM_INTEGER). Pointers are borrowed. SCL_FORM_PARTS: value.length instances. */
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
  struct scl_instance **
      *parts; /* for each option its values[i].length instances, shared, or NULL */
} scl_settings;

/* Check `given` against the declaration and fill in defaults; every sentence begins with `title`
 * ("sampler.gaussian"). */
scl_status scl_settings_create(const char *title, const scl_option *options, size_t n_options,
                               const scl_given *given, size_t n_given, scl_settings *out,
                               scl_error *error);
scl_status scl_settings_copy(const scl_settings *from, scl_settings *out, scl_error *error);
void scl_settings_destroy(scl_settings *settings);

/* The word ("scale" or "median") of the first width that waits for data, or NULL. */
const char *scl_settings_waiting(const scl_settings *settings);
/* Replace such words by numbers: gamma of exp(-gamma ||x-y||^2) for each of the two words, on rows
 * of `dim` columns. */
void scl_settings_set_widths(scl_settings *settings, double gamma_scale, double gamma_median,
                             size_t dim);

/* "a number above 0", "one of none, uniform": what the option takes. */
const char *scl_option_takes(const scl_option *option, char *text, size_t size);
/* The value as one would type it; and option `i` of the settings, components included. */
const char *scl_value_text(const scl_value *value, char *text, size_t size);
const char *scl_setting_text(const scl_settings *settings, size_t i, char *text, size_t size);

/* The edit distance of two words, and the nearest of a list of names (NULL when none is near). */
size_t scl_edit_distance(const char *a, const char *b);
const char *scl_nearest(const char *word, const char *const *names, size_t count);

#endif
