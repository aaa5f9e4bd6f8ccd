/* The footer: the columns of the table, and where their chunks lie. */
#include "parquet.h"
#include "shared/stored_numbers.h"

#include <limits.h>

enum { MOST_FOOTER = 1 << 28, TAIL = 8 };

/* ------------ elements of the schema */

typedef struct element {
  scl_cell_text name;
  int64_t type, width, repetition, children, converted, scale;
  int logical, unit; /* the set member of the unions; 0: none */
  int64_t is_signed;
} element;

/* A union, whose member is a struct: its number; the numbers of the members of that struct go
 * to the element. */
static void read_logical(thrift *t, element *e) {
  int16_t id = 0, member, inner;
  int type, of;
  while (thrift_field(t, &id, &type)) {
    e->logical = id;
    member = 0;
    if (type != THRIFT_STRUCT) {
      thrift_skip(t, type);
      continue;
    }
    while (thrift_field(t, &member, &of)) {
      inner = 0;
      if (of == THRIFT_STRUCT) { /* the unit of a time */
        while (thrift_field(t, &inner, &of)) {
          e->unit = inner;
          thrift_skip(t, of);
        }
      } else if (id == 5 && member == 1) {
        e->scale = thrift_integer(t, of);
      } else if (id == 10 && member == 2) {
        e->is_signed = thrift_integer(t, of);
      } else {
        thrift_skip(t, of);
      }
    }
  }
}

/* SchemaElement of parquet.thrift; members that are not needed are passed over. */
static element read_element(thrift *t) {
  element e = {.type = -1, .converted = -1, .is_signed = 1};
  int16_t id = 0;
  int type;
  while (thrift_field(t, &id, &type))
    switch (id) {
    case 1: /* type */
      e.type = thrift_integer(t, type);
      break;
    case 2: /* type_length */
      e.width = thrift_integer(t, type);
      break;
    case 3: /* repetition_type */
      e.repetition = thrift_integer(t, type);
      break;
    case 4: /* name */
      e.name = thrift_binary(t, type);
      break;
    case 5: /* num_children */
      e.children = thrift_integer(t, type);
      break;
    case 6: /* converted_type */
      e.converted = thrift_integer(t, type);
      break;
    case 7: /* scale */
      e.scale = thrift_integer(t, type);
      break;
    case 10: /* logicalType */
      if (type == THRIFT_STRUCT) {
        read_logical(t, &e);
        break;
      }
      /* fall through */
    default:
      thrift_skip(t, type);
    }
  return e;
}

/* The numbers of logical types and of the converted types before them (parquet.thrift). */
enum {
  LOGICAL_STRING = 1,
  LOGICAL_ENUM = 4,
  LOGICAL_DECIMAL = 5,
  LOGICAL_DATE = 6,
  LOGICAL_TIME = 7,
  LOGICAL_TIMESTAMP = 8,
  LOGICAL_INTEGER = 10,
  LOGICAL_JSON = 12,
  LOGICAL_BSON = 13,
  LOGICAL_UUID = 14,
  LOGICAL_FLOAT16 = 15
};

/* The logical type of a converted one. */
static void modernise(element *e) {
  static const int logical[] = {LOGICAL_STRING,
                                0,
                                0,
                                0,
                                LOGICAL_ENUM,
                                LOGICAL_DECIMAL,
                                LOGICAL_DATE,
                                LOGICAL_TIME,
                                LOGICAL_TIME,
                                LOGICAL_TIMESTAMP,
                                LOGICAL_TIMESTAMP,
                                LOGICAL_INTEGER,
                                LOGICAL_INTEGER,
                                LOGICAL_INTEGER,
                                LOGICAL_INTEGER,
                                0,
                                0,
                                0,
                                0,
                                LOGICAL_JSON,
                                LOGICAL_BSON};
  enum { TIME_MILLIS = 7, TIMESTAMP_MILLIS = 9, UINT_8 = 11, UINT_64 = 14, INTERVAL = 21 };
  if (e->logical != 0 || e->converted < 0) return;
  if (e->converted == INTERVAL) e->logical = LOGICAL_BSON; /* no number, no text */
  if ((size_t)e->converted >= sizeof logical / sizeof *logical) return;
  e->logical = logical[e->converted];
  e->unit = e->converted == TIME_MILLIS || e->converted == TIMESTAMP_MILLIS ? 1 : 2;
  if (e->converted >= UINT_8 && e->converted <= UINT_64) e->is_signed = 0;
}

/* What the values of a leaf mean, by its logical type; without one by its physical type alone. */
static void describe(const element *e, parquet_column *c) {
  static const int64_t units[] = {1000000, 1000, 1000000, 1000000000};
  const bool whole = e->type == PHYSICAL_INT32 || e->type == PHYSICAL_INT64;
  const bool has_unit = e->type != PHYSICAL_INT96 && e->unit >= 1 && e->unit <= 3;
  c->per_second = units[has_unit ? e->unit : 0];
  c->scale = (int)e->scale;
  c->meaning = e->type == PHYSICAL_FLOAT || e->type == PHYSICAL_DOUBLE ? AS_NUMBER
               : e->type == PHYSICAL_BYTES                             ? AS_TEXT
               : e->type == PHYSICAL_INT96                             ? AS_TIMESTAMP
                                                                       : AS_INTEGER;
  const bool decimal = e->logical == LOGICAL_DECIMAL &&
                       (whole || e->type == PHYSICAL_BYTES || e->type == PHYSICAL_FIXED);
  if (decimal) c->meaning = AS_DECIMAL;
  if (decimal && (e->scale < -300 || e->scale > 300)) c->refused = "a decimal with an odd scale";
  if (whole && e->logical == LOGICAL_DATE) c->meaning = AS_DATE;
  if (whole && e->logical == LOGICAL_TIME) c->meaning = AS_TIME;
  if (whole && e->logical == LOGICAL_TIMESTAMP) c->meaning = AS_TIMESTAMP;
  if (whole && e->logical == LOGICAL_INTEGER && !e->is_signed)
    c->meaning = e->type == PHYSICAL_INT32 ? AS_UNSIGNED_32 : AS_UNSIGNED_64;
  if (e->type == PHYSICAL_FIXED && e->logical == LOGICAL_FLOAT16 && e->width == 2)
    c->meaning = AS_HALF;
  else if (e->type == PHYSICAL_FIXED && !decimal)
    c->refused = "of fixed bytes, which are neither numbers nor texts";
  else if (e->type == PHYSICAL_FIXED && e->width > 16)
    c->refused = "a decimal of more than 38 digits";
  if (e->logical == LOGICAL_BSON) c->refused = "of bytes, which are neither numbers nor texts";
  if (e->type < 0 || e->type >= PHYSICAL_TYPES) c->refused = "of an unknown type";
}

/* The leaves below element *at, past which it goes. */
static size_t pass_over(const element *all, size_t count, size_t *at) {
  size_t leaves = 0;
  for (uint64_t left = 1; left > 0 && *at < count; (*at)++) {
    left += (uint64_t)all[*at].children - 1;
    leaves += all[*at].children == 0;
  }
  return leaves;
}

/* The children of the root are the columns of the table. One with children of its own is
 * nested: it keeps its name, for the sentence that refuses it, and the number of its leaves. */
static scl_status take_columns(const scl_reading *file, const element *all, size_t count,
                               parquet_footer *f, scl_error *error) {
  f->columns = scl_host_zeros(file->host, count, sizeof *f->columns);
  if (f->columns == NULL)
    return file->host->fail(error, SCL_STATUS_NO_MEMORY, "%s: out of memory", file->path);
  for (size_t at = 1; at < count; f->n_columns++) {
    parquet_column *c = &f->columns[f->n_columns];
    element e = all[at];
    c->name = scl_host_copy_text(file->host, e.name.bytes, e.name.length);
    if (c->name == NULL)
      return file->host->fail(error, SCL_STATUS_NO_MEMORY, "%s: out of memory", file->path);
    c->leaf = f->leaves;
    c->physical = (int)e.type;
    c->width = e.width > 0 && e.width <= INT_MAX ? (size_t)e.width : 0;
    c->optional = e.repetition == 1;
    modernise(&e);
    if (e.children > 0 || e.repetition == 2)
      c->refused = "nested (a list, a map or a struct)";
    else
      describe(&e, c);
    if (c->physical == PHYSICAL_INT96) c->width = 12;
    f->leaves += pass_over(all, count, &at);
  }
  return f->n_columns > 0 ? SCL_STATUS_OK
                          : scl_reading_refuse(file, error, "the table has no columns");
}

/* The tree of the schema, depth first. An element has a byte at least, so that there are not
 * more of them than bytes in the footer. */
static scl_status read_schema(const scl_reading *file, thrift *t, int type, parquet_footer *f,
                              scl_error *error) {
  int of;
  const size_t count = thrift_list(t, type, &of);
  if (f->columns != NULL || of != THRIFT_STRUCT || count == 0) {
    t->bad = true;
    return SCL_STATUS_OK;
  }
  element *all = scl_host_zeros(file->host, count, sizeof *all);
  if (all == NULL)
    return file->host->fail(error, SCL_STATUS_NO_MEMORY, "%s: out of memory", file->path);
  for (size_t i = 0; i < count && !t->bad; i++) {
    all[i] = read_element(t);
    if (all[i].children < 0 || all[i].children > (int64_t)count) t->bad = true;
  }
  const scl_status status = t->bad ? SCL_STATUS_OK : take_columns(file, all, count, f, error);
  file->host->release(all);
  return status;
}

/* ------------ row groups */

static parquet_chunk read_chunk(thrift *t, const scl_reading *file) {
  parquet_chunk chunk = {.codec = -1};
  int64_t packed = -1, data = -1, dictionary = 0;
  int16_t id = 0, member;
  int type, of;
  while (thrift_field(t, &id, &type)) {
    member = 0;
    if (id != 3 || type != THRIFT_STRUCT) {
      thrift_skip(t, type);
      continue;
    }
    while (thrift_field(t, &member, &of))
      switch (member) {
      case 4: /* codec */
        chunk.codec = (int)thrift_integer(t, of);
        break;
      case 7: /* total_compressed_size */
        packed = thrift_integer(t, of);
        break;
      case 9: /* data_page_offset */
        data = thrift_integer(t, of);
        break;
      case 11: /* dictionary_page_offset */
        dictionary = thrift_integer(t, of);
        break;
      default:
        thrift_skip(t, of);
      }
  }
  const int64_t start = dictionary > 0 && dictionary < data ? dictionary : data;
  if (start < 0 || packed < 0 || (uint64_t)start > file->size ||
      (uint64_t)packed > file->size - (uint64_t)start)
    t->bad = true;
  chunk.start = (uint64_t)start;
  chunk.end = (uint64_t)start + (uint64_t)packed;
  return chunk;
}

/* RowGroup: a chunk for each leaf of the schema, and the number of rows. */
static void read_group(thrift *t, const scl_reading *file, parquet_footer *f, size_t group) {
  int16_t id = 0;
  int type, of;
  size_t chunks = 0;
  int64_t rows = -1;
  while (thrift_field(t, &id, &type)) {
    if (id == 1) {
      chunks = thrift_list(t, type, &of);
      if (chunks != f->leaves || of != THRIFT_STRUCT) t->bad = true;
      for (size_t k = 0; k < chunks && !t->bad; k++)
        f->chunks[group * f->leaves + k] = read_chunk(t, file);
    } else if (id == 3) {
      rows = thrift_integer(t, type);
    } else {
      thrift_skip(t, type);
    }
  }
  if (chunks != f->leaves || rows < 0 || rows > INT64_MAX / 64) t->bad = true;
  f->group_rows[group] = rows < 0 ? 0 : (uint64_t)rows;
}

/* A row group has a byte for each chunk at least. */
static scl_status read_groups(const scl_reading *file, thrift *t, int type, parquet_footer *f,
                              scl_error *error) {
  int of;
  const size_t count = thrift_list(t, type, &of);
  if (f->columns == NULL || f->group_rows != NULL || (count > 0 && of != THRIFT_STRUCT) ||
      count > (size_t)(t->end - t->at) / (f->leaves + 1)) {
    t->bad = true;
    return SCL_STATUS_OK;
  }
  f->group_rows = scl_host_zeros(file->host, count + 1, sizeof *f->group_rows);
  f->chunks = scl_host_zeros(file->host, count * f->leaves + 1, sizeof *f->chunks);
  if (f->group_rows == NULL || f->chunks == NULL)
    return file->host->fail(error, SCL_STATUS_NO_MEMORY, "%s: out of memory", file->path);
  f->groups = count;
  for (size_t k = 0; k < count && !t->bad; k++)
    read_group(t, file, f, k);
  return SCL_STATUS_OK;
}

/* ------------ the footer */

static scl_status read_all(const scl_reading *file, thrift *t, parquet_footer *f,
                           scl_error *error) {
  int16_t id = 0;
  int type;
  while (thrift_field(t, &id, &type))
    if (id == 2)
      READ_TRY(read_schema(file, t, type, f, error));
    else if (id == 4)
      READ_TRY(read_groups(file, t, type, f, error));
    else
      thrift_skip(t, type);
  uint64_t rows = 0;
  for (size_t k = 0; k < f->groups; k++)
    rows = rows + f->group_rows[k] < rows ? UINT64_MAX : rows + f->group_rows[k];
  if (!t->bad && f->columns != NULL && f->group_rows != NULL && scl_may_have_rows(file->size, rows))
    return SCL_STATUS_OK;
  return scl_reading_refuse(file, error, "its footer is damaged");
}

/* The last 8 bytes are the size of the footer and PAR1. */
scl_status parquet_read_footer(const scl_reading *file, parquet_footer *footer, scl_error *error) {
  uint8_t tail[TAIL] = {0};
  *footer = (parquet_footer){0};
  if (file->size >= TAIL + 4)
    READ_TRY(scl_reading_at(file, file->size - TAIL, tail, TAIL, "the footer", error));
  if (memcmp(tail + 4, "PARE", 4) == 0)
    return scl_reading_refuse(file, error, "it is encrypted, which is not read");
  if (memcmp(tail + 4, "PAR1", 4) != 0)
    return scl_reading_refuse(file, error,
                              "it is cut off: a Parquet file ends in PAR1, and this does not");
  const uint64_t size =
      tail[0] | (uint64_t)tail[1] << 8 | (uint64_t)tail[2] << 16 | (uint64_t)tail[3] << 24;
  if (size > file->size - TAIL - 4 || size > MOST_FOOTER)
    return scl_reading_refuse(file, error,
                              "its footer should have %llu bytes, and the file has %llu",
                              (unsigned long long)size, (unsigned long long)file->size);
  uint8_t *bytes = file->host->allocate((size_t)size + 1);
  if (bytes == NULL)
    return file->host->fail(error, SCL_STATUS_NO_MEMORY, "%s: out of memory", file->path);
  scl_status status =
      scl_reading_at(file, file->size - TAIL - size, bytes, (size_t)size, "the footer", error);
  thrift t = {.at = bytes, .end = bytes + size};
  if (status == SCL_STATUS_OK) status = read_all(file, &t, footer, error);
  file->host->release(bytes);
  return status;
}

void parquet_release_footer(const scl_host *host, parquet_footer *footer) {
  for (size_t j = 0; footer->columns != NULL && j < footer->n_columns; j++)
    host->release(footer->columns[j].name);
  host->release(footer->columns);
  host->release(footer->group_rows);
  host->release(footer->chunks);
}
