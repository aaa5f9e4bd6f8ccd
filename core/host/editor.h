/* Statements typed at the prompt: with libedit on a terminal, plain lines otherwise. */
#ifndef SCULLERY_EDITOR_H
#define SCULLERY_EDITOR_H

#include <lua.h>
#include <stdbool.h>

typedef enum scl_typed { SCL_TYPED, SCL_TYPED_END, SCL_TYPED_CLEARED } scl_typed;

/* What the editor asks of Lua, by protected calls: functions in a table at `place` of the stack,
 * where they stay.
 * status(text) -> "whole", "unfinished" or "invalid"
 * add(text) -> what Tab adds, candidates to print or nil */
void scl_editor_open(lua_State *L, int place, bool colour);
/* Whether a person types: standard input and output are a terminal. */
bool scl_editor_at_terminal(void);
/* One whole statement (or an invalid one) onto the stack with SCL_TYPED; END at the end of input;
 * CLEARED after Ctrl-C. */
scl_typed scl_editor_read(void);
void scl_editor_close(void);

#endif
