/* Reports of crashes inside a slot, and of crashes outside that a plugin may have caused: a line
 * that says where. */
#ifndef SCULLERY_CRASH_H
#define SCULLERY_CRASH_H

#include <stdbool.h>

/* Report a crash, an abort and an exit inside a slot with a line that names plugin, slot and file;
 * an exit then has the status of failure. Called by programs, once at their start: a library must
 * not set the signal handlers of the program that uses it. */
void scl_crash_report(void);
/* Have an exit inside a slot told before it is reported, once in a process: told(sentence) returns
 * whether it is to be reported. */
void scl_crash_tell(bool (*told)(const char *sentence));
/* End the process by SIGALRM after this many seconds, with such a line. */
void scl_crash_limit(double seconds);
/* A plugin from outside of the installation was loaded. A crash outside of any slot (in a thread of
 * the plugin's own, or through memory that it has overwritten) names it as a possible cause. The
 * text must stay until the process ends. */
void scl_crash_suspect(const char *path);
/* Prepare this thread for reports: a stack for the signal handler, for when the thread's own is
 * full, and a handler of exit(). */
void scl_crash_prepare_thread(void);

#endif
