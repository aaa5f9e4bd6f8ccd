/* Files of packed codes: writing whole or not at all, and reading with every number checked. Called
 * by core/lua/codes.c. */
#include "data/codes_file.h"

#include "codes/codes_internal.h"
#include "data/files/input.h"
#include "data/files/output.h"

#include <string.h>

enum { MAGIC = 8, HEADER = 3, NUMBER = 8 };
static const char magic[MAGIC + 1] = "SCLCODE1";

/* ------------ numbers as bytes */

/* `count` numbers as 8 bytes each, the lowest byte first, whatever the machine's order. */
static void to_bytes(const uint64_t *numbers, size_t count, unsigned char *bytes) {
  for (size_t i = 0; i < count; i++)
    for (size_t b = 0; b < NUMBER; b++)
      bytes[i * NUMBER + b] = (unsigned char)(numbers[i] >> 8 * b);
}

static void from_bytes(const unsigned char *bytes, size_t count, uint64_t *numbers) {
  for (size_t i = 0; i < count; i++) {
    numbers[i] = 0;
    for (size_t b = 0; b < NUMBER; b++)
      numbers[i] |= (uint64_t)bytes[i * NUMBER + b] << 8 * b;
  }
}

/* One row's words and their bytes. */
typedef struct row_buffer {
  uint64_t *words;
  unsigned char *bytes;
  size_t count;
} row_buffer;

/* A buffer for one row of codes; the caller releases out->words, which holds the bytes too. */
static scl_status make_row(const scl_codes *codes, row_buffer *out, scl_error *error) {
  out->count = scl_codes_row_words(codes);
  out->words = scl_allocate_array(out->count, 2 * NUMBER);
  if (out->words == NULL) return scl_fail_memory(error, out->count * 2 * NUMBER, "a row of codes");
  out->bytes = (unsigned char *)(out->words + out->count);
  return SCL_STATUS_OK;
}

/* ------------ writing */

scl_status scl_codes_write(const scl_codes *codes, const char *path, scl_error *error) {
  scl_output *output;
  row_buffer row = {0};
  SCL_TRY(make_row(codes, &row, error));
  scl_status status = scl_output_open(path, &output, error);
  if (status == SCL_STATUS_OK) {
    const uint64_t header[HEADER] = {codes->rows, codes->cols, codes->levels};
    unsigned char bytes[HEADER * NUMBER];
    to_bytes(header, HEADER, bytes);
    scl_output_write(output, magic, MAGIC);
    scl_output_write(output, bytes, sizeof bytes);
    for (size_t i = 0; i < codes->rows && !scl_output_failed(output); i++) {
      scl_codes_get_row(codes, i, row.words);
      to_bytes(row.words, row.count, row.bytes);
      scl_output_write(output, row.bytes, row.count * NUMBER);
    }
    status = scl_output_commit(output, error);
  }
  scl_release(row.words);
  return status;
}

/* ------------ reading: nothing that the file says is trusted */

/* Exactly `size` bytes; fewer in the file is an error. */
static scl_status read_whole(scl_input *input, void *to, size_t size, const char *path,
                             scl_error *error) {
  for (size_t have = 0; have < size;) {
    size_t got = 0;
    SCL_TRY(scl_input_read(input, (char *)to + have, size - have, &got, error));
    if (got == 0)
      return scl_fail(error, SCL_STATUS_BAD_DATA, "%s: the file of codes is cut short", path);
    have += got;
  }
  return SCL_STATUS_OK;
}

/* The sizes are bounded before anything is allocated by them: rows and columns below 2^31, and no
 * more numbers than the file has bits. */
static scl_status read_header(scl_input *input, const char *path, uint64_t header[HEADER],
                              scl_error *error) {
  char found[MAGIC];
  unsigned char bytes[HEADER * NUMBER];
  SCL_TRY(read_whole(input, found, MAGIC, path, error));
  if (memcmp(found, magic, MAGIC) != 0)
    return scl_fail(error, SCL_STATUS_BAD_DATA, "%s: this is not a file of codes", path);
  SCL_TRY(read_whole(input, bytes, sizeof bytes, path, error));
  from_bytes(bytes, HEADER, header);
  if (header[0] > INT32_MAX || header[1] < 1 || header[1] > INT32_MAX || header[2] < 1 ||
      header[2] > SCL_CODES_LEVELS)
    return scl_fail(error, SCL_STATUS_BAD_DATA,
                    "%s: damaged: %llu codes of %llu numbers with %llu levels", path,
                    (unsigned long long)header[0], (unsigned long long)header[1],
                    (unsigned long long)header[2]);
  if ((double)header[0] * (double)header[1] / 8 >
      (double)scl_input_most(input)) /* a bit a number */
    return scl_fail(error, SCL_STATUS_BAD_DATA, "%s: the file of codes is cut short", path);
  return SCL_STATUS_OK;
}

/* Whether each number of the row is one of the levels, and the bits after the last number are
 * zero. */
static bool is_code(const scl_codes *codes, const uint64_t *words) {
  for (size_t t = 0; t < codes->plane_words * SCL_CODES_WORD; t++) {
    uint64_t number = 0;
    for (size_t p = 0; p < codes->planes; p++)
      number |= (words[p * codes->plane_words + t / SCL_CODES_WORD] >> t % SCL_CODES_WORD & 1) << p;
    if (number >= (t < codes->cols ? codes->levels : 1)) return false;
  }
  return true;
}

static scl_status read_rows(scl_input *input, const char *path, scl_codes *codes,
                            scl_error *error) {
  row_buffer row = {0};
  SCL_TRY(make_row(codes, &row, error));
  scl_status status = SCL_STATUS_OK;
  for (size_t i = 0; status == SCL_STATUS_OK && i < codes->rows; i++) {
    status = read_whole(input, row.bytes, row.count * NUMBER, path, error);
    if (status != SCL_STATUS_OK) break;
    from_bytes(row.bytes, row.count, row.words);
    if (!is_code(codes, row.words))
      status = scl_fail(error, SCL_STATUS_BAD_DATA,
                        "%s: damaged: code %zu holds numbers outside its %zu levels", path, i + 1,
                        codes->levels);
    else
      scl_codes_set_row(codes, i, row.words);
  }
  scl_release(row.words);
  return status;
}

static scl_status expect_end(scl_input *input, const char *path, scl_error *error) {
  char more;
  size_t got = 0;
  SCL_TRY(scl_input_read(input, &more, 1, &got, error));
  return got == 0 ? SCL_STATUS_OK
                  : scl_fail(error, SCL_STATUS_BAD_DATA,
                             "%s: damaged: it goes on after the last code", path);
}

scl_status scl_codes_read(const char *path, scl_codes **out, scl_error *error) {
  *out = NULL;
  scl_input *input;
  SCL_TRY(scl_input_open(path, &input, error));
  uint64_t header[HEADER];
  scl_codes *codes = NULL;
  scl_status status = read_header(input, path, header, error);
  if (status == SCL_STATUS_OK)
    status =
        scl_codes_create((size_t)header[0], (size_t)header[1], (size_t)header[2], &codes, error);
  if (status == SCL_STATUS_OK) status = read_rows(input, path, codes, error);
  if (status == SCL_STATUS_OK) status = expect_end(input, path, error);
  scl_input_close(input);
  if (status == SCL_STATUS_OK)
    *out = codes;
  else
    scl_codes_destroy(codes);
  return status;
}
