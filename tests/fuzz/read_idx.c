/* IDX, as images and as labels. */
#include "data/idx.h"
#include "reader.h"

static void read(const char *images, const char *labels, unsigned choice) {
  const char *const image_list[] = {images, images}, *const label_list[] = {labels, labels};
  scl_table table;
  scl_error error = {0};
  const scl_idx_options options = {0.5, choice & 2 ? SCL_DTYPE_FLOAT32 : SCL_DTYPE_FLOAT64, 0};
  const scl_status status = scl_idx_read(image_list, labels == NULL ? NULL : label_list,
                                         1 + (choice & 1), &options, &table, &error);
  fuzz_check(status, &error);
  if (status != SCL_STATUS_OK) return;
  fuzz_touch(&table.x);
  scl_table_destroy(&table);
}

void fuzz_read(const uint8_t *data, size_t size) {
  const unsigned choice = fuzz_choice(data, size, 0);
  const char *path = fuzz_file(0, data, size, choice % 8 == 1);
  read(path, NULL, choice);
  read(path, path, choice);
}
