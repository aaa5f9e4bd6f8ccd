/* Files of lines that several processes extend, with locks as claims on work. Called by
 * core/lua/journal.c. */
#define _GNU_SOURCE
#include "data/files/journal.h"
#include "base/file_limit.h"
#include "base/interrupt.h"
#include "base/text.h"
#include "data/files/temporary.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* Places of locks in the file, behind all that is written. Locks belong to the open file, so that
 * two journals of one process hold each other off as well. */
static const off_t CLAIMS = (off_t)1 << 60, WRITING = (off_t)1 << 61;

struct scl_journal {
  char *path;
  int file;
  size_t read; /* bytes that scl_journal_read gave */
};

static scl_status cannot(const scl_journal *journal, const char *what, int reason,
                         scl_error *error) {
  return scl_fail(error, SCL_STATUS_IO, "%s: %s: %s", journal->path, what, strerror(reason));
}

/* ------------ locks */

/* Sets or releases a lock on one byte without waiting; 0, or errno. */
static int set_lock(const scl_journal *journal, short type, off_t place) {
  struct flock lock = {.l_type = type, .l_whence = SEEK_SET, .l_start = place, .l_len = 1};
  return fcntl(journal->file, F_OFD_SETLK, &lock) == 0 ? 0 : errno;
}

/* Whether errno means that another journal holds the lock. */
static bool is_taken(int reason) { return reason == EAGAIN || reason == EACCES; }

static scl_status no_locks(const scl_journal *journal, int reason, scl_error *error) {
  return scl_fail(
      error, SCL_STATUS_IO,
      "%s: this file system has no locks (%s), by which runs share their work; choose a "
      "folder on another",
      journal->path, strerror(reason));
}

/* Wait for the lock of writers, who hold it for the time of one write. */
static scl_status begin(const scl_journal *journal, scl_error *error) {
  struct timespec pause = {0, 100000}; /* 0.1 ms, up to 5 ms */
  for (;;) {
    const int reason = set_lock(journal, F_WRLCK, WRITING);
    if (reason == 0) return SCL_STATUS_OK;
    if (!is_taken(reason)) return no_locks(journal, reason, error);
    SCL_TRY(scl_interrupt_check(error));
    (void)nanosleep(&pause, NULL);
    if (pause.tv_nsec < 5000000) pause.tv_nsec *= 2;
  }
}

static void end(const scl_journal *journal) { (void)set_lock(journal, F_UNLCK, WRITING); }

scl_status scl_journal_claim(scl_journal *journal, uint64_t place, bool *mine, scl_error *error) {
  const int reason = set_lock(journal, F_WRLCK, CLAIMS + (off_t)place);
  *mine = reason == 0;
  return reason == 0 || is_taken(reason) ? SCL_STATUS_OK : no_locks(journal, reason, error);
}

void scl_journal_disclaim(scl_journal *journal, uint64_t place) {
  (void)set_lock(journal, F_UNLCK, CLAIMS + (off_t)place);
}

/* ------------ what is there; the lock is held */

/* *size = the size of the file. Fails if the path no longer leads to this file: another run would
 * not see lines added to one that was removed. */
static scl_status measure(const scl_journal *journal, off_t *size, scl_error *error) {
  struct stat ours, there;
  if (fstat(journal->file, &ours) != 0) return cannot(journal, "cannot be read", errno, error);
  if (stat(journal->path, &there) != 0 || there.st_ino != ours.st_ino ||
      there.st_dev != ours.st_dev)
    return scl_fail(error, SCL_STATUS_IO, "%s: was removed or replaced while it was in use",
                    journal->path);
  *size = ours.st_size;
  return SCL_STATUS_OK;
}

/* Exactly `size` bytes from place `from`. */
static scl_status read_at(const scl_journal *journal, char *to, size_t size, off_t from,
                          scl_error *error) {
  for (size_t got = 0; got < size;) {
    const ssize_t piece = pread(journal->file, to + got, size - got, from + (off_t)got);
    if (piece < 0 && errno == EINTR) continue;
    if (piece <= 0) return cannot(journal, "cannot be read", piece < 0 ? errno : EIO, error);
    got += (size_t)piece;
  }
  return SCL_STATUS_OK;
}

/* *end_of_lines = the place after the last line feed, searched from the end; 0: there is none. */
static scl_status find_end(const scl_journal *journal, off_t size, off_t *end_of_lines,
                           scl_error *error) {
  enum { PIECE = 4096 };
  char piece[PIECE];
  for (off_t last = size; last > 0;) {
    const size_t count = scl_min((size_t)last, PIECE);
    SCL_TRY(read_at(journal, piece, count, last - (off_t)count, error));
    const char *newline = memrchr(piece, '\n', count);
    last -= (off_t)count;
    if (newline == NULL) continue;
    *end_of_lines = last + (newline - piece) + 1;
    return SCL_STATUS_OK;
  }
  *end_of_lines = 0;
  return SCL_STATUS_OK;
}

/* Cuts off a last line without an end: nobody else writes while we hold the lock, so that a killed
 * writer left it. */
static scl_status cut_off_torn(const scl_journal *journal, off_t *size, scl_error *error) {
  off_t whole;
  SCL_TRY(measure(journal, size, error));
  SCL_TRY(find_end(journal, *size, &whole, error));
  if (whole == *size) return SCL_STATUS_OK;
  if (ftruncate(journal->file, whole) != 0)
    return cannot(journal, "the unfinished line at its end cannot be cut off", errno, error);
  *size = whole;
  return SCL_STATUS_OK;
}

/* ------------ adding */

/* Appends a line and puts it on the disk. A reader without the lock sees all of it, or a line
 * without an end. After a failure the file is cut back to `size`. */
static scl_status write_line(const scl_journal *journal, const char *line, size_t length,
                             off_t size, scl_error *error) {
  const scl_file_limit held = scl_file_limit_block();
  int reason = 0;
  for (size_t put = 0; put < length && reason == 0;) {
    const ssize_t piece = write(journal->file, line + put, length - put);
    if (piece > 0)
      put += (size_t)piece;
    else if (piece == 0 || errno != EINTR)
      reason = piece == 0 ? ENOSPC : errno;
  }
  scl_file_limit_restore(&held);
  if (reason == 0 && fdatasync(journal->file) != 0 && errno != EINVAL) /* EINVAL: none there */
    reason = errno;
  if (reason == 0) return SCL_STATUS_OK;
  const bool back = ftruncate(journal->file, size) == 0;
  return cannot(journal,
                back ? "nothing could be added, and what was there is kept"
                     : "a line was written in part, which the next run cuts off",
                reason, error);
}

/* Adds a line under the lock; only_first: nothing if the file has lines already. */
static scl_status add(scl_journal *journal, const char *line, size_t length, bool only_first,
                      scl_error *error) {
  off_t size = 0;
  SCL_TRY(begin(journal, error));
  scl_status status = cut_off_torn(journal, &size, error);
  if (status == SCL_STATUS_OK && !(only_first && size > 0))
    status = write_line(journal, line, length, size, error);
  end(journal);
  return status;
}

scl_status scl_journal_add(scl_journal *journal, const char *line, size_t length,
                           scl_error *error) {
  return add(journal, line, length, false, error);
}

/* ------------ reading */

scl_status scl_journal_read(scl_journal *journal, char **text, size_t *length, size_t *bytes,
                            scl_error *error) {
  off_t size = 0;
  *text = NULL;
  *length = 0;
  SCL_TRY(begin(journal, error));
  scl_status status = cut_off_torn(journal, &size, error);
  if (status == SCL_STATUS_OK && size < (off_t)journal->read)
    status = scl_fail(error, SCL_STATUS_IO, "%s: was cut off while it was in use", journal->path);
  const size_t more = status == SCL_STATUS_OK ? (size_t)size - journal->read : 0;
  if (status == SCL_STATUS_OK && (*text = scl_allocate(more + 1)) == NULL)
    status = scl_fail_memory(error, more, "the lines of a file");
  if (status == SCL_STATUS_OK) status = read_at(journal, *text, more, (off_t)journal->read, error);
  end(journal);
  if (status != SCL_STATUS_OK) {
    scl_release(*text);
    *text = NULL;
    return status;
  }
  journal->read += more;
  *length = more;
  *bytes = journal->read;
  return SCL_STATUS_OK;
}

/* ------------ opening */

scl_status scl_journal_is_there(const char *path, bool *is_there, scl_error *error) {
  struct stat file;
  *is_there = stat(path, &file) == 0;
  if (*is_there && !S_ISREG(file.st_mode))
    return scl_fail(error, SCL_STATUS_IO, "%s: this is not a plain file", path);
  return SCL_STATUS_OK;
}

static scl_status open_file(scl_journal *journal, scl_error *error) {
  struct stat file;
  journal->file =
      open(journal->path, O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, 0666);
  if (journal->file < 0 || fstat(journal->file, &file) != 0)
    return cannot(journal, "cannot be written", errno, error);
  if (!S_ISREG(file.st_mode))
    return scl_fail(error, SCL_STATUS_IO, "%s: this is not a plain file", journal->path);
  return SCL_STATUS_OK;
}

scl_status scl_journal_open(const char *path, const char *header, size_t length, scl_journal **out,
                            scl_error *error) {
  scl_journal *journal = scl_allocate_zero(sizeof *journal);
  if (journal == NULL || (journal->path = scl_copy_text(path)) == NULL) {
    scl_release(journal);
    return scl_fail_memory(error, sizeof *journal, "a file");
  }
  journal->file = -1;
  scl_status status = open_file(journal, error);
  if (status == SCL_STATUS_OK) status = add(journal, header, length, true, error);
  if (status != SCL_STATUS_OK) {
    scl_journal_close(journal);
    return status;
  }
  scl_temporary_sync_folder(path);
  *out = journal;
  return SCL_STATUS_OK;
}

void scl_journal_close(scl_journal *journal) {
  if (journal == NULL) return;
  if (journal->file >= 0) (void)close(journal->file);
  SCL_RELEASE(journal->path, journal);
}
