/* Typed access to the description and the arrays of a saved model. The file is not trusted: every
 * field is checked for its type and range where it is read. */
#include "model/saved.h"

#include "base/text.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The newest version of the format that is read. 2 added pilot means; 3 transformed targets,
 * computed columns, and dates whose day or month comes first; 4 row stages after features,
 * selections of columns, and isotonic calibrations; 5 features of whole numbers, and sums; 6 texts,
 * and coefficients without their zeros; 7 unions of features, and learnt states without zeros. */
enum { VERSION = 8 };

/* ------------ opening */

/* The description must be of Scullery, and of a version of the format that this host reads. */
static scl_status check_body(const scl_saved *saved, const char *what, scl_error *error) {
  const cJSON *body = saved->json.root, *version = scl_saved_find(body, "version");
  const char *format = NULL, *by = "?";
  (void)scl_saved_opt_word(body, "format", &format, NULL);
  if (format == NULL || strcmp(format, "scullery") != 0 || !cJSON_IsNumber(version) ||
      !scl_json_number_of(&saved->json, version).is_whole)
    return scl_fail(error, SCL_STATUS_BAD_DATA, "%s: this is not a model of Scullery", what);
  if (scl_saved_opt_word(body, "scullery", &by, error) != SCL_STATUS_OK)
    return scl_prefix(error, "%s", what);
  const int64_t number = scl_json_number_of(&saved->json, version).whole;
  if (number <= VERSION) return SCL_STATUS_OK;
  return scl_fail(error, SCL_STATUS_UNSUPPORTED,
                  "%s: it was saved in version %lld of the format (by scullery %.40s), and this "
                  "scullery %s reads up to version %d",
                  what, (long long)number, by, SCULLERY_VERSION, VERSION);
}

scl_status scl_saved_open(const char *path, const void *bytes, size_t size, const char *what,
                          scl_loader loader, scl_saved *out, scl_error *error) {
  *out = (scl_saved){.loader = loader};
  if (path != NULL)
    SCL_TRY(scl_safetensors_read(path, &out->file, error));
  else
    SCL_TRY(scl_safetensors_parse(bytes, size, what, &out->file, error));
  scl_status status =
      scl_json_parse(out->file.text, strlen(out->file.text), what, &out->json, error);
  if (status == SCL_STATUS_OK) status = check_body(out, what, error);
  out->body = out->json.root;
  if (status != SCL_STATUS_OK) scl_saved_close(out);
  return status;
}

void scl_saved_close(scl_saved *saved) {
  scl_json_release(&saved->json);
  scl_tensor_file_release(&saved->file);
  *saved = (scl_saved){0};
}

/* ------------ the description */

const cJSON *scl_saved_find(const cJSON *from, const char *name) {
  return cJSON_IsObject(from) ? cJSON_GetObjectItemCaseSensitive(from, name) : NULL;
}

const char *scl_saved_mark(const cJSON *value) {
  const cJSON *mark = scl_saved_find(value, "@");
  return mark == NULL ? NULL : cJSON_IsString(mark) ? mark->valuestring : "?";
}

/* Lua has one empty table, which is written as {}: an object without fields is an empty list
 * too. */
bool scl_saved_is_list(const cJSON *table) {
  return cJSON_IsArray(table) || (cJSON_IsObject(table) && table->child == NULL);
}

size_t scl_saved_count(const cJSON *list) {
  size_t count = 0;
  for (const cJSON *item = list->child; item != NULL; item = item->next)
    count++;
  return count;
}

const char *scl_saved_shown(const cJSON *value, char *text, size_t size) {
  char *printed = value == NULL ? NULL : cJSON_PrintUnformatted(value);
  (void)snprintf(text, size, "%s", value == NULL ? "missing" : printed == NULL ? "?" : printed);
  if (printed != NULL && strlen(printed) >= size) memcpy(text + size - 4, "...", 4);
  cJSON_free(printed);
  return text;
}

/* Refuse a field of a wrong type; `takes` names the right one. */
static scl_status refuse_field(const cJSON *from, const char *name, const char *takes,
                               scl_error *error) {
  char text[60];
  return scl_fail(error, SCL_STATUS_BAD_DATA, "its '%s' is %s, where %s belongs", name,
                  scl_saved_shown(scl_saved_find(from, name), text, sizeof text), takes);
}

scl_status scl_saved_table(const cJSON *from, const char *name, const cJSON **out,
                           scl_error *error) {
  const cJSON *found = scl_saved_find(from, name);
  *out = found;
  if ((cJSON_IsArray(found) || cJSON_IsObject(found)) && scl_saved_mark(found) == NULL)
    return SCL_STATUS_OK;
  return refuse_field(from, name, "a table", error);
}

scl_status scl_saved_whole(const scl_saved *saved, const cJSON *from, const char *name, size_t low,
                           size_t high, size_t *out, scl_error *error) {
  const cJSON *found = scl_saved_find(from, name);
  char takes[80];
  if (cJSON_IsNumber(found)) {
    const scl_json_number number = scl_json_number_of(&saved->json, found);
    *out = (size_t)number.whole;
    if (number.is_whole && number.whole >= 0 && *out >= low && *out <= high) return SCL_STATUS_OK;
  }
  (void)snprintf(takes, sizeof takes, "a whole number from %zu on", low);
  return refuse_field(from, name, takes, error);
}

scl_status scl_saved_opt_whole(const scl_saved *saved, const cJSON *from, const char *name,
                               size_t low, size_t high, size_t *out, scl_error *error) {
  return scl_saved_find(from, name) == NULL
             ? SCL_STATUS_OK
             : scl_saved_whole(saved, from, name, low, high, out, error);
}

scl_status scl_saved_word(const cJSON *from, const char *name, const char **out, scl_error *error) {
  const cJSON *found = scl_saved_find(from, name);
  if (!cJSON_IsString(found)) return refuse_field(from, name, "a text", error);
  *out = found->valuestring;
  return SCL_STATUS_OK;
}

scl_status scl_saved_opt_word(const cJSON *from, const char *name, const char **out,
                              scl_error *error) {
  return scl_saved_find(from, name) == NULL ? SCL_STATUS_OK
                                            : scl_saved_word(from, name, out, error);
}

scl_status scl_saved_flag(const cJSON *from, const char *name, bool *out, scl_error *error) {
  const cJSON *found = scl_saved_find(from, name);
  *out = cJSON_IsTrue(found);
  return found == NULL || cJSON_IsBool(found) ? SCL_STATUS_OK
                                              : refuse_field(from, name, "true or false", error);
}

scl_status scl_saved_dtype(const char *word, scl_dtype *out, scl_error *error) {
  *out = strcmp(word, "float32") == 0 ? SCL_DTYPE_FLOAT32 : SCL_DTYPE_FLOAT64;
  if (strcmp(word, scl_dtype_name(*out)) == 0) return SCL_STATUS_OK;
  return scl_fail(error, SCL_STATUS_BAD_DATA,
                  "its 'dtype' is %.40s, where float64 or float32 belongs", word);
}

bool scl_saved_number(const scl_saved *saved, const cJSON *value, double *out) {
  const char *mark = scl_saved_mark(value), *word = NULL;
  if (cJSON_IsNumber(value)) {
    *out = scl_json_number_of(&saved->json, value).value;
    return true;
  }
  if (mark == NULL || strcmp(mark, "number") != 0 ||
      scl_saved_word(value, "value", &word, NULL) != SCL_STATUS_OK)
    return false;
  *out = strcmp(word, "inf") == 0 ? INFINITY : strcmp(word, "-inf") == 0 ? -INFINITY : NAN;
  return !isnan(*out) || strcmp(word, "nan") == 0;
}

/* Decode hexadecimal digits in place. False if there are other characters or half a byte, or if a
 * byte is 0 and `zeros` is false. */
static bool read_hex(char *text, bool zeros) {
  const size_t length = strlen(text);
  if (length % 2 != 0 || strspn(text, "0123456789abcdefABCDEF") != length) return false;
  for (size_t i = 0; i < length / 2; i++) {
    const char pair[3] = {text[2 * i], text[2 * i + 1], 0};
    text[i] = (char)(unsigned char)strtoul(pair, NULL, 16);
    if (text[i] == 0 && !zeros) return false;
  }
  text[length / 2] = 0;
  return true;
}

scl_status scl_saved_text(const scl_saved *saved, const cJSON *value, char **out,
                          scl_error *error) {
  const char *mark = scl_saved_mark(value), *word = NULL;
  const bool bytes = mark != NULL && strcmp(mark, "bytes") == 0;
  *out = NULL;
  if (bytes)
    SCL_TRY(scl_saved_word(value, "hex", &word, error));
  else if (cJSON_IsString(value))
    word = value->valuestring;
  if (word == NULL) return SCL_STATUS_OK;
  *out = scl_copy_text(word);
  if (*out == NULL) return scl_fail_memory(error, strlen(word), "a text of a model");
  if (!bytes || read_hex(*out, saved->loader == SCL_LOADER_SCRIPT)) return SCL_STATUS_OK;
  scl_release(*out);
  *out = NULL;
  return scl_fail(
      error, SCL_STATUS_UNSUPPORTED,
      "a text is not a list of bytes, or has a zero byte, which texts in C cannot hold");
}

/* ------------ the arrays */

const scl_array *scl_saved_array(const scl_saved *saved, const char *name) {
  for (size_t i = 0; i < saved->file.count; i++)
    if (strcmp(saved->file.tensors[i].name, name) == 0) return &saved->file.tensors[i].array;
  return NULL;
}

/* A part of an array without zeros, "NAME.part". */
static const scl_array *thin_part(const scl_saved *saved, const char *name, const char *part,
                                  scl_dtype dtype) {
  char text[100];
  (void)snprintf(text, sizeof text, "%s.%s", name, part);
  const scl_array *array = scl_saved_array(saved, text);
  return array != NULL && array->dtype == dtype && array->rank == 1 ? array : NULL;
}

bool scl_saved_is_thin(const scl_saved *saved, const char *name) {
  char text[100];
  (void)snprintf(text, sizeof text, "%s.places", name);
  return scl_saved_array(saved, text) != NULL;
}

bool scl_saved_has_matrix(const scl_saved *saved, const char *name) {
  return scl_saved_array(saved, name) != NULL || scl_saved_is_thin(saved, name);
}

scl_status scl_saved_thin(const scl_saved *saved, const char *name, size_t rows, size_t cols,
                          scl_matrix *out, scl_error *error) {
  static const size_t MOST = (size_t)1 << 33;
  const scl_array *places = thin_part(saved, name, "places", SCL_DTYPE_INT64),
                  *numbers = thin_part(saved, name, "values", SCL_DTYPE_FLOAT64);
  scl_matrix values;
  if (places == NULL || numbers == NULL || numbers->sizes[0] != places->sizes[0] || cols == 0 ||
      rows > MOST / cols)
    return scl_fail(error, SCL_STATUS_BAD_DATA, "its arrays '%s.places' and '%s.values' do not fit",
                    name, name);
  SCL_TRY(scl_matrix_create(rows, cols, SCL_DTYPE_FLOAT64, &values, error));
  const int64_t *place = places->data;
  const double *number = numbers->data;
  for (size_t k = 0; k < places->sizes[0]; k++) {
    if (place[k] < 0 || (size_t)place[k] >= rows * cols || (k > 0 && place[k] <= place[k - 1]) ||
        !isfinite(number[k])) {
      scl_matrix_release(&values);
      return scl_fail(error, SCL_STATUS_BAD_DATA,
                      "number %zu of its array '%s.places' or '%s.values' is none of a matrix of "
                      "%zu x %zu",
                      k + 1, name, name, rows, cols);
    }
    ((double *)values.data)[place[k]] = number[k];
  }
  *out = values;
  return SCL_STATUS_OK;
}

/* An array without zeros whose sizes are saved too. */
static scl_status sized_matrix(const scl_saved *saved, const char *name, scl_saved_shape shape,
                               scl_matrix *out, scl_error *error) {
  const scl_array *sizes = thin_part(saved, name, "sizes", SCL_DTYPE_INT64);
  const int64_t *size = sizes == NULL ? NULL : sizes->data;
  if (sizes == NULL || sizes->sizes[0] != 2 || size[0] < 0 || size[1] < 0 ||
      (shape.rows != SIZE_MAX && (size_t)size[0] != shape.rows) ||
      (shape.cols != SIZE_MAX && (size_t)size[1] != shape.cols))
    return scl_fail(error, SCL_STATUS_BAD_DATA,
                    "its array '%s.sizes' does not fit the rest of the model", name);
  return scl_saved_thin(saved, name, (size_t)size[0], (size_t)size[1], out, error);
}

scl_status scl_saved_matrix(const scl_saved *saved, const char *name, scl_saved_shape shape,
                            scl_matrix *out, scl_error *error) {
  const scl_array *array = scl_saved_array(saved, name);
  size_t row, col;
  if (array == NULL && scl_saved_is_thin(saved, name))
    return sized_matrix(saved, name, shape, out, error);
  if (array == NULL) return scl_fail(error, SCL_STATUS_BAD_DATA, "it has no array '%s'", name);
  const size_t *sizes = array->sizes;
  const bool real = array->dtype == SCL_DTYPE_FLOAT64 || array->dtype == SCL_DTYPE_FLOAT32;
  if (!real || array->rank != 2)
    return scl_fail(error, SCL_STATUS_BAD_DATA, "array '%s' is not a matrix of float64 or float32",
                    name);
  if ((shape.rows != SIZE_MAX && sizes[0] != shape.rows) ||
      (shape.cols != SIZE_MAX && sizes[1] != shape.cols) ||
      (shape.wide && array->dtype != SCL_DTYPE_FLOAT64))
    return scl_fail(error, SCL_STATUS_BAD_DATA,
                    "array '%s' is %zu x %zu in %s, which does not fit the rest of the model", name,
                    sizes[0], sizes[1], scl_dtype_name(array->dtype));
  SCL_TRY(scl_matrix_create_raw(sizes[0], sizes[1], array->dtype, out, error));
  const size_t numbers = sizes[0] * sizes[1];
  if (numbers > 0) memcpy(out->data, array->data, numbers * scl_dtype_size(array->dtype));
  if (numbers == 0 || !scl_matrix_find_nonfinite(out, &row, &col)) return SCL_STATUS_OK;
  scl_matrix_release(out);
  return scl_fail(error, SCL_STATUS_BAD_DATA, "array '%s' has a number that is not finite", name);
}
