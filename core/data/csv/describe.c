/* The result of reading as names, classes, schema and notes. The schema lets another file be read
 * in the same way. */
#include "base/text.h"
#include "data/csv/internal.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>

/* ------------ names and classes */

/* "column=level", which the caller releases; NULL: no memory. */
static char *joined(const char *a, const char *b) {
  const size_t left = strlen(a), right = strlen(b);
  char *text = scl_allocate(left + right + 2);
  if (text == NULL) return NULL;
  memcpy(text, a, left);
  text[left] = '=';
  memcpy(text + left + 1, b, right + 1);
  return text;
}

/* The names of one column's columns of X. False: no memory. */
static bool describe_column(const csv_column *column, char **names) {
  if (!column->categorical || column->aside)
    return (names[column->first_out] = scl_copy_text(column->name)) != NULL;
  for (size_t i = 0; i < column->outs; i++) {
    names[column->first_out + i] =
        joined(column->name, i < column->levels.count ? column->levels.list[i].text : "?");
    if (names[column->first_out + i] == NULL) return false;
  }
  return true;
}

/* Name and classes of the target. False: no memory. */
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

/* Whether a column of this name probably holds class labels; case does not count. */
static bool is_label_name(const char *name) {
  static const char *const names[] = {"class", "classes", "label", "labels", "target"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    size_t k = 0;
    while (name[k] != 0 && tolower((unsigned char)name[k]) == names[i][k])
      k++;
    if (name[k] == 0 && names[i][k] == 0) return true;
  }
  return false;
}

bool csv_may_be_labels(const csv_schema *schema, bool *named) {
  if (schema->target < 0 || schema->options->classification != SCL_AUTO) return false;
  const csv_column *column = &schema->column[schema->target];
  *named = is_label_name(column->name);
  return !column->categorical;
}

/* ------------ the schema */

static scl_column_kind kind_of(const csv_column *column) {
  if (column->outs == 0) return SCL_COLUMN_SKIPPED;
  if (column->categorical) return SCL_COLUMN_CATEGORY;
  return column->date ? SCL_COLUMN_DATE : SCL_COLUMN_NUMBER;
}

/* Copies what one column became. False: no memory. */
static bool export_column(const csv_column *from, scl_column *to) {
  *to = (scl_column){.kind = kind_of(from),
                     .loose = from->loose,
                     .order = from->order,
                     .fill = from->fill,
                     .name = scl_copy_text(from->name)};
  if (to->name == NULL) return false;
  if (to->kind != SCL_COLUMN_SKIPPED) to->missing = from->missing;
  if (to->kind != SCL_COLUMN_CATEGORY) return true;
  to->fill = NAN;
  to->levels = scl_allocate_zero((from->levels.count + 1) * sizeof *to->levels);
  if (to->levels == NULL) return false;
  for (size_t i = 0; i < from->levels.count; i++) {
    to->levels[i] = scl_copy_text(from->levels.list[i].text);
    to->n_levels = i + 1;
    if (to->levels[i] == NULL) return false;
  }
  return true;
}

/* All columns but the target and those with a role. False: no memory. */
static bool export_columns(const csv_schema *schema, scl_schema *to) {
  const scl_csv_options *o = schema->options;
  to->separator = schema->separator;
  to->header = schema->header;
  to->drop_categorical = o->drop_categorical;
  to->missing_values = o->fill;
  while (o->missing[to->n_missing] != NULL)
    to->n_missing++;
  to->missing = scl_copy_texts(o->missing, to->n_missing);
  to->columns = scl_allocate_zero((schema->columns + 1) * sizeof *to->columns);
  if (to->missing == NULL || to->columns == NULL) return false;
  for (size_t j = 0; j < schema->columns; j++) {
    if (schema->column[j].target || schema->column[j].aside) continue;
    if (!export_column(&schema->column[j], &to->columns[to->n_columns++])) return false;
  }
  return true;
}

/* The target of this file, which may differ from that of the schema it was read by. False: no
 * memory. */
static bool export_target(const csv_schema *schema, const scl_table *table, scl_schema *to) {
  scl_release(to->target);
  to->target = NULL;
  to->target_place = 0;
  to->target_is_category = to->classification = false;
  if (schema->target < 0) return true;
  to->target = scl_copy_text(schema->column[schema->target].name);
  to->target_place = (size_t)schema->target + 1;
  to->target_is_category = schema->column[schema->target].categorical;
  to->classification = table->classification;
  return to->target != NULL;
}

static bool export_roles(const csv_schema *schema, scl_schema *to) {
  for (size_t k = 0; k < SCL_COLUMN_ROLES; k++) {
    scl_release(to->roles[k]);
    to->roles[k] = NULL;
    if (schema->role[k] < 0) continue;
    to->roles[k] = scl_copy_text(schema->column[schema->role[k]].name);
    if (to->roles[k] == NULL) return false;
  }
  const long time = schema->role[SCL_COLUMN_ROLE_TIME];
  to->time_in_dates = time >= 0 && schema->column[time].date;
  return true;
}

scl_status csv_export(const csv_schema *schema, scl_table *out, scl_error *error) {
  const scl_schema *like = schema->options->like;
  out->schema = like != NULL ? scl_schema_copy(like) : scl_allocate_zero(sizeof *out->schema);
  if (out->schema == NULL || (like == NULL && !export_columns(schema, out->schema)) ||
      !export_target(schema, out, out->schema) || !export_roles(schema, out->schema))
    return scl_fail_memory(error, schema->columns * sizeof(scl_column), "a schema");
  return csv_notes(schema, &out->notes, &out->n_notes, error);
}

/* ------------ notes */

static void add_note(scl_note *notes, size_t *count, scl_note_kind kind, const char *column,
                     size_t times) {
  scl_note *note = &notes[(*count)++];
  *note = (scl_note){.kind = kind, .count = times};
  (void)snprintf(note->column, sizeof note->column, "%s", column);
}

scl_status csv_notes(const csv_schema *schema, scl_note **notes, size_t *count, scl_error *error) {
  *count = 0;
  *notes = scl_allocate_array(2 * schema->columns + 2, sizeof **notes);
  if (*notes == NULL) return scl_fail_memory(error, schema->columns * sizeof **notes, "notes");
  for (size_t j = 0; j < schema->columns; j++) {
    const csv_column *column = &schema->column[j];
    const csv_unknown *unknown = schema->unknown == NULL ? NULL : &schema->unknown[j];
    if (column->extra) add_note(*notes, count, SCL_NOTE_EXTRA, column->name, 1);
    if (unknown != NULL && unknown->count > 0) {
      add_note(*notes, count, SCL_NOTE_UNKNOWN, column->name, unknown->count);
      memcpy((*notes)[*count - 1].example, unknown->example, sizeof unknown->example);
    }
    if (csv_column_has_gaps(column) && schema->options->fill == SCL_MISSING_MEDIAN) {
      add_note(*notes, count, SCL_NOTE_FILLED, column->name, column->missing);
      (*notes)[*count - 1].value = column->fill;
    }
    if (!column->categorical && column->large > 0 && !column->skipped)
      add_note(*notes, count, SCL_NOTE_LARGE, column->name, column->large);
  }
  if (schema->dropped > 0) add_note(*notes, count, SCL_NOTE_DROPPED, "", schema->dropped);
  return SCL_STATUS_OK;
}
