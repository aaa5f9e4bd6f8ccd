/* Run a program, or a function in a forked child, with limits on time and output. The input comes
 * from a file in memory, so that the child can never block this process by not reading. */
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

enum { SLICE = 50, CHUNK = 65536 }; /* milliseconds between checks for Ctrl-C; bytes of a read */

/* The work of the child: a program, or a function of this one. */
typedef struct work {
  const char *const *words; /* NULL: `body` */
  const char *input;
  size_t input_size;
  int (*body)(void *context, int to);
  void *context;
} work;

typedef struct process {
  const char *name;
  pid_t child;
  int output[2], message[2]; /* pipes; -1: closed */
  size_t room;               /* capacity of out->bytes */
  size_t message_size;       /* bytes in out->message */
  scl_process_output *out;
  bool group; /* the child leads a process group, which is killed at its end */
} process;

static void close_descriptor(int *descriptor) {
  if (*descriptor >= 0) (void)close(*descriptor);
  *descriptor = -1;
}

/* A file in memory with the input, at its beginning; -1 with errno. */
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

/* Start a program with its standard files. Returns 0 or an errno. */
static int spawn_program(process *p, const char *const *words, int input) {
  const int files[] = {input, p->output[1], p->message[1]};
  return scl_spawn_start(&(scl_spawn){.program = words[0],
                                      .arguments = (char *const *)words,
                                      .variables = environ,
                                      .files = files,
                                      .count = sizeof files / sizeof *files,
                                      .own_group = p->group},
                         &p->child);
}

/* Fork, and run a function of this program in the child. Returns 0 or an errno. */
static int run_body(process *p, const work *todo, int input) {
  p->child = fork();
  if (p->child == 0) {
    (void)setpgid(0, 0);
    for (int file = STDIN_FILENO; file <= STDERR_FILENO; file++)
      (void)dup2(file == STDIN_FILENO ? input : p->message[1], file);
    _exit(todo->body(todo->context, p->output[1]));
  }
  if (p->child < 0) return errno;
  (void)setpgid(p->child, p->child); /* also in the child: either may run first */
  return 0;
}

/* Append to the output, whose capacity doubles. SCL_STATUS_UNSUPPORTED: more than `most` bytes. */
static scl_status append_output(process *p, const char *bytes, size_t count, size_t most,
                                scl_error *error) {
  scl_process_output *out = p->out;
  if (count > most - out->size)
    return scl_fail(error, SCL_STATUS_UNSUPPORTED, "%s was stopped: it wrote more than %zu bytes",
                    p->name, most);
  if (count > p->room - out->size) {
    const size_t room = 2 * (out->size + count);
    char *larger = scl_allocate(room);
    if (larger == NULL)
      return scl_fail(error, SCL_STATUS_NO_MEMORY, "not enough memory for the output of %s",
                      p->name);
    if (out->size > 0) memcpy(larger, out->bytes, out->size);
    scl_release(out->bytes);
    out->bytes = larger;
    p->room = room;
  }
  memcpy(out->bytes + out->size, bytes, count);
  out->size += count;
  return SCL_STATUS_OK;
}

/* Append to the messages (standard error) of the child, which are cut off at the end of their
 * buffer. */
static void append_message(process *p, const char *bytes, size_t count) {
  const size_t left = sizeof p->out->message - 1 - p->message_size;
  if (count > left) count = left;
  memcpy(p->out->message + p->message_size, bytes, count);
  p->message_size += count;
}

/* Read the available bytes of a pipe; close it at its end. */
static scl_status read_pipe(process *p, int *from, size_t most, scl_error *error) {
  char chunk[CHUNK];
  const ssize_t count = read(*from, chunk, sizeof chunk);
  if (count < 0 && (errno == EINTR || errno == EAGAIN)) return SCL_STATUS_OK;
  if (count <= 0) {
    close_descriptor(from);
    return SCL_STATUS_OK;
  }
  if (from == &p->output[0]) return append_output(p, chunk, (size_t)count, most, error);
  append_message(p, chunk, (size_t)count);
  return SCL_STATUS_OK;
}

/* The digits of a number, from its last one back to `at`. */
static char *write_digits(char *at, unsigned long number) {
  do
    *--at = (char)('0' + number % 10);
  while ((number /= 10) > 0);
  return at;
}

double scl_process_waited(pid_t number) {
  static const char folder[] = "/proc/", file[] = "/schedstat";
  char path[64], digits[24], text[100] = "";
  char *from = write_digits(digits + sizeof digits, (unsigned long)number);
  const size_t count = (size_t)(digits + sizeof digits - from), name = sizeof folder - 1;
  memcpy(path, folder, name);
  memcpy(path + name, from, count);
  memcpy(path + name + count, file, sizeof file);
  const int descriptor = open(path, O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return 0;
  const ssize_t size = read(descriptor, text, sizeof text - 1);
  (void)close(descriptor);
  double nanoseconds = 0; /* the second number of the line */
  const char *at = size > 0 ? strchr(text, ' ') : NULL;
  for (at = at == NULL ? "" : at + 1; *at >= '0' && *at <= '9'; at++)
    nanoseconds = 10 * nanoseconds + (*at - '0');
  return nanoseconds / 1e9;
}

/* Fail after Ctrl-C, or if the time limit has passed. */
static scl_status check_time(process *p, double began, double seconds, scl_error *error) {
  const scl_status status = scl_interrupt_check(error);
  if (status != SCL_STATUS_OK) return status;
  const double passed = scl_progress_clock() - began;
  p->out->late = passed > seconds && (passed - scl_process_waited(p->child) > seconds ||
                                      passed > (1 + SCL_PROCESS_WAITS) * seconds);
  if (p->out->late)
    return scl_fail(error, SCL_STATUS_UNSUPPORTED, "%s was stopped: it did not end in %g s",
                    p->name, seconds);
  return SCL_STATUS_OK;
}

/* Whether the child has ended; it stays a zombie, whose group can be signalled. */
static bool has_ended(const process *p) {
  siginfo_t about = {0};
  return waitid(P_PID, (id_t)p->child, &about, WEXITED | WNOHANG | WNOWAIT) == 0 &&
         about.si_pid == p->child;
}

/* Kill the processes that the program started and that still run. */
static void end_group(const process *p) {
  if (p->group) (void)kill(-p->child, SIGKILL);
}

/* Read both pipes to their ends. Processes that the program started may keep them open. */
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
    if (status == SCL_STATUS_OK && wait[0].revents)
      status = read_pipe(p, &p->output[0], most, error);
    if (status == SCL_STATUS_OK && wait[1].revents)
      status = read_pipe(p, &p->message[0], most, error);
  }
  return status;
}

/* Wait for the child, which has closed its output but may still run. *how: as from waitpid. */
static scl_status wait_for_child(process *p, double began, double seconds, int *how,
                                 scl_error *error) {
  const struct timespec pause = {.tv_nsec = 2000000};
  scl_status status = SCL_STATUS_OK;
  for (;;) {
    if (p->group && has_ended(p)) end_group(p);
    const pid_t ended = waitpid(p->child, how, WNOHANG);
    if (ended == p->child) return SCL_STATUS_OK;
    if (ended < 0 && errno != EINTR) { /* other code has waited for it */
      *how = 0;
      return SCL_STATUS_OK;
    }
    status = check_time(p, began, seconds, error);
    if (status != SCL_STATUS_OK) return status;
    (void)nanosleep(&pause, NULL);
  }
}

/* End the child and its group: with SIGTERM, so that programs can delete their files, and after
 * half a second with SIGKILL. */
static void stop_child(process *p, int *how) {
  const struct timespec pause = {.tv_nsec = 2000000};
  (void)kill(p->group ? -p->child : p->child, SIGTERM);
  for (int looks = 0; looks < 250 && !has_ended(p); looks++)
    (void)nanosleep(&pause, NULL);
  end_group(p);
  (void)kill(p->child, SIGKILL);
  (void)waitpid(p->child, how, 0);
}

/* Collects the output of the child and waits for its end; stops it after a failure. A signal
 * that ended it is a failure, unless Ctrl-C was pressed, which is reported as that. */
static scl_status watch_child(process *p, double seconds, size_t most, scl_error *error) {
  const double began = scl_progress_clock();
  int how = 0;
  scl_status status = listen_to(p, began, seconds, most, error);
  if (status == SCL_STATUS_OK) status = wait_for_child(p, began, seconds, &how, error);
  if (status != SCL_STATUS_OK) {
    stop_child(p, &how);
    return status;
  }
  if (how != 0)
    SCL_TRY(scl_interrupt_check(error)); /* the terminal sends Ctrl-C to the child as well */
  p->out->signal = WIFSIGNALED(how) ? WTERMSIG(how) : 0;
  if (p->out->signal != 0)
    return scl_fail(error, SCL_STATUS_UNSUPPORTED, "%s was ended by a signal: %s (%d)", p->name,
                    strsignal(p->out->signal), p->out->signal);
  p->out->status = WEXITSTATUS(how);
  return SCL_STATUS_OK;
}

/* Starts the child with its pipes and watches it to its end. All descriptors are closed on
 * return; out->bytes is the caller's also after a failure. */
static scl_status run_work(const work *todo, double seconds, size_t most, bool group,
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
    failed = todo->words == NULL ? run_body(&p, todo, file) : spawn_program(&p, todo->words, file);
  close_descriptor(&file);
  close_descriptor(&p.output[1]);
  close_descriptor(&p.message[1]);
  out->absent = failed == ENOENT;
  if (failed != 0 && !out->absent)
    status = scl_fail(error, SCL_STATUS_IO, "%s cannot be started: %s", p.name, strerror(failed));
  if (status == SCL_STATUS_OK && failed == 0) status = watch_child(&p, seconds, most, error);
  close_descriptor(&p.output[0]);
  close_descriptor(&p.message[0]);
  return status;
}

/* After a failure, release the output. Returns the status. */
static scl_status drop_output(scl_status status, scl_process_output *out) {
  if (status != SCL_STATUS_OK) SCL_RELEASE(out->bytes);
  if (status != SCL_STATUS_OK) out->bytes = NULL;
  return status;
}

scl_status scl_process_run(const char *const *words, const char *input, size_t input_size,
                           double seconds, size_t most, scl_process_output *out, scl_error *error) {
  const work todo = {.words = words, .input = input, .input_size = input_size};
  return drop_output(run_work(&todo, seconds, most, false, out, error), out);
}

/* A signal or an exceeded time limit is not a failure. */
static scl_status watch_work(const work *todo, double seconds, size_t most, scl_process_output *out,
                             scl_error *error) {
  const scl_status status = run_work(todo, seconds, most, true, out, error);
  return out->late || out->signal != 0 ? SCL_STATUS_OK : drop_output(status, out);
}

scl_status scl_process_watch(const char *const *words, const char *input, size_t input_size,
                             double seconds, size_t most, scl_process_output *out,
                             scl_error *error) {
  const work todo = {.words = words, .input = input, .input_size = input_size};
  return watch_work(&todo, seconds, most, out, error);
}

scl_status scl_process_fork(int (*body)(void *context, int to), void *context, double seconds,
                            size_t most, scl_process_output *out, scl_error *error) {
  const work todo = {.input = "", .body = body, .context = context};
  return watch_work(&todo, seconds, most, out, error);
}
