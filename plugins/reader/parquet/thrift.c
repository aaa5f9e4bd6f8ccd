/* The compact protocol of Thrift ("Thrift compact protocol encoding"), read alone. */
#include "parquet.h"

enum { MOST_DEPTH = 24 };

/* The next byte; past the end the cursor is bad. */
static uint8_t byte(thrift *t) {
  if (t->at >= t->end) t->bad = true;
  return t->bad ? 0 : *t->at++;
}

/* Seven bits a byte, the least significant first; the highest bit says that more follow. */
uint64_t thrift_varint(thrift *t) {
  uint64_t value = 0;
  for (unsigned shift = 0; shift < 64; shift += 7) {
    const uint8_t next = byte(t);
    value |= (uint64_t)(next & 0x7f) << shift;
    if (next < 0x80) return value;
  }
  t->bad = true;
  return 0;
}

/* 0, -1, 1, -2, ... as 0, 1, 2, 3, ... */
static int64_t zigzag(thrift *t) {
  const uint64_t value = thrift_varint(t);
  return (int64_t)(value >> 1) ^ -(int64_t)(value & 1);
}

/* The number of a member is that of the one before plus 4 bits, or follows where these are 0. */
bool thrift_field(thrift *t, int16_t *id, int *type) {
  const uint8_t head = byte(t);
  *type = head & 0x0f;
  if (t->bad || *type == 0) return false;
  *id = (int16_t)(head >> 4 != 0 ? *id + (head >> 4) : zigzag(t));
  if (*type > THRIFT_STRUCT) t->bad = true;
  return !t->bad;
}

/* A truth value is the type itself. */
int64_t thrift_integer(thrift *t, int type) {
  if (type == THRIFT_TRUE || type == THRIFT_FALSE) return type == THRIFT_TRUE;
  if (type == THRIFT_BYTE) return (int8_t)byte(t);
  if (type >= THRIFT_I16 && type <= THRIFT_I64) return zigzag(t);
  thrift_skip(t, type);
  return 0;
}

scl_cell_text thrift_binary(thrift *t, int type) {
  const scl_cell_text none = {"", 0};
  if (type != THRIFT_BINARY) {
    thrift_skip(t, type);
    return none;
  }
  const uint64_t length = thrift_varint(t);
  if (length > (uint64_t)(t->end - t->at)) t->bad = true;
  if (t->bad) return none;
  const scl_cell_text text = {(const char *)t->at, (size_t)length};
  t->at += length;
  return text;
}

/* Up to 14 elements are counted in the head; 15 says that the count follows. */
size_t thrift_list(thrift *t, int type, int *of) {
  *of = THRIFT_BYTE;
  if (type != THRIFT_LIST && type != THRIFT_SET) {
    thrift_skip(t, type);
    return 0;
  }
  const uint8_t head = byte(t);
  const uint64_t count = head >> 4 == 15 ? thrift_varint(t) : head >> 4;
  *of = head & 0x0f;
  if (count > (uint64_t)(t->end - t->at) || *of == 0 || *of > THRIFT_STRUCT) t->bad = true;
  return t->bad ? 0 : (size_t)count;
}

/* An element of a list or a map, where truth values have a byte. Each has one at least. */
static void skip_element(thrift *t, int of) {
  if (of == 0 || of > THRIFT_STRUCT) t->bad = true;
  if (of <= THRIFT_FALSE)
    (void)byte(t);
  else
    thrift_skip(t, of);
}

void thrift_skip(thrift *t, int type) {
  int16_t id = 0;
  int of = 0;
  if (++t->depth > MOST_DEPTH) t->bad = true;
  if (t->bad) return;
  if (type == THRIFT_BYTE) (void)byte(t);
  if (type >= THRIFT_I16 && type <= THRIFT_I64) (void)thrift_varint(t);
  if (type == THRIFT_BINARY) (void)thrift_binary(t, type);
  if (type == THRIFT_DOUBLE && t->end - t->at >= 8)
    t->at += 8;
  else if (type == THRIFT_DOUBLE)
    t->bad = true;
  while (type == THRIFT_STRUCT && thrift_field(t, &id, &of))
    thrift_skip(t, of);
  if (type == THRIFT_LIST || type == THRIFT_SET) {
    for (size_t left = thrift_list(t, type, &of); left > 0 && !t->bad; left--)
      skip_element(t, of);
  } else if (type == THRIFT_MAP) {
    const uint64_t count = thrift_varint(t); /* an empty map has no types */
    const uint8_t types = count > 0 ? byte(t) : 0;
    for (uint64_t left = count; left > 0 && !t->bad; left--) {
      skip_element(t, types >> 4);
      skip_element(t, types & 0x0f);
    }
  }
  t->depth--;
}
