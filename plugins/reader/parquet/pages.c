/* Pages: their heads, their levels, and the blocks of rows that are made of them. */
#include "pages.h"

#include <limits.h>
#include <stdarg.h>
#include <stdio.h>

enum { DATA_PAGE = 0, INDEX_PAGE, DICTIONARY_PAGE, DATA_PAGE_V2 };

scl_status pages_refuse(const pages *p, scl_error *error, const char *format, ...) {
  char sentence[600];
  va_list list;
  va_start(list, format);
  (void)vsnprintf(sentence, sizeof sentence, format, list);
  va_end(list);
  return scl_reading_refuse(p->file, error, "column '%s', row %llu: %s", p->column->name,
                            (unsigned long long)p->row + 1, sentence);
}

void pages_begin(pages *p, parquet_chunk chunk, uint64_t rows, uint64_t first_row) {
  p->chunk = chunk;
  p->at = chunk.start;
  p->rows_left = rows;
  p->row = first_row;
  p->in_page = 0;
  p->n_dictionary = 0;
}

void pages_release(pages *p) {
  scl_room *const rooms[] = {&p->packed,  &p->page,    &p->dictionary_page, &p->dictionary,
                             &p->missing, &p->indices, &p->integers,        &p->numbers,
                             &p->texts,   &p->made};
  for (size_t i = 0; i < sizeof rooms / sizeof *rooms; i++)
    if (p->file != NULL) scl_room_release(p->file->host, rooms[i]);
}

/* ------------ heads */

typedef struct head {
  int64_t type, unpacked, packed, values, encoding, level_encoding, level_bytes, repetition_bytes;
  bool compressed;
} head;

/* DataPageHeader (5), DictionaryPageHeader (7) or DataPageHeaderV2 (8), whose members have
 * different numbers. */
static void read_inner(thrift *t, head *h, int16_t of) {
  int16_t id = 0;
  int type;
  while (thrift_field(t, &id, &type)) {
    const int64_t value = type <= THRIFT_I64 ? thrift_integer(t, type) : (thrift_skip(t, type), 0);
    if (id == 1) h->values = value;
    if ((of == 5 && id == 2) || (of == 7 && id == 2) || (of == 8 && id == 4)) h->encoding = value;
    if (of == 5 && id == 3) h->level_encoding = value;
    if (of == 8 && id == 5) h->level_bytes = value;
    if (of == 8 && id == 6) h->repetition_bytes = value;
    if (of == 8 && id == 7) h->compressed = value != 0;
  }
}

/* The head at p->at, whose size is not known before it is read. */
static scl_status read_head(pages *p, head *h, scl_error *error) {
  thrift t = {.bad = true};
  for (uint64_t room = 256; t.bad && room <= 1u << 24; room *= 16) {
    const uint64_t left = p->chunk.end - p->at, size = left < room ? left : room;
    READ_TRY(scl_room_grow(p->file->host, &p->packed, (size_t)size, error));
    READ_TRY(
        scl_reading_at(p->file, p->at, p->packed.memory, (size_t)size, "a page's head", error));
    const uint8_t *from = p->packed.memory;
    t = (thrift){.at = from, .end = from + size};
    *h = (head){.type = -1, .unpacked = -1, .packed = -1, .values = -1, .compressed = true};
    int16_t id = 0;
    int type;
    while (thrift_field(&t, &id, &type))
      if (id == 1)
        h->type = thrift_integer(&t, type);
      else if (id == 2)
        h->unpacked = thrift_integer(&t, type);
      else if (id == 3)
        h->packed = thrift_integer(&t, type);
      else if ((id == 5 || id == 7 || id == 8) && type == THRIFT_STRUCT)
        read_inner(&t, h, id);
      else
        thrift_skip(&t, type);
    if (size == left && t.bad) break;
    if (!t.bad) p->at += (uint64_t)(t.at - from);
  }
  if (t.bad || h->packed < 0 || h->unpacked < 0 || (uint64_t)h->packed > p->chunk.end - p->at ||
      h->values > INT_MAX)
    return pages_refuse(p, error, "the head of a page is damaged");
  return SCL_STATUS_OK;
}

/* ------------ pages */

static scl_status codec_of(const pages *p, scl_codec *codec, scl_error *error) {
  static const struct {
    const char *name;
    int codec;
  } known[] = {{"none", SCL_CODEC_NONE}, {"snappy", SCL_CODEC_SNAPPY},
               {"gzip", SCL_CODEC_GZIP}, {"LZO", -1},
               {"brotli", -1},           {"lz4", SCL_CODEC_LZ4_HADOOP},
               {"zstd", SCL_CODEC_ZSTD}, {"lz4", SCL_CODEC_LZ4_RAW}};
  const int place = p->chunk.codec;
  const bool there = place >= 0 && (size_t)place < sizeof known / sizeof *known;
  if (!there || known[place].codec < 0)
    return pages_refuse(p, error,
                        "it is compressed by %s (codec %d), which is not read: snappy, "
                        "gzip, zstd and lz4 are",
                        there ? known[place].name : "an unknown codec", place);
  *codec = (scl_codec)known[place].codec;
  return SCL_STATUS_OK;
}

/* The page's bytes to `room`; the first `plain` of them are never compressed. */
static scl_status unpack(pages *p, const head *h, size_t plain, scl_room *room, scl_error *error) {
  const size_t packed = (size_t)h->packed, unpacked = (size_t)h->unpacked;
  scl_codec codec = SCL_CODEC_NONE;
  READ_TRY(codec_of(p, &codec, error));
  if (!h->compressed) codec = SCL_CODEC_NONE;
  if (plain > packed || plain > unpacked || !scl_may_unpack(packed, unpacked))
    return pages_refuse(p, error, "the sizes of a page cannot be");
  READ_TRY(scl_room_grow(p->file->host, &p->packed, packed, error));
  READ_TRY(scl_room_grow(p->file->host, room, unpacked, error));
  READ_TRY(scl_reading_at(p->file, p->at, p->packed.memory, packed, "a page", error));
  p->at += packed;
  if (plain > 0) memcpy(room->memory, p->packed.memory, plain);
  char what[160];
  (void)snprintf(what, sizeof what, "column '%.100s', row %llu", p->column->name,
                 (unsigned long long)p->row + 1);
  if (unpacked == plain) return SCL_STATUS_OK; /* no values: nothing that could be unpacked */
  return scl_unpack(p->file, codec, (const uint8_t *)p->packed.memory + plain, packed - plain,
                    (uint8_t *)room->memory + plain, unpacked - plain, what, error);
}

/* The levels of a data page, and its values behind them. */
static scl_status begin_values(pages *p, const head *h, scl_error *error) {
  const uint8_t *at = p->page.memory, *end = at + h->unpacked;
  p->has_levels = p->column->optional;
  if (h->type == DATA_PAGE_V2) {
    at += h->repetition_bytes;
    p->levels = (runs){.at = at, .end = at + h->level_bytes, .width = 1};
    at += h->level_bytes;
  } else if (p->has_levels) {
    const uint64_t size =
        end - at < 4 ? UINT64_MAX
                     : at[0] | (uint64_t)at[1] << 8 | (uint64_t)at[2] << 16 | (uint64_t)at[3] << 24;
    if (h->level_encoding != ENCODING_RLE || end - at < 4 || size > (uint64_t)(end - at) - 4)
      return pages_refuse(p, error,
                          "the levels of a page are damaged, or have an encoding (%lld) "
                          "that is not read",
                          (long long)h->level_encoding);
    p->levels = (runs){.at = at + 4, .end = at + 4 + size, .width = 1};
    at += 4 + size;
  }
  parquet_values *v = &p->values;
  *v = (parquet_values){.encoding = (int)h->encoding, .at = at, .end = end};
  if (v->encoding == ENCODING_PLAIN_DICTIONARY) v->encoding = ENCODING_DICTIONARY;
  bool fine = true;
  if (v->encoding == ENCODING_DICTIONARY) {
    fine = at < end || h->values == 0;
    v->indices =
        (runs){.at = fine && at < end ? at + 1 : end, .end = end, .width = at < end ? *at : 0};
  } else if (v->encoding == ENCODING_RLE) {
    fine = end - at >= 4;
    if (fine) v->indices = (runs){.at = at + 4, .end = end, .width = 1};
  } else if (v->encoding == ENCODING_DELTA || v->encoding == ENCODING_DELTA_LENGTHS) {
    fine = deltas_begin(&v->lengths, at, end);
    if (v->encoding == ENCODING_DELTA_LENGTHS) fine = fine && deltas_end(v->lengths, &v->at);
  } else if (v->encoding == ENCODING_DELTA_TEXTS) {
    const uint8_t *behind;
    fine = deltas_begin(&v->prefixes, at, end) && deltas_end(v->prefixes, &behind) &&
           deltas_begin(&v->lengths, behind, end) && deltas_end(v->lengths, &v->at);
    p->used = 0;
  }
  return fine ? SCL_STATUS_OK : pages_refuse(p, error, "the values of a page are damaged");
}

/* A page of version 2 has its levels before the compressed bytes, and says how many there are. */
static scl_status read_data_page(pages *p, const head *h, scl_error *error) {
  const bool v2 = h->type == DATA_PAGE_V2;
  size_t plain = 0;
  if (h->values < 0 || (uint64_t)h->values > p->rows_left)
    return pages_refuse(p, error, "a page has %lld values, and its row group %llu rows more",
                        (long long)h->values, (unsigned long long)p->rows_left);
  if (v2 && (h->level_bytes < 0 || h->repetition_bytes < 0 || h->level_bytes > h->unpacked ||
             h->repetition_bytes > h->unpacked - h->level_bytes))
    return pages_refuse(p, error, "the head of a page is damaged");
  if (v2) plain = (size_t)(h->level_bytes + h->repetition_bytes);
  READ_TRY(unpack(p, h, plain, &p->page, error));
  READ_TRY(begin_values(p, h, error));
  p->in_page = (size_t)h->values;
  p->rows_left -= (uint64_t)h->values;
  return SCL_STATUS_OK;
}

/* Pages without rows, indexes and the dictionary are passed over on the way to the next rows. */
scl_status pages_fill(pages *p, scl_error *error) {
  while (p->in_page == 0) {
    head h;
    if (p->at >= p->chunk.end || p->rows_left == 0)
      return pages_refuse(p, error, "its pages end before the rows of the row group");
    READ_TRY(read_head(p, &h, error));
    if (h.type == DATA_PAGE || h.type == DATA_PAGE_V2) {
      READ_TRY(read_data_page(p, &h, error));
    } else if (h.type == DICTIONARY_PAGE) {
      READ_TRY(unpack(p, &h, 0, &p->dictionary_page, error));
      const uint8_t *at = p->dictionary_page.memory;
      if (h.values < 0 || h.values > 8 * (h.unpacked + 1))
        return pages_refuse(p, error, "the dictionary is damaged");
      READ_TRY(pages_read_dictionary(p, at, at + h.unpacked, (size_t)h.values, error));
    } else {
      p->at += (uint64_t)h.packed;
    }
  }
  return SCL_STATUS_OK;
}

/* ------------ blocks */

/* Which rows have a value: `missing` of each, and how many there are. */
static scl_status read_levels(pages *p, size_t count, size_t *there, scl_error *error) {
  const scl_host *host = p->file->host;
  *there = count;
  p->cells.missing = NULL;
  READ_TRY(scl_room_grow(host, &p->indices, BLOCK_ROWS * sizeof(uint32_t), error));
  if (!p->has_levels) return SCL_STATUS_OK;
  READ_TRY(scl_room_grow(host, &p->missing, BLOCK_ROWS, error));
  uint32_t *levels = p->indices.memory;
  uint8_t *missing = p->missing.memory;
  if (!runs_read(&p->levels, levels, count))
    return pages_refuse(p, error, "the levels of a page end early");
  *there = 0;
  for (size_t i = 0; i < count; i++) {
    missing[i] = levels[i] == 0;
    *there += levels[i] != 0;
  }
  if (*there < count) p->cells.missing = missing;
  return SCL_STATUS_OK;
}

/* Moves the values that are there, which stand one behind the other, to the rows that have
 * them. */
static void spread(pages *p, size_t count, size_t there) {
  const uint8_t *missing = p->missing.memory;
  double *numbers = (double *)(uintptr_t)p->cells.numbers;
  int64_t *integers = (int64_t *)(uintptr_t)p->cells.integers;
  uint32_t *codes = (uint32_t *)(uintptr_t)p->cells.codes;
  scl_cell_text *texts = codes == NULL ? p->texts.memory : NULL;
  if (p->cells.texts == NULL) texts = NULL;
  for (size_t i = count; i-- > 0 && there <= i;) {
    const size_t from = missing[i] ? 0 : --there;
    if (numbers != NULL) numbers[i] = missing[i] ? 0 : numbers[from];
    if (integers != NULL) integers[i] = missing[i] ? 0 : integers[from];
    if (codes != NULL) codes[i] = missing[i] ? 0 : codes[from];
    if (texts != NULL) texts[i] = missing[i] ? (scl_cell_text){"", 0} : texts[from];
  }
}

/* Values that are there are read one behind the other, and moved to their rows. */
scl_status pages_read(pages *p, size_t count, scl_error *error) {
  size_t there;
  p->cells = (scl_column_cells){.per_second = p->column->per_second};
  READ_TRY(read_levels(p, count, &there, error));
  READ_TRY(pages_read_values(p, there, error));
  if (there < count) spread(p, count, there);
  p->in_page -= count;
  p->row += count;
  return SCL_STATUS_OK;
}
