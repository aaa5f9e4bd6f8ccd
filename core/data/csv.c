/* Fields, lines and chunks of text. */
#include "csv_internal.h"

#include <string.h>

static const char *trim_right(const char *text, const char *end) {
  while (end > text && (end[-1] == ' ' || end[-1] == '\t' || end[-1] == '\r')) end--;
  return end;
}

/* After the closing quote: to the separator or the end of the line. */
static const char *skip_to_separator(const char *at, const char *end, char separator) {
  while (at < end && *at != separator && *at != '\n') at++;
  return at;
}

static const char *read_quoted(const char *at, const char *end, csv_field *field) {
  field->text = at;
  field->quoted = true;
  while (at < end) {
    if (*at != '"') {
      at++;
    } else if (at + 1 < end && at[1] == '"') {
      field->escaped = true;
      at += 2;
    } else {
      break;
    }
  }
  field->length = (size_t)(at - field->text);
  return at < end ? at + 1 : at;
}

csv_field csv_next_field(const char **at, const char *end, char separator, const char **line_end) {
  csv_field field = {0};
  const char *p = *at, *stop;
  while (p < end && (*p == ' ' || (*p == '\t' && separator != '\t'))) p++;
  if (p < end && *p == '"') {
    stop = skip_to_separator(read_quoted(p + 1, end, &field), end, separator);
  } else {
    stop = p;
    while (stop < end && *stop != separator && *stop != '\n') stop++;
    field.text = p;
    field.length = (size_t)(trim_right(p, stop) - p);
  }
  if (stop < end && *stop == separator) {
    *at = stop + 1;
  } else {
    *at = NULL;
    *line_end = stop < end ? stop + 1 : end;
  }
  return field;
}

csv_field csv_unescape(csv_field field, char *scratch) {
  if (!field.escaped) return field;
  size_t to = 0;
  for (size_t i = 0; i < field.length; i++) {
    scratch[to++] = field.text[i];
    if (field.text[i] == '"' && i + 1 < field.length && field.text[i + 1] == '"') i++;
  }
  field.text = scratch;
  field.length = to;
  field.escaped = false;
  return field;
}

bool csv_is_missing_word(const csv_schema *schema, csv_field field) {
  for (const char *const *word = schema->options->missing; *word != NULL; word++)
    if (strncmp(*word, field.text, field.length) == 0 && (*word)[field.length] == 0) return true;
  return false;
}

bool csv_blank_line(const char *at, const char *end, const char **next) {
  while (at < end && (*at == ' ' || *at == '\r' || *at == '\t')) at++;
  if (at < end && *at != '\n') return false;
  *next = at < end ? at + 1 : end;
  return true;
}

static size_t quotes_between(const char *from, const char *to) {
  size_t count = 0;
  for (const char *at = from; at < to && (at = memchr(at, '"', (size_t)(to - at))) != NULL; at++) count++;
  return count;
}

const char *csv_cut(const char *text, const char *end, const char *wanted) {
  if (wanted >= end) return end;
  const char *counted = text;
  size_t quotes = 0;
  for (const char *at = wanted; at < end; at++) {
    at = memchr(at, '\n', (size_t)(end - at));
    if (at == NULL) return end;
    quotes += quotes_between(counted, at);
    counted = at;
    if (quotes % 2 == 0) return at + 1;
  }
  return end;
}

void scl_csv_defaults(scl_csv_options *options) {
  static const char *const missing[] = {"?", "NA", "N/A", "NaN", "nan", "null", NULL};
  *options = (scl_csv_options){.target_place = -1, .classification = SCL_AUTO, .header = SCL_AUTO, .missing = missing};
}
