/* Writes files whole or not at all, and the standard output. Errors are remembered and reported by
 * commit. */
#define _GNU_SOURCE
#include "data/files/output.h"
#include "base/file_limit.h"
#include "base/interrupt.h"
#include "base/text.h"
#include "data/files/temporary.h"
#include "processes/processes.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PIECE = 1 << 20 }; /* bytes between two looks at Ctrl-C */

struct scl_output {
  FILE *file;
  char *path;
  scl_temporary temporary; /* without a name: the standard output */
  int failed;              /* errno of the first failure */
  bool shared;             /* all processes write it: process 0 does, the others write nothing */
};

/* Stores errno of the first failure. */
static void note(scl_output *output, bool worked) {
  if (!worked && output->failed == 0) output->failed = errno == 0 ? EIO : errno;
}

static bool is_standard(const scl_output *output) { return output->temporary.name == NULL; }

/* Whether process 0 writes the file, and this is another one. */
static bool is_elsewhere(const scl_output *output) {
  return output->shared && scl_processes_rank() > 0;
}

static void end(scl_output *output) {
  if (!is_elsewhere(output)) scl_temporary_release(&output->temporary);
  SCL_RELEASE(output->path, output);
}

scl_status scl_output_open(const char *path, scl_output **out, scl_error *error) {
  int descriptor = -1;
  scl_output *output = scl_allocate_zero(sizeof *output);
  if (output == NULL || (output->path = scl_copy_text(path)) == NULL) {
    scl_release(output);
    return scl_fail_memory(error, sizeof *output, "a file");
  }
  output->shared = scl_processes_divide();
  scl_status status = SCL_STATUS_OK;
  if (is_elsewhere(output))
    descriptor = open("/dev/null", O_WRONLY | O_CLOEXEC);
  else
    status = scl_temporary_open(path, &output->temporary, &descriptor, error);
  if (output->shared) status = scl_processes_meet(status, error, "the writing of %s", path);
  if (status == SCL_STATUS_OK && (output->file = fdopen(descriptor, "wb")) != NULL) {
    *out = output;
    return SCL_STATUS_OK;
  }
  if (status == SCL_STATUS_OK) (void)scl_fail_memory(error, BUFSIZ, "a file");
  if (descriptor >= 0) { /* opened here: a meeting has failed, or there is no memory */
    (void)close(descriptor);
    if (!is_elsewhere(output)) scl_temporary_remove(&output->temporary);
  }
  end(output);
  return status == SCL_STATUS_OK ? SCL_STATUS_NO_MEMORY : status;
}

scl_status scl_output_open_standard(scl_output **out, scl_error *error) {
  scl_output *output = scl_allocate_zero(sizeof *output);
  if (output == NULL || (output->path = scl_copy_text("standard output")) == NULL) {
    scl_release(output);
    return scl_fail_memory(error, sizeof *output, "a file");
  }
  output->temporary = (scl_temporary){.lock = -1, .unfinished = -1};
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

/* The reader of the standard output has gone. SIGPIPE may have been ignored by the program that
 * started us: it is set back and raised, so that this program ends as others in a pipe do. */
static void end_broken_pipe(const scl_output *output) {
  if (!is_standard(output) || output->failed != EPIPE) return;
  (void)signal(SIGPIPE, SIG_DFL);
  (void)raise(SIGPIPE);
}

bool scl_output_failed(scl_output *output) {
  if (output->failed == 0 && scl_interrupted()) output->failed = ECANCELED;
  return output->failed != 0;
}

void scl_output_set_mode(scl_output *output, unsigned mode) {
  note(output, fchmod(fileno(output->file), (mode_t)mode) == 0);
}

void scl_output_write(scl_output *output, const void *bytes, size_t size) {
  const scl_file_limit h = scl_file_limit_block();
  for (size_t put = 0, piece; put < size && !scl_output_failed(output); put += piece) {
    piece = scl_min(size - put, PIECE);
    errno = 0;
    note(output, fwrite((const char *)bytes + put, 1, piece, output->file) == piece);
  }
  scl_file_limit_restore(&h);
  end_broken_pipe(output);
}

void scl_output_rewrite(scl_output *output, size_t from, const void *bytes, size_t size) {
  const scl_file_limit h = scl_file_limit_block(); /* fseek writes what is in the buffer */
  const long end_of_file = ftell(output->file);
  note(output, end_of_file >= 0 && fseek(output->file, (long)from, SEEK_SET) == 0);
  scl_output_write(output, bytes, size);
  note(output, output->failed != 0 || fseek(output->file, end_of_file, SEEK_SET) == 0);
  scl_file_limit_restore(&h);
}

static scl_status close_standard(scl_output *output, scl_error *error) {
  const scl_file_limit h = scl_file_limit_block();
  note(output, fclose(output->file) == 0);
  scl_file_limit_restore(&h);
  end_broken_pipe(output);
  return output->failed == 0
             ? SCL_STATUS_OK
             : scl_fail(error, SCL_STATUS_IO, "standard output: cannot be written: %s",
                        strerror(output->failed));
}

/* Bytes to the disk, then the new name, then the folder: after a crash either the old file or the
 * whole new one is there. */
static scl_status close_and_keep(scl_output *output, scl_error *error) {
  const scl_file_limit h = scl_file_limit_block();
  note(output, fflush(output->file) == 0);
  note(output, output->failed != 0 || fsync(fileno(output->file)) == 0 ||
                   errno == EINVAL); /* EINVAL: a file system without */
  note(output, fclose(output->file) == 0);
  scl_file_limit_restore(&h);
  if (output->failed == 0) output->failed = scl_temporary_keep(&output->temporary);
  if (output->failed == 0) {
    scl_temporary_sync_folder(output->temporary.target);
    return SCL_STATUS_OK;
  }
  scl_temporary_remove(&output->temporary);
  return scl_fail(error, SCL_STATUS_IO, "%s: not written, nothing was left behind: %s",
                  output->path, strerror(output->failed));
}

scl_status scl_output_commit(scl_output *output, scl_error *error) {
  if (scl_output_failed(output) && output->failed == ECANCELED) {
    scl_interrupt_clear();
    scl_output_abandon(output);
    return scl_fail(error, SCL_STATUS_CANCELLED, "interrupted!");
  }
  scl_status status = SCL_STATUS_OK;
  if (is_elsewhere(output))
    (void)fclose(output->file);
  else
    status = is_standard(output) ? close_standard(output, error) : close_and_keep(output, error);
  if (output->shared) status = scl_processes_meet(status, error, "the end of a file");
  end(output);
  return status;
}

void scl_output_abandon(scl_output *output) {
  if (output == NULL) return;
  const scl_file_limit h = scl_file_limit_block();
  (void)fclose(output->file);
  scl_file_limit_restore(&h);
  if (!is_standard(output) && !is_elsewhere(output)) scl_temporary_remove(&output->temporary);
  end(output);
}
