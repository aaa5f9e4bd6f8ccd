/* The texts of a column of ids, which accompany the rows of a source that is read once. */
#include "base/text.h"
#include "data/csv/internal.h"

#include <stdio.h>

static scl_status refuse_name(const char *name, const csv_schema *schema, scl_error *error) {
  const char **names = scl_allocate_array(schema->columns + 1, sizeof *names), *near = NULL;
  char hint[120] = "";
  for (size_t j = 0; names != NULL && j < schema->columns; j++)
    names[j] = schema->column[j].name;
  if (names != NULL) near = scl_nearest(name, names, schema->columns);
  if (near != NULL) (void)snprintf(hint, sizeof hint, " (did you mean '%.60s'?)", near);
  scl_release(names);
  return scl_fail(error, SCL_STATUS_BAD_OPTION,
                  "option 'id' names '%s', which is not a column of %s%s", name, schema->paths[0],
                  hint);
}

scl_status csv_ids_open(csv_ids *ids, const char *name, csv_schema *schema, scl_error *error) {
  const csv_name *found;
  if (name == NULL) return SCL_STATUS_OK;
  if (csv_names_find(&schema->names, name, strlen(name), &found) == 0)
    return refuse_name(name, schema, error);
  ids->wanted = true;
  ids->column = found->place;
  schema->column[ids->column].extra = false;
  return SCL_STATUS_OK;
}

void csv_ids_close(csv_ids *ids) {
  SCL_RELEASE(ids->texts, ids->ends);
  ids->texts = NULL;
  ids->ends = NULL;
  ids->rows = 0;
}

/* New buffers for the ids of the next chunks. A field is no longer than its text, but for packed
 * numbers, whose decimals are longer. */
static scl_status make_room(csv_ids *ids, const csv_lines *l, scl_error *error) {
  enum { LONGER = CSV_NUMBER_BYTES / SCL_PACKED_BYTES + 1 };
  const size_t room = l->used * (l->packed ? LONGER : 1) + 1;
  csv_ids_close(ids);
  ids->texts = scl_allocate(room);
  ids->ends = scl_allocate_array(csv_lines_rows(l) + 1, sizeof *ids->ends);
  return ids->texts != NULL && ids->ends != NULL
             ? SCL_STATUS_OK
             : scl_fail_memory(error, room, "the texts of the id column");
}

/* Reads the fields of a line up to the id and appends its text. */
static void take_id(csv_ids *ids, const char *at, const char *end, const csv_schema *schema) {
  char number[CSV_NUMBER_BYTES];
  const char separator = schema->separator, *stop = at;
  const size_t from = ids->rows == 0 ? 0 : ids->ends[ids->rows - 1];
  csv_field field = {0};
  for (size_t j = 0; j <= ids->column; j++, at = stop + 1)
    field = csv_read_field(at, end, separator, &stop);
  if (schema->packed && !field.quoted && *field.text == SCL_PACKED)
    field = csv_unpack(field.text, number);
  field = csv_unescape(field, ids->texts + from);
  ids->ends[ids->rows++] = from + field.length;
}

scl_status csv_ids_take(csv_ids *ids, const csv_schema *schema, const csv_lines *l,
                        scl_error *error) {
  const char separator = schema->separator, *next;
  if (!ids->wanted) return SCL_STATUS_OK;
  SCL_TRY(make_room(ids, l, error));
  for (size_t k = 0; k < l->count; k++)
    for (const char *at = l->chunks[k].text, *end = l->chunks[k].end; at < end; at = next) {
      if (csv_blank_line(at, end, separator, &next)) continue;
      next = csv_line_end(at, end, separator);
      take_id(ids, at, next, schema);
    }
  return SCL_STATUS_OK;
}
