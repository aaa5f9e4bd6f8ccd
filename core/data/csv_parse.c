/* Lines to numbers, by a finished schema. */
#include "csv_internal.h"
#include "number.h"

#include <math.h>
#include <string.h>

static scl_status refuse(const csv_schema *schema, const csv_chunk *chunk, size_t row, size_t column, csv_field field, const char *why,
                         scl_error *error) {
  return scl_fail(error, SCL_BAD_DATA, "%s: row %zu, column %zu (%s): '%.*s' %s", schema->paths[chunk->file], chunk->first_row + row + 1, column + 1,
                  schema->column[column].name, (int)scl_min(field.length, 40), field.text, why);
}

/* The place of a field among the column's levels. */
static scl_status find_level(const csv_column *column, csv_field field, long *place, scl_error *error) {
  if (!field.escaped) {
    *place = csv_level_place(&column->levels, field);
    return SCL_OK;
  }
  char *scratch = scl_allocate(field.length + 1);
  if (scratch == NULL) return scl_fail_memory(error, field.length, "a field");
  *place = csv_level_place(&column->levels, csv_unescape(field, scratch));
  scl_release(scratch);
  return SCL_OK;
}

static scl_status parse_field(const csv_schema *schema, const csv_chunk *chunk, size_t row, size_t j, csv_field field, double *value, long *level,
                              scl_error *error) {
  const csv_column *column = &schema->column[j];
  const bool missing = csv_is_missing(schema, field);
  *level = -1;
  if (column->categorical) {
    if (missing) {
      if (column->target) return refuse(schema, chunk, row, j, field, "is a missing label", error);
      *level = (long)column->levels.count;
      return SCL_OK;
    }
    SCL_TRY(find_level(column, field, level, error));
    return *level >= 0 ? SCL_OK : refuse(schema, chunk, row, j, field, "is a level that was not there when the file was first read", error);
  }
  *value = NAN;
  if (missing) return SCL_OK;
  if (!scl_parse_number(field.text, field.length, value)) return refuse(schema, chunk, row, j, field, "is not a number", error);
  return isfinite(*value) ? SCL_OK : refuse(schema, chunk, row, j, field, "is not finite", error);
}

scl_status csv_parse_chunk(const csv_schema *schema, const csv_chunk *chunk, scl_matrix *x, scl_matrix *y, size_t to, scl_error *error) {
  const char *at = chunk->text, *next = at;
  for (size_t row = 0; at < chunk->end;) {
    if (csv_blank_line(at, chunk->end, &next)) {
      at = next;
      continue;
    }
    for (size_t j = 0; at != NULL && j < schema->columns; j++) {
      const csv_column *column = &schema->column[j];
      const csv_field field = csv_next_field(&at, chunk->end, schema->separator, &next);
      double value = 0;
      long level = -1;
      if (column->skipped || (column->outs == 0 && !column->target)) continue;
      SCL_TRY(parse_field(schema, chunk, row, j, field, &value, &level, error));
      if (column->target)
        scl_matrix_set(y, to + row, 0, level >= 0 ? (double)level + 1 : value);
      else if (column->categorical)
        scl_matrix_set(x, to + row, column->first_out + (size_t)level, 1); /* the matrix came as zeros */
      else
        scl_matrix_set(x, to + row, column->first_out, value);
    }
    row++;
    at = next;
  }
  return SCL_OK;
}

/* ---------------------------------------------------------------- names and classes */

static char *joined(const char *a, const char *b) {
  const size_t length = strlen(a) + strlen(b) + 2;
  char *text = scl_allocate(length);
  if (text == NULL) return NULL;
  memcpy(text, a, strlen(a));
  text[strlen(a)] = '=';
  memcpy(text + strlen(a) + 1, b, strlen(b) + 1);
  return text;
}

static bool describe_column(const csv_column *column, char **names) {
  if (!column->categorical) return (names[column->first_out] = scl_copy_text(column->name)) != NULL;
  for (size_t i = 0; i < column->outs; i++) {
    names[column->first_out + i] = joined(column->name, i < column->levels.count ? column->levels.list[i] : "?");
    if (names[column->first_out + i] == NULL) return false;
  }
  return true;
}

static bool describe_target(const csv_schema *schema, scl_table *out) {
  const csv_column *column = &schema->column[schema->target];
  out->target = scl_copy_text(column->name);
  out->classification = column->categorical || schema->options->classification == SCL_YES;
  if (out->target == NULL) return false;
  if (!column->categorical) return true; /* numeric labels are listed once they are read */
  out->class_names = scl_allocate_zero((column->levels.count + 1) * sizeof *out->class_names);
  for (size_t i = 0; out->class_names != NULL && i < column->levels.count; i++) {
    out->class_names[i] = scl_copy_text(column->levels.list[i]);
    if (out->class_names[i] == NULL) return false;
    out->classes = i + 1;
  }
  return out->class_names != NULL;
}

scl_status csv_describe(const csv_schema *schema, scl_table *out, scl_error *error) {
  out->cols = schema->cols_out;
  out->names = scl_allocate_zero((schema->cols_out + 1) * sizeof *out->names);
  bool enough = out->names != NULL;
  for (size_t j = 0; enough && j < schema->columns; j++)
    if (schema->column[j].outs > 0) enough = describe_column(&schema->column[j], out->names);
  if (enough && schema->target >= 0) enough = describe_target(schema, out);
  return enough ? SCL_OK : scl_fail_memory(error, schema->cols_out * 32, "column names");
}
