/* Parses headers of .npy files by hand, without evaluating anything, and decodes their numbers.
 * Used by npy_rows.c and npy_stream.c. */
#include "data/npy_internal.h"

#include <stdio.h>
#include <string.h>

bool npy_big_endian(void) {
  const uint16_t one = 1;
  return *(const unsigned char *)&one == 0;
}

bool npy_is_native(const npy_layout *layout, scl_dtype dtype) {
  return layout->kind == 'f' && !layout->swapped && layout->size == scl_dtype_size(dtype);
}

scl_status npy_header_size(const char *path, const char *bytes, size_t length, size_t *out,
                           scl_error *error) {
  const unsigned char *b = (const unsigned char *)bytes;
  if (length < 10 || memcmp(bytes, "\x93NUMPY", 6) != 0)
    return scl_fail(error, SCL_STATUS_BAD_DATA, "%s: this is not a .npy file", path);
  if (b[6] < 1 || b[6] > 3 || b[7] != 0)
    return scl_fail(error, SCL_STATUS_BAD_DATA,
                    "%s: .npy version %d.%d is not known; 1.0, 2.0 and 3.0 are", path, b[6], b[7]);
  const size_t prefix = b[6] == 1 ? 10 : 12;
  if (length < prefix)
    return scl_fail(error, SCL_STATUS_BAD_DATA, "%s: the .npy header is cut off", path);
  const size_t size =
      prefix == 10 ? (size_t)b[8] | (size_t)b[9] << 8
                   : (size_t)b[8] | (size_t)b[9] << 8 | (size_t)b[10] << 16 | (size_t)b[11] << 24;
  if (size > NPY_LONGEST)
    return scl_fail(error, SCL_STATUS_BAD_DATA,
                    "%s: the .npy header says that it has %zu bytes: it is damaged", path, size);
  *out = prefix + size;
  return SCL_STATUS_OK;
}

/* ------------ the dictionary: {'descr': '<f8', 'fortran_order': False, 'shape': (3, 4), } */

static void skip_blanks(const char **at) {
  while (**at == ' ' || **at == '\t' || **at == '\n')
    (*at)++;
}

/* Passes the character `wanted` after blanks, if it is next. */
static bool take(const char **at, char wanted) {
  skip_blanks(at);
  if (**at != wanted) return false;
  (*at)++;
  return true;
}

/* A short text in quotes. */
static bool take_text(const char **at, char *out, size_t room) {
  skip_blanks(at);
  const char quote = **at;
  if (quote != '\'' && quote != '"') return false;
  const char *start = *at + 1, *end = strchr(start, quote);
  if (end == NULL || (size_t)(end - start) >= room) return false;
  memcpy(out, start, (size_t)(end - start));
  out[end - start] = 0;
  *at = end + 1;
  return true;
}

static bool take_bool(const char **at, bool *out) {
  skip_blanks(at);
  *out = strncmp(*at, "True", 4) == 0;
  if (!*out && strncmp(*at, "False", 5) != 0) return false;
  *at += *out ? 4 : 5;
  return true;
}

/* A tuple of sizes; *count: how many, of which the first two are stored. */
static bool take_shape(const char **at, size_t dims[2], size_t *count) {
  dims[0] = dims[1] = 1;
  *count = 0;
  if (!take(at, '(')) return false;
  while (!take(at, ')')) {
    size_t size = 0, digits = 0;
    if (**at == '0' && at[0][1] >= '0' && at[0][1] <= '9') return false; /* no number of Python's */
    for (; **at >= '0' && **at <= '9' && digits < 19; digits++)
      size = size * 10 + (size_t)(*(*at)++ - '0');
    if (digits == 0) return false;
    if (*count < 2) dims[*count] = size;
    (*count)++;
    if (!take(at, ',')) return *count > 1 && take(at, ')'); /* (3) is a number, and (3,) a shape */
  }
  return true;
}

/* "<U12" or "|S12": texts of at most 12 characters or bytes. */
static bool parse_text_type(const char *text, npy_layout *out) {
  size_t length = 0, digits = 0;
  if (strchr("<>|=", text[0]) == NULL || (text[1] != 'U' && text[1] != 'S')) return false;
  for (const char *at = text + 2; *at >= '0' && *at <= '9' && digits < 9; at++, digits++)
    length = length * 10 + (size_t)(*at - '0');
  if (digits == 0 || text[2 + digits] != 0) return false;
  out->kind = text[1];
  out->size = text[1] == 'U' ? 4 * length : length;
  out->swapped = text[1] == 'U' &&
                 ((text[0] == '<' && npy_big_endian()) || (text[0] == '>' && !npy_big_endian()));
  return true;
}

/* "<f8" and the like: byte order, kind and size. */
static scl_status parse_type(const char *path, const char *text, bool texts, npy_layout *out,
                             scl_error *error) {
  const char *known[] = {"f4", "f8", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "b1"};
  const char order = text[0];
  for (size_t k = 0;
       k < sizeof known / sizeof *known && strchr("<>|=", order) != NULL && order != 0; k++) {
    if (strcmp(text + 1, known[k]) != 0) continue;
    out->kind = known[k][0];
    out->size = (size_t)(known[k][1] - '0');
    out->swapped = (order == '<' && npy_big_endian()) || (order == '>' && !npy_big_endian());
    return SCL_STATUS_OK;
  }
  if (texts && parse_text_type(text, out)) return SCL_STATUS_OK;
  return scl_fail(error, SCL_STATUS_BAD_DATA,
                  "%s: its numbers are of type '%s'; float32, float64, integers and booleans are "
                  "read (X.astype(\"float64\") in NumPy)",
                  path, text);
}

typedef struct header {
  char type[64];
  bool by_column, typed, ordered, shaped;
  size_t dims[2], count;
} header;

/* One entry of the dictionary; other keys than the three of the format are refused. */
static bool take_entry(const char **at, header *h) {
  char key[32];
  if (!take_text(at, key, sizeof key) || !take(at, ':')) return false;
  if (strcmp(key, "descr") == 0) return (h->typed = take_text(at, h->type, sizeof h->type));
  if (strcmp(key, "fortran_order") == 0) return (h->ordered = take_bool(at, &h->by_column));
  return strcmp(key, "shape") == 0 && (h->shaped = take_shape(at, h->dims, &h->count));
}

/* The sizes are bounded so that no product of them overflows later. */
scl_status npy_parse_header(const char *path, const char *bytes, size_t size, bool texts,
                            npy_layout *out, scl_error *error) {
  const char *at = bytes + (bytes[6] == 1 ? 10 : 12);
  header h = {0};
  bool fine = take(&at, '{');
  while (fine && !take(&at, '}')) {
    fine = take_entry(&at, &h);
    if (fine && !take(&at, ',')) {
      fine = take(&at, '}');
      break;
    }
  }
  skip_blanks(&at);
  if (strstr(bytes + 10, "'descr': [") != NULL)
    return scl_fail(error, SCL_STATUS_BAD_DATA,
                    "%s: it holds records; an array of numbers is wanted", path);
  if (!fine || at != bytes + size || !h.typed || !h.ordered || !h.shaped)
    return scl_fail(error, SCL_STATUS_BAD_DATA, "%s: the .npy header is damaged", path);
  SCL_TRY(parse_type(path, h.type, texts, out, error));
  if (h.count > 2)
    return scl_fail(error, SCL_STATUS_BAD_DATA, "%s: it has %zu dimensions; a matrix has at most 2",
                    path, h.count);
  const size_t most = (size_t)1 << 50, empty = (size_t)1 << 31; /* rows without numbers */
  if (h.dims[0] > (h.dims[1] == 0 ? empty : most / h.dims[1]) ||
      (h.dims[0] == 0 && h.dims[1] > empty))
    return scl_fail(error, SCL_STATUS_BAD_DATA,
                    "%s: its header says %zu x %zu numbers: it is damaged", path, h.dims[0],
                    h.dims[1]);
  out->by_column = h.by_column && h.dims[0] > 1 && h.dims[1] > 1;
  out->rows = h.dims[0];
  out->cols = h.dims[1];
  out->data_at = size;
  return SCL_STATUS_OK;
}

/* ------------ numbers */

typedef union npy_number {
  float f4;
  double f8;
  int8_t i1;
  int16_t i2;
  int32_t i4;
  int64_t i8;
  uint8_t u1;
  uint16_t u2;
  uint32_t u4;
  uint64_t u8;
} npy_number;

/* The number at b, in the byte order of this machine. */
static npy_number number_at(const npy_layout *l, const unsigned char *b) {
  npy_number v = {0};
  unsigned char turned[8];
  for (size_t k = 0; l->swapped && k < l->size; k++)
    turned[k] = b[l->size - 1 - k];
  memcpy(&v, l->swapped ? turned : b, l->size);
  return v;
}

static int64_t integer_of(const npy_layout *l, npy_number v) {
  if (l->kind == 'b') return v.u1 != 0; /* whatever the byte, as NumPy converts it */
  if (l->kind == 'i') return l->size == 1 ? v.i1 : l->size == 2 ? v.i2 : l->size == 4 ? v.i4 : v.i8;
  return l->size == 1 ? v.u1 : l->size == 2 ? v.u2 : l->size == 4 ? v.u4 : (int64_t)v.u8;
}

void npy_decode(const npy_layout *l, const unsigned char *from, size_t count, double *to) {
  const bool wide = l->kind == 'u' && l->size == 8;
  for (size_t i = 0; i < count; i++, from += l->size) {
    const npy_number v = number_at(l, from);
    to[i] = l->kind != 'f' ? (wide ? (double)v.u8 : (double)integer_of(l, v))
            : l->size == 4 ? (double)v.f4
                           : v.f8;
  }
}

void npy_decode_integers(const npy_layout *l, const unsigned char *from, size_t count,
                         int64_t *to) {
  for (size_t i = 0; i < count; i++, from += l->size)
    to[i] = integer_of(l, number_at(l, from));
}
