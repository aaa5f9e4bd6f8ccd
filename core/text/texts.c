/* Packed texts. References are counted atomically, so that views can be shared between threads. */
#include "text/texts.h"

#include "text/letters.h"

#include <stdatomic.h>
#include <string.h>

struct scl_texts_storage {
  atomic_size_t references;
  char *bytes;
  int64_t *offsets;
};

scl_texts scl_texts_share(const scl_texts *texts) {
  if (texts->storage != NULL) atomic_fetch_add(&texts->storage->references, 1);
  return *texts;
}

scl_texts scl_texts_slice(const scl_texts *texts, size_t first, size_t count) {
  scl_texts view = scl_texts_share(texts);
  view.offsets = texts->offsets + first;
  view.count = count;
  return view;
}

void scl_texts_release(scl_texts *texts) {
  scl_texts_storage *storage = texts->storage;
  memset(texts, 0, sizeof *texts);
  if (storage == NULL || atomic_fetch_sub(&storage->references, 1) != 1) return;
  SCL_RELEASE(storage->bytes, storage->offsets, storage);
}

size_t scl_texts_bytes(const scl_texts *texts) {
  return texts->count == 0 ? 0 : (size_t)(texts->offsets[texts->count] - texts->offsets[0]);
}

/* ------------ collecting */

static scl_status no_room(size_t bytes, scl_error *error) {
  return scl_fail_memory(error, bytes, "texts");
}

/* Make room for `more` bytes after those that are used. */
static scl_status reserve(scl_texts_builder *builder, size_t more, scl_error *error) {
  if (more <= builder->bytes_room - builder->used) return SCL_STATUS_OK;
  if (more > SIZE_MAX / 4 || builder->used > SIZE_MAX / 4) return no_room(more, error);
  const size_t room = scl_max(builder->used + more, 2 * builder->bytes_room + 64);
  char *bytes = scl_allocate(room);
  if (bytes == NULL) return no_room(room, error);
  if (builder->used > 0) memcpy(bytes, builder->bytes, builder->used);
  scl_release(builder->bytes);
  builder->bytes = bytes;
  builder->bytes_room = room;
  return SCL_STATUS_OK;
}

scl_status scl_texts_add(scl_texts_builder *builder, const char *bytes, size_t length,
                         scl_error *error) {
  if (length == 0) return SCL_STATUS_OK;
  SCL_TRY(reserve(builder, length, error));
  memcpy(builder->bytes + builder->used, bytes, length);
  builder->used += length;
  return SCL_STATUS_OK;
}

/* Set the end of text number `count`, from 1; number 0 is the beginning of the first. */
static scl_status set_offset(scl_texts_builder *builder, size_t number, int64_t value,
                             scl_error *error) {
  int64_t *offsets =
      scl_grow(builder->offsets, number, &builder->offsets_room, sizeof *builder->offsets);
  if (offsets == NULL) return no_room(number * sizeof *offsets, error);
  builder->offsets = offsets;
  offsets[number] = value;
  return SCL_STATUS_OK;
}

scl_status scl_texts_end(scl_texts_builder *builder, scl_error *error) {
  if (builder->offsets == NULL) SCL_TRY(set_offset(builder, 0, 0, error));
  SCL_TRY(set_offset(builder, builder->count + 1, (int64_t)builder->used, error));
  builder->count++;
  return SCL_STATUS_OK;
}

void scl_texts_builder_release(scl_texts_builder *builder) {
  SCL_RELEASE(builder->bytes, builder->offsets);
  memset(builder, 0, sizeof *builder);
}

/* *out = a view of all texts of the two arrays, which it owns, also after an error. */
static scl_status adopt(size_t count, int64_t *offsets, char *bytes, scl_texts *out,
                        scl_error *error) {
  memset(out, 0, sizeof *out);
  scl_texts_storage *storage = scl_allocate(sizeof *storage);
  if (storage == NULL) {
    SCL_RELEASE(offsets, bytes);
    return no_room(sizeof *storage, error);
  }
  atomic_init(&storage->references, 1);
  storage->bytes = bytes;
  storage->offsets = offsets;
  *out = (scl_texts){storage, bytes, offsets, count};
  return SCL_STATUS_OK;
}

scl_status scl_texts_finish(scl_texts_builder *builder, scl_texts *out, scl_error *error) {
  scl_status status = SCL_STATUS_OK;
  memset(out, 0, sizeof *out);
  if (builder->offsets == NULL) status = set_offset(builder, 0, 0, error);
  if (status != SCL_STATUS_OK) {
    scl_texts_builder_release(builder);
    return status;
  }
  status = adopt(builder->count, builder->offsets, builder->bytes, out, error);
  memset(builder, 0, sizeof *builder);
  return status;
}

/* ------------ copies */

/* Room for `count` texts of `bytes` bytes in all. */
static scl_status create(size_t count, size_t bytes, int64_t **offsets, char **room,
                         scl_error *error) {
  *offsets =
      count < SIZE_MAX / sizeof **offsets ? scl_allocate((count + 1) * sizeof **offsets) : NULL;
  *room = scl_allocate(bytes + 1);
  if (*offsets != NULL && *room != NULL) return SCL_STATUS_OK;
  SCL_RELEASE(*offsets, *room);
  return no_room(bytes + count * sizeof **offsets, error);
}

scl_status scl_texts_take(const scl_texts *texts, const size_t *places, size_t count,
                          scl_texts *out, scl_error *error) {
  size_t bytes = 0;
  int64_t *offsets;
  char *room;
  memset(out, 0, sizeof *out);
  for (size_t i = 0; i < count; i++)
    bytes += scl_text_length(texts, places[i]);
  SCL_TRY(create(count, bytes, &offsets, &room, error));
  offsets[0] = 0;
  for (size_t i = 0; i < count; i++) {
    const size_t length = scl_text_length(texts, places[i]);
    if (length > 0) memcpy(room + offsets[i], scl_text_at(texts, places[i]), length);
    offsets[i + 1] = offsets[i] + (int64_t)length;
  }
  return adopt(count, offsets, room, out, error);
}

scl_status scl_texts_join(const scl_texts *a, const scl_texts *b, scl_texts *out,
                          scl_error *error) {
  scl_texts_builder builder = {0};
  scl_status status = reserve(&builder, scl_texts_bytes(a) + scl_texts_bytes(b) + a->count, error);
  for (size_t i = 0; status == SCL_STATUS_OK && i < a->count; i++) {
    status = scl_texts_add(&builder, scl_text_at(a, i), scl_text_length(a, i), error);
    if (status == SCL_STATUS_OK) status = scl_texts_add(&builder, "\n", 1, error);
    if (status == SCL_STATUS_OK)
      status = scl_texts_add(&builder, scl_text_at(b, i), scl_text_length(b, i), error);
    if (status == SCL_STATUS_OK) status = scl_texts_end(&builder, error);
  }
  if (status == SCL_STATUS_OK) return scl_texts_finish(&builder, out, error);
  scl_texts_builder_release(&builder);
  return status;
}

scl_status scl_texts_append(scl_texts_builder *builder, const scl_texts *texts, scl_error *error) {
  for (size_t i = 0; i < texts->count; i++) {
    SCL_TRY(scl_texts_add(builder, scl_text_at(texts, i), scl_text_length(texts, i), error));
    SCL_TRY(scl_texts_end(builder, error));
  }
  return SCL_STATUS_OK;
}

scl_status scl_texts_append_latin1(scl_texts_builder *builder, const scl_texts *texts,
                                   scl_error *error) {
  for (size_t i = 0; i < texts->count; i++) {
    const unsigned char *text = (const unsigned char *)scl_text_at(texts, i);
    for (size_t k = 0, length = scl_text_length(texts, i); k < length; k++) {
      char character[4];
      SCL_TRY(scl_texts_add(builder, character, scl_encode_character(text[k], character), error));
    }
    SCL_TRY(scl_texts_end(builder, error));
  }
  return SCL_STATUS_OK;
}

bool scl_texts_equal(const scl_texts *a, const scl_texts *b) {
  bool same = a->count == b->count;
  for (size_t i = 0; same && i < a->count; i++)
    same = scl_text_length(a, i) == scl_text_length(b, i) &&
           memcmp(scl_text_at(a, i), scl_text_at(b, i), scl_text_length(a, i)) == 0;
  return same;
}

size_t scl_texts_invalid(const scl_texts *texts, size_t *first, size_t *line) {
  size_t count = 0, place = 0;
  *first = 0;
  *line = 1;
  for (size_t i = 0; i < texts->count; i++) {
    const char *text = scl_text_at(texts, i);
    if (scl_invalid_bytes(text, scl_text_length(texts, i), &place) == 0 || count++ > 0) continue;
    *first = i + 1;
    for (size_t k = 0; k < place; k++)
      *line += text[k] == '\n';
  }
  return count;
}
