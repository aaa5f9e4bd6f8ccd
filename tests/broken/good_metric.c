/* The metric of `scullery plugin new`, as it is. */
#include "../../lua/scullery/templates/metric.c"
