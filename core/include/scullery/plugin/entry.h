/* scullery/plugin/entry.h: an optional symbol, `scullery_entry`, of objects that prepare something
 * before their plugins are used (a device, a library, another language), or that find out what they
 * offer when they are loaded. Most plugins need none. */
#ifndef SCULLERY_PLUGIN_ENTRY_H
#define SCULLERY_PLUGIN_ENTRY_H

#include "descriptor.h"
#include "host.h"

typedef struct scl_entry {
  scl_head head;
  /* Prepare the object. The host calls it once, when it has opened the file, before it reads any
   * descriptor; on the thread that loads the file, one file at a time. `path` is the file's, and
   * lasts, like `host`, as long as the process. Where it fails, the file is refused with its
   * sentence, and `deinit` is not called. What holds for the opening of a file holds here:
   * floating-point mode, locale, signals, folder and environment stay as they are. NULL: nothing to
   * do. [one] */
  scl_status (*init)(const scl_host *host, const char *path, scl_error *error);
  /* End what init made. The host calls it once: at once where the object is refused after init; else
   * when the process ends by exit() or a return from main, the object that was loaded last first.
   * Slots are not called afterwards, `destroy` of instances that are left included. It is not called
   * where a signal, a crash or _exit() ends the process. NULL: nothing to do. [one] */
  void (*deinit)(void);
  /* The list of components, which lasts until deinit. The host calls it once, after init. NULL: the
   * object has `scullery_plugin` or `scullery_plugins`, as others do; otherwise it has neither.
   * [one] */
  const scl_plugin_list *(*get)(void);
} scl_entry;
#define SCL_LEAST_ENTRY SCL_THROUGH(scl_entry, get)

#ifdef __cplusplus
extern "C" {
#endif
extern SCL_EXPORT const scl_entry scullery_entry;
#ifdef __cplusplus
}
#endif

#endif
