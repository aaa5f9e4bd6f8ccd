/* A column has a type that there is not. */
// caught by: rows fail
// says: type
#include "reader.h"
static scl_status wrong_schema(void *opened, scl_reader_schema *out, scl_error *error) {
  ((table_file *)opened)->column[0].type = 17;
  return schema(opened, out, error);
}
BROKEN_READER(.schema = wrong_schema)
