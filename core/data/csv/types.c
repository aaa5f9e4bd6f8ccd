/* Decides, once all fields were scanned, what each column is, and lays out the columns of X. */
#include "data/csv/internal.h"

/* The place of the column's first text, for errors. Line breaks are only counted now. */
static csv_place place_of_text(const csv_schema *schema, const csv_column *column) {
  const size_t before =
      column->text_from == NULL ? 0 : csv_count_lines(column->text_from, column->text_to);
  return csv_say_place(schema, column->text_file, column->text_row,
                       (size_t)(column - schema->column), before + column->text_line);
}

/* "5%" and "1,000.50" are numbers to a reader, and texts to a program. */
static scl_status refuse_formatted(const csv_schema *schema, const csv_column *column,
                                   scl_error *error) {
  return scl_fail(error, SCL_STATUS_BAD_DATA,
                  "%s: '%s' is not a plain number, and column '%s' has %zu such fields; numeric = "
                  "{\"%s\"} reads $1,000.50 as 1000.5 and 5%% as 5 (a decimal comma is not read), "
                  "skip = {\"%s\"} leaves the column out, levels = {\"%s\"} takes it as categories",
                  place_of_text(schema, column).text, column->sample, column->name,
                  column->formatted, column->name, column->name, column->name);
}

/* The order in which most texts are dates; of day and month, the one that the user said. */
static scl_date_order find_order(const csv_schema *schema, const csv_column *column) {
  const size_t *orders = column->orders;
  const int last =
      orders[SCL_MONTH_FIRST] > orders[SCL_DAY_FIRST] ? SCL_MONTH_FIRST : SCL_DAY_FIRST;
  const int said = schema->options->dates > 0 ? schema->options->dates : last;
  return (scl_date_order)(orders[said] > orders[SCL_YEAR_FIRST] ? said : SCL_YEAR_FIRST);
}

/* Dates become numbers of days, where all texts are dates, or nearly all: the others are then
 * refused with their line. */
static bool becomes_date(const csv_schema *schema, csv_column *column) {
  enum { FEW = 3 };
  column->order = find_order(schema, column);
  const size_t count = column->orders[column->order],
               others = column->texts + column->numbers - count;
  if (column->target || count == 0) return false;
  return others == 0 || (count >= FEW && count > 4 * others);
}

/* Refuses dates that can all be read in both orders, as 01/02/2024, unless the user said which. */
static scl_status check_order(const csv_schema *schema, const csv_column *column,
                              scl_error *error) {
  if (column->order == SCL_YEAR_FIRST || schema->options->dates > 0 ||
      column->orders[SCL_DAY_FIRST] != column->orders[SCL_MONTH_FIRST])
    return SCL_STATUS_OK;
  return scl_fail(error, SCL_STATUS_BAD_DATA,
                  "%s: the column '%s' holds dates, such as '%s', and none says whether the day or "
                  "the month comes first: dates = \"day\" or dates = \"month\" does",
                  schema->paths[0], column->name, column->sample);
}

/* Makes a column of texts one of dates; its levels are no longer needed. */
static void make_date(csv_column *column) {
  csv_levels_release(&column->levels);
  column->date = true;
  column->categorical = false;
  column->numbers += column->texts;
  column->texts = 0;
}

/* Number, category or date. A few texts among many numbers are taken for mistakes and refused. */
static scl_status decide_column(const csv_schema *schema, csv_column *column, scl_error *error) {
  const bool declared = csv_declared_numeric(schema, column);
  column->categorical = column->forced_levels || column->texts > 0;
  column->loose = declared && column->formatted > 0;
  if (column->texts == 0 || column->forced_levels) return SCL_STATUS_OK;
  if (!declared && becomes_date(schema, column)) {
    SCL_TRY(check_order(schema, column, error));
    make_date(column);
    return SCL_STATUS_OK;
  }
  if (!declared && 2 * column->formatted > column->texts)
    return refuse_formatted(schema, column, error);
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

/* Refuses a column of numbers that are all missing. */
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

/* Weights are numbers, times are numbers or dates, and none of them is missing. */
static scl_status decide_role(const csv_schema *schema, const csv_column *column,
                              scl_error *error) {
  size_t role = 0;
  while (schema->role[role] != column - schema->column)
    role++;
  const char *name = scl_column_role_names[role];
  if (role != SCL_COLUMN_ROLE_GROUPS && column->categorical)
    return scl_fail(error, SCL_STATUS_BAD_DATA, "%s: '%s' is not %s, and option '%s' names '%s'",
                    place_of_text(schema, column).text, column->sample,
                    role == SCL_COLUMN_ROLE_TIME ? "a number or a date" : "a number", name,
                    column->name);
  if (role == SCL_COLUMN_ROLE_WEIGHTS && column->date)
    return scl_fail(error, SCL_STATUS_BAD_DATA,
                    "%s: the column '%s' holds dates, and option 'weights' takes numbers",
                    schema->paths[0], column->name);
  if (column->missing > 0)
    return scl_fail(error, SCL_STATUS_BAD_DATA,
                    "%s: the column '%s' has %zu missing value%s, and option '%s' takes a column "
                    "without",
                    schema->paths[0], column->name, column->missing,
                    column->missing == 1 ? "" : "s", name);
  return SCL_STATUS_OK;
}

scl_status csv_schema_decide(csv_schema *schema, bool *again, scl_error *error) {
  *again = false;
  for (size_t j = 0; j < schema->columns; j++) {
    csv_column *column = &schema->column[j];
    if (column->skipped) continue;
    const bool found = schema->options->like == NULL || column->target || column->aside;
    if (!found) continue;
    SCL_TRY(decide_column(schema, column, error));
    if (column->target) SCL_TRY(decide_target(schema, column, error));
    if (column->aside) SCL_TRY(decide_role(schema, column, error));
    SCL_TRY(decide_missing(schema, column, error));
    const bool used = column->target || column->aside || !schema->options->drop_categorical;
    *again = *again || (used && column->categorical && column->numbers > 0);
  }
  return SCL_STATUS_OK;
}

/* Refuses a category that has a different text in most rows, as it would need a column of X for
 * each. */
static scl_status refuse_unique(const csv_schema *schema, const csv_column *column,
                                scl_error *error) {
  const size_t fields = column->numbers + column->texts, levels = column->levels.count;
  const char *name = column->name;
  if (column->forced_levels || levels < 20 || 2 * levels <= fields) return SCL_STATUS_OK;
  if (column->target)
    return scl_fail(error, SCL_STATUS_BAD_DATA,
                    "%s: the target '%s' has %zu different texts in %zu rows, which are not "
                    "classes: option 'target' names another column, levels = {\"%s\"} takes it as "
                    "it is",
                    schema->paths[0], name, levels, fields, name);
  return scl_fail(
      error, SCL_STATUS_BAD_DATA,
      "%s: column %zu (%s) has %zu different texts in %zu rows, such as '%s': too many "
      "for one column of X each; skip = {\"%s\"} leaves it out, levels = {\"%s\"} takes "
      "it as categories, numeric = {\"%s\"} wants numbers",
      schema->paths[0], (size_t)(column - schema->column) + 1, name, levels, fields, column->sample,
      name, name, name);
}

static scl_status lay_out_target(csv_schema *schema, scl_error *error) {
  csv_column *column = &schema->column[schema->target];
  if (!column->categorical) return SCL_STATUS_OK;
  if (column->levels.count > SCL_MOST_LABELS)
    return scl_fail(error, SCL_STATUS_BAD_DATA,
                    "%s: column %ld (%s) has more than %d different texts: is it the target?",
                    schema->paths[0], schema->target + 1, column->name, SCL_MOST_LABELS);
  csv_levels_sort(&column->levels);
  return schema->options->like == NULL ? refuse_unique(schema, column, error) : SCL_STATUS_OK;
}

/* Columns with a role come last in X, one each. */
static scl_status lay_out_roles(csv_schema *schema, scl_error *error) {
  for (size_t k = 0; k < SCL_COLUMN_ROLES; k++) {
    if (schema->role[k] < 0) continue;
    csv_column *column = &schema->column[schema->role[k]];
    if (column->categorical && column->levels.overflow)
      return scl_fail(error, SCL_STATUS_BAD_DATA,
                      "%s: the column '%s' has more than %d different texts: too many groups",
                      schema->paths[0], column->name, CSV_MOST_LEVELS);
    csv_levels_sort(&column->levels);
    column->first_out = schema->cols_out++;
    column->outs = 1;
  }
  return SCL_STATUS_OK;
}

static scl_status lay_out_features(csv_schema *schema, scl_error *error) {
  if (schema->options->like != NULL) return csv_like_lay_out(schema, error);
  schema->cols_out = 0;
  for (size_t j = 0; j < schema->columns; j++) {
    csv_column *column = &schema->column[j];
    const bool dropped = column->categorical && schema->options->drop_categorical;
    if (column->skipped || column->target || column->aside || dropped) continue;
    if (column->categorical && column->levels.overflow)
      return scl_fail(
          error, SCL_STATUS_BAD_DATA,
          "%s: column %zu (%s) has more than %d different texts: that is not a category; "
          "option 'skip' leaves it out",
          schema->paths[0], j + 1, column->name, CSV_MOST_LEVELS);
    csv_levels_sort(&column->levels);
    SCL_TRY(refuse_unique(schema, column, error));
    column->missing_level = column->categorical && column->missing > 0;
    column->first_out = schema->cols_out;
    column->outs = column->categorical ? column->levels.count + column->missing_level : 1;
    schema->cols_out += column->outs;
  }
  if (schema->cols_out > 0) return SCL_STATUS_OK;
  bool roles = false;
  for (size_t k = 0; k < SCL_COLUMN_ROLES; k++)
    roles = roles || schema->role[k] >= 0;
  return scl_fail(
      error, SCL_STATUS_BAD_DATA, "%s: no column is left for X: it has %zu, separated by '%s'%s%s",
      schema->paths[0], schema->columns,
      schema->separator == '\t' ? "tab" : (char[]){schema->separator, 0},
      schema->target >= 0 ? ", and one of them is the target (target = false for none)" : "",
      roles ? "; columns of weights, groups and time are not features" : "");
}

scl_status csv_schema_lay_out(csv_schema *schema, scl_error *error) {
  if (schema->target >= 0) SCL_TRY(lay_out_target(schema, error));
  SCL_TRY(lay_out_features(schema, error));
  return lay_out_roles(schema, error);
}
