/* Characters of UTF-8: their width on a terminal, and how text from files is shown. The locale of
 * the program is not used: decoding needs UTF-8 whatever the user's locale is. */
#define _GNU_SOURCE
#include "base/characters.h"

#include <langinfo.h>
#include <locale.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <wchar.h>

static locale_t utf8;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static void make_locale(void) { utf8 = newlocale(LC_CTYPE_MASK, "C.UTF-8", (locale_t)0); }

/* Marks of the writing direction: U+061C, U+200E, U+200F, U+202A .. U+202E, U+2066 .. U+2069. */
static bool is_direction_mark(wchar_t c) {
  return c == 0x061C || c == 0x200E || c == 0x200F || (c >= 0x202A && c <= 0x202E) ||
         (c >= 0x2066 && c <= 0x2069);
}

/* As scl_character, in the UTF-8 locale. An invalid byte is a character of width -1. */
static size_t decode_character(const char *text, size_t length, int *columns) {
  wchar_t c;
  mbstate_t state = {0};
  const size_t bytes = mbrtowc(&c, text, length, &state);
  *columns = -1;
  if (bytes == (size_t)-1 || bytes == (size_t)-2 || bytes == 0) return 1;
  if (!is_direction_mark(c)) *columns = wcwidth(c);
  return bytes;
}

size_t scl_character(const char *text, size_t length, int *columns) {
  const unsigned char first = (unsigned char)text[0];
  *columns = first >= 0x20 && first < 0x7F ? 1 : -1;
  if (first < 0x80) return 1;
  (void)pthread_once(&once, make_locale);
  if (utf8 == (locale_t)0) return 1; /* without the locale only ASCII is known */
  const locale_t before = uselocale(utf8);
  const size_t bytes = decode_character(text, length, columns);
  (void)uselocale(before);
  return bytes;
}

size_t scl_show_character(const char *text, size_t length, char shown[SCL_MOST_SHOWN]) {
  int columns;
  const size_t bytes = scl_character(text, length, &columns);
  if (columns >= 0 || *text == '\n' || *text == '\t') {
    memcpy(shown, text, bytes);
    shown[bytes] = 0;
    return bytes;
  }
  for (size_t i = 0; i < bytes; i++)
    (void)snprintf(shown + 4 * i, 5, "\\x%02x", (unsigned char)text[i]);
  return bytes;
}

void scl_write_shown(FILE *out, const char *text, size_t length) {
  char shown[SCL_MOST_SHOWN];
  for (size_t at = 0; at < length;) {
    at += scl_show_character(text + at, length - at, shown);
    (void)fputs(shown, out);
  }
}

/* The name of the locale, from the first variable that is set, in the order of setlocale. */
static const char *locale_name(void) {
  static const char *const names[] = {"LC_ALL", "LC_CTYPE", "LANG"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    const char *value = getenv(names[i]);
    if (value != NULL && *value != 0) return value;
  }
  return "";
}

bool scl_locale_is_utf8(void) {
  const locale_t own = newlocale(LC_CTYPE_MASK, "", (locale_t)0);
  if (own == (locale_t)0) {
    const char *dot = strchr(locale_name(), '.');
    return dot != NULL && (strncasecmp(dot, ".utf-8", 6) == 0 || strncasecmp(dot, ".utf8", 5) == 0);
  }
  const bool result = strcmp(nl_langinfo_l(CODESET, own), "UTF-8") == 0;
  freelocale(own);
  return result;
}

/* Whether the next character has no width and so belongs to the one before it. */
static bool combines(const char *text, size_t length, size_t *bytes) {
  int columns;
  *bytes = scl_character(text, length, &columns);
  return columns == 0;
}

scl_piece scl_next_piece(const char *text, size_t length) {
  scl_piece p = {0};
  size_t more;
  p.bytes = scl_character(text, length, &p.columns);
  if (p.columns <= 0) { /* 0: a combining character without a character before it */
    const bool space = p.columns < 0 && text[0] != 0 && strchr("\t\n\v\f\r", text[0]) != NULL;
    p.shown = space ? " " : "\xEF\xBF\xBD";
    p.columns = 1;
    return p;
  }
  while (p.bytes < length && combines(text + p.bytes, length - p.bytes, &more))
    p.bytes += more;
  return p;
}
