/* The reader of `scullery plugin new`, as it is. */
#include "../../lua/scullery/templates/reader.c"
