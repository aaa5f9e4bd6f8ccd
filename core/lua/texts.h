/* Texts in Lua: a userdata over a scl_texts (text/texts.h), which no method changes; and text
 * encoders, as handles. */
#ifndef SCULLERY_LUA_TEXTS_H
#define SCULLERY_LUA_TEXTS_H

#include "lua/matrix.h"
#include "text/encoder.h"

#define SCL_LUA_PACKED_TEXTS "scullery.texts"
#define SCL_LUA_TEXT_ENCODER "scullery.text_encoder"
extern const scl_lua_class scl_lua_texts_class;

/* The texts at `place`, or an argument error. The pointer is valid as long as the Lua value. */
const scl_texts *scl_lua_check_packed_texts(lua_State *L, int place);
/* The same, NULL if the value is not texts or was released. */
const scl_texts *scl_lua_test_packed_texts(lua_State *L, int place);

/* A handle as scl_lua_new_handle makes it, for a scl_text_encoder. */
void **scl_lua_new_text_encoder(lua_State *L);

#endif
