/* Words and characters of a text. A table of the 128 ASCII characters decides about most bytes. */
#include "text/terms.h"
#include "text/letters.h"

#include <string.h>

/* Upper bound of the bytes that a byte becomes: U+FFFD has 3 for one that is invalid; a lower case
 * has at most 3 for 2. And a space. */
enum { WIDEST = 3, BESIDE = 16 };

static scl_status reserve_text(scl_terms *terms, size_t length, scl_error *error) {
  if (length > (SIZE_MAX - BESIDE) / WIDEST) return scl_fail_memory(error, length, "a text");
  const size_t room = length * WIDEST + BESIDE;
  if (room <= terms->text_room) return SCL_STATUS_OK;
  scl_release(terms->text);
  terms->text_room = 0;
  terms->text = scl_allocate(room);
  if (terms->text == NULL) return scl_fail_memory(error, room, "a text");
  terms->text_room = room;
  return SCL_STATUS_OK;
}

/* Room for twice as many units. */
static scl_status reserve_units(scl_terms *terms, scl_error *error) {
  const size_t room = 2 * terms->unit_room + 64;
  size_t *starts = scl_allocate_array(room, sizeof *starts),
         *ends = scl_allocate_array(room, sizeof *ends);
  if (starts == NULL || ends == NULL) {
    SCL_RELEASE(starts, ends);
    return scl_fail_memory(error, 2 * room * sizeof *starts, "the words of a text");
  }
  if (terms->count > 0) {
    memcpy(starts, terms->starts, terms->count * sizeof *starts);
    memcpy(ends, terms->ends, terms->count * sizeof *ends);
  }
  SCL_RELEASE(terms->starts, terms->ends);
  terms->starts = starts;
  terms->ends = ends;
  terms->unit_room = room;
  return SCL_STATUS_OK;
}

static inline scl_status add_unit(scl_terms *terms, size_t start, size_t end, scl_error *error) {
  if (terms->count == terms->unit_room) SCL_TRY(reserve_units(terms, error));
  terms->starts[terms->count] = start;
  terms->ends[terms->count++] = end;
  return SCL_STATUS_OK;
}

void scl_terms_release(scl_terms *terms) {
  SCL_RELEASE(terms->text, terms->starts, terms->ends);
  memset(terms, 0, sizeof *terms);
}

/* ------------ words */

/* What is written for an ASCII byte of a word; 0: it separates words; beyond ASCII: OTHER. */
enum { OTHER = 1 };
static void fill_table(unsigned char table[256], bool exact) {
  memset(table, 0, 128);
  memset(table + 128, OTHER, 128);
  for (unsigned char c = '0'; c <= 'z'; c++)
    if (scl_is_letter(c)) table[c] = exact ? c : (unsigned char)scl_lower(c);
}

/* Write the character at `in` if it is one of a word: *written bytes, 0 if it is not. Returns the
 * bytes that were read. */
static size_t copy_letter(const unsigned char *in, size_t length, bool exact, char *out,
                          size_t *written) {
  size_t used;
  const uint32_t code = scl_decode(in, length, &used);
  *written = !scl_is_letter(code) ? 0 : scl_encode_character(exact ? code : scl_lower(code), out);
  return used;
}

/* The words of the text, each followed by a space; words that are too short are written over. */
static scl_status read_words(scl_terms *terms, const scl_text_form *form, const unsigned char *in,
                             size_t length, scl_error *error) {
  unsigned char table[256];
  const size_t least = form->single ? 1 : 2;
  size_t at = 0, start = 0, letters = 0, written;
  char *out = terms->text;
  fill_table(table, form->exact);
  for (size_t i = 0; i < length;) {
    const unsigned char byte = table[in[i]];
    if (byte > OTHER) {
      out[at++] = (char)byte;
      letters++;
      i++;
      continue;
    }
    written = 0;
    i += byte == OTHER ? copy_letter(in + i, length - i, form->exact, out + at, &written) : 1;
    at += written;
    letters += written > 0;
    if (written > 0 || letters == 0) continue;
    if (letters >= least) {
      SCL_TRY(add_unit(terms, start, at, error));
      out[at++] = ' ';
      start = at;
    }
    at = start;
    letters = 0;
  }
  return letters >= least ? add_unit(terms, start, at, error) : SCL_STATUS_OK;
}

/* ------------ characters */

static scl_status read_characters(scl_terms *terms, const scl_text_form *form,
                                  const unsigned char *in, size_t length, scl_error *error) {
  size_t at = 0, used;
  bool white = false;
  for (size_t i = 0; i < length; i += used) {
    const uint32_t code = scl_decode(in + i, length - i, &used);
    const bool space = scl_is_white(code);
    if (space && white) continue;
    white = space;
    const size_t bytes = scl_encode_character(space         ? ' '
                                              : form->exact ? code
                                                            : scl_lower(code),
                                              terms->text + at);
    SCL_TRY(add_unit(terms, at, at + bytes, error));
    at += bytes;
  }
  return SCL_STATUS_OK;
}

scl_status scl_terms_read(scl_terms *terms, const scl_text_form *form, const char *text,
                          size_t length, scl_error *error) {
  terms->count = 0;
  SCL_TRY(reserve_text(terms, length, error));
  return (form->characters ? read_characters : read_words)(terms, form, (const unsigned char *)text,
                                                           length, error);
}

/* ------------ hash */

static inline uint32_t rotate(uint32_t x, int by) { return x << by | x >> (32 - by); }
static inline uint32_t mix(uint32_t k) { return rotate(k * 0xcc9e2d51u, 15) * 0x1b873593u; }

uint32_t scl_hash_text(const char *text, size_t length) {
  const unsigned char *bytes = (const unsigned char *)text;
  uint32_t h = 0, k = 0;
  size_t i = 0;
  for (; i + 4 <= length; i += 4) {
    k = (uint32_t)bytes[i] | (uint32_t)bytes[i + 1] << 8 | (uint32_t)bytes[i + 2] << 16 |
        (uint32_t)bytes[i + 3] << 24;
    h = rotate(h ^ mix(k), 13) * 5 + 0xe6546b64u;
  }
  k = 0;
  for (size_t j = length; j > i; j--)
    k = k << 8 | bytes[j - 1];
  if (length > i) h ^= mix(k);
  h ^= (uint32_t)length;
  h = (h ^ h >> 16) * 0x85ebca6bu;
  h = (h ^ h >> 13) * 0xc2b2ae35u;
  return h ^ h >> 16;
}
