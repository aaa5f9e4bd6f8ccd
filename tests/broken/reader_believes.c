/* Memory is taken for the rows that a file states. */
// caught by: bent fail
#include "reader.h"
static scl_status wrong_open(const void *self, const scl_reader_file *file, void **opened,
                             scl_error *error) {
  const scl_host *host = ((const table_reader *)self)->base.host;
  uint32_t head[3] = {0};
  FILE *in = fopen(file->path, "rb");
  if (in != NULL) (void)!fread(head, sizeof head, 1, in);
  if (in != NULL) fclose(in);
  char *room = host->allocate((size_t)head[1] * 1000);
  if (room == NULL) return host->fail(error, SCL_STATUS_NO_MEMORY, "out of memory");
  host->release(room);
  return open_file(self, file, opened, error);
}
BROKEN_READER(.open = wrong_open)
