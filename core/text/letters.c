/* Characters of words: UTF-8, and tables of letters and lower cases, unpacked at first use. */
#include "text/letters.h"
#include "text/letters_table.h"

#include <pthread.h>
#include <string.h>

/* Letters below PLANES are bits; above are only the marks of the last of word_ranges. Lower cases
 * are in pages of 256 characters, the first of which has no changes. */
enum { PLANES = 0x40000, CASED = 0x20000, PAGES = 48 };
static uint64_t letters[PLANES / 64];
static uint8_t page_of[CASED / 256];
static int32_t added[PAGES][256];
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void set_letter(uint32_t code) { letters[code / 64] |= (uint64_t)1 << code % 64; }

static void unpack(void) {
  for (uint32_t code = '0'; code <= 'z'; code++)
    if (code <= '9' || (code >= 'A' && code <= 'Z') || code == '_' || code >= 'a') set_letter(code);
  int32_t last = 0;
  for (size_t i = 0; i < sizeof word_ranges / sizeof *word_ranges; i += 2) {
    const int32_t first = last + word_ranges[i];
    last = first + word_ranges[i + 1];
    for (int32_t code = first; code <= last && code < PLANES; code++)
      set_letter((uint32_t)code);
  }
  uint8_t pages = 1;
  last = 0;
  for (size_t i = 0; i < sizeof lower_runs / sizeof *lower_runs; i += 4) {
    const int32_t *run = &lower_runs[i], first = last + run[0];
    last = first + run[1];
    for (int32_t code = first; code <= last; code += run[2]) {
      uint8_t *page = &page_of[code / 256];
      if (*page == 0) *page = pages++;
      added[*page][code % 256] = run[3];
    }
  }
  for (int code = 'A'; code <= 'Z'; code++)
    added[page_of[0]][code] = 'a' - 'A';
}

bool scl_is_letter(uint32_t code) {
  (void)pthread_once(&once, unpack);
  if (code < PLANES) return (letters[code / 64] >> code % 64 & 1) != 0;
  return code >= 0xE0100 && code <= 0xE01EF; /* variation selectors */
}

uint32_t scl_lower(uint32_t code) {
  (void)pthread_once(&once, unpack);
  if (code >= CASED) return code;
  return (uint32_t)((int32_t)code + added[page_of[code / 256]][code % 256]);
}

bool scl_is_white(uint32_t code) {
  return code == 0 || code == ' ' || (code >= '\t' && code <= '\r') || code == 0x85 ||
         code == 0xA0 || code == 0x1680 || (code >= 0x2000 && code <= 0x200A) || code == 0x2028 ||
         code == 0x2029 || code == 0x202F || code == 0x205F || code == 0x3000;
}

/* ------------ UTF-8 */

static bool continues(unsigned char byte) { return (byte & 0xC0) == 0x80; }

uint32_t scl_decode(const unsigned char *text, size_t length, size_t *used) {
  static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
  const unsigned char first = text[0];
  const size_t bytes = first < 0x80   ? 1
                       : first < 0xC2 ? 0
                       : first < 0xE0 ? 2
                       : first < 0xF0 ? 3
                       : first < 0xF5 ? 4
                                      : 0;
  *used = 1;
  if (bytes == 1) return first;
  if (bytes == 0 || bytes > length) return SCL_REPLACEMENT;
  uint32_t code = first & (0x7Fu >> bytes);
  for (size_t i = 1; i < bytes; i++) {
    if (!continues(text[i])) return SCL_REPLACEMENT;
    code = code << 6 | (text[i] & 0x3Fu);
  }
  if (code < least[bytes] || code > 0x10FFFF || (code >= 0xD800 && code < 0xE000))
    return SCL_REPLACEMENT;
  *used = bytes;
  return code;
}

size_t scl_encode_character(uint32_t code, char *out) {
  const size_t bytes = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
  static const unsigned char mark[] = {0, 0, 0xC0, 0xE0, 0xF0};
  for (size_t i = bytes; i-- > 1; code >>= 6)
    out[i] = (char)(0x80 | (code & 0x3F));
  out[0] = (char)(mark[bytes] | code);
  return bytes;
}

size_t scl_invalid_bytes(const char *text, size_t length, size_t *first) {
  const unsigned char *bytes = (const unsigned char *)text;
  size_t invalid = 0, used;
  for (size_t i = 0; i < length; i += used) {
    used = 1;
    if (bytes[i] < 0x80 || scl_decode(bytes + i, length - i, &used) != SCL_REPLACEMENT || used > 1)
      continue;
    if (invalid++ == 0) *first = i;
  }
  return invalid;
}
