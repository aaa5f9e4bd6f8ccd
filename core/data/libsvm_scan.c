/* Parses lines of LIBSVM text, and passes each label and pair to a consumer. Called by
 * libsvm_rows.c. */
#include "base/interrupt.h"
#include "data/libsvm_internal.h"
#include "data/number.h"
#include <math.h>
#include <string.h>

enum { A_LOOK = 1 << 14 }; /* pairs or lines between two looks for Ctrl-C */

static const char *word_end(const char *at, const char *end) {
  while (at < end && *at != ' ' && *at != '\t' && *at != '\r' && *at != '\n')
    at++;
  return at;
}

static const char *skip_blanks(const char *at, const char *end) {
  while (at < end && (*at == ' ' || *at == '\t' || *at == '\r'))
    at++;
  return at;
}

static scl_status refuse(const libsvm_place *p, const char *word, const char *stop, const char *why,
                         scl_error *error) {
  return scl_fail(error, SCL_STATUS_BAD_DATA, "%s: line %zu, column %zu (row %zu): '%.*s' %s",
                  p->path, p->number, (size_t)(word - p->line) + 1, p->row,
                  (int)scl_min((size_t)(stop - word), 40), word, why);
}

/* The index in [word, colon): digits, perhaps after a plus sign; 0 where it is none, or one beyond
 * INT32_MAX. */
static size_t parse_index(const char *word, const char *colon) {
  size_t index = 0;
  word += word < colon && *word == '+';
  for (; word < colon && index <= INT32_MAX; word++) {
    if ((unsigned char)(*word - '0') >= 10) return 0;
    index = index * 10 + (size_t)(*word - '0');
  }
  return index <= INT32_MAX ? index : 0;
}

/* Checks "index:value", with an index above *last, and passes it on. */
static scl_status take_pair(const libsvm_place *p, const char *word, const char *stop, size_t *last,
                            const libsvm_consumer *c, scl_error *error) {
  const char *colon = memchr(word, ':', (size_t)(stop - word));
  double value;
  if (colon == NULL || colon == word ||
      !scl_parse_number(colon + 1, (size_t)(stop - colon - 1), &value))
    return refuse(p, word, stop, "is not index:value", error);
  const size_t index = parse_index(word, colon);
  if (index == 0)
    return refuse(p, word, stop,
                  "has an index that is no whole number from 1 to 2147483647, in digits", error);
  if (index <= *last)
    return refuse(p, word, stop, "comes out of order: indices must grow along a row", error);
  if (!isfinite(value)) return refuse(p, word, stop, "is not finite", error);
  *last = index;
  return c->take(c->context, p->row - 1, index, value) ? SCL_STATUS_OK
                                                       : refuse(p, word, stop, c->refusal, error);
}

/* One line without its comment: the label, then pairs. */
static scl_status take_line(const libsvm_place *p, const char *at, const char *end,
                            const libsvm_consumer *c, scl_error *error) {
  double label;
  size_t last = 0;
  const char *stop = word_end(at, end);
  if (!scl_parse_number(at, (size_t)(stop - at), &label) || !isfinite(label))
    return refuse(p, at, stop, "is not a number, and a row begins with its label", error);
  (void)c->take(c->context, p->row - 1, 0, label);
  size_t pairs = 0;
  for (at = skip_blanks(stop, end); at < end; at = skip_blanks(stop, end)) {
    stop = word_end(at, end);
    if (++pairs % A_LOOK == 0) SCL_TRY(scl_interrupt_check(error));
    SCL_TRY(take_pair(p, at, stop, &last, c, error));
  }
  return SCL_STATUS_OK;
}

scl_status libsvm_scan(libsvm_place *p, const char *text, size_t length, const libsvm_consumer *c,
                       scl_error *error) {
  const char *at = text, *end = text + length;
  for (; at < end; p->number++) {
    const char *line_break = memchr(at, '\n', (size_t)(end - at)),
               *line_end = line_break == NULL ? end : line_break;
    const char *comment = memchr(at, '#', (size_t)(line_end - at)),
               *data_end = comment == NULL ? line_end : comment;
    p->line = at;
    if (p->number % A_LOOK == 0) SCL_TRY(scl_interrupt_check(error));
    at = skip_blanks(at, data_end);
    if (at < data_end) {
      SCL_TRY(take_line(p, at, data_end, c, error));
      p->row++;
    }
    at = line_break == NULL ? end : line_break + 1;
  }
  return SCL_STATUS_OK;
}
