/* The list of unfinished files, in atomic variables, because signal handlers read it. */
#define _POSIX_C_SOURCE 200809L
#include "base/unfinished.h"

#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PLACES = 64 };

/* An atomic exchange takes a name off the list, so that either the writer or the ending process has
 * it, never both. */
static _Atomic(char *) names[PLACES];
static _Atomic(long) writer; /* the process that added names; its children delete nothing */
static _Atomic(const char *) last_words;
static atomic_flag at_exit = ATOMIC_FLAG_INIT;

int scl_unfinished_add(char *name) {
  if (!atomic_flag_test_and_set(&at_exit)) (void)atexit(scl_unfinished_remove);
  atomic_store(&writer, (long)getpid());
  for (int place = 0; place < PLACES; place++) {
    char *none = NULL;
    if (atomic_compare_exchange_strong(&names[place], &none, name)) return place;
  }
  return -1;
}

bool scl_unfinished_forget(int place, char *name) {
  return place < 0 || atomic_compare_exchange_strong(&names[place], &name, NULL);
}

void scl_unfinished_remove(void) {
  if (atomic_load(&writer) != (long)getpid()) return;
  for (int place = 0; place < PLACES; place++) {
    const char *name = atomic_exchange(&names[place], NULL);
    if (name != NULL) (void)unlink(name);
  }
}

void scl_unfinished_set_last_words(const char *text) { atomic_store(&last_words, text); }

/* The handler: delete the files, then let the signal end the process in its default way. */
static void on_end(int number) {
  const char *words = atomic_load(&last_words);
  scl_unfinished_remove();
  if (words != NULL) (void)!write(STDERR_FILENO, words, strlen(words));
  (void)signal(number, SIG_DFL);
  (void)raise(number);
}

void scl_unfinished_watch(void) {
  static const int ends[] = {SIGINT, SIGTERM, SIGHUP};
  struct sigaction now, action = {.sa_handler = on_end};
  (void)sigemptyset(&action.sa_mask);
  for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
    if (sigaction(ends[i], NULL, &now) == 0 && now.sa_handler == SIG_DFL)
      (void)sigaction(ends[i], &action, NULL);
}
