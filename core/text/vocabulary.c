/* Vocabularies. Texts are divided into parts, each of which counts its terms in a hash table of its
 * own; the tables are then added. */
#include "text/vocabulary.h"
#include "base/pool.h"

#include <stdlib.h>
#include <string.h>

static size_t table_size(size_t count) {
  size_t size = 64;
  while (size < 2 * count)
    size *= 2;
  return size;
}

static scl_status too_large(size_t bytes, scl_error *error) {
  return scl_fail_memory(error, bytes, "a vocabulary");
}

/* ------------ finding */

/* The slot of a term, or the free one where it belongs. */
static size_t slot_of(const scl_vocabulary *v, const char *term, size_t length) {
  size_t slot = scl_hash_text(term, length) & v->mask;
  for (; v->slots[slot] != 0; slot = (slot + 1) & v->mask) {
    const size_t place = v->slots[slot] - 1;
    if (scl_text_length(&v->terms, place) == length &&
        memcmp(scl_text_at(&v->terms, place), term, length) == 0)
      break;
  }
  return slot;
}

int32_t scl_vocabulary_find(const scl_vocabulary *v, const char *term, size_t length) {
  return (int32_t)v->slots[slot_of(v, term, length)] - 1;
}

scl_status scl_vocabulary_create(const scl_texts *terms, scl_vocabulary *out, scl_error *error) {
  memset(out, 0, sizeof *out);
  if (terms->count > INT32_MAX)
    return scl_fail(error, SCL_STATUS_BAD_DATA, "a vocabulary of %zu terms is too large",
                    terms->count);
  const size_t size = table_size(terms->count);
  out->slots = scl_allocate_zero(size * sizeof *out->slots);
  if (out->slots == NULL) return too_large(size * sizeof *out->slots, error);
  out->mask = size - 1;
  out->terms = scl_texts_share(terms);
  for (size_t i = 0; i < terms->count; i++) {
    const char *term = scl_text_at(terms, i);
    const size_t length = scl_text_length(terms, i), slot = slot_of(out, term, length);
    if (out->slots[slot] != 0) {
      scl_vocabulary_release(out);
      return scl_fail(error, SCL_STATUS_BAD_DATA, "the vocabulary has the term '%.*s' twice",
                      (int)scl_min(length, 60), term);
    }
    out->slots[slot] = (uint32_t)i + 1;
  }
  return SCL_STATUS_OK;
}

void scl_vocabulary_release(scl_vocabulary *v) {
  scl_texts_release(&v->terms);
  scl_release(v->slots);
  memset(v, 0, sizeof *v);
}

/* ------------ counting */

typedef struct counted_term {
  size_t offset; /* of its bytes */
  size_t length;
  int64_t texts; /* that contain it */
  size_t last;   /* text that was counted last, from 1 */
  uint32_t hash;
} counted_term;

/* Terms of some texts, with their counts. */
typedef struct term_counts {
  counted_term *terms;
  size_t count, terms_room;
  char *bytes;
  size_t used, bytes_room;
  uint32_t *slots;
  size_t mask;
} term_counts;

/* Double the hash table when it is half full. */
static scl_status reserve_slots(term_counts *c, scl_error *error) {
  if (c->slots != NULL && 2 * c->count <= c->mask) return SCL_STATUS_OK;
  if (c->count >= INT32_MAX)
    return scl_fail(error, SCL_STATUS_BAD_DATA, "the texts have more than %d different terms",
                    INT32_MAX);
  const size_t size = table_size(2 * c->count + 512);
  uint32_t *slots = scl_allocate_zero(size * sizeof *slots);
  if (slots == NULL) return too_large(size * sizeof *slots, error);
  for (size_t i = 0; i < c->count; i++) {
    size_t slot = c->terms[i].hash & (size - 1);
    while (slots[slot] != 0)
      slot = (slot + 1) & (size - 1);
    slots[slot] = (uint32_t)i + 1;
  }
  scl_release(c->slots);
  c->slots = slots;
  c->mask = size - 1;
  return SCL_STATUS_OK;
}

/* Append a new term. */
static scl_status append_term(term_counts *c, const char *term, size_t length, uint32_t hash,
                              scl_error *error) {
  counted_term *terms = scl_grow(c->terms, c->count, &c->terms_room, sizeof *terms);
  if (terms == NULL) return too_large(c->count * sizeof *terms, error);
  c->terms = terms;
  if (length > c->bytes_room - c->used) {
    const size_t room = 2 * c->bytes_room + length + 4096;
    char *bytes = scl_allocate(room);
    if (bytes == NULL) return too_large(room, error);
    if (c->used > 0) memcpy(bytes, c->bytes, c->used);
    scl_release(c->bytes);
    c->bytes = bytes;
    c->bytes_room = room;
  }
  memcpy(c->bytes + c->used, term, length);
  terms[c->count++] = (counted_term){c->used, length, 0, 0, hash};
  c->used += length;
  return SCL_STATUS_OK;
}

/* *out = the record of a term, new where it was not met before; valid until the next call. */
static scl_status record_of(term_counts *c, const char *term, size_t length, uint32_t hash,
                            counted_term **out, scl_error *error) {
  SCL_TRY(reserve_slots(c, error));
  size_t slot = hash & c->mask;
  for (; c->slots[slot] != 0; slot = (slot + 1) & c->mask) {
    counted_term *one = &c->terms[c->slots[slot] - 1];
    if (one->hash == hash && one->length == length &&
        memcmp(c->bytes + one->offset, term, length) == 0) {
      *out = one;
      return SCL_STATUS_OK;
    }
  }
  SCL_TRY(append_term(c, term, length, hash, error));
  c->slots[slot] = (uint32_t)c->count;
  *out = &c->terms[c->count - 1];
  return SCL_STATUS_OK;
}

/* Count the terms of text i. */
static scl_status count_text(term_counts *c, const scl_text_form *form, const scl_terms *terms,
                             size_t i, scl_error *error) {
  counted_term *one;
  for (size_t length = form->least; length <= form->most; length++)
    for (size_t run = 0, runs = scl_terms_runs(terms, length); run < runs; run++) {
      size_t bytes;
      const char *term = scl_terms_run(terms, run, length, &bytes);
      SCL_TRY(record_of(c, term, bytes, scl_hash_text(term, bytes), &one, error));
      one->texts += one->last != i + 1;
      one->last = i + 1;
    }
  return SCL_STATUS_OK;
}

/* Add the counts of other texts. */
static scl_status add_counts(term_counts *into, const term_counts *from, scl_error *error) {
  counted_term *one;
  for (size_t i = 0; i < from->count; i++) {
    const counted_term *other = &from->terms[i];
    SCL_TRY(record_of(into, from->bytes + other->offset, other->length, other->hash, &one, error));
    one->texts += other->texts;
  }
  return SCL_STATUS_OK;
}

typedef struct counting {
  const scl_text_form *form;
  const scl_texts *texts;
  size_t parts;
  term_counts counts[SCL_POOL_MAX];
} counting;

static scl_status count_part(void *context, size_t part, scl_error *error) {
  counting *job = context;
  const size_t n = job->texts->count;
  scl_terms terms = {0};
  scl_status status = SCL_STATUS_OK;
  for (size_t i = n * part / job->parts; status == SCL_STATUS_OK && i < n * (part + 1) / job->parts;
       i++) {
    status = scl_terms_read(&terms, job->form, scl_text_at(job->texts, i),
                            scl_text_length(job->texts, i), error);
    if (status == SCL_STATUS_OK)
      status = count_text(&job->counts[part], job->form, &terms, i, error);
  }
  scl_terms_release(&terms);
  return status;
}

/* ------------ choosing */

typedef struct chosen_term {
  const char *bytes;
  size_t length;
  int64_t texts;
} chosen_term;

static int by_bytes(const void *left, const void *right) {
  const chosen_term *a = left, *b = right;
  const int order = memcmp(a->bytes, b->bytes, scl_min(a->length, b->length));
  return order != 0 ? order : (a->length > b->length) - (a->length < b->length);
}

static int by_texts(const void *left, const void *right) {
  const chosen_term *a = left, *b = right;
  return a->texts != b->texts ? (a->texts < b->texts) - (a->texts > b->texts)
                              : by_bytes(left, right);
}

/* *out = the texts of these terms in the order of their bytes. */
static scl_status pack(chosen_term *list, size_t count, scl_texts *out, scl_error *error) {
  scl_texts_builder builder = {0};
  scl_status status = SCL_STATUS_OK;
  if (count > 0) qsort(list, count, sizeof *list, by_bytes);
  for (size_t i = 0; status == SCL_STATUS_OK && i < count; i++) {
    status = scl_texts_add(&builder, list[i].bytes, list[i].length, error);
    if (status == SCL_STATUS_OK) status = scl_texts_end(&builder, error);
  }
  if (status == SCL_STATUS_OK) return scl_texts_finish(&builder, out, error);
  scl_texts_builder_release(&builder);
  return status;
}

static scl_status choose(const term_counts *c, size_t min_count, size_t most, scl_texts *out,
                         scl_error *error) {
  chosen_term *list = scl_allocate_array(c->count + 1, sizeof *list);
  size_t count = 0;
  if (list == NULL) return too_large(c->count * sizeof *list, error);
  for (size_t i = 0; i < c->count; i++)
    if ((size_t)c->terms[i].texts >= min_count)
      list[count++] =
          (chosen_term){c->bytes + c->terms[i].offset, c->terms[i].length, c->terms[i].texts};
  if (count > most) qsort(list, count, sizeof *list, by_texts);
  const scl_status status = pack(list, scl_min(count, most), out, error);
  scl_release(list);
  return status;
}

scl_status scl_vocabulary_learn(const scl_text_form *form, const scl_texts *texts, size_t min_count,
                                size_t most, scl_vocabulary *out, size_t *found, scl_error *error) {
  memset(out, 0, sizeof *out);
  counting *job = scl_allocate_zero(sizeof *job);
  scl_texts terms = {0};
  if (job == NULL) return too_large(sizeof *job, error);
  job->form = form;
  job->texts = texts;
  job->parts = scl_min(scl_pool_threads(), texts->count / 64 + 1);
  scl_status status = scl_pool_try(job->parts, count_part, job, error);
  for (size_t part = 1; status == SCL_STATUS_OK && part < job->parts; part++)
    status = add_counts(&job->counts[0], &job->counts[part], error);
  if (status == SCL_STATUS_OK) {
    if (found != NULL) *found = job->counts[0].count;
    status = choose(&job->counts[0], min_count, most, &terms, error);
  }
  for (size_t part = 0; part < job->parts; part++)
    SCL_RELEASE(job->counts[part].terms, job->counts[part].bytes, job->counts[part].slots);
  scl_release(job);
  if (status == SCL_STATUS_OK) status = scl_vocabulary_create(&terms, out, error);
  scl_texts_release(&terms);
  return status;
}
