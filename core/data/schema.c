/* Schemas of tables: width, copies and release. Used by the CSV reader, saved models and
 * core/lua/schema.c. */
#include "data/schema.h"
#include "base/text.h"

#include <string.h>

const char *const scl_column_role_names[SCL_COLUMN_ROLES] = {"weights", "groups", "time"};

size_t scl_column_width(const scl_column *column) {
  if (column->kind == SCL_COLUMN_SKIPPED) return 0;
  return column->kind == SCL_COLUMN_CATEGORY ? column->n_levels + (column->missing > 0) : 1;
}

size_t scl_schema_cols(const scl_schema *schema) {
  size_t cols = 0;
  for (size_t j = 0; j < schema->n_columns; j++)
    cols += scl_column_width(&schema->columns[j]);
  return cols;
}

void scl_release_texts(char **list, size_t count) {
  for (size_t i = 0; list != NULL && i < count; i++)
    scl_release(list[i]);
  scl_release(list);
}

void scl_schema_destroy(scl_schema *schema) {
  if (schema == NULL) return;
  for (size_t j = 0; schema->columns != NULL && j < schema->n_columns; j++) {
    scl_release(schema->columns[j].name);
    scl_release_texts(schema->columns[j].levels, schema->columns[j].n_levels);
  }
  for (size_t k = 0; k < SCL_COLUMN_ROLES; k++)
    scl_release(schema->roles[k]);
  scl_release_texts(schema->missing, schema->n_missing);
  SCL_RELEASE(schema->columns, schema->target, schema);
}

char **scl_copy_texts(const char *const *list, size_t count) {
  char **copy = scl_allocate_zero((count + 1) * sizeof *copy);
  bool enough = copy != NULL;
  for (size_t i = 0; enough && i < count; i++)
    enough = (copy[i] = scl_copy_text(list[i])) != NULL;
  if (enough) return copy;
  scl_release_texts(copy, count);
  return NULL;
}

static bool copy_column(const scl_column *from, scl_column *to) {
  *to = *from;
  to->name = scl_copy_text(from->name);
  to->levels = from->levels == NULL
                   ? NULL
                   : scl_copy_texts((const char *const *)from->levels, from->n_levels);
  return to->name != NULL && (to->levels != NULL || from->levels == NULL);
}

scl_schema *scl_schema_copy(const scl_schema *schema) {
  scl_schema *copy = scl_allocate_zero(sizeof *copy);
  if (copy == NULL) return NULL;
  *copy = *schema;
  copy->columns = scl_allocate_zero((schema->n_columns + 1) * sizeof *copy->columns);
  copy->missing = scl_copy_texts((const char *const *)schema->missing, schema->n_missing);
  copy->target = schema->target == NULL ? NULL : scl_copy_text(schema->target);
  bool enough = copy->columns != NULL && copy->missing != NULL &&
                (copy->target != NULL || schema->target == NULL);
  for (size_t k = 0; k < SCL_COLUMN_ROLES; k++) {
    copy->roles[k] = schema->roles[k] == NULL ? NULL : scl_copy_text(schema->roles[k]);
    enough = enough && (copy->roles[k] != NULL || schema->roles[k] == NULL);
  }
  for (size_t j = 0; enough && j < schema->n_columns; j++)
    enough = copy_column(&schema->columns[j], &copy->columns[j]);
  if (enough) return copy;
  scl_schema_destroy(copy);
  return NULL;
}
