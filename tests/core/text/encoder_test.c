/* Texts as rows: against a plain computation that takes every character and every term apart. */
#include "expect.h"
#include "text/encoder.h"
#include "text/letters.h"

#include "base/pool.h"
#include "base/random.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static scl_texts texts_of(const char *const *list, size_t count) {
  scl_texts_builder builder = {0};
  scl_texts texts;
  scl_error error = {0};
  for (size_t i = 0; i < count; i++) {
    expect_true(scl_texts_add(&builder, list[i], strlen(list[i]), &error) == SCL_STATUS_OK,
                "a text");
    expect_true(scl_texts_end(&builder, &error) == SCL_STATUS_OK, "the end of a text");
  }
  expect_true(scl_texts_finish(&builder, &texts, &error) == SCL_STATUS_OK, "texts");
  return texts;
}

/* ------------ hash and letters */

/* Published values of MurmurHash3 x86_32 with seed 0, and of scikit-learn's murmurhash3_32. */
static void test_hash(void) {
  expect_true(scl_hash_text("", 0) == 0, "the hash of no bytes");
  expect_true(scl_hash_text("hello", 5) == 0x248bfa47u, "the hash of hello");
  expect_true(scl_hash_text("hello, world", 12) == 0x149bbb7fu, "the hash of hello, world");
  expect_true(scl_hash_text("The quick brown fox jumps over the lazy dog", 43) == 0x2e4ff723u,
              "the hash of the quick brown fox");
}

static void test_letters(void) {
  static const struct {
    uint32_t code, lower;
    bool letter;
  } known[] = {{'a', 'a', true},         {'Z', 'z', true},           {'_', '_', true},
               {'-', '-', false},        {'7', '7', true},           {0xC9, 0xE9, true},
               {0xD7, 0xD7, false},      {0x130, 'i', true},         {0x416, 0x436, true},
               {0x3A3, 0x3C3, true},     {0x1E9E, 0xDF, true},       {0x23A, 0x2C65, true},
               {0x2019, 0x2019, false},  {0x4E2D, 0x4E2D, true},     {0x0301, 0x0301, true},
               {0x10400, 0x10428, true}, {0x1F600, 0x1F600, false},  {0xE0100, 0xE0100, true},
               {0xFFFD, 0xFFFD, false},  {0x10FFFF, 0x10FFFF, false}};
  for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
    char text[80];
    (void)snprintf(text, sizeof text, "character U+%04X", (unsigned)known[i].code);
    expect_true(scl_is_letter(known[i].code) == known[i].letter &&
                    scl_lower(known[i].code) == known[i].lower,
                text);
  }
}

/* Every character is read as it was written; every other sequence of up to 4 bytes of a kind is
 * invalid. */
static void test_utf8(void) {
  size_t used, first = 0;
  char out[4];
  for (uint32_t code = 0; code <= 0x10FFFF; code++) {
    if (code >= 0xD800 && code < 0xE000) continue;
    const size_t bytes = scl_encode_character(code, out);
    if (scl_decode((const unsigned char *)out, bytes, &used) == code && used == bytes) continue;
    expect_true(false, "a character that is written and read");
    return;
  }
  static const char *const invalid[] = {"\x80",
                                        "\xC0\x80",
                                        "\xC1\xBF",
                                        "\xE0\x9F\xBF",
                                        "\xED\xA0\x80",
                                        "\xF0\x8F\xBF\xBF",
                                        "\xF4\x90\x80\x80",
                                        "\xF5\x80\x80\x80",
                                        "\xE2\x82",
                                        "\xFF"};
  for (size_t i = 0; i < sizeof invalid / sizeof *invalid; i++)
    expect_true(scl_decode((const unsigned char *)invalid[i], strlen(invalid[i]), &used) ==
                        SCL_REPLACEMENT &&
                    used == 1 &&
                    scl_invalid_bytes(invalid[i], strlen(invalid[i]), &first) == strlen(invalid[i]),
                "an invalid sequence");
  expect_true(scl_invalid_bytes("caf\xC3\xA9 caf\xE9", 10, &first) == 1 && first == 9,
              "the place of an invalid byte");
  expect_true(scl_invalid_bytes("\xEF\xBF\xBD", 3, &first) == 0, "U+FFFD itself is valid");
}

/* ------------ terms */

/* All terms, with a bar behind each. */
static void check_terms(const char *text, scl_text_form form, const char *wanted) {
  scl_terms terms = {0};
  scl_error error = {0};
  char all[400] = "";
  expect_true(scl_terms_read(&terms, &form, text, strlen(text), &error) == SCL_STATUS_OK, "terms");
  for (size_t length = form.least; length <= form.most; length++)
    for (size_t i = 0; i < scl_terms_runs(&terms, length); i++) {
      size_t bytes;
      const char *term = scl_terms_run(&terms, i, length, &bytes);
      (void)snprintf(all + strlen(all), sizeof all - strlen(all), "%.*s|", (int)bytes, term);
    }
  if (strcmp(all, wanted) != 0) {
    expect_true(false, wanted);
    (void)fprintf(stderr, "  got %s\n", all);
  }
  scl_terms_release(&terms);
}

static void test_terms(void) {
  const scl_text_form words = {.least = 1, .most = 1}, pairs = {.least = 1, .most = 2},
                      every = {.least = 1, .most = 1, .single = true},
                      exact = {.least = 2, .most = 2, .exact = true},
                      three = {.least = 3, .most = 3, .characters = true};
  check_terms("", pairs, "");
  check_terms("...", pairs, "");
  check_terms("Don't PANIC, a_b 42!", words, "don|panic|a_b|42|");
  check_terms("Don't PANIC", every, "don|t|panic|");
  check_terms("one (x) Two\tthree", pairs, "one|two|three|one two|two three|");
  check_terms("one Two three", exact, "one Two|Two three|");
  check_terms("\xC3\x89T\xC3\x89 \xCE\xA3\xCE\xA6", words, "\xC3\xA9t\xC3\xA9|\xCF\x83\xCF\x86|");
  check_terms("na\xC3\xAFve caf\xE9 bar", words, "na\xC3\xAFve|caf|bar|");
  check_terms("e\xCC\x81t\xC3\xA9", words, "e\xCC\x81t\xC3\xA9|");
  check_terms("\xC8\xBA\xC8\xBA\xC8\xBA", words, "\xE2\xB1\xA5\xE2\xB1\xA5\xE2\xB1\xA5|");
  check_terms("Ab \t\nc", three, "ab |b c|");
  check_terms("ab", three, "");
  check_terms("a\xFF"
              "bc",
              three,
              "a\xEF\xBF\xBD"
              "b|\xEF\xBF\xBD"
              "bc|");
}

/* ------------ rows */

/* Texts of words that are drawn unevenly, with separators and upper case; some are empty. */
static scl_texts random_texts(size_t count, uint64_t seed) {
  static const char *const between[] = {" ", ", ", "\n", " - ", ". "};
  scl_texts_builder builder = {0};
  scl_texts texts;
  scl_error error = {0};
  for (size_t i = 0; i < count; i++) {
    double u[402];
    scl_random_uniform(seed, 0, i, 0, 402, u);
    const size_t words = (size_t)(u[0] * u[1] * 200);
    for (size_t k = 0; k < words; k++) {
      char word[40];
      const double v = u[2 + 2 * k];
      (void)snprintf(word, sizeof word, "%s%d%s", u[3 + 2 * k] < 0.5 ? "Word" : "w\xC3\x96rd",
                     (int)(v * v * v * 300), between[(size_t)(u[3 + 2 * k] * 4.99)]);
      (void)scl_texts_add(&builder, word, strlen(word), &error);
    }
    (void)scl_texts_end(&builder, &error);
  }
  expect_true(scl_texts_finish(&builder, &texts, &error) == SCL_STATUS_OK, "texts");
  return texts;
}

/* Row i of `rows` has the counts of the terms of text i, found one by one. */
static void check_row(const scl_text_encoder *encoder, const scl_texts *texts, const scl_csr *rows,
                      size_t i) {
  const scl_text_form *form = &encoder->form;
  scl_terms terms = {0};
  scl_error error = {0};
  const size_t cols = scl_text_encoder_cols(encoder);
  double *counts = calloc(cols, sizeof *counts);
  (void)scl_terms_read(&terms, form, scl_text_at(texts, i), scl_text_length(texts, i), &error);
  for (size_t length = form->least; length <= form->most; length++)
    for (size_t run = 0; run < scl_terms_runs(&terms, length); run++) {
      size_t bytes;
      const char *term = scl_terms_run(&terms, run, length, &bytes);
      const int32_t column = scl_text_encoder_column(encoder, term, bytes);
      if (column >= 0) counts[column] = encoder->binary ? 1 : counts[column] + 1;
    }
  bool same = true;
  for (size_t j = 0; j < cols; j++)
    same = same && scl_csr_get(rows, i, j) == counts[j];
  expect_true(same, "a row of counts");
  scl_terms_release(&terms);
  free(counts);
}

/* Whether two sparse matrices have the same arrays. */
static bool same_rows(const scl_csr *a, const scl_csr *b) {
  const size_t entries = scl_csr_entries(a);
  return a->rows == b->rows && a->cols == b->cols && entries == scl_csr_entries(b) &&
         memcmp(a->starts, b->starts, (a->rows + 1) * sizeof *a->starts) == 0 &&
         memcmp(a->columns, b->columns, entries * sizeof *a->columns) == 0 &&
         memcmp(a->values, b->values, entries * sizeof(float)) == 0;
}

static void check_encoder(const scl_text_encoder *encoder, const scl_texts *texts) {
  scl_csr rows, again, part;
  scl_error error = {0};
  scl_pool_set_threads(1);
  expect_true(scl_text_encode(encoder, texts, &rows, &error) == SCL_STATUS_OK, "rows");
  scl_pool_set_threads(3);
  expect_true(scl_text_encode(encoder, texts, &again, &error) == SCL_STATUS_OK,
              "rows on 3 threads");
  expect_true(same_rows(&rows, &again), "the rows do not depend on the threads");
  expect_true(rows.rows == texts->count &&
                  scl_csr_check(&rows, scl_csr_entries(&rows), &error) == SCL_STATUS_OK,
              "rows in order");
  for (size_t i = 0; i < texts->count; i += 7)
    check_row(encoder, texts, &rows, i);
  scl_texts some = scl_texts_slice(texts, 5, 20);
  scl_csr same = scl_csr_slice(&rows, 5, 20);
  expect_true(scl_text_encode(encoder, &some, &part, &error) == SCL_STATUS_OK, "rows of a slice");
  bool equal = true;
  for (size_t i = 0; i < 20; i++)
    for (int64_t k = part.starts[i]; k < part.starts[i + 1]; k++)
      equal = equal && scl_csr_get(&same, i, (size_t)part.columns[k]) == scl_csr_value(&part, k);
  expect_true(equal && scl_csr_entries(&part) == scl_csr_entries(&same), "a row alone is the same");
  scl_texts_release(&some);
  scl_csr_release(&same);
  scl_csr_release(&part);
  scl_csr_release(&again);
  scl_csr_release(&rows);
}

static void test_rows(void) {
  scl_texts texts = random_texts(400, 3);
  for (unsigned bits = 3; bits <= 12; bits += 9)
    for (int k = 0; k < 4; k++) {
      const scl_text_encoder encoder = {.bits = bits,
                                        .binary = k == 1,
                                        .form = {.least = 1,
                                                 .most = k == 0 ? 1 : 2,
                                                 .characters = k == 3,
                                                 .exact = k == 2,
                                                 .single = k == 2}};
      check_encoder(&encoder, &texts);
    }
  scl_texts_release(&texts);
}

/* The columns of scikit-learn 1.2.1: HashingVectorizer(n_features = 2**18, alternate_sign = False,
 * norm = None).transform(["free prize for the winner"]).indices. */
static void test_columns(void) {
  const scl_text_encoder encoder = {.bits = 18, .form = {.least = 1, .most = 1}};
  static const struct {
    const char *term;
    int32_t column;
  } known[] = {{"free", 156782},
               {"prize", 221993},
               {"for", 189643},
               {"the", 24734},
               {"winner", 142946},
               {"click", 51764},
               {"stra\xC3\x9F"
                "e",
                23301},
               {"\xD0\xBF\xD1\x80\xD0\xB8\xD0\xB2\xD0\xB5\xD1\x82", 150382},
               {"free prize", 154410}};
  for (size_t i = 0; i < sizeof known / sizeof *known; i++)
    expect_true(scl_text_encoder_column(&encoder, known[i].term, strlen(known[i].term)) ==
                    known[i].column,
                known[i].term);
}

/* ------------ vocabularies */

static void test_vocabulary(void) {
  static const char *const list[] = {"pear apple apple", "apple fig", "Fig pear", "apple", "date"};
  scl_texts texts = texts_of(list, 5);
  scl_text_encoder encoder = {.named = true, .form = {.least = 1, .most = 1}};
  scl_error error = {0};
  size_t found = 0;
  scl_csr rows;
  expect_true(scl_vocabulary_learn(&encoder.form, &texts, 2, 100, &encoder.vocabulary, &found,
                                   &error) == SCL_STATUS_OK &&
                  found == 4 && encoder.vocabulary.terms.count == 3,
              "terms of at least 2 texts");
  expect_true(scl_text_encode(&encoder, &texts, &rows, &error) == SCL_STATUS_OK && rows.cols == 3 &&
                  scl_csr_get(&rows, 0, 0) == 2 && scl_csr_get(&rows, 0, 2) == 1 &&
                  scl_csr_get(&rows, 2, 1) == 1 && scl_csr_entries(&rows) == 7,
              "columns apple, fig, pear");
  scl_csr_release(&rows);
  scl_vocabulary_release(&encoder.vocabulary);
  expect_true(scl_vocabulary_learn(&encoder.form, &texts, 1, 2, &encoder.vocabulary, NULL,
                                   &error) == SCL_STATUS_OK &&
                  scl_vocabulary_find(&encoder.vocabulary, "apple", 5) == 0 &&
                  scl_vocabulary_find(&encoder.vocabulary, "fig", 3) == 1 &&
                  scl_vocabulary_find(&encoder.vocabulary, "pear", 4) == -1,
              "the most frequent terms, and the first of equal ones");
  scl_vocabulary_release(&encoder.vocabulary);
  scl_texts_release(&texts);
  static const char *const twice[] = {"a", "b", "a"};
  texts = texts_of(twice, 3);
  expect_true(scl_vocabulary_create(&texts, &encoder.vocabulary, &error) == SCL_STATUS_BAD_DATA &&
                  strstr(error.message, "'a' twice") != NULL,
              "a term that is there twice");
  scl_texts_release(&texts);
}

/* A vocabulary does not depend on the threads or on the order of the texts. */
static void test_learning(void) {
  scl_texts texts = random_texts(700, 5), turned;
  size_t places[700];
  scl_error error = {0};
  scl_text_encoder one = {.named = true, .form = {.least = 1, .most = 2}}, other = one;
  for (size_t i = 0; i < 700; i++)
    places[i] = 699 - i;
  expect_true(scl_texts_take(&texts, places, 700, &turned, &error) == SCL_STATUS_OK,
              "texts turned");
  scl_pool_set_threads(1);
  (void)scl_vocabulary_learn(&one.form, &texts, 3, 500, &one.vocabulary, NULL, &error);
  scl_pool_set_threads(4);
  (void)scl_vocabulary_learn(&one.form, &turned, 3, 500, &other.vocabulary, NULL, &error);
  const scl_texts *a = &one.vocabulary.terms, *b = &other.vocabulary.terms;
  expect_true(a->count == 500 && b->count == 500 && scl_texts_bytes(a) == scl_texts_bytes(b) &&
                  memcmp(a->bytes, b->bytes, scl_texts_bytes(a)) == 0,
              "the same vocabulary");
  check_encoder(&one, &texts);
  scl_vocabulary_release(&one.vocabulary);
  scl_vocabulary_release(&other.vocabulary);
  scl_texts_release(&turned);
  scl_texts_release(&texts);
}

/* ------------ failing allocations */

static void test_memory(void) {
  scl_texts texts = random_texts(60, 9);
  const scl_text_encoder hashed = {.bits = 10, .form = {.least = 1, .most = 2}};
  const size_t before = scl_allocated();
  scl_pool_set_threads(1);
  long failed = 0;
  for (scl_status status = SCL_STATUS_NO_MEMORY; status != SCL_STATUS_OK && failed < 10000;) {
    scl_text_encoder named = {.named = true, .form = hashed.form};
    scl_error error = {0};
    scl_csr rows = {0};
    scl_allocate_fail_after(failed++);
    status = scl_vocabulary_learn(&named.form, &texts, 1, 1000, &named.vocabulary, NULL, &error);
    if (status == SCL_STATUS_OK) status = scl_text_encode(&named, &texts, &rows, &error);
    if (status == SCL_STATUS_OK) scl_csr_release(&rows);
    if (status == SCL_STATUS_OK) status = scl_text_encode(&hashed, &texts, &rows, &error);
    scl_allocate_fail_after(-1);
    expect_true(status == SCL_STATUS_OK || error.message[0] != 0, "a sentence");
    scl_csr_release(&rows);
    scl_vocabulary_release(&named.vocabulary);
    expect_true(scl_allocated() == before, "nothing is left");
  }
  expect_true(failed > 20 && failed < 10000, "allocations that failed");
  scl_texts_release(&texts);
}

int main(void) {
  test_hash();
  test_letters();
  test_utf8();
  test_terms();
  test_rows();
  test_columns();
  test_vocabulary();
  test_learning();
  test_memory();
  return failures == 0 ? 0 : 1;
}
