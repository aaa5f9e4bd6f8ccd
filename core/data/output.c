#define _POSIX_C_SOURCE 200809L
#include "output.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct scl_output {
  FILE *file;
  char *path, *temporary;
  int failed; /* errno of the first failure */
};

static char *temporary_name(const char *path) {
  const size_t size = strlen(path) + 16;
  char *name = scl_allocate(size);
  if (name != NULL) (void)snprintf(name, size, "%s.XXXXXX", path);
  return name;
}

static void end(scl_output *output) {
  scl_release(output->path);
  scl_release(output->temporary);
  scl_release(output);
}

scl_status scl_output_open(const char *path, scl_output **out, scl_error *error) {
  scl_output *output = scl_allocate_zero(sizeof *output);
  if (output == NULL) return scl_fail_memory(error, sizeof *output, "a file");
  output->path = scl_copy_text(path);
  output->temporary = temporary_name(path);
  if (output->path == NULL || output->temporary == NULL) {
    end(output);
    return scl_fail_memory(error, strlen(path), "a file name");
  }
  const int descriptor = mkstemp(output->temporary);
  if (descriptor >= 0) {
    const mode_t mask = umask(0); /* mkstemp gives 0600; a plain file follows the user's mask */
    (void)umask(mask);
    (void)fchmod(descriptor, 0666 & ~mask);
    output->file = fdopen(descriptor, "wb");
  }
  if (output->file == NULL) {
    const scl_status status = scl_fail(error, SCL_IO, "%s: cannot be written: %s", path, strerror(errno));
    if (descriptor >= 0) {
      (void)close(descriptor);
      (void)unlink(output->temporary);
    }
    end(output);
    return status;
  }
  *out = output;
  return SCL_OK;
}

void scl_output_write(scl_output *output, const void *bytes, size_t size) {
  if (output->failed == 0 && fwrite(bytes, 1, size, output->file) != size) output->failed = errno == 0 ? EIO : errno;
}

/* The name in the folder is safe only once the folder is on disk. */
static void sync_folder(const char *path) {
  char *folder = scl_copy_text(path);
  if (folder == NULL) return;
  char *slash = strrchr(folder, '/');
  if (slash != NULL) slash[slash == folder] = 0;
  const int descriptor = open(slash == NULL ? "." : folder, O_RDONLY);
  if (descriptor >= 0) {
    (void)fsync(descriptor);
    (void)close(descriptor);
  }
  scl_release(folder);
}

scl_status scl_output_commit(scl_output *output, scl_error *error) {
  if (fflush(output->file) != 0 && output->failed == 0) output->failed = errno;
  if (output->failed == 0 && fsync(fileno(output->file)) != 0 && errno != EINVAL) output->failed = errno;
  if (fclose(output->file) != 0 && output->failed == 0) output->failed = errno;
  if (output->failed == 0 && rename(output->temporary, output->path) != 0) output->failed = errno;
  const int failed = output->failed;
  if (failed != 0)
    (void)unlink(output->temporary);
  else
    sync_folder(output->path);
  const scl_status status = failed == 0 ? SCL_OK : scl_fail(error, SCL_IO, "%s: not written: %s", output->path, strerror(failed));
  end(output);
  return status;
}

void scl_output_abandon(scl_output *output) {
  if (output == NULL) return;
  (void)fclose(output->file);
  (void)unlink(output->temporary);
  end(output);
}
