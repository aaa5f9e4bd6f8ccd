/* Crashes inside a slot, and outside where a plugin may be the cause: a line that says where. */
#ifndef SCULLERY_CRASH_H
#define SCULLERY_CRASH_H

/* Let a crash, an abort and an exit inside a slot end with a line that names plugin, slot and file,
 * and an exit with a failure. For programs; a library leaves the signals of its program alone. */
void scl_crash_report(void);
/* End the process by SIGALRM after so many seconds, with such a line. */
void scl_crash_limit(double seconds);
/* A file that is none of ours was loaded, and a crash outside of any slot (of a thread of its own,
 * or of memory that it has overwritten) names it as possible. The text stays. */
void scl_crash_suspect(const char *path);
/* Give this thread what reports need of it: a stack for the handler when the thread's own is full,
 * and a handler of exit(). */
void scl_crash_prepare_thread(void);

#endif
