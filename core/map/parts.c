/* Whether the parts of a map fit together: sampler, phi and K. Each refusal says what would fit. A
 * sampler may carry a tag, and goes then with nonlinearities that name the tag, because its
 * parameters mean nothing to others. */
#include "base/text.h"
#include "map/map_internal.h"
#include "plugin/registry.h"
#include <string.h>

/* The names of the spaces in a set of bits: "dense, sparse or grid". */
static const char *spaces_text(uint32_t spaces, char text[120]) {
  size_t used = 0;
  text[0] = 0;
  for (scl_space i = 0; i < scl_space_count(); i++) {
    if (!(spaces & SCL_BIT(i))) continue;
    const bool last = spaces >> i >> 1 == 0;
    used = scl_append(text, 120, used, used == 0 ? "" : last ? " or " : ", ");
    used = scl_append(text, 120, used, scl_space_name(i));
  }
  return text;
}

/* The tag of samplers whose parameters are rows of data. Kernels as phi take them. */
static const char *const ROWS_TAG = "landmarks";

/* ------------ what goes with a tag, in words */

/* A search of the registry for components that go with a tag; the text lists their names. */
typedef struct tag_search {
  const char *tag; /* of a sampler; or the tags of a nonlinearity, "a|b" */
  char *text;
  size_t size, used, dim;
} tag_search;

/* Append "kind.name" to the list, unless the text is full. */
static void add_match(tag_search *t, const char *kind, const char *name) {
  if (t->used + strlen(kind) + strlen(name) + 4 > t->size) return;
  t->used = scl_append(t->text, t->size, t->used, t->used > 0 ? ", " : "");
  t->used = scl_append(t->text, t->size, t->used, kind);
  t->used = scl_append(t->text, t->size, t->used, ".");
  t->used = scl_append(t->text, t->size, t->used, name);
}

/* For scl_registry_each: add a nonlinearity whose descriptor names the tag. Components that do not
 * load are skipped. */
static void match_nonlinearity(void *context, scl_kind kind, const char *name, const char *path,
                               scl_plugin_origin origin) {
  tag_search *t = context;
  const scl_component *component;
  (void)path;
  (void)origin;
  if (kind != SCL_KIND_NONLINEARITY) return;
  if (scl_registry_find(kind, name, &component, NULL) != SCL_STATUS_OK) return;
  const scl_nonlinearity *table = component->vtable;
  if (table->tags != NULL && scl_word_place(table->tags, t->tag) >= 0)
    add_match(t, scl_kind_name(kind), name);
}

/* For scl_registry_each: add a sampler whose layout, with default options, has one of the tags. */
static void match_sampler(void *context, scl_kind kind, const char *name, const char *path,
                          scl_plugin_origin origin) {
  tag_search *t = context;
  scl_instance *sampler;
  scl_layout layout;
  (void)path;
  (void)origin;
  if (kind != SCL_KIND_SAMPLER) return;
  if (scl_instance_from_text(scl_kind_name(kind), name, &sampler, NULL) != SCL_STATUS_OK) return;
  if (scl_sampler_layout(sampler, t->dim, 0, &layout, NULL) == SCL_STATUS_OK &&
      layout.tag != NULL && scl_word_place(t->tag, layout.tag) >= 0)
    add_match(t, scl_kind_name(kind), name);
  scl_instance_release(sampler);
}

/* text = what goes with samplers of a tag: "nonlinearity.NAME, ...", and for rows of data also
 * kernels as phi. */
static void matches_text(const char *tag, char *text, size_t size) {
  tag_search found = {.tag = tag, .text = text, .size = size};
  text[0] = 0;
  (void)scl_registry_each(match_nonlinearity, &found, NULL);
  if (strcmp(tag, ROWS_TAG) == 0)
    (void)scl_append(text, size, found.used,
                     found.used > 0 ? ", and kernels as phi, sc.kernel.NAME{}"
                                    : "kernels as phi, sc.kernel.NAME{}");
  else if (found.used == 0)
    (void)scl_append(text, size, 0, "no nonlinearity that is installed");
}

/* Refuse a pair whose tags differ: name what goes with the sampler's tag, or without one what goes
 * with the nonlinearity's. */
static scl_status refuse_tag(const scl_map *map, scl_error *error) {
  const char *tag = map->layout.tag, *kind = scl_kind_name(scl_instance_kind(map->phi));
  const char *phi = scl_instance_name(map->phi), *sampler = scl_instance_name(map->sampler);
  char text[400] = "";
  if (tag != NULL) {
    matches_text(tag, text, sizeof text);
    return scl_fail(error, SCL_STATUS_UNSUPPORTED,
                    "%s.%s does not go with sampler.%s, which goes with %s", kind, phi, sampler,
                    text);
  }
  tag_search found = {.tag = map->shape.tags, .text = text, .size = sizeof text, .dim = map->dim};
  (void)scl_registry_each(match_sampler, &found, NULL);
  return scl_fail(error, SCL_STATUS_UNSUPPORTED,
                  "%s.%s does not go with sampler.%s; it goes with %s", kind, phi, sampler,
                  found.used > 0 ? text : "no sampler that is installed");
}

/* A kernel as phi: its parameters are dense rows w of data, or structured rows that can be written
 * out as such. */
static scl_status check_section(const scl_map *map, scl_error *error) {
  const char *phi = scl_instance_name(map->phi), *sampler = scl_instance_name(map->sampler);
  const char *tag = map->layout.tag;
  const bool rows = map->layout.space == SCL_SPACE_DENSE || scl_sampler_has_rows(map->sampler);
  if (tag != NULL && strcmp(tag, ROWS_TAG) != 0) return refuse_tag(map, error);
  if (map->space->seen != SCL_SPACE_DENSE || !rows)
    return scl_fail(error, SCL_STATUS_UNSUPPORTED,
                    "kernel.%s as phi makes features k(w, x) of rows w, and sampler.%s draws %s",
                    phi, sampler, map->space->rows);
  if (!(scl_kernel_spaces(map->phi) & SCL_BIT(SCL_SPACE_DENSE)))
    return scl_fail(error, SCL_STATUS_UNSUPPORTED, "kernel.%s is not defined on rows of data", phi);
  if (map->layout.has_bias)
    return scl_fail(error, SCL_STATUS_UNSUPPORTED,
                    "kernel.%s as phi takes rows without a bias: bias = \"none\"", phi);
  return SCL_STATUS_OK;
}

/* A nonlinearity and the space of the parameters: their tags, cells with one-hot features, and how
 * many numbers a parameter gives. */
static scl_status check_nonlinearity(const scl_map *map, scl_error *error) {
  const char *sampler = scl_instance_name(map->sampler), *phi = scl_instance_name(map->phi);
  const bool one_hot = map->shape.flags & SCL_SHAPE_ONE_HOT;
  char fits[120];
  if (!(map->shape.spaces & SCL_BIT(map->layout.space)))
    return scl_fail(
        error, SCL_STATUS_UNSUPPORTED,
        "nonlinearity.%s does not go with sampler.%s, which draws %s; it takes %s parameters", phi,
        sampler, map->space->rows, spaces_text(map->shape.spaces, fits));
  if (!scl_shape_takes_tag(&map->shape, map->layout.tag)) return refuse_tag(map, error);
  if (map->space->cells != one_hot)
    return scl_fail(error, SCL_STATUS_UNSUPPORTED,
                    "nonlinearity.%s on sampler.%s: %s have cells, and cells make one-hot features",
                    phi, sampler, map->space->cells ? map->space->rows : "grids alone");
  if (one_hot && !scl_nonlinearity_has_categories(map->phi))
    return scl_fail(error, SCL_STATUS_INTERNAL,
                    "nonlinearity.%s is one-hot and brings no categories", phi);
  if (!one_hot && map->shape.fan_in == SCL_FAN_IN_ALL)
    return scl_fail(error, SCL_STATUS_UNSUPPORTED,
                    "nonlinearity.%s takes all numbers of a grid, and sampler.%s draws %s", phi,
                    sampler, map->space->rows);
  if (!map->space->several && map->shape.fan_in > 1)
    return scl_fail(error, SCL_STATUS_UNSUPPORTED,
                    "nonlinearity.%s takes %u numbers a parameter, and %s give one", phi,
                    map->shape.fan_in, map->space->rows);
  return SCL_STATUS_OK;
}

/* With a K a phase goes through its mean over phases, which leaves a cosine as it is (map_kernel.c)
 * and changes all other functions. */
static scl_status check_phase(const scl_map *map, scl_error *error) {
  double amplitude;
  if (!(map->shape.flags & SCL_SHAPE_PHASE)) return SCL_STATUS_OK;
  if (map->shape.fan_in == 1 && scl_nonlinearity_harmonic(map->phi, &amplitude))
    return SCL_STATUS_OK;
  return scl_fail(error, SCL_STATUS_UNSUPPORTED,
                  "nonlinearity.%s takes a uniform phase, and with a K only a cosine of one number "
                  "can have one, which it does not declare to be (the ability harmonic)",
                  scl_instance_name(map->phi));
}

/* K between the sampler's parameters: a space that K is defined on, weights to compare, no bias. */
static scl_status check_kernel(const scl_map *map, const scl_map_spec *spec, scl_error *error) {
  const char *kernel = scl_instance_name(spec->kernel), *sampler = scl_instance_name(map->sampler);
  if (!(scl_kernel_spaces(spec->kernel) & SCL_BIT(map->space->seen)))
    return scl_fail(error, SCL_STATUS_UNSUPPORTED,
                    "kernel.%s is not defined on the parameters of sampler.%s", kernel, sampler);
  if (map->space->seen != map->layout.space && !map->given && !scl_sampler_has_rows(map->sampler))
    return scl_fail(error, SCL_STATUS_UNSUPPORTED,
                    "kernel.%s compares weights w, and sampler.%s has none", kernel, sampler);
  if (map->layout.has_bias)
    return scl_fail(error, SCL_STATUS_UNSUPPORTED,
                    "an instantiation with K takes a sampler without a bias, because K compares "
                    "the weights alone: bias = \"none\", and sc.add_bias() before the features "
                    "gives every parameter a constant term");
  return check_phase(map, error);
}

scl_status scl_map_check_parts(const scl_map *map, const scl_map_spec *spec, scl_error *error) {
  if (scl_instance_kind(map->phi) == SCL_KIND_KERNEL) {
    SCL_TRY(check_section(map, error));
    if (spec->kernel == NULL) return SCL_STATUS_OK;
    return scl_fail(error, SCL_STATUS_UNSUPPORTED,
                    "kernel.%s as phi makes features k(w, x), whose K is k itself: leave K out",
                    scl_instance_name(map->phi));
  }
  SCL_TRY(check_nonlinearity(map, error));
  if (spec->kernel == NULL) return SCL_STATUS_OK;
  if (map->shape.flags & SCL_SHAPE_ONE_HOT)
    return scl_fail(error, SCL_STATUS_UNSUPPORTED,
                    "nonlinearity.%s does not go with a K: cells of different grids share no "
                    "meaning, so their mean has none; without K it estimates the sampler's kernel",
                    scl_instance_name(map->phi));
  return check_kernel(map, spec, error);
}
