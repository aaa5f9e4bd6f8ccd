/* Statements typed at the prompt: with libedit on a terminal, plain lines otherwise. */
#ifndef SCULLERY_EDITOR_H
#define SCULLERY_EDITOR_H

#include <lua.h>
#include <stdbool.h>

typedef enum scl_typed { SCL_TYPED, SCL_TYPED_END, SCL_TYPED_CLEARED } scl_typed;

/* Start editing. The table at `place` of the stack must stay there. The editor calls its functions:
 *   status(text) -> "whole", "unfinished" or "invalid"
 *   add(text) -> the text that Tab adds, and candidates to print or nil
 *   indented(text) -> the text with a new line begun, or nil
 *   ended(text) -> the text as it is run, or nil */
void scl_editor_open(lua_State *L, int place, bool colour);
/* Whether standard input and output are a terminal. */
bool scl_editor_at_terminal(void);
/* Read one complete (or invalid) statement. SCL_TYPED: it was pushed onto the stack; SCL_TYPED_END:
 * end of input; SCL_TYPED_CLEARED: Ctrl-C. */
scl_typed scl_editor_read(void);
void scl_editor_close(void);

#endif
