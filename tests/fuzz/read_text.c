/* Texts of any bytes: terms, rows and vocabularies, against each other. */
#include "reader.h"
#include "text/encoder.h"
#include "text/letters.h"

#include <stdlib.h>
#include <string.h>

/* Lines as texts. */
static scl_texts lines_of(const uint8_t *data, size_t size) {
  scl_texts_builder builder = {0};
  scl_texts texts;
  scl_error error = {0};
  const char *at = (const char *)data, *end = at + size;
  while (at < end) {
    const char *newline = memchr(at, '\n', (size_t)(end - at));
    const size_t length = (size_t)((newline == NULL ? end : newline) - at);
    if (scl_texts_add(&builder, at, length, &error) != SCL_STATUS_OK ||
        scl_texts_end(&builder, &error) != SCL_STATUS_OK)
      fuzz_fail(error.message);
    at += length + (newline != NULL);
  }
  if (scl_texts_finish(&builder, &texts, &error) != SCL_STATUS_OK) fuzz_fail(error.message);
  return texts;
}

/* The rows are sorted, and have as many terms as the texts. */
static void check_rows(const scl_text_encoder *encoder, const scl_texts *texts, bool all) {
  scl_csr rows;
  scl_error error = {0};
  scl_terms terms = {0};
  if (scl_text_encode(encoder, texts, &rows, &error) != SCL_STATUS_OK) fuzz_fail(error.message);
  if (scl_csr_check(&rows, scl_csr_entries(&rows), &error) != SCL_STATUS_OK)
    fuzz_fail(error.message);
  for (size_t i = 0; i < texts->count; i++) {
    double sum = 0, count = 0;
    if (scl_terms_read(&terms, &encoder->form, scl_text_at(texts, i), scl_text_length(texts, i),
                       &error) != SCL_STATUS_OK)
      fuzz_fail(error.message);
    for (size_t length = encoder->form.least; length <= encoder->form.most; length++)
      count += (double)scl_terms_runs(&terms, length);
    for (int64_t k = rows.starts[i]; k < rows.starts[i + 1]; k++)
      sum += scl_csr_value(&rows, k);
    if (all && sum != count) fuzz_fail("terms are missing");
  }
  scl_terms_release(&terms);
  scl_csr_release(&rows);
}

/* The first byte chooses the form. */
void fuzz_read(const uint8_t *data, size_t size) {
  size_t first;
  scl_error error = {0};
  if (size == 0) return;
  const scl_text_form form = {.characters = data[0] & 1,
                              .single = data[0] & 2,
                              .exact = data[0] & 4,
                              .least = 1 + (data[0] >> 3 & 1),
                              .most = 2 + (data[0] >> 4 & 3)};
  scl_texts texts = lines_of(data + 1, size - 1);
  scl_text_encoder hashed = {.form = form, .bits = 1 + (data[0] >> 6) * 7U},
                   named = {.form = form, .named = true};
  (void)scl_invalid_bytes((const char *)data + 1, size - 1, &first);
  check_rows(&hashed, &texts, true);
  if (scl_vocabulary_learn(&form, &texts, 1, SIZE_MAX, &named.vocabulary, NULL, &error) !=
      SCL_STATUS_OK)
    fuzz_fail(error.message);
  check_rows(&named, &texts, true);
  scl_vocabulary_release(&named.vocabulary);
  scl_texts_release(&texts);
}
