/* .npz: every array, and the sparse matrix, which must be one. What is read is written and read
 * again. */
#include "data/npz.h"
#include "reader.h"

static void read_sparse(scl_npz *npz) {
  scl_csr x;
  scl_error error = {0};
  const scl_status status = scl_npz_csr(npz, &x, &error);
  fuzz_check(status, &error);
  if (status != SCL_STATUS_OK) return;
  if (scl_csr_check(&x, scl_csr_entries(&x), &error) != SCL_STATUS_OK) fuzz_fail(error.message);
  scl_csr_release(&x);
}

void fuzz_read(const uint8_t *data, size_t size) {
  const char *path = fuzz_file(0, data, size, false);
  scl_npz *npz;
  scl_error error = {0};
  scl_status status = scl_npz_open(path, &npz, &error);
  fuzz_check(status, &error);
  if (status != SCL_STATUS_OK) return;
  for (size_t k = 0; k < 16 && scl_npz_name(npz, k) != NULL; k++) {
    scl_npz_array array;
    scl_error said = {0};
    status = scl_npz_read(npz, scl_npz_name(npz, k), &array, &said);
    fuzz_check(status, &said);
    if (status != SCL_STATUS_OK) continue;
    if (array.texts == NULL) fuzz_touch(&array.numbers);
    scl_npz_array_release(&array);
  }
  if (scl_npz_is_sparse(npz)) read_sparse(npz);
  scl_npz_close(npz);
}
