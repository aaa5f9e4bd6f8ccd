/* The first lines: what separates the fields, and whether the first line names the columns. */
#include "base/interrupt.h"
#include "data/csv_internal.h"
#include "data/number.h"

enum { LINES_LOOKED_AT = 50 };

size_t csv_count_fields(const char *text, const char *end, char separator) {
  csv_walk walk = csv_walk_line(text, end, separator);
  csv_field field;
  while (csv_next_field(&walk, &field)) {
  }
  return walk.count;
}

/* The one that cuts the first lines into most fields, all alike. `usual`: that of the schema, if
 * any. */
static char find_separator(const char *text, const char *end, char usual) {
  const char candidates[] = {',', ';', '\t', usual, 0};
  char chosen = ',';
  size_t best = 1;
  for (const char *c = candidates; *c != 0; c++) {
    const size_t fields = csv_count_fields(text, end, *c);
    const char *at = csv_line_end(text, end, *c), *next;
    bool alike = true;
    for (size_t k = 0; k < 5 && at < end; at = csv_line_end(at, end, *c), k++)
      alike =
          alike && (csv_blank_line(at, end, *c, &next) || csv_count_fields(at, end, *c) == fields);
    if (fields > 1 && (alike ? 1000000 + fields : fields) > best) {
      best = alike ? 1000000 + fields : fields;
      chosen = *c;
    }
  }
  return chosen;
}

static bool any_number(const csv_schema *schema, const char *at, const char *end) {
  double number;
  csv_walk walk = csv_walk_line(at, end, schema->separator);
  for (csv_field field; csv_next_field(&walk, &field);)
    if (!csv_is_missing(&schema->missing, field) &&
        scl_parse_number(field.text, field.length, &number))
      return true;
  return false;
}

static bool same_text(csv_field a, csv_field b) {
  return a.length > 0 && a.length == b.length && memcmp(a.text, b.text, a.length) == 0;
}

/* Does a field of the first line come again in its column of the line at `at`? Then it is a value,
 * no name. */
static bool any_comes_again(const csv_schema *schema, const char *first, const char *at,
                            const char *end) {
  csv_walk names = csv_walk_line(first, end, schema->separator),
           values = csv_walk_line(at, end, schema->separator);
  csv_field name, value;
  while (csv_next_field(&names, &name) && csv_next_field(&values, &value))
    if (same_text(name, value)) return true;
  return false;
}

static bool any_missing(const csv_schema *schema, const char *at, const char *end) {
  csv_walk walk = csv_walk_line(at, end, schema->separator);
  for (csv_field field; csv_next_field(&walk, &field);)
    if (field.length > 0 && csv_is_missing(&schema->missing, field)) return true;
  return false;
}

/* Names hold no number. Where the second line holds none either, all is text: then a name is a text
 * that does not come again below it. */
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
  const char *next = text;
  if (end - text >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0) text += 3;
  while (text < end && csv_blank_line(text, end, 0, &next))
    text = next;
  return text;
}

scl_status csv_look(csv_schema *schema, const char *text, const char *end, scl_error *error) {
  const scl_csv_options *o = schema->options;
  schema->separator = o->separator != 0
                          ? o->separator
                          : find_separator(text, end, o->like == NULL ? 0 : o->like->separator);
  if (o->header != SCL_AUTO) {
    schema->header = o->header == SCL_YES;
  } else if (o->like == NULL || o->like->by_place) {
    schema->header = first_line_is_header(schema, text, end);
  } else {
    SCL_TRY(csv_like_header(schema, text, end, error));
  }
  return scl_interrupt_check(error);
}
