/* JSON texts of unknown origin, checked before they are parsed (by libcjson): valid UTF-8, no zero
 * bytes, numbers as the grammar has them and finite, at most SCL_JSON_DEPTH levels and
 * SCL_JSON_VALUES values. Names in an object are unique. */
#ifndef SCULLERY_JSON_H
#define SCULLERY_JSON_H

#include "base/memory.h"
#include <cjson/cJSON.h>

enum { SCL_JSON_DEPTH = 64, SCL_JSON_VALUES = 1 << 22 };

/* libcjson stores doubles only. Here a number that is written without fraction and exponent and
 * fits 64 bits is a whole one. */
typedef struct scl_json_number {
  double value;
  int64_t whole;
  bool is_whole;
} scl_json_number;

typedef struct scl_json {
  cJSON *root;
  scl_json_number *numbers; /* in the order of the text */
  size_t count, room;
} scl_json;

/* Parses `text`, whose byte text[length] is 0; the caller releases *out. Errors begin with `what`.
 * SCL_STATUS_BAD_DATA for all that is refused, including null: a Lua table cannot hold it. */
scl_status scl_json_parse(const char *text, size_t length, const char *what, scl_json *out,
                          scl_error *error);
/* The number of a node of the tree that is one. */
scl_json_number scl_json_number_of(const scl_json *json, const cJSON *node);
void scl_json_release(scl_json *json);

/* Whether text is UTF-8 without zero bytes. */
bool scl_json_is_text(const char *text, size_t length);

#endif
