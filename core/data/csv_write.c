#include "data/csv_write.h"

#include "data/number.h"
#include "data/output.h"
#include <string.h>

/* In quotes where it would read as something else. */
static void write_name(scl_output *output, const char *name) {
  const size_t length = strlen(name);
  const bool blanks = length > 0 && (name[0] == ' ' || name[length - 1] == ' ' || name[0] == '\t' ||
                                     name[length - 1] == '\t');
  if (!blanks && strpbrk(name, ",;\"\r\n\t") == NULL) {
    scl_output_write(output, name, length);
    return;
  }
  scl_output_write(output, "\"", 1);
  for (size_t i = 0; i < length; i++)
    scl_output_write(output, name[i] == '"' ? "\"\"" : &name[i], name[i] == '"' ? 2 : 1);
  scl_output_write(output, "\"", 1);
}

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
    for (size_t j = 0; names != NULL && j < a->cols; j++) {
      write_name(output, names[j]);
      scl_output_write(output, j + 1 < a->cols ? "," : "\n", 1);
    }
    for (size_t i = 0; i < a->rows; i++)
      write_row(output, a, i, line);
    status = scl_output_commit(output, error);
  }
  scl_release(line);
  return status;
}
