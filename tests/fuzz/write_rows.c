/* Rows that are written: names, ids and labels of any bytes; what was written is read again. */
#include "data/csv/csv.h"
#include "data/npy.h"
#include "data/row_file.h"
#include "reader.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { ROWS = 3 };

static const char *path_of(bool npy) {
  static char path[2][60];
  (void)snprintf(path[npy], sizeof path[npy], "/dev/shm/fuzz-rows-%ld.%s", (long)getpid(),
                 npy ? "npy" : "csv");
  return path[npy];
}

static void check(scl_status status, const scl_error *error) {
  fuzz_check(status, error);
  if (status != SCL_STATUS_OK) fuzz_fail(error->message);
}

/* Four texts from the input, without zero bytes. */
static void cut(char *text, size_t size, const char *parts[4]) {
  for (size_t i = 0; i < size; i++)
    if (text[i] == 0) text[i] = 'z';
  for (size_t k = 0; k < 4; k++) {
    char *end = strchr(text, '\x01');
    parts[k] = text;
    if (end == NULL) end = text + strlen(text);
    text = *end == 0 ? end : end + 1;
    *end = 0;
  }
}

static void write_file(const scl_row_format *format, const scl_matrix *rows,
                       const scl_text_part *ids, const char *path) {
  scl_row_file *file;
  scl_error error = {0};
  check(scl_row_file_open(path, format, &file, &error), &error);
  check(scl_row_file_write(file, rows, ids, &error), &error);
  check(scl_row_file_commit(file, &error), &error);
  scl_row_file_close(file);
}

/* Text that is UTF-8 comes back, as fields are quoted. */
static void read_csv(const char *path, size_t rows) {
  scl_csv_options o;
  scl_table table;
  scl_error error = {0};
  scl_csv_defaults(&o);
  o.header = SCL_YES;
  o.separator = ',';
  o.target_place = 0;
  const scl_status status = scl_csv_read(&path, 1, &o, &table, &error);
  fuzz_check(status, &error);
  if (status != SCL_STATUS_OK) return;
  if (table.rows > rows) fuzz_fail("more rows than were written");
  scl_table_destroy(&table);
}

void fuzz_read(const uint8_t *data, size_t size) {
  const unsigned choice = fuzz_choice(data, size, 0);
  const bool npy = choice & 1, with_labels = choice & 2;
  char *text = fuzz_text(data, size);
  const char *parts[4];
  scl_matrix rows = {0}, back = {0};
  scl_error error = {0};
  cut(text, size, parts);
  const size_t cols = with_labels ? 1 : 2;
  check(scl_matrix_create(ROWS, cols, SCL_DTYPE_FLOAT64, &rows, &error), &error);
  for (size_t i = 0; i < ROWS; i++)
    for (size_t j = 0; j < cols; j++) {
      double number = (double)i + 1;
      if (!with_labels) memcpy(&number, data, scl_min(size, sizeof number));
      scl_matrix_set(&rows, i, j, number);
    }
  const scl_text_part ids[ROWS] = {
      {parts[1], strlen(parts[1])}, {parts[2], strlen(parts[2])}, {parts[3], strlen(parts[3])}};
  const scl_row_format format = {.npy = npy,
                                 .names = parts,
                                 .cols = cols,
                                 .id = npy ? NULL : "id",
                                 .labels = with_labels ? parts + 1 : NULL,
                                 .n_labels = with_labels ? 3 : 0};
  write_file(&format, &rows, npy ? NULL : ids, path_of(npy));
  if (!npy) read_csv(path_of(npy), ROWS);
  if (npy && !with_labels) check(scl_npy_read(path_of(npy), 0, false, &back, &error), &error);
  (void)unlink(path_of(npy));
  scl_matrix_release(&back);
  scl_matrix_release(&rows);
  free(text);
}
