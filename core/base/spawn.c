/* Start a program with posix_spawn. */
#define _GNU_SOURCE
#include "base/spawn.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>

/* Descriptors 0 .. count-1 of the child, and all others closed. Returns 0 or an errno. */
static int set_files(posix_spawn_file_actions_t *actions, const scl_spawn *what) {
  int failed = 0;
  for (size_t i = 0; i < what->count && !failed; i++)
    failed = what->files[i] < 0
                 ? posix_spawn_file_actions_addopen(actions, (int)i, "/dev/null", O_RDONLY, 0)
                 : posix_spawn_file_actions_adddup2(actions, what->files[i], (int)i);
  return failed ? failed : posix_spawn_file_actions_addclosefrom_np(actions, (int)what->count);
}

/* Default handling for the signals that this program handles or ignores, and an empty mask:
 * neither is inherited. */
static void set_signals(posix_spawnattr_t *attributes, bool own_group) {
  static const int usual[] = {SIGINT, SIGTERM, SIGPIPE, SIGXFSZ};
  sigset_t none, standard;
  (void)sigemptyset(&none);
  (void)sigemptyset(&standard);
  for (size_t i = 0; i < sizeof usual / sizeof *usual; i++)
    (void)sigaddset(&standard, usual[i]);
  (void)posix_spawnattr_setsigmask(attributes, &none);
  (void)posix_spawnattr_setsigdefault(attributes, &standard);
  (void)posix_spawnattr_setpgroup(attributes, 0);
  (void)posix_spawnattr_setflags(attributes,
                                 (short)(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF |
                                         (own_group ? POSIX_SPAWN_SETPGROUP : 0)));
}

int scl_spawn_start(const scl_spawn *what, pid_t *child) {
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  int failed = posix_spawn_file_actions_init(&actions);
  if (failed) return failed;
  failed = posix_spawnattr_init(&attributes);
  if (!failed) {
    set_signals(&attributes, what->own_group);
    failed = set_files(&actions, what);
    if (!failed)
      failed = posix_spawnp(child, what->program, &actions, &attributes, what->arguments,
                            what->variables);
    (void)posix_spawnattr_destroy(&attributes);
  }
  (void)posix_spawn_file_actions_destroy(&actions);
  return failed;
}
