#define _POSIX_C_SOURCE 200809L
#include "data/input.h"
#include "base/interrupt.h"
#include "base/text.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

struct scl_input {
  gzFile file;
  char *path;
};

static bool is_standard_input(const char *path) { return strcmp(path, "-") == 0; }

static scl_status check_path(const char *path, struct stat *file, scl_error *error) {
  const int found = is_standard_input(path) ? fstat(STDIN_FILENO, file) : stat(path, file);
  if (found != 0)
    return scl_fail(error, SCL_STATUS_IO, "%s: %s", path,
                    errno == ENOENT ? "no such file" : strerror(errno));
  if (S_ISDIR(file->st_mode))
    return scl_fail(error, SCL_STATUS_IO, "%s: this is a folder, not a file", path);
  return SCL_STATUS_OK;
}

scl_status scl_input_open(const char *path, scl_input **out, scl_error *error) {
  struct stat file;
  SCL_TRY(check_path(path, &file, error));
  scl_input *input = scl_allocate_zero(sizeof *input);
  if (input == NULL || (input->path = scl_copy_text(path)) == NULL) {
    scl_release(input);
    return scl_fail_memory(error, sizeof *input, "a file");
  }
  input->file = is_standard_input(path) ? gzdopen(dup(STDIN_FILENO), "rb") : gzopen(path, "rb");
  if (input->file == NULL) {
    (void)scl_fail(error, SCL_STATUS_IO, "%s: cannot be read: %s", path, strerror(errno));
    scl_input_close(input);
    return SCL_STATUS_IO;
  }
  (void)gzbuffer(input->file, 1u << 18);
  *out = input;
  return SCL_STATUS_OK;
}

/* Why gzread failed, from its code; zlib puts the path before its own words. */
static scl_status refuse(const scl_input *input, int code, const char *message, scl_error *error) {
  const size_t length = strlen(input->path);
  if (code == Z_ERRNO && errno == EINTR) SCL_TRY(scl_interrupt_check(error));
  if (code == Z_ERRNO)
    return scl_fail(error, SCL_STATUS_IO, "%s: cannot be read: %s", input->path, strerror(errno));
  if (code == Z_MEM_ERROR) return scl_fail_memory(error, 1u << 18, input->path);
  if (code == Z_BUF_ERROR)
    return scl_fail(error, SCL_STATUS_BAD_DATA, "%s: the gzip file ends too early: it is truncated",
                    input->path);
  if (strncmp(message, input->path, length) == 0 && strncmp(message + length, ": ", 2) == 0)
    message += length + 2;
  return scl_fail(error, SCL_STATUS_BAD_DATA, "%s: the gzip file is damaged (%s)", input->path,
                  message);
}

scl_status scl_input_read(scl_input *input, void *to, size_t size, size_t *got, scl_error *error) {
  *got = 0;
  while (*got < size) {
    const size_t most = scl_min(size - *got, (size_t)1 << 30);
    const int count = gzread(input->file, (char *)to + *got, (unsigned)most);
    int code = Z_OK;
    const char *message = gzerror(input->file, &code);
    if (count < 0 || (code != Z_OK && code != Z_STREAM_END))
      return refuse(input, code, message, error);
    if (count == 0) break;
    *got += (size_t)count;
  }
  return SCL_STATUS_OK;
}

void scl_input_close(scl_input *input) {
  if (input == NULL) return;
  if (input->file != NULL) (void)gzclose_r(input->file);
  scl_release(input->path);
  scl_release(input);
}

/* A first guess at the unpacked size: the last four bytes of a gzip file say it (modulo 4 GB). */
static size_t guess_size(const char *path, const struct stat *there) {
  const size_t packed = (size_t)there->st_size;
  unsigned char ends[4] = {0}, magic[2] = {0};
  FILE *file = is_standard_input(path) ? NULL : fopen(path, "rbe");
  size_t guess = packed;
  if (file == NULL) return packed;
  if (fread(magic, 1, 2, file) == 2 && magic[0] == 0x1f && magic[1] == 0x8b &&
      fseek(file, -4, SEEK_END) == 0 && fread(ends, 1, 4, file) == 4)
    guess = (size_t)ends[0] | (size_t)ends[1] << 8 | (size_t)ends[2] << 16 | (size_t)ends[3] << 24;
  (void)fclose(file);
  return guess > packed * 1100 + 1000 ? packed * 4 : guess; /* deflate packs at most 1032 to 1 */
}

static scl_status read_all(scl_input *input, size_t guess, char **text, size_t *length,
                           scl_error *error) {
  size_t room = guess + 4096, used = 0, got = 0;
  char *bytes = scl_allocate(room + 1);
  if (bytes == NULL) return scl_fail_memory(error, room, input->path);
  for (;;) {
    const scl_status status = scl_input_read(input, bytes + used, room - used, &got, error);
    if (status != SCL_STATUS_OK) {
      scl_release(bytes);
      return status;
    }
    used += got;
    if (used < room) break;
    char *more = scl_allocate(2 * room + 1);
    if (more != NULL) memcpy(more, bytes, used);
    scl_release(bytes);
    if (more == NULL) return scl_fail_memory(error, 2 * room, input->path);
    bytes = more;
    room *= 2;
  }
  bytes[used] = 0;
  *text = bytes;
  *length = used;
  return SCL_STATUS_OK;
}

scl_status scl_input_all(const char *path, char **text, size_t *length, scl_error *error) {
  struct stat file;
  scl_input *input;
  SCL_TRY(check_path(path, &file, error));
  SCL_TRY(scl_input_open(path, &input, error));
  const scl_status status = read_all(
      input, S_ISREG(file.st_mode) ? guess_size(path, &file) : 1u << 16, text, length, error);
  scl_input_close(input);
  return status;
}
