/* The file of the history, ~/.local/state/scullery/history or below XDG_STATE_HOME.
 *
 * A line of the file is a statement, with "\134" for a backslash and "\012" for a newline: the
 * format of libedit's own history files, which older sessions wrote, read by its escapes.
 * Statements are appended under a lock, so that sessions that run at once do not lose each other's
 * statements. */
#define _GNU_SOURCE
#include "host/history.h"

#include "base/characters.h"
#include "base/file_limit.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

enum { KEPT = 5000, MOST = 2 * KEPT }; /* more than MOST statements are cut down to KEPT */

static const char cookie[] = "_HiStOrY_V2_\n";
static char path[4096];

/* ------------ the file */

/* Set `path`, and make the folders that lead to it. Returns the error of the first folder that
 * could not be made, or 0. */
static int find_path(void) {
  const char *base = getenv("XDG_STATE_HOME"), *home = getenv("HOME");
  path[0] = 0;
  int length = 0, error = 0;
  if (base != NULL && *base != 0)
    length = snprintf(path, sizeof path, "%s/scullery/history", base);
  else if (home != NULL && *home != 0)
    length = snprintf(path, sizeof path, "%s/.local/state/scullery/history", home);
  if (length < 0 || (size_t)length >= sizeof path) path[0] = 0;
  for (char *slash = path[0] == 0 ? NULL : strchr(path + 1, '/'); slash != NULL;
       slash = strchr(slash + 1, '/')) {
    *slash = 0;
    const bool failed = mkdir(path, 0700) != 0 && errno != EEXIST;
    if (failed && error == 0) error = errno;
    *slash = '/';
  }
  return error;
}

/* Open `path` if it is a plain file, otherwise return -1 with errno: reading a pipe would wait. */
static int open_plain(int flags) {
  struct stat about;
  const int file = open(path, flags | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, 0600);
  if (file < 0 || (fstat(file, &about) == 0 && S_ISREG(about.st_mode))) return file;
  (void)close(file);
  errno = ENOTSUP;
  return -1;
}

/* The file, locked until it is closed; NULL with errno. Another session may have replaced the file
 * while this one waited for the lock, so the path is checked to still be the same file. */
static FILE *open_locked(void) {
  for (int attempt = 0; attempt < 100; attempt++) {
    struct stat here, there;
    const int file = open_plain(O_RDWR | O_CREAT | O_APPEND);
    if (file < 0) return NULL;
    if (flock(file, LOCK_EX) == 0 && fstat(file, &here) == 0 && stat(path, &there) == 0 &&
        here.st_ino == there.st_ino && here.st_dev == there.st_dev) {
      FILE *stream = fdopen(file, "a+");
      if (stream == NULL) (void)close(file);
      return stream;
    }
    (void)close(file);
  }
  errno = EBUSY;
  return NULL;
}

/* ------------ lines */

/* Whether three octal digits of a byte follow. */
static bool is_octal(const char *digits) {
  return digits[0] >= '0' && digits[0] <= '3' && digits[1] >= '0' && digits[1] <= '7' &&
         digits[2] >= '0' && digits[2] <= '7';
}

/* The byte of an escape behind its backslash, and how many bytes it takes: octal digits, or the
 * forms of vis(3) for controls and bytes above 127. */
static size_t read_escape(const char *text, char *byte) {
  if (is_octal(text)) {
    *byte = (char)((text[0] - '0') * 64 + (text[1] - '0') * 8 + (text[2] - '0'));
    return 3;
  }
  if (text[0] == 'M' && text[1] == '-' && text[2] != 0) {
    *byte = (char)(text[2] | 0x80);
    return 3;
  }
  if (text[0] == 'M' && text[1] == '^' && text[2] != 0) {
    *byte = (char)((text[2] == '?' ? 0x7f : text[2] & 0x1f) | 0x80);
    return 3;
  }
  if (text[0] == '^' && text[1] != 0) {
    *byte = (char)(text[1] == '?' ? 0x7f : text[1] & 0x1f);
    return 2;
  }
  *byte = text[0] == 0 ? '\\' : text[0];
  return text[0] == 0 ? 0 : 1;
}

/* Replace the escapes of a line by the bytes that they stand for, in place, and drop newlines at
 * its end. */
static void decode_line(char *line) {
  char *to = line;
  for (const char *from = line; *from != 0;) {
    if (*from != '\\') {
      *to++ = *from++;
      continue;
    }
    from++;
    from += read_escape(from, to++);
  }
  *to = 0;
  while (to > line && to[-1] == '\n')
    *--to = 0;
}

/* One statement as one line of the file. */
static void write_encoded(FILE *file, const char *statement) {
  for (const char *at = statement; *at != 0; at++) {
    if (*at == '\\' || *at == '\n' || *at == '\r')
      (void)fprintf(file, "\\%03o", (unsigned char)*at);
    else
      (void)putc(*at, file);
  }
  (void)putc('\n', file);
}

/* ------------ reading */

/* A list of statements, each allocated by itself. */
typedef struct statements {
  char **lines;
  size_t count, room;
} statements;

/* Add a line to the list, which then owns it. False: no memory, and the caller keeps the line. */
static bool keep_line(statements *all, char *line) {
  if (all->count == all->room) {
    const size_t room = all->room == 0 ? 256 : 2 * all->room;
    char **more = realloc(all->lines, room * sizeof *more);
    if (more == NULL) return false;
    all->lines = more;
    all->room = room;
  }
  all->lines[all->count++] = line;
  return true;
}

/* All statements of the file, the oldest first. Statements that do not fit into memory are left
 * out. */
static statements read_statements(FILE *file) {
  statements all = {0};
  char *line = NULL;
  size_t size = 0;
  rewind(file);
  for (ssize_t length; (length = getline(&line, &size, file)) >= 0; line = NULL, size = 0) {
    if (strcmp(line, cookie) != 0) {
      if (length > 0 && line[length - 1] == '\n') line[length - 1] = 0;
      decode_line(line);
      if (*line != 0 && keep_line(&all, line)) continue;
    }
    free(line);
  }
  free(line);
  return all;
}

/* Replace the file by one with the last KEPT statements. On a failure the old file is kept. */
static void shorten_file(const statements *all) {
  char fresh[sizeof path + 32];
  (void)snprintf(fresh, sizeof fresh, "%s.%ld", path, (long)getpid());
  (void)unlink(fresh); /* of a session with this number that was killed */
  const int made = open(fresh, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  FILE *file = made < 0 ? NULL : fdopen(made, "w");
  if (file == NULL) {
    if (made >= 0) (void)close(made);
    return;
  }
  const scl_file_limit held = scl_file_limit_block();
  (void)fputs(cookie, file);
  for (size_t i = all->count - KEPT; i < all->count; i++)
    write_encoded(file, all->lines[i]);
  const bool written = ferror(file) == 0;
  if (fclose(file) != 0 || !written || rename(fresh, path) != 0) (void)unlink(fresh);
  scl_file_limit_restore(&held);
}

/* Report on standard error that statements are not saved, and why. */
static void say_lost(const char *why, const char *more) {
  (void)fputs("The history is not kept: ", stderr);
  scl_write_shown(stderr, path, strlen(path));
  (void)fprintf(stderr, ": %s.%s\n", why, more);
}

/* If the file cannot be written, it is read if possible, and `path` becomes empty: nothing is
 * saved. */
void scl_history_open(void (*take)(const char *statement)) {
  const int no_folder = find_path();
  FILE *file = path[0] == 0 ? NULL : open_locked();
  if (file == NULL) {
    if (path[0] == 0)
      (void)fputs("The history is not kept: neither HOME nor XDG_STATE_HOME is set.\n", stderr);
    else
      say_lost(errno == ENOTSUP ? "this is not a plain file"
                                : strerror(errno == ENOENT && no_folder != 0 ? no_folder : errno),
               "");
    const int old = path[0] == 0 ? -1 : open_plain(O_RDONLY);
    file = old < 0 ? NULL : fdopen(old, "r");
    path[0] = 0;
    if (file == NULL) return;
  }
  statements all = read_statements(file);
  for (size_t i = 0; i < all.count; i++)
    take(all.lines[i]);
  if (all.count > MOST && path[0] != 0) shorten_file(&all);
  (void)fclose(file);
  for (size_t i = 0; i < all.count; i++)
    free(all.lines[i]);
  free(all.lines);
}

/* The bytes to append for a statement, allocated; NULL with errno. A new file begins with the
 * cookie, and a torn last line is ended first. */
static char *make_addition(FILE *file, const char *statement, size_t *size) {
  char *text = NULL;
  /* A killed process or a full disk may have left half a line, without a newline. */
  const bool torn = fseek(file, -1, SEEK_END) == 0 && getc(file) != '\n';
  FILE *memory = open_memstream(&text, size);
  if (memory == NULL) return NULL;
  if (fseek(file, 0, SEEK_END) == 0 && ftell(file) == 0) (void)fputs(cookie, memory);
  if (torn) (void)putc('\n', memory);
  write_encoded(memory, statement);
  if (fclose(memory) == 0) return text;
  free(text);
  return NULL;
}

/* Append the whole text, or leave the file as it was. Returns 0 or the error. The lock is held. */
static int append_text(int file, const char *text, size_t size) {
  struct stat before;
  int reason = 0;
  if (fstat(file, &before) != 0) return errno;
  const scl_file_limit held = scl_file_limit_block();
  for (size_t put = 0; put < size && reason == 0;) {
    const ssize_t piece = write(file, text + put, size - put);
    if (piece > 0)
      put += (size_t)piece;
    else if (piece == 0 || errno != EINTR)
      reason = piece == 0 ? ENOSPC : errno;
  }
  scl_file_limit_restore(&held);
  if (reason != 0) (void)ftruncate(file, before.st_size);
  return reason;
}

/* Append a statement under the lock. Returns 0, or an error as errno has it. */
static int add_statement(const char *statement) {
  FILE *file = open_locked();
  if (file == NULL) return errno;
  size_t size = 0;
  char *text = make_addition(file, statement, &size);
  const int reason = text == NULL ? ENOMEM : append_text(fileno(file), text, size);
  free(text);
  (void)fclose(file);
  return reason;
}

/* Saving is tried again for each statement, because the disk may have room again; a failure is
 * reported once. */
void scl_history_add(const char *statement) {
  static bool said;
  const int reason = path[0] == 0 ? 0 : add_statement(statement);
  if (reason == 0 || said) return;
  said = true;
  say_lost(strerror(reason), " What it holds stays.");
}
