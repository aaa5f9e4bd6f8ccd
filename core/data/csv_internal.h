/* What csv.c (fields and files), csv_schema.c (types, levels) and csv_read.c (numbers) share. */
#ifndef SCULLERY_CSV_INTERNAL_H
#define SCULLERY_CSV_INTERNAL_H

#include "csv.h"

/* One field: its text without quotes; escaped: it holds doubled quotes. */
typedef struct csv_field {
  const char *text;
  size_t length;
  bool quoted, escaped;
} csv_field;

/* Whole lines of one file. */
typedef struct csv_chunk {
  const char *text, *end;
  size_t file;      /* which path */
  size_t first_row; /* of the file, known after the first pass */
  size_t rows;
} csv_chunk;

/* A sorted set of texts. */
typedef struct csv_levels {
  char **list;
  size_t count;
} csv_levels;

typedef struct csv_column {
  char *name;
  bool skipped, categorical, target, forced;
  size_t numbers, texts, missing;      /* fields of each sort */
  double sum;                          /* of its numbers, for streams */
  size_t text_file, text_row;          /* where the first text stood */
  char sample[40];                     /* and what it was */
  csv_levels levels;                   /* categorical: with "?" for missing, where there is one */
  bool has_missing_level;
  size_t first_out, outs;              /* columns of X */
} csv_column;

typedef struct csv_schema {
  const scl_csv_options *options;
  const char *const *paths;
  char separator;
  bool header;
  size_t columns, cols_out;
  csv_column *column;
  long target; /* its place, -1: none */
  bool missing_first[256]; /* bytes that a word for a missing value begins with */
} csv_schema;

/* The next field of a line; *at moves past its separator, or to NULL at the end of the line, with *line_end after the line break. */
csv_field csv_next_field(const char **at, const char *end, char separator, const char **line_end);
/* The field's text without doubled quotes, in scratch when it must change (scratch has room for its length). */
csv_field csv_unescape(csv_field field, char *scratch);
bool csv_is_missing_word(const csv_schema *schema, csv_field field);
static inline bool csv_is_missing(const csv_schema *schema, csv_field field) {
  return field.length == 0 || (schema->missing_first[(unsigned char)field.text[0]] && csv_is_missing_word(schema, field));
}
/* The end of the first whole line at or after `wanted`, minding quotes. */
const char *csv_cut(const char *text, const char *end, const char *wanted);
/* Is the line at `at` empty? Then *next is after it. */
bool csv_blank_line(const char *at, const char *end, const char **next);

/* From the first lines of the first file: separator, header, names. *body: where the rows begin. */
scl_status csv_schema_open(csv_schema *schema, const char *text, const char *end, const char **body, scl_error *error);
void csv_schema_close(csv_schema *schema);
/* Count rows and sorts of fields of the chunks, in parallel; chunk rows and first_row are filled. */
scl_status csv_schema_count(csv_schema *schema, csv_chunk *chunks, size_t count, scl_error *error);
/* Decide types once all chunks are counted; then collect the levels of categorical columns, once per set of chunks; then lay out X. */
scl_status csv_schema_decide(csv_schema *schema, scl_error *error);
scl_status csv_schema_levels(csv_schema *schema, const csv_chunk *chunks, size_t count, scl_error *error);
void csv_schema_lay_out(csv_schema *schema);
/* Place of a text among levels, or -1. */
long csv_level_place(const csv_levels *levels, csv_field field);

/* Numbers of a chunk into x and y from row `to` on; a missing number becomes NaN (counted in the schema's columns). */
scl_status csv_parse_chunk(const csv_schema *schema, const csv_chunk *chunk, scl_matrix *x, scl_matrix *y, size_t to, scl_error *error);
/* Names, classes, target of the table from a finished schema. */
scl_status csv_describe(const csv_schema *schema, scl_table *out, scl_error *error);

#endif
