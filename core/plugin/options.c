#include "plugin/instance.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---------------------------------------------------------------- names */

size_t scl_edit_distance(const char *a, const char *b) {
  enum { LONGEST = 63 };
  const size_t rows = scl_min(strlen(a), LONGEST), cols = scl_min(strlen(b), LONGEST);
  size_t line[LONGEST + 1];
  for (size_t j = 0; j <= cols; j++)
    line[j] = j;
  for (size_t i = 1; i <= rows; i++) {
    size_t corner = line[0];
    line[0] = i;
    for (size_t j = 1; j <= cols; j++) {
      const size_t change = corner + (a[i - 1] != b[j - 1]);
      corner = line[j];
      line[j] = scl_min(change, scl_min(line[j], line[j - 1]) + 1);
    }
  }
  return line[cols];
}

const char *scl_nearest(const char *word, const char *const *names, size_t count) {
  const char *best = NULL;
  size_t least = scl_max(strlen(word) / 2, 1);
  for (size_t i = 0; i < count; i++) {
    const size_t distance = scl_edit_distance(word, names[i]);
    if (distance > least || (distance == least && best != NULL)) continue;
    least = distance;
    best = names[i];
  }
  return best;
}

/* ---------------------------------------------------------------- words of the form "none|uniform"
 */

static bool has_word(const char *words, const char *word) {
  const size_t length = strlen(word);
  for (const char *at = words; at != NULL; at = strchr(at, '|')) {
    if (*at == '|') at++;
    if (strncmp(at, word, length) == 0 && (at[length] == '|' || at[length] == 0)) return true;
  }
  return false;
}

static bool is_width_word(const scl_option *option, const char *word) {
  return option->width != SCL_WIDTH_NONE &&
         (strcmp(word, "scale") == 0 || strcmp(word, "median") == 0);
}

/* ---------------------------------------------------------------- texts */

static size_t append(char *text, size_t size, size_t used, const char *more) {
  const int wrote = used < size ? snprintf(text + used, size - used, "%s", more) : 0;
  return wrote < 0 ? used : used + (size_t)wrote;
}

static void range_text(const scl_option *option, const char *what, char text[120]) {
  const bool low = isfinite(option->low), high = isfinite(option->high);
  const char *above = option->flags & SCL_RANGE_LOW_OPEN ? "above" : "at least",
             *below = option->flags & SCL_RANGE_HIGH_OPEN ? "below" : "at most";
  if (low && high)
    (void)snprintf(text, 120, "%s %s %g and %s %g", what, above, option->low, below, option->high);
  else if (low)
    (void)snprintf(text, 120, "%s %s %g", what, above, option->low);
  else if (high)
    (void)snprintf(text, 120, "%s %s %g", what, below, option->high);
  else
    (void)snprintf(text, 120, "%s", what);
}

const char *scl_option_takes(const scl_option *option, char *text, size_t size) {
  size_t used = 0;
  char part[120];
  text[0] = 0;
  if (option->forms & (SCL_FORM_NUMBER | SCL_FORM_INTEGER)) {
    range_text(option, option->forms & SCL_FORM_NUMBER ? "a number" : "a whole number", part);
    used = append(text, size, used, part);
  }
  if (option->forms & SCL_FORM_BOOLEAN)
    used = append(text, size, used, used ? ", true or false" : "true or false");
  if (option->forms & SCL_FORM_LIST)
    used = append(text, size, used, used ? ", a list of numbers" : "a list of numbers");
  if (option->forms & SCL_FORM_WORD && option->words != NULL) {
    used = append(text, size, used, used ? ", one of " : "one of ");
    for (const char *at = option->words; *at != 0; at++) {
      const char letter[2] = {*at, 0};
      used = append(text, size, used, *at == '|' ? ", " : letter);
    }
  } else if (option->forms & SCL_FORM_WORD) {
    used = append(text, size, used, used ? ", a text" : "a text");
  }
  if (option->forms & SCL_FORM_NAMED) {
    used = append(text, size, used,
                  used ? ", {name = number} with one of " : "{name = number} with one of ");
    used = append(text, size, used, option->words == NULL ? "any name" : option->words);
  }
  if (option->forms & SCL_FORM_PARTS) {
    used = append(text, size, used, used ? ", sc." : "sc.");
    used = append(text, size, used, option->words);
    used = append(text, size, used, ".NAME{...} or a list of such");
  }
  if (option->width != SCL_WIDTH_NONE) (void)append(text, size, used, ", \"scale\" or \"median\"");
  return text;
}

static size_t append_list(const scl_value *value, char *text, size_t size, size_t used) {
  char number[40];
  for (size_t i = 0; i < value->length; i++) {
    (void)snprintf(number, sizeof number, i == 0 ? "%.17g" : ", %.17g", value->list[i]);
    used = append(text, size, used, number);
  }
  return used;
}

static void shortest_number(double number, char text[40]) {
  for (int digits = 6; digits <= 17; digits++) {
    (void)snprintf(text, 40, "%.*g", digits, number);
    if (strtod(text, NULL) == number) return;
  }
}

const char *scl_value_text(const scl_value *value, char *text, size_t size) {
  char number[40];
  size_t used = 0;
  text[0] = 0;
  if (value->form & SCL_FORM_BOOLEAN) {
    (void)append(text, size, used, value->number != 0 ? "true" : "false");
  } else if (value->form & SCL_FORM_LIST) {
    used = append(text, size, used, "{");
    (void)append(text, size, append_list(value, text, size, used), "}");
  } else if (value->form & SCL_FORM_NAMED) {
    used = append(text, size, used, "{");
    used = append(text, size, used, value->word);
    used = append(text, size, used, value->length > 1 ? " = {" : " = ");
    used = append_list(value, text, size, used);
    (void)append(text, size, used, value->length > 1 ? "}}" : "}");
  } else if (value->form & SCL_FORM_WORD) {
    used = append(text, size, used, "\"");
    used = append(text, size, used, value->word);
    (void)append(text, size, used, "\"");
  } else if (value->form & (SCL_FORM_NUMBER | SCL_FORM_INTEGER)) {
    shortest_number(value->number, number);
    (void)append(text, size, used, number);
  } else if (value->form & SCL_FORM_PARTS) {
    (void)append(text, size, used, "components of another kind");
  } else {
    (void)append(text, size, used, "nil");
  }
  return text;
}

static size_t append_part(const scl_instance *part, char *text, size_t size, size_t used) {
  char value[300];
  used = append(text, size, used, scl_kind_name(part->component->plugin->kind));
  used = append(text, size, used, ".");
  used = append(text, size, used, scl_instance_name(part));
  used = append(text, size, used, "{");
  bool first = true;
  for (size_t i = 0; i < part->settings.count; i++) {
    if (part->settings.values[i].form == 0) continue;
    if (!first) used = append(text, size, used, ", ");
    first = false;
    used = append(text, size, used, part->settings.options[i].name);
    used = append(text, size, used, " = ");
    used = append(text, size, used, scl_setting_text(&part->settings, i, value, sizeof value));
  }
  return append(text, size, used, "}");
}

const char *scl_setting_text(const scl_settings *settings, size_t i, char *text, size_t size) {
  const scl_value *value = &settings->values[i];
  if (!(value->form & SCL_FORM_PARTS) || settings->parts[i] == NULL)
    return scl_value_text(value, text, size);
  size_t used = append(text, size, 0, value->length == 1 ? "" : "{");
  for (size_t k = 0; k < value->length; k++) {
    if (k > 0) used = append(text, size, used, ", ");
    used = append_part(settings->parts[i][k], text, size, used);
  }
  if (value->length != 1) (void)append(text, size, used, "}");
  return text;
}

/* ---------------------------------------------------------------- one value */

static bool in_range(const scl_option *option, double x) {
  if (isnan(x)) return false;
  if (option->flags & SCL_RANGE_LOW_OPEN ? x <= option->low : x < option->low) return false;
  return option->flags & SCL_RANGE_HIGH_OPEN ? x < option->high : x <= option->high;
}

static bool fits_parts(const scl_option *option, const scl_given *given) {
  for (size_t k = 0; k < given->value.length; k++)
    if (!has_word(option->words, scl_kind_name(given->parts[k]->component->plugin->kind)))
      return false;
  return option->forms & SCL_FORM_PARTS && given->value.length > 0;
}

/* Which declared form the given value has, 0 when none. */
static unsigned matching_form(const scl_option *option, const scl_given *came) {
  const scl_value *given = &came->value;
  if (given->form == SCL_FORM_PARTS) return fits_parts(option, came) ? SCL_FORM_PARTS : 0;
  if (given->form & (SCL_FORM_NUMBER | SCL_FORM_INTEGER)) {
    if (!in_range(option, given->number)) return 0;
    if (option->forms & SCL_FORM_INTEGER && given->form & SCL_FORM_INTEGER) return SCL_FORM_INTEGER;
    return option->forms & SCL_FORM_NUMBER;
  }
  if (given->form == SCL_FORM_WORD) {
    if (is_width_word(option, given->word)) return SCL_FORM_WORD;
    if (!(option->forms & SCL_FORM_WORD)) return 0;
    return option->words == NULL || has_word(option->words, given->word) ? SCL_FORM_WORD : 0;
  }
  if (given->form == SCL_FORM_NAMED)
    return option->forms & SCL_FORM_NAMED &&
                   (option->words == NULL || has_word(option->words, given->word))
               ? SCL_FORM_NAMED
               : 0;
  if (given->form == SCL_FORM_LIST) {
    for (size_t i = 0; i < given->length; i++)
      if (!in_range(option, given->list[i])) return 0;
    return option->forms & SCL_FORM_LIST;
  }
  return given->form & option->forms;
}

static scl_status refuse_value(const char *title, const scl_option *option, const scl_value *given,
                               scl_error *error) {
  char takes[300], came[120];
  return scl_fail(error, SCL_STATUS_BAD_OPTION, "%s: option '%s' got %s; it takes %s", title,
                  option->name, scl_value_text(given, came, sizeof came),
                  scl_option_takes(option, takes, sizeof takes));
}

static void clear_value(scl_settings *settings, size_t i) {
  scl_value *value = &settings->values[i];
  scl_release((void *)(uintptr_t)value->word);
  scl_release((void *)(uintptr_t)value->list);
  scl_release((void *)(uintptr_t)value->parts);
  for (size_t k = 0; settings->parts[i] != NULL && k < value->length; k++)
    scl_instance_release(settings->parts[i][k]);
  scl_release(settings->parts[i]);
  settings->parts[i] = NULL;
  memset(value, 0, sizeof *value);
}

static scl_status copy_parts(scl_instance *const *from, size_t count, scl_settings *settings,
                             size_t i, scl_error *error) {
  scl_value *to = &settings->values[i];
  scl_part *parts = scl_allocate_array(count, sizeof *parts);
  scl_instance **instances = scl_allocate_array(count, sizeof *instances);
  if (parts == NULL || instances == NULL) {
    scl_release(parts);
    scl_release(instances);
    return scl_fail_memory(error, count * sizeof *parts, "an option");
  }
  for (size_t k = 0; k < count; k++) {
    instances[k] = scl_instance_share(from[k]);
    parts[k] = (scl_part){from[k]->component->plugin, from[k]->self};
  }
  *to = (scl_value){.form = SCL_FORM_PARTS, .parts = parts, .length = count};
  settings->parts[i] = instances;
  return SCL_STATUS_OK;
}

/* Replace value i by a copy; parts are shared. */
static scl_status set_value(scl_settings *settings, size_t i, const scl_value *from,
                            scl_instance *const *parts, scl_error *error) {
  scl_value *to = &settings->values[i];
  clear_value(settings, i);
  if (from->form == SCL_FORM_PARTS) return copy_parts(parts, from->length, settings, i, error);
  *to = *from;
  to->word = NULL;
  to->list = NULL;
  to->parts = NULL;
  if (from->word != NULL && (to->word = scl_copy_text(from->word)) == NULL)
    return scl_fail_memory(error, strlen(from->word), "an option");
  if (from->list == NULL || from->length == 0) return SCL_STATUS_OK;
  double *list = scl_allocate_array(from->length, sizeof *list);
  if (list == NULL) return scl_fail_memory(error, from->length * sizeof *list, "an option");
  memcpy(list, from->list, from->length * sizeof *list);
  to->list = list;
  return SCL_STATUS_OK;
}

enum { LONGEST_DEFAULT = 16 };

/* "{-1, 1}" into at most LONGEST_DEFAULT numbers. */
static size_t parse_list(const char *text, double *list) {
  size_t count = 0;
  for (const char *at = text + 1; *at != 0 && *at != '}' && count < LONGEST_DEFAULT;) {
    char *end = NULL;
    list[count] = strtod(at, &end);
    if (end == at) break;
    count++;
    at = end + strspn(end, ", ");
  }
  return count;
}

/* Defaults are written as one would type them: a number, true, false, a word, a list of numbers,
 * the name of a component. */
static scl_status set_default(scl_settings *settings, size_t i, scl_error *error) {
  const scl_option *option = &settings->options[i];
  scl_value out = {0};
  double list[LONGEST_DEFAULT];
  char *end = NULL;
  if (option->fallback == NULL) return SCL_STATUS_OK;
  if (option->forms & SCL_FORM_PARTS) {
    scl_instance *part;
    SCL_TRY(scl_instance_default(option->words, option->fallback, &part, error));
    const scl_status status = copy_parts(&part, 1, settings, i, error);
    scl_instance_release(part);
    return status;
  }
  const double number = strtod(option->fallback, &end);
  if (*option->fallback != 0 && *end == 0 && option->forms & (SCL_FORM_NUMBER | SCL_FORM_INTEGER)) {
    out.number = number;
    out.form = option->forms & SCL_FORM_INTEGER && number == floor(number) ? SCL_FORM_INTEGER
                                                                           : SCL_FORM_NUMBER;
  } else if (option->forms & SCL_FORM_BOOLEAN) {
    out.form = SCL_FORM_BOOLEAN;
    out.number = strcmp(option->fallback, "true") == 0;
  } else if (option->forms & SCL_FORM_LIST && option->fallback[0] == '{') {
    out.form = SCL_FORM_LIST;
    out.list = list;
    out.length = parse_list(option->fallback, list);
  } else {
    out.form = SCL_FORM_WORD;
    out.word = option->fallback;
  }
  return set_value(settings, i, &out, NULL, error);
}

/* ---------------------------------------------------------------- all values */

static scl_status refuse_name(const char *title, const scl_option *options, size_t n_options,
                              const char *name, scl_error *error) {
  const char *names[64] = {NULL};
  char list[400];
  size_t used = 0, count = 0;
  list[0] = 0;
  for (size_t i = 0; i < n_options && count < 64; i++) {
    names[count++] = options[i].name;
    used = append(list, sizeof list, used, i == 0 ? "" : ", ");
    used = append(list, sizeof list, used, options[i].name);
  }
  const char *near = scl_nearest(name, names, count);
  if (count == 0)
    return scl_fail(error, SCL_STATUS_BAD_OPTION, "%s: unknown option '%s': it takes none", title,
                    name);
  if (near == NULL)
    return scl_fail(error, SCL_STATUS_BAD_OPTION, "%s: unknown option '%s'; it takes %s", title,
                    name, list);
  return scl_fail(error, SCL_STATUS_BAD_OPTION,
                  "%s: unknown option '%s' (did you mean '%s'?); it takes %s", title, name, near,
                  list);
}

static const scl_option *find_option(const scl_option *options, size_t n_options,
                                     const char *name) {
  for (size_t i = 0; i < n_options; i++)
    if (strcmp(options[i].name, name) == 0) return &options[i];
  return NULL;
}

static scl_status fill(const char *title, const scl_given *given, size_t n_given, scl_settings *out,
                       scl_error *error) {
  for (size_t i = 0; i < out->count; i++)
    SCL_TRY(set_default(out, i, error));
  for (size_t i = 0; i < n_given; i++) {
    const scl_option *option = find_option(out->options, out->count, given[i].name);
    if (option == NULL) return refuse_name(title, out->options, out->count, given[i].name, error);
    scl_value value = given[i].value;
    value.form = matching_form(option, &given[i]);
    if (value.form == 0) return refuse_value(title, option, &given[i].value, error);
    SCL_TRY(set_value(out, (size_t)(option - out->options), &value, given[i].parts, error));
  }
  return SCL_STATUS_OK;
}

static scl_status reserve(const scl_option *options, size_t count, scl_settings *out,
                          scl_error *error) {
  *out = (scl_settings){options, count, NULL, NULL};
  out->values = scl_allocate_zero(scl_max(count, 1) * sizeof *out->values);
  out->parts = scl_allocate_zero(scl_max(count, 1) * sizeof *out->parts);
  if (out->values != NULL && out->parts != NULL) return SCL_STATUS_OK;
  scl_settings_destroy(out);
  return scl_fail_memory(error, scl_max(count, 1) * sizeof *out->values, "options");
}

scl_status scl_settings_create(const char *title, const scl_option *options, size_t n_options,
                               const scl_given *given, size_t n_given, scl_settings *out,
                               scl_error *error) {
  SCL_TRY(reserve(options, n_options, out, error));
  const scl_status status = fill(title, given, n_given, out, error);
  if (status != SCL_STATUS_OK) scl_settings_destroy(out);
  return status;
}

scl_status scl_settings_copy(const scl_settings *from, scl_settings *out, scl_error *error) {
  SCL_TRY(reserve(from->options, from->count, out, error));
  for (size_t i = 0; i < from->count; i++) {
    const scl_status status = set_value(out, i, &from->values[i], from->parts[i], error);
    if (status == SCL_STATUS_OK) continue;
    scl_settings_destroy(out);
    return status;
  }
  return SCL_STATUS_OK;
}

void scl_settings_destroy(scl_settings *settings) {
  for (size_t i = 0; settings->values != NULL && settings->parts != NULL && i < settings->count;
       i++)
    clear_value(settings, i);
  scl_release(settings->values);
  scl_release(settings->parts);
  memset(settings, 0, sizeof *settings);
}

const char *scl_settings_waiting(const scl_settings *settings) {
  for (size_t i = 0; i < settings->count; i++)
    if (settings->values[i].form == SCL_FORM_WORD &&
        is_width_word(&settings->options[i], settings->values[i].word))
      return settings->values[i].word;
  return NULL;
}

void scl_settings_set_widths(scl_settings *settings, double gamma_scale, double gamma_median,
                             size_t dim) {
  for (size_t i = 0; i < settings->count; i++) {
    scl_value *value = &settings->values[i];
    const scl_width width = settings->options[i].width;
    if (value->form != SCL_FORM_WORD || !is_width_word(&settings->options[i], value->word))
      continue;
    const double gamma = strcmp(value->word, "scale") == 0 ? gamma_scale : gamma_median;
    scl_release((void *)(uintptr_t)value->word);
    value->word = NULL;
    value->form = SCL_FORM_NUMBER;
    value->number = width == SCL_WIDTH_GAMMA    ? gamma
                    : width == SCL_WIDTH_LENGTH ? 1 / sqrt(2 * gamma)
                    : width == SCL_WIDTH_RATE   ? sqrt(gamma / (double)scl_max(dim, 1))
                                                : sqrt(2 * gamma);
  }
}
