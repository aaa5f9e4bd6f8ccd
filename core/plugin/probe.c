#define _GNU_SOURCE
#include "plugin/probe.h"

#include "plugin/registry.h"
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PATIENCE = 20000 }; /* milliseconds */

/* What the child sends. */
typedef struct answer {
  scl_status status;
  scl_probe probe;
  scl_error error;
} answer;

static void copy_text(char *to, size_t size, const char *from) {
  (void)snprintf(to, size, "%s", from == NULL ? "" : from);
}

static _Noreturn void answer_from_child(scl_kind kind, const char *name, int to) {
  const scl_component *component = NULL;
  answer a = {0};
  const int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
  (void)dup2(nowhere, STDOUT_FILENO);
  (void)dup2(nowhere, STDERR_FILENO);
  a.status = scl_registry_find(kind, name, &component, &a.error);
  if (a.status == SCL_STATUS_OK) {
    copy_text(a.probe.version, sizeof a.probe.version, component->plugin.version);
    copy_text(a.probe.summary, sizeof a.probe.summary, component->plugin.summary);
  }
  _exit(write(to, &a, sizeof a) == (ssize_t)sizeof a ? 0 : 1);
}

static scl_status refuse(const char *name, bool hangs, int status, scl_error *error) {
  if (hangs)
    return scl_fail(error, SCL_STATUS_UNSUPPORTED, "opening the file of '%s' did not end in %d s",
                    name, PATIENCE / 1000);
  if (WIFSIGNALED(status))
    return scl_fail(error, SCL_STATUS_UNSUPPORTED,
                    "opening the file of '%s' ends the process: %s (signal %d)", name,
                    strsignal(WTERMSIG(status)), WTERMSIG(status));
  return scl_fail(error, SCL_STATUS_UNSUPPORTED,
                  "opening the file of '%s' ends the process: exit(%d)", name, WEXITSTATUS(status));
}

scl_status scl_probe_component(scl_kind kind, const char *name, scl_probe *out, scl_error *error) {
  int ends[2], status = 0;
  answer a;
  if (pipe2(ends, O_CLOEXEC) != 0)
    return scl_fail(error, SCL_STATUS_IO, "no pipe can be made to look at '%s'", name);
  const pid_t child = fork();
  if (child == 0) answer_from_child(kind, name, ends[1]);
  (void)close(ends[1]);
  if (child < 0) {
    (void)close(ends[0]);
    return scl_fail(error, SCL_STATUS_IO, "no process can be started to look at '%s'", name);
  }
  struct pollfd wait = {.fd = ends[0], .events = POLLIN};
  const bool hangs = poll(&wait, 1, PATIENCE) == 0;
  const bool answered = !hangs && read(ends[0], &a, sizeof a) == (ssize_t)sizeof a;
  if (hangs) (void)kill(child, SIGKILL);
  (void)close(ends[0]);
  (void)waitpid(child, &status, 0);
  if (!answered) return refuse(name, hangs, status, error);
  *out = a.probe;
  return a.status == SCL_STATUS_OK ? SCL_STATUS_OK
                                   : scl_fail(error, a.status, "%s", a.error.message);
}
