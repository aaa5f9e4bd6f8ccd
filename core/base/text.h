/* Strings: copies, sizes in bytes as text, nearest names. */
#ifndef SCULLERY_TEXT_H
#define SCULLERY_TEXT_H

#include <stdbool.h>
#include <stddef.h>

/* A copy, which the caller releases; NULL: out of memory. */
char *scl_copy_text(const char *text);
/* Write a number of bytes as text ("1.6 GB") and return the text. */
const char *scl_bytes_text(double bytes, char text[32]);
/* Append `more` to the `used` characters in a buffer of `size` bytes, truncated to fit. Returns the
 * untruncated length. */
size_t scl_append(char *text, size_t size, size_t used, const char *more);
/* Whether version a is later than b, by their numbers: "1.10.2" is later than "1.9". */
bool scl_is_newer(const char *a, const char *b);
/* The name with the least edit distance to the word, or 1 where it begins with three letters or more
 * that are the word; NULL: all distances exceed half of the length of the word. */
const char *scl_nearest(const char *word, const char *const *names, size_t count);

#endif
