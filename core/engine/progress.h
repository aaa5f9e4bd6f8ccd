/* How far long work is: the engine says it, the command shows it. */
#ifndef SCULLERY_PROGRESS_H
#define SCULLERY_PROGRESS_H

/* doing: "reading", "features" ...; done and total in rows (total 0: the work has ended). */
typedef void (*scl_progress_hook)(const char *doing, double done, double total);
void scl_progress_set_hook(scl_progress_hook hook);
void scl_progress_report(const char *doing, double done, double total);

#endif
