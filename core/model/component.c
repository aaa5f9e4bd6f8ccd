/* Components of a saved model: the plugin is found and compared with the saved one, its options are
 * read, and the instance must have the settings that were in force when the model was saved. */
#include "model/component.h"

#include "base/text.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

/* The most components of one model: a sampler, a nonlinearity or kernel, a second kernel and a
 * solver, each with all the components in its options. The limit bounds the work that a damaged
 * file can cause. */
enum { MOST_COMPONENTS = 4 * SCL_MOST_WITHIN };

static scl_status make_component(scl_saved *saved, const cJSON *value,
                                 const scl_saved_widths *widths, scl_instance **out,
                                 scl_error *error);

scl_status scl_saved_read_widths(const scl_saved *saved, const cJSON *from, scl_saved_widths *out,
                                 scl_error *error) {
  double numbers[3] = {1, 1, 1};
  size_t count = 0;
  const cJSON *list;
  *out = (scl_saved_widths){.scale = 1, .median = 1, .cols = 1};
  if (scl_saved_find(from, "widths") == NULL) return SCL_STATUS_OK;
  SCL_TRY(scl_saved_table(from, "widths", &list, error));
  if (!scl_saved_is_list(list))
    return scl_fail(error, SCL_STATUS_BAD_DATA, "its 'widths' are not three numbers");
  for (const cJSON *item = list->child; item != NULL; item = item->next, count++)
    if (count >= 3 || !scl_saved_number(saved, item, &numbers[count]))
      return scl_fail(error, SCL_STATUS_BAD_DATA, "its 'widths' are not three numbers");
  if (!(numbers[2] >= 0 && numbers[2] <= INT32_MAX))
    return scl_fail(error, SCL_STATUS_BAD_DATA, "its 'widths' are of %g columns", numbers[2]);
  *out = (scl_saved_widths){true, numbers[0], numbers[1], (size_t)numbers[2]};
  return SCL_STATUS_OK;
}

/* ------------ which plugin */

const char *scl_saved_component_name(const cJSON *value) {
  const char *mark = scl_saved_mark(value), *name = NULL;
  if (mark == NULL || strcmp(mark, "component") != 0) return NULL;
  return scl_saved_word(value, "name", &name, NULL) == SCL_STATUS_OK ? name : NULL;
}

/* The longest title, "nonlinearity." and a name. */
enum { MOST_TITLE = 120 };

/* The title of a component, "solver.ridge"; of a row stage, which is saved under its name alone,
 * "stage.NAME". Empty for any other value. */
static const char *title_of(const cJSON *value, char title[MOST_TITLE]) {
  const char *mark = scl_saved_mark(value), *name = scl_saved_component_name(value);
  title[0] = 0;
  if (name != NULL)
    (void)snprintf(title, MOST_TITLE, "%s", name);
  else if (mark != NULL && strcmp(mark, "stage") == 0 &&
           scl_saved_word(value, "name", &name, NULL) == SCL_STATUS_OK)
    (void)snprintf(title, MOST_TITLE, "stage.%s", name);
  return title;
}

/* Split "solver.ridge" into kind and name; false if it has another form. */
static bool split_title(const char *title, scl_kind *kind, const char **name) {
  char word[24];
  const char *dot = strchr(title, '.');
  const size_t length = dot == NULL ? sizeof word : (size_t)(dot - title);
  if (length >= sizeof word) return false;
  memcpy(word, title, length);
  word[length] = 0;
  *name = dot + 1;
  return scl_kind_find(word, kind) && scl_is_name(*name, false);
}

/* Refuse a component that this process does not have, with advice for scripts or for programs.
 * `message`: what the registry answered. */
static scl_status refuse_missing(const scl_saved *saved, const cJSON *value, const char *title,
                                 const char *message, scl_error *error) {
  const cJSON *defined = scl_saved_find(value, "defined");
  const bool script = saved->loader == SCL_LOADER_SCRIPT;
  const char *place = "?";
  if (defined == NULL)
    return scl_fail(error, SCL_STATUS_UNSUPPORTED,
                    "it needs %s, and there is none here (%s); a plugin of another folder is "
                    "loaded first, with %s",
                    title, message, script ? "sc.plugin.load(path)" : "scl_load_plugin");
  if (!script)
    return scl_fail(error, SCL_STATUS_UNSUPPORTED,
                    "it needs %s, which was defined in Lua: only Lua scripts can use such a model",
                    title);
  SCL_TRY(scl_saved_word(defined, "place", &place, error));
  return scl_fail(error, SCL_STATUS_UNSUPPORTED,
                  "it needs %s, which was defined in Lua (%.200s): define it before loading, with "
                  "sc.%.*s.define",
                  title, place, (int)strcspn(title, "."), title);
}

/* Write a note if a script defines the component differently from when the model was saved. Without
 * a declared version the digests of the definitions are compared. This is not an error: whether the
 * component computes the same is checked with the features. */
static scl_status compare_definitions(const cJSON *value, const scl_component *here,
                                      scl_error *note, scl_error *error) {
  const cJSON *defined = scl_saved_find(value, "defined");
  const char *place, *digest;
  if (defined == NULL) return SCL_STATUS_OK;
  SCL_TRY(scl_saved_word(defined, "place", &place, error));
  SCL_TRY(scl_saved_word(defined, "digest", &digest, error));
  if (note != NULL && here->digest != NULL && here->plugin.version == NULL &&
      strcmp(digest, here->digest) != 0)
    (void)scl_fail(note, SCL_STATUS_OK,
                   "%s.%s is defined otherwise here (%s) than where this was saved (%.200s)",
                   scl_kind_name(here->plugin.kind), here->plugin.name, here->path, place);
  return SCL_STATUS_OK;
}

/* A plugin of the same name may be by another author. So the ids must agree if the model has
 * one. */
static scl_status check_id(const cJSON *value, const char *title, const scl_plugin *here,
                           scl_error *error) {
  const char *id = NULL;
  SCL_TRY(scl_saved_opt_word(value, "id", &id, error));
  if (id == NULL || (here->id != NULL && strcmp(id, here->id) == 0)) return SCL_STATUS_OK;
  return scl_fail(error, SCL_STATUS_UNSUPPORTED,
                  "it needs %s with the id %.120s, and the one here is another plugin (%s)", title,
                  id, scl_plugin_id_shown(here->id));
}

scl_status scl_saved_find_component(const scl_saved *saved, const cJSON *value,
                                    const scl_component **out, scl_error *note, scl_error *error) {
  scl_kind kind;
  char room[MOST_TITLE];
  const char *title = title_of(value, room), *name, *version = NULL;
  scl_error missing = {0};
  if (!split_title(title, &kind, &name))
    return scl_fail(error, SCL_STATUS_BAD_DATA, "'%.60s' is not a component", title);
  if (scl_registry_find(kind, name, out, &missing) != SCL_STATUS_OK)
    return refuse_missing(saved, value, title, missing.message, error);
  SCL_TRY(check_id(value, title, &(*out)->plugin, error));
  SCL_TRY(scl_saved_opt_word(value, "version", &version, error));
  const char *here = (*out)->plugin.version == NULL ? "" : (*out)->plugin.version;
  if (version != NULL && scl_is_newer(version, here))
    return scl_fail(error, SCL_STATUS_UNSUPPORTED,
                    "it was saved with %s %.40s, and the one here is %s, which is older", title,
                    version, *here == 0 ? "without a version" : here);
  return compare_definitions(value, *out, note, error);
}

/* ------------ its options */

/* Options while they are read, with the memory and components that they point to. make_component
 * releases all of it after the instance is made: settings copy texts and lists, and share
 * components. */
typedef struct gathering {
  scl_saved *saved;
  const scl_saved_widths *widths;
  scl_given *given;
  size_t count;
  void **memory;
  size_t n_memory, memory_room;
  scl_instance **parts;
  size_t n_parts, parts_room;
} gathering;

/* `bytes` of memory, zeros, and one more byte; the gathering owns it. NULL after a failure, which
 * is in *error. */
static void *reserve(gathering *g, size_t bytes, scl_error *error) {
  void **memory = scl_grow(g->memory, g->n_memory, &g->memory_room, sizeof *memory);
  if (memory != NULL) g->memory = memory;
  void *made = memory == NULL ? NULL : scl_allocate_zero(bytes + 1);
  if (made == NULL)
    (void)scl_fail_memory(error, bytes, "an option");
  else
    g->memory[g->n_memory++] = made;
  return made;
}

/* Make `count` components, the siblings from `first` on, as the value of an option. The gathering
 * owns them. */
static scl_status read_parts(gathering *g, const cJSON *first, size_t count, scl_given *out,
                             scl_error *error) {
  scl_instance **parts = reserve(g, count * sizeof *parts, error);
  if (parts == NULL) return SCL_STATUS_NO_MEMORY;
  for (size_t i = 0; i < count; i++, first = first->next) {
    scl_instance **owned = scl_grow(g->parts, g->n_parts, &g->parts_room, sizeof *owned);
    if (owned == NULL) return scl_fail_memory(error, sizeof *owned, "an option");
    g->parts = owned;
    SCL_TRY(make_component(g->saved, first, g->widths, &parts[i], error));
    g->parts[g->n_parts++] = parts[i];
  }
  out->value = (scl_value){.form = SCL_FORM_PARTS, .length = count};
  out->parts = parts;
  return SCL_STATUS_OK;
}

/* A list of numbers. Any other value becomes NaN, which no range contains: the options refuse
 * it. */
static scl_status read_list(gathering *g, const cJSON *list, scl_value *out, scl_error *error) {
  const size_t count = scl_saved_count(list);
  double *numbers = reserve(g, count * sizeof *numbers, error);
  size_t i = 0;
  if (numbers == NULL) return SCL_STATUS_NO_MEMORY;
  for (const cJSON *item = list->child; item != NULL; item = item->next, i++)
    if (!scl_saved_number(g->saved, item, &numbers[i])) numbers[i] = NAN;
  out->list = numbers;
  out->length = count;
  return SCL_STATUS_OK;
}

/* A named list, {name = number(s)}. More than one name gives the word "?", which no option
 * accepts. */
static scl_status read_named(gathering *g, const cJSON *value, scl_value *out, scl_error *error) {
  const cJSON *numbers = value->child;
  out->form = SCL_FORM_NAMED;
  out->word = numbers->next == NULL ? numbers->string : "?";
  if (scl_saved_is_list(numbers)) return read_list(g, numbers, out, error);
  double *one = reserve(g, sizeof *one, error);
  if (one == NULL) return SCL_STATUS_NO_MEMORY;
  if (!scl_saved_number(g->saved, numbers, one)) *one = NAN;
  out->list = one;
  out->length = 1;
  return SCL_STATUS_OK;
}

/* A text, plain or marked as bytes. A table with any other mark is refused, for example options to
 * search over. */
static scl_status read_word(gathering *g, const cJSON *value, scl_value *out, scl_error *error) {
  char *text = NULL;
  SCL_TRY(scl_saved_text(g->saved, value, &text, error));
  if (text == NULL) {
    const char *mark = scl_saved_mark(value);
    const bool searched = strcmp(mark, "choose") == 0 || strcmp(mark, "range") == 0;
    return scl_fail(error, SCL_STATUS_BAD_DATA,
                    searched ? "option '%s' is to be searched, and so the model is not fitted (%s)"
                             : "option '%s' is a value that no component takes (%s)",
                    value->string, mark);
  }
  char *kept = reserve(g, strlen(text), error);
  if (kept != NULL) memcpy(kept, text, strlen(text));
  scl_release(text);
  *out = (scl_value){.form = SCL_FORM_WORD, .word = kept};
  return kept == NULL ? SCL_STATUS_NO_MEMORY : SCL_STATUS_OK;
}

/* One option in the form that its JSON value has. */
static scl_status read_value(gathering *g, const cJSON *value, scl_given *out, scl_error *error) {
  const char *mark = scl_saved_mark(value);
  double number;
  out->name = value->string;
  out->value = (scl_value){0};
  if (scl_saved_number(g->saved, value, &number)) {
    const bool whole = isfinite(number) && number == floor(number);
    out->value.number = number;
    out->value.form = SCL_FORM_NUMBER | (whole ? SCL_FORM_INTEGER : 0);
    return SCL_STATUS_OK;
  }
  if (cJSON_IsBool(value)) {
    out->value = (scl_value){.form = SCL_FORM_BOOLEAN, .number = cJSON_IsTrue(value)};
    return SCL_STATUS_OK;
  }
  if (scl_saved_component_name(value) != NULL) return read_parts(g, value, 1, out, error);
  if (mark != NULL || cJSON_IsString(value)) return read_word(g, value, &out->value, error);
  if (cJSON_IsArray(value) && scl_saved_component_name(value->child) != NULL)
    return read_parts(g, value->child, scl_saved_count(value), out, error);
  out->value.form = SCL_FORM_LIST;
  return scl_saved_is_list(value) ? read_list(g, value, &out->value, error)
                                  : read_named(g, value, &out->value, error);
}

/* Read the table `options` of a component into g->given. An empty table is written as a list, but a
 * list with elements has no names and is refused. */
static scl_status read_options(gathering *g, const cJSON *value, scl_error *error) {
  const cJSON *options;
  SCL_TRY(scl_saved_table(value, "options", &options, error));
  if (cJSON_IsArray(options) && options->child != NULL)
    return scl_fail(error, SCL_STATUS_BAD_DATA, "the options of a component have no names");
  g->given = scl_allocate_zero((scl_saved_count(options) + 1) * sizeof *g->given);
  if (g->given == NULL) return scl_fail_memory(error, sizeof *g->given, "options");
  for (const cJSON *item = options->child; item != NULL; item = item->next)
    SCL_TRY(read_value(g, item, &g->given[g->count++], error));
  return SCL_STATUS_OK;
}

/* ------------ its settings */

/* Equal, or both NaN. The numbers of a file have all their digits, so that equality is exact. */
static bool same_number(const scl_saved *saved, const cJSON *value, double number) {
  double other;
  if (!scl_saved_number(saved, value, &other)) return false;
  return other == number || (isnan(other) && isnan(number));
}

static bool same_list(const scl_saved *saved, const cJSON *list, const scl_value *here) {
  if (!scl_saved_is_list(list) || scl_saved_count(list) != here->length) return false;
  size_t i = 0;
  for (const cJSON *item = list->child; item != NULL; item = item->next)
    if (!same_number(saved, item, here->list[i++])) return false;
  return true;
}

static bool same_word(const scl_saved *saved, const cJSON *value, const char *word) {
  char *text = NULL;
  const bool same = scl_saved_text(saved, value, &text, NULL) == SCL_STATUS_OK && text != NULL &&
                    strcmp(text, word) == 0;
  scl_release(text);
  return same;
}

/* Whether a setting equals the saved one. Of a setting that holds components their number was
 * saved; the components themselves are compared where they are made. */
static bool same_setting(const scl_saved *saved, const cJSON *value, const scl_value *here) {
  switch (here->form) {
  case SCL_FORM_PARTS:
    return same_number(saved, value, (double)here->length);
  case SCL_FORM_BOOLEAN:
    return cJSON_IsBool(value) && cJSON_IsTrue(value) == (here->number != 0);
  case SCL_FORM_WORD:
    return same_word(saved, value, here->word);
  case SCL_FORM_LIST:
    return same_list(saved, value, here);
  case SCL_FORM_NAMED:
    return cJSON_IsObject(value) && scl_saved_count(value) == 1 &&
           strcmp(value->child->string, here->word) == 0 && same_list(saved, value->child, here);
  default:
    return same_number(saved, value, here->number);
  }
}

/* The setting of that name, or former name, and its place among the options. NULL if there is no
 * such option, or if it is unset. */
static const scl_value *setting_of(const scl_settings *settings, const char *title,
                                   const char *name, size_t *place) {
  const scl_option *option = scl_option_named(title, settings->options, settings->count, name);
  if (option == NULL) return NULL;
  *place = (size_t)(option - settings->options);
  return settings->values[*place].form == 0 ? NULL : &settings->values[*place];
}

scl_status scl_saved_check_settings(const scl_saved *saved, const cJSON *value,
                                    const scl_instance *made, scl_error *error) {
  const cJSON *settings = NULL;
  char room[MOST_TITLE], here[120], then[120];
  const char *title = title_of(value, room);
  size_t place = 0;
  if (scl_saved_find(value, "settings") == NULL) return SCL_STATUS_OK;
  SCL_TRY(scl_saved_table(value, "settings", &settings, error));
  if (cJSON_IsArray(settings) && settings->child != NULL)
    return scl_fail(error, SCL_STATUS_BAD_DATA, "the settings of a component have no names");
  for (const cJSON *item = settings->child; item != NULL; item = item->next) {
    const scl_value *now = setting_of(&made->settings, title, item->string, &place);
    if (now == NULL)
      return scl_fail(error, SCL_STATUS_UNSUPPORTED,
                      "%s has no option '%.60s', which it had when this was saved", title,
                      item->string);
    if (!same_setting(saved, item, now))
      return scl_fail(error, SCL_STATUS_UNSUPPORTED,
                      "%s: its option '%s' was %s when this was saved, and is %s here", title,
                      item->string, scl_saved_shown(item, then, sizeof then),
                      scl_setting_text(&made->settings, place, here, sizeof here));
  }
  return SCL_STATUS_OK;
}

/* ------------ making it */

/* Create the instance from the options that were read. A width that came from data (gamma =
 * "median") is set to the saved one; without one it cannot be known and the model is refused. */
static scl_status create_with_widths(gathering *g, const scl_component *component,
                                     scl_instance **out, scl_error *error) {
  const scl_plugin *plugin = &component->plugin;
  char title[80];
  scl_settings settings;
  (void)snprintf(title, sizeof title, "%s.%s", scl_kind_name(plugin->kind), plugin->name);
  SCL_TRY(scl_settings_create(title, component->options, plugin->n_options, g->given, g->count,
                              &settings, error));
  if (!g->widths->known && scl_settings_waiting(&settings) != NULL) {
    scl_settings_destroy(&settings);
    return scl_fail(error, SCL_STATUS_BAD_DATA,
                    "%s: a width came from data, and is not known any more", title);
  }
  scl_settings_set_widths(&settings, g->widths->scale, g->widths->median, g->widths->cols);
  return scl_instance_create(component, &settings, out, error);
}

/* Make a component with all that its options hold, recursively. *out is NULL after a failure. */
static scl_status make_component(scl_saved *saved, const cJSON *value,
                                 const scl_saved_widths *widths, scl_instance **out,
                                 scl_error *error) {
  const scl_component *component;
  gathering g = {.saved = saved, .widths = widths};
  scl_instance *made = NULL;
  if (++saved->components > MOST_COMPONENTS)
    return scl_fail(error, SCL_STATUS_BAD_DATA, "it has more than %d components", MOST_COMPONENTS);
  SCL_TRY(scl_saved_find_component(saved, value, &component, NULL, error));
  scl_status status = read_options(&g, value, error);
  if (status == SCL_STATUS_OK) status = create_with_widths(&g, component, &made, error);
  for (size_t i = 0; i < g.n_memory; i++)
    scl_release(g.memory[i]);
  for (size_t i = 0; i < g.n_parts; i++)
    scl_instance_release(g.parts[i]);
  SCL_RELEASE(g.memory, g.parts, g.given);
  if (status == SCL_STATUS_OK) status = scl_saved_check_settings(saved, value, made, error);
  if (status == SCL_STATUS_OK)
    saved->script |= made->script;
  else
    scl_instance_release(made);
  *out = status == SCL_STATUS_OK ? made : NULL;
  return status;
}

scl_status scl_saved_component(scl_saved *saved, const cJSON *value, const char *kinds,
                               const scl_saved_widths *widths, scl_instance **out,
                               scl_error *error) {
  scl_instance *made;
  SCL_TRY(make_component(saved, value, widths, &made, error));
  if (scl_word_place(kinds, scl_kind_name(scl_instance_kind(made))) >= 0) {
    *out = made;
    return SCL_STATUS_OK;
  }
  const scl_status status = scl_fail(error, SCL_STATUS_BAD_DATA, "it has a %s in the place of a %s",
                                     scl_kind_name(scl_instance_kind(made)), kinds);
  scl_instance_release(made);
  return status;
}
