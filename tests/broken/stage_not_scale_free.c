/* It declares that a factor of the rows does not matter, which it does. */
// caught by: scale-free fail
// says: rows times
#include "stage.h"

BROKEN_STAGE(.flags = SCL_STAGE_SCALE_FREE | SCL_STAGE_BY_COLUMN)
