/* Packed bytes, and texts of them, read in pieces of any size. */
#include "data/files/input.h"
#include "reader.h"

#include <string.h>

static size_t read_pieces(const char *path, size_t piece) {
  unsigned char bytes[300];
  scl_input *input;
  scl_error error = {0};
  size_t got = 0, all = 0;
  fuzz_check(scl_input_open(path, &input, &error), &error);
  do {
    const scl_status status = scl_input_read(input, bytes, piece, &got, &error);
    fuzz_check(status, &error);
    if (got > piece) fuzz_fail("more than was asked for");
    all = status == SCL_STATUS_OK ? all + got : SIZE_MAX;
  } while (got == piece && all != SIZE_MAX);
  if (all != SIZE_MAX && all > scl_input_most(input)) fuzz_fail("more than can be");
  scl_input_close(input);
  return all;
}

void fuzz_read(const uint8_t *data, size_t size) {
  const char *path = fuzz_file(0, data, size, fuzz_choice(data, size, 0) % 8 == 1);
  scl_text text;
  scl_error error = {0};
  const scl_status status = scl_input_text(path, 0, "", &text, &error);
  fuzz_check(status, &error);
  const size_t all = read_pieces(path, 1 + fuzz_choice(data, size, 1)),
               same = read_pieces(path, 300);
  if (all != same) fuzz_fail("pieces of another size give other bytes");
  if (status == SCL_STATUS_OK && (all != text.length || strlen(text.bytes) != text.length))
    fuzz_fail("the text has another length");
  scl_release(text.bytes);
}
