/* Dictionaries of texts: open addressing, kept at most half full. */
#include "data/csv/internal.h"

#include <stdlib.h>

/* FNV-1a */
static size_t hash_of(const char *text, size_t length) {
  uint64_t hash = 14695981039346656037u;
  for (size_t i = 0; i < length; i++)
    hash = (hash ^ (unsigned char)text[i]) * 1099511628211u;
  return (size_t)(hash ^ hash >> 29);
}

/* The slot that holds a text, or the free one where it would go. At least half of the slots are
 * free, so the search ends. */
static size_t slot_of(const csv_levels *levels, const char *text, size_t length, size_t hash) {
  size_t slot = hash & (levels->n_slots - 1);
  for (; levels->slots[slot] != 0; slot = (slot + 1) & (levels->n_slots - 1)) {
    const csv_level *level = &levels->list[levels->slots[slot] - 1];
    if (level->hash == hash && level->length == length && memcmp(level->text, text, length) == 0)
      break;
  }
  return slot;
}

/* Enter all levels of the list into the slots anew. */
static void fill_slots(csv_levels *levels) {
  memset(levels->slots, 0, levels->n_slots * sizeof *levels->slots);
  for (size_t i = 0; i < levels->count; i++) {
    const csv_level *level = &levels->list[i];
    levels->slots[slot_of(levels, level->text, level->length, level->hash)] = (uint32_t)i + 1;
  }
}

/* Double the list and the slots. False: not enough memory, and nothing has changed. */
static bool grow(csv_levels *levels) {
  const size_t room = scl_max(2 * levels->room, 8);
  csv_level *list = scl_allocate_array(room, sizeof *list);
  uint32_t *slots = scl_allocate_array(2 * room, sizeof *slots);
  if (list == NULL || slots == NULL) {
    scl_release(list);
    scl_release(slots);
    return false;
  }
  if (levels->count > 0) memcpy(list, levels->list, levels->count * sizeof *list);
  scl_release(levels->list);
  scl_release(levels->slots);
  levels->list = list;
  levels->slots = slots;
  levels->room = room;
  levels->n_slots = 2 * room;
  fill_slots(levels);
  return true;
}

bool csv_levels_add(csv_levels *levels, const char *text, size_t length) {
  const size_t hash = hash_of(text, length);
  if (levels->overflow) return true;
  if (levels->n_slots > 0 && levels->slots[slot_of(levels, text, length, hash)] != 0) return true;
  if (levels->count == CSV_MOST_LEVELS) {
    levels->overflow = true;
    return true;
  }
  if (levels->count == levels->room && !grow(levels)) return false;
  char *copy = scl_allocate(length + 1);
  if (copy == NULL) return false;
  memcpy(copy, text, length);
  copy[length] = 0;
  levels->slots[slot_of(levels, text, length, hash)] = (uint32_t)levels->count + 1;
  levels->list[levels->count++] = (csv_level){copy, length, hash};
  return true;
}

long csv_levels_find(const csv_levels *levels, const char *text, size_t length) {
  if (levels->n_slots == 0) return -1;
  return (long)levels->slots[slot_of(levels, text, length, hash_of(text, length))] - 1;
}

static int by_bytes(const void *a, const void *b) {
  return strcmp(((const csv_level *)a)->text, ((const csv_level *)b)->text);
}

void csv_levels_sort(csv_levels *levels) {
  if (levels->count == 0) return;
  qsort(levels->list, levels->count, sizeof *levels->list, by_bytes);
  fill_slots(levels);
}

void csv_levels_release(csv_levels *levels) {
  for (size_t i = 0; i < levels->count; i++)
    scl_release(levels->list[i].text);
  scl_release(levels->list);
  scl_release(levels->slots);
  memset(levels, 0, sizeof *levels);
}
