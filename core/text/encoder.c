/* Texts as sparse rows. The texts are cut into parts of about the same number of bytes, which
 * depend on the texts alone; each part is a job that makes its rows in arrays of its own. */
#include "text/encoder.h"
#include "base/pool.h"

#include <string.h>

void scl_text_encoder_destroy(scl_text_encoder *encoder) {
  if (encoder == NULL) return;
  scl_vocabulary_release(&encoder->vocabulary);
  scl_release(encoder);
}

size_t scl_text_encoder_cols(const scl_text_encoder *encoder) {
  return encoder->named ? encoder->vocabulary.terms.count : (size_t)1 << encoder->bits;
}

int32_t scl_text_encoder_column(const scl_text_encoder *encoder, const char *term, size_t length) {
  if (encoder->named) return scl_vocabulary_find(&encoder->vocabulary, term, length);
  const uint32_t hash = scl_hash_text(term, length), sign = (uint32_t) - (int32_t)(hash >> 31);
  return (int32_t)(((hash ^ sign) - sign) & (((uint32_t)1 << encoder->bits) - 1));
}

/* ------------ sorting columns */

static void insertion_sort(uint32_t *keys, size_t count) {
  for (size_t i = 1; i < count; i++) {
    const uint32_t key = keys[i];
    size_t j = i;
    for (; j > 0 && keys[j - 1] > key; j--)
      keys[j] = keys[j - 1];
    keys[j] = key;
  }
}

/* Sort by the byte at `shift`, stably, into `out`. */
static void sort_byte(const uint32_t *keys, size_t count, unsigned shift, uint32_t *out) {
  size_t place[256] = {0}, sum = 0;
  for (size_t i = 0; i < count; i++)
    place[keys[i] >> shift & 255]++;
  for (size_t b = 0; b < 256; b++) {
    const size_t some = place[b];
    place[b] = sum;
    sum += some;
  }
  for (size_t i = 0; i < count; i++)
    out[place[keys[i] >> shift & 255]++] = keys[i];
}

/* Sort keys below `most`; `room` has the same size. Returns the array that holds the result. */
static uint32_t *sort_keys(uint32_t *keys, uint32_t *room, size_t count, size_t most) {
  enum { FEW = 48 };
  if (count <= FEW) {
    insertion_sort(keys, count);
    return keys;
  }
  for (unsigned shift = 0; most > (size_t)1 << shift; shift += 8) {
    sort_byte(keys, count, shift, room);
    uint32_t *swap = keys;
    keys = room;
    room = swap;
  }
  return keys;
}

/* ------------ rows */

typedef struct encoding_part {
  size_t first, count; /* texts */
  int32_t *columns;
  float *values;
  size_t entries, room;
} encoding_part;

typedef struct encoding {
  const scl_text_encoder *encoder;
  const scl_texts *texts;
  encoding_part *parts;
  size_t n_parts, cols;
  int64_t *starts; /* starts[i + 1]: the numbers of row i, later where it ends */
  scl_csr *out;
} encoding;

/* What the jobs of a part share: the terms of a text, and their columns. */
typedef struct row_scratch {
  scl_terms terms;
  uint32_t *keys; /* twice `room` */
  size_t room;
} row_scratch;

static scl_status reserve_keys(row_scratch *s, size_t count, scl_error *error) {
  if (count <= s->room) return SCL_STATUS_OK;
  const size_t room = count + count / 2 + 64;
  scl_release(s->keys);
  s->room = 0;
  s->keys = scl_allocate_array(2 * room, sizeof *s->keys);
  if (s->keys == NULL)
    return scl_fail_memory(error, 2 * room * sizeof *s->keys, "the terms of a text");
  s->room = room;
  return SCL_STATUS_OK;
}

/* The columns of all terms of the text in `scratch`, in their order; returns their number. */
static size_t list_keys(const scl_text_encoder *encoder, const row_scratch *scratch) {
  const scl_terms *terms = &scratch->terms;
  size_t count = 0, bytes;
  for (size_t length = encoder->form.least; length <= encoder->form.most; length++)
    for (size_t i = 0, runs = scl_terms_runs(terms, length); i < runs; i++) {
      const char *term = scl_terms_run(terms, i, length, &bytes);
      const int32_t column = scl_text_encoder_column(encoder, term, bytes);
      if (column >= 0) scratch->keys[count++] = (uint32_t)column;
    }
  return count;
}

/* Room for `more` numbers in a part. */
static scl_status reserve_entries(encoding_part *part, size_t more, scl_error *error) {
  if (more <= part->room - part->entries) return SCL_STATUS_OK;
  const size_t room = scl_max(part->entries + more, 2 * part->room + 1024);
  int32_t *columns = scl_allocate_array(room, sizeof *columns);
  float *values = scl_allocate_array(room, sizeof *values);
  if (columns == NULL || values == NULL) {
    SCL_RELEASE(columns, values);
    return scl_fail_memory(error, room * 8, "rows of texts");
  }
  if (part->entries > 0) {
    memcpy(columns, part->columns, part->entries * sizeof *columns);
    memcpy(values, part->values, part->entries * sizeof *values);
  }
  SCL_RELEASE(part->columns, part->values);
  part->columns = columns;
  part->values = values;
  part->room = room;
  return SCL_STATUS_OK;
}

/* Append sorted columns to the part, equal ones as one number. Returns how many were appended. */
static size_t append_row(encoding_part *part, const uint32_t *keys, size_t count, bool binary) {
  const size_t before = part->entries;
  for (size_t i = 0, end; i < count; i = end) {
    for (end = i + 1; end < count && keys[end] == keys[i]; end++) {
    }
    part->columns[part->entries] = (int32_t)keys[i];
    part->values[part->entries++] = binary ? 1 : (float)(end - i);
  }
  return part->entries - before;
}

static scl_status encode_row(const encoding *job, encoding_part *part, size_t i, row_scratch *s,
                             scl_error *error) {
  const scl_text_form *form = &job->encoder->form;
  size_t most = 0;
  SCL_TRY(scl_terms_read(&s->terms, form, scl_text_at(job->texts, i),
                         scl_text_length(job->texts, i), error));
  for (size_t length = form->least; length <= form->most; length++)
    most += scl_terms_runs(&s->terms, length);
  SCL_TRY(reserve_keys(s, most, error));
  const size_t count = list_keys(job->encoder, s);
  const uint32_t *keys = sort_keys(s->keys, s->keys + s->room, count, job->cols);
  SCL_TRY(reserve_entries(part, count, error));
  job->starts[i + 1] = (int64_t)append_row(part, keys, count, job->encoder->binary);
  return SCL_STATUS_OK;
}

static scl_status encode_part(void *context, size_t number, scl_error *error) {
  const encoding *job = context;
  encoding_part *part = &job->parts[number];
  row_scratch scratch = {0};
  scl_status status = SCL_STATUS_OK;
  for (size_t i = part->first; status == SCL_STATUS_OK && i < part->first + part->count; i++)
    status = encode_row(job, part, i, &scratch, error);
  scl_terms_release(&scratch.terms);
  scl_release(scratch.keys);
  return status;
}

/* ------------ all rows */

/* Cut the texts into parts of at least PART bytes, but for the last. */
static scl_status cut(encoding *job, scl_error *error) {
  enum { PART = 1 << 16, BESIDE = 16 }; /* BESIDE: a text has a cost besides its bytes */
  size_t bytes = 0, room = 0;
  for (size_t i = 0; i < job->texts->count; i++) {
    if (bytes == 0) {
      encoding_part *parts = scl_grow(job->parts, job->n_parts, &room, sizeof *parts);
      if (parts == NULL) return scl_fail_memory(error, room * sizeof *parts, "rows of texts");
      job->parts = parts;
      parts[job->n_parts++] = (encoding_part){.first = i};
    }
    job->parts[job->n_parts - 1].count++;
    bytes += scl_text_length(job->texts, i) + BESIDE;
    if (bytes >= PART) bytes = 0;
  }
  return SCL_STATUS_OK;
}

static scl_status copy_part(void *context, size_t number, scl_error *error) {
  const encoding *job = context;
  const encoding_part *part = &job->parts[number];
  const int64_t at = job->out->starts[part->first];
  (void)error;
  if (part->entries == 0) return SCL_STATUS_OK;
  memcpy(job->out->columns + at, part->columns, part->entries * sizeof *part->columns);
  memcpy((float *)job->out->values + at, part->values, part->entries * sizeof *part->values);
  return SCL_STATUS_OK;
}

/* The parts, one after the other. */
static scl_status gather(encoding *job, scl_error *error) {
  const size_t rows = job->texts->count;
  for (size_t i = 0; i < rows; i++)
    job->starts[i + 1] += job->starts[i];
  SCL_TRY(scl_csr_create(rows, job->cols, (size_t)job->starts[rows], SCL_DTYPE_FLOAT32, job->out,
                         error));
  memcpy(job->out->starts, job->starts, (rows + 1) * sizeof *job->starts);
  return scl_pool_try(job->n_parts, copy_part, job, error);
}

scl_status scl_text_encode(const scl_text_encoder *encoder, const scl_texts *texts, scl_csr *out,
                           scl_error *error) {
  encoding job = {.encoder = encoder,
                  .texts = texts,
                  .cols = scl_text_encoder_cols(encoder),
                  .starts = scl_allocate_zero((texts->count + 1) * sizeof *job.starts),
                  .out = out};
  memset(out, 0, sizeof *out);
  scl_status status = job.starts != NULL
                          ? cut(&job, error)
                          : scl_fail_memory(error, texts->count * 8, "rows of texts");
  if (status == SCL_STATUS_OK) status = scl_pool_try(job.n_parts, encode_part, &job, error);
  if (status == SCL_STATUS_OK) status = gather(&job, error);
  if (status != SCL_STATUS_OK) scl_csr_release(out);
  for (size_t i = 0; i < job.n_parts; i++)
    SCL_RELEASE(job.parts[i].columns, job.parts[i].values);
  SCL_RELEASE(job.parts, job.starts);
  return status;
}
