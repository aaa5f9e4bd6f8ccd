/* Numbers, numbers as people write them, and dates. */
#include "data/date.h"
#include "data/number.h"
#include "reader.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What is printed must be read as the number that it was, and as the C library reads it. */
static void read_again(double value) {
  char text[32];
  double same = 0;
  const size_t length = scl_format_number(value, false, text);
  if (length >= sizeof text) fuzz_fail("a text longer than its room");
  if (!scl_parse_number(text, length, &same) || (same != value && !(isnan(same) && isnan(value))))
    fuzz_fail(text);
}

void fuzz_read(const uint8_t *data, size_t size) {
  char *text = malloc(size == 0 ? 1 : size); /* no 0 behind it: a read past its end is seen */
  double value = 0, days = 0;
  if (text == NULL) fuzz_fail("no memory");
  if (size > 0) memcpy(text, data, size);
  if (scl_parse_number(text, size, &value)) {
    char *copy = fuzz_text(data, size);
    const double wanted = strtod(copy, NULL);
    if (wanted != value && !(isnan(wanted) && isnan(value))) fuzz_fail("another number");
    free(copy);
    read_again(value);
  }
  if (scl_parse_loose_number(text, size, &value)) read_again(value);
  if (scl_parse_date_as(text, size, SCL_YEAR_FIRST, &days) && !(fabs(days) < 4e6))
    fuzz_fail("a date far away");
  free(text);
}
