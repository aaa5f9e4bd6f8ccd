/* The statements typed at the prompt, kept in a file that sessions share. */
#ifndef SCULLERY_HISTORY_H
#define SCULLERY_HISTORY_H

/* Read the file's statements in their order, each handed to `take` without its last newline. Where
 * the file, or its folder, cannot be written or made: a sentence on stderr, and nothing is kept. */
void scl_history_open(void (*take)(const char *statement));
/* Add one statement at the end of the file, after those that other sessions added meanwhile. */
void scl_history_add(const char *statement);

#endif
