/* Files of readers that are plugins, as text is read: whole, by blocks, and with chosen columns. Their
 * libraries open files by real paths, so each input is a file in /dev/shm. */
#ifndef SCULLERY_FUZZ_CELLS_H
#define SCULLERY_FUZZ_CELLS_H

#include "data/csv/csv.h"
#include "data/reader.h"
#include "reader.h"
#include <stdio.h>
#include <unistd.h>

static void fuzz_cell_rows(const scl_instance *reader, const char *path, const char *const *columns,
                           size_t count) {
  scl_cell_file *file;
  scl_error error = {0};
  scl_status status = scl_cell_file_create(reader, path, columns, count, &file, &error);
  fuzz_check(status, &error);
  if (status != SCL_STATUS_OK) return;
  scl_csv_options as_text;
  scl_table table;
  scl_error said = {0};
  scl_csv_defaults(&as_text);
  const char *name = scl_cell_file_name(file);
  status = scl_csv_read(&name, 1, &as_text, &table, &said);
  fuzz_check(status, &said);
  if (status == SCL_STATUS_OK) {
    if (table.x.storage != NULL) fuzz_touch(&table.x);
    scl_table_destroy(&table);
  }
  scl_cell_file_destroy(file);
}

/* reader: a component as typed, "name{option = value}"; column: one that is read alone, or NULL. */
static inline void fuzz_cells(const char *reader, const char *column, const uint8_t *data,
                              size_t size) {
  scl_instance *instance;
  scl_error error = {0};
  char path[64];
  fuzz_may_keep = true; /* libraries and plugins that were opened */
  if (scl_instance_from_text("reader", reader, &instance, &error) != SCL_STATUS_OK)
    fuzz_fail(error.message);
  (void)snprintf(path, sizeof path, "/dev/shm/scullery_fuzz.%ld", (long)getpid());
  FILE *file = fopen(path, "wb");
  if (file == NULL || fwrite(data, 1, size, file) != size || fclose(file) != 0)
    fuzz_fail("/dev/shm cannot be written");
  fuzz_cell_rows(instance, path, column == NULL ? NULL : &column, 1);
  (void)unlink(path);
  scl_instance_release(instance);
}

#endif
