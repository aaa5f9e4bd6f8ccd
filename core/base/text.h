/* Texts: copies, sizes in words, nearest names. */
#ifndef SCULLERY_TEXT_H
#define SCULLERY_TEXT_H

#include <stdbool.h>
#include <stddef.h>

/* A copy in scl_allocate's memory, or NULL when there is none. */
char *scl_copy_text(const char *text);
/* The number of bytes in words: "1.6 GB". Writes into text and returns it. */
const char *scl_bytes_text(double bytes, char text[32]);
/* Put `more` behind the `used` characters of a text of `size` bytes, cut where it does not fit;
 * returns the length that it would have. */
size_t scl_append(char *text, size_t size, size_t used, const char *more);
/* The edit distance of two words (of their first 63 characters): characters that are inserted, left
 * out or changed, and neighbours that are swapped. */
size_t scl_edit_distance(const char *a, const char *b);
/* Whether version a is later than b, "1.10.2" than "1.9": by their whole numbers. */
bool scl_is_newer(const char *a, const char *b);
/* The nearest of a list of names, NULL when none is near. */
const char *scl_nearest(const char *word, const char *const *names, size_t count);

#endif
