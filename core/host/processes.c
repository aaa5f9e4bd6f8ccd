/* The command as one of several processes: which transport joins them, what process 0 alone does,
 * and the end. */
#define _GNU_SOURCE
#include "processes/processes.h"
#include "base/pool.h"
#include "base/unfinished.h"
#include "host/host.h"
#include "lua/glue.h"
#include "plugin/call.h"
#include "plugin/crash.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Variables that launchers of several processes set. */
static const char *const launcher_variables[] = {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE",
                                                 "PMIX_NAMESPACE"};

/* Set in the processes that have joined: programs that they start are not processes of the
 * launcher. */
static const char joined_variable[] = "SCULLERY_JOINED";

/* Only process 0 reads standard input and writes. Crash reports and sanitizers write to descriptor
 * 2 and are seen from every process. */
static void silence(void) {
  const int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
  FILE *silent = fopen("/dev/null", "we");
  if (nothing >= 0) {
    (void)dup2(nothing, STDIN_FILENO);
    (void)dup2(nothing, STDOUT_FILENO);
    (void)close(nothing);
  }
  if (silent != NULL) stderr = silent;
}

/* ------------ which transport */

int scl_read_process_options(int argc, char **argv, scl_process_options *out) {
  int taken = 0;
  while (taken + 1 < argc) {
    const char *word = argv[taken + 1];
    const char **to = strcmp(word, "--processes") == 0   ? &out->processes
                      : strcmp(word, "--transport") == 0 ? &out->transport
                                                         : NULL;
    if (to == NULL) break;
    if (taken + 2 >= argc) {
      (void)fprintf(stderr,
                    "scullery: a value is missing after '%s'; scullery --help lists the "
                    "options\n",
                    word);
      return -1;
    }
    *to = argv[taken + 2];
    taken += 2;
  }
  return taken;
}

typedef struct search {
  const char *processes; /* the number that --processes gives, or NULL: one that was launched */
  scl_instance *found;
  scl_error why; /* the first transport that cannot be loaded or made; an empty message: none */
} search;

static void keep_first(search *s, const scl_error *error) {
  if (s->why.message[0] == 0) s->why = *error;
}

/* Whether a component has an option `processes`. */
static bool takes_processes(search *s, const char *name) {
  const scl_component *component;
  scl_error error;
  if (scl_registry_find(SCL_KIND_TRANSPORT, name, &component, &error) != SCL_STATUS_OK) {
    keep_first(s, &error);
    return false;
  }
  for (size_t i = 0; i < component->plugin.n_options; i++)
    if (strcmp(component->options[i].name, "processes") == 0) return true;
  return false;
}

/* For scl_registry_each: take a transport that starts processes itself, or whose launcher started
 * this one. */
static void try_transport(void *context, scl_kind kind, const char *name, const char *path,
                          scl_plugin_origin origin) {
  search *s = context;
  char text[200];
  scl_error error;
  (void)path, (void)origin;
  if (kind != SCL_KIND_TRANSPORT || s->found != NULL) return;
  if (takes_processes(s, name) != (s->processes != NULL)) return;
  if (s->processes != NULL)
    (void)snprintf(text, sizeof text, "%s{processes = %s}", name, s->processes);
  else
    (void)snprintf(text, sizeof text, "%s", name);
  if (scl_instance_from_text("transport", text, &s->found, &error) != SCL_STATUS_OK) {
    keep_first(s, &error);
    return;
  }
  if (s->processes != NULL || scl_transport_launched(s->found)) return;
  scl_instance_release(s->found);
  s->found = NULL;
}

/* Whether a variable is set to 1: a launcher started this process alone. */
static bool is_one(const char *variable) {
  const char *value = getenv(variable);
  return value != NULL && strcmp(value, "1") == 0;
}

/* The variable of a launcher of several processes that is set, or NULL. */
static const char *launcher_variable(void) {
  if (getenv(joined_variable) != NULL || is_one("SLURM_STEP_NUM_TASKS")) return NULL;
  for (size_t i = 0; i < sizeof launcher_variables / sizeof *launcher_variables; i++)
    if (getenv(launcher_variables[i]) != NULL)
      return is_one(launcher_variables[i]) ? NULL : launcher_variables[i];
  return NULL;
}

/* Variables of launchers: how many processes there are, and which one this is. */
static const char *const launchers[][2] = {{"OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK"},
                                           {"PMI_SIZE", "PMI_RANK"}};

/* Whether a launcher says that this is its first process. */
static bool is_first_launched(void) {
  for (size_t i = 0; i < sizeof launchers / sizeof *launchers; i++) {
    const char *rank = getenv(launchers[i][1]);
    if (rank != NULL && strcmp(rank, "0") == 0 && getenv(joined_variable) == NULL) return true;
  }
  return false;
}

/* Without --processes, those that have joined are all that a launcher started, unless it belongs to
 * another MPI: then each process is alone, and the launcher's first one says so. */
static scl_status check_launched(scl_error *error) {
  char host[64] = "?";
  if (getenv(joined_variable) != NULL) return SCL_STATUS_OK;
  for (size_t i = 0; i < sizeof launchers / sizeof *launchers; i++) {
    const char *size = getenv(launchers[i][0]), *rank = getenv(launchers[i][1]);
    const long launched = size == NULL ? 1 : strtol(size, NULL, 10);
    if (launched <= 1 || (size_t)launched == scl_processes_count()) continue;
    if (rank != NULL && strcmp(rank, "0") != 0) silence();
    (void)gethostname(host, sizeof host - 1);
    return scl_fail(error, SCL_STATUS_UNSUPPORTED,
                    "%s: the launcher started %ld processes (%s), and %zu joined: it belongs to "
                    "another MPI; --transport NAME chooses one",
                    host, launched, launchers[i][0], scl_processes_count());
  }
  return SCL_STATUS_OK;
}

/* *out = the transport that the command line asks for, or whose launcher is at work; NULL: none. */
static scl_status find_transport(const scl_process_options *o, scl_instance **out,
                                 scl_error *error) {
  search s = {.processes = o->processes};
  const char *variable = launcher_variable();
  *out = NULL;
  if (o->transport != NULL) return scl_instance_from_text("transport", o->transport, out, error);
  if (o->processes == NULL && variable == NULL) return SCL_STATUS_OK;
  if (o->processes != NULL && strspn(o->processes, "0123456789") != strlen(o->processes))
    return scl_fail(error, SCL_STATUS_BAD_OPTION,
                    "--processes takes a whole number from 1 to 256, got '%s'", o->processes);
  SCL_TRY(scl_registry_each(try_transport, &s, error));
  *out = s.found;
  if (s.found != NULL) return SCL_STATUS_OK;
  const char *why = s.why.message[0] != 0 ? s.why.message : "none is installed";
  if (o->processes != NULL)
    return scl_fail(error, SCL_STATUS_BAD_OPTION,
                    "--processes %.40s: no transport starts that many processes: %s", o->processes,
                    why);
  return scl_fail(
      error, SCL_STATUS_UNSUPPORTED,
      "a launcher of several processes is at work (%s is set), and no transport knows it: "
      "--transport NAME chooses one of those that scullery plugin list names (transports by MPI "
      "are built where libopenmpi-dev or libmpich-dev is installed)%s%s",
      variable, s.why.message[0] != 0 ? "; " : "", s.why.message);
}

/* ------------ what each process does */

/* Divide the cores among the processes of this machine, unless they have cores of their own. */
static void divide_cores(void) {
  const char *asked = getenv("SCULLERY_THREADS");
  const long online = sysconf(_SC_NPROCESSORS_ONLN);
  cpu_set_t cpus;
  if (asked != NULL && strtol(asked, NULL, 10) > 0) return;
  const int mine = sched_getaffinity(0, sizeof cpus, &cpus) == 0 ? CPU_COUNT(&cpus) : 1;
  const size_t here = scl_processes_here();
  if (mine >= online) {
    scl_pool_set_threads(scl_max((size_t)mine / here, 1));
  } else if (scl_processes_rank() == 0 && (size_t)mine * here < (size_t)online) {
    (void)fprintf(stderr,
                  "scullery: %zu processes here are bound to %d of %ld cores each; "
                  "mpirun --bind-to none lets them use all\n",
                  here, mine, online);
  }
}

/* ------------ standard input, which process 0 reads */

bool scl_input_is_terminal(lua_State *L) {
  lua_pushstring(L, isatty(STDIN_FILENO) ? "terminal" : "");
  scl_lua_share_text(L, "the start of the command");
  const bool terminal = *lua_tostring(L, -1) != 0;
  lua_pop(L, 1);
  return terminal;
}

int scl_load_input(lua_State *L) {
  if (scl_processes_count() == 1) return luaL_loadfilex(L, NULL, "t");
  luaL_Buffer text;
  luaL_buffinit(L, &text);
  for (size_t got = 1; got > 0;) {
    char *room = luaL_prepbuffer(&text);
    got = fread(room, 1, LUAL_BUFFERSIZE, stdin);
    luaL_addsize(&text, got);
  }
  luaL_pushresult(&text);
  scl_lua_share_text(L, "the script of standard input");
  size_t length;
  const char *code = lua_tolstring(L, -1, &length);
  const int status = luaL_loadbufferx(L, code, length, "=stdin", "t");
  lua_remove(L, -2);
  return status;
}

/* ------------ joining and leaving */

static size_t own_rank;                               /* also after leaving */
static char failure[sizeof((scl_error *)0)->message]; /* the first line of what was reported last */

void scl_note_failure(const char *text) {
  scl_unfinished_set_last_words(NULL); /* what failed is told, whatever signal follows */
  const size_t length = strcspn(text, "\n");
  (void)snprintf(failure, sizeof failure, "%.*s", (int)scl_min(length, sizeof failure - 1), text);
}

int scl_leave_processes(int status) {
  scl_error error = {0};
  const bool failed = status != EXIT_SUCCESS;
  if (failed) scl_unfinished_set_last_words(NULL);
  (void)snprintf(error.message, sizeof error.message, "%s",
                 failure[0] != 0 ? failure : "the script ended with a failure");
  const scl_status left = scl_processes_leave(failed ? SCL_STATUS_IO : SCL_STATUS_OK, &error);
  if (failed || left == SCL_STATUS_OK) return status;
  (void)fprintf(stderr, "scullery: %s\n", error.message);
  return EXIT_FAILURE;
}

bool scl_install_processes(lua_State *L) {
  if (scl_processes_count() == 1) return true;
  lua_getglobal(L, "require");
  lua_pushliteral(L, "scullery.base.processes");
  if (scl_protected_call(L, 1, 1) == LUA_OK) {
    lua_getfield(L, -1, "install");
    if (scl_protected_call(L, 0, 0) == LUA_OK) {
      lua_settop(L, 0);
      return true;
    }
  }
  scl_report(L, "scullery: ");
  return false;
}

/* For scl_crash_tell: an exit inside a slot, which process 0 reports. */
static bool leave_in_slot(const char *sentence) {
  scl_note_failure(sentence);
  (void)scl_leave_processes(EXIT_FAILURE);
  return own_rank == 0;
}

/* At exit, also by os.exit() of a script. */
static void leave_at_exit(int status, void *unused) {
  (void)unused;
  if (scl_call_current() != NULL) return; /* leave_in_slot follows */
  const int left = scl_leave_processes(status);
  if (left == status) return;
  (void)fflush(NULL);
  _exit(left);
}

int scl_join_processes(const scl_process_options *options) {
  scl_error error;
  scl_instance *transport;
  /* MPICH's mpirun may end with status 0 where it gets SIGTERM, and then drops the output. */
  if (options->processes == NULL && is_first_launched())
    scl_unfinished_set_last_words("scullery: ended by a signal, before the end of the script\n");
  scl_status status = find_transport(options, &transport, &error);
  if (status == SCL_STATUS_OK && transport == NULL) return EXIT_SUCCESS;
  if (status == SCL_STATUS_OK) {
    status = scl_processes_join(transport, &error);
    scl_instance_release(transport);
    if (status == SCL_STATUS_OK && options->processes == NULL) status = check_launched(&error);
  }
  if (status != SCL_STATUS_OK) {
    if (scl_processes_rank() == 0) (void)fprintf(stderr, "scullery: %s\n", error.message);
    return EXIT_FAILURE;
  }
  (void)on_exit(leave_at_exit, NULL); /* also of one process: its launcher sees whether it left */
  if (scl_processes_count() == 1) return EXIT_SUCCESS;
  (void)setenv(joined_variable, "1", 1);
  if (scl_processes_rank() > 0) silence();
  own_rank = scl_processes_rank();
  scl_crash_tell(leave_in_slot);
  divide_cores();
  return EXIT_SUCCESS;
}
