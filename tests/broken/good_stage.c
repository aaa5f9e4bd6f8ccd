/* The row stage of `scullery plugin new`, as it is. */
#include "../../lua/scullery/templates/stage.c"
