/* The loss of `scullery plugin new`, as it is. */
#include "../../lua/scullery/templates/loss.c"
