/* Databases of SQLite: the rows of a query, of a table and of the only table. */
#include "cells.h"

void fuzz_read(const uint8_t *data, size_t size) {
  static const char *const choices[] = {"sqlite", "sqlite{table = \"t\"}",
                                        "sqlite{query = \"select x, count(*) from t group by x\"}"};
  fuzz_cells(choices[fuzz_choice(data, size, 0) % 3], NULL, data, size);
}
