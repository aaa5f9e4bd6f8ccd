/* Matrix Market text, sparse and dense, which must be the same. */
#include "data/matrix_market.h"
#include "reader.h"

void fuzz_read(const uint8_t *data, size_t size) {
  const unsigned a = fuzz_choice(data, size, 0);
  const char *path = fuzz_file(0, data, size, a % 8 == 1);
  scl_matrix_market_options options = {.sparse = SCL_YES,
                                       .dtype = a & 8 ? SCL_DTYPE_FLOAT32 : SCL_DTYPE_FLOAT64};
  scl_csr sparse, other;
  scl_matrix dense, none;
  scl_error error = {0}, said = {0};
  const scl_status status = scl_matrix_market_read(path, &options, &sparse, &none, &error);
  fuzz_check(status, &error);
  if (status != SCL_STATUS_OK) return;
  if (scl_csr_check(&sparse, scl_csr_entries(&sparse), &error) != SCL_STATUS_OK)
    fuzz_fail(error.message);
  options.sparse = SCL_NO;
  if (sparse.rows < 1000 && sparse.cols < 1000) {
    fuzz_check(scl_matrix_market_read(path, &options, &other, &dense, &said), &said);
    for (size_t i = 0; i < dense.rows; i++)
      for (size_t j = 0; j < dense.cols; j++)
        if (scl_matrix_get(&dense, i, j) != scl_csr_get(&sparse, i, j))
          fuzz_fail("the dense matrix differs");
    scl_matrix_release(&dense);
  }
  scl_csr_release(&sparse);
}
