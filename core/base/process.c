#define _GNU_SOURCE
#include "base/process.h"

#include "base/interrupt.h"
#include "base/progress.h"
#include "base/spawn.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { SLICE = 50, CHUNK = 65536 }; /* milliseconds between looks at Ctrl-C; bytes read at once */

/* What the child does: a program, or a function of this one. */
typedef struct work {
  const char *const *words;
  const char *input;
  size_t input_size;
  int (*body)(void *context, int to);
  void *context;
} work;

typedef struct process {
  const char *name;
  pid_t child;
  int output[2], message[2]; /* pipes; -1 where they are closed */
  size_t room, kept;         /* of out->bytes; of out->message */
  scl_process_output *out;
  bool group; /* it has a process group of its own, which ends with it */
} process;

static void shut(int *descriptor) {
  if (*descriptor >= 0) (void)close(*descriptor);
  *descriptor = -1;
}

/* A file in memory that holds the input, to be read from its beginning; -1 where there is none. */
static int input_file(const char *input, size_t size) {
  const int file = memfd_create("input", MFD_CLOEXEC);
  for (size_t at = 0; file >= 0 && at < size;) {
    const ssize_t written = write(file, input + at, size - at);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) {
      (void)close(file);
      return -1;
    }
    at += (size_t)written;
  }
  if (file >= 0) (void)lseek(file, 0, SEEK_SET);
  return file;
}

static int spawn(process *p, const char *const *words, int input) {
  const int files[] = {input, p->output[1], p->message[1]};
  return scl_spawn_start(&(scl_spawn){.program = words[0],
                                      .arguments = (char *const *)words,
                                      .variables = environ,
                                      .files = files,
                                      .count = sizeof files / sizeof *files,
                                      .own_group = p->group},
                         &p->child);
}

static int run_body(process *p, const work *todo, int input) {
  p->child = fork();
  if (p->child == 0) {
    (void)setpgid(0, 0);
    for (int file = STDIN_FILENO; file <= STDERR_FILENO; file++)
      (void)dup2(file == STDIN_FILENO ? input : p->message[1], file);
    _exit(todo->body(todo->context, p->output[1]));
  }
  if (p->child < 0) return errno;
  (void)setpgid(p->child, p->child); /* whoever comes first */
  return 0;
}

static scl_status append(process *p, const char *bytes, size_t count, size_t most,
                         scl_error *error) {
  scl_process_output *out = p->out;
  if (count > most - out->size)
    return scl_fail(error, SCL_STATUS_UNSUPPORTED, "%s was stopped: it wrote more than %zu bytes",
                    p->name, most);
  if (count > p->room - out->size) {
    const size_t room = 2 * (out->size + count);
    char *larger = scl_allocate(room);
    if (larger == NULL)
      return scl_fail(error, SCL_STATUS_NO_MEMORY, "not enough memory for what %s writes", p->name);
    if (out->size > 0) memcpy(larger, out->bytes, out->size);
    scl_release(out->bytes);
    out->bytes = larger;
    p->room = room;
  }
  memcpy(out->bytes + out->size, bytes, count);
  out->size += count;
  return SCL_STATUS_OK;
}

static void keep_message(process *p, const char *bytes, size_t count) {
  const size_t left = sizeof p->out->message - 1 - p->kept;
  if (count > left) count = left;
  memcpy(p->out->message + p->kept, bytes, count);
  p->kept += count;
}

/* What is there to read, from one of the pipes, which is shut at its end. */
static scl_status take(process *p, int *from, size_t most, scl_error *error) {
  char chunk[CHUNK];
  const ssize_t count = read(*from, chunk, sizeof chunk);
  if (count < 0 && (errno == EINTR || errno == EAGAIN)) return SCL_STATUS_OK;
  if (count <= 0) {
    shut(from);
    return SCL_STATUS_OK;
  }
  if (from == &p->output[0]) return append(p, chunk, (size_t)count, most, error);
  keep_message(p, chunk, (size_t)count);
  return SCL_STATUS_OK;
}

static scl_status check_time(process *p, double began, double seconds, scl_error *error) {
  const scl_status status = scl_interrupt_check(error);
  if (status != SCL_STATUS_OK) return status;
  p->out->late = scl_progress_clock() - began > seconds;
  if (p->out->late)
    return scl_fail(error, SCL_STATUS_UNSUPPORTED, "%s was stopped: it did not end in %g s",
                    p->name, seconds);
  return SCL_STATUS_OK;
}

/* Whether it has ended; it still waits to be waited for. */
static bool has_ended(const process *p) {
  siginfo_t about = {0};
  return waitid(P_PID, (id_t)p->child, &about, WEXITED | WNOHANG | WNOWAIT) == 0 &&
         about.si_pid == p->child;
}

/* End what the program has started itself, and left behind. */
static void end_group(const process *p) {
  if (p->group) (void)kill(-p->child, SIGKILL);
}

/* Read both pipes to their ends: to those of its group too, which hold them open. */
static scl_status listen_to(process *p, double began, double seconds, size_t most,
                            scl_error *error) {
  scl_status status = SCL_STATUS_OK;
  while (status == SCL_STATUS_OK && (p->output[0] >= 0 || p->message[0] >= 0)) {
    struct pollfd wait[2] = {{.fd = p->output[0], .events = POLLIN},
                             {.fd = p->message[0], .events = POLLIN}};
    const int ready = poll(wait, 2, SLICE);
    status = check_time(p, began, seconds, error);
    if (ready == 0 && p->group && has_ended(p)) end_group(p);
    if (ready <= 0) continue;
    if (status == SCL_STATUS_OK && wait[0].revents) status = take(p, &p->output[0], most, error);
    if (status == SCL_STATUS_OK && wait[1].revents) status = take(p, &p->message[0], most, error);
  }
  return status;
}

/* Wait for the child, which has closed its output: it may go on for a while. */
static scl_status end_of(process *p, double began, double seconds, int *how, scl_error *error) {
  const struct timespec pause = {.tv_nsec = 2000000};
  scl_status status = SCL_STATUS_OK;
  for (;;) {
    if (p->group && has_ended(p)) end_group(p);
    const pid_t ended = waitpid(p->child, how, WNOHANG);
    if (ended == p->child) return SCL_STATUS_OK;
    if (ended < 0 && errno != EINTR) { /* someone else waited for it */
      *how = 0;
      return SCL_STATUS_OK;
    }
    status = check_time(p, began, seconds, error);
    if (status != SCL_STATUS_OK) return status;
    (void)nanosleep(&pause, NULL);
  }
}

/* End the child, and its group: at first as one asks programs to, so that they remove their
 * files. */
static void stop(process *p, int *how) {
  const struct timespec pause = {.tv_nsec = 2000000};
  (void)kill(p->group ? -p->child : p->child, SIGTERM);
  for (int looks = 0; looks < 250 && !has_ended(p); looks++)
    (void)nanosleep(&pause, NULL);
  end_group(p);
  (void)kill(p->child, SIGKILL);
  (void)waitpid(p->child, how, 0);
}

static scl_status follow(process *p, double seconds, size_t most, scl_error *error) {
  const double began = scl_progress_clock();
  int how = 0;
  scl_status status = listen_to(p, began, seconds, most, error);
  if (status == SCL_STATUS_OK) status = end_of(p, began, seconds, &how, error);
  if (status != SCL_STATUS_OK) {
    stop(p, &how);
    return status;
  }
  if (how != 0) SCL_TRY(scl_interrupt_check(error)); /* Ctrl-C reaches the child as well */
  p->out->signal = WIFSIGNALED(how) ? WTERMSIG(how) : 0;
  if (p->out->signal != 0)
    return scl_fail(error, SCL_STATUS_UNSUPPORTED, "%s was ended by a signal: %s (%d)", p->name,
                    strsignal(p->out->signal), p->out->signal);
  p->out->status = WEXITSTATUS(how);
  return SCL_STATUS_OK;
}

static scl_status run(const work *todo, double seconds, size_t most, bool group,
                      scl_process_output *out, scl_error *error) {
  process p = {.name = todo->words == NULL ? "a process" : todo->words[0],
               .output = {-1, -1},
               .message = {-1, -1},
               .out = out,
               .group = group};
  scl_status status = SCL_STATUS_OK;
  int failed = 0;
  *out = (scl_process_output){0};
  int file = input_file(todo->input, todo->input_size);
  if (file < 0 || pipe2(p.output, O_CLOEXEC) != 0 || pipe2(p.message, O_CLOEXEC) != 0)
    status = scl_fail(error, SCL_STATUS_IO, "%s cannot be started: %s", p.name, strerror(errno));
  if (status == SCL_STATUS_OK)
    failed = todo->words == NULL ? run_body(&p, todo, file) : spawn(&p, todo->words, file);
  shut(&file);
  shut(&p.output[1]);
  shut(&p.message[1]);
  out->absent = failed == ENOENT;
  if (failed != 0 && !out->absent)
    status = scl_fail(error, SCL_STATUS_IO, "%s cannot be started: %s", p.name, strerror(failed));
  if (status == SCL_STATUS_OK && failed == 0) status = follow(&p, seconds, most, error);
  shut(&p.output[0]);
  shut(&p.message[0]);
  return status;
}

static scl_status drop_output(scl_status status, scl_process_output *out) {
  if (status != SCL_STATUS_OK) SCL_RELEASE(out->bytes);
  if (status != SCL_STATUS_OK) out->bytes = NULL;
  return status;
}

scl_status scl_process_run(const char *const *words, const char *input, size_t input_size,
                           double seconds, size_t most, scl_process_output *out, scl_error *error) {
  const work todo = {.words = words, .input = input, .input_size = input_size};
  return drop_output(run(&todo, seconds, most, false, out, error), out);
}

/* A signal and a time that is up are no failures. */
static scl_status watch(const work *todo, double seconds, size_t most, scl_process_output *out,
                        scl_error *error) {
  const scl_status status = run(todo, seconds, most, true, out, error);
  return out->late || out->signal != 0 ? SCL_STATUS_OK : drop_output(status, out);
}

scl_status scl_process_watch(const char *const *words, const char *input, size_t input_size,
                             double seconds, size_t most, scl_process_output *out,
                             scl_error *error) {
  const work todo = {.words = words, .input = input, .input_size = input_size};
  return watch(&todo, seconds, most, out, error);
}

scl_status scl_process_fork(int (*body)(void *context, int to), void *context, double seconds,
                            size_t most, scl_process_output *out, scl_error *error) {
  const work todo = {.input = "", .body = body, .context = context};
  return watch(&todo, seconds, most, out, error);
}
