/* Opens and reads files so that Ctrl-C ends every wait. Used by input.c, safetensors.c,
 * npy_stream.c and fetch.c. */
#define _POSIX_C_SOURCE 200809L
#include "data/files/file.h"
#include "base/interrupt.h"
#include "processes/processes.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MOST_BYTES = 1 << 22, WAIT_MS = 100 }; /* between two looks at the user's wish to stop */

/* Checks what `descriptor` is and fills *out. The descriptor is closed if it is refused. */
static scl_status look(const char *path, int descriptor, bool regular_alone, scl_file *out,
                       scl_error *error) {
  struct stat file;
  if (descriptor < 0 || fstat(descriptor, &file) != 0) {
    const int reason = errno;
    if (descriptor >= 0) (void)close(descriptor);
    return scl_fail(error, SCL_STATUS_IO, "%s: %s", path,
                    reason == ENOENT  ? "no such file"
                    : reason == ENXIO ? "this is a socket or a missing device, not a file"
                                      : strerror(reason));
  }
  const bool regular = S_ISREG(file.st_mode);
  if (S_ISDIR(file.st_mode) || (regular_alone && !regular)) {
    (void)close(descriptor);
    return scl_fail(error, SCL_STATUS_IO, "%s: this is a %s, not a file", path,
                    S_ISDIR(file.st_mode) ? "folder" : "pipe or device");
  }
  *out = (scl_file){path, descriptor, regular, !regular && scl_processes_divide(),
                    regular ? (size_t)file.st_size : 0};
  return SCL_STATUS_OK;
}

/* Without O_NONBLOCK, opening a pipe waits for its writer, which neither poll nor Ctrl-C ends. Of
 * several processes, process 0 alone opens it: its writer would begin for another one. */
static scl_status open_path(const char *path, bool regular_alone, scl_file *out, scl_error *error) {
  *out = (scl_file){.path = path, .descriptor = -1};
  struct stat file;
  const bool pipe = scl_processes_divide() && scl_processes_rank() > 0 && stat(path, &file) == 0 &&
                    S_ISFIFO(file.st_mode);
  const int descriptor =
      open(pipe ? "/dev/null" : path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  return look(path, descriptor, regular_alone, out, error);
}

/* The standard input belongs to process 0, be it a file or a pipe. */
static scl_status open_input(const char *path, scl_file *out, scl_error *error) {
  *out = (scl_file){.path = path, .descriptor = -1};
  SCL_TRY(look(path, dup(STDIN_FILENO), false, out, error));
  if (!scl_processes_divide()) return SCL_STATUS_OK;
  *out = (scl_file){.path = path, .descriptor = out->descriptor, .shared = true};
  return SCL_STATUS_OK;
}

scl_status scl_file_standard_input(scl_file *out, scl_error *error) {
  return open_input("-", out, error);
}

scl_status scl_file_open(const char *path, scl_file *out, scl_error *error) {
  if (strcmp(path, "/dev/stdin") == 0 && scl_processes_divide())
    return open_input(path, out, error);
  return open_path(path, false, out, error);
}

scl_status scl_file_open_regular(const char *path, scl_file *out, scl_error *error) {
  return open_path(path, true, out, error);
}

static scl_status refuse_read(const scl_file *file, scl_error *error) {
  return scl_fail(error, SCL_STATUS_IO, "%s: cannot be read: %s", file->path, strerror(errno));
}

/* Waits until there is something to read, looking for Ctrl-C every WAIT_MS. A pipe without a writer
 * becomes ready when one opens it. */
static scl_status wait_for_bytes(const scl_file *file, scl_error *error) {
  struct pollfd wanted = {.fd = file->descriptor, .events = POLLIN};
  for (int ready = 0; ready == 0;) {
    SCL_TRY(scl_interrupt_check(error));
    if (file->regular) return SCL_STATUS_OK;
    ready = poll(&wanted, 1, WAIT_MS);
    if (ready < 0 && errno != EINTR) return refuse_read(file, error);
    if (ready < 0) ready = 0;
  }
  return SCL_STATUS_OK;
}

static scl_status read_own(const scl_file *file, void *to, size_t size, size_t *got,
                           scl_error *error) {
  for (;;) {
    SCL_TRY(wait_for_bytes(file, error));
    const ssize_t count = read(file->descriptor, to, scl_min(size, MOST_BYTES));
    if (count >= 0) {
      *got = (size_t)count;
      return SCL_STATUS_OK;
    }
    if (errno != EINTR && errno != EAGAIN) return refuse_read(file, error);
  }
}

scl_status scl_file_read(const scl_file *file, void *to, size_t size, size_t *got,
                         scl_error *error) {
  *got = 0;
  if (!file->shared) return read_own(file, to, size, got, error);
  scl_status status = SCL_STATUS_OK;
  if (scl_processes_rank() == 0) status = read_own(file, to, size, got, error);
  int64_t count = (int64_t)*got;
  SCL_TRY(scl_processes_meet(status, error, "the reading of %zu bytes of %s", size, file->path));
  SCL_TRY(scl_processes_broadcast(0, &count, sizeof count, error));
  *got = (size_t)count;
  return count == 0 ? SCL_STATUS_OK : scl_processes_broadcast(0, to, *got, error);
}

scl_status scl_file_seek(const scl_file *file, size_t from, scl_error *error) {
  return lseek(file->descriptor, (off_t)from, SEEK_SET) < 0 ? refuse_read(file, error)
                                                            : SCL_STATUS_OK;
}

scl_status scl_file_read_at(const scl_file *file, size_t from, size_t size, void *to,
                            scl_error *error) {
  for (size_t done = 0; done < size;) {
    SCL_TRY(scl_interrupt_check(error));
    const ssize_t count = pread(file->descriptor, (char *)to + done,
                                scl_min(size - done, MOST_BYTES), (off_t)(from + done));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return refuse_read(file, error);
    if (count == 0)
      return scl_fail(error, SCL_STATUS_BAD_DATA, "%s: the file is cut off", file->path);
    done += (size_t)count;
  }
  return SCL_STATUS_OK;
}

void scl_file_close(scl_file *file) {
  if (file->descriptor >= 0) (void)close(file->descriptor);
  file->descriptor = -1;
}
