/* A list of files that are being written, which are deleted when the process ends before they are
 * complete: by exit(), a second Ctrl-C, a fatal signal or a crash. After SIGKILL the next writer of
 * that name deletes them (data/files/temporary.h). */
#ifndef SCULLERY_UNFINISHED_H
#define SCULLERY_UNFINISHED_H

#include <stdbool.h>

/* Add a file; the caller keeps ownership of the name. Returns its place for scl_unfinished_forget;
 * -1: the list is full, and the file will not be deleted. */
int scl_unfinished_add(char *name);
/* Take a finished or deleted file off the list. False: the process is ending and uses the name,
 * which must not be released. */
bool scl_unfinished_forget(int place, char *name);
/* Delete the files that this process added. Async-signal-safe. */
void scl_unfinished_remove(void);
/* What the handlers below write to standard error before the process ends; NULL, as at first:
 * nothing. The text is not copied. */
void scl_unfinished_set_last_words(const char *text);
/* Install handlers of SIGINT, SIGTERM and SIGHUP that delete the files and end the process, for
 * those that still have the default action. */
void scl_unfinished_watch(void);

#endif
