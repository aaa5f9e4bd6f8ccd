/* A damaged file leaves its path in memory. */
// caught by: bent fail
// says: leaves memory behind
#include "reader.h"
static scl_status wrong_open(const void *self, const scl_reader_file *file, void **opened,
                             scl_error *error) {
  const scl_status status = open_file(self, file, opened, error);
  if (status != SCL_STATUS_OK) (void)((const table_reader *)self)->base.host->allocate(100);
  return status;
}
BROKEN_READER(.open = wrong_open)
