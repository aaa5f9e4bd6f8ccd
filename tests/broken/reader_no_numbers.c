/* The cells of a column of numbers are not there. */
// caught by: rows fail
#include "reader.h"
static scl_status wrong_rows(void *opened, scl_row_block *out, scl_error *error) {
  ((table_file *)opened)->cells[1].numbers = NULL;
  return rows(opened, out, error);
}
BROKEN_READER(.rows = wrong_rows)
