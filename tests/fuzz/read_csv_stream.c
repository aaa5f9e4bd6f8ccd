/* Streams and blocks of CSV: they must say what reading the whole file says. */
#include "read_csv.h"

#include <string.h>

static void walk(scl_source *source, scl_matrix *x, size_t block) {
  scl_error error = {0};
  for (size_t first = 0; first < source->rows; first += block) {
    const size_t count = scl_min(block, source->rows - first);
    scl_matrix to = scl_matrix_slice(x, first, count, 0, x->cols), y = {0};
    if (scl_matrix_create(count, scl_max(source->targets, 1), SCL_DTYPE_FLOAT64, &y, &error) !=
            SCL_STATUS_OK ||
        scl_source_read(source, first, count, &to, source->targets > 0 ? &y : NULL, &error) !=
            SCL_STATUS_OK)
      fuzz_fail(error.message);
    scl_matrix_release(&to);
    scl_matrix_release(&y);
  }
}

static void compare(const scl_matrix *a, const scl_matrix *b) {
  for (size_t i = 0; i < a->rows; i++)
    for (size_t j = 0; j < a->cols; j++)
      if (scl_matrix_get(a, i, j) != scl_matrix_get(b, i, j)) fuzz_fail("a stream differs");
}

static bool fills_in(const scl_table *table) {
  for (size_t k = 0; k < table->n_notes; k++)
    if (table->notes[k].kind == SCL_NOTE_FILLED) return true;
  return false;
}

static void read_blocks(const char *path, const scl_csv_options *options, const scl_table *table) {
  scl_csv_options o = *options;
  scl_source *blocks;
  scl_error error = {0};
  scl_matrix x = {0};
  size_t rows = 0;
  o.like = table->schema;
  const char *id = table->target;
  scl_status status = scl_csv_once(path, &o, id, &blocks, &error);
  fuzz_check(status, &error);
  if (status != SCL_STATUS_OK) return;
  do {
    scl_matrix_release(&x);
    status = scl_source_next(blocks, &x, NULL, &error);
    fuzz_check(status, &error);
    if (status != SCL_STATUS_OK || x.storage == NULL) break;
    size_t length = 0;
    for (size_t i = 0; id != NULL && i < x.rows; i++)
      if (memchr(scl_csv_id(blocks, i, &length), 0, length) != NULL)
        fuzz_fail("a zero byte in a text");
    fuzz_touch(&x);
    rows += x.rows;
  } while (true);
  if (status == SCL_STATUS_OK && options->fill != SCL_MISSING_ROW && rows != table->rows)
    fuzz_fail("blocks have other rows");
  scl_matrix_release(&x);
  scl_source_destroy(blocks);
}

void fuzz_read(const uint8_t *data, size_t size) {
  const scl_csv_options options = fuzz_csv_options(data, size);
  const char *path = fuzz_file(0, data, size, fuzz_packed(data, size));
  scl_table whole, table;
  scl_error error = {0};
  scl_source *source = NULL;
  const scl_status read = scl_csv_read(&path, 1, &options, &whole, &error);
  const scl_status status = scl_csv_stream(path, &options, &table, &source, &error);
  fuzz_check(status, &error);
  if ((status == SCL_STATUS_OK) != (read == SCL_STATUS_OK)) fuzz_fail(error.message);
  if (status != SCL_STATUS_OK) return;
  if (table.rows != whole.rows || table.cols != whole.cols || source->rows != whole.rows)
    fuzz_fail("a stream has another shape");
  scl_matrix x;
  fuzz_check(scl_matrix_create(whole.rows, whole.cols, options.dtype, &x, &error), &error);
  walk(source, &x, 1 + fuzz_choice(data, size, 4) % 7);
  if (!fills_in(&whole)) compare(&whole.x, &x);
  read_blocks(path, &options, &table);
  scl_matrix_release(&x);
  scl_source_destroy(source);
  scl_table_destroy(&table);
  scl_table_destroy(&whole);
}
