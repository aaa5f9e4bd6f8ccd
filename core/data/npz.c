/* Reads .npz files. Sizes in headers are compared with those of the members before memory of that
 * size is asked for. */
#include "data/npz.h"
#include "base/memory_left.h"
#include "base/text.h"
#include "data/files/zip.h"
#include "data/npy_internal.h"
#include "data/schema.h"
#include "text/letters.h"

#include <stdio.h>
#include <string.h>

enum { BLOCK = 8192 }; /* numbers decoded at a time */

struct scl_npz {
  scl_zip *zip;
  char *path;
  char **names; /* without ".npy" */
  size_t count;
};

/* ------------ opening */

scl_status scl_npz_open(const char *path, scl_npz **out, scl_error *error) {
  scl_npz *npz = scl_allocate_zero(sizeof *npz);
  if (npz == NULL) return scl_fail_memory(error, sizeof *npz, "a file");
  scl_status status = scl_zip_open(path, &npz->zip, error);
  npz->count = status == SCL_STATUS_OK ? scl_zip_count(npz->zip) : 0;
  npz->path = scl_copy_text(path);
  npz->names = scl_allocate_zero((npz->count + 1) * sizeof *npz->names);
  if (status == SCL_STATUS_OK && (npz->path == NULL || npz->names == NULL))
    status = scl_fail_memory(error, npz->count * sizeof *npz->names, "names");
  for (size_t k = 0; status == SCL_STATUS_OK && k < npz->count; k++) {
    char *name = npz->names[k] = scl_copy_text(scl_zip_name(npz->zip, k));
    if (name == NULL) {
      status = scl_fail_memory(error, strlen(path), "a name");
      break;
    }
    const size_t length = strlen(name);
    if (length > 4 && strcmp(name + length - 4, ".npy") == 0) name[length - 4] = 0;
  }
  if (status == SCL_STATUS_OK)
    *out = npz;
  else
    scl_npz_close(npz);
  return status;
}

void scl_npz_close(scl_npz *npz) {
  if (npz == NULL) return;
  scl_zip_close(npz->zip);
  scl_release_texts(npz->names, npz->names == NULL ? 0 : npz->count);
  SCL_RELEASE(npz->path, npz);
}

const char *scl_npz_name(const scl_npz *npz, size_t k) {
  return k < npz->count ? npz->names[k] : NULL;
}

static size_t place_of(const scl_npz *npz, const char *name) {
  size_t k = 0;
  while (k < npz->count && strcmp(npz->names[k], name) != 0)
    k++;
  return k;
}

static bool has(const scl_npz *npz, const char *name) { return place_of(npz, name) < npz->count; }

bool scl_npz_is_sparse(const scl_npz *npz) {
  return has(npz, "format") && has(npz, "shape") && has(npz, "data");
}

/* ------------ one array */

typedef struct npz_member {
  scl_npz *npz;
  char name[300]; /* "file.npz: array 'x'", for sentences */
  npy_bytes bytes;
  npy_layout layout;
  size_t count; /* numbers or texts */
} npz_member;

static scl_status read_zip(void *zip, void *to, size_t size, size_t *got, scl_error *error) {
  return scl_zip_read(zip, to, size, got, error);
}

/* The header of the array, whose size is that of the member. */
static scl_status begin(scl_npz *npz, const char *name, npz_member *m, scl_error *error) {
  const size_t k = place_of(npz, name);
  if (k == npz->count)
    return scl_fail(error, SCL_STATUS_BAD_DATA, "%s: it has no array '%s'", npz->path, name);
  m->npz = npz;
  (void)snprintf(m->name, sizeof m->name, "%.200s: array '%.60s'", npz->path, name);
  m->bytes = (npy_bytes){m->name, read_zip, npz->zip};
  SCL_TRY(scl_zip_begin(npz->zip, k, error));
  SCL_TRY(npy_read_header(&m->bytes, true, &m->layout, error));
  const npy_layout *l = &m->layout;
  m->count = l->rows * l->cols;
  const double wanted = (double)l->data_at + (double)m->count * (double)l->size;
  if (wanted != (double)scl_zip_size(npz->zip, k))
    return scl_fail(error, SCL_STATUS_BAD_DATA,
                    "%s: its header says %zu x %zu numbers, %.0f bytes, and it has %zu", m->name,
                    l->rows, l->cols, wanted, scl_zip_size(npz->zip, k));
  return SCL_STATUS_OK;
}

static bool is_texts(const npy_layout *l) { return l->kind == 'U' || l->kind == 'S'; }

/* Decode the numbers of the array, BLOCK at a time, by take(context, first, count, bytes). */
static scl_status each_block(npz_member *m,
                             void (*take)(void *, const npy_layout *, size_t, size_t,
                                          const unsigned char *),
                             void *context, scl_error *error) {
  unsigned char bytes[BLOCK * 8];
  for (size_t done = 0, count, got; done < m->count; done += count) {
    count = scl_min(BLOCK, m->count - done);
    SCL_TRY(m->bytes.read(m->bytes.from, bytes, count * m->layout.size, &got, error));
    if (got != count * m->layout.size)
      return scl_fail(error, SCL_STATUS_BAD_DATA, "%s: it is cut off", m->name);
    take(context, &m->layout, done, count, bytes);
  }
  return SCL_STATUS_OK;
}

/* The bytes of all numbers of the array, as they are. */
static scl_status read_whole(npz_member *m, void *to, scl_error *error) {
  size_t got;
  const size_t size = m->count * m->layout.size;
  SCL_TRY(m->bytes.read(m->bytes.from, to, size, &got, error));
  return got == size ? SCL_STATUS_OK
                     : scl_fail(error, SCL_STATUS_BAD_DATA, "%s: it is cut off", m->name);
}

/* ------------ texts */

/* One text, which zeros fill at its end. NULL: no memory; a character beyond Unicode becomes U+FFFD. */
static char *text_of(const npy_layout *l, const unsigned char *bytes) {
  const size_t width = l->kind == 'U' ? 4 : 1, characters = l->size / width;
  char *text = scl_allocate(4 * characters + 1), *to = text;
  for (size_t k = 0; text != NULL && k < characters; k++) {
    const unsigned char *at = bytes + k * width;
    uint32_t code = at[0];
    if (width == 4 && (npy_big_endian() != l->swapped))
      code = (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
    else if (width == 4)
      code = (uint32_t)at[3] << 24 | (uint32_t)at[2] << 16 | (uint32_t)at[1] << 8 | at[0];
    if (code == 0) break;
    const bool valid = code <= 0x10ffff && (code < 0xd800 || code >= 0xe000);
    if (width == 1)
      *to++ = (char)code;
    else
      to += scl_encode_character(valid ? code : SCL_REPLACEMENT, to);
  }
  if (text != NULL) *to = 0;
  return text;
}

static scl_status read_texts(npz_member *m, scl_npz_array *out, scl_error *error) {
  const npy_layout *l = &m->layout;
  if (l->cols != 1)
    return scl_fail(error, SCL_STATUS_BAD_DATA, "%s: %zu x %zu texts; a list is read", m->name,
                    l->rows, l->cols);
  unsigned char *bytes = scl_allocate(l->size + 1);
  out->texts = scl_allocate_zero((l->rows + 1) * sizeof *out->texts);
  scl_status status = bytes == NULL || out->texts == NULL
                          ? scl_fail_memory(error, l->rows * sizeof *out->texts, "texts")
                          : SCL_STATUS_OK;
  for (size_t i = 0, got; status == SCL_STATUS_OK && i < l->rows; i++) {
    status = m->bytes.read(m->bytes.from, bytes, l->size, &got, error);
    if (status != SCL_STATUS_OK) break;
    out->texts[i] = text_of(l, bytes);
    out->count = i + 1;
    if (out->texts[i] == NULL) status = scl_fail_memory(error, l->size, "a text");
  }
  scl_release(bytes);
  return status;
}

void scl_npz_array_release(scl_npz_array *array) {
  scl_matrix_release(&array->numbers);
  scl_release_texts(array->texts, array->count);
  memset(array, 0, sizeof *array);
}

scl_status scl_npz_read(scl_npz *npz, const char *name, scl_npz_array *out, scl_error *error) {
  npz_member m;
  memset(out, 0, sizeof *out);
  SCL_TRY(begin(npz, name, &m, error));
  scl_status status;
  if (is_texts(&m.layout)) {
    status = read_texts(&m, out, error);
  } else {
    status = scl_matrix_create_raw(m.layout.rows, m.layout.cols, npy_dtype(&m.layout),
                                   &out->numbers, error);
    if (status == SCL_STATUS_OK)
      status = npy_read_numbers(&m.bytes, &m.layout, 0, m.layout.rows * m.layout.cols,
                                &out->numbers, error);
  }
  if (status != SCL_STATUS_OK) scl_npz_array_release(out);
  return status;
}

/* ------------ sparse matrices */

/* Arrays of a sparse matrix as they are read. */
typedef struct npz_sparse {
  size_t rows, cols, entries;
  int64_t *starts, *places; /* indptr; indices, or row and col of coo */
  int32_t *columns;
  void *values;
  scl_dtype dtype;
} npz_sparse;

static void take_integers(void *to, const npy_layout *l, size_t first, size_t count,
                          const unsigned char *bytes) {
  npy_decode_integers(l, bytes, count, (int64_t *)to + first);
}

/* An array of integers, which the caller releases. */
static scl_status read_integers(scl_npz *npz, const char *name, int64_t **out, size_t *count,
                                scl_error *error) {
  npz_member m;
  SCL_TRY(begin(npz, name, &m, error));
  if (m.layout.kind != 'i' && m.layout.kind != 'u')
    return scl_fail(error, SCL_STATUS_BAD_DATA, "%s: it does not hold integers", m.name);
  *count = m.count;
  *out = scl_allocate_array(m.count + 1, sizeof **out);
  if (*out == NULL) return scl_fail_memory(error, m.count * sizeof **out, "an array");
  return each_block(&m, take_integers, *out, error);
}

typedef struct column_reader {
  int32_t *columns;
  size_t cols;
  bool beyond;    /* a column is not there */
  int64_t column; /* that column */
} column_reader;

static void take_columns(void *context, const npy_layout *l, size_t first, size_t count,
                         const unsigned char *bytes) {
  column_reader *r = context;
  int64_t values[BLOCK];
  npy_decode_integers(l, bytes, count, values);
  for (size_t k = 0; k < count; k++) {
    if (!r->beyond && (values[k] < 0 || (size_t)values[k] >= r->cols)) {
      r->beyond = true;
      r->column = values[k];
    }
    r->columns[first + k] = (int32_t)values[k];
  }
}

/* The same of integers of 4 bytes, in place. */
static scl_status read_narrow(npz_member *m, column_reader *r, scl_error *error) {
  int bad = 0; /* without a branch, so that the loop is vectorised */
  SCL_TRY(read_whole(m, r->columns, error));
  for (size_t k = 0; k < m->count; k++)
    bad |= (size_t)(uint32_t)r->columns[k] >= r->cols; /* numbers below 0 become large */
  for (size_t k = 0; bad != 0 && !r->beyond; k++) {
    r->beyond = (size_t)(uint32_t)r->columns[k] >= r->cols;
    r->column = r->columns[k];
  }
  return SCL_STATUS_OK;
}

/* An array of places below `cols`, of which there are `entries`. */
static scl_status read_columns(scl_npz *npz, const char *name, size_t cols, size_t entries,
                               int32_t **out, scl_error *error) {
  npz_member m;
  SCL_TRY(begin(npz, name, &m, error));
  if ((m.layout.kind != 'i' && m.layout.kind != 'u') || m.count != entries)
    return scl_fail(error, SCL_STATUS_BAD_DATA,
                    "%s: it does not hold %zu integers, one for each "
                    "number of the array 'data'",
                    m.name, entries);
  column_reader r = {scl_allocate_array(entries + 1, sizeof *r.columns), cols, false, 0};
  *out = r.columns;
  if (r.columns == NULL) return scl_fail_memory(error, entries * sizeof *r.columns, "an array");
  const bool narrow = m.layout.kind == 'i' && m.layout.size == 4 && !m.layout.swapped;
  SCL_TRY(narrow ? read_narrow(&m, &r, error) : each_block(&m, take_columns, &r, error));
  if (r.beyond)
    return scl_fail(error, SCL_STATUS_BAD_DATA, "%s: it holds %lld, and the shape has %zu places",
                    m.name, (long long)r.column, cols);
  return SCL_STATUS_OK;
}

static void take_values(void *to, const npy_layout *l, size_t first, size_t count,
                        const unsigned char *bytes) {
  double values[BLOCK];
  npy_decode(l, bytes, count, values);
  const scl_dtype dtype = npy_dtype(l);
  for (size_t k = 0; k < count; k++)
    scl_set_number(to, dtype, first + k, values[k]);
}

static scl_status read_values(scl_npz *npz, npz_sparse *s, scl_error *error) {
  npz_member m;
  SCL_TRY(begin(npz, "data", &m, error));
  if (is_texts(&m.layout) || m.layout.cols != 1)
    return scl_fail(error, SCL_STATUS_BAD_DATA, "%s: it is not a list of numbers", m.name);
  s->entries = m.count;
  s->dtype = npy_dtype(&m.layout);
  char need[32], left[32];
  const double bytes = (double)s->entries * (16 + (double)scl_dtype_size(s->dtype));
  if (bytes > (double)scl_memory_left())
    return scl_fail(error, SCL_STATUS_NO_MEMORY,
                    "%s: %zu numbers take %s of memory, and %s are free", npz->path, s->entries,
                    scl_bytes_text(bytes, need), scl_bytes_text((double)scl_memory_left(), left));
  s->values = scl_allocate_array(m.count + 1, scl_dtype_size(s->dtype));
  if (s->values == NULL) return scl_fail_memory(error, m.count * 8, "an array");
  return npy_is_native(&m.layout, s->dtype) ? read_whole(&m, s->values, error)
                                            : each_block(&m, take_values, s->values, error);
}

static scl_status read_shape(scl_npz *npz, npz_sparse *s, scl_error *error) {
  int64_t *shape = NULL;
  size_t count = 0;
  const scl_status status = read_integers(npz, "shape", &shape, &count, error);
  const bool fine = status == SCL_STATUS_OK && count == 2 && shape[0] >= 0 && shape[1] >= 0 &&
                    shape[0] <= (int64_t)1 << 62 && shape[1] <= (int64_t)1 << 31;
  if (fine) {
    s->rows = (size_t)shape[0];
    s->cols = (size_t)shape[1];
  }
  scl_release(shape);
  if (status != SCL_STATUS_OK || fine) return status;
  return scl_fail(error, SCL_STATUS_BAD_DATA,
                  "%s: array 'shape': it does not hold two sizes, with at most 2147483648 columns",
                  npz->path);
}

/* The array indptr: count + 1 places of the numbers, ascending, from 0 to all. */
static scl_status read_starts(scl_npz *npz, npz_sparse *s, size_t count, scl_error *error) {
  size_t got = 0;
  SCL_TRY(read_integers(npz, "indptr", &s->starts, &got, error));
  bool fine = got == count + 1 && s->starts[0] == 0 && s->starts[count] == (int64_t)s->entries;
  for (size_t i = 0; fine && i < count; i++)
    fine = s->starts[i] <= s->starts[i + 1];
  return fine ? SCL_STATUS_OK
              : scl_fail(error, SCL_STATUS_BAD_DATA,
                         "%s: array 'indptr': it does not ascend from 0 to %zu in %zu numbers",
                         npz->path, s->entries, count + 1);
}

static scl_status read_csr(scl_npz *npz, npz_sparse *s, scl_csr *out, scl_error *error) {
  SCL_TRY(read_starts(npz, s, s->rows, error));
  SCL_TRY(read_columns(npz, "indices", s->cols, s->entries, &s->columns, error));
  int64_t *starts = s->starts;
  int32_t *columns = s->columns;
  void *values = s->values;
  s->starts = NULL;
  s->columns = NULL;
  s->values = NULL;
  SCL_TRY(scl_csr_adopt(s->rows, s->cols, starts, columns, values, s->dtype, out, error));
  return scl_csr_sort(out, error);
}

/* Rows of all numbers in s->places, as they are checked. */
static scl_status read_rows(scl_npz *npz, npz_sparse *s, const char *name, scl_error *error) {
  size_t count = 0;
  SCL_TRY(read_integers(npz, name, &s->places, &count, error));
  bool fine = count == s->entries;
  for (size_t k = 0; fine && k < count; k++)
    fine = s->places[k] >= 0 && (size_t)s->places[k] < s->rows;
  return fine ? SCL_STATUS_OK
              : scl_fail(error, SCL_STATUS_BAD_DATA,
                         "%s: array '%s': it does not hold %zu rows below %zu, one for each number",
                         npz->path, name, s->entries, s->rows);
}

static scl_status read_csc(scl_npz *npz, npz_sparse *s, scl_csr *out, scl_error *error) {
  SCL_TRY(read_starts(npz, s, s->cols, error));
  SCL_TRY(read_rows(npz, s, "indices", error));
  s->columns = scl_allocate_array(s->entries + 1, sizeof *s->columns);
  if (s->columns == NULL) return scl_fail_memory(error, s->entries * 4, "an array");
  for (size_t j = 0; j < s->cols; j++)
    for (int64_t k = s->starts[j]; k < s->starts[j + 1]; k++)
      s->columns[k] = (int32_t)j;
  return scl_csr_of_places(s->rows, s->cols, s->entries, s->places, s->columns, s->values, s->dtype,
                           out, error);
}

static scl_status read_coo(scl_npz *npz, npz_sparse *s, scl_csr *out, scl_error *error) {
  SCL_TRY(read_rows(npz, s, "row", error));
  SCL_TRY(read_columns(npz, "col", s->cols, s->entries, &s->columns, error));
  return scl_csr_of_places(s->rows, s->cols, s->entries, s->places, s->columns, s->values, s->dtype,
                           out, error);
}

/* The name of the format: a text without dimensions. */
static scl_status read_format(scl_npz *npz, char format[16], scl_error *error) {
  scl_npz_array array;
  SCL_TRY(scl_npz_read(npz, "format", &array, error));
  const bool fine = array.count == 1 && strlen(array.texts[0]) < 16;
  if (fine) (void)snprintf(format, 16, "%s", array.texts[0]);
  scl_npz_array_release(&array);
  return fine ? SCL_STATUS_OK
              : scl_fail(error, SCL_STATUS_BAD_DATA,
                         "%s: array 'format': it does not name a format of scipy", npz->path);
}

static scl_status read_sparse(scl_npz *npz, npz_sparse *s, scl_csr *out, scl_error *error) {
  static const struct {
    const char *name;
    scl_status (*read)(scl_npz *, npz_sparse *, scl_csr *, scl_error *);
  } formats[] = {{"csr", read_csr}, {"csc", read_csc}, {"coo", read_coo}};
  char format[16];
  size_t k = 0;
  SCL_TRY(read_format(npz, format, error));
  while (k < 3 && strcmp(format, formats[k].name) != 0)
    k++;
  if (k == 3)
    return scl_fail(error, SCL_STATUS_BAD_DATA,
                    "%s: a sparse matrix in scipy's format '%s'; csr, csc and coo are read "
                    "(X.tocsr() in scipy)",
                    npz->path, format);
  SCL_TRY(read_shape(npz, s, error));
  SCL_TRY(read_values(npz, s, error));
  return formats[k].read(npz, s, out, error);
}

scl_status scl_npz_csr(scl_npz *npz, scl_csr *out, scl_error *error) {
  npz_sparse s = {0};
  memset(out, 0, sizeof *out);
  scl_status status = read_sparse(npz, &s, out, error);
  SCL_RELEASE(s.starts, s.places, s.columns, s.values);
  if (status == SCL_STATUS_OK) {
    status = scl_csr_check(out, s.entries, error);
    if (status != SCL_STATUS_OK) (void)scl_prefix(error, "%s", npz->path);
  }
  if (status != SCL_STATUS_OK) scl_csr_release(out);
  return status;
}
