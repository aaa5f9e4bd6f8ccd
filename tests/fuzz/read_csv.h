/* Options of CSV by the last bytes of an input. */
#ifndef SCULLERY_FUZZ_READ_CSV_H
#define SCULLERY_FUZZ_READ_CSV_H

#include "data/csv/csv.h"
#include "reader.h"

static inline scl_csv_options fuzz_csv_options(const uint8_t *data, size_t size) {
  static const char *const words[] = {"?", "missing-value", "N/A", "na", "", NULL},
                           *const names[] = {"a", "class", NULL};
  static const char separators[] = {0, ',', ';', '\t', '|', ' ', '.', '1'};
  const unsigned a = fuzz_choice(data, size, 0), b = fuzz_choice(data, size, 1);
  scl_csv_options o;
  scl_csv_defaults(&o);
  o.sparse = SCL_NO;
  if (a == '\n') return o; /* a file as it is */
  o.header = (scl_choice)(a % 3);
  o.classification = (scl_choice)(a / 3 % 3);
  o.target_place = (long)(a / 9 % 5) - 2;
  o.fill = (scl_missing)(b % 3);
  o.dtype = b / 3 % 2 == 0 ? SCL_DTYPE_FLOAT64 : SCL_DTYPE_FLOAT32;
  o.all_numeric = b / 6 % 4 == 1;
  o.drop_categorical = b / 6 % 4 == 2;
  o.separator = separators[b / 24 % 8];
  if (a & 64) o.missing = words;
  if (a & 128 && b & 1) o.levels = names;
  if (a & 128 && b & 2) o.skip = names + 1;
  if (a & 128 && b & 4) o.target = "a";
  return o;
}

static inline bool fuzz_packed(const uint8_t *data, size_t size) {
  return fuzz_choice(data, size, 2) % 8 == 1;
}

#endif
