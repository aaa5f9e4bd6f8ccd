/* Texts in Lua: a userdata over a scl_texts (text/texts.h), which no method changes; and text
 * encoders, as handles. */
#ifndef SCULLERY_LUA_TEXTS_H
#define SCULLERY_LUA_TEXTS_H

#include "lua/matrix.h"
#include "text/encoder.h"

#define SCL_LUA_PACKED_TEXTS "scullery.texts"
#define SCL_LUA_TEXT_ENCODER "scullery.text_encoder"
extern const scl_lua_class scl_lua_texts_class;

/* Empty texts on the stack, to be filled: make them first, compute into them afterwards, and an
 * error frees nothing by hand. */
scl_texts *scl_lua_new_packed_texts(lua_State *L);
/* The texts at `place`, or an argument error. The pointer is valid as long as the Lua value. */
const scl_texts *scl_lua_check_packed_texts(lua_State *L, int place);
/* The same, NULL if the value is not texts or was released. */
const scl_texts *scl_lua_test_packed_texts(lua_State *L, int place);
/* The texts become Lua's, in the field `key` of the table on top of the stack, and *from empty. */
void scl_lua_set_packed_texts(lua_State *L, const char *key, scl_texts *from);

/* A handle as scl_lua_new_handle makes it, for a scl_text_encoder. */
void **scl_lua_new_text_encoder(lua_State *L);

#endif
