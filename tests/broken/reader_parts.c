/* The second part begins a row too late. */
// caught by: parts fail
// says: from part 2 on
#include "reader.h"
static const uint64_t part_rows[] = {1, 2};
static scl_status two_parts(void *opened, scl_reader_schema *out, scl_error *error) {
  out->parts = 2;
  out->part_rows = part_rows;
  return schema(opened, out, error);
}
static scl_status seek(void *opened, size_t part, scl_error *error) {
  table_file *t = opened;
  (void)error;
  t->row = part == 0 ? 0 : 2;
  fseek(t->file, 16 + (long)t->row * 8, SEEK_SET);
  return SCL_STATUS_OK;
}
/* A row at a time: no block goes beyond a part. */
static scl_status one_row(void *opened, scl_row_block *out, scl_error *error) {
  table_file *t = opened;
  const uint32_t all = t->rows;
  t->rows = t->row < all ? t->row + 1 : all;
  const scl_status status = rows(opened, out, error);
  t->rows = all;
  return status;
}
BROKEN_READER(.schema = two_parts, .seek = seek, .rows = one_row)
