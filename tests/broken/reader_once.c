/* The second file of a process has no rows. */
// caught by: rows fail
// says: read again
#include "reader.h"
static scl_status wrong_rows(void *opened, scl_row_block *out, scl_error *error) {
  static void *first;
  static int files;
  table_file *t = opened;
  if (first != opened || t->row == 0) files++;
  first = opened;
  if (files > 1) t->row = t->rows;
  return rows(opened, out, error);
}
BROKEN_READER(.rows = wrong_rows)
