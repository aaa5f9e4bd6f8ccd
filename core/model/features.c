/* The feature map of a saved model: read and checked from its description, drawn again, and
 * compared with the features in the file. */
#include "model/features.h"

#include "base/profile.h"
#include "base/random.h"
#include "learn/map_probe.h"
#include "model/component.h"
#include <stdio.h>
#include <string.h>

/* The description of a map. scl_saved_features releases the instances of `spec`, and `state`. */
typedef struct origin {
  scl_map_spec spec;
  scl_matrix state; /* of a sampler that learns */
  scl_saved_widths widths;
  const cJSON *kept; /* lists of the parameters that selections kept; NULL: no selection */
  size_t part; /* of a union, from 1: its arrays have names of their own; 0: the map is no part */
} origin;

/* An array of the map: "part2.features.rows" of part 2 of a union. */
typedef struct array_name {
  char text[60];
} array_name;
static array_name named(size_t part, const char *name) {
  array_name out;
  if (part > 0)
    (void)snprintf(out.text, sizeof out.text, "part%zu.%s", part, name);
  else
    (void)snprintf(out.text, sizeof out.text, "%s", name);
  return out;
}
static const scl_array *array_of(const scl_saved *saved, size_t part, const char *name) {
  return scl_saved_array(saved, named(part, name).text);
}

static const size_t MOST_PARAMETERS = (size_t)1 << 53, MOST_SAMPLES = (size_t)1 << 40;

/* ------------ the origin */

/* "exact" where it is absent: the method that the map chooses by itself, without a request for
 * quadrature or Monte Carlo. */
static scl_status read_method(const cJSON *from, scl_map_spec *spec, scl_error *error) {
  const char *method = "exact";
  SCL_TRY(scl_saved_opt_word(from, "method", &method, error));
  spec->quadrature = strcmp(method, "quadrature") == 0;
  spec->monte_carlo = strcmp(method, "monte-carlo") == 0;
  if (spec->quadrature || spec->monte_carlo || strcmp(method, "exact") == 0) return SCL_STATUS_OK;
  return scl_fail(error, SCL_STATUS_BAD_DATA,
                  "its 'method' is %.40s, where exact, quadrature or monte-carlo belongs", method);
}

/* The type of the features. Whole numbers are rounded from features in float32. */
static scl_status read_dtype(const char *word, scl_map_spec *spec, scl_error *error) {
  spec->whole = strcmp(word, "int8") == 0    ? SCL_WHOLE_INT8
                : strcmp(word, "int16") == 0 ? SCL_WHOLE_INT16
                                             : SCL_WHOLE_NONE;
  spec->dtype = SCL_DTYPE_FLOAT32;
  return spec->whole != SCL_WHOLE_NONE ? SCL_STATUS_OK : scl_saved_dtype(word, &spec->dtype, error);
}

/* Read the table `origin` of the saved map. */
static scl_status read_origin(const scl_saved *saved, const cJSON *from, origin *out,
                              scl_error *error) {
  scl_map_spec *spec = &out->spec;
  const char *dtype;
  SCL_TRY(scl_saved_whole(saved, from, "dim", 1, INT32_MAX, &spec->dim, error));
  SCL_TRY(scl_saved_opt_whole(saved, from, "T", 1, MOST_PARAMETERS, &spec->count, error));
  SCL_TRY(scl_saved_opt_whole(saved, from, "samples", 1, MOST_SAMPLES, &spec->samples, error));
  const cJSON *seed = scl_saved_find(from, "seed");
  if (!cJSON_IsNumber(seed) || !scl_json_number_of(&saved->json, seed).is_whole)
    return scl_fail(error, SCL_STATUS_BAD_DATA, "the seed of its features is not a whole number");
  spec->seed = (uint64_t)scl_json_number_of(&saved->json, seed).whole; /* all 64 bits */
  SCL_TRY(scl_saved_word(from, "dtype", &dtype, error));
  SCL_TRY(read_dtype(dtype, spec, error));
  SCL_TRY(read_method(from, spec, error));
  SCL_TRY(scl_saved_flag(from, "whiten", &spec->whiten, error));
  SCL_TRY(scl_saved_read_widths(saved, from, &out->widths, error));
  if (scl_saved_find(from, "kept") != NULL)
    SCL_TRY(scl_saved_table(from, "kept", &out->kept, error));
  if (out->kept != NULL && !scl_saved_is_list(out->kept))
    return scl_fail(error, SCL_STATUS_BAD_DATA, "its 'kept' is not a list of lists of parameters");
  const array_name state = named(out->part, "sampler.state");
  if (!scl_saved_has_matrix(saved, state.text)) return SCL_STATUS_OK;
  SCL_TRY(scl_saved_matrix(saved, state.text, (scl_saved_shape){SIZE_MAX, SIZE_MAX, true},
                           &out->state, error));
  spec->state = &out->state;
  return SCL_STATUS_OK;
}

/* ------------ sizes */

/* The arrays of one-hot features: counts (int64, one number for each grid: its number of cells) and
 * words (int32, one row for each cell). Both belong to `saved`. */
static scl_status find_cells(const scl_saved *saved, size_t part, const scl_array **counts,
                             const scl_array **words, scl_error *error) {
  *counts = array_of(saved, part, "cells.counts");
  *words = array_of(saved, part, "cells.words");
  if (*counts != NULL && *words != NULL && (*counts)->dtype == SCL_DTYPE_INT64 &&
      (*counts)->rank == 1 && (*words)->dtype == SCL_DTYPE_INT32 && (*words)->rank == 2)
    return SCL_STATUS_OK;
  return scl_fail(error, SCL_STATUS_BAD_DATA,
                  "its arrays 'cells.counts' and 'cells.words' are missing, or not those of cells");
}

/* A map that is compared by its features (not by its parameters) needs the features of the probe's
 * rows in the file, as many as the description gives. */
static scl_status check_numbers_saved(const scl_saved *saved, const cJSON *map, size_t part,
                                      size_t features, scl_error *error) {
  const char *check;
  const scl_array *numbers = array_of(saved, part, "features.check");
  SCL_TRY(scl_saved_word(map, "check", &check, error));
  if (strcmp(check, "features") != 0) return SCL_STATUS_OK;
  if (numbers != NULL && numbers->rank == 2 && numbers->sizes[0] == SCL_PROBE_ROWS &&
      numbers->sizes[1] == features)
    return SCL_STATUS_OK;
  return scl_fail(error, SCL_STATUS_BAD_DATA,
                  "it has %zu features, and array 'features.check' is missing or not of so many",
                  features);
}

/* Compare the sizes of the map with the arrays of the file, so that a number in a damaged
 * description cannot make the host allocate more than the file justifies. */
static scl_status check_sizes(const scl_saved *saved, const cJSON *map, const origin *from,
                              size_t features, scl_error *error) {
  const scl_array *counts, *words;
  bool one_hot;
  SCL_TRY(scl_saved_flag(map, "one_hot", &one_hot, error));
  if (scl_saved_find(map, "one_hot") == NULL)
    return scl_fail(error, SCL_STATUS_BAD_DATA, "it does not say whether its features are one-hot");
  if (one_hot) {
    SCL_TRY(find_cells(saved, from->part, &counts, &words, error));
    if (from->spec.count == 0 || from->spec.count == counts->sizes[0]) return SCL_STATUS_OK;
    return scl_fail(error, SCL_STATUS_BAD_DATA, "T = %zu grids, where cells of %zu are saved",
                    from->spec.count, counts->sizes[0]);
  }
  SCL_TRY(check_numbers_saved(saved, map, from->part, features, error));
  if (from->kept != NULL || from->spec.count <= features) return SCL_STATUS_OK;
  return scl_fail(error, SCL_STATUS_BAD_DATA, "T = %zu parameters make %zu features",
                  from->spec.count, features);
}

/* ------------ the map */

/* Make the sampler, the nonlinearity or kernel and, if there is one, the second kernel. */
static scl_status make_parts(scl_saved *saved, const cJSON *recipe, origin *from,
                             scl_error *error) {
  const cJSON *parts;
  const scl_saved_widths *widths = &from->widths;
  SCL_TRY(scl_saved_table(recipe, "parts", &parts, error));
  SCL_TRY(scl_saved_component(saved, scl_saved_find(parts, "p"), "sampler", widths,
                              &from->spec.sampler, error));
  SCL_TRY(scl_saved_component(saved, scl_saved_find(parts, "phi"), "nonlinearity|kernel", widths,
                              &from->spec.phi, error));
  const cJSON *kernel = scl_saved_find(parts, "K");
  return kernel == NULL
             ? SCL_STATUS_OK
             : scl_saved_component(saved, kernel, "kernel", widths, &from->spec.kernel, error);
}

/* Apply one selection: replace *map by the map of the parameters in `list` (numbers from 1,
 * ascending). *map stays after a failure. */
static scl_status select_kept(const scl_saved *saved, const cJSON *list, scl_map **map,
                              scl_error *error) {
  const size_t count = cJSON_IsArray(list) ? scl_saved_count(list) : 0, all = scl_map_count(*map);
  scl_map *selected = NULL;
  double place, before = 0;
  size_t i = 0;
  size_t *keep = scl_allocate_array(count + 1, sizeof *keep);
  if (keep == NULL) return scl_fail_memory(error, count * sizeof *keep, "kept parameters");
  for (const cJSON *item = count == 0 ? NULL : list->child; item != NULL; item = item->next) {
    if (!scl_saved_number(saved, item, &place) || !(place > before && place <= (double)all) ||
        place != (double)(size_t)place)
      break;
    keep[i++] = (size_t)place - 1;
    before = place;
  }
  const scl_status status =
      count == 0 || i < count
          ? scl_fail(error, SCL_STATUS_BAD_DATA, "a list in 'kept' is not a list of parameters")
          : scl_map_select(*map, keep, count, &selected, error);
  scl_release(keep);
  if (status != SCL_STATUS_OK) return status;
  scl_map_destroy(*map);
  *map = selected;
  return SCL_STATUS_OK;
}

/* The cells that one-hot features learnt from rows; features of other kinds have no cells (0
 * entries). */
static scl_status restore_cells(const scl_saved *saved, size_t part, scl_map *map,
                                scl_error *error) {
  const scl_array *counts, *words;
  if (scl_map_entries(map) == 0) return SCL_STATUS_OK;
  SCL_TRY(find_cells(saved, part, &counts, &words, error));
  if (counts->sizes[0] != scl_map_entries(map) ||
      words->sizes[1] != scl_cells_words(scl_map_cells(map)))
    return scl_fail(error, SCL_STATUS_BAD_DATA,
                    "the saved cells are of other grids than these features have");
  return scl_map_restore_cells(map, counts->data, words->data, words->sizes[0], error);
}

static scl_status restore_grid(const scl_saved *saved, size_t part, scl_map *map,
                               scl_error *error) {
  scl_matrix grid;
  if (!scl_map_lacks_grid(map)) return SCL_STATUS_OK;
  const scl_saved_shape shape = {2, scl_map_features(map), true};
  SCL_TRY(scl_saved_matrix(saved, named(part, "features.grid").text, shape, &grid, error));
  const scl_status status = scl_map_take_grid(map, &grid, error);
  scl_matrix_release(&grid);
  return status;
}

scl_status scl_saved_grid(const scl_saved *saved, scl_map *map, scl_error *error) {
  return restore_grid(saved, 0, map, error);
}

/* Compare the features (or parameters) of the map with those in the file. They are computed for the
 * probe's rows, which the file has too. A component that computes something else than it did when
 * the model was saved is found here, whatever its version. */
static scl_status check_draws(const scl_saved *saved, const cJSON *said, size_t part,
                              const scl_map *map, scl_error *error) {
  const char *check;
  scl_map_probe probe;
  scl_matrix rows = {0}, numbers = {0};
  const scl_saved_shape any = {SIZE_MAX, SIZE_MAX, false};
  SCL_TRY(scl_saved_word(said, "check", &check, error));
  SCL_TRY(scl_map_probe_make(map, &probe, error));
  scl_status status = scl_saved_matrix(saved, named(part, "features.rows").text, any, &rows, error);
  if (status == SCL_STATUS_OK)
    status = scl_saved_matrix(saved, named(part, "features.check").text, any, &numbers, error);
  const bool same = strcmp(check, probe.parameters ? "parameters" : "features") == 0 &&
                    scl_probes_agree(&probe.rows, &rows) &&
                    scl_probes_agree(&probe.numbers, &numbers);
  if (status == SCL_STATUS_OK && !same)
    status = scl_fail(error, SCL_STATUS_UNSUPPORTED,
                      "the features that its parts give here are not those that it was saved with: "
                      "a sampler, nonlinearity or kernel of it has changed since");
  scl_matrix_release(&rows);
  scl_matrix_release(&numbers);
  scl_map_probe_release(&probe);
  return status;
}

/* Draw the map, apply the selections, and restore its cells and its grid (with row stages after the
 * features, the grid belongs to the staged map, and restore.c restores it). After a failure the
 * caller destroys *out if it is not NULL. */
static scl_status make_map(const scl_saved *saved, const origin *from, scl_map **out,
                           scl_error *error) {
  const size_t mark = scl_profile_enter("parameters");
  scl_status status = scl_map_create(&from->spec, out, error);
  scl_profile_leave(mark, 0, 0);
  const cJSON *list = status == SCL_STATUS_OK && from->kept != NULL ? from->kept->child : NULL;
  for (; status == SCL_STATUS_OK && list != NULL; list = list->next)
    status = select_kept(saved, list, out, error);
  if (status == SCL_STATUS_OK) status = restore_cells(saved, from->part, *out, error);
  return status == SCL_STATUS_OK && !from->spec.staged
             ? restore_grid(saved, from->part, *out, error)
             : status;
}

/* Read and check the description of the map. `method` and `log_scale` are for other readers of the
 * file: only their types are checked. */
static scl_status check_said(const scl_saved *saved, const cJSON *said, size_t dim, origin *from,
                             size_t *features, scl_error *error) {
  const cJSON *table, *scale = scl_saved_find(said, "log_scale");
  const char *method;
  char text[60];
  double number;
  size_t stream;
  SCL_TRY(scl_saved_opt_word(said, "method", &method, error));
  if (scale != NULL && !scl_saved_number(saved, scale, &number))
    return scl_fail(error, SCL_STATUS_BAD_DATA, "its 'log_scale' is %s, where a number belongs",
                    scl_saved_shown(scale, text, sizeof text));
  SCL_TRY(scl_saved_whole(saved, said, "stream", SCL_STREAM_PARAMETERS, SCL_STREAM_PARAMETERS,
                          &stream, error));
  SCL_TRY(scl_saved_whole(saved, said, "features", 0, MOST_PARAMETERS, features, error));
  SCL_TRY(scl_saved_table(said, "origin", &table, error));
  SCL_TRY(read_origin(saved, table, from, error));
  const scl_array *rows = array_of(saved, from->part, "features.rows");
  if (dim != 0 && from->spec.dim != dim)
    return scl_fail(error, SCL_STATUS_BAD_DATA,
                    "its features are of %zu columns, where rows of %zu reach them", from->spec.dim,
                    dim);
  if (rows == NULL || rows->rank != 2 || rows->sizes[1] != scl_probe_width(from->spec.dim))
    return scl_fail(error, SCL_STATUS_BAD_DATA,
                    "array 'features.rows' is missing, or not of %zu columns",
                    scl_probe_width(from->spec.dim));
  return check_sizes(saved, said, from, *features, error);
}

/* Make the map of features that are no union, or of one part. */
static scl_status restore_one(scl_saved *saved, const cJSON *recipe, const cJSON *said, size_t dim,
                              origin *from, scl_map **out, scl_error *error) {
  size_t features;
  scl_map *map = NULL;
  scl_status status = check_said(saved, said, dim, from, &features, error);
  if (status == SCL_STATUS_OK) status = make_parts(saved, recipe, from, error);
  if (status == SCL_STATUS_OK) status = make_map(saved, from, &map, error);
  scl_instance_release(from->spec.sampler);
  scl_instance_release(from->spec.phi);
  scl_instance_release(from->spec.kernel);
  scl_matrix_release(&from->state);
  if (status == SCL_STATUS_OK && scl_map_features(map) != features)
    status = scl_fail(error, SCL_STATUS_BAD_DATA, "it has %zu features here, where %zu were saved",
                      scl_map_features(map), features);
  if (status == SCL_STATUS_OK) status = check_draws(saved, said, from->part, map, error);
  if (status == SCL_STATUS_OK)
    *out = map;
  else
    scl_map_destroy(map);
  return status;
}

/* ------------ unions */

enum { MOST_PARTS = 1000 };

/* Read the columns and the scale of a part. The caller releases part->columns. */
static scl_status read_part(const scl_saved *saved, const cJSON *said, size_t dim,
                            scl_map_part *part, scl_error *error) {
  const cJSON *list = scl_saved_find(said, "columns"), *scale = scl_saved_find(said, "scale");
  double number = 1;
  if (scale != NULL && !scl_saved_number(saved, scale, &number))
    return scl_fail(error, SCL_STATUS_BAD_DATA, "the scale of a part of features is not a number");
  part->scale = number;
  if (list == NULL) return SCL_STATUS_OK;
  const size_t count = cJSON_IsArray(list) ? scl_saved_count(list) : 0;
  if (count == 0 || count > dim)
    return scl_fail(error, SCL_STATUS_BAD_DATA,
                    "the columns of a part of features are not some of %zu", dim);
  size_t *columns = scl_allocate_array(count, sizeof *columns);
  if (columns == NULL) return scl_fail_memory(error, count * sizeof *columns, "columns");
  part->columns = columns;
  for (const cJSON *item = list->child; item != NULL; item = item->next) {
    if (!scl_saved_number(saved, item, &number) || !(number >= 1 && number <= (double)dim) ||
        number != (double)(size_t)number)
      return scl_fail(error, SCL_STATUS_BAD_DATA,
                      "a column of a part of features is not one of %zu", dim);
    columns[part->n_columns++] = (size_t)number - 1;
  }
  return SCL_STATUS_OK;
}

/* Make the parts of a union, and the union. parts: room for `count` of them, of zeros. */
static scl_status join_parts(scl_saved *saved, const cJSON *recipe, const cJSON *list, size_t count,
                             size_t dim, bool staged, scl_map_part *parts, scl_map **out,
                             scl_error *error) {
  const char *mark = scl_saved_mark(recipe);
  const cJSON *one = recipe, *said = list->child;
  if (mark != NULL && strcmp(mark, "union") == 0) {
    SCL_TRY(scl_saved_table(recipe, "parts", &one, error));
    if (!cJSON_IsArray(one) || scl_saved_count(one) != count)
      return scl_fail(error, SCL_STATUS_BAD_DATA,
                      "it has features of %zu parts, and its pipeline not", count);
    one = one->child;
  } else if (count != 1) {
    return scl_fail(error, SCL_STATUS_BAD_DATA,
                    "it has features of %zu parts, and its pipeline one", count);
  }
  for (size_t i = 0; i < count; i++, one = one->next, said = said->next) {
    origin from = {.spec.staged = staged, .part = i + 1};
    SCL_TRY(read_part(saved, said, dim, &parts[i], error));
    SCL_TRY(restore_one(saved, one, said, parts[i].columns == NULL ? dim : parts[i].n_columns,
                        &from, &parts[i].map, error));
  }
  return scl_map_create_union(parts, count, dim, out, error);
}

static scl_status restore_union(scl_saved *saved, const cJSON *recipe, const cJSON *said,
                                size_t dim, bool staged, scl_map **out, scl_error *error) {
  const cJSON *list;
  size_t saved_dim;
  SCL_TRY(scl_saved_table(said, "parts", &list, error));
  SCL_TRY(scl_saved_whole(saved, said, "dim", 1, INT32_MAX, &saved_dim, error));
  const size_t count = cJSON_IsArray(list) ? scl_saved_count(list) : 0;
  if (count == 0 || count > MOST_PARTS)
    return scl_fail(error, SCL_STATUS_BAD_DATA, "its features have no list of parts");
  if (dim != 0 && saved_dim != dim)
    return scl_fail(error, SCL_STATUS_BAD_DATA,
                    "its features are of %zu columns, where rows of %zu reach them", saved_dim,
                    dim);
  scl_map_part *parts = scl_allocate_zero(count * sizeof *parts);
  if (parts == NULL) return scl_fail_memory(error, count * sizeof *parts, "parts of features");
  const scl_status status =
      join_parts(saved, recipe, list, count, saved_dim, staged, parts, out, error);
  for (size_t i = 0; i < count; i++) {
    scl_map_destroy(parts[i].map); /* the union has a reference of its own */
    scl_release((void *)(uintptr_t)parts[i].columns);
  }
  scl_release(parts);
  return status;
}

scl_status scl_saved_features(scl_saved *saved, const cJSON *recipe, const cJSON *said, size_t dim,
                              bool staged, scl_map **out, scl_error *error) {
  if (scl_saved_find(said, "parts") != NULL)
    return restore_union(saved, recipe, said, dim, staged, out, error);
  origin from = {.spec.staged = staged};
  return restore_one(saved, recipe, said, dim, &from, out, error);
}
