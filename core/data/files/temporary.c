/* Temporary files beside their target, and the removal of those that dead writers left. Used by
 * output.c and journal.c. */
#define _GNU_SOURCE
#include "data/files/temporary.h"
#include "base/text.h"
#include "base/unfinished.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
  MOST_LINKS = 40,  /* as Linux follows */
  MOST_STEM = 200,  /* bytes of the target's name in the temporary's: a name has up to 255 */
  SUFFIX_ROOM = 48, /* ".PROCESS-NUMBER.part" */
  ATTEMPTS = 100
};

static scl_status cannot(const char *path, int reason, scl_error *error) {
  return scl_fail(error, SCL_STATUS_IO, "%s: cannot be written: %s", path,
                  reason == ENOENT ? "there is no such folder" : strerror(reason));
}

/* ------------ what is replaced */

/* Replaces *path by the target of the symbolic link there; a relative target starts from the folder
 * of the link. */
static scl_status follow(char **path, scl_error *error) {
  char text[PATH_MAX];
  const ssize_t length = readlink(*path, text, sizeof text - 1);
  if (length < 0) return cannot(*path, errno, error);
  text[length] = 0;
  const char *slash = text[0] == '/' ? NULL : strrchr(*path, '/');
  const size_t folder = slash == NULL ? 0 : (size_t)(slash - *path) + 1;
  char *next = scl_allocate(folder + (size_t)length + 1);
  if (next == NULL) return scl_fail_memory(error, folder + (size_t)length + 1, "a file name");
  memcpy(next, *path, folder);
  memcpy(next + folder, text, (size_t)length + 1);
  scl_release(*path);
  *path = next;
  return SCL_STATUS_OK;
}

/* Refuses to replace anything but a plain file that the user may write. */
static scl_status check_replaced(const char *path, const struct stat *there, scl_error *error) {
  if (S_ISDIR(there->st_mode))
    return scl_fail(error, SCL_STATUS_IO, "%s: this is a folder, not a file", path);
  if (!S_ISREG(there->st_mode))
    return scl_fail(error, SCL_STATUS_IO,
                    "%s: this is a pipe or device, and a file is written whole or not at all",
                    path);
  return faccessat(AT_FDCWD, path, W_OK, AT_EACCESS) == 0 ? SCL_STATUS_OK
                                                          : cannot(path, errno, error);
}

/* *out = the path to write: `path`, or what it links to, whether or not a file is there. The caller
 * releases *out. */
static scl_status find_target(const char *path, char **out, struct stat *there, bool *is_there,
                              scl_error *error) {
  if (path[0] == 0) return scl_fail(error, SCL_STATUS_IO, "the file name is empty");
  *out = scl_copy_text(path);
  if (*out == NULL) return scl_fail_memory(error, strlen(path), "a file name");
  for (int links = 0; links < MOST_LINKS; links++) {
    *is_there = lstat(*out, there) == 0;
    if (!*is_there && errno != ENOENT) return cannot(path, errno, error);
    if (!*is_there) return SCL_STATUS_OK;
    if (!S_ISLNK(there->st_mode)) return check_replaced(path, there, error);
    SCL_TRY(follow(out, error));
  }
  return cannot(path, ELOOP, error);
}

/* Copies mode and owner of the replaced file. If the group cannot be kept, it gets no more rights
 * than all others. */
static void take_over(int descriptor, const struct stat *replaced) {
  mode_t mode = replaced->st_mode & 0777;
  if (fchown(descriptor, replaced->st_uid, replaced->st_gid) != 0 &&
      fchown(descriptor, (uid_t)-1, replaced->st_gid) != 0)
    mode &= 0707 | (mode & 07) << 3;
  (void)fchmod(descriptor, mode);
}

/* ------------ what dead writers left */

/* The length of the target's folder with its slash, and of what of its name the temporary's begins
 * with. */
static void measure(const char *target, size_t *folder, size_t *stem) {
  const char *slash = strrchr(target, '/');
  *folder = slash == NULL ? 0 : (size_t)(slash - target) + 1;
  *stem = strlen(target + *folder);
  if (*stem <= MOST_STEM) return;
  *stem = MOST_STEM;
  while (*stem > 0 && (target[*folder + *stem] & 0xc0) == 0x80) /* inside a character of UTF-8 */
    (*stem)--;
}

/* Whether the text is ".PROCESS-NUMBER.part", both in digits. */
static bool is_suffix(const char *text) {
  static const char digits[] = "0123456789";
  if (*text++ != '.') return false;
  const size_t process = strspn(text, digits);
  if (process == 0 || text[process] != '-') return false;
  text += process + 1;
  const size_t number = strspn(text, digits);
  return number > 0 && strcmp(text + number, ".part") == 0;
}

/* Removes a temporary file unless its writer still lives: a living writer holds the lock of its
 * file. */
static void remove_dead(int folder, const char *name) {
  struct stat file;
  const int descriptor = openat(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  if (descriptor < 0) return;
  if (fstat(descriptor, &file) == 0 && S_ISREG(file.st_mode) &&
      flock(descriptor, LOCK_EX | LOCK_NB) == 0)
    (void)unlinkat(folder, name, 0);
  (void)close(descriptor);
}

/* Removes the temporaries of this target in its folder whose writers are dead. */
static void remove_left(const char *target) {
  char path[PATH_MAX];
  size_t folder, stem;
  measure(target, &folder, &stem);
  if (folder >= sizeof path) return;
  (void)snprintf(path, sizeof path, "%.*s", (int)folder, target);
  DIR *files = opendir(folder == 0 ? "." : path);
  if (files == NULL) return;
  for (const struct dirent *file = readdir(files); file != NULL; file = readdir(files))
    if (strncmp(file->d_name, target + folder, stem) == 0 && is_suffix(file->d_name + stem))
      remove_dead(dirfd(files), file->d_name);
  (void)closedir(files);
}

/* ------------ making, keeping, removing */

/* Lock the file: 0, or errno, EEXIST where another writer took it for a dead one's before. On a
 * file system without locks nothing is removed. */
static int lock(scl_temporary *t, int descriptor) {
  struct stat file;
  if (flock(descriptor, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) return EEXIST;
  if (fstat(descriptor, &file) != 0) return errno;
  if (file.st_nlink == 0) return EEXIST;
  t->lock = fcntl(descriptor, F_DUPFD_CLOEXEC, 0);
  return t->lock >= 0 ? 0 : errno;
}

/* One attempt to create and lock the temporary; 0, or errno. Its name is among the unfinished ones
 * before it exists, so that a signal at any time removes it. */
static int try_name(scl_temporary *t, const struct stat *replaced, int *descriptor) {
  t->unfinished = scl_unfinished_add(t->name);
  *descriptor =
      open(t->name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, replaced == NULL ? 0666 : 0600);
  const int reason = *descriptor < 0 ? errno : lock(t, *descriptor);
  if (reason == 0) {
    if (replaced != NULL) take_over(*descriptor, replaced);
    return 0;
  }
  if (*descriptor >= 0) {
    (void)unlink(t->name);
    (void)close(*descriptor);
  }
  if (!scl_unfinished_forget(t->unfinished, t->name)) t->name = NULL; /* the process is ending */
  t->unfinished = -1;
  return reason;
}

/* Creates the temporary under a name that no other process or thread uses. */
static scl_status make(scl_temporary *t, const char *path, const struct stat *replaced,
                       int *descriptor, scl_error *error) {
  static atomic_uint number;
  size_t folder, stem;
  measure(t->target, &folder, &stem);
  const size_t size = folder + stem + SUFFIX_ROOM;
  t->name = scl_allocate(size);
  if (t->name == NULL) return scl_fail_memory(error, size, "a file name");
  int reason = EEXIST;
  for (int attempt = 0; t->name != NULL && reason == EEXIST && attempt < ATTEMPTS; attempt++) {
    (void)snprintf(t->name, size, "%.*s.%ld-%u.part", (int)(folder + stem), t->target,
                   (long)getpid(), atomic_fetch_add(&number, 1));
    reason = try_name(t, replaced, descriptor);
  }
  return reason == 0 ? SCL_STATUS_OK : cannot(path, reason, error);
}

scl_status scl_temporary_open(const char *path, scl_temporary *out, int *descriptor,
                              scl_error *error) {
  struct stat replaced;
  bool is_there = false;
  *out = (scl_temporary){.lock = -1, .unfinished = -1};
  scl_status status = find_target(path, &out->target, &replaced, &is_there, error);
  if (status == SCL_STATUS_OK) {
    remove_left(out->target);
    status = make(out, path, is_there ? &replaced : NULL, descriptor, error);
  }
  if (status != SCL_STATUS_OK) scl_temporary_release(out);
  return status;
}

int scl_temporary_keep(const scl_temporary *t) {
  return rename(t->name, t->target) == 0 ? 0 : errno;
}

void scl_temporary_remove(const scl_temporary *t) { (void)unlink(t->name); }

void scl_temporary_release(scl_temporary *t) {
  if (scl_unfinished_forget(t->unfinished, t->name)) scl_release(t->name);
  if (t->lock >= 0) (void)close(t->lock);
  scl_release(t->target);
  *t = (scl_temporary){.lock = -1, .unfinished = -1};
}

void scl_temporary_sync_folder(const char *path) {
  char folder[PATH_MAX];
  const char *slash = strrchr(path, '/');
  const size_t length = slash == NULL ? 1 : scl_max((size_t)(slash - path), 1);
  if (length >= sizeof folder) return;
  memcpy(folder, slash == NULL ? "." : path, length);
  folder[length] = 0;
  const int descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) return;
  (void)fsync(descriptor);
  (void)close(descriptor);
}
