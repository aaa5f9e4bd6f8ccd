/* Misbehaviour of slots at run time, as lines of the script say:
 *
 *   at SLOT crash segv|fpe|abort|stack     at SLOT exit N       at SLOT hang
 *   at SLOT quick N                        quick_exit(N)
 *   at SLOT round                          leaves the rounding mode changed
 *   at SLOT flush                          leaves denormal numbers to be flushed to zero
 *   at SLOT meddle locale|text|handler|block|folder|mask|set|unset
 *                                          changes that of the whole process (text: the thread's
 *                                          locale; set, unset: a variable)
 *                                          output|child|thread|leak|open|file|srand|print|complain|leave
 *                                          (closes standard output, starts a process or a thread
 *                                          that stays, never frees, never closes, writes a file,
 *                                          srand, prints, prints to standard error, _exit)
 *   at SLOT stop N, at SLOT past N         computes N numbers fewer, or more, than it is asked for
 *   at SLOT status N                       returns N, without a sentence
 *   at SLOT fail N TEXT                    host->fail(error, N, TEXT)
 *   at SLOT set MEMBER VALUE               of the table that it has filled in
 *   at SLOT number I X, at SLOT integer I N   of the numbers that it has written (I = -1: all)
 *   at SLOT give X, at SLOT say TEXT       in place of its own number or text
 *   at SLOT ask VERB                       of the problem or learning, from inside the slot's visit
 *   at SLOT size N                         bytes of a table that it makes for the host */
#define _GNU_SOURCE
#include "specimen.h"

#include <fcntl.h>
#include <fenv.h>
#include <locale.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

#if defined(__GNUC__)
#define REAL_CRASH __attribute__((noinline, no_sanitize("undefined", "address")))
#else
#define REAL_CRASH
#endif

REAL_CRASH static int divide(volatile int one, volatile int by) { return one / by; }

/* Without end, though the compiler cannot know. */
REAL_CRASH static size_t recurse(volatile char *above, volatile int again) {
  volatile char room[4096];
  room[0] = above == NULL ? 0 : above[0];
  return again ? recurse(room, again) + (size_t)room[0] : 0;
}

REAL_CRASH static void crash(const char *how) {
  volatile uintptr_t place = 8;
  volatile int *nowhere = (volatile int *)place;
  if (strncmp(how, "segv", 4) == 0) *nowhere = 1;
  if (strncmp(how, "fpe", 3) == 0) *nowhere = divide(1, 0);
  if (strncmp(how, "stack", 5) == 0) *nowhere = (int)recurse(NULL, 1);
  abort();
}

static void ignore(int number) { (void)number; }

static void *wait_for_ever(void *nothing) {
  for (;;)
    (void)pause();
  return nothing;
}

/* A file that is removed at once, so that the test leaves nothing behind. */
static void write_file(void) {
  char path[] = "/tmp/scullery-broken-XXXXXX";
  const int file = mkstemp(path);
  (void)!write(file, "log\n", 4);
  (void)unlink(path);
  (void)close(file);
}

static void *volatile kept; /* the last of what leaks */

/* What stays behind when the slot has returned. */
static void leave_behind(const char *with) {
  pthread_t thread;
  if (strncmp(with, "child", 5) == 0 && fork() == 0) (void)wait_for_ever(NULL);
  if (strncmp(with, "thread", 6) == 0) (void)pthread_create(&thread, NULL, wait_for_ever, NULL);
  if (strncmp(with, "leak", 4) == 0) kept = malloc(64);
  if (strncmp(with, "open", 4) == 0) (void)open("/dev/null", O_RDONLY);
  if (strncmp(with, "output", 6) == 0) (void)close(STDOUT_FILENO);
  if (strncmp(with, "file", 4) == 0) write_file();
  if (strncmp(with, "srand", 5) == 0) srand(7);
  if (strncmp(with, "print", 5) == 0) (void)printf("so many numbers\n");
  if (strncmp(with, "complain", 8) == 0) (void)dprintf(STDERR_FILENO, "so many numbers\n");
  if (strncmp(with, "leave", 5) == 0) _exit(0);
}

static void meddle(const char *with) {
  leave_behind(with);
  sigset_t signals;
  (void)sigemptyset(&signals);
  (void)sigaddset(&signals, SIGUSR2);
  if (strncmp(with, "locale", 6) == 0) (void)setlocale(LC_ALL, "C.UTF-8");
  if (strncmp(with, "text", 4) == 0) (void)uselocale(newlocale(LC_ALL_MASK, "C.UTF-8", NULL));
  if (strncmp(with, "handler", 7) == 0) (void)signal(SIGUSR1, ignore);
  if (strncmp(with, "block", 5) == 0) (void)pthread_sigmask(SIG_BLOCK, &signals, NULL);
  if (strncmp(with, "folder", 6) == 0 && chdir("/") != 0) abort();
  if (strncmp(with, "mask", 4) == 0) (void)umask(0);
  if (strncmp(with, "set", 3) == 0) (void)setenv("SCULLERY_THREADS", "1", 1);
  if (strncmp(with, "unset", 5) == 0) (void)unsetenv("PATH");
}

scl_status upset(const scl_host *host, const char *slot, scl_error *error) {
  const char *rest;
  size_t from = 0;
  if ((rest = script_line(slot, "crash", &from)) != NULL) crash(rest);
  from = 0;
  if ((rest = script_line(slot, "exit", &from)) != NULL) exit(atoi(rest));
  from = 0;
  if ((rest = script_line(slot, "quick", &from)) != NULL) quick_exit(atoi(rest));
  from = 0;
  while (script_line(slot, "hang", &from) != NULL)
    from = 0, (void)sleep(1);
  from = 0;
  if (script_line(slot, "round", &from) != NULL) (void)fesetround(FE_UPWARD);
#if defined(__x86_64__)
  from = 0;
  if (script_line(slot, "flush", &from) != NULL) _mm_setcsr(_mm_getcsr() | 0x8040);
#endif
  from = 0;
  while ((rest = script_line(slot, "meddle", &from)) != NULL)
    meddle(rest);
  from = 0;
  if ((rest = script_line(slot, "status", &from)) != NULL) return (scl_status)atoi(rest);
  from = 0;
  if ((rest = script_line(slot, "fail", &from)) != NULL) {
    char *text = NULL;
    const long status = strtol(rest, &text, 10);
    return host->fail(error, (scl_status)status, "%.*s", (int)strcspn(text, "\n"), text);
  }
  return SCL_STATUS_OK;
}

void disturb(const char *slot, const char *type, void *table) {
  const char *rest;
  for (size_t from = 0; (rest = script_line(slot, "set", &from)) != NULL;) {
    char member[60] = "";
    size_t size;
    (void)snprintf(member, sizeof member, "%.*s", (int)strcspn(rest, " "), rest);
    const size_t place = member_place(type, member, &size);
    if (size > 0) write_value((char *)table + place, size, rest + strlen(member) + 1);
  }
}

/* The next line "VERB I X" from *from on: whether there is one, its I and where X stands. */
static int next_number(const char *slot, const char *verb, size_t *from, long *at, char **value) {
  const char *rest = script_line(slot, verb, from);
  if (rest != NULL) *at = strtol(rest, value, 10);
  return rest != NULL;
}

void disturb_numbers(const char *slot, double *numbers, size_t count) {
  long at;
  char *value;
  for (size_t from = 0; next_number(slot, "number", &from, &at, &value);)
    for (size_t i = 0; i < count; i++)
      if (at < 0 || (size_t)at == i) numbers[i] = strtod(value, NULL);
}

void disturb_integers(const char *slot, int32_t *numbers, size_t count) {
  long at;
  char *value;
  for (size_t from = 0; next_number(slot, "integer", &from, &at, &value);)
    for (size_t i = 0; i < count; i++)
      if (at < 0 || (size_t)at == i) numbers[i] = (int32_t)strtol(value, NULL, 10);
}

size_t disturbed_count(const char *slot, size_t count) {
  size_t from = 0;
  const char *rest = script_line(slot, "stop", &from);
  const size_t fewer = rest == NULL ? 0 : strtoul(rest, NULL, 10);
  count -= fewer < count ? fewer : count;
  from = 0;
  if ((rest = script_line(slot, "past", &from)) != NULL) count += strtoul(rest, NULL, 10);
  return count;
}

double disturbed(const char *slot, double own) {
  size_t from = 0;
  const char *rest = script_line(slot, "give", &from);
  return rest == NULL ? own : strtod(rest, NULL);
}

const char *disturbed_text(const char *slot, const char *own, char text[200]) {
  size_t from = 0;
  const char *rest = script_line(slot, "say", &from);
  if (rest == NULL) return own;
  (void)snprintf(text, 200, "%.*s", (int)strcspn(rest, "\n"), rest);
  return text;
}

/* ------------ tables that the host fills in */

enum { GUARD = 64, GUARDED = 0xa5 };

void *open_table(const char *slot, size_t size) {
  size_t from = 0;
  const char *rest = script_line(slot, "size", &from);
  if (rest != NULL) size = strtoul(rest, NULL, 10);
  const scl_head head = {SCL_ABI, (uint32_t)size};
  char *memory = calloc(1, sizeof(size_t) * 2 + size + GUARD);
  if (memory == NULL) abort();
  memcpy(memory, &size, sizeof size);
  memory += sizeof(size_t) * 2;
  memcpy(memory, &head, sizeof head);
  memset(memory + size, GUARDED, GUARD);
  return memory;
}

int close_table(void *table) {
  char *memory = table;
  size_t size;
  int whole = 1;
  memcpy(&size, memory - sizeof(size_t) * 2, sizeof size);
  for (size_t i = 0; i < GUARD; i++)
    whole = whole && (unsigned char)memory[size + i] == GUARDED;
  free(memory - sizeof(size_t) * 2);
  return whole;
}
