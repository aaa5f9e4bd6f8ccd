/* .npy: whole, as a stream, by blocks; all must say the same. */
#include "data/npy.h"
#include "reader.h"

static void stream(const char *path, const scl_matrix *wanted) {
  scl_source *source;
  scl_error error = {0};
  const scl_status status = scl_npy_stream(path, path, &source, &error);
  fuzz_check(status, &error);
  if (status != SCL_STATUS_OK) return;
  if (wanted->storage == NULL || source->rows != wanted->rows || source->cols != wanted->cols)
    fuzz_fail("a stream of what reading refuses, or of another shape");
  scl_matrix x = {0}, y = {0};
  const size_t count = scl_min(source->rows, 3);
  fuzz_check(scl_matrix_create(count, source->cols, SCL_DTYPE_FLOAT64, &x, &error), &error);
  fuzz_check(scl_matrix_create(count, source->targets, SCL_DTYPE_FLOAT64, &y, &error), &error);
  if (count > 0)
    fuzz_check(scl_source_read(source, source->rows - count, count, &x, &y, &error), &error);
  scl_matrix_release(&x);
  scl_matrix_release(&y);
  scl_source_destroy(source);
}

static void read_blocks(const char *path, const scl_matrix *wanted) {
  scl_source *blocks;
  scl_error error = {0};
  scl_matrix x = {0};
  size_t rows = 0;
  fuzz_check(scl_npy_once(path, wanted->cols, &blocks, &error), &error);
  for (;;) {
    if (scl_source_next(blocks, &x, NULL, &error) != SCL_STATUS_OK) fuzz_fail(error.message);
    if (x.storage == NULL) break;
    rows += x.rows;
    fuzz_touch(&x);
    scl_matrix_release(&x);
  }
  if (rows != wanted->rows) fuzz_fail("blocks have other rows");
  scl_source_destroy(blocks);
}

void fuzz_read(const uint8_t *data, size_t size) {
  const char *path = fuzz_file(0, data, size, fuzz_choice(data, size, 0) % 8 == 1);
  scl_matrix x;
  scl_error error = {0};
  const scl_status status = scl_npy_read(path, 0, false, &x, &error);
  fuzz_check(status, &error);
  if (status == SCL_STATUS_OK) {
    fuzz_touch(&x);
    if (x.cols > 0) read_blocks(path, &x);
  }
  stream(path, &x);
  scl_matrix_release(&x);
}
