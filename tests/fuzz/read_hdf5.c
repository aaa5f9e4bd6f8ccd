/* HDF5: all datasets of the file, and one alone. */
#include "cells.h"

void fuzz_read(const uint8_t *data, size_t size) {
  fuzz_cells(fuzz_choice(data, size, 0) % 4 == 0 ? "hdf5{dataset = \"u\"}" : "hdf5", NULL, data,
             size);
}
