/* Calls of readers. */
#include "plugin/reader.h"

#include "base/interrupt.h"
#include "plugin/call.h"

/* The reader's table, at the host's size. */
static const scl_reader *table_of(const scl_instance *reader) {
  return scl_instance_vtable(reader);
}

bool scl_reader_recognises(const scl_component *reader, const unsigned char *first, size_t size) {
  const scl_reader *table = reader->vtable;
  scl_call call;
  scl_call_enter(&call, reader, "recognises", NULL);
  const bool known = table->recognises(first, size) != 0;
  (void)scl_call_end(&call);
  return known;
}

static int32_t cancelled(void) { return scl_interrupted(); }

scl_status scl_reader_open(const scl_instance *reader, const char *path, void **file,
                           scl_error *error) {
  const scl_reader_file given = {SCL_HEAD(scl_reader_file), path, cancelled};
  scl_call call;
  *file = NULL;
  scl_call_enter(&call, reader->component, "open", error);
  return scl_call_leave(&call, table_of(reader)->open(reader->self, &given, file, error));
}

static scl_status check_schema(const scl_instance *reader, const scl_reader_schema *schema,
                               scl_error *error) {
  if (schema->columns == 0 || schema->column == NULL ||
      (schema->parts > 0 && (schema->part_rows == NULL || table_of(reader)->seek == NULL)))
    return scl_fail(error, SCL_STATUS_INTERNAL,
                    "reader.%s: a schema without columns, or parts "
                    "without their rows and a slot 'seek'",
                    scl_instance_name(reader));
  for (size_t j = 0; j < schema->columns; j++)
    if (schema->column[j].name == NULL || (uint32_t)schema->column[j].type > SCL_CELL_ANY)
      return scl_fail(error, SCL_STATUS_INTERNAL,
                      "reader.%s: column %zu has no name, or an unknown type",
                      scl_instance_name(reader), j + 1);
  return SCL_STATUS_OK;
}

scl_status scl_reader_get_schema(const scl_instance *reader, void *file, scl_reader_schema *out,
                                 scl_error *error) {
  scl_call call;
  *out = (scl_reader_schema){.head = SCL_HEAD(scl_reader_schema)};
  scl_call_enter(&call, reader->component, "schema", error);
  SCL_TRY(scl_call_leave(&call, table_of(reader)->schema(file, out, error)));
  return check_schema(reader, out, error);
}

scl_status scl_reader_choose(const scl_instance *reader, void *file, const size_t *columns,
                             size_t count, bool *chosen, scl_error *error) {
  scl_call call;
  *chosen = table_of(reader)->choose != NULL;
  if (!*chosen) return SCL_STATUS_OK;
  scl_call_enter(&call, reader->component, "choose", error);
  return scl_call_leave(&call, table_of(reader)->choose(file, columns, count, error));
}

scl_status scl_reader_seek(const scl_instance *reader, void *file, size_t part, scl_error *error) {
  scl_call call;
  scl_call_enter(&call, reader->component, "seek", error);
  return scl_call_leave(&call, table_of(reader)->seek(file, part, error));
}

scl_status scl_reader_rows(const scl_instance *reader, void *file, scl_row_block *out,
                           scl_error *error) {
  scl_call call;
  *out = (scl_row_block){.head = SCL_HEAD(scl_row_block)};
  scl_call_enter(&call, reader->component, "rows", error);
  SCL_TRY(scl_call_leave(&call, table_of(reader)->rows(file, out, error)));
  if (out->rows == 0 || out->columns != NULL) return SCL_STATUS_OK;
  return scl_fail(error, SCL_STATUS_INTERNAL, "reader.%s: rows without columns",
                  scl_instance_name(reader));
}

void scl_reader_close(const scl_instance *reader, void *file) {
  scl_call call;
  scl_call_enter(&call, reader->component, "close", NULL);
  table_of(reader)->close(file);
  (void)scl_call_end(&call);
}

scl_status scl_reader_example(const scl_instance *reader, const char *path, bool *written,
                              scl_error *error) {
  scl_call call;
  *written = table_of(reader)->example != NULL;
  if (!*written) return SCL_STATUS_OK;
  scl_call_enter(&call, reader->component, "example", error);
  return scl_call_leave(&call, table_of(reader)->example(reader->self, path, error));
}
