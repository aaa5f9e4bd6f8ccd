/* How far long work is: the engine says it, the command shows it. */
#ifndef SCULLERY_PROGRESS_H
#define SCULLERY_PROGRESS_H

#include <stdbool.h>

/* doing: "reading", "features" ...; done and total in rows (total 0: the work has ended). */
typedef void (*scl_progress_hook)(const char *doing, double done, double total);
void scl_progress_set_hook(scl_progress_hook hook);
/* Whether reports of this thread are left out. */
void scl_progress_mute(bool mute);
void scl_progress_report(const char *doing, double done, double total);

#endif
