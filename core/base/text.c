/* Small functions on strings. */
#define _POSIX_C_SOURCE 200809L
#include "base/text.h"

#include "base/memory.h"
#include <stdio.h>
#include <string.h>

const char *scl_bytes_text(double bytes, char text[32]) {
  static const char *const units[] = {"bytes", "kB", "MB", "GB", "TB", "PB", "EB"};
  size_t unit = 0;
  while (bytes >= 1000 && unit + 1 < sizeof units / sizeof *units) {
    bytes /= 1000;
    unit++;
  }
  (void)snprintf(text, 32, unit == 0 ? "%.0f %s" : "%.3g %s", bytes,
                 unit == 0 && bytes == 1 ? "byte" : units[unit]);
  return text;
}

char *scl_copy_text(const char *text) {
  size_t bytes = strlen(text) + 1;
  char *copy = scl_allocate(bytes);
  if (copy != NULL) memcpy(copy, text, bytes);
  return copy;
}

size_t scl_append(char *text, size_t size, size_t used, const char *more) {
  const int wrote = used < size ? snprintf(text + used, size - used, "%s", more) : 0;
  return wrote < 0 ? used : used + (size_t)wrote;
}

/* The next whole number in the text at *at, which is advanced past it; 0 where there is none. */
static double next_number(const char **at) {
  double number = 0;
  *at += strcspn(*at, "0123456789");
  for (; **at >= '0' && **at <= '9'; ++*at)
    number = 10 * number + (**at - '0');
  return number;
}

bool scl_is_newer(const char *a, const char *b) {
  while (*a != 0 || *b != 0) {
    const double x = next_number(&a), y = next_number(&b);
    if (x != y) return x > y;
  }
  return false;
}

enum { LONGEST = 63 };

/* The edit distance of the first 63 characters of two words: the number of characters inserted,
 * deleted or replaced, and of neighbours swapped (optimal string alignment). Dynamic programming
 * over prefixes of a; three lines, because a swap looks two lines back. */
static size_t edit_distance(const char *a, const char *b) {
  const size_t rows = scl_min(strlen(a), LONGEST), cols = scl_min(strlen(b), LONGEST);
  size_t lines[3][LONGEST + 1], *before = lines[0], *last = lines[1], *line = lines[2];
  for (size_t j = 0; j <= cols; j++)
    last[j] = j;
  for (size_t i = 1; i <= rows; i++) {
    line[0] = i;
    for (size_t j = 1; j <= cols; j++) {
      const size_t change = last[j - 1] + (a[i - 1] != b[j - 1]);
      line[j] = scl_min(change, scl_min(last[j], line[j - 1]) + 1);
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        line[j] = scl_min(line[j], before[j - 2] + 1);
    }
    size_t *const oldest = before;
    before = last;
    last = line;
    line = oldest;
  }
  return last[cols];
}

const char *scl_nearest(const char *word, const char *const *names, size_t count) {
  const char *best = NULL;
  const size_t length = strnlen(word, LONGEST + 1);
  size_t least = scl_max(length / 2, 1);
  if (length > LONGEST) return NULL; /* no name is that long */
  for (size_t i = 0; i < count; i++) {
    const bool begins = length >= 3 && strncmp(word, names[i], length) == 0; /* desc, describe */
    const size_t distance = begins ? 1 : edit_distance(word, names[i]);
    if (distance > least || (distance == least && best != NULL)) continue;
    least = distance;
    best = names[i];
  }
  return best;
}
