/* The archive in memory that solvers save their models to and load them from. Names and shapes are
 * checked on the way in, and types, shapes and finiteness on the way out. */
#include "learn/archive.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Bytes of one number; 0 for a dtype that archives do not take. */
static size_t bytes_of(scl_dtype dtype) {
  return dtype == SCL_DTYPE_FLOAT64 || dtype == SCL_DTYPE_INT64   ? 8
         : dtype == SCL_DTYPE_FLOAT32 || dtype == SCL_DTYPE_INT32 ? 4
                                                                  : 0;
}

size_t scl_array_count(const scl_array *array) {
  size_t count = 1;
  for (uint32_t i = 0; i < array->rank && i < 4; i++) {
    if (array->sizes[i] != 0 && count > SIZE_MAX / 8 / array->sizes[i]) return 0;
    count *= array->sizes[i];
  }
  return count;
}

size_t scl_array_bytes(const scl_array *array) {
  return scl_array_count(array) * bytes_of(array->dtype);
}

/* The entry of that name, or NULL. */
static const scl_archive_entry *archive_find(const scl_array_archive *archive, const char *name) {
  for (size_t i = 0; i < archive->count; i++)
    if (strcmp(archive->entries[i].name, name) == 0) return &archive->entries[i];
  return NULL;
}

/* ------------ put */

/* Name, dtype, rank and sizes of an array that a solver puts. A violation is an error of the
 * plugin, not of the user's data: SCL_STATUS_INTERNAL. */
static scl_status check_array(const scl_array_archive *archive, const char *name,
                              const scl_array *array, scl_error *error) {
  const size_t count = scl_array_count(array), length = name == NULL ? 0 : strlen(name);
  bool empty = false; /* a size of 0 makes a count of 0 valid; otherwise it means overflow */
  if (length == 0 || length > SCL_ARCHIVE_NAME ||
      strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_.") != length)
    return scl_fail(error, SCL_STATUS_INTERNAL,
                    "an array is named \"%.80s\"; names have a-z, 0-9, _ and dots, at most %d",
                    name == NULL ? "" : name, SCL_ARCHIVE_NAME);
  if (archive_find(archive, name) != NULL)
    return scl_fail(error, SCL_STATUS_INTERNAL, "there are two arrays \"%s\"", name);
  for (uint32_t i = 0; i < array->rank && i < 4; i++)
    empty = empty || array->sizes[i] == 0;
  if (array->rank > 4 || bytes_of(array->dtype) == 0 || (count == 0 && !empty) ||
      (count > 0 && array->data == NULL))
    return scl_fail(error, SCL_STATUS_INTERNAL,
                    "array \"%s\" has dtype %d and rank %u, which no archive takes", name,
                    (int)array->dtype, array->rank);
  return SCL_STATUS_OK;
}

/* Slot scl_archive.put: append a copy of the array. */
static scl_status archive_put(scl_archive *base, const char *name, const scl_array *array,
                              scl_error *error) {
  scl_array_archive *archive = (scl_array_archive *)base;
  SCL_TRY(check_array(archive, name, array, error));
  scl_archive_entry *entries =
      scl_grow(archive->entries, archive->count, &archive->room, sizeof *entries);
  if (entries == NULL)
    return scl_fail_memory(error, 2 * archive->room * sizeof *entries, "an archive");
  archive->entries = entries;
  const size_t bytes = scl_array_bytes(array);
  void *copy = scl_allocate(bytes + 1); /* + 1: an empty array is not a failed allocation */
  if (copy == NULL) return scl_fail_memory(error, bytes, "an array of a model");
  if (bytes > 0) memcpy(copy, array->data, bytes);
  scl_archive_entry *entry = &archive->entries[archive->count++];
  (void)snprintf(entry->name, sizeof entry->name, "%s", name);
  entry->array = *array;
  entry->array.data = copy;
  return SCL_STATUS_OK;
}

/* ------------ get */

/* Whether an array of floating-point numbers has neither infinities nor NaN; true for integers. */
static bool all_finite(const scl_array *array) {
  const size_t count = scl_array_count(array);
  if (array->dtype != SCL_DTYPE_FLOAT64 && array->dtype != SCL_DTYPE_FLOAT32) return true;
  for (size_t i = 0; i < count; i++)
    if (!isfinite(scl_number(array->data, array->dtype, i))) return false;
  return true;
}

/* Slot scl_archive.get: *out points to the numbers of the archive. The array must have the dtype
 * and rank that the solver expects, and its sizes; a size of 0 in `sizes` accepts any. */
static scl_status archive_get(const scl_archive *base, const char *name, scl_dtype dtype,
                              uint32_t rank, const size_t *sizes, scl_array *out,
                              scl_error *error) {
  const scl_archive_entry *entry = archive_find((const scl_array_archive *)base, name);
  if (entry == NULL)
    return scl_fail(error, SCL_STATUS_BAD_DATA, "the saved model has no array \"%s\"", name);
  const scl_array *array = &entry->array;
  bool fits = array->dtype == dtype && array->rank == rank;
  for (uint32_t i = 0; fits && i < rank; i++)
    fits = sizes[i] == 0 || sizes[i] == array->sizes[i];
  if (!fits)
    return scl_fail(error, SCL_STATUS_BAD_DATA,
                    "array \"%s\" of the saved model has another type or shape than this solver's",
                    name);
  if (!all_finite(array))
    return scl_fail(error, SCL_STATUS_BAD_DATA,
                    "array \"%s\" of the saved model has a number that is not finite", name);
  *out = *array;
  return SCL_STATUS_OK;
}

static int32_t archive_has(const scl_archive *base, const char *name) {
  return archive_find((const scl_array_archive *)base, name) != NULL;
}

void scl_archive_open(scl_array_archive *archive) {
  *archive = (scl_array_archive){
      .archive = {SCL_HEAD(scl_archive), archive_put, archive_get, archive_has}};
}

void scl_archive_close(scl_array_archive *archive) {
  for (size_t i = 0; i < archive->count; i++)
    scl_release((void *)(uintptr_t)archive->entries[i].array.data);
  scl_release(archive->entries);
  scl_archive_open(archive);
}
