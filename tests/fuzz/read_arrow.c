/* Arrow files and streams, whole and one column alone. */
#include "cells.h"

void fuzz_read(const uint8_t *data, size_t size) {
  fuzz_cells("arrow", fuzz_choice(data, size, 0) % 4 == 0 ? "s" : NULL, data, size);
}
