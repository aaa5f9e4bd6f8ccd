/* Once all fields were looked at: what each column is, its columns of X, and what they are
 * called. */
#include "base/text.h"
#include "data/csv_internal.h"

#include <stdio.h>

static csv_place place_of_text(const csv_schema *schema, const csv_column *column) {
  return csv_say_place(schema, column->text_file, column->text_row,
                       (size_t)(column - schema->column), column->text_line);
}

static scl_status decide_column(const csv_schema *schema, csv_column *column, scl_error *error) {
  const bool declared = column->forced_numbers || (schema->options->all_numeric && !column->target);
  column->categorical = column->forced_levels || column->texts > 0;
  if (column->texts == 0 || column->forced_levels) return SCL_STATUS_OK;
  if (declared || (column->numbers >= 20 && column->numbers > 99 * column->texts))
    return scl_fail(error, SCL_STATUS_BAD_DATA,
                    "%s: '%s' is not a number (%zu of the others are); levels = {\"%s\"} takes the "
                    "column as categories",
                    place_of_text(schema, column).text, column->sample, column->numbers,
                    column->name);
  return SCL_STATUS_OK;
}

static scl_status decide_target(const csv_schema *schema, const csv_column *column,
                                scl_error *error) {
  if (schema->options->classification == SCL_NO && column->categorical && column->texts > 0)
    return scl_fail(error, SCL_STATUS_BAD_DATA,
                    "%s: '%s' is not a number, and a regression's target is one",
                    place_of_text(schema, column).text, column->sample);
  if (schema->options->classification == SCL_NO && column->categorical)
    return scl_fail(error, SCL_STATUS_BAD_OPTION,
                    "option 'levels' names the target '%s' of a regression", column->name);
  return SCL_STATUS_OK;
}

static scl_status decide_missing(const csv_schema *schema, const csv_column *column,
                                 scl_error *error) {
  if (column->categorical || column->target || column->missing == 0) return SCL_STATUS_OK;
  if (column->numbers == 0)
    return scl_fail(error, SCL_STATUS_BAD_DATA,
                    "%s: column %zu (%s) has no values at all; skip = {\"%s\"} leaves it out",
                    schema->paths[0], (size_t)(column - schema->column) + 1, column->name,
                    column->name);
  return SCL_STATUS_OK;
}

scl_status csv_schema_decide(csv_schema *schema, bool *again, scl_error *error) {
  *again = false;
  for (size_t j = 0; j < schema->columns; j++) {
    csv_column *column = &schema->column[j];
    if (column->skipped) continue;
    SCL_TRY(decide_column(schema, column, error));
    if (column->target) SCL_TRY(decide_target(schema, column, error));
    SCL_TRY(decide_missing(schema, column, error));
    const bool used = column->target || !schema->options->drop_categorical;
    *again = *again || (used && column->categorical && column->numbers > 0);
  }
  return SCL_STATUS_OK;
}

scl_status csv_schema_lay_out(csv_schema *schema, scl_error *error) {
  schema->cols_out = 0;
  for (size_t j = 0; j < schema->columns; j++) {
    csv_column *column = &schema->column[j];
    const bool dropped =
        column->categorical && !column->target && schema->options->drop_categorical;
    if (column->skipped || dropped) continue;
    if (column->categorical && column->levels.overflow)
      return scl_fail(
          error, SCL_STATUS_BAD_DATA,
          "%s: column %zu (%s) has more than %d different texts: that is no category; %s",
          schema->paths[0], j + 1, column->name, CSV_MOST_LEVELS,
          column->target ? "is it the target?" : "option 'skip' leaves it out");
    csv_levels_sort(&column->levels);
    if (column->target) continue;
    column->first_out = schema->cols_out;
    column->outs = column->categorical ? column->levels.count + (column->missing > 0) : 1;
    schema->cols_out += column->outs;
  }
  if (schema->cols_out > 0) return SCL_STATUS_OK;
  return scl_fail(
      error, SCL_STATUS_BAD_DATA, "%s: no column is left for X: it has %zu, separated by '%s'%s",
      schema->paths[0], schema->columns,
      schema->separator == '\t' ? "tab" : (char[]){schema->separator, 0},
      schema->target >= 0 ? ", and one of them is the target (target = false for none)" : "");
}

/* ---------------------------------------------------------------- names and classes */

static char *joined(const char *a, const char *b) {
  const size_t left = strlen(a), right = strlen(b);
  char *text = scl_allocate(left + right + 2);
  if (text == NULL) return NULL;
  memcpy(text, a, left);
  text[left] = '=';
  memcpy(text + left + 1, b, right + 1);
  return text;
}

static bool describe_column(const csv_column *column, char **names) {
  if (!column->categorical) return (names[column->first_out] = scl_copy_text(column->name)) != NULL;
  for (size_t i = 0; i < column->outs; i++) {
    names[column->first_out + i] =
        joined(column->name, i < column->levels.count ? column->levels.list[i].text : "?");
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
    out->class_names[i] = scl_copy_text(column->levels.list[i].text);
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
  return enough ? SCL_STATUS_OK : scl_fail_memory(error, schema->cols_out * 32, "column names");
}
