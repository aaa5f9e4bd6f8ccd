#include "data/idx.h"

#include "base/pool.h"
#include "data/input.h"
#include <math.h>
#include <stdatomic.h>
#include <string.h>

typedef struct idx_array {
  char *bytes;
  size_t length, rows, each, size, data_at; /* each: numbers a row; size: bytes a number */
  unsigned type;
} idx_array;

static uint32_t big32(const unsigned char *b) {
  return (uint32_t)b[0] << 24 | (uint32_t)b[1] << 16 | (uint32_t)b[2] << 8 | b[3];
}

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
  if (out->length == 0) return scl_fail(error, SCL_STATUS_BAD_DATA, "%s: the file is empty", path);
  if (out->length < 8 || b[0] != 0 || b[1] != 0 || size_of(b[2]) == 0 || b[3] == 0 || b[3] > 8) {
    const unsigned long magic = out->length >= 4 ? big32(b) : 0;
    return scl_fail(
        error, SCL_STATUS_BAD_DATA,
        "%s: wrong magic number %lu: this is no IDX file (images of bytes have 2051, labels 2049)",
        path, magic);
  }
  const size_t dims = b[3];
  out->type = b[2];
  out->size = size_of(b[2]);
  out->data_at = 4 + 4 * dims;
  if (out->length < out->data_at)
    return scl_fail(error, SCL_STATUS_BAD_DATA, "%s: the IDX header is cut off", path);
  out->rows = big32(b + 4);
  out->each = 1;
  for (size_t k = 1; k < dims; k++) {
    const size_t dim = big32(b + 4 + 4 * k);
    if (dim != 0 && out->each > ((size_t)1 << 40) / dim)
      return scl_fail(error, SCL_STATUS_BAD_DATA, "%s: the sizes in the IDX header are absurd",
                      path);
    out->each *= dim;
  }
  const double wanted =
      (double)out->data_at + (double)out->rows * (double)out->each * (double)out->size;
  if ((double)out->length != wanted)
    return scl_fail(
        error, SCL_STATUS_BAD_DATA,
        "%s: the file has %zu bytes where its header (%zu rows of %zu numbers) says %.0f: it is %s",
        path, out->length, out->rows, out->each, wanted,
        (double)out->length < wanted ? "cut off" : "too long");
  return SCL_STATUS_OK;
}

static double number_at(const idx_array *a, size_t place) {
  const unsigned char *b = (const unsigned char *)a->bytes + a->data_at + place * a->size;
  uint64_t bits = 0;
  for (size_t k = 0; k < a->size; k++)
    bits = bits << 8 | b[k];
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

/* ---------------------------------------------------------------- bytes to numbers, a task some
 * rows */

typedef struct converting {
  const idx_array *from;
  scl_matrix *to;
  size_t first;     /* row of `to` */
  double wide[256]; /* the values of bytes */
  double factor;
  atomic_bool infinite;
} converting;

enum { ROWS_A_TASK = 256 };

static void convert_rows(void *context, size_t index) {
  converting *job = context;
  const idx_array *a = job->from;
  const size_t first = index * ROWS_A_TASK, rows = scl_min(ROWS_A_TASK, a->rows - first);
  const unsigned char *bytes = (const unsigned char *)a->bytes + a->data_at;
  for (size_t i = first; i < first + rows; i++) {
    double *wide =
        job->to->dtype == SCL_DTYPE_FLOAT64 ? scl_matrix_row(job->to, job->first + i) : NULL;
    float *narrow =
        job->to->dtype == SCL_DTYPE_FLOAT64 ? NULL : scl_matrix_row_f32(job->to, job->first + i);
    double sum = 0;
    for (size_t j = 0; j < a->each; j++) {
      const size_t place = i * a->each + j;
      const double value =
          a->type == 0x08 ? job->wide[bytes[place]] : job->factor * number_at(a, place);
      if (wide != NULL) {
        wide[j] = value;
        sum += 0 * value;
      } else {
        narrow[j] = (float)value;
        sum += 0 * (double)narrow[j];
      }
    }
    if (isnan(sum))
      atomic_store(&job->infinite, true); /* 0 x is NaN exactly where x is not finite */
  }
}

static scl_status convert(const char *path, const idx_array *a, double factor, scl_matrix *to,
                          size_t first, scl_error *error) {
  converting job = {.from = a, .to = to, .first = first, .factor = factor};
  size_t row = 0, col = 0;
  atomic_init(&job.infinite, false);
  for (int v = 0; v < 256; v++)
    job.wide[v] = factor * v;
  scl_pool_run((a->rows + ROWS_A_TASK - 1) / ROWS_A_TASK, convert_rows, &job);
  if (!atomic_load(&job.infinite)) return SCL_STATUS_OK;
  scl_matrix part = scl_matrix_slice(to, first, a->rows, 0, a->each);
  (void)scl_matrix_find_nonfinite(&part, &row, &col);
  scl_matrix_release(&part);
  return scl_fail(error, SCL_STATUS_BAD_DATA, "%s: row %zu, number %zu is not finite", path,
                  row + 1, col + 1);
}

/* ---------------------------------------------------------------- parts */

static scl_status check_part(const char *const *images, const char *const *labels,
                             const idx_array *arrays, size_t parts, size_t k, scl_error *error) {
  const idx_array *image = &arrays[k], *label = &arrays[parts + k];
  if (image->rows == 0 || image->each == 0)
    return scl_fail(error, SCL_STATUS_BAD_DATA, "%s: it holds no numbers (%zu rows of %zu)",
                    images[k], image->rows, image->each);
  if (image->each != arrays[0].each)
    return scl_fail(error, SCL_STATUS_BAD_SHAPE,
                    "%s: its rows have %zu numbers, and those of %s have %zu", images[k],
                    image->each, images[0], arrays[0].each);
  if (labels == NULL) return SCL_STATUS_OK;
  if (label->each != 1)
    return scl_fail(error, SCL_STATUS_BAD_SHAPE,
                    "%s: labels are one number a row, and its rows have %zu", labels[k],
                    label->each);
  if (label->rows == image->rows) return SCL_STATUS_OK;
  return scl_fail(error, SCL_STATUS_BAD_SHAPE, "%s holds %zu labels, and %s %zu images", labels[k],
                  label->rows, images[k], image->rows);
}

static scl_status read_all(const char *const *images, const char *const *labels, size_t parts,
                           double scale, scl_dtype dtype, idx_array *arrays, scl_table *out,
                           scl_error *error) {
  for (size_t k = 0; k < parts; k++) {
    SCL_TRY(open_idx(images[k], &arrays[k], error));
    if (labels != NULL) SCL_TRY(open_idx(labels[k], &arrays[parts + k], error));
    SCL_TRY(check_part(images, labels, arrays, parts, k, error));
    out->part_rows[k] = arrays[k].rows;
    out->rows += arrays[k].rows;
  }
  out->cols = arrays[0].each;
  SCL_TRY(scl_table_make(out, dtype, labels != NULL, error));
  for (size_t k = 0, first = 0; k < parts; first += out->part_rows[k++]) {
    SCL_TRY(convert(images[k], &arrays[k], scale, &out->x, first, error));
    if (labels != NULL) SCL_TRY(convert(labels[k], &arrays[parts + k], 1, &out->y, first, error));
  }
  if (labels == NULL) return SCL_STATUS_OK;
  out->classification = true;
  return scl_table_number_classes(out, error);
}

scl_status scl_idx_read(const char *const *images, const char *const *labels, size_t parts,
                        double scale, scl_dtype dtype, scl_table *out, scl_error *error) {
  memset(out, 0, sizeof *out);
  out->parts = parts;
  out->name_prefix = "p";
  out->part_rows = scl_allocate_zero((parts + 1) * sizeof *out->part_rows);
  idx_array *arrays = scl_allocate_zero((2 * parts + 1) * sizeof *arrays);
  const scl_status status = out->part_rows == NULL || arrays == NULL
                                ? scl_fail_memory(error, parts * sizeof *arrays, "parts")
                                : read_all(images, labels, parts, scale, dtype, arrays, out, error);
  for (size_t k = 0; arrays != NULL && k < 2 * parts; k++)
    scl_release(arrays[k].bytes);
  scl_release(arrays);
  if (status != SCL_STATUS_OK) scl_table_destroy(out);
  return status;
}
