/* Dates as numbers of days. */
#ifndef SCULLERY_DATE_H
#define SCULLERY_DATE_H

#include <stdbool.h>
#include <stddef.h>

/* Which part of a date comes first: 2024-12-31, 31.12.2024 (31/12/2024, 31-12-2024) or 12/31/2024
 * (12-31-2024). */
typedef enum scl_date_order { SCL_YEAR_FIRST = 0, SCL_DAY_FIRST, SCL_MONTH_FIRST } scl_date_order;
enum { SCL_DATE_ORDERS = 3 };
/* "year", "day", "month", then NULL. */
extern const char *const scl_date_order_names[SCL_DATE_ORDERS + 1];

/* The whole of text[0 .. length) as a date in that order ("2024-02-29", also "2024/02/29"), with a
 * time or without ("2024-02-29T12:30:00.5Z", a blank for the T): days since 1970-01-01. A zone
 * other than Z is not taken. Days and months of day-first and month-first dates may have one
 * digit. */
bool scl_parse_date_as(const char *text, size_t length, scl_date_order order, double *days);

#endif
