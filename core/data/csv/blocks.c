/* Rows by a schema, each read once: from a file, a pipe or the standard input. */
#include "base/text.h"
#include "data/csv/internal.h"

struct scl_csv_blocks {
  scl_csv_options options;
  csv_schema schema;
  csv_lines lines;
  char *path;
  const char *path_list[1];
  bool begun;
  size_t id; /* its column; schema.columns: none */
  char *ids; /* of the last block, one after the other */
  size_t *id_ends, id_rows, ids_room;
};

static scl_status find_id(scl_csv_blocks *b, const char *id, scl_error *error) {
  const csv_name *found;
  b->id = b->schema.columns;
  if (id == NULL) return SCL_STATUS_OK;
  if (csv_names_find(&b->schema.names, id, strlen(id), &found) == 0)
    return scl_fail(error, SCL_STATUS_BAD_OPTION,
                    "option 'id' names '%s', which is no column of %s", id, b->path);
  b->id = found->place;
  b->schema.column[b->id].extra = false;
  return SCL_STATUS_OK;
}

/* The first lines, and what the columns are. */
static scl_status begin(scl_csv_blocks *b, const char *id, scl_error *error) {
  SCL_TRY(csv_lines_open(&b->lines, b->path, 0, error));
  SCL_TRY(csv_lines_open_schema(&b->lines, &b->schema, error));
  SCL_TRY(csv_schema_lay_out(&b->schema, error));
  return find_id(b, id, error);
}

scl_status scl_csv_blocks_open(const char *path, const scl_csv_options *options, const char *id,
                               scl_csv_blocks **out, scl_error *error) {
  scl_csv_blocks *b = scl_allocate_zero(sizeof *b);
  if (b == NULL || (b->path = scl_copy_text(path)) == NULL) {
    scl_release(b);
    return scl_fail_memory(error, sizeof *b, "a file");
  }
  b->options = *options;
  b->options.target = NULL;
  b->options.target_place = 0;
  b->options.target_said = true;
  if (b->options.fill == SCL_MISSING_ROW)
    b->options.fill = SCL_MISSING_ERROR; /* a row in, a row out */
  b->path_list[0] = b->path;
  b->schema.options = &b->options;
  b->schema.paths = b->path_list;
  const scl_status status = begin(b, id, error);
  if (status == SCL_STATUS_OK)
    *out = b;
  else
    scl_csv_blocks_close(b);
  return status;
}

void scl_csv_blocks_close(scl_csv_blocks *b) {
  if (b == NULL) return;
  csv_lines_close(&b->lines);
  csv_schema_close(&b->schema);
  SCL_RELEASE(b->path, b->ids, b->id_ends, b);
}

/* ---------------------------------------------------------------- ids */

static scl_status make_room(scl_csv_blocks *b, size_t rows, scl_error *error) {
  SCL_RELEASE(b->ids, b->id_ends);
  b->id_rows = 0;
  b->ids = scl_allocate(b->lines.used + 1); /* a field is no longer than its text */
  b->id_ends = scl_allocate_array(rows + 1, sizeof *b->id_ends);
  return b->ids != NULL && b->id_ends != NULL
             ? SCL_STATUS_OK
             : scl_fail_memory(error, b->lines.used, "the texts of the id column");
}

static void take_id(scl_csv_blocks *b, const char *at, const char *end) {
  const char separator = b->schema.separator, *stop = at;
  const size_t from = b->id_rows == 0 ? 0 : b->id_ends[b->id_rows - 1];
  csv_field field = {0};
  for (size_t j = 0; j <= b->id; j++, at = stop + 1)
    field = csv_read_field(at, end, separator, &stop);
  field = csv_unescape(field, b->ids + from);
  b->id_ends[b->id_rows++] = from + field.length;
}

/* The texts of the id column in all lines of the chunks. */
static scl_status take_ids(scl_csv_blocks *b, scl_error *error) {
  const csv_lines *l = &b->lines;
  const char separator = b->schema.separator, *next;
  size_t rows = 0;
  for (size_t k = 0; k < l->count; k++)
    rows += l->chunks[k].rows;
  SCL_TRY(make_room(b, rows, error));
  for (size_t k = 0; k < l->count; k++)
    for (const char *at = l->chunks[k].text, *end = l->chunks[k].end; at < end; at = next) {
      if (csv_blank_line(at, end, separator, &next)) continue;
      next = csv_line_end(at, end, separator);
      take_id(b, at, next);
    }
  return SCL_STATUS_OK;
}

const char *scl_csv_blocks_id(const scl_csv_blocks *b, size_t i, size_t *length) {
  if (b->id_ends == NULL) return NULL;
  const size_t from = i == 0 ? 0 : b->id_ends[i - 1];
  *length = b->id_ends[i] - from;
  return b->ids + from;
}

/* ---------------------------------------------------------------- blocks */

scl_status scl_csv_blocks_next(scl_csv_blocks *b, scl_matrix *x, scl_error *error) {
  csv_lines *l = &b->lines;
  *x = (scl_matrix){0};
  do {
    if (b->begun && l->ended) return SCL_STATUS_OK;
    if (b->begun)
      SCL_TRY(csv_lines_next(l, error));
    else
      SCL_TRY(csv_lines_first(l, &b->schema, error));
    b->begun = true;
    if (l->count == 0) continue;
    SCL_TRY(csv_scan(&b->schema, l->chunks, l->count, error));
    const scl_status status = csv_lines_parse(l, &b->schema, x, NULL, error);
    if (status != SCL_STATUS_OK) {
      scl_matrix_release(x);
      return status;
    }
  } while (x->storage == NULL);
  return b->id < b->schema.columns ? take_ids(b, error) : SCL_STATUS_OK;
}

scl_status scl_csv_blocks_notes(const scl_csv_blocks *b, scl_note **notes, size_t *count,
                                scl_error *error) {
  return csv_notes(&b->schema, notes, count, error);
}
