/* Characters as a terminal shows them. */
#ifndef SCULLERY_CHARACTERS_H
#define SCULLERY_CHARACTERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* The bytes of the character that a UTF-8 text of at least one byte begins with. *columns: how many
 * columns it takes on a terminal, 0 where it combines with the one before; -1 for what must not
 * reach a terminal: control characters, marks that turn the writing direction, bytes that are no
 * UTF-8. */
size_t scl_character(const char *text, size_t length, int *columns);
/* What is drawn as one: a character and those that combine with it. `shown` in place of what must not
 * reach a terminal, NULL where the bytes are drawn as they stand. */
typedef struct scl_piece {
  size_t bytes;
  int columns;
  const char *shown;
} scl_piece;
/* The first one of a text of at least one byte. White space is " ", what must not reach a terminal is
 * U+FFFD. */
scl_piece scl_next_piece(const char *text, size_t length);
enum { SCL_MOST_SHOWN = 20 };
/* A character as a terminal may get it, ended by a zero byte: itself, or its bytes as "\x1b" where it
 * must not reach a terminal. Newlines and tabs stay. Returns the bytes of `text` that it took. */
size_t scl_show_character(const char *text, size_t length, char shown[SCL_MOST_SHOWN]);
/* A whole text, written so. */
void scl_write_shown(FILE *out, const char *text, size_t length);
/* Whether the locale of the environment (LC_ALL, LC_CTYPE, LANG) writes UTF-8. A locale that is not
 * installed is judged by its name. */
bool scl_locale_is_utf8(void);

#endif
