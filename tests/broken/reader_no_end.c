/* The rows begin anew behind the last one. */
// caught by: rows timeout
#include "reader.h"
static scl_status wrong_rows(void *opened, scl_row_block *out, scl_error *error) {
  table_file *t = opened;
  if (t->row == t->rows && fseek(t->file, -(long)t->rows * 4 * t->columns, SEEK_END) == 0)
    t->row = 0;
  return rows(opened, out, error);
}
BROKEN_READER(.rows = wrong_rows)
