/* Parquet files, whole and one column alone. */
#include "cells.h"

void fuzz_read(const uint8_t *data, size_t size) {
  fuzz_cells("parquet", fuzz_choice(data, size, 0) % 4 == 0 ? "i" : NULL, data, size);
}
