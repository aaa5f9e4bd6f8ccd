/* Writes a matrix as comma-separated text, and quotes fields. Called by core/lua/data.c and
 * row_file.c. */
#include "data/csv/write.h"

#include "data/files/output.h"
#include "data/number.h"
#include <string.h>

size_t scl_csv_quote(const char *text, size_t length, char *to) {
  bool plain =
      length == 0 || (strchr(" \t", text[0]) == NULL && strchr(" \t", text[length - 1]) == NULL);
  for (size_t i = 0; plain && i < length; i++)
    plain = text[i] != 0 && strchr(",;\"\r\n\t", text[i]) == NULL;
  if (plain) {
    memcpy(to, text, length);
    return length;
  }
  size_t used = 0;
  to[used++] = '"';
  for (size_t i = 0; i < length; i++) {
    if (text[i] == '"') to[used++] = '"';
    to[used++] = text[i];
  }
  to[used++] = '"';
  return used;
}

static scl_status write_names(scl_output *output, const char *const *names, size_t count,
                              scl_error *error) {
  for (size_t j = 0; j < count; j++) {
    const size_t length = strlen(names[j]);
    char *field = scl_allocate(2 * length + 3);
    if (field == NULL) return scl_fail_memory(error, 2 * length, "a name");
    const size_t used = scl_csv_quote(names[j], length, field);
    field[used] = j + 1 < count ? ',' : '\n';
    scl_output_write(output, field, used + 1);
    scl_release(field);
  }
  return SCL_STATUS_OK;
}

/* One line; `line` has room for 33 bytes per number. */
static void write_row(scl_output *output, const scl_matrix *a, size_t i, char *line) {
  size_t used = 0;
  for (size_t j = 0; j < a->cols; j++) {
    char text[32];
    const size_t length =
        scl_format_number(scl_matrix_get(a, i, j), a->dtype == SCL_DTYPE_FLOAT32, text);
    memcpy(line + used, text, length);
    used += length;
    line[used++] = j + 1 < a->cols ? ',' : '\n';
  }
  scl_output_write(output, line, used);
}

scl_status scl_csv_write(const scl_matrix *a, const char *const *names, const char *path,
                         scl_error *error) {
  scl_output *output;
  if (a->cols == 0)
    return scl_fail(error, SCL_STATUS_BAD_SHAPE, "%s: a matrix without columns has no lines", path);
  char *line = scl_allocate_array(a->cols, 33);
  if (line == NULL) return scl_fail_memory(error, a->cols * 33, "a line");
  scl_status status = scl_output_open(path, &output, error);
  if (status == SCL_STATUS_OK) {
    if (names != NULL) status = write_names(output, names, a->cols, error);
    for (size_t i = 0; status == SCL_STATUS_OK && i < a->rows && !scl_output_failed(output); i++)
      write_row(output, a, i, line);
    if (status == SCL_STATUS_OK)
      status = scl_output_commit(output, error);
    else
      scl_output_abandon(output);
  }
  scl_release(line);
  return status;
}
