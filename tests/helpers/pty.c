/* Runs a command on a terminal of its own, for tests of the prompt:
 *   pty COLUMNS ROWS COMMAND [ARG...]
 * The standard input is what happens, a line each:
 *   type TEXT   keys; \e, \r, \n, \t, \\ and \xHH stand for bytes
 *   wait TEXT   until the terminal has shown the text, escape sequences aside, after what was
 *               waited for before
 *   end         until the command has ended
 * What the terminal showed goes to standard output. Exit status: that of the command; 99 where
 * something waited for did not come in 60 seconds (PTY_SECONDS), with a line on standard error. */
#define _GNU_SOURCE
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { NOT_SHOWN = 99 };

static long limit = 60; /* seconds; PTY_SECONDS says others */

static int terminal;
static pid_t child;

/* What the terminal showed, and the same without escape sequences, which is searched. */
static char *shown, *plain;
static size_t count, room, plain_count, seen;

static int from_hexadecimal(const char *digits) {
  char pair[3] = {digits[0], digits[0] == 0 ? (char)0 : digits[1], 0};
  return (int)strtol(pair, NULL, 16);
}

/* The text with its escapes replaced, in place; its length. */
static size_t unescape(char *text) {
  char *to = text;
  for (const char *from = text; *from != 0; from++) {
    if (*from != '\\') {
      *to++ = *from;
      continue;
    }
    switch (*++from) {
    case 'e':
      *to++ = 27;
      break;
    case 'r':
      *to++ = '\r';
      break;
    case 'n':
      *to++ = '\n';
      break;
    case 't':
      *to++ = '\t';
      break;
    case 'x':
      *to++ = (char)from_hexadecimal(from + 1);
      from += 2;
      break;
    default:
      *to++ = *from;
    }
  }
  return (size_t)(to - text);
}

/* Sequences such as ESC [ 3 1 m. */
static void add_plain(char byte) {
  static enum { TEXT, ESCAPE, SEQUENCE } state;
  if (state == SEQUENCE) {
    if (byte >= '@' && byte <= '~') state = TEXT;
  } else if (state == ESCAPE) {
    state = byte == '[' ? SEQUENCE : TEXT;
  } else if (byte == 27) {
    state = ESCAPE;
  } else {
    plain[plain_count++] = byte;
  }
}

/* Take what the terminal shows within some milliseconds; false at its end. */
static bool look(int milliseconds) {
  struct pollfd ready = {.fd = terminal, .events = POLLIN};
  if (poll(&ready, 1, milliseconds) <= 0) return true;
  if (room - count < 4096) {
    room = 2 * room + 8192;
    shown = realloc(shown, room);
    plain = realloc(plain, room);
    if (shown == NULL || plain == NULL) abort();
  }
  const ssize_t length = read(terminal, shown + count, room - count);
  if (length <= 0) return false;
  for (ssize_t i = 0; i < length; i++)
    add_plain(shown[count++]);
  return true;
}

static time_t now(void) {
  struct timespec time;
  (void)clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec;
}

static void tell(void) {
  if (count > 0) (void)fwrite(shown, 1, count, stdout);
  (void)fflush(stdout);
  free(shown);
  free(plain);
}

static int fail(const char *what, const char *text) {
  tell();
  (void)fprintf(stderr, "%s: %s\n", what, text);
  (void)kill(child, SIGKILL);
  return NOT_SHOWN;
}

static bool wait_for(const char *text, size_t length) {
  const time_t last = now() + limit;
  for (bool open = true; now() < last;) {
    const char *found =
        plain_count > seen ? memmem(plain + seen, plain_count - seen, text, length) : NULL;
    if (found != NULL) {
      seen = (size_t)(found - plain) + length;
      return true;
    }
    if (!open) return false;
    open = look(100);
  }
  return false;
}

static void type(const char *keys, size_t length) {
  while (length > 0) {
    const ssize_t written = write(terminal, keys, length);
    if (written <= 0) return;
    keys += written;
    length -= (size_t)written;
    (void)look(0);
  }
}

static bool wait_for_end(int *status) {
  const time_t last = now() + limit;
  while (now() < last) {
    if (!look(100)) {
      (void)waitpid(child, status, 0);
      return true;
    }
  }
  return false;
}

static int play(void) {
  char *line = NULL;
  size_t size = 0;
  int status = 0;
  for (ssize_t length; (length = getline(&line, &size, stdin)) > 0;) {
    if (line[length - 1] == '\n') line[length - 1] = 0;
    char *text = strchr(line, ' ') == NULL ? line + strlen(line) : strchr(line, ' ') + 1;
    char told[80];
    (void)snprintf(told, sizeof told, "%s", text);
    if (strncmp(line, "type ", 5) == 0) {
      type(text, unescape(text));
    } else if (strncmp(line, "wait ", 5) == 0) {
      if (!wait_for(text, unescape(text))) return fail("was not shown", told);
    } else if (strcmp(line, "end") == 0) {
      if (!wait_for_end(&status)) return fail("did not end", "");
    } else if (*line != 0) {
      return fail("is no step", line);
    }
  }
  free(line);
  tell();
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

int main(int arguments, char **values) {
  if (arguments < 4) return 2;
  const char *asked = getenv("PTY_SECONDS");
  if (asked != NULL) limit = strtol(asked, NULL, 10);
  const struct winsize size = {.ws_col = (unsigned short)atoi(values[1]),
                               .ws_row = (unsigned short)atoi(values[2])};
  child = forkpty(&terminal, NULL, NULL, &size);
  if (child < 0) {
    perror("forkpty");
    return 2;
  }
  if (child == 0) {
    (void)execvp(values[3], values + 3);
    perror(values[3]);
    _exit(127);
  }
  return play();
}
