/* What the columns are: header, names, target; then, once all fields were looked at, numbers or
 * categories. */
#include "base/text.h"
#include "data/csv_internal.h"
#include "data/number.h"

#include <math.h>
#include <stdio.h>

enum { LINES_LOOKED_AT = 50 };

csv_place csv_say_place(const csv_schema *schema, size_t file, size_t row, size_t column,
                        size_t line) {
  csv_place place;
  if (column < schema->columns)
    (void)snprintf(place.text, sizeof place.text, "%.400s: row %zu, column %zu (%.100s), line %zu",
                   schema->paths[file], row + 1, column + 1, schema->column[column].name, line);
  else
    (void)snprintf(place.text, sizeof place.text, "%.400s: row %zu, line %zu", schema->paths[file],
                   row + 1, line);
  return place;
}

size_t csv_line_of(const csv_chunk *chunk, const char *at) {
  if (chunk->first_line > 0) return chunk->first_line + csv_count_lines(chunk->text, at);
  return 1 + csv_count_lines(chunk->beginning, at);
}

/* ---------------------------------------------------------------- the first lines */

static size_t count_fields(const char *text, const char *end, char separator) {
  const char *stop = text;
  for (size_t fields = 1;; fields++) {
    (void)csv_read_field(text, end, separator, &stop);
    if (stop >= end || *stop == '\n') return fields;
    text = stop + 1;
  }
}

/* The one that cuts the first lines into most fields, all alike. `usual`: that of the schema, if
 * any. */
static char find_separator(const char *text, const char *end, char usual) {
  const char candidates[] = {',', ';', '\t', usual, 0};
  char chosen = ',';
  size_t best = 1;
  for (const char *c = candidates; *c != 0; c++) {
    const size_t fields = count_fields(text, end, *c);
    const char *at = csv_line_end(text, end, *c), *next;
    bool alike = true;
    for (size_t k = 0; k < 5 && at < end; at = csv_line_end(at, end, *c), k++)
      alike = alike && (csv_blank_line(at, end, *c, &next) || count_fields(at, end, *c) == fields);
    if (fields > 1 && (alike ? 1000000 + fields : fields) > best) {
      best = alike ? 1000000 + fields : fields;
      chosen = *c;
    }
  }
  return chosen;
}

static bool same_text(csv_field a, csv_field b) {
  return a.length == b.length && memcmp(a.text, b.text, a.length) == 0;
}

/* Does the field at column j come again in that column of the next lines? Then it is a value, no
 * name. */
static bool comes_again(const csv_schema *schema, csv_field field, size_t j, const char *at,
                        const char *end) {
  for (size_t k = 0; k < LINES_LOOKED_AT && at < end; k++) {
    const char *field_at = at, *stop = at;
    for (size_t i = 0; i <= j; i++, field_at = stop + 1) {
      const csv_field other = csv_read_field(field_at, end, schema->separator, &stop);
      if (i == j && same_text(field, other)) return true;
      if (stop >= end || *stop == '\n') break;
    }
    at = csv_line_end(at, end, schema->separator);
  }
  return false;
}

static bool any_number(const csv_schema *schema, const char *at, const char *end) {
  double number;
  for (const char *stop = at; at < end; at = stop + 1) {
    const csv_field field = csv_read_field(at, end, schema->separator, &stop);
    if (!csv_is_missing(&schema->missing, field) &&
        scl_parse_number(field.text, field.length, &number))
      return true;
    if (stop >= end || *stop == '\n') break;
  }
  return false;
}

/* Names hold no number. Where the second line holds none either, all is text: then a name is a text
 * that does not come again below it. */
static bool first_line_is_header(const csv_schema *schema, const char *text, const char *end) {
  const char *second = csv_line_end(text, end, schema->separator), *stop = text;
  if (any_number(schema, text, end)) return false;
  if (second >= end || any_number(schema, second, end)) return true;
  for (size_t j = 0; text < end; j++, text = stop + 1) {
    const csv_field field = csv_read_field(text, end, schema->separator, &stop);
    if (field.length > 0 &&
        (csv_is_missing(&schema->missing, field) || comes_again(schema, field, j, second, end)))
      return false;
    if (stop >= end || *stop == '\n') break;
  }
  return true;
}

static bool listed(const char *const *list, const char *name) {
  for (; list != NULL && *list != NULL; list++)
    if (strcmp(*list, name) == 0) return true;
  return false;
}

/* A copy of the field's text, or of `made` where it is empty. */
static char *name_of(csv_field field, const char *made) {
  if (field.length == 0) return scl_copy_text(made);
  char *name = scl_allocate(field.length + 1);
  if (name == NULL) return NULL;
  field = csv_unescape(field, name);
  name[field.length] = 0;
  return name;
}

static scl_status name_columns(csv_schema *schema, const char *at, const char *end,
                               scl_error *error) {
  const scl_csv_options *o = schema->options;
  const char *const *given = o->names;
  for (size_t j = 0; j < schema->columns; j++) {
    const char *stop;
    char made[32];
    csv_column *column = &schema->column[j];
    const csv_field field =
        schema->header ? csv_read_field(at, end, schema->separator, &stop) : (csv_field){0};
    const bool by_place = o->like != NULL && (o->like->by_place || !schema->header);
    const char *known = by_place ? csv_like_name(schema, j) : NULL;
    if (schema->header) at = stop + 1;
    (void)snprintf(made, sizeof made, "x%zu", j + 1);
    column->fill = NAN;
    column->name = given != NULL ? (*given == NULL ? NULL : scl_copy_text(*given))
                                 : name_of(known != NULL ? (csv_field){0} : field,
                                           known != NULL ? known : made);
    if (given != NULL && *given == NULL) break;
    if (column->name == NULL) return scl_fail_memory(error, field.length, "column names");
    if (given != NULL) given++;
    if (o->like != NULL) continue;
    column->skipped = listed(o->skip, column->name);
    column->forced_levels = listed(o->levels, column->name);
    column->forced_numbers = listed(o->numeric, column->name);
  }
  size_t names = 0;
  while (o->names != NULL && o->names[names] != NULL)
    names++;
  if (o->names != NULL && names != schema->columns)
    return scl_fail(error, SCL_STATUS_BAD_OPTION,
                    "option 'columns' has %zu names, and %s has %zu columns", names,
                    schema->paths[0], schema->columns);
  return SCL_STATUS_OK;
}

/* ---------------------------------------------------------------- columns that options name */

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

static scl_status check_listed(const csv_schema *schema, const char *const *list,
                               const char *option, scl_error *error) {
  for (; list != NULL && *list != NULL; list++) {
    bool found = false;
    for (size_t j = 0; j < schema->columns; j++)
      found = found || strcmp(schema->column[j].name, *list) == 0;
    if (!found) return refuse_name(schema, option, *list, error);
  }
  return SCL_STATUS_OK;
}

static scl_status find_named_target(csv_schema *schema, const char *name, scl_error *error) {
  for (size_t j = 0; j < schema->columns; j++) {
    if (strcmp(schema->column[j].name, name) != 0) continue;
    if (schema->target >= 0)
      return scl_fail(error, SCL_STATUS_BAD_OPTION,
                      "%s: columns %ld and %zu are both called '%s'; give the target's number",
                      schema->paths[0], schema->target + 1, j + 1, name);
    schema->target = (long)j;
  }
  return schema->target < 0 ? refuse_name(schema, "target", name, error) : SCL_STATUS_OK;
}

/* The schema's target, where the file has it and the user said nothing. */
static void find_usual_target(csv_schema *schema) {
  const scl_schema *like = schema->options->like;
  schema->target = -1;
  for (size_t j = 0; like->target != NULL && j < schema->columns && schema->target < 0; j++)
    if (strcmp(schema->column[j].name, like->target) == 0) schema->target = (long)j;
  if (schema->target >= 0) schema->column[schema->target].target = true;
}

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

static scl_status match_columns(csv_schema *schema, scl_error *error) {
  const scl_csv_options *o = schema->options;
  if (o->like == NULL) {
    SCL_TRY(check_listed(schema, o->skip, "skip", error));
    SCL_TRY(check_listed(schema, o->levels, "levels", error));
    SCL_TRY(check_listed(schema, o->numeric, "numeric", error));
    return find_target(schema, error);
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
  return csv_like_match(schema, error);
}

static bool find_header(const csv_schema *schema, const char *text, const char *end) {
  const scl_csv_options *o = schema->options;
  if (o->header != SCL_AUTO) return o->header == SCL_YES;
  return o->like == NULL || o->like->by_place
             ? first_line_is_header(schema, text, end)
             : o->like->header || csv_like_header(schema, text, end);
}

/* Past a byte order mark and empty lines. */
static const char *first_line(const char *text, const char *end) {
  const char *next = text;
  if (end - text >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0) text += 3;
  while (text < end && csv_blank_line(text, end, 0, &next))
    text = next;
  return text;
}

scl_status csv_schema_open(csv_schema *schema, const char *text, const char *end, const char **body,
                           scl_error *error) {
  const scl_csv_options *o = schema->options;
  csv_missing_prepare(&schema->missing, o->missing);
  text = first_line(text, end);
  if (text >= end)
    return scl_fail(error, SCL_STATUS_BAD_DATA, "%s: the file is empty", schema->paths[0]);
  if (memchr(text, 0, (size_t)(csv_line_end(text, end, 0) - text)) != NULL)
    return scl_fail(error, SCL_STATUS_BAD_DATA,
                    "%s: line 1 holds a zero byte: this is no text, or text in UTF-16",
                    schema->paths[0]);
  schema->separator = o->separator != 0
                          ? o->separator
                          : find_separator(text, end, o->like == NULL ? 0 : o->like->separator);
  schema->header = find_header(schema, text, end);
  const size_t columns = count_fields(text, end, schema->separator);
  schema->column = scl_allocate_zero(columns * sizeof *schema->column);
  if (schema->column == NULL)
    return scl_fail_memory(error, columns * sizeof *schema->column, "columns");
  schema->columns = columns;
  SCL_TRY(name_columns(schema, text, end, error));
  *body = schema->header ? csv_line_end(text, end, schema->separator) : text;
  return match_columns(schema, error);
}

scl_status csv_schema_skip_header(const csv_schema *schema, size_t file, const char *text,
                                  const char *end, const char **body, scl_error *error) {
  const char *at = *body = first_line(text, end), *stop = at;
  if (!schema->header) return SCL_STATUS_OK;
  if (at >= end)
    return scl_fail(error, SCL_STATUS_BAD_DATA, "%s: the file is empty", schema->paths[file]);
  *body = csv_line_end(at, end, schema->separator);
  const scl_csv_options *o = schema->options;
  if (o->names != NULL || (o->like != NULL && o->like->by_place)) return SCL_STATUS_OK;
  for (size_t j = 0; j < schema->columns; j++, at = stop + 1) {
    const csv_field field = csv_read_field(at, end, schema->separator, &stop);
    const bool same = field.escaped || field.length == 0 ||
                      (field.length == strlen(schema->column[j].name) &&
                       memcmp(field.text, schema->column[j].name, field.length) == 0);
    if (!same)
      return scl_fail(error, SCL_STATUS_BAD_DATA,
                      "%s: column %zu is called '%.*s' in its header, and '%s' in that of %s",
                      schema->paths[file], j + 1, (int)scl_min(field.length, 60), field.text,
                      schema->column[j].name, schema->paths[0]);
    if (stop >= end || *stop == '\n') break; /* too few: its first row will say so */
  }
  return SCL_STATUS_OK;
}

void csv_schema_close(csv_schema *schema) {
  for (size_t j = 0; schema->column != NULL && j < schema->columns; j++) {
    scl_release(schema->column[j].name);
    csv_levels_release(&schema->column[j].levels);
  }
  SCL_RELEASE(schema->column, schema->unknown);
  schema->column = NULL;
  schema->unknown = NULL;
}
