/* Fields and lines of text, missing words and default options; used by all files of the reader. */
#include "base/interrupt.h"
#include "data/csv/internal.h"
#include "data/number.h"

#include <math.h>

/* The end of the text without blanks, tabs and carriage returns. */
static const char *trim_right(const char *text, const char *end) {
  while (end > text && (end[-1] == ' ' || end[-1] == '\t' || end[-1] == '\r'))
    end--;
  return end;
}

/* From after the opening quote to after the closing one. */
static const char *read_quoted(const char *at, const char *end, csv_field *field) {
  field->text = at;
  field->quoted = true;
  while ((at = memchr(at, '"', (size_t)(end - at))) != NULL) {
    if (at + 1 == end || at[1] != '"') {
      field->length = (size_t)(at - field->text);
      return at + 1;
    }
    field->escaped = true;
    at += 2;
  }
  field->unclosed = true;
  field->length = (size_t)(end - field->text);
  return end;
}

/* Blanks before the field do not count, nor do those after an unquoted one. A tab does not count as
 * a blank where it is the separator. */
csv_field csv_read_field(const char *at, const char *end, char separator, const char **stop) {
  csv_field field = {0};
  while (at < end && (*at == ' ' || (*at == '\t' && separator != '\t')))
    at++;
  const bool quoted = at < end && *at == '"';
  const char *rest = quoted ? read_quoted(at + 1, end, &field) : at, *to = rest;
  while (to < end && *to != separator && *to != '\n')
    to++;
  *stop = to;
  if (quoted) {
    for (; rest < to; rest++)
      field.stray = field.stray || (*rest != ' ' && *rest != '\t' && *rest != '\r');
  } else {
    field.text = at;
    field.length = (size_t)(trim_right(at, to) - at);
  }
  return field;
}

csv_walk csv_walk_line(const char *at, const char *end, char separator) {
  return (csv_walk){.at = at, .end = end, .separator = separator};
}

bool csv_next_field(csv_walk *walk, csv_field *field) {
  const char *stop = walk->at;
  if (walk->ended) return false;
  *field = csv_read_field(walk->at, walk->end, walk->separator, &stop);
  walk->ended = stop >= walk->end || *stop == '\n';
  walk->at = stop + !walk->ended;
  if (++walk->count % CSV_FIELDS_A_LOOK == 0 && scl_interrupted()) walk->ended = true;
  return true;
}

csv_field csv_unpack(const char *at, char scratch[CSV_NUMBER_BYTES]) {
  const size_t length = scl_write_number(scl_unpack_number(at), scratch);
  return (csv_field){.text = scratch, .length = length, .quoted = true};
}

csv_field csv_unescape(csv_field field, char *scratch) {
  size_t to = 0;
  for (size_t i = 0; i < field.length; i++) {
    scratch[to++] = field.text[i];
    if (field.escaped && field.text[i] == '"') i++; /* the second of two */
  }
  field.text = scratch;
  field.length = to;
  field.escaped = false;
  return field;
}

/* Compares without a copy: of two quotes in an escaped field the second is passed over. */
bool csv_field_is(csv_field field, const char *text) {
  size_t i = 0;
  for (; i < field.length && *text == field.text[i]; i++, text++)
    if (field.escaped && *text == '"') i++;
  return i >= field.length && *text == 0;
}

/* A line without quotes ends at its first line break; only lines with quotes are read field by
 * field. */
const char *csv_line_end(const char *at, const char *end, char separator) {
  const char *line = memchr(at, '\n', (size_t)(end - at)), *stop = at;
  const char *plain_end = line == NULL ? end : line;
  if (memchr(at, '"', (size_t)(plain_end - at)) == NULL) return line == NULL ? end : line + 1;
  for (size_t count = 1;; count++) {
    (void)csv_read_field(at, end, separator, &stop);
    if (stop >= end || (count % CSV_FIELDS_A_LOOK == 0 && scl_interrupted())) return end;
    if (*stop == '\n') return stop + 1;
    at = stop + 1;
  }
}

const char *csv_skip_mark(const char *text, const char *end) {
  return end - text >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0 ? text + 3 : text;
}

bool csv_has_returns(const char *at, const char *end) {
  while (at < end && (at = memchr(at, '\r', (size_t)(end - at))) != NULL)
    if (*++at != '\n') return true;
  return false;
}

/* Turns each carriage return that ends a line into a line feed. Those inside quotes, and those
 * before a line feed, stay. */
void csv_end_lines(char *text, const char *end, char separator) {
  for (char *at = text; at < end; at++) {
    while (at < end && (*at == ' ' || (*at == '\t' && separator != '\t')))
      at++;
    if (at < end && *at == '"') {
      csv_field field = {0};
      at += read_quoted(at + 1, end, &field) - at;
    }
    while (at < end && *at != separator && *at != '\n' && (*at != '\r' || at[1] == '\n'))
      at++;
    if (at < end && *at == '\r') *at = '\n';
  }
}

bool csv_blank_line(const char *at, const char *end, char separator, const char **next) {
  while (at < end && (*at == ' ' || *at == '\r' || (*at == '\t' && separator != '\t')))
    at++;
  if (at < end && *at != '\n') return false;
  *next = at < end ? at + 1 : end;
  return true;
}

size_t csv_count_lines(const char *from, const char *to) {
  size_t count = 0;
  while (from < to && (from = memchr(from, '\n', (size_t)(to - from))) != NULL) {
    count++;
    from++;
  }
  return count;
}

/* Whether the second byte of a UTF-8 sequence fits the first: others would make overlong sequences,
 * surrogates, or characters beyond U+10FFFF. */
static bool second_fits(unsigned char first, unsigned char second) {
  return second >= (first == 0xe0   ? 0xa0
                    : first == 0xf0 ? 0x90
                                    : 0x80) &&
         second <= (first == 0xed   ? 0x9f
                    : first == 0xf4 ? 0x8f
                                    : 0xbf);
}

/* The length of the UTF-8 sequence at `at`; 0 if the bytes there are not one. */
static size_t sequence_length(const char *at, const char *end) {
  const unsigned char first = (unsigned char)*at;
  const size_t length = first < 0x80                    ? 1
                        : first >= 0xc2 && first < 0xe0 ? 2
                        : first >= 0xe0 && first < 0xf0 ? 3
                        : first >= 0xf0 && first < 0xf5 ? 4
                                                        : 0;
  if (length > (size_t)(end - at)) return 0;
  if (length > 1 && !second_fits(first, (unsigned char)at[1])) return 0;
  for (size_t i = 2; i < length; i++)
    if (((unsigned char)at[i] & 0xc0) != 0x80) return 0;
  return length;
}

/* ASCII, which most text is, is checked 32 bytes at a time. */
const char *csv_find_odd_byte(const char *at, const char *end) {
  while (at < end) {
    uint64_t words[4];
    if (end - at >= (ptrdiff_t)sizeof words) {
      memcpy(words, at, sizeof words);
      if (((words[0] | words[1] | words[2] | words[3]) & 0x8080808080808080u) == 0) {
        at += sizeof words;
        continue;
      }
    }
    const size_t length = sequence_length(at, end);
    if (length == 0) return at;
    at += length;
  }
  return NULL;
}

static const char *word_at(const void *context, size_t i) {
  return ((const char *const *)context)[i];
}

/* Two tables of first bytes let most fields pass without a search: `first` of all words, and
 * `number` of those that look like plain numbers, which the fast path of scanning and parsing must
 * not take. */
scl_status csv_missing_prepare(csv_missing *missing, const char *const *words, scl_error *error) {
  size_t count = 0;
  memset(missing, 0, sizeof *missing);
  for (; words[count] != NULL; count++) {
    if (*words[count] == 0) continue; /* an empty field is missing anyway */
    missing->first[(unsigned char)*words[count]] = true;
    if (strspn(words[count], "-.0123456789") == strlen(words[count]))
      missing->number[(unsigned char)*words[count]] = true;
    missing->longest = scl_max(missing->longest, strlen(words[count]));
    double number;
    missing->numbers |=
        scl_parse_number(words[count], strlen(words[count]), &number) && isfinite(number);
  }
  return csv_names_make(&missing->words, count, word_at, words, error);
}

bool csv_is_missing(const csv_missing *missing, csv_field field) {
  const csv_name *found;
  if (field.length == 0) return true;
  if (field.length > missing->longest || !missing->first[(unsigned char)*field.text]) return false;
  return csv_names_find(&missing->words, field.text, field.length, &found) > 0;
}

void scl_csv_defaults(scl_csv_options *options) {
  static const char *const missing[] = {
      "?",    "NA",   "N/A", "n/a",      "NaN",  "nan",    "-NaN",    "-nan",    "NULL",     "null",
      "None", "#N/A", "#NA", "#N/A N/A", "<NA>", "1.#IND", "-1.#IND", "1.#QNAN", "-1.#QNAN", NULL};
  *options = (scl_csv_options){.target_place = -1,
                               .classification = SCL_AUTO,
                               .header = SCL_AUTO,
                               .sparse = SCL_AUTO,
                               .missing = missing};
}
