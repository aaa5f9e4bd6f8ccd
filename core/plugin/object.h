/* Shared objects: whether a file may be opened, opening it, and telling whether it has changed. */
#ifndef SCULLERY_OBJECT_H
#define SCULLERY_OBJECT_H

#include "plugin/call.h"
#include <limits.h>
#include <sys/types.h>
#include <time.h>

/* Which bytes a path stood for. */
typedef struct scl_identity {
  dev_t device;
  ino_t inode;
  off_t size;
  struct timespec changed;
} scl_identity;

static inline bool scl_identity_same(const scl_identity *a, const scl_identity *b) {
  return a->device == b->device && a->inode == b->inode && a->size == b->size &&
         a->changed.tv_sec == b->changed.tv_sec && a->changed.tv_nsec == b->changed.tv_nsec;
}

/* The real path and identity of a plain file; anything else is refused. */
scl_status scl_object_find(const char *path, char real[PATH_MAX], scl_identity *identity,
                           scl_error *error);
/* Whether it may be loaded. Refused: what belongs to another user than root or the user; what every
 * user may write (the file, or its folder without the sticky bit); and, where the search found it,
 * what a group may write (file or folder), and what lies in a folder that every user may write to,
 * the sticky bit or not. */
scl_status scl_object_check(const char *real, bool by_name, scl_error *error);

/* Check that it is a whole shared object (elf.h), open it and find the components: `again` opens a
 * copy, so that a path that was opened before gives its present bytes. Opening runs the object's
 * constructors; one that changes the floating-point mode (as -ffast-math does) or what
 * surroundings.h names is refused, and the change undone. So does the object's own `init`
 * (plugin/entry.h), for which `kept` is the path that lasts. On success the object stays open. */
typedef struct scl_object {
  void *handle;
  const scl_entry *entry; /* after its `init`; NULL: it has none */
  const scl_plugin *const *plugins;
  size_t count;
} scl_object;
scl_status scl_object_open(const char *real, const char *kept, bool again, scl_object *out,
                           scl_error *error);
/* Call the object's `deinit`, where it has one. */
void scl_object_deinit(const scl_entry *entry, const char *real);
/* End the list alone: the object stays. */
void scl_object_keep(scl_object *object);
/* End the list, call `deinit`, and close the object. */
void scl_object_close(scl_object *object, const char *real);
/* What is done with a file, so that a crash names it; scl_call_drop ends it. */
void scl_object_enter(scl_call *call, scl_component *unnamed, const char *real, const char *doing);

#endif
