/* The check of a plugin's descriptor, options, abilities and table, which the registry makes before
 * it registers a component. It calls no function of the plugin, and reads no further than the sizes
 * that the plugin declares. What the plugin does wrong is SCL_STATUS_UNSUPPORTED. */
#include "plugin/check.h"

#include "plugin/blocks.h"
#include "plugin/host.h"
#include "plugin/options.h"
#include "plugin/stage.h"
#include "plugin/tables.h"
#include <stdio.h>
#include <string.h>

/* Limits that no correct plugin reaches, so that a damaged descriptor is recognised by them. */
enum { MOST_OPTIONS = 64, MOST_LISTED = 64, MOST_INSTANCE = 1 << 24 };

/* Option i of a plugin. Its rows are plugin->option_size bytes apart: members that an older plugin
 * does not have are 0, and those of a newer one are not read. */
static scl_option option_of(const scl_plugin *plugin, size_t i) {
  scl_option option = {0};
  memcpy(&option, (const char *)plugin->options + i * plugin->option_size,
         scl_min(plugin->option_size, sizeof option));
  return option;
}

/* An option with a role must belong to the kind of plugin that has the role, and take a form that
 * the host can set. */
static scl_status check_role(const scl_option *option, scl_kind kind, scl_error *error) {
  static const struct {
    scl_kind kind;
    uint32_t forms;
    const char *words;
  } roles[] = {
      [SCL_ROLE_REGULARISATION] = {SCL_KIND_SOLVER, SCL_FORM_NUMBER | SCL_FORM_INTEGER, NULL},
      [SCL_ROLE_CAPACITY] = {SCL_KIND_SOLVER, SCL_FORM_NUMBER | SCL_FORM_INTEGER, NULL},
      [SCL_ROLE_INTERCEPT] = {SCL_KIND_SOLVER, SCL_FORM_BOOLEAN, NULL},
      [SCL_ROLE_ESTIMATE] = {SCL_KIND_SOLVER, SCL_FORM_WORD, NULL},
      [SCL_ROLE_BIAS] = {SCL_KIND_SAMPLER, SCL_FORM_WORD, "none|uniform|gaussian"},
      [SCL_ROLE_TOLERANCE] = {SCL_KIND_SOLVER, SCL_FORM_NUMBER, NULL}};
  const scl_role role = option->role;
  if (role <= SCL_ROLE_NONE || (size_t)role >= sizeof roles / sizeof *roles) return SCL_STATUS_OK;
  if (roles[role].kind != kind)
    return scl_fail(error, SCL_STATUS_UNSUPPORTED,
                    "option '%s': its role is one of another kind of plugin", option->name);
  const char *words = roles[role].words;
  if (!(option->forms & roles[role].forms) ||
      (words != NULL && (option->words == NULL || strcmp(option->words, words) != 0)))
    return scl_fail(error, SCL_STATUS_UNSUPPORTED,
                    "option '%s' does not take what its role %d needs (plugin/option.h)",
                    option->name, (int)role);
  return SCL_STATUS_OK;
}

/* A former name of an option is a name, and no option has it now. */
static scl_status check_former(const scl_plugin *plugin, const scl_option *option,
                               scl_error *error) {
  for (const char *at = option->former; at != NULL && *at != 0;) {
    const size_t length = strcspn(at, "|");
    char name[42];
    (void)snprintf(name, sizeof name, "%.*s", (int)scl_min(length, sizeof name - 1), at);
    if (!scl_is_name(name, true))
      return scl_fail(error, SCL_STATUS_UNSUPPORTED,
                      "option '%s' was formerly named '%s', which is not a name of an option",
                      option->name, name);
    for (size_t k = 0; k < plugin->n_options; k++)
      if (strcmp(option_of(plugin, k).name, name) == 0)
        return scl_fail(error, SCL_STATUS_UNSUPPORTED,
                        "option '%s' was formerly named '%s', which is an option now", option->name,
                        name);
    at += length + (at[length] == '|');
  }
  return SCL_STATUS_OK;
}

/* Each option by itself, and every pair: names and roles occur once, and no two options are stored
 * in the same bytes of the instance. */
static scl_status check_options(const scl_plugin *plugin, scl_error *error) {
  const size_t instance = scl_max(plugin->instance_size, sizeof(scl_base));
  if (plugin->n_options == 0) return SCL_STATUS_OK;
  if (plugin->options == NULL || plugin->n_options > MOST_OPTIONS ||
      plugin->option_size < SCL_LEAST_OPTION || plugin->option_size > 4096 ||
      plugin->option_size % _Alignof(scl_option) != 0)
    return scl_fail(
        error, SCL_STATUS_UNSUPPORTED,
        "%u options of %u bytes each; up to %d of at least %zu, a multiple of %zu, are taken",
        plugin->n_options, plugin->option_size, MOST_OPTIONS, SCL_LEAST_OPTION,
        _Alignof(scl_option));
  for (size_t i = 0; i < plugin->n_options; i++) {
    const scl_option option = option_of(plugin, i);
    SCL_TRY(scl_option_check(&option, instance, error));
    SCL_TRY(check_role(&option, plugin->kind, error));
    SCL_TRY(check_former(plugin, &option, error));
    for (size_t k = 0; k < i; k++) {
      const scl_option other = option_of(plugin, k);
      if (strcmp(other.name, option.name) == 0)
        return scl_fail(error, SCL_STATUS_UNSUPPORTED, "option '%s' is declared twice",
                        option.name);
      /* Two half-open ranges of bytes overlap; options that are not stored have no bytes. */
      if (other.offset < option.offset + scl_option_bytes(&option) &&
          option.offset < other.offset + scl_option_bytes(&other))
        return scl_fail(error, SCL_STATUS_UNSUPPORTED,
                        "options '%s' and '%s' are stored in the same bytes of the instance",
                        other.name, option.name);
      if (other.role != SCL_ROLE_NONE && other.role == option.role)
        return scl_fail(error, SCL_STATUS_UNSUPPORTED, "options '%s' and '%s' have the same role",
                        other.name, option.name);
    }
  }
  return SCL_STATUS_OK;
}

/* Abilities listed in the descriptor: each at most once, of the plugin's kind, with a valid
 * table. */
static scl_status check_abilities(const scl_plugin *plugin, scl_error *error) {
  const scl_ability *list = plugin->abilities;
  for (size_t i = 0; list != NULL && list[i].id != NULL; i++) {
    if (i >= MOST_LISTED)
      return scl_fail(error, SCL_STATUS_UNSUPPORTED,
                      "its list of abilities has no end: a row with id NULL ends it");
    for (size_t k = 0; k < i; k++)
      if (strcmp(list[i].id, list[k].id) == 0)
        return scl_fail(error, SCL_STATUS_UNSUPPORTED, "ability \"%s\" is listed twice",
                        list[i].id);
    const scl_table_rule *rule = scl_rule_of_ability(list[i].id);
    if (rule == NULL) continue; /* of a later version: for hosts that know it */
    if (!(rule->kinds & SCL_BIT(plugin->kind)))
      return scl_fail(error, SCL_STATUS_UNSUPPORTED, "ability \"%s\" is none of a %s", list[i].id,
                      scl_kind_name(plugin->kind));
    const scl_status status = scl_table_check(rule, list[i].table, error);
    if (status == SCL_STATUS_OK) continue;
    (void)scl_prefix(error, "ability \"%s\"", list[i].id);
    return status;
  }
  return SCL_STATUS_OK;
}

/* Fail unless the plugin lists the ability, or decides about it when it is asked (slot
 * `ability`). */
static scl_status require_ability(const scl_plugin *plugin, const char *id, const char *why,
                                  scl_error *error) {
  if (scl_ability_listed(plugin, id) != NULL || plugin->ability != NULL) return SCL_STATUS_OK;
  return scl_fail(error, SCL_STATUS_UNSUPPORTED, "%s, which requires the ability \"%s\"", why, id);
}

/* Numbers come as float64 to every component, unless it takes others too. */
static scl_status check_dtypes(uint32_t dtypes, scl_error *error) {
  if (scl_takes(dtypes, SCL_DTYPE_FLOAT64)) return SCL_STATUS_OK;
  return scl_fail(error, SCL_STATUS_UNSUPPORTED,
                  "it does not take float64, which every component must (member 'dtypes')");
}

/* Slots that each parameter space requires of a sampler; the simple form (slot `make`) draws dense
 * rows and needs the moments of their law. */
static scl_status check_sampler(const scl_plugin *plugin, const void *vtable, scl_error *error) {
  const scl_sampler *table = vtable;
  if (scl_space_name(table->space) == NULL)
    return scl_fail(error, SCL_STATUS_UNSUPPORTED,
                    "it draws from parameter space %d, which this version does not know",
                    (int)table->space);
  if (table->make != NULL && (table->space != SCL_SPACE_DENSE || table->normals > 8))
    return scl_fail(error, SCL_STATUS_UNSUPPORTED,
                    "the simple form (slot 'make') draws dense rows, from at most 8 normal numbers "
                    "each");
  if (table->make != NULL && table->moments == NULL)
    SCL_TRY(
        require_ability(plugin, SCL_ABILITY_LAW, "the simple form has no slot 'moments'", error));
  if (table->space == SCL_SPACE_SPARSE && table->layout == NULL)
    return scl_fail(
        error, SCL_STATUS_UNSUPPORTED,
        "it draws sparse parameters, and the slot 'layout', which says how many columns "
        "each has, is NULL");
  if (table->space == SCL_SPACE_STRUCTURED)
    SCL_TRY(
        require_ability(plugin, SCL_ABILITY_STRUCTURED, "it draws structured parameters", error));
  const scl_ability_structured *structured = scl_ability_listed(plugin, SCL_ABILITY_STRUCTURED);
  return structured != NULL && SCL_HAS(structured, dtypes) ? check_dtypes(structured->dtypes, error)
                                                           : SCL_STATUS_OK;
}

/* What the table alone can show. Slot `shape` may change the rest with the options, so that
 * scl_nonlinearity_shape checks again for each instance. */
static scl_status check_nonlinearity(const scl_plugin *plugin, const void *vtable,
                                     scl_error *error) {
  const scl_nonlinearity *table = vtable;
  const bool one_hot = table->flags & SCL_SHAPE_ONE_HOT;
  if (one_hot)
    SCL_TRY(require_ability(plugin, SCL_ABILITY_CATEGORIES, "its output is one-hot", error));
  if (!one_hot && table->loop == NULL && table->apply == NULL && table->shape == NULL)
    return scl_fail(error, SCL_STATUS_UNSUPPORTED,
                    "one of the slots 'loop' and 'apply' is required, and both are NULL");
  if (table->spaces == 0 && table->shape == NULL)
    return scl_fail(error, SCL_STATUS_UNSUPPORTED, "it takes no parameter space (member 'spaces')");
  const scl_ability_smoothing *smoothing = scl_ability_listed(plugin, SCL_ABILITY_SMOOTHING);
  if (smoothing != NULL && smoothing->smooth == NULL && table->loop == NULL)
    return scl_fail(error, SCL_STATUS_UNSUPPORTED,
                    "ability \"%s\": its slot 'loop' goes with the slot 'loop' of the table, which "
                    "is NULL",
                    SCL_ABILITY_SMOOTHING);
  return check_dtypes(table->dtypes, error);
}

/* A kernel has slot `gram`, or the simple form: a number of each pair (member `pair`) and slot
 * `finish`, of which one may be missing. */
static scl_status check_kernel(const scl_plugin *plugin, const void *vtable, scl_error *error) {
  const scl_kernel *table = vtable;
  (void)plugin;
  if (table->spaces == 0)
    return scl_fail(error, SCL_STATUS_UNSUPPORTED,
                    "it is defined on no parameter space (member 'spaces')");
  if (table->gram != NULL) return SCL_STATUS_OK;
  if (table->pair < SCL_PAIR_NONE || table->pair > SCL_PAIR_ANGLE)
    return scl_fail(error, SCL_STATUS_UNSUPPORTED,
                    "it takes number %d of a pair, which this version does not know",
                    (int)table->pair);
  if (table->finish == NULL && table->pair == SCL_PAIR_NONE)
    return scl_fail(error, SCL_STATUS_UNSUPPORTED,
                    "the required slot 'gram' is NULL, and so are 'finish' and 'pair'");
  const uint32_t dense = SCL_BIT(SCL_SPACE_DENSE);
  if (table->pair >= SCL_PAIR_COSINE && table->spaces != dense)
    return scl_fail(error, SCL_STATUS_UNSUPPORTED,
                    "cosines and angles are for dense rows alone (member 'spaces')");
  return SCL_STATUS_OK;
}

/* The option that a path varies must be one of the plugin's. */
static scl_status check_path(const scl_plugin *plugin, const char *option, scl_error *error) {
  for (size_t i = 0; i < plugin->n_options; i++)
    if (strcmp(option_of(plugin, i).name, option) == 0) return SCL_STATUS_OK;
  return scl_fail(error, SCL_STATUS_UNSUPPORTED,
                  "its path runs over the option '%s', which it does not have", option);
}

/* A solver gives weights (slot `solve`) or models (ability "model"); its paths vary options of its
 * own. */
static scl_status check_solver(const scl_plugin *plugin, const void *vtable, scl_error *error) {
  const scl_solver *table = vtable;
  if (table->solve == NULL)
    SCL_TRY(require_ability(plugin, SCL_ABILITY_MODEL, "the slot 'solve' is NULL", error));
  SCL_TRY(check_dtypes(table->dtypes, error));
  const scl_ability_path *path = scl_ability_listed(plugin, SCL_ABILITY_PATH);
  const scl_ability_model_path *models = scl_ability_listed(plugin, SCL_ABILITY_MODEL_PATH);
  if (path != NULL) SCL_TRY(check_path(plugin, path->option, error));
  if (models == NULL) return SCL_STATUS_OK;
  SCL_TRY(require_ability(plugin, SCL_ABILITY_MODEL, "it makes models of a path", error));
  return check_path(plugin, models->option, error);
}

/* The names of a stage's arrays, "mean|factor": 1 to SCL_STAGE_ARRAYS of them, all different. */
static scl_status check_arrays(const char *names, scl_error *error) {
  char name[SCL_STAGE_NAME + 1];
  size_t count = 0;
  while (scl_stage_array_name(names, count, name))
    if (!scl_is_name(name, false) || scl_word_place(names, name) != (int)count ||
        ++count > SCL_STAGE_ARRAYS)
      return scl_fail(
          error, SCL_STATUS_UNSUPPORTED,
          "its arrays are '%.80s': up to %d different names of a-z, 0-9 and _, of up to "
          "%d characters, with | between them, belong there",
          names, SCL_STAGE_ARRAYS, SCL_STAGE_NAME);
  return SCL_STATUS_OK;
}

/* The simple form has no slot of the general one, and two arrays. What learns has arrays. */
static scl_status check_stage(const scl_plugin *plugin, const void *vtable, scl_error *error) {
  const scl_stage *table = vtable;
  char name[SCL_STAGE_NAME + 1];
  (void)plugin;
  SCL_TRY(check_arrays(table->arrays, error));
  if (table->column != NULL && (table->apply != NULL || table->fit != NULL || table->shape != NULL))
    return scl_fail(error, SCL_STATUS_UNSUPPORTED,
                    "it has the slot 'column' of the simple form, and slots of the general form");
  if (table->column != NULL && table->arrays != NULL &&
      (!scl_stage_array_name(table->arrays, 1, name) ||
       scl_stage_array_name(table->arrays, 2, name)))
    return scl_fail(error, SCL_STATUS_UNSUPPORTED,
                    "its arrays are '%.80s': the simple form has two, shift and factor",
                    table->arrays);
  if (table->column == NULL && (table->fit == NULL) != (table->arrays == NULL))
    return scl_fail(error, SCL_STATUS_UNSUPPORTED,
                    table->fit == NULL ? "it has arrays, and the slot 'fit' is NULL"
                                       : "it has the slot 'fit', and no arrays (member 'arrays')");
  if ((table->flags & SCL_STAGE_TARGETS) != 0 && table->fit == NULL)
    return scl_fail(error, SCL_STATUS_UNSUPPORTED,
                    "it learns from targets (flag SCL_STAGE_TARGETS), and the slot 'fit' is NULL");
  return SCL_STATUS_OK;
}

/* A loss whose facts do not depend on options says which targets it takes. */
static scl_status check_loss(const scl_plugin *plugin, const void *vtable, scl_error *error) {
  const scl_loss *table = vtable;
  (void)plugin;
  if (table->facts != NULL || table->targets & (SCL_TARGETS_NUMBERS | SCL_TARGETS_CLASSES))
    return SCL_STATUS_OK;
  return scl_fail(error, SCL_STATUS_UNSUPPORTED,
                  "it takes neither numbers nor classes as targets (member 'targets')");
}

/* The words for its files stand in sentences. */
static scl_status check_reader(const scl_plugin *plugin, const void *vtable, scl_error *error) {
  const scl_reader *table = vtable;
  (void)plugin;
  if (table->format != NULL && *table->format != 0) return SCL_STATUS_OK;
  return scl_fail(error, SCL_STATUS_UNSUPPORTED,
                  "it does not say what its files are (member 'format'), such as \"a CSV file\"");
}

/* A transport has no conditions beyond its required slots. */
static scl_status check_nothing(const scl_plugin *plugin, const void *vtable, scl_error *error) {
  (void)plugin, (void)vtable, (void)error;
  return SCL_STATUS_OK;
}

/* Known words for what it needs and what is better; limits with numbers between them; one form. */
static scl_status check_metric(const scl_plugin *plugin, const void *vtable, scl_error *error) {
  const scl_metric *table = vtable;
  (void)plugin;
  if (table->needs < SCL_NEEDS_VALUES || table->needs > SCL_NEEDS_PROBABILITIES)
    return scl_fail(error, SCL_STATUS_UNSUPPORTED, "it needs the unknown form %d of predictions",
                    (int)table->needs);
  if (table->better != SCL_BETTER_SMALLER && table->better != SCL_BETTER_LARGER)
    return scl_fail(error, SCL_STATUS_UNSUPPORTED, "better is %d, and is smaller (0) or larger (1)",
                    (int)table->better);
  if (!(table->low < table->high) && !(table->low == 0 && table->high == 0))
    return scl_fail(error, SCL_STATUS_UNSUPPORTED,
                    "low = %g is not below high = %g (0, 0: no limits)", table->low, table->high);
  if (table->most_classes == 1 || (table->most_classes > 0 && table->needs == SCL_NEEDS_VALUES))
    return scl_fail(error, SCL_STATUS_UNSUPPORTED, "most_classes is %u for a metric of %s",
                    table->most_classes, table->most_classes == 1 ? "classes" : "values");
  if (table->row != NULL && table->measure != NULL)
    return scl_fail(error, SCL_STATUS_UNSUPPORTED,
                    "it has the slots 'row' and 'measure': one of them says the value");
  if (table->row == NULL && table->finish != NULL)
    return scl_fail(error, SCL_STATUS_UNSUPPORTED, "'finish' is for metrics with the slot 'row'");
  return SCL_STATUS_OK;
}

static scl_status (*const checks[SCL_KINDS])(const scl_plugin *plugin, const void *vtable,
                                             scl_error *error) = {
    [SCL_KIND_SAMPLER] = check_sampler,   [SCL_KIND_NONLINEARITY] = check_nonlinearity,
    [SCL_KIND_KERNEL] = check_kernel,     [SCL_KIND_SOLVER] = check_solver,
    [SCL_KIND_TRANSPORT] = check_nothing, [SCL_KIND_STAGE] = check_stage,
    [SCL_KIND_METRIC] = check_metric,     [SCL_KIND_LOSS] = check_loss,
    [SCL_KIND_READER] = check_reader};

/* Check the table of the plugin's kind. A table of an older plugin is shorter: the members that it
 * does not have are read as zero. */
static scl_status check_vtable(const scl_plugin *plugin, scl_error *error) {
  union { /* of the longest table */
    scl_sampler sampler;
    scl_nonlinearity nonlinearity;
    scl_kernel kernel;
    scl_solver solver;
    scl_transport transport;
    scl_stage stage;
    scl_metric metric;
    scl_loss loss;
    scl_reader reader;
  } room;
  const scl_table_rule *rule = scl_rule_of_kind(plugin->kind);
  const scl_status status = scl_table_check(rule, plugin->vtable, error);
  if (status != SCL_STATUS_OK) {
    (void)scl_prefix(error, "its %s table", scl_kind_name(plugin->kind));
    return status;
  }
  const void *table = scl_table_read(plugin->vtable, rule->size, &room);
  const scl_kind kind = ((const scl_sampler *)table)->kind; /* at the same place in all kinds */
  if (kind != plugin->kind)
    return scl_fail(error, SCL_STATUS_UNSUPPORTED, "its table is one of a %s, and it says %s",
                    scl_kind_name(kind), scl_kind_name(plugin->kind));
  return checks[plugin->kind](plugin, table, error);
}

scl_status scl_flags_check(uint32_t flags, uint32_t known, const char *of, scl_error *error) {
  const uint32_t strange = flags & SCL_FLAGS_REQUIRED & ~known;
  if (strange == 0) return SCL_STATUS_OK;
  return scl_fail(error, SCL_STATUS_UNSUPPORTED,
                  "the flags of its %s require what this Scullery does not know (0x%x): a later "
                  "version does",
                  of, strange);
}

/* Every service that the plugin needs is one of this host, and so is every flag that it
 * requires. */
static scl_status check_needed(const scl_plugin *plugin, scl_error *error) {
  char id[80];
  SCL_TRY(scl_flags_check(plugin->flags, 0, "descriptor", error));
  for (const char *at = plugin->needed; at != NULL && *at != 0;) {
    const size_t length = strcspn(at, " ");
    (void)snprintf(id, sizeof id, "%.*s", (int)scl_min(length, sizeof id - 1), at);
    if (length > 0 && scl_host_get()->service(id) == NULL)
      return scl_fail(error, SCL_STATUS_UNSUPPORTED,
                      "it needs the service \"%s\", which this Scullery does not have", id);
    at += length + (at[length] == ' ');
  }
  return SCL_STATUS_OK;
}

/* The members that must be valid before any other is read: interface, size, name and kind. */
static scl_status check_head(const scl_plugin *plugin, scl_error *error) {
  if (plugin->head.abi != SCL_ABI)
    return scl_fail(error, SCL_STATUS_UNSUPPORTED,
                    "built for plugin interface %u; this Scullery speaks %u: build it again with "
                    "this version's scullery/plugin.h",
                    plugin->head.abi, SCL_ABI);
  if (plugin->head.size < SCL_LEAST_PLUGIN)
    return scl_fail(error, SCL_STATUS_UNSUPPORTED,
                    "its descriptor has %u bytes where interface %u requires %zu",
                    plugin->head.size, SCL_ABI, SCL_LEAST_PLUGIN);
  if (!scl_is_name(plugin->name, false))
    return scl_fail(error, SCL_STATUS_UNSUPPORTED,
                    "it is named '%.60s'; names are 1 to 40 of a-z, 0-9 and _, begin with a letter "
                    "and are not a keyword of Lua",
                    plugin->name == NULL ? "(NULL)" : plugin->name);
  if ((uint32_t)plugin->kind >= SCL_KINDS)
    return scl_fail(error, SCL_STATUS_UNSUPPORTED, "'%s' is of the unknown kind %d", plugin->name,
                    (int)plugin->kind);
  if (strcmp(plugin->name, "define") == 0)
    return scl_fail(error, SCL_STATUS_UNSUPPORTED,
                    "it is named 'define': sc.%s.define{...} is there already, and defines a %s "
                    "in Lua",
                    scl_kind_name(plugin->kind), scl_kind_name(plugin->kind));
  return SCL_STATUS_OK;
}

/* The head is checked in place; then the descriptor is copied to the size that this host knows,
 * with zeros for members that an older plugin does not have. */
scl_status scl_check_plugin(const scl_plugin *own, scl_error *error) {
  scl_plugin room;
  if (own == NULL)
    return scl_fail(error, SCL_STATUS_UNSUPPORTED, "a descriptor in its list is NULL");
  SCL_TRY(check_head(own, error));
  const scl_plugin *plugin = scl_table_read(own, sizeof room, &room);
  scl_status status = SCL_STATUS_OK;
  if (plugin->summary == NULL || plugin->doc == NULL)
    status = scl_fail(error, SCL_STATUS_UNSUPPORTED, "summary and doc must be texts");
  if (status == SCL_STATUS_OK) status = check_needed(plugin, error);
  if (status == SCL_STATUS_OK && plugin->id != NULL && !scl_is_plugin_id(plugin->id))
    status = scl_fail(error, SCL_STATUS_UNSUPPORTED,
                      "its id is '%.130s'; an id is a domain backwards and a name, such as "
                      "org.example.%s, of a-z, 0-9, _, - and dots",
                      plugin->id, plugin->name);
  if (status == SCL_STATUS_OK && plugin->instance_size != 0 &&
      (plugin->instance_size < sizeof(scl_base) || plugin->instance_size > MOST_INSTANCE))
    status =
        scl_fail(error, SCL_STATUS_UNSUPPORTED,
                 "an instance of %zu bytes does not begin with an scl_base of %zu, or is larger "
                 "than %d",
                 plugin->instance_size, sizeof(scl_base), (int)MOST_INSTANCE);
  if (status == SCL_STATUS_OK) status = check_options(plugin, error);
  if (status == SCL_STATUS_OK) status = check_abilities(plugin, error);
  if (status == SCL_STATUS_OK) status = check_vtable(plugin, error);
  if (status != SCL_STATUS_OK)
    (void)scl_prefix(error, "%s '%s'", scl_kind_name(plugin->kind), plugin->name);
  return status;
}
