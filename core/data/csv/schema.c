/* What the columns are: header, names, target; then, once all fields were looked at, numbers or
 * categories. */
#include "base/interrupt.h"
#include "base/text.h"
#include "data/csv/internal.h"
#include "data/files/input.h"

#include <math.h>
#include <stdio.h>

csv_place csv_say_place(const csv_schema *schema, size_t file, size_t row, size_t column,
                        size_t line) {
  const char *path = schema->paths[file];
  csv_place place;
  char at[160] = "", lines[40] = "";
  if (column < schema->columns)
    (void)snprintf(at, sizeof at, ", column %zu (%.100s)", column + 1, schema->column[column].name);
  if (!scl_input_is_made(path)) (void)snprintf(lines, sizeof lines, ", line %zu", line);
  (void)snprintf(place.text, sizeof place.text, "%.400s: row %zu%s%s", path, row + 1, at, lines);
  return place;
}

size_t csv_line_of(const csv_chunk *chunk, const char *at) {
  if (chunk->first_line > 0) return chunk->first_line + csv_count_lines(chunk->text, at);
  return 1 + csv_count_lines(chunk->beginning, at);
}

/* ------------ names */

/* A copy of the field's text, or of `made` where it is empty. */
static char *name_of(csv_field field, const char *made) {
  if (field.length == 0) return scl_copy_text(made);
  char *name = scl_allocate(field.length + 1);
  if (name == NULL) return NULL;
  field = csv_unescape(field, name);
  name[field.length] = 0;
  return name;
}

static const char *column_name(const void *context, size_t j) {
  return ((const csv_column *)context)[j].name;
}

static scl_status check_count(const csv_schema *schema, scl_error *error) {
  size_t names = 0;
  while (schema->options->names[names] != NULL)
    names++;
  if (names == schema->columns) return SCL_STATUS_OK;
  return scl_fail(error, SCL_STATUS_BAD_OPTION,
                  "option 'columns' has %zu names, and %s has %zu columns", names, schema->paths[0],
                  schema->columns);
}

/* Names the columns: by the option `columns`, by the schema, by the header, or x1, x2, ... */
static scl_status name_columns(csv_schema *schema, const char *at, const char *end,
                               scl_error *error) {
  const scl_csv_options *o = schema->options;
  const bool by_place = o->like != NULL && (o->like->by_place || !schema->header);
  csv_walk walk = csv_walk_line(at, end, schema->separator);
  if (o->names != NULL) SCL_TRY(check_count(schema, error));
  for (size_t j = 0; j < schema->columns; j++) {
    char made[32];
    csv_field field = {0};
    csv_column *column = &schema->column[j];
    if (schema->header && !csv_next_field(&walk, &field)) return scl_interrupt_check(error);
    const char *known = o->names != NULL ? o->names[j] : by_place ? csv_like_name(schema, j) : NULL;
    (void)snprintf(made, sizeof made, "x%zu", j + 1);
    column->fill = NAN;
    column->name = known != NULL ? scl_copy_text(known) : name_of(field, made);
    if (column->name == NULL) return scl_fail_memory(error, field.length, "column names");
  }
  SCL_TRY(scl_interrupt_check(error));
  return csv_names_make(&schema->names, schema->columns, column_name, schema->column, error);
}

/* ------------ columns that options name */

/* The error for a name that the file does not have, with the names that it has. */
static scl_status refuse_name(const csv_schema *schema, const char *option, const char *name,
                              scl_error *error) {
  char names[300] = "";
  size_t used = 0;
  for (size_t j = 0; j < schema->columns && used < sizeof names - 8; j++) {
    const int more = snprintf(names + used, sizeof names - used, "%s%.60s", j > 0 ? ", " : "",
                              schema->column[j].name);
    used += more > 0 ? (size_t)more : 0;
    if (used >= sizeof names - 70 && j + 1 < schema->columns) {
      (void)snprintf(names + scl_min(used, sizeof names - 8), 8, ", ...");
      break;
    }
  }
  return scl_fail(error, SCL_STATUS_BAD_OPTION,
                  "option '%s' names '%.80s', and %s has no such column; it has %s", option, name,
                  schema->paths[0], names);
}

static bool *flag_of(const csv_schema *schema, const csv_name *found, size_t flag) {
  return (bool *)((char *)&schema->column[found->place] + flag);
}

/* Sets a flag in the columns that an option lists; flag: its offset in csv_column. Columns of one
 * name are all marked. */
static scl_status mark_listed(csv_schema *schema, const char *const *list, const char *option,
                              size_t flag, scl_error *error) {
  const csv_name *found;
  for (; list != NULL && *list != NULL; list++) {
    const size_t count = csv_names_find(&schema->names, *list, strlen(*list), &found);
    if (count == 0) return refuse_name(schema, option, *list, error);
    if (*flag_of(schema, found, flag)) continue; /* listed before */
    for (size_t k = 0; k < count; k++)
      *flag_of(schema, &found[k], flag) = true;
  }
  return SCL_STATUS_OK;
}

static scl_status find_named_target(csv_schema *schema, const char *name, scl_error *error) {
  const csv_name *found;
  const size_t count = csv_names_find(&schema->names, name, strlen(name), &found);
  if (count == 0) return refuse_name(schema, "target", name, error);
  if (count > 1)
    return scl_fail(error, SCL_STATUS_BAD_OPTION,
                    "%s: columns %zu and %zu are both called '%s'; give the target's number",
                    schema->paths[0], found[0].place + 1, found[1].place + 1, name);
  schema->target = (long)found->place;
  return SCL_STATUS_OK;
}

/* The schema's target, where the file has it and the user said nothing. */
static void find_usual_target(csv_schema *schema) {
  const scl_schema *like = schema->options->like;
  const csv_name *found;
  schema->target = -1;
  if (like->target == NULL ||
      csv_names_find(&schema->names, like->target, strlen(like->target), &found) == 0)
    return;
  schema->target = (long)found->place;
  schema->column[schema->target].target = true;
}

/* The target by name, or by number from 1 (negative: from the end); 0: none. */
static scl_status find_target(csv_schema *schema, scl_error *error) {
  const scl_csv_options *o = schema->options;
  const long columns = (long)schema->columns;
  schema->target = -1;
  if (o->target != NULL) {
    SCL_TRY(find_named_target(schema, o->target, error));
  } else if (o->target_place != 0) {
    if (o->target_place > columns || o->target_place < -columns)
      return scl_fail(error, SCL_STATUS_BAD_OPTION,
                      "option 'target' got %ld, and %s has %ld columns", o->target_place,
                      schema->paths[0], columns);
    schema->target = o->target_place > 0 ? o->target_place - 1 : columns + o->target_place;
  }
  if (schema->target < 0) return SCL_STATUS_OK;
  csv_column *column = &schema->column[schema->target];
  column->target = true;
  return column->skipped ? scl_fail(error, SCL_STATUS_BAD_OPTION,
                                    "option 'skip' leaves out '%s', which is the target (option "
                                    "'target'; the last column unless it says another)",
                                    column->name)
                         : SCL_STATUS_OK;
}

static bool is_feature(const scl_schema *like, const char *name) {
  for (size_t j = 0; j < like->n_columns; j++)
    if (like->columns[j].kind != SCL_COLUMN_SKIPPED && strcmp(like->columns[j].name, name) == 0)
      return true;
  return false;
}

/* The columns with a role. A schema's roles are optional: files to predict seldom have them. */
static scl_status find_roles(csv_schema *schema, scl_error *error) {
  const scl_csv_options *o = schema->options;
  for (size_t k = 0; k < SCL_COLUMN_ROLES; k++) {
    const bool said = o->roles[k] != NULL;
    const char *name = said || o->like == NULL ? o->roles[k]
                       : o->features_alone     ? NULL
                                               : o->like->roles[k];
    const csv_name *found;
    schema->role[k] = -1;
    if (name == NULL) continue;
    const size_t count = csv_names_find(&schema->names, name, strlen(name), &found);
    if (count == 0 && !said) continue;
    if (count == 0) return refuse_name(schema, scl_column_role_names[k], name, error);
    csv_column *column = &schema->column[found->place];
    if (said && o->like != NULL && is_feature(o->like, name))
      return scl_fail(
          error, SCL_STATUS_BAD_OPTION,
          "%s: option '%s' names the column '%s', which is a feature where 'like' comes "
          "from",
          schema->paths[0], scl_column_role_names[k], name);
    if (count > 1 || column->target || column->aside || column->skipped)
      return scl_fail(error, SCL_STATUS_BAD_OPTION,
                      "%s: option '%s' names the column '%s', which %s", schema->paths[0],
                      scl_column_role_names[k], name,
                      count > 1        ? "is there more than once"
                      : column->target ? "is the target; option 'target' names another column"
                      : column->aside  ? "has another role already"
                                       : "option 'skip' leaves out");
    column->aside = true;
    schema->role[k] = (long)found->place;
  }
  return SCL_STATUS_OK;
}

/* Refuses two columns of one name: they could not be distinguished when other data are matched by
 * name. */
static scl_status refuse_twins(const csv_schema *schema, scl_error *error) {
  for (size_t j = 0; j < schema->columns; j++) {
    const csv_name *same;
    const char *name = schema->column[j].name;
    const size_t count = csv_names_find(&schema->names, name, strlen(name), &same);
    if (count < 2 || schema->column[j].skipped) continue;
    return scl_fail(
        error, SCL_STATUS_BAD_DATA,
        "%s: columns %zu and %zu are both called '%s'; columns = {...} gives all columns "
        "other names, skip = {\"%s\"} leaves both out",
        schema->paths[0], same[0].place + 1, same[1].place + 1, name, name);
  }
  return SCL_STATUS_OK;
}

/* Finds skipped columns, target and roles, by the options or by the schema. */
static scl_status match_columns(csv_schema *schema, scl_error *error) {
  const scl_csv_options *o = schema->options;
  if (o->like == NULL) {
    SCL_TRY(mark_listed(schema, o->skip, "skip", offsetof(csv_column, skipped), error));
    SCL_TRY(mark_listed(schema, o->levels, "levels", offsetof(csv_column, forced_levels), error));
    SCL_TRY(
        mark_listed(schema, o->numeric, "numeric", offsetof(csv_column, forced_numbers), error));
    SCL_TRY(find_target(schema, error));
    SCL_TRY(find_roles(schema, error));
    return o->names == NULL ? refuse_twins(schema, error) : SCL_STATUS_OK;
  }
  if (o->like->by_place && schema->columns != o->like->n_columns)
    return scl_fail(error, SCL_STATUS_BAD_DATA,
                    "%s: it has %zu columns, and the model was fitted on %zu, which have no names",
                    schema->paths[0], schema->columns, o->like->n_columns);
  if (!schema->header && o->names == NULL && csv_like_name(schema, 0) == NULL)
    return scl_fail(error, SCL_STATUS_BAD_DATA,
                    "%s: it has %zu columns and no header, and the schema has %zu columns%s; "
                    "option 'columns' names them",
                    schema->paths[0], schema->columns, o->like->n_columns,
                    o->like->target != NULL ? " and a target" : "");
  if (o->target_said)
    SCL_TRY(find_target(schema, error));
  else
    find_usual_target(schema);
  if (schema->target >= 0 && o->like->target != NULL &&
      strcmp(schema->column[schema->target].name, o->like->target) == 0)
    schema->column[schema->target].forced_levels = o->like->target_is_category;
  SCL_TRY(find_roles(schema, error));
  return csv_like_match(schema, error);
}

/* ------------ the header */

scl_status csv_refuse_quotes(const char *place, bool unclosed, scl_error *error) {
  return scl_fail(error, SCL_STATUS_BAD_DATA, "%s: %s", place,
                  unclosed
                      ? "a quote opens and never closes"
                      : "text follows the closing quote (a quote inside quotes is written twice)");
}

scl_status csv_refuse_byte(const char *path, size_t line, char byte, scl_error *error) {
  return scl_fail(error, SCL_STATUS_BAD_DATA,
                  "%s: line %zu holds the byte %02x, which is not UTF-8: is the text in Latin-1 "
                  "or Windows-1252? (iconv -f WINDOWS-1252 -t UTF-8 converts it)",
                  path, line, (unsigned)(unsigned char)byte);
}

/* Checks the header at `at` for the problems that csv_scan refuses in rows; its file begins at
 * `text`. */
static scl_status check_header(const csv_schema *schema, size_t file, const char *text,
                               const char *at, const char *end, scl_error *error) {
  const char *path = schema->paths[file], *stop = csv_line_end(at, end, schema->separator);
  const char *odd = csv_find_odd_byte(at, stop);
  csv_place place;
  csv_walk walk = csv_walk_line(at, end, schema->separator);
  if (odd != NULL) return csv_refuse_byte(path, 1 + csv_count_lines(text, odd), *odd, error);
  for (csv_field field; csv_next_field(&walk, &field);) {
    if (!field.unclosed && !field.stray) continue;
    (void)snprintf(place.text, sizeof place.text, "%.400s: header, column %zu, line %zu", path,
                   walk.count, 1 + csv_count_lines(text, field.text));
    return csv_refuse_quotes(place.text, field.unclosed, error);
  }
  return scl_interrupt_check(error);
}

scl_status csv_schema_open(csv_schema *schema, const char *text, const char *end, const char **body,
                           scl_error *error) {
  const scl_csv_options *o = schema->options;
  const char *at = csv_first_line(text, end);
  SCL_TRY(csv_missing_prepare(&schema->missing, o->missing, error));
  if (at >= end)
    return scl_fail(error, SCL_STATUS_BAD_DATA, "%s: the file is empty", schema->paths[0]);
  SCL_TRY(csv_look(schema, at, end, error));
  if (schema->header) SCL_TRY(check_header(schema, 0, text, at, end, error));
  const size_t columns = csv_count_fields(at, end, schema->separator);
  SCL_TRY(scl_interrupt_check(error));
  schema->column = scl_allocate_zero(columns * sizeof *schema->column);
  if (schema->column == NULL)
    return scl_fail_memory(error, columns * sizeof *schema->column, "columns");
  schema->columns = columns;
  SCL_TRY(name_columns(schema, at, end, error));
  *body = schema->header ? csv_line_end(at, end, schema->separator) : at;
  return match_columns(schema, error);
}

scl_status csv_schema_skip_header(const csv_schema *schema, size_t file, const char *text,
                                  const char *end, const char **body, scl_error *error) {
  const char *at = *body = csv_first_line(text, end);
  if (!schema->header) return SCL_STATUS_OK;
  if (at >= end)
    return scl_fail(error, SCL_STATUS_BAD_DATA, "%s: the file is empty", schema->paths[file]);
  *body = csv_line_end(at, end, schema->separator);
  SCL_TRY(check_header(schema, file, text, at, end, error));
  const scl_csv_options *o = schema->options;
  if (o->names != NULL || (o->like != NULL && o->like->by_place)) return SCL_STATUS_OK;
  csv_walk walk = csv_walk_line(at, end, schema->separator);
  csv_field field;
  for (size_t j = 0; j < schema->columns && csv_next_field(&walk, &field); j++) {
    const char *name = schema->column[j].name;
    if (field.length > 0 && !csv_field_is(field, name))
      return scl_fail(error, SCL_STATUS_BAD_DATA,
                      "%s: column %zu is called '%.*s' in its header, and '%s' in that of %s",
                      schema->paths[file], j + 1, (int)scl_min(field.length, 60), field.text, name,
                      schema->paths[0]);
  } /* too few: its first row will say so */
  return scl_interrupt_check(error);
}

void csv_schema_close(csv_schema *schema) {
  for (size_t j = 0; schema->column != NULL && j < schema->columns; j++) {
    scl_release(schema->column[j].name);
    csv_levels_release(&schema->column[j].levels);
  }
  csv_names_release(&schema->names);
  csv_names_release(&schema->missing.words);
  scl_exact_destroy(schema->exact);
  SCL_RELEASE(schema->column, schema->unknown, schema->order, schema->chunk_sums);
  schema->column = NULL;
  schema->order = NULL;
  schema->unknown = NULL;
  schema->chunk_sums = NULL;
  schema->exact = NULL;
}
