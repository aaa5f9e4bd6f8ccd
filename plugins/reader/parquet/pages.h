/* The pages of a column's chunk in one row group, as blocks of cells. */
#ifndef SCULLERY_PARQUET_PAGES_H
#define SCULLERY_PARQUET_PAGES_H

#include "parquet.h"

enum { BLOCK_ROWS = 4096 }; /* at most, of a block */

typedef struct pages {
  const scl_reading *file;
  const parquet_column *column;
  parquet_chunk chunk;
  uint64_t at;        /* of the next page in the file */
  uint64_t rows_left; /* of the row group, not yet in a page */
  uint64_t row;       /* of the file: the next one, for messages */
  size_t in_page;     /* rows of the page that were not read yet */
  scl_room packed, page, dictionary_page;
  bool has_levels;
  runs levels; /* 1: the value is there */
  parquet_values values;
  /* The dictionary, as the column's values are. */
  size_t n_dictionary;
  scl_room dictionary;
  /* The block: BLOCK_ROWS of each that the column needs. */
  scl_room missing, indices, integers, numbers, texts, made;
  size_t used; /* bytes of `made` */
  scl_column_cells cells;
} pages;

/* Begin with the first page of the chunk. */
void pages_begin(pages *p, parquet_chunk chunk, uint64_t rows, uint64_t first_row);
/* Make sure that in_page > 0. */
scl_status pages_fill(pages *p, scl_error *error);
/* The next `count` rows of the page, up to BLOCK_ROWS, as p->cells. */
scl_status pages_read(pages *p, size_t count, scl_error *error);
void pages_release(pages *p);

/* The array of a block to which the values of a column are read. */
typedef enum pages_array { INTEGERS = 0, NUMBERS, TEXTS } pages_array;
pages_array pages_array_of(const parquet_column *column);
/* cells.c: the next `count` values that are there, to the arrays of the block. */
scl_status pages_read_values(pages *p, size_t count, scl_error *error);
/* The dictionary, of `count` values in [at, end). */
scl_status pages_read_dictionary(pages *p, const uint8_t *at, const uint8_t *end, size_t count,
                                 scl_error *error);
SCL_PRINTF(3, 4)
scl_status pages_refuse(const pages *p, scl_error *error, const char *format, ...);

#endif
