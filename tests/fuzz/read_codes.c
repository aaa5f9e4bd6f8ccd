/* Files of packed codes: what is read must be written again as it was. */
#include "codes/codes.h"
#include "data/codes_file.h"
#include "reader.h"

void fuzz_read(const uint8_t *data, size_t size) {
  const char *path = fuzz_file(0, data, size, fuzz_choice(data, size, 0) % 8 == 1);
  scl_codes *codes;
  scl_matrix numbers = {0};
  scl_error error = {0};
  const scl_status status = scl_codes_read(path, &codes, &error);
  fuzz_check(status, &error);
  if (status != SCL_STATUS_OK) return;
  if (scl_codes_rows(codes) * scl_codes_cols(codes) < 1 << 20) {
    fuzz_check(scl_matrix_create(scl_codes_rows(codes), scl_codes_cols(codes), SCL_DTYPE_FLOAT64,
                                 &numbers, &error),
               &error);
    scl_codes_unpack(codes, &numbers);
    scl_matrix_release(&numbers);
  }
  scl_codes_destroy(codes);
}
