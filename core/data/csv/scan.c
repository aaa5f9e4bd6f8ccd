/* The first pass over the text: what sort each field is of, and the levels of texts. One tally a
 * thread and column; what comes out does not depend on which thread saw which chunk. */
#include "base/interrupt.h"
#include "base/pool.h"
#include "data/csv/internal.h"
#include "data/date.h"
#include "data/number.h"

#include <math.h>

/* What one thread has counted of one column. */
typedef struct tally {
  size_t numbers, texts, missing, dates, formatted, large;
  size_t orders[SCL_DATE_ORDERS];
  size_t chunk, row, line; /* of its first text in the order of the file; line: of the chunk */
  csv_field first;
  csv_levels levels;
  csv_field last;    /* the text of the row before: columns often repeat themselves */
  bool last_is_word; /* no date, no formatted number */
} tally;

typedef enum problem { FINE = 0, RAGGED, UNCLOSED, STRAY, NOT_UTF8, FULL, STOPPED } problem;

/* How far a chunk was read, and the problem that ended it. */
typedef struct trouble {
  problem problem;
  size_t row, column, fields;
  const char *at;
  const char *counted; /* line breaks were counted up to here */
  size_t lines;
} trouble;

typedef struct scanning {
  csv_schema *schema;
  csv_chunk *chunks;
  tally *tallies;    /* threads x columns */
  double *sums;      /* chunks x columns, or NULL */
  trouble *troubles; /* one a chunk */
  bool collect;      /* only the levels of categories that hold numbers */
} scanning;

/* Whether the row before had the same text. */
static bool repeats(const tally *t, csv_field field) {
  return t->last.text != NULL && field.length == t->last.length &&
         field.escaped == t->last.escaped && memcmp(field.text, t->last.text, field.length) == 0;
}

/* Adds a text to the dictionary, unless the row before had the same. False: no memory. */
static bool note_level(tally *t, csv_field field) {
  if (repeats(t, field)) return true;
  t->last = field;
  if (!field.escaped) return csv_levels_add(&t->levels, field.text, field.length);
  char *scratch = scl_allocate(field.length + 1);
  if (scratch == NULL) return false;
  field = csv_unescape(field, scratch);
  const bool added = csv_levels_add(&t->levels, field.text, field.length);
  scl_release(scratch);
  return added;
}

/* Whether the texts of a column may be needed as levels. */
static bool wants_levels(const csv_schema *schema, const csv_column *column) {
  if (column->aside) return true;
  if (schema->options->like != NULL) return column->target; /* the schema has the others' levels */
  return !column->skipped && (column->target || !schema->options->drop_categorical);
}

/* Counts a text, and stores the first one of the file with its place, for errors. */
static void note_text(size_t chunk, trouble *place, csv_field field, tally *t) {
  if (t->texts == 0 || chunk < t->chunk) {
    place->lines += csv_count_lines(place->counted, field.text);
    place->counted = field.text;
    t->chunk = chunk;
    t->row = place->row;
    t->line = place->lines;
    t->first = field;
  }
  t->texts++;
}

/* A whole number beyond 2^53, where doubles have gaps, perhaps with a point behind it. Its digits
 * decide, as the number that was read may be rounded down to 2^53. */
static bool is_large(csv_field field) {
  enum { DIGITS = 16 }; /* of 2^53 */
  if (field.length < DIGITS) return false;
  const size_t sign = field.length > 0 && (*field.text == '-' || *field.text == '+');
  uint64_t value = 0;
  const size_t end = field.length - (field.text[field.length - 1] == '.');
  for (size_t i = sign; i < end; i++) {
    if ((unsigned char)(field.text[i] - '0') >= 10) return false;
    if (value <= (uint64_t)1 << 53) value = value * 10 + (uint64_t)(field.text[i] - '0');
  }
  return value > (uint64_t)1 << 53;
}

/* "3,14" */
static bool has_decimal_comma(csv_field field) {
  char plain[32];
  double number;
  const char *comma = memchr(field.text, ',', field.length);
  if (comma == NULL || field.length >= sizeof plain || memchr(field.text, '.', field.length))
    return false;
  memcpy(plain, field.text, field.length);
  plain[comma - field.text] = '.';
  return scl_parse_number(plain, field.length, &number);
}

/* Classifies a text that is not a plain number: a formatted number ("$5"), or dates in each order.
 * Returns whether it is to be read as a number, as in columns that are declared numeric. */
static bool scan_text(const csv_schema *schema, const csv_column *column, csv_field field, tally *t,
                      double *number) {
  double days;
  if (field.escaped) return false;
  if (scl_parse_loose_number(field.text, field.length, number)) {
    t->formatted++;
    return column->loose || csv_declared_numeric(schema, column);
  }
  bool date = false;
  for (int order = 0; order < SCL_DATE_ORDERS; order++) {
    if (!scl_parse_date_as(field.text, field.length, (scl_date_order)order, &days)) continue;
    t->orders[order]++;
    *number = days;
    date = true;
  }
  t->dates += date;
  t->formatted += !date && has_decimal_comma(field);
  return false;
}

/* Counts a field that the fast path did not take; FINE, or the problem that ends the chunk. */
static problem scan_field(const scanning *job, size_t chunk, trouble *place, size_t j,
                          csv_field field, tally *t) {
  const csv_schema *schema = job->schema;
  const csv_column *column = &schema->column[j];
  double number = 0;
  if (field.unclosed) return UNCLOSED;
  if (field.stray) return STRAY;
  if (column->skipped) return FINE;
  const bool missing = csv_is_missing(&schema->missing, field);
  if (job->collect) {
    const bool wanted = column->categorical && wants_levels(schema, column);
    return missing || !wanted || note_level(t, field) ? FINE : FULL;
  }
  t->missing += missing;
  if (missing || (column->like != NULL && column->categorical)) return FINE;
  if (t->last_is_word && repeats(t, field)) {
    t->texts++;
    return FINE;
  }
  const size_t before = t->dates + t->formatted;
  const bool plain = !field.escaped && scl_parse_number(field.text, field.length, &number);
  const bool taken = plain || scan_text(schema, column, field, t, &number);
  if (job->sums != NULL && isfinite(number)) job->sums[chunk * schema->columns + j] += number;
  if (taken) {
    t->numbers++;
    t->large += plain && is_large(field);
    return FINE;
  }
  note_text(chunk, place, field, t);
  t->last_is_word = t->dates + t->formatted == before;
  return !wants_levels(schema, column) || note_level(t, field) ? FINE : FULL;
}

/* The same for a packed number. */
static problem scan_packed(const scanning *job, size_t chunk, size_t j, const char *at, tally *t) {
  const csv_schema *schema = job->schema;
  const csv_column *column = &schema->column[j];
  char text[CSV_NUMBER_BYTES];
  csv_field field = {0};
  if (column->skipped) return FINE;
  if (schema->missing.numbers || job->collect) field = csv_unpack(at, text);
  const bool missing = schema->missing.numbers && csv_is_missing(&schema->missing, field);
  if (job->collect) {
    const bool wanted = column->categorical && wants_levels(schema, column);
    return missing || !wanted || csv_levels_add(&t->levels, text, field.length) ? FINE : FULL;
  }
  t->missing += missing;
  if (missing || (column->like != NULL && column->categorical)) return FINE;
  if (job->sums != NULL) job->sums[chunk * schema->columns + j] += scl_unpack_number(at);
  t->numbers++;
  return FINE;
}

/* Scans one line; *stop is its line break or the end. False: a problem, which is noted in the
 * trouble of the chunk. The fast path is left out where sums are wanted, as it does not make the
 * number. */
static bool scan_line(const scanning *job, size_t index, const char *at, const char *end,
                      tally *tallies, const char **stop) {
  const csv_schema *schema = job->schema;
  const char separator = schema->separator;
  const bool fast = !job->collect && job->sums == NULL;
  trouble *found = &job->troubles[index];
  size_t j = 0;
  for (;; j++) {
    uint64_t digits;
    unsigned places;
    bool negative;
    *stop = NULL;
    if (fast && j < schema->columns && !schema->missing.number[(unsigned char)*at])
      *stop = csv_plain_number(at, separator, &digits, &places, &negative);
    if (*stop != NULL) {
      tallies[j].numbers++;
      if (digits > (uint64_t)1 << 53 && places == 0) tallies[j].large++;
    } else {
      csv_field field = {0};
      const bool packed = schema->packed && *at == SCL_PACKED;
      if (packed)
        *stop = at + SCL_PACKED_BYTES;
      else
        field = csv_read_field(at, end, separator, stop);
      if (j < schema->columns)
        found->problem = packed ? scan_packed(job, index, j, at, &tallies[j])
                                : scan_field(job, index, found, j, field, &tallies[j]);
      if (found->problem != FINE) {
        found->column = j;
        found->at = at;
        return false;
      }
    }
    if (*stop >= end || **stop == '\n') break;
    at = *stop + 1;
    if (j % CSV_FIELDS_A_LOOK == CSV_FIELDS_A_LOOK - 1 && scl_interrupted()) {
      found->problem = STOPPED;
      return false;
    }
  }
  if (j + 1 == schema->columns) return true;
  *found = (trouble){RAGGED, found->row, schema->columns, j + 1, at, NULL, 0};
  return false;
}

/* A task of the pool: scans the lines of a chunk into the tallies of this thread, up to the first
 * problem, and counts the rows. */
static void scan_chunk(void *context, size_t index) {
  const scanning *job = context;
  const csv_schema *schema = job->schema;
  csv_chunk *chunk = &job->chunks[index];
  trouble *found = &job->troubles[index];
  tally *tallies = job->tallies + scl_pool_worker() * schema->columns;
  const char *at = chunk->text, *next = at;
  for (size_t j = 0; j < schema->columns; j++)
    tallies[j].last.text = NULL;
  found->counted = at;
  const char *odd = csv_find_odd_byte(at, chunk->end);
  if (odd != NULL) *found = (trouble){NOT_UTF8, 0, schema->columns, 0, odd, NULL, 0};
  if (scl_interrupted()) found->problem = STOPPED;
  while (found->problem == FINE && at < chunk->end) {
    if (csv_blank_line(at, chunk->end, schema->separator, &next)) {
      at = next;
      continue;
    }
    if (!scan_line(job, index, at, chunk->end, tallies, &next)) break;
    found->row++;
    at = next < chunk->end ? next + 1 : next;
  }
  chunk->rows = found->row;
}

/* ------------ after the threads */

/* The error for the problem that ended a chunk. */
static scl_status say_trouble(const csv_schema *schema, const csv_chunk *chunk, const trouble *t,
                              scl_error *error) {
  const csv_place place = csv_say_place(schema, chunk->file, chunk->first_row + t->row, t->column,
                                        csv_line_of(chunk, t->at));
  switch (t->problem) {
  case RAGGED:
    return scl_fail(error, SCL_STATUS_BAD_DATA,
                    "%s: it has %zu field%s, and the first line has %zu", place.text, t->fields,
                    t->fields == 1 ? "" : "s", schema->columns);
  case UNCLOSED:
  case STRAY:
    return csv_refuse_quotes(place.text, t->problem == UNCLOSED, error);
  case NOT_UTF8:
    return csv_refuse_byte(schema->paths[chunk->file], csv_line_of(chunk, t->at), *t->at, error);
  default:
    return scl_fail_memory(error, 0, "the levels of categories");
  }
}

/* Stores the first text of a column in the order of the file, over all threads, with its place. */
static void keep_first_text(const scanning *job, size_t threads, size_t j) {
  csv_column *column = &job->schema->column[j];
  const tally *first = NULL;
  for (size_t w = 0; w < threads; w++) {
    const tally *t = &job->tallies[w * job->schema->columns + j];
    if (t->texts > 0 && (first == NULL || t->chunk < first->chunk)) first = t;
  }
  if (first == NULL || column->texts > 0) return;
  const csv_chunk *chunk = &job->chunks[first->chunk];
  const size_t length = scl_min(first->first.length, sizeof column->sample - 1);
  memcpy(column->sample, first->first.text, length);
  column->sample[length] = 0;
  column->text_file = chunk->file;
  column->text_row = chunk->first_row + first->row;
  column->text_line = first->line + (chunk->first_line > 0 ? chunk->first_line : 1);
  column->text_from = chunk->first_line > 0 ? NULL : chunk->beginning;
  column->text_to = chunk->text;
}

/* Add the tallies of all threads to the columns of the schema. */
static scl_status merge(const scanning *job, size_t threads, scl_error *error) {
  csv_schema *schema = job->schema;
  bool enough = true;
  for (size_t j = 0; j < schema->columns; j++) {
    csv_column *column = &schema->column[j];
    keep_first_text(job, threads, j);
    for (size_t w = 0; w < threads; w++) {
      const tally *t = &job->tallies[w * schema->columns + j];
      column->numbers += t->numbers;
      column->texts += t->texts;
      column->missing += t->missing;
      column->dates += t->dates;
      for (int order = 0; order < SCL_DATE_ORDERS; order++)
        column->orders[order] += t->orders[order];
      column->formatted += t->formatted;
      column->large += t->large;
      for (size_t i = 0; enough && i < t->levels.count; i++)
        enough = csv_levels_add(&column->levels, t->levels.list[i].text, t->levels.list[i].length);
      column->levels.overflow = column->levels.overflow || t->levels.overflow;
    }
  }
  return enough ? SCL_STATUS_OK : scl_fail_memory(error, 0, "the levels of categories");
}

static scl_status finish(const scanning *job, size_t threads, size_t count, scl_error *error) {
  /* Set the first row of each chunk, counted from the beginning of its file. */
  for (size_t k = 1; k < count; k++)
    job->chunks[k].first_row = job->chunks[k].file == job->chunks[k - 1].file
                                   ? job->chunks[k - 1].first_row + job->chunks[k - 1].rows
                                   : 0;
  for (size_t k = 0; k < count; k++)
    if (job->troubles[k].problem != FINE)
      return say_trouble(job->schema, &job->chunks[k], &job->troubles[k], error);
  return merge(job, threads, error);
}

static scl_status run(scanning *job, size_t count, scl_error *error) {
  const size_t threads = scl_pool_threads(), columns = job->schema->columns;
  job->tallies = scl_allocate_zero(threads * columns * sizeof *job->tallies);
  job->troubles = scl_allocate_zero((count + 1) * sizeof *job->troubles);
  if (job->schema->sums && !job->collect)
    job->sums = scl_allocate_zero((count * columns + 1) * sizeof *job->sums);
  scl_status status = SCL_STATUS_OK;
  if (job->tallies == NULL || job->troubles == NULL ||
      (job->sums == NULL && job->schema->sums && !job->collect)) {
    status = scl_fail_memory(error, threads * columns * sizeof *job->tallies, "a scan");
  } else {
    scl_pool_run(count, scan_chunk, job);
    status = scl_interrupt_check(error);
    if (status == SCL_STATUS_OK) status = finish(job, threads, count, error);
  }
  for (size_t k = 0; job->tallies != NULL && k < threads * columns; k++)
    csv_levels_release(&job->tallies[k].levels);
  SCL_RELEASE(job->tallies, job->troubles, job->schema->chunk_sums);
  job->schema->chunk_sums = job->sums;
  return status;
}

scl_status csv_scan(csv_schema *schema, csv_chunk *chunks, size_t count, scl_error *error) {
  scanning job = {.schema = schema, .chunks = chunks};
  return run(&job, count, error);
}

scl_status csv_collect(csv_schema *schema, csv_chunk *chunks, size_t count, scl_error *error) {
  scanning job = {.schema = schema, .chunks = chunks, .collect = true};
  return run(&job, count, error);
}
