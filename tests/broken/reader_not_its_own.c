/* It does not recognise files of its format. */
// caught by: recognises fail
// says: its example: it is not recognised
#include "reader.h"
static int32_t wrong_recognises(const unsigned char *first, size_t size) {
  return size >= 12 && memcmp(first, "FLT2", 4) == 0;
}
BROKEN_READER(.recognises = wrong_recognises)
