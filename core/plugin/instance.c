/* Instances: created from a component and its settings, bound, shared and released; and components
 * read from a text as a user types them. */
#include "plugin/instance.h"

#include "plugin/call.h"
#include "plugin/host.h"
#include "plugin/sampler.h"
#include "plugin/tables.h"
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ------------ making */

/* Bytes before the plugin's struct, whose first ones hold the pointer back to the instance. A
 * plugin passes only the address of its struct (`self`) to host functions, which find the instance
 * by scl_instance_of. 64 bytes keep the alignment of the struct. */
enum { LINK = 64 };

scl_instance *scl_instance_of(const void *self) {
  scl_instance *instance;
  memcpy(&instance, (const char *)self - LINK, sizeof instance);
  return instance;
}

scl_part scl_instance_part(const scl_instance *instance) {
  return (scl_part){instance->component->source, instance->self};
}

/* Set nested, within and script of the instance from the components among its options, and refuse
 * too many of them. */
static scl_status count_parts(scl_instance *instance, scl_error *error) {
  const scl_settings *settings = &instance->settings;
  instance->nested = instance->within = 1;
  instance->script = instance->component->digest != NULL;
  for (size_t i = 0; i < settings->count; i++)
    for (size_t k = 0; settings->parts[i] != NULL && k < settings->values[i].length; k++) {
      const scl_instance *part = settings->parts[i][k];
      instance->nested = scl_max(instance->nested, part->nested + 1);
      instance->within += part->within;
      instance->script |= part->script;
    }
  if (instance->nested <= SCL_MOST_NESTED && instance->within <= SCL_MOST_WITHIN)
    return SCL_STATUS_OK;
  return scl_fail(error, SCL_STATUS_BAD_OPTION,
                  "%s.%s: components within components may be %d deep and %d in all",
                  scl_kind_name(scl_instance_kind(instance)), scl_instance_name(instance),
                  SCL_MOST_NESTED, SCL_MOST_WITHIN);
}

/* Allocate an instance and write its settings to the plugin's struct. Takes over the settings, also
 * when it fails. */
static scl_status reserve_instance(const scl_component *component, scl_settings *settings,
                                   scl_instance **out, scl_error *error) {
  const size_t size = scl_max(component->plugin.instance_size, sizeof(scl_base));
  scl_instance *instance = scl_allocate_zero(sizeof *instance);
  char *memory = instance == NULL ? NULL : scl_allocate_zero(LINK + size);
  if (memory == NULL) {
    scl_release(instance);
    scl_settings_destroy(settings);
    return scl_fail_memory(error, sizeof *instance + LINK + size, "a component");
  }
  memcpy(memory, &instance, sizeof instance);
  instance->self = memory + LINK;
  instance->component = component;
  instance->settings = *settings;
  atomic_init(&instance->references, 1);
  const scl_base base = {scl_host_get(), instance->settings.values};
  memcpy(instance->self, &base, sizeof base);
  scl_settings_store(&instance->settings, instance->self);
  *out = instance;
  return SCL_STATUS_OK;
}

/* Enter an ability's table at `place`: checked, and copied to the host's size if it is shorter. */
static scl_status keep_ability(scl_instance *instance, size_t place, const scl_table_rule *rule,
                               const void *table, scl_error *error) {
  const scl_status status = scl_table_check(rule, table, error);
  if (status != SCL_STATUS_OK) {
    (void)scl_prefix(error, "%s.%s: ability \"%s\"", scl_kind_name(scl_instance_kind(instance)),
                     scl_instance_name(instance), rule->id);
    return status;
  }
  if (((const scl_head *)table)->size < rule->size) {
    instance->rooms[place] = scl_allocate(rule->size);
    if (instance->rooms[place] == NULL) return scl_fail_memory(error, rule->size, "a table");
  }
  instance->abilities[place].id = rule->id;
  instance->abilities[place].table = scl_table_read(table, rule->size, instance->rooms[place]);
  return SCL_STATUS_OK;
}

/* The table of an ability that depends on the options: the plugin's slot `ability` answers. */
static const void *ability_asked(const scl_instance *instance, const char *id) {
  const scl_plugin *plugin = &instance->component->plugin;
  scl_call call;
  if (plugin->ability == NULL) return NULL;
  scl_call_enter(&call, instance->component, "ability", NULL);
  const void *table = plugin->ability(instance->self, id);
  (void)scl_call_end(&call);
  return table;
}

/* Set instance->abilities to all that the component has, listed or asked for. */
static scl_status find_abilities(scl_instance *instance, scl_error *error) {
  size_t count = 0;
  for (const scl_table_rule *rule = scl_rules(); rule->id != NULL; rule++) {
    if (!(rule->kinds & SCL_BIT(scl_instance_kind(instance)))) continue;
    const void *table = scl_ability_listed(&instance->component->plugin, rule->id);
    if (table == NULL) table = ability_asked(instance, rule->id);
    if (table != NULL) SCL_TRY(keep_ability(instance, count++, rule, table, error));
  }
  return SCL_STATUS_OK;
}

/* Call slot `create`, find the abilities, and check what depends on the options. `created` makes
 * scl_instance_release call `destroy`. */
static scl_status complete_instance(scl_instance *instance, scl_error *error) {
  const scl_plugin *plugin = &instance->component->plugin;
  scl_call call;
  if (plugin->create != NULL) {
    scl_call_enter(&call, instance->component, "create", error);
    const scl_status made = plugin->create(instance->self, error);
    instance->created = made == SCL_STATUS_OK;
    SCL_TRY(scl_call_leave(&call, made));
  }
  instance->created = true;
  SCL_TRY(find_abilities(instance, error));
  return scl_instance_kind(instance) == SCL_KIND_SAMPLER ? scl_sampler_check(instance, error)
                                                         : SCL_STATUS_OK;
}

/* scl_instance_release undoes every step, also after a failure halfway. */
scl_status scl_instance_create(const scl_component *component, scl_settings *settings,
                               scl_instance **out, scl_error *error) {
  scl_instance *instance = NULL;
  SCL_TRY(reserve_instance(component, settings, &instance, error));
  scl_status status = count_parts(instance, error);
  if (status == SCL_STATUS_OK) status = complete_instance(instance, error);
  if (status == SCL_STATUS_OK)
    *out = instance;
  else
    scl_instance_release(instance);
  return status;
}

/* The kernel itself stays unbound: it may be bound to another law later. */
scl_status scl_instance_bind(scl_instance *kernel, const scl_law *law, scl_instance **out,
                             scl_error *error) {
  const scl_ability_bind *ability = scl_instance_ability(kernel, SCL_ABILITY_BIND);
  if (ability == NULL || kernel->bound) {
    *out = scl_instance_share(kernel);
    return SCL_STATUS_OK;
  }
  scl_settings settings;
  scl_instance *bound = NULL;
  scl_call call;
  SCL_TRY(scl_settings_copy(&kernel->settings, &settings, error));
  SCL_TRY(scl_instance_create(kernel->component, &settings, &bound, error));
  scl_call_enter(&call, kernel->component, "bind", error);
  const scl_status status = scl_call_leave(&call, ability->bind(bound->self, law, error));
  bound->bound = true;
  if (status == SCL_STATUS_OK)
    *out = bound;
  else
    scl_instance_release(bound);
  return status;
}

scl_instance *scl_instance_share(scl_instance *instance) {
  if (instance != NULL) (void)atomic_fetch_add(&instance->references, 1);
  return instance;
}

void scl_instance_release(scl_instance *instance) {
  if (instance == NULL || atomic_fetch_sub(&instance->references, 1) > 1) return;
  const scl_plugin *plugin = &instance->component->plugin;
  if (instance->created && plugin->destroy != NULL) {
    scl_call call;
    scl_call_enter(&call, instance->component, "destroy", NULL);
    plugin->destroy(instance->self);
    (void)scl_call_end(&call);
  }
  for (size_t i = 0; i < instance->n_owned; i++)
    scl_instance_release(instance->owned[i]);
  scl_release(instance->owned);
  for (size_t i = 0; i < SCL_MOST_ABILITIES; i++)
    scl_release(instance->rooms[i]);
  scl_settings_destroy(&instance->settings);
  scl_release((char *)instance->self - LINK);
  scl_release(instance);
}

const void *scl_instance_ability(const scl_instance *instance, const char *id) {
  for (size_t i = 0; i < SCL_MOST_ABILITIES && instance->abilities[i].id != NULL; i++)
    if (strcmp(instance->abilities[i].id, id) == 0) return instance->abilities[i].table;
  return NULL;
}

scl_status scl_instance_expect(const scl_instance *instance, scl_kind kind, scl_error *error) {
  if (scl_instance_kind(instance) == kind) return SCL_STATUS_OK;
  return scl_fail(error, SCL_STATUS_BAD_OPTION, "a %s is wanted, and %s.%s is none",
                  scl_kind_name(kind), scl_kind_name(scl_instance_kind(instance)),
                  scl_instance_name(instance));
}

/* ------------ from a text as typed */

/* Limits of such a text: options, numbers of a list, characters with the final NUL. */
enum { TEXT_OPTIONS = 16, TEXT_NUMBERS = 16, TEXT_LENGTH = 512 };

/* A component as it was typed. Names and words point into `text`, lists into `numbers`. */
typedef struct typed {
  char text[TEXT_LENGTH];
  const char *name;
  scl_given given[TEXT_OPTIONS];
  double numbers[TEXT_OPTIONS][TEXT_NUMBERS];
  size_t count;
} typed;

/* The first character from `at` on that is not white space. */
static char *skip_space(char *at) {
  while (isspace((unsigned char)*at))
    at++;
  return at;
}

/* Read a name at *at, and end it by a NUL. *next is the first character after it that is not white
 * space, and *at is moved behind that one. NULL: there is no name. */
static char *take_name(char **at, char *next) {
  char *begin = skip_space(*at), *end = begin;
  while (isalnum((unsigned char)*end) || *end == '_')
    end++;
  *at = skip_space(end);
  *next = **at;
  if (end == begin) return NULL;
  if (**at != 0) (*at)++;
  *end = 0;
  return begin;
}

/* Read the value at *at (a "word", true, false, {numbers} or a number) and move *at behind it. A
 * list is stored in numbers[TEXT_NUMBERS]. False: there is no value. */
static bool take_value(char **at, scl_value *out, double *numbers) {
  char *begin = skip_space(*at), *end = begin;
  *out = (scl_value){0};
  if (*begin == '"') {
    end = strchr(begin + 1, '"');
    if (end == NULL) return false;
    *end++ = 0;
    *out = (scl_value){.form = SCL_FORM_WORD, .word = begin + 1};
  } else if (strncmp(begin, "true", 4) == 0 || strncmp(begin, "false", 5) == 0) {
    *out = (scl_value){.form = SCL_FORM_BOOLEAN, .number = *begin == 't'};
    end = begin + (*begin == 't' ? 4 : 5);
  } else if (*begin == '{') {
    char *from = begin + 1;
    out->form = SCL_FORM_LIST;
    out->list = numbers;
    while (*(from = skip_space(from)) != '}') {
      if (out->length == TEXT_NUMBERS) return false;
      numbers[out->length++] = strtod(from, &end);
      if (end == from) return false;
      from = skip_space(end);
      if (*from == ',') from++;
    }
    end = from + 1;
  } else {
    out->number = strtod(begin, &end);
    const bool whole = fabs(out->number) <= 0x1p53 && out->number == floor(out->number);
    out->form = SCL_FORM_NUMBER | (whole ? SCL_FORM_INTEGER : 0);
  }
  *at = end;
  return end != begin;
}

/* Read "name" or "name{option = value, ...}". False: the text has another form, or is too long. */
static bool parse_component(const char *from, typed *out) {
  char next = 0;
  if ((size_t)snprintf(out->text, sizeof out->text, "%s", from) >= sizeof out->text) return false;
  char *at = out->text;
  out->count = 0;
  out->name = take_name(&at, &next);
  if (out->name == NULL) return false;
  if (next == 0) return true;
  if (next != '{') return false;
  while (*(at = skip_space(at)) != '}') {
    scl_given *one = &out->given[out->count];
    if (out->count == TEXT_OPTIONS) return false;
    *one = (scl_given){.name = take_name(&at, &next)};
    if (one->name == NULL || next != '=') return false;
    if (!take_value(&at, &one->value, out->numbers[out->count++])) return false;
    at = skip_space(at);
    if (*at == ',')
      *at++ = 0;
    else if (*at != '}')
      return false;
  }
  return *skip_space(at + 1) == 0;
}

/* The component of that name of the first of the kinds ("kernel|sampler") that has it. */
static scl_status find_component(const char *kinds, const char *name, const scl_component **out,
                                 scl_error *error) {
  scl_status status = scl_fail(error, SCL_STATUS_INTERNAL, "no kind of component is '%s'", kinds);
  char word[24];
  for (const char *at = kinds; *at != 0; at += strcspn(at, "|"), at += *at == '|') {
    scl_kind kind;
    (void)snprintf(word, sizeof word, "%.*s", (int)strcspn(at, "|"), at);
    if (!scl_kind_find(word, &kind)) continue;
    status = scl_registry_find(kind, name, out, error);
    if (status == SCL_STATUS_OK) return status;
  }
  return status;
}

/* The names and words of the settings point into *read, which must live until the instance has its
 * own copies. */
scl_status scl_instance_from_text(const char *kinds, const char *text, scl_instance **out,
                                  scl_error *error) {
  typed *read = scl_allocate(sizeof *read);
  if (read == NULL) return scl_fail_memory(error, sizeof *read, "a component");
  const scl_component *component = NULL;
  scl_settings settings;
  char title[80];
  scl_status status = parse_component(text, read)
                          ? find_component(kinds, read->name, &component, error)
                          : scl_fail(error, SCL_STATUS_INTERNAL,
                                     "'%.100s' is not a component as one would type it", text);
  if (status == SCL_STATUS_OK) {
    (void)snprintf(title, sizeof title, "%s.%s", scl_kind_name(component->plugin.kind), read->name);
    status = scl_settings_create(title, component->options, component->plugin.n_options,
                                 read->given, read->count, &settings, error);
  }
  if (status == SCL_STATUS_OK) status = scl_instance_create(component, &settings, out, error);
  scl_release(read);
  return status;
}
