/* Parses lines of LIBSVM text in one pass over their bytes: most words are whole or decimal numbers
 * of few digits, which are made here; data/number.h makes the others. Called by libsvm_lines.c. */
#include "base/interrupt.h"
#include "data/libsvm_internal.h"
#include "data/words.h"

#include <math.h>
#include <string.h>

enum { A_LOOK = 1 << 16 }; /* pairs between two looks for Ctrl-C */

void libsvm_rows_release(libsvm_rows *rows) {
  SCL_RELEASE(rows->labels, rows->ends, rows->columns, rows->values);
  memset(rows, 0, sizeof *rows);
}

/* ------------ refusals */

typedef struct parser {
  const libsvm_format *format;
  const libsvm_place *place;
  libsvm_rows *rows;
  const char *line; /* where the line begins */
  scl_error *error;
} parser;

static scl_status refuse(const parser *p, const char *word, const char *why) {
  const size_t length = (size_t)(word_end(word) - word);
  return scl_fail(p->error, SCL_STATUS_BAD_DATA, "%s: line %zu, column %zu (row %zu): '%.*s' %s",
                  p->place->path, p->place->line + p->rows->lines, (size_t)(word - p->line) + 1,
                  p->place->row + p->rows->rows, (int)scl_min(length, 40), word, why);
}

/* Why "index:value" is none. index: as far as it was read; at: the first character after it. */
static scl_status refuse_pair(const parser *p, const char *word, const char *at, size_t index) {
  const char *end = word_end(word), *colon = memchr(word, ':', (size_t)(end - word));
  double value;
  if (colon == NULL || colon == word ||
      !scl_parse_number(colon + 1, (size_t)(end - colon - 1), &value))
    return refuse(p, word, "is not index:value");
  if (at == colon && index == 0 && p->format->base == 1 && is_digit(colon[-1]))
    return refuse(p, word,
                  "has index 0, and indices count from 1; option base = 0 reads files "
                  "that count from 0");
  return refuse(p, word,
                p->format->base == 1
                    ? "has an index that is not a whole number from 1 to 2147483647, in digits"
                    : "has an index that is not a whole number from 0 to 2147483646, in digits");
}

static scl_status refuse_order(const parser *p, const char *word, bool again) {
  return refuse(p, word,
                again ? "comes out of order: it has the index of the pair before it, and "
                        "indices must grow along a row"
                      : "comes out of order: indices must grow along a row");
}

/* ------------ rows */

/* The column of the index at *at, from 1, whatever the base; *at after its colon. 0: the word is not
 * taken. */
static inline size_t take_index(const parser *p, const char **at, const char **stop,
                                size_t *index) {
  const char *first = *at + (**at == '+'), *end = first;
  size_t value = 0;
  for (; is_digit(*end) && value <= INT32_MAX; end++)
    value = value * 10 + (size_t)(*end - '0');
  const size_t column = value + 1 - p->format->base;
  *stop = end;
  *index = value;
  if (end == first || *end != ':' || column > INT32_MAX) return 0;
  *at = end + 1;
  return column;
}

/* Stores one number; false where it is too large for float32. */
static inline bool store(libsvm_rows *rows, scl_dtype dtype, size_t column, double value) {
  const size_t k = rows->entries++;
  rows->columns[k] = (int32_t)(column - 1);
  if (dtype == SCL_DTYPE_FLOAT64) {
    ((double *)rows->values)[k] = value;
    return true;
  }
  ((float *)rows->values)[k] = (float)value;
  return isfinite((float)value);
}

/* The pairs of a row, from *at to the end of the line or its comment. */
static scl_status take_pairs(const parser *p, const char **from) {
  libsvm_rows *rows = p->rows;
  const char *at = *from, *stop;
  const scl_dtype dtype = p->format->dtype;
  const size_t most = p->format->features > 0 ? p->format->features : INT32_MAX;
  size_t last = 0, index, pairs = 0;
  double value;
  for (at = skip_blanks(at); !ends_line(*at); at = skip_blanks(at)) {
    const char *word = at;
    const size_t column = take_index(p, &at, &stop, &index);
    if (column == 0 || !take_number(&at, &value)) return refuse_pair(p, word, stop, index);
    if (column <= last) return refuse_order(p, word, column == last);
    if (column > most) return refuse(p, word, p->format->refusal);
    if (!isfinite(value)) return refuse(p, word, "is not finite");
    last = column;
    if (value != 0 && !store(rows, dtype, column, value))
      return refuse(p, word, "is too large for float32");
    if (++pairs % A_LOOK == 0) SCL_TRY(scl_interrupt_check(p->error));
  }
  if (last > rows->cols) rows->cols = last;
  *from = at;
  return SCL_STATUS_OK;
}

/* Room for the rows and numbers of a text: a number is after each colon, comments aside. */
static scl_status make_room(libsvm_rows *rows, const char *text, size_t length, scl_dtype dtype,
                            scl_error *error) {
  size_t lines = 1, entries = 1;
  for (size_t i = 0; i < length; i++) {
    lines += text[i] == '\n';
    entries += text[i] == ':';
  }
  if (lines > rows->row_room) {
    SCL_RELEASE(rows->labels, rows->ends);
    rows->labels = scl_allocate_array(lines, sizeof *rows->labels);
    rows->ends = scl_allocate_array(lines, sizeof *rows->ends);
    rows->row_room = lines;
  }
  if (entries > rows->entry_room) {
    SCL_RELEASE(rows->columns, rows->values);
    rows->columns = scl_allocate_array(entries, sizeof *rows->columns);
    rows->values = scl_allocate_array(entries, scl_dtype_size(dtype));
    rows->entry_room = entries;
  }
  if (rows->labels != NULL && rows->ends != NULL && rows->columns != NULL && rows->values != NULL)
    return SCL_STATUS_OK;
  libsvm_rows_release(rows);
  return scl_fail_memory(error, lines * 16 + entries * (4 + scl_dtype_size(dtype)), "rows");
}

/* One line that has a row: the label, then pairs. *from: after the line or at its comment. */
static scl_status take_row(const parser *p, const char **from) {
  libsvm_rows *rows = p->rows;
  const char *word = *from;
  double label;
  if (!take_number(from, &label) || !isfinite(label))
    return refuse(p, word, "is not a number, and a row begins with its label");
  SCL_TRY(take_pairs(p, from));
  rows->fractions = rows->fractions || label != floor(label);
  rows->labels[rows->rows] = label;
  rows->ends[rows->rows++] = (int64_t)rows->entries;
  return SCL_STATUS_OK;
}

scl_status libsvm_parse(const libsvm_format *format, const libsvm_place *place, const char *text,
                        size_t length, libsvm_rows *rows, scl_error *error) {
  const char *at = text, *end = text + length;
  parser p = {format, place, rows, at, error};
  rows->rows = rows->entries = rows->lines = rows->cols = 0;
  rows->fractions = false;
  SCL_TRY(make_room(rows, text, length, format->dtype, error));
  for (; at < end; rows->lines++) {
    p.line = at;
    at = skip_blanks(at);
    if (at < end && !ends_line(*at)) SCL_TRY(take_row(&p, &at));
    at = at >= end ? end : memchr(at, '\n', (size_t)(end - at));
    at = at == NULL || at == end ? end : at + 1;
  }
  return SCL_STATUS_OK;
}
