/* What readers share: files at any place, memory that grows, and libraries that are opened by
 * their names when a file needs them, so that nothing else does. */
#ifndef SCULLERY_SHARED_READING_H
#define SCULLERY_SHARED_READING_H

#include <scullery/plugin.h>

#define READ_TRY(call) \
  do { \
    const scl_status status_ = (call); \
    if (status_ != SCL_STATUS_OK) return status_; \
  } while (0)

/* A file that is read at any place. */
typedef struct scl_reading {
  const scl_host *host;
  char *path; /* own */
  int descriptor;
  uint64_t size;
} scl_reading;

/* To be closed also after an error. SCL_STATUS_IO: it is not there, or no file. */
scl_status scl_reading_open(scl_reading *reading, const scl_host *host, const char *path,
                            scl_error *error);
/* The bytes [at, at + bytes). SCL_STATUS_BAD_DATA with `what` where the file ends before. */
scl_status scl_reading_at(const scl_reading *reading, uint64_t at, void *to, size_t bytes,
                          const char *what, scl_error *error);
void scl_reading_close(scl_reading *reading);
/* SCL_STATUS_BAD_DATA: "PATH: " and the sentence. */
SCL_PRINTF(3, 4)
scl_status scl_reading_refuse(const scl_reading *reading, scl_error *error, const char *format,
                              ...);

/* Write the example of a reader (slot `example`). */
scl_status scl_write_example(const scl_host *host, const char *path, const char *bytes, size_t size,
                             scl_error *error);

/* Memory that grows; what was in it is kept. `size` bytes are there. */
typedef struct scl_room {
  void *memory;
  size_t size;
} scl_room;
scl_status scl_room_grow(const scl_host *host, scl_room *room, size_t bytes, scl_error *error);
void scl_room_release(const scl_host *host, scl_room *room);

/* A copy of a text, which host->release releases; NULL: out of memory. */
char *scl_host_copy_text(const scl_host *host, const char *text, size_t length);
/* Memory of zeros. */
void *scl_host_zeros(const scl_host *host, size_t count, size_t size);

/* Find functions of a library, by their names (the last is NULL), as pointers one behind the
 * other at `to`. SCL_STATUS_UNSUPPORTED: "PATH: WHAT needs LIBRARY, which is not there:
 * install the package PACKAGE". The library stays open. */
scl_status scl_library_find(const scl_host *host, const char *path, const char *what,
                            const char *library, const char *package, const char *const *names,
                            void *to, scl_error *error);

#endif
