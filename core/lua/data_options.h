/* Paths and options of the readers, checked with sentences that begin with a title ("data.csv"). */
#ifndef SCULLERY_DATA_OPTIONS_H
#define SCULLERY_DATA_OPTIONS_H

#include "data/csv.h"
#include "lua/glue.h"

/* The text or list of texts at `place` as a NULL-terminated array, copied into a userdata that is
 * left on the stack. */
const char *const *scl_lua_check_texts(lua_State *L, int place, const char *title, const char *what,
                                       size_t *count);
/* The table at `place` (nil: it is replaced by an empty one) has none but the known keys; the
 * nearest is offered. */
void scl_lua_check_keys(lua_State *L, int place, const char *title, const char *const *known);
/* A number in [low, high], a whole one where asked, or `absent`. */
double scl_lua_option_number(lua_State *L, int place, const char *title, const char *key,
                             double absent, double low, double high, bool whole);
/* The place of a word in "one|other", from 0, or `absent`. */
int scl_lua_option_word(lua_State *L, int place, const char *title, const char *key,
                        const char *words, int absent);

/* Options of read_csv and stream_csv:
 *   target          a column's name or number (negative from the end;
 *                   default the last), false: none
 *   task            "classification" or "regression" (default: classification when the target is
 *                   text)
 *   header          whether the first line holds names (default: found)
 *   columns         names, where the file has none or others are wanted
 *   categorical     "onehot" (default) or "drop"
 *   levels          columns to take as categories whatever they hold
 *   numeric         columns that must hold numbers; true: all but the target
 *   missing         texts that mean a missing value (default "?", "NA", "NaN", "nan";
 *                   an empty field always does)
 *   missing_values  what a missing number becomes: "median" of the column in the first file (a
 *                   stream: its mean), "error", or "row": the
 * row is left out; `fill` is another name for it skip            columns to leave out separator
 * one character (default: comma, semicolon or tab, found from the first lines) dtype
 * "float64" or "float32" The lists lie in userdata left on the stack; *words (may be NULL) gets the
 * place of that of `missing`, 0 for the defaults. */
scl_csv_options scl_lua_check_csv_options(lua_State *L, int place, const char *title, int *words);

#endif
