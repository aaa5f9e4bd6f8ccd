/* Files of arrays with a description (saved models): the digest is made to fit, so that what is
 * behind it is reached. */
#include "data/safetensors.h"
#include "reader.h"

#include <stdlib.h>
#include <string.h>

void fuzz_read(const uint8_t *data, size_t size) {
  char *bytes = fuzz_text(data, size);
  scl_tensor_file file;
  scl_error error = {0};
  if (fuzz_choice(data, size, 0) % 8 != 1) fuzz_sign(bytes, size);
  const char *path = fuzz_file(0, (const uint8_t *)bytes, size, false);
  const scl_status status = scl_safetensors_read(path, &file, &error);
  fuzz_check(status, &error);
  if (status == SCL_STATUS_OK) {
    if (strlen(file.text) > size) fuzz_fail("a text longer than the file");
    scl_tensor_file_release(&file);
  }
  free(bytes);
}
