/* Options: given values against the declared table, defaults, widths that come from data, and the
 * check of a declaration. */
#include "plugin/options.h"

#include "base/text.h"
#include "plugin/instance.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ------------ words of the form "none|uniform" */

int32_t scl_word_place(const char *words, const char *word) {
  const size_t length = strlen(word);
  int32_t place = 0;
  if (strchr(word, '|') != NULL) return -1;
  for (const char *at = words; at != NULL; at = strchr(at, '|'), place++) {
    if (*at == '|') at++;
    if (strncmp(at, word, length) == 0 && (at[length] == '|' || at[length] == 0)) return place;
  }
  return -1;
}

static bool has_word(const char *words, const char *word) {
  return scl_word_place(words, word) >= 0;
}

/* The two words that a width takes in place of a number. */
static const char WIDTH_WORDS[] = "scale|median";
enum { WIDTH_SCALE, WIDTH_MEDIAN };

static bool is_width_word(const scl_option *option, const char *word) {
  return option->width != SCL_WIDTH_NONE && has_word(WIDTH_WORDS, word);
}

/* ------------ one value */

/* A double represents every whole number up to this one. */
static const double MOST_WHOLE = 9007199254740992; /* 2^53 */

/* Whether a number is in the declared range; low = high = 0 declares any finite number. */
static bool in_range(const scl_option *option, double x) {
  if (option->low == 0 && option->high == 0) return isfinite(x);
  if (isnan(x)) return false;
  if (option->range & SCL_RANGE_LOW_OPEN ? x <= option->low : x < option->low) return false;
  return option->range & SCL_RANGE_HIGH_OPEN ? x < option->high : x <= option->high;
}

/* Whether given components are of the declared kinds, and as many as the option takes. */
static bool fits_parts(const scl_option *option, const scl_given *given) {
  for (size_t k = 0; k < given->value.length; k++)
    if (!has_word(option->words, scl_kind_name(given->parts[k]->component->plugin.kind)))
      return false;
  const size_t most = option->store == SCL_STORE_PART ? 1 : SIZE_MAX;
  return option->forms & SCL_FORM_PARTS && given->value.length > 0 && given->value.length <= most;
}

/* Which declared form the given value has, 0 when none. */
static unsigned matching_form(const scl_option *option, const scl_given *came) {
  const scl_value *given = &came->value;
  if (given->form == SCL_FORM_OPAQUE) return given->place < 0 ? 0 : option->forms & SCL_FORM_OPAQUE;
  if (given->form == SCL_FORM_PARTS) return fits_parts(option, came) ? SCL_FORM_PARTS : 0;
  if (given->form & (SCL_FORM_NUMBER | SCL_FORM_INTEGER)) {
    if (!in_range(option, given->number)) return 0;
    if (option->forms & SCL_FORM_INTEGER && given->form & SCL_FORM_INTEGER &&
        fabs(given->number) <= MOST_WHOLE)
      return SCL_FORM_INTEGER;
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

/* Release what value i points to, and make it unset (form 0). */
static void clear_value(scl_settings *settings, size_t i) {
  scl_value *value = &settings->values[i];
  SCL_RELEASE((void *)(uintptr_t)value->word, (void *)(uintptr_t)value->list,
              (void *)(uintptr_t)value->parts);
  for (size_t k = 0; settings->parts[i] != NULL && k < value->length; k++)
    scl_instance_release(settings->parts[i][k]);
  scl_release(settings->parts[i]);
  settings->parts[i] = NULL;
  memset(value, 0, sizeof *value);
}

/* Set value i, which is clear, to components that are shared with the caller. */
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
    parts[k] = (scl_part){from[k]->component->source, from[k]->self};
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
  if (from->form == SCL_FORM_OPAQUE) {
    to->form = SCL_FORM_OPAQUE;
    return SCL_STATUS_OK;
  }
  *to = *from;
  to->place = from->word == NULL ? -1 : scl_word_place(settings->options[i].words, from->word);
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

/* Read "{-1, 1}" as at most LONGEST_DEFAULT numbers. False: the text is not such a list. */
static bool parse_list(const char *text, double *list, size_t *count) {
  const char *at = text + (*text == '{');
  *count = 0;
  if (at == text) return false;
  while (*count < LONGEST_DEFAULT) {
    char *end = NULL;
    list[*count] = strtod(at, &end);
    if (end == at) break;
    ++*count;
    at = end + strspn(end, " ");
    if (*at == ',') at += 1 + strspn(at + 1, " ");
  }
  return strcmp(at, "}") == 0;
}

/* Set value i, which is clear, to the option's default, if it has one. Defaults are written as one
 * would type them: a number, true, false, a word, a list of numbers, the name of a component. */
static scl_status set_default(scl_settings *settings, size_t i, scl_error *error) {
  const scl_option *option = &settings->options[i];
  scl_value out = {0};
  double list[LONGEST_DEFAULT];
  char *end = NULL;
  if (option->fallback == NULL) return SCL_STATUS_OK;
  if (option->forms & SCL_FORM_PARTS) {
    scl_instance *part;
    SCL_TRY(scl_instance_from_text(option->words, option->fallback, &part, error));
    const scl_status status = copy_parts(&part, 1, settings, i, error);
    scl_instance_release(part);
    return status;
  }
  const double number = strtod(option->fallback, &end);
  if (*option->fallback != 0 && *end == 0 && option->forms & (SCL_FORM_NUMBER | SCL_FORM_INTEGER)) {
    out.number = number;
    out.form = option->forms & SCL_FORM_INTEGER && number == floor(number) ? SCL_FORM_INTEGER
                                                                           : SCL_FORM_NUMBER;
  } else if (option->forms & SCL_FORM_BOOLEAN &&
             scl_word_place("false|true", option->fallback) >= 0) {
    out.form = SCL_FORM_BOOLEAN;
    out.number = strcmp(option->fallback, "true") == 0;
  } else if (option->forms & SCL_FORM_LIST && parse_list(option->fallback, list, &out.length)) {
    out.form = SCL_FORM_LIST;
    out.list = list;
  } else {
    out.form = SCL_FORM_WORD;
    out.word = option->fallback;
  }
  return set_value(settings, i, &out, NULL, error);
}

/* ------------ all values */

/* The component that a text names ("linear", "gaussian{width = 2}"), of a kind that the option
 * takes. */
static scl_status set_named_part(const char *title, const char *text, scl_settings *settings,
                                 size_t i, scl_error *error) {
  const scl_option *option = &settings->options[i];
  scl_instance *part;
  scl_status status = scl_instance_from_text(option->words, text, &part, error);
  if (status != SCL_STATUS_OK)
    return scl_prefix(error, "%s: option '%s' got \"%.80s\"", title, option->name, text);
  clear_value(settings, i);
  status = copy_parts(&part, 1, settings, i, error);
  scl_instance_release(part);
  return status;
}

/* The declarations whose defaults are being made on this thread: a default that is a component has
 * defaults of its own. */
typedef struct default_chain {
  const scl_option *options;
  const struct default_chain *outer;
} default_chain;
static _Thread_local const default_chain *making;

/* Set every option to its default. A default that is a component needs defaults in turn; a chain
 * that comes back to these options is refused. */
static scl_status fill_defaults(const char *title, scl_settings *out, scl_error *error) {
  const default_chain here = {out->options, making};
  for (const default_chain *at = making; at != NULL; at = at->outer)
    if (at->options == here.options)
      return scl_fail(error, SCL_STATUS_UNSUPPORTED, "the defaults lead back to %s", title);
  scl_status status = SCL_STATUS_OK;
  making = &here;
  for (size_t i = 0; status == SCL_STATUS_OK && i < out->count; i++) {
    status = set_default(out, i, error);
    if (status != SCL_STATUS_OK)
      (void)scl_prefix(error, "%s: option '%s', by default \"%s\"", title, out->options[i].name,
                       out->options[i].fallback);
  }
  making = here.outer;
  return status;
}

/* An option may be given by its name or by a former one, not by both. */
static scl_status check_once(const char *title, const scl_option *option, const scl_given *given,
                             size_t place, scl_error *error) {
  for (size_t k = 0; k < place; k++)
    if (strcmp(given[k].name, given[place].name) != 0 &&
        (strcmp(given[k].name, option->name) == 0 ||
         (option->former != NULL && scl_word_place(option->former, given[k].name) >= 0)))
      return scl_fail(error, SCL_STATUS_BAD_OPTION,
                      "%s: '%s' and '%s' are names of one option, '%s'", title, given[k].name,
                      given[place].name, option->name);
  return SCL_STATUS_OK;
}

/* Defaults, then the given values in their order, then the check for required ones. */
static scl_status fill_settings(const char *title, const scl_given *given, size_t n_given,
                                scl_settings *out, scl_error *error) {
  char takes[300], came[120];
  if (out->count > 0) SCL_TRY(fill_defaults(title, out, error));
  for (size_t i = 0; i < n_given; i++) {
    const scl_option *option = scl_option_named(title, out->options, out->count, given[i].name);
    if (option == NULL)
      return scl_refuse_option(title, out->options, out->count, given[i].name, error);
    SCL_TRY(check_once(title, option, given, i, error));
    const size_t place = (size_t)(option - out->options);
    scl_value value = given[i].value;
    if (option->forms & SCL_FORM_PARTS && value.form == SCL_FORM_WORD) {
      SCL_TRY(set_named_part(title, value.word, out, place, error));
      continue;
    }
    value.form = matching_form(option, &given[i]);
    if (value.form == 0)
      return scl_fail(error, SCL_STATUS_BAD_OPTION, "%s: option '%s' got %s; it takes %s", title,
                      option->name, scl_value_text(&given[i].value, came, sizeof came),
                      scl_option_takes(option, takes, sizeof takes));
    SCL_TRY(set_value(out, place, &value, given[i].parts, error));
  }
  for (size_t i = 0; i < out->count; i++) {
    const scl_option *option = &out->options[i];
    if (option->forms & SCL_FORM_REQUIRED && out->values[i].form == 0)
      return scl_fail(error, SCL_STATUS_BAD_OPTION, "%s: option '%s' is missing; it takes %s",
                      title, option->name, scl_option_takes(option, takes, sizeof takes));
  }
  return SCL_STATUS_OK;
}

/* Allocate unset values for the options. The caller destroys *out, but not after a failure. */
static scl_status reserve_settings(const scl_option *options, size_t count, scl_settings *out,
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
  SCL_TRY(reserve_settings(options, n_options, out, error));
  const scl_status status = fill_settings(title, given, n_given, out, error);
  if (status != SCL_STATUS_OK) scl_settings_destroy(out);
  return status;
}

scl_status scl_settings_copy(const scl_settings *from, scl_settings *out, scl_error *error) {
  SCL_TRY(reserve_settings(from->options, from->count, out, error));
  for (size_t i = 0; i < from->count; i++) {
    const scl_status status = set_value(out, i, &from->values[i], from->parts[i], error);
    if (status == SCL_STATUS_OK) continue;
    scl_settings_destroy(out);
    return status;
  }
  return SCL_STATUS_OK;
}

/* ------------ into an instance, and by role */

/* Write one value to its member at `to`, in the form that the option declares (scl_option.store).
 * An unset value is NaN, 0, false, -1 or NULL. */
static void store_value(const scl_value *value, scl_store how, char *to) {
  const double nan = NAN;
  const bool given = value->form != 0;
  const size_t size = given && how == SCL_STORE_SIZE ? (size_t)value->number : 0;
  const int64_t whole = given && how == SCL_STORE_INT64 ? (int64_t)value->number : 0;
  const bool truth = given && value->number != 0;
  const int32_t place = given ? value->place : -1;
  const struct {
    const void *from;
    size_t size;
  } members[] = {[SCL_STORE_DOUBLE] = {given ? &value->number : &nan, sizeof nan},
                 [SCL_STORE_SIZE] = {&size, sizeof size},
                 [SCL_STORE_INT64] = {&whole, sizeof whole},
                 [SCL_STORE_BOOLEAN] = {&truth, sizeof truth},
                 [SCL_STORE_WORD] = {&place, sizeof place},
                 [SCL_STORE_VALUE] = {&value, sizeof value},
                 [SCL_STORE_PART] = {given ? value->parts : NULL, sizeof *value->parts}};
  if (members[how].from != NULL) memcpy(to, members[how].from, members[how].size);
}

void scl_settings_store(const scl_settings *settings, void *self) {
  for (size_t i = 0; i < settings->count; i++)
    store_value(&settings->values[i], settings->options[i].store,
                (char *)self + settings->options[i].offset);
}

const scl_value *scl_settings_role(const scl_settings *settings, scl_role role) {
  for (size_t i = 0; i < settings->count; i++)
    if (settings->options[i].role == role) return &settings->values[i];
  return NULL;
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
    const double gamma =
        scl_word_place(WIDTH_WORDS, value->word) == WIDTH_SCALE ? gamma_scale : gamma_median;
    scl_release((void *)(uintptr_t)value->word);
    value->word = NULL;
    value->form = SCL_FORM_NUMBER;
    value->number = width == SCL_WIDTH_GAMMA    ? gamma
                    : width == SCL_WIDTH_LENGTH ? 1 / sqrt(2 * gamma)
                    : width == SCL_WIDTH_RATE   ? sqrt(gamma / (double)scl_max(dim, 1))
                                                : sqrt(2 * gamma);
  }
}

/* ------------ whether a declaration makes sense */

static const struct {
  uint32_t forms;
  size_t size;
} stores[] = {[SCL_STORE_NONE] = {0, 0},
              [SCL_STORE_DOUBLE] = {SCL_FORM_NUMBER | SCL_FORM_INTEGER, sizeof(double)},
              [SCL_STORE_SIZE] = {SCL_FORM_INTEGER, sizeof(size_t)},
              [SCL_STORE_INT64] = {SCL_FORM_INTEGER, sizeof(int64_t)},
              [SCL_STORE_BOOLEAN] = {SCL_FORM_BOOLEAN, sizeof(bool)},
              [SCL_STORE_WORD] = {SCL_FORM_WORD, sizeof(int32_t)},
              [SCL_STORE_VALUE] = {UINT32_MAX, sizeof(void *)},
              [SCL_STORE_PART] = {SCL_FORM_PARTS, sizeof(scl_part)}};
enum { STORES = sizeof stores / sizeof *stores };
static const uint32_t all_forms = 2 * SCL_FORM_PARTS - 1;

/* The member that an option is stored in: it holds all forms that the option takes, is within the
 * instance behind scl_base, and is aligned. */
static scl_status check_store(const scl_option *option, size_t instance_size, scl_error *error) {
  const char *name = option->name;
  if ((uint32_t)option->store >= STORES)
    return scl_fail(error, SCL_STATUS_UNSUPPORTED, "option '%s': unknown store %d", name,
                    (int)option->store);
  if (option->store == SCL_STORE_NONE) return SCL_STATUS_OK;
  if ((option->forms & ~stores[option->store].forms) != 0)
    return scl_fail(error, SCL_STATUS_UNSUPPORTED,
                    "option '%s': its member in the instance cannot hold every form that it takes; "
                    "store it as const scl_value *",
                    name);
  const size_t size = stores[option->store].size, end = option->offset + size;
  if (option->offset < sizeof(scl_base) || end > instance_size)
    return scl_fail(error, SCL_STATUS_UNSUPPORTED,
                    "option '%s': bytes %u to %zu are not within an instance of %zu bytes that "
                    "begins with an scl_base",
                    name, option->offset, end, instance_size);
  if (option->offset % scl_min(size, sizeof(void *)) != 0)
    return scl_fail(error, SCL_STATUS_UNSUPPORTED,
                    "option '%s': no member of %zu bytes begins at byte %u, which is misaligned",
                    name, size, option->offset);
  if (option->store == SCL_STORE_WORD && option->words == NULL)
    return scl_fail(error, SCL_STATUS_UNSUPPORTED,
                    "option '%s' takes any text, which has no place among words", name);
  if (option->store == SCL_STORE_SIZE && option->low < 0)
    return scl_fail(error, SCL_STATUS_UNSUPPORTED,
                    "option '%s' takes numbers below 0, which its member cannot hold", name);
  return SCL_STATUS_OK;
}

size_t scl_option_bytes(const scl_option *option) {
  return (uint32_t)option->store < STORES ? stores[option->store].size : 0;
}

/* Whether every word ("kernel|sampler") is a kind, and there is at least one. */
static bool are_kinds(const char *words) {
  char kind[24];
  scl_kind found;
  while (words != NULL && *words != 0) {
    const size_t length = strcspn(words, "|");
    if (length == 0 || length >= sizeof kind) return false;
    memcpy(kind, words, length);
    kind[length] = 0;
    if (!scl_kind_find(kind, &found)) return false;
    words += length + (words[length] == '|');
  }
  return words != NULL;
}

/* The default must be a value that the option takes. Components are checked when one is made. */
static scl_status check_default(const scl_option *option, scl_error *error) {
  if (option->fallback == NULL || option->forms & SCL_FORM_PARTS) return SCL_STATUS_OK;
  scl_settings settings;
  SCL_TRY(reserve_settings(option, 1, &settings, error));
  scl_status status = set_default(&settings, 0, error);
  const scl_given given = {option->name, settings.values[0], NULL};
  if (status == SCL_STATUS_OK && matching_form(option, &given) == 0) {
    char takes[300];
    status = scl_fail(error, SCL_STATUS_UNSUPPORTED,
                      "option '%s': its own default \"%s\" is not what it takes (%s)", option->name,
                      option->fallback, scl_option_takes(option, takes, sizeof takes));
  }
  scl_settings_destroy(&settings);
  return status;
}

scl_status scl_option_check(const scl_option *option, size_t instance_size, scl_error *error) {
  if (!scl_is_name(option->name, true))
    return scl_fail(error, SCL_STATUS_UNSUPPORTED,
                    "an option is named '%.60s'; names are 1 to 40 letters, digits and _, begin "
                    "with a letter and are not a keyword of Lua",
                    option->name == NULL ? "(NULL)" : option->name);
  if (option->help == NULL)
    return scl_fail(error, SCL_STATUS_UNSUPPORTED, "option '%s' has no line of help", option->name);
  if (option->forms == 0 || (option->forms & ~all_forms) != 0)
    return scl_fail(error, SCL_STATUS_UNSUPPORTED, "option '%s' takes forms 0x%x, which are none",
                    option->name, option->forms);
  if ((uint32_t)option->width > SCL_WIDTH_RATE)
    return scl_fail(error, SCL_STATUS_UNSUPPORTED, "option '%s': unknown width %d", option->name,
                    (int)option->width);
  if (option->width != SCL_WIDTH_NONE && !(option->forms & SCL_FORM_NUMBER))
    return scl_fail(error, SCL_STATUS_UNSUPPORTED,
                    "option '%s' is a width, and does not take a number (SCL_FORM_NUMBER)",
                    option->name);
  if (!(option->low <= option->high))
    return scl_fail(error, SCL_STATUS_UNSUPPORTED, "option '%s': its range goes from %g to %g",
                    option->name, option->low, option->high);
  if (option->forms & SCL_FORM_PARTS &&
      (!are_kinds(option->words) || option->forms != SCL_FORM_PARTS))
    return scl_fail(error, SCL_STATUS_UNSUPPORTED,
                    "option '%s' takes components of the kinds \"%s\"; there are sampler, "
                    "nonlinearity, kernel, solver, and no other form beside them",
                    option->name, option->words == NULL ? "(NULL)" : option->words);
  if (option->forms & SCL_FORM_NAMED && option->words == NULL)
    return scl_fail(error, SCL_STATUS_UNSUPPORTED, "option '%s' takes names and lists none",
                    option->name);
  SCL_TRY(check_store(option, instance_size, error));
  return check_default(option, error);
}
