/* Progress as JSON lines, one object for each line, appended to the file that SCULLERY_LOG names
 * ("-": standard error):
 *
 *   {"time": seconds since 1970, "pid": process, "event": "begin" | "report" | "end",
 *    "levels": [{"name", "done", "total"}, ...], "stage": name of the level that the event is of,
 *    "done", "total", "rate", "unit", "loss", "iteration", "seconds": since that level began,
 *    "left": seconds left of the outermost level that knows it}
 *
 * Unknown values are omitted. Counted levels are written when they begin, at each step and when
 * they end; pieces of the engine's work at most once per second. */
#define _DEFAULT_SOURCE
#include "base/characters.h"
#include "base/file_limit.h"
#include "data/json.h"
#include "progress/progress.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static const double AGAIN = 1; /* seconds between reports of pieces */
enum { MOST = 16384 };         /* bytes of a line */

static struct {
  int file;       /* descriptor; 0: not opened yet; -1: there is no log, or it failed */
  double written; /* time of the last line about a piece of the engine's work */
} log_file;

/* Print a message and close the log; the work continues without it. */
static void give_up(int reason) {
  scl_progress_hide();
  const char *path = getenv("SCULLERY_LOG");
  (void)fputs("scullery: SCULLERY_LOG: cannot write to '", stderr);
  scl_write_shown(stderr, path, strlen(path));
  (void)fprintf(stderr, "': %s; the work goes on\n", strerror(reason));
  if (log_file.file > STDERR_FILENO) (void)close(log_file.file);
  log_file.file = -1;
}

/* A descriptor of the log, -1 with errno. */
static int open_target(const char *path) {
  if (strcmp(path, "-") == 0) return STDERR_FILENO;
  /* O_NONBLOCK: a pipe that nobody reads is an error; otherwise open() would wait for a reader. The
   * flag is cleared afterwards, so that writes are not cut. */
  const int file = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NONBLOCK, 0666);
  if (file >= 0) (void)fcntl(file, F_SETFL, O_APPEND);
  return file;
}

/* Whether there is a log. The file is opened at the first event. */
static bool is_open(void) {
  if (log_file.file != 0) return log_file.file > 0;
  const char *path = getenv("SCULLERY_LOG");
  log_file.file = path == NULL || *path == 0 ? -1 : open_target(path);
  if (log_file.file < 0 && path != NULL && *path != 0) give_up(errno);
  return log_file.file > 0;
}

/* ------------ one line */

/* Add a number if it is known: JSON has no NaN or infinity. */
static void add_number(cJSON *object, const char *name, double value) {
  if (isfinite(value)) (void)cJSON_AddNumberToObject(object, name, value);
}

/* A number rounded to a thousandth: enough digits for seconds and rates. */
static void add_rounded(cJSON *object, const char *name, double value) {
  add_number(object, name, round(1000 * value) / 1000);
}

/* JSON is UTF-8; of a name that is not, bytes beyond ASCII are left out. */
static void add_name(cJSON *object, const char *key, const char *name) {
  char plain[SCL_LEVEL_NAME];
  size_t length = 0;
  const bool is_text = scl_json_is_text(name, strlen(name));
  for (const char *at = name; *at != 0; at++)
    if (is_text || (unsigned char)*at < 0x80) plain[length++] = *at;
  plain[length] = 0;
  (void)cJSON_AddStringToObject(object, key, plain);
}

/* Write an event to `line` (MOST bytes, of which one is kept for the newline). False: it does not
 * fit, or there is no memory. Items that cannot be allocated are left out. */
static bool compose_line(scl_progress_event event, const scl_level *level, double now, char *line) {
  static const char *const names[] = {"begin", "report", "end"};
  size_t count;
  const char *unit;
  const scl_level *levels = scl_levels(&count), *known = scl_level_known(levels, count, now);
  cJSON *object = cJSON_CreateObject();
  struct timespec wall = {0};
  (void)clock_gettime(CLOCK_REALTIME, &wall);
  add_number(object, "time", (double)wall.tv_sec + 1e-3 * (double)(wall.tv_nsec / 1000000));
  add_number(object, "pid", (double)getpid());
  (void)cJSON_AddStringToObject(object, "event", names[event]);
  cJSON *list = cJSON_AddArrayToObject(object, "levels");
  for (size_t i = 0; i < count; i++) {
    cJSON *one = cJSON_CreateObject();
    add_name(one, "name", levels[i].name);
    add_number(one, "done", levels[i].done);
    add_number(one, "total", levels[i].total);
    if (!cJSON_AddItemToArray(list, one)) cJSON_Delete(one);
  }
  add_name(object, "stage", level->name);
  add_number(object, "done", level->done);
  add_number(object, "total", level->total);
  add_rounded(object, "rate", scl_progress_rate(levels, count, now, &unit));
  if (unit != NULL) (void)cJSON_AddStringToObject(object, "unit", unit);
  add_number(object, "loss", scl_progress_loss(levels, count));
  if (level->iteration > 0) add_number(object, "iteration", level->iteration);
  add_rounded(object, "seconds", now - level->began);
  if (known != NULL) add_rounded(object, "left", scl_level_left(known, now));
  const bool made = object != NULL && cJSON_PrintPreallocated(object, line, MOST - 2, false);
  cJSON_Delete(object);
  return made;
}

/* Write a line by one call, so that lines of several processes do not mix. SIGPIPE and the signal
 * of a file limit are blocked meanwhile: a closed pipe or a full file ends the log, not the
 * process. A SIGPIPE that this write raised is taken from the pending signals before they are
 * unblocked; one that was pending before is left. */
static void write_whole(const char *line, size_t length) {
  sigset_t pipe, before, waiting;
  (void)sigemptyset(&pipe);
  (void)sigaddset(&pipe, SIGPIPE);
  (void)sigpending(&waiting);
  const bool pending = sigismember(&waiting, SIGPIPE) == 1;
  (void)pthread_sigmask(SIG_BLOCK, &pipe, &before);
  const scl_file_limit held = scl_file_limit_block();
  ssize_t written;
  do
    written = write(log_file.file, line, length);
  while (written < 0 && errno == EINTR);
  const int reason = written < 0 ? errno : ENOSPC;
  scl_file_limit_restore(&held);
  if (written < 0 && reason == EPIPE && !pending)
    (void)sigtimedwait(&pipe, NULL, &(struct timespec){0});
  (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
  if (written != (ssize_t)length) give_up(reason);
}

/* A line that does not fit is left out; the log continues with the next one. */
void scl_progress_log(scl_progress_event event, const scl_level *level) {
  if (!is_open()) return;
  const double now = scl_progress_clock();
  if (!level->counted) {
    if (event != SCL_PROGRESS_REPORT || now - log_file.written < AGAIN) return;
    log_file.written = now;
  }
  char line[MOST];
  if (!compose_line(event, level, now, line)) return;
  if (log_file.file == STDERR_FILENO) scl_progress_hide();
  const size_t length = strlen(line);
  line[length] = '\n';
  write_whole(line, length + 1);
}
