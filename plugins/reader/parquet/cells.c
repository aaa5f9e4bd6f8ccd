/* Values of pages as cells: what is stored, and what it means. */
#include "pages.h"
#include "shared/stored_numbers.h"

enum { MOST_MADE = 1 << 28 }; /* bytes of the texts of a block that are made */

/* What the stored values are read to. */
pages_array pages_array_of(const parquet_column *c) {
  if (c->physical == PHYSICAL_FLOAT || c->physical == PHYSICAL_DOUBLE) return NUMBERS;
  return c->physical >= PHYSICAL_BYTES || c->physical == PHYSICAL_INT96 ? TEXTS : INTEGERS;
}

/* Bytes of a stored value; 0: they differ. */
static size_t width_of(const parquet_column *c) {
  static const size_t widths[PHYSICAL_TYPES] = {0, 4, 8, 12, 4, 8, 0, 0};
  return c->physical == PHYSICAL_FIXED ? c->width : widths[c->physical];
}

/* ------------ plain values */

static uint32_t load_32(const uint8_t *from) {
  uint32_t value;
  memcpy(&value, from, sizeof value);
  return value;
}

/* Value i of bytes; `apart` bytes from one byte of a value to the next. */
static void store_value(const parquet_column *c, const uint8_t *from, size_t apart, void *to,
                        size_t i) {
  uint8_t bytes[8] = {0};
  const size_t width = width_of(c);
  for (size_t k = 0; k < width && k < sizeof bytes; k++)
    bytes[k] = from[k * apart];
  int64_t whole;
  memcpy(&whole, bytes, sizeof whole);
  if (c->physical == PHYSICAL_INT32) ((int64_t *)to)[i] = (int32_t)load_32(bytes);
  if (c->physical == PHYSICAL_INT64) ((int64_t *)to)[i] = whole;
  if (c->physical == PHYSICAL_DOUBLE) memcpy((double *)to + i, bytes, sizeof(double));
  if (c->physical == PHYSICAL_FLOAT) {
    float single;
    memcpy(&single, bytes, sizeof single);
    ((double *)to)[i] = (double)single;
  }
}

/* A bit for each, the least significant of a byte first; the page is read on from v->bit. */
static bool read_booleans(parquet_values *v, int64_t *to, size_t count) {
  const size_t bytes = (size_t)(v->end - v->at);
  if (v->bit + count > 8 * (uint64_t)bytes) return false;
  for (size_t i = 0; i < count; i++, v->bit++)
    to[i] = v->at[v->bit >> 3] >> (v->bit & 7) & 1;
  return true;
}

/* Texts of their lengths in 4 bytes, or of one width. */
static bool read_plain_texts(parquet_values *v, size_t width, scl_cell_text *to, size_t count) {
  for (size_t i = 0; i < count; i++) {
    size_t length = width;
    if (width == 0) {
      if (v->end - v->at < 4) return false;
      length = load_32(v->at);
      v->at += 4;
    }
    if (length > (size_t)(v->end - v->at)) return false;
    to[i] = (scl_cell_text){(const char *)v->at, length};
    v->at += length;
  }
  return true;
}

/* Values of their own width one behind the other. Eight bytes are copied as they are; others
 * become the 8 bytes of a cell. */
static bool read_plain(const parquet_column *c, parquet_values *v, void *to, size_t count) {
  const size_t width = width_of(c);
  if (c->physical == PHYSICAL_BOOLEAN) return read_booleans(v, to, count);
  if (pages_array_of(c) == TEXTS)
    return (width > 0 || c->physical == PHYSICAL_BYTES) && read_plain_texts(v, width, to, count);
  if (count > (size_t)(v->end - v->at) / width) return false;
  if (c->physical == PHYSICAL_DOUBLE || c->physical == PHYSICAL_INT64)
    memcpy(to, v->at, count * width);
  else
    for (size_t i = 0; i < count; i++)
      store_value(c, v->at + i * width, 1, to, i);
  v->at += count * width;
  return true;
}

/* ------------ other encodings */

/* Bytes for `more` of `made`, at p->used; what was made keeps its place. */
static scl_status make_room(pages *p, size_t more, scl_error *error) {
  if (more > MOST_MADE - p->used)
    return pages_refuse(p, error, "texts of more than %d bytes in %d rows", MOST_MADE, BLOCK_ROWS);
  return scl_room_grow(p->file->host, &p->made, p->used + more, error);
}

/* BYTE_STREAM_SPLIT: all first bytes, all second bytes, and so on. */
static scl_status read_split(pages *p, void *to, size_t count, bool *fine, scl_error *error) {
  const parquet_column *c = p->column;
  parquet_values *v = &p->values;
  const size_t width = width_of(c), all = width == 0 ? 0 : (size_t)(v->end - v->at) / width;
  *fine = v->read + count <= all;
  if (!*fine) return SCL_STATUS_OK;
  if (pages_array_of(c) == TEXTS) {
    p->used = 0;
    READ_TRY(make_room(p, count * width, error));
    char *made = p->made.memory;
    for (size_t i = 0; i < count; i++) {
      for (size_t k = 0; k < width; k++)
        made[i * width + k] = (char)v->at[k * all + v->read + i];
      ((scl_cell_text *)to)[i] = (scl_cell_text){made + i * width, width};
    }
  } else {
    for (size_t i = 0; i < count; i++)
      store_value(c, v->at + v->read + i, all, to, i);
  }
  v->read += count;
  return SCL_STATUS_OK;
}

/* DELTA_LENGTH_BYTE_ARRAY, and DELTA_BYTE_ARRAY, whose texts begin as those before them do:
 * the last text of the block before is kept at the beginning of `made`. */
static scl_status read_delta_texts(pages *p, scl_cell_text *to, size_t count, bool *fine,
                                   scl_error *error) {
  parquet_values *v = &p->values;
  const bool prefixed = v->encoding == ENCODING_DELTA_TEXTS;
  const size_t before = p->used, width = width_of(p->column);
  size_t last = 0, length = before; /* of the text before */
  *fine = false;
  for (size_t i = 0; i < count; i++) {
    int64_t rest, prefix = 0;
    if (!deltas_read(&v->lengths, &rest, 1) || rest < 0 || rest > v->end - v->at ||
        (prefixed &&
         (!deltas_read(&v->prefixes, &prefix, 1) || prefix < 0 || (uint64_t)prefix > length)) ||
        (width > 0 && (size_t)(prefix + rest) != width))
      return SCL_STATUS_OK;
    to[i] = (scl_cell_text){(const char *)v->at, (size_t)rest};
    if (prefixed) {
      READ_TRY(make_room(p, (size_t)(prefix + rest), error));
      char *made = p->made.memory;
      memcpy(made + p->used, made + last, (size_t)prefix);
      memcpy(made + p->used + prefix, v->at, (size_t)rest);
      last = p->used;
      length = (size_t)(prefix + rest);
      to[i] = (scl_cell_text){NULL, length}; /* its place is known once all are made */
      p->used += length;
    }
    v->at += rest;
  }
  *fine = true;
  if (!prefixed || count == 0) return SCL_STATUS_OK;
  const char *at = (const char *)p->made.memory + before;
  for (size_t i = 0; i < count; at += to[i].length, i++)
    to[i].bytes = at;
  return SCL_STATUS_OK;
}

/* The last text of a block to the beginning of `made`, before the next block is read. */
static void keep_last(pages *p) {
  const parquet_values *v = &p->values;
  if (v->encoding != ENCODING_DELTA_TEXTS) return;
  if (v->read > 0) memmove(p->made.memory, (char *)p->made.memory + p->used - v->read, v->read);
  p->used = v->read;
}

/* Places in the dictionary, to `indices`. */
static bool read_indices(pages *p, size_t count) {
  uint32_t *indices = p->indices.memory;
  if (!runs_read(&p->values.indices, indices, count)) return false;
  for (size_t i = 0; i < count; i++)
    if (indices[i] >= p->n_dictionary) return false;
  return true;
}

/* The values of the dictionary at p->indices, which were checked. */
static void look_up(const pages *p, pages_array array, void *to, size_t count) {
  const uint32_t *indices = p->indices.memory;
  for (size_t i = 0; i < count; i++)
    if (array == INTEGERS)
      ((int64_t *)to)[i] = ((const int64_t *)p->dictionary.memory)[indices[i]];
    else if (array == NUMBERS)
      ((double *)to)[i] = ((const double *)p->dictionary.memory)[indices[i]];
    else
      ((scl_cell_text *)to)[i] = ((const scl_cell_text *)p->dictionary.memory)[indices[i]];
}

/* Values as they are stored, to `to`. *fine = false: the page ends early, or an encoding does
 * not go with the type. */
static scl_status read_stored(pages *p, pages_array array, void *to, size_t count, bool *fine,
                              scl_error *error) {
  parquet_values *v = &p->values;
  switch (v->encoding) {
  case ENCODING_PLAIN:
    *fine = read_plain(p->column, v, to, count);
    return SCL_STATUS_OK;
  case ENCODING_DICTIONARY:
    *fine = read_indices(p, count);
    if (*fine) look_up(p, array, to, count);
    return SCL_STATUS_OK;
  case ENCODING_RLE:
    *fine =
        p->column->physical == PHYSICAL_BOOLEAN && runs_read(&v->indices, p->indices.memory, count);
    for (size_t i = 0; *fine && i < count; i++)
      ((int64_t *)to)[i] = ((const uint32_t *)p->indices.memory)[i];
    return SCL_STATUS_OK;
  case ENCODING_DELTA:
    *fine = array == INTEGERS && deltas_read(&v->lengths, to, count);
    for (size_t i = 0; *fine && p->column->physical == PHYSICAL_INT32 && i < count; i++)
      ((int64_t *)to)[i] = (int32_t)((int64_t *)to)[i];
    return SCL_STATUS_OK;
  case ENCODING_DELTA_LENGTHS:
  case ENCODING_DELTA_TEXTS:
    *fine = array == TEXTS;
    keep_last(p);
    if (*fine) READ_TRY(read_delta_texts(p, to, count, fine, error));
    if (*fine && count > 0) v->read = ((scl_cell_text *)to)[count - 1].length;
    return SCL_STATUS_OK;
  case ENCODING_SPLIT:
    return read_split(p, to, count, fine, error);
  default:
    return pages_refuse(p, error, "its values have the encoding %d, which is not read",
                        v->encoding);
  }
}

/* ------------ what values mean */

/* A number in two's complement, the most significant byte first, over a power of ten. */
static double decimal_of(scl_cell_text text, int scale) {
  scl_wide value = text.length > 0 && (text.bytes[0] & 0x80) ? -1 : 0;
  for (size_t k = 0; k < text.length; k++)
    value = (scl_wide)((scl_wide_bits)value << 8 | (uint8_t)text.bytes[k]);
  return scl_decimal_number(value, scale);
}

/* Julian days, and nanoseconds before them, as Impala wrote times: microseconds since 1970. */
static int64_t moment_of(const char *bytes) {
  enum { EPOCH = 2440588, DAY = 86400 };
  int64_t nanoseconds;
  memcpy(&nanoseconds, bytes, sizeof nanoseconds);
  const int64_t days = (int32_t)load_32((const uint8_t *)bytes + 8) - (int64_t)EPOCH;
  /* days of a damaged file may be any: the sum wraps around, and is no date of our years */
  return (int64_t)((uint64_t)days * DAY * 1000000 + (uint64_t)(nanoseconds / 1000));
}

/* Numbers of stored whole numbers or texts. */
static double number_of(const parquet_column *c, const int64_t *integers,
                        const scl_cell_text *texts, size_t i) {
  if (c->meaning == AS_HALF) {
    const uint8_t *half = (const uint8_t *)texts[i].bytes;
    return scl_half_number(half[0] | (unsigned)half[1] << 8);
  }
  if (c->meaning == AS_UNSIGNED_64) return (double)(uint64_t)integers[i];
  if (c->meaning == AS_TIME) return (double)integers[i] / (double)c->per_second;
  return texts != NULL ? decimal_of(texts[i], c->scale) : scl_decimal_number(integers[i], c->scale);
}

/* What is in the rooms becomes the cells of the column: as it is, or as numbers of it. */
static scl_status give_meaning(pages *p, pages_array array, size_t count, scl_error *error) {
  const parquet_column *c = p->column;
  int64_t *integers = array == INTEGERS ? p->integers.memory : NULL;
  const scl_cell_text *texts = array == TEXTS ? p->texts.memory : NULL;
  scl_column_cells *cells = &p->cells;
  if (c->meaning == AS_TEXT) {
    cells->texts = texts;
  } else if (c->meaning == AS_NUMBER) {
    cells->numbers = p->numbers.memory;
  } else if (c->physical == PHYSICAL_INT96) {
    READ_TRY(scl_room_grow(p->file->host, &p->integers, BLOCK_ROWS * sizeof *integers, error));
    for (size_t i = 0; i < count; i++)
      ((int64_t *)p->integers.memory)[i] = moment_of(texts[i].bytes);
    cells->integers = p->integers.memory;
  } else if (c->meaning == AS_INTEGER || c->meaning == AS_DATE || c->meaning == AS_TIMESTAMP ||
             c->meaning == AS_UNSIGNED_32) {
    for (size_t i = 0; c->meaning == AS_UNSIGNED_32 && i < count; i++)
      integers[i] = (uint32_t)integers[i];
    cells->integers = integers;
  } else {
    READ_TRY(scl_room_grow(p->file->host, &p->numbers, BLOCK_ROWS * sizeof(double), error));
    for (size_t i = 0; i < count; i++) {
      if (texts != NULL && c->meaning == AS_DECIMAL && texts[i].length > 16)
        return pages_refuse(p, error, "a decimal of more than 38 digits");
      ((double *)p->numbers.memory)[i] = number_of(c, integers, texts, i);
    }
    cells->numbers = p->numbers.memory;
  }
  return SCL_STATUS_OK;
}

/* Where stored values go. */
static scl_room *room_of(pages *p, pages_array array) {
  return array == INTEGERS ? &p->integers : array == NUMBERS ? &p->numbers : &p->texts;
}

static size_t size_of(pages_array array) {
  return array == TEXTS ? sizeof(scl_cell_text) : sizeof(int64_t);
}

scl_status pages_read_values(pages *p, size_t count, scl_error *error) {
  const pages_array array = pages_array_of(p->column);
  scl_room *room = room_of(p, array);
  bool fine = false;
  if (p->column->meaning == AS_TEXT && p->values.encoding == ENCODING_DICTIONARY) {
    if (!read_indices(p, count))
      return pages_refuse(p, error, "a page's places in the dictionary are damaged");
    p->cells.texts = p->dictionary.memory;
    p->cells.codes = p->indices.memory;
    p->cells.n_texts = p->n_dictionary;
    return SCL_STATUS_OK;
  }
  READ_TRY(scl_room_grow(p->file->host, room, BLOCK_ROWS * size_of(array), error));
  READ_TRY(read_stored(p, array, room->memory, count, &fine, error));
  if (!fine) return pages_refuse(p, error, "the values of a page are damaged, or end early");
  return give_meaning(p, array, count, error);
}

scl_status pages_read_dictionary(pages *p, const uint8_t *at, const uint8_t *end, size_t count,
                                 scl_error *error) {
  const pages_array array = pages_array_of(p->column);
  parquet_values v = {.encoding = ENCODING_PLAIN, .at = at, .end = end};
  READ_TRY(scl_room_grow(p->file->host, &p->dictionary, (count + 1) * size_of(array), error));
  p->n_dictionary = count;
  return read_plain(p->column, &v, p->dictionary.memory, count)
             ? SCL_STATUS_OK
             : pages_refuse(p, error, "the dictionary is damaged");
}
