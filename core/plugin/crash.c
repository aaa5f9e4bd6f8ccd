/* Reports of crashes and exits inside a plugin, before the process ends: the plugin, the slot and the
 * file. All functions that a handler calls are async-signal-safe; `put` and `report` therefore
 * assemble their line without stdio. */
#define _GNU_SOURCE
#include "plugin/crash.h"

#include "base/unfinished.h"
#include "plugin/call.h"
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

/* Append a text to a line of `size` bytes, cut if it is too long. Returns the new length. */
static size_t put(char *line, size_t used, size_t size, const char *text) {
  while (*text != 0 && used + 1 < size)
    line[used++] = *text++;
  return used;
}

static void report(const scl_call *call, const char *what) {
  char line[1024];
  const scl_plugin *plugin = &call->component->plugin;
  size_t used = put(line, 0, sizeof line, "scullery: ");
  used = put(line, used, sizeof line, what);
  used = put(line, used, sizeof line, " in ");
  if (plugin->name != NULL) {
    used = put(line, used, sizeof line, scl_kind_name(plugin->kind));
    used = put(line, used, sizeof line, ".");
    used = put(line, used, sizeof line, plugin->name);
    used = put(line, used, sizeof line, ", slot ");
  }
  used = put(line, used, sizeof line, call->slot);
  used = put(line, used, sizeof line, ", of ");
  used = put(line, used, sizeof line - 1, call->component->path);
  line[used++] = '\n';
  if (write(STDERR_FILENO, line, used) < 0) return;
}

/* Paths of plugins loaded from outside, which may have damaged memory before a crash elsewhere. */
enum { MOST_SUSPECTS = 16 };
static _Atomic(const char *) suspects[MOST_SUSPECTS];

void scl_crash_suspect(const char *path) {
  for (size_t i = 0; i < MOST_SUSPECTS; i++) {
    const char *none = NULL;
    if (atomic_compare_exchange_strong(&suspects[i], &none, path) || none == path) return;
  }
}

/* The line for a crash outside of any slot, with the suspects; none if there are no suspects. */
static void report_outside(const char *what) {
  char line[2048];
  size_t used = put(line, 0, sizeof line, "scullery: ");
  if (atomic_load(&suspects[0]) == NULL) return;
  used = put(line, used, sizeof line, what);
  used = put(line, used, sizeof line, " outside of any slot; loaded from outside:");
  for (size_t i = 0; i < MOST_SUSPECTS && atomic_load(&suspects[i]) != NULL; i++) {
    used = put(line, used, sizeof line, " ");
    used = put(line, used, sizeof line - 1, atomic_load(&suspects[i]));
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
static struct sigaction before[SIGNALS];

/* One thread reports; others wait for it to end the process, at most 0.2 s. */
static void on_crash(int number, siginfo_t *info, void *context) {
  static atomic_flag taken = ATOMIC_FLAG_INIT;
  static _Thread_local volatile sig_atomic_t mine;
  const struct timespec patience = {.tv_nsec = 200000000};
  const scl_call *call = scl_call_current();
  (void)context;
  if (mine) _exit(128 + number); /* whoever handled it before us came back */
  mine = 1;
  if (atomic_flag_test_and_set(&taken)) { /* another thread reports, and ends the process */
    (void)nanosleep(&patience, NULL);
    _exit(128 + number);
  }
  for (size_t i = 0; i < SIGNALS; i++) {
    if (signals[i].number != number) continue;
    if (call != NULL)
      report(call, signals[i].what);
    else
      report_outside(signals[i].what);
    (void)sigaction(number, &before[i], NULL);
  }
  scl_unfinished_remove();
  /* Again, as it would have been without us: an instruction that faults does so by itself. */
  if (info->si_code <= 0) (void)raise(number);
}

/* A slot that ends the process would end it with success: it ends with a failure instead. */
static void end_in_slot(const char *what) {
  static atomic_flag taken = ATOMIC_FLAG_INIT;
  const struct timespec patience = {.tv_nsec = 200000000};
  if (scl_call_current() == NULL) return;
  if (atomic_flag_test_and_set(&taken)) /* another thread reports, and ends the process */
    (void)nanosleep(&patience, NULL);
  else
    report(scl_call_current(), what);
  (void)fflush(NULL);
  scl_unfinished_remove();
  _exit(EXIT_FAILURE);
}

static void on_exit_in_slot(void) { end_in_slot("the process was ended by exit()"); }
static void on_quick_exit_in_slot(void) { end_in_slot("the process was ended by quick_exit()"); }

/* Of several threads that call exit() at once the first takes the last handler, and the next ends
 * the process when there is none left: there is one for each thread. */
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
  /* A stack that has no room left has none for a handler either. */
  if (sigaltstack(NULL, &now) != 0 || !(now.ss_flags & SS_DISABLE)) return; /* a sanitizer's */
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

/* ------------------------------------------------------------ a limit of time */

static void on_alarm(int number) {
  static const char what[] = "the time is up";
  const scl_call *call = scl_call_current();
  if (call != NULL)
    report(call, what);
  else
    report_outside(what);
  scl_unfinished_remove();
  (void)signal(number, SIG_DFL);
  (void)raise(number); /* comes when this handler has ended */
}

void scl_crash_limit(double seconds) {
  struct sigaction action = {.sa_handler = on_alarm, .sa_flags = SA_ONSTACK};
  const double whole = floor(seconds);
  const struct itimerval limit = {
      .it_value = {(time_t)whole, (suseconds_t)((seconds - whole) * 1e6)}};
  (void)sigemptyset(&action.sa_mask);
  (void)sigaction(SIGALRM, &action, NULL);
  (void)setitimer(ITIMER_REAL, &limit, NULL);
}
