/* scullery.core: the terminal that standard output is, its size and whether it takes colours. */
#include "lua/glue.h"
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { COLUMNS = 80, ROWS = 24, SIDE_MOST = 10000 };

/* A size from the environment, `otherwise` where the variable is absent or not a size. */
static size_t size_of(const char *name, size_t otherwise) {
  const char *value = getenv(name);
  const long size = value ? strtol(value, NULL, 10) : 0;
  return size > 0 && size <= SIDE_MOST ? (size_t)size : otherwise;
}

/* core.terminal() -> { columns, rows, colour, output }: the size of the terminal that standard
 * output is, 80 x 24 (or COLUMNS x LINES) where it is none; output: whether it is one; colour: and
 * takes colours (NO_COLOR is not set, TERM names a terminal that is not "dumb"). */
static int terminal(lua_State *L) {
  const char *name = getenv("TERM");
  const bool output = isatty(STDOUT_FILENO) == 1;
  size_t columns = size_of("COLUMNS", COLUMNS), rows = size_of("LINES", ROWS);
  struct winsize size;
  if (output && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0) {
    if (size.ws_col > 0) columns = size.ws_col;
    if (size.ws_row > 0) rows = size.ws_row;
  }
  lua_createtable(L, 0, 4);
  SCL_LUA_INTEGERS(L, {"columns", columns}, {"rows", rows});
  scl_lua_set_boolean(L, "output", output);
  const char *plain = getenv("NO_COLOR");
  scl_lua_set_boolean(L, "colour",
                      output && (plain == NULL || *plain == 0) && name != NULL && *name != 0 &&
                          strcmp(name, "dumb") != 0);
  return 1;
}

SCL_LUA_CALLS(scl_lua_terminal_calls, {"terminal", terminal, -1});
