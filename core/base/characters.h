/* UTF-8 text on a terminal: widths of characters, and text that is safe to print. */
#ifndef SCULLERY_CHARACTERS_H
#define SCULLERY_CHARACTERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* Length in bytes of the first character of a UTF-8 text (length >= 1). *columns: its width on a
 * terminal; 0 for a combining character; -1 for what must not be printed: control characters,
 * marks of the writing direction, invalid UTF-8. */
size_t scl_character(const char *text, size_t length, int *columns);
/* A character together with the characters that combine with it. `shown` is printed in place of the
 * bytes; NULL: the bytes are printed unchanged. */
typedef struct scl_piece {
  size_t bytes;
  int columns;
  const char *shown;
} scl_piece;
/* The first piece of a text (length >= 1). White space is shown as " ", what must not be printed as
 * U+FFFD. */
scl_piece scl_next_piece(const char *text, size_t length);
enum { SCL_MOST_SHOWN = 20 };
/* Write the first character of `text` to `shown` as a C string that is safe to print: unchanged, or
 * its bytes as escapes such as "\x1b". Newlines and tabs are unchanged. Returns the number of bytes
 * of `text` that were read. */
size_t scl_show_character(const char *text, size_t length, char shown[SCL_MOST_SHOWN]);
/* Write a text to a file, each character by scl_show_character. */
void scl_write_shown(FILE *out, const char *text, size_t length);
/* Whether the locale of the environment (LC_ALL, LC_CTYPE, LANG) uses UTF-8. The name decides for a
 * locale that is not installed. */
bool scl_locale_is_utf8(void);

#endif
