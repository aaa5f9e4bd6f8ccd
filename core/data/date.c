/* Dates and times as days since 1970-01-01. Called by the CSV reader. */
#include "data/date.h"

const char *const scl_date_order_names[SCL_DATE_ORDERS + 1] = {"year", "day", "month", NULL};

/* `count` digits at *at; false where there are fewer. */
static bool digits(const char **at, const char *end, int count, int *out) {
  *out = 0;
  for (; count > 0; count--, (*at)++) {
    if (*at >= end || **at < '0' || **at > '9') return false;
    *out = 10 * *out + (**at - '0');
  }
  return true;
}

/* Passes the character `wanted`, if it is next. */
static bool sign(const char **at, const char *end, char wanted) {
  if (*at >= end || **at != wanted) return false;
  (*at)++;
  return true;
}

static int days_of_month(int year, int month) {
  static const int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  const bool leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
  return month == 2 && leap ? 29 : days[month - 1];
}

/* Days since 1970-01-01 in the Gregorian calendar. The year begins in March here, so that the leap
 * day is its last: its months have (153 m + 2) / 5 days before month m. */
static long days_of_date(int year, int month, int day) {
  const long y = year - (month <= 2), m = (month + 9) % 12;
  const long before = (153 * m + 2) / 5 + day - 1;
  return 365 * y + y / 4 - y / 100 + y / 400 + before - 719468;
}

/* "12:30", "12:30:00", "12:30:00.5" and a Z, as a share of a day. */
static bool parse_time(const char *at, const char *end, double *share) {
  int hour, minute, second = 0;
  double part = 0, unit = 0.1;
  if (!digits(&at, end, 2, &hour) || !sign(&at, end, ':') || !digits(&at, end, 2, &minute))
    return false;
  if (sign(&at, end, ':')) {
    if (!digits(&at, end, 2, &second)) return false;
    if (sign(&at, end, '.'))
      for (; at < end && *at >= '0' && *at <= '9'; at++, unit /= 10)
        part += unit * (*at - '0');
  }
  (void)sign(&at, end, 'Z');
  *share = (hour * 3600 + minute * 60 + second + part) / 86400;
  return at == end && hour < 24 && minute < 60 && second < 61;
}

/* One digit or two. */
static bool short_number(const char **at, const char *end, int *out) {
  const bool two = *at + 1 < end && (*at)[1] >= '0' && (*at)[1] <= '9';
  return digits(at, end, two ? 2 : 1, out);
}

/* "31.12.2024", "12/31/2024" */
static bool parse_year_last(const char **at, const char *end, bool month_first, int *year,
                            int *month, int *day) {
  int first, second;
  if (!short_number(at, end, &first) || *at >= end) return false;
  const char between = **at;
  if (between != '/' && between != '-' && (between != '.' || month_first)) return false;
  if (!sign(at, end, between) || !short_number(at, end, &second) || !sign(at, end, between))
    return false;
  *month = month_first ? first : second;
  *day = month_first ? second : first;
  return digits(at, end, 4, year);
}

static bool parse_year_first(const char **at, const char *end, int *year, int *month, int *day) {
  const char *text = *at;
  if (end - text < 10 || (text[4] != '-' && text[4] != '/')) return false;
  return digits(at, end, 4, year) && sign(at, end, text[4]) && digits(at, end, 2, month) &&
         sign(at, end, text[4]) && digits(at, end, 2, day);
}

bool scl_parse_date_as(const char *text, size_t length, scl_date_order order, double *days) {
  const char *at = text, *end = text + length;
  int year, month, day;
  double share = 0;
  const bool read = order == SCL_YEAR_FIRST
                        ? parse_year_first(&at, end, &year, &month, &day)
                        : parse_year_last(&at, end, order == SCL_MONTH_FIRST, &year, &month, &day);
  if (!read || year < 1 || month < 1 || month > 12 || day < 1 || day > days_of_month(year, month))
    return false;
  if (at < end) {
    if (!sign(&at, end, 'T') && !sign(&at, end, ' ')) return false;
    if (!parse_time(at, end, &share)) return false;
  }
  *days = (double)days_of_date(year, month, day) + share;
  return true;
}
