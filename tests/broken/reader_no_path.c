/* The sentence about a file that is not there does not name it. */
// caught by: refused fail
// says: should give a sentence with its path
#include "reader.h"
static scl_status wrong_open(const void *self, const scl_reader_file *file, void **opened,
                             scl_error *error) {
  const scl_host *host = ((const table_reader *)self)->base.host;
  FILE *in = fopen(file->path, "rb");
  if (in == NULL) return host->fail(error, SCL_STATUS_IO, "the file cannot be read");
  fclose(in);
  return open_file(self, file, opened, error);
}
BROKEN_READER(.open = wrong_open)
