/* The maximum is a sum. */
// caught by: maxima fail
// says: and the maximum is
#include "transport.h"

BROKEN_TRANSPORT(.maximum = my_sum)
