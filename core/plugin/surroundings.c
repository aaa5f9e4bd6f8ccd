/* The state of the process that opening a plugin may change: locale, signal handlers, blocked
 * signals, current folder, mask of new files, environment. It is noted before and restored
 * after. */
#define _GNU_SOURCE
#include "plugin/surroundings.h"

#include "base/text.h"
#include <fcntl.h>
#include <locale.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { SIGNALS = 65 }; /* 1 .. 64 */

struct scl_surroundings {
  char *locale; /* of the process, as setlocale takes it */
  locale_t of_thread;
  struct sigaction actions[SIGNALS];
  bool has_action[SIGNALS];
  sigset_t blocked;
  int folder; /* a descriptor; -1: it cannot be opened */
  unsigned mask;
  char **environment; /* copies of all variables, NULL, and room for the link of `in_use` */
};

/* The list of changes, for the sentence about them. */
typedef struct report {
  char *text;
  size_t size, used;
} report;

/* Add a change to the list. */
static void list_change(report *r, const char *what) {
  if (r->used > 0) r->used = scl_append(r->text, r->size, r->used, ", ");
  r->used = scl_append(r->text, r->size, r->used, what);
}

/* ------------ notes */

/* The mask of new files. umask() reads it only by setting it, which other threads would see; the
 * kernel's file does not. 0 if it cannot be read. */
static unsigned read_mask(void) {
  char line[200];
  unsigned mask = 0;
  FILE *file = fopen("/proc/self/status", "re");
  while (file != NULL && fgets(line, sizeof line, file) != NULL)
    if (strncmp(line, "Umask:", 6) == 0) {
      mask = (unsigned)strtoul(line + 6, NULL, 8);
      break;
    }
  if (file != NULL) (void)fclose(file);
  return mask;
}

static size_t count_variables(char **list) {
  size_t count = 0;
  while (list != NULL && list[count] != NULL)
    count++;
  return count;
}

/* *out = copies of all variables, with two more places that are NULL. False: no memory; *out then
 * has the copies so far, which release_note frees. */
static bool copy_environment(char ***out) {
  const size_t count = count_variables(environ);
  char **copy = scl_allocate_zero((count + 2) * sizeof *copy);
  *out = copy;
  for (size_t i = 0; copy != NULL && i < count; i++)
    if ((copy[i] = scl_copy_text(environ[i])) == NULL) return false;
  return copy != NULL;
}

static void release_note(scl_surroundings *noted) {
  for (char **one = noted->environment; one != NULL && *one != NULL; one++)
    scl_release(*one);
  if (noted->folder >= 0) (void)close(noted->folder);
  SCL_RELEASE(noted->environment, noted->locale, noted);
}

scl_status scl_surroundings_note(scl_surroundings **out, scl_error *error) {
  scl_surroundings *noted = scl_allocate_zero(sizeof *noted);
  if (noted == NULL) return scl_fail_memory(error, sizeof *noted, "a plugin");
  const char *locale = setlocale(LC_ALL, NULL);
  noted->locale = scl_copy_text(locale == NULL ? "C" : locale);
  noted->of_thread = uselocale((locale_t)0);
  for (int i = 1; i < SIGNALS; i++)
    noted->has_action[i] = sigaction(i, NULL, &noted->actions[i]) == 0;
  (void)pthread_sigmask(SIG_SETMASK, NULL, &noted->blocked);
  noted->folder = open(".", O_PATH | O_DIRECTORY | O_CLOEXEC);
  noted->mask = read_mask();
  if (!copy_environment(&noted->environment) || noted->locale == NULL) {
    release_note(noted);
    return scl_fail_memory(error, sizeof *noted, "a plugin");
  }
  *out = noted;
  return SCL_STATUS_OK;
}

/* ------------ restoring */

/* Each of the four functions below restores one part of the state, and lists it if it had
 * changed. */
static void restore_locale(const scl_surroundings *noted, report *r) {
  const char *locale = setlocale(LC_ALL, NULL);
  const bool other = locale != NULL && strcmp(locale, noted->locale) != 0;
  if (!other && uselocale((locale_t)0) == noted->of_thread) return;
  (void)setlocale(LC_ALL, noted->locale);
  (void)uselocale(noted->of_thread);
  list_change(r, "the locale");
}

/* Handlers are compared by function and flags; SIGKILL, SIGSTOP and signals of the C library cannot
 * be read, and are skipped. */
static void restore_signals(const scl_surroundings *noted, report *r) {
  char what[80];
  sigset_t blocked;
  for (int i = 1; i < SIGNALS; i++) {
    struct sigaction now = {0};
    const struct sigaction *before = &noted->actions[i];
    if (!noted->has_action[i] || sigaction(i, NULL, &now) != 0 ||
        (now.sa_flags == before->sa_flags && now.sa_handler == before->sa_handler))
      continue;
    (void)sigaction(i, before, NULL);
    (void)snprintf(what, sizeof what, "the handler of signal %d (%s)", i, strsignal(i));
    list_change(r, what);
  }
  (void)pthread_sigmask(SIG_SETMASK, &noted->blocked, &blocked);
  for (int i = 1; i < SIGNALS; i++)
    if (sigismember(&blocked, i) != sigismember(&noted->blocked, i)) {
      list_change(r, "which signals are blocked");
      return;
    }
}

static void restore_folder(const scl_surroundings *noted, report *r) {
  struct stat now, before;
  if (noted->folder < 0 || fstat(noted->folder, &before) != 0) return;
  if (stat(".", &now) == 0 && now.st_dev == before.st_dev && now.st_ino == before.st_ino) return;
  if (fchdir(noted->folder) == 0) list_change(r, "the current folder");
}

/* Copies that became the environment. They are never freed, as any part of the process may still
 * point to one of their texts; behind its end each array points to the one before. */
static char **in_use;

/* The environment is compared in order; if it differs, all variables are replaced by the copies. */
static void restore_environment(scl_surroundings *noted, report *r) {
  size_t same = 0; /* variables that are unchanged, from the first on */
  while (environ != NULL && environ[same] != NULL && noted->environment[same] != NULL &&
         strcmp(environ[same], noted->environment[same]) == 0)
    same++;
  if ((environ == NULL || environ[same] == NULL) && noted->environment[same] == NULL) return;
  (void)clearenv();
  for (char **one = noted->environment; *one != NULL; one++)
    (void)putenv(*one);
  noted->environment[count_variables(noted->environment) + 1] = (char *)(void *)in_use;
  in_use = noted->environment;
  noted->environment = NULL;
  list_change(r, "the environment");
}

bool scl_surroundings_restore(scl_surroundings *noted, char *text, size_t size) {
  report r = {.text = text, .size = size};
  if (noted == NULL) return false;
  text[0] = 0;
  restore_locale(noted, &r);
  restore_signals(noted, &r);
  restore_folder(noted, &r);
  if (read_mask() != noted->mask) {
    (void)umask((mode_t)noted->mask);
    list_change(&r, "the mask of new files");
  }
  restore_environment(noted, &r);
  release_note(noted);
  return r.used > 0;
}
