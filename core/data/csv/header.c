/* The first lines: what separates the fields, and whether the first line names the columns. */
#include "base/interrupt.h"
#include "data/csv/internal.h"
#include "data/number.h"

enum { LINES_LOOKED_AT = 50 };

size_t csv_count_fields(const char *text, const char *end, char separator) {
  csv_walk walk = csv_walk_line(text, end, separator);
  csv_field field;
  while (csv_next_field(&walk, &field)) {
  }
  return walk.count;
}

/* A score for a separator: the number of fields of the first line, and a million more if the next
 * five lines have as many; 0 if the first line has only one field. */
static size_t judge_separator(const char *text, const char *end, char separator) {
  const size_t fields = csv_count_fields(text, end, separator);
  const char *at = csv_line_end(text, end, separator), *next;
  bool alike = true;
  for (size_t k = 0; k < 5 && at < end; at = csv_line_end(at, end, separator), k++)
    alike = alike && (csv_blank_line(at, end, separator, &next) ||
                      csv_count_fields(at, end, separator) == fields);
  return fields <= 1 ? 0 : alike ? 1000000 + fields : fields;
}

/* The same for lines that end in carriage returns: where these are depends on the separator. `copy`
 * has room for the first `size` bytes of the text and a 0. */
static size_t judge_with_returns(const char *text, size_t size, char separator, char *copy) {
  memcpy(copy, text, size);
  copy[size] = 0;
  csv_end_lines(copy, copy + size, separator);
  return judge_separator(csv_first_line(copy, copy + size), copy + size, separator);
}

/* The separator with the best score; a comma where none has one. `usual`: that of the schema, if
 * any. copy: NULL, or see judge_with_returns. */
static char find_separator(const char *text, const char *end, char usual, char *copy, size_t size) {
  const char candidates[] = {',', ';', '\t', usual, 0};
  char chosen = ',';
  size_t best = 1;
  for (const char *c = candidates; *c != 0; c++) {
    const size_t found = copy == NULL ? judge_separator(csv_first_line(text, end), end, *c)
                                      : judge_with_returns(text, size, *c, copy);
    if (found > best) {
      best = found;
      chosen = *c;
    }
  }
  return chosen;
}

scl_status csv_settle_lines(csv_schema *schema, char *text, const char *end, bool returns,
                            scl_error *error) {
  enum { FIRST_BYTES = 1 << 16 }; /* looked at where there are carriage returns */
  const scl_csv_options *o = schema->options;
  const size_t size = scl_min((size_t)(end - text), FIRST_BYTES);
  char *copy = NULL;
  text += csv_skip_mark(text, end) - text;
  schema->separator = o->separator;
  if (o->separator == 0) {
    if (returns && (copy = scl_allocate(size + 1)) == NULL)
      return scl_fail_memory(error, size, "the first lines");
    schema->separator = find_separator(text, end, o->like == NULL ? 0 : o->like->separator, copy,
                                       scl_min(size, (size_t)(end - text)));
    scl_release(copy);
  }
  if (returns) csv_end_lines(text, end, schema->separator);
  return scl_interrupt_check(error);
}

/* Whether a line has a field that is a number. */
static bool any_number(const csv_schema *schema, const char *at, const char *end) {
  double number;
  csv_walk walk = csv_walk_line(at, end, schema->separator);
  for (csv_field field; csv_next_field(&walk, &field);)
    if (!csv_is_missing(&schema->missing, field) &&
        scl_parse_number(field.text, field.length, &number))
      return true;
  return false;
}

/* Whether a field of the first line occurs again in its column of the line at `at`: it is then a
 * value, not a name. */
static bool any_comes_again(const csv_schema *schema, const char *first, const char *at,
                            const char *end) {
  csv_walk names = csv_walk_line(first, end, schema->separator),
           values = csv_walk_line(at, end, schema->separator);
  csv_field name, value;
  while (csv_next_field(&names, &name) && csv_next_field(&values, &value))
    if (name.length > 0 && name.length == value.length &&
        memcmp(name.text, value.text, name.length) == 0)
      return true;
  return false;
}

/* Whether a line has a word that means a missing value. Empty fields do not count. */
static bool any_missing(const csv_schema *schema, const char *at, const char *end) {
  csv_walk walk = csv_walk_line(at, end, schema->separator);
  for (csv_field field; csv_next_field(&walk, &field);)
    if (field.length > 0 && csv_is_missing(&schema->missing, field)) return true;
  return false;
}

/* A header has no number. If the second line has none either, all columns may be text: the first
 * line is then a header if it has no word for a missing value and none of its fields occurs again
 * in its column of the next LINES_LOOKED_AT lines. */
static bool first_line_is_header(const csv_schema *schema, const char *text, const char *end) {
  const char *second = csv_line_end(text, end, schema->separator), *at = second;
  if (any_number(schema, text, end)) return false;
  if (second >= end || any_number(schema, second, end)) return true;
  if (any_missing(schema, text, end)) return false;
  for (size_t k = 0; k < LINES_LOOKED_AT && at < end; k++) {
    if (any_comes_again(schema, text, at, end)) return false;
    at = csv_line_end(at, end, schema->separator);
  }
  return true;
}

const char *csv_first_line(const char *text, const char *end) {
  const char *next;
  text = csv_skip_mark(text, end);
  while (text < end && csv_blank_line(text, end, 0, &next))
    text = next;
  return text;
}

scl_status csv_look(csv_schema *schema, const char *text, const char *end, scl_error *error) {
  const scl_csv_options *o = schema->options;
  if (o->header != SCL_AUTO) {
    schema->header = o->header == SCL_YES;
  } else if (schema->packed) { /* rows of a reader come after the names of its columns */
    schema->header = true;
  } else if (o->like == NULL || o->like->by_place) {
    schema->header = first_line_is_header(schema, text, end);
  } else {
    SCL_TRY(csv_like_header(schema, text, end, error));
  }
  return scl_interrupt_check(error);
}
