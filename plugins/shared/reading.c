/* Files at any place, memory that grows, libraries opened by their names. */
#define _POSIX_C_SOURCE 200809L
#include "shared/reading.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

/* ------------ files */

scl_status scl_reading_open(scl_reading *reading, const scl_host *host, const char *path,
                            scl_error *error) {
  struct stat about;
  *reading = (scl_reading){.host = host, .descriptor = -1};
  reading->path = scl_host_copy_text(host, path, strlen(path));
  if (reading->path == NULL) return host->fail(error, SCL_STATUS_NO_MEMORY, "out of memory");
  reading->descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (reading->descriptor < 0 || fstat(reading->descriptor, &about) != 0)
    return host->fail(error, SCL_STATUS_IO, "%s: %s", path, strerror(errno));
  if (!S_ISREG(about.st_mode))
    return host->fail(error, SCL_STATUS_IO, "%s: it is not a regular file", path);
  reading->size = (uint64_t)about.st_size;
  return SCL_STATUS_OK;
}

/* What a file claims is compared with its size before anything is read. */
scl_status scl_reading_at(const scl_reading *reading, uint64_t at, void *to, size_t bytes,
                          const char *what, scl_error *error) {
  if (at > reading->size || bytes > reading->size - at)
    return scl_reading_refuse(reading, error,
                              "%s should be %zu bytes from byte %llu on, and the file has %llu: it "
                              "is cut off or damaged",
                              what, bytes, (unsigned long long)at,
                              (unsigned long long)reading->size);
  for (size_t got = 0; got < bytes;) {
    const ssize_t more =
        pread(reading->descriptor, (char *)to + got, bytes - got, (off_t)(at + got));
    if (more < 0 && errno == EINTR) continue;
    if (more <= 0)
      return reading->host->fail(error, SCL_STATUS_IO, "%s: %s", reading->path,
                                 more == 0 ? "it became shorter while it was read"
                                           : strerror(errno));
    got += (size_t)more;
  }
  return SCL_STATUS_OK;
}

void scl_reading_close(scl_reading *reading) {
  if (reading->descriptor >= 0) (void)close(reading->descriptor);
  if (reading->host != NULL) reading->host->release(reading->path);
}

scl_status scl_reading_refuse(const scl_reading *reading, scl_error *error, const char *format,
                              ...) {
  char sentence[800];
  va_list list;
  va_start(list, format);
  (void)vsnprintf(sentence, sizeof sentence, format, list);
  va_end(list);
  return reading->host->fail(error, SCL_STATUS_BAD_DATA, "%s: %s", reading->path, sentence);
}

scl_status scl_write_example(const scl_host *host, const char *path, const char *bytes, size_t size,
                             scl_error *error) {
  FILE *file = fopen(path, "wb");
  const bool written = file != NULL && fwrite(bytes, size, 1, file) == 1;
  if (file != NULL && fclose(file) == 0 && written) return SCL_STATUS_OK;
  return host->fail(error, SCL_STATUS_IO, "%s cannot be written", path);
}

/* ------------ memory */

scl_status scl_room_grow(const scl_host *host, scl_room *room, size_t bytes, scl_error *error) {
  if (bytes <= room->size && room->memory != NULL) return SCL_STATUS_OK;
  const size_t size = bytes + bytes / 4 + 64;
  void *more = size > bytes ? host->allocate(size) : NULL;
  if (more == NULL)
    return host->fail(error, SCL_STATUS_NO_MEMORY, "out of memory: %zu bytes of a file", bytes);
  if (room->size > 0) memcpy(more, room->memory, room->size);
  host->release(room->memory);
  *room = (scl_room){more, size};
  return SCL_STATUS_OK;
}

void scl_room_release(const scl_host *host, scl_room *room) {
  host->release(room->memory);
  *room = (scl_room){NULL, 0};
}

char *scl_host_copy_text(const scl_host *host, const char *text, size_t length) {
  char *copy = host->allocate(length + 1);
  if (copy == NULL) return NULL;
  if (length > 0) memcpy(copy, text, length);
  copy[length] = 0;
  return copy;
}

void *scl_host_zeros(const scl_host *host, size_t count, size_t size) {
  if (size > 0 && count > SIZE_MAX / 2 / size) return NULL;
  void *memory = host->allocate(count * size + 1);
  if (memory != NULL) memset(memory, 0, count * size + 1);
  return memory;
}

/* ------------ libraries */

scl_status scl_library_find(const scl_host *host, const char *path, const char *what,
                            const char *library, const char *package, const char *const *names,
                            void *to, scl_error *error) {
  void *opened = dlopen(library, RTLD_NOW | RTLD_LOCAL);
  if (opened == NULL)
    return host->fail(error, SCL_STATUS_UNSUPPORTED,
                      "%s: %s needs %s, which is not there: install the package %s", path, what,
                      library, package);
  for (size_t i = 0; names[i] != NULL; i++) {
    void *found = dlsym(opened, names[i]);
    if (found == NULL)
      return host->fail(error, SCL_STATUS_UNSUPPORTED, "%s: %s needs %s, which has no function %s",
                        path, what, library, names[i]);
    memcpy((char *)to + i * sizeof found, &found, sizeof found);
  }
  return SCL_STATUS_OK;
}
