/* scullery.core: packed texts, and encoders that make sparse rows of them. As in matrix.c, a method
 * checks its arguments, allocates its result, and then checks that the arguments are still there. */
#include "lua/texts.h"
#include "base/text.h"
#include "data/text_files.h"
#include "lua/data_options.h"
#include "lua/handle.h"
#include "lua/list.h"
#include "lua/sparse.h"
#include "text/source.h"

#include <stdio.h>
#include <string.h>

/* ------------ userdata */

/* __gc and __close. The storage goes when no view uses it any more. */
static int collect(lua_State *L) {
  scl_texts *texts = luaL_testudata(L, 1, SCL_LUA_PACKED_TEXTS);
  if (texts != NULL) scl_texts_release(texts);
  return 0;
}

/* Empty texts on the stack, to be filled: make them first, compute into them afterwards, and an
 * error frees nothing by hand. */
static scl_texts *new_texts(lua_State *L) {
  scl_texts *texts = lua_newuserdatauv(L, sizeof *texts, 0);
  memset(texts, 0, sizeof *texts);
  luaL_setmetatable(L, SCL_LUA_PACKED_TEXTS);
  return texts;
}

const scl_texts *scl_lua_test_packed_texts(lua_State *L, int place) {
  const scl_texts *texts = luaL_testudata(L, place, SCL_LUA_PACKED_TEXTS);
  return texts == NULL || texts->storage == NULL ? NULL : texts;
}

const scl_texts *scl_lua_check_packed_texts(lua_State *L, int place) {
  const scl_texts *texts = luaL_testudata(L, place, SCL_LUA_PACKED_TEXTS);
  if (texts == NULL)
    luaL_error(L, "takes texts, and got %s",
               lua_isnone(L, place) ? "nothing" : luaL_typename(L, place));
  else if (texts->storage == NULL)
    luaL_error(L, "these texts were released");
  return texts;
}

static void check_held(lua_State *L, const scl_texts *texts) {
  if (texts->storage == NULL) luaL_error(L, "texts were released while they were in use");
}

/* A fresh value from `texts` of a script, filled by a call that may fail. */
#define DERIVE(L, texts, call) \
  do { \
    scl_texts *out = new_texts(L); \
    check_held(L, texts); \
    SCL_LUA_TRY(L, call); \
    scl_lua_account(L, scl_texts_bytes(out)); \
  } while (0)

/* ------------ making */

/* The builder's memory while a list is read, which may raise. */
static int release_builder(lua_State *L) {
  scl_texts_builder_release(lua_touserdata(L, 1));
  return 0;
}

/* The texts of a builder as the result. */
static int give_built(lua_State *L, scl_texts_builder *builder) {
  scl_texts *out = new_texts(L);
  SCL_LUA_TRY(L, scl_texts_finish(builder, out, &error));
  scl_lua_account(L, scl_texts_bytes(out));
  return 1;
}

/* core.texts(list) -> texts */
static int make_texts(lua_State *L) {
  lua_settop(L, 1);
  const size_t count = scl_lua_copy_list(L, 1, SCL_LUA_MATRIX_SIDE, "texts");
  scl_texts_builder *builder = scl_lua_new_guarded(L, sizeof *builder, release_builder);
  for (size_t i = 0; i < count; i++) {
    size_t length;
    if (lua_rawgeti(L, 1, (lua_Integer)i + 1) != LUA_TSTRING)
      return luaL_error(L, "texts: place %I of the list is %s; it takes texts", (LUAI_UACINT)i + 1,
                        scl_lua_shown(L, -1));
    const char *text = lua_tolstring(L, -1, &length);
    SCL_LUA_TRY(L, scl_texts_add(builder, text, length, &error));
    SCL_LUA_TRY(L, scl_texts_end(builder, &error));
    lua_pop(L, 1);
  }
  return give_built(L, builder);
}

static int is_texts(lua_State *L) {
  return scl_lua_give_boolean(L, scl_lua_test_packed_texts(L, 1) != NULL);
}

/* core.texts_concat(list of texts) -> all of them, one after the other */
static int concat(lua_State *L) {
  lua_settop(L, 1);
  const size_t count = scl_lua_copy_list(L, 1, SCL_LUA_MOST, "texts");
  scl_texts_builder *builder = scl_lua_new_guarded(L, sizeof *builder, release_builder);
  for (size_t k = 0; k < count; k++) {
    lua_rawgeti(L, 1, (lua_Integer)k + 1);
    SCL_LUA_TRY(L, scl_texts_append(builder, scl_lua_check_packed_texts(L, -1), &error));
    lua_pop(L, 1);
  }
  return give_built(L, builder);
}

/* core.read_texts(paths, lines, unpacked) -> texts, one of each file or, with lines, of each line;
 * and the list of how many each file has */
static int read_texts(lua_State *L) {
  size_t files;
  lua_settop(L, 3);
  const bool lines = lua_toboolean(L, 2);
  const size_t unpacked = scl_lua_opt_size(L, 3, 1, SIZE_MAX >> 12, "unpacked", 0);
  const char *const *paths = scl_lua_check_texts(L, 1, "data.text", "path", &files);
  size_t *counts = lua_newuserdatauv(L, (files + 1) * sizeof *counts, 0);
  scl_texts *out = new_texts(L);
  SCL_LUA_TRY(L, scl_text_files_read(paths, files, lines, unpacked, out, counts, &error));
  scl_lua_account(L, scl_texts_bytes(out));
  scl_lua_push_sizes(L, counts, files, 0);
  return 2;
}

/* core.texts_join(a, b) -> each text of a, a newline, the text of b */
static int join(lua_State *L) {
  const scl_texts *a = scl_lua_check_packed_texts(L, 1), *b = scl_lua_check_packed_texts(L, 2);
  if (a->count != b->count)
    return luaL_error(L, "%I texts and %I texts are not of the same rows", (LUAI_UACINT)a->count,
                      (LUAI_UACINT)b->count);
  check_held(L, b);
  DERIVE(L, a, scl_texts_join(a, b, out, &error));
  return 1;
}

/* core.texts_invalid(texts) -> how many texts have bytes that are not valid UTF-8, the first of
 * them, and the line of its first such byte */
static int invalid(lua_State *L) {
  size_t first, line;
  const size_t count = scl_texts_invalid(scl_lua_check_packed_texts(L, 1), &first, &line);
  return SCL_LUA_GIVE_SIZES(L, count, first, line);
}

/* core.texts_lengths(texts) -> the bytes of each, n x 1 */
static int lengths(lua_State *L) {
  const scl_texts *texts = scl_lua_check_packed_texts(L, 1);
  scl_matrix *out = scl_lua_make_matrix(L, texts->count, 1, SCL_DTYPE_FLOAT64);
  check_held(L, texts);
  for (size_t i = 0; i < out->rows; i++)
    scl_matrix_set(out, i, 0, (double)scl_text_length(texts, i));
  return 1;
}

/* core.texts_latin1(texts) -> the same bytes, read as ISO 8859-1, in UTF-8 */
static int from_latin1(lua_State *L) {
  const scl_texts *texts = scl_lua_check_packed_texts(L, 1);
  scl_texts_builder *builder = scl_lua_new_guarded(L, sizeof *builder, release_builder);
  check_held(L, texts);
  SCL_LUA_TRY(L, scl_texts_append_latin1(builder, texts, &error));
  return give_built(L, builder);
}

/* ------------ methods */

static int get_rows(lua_State *L) {
  return scl_lua_give_size(L, scl_lua_check_packed_texts(L, 1)->count);
}
static int get_cols(lua_State *L) {
  (void)scl_lua_check_packed_texts(L, 1);
  return scl_lua_give_size(L, 1);
}
static int get_bytes(lua_State *L) {
  return scl_lua_give_size(L, scl_texts_bytes(scl_lua_check_packed_texts(L, 1)));
}

static int push_text(lua_State *L, const scl_texts *texts, size_t i) {
  lua_pushlstring(L, scl_text_at(texts, i), scl_text_length(texts, i));
  return 1;
}

static size_t check_place(lua_State *L, int place, const scl_texts *texts) {
  return scl_lua_check_place(L, place, texts->count, "text");
}

/* t[i]: text i */
static int element(lua_State *L) {
  const scl_texts *texts = scl_lua_check_packed_texts(L, 1);
  if (scl_lua_ends_loop(L, 2, texts->count)) return 0;
  return push_text(L, texts, check_place(L, 2, texts));
}

static int newindex(lua_State *L) {
  return luaL_error(L, "texts cannot be changed; sc.texts(list) makes new ones");
}

/* t:slice(i1, i2), both ends included: a view */
static int slice(lua_State *L) {
  const scl_texts *texts = scl_lua_check_packed_texts(L, 1);
  const size_t first = check_place(L, 2, texts), last = check_place(L, 3, texts);
  if (last < first) return luaL_error(L, "slice: the end lies before the beginning");
  scl_texts *view = new_texts(L);
  check_held(L, texts);
  *view = scl_texts_slice(texts, first, last - first + 1);
  return 1;
}

/* t:select(list or n x 1 matrix of places) */
static int select_texts(lua_State *L) {
  const scl_texts *texts = scl_lua_check_packed_texts(L, 1);
  size_t count;
  lua_settop(L, 2);
  const size_t *places = scl_lua_check_places(L, 2, texts->count, "text", &count);
  DERIVE(L, texts, scl_texts_take(texts, places, count, out, &error));
  return 1;
}

/* t:totable() -> the list of texts */
static int totable(lua_State *L) {
  const scl_texts *texts = scl_lua_check_packed_texts(L, 1);
  const size_t count = texts->count;
  scl_lua_check_room(L, (double)scl_texts_bytes(texts) + 48 * (double)count, "a list of texts");
  lua_createtable(L, (int)scl_min(count, 1 << 20), 0);
  for (size_t i = 0; i < count; i++) {
    check_held(L, texts);
    push_text(L, texts, i);
    lua_rawseti(L, -2, (lua_Integer)i + 1);
  }
  return 1;
}

/* The beginning of a text on one line. */
static void add_beginning(luaL_Buffer *b, const scl_texts *texts, size_t i) {
  enum { SHOWN = 60 };
  const char *text = scl_text_at(texts, i);
  const size_t length = scl_text_length(texts, i);
  size_t cut = scl_min(length, SHOWN);
  while (cut > 0 && cut < length && ((unsigned char)text[cut] & 0xC0) == 0x80)
    cut--; /* not within a character */
  luaL_addstring(b, "\n  ");
  for (size_t k = 0; k < cut; k++)
    luaL_addchar(b, (unsigned char)text[k] < ' ' ? ' ' : text[k]);
  if (cut < length) luaL_addstring(b, "...");
}

/* "12 texts, 3.4 kB" and the beginnings of the first */
static int tostring(lua_State *L) {
  enum { SHOWN = 5 };
  const scl_texts *texts = luaL_testudata(L, 1, SCL_LUA_PACKED_TEXTS);
  if (texts == NULL || texts->storage == NULL) {
    lua_pushliteral(L, "texts (released)");
    return 1;
  }
  scl_texts view = scl_texts_slice(texts, 0, scl_min(texts->count, SHOWN));
  char bytes[32], head[80];
  luaL_Buffer b;
  (void)snprintf(head, sizeof head, "%zu text%s, %s", texts->count, texts->count == 1 ? "" : "s",
                 scl_bytes_text((double)scl_texts_bytes(texts), bytes));
  scl_texts *held = new_texts(L);
  *held = view;
  luaL_buffinit(L, &b);
  luaL_addstring(&b, head);
  for (size_t i = 0; i < held->count; i++)
    add_beginning(&b, held, i);
  if (texts->count > SHOWN) luaL_addstring(&b, "\n  ...");
  luaL_pushresult(&b);
  return 1;
}

static int equal(lua_State *L) {
  const scl_texts *a = scl_lua_test_packed_texts(L, 1), *b = scl_lua_test_packed_texts(L, 2);
  return scl_lua_give_boolean(L, a != NULL && b != NULL && scl_texts_equal(a, b));
}

/* ------------ encoders */

static void release_encoder(void *encoder) { scl_text_encoder_destroy(encoder); }

void **scl_lua_new_text_encoder(lua_State *L) {
  return scl_lua_new_handle(L, SCL_LUA_TEXT_ENCODER, release_encoder);
}

static const scl_text_encoder *check_encoder(lua_State *L, int place) {
  return scl_lua_check_handle(L, place, SCL_LUA_TEXT_ENCODER);
}

/* core.text_encoder(options, texts, named) -> encoder, and for a vocabulary how many terms the
 * texts had. options: characters, single, exact, binary, least, most, bits, min_count, max_terms.
 * named: nil: hashed columns; "learn": the vocabulary of the texts; "given": the texts are its
 * terms. */
static int make_encoder(lua_State *L) {
  static const char *const ways[] = {"learn", "given", NULL};
  lua_settop(L, 3);
  scl_lua_copy_table(L, 1, "options");
  scl_text_encoder *encoder =
      scl_lua_new_owned(L, SCL_LUA_TEXT_ENCODER, release_encoder, sizeof *encoder);
  encoder->form.characters = scl_lua_field_flag(L, 1, "characters");
  encoder->form.single = scl_lua_field_flag(L, 1, "single");
  encoder->form.exact = scl_lua_field_flag(L, 1, "exact");
  encoder->binary = scl_lua_field_flag(L, 1, "binary");
  encoder->form.least = scl_lua_field_size(L, 1, "least", 1, SCL_TEXT_RUN_MOST, 1);
  encoder->form.most =
      scl_lua_field_size(L, 1, "most", encoder->form.least, SCL_TEXT_RUN_MOST, encoder->form.least);
  encoder->bits = (unsigned)scl_lua_field_size(L, 1, "bits", 1, SCL_TEXT_BITS_MOST, 20);
  const size_t min_count = scl_lua_field_size(L, 1, "min_count", 1, SCL_LUA_MOST, 1),
               most = scl_lua_field_size(L, 1, "max_terms", 1, SCL_LUA_MOST, SCL_LUA_MOST);
  if (lua_isnil(L, 3)) return 1;
  const scl_texts *texts = scl_lua_check_packed_texts(L, 2);
  const bool given = luaL_checkoption(L, 3, NULL, ways) == 1;
  size_t found = texts->count;
  encoder->named = true;
  if (given)
    SCL_LUA_TRY(L, scl_vocabulary_create(texts, &encoder->vocabulary, &error));
  else
    SCL_LUA_TRY(L, scl_vocabulary_learn(&encoder->form, texts, min_count, most,
                                        &encoder->vocabulary, &found, &error));
  lua_pushinteger(L, (lua_Integer)found);
  return 2;
}

/* core.text_encode(encoder, texts) -> sparse rows, float32 */
static int encode(lua_State *L) {
  const scl_text_encoder *encoder = check_encoder(L, 1);
  const scl_texts *texts = scl_lua_check_packed_texts(L, 2);
  scl_csr *rows = scl_lua_new_csr(L);
  check_held(L, texts);
  SCL_LUA_TRY(L, scl_text_encode(encoder, texts, rows, &error));
  scl_lua_account(L, scl_csr_bytes(rows));
  return 1;
}

/* core.text_source(texts, encoder, y or nil) -> a source of their rows, made in each pass */
static int text_source(lua_State *L) {
  const scl_text_encoder *encoder = check_encoder(L, 2);
  const scl_matrix *y = lua_isnoneornil(L, 3) ? NULL : scl_lua_hold_matrix(L, 3);
  void **slot = scl_lua_new_source(L);
  const scl_texts *texts = scl_lua_check_packed_texts(L, 1);
  scl_source *made = NULL;
  SCL_LUA_TRY(L, scl_source_texts(texts, encoder, y, &made, &error));
  *slot = made;
  scl_lua_tie(L, -1, 2);
  return 1;
}

/* core.text_form(encoder) -> {characters, single, exact, binary, least, most, bits} */
static int encoder_form(lua_State *L) {
  const scl_text_encoder *encoder = check_encoder(L, 1);
  lua_newtable(L);
  SCL_LUA_BOOLEANS(L, {"characters", encoder->form.characters}, {"single", encoder->form.single},
                   {"exact", encoder->form.exact}, {"binary", encoder->binary});
  SCL_LUA_INTEGERS(L, {"least", encoder->form.least}, {"most", encoder->form.most});
  if (!encoder->named) scl_lua_set_integer(L, "bits", encoder->bits);
  return 1;
}

/* core.empty_rows(sparse rows) -> how many have no number, and the first of them */
static int empty_rows(lua_State *L) {
  const scl_csr *rows = scl_lua_check_csr(L, 1);
  size_t empty = 0, first = 0;
  for (size_t i = 0; i < rows->rows; i++)
    if (rows->starts[i + 1] == rows->starts[i] && empty++ == 0) first = i + 1;
  return SCL_LUA_GIVE_SIZES(L, empty, first);
}

/* core.text_columns(encoder) -> the number of columns, and the terms of its vocabulary or nil */
static int encoder_columns(lua_State *L) {
  const scl_text_encoder *encoder = check_encoder(L, 1);
  lua_pushinteger(L, (lua_Integer)scl_text_encoder_cols(encoder));
  if (!encoder->named) return 1;
  *new_texts(L) = scl_texts_share(&encoder->vocabulary.terms);
  return 2;
}

static int release_terms(lua_State *L) {
  scl_terms_release(lua_touserdata(L, 1));
  return 0;
}

/* core.text_terms(encoder, text) -> the list of all terms of a text, and the list of their columns
 * from 1, 0 for none */
static int text_terms(lua_State *L) {
  const scl_text_encoder *encoder = check_encoder(L, 1);
  const scl_text_form *form = &encoder->form;
  size_t length, bytes;
  lua_Integer count = 0;
  const char *text = luaL_checklstring(L, 2, &length);
  scl_terms *terms = scl_lua_new_guarded(L, sizeof *terms, release_terms);
  SCL_LUA_TRY(L, scl_terms_read(terms, form, text, length, &error));
  lua_newtable(L);
  lua_newtable(L);
  for (size_t run = form->least; run <= form->most; run++)
    for (size_t i = 0, runs = scl_terms_runs(terms, run); i < runs; i++) {
      const char *term = scl_terms_run(terms, i, run, &bytes);
      lua_pushlstring(L, term, bytes);
      lua_rawseti(L, -3, ++count);
      lua_pushinteger(L, scl_text_encoder_column(encoder, term, bytes) + 1);
      lua_rawseti(L, -2, count);
    }
  return 2;
}

/* ------------ opening */

SCL_LUA_CALLS(scl_lua_texts_calls, {"texts", make_texts, -1}, {"is_texts", is_texts, -1},
              {"texts_join", join, -1}, {"texts_concat", concat, -1},
              {"texts_invalid", invalid, -1}, {"texts_latin1", from_latin1, -1},
              {"texts_lengths", lengths, -1}, {"empty_rows", empty_rows, -1},
              {"read_texts", read_texts, 3}, {"text_encoder", make_encoder, 3},
              {"text_encode", encode, 2}, {"text_source", text_source, 3},
              {"text_columns", encoder_columns, 1}, {"text_form", encoder_form, 1},
              {"text_terms", text_terms, 2});

static SCL_LUA_METHODS(metamethods, {"__gc", collect}, {"__close", collect}, {"__len", get_rows},
                       {"__newindex", newindex}, {"__tostring", tostring}, {"__eq", equal});
static SCL_LUA_METHODS(methods, {"rows", get_rows}, {"cols", get_cols}, {"bytes", get_bytes},
                       {"slice", slice}, {"select", select_texts}, {"totable", totable});

const scl_lua_class scl_lua_texts_class = {
    SCL_LUA_PACKED_TEXTS, "texts_methods",    "a list of texts", false, element,
    {methods, NULL},      {metamethods, NULL}};
