/* Characters of words. A character is a letter if its general category in the Unicode character
 * database is L, M or N (letters, marks, numbers), or Pc (the underscore and its like): \w of
 * regular expressions, as Unicode defines it. The tables are part of the program (letters_table.h
 * names their version), so that texts have the same words on every machine. */
#ifndef SCULLERY_LETTERS_H
#define SCULLERY_LETTERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What a byte that is not part of valid UTF-8 is read as; it is not a letter. */
enum { SCL_REPLACEMENT = 0xFFFD };

/* The first character of a text of `length` >= 1 bytes. *used: its bytes; for an invalid byte 1,
 * and SCL_REPLACEMENT. Surrogates, codes above 10FFFF and overlong forms are invalid. */
uint32_t scl_decode(const unsigned char *text, size_t length, size_t *used);
/* Write a character in UTF-8: 1 to 4 bytes, whose number it returns. */
size_t scl_encode_character(uint32_t code, char *out);

bool scl_is_letter(uint32_t code);
/* Its lower case, where that is one character; U+0130 becomes i; else the character itself. */
uint32_t scl_lower(uint32_t code);
/* White space, and U+0000. */
bool scl_is_white(uint32_t code);
/* The number of bytes of a text that are not part of valid UTF-8; *first: where the first is. */
size_t scl_invalid_bytes(const char *text, size_t length, size_t *first);

#endif
