/* Reports of crashes and exits inside a plugin, before the process ends: the plugin, the slot and
 * the file. All functions that a handler calls are async-signal-safe; `append_text` and
 * `report_call` therefore assemble their line without stdio. */
#define _GNU_SOURCE
#include "plugin/crash.h"

#include "base/process.h"
#include "base/unfinished.h"
#include "plugin/call.h"
#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

/* Append a text to a line of `size` bytes, cut if it is too long. Returns the new length. */
static size_t append_text(char *line, size_t used, size_t size, const char *text) {
  while (*text != 0 && used + 1 < size)
    line[used++] = *text++;
  return used;
}

enum { LINE = 1024 };
static const char prefix[] = "scullery: ";

/* line = "scullery: WHAT in KIND.NAME, slot SLOT, of FILE" and its end, of LINE bytes at most.
 * Returns its length without the end. */
static size_t compose_call(const scl_call *call, const char *what, char *line) {
  const size_t size = LINE - 1;
  const scl_plugin *plugin = &call->component->plugin;
  size_t used = append_text(line, 0, size, prefix);
  used = append_text(line, used, size, what);
  used = append_text(line, used, size, " in ");
  if (plugin->name != NULL) {
    used = append_text(line, used, size, scl_kind_name(plugin->kind));
    used = append_text(line, used, size, ".");
    used = append_text(line, used, size, plugin->name);
    used = append_text(line, used, size, ", slot ");
  }
  used = append_text(line, used, size, call->slot);
  used = append_text(line, used, size, ", of ");
  used = append_text(line, used, size, call->component->path);
  line[used] = '\n';
  line[used + 1] = 0;
  return used;
}

static void write_line(const char *line, size_t length) {
  if (write(STDERR_FILENO, line, length + 1) < 0) return;
}

static void report_call(const scl_call *call, const char *what) {
  char line[LINE];
  write_line(line, compose_call(call, what, line));
}

/* Paths of plugins loaded from outside, which may have damaged memory before a crash elsewhere. */
enum { MOST_SUSPECTS = 16 };
static _Atomic(const char *) suspects[MOST_SUSPECTS];

void scl_crash_suspect(const char *path) {
  for (size_t i = 0; i < MOST_SUSPECTS; i++) {
    const char *none = NULL;
    /* The first free place is taken; a path that is there already is not added again. */
    if (atomic_compare_exchange_strong(&suspects[i], &none, path) || none == path) return;
  }
}

/* The line for a crash outside of any slot, with the suspects; none if there are no suspects. */
static void report_outside(const char *what) {
  char line[2048];
  size_t used = append_text(line, 0, sizeof line, "scullery: ");
  if (atomic_load(&suspects[0]) == NULL) return;
  used = append_text(line, used, sizeof line, what);
  used = append_text(line, used, sizeof line, " outside of any slot; loaded from outside:");
  for (size_t i = 0; i < MOST_SUSPECTS && atomic_load(&suspects[i]) != NULL; i++) {
    used = append_text(line, used, sizeof line, " ");
    used = append_text(line, used, sizeof line - 1, atomic_load(&suspects[i]));
  }
  line[used++] = '\n';
  if (write(STDERR_FILENO, line, used) < 0) return;
}

static const struct {
  int number;
  const char *what;
} signals[] = {{SIGSEGV, "crash (segmentation fault)"},
               {SIGBUS, "crash (bus error)"},
               {SIGFPE, "crash (arithmetic exception)"},
               {SIGILL, "crash (illegal instruction)"},
               {SIGABRT, "crash (abort, or a C++ exception that was not caught)"}};
enum { SIGNALS = sizeof signals / sizeof *signals };
/* The handlers that were set before ours, which on_crash restores. */
static struct sigaction before[SIGNALS];

/* One thread reports; others wait for it to end the process, at most 0.2 s. */
static void on_crash(int number, siginfo_t *info, void *context) {
  static atomic_flag taken = ATOMIC_FLAG_INIT;
  static _Thread_local volatile sig_atomic_t mine;
  const struct timespec patience = {.tv_nsec = 200000000};
  const scl_call *call = scl_call_current();
  (void)context;
  if (mine) _exit(128 + number); /* the earlier handler returned, and the crash came again */
  mine = 1;
  if (atomic_flag_test_and_set(&taken)) { /* another thread reports, and ends the process */
    (void)nanosleep(&patience, NULL);
    _exit(128 + number);
  }
  for (size_t i = 0; i < SIGNALS; i++) {
    if (signals[i].number != number) continue;
    if (call != NULL)
      report_call(call, signals[i].what);
    else
      report_outside(signals[i].what);
    (void)sigaction(number, &before[i], NULL);
  }
  scl_unfinished_remove();
  /* With the earlier handler restored, the signal must come again. An instruction that faults is
   * executed again when this handler returns; a signal that was sent (si_code <= 0) must be sent
   * again. */
  if (info->si_code <= 0) (void)raise(number);
}

static bool (*tell)(const char *sentence);

void scl_crash_tell(bool (*told)(const char *sentence)) { tell = told; }

/* The handler of exit(). If a slot ends the process, it might do so with the status of success: it
 * ends with a failure instead, and a line that names the slot. */
static void end_in_slot(const char *what) {
  static atomic_flag taken = ATOMIC_FLAG_INIT;
  const struct timespec patience = {.tv_nsec = 200000000};
  if (scl_call_current() == NULL) return;
  char line[LINE];
  const size_t used = compose_call(scl_call_current(), what, line);
  if (atomic_flag_test_and_set(&taken)) /* another thread reports, and ends the process */
    (void)nanosleep(&patience, NULL);
  else if (tell == NULL || tell(line + sizeof prefix - 1))
    write_line(line, used);
  (void)fflush(NULL);
  scl_unfinished_remove();
  _exit(EXIT_FAILURE);
}

static void on_exit_in_slot(void) { end_in_slot("the process was ended by exit()"); }
static void on_quick_exit_in_slot(void) { end_in_slot("the process was ended by quick_exit()"); }

/* Register one handler of exit() for each thread: if several threads call exit() at once, each
 * takes one handler, and one that finds none left would end the process while the first still
 * writes. */
static void watch_exit(void) {
  (void)atexit(on_exit_in_slot);
  (void)at_quick_exit(on_quick_exit_in_slot);
}

static atomic_bool reports;

void scl_crash_prepare_thread(void) {
  static _Thread_local _Alignas(64) char memory[1 << 15];
  static _Thread_local bool used;
  const stack_t stack = {.ss_sp = memory, .ss_size = sizeof memory};
  stack_t now;
  if (used || !atomic_load_explicit(&reports, memory_order_relaxed)) return;
  used = true;
  watch_exit();
  /* After a stack overflow the thread's own stack has no room for a handler, so it gets another. A
   * sanitizer may have set one already. */
  if (sigaltstack(NULL, &now) != 0 || !(now.ss_flags & SS_DISABLE)) return;
  (void)sigaltstack(&stack, NULL);
}

void scl_crash_report(void) {
  struct sigaction action = {.sa_sigaction = on_crash,
                             .sa_flags = SA_ONSTACK | SA_NODEFER | SA_SIGINFO};
  (void)sigemptyset(&action.sa_mask);
  atomic_store(&reports, true);
  for (size_t i = 0; i < SIGNALS; i++)
    (void)sigaction(signals[i].number, &action, &before[i]);
  watch_exit();
}

/* ------------ a limit of time */

static double limit_seconds, limit_began, limit_waited;

static double seconds_now(void) {
  struct timespec now;
  (void)clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Seconds that are left of the limit, without those in which the process waited for a processor. */
static double seconds_left(void) {
  const double waited = scl_process_waited(getpid()) - limit_waited;
  return limit_seconds - (seconds_now() - limit_began) +
         fmin(waited, SCL_PROCESS_WAITS * limit_seconds);
}

/* Report where the process is, then let SIGALRM end it as it does by default. */
static void on_alarm(int number) {
  static const char what[] = "the time is up";
  const int before_call = errno;
  const double left = seconds_left();
  if (left > 0.1) { /* it waited for a processor */
    (void)alarm((unsigned)ceil(left));
    errno = before_call;
    return;
  }
  const scl_call *call = scl_call_current();
  if (call != NULL)
    report_call(call, what);
  else
    report_outside(what);
  scl_unfinished_remove();
  (void)signal(number, SIG_DFL);
  (void)raise(number); /* delivered when this handler returns, as it is blocked until then */
}

void scl_crash_limit(double seconds) {
  struct sigaction action = {.sa_handler = on_alarm, .sa_flags = SA_ONSTACK | SA_RESTART};
  const double whole = floor(seconds);
  limit_seconds = seconds;
  limit_began = seconds_now();
  limit_waited = scl_process_waited(getpid());
  const struct itimerval limit = {
      .it_value = {(time_t)whole, (suseconds_t)((seconds - whole) * 1e6)}};
  (void)sigemptyset(&action.sa_mask);
  (void)sigaction(SIGALRM, &action, NULL);
  (void)setitimer(ITIMER_REAL, &limit, NULL);
}
