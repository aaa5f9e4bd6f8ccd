/* The messages of an Arrow file or stream, and the columns that its schema describes. */
#include "arrow.h"
#include "shared/stored_numbers.h"

enum { MOST_HEAD = 1 << 28, MOST_FIELDS = 1 << 20, MOST_DEPTH = 32 };

/* ------------ FlatBuffers */

int64_t flat_number(const flat *f, size_t at, size_t width, int64_t otherwise) {
  if (at == 0 || at > f->size || width > f->size - at) return otherwise;
  uint64_t value = 0;
  for (size_t k = 0; k < width; k++)
    value |= (uint64_t)f->bytes[at + k] << (8 * k);
  const unsigned unused = (unsigned)(64 - 8 * width);
  return (int64_t)(value << unused) >> unused;
}

/* The place `at` + an unsigned number that stands there. */
size_t flat_follow(const flat *f, size_t at) {
  const uint64_t to = (uint32_t)flat_number(f, at, 4, 0);
  return at == 0 || to == 0 || to >= f->size - at ? 0 : at + (size_t)to;
}

/* The first four bytes are the place of the root. */
size_t flat_root(const flat *f) {
  uint32_t to = 0;
  if (f->size >= 8) memcpy(&to, f->bytes, sizeof to);
  return to < f->size ? to : 0;
}

/* A table begins with the distance back to its list of members: two sizes, then the offset of
 * each member, 0 where it is absent. */
size_t flat_member(const flat *f, size_t table, unsigned index) {
  const int64_t back = flat_number(f, table, 4, 0), list = (int64_t)table - back;
  if (table == 0 || list <= 0 || (uint64_t)list >= f->size) return 0;
  const uint16_t bytes = (uint16_t)flat_number(f, (size_t)list, 2, 0);
  if (4 + 2 * index + 2 > bytes) return 0;
  const uint16_t offset = (uint16_t)flat_number(f, (size_t)list + 4 + 2 * index, 2, 0);
  return offset == 0 || offset >= f->size - table ? 0 : table + offset;
}

/* A list is its length and its elements, all within the bytes. */
size_t flat_list(const flat *f, size_t at, size_t width, size_t *count) {
  const size_t list = flat_follow(f, at);
  *count = 0;
  if (list == 0 || f->size - list < 4) return 0;
  const uint32_t elements = (uint32_t)flat_number(f, list, 4, 0);
  if (elements > (f->size - list - 4) / width) return 0;
  *count = elements;
  return list + 4;
}

/* ------------ fields */

enum {
  TYPE_NULL = 1,
  TYPE_INT,
  TYPE_FLOAT,
  TYPE_BINARY,
  TYPE_UTF8,
  TYPE_BOOL,
  TYPE_DECIMAL,
  TYPE_DATE,
  TYPE_TIME,
  TYPE_TIMESTAMP,
  TYPE_INTERVAL,
  TYPE_LIST,
  TYPE_STRUCT,
  TYPE_UNION,
  TYPE_FIXED_BINARY,
  TYPE_FIXED_LIST,
  TYPE_MAP,
  TYPE_DURATION,
  TYPE_LARGE_BINARY,
  TYPE_LARGE_UTF8,
  TYPE_LARGE_LIST,
  TYPE_RUN_ENDS,
  TYPE_BINARY_VIEW,
  TYPE_UTF8_VIEW,
  TYPE_LIST_VIEW,
  TYPE_LARGE_LIST_VIEW,
  TYPES
};

/* TimeUnit: seconds, milliseconds, microseconds, nanoseconds. */
static int64_t units(int64_t unit) {
  static const int64_t per_second[] = {1, 1000, 1000000, 1000000000};
  return unit >= 0 && unit < 4 ? per_second[unit] : 1;
}

/* Why a type is not read. */
static const char *why_not(int64_t kind) {
  switch (kind) {
  case TYPE_LIST:
  case TYPE_STRUCT:
  case TYPE_UNION:
  case TYPE_FIXED_LIST:
  case TYPE_MAP:
  case TYPE_LARGE_LIST:
  case TYPE_LIST_VIEW:
  case TYPE_LARGE_LIST_VIEW:
    return "nested (a list, a map or a struct)";
  case TYPE_RUN_ENDS:
    return "of runs (run-end encoded)";
  default:
    return "neither of numbers nor of texts";
  }
}

/* A type that is read, from its table in Schema.fbs, whose members that are absent have the values
 * given here; NULL, or why it is not read. */
static const char *describe(const flat *f, int64_t kind, size_t table, arrow_type *type) {
#define MEMBER(index, width, otherwise) \
  flat_number(f, flat_member(f, table, index), width, otherwise)
  *type = (arrow_type){.is_signed = true, .per_second = 1};
  switch (kind) {
  case TYPE_NULL:
    return NULL; /* nothing is stored */
  case TYPE_INT:
    type->width = (unsigned)MEMBER(0, 4, 0) / 8; /* bitWidth */
    type->is_signed = MEMBER(1, 1, 0) != 0;      /* is_signed */
    type->meaning = type->width == 8 && !type->is_signed ? AS_UNSIGNED_64 : AS_INTEGER;
    break;
  case TYPE_FLOAT:
    type->meaning = AS_FLOAT;
    type->width = 2u << (MEMBER(0, 2, 0) & 3); /* precision: half, single, double */
    break;
  case TYPE_BOOL:
    type->meaning = AS_BOOLEAN;
    return NULL;
  case TYPE_UTF8:
  case TYPE_LARGE_UTF8:
  case TYPE_UTF8_VIEW:
    type->meaning = AS_TEXT;
    type->is_view = kind == TYPE_UTF8_VIEW;
    type->width = type->is_view ? 16 : kind == TYPE_UTF8 ? 4 : 8;
    return NULL;
  case TYPE_DECIMAL:
    type->meaning = AS_DECIMAL;
    type->scale = (int)MEMBER(1, 4, 0);            /* scale */
    type->width = (unsigned)MEMBER(2, 4, 128) / 8; /* bitWidth */
    return type->scale < -300 || type->scale > 300 ? "a decimal with an odd scale"
           : type->width == 4 || type->width == 8 || type->width == 16
               ? NULL
               : "a decimal of more than 38 digits";
  case TYPE_DATE:
    type->per_second = 1000;
    type->meaning = MEMBER(0, 2, 1) == 0 ? AS_DATE : AS_TIMESTAMP;
    type->width = type->meaning == AS_DATE ? 4 : 8;
    return NULL;
  case TYPE_TIME:
    type->meaning = AS_TIME;
    type->per_second = units(MEMBER(0, 2, 1));    /* unit */
    type->width = (unsigned)MEMBER(1, 4, 32) / 8; /* bitWidth */
    break;
  case TYPE_TIMESTAMP:
  case TYPE_DURATION:
    type->meaning = kind == TYPE_TIMESTAMP ? AS_TIMESTAMP : AS_TIME;
    type->per_second = units(MEMBER(0, 2, kind == TYPE_TIMESTAMP ? 0 : 1));
    type->width = 8;
    break;
  default:
    return why_not(kind);
  }
#undef MEMBER
  const unsigned w = type->width;
  return w == 1 || w == 2 || w == 4 || w == 8 ? NULL : "of numbers of an odd width";
}

/* Buffers of one node; views have more, which the batch counts. */
static size_t buffers_of(int64_t kind, bool dense) {
  switch (kind) {
  case TYPE_NULL:
  case TYPE_RUN_ENDS:
    return 0;
  case TYPE_STRUCT:
  case TYPE_FIXED_LIST:
    return 1;
  case TYPE_UNION:
    return dense ? 2 : 1;
  case TYPE_BINARY:
  case TYPE_UTF8:
  case TYPE_LARGE_BINARY:
  case TYPE_LARGE_UTF8:
  case TYPE_LIST_VIEW:
  case TYPE_LARGE_LIST_VIEW:
    return 3;
  default:
    return 2;
  }
}

/* Counts the nodes and buffers of a field with all that is in it. False: too many, or a
 * circle. */
static bool count_parts(const flat *f, size_t field, arrow_column *c, unsigned depth,
                        size_t *seen) {
  size_t children;
  const int64_t kind = flat_number(f, flat_member(f, field, 2), 1, 0);
  const size_t type = flat_follow(f, flat_member(f, field, 3));
  if (++*seen > MOST_FIELDS || depth > MOST_DEPTH) return false;
  c->nodes++;
  if (flat_member(f, field, 4) != 0) { /* places in a dictionary, whose type the field has */
    c->buffers += 2;
    return true;
  }
  c->buffers += buffers_of(kind, flat_number(f, flat_member(f, type, 0), 2, 0) == 1);
  c->views += kind == TYPE_UTF8_VIEW || kind == TYPE_BINARY_VIEW;
  const size_t list = flat_list(f, flat_member(f, field, 5), 4, &children);
  for (size_t k = 0; k < children; k++)
    if (!count_parts(f, flat_follow(f, list + 4 * k), c, depth + 1, seen)) return false;
  return true;
}

/* A field with a dictionary has the type of its values, and the coding says that of the
 * places. */
static bool take_field(const flat *f, size_t field, arrow_column *c, size_t *seen) {
  const int64_t kind = flat_number(f, flat_member(f, field, 2), 1, 0);
  const size_t coding = flat_follow(f, flat_member(f, field, 4));
  c->refused = describe(f, kind, flat_follow(f, flat_member(f, field, 3)), &c->type);
  c->coded = coding != 0;
  if (c->coded) {
    const size_t type = flat_follow(f, flat_member(f, coding, 1));
    c->dictionary = flat_number(f, flat_member(f, coding, 0), 8, 0);
    c->code = (arrow_type){.meaning = AS_INTEGER, .width = 4, .is_signed = true};
    const char *odd = type == 0 ? NULL : describe(f, TYPE_INT, type, &c->code);
    if (odd != NULL) c->refused = odd;
  }
  return count_parts(f, field, c, 0, seen);
}

/* A schema describes as many columns as it has fields at its top. */
static scl_status take_schema(const scl_reading *file, const flat *f, size_t schema,
                              arrow_contents *out, scl_error *error) {
  size_t count, length, seen = 0;
  if (flat_number(f, flat_member(f, schema, 0), 2, 0) != 0)
    return scl_reading_refuse(file, error, "its numbers are big-endian, which is not read");
  const size_t list = flat_list(f, flat_member(f, schema, 1), 4, &count);
  if (out->columns != NULL || list == 0 || count == 0)
    return scl_reading_refuse(file, error, "its schema is damaged, or has no columns");
  out->columns = scl_host_zeros(file->host, count, sizeof *out->columns);
  if (out->columns == NULL)
    return file->host->fail(error, SCL_STATUS_NO_MEMORY, "%s: out of memory", file->path);
  for (; out->n_columns < count; out->n_columns++) {
    arrow_column *c = &out->columns[out->n_columns];
    const size_t field = flat_follow(f, list + 4 * out->n_columns);
    const size_t name = flat_list(f, flat_member(f, field, 0), 1, &length);
    if (field == 0 || !take_field(f, field, c, &seen))
      return scl_reading_refuse(file, error, "its schema is damaged: column %zu",
                                out->n_columns + 1);
    c->name = scl_host_copy_text(file->host, (const char *)f->bytes + name, length);
    if (c->name == NULL)
      return file->host->fail(error, SCL_STATUS_NO_MEMORY, "%s: out of memory", file->path);
  }
  return SCL_STATUS_OK;
}

/* ------------ messages */

static scl_status add_message(const scl_reading *file, const flat *f, arrow_message m,
                              arrow_contents *out, scl_error *error) {
  const size_t root = flat_root(f), table = flat_follow(f, flat_member(f, root, 2));
  const int64_t size = flat_number(f, flat_member(f, root, 3), 8, 0);
  m.kind = (arrow_kind)flat_number(f, flat_member(f, root, 1), 1, 0);
  m.body = m.head + m.head_size;
  m.body_size = (uint64_t)size;
  if (root == 0 || table == 0 || size < 0 || m.body_size > file->size - m.body)
    return scl_reading_refuse(file, error, "the message at byte %llu is cut off or damaged",
                              (unsigned long long)m.head);
  if (m.kind == ARROW_SCHEMA)
    return out->has_footer ? SCL_STATUS_OK : take_schema(file, f, table, out, error);
  if (m.kind == ARROW_DICTIONARY) {
    m.dictionary = flat_number(f, flat_member(f, table, 0), 8, 0);
    m.is_delta = flat_number(f, flat_member(f, table, 2), 1, 0) != 0;
  } else if (m.kind == ARROW_BATCH) {
    const int64_t rows = flat_number(f, flat_member(f, table, 0), 8, 0);
    if (rows < 0 || !scl_may_have_rows(file->size, (uint64_t)rows))
      return scl_reading_refuse(file, error, "a batch at byte %llu claims %lld rows",
                                (unsigned long long)m.head, (long long)rows);
    m.rows = (uint64_t)rows;
    out->n_batches++;
  }
  READ_TRY(scl_room_grow(file->host, &out->messages, (out->n_messages + 1) * sizeof m, error));
  ((arrow_message *)out->messages.memory)[out->n_messages++] = m;
  return SCL_STATUS_OK;
}

/* The message at *at, past which it goes; *ended at the end of the stream. */
static scl_status next_message(const scl_reading *file, uint64_t *at, scl_room *room,
                               arrow_contents *out, bool *ended, scl_error *error) {
  uint32_t size = 0;
  *ended = file->size - *at < 4;
  if (*ended) return SCL_STATUS_OK;
  READ_TRY(scl_reading_at(file, *at, &size, 4, "a message", error));
  *at += 4;
  if (size == UINT32_MAX) { /* since version 0.15 */
    READ_TRY(scl_reading_at(file, *at, &size, 4, "a message", error));
    *at += 4;
  }
  *ended = size == 0;
  if (*ended) return SCL_STATUS_OK;
  if (size > MOST_HEAD || size > file->size - *at)
    return scl_reading_refuse(file, error,
                              "a message of %u bytes should begin at byte %llu, and the file has "
                              "%llu: it is cut off or damaged",
                              size, (unsigned long long)*at, (unsigned long long)file->size);
  READ_TRY(scl_room_grow(file->host, room, size, error));
  READ_TRY(scl_reading_at(file, *at, room->memory, size, "a message", error));
  const flat f = {room->memory, size};
  const arrow_message m = {.head = *at, .head_size = size};
  READ_TRY(add_message(file, &f, m, out, error));
  const int64_t body = flat_number(&f, flat_member(&f, flat_root(&f), 3), 8, 0);
  *at += size + (uint64_t)body;
  return SCL_STATUS_OK;
}

/* The record batches in their order, which are the parts at which reading can begin. */
static scl_status list_batches(const scl_reading *file, arrow_contents *out, scl_error *error) {
  uint64_t all = 0;
  out->batches = scl_host_zeros(file->host, out->n_batches + 1, sizeof *out->batches);
  out->batch_rows = scl_host_zeros(file->host, out->n_batches + 1, sizeof *out->batch_rows);
  if (out->batches == NULL || out->batch_rows == NULL)
    return file->host->fail(error, SCL_STATUS_NO_MEMORY, "%s: out of memory", file->path);
  for (size_t i = 0, k = 0; i < out->n_messages; i++) {
    const arrow_message *m = arrow_message_at(out, i);
    if (m->kind != ARROW_BATCH) continue;
    out->batches[k] = i;
    out->batch_rows[k++] = m->rows;
    all += m->rows;
  }
  return scl_may_have_rows(file->size, all)
             ? SCL_STATUS_OK
             : scl_reading_refuse(file, error, "its batches claim too many rows");
}

/* The footer of a file, which has the schema: not all writers put it before the messages too. */
static scl_status read_footer(const scl_reading *file, scl_room *room, arrow_contents *out,
                              scl_error *error) {
  enum { TAIL = 10 }; /* the footer's size and the mark */
  uint32_t size;
  READ_TRY(scl_reading_at(file, file->size - TAIL, &size, 4, "the footer", error));
  if (size > file->size - TAIL || size > MOST_HEAD)
    return scl_reading_refuse(file, error, "its footer should have %u bytes, and the file has %llu",
                              size, (unsigned long long)file->size);
  READ_TRY(scl_room_grow(file->host, room, size, error));
  READ_TRY(scl_reading_at(file, file->size - TAIL - size, room->memory, size, "the footer", error));
  const flat f = {room->memory, size};
  out->has_footer = true;
  return take_schema(file, &f, flat_follow(&f, flat_member(&f, flat_root(&f), 1)), out, error);
}

/* A file is a stream between two marks, with a footer. */
scl_status arrow_read_contents(const scl_reading *file, arrow_contents *out, scl_error *error) {
  static const char mark[6] = {'A', 'R', 'R', 'O', 'W', '1'};
  enum { MARK = 6, PADDED = 8 };
  char first[MARK] = "", last[MARK] = "";
  uint64_t at = 0;
  scl_room room = {0};
  scl_status status = SCL_STATUS_OK;
  *out = (arrow_contents){0};
  if (file->size >= 2 * PADDED) {
    READ_TRY(scl_reading_at(file, 0, first, MARK, "the head", error));
    READ_TRY(scl_reading_at(file, file->size - MARK, last, MARK, "the end", error));
  }
  if (memcmp(first, mark, MARK) == 0) {
    if (memcmp(last, mark, MARK) != 0)
      return scl_reading_refuse(file, error,
                                "it is cut off: an Arrow file ends in ARROW1, and this does not");
    at = PADDED;
    status = read_footer(file, &room, out, error);
  }
  for (bool ended = false; status == SCL_STATUS_OK && !ended;)
    status = next_message(file, &at, &room, out, &ended, error);
  scl_room_release(file->host, &room);
  if (status != SCL_STATUS_OK) return status;
  if (out->columns == NULL) return scl_reading_refuse(file, error, "it has no schema");
  return list_batches(file, out, error);
}

void arrow_release_contents(const scl_host *host, arrow_contents *contents) {
  for (size_t j = 0; contents->columns != NULL && j < contents->n_columns; j++)
    host->release(contents->columns[j].name);
  host->release(contents->columns);
  host->release(contents->batches);
  host->release(contents->batch_rows);
  scl_room_release(host, &contents->messages);
}
