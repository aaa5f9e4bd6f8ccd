/* Models as safetensors files: a JSON header and arrays, signed by a SHA-256 of the whole file. */
#include "data/safetensors.h"

#include "base/interrupt.h"
#include "base/text.h"
#include "data/files/digest.h"
#include "data/files/file.h"
#include "data/files/output.h"
#include "data/json.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
  PREFIX = 8,                  /* bytes of the header's length */
  MOST_HEADER = 100 * 1000000, /* as in the format's own reader */
  CHUNK = 1 << 16,             /* bytes hashed at a time */
  MOST_RANK = 4
};

/* The beginning of every header, the place of the digits, and what follows them. */
static const char before[] = "{\"__metadata__\":{\"sha256\":\"", after[] = "\",\"scullery\":\"";
enum { DIGITS_AT = sizeof before - 1, LEAST_HEADER = DIGITS_AT + SCL_DIGEST_TEXT + sizeof after };

/* ------------ types */

static const struct {
  const char *name;
  scl_dtype dtype;
  size_t size;
} types[] = {{"F64", SCL_DTYPE_FLOAT64, 8},
             {"F32", SCL_DTYPE_FLOAT32, 4},
             {"I64", SCL_DTYPE_INT64, 8},
             {"I32", SCL_DTYPE_INT32, 4}};
enum { TYPES = sizeof types / sizeof *types };

static const char *name_of_dtype(scl_dtype dtype) {
  for (size_t i = 0; i < TYPES; i++)
    if (types[i].dtype == dtype) return types[i].name;
  return NULL;
}

static bool find_dtype(const char *name, scl_dtype *out) {
  for (size_t i = 0; i < TYPES; i++)
    if (strcmp(types[i].name, name) == 0) {
      *out = types[i].dtype;
      return true;
    }
  return false;
}

static size_t dtype_size(scl_dtype dtype) {
  for (size_t i = 0; i < TYPES; i++)
    if (types[i].dtype == dtype) return types[i].size;
  return 0;
}

/* Bytes of the array; false where that many cannot be. */
static bool size_of(const scl_array *array, size_t *out) {
  size_t bytes = dtype_size(array->dtype);
  bool empty = false;
  for (uint32_t i = 0; i < array->rank; i++) {
    if (array->sizes[i] != 0 && bytes > INT64_MAX / array->sizes[i]) return false;
    empty = empty || array->sizes[i] == 0;
    if (array->sizes[i] != 0) bytes *= array->sizes[i];
  }
  *out = empty ? 0 : bytes;
  return bytes > 0;
}

/* Whether the name of an array may be used in a file. */
static bool is_name(const char *name) {
  const size_t length = strlen(name);
  return length > 0 && length <= SCL_TENSOR_NAME &&
         strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.") == length;
}

/* Numbers of `size` bytes from this machine's order to little-endian, or back. */
static void reorder(unsigned char *bytes, size_t count, size_t size) {
  const uint16_t one = 1;
  if (*(const unsigned char *)&one == 1) return;
  for (size_t i = 0; i < count; i++, bytes += size)
    for (size_t b = 0; b < size / 2; b++) {
      const unsigned char kept = bytes[b];
      bytes[b] = bytes[size - 1 - b];
      bytes[size - 1 - b] = kept;
    }
}

/* ------------ writing */

typedef struct writer {
  const char *path;
  const scl_tensor **order; /* as in the file */
  size_t count, length;     /* of the header, with its padding */
  char *header;             /* prefix and header */
} writer;

static int compare_tensors(const void *a, const void *b) {
  const scl_tensor *x = *(const scl_tensor *const *)a, *y = *(const scl_tensor *const *)b;
  const size_t wide = dtype_size(x->array.dtype), other = dtype_size(y->array.dtype);
  return wide != other ? (wide > other ? -1 : 1) : strcmp(x->name, y->name);
}

/* Sort the arrays by the size of their numbers, widest first, then by name: every array is
 * aligned, and equal models give equal files. */
static scl_status put_in_order(writer *w, const scl_tensor *tensors, scl_error *error) {
  w->order = scl_allocate_array(w->count + 1, sizeof *w->order);
  if (w->order == NULL) return scl_fail_memory(error, w->count * sizeof *w->order, "a file");
  for (size_t i = 0; i < w->count; i++) {
    size_t bytes;
    w->order[i] = &tensors[i];
    if (!is_name(tensors[i].name) || tensors[i].array.rank > MOST_RANK ||
        !size_of(&tensors[i].array, &bytes))
      return scl_fail(error, SCL_STATUS_BAD_SHAPE,
                      "%s: array \"%.80s\" has no type, shape or name "
                      "that a safetensors file takes",
                      w->path, tensors[i].name);
  }
  qsort(w->order, w->count, sizeof *w->order, compare_tensors);
  for (size_t i = 1; i < w->count; i++)
    if (strcmp(w->order[i - 1]->name, w->order[i]->name) == 0)
      return scl_fail(error, SCL_STATUS_INTERNAL, "%s: there are two arrays \"%s\"", w->path,
                      w->order[i]->name);
  return SCL_STATUS_OK;
}

/* libcjson prints doubles; sizes are written as they are. */
static bool add_size(cJSON *list, size_t value) {
  char text[24];
  (void)snprintf(text, sizeof text, "%zu", value);
  return cJSON_AddItemToArray(list, cJSON_CreateRaw(text));
}

/* Adds the entry of one array to the header, and moves *offset past its bytes. False: no memory. */
static bool add_tensor(cJSON *root, const scl_tensor *tensor, size_t *offset) {
  size_t bytes = 0;
  cJSON *entry = cJSON_AddObjectToObject(root, tensor->name);
  bool whole = entry != NULL && size_of(&tensor->array, &bytes) &&
               cJSON_AddStringToObject(entry, "dtype", name_of_dtype(tensor->array.dtype));
  cJSON *shape = whole ? cJSON_AddArrayToObject(entry, "shape") : NULL,
        *offsets = whole ? cJSON_AddArrayToObject(entry, "data_offsets") : NULL;
  whole = shape != NULL && offsets != NULL;
  for (uint32_t i = 0; whole && i < tensor->array.rank; i++)
    whole = add_size(shape, tensor->array.sizes[i]);
  whole = whole && add_size(offsets, *offset) && add_size(offsets, *offset + bytes);
  *offset += bytes;
  return whole;
}

/* The header as JSON, with zeros in place of the digest. NULL: not enough memory. cJSON_free
 * releases it. */
static char *print_header(const writer *w, const char *text) {
  char zeros[SCL_DIGEST_TEXT + 1];
  size_t offset = 0;
  memset(zeros, '0', SCL_DIGEST_TEXT);
  zeros[SCL_DIGEST_TEXT] = 0;
  cJSON *root = cJSON_CreateObject();
  cJSON *metadata = root == NULL ? NULL : cJSON_AddObjectToObject(root, "__metadata__");
  bool whole = metadata != NULL && cJSON_AddStringToObject(metadata, "sha256", zeros) &&
               cJSON_AddStringToObject(metadata, "scullery", text);
  for (size_t i = 0; whole && i < w->count; i++)
    whole = add_tensor(root, w->order[i], &offset);
  char *printed = whole ? cJSON_PrintUnformatted(root) : NULL;
  cJSON_Delete(root);
  return printed;
}

/* w->header = the length in 8 bytes, then the header, padded with spaces to a multiple of 8. */
static scl_status make_header(writer *w, const char *text, scl_error *error) {
  char *printed = print_header(w, text);
  if (printed == NULL) return scl_fail_memory(error, strlen(text), "the header of a file");
  const size_t used = strlen(printed);
  w->length = (used + 7) / 8 * 8;
  if (w->length <= MOST_HEADER) w->header = scl_allocate(PREFIX + w->length);
  if (w->header != NULL) {
    for (size_t b = 0; b < PREFIX; b++)
      w->header[b] = (char)(unsigned char)((uint64_t)w->length >> 8 * b);
    memset(w->header + PREFIX, ' ', w->length);
    memcpy(w->header + PREFIX, printed, used);
  }
  cJSON_free(printed);
  if (w->header != NULL) return SCL_STATUS_OK;
  if (w->length <= MOST_HEADER)
    return scl_fail_memory(error, PREFIX + w->length, "the header of a file");
  return scl_fail(error, SCL_STATUS_NO_MEMORY,
                  "%s: the description takes %zu bytes, and up to %d can be written", w->path,
                  w->length, MOST_HEADER);
}

/* Passes the bytes of the arrays, in the order of the file, to a digest or an output (either may be
 * NULL). */
static scl_status each_chunk(const writer *w, scl_digest *digest, scl_output *output,
                             scl_error *error) {
  unsigned char chunk[CHUNK];
  for (size_t i = 0; i < w->count; i++) {
    const scl_array *array = &w->order[i]->array;
    const size_t size = dtype_size(array->dtype);
    size_t bytes = 0;
    (void)size_of(array, &bytes);
    for (size_t at = 0, count; at < bytes; at += count) {
      count = scl_min(CHUNK, bytes - at);
      memcpy(chunk, (const char *)array->data + at, count);
      reorder(chunk, count / size, size);
      if (digest != NULL) scl_digest_add(digest, chunk, count);
      if (output != NULL) scl_output_write(output, chunk, count);
      SCL_TRY(scl_interrupt_check(error));
    }
  }
  return SCL_STATUS_OK;
}

/* Compute the SHA-256 of the file with zeros in place of the digest, and write the digest over
 * the zeros. */
static scl_status sign(writer *w, scl_error *error) {
  scl_digest digest;
  char text[SCL_DIGEST_TEXT + 1];
  scl_digest_open(&digest);
  scl_digest_add(&digest, w->header, PREFIX + w->length);
  SCL_TRY(each_chunk(w, &digest, NULL, error));
  scl_digest_text(&digest, text);
  memcpy(w->header + PREFIX + DIGITS_AT, text, SCL_DIGEST_TEXT);
  return SCL_STATUS_OK;
}

static scl_status write_out(const writer *w, scl_error *error) {
  scl_output *output;
  SCL_TRY(scl_output_open(w->path, &output, error));
  scl_output_write(output, w->header, PREFIX + w->length);
  const scl_status status = each_chunk(w, NULL, output, error);
  if (status == SCL_STATUS_OK) return scl_output_commit(output, error);
  scl_output_abandon(output);
  return status;
}

/* The whole file in memory. */
static scl_status copy_out(const writer *w, unsigned char **out, size_t *size, scl_error *error) {
  size_t at = PREFIX + w->length, bytes = 0;
  *size = at;
  for (size_t i = 0; i < w->count; i++) {
    (void)size_of(&w->order[i]->array, &bytes);
    *size += bytes;
  }
  *out = scl_allocate(*size);
  if (*out == NULL) return scl_fail_memory(error, *size, "a model");
  memcpy(*out, w->header, at);
  for (size_t i = 0; i < w->count; i++, at += bytes) {
    const scl_array *array = &w->order[i]->array;
    const size_t width = dtype_size(array->dtype);
    (void)size_of(array, &bytes);
    if (bytes > 0) memcpy(*out + at, array->data, bytes);
    reorder(*out + at, bytes / width, width);
  }
  return SCL_STATUS_OK;
}

/* w->order and w->header, signed. */
static scl_status prepare(writer *w, const char *text, const scl_tensor *tensors,
                          scl_error *error) {
  if (w->count > SCL_TENSORS)
    return scl_fail(error, SCL_STATUS_UNSUPPORTED, "%s: %zu arrays, and up to %d can be written",
                    w->path, w->count, SCL_TENSORS);
  if (!scl_json_is_text(text, strlen(text)))
    return scl_fail(error, SCL_STATUS_BAD_DATA, "%s: the description is not UTF-8", w->path);
  SCL_TRY(put_in_order(w, tensors, error));
  SCL_TRY(make_header(w, text, error));
  return sign(w, error);
}

scl_status scl_safetensors_write(const char *path, const char *text, const scl_tensor *tensors,
                                 size_t count, scl_error *error) {
  writer w = {.path = path, .count = count};
  scl_status status = prepare(&w, text, tensors, error);
  if (status == SCL_STATUS_OK) status = write_out(&w, error);
  SCL_RELEASE((void *)w.order, w.header);
  return status;
}

scl_status scl_safetensors_bytes(const char *text, const scl_tensor *tensors, size_t count,
                                 unsigned char **bytes, size_t *size, scl_error *error) {
  writer w = {.path = "the model", .count = count};
  scl_status status = prepare(&w, text, tensors, error);
  if (status == SCL_STATUS_OK) status = copy_out(&w, bytes, size, error);
  SCL_RELEASE((void *)w.order, w.header);
  return status;
}

/* ------------ reading: bytes */

typedef struct reader {
  const char *path;
  scl_file file;
  const unsigned char *bytes; /* of a file in memory, instead of `file` */
  size_t size, at;            /* of the file, and read of it */
  size_t length;              /* of the header */
  char *header;               /* with a 0 behind it */
  char digits[SCL_DIGEST_TEXT + 1];
  scl_digest digest;
  struct span *spans;
} reader;

static scl_status damaged(const reader *r, const char *why, scl_error *error) {
  return scl_fail(error, SCL_STATUS_BAD_DATA, "%s: %s", r->path, why);
}

/* Reads `size` bytes, which the caller has compared with what the file has left. */
static scl_status read_bytes(reader *r, void *to, size_t size, scl_error *error) {
  if (r->bytes == NULL)
    SCL_TRY(scl_file_read_at(&r->file, r->at, size, to, error));
  else if (size > 0)
    memcpy(to, r->bytes + r->at, size);
  r->at += size;
  return SCL_STATUS_OK;
}

/* Whether the header begins as ours do, with a digest of 64 digits. */
static bool is_signed(const reader *r) {
  const char *digits = r->header + DIGITS_AT;
  return r->length >= LEAST_HEADER && memcmp(r->header, before, DIGITS_AT) == 0 &&
         strspn(digits, "0123456789abcdef") == SCL_DIGEST_TEXT &&
         memcmp(digits + SCL_DIGEST_TEXT, after, sizeof after - 1) == 0;
}

/* Read the prefix and the header, take the digest out of it, and begin the digest of the file
 * with zeros in its place. */
static scl_status read_header(reader *r, scl_error *error) {
  static const char none[] = "this is not a model: it does not begin as a saved model does";
  unsigned char prefix[PREFIX];
  uint64_t length = 0;
  if (r->size < PREFIX) return damaged(r, "the file is cut off, or no safetensors file", error);
  SCL_TRY(read_bytes(r, prefix, PREFIX, error));
  for (size_t b = 0; b < PREFIX; b++)
    length |= (uint64_t)prefix[b] << 8 * b;
  if (length > MOST_HEADER) return damaged(r, none, error);
  if (length > r->size - PREFIX)
    return damaged(r, "the file is cut off: it ends inside its header", error);
  r->length = (size_t)length;
  r->header = scl_allocate(r->length + 1);
  if (r->header == NULL) return scl_fail_memory(error, r->length, "the header of a file");
  r->header[r->length] = 0;
  SCL_TRY(read_bytes(r, r->header, r->length, error));
  if (!is_signed(r)) return damaged(r, none, error);
  memcpy(r->digits, r->header + DIGITS_AT, SCL_DIGEST_TEXT);
  memset(r->header + DIGITS_AT, '0', SCL_DIGEST_TEXT);
  scl_digest_open(&r->digest);
  scl_digest_add(&r->digest, prefix, PREFIX);
  scl_digest_add(&r->digest, r->header, r->length);
  return SCL_STATUS_OK;
}

/* ------------ reading: what the header says */

/* The bytes of an array within the data. */
typedef struct span {
  size_t begin, end;
  scl_tensor *tensor;
} span;

static int compare_spans(const void *a, const void *b) {
  const span *x = a, *y = b;
  if (x->begin != y->begin) return x->begin < y->begin ? -1 : 1;
  return x->end == y->end ? 0 : x->end < y->end ? -1 : 1;
}

/* A whole number up to 2^53, as doubles hold it exactly. */
static bool read_size(const cJSON *value, size_t *out) {
  const double most = 9007199254740992.0;
  if (!cJSON_IsNumber(value)) return false;
  const double number = value->valuedouble;
  if (!(number >= 0 && number <= most) || number != floor(number)) return false;
  *out = (size_t)number;
  return true;
}

static bool read_shape(const cJSON *list, scl_array *out) {
  if (!cJSON_IsArray(list)) return false;
  for (const cJSON *item = list->child; item != NULL; item = item->next)
    if (out->rank == MOST_RANK || !read_size(item, &out->sizes[out->rank++])) return false;
  return true;
}

/* Checks one entry of the header: name, type, shape, and offsets that fit the shape. */
static scl_status read_entry(const reader *r, const cJSON *entry, span *out, scl_error *error) {
  const cJSON *dtype = cJSON_GetObjectItemCaseSensitive(entry, "dtype"),
              *shape = cJSON_GetObjectItemCaseSensitive(entry, "shape"),
              *offsets = cJSON_GetObjectItemCaseSensitive(entry, "data_offsets");
  scl_tensor *tensor = out->tensor;
  size_t bytes = 0;
  if (!is_name(entry->string)) return damaged(r, "it names an array as no model does", error);
  (void)snprintf(tensor->name, sizeof tensor->name, "%s", entry->string);
  if (!cJSON_IsObject(entry) || cJSON_GetArraySize(entry) != 3 || !cJSON_IsString(dtype) ||
      !find_dtype(dtype->valuestring, &tensor->array.dtype))
    return scl_fail(error, SCL_STATUS_BAD_DATA,
                    "%s: array \"%s\" has a type that no model has; there are F64, F32, I64, I32",
                    r->path, tensor->name);
  if (!read_shape(shape, &tensor->array) || !size_of(&tensor->array, &bytes))
    return scl_fail(error, SCL_STATUS_BAD_DATA, "%s: array \"%s\" has a shape that cannot be",
                    r->path, tensor->name);
  if (!cJSON_IsArray(offsets) || cJSON_GetArraySize(offsets) != 2 ||
      !read_size(offsets->child, &out->begin) || !read_size(offsets->child->next, &out->end) ||
      out->begin > out->end || out->end - out->begin != bytes ||
      out->begin % dtype_size(tensor->array.dtype) != 0)
    return scl_fail(error, SCL_STATUS_BAD_DATA,
                    "%s: array \"%s\" does not lie where its shape fits", r->path, tensor->name);
  return SCL_STATUS_OK;
}

/* The arrays fill the rest of the file, without gaps or overlaps. */
static scl_status check_spans(const reader *r, size_t count, scl_error *error) {
  const size_t data = r->size - PREFIX - r->length;
  size_t at = 0;
  qsort(r->spans, count, sizeof *r->spans, compare_spans);
  for (size_t i = 0; i < count; at = r->spans[i++].end)
    if (r->spans[i].begin != at || r->spans[i].end > data)
      return scl_fail(error, SCL_STATUS_BAD_DATA,
                      "%s: array \"%s\" overlaps another, leaves a gap or lies outside the file",
                      r->path, r->spans[i].tensor->name);
  if (at == data) return SCL_STATUS_OK;
  return damaged(r, "its arrays do not end where the file ends", error);
}

/* Reads all entries; the arrays have no data yet. The tree is only used during the call. */
static scl_status read_index(reader *r, const cJSON *root, scl_tensor_file *out, scl_error *error) {
  const cJSON *metadata = root->child; /* the header begins with it */
  const cJSON *text = cJSON_GetObjectItemCaseSensitive(metadata, "scullery");
  const int entries = cJSON_GetArraySize(root) - 1;
  if (!cJSON_IsString(text)) return damaged(r, "it has no description of a model", error);
  if (entries > SCL_TENSORS) return damaged(r, "it has more arrays than any model", error);
  const size_t count = (size_t)entries;
  out->text = scl_copy_text(text->valuestring);
  out->tensors = scl_allocate_zero((count + 1) * sizeof *out->tensors);
  r->spans = scl_allocate_zero((count + 1) * sizeof *r->spans);
  if (out->text == NULL || out->tensors == NULL || r->spans == NULL)
    return scl_fail_memory(error, count * sizeof *out->tensors, "the index of a file");
  out->count = count;
  size_t i = 0;
  for (const cJSON *entry = metadata->next; entry != NULL; entry = entry->next, i++) {
    r->spans[i].tensor = &out->tensors[i];
    SCL_TRY(read_entry(r, entry, &r->spans[i], error));
  }
  return check_spans(r, count, error);
}

/* ------------ reading: numbers */

/* Reads the numbers of one array, which out->tensors owns, and adds them to the digest. */
static scl_status read_array(reader *r, const span *s, scl_error *error) {
  const size_t bytes = s->end - s->begin, size = dtype_size(s->tensor->array.dtype);
  unsigned char *numbers = scl_allocate(bytes + 1);
  if (numbers == NULL) return scl_fail_memory(error, bytes, "an array of a file");
  s->tensor->array.data = numbers;
  for (size_t at = 0, count; at < bytes; at += count) {
    count = scl_min(CHUNK, bytes - at);
    SCL_TRY(read_bytes(r, numbers + at, count, error));
    scl_digest_add(&r->digest, numbers + at, count);
  }
  reorder(numbers, bytes / size, size);
  return scl_interrupt_check(error);
}

/* Reads the arrays in the order of the file, and compares the digest with the one in the header. */
static scl_status read_arrays(reader *r, scl_tensor_file *out, scl_error *error) {
  _Static_assert(sizeof out->sha256 == SCL_DIGEST_TEXT + 1, "room for a digest");
  for (size_t i = 0; i < out->count; i++)
    SCL_TRY(read_array(r, &r->spans[i], error));
  scl_digest_text(&r->digest, out->sha256);
  if (memcmp(out->sha256, r->digits, SCL_DIGEST_TEXT) == 0) return SCL_STATUS_OK;
  return damaged(r, "the file is damaged: its SHA-256 is not the one that it was saved with",
                 error);
}

static scl_status read_file(reader *r, scl_tensor_file *out, scl_error *error) {
  scl_json json = {0};
  SCL_TRY(read_header(r, error));
  SCL_TRY(scl_json_parse(r->header, r->length, r->path, &json, error));
  const scl_status status = read_index(r, json.root, out, error);
  scl_json_release(&json);
  return status == SCL_STATUS_OK ? read_arrays(r, out, error) : status;
}

static scl_status finish_reading(reader *r, scl_status status, scl_tensor_file *out) {
  SCL_RELEASE(r->header, r->spans);
  if (status != SCL_STATUS_OK) scl_tensor_file_release(out);
  return status;
}

scl_status scl_safetensors_read(const char *path, scl_tensor_file *out, scl_error *error) {
  reader r = {.path = path, .file.descriptor = -1};
  *out = (scl_tensor_file){0};
  SCL_TRY(scl_file_open_regular(path, &r.file, error));
  r.size = r.file.size;
  const scl_status status = finish_reading(&r, read_file(&r, out, error), out);
  scl_file_close(&r.file);
  return status;
}

scl_status scl_safetensors_parse(const void *bytes, size_t size, const char *what,
                                 scl_tensor_file *out, scl_error *error) {
  reader r = {.path = what, .bytes = bytes, .size = size};
  *out = (scl_tensor_file){0};
  return finish_reading(&r, read_file(&r, out, error), out);
}

void scl_tensor_file_release(scl_tensor_file *file) {
  for (size_t i = 0; i < file->count; i++)
    scl_release((void *)(uintptr_t)file->tensors[i].array.data);
  SCL_RELEASE(file->tensors, file->text);
  *file = (scl_tensor_file){0};
}
