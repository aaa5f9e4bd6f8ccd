/* What the files of the CSV reader share. csv.c: fields and lines; levels.c: dictionaries;
 * header.c: the first lines; names.c: columns by name; schema.c: header, names; like.c: columns by
 * a schema; types.c: what each column becomes; scan.c: the first pass, types and levels; parse.c:
 * the second, numbers; sparse.c: rows of which most numbers are 0; fill.c: missing numbers;
 * lines.c: lines of files; ids.c: a column of ids; source.c: rows, by all of these; divided.c: what
 * several processes exchange; cuts.c: their shares. */
#ifndef SCULLERY_CSV_INTERNAL_H
#define SCULLERY_CSV_INTERNAL_H

#include "algebra/exact.h"
#include "data/csv/csv.h"
#include "data/packed.h"
#include <string.h>

/* ------------ names (names.c) */

typedef struct csv_name {
  const char *text; /* borrowed */
  size_t length, place;
} csv_name;

/* Sorted; those alike by their place. */
typedef struct csv_names {
  csv_name *list;
  size_t count;
} csv_names;

scl_status csv_names_make(csv_names *names, size_t count, const char *(*name)(const void *, size_t),
                          const void *context, scl_error *error);
/* How many have this name; *first is the first of them, the others follow. */
size_t csv_names_find(const csv_names *names, const char *text, size_t length,
                      const csv_name **first);
void csv_names_release(csv_names *names);

/* ------------ fields (csv.c) */

/* One field: its text without quotes and blanks around it. */
typedef struct csv_field {
  const char *text;
  size_t length;
  bool quoted;
  bool escaped;  /* it holds doubled quotes */
  bool unclosed; /* its quote never ends */
  bool stray;    /* text follows its closing quote */
} csv_field;

/* The field that begins at `at`; *stop is its delimiter: the separator, the line break, or
 * `end`. */
csv_field csv_read_field(const char *at, const char *end, char separator, const char **stop);
/* Whether the field's text is that, doubled quotes halved. */
bool csv_field_is(csv_field field, const char *text);
/* The number of a packed field as the decimal that a text would have, in scratch. It counts as
 * quoted, as the scratch is not to be kept. */
enum { CSV_NUMBER_BYTES = 32 };
csv_field csv_unpack(const char *at, char scratch[CSV_NUMBER_BYTES]);
/* The field's text with doubled quotes halved, in scratch (room for its length). */
csv_field csv_unescape(csv_field field, char *scratch);
/* The fields of a line, one after the other. */
typedef struct csv_walk {
  const char *at, *end;
  char separator;
  bool ended;
  size_t count; /* fields so far */
} csv_walk;
csv_walk csv_walk_line(const char *at, const char *end, char separator);
/* False after the last; the walk ends early at Ctrl-C, which the caller then sees. */
bool csv_next_field(csv_walk *walk, csv_field *field);
enum { CSV_FIELDS_A_LOOK = 1 << 14 }; /* fields between two looks for Ctrl-C */

/* Past the line that begins at `at`, minding quotes; `end` at Ctrl-C. */
const char *csv_line_end(const char *at, const char *end, char separator);
/* Is the line at `at` empty? Then *next is after it. */
bool csv_blank_line(const char *at, const char *end, char separator, const char **next);
/* Past a byte order mark, if there is one. */
const char *csv_skip_mark(const char *text, const char *end);
/* Line ends of a carriage return alone, as old Macintosh programs wrote them, are made line feeds
 * before anything else looks at a text. Is there a carriage return without a line feed after it?
 * The byte at `end` can be read, and counts as what follows. */
bool csv_has_returns(const char *text, const char *end);
/* Those outside of quotes become line feeds. `text` begins with a line. */
void csv_end_lines(char *text, const char *end, char separator);
/* The first byte that no UTF-8 text has at its place, or NULL. */
const char *csv_find_odd_byte(const char *at, const char *end);
/* Line breaks in a text. */
size_t csv_count_lines(const char *from, const char *to);

/* The words for a missing value, with tables of their first bytes so that most fields need no
 * look: of all words, and of those that could be read as plain numbers ("-999"). */
typedef struct csv_missing {
  csv_names words;
  size_t longest;
  bool first[256], number[256];
  bool numbers; /* some word is a finite number in any form */
} csv_missing;
/* The words are borrowed. */
scl_status csv_missing_prepare(csv_missing *missing, const char *const *words, scl_error *error);
bool csv_is_missing(const csv_missing *missing, csv_field field);

/* A plain decimal ("-12.5": at most 19 digits, no exponent) up to the separator or line break: the
 * place of that delimiter, or NULL when the field must be looked at with care. The text is followed
 * by a 0 byte. */
static inline const char *csv_plain_number(const char *at, char separator, uint64_t *digits,
                                           unsigned *places, bool *negative) {
  *negative = *at == '-';
  at += *negative;
  const char *first = at;
  uint64_t value = 0;
  while ((unsigned char)(*at - '0') < 10)
    value = value * 10 + (uint64_t)(*at++ - '0');
  size_t count = (size_t)(at - first);
  *places = 0;
  if (*at == '.') {
    const char *point = ++at;
    while ((unsigned char)(*at - '0') < 10)
      value = value * 10 + (uint64_t)(*at++ - '0');
    *places = (unsigned)(at - point);
    count += *places;
  }
  *digits = value;
  if (*at == '\r' && at[1] == '\n') at++;
  return count - 1 < 19 && (*at == separator || *at == '\n') ? at : NULL;
}

/* ------------ categories (levels.c) */

enum { CSV_MOST_LEVELS = 100000 }; /* a column with more is no category */

typedef struct csv_level {
  char *text;
  size_t length, hash;
} csv_level;

/* A set of texts: a list and a table of places in it. */
typedef struct csv_levels {
  csv_level *list;
  size_t count, room;
  uint32_t *slots; /* place + 1, 0: free */
  size_t n_slots;
  bool overflow; /* more than CSV_MOST_LEVELS came; the rest is not kept */
} csv_levels;

/* Put a text in; false when there is no memory. */
bool csv_levels_add(csv_levels *levels, const char *text, size_t length);
/* The place of a text, or -1. */
long csv_levels_find(const csv_levels *levels, const char *text, size_t length);
/* In the order of their bytes. */
void csv_levels_sort(csv_levels *levels);
void csv_levels_release(csv_levels *levels);

/* ------------ columns (schema.c) */

/* Whole lines of one file. */
typedef struct csv_chunk {
  const char *text, *end;
  size_t file;       /* which path */
  size_t first_row;  /* of the file, known after the scan */
  size_t first_line; /* from 1; 0: count them from `beginning` when they are asked for */
  const char *beginning;
  size_t rows;
  size_t piece; /* of whole files: which of all that processes give the rows of */
} csv_chunk;

/* A byte of a list of files. */
typedef struct csv_cut {
  size_t file, at;
} csv_cut;

/* Rows of all files in their order. */
static inline size_t csv_row_place(size_t file, size_t row) { return file << 40 | row; }

typedef struct csv_column {
  char *name;
  const scl_column *like; /* of the schema, where there is one */
  bool skipped, target, categorical, date, loose;
  bool aside; /* it has a role: one column of X, behind all features */
  bool extra; /* the schema does not know it */
  bool forced_levels, forced_numbers;
  bool missing_level;             /* a category has a last column for missing fields */
  size_t numbers, texts, missing; /* fields of each sort */
  size_t orders[SCL_DATE_ORDERS]; /* of the texts: dates in each order */
  scl_date_order order;           /* of a column of dates */
  size_t dates, formatted;        /* of the texts: dates, and numbers such as "$5" and "1,000.50" */
  size_t large;                   /* of the numbers: whole ones beyond 2^53 */
  double fill;                    /* what a missing number becomes; NaN: not known */
  size_t overflows;               /* chunks whose sum is infinite */
  size_t text_file, text_row, text_line; /* where the first text stood, */
  const char *text_from, *text_to; /* after the lines of this text, which are counted when asked for
                                      (NULL: none) */
  char sample[41];                 /* and what it was */
  csv_levels levels;      /* of its texts; of all its fields once it is known to be a category */
  size_t first_out, outs; /* columns of X */
  size_t place;           /* column of the matrix that lines are parsed into */
} csv_column;

/* Fields of a category that the schema does not know. */
typedef struct csv_unknown {
  size_t count;
  size_t place; /* csv_row_place of the chunk of the first one */
  char example[41];
} csv_unknown;

typedef struct csv_schema {
  const scl_csv_options *options;
  size_t dropped; /* rows, by SCL_MISSING_ROW */
  const char *const *paths;
  csv_missing missing;
  char separator;
  bool header, sums;
  bool packed; /* the text may hold packed numbers */
  size_t columns, cols_out;
  csv_column *column;
  bool sparse;        /* X has the numbers that are not 0 alone */
  size_t parsed;      /* columns of the matrix that lines are parsed into: those of X, or `order` */
  csv_column **order; /* those that have columns of X, in their order */
  csv_names names;    /* of the columns */
  csv_unknown *unknown; /* one a column, where options->like is given */
  double *chunk_sums;   /* of streams: of the chunks of the last scan, one a column in each */
  scl_exact *exact;     /* of streams: the sum of these, for each column */
  long target;          /* its place, -1: none */
  long role[SCL_COLUMN_ROLES]; /* places, -1: none */
} csv_schema;

/* The separator, from the first lines of the first file. returns: lines may end in carriage returns
 * alone, and these become line feeds in all of the text. */
scl_status csv_settle_lines(csv_schema *schema, char *text, const char *end, bool returns,
                            scl_error *error);
/* From the same lines, then: header, names, target. *body: where the rows begin. */
scl_status csv_schema_open(csv_schema *schema, const char *text, const char *end, const char **body,
                           scl_error *error);
/* Where the rows of file number `file` begin: past its own header, which must be the first
 * file's. */
scl_status csv_schema_skip_header(const csv_schema *schema, size_t file, const char *text,
                                  const char *end, const char **body, scl_error *error);
/* The columns of options->like in the file's columns: which is which, what is extra. */
scl_status csv_like_match(csv_schema *schema, scl_error *error);
/* Whether the first line has any of the names of a schema, into schema->header. */
scl_status csv_like_header(csv_schema *schema, const char *text, const char *end, scl_error *error);
/* Whether there is a header, from the first lines (header.c). */
scl_status csv_look(csv_schema *schema, const char *text, const char *end, scl_error *error);
/* Past a byte order mark and empty lines. */
const char *csv_first_line(const char *text, const char *end);
size_t csv_count_fields(const char *text, const char *end, char separator);
/* The name of column j of a file without a header, by its place; NULL where it has none. */
const char *csv_like_name(const csv_schema *schema, size_t j);
/* Kinds, levels and places in X as the schema says. */
scl_status csv_like_lay_out(csv_schema *schema, scl_error *error);

/* Must the column hold numbers, in plain or in loose form? */
static inline bool csv_declared_numeric(const csv_schema *schema, const csv_column *column) {
  return column->forced_numbers || (schema->options->all_numeric && !column->target);
}

/* What each column becomes, once all chunks are scanned. *again: some categories hold numbers too
 * and want csv_collect. */
scl_status csv_schema_decide(csv_schema *schema, bool *again, scl_error *error);
/* Sort the levels and lay out X. */
scl_status csv_schema_lay_out(csv_schema *schema, scl_error *error);
void csv_schema_close(csv_schema *schema);
/* Names, classes, target of the table from a finished schema. */
scl_status csv_describe(const csv_schema *schema, scl_table *out, scl_error *error);
/* Whether the target may be a classification: numbers, where nobody said what they are. *named: its
 * name says so (class, label, target). */
bool csv_may_be_labels(const csv_schema *schema, bool *named);
/* The schema by which another file can be read alike, and notes, once all was read. */
scl_status csv_export(const csv_schema *schema, scl_table *out, scl_error *error);
scl_status csv_notes(const csv_schema *schema, scl_note **notes, size_t *count, scl_error *error);

/* "file: row 17, column 3 (age), line 18"; without the line of text that a reader makes. */
typedef struct csv_place {
  char text[700];
} csv_place;
csv_place csv_say_place(const csv_schema *schema, size_t file, size_t row, size_t column,
                        size_t line);
/* Sentences for what no field and no line may hold: `place` and `path` begin them. */
scl_status csv_refuse_quotes(const char *place, bool unclosed, scl_error *error);
scl_status csv_refuse_byte(const char *path, size_t line, char byte, scl_error *error);
/* The line of a place in a chunk. */
size_t csv_line_of(const csv_chunk *chunk, const char *at);

/* ------------ passes over chunks, in parallel
 */

/* Sorts of fields, levels of texts and rows of each chunk; first_row of all but the first chunk of
 * a file is filled. */
scl_status csv_scan(csv_schema *schema, csv_chunk *chunks, size_t count, scl_error *error);
/* All fields of categories that hold numbers as well become levels. */
scl_status csv_collect(csv_schema *schema, csv_chunk *chunks, size_t count, scl_error *error);
/* Numbers of the chunks into x (not set before) and y (ignored without a target). A missing number
 * becomes NaN. Unknown categories are counted in schema->unknown. */
scl_status csv_parse(csv_schema *schema, const csv_chunk *chunks, size_t count, scl_matrix *x,
                     scl_matrix *y, scl_error *error);

/* ------------ sparse rows (sparse.c) */

/* Decide whether X is sparse, and where lines are parsed to, once X is laid out. */
scl_status csv_settle_places(csv_schema *schema, scl_error *error);
/* *out = the rows of X, of which `parsed` holds the columns of schema->order. */
scl_status csv_make_sparse(const csv_schema *schema, const scl_matrix *parsed, scl_csr *out,
                           scl_error *error);

/* ------------ missing numbers (fill.c) */

/* Whether missing fields of the column are NaN in X. */
bool csv_column_has_gaps(const csv_column *column);
/* ------------ lines of files (lines.c) */

/* Chunks of a stream have the lines that begin between two multiples of CSV_CHUNK_BYTES, and its
 * blocks those between multiples of CSV_BLOCK_BYTES, whoever reads them. */
enum {
  CSV_CHUNK_BYTES = SCL_BUFFER(1 << 18),
  CSV_BLOCK_BYTES = 8 * CSV_CHUNK_BYTES,
  CSV_LONGEST_LINE = 1 << 30
};

typedef struct scl_input scl_input;
typedef struct scl_mark scl_mark;
typedef struct scl_text scl_text;

/* The lines of files, some chunks at a time: those of a buffer, of one file; or, when `whole`,
 * those of all files at once, whose texts stay in memory. */
typedef struct csv_lines {
  const char *const *paths;
  size_t files;
  bool whole;
  size_t unpacked;  /* when whole: see scl_input_set_bound */
  char separator;   /* 0: not known yet */
  bool returns;     /* of the first lines: see csv_has_returns */
  scl_text *texts;  /* when whole */
  scl_input *input; /* otherwise; NULL: the file is closed */
  char *buffer;
  size_t used, room, taken; /* bytes in the buffer, its size, bytes that the chunks covered */
  size_t begin;             /* place in the text of the buffer's first byte */
  size_t rows, line;        /* rows before the buffer, line it begins with */
  bool ended;               /* no bytes follow those of the buffer */
  bool begun, done;         /* the first chunks were given, the last ones */
  bool packed;              /* the buffer may hold packed numbers */
  csv_chunk *chunks;        /* the last ones: `count` */
  size_t count, chunk_room;
  /* Several processes divide the chunks, and each looks into first .. end-1. If they are apart,
   * each has the text of its share alone, from cuts[rank] to cuts[rank + 1]: of whole files there
   * is one chunk without a text for each piece of a file that is another's. Otherwise all have all
   * chunks, and those of a buffer are one process's. */
  bool divided, apart;
  size_t blocks, first, end; /* blocks: buffers so far */
  csv_cut *cuts;
  size_t *sizes, pieces; /* bytes of the files (0: gzip); pieces of them, of all processes */
  size_t from, stop;     /* of a stream: bytes of the share */
  size_t rows_before, lines_before, all_rows;
} csv_lines;

/* Read as many lines as the schema looks at, and open the schema by them. `paths` is borrowed;
 * `whole` and `unpacked` are set before. */
scl_status csv_lines_open(csv_lines *l, const char *const *paths, size_t files, csv_schema *schema,
                          scl_error *error);
/* The next chunks of whole lines; the first ones begin after the header. None, and `ended`: the
 * end. */
scl_status csv_lines_next(csv_lines *l, const csv_schema *schema, scl_error *error);
static inline bool csv_lines_end(const csv_lines *l) { return l->begun && l->done; }
/* The next chunks are the first ones again; until then, a file that is read by a buffer is
 * closed. */
void csv_lines_rewind(csv_lines *l);
void csv_lines_close(csv_lines *l);
/* Of a file that is read by a buffer: where the next chunks begin, behind `rows` rows of the source;
 * and begin there, after csv_lines_rewind. */
scl_mark csv_lines_mark(const csv_lines *l, size_t rows);
scl_status csv_lines_go(csv_lines *l, const scl_mark *mark, scl_error *error);
/* Rows of the chunks. */
size_t csv_lines_rows(const csv_lines *l);
/* The chunks of this process alone: a view. */
csv_lines csv_lines_own(const csv_lines *l);

/* What becomes of missing numbers in the rows of all chunks, by schema->options->fill: rows are
 * left out, or the number becomes column->fill, or an error says its place. all: these are all
 * rows, and column->fill becomes the median of the first file's, but by a schema. file_rows: the
 * rows that stay are added to those of each file; may be NULL. */
scl_status csv_settle_missing(csv_schema *schema, const csv_lines *l, bool all, size_t *file_rows,
                              scl_matrix *x, scl_matrix *y, scl_error *error);
/* Two steps of it, where no row is left out: medians, and filling. */
scl_status csv_find_medians(csv_schema *schema, const csv_lines *l, const scl_matrix *x,
                            scl_error *error);
scl_status csv_fill(const csv_schema *schema, const csv_lines *l, size_t *file_rows, scl_matrix *x,
                    scl_error *error);

/* All lines, once those of a share have been read. */
void csv_lines_all(csv_lines *l);

/* ------------ several processes (divided.c, cuts.c) */

/* Find the lines that begin in the share of each process, once l->separator is known; texts of files
 * that are cut are read, to text->length. *apart = false: something wants all of the bytes. */
scl_status csv_cut_shares(csv_lines *l, bool *apart, scl_error *error);
/* After csv_scan of chunks of a stream: their sums are added. */
scl_status csv_add_sums(csv_schema *schema, const csv_lines *l, scl_error *error);
/* After csv_scan or csv_collect of the chunks of this process, with its status: what all have found.
 * *again: each process is to read all, as some share could not be read. */
scl_status csv_join_pass(csv_schema *schema, csv_lines *l, bool collect, scl_status mine,
                         bool *again, scl_error *error);
scl_status csv_join_unknown(csv_schema *schema, scl_error *error);
/* The numbers of all chunks of whole files, in memory that the processes have in common until one
 * writes to it. Missing numbers are filled, but rows that have some stay. */
scl_status csv_parse_shares(csv_schema *schema, const csv_lines *l, scl_matrix *x, scl_matrix *y,
                            bool *again, scl_error *error);

/* ------------ a column of ids (ids.c) */

/* Texts of a column that come along with rows: those of the last chunks, one after the other. */
typedef struct csv_ids {
  bool wanted;
  size_t column;
  char *texts;
  size_t *ends, rows;
} csv_ids;

/* The column called `name` (NULL: none). */
scl_status csv_ids_open(csv_ids *ids, const char *name, csv_schema *schema, scl_error *error);
scl_status csv_ids_take(csv_ids *ids, const csv_schema *schema, const csv_lines *l,
                        scl_error *error);
void csv_ids_close(csv_ids *ids);

#endif
