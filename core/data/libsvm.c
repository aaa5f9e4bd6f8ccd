#include "libsvm.h"

#include "input.h"
#include "number.h"
#include <math.h>
#include <string.h>

/* Called for the label (index 0) and each index:value of a line. */
typedef struct consumer {
  scl_status (*take)(void *context, size_t row, size_t index, double value, scl_error *error);
  void *context;
} consumer;

static const char *word_end(const char *at, const char *end) {
  while (at < end && *at != ' ' && *at != '\t' && *at != '\r' && *at != '\n') at++;
  return at;
}

static const char *skip_blanks(const char *at, const char *end) {
  while (at < end && (*at == ' ' || *at == '\t' || *at == '\r')) at++;
  return at;
}

static scl_status refuse(const char *path, size_t row, const char *word, const char *stop, const char *why, scl_error *error) {
  return scl_fail(error, SCL_BAD_DATA, "%s: row %zu: '%.*s' %s", path, row + 1, (int)scl_min((size_t)(stop - word), 40), word, why);
}

static scl_status take_pair(const char *path, size_t row, const char *word, const char *stop, size_t *last, const consumer *c, scl_error *error) {
  const char *colon = memchr(word, ':', (size_t)(stop - word));
  double index, value;
  if (colon == NULL || !scl_parse_number(word, (size_t)(colon - word), &index) || !scl_parse_number(colon + 1, (size_t)(stop - colon - 1), &value))
    return refuse(path, row, word, stop, "is not index:value", error);
  if (!(index >= 1 && index <= 2147483647.0) || index != floor(index)) return refuse(path, row, word, stop, "has an index that is no whole number from 1", error);
  if ((size_t)index <= *last) return refuse(path, row, word, stop, "comes out of order: indices must grow along a row", error);
  if (!isfinite(value)) return refuse(path, row, word, stop, "is not finite", error);
  *last = (size_t)index;
  return c->take(c->context, row, (size_t)index, value, error);
}

static scl_status scan(const char *path, const char *text, size_t length, size_t *rows, const consumer *c, scl_error *error) {
  const char *at = text, *end = text + length;
  for (*rows = 0; at < end;) {
    const char *line = memchr(at, '\n', (size_t)(end - at)), *line_end = line == NULL ? end : line;
    const char *comment = memchr(at, '#', (size_t)(line_end - at));
    const char *data_end = comment == NULL ? line_end : comment;
    at = skip_blanks(at, data_end);
    if (at < data_end) {
      double label;
      const char *stop = word_end(at, data_end);
      if (!scl_parse_number(at, (size_t)(stop - at), &label) || !isfinite(label)) return refuse(path, *rows, at, stop, "is not a number: a row begins with its label", error);
      SCL_TRY(c->take(c->context, *rows, 0, label, error));
      size_t last = 0;
      for (at = skip_blanks(stop, data_end); at < data_end; at = skip_blanks(stop, data_end)) {
        stop = word_end(at, data_end);
        SCL_TRY(take_pair(path, *rows, at, stop, &last, c, error));
      }
      (*rows)++;
    }
    at = line == NULL ? end : line + 1;
  }
  return SCL_OK;
}

typedef struct filling {
  scl_table *table;
  size_t first, largest, features;
  bool measuring;
} filling;

static scl_status take(void *context, size_t row, size_t index, double value, scl_error *error) {
  filling *f = context;
  if (index > f->largest) f->largest = index;
  if (f->measuring) return SCL_OK;
  if (index > f->features)
    return scl_fail(error, SCL_BAD_DATA, "row %zu has index %zu where features = %zu", f->first + row + 1, index, f->features);
  if (index == 0)
    scl_matrix_set(&f->table->y, f->first + row, 0, value);
  else
    scl_matrix_set(&f->table->x, f->first + row, index - 1, value);
  return SCL_OK;
}

static bool labels_are_classes(const scl_table *table) {
  for (size_t i = 0; i < table->y.rows; i++)
    if (scl_matrix_get(&table->y, i, 0) != floor(scl_matrix_get(&table->y, i, 0))) return false;
  return true;
}

static scl_status pass(const char *const *paths, size_t n_paths, char **texts, const size_t *lengths, filling *f, scl_error *error) {
  const consumer c = {take, f};
  f->first = 0;
  for (size_t k = 0; k < n_paths; k++) {
    SCL_TRY(scan(paths[k], texts[k], lengths[k], &f->table->part_rows[k], &c, error));
    f->first += f->table->part_rows[k];
  }
  return SCL_OK;
}

static scl_status read_all(const char *const *paths, size_t n_paths, char **texts, size_t *lengths, size_t features, int classification,
                           scl_dtype dtype, scl_table *out, scl_error *error) {
  filling f = {.table = out, .measuring = true};
  for (size_t k = 0; k < n_paths; k++) SCL_TRY(scl_input_all(paths[k], &texts[k], &lengths[k], error));
  SCL_TRY(pass(paths, n_paths, texts, lengths, &f, error));
  out->rows = f.first;
  out->cols = f.features = features > 0 ? features : f.largest;
  if (out->rows == 0) return scl_fail(error, SCL_BAD_DATA, "%s: the file has no rows", paths[0]);
  SCL_TRY(scl_matrix_create(out->rows, out->cols, dtype, &out->x, error));
  SCL_TRY(scl_matrix_create(out->rows, 1, SCL_F64, &out->y, error));
  f.measuring = false;
  SCL_TRY(pass(paths, n_paths, texts, lengths, &f, error));
  out->classification = classification > 0 || (classification < 0 && labels_are_classes(out));
  if (!out->classification) return SCL_OK;
  SCL_TRY(scl_table_number_classes(out, error));
  if (classification < 0 && out->classes > 1000) { /* whole numbers, but too many to be labels */
    out->classification = false;
    out->classes = 0;
    scl_release(out->class_values);
    out->class_values = NULL;
  }
  return SCL_OK;
}

scl_status scl_libsvm_read(const char *const *paths, size_t n_paths, size_t features, int classification, scl_dtype dtype, scl_table *out,
                           scl_error *error) {
  memset(out, 0, sizeof *out);
  out->parts = n_paths;
  out->part_rows = scl_allocate_zero((n_paths + 1) * sizeof *out->part_rows);
  char **texts = scl_allocate_zero((n_paths + 1) * sizeof *texts);
  size_t *lengths = scl_allocate_zero((n_paths + 1) * sizeof *lengths);
  scl_status status = out->part_rows == NULL || texts == NULL || lengths == NULL
                          ? scl_fail_memory(error, n_paths, "files")
                          : read_all(paths, n_paths, texts, lengths, features, classification, dtype, out, error);
  for (size_t k = 0; texts != NULL && k < n_paths; k++) scl_release(texts[k]);
  scl_release(texts);
  scl_release(lengths);
  if (status != SCL_OK) scl_table_destroy(out);
  return status;
}
