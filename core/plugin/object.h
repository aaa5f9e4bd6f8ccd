/* Shared objects: whether a file may be opened, how it is opened, and whether it has changed. */
#ifndef SCULLERY_OBJECT_H
#define SCULLERY_OBJECT_H

#include "plugin/call.h"
#include <limits.h>
#include <sys/types.h>
#include <time.h>

/* Identifies the bytes that a path had: another file, or a changed one, differs in a member. */
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
/* Whether a file may be loaded (by_name: its path was given; otherwise the search found it).
 * SCL_STATUS_IO for a file of another user than root and the user, and for one that every user may
 * write (the file, or its folder without the sticky bit). If the search found it, also for one that
 * a group may write (file or folder), and for one in a folder that every user may write to, with
 * the sticky bit or without. */
scl_status scl_object_check(const char *real, bool by_name, scl_error *error);

/* Check that a file is a whole shared object (elf.h), open it and find its components. `again`
 * opens a copy, so that a path that was opened before gives its present bytes. Opening runs the
 * object's constructors and its own `init` (plugin/entry.h), which gets the path `kept`: that text
 * must live as long as the object. An object that changes the floating-point mode (as -ffast-math
 * does) or what surroundings.h lists is refused, and the change is undone. On success the object
 * stays open, and the caller ends the list of its plugins by scl_object_keep or
 * scl_object_close. */
typedef struct scl_object {
  void *handle;
  const scl_entry *entry; /* after its `init`; NULL: it has none */
  const scl_plugin *const *plugins;
  size_t count;
} scl_object;
scl_status scl_object_open(const char *real, const char *kept, bool again, scl_object *out,
                           scl_error *error);
/* Call the object's `deinit`, if it has one. */
void scl_object_deinit(const scl_entry *entry, const char *real);
/* Release the list of plugins; the object stays open. */
void scl_object_keep(scl_object *object);
/* Release the list of plugins, call `deinit`, and close the object. */
void scl_object_close(scl_object *object, const char *real);
/* Begin a call without a component, named by what is done (`doing`), so that a crash meanwhile is
 * reported with the file. The caller keeps call and *unnamed, and ends it by scl_call_drop. */
void scl_object_enter(scl_call *call, scl_component *unnamed, const char *real, const char *doing);

#endif
