/* The memory that is left to this process, from small files of Linux. What cannot be read is taken
 * for unlimited, SIZE_MAX / 2. */
#define _GNU_SOURCE
#include "base/memory_left.h"

#include "base/memory.h"
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

enum { LONGEST_LINE = 4096 };

static size_t difference(size_t from, size_t by) { return from > by ? from - by : 0; }

/* ------------ small files of the system */

/* The number after `key` at the start of a line; key "": at the start of the file. *found: whether
 * there is such a number. */
static size_t number_in(const char *path, const char *key, bool *found) {
  char line[LONGEST_LINE];
  FILE *file = fopen(path, "re");
  *found = false;
  while (file != NULL && !*found && fgets(line, sizeof line, file) != NULL) {
    const size_t length = strlen(key);
    char *end = NULL;
    if (strncmp(line, key, length) != 0) continue;
    const unsigned long long number = strtoull(line + length, &end, 10);
    *found = end != line + length;
    if (*found) {
      (void)fclose(file);
      return number > SIZE_MAX / 2 ? SIZE_MAX / 2 : (size_t)number;
    }
    if (length == 0) break;
  }
  if (file != NULL) (void)fclose(file);
  return 0;
}

/* ------------ the machine */

/* Bytes of this process, from a field of /proc/self/statm: 0 all, 1 resident, 5 data and stack. */
static size_t own_bytes(const char *root, int field) {
  char path[PATH_MAX], line[LONGEST_LINE] = "";
  (void)snprintf(path, sizeof path, "%s/proc/self/statm", root);
  FILE *file = fopen(path, "re");
  if (file == NULL) return 0;
  char *at = fgets(line, sizeof line, file);
  (void)fclose(file);
  unsigned long long pages = 0;
  for (int i = 0; at != NULL && i <= field; i++)
    pages = strtoull(at, &at, 10);
  return (size_t)pages * (size_t)sysconf(_SC_PAGESIZE);
}

/* Nine tenths of the free memory, the rest being left to other processes; nine tenths of all memory
 * where the free memory is unknown. */
static size_t left_of_machine(const char *root) {
  char path[PATH_MAX];
  bool found;
  (void)snprintf(path, sizeof path, "%s/proc/meminfo", root);
  const size_t free_now = number_in(path, "MemAvailable:", &found);
  if (found) return free_now / 10 * 9 * 1024;
  const long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGESIZE);
  return pages > 0 && size > 0 ? (size_t)pages / 10 * 9 * (size_t)size : SIZE_MAX / 2;
}

/* ------------ limits of the process */

/* What a resource limit of the process leaves, with `used` bytes in use. */
static size_t left_of_limit(int resource, size_t used) {
  struct rlimit limit;
  if (getrlimit(resource, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return SIZE_MAX / 2;
  return difference(limit.rlim_cur, used);
}

/* ------------ control groups */

/* The names of one version's files. */
typedef struct group_files {
  const char *folder, *limit, *used, *inactive, *active;
} group_files;

static const group_files version_1 = {"/sys/fs/cgroup/memory", "memory.limit_in_bytes",
                                      "memory.usage_in_bytes", "total_inactive_file ",
                                      "total_active_file "},
                         version_2 = {"/sys/fs/cgroup", "memory.max", "memory.current",
                                      "inactive_file ", "active_file "};

/* A number from a file of a control group; *found: whether it exists. */
static size_t number_of_group(const char *folder, const char *name, const char *key, bool *found) {
  char path[PATH_MAX];
  *found = snprintf(path, sizeof path, "%s/%s", folder, name) < (int)sizeof path;
  return *found ? number_in(path, key, found) : 0;
}

/* What one group leaves. Its use includes the page cache of files, which the system can drop. */
static size_t left_of_folder(const group_files *files, const char *folder) {
  bool limited, found;
  const size_t limit = number_of_group(folder, files->limit, "", &limited);
  if (!limited) return SIZE_MAX / 2;
  const size_t used = number_of_group(folder, files->used, "", &found),
               cached = number_of_group(folder, "memory.stat", files->inactive, &found) +
                        number_of_group(folder, "memory.stat", files->active, &found);
  return difference(limit, difference(used, cached));
}

/* The least that the group at `path` and its parents leave. In a container the path may be that of
 * the host, of which only the root exists here. */
static size_t left_of_group(const char *root, const group_files *files, const char *path) {
  char folder[PATH_MAX];
  const size_t start = strlen(root) + strlen(files->folder);
  const int length = snprintf(folder, sizeof folder, "%s%s%s", root, files->folder, path);
  if (length < 0 || length >= (int)sizeof folder) return SIZE_MAX / 2;
  size_t least = SIZE_MAX / 2;
  for (size_t end = (size_t)length;; end--) {
    if (end > start && folder[end] != '/' && folder[end] != 0) continue;
    folder[end] = 0;
    const size_t left = left_of_folder(files, folder);
    if (left < least) least = left;
    if (end <= start) return least;
  }
}

/* Lines "hierarchy:controllers:path": "0::path" is version 2, "memory" among the controllers
 * version 1. */
static size_t left_of_groups(const char *root) {
  char path[PATH_MAX], line[LONGEST_LINE];
  size_t least = SIZE_MAX / 2;
  (void)snprintf(path, sizeof path, "%s/proc/self/cgroup", root);
  FILE *file = fopen(path, "re");
  while (file != NULL && fgets(line, sizeof line, file) != NULL) {
    char *controllers = strchr(line, ':');
    char *group = controllers == NULL ? NULL : strchr(controllers + 1, ':');
    if (group == NULL) continue;
    *group++ = 0;
    group[strcspn(group, "\n")] = 0;
    const group_files *files = controllers[1] == 0                     ? &version_2
                               : strstr(controllers, "memory") != NULL ? &version_1
                                                                       : NULL;
    const size_t left = files == NULL ? least : left_of_group(root, files, group);
    if (left < least) least = left;
  }
  if (file != NULL) (void)fclose(file);
  return least;
}

/* ------------ the least of all */

/* Memory that was allocated but not touched yet is not in use for the system: `promised` is
 * subtracted from what the machine and the control groups leave. Limits of address space count it
 * already. */
size_t scl_memory_left_under(const char *root) {
  const size_t resident = own_bytes(root, 1), promised = difference(scl_allocated(), resident);
  const size_t shared = scl_min(left_of_machine(root), left_of_groups(root));
  const size_t own = scl_min(left_of_limit(RLIMIT_AS, own_bytes(root, 0)),
                             left_of_limit(RLIMIT_DATA, own_bytes(root, 5)));
  return scl_min(difference(shared, promised), own);
}

size_t scl_memory_left(void) { return scl_memory_left_under(""); }

size_t scl_memory_resident(void) { return own_bytes("", 1); }
