/* The transport of `scullery plugin new`, as it is. */
#include "../../lua/scullery/templates/transport.c"
