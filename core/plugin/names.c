/* Names of kinds, origins, components and options, and ids of plugins. */
#include "plugin/registry.h"

#include <string.h>

static const char *const kind_names[SCL_KINDS] = {"sampler", "nonlinearity", "kernel",
                                                  "solver",  "transport",    "stage",
                                                  "metric",  "loss",         "reader"};

const char *scl_kind_name(scl_kind kind) {
  return (unsigned)kind < SCL_KINDS ? kind_names[kind] : "component";
}

const char *scl_plugin_origin_name(scl_plugin_origin origin) {
  static const char *const names[] = {"built in",       "user's folder", "SCULLERY_PLUGIN_PATH",
                                      "loaded by path", "compiled",      "defined in Lua"};
  return names[origin];
}

bool scl_kind_find(const char *name, scl_kind *out) {
  for (int i = 0; i < SCL_KINDS; i++)
    if (strcmp(name, kind_names[i]) == 0) {
      *out = (scl_kind)i;
      return true;
    }
  return false;
}

/* The greatest length of a plugin's id, without the final NUL. */
enum { MOST_ID = 120 };

#define SMALL_LETTERS "abcdefghijklmnopqrstuvwxyz"
#define CAPITALS "ABCDEFGHIJKLMNOPQRSTUVWXYZ"

bool scl_is_name(const char *text, bool capitals) {
  static const char *const keywords[] = {"and",   "break", "do",       "else", "elseif", "end",
                                         "false", "for",   "function", "goto", "if",     "in",
                                         "local", "nil",   "not",      "or",   "repeat", "return",
                                         "then",  "true",  "until",    "while"};
  const char *letters = capitals ? SMALL_LETTERS CAPITALS : SMALL_LETTERS;
  const char *all = capitals ? SMALL_LETTERS CAPITALS "0123456789_" : SMALL_LETTERS "0123456789_";
  if (text == NULL || text[0] == 0 || strchr(letters, text[0]) == NULL) return false;
  for (size_t i = 0; i < sizeof keywords / sizeof *keywords; i++)
    if (strcmp(text, keywords[i]) == 0) return false;
  const size_t length = strspn(text, all);
  return length <= 40 && text[length] == 0;
}

/* At least two parts, each of one character or more, with dots between them. */
bool scl_is_plugin_id(const char *text) {
  static const char all[] = SMALL_LETTERS "0123456789_-";
  size_t parts = 0, length = 0;
  for (; length <= MOST_ID; parts++) {
    const size_t part = strspn(text + length, all);
    length += part;
    if (part == 0 || (text[length] != '.' && text[length] != 0)) return false;
    if (text[length] == 0) return parts > 0 && length <= MOST_ID;
    length++;
  }
  return false;
}
