/* Fields of table rows, as texts and numbers by name, into the columns of a model: the CSV reader's
 * rules for one schema (data/csv/parse.c), for the program's rows in memory. */
#include "base/text.h"
#include "data/number.h"
#include "model/predictor.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

static const char title[] = "scl_predictor_encode";

typedef struct encoding {
  const scl_schema *schema;
  const char *const *names; /* of the fields that are given; NULL: those of the model */
  size_t fields;
  const scl_field *values; /* of all rows */
  size_t *from;            /* for each column of the schema its field; `fields`: skipped */
  size_t unknown;
} encoding;

/* ------------ which field is which */

/* Fields of one name belong to columns of that name in their order, so the search for a column
 * begins behind the field of the last one. */
static size_t find_field(const encoding *e, const bool *taken, const char *name, size_t begin) {
  for (size_t k = 0; k < e->fields; k++) {
    const size_t field = (begin + k) % e->fields;
    if (!taken[field] && strcmp(e->names[field], name) == 0) return field;
  }
  return e->fields;
}

static scl_status match_fields(encoding *e, bool *taken, scl_error *error) {
  size_t next = 0;
  for (size_t j = 0; j < e->fields; j++)
    if (e->names[j] == NULL)
      return scl_fail(error, SCL_STATUS_BAD_OPTION, "%s: the name of field %zu is NULL", title,
                      j + 1);
  for (size_t k = 0; k < e->schema->n_columns; k++) {
    const scl_column *column = &e->schema->columns[k];
    const size_t field =
        column->kind == SCL_COLUMN_SKIPPED ? e->fields : find_field(e, taken, column->name, next);
    e->from[k] = field;
    if (field < e->fields) {
      taken[field] = true;
      next = field + 1;
    } else if (column->kind != SCL_COLUMN_SKIPPED) {
      const char *near = scl_nearest(column->name, (const char **)(uintptr_t)e->names, e->fields);
      return scl_fail(error, SCL_STATUS_BAD_DATA,
                      "%s: the model's field '%.100s' is not among the %zu names given%s%.60s%s",
                      title, column->name, e->fields, near == NULL ? "" : " (is it '",
                      near == NULL ? "" : near, near == NULL ? "" : "'?)");
    }
  }
  for (size_t j = 0; j < e->fields; j++)
    for (size_t k = 0; !taken[j] && k < e->schema->n_columns; k++)
      if (e->from[k] < e->fields && strcmp(e->names[j], e->schema->columns[k].name) == 0)
        return scl_fail(error, SCL_STATUS_BAD_DATA,
                        "%s: the field '%.100s' is given more often than the model has it", title,
                        e->names[j]);
  return SCL_STATUS_OK;
}

/* Set e->from. Without names, fields are those of the model in its order, skipped ones too. */
static scl_status place_fields(encoding *e, scl_error *error) {
  if (e->names == NULL) {
    for (size_t k = 0; k < e->fields; k++)
      e->from[k] = k;
    return e->fields == e->schema->n_columns
               ? SCL_STATUS_OK
               : scl_fail(error, SCL_STATUS_BAD_SHAPE,
                          "%s: %zu fields without names, and the model has %zu: give their names, "
                          "or all of them in the order of scl_predictor_field_name",
                          title, e->fields, e->schema->n_columns);
  }
  bool *taken = scl_allocate_zero((e->fields + 1) * sizeof *taken);
  if (taken == NULL) return scl_fail_memory(error, e->fields, "fields");
  const scl_status status = match_fields(e, taken, error);
  scl_release(taken);
  return status;
}

/* ------------ one field */

typedef struct text {
  const char *at;
  size_t length;
} text;

/* Blanks around a field do not count, as in a file. */
static text trimmed(const char *at) {
  at += strspn(at, " \t");
  size_t length = strlen(at);
  while (length > 0 && strchr(" \t\r\n", at[length - 1]) != NULL)
    length--;
  return (text){at, length};
}

static bool is_text(text t, const char *other) {
  return strncmp(t.at, other, t.length) == 0 && other[t.length] == 0;
}

static bool is_missing(const scl_schema *schema, text t) {
  for (size_t k = 0; k < schema->n_missing; k++)
    if (is_text(t, schema->missing[k])) return true;
  return t.length == 0;
}

/* The place of a level, or n_levels. Levels are in the order of their bytes, unless a file says
 * otherwise. */
static size_t find_level(const scl_column *column, text t) {
  size_t low = 0, high = column->n_levels;
  while (low < high) {
    const size_t middle = (low + high) / 2;
    const int order = strncmp(column->levels[middle], t.at, t.length);
    if (order == 0 && column->levels[middle][t.length] == 0) return middle;
    if (order < 0)
      low = middle + 1;
    else
      high = middle;
  }
  for (low = 0; low < column->n_levels && !is_text(t, column->levels[low]); low++)
    ;
  return low;
}

static scl_status refuse_field(const scl_column *column, size_t row, text t, const char *why,
                               scl_error *error) {
  return scl_fail(error, SCL_STATUS_BAD_DATA, "%s: row %zu, field '%.100s': '%.*s' %s", title,
                  row + 1, column->name, (int)scl_min(t.length, 40), t.at, why);
}

/* *out = the number or date of a text. */
static scl_status read_number(const scl_column *column, size_t row, text t, double *out,
                              scl_error *error) {
  if (column->kind == SCL_COLUMN_DATE)
    return scl_parse_date_as(t.at, t.length, column->order, out)
               ? SCL_STATUS_OK
               : refuse_field(column, row, t, "is not a date in the model's order", error);
  return scl_parse_number(t.at, t.length, out) ||
                 (column->loose && scl_parse_loose_number(t.at, t.length, out))
             ? SCL_STATUS_OK
             : refuse_field(column, row, t, "is not a number", error);
}

static scl_status encode_number(const encoding *e, const scl_column *column, size_t row,
                                const scl_field *value, scl_dtype dtype, double *out,
                                scl_error *error) {
  char shown[32] = "";
  text t = {shown, 0};
  *out = value->number;
  if (value->text != NULL) {
    t = trimmed(value->text);
    *out = NAN;
    if (!is_missing(e->schema, t)) {
      SCL_TRY(read_number(column, row, t, out, error));
      if (!isfinite(*out)) return refuse_field(column, row, t, "is not finite", error);
    }
  } else {
    t.length = scl_format_number(value->number, false, shown);
  }
  if (isnan(*out)) *out = column->fill;
  if (isnan(*out))
    return refuse_field(column, row, t, "is missing, and the model has no number in its place",
                        error);
  if (isinf(*out)) return refuse_field(column, row, t, "is not finite", error);
  if (dtype == SCL_DTYPE_FLOAT32 && isinf((float)*out))
    return refuse_field(column, row, t, "is too large for float32", error);
  return SCL_STATUS_OK;
}

/* The columns of a category in a row, which are 0: one of them becomes 1, or none for a level that
 * the model does not know. */
static void encode_level(encoding *e, const scl_column *column, const scl_field *value,
                         scl_dtype dtype, void *row, size_t first) {
  char shown[32];
  text t = {shown, 0};
  if (value->text != NULL)
    t = trimmed(value->text);
  else if (!isnan(value->number))
    t.length = scl_format_number(value->number, false, shown);
  size_t level = column->n_levels;
  const bool missing = is_missing(e->schema, t);
  if (!missing) level = find_level(column, t);
  if (level < column->n_levels || (missing && column->missing > 0))
    scl_set_number(row, dtype, first + level, 1);
  else
    e->unknown++;
}

/* ------------ all rows */

static scl_status encode_row(encoding *e, size_t row, scl_dtype dtype, void *out,
                             scl_error *error) {
  const scl_field *values = e->values + row * e->fields;
  size_t first = 0;
  for (size_t k = 0; k < e->schema->n_columns; k++) {
    const scl_column *column = &e->schema->columns[k];
    if (column->kind == SCL_COLUMN_SKIPPED) continue;
    const scl_field *value = &values[e->from[k]];
    if (column->kind == SCL_COLUMN_CATEGORY) {
      for (size_t j = 0; j < scl_column_width(column); j++)
        scl_set_number(out, dtype, first + j, 0);
      encode_level(e, column, value, dtype, out, first);
    } else {
      double number;
      SCL_TRY(encode_number(e, column, row, value, dtype, &number, error));
      scl_set_number(out, dtype, first, number);
    }
    first += scl_column_width(column);
  }
  return SCL_STATUS_OK;
}

static scl_status check_call(const scl_predictor *p, size_t fields, const scl_field *values,
                             scl_buffer *rows, scl_error *error) {
  const size_t most = PTRDIFF_MAX / sizeof(scl_field);
  if (p->schema == NULL)
    return scl_fail(error, SCL_STATUS_UNSUPPORTED,
                    "%s: the model has no fields: it did not learn from a CSV table, or from one "
                    "with computed columns",
                    title);
  SCL_TRY(scl_buffer_check("rows", rows, error));
  if (fields >= most || rows->count > most / (fields + 1))
    return scl_fail(error, SCL_STATUS_BAD_SHAPE,
                    "%s: %zu rows of %zu fields are more than any memory holds", title, rows->count,
                    fields);
  if (rows->count > 0 && values == NULL && fields > 0)
    return scl_fail(error, SCL_STATUS_BAD_OPTION, "%s: the buffer of values is NULL", title);
  return SCL_STATUS_OK;
}

/* Rows are checked by encoding them into one row apart, so that nothing is written before all are
 * known to be right. */
static scl_status encode_rows(encoding *e, size_t count, scl_dtype dtype, void *rows, size_t stride,
                              void *apart, scl_error *error) {
  SCL_TRY(place_fields(e, error));
  for (size_t i = 0; i < count; i++)
    SCL_TRY(encode_row(e, i, dtype, apart, error));
  e->unknown = 0;
  for (size_t i = 0; i < count; i++)
    SCL_TRY(encode_row(e, i, dtype, scl_at_mutable(rows, dtype, (ptrdiff_t)(i * stride)), error));
  return SCL_STATUS_OK;
}

scl_status scl_predictor_encode(const scl_predictor *p, const char *const *names, size_t fields,
                                const scl_field *values, size_t count, scl_dtype dtype, void *rows,
                                size_t stride, size_t *unknown, scl_error *error) {
  if (p == NULL)
    return scl_fail(error, SCL_STATUS_BAD_OPTION, "%s: takes a predictor, and got NULL", title);
  scl_buffer buffer = {title, rows, dtype, count, p->parts.dim, stride};
  SCL_TRY(check_call(p, fields, values, &buffer, error));
  encoding e = {.schema = p->schema, .names = names, .fields = fields, .values = values};
  e.from = scl_allocate_array(e.schema->n_columns + 1, sizeof *e.from);
  void *apart = scl_allocate_array(p->parts.dim + 1, sizeof(double));
  scl_status status = e.from == NULL || apart == NULL
                          ? scl_fail_memory(error, p->parts.dim * sizeof(double), "a row")
                          : encode_rows(&e, count, dtype, rows, buffer.stride, apart, error);
  if (status == SCL_STATUS_OK && unknown != NULL) *unknown = e.unknown;
  SCL_RELEASE(e.from, apart);
  return status;
}
