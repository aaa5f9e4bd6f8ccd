/* LIBSVM text, whole and by blocks. */
#include "data/libsvm.h"
#include "reader.h"

/* The same rows as sparse blocks, read once. */
static void read_blocks(const char *path, const scl_csr *all, size_t cols, size_t wanted) {
  scl_source *blocks;
  scl_error error = {0};
  scl_csr x = {0};
  size_t rows = 0;
  fuzz_check(scl_libsvm_once(path, cols, false, &blocks, &error), &error);
  for (;;) {
    const scl_status status = scl_source_next_sparse(blocks, &x, NULL, &error);
    fuzz_check(status, &error);
    if (status != SCL_STATUS_OK) fuzz_fail(error.message);
    if (x.storage == NULL) break;
    if (scl_csr_check(&x, scl_csr_entries(&x), &error) != SCL_STATUS_OK) fuzz_fail(error.message);
    for (size_t i = 0; all->storage != NULL && i < x.rows; i++)
      if (x.starts[i + 1] - x.starts[i] != all->starts[rows + i + 1] - all->starts[rows + i])
        fuzz_fail("a block has other numbers");
    rows += x.rows;
    scl_csr_release(&x);
  }
  if (rows != wanted) fuzz_fail("blocks have other rows");
  scl_source_destroy(blocks);
}

/* Two passes of a stream have the rows that were read whole. */
static void read_stream(const char *const *paths, size_t files, const scl_libsvm_options *options,
                        size_t wanted) {
  scl_table table;
  scl_source *source;
  scl_error error = {0};
  scl_csr x = {0};
  scl_matrix y = {0};
  const scl_status status = scl_libsvm_stream(paths, files, options, &table, &source, &error);
  fuzz_check(status, &error);
  if (status != SCL_STATUS_OK) fuzz_fail(error.message);
  for (int pass = 0; pass < 2 && source->sparse; pass++) {
    size_t rows = 0;
    do {
      scl_csr_release(&x);
      scl_matrix_release(&y);
      if (scl_source_next_sparse(source, &x, &y, &error) != SCL_STATUS_OK) fuzz_fail(error.message);
      rows += x.rows;
    } while (x.storage != NULL);
    if (rows != wanted) fuzz_fail("a pass has other rows");
    scl_source_rewind(source);
  }
  scl_source_destroy(source);
  scl_table_destroy(&table);
}

void fuzz_read(const uint8_t *data, size_t size) {
  const unsigned a = fuzz_choice(data, size, 0), b = fuzz_choice(data, size, 1);
  const char *path = fuzz_file(0, data, size, a % 8 == 1);
  const char *const paths[] = {path, path};
  const size_t files = 1 + (a >> 6 & 1);
  const scl_libsvm_options options = {.features = a & 16 ? 50 : 0,
                                      .from_zero = b & 1,
                                      .classification = (scl_choice)((int)(a / 32 % 3) - 1),
                                      .sparse = (scl_choice)((int)(b / 2 % 3) - 1),
                                      .dtype = a & 8 ? SCL_DTYPE_FLOAT32 : SCL_DTYPE_FLOAT64};
  scl_table table;
  scl_error error = {0};
  const scl_status status = scl_libsvm_read(paths, files, &options, &table, &error);
  fuzz_check(status, &error);
  if (status != SCL_STATUS_OK) return;
  if (table.x.storage != NULL) fuzz_touch(&table.x);
  if (table.csr.storage != NULL &&
      scl_csr_check(&table.csr, scl_csr_entries(&table.csr), &error) != SCL_STATUS_OK)
    fuzz_fail(error.message);
  fuzz_touch(&table.y);
  if (!options.from_zero && options.dtype == SCL_DTYPE_FLOAT64)
    read_blocks(path, &table.csr, table.cols, table.part_rows[0]);
  if (a % 8 != 1) read_stream(paths, files, &options, table.rows);
  scl_table_destroy(&table);
}
