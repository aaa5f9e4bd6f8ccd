/* `close` leaves the file open. */
// caught by: surroundings fail
// says: number of open files
#include "reader.h"
static void wrong_close(void *opened) {
  ((table_file *)opened)->file = NULL;
  close_file(opened);
}
BROKEN_READER(.close = wrong_close)
