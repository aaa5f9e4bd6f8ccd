/* Databases of SQLite: the rows of a query, of a table and of the only table, as text is read. The
 * library opens files by their real path, so each input is a file in /dev/shm. */
#include "data/csv/csv.h"
#include "data/files/input.h"
#include "data/reader.h"
#include "reader.h"
#include <stdio.h>
#include <unistd.h>

static void write_file(const char *path, const uint8_t *data, size_t size) {
  FILE *file = fopen(path, "wb");
  if (file == NULL || fwrite(data, 1, size, file) != size || fclose(file) != 0)
    fuzz_fail("/dev/shm cannot be written");
}

static void read_rows(const scl_reader *reader, const char *path,
                      const scl_reader_options *options) {
  scl_reader_file *file;
  scl_error error = {0};
  scl_status status = scl_reader_file_create(reader, path, options, &file, &error);
  fuzz_check(status, &error);
  if (status != SCL_STATUS_OK) return;
  scl_csv_options as_text;
  scl_table table;
  scl_error said = {0};
  scl_csv_defaults(&as_text);
  const char *name = scl_reader_file_name(file);
  status = scl_csv_read(&name, 1, &as_text, &table, &said);
  fuzz_check(status, &said);
  if (status == SCL_STATUS_OK) {
    if (table.x.storage != NULL) fuzz_touch(&table.x);
    scl_table_destroy(&table);
  }
  scl_reader_file_destroy(file);
}

void fuzz_read(const uint8_t *data, size_t size) {
  static const scl_reader_options choices[] = {
      {NULL, NULL}, {NULL, "t"}, {"select x, count(*) from \"odd \"\" name\" group by x", NULL}};
  const scl_reader *reader = scl_reader_find("sqlite");
  char path[64];
  if (reader == NULL) return;
  fuzz_may_keep = true; /* the library's own, of its first call */
  (void)snprintf(path, sizeof path, "/dev/shm/read_sqlite.%ld", (long)getpid());
  write_file(path, data, size);
  read_rows(reader, path, &choices[fuzz_choice(data, size, 0) % 3]);
  (void)unlink(path);
}
