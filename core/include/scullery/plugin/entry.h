/* scullery/plugin/entry.h: an optional symbol, `scullery_entry`, of objects that prepare something
 * before their plugins are used (a device, a library, another language), or that make their list of
 * plugins when they are loaded. Most plugins do not need it. */
#ifndef SCULLERY_PLUGIN_ENTRY_H
#define SCULLERY_PLUGIN_ENTRY_H

#include "descriptor.h"
#include "host.h"

typedef struct scl_entry {
  scl_head head;
  /* Prepare the object. The host calls it once, when it has opened the file, before it reads any
   * descriptor; on the thread that loads the file, one file at a time. `path` is that of the file;
   * it and `host` are valid until the process ends. If init fails, the host refuses the file with
   * its sentence and does not call `deinit`. As while a file is opened, init may not change the
   * floating-point mode, locale, signal handlers, current folder or environment. NULL: nothing to
   * prepare. [one] */
  scl_status (*init)(const scl_host *host, const char *path, scl_error *error);
  /* Release what init made. The host calls it once: immediately if it refuses the object after
   * init, else when the process ends by exit() or a return from main, in the reverse order of
   * loading. No slot is called afterwards, not even `destroy` of remaining instances. It is not
   * called when a signal, a crash or _exit() ends the process. NULL: nothing to release. [one] */
  void (*deinit)(void);
  /* Return the list of components, which is valid until deinit. The host calls it once, after init.
   * An object with `get` exports neither `scullery_plugin` nor `scullery_plugins`; with NULL it
   * exports one of them. [one] */
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
