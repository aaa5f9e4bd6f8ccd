/* Dates as numbers of days. */
#ifndef SCULLERY_DATE_H
#define SCULLERY_DATE_H

#include <stdbool.h>
#include <stddef.h>

/* The whole of text[0 .. length) as a date of ISO 8601 ("2024-02-29", also "2024/02/29"), with a
 * time or without ("2024-02-29T12:30:00.5Z", a blank for the T): days since 1970-01-01. A zone
 * other than Z is not taken. */
bool scl_parse_date(const char *text, size_t length, double *days);

#endif
