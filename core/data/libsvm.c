#include "data/libsvm.h"

#include "base/interrupt.h"
#include "base/text.h"
#include "data/files/input.h"
#include "data/libsvm_internal.h"
#include "data/number.h"
#include <math.h>
#include <string.h>

enum {
  MOST_CLASSES = 1000,
  A_LOOK = 1 << 14, /* pairs or lines between two looks for Ctrl-C */
  SPARSE = 1 << 12, /* bytes of X for one of the file that nobody means */
  SMALL = 1 << 24   /* bytes of X that need no reason */
};

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

typedef struct filling {
  scl_table *table;
  size_t first, largest, features, bytes; /* bytes: of all files */
  bool measuring, fractions;              /* fractions: a label is no whole number */
} filling;

static bool take(void *context, size_t row, size_t index, double value) {
  filling *f = context;
  if (index > f->largest) f->largest = index;
  if (f->features > 0 && index > f->features) return false;
  if (f->measuring) {
    if (index == 0) f->fractions = f->fractions || value != floor(value);
    return true;
  }
  if (index == 0)
    scl_matrix_set(&f->table->y, f->first + row, 0, value);
  else
    scl_matrix_set(&f->table->x, f->first + row, index - 1, value);
  return true;
}

static scl_status pass(const char *const *paths, size_t n_paths, const scl_text *texts, filling *f,
                       scl_error *error) {
  const libsvm_consumer c = {take, f, "has an index past the option features"};
  f->first = 0;
  for (size_t k = 0; k < n_paths; k++) {
    libsvm_place p = {.path = paths[k], .row = 1, .number = 1};
    SCL_TRY(libsvm_scan(&p, texts[k].bytes, texts[k].length, &c, error));
    f->table->part_rows[k] = p.row - 1;
    f->first += f->table->part_rows[k];
  }
  return SCL_STATUS_OK;
}

static scl_status find_classes(scl_table *out, int classification, bool fractions,
                               scl_error *error) {
  scl_labels labels = {0};
  if (classification == 0 || (classification < 0 && fractions)) return SCL_STATUS_OK;
  for (size_t i = 0; i < out->rows; i++)
    if (!scl_labels_add(&labels, scl_matrix_get(&out->y, i, 0))) {
      scl_release(labels.values);
      return scl_fail_memory(error, labels.count * sizeof(double), "labels");
    }
  if (classification < 0 &&
      labels.count > MOST_CLASSES) { /* whole numbers, but too many to be labels */
    scl_release(labels.values);
    return SCL_STATUS_OK;
  }
  out->classification = true;
  return scl_table_take_labels(out, &labels, error);
}

/* One index makes X as wide as it says: a mistake in a small file must not ask for all memory. */
static scl_status check_width(const scl_table *table, const filling *f, const char *path,
                              scl_dtype dtype, scl_error *error) {
  const double x = (double)table->rows * (double)table->cols * (double)scl_dtype_size(dtype);
  char x_text[32], file_text[32];
  if (x <= SMALL || x <= SPARSE * (double)f->bytes) return SCL_STATUS_OK;
  return scl_fail(
      error, SCL_STATUS_BAD_DATA,
      "%s: the largest index is %zu, so that X would be %zu x %zu numbers, %s of memory "
      "for %s of text; option 'features' = %zu says that this is meant",
      path, table->cols, table->rows, table->cols, scl_bytes_text(x, x_text),
      scl_bytes_text((double)f->bytes, file_text), table->cols);
}

static scl_status read_all(const char *const *paths, size_t n_paths, scl_text *texts,
                           size_t unpacked, size_t features, int classification, scl_dtype dtype,
                           scl_table *out, scl_error *error) {
  filling f = {.table = out, .measuring = true, .features = features};
  for (size_t k = 0; k < n_paths; k++)
    SCL_TRY(scl_input_text(paths[k], unpacked, "", &texts[k], error));
  SCL_TRY(pass(paths, n_paths, texts, &f, error));
  for (size_t k = 0; k < n_paths; k++)
    if (out->part_rows[k] == 0)
      return scl_fail(error, SCL_STATUS_BAD_DATA, "%s: the file has no rows", paths[k]);
  out->rows = f.first;
  out->cols = f.features = features > 0 ? features : f.largest;
  if (out->cols == 0)
    return scl_fail(
        error, SCL_STATUS_BAD_DATA,
        "%s: no row has an index:value; option 'features' says how many columns there are",
        paths[0]);
  for (size_t k = 0; k < n_paths; k++)
    f.bytes += texts[k].length;
  if (features == 0) SCL_TRY(check_width(out, &f, paths[0], dtype, error));
  SCL_TRY(scl_table_make(out, dtype, true, true, error));
  f.measuring = false;
  SCL_TRY(pass(paths, n_paths, texts, &f, error));
  size_t row, col;
  if (dtype == SCL_DTYPE_FLOAT32 && scl_matrix_find_nonfinite(&out->x, &row, &col))
    return scl_fail(error, SCL_STATUS_BAD_DATA,
                    "%s: row %zu has a number at index %zu that is too large for float32", paths[0],
                    row + 1, col + 1);
  return find_classes(out, classification, f.fractions, error);
}

scl_status scl_libsvm_read(const char *const *paths, size_t n_paths, size_t features,
                           int classification, scl_dtype dtype, size_t unpacked, scl_table *out,
                           scl_error *error) {
  memset(out, 0, sizeof *out);
  out->parts = n_paths;
  out->name_prefix = "";
  out->part_rows = scl_allocate_zero((n_paths + 1) * sizeof *out->part_rows);
  scl_text *texts = scl_allocate_zero((n_paths + 1) * sizeof *texts);
  scl_status status =
      out->part_rows == NULL || texts == NULL
          ? scl_fail_memory(error, n_paths, "files")
          : read_all(paths, n_paths, texts, unpacked, features, classification, dtype, out, error);
  for (size_t k = 0; texts != NULL && k < n_paths; k++)
    scl_release(texts[k].bytes);
  scl_release(texts);
  if (status != SCL_STATUS_OK) scl_table_destroy(out);
  return status;
}
