/* It stores in the file that it was read. */
// caught by: rows fail
// says: reading changes the file
#include "reader.h"
static scl_status wrong_open(const void *self, const scl_reader_file *file, void **opened,
                             scl_error *error) {
  FILE *out = fopen(file->path, "r+b");
  if (out != NULL && fseek(out, 12, SEEK_SET) == 0) fputc('r', out); /* in the first name */
  if (out != NULL) fclose(out);
  return open_file(self, file, opened, error);
}
BROKEN_READER(.open = wrong_open)
