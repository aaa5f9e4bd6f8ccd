/* Workers: further processes of this program, which run the same command, write their output to a
 * pipe and exchange messages over a socket. */
#define _GNU_SOURCE
#include "base/worker.h"
#include "base/interrupt.h"
#include "base/numbers.h"
#include "base/spawn.h"
#include "base/text.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* The environment variable holds "PROCESS INODE SETTINGS": the process that started the worker, and
 * the inode of the worker's end of the socket. By the inode, a process that a worker starts and
 * that inherits the variable is not taken for a worker. */
static const char VARIABLE[] = "SCULLERY_WORKER";
enum { SOCKET = 3 }; /* descriptor in the worker */

struct scl_worker {
  pid_t process; /* 0: ended */
  int status;    /* of waitpid, once it has ended */
  int output, messages;
};

/* ------------ starting */

/* The arguments of this process as a NULL-terminated list that points into *block; NULL: out of
 * memory, or /proc is missing. The caller releases both. */
static char **own_arguments(char **block) {
  size_t used = 0, room = 0, count = 0;
  char *text = NULL, **list = NULL;
  FILE *file = fopen("/proc/self/cmdline", "re");
  for (int c = 0; file != NULL && (c = fgetc(file)) != EOF;) {
    char *longer = scl_grow(text, used, &room, 1);
    if (longer == NULL) break;
    text = longer;
    text[used++] = (char)c;
    count += c == 0;
  }
  const bool whole = file != NULL && feof(file) && count > 0;
  if (file != NULL) (void)fclose(file);
  if (whole) list = scl_allocate_array(count + 1, sizeof *list);
  if (list == NULL) {
    scl_release(text);
    return NULL;
  }
  char *at = text;
  for (size_t i = 0; i < count; i++, at += strlen(at) + 1)
    list[i] = at;
  list[count] = NULL;
  *block = text;
  return list;
}

/* Whether an entry of the environment sets the variable `name`. */
static bool is_variable(const char *entry, const char *name) {
  const size_t length = strlen(name);
  return strncmp(entry, name, length) == 0 && entry[length] == '=';
}

/* The environment of this process with two variables replaced: a list to release. */
static char **changed_environment(char *worker, char *threads) {
  size_t count = 0, used = 0;
  while (environ[count] != NULL)
    count++;
  char **list = scl_allocate_array(count + 3, sizeof *list);
  if (list == NULL) return NULL;
  for (size_t i = 0; i < count; i++)
    if (!is_variable(environ[i], VARIABLE) && !is_variable(environ[i], "SCULLERY_THREADS"))
      list[used++] = environ[i];
  list[used++] = worker;
  list[used++] = threads;
  list[used] = NULL;
  return list;
}

/* Open a pipe and a pair of sockets; [0] is the end of this process, [1] that of the worker. The
 * numbers of the latter are above SOCKET, so that dup2 in the worker overwrites none of them.
 * Returns 0 or an errno. */
static int open_ends(int output[2], int messages[2]) {
  output[0] = output[1] = messages[0] = messages[1] = -1;
  if (pipe2(output, O_CLOEXEC) != 0 ||
      socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, messages) != 0 ||
      fcntl(output[0], F_SETFL, O_NONBLOCK) != 0)
    return errno;
  const int ends[2] = {output[1], messages[1]};
  output[1] = fcntl(ends[0], F_DUPFD_CLOEXEC, SOCKET + 1);
  messages[1] = fcntl(ends[1], F_DUPFD_CLOEXEC, SOCKET + 1);
  const int reason = output[1] < 0 || messages[1] < 0 ? errno : 0;
  (void)close(ends[0]);
  (void)close(ends[1]);
  return reason;
}

static void close_end(int end) {
  if (end >= 0) (void)close(end);
}

/* Starts the worker and stores this process's ends in *worker. Returns 0 or an errno; the ends
 * stay open in either case, for the caller to close. */
static int start_process(scl_worker *worker, const char *settings, size_t threads) {
  char *block = NULL, **arguments = own_arguments(&block), **variables = NULL, count[64];
  const size_t size = strlen(settings) + 100;
  char *variable = scl_allocate(size);
  int output[2], messages[2];
  struct stat end;
  int reason = open_ends(output, messages);
  if (reason == 0 && fstat(messages[1], &end) != 0) reason = errno;
  if (reason == 0 && variable != NULL) {
    (void)snprintf(variable, size, "%s=%ld %llu %s", VARIABLE, (long)getpid(),
                   (unsigned long long)end.st_ino, settings);
    (void)snprintf(count, sizeof count, "SCULLERY_THREADS=%zu", threads);
    variables = changed_environment(variable, count);
  }
  if (reason == 0 && (arguments == NULL || variables == NULL)) reason = ENOMEM;
  if (reason == 0) {
    const int files[] = {-1, output[1], output[1], messages[1]}; /* the last at SOCKET */
    reason = scl_spawn_start(&(scl_spawn){.program = "/proc/self/exe",
                                          .arguments = arguments,
                                          .variables = variables,
                                          .files = files,
                                          .count = sizeof files / sizeof *files,
                                          .own_group = true},
                             &worker->process);
  }
  close_end(output[1]);
  close_end(messages[1]);
  worker->output = output[0];
  worker->messages = messages[0];
  SCL_RELEASE(block, arguments, variable, variables);
  if (reason != 0) worker->process = 0;
  return reason;
}

/* This process writes the output of workers to files. With SIGXFSZ ignored, a file that reaches the
 * limit on file sizes (RLIMIT_FSIZE) is cut off there, and the process does not end. */
static void ignore_file_limit(void) {
  struct sigaction now, ignore = {.sa_handler = SIG_IGN};
  if (sigaction(SIGXFSZ, NULL, &now) == 0 && now.sa_handler == SIG_DFL)
    (void)sigaction(SIGXFSZ, &ignore, NULL);
}

scl_status scl_worker_start(const char *settings, size_t threads, scl_worker **out,
                            scl_error *error) {
  scl_worker *worker = scl_allocate_zero(sizeof *worker);
  if (worker == NULL) return scl_fail_memory(error, sizeof *worker, "a worker");
  worker->output = worker->messages = -1;
  ignore_file_limit();
  const int reason = start_process(worker, settings, threads);
  if (reason != 0) {
    scl_worker_close(worker);
    return scl_fail(error, SCL_STATUS_IO, "no worker can be started: %s", strerror(reason));
  }
  *out = worker;
  return SCL_STATUS_OK;
}

/* ------------ listening */

scl_status scl_worker_wait(scl_worker *const *workers, size_t count, double seconds,
                           scl_error *error) {
  struct pollfd *wait = scl_allocate_array(2 * count + 1, sizeof *wait);
  if (wait == NULL) return scl_fail_memory(error, count, "workers");
  for (size_t i = 0; i < count; i++) { /* poll ignores negative descriptors */
    wait[2 * i] = (struct pollfd){.fd = workers[i]->output, .events = POLLIN};
    wait[2 * i + 1] = (struct pollfd){.fd = workers[i]->messages, .events = POLLIN};
  }
  (void)poll(wait, (nfds_t)(2 * count), (int)(seconds * 1000));
  scl_release(wait);
  return scl_interrupt_check(error);
}

/* Close an end at which nothing more can be read; poll ignores it from now on. */
static void finish_end(int *end) {
  (void)close(*end);
  *end = -1;
}

size_t scl_worker_output(scl_worker *worker, char *to, size_t size) {
  if (worker->output < 0) return 0;
  const ssize_t got = read(worker->output, to, size);
  if (got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR)) finish_end(&worker->output);
  return got > 0 ? (size_t)got : 0;
}

bool scl_worker_message(scl_worker *worker, char to[SCL_WORKER_MESSAGE]) {
  if (worker->messages < 0) return false;
  const ssize_t got = recv(worker->messages, to, SCL_WORKER_MESSAGE - 1, MSG_DONTWAIT);
  if (got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR)) finish_end(&worker->messages);
  if (got <= 0) return false;
  to[got] = 0;
  return true;
}

void scl_worker_answer(scl_worker *worker) {
  if (worker->messages >= 0) (void)send(worker->messages, "", 1, MSG_NOSIGNAL | MSG_DONTWAIT);
}

/* ------------ ending */

/* Processes that the worker started are killed with it: its group exists until waitpid. */
bool scl_worker_ended(scl_worker *worker, int *status) {
  siginfo_t ended = {0};
  if (worker->process > 0 &&
      waitid(P_PID, (id_t)worker->process, &ended, WEXITED | WNOHANG | WNOWAIT) == 0 &&
      ended.si_pid == worker->process) {
    (void)kill(-worker->process, SIGKILL);
    (void)waitpid(worker->process, &worker->status, 0);
    worker->process = 0;
  }
  *status = worker->status;
  return worker->process == 0;
}

void scl_worker_signal(scl_worker *worker, int number) {
  if (worker->process > 0 && kill(-worker->process, number) != 0)
    (void)kill(worker->process, number);
}

void scl_worker_close(scl_worker *worker) {
  if (worker == NULL) return;
  scl_worker_signal(worker, SIGKILL);
  while (worker->process > 0 && waitpid(worker->process, NULL, 0) < 0 && errno == EINTR) {
  }
  close_end(worker->output);
  close_end(worker->messages);
  scl_release(worker);
}

/* ------------ in a worker */

bool scl_worker_is_inside(void) { return getenv(VARIABLE) != NULL; }

/* The settings of this worker, or NULL if this process is not one. If it is, it ends when its
 * starter ends. */
static const char *find_settings(void) {
  long starter = 0;
  unsigned long long inode = 0;
  int used = 0;
  struct stat end;
  const char *text = getenv(VARIABLE);
  if (text == NULL || sscanf(text, "%ld %llu %n", &starter, &inode, &used) != 2 || used == 0)
    return NULL;
  if (fstat(SOCKET, &end) != 0 || !S_ISSOCK(end.st_mode) || end.st_ino != (ino_t)inode) return NULL;
  (void)fcntl(SOCKET, F_SETFD, FD_CLOEXEC);
  (void)prctl(PR_SET_PDEATHSIG, SIGTERM);
  if ((long)getppid() != starter) _exit(EXIT_FAILURE); /* the starter ended before prctl */
  return text + used;
}

const char *scl_worker_settings(void) {
  static const char *settings;
  static bool known;
  if (!known) settings = find_settings();
  known = true;
  return settings;
}

scl_status scl_worker_report(const char *message, scl_error *error) {
  char answer;
  if (scl_worker_settings() == NULL)
    return scl_fail(error, SCL_STATUS_UNSUPPORTED, "this process is not a worker");
  const size_t length = scl_min(strlen(message), SCL_WORKER_MESSAGE - 1);
  ssize_t done;
  while ((done = send(SOCKET, message, length, MSG_NOSIGNAL)) < 0 && errno == EINTR)
    SCL_TRY(scl_interrupt_check(error));
  while (done > 0 && (done = recv(SOCKET, &answer, 1, 0)) < 0 && errno == EINTR)
    SCL_TRY(scl_interrupt_check(error));
  if (done > 0) return SCL_STATUS_OK;
  return scl_fail(error, SCL_STATUS_IO, "the process that started this worker has ended");
}
