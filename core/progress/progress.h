/* Where progress is told: a terminal or a file of standard error, and a log of JSON lines. */
#ifndef SCULLERY_PROGRESS_TOLD_H
#define SCULLERY_PROGRESS_TOLD_H

#include "base/progress.h"

/* Called by the hook at every event. */
void scl_progress_show(scl_progress_event event, const scl_level *level);
void scl_progress_log(scl_progress_event event, const scl_level *level);

/* Take the line off the terminal, so that something else can be written; the next report brings it
 * back. */
void scl_progress_hide(void);

/* From now on progress is told by show(line) as often as on a terminal, in the place of standard
 * error; show("") where the work has ended. It is called by the thread that works. */
void scl_progress_show_by(void (*show)(const char *line));

/* What the innermost work does a second, by what it counts ("rows"); NaN: not known. */
double scl_progress_rate(const scl_level *levels, size_t count, double now, const char **unit);
/* The loss of the innermost level that knows one; NaN: none. */
double scl_progress_loss(const scl_level *levels, size_t count);

#endif
