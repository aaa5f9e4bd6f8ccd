/* Columns by a given schema: matched by name in any order, encoded as it says. */
#include "base/text.h"
#include "data/csv/internal.h"

#include <stdio.h>

static const char *like_name(const void *context, size_t j) {
  return ((const scl_column *)context)[j].name;
}

/* Into *is: whether the field is one of the names. */
static scl_status is_name(const csv_names *names, csv_field field, bool *is, scl_error *error) {
  const csv_name *first;
  char *scratch = field.escaped ? scl_allocate(field.length + 1) : NULL;
  if (field.escaped && scratch == NULL) return scl_fail_memory(error, field.length, "a field");
  if (field.escaped) field = csv_unescape(field, scratch);
  *is = csv_names_find(names, field.text, field.length, &first) > 0;
  scl_release(scratch);
  return SCL_STATUS_OK;
}

scl_status csv_like_header(csv_schema *schema, const char *text, const char *end,
                           scl_error *error) {
  const scl_schema *like = schema->options->like;
  csv_names names = {0};
  schema->header = like->header;
  if (like->header) return SCL_STATUS_OK;
  SCL_TRY(csv_names_make(&names, like->n_columns, like_name, like->columns, error));
  csv_walk walk = csv_walk_line(text, end, schema->separator);
  scl_status status = SCL_STATUS_OK;
  for (csv_field field;
       status == SCL_STATUS_OK && !schema->header && csv_next_field(&walk, &field);)
    status = is_name(&names, field, &schema->header, error);
  csv_names_release(&names);
  return status;
}

const char *csv_like_name(const csv_schema *schema, size_t j) {
  const scl_schema *like = schema->options->like;
  const bool with_target = like->target != NULL && schema->columns == like->n_columns + 1;
  if (schema->columns != like->n_columns + with_target) return NULL;
  if (with_target && j + 1 == like->target_place) return like->target;
  const size_t k = with_target && j + 1 > like->target_place ? j - 1 : j;
  return k < like->n_columns ? like->columns[k].name : NULL;
}

/* ------------ which column is which */

/* Whether no column of the schema, no target and no role has taken this column of the file. */
static bool is_free(const csv_schema *schema, size_t place) {
  return schema->column[place].like == NULL && !schema->column[place].target &&
         !schema->column[place].aside;
}

/* The next column of that name which is not taken, round from `from`; the number of columns where
 * there is none. */
static size_t find_free(const csv_schema *schema, const char *name, size_t from) {
  const csv_name *same;
  const size_t count = csv_names_find(&schema->names, name, strlen(name), &same);
  size_t low = 0, high = count; /* the first of them from `from` on */
  while (low < high) {
    const size_t middle = (low + high) / 2;
    if (same[middle].place < from)
      low = middle + 1;
    else
      high = middle;
  }
  for (size_t k = 0; k < count; k++) {
    const size_t place = same[(low + k) % count].place;
    if (is_free(schema, place)) return place;
  }
  return schema->columns;
}

/* ", 'name'" behind a list of names, cut where it grows long. */
static void list_name(char *list, size_t size, size_t count, const char *name) {
  char one[80];
  const size_t used = strlen(list);
  (void)snprintf(one, sizeof one, "%s'%.60s'", count > 0 ? ", " : "", name);
  if (used + sizeof one < size)
    (void)scl_append(list, size, used, one);
  else if (used > 0 && list[used - 1] != '.')
    (void)scl_append(list, size, used, ", ...");
}

/* The free column whose name is most similar to `name`, or NULL. */
static const char *nearest_free(const csv_schema *schema, const char *name) {
  const char **names = scl_allocate_array(schema->columns + 1, sizeof *names), *near = NULL;
  size_t count = 0;
  if (names == NULL) return NULL; /* only a hint is lost */
  for (size_t j = 0; j < schema->columns; j++)
    if (is_free(schema, j)) names[count++] = schema->column[j].name;
  near = scl_nearest(name, names, count);
  scl_release(names);
  return near;
}

/* missing: the names as a list; first: one of them. */
static scl_status refuse_missing(const csv_schema *schema, const char *missing, size_t count,
                                 const char *first, scl_error *error) {
  char names[300] = "", hint[120] = "";
  const char *near = nearest_free(schema, first);
  size_t listed = 0;
  if (near != NULL) (void)snprintf(hint, sizeof hint, " (did you mean '%.60s'?)", near);
  for (size_t j = 0; j < schema->columns; j++)
    list_name(names, sizeof names, listed++, schema->column[j].name);
  return scl_fail(error, SCL_STATUS_BAD_DATA, "%s: the column%s %s %s missing; the file has %s%s",
                  schema->paths[0], count == 1 ? "" : "s", missing, count == 1 ? "is" : "are",
                  names, hint);
}

/* Copies kind, order and fill from the schema's column. */
static void take_from(csv_column *column, const scl_column *like) {
  column->like = like;
  column->skipped = like->kind == SCL_COLUMN_SKIPPED;
  column->categorical = like->kind == SCL_COLUMN_CATEGORY;
  column->date = like->kind == SCL_COLUMN_DATE;
  column->loose = like->loose;
  column->order = like->order;
  column->missing_level = column->categorical && like->missing > 0;
  column->fill = like->fill;
}

/* Columns of the file that the schema does not have are skipped. Those are noted as extra, unless
 * the schema knows them as target or role. */
static void find_extra(csv_schema *schema) {
  const char *target = schema->options->like->target;
  for (size_t j = 0; j < schema->columns; j++) {
    csv_column *column = &schema->column[j];
    if (column->like != NULL || column->target || column->aside) continue;
    column->skipped = true;
    column->extra = target == NULL || strcmp(column->name, target) != 0;
    for (size_t k = 0; k < SCL_COLUMN_ROLES; k++) {
      const char *role = schema->options->like->roles[k];
      if (role != NULL && strcmp(column->name, role) == 0) column->extra = false;
    }
  }
}

/* Columns of one name are matched in their order: the search for each goes on after the last
 * match. */
scl_status csv_like_match(csv_schema *schema, scl_error *error) {
  const scl_schema *like = schema->options->like;
  enum { ENOUGH = 100 }; /* missing ones to list */
  char missing[300] = "";
  const char *first = NULL;
  size_t count = 0, next = 0;
  for (size_t k = 0; k < like->n_columns && count < ENOUGH; k++) {
    const size_t j = find_free(schema, like->columns[k].name, next);
    if (j < schema->columns) {
      take_from(&schema->column[j], &like->columns[k]);
      next = j + 1;
    } else if (like->columns[k].kind != SCL_COLUMN_SKIPPED) {
      if (count == 0) first = like->columns[k].name;
      list_name(missing, sizeof missing, count++, like->columns[k].name);
    }
  }
  if (count > 0) return refuse_missing(schema, missing, count, first, error);
  schema->unknown = scl_allocate_zero(schema->columns * sizeof *schema->unknown);
  if (schema->unknown == NULL)
    return scl_fail_memory(error, schema->columns * sizeof *schema->unknown, "columns");
  find_extra(schema);
  return SCL_STATUS_OK;
}

/* ------------ places in X */

/* Enters the schema's levels in their order. A schema from a file may be damaged: a level that
 * occurs twice is refused. */
static scl_status take_levels(csv_column *column, scl_error *error) {
  const scl_column *like = column->like;
  for (size_t i = 0; i < like->n_levels; i++)
    if (!csv_levels_add(&column->levels, like->levels[i], strlen(like->levels[i])))
      return scl_fail_memory(error, like->n_levels * 32, "levels");
  return column->levels.count == like->n_levels
             ? SCL_STATUS_OK
             : scl_fail(error, SCL_STATUS_BAD_OPTION,
                        "option 'like' has a schema whose column '%s' has a level twice, or more "
                        "than %d levels",
                        like->name, CSV_MOST_LEVELS);
}

/* The columns of X have the schema's order, whatever the order in the file. */
scl_status csv_like_lay_out(csv_schema *schema, scl_error *error) {
  const scl_schema *like = schema->options->like;
  size_t *first = scl_allocate_array(like->n_columns + 1, sizeof *first);
  scl_status status = SCL_STATUS_OK;
  if (first == NULL) return scl_fail_memory(error, like->n_columns * sizeof *first, "columns");
  schema->cols_out = 0;
  for (size_t k = 0; k < like->n_columns; k++) {
    first[k] = schema->cols_out;
    schema->cols_out += scl_column_width(&like->columns[k]);
  }
  for (size_t j = 0; j < schema->columns && status == SCL_STATUS_OK; j++) {
    csv_column *column = &schema->column[j];
    if (column->like == NULL || column->skipped) continue;
    column->first_out = first[column->like - like->columns];
    column->outs = scl_column_width(column->like);
    if (column->categorical) status = take_levels(column, error);
  }
  scl_release(first);
  return status;
}
