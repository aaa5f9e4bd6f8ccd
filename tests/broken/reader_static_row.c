/* The number of the next row is one for all files. */
// caught by: rows fail
// says: opened second
#include "reader.h"
static uint32_t next;
static scl_status wrong_open(const void *self, const scl_reader_file *file, void **opened,
                             scl_error *error) {
  next = 0;
  return open_file(self, file, opened, error);
}
static scl_status wrong_rows(void *opened, scl_row_block *out, scl_error *error) {
  table_file *t = opened;
  t->row = next;
  const scl_status status = rows(opened, out, error);
  next = t->row;
  return status;
}
BROKEN_READER(.open = wrong_open, .rows = wrong_rows)
