/* The numbers of an Arrow stream to the columns of rows: levels of texts, names, and the columns of
 * other rows. */
#include "base/numbers.h"
#include "model/arrow.h"

#include <stdio.h>
#include <stdlib.h>

/* Entries of c->to. */
static size_t places_of(const arrow_column *c) {
  return c->text != NULL ? c->levels.count + 1 : c->width;
}

static scl_status make_places(arrow_column *c, size_t count, scl_error *error) {
  c->to = scl_allocate_array(count, sizeof *c->to);
  if (c->to == NULL) return scl_fail_memory(error, count * sizeof *c->to, "columns");
  for (size_t k = 0; k < count; k++)
    c->to[k] = ARROW_NOWHERE;
  return SCL_STATUS_OK;
}

/* Whether the column of the rows with that name comes from column c of the stream; then *rest is its
 * level, or *place its place in a list. */
static bool is_of(const arrow_column *c, const char *name, const char **rest, size_t *place) {
  const size_t length = strlen(c->name);
  *place = 0;
  if (strncmp(name, c->name, length) != 0) return false;
  *rest = name + length + (name[length] != 0);
  if (c->text != NULL) return name[length] == '=';
  if (!c->is_list) return name[length] == 0;
  char *end;
  const unsigned long long k = strtoull(*rest, &end, 10);
  *place = (size_t)k - 1;
  return name[length] == '_' && *end == 0 && k >= 1 && k <= c->width;
}

/* Whether all numbers of a column are wanted, or any of its texts. */
static bool is_wanted(const arrow_column *c) {
  const size_t places = places_of(c);
  size_t wanted = 0;
  for (size_t k = 0; k < places; k++)
    wanted += c->to[k] != ARROW_NOWHERE;
  return c->text != NULL ? wanted > 0 : wanted == places;
}

/* Gives each wanted column of the rows to the column of the stream with the longest name that fits,
 * and texts their levels. */
scl_status arrow_find_wanted(arrow_reading *r, scl_error *error) {
  for (size_t j = 0; j < r->count; j++) {
    const arrow_column *c = &r->columns[j];
    SCL_TRY(make_places(&r->columns[j], c->text != NULL ? r->n_wanted + 1 : c->width, error));
  }
  for (size_t w = 0; w < r->n_wanted; w++) {
    arrow_column *found = NULL;
    const char *level = NULL;
    size_t place = 0;
    for (size_t j = 0; j < r->count; j++) {
      const char *rest;
      size_t at;
      arrow_column *c = &r->columns[j];
      if (!is_of(c, r->wanted[w], &rest, &at)) continue;
      if (found != NULL && strlen(c->name) <= strlen(found->name)) continue;
      found = c;
      level = rest;
      place = at;
    }
    if (found != NULL && found->text != NULL && strcmp(level, "?") != 0) {
      if (!csv_levels_add(&found->levels, level, strlen(level)))
        return scl_fail_memory(error, strlen(level), "texts");
      place = (size_t)csv_levels_find(&found->levels, level, strlen(level)) + 1;
    }
    if (found == NULL || found->to[place] != ARROW_NOWHERE)
      return scl_fail(error, SCL_STATUS_BAD_DATA, "the Arrow stream has no column '%s'%s",
                      r->wanted[w], found == NULL ? "" : " a second time");
    found->to[place] = w;
    r->moved = r->moved || found->first + place != w;
  }
  for (size_t j = 0; j < r->count; j++)
    if (!is_wanted(&r->columns[j]))
      return scl_fail(error, SCL_STATUS_BAD_DATA,
                      "column '%s' of the Arrow stream is not among the %zu that are wanted%s",
                      r->columns[j].name, r->n_wanted,
                      r->columns[j].is_list ? ", with all numbers of its lists" : "");
  return SCL_STATUS_OK;
}

/* The columns of the levels of a column of texts, in the order of their bytes, behind `first`; then
 * that of nulls, if there are any. */
static scl_status lay_out_texts(const arrow_reading *r, arrow_column *c, size_t *first,
                                scl_error *error) {
  const size_t count = c->levels.count;
  if (count >= 20 && 2 * count > r->rows.rows)
    return scl_fail(error, SCL_STATUS_BAD_DATA,
                    "column '%s' of the Arrow stream has %zu different texts in %zu rows, such as "
                    "'%.40s': too many for one column each",
                    c->name, count, r->rows.rows, c->levels.list[0].text);
  c->texts = scl_allocate_array(count + 1, sizeof *c->texts);
  if (c->texts == NULL) return scl_fail_memory(error, count * sizeof *c->texts, "texts");
  for (size_t k = 0; k < count; k++)
    c->texts[k] = c->levels.list[k].text;
  csv_levels_sort(&c->levels);
  for (size_t k = 0; k < count; k++)
    c->to[k + 1] = *first + (size_t)csv_levels_find(&c->levels, c->texts[k], strlen(c->texts[k]));
  if (c->nulls) c->to[0] = *first + count;
  *first += count + c->nulls;
  return SCL_STATUS_OK;
}

static scl_status lay_out(arrow_reading *r, size_t *columns, scl_error *error) {
  *columns = r->n_wanted;
  for (size_t j = 0; j < r->count && r->wanted == NULL; j++) {
    arrow_column *c = &r->columns[j];
    SCL_TRY(make_places(c, places_of(c), error));
    if (c->text != NULL) SCL_TRY(lay_out_texts(r, c, columns, error));
    for (size_t k = 0; k < c->width && c->text == NULL; k++)
      c->to[k] = (*columns)++;
  }
  return SCL_STATUS_OK;
}

/* The numbers that were copied, to the `columns` columns of the rows. */
static scl_status move_numbers(arrow_reading *r, size_t columns, scl_error *error) {
  const scl_dtype dtype = r->rows.dtype;
  const size_t row = columns * scl_dtype_size(dtype);
  void *rows = row > 0 && r->rows.rows > SIZE_MAX / row - 1
                   ? NULL
                   : scl_allocate_zero(r->rows.rows * row + 1);
  if (rows == NULL) return scl_fail_memory(error, row, "each row of the Arrow stream");
  for (size_t i = 0; i < r->rows.rows; i++)
    for (size_t j = 0; j < r->count; j++) {
      const arrow_column *c = &r->columns[j];
      for (size_t k = 0; k < c->width; k++) {
        const double value = scl_number(r->numbers, dtype, i * r->rows.columns + c->first + k);
        const bool known = c->text == NULL || value != ARROW_UNKNOWN;
        const size_t to = known ? c->to[c->text == NULL ? k : (size_t)value] : ARROW_NOWHERE;
        if (to != ARROW_NOWHERE)
          scl_set_number(rows, dtype, i * columns + to, c->text == NULL ? value : 1);
        r->rows.unknown += to == ARROW_NOWHERE;
      }
    }
  scl_release(r->numbers);
  r->numbers = rows;
  r->rows.values = rows;
  return SCL_STATUS_OK;
}

/* The name of the column of the rows for place k of column c, to `at` of `room` bytes; returns its
 * length. Those of a list are "name_1", "name_2", ..., those of texts "name=text". */
static size_t write_name(const arrow_reading *r, const arrow_column *c, size_t k, char *at,
                         size_t room) {
  const char *level = c->text == NULL ? "" : k == 0 ? "=?" : "=";
  const int length = r->wanted != NULL ? snprintf(at, room, "%s", r->wanted[c->to[k]])
                     : c->is_list      ? snprintf(at, room, "%s_%zu", c->name, k + 1)
                                       : snprintf(at, room, "%s%s%s", c->name, level,
                                             c->text == NULL || k == 0 ? "" : c->texts[k - 1]);
  return (size_t)length;
}

/* The names of the columns of the rows. */
static scl_status name_columns(arrow_reading *r, arrow_owned *out, scl_error *error) {
  size_t bytes = r->rows.columns * sizeof(char *) + 1;
  char *at = NULL;
  for (int writes = 0; writes < 2; writes++) {
    for (size_t j = 0; j < r->count; j++)
      for (size_t k = 0; k < places_of(&r->columns[j]); k++) {
        const arrow_column *c = &r->columns[j];
        if (c->to[k] == ARROW_NOWHERE) continue;
        const size_t room = writes ? (size_t)((char *)out->names + bytes - at) : 0,
                     length = write_name(r, c, k, at, room);
        if (writes) {
          r->rows.texts += c->text != NULL;
          out->names[c->to[k]] = at;
          at += length + 1;
        } else {
          bytes += length + 1;
        }
      }
    if (writes) break;
    out->names = scl_allocate(bytes);
    if (out->names == NULL) return scl_fail_memory(error, bytes, "names of columns");
    at = (char *)(out->names + r->rows.columns);
  }
  r->rows.names = (const char *const *)out->names;
  return SCL_STATUS_OK;
}

scl_status arrow_lay_out(arrow_reading *r, arrow_owned *out, scl_error *error) {
  size_t columns;
  SCL_TRY(lay_out(r, &columns, error));
  if (r->moved) SCL_TRY(move_numbers(r, columns, error));
  r->rows.columns = columns;
  return name_columns(r, out, error);
}
