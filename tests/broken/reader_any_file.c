/* It takes every file of 12 bytes or more. */
// caught by: recognises fail
// says: that are not a file of its format
#include "reader.h"
static int32_t wrong_recognises(const unsigned char *first, size_t size) {
  (void)first;
  return size >= 12;
}
BROKEN_READER(.recognises = wrong_recognises)
