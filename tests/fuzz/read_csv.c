/* Whole files of CSV, and a second one read by the schema of the first. */
#include "read_csv.h"

static void read_alike(const char *path, const scl_csv_options *options, const scl_schema *like) {
  scl_table table;
  scl_error error = {0};
  scl_csv_options o = *options;
  o.like = like;
  const scl_status status = scl_csv_read(&path, 1, &o, &table, &error);
  fuzz_check(status, &error);
  if (status != SCL_STATUS_OK) return;
  if (table.cols != scl_schema_cols(like)) fuzz_fail("columns of X that the schema has not");
  fuzz_touch(&table.x);
  scl_table_destroy(&table);
}

/* The same files to sparse rows, which must have the numbers of the dense ones. */
static void read_sparse(const char *const *paths, size_t files, const scl_csv_options *options,
                        const scl_matrix *x) {
  scl_table table;
  scl_error error = {0};
  scl_csv_options o = *options;
  o.sparse = SCL_YES;
  const scl_status status = scl_csv_read(paths, files, &o, &table, &error);
  fuzz_check(status, &error);
  if (status != SCL_STATUS_OK) fuzz_fail(error.message);
  const scl_csr *a = &table.csr;
  if (a->rows != x->rows || a->cols != x->cols) fuzz_fail("sparse rows have another shape");
  if (scl_csr_check(a, scl_csr_entries(a), &error) != SCL_STATUS_OK) fuzz_fail(error.message);
  for (size_t i = 0; i < a->rows; i++)
    for (size_t j = 0; j < a->cols; j++)
      if (scl_csr_get(a, i, j) != scl_matrix_get(x, i, j)) fuzz_fail("a sparse row differs");
  scl_table_destroy(&table);
}

void fuzz_read(const uint8_t *data, size_t size) {
  const scl_csv_options options = fuzz_csv_options(data, size);
  const size_t half = size / 2;
  const char *path = fuzz_file(0, data, size, fuzz_packed(data, size)),
             *other = fuzz_file(1, data + half, size - half, false);
  const char *const paths[] = {path, path};
  const bool twice = fuzz_choice(data, size, 3) % 4 == 1;
  scl_table table;
  scl_error error = {0};
  const scl_status status = scl_csv_read(paths, twice ? 2 : 1, &options, &table, &error);
  fuzz_check(status, &error);
  if (status != SCL_STATUS_OK) return;
  if (table.x.rows != table.rows || table.x.cols != table.cols) fuzz_fail("X has another shape");
  fuzz_touch(&table.x);
  if (table.y.storage != NULL) fuzz_touch(&table.y);
  read_sparse(paths, twice ? 2 : 1, &options, &table.x);
  read_alike(other, &options, table.schema);
  read_alike(path, &options, table.schema);
  scl_table_destroy(&table);
}
