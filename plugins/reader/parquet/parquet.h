/* What the files of the reader of Parquet share. thrift.c: the compact protocol of Thrift;
 * footer.c: the footer of a file; values.c: encodings of values; pages.c: pages of column chunks;
 * cells.c: what their values are; parquet.c: the slots.
 *
 * Formats: "Apache Parquet", format 2.10 (parquet.thrift, Encodings.md, Compression.md). */
#ifndef SCULLERY_PARQUET_H
#define SCULLERY_PARQUET_H

#include "shared/compression.h"

/* ------------ thrift.c */

typedef struct thrift {
  const uint8_t *at, *end;
  bool bad; /* what was read is no Thrift, or ends early: all that is read from then on is 0 */
  unsigned depth; /* of structs and lists that are skipped */
} thrift;

enum {
  THRIFT_TRUE = 1,
  THRIFT_FALSE,
  THRIFT_BYTE,
  THRIFT_I16,
  THRIFT_I32,
  THRIFT_I64,
  THRIFT_DOUBLE,
  THRIFT_BINARY,
  THRIFT_LIST,
  THRIFT_SET,
  THRIFT_MAP,
  THRIFT_STRUCT
};

/* The next field of a struct, whose last one was *id (0: none yet); false at its end. */
bool thrift_field(thrift *t, int16_t *id, int *type);
uint64_t thrift_varint(thrift *t);
int64_t thrift_integer(thrift *t, int type);
/* Bytes in place. */
scl_cell_text thrift_binary(thrift *t, int type);
/* The number of elements and their type; each has at least a byte, so that there are not more
 * than bytes. */
size_t thrift_list(thrift *t, int type, int *of);
void thrift_skip(thrift *t, int type);

/* ------------ footer.c */

enum {
  PHYSICAL_BOOLEAN = 0,
  PHYSICAL_INT32,
  PHYSICAL_INT64,
  PHYSICAL_INT96,
  PHYSICAL_FLOAT,
  PHYSICAL_DOUBLE,
  PHYSICAL_BYTES,
  PHYSICAL_FIXED,
  PHYSICAL_TYPES
};

/* What stored values become. */
typedef enum parquet_meaning {
  AS_INTEGER = 0,
  AS_UNSIGNED_32,
  AS_UNSIGNED_64,
  AS_NUMBER,
  AS_HALF,
  AS_TEXT,
  AS_DATE,
  AS_TIME,
  AS_TIMESTAMP,
  AS_DECIMAL
} parquet_meaning;

typedef struct parquet_column {
  char *name;
  size_t leaf;         /* its place among the chunks of a row group */
  const char *refused; /* why it is not read; NULL: it is */
  int physical;
  size_t width; /* bytes of a value of PHYSICAL_FIXED */
  bool optional;
  parquet_meaning meaning;
  int scale;          /* of AS_DECIMAL */
  int64_t per_second; /* of AS_TIME and AS_TIMESTAMP */
} parquet_column;

typedef struct parquet_chunk {
  uint64_t start, end; /* in the file */
  int codec;
} parquet_chunk;

typedef struct parquet_footer {
  parquet_column *columns;
  size_t n_columns, leaves;
  uint64_t *group_rows;
  parquet_chunk *chunks; /* groups x leaves */
  size_t groups;
} parquet_footer;

/* To be released also after an error. */
scl_status parquet_read_footer(const scl_reading *file, parquet_footer *footer, scl_error *error);
void parquet_release_footer(const scl_host *host, parquet_footer *footer);

/* ------------ values.c */

enum {
  ENCODING_PLAIN = 0,
  ENCODING_PLAIN_DICTIONARY = 2,
  ENCODING_RLE,
  ENCODING_BIT_PACKED,
  ENCODING_DELTA,
  ENCODING_DELTA_LENGTHS,
  ENCODING_DELTA_TEXTS,
  ENCODING_DICTIONARY,
  ENCODING_SPLIT
};

/* Runs of one value, and values of `width` bits, one behind the other ("RLE / bit-packing
 * hybrid"). */
typedef struct runs {
  const uint8_t *at, *end;
  unsigned width;
  uint64_t repeated, packed; /* values left of the current run */
  uint32_t value;
  const uint8_t *bits;
  size_t bytes;
  uint64_t bit;
} runs;
bool runs_read(runs *r, uint32_t *out, size_t count);

/* Whole numbers by their differences (DELTA_BINARY_PACKED). */
typedef struct deltas {
  const uint8_t *at, *end;
  uint64_t total, per_mini, left_in_mini;
  size_t minis, mini;
  const uint8_t *widths, *bits;
  unsigned width;
  uint64_t bit;
  int64_t value, least;
  bool begun;
} deltas;
bool deltas_begin(deltas *d, const uint8_t *at, const uint8_t *end);
bool deltas_read(deltas *d, int64_t *out, size_t count);
/* Past the bytes of all numbers, of which none was read yet. */
bool deltas_end(deltas d, const uint8_t **end);

/* Values of a page that were not read yet. */
typedef struct parquet_values {
  int encoding;
  const uint8_t *at, *end;
  size_t count, read; /* all, and those that were read, of ENCODING_SPLIT */
  uint64_t bit;       /* of booleans */
  runs indices;
  deltas lengths, prefixes;
} parquet_values;

#endif
