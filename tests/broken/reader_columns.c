/* Chosen columns come in the order of the file. */
// caught by: columns fail
// says: 2 columns: row 1, column 1
#include "reader.h"
static size_t wanted; /* how many */
static scl_status wrong_choose(void *opened, const size_t *columns, size_t count,
                               scl_error *error) {
  (void)opened, (void)columns, (void)error;
  wanted = count;
  return SCL_STATUS_OK;
}
BROKEN_READER(.choose = wrong_choose)
