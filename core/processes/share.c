/* Memory that the processes of one machine share: a file without a name, which process 0 makes and
 * the others open by its descriptor in /proc, whatever transport joined them. */
#define _GNU_SOURCE
#include "processes/processes.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PAGE = 4096 };

/* What process 0 says of the file. */
typedef struct offer {
  int64_t process, descriptor; /* descriptor < 0: there is none */
  uint64_t device, inode;
} offer;

/* Beyond the limit of files the system would send a signal. */
static int make_file(size_t bytes, offer *o) {
  struct stat file;
  struct rlimit limit;
  if (!scl_memory_admits(bytes) || getrlimit(RLIMIT_FSIZE, &limit) != 0 ||
      (limit.rlim_cur != RLIM_INFINITY && bytes > limit.rlim_cur))
    return -1;
  const int descriptor = memfd_create("scullery", MFD_CLOEXEC);
  if (descriptor < 0) return -1;
  if (ftruncate(descriptor, (off_t)bytes) == 0 && fstat(descriptor, &file) == 0) {
    *o = (offer){getpid(), descriptor, file.st_dev, file.st_ino};
    return descriptor;
  }
  (void)close(descriptor);
  return -1;
}

/* Another process's file. Its number tells whether it is the same one: names of processes differ
 * between containers. */
static int open_file(const offer *o) {
  char path[64];
  struct stat file;
  (void)snprintf(path, sizeof path, "/proc/%lld/fd/%lld", (long long)o->process,
                 (long long)o->descriptor);
  const int descriptor = o->descriptor < 0 ? -1 : open(path, O_RDWR | O_CLOEXEC);
  if (descriptor < 0) return -1;
  if (fstat(descriptor, &file) == 0 && file.st_dev == o->device && file.st_ino == o->inode)
    return descriptor;
  (void)close(descriptor);
  return -1;
}

/* Get the pages of this process's part now: later the system could only end a process that writes to
 * one that it does not have. False: there is no memory for them. */
static bool take_pages(char *memory, size_t bytes, int descriptor) {
  size_t first, end;
  const size_t pages = (bytes + PAGE - 1) / PAGE;
  scl_processes_part(scl_processes_rank(), pages, &first, &end);
  if (first == end) return true;
  const size_t size = scl_min(end * PAGE, bytes) - first * PAGE;
#ifdef MADV_POPULATE_WRITE
  if (madvise(memory + first * PAGE, size, MADV_POPULATE_WRITE) == 0) return true;
  if (errno != EINVAL) return false;
#else
  (void)memory;
#endif
  return posix_fallocate(descriptor, (off_t)(first * PAGE), (off_t)size) == 0;
}

scl_status scl_processes_share(scl_status mine, size_t bytes, void **out, scl_error *error) {
  offer o = {.descriptor = -1};
  int descriptor = -1;
  *out = NULL;
  SCL_TRY(scl_processes_meet(mine, error, "%zu bytes of memory for all", bytes));
  if (scl_processes_here() < scl_processes_count()) return SCL_STATUS_OK;
  const bool first = scl_processes_rank() == 0;
  if (first) descriptor = make_file(bytes, &o);
  scl_status status = scl_processes_broadcast(0, &o, sizeof o, error);
  if (status == SCL_STATUS_OK && !first) descriptor = open_file(&o);
  void *memory = descriptor < 0 ? NULL : scl_allocate_mapped(bytes, descriptor);
  int64_t failed = memory == NULL || !take_pages(memory, bytes, descriptor);
  if (status == SCL_STATUS_OK) status = scl_processes_maximum(&failed, 1, error);
  if (memory == NULL && descriptor >= 0) (void)close(descriptor);
  if (status == SCL_STATUS_OK && failed == 0)
    *out = memory;
  else
    scl_release(memory);
  return status;
}

scl_status scl_processes_part_memory(scl_status mine, void *const *blocks, size_t count,
                                     scl_error *error) {
  SCL_TRY(scl_processes_meet(mine, error, "the end of %zu blocks of memory for all", count));
  int64_t failed = 0;
  for (size_t i = 0; i < count; i++)
    if (blocks[i] != NULL && !scl_mapped_part(blocks[i])) failed = 1;
  SCL_TRY(scl_processes_maximum(&failed, 1, error));
  return failed == 0 ? SCL_STATUS_OK
                     : scl_fail_memory(error, 0, "numbers that all processes have read");
}
