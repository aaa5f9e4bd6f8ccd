/* The columns of a model's rows: their names, and the schema of the CSV table that they come
 * from. */
#include "base/text.h"
#include "data/csv/csv.h"
#include "model/restore.h"
#include <math.h>
#include <string.h>

/* Copy a list of texts. `what` names one of them in errors ("a level of a column"). *count is the
 * number copied so far, also after a failure: the caller releases so many. */
static scl_status read_texts(const scl_saved *saved, const cJSON *list, const char *what,
                             char ***out, size_t *count, scl_error *error) {
  char shown[60];
  *out = scl_allocate_zero((scl_saved_count(list) + 1) * sizeof **out);
  if (*out == NULL) return scl_fail_memory(error, sizeof **out, "names");
  for (const cJSON *item = list->child; item != NULL; item = item->next) {
    char **text = &(*out)[*count];
    SCL_TRY(scl_saved_text(saved, item, text, error));
    ++*count;
    if (*text == NULL)
      return scl_fail(error, SCL_STATUS_BAD_DATA, "%s is %s", what,
                      scl_saved_shown(item, shown, sizeof shown));
  }
  return SCL_STATUS_OK;
}

scl_status scl_saved_names(const scl_saved *saved, const cJSON *from, size_t dim, char ***out,
                           scl_error *error) {
  const cJSON *list;
  size_t count = 0;
  if (scl_saved_find(from, "names") == NULL) return SCL_STATUS_OK;
  SCL_TRY(scl_saved_table(from, "names", &list, error));
  if (!scl_saved_is_list(list))
    return scl_fail(error, SCL_STATUS_BAD_DATA, "its 'names' of columns are not a list");
  if (scl_saved_count(list) != dim)
    return scl_fail(error, SCL_STATUS_BAD_DATA,
                    "the number of its names of columns: %zu, where %zu belongs",
                    scl_saved_count(list), dim);
  const scl_status status = read_texts(saved, list, "a name of its columns", out, &count, error);
  if (status == SCL_STATUS_OK) return status;
  scl_release_texts(*out, count);
  *out = NULL;
  return status;
}

/* Which part of a date comes first; years, where the file does not say. */
static scl_date_order read_order(const cJSON *from) {
  const char *order = NULL;
  (void)scl_saved_opt_word(from, "order", &order, NULL);
  for (int k = 0; order != NULL && k < SCL_DATE_ORDERS; k++)
    if (strcmp(order, scl_date_order_names[k]) == 0) return (scl_date_order)k;
  return SCL_YEAR_FIRST;
}

/* The texts that mean a missing value; those of the CSV reader where the file has no list. */
static scl_status read_missing(const scl_saved *saved, const cJSON *schema, scl_schema *out,
                               scl_error *error) {
  const cJSON *list = scl_saved_find(schema, "missing");
  if (list != NULL && scl_saved_is_list(list))
    return read_texts(saved, list, "a text for missing values", &out->missing, &out->n_missing,
                      error);
  scl_csv_options options;
  scl_csv_defaults(&options);
  while (options.missing[out->n_missing] != NULL)
    out->n_missing++;
  out->missing = scl_copy_texts(options.missing, out->n_missing);
  return out->missing != NULL ? SCL_STATUS_OK : scl_fail_memory(error, 1, "a schema");
}

/* Read one column of the schema: its name, kind, number of missing values, the value that fills
 * them and, for a category, its levels. */
static scl_status read_column(const scl_saved *saved, const cJSON *from, scl_column *column,
                              scl_error *error) {
  static const char *const kinds[] = {"number", "category", "date", "skipped"};
  const char *kind;
  size_t place = 0;
  column->fill = NAN;
  SCL_TRY(scl_saved_text(saved, scl_saved_find(from, "name"), &column->name, error));
  SCL_TRY(scl_saved_word(from, "kind", &kind, error));
  while (place < sizeof kinds / sizeof *kinds && strcmp(kind, kinds[place]) != 0)
    place++;
  if (column->name == NULL || place == sizeof kinds / sizeof *kinds)
    return scl_fail(error, SCL_STATUS_BAD_DATA,
                    "its schema has a column without a name, or of a kind that is not known");
  column->kind = (scl_column_kind)place;
  SCL_TRY(scl_saved_opt_whole(saved, from, "missing", 0, (size_t)1 << 53, &column->missing, error));
  (void)scl_saved_number(saved, scl_saved_find(from, "fill"), &column->fill);
  (void)scl_saved_flag(from, "loose", &column->loose, NULL);
  column->order = read_order(from);
  if (column->kind != SCL_COLUMN_CATEGORY) return SCL_STATUS_OK;
  const cJSON *levels;
  SCL_TRY(scl_saved_table(from, "levels", &levels, error));
  return read_texts(saved, levels, "a level of a column", &column->levels, &column->n_levels,
                    error);
}

/* Only a CSV table has kinds and levels of its columns; other formats have at most names. Rows with
 * computed columns have no schema either: a program that loads the model cannot evaluate the
 * expressions. */
scl_status scl_saved_schema(const scl_saved *saved, size_t dim, scl_schema **out,
                            scl_error *error) {
  const cJSON *fields = scl_saved_find(scl_saved_find(saved->body, "model"), "fields"),
              *schema = scl_saved_find(fields, "schema"), *list;
  const char *format = NULL;
  *out = NULL;
  (void)scl_saved_opt_word(schema, "format", &format, NULL);
  if (format == NULL || strcmp(format, "csv") != 0 || scl_saved_find(schema, "derived") != NULL)
    return SCL_STATUS_OK;
  SCL_TRY(scl_saved_table(schema, "columns", &list, error));
  scl_schema *made = scl_allocate_zero(sizeof *made);
  if (made == NULL) return scl_fail_memory(error, sizeof *made, "a schema");
  made->columns = scl_allocate_zero((scl_saved_count(list) + 1) * sizeof *made->columns);
  scl_status status = made->columns == NULL
                          ? scl_fail_memory(error, sizeof *made->columns, "a schema")
                          : SCL_STATUS_OK;
  if (status == SCL_STATUS_OK) status = read_missing(saved, schema, made, error);
  const cJSON *item = list->child;
  for (; status == SCL_STATUS_OK && item != NULL; item = item->next)
    status = read_column(saved, item, &made->columns[made->n_columns++], error);
  if (status == SCL_STATUS_OK && scl_schema_cols(made) == dim)
    *out = made;
  else
    scl_schema_destroy(made); /* a failure, or the rows no longer have these columns */
  return status;
}
