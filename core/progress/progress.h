/* Output of progress: on standard error (a terminal or a file), and as a log of JSON lines. */
#ifndef SCULLERY_PROGRESS_OUTPUT_H
#define SCULLERY_PROGRESS_OUTPUT_H

#include "base/progress.h"

/* Called by the hook of base/progress.h for each event, on the working thread. */
void scl_progress_show(scl_progress_event event, const scl_level *level);
void scl_progress_log(scl_progress_event event, const scl_level *level);

/* Erase the line from the terminal before other output; the next report shows it again. */
void scl_progress_hide(void);

/* Show progress by show(line) instead of on standard error, as often as on a terminal; show("") at
 * the end of the work. Called on the working thread. NULL: standard error again. */
void scl_progress_show_by(void (*show)(const char *line));

/* The rate of the innermost level per second, and its unit ("rows"); NaN: not known. */
double scl_progress_rate(const scl_level *levels, size_t count, double now, const char **unit);
/* The loss of the innermost level that has one; NaN: none. */
double scl_progress_loss(const scl_level *levels, size_t count);

#endif
