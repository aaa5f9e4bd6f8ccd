/* Sorted lists of names with binary search, for columns and for the words that mean a missing
 * value. */
#include "data/csv/internal.h"

#include <stdlib.h>

static int compare_texts(const char *a, size_t a_length, const char *b, size_t b_length) {
  const int order = memcmp(a, b, scl_min(a_length, b_length));
  return order != 0 ? order : (a_length > b_length) - (a_length < b_length);
}

static int compare_names(const void *a, const void *b) {
  const csv_name *x = a, *y = b;
  const int order = compare_texts(x->text, x->length, y->text, y->length);
  return order != 0 ? order : (x->place > y->place) - (x->place < y->place);
}

scl_status csv_names_make(csv_names *names, size_t count, const char *(*name)(const void *, size_t),
                          const void *context, scl_error *error) {
  names->list = scl_allocate_array(count + 1, sizeof *names->list);
  if (names->list == NULL)
    return scl_fail_memory(error, count * sizeof *names->list, "the names of columns");
  names->count = count;
  for (size_t j = 0; j < count; j++)
    names->list[j] = (csv_name){name(context, j), strlen(name(context, j)), j};
  qsort(names->list, count, sizeof *names->list, compare_names);
  return SCL_STATUS_OK;
}

void csv_names_release(csv_names *names) {
  scl_release(names->list);
  *names = (csv_names){0};
}

/* The place of the first name that is not below (text, length); with `after`, of the first one
 * above it. */
static size_t place_in_list(const csv_names *names, const char *text, size_t length, bool after) {
  size_t low = 0, high = names->count;
  while (low < high) {
    const size_t middle = low + (high - low) / 2;
    const int order =
        compare_texts(names->list[middle].text, names->list[middle].length, text, length);
    if (order < 0 || (after && order == 0))
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

size_t csv_names_find(const csv_names *names, const char *text, size_t length,
                      const csv_name **first) {
  const size_t from = place_in_list(names, text, length, false);
  *first = names->list + from;
  return place_in_list(names, text, length, true) - from;
}
