/* Rows of Arrow's C stream interface as row-major numbers (scullery/scullery.h). What a stream says
 * about the sizes of its buffers is trusted, as the interface has no other word for it. */
#include "model/arrow.h"
#include "base/numbers.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ------------ types of columns */

static const arrow_number types[] = {{'c', 1, false}, {'C', 1, false}, {'s', 2, false},
                                     {'S', 2, false}, {'i', 4, false}, {'I', 4, false},
                                     {'l', 8, false}, {'L', 8, false}, {'f', 4, true},
                                     {'g', 8, true},  {'b', 0, false}};

static const arrow_number *type_of(const struct ArrowSchema *schema) {
  if (schema->format == NULL || strlen(schema->format) != 1) return NULL;
  for (size_t k = 0; k < sizeof types / sizeof *types; k++)
    if (types[k].format == schema->format[0]) return &types[k];
  return NULL;
}

/* The formats of texts: with offsets of 32 bits, of 64 bits, and views. */
static const char *const texts[] = {"u", "U", "vu"};

static const char *text_format(const struct ArrowSchema *schema) {
  for (size_t k = 0; schema->format != NULL && k < sizeof texts / sizeof *texts; k++)
    if (strcmp(schema->format, texts[k]) == 0) return texts[k];
  return NULL;
}

static scl_status refuse(const arrow_column *c, const char *why, const char *format,
                         scl_error *error) {
  return scl_fail(error, SCL_STATUS_UNSUPPORTED,
                  "column '%s' of the Arrow stream %s (format \"%s\"); it takes columns of "
                  "numbers, truth values and texts",
                  c->name, why, format == NULL ? "" : format);
}

static scl_status look_at_column(const struct ArrowSchema *schema, size_t first, arrow_column *out,
                                 scl_error *error) {
  *out =
      (arrow_column){.first = first, .width = 1, .name = schema->name == NULL ? "" : schema->name};
  out->text = text_format(schema->dictionary != NULL ? schema->dictionary : schema);
  if (schema->dictionary != NULL && (out->text == NULL || (out->type = type_of(schema)) == NULL ||
                                     out->type->is_float || out->type->size == 0))
    return refuse(out, "has categories that are not texts", schema->dictionary->format, error);
  if (out->text != NULL) return SCL_STATUS_OK;
  if (schema->format != NULL && strncmp(schema->format, "+w:", 3) == 0 && schema->n_children == 1) {
    char *end;
    const unsigned long long width = strtoull(schema->format + 3, &end, 10);
    if (*end != 0 || width == 0 || width > INT32_MAX)
      return refuse(out, "has lists without numbers", schema->format, error);
    out->width = (size_t)width;
    out->is_list = true;
    schema = schema->children[0];
  }
  out->type = schema->dictionary == NULL ? type_of(schema) : NULL;
  return out->type != NULL ? SCL_STATUS_OK
                           : refuse(out, "is of another type", schema->format, error);
}

static scl_status look_at_columns(arrow_reading *r, scl_error *error) {
  const struct ArrowSchema *schema = &r->schema;
  if (schema->format == NULL || strcmp(schema->format, "+s") != 0 || schema->n_children < 1)
    return scl_fail(error, SCL_STATUS_UNSUPPORTED,
                    "the Arrow stream is not a table of columns (format \"%s\")",
                    schema->format == NULL ? "" : schema->format);
  const size_t count = (size_t)schema->n_children;
  r->columns = scl_allocate_zero(count * sizeof *r->columns);
  if (r->columns == NULL) return scl_fail_memory(error, count * sizeof *r->columns, "columns");
  r->count = count;
  bool narrow = true, numbers = false;
  for (size_t j = 0; j < r->count; j++) {
    SCL_TRY(look_at_column(schema->children[j], r->rows.columns, &r->columns[j], error));
    r->rows.columns += r->columns[j].width;
    if (r->columns[j].text == NULL) {
      narrow = narrow && r->columns[j].type->format == 'f';
      numbers = true;
    }
  }
  r->rows.dtype = narrow && numbers ? SCL_DTYPE_FLOAT32 : SCL_DTYPE_FLOAT64;
  return SCL_STATUS_OK;
}

/* ------------ batches */

static bool bit(const void *bits, int64_t i) {
  return (((const uint8_t *)bits)[i / 8] >> (i % 8) & 1) != 0;
}

/* Whether the array has what its type needs. */
static bool is_sound(const struct ArrowArray *a, int64_t buffers, int64_t children) {
  return a != NULL && a->length >= 0 && a->offset >= 0 && a->n_buffers == buffers &&
         a->n_children == children && a->buffers != NULL && (children == 0 || a->children != NULL);
}

/* The place of the first null from `first` on, or `end`. */
static int64_t null_in(const struct ArrowArray *a, int64_t first, int64_t end) {
  if (a->null_count == 0 || a->buffers[0] == NULL) return end;
  while (first < end && bit(a->buffers[0], a->offset + first))
    first++;
  return first;
}

static scl_status refuse_arrays(const arrow_column *c, scl_error *error) {
  return scl_fail(error, SCL_STATUS_BAD_DATA,
                  "column '%s' of the Arrow stream does not have the arrays of its type", c->name);
}

/* The array with the numbers of column j, the place of the batch's first number in it, and that of
 * the end. */
static scl_status find_numbers(const arrow_reading *r, const struct ArrowArray *batch, size_t j,
                               const struct ArrowArray **out, int64_t *first, scl_error *error) {
  const arrow_column *c = &r->columns[j];
  const struct ArrowArray *a = batch->children[j];
  const int64_t width = (int64_t)c->width;
  int64_t at = batch->offset, end = batch->offset + batch->length, null;
  bool sound = is_sound(a, c->is_list ? 1 : 2, c->is_list ? 1 : 0) && a->length >= end;
  if (sound && (null = null_in(a, at, end)) < end)
    return scl_fail(error, SCL_STATUS_BAD_DATA,
                    "row %" PRId64 ", column '%s' of the Arrow stream is null",
                    (int64_t)r->rows.rows + null - at + 1, c->name);
  if (sound && c->is_list) {
    at = (a->offset + at) * width;
    end = (a->offset + end) * width;
    a = a->children[0];
    sound = is_sound(a, 2, 0) && a->length >= end;
    if (sound && (null = null_in(a, at, end)) < end)
      return scl_fail(error, SCL_STATUS_BAD_DATA,
                      "row %" PRId64 ", column '%s' of the Arrow stream has a null in its list",
                      (int64_t)r->rows.rows + (null - at) / width + 1, c->name);
  }
  if (!sound || (end > at && a->buffers[1] == NULL)) return refuse_arrays(c, error);
  *out = a;
  *first = a->offset + at;
  return SCL_STATUS_OK;
}

/* Whole numbers up to here are doubles. */
#define LARGEST INT64_C(9007199254740992)

/* Number k of the values, and whether it is exact. */
static bool number_at(char format, const void *values, int64_t k, double *out) {
  switch (format) {
  case 'c':
    *out = ((const int8_t *)values)[k];
    return true;
  case 'C':
    *out = ((const uint8_t *)values)[k];
    return true;
  case 's':
    *out = ((const int16_t *)values)[k];
    return true;
  case 'S':
    *out = ((const uint16_t *)values)[k];
    return true;
  case 'i':
    *out = ((const int32_t *)values)[k];
    return true;
  case 'I':
    *out = ((const uint32_t *)values)[k];
    return true;
  case 'l': {
    const int64_t value = ((const int64_t *)values)[k];
    *out = (double)value;
    return value >= -LARGEST && value <= LARGEST;
  }
  case 'L': {
    const uint64_t value = ((const uint64_t *)values)[k];
    *out = (double)value;
    return value <= LARGEST;
  }
  case 'f':
    *out = ((const float *)values)[k];
    return true;
  case 'g':
    *out = ((const double *)values)[k];
    return true;
  default:
    *out = bit(values, k);
    return true;
  }
}

/* ------------ texts */

static bool is_null(const struct ArrowArray *a, int64_t k) {
  return a->null_count != 0 && a->buffers[0] != NULL && !bit(a->buffers[0], a->offset + k);
}

/* Text k of a checked array. False: its offsets are not valid, or it has no bytes. */
static bool text_at(const struct ArrowArray *a, const char *format, int64_t k, const char **text,
                    size_t *length) {
  k += a->offset;
  if (*format == 'v') {
    const char *view = (const char *)a->buffers[1] + 16 * k;
    int32_t size, buffer, offset;
    memcpy(&size, view, sizeof size);
    memcpy(&buffer, view + 8, sizeof buffer);
    memcpy(&offset, view + 12, sizeof offset);
    *length = (size_t)size;
    *text = view + 4;
    if (size <= 12) return size >= 0;
    if (buffer < 0 || buffer >= a->n_buffers - 3 || offset < 0) return false;
    *text = (const char *)a->buffers[2 + buffer];
    if (*text != NULL) *text += offset;
    return *text != NULL;
  }
  const bool large = *format == 'U';
  const int64_t from =
      large ? ((const int64_t *)a->buffers[1])[k] : ((const int32_t *)a->buffers[1])[k];
  const int64_t to =
      large ? ((const int64_t *)a->buffers[1])[k + 1] : ((const int32_t *)a->buffers[1])[k + 1];
  if (from < 0 || to < from || (to > from && a->buffers[2] == NULL)) return false;
  *length = (size_t)(to - from);
  if (to > from) *text = (const char *)a->buffers[2] + from;
  return true;
}

static bool texts_are_sound(const struct ArrowArray *a, const char *format) {
  return a != NULL && is_sound(a, *format == 'v' && a->n_buffers > 3 ? a->n_buffers : 3, 0) &&
         (a->length == 0 || a->buffers[1] != NULL);
}

/* *level: the number of the text from place k of the array on, 0: null. */
static scl_status find_text(const arrow_reading *r, arrow_column *c, const struct ArrowArray *a,
                            int64_t k, double *level, scl_error *error) {
  const char *text = "";
  size_t length = 0;
  bool null = is_null(a, k), sound = true;
  if (!null && c->type != NULL) {
    double place;
    sound = number_at(c->type->format, a->buffers[1], a->offset + k, &place) && place >= 0 &&
            place < (double)a->dictionary->length;
    a = a->dictionary;
    k = sound ? (int64_t)place : 0;
    null = sound && is_null(a, k);
  }
  *level = 0;
  if (sound && !null) sound = text_at(a, c->text, k, &text, &length);
  if (!sound || (!null && length > 0 && memchr(text, 0, length) != NULL))
    return scl_fail(error, SCL_STATUS_BAD_DATA, "row %zu, column '%s' of the Arrow stream: %s",
                    r->rows.rows, c->name, sound ? "a text with a zero byte" : "it has no text");
  if (null || (length == 1 && *text == '?')) return SCL_STATUS_OK;
  if (r->wanted == NULL && !csv_levels_add(&c->levels, text, length))
    return scl_fail_memory(error, length, "texts");
  const long place = csv_levels_find(&c->levels, text, length);
  *level = place < 0 ? ARROW_UNKNOWN : (double)place + 1;
  return SCL_STATUS_OK;
}

static void put_number(const arrow_reading *r, size_t place, double value) {
  scl_set_number(r->numbers, r->rows.dtype, place, value);
}

static scl_status copy_texts(arrow_reading *r, const struct ArrowArray *batch, size_t j,
                             scl_error *error) {
  arrow_column *c = &r->columns[j];
  const struct ArrowArray *a = batch->children[j];
  const size_t before = r->rows.rows;
  const bool coded = c->type != NULL;
  bool sound = coded ? is_sound(a, 2, 0) && texts_are_sound(a->dictionary, c->text)
                     : texts_are_sound(a, c->text);
  sound = sound && a->length >= batch->offset + batch->length;
  if (!sound || (batch->length > 0 && a->buffers[1] == NULL)) return refuse_arrays(c, error);
  scl_status status = SCL_STATUS_OK;
  for (size_t i = 0; status == SCL_STATUS_OK && i < (size_t)batch->length; i++) {
    double level;
    r->rows.rows = before + i + 1; /* the row that an error names */
    status = find_text(r, c, a, batch->offset + (int64_t)i, &level, error);
    if (status != SCL_STATUS_OK) break;
    c->nulls = c->nulls || level == 0;
    put_number(r, (before + i) * r->rows.columns + c->first, level);
  }
  r->rows.rows = before;
  if (status == SCL_STATUS_OK && c->levels.overflow)
    return scl_fail(
        error, SCL_STATUS_BAD_DATA,
        "column '%s' of the Arrow stream has more than %d different texts: that is not a "
        "category",
        c->name, CSV_MOST_LEVELS);
  return status;
}

/* Copy the column of a batch to the rows from r->rows.rows on. */
static scl_status copy_column(arrow_reading *r, const struct ArrowArray *batch, size_t j,
                              scl_error *error) {
  const arrow_column *c = &r->columns[j];
  const size_t columns = r->rows.columns;
  const struct ArrowArray *a;
  int64_t first;
  if (c->text != NULL) return copy_texts(r, batch, j, error);
  SCL_TRY(find_numbers(r, batch, j, &a, &first, error));
  for (size_t i = 0; i < (size_t)batch->length; i++) {
    const size_t to = (r->rows.rows + i) * columns + c->first;
    for (size_t k = 0; k < c->width; k++) {
      double value;
      if (!number_at(c->type->format, a->buffers[1], first + (int64_t)(i * c->width + k), &value))
        return scl_fail(
            error, SCL_STATUS_BAD_DATA,
            "row %zu, column '%s' of the Arrow stream: a whole number beyond 2^53, which "
            "float64 does not have",
            r->rows.rows + i + 1, c->name);
      put_number(r, to + k, value);
    }
  }
  return SCL_STATUS_OK;
}

/* Room for `count` more rows. */
static scl_status grow(arrow_reading *r, size_t count, scl_error *error) {
  const size_t wanted = r->rows.rows + count;
  if (wanted <= r->room) return SCL_STATUS_OK;
  const size_t room = wanted > 2 * r->room ? wanted : 2 * r->room,
               size = r->rows.dtype == SCL_DTYPE_FLOAT32 ? sizeof(float) : sizeof(double),
               row = r->rows.columns * size;
  void *more = room > SIZE_MAX / row ? NULL : scl_allocate(room * row);
  if (more == NULL)
    return scl_fail(error, SCL_STATUS_NO_MEMORY,
                    "not enough memory for %zu rows of %zu columns of the Arrow stream", room,
                    r->rows.columns);
  if (r->rows.rows > 0) memcpy(more, r->numbers, r->rows.rows * row);
  scl_release(r->numbers);
  r->numbers = more;
  r->room = room;
  return SCL_STATUS_OK;
}

static scl_status copy_batch(arrow_reading *r, const struct ArrowArray *batch, scl_error *error) {
  SCL_TRY(grow(r, (size_t)batch->length, error));
  for (size_t j = 0; j < r->count; j++)
    SCL_TRY(copy_column(r, batch, j, error));
  r->rows.rows += (size_t)batch->length;
  return SCL_STATUS_OK;
}

/* Whether the numbers of the only batch are the rows, where they lie. */
static bool is_kept(const arrow_reading *r) {
  const arrow_column *only = &r->columns[0];
  return r->count == 1 && only->text == NULL && only->type->is_float && !r->moved;
}

/* ------------ the stream */

static scl_status failed(struct ArrowArrayStream *stream, const char *what, int code,
                         scl_error *error) {
  const char *said = stream->get_last_error != NULL ? stream->get_last_error(stream) : NULL;
  return scl_fail(error, SCL_STATUS_IO, "the Arrow stream did not give %s: %s (%d)", what,
                  said == NULL ? "it does not say why" : said, code);
}

static void release_array(struct ArrowArray *array) {
  if (array->release != NULL) array->release(array);
}

/* The next batch; released at the end of the stream. */
static scl_status next_batch(arrow_reading *r, struct ArrowArray *out, scl_error *error) {
  *out = (struct ArrowArray){0};
  const int code = r->stream->get_next(r->stream, out);
  if (code != 0) return failed(r->stream, "its rows", code, error);
  if (out->release == NULL ||
      (is_sound(out, 1, r->schema.n_children) && null_in(out, 0, out->length) == out->length))
    return SCL_STATUS_OK;
  release_array(out);
  return scl_fail(
      error, SCL_STATUS_BAD_DATA,
      "a batch of the Arrow stream does not have the %zu columns of its schema in each row",
      r->count);
}

/* The first batch is kept until there is a second, if its numbers can be the rows. */
static scl_status read_batches(arrow_reading *r, scl_error *error) {
  for (;;) {
    struct ArrowArray batch;
    SCL_TRY(next_batch(r, &batch, error));
    if (batch.release == NULL) return SCL_STATUS_OK;
    if (r->kept.release == NULL && r->rows.rows == 0 && is_kept(r)) {
      r->kept = batch;
      continue;
    }
    scl_status status = SCL_STATUS_OK;
    if (r->kept.release != NULL) {
      status = copy_batch(r, &r->kept, error);
      release_array(&r->kept);
      r->kept.release = NULL;
    }
    if (status == SCL_STATUS_OK) status = copy_batch(r, &batch, error);
    release_array(&batch);
    if (status != SCL_STATUS_OK) return status;
  }
}

static scl_status borrow(arrow_reading *r, scl_error *error) {
  const struct ArrowArray *a;
  int64_t first;
  if (r->kept.release == NULL) {
    r->rows.values = r->numbers;
    return SCL_STATUS_OK;
  }
  SCL_TRY(find_numbers(r, &r->kept, 0, &a, &first, error));
  r->rows.rows = (size_t)r->kept.length;
  if (r->rows.rows > 0)
    r->rows.values = (const char *)a->buffers[1] + (size_t)first * r->columns[0].type->size;
  return SCL_STATUS_OK;
}

static scl_status read_stream(arrow_reading *r, arrow_owned *out, scl_error *error) {
  const int code = r->stream->get_schema(r->stream, &r->schema);
  if (code != 0) return failed(r->stream, "its schema", code, error);
  SCL_TRY(look_at_columns(r, error));
  for (size_t j = 0; j < r->count; j++)
    r->moved = r->moved || r->columns[j].text != NULL;
  if (r->wanted != NULL) SCL_TRY(arrow_find_wanted(r, error));
  SCL_TRY(read_batches(r, error));
  SCL_TRY(borrow(r, error));
  SCL_TRY(arrow_lay_out(r, out, error));
  *out = (arrow_owned){r->rows, r->kept, r->numbers, out->names};
  r->kept.release = NULL;
  r->numbers = NULL;
  return SCL_STATUS_OK;
}

scl_status scl_arrow_read_as(struct ArrowArrayStream *stream, const char *const *names,
                             size_t count, scl_arrow_rows **out, scl_error *error) {
  if (out != NULL) *out = NULL;
  if (stream == NULL || stream->release == NULL || out == NULL)
    return scl_fail(
        error, SCL_STATUS_BAD_OPTION,
        "scl_arrow_read: takes a stream that was not released, and a place for the rows");
  arrow_reading r = {.stream = stream, .wanted = names, .n_wanted = names == NULL ? 0 : count};
  arrow_owned *made = scl_allocate_zero(sizeof *made);
  scl_status status =
      made == NULL ? scl_fail_memory(error, sizeof *made, "rows") : read_stream(&r, made, error);
  if (r.schema.release != NULL) r.schema.release(&r.schema);
  stream->release(stream);
  release_array(&r.kept);
  for (size_t j = 0; j < r.count; j++) {
    csv_levels_release(&r.columns[j].levels);
    SCL_RELEASE(r.columns[j].texts, r.columns[j].to);
  }
  SCL_RELEASE(r.columns, r.numbers);
  if (status == SCL_STATUS_OK)
    *out = &made->rows;
  else if (made != NULL)
    SCL_RELEASE(made->names, made);
  return status;
}

scl_status scl_arrow_read(struct ArrowArrayStream *stream, scl_arrow_rows **out, scl_error *error) {
  return scl_arrow_read_as(stream, NULL, 0, out, error);
}

void scl_arrow_free(scl_arrow_rows *rows) {
  arrow_owned *made = (arrow_owned *)rows;
  if (made == NULL) return;
  release_array(&made->kept);
  SCL_RELEASE(made->numbers, made->names, made);
}
