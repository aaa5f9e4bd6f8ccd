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

typedef struct process {
  const char *name;
  pid_t child;
  int output[2], message[2]; /* pipes; -1 where they are closed */
  size_t room, kept;         /* of out->bytes; of out->message */
  scl_process_output *out;
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
                                      .count = sizeof files / sizeof *files},
                         &p->child);
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

static scl_status check_time(const process *p, double began, double seconds, scl_error *error) {
  const scl_status status = scl_interrupt_check(error);
  if (status != SCL_STATUS_OK) return status;
  if (scl_progress_clock() - began > seconds)
    return scl_fail(error, SCL_STATUS_UNSUPPORTED, "%s was stopped: it did not end in %g s",
                    p->name, seconds);
  return SCL_STATUS_OK;
}

/* Read both pipes to their ends. */
static scl_status listen_to(process *p, double began, double seconds, size_t most,
                            scl_error *error) {
  scl_status status = SCL_STATUS_OK;
  while (status == SCL_STATUS_OK && (p->output[0] >= 0 || p->message[0] >= 0)) {
    struct pollfd wait[2] = {{.fd = p->output[0], .events = POLLIN},
                             {.fd = p->message[0], .events = POLLIN}};
    const int ready = poll(wait, 2, SLICE);
    status = check_time(p, began, seconds, error);
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

static scl_status follow(process *p, double seconds, size_t most, scl_error *error) {
  const double began = scl_progress_clock();
  int how = 0;
  scl_status status = listen_to(p, began, seconds, most, error);
  if (status == SCL_STATUS_OK) status = end_of(p, began, seconds, &how, error);
  if (status != SCL_STATUS_OK) {
    (void)kill(p->child, SIGKILL);
    (void)waitpid(p->child, &how, 0);
    return status;
  }
  if (how != 0) SCL_TRY(scl_interrupt_check(error)); /* Ctrl-C reaches the child as well */
  if (WIFSIGNALED(how))
    return scl_fail(error, SCL_STATUS_UNSUPPORTED, "%s was ended by a signal: %s (%d)", p->name,
                    strsignal(WTERMSIG(how)), WTERMSIG(how));
  p->out->status = WEXITSTATUS(how);
  return SCL_STATUS_OK;
}

scl_status scl_process_run(const char *const *words, const char *input, size_t input_size,
                           double seconds, size_t most, scl_process_output *out, scl_error *error) {
  process p = {.name = words[0], .output = {-1, -1}, .message = {-1, -1}, .out = out};
  scl_status status = SCL_STATUS_OK;
  int failed = 0;
  *out = (scl_process_output){0};
  int file = input_file(input, input_size);
  if (file < 0 || pipe2(p.output, O_CLOEXEC) != 0 || pipe2(p.message, O_CLOEXEC) != 0)
    status = scl_fail(error, SCL_STATUS_IO, "%s cannot be started: %s", p.name, strerror(errno));
  if (status == SCL_STATUS_OK) failed = spawn(&p, words, file);
  shut(&file);
  shut(&p.output[1]);
  shut(&p.message[1]);
  out->absent = failed == ENOENT;
  if (failed != 0 && !out->absent)
    status = scl_fail(error, SCL_STATUS_IO, "%s cannot be started: %s", p.name, strerror(failed));
  if (status == SCL_STATUS_OK && failed == 0) status = follow(&p, seconds, most, error);
  shut(&p.output[0]);
  shut(&p.message[0]);
  if (status != SCL_STATUS_OK) {
    scl_release(out->bytes);
    out->bytes = NULL;
  }
  return status;
}
