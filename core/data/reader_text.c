/* The texts of dates and times of a reader's cells. */
#include "data/reader.h"

#include <stdio.h>

/* The date `days` after 1970-01-01 in the proleptic Gregorian calendar (Hinnant, "chrono-
 * compatible low-level date algorithms", civil_from_days). */
size_t scl_cell_write_date(int64_t days, char *to) {
  enum { ERA = 146097, FIRST = -719162, LAST = 2932896 }; /* 0001-01-01, 9999-12-31 */
  if (days < FIRST || days > LAST) return 0;
  const int64_t z = days + 719468, era = z / ERA, of_era = z - era * ERA;
  const int64_t year_of_era = (of_era - of_era / 1460 + of_era / 36524 - of_era / (ERA - 1)) / 365;
  const int64_t of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
  const int64_t month = (5 * of_year + 2) / 153, day = of_year - (153 * month + 2) / 5 + 1;
  const int64_t civil = month < 10 ? month + 3 : month - 9;
  return (size_t)snprintf(to, SCL_CELL_LONGEST, "%04d-%02d-%02d",
                          (int)(year_of_era + era * 400 + (civil <= 2)), (int)civil, (int)day);
}

size_t scl_cell_write_time(int64_t time, int64_t per_second, char *to) {
  enum { DAY = 86400 };
  int64_t seconds = time / per_second, rest = time % per_second;
  if (rest < 0) {
    rest += per_second;
    seconds--;
  }
  int64_t days = seconds / DAY, of_day = seconds % DAY;
  if (of_day < 0) {
    of_day += DAY;
    days--;
  }
  size_t used = scl_cell_write_date(days, to);
  if (used == 0) return 0;
  used += (size_t)snprintf(to + used, SCL_CELL_LONGEST - used, "T%02d:%02d:%02d",
                           (int)(of_day / 3600), (int)(of_day / 60 % 60), (int)(of_day % 60));
  const int digits = per_second >= 1000000000 ? 9 : per_second >= 1000000 ? 6 : 3;
  if (rest > 0 && per_second > 1)
    used +=
        (size_t)snprintf(to + used, SCL_CELL_LONGEST - used, ".%0*lld", digits, (long long)rest);
  return used;
}
