/* The buffers of record batches as cells. Of a batch only the buffers of the chosen columns are
 * read. */
#include "arrow.h"
#include "shared/stored_numbers.h"

/* ------------ buffers */

/* A record batch: its table, and the lists in it. */
typedef struct batch {
  flat f;
  const arrow_message *message;
  size_t nodes, n_nodes, buffers, n_buffers, views, n_views;
  int codec; /* -1: none */
} batch;

static scl_status refuse(const arrow_reading *r, scl_error *error, const char *what) {
  return scl_reading_refuse(r->file, error, "column '%s': %s", r->contents->columns[r->column].name,
                            what);
}

/* The table of a record batch, which a dictionary has within its own; its lists stay in
 * `room`. */
static scl_status open_batch(const arrow_reading *r, const arrow_message *m, scl_room *room,
                             batch *b, scl_error *error) {
  READ_TRY(scl_room_grow(r->file->host, room, m->head_size, error));
  READ_TRY(scl_reading_at(r->file, m->head, room->memory, m->head_size, "a message", error));
  *b = (batch){.f = {room->memory, m->head_size}, .message = m, .codec = -1};
  const flat *f = &b->f;
  size_t table = flat_follow(f, flat_member(f, flat_root(f), 2));
  if (m->kind == ARROW_DICTIONARY) table = flat_follow(f, flat_member(f, table, 1));
  b->nodes = flat_list(f, flat_member(f, table, 1), 16, &b->n_nodes);
  b->buffers = flat_list(f, flat_member(f, table, 2), 16, &b->n_buffers);
  b->views = flat_list(f, flat_member(f, table, 4), 8, &b->n_views);
  const size_t compression = flat_follow(f, flat_member(f, table, 3));
  if (compression != 0) b->codec = (int)flat_number(f, flat_member(f, compression, 0), 1, 0);
  return SCL_STATUS_OK;
}

/* Buffer `index` of the batch behind the `used` bytes of a room. */
static scl_status read_buffer(const arrow_reading *r, const batch *b, size_t index, scl_room *room,
                              size_t used, size_t *size, scl_error *error) {
  const size_t at = b->buffers + 16 * index;
  const int64_t offset = index < b->n_buffers ? flat_number(&b->f, at, 8, -1) : -1;
  const int64_t length = index < b->n_buffers ? flat_number(&b->f, at + 8, 8, -1) : -1;
  const uint64_t body = b->message->body_size;
  *size = 0;
  if (offset < 0 || length < 0 || (uint64_t)offset > body ||
      (uint64_t)length > body - (uint64_t)offset)
    return refuse(r, error, "its buffers are damaged");
  const uint64_t from = b->message->body + (uint64_t)offset;
  int64_t plain = -1;
  if (b->codec >= 0 && length >= 8)
    READ_TRY(scl_reading_at(r->file, from, &plain, 8, "a buffer", error));
  const uint64_t skip = b->codec >= 0 && length >= 8 ? 8 : 0, packed = (uint64_t)length - skip;
  if (plain < 0) { /* not compressed */
    READ_TRY(scl_room_grow(r->file->host, room, used + packed, error));
    *size = packed;
    return scl_reading_at(r->file, from + skip, (uint8_t *)room->memory + used, packed, "a buffer",
                          error);
  }
  if (b->codec > 1) return refuse(r, error, "compressed by a codec that is not read");
  if (!scl_may_unpack(packed, (uint64_t)plain))
    return refuse(r, error, "the sizes of a buffer cannot be");
  scl_room bytes = {0};
  scl_status status = scl_room_grow(r->file->host, room, used + (size_t)plain, error);
  if (status == SCL_STATUS_OK) status = scl_room_grow(r->file->host, &bytes, packed, error);
  if (status == SCL_STATUS_OK)
    status = scl_reading_at(r->file, from + skip, bytes.memory, packed, "a buffer", error);
  if (status == SCL_STATUS_OK && plain > 0)
    status = scl_unpack(r->file, b->codec == 0 ? SCL_CODEC_LZ4_FRAME : SCL_CODEC_ZSTD, bytes.memory,
                        packed, (uint8_t *)room->memory + used, (size_t)plain, "a buffer", error);
  scl_room_release(r->file->host, &bytes);
  *size = (size_t)plain;
  return status;
}

/* The bytes of views, from buffer `first` on. */
static scl_status read_views(const arrow_reading *r, const batch *b, size_t first, size_t count,
                             arrow_array *a, scl_error *error) {
  const scl_host *host = r->file->host;
  size_t used = 0, size;
  host->release(a->ends);
  a->n_ends = 0;
  a->ends = count > b->n_buffers ? NULL : scl_host_zeros(host, count + 1, sizeof *a->ends);
  if (a->ends == NULL) return refuse(r, error, "its buffers are damaged");
  for (; a->n_ends < count; a->n_ends++) {
    READ_TRY(read_buffer(r, b, first + a->n_ends, &a->more, used, &size, error));
    a->ends[a->n_ends] = used += size;
  }
  return SCL_STATUS_OK;
}

/* The array of a type whose node and buffers begin at these places. */
static scl_status read_array(const arrow_reading *r, const batch *b, const arrow_type *type,
                             size_t node, size_t buffer, size_t view, arrow_array *a,
                             scl_error *error) {
  const size_t at = b->nodes + 16 * node;
  const int64_t rows = node < b->n_nodes ? flat_number(&b->f, at, 8, -1) : -1;
  const size_t buffers = type->meaning == AS_NOTHING                  ? 0
                         : type->meaning == AS_TEXT && !type->is_view ? 3
                                                                      : 2;
  if (rows < 0) return refuse(r, error, "its rows are damaged");
  a->rows = (uint64_t)rows;
  a->gaps = flat_number(&b->f, at + 8, 8, 0) != 0;
  for (size_t k = 0; k < buffers; k++)
    READ_TRY(read_buffer(r, b, buffer + k, &a->buffer[k], 0, &a->size[k], error));
  a->gaps = a->gaps && buffers > 0 && a->size[0] > 0;
  if (type->is_view)
    READ_TRY(read_views(
        r, b, buffer + 2,
        (size_t)flat_number(&b->f, view < b->n_views ? b->views + 8 * view : 0, 8, 0), a, error));
  const uint64_t width = type->meaning == AS_TEXT      ? type->width
                         : type->meaning == AS_BOOLEAN ? 0
                                                       : type->width;
  const uint64_t count = a->rows + (type->meaning == AS_TEXT && !type->is_view && a->rows > 0);
  const bool fits = buffers == 0 || (type->meaning == AS_BOOLEAN ? a->size[1] >= (a->rows + 7) / 8
                                                                 : count <= a->size[1] / width);
  if (!fits || (a->gaps && a->size[0] < (a->rows + 7) / 8))
    return refuse(r, error, "its buffers are smaller than its rows");
  return SCL_STATUS_OK;
}

static void release_array(const scl_host *host, arrow_array *a) {
  for (size_t k = 0; k < MOST_BUFFERS; k++)
    scl_room_release(host, &a->buffer[k]);
  scl_room_release(host, &a->more);
  host->release(a->ends);
}

/* ------------ values */

static bool bit(const void *bytes, uint64_t i) {
  return ((const uint8_t *)bytes)[i >> 3] >> (i & 7) & 1;
}

/* Whether value i is not missing. */
static bool is_there(const arrow_array *a, uint64_t i) {
  return !a->gaps || bit(a->buffer[0].memory, i);
}

/* A whole number of 1, 2, 4 or 8 bytes. */
static int64_t whole_at(const arrow_array *a, const arrow_type *type, uint64_t i) {
  const uint8_t *at = (const uint8_t *)a->buffer[1].memory + i * type->width;
  uint64_t value = 0;
  memcpy(&value, at, type->width);
  const unsigned unused = 64 - 8 * type->width;
  return type->is_signed ? (int64_t)(value << unused) >> unused : (int64_t)value;
}

/* Numbers of all widths, decimals, and times as seconds. */
static double number_at(const arrow_array *a, const arrow_type *type, uint64_t i) {
  const uint8_t *at = (const uint8_t *)a->buffer[1].memory + i * type->width;
  if (type->meaning == AS_DECIMAL && type->width == 16) {
    scl_wide value;
    memcpy(&value, at, sizeof value);
    return scl_decimal_number(value, type->scale);
  }
  if (type->meaning == AS_DECIMAL) return scl_decimal_number(whole_at(a, type, i), type->scale);
  if (type->meaning == AS_TIME) return (double)whole_at(a, type, i) / (double)type->per_second;
  if (type->meaning == AS_UNSIGNED_64) return (double)(uint64_t)whole_at(a, type, i);
  if (type->width == 2) return scl_half_number(at[0] | (unsigned)at[1] << 8);
  double number;
  float single;
  if (type->width == 8) {
    memcpy(&number, at, sizeof number);
    return number;
  }
  memcpy(&single, at, sizeof single);
  return (double)single;
}

/* A view: its length, and the text itself, or 4 bytes of it, a buffer and a place there. */
static bool view_at(const arrow_array *a, uint64_t i, scl_cell_text *out) {
  const uint8_t *view = (const uint8_t *)a->buffer[1].memory + 16 * i;
  int32_t length, index, offset;
  memcpy(&length, view, 4);
  memcpy(&index, view + 8, 4);
  memcpy(&offset, view + 12, 4);
  *out = (scl_cell_text){(const char *)view + 4, (size_t)length};
  if (length <= 12) return length >= 0;
  if (index < 0 || (size_t)index >= a->n_ends || offset < 0) return false;
  const size_t from = index == 0 ? 0 : a->ends[index - 1], size = a->ends[index] - from;
  out->bytes = (const char *)a->more.memory + from + offset;
  return (size_t)offset <= size && (size_t)length <= size - (size_t)offset;
}

/* Text i lies between two offsets, which may be anything in a damaged file. */
static bool text_at(const arrow_array *a, const arrow_type *type, uint64_t i, scl_cell_text *out) {
  if (type->is_view) return view_at(a, i, out);
  const uint8_t *offsets = a->buffer[1].memory;
  int64_t from = 0, to = 0;
  memcpy(&from, offsets + i * type->width, type->width);
  memcpy(&to, offsets + (i + 1) * type->width, type->width);
  if (from < 0 || to < from || (uint64_t)to > a->size[2]) return false;
  *out = (scl_cell_text){(const char *)a->buffer[2].memory + from, (size_t)(to - from)};
  return true;
}

/* Whether cells of a meaning are whole numbers, or else numbers. */
static bool is_whole(arrow_meaning meaning) {
  return meaning == AS_INTEGER || meaning == AS_BOOLEAN || meaning == AS_DATE ||
         meaning == AS_TIMESTAMP || meaning == AS_NOTHING;
}

/* Value i of the array to place `to` of rooms that have it; false: a damaged text. */
static bool take_value(const arrow_array *a, const arrow_type *type, uint64_t i, size_t to,
                       void *integers, void *numbers, void *texts) {
  if (type->meaning == AS_TEXT) return text_at(a, type, i, (scl_cell_text *)texts + to);
  if (type->meaning == AS_BOOLEAN)
    ((int64_t *)integers)[to] = bit(a->buffer[1].memory, i);
  else if (is_whole(type->meaning))
    ((int64_t *)integers)[to] = whole_at(a, type, i);
  else
    ((double *)numbers)[to] = number_at(a, type, i);
  return true;
}

/* Rooms for `count` values of a meaning. */
static scl_status grow(const scl_host *host, arrow_meaning meaning, scl_room *integers,
                       scl_room *numbers, scl_room *texts, scl_room *missing, size_t count,
                       scl_error *error) {
  READ_TRY(scl_room_grow(host, missing, count, error));
  if (meaning == AS_TEXT) return scl_room_grow(host, texts, count * sizeof(scl_cell_text), error);
  return scl_room_grow(host, is_whole(meaning) ? integers : numbers, count * sizeof(double), error);
}

/* ------------ dictionaries */

/* The values of an array behind those of the dictionary; the bytes of texts are copied. */
static scl_status add_values(arrow_reading *r, const arrow_array *a, scl_error *error) {
  const scl_host *host = r->file->host;
  const arrow_type *type = &r->contents->columns[r->column].type;
  arrow_dictionary *d = &r->dictionary;
  if (a->rows > UINT32_MAX - d->count) return refuse(r, error, "its dictionary is too large");
  const size_t count = d->count + (size_t)a->rows;
  READ_TRY(grow(host, type->meaning, &d->integers, &d->numbers, &d->texts, &d->missing, count + 1,
                error));
  READ_TRY(scl_room_grow(host, &d->places, (count + 1) * sizeof(size_t), error));
  for (size_t i = 0; i < a->rows; i++) {
    const size_t to = d->count + i;
    const bool there = type->meaning != AS_NOTHING && is_there(a, i);
    scl_cell_text *text = (scl_cell_text *)d->texts.memory + to;
    ((uint8_t *)d->missing.memory)[to] = !there;
    if (type->meaning == AS_TEXT) *text = (scl_cell_text){"", 0};
    if (there &&
        !take_value(a, type, i, to, d->integers.memory, d->numbers.memory, d->texts.memory))
      return refuse(r, error, "its dictionary is damaged");
    if (type->meaning != AS_TEXT) continue;
    READ_TRY(scl_room_grow(host, &d->bytes, d->used + text->length, error));
    if (text->length > 0) memcpy((char *)d->bytes.memory + d->used, text->bytes, text->length);
    ((size_t *)d->places.memory)[to] = d->used;
    d->used += text->length;
  }
  d->count = count;
  for (size_t i = 0; type->meaning == AS_TEXT && i < count; i++)
    ((scl_cell_text *)d->texts.memory)[i].bytes =
        (const char *)d->bytes.memory + ((size_t *)d->places.memory)[i];
  return SCL_STATUS_OK;
}

/* A dictionary takes the place of the one before, or, as a delta, goes on behind it. */
static scl_status read_dictionary(arrow_reading *r, const arrow_message *m, scl_error *error) {
  scl_room head = {0};
  arrow_array array = {0};
  batch b;
  if (!m->is_delta) r->dictionary.count = r->dictionary.used = 0;
  scl_status status = open_batch(r, m, &head, &b, error);
  if (status == SCL_STATUS_OK)
    status = read_array(r, &b, &r->contents->columns[r->column].type, 0, 0, 0, &array, error);
  if (status == SCL_STATUS_OK && !scl_may_have_rows(r->file->size, array.rows))
    status = refuse(r, error, "its dictionary is too large");
  if (status == SCL_STATUS_OK) status = add_values(r, &array, error);
  release_array(r->file->host, &array);
  scl_room_release(r->file->host, &head);
  return status;
}

static bool is_dictionary_of(const arrow_reading *r, const arrow_message *m) {
  return m->kind == ARROW_DICTIONARY && m->dictionary == r->contents->columns[r->column].dictionary;
}

/* Whether a batch may use dictionaries that come after it: in a file, where none is replaced. */
static bool dictionaries_go_anywhere(const arrow_reading *r) {
  size_t whole = 0;
  for (size_t i = 0; i < r->contents->n_messages; i++) {
    const arrow_message *m = arrow_message_at(r->contents, i);
    whole += is_dictionary_of(r, m) && !m->is_delta;
  }
  return r->contents->has_footer && whole <= 1;
}

/* The dictionaries before the batch, or all of them: each holds until the next with its number. */
static scl_status load_dictionary(arrow_reading *r, size_t message, scl_error *error) {
  if (r->loaded == 0) r->all_dictionaries = dictionaries_go_anywhere(r);
  const size_t end = r->all_dictionaries ? r->contents->n_messages : message;
  if (r->loaded > end) r->loaded = r->dictionary.count = r->dictionary.used = 0;
  for (; r->loaded < end; r->loaded++) {
    const arrow_message *m = arrow_message_at(r->contents, r->loaded);
    if (is_dictionary_of(r, m)) READ_TRY(read_dictionary(r, m, error));
  }
  return SCL_STATUS_OK;
}

/* ------------ columns */

scl_status arrow_load(arrow_reading *r, size_t message, scl_error *error) {
  const arrow_column *c = &r->contents->columns[r->column];
  const arrow_message *m = arrow_message_at(r->contents, message);
  size_t node = 0, buffer = 0, view = 0;
  scl_room head = {0};
  batch b;
  if (c->coded) READ_TRY(load_dictionary(r, message, error));
  scl_status status = open_batch(r, m, &head, &b, error);
  for (size_t j = 0; status == SCL_STATUS_OK && j < r->column; j++) {
    const arrow_column *before = &r->contents->columns[j];
    node += before->nodes;
    buffer += before->buffers;
    for (size_t k = 0; k < before->views && view < b.n_views; k++, view++)
      buffer += (size_t)flat_number(&b.f, b.views + 8 * view, 8, 0);
  }
  if (status == SCL_STATUS_OK)
    status =
        read_array(r, &b, c->coded ? &c->code : &c->type, node, buffer, view, &r->array, error);
  scl_room_release(r->file->host, &head);
  if (status == SCL_STATUS_OK && r->array.rows < m->rows)
    status = refuse(r, error, "it has fewer rows than its batch");
  return status;
}

static scl_status refuse_row(const arrow_reading *r, uint64_t row, const char *what,
                             scl_error *error) {
  return scl_reading_refuse(r->file, error, "column '%s', row %llu: %s",
                            r->contents->columns[r->column].name, (unsigned long long)row + 1,
                            what);
}

/* Values that are places in the dictionary: texts stay there, numbers are looked up. */
static scl_status read_coded(arrow_reading *r, uint64_t from, size_t count, uint64_t first_row,
                             scl_error *error) {
  const arrow_column *c = &r->contents->columns[r->column];
  const arrow_dictionary *d = &r->dictionary;
  const bool whole = is_whole(c->type.meaning);
  uint8_t *missing = r->missing.memory;
  READ_TRY(scl_room_grow(r->file->host, &r->codes, BLOCK_ROWS * sizeof(uint32_t), error));
  uint32_t *codes = r->codes.memory;
  for (size_t i = 0; i < count; i++) {
    codes[i] = 0;
    missing[i] = !is_there(&r->array, from + i);
    if (missing[i]) continue;
    const int64_t code = whole_at(&r->array, &c->code, from + i);
    if (code < 0 || (uint64_t)code >= d->count)
      return refuse_row(r, first_row + i, "its place in the dictionary is outside of it", error);
    codes[i] = (uint32_t)code;
    missing[i] = ((const uint8_t *)d->missing.memory)[code];
    if (c->type.meaning == AS_TEXT) continue;
    if (whole)
      ((int64_t *)r->integers.memory)[i] = ((const int64_t *)d->integers.memory)[code];
    else
      ((double *)r->numbers.memory)[i] = ((const double *)d->numbers.memory)[code];
  }
  if (c->type.meaning == AS_TEXT) {
    r->cells.codes = codes;
    r->cells.texts = d->texts.memory;
    r->cells.n_texts = d->count;
  }
  return SCL_STATUS_OK;
}

/* Cells of a block: one type of array for each meaning. */
scl_status arrow_read(arrow_reading *r, uint64_t from, size_t count, uint64_t first_row,
                      scl_error *error) {
  const arrow_column *c = &r->contents->columns[r->column];
  const arrow_type *type = &c->type;
  READ_TRY(grow(r->file->host, type->meaning, &r->integers, &r->numbers, &r->texts, &r->missing,
                BLOCK_ROWS, error));
  uint8_t *missing = r->missing.memory;
  r->cells = (scl_column_cells){.missing = missing, .per_second = type->per_second};
  if (type->meaning == AS_TEXT)
    r->cells.texts = r->texts.memory;
  else if (is_whole(type->meaning))
    r->cells.integers = r->integers.memory;
  else
    r->cells.numbers = r->numbers.memory;
  if (c->coded) return read_coded(r, from, count, first_row, error);
  for (size_t i = 0; i < count; i++) {
    missing[i] = type->meaning == AS_NOTHING || !is_there(&r->array, from + i);
    if (!missing[i] && !take_value(&r->array, type, from + i, i, r->integers.memory,
                                   r->numbers.memory, r->texts.memory))
      return refuse_row(r, first_row + i, "its text is outside of its buffers", error);
  }
  return SCL_STATUS_OK;
}

void arrow_release(arrow_reading *r) {
  const scl_host *host = r->file->host;
  arrow_dictionary *d = &r->dictionary;
  scl_room *const rooms[] = {&d->texts,    &d->places,  &d->bytes,   &d->numbers,
                             &d->integers, &d->missing, &r->missing, &r->integers,
                             &r->numbers,  &r->texts,   &r->codes};
  for (size_t i = 0; i < sizeof rooms / sizeof *rooms; i++)
    scl_room_release(host, rooms[i]);
  release_array(host, &r->array);
}
