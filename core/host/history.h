/* The history of statements typed at the prompt, in a file that sessions share. */
#ifndef SCULLERY_HISTORY_H
#define SCULLERY_HISTORY_H

/* Open the history, and call `take` for each statement in order, without its last newline. If the
 * file or its folder cannot be created or written, a message is printed to standard error, and
 * nothing is saved. */
void scl_history_open(void (*take)(const char *statement));
/* Append one statement to the file, after those that other sessions have added meanwhile. */
void scl_history_add(const char *statement);

#endif
