/* The command `scullery`: scripts, -e, -i, -l, the prompt, and subcommands, which
 * lua/scullery/command/init.lua implements. */
#define _GNU_SOURCE
#include "host/host.h"

#include "base/characters.h"
#include "base/installation.h"
#include "base/memory.h"
#include "base/unfinished.h"
#include "plugin/crash.h"
#include "processes/processes.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int luaopen_scullery_core(lua_State *L);

static const char usage[] =
    "usage: scullery [options] [script [args]]\n"
    "       scullery plugin list | info NAME | new NAME --kind KIND [--cpp] | check FILE.so |\n"
    "                       install FILE.so | uninstall NAME\n"
    "       scullery data list | get NAME\n"
    "       scullery predict MODEL DATA [-o OUT] [--proba | --scores] [--id COLUMN]\n"
    "       scullery sums SCRIPT [--part i/N] [--out DIR] [ARGUMENT ...]\n"
    "       scullery merge FILE ... -o MODEL [--lambda L] [--partial] [--again]\n"
    "       scullery update | forget MODEL DATA ... [-o MODEL] [--targets FILE.npy]\n"
    "       scullery bench [PART ...] [--row ID] [--list] [--quick] [--json]\n"
    "       scullery experiment join FOLDER/NAME ...\n"
    "       scullery notebook install | uninstall [--user | --prefix DIR] [--processes N]\n"
    "\n"
    "Without arguments: the prompt; where standard input is not a terminal, a script from it.\n"
    "A script is Lua 5.4. sc (= require \"scullery\") and help are globals everywhere.\n"
    "  -e CODE      run CODE\n"
    "  -l MODULE    require MODULE into a global of its name; -l NAME=MODULE into the global NAME\n"
    "  --processes N      before all others: run the script in N processes, each on a part of the "
    "rows\n"
    "  --transport NAME   likewise: join the processes that a launcher has started (mpirun, srun)\n"
    "  -i           the prompt after everything else, whatever standard input is\n"
    "  -            run standard input as a script\n"
    "  --           end of the options\n"
    "  --version    the version\n"
    "  --help       this text\n"
    "  --cflags     what the C compiler needs for a plugin: cc -shared -fPIC $(scullery --cflags)\n"
    "  --set NAME=VALUE[,VALUE...]  after a script: other values for the cells of its experiments\n"
    "  --pythonpath where the Python package is: PYTHONPATH=$(scullery --pythonpath) python3\n"
    "Environment:\n"
    "  SCULLERY_THREADS     how many threads the engine uses\n"
    "  SCULLERY_DATA        the folder of data sets\n"
    "  SCULLERY_DATA_URL    a mirror from which data sets are fetched\n"
    "  SCULLERY_PLUGIN_PATH folders of further plugins\n"
    "  SCULLERY_STARTUP     a file of Lua that the prompt runs first\n"
    "  SCULLERY_PROGRESS    seconds between lines of progress; 0 shows none\n"
    "  SCULLERY_LOG         a file that gets progress as lines of JSON\n"
    "  SCULLERY_SIXEL       1 or 0: whether the terminal draws sixel pictures\n"
    "  SCULLERY_ISA         plain, avx2 or avx512: a lesser instruction set\n"
    "  SCULLERY_TRACEBACK   1: errors show the library's own lines\n"
    "  NO_COLOR             no colours\n";

/* Subcommands are words that no script can be called by; ./plugin is a file. */
static const char *const subcommands[] = {"plugin", "data",   "predict", "sums",       "merge",
                                          "update", "forget", "bench",   "experiment", "notebook"};

/* ------------ where the Lua files are */

/* Whether the path is a folder. */
static bool is_folder(const char *path) {
  struct stat file;
  return stat(path, &file) == 0 && S_ISDIR(file.st_mode);
}

/* The folder of the command, with links resolved. False: unknown. */
static bool own_folder(char folder[PATH_MAX]) {
  const ssize_t length = readlink("/proc/self/exe", folder, PATH_MAX - 1);
  folder[length > 0 ? length : 0] = 0;
  char *slash = strrchr(folder, '/');
  if (slash != NULL) *slash = 0;
  return slash != NULL;
}

/* Put the folders of the Lua files and of the modules in C first in package.path and package.cpath.
 * <dir> is the folder of the command. Build tree: <dir>/share/lua/5.4 and <dir>/lib/lua/5.4;
 * installed: the same below <dir>/.., where the folder of modules in C may have another name. */
static void set_path(lua_State *L) {
  char self[PATH_MAX], share[PATH_MAX + 32], modules[PATH_MAX + 80];
  if (!own_folder(self)) return;
  (void)snprintf(share, sizeof share, "%s/share/lua/5.4", self);
  (void)snprintf(modules, sizeof modules, "%s/lib/lua/5.4", self);
  if (!is_folder(share)) {
    (void)snprintf(share, sizeof share, "%s/../share/lua/5.4", self);
    (void)snprintf(modules, sizeof modules, "%s/../" SCULLERY_MODULES, self);
  }
  lua_getglobal(L, "package");
  lua_getfield(L, -1, "path");
  lua_pushfstring(L, "%s/?.lua;%s/?/init.lua;%s", share, share, lua_tostring(L, -1));
  lua_setfield(L, -3, "path");
  lua_getfield(L, -2, "cpath");
  lua_pushfstring(L, "%s/?.so;%s", modules, lua_tostring(L, -1));
  lua_setfield(L, -4, "cpath");
  lua_pop(L, 3);
}

/* ------------ arguments, as lua(1) reads them */

typedef struct arguments {
  int count;
  char **values;
  int script; /* the script's place; `count` if there is none */
  bool interactive, help, version, cflags, pythonpath, does_something;
} arguments;

/* Report a wrong option, quoted so that no byte of it acts on the terminal. */
static int bad_usage(const char *what, const char *option) {
  (void)fprintf(stderr, "scullery: %s '", what);
  scl_write_shown(stderr, option, strlen(option));
  (void)fputs("'; scullery --help lists the options\n", stderr);
  return EXIT_FAILURE;
}

static bool takes_value(const char *option) { return option[1] == 'e' || option[1] == 'l'; }

/* Read the options up to the script's name. Options with values are run later, in their order. */
static int read_arguments(arguments *a) {
  int i = 1;
  for (; i < a->count && a->values[i][0] == '-' && a->values[i][1] != 0; i++) {
    const char *option = a->values[i];
    if (strcmp(option, "--") == 0) {
      i++;
      break;
    }
    if (strcmp(option, "--help") == 0 || strcmp(option, "-h") == 0) {
      a->help = true;
    } else if (strcmp(option, "--version") == 0 || strcmp(option, "-v") == 0) {
      a->version = true;
    } else if (strcmp(option, "--cflags") == 0) {
      a->cflags = true;
    } else if (strcmp(option, "--pythonpath") == 0) {
      a->pythonpath = true;
    } else if (strcmp(option, "-i") == 0) {
      a->interactive = true;
    } else if (takes_value(option)) {
      a->does_something = true;
      if (option[2] == 0 && ++i >= a->count) return bad_usage("a value is missing after", option);
    } else {
      return bad_usage("unknown option", option);
    }
  }
  a->script = i;
  return EXIT_SUCCESS;
}

/* Set `arg` as lua(1) does: the script at 0, its arguments from 1 on, the words before it at
 * negative places; the command at 0 if there is no script. */
static void set_arg(lua_State *L, const arguments *a) {
  const int script = a->script < a->count ? a->script : 0;
  lua_createtable(L, a->count - script, script + 1);
  for (int i = 0; i < a->count; i++) {
    lua_pushstring(L, a->values[i]);
    lua_rawseti(L, -2, i - script);
  }
  lua_setglobal(L, "arg");
}

/* ------------ what the arguments ask for */

/* Report the message on top of the stack. Returns the exit status of a failure. */
static int report_failure(lua_State *L) {
  scl_report(L, "scullery: ");
  return EXIT_FAILURE;
}

/* -l name or -l global=name: set the global to what require returns. */
static int run_module(lua_State *L, const char *text) {
  const char *equals = strchr(text, '=');
  const char *name = equals == NULL ? text : equals + 1;
  lua_pushglobaltable(L);
  lua_pushlstring(L, text, equals == NULL ? strlen(text) : (size_t)(equals - text));
  lua_getglobal(L, "require");
  lua_pushstring(L, name);
  if (scl_protected_call(L, 1, 1) != LUA_OK) return report_failure(L);
  lua_settable(L, -3);
  lua_pop(L, 1);
  return EXIT_SUCCESS;
}

/* Run the options -e and -l in their order. The first that fails ends the run. */
static int run_options(lua_State *L, const arguments *a) {
  for (int i = 1; i < a->script; i++) {
    const char *option = a->values[i];
    if (option[0] != '-' || option[1] == '-' || !takes_value(option)) continue;
    const char *value = option[2] != 0 ? option + 2 : a->values[++i];
    if (option[1] == 'l') {
      if (run_module(L, value) != EXIT_SUCCESS) return EXIT_FAILURE;
    } else if (luaL_loadbufferx(L, value, strlen(value), "=(command line)", "t") != LUA_OK ||
               scl_protected_call(L, 0, 0) != LUA_OK) {
      return report_failure(L);
    }
  }
  return EXIT_SUCCESS;
}

/* Report a script that cannot be opened, most often because its name is mistyped. */
static int no_script(const char *path) {
  const int reason = errno;
  (void)fputs("scullery: cannot open the script '", stderr);
  scl_write_shown(stderr, path, strlen(path));
  (void)fprintf(stderr, "': %s", strerror(reason));
  if (strchr(path, '/') == NULL && strchr(path, '.') == NULL)
    (void)fprintf(stderr, " (nor is it a subcommand: there are plugin, data, predict, sums, merge, "
                          "update, forget, bench, experiment and notebook; scullery --help)");
  (void)fputc('\n', stderr);
  return EXIT_FAILURE;
}

/* Options that follow the script's name are its own: say so of the one that is often meant for the
 * command. */
static void warn_of_processes(const arguments *a) {
  for (int i = a->script + 1; i < a->count && scl_processes_count() == 1; i++) {
    if (strcmp(a->values[i], "--processes") != 0) continue;
    (void)fprintf(stderr,
                  "scullery: --processes after the script's name is an argument of the script, "
                  "which runs in one process: scullery --processes N SCRIPT runs it in N\n");
    return;
  }
}

/* Run the script with its arguments; "-" is standard input, unless "--" is before it. */
static int run_script(lua_State *L, const arguments *a) {
  const char *path = a->values[a->script];
  const bool from_input = strcmp(path, "-") == 0 && strcmp(a->values[a->script - 1], "--") != 0;
  if (!from_input && access(path, R_OK) != 0) return no_script(path);
  if (!from_input && is_folder(path)) {
    errno = EISDIR;
    return no_script(path);
  }
  if ((from_input ? scl_load_input(L) : luaL_loadfilex(L, path, "t")) != LUA_OK)
    return report_failure(L);
  warn_of_processes(a);
  const int count = a->count - a->script - 1;
  luaL_checkstack(L, count + 1, "too many arguments");
  for (int i = 1; i <= count; i++)
    lua_pushstring(L, a->values[a->script + i]);
  return scl_protected_call(L, count, 0) == LUA_OK ? EXIT_SUCCESS : report_failure(L);
}

/* Print the flags quoted for a shell, as pkg-config does. */
static int print_cflags(void) {
  char folder[PATH_MAX];
  scl_error error;
  if (scl_include_folder(folder, &error) != SCL_STATUS_OK) {
    (void)fprintf(stderr, "scullery: --cflags: %s\n", error.message);
    return EXIT_FAILURE;
  }
  (void)fputs("-I", stdout);
  for (const char *c = folder; *c != 0; c++) {
    if (strchr(" \t\n\\'\"$`&|;<>()*?[]#~!{}", *c) != NULL) (void)putchar('\\');
    (void)putchar(*c);
  }
  /* Only the plugin's symbol is visible; results do not depend on fused multiply-add. */
  (void)puts(" -fvisibility=hidden -ffp-contract=off");
  return EXIT_SUCCESS;
}

/* Print the folder of the Python package, for PYTHONPATH: in a build tree and in an installation. */
static int print_pythonpath(void) {
  static const char *const ways[] = {"share/scullery/python", "../share/scullery/python"};
  char self[PATH_MAX], path[PATH_MAX + 32], folder[PATH_MAX];
  for (size_t i = 0; own_folder(self) && i < sizeof ways / sizeof *ways; i++) {
    (void)snprintf(path, sizeof path, "%s/%s", self, ways[i]);
    if (!is_folder(path)) continue;
    /* not the folder of the source that a build tree links to: the package finds its library here */
    if (i > 0 && realpath(path, folder) != NULL) (void)snprintf(path, sizeof path, "%s", folder);
    (void)puts(path);
    return EXIT_SUCCESS;
  }
  (void)fputs("scullery: --pythonpath: the Python package is not installed\n", stderr);
  return EXIT_FAILURE;
}

/* Run the command without a subcommand: options, then the script, then the prompt if it is asked
 * for or if nothing else is. Returns the exit status. */
static int run_arguments(lua_State *L, int argc, char **argv) {
  arguments a = {.count = argc, .values = argv};
  int status = read_arguments(&a);
  if (status != EXIT_SUCCESS) return status;
  if (a.help) {
    (void)fputs(usage, stdout);
    return EXIT_SUCCESS;
  }
  if (a.cflags) return print_cflags();
  if (a.pythonpath) return print_pythonpath();
  const bool has_script = a.script < argc;
  if (a.version) {
    (void)printf("scullery %s, %s\n", SCULLERY_VERSION, LUA_RELEASE);
    if (!has_script && !a.does_something && !a.interactive) return EXIT_SUCCESS;
  }
  set_arg(L, &a);
  status = run_options(L, &a);
  if (status != EXIT_SUCCESS) return status;
  if (has_script) status = run_script(L, &a);
  if (status != EXIT_SUCCESS && !a.interactive) return status;
  if ((has_script || a.does_something) && !a.interactive) return EXIT_SUCCESS;
  if (a.interactive || scl_input_is_terminal(L))
    return scl_prompt(L, !has_script && !a.does_something);
  if (scl_load_input(L) != LUA_OK) return report_failure(L); /* all of standard input, one chunk */
  return scl_protected_call(L, 0, 0) == LUA_OK ? EXIT_SUCCESS : report_failure(L);
}

/* Whether the arguments are `notebook serve ...`. */
static bool is_notebook(int argc, char **argv) {
  return argc > 2 && strcmp(argv[1], "notebook") == 0 && strcmp(argv[2], "serve") == 0;
}

/* require "scullery.command".run(name, ...) -> exit status */
static int run_subcommand(lua_State *L, int argc, char **argv) {
  if (is_notebook(argc, argv)) return scl_notebook(L, argc, argv);
  if (scl_processes_count() > 1) {
    (void)fprintf(stderr, "scullery: scullery %s runs in one process; a script runs in several\n",
                  argv[1]);
    return EXIT_FAILURE;
  }
  lua_getglobal(L, "require");
  lua_pushliteral(L, "scullery.command");
  if (scl_protected_call(L, 1, 1) != LUA_OK) return report_failure(L);
  lua_getfield(L, -1, "run");
  luaL_checkstack(L, argc + 1, "too many arguments");
  for (int i = 1; i < argc; i++)
    lua_pushstring(L, argv[i]);
  if (scl_protected_call(L, argc - 1, 1) != LUA_OK) return report_failure(L);
  return (int)lua_tointeger(L, -1);
}

/* Whether the first argument of the command is a subcommand. */
static bool is_subcommand(const char *word) {
  for (size_t i = 0; i < sizeof subcommands / sizeof *subcommands; i++) {
    if (strcmp(word, subcommands[i]) == 0) return true;
  }
  return false;
}

/* Everything runs inside one protected call, so that running out of memory during the start is
 * reported as a message. */
static int protected_main(lua_State *L) {
  const int argc = (int)lua_tointeger(L, 1);
  char **argv = lua_touserdata(L, 2);
  luaL_openlibs(L);
  scl_watch_coroutines(L);
  set_path(L);
  luaL_getsubtable(L, LUA_REGISTRYINDEX, LUA_PRELOAD_TABLE);
  lua_pushcfunction(L, luaopen_scullery_core);
  lua_setfield(L, -2, "scullery.core");
  lua_settop(L, 0);
  scl_offer_globals(L);
  if (!scl_install_processes(L)) {
    lua_pushinteger(L, EXIT_FAILURE);
    return 1;
  }
  lua_pushinteger(L, argc > 1 && is_subcommand(argv[1]) ? run_subcommand(L, argc, argv)
                                                        : run_arguments(L, argc, argv));
  return 1;
}

/* At exit, also by os.exit() of a script: if output was lost, the process ends with a failure, by
 * _exit, as exit() must not be called in a handler of exit(). */
static void finish_output(void) {
  if (fflush(stdout) == 0 && !ferror(stdout)) return;
  (void)fputs("scullery: not all of the output could be written\n", stderr);
  scl_unfinished_remove();
  _exit(EXIT_FAILURE);
}

/* The next opened file would take the descriptor of a closed standard stream, and output would be
 * written into it. So a closed stream is opened as one on which every call fails. */
static void fill_standard_streams(void) {
  for (int stream = 0; stream <= STDERR_FILENO; stream++)
    if (fcntl(stream, F_GETFD) < 0)
      (void)open("/dev/null", stream == STDIN_FILENO ? O_WRONLY : O_RDONLY);
}

/* The allocator of Lua. It refuses memory before the system would kill the process; Lua then
 * collects garbage and tries again. The free memory is checked once for each PIECE of growth. */
static void *allocate_for_lua(void *unused, void *block, size_t before, size_t size) {
  enum { PIECE = 1 << 20 };
  static size_t taken; /* since the last check */
  (void)unused;
  if (size == 0) {
    free(block);
    return NULL;
  }
  const size_t had =
      block == NULL ? 0 : before; /* for a new block, `before` is the type of the object */
  if (size > had) taken += size - had;
  if (taken >= PIECE) {
    const bool admitted = scl_memory_admits(taken);
    taken = 0;
    if (!admitted) return NULL;
  }
  return realloc(block, size);
}

/* Lua runs with the allocator above. What the end of the process needs (unfinished files, lost
 * output, crashes of plugins) is set up before any code of the user runs. */
int main(int argc, char **argv) {
  fill_standard_streams();
  scl_memory_keep_released();
  lua_State *L = luaL_newstate();
  if (L == NULL) {
    (void)fputs("scullery: not enough memory\n", stderr);
    return EXIT_FAILURE;
  }
  lua_setallocf(L, allocate_for_lua, NULL);
  int status = EXIT_FAILURE;
  scl_crash_report();
  scl_unfinished_watch();
  scl_process_options options = {0};
  const int taken = scl_read_process_options(argc, argv, &options);
  if (taken > 0 && is_notebook(argc - taken, argv + taken)) scl_follow_notebook();
  if (taken < 0 || scl_join_processes(&options) != EXIT_SUCCESS) {
    lua_close(L);
    return EXIT_FAILURE;
  }
  memmove(argv + 1, argv + 1 + taken, (size_t)(argc - taken) * sizeof *argv);
  argc -= taken;
  (void)atexit(finish_output);
  lua_pushcfunction(L, protected_main);
  lua_pushinteger(L, argc);
  lua_pushlightuserdata(L, argv);
  if (lua_pcall(L, 2, 1, 0) == LUA_OK)
    status = (int)lua_tointeger(L, -1);
  else
    scl_report(L, "scullery: ");
  status = scl_leave_processes(status);
  lua_close(L);
  return status;
}
