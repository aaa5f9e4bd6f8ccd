/* Progress on standard error: on a terminal one line that is overwritten and erased at the end, in
 * a file or a pipe a plain line every half minute. */
#define _DEFAULT_SOURCE
#include "base/characters.h"
#include "base/text.h"
#include "progress/progress.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

/* Seconds: work that is shorter is not shown; between two shows; and a piece that is shorter is not
 * named, so that the line does not change with every short walk. */
static const double FIRST = 1, AGAIN = 0.1, SHORT = 0.5, PLAIN = 30;

enum { MOST = 512 }; /* bytes of a line, with the terminating zero */

static struct {
  double written;       /* time of the last line */
  pthread_mutex_t lock; /* of what follows, and of the line itself: any thread may erase it */
  bool visible;         /* a line is on the terminal now */
  void (*by)(const char *line); /* NULL: on standard error */
} shown = {.lock = PTHREAD_MUTEX_INITIALIZER};

void scl_progress_show_by(void (*show)(const char *line)) {
  pthread_mutex_lock(&shown.lock);
  shown.by = show;
  pthread_mutex_unlock(&shown.lock);
}

double scl_progress_rate(const scl_level *levels, size_t count, double now, const char **unit) {
  for (size_t i = count; i > 0; i--) {
    const scl_level *level = &levels[i - 1];
    const bool by_rows = level->unit == NULL && level->rows > 0;
    const double done = level->unit != NULL ? level->done : by_rows ? level->rows : 0;
    *unit = by_rows ? "rows" : level->unit;
    if (done > 0 && now > level->began) return done / (now - level->began);
  }
  *unit = NULL;
  return NAN;
}

double scl_progress_loss(const scl_level *levels, size_t count) {
  for (size_t i = count; i > 0; i--)
    if (!isnan(levels[i - 1].loss)) return levels[i - 1].loss;
  return NAN;
}

/* ------------ one line of text */

/* A line that is being put together; `used` bytes without the terminating zero. */
typedef struct line {
  char text[MOST];
  size_t used;
} line;

/* Append to the line. What does not fit is cut off. */
static void add_text(line *to, const char *more) {
  to->used = scl_append(to->text, MOST, to->used, more);
  if (to->used >= MOST) to->used = MOST - 1;
}

/* ", 40 s left", ", 3 min left", ", 1.5 h left" */
static void add_left(line *to, double seconds) {
  char text[48];
  if (seconds < 100)
    (void)snprintf(text, sizeof text, ", %.0f s left", seconds);
  else if (seconds < 6000)
    (void)snprintf(text, sizeof text, ", %.0f min left", seconds / 60);
  else
    (void)snprintf(text, sizeof text, ", %.1f h left", seconds / 3600);
  add_text(to, text);
}

/* ", 45600 rows/s": rounded to three digits, which change less often. Below 100 one decimal is
 * shown. */
static void add_rate(line *to, double rate, const char *unit) {
  char text[80], number[32];
  if (strcmp(unit, "bytes") == 0) {
    (void)snprintf(text, sizeof text, ", %s/s", scl_bytes_text(rate, number));
  } else {
    const double digit = pow(10, floor(log10(fmax(rate, 1e-9))) - 2);
    (void)snprintf(text, sizeof text, ", %.*f %s/s", rate < 100, round(rate / digit) * digit, unit);
  }
  add_text(to, text);
}

/* "search 3 of 12", "learning 43%", "predict 1200 rows" */
static void add_level(line *to, const scl_level *level) {
  char text[64] = "";
  add_text(to, level->name);
  if (level->counted && level->total > 0)
    (void)snprintf(text, sizeof text, " %.0f of %.0f", fmin(level->done + 1, level->total),
                   level->total);
  else if (level->total > 0 && level->done > 0)
    (void)snprintf(text, sizeof text, " %.0f%%", 100 * fmin(level->done / level->total, 1));
  else if (level->counted && level->done > 0)
    (void)snprintf(text, sizeof text, " %.0f%s%s", level->done, level->unit == NULL ? "" : " ",
                   level->unit == NULL ? "" : level->unit);
  add_text(to, text);
}

/* Whether to show a level. Omitted are counted levels without a total or a finished step that
 * contain others, and pieces that have just begun. */
static bool is_named(const scl_level *levels, size_t i, size_t count, double now) {
  const bool last = i + 1 == count;
  if (levels[i].counted) return last || levels[i].total > 0 || levels[i].done > 0;
  return i == 0 || now - levels[i].began >= SHORT;
}

/* The whole line: the open levels, the time left of the outermost one that knows it, rate and
 * loss. */
static void describe_levels(line *to, double now) {
  size_t count;
  const char *unit;
  char text[64];
  const scl_level *levels = scl_levels(&count), *known = scl_level_known(levels, count, now);
  for (size_t i = 0; i < count; i++) {
    const bool alone = i + 1 == count && to->used == 0;
    if (!alone && !is_named(levels, i, count, now)) continue;
    if (to->used > 0) add_text(to, " > ");
    add_level(to, &levels[i]);
    if (&levels[i] != known) continue;
    add_left(to, scl_level_left(known, now));
    bool is_part = false; /* a level around this one has a total: say which of the two is meant */
    for (const scl_level *outer = levels; outer < known; outer++)
      is_part |= outer->total > 0;
    if (!is_part) continue;
    add_text(to, " in ");
    add_text(to, known->name);
  }
  const double rate = scl_progress_rate(levels, count, now, &unit);
  if (!isnan(rate)) add_rate(to, rate, unit);
  if (!isnan(scl_progress_loss(levels, count))) {
    (void)snprintf(text, sizeof text, ", loss %.4g", scl_progress_loss(levels, count));
    add_text(to, text);
  }
}

/* Cut the line to at most this many characters of UTF-8, each counted as one column. */
static void cut_to_columns(line *l, size_t columns) {
  size_t at = 0;
  for (; at < l->used; at++) {
    if (((unsigned char)l->text[at] & 0xC0) == 0x80) continue;
    if (columns-- == 0) break;
  }
  l->text[l->used = at] = 0;
}

/* ------------ where it goes */

/* SCULLERY_PROGRESS: seconds between plain lines. 0: nothing is shown; so it is if JSON lines go to
 * standard error. */
static double plain_interval(void) {
  const char *value = getenv("SCULLERY_PROGRESS"), *log = getenv("SCULLERY_LOG");
  if (log != NULL && strcmp(log, "-") == 0) return 0;
  return value == NULL || *value == 0 ? PLAIN : strtod(value, NULL);
}

/* Whether standard error is a terminal on which a line can be erased. */
static bool on_terminal(void) {
  static int known = -1;
  const char *kind = getenv("TERM");
  if (known < 0)
    known = isatty(STDERR_FILENO) && kind != NULL && *kind != 0 && strcmp(kind, "dumb") != 0;
  return known;
}

/* The width of the terminal on standard error; 80 if it is not known. */
static size_t terminal_columns(void) {
  struct winsize size = {0};
  const bool known = ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
  return known ? size.ws_col : 80;
}

/* Erase the line from the terminal, or let the function that shows it erase it. The lock is
 * held. */
static void hide_line(void) {
  if (!shown.visible) return;
  shown.visible = false;
  if (shown.by != NULL) {
    shown.by("");
    return;
  }
  (void)fputs("\r\033[K", stderr);
  (void)fflush(stderr);
}

void scl_progress_hide(void) {
  pthread_mutex_lock(&shown.lock);
  hide_line();
  pthread_mutex_unlock(&shown.lock);
}

/* Overwrite the previous line. The lock is held. */
static void put_line(line *l) {
  shown.visible = true;
  if (shown.by != NULL) {
    shown.by(l->text);
    return;
  }
  cut_to_columns(l, terminal_columns() - 1); /* a full line would wrap on some terminals */
  (void)fputc('\r', stderr);
  scl_write_shown(stderr, l->text, l->used);
  (void)fputs("\033[K", stderr);
  (void)fflush(stderr);
}

/* A report is shown if the work has lasted long enough and the last line is old enough. The line is
 * made before the lock is taken, as levels belong to this thread. */
void scl_progress_show(scl_progress_event event, const scl_level *level) {
  size_t count;
  const double now = scl_progress_clock(), every = plain_interval();
  const scl_level *levels = scl_levels(&count);
  const bool terminal = shown.by != NULL || on_terminal();
  if (event == SCL_PROGRESS_END && level == levels && count == 1) scl_progress_hide();
  if (event != SCL_PROGRESS_REPORT || every <= 0) return;
  const double first = terminal ? FIRST : every, again = terminal ? AGAIN : every;
  if (now - levels->began < first || now - shown.written < again) return;
  shown.written = now;
  line l = {0};
  describe_levels(&l, now);
  if (terminal) {
    pthread_mutex_lock(&shown.lock);
    put_line(&l);
    pthread_mutex_unlock(&shown.lock);
    return;
  }
  (void)fputs("scullery: ", stderr);
  scl_write_shown(stderr, l.text, l.used);
  (void)fputc('\n', stderr);
  (void)fflush(stderr);
}
