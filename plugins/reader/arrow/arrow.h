/* What the files of the reader of Arrow share. messages.c: the messages of a file or a stream, and
 * its schema, by a small reader of FlatBuffers; batches.c: the buffers of record batches as cells;
 * arrow.c: the slots.
 *
 * Format: "Arrow Columnar Format", version 1.5 (Message.fbs, Schema.fbs). */
#ifndef SCULLERY_READER_ARROW_H
#define SCULLERY_READER_ARROW_H

#include "shared/compression.h"

/* ------------ FlatBuffers */

/* A place is an offset in the bytes; 0: absent, or outside of them. */
typedef struct flat {
  const uint8_t *bytes;
  size_t size;
} flat;

/* A number of `width` bytes, up to 8, the least significant first. */
int64_t flat_number(const flat *f, size_t at, size_t width, int64_t otherwise);
size_t flat_root(const flat *f);
/* The place of member `index` of a table. */
size_t flat_member(const flat *f, size_t table, unsigned index);
/* The table, the text or the list that the member at `at` refers to. */
size_t flat_follow(const flat *f, size_t at);
/* The first element of the list that the member at `at` refers to, and how many there are,
 * each of `width` bytes. */
size_t flat_list(const flat *f, size_t at, size_t width, size_t *count);

/* ------------ messages.c */

typedef enum arrow_meaning {
  AS_NOTHING = 0,
  AS_INTEGER,
  AS_UNSIGNED_64,
  AS_FLOAT,
  AS_BOOLEAN,
  AS_TEXT,
  AS_DECIMAL,
  AS_DATE,
  AS_TIME,
  AS_TIMESTAMP
} arrow_meaning;

/* How values lie in the buffers of a column. */
typedef struct arrow_type {
  arrow_meaning meaning;
  unsigned width; /* bytes of a value; of AS_TEXT those of an offset, 16 of a view */
  bool is_signed, is_view;
  int scale;
  int64_t per_second;
} arrow_type;

typedef struct arrow_column {
  char *name;
  const char *refused; /* why it is not read; NULL: it is */
  arrow_type type;     /* of its values; of the dictionary's where there is one */
  bool coded;          /* the values are places in a dictionary: */
  int64_t dictionary;
  arrow_type code;
  size_t nodes, buffers, views; /* of all its parts in a record batch */
} arrow_column;

typedef enum arrow_kind { ARROW_SCHEMA = 1, ARROW_DICTIONARY, ARROW_BATCH } arrow_kind;

typedef struct arrow_message {
  arrow_kind kind;
  uint64_t head, body, body_size; /* in the file */
  uint32_t head_size;
  uint64_t rows;      /* of a batch */
  int64_t dictionary; /* of a dictionary */
  bool is_delta;
} arrow_message;

typedef struct arrow_contents {
  arrow_column *columns;
  size_t n_columns;
  bool has_footer;   /* of a file, not a stream */
  scl_room messages; /* arrow_message, in the order of the file */
  size_t n_messages;
  size_t *batches; /* places of the batches among them */
  uint64_t *batch_rows;
  size_t n_batches;
} arrow_contents;

static inline const arrow_message *arrow_message_at(const arrow_contents *c, size_t i) {
  return (const arrow_message *)c->messages.memory + i;
}

/* To be released also after an error. */
scl_status arrow_read_contents(const scl_reading *file, arrow_contents *out, scl_error *error);
void arrow_release_contents(const scl_host *host, arrow_contents *contents);

/* ------------ batches.c */

enum { BLOCK_ROWS = 4096, MOST_BUFFERS = 3 };

/* The buffers of one array, unpacked. */
typedef struct arrow_array {
  uint64_t rows;
  bool gaps;                     /* buffer 0 says which values are there */
  scl_room buffer[MOST_BUFFERS]; /* validity, values or offsets, bytes of texts */
  size_t size[MOST_BUFFERS];
  scl_room more; /* of views: their buffers one behind the other */
  size_t *ends;  /* where each of these ends in `more` */
  size_t n_ends;
} arrow_array;

/* The dictionary of a column, as its values are. */
typedef struct arrow_dictionary {
  size_t count;
  scl_room texts, places, bytes; /* places: where each text begins in `bytes` */
  scl_room numbers, integers, missing;
  size_t used; /* of bytes */
} arrow_dictionary;

/* A chosen column. */
typedef struct arrow_reading {
  const scl_reading *file;
  const arrow_contents *contents;
  size_t column;
  arrow_array array;
  arrow_dictionary dictionary;
  size_t loaded;         /* messages up to here were asked for dictionaries */
  bool all_dictionaries; /* also those after a batch */
  scl_room missing, integers, numbers, texts, codes;
  scl_column_cells cells;
} arrow_reading;

/* The column's buffers of a batch (a place among the messages), and its dictionary. */
scl_status arrow_load(arrow_reading *r, size_t message, scl_error *error);
/* Rows [from, from + count) of it, up to BLOCK_ROWS, as r->cells. */
scl_status arrow_read(arrow_reading *r, uint64_t from, size_t count, uint64_t first_row,
                      scl_error *error);
void arrow_release(arrow_reading *r);

#endif
