#define _GNU_SOURCE
#include "data/output.h"
#include "base/text.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

struct scl_output {
  FILE *file;
  char *path, *temporary; /* temporary: NULL for the standard output */
  int failed;             /* errno of the first failure */
};

/* A limit on the size of files comes as a signal that would end the program: held back while we
 * write, the write fails with EFBIG instead. */
typedef struct hold {
  sigset_t before, limit;
  bool was_pending;
} hold;

static hold hold_limit_signal(void) {
  hold h;
  sigset_t pending;
  (void)sigemptyset(&h.limit);
  (void)sigaddset(&h.limit, SIGXFSZ);
  (void)sigpending(&pending);
  h.was_pending = sigismember(&pending, SIGXFSZ) == 1;
  (void)pthread_sigmask(SIG_BLOCK, &h.limit, &h.before);
  return h;
}

static void end_hold(const hold *h) {
  const struct timespec at_once = {0, 0};
  if (!h->was_pending)
    while (sigtimedwait(&h->limit, NULL, &at_once) == SIGXFSZ) {
    }
  (void)pthread_sigmask(SIG_SETMASK, &h->before, NULL);
}

static void note(scl_output *output, bool worked) {
  if (!worked && output->failed == 0) output->failed = errno == 0 ? EIO : errno;
}

static void end(scl_output *output) { SCL_RELEASE(output->path, output->temporary, output); }

/* Where the bytes shall lie: path, or what it links to. */
static scl_status resolve(const char *path, char **out, scl_error *error) {
  struct stat there;
  if (path[0] == 0) return scl_fail(error, SCL_STATUS_IO, "the file name is empty");
  if (stat(path, &there) == 0) {
    if (S_ISDIR(there.st_mode))
      return scl_fail(error, SCL_STATUS_IO, "%s: this is a folder, not a file", path);
    if (!S_ISREG(there.st_mode))
      return scl_fail(error, SCL_STATUS_IO,
                      "%s: this is a pipe or device, and a file is written whole or not at all",
                      path);
    char *real = realpath(path, NULL);
    if (real != NULL) {
      *out = scl_copy_text(real);
      free(real);
      return *out == NULL ? scl_fail_memory(error, strlen(path), "a file name") : SCL_STATUS_OK;
    }
  }
  *out = scl_copy_text(path);
  return *out == NULL ? scl_fail_memory(error, strlen(path), "a file name") : SCL_STATUS_OK;
}

/* A new file beside the path, with the user's usual rights. */
static scl_status open_temporary(scl_output *output, const char *path, scl_error *error) {
  static atomic_uint number;
  const size_t size = strlen(output->path) + 40;
  output->temporary = scl_allocate(size);
  if (output->temporary == NULL) return scl_fail_memory(error, size, "a file name");
  for (int attempt = 0; attempt < 100; attempt++) {
    (void)snprintf(output->temporary, size, "%s.%ld-%u.part", output->path, (long)getpid(),
                   atomic_fetch_add(&number, 1));
    const int descriptor = open(output->temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (descriptor < 0 && errno == EEXIST) continue;
    if (descriptor < 0) break;
    output->file = fdopen(descriptor, "wb");
    if (output->file != NULL) return SCL_STATUS_OK;
    const int reason = errno;
    (void)close(descriptor);
    (void)unlink(output->temporary);
    errno = reason;
    break;
  }
  return scl_fail(error, SCL_STATUS_IO, "%s: cannot be written: %s", path,
                  errno == ENOENT ? "there is no such folder" : strerror(errno));
}

scl_status scl_output_open(const char *path, scl_output **out, scl_error *error) {
  scl_output *output = scl_allocate_zero(sizeof *output);
  if (output == NULL) return scl_fail_memory(error, sizeof *output, "a file");
  scl_status status = resolve(path, &output->path, error);
  if (status == SCL_STATUS_OK) status = open_temporary(output, path, error);
  if (status == SCL_STATUS_OK)
    *out = output;
  else
    end(output);
  return status;
}

scl_status scl_output_open_standard(scl_output **out, scl_error *error) {
  scl_output *output = scl_allocate_zero(sizeof *output);
  if (output == NULL || (output->path = scl_copy_text("standard output")) == NULL) {
    scl_release(output);
    return scl_fail_memory(error, sizeof *output, "a file");
  }
  const int descriptor = dup(STDOUT_FILENO);
  output->file = descriptor < 0 ? NULL : fdopen(descriptor, "wb");
  if (output->file != NULL) {
    *out = output;
    return SCL_STATUS_OK;
  }
  (void)scl_fail(error, SCL_STATUS_IO, "%s: cannot be written: %s", output->path, strerror(errno));
  if (descriptor >= 0) (void)close(descriptor);
  end(output);
  return SCL_STATUS_IO;
}

/* The reader of the standard output has gone, and whoever started us has SIGPIPE ignored. */
static void end_broken_pipe(const scl_output *output) {
  if (output->temporary != NULL || output->failed != EPIPE) return;
  (void)signal(SIGPIPE, SIG_DFL);
  (void)raise(SIGPIPE);
}

void scl_output_write(scl_output *output, const void *bytes, size_t size) {
  if (output->failed != 0 || size == 0) return;
  const hold h = hold_limit_signal();
  errno = 0;
  if (fwrite(bytes, 1, size, output->file) != size) output->failed = errno == 0 ? EIO : errno;
  end_hold(&h);
  end_broken_pipe(output);
}

void scl_output_rewrite(scl_output *output, size_t from, const void *bytes, size_t size) {
  const long end_of_file = ftell(output->file);
  note(output, end_of_file >= 0 && fseek(output->file, (long)from, SEEK_SET) == 0);
  scl_output_write(output, bytes, size);
  note(output, output->failed != 0 || fseek(output->file, end_of_file, SEEK_SET) == 0);
}

bool scl_output_failed(const scl_output *output) { return output->failed != 0; }

/* The name in the folder is safe only once the folder is on disk. */
static void sync_folder(char *path) {
  char *slash = strrchr(path, '/');
  if (slash != NULL) slash[slash == path] = 0;
  const int descriptor = open(slash == NULL ? "." : path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) return;
  (void)fsync(descriptor);
  (void)close(descriptor);
}

static scl_status commit_standard(scl_output *output, scl_error *error) {
  const hold h = hold_limit_signal();
  note(output, fclose(output->file) == 0);
  end_hold(&h);
  end_broken_pipe(output);
  const int failed = output->failed;
  end(output);
  return failed == 0 ? SCL_STATUS_OK
                     : scl_fail(error, SCL_STATUS_IO, "standard output: cannot be written: %s",
                                strerror(failed));
}

scl_status scl_output_commit(scl_output *output, scl_error *error) {
  if (output->temporary == NULL) return commit_standard(output, error);
  const hold h = hold_limit_signal();
  note(output, fflush(output->file) == 0);
  note(output, output->failed != 0 || fsync(fileno(output->file)) == 0 ||
                   errno == EINVAL); /* EINVAL: a file system without */
  note(output, fclose(output->file) == 0);
  end_hold(&h);
  note(output, output->failed != 0 || rename(output->temporary, output->path) == 0);
  const int failed = output->failed;
  scl_status status = SCL_STATUS_OK;
  if (failed != 0) {
    (void)unlink(output->temporary);
    status = scl_fail(error, SCL_STATUS_IO, "%s: not written, nothing was left behind: %s",
                      output->path, strerror(failed));
  } else {
    sync_folder(output->temporary);
  }
  end(output);
  return status;
}

void scl_output_abandon(scl_output *output) {
  if (output == NULL) return;
  const hold h = hold_limit_signal();
  (void)fclose(output->file);
  end_hold(&h);
  if (output->temporary != NULL) (void)unlink(output->temporary);
  end(output);
}
