/* LIBSVM text, whole and by blocks. */
#include "data/libsvm.h"
#include "reader.h"

static void read_blocks(const char *path, size_t cols, size_t wanted) {
  scl_source *blocks;
  scl_error error = {0};
  scl_matrix x = {0};
  size_t rows = 0;
  fuzz_check(scl_libsvm_once(path, cols, &blocks, &error), &error);
  for (;;) {
    const scl_status status = scl_source_next(blocks, &x, NULL, &error);
    fuzz_check(status, &error);
    if (status != SCL_STATUS_OK) fuzz_fail(error.message);
    if (x.storage == NULL) break;
    rows += x.rows;
    fuzz_touch(&x);
    scl_matrix_release(&x);
  }
  if (rows != wanted) fuzz_fail("blocks have other rows");
  scl_source_destroy(blocks);
}

void fuzz_read(const uint8_t *data, size_t size) {
  const unsigned a = fuzz_choice(data, size, 0);
  const char *path = fuzz_file(0, data, size, a % 8 == 1);
  const char *const paths[] = {path, path};
  scl_table table;
  scl_error error = {0};
  const scl_status status =
      scl_libsvm_read(paths, 1 + (a >> 6 & 1), a & 16 ? 50 : 0, (int)(a / 32 % 3) - 1,
                      a & 8 ? SCL_DTYPE_FLOAT32 : SCL_DTYPE_FLOAT64, 0, &table, &error);
  fuzz_check(status, &error);
  if (status != SCL_STATUS_OK) return;
  fuzz_touch(&table.x);
  fuzz_touch(&table.y);
  if (table.cols < 1 << 16) read_blocks(path, table.cols, table.part_rows[0]);
  scl_table_destroy(&table);
}
