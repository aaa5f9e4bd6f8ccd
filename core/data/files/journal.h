/* A file of lines to which several processes add, and by which they share work.
 *
 * A line is added at once, under a lock, and is on the disk when the call returns; where the disk
 * is full nothing of it stays. What a killed writer left of a line is cut off by the next use of
 * the file. A claim is a lock on one place far behind the end of the file: it is given up by the
 * process that holds it, or by the system when that process ends in whichever way. */
#ifndef SCULLERY_JOURNAL_H
#define SCULLERY_JOURNAL_H

#include "base/memory.h"

typedef struct scl_journal scl_journal;

/* Whether there is such a file. SCL_STATUS_IO where it is no plain file, which a reader might wait
 * for. */
scl_status scl_journal_is_there(const char *path, bool *is_there, scl_error *error);
/* Open the file, or make it; its first line is `header`, which is put where there is none.
 * SCL_STATUS_IO where it cannot be written or its file system has no locks. */
scl_status scl_journal_open(const char *path, const char *header, size_t length, scl_journal **out,
                            scl_error *error);
/* Gives up all claims; NULL does nothing. */
void scl_journal_close(scl_journal *journal);

/* The whole lines that were added since the last read, by whomever: *text is to be released, and
 * *bytes is how much of the file was read with it. */
scl_status scl_journal_read(scl_journal *journal, char **text, size_t *length, size_t *bytes,
                            scl_error *error);
/* Add the line, which ends with a newline and has no other. SCL_STATUS_IO: it is not there. */
scl_status scl_journal_add(scl_journal *journal, const char *line, size_t length, scl_error *error);

/* Claim a place (below 2^56): *mine false where another journal, of this or another process, has
 * it. */
scl_status scl_journal_claim(scl_journal *journal, uint64_t place, bool *mine, scl_error *error);
void scl_journal_disclaim(scl_journal *journal, uint64_t place);

#endif
