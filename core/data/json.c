/* Checks JSON texts of unknown origin, parses them by libcjson, and checks the tree. Used for saved
 * models, progress logs and the Lua JSON reader. */
#include "data/json.h"

#include "base/interrupt.h"
#include "data/number.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* ------------ UTF-8 */

/* The length of the character at `at`; 0 unless it is valid UTF-8: shortest form, no surrogates,
 * not the character 0. */
static size_t character(const unsigned char *at, const unsigned char *end) {
  static const uint32_t least[] = {0, 1, 0x80, 0x800, 0x10000};
  const size_t size = *at < 0x80 ? 1 : *at < 0xC0 ? 0 : *at < 0xE0 ? 2 : *at < 0xF0 ? 3 : 4;
  if (size == 0 || *at > 0xF4 || (size_t)(end - at) < size) return 0;
  uint32_t code = size == 1 ? *at : *at & (0x7Fu >> size);
  for (size_t i = 1; i < size; i++) {
    if ((at[i] & 0xC0) != 0x80) return 0;
    code = code << 6 | (at[i] & 0x3Fu);
  }
  return code < least[size] || code > 0x10FFFF || (code >= 0xD800 && code < 0xE000) ? 0 : size;
}

bool scl_json_is_text(const char *text, size_t length) {
  const unsigned char *at = (const unsigned char *)text, *end = at + length;
  for (size_t size; at < end; at += size)
    if ((size = character(at, end)) == 0) return false;
  return true;
}

/* ------------ what is checked before parsing */

typedef struct scan {
  const char *at, *end, *what;
  size_t depth, values;
  scl_json *out;
} scan;

enum { A_LOOK = 1 << 16 }; /* parts of the text between two looks for Ctrl-C */

static scl_status refuse(const scan *s, const char *why, scl_error *error) {
  return scl_fail(error, SCL_STATUS_BAD_DATA, "%s: its JSON %s", s->what, why);
}

/* Passes a text. Control characters and \u0000 are refused: libcjson accepts the first, and takes
 * the second as the end of the text. */
static scl_status scan_text(scan *s, scl_error *error) {
  for (s->at++; s->at < s->end && *s->at != '"'; s->at++) {
    if ((unsigned char)*s->at < 0x20) return refuse(s, "has a control character", error);
    if (*s->at != '\\') continue;
    if (s->end - s->at >= 6 && strncmp(s->at, "\\u0000", 6) == 0)
      return refuse(s, "has a zero character", error);
    s->at++;
  }
  if (s->at >= s->end) return refuse(s, "ends inside a text", error);
  s->at++;
  return SCL_STATUS_OK;
}

static size_t digits(const char *text) { return strspn(text, "0123456789"); }

/* The length of the number at `text` by the grammar -?(0|[1-9][0-9]*)(.[0-9]+)?([eE][+-]?[0-9]+)?;
 * 0 if there is none. *whole: it has neither fraction nor exponent. */
static size_t number_length(const char *text, bool *whole) {
  const char *at = text + (*text == '-');
  size_t count = digits(at);
  if (count == 0 || (*at == '0' && count > 1)) return 0;
  at += count;
  *whole = *at != '.' && *at != 'e' && *at != 'E';
  if (*at == '.') {
    if ((count = digits(at + 1)) == 0) return 0;
    at += 1 + count;
  }
  if (*at == 'e' || *at == 'E') {
    at += 1 + (at[1] == '+' || at[1] == '-');
    if ((count = digits(at)) == 0) return 0;
    at += count;
  }
  return (size_t)(at - text);
}

enum { LONGEST_NUMBER = 60 }; /* libcjson reads 63 characters of one */

/* Checks a number and stores its value, as a whole one if it fits 64 bits. */
static scl_status scan_number(scan *s, scl_error *error) {
  scl_json_number number = {0};
  const size_t length = number_length(s->at, &number.is_whole);
  if (length == 0 || length > LONGEST_NUMBER || !scl_parse_number(s->at, length, &number.value) ||
      !isfinite(number.value))
    return refuse(s, "has a number that is none, or that no double holds", error);
  if (number.is_whole) {
    errno = 0;
    number.whole = strtoll(s->at, NULL, 10);
    number.is_whole = errno == 0;
  }
  scl_json_number *numbers = scl_grow(s->out->numbers, s->out->count, &s->out->room, sizeof number);
  if (numbers == NULL)
    return scl_fail_memory(error, 2 * s->out->room * sizeof number, "the numbers of a JSON text");
  s->out->numbers = numbers;
  numbers[s->out->count++] = number;
  s->at += length;
  return SCL_STATUS_OK;
}

/* Passes one part of the text: a text, a number, or one character. Depth and number of values are
 * bounded before libcjson sees the text. */
static scl_status scan_one(scan *s, scl_error *error) {
  const char c = *s->at;
  if (c == '"') return scan_text(s, error);
  if (c == '-' || (c >= '0' && c <= '9')) return scan_number(s, error);
  s->depth += c == '[' || c == '{';
  s->depth -= (c == ']' || c == '}') && s->depth > 0;
  s->values += c == '[' || c == '{' || c == ',';
  if (s->depth > SCL_JSON_DEPTH) return refuse(s, "is nested too deeply", error);
  if (s->values > SCL_JSON_VALUES) return refuse(s, "has too many values", error);
  s->at++;
  return SCL_STATUS_OK;
}

/* ------------ names */

static int compare_names(const void *a, const void *b) {
  return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Refuses a name that occurs twice in an object: readers would differ in which value they take. */
static scl_status check_object(const cJSON *object, const char *what, scl_error *error) {
  size_t count = 0;
  for (const cJSON *item = object->child; item != NULL; item = item->next)
    count++;
  const char **names = scl_allocate_array(count + 1, sizeof *names);
  if (names == NULL) return scl_fail_memory(error, count * sizeof *names, "the names of an object");
  scl_status status = SCL_STATUS_OK;
  count = 0;
  for (const cJSON *item = object->child; item != NULL; item = item->next)
    names[count++] = item->string;
  qsort(names, count, sizeof *names, compare_names);
  for (size_t i = 1; status == SCL_STATUS_OK && i < count; i++)
    if (strcmp(names[i - 1], names[i]) == 0)
      status = scl_fail(error, SCL_STATUS_BAD_DATA, "%s: its JSON names \"%.60s\" twice", what,
                        names[i]);
  scl_release(names);
  return status;
}

/* Recursive; the depth is at most SCL_JSON_DEPTH. */
static scl_status check_names(const cJSON *value, const char *what, scl_error *error) {
  if (cJSON_IsObject(value)) SCL_TRY(check_object(value, what, error));
  for (const cJSON *item = value->child; item != NULL; item = item->next)
    SCL_TRY(check_names(item, what, error));
  return SCL_STATUS_OK;
}

/* ------------ numbers */

/* Stores in each number's valueint its place among the numbers of the text, which a walk over the
 * tree meets in the same order. A tree whose numbers differ from those of the text, and null, are
 * refused. */
static scl_status place_numbers(scl_json *json, cJSON *value, size_t *next, const char *what,
                                scl_error *error) {
  if (cJSON_IsNull(value))
    return scl_fail(error, SCL_STATUS_BAD_DATA, "%s: its JSON holds null, which no table can",
                    what);
  if (cJSON_IsNumber(value)) {
    const double read = *next < json->count ? json->numbers[*next].value : NAN;
    if (!(fabs(read - value->valuedouble) <= 1e-9 * fabs(read)))
      return scl_fail(error, SCL_STATUS_BAD_DATA,
                      "%s: its JSON has a number that reads in two ways", what);
    value->valueint = (int)(*next)++;
  }
  for (cJSON *item = value->child; item != NULL; item = item->next)
    SCL_TRY(place_numbers(json, item, next, what, error));
  return SCL_STATUS_OK;
}

scl_json_number scl_json_number_of(const scl_json *json, const cJSON *node) {
  return json->numbers[node->valueint];
}

/* ------------ parsing */

scl_status scl_json_parse(const char *text, size_t length, const char *what, scl_json *out,
                          scl_error *error) {
  scan s = {.at = text, .end = text + length, .what = what, .out = out};
  *out = (scl_json){0};
  scl_status status = scl_json_is_text(text, length)
                          ? SCL_STATUS_OK
                          : refuse(&s, "is not UTF-8 without zero bytes", error);
  for (size_t count = 1; status == SCL_STATUS_OK && s.at < s.end; count++) {
    status = scan_one(&s, error);
    if (status == SCL_STATUS_OK && count % A_LOOK == 0) status = scl_interrupt_check(error);
  }
  if (status == SCL_STATUS_OK) {
    size_t next = 0;
    out->root = cJSON_ParseWithLengthOpts(text, length + 1, NULL, true);
    status =
        out->root == NULL ? refuse(&s, "is damaged", error) : check_names(out->root, what, error);
    if (status == SCL_STATUS_OK) status = place_numbers(out, out->root, &next, what, error);
  }
  if (status != SCL_STATUS_OK) scl_json_release(out);
  return status;
}

void scl_json_release(scl_json *json) {
  cJSON_Delete(json->root);
  scl_release(json->numbers);
  *json = (scl_json){0};
}
