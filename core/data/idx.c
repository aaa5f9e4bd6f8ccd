#include "idx.h"

#include "input.h"
#include <math.h>
#include <string.h>

typedef struct idx_array {
  char *bytes;
  size_t length, rows, each, size, data_at; /* each: numbers a row; size: bytes a number */
  unsigned type;
} idx_array;

static uint32_t big32(const unsigned char *b) { return (uint32_t)b[0] << 24 | (uint32_t)b[1] << 16 | (uint32_t)b[2] << 8 | b[3]; }

static size_t size_of(unsigned type) {
  switch (type) {
  case 0x08:
  case 0x09:
    return 1;
  case 0x0b:
    return 2;
  case 0x0c:
  case 0x0d:
    return 4;
  case 0x0e:
    return 8;
  default:
    return 0;
  }
}

static scl_status open_idx(const char *path, idx_array *out, scl_error *error) {
  SCL_TRY(scl_input_all(path, &out->bytes, &out->length, error));
  const unsigned char *b = (const unsigned char *)out->bytes;
  if (out->length < 8 || b[0] != 0 || b[1] != 0 || size_of(b[2]) == 0 || b[3] == 0 || b[3] > 8) {
    const unsigned long magic = out->length >= 4 ? big32(b) : 0;
    return scl_fail(error, SCL_BAD_DATA, "%s: wrong magic number %lu: this is no IDX file (images of bytes have 2051, labels 2049)", path, magic);
  }
  const size_t dims = b[3];
  out->type = b[2];
  out->size = size_of(b[2]);
  out->data_at = 4 + 4 * dims;
  if (out->length < out->data_at) return scl_fail(error, SCL_BAD_DATA, "%s: the IDX header is cut off", path);
  out->rows = big32(b + 4);
  out->each = 1;
  for (size_t k = 1; k < dims; k++) {
    const size_t dim = big32(b + 4 + 4 * k);
    if (dim != 0 && out->each > ((size_t)1 << 40) / dim) return scl_fail(error, SCL_BAD_DATA, "%s: the sizes in the IDX header are absurd", path);
    out->each *= dim;
  }
  const double wanted = (double)out->data_at + (double)out->rows * (double)out->each * (double)out->size;
  if ((double)out->length != wanted)
    return scl_fail(error, SCL_BAD_DATA, "%s: the file has %zu bytes where its header (%zu rows of %zu numbers) says %.0f", path, out->length, out->rows,
                    out->each, wanted);
  return SCL_OK;
}

static double number_at(const idx_array *a, size_t place) {
  const unsigned char *b = (const unsigned char *)a->bytes + a->data_at + place * a->size;
  uint64_t bits = 0;
  for (size_t k = 0; k < a->size; k++) bits = bits << 8 | b[k];
  union {
    uint32_t u4;
    float f4;
    uint64_t u8;
    double f8;
  } v;
  switch (a->type) {
  case 0x08:
    return (double)bits;
  case 0x09:
    return (double)(int8_t)bits;
  case 0x0b:
    return (double)(int16_t)bits;
  case 0x0c:
    return (double)(int32_t)bits;
  case 0x0d:
    v.u4 = (uint32_t)bits;
    return (double)v.f4;
  default:
    v.u8 = bits;
    return v.f8;
  }
}

static void copy_rows(const idx_array *a, double factor, scl_matrix *to, size_t first) {
  for (size_t i = 0; i < a->rows; i++)
    for (size_t j = 0; j < a->each; j++) scl_matrix_set(to, first + i, j, factor * number_at(a, i * a->each + j));
}

/* Bytes through a table of their 256 values. */
static void copy_bytes(const idx_array *a, double factor, scl_matrix *to, size_t first) {
  double wide[256];
  float narrow[256];
  for (int v = 0; v < 256; v++) narrow[v] = (float)(wide[v] = factor * v);
  const unsigned char *from = (const unsigned char *)a->bytes + a->data_at;
  for (size_t i = 0; i < a->rows; i++)
    for (size_t j = 0; j < a->each; j++) {
      if (to->dtype == SCL_F64)
        scl_matrix_row(to, first + i)[j] = wide[from[i * a->each + j]];
      else
        scl_matrix_row_f32(to, first + i)[j] = narrow[from[i * a->each + j]];
    }
}

/* Sizes first, so that X is made once: one part's bytes at a time are in memory besides it. */
static scl_status read_part(const char *path, size_t part, double scale, scl_matrix *to, size_t *first, bool labels, scl_error *error) {
  idx_array a = {0};
  scl_status status = open_idx(path, &a, error);
  if (status == SCL_OK && a.each != to->cols)
    status = scl_fail(error, SCL_BAD_DATA, labels ? "%s: labels have one number a row; part %zu has %zu" : "%s: part %zu has %zu numbers a row, the first another count",
                      path, part + 1, a.each);
  if (status == SCL_OK && *first + a.rows > to->rows) status = scl_fail(error, SCL_BAD_SHAPE, "%s: %zu labels, more than images", path, a.rows);
  if (status == SCL_OK) {
    if (a.type == 0x08)
      copy_bytes(&a, scale, to, *first);
    else
      copy_rows(&a, scale, to, *first);
    *first += a.rows;
  }
  scl_release(a.bytes);
  return status;
}

static scl_status sizes(const char *const *images, size_t parts, scl_table *out, size_t *each, scl_error *error) {
  out->parts = parts;
  out->part_rows = scl_allocate_zero((parts + 1) * sizeof *out->part_rows);
  if (out->part_rows == NULL) return scl_fail_memory(error, parts, "parts");
  for (size_t k = 0; k < parts; k++) {
    scl_input *input;
    unsigned char head[40] = {0};
    size_t got = 0;
    SCL_TRY(scl_input_open(images[k], &input, error));
    const scl_status status = scl_input_read(input, head, sizeof head, &got, error);
    scl_input_close(input);
    SCL_TRY(status);
    const bool plausible = got >= 8 && head[0] == 0 && head[1] == 0 && head[3] >= 1 && head[3] <= 8;
    if (!plausible) return scl_fail(error, SCL_BAD_DATA, "%s: wrong magic number %lu: this is no IDX file", images[k], (unsigned long)big32(head));
    *each = 1;
    for (size_t d = 1; d < head[3]; d++) *each *= big32(head + 4 + 4 * d);
    out->part_rows[k] = big32(head + 4);
    out->rows += out->part_rows[k];
  }
  return SCL_OK;
}

static scl_status read_all(const char *const *images, const char *const *labels, size_t parts, double scale, scl_dtype dtype, scl_table *out,
                           scl_error *error) {
  size_t each = 1, first = 0, label = 0;
  SCL_TRY(sizes(images, parts, out, &each, error));
  if ((double)out->rows * (double)each > 1e12) return scl_fail(error, SCL_BAD_DATA, "%s: the sizes in the IDX header are absurd", images[0]);
  out->cols = each;
  /* A damaged header must not make a huge matrix: the files must be as long as they say. */
  for (size_t k = 0; k < parts; k++) {
    idx_array a = {0};
    const scl_status status = (double)out->rows * (double)each > 1e9 ? open_idx(images[k], &a, error) : SCL_OK;
    scl_release(a.bytes);
    SCL_TRY(status);
  }
  SCL_TRY(scl_matrix_create(out->rows, each, dtype, &out->x, error));
  for (size_t k = 0; k < parts; k++) SCL_TRY(read_part(images[k], k, scale, &out->x, &first, false, error));
  if (labels == NULL) return SCL_OK;
  SCL_TRY(scl_matrix_create(out->rows, 1, SCL_F64, &out->y, error));
  for (size_t k = 0; k < parts; k++) {
    const size_t before = label;
    SCL_TRY(read_part(labels[k], k, 1, &out->y, &label, true, error));
    if (label - before != out->part_rows[k])
      return scl_fail(error, SCL_BAD_SHAPE, "%s: %zu labels for %zu images", labels[k], label - before, out->part_rows[k]);
  }
  out->classification = true;
  return scl_table_number_classes(out, error);
}

scl_status scl_idx_read(const char *const *images, const char *const *labels, size_t parts, double scale, scl_dtype dtype, scl_table *out,
                        scl_error *error) {
  memset(out, 0, sizeof *out);
  const scl_status status = read_all(images, labels, parts, scale, dtype, out, error);
  if (status != SCL_OK) scl_table_destroy(out);
  return status;
}
