/* JSON texts. */
#include "data/json.h"
#include "reader.h"

#include <stdlib.h>

void fuzz_read(const uint8_t *data, size_t size) {
  char *text = fuzz_text(data, size);
  scl_json json;
  scl_error error = {0};
  const scl_status status = scl_json_parse(text, size, "the text", &json, &error);
  fuzz_check(status, &error);
  if (status == SCL_STATUS_OK) {
    if (json.root == NULL) fuzz_fail("no value");
    scl_json_release(&json);
  }
  free(text);
}
