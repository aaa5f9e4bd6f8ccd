/* Names of files that are being written, so that none stays half-written where the process ends in
 * the middle: at exit(), by a second Ctrl-C, by a signal that ends it, by a crash. What SIGKILL
 * leaves is removed by the next writer of that name (data/files/temporary.h). */
#ifndef SCULLERY_UNFINISHED_H
#define SCULLERY_UNFINISHED_H

#include <stdbool.h>

/* Remember the file; the name stays the caller's. Returns its place for scl_unfinished_forget, -1
 * where there is none left: the file is then not removed. */
int scl_unfinished_note(char *name);
/* The file is finished or removed. False where the process is ending and the name is in use: it
 * must not be released. */
bool scl_unfinished_forget(int place, char *name);
/* Remove what was noted by this process; async-signal-safe. */
void scl_unfinished_remove(void);
/* From now on SIGINT, SIGTERM and SIGHUP remove what was noted, where they end the process; then
 * they do. */
void scl_unfinished_watch(void);

#endif
