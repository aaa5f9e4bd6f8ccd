/* Decimal text to double, exact and independent of the locale. */
#ifndef SCULLERY_NUMBER_H
#define SCULLERY_NUMBER_H

#include <stdbool.h>
#include <stddef.h>

/* The whole of text[0 .. length) as a number ("1", "-2.5", "1e-3", "inf", "nan"); false when it is none. The byte text[length] is readable. */
bool scl_parse_number(const char *text, size_t length, double *out);

#endif
